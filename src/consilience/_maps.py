"""Maps of files: what was read or written of them need not stay in memory."""

import mmap
from typing import Any

import numpy as np

__all__ = ["let_go"]


def let_go(*arrays: Any) -> None:
    """Give the memory that maps of files have taken back to the system; the files keep all of it.

    A map counts as memory of the process wherever it was touched, until somebody else needs the
    room. Whoever goes through one says so block by block, and no more than a block counts. Arrays
    that are no maps, or views of maps, are left alone.

    >>> let_go(np.zeros(3))
    """
    for array in arrays:
        owner, private = array, False
        while isinstance(owner, np.ndarray):
            # What was written to a copy of a file is nowhere else.
            private |= isinstance(owner, np.memmap) and owner.mode == "c"
            owner = owner.base
        if isinstance(owner, mmap.mmap) and not private and hasattr(mmap, "MADV_DONTNEED"):
            owner.madvise(mmap.MADV_DONTNEED)
