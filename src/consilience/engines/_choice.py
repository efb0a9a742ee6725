"""Which engine: the one where the rows are."""

from typing import Any

from consilience.engines._engine import Engine
from consilience.engines.cpu import Cpu
from consilience.rows import is_tensor

__all__ = ["engine_for"]


def engine_for(rows: Any, device: Any = None) -> Engine:
    """The engine for rows of this kind.

    Parameters
    ----------
    rows : ndarray of shape (n_objects, n_features), CSR matrix or torch tensor; or labels
        Checked already. Labels are of shape (n_members, n_objects). Tensors are worked on where
        they are, arrays in memory by the CPU's kernels.
    device : str or torch device, optional
        Where to take the rows instead, through torch.

    Examples
    --------
    >>> import numpy as np
    >>> engine_for(np.array([[0.0], [2.0]])).column_facts().mean
    array([1.])
    """
    if device is None and not is_tensor(rows):
        return Cpu(rows)
    from consilience.engines.torch import Torch

    return Torch(rows, device)
