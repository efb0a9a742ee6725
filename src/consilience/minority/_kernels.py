"""Divergences from a kernel: of any objects, by a callable, or by a matrix made before.

A Mercer kernel K is an inner product of features nobody has to see; the squared distance of
two objects there is K(x, x) + K(s, s) - 2 K(x, s).
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._validation import NO_NUMBERS, Options, check_value
from consilience.errors import InvalidInputError
from consilience.minority._divergence import Divergence, Floats, Terms

__all__ = ["Kernel", "Precomputed"]

# Objects handed to a callable at once: its matrix stays small.
_BLOCK = 1024


@dataclass(frozen=True)
class Kernel(Divergence):
    """Distance in the feature space of a kernel over any objects.

    ``function(a, b)`` takes two sequences of objects (lists, or rows of an array) and returns
    the matrix of shape (len(a), len(b)).
    """

    name: ClassVar[str] = "kernel"
    vectors: ClassVar[bool] = False
    function: Callable[[Any, Any], Any] = None  # type: ignore[assignment]

    def pair(self, X: Any, S: Any) -> Floats:
        """Divergence of every object from every seed; see `Divergence.pair`."""
        objects = Terms(X, self._own(X))
        seeds = self.seeds(S)
        gap = objects.offset[:, None] + seeds.offset - self.product(objects, seeds).T
        return _clipped(gap, max(objects.offset.max(initial=0), seeds.offset.max(initial=0)))

    def mean(self, X: Any, weights: Any = None) -> Floats:
        """Not defined: the mean of the features need not be an object."""
        raise InvalidInputError(
            "A callable kernel gives no centroids. Compute the kernel matrix of all objects and "
            "use divergence='precomputed', whose centroids are weights of the objects."
        )

    def objects(self, X: Any) -> Terms:
        """The objects themselves; the row term drops out of every weak clustering."""
        return Terms(X, np.zeros(_length(X)))

    def seeds(self, S: Any) -> Terms:
        """The seeds themselves, and K(s, s)."""
        return Terms(S, self._own(S))

    def take(self, X: Any, rows: NDArray[np.int64]) -> Any:
        """The objects in these rows, a list where a list came."""
        return X[rows] if isinstance(X, np.ndarray) or sparse.issparse(X) else [X[i] for i in rows]

    def product(self, objects: Terms, seeds: Terms, out: Floats | None = None) -> Floats:
        """2 K of shape (n_seeds, n_objects), a block of objects at a time."""
        n, k = _length(objects.matrix), _length(seeds.matrix)
        out = np.empty((k, n)) if out is None else out
        for start in range(0, n, _BLOCK):
            block = objects.matrix[start : start + _BLOCK]
            out[:, start : start + _BLOCK] = 2 * self._call(block, seeds.matrix).T
        return out

    def _call(self, a: Any, b: Any) -> Floats:
        wanted = (_length(a), _length(b))
        try:
            matrix = np.asarray(self.function(_plain(a), _plain(b)), np.float64)
        except NO_NUMBERS as error:
            raise InvalidInputError(
                f"The kernel failed on {wanted[0]} and {wanted[1]} objects: {error}"
            ) from error
        if matrix.shape != wanted:
            raise InvalidInputError(
                f"The kernel must return a matrix of shape {wanted} for {wanted[0]} and "
                f"{wanted[1]} objects. Got shape {matrix.shape}."
            )
        if not np.isfinite(matrix).all():
            raise InvalidInputError("The kernel returned NaN or infinity for some objects.")
        return matrix

    def _own(self, X: Any) -> Floats:
        """K(x, x) of every object: the kernel of small groups, of which the diagonal is kept."""
        own = [
            np.diagonal(self._call(X[start : start + 8], X[start : start + 8]))
            for start in range(0, _length(X), 8)
        ]
        return np.concatenate(own) if own else np.zeros(0)


@dataclass(frozen=True)
class Precomputed(Divergence):
    """Distances of objects from a matrix over all of them, made before.

    Rows of X are objects, columns the objects it was fitted on. Seeds are given by their
    numbers, or, as centroids in the feature space, by rows of weights over all of them.

    Parameters
    ----------
    kind : {"kernel", "distance", "squared_distance"}, default="kernel"
        What the matrix holds.
    """

    name: ClassVar[str] = "precomputed"
    vectors: ClassVar[bool] = False
    kind: str = "kernel"
    own: Floats | None = field(default=None, repr=False, compare=False)
    kernel: Floats | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        rule = Options(("kernel", "distance", "squared_distance"))
        check_value("kind", self.kind, [rule], owner="precomputed")

    def fit(self, X: Any) -> Self:
        """A copy that keeps the matrix; raises unless it is square, symmetric and Mercer."""
        if sparse.issparse(X):
            raise InvalidInputError("A precomputed matrix must be dense. Use X.toarray().")
        K = self._as_kernel(X)
        if K.ndim != 2 or K.shape[0] != K.shape[1]:
            raise InvalidInputError(
                f"A precomputed matrix must be square, objects by objects. Got shape {K.shape}."
            )
        if not np.isfinite(K).all():
            raise InvalidInputError("A precomputed matrix must not hold NaN or infinity.")
        rounding = 1e-8 * np.abs(K).max(initial=0.0)
        if np.abs(K - K.T).max(initial=0.0) > rounding:
            raise InvalidInputError(
                "A precomputed matrix must be symmetric. Use (K + K.T) / 2 if the difference is "
                "rounding."
            )
        own = np.diagonal(K).copy()
        # As a kernel distances are negative halves of their squares.
        highest = max(K.max(initial=0.0), np.abs(own).max(initial=0.0))
        if self.kind != "kernel" and highest > rounding:
            raise InvalidInputError(
                "Precomputed distances must be at least 0, and 0 from an object to itself. Use "
                "kind='kernel' for similarities."
            )
        for start in range(0, len(K), _BLOCK):
            rows = slice(start, start + _BLOCK)
            _clipped(own[rows, None] + own - 2 * K[rows], own.max(initial=0.0))
        return replace(self, own=own, kernel=K)

    def pair(self, X: Any, S: Any, *, own: Any = None) -> Floats:
        """Divergence of every object from every seed.

        Parameters
        ----------
        X : array of shape (n_objects, n_fitted)
            Rows of the matrix.
        S : array of int of shape (n_seeds,), or of float of shape (n_seeds, n_fitted)
            Numbers of fitted objects, or weights that sum to 1.
        own : array of shape (n_objects,), optional
            K(x, x) of new objects. None takes the fitted ones, so X must be the fitted matrix.
        """
        fitted = self if self.own is not None else self.fit(X)
        K = fitted._as_kernel(X)
        if own is None:
            own = fitted.own if self.kind == "kernel" else np.zeros(len(K))
        if own is None or len(own) != len(K):
            raise InvalidInputError(
                "Divergences of new objects from a precomputed kernel need K(x, x): pass own=."
            )
        seeds = fitted.seeds(S)
        gap = np.asarray(own)[:, None] + seeds.offset - fitted.product(Terms(K, own), seeds).T
        return np.maximum(gap, 0, out=gap)

    def mean(self, X: Any, weights: Any = None) -> Floats:
        """Centroids as weights over the objects, each row summing to 1; see `Divergence.mean`."""
        weights = np.ones(len(X)) if weights is None else np.asarray(weights, np.float64)
        total = weights.sum(axis=0)
        return (weights / np.where(total > 0, total, 1.0)).T

    def objects(self, X: Any) -> Terms:
        """Rows of the kernel; the row term drops out of every weak clustering."""
        K = self._as_kernel(X)
        return Terms(K, np.zeros(len(K)))

    def seeds(self, S: Any) -> Terms:
        """Numbers or weights of the seeds, and K(s, s)."""
        S, own, K = np.asarray(S), self.own, self.kernel
        if own is not None and S.ndim == 1:
            return Terms(S.astype(np.int64), own[S])
        if own is None or K is None:
            raise InvalidInputError("The divergence 'precomputed' must be fitted first: fit(X).")
        return Terms(S, np.einsum("ij,ij->i", S @ K, S))

    def take(self, X: Any, rows: NDArray[np.int64]) -> Any:
        """The numbers themselves: seeds are columns of the matrix."""
        return rows

    def product(self, objects: Terms, seeds: Terms, out: Floats | None = None) -> Floats:
        """2 K of shape (n_seeds, n_objects)."""
        if seeds.matrix.ndim == 1:
            return np.ascontiguousarray(2 * objects.matrix[:, seeds.matrix].T)
        return 2 * (seeds.matrix @ objects.matrix.T)

    def _as_kernel(self, X: Any) -> Floats:
        """The matrix as a kernel: distances are those of -d^2 / 2."""
        K = np.asarray(X, np.float64)
        if self.kind == "kernel":
            return K
        return -0.5 * (K**2 if self.kind == "distance" else K)


def _clipped(gap: Floats, scale: float) -> Floats:
    """Squared distances with rounding removed, in place; raises where it is more than that."""
    if gap.size and gap.min() < -1e-8 * abs(scale):
        raise InvalidInputError(
            f"The kernel gives a squared distance of {gap.min():g}: it is not a Mercer kernel "
            "(an inner product). Add a constant to its diagonal, or use distances instead."
        )
    return np.maximum(gap, 0, out=gap)


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def _plain(X: Any) -> Any:
    """Objects as the caller's kernel expects them: a list, unless they are rows of a matrix."""
    return list(X) if isinstance(X, np.ndarray) and X.ndim == 1 else X
