"""Single and average link without the matrix: seconds and peak memory, SciPy where it fits.

Every measurement runs in a process of its own, so that its peak memory is its own. The peak
includes the interpreter, the libraries and the labels.
"""

import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
from scipy.cluster.hierarchy import linkage

from consilience.kernels.links.chain import average_link
from consilience.kernels.links.prim import single_link
from consilience.kernels.pairs.counts import count_pairs_condensed

N_MEMBERS = 100


def cases():
    """Cases of the driver; the kernels are serial, so they answer for one thread only."""
    return [_against_scipy, _matrix_free]


def large_cases():
    """Cases of about a minute or more."""
    return [_matrix_free_large]


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


def _against_scipy(threads, n=10_000):
    if threads > 1:
        return
    for method in ("single", "average"):
        for unseen in (0.0, 0.1):
            ours, theirs = _measure(method, n, unseen), _measure(f"scipy {method}", n, unseen)
            yield _row(method, n, unseen, ours, theirs)


def _matrix_free(threads):
    if threads > 1:
        return
    for method, n in (("average", 20_000), ("average", 50_000), ("single", 100_000)):
        yield _row(method, n, 0.0, _measure(method, n, 0.0))


def _matrix_free_large(threads):
    if threads > 1:
        return
    for method, n, unseen in (
        ("average", 50_000, 0.1),
        ("average", 100_000, 0.0),
        ("single", 100_000, 0.1),
    ):
        yield _row(method, n, unseen, _measure(method, n, unseen))


def _row(method, n, unseen, ours, theirs=None):
    pairs = n * (n - 1) / 2
    note = f"peak {ours['peak_mib']:.0f} MiB"
    if theirs is None:
        note += f"; the matrix would take {pairs * 8 / 2**30:.1f} GiB"
    else:
        note += f", SciPy {theirs['peak_mib']:.0f} MiB"
    return {
        "name": f"{method} link" + (f", {unseen:.0%} unseen" if unseen else ""),
        "size": f"{n} x {N_MEMBERS}",
        "threads": 1,
        "seconds": ours["seconds"],
        "rate": f"{pairs * N_MEMBERS / ours['seconds'] / 1e9:.1f} G compares/s",
        "alternative": None if theirs is None else "SciPy on the matrix",
        "ratio": None if theirs is None else theirs["seconds"] / ours["seconds"],
        "note": note,
    }


def _measure(method, n, unseen):
    """Seconds and peak memory of one tree, in a fresh process on one thread."""
    command = [sys.executable, __file__, method, str(n), str(unseen)]
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    done = subprocess.run(command, env=os.environ | one, check=True, capture_output=True)
    return json.loads(done.stdout)


def _work(method, n, unseen):
    """What the fresh process does; the first, small call compiles."""
    members = make_members(n, unseen=unseen)
    build = {"single": _single, "average": _average}.get(method, _scipy)
    build(np.ascontiguousarray(members[:, :300]), method)
    start = time.perf_counter()
    build(members, method)
    seconds = time.perf_counter() - start
    # Linux counts in KiB, macOS in bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps({"seconds": seconds, "peak_mib": peak}))


def _single(members, _):
    return single_link(members, missing="pair")


def _average(members, _):
    return average_link(members, missing="pair")


def _scipy(members, method):
    """SciPy's tree; its distances come from our counts, which is the fastest way to them."""
    joined, seen = count_pairs_condensed(members, with_seen=bool((members == -2).any()))
    distances = joined / (len(members) if seen is None else np.maximum(seen, 1))
    np.subtract(1.0, distances, out=distances)
    return linkage(distances, method.removeprefix("scipy "))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        _work(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]))
    else:
        for case in cases() + (large_cases() if "--large" in sys.argv else []):
            for row in case(1):
                print(row, flush=True)
