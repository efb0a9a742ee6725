"""Divergences of non-negative data, of shares, and of directions; sparse rows stay sparse.

Each is smoothed, because a zero in a seed would be infinitely far from anything else there.
The smoothing adds the same to objects and seeds, so an object is at 0 from itself.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from consilience._validation import Interval, check_value
from consilience.errors import InvalidInputError
from consilience.minority._divergence import Divergence, Floats, Terms, as_floats, row_sums

__all__ = ["Cosine", "ItakuraSaito", "KullbackLeibler", "Logistic"]


@dataclass(frozen=True)
class _Smoothed(Divergence):
    """Divergences of x + e, with e a small share of the column mean."""

    smoothing: float = 1e-9
    epsilon: Floats | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        rules = [Interval(Real, 0, open_low=True)]
        check_value("smoothing", self.smoothing, rules, owner=self.name)

    def check(self, X: Any) -> None:
        """Negative values are refused."""
        if X.size and _values(X).size and _values(X).min() < 0:
            raise InvalidInputError(
                f"The divergence {self.name!r} needs values of at least 0. Got "
                f"{_values(X).min():g}. Use divergence='euclidean', or shift the columns."
            )

    def fit(self, X: Any) -> Self:
        """A copy that knows how much to add to each column."""
        X = as_floats(X)
        self.check(X)
        means = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
        # A column of zeros has no scale of its own; data of zeros have none at all.
        scale = means.mean() if means.any() else 1.0
        added = self.smoothing * np.where(means > 0, means, scale)
        # Where a column is all but zero: no less than what still has an inverse.
        return replace(self, epsilon=np.maximum(added, 1e8 * np.finfo(X.dtype).tiny))

    def _ready(self, X: Any) -> Self:
        return self.fit(X) if self.epsilon is None else self

    def _shift(self) -> Floats:
        if self.epsilon is None:
            raise InvalidInputError(f"The divergence {self.name!r} must be fitted first: fit(X).")
        return self.epsilon


@dataclass(frozen=True)
class KullbackLeibler(_Smoothed):
    """Generalised I-divergence, sum of x log(x / s) - x + s, for values of at least 0."""

    name: ClassVar[str] = "kl"

    def objects(self, X: Any) -> Terms:
        """The objects, and their sums of x log x - x."""
        X, shift = as_floats(X), self._shift()
        entropy = _sums(X, shift, lambda values: values * np.log(values))
        return Terms(X, (entropy - row_sums(X)).astype(X.dtype, copy=False))

    def seeds(self, S: Any) -> Terms:
        """Logarithms of the seeds, and their sums."""
        S, shift = _dense(as_floats(S)), self._shift()
        logs = np.log(S + shift)
        offset = S.sum(axis=1) - logs @ shift
        return Terms(logs.astype(S.dtype, copy=False), offset.astype(S.dtype, copy=False))


@dataclass(frozen=True)
class ItakuraSaito(_Smoothed):
    """Itakura-Saito distance, sum of x / s - log(x / s) - 1, for positive values."""

    name: ClassVar[str] = "itakura-saito"

    def objects(self, X: Any) -> Terms:
        """The objects, and minus the sums of their logarithms."""
        X = as_floats(X)
        logs = _sums(X, self._shift(), np.log)
        return Terms(X, (-logs - X.shape[1]).astype(X.dtype, copy=False))

    def seeds(self, S: Any) -> Terms:
        """Minus the inverse seeds, and the sums of their logarithms."""
        S, shift = _dense(as_floats(S)), self._shift()
        inverse = 1 / (S + shift)
        offset = np.log(S + shift).sum(axis=1) + inverse @ shift
        return Terms(-inverse.astype(S.dtype, copy=False), offset.astype(S.dtype, copy=False))


@dataclass(frozen=True)
class Logistic(Divergence):
    """Logistic loss, sum of x log(x / s) + (1 - x) log((1 - x) / (1 - s)), for x in [0, 1].

    Values are clipped to [smoothing, 1 - smoothing].
    """

    name: ClassVar[str] = "logistic"
    smoothing: float = 1e-6

    def __post_init__(self) -> None:
        rules = [Interval(Real, 0, 0.25, open_low=True)]
        check_value("smoothing", self.smoothing, rules, owner=self.name)

    def check(self, X: Any) -> None:
        """Values outside [0, 1] are refused."""
        values = _values(X)
        if values.size and (values.min() < 0 or values.max() > 1):
            raise InvalidInputError(
                "The divergence 'logistic' needs values from 0 to 1. Got values from "
                f"{values.min():g} to {values.max():g}. Use divergence='euclidean', or rescale."
            )

    def objects(self, X: Any) -> Terms:
        """What the clipped objects are above the smallest value, and their negative entropy."""
        X = as_floats(X)
        lowest = self.smoothing
        entropy = _sums(self._clipped(X), np.zeros(X.shape[1]), _bits, default=lowest)
        return Terms(self._raised(X), entropy.astype(X.dtype, copy=False))

    def seeds(self, S: Any) -> Terms:
        """Logits of the clipped seeds, and their sums of log(1 - s)."""
        S = as_floats(_dense(S))
        clipped = np.clip(S.astype(np.float64), self.smoothing, 1 - self.smoothing)
        logits = np.log(clipped) - np.log1p(-clipped)
        offset = -np.log1p(-clipped).sum(axis=1) - self.smoothing * logits.sum(axis=1)
        return Terms(logits.astype(S.dtype, copy=False), offset.astype(S.dtype, copy=False))

    def _clipped(self, X: Any) -> Any:
        return _mapped(
            X, lambda v: np.clip(v.astype(np.float64), self.smoothing, 1 - self.smoothing)
        )

    def _raised(self, X: Any) -> Any:
        low = self.smoothing
        return _mapped(
            X, lambda v: (np.clip(v.astype(np.float64), low, 1 - low) - low).astype(v.dtype)
        )


@dataclass(frozen=True)
class Cosine(Divergence):
    """One minus the cosine of the angle: half the squared distance of unit vectors."""

    name: ClassVar[str] = "cosine"

    def check(self, X: Any) -> None:
        """Rows of zeros have no direction and are refused."""
        empty = np.flatnonzero(_lengths(X) == 0)
        if empty.size:
            raise InvalidInputError(
                f"The divergence 'cosine' needs rows that are not all zero. Got {empty.size} such "
                f"rows, the first is row {empty[0]}. Leave them out."
            )

    def objects(self, X: Any) -> Terms:
        """Unit vectors, and ones."""
        X = as_floats(X)
        return Terms(_units(X), np.ones(X.shape[0], X.dtype))

    def seeds(self, S: Any) -> Terms:
        """Unit vectors, and zeros."""
        S = as_floats(_dense(S))
        return Terms(_units(S), np.zeros(S.shape[0], S.dtype))

    def mean(self, X: Any, weights: Any = None) -> Floats:
        """Weighted mean of the unit vectors; see `Divergence.mean`."""
        return super().mean(_units(as_floats(X)), weights)


def _bits(values: Floats) -> Floats:
    """Negative entropy of a coin with this share."""
    return values * np.log(values) + (1 - values) * np.log1p(-values)


def _values(X: Any) -> Floats:
    """The values that are stored: all of a dense array."""
    return X.data if sparse.issparse(X) else np.asarray(X)


def _mapped(X: Any, function: Callable[[Floats], Floats]) -> Any:
    """The same array or sparse pattern with other values."""
    if not sparse.issparse(X):
        return function(X)
    return sparse.csr_array((function(X.data), X.indices, X.indptr), shape=X.shape)


def _sums(
    X: Any, shift: Floats, function: Callable[[Floats], Floats], default: float | None = None
) -> Floats:
    """Row sums of ``function(x + shift)``; zeros of sparse rows count, but stay unstored.

    ``default`` is what an unstored zero stands for, where that is not the shift.
    """
    if not sparse.issparse(X):
        return function(X + shift).sum(axis=1)
    absent = function(shift if default is None else np.full(X.shape[1], default))
    change = function(X.data + shift[X.indices]) - absent[X.indices]
    wide = sparse.csr_array((change, X.indices, X.indptr), shape=X.shape)
    return row_sums(wide) + absent.sum()


def _lengths(X: Any) -> Floats:
    if sparse.issparse(X):
        return np.sqrt(row_sums(X.multiply(X).tocsr()))
    return np.sqrt(np.einsum("ij,ij->i", X, X))


def _units(X: Any) -> Any:
    lengths = _lengths(X)
    lengths = np.where(lengths > 0, lengths, 1).astype(X.dtype, copy=False)
    if sparse.issparse(X):
        inverse = np.repeat(1 / lengths, np.diff(X.indptr))
        return sparse.csr_array((X.data * inverse, X.indices, X.indptr), shape=X.shape)
    return X / lengths[:, None]


def _dense(X: Any) -> Any:
    return X.toarray() if sparse.issparse(X) else X
