"""Refusals that the jobs share, before and after the data are read."""

import warnings
from numbers import Integral
from typing import Any

from consilience._cli.arguments import flag
from consilience._validation import (
    N_MEMBERS,
    Interval,
    RandomState,
    Rule,
    Satisfies,
    check_value,
)
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError

__all__ = ["check_common", "check_enough_objects", "warn_of_few"]

_FEW = 5

_AT_LEAST_ONE = Interval(Integral, 1)
_RULES: dict[str, list[Rule]] = {
    "n_clusters": [_AT_LEAST_ONE],
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
    if getattr(wish, "resume", False) and wish.labels is not None:
        raise InvalidParameterError(
            "--resume goes on with clusterings that were being made, and --labels gives them. "
            "Give one of them."
        )


def warn_of_few(members: int) -> None:
    """Warn of an ensemble too small to say how sure anything is."""
    if members < _FEW:
        warnings.warn(
            f"{members} clustering{'s are' if members > 1 else ' is'} few: confidence and the "
            "other evidence need many of them. The default is 100.",
            ConsilienceWarning,
            stacklevel=2,
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
