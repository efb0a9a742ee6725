"""Refusals that the jobs share, before and after the data are read."""

from numbers import Integral
from typing import Any

from consilience._cli.arguments import ClusterWish, flag
from consilience._validation import (
    N_MEMBERS,
    Interval,
    RandomState,
    Rule,
    Satisfies,
    check_value,
)
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.workflow._methods import method_table, own_options

__all__ = ["check_common", "check_enough_objects", "check_methods"]

_AT_LEAST_ONE = Interval(Integral, 1)
_RULES: dict[str, list[Rule]] = {
    "n_clusters": [_AT_LEAST_ONE],
    "max_k": [Interval(Integral, 2)],
    "effort": list(method_table()["autoconsensus"].rules["effort"]),
    "members": [N_MEMBERS],
    "seed": [Satisfies(RandomState().accepts, "a whole number from 0 to 4294967295")],
    "jobs": [_AT_LEAST_ONE, Satisfies(lambda jobs: bool(jobs == -1), "-1 for all cores")],
}


def check_common(wish: Any, owner: str) -> None:
    """Raise if an option that every job has cannot be used."""
    for name, rules in _RULES.items():
        value = getattr(wish, name, None)
        if value is not None:
            check_value(flag(name), value, rules, owner=owner)
    if wish.writing.json and wish.writing.quiet:
        raise InvalidParameterError(
            "--json prints the summary and --quiet prints nothing. Give one of them."
        )
    if getattr(wish, "max_k", None) is not None and wish.n_clusters is not None:
        raise InvalidParameterError(
            "--max-k is the most clusters to look for, and -k says how many. Give one of them."
        )
    if wish.resume and getattr(wish, "labels", None) is not None:
        raise InvalidParameterError(
            "--resume goes on with clusterings that were being made, and --labels gives them. "
            "Give one of them."
        )


def check_enough_objects(wish: Any, n_objects: int) -> None:
    """Raise if there are too few objects for what is asked."""
    if n_objects < 2:
        raise InvalidInputError(
            f"{wish.source.name!r} holds one object; there is nothing to cluster. Clustering "
            "needs at least two."
        )
    if wish.n_clusters is not None and wish.n_clusters > n_objects:
        raise InvalidParameterError(
            f"-k {wish.n_clusters} asks for more clusters than there are objects: "
            f"{wish.source.name!r} holds {n_objects}. Take a smaller number."
        )


def check_methods(wish: ClusterWish) -> tuple[str, ...]:
    """Names of the methods asked for; raises if one is unknown, or cannot be used like this."""
    names, table = wish.method_names(), method_table()
    for name in names:
        if name not in table:
            raise InvalidParameterError(
                f"There is no method {name!r}. The methods are {', '.join(sorted(table))}; "
                "'consilience methods' describes them."
            )
        if table[name].needs_data and wish.data is None and not wish.view:
            raise InvalidParameterError(
                f"The method {name!r} needs the data, not only labels. Name the file with the "
                f"data too: consilience cluster DATA --labels {wish.labels}."
            )
    known = {name: own_options(table[name]) for name in names}
    _check_known([name for name in names if "linkage" not in known[name]], wish, "linkage")
    # A limit has nothing to limit in a method that does not know it; in some other it may.
    idle = [name for name in names if "max_memory" not in known[name]]
    _check_known(idle if len(idle) == len(names) else [], wish, "max_memory")
    return names


def _check_known(lacking: list[str], wish: ClusterWish, option: str) -> None:
    if lacking and getattr(wish, option) is not None:
        raise InvalidParameterError(
            f"The method {lacking[0]!r} has no option {flag(option)}. Leave it out."
        )
