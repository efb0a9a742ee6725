"""Where to cut a column of scores in two: objects below the threshold are flagged.

Every rule looks at the distinct scores and how many objects have them, so that it is exact and
does not hang on bins. Guards come after every rule: never more than a given share of the
objects, never all of them, nothing where all scores are equal.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["RULES", "Threshold", "distinct", "find_threshold"]

Floats = NDArray[np.float64]

# Scores closer than this, relative to the largest, are one score: sums differ by rounding.
_TIE = 1e-12
# A mixture's variances are at least this share of the whole variance.
_LEAST_VARIANCE = 1e-6
_MOST_ITERATIONS = 500
_GRID = (512, 8192)

RULES = ("otsu", "gap", "kde", "gmm2", "quantile")


class Threshold(NamedTuple):
    """A threshold, the rule that set it, and why in words; ``-inf`` flags nothing."""

    value: float
    rule: str
    why: str


class _Scores(NamedTuple):
    """Distinct scores in ascending order and how many objects have each."""

    values: Floats
    counts: NDArray[np.int64]

    @property
    def shares_below(self) -> Floats:
        """Share of the objects in the first 1, 2, ... distinct scores, the last one left out."""
        return np.asarray(np.cumsum(self.counts)[:-1] / self.counts.sum())

    def between(self, split: int) -> float:
        """The middle between distinct scores ``split`` and ``split + 1``."""
        return float((self.values[split] + self.values[split + 1]) / 2.0)


def find_threshold(
    scores: Floats, rule: str | float, *, max_share: float = 0.25, quantile: float = 0.1
) -> Threshold:
    """The threshold of a rule (or the number given), guarded.

    Parameters
    ----------
    scores : ndarray of shape (n,)
        Finite.
    rule : {"otsu", "gap", "kde", "gmm2", "quantile"} or number
        See `consilience.evidence.ambiguous`.
    max_share : float, default=0.25
        Largest share of the objects that may fall below. Where the rule's threshold flags
        more, the widest gap that keeps to it decides; where there is none, nothing is flagged.
    quantile : float, default=0.1
        For the rule of that name.

    Examples
    --------
    >>> find_threshold(np.array([0.1, 0.2, 0.8, 0.9, 0.9, 1.0, 1.0, 1.0]), "otsu")
    Threshold(value=0.5, rule='otsu', why='2 of 8 scores are below 0.5, set by otsu')
    """
    name = rule if isinstance(rule, str) else "number"
    if not len(scores):
        return Threshold(-np.inf, name, "no object has a score")
    levels = distinct(scores)
    if isinstance(rule, str) and len(levels.values) == 1:
        return Threshold(-np.inf, "none", "all scores are equal: there is nothing to flag")
    value = _found_by(rule, levels, max_share, quantile) if isinstance(rule, str) else float(rule)
    if value is None:
        why = f"{name} sees one group of scores only"
        if name == "gap":
            why = f"no gap flags at most max_share={max_share:g} of the objects"
        return Threshold(-np.inf, name, why)
    n_below, n = int(levels.counts[levels.values < value].sum()), len(scores)
    told = f"{n_below} of {n} scores are below {value:.4g}, set by {name}"
    if n_below == 0:
        return Threshold(value, name, f"no score is below {value:.4g}, set by {name}")
    # Divided, as in all rules: 0.29 * 100 is less than 29.
    if n_below / n <= max_share and n_below < n:
        return Threshold(value, name, told)
    return _fall_back(levels, max_share, told)


def _found_by(rule: str, levels: _Scores, max_share: float, quantile: float) -> float | None:
    """What a rule finds among scores of ordinary size: their squares are numbers as well."""
    power = int(np.frexp(np.abs(levels.values[[0, -1]]).max())[1])
    usual = levels._replace(values=np.ldexp(levels.values, -power))
    value = _FINDERS[rule](usual, max_share, quantile)
    return None if value is None else float(np.ldexp(value, power))


def _fall_back(levels: _Scores, max_share: float, told: str) -> Threshold:
    """The widest gap under the cap, or nothing, for a threshold that flags too many."""
    value = _found_by("gap", levels, max_share, 0.0)
    why = f"{told}, more than max_share={max_share:g} allows"
    if value is None:
        return Threshold(-np.inf, "none", f"{why}, and no gap keeps to it: nothing is flagged")
    n_below = int(levels.counts[levels.values < value].sum())
    why = f"{why}; the widest gap that keeps to it flags {n_below} below {value:.4g}"
    return Threshold(value, "gap", why)


def distinct(scores: Floats) -> _Scores:
    """Distinct scores, those that differ by rounding only taken together."""
    ordered = np.sort(scores)
    slack = _TIE * max(float(np.abs(ordered[[0, -1]]).max()), np.finfo(float).tiny)
    first = np.flatnonzero(np.append(True, np.diff(ordered) > slack))
    return _Scores(ordered[first], np.diff(np.append(first, len(ordered))))


def _otsu(levels: _Scores, max_share: float, quantile: float) -> float:
    """The split with the largest variance between its sides, exactly, over all splits."""
    share = levels.shares_below
    weights = levels.counts / levels.counts.sum()
    below = np.cumsum(weights * levels.values)[:-1]
    mean = float(weights @ levels.values)
    between = (mean * share - below) ** 2 / (share * (1.0 - share))
    return levels.between(_first_largest(between))


def _gap(levels: _Scores, max_share: float, quantile: float) -> float | None:
    """The widest gap between neighbouring scores, among splits that flag few enough."""
    allowed = levels.shares_below <= max_share  # none of them where there is one score only
    if not allowed.any():
        return None
    return levels.between(_first_largest(np.where(allowed, np.diff(levels.values), -np.inf)))


def _first_largest(values: Floats) -> int:
    """Position of the largest value, the first one on ties: it flags the fewest objects."""
    largest = values.max()
    return int(np.argmax(values >= largest - _TIE * abs(largest)))


def _kde(levels: _Scores, max_share: float, quantile: float) -> float | None:
    """The lowest density between the main mode and the next mode below it; None if there is none.

    Gaussian kernel, Silverman's bandwidth, or that of which 8192 points hold four each.
    """
    grid, density = _density(levels)
    rising = np.diff(density) > 0
    # A mode ends a rise; the ends of the grid are empty, so that no mode lies there.
    modes = 1 + np.flatnonzero(rising[:-1] & ~rising[1:])
    main = int(modes[np.argmax(density[modes])])
    below = modes[modes < main]
    if not below.size:
        return None
    start = int(below[-1])
    valley = density[start : main + 1]
    # Where nobody is near the density is flat: the middle of it.
    lowest = np.flatnonzero(valley <= valley.min() + _TIE * valley.max())
    return float(grid[start + int(lowest[len(lowest) // 2])])


def _density(levels: _Scores) -> tuple[Floats, Floats]:
    """Grid over the scores with four bandwidths to spare, and the estimated density there."""
    values, counts = levels
    n = counts.sum()
    mean = float(values @ counts / n)
    spread = float(np.sqrt((values - mean) ** 2 @ counts / n))
    quarters = np.searchsorted(np.cumsum(counts), [0.25 * n, 0.75 * n])
    middle = float(values[quarters[1]] - values[quarters[0]]) / 1.34
    # Where more than half of the scores are equal the middle half has no width.
    width = 0.9 * (min(spread, middle) if middle > 0 else spread) * n**-0.2
    # Four points a bandwidth, four bandwidths to spare at either end: a far score must not leave
    # the others within a single step, nor itself at the end of the grid.
    width = max(width, float(values[-1] - values[0]) * 4 / (_GRID[1] - 32))
    low, high = values[0] - 4 * width, values[-1] + 4 * width
    size = int(np.clip(np.ceil(4 * (high - low) / width), *_GRID))
    grid = np.linspace(low, high, size)
    step = float(grid[1] - grid[0])
    at = (values - low) / step
    left = np.minimum(at.astype(np.int64), size - 2)
    mass = np.bincount(left, counts * (1.0 - (at - left)), size)
    mass += np.bincount(left + 1, counts * (at - left), size)
    reach = max(1, int(np.ceil(4 * width / step)))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / width) ** 2)
    return grid, np.convolve(mass, kernel, "same")


def _gmm2(levels: _Scores, max_share: float, quantile: float) -> float | None:
    """Where two fitted Gaussians claim a score equally; None if that is not between their means."""
    shares, means, variances = _two_gaussians(levels)
    order = np.argsort(means)
    (p, q), (a, b), (u, v) = shares[order], means[order], variances[order]
    if min(p, q) <= 0 or b <= a:
        return None
    # Equal log densities: a quadratic in the score.
    square = 1.0 / (2 * v) - 1.0 / (2 * u)
    linear = a / u - b / v
    constant = b**2 / (2 * v) - a**2 / (2 * u) + np.log(p / q) + 0.5 * np.log(v / u)
    # Equal variances leave a straight line.
    line = abs(square) <= _TIE * (1.0 / u + 1.0 / v)
    roots = np.roots([linear, constant] if line else [square, linear, constant])
    inside = [float(r.real) for r in roots if abs(r.imag) < 1e-12 and a < r.real < b]
    return min(inside) if inside else None


def _two_gaussians(levels: _Scores) -> tuple[Floats, Floats, Floats]:
    """Shares, means and variances of two Gaussians by EM from Otsu's split."""
    x, w = levels.values, levels.counts / levels.counts.sum()
    mean = float(w @ x)
    least = _LEAST_VARIANCE * float(w @ (x - mean) ** 2)
    split = _otsu(levels, 1.0, 0.0)
    claims = np.stack([x < split, x >= split]).astype(float)
    before = -np.inf
    for _ in range(_MOST_ITERATIONS):
        shares = np.maximum(claims @ w, np.finfo(float).tiny)
        means = claims @ (w * x) / shares
        variances = (claims * (x - means[:, None]) ** 2) @ w / shares
        variances = np.maximum(variances, least)
        logs = np.log(shares / np.sqrt(2 * np.pi * variances))[:, None]
        logs = logs - (x - means[:, None]) ** 2 / (2 * variances[:, None])
        top = logs.max(axis=0)
        total = top + np.log(np.exp(logs - top).sum(axis=0))
        claims = np.exp(logs - total)
        after = float(w @ total)
        if after - before <= 1e-10 * abs(after):
            break
        before = after
    return shares, means, variances


def _quantile(levels: _Scores, max_share: float, quantile: float) -> float:
    """The score that the given share of the objects stays below."""
    at = int(np.searchsorted(levels.shares_below, quantile, "right"))
    return float(levels.values[at])


_FINDERS: dict[str, Callable[[_Scores, float, float], float | None]] = {
    "otsu": _otsu,
    "gap": _gap,
    "kde": _kde,
    "gmm2": _gmm2,
    "quantile": _quantile,
}
