"""Ensembles of subspace clusterings: memberships by LAC's own distances, cut as a graph."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import NOT_NEGATIVE, NoneValue, Rule, Satisfies
from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import check_sizes
from consilience.consensus._memberships import by_distances, cut_bipartite, cut_similarities
from consilience.consensus._objects import checked_data, needed_data, only_member
from consilience.consensus._order import ordered
from consilience.consensus._registry import consensus_method
from consilience.consensus._rules import BALANCE, CUTS, PARTS, SIZES, Balance
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate.lac import LACEnsemble, LACRun, refit_lac
from consilience.partition import Solver
from consilience.rows import Rows, rows_of

__all__ = ["WBPA", "WSPA", "wbpa", "wspa"]

Floats = NDArray[np.float64]

# Members of the ensemble that is generated where none is given.
_MEMBERS = 40
_DEFAULT_INV_H = 0.1
_PAPER = "Al-Razgan & Domeniconi 2006"


def _are_runs(value: Any) -> bool:
    return isinstance(value, Sequence) and all(isinstance(run, LACRun) for run in value)


_RULES: dict[str, list[Rule]] = {
    "runs": [Satisfies(_are_runs, "a list of LACRun, one for each member"), NoneValue()],
    "inv_h": [*NOT_NEGATIVE, NoneValue()],
}


@consensus_method(
    estimator="WSPA",
    paper=_PAPER,
    memory="n n_c, or n^2 with METIS (up to 3000 objects)",
    rules={**_RULES, "solver": PARTS, "sizes": SIZES},
    needs_data=True,
    balanced=True,
)
def wspa(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    runs: Sequence[LACRun] | None = None,
    inv_h: float | None = None,
    solver: Solver = "auto",
    sizes: Any = None,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Balanced parts of objects whose distances to all subspace clusters agree.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members, best of `generate.LACEnsemble`.
    runs : sequence of LACRun, optional
        Centres and feature weights of every member: ``runs_`` of the `LACEnsemble` that made
        the ensemble. Without them they are fitted again from the labels: the means, and the
        weights LAC would give these clusters (any labels will do).
    inv_h : float or None, default=None
        1 / h for fitting again; None takes it from the member's record, or 0.1.
    solver, sizes, random_state, n_jobs
        See `wosp`.
    X : array of shape (n_objects, n_features)
        The data the members were made on; dense.

    Returns
    -------
    ConsensusResult
        ``objective`` is the weight of the cut edges; ``details`` hold the balance (largest
        cluster over n / n_clusters).

    Notes
    -----
    With weighted distances d to the clusters of a member and their maximum D, memberships
    are proportional to ``D - d + 1``: nearly uniform, so that little separates good cuts
    from bad ones. The similarity of two objects is the mean cosine of these rows.

    References
    ----------
    Al-Razgan & Domeniconi (2006), Weighted clustering ensembles, SIAM Data Mining; the steps
    agree with the table of LAC ensembles in Ren et al. (2017).

    Examples
    --------
    >>> from consilience.generate.lac import LACEnsemble
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> generator = LACEnsemble(5, 2, random_state=0)
    >>> ensemble = generator.generate(X)
    >>> wspa(ensemble, 2, X=X, runs=generator.runs_, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    check_sizes(sizes, n_clusters, solver, owner="WSPA")

    cut = partial(
        cut_similarities, solver=solver, sizes=sizes, random_state=random_state, n_jobs=n_jobs
    )
    return _solve(ensemble, n_clusters, cut, runs, inv_h, X, "WSPA")


@consensus_method(
    estimator="WBPA",
    paper=_PAPER,
    memory="n n_c",
    rules={**_RULES, "balance": BALANCE, "solver": CUTS},
    needs_data=True,
    balanced=True,
)
def wbpa(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    runs: Sequence[LACRun] | None = None,
    inv_h: float | None = None,
    balance: Balance = "all",
    solver: Solver = "auto",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Balanced parts of the graph of objects and subspace clusters, joined by memberships.

    Parameters
    ----------
    ensemble, n_clusters, runs, inv_h, X, random_state, n_jobs
        See `wspa`.
    balance, solver
        See `wohb`.

    Returns
    -------
    ConsensusResult
        As of `wohb`. Nearly uniform memberships make it depend much on the partitioner.

    References
    ----------
    Al-Razgan & Domeniconi (2006), Weighted clustering ensembles, SIAM Data Mining.

    Examples
    --------
    >>> from consilience.generate.lac import LACEnsemble
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0], [10.0]])
    >>> generator = LACEnsemble(5, 2, random_state=0)
    >>> ensemble = generator.generate(X)
    >>> wbpa(ensemble, 2, X=X, runs=generator.runs_, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    cut = partial(
        cut_bipartite, solver=solver, balance=balance, random_state=random_state, n_jobs=n_jobs
    )
    return _solve(ensemble, n_clusters, cut, runs, inv_h, X, "WBPA")


def _solve(
    ensemble: Ensemble,
    n_clusters: int,
    cut: Any,
    runs: Sequence[LACRun] | None,
    inv_h: float | None,
    X: Any,
    owner: str,
) -> ConsensusResult:
    """Memberships by LAC's distances, cut by ``cut``."""

    def run(placed: Ensemble, k: int, data: Any) -> ConsensusResult:
        alone = only_member(placed, k)
        if alone is not None:
            return alone
        data = needed_data(data, owner=owner)
        known = _refitted(placed, data, inv_h) if runs is None else runs
        result: ConsensusResult = cut(by_distances(data, known), k)
        return result

    data = checked_data(X, ensemble, owner=owner, sparse=False)
    if runs is not None:
        _check_runs(runs, ensemble, data, owner)
    in_order = ordered(run, data=True)
    return solve(ensemble, n_clusters, in_order, owner=owner, X=data, splits_equals=True)


def _check_runs(runs: Sequence[LACRun], ensemble: Ensemble, X: Any, owner: str) -> None:
    if len(runs) != ensemble.n_members:
        raise InvalidParameterError(
            f"The 'runs' parameter of {owner} must hold one run for each of the "
            f"{ensemble.n_members} members. Got {len(runs)} instead."
        )
    widths = {run.centres.shape[1] for run in runs}
    if X is not None and widths != {X.shape[1]}:
        raise InvalidInputError(
            f"The runs of {owner} have {sorted(widths)} features, X has {X.shape[1]}. Pass the "
            "data the members were made on."
        )


def _refitted(ensemble: Ensemble, X: Floats, inv_h: float | None) -> list[LACRun]:
    """Runs that fit the labels: ``inv_h`` as given, of the member's record, or the default."""
    records = ensemble.records or ({},) * ensemble.n_members
    sharpness = [r.get("inv_h", _DEFAULT_INV_H) if inv_h is None else inv_h for r in records]
    return [refit_lac(X, labels, h) for labels, h in zip(ensemble, sharpness, strict=True)]


class _Subspace(FixedNumber):
    """What WSPA and WBPA share: LAC members by default, and their runs where they made them.

    Parameters
    ----------
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `LACEnsemble` with 40
        members of ``n_clusters`` clusters. Centres and feature weights of a `LACEnsemble`
        are used as they are; for other generators, and for an ensemble that is given, they
        are fitted again from the labels.
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags

    def _check_data(self, X: Any, ensemble: Any) -> Rows | None:
        if X is not None and not isinstance(X, Ensemble):
            return rows_of(
                X, owner=self, fitted=self, allow_sparse=False, kind="float64", min_objects=2
            )
        return super()._check_data(X, ensemble)

    def _default_generator(self, data: Any = None) -> Any:
        return LACEnsemble(_MEMBERS, self._wanted)

    def _generator(self, data: Any = None, device: str | None = None) -> Any:
        # Kept for its runs, which only it knows; they are there if it was used.
        self._maker = super()._generator(data, device)
        return self._maker

    def _options(self, X: Any) -> dict[str, Any]:
        maker = self.__dict__.pop("_maker", None)
        return {**super()._options(X), "runs": getattr(maker, "runs_", None)}


class WSPA(_Subspace, function=wspa):
    """Cluster by weighted similarity partitioning of subspace clusterings; see `wspa`."""

    inv_h: float | None = None
    solver: Solver = "auto"
    sizes: Any = None


class WBPA(_Subspace, function=wbpa):
    """Cluster by the bipartite graph of objects and subspace clusters; see `wbpa`."""

    inv_h: float | None = None
    balance: Balance = "all"
    solver: Solver = "auto"
