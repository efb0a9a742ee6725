"""Group objects whose labels agree in every member: exact, by hash, then by comparison.

Objects with equal label rows are indistinguishable to every method that sees only the
labels, so most of them work on one row a group and its count (its *signature*).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team, by_rows, in_turns

__all__ = ["RowTable", "group_rows", "hash_of", "hash_rows", "sort_rows", "stable_order", "taken"]

# Object labels are read in blocks so that one member's run of labels stays in cache.
_BLOCK = 4096
# Labels that are worth a thread.
_WORTH = 2**20
# Keys are sorted in this many parts, by their leading bits, and dealt to them in chunks.
_PART_BITS, _CHUNK = 6, 1 << 14
# Keys that are sorted faster as they are.
_FEW_KEYS = 1 << 15
# What a hash starts from, and what it is multiplied with and shifted by.
_START, _PRIME = np.uint64(0x243F6A8885A308D3), np.uint64(0x9E3779B97F4A7C15)
_SHIFT = np.uint64(29)


def group_rows(
    members: NDArray[np.signedinteger], n_jobs: int | None = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """First object, group of every object and size of every group of equal label rows.

    Parameters
    ----------
    members : ndarray of shape (n_members, n_objects)
        Labels, member-major and contiguous; noise and unseen count as labels of their own.
    n_jobs : int or None
        Threads that read the labels.

    Returns
    -------
    first : ndarray of shape (n_groups,)
        The first object of each group; groups are numbered by first appearance.
    inverse : ndarray of shape (n_objects,)
        The group of each object.
    counts : ndarray of shape (n_groups,)
        Objects in each group.

    Examples
    --------
    >>> first, inverse, counts = group_rows(np.array([[0, 1, 0], [2, 2, 2]], np.int8))
    >>> first.tolist(), inverse.tolist(), counts.tolist()
    ([0, 1], [0, 1, 0], [2, 1])
    """
    keys = np.empty(members.shape[1], np.uint64)
    hash_rows(members, keys, n_jobs)
    return _groups(members, keys, n_jobs)


def _groups(
    members: NDArray[np.signedinteger], keys: NDArray[np.uint64], n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """`group_rows` of rows with these hashes."""
    n = members.shape[1]
    like = np.arange(n)
    with Team(n_jobs, -(-n // _BLOCK)) as team:
        repeated = team.run(lambda part: _first_alike(members, keys, part, team.size, like))
    if not any(repeated):
        return like, like.copy(), np.ones(n, np.int64)
    n_groups = n - sum(repeated)
    first, counts = np.empty(n_groups, np.int64), np.zeros(n_groups, np.int64)
    _number(like, first, counts)
    return first, like, counts


def sort_rows(
    members: NDArray[np.signedinteger], n_jobs: int | None = 1
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """As `group_rows`, with the groups in the order of a hash of their labels.

    Parameters
    ----------
    members, n_jobs
        As in `group_rows`.

    Returns
    -------
    first, inverse, counts
        As in `group_rows`; this order does not depend on that of the objects. Groups of equal
        hash come by first appearance.

    Examples
    --------
    >>> first, inverse, counts = sort_rows(np.array([[0, 1, 0], [2, 2, 2]], np.int8))
    >>> sorted(first.tolist()), counts[inverse].tolist()
    ([0, 1], [2, 1, 2])
    """
    n = members.shape[1]
    keys = np.empty(n, np.uint64)
    hash_rows(members, keys, n_jobs)
    order = stable_order(keys, n_jobs)
    ranked = taken(keys, order, n_jobs)
    same = ranked[1:] == ranked[:-1]
    if not same.any():
        return order, *_each_alone(order, n_jobs)
    fresh = np.ones(n, bool)
    fresh[1:] = ~same
    if _differ(members, order, np.flatnonzero(same), n_jobs):
        return _sorted_groups(members, keys)
    starts = np.flatnonzero(fresh)
    inverse = np.empty(n, np.int64)
    number = np.cumsum(fresh) - 1

    def place(some: slice) -> None:
        inverse[order[some]] = number[some]

    by_rows(place, n, n_jobs)
    return order[starts], inverse, np.diff(starts, append=n)


def _each_alone(
    order: NDArray[np.int64], n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Groups and their sizes where no two rows are equal."""
    # Not filled here: every thread is the first to touch what it writes.
    inverse, counts = np.empty(len(order), np.int64), np.empty(len(order), np.int64)

    def number(some: slice) -> None:
        inverse[order[some]] = np.arange(some.start, some.stop)
        counts[some] = 1

    by_rows(number, len(order), n_jobs)
    return inverse, counts


def stable_order(keys: NDArray[np.uint64], n_jobs: int | None) -> NDArray[np.int64]:
    """The stable order of the keys: dealt to parts by their leading bits, each sorted by a thread.

    >>> stable_order(np.array([7, 3, 7, 1], np.uint64), 2)
    array([3, 1, 0, 2])
    """
    n = len(keys)
    if n <= _FEW_KEYS:
        return np.argsort(keys, kind="stable")
    order = np.empty(n, np.int64)
    places = np.zeros((-(-n // _CHUNK), 1 << _PART_BITS), np.int64)
    in_turns(lambda at, step: _count_parts(keys, at, step, places), len(places), n_jobs)
    # A part has its keys chunk by chunk: so they stay in the order of the objects.
    edges = np.concatenate([[0], np.cumsum(places.sum(axis=0))])
    places[:] = edges[:-1] + np.cumsum(places, axis=0) - places
    in_turns(lambda at, step: _deal(keys, at, step, places, order), len(places), n_jobs)

    def sort(part: slice) -> None:
        own = order[edges[part.start] : edges[part.stop]]
        own[:] = own[np.argsort(keys[own], kind="stable")]

    by_rows(sort, 1 << _PART_BITS, n_jobs, size=1)
    return order


@compiled
def _count_parts(keys, at, step, counts):
    """How many keys of every ``step``-th chunk go to each part."""
    shift = np.uint64(64 - _PART_BITS)
    for chunk in range(at, counts.shape[0], step):
        for i in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, keys.size)):
            counts[chunk, np.int64(keys[i] >> shift)] += 1


@compiled
def _deal(keys, at, step, places, order):
    """Write the objects of every ``step``-th chunk to where its keys begin in each part."""
    shift = np.uint64(64 - _PART_BITS)
    for chunk in range(at, places.shape[0], step):
        for i in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, keys.size)):
            part = np.int64(keys[i] >> shift)
            order[places[chunk, part]] = i
            places[chunk, part] += 1


def _differ(
    members: NDArray[np.signedinteger],
    order: NDArray[np.int64],
    places: NDArray[np.int64],
    n_jobs: int | None,
) -> bool:
    """Whether two objects that follow each other with equal hashes have different labels."""
    differences = []

    def look(some: slice) -> None:
        one, next_one = order[places[some]], order[places[some] + 1]
        if any((labels[one] != labels[next_one]).any() for labels in members):
            differences.append(True)

    by_rows(look, len(places), n_jobs)
    return bool(differences)


def _sorted_groups(
    members: NDArray[np.signedinteger], keys: NDArray[np.uint64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """`sort_rows` where different labels have one hash: rare, so that one thread will do."""
    first, inverse, counts = _groups(members, keys, 1)
    order = np.argsort(keys[first], kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse], counts[order]


def taken(values: NDArray[Any], chosen: NDArray[np.int64], n_jobs: int | None) -> NDArray[Any]:
    """``values[chosen]``, copied by threads.

    >>> taken(np.array([[1, 2], [3, 4]]), np.array([1, 0, 1]), 2).tolist()
    [[3, 4], [1, 2], [3, 4]]
    """
    # Not filled here: every thread is the first to touch what it writes.
    out: NDArray[Any] = np.empty((len(chosen), *values.shape[1:]), values.dtype)

    def copy(rows: slice) -> None:
        np.take(values, chosen[rows], axis=0, out=out[rows], mode="clip")

    by_rows(copy, len(chosen), n_jobs)
    return out


def hash_rows(
    members: NDArray[np.signedinteger], keys: NDArray[np.uint64], n_jobs: int | None = 1
) -> None:
    """Fill ``keys`` with a 64-bit hash of each object's labels."""
    n_turns = min(-(-members.shape[1] // _BLOCK), -(-members.size // _WORTH))

    def turn(at: int) -> None:
        with np.errstate(over="ignore"):  # the hash wraps around; plain numpy would warn of it
            _hash_rows(members, at, team.size, keys)

    with Team(n_jobs, n_turns) as team:
        team.run(turn)


def _hash_rows_in_arrays(members, at, step, keys):
    for start in range(at * _BLOCK, members.shape[1], step * _BLOCK):
        some = slice(start, start + _BLOCK)
        keys[some] = _START
        for labels in members[:, some]:
            mixed = (keys[some] ^ (labels.astype(np.int64) + 3).view(np.uint64)) * _PRIME
            keys[some] = mixed ^ (mixed >> _SHIFT)


@compiled(plain_up_to=100_000, plain=_hash_rows_in_arrays)
def _hash_rows(members, at, step, keys):
    """Fill ``keys`` with a 64-bit hash of each object's labels (xor, multiply, shift)."""
    n_members, n_objects = members.shape
    for start in range(at * _BLOCK, n_objects, step * _BLOCK):
        stop = min(start + _BLOCK, n_objects)
        for i in range(start, stop):
            keys[i] = _START
        for r in range(n_members):
            for i in range(start, stop):
                mixed = (keys[i] ^ np.uint64(members[r, i] + np.int64(3))) * _PRIME
                keys[i] = mixed ^ (mixed >> _SHIFT)


@compiled
def hash_of(members, i):
    """The hash of one object's labels, as `hash_rows` has it."""
    key = _START
    for r in range(members.shape[0]):
        mixed = (key ^ np.uint64(members[r, i] + np.int64(3))) * _PRIME
        key = mixed ^ (mixed >> _SHIFT)
    return key


@compiled(plain_up_to=100_000)
def _first_alike(members, keys, part, n_parts, like):
    """Put the first object with equal labels where there is one before; how many have one.

    Of objects whose hash falls into one of so many parts. Open addressing over the hashes; equal
    hashes are compared label by label.
    """
    own = 0
    for i in range(keys.size):
        own += _part_of(keys[i], n_parts) == part
    size = 16
    while size < 2 * own:
        size *= 2
    table = np.full(size, -1, np.int64)
    repeated = 0
    for i in range(keys.size):
        if _part_of(keys[i], n_parts) != part:
            continue
        slot = np.int64(keys[i] & np.uint64(size - 1))
        while table[slot] >= 0 and not _alike(members, keys, i, table[slot]):
            slot = (slot + 1) & (size - 1)
        if table[slot] < 0:
            table[slot] = i
        else:
            like[i] = table[slot]
            repeated += 1
    return repeated


@compiled(plain_up_to=100_000)
def _number(like, first, counts):
    """Number groups by their first objects, in the place of the objects that others are like."""
    n_groups = 0
    for i in range(like.size):
        if like[i] == i:
            first[n_groups] = i
            like[i] = n_groups
            n_groups += 1
        else:
            like[i] = like[like[i]]
        counts[like[i]] += 1


@compiled(inline="always")
def _part_of(key, n_parts):
    """The part of a hash by its upper half, which has no say in its place in a table."""
    half = np.uint64(32)
    return np.int64((key >> half) * np.uint64(n_parts) >> half)


@compiled
def _alike(members, keys, i, j):
    """Whether two objects have the same labels."""
    same, r = keys[i] == keys[j], 0
    while same and r < members.shape[0]:
        same = members[r, i] == members[r, j]
        r += 1
    return same


class RowTable:
    """Distinct label rows of objects that come block by block; as `group_rows`, of all of them.

    Rows are numbered as they first appear. Memory: about twice ``n_members + 24`` bytes a
    distinct row, whatever the number of objects.

    Attributes
    ----------
    n_rows : int
        Distinct rows so far.

    Examples
    --------
    >>> table = RowTable(2, np.int8)
    >>> table.add(np.array([[0, 1, 0], [2, 2, 2]], np.int8)).tolist()
    [0, 1, 0]
    >>> table.add(np.array([[3, 1], [2, 2]], np.int8)).tolist()
    [2, 1]
    >>> table.members().tolist(), table.counts.tolist()
    ([[0, 1, 3], [2, 2, 2]], [2, 2, 1])
    """

    def __init__(self, n_members: int, kind: Any) -> None:
        self.n_rows = 0
        self._rows = np.empty((64, n_members), kind)  # a row side by side: it is compared so
        self._keys = np.empty(64, np.uint64)
        self._counts = np.zeros(64, np.int64)
        self._slots = np.full(128, -1, np.int64)

    @property
    def counts(self) -> NDArray[np.int64]:
        """Objects of each row."""
        return self._counts[: self.n_rows]

    @property
    def nbytes(self) -> int:
        """Bytes taken."""
        arrays = (self._rows, self._keys, self._counts, self._slots)
        return sum(array.nbytes for array in arrays)

    def members(self) -> NDArray[np.signedinteger]:
        """The distinct rows, member-major, in the order of their numbers."""
        return np.ascontiguousarray(self._rows[: self.n_rows].T)

    def add(self, members: NDArray[np.signedinteger], n_jobs: int | None = 1) -> NDArray[np.int32]:
        """The numbers of the rows of a block of objects, (n_members, n_objects)."""
        members = np.ascontiguousarray(members, self._rows.dtype)
        keys = np.empty(members.shape[1], np.uint64)
        hash_rows(members, keys, n_jobs)
        numbers = np.empty(len(keys), np.int32)
        done = 0
        while done < len(keys):
            done, self.n_rows = _add_rows(
                members, keys, self._rows, self._keys, self._counts, self._slots,
                self.n_rows, done, numbers,
            )  # fmt: skip
            if done < len(keys):
                self._grow()
        return numbers

    def _grow(self) -> None:
        """Room for twice as many rows."""
        n = len(self._keys)
        self._rows = np.concatenate([self._rows, np.empty_like(self._rows)])
        self._keys = np.concatenate([self._keys, np.empty_like(self._keys)])
        self._counts = np.concatenate([self._counts, np.zeros_like(self._counts)])
        self._slots = np.full(4 * n, -1, np.int64)
        _place_rows(self._keys[: self.n_rows], self._slots)


@compiled
def _add_rows(members, keys, rows, row_keys, counts, slots, n_rows, start, numbers):
    """Number objects from ``start`` on until there is no room for a new row; where that was."""
    n_members, mask = members.shape[0], slots.size - 1
    for i in range(start, keys.size):
        slot = np.int64(keys[i] & np.uint64(mask))
        while True:
            g = slots[slot]
            if g < 0:
                if n_rows == row_keys.size:
                    return i, n_rows
                g = slots[slot] = n_rows
                row_keys[g] = keys[i]
                for r in range(n_members):
                    rows[g, r] = members[r, i]
                n_rows += 1
                break
            same = row_keys[g] == keys[i]
            for r in range(n_members if same else 0):
                if rows[g, r] != members[r, i]:
                    same = False
                    break
            if same:
                break
            slot = (slot + 1) & mask
        counts[g] += 1
        numbers[i] = g
    return keys.size, n_rows


@compiled
def _place_rows(keys, slots):
    """Fill empty slots with the numbers of rows of these hashes."""
    mask = slots.size - 1
    for g in range(keys.size):
        slot = np.int64(keys[g] & np.uint64(mask))
        while slots[slot] >= 0:
            slot = (slot + 1) & mask
        slots[slot] = g
