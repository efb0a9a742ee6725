"""Values at given ranks of columns that are not in memory, exactly, by counting bits.

Numbers as whole ones of the same order: sixteen bits of them are counted in a pass, of those that
share the bits before. After four passes (two of float32) the value at a rank is known, however
the numbers lie; nothing is sorted or kept.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.engines._pieces import Pieces

__all__ = ["order_statistics"]

_BITS = 16
_BINS = 1 << _BITS
# What is looked for: a column, and the bits that are known of the value.
Known = list[tuple[int, int]]


def order_statistics(pieces: Pieces, ranks: Sequence[int]) -> NDArray[np.float64]:
    """Values of every column at these ranks, from 0 for the least: (n_ranks, n_columns)."""
    dtype = pieces.table.dtype
    n_columns, width = pieces.table.shape[1], 8 * dtype.itemsize
    left = {(c, r): r for c in range(n_columns) for r in ranks}
    prefix = dict.fromkeys(left, 0)
    for shift in range(width - _BITS, -1, -_BITS):
        known = sorted({(c, prefix[c, r]) for c, r in left})
        counts = np.zeros((len(known), _BINS), np.int64)
        for some in pieces.map(_counts_of_piece, known, shift):
            counts += some
        reached = np.cumsum(counts, axis=1)
        for c, r in left:
            line = reached[known.index((c, prefix[c, r]))]
            bits = int(np.searchsorted(line, left[c, r], side="right"))
            left[c, r] -= int(line[bits - 1]) if bits else 0
            prefix[c, r] = (prefix[c, r] << _BITS) | bits
    keys = np.array([[prefix[c, r] for c in range(n_columns)] for r in ranks], f"u{width // 8}")
    return _values(keys, dtype).astype(np.float64)


def _counts_of_piece(X: NDArray[Any], start: int, known: Known, shift: int) -> NDArray[np.int64]:
    out = np.empty((len(known), _BINS), np.int64)
    width = 8 * X.dtype.itemsize
    for place, (column, prefix) in enumerate(known):
        keys = _keys(np.ascontiguousarray(X[:, column]))
        if shift + _BITS < width:
            keys = keys[(keys >> keys.dtype.type(shift + _BITS)) == prefix]
        bits = (keys >> keys.dtype.type(shift)) & keys.dtype.type(_BINS - 1)
        out[place] = np.bincount(bits.astype(np.int64), minlength=_BINS)
    return out


def _keys(values: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers without sign in the order of the values; -0 is 0.

    >>> keys = _keys(np.array([-2.0, -1.0, 0.0, 1.0]))
    >>> bool((np.diff(keys.astype(float)) > 0).all())
    True
    """
    kind = np.dtype(f"u{values.dtype.itemsize}")
    bits = (values + values.dtype.type(0)).view(kind)
    top = kind.type(1 << (8 * kind.itemsize - 1))
    return np.where(bits & top, ~bits, bits | top)


def _values(keys: NDArray[Any], dtype: Any) -> NDArray[Any]:
    top = keys.dtype.type(1 << (8 * keys.dtype.itemsize - 1))
    return np.where(keys & top, keys & ~top, ~keys).view(dtype)
