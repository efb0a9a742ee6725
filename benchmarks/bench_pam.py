"""PAM: eager swaps against the best swap each time, and both against a loop in plain NumPy."""

import time

import numpy as np
from scipy.spatial.distance import pdist, squareform

from consilience.kernels.data.pam import pam


def cases():
    """Cases of the driver; the kernel is serial, so they answer for one thread only."""
    return [_against_numpy, _faster_against_best]


def _against_numpy(threads):
    if threads > 1:
        return
    for n, k in ((500, 10), (2000, 10)):
        distances = _problem(n, k)
        start = pam(distances, k, max_swaps=0)
        theirs, cost = _seconds(_plain_swaps, distances, start.medoids)
        for swap in ("best", "faster"):
            seconds, found = _seconds(pam, distances, k, swap=swap, init=start.medoids)
            yield _row(f"pam {swap}, from BUILD", n, k, seconds, "plain NumPy", theirs, found, cost)


def _faster_against_best(threads):
    if threads > 1:
        return
    for n, k in ((2000, 10), (2000, 30), (5000, 10), (5000, 30)):
        distances = _problem(n, k)
        theirs, best = _seconds(pam, distances, k, swap="best")
        seconds, found = _seconds(pam, distances, k)
        yield _row("pam faster, BUILD and swaps", n, k, seconds, "best", theirs, found, best.cost)
        seconds, found = _seconds(pam, distances, k, init=np.arange(k))
        yield _row("pam faster, first k objects", n, k, seconds, "best", theirs, found, best.cost)


def _problem(n, k):
    """Distances of overlapping Gaussians; compiles on a corner of them."""
    rng = np.random.default_rng(n + k)
    X = rng.normal(size=(n, 10)) + rng.normal(size=(k, 10))[np.arange(n) % k]
    distances = squareform(pdist(X)).astype(np.float32)
    for swap in ("best", "faster"):
        pam(np.ascontiguousarray(distances[:20, :20]), 3, swap=swap)
    return distances


def _plain_swaps(distances, medoids):
    """Best exchange while one helps: k passes over the matrix for every exchange."""
    medoids = list(medoids)
    cost = distances[medoids].min(axis=0).sum(dtype=np.float64)
    while True:
        costs = []
        for c in range(len(medoids)):
            rest = distances[medoids[:c] + medoids[c + 1 :]].min(axis=0)
            costs.append(np.minimum(distances, rest).sum(axis=1, dtype=np.float64))
        c, x = np.unravel_index(np.argmin(costs), np.shape(costs))
        if costs[c][x] >= cost - 1e-6:
            return cost
        medoids[c], cost = x, costs[c][x]


def _row(name, n, k, seconds, alternative, theirs, found, cost):
    return {
        "name": name,
        "size": f"{n} objects, k={k}",
        "threads": 1,
        "seconds": seconds,
        "rate": f"{n * n / seconds / 1e6:.0f} M distances/s",
        "alternative": alternative,
        "ratio": theirs / seconds,
        "note": f"{found.n_swaps} swaps, cost {found.cost / cost:.4f} of the alternative's",
    }


def _seconds(function, *args, **kwargs):
    """Fastest of three runs, and what the function returned."""
    runs = []
    for _ in range(3):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        runs.append(time.perf_counter() - start)
    return min(runs), result
