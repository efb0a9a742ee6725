"""What the minority-clustering paper says of its tables, decided by our cells."""

import warnings
from collections.abc import Mapping, Sequence
from math import nan

import numpy as np

from consilience.compare import PairwiseTests, bergmann_hommel, rank_bars
from consilience.errors import ConsilienceWarning
from consilience.experiments._cells import Cell, Claim, of, paired_claim
from consilience.experiments._ewocs_systems import PAPERS

__all__ = [
    "alike",
    "all_below",
    "claims_of_table2",
    "claims_of_table3",
    "claims_of_table4",
    "diagram",
    "ewocs_ranks",
    "rank_tests",
]

_SETS = "data sets"
# The nine systems of the paper's Figure 8.
RANKED = tuple(name for name in PAPERS if name not in ("EW-RSPLIT 500x2", "EW-SRBC 100x100 MAH"))
G10, AUTO = "EW-SRBC 100x100 G(10,10)", "EW-SRBC 100x100 G(AUTO)"
_LEADERS = ("DGRADE MAH", "kMD 100x800-50", G10, AUTO)


def claims_of_table2(cells: Sequence[Cell]) -> list[Claim]:
    """Full consistency of the Gaussian kernel everywhere, of all from five dimensions up."""
    claims = []
    kernel = [cell for cell in cells if cell.row.startswith("Cons") and "G(" in cell.column]
    high = [cell for cell in cells if cell.row.startswith("Cons") and cell.data in ("5-D", "8-D")]
    # The published rows have no such systems.
    high = [cell for cell in high if cell.column not in ("RSPLIT x100", "SRBC x100 MAH")]
    for words, mine in (
        ("SRBC x100 G(10,10) is consistent with every data set", kernel),
        ("every weak clusterer of the table is consistent with all sets of 5-D and 8-D", high),
    ):
        if mine:
            worst = min(cell.measured for cell in mine)
            claims.append(Claim(words, worst == 100, worst - 100, nan, len(mine[0].values)))
    return claims


def ewocs_ranks(cells: Sequence[Cell], row: str = "F1") -> PairwiseTests | None:
    """Tests of the nine systems of the paper's Figure 8 over all data sets of Table 3.

    Parameters
    ----------
    cells : sequence of Cell
        Of `ewocs_table3`; all dimensions together.
    row : {"F1", "AUC", "Precision", "Recall"}, default="F1"

    Returns
    -------
    PairwiseTests or None
        What `consilience.compare.rank_diagram` draws; None for fewer than two data sets.
    """
    values: dict[str, list[float]] = {name: [] for name in RANKED}
    for cell in cells:
        if cell.row == row and cell.column in values:
            values[cell.column] += cell.values
    return rank_tests({name.removesuffix(" MAH"): mine for name, mine in values.items()})


def rank_tests(table: Mapping[str, Sequence[float]]) -> PairwiseTests | None:
    """Bergmann-Hommel tests of systems, given one figure a data set each.

    None where a system misses data sets, or for fewer than two systems or sets.
    """
    lengths = {len(mine) for mine in table.values()}
    if len(table) < 2 or len(lengths) > 1 or min(lengths) < 2:
        return None
    with warnings.catch_warnings():
        # How many sets there are stands beside every claim.
        warnings.simplefilter("ignore", ConsilienceWarning)
        return bergmann_hommel(table)


def claims_of_table3(cells: Sequence[Cell]) -> list[Claim]:
    """What the paper reads off its rank diagrams."""
    claims: list[Claim] = []
    for row in ("F1", "AUC"):
        tests = ewocs_ranks(cells, row)
        if tests is None:
            continue
        names = tests.ranks.names
        leaders = [name.removesuffix(" MAH") for name in _LEADERS]
        claims.append(diagram(tests, row))
        if row == "F1":
            rest = [name for name in names if name not in leaders]
            claims += [all_below(tests, row, name, rest, "the rest") for name in leaders]
            claims.append(alike(tests, row, leaders[3], leaders[1]))
        else:
            rest = [name for name in names if name not in (G10, AUTO)]
            words = "all but the other EW-SRBC"
            claims += [all_below(tests, row, name, rest, words) for name in (G10, AUTO)]
            claims.append(alike(tests, row, AUTO, G10))
            worst = tests.ranks.mean_ranks.argmax()
            claims.append(
                _count(tests, f"{row}: BBOCC has the worst rank", names[worst] == "BBOCC")
            )
    return claims


def diagram(tests: PairwiseTests, row: str) -> Claim:
    """The rank diagram in a line: mean ranks, and the runs of systems that do not differ."""
    shown = rank_bars(tests)
    ranks = ", ".join(
        f"{name} {mean:.2f}" for name, mean in zip(shown.names, shown.mean_ranks, strict=True)
    )
    bars = "; ".join(f"{shown.names[first]} to {shown.names[last]}" for first, last in shown.bars)
    words = f"{row}: systems differ (Friedman). Mean ranks {ranks}. No difference: {bars or 'none'}"
    reach = float(shown.mean_ranks[-1] - shown.mean_ranks[0])
    p = float(tests.ranks.f_p)
    return Claim(
        words, p <= tests.alpha, reach, p, tests.ranks.n_datasets, test="Friedman", unit=_SETS
    )


def all_below(
    tests: PairwiseTests, row: str, name: str, others: Sequence[str], words: str
) -> Claim:
    """Whether a system ranks significantly before each of the others (Bergmann-Hommel)."""
    names = list(tests.ranks.names)
    means, at = tests.ranks.mean_ranks, names.index(name)
    places = [names.index(other) for other in others]
    least = float(min(means[place] - means[at] for place in places))
    p = float(max(tests.adjusted[at, place] for place in places))
    holds = least > 0 and bool(tests.different[at, places].all())
    words = f"{row}: {name} ranks before {words} (least difference of ranks)"
    n = tests.ranks.n_datasets
    return Claim(words, holds, least, p, n, test="Bergmann-Hommel", unit=_SETS)


def alike(tests: PairwiseTests, row: str, lower: str, upper: str) -> Claim:
    """Whether a system is not significantly below another."""
    names, means = list(tests.ranks.names), tests.ranks.mean_ranks
    a, b = names.index(lower), names.index(upper)
    below = bool(tests.different[a, b]) and means[a] > means[b]
    words = f"{row}: {lower} is not significantly below {upper}"
    p = float(tests.adjusted[a, b])
    return Claim(
        words,
        not below,
        float(means[b] - means[a]),
        p,
        tests.ranks.n_datasets,
        test="Bergmann-Hommel",
        unit=_SETS,
    )


def _count(tests: PairwiseTests, words: str, holds: bool) -> Claim:
    means = np.sort(tests.ranks.mean_ranks)
    return Claim(
        words, bool(holds), float(means[-1] - means[-2]), nan, tests.ranks.n_datasets, unit=_SETS
    )


def claims_of_table4(cells: Sequence[Cell]) -> list[Claim]:
    """Ensembles without any knowledge of the size against bubbles that are told it."""
    claims = []
    for data in dict.fromkeys(cell.data for cell in cells):
        for rule, theirs in (("2GAUSS", "SIZE"), ("2GAUSS", "BEST"), ("DIST", "SIZE")):
            for rival in ("BBOCC MAH", "BBCPRESS/7 MAH"):
                upper = of(cells, data=data, row=f"F1 {rule}", column=AUTO)
                lower = of(cells, data=data, row=f"F1 {theirs}", column=rival)
                if upper is not None and lower is not None and len(upper.values) > 1:
                    words = f"{data}: {AUTO} with {rule} above {rival} with {theirs} (F1)"
                    claims.append(paired_claim(words, upper, lower))
    return claims
