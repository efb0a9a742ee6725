"""Two methods on the same runs or data sets: is one better, and by how much?"""

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from consilience._validation import Interval, Satisfies, as_array, check_value
from consilience.errors import InvalidInputError

__all__ = ["PairedTest", "paired"]

Floats = NDArray[np.float64]

# Differences that differ by no more, as a share of the largest value, are equal.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class PairedTest:
    """The difference of two methods, pair by pair.

    Attributes
    ----------
    mean_difference, low, high : float
        Mean of ``first - second`` and its confidence interval (Student's t).
    t_p, wilcoxon_p : float
        Two-sided p-values of the paired t test and of Wilcoxon's signed rank test.
    n_pairs, wins, ties, losses : int
        How many pairs there are, and in how many the first method has the larger value.
    first_mean, second_mean : float
        Means of the two methods over the pairs.
    t, wilcoxon : float
        Student's t, and the smaller sum of signed ranks.
    confidence : float
        Of the interval.
    """

    mean_difference: float
    low: float
    high: float
    t_p: float
    wilcoxon_p: float
    n_pairs: int
    wins: int
    ties: int
    losses: int
    first_mean: float
    second_mean: float
    t: float
    wilcoxon: float
    confidence: float

    def __str__(self) -> str:
        """One line for a table of claims."""
        return (
            f"{self.mean_difference:+.4g} [{self.low:+.4g}, {self.high:+.4g}] over "
            f"{self.n_pairs} pairs ({self.wins} won, {self.ties} tied, {self.losses} lost); "
            f"p = {self.wilcoxon_p:.2g} (Wilcoxon), {self.t_p:.2g} (t)"
        )


def paired(first: Any, second: Any, *, confidence: float = 0.95) -> PairedTest:
    """Paired tests of two methods over runs or data sets.

    Parameters
    ----------
    first, second : array of shape (n_pairs,) or (n_datasets, n_runs)
        The same measure of both methods, pair by pair. Of several runs on each data set the
        mean over runs is taken first: runs on one data set are not independent data sets. The
        two methods may have different numbers of runs.
    confidence : float, default=0.95
        Of the interval around the mean difference.

    Returns
    -------
    PairedTest
        With no difference in any pair both p-values are 1; with the same difference in every
        pair the interval is a point and the p-value of t is 0.

    Notes
    -----
    Differences that are equal but for rounding are taken as equal, and as none where they are 0
    but for rounding. Wilcoxon's test leaves out pairs without a difference; its p-value is exact
    up to 50 pairs without ties, otherwise the normal approximation with continuity correction.
    It asks for less than t (no normal differences) and is the one to quote over data sets
    (Demsar 2006).

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7,
    section 3.1.

    Examples
    --------
    >>> result = paired([0.8, 0.7, 0.9, 0.6, 0.85], [0.7, 0.65, 0.88, 0.63, 0.7])
    >>> round(result.mean_difference, 3), result.wins, result.losses
    (0.058, 4, 1)
    >>> print(result)
    +0.058 [-0.02865, +0.1447] over 5 pairs (4 won, 0 tied, 1 lost); p = 0.19 (Wilcoxon), 0.14 (t)
    """
    between = Satisfies(
        lambda value: Interval(Real, 0, open_low=True).accepts(value) and value < 1,
        "a number above 0 and below 1",
    )
    check_value("confidence", confidence, [between], owner="paired")
    a, b = _per_pair(first, "first"), _per_pair(second, "second")
    if len(a) != len(b) or len(a) < 2:
        raise InvalidInputError(
            "paired needs the same pairs of both methods, at least two. "
            f"Got {len(a)} of the first and {len(b)} of the second."
        )
    gaps, places = _gaps(a, b)
    mean, error = float(gaps.mean()), float(gaps.std(ddof=1) / np.sqrt(len(gaps)))
    if (places == places[0]).all():  # a spread of equal numbers is rounding
        mean, error = float(gaps[0]), 0.0
    t, t_p = _student(mean, error, len(gaps))
    rank_sum, rank_p = _wilcoxon(places)
    reach = float(stats.t.ppf(0.5 + confidence / 2, len(gaps) - 1)) * error
    return PairedTest(
        mean_difference=mean,
        low=mean - reach,
        high=mean + reach,
        t_p=t_p,
        wilcoxon_p=rank_p,
        n_pairs=len(gaps),
        wins=int((places > 0).sum()),
        ties=int((places == 0).sum()),
        losses=int((places < 0).sum()),
        first_mean=float(a.mean()),
        second_mean=float(b.mean()),
        t=t,
        wilcoxon=rank_sum,
        confidence=float(confidence),
    )


def _per_pair(values: Any, which: str) -> Floats:
    """One finite number for each pair; several runs become their mean."""
    table = as_array(values)
    known = table.dtype.kind in "biuf" and bool(np.isfinite(table).all())
    if table.ndim not in (1, 2) or table.size == 0 or not known:
        raise InvalidInputError(
            f"paired needs finite numbers, one for each pair or one row of runs for each data "
            f"set. The {which} has shape {table.shape}"
            + ("." if known else " and values that are not finite.")
        )
    table = table.astype(np.float64)
    return table if table.ndim == 1 else np.asarray(table.mean(axis=1))


def _gaps(a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """Differences, and the place of each among their sizes, with its sign: 0 where there is none.

    Differences of decimals, such as 0.9 - 0.8 and 0.8 - 0.7, differ in their last digits where on
    paper they are equal. What is closer than rounding is taken as equal, so that neither ties nor
    ranks hang on the unit.
    """
    gaps = a - b
    sizes = np.abs(gaps)
    order = np.argsort(sizes, kind="stable")
    apart = np.diff(sizes[order], prepend=0.0) > _ROUNDING * max(np.abs(a).max(), np.abs(b).max())
    places = np.empty(len(gaps))
    places[order] = np.cumsum(apart)
    return np.where(places == 0, 0.0, gaps), places * np.sign(gaps)


def _student(mean: float, error: float, n: int) -> tuple[float, float]:
    """Student's t and its two-sided p-value, also where all differences are equal."""
    if error == 0:
        return (0.0, 1.0) if mean == 0 else (float(np.copysign(np.inf, mean)), 0.0)
    t = mean / error
    return t, float(2 * stats.t.sf(abs(t), n - 1))


def _wilcoxon(places: Floats) -> tuple[float, float]:
    """Wilcoxon's statistic and two-sided p-value; pairs without a difference are left out."""
    moved = places[places != 0]
    if moved.size == 0:
        return 0.0, 1.0
    ties = len(np.unique(np.abs(moved))) < len(moved)
    method = "exact" if len(moved) <= 50 and not ties else "asymptotic"
    test = stats.wilcoxon(moved, correction=method == "asymptotic", method=method)
    return float(test.statistic), float(test.pvalue)
