"""Ensembles of tables with categories and gaps: members on numbers, on categories, on both."""

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from consilience._labels import UNSEEN, is_frame
from consilience._validation import (
    COUNT,
    N_MEMBERS,
    NO_NUMBERS,
    Interval,
    NoneValue,
    Satisfies,
    as_array,
)
from consilience.datasets._association import association_weights
from consilience.datasets._mixed import as_mixed
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate._base import Generator, Made, Order, Stopwatch, compact
from consilience.generate._draw import (
    N_CLUSTERS,
    SHARE,
    Clusters,
    Indices,
    check_share,
    subset_size,
)
from consilience.kernels.kmeans.prototypes import prototypes
from consilience.rows import Rows

__all__ = ["MixedEnsemble"]

Floats = NDArray[np.float64]

_KINDS = ("numbers", "categories", "both")
# Numbers alone, or categories alone, know less than both; some members of each keep a group in
# sight that only one kind knows.
_TURNS = ("both", "numbers", "both", "categories", "both")
# Rows above the table: weights, views, kinds.
_HEAD = 3
_ALGORITHMS = {"numbers": "k-means", "categories": "k-modes", "both": "k-prototypes"}


def _are_columns(value: Any) -> bool:
    if isinstance(value, str):
        return value == "auto"
    place = Interval(Integral)
    return isinstance(value, list | tuple) and all(
        isinstance(one, str) or place.accepts(one) for one in value
    )


def _are_weights(value: Any) -> bool:
    if isinstance(value, str):
        return value == "association"
    return (
        isinstance(value, list | tuple | np.ndarray)
        and as_array(value).ndim == 1
        and len(value) > 0
        and all(Interval(Real, 0).accepts(one) for one in value)
        and any(one > 0 for one in value)
    )


def _are_kinds(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(one, str) and one in _KINDS for one in value)
    )


def _are_views(value: Any) -> bool:
    if isinstance(value, str | bytes) or not hasattr(value, "__len__"):
        return False
    views = as_array(value)
    return views.ndim == 1 and views.dtype.kind in "biufUS"


class MixedEnsemble(Generator):
    """Many clusterings of a table with categories and gaps, each of other columns.

    Members are made in turn on some of the numbers (k-means), on some of the categories (k-modes),
    and on some of both (k-prototypes). Columns are drawn by their weights, so that many columns
    that hang together with nothing do not drown the few that make the groups.

    Parameters
    ----------
    n_members : int, default=100
        Number of clusterings.
    n_clusters : int, (low, high), list of int or rule, default=("sqrt/2", "sqrt")
        Clusters of a member, as in `KMeansEnsemble`; fewer where fewer objects are seen.
    categorical : "auto", or list of int or str, default="auto"
        Columns of categories, by place (-1 is the last) or name. "auto": those of a frame that are
        no numbers.
    kinds : sequence of {"numbers", "categories", "both"}
        What members look at, in turn; kinds of which the table has nothing are left out. By
        default three of five look at both.
    weights : "association", or array of shape (n_columns,), or None, default="association"
        How likely a column is drawn, and the root of what it counts in distances. "association"
        gives numbers 1, and categories from 0.1 to 1 by what they say of other columns. None: 1.
    views : sequence of int of length n_columns, or None, default=None
        Columns measured together have the same number: a member draws one or more of these views
        and sees the objects that have them.
    max_features : float, int or (low, high), default=(0.5, 1.0)
        Columns of its kind that a member sees.
    min_known : float, default=0.5
        An object is unseen by a member if it has less than this share (by weight) of the member's
        columns, in any of its views. 1.0: members see whole objects only.
    max_iter : int, default=30
        Rounds of Lloyd's iterations at most.
    random_state : int, RandomState or None
        Draws one seed a member; equal seeds give equal ensembles whatever ``n_jobs``.
    n_jobs : int or None
        Threads; None means one.

    Notes
    -----
    Numbers are brought to variance 1, categories to the same: half the squared distance from the
    shares of a cluster over its mean in the whole table. Centres are means and shares, not modes,
    so that every round lowers the sum of distances (San, Huynh & Nakamori's centres with Huang's
    mixed distance). Gaps cost nothing and move no centre.

    Time of a member O(n k d) a round; memory O(n d).

    References
    ----------
    Huang (1998), Extensions to the k-means algorithm for clustering large data sets with
    categorical values, Data Mining and Knowledge Discovery 2; San, Huynh & Nakamori (2004), An
    alternative extension of the k-means algorithm for clustering categorical data; Gower (1971), A
    general coefficient of similarity, Biometrics 27 (gaps).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> group = np.repeat([0.0, 1.0], 50)
    >>> X = np.column_stack([5 * group + rng.normal(size=100), group, rng.integers(4, size=100)])
    >>> X[3, 0] = np.nan
    >>> MixedEnsemble(6, 2, categorical=[1, 2], random_state=0).generate(X)
    Ensemble(n_objects=100, n_members=6, n_clusters=2..2, noise=0, unseen=1)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "n_members": [N_MEMBERS],
        "n_clusters": [N_CLUSTERS],
        "categorical": [Satisfies(_are_columns, "'auto', or a list of columns by place or name")],
        "kinds": [Satisfies(_are_kinds, "a list of 'numbers', 'categories', 'both'")],
        "weights": [
            Satisfies(_are_weights, "'association', or a number of at least 0 for each column"),
            NoneValue(),
        ],
        "views": [Satisfies(_are_views, "a list with a view for each column"), NoneValue()],
        "max_features": [SHARE],
        "min_known": [Interval(Real, 0, 1, open_low=True)],
        "max_iter": COUNT,
    }

    _rows_above: ClassVar[int] = _HEAD

    def __init__(
        self,
        n_members: int = 100,
        n_clusters: Any = ("sqrt/2", "sqrt"),
        *,
        categorical: Any = "auto",
        kinds: Any = _TURNS,
        weights: Any = "association",
        views: Any = None,
        max_features: Any = (0.5, 1.0),
        min_known: float = 0.5,
        max_iter: int = 30,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_clusters = n_clusters
        self.categorical = categorical
        self.kinds = kinds
        self.weights = weights
        self.views = views
        self.max_features = max_features
        self.min_known = min_known
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _rows(self, X: Any) -> Rows:
        """The table, one column for each of it, categories as places; gaps may be there."""
        index = getattr(X, "index", None) if is_frame(X) else None
        if isinstance(X, Rows):
            X, index = X.values, X.index
        try:
            table = as_mixed(X, self.categorical)
        except (*NO_NUMBERS, IndexError) as error:
            raise InvalidInputError(
                f"X of {type(self).__name__} must be a frame, or an array of numbers with NaN for "
                f"gaps, and 'categorical' must name columns of it: {error}."
            ) from error
        values = table.values
        if values.ndim != 2 or len(values) < 2 or not values.shape[1]:
            raise InvalidInputError(
                f"{type(self).__name__} needs a minimum of 2 objects, one row each, and a column. "
                f"Got an array of shape {values.shape} instead."
            )
        if np.isinf(values).any():
            raise InvalidInputError(
                f"X contains infinity, in column {int(np.isinf(values).any(axis=0).argmax())}. "
                f"{type(self).__name__} takes NaN for what is not known, and finite numbers."
            )
        self._categories = table.categorical
        return Rows(values, table.names, index)

    def _prepared(self, X: Any) -> Any:
        self._check_lengths(X.shape[1])
        weights = self.weights
        if isinstance(weights, str):
            weights = association_weights(X, self._categories)
        weights = np.ones(X.shape[1]) if weights is None else np.asarray(weights, np.float64)
        views = np.zeros(X.shape[1], np.int64)
        if self.views is not None:
            views = np.unique(np.asarray(self.views), return_inverse=True)[1].ravel()
        # One array, which workers and checkpoints take as they take any: above the rows of the
        # table stand the weight of each column, its view, and whether it holds categories.
        is_category = np.isin(np.arange(X.shape[1]), self._categories)
        table = np.where(is_category, X, _unit_variance(X))
        weights = weights * np.array([_differs(column) for column in X.T])
        if not weights.any():
            weights = np.ones(X.shape[1])  # nothing differs: members of one cluster
        return np.vstack([weights, views, is_category, table])

    def _check_lengths(self, width: int) -> None:
        for name in ("weights", "views"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str) and len(value) != width:
                raise InvalidParameterError(
                    f"The {name!r} parameter of {type(self).__name__} must have a value for each "
                    f"of the {width} columns. Got {len(value)} instead."
                )

    def _prepare(self, X: Any) -> int:
        n = X.shape[0] - _HEAD
        clusters = Clusters.resolve(self.n_clusters, n, owner=type(self).__name__)
        if clusters.high > n:
            raise InvalidParameterError(
                f"The 'n_clusters' parameter of {type(self).__name__} must be at most the number "
                f"of objects, {n}. Got {self.n_clusters!r} instead. Ask for fewer clusters."
            )
        owner, width = type(self).__name__, X.shape[1]
        check_share("max_features", self.max_features, "features, n_features", width, owner)
        return self.n_members

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        weights, views, kinds, table = X[0], X[1], X[2] > 0, X[_HEAD:]
        return [self._make_one(table, weights, views, kinds, order) for order in orders]

    def _make_one(
        self, table: Floats, weights: Floats, views: Floats, is_category: Any, order: Order
    ) -> Made:
        watch = Stopwatch()
        rng = np.random.default_rng(order.seed)
        clusters = Clusters.resolve(self.n_clusters, len(table), owner=type(self).__name__)
        k = clusters.draw(rng, order.number)
        columns, kind, drawn = self._drawn(rng, weights, views, is_category, order.number)
        seen = _seen(~np.isnan(table[:, columns]), weights[columns], views[columns], self.min_known)
        labels = np.full(len(table), UNSEEN, np.int64)
        if seen.size:
            numbers = columns[~is_category[columns]]
            codes = columns[is_category[columns]]
            places = np.nan_to_num(table[np.ix_(seen, codes)], nan=-1.0).astype(np.int32)
            labels[seen] = prototypes(
                np.ascontiguousarray(table[np.ix_(seen, numbers)]),
                np.ascontiguousarray(places),
                weights[numbers] ** 2,
                weights[codes] ** 2 / _impurity(places),
                rng.choice(seen.size, min(k, seen.size), replace=False).astype(np.int64),
                max_iter=self.max_iter,
            )
        record = {
            "algorithm": _ALGORITHMS[kind],
            "seed": order.seed,
            "n_clusters": k,
            "n_objects": int(seen.size),
            "features": columns.tolist(),
            "views": drawn,
            "seconds": watch.seconds(),
            "error": None,
        }
        return Made(compact(labels), record)

    def _drawn(
        self,
        rng: np.random.Generator,
        weights: Floats,
        views: Floats,
        is_category: Any,
        number: int,
    ) -> tuple[Indices, str, list[int]]:
        """Columns of a member, what kind they are, and the views they come from."""
        usable = weights > 0
        all_views = np.unique(views[usable])
        count = int(rng.integers(1, len(all_views) + 1))
        chosen = np.sort(rng.choice(all_views, count, replace=False))
        usable &= np.isin(views, chosen)
        there = {
            "numbers": usable & ~is_category,
            "categories": usable & is_category,
            "both": usable,
        }
        several = there["numbers"].any() and there["categories"].any()
        wanted = [kind for kind in self.kinds if there[kind].any() and (several or kind != "both")]
        kind = wanted[number % len(wanted)] if wanted else "both"
        if not several:
            kind = "numbers" if there["numbers"].any() else "categories"
        share = self.max_features
        if isinstance(share, tuple):
            share = float(rng.uniform(*share))
        # View by view, lest one of many columns leave the others no place.
        columns = []
        for view in chosen:
            candidates = np.flatnonzero(there[kind] & (views == view))
            if candidates.size:
                size = min(subset_size(share, candidates.size), candidates.size)
                likely = weights[candidates] / weights[candidates].sum()
                columns.append(rng.choice(candidates, size, replace=False, p=likely))
        return np.sort(np.concatenate(columns)), kind, chosen.astype(int).tolist()


def _unit_variance(X: Floats) -> Floats:
    """Columns with mean 0 and variance 1; constant and empty ones are 0."""
    known = ~np.isnan(X)
    count = np.maximum(known.sum(axis=0), 1)
    largest = np.max(np.abs(X), axis=0, where=known, initial=0.0)
    small = X / np.where(largest > 0, largest, 1.0)
    away = small - np.sum(small, axis=0, where=known) / count
    spread = np.sqrt(np.sum(away**2, axis=0, where=known) / count)
    return np.asarray(away / np.where(spread > 0, spread, 1.0))


def _differs(column: Floats) -> bool:
    """Whether a column has two different values."""
    known = column[~np.isnan(column)]
    return bool(known.size) and bool((known != known[0]).any())


def _seen(known: Any, weights: Floats, views: Floats, least: float) -> Indices:
    """Objects that have enough of a member's columns, in each of its views."""
    enough = known.any(axis=1)
    for view in np.unique(views):
        its = weights[views == view] ** 2
        enough &= known[:, views == view] @ its >= least * its.sum() * (1 - 1e-12)
    return np.flatnonzero(enough)


def _impurity(codes: NDArray[np.int32]) -> Floats:
    """Mean cost of each column of categories in one cluster: half one less its squared shares."""
    costs = np.ones(codes.shape[1])
    for j, column in enumerate(codes.T):
        counts = np.bincount(column[column >= 0])
        shares = counts / max(counts.sum(), 1)
        costs[j] = max(0.5 * (1.0 - float((shares**2).sum())), 1e-12)
    return costs
