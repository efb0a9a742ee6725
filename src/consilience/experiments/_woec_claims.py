"""What the weighted-object paper says of its tables (sections 5.1 to 5.3), decided by our cells.

Every statement is about one data set and one row; "the others" is then the one of them with the
highest mean here. Statements about all data sets count those on which a paired test agrees.
"""

from collections.abc import Sequence
from math import nan

from consilience.experiments._cells import Cell, Claim, of, paired_claim

__all__ = ["claims_of_table2", "claims_of_table3", "claims_of_table4", "claims_of_table5"]

_WOEC = ("WOMC", "WOSP", "WOHB")
_SHIFTED = ("WOSP", "WOHB")
_OTHERS = ("CSPA", "MCLA", "HBGF", "BCE", "WCC", "ECMC", "WOMC")
_SUBSPACE = ("WSPA", "WBPA")
_TOYS = ("Toy1", "Toy2", "Toy3")


def claims_of_table2(cells: Sequence[Cell]) -> list[Claim]:
    """Shifted centres gain on Toy1 and Toy2, where they exceed the best member; not on Toy3."""
    claims = []
    # Of several sizes each has a row, such as "ARI, R=20".
    for row in dict.fromkeys(cell.row for cell in cells if cell.row.partition(", ")[0] == "ARI"):
        for data in _TOYS[:2]:
            for method in _SHIFTED:
                claims += _above(cells, method, ("MCLA",), data, row)
                claims += _above(cells, method, _OTHERS, data, row)
                claims += _above(cells, method, ("Max",), data, row)
        for method in ("MCLA", "WOMC"):
            for rival in _SHIFTED:
                claims += _above(cells, method, (rival,), "Toy3", row)
    return claims


def claims_of_table3(cells: Sequence[Cell]) -> list[Claim]:
    """WOKmeans before k-means, with one start as in the paper, and with ten."""
    claims = []
    for data in _TOYS:
        for row in ("RI", "ARI", "NMI"):
            for starts in ("", ", ten starts"):
                rival = f"k-means{starts}"
                claims += _above(cells, f"WOKmeans{starts}", (rival,), data, row)
    return claims


def claims_of_table4(cells: Sequence[Cell]) -> list[Claim]:
    """A WOEC method is best nearly everywhere; where shifted centres and weights gain."""
    claims = []
    for row in dict.fromkeys(cell.row for cell in cells):
        rivals = tuple(name for name in _OTHERS if name not in _WOEC)
        claims += _best_somewhere(cells, rivals, row, but="Breast")
        for data in ("Iris", "Leukemia", "Sony", "Spambase", "Wall"):
            for method in _SHIFTED:
                claims += _above(cells, method, _OTHERS, data, row)
        for data in ("Sony", "Wall"):
            for method in _SHIFTED:
                claims += _above(cells, method, ("Max",), data, row)
        for data in ("Balance", "Beef", "Breast", "Iris", "Satimage", "Semeion", "Vowel"):
            claims += _above(cells, "WOMC", ("MCLA",), data, row)
    return claims


def claims_of_table5(cells: Sequence[Cell]) -> list[Claim]:
    """A WOEC method is best but on Beef; shifted centres gain on Wall."""
    claims = []
    for row in dict.fromkeys(cell.row for cell in cells):
        claims += _best_somewhere(cells, _SUBSPACE, row, but="Beef")
        claims += _above(cells, "WSPA", ("WBPA", *_WOEC), "Beef", row)
        for method in _SHIFTED:
            claims += _above(cells, method, (*_SUBSPACE, "WOMC"), "Wall", row)
    return claims


def _above(
    cells: Sequence[Cell], better: str, rivals: Sequence[str], data: str, row: str
) -> list[Claim]:
    """Whether a method beats the best of its rivals on a data set; empty if one was not run."""
    upper = of(cells, data=data, row=row, column=better)
    lower = [of(cells, data=data, row=row, column=name) for name in rivals]
    known = [cell for cell in lower if cell is not None]
    if upper is None or len(upper.values) < 2 or len(known) < len(rivals):
        return []
    best = max(known, key=lambda cell: cell.measured)
    whom = rivals[0] if len(rivals) == 1 else f"the others, best {best.column},"
    whom = {"Max": "the best member"}.get(whom, whom)
    return [paired_claim(f"{better} above {whom} on {data} ({row})", upper, best)]


def _best_somewhere(
    cells: Sequence[Cell], rivals: Sequence[str], row: str, *, but: str
) -> list[Claim]:
    """On how many data sets no rival is significantly above the best WOEC method."""
    held, runs, names = [], 0, dict.fromkeys(cell.data for cell in cells)
    for data in names:
        mine = [of(cells, data=data, row=row, column=name) for name in _WOEC]
        theirs = [of(cells, data=data, row=row, column=name) for name in rivals]
        if None in mine or None in theirs:
            return []
        ours, rival = (
            max((cell for cell in some if cell is not None), key=lambda cell: cell.measured)
            for some in (mine, theirs)
        )
        runs = len(ours.values)
        if runs < 2:
            return []
        if not paired_claim("", rival, ours).holds:
            held.append(data)
    wanted = [name for name in names if name != but]
    lost = [name for name in wanted if name not in held]
    words = f"A WOEC method is best or not significantly below, on all sets but {but} ({row}); "
    words += f"here on {len(held)} of {len(names)}"
    words += f", not on {', '.join(lost)}" if lost else ""
    test = "paired t on each set"
    return [Claim(words, not lost, -float(len(lost)), nan, runs, test=test)]
