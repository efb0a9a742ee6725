"""Rules for parameters that several methods have, each in one place."""

from typing import Literal

from consilience._validation import LINKS, MISSING, NoneValue, Options, Rule, positive_numbers

__all__ = [
    "BALANCE",
    "CUTS",
    "LINKS",
    "LINKS_AND_WARD",
    "MISSING",
    "PARTS",
    "SIZES",
    "Balance",
    "CutSolver",
    "Link",
    "LinkOrWard",
]

Link = Literal["average", "complete", "single"]
LinkOrWard = Literal["average", "complete", "single", "ward"]
CutSolver = Literal["auto", "metis", "spectral"]
Balance = Literal["all", "objects"]

#: Sizes of clusters relative to each other, where a method keeps them.
SIZES: list[Rule] = [positive_numbers("cluster"), NoneValue()]
#: Links of a tree, where Ward's is one of them.
LINKS_AND_WARD: list[Rule] = [Options(("average", "complete", "single", "ward"))]
#: What cuts a graph with few vertices, or one of objects and clusters.
CUTS: list[Rule] = [Options(("auto", "metis", "spectral"))]
#: What cuts objects by their similarities.
PARTS: list[Rule] = [Options(("auto", "metis", "balanced", "spectral"))]
BALANCE: list[Rule] = [Options(("all", "objects"))]
