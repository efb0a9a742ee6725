"""DGRADE: seeds for bubbles from how cost falls towards the densest objects, then BBC."""

from dataclasses import dataclass, field, fields
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from consilience._validation import MEMORY, Interval, NoneValue, Options, RandomState, check_params
from consilience.minority._bubbles import (
    BubbleRival,
    Bubbles,
    nothing_stands_out,
    settle,
    start_centres,
)
from consilience.minority._founders import dgrade_memory, seed_clusters
from consilience.minority._rivals import (
    SIZE_RULE,
    Space,
    checked_array,
    checked_values,
    count_foreground,
    no_contrast,
)

__all__ = ["DGRADE", "DGRADEResult", "dgrade", "dgrade_memory"]

Ints = NDArray[np.int64]

_RULES: dict[str, list[Any]] = {
    "n_foreground": SIZE_RULE,
    "smoothing": [Interval(Integral, 1), Options(("auto",))],
    "n_sample": [Interval(Integral, 2), NoneValue()],
    "max_iter": [Interval(Integral, 1)],
    "max_memory": MEMORY,
    "random_state": [RandomState()],
}


@dataclass(frozen=True)
class DGRADEResult(Bubbles):
    """Bubbles started from DGRADE's clusters.

    Attributes
    ----------
    smoothing : int
        Neighbours an object's cost is summed over.
    counts : ndarray of shape (n_tried,), int64
        Clusters for 1, 2, ... neighbours, as far as the search went; empty if it was given.
    seeds : ndarray of shape (n_objects,), int32
        DGRADE's own labels, from which the bubbles started; -1 where an object is not dense.
    memory : int
        Bytes announced before the largest neighbour lists were made; see `dgrade_memory`.
    """

    smoothing: int = 1
    counts: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    seeds: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    memory: int = 0


def dgrade(
    X: Any,
    n_foreground: float,
    *,
    smoothing: int | str = "auto",
    divergence: Any = "mahalanobis",
    n_sample: int | None = None,
    max_iter: int = 100,
    max_memory: float | str = "4 GiB",
    random_state: Any = None,
) -> DGRADEResult:
    """Bubbles started from the clusters that dense objects form by following denser ones.

    The cost of an object is the sum of the divergences of its nearest objects. The
    ``n_foreground`` cheapest are dense; each follows the cheapest object near it, and who is
    that himself founds a cluster. Then `bbc` starts from these clusters.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        CSR where the divergence takes it.
    n_foreground : int or float
        Objects wanted in all bubbles together: a count, or a share of all. The method must be
        told; it cannot find it out.
    smoothing : int or "auto", default="auto"
        Nearest objects counted, the object itself first. "auto" tries 1, 2, ... and takes the
        number of clusters, above one, that holds for the longest run of them; the first of
        that run.
    divergence : str, Divergence or callable, default="mahalanobis"
        See `consilience.minority.divergences`.
    n_sample : int or None
        Objects drawn for the first part, where all would take too long; the bubbles then move
        over all objects.
    max_iter : int, default=100
        Steps of `bbc` at most.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        See `dgrade_memory`; lists that need more raise `MemoryBudgetError` before they are
        made.
    random_state : int, RandomState or None
        Draws the sample.

    Returns
    -------
    DGRADEResult

    Notes
    -----
    O(n ** 2 (d + log n)) time. Equal costs are told apart by the index of the object, or two
    equal objects would each follow the other.

    References
    ----------
    Ghosh & Gupta (2011), Bregman bubble clustering: a robust framework for mining dense
    clusters, in Data Mining: Foundations and Intelligent Paradigms.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(-4, 4, (60, 2)), rng.normal(-2, 0.1, (20, 2)),
    ...                     rng.normal(2, 0.1, (20, 2))])
    >>> result = dgrade(X, 40, divergence="euclidean")
    >>> result.n_clusters, int((result.labels[60:] >= 0).sum())
    (2, 40)
    """
    values = {"n_foreground": n_foreground, "smoothing": smoothing, "n_sample": n_sample,
              "max_iter": max_iter, "random_state": random_state}  # fmt: skip
    checked_values(_RULES, values, owner="DGRADE")
    X = checked_array(X, sparse=True, owner="DGRADE")
    if flag := no_contrast(X):
        return DGRADEResult(**_fields(nothing_stands_out(X, flag)))
    space = Space(X, divergence)
    size = count_foreground(n_foreground, space.n_objects)
    rows = _sample(space.n_objects, n_sample, check_random_state(random_state))
    part = space if rows is None else Space(_rows_of(X, rows, space), divergence)
    share = size if rows is None else max(1, round(size * len(rows) / space.n_objects))
    clusters = seed_clusters(part, share, smoothing, max_memory)
    seeds = clusters.labels
    if rows is not None:
        seeds = np.full(space.n_objects, -1, np.int32)
        seeds[rows] = clusters.labels
    bubbles = settle(space, size, start_centres(space, seeds), max_iter)
    return DGRADEResult(
        **_fields(bubbles), smoothing=clusters.smoothing, counts=clusters.counts, seeds=seeds,
        memory=clusters.memory,
    )  # fmt: skip


def _fields(bubbles: Bubbles) -> dict[str, Any]:
    return {f.name: getattr(bubbles, f.name) for f in fields(bubbles)}


def _sample(n: int, n_sample: int | None, rng: np.random.RandomState) -> Ints | None:
    """Rows drawn for the search, in order; None for all."""
    if n_sample is None or n_sample >= n:
        return None
    return np.sort(rng.permutation(n)[:n_sample])


def _rows_of(X: Any, rows: Ints, space: Space) -> Any:
    """Data of some objects: also their columns, where X is a matrix over all pairs."""
    return X[np.ix_(rows, rows)] if space.divergence.name == "precomputed" else X[rows]


class DGRADE(ClusterMixin, BubbleRival):
    """Bubbles started from clusters that dense objects form by themselves; see `dgrade`.

    Parameters
    ----------
    n_foreground : int or float, default=0.1
        Objects wanted in all bubbles together: a count, or a share of all. The method must be
        told: the default only stands in for what you know of your data.
    smoothing, divergence, n_sample, max_iter, max_memory, random_state
        As in `dgrade`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        The nearest bubble, 0, 1, ..., or -1 for the background.
    scores_ : ndarray of shape (n_objects,), float64
        Minus the divergence from the nearest centre.
    threshold_ : float
        Objects with at least this score are foreground.
    cluster_centers_ : ndarray of shape ``(n_clusters_, n_features)``
    n_clusters_ : int
    smoothing_ : int
        Neighbours counted.
    counts_ : ndarray of shape (n_tried,), int64
        Clusters for 1, 2, ... neighbours.
    memory_ : int
        Bytes announced; see `dgrade_memory`.
    n_iter_, converged_, divergence_, flag_
        As in `BBCPress`.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(-4, 4, (60, 2)), rng.normal(-2, 0.1, (20, 2)),
    ...                     rng.normal(2, 0.1, (20, 2))])
    >>> DGRADE(40, divergence="euclidean").fit(X).predict([[-2.0, -2.0], [0.0, 0.0]]) >= 0
    array([ True, False])
    """

    _constraints: ClassVar[dict[str, Any]] = _RULES

    def __init__(
        self,
        n_foreground: float = 0.1,
        *,
        smoothing: int | str = "auto",
        divergence: Any = "mahalanobis",
        n_sample: int | None = None,
        max_iter: int = 100,
        max_memory: float | str = "4 GiB",
        random_state: Any = None,
    ) -> None:
        self.n_foreground = n_foreground
        self.smoothing = smoothing
        self.divergence = divergence
        self.n_sample = n_sample
        self.max_iter = max_iter
        self.max_memory = max_memory
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the bubbles of ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = self._checked(X, reset=True)
        bubbles = dgrade(X, **self.get_params(deep=False))
        self.smoothing_, self.counts_ = bubbles.smoothing, bubbles.counts
        self.memory_ = bubbles.memory
        return self._store(bubbles)
