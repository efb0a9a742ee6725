"""Columns brought to one scale before distances are taken, the same way for new objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._units import exponents, without_unit
from consilience.engines import Blocks, engine_for
from consilience.errors import InvalidParameterError
from consilience.kernels._parallel import by_rows, in_threads
from consilience.kernels.data.scaling import column_ranges, map_columns
from consilience.rows import Stored

__all__ = ["Scaling", "fit_scaling"]

Floats = NDArray[np.float64]

# Half the side of the box of the paper's data, for which its parameters are stated.
_HALF = 2.0
# Ends of the middle of a column.
_MIDDLE = (0.02, 0.98)


@dataclass(frozen=True)
class Scaling:
    """A linear map of every column; constant columns become 0.

    Attributes
    ----------
    kind : str
    centre, scale : array of shape (n_features,)
        ``(x - centre) * scale``, of columns without their unit.
    powers : array of shape (n_features,)
        Powers of two that are their units.
    """

    kind: str
    centre: Floats
    scale: Floats
    powers: NDArray[np.intc]

    def apply(self, X: Any, n_jobs: int | None = 1) -> Any:
        """The data on this scale, in their own type; sparse data are not centred."""
        if isinstance(X, Stored):
            return X.mapped(self.apply, dtype=X.dtype)
        if not sparse.issparse(X):
            X = np.ascontiguousarray(X)
            return map_columns(X, self.powers, self.centre, self.scale, n_jobs)
        plain = without_unit(X, self.powers)
        # Far from the fitted objects a value may leave the range of numbers.
        with np.errstate(over="ignore"):
            return sparse.csr_array(plain.multiply(self.scale[None]).tocsr()).astype(X.dtype)


def fit_scaling(kind: str, X: Any, *, owner: str, n_jobs: int | None = 1) -> Scaling | None:
    """The scaling of that name for these data, None for "none".

    Parameters
    ----------
    kind : {"none", "box", "std", "robust"}
        "box" maps the range of a column onto [-2, 2], "robust" that of its middle 96 %, "std" its
        mean to 0 and its standard deviation to 1.
    X : array or CSR matrix of shape (n_objects, n_features)
        Of sparse data only "std" is taken, without centring.
    owner : str
        Name of the estimator, for messages.
    n_jobs : int or None
    """
    if kind == "none":
        return None
    if isinstance(X, Stored):
        return _of_stored(kind, X, owner)
    if sparse.issparse(X) and kind != "std":
        raise InvalidParameterError(
            f"The 'scaling' parameter of {owner} must be 'none' or 'std' for sparse data: "
            f"another scaling would fill them. Got {kind!r} instead."
        )
    if kind == "box":
        return _box(X, n_jobs)
    powers = exponents(_middle(X, n_jobs) if kind == "robust" else X)
    plain = _plain(X, powers, n_jobs)
    if sparse.issparse(X):
        squares = np.asarray(plain.multiply(plain).mean(axis=0)).ravel()
        variance = squares - np.asarray(plain.mean(axis=0)).ravel() ** 2
        scale = _inverse(np.sqrt(np.maximum(variance, 0)))
        return Scaling(kind, np.zeros(X.shape[1]), scale, powers)
    low, high = column_ranges(np.ascontiguousarray(plain), n_jobs)
    if kind == "std":
        scale = _inverse(np.where(low == high, 0.0, plain.std(axis=0)))
        return Scaling(kind, plain.mean(axis=0), scale, powers)
    inner = _inner(plain, "linear", n_jobs)
    # A column that is nearly always the same has no middle: it keeps its range.
    spread = inner[1] > inner[0]
    low, high = np.where(spread, inner[0], low), np.where(spread, inner[1], high)
    return _onto_box(kind, low, high, powers)


def _of_stored(kind: str, table: Stored, owner: str) -> Scaling:
    """The same for a table that is not in memory, from its column facts and exact quantiles."""
    engine = engine_for(table)
    assert isinstance(engine, Blocks)
    facts = engine.column_facts()
    ends = np.stack([facts.low, facts.high]).astype(table.dtype)
    if kind == "box":
        return _box(ends, 1)
    if kind == "std":
        raise InvalidParameterError(
            f"The 'scaling' parameter of {owner} must be 'none', 'box' or 'robust' for data that "
            "are not in memory. Got 'std' instead."
        )
    places = [q * (table.shape[0] - 1) for q in _MIDDLE]
    # As numpy rounds and goes between them.
    nearest = [int(np.around(place)) for place in places]
    below = [int(np.floor(place)) for place in places]
    above = [min(rank + 1, table.shape[0] - 1) for rank in below]
    ranks = sorted({*nearest, *below, *above})
    at_rank = dict(zip(ranks, engine.order_statistics(ranks), strict=True))
    inner = np.stack([at_rank[rank] for rank in nearest])
    powers = exponents(ends if (inner[0] == inner[1]).any() else inner)
    pairs = [
        without_unit(np.stack([at_rank[a], at_rank[b]]), powers)
        for a, b in zip(below, above, strict=True)
    ]
    inner = np.stack(
        [
            [np.quantile(pair[:, j], place - np.floor(place)) for j in range(table.shape[1])]
            for pair, place in zip(pairs, places, strict=True)
        ]
    )
    low, high = without_unit(ends, powers)
    spread = inner[1] > inner[0]
    low, high = np.where(spread, inner[0], low), np.where(spread, inner[1], high)
    return _onto_box(kind, low, high, powers)


def _box(X: Any, n_jobs: int | None) -> Scaling:
    """The scaling by ranges, whose unit is taken off them alone: it rounds nothing."""
    low, high = column_ranges(np.ascontiguousarray(X), n_jobs)
    powers = exponents(np.stack([low, high]))
    low, high = (without_unit(ends, powers) for ends in (low, high))
    return _onto_box("box", low, high, powers)


def _plain(X: Any, powers: NDArray[np.intc], n_jobs: int | None) -> Any:
    """`without_unit`, of a dense table by threads."""
    if sparse.issparse(X):
        return without_unit(X, powers)
    plain = np.empty(X.shape)

    def write(some: slice) -> None:
        plain[some] = without_unit(X[some], powers)

    by_rows(write, len(X), n_jobs)
    return plain


def _onto_box(kind: str, low: Floats, high: Floats, powers: NDArray[np.intc]) -> Scaling:
    return Scaling(kind, (high + low) / 2, _HALF * _inverse((high - low) / 2), powers)


def _middle(X: Any, n_jobs: int | None) -> Any:
    """Values at the ends of the middle 96 % of every column, or of all where those are equal."""
    inner = _inner(X, "nearest", n_jobs)
    return X if (inner[0] == inner[1]).any() else inner


def _inner(X: Any, method: Any, n_jobs: int | None) -> Any:
    """Ends of the middle 96 % of every column, (2, n_features), by threads."""
    inner = in_threads(lambda x: np.quantile(x, _MIDDLE, method=method), X.T, n_jobs)
    return np.stack(inner, axis=1)


def _inverse(spread: Floats) -> Floats:
    """1 / spread, and 0 for columns that have none."""
    return np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
