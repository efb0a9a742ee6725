"""Probabilistic models of the label table: a multinomial mixture, and Bayesian ensembles."""

from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, Options, Rule
from consilience.consensus._base import FixedNumber
from consilience.consensus._label_kmeans import kcc_labellings
from consilience.consensus._mixture_fits import (
    Fit,
    beta_from_labels,
    fit_bce,
    fit_mixture,
    random_beta,
    random_shares,
    shares_of_labels,
)
from consilience.consensus._rows import Rows, distinct_rows, draw_seeds, several, spectral_start
from consilience.consensus._rules import COUNT, NOT_NEGATIVE
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble

__all__ = ["BCE", "MixtureConsensus", "bce", "mixtureconsensus"]

Floats = NDArray[np.float64]
Start = Literal["kcc", "random"]

_RULES: dict[str, list[Rule]] = {"n_init": COUNT, "max_iter": COUNT, "tol": NOT_NEGATIVE}
_PSEUDO: list[Rule] = [Interval(Real, 0, 1_000_000, open_low=True)]


@consensus_method(
    estimator="MixtureConsensus",
    paper="Topchy, Jain & Punch 2004",
    memory="n (R + k) + n_c k",
    rules={**_RULES, "start": [Options(("kcc", "random"))], "smooth": _PSEUDO},
)
def mixtureconsensus(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    start: Start = "kcc",
    n_init: int = 10,
    max_iter: int = 200,
    tol: float = 1e-6,
    smooth: float = 1e-6,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Components of a mixture of multinomials fitted to the label rows by EM.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels drop out of an object's
        product.
    n_clusters : int
        Components; some may win no object.
    start : {"kcc", "random"}, default="kcc"
        Runs begin with labellings by `kcc` (category utility), or with random
        responsibilities, as published, which often end in poor optima.
    n_init : int, default=10
        Runs; the largest likelihood wins.
    max_iter : int, default=200
        Most passes of a run.
    tol : float, default=1e-6
        A run ends when the log-likelihood gains less than this, relative to its size.
    smooth : float, default=1e-6
        Added to every expected count; keeps logarithms finite. Likelihoods of different
        values must not be compared.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the responsibilities, ``objective`` the log-likelihood;
        ``details["path"]`` holds it after every pass of the best run and
        ``details["alpha"]`` the components' shares.

    Notes
    -----
    Equal rows are one weighted row: exact. A pass takes time O(u R k) for u distinct rows,
    and holds clusters x k beside the labels; the start and the memberships u x k.

    References
    ----------
    Topchy, Jain & Punch (2004), A mixture model for clustering ensembles, SIAM SDM,
    section 3.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        if start == "kcc":
            found = kcc_labellings(rows, k, n_init, random_state, n_jobs)
            starts = [shares_of_labels(labels, k) for labels in found]
        else:
            starts = [random_shares(rows, k, seed) for seed in draw_seeds(random_state, n_init)]
        fits = several(
            lambda shares: fit_mixture(rows, k, shares, max_iter, tol, smooth), starts, n_jobs
        )
        return _best(fits, rows)

    return solve(ensemble, n_clusters, run, owner="MixtureConsensus", X=X)


@consensus_method(
    estimator="BCE",
    paper="Wang, Shan & Banerjee 2011",
    memory="n (R + k) + n_c k",
    rules={**_RULES, "lap": _PSEUDO},
)
def bce(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    n_init: int = 5,
    max_iter: int = 500,
    tol: float = 0.01,
    lap: float = 1e-6,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Mixed-membership model of the label rows, fitted by variational EM.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels are left out.
    n_clusters : int
        Clusters wanted; some may win no object.
    n_init : int, default=5
        Runs: the first from a spectral partition of the ensemble's clusters, the others
        from random parameters, which fail now and then. The largest bound wins.
    max_iter : int, default=500
        Most rounds of a run, and of the inner loops of a round.
    tol : float, default=0.01
        A run ends when beta changes by at most this (relative, l1); the same holds for the
        inner loop of each row.
    lap : float, default=1e-6
        Added to every expected count of beta.

    Returns
    -------
    ConsensusResult
        ``memberships`` are the expected shares gamma / sum(gamma), ``objective`` the
        variational bound; ``details["path"]`` holds it after every round of the best run
        and ``details["alpha"]`` the Dirichlet parameters.

    Notes
    -----
    Each object has its own shares theta ~ Dirichlet(alpha); each member draws one of the k
    clusters from theta, then a label from that cluster's distribution beta over the
    member's clusters. Equal rows are one weighted row: exact. The inner loop starts afresh
    in every round, as in the authors' program: it raises the bound at every step, but the
    bound may fall a little from round to round. The step of alpha is Newton's, halved
    until alpha is positive and (ours) the likelihood does not fall. The authors' MCLA start
    is replaced by a spectral one with the same vote.

    References
    ----------
    Wang, Shan & Banerjee (2011), Bayesian cluster ensembles, Statistical Analysis and Data
    Mining 4(1), section 4.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        seeds = draw_seeds(random_state, n_init)
        first = spectral_start(rows, k, seeds[0])
        starts = [random_beta(rows, k, seed) for seed in seeds]
        if first is not None:
            starts[0] = beta_from_labels(rows, k, first)

        def fit(start: tuple[Floats, Floats]) -> Fit:
            return fit_bce(rows, *start, max_iter=max_iter, tol=tol, lap=lap)

        fits = several(fit, starts, n_jobs)
        return _best(fits, rows)

    return solve(ensemble, n_clusters, run, owner="BCE", X=X)


def _best(fits: list[Fit], rows: Rows) -> ConsensusResult:
    """The run of the highest objective, the first on ties, for all objects."""
    best = max(fits, key=lambda fit: fit.path[-1])
    return ConsensusResult(
        best.memberships.argmax(axis=1).astype(np.int32)[rows.inverse],
        objective=best.path[-1],
        n_iter=len(best.path),
        converged=best.converged,
        memberships=best.memberships[rows.inverse],
        details={
            "path": np.array(best.path),
            "alpha": best.alpha,
            "objectives": np.array([fit.path[-1] for fit in fits]),
        },
    )


class MixtureConsensus(FixedNumber, function=mixtureconsensus):
    """Cluster by a mixture model of the labels; see `mixtureconsensus` for the method."""

    start: Start = "kcc"
    n_init: int = 10
    max_iter: int = 200
    tol: float = 1e-6
    smooth: float = 1e-6


class BCE(FixedNumber, function=bce):
    """Cluster by Bayesian cluster ensembles; see `bce` for the method."""

    n_init: int = 5
    max_iter: int = 500
    tol: float = 0.01
    lap: float = 1e-6
