"""Exhaustive sets of pair hypotheses, by listing partitions and by cliques.

Methods are bits of an integer. A partition of the methods stands for the pairs inside its
blocks; "most pairs" of a graph is the largest number of pairs a partition of its vertices into
cliques can hold.
"""

from collections.abc import Iterator
from functools import cache
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

__all__ = ["by_cliques", "by_listing", "possible_true_counts"]

Floats = NDArray[np.float64]


def by_listing(p: Floats) -> Floats:
    """Largest size times smallest p-value of the sets around each pair, over all partitions.

    The definition itself: Bell's number of partitions, 21,147 of nine methods. Not capped at 1.
    """
    m = len(p)
    largest = np.zeros((m, m))
    for blocks in _partitions(m):
        together = blocks[:, None] == blocks
        np.fill_diagonal(together, False)
        if together.any():
            value = together.sum() / 2 * p[together].min()
            np.maximum(largest, value, out=largest, where=together)
    return largest


def by_cliques(p: Floats) -> Floats:
    """The same as `by_listing`, capped at 1, without listing partitions.

    For each distinct p-value t, from the largest: pairs of the graph "p >= t" get t times the
    most pairs of a partition into cliques that keeps them together. A pair is left alone where
    t times the most pairs of any partition cannot raise it.
    """
    m = len(p)
    everybody = (1 << m) - 1
    pairs = list(combinations(range(m), 2))
    raw = np.array([p[i, j] for i, j in pairs])
    largest = np.zeros(len(pairs))
    for t in np.unique(raw)[::-1]:
        graph = _CliqueGraph([_bits(np.flatnonzero(p[i] >= t), i) for i in range(m)])
        bound = t * graph.most_pairs(everybody)
        for e in np.flatnonzero((raw >= t) & (largest < min(bound, 1.0))):
            i, j = pairs[e]
            most = graph.most_pairs_keeping(everybody, 1 << i, 1 << j)
            largest[e] = max(largest[e], t * most)
    table = np.zeros((m, m))
    for (i, j), value in zip(pairs, largest, strict=True):
        table[i, j] = table[j, i] = min(value, 1.0)
    return table


def possible_true_counts(n_methods: int) -> list[int]:
    """Numbers of pair hypotheses that can be true together, ascending (Shaffer's recursion).

    >>> possible_true_counts(5)
    [0, 1, 2, 3, 4, 6, 10]
    """
    counts: list[set[int]] = [{0}]
    for m in range(1, n_methods + 1):
        counts.append({comb(j, 2) + s for j in range(1, m + 1) for s in counts[m - j]})
    return sorted(counts[n_methods])


class _CliqueGraph:
    """A graph on few vertices, as one mask of neighbours a vertex; answers are remembered."""

    def __init__(self, neighbours: list[int]) -> None:
        self._neighbours = neighbours
        self.most_pairs = cache(self._most_pairs)
        self.most_pairs_keeping = cache(self._most_pairs_keeping)

    def _most_pairs(self, mask: int) -> int:
        """Most pairs of a partition of ``mask`` into cliques.

        The largest block of a best partition is a maximal clique: a vertex that could join it
        would gain more pairs there than it has in its own block. So only maximal cliques are
        tried as blocks. Parts without a link between them are separate questions.
        """
        if mask == 0:
            return 0
        part = self._part_of(mask & -mask, mask)
        if part != mask:
            return self.most_pairs(part) + self.most_pairs(mask & ~part)
        return max(
            comb(clique.bit_count(), 2) + self.most_pairs(mask & ~clique)
            for clique in self._maximal_cliques(mask)
        )

    def _most_pairs_keeping(self, mask: int, one: int, other: int) -> int:
        """The same among partitions with two adjacent vertices in one block.

        Either their block is the largest, and a maximal clique; or another one is, and then it
        is a maximal clique of the graph without the two.
        """
        pair = one | other
        part = self._part_of(one, mask)
        if part != mask:
            return self.most_pairs_keeping(part, one, other) + self.most_pairs(mask & ~part)
        i, j = one.bit_length() - 1, other.bit_length() - 1
        shared = mask & self._neighbours[i] & self._neighbours[j]
        best = 0
        for more in self._maximal_cliques(shared):
            block = pair | more
            best = max(best, comb(block.bit_count(), 2) + self.most_pairs(mask & ~block))
        for block in self._maximal_cliques(mask & ~pair):
            if block:
                rest = self.most_pairs_keeping(mask & ~block, one, other)
                best = max(best, comb(block.bit_count(), 2) + rest)
        return best

    def _part_of(self, start: int, mask: int) -> int:
        """Vertices of ``mask`` that can be reached from ``start``."""
        reached, fresh = start, start
        while fresh:
            near = 0
            for v in _vertices(fresh):
                near |= self._neighbours[v]
            fresh = near & mask & ~reached
            reached |= fresh
        return reached

    def _maximal_cliques(self, mask: int) -> Iterator[int]:
        """Maximal cliques of the graph on ``mask`` (Bron and Kerbosch, with a pivot)."""
        yield from self._grow(0, mask, 0)

    def _grow(self, clique: int, candidates: int, done: int) -> Iterator[int]:
        if not candidates and not done:
            yield clique
            return
        pivot = max(
            _vertices(candidates | done),
            key=lambda v: (self._neighbours[v] & candidates).bit_count(),
        )
        for v in _vertices(candidates & ~self._neighbours[pivot]):
            near = self._neighbours[v]
            yield from self._grow(clique | 1 << v, candidates & near, done & near)
            candidates &= ~(1 << v)
            done |= 1 << v


def _vertices(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def _bits(vertices: NDArray[np.intp], own: int) -> int:
    """Mask of some vertices without one's own."""
    return sum(1 << int(v) for v in vertices if v != own)


def _partitions(m: int) -> Iterator[NDArray[np.int64]]:
    """Every partition of m methods once, as block numbers (restricted growth strings)."""
    blocks = np.zeros(m, np.int64)

    def fill(place: int, n_blocks: int) -> Iterator[NDArray[np.int64]]:
        if place == m:
            yield blocks
            return
        for block in range(n_blocks + 1):
            blocks[place] = block
            yield from fill(place + 1, max(n_blocks, block + 1))

    yield from fill(0, 0)
