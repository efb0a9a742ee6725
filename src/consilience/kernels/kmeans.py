"""Many k-means at once: the entry point.

An ensemble wants a hundred quick k-means runs of the same data, not one careful run.
:func:`many_kmeans` advances all of them in one pass over the data per iteration; each member may
have its own number of clusters, its own rows and its own features, and its result is bit for bit
what it would be alone. Threads: call it on groups of members, the kernels release the lock.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from consilience.kernels.kmeans_lloyd import lloyd
from consilience.kernels.kmeans_members import (
    Members,
    coarsen,
    member_of,
    make_members,
    sweep,
)
from consilience.kernels.kmeans_scan import (
    Scratch,
    Sieve,
    make_scratch,
    make_sieve,
    squared_distance,
)

UNSEEN = -2
# Bounds (8 bytes an object and member) held at once; more members are taken in turns.
_BOUND_BYTES = 1 << 27


class KMeansRuns(NamedTuple):
    labels: NDArray[np.int32]
    centres: list[NDArray[np.float64]]
    inertia: NDArray[np.float64]
    n_iter: NDArray[np.int32]
    converged: NDArray[np.bool_]


def many_kmeans(
    X,
    starts,
    *,
    rows=None,
    features=None,
    max_iter=100,
    tol=0.0,
    spherical=False,
    online=False,
    assign_all=True,
):
    n, d = X.shape
    M = len(starts)
    sieve = make_sieve(X)
    scratch = make_scratch(d)
    labels = np.empty((M, n), np.int32)
    all_f = np.arange(d)
    fs = [all_f if features is None or features[m] is None else features[m] for m in range(M)]
    st = [np.ascontiguousarray(s, dtype=np.float64) for s in starts]
    mem = make_members(st, fs, sieve, labels)
    if rows is not None:
        for m in range(M):
            if rows[m] is not None:
                mem.gaps[m] = np.inf
                mem.gaps[m, rows[m]] = -np.inf
    tols = np.zeros(M)
    n_iter, conv = lloyd(X, sieve, mem, scratch, max_iter=max_iter, tols=tols, spherical=spherical)
    inertia = _in(X, mem)
    return KMeansRuns(
        labels, [member_of(mem, m).centres for m in range(M)], inertia, n_iter, conv
    )


@njit(nogil=True)
def _in(X, mem):
    M = mem.n_clusters.size
    out = np.zeros(M)
    for m in range(M):
        one = member_of(mem, m)
        for i in range(X.shape[0]):
            if one.labels[i] >= 0:
                out[m] += squared_distance(X, i, one.features, one.centres, one.labels[i])
    return out
