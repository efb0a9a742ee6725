"""All pairs of methods at once: p-values adjusted for the number of pairs.

Hypotheses "i and j do the same" hang together: if 1 = 2 and 2 = 3 hold, so does 1 = 3. A set of
pairs is *exhaustive* if exactly its members can be true together; these sets are the partitions
of the methods, each taken as the pairs inside its blocks. Bergmann and Hommel's adjusted p-value
of a pair is the largest, over the exhaustive sets that hold it, of the set's size times its
smallest p-value. Shaffer's procedure uses only the sizes such sets can have, Holm's only the
number of pairs; neither ever finds more than Bergmann and Hommel's.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, Options, as_array, check_value
from consilience.compare._exhaustive import by_cliques, possible_true_counts
from consilience.compare.ranks import Ranks, ranks
from consilience.errors import InvalidInputError

__all__ = ["PairTest", "PairwiseTests", "adjust", "bergmann_hommel"]

Floats = NDArray[np.float64]
Procedure = Literal["bergmann-hommel", "shaffer", "holm"]

_PROCEDURES = ("bergmann-hommel", "shaffer", "holm")
# For p-values of ranks the exact sets take seconds up to here.
MOST_EXACT = 30


class PairTest(NamedTuple):
    """Two methods, the better one first, and what is known of their difference."""

    better: str
    worse: str
    rank_difference: float
    z: float
    p: float
    adjusted: float
    different: bool


@dataclass(frozen=True)
class PairwiseTests:
    """Which methods differ, after adjusting for the number of pairs.

    Attributes
    ----------
    ranks : Ranks
        Mean ranks, Friedman's test, and the raw p-values.
    adjusted : ndarray of shape (n_methods, n_methods)
        Adjusted p-values; the diagonal is 1.
    different : ndarray of shape (n_methods, n_methods), bool
        Pairs with ``adjusted <= alpha``. No pair where Iman and Davenport's test finds no
        difference among all methods: then no claim about pairs is made.
    procedure : str
        "bergmann-hommel", "shaffer" or "holm": the one that was used.
    alpha : float
        Level of significance.
    why : str
        Which procedure was used and why, and what the test of all methods said.
    """

    ranks: Ranks
    adjusted: Floats
    different: NDArray[np.bool_]
    procedure: Procedure
    alpha: float
    why: str

    def pairs(self) -> list[PairTest]:
        """Every pair, the surest difference first."""
        rows = []
        means, names = self.ranks.mean_ranks, self.ranks.names
        for i, j in zip(*np.triu_indices(len(names), 1), strict=True):
            a, b = (i, j) if means[i] <= means[j] else (j, i)
            row = PairTest(
                names[a],
                names[b],
                float(means[b] - means[a]),
                float(self.ranks.z[i, j]),
                float(self.ranks.p[i, j]),
                float(self.adjusted[i, j]),
                bool(self.different[i, j]),
            )
            rows.append(row)
        return sorted(rows, key=lambda row: (row.p, row.adjusted))


def bergmann_hommel(
    results: Any,
    *,
    names: Sequence[str] | None = None,
    larger_is_better: bool = True,
    alpha: float = 0.05,
    procedure: Procedure | Literal["auto"] = "auto",
) -> PairwiseTests:
    """Tests of all pairs of methods over many data sets, by Bergmann and Hommel's procedure.

    Parameters
    ----------
    results : array of shape (n_datasets, n_methods), data frame, dict of columns, or Ranks
        One measure for each data set and method; see `ranks`.
    names, larger_is_better
        As in `ranks`; not used where `Ranks` are given.
    alpha : float, default=0.05
        Level of significance of the whole family of pairs.
    procedure : {"auto", "bergmann-hommel", "shaffer", "holm"}, default="auto"
        "auto" is Bergmann and Hommel's up to 30 methods and Shaffer's beyond; the result says
        which.

    Returns
    -------
    PairwiseTests

    References
    ----------
    Bergmann & Hommel (1988), Improvements of general multiple test procedures for redundant
    systems of hypotheses. Garcia & Herrera (2008), An extension on "Statistical comparisons of
    classifiers over multiple data sets" for all pairwise comparisons, JMLR 9. Shaffer (1986),
    Modified sequentially rejective multiple test procedures, JASA 81.

    Notes
    -----
    Exhaustive sets are not listed but found through cliques, with the same result. For p-values
    of ranks the time grows like a power of the number of methods (14 methods: a tenth of a
    second, 30: a few seconds).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = rng.normal([0.9, 0.88, 0.5], 0.05, (20, 3))
    >>> result = bergmann_hommel(table, names=["A", "B", "C"])
    >>> [(pair.better, pair.worse, pair.different) for pair in result.pairs()]
    [('A', 'C', True), ('B', 'C', True), ('A', 'B', False)]
    """
    rules = [Options(("auto", *_PROCEDURES))]
    check_value("procedure", procedure, rules, owner="bergmann_hommel")
    check_value("alpha", alpha, [Interval(Real, 0, 1, open_low=True)], owner="bergmann_hommel")
    tests = (
        results
        if isinstance(results, Ranks)
        else ranks(results, names=names, larger_is_better=larger_is_better)
    )
    m = len(tests.names)
    used: Procedure = procedure if procedure != "auto" else _affordable(m)
    adjusted = adjust(tests.p, used)
    differ = tests.f_p <= alpha
    different = (adjusted <= alpha) & differ
    np.fill_diagonal(different, False)
    return PairwiseTests(
        tests, adjusted, different, used, alpha, _why(tests, used, procedure, alpha)
    )


def adjust(p: Any, procedure: Procedure = "bergmann-hommel") -> Floats:
    """P-values of all pairs of methods, adjusted for their number.

    Parameters
    ----------
    p : array of shape (n_methods, n_methods)
        Symmetric, in [0, 1]; the diagonal is not looked at.
    procedure : {"bergmann-hommel", "shaffer", "holm"}, default="bergmann-hommel"
        The first takes seconds for 30 methods if the p-values come from ranks, and for 16
        if they do not.

    Returns
    -------
    ndarray of shape (n_methods, n_methods)
        Symmetric, at least ``p``, at most 1; monotone: a pair with a smaller p-value has no
        larger adjusted one. The diagonal is 1.

    Examples
    --------
    >>> p = np.array([[1, 0.01, 0.04], [0.01, 1, 0.2], [0.04, 0.2, 1]])
    >>> adjust(p, "holm")[0].round(3).tolist(), adjust(p)[0].round(3).tolist()
    ([1.0, 0.03, 0.08], [1.0, 0.03, 0.04])
    """
    check_value("procedure", procedure, [Options(_PROCEDURES)], owner="adjust")
    table = _symmetric(p)
    upper = np.triu_indices(len(table), 1)
    raw = table[upper]
    if procedure == "bergmann-hommel":
        own = by_cliques(table)[upper]
        values = _monotone(raw, own)
    else:
        values = _step_down(raw, len(table), procedure)
    adjusted = np.ones_like(table)
    adjusted[upper] = values
    adjusted.T[upper] = values
    return adjusted


def _affordable(n_methods: int) -> Procedure:
    return "bergmann-hommel" if n_methods <= MOST_EXACT else "shaffer"


def _step_down(raw: Floats, n_methods: int, procedure: Procedure) -> Floats:
    """Holm's and Shaffer's: the i-th smallest p-value times how many pairs may still be true."""
    left = np.arange(len(raw), 0, -1)
    if procedure == "shaffer":
        counts = np.array(possible_true_counts(n_methods))
        left = counts[np.searchsorted(counts, left, side="right") - 1]
    order = np.argsort(raw, kind="stable")
    adjusted = np.empty(len(raw))
    adjusted[order] = np.minimum(np.maximum.accumulate(raw[order] * left), 1.0)
    return adjusted


def _monotone(raw: Floats, own: Floats) -> Floats:
    """Raise each value to the largest of those with a smaller raw p-value.

    Equal raw p-values do not raise each other, so the order of the methods does not matter.
    """
    order = np.argsort(raw, kind="stable")
    running = np.maximum.accumulate(own[order])
    smaller = np.searchsorted(raw[order], raw, side="left")
    before = np.r_[0.0, running][smaller]
    return np.maximum(own, before)


def _symmetric(p: Any) -> Floats:
    table = as_array(p)
    table = table.astype(np.float64) if table.dtype.kind in "biuf" else np.empty(0)
    if table.ndim != 2 or table.shape[0] != table.shape[1] or len(table) < 2:
        raise InvalidInputError(
            "adjust needs a square table of p-values of at least two methods. "
            f"Got an array of shape {table.shape} instead."
        )
    np.fill_diagonal(table, 1.0)
    inside = (table >= 0) & (table <= 1)
    if not inside.all() or not np.allclose(table, table.T, rtol=1e-9, atol=0):
        raise InvalidInputError("adjust needs a symmetric table of p-values between 0 and 1.")
    return np.maximum(table, table.T)


def _why(tests: Ranks, used: Procedure, asked: str, alpha: float) -> str:
    """What was done, in words."""
    named = {"bergmann-hommel": "Bergmann and Hommel's", "shaffer": "Shaffer's", "holm": "Holm's"}
    words = f"Pairs are adjusted by {named[used]} procedure."
    if asked == "auto" and used != "bergmann-hommel":
        words += (
            f" Bergmann and Hommel's, which may find more, is not attempted above {MOST_EXACT} "
            f"methods; here are {len(tests.names)}."
        )
    verdict = "differ" if tests.f_p <= alpha else "show no difference, so no pair is said to differ"
    return f"{words} As a whole the methods {verdict} (Iman-Davenport p = {tests.f_p:.2g})."
