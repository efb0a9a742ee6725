"""Objects to look at: the most typical of each group, and the doubtful ones with the reason."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.ensemble import Ensemble
from consilience.evidence import doubtful as in_doubt
from consilience.explain._effects import quartiles
from consilience.explain._objects import Votes, closeness, votes

__all__ = ["SHOWN", "examples"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

#: Typical objects of each group, and doubtful ones of which each group has at least as many.
SHOWN = 3
_MOST_DOUBTFUL = 1000


def examples(
    numbers: Floats,
    groups: Codes,
    names: Sequence[Any],
    ids: Any,
    ensemble: Ensemble | None,
    confidence: Floats | None,
) -> Mapping[str, NDArray[Any]]:
    """A table of typical and doubtful objects.

    Typical are the objects of the highest confidence; of equal ones those that the members put
    with the largest part of the group, then those nearest to the medians of its columns. Doubtful
    are those that `consilience.evidence.doubtful` names, the least sure first; of very many the
    least sure, and some of each group.
    """
    typical = _typical(numbers, groups, len(names), ensemble, confidence)
    doubtful = _doubtful(groups, confidence)
    rows = np.concatenate([typical, doubtful])
    said = None
    if ensemble is not None and len(names) and len(rows):
        said = votes(ensemble, groups, len(names), rows)
    identifiers = np.arange(len(groups)) if ids is None else np.asarray(ids)
    shown = np.array([*names, -1], dtype=object)
    table = {
        "cluster": shown[groups[rows]],
        "role": np.array(["typical"] * len(typical) + ["doubtful"] * len(doubtful), dtype=object),
        "object": identifiers[rows],
        "confidence": np.full(len(rows), np.nan) if confidence is None else confidence[rows],
    }
    if said is None:
        return table
    own = said.groups[np.arange(len(rows)), groups[rows]]
    return table | {
        "members_for": own,
        "members_against": said.groups.sum(axis=1) - own,
        "members_silent": said.undecided + said.left_out + said.unseen,
        "reason": np.array([_reason(said, i, names) for i in range(len(rows))], dtype=object),
    }


def _typical(
    numbers: Floats,
    groups: Codes,
    n_groups: int,
    ensemble: Ensemble | None,
    confidence: Floats | None,
) -> Codes:
    sure = np.zeros(len(groups)) if confidence is None else confidence
    near = np.zeros(len(groups)) if ensemble is None else closeness(ensemble, groups, n_groups)
    chosen = [np.empty(0, np.int64)]
    for g in range(n_groups):
        inside = np.flatnonzero(groups == g)
        # Rounded: what differs in the last bits is equal.
        keys = _off_centre(numbers[inside]), -near[inside].round(9), -sure[inside].round(9)
        chosen.append(inside[np.lexsort(keys)[:SHOWN]])
    return np.concatenate(chosen)


def _off_centre(values: Floats) -> Floats:
    """Distance from the medians, in units of each column's spread; 0 where nothing varies."""
    low, middle, high = quartiles(values)
    # Columns that differ by more than numbers go have no scale, and are as far off as can be.
    with np.errstate(over="ignore", invalid="ignore"):
        spread = np.where(high > low, high - low, np.inf)  # NaN where nothing is known
        return np.asarray(np.nansum(np.abs(values - middle) / spread, axis=1).round(9))


def _doubtful(groups: Codes, confidence: Floats | None) -> Codes:
    rows = np.flatnonzero(in_doubt(groups, confidence))
    if confidence is None or not len(rows):
        return rows
    order = rows[np.argsort(confidence[rows], kind="stable")]
    own = groups[order]
    # Place of each among the doubtful of its group.
    by_group = np.argsort(own, kind="stable")
    sizes = np.bincount(own)
    place = np.empty(len(order), np.int64)
    place[by_group] = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[(np.arange(len(order)) < _MOST_DOUBTFUL) | (place < SHOWN)]


def _reason(said: Votes, i: int, names: Sequence[Any]) -> str:
    """Which groups claim the object, by how many members.

    >>> said = Votes(np.array([[60, 38, 0]]), np.array([2]), np.array([0]), np.array([0]))
    >>> _reason(said, 0, [0, 1, 2])
    '60 of 100 clusterings put it with cluster 0, 38 with cluster 1, 2 are undecided'
    """
    counts = said.groups[i]
    silent = {
        ("is undecided", "are undecided"): int(said.undecided[i]),
        ("calls it noise", "call it noise"): int(said.left_out[i]),
        ("never saw it", "never saw it"): int(said.unseen[i]),
    }
    total = int(counts.sum()) + sum(silent.values())
    order = [g for g in np.argsort(-counts, kind="stable").tolist() if counts[g]]
    parts = [f"{counts[g]} with cluster {names[g]}" for g in order[:3]]
    if parts:
        parts[0] = parts[0].replace(" with", f" of {total} clusterings put it with", 1)
    more = int(counts[order[3:]].sum())
    parts += [f"{more} with others"] if more else []
    parts += [f"{n} {one if n == 1 else several}" for (one, several), n in silent.items() if n]
    return ", ".join(parts)
