"""Counts of pairs as products of one-hot labels: whole numbers, exact in any order.

An object's labels as a row of zeros and ones, a column a cluster: the product of two rows is the
number of members that joined the two objects. Floats hold such counts exactly, half precision up
to 2,048 members, single precision beyond.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.engines._device._torch import full_precision, kernels_for, torch

__all__ = [
    "bytes_of",
    "counts_at_once",
    "hot_bytes",
    "nearest_by_kernel",
    "nearest_pairs",
    "one_hot",
    "pair_counts",
]

UNSEEN = -2
# Counts of a block of rows that exist at once, as floats.
_COUNTS = 1 << 28
# Members whose counts half precision holds exactly.
_HALF = 2048
# Clusters of all members up to which products of bytes are faster than the library's.
_WIDTH = 128
# Objects and neighbours whose count and index make one key.
_MOST_OBJECTS, _MOST_NEAREST = 1 << 23, 128


def pair_counts(
    members: Any, *, with_seen: bool, condensed: bool, most: int = _COUNTS, here: bool = False
) -> tuple[Any, Any]:
    """How many members joined each pair of objects, and how many saw it; int32 or uint8 tensors.

    Parameters
    ----------
    members : tensor of shape (n_members, n_objects), signed integers
        -1 is noise, -2 unseen.
    with_seen : bool
        Whether to count who saw a pair; None instead otherwise.
    condensed : bool
        Pairs i < j only, in SciPy's order.
    most : int
        Counts made at once; no count depends on it.
    here : bool
        Whether the tables are tensors of the host, to which blocks of rows go: they may be larger
        than the device.
    """
    joined = _by_kernel(members) if not (condensed or here) else None
    if joined is None:
        joined = _filled(members, one_hot(members), condensed, most, here)
    if not with_seen:
        return joined, None
    seen = (members != UNSEEN).T.to(_floats(members)).contiguous()
    return joined, _filled(members, seen, condensed, most, here)


def hot_bytes(members: NDArray[Any]) -> int:
    """Bytes that `one_hot` takes at most, with what it is made of."""
    n_members, n = members.shape
    n_clusters = int((members.max(axis=1, initial=-1).astype(np.int64) + 1).sum())
    return n * (4 * (n_clusters + 1) + 16 * n_members)


def counts_at_once(limit: int | None) -> int:
    """How many counts may exist at once where data may take so many bytes: some 64 for each."""
    return _COUNTS if limit is None else max(1, min(_COUNTS, limit // 64))


def one_hot(members: Any) -> Any:
    """One row an object, one column a cluster of a member: (n_objects, n_clusters) floats."""
    n_members, n = members.shape
    labels = members.to(torch.int64)
    sizes = (labels.amax(dim=1) + 1).clamp(min=0) if n else labels.new_zeros(n_members)
    first = torch.cumsum(sizes, dim=0) - sizes
    # A column at the end takes what belongs to no cluster, and is cut off.
    total = int(sizes.sum())
    where = torch.where(labels >= 0, labels + first[:, None], total)
    table = torch.zeros((n, total + 1), dtype=_floats(members), device=members.device)
    table.scatter_(1, where.T, 1)
    return table[:, :total].contiguous()


def _count_blocks(table: Any, most: int = _COUNTS) -> Iterator[tuple[int, Any]]:
    """First row and counts of one block of rows after another, (rows, n_objects) floats."""
    n = len(table)
    step = max(1, most // max(n, 1))
    for start in range(0, n, step):
        with full_precision():
            yield start, table[start : start + step] @ table.T


def nearest_pairs(
    members: Any, k: int, *, by_pair: bool, most: int = _COUNTS
) -> tuple[Any, Any, Any]:
    """The k objects with the largest co-association for each object, ties to the smaller index.

    Parameters
    ----------
    members : tensor of shape (n_members, n_objects)
    k : int
    by_pair : bool
        Compare joined / seen, else joined alone.
    most : int
        Counts made at once.

    Returns
    -------
    indices, joined, seen : tensors of shape (n_objects, k)
        ``seen`` is None unless ``by_pair``.
    """
    n = members.shape[1]
    few = len(members) <= 255 and n < _MOST_OBJECTS and k <= _MOST_NEAREST
    if few and not by_pair and kernels_for(members.device) is not None:
        return (*nearest_by_kernel(members, k, most=most), None)
    table = one_hot(members)
    seen_by = (members != UNSEEN).T.to(table.dtype).contiguous() if by_pair else None
    by_block: list[tuple[Any, Any, Any]] = []
    for start, joined in _count_blocks(table, most):
        rows, joined = torch.arange(len(joined), device=table.device), joined.to(torch.float64)
        seen = None
        share = joined
        if seen_by is not None:
            with full_precision():
                seen = (seen_by[start : start + len(joined)] @ seen_by.T).to(torch.float64)
            share = joined / seen.clamp(min=1)
        share[rows, rows + start] = -1.0
        # Stable: equal shares stay in the order of their indices. Two different fractions of
        # counts below 2^26 are never the same float64.
        chosen = torch.sort(share, dim=1, descending=True, stable=True).indices[:, :k]
        own = None if seen is None else seen.gather(1, chosen)
        by_block.append((chosen, joined.gather(1, chosen), own))
    if not by_block:
        return torch.empty((n, k)), torch.empty((n, k)), None
    indices, joined = (torch.cat([part[at] for part in by_block]) for at in (0, 1))
    return indices, joined, torch.cat([part[2] for part in by_block]) if by_pair else None


def bytes_of(members: Any) -> Any:
    """`one_hot` in bytes, with columns of zeros up to a multiple of 128."""
    table = one_hot(members)
    out = torch.zeros(
        (len(table), max(-(-table.shape[1] // _WIDTH), 1) * _WIDTH),
        dtype=torch.int8,
        device=table.device,
    )
    out[:, : table.shape[1]] = table
    return out


def nearest_by_kernel(members: Any, k: int, *, most: int = _COUNTS) -> tuple[Any, Any]:
    """Indices and counts of `nearest_pairs` by counts alone: bytes of a block of rows at a time."""
    kernels, n = kernels_for(members.device), members.shape[1]
    table, step = bytes_of(members), max(128, 4 * most // n // 128 * 128)
    by_block = []
    counts = torch.empty((min(step, n), n), dtype=torch.uint8, device=members.device)
    for start in range(0, n, step):
        some = counts[: min(step, n - start)]
        kernels.count_pairs(table, some, start, symmetric=False)
        by_block.append(kernels.nearest_objects(some, start, k))
    indices, joined = zip(*by_block, strict=True)
    return torch.cat(indices), torch.cat(joined)


def _by_kernel(members: Any) -> Any:
    """Counts of all pairs in bytes; None where no kernel makes them."""
    kernels = kernels_for(members.device)
    if kernels is None or len(members) > 255 or members.shape[1] == 0:
        return None
    n = members.shape[1]
    counts = torch.empty((n, n), dtype=torch.uint8, device=members.device)
    kernels.count_pairs(bytes_of(members), counts, symmetric=True)
    return counts


def _filled(members: Any, table: Any, condensed: bool, most: int, here: bool) -> Any:
    n_members, n = members.shape
    kind = torch.uint8 if n_members <= 255 else torch.int32
    shape = (n * (n - 1) // 2,) if condensed else (n, n)
    out = torch.empty(shape, dtype=kind, device="cpu" if here else members.device)
    for start, counts in _count_blocks(table, most):
        part = counts.to(kind)
        if not condensed:
            out[start : start + len(part)] = part
            continue
        row = torch.arange(start, start + len(part), device=part.device)
        later = torch.arange(n, device=part.device)[None] > row[:, None]
        first, last = (i * n - i * (i + 1) // 2 for i in (start, start + len(part)))
        out[first:last] = part[later]
    return out


def _floats(members: Any) -> Any:
    """The narrowest floats that hold the counts, of those the device multiplies fast."""
    return torch.float16 if members.is_cuda and len(members) <= _HALF else torch.float32
