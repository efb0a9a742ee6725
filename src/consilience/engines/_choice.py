"""Which engine: the one where the rows are."""

from typing import Any

from consilience.engines._engine import Engine
from consilience.engines.blocks import Blocks
from consilience.engines.cpu import Cpu
from consilience.engines.dask import cluster_of
from consilience.errors import InvalidParameterError
from consilience.rows import OnDevice, Stored, is_tensor

__all__ = ["engine_for"]


def engine_for(rows: Any, device: Any = None) -> Engine:
    """The engine for rows of this kind.

    Parameters
    ----------
    rows : ndarray of shape (n_objects, n_features), CSR matrix, torch tensor or Stored; or labels
        Checked already; labels are (n_members, n_objects). Arrays in memory are the CPU's, tensors
        are worked on where they are. A stored table is gone through in blocks: here, or by the
        workers of the Dask client that is at work, if it is a Dask array.
    device : str or torch device, optional
        Where to take the rows instead, through torch.

    Examples
    --------
    >>> import numpy as np
    >>> engine_for(np.array([[0.0], [2.0]])).column_facts().mean
    array([1.])
    """
    if isinstance(rows, Stored):
        if device is not None:
            raise InvalidParameterError(
                f"device={device!r} takes data in memory, and {rows.what} is read block by block. "
                "Leave 'device' out."
            )
        return Blocks(rows, cluster_of(rows))
    if isinstance(rows, OnDevice):
        rows = rows.tensor
    if device is None and not is_tensor(rows):
        return Cpu(rows)
    from consilience.engines.torch import Torch

    return Torch(rows, device)
