"""Pair counts of 10,000 objects by 100 members against one-hot matrix products."""

import time

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

from consilience import Ensemble
from consilience.evidence import co_association
from consilience.kernels.pairs.counts import count_pairs, count_pairs_condensed, nearest_pairs

N_OBJECTS, N_MEMBERS = 10_000, 100


def cases():
    """Cases of the driver."""
    return [_counts]


def make_members(n_objects, n_members=N_MEMBERS, unseen=0.0, seed=0):
    """Labels as k-means starts leave them: nearest of 2 to 30 random objects in ten dimensions."""
    rng = np.random.default_rng(seed)
    groups = rng.normal(scale=2.0, size=(8, 10))
    X = groups[rng.integers(0, 8, n_objects)] + rng.normal(size=(n_objects, 10))
    members = np.empty((n_members, n_objects), np.int8)
    for labels in members:
        centres = X[rng.choice(n_objects, rng.integers(2, 31), replace=False)]
        labels[:] = np.argmin((centres**2).sum(axis=1)[:, None] - 2 * centres @ X.T, axis=0)
        labels[rng.random(n_objects) < unseen] = -2
    return members


def _counts(threads):
    members, gaps = make_members(N_OBJECTS), make_members(N_OBJECTS, unseen=0.1)
    alternative, their_seconds = _best_product(members, threads)
    every, half = N_OBJECTS**2 * N_MEMBERS, N_OBJECTS**2 * N_MEMBERS / 2
    yield _row(
        "pair counts, matrix", threads, half, alternative, their_seconds,
        lambda: count_pairs(members, with_seen=False, n_jobs=threads),
    )  # fmt: skip
    yield _row(
        "pair counts, condensed", threads, half, alternative, their_seconds,
        lambda: count_pairs_condensed(members, with_seen=False, n_jobs=threads),
    )  # fmt: skip
    yield _row(
        "pair counts, condensed, 10% unseen", threads, half, None, None,
        lambda: count_pairs_condensed(gaps, with_seen=True, n_jobs=threads),
        note="joined and seen",
    )  # fmt: skip
    ensemble = Ensemble(list(members))
    for dtype in (np.float64, np.float32):
        yield _row(
            f"co_association, {np.dtype(dtype)}", threads, half, alternative, their_seconds,
            lambda dtype=dtype: co_association(ensemble, dtype=dtype, n_jobs=threads),
            note="as users call it; the alternative gives counts, of float32",
        )  # fmt: skip
    yield _row(
        "nearest 20", threads, every, alternative, their_seconds,
        lambda: nearest_pairs(members, 20, missing="all", n_jobs=threads),
        note="the alternative does not pick",
    )  # fmt: skip
    yield _row(
        "nearest 20, 10% unseen", threads, every, None, None,
        lambda: nearest_pairs(gaps, 20, missing="pair", n_jobs=threads),
    )  # fmt: skip


def _best_product(members, threads):
    """Name and seconds of the faster one-hot product; making the one-hot table is not timed."""
    offsets = np.concatenate([[0], np.cumsum(members.max(axis=1).astype(int) + 1)])
    columns = (members + offsets[:-1, None]).T.ravel()
    ends = np.arange(N_OBJECTS + 1) * N_MEMBERS
    shape = (N_OBJECTS, offsets[-1])
    ones = np.ones(columns.size, np.float32)
    dense = scipy.sparse.csr_array((ones, columns, ends), shape).toarray()
    sparse = scipy.sparse.csr_array((ones.astype(np.uint8), columns, ends), shape)
    across = sparse.T.tocsr()
    with threadpool_limits(threads):
        seconds = {"float32 one-hot GEMM": _seconds(lambda: dense @ dense.T, 2)}
    # SciPy's sparse product knows one thread only.
    seconds["sparse one-hot product"] = _seconds(lambda: sparse @ across, 1)
    name = min(seconds, key=seconds.get)
    return name, seconds[name]


def _row(name, threads, compares, alternative, their_seconds, work, note=""):
    work()
    seconds = _seconds(work, 5)
    return {
        "name": name,
        "size": f"{N_OBJECTS} x {N_MEMBERS}",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{compares / seconds / 1e9:.1f} G compares/s",
        "alternative": alternative,
        "ratio": None if their_seconds is None else their_seconds / seconds,
        "note": note,
    }


def _seconds(work, times):
    """Fastest of some runs."""
    fastest = np.inf
    for _ in range(times):
        start = time.perf_counter()
        work()
        fastest = min(fastest, time.perf_counter() - start)
    return fastest


if __name__ == "__main__":
    for case in cases():
        for threads in (1, 2):
            for row in case(threads):
                print(row)
