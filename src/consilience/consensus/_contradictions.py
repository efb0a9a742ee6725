"""What is known of objects and cannot all hold: noticed, and a smallest set of it named."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from consilience._words import listed
from consilience.errors import InvalidInputError

__all__ = ["components_of", "refuse_contradictions"]

Ints = NDArray[np.int64]


class _Way(NamedTuple):
    """Links from one object, or known group, to another: they are together, and must not be."""

    nodes: list[int]
    kind: str


def components_of(n: int, links: Ints) -> NDArray[np.int32]:
    """The number of the objects that links join, for each of n."""
    graph = sparse.coo_array((np.ones(len(links)), (links[:, 0], links[:, 1])), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1], np.int32)


def refuse_contradictions(must: Ints, cannot: Ints, partial: Ints, ids: Any, owner: str) -> None:
    """Raise with a smallest set of what cannot all hold, if there is one.

    Parameters
    ----------
    must, cannot : ndarray of shape (n_pairs, 2)
    partial : ndarray of shape (n_objects,)
        Known group of each object, -1 where it is not known.
    ids : sequence of length n_objects or None
    owner : str

    Notes
    -----
    A known group is one more node, n + group, that all its objects must be with. So what must be
    together is what links join; and no two groups may be, nor what cannot be together.
    """
    n, n_groups = len(partial), int(partial.max(initial=-1)) + 1
    named = np.flatnonzero(partial >= 0)
    links = np.concatenate([must, np.column_stack([named, n + partial[named]])])
    joined = components_of(n + n_groups, links)
    apart = cannot[joined[cannot[:, 0]] == joined[cannot[:, 1]]]
    of_group = joined[n:]
    merged = n + np.flatnonzero(np.bincount(of_group)[of_group] > 1)
    if not (len(apart) or len(merged)):
        return
    neighbours: dict[int, list[int]] = {}
    for one, other in links.tolist():
        neighbours.setdefault(one, []).append(other)
        neighbours.setdefault(other, []).append(one)
    ends = [(i, {j}, "cannot_link") for i, j in apart.tolist()]
    others = {*merged.tolist()}
    ends += [(group, others, "partial_labels") for group in merged.tolist()]
    way, cost = _Way([], ""), n + n_groups + 2
    for start, goals, kind in ends:
        # Of a pair that cannot be together, the pair is said as well.
        said = kind == "cannot_link"
        nodes = _path(neighbours, start, goals, cost - 1 - said, itself=said)
        if nodes:
            way, cost = _Way(nodes, kind), len(nodes) + said
    raise InvalidInputError(f"What {owner} is told contradicts itself: {_words(way, n, ids)}")


def _words(way: _Way, n: int, ids: Any) -> str:
    """What cannot hold, link by link."""

    def name(one: int) -> str:
        return repr(one if ids is None else np.asarray(ids)[one].item())

    nodes, kind = way
    objects = [one for one in nodes if one < n]
    first, last = name(objects[0]), name(objects[-1])
    if len(nodes) == 1:
        return f"{first} cannot be apart from itself (cannot_link). Leave out that pair."
    links = [f"{name(a)} with {name(b)}" for a, b in pairwise(nodes) if max(a, b) < n]
    sources = ["must_link"] if links else []
    if kind == "cannot_link" and len(objects) < len(nodes):
        links += [
            f"{name(a)} with {name(b)} by their known group"
            for a, group, b in zip(nodes, nodes[1:], nodes[2:], strict=False)
            if group >= n
        ]
        sources.append("partial_labels")
    why = "cannot be together" if kind == "cannot_link" else "have different known groups"
    return (
        f"{first} and {last} {why} ({kind}), and must be ({', '.join(sources)}): "
        f"{listed(links, most=10)}. Leave out one of these {len(links) + 1}."
    )


def _path(
    neighbours: Mapping[int, Iterable[int]], start: int, goals: set[int], most: int, *, itself: bool
) -> list[int]:
    """The nodes, at most so many, of a shortest way to one of the goals; nothing if there is none.

    ``itself`` says whether the start may be the goal.
    """
    if itself and start in goals:
        return [start] if most > 0 else []
    before, ends = {start: start}, [start]
    for _ in range(1, most):
        further = []
        for end in ends:
            for there in neighbours.get(end, ()):
                if there not in before:
                    before[there] = end
                    further.append(there)
                    if there in goals:
                        return _back(before, there)
        if not further:
            break
        ends = further
    return []


def _back(before: Mapping[int, int], end: int) -> list[int]:
    path = [end]
    while before[path[-1]] != path[-1]:
        path.append(before[path[-1]])
    return path[::-1]
