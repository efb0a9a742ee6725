"""Columns of one scale, as the papers have them."""

import numpy as np
from numpy.typing import NDArray

__all__ = ["standardised"]


def standardised(X: NDArray[np.float64]) -> NDArray[np.float64]:
    """Columns of mean 0 and variance 1 (divisor n - 1), without the constant ones."""
    spread = X.std(axis=0, ddof=1)
    return (X[:, spread > 0] - X[:, spread > 0].mean(axis=0)) / spread[spread > 0]
