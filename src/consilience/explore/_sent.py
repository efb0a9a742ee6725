"""A view as the bytes that the explorer's page reads."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.explore._view import Column, View, listed_columns
from consilience.explore._wire import narrow, pack, texts

__all__ = ["sent", "sent_column", "sent_member"]

# Bytes of columns, and of members, that travel with the view; the others are asked for.
_COLUMN_BYTES, _MEMBER_BYTES = 48 << 20, 24 << 20


def sent(
    view: View,
    *,
    column_bytes: int = _COLUMN_BYTES,
    member_bytes: int = _MEMBER_BYTES,
    live: bool = True,
) -> bytes:
    """The view in one piece.

    Parameters
    ----------
    view : View
    column_bytes, member_bytes : int
        What may be sent of columns and members at once.
    live : bool
        Whether somebody answers: else what is not sent cannot be asked for.
    """
    arrays: dict[str, NDArray[Any]] = {}
    facts: dict[str, Any] = {
        "kind": view.kind,
        "title": view.title,
        "n": view.n_objects,
        "n_all": view.n_all,
        "live": live,
        "names": list(view.names),
        "facts": [list(one) for one in view.facts],
        "missing": list(view.missing),
        "answers": [{"name": one.name, "words": one.words} for one in view.answers],
        "maps": [{"name": m.name, "words": m.words, "axes": list(m.axes)} for m in view.maps],
    }
    if view.n_all > view.n_objects:
        arrays["objects"] = view.objects.astype(np.uint32)
    if view.ids is not None:
        arrays |= texts("ids", view.ids)
    for i, answer in enumerate(view.answers):
        arrays[f"answer{i}"] = narrow(answer.labels)
    for i, one in enumerate(view.maps):
        arrays[f"map{i}"] = np.asarray(one.places, np.float32)
    facts["cuts"] = _cuts(view, arrays)
    _objects(view, facts, arrays)
    facts["columns"] = _columns(view, arrays, column_bytes)
    facts["members"] = _members(view, arrays, member_bytes)
    return pack(facts, arrays)


def _cuts(view: View, arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    cuts = view.cuts
    arrays |= {
        "leaf": cuts.leaf,
        "numbers": cuts.numbers,
        "leaf_order": cuts.order,
        "together": cuts.together.astype(np.float32),
    }
    return {
        "least": cuts.least,
        "default": cuts.default,
        "splits": [
            [one.n_groups, one.group, one.new, one.together, *one.sizes] for one in cuts.splits
        ],
    }


def _objects(view: View, facts: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> None:
    """What there is one of for each object, or for some."""
    if view.confidence is not None:
        arrays["confidence"] = np.asarray(view.confidence, np.float64)
    if view.runner_up is not None:
        arrays["runner_up"] = narrow(view.runner_up)
    if view.truth is not None:
        arrays["truth"] = narrow(view.truth.codes)
        facts["truth"] = list(view.truth.levels)
    if view.scores is not None:
        one = view.scores
        arrays["scores"] = np.asarray(one.values, np.float64)
        rules = [[name, value] for name, value in one.rules if np.isfinite(value)]
        threshold = one.threshold if np.isfinite(one.threshold) else None
        facts["scores"] = {
            "what": one.what,
            "high": one.high,
            "threshold": threshold,
            "rules": rules,
        }
        if one.wanted is not None:
            arrays["wanted"] = np.asarray(one.wanted, np.int8)
    facts["views"] = [one.name for one in view.by_view]
    for j, sure in enumerate(view.by_view):
        arrays[f"view{j}"] = np.asarray(sure.values, np.float64)
    if view.torn is not None:
        arrays |= {
            "torn": view.torn.objects.astype(np.uint32),
            "torn_groups": narrow(view.torn.groups),
            "torn_shares": np.asarray(view.torn.shares, np.float32),
        }
    if view.pairs is not None:
        arrays |= {"pairs": view.pairs.objects.astype(np.uint32), "joined": view.pairs.joined}


def _columns(view: View, arrays: dict[str, NDArray[Any]], budget: int) -> list[dict[str, Any]]:
    """All columns by name; the values of as many as there is room for."""
    entries = []
    for j, column in enumerate(listed_columns(view.columns)):
        entry = {"name": column.name, "kind": column.kind, "levels": list(column.levels)}
        values = _values(column)
        if budget >= values.nbytes:
            budget -= values.nbytes
            arrays[f"column{j}"] = values
        entries.append(entry)
    return entries


def _values(column: Column) -> NDArray[Any]:
    return narrow(column.values)


def _members(view: View, arrays: dict[str, NDArray[Any]], budget: int) -> dict[str, Any]:
    """How many members, and the labels of as many as there is room for, the first ones."""
    if view.ensemble is None:
        return {"count": 0, "sent": 0}
    members = view.ensemble.members
    room = int(budget // max(1, members[:1].nbytes))
    some = members[: min(room, len(members))]
    if len(some):
        arrays["members"] = np.ascontiguousarray(some)
    return {"count": len(members), "sent": len(some)}


def sent_column(view: View, j: int) -> bytes:
    """The values of one column."""
    return pack({"column": j}, {"values": _values(listed_columns(view.columns)[j])})


def sent_member(view: View, j: int) -> bytes:
    """The labels of one member."""
    assert view.ensemble is not None
    return pack({"member": j}, {"values": np.ascontiguousarray(view.ensemble.members[j])})
