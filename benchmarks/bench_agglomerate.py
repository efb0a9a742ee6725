"""Agglomerative trees against SciPy's linkage, on Euclidean distances and on tied evidence."""

import time

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import pdist

from consilience.kernels.links.agglomerate import agglomerate


def cases():
    """Cases of the driver; the kernel is serial, so they answer for one thread only."""
    return [_euclidean, _tied]


def large_cases():
    """The same where the matrix is far larger than any cache."""
    return [_euclidean_large]


def _euclidean(threads, n=5000):
    if threads > 1:
        return
    distances = pdist(np.random.default_rng(0).normal(size=(n, 10)))
    for method in ("single", "complete", "average", "centroid", "ward"):
        for dtype in (np.float64, np.float32):
            yield _compare(distances, distances.astype(dtype), method, "10-d Gaussian")


def _euclidean_large(threads):
    yield from _euclidean(threads, n=20000)


def _tied(threads, n=5000, n_members=50):
    if threads > 1:
        return
    rng = np.random.default_rng(0)
    truth = np.arange(n)[:, None] % 8
    labels = np.where(rng.random((n, n_members)) < 0.5, truth, rng.integers(0, 8, (n, n_members)))
    distances = pdist(labels, "hamming")
    counts = np.rint(distances * n_members).astype(np.uint8)
    yield _compare(distances, distances.astype(np.float32), "average", "co-association, ties")
    yield _compare(distances, distances.astype(np.float32), "complete", "co-association, ties")
    yield _compare(distances, counts, "complete", "co-association, ties")
    yield _compare(distances, counts, "single", "co-association, ties")


def _compare(distances, ours, method, what):
    """Fastest of three runs of both in turn, the kernel compiled before."""
    agglomerate(ours[:3].copy(), method)
    seconds, theirs = [], []
    for _ in range(3):
        theirs.append(_seconds(linkage, distances, method))
        seconds.append(_seconds(agglomerate, ours.copy(), method))
    # SciPy works on a copy and leaves its input alone.
    memory = f"matrix {ours.nbytes / 2**20:.0f} MiB, SciPy {2 * distances.nbytes / 2**20:.0f} MiB"
    n = (1 + round((1 + 8 * len(distances)) ** 0.5)) // 2
    return {
        "name": f"agglomerate {method} {ours.dtype}",
        "size": f"{n} objects, {what}",
        "threads": 1,
        "seconds": min(seconds),
        "rate": f"{len(distances) / min(seconds) / 1e6:.0f} M pairs/s",
        "alternative": "scipy linkage",
        "ratio": min(theirs) / min(seconds),
        "note": memory,
    }


def _seconds(function, *args):
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start
