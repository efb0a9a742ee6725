"""What people ask of a selection or of an object, answered with the figures of `explain`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._labels import NOISE, UNSEEN
from consilience.errors import InvalidParameterError
from consilience.explain._differences import Differences, differences
from consilience.explore._view import View
from consilience.report._values import finite

__all__ = ["UNDECIDED", "groups_inside", "member_votes", "special", "why"]

Positions = NDArray[np.int64]

#: What a member says that puts an object with no group: -1 undecided, -2 left out, -3 unseen.
UNDECIDED, LEFT_OUT, NOT_SEEN = -1, -2, -3
_LEVEL = 0.95
_NEAREST = 10


def special(view: View, selection: Any, *, most: int = 20) -> list[dict[str, Any]]:
    """What sets the selected objects apart from all others, the surest difference first.

    Parameters
    ----------
    view : View
    selection : array of int
        Rows of the view.
    most : int
        Lines at most.

    Returns
    -------
    list of dict
        ``column``, ``category``, ``kind``; ``effect`` (Cliff's delta, or the difference of two
        shares) with ``low`` and ``high`` of its 95 % interval; ``here`` and ``rest`` (medians, or
        shares). Nothing where none or all are selected.
    """
    rows = _checked(view, selection)
    if not 0 < len(rows) < view.n_objects or not view.columns.names:
        return []
    groups = np.ones(view.n_objects, np.int64)
    groups[rows] = 0
    apart = differences(view.columns, groups, 2, level=_LEVEL)
    strength, effect = apart.strength()[0], np.nan_to_num(np.abs(apart.figures["effect"][0]))
    order = np.lexsort((-effect, -strength))
    return [_line(apart, j) for j in order[:most].tolist() if strength[j] >= 0]


def _line(apart: Differences, j: int) -> dict[str, Any]:
    one, figure = apart.spoken[j], {name: table[0, j] for name, table in apart.figures.items()}
    number = one.kind == "number"
    return {
        "column": one.column,
        "category": one.category,
        "kind": one.kind,
        "effect": _plain(figure["effect"]),
        "low": _plain(figure["effect_low"]),
        "high": _plain(figure["effect_high"]),
        "here": _plain(figure["median" if number else "share"]),
        "rest": _plain(figure["rest_median" if number else "rest_share"]),
    }


def _plain(value: Any) -> float | None:
    return finite(value, digits=12)


def groups_inside(view: View, selection: Any, n_groups: int | None = None) -> dict[str, Any]:
    """Which groups the selected objects are of, and how sure.

    Parameters
    ----------
    view : View
    selection : array of int
    n_groups : int or None
        The cut; None takes the answer.

    Returns
    -------
    dict
        ``n_objects``; ``groups``, a list of ``group``, ``inside`` and ``size``, most first;
        ``confidence``, the mean, or None.
    """
    rows = _checked(view, selection)
    labels = view.labels if n_groups is None else view.cuts.labels(n_groups)
    present, counts = np.unique(labels[rows], return_counts=True)
    groups = [
        {"group": int(g), "inside": int(count), "size": int((labels == g).sum())}
        for g, count in zip(present, counts, strict=True)
    ]
    groups.sort(key=lambda one: (-one["inside"], one["group"]))
    known = view.confidence is not None and len(rows) > 0
    mean = float(view.confidence[rows].mean()) if known else None  # type: ignore[index]
    return {"n_objects": len(rows), "groups": groups, "confidence": mean}


def why(view: View, row: int, n_groups: int | None = None) -> dict[str, Any]:
    """Why an object is where it is: members for and against, and whom it is most often with.

    Parameters
    ----------
    view : View
    row : int
    n_groups : int or None
        The cut; None takes the answer.

    Returns
    -------
    dict
        ``group``; ``votes``, one number a member: the group it puts the object with, or -1
        undecided, -2 left out, -3 unseen; ``nearest``, the objects of largest co-association, with
        ``row``, ``id``, ``group`` and ``together``. Without members the last two are empty.
    """
    (row,) = _checked(view, [row]).tolist()
    labels = view.labels if n_groups is None else view.cuts.labels(n_groups)
    said: dict[str, Any] = {"row": row, "id": view.id_of(row), "group": int(labels[row])}
    if view.ensemble is None:
        return said | {"votes": [], "nearest": []}
    members = view.ensemble.members
    groups = labels.astype(np.int64)
    both, same = _pairs_with(members, row)
    share = np.divide(same, both, out=np.zeros(len(both)), where=both > 0)
    share[row] = -1.0
    nearest = np.argsort(-share, kind="stable")[: min(_NEAREST, view.n_objects - 1)]
    return said | {
        "votes": member_votes(members, groups, row),
        "nearest": [
            {
                "row": i,
                "id": view.id_of(i),
                "group": int(labels[i]),
                "together": float(share[i]),
            }
            for i in nearest.tolist()
        ],
    }


def _pairs_with(members: NDArray[Any], row: int) -> tuple[Positions, Positions]:
    """Members that saw both the object and each other one, and those that joined them."""
    own = members[:, row]
    both = ((members != UNSEEN) & (own != UNSEEN)[:, None]).sum(axis=0)
    same = ((members == own[:, None]) & (own >= 0)[:, None]).sum(axis=0)
    return both, same


def member_votes(members: NDArray[Any], groups: Positions, row: int) -> list[int]:
    """The group that each member puts an object with, see `consilience.explain`.

    The group of whose other objects the largest share lies in the object's cluster.
    """
    k = int(groups.max(initial=-1)) + 1
    own = int(groups[row])
    sizes = np.bincount(groups[groups >= 0], minlength=k)
    others = sizes.copy()
    if own >= 0:
        others[own] -= 1
    votes = []
    for member in members:
        there = int(member[row])
        if there < 0:
            votes.append({NOISE: LEFT_OUT, UNSEEN: NOT_SEEN}[there])
            continue
        mates = (member == there) & (groups >= 0)
        mates[row] = False
        counts = np.bincount(groups[mates], minlength=k)
        share = np.divide(counts, others, out=np.zeros(k), where=others > 0)
        if own >= 0 and sizes[own] == 1 and not counts.any():
            share[own] = 1.0  # the only one of its group is with it where it is alone
        best = share.max(initial=0.0)
        clear = best > 0 and (share == best).sum() == 1
        votes.append(int(share.argmax()) if clear else UNDECIDED)
    return votes


def _checked(view: View, selection: Any) -> Positions:
    """Rows as whole numbers inside the view, each once, ascending."""
    rows = np.asarray(selection)
    if rows.size == 0:
        return np.empty(0, np.int64)
    if rows.dtype.kind not in "iu" or rows.ndim != 1:
        raise InvalidParameterError(
            "The 'selection' parameter must be row numbers, one after the other. "
            f"Got an array of {rows.dtype} of shape {rows.shape} instead."
        )
    if int(rows.min()) < 0 or int(rows.max()) >= view.n_objects:
        raise InvalidParameterError(
            f"The 'selection' parameter must name rows 0 to {view.n_objects - 1}. Got "
            f"{int(rows.min())} to {int(rows.max())} instead."
        )
    return np.unique(rows.astype(np.int64))
