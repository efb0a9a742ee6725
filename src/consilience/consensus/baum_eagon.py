"""BaumEagon: soft clusters whose overlaps are nearest to the co-association, by least squares."""

from numbers import Integral
from typing import Any, ClassVar, Literal

from consilience._validation import Interval, NoneValue, Options, check_value, memory_in_bytes
from consilience.consensus._base import Consensus
from consilience.consensus._peace_pairs import make_pairs
from consilience.consensus._peace_square_fits import fit_square
from consilience.consensus._peace_starts import (
    RULES,
    SoftConsensus,
    all_objects,
    best_of,
    check_shared,
    make_starts,
)
from consilience.consensus._rows import several
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble

__all__ = ["BaumEagon", "baumeagon"]

Solver = Literal["growth", "pair"]
Step = Literal["adaptive", "safe"]
Init = Literal["mixed", "dirichlet", "labels", "barycentre"]

_STEPS = Options(("adaptive", "safe"))
_WEIGHTS: list[Any] = [Options(("seen",)), NoneValue()]


@consensus_method(
    estimator="BaumEagon",
    paper="Rota Bulò, Lourenço, Fred & Pelillo 2010",
    memory="n^2 bytes, or n (R + k) past max_memory",
    keeps_noise=True,
)
def baumeagon(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    solver: Solver = "growth",
    step: Step = "adaptive",
    weights: Literal["seen"] | None = None,
    init: Init = "mixed",
    n_init: int = 10,
    tol: float = 1e-4,
    max_iter: int | None = None,
    max_sweeps: int = 1000,
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Soft clusters whose overlaps fit the co-association best in least squares.

    Object i is in cluster k with probability y_ik; the sum of (S_ij - sum_k y_ik y_jk)^2
    over all ordered pairs of different objects is minimised, S the co-association.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise is together with nobody; a pair that no
        member saw has no weight.
    n_clusters : int
        Clusters wanted; some may win no object.
    solver : {"growth", "pair"}, default="growth"
        "growth" moves all objects at once by the Baum-Eagon transform and ends with pair
        steps; "pair" takes pair steps from the start, each to the minimum on its line.
    step : {"adaptive", "safe"}, default="adaptive"
        How far growth goes: as far as the loss falls, or with the constant that is always
        safe (the published rule, many times slower).
    weights : {"seen"} or None, default=None
        Count all pairs alike, or each by the members that saw it.
    init, n_init, tol, max_iter, max_sweeps, max_memory
        As in `consilience.consensus.peace`; the run with the smallest loss wins.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Seeds the starts; the result does not depend on the order of the objects.
    n_jobs : int or None
        Threads, over runs; None means one.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the y, ``objective`` the loss, ``converged`` whether the gap is
        at most ``tol``. In ``details``: ``loss``, ``gap``, ``spread`` (of the loss over the
        starts), ``objectives``, ``start_labels``, ``best_start``, ``sweeps``,
        ``pair_steps``, ``path`` and ``matrix_free``.

    Notes
    -----
    Objects that are together in every member that saw them get equal columns: the loss is
    minimised under that condition, pairs inside such a group included. A sweep takes time
    O(u^2 k) for u groups, a pair step O(u k).

    References
    ----------
    Rota Bulò, Lourenço, Fred & Pelillo (2010), Pairwise probabilistic clustering using
    evidence accumulation, SSPR & SPR, pages 395-404.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [5, 5, 5, 7, 7, 7]])
    >>> found = baumeagon(ens, 2, random_state=0)
    >>> found.labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> found.memberships[:3].round(2).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.67, 0.33]]
    """
    check_shared(
        "BaumEagon",
        solver=solver,
        init=init,
        n_init=n_init,
        tol=tol,
        max_iter=max_iter,
        max_sweeps=max_sweeps,
    )
    check_value("step", step, [_STEPS], owner="BaumEagon")
    check_value("weights", weights, _WEIGHTS, owner="BaumEagon")
    budget = memory_in_bytes(max_memory, owner="BaumEagon")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        pairs = make_pairs(placed, budget, n_jobs=n_jobs, n_runs=1 if init == "labels" else n_init)
        starts = make_starts(pairs, k, init, n_init, random_state)
        fits = several(
            lambda start: fit_square(
                pairs,
                start,
                solver=solver,
                rule=step,
                by_seen=weights is not None,
                tol=tol,
                max_iter=100 * pairs.n_groups if max_iter is None else max_iter,
                max_sweeps=max_sweeps,
            ),
            starts,
            n_jobs,
        )
        found, _labels = best_of(fits, pairs, highest=False, solver=solver)
        found.details["loss"] = found.objective
        return found

    return all_objects(
        solve(ensemble, n_clusters, run, owner="BaumEagon", X=X, n_jobs=n_jobs),
        ensemble,
        "start_labels",
    )


class BaumEagon(SoftConsensus):
    """Cluster by least squares on the co-association; see `baumeagon` for the method.

    Parameters
    ----------
    n_clusters, solver, step, weights, init, n_init, tol, max_iter, max_sweeps, max_memory
        See `baumeagon`.
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `KMeansEnsemble()`.
    random_state : int, RandomState or None
        Seeds the starts, and a generator that has no seed of its own.
    n_jobs : int or None
        Threads; None means one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for objects every member calls noise.
    memberships_ : ndarray of shape (n_objects, n_clusters)
        Soft assignment. This and the next are not there where no run was needed.
    loss_, gap_, spread_, objectives_, start_labels_, matrix_free_
        See `baumeagon`, under ``details``.
    confidence_, runner_up_ : ndarray of shape (n_objects,)
        See `consilience.evidence.confidence`.
    n_clusters_, objective_, n_iter_, converged_, details_
        See `ConsensusResult`; of the best run.
    ensemble_ : Ensemble

    Examples
    --------
    >>> members = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> BaumEagon(2, random_state=0).fit(ensemble=members).labels_
    array([0, 0, 0, 1, 1], dtype=int32)
    """

    _attributes: ClassVar[tuple[str, ...]] = (*SoftConsensus._attributes, "loss")
    _constraints: ClassVar[dict[str, Any]] = {
        **Consensus._common_constraints,
        **RULES,
        "n_clusters": [Interval(Integral, 1)],
        "step": [_STEPS],
        "weights": _WEIGHTS,
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        solver: Solver = "growth",
        step: Step = "adaptive",
        weights: Literal["seen"] | None = None,
        init: Init = "mixed",
        n_init: int = 10,
        tol: float = 1e-4,
        max_iter: int | None = None,
        max_sweeps: int = 1000,
        max_memory: float | str = "4 GiB",
        generator: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.solver = solver
        self.step = step
        self.weights = weights
        self.init = init
        self.n_init = n_init
        self.tol = tol
        self.max_iter = max_iter
        self.max_sweeps = max_sweeps
        self.max_memory = max_memory
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        self._store(
            baumeagon(
                ensemble,
                self.n_clusters,
                solver=self.solver,
                step=self.step,
                weights=self.weights,
                init=self.init,
                n_init=self.n_init,
                tol=self.tol,
                max_iter=self.max_iter,
                max_sweeps=self.max_sweeps,
                max_memory=self.max_memory,
                X=X,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )
