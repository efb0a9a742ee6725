"""Columns of a table: their ranges, and a linear map of each, by all threads."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team

__all__ = ["column_ranges", "map_columns"]

# Rows at a time: enough to be worth a turn, few enough for all threads to have some.
_ROWS = 2048
# Numbers that are worth a thread.
_WORTH = 2**18


def column_ranges(X: NDArray[Any], n_jobs: int | None = 1) -> tuple[NDArray[Any], NDArray[Any]]:
    """Least and greatest value of every column of a C-contiguous table without NaN.

    Examples
    --------
    >>> column_ranges(np.array([[1.0, 5.0], [3.0, 4.0]]))
    (array([1., 4.]), array([3., 5.]))
    """
    with _team(X, n_jobs) as team:
        ranges = team.run(lambda at: _ranges(X, at, team.size))
    low, high = zip(*ranges, strict=True)
    return np.min(low, axis=0), np.max(high, axis=0)


def map_columns(
    X: NDArray[Any],
    powers: NDArray[np.integer[Any]],
    centre: NDArray[np.float64],
    scale: NDArray[np.float64],
    n_jobs: int | None = 1,
) -> NDArray[Any]:
    """``(X / 2 ** powers - centre) * scale`` by columns, computed in double, in the type of X.

    Examples
    --------
    >>> map_columns(np.array([[8.0], [4.0]]), np.array([3]), np.array([0.5]), np.array([4.0]))
    array([[2.],
           [0.]])
    """
    out = np.empty(X.shape, X.dtype)
    # In two steps: a power of two that takes one number out of range may bring another into it.
    first = np.ldexp(1.0, -powers // 2)
    second = np.ldexp(1.0, -powers - -powers // 2)
    with _team(X, n_jobs) as team:
        team.run(lambda at: _map(X, first, second, centre, scale, at, team.size, out))
    return out


def _team(X: NDArray[Any], n_jobs: int | None) -> Team:
    """As many threads as are of use."""
    return Team(n_jobs, min(-(-X.shape[0] // _ROWS), -(-X.size // _WORTH)))


@compiled
def _ranges(X, at, step):
    low, high = X[0].copy(), X[0].copy()
    for start in range(at * _ROWS, X.shape[0], step * _ROWS):
        for i in range(start, min(start + _ROWS, X.shape[0])):
            for j in range(X.shape[1]):
                low[j] = min(low[j], X[i, j])
                high[j] = max(high[j], X[i, j])
    return low, high


@compiled
def _map(X, first, second, centre, scale, at, step, out):
    for start in range(at * _ROWS, X.shape[0], step * _ROWS):
        for i in range(start, min(start + _ROWS, X.shape[0])):
            for j in range(X.shape[1]):
                plain = np.float64(X[i, j]) * first[j] * second[j]
                out[i, j] = (plain - centre[j]) * scale[j]
