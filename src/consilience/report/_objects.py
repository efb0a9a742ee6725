"""The table of objects: identifiers, clusters and what else is known of each, as columns."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._labels import encode
from consilience.errors import InvalidInputError
from consilience.report._values import rounded

__all__ = [
    "Truth",
    "checked",
    "column",
    "identifiers",
    "known_truth",
    "number_column",
    "object_table",
]

Column = dict[str, Any]
Positions = NDArray[np.int64]

# Whole numbers beyond it are rounded by the page's language.
_EXACT = 2**53


class Truth:
    """True classes of the objects.

    Attributes
    ----------
    codes : ndarray of shape (n_objects,)
        Class of each object; -1 where it is known to be in none, -2 where nothing is known.
    names : tuple of str
        Of the classes.
    """

    def __init__(self, codes: Positions, names: tuple[str, ...]) -> None:
        self.codes = codes
        self.names = names

    def name(self, code: int) -> str | None:
        """Name of a class; "none" for -1, nothing for unknown."""
        return None if code < -1 else "none" if code < 0 else self.names[code]


def known_truth(truth: Any, n_objects: int) -> Truth | None:
    """True classes in any form; None where none was given or all are missing."""
    if truth is None:
        return None
    values = _items(truth)
    codes = encode(truth if hasattr(truth, "__len__") else values, what="truth")
    checked(codes, n_objects, what="truth")
    if (codes < -1).all():
        return None
    classes, first = np.unique(codes, return_index=True)
    names = [_text(values[at]) for code, at in zip(classes, first, strict=True) if code >= 0]
    return Truth(codes, tuple(names))


def checked(values: Any, n_objects: int, *, what: str) -> NDArray[Any]:
    """A vector with one value for each object, or an error."""
    vector = np.asarray(values)
    if vector.shape != (n_objects,):
        raise InvalidInputError(
            f"{what} must hold one value for each of the {n_objects} objects. Got shape "
            f"{vector.shape} instead."
        )
    return vector


def identifiers(ids: Any, n_objects: int, shown: Positions) -> Column:
    """The column of identifiers: whole numbers stay numbers, all else is text."""
    if ids is None:
        return column("id", "number", shown.tolist())
    items = _items(ids)
    if len(items) != n_objects:
        raise InvalidInputError(
            f"ids must hold one identifier for each of the {n_objects} objects. "
            f"Got {len(items)} instead."
        )
    chosen = [items[i] for i in shown.tolist()]
    whole = all(
        isinstance(value, int | np.integer)
        and not isinstance(value, bool)
        and abs(int(value)) < _EXACT
        for value in chosen
    )
    if whole:
        return column("id", "number", [int(value) for value in chosen])
    return column("id", "text", [_text(value) for value in chosen])


def column(name: str, kind: str, values: Sequence[Any]) -> Column:
    """One column of the table."""
    return {"name": name, "kind": kind, "values": list(values)}


def number_column(name: str, values: NDArray[Any], decimals: int = 3) -> Column:
    """A column of rounded numbers, null where they are not finite."""
    return column(name, "number", rounded(values, decimals))


def object_table(n_objects: int, columns: Sequence[Column]) -> dict[str, Any]:
    """The objects of a summary."""
    return {"total": n_objects, "shown": len(columns[0]["values"]), "columns": list(columns)}


def _items(values: Any) -> Any:
    """The values one by one, as the container gives them."""
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return values
    for method in ("to_list", "tolist"):
        if hasattr(values, method):
            return getattr(values, method)()
    return list(values)


def _text(value: Any) -> str:
    """A value as a person writes it; nothing where there is none."""
    if value is None or (isinstance(value, float | np.floating) and math.isnan(value)):
        return ""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    return str(value)
