"""Points for a table of numbers and categories with gaps: what is looked at as distances.

Columns of one weight each, categories by what they say of other columns, and gaps at their expected
place, given what is known of the object. Members of an ensemble do not see these places: for them a
gap stays a gap.
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

__all__ = ["Points", "points_with_gaps"]

# Directions in which columns hang together, that gaps are filled along; rounds of fitting them.
_DIRECTIONS, _ROUNDS = 10, 25
# Rows of which the expected places are found together.
_ROWS = 4096


@dataclass(frozen=True, eq=False)
class Points:
    """What was done to the columns, to be done to others.

    Attributes
    ----------
    kept : ndarray of int
        Columns that are not constant.
    mean, spread : ndarray of float64
        Of each of these: the mean is taken away, and it is divided.
    directions : ndarray of shape (n_kept, r)
        How columns hang together: a gap is put where they expect it. Without gaps r is 0.
    noise : float
        Variance of a column beside these directions.
    """

    kept: NDArray[np.intp]
    mean: Floats
    spread: Floats
    directions: Floats
    noise: float

    def applied(self, X: Any) -> Floats:
        """Rows of all columns as points: the same numbers from the same rows."""
        scaled = (np.asarray(X, np.float64)[:, self.kept] - self.mean) / self.spread
        return np.ascontiguousarray(_filled(scaled, self.directions, self.noise))


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
    # Squares of 1e200 would overflow: deviations are made small before they are squared.
    unit = np.maximum(np.abs(high[kept]), np.abs(low[kept]))
    mean = np.nanmean(some / unit, axis=0) * unit
    variance = np.nanvar(some / unit, axis=0)
    if len(set(group.tolist())) < len(group):  # of one source: in one unit
        variance, scale = variance * unit**2, np.ones(len(unit))
    else:
        scale = unit
    together = np.sqrt(np.bincount(group, variance, minlength=len(weights)))[group]
    spread = scale * np.where(together > 0, together, 1.0) / weights[group]
    scaled = (some - mean) / spread
    directions, noise = _directions(scaled) if np.isnan(scaled).any() else (np.empty((0, 0)), 1.0)
    made = Points(kept, mean, spread, directions, noise)
    return made.applied(X), tuple(compress(columns, varies)), dropped, made


def _directions(scaled: Floats) -> tuple[Floats, float]:
    """Probabilistic principal components of a table with gaps, by expectation and maximisation.

    Ilin & Raiko (2010), Practical approaches to principal component analysis in the presence of
    missing values, JMLR 11, section 3: the expectation of the components of each object given what
    is known of it, then directions and noise that fit best.
    """
    n, d = scaled.shape
    r = min(_DIRECTIONS, d - 1, n - 1)
    if r < 1:
        return np.empty((d, 0)), 1.0
    known = ~np.isnan(scaled)
    cells = np.where(known, scaled, 0.0)
    _, lengths, axes = np.linalg.svd(cells, full_matrices=False)
    directions = axes[:r].T * (lengths[:r] / np.sqrt(n))
    noise = max(float((cells**2).sum() - (lengths[:r] ** 2).sum()) / (n * d), 1e-3)
    mask = known.astype(np.float64)
    for _ in range(_ROUNDS):
        z, spread = _components(cells, mask, directions, noise)
        moments = (z[:, :, None] * z[:, None, :] + noise * spread).reshape(n, -1)
        left = (mask.T @ moments).reshape(d, r, r) + 1e-6 * np.eye(r)
        directions = np.linalg.solve(left, (cells.T @ z)[:, :, None])[:, :, 0]
        fitted = z @ directions.T
        unsure = (mask @ (directions[:, :, None] * directions[:, None, :]).reshape(d, -1)).reshape(
            n, r, r
        )
        doubt = noise * float((unsure * spread).sum())
        total = float((mask * (cells - fitted) ** 2).sum()) + doubt
        noise = max(total / float(mask.sum()), 1e-3)
    return np.ascontiguousarray(directions), noise


def _components(
    cells: Floats, mask: Floats, directions: Floats, noise: float
) -> tuple[Floats, Floats]:
    """Expected components of objects given what is known, and the inverses that say how sure."""
    d, r = directions.shape
    products = (directions[:, :, None] * directions[:, None, :]).reshape(d, -1)
    inverse = np.linalg.inv((mask @ products).reshape(-1, r, r) + noise * np.eye(r))
    return np.einsum("nab,nb->na", inverse, cells @ directions), inverse


def _filled(scaled: Floats, directions: Floats, noise: float) -> Floats:
    """Gaps at their expected place."""
    gaps = np.isnan(scaled)
    rows = np.flatnonzero(gaps.any(axis=1))
    if not rows.size:
        return scaled
    if not directions.size:
        return np.where(gaps, 0.0, scaled)
    for start in range(0, len(rows), _ROWS):
        some = rows[start : start + _ROWS]
        mask = (~gaps[some]).astype(np.float64)
        cells = np.where(gaps[some], 0.0, scaled[some])
        z, _ = _components(cells, mask, directions, noise)
        scaled[some] = np.where(gaps[some], z @ directions.T, cells)
    return scaled
