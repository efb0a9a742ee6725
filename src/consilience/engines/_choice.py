"""Which engine: the one where the rows are."""

from typing import Any

from consilience.engines._engine import Engine
from consilience.engines.cpu import Cpu

__all__ = ["engine_for"]


def engine_for(rows: Any) -> Engine:
    """The engine for rows of this kind.

    Parameters
    ----------
    rows : ndarray of shape (n_objects, n_features) or CSR matrix; or (n_members, n_objects) labels
        Checked already. Arrays in memory, of which there are no others yet, are the CPU's.

    Examples
    --------
    >>> import numpy as np
    >>> engine_for(np.array([[0.0], [2.0]])).column_facts().mean
    array([1.])
    """
    return Cpu(rows)
