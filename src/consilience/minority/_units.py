"""Columns of any unit: brought near 1 by a power of two, which rounds nothing.

Squares of columns in units of 1e200 or 1e-200 leave the range of numbers, and so do their sums
at 1e308. Divided by a power of two first, they do not.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["exponents", "without_unit"]

Ints = NDArray[np.intc]


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
