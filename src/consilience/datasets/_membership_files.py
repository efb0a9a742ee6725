"""Memberships in a table: columns ``member:cluster`` whose rows sum to 1 in each member."""

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._words import plural
from consilience.errors import InvalidInputError, warn
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["memberships_in"]

_NAME = re.compile(r"(.+):([^:]+)")
# Sums of rounded shares may be above 1 by so much.
_ROUNDED = 1e-4

Floats = NDArray[np.float64]


def memberships_in(
    source: Path,
    names: Sequence[str],
    numbers: Callable[[int], Floats | None],
    index: Any,
) -> SoftEnsemble | None:
    """The soft ensemble that columns hold; None where they hold labels.

    Parameters
    ----------
    source : Path
        The file, for messages.
    names : sequence of str
        Of the columns: memberships have names such as ``mixture:0``, one for each cluster of a
        member, and some member has two clusters or more.
    numbers : callable
        ``numbers(place)``: a column's values, NaN where a cell is empty; None if it has words.
    index : array or None
        Identifiers of the objects.
    """
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        match = _NAME.fullmatch(name)
        if match is None:
            return None
        groups.setdefault(match[1], []).append(place)
    if max(map(len, groups.values()), default=0) < 2:
        return None
    values = [numbers(place) for place in range(len(names))]
    columns = [column for column in values if column is not None]
    if len(columns) < len(names):
        return None
    tables = [np.column_stack([columns[place] for place in places]) for places in groups.values()]
    if not any(_has_shares(table) for table in tables) and not all(map(_are_shares, tables)):
        return None  # whole numbers: labels of members that are named so
    try:
        soft = SoftEnsemble(tables, index=index, names=list(groups))
    except InvalidInputError as error:
        raise InvalidInputError(f"The memberships in {source.name!r}: {error}") from error
    warn(
        f"The columns of {source.name!r} are named member:cluster: they are read as memberships by "
        f"{plural(soft.n_members, 'member')}."
    )
    return soft


def _has_shares(table: Floats) -> bool:
    known = table[np.isfinite(table)]
    return bool((known != np.floor(known)).any())


def _are_shares(table: Floats) -> bool:
    with np.errstate(invalid="ignore"):
        inside = ((table >= 0) & (table <= 1)) | np.isnan(table)
    return bool(inside.all()) and bool((np.nansum(table, axis=1) <= 1 + _ROUNDED).all())
