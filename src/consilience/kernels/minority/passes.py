"""Sizes and scores of a batch of weak clusterings, in two passes over the objects.

The first pass grades a block of objects by the seeds of one repetition and sums the grades of
every seed over the block; the sums of all blocks are the sizes of the clusters. The second
gives every object its score, the mean size of the clusters it is in, from the grades, which are
kept as far as memory allows and otherwise made again. A task is a block and a repetition.
Threads take one after another inside one compiled call a pass: no Python runs in between.
`repetitions` is the whole of it, arrays in, arrays out: what an engine calls.
"""

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team
from consilience.kernels._tasks import counter, next_task
from consilience.kernels.minority.blocks import BLOCK, Models, Objects, multiply, tree_sum
from consilience.kernels.minority.near import entries_needed, near_scores, near_sizes, near_weights
from consilience.kernels.minority.weak import (
    Scratch,
    gaussian_grades,
    nearest,
    softmax_grades,
    weighted_scores,
    weighted_sizes,
)

__all__ = [
    "Batch",
    "Grading",
    "Memory",
    "Scale",
    "add_scores",
    "nearest_seeds",
    "piece_scores",
    "piece_sizes",
    "repetitions",
]

Floats = NDArray[np.float64]

# Bytes of an entry's place: four numbers of 32 bits.
_PLACE = 16


class Grading(NamedTuple):
    """How objects belong to seeds.

    Attributes
    ----------
    kind : {"hard", "softmax", "gaussian", "near"}
        The nearest seed; shares by the divergence, or by that of a Gaussian kernel, where
        weights cannot overflow by its near pairs only.
    kernel : tuple
        "hard": the share of the size of the terms within which distances are tied; "gaussian":
        alpha and gamma, arrays of one float; "near": what `near_kernel` returns.
    """

    kind: str
    kernel: tuple[Any, ...] = ()


class Scale(NamedTuple):
    """What becomes of an object's mean size s in a repetition of k clusters.

    Attributes
    ----------
    n_objects : int
        Objects that sizes are relative to.
    logs : bool
        ``log(s k / n_objects)``, or ``s / n_objects``.
    floors : bool
        Whether a size is at least 1 / k (soft grades) or 1: of new objects, which may be alone
        in a cluster that was empty before.
    """

    n_objects: int
    logs: bool
    floors: bool = False


class Batch(NamedTuple):
    """Repetitions in the order of their models.

    Attributes
    ----------
    sizes : ndarray of shape (n_seeds,)
        Sizes of all clusters.
    scores : ndarray of shape (n_repetitions, n_objects)
        On the scale asked for; memory that the next batch uses again.
    means : ndarray of shape (n_repetitions,)
        Mean score over the objects.
    """

    sizes: Floats
    scores: Floats
    means: Floats


class Memory:
    """What passes write into, taken once and used again by batch after batch.

    Parameters
    ----------
    kept : int
        Bytes of grades that may be kept from the first pass for the second, all threads
        together.
    n_threads : int

    Attributes
    ----------
    share : float
        Numbers kept for a pair of an object and a seed, in the last batch of soft grades.
    """

    def __init__(self, kept: int, n_threads: int) -> None:
        self.kept, self.n_threads = kept, n_threads
        self.share = 1.0
        self._arrays: dict[str, NDArray[Any]] = {}

    def array(self, name: str, shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
        """An array that holds anything; of what is never written no memory is really taken."""
        size = math.prod(shape)
        old = self._arrays.get(name)
        if old is None or old.size < size or old.dtype != dtype:
            # Somewhat more: what was written once is not taken anew for every larger batch.
            self._arrays.pop(name, None)
            self._arrays[name] = old = np.empty(size + size // 4, dtype)
        return old[:size].reshape(shape)

    def grades(self, grading: Grading, models: Models, n_objects: int) -> tuple[Any, ...]:
        """Room of every thread for numbers and entries, and how much of both may be kept.

        Behind what is kept there is room for one block that is not. The last limit is the most
        entries of a block and a seed.
        """
        dtype, n_seeds, most = models.columns.dtype, int(models.bounds[-1]), models.most
        longest = min(BLOCK, n_objects)
        places = entries_needed(longest) if grading.kind == "near" else 0
        bytes_a_seed = max(longest * dtype.itemsize + places * _PLACE, 1)
        # Threads take unequal parts of what there is to do, but none more than all.
        seeds = min(self.kept // (self.n_threads * bytes_a_seed), n_seeds * -(-n_objects // BLOCK))
        limits = np.array([seeds * places, seeds * longest, places], np.int64)
        room = seeds + most
        values = self.array("values", (self.n_threads, room * longest), dtype)
        entries = self.array("places", (self.n_threads, room * places, 4), np.int32)
        return values, entries, limits


def repetitions(
    objects: Objects,
    models: Models,
    grading: Grading,
    scale: Scale,
    *,
    team: Team,
    memory: Memory,
    sizes: Floats | None = None,
) -> Batch:
    """Sizes of the clusters and scores of the objects, for a batch of weak clusterings.

    Parameters
    ----------
    objects : Objects
    models : Models
        Seeds of the repetitions, in the type of the objects.
    grading : Grading
    scale : Scale
    team : Team
        Threads. The result does not depend on their number, nor on what is kept, nor on how
        repetitions are divided into batches.
    memory : Memory
        For as many threads as the team has.
    sizes : ndarray of shape (n_seeds,), optional
        Sizes of the clusters; None takes those that the objects give.

    Returns
    -------
    Batch
    """
    n = len(objects.rows)
    first, second = _passes(objects, models, grading, memory)
    # Sums over the objects of a block, of every seed and of every repetition.
    by_seed, by_repetition = _first_sums(objects, models, first, team, memory)
    if sizes is None:
        sizes = tree_sum(by_seed) + np.repeat(tree_sum(by_repetition), np.diff(models.bounds))
    scores = memory.array("scores", (by_repetition.shape[1], n), np.float64)
    given = (sizes, *_scaling(models, grading, scale))
    taken = counter()
    team.run(lambda me: second(given, scores, by_repetition, taken, me))
    return Batch(sizes, scores, tree_sum(by_repetition) / n)


def _first_sums(
    objects: Objects, models: Models, first: Any, team: Team, memory: Memory
) -> tuple[Floats, Floats]:
    """What the first pass sums up, block by block: of every seed, and of every repetition."""
    by_seed = np.zeros((objects.n_blocks, int(models.bounds[-1])))
    by_repetition = np.zeros((objects.n_blocks, len(models.bounds) - 1))
    taken = counter()
    numbers = team.run(lambda me: first((by_seed, by_repetition), taken, me))
    memory.share = sum(numbers) / max(len(objects.rows) * by_seed.shape[1], 1)
    return by_seed, by_repetition


def piece_sizes(
    objects: Objects, models: Models, grading: Grading, *, team: Team, memory: Memory
) -> tuple[Floats, Floats]:
    """Sums of the first pass over a piece of the objects: of every seed, of every repetition.

    Pieces are runs of 2^l blocks: their sums are nodes of the tree of all blocks (`tree_sum`).
    The sizes of the clusters are the sum of both over all pieces.
    """
    first, _ = _passes(objects, models, grading, memory)
    by_seed, by_repetition = _first_sums(objects, models, first, team, memory)
    return tree_sum(by_seed).copy(), tree_sum(by_repetition).copy()


def piece_scores(
    objects: Objects,
    models: Models,
    grading: Grading,
    scale: Scale,
    sizes: Floats,
    *,
    team: Team,
    memory: Memory,
) -> tuple[Floats, Floats]:
    """Scores of a piece of the objects, and their sum of every repetition, a node of the tree."""
    first, second = _passes(objects, models, grading, memory)
    _, by_repetition = _first_sums(objects, models, first, team, memory)
    scores = np.empty((by_repetition.shape[1], len(objects.rows)))
    given = (sizes, *_scaling(models, grading, scale))
    taken = counter()
    team.run(lambda me: second(given, scores, by_repetition, taken, me))
    return scores, tree_sum(by_repetition).copy()


def nearest_seeds(
    objects: Objects, models: Models, grading: Grading, out: NDArray[Any], *, team: Team
) -> None:
    """The seed of every object in every repetition, ties to the first.

    Parameters
    ----------
    objects, models, grading, team
        As `repetitions` takes them; the kind of grading is "hard".
    out : integer array of shape (n_repetitions, n_objects)
        Overwritten.
    """
    counts = np.zeros((objects.n_blocks, int(models.bounds[-1])))
    both, taken = (tuple(objects), tuple(models)), counter()
    team.run(lambda me: _hard_first(*both, *grading.kernel, out, (counts, counts), taken, me))


def add_scores(batch: Batch, total: Floats, squares: Floats | None, team: Team) -> None:
    """Add the scores of a batch to their sums, and their squares about each repetition's mean.

    One repetition after another, so that sums do not depend on how they came in batches.

    Parameters
    ----------
    batch : Batch
    total, squares : ndarray of shape (n_objects,)
        Changed in place.
    team : Team
    """
    wanted = np.empty(0) if squares is None else squares
    taken = counter()
    team.run(lambda _: _add_scores(batch.scores, batch.means, total, wanted, taken))


def _scaling(models: Models, grading: Grading, scale: Scale) -> tuple[Any, ...]:
    """Least sizes and factors of the repetitions, what to divide by, whether logarithms."""
    counts = np.diff(models.bounds)
    floors = np.zeros(len(counts))
    if scale.floors:
        floors = np.ones(len(counts)) if grading.kind == "hard" else 1 / counts
    return floors, counts / scale.n_objects, float(scale.n_objects), scale.logs


def _passes(objects: Objects, models: Models, grading: Grading, memory: Memory) -> tuple[Any, Any]:
    """Both passes, but for what they sum up and take."""
    n, n_repetitions, kind = len(objects.rows), len(models.bounds) - 1, models.columns.dtype
    both = (tuple(objects), tuple(models))
    if grading.kind == "hard":
        labels = memory.array("labels", (n_repetitions, n), np.int32)
        return partial(_hard_first, *both, *grading.kernel, labels), partial(
            _hard_second, models.bounds, labels
        )
    inverse = memory.array("inverse", (n_repetitions, n), kind)
    # Who kept the grades of a task, and where: first and last entry, first number.
    records = np.empty((objects.n_blocks * n_repetitions, 4), np.int64)
    room = (*memory.grades(grading, models, n), records)
    kernel = grading.kernel or (np.empty(0, kind), np.empty(0, kind))
    common = (*both, (kernel, Scratch(kind).constants), room, inverse)
    if grading.kind == "near":
        return partial(_near_first, *common), partial(_near_second, *common)
    return partial(_soft_first, *common), partial(_soft_second, *common)


# ---- compiled --------------------------------------------------------------------------------


@compiled
def _task(number, bounds, n):
    """Of a task its block, repetition, objects (from, to) and seeds (from, to).

    The repetitions of a block follow each other: its objects stay in the cache.
    """
    block, r = number // (bounds.size - 1), number % (bounds.size - 1)
    start = block * BLOCK
    return block, r, start, min(start + BLOCK, n), bounds[r], bounds[r + 1]


@compiled
def _most_seeds(bounds):
    """Seeds of the repetition that has most; plain loops take a fraction of the time to compile."""
    most = 0
    for r in range(bounds.size - 1):
        most = max(most, bounds[r + 1] - bounds[r])
    return most


@compiled(fastmath={"contract", "reassoc"})
def _sum(values):
    total = 0.0
    for i in range(values.size):
        total += np.float64(values[i])
    return total


@compiled
def _scaled(scores, r, given):
    """Scores on the scale wanted, in place; their sum."""
    _, floors, factors, n_objects, logs = given
    floor, factor = floors[r], factors[r]
    for i in range(scores.size):
        size = max(scores[i], floor)
        scores[i] = math.log(size * factor) if logs else size / n_objects
    return _sum(scores)


@compiled
def _near_block(both, how, table, start, stop, low, high, entries, begin, inverse):
    """Entries of a block of objects for the seeds of a repetition; where they end."""
    (matrix, rows), (seeds, columns, _) = both
    kernel, constants = how
    products = table[: (high - low) * (stop - start)].reshape(high - low, stop - start)
    multiply(matrix, start, stop, seeds, low, high, products)
    return near_weights(
        products, rows[start:stop], columns[low:high], kernel, constants,
        start, entries, begin[0], begin[1], inverse[start:stop],
    )  # fmt: skip


@compiled
def _near_first(objects, models, how, room, inverse, sums, taken, me):
    """Keep the near pairs of tasks, sum up their grades; returns how many numbers these are."""
    bounds, n = models[2], objects[1].size
    values, places, limits, records = room
    by_seed, by_repetition = sums
    entries = (values[me], places[me])
    spare = (limits[0], limits[1])
    table = np.empty(_most_seeds(bounds) * min(BLOCK, n), values.dtype)
    used, at, numbers = 0, 0, 0
    number = next_task(taken)
    while number < records.shape[0]:
        block, r, start, stop, low, high = _task(number, bounds, n)
        most = (high - low) * (stop - start)
        keep = used + (high - low) * limits[2] <= spare[0] and at + most <= spare[1]
        begin = (used, at) if keep else spare
        both = (objects, models)
        end = _near_block(both, how, table, start, stop, low, high, entries, begin, inverse[r])
        near_sizes(entries, begin[0], end[0], inverse[r], by_seed[block, low:high])
        by_repetition[block, r] = _sum(inverse[r, start:stop])
        numbers += end[1] - begin[1]
        records[number, 0] = me if keep else -1
        records[number, 1] = begin[0]
        records[number, 2] = end[0]
        if keep:
            used, at = end
        number = next_task(taken)
    return numbers


@compiled
def _near_second(objects, models, how, room, inverse, given, scores, by_repetition, taken, me):
    """Scores of the objects of tasks from near pairs, and their sums."""
    bounds, n = models[2], objects[1].size
    values, places, limits, records = room
    table = np.empty(_most_seeds(bounds) * min(BLOCK, n), values.dtype)
    number = next_task(taken)
    while number < records.shape[0]:
        block, r, start, stop, low, high = _task(number, bounds, n)
        sizes = given[0][low:high]
        part, shares = scores[r, start:stop], inverse[r, start:stop]
        total = _sum(sizes)
        for i in range(part.size):
            part[i] = total
        owner, begin, end = records[number, 0], records[number, 1], records[number, 2]
        if owner < 0:
            owner, begin = me, limits[0]
            entries, spare = (values[me], places[me]), (limits[0], limits[1])
            both = (objects, models)
            end, _ = _near_block(
                both, how, table, start, stop, low, high, entries, spare, inverse[r]
            )
        near_scores((values[owner], places[owner]), begin, end, sizes, scores[r])
        for i in range(part.size):
            part[i] *= shares[i]
        by_repetition[block, r] = _scaled(part, r, given)
        number = next_task(taken)


@compiled
def _soft_block(both, how, start, stop, low, high, numbers, inverse):
    """Weights of a block of objects for the seeds of a repetition, seeds by objects."""
    (matrix, rows), (seeds, columns, _) = both
    (alpha, gamma), constants = how
    weights = numbers[: (high - low) * (stop - start)].reshape(high - low, stop - start)
    multiply(matrix, start, stop, seeds, low, high, weights)
    scratch = (constants, np.empty(BLOCK, weights.dtype))
    if alpha.size > 0:
        gaussian_grades(
            weights, rows[start:stop], columns[low:high], alpha, gamma, inverse[start:stop], scratch
        )
    else:
        softmax_grades(weights, columns[low:high], inverse[start:stop], scratch)
    return weights


@compiled
def _soft_first(objects, models, how, room, inverse, sums, taken, me):
    """Keep the weights of tasks, sum up the grades; returns how many numbers these are."""
    bounds, n = models[2], objects[1].size
    values, _, limits, records = room
    at, numbers = 0, 0
    number = next_task(taken)
    while number < records.shape[0]:
        block, r, start, stop, low, high = _task(number, bounds, n)
        size = (high - low) * (stop - start)
        keep = at + size <= limits[1]
        begin = at if keep else limits[1]
        both = (objects, models)
        weights = _soft_block(both, how, start, stop, low, high, values[me, begin:], inverse[r])
        weighted_sizes(weights, inverse[r, start:stop], sums[0][block, low:high])
        numbers += size
        records[number, 0] = me if keep else -1
        records[number, 3] = begin
        if keep:
            at += size
        number = next_task(taken)
    return numbers


@compiled
def _soft_second(objects, models, how, room, inverse, given, scores, by_repetition, taken, me):
    """Scores of the objects of tasks from weights, and their sums."""
    bounds, n = models[2], objects[1].size
    values, _, limits, records = room
    number = next_task(taken)
    while number < records.shape[0]:
        block, r, start, stop, low, high = _task(number, bounds, n)
        owner, begin = records[number, 0], records[number, 3]
        if owner < 0:
            owner, begin, both = me, limits[1], (objects, models)
            _soft_block(both, how, start, stop, low, high, values[me, begin:], inverse[r])
        k, b = high - low, stop - start
        weights = values[owner, begin : begin + k * b].reshape(k, b)
        part = scores[r, start:stop]
        weighted_scores(weights, inverse[r, start:stop], given[0][low:high], part)
        by_repetition[block, r] = _scaled(part, r, given)
        number = next_task(taken)


@compiled
def _hard_first(objects, models, share, labels, sums, taken, me):
    """Nearest seeds of the objects of tasks, counted; keeps no grades."""
    (matrix, rows), (seeds, columns, bounds) = objects, models
    n = rows.size
    n_tasks = -(-n // BLOCK) * (bounds.size - 1)
    table = np.empty(_most_seeds(bounds) * min(BLOCK, n), rows.dtype)
    slack = np.empty(min(BLOCK, n), rows.dtype)
    number = next_task(taken)
    while number < n_tasks:
        block, r, start, stop, low, high = _task(number, bounds, n)
        products = table[: (high - low) * (stop - start)].reshape(high - low, stop - start)
        multiply(matrix, start, stop, seeds, low, high, products)
        # Terms this large are rounded by so much.
        largest = abs(columns[low])
        for c in range(low, high):
            largest = max(largest, abs(columns[c]))
        for i in range(stop - start):
            slack[i] = share * (abs(rows[start + i]) + largest)
        own = labels[r, start:stop]
        nearest(products, columns[low:high], slack, own)
        counts = sums[0][block]
        for i in range(own.size):
            counts[low + own[i]] += 1.0
        number = next_task(taken)
    return 0


@compiled
def _hard_second(bounds, labels, given, scores, by_repetition, taken, me):
    """Sizes of the objects' own clusters, and their sums."""
    n = labels.shape[1]
    n_tasks = -(-n // BLOCK) * (bounds.size - 1)
    number = next_task(taken)
    while number < n_tasks:
        block, r, start, stop, low, _ = _task(number, bounds, n)
        for i in range(start, stop):
            scores[r, i] = given[0][low + labels[r, i]]
        by_repetition[block, r] = _scaled(scores[r, start:stop], r, given)
        number = next_task(taken)


@compiled
def _add_scores(scores, means, total, squares, taken):
    n_repetitions, n = scores.shape
    start = BLOCK * next_task(taken)
    while start < n:
        stop = min(start + BLOCK, n)
        for r in range(n_repetitions):
            for i in range(start, stop):
                total[i] += scores[r, i]
            if squares.size > 0:
                for i in range(start, stop):
                    gap = scores[r, i] - means[r]
                    squares[i] += gap * gap
        start = BLOCK * next_task(taken)
