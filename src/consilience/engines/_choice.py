"""Which engine: the one where the rows are."""

from typing import Any

from consilience.engines._engine import Engine
from consilience.engines.blocks import Blocks
from consilience.engines.cpu import Cpu
from consilience.engines.dask import cluster_of
from consilience.rows import Stored

__all__ = ["engine_for"]


def engine_for(rows: Any) -> Engine:
    """The engine for rows of this kind.

    Parameters
    ----------
    rows : ndarray of shape (n_objects, n_features), CSR matrix or Stored; or labels
        Checked already; labels are (n_members, n_objects). Arrays in memory are the CPU's. A
        stored table is gone through in blocks: here, or by the workers of the Dask client that
        is at work, if it is a Dask array.

    Examples
    --------
    >>> import numpy as np
    >>> engine_for(np.array([[0.0], [2.0]])).column_facts().mean
    array([1.])
    """
    return Blocks(rows, cluster_of(rows)) if isinstance(rows, Stored) else Cpu(rows)
