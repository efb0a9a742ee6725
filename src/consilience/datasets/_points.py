"""Points for a table of numbers and categories with gaps: what is looked at as distances.

Columns of one weight each, categories by what they say of other columns, and gaps where the nearest
objects are. Members of an ensemble do not see these places: for them a gap stays a gap.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed
from consilience.datasets._columns import Floats
from consilience.errors import InvalidInputError, warn

__all__ = ["Points", "drawn", "points_with_gaps"]

# Objects that a gap is filled from, and of how many these are the nearest.
_NEAREST, _ENOUGH = 30, 5_000
# Rows of which the nearest are found together.
_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Points:
    """What was done to the columns, to be done to others.

    Attributes
    ----------
    kept : ndarray of int
        Columns that are not constant.
    mean, spread : ndarray of float64
        Of each of these: the mean is taken away, and it is divided.
    reference : ndarray of shape (n_reference, n_kept) or None
        Objects that gaps are filled from; None where there were none.
    """

    kept: NDArray[np.intp]
    mean: Floats
    spread: Floats
    reference: Floats | None = None

    def applied(self, X: Any) -> Floats:
        """Rows of all columns as points: the same numbers from the same rows."""
        scaled = (np.asarray(X, np.float64)[:, self.kept] - self.mean) / self.spread
        if not np.isnan(scaled).any():
            return np.ascontiguousarray(scaled)
        if self.reference is None:  # nobody had gaps before: the mean
            return np.nan_to_num(scaled)
        return np.ascontiguousarray(_filled(scaled, self.reference))

    def with_gaps(self, X: Floats) -> Floats:
        """The same with the gaps as they are."""
        return (X[:, self.kept] - self.mean) / self.spread


def points_with_gaps(
    X: Floats,
    columns: Sequence[str],
    *,
    sources: Sequence[str],
    weights: Floats,
    what: str = "The data",
) -> tuple[Floats, tuple[str, ...], tuple[str, ...], Points]:
    """Points, the names of their columns, those left out as constant, and what was done.

    Parameters
    ----------
    X : ndarray of shape (n_objects, n_columns)
        NaN where nothing is known.
    columns : sequence of str
    sources : sequence of str
        The file's column behind each column; those of one source share a variance.
    weights : ndarray of shape (n_sources,)
        Of each source, in the order of their first columns: its columns have the square of it as
        variance together.
    what : str
        The data as messages name them.
    """
    known = ~np.isnan(X)
    low = np.min(X, axis=0, where=known, initial=np.inf)
    high = np.max(X, axis=0, where=known, initial=-np.inf)
    varies = high > low
    if not varies.any():
        raise InvalidInputError(
            f"{what} has the same value in every row of every column: no object differs from "
            "another, so there is nothing to cluster."
        )
    dropped = tuple(compress(columns, ~varies))
    if dropped:
        one = len(dropped) == 1
        warn(
            f"{'Column' if one else 'Columns'} {listed(map(repr, dropped))} of {what} "
            f"{'has' if one else 'have'} the same value in every row and "
            f"{'is' if one else 'are'} left out.",
        )
    kept = np.flatnonzero(varies)
    order = {source: place for place, source in enumerate(dict.fromkeys(sources))}
    group = np.array([order[source] for source in sources])[kept]
    some = X[:, kept]
    # Squares of 1e200 would overflow: deviations are made small before they are squared, those
    # of one source by one unit.
    largest = np.zeros(len(weights))
    np.maximum.at(largest, group, np.maximum(np.abs(high[kept]), np.abs(low[kept])))
    unit = largest[group]
    mean = np.nanmean(some / unit, axis=0) * unit
    variance = np.nanvar(some / unit, axis=0)
    together = np.sqrt(np.bincount(group, variance, minlength=len(weights)))[group]
    spread = unit * np.where(together > 0, together, 1.0) / weights[group]
    scaled = (some - mean) / spread
    made = Points(kept, mean, spread, drawn(scaled) if np.isnan(scaled).any() else None)
    return made.applied(X), tuple(compress(columns, varies)), dropped, made


def _filled(scaled: Floats, reference: Floats) -> Floats:
    """Gaps at the mean of the nearest objects, by what is known of both; 0, the mean, of none."""
    rows = np.flatnonzero(np.isnan(scaled).any(axis=1))
    known = ~np.isnan(reference)
    there = np.where(known, reference, 0.0)
    mask = known.astype(np.float64)
    near = min(_NEAREST, len(reference))
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        has = ~np.isnan(scaled[some])
        cells = np.where(has, scaled[some], 0.0)
        both = has @ mask.T
        away = cells**2 @ mask.T - 2.0 * cells @ there.T + has @ (there**2).T
        away = np.where(both > 0, away / np.maximum(both, 1.0), np.inf)
        nearest = np.argpartition(away, near - 1, axis=1)[:, :near]
        # Those that have nothing in common with an object are not near it, and have no say.
        has_say = np.isfinite(np.take_along_axis(away, nearest, axis=1))[:, :, None]
        count = np.sum(mask[nearest], axis=1, where=has_say)
        means = np.sum(there[nearest], axis=1, where=has_say) / np.maximum(count, 1.0)
        scaled[some] = np.where(has, cells, means)
    return scaled


def drawn(points: Floats) -> Floats:
    """The objects that gaps of others are filled from."""
    if len(points) <= _ENOUGH:
        return points
    return points[np.sort(np.random.default_rng(0).permutation(len(points))[:_ENOUGH])]
