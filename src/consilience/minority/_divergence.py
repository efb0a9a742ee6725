"""What a divergence is, and the three that work on distances between vectors.

Every divergence here is a row term plus a column term minus a product,
``D = link(max(0, r_i + c_q - A_i . B_q))``: one matrix product gives all of them at once, and
the row term drops out wherever only the order or the softmax over the seeds counts.
"""

from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._units import exponents, without_unit
from consilience._validation import NO_NUMBERS, Interval, Options, check_value
from consilience.engines import engine_for
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.rows import Stored

__all__ = ["Divergence", "Euclidean", "Gaussian", "Mahalanobis", "Terms", "as_floats", "row_sums"]

Floats = NDArray[Any]

# Above this many columns a full covariance is neither estimated well nor cheap to invert.
_MOST_COLUMNS = 2000
# Deviations of a constant column, in roundings of its largest value.
_CONSTANT = 4


class Terms(NamedTuple):
    """One side of the product form: a matrix (A or B) and what is added to its rows (r or c)."""

    matrix: Any
    offset: Floats


@dataclass(frozen=True)
class Divergence:
    """How far an object is from a seed or centroid, ``D(x, seed)``; at least 0.

    A subclass says what its two sides are (`objects`, `seeds`); `pair` and the score engine
    put them together. The seed is the second argument: the direction in which the mean is
    the best centroid of a Bregman divergence.
    """

    name: ClassVar[str] = ""
    # Whether objects are vectors, whose mean is an object again.
    vectors: ClassVar[bool] = True

    def fit(self, X: Any) -> Self:
        """A copy that knows what it needs of the data; the divergence itself is unchanged."""
        self.check(X)
        return self

    def check(self, X: Any) -> None:
        """Raise `InvalidInputError` if the objects are outside the domain."""

    def pair(self, X: Any, S: Any) -> Floats:
        """Divergence of every object from every seed.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_objects, n_features)
        S : array or CSR matrix of shape (n_seeds, n_features)

        Returns
        -------
        ndarray of shape (n_objects, n_seeds)
            float32 where ``X`` is, float64 otherwise.
        """
        X = as_floats(X)
        S = as_floats(S).astype(X.dtype, copy=False)
        self.check(X)
        self.check(S)
        fitted = self._ready(X)
        objects, seeds = fitted.objects(X), fitted.seeds(S)
        gap = objects.offset[:, None] + seeds.offset - fitted.product(objects, seeds).T
        return fitted.link(np.maximum(gap, 0, out=gap))

    def mean(self, X: Any, weights: Any = None) -> Floats:
        """Weighted mean of the objects, float64: the best centroid.

        Parameters
        ----------
        X : array or CSR matrix of shape (n_objects, n_features)
        weights : array of shape (n_objects,) or (n_objects, n_centroids), optional
            One centroid, or one for every column. None weighs all objects alike.

        Returns
        -------
        ndarray of shape (n_features,) or (n_centroids, n_features)
            Rows without any weight are zero.
        """
        X = as_floats(X)
        weights = np.ones(X.shape[0]) if weights is None else np.asarray(weights, np.float64)
        total = weights.sum(axis=0)
        share = weights / np.where(total > 0, total, 1.0)
        return (X.T @ share).T if sparse.issparse(X) else share.T @ X

    def objects(self, X: Any) -> Terms:
        """The objects' side: matrix A (n, p), dense or CSR, and row terms r (n,)."""
        raise NotImplementedError

    def seeds(self, S: Any) -> Terms:
        """The seeds' side: dense matrix B (k, p) and column terms c (k,)."""
        raise NotImplementedError

    def take(self, X: Any, rows: NDArray[np.int64]) -> Any:
        """The objects in these rows, in the form `seeds` wants."""
        return X[rows]

    def product(self, objects: Terms, seeds: Terms, out: Floats | None = None) -> Floats:
        """B A' of shape (n_seeds, n_objects), seeds first; in ``out`` where that saves memory."""
        if sparse.issparse(objects.matrix):
            wide = np.ascontiguousarray(seeds.matrix.T)
            return np.ascontiguousarray((objects.matrix @ wide).T)
        return np.matmul(seeds.matrix, objects.matrix.T, out=out)

    def link(self, gap: Floats) -> Floats:
        """Divergence from ``r + c - A.B``, in place."""
        return gap

    def _ready(self, X: Any) -> Self:
        """Itself where it needs nothing of the data, or was fitted; fitted on X otherwise."""
        return self


@dataclass(frozen=True)
class Euclidean(Divergence):
    """Squared Euclidean distance; dense columns are centred, so that no digits cancel."""

    name: ClassVar[str] = "euclidean"
    centre: Floats | None = field(default=None, repr=False, compare=False)

    def fit(self, X: Any) -> Self:
        """A copy that knows the centre of the data."""
        X = X if isinstance(X, Stored) else as_floats(X)
        # Sparse data stay sparse: centring would fill them.
        if sparse.issparse(X):
            return replace(self, centre=np.zeros(X.shape[1]))
        if not X.shape[0]:
            return replace(self, centre=np.full(X.shape[1], np.nan))
        # By blocks and their tree: the same wherever the rows are.
        return replace(self, centre=engine_for(X).column_facts().mean)

    def objects(self, X: Any) -> Terms:
        """Centred objects and their squared lengths."""
        X = self._centred(as_floats(X))
        return Terms(X, _squared_lengths(X))

    def seeds(self, S: Any) -> Terms:
        """Twice the centred seeds and their squared lengths."""
        S = _dense(self._centred(as_floats(S)))
        return Terms(2 * S, _squared_lengths(S))

    def _centred(self, X: Any) -> Any:
        if sparse.issparse(X) or self.centre is None:
            return X
        return np.subtract(X, self.centre, dtype=np.float64).astype(X.dtype)

    def _ready(self, X: Any) -> Self:
        return self.fit(X) if self.centre is None else self


@dataclass(frozen=True)
class Gaussian(Euclidean):
    """Distance in a Gaussian kernel's feature space, ``2 alpha (1 - exp(-gamma |x - s|^2))``."""

    name: ClassVar[str] = "gaussian"
    alpha: float = 10.0
    gamma: float = 10.0

    def __post_init__(self) -> None:
        for name in ("alpha", "gamma"):
            value = getattr(self, name)
            check_value(name, value, [Interval(Real, 0, open_low=True)], owner="gaussian")
            object.__setattr__(self, name, float(value))
        if not np.isfinite(2 * self.alpha):
            raise InvalidParameterError(
                "The 'alpha' parameter of gaussian must be a number whose double is finite. "
                f"Got {self.alpha!r} instead."
            )

    def link(self, gap: Floats) -> Floats:
        """2 alpha (1 - exp(-gamma gap)), in place."""
        with np.errstate(over="ignore", under="ignore"):
            np.multiply(gap, -self.gamma, out=gap)
            np.expm1(gap, out=gap)
            return np.multiply(gap, -2 * self.alpha, out=gap)


@dataclass(frozen=True)
class Mahalanobis(Divergence):
    """Squared Mahalanobis distance under the covariance of the data it was fitted on.

    Columns are divided by their standard deviations first, so that no unit makes a column
    look like rounding beside another. Constant columns, and directions in which the divided
    columns do not vary (the pseudo-inverse of their correlations), count nothing. Above 2000
    columns ``covariance="auto"`` takes the variances only.
    """

    name: ClassVar[str] = "mahalanobis"
    covariance: str = "auto"
    powers: NDArray[np.intc] | None = field(default=None, repr=False, compare=False)
    centre: Floats | None = field(default=None, repr=False, compare=False)
    whiten: Floats | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        rule = Options(("auto", "full", "diagonal"))
        check_value("covariance", self.covariance, [rule], owner="mahalanobis")

    def check(self, X: Any) -> None:
        """Sparse data are refused: whitening would fill them."""
        if sparse.issparse(X):
            raise InvalidInputError(
                "The divergence 'mahalanobis' needs dense data. Got a sparse matrix instead. Use "
                "divergence='euclidean' or 'cosine', or reduce the columns first, for instance "
                "with TruncatedSVD."
            )

    def fit(self, X: Any) -> Self:
        """A copy with the centre and the whitening of the data, W W' = pseudo-inverse."""
        X = as_floats(X)
        self.check(X)
        powers = exponents(X)
        plain = without_unit(X, powers)
        centre = plain.mean(axis=0)
        gaps = plain - centre
        n, d = gaps.shape
        deviations = np.sqrt(np.einsum("ij,ij->j", gaps, gaps) / max(n - 1, 1))
        # Columns are at most 1 here: what rounding leaves of a constant one is known.
        varies = deviations > _CONSTANT * np.finfo(X.dtype).eps
        scale = np.divide(1.0, deviations, out=np.zeros(d), where=varies)
        fitted = replace(self, powers=powers, centre=centre)
        if self.covariance == "diagonal" or (self.covariance == "auto" and d > _MOST_COLUMNS):
            return replace(fitted, whiten=scale)
        gaps *= scale
        values, vectors = np.linalg.eigh(gaps.T @ gaps / max(n - 1, 1))
        roots = _inverse_roots(values)
        return replace(fitted, whiten=(scale[:, None] * vectors * roots)[:, roots > 0])

    def objects(self, X: Any) -> Terms:
        """Whitened objects and their squared lengths."""
        Z = self._whitened(as_floats(X))
        return Terms(Z, _squared_lengths(Z))

    def seeds(self, S: Any) -> Terms:
        """Twice the whitened seeds and their squared lengths."""
        Z = self._whitened(as_floats(S))
        return Terms(2 * Z, _squared_lengths(Z))

    def _whitened(self, X: Floats) -> Floats:
        if self.whiten is None or self.centre is None or self.powers is None:
            raise InvalidInputError("The divergence 'mahalanobis' must be fitted first: fit(X).")
        gaps = without_unit(X, self.powers) - self.centre
        white = gaps * self.whiten if self.whiten.ndim == 1 else gaps @ self.whiten
        return white.astype(X.dtype, copy=False)

    def _ready(self, X: Any) -> Self:
        return self.fit(X) if self.whiten is None else self


def as_floats(X: Any) -> Any:
    """The data as floats, float32 kept, anything else float64; CSR stays CSR."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        return X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    X = np.asarray(X)
    if np.iscomplexobj(X):
        raise InvalidInputError(f"X must hold real numbers. Got numbers of type {X.dtype} instead.")
    try:
        return np.ascontiguousarray(X, X.dtype if X.dtype == np.float32 else np.float64)
    except NO_NUMBERS as error:
        raise InvalidInputError(
            f"X must hold numbers. Got values of type {X.dtype}: {error}. Turn text and categories "
            "into numbers first, or compare them with a kernel function."
        ) from error


def row_sums(X: Any) -> Floats:
    """Sum of every row, in the type of the data."""
    return np.asarray(X.sum(axis=1)).ravel().astype(X.dtype, copy=False)


def _squared_lengths(X: Any) -> Floats:
    if sparse.issparse(X):
        return row_sums(X.multiply(X).tocsr())
    return np.einsum("ij,ij->i", X, X)


def _dense(X: Any) -> Floats:
    return X.toarray() if sparse.issparse(X) else X


def _inverse_roots(values: Floats) -> Floats:
    """1 / sqrt of the variances that are there, 0 for those lost in rounding."""
    there = values > 1e-12 * max(values.max(initial=0.0), 0.0)
    return np.where(there, 1 / np.sqrt(np.where(there, values, 1.0)), 0.0)
