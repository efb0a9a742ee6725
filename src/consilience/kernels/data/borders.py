"""How far objects are from the nearest object of another group."""

import numpy as np

from consilience.kernels._jit import compiled

__all__ = ["to_other_groups"]


def _to_other_groups_in_arrays(far, labels, counts):
    others = (labels[:, None] != labels[None, :]) & counts[labels][None, :]
    return np.where(others, far, np.inf).min(axis=1)


@compiled(plain_up_to=300_000, plain=_to_other_groups_in_arrays)
def to_other_groups(far, labels, counts):
    """Least distance of each object to one of another group that counts; infinite without one.

    ``far`` is (n, n), ``labels`` (n,), and ``counts`` says of each group whether it does. One pass
    over the matrix as it lies in memory; a table of distances to all groups would need the columns
    in the order of the groups, a copy of the matrix for every partition.
    """
    n = len(labels)
    nearest = np.full(n, np.inf)
    for i in range(n):
        least, own = np.inf, labels[i]
        for j in range(n):
            if labels[j] != own and counts[labels[j]] and far[i, j] < least:
                least = far[i, j]
        nearest[i] = least
    return nearest
