"""Columns of any unit: brought near 1 by a power of two, which rounds nothing.

Squares of columns in units of 1e200 or 1e-200 leave the range of numbers, and so do their sums
at 1e308. Divided by a power of two first, they do not.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.errors import InvalidInputError

__all__ = ["check_range", "exponents", "squarable", "without_unit"]

Ints = NDArray[np.intc]

# Powers of two that sums over columns and differences of squares may need beside the squares.
_SPARE = 12


def exponents(X: Any) -> Ints:
    """Per column, the power of two just above its largest absolute value; 0 for zeros."""
    if X.shape[0] == 0:
        return np.zeros(X.shape[1], np.intc)
    if sparse.issparse(X):
        largest = np.asarray(abs(X).max(axis=0).toarray()).ravel()
    else:
        largest = np.maximum(X.max(axis=0), -X.min(axis=0))
    return np.asarray(np.frexp(largest.astype(np.float64))[1], np.intc)


def without_unit(X: Any, powers: Ints) -> Any:
    """The data with every column divided by its power of two, float64."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
        values = np.ldexp(X.data.astype(np.float64), -powers[X.indices])
        return sparse.csr_array((values, X.indices, X.indptr), shape=X.shape)
    return np.ldexp(X.astype(np.float64, copy=False), -powers)


def squarable(X: Any) -> tuple[Any, int]:
    """Data whose squares neither overflow nor vanish, and the power of two taken out of them.

    Most data come back as they are, with a power of 0. For methods whose result does not depend
    on one unit for all columns.

    >>> squarable(np.array([[3.0]])), squarable(np.array([[2.0**400]]))
    ((array([[3.]]), 0), (array([[0.5]]), 401))
    """
    values = X.data if sparse.issparse(X) else X
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    power = int(np.frexp(largest)[1])
    if abs(power) <= (300 if values.dtype == np.float64 else 40):
        return X, 0
    scaled = np.ldexp(values, -power)
    if sparse.issparse(X):
        return type(X)((scaled, X.indices, X.indptr), X.shape), power
    return scaled, power


def check_range(X: Any, *, owner: str, what: str = "X") -> None:
    """Raise `InvalidInputError` if squares of the data leave the range of numbers.

    Without this, distances would be infinite, or all 0, and labels without meaning.
    """
    if X.shape[0] == 0 or X.shape[1] == 0:
        return
    largest = max(float(X.max()), -float(X.min()))
    kind = np.finfo(np.float32 if X.dtype == np.float32 else np.float64)
    most = float(np.ldexp(np.sqrt(float(kind.max)), -_SPARE))
    least = float(np.ldexp(np.sqrt(float(kind.tiny)), _SPARE))
    if largest == 0 or least <= largest <= most:
        return
    raise InvalidInputError(
        f"The largest value of {what} is {largest:.3g}, and squares of such values leave the "
        f"range of numbers: {owner} needs between {least:.1g} and {most:.1g}. Express the columns "
        "in another unit, for instance with sklearn.preprocessing.StandardScaler."
    )
