"""Columns brought to one scale before distances are taken, the same way for new objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.errors import InvalidParameterError

__all__ = ["Scaling", "fit_scaling"]

Floats = NDArray[np.float64]

# Half the side of the box of the paper's data, for which its parameters are stated.
_HALF = 2.0


@dataclass(frozen=True)
class Scaling:
    """A linear map of every column, ``(x - centre) * scale``; constant columns become 0."""

    kind: str
    centre: Floats
    scale: Floats

    def apply(self, X: Any) -> Any:
        """The data on this scale, in their own type; sparse data are not centred."""
        if sparse.issparse(X):
            return sparse.csr_array(X.multiply(self.scale[None]).tocsr()).astype(X.dtype)
        return ((X - self.centre) * self.scale).astype(X.dtype, copy=False)


def fit_scaling(kind: str, X: Any, *, owner: str) -> Scaling | None:
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
    """
    if kind == "none":
        return None
    if sparse.issparse(X):
        if kind != "std":
            raise InvalidParameterError(
                f"The 'scaling' parameter of {owner} must be 'none' or 'std' for sparse data: "
                f"another scaling would fill them. Got {kind!r} instead."
            )
        squares = np.asarray(X.multiply(X).mean(axis=0)).ravel()
        variance = squares - np.asarray(X.mean(axis=0)).ravel() ** 2
        return Scaling(kind, np.zeros(X.shape[1]), _inverse(np.sqrt(np.maximum(variance, 0))))
    if kind == "std":
        deviation = X.std(axis=0, dtype=np.float64)
        constant = X.min(axis=0) == X.max(axis=0)
        scale = _inverse(np.where(constant, 0.0, deviation))
        return Scaling(kind, X.mean(axis=0, dtype=np.float64), scale)
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    if kind == "robust":
        inner = np.quantile(X, [0.02, 0.98], axis=0)
        # A column that is nearly always the same has no middle: it keeps its range.
        spread = inner[1] > inner[0]
        low, high = np.where(spread, inner[0], low), np.where(spread, inner[1], high)
    # Halves, because the difference of two large numbers may be infinite.
    return Scaling(kind, high / 2 + low / 2, _HALF * _inverse(high / 2 - low / 2))


def _inverse(spread: Floats) -> Floats:
    """1 / spread, and 0 for columns that have none (or one too small to divide by)."""
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1 / spread
    return np.where(np.isfinite(inverse), inverse, 0.0)
