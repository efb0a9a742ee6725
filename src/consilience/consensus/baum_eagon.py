"""BaumEagon: soft clusters whose overlaps are nearest to the co-association, by least squares."""

from typing import Any, Literal

from consilience._validation import NoneValue, Options, memory_in_bytes
from consilience.consensus._peace_pairs import make_pairs
from consilience.consensus._peace_square_fits import fit_square
from consilience.consensus._peace_starts import (
    RULES,
    SoftConsensus,
    all_objects,
    best_of,
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


@consensus_method(
    estimator="BaumEagon",
    paper="Rota Bulò, Lourenço, Fred & Pelillo 2010",
    memory="n^2 bytes, or n (R + k) past max_memory",
    rules={
        **RULES,
        "step": [Options(("adaptive", "safe"))],
        "weights": [Options(("seen",)), NoneValue()],
    },
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
        solve(ensemble, n_clusters, run, owner="BaumEagon", X=X),
        ensemble,
        "start_labels",
    )


class BaumEagon(SoftConsensus, function=baumeagon, attributes=("loss",)):
    """Cluster by least squares on the co-association; see `baumeagon` for the method.

    Attributes
    ----------
    loss_ : float
        See `baumeagon`, under ``details``.

    Examples
    --------
    >>> members = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> BaumEagon(2, random_state=0).fit(ensemble=members).labels_
    array([0, 0, 0, 1, 1], dtype=int32)
    """

    solver: Solver = "growth"
    step: Step = "adaptive"
    weights: Literal["seen"] | None = None
    init: Init = "mixed"
    n_init: int = 10
    tol: float = 1e-4
    max_iter: int | None = None
    max_sweeps: int = 1000
    max_memory: float | str = "4 GiB"
