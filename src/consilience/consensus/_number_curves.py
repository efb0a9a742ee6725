"""What is said for every number of clusters: by halves of the data, and by a dendrogram.

Half of the objects are clustered into k clusters (Ward's tree, then k-means from its cut),
the others go to the nearest centre; many halves give an ensemble for every k. Data without
groups, of the same extent along their principal axes, go the same way. A dendrogram says how
long each number lasts.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import pdist
from sklearn.decomposition import TruncatedSVD
from sklearn.utils.extmath import randomized_svd

from consilience.consensus._monti import Values, ambiguous_share, mean_value
from consilience.consensus.accumulation import eac, large_counts, smallest_counted
from consilience.engines import engine_for
from consilience.ensemble import Ensemble
from consilience.generate import KMeansEnsemble
from consilience.kernels._parallel import in_threads
from consilience.kernels.labels.contingency import cluster_contingency, first_columns
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges

__all__ = [
    "Curves",
    "few_columns",
    "groupless",
    "like_members",
    "mean_strength",
    "principal",
    "range_lengths",
    "resample",
    "tree_lifetimes",
]

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]

# Members of the dendrogram, and how many at most.
_N_MEMBERS, _MOST_MEMBERS = 50, 100
_MOST_AXES = 50
_EXACT_AXES = 500  # above, the longest axes are found without all the others
_WINDOW = (0.1, 0.9)
# Clusterings that are enough for the variance within clusters, which hardly differs.
_FEW = 5
# Axes that carry less than this share of the longest one's spread are rounding.
_FLAT = 1e-9


@dataclass(frozen=True)
class Curves:
    """One value for each number of clusters.

    Share of ambiguous pairs, area above the consensus distribution, prediction strength, and
    the share of the variance that lies within clusters.
    """

    pac: Floats
    area: Floats
    strength: Floats
    within: Floats


def few_columns(X: Any, wanted: int, seed: int) -> Floats:
    """Rows of a sparse matrix along their longest axes, not centred."""
    with np.errstate(invalid="ignore"):  # shares of the variance, of rows that have none
        return np.asarray(TruncatedSVD(wanted, random_state=seed).fit_transform(X))


def principal(X: Any, seed: int) -> Floats:
    """Objects along their principal axes, at most 50 of them, without flat ones.

    Distances are kept while there are at most 50 columns; wider data lose what lies outside
    their 50 longest axes.
    """
    if sparse.issparse(X):
        # Not centred, which would fill the matrix: the first axis then holds the mean.
        wanted = min(_MOST_AXES, min(X.shape) - 1)
        if wanted < 1:
            return principal(X.toarray(), seed)
        return principal(few_columns(X, wanted, seed), seed)
    centred = np.array(X, np.float64)
    # Scaled by the largest entry first: squares of very large or small numbers stay finite.
    largest = max(float(centred.max(initial=0.0)), -float(centred.min(initial=0.0)))
    centred /= largest if largest > 0 else 1.0
    # The mean of equal numbers may differ from them by rounding, which is no spread.
    equal = (centred == centred[:1]).all(axis=0)
    centred -= np.where(equal, centred[:1], centred.mean(axis=0))
    if min(centred.shape) > _EXACT_AXES:
        left, spread, _ = randomized_svd(centred, _MOST_AXES, random_state=seed)
    else:
        left, spread, _ = np.linalg.svd(centred, full_matrices=False)
    kept = min(_MOST_AXES, int((spread > _FLAT * spread.max(initial=0.0)).sum()))
    scores = left[:, :kept] * spread[:kept]
    return np.ascontiguousarray(scores / scores.std() if kept else scores)


def groupless(spreads: Floats, n_objects: int, seed: int, *, flat: bool) -> Floats:
    """Objects without groups: independent along axes of given spreads, normal or uniform.

    Normal clouds are what a group is; uniform ones have corners, into which k-means settles
    as firmly as into groups. A finding has to beat both.

    References
    ----------
    John, Watson, Russ et al. (2020), M3C: Monte Carlo reference-based consensus clustering,
    Scientific Reports 10 (the normal reference that keeps the principal axes). Tibshirani,
    Walther & Hastie (2001), Estimating the number of clusters in a data set via the gap
    statistic, JRSS B 63 (the uniform one).
    """
    rng = np.random.default_rng(seed)
    shape = (n_objects, len(spreads))
    unit = rng.uniform(-np.sqrt(3), np.sqrt(3), shape) if flat else rng.normal(size=shape)
    return unit * spreads


def resample(
    sets: list[Floats], tested: NDArray[np.int64], n_resamples: int, seed: int, n_jobs: int
) -> list[Curves]:
    """Curves of several data sets of equal size, each by the same halves of the objects."""
    return in_threads(lambda Z: _curves(Z, tested, n_resamples, seed), sets, n_jobs)


def _curves(Z: Floats, tested: NDArray[np.int64], n_resamples: int, seed: int) -> Curves:
    rng = np.random.default_rng(seed)
    n = len(Z)
    halves = [np.sort(rng.permutation(n)[: -(-n // 2)]) for _ in range(n_resamples)]
    trees = [agglomerate(pdist(Z[half]), "ward") for half in halves]
    each = [_look(Z, int(k), halves, trees) for k in tested]
    return Curves(*(np.array(values) for values in zip(*each, strict=True)))


def _look(Z: Floats, k: int, halves: list[Any], trees: list[Floats]) -> tuple[float, ...]:
    """What `Curves` holds, of clusterings of halves into k clusters."""
    starts = [
        _centres(Z[half], cut_merges(tree, k)) for half, tree in zip(halves, trees, strict=True)
    ]
    runs = engine_for(Z).lloyd(starts, objects=halves, max_iter=30)
    # Clusters that lost their last object vanish, so that none is empty.
    members = np.ascontiguousarray(Ensemble(runs.labels.T).members)
    joined, _ = engine_for(members).pair_counts(with_seen=False, condensed=True)
    counts = np.bincount(joined, minlength=len(members) + 1)
    values = Values(np.arange(len(counts)) / len(members), counts)
    within = np.mean([_within(Z, labels) for labels in members[:_FEW]])
    return (
        ambiguous_share(values, *_WINDOW),
        1.0 - mean_value(values),
        mean_strength(members),
        float(within),
    )


def _centres(Z: Floats, labels: Labels) -> Floats:
    sizes = np.bincount(labels)
    sums = [np.bincount(labels, column) for column in Z.T]
    return np.ascontiguousarray(np.stack(sums, axis=1) / sizes[:, None])


def _within(Z: Floats, labels: Labels) -> float:
    """Share of the variance of centred objects that lies within their clusters."""
    sizes = np.bincount(labels)
    between = (sizes[:, None] * _centres(Z, labels) ** 2).sum()
    return float(max(1.0 - between / (Z**2).sum(), 0.0))


def mean_strength(members: NDArray[np.signedinteger[Any]]) -> float:
    """Mean prediction strength over all ordered pairs of members, in [0, 1].

    The strength of one member by another: the share of the pairs of objects of a cluster of
    the first that the second joins too, in the cluster where it is smallest. A cluster of one
    object has no pairs and counts 0: nothing speaks for it.

    References
    ----------
    Tibshirani & Walther (2005), Cluster validation by prediction strength, JCGS 14(3),
    equation 2.1.

    Examples
    --------
    >>> mean_strength(np.array([[0, 0, 1, 1], [0, 0, 1, 1]], np.int8))
    1.0
    >>> mean_strength(np.array([[0, 0, 1, 1], [0, 1, 1, 1]], np.int8))
    0.0
    """
    n_members = len(members)
    if n_members < 2:
        return 0.0
    first = first_columns(members)
    table = cluster_contingency(members)
    sizes = np.diag(table)
    joined = np.add.reduceat(table * (table - 1), first[:-1], axis=1)
    shares = joined / np.maximum(sizes * (sizes - 1), 1)[:, None]
    weakest = np.minimum.reduceat(shares, first[:-1], axis=0)
    return float(weakest[~np.eye(n_members, dtype=bool)].mean())


def range_lengths(linkage: Floats, at_least: int, tested: NDArray[np.int64]) -> Floats:
    """Total range of thresholds at which the tree has k clusters that are not tiny.

    Parameters
    ----------
    linkage : ndarray of shape (n - 1, 4)
        A tree with rising heights, in SciPy's format.
    at_least : int
        Objects of a cluster that counts. With 1 every cluster counts, and the lengths are
        those of `consilience.evidence.lifetimes`.
    tested : ndarray of int
        Numbers of clusters.

    Notes
    -----
    Single link leaves stray objects alone until late; counted as clusters, they would decide
    the number.

    Examples
    --------
    >>> tree = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [5, 6, 0.8, 4], [4, 7, 1.0, 5]])
    >>> range_lengths(tree, 2, np.array([2, 3])).round(3).tolist()
    [0.6, 0.0]
    """
    n = len(linkage) + 1
    counts = large_counts(linkage, at_least)[1:-1]
    gaps = np.diff(linkage[:, 2])
    lengths = np.bincount(counts, gaps, minlength=int(tested.max()) + 1) if n > 2 else np.zeros(0)
    ranges = np.zeros(int(tested.max()) + 1)
    ranges[: len(lengths)] = lengths[: len(ranges)]
    # Rounding of heights that are equal.
    return np.where(ranges < 1e-12, 0.0, ranges)[tested]


def tree_lifetimes(ensemble: Ensemble, tested: NDArray[np.int64]) -> Floats:
    """Lifetimes in the single-link dendrogram, of clusters with 2 % of the objects or more."""
    tree = eac(ensemble, None, linkage="single").linkage
    return range_lengths(tree, smallest_counted(ensemble.n_objects), tested)


def like_members(Z: Any, seed: int, like: Ensemble | None = None) -> Ensemble:
    """k-means members on data; with as many clusters as the members of an ensemble have."""
    if like is None:
        return KMeansEnsemble(_N_MEMBERS, random_state=seed).generate(Z)
    sizes = [int(min(max(k, 2), len(Z))) for k in like.n_clusters][:_MOST_MEMBERS]
    return KMeansEnsemble(len(sizes), sizes, random_state=seed).generate(Z)
