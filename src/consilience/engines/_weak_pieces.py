"""Weak clusterings of rows that are not in memory: sizes by a sum, scores by a map.

A batch of repetitions takes two passes over the pieces: one sums up the grades of every seed, the
other gives every object its scores, which stay with the piece; what they add to the sums over the
repetitions is asked for once their mean is known. Sums are nodes of one tree over blocks of 1,024
objects, so that scores have the bits they have in memory.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience._threads import one_thread
from consilience.engines._pieces import Pieces
from consilience.kernels._parallel import Team
from consilience.kernels.minority.blocks import BLOCK, Models, Objects, dense_objects, tree_sum
from consilience.kernels.minority.passes import (
    Batch,
    Grading,
    Memory,
    Scale,
    add_scores,
    piece_scores,
    piece_sizes,
)

__all__ = ["Sums", "add_repetitions"]

Floats = NDArray[np.float64]
# Objects graded together: a power of two of blocks, few enough that their grades are kept.
_SLICE = 64 * BLOCK
_KEPT = 2**28

Terms = Callable[[NDArray[Any]], Any]


class Sums(NamedTuple):
    """Sums of scores and of their squares, of all objects or of a piece."""

    total: Floats
    squares: Floats

    def within(self, start: int, stop: int) -> "Sums":
        """Those of a piece."""
        return Sums(self.total[start:stop], self.squares[start:stop])


def add_repetitions(
    pieces: Pieces,
    terms: Terms,
    models: Models,
    grading: Grading,
    scale: Scale,
    sums: Sums,
    n_jobs: int | None,
) -> tuple[Floats, Floats]:
    """Add the scores of a batch of weak clusterings to their sums; sizes and mean scores.

    Parameters
    ----------
    pieces : Pieces
    terms : callable
        The objects' side of the divergence, a matrix and row terms, of some rows.
    models, grading, scale
        See `consilience.kernels.minority.passes.repetitions`.
    sums : Sums
        Of all objects, changed in place.
    n_jobs : int or None
    """
    nodes = list(pieces.map(_sizes_of_piece, terms, models, grading, n_jobs))
    by_seed, by_repetition = (np.stack(part) for part in zip(*nodes, strict=True))
    sizes = tree_sum(by_seed) + np.repeat(tree_sum(by_repetition), np.diff(models.bounds))
    shared = (terms, models, grading, scale, sizes, n_jobs)
    scores, score_sums = pieces.step(_scores_of_piece, None, *shared)
    means = tree_sum(np.stack(list(score_sums))) / pieces.table.shape[0]
    start = 0
    for own in pieces.revisit(_added, scores, means, sums, n_jobs):
        stop = start + len(own.total)
        sums.total[start:stop], sums.squares[start:stop] = own
        let_go(*sums)
        start = stop
    return sizes, means


def _slices(X: NDArray[Any], terms: Terms, team: Team) -> Iterator[Objects]:
    for start in range(0, len(X), _SLICE):
        part = X[start : start + _SLICE]
        yield dense_objects(lambda a, b, part=part: terms(part[a:b]), len(part), team)


def _sizes_of_piece(
    X: NDArray[Any], start: int, terms: Terms, models: Models, grading: Grading, n_jobs: int | None
) -> tuple[Floats, Floats]:
    with one_thread(), Team(n_jobs, -(-len(X) // BLOCK)) as team:
        memory = Memory(0, team.size)
        nodes = [
            piece_sizes(objects, models, grading, team=team, memory=memory)
            for objects in _slices(X, terms, team)
        ]
    by_seed, by_repetition = (np.stack(part) for part in zip(*nodes, strict=True))
    return tree_sum(by_seed).copy(), tree_sum(by_repetition).copy()


def _scores_of_piece(
    X: NDArray[Any],
    start: int,
    own: None,
    terms: Terms,
    models: Models,
    grading: Grading,
    scale: Scale,
    sizes: Floats,
    n_jobs: int | None,
) -> tuple[Floats, Floats]:
    scores, nodes, done = np.empty((len(models.bounds) - 1, len(X))), [], 0
    with one_thread(), Team(n_jobs, -(-len(X) // BLOCK)) as team:
        memory = Memory(_KEPT, team.size)
        for objects in _slices(X, terms, team):
            some, node = piece_scores(
                objects, models, grading, scale, sizes, team=team, memory=memory
            )
            scores[:, done : done + some.shape[1]] = some
            nodes.append(node)
            done += some.shape[1]
    return scores, tree_sum(np.stack(nodes)).copy()


def _added(scores: Floats, means: Floats, sums: Sums, n_jobs: int | None) -> Sums:
    total, squares = np.array(sums.total), np.array(sums.squares)
    with Team(n_jobs, -(-len(total) // BLOCK)) as team:
        add_scores(Batch(np.empty(0), np.asarray(scores), means), total, squares, team)
    return Sums(total, squares)
