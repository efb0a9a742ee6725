"""How densely objects lie, and what can be seen in that alone: hills, and gaps between densities.

A background may have a peak. What makes a group is that it is not the top of a slope: there is a
second hill, with a valley before it, or objects are either dense or not, with few in between.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from consilience._threads import one_thread
from consilience.kernels._parallel import by_rows
from consilience.kernels.minority.modes import hills

__all__ = ["Shape", "hills_of", "shape_of"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# Neighbours a density is estimated from: the root of the number of objects divided by the first,
# between the others.
_ROOT, _FEWEST, _MOST = 2.7, 5, 40
# How far a hill must stand out, in standard deviations of such an estimate.
_DEPTH = 4.9
# Objects are either dense or not where the valley between is so much lower than its lower side.
_VALLEY, _SMALL, _IN_SMALL = 1.2, 500, 1.3
# Share of the objects that may lie above a valley, and the lowest part of them, which may have any
# tail and is not looked at.
_MINORITY, _TAIL = 0.4, 0.05
# Steps of the grid in one width of the smoothing, and in all.
_STEPS, _MOST_STEPS = 8, 20_000
# A group has at least this share of all objects of groups: less is what strays leave.
_A_GROUP = 0.06
# Columns with at most this share of the objects as different values are rounded ones, unless
# one value has more than the last.
_ROUNDED, _ONE_VALUE = 0.25, 0.5
# Objects whose neighbours are looked for at once: twice as many as scikit-learn multiplies at once.
_AT_ONCE = 512


@dataclass(frozen=True)
class Shape:
    """What the densities of some objects show.

    Attributes
    ----------
    gap : float
        How many times higher than the deepest valley of the distribution of log densities its
        lower side is; of those valleys that are clear the one of the least density. 1 if none.
    share : float
        Share of the objects above that valley.
    separate : bool
        Whether anything is dense that is not the top of the only hill: a clear valley, or a
        second hill.
    """

    gap: float
    share: float
    separate: bool


def shape_of(X: Floats, seed: int) -> Shape:
    """What the densities of these objects show.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        Scaled.
    seed : int
        Rounded columns are spread over their steps: distances between places of a grid are few,
        with gaps that mean nothing.

    Notes
    -----
    Memory O(n k) for k neighbours, the root of n divided by 2.7; time that of finding them.
    """
    heights, graph, count = _log_densities(_unrounded(X, np.random.default_rng(seed)))
    heights = _finite(heights)
    gap, share = _valley(heights, count)
    clear = gap >= (_VALLEY if len(X) >= _SMALL else _IN_SMALL)
    tops = _climbed(heights, graph, count)
    many = int((np.bincount(tops) >= count).sum())
    return Shape(gap, share, clear or many > 1)


def hills_of(X: Floats, n_jobs: int | None = 1) -> Labels:
    """Number of the hill of each object, 0, 1, ...; -1 for objects of hills that are too small.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features)
        Two objects at least.
    n_jobs : int or None
        Threads that look for neighbours.
    """
    heights, graph, count = _log_densities(X, n_jobs)
    tops = _climbed(_finite(heights), graph, count)
    _, numbers, sizes = np.unique(tops, return_inverse=True, return_counts=True)
    large = sizes >= min(max(count, _A_GROUP * len(heights)), sizes.max())
    places = np.where(large, np.cumsum(large) - 1, -1)
    return np.asarray(places[numbers], np.int64)


def _log_densities(X: Floats, n_jobs: int | None = 1) -> tuple[Floats, sparse.csr_matrix, int]:
    """Logarithm of the density at each object, the graph of its neighbours, and their number.

    Infinity where that many others are equal.
    """
    n, d = X.shape
    count = int(min(np.clip(round(np.sqrt(n) / _ROOT), _FEWEST, _MOST), n - 1))
    distances, rows = _neighbours(X, count, n_jobs)
    starts = np.arange(0, n * count + 1, count)
    graph = sparse.csr_matrix((np.ones(n * count, np.int8), rows.ravel(), starts), (n, n))
    with np.errstate(divide="ignore"):
        heights = -d * np.log(distances[:, -1])
    return heights, (graph + graph.T).tocsr(), count


def _neighbours(X: Floats, count: int, n_jobs: int | None) -> tuple[Floats, Labels]:
    """Distances of each object's nearest others, the nearest first, and who they are."""
    tree = NearestNeighbors(n_neighbors=count + 1).fit(X)
    distances, rows = np.empty((X.shape[0], count)), np.empty((X.shape[0], count), np.int64)

    def look(some: slice) -> None:
        with one_thread():  # each of our threads would start as many as there are processors
            near, who = tree.kneighbors(X[some])
        others = who != np.arange(some.start, some.stop)[:, None]
        # Among too many equal objects it may not be one of the nearest itself.
        others[others.all(axis=1), 0] = False
        distances[some] = near[others].reshape(-1, count)
        rows[some] = who[others].reshape(-1, count)

    with one_thread():
        by_rows(look, X.shape[0], n_jobs, size=_AT_ONCE)
    return distances, rows


def _finite(heights: Floats) -> Floats:
    """Objects with too many equal ones are a little denser than all others."""
    known = np.isfinite(heights)
    top = float(heights[known].max()) if known.any() else 0.0
    return np.where(known, heights, top + 1.0)


def _climbed(heights: Floats, graph: sparse.csr_matrix, count: int) -> Labels:
    """The top of the hill of each object."""
    order = np.argsort(-heights, kind="stable")
    starts, neighbours = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    return np.asarray(hills(order, heights, starts, neighbours, _DEPTH / np.sqrt(count), count))


def _valley(heights: Floats, least: int) -> tuple[float, float]:
    """Depth of the first clear valley of the smoothed distribution, and the share above it.

    Without a clear one the depth of the deepest.
    """
    ordered, n = np.sort(heights), len(heights)
    low, high = np.quantile(ordered, [0.25, 0.75])
    width = 0.9 * min(float(ordered.std()), (high - low) / 1.34) * n**-0.2
    if not width > 0:
        return 1.0, 0.0
    begin, end = np.quantile(ordered, _TAIL) - 3 * width, ordered[-1] + 3 * width
    grid, step = np.linspace(
        begin, end, int(min((end - begin) * _STEPS / width + 2, _MOST_STEPS)), retstep=True
    )
    places = np.rint((ordered - begin) / step)
    counts = np.bincount(places[places >= 0].astype(np.int64), minlength=len(grid))
    reach = int(4 * width / step) + 1
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    smooth = np.convolve(counts, kernel)[reach : reach + len(grid)]
    sides = np.minimum(np.maximum.accumulate(smooth), np.maximum.accumulate(smooth[::-1])[::-1])
    above = np.asarray(1 - np.searchsorted(ordered, grid) / n, np.float64)
    # Where there is nothing the valley is as deep as half an object would leave it.
    depths = np.where(
        (above * n >= least) & (above < _MINORITY), sides / np.maximum(smooth, 0.5), 1.0
    )
    return _first_of(depths, above)


def _first_of(depths: Floats, above: Floats) -> tuple[float, float]:
    """The first stretch that is deep enough, and the middle of where it is deepest."""
    inside = np.r_[False, depths > 1 + 1e-4, False]
    ends = np.flatnonzero(np.diff(inside.astype(np.int8)))
    best = 1.0
    for start, stop in zip(ends[::2], ends[1::2], strict=True):
        deepest = float(depths[start:stop].max())
        if deepest >= _IN_SMALL:
            at = start + np.flatnonzero(depths[start:stop] >= 0.999 * deepest)
            return deepest, float(above[at[len(at) // 2]])
        best = max(best, deepest)
    return best, 0.0


def _unrounded(X: Floats, rng: np.random.Generator) -> Floats:
    """X with the values of rounded columns spread evenly to half of the way to the next ones.

    A column in which most objects are equal says little, and would say nothing but noise.
    """
    spread = X.astype(np.float64)
    for j, column in enumerate(X.T):
        values, places, counts = np.unique(column, return_inverse=True, return_counts=True)
        if len(values) <= _ROUNDED * len(X) and counts.max() <= _ONE_VALUE * len(X):
            middles = (values[1:] + values[:-1]) / 2
            low = np.r_[2 * values[0] - middles[0], middles]
            high = np.r_[middles, 2 * values[-1] - middles[-1]]
            spread[:, j] = rng.uniform(low[places], high[places])
    return spread
