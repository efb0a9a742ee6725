"""Pair counts of compact labels: the whole matrix, its condensed half, some rows, the nearest.

Everything here is a loop over row blocks around `consilience.kernels.pairs.compare`. Counts stay in
the narrowest unsigned type (a byte while there are at most 255 members); whoever needs floats
divides. ``joined[i, j]`` counts the members that put i and j into one cluster, ``seen[i, j]``
those that saw both; the diagonal follows the same definition.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import in_turns
from consilience.kernels.pairs.compare import (
    UNSEEN,
    block_width,
    count_joined,
    count_seen,
    count_seen_by,
    count_type,
    make_query,
)

Labels = NDArray[np.signedinteger[Any]]
Counts = NDArray[np.unsignedinteger[Any]]
Missing = Literal["pair", "all"]

# Rows of a tile: enough to use the cached labels well, few enough to mirror within the cache.
ROWS = 128
# Rows whose counts exist at once while the nearest are picked.
NEAREST_ROWS = 16
# Objects that are looked at together when the nearest are picked.
SCREEN = 64


def has_unseen(members: Labels) -> bool:
    """Whether any label is ``UNSEEN``; reads one member at a time."""
    return any(bool(np.any(labels == UNSEEN)) for labels in members)


def count_pairs_block(
    members: Labels, start: int, stop: int, joined: Counts, seen: Counts | None
) -> None:
    """Fill the counts of objects start..stop-1 against all objects.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    start, stop : int
        The rows wanted.
    joined : (stop - start, n_objects) unsigned integers
        Overwritten with the members that joined each pair.
    seen : like ``joined``, or None
        Overwritten with the members that saw both. None when nothing is unseen or
        nobody asks.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, 1, -1]], np.int8)
    >>> joined = np.empty((2, 3), np.uint8)
    >>> count_pairs_block(members, 0, 2, joined, None)
    >>> joined
    array([[2, 1, 0],
           [1, 2, 0]], dtype=uint8)
    """
    objects = np.arange(start, stop)
    _fill_rows(members, _seen_by(members, seen), objects, block_width(members), joined, seen)


def count_rows(
    members: Labels, indices: NDArray[np.integer[Any]], *, with_seen: bool = False
) -> tuple[Counts, Counts | None]:
    """Counts of some objects against all: joined, and seen or None.

    Both are (len(indices), n_objects), in the type of `count_type`.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, 1, -2]], np.int8)
    >>> count_rows(members, np.array([2, 0]), with_seen=True)
    (array([[0, 0, 1],
           [2, 1, 0]], dtype=uint8), array([[1, 1, 1],
           [2, 2, 1]], dtype=uint8))
    """
    objects = np.asarray(indices, np.int64)
    joined, seen = _room((objects.size, members.shape[1]), members, with_seen)
    _fill_rows(members, _seen_by(members, seen), objects, block_width(members), joined, seen)
    return joined, seen


def count_row(members: Labels, i: int, *, with_seen: bool = False) -> tuple[Counts, Counts | None]:
    """Counts of object i against all objects, each (n_objects,): joined, and seen or None.

    Examples
    --------
    >>> count_row(np.array([[0, 0, 1], [0, 1, -2]], np.int8), 0)
    (array([2, 1, 0], dtype=uint8), None)
    """
    joined, seen = count_rows(members, np.array([i]), with_seen=with_seen)
    return joined[0], None if seen is None else seen[0]


def count_pairs(
    members: Labels, *, with_seen: bool, n_jobs: int | None = 1
) -> tuple[Counts, Counts | None]:
    """Counts of all pairs, each (n_objects, n_objects) and symmetric: joined, and seen or None.

    Half of the pairs are counted, the other half is mirrored. Takes n_objects ** 2 bytes a
    matrix for up to 255 members (twice that up to 65535). The spec's co-association is
    ``joined / seen``, or ``joined / n_members``.

    Examples
    --------
    >>> members = np.array([[0, 0, 1], [0, 1, -2]], np.int8)
    >>> joined, seen = count_pairs(members, with_seen=True)
    >>> joined
    array([[2, 1, 0],
           [1, 2, 0],
           [0, 0, 1]], dtype=uint8)
    >>> seen
    array([[2, 2, 1],
           [2, 2, 1],
           [1, 1, 1]], dtype=uint8)
    """
    n = members.shape[1]
    joined, seen = _room((n, n), members, with_seen)
    n_seen, width = _seen_by(members, seen), block_width(members)

    # The first rows are the longest: taking turns, all threads have some of them. Blocks that go to
    # whoever is free took twice as long on 16 threads (and no longer on 8), measured twice.
    in_turns(
        lambda at, step: _fill_symmetric(members, n_seen, ROWS, at, step, width, joined, seen),
        -(-n // ROWS),
        n_jobs,
    )
    return joined, seen


def count_pairs_condensed(
    members: Labels, *, with_seen: bool, n_jobs: int | None = 1
) -> tuple[Counts, Counts | None]:
    """Counts of the pairs i < j in SciPy's condensed order: joined, and seen or None.

    Each is (n_objects * (n_objects - 1) / 2,), one byte a pair for up to 255 members.

    Examples
    --------
    >>> count_pairs_condensed(np.array([[0, 0, 1], [0, 1, 1]], np.int8), with_seen=False)
    (array([1, 0, 1], dtype=uint8), None)
    """
    n = members.shape[1]
    joined, seen = _room((n * (n - 1) // 2,), members, with_seen)
    n_seen, width = _seen_by(members, seen), block_width(members)

    in_turns(
        lambda at, step: _fill_condensed(members, n_seen, ROWS, at, step, width, joined, seen),
        -(-n // ROWS),
        n_jobs,
    )
    return joined, seen


def nearest_pairs(
    members: Labels, k: int, *, missing: Missing, n_jobs: int | None = 1
) -> tuple[NDArray[np.int32], Counts, Counts | None]:
    """The k objects with the largest co-association for each object, and their counts.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; -1 is noise, -2 unseen.
    k : int
        Neighbours wanted, 1 to n_objects - 1. An object is not its own neighbour.
    missing : {"pair", "all"}
        Compare joined / seen (0/0 is 0), or joined alone.
    n_jobs : int
        Threads; the result does not depend on it.

    Returns
    -------
    indices : (n_objects, k) int32
        Most similar first; on ties the smaller index first.
    joined : (n_objects, k) unsigned integers
    seen : like ``joined``, or None
        None for ``missing="all"``, and when no label is unseen: then n_members saw all.

    Notes
    -----
    O(n_objects * k) memory, and a few rows of counts for each thread.

    Examples
    --------
    >>> members = np.array([[0, 0, 1, 1], [0, 1, 1, 1]], np.int8)
    >>> nearest_pairs(members, 1, missing="all")[0].ravel()
    array([1, 0, 3, 2], dtype=int32)
    """
    n = members.shape[1]
    if not 1 <= k < n:
        raise ValueError(f"k must be 1 to {n - 1} for {n} objects. Got {k} instead.")
    indices = np.empty((n, k), np.int32)
    joined, seen = _room((n, k), members, missing == "pair" and has_unseen(members))
    n_seen, width = _seen_by(members, seen), block_width(members)

    in_turns(
        lambda at, step: _nearest_of_all(
            members, n_seen, NEAREST_ROWS, at, step, width, indices, joined, seen
        ),
        -(-n // NEAREST_ROWS),
        n_jobs,
    )
    return indices, joined, seen


def _room(shape: tuple[int, ...], members: Labels, with_seen: bool) -> tuple[Counts, Counts | None]:
    """Empty counts, and the same for seen if wanted."""
    dtype = count_type(members.shape[0])
    return np.empty(shape, dtype), np.empty(shape, dtype) if with_seen else None


def _seen_by(members: Labels, seen: Counts | None) -> NDArray[np.int64]:
    """Members that saw each object; nothing where nobody will ask."""
    return np.empty(0, np.int64) if seen is None else count_seen_by(members)


@compiled
def _fill_one(members, n_seen, i, lo, query, scratch, joined, seen):
    """Counts of object i against objects lo, lo + 1, ..."""
    count_joined(members, members[:, i], lo, query, scratch, joined)
    if seen is not None:
        count_seen(members, members[:, i], n_seen, lo, query, scratch, seen)


@compiled
def _fill_rows(members, n_seen, objects, width, joined, seen):
    """Counts of the given objects against all."""
    n = members.shape[1]
    query, scratch = make_query(members), np.empty(width, np.uint8)
    for lo in range(0, n, width):
        hi = min(n, lo + width)
        for a in range(objects.shape[0]):
            here = None if seen is None else seen[a, lo:hi]
            _fill_one(members, n_seen, objects[a], lo, query, scratch, joined[a, lo:hi], here)


@compiled(plain_up_to=250_000)
def _fill_symmetric(members, n_seen, rows, first, step, width, joined, seen):
    """Every ``step``-th block of rows from the diagonal block on, and its mirror image."""
    n = members.shape[1]
    query, scratch = make_query(members), np.empty(width, np.uint8)
    for start in range(first * rows, n, step * rows):
        stop = min(n, start + rows)
        for lo in range(start, n, width):
            hi = min(n, lo + width)
            for i in range(start, stop):
                here = None if seen is None else seen[i, lo:hi]
                _fill_one(members, n_seen, i, lo, query, scratch, joined[i, lo:hi], here)
            _mirror(joined, start, stop, lo, hi)
            if seen is not None:
                _mirror(seen, start, stop, lo, hi)


@compiled
def _mirror(matrix, start, stop, lo, hi):
    """Copy matrix[start:stop, lo:hi] to its mirror image; square tiles stay in the cache."""
    tile = 64
    for left in range(lo, hi, tile):
        for j in range(left, min(hi, left + tile)):
            source, target = matrix[start:stop, j], matrix[j, start:stop]
            for i in range(stop - start):
                target[i] = source[i]


def _fill_condensed_in_arrays(members, n_seen, rows, first, step, width, joined, seen):
    last, n = 0, members.shape[1]
    # The first thread does all.
    for i in range(n - 1 if first == 0 else 0):
        own, others = members[:, i : i + 1], members[:, i + 1 :]
        start, last = last, last + n - 1 - i
        joined[start:last] = ((own == others) & (own >= 0)).sum(axis=0)
        if seen is not None:
            seen[start:last] = ((own != UNSEEN) & (others != UNSEEN)).sum(axis=0)


@compiled(
    plain_up_to=20_000_000,
    size=lambda members, *rest: members.size * members.shape[1],
    plain=_fill_condensed_in_arrays,
)
def _fill_condensed(members, n_seen, rows, first, step, width, joined, seen):
    """Every ``step``-th block of objects against later ones, in condensed order."""
    n = members.shape[1]
    query, scratch = make_query(members), np.empty(width, np.uint8)
    for start in range(first * rows, n, step * rows):
        for lo in range(start + 1, n, width):
            hi = min(n, lo + width)
            for i in range(start, min(start + rows, hi - 1)):
                after = max(lo, i + 1)
                # Where the pair (i, 0) would be, if there were one.
                origin = i * n - i * (i + 1) // 2 - i - 1
                here = None if seen is None else seen[origin + after : origin + hi]
                counts = joined[origin + after : origin + hi]
                _fill_one(members, n_seen, i, after, query, scratch, counts, here)


@compiled
def _grade(joined, seen, n_members, grades):
    """Co-association in bytes, rounded down: never puts two objects the wrong way round."""
    if seen is None:
        scale = np.float32(255) / np.float32(n_members)
        for j in range(grades.shape[0]):
            grades[j] = np.uint8(np.float32(joined[j]) * scale)
    else:
        for j in range(grades.shape[0]):
            share = np.float32(joined[j]) / np.float32(max(1, seen[j]))
            grades[j] = np.uint8(np.float32(255) * share)


@compiled
def _count_from(grades, bound):
    """How many grades are at least ``bound``."""
    hits = 0
    for j in range(grades.shape[0]):
        hits += grades[j] >= bound
    return hits


@compiled
def _keep_nearest(i, joined, seen, n_members, grades, indices, kept_joined, kept_seen):
    """Pick the largest co-associations of object i from its rows of counts.

    Few objects can be among the k nearest: those whose grade k objects reach. The bound is
    found by bisection, which needs nothing but counting; only they are put in order.
    """
    _grade(joined, seen, n_members, grades)
    grades[i] = 0
    bound, above = 0, 256
    while above - bound > 1:
        middle = (bound + above) // 2
        if _count_from(grades, middle) >= indices.shape[0]:
            bound = middle
        else:
            above = middle
    size = 0
    for lo in range(0, joined.shape[0], SCREEN):
        if _count_from(grades[lo : lo + SCREEN], bound) > 0:
            for j in range(lo, min(joined.shape[0], lo + SCREEN)):
                if grades[j] >= bound and j != i:
                    size = _insert(j, joined, seen, indices, kept_joined, kept_seen, size)


@compiled
def _nearest_of_rows(members, n_seen, start, width, indices, kept_joined, kept_seen):
    """Nearest objects of start, start + 1, ...; as many as ``indices`` has rows."""
    n_rows, n = indices.shape[0], members.shape[1]
    joined, grades = np.empty((n_rows, n), kept_joined.dtype), np.empty(n, np.uint8)
    seen = None if kept_seen is None else np.empty((n_rows, n), kept_joined.dtype)
    _fill_rows(members, n_seen, np.arange(start, start + n_rows), width, joined, seen)
    for a in range(n_rows):
        here = None if seen is None else seen[a]
        kept = None if kept_seen is None else kept_seen[a]
        _keep_nearest(
            start + a, joined[a], here, members.shape[0], grades, indices[a], kept_joined[a], kept
        )


@compiled
def _nearest_of_all(members, n_seen, rows, first, step, width, indices, joined, seen):
    """Nearest objects of every ``step``-th block of rows."""
    n = members.shape[1]
    for start in range(first * rows, n, step * rows):
        stop = min(n, start + rows)
        kept = None if seen is None else seen[start:stop]
        _nearest_of_rows(
            members, n_seen, start, width, indices[start:stop], joined[start:stop], kept
        )


@compiled
def _denominator(seen, j):
    """What to divide the count of object j by, as far as objects differ in it."""
    if seen is None:
        return np.int64(1)
    return max(np.int64(1), np.int64(seen[j]))


@compiled
def _insert(j, joined, seen, indices, kept_joined, kept_seen, size):
    """Put object j behind all kept ones that are as near; the number kept."""
    room, place = indices.shape[0], size
    while place > 0:
        # a/b <= c/d by products: exact, and no division.
        new = np.int64(joined[j]) * _denominator(kept_seen, place - 1)
        if new <= np.int64(kept_joined[place - 1]) * _denominator(seen, j):
            break
        if place < room:
            indices[place] = indices[place - 1]
            kept_joined[place] = kept_joined[place - 1]
            if kept_seen is not None:
                kept_seen[place] = kept_seen[place - 1]
        place -= 1
    if place < room:
        indices[place] = j
        kept_joined[place] = joined[j]
        if kept_seen is not None:
            kept_seen[place] = seen[j]
    return min(size + 1, room)
