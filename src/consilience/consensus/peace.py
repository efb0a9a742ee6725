"""PEACE: soft clusters that explain how often two objects were put together, by likelihood."""

from typing import Any

import numpy as np

from consilience._validation import Boolean, memory_in_bytes
from consilience.consensus._peace_fits import fit_peace
from consilience.consensus._peace_pairs import Pairs, inside_share, make_pairs
from consilience.consensus._peace_starts import (
    RULES,
    Init,
    SoftConsensus,
    Solver,
    all_objects,
    best_of,
    make_starts,
)
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import several
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.errors import warn

__all__ = ["PEACE", "peace"]

# Below this mean co-association inside its clusters an ensemble does not suit the model.
_TOO_LOW = 0.5


@consensus_method(
    estimator="PEACE",
    few_clusters=True,
    paper="Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo & Pelillo 2013",
    memory="n^2 bytes, or n (R + k) past max_memory",
    rules={**RULES, "two_rates": [Boolean()]},
)
def peace(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    solver: Solver = "growth",
    two_rates: bool = False,
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
    """Soft clusters that make the counts of joined pairs most likely.

    Object i is in cluster k with probability y_ik. A member that sees i and j joins them
    with probability p = sum_k y_ik y_jk, so that their count is binomial; the sum of
    c log p + (N - c) log(1 - p) over all pairs is maximised.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise is together with nobody; a pair that no
        member saw says nothing.
    solver : {"growth", "pair"}, default="growth"
        "growth" moves all objects at once by the Baum-Eagon transform and ends with pair
        steps; "pair" is the published iteration: pair steps from the start.
    two_rates : bool, default=False
        Fit the rates of joining as well, p = a + (b - a) sum_k y_ik y_jk, for members
        whose clusters are smaller than the ones wanted. Not in the paper.
    init : {"mixed", "dirichlet", "labels", "barycentre"}, default="mixed"
        Starts drawn evenly from the simplex ("dirichlet"), the clusters of average-link
        `EAC` made soft ("labels", one start), the centre of the simplex with a little noise
        ("barycentre"), or one "labels" and then "dirichlet" starts ("mixed").
    n_init : int, default=10
        Starts; the run with the highest likelihood wins.
    tol : float, default=1e-4
        A run has converged when no object could gain more than this per observation by
        moving mass: the largest gap of its derivatives, over its observations.
    max_iter : int or None, default=None
        Most pair steps of a run; None is 100 for each group of equal objects.
    max_sweeps : int, default=1000
        Most growth sweeps of a run.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        Where the matrix of counts would need more, its rows are made from the labels
        whenever they are needed; the result is the same.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the y, ``objective`` the log-likelihood (without the binomial
        coefficients), ``converged`` whether the gap is at most ``tol``. In ``details``:
        ``log_likelihood``, ``gap``, ``spread`` (of the log-likelihood over the starts),
        ``objectives``, ``start_labels`` (labels of every run; -1 for objects nobody
        placed), ``best_start``, ``sweeps``, ``pair_steps``, ``path``, ``rates``,
        ``inside_share`` (mean co-association inside the clusters) and ``matrix_free``.

    Warns
    -----
    ConsilienceWarning
        If the mean co-association inside the clusters is below 0.5: the model wants members
        that join all objects of a cluster, as those of
        `consilience.generate.many_algorithms` do; members with many small clusters
        (`consilience.generate.split_and_merge`) do not. If no two objects were ever joined.

    Notes
    -----
    Objects that are together in every member that saw them are one weighted object: exact,
    because some maximum gives them equal columns. A sweep takes time O(u^2 k) for u groups;
    a pair step O(u k), and O(u R) if rows are made from labels.

    The paper's equation (9) and its formula for rho print a plus where the derivative has
    a minus; both are corrected here. Its dichotomic search is helped by Newton's steps.
    Growth ends when the log-likelihood gains less than a hundredth in ten sweeps (50 at
    least): pair steps are faster from there, and end in the same maximum.

    References
    ----------
    Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo & Pelillo (2013), Probabilistic
    evidence accumulation for clustering ensembles, ICPRAM, sections 2 and 3.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [5, 5, 5, 7, 7, 7]])
    >>> result = peace(ens, 2, random_state=0)
    >>> result.labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> result.memberships[:3].round(2).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.67, 0.33]]
    """
    budget = memory_in_bytes(max_memory, owner="PEACE")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        pairs = make_pairs(placed, budget, n_jobs=n_jobs, n_runs=1 if init == "labels" else n_init)
        starts = make_starts(pairs, k, init, n_init, random_state)
        rates = _first_rates(pairs) if two_rates else None
        fits = several(
            lambda start: fit_peace(
                pairs,
                start,
                solver=solver,
                rates=rates,
                tol=tol,
                max_iter=100 * pairs.n_groups if max_iter is None else max_iter,
                max_sweeps=max_sweeps,
            ),
            starts,
            n_jobs,
        )
        best, labels = best_of(fits, pairs, highest=True, solver=solver)
        share = inside_share(pairs, labels)
        best.details["log_likelihood"] = best.objective
        best.details["inside_share"] = share
        best.details["rates"] = fits[best.details["best_start"]].rates
        _warn(pairs, share, two_rates)
        return best

    return all_objects(
        solve(ensemble, n_clusters, run, owner="PEACE", X=X),
        ensemble,
        "start_labels",
    )


def _first_rates(pairs: Pairs) -> np.ndarray:
    """Rates to start from: half and half between the mean and the published ones."""
    seen = pairs.weights @ pairs.scale
    mean = pairs.weights @ pairs.joined / seen if seen else 0.0  # nobody saw any two
    return np.array([mean / 2, (1 + mean) / 2])


def _warn(pairs: Pairs, share: float, two_rates: bool) -> None:
    """Say so if the ensemble does not suit the model, or says nothing."""
    if not pairs.joined.any():
        message = (
            "No member put any two objects together; every partition into clusters explains "
            "that equally well, and this one has no meaning."
        )
    elif share < _TOO_LOW and not two_rates:
        message = (
            f"Objects of one cluster were together in {share:.0%} of the members that saw them; "
            "PEACE expects nearly all. The members' clusters are smaller than the ones found: "
            "use members with about as many clusters as wanted (generate.many_algorithms), "
            "two_rates=True, or another method."
        )
    else:
        return
    warn(message)


class PEACE(SoftConsensus, function=peace, attributes=("log_likelihood", "rates", "inside_share")):
    """Cluster by probabilistic evidence accumulation; see `peace` for the method.

    Parameters
    ----------
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `KMeansEnsemble()`, whose
        many small clusters do not suit the model:
        `consilience.generate.many_algorithms` makes members that do.

    Attributes
    ----------
    log_likelihood_, rates_, inside_share_
        See `peace`, under ``details``.

    Examples
    --------
    >>> members = [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
    >>> model = PEACE(2, random_state=0).fit(ensemble=members)
    >>> model.labels_
    array([0, 0, 0, 1, 1], dtype=int32)
    >>> model.converged_
    True
    """

    solver: Solver = "growth"
    two_rates: bool = False
    init: Init = "mixed"
    n_init: int = 10
    tol: float = 1e-4
    max_iter: int | None = None
    max_sweeps: int = 1000
    max_memory: float | str = "4 GiB"
