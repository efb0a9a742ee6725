"""Minority baselines at the sizes of the paper: time, and the memory they announce."""

import time

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.cluster import HDBSCAN

from consilience.minority.bubbles import bbcpress
from consilience.minority.dgrade import dgrade, dgrade_memory
from consilience.minority.hds import autohds, hds_memory
from consilience.minority.kmd import kmd
from consilience.minority.tuning import tune_gaussian


def cases():
    """Cases of the driver; all but the tuning are serial, so they answer for one thread."""
    return [_autohds, _dgrade, _bbcpress, _kmd, _tuning]


def _autohds(threads):
    if threads > 1:
        return
    autohds(_data(300, 2)[0], n_eps=20)
    for n, d in ((5000, 3), (13_000, 8)):
        X, _ = _data(n, d)
        seconds, _ = _seconds(autohds, X)
        rival = HDBSCAN(min_cluster_size=30, min_samples=200, algorithm="kd_tree", copy=True)
        theirs, _ = _seconds(rival.fit, X)
        note = f"announces {hds_memory(n, d) / 2**20:.0f} MiB; the tree of a like hierarchy"
        yield _row("AutoHDS 200-30", n, d, seconds, "scikit-learn HDBSCAN", theirs, note)


def _dgrade(threads):
    if threads > 1:
        return
    dgrade(_data(300, 2)[0], 30)
    X, m = _data(5000, 3)
    seconds, found = _seconds(dgrade, X, m, divergence="euclidean")
    theirs, count = _seconds(_plain_counts, X, m, len(found.counts))
    assert count == found.counts[-1]
    note = f"{len(found.counts)} smoothings tried, announces {found.memory / 2**20:.0f} MiB"
    yield _row("DGRADE", 5000, 3, seconds, "plain NumPy", theirs, note)
    X, m = _data(13_000, 3)
    seconds, found = _seconds(dgrade, X, m)
    most = dgrade_memory(13_000, 13_000) / 2**20
    note = f"announces {found.memory / 2**20:.0f} MiB, at most {most:.0f}; the matrix in float64"
    theirs, _ = _seconds(lambda: np.sort(cdist(X, X, "sqeuclidean"), axis=1))
    yield _row("DGRADE", 13_000, 3, seconds, "sorting all rows", theirs, note)


def _plain_counts(X, m, most):
    """The counts by whole sorted rows: the matrix, its order, and a minimum for each size."""
    gaps = cdist(X, X, "sqeuclidean")
    near = np.argsort(gaps, axis=1, kind="stable")
    costs = np.cumsum(np.take_along_axis(gaps, near, axis=1), axis=1)
    for s in range(1, most + 1):
        cost = costs[:, s - 1]
        dense = np.argsort(cost, kind="stable")[:m]
        count = int((cost[near[dense, :s]].min(axis=1) >= cost[dense]).sum())
    return count


def _bbcpress(threads):
    if threads > 1:
        return
    X, m = _data(13_000, 8)
    seconds, found = _seconds(bbcpress, X, 7, m, random_state=0)
    inverse = np.linalg.inv(np.cov(X.T))
    one, _ = _seconds(lambda: cdist(X, found.centres, "mahalanobis", VI=inverse).min(axis=1))
    note = f"{found.n_iter} steps; against the distances alone"
    yield _row("BBCPress/7", 13_000, 8, seconds, "SciPy cdist", one * found.n_iter, note)


def _kmd(threads):
    if threads > 1:
        return
    X, _ = _data(13_000, 8)
    seconds, found = _seconds(kmd, X, random_state=0)
    one, _ = _seconds(lambda: np.argsort(cdist(X[:1], X)[0], kind="stable"))
    note = f"{found.n_rounds} rounds; against the search for the nearest alone"
    yield _row("KMD 100x800-50", 13_000, 8, seconds, "SciPy cdist", one * found.n_rounds, note)


def _tuning(threads):
    X, _ = _data(6000, 2)
    tune_gaussian(X[:50], "contrast")
    theirs, _ = _seconds(tune_gaussian, X, "auto", random_state=0, n_jobs=threads)
    seconds, found = _seconds(tune_gaussian, X, "contrast", random_state=0, n_jobs=threads)
    row = _row("tune_gaussian contrast", 6000, 2, seconds, "auto", theirs, found.why)
    yield row | {"threads": threads}


def _data(n, d):
    """Four groups of a seventh of the objects in a box of noise; the number of theirs."""
    rng = np.random.default_rng(n + d)
    size = n // 28
    groups = [rng.normal(c, 0.12, (size, d)) for c in rng.uniform(-1.5, 1.5, (4, d))]
    return np.concatenate([rng.uniform(-2, 2, (n - 4 * size, d)), *groups]), 4 * size


def _seconds(function, *args, **kwargs):
    start = time.perf_counter()
    found = function(*args, **kwargs)
    return time.perf_counter() - start, found


def _row(name, n, d, seconds, alternative, theirs, note):
    return {
        "name": name,
        "size": f"{n} objects x {d}",
        "threads": 1,
        "seconds": seconds,
        "rate": f"{n / seconds:,.0f} objects/s",
        "alternative": alternative,
        "ratio": theirs / seconds,
        "note": note,
    }
