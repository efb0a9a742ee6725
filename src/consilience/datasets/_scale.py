"""Columns of one weight: each column of the file gets variance 1 in all.

Categories were split into several columns, which share the weight of one: the variances of
the columns that one category column was split into add up to 1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed
from consilience.datasets._columns import Floats
from consilience.engines import engine_for
from consilience.errors import InvalidInputError, warn
from consilience.rows import Stored

__all__ = ["Scaled", "Scaling", "standardise"]


@dataclass(frozen=True, eq=False)
class Scaling:
    """What was done to the columns, to be done to others: which are kept, and three figures each.

    Attributes
    ----------
    kept : ndarray of int
        Columns that are not constant.
    unit, mean, spread : ndarray of float64
        Of each of these: it is divided, the mean is taken away, and it is divided again.
    """

    kept: NDArray[np.intp]
    unit: Floats
    mean: Floats
    spread: Floats

    def applied(self, X: NDArray[np.floating[Any]]) -> Floats:
        """Rows of all columns as the others were scaled: the same numbers from the same rows."""
        with np.errstate(over="ignore"):
            scaled = np.ascontiguousarray(X[:, self.kept] / self.unit)
            scaled -= self.mean
            scaled /= self.spread
        if np.isinf(scaled).any():
            raise InvalidInputError(
                f"Values up to {np.abs(X[:, self.kept]).max():.3g} cannot be brought to the scale "
                "of the columns: they leave the range of numbers. Express them in the unit of the "
                "data that were clustered."
            )
        return scaled


class Scaled(NamedTuple):
    """Columns of one weight, their names, those left out as constant, and what was done."""

    X: Any  # a table that is not in memory becomes a view that is scaled when it is read
    columns: tuple[str, ...]
    dropped: tuple[str, ...]
    scaling: Scaling


def standardise(
    X: Any, columns: Sequence[str], *, sources: Sequence[str] = (), what: str = "The data"
) -> Scaled:
    """Columns with mean 0 and variance 1, less the constant ones, of which a warning is made.

    Parameters
    ----------
    X : ndarray or Stored table of shape (n_objects, n_columns)
        Finite numbers.
    columns : sequence of str
        Their names.
    sources : sequence of str
        The file's column behind each column (`Table.sources`); columns of one source share a
        variance of 1 and keep their proportions. Without it every column stands for itself.
    what : str
        The data as messages name them.

    Returns
    -------
    Scaled
        A new array, the names of its columns, those left out, and what was done to it.

    Raises
    ------
    InvalidInputError
        If no column has two different values, though there are two objects or more.

    Examples
    --------
    >>> X = np.array([[1.0, 0, 1], [3.0, 1, 0], [1.0, 0, 0], [3.0, 0, 0]])
    >>> scaled = standardise(X, ("a", "b=x", "b=y"), sources=("a", "b", "b")).X
    >>> scaled.var(axis=0).round(2).tolist()
    [1.0, 0.5, 0.5]
    """
    facts = engine_for(X).column_facts()
    varies = facts.high > facts.low
    if len(X) > 1 and not varies.any():
        raise InvalidInputError(
            f"{what} has the same value in every row of every column: no object differs from "
            "another, so there is nothing to cluster."
        )
    if len(X) == 1:
        varies[:] = True
    kept, dropped = tuple(compress(columns, varies)), tuple(compress(columns, ~varies))
    if dropped:
        one = len(dropped) == 1
        warn(
            f"{'Column' if one else 'Columns'} {listed(map(repr, dropped))} of {what} "
            f"{'has' if one else 'have'} the same value in every row and "
            f"{'is' if one else 'are'} left out.",
        )
    group = np.arange(len(kept))
    if len(sources):
        _, group = np.unique(list(compress(sources, varies)), return_inverse=True)
    # First to at most 1, by one factor a group: squares of 1e200 would overflow.
    largest = np.zeros(group.max() + 1)
    np.maximum.at(largest, group, np.maximum(facts.high, -facts.low)[varies])
    unit = np.where(largest > 0, largest, 1.0)[group]
    where = np.flatnonzero(varies)
    if isinstance(X, Stored):
        return Scaled(*_stored_view(X, where, unit, group, kept, dropped))
    scaled = (X[:, varies] if dropped else X) / unit
    facts = engine_for(scaled).column_facts()
    scaled -= facts.mean
    spread = _spread(facts.variance, group)
    scaled /= spread
    return Scaled(scaled, kept, dropped, Scaling(where, unit, facts.mean, spread))


def _spread(variance: Floats, group: NDArray[np.intp]) -> Floats:
    """What columns are divided by, so that those of a group have variance 1 together."""
    spread = np.sqrt(np.bincount(group, variance))
    return np.where(spread > 0, spread, 1.0)[group]


def _stored_view(
    table: Stored,
    where: NDArray[np.intp],
    unit: Floats,
    group: NDArray[np.intp],
    kept: tuple[str, ...],
    dropped: tuple[str, ...],
) -> tuple[Any, tuple[str, ...], tuple[str, ...], Scaling]:
    """A table that is not in memory as it is scaled when it is read, by one more pass over it."""
    divided = Scaling(where, unit, np.zeros(len(unit)), np.ones(len(unit)))
    facts = engine_for(table.mapped(divided.applied, len(unit))).column_facts()
    scaling = Scaling(where, unit, facts.mean, _spread(facts.variance, group))
    return table.mapped(scaling.applied, len(unit), names=kept), kept, dropped, scaling
