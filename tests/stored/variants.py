"""Parameters of a class, one changed at a time, from the rules that the class lists."""

from collections.abc import Iterator
from numbers import Integral
from typing import Any

from consilience._validation import Boolean, Interval, NoneValue, Options

__all__ = ["variants", "wrong"]

#: Seeds and generators are given, threads change nothing.
_LEFT = ("random_state", "n_jobs", "generator", "n_clusters", "n_members")


def variants(cls: Any, left_out: tuple[str, ...] = ()) -> Iterator[tuple[str, dict[str, Any]]]:
    """A name and parameters, for every option and both ends of every range."""
    for name, rules in cls._constraints.items():
        if name in (*_LEFT, *left_out):
            continue
        for rule in rules:
            for value in _values(name, rule):
                yield f"{name}={value}", {name: value}


def wrong(cls: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """A name and parameters that are refused."""
    for name, rules in cls._constraints.items():
        for value in ("zzz", -3, 0, 2.5, None, [1]):
            if not any(rule.accepts(value) for rule in rules):
                yield f"{name}={value}", {name: value}


def _values(name: str, rule: Any) -> list[Any]:
    match rule:
        case Options():
            return list(rule.allowed)
        case Boolean():
            return [True, False]
        case NoneValue():
            return [None]
        case Interval() if rule.kind is Integral:
            low = int(rule.low if rule.low is not None else 0)
            return [low, low + 2]
        case Interval():
            low = float(rule.low or 0.0)
            high = low + 1.0 if rule.high is None else float(rule.high)
            return [low + 0.3 * (high - low), high]
    return [1, "1 GB"] if name == "max_memory" else []
