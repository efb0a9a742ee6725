"""Consensus as k-means on label rows: SEC and KCC."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Boolean, Interval, NoneValue, Options, Satisfies, check_value
from consilience.consensus._base import Consensus
from consilience.consensus._rows import Rows, distinct_rows, draw_seeds, several, spectral_start
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError
from consilience.kernels.consensus_kmeans import LabelRuns, Price, lloyd
from consilience.kernels.label_products import row_sums

__all__ = ["KCC", "SEC", "kcc", "label_kmeans", "sec"]

Utility = Literal["c", "h", "cos", "lp"]
Floats = NDArray[np.float64]

_UTILITIES = Options(("c", "h", "cos", "lp"))
_COUNT = Interval(Integral, 1)
_FLOOR = 1e-12


def _is_weights(value: Any) -> bool:
    try:
        values = np.asarray(value, float)
    except (TypeError, ValueError):
        return False
    return bool(values.ndim == 1 and np.isfinite(values).all() and (values > 0).all())


_WEIGHTS = Satisfies(_is_weights, "one positive number for each member")


@consensus_method(
    estimator="SEC",
    paper="Liu, Liu, Wu, Tao & Fu 2015",
    memory="n R + n_c k",
    keeps_noise=True,
)
def sec(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    member_weights: Any = None,
    n_init: int = 10,
    max_iter: int = 100,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of small normalised cut of the co-association, by weighted k-means.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels are left out of an
        object's row.
    n_clusters : int
        Clusters wanted; fewer may be found.
    member_weights : array of shape (n_members,), optional
        Weight of each member in the co-association; 1 if not given.
    n_init : int, default=10
        Runs: the first from a spectral partition of the ensemble's clusters, the others
        from random labels. The best objective wins.
    max_iter : int, default=100
        Most rounds of a run.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Seeds the starts; the result does not depend on the order of the objects.
    n_jobs : int or None
        Threads, over runs; None means one.

    Returns
    -------
    ConsensusResult
        ``objective`` is the k-means objective: the number of clusters that could be lost,
        sum of R_i / d_i, less the normalised association within clusters.

    Notes
    -----
    With V_ij the members that join i and j and d_i the sum of row i of V, the rows b_i / d_i
    of the objects x clusters matrix are clustered with weights d_i; no n x n matrix is made.
    Equal rows are one weighted row: exact. Time O(u R k) a round for u distinct rows.

    References
    ----------
    Liu, Liu, Wu, Tao & Fu (2015), Spectral ensemble clustering, KDD.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> sec(ens, 2, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    weights = _check("SEC", ensemble, member_weights, n_init, max_iter)

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        w = np.repeat(weights, np.diff(rows.starts))
        degree, present = _degrees(rows, w, weights)
        price = _sec_price(w, degree, present, rows.counts)
        scale, shift = 1.0 / degree, present / degree**2
        return _best(rows, k, price, scale, shift, n_init, max_iter, random_state, n_jobs)

    return solve(ensemble, n_clusters, run, owner="SEC", X=X)


def _degrees(rows: Rows, w: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Row sums d_i of the weighted co-association, and the weight of each row's members."""
    sizes = np.zeros(len(w))
    for r, first in enumerate(rows.starts[:-1]):
        labels = rows.members[r]
        placed = labels >= 0
        counted = np.bincount(labels[placed], rows.counts[placed])
        sizes[first : first + len(counted)] = counted
    degree = row_sums(rows.members, rows.starts, (w * sizes)[:, None])[:, 0]
    present = weights @ (rows.members >= 0)
    return degree, present


def _sec_price(w: Floats, degree: Floats, present: Floats, counts: NDArray[np.int64]) -> Price:
    """Centres of SEC: mu_q = sqrt(w) * counts_q / d(q), with d(q) also a sum over the table."""
    total = float((counts * present / degree).sum())

    def price(table: NDArray[np.int64], _: NDArray[np.int64]) -> tuple[Floats, Floats, float]:
        # d(q) = sum of w |c| over the clusters' objects in q, |c| being the row sums.
        mass = (w * table.sum(axis=1)) @ table
        # A centre without any object has no centre; any mass does, its counts are zero.
        share = table / np.where(mass > 0, mass, 1.0)
        norms = w @ share**2
        costs = -2.0 * w[:, None] * share
        return costs, norms, total - float((norms * mass).sum())

    return price


@consensus_method(
    estimator="KCC",
    paper="Wu, Liu, Xiong, Cao & Chen 2015",
    memory="n R + n_c k",
    keeps_noise=True,
)
def kcc(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    utility: Utility = "h",
    p: float = 5.0,
    normalised: bool = False,
    member_weights: Any = None,
    n_init: int = 10,
    max_iter: int = 100,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of highest utility to the members, by k-means on label rows.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise and unseen labels are left out of every sum;
        a centre's distribution over a member's clusters is that of its labelled objects.
    n_clusters : int
        Clusters wanted; fewer may be found.
    utility : {"c", "h", "cos", "lp"}, default="h"
        Category utility (squared Euclidean distance), mutual information (Kullback-Leibler
        divergence), cosine, or p-norm.
    p : float, default=5
        Of the p-norm, above 1; 2 is the cosine.
    normalised : bool, default=False
        Divide each member's part by the utility of its own distribution of clusters, so
        that members with many even clusters do not outweigh the others.
    member_weights : array of shape (n_members,), optional
        Weight of each member; 1 / R if not given.
    n_init : int, default=10
        Runs: the first from a spectral partition of the ensemble's clusters, the others
        from random labels. The best objective wins.
    max_iter : int, default=100
        Most rounds of a run.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Seeds the starts; the result does not depend on the order of the objects.
    n_jobs : int or None
        Threads, over runs; None means one.

    Returns
    -------
    ConsensusResult
        ``objective`` is the summed distance of the objects to their centres.

    Notes
    -----
    A centre holds the distribution m of its objects over the clusters of each member. An
    object with label l costs, for the four utilities, 1 - 2 m(l) + |m|^2, -log m(l) (floored
    at 1e-12), 1 - m(l) / |m| and 1 - (m(l) / |m|_p)^(p-1). Where no object of a centre is
    labelled by a member, m is the member's distribution over all objects. Equal rows are
    one weighted row: exact. Time O(u R k) a round for u distinct rows.

    References
    ----------
    Wu, Liu, Xiong, Cao & Chen (2015), K-means-based consensus clustering: a unified view,
    IEEE TKDE 27(1), section 3 and table 2.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> kcc(ens, 2, utility="c", random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    check_value("utility", utility, [_UTILITIES], owner="KCC")
    check_value("p", p, [Interval(Real, 1, open_low=True)], owner="KCC")
    check_value("normalised", normalised, [Boolean()], owner="KCC")
    weights = _check("KCC", ensemble, member_weights, n_init, max_iter) / ensemble.n_members

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        price = kcc_price(rows, weights, utility, p, normalised)
        ones, zeros = np.ones(rows.n_rows), np.zeros(rows.n_rows)
        return _best(rows, k, price, ones, zeros, n_init, max_iter, random_state, n_jobs)

    return solve(ensemble, n_clusters, run, owner="KCC", X=X)


def kcc_price(rows: Rows, weights: Floats, utility: Utility, p: float, normalised: bool) -> Price:
    """Costs of every cluster's label at every centre, from the counts of a labelling."""
    block = np.repeat(np.arange(len(weights)), np.diff(rows.starts))
    edges = rows.starts[:-1][np.diff(rows.starts) > 0]
    place = np.cumsum(np.diff(rows.starts) > 0) - 1

    def per_member(values: Floats) -> Floats:
        """Sums over each member's clusters, repeated for each of them."""
        return np.add.reduceat(values, edges, axis=0)[place[block]]

    cost, own = _DISTANCES[utility]
    w = weights[block][:, None]
    overall: Floats | None = None

    def price(table: NDArray[np.int64], _: NDArray[np.int64]) -> tuple[Floats, Floats, float]:
        nonlocal overall, w
        if overall is None:
            whole = table.sum(axis=1, keepdims=True).astype(float)
            overall = whole / per_member(whole)
            if normalised:
                unit = own(overall, per_member, p)
                # A member with one cluster says nothing: its costs are zero as they are.
                w = np.divide(w, unit, out=np.zeros_like(w), where=unit > 0)
        seen = per_member(table.astype(float))
        m = np.where(seen > 0, table / np.where(seen > 0, seen, 1.0), overall)
        costs = w * cost(m, per_member, p)
        return costs, np.zeros(table.shape[1]), float((table * costs).sum())

    return price


Sums = Callable[[Floats], Floats]


def _euclid(m: Floats, sums: Sums, _: float) -> Floats:
    return 1.0 - 2.0 * m + sums(m**2)


def _entropy(m: Floats, sums: Sums, _: float) -> Floats:
    return sums(-m * np.log(np.maximum(m, _FLOOR)))


def _norm(m: Floats, sums: Sums, p: float) -> Floats:
    return sums(m**p) ** (1.0 / p)


# Per utility: cost of a label at a centre, and the utility of a member's own distribution.
_DISTANCES: dict[str, tuple[Callable[..., Floats], Callable[..., Floats]]] = {
    "c": (_euclid, lambda m, sums, p: sums(m**2)),
    "h": (lambda m, sums, p: -np.log(np.maximum(m, _FLOOR)), _entropy),
    "cos": (
        lambda m, sums, p: 1.0 - m / _norm(m, sums, 2.0),
        lambda m, sums, p: _norm(m, sums, 2.0),
    ),
    "lp": (lambda m, sums, p: 1.0 - (m / _norm(m, sums, p)) ** (p - 1.0), _norm),
}
