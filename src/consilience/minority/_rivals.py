"""What the minority baselines share: data under a divergence, sizes, budgets, the estimator.

`Space` is the data of one fit under a fitted divergence: divergences of all objects from some
centres, means of groups, and rows of the matrix of all pairs where a method needs those.
"""

from collections.abc import Iterator, Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator

from consilience._units import check_range
from consilience._validation import Interval, Satisfies, check_value, memory_in_bytes
from consilience.errors import MemoryBudgetError
from consilience.kernels.minority.density import square_distances
from consilience.minority._divergence import Divergence, Terms
from consilience.minority.divergences import Cosine, Euclidean, Mahalanobis, resolve
from consilience.rows import rows_of

__all__ = [
    "BLOCK_BYTES",
    "SIZE_RULE",
    "Rival",
    "Space",
    "check_budget",
    "checked_array",
    "checked_values",
    "count_foreground",
    "nearest_centres",
    "no_contrast",
    "smallest",
    "square_rows",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Bytes of a block of rows of the matrix of all pairs.
BLOCK_BYTES = 2**24


def _is_share(value: Any) -> bool:
    kind = isinstance(value, Real) and not isinstance(value, Integral | np.bool_)
    return kind and 0 < float(value) <= 1


SIZE_RULE: list[Any] = [
    Interval(Integral, 1),
    Satisfies(_is_share, "a share above 0 and at most 1"),
]


def checked_values(
    rules: Mapping[str, list[Any]], values: Mapping[str, Any], *, owner: str
) -> None:
    """Raise `InvalidParameterError` for the first value that breaks its rule."""
    for name, value in values.items():
        check_value(name, value, rules[name], owner=owner)


def checked_array(X: Any, *, sparse: bool, owner: str) -> Any:
    """The data as float64, dense or CSR; at least one object, no NaN, squares in range."""
    values = rows_of(X, owner=owner, allow_sparse=sparse, kind="float64").values
    check_range(values, owner=owner)
    return values


def count_foreground(n_foreground: float, n_objects: int) -> int:
    """Objects wanted in the foreground: a count, or a share of all; 1 to n_objects."""
    if isinstance(n_foreground, Integral):
        wanted = int(n_foreground)
    else:
        wanted = round(float(n_foreground) * n_objects)
    return min(max(wanted, 1), n_objects)


def smallest(values: Floats, size: int) -> Ints:
    """The ``size`` smallest by (value, index), in order of index."""
    limit = np.partition(values, size - 1)[size - 1]
    below = values < limit
    ties = np.flatnonzero(values == limit)[: size - int(below.sum())]
    below[ties] = True
    return np.flatnonzero(below)


def no_contrast(X: Any) -> str | None:
    """Why nothing can stand out in such data; None if something may.

    "degenerate" for a single object, "no_contrast" where all objects are equal.
    """
    if X.shape[0] == 1:
        return "degenerate"
    if sparse.issparse(X):
        width = X.indptr[1]
        same = bool((np.diff(X.indptr) == width).all()) and all(
            (part.reshape(-1, max(1, width)) == part[:width]).all() for part in (X.indices, X.data)
        )
    else:
        same = bool((X[0] == X).all())
    return "no_contrast" if same else None


def check_budget(needed: int, max_memory: float | str, *, owner: str, remedy: str) -> None:
    """Raise `MemoryBudgetError`, before anything is allocated, if more is needed than allowed."""
    budget = memory_in_bytes(max_memory, owner=owner)
    if needed > budget:
        raise MemoryBudgetError(
            f"{owner} needs {needed / 2**30:.2f} GiB here, more than max_memory="
            f"{budget / 2**30:.2f} GiB. Raise max_memory, or {remedy}."
        )


class Space:
    """Data under a divergence fitted to them."""

    def __init__(self, X: Any, divergence: Any) -> None:
        self.X = X
        self.n_objects = int(X.shape[0])
        self.divergence: Divergence = resolve(divergence).fit(X)
        self._terms = self.divergence.objects(X) if self.divergence.vectors else None

    def seeds(self, objects: Ints) -> Any:
        """Some objects as centres."""
        centres = self.divergence.take(self.X, np.asarray(objects, np.int64))
        return centres.toarray() if sparse.issparse(centres) else centres

    def divergences(self, centres: Any) -> Floats:
        """Divergence of every object from every centre, (n_objects, n_centres)."""
        if self._terms is None:
            return self.divergence.pair(self.X, centres)
        seeds = self.divergence.seeds(centres)
        gaps = self.divergence.product(self._terms, seeds).T
        gaps = self._terms.offset[:, None] + seeds.offset - gaps
        return self.divergence.link(np.maximum(gaps, 0, out=gaps))

    def nearest(self, centres: Any) -> tuple[Floats, Ints]:
        """Divergence of every object from the centre nearest to it, and which one that is."""
        return nearest_centres(self.divergence, self.X, centres, self._terms)

    def means(self, weights: Floats) -> Any:
        """Centres of the objects weighted by each column of ``weights``."""
        return self.divergence.mean(self.X, weights)

    def group_means(self, labels: NDArray[Any], n_groups: int) -> Any:
        """Centres of the objects labelled 0..n_groups-1, each at least once; -1 counts nothing."""
        if type(self.divergence).mean is not Divergence.mean:
            return self.means((labels[:, None] == np.arange(n_groups)).astype(np.float64))
        # The mean of rows: one pass over those that belong somewhere.
        rows = np.flatnonzero(labels >= 0)
        groups = labels[rows]
        which = sparse.csr_array(
            (np.ones(len(rows)), (groups, rows)), shape=(n_groups, self.n_objects)
        )
        sums = which @ self.X
        sums = sums.toarray() if sparse.issparse(sums) else sums
        return sums / np.bincount(groups, minlength=n_groups)[:, None]

    def points(self) -> Floats | None:
        """Coordinates whose squared distances order all pairs as the divergence does, if any."""
        if sparse.issparse(self.X) or self._terms is None:
            return None
        if isinstance(self.divergence, Euclidean):
            # As they came: centring would round, and equal distances would come apart.
            return np.ascontiguousarray(self.X, np.float64)
        known = isinstance(self.divergence, Mahalanobis | Cosine)
        return np.ascontiguousarray(self._terms.matrix, np.float64) if known else None

    def rows(self) -> Iterator[tuple[int, Floats]]:
        """Blocks of the matrix of all pairs: number of the first row, and the rows.

        Row i holds the divergence of every object from object i as the centre. Where there are
        `points` it is symmetric to the last digit.
        """
        points = self.points()
        if points is None:
            for low, high in _blocks(self.n_objects):
                seeds = self.seeds(np.arange(low, high))
                yield low, np.ascontiguousarray(self.divergences(seeds).T)
            return
        halved = isinstance(self.divergence, Cosine)
        for low, block in square_rows(points):
            yield low, np.multiply(block, 0.5, out=block) if halved else self.divergence.link(block)


def nearest_centres(
    divergence: Divergence, X: Any, centres: Any, terms: Terms | None = None
) -> tuple[Floats, Ints]:
    """Divergence of objects from the centre nearest to each, and which one; the first on ties.

    ``terms`` are the objects' side of the divergence if it is at hand. Where the divergence is
    a function of a distance, as for the Gaussian kernel, it is the distance that is compared:
    far objects are all at 2 alpha, and yet one centre is nearest.
    """
    if not divergence.vectors:
        gaps = divergence.pair(X, centres).T
        offset = np.zeros(gaps.shape[1])
    else:
        if terms is None:
            divergence.check(X)
            terms = divergence.objects(X)
        seeds, offset = divergence.seeds(centres), terms.offset
        gaps = seeds.offset[:, None] - divergence.product(terms, seeds)
    which = np.zeros(gaps.shape[1], np.int64)
    least = gaps[0].copy()
    for c in range(1, len(gaps)):
        which[gaps[c] < least] = c
        np.minimum(least, gaps[c], out=least)
    least = np.maximum(least + offset, 0.0)
    return (divergence.link(least) if divergence.vectors else least), which


def square_rows(points: Floats) -> Iterator[tuple[int, Floats]]:
    """Blocks of the squared distances of points: number of the first row, and the rows."""
    columns = np.ascontiguousarray(points.T)
    for low, high in _blocks(len(points)):
        block = np.empty((high - low, len(points)))
        square_distances(points[low:high], columns, block)
        yield low, block


def _blocks(n: int) -> Iterator[tuple[int, int]]:
    """Ends of blocks of rows of n numbers that fit a small share of memory."""
    height = max(1, BLOCK_BYTES // (8 * n))
    for low in range(0, n, height):
        yield low, min(low + height, n)


# Divergences that leave sparse rows sparse.
_SPARSE = ("euclidean", "gaussian", "kl", "itakura-saito", "logistic", "cosine")


class Rival(BaseEstimator):
    """Base of the minority baselines: ``fit`` sets ``labels_``, -1 for the background."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        divergence = getattr(self, "divergence", None)
        name = divergence if isinstance(divergence, str) else getattr(divergence, "name", None)
        tags.input_tags.sparse = name in _SPARSE
        tags.input_tags.pairwise = name == "precomputed"
        return tags

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> NDArray[np.int32]:
        """Fit and return ``labels_``."""
        return self.fit(X, y, **kwargs).labels_

    def _checked(self, X: Any, *, reset: bool) -> Any:
        """Data as float64; CSR where the divergence may take it (it says so itself if not)."""
        rows = rows_of(X, owner=self, fitted=self, reset=reset, kind="float64")
        check_range(rows.values, owner=type(self).__name__)
        return rows.values
