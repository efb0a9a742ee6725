"""Methods over many data sets by their ranks: Friedman's test and pairwise comparisons.

Ranks compare methods on each data set separately, so figures of easy and hard data sets need
not be commensurable.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from consilience._validation import NO_NUMBERS, Boolean, Interval, check_value, shown
from consilience.errors import InvalidInputError, warn

__all__ = ["Ranks", "ranks", "ranks_from_means"]

Floats = NDArray[np.float64]

_FEW = 10


@dataclass(frozen=True)
class Ranks:
    """Mean ranks of methods, with Friedman's test and the raw tests of all pairs.

    Attributes
    ----------
    names : tuple of str
        The methods, in the order of the columns given.
    mean_ranks : ndarray of shape (n_methods,)
        1 is best.
    n_datasets, n_dropped : int
        Data sets ranked, and data sets left out because a method had no result there.
    chi2, chi2_p : float
        Friedman's statistic and its p-value, n_methods - 1 degrees of freedom.
    f, f_p : float
        Iman and Davenport's statistic and its p-value.
    z, p : ndarray of shape (n_methods, n_methods)
        Standardised differences of mean ranks and their two-sided p-values, not yet adjusted
        for the number of pairs; the diagonal is 0 and 1.
    """

    names: tuple[str, ...]
    mean_ranks: Floats
    n_datasets: int
    n_dropped: int
    chi2: float
    chi2_p: float
    f: float
    f_p: float
    z: Floats
    p: Floats


def ranks(
    results: Any, *, names: Sequence[str] | None = None, larger_is_better: bool = True
) -> Ranks:
    """Mean ranks and tests of methods measured on the same data sets.

    Parameters
    ----------
    results : array of shape (n_datasets, n_methods), data frame, or dict of columns
        One measure for each data set and method; columns of a frame or keys of a dict name the
        methods. Data sets with a missing value (NaN) are left out for all methods, with a
        warning.
    names : sequence of str, optional
        The methods; by default the frame's columns or "1", "2", ...
    larger_is_better : bool, default=True
        False for errors, times and the like.

    Returns
    -------
    Ranks

    Notes
    -----
    Ties share their mean rank; the statistics are not corrected for ties, which makes the
    tests slightly cautious.

    Warns
    -----
    ConsilienceWarning
        If data sets were left out, or fewer than ten are left: the pairwise tests approximate
        the ranks by a normal distribution, poorly then.

    References
    ----------
    Demsar (2006), Statistical comparisons of classifiers over multiple data sets, JMLR 7,
    section 3.2.2.

    Examples
    --------
    >>> table = np.array([[3.0, 2.0, 1.0]] * 8 + [[2.0, 3.0, 1.0]] * 4)
    >>> result = ranks(table, names=["ours", "theirs", "random"])
    >>> result.mean_ranks.round(3).tolist()
    [1.333, 1.667, 3.0]
    >>> round(result.chi2, 3)
    18.667
    """
    check_value("larger_is_better", larger_is_better, [Boolean()], owner="ranks")
    table, found_names = _table(results)
    n_given, n_methods = table.shape
    complete = table[~np.isnan(table).any(axis=1)]
    if len(complete) < 2 or n_methods < 2:
        raise InvalidInputError(
            "ranks needs at least two methods (columns) and two data sets (rows) without missing "
            f"values. Got {n_methods} and {len(complete)} instead."
        )
    if len(complete) < n_given:
        warn(
            f"{n_given - len(complete)} of {n_given} data sets lack the result of a method and "
            "are left out for all methods.",
        )
    if len(complete) < _FEW:
        warn(
            f"Only {len(complete)} data sets: the pairwise tests are poor approximations below "
            f"{_FEW}.",
        )
    placed = stats.rankdata(-complete if larger_is_better else complete, axis=1)
    labels = _checked_names(found_names if names is None else names, n_methods)
    return _tests(placed.mean(axis=0), len(complete), n_given - len(complete), labels)


def ranks_from_means(
    mean_ranks: Any, n_datasets: int, *, names: Sequence[str] | None = None
) -> Ranks:
    """The tests for mean ranks that are already known, from a publication say.

    Parameters
    ----------
    mean_ranks : array of shape (n_methods,)
        1 is best. Published ranks are rounded, so their sum need not be exact.
    n_datasets : int
        How many data sets the means are over.
    names : sequence of str, optional
        The methods; by default "1", "2", ...

    Returns
    -------
    Ranks

    Examples
    --------
    >>> result = ranks_from_means([2.1, 3.25, 2.2, 4.333, 3.117], 30)
    >>> f"{result.p[0, 3]:.1e}"
    '4.5e-08'
    """
    means = _numbers(mean_ranks, owner="ranks_from_means")
    check_value("n_datasets", n_datasets, [Interval(Integral, 2)], owner="ranks_from_means")
    m = means.size
    if means.ndim != 1 or m < 2 or not ((means >= 1) & (means <= m)).all():
        raise InvalidInputError(
            "ranks_from_means needs a vector of at least two mean ranks between 1 and their "
            f"number. Got {means.tolist()} instead."
        )
    labels = _checked_names([str(i + 1) for i in range(m)] if names is None else names, m)
    return _tests(means, int(n_datasets), 0, labels)


def _tests(means: Floats, n: int, n_dropped: int, names: tuple[str, ...]) -> Ranks:
    """Friedman, Iman-Davenport and the pairwise normal tests."""
    m = len(means)
    # Deviations from the middle rank: the textbook sum of squares, without its cancellation.
    chi2 = 12 * n / (m * (m + 1)) * float(((means - (m + 1) / 2) ** 2).sum())
    room = n * (m - 1) - chi2
    f = (n - 1) * chi2 / room if room > 1e-9 * n else np.inf  # all data sets agree
    z = np.abs(means[:, None] - means) / np.sqrt(m * (m + 1) / (6 * n))
    return Ranks(
        names=names,
        mean_ranks=means,
        n_datasets=n,
        n_dropped=n_dropped,
        chi2=chi2,
        chi2_p=float(stats.chi2.sf(chi2, m - 1)),
        f=float(f),
        f_p=float(stats.f.sf(f, m - 1, (m - 1) * (n - 1))),
        z=z,
        p=2 * stats.norm.sf(z),
    )


def _table(results: Any) -> tuple[Floats, list[str]]:
    """Results as a matrix, and what its columns are called."""
    names: list[str] | None = None
    if isinstance(results, Mapping):
        names = [str(name) for name in results]
        lengths = {np.size(column) for column in results.values()}
        if len(lengths) > 1:
            raise InvalidInputError(
                "ranks needs one result of every method for each data set. "
                f"Got columns of lengths {sorted(lengths)} instead."
            )
        results = np.column_stack(list(results.values())) if results else np.empty((0, 0))
    elif hasattr(results, "columns"):
        names = [str(name) for name in results.columns]
    table = _numbers(results, owner="ranks")
    if table.ndim != 2:
        raise InvalidInputError(
            "ranks needs a table with one row for each data set and one column for each method. "
            f"Got an array of shape {table.shape} instead."
        )
    if np.isinf(table).any():
        raise InvalidInputError("ranks needs finite results (NaN where one is missing). Got inf.")
    return table, names or [str(i + 1) for i in range(table.shape[1])]


def _numbers(values: Any, *, owner: str) -> Floats:
    """Numbers as an array, whatever its shape; NaN may be among them."""
    try:
        return np.asarray(values, float)
    except NO_NUMBERS as error:
        raise InvalidInputError(
            f"{owner} needs numbers, as many in every row and NaN where one is missing. "
            f"Got {repr(values)[:80]} instead."
        ) from error


def _checked_names(names: Sequence[str], n_methods: int) -> tuple[str, ...]:
    one = not isinstance(names, Iterable)
    texts = () if one else tuple(map(str, names))
    if len(texts) != n_methods or len(set(texts)) != n_methods:
        raise InvalidInputError(
            f"names must be {n_methods} different names, one for each method. "
            f"Got {shown(names if one else list(texts))} instead."
        )
    return texts
