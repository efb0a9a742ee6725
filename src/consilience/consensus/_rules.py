"""Rules for parameters that several methods have, each in one place."""

from numbers import Integral, Real
from typing import Any, Literal

import numpy as np

from consilience._validation import Interval, NoneValue, Options, Rule, Satisfies, memory_in_bytes
from consilience.errors import ConsilienceError

__all__ = [
    "BALANCE",
    "COUNT",
    "CUTS",
    "LINKS",
    "MEMORY",
    "MISSING",
    "NOT_NEGATIVE",
    "PARTS",
    "POSITIVE",
    "SIZES",
    "Balance",
    "CutSolver",
    "Link",
    "positive_numbers",
]

Link = Literal["average", "complete", "single"]
CutSolver = Literal["auto", "metis", "spectral"]
Balance = Literal["all", "objects"]


def _is_memory(value: Any) -> bool:
    try:
        memory_in_bytes(value, owner="")
    except ConsilienceError:
        return False
    return True


def _are_positive(value: Any) -> bool:
    try:
        values = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return False
    return bool(values.ndim == 1 and np.isfinite(values).all() and (values > 0).all())


def positive_numbers(each: str) -> Rule:
    """A list of positive numbers, one for each of what is named."""
    return Satisfies(_are_positive, f"one positive number for each {each}")


COUNT: list[Rule] = [Interval(Integral, 1)]
NOT_NEGATIVE: list[Rule] = [Interval(Real, 0)]
POSITIVE: list[Rule] = [Interval(Real, 0, open_low=True)]
LINKS: list[Rule] = [Options(("average", "complete", "single"))]
MISSING: list[Rule] = [Options(("pair", "all"))]
MEMORY: list[Rule] = [Satisfies(_is_memory, "a number of bytes or a text such as '2 GiB'")]
#: Sizes relative to each other, where a method keeps them.
SIZES: list[Rule] = [positive_numbers("cluster"), NoneValue()]
#: What cuts a graph with few vertices, or one of objects and clusters.
CUTS: list[Rule] = [Options(("auto", "metis", "spectral"))]
#: What cuts objects by their similarities.
PARTS: list[Rule] = [Options(("auto", "metis", "balanced", "spectral"))]
BALANCE: list[Rule] = [Options(("all", "objects"))]
