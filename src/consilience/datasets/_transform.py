"""Counts and shares made numbers that differences mean something in: logarithms and log-ratios."""

from typing import Any, Literal

import numpy as np
from scipy import sparse

from consilience._words import plural
from consilience.datasets._columns import Floats
from consilience.errors import InvalidInputError

__all__ = ["Transform", "transformed"]

Transform = Literal["log", "compositional"]

# What stands for a share of 0, as a part of the smallest above 0: its logarithm is finite.
_PART_OF_SMALLEST = 0.65


def transformed(X: Any, how: Transform, columns: Any, *, what: str = "X") -> Any:
    """The table with some columns made logarithms.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_objects, n_columns)
        NaN where nothing is known. Not written to.
    how : {"log", "compositional"}
        ``"log"`` is log(1 + x), for counts. ``"compositional"`` is the centred log-ratio: the
        logarithm of each share less their mean in the object, so that only ratios of the columns
        count; a 0 counts as 0.65 of the object's smallest share.
    columns : ndarray of bool of shape (n_columns,)
        Those that are numbers.
    what : str
        The table as messages name it.

    References
    ----------
    Aitchison (1986), The statistical analysis of compositional data, section 4.6; Martín-Fernández,
    Barceló-Vidal & Pawlowsky-Glahn (2003), Mathematical Geology 35(3) (zeros).

    Examples
    --------
    >>> transformed(np.array([[1.0, 2.0], [2.0, 4.0]]), "compositional", np.ones(2, bool)).round(3)
    array([[-0.347,  0.347],
           [-0.347,  0.347]])
    """
    if sparse.issparse(X):
        return _sparse_log(X, how, what)
    values = np.array(X, np.float64)
    some = values[:, columns]
    _refuse_negative(np.nanmin(some) if some.size else 0.0, how, what)
    if how == "log":
        values[:, columns] = np.log1p(some)
        return values
    if columns.sum() < 2:
        raise InvalidInputError(
            f"{what} has {plural(int(columns.sum()), 'column')} of numbers: shares "
            "(--compositional) are of at least two."
        )
    values[:, columns] = _log_ratios(some, what)
    return values


def _log_ratios(shares: Floats, what: str) -> Floats:
    positive = np.where(shares > 0, shares, np.inf)
    smallest = positive.min(axis=1)
    is_known = ~np.isnan(shares)
    nothing = np.isinf(smallest) & is_known.any(axis=1)  # where nothing is known, gaps stay gaps
    if nothing.any():
        row = int(np.argmax(nothing))
        raise InvalidInputError(
            f"{what} has nothing but 0 in row {row}: shares (--compositional) need something to "
            "share. Leave that row out."
        )
    logs = np.log(np.where(shares == 0, _PART_OF_SMALLEST * smallest[:, None], shares))
    count = np.maximum(is_known.sum(axis=1, keepdims=True), 1)
    return np.asarray(logs - np.nansum(logs, axis=1, keepdims=True) / count)


def _sparse_log(X: Any, how: Transform, what: str) -> Any:
    if how != "log":
        raise InvalidInputError(
            f"{what} is sparse, and log-ratios (--compositional) of 0 are not 0. Take log (--log), "
            "or give a dense array."
        )
    _refuse_negative(X.data.min() if X.nnz else 0.0, how, what)
    return X.log1p()


def _refuse_negative(least: float, how: Transform, what: str) -> None:
    if least < 0:
        raise InvalidInputError(
            f"{what} has negative numbers ({least:.6g}): {'counts' if how == 'log' else 'shares'} "
            f"(--{how}) are at least 0. Leave out those columns, or that option."
        )
