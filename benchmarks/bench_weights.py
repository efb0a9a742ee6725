"""Object weights and the weighted-object methods, against the obvious way in NumPy and SciPy."""

import json
import resource
import subprocess
import sys
import time
from functools import partial

import numpy as np
from scipy import sparse

from consilience.consensus._memberships import around_centres, stacked, weighted_centres
from consilience.consensus.soft import wosp
from consilience.consensus.weighted import womc
from consilience.datasets import make_gaussians
from consilience.ensemble import Ensemble
from consilience.evidence import co_association
from consilience.evidence.weights import object_weights
from consilience.generate import KMeansEnsemble
from consilience.kernels.kmeans.lac import lac
from consilience.partition import balanced_rows


def cases():
    """Cases of the driver that take seconds."""
    return [_against_the_matrix, _entropy, _sampled, _against_sparse_products, _lac]


def large_cases():
    """A million objects by fifty members; two hundred thousand with data."""
    return [_million_weights, *(_in_its_own_process(name) for name in _LARGE)]


def _against_the_matrix(threads):
    ensemble = _planted(10_000, 50, 20)
    seconds, found = _seconds(object_weights, ensemble, n_jobs=threads)
    theirs, wanted = _seconds(_by_matrix, ensemble, threads)
    assert np.allclose(found, wanted)
    yield _row("object weights", ensemble, threads, seconds, "n x n matrix, NumPy", theirs)


def _entropy(threads):
    ensemble = _planted(10_000, 50, 20)
    seconds, _ = _seconds(object_weights, ensemble, confusion="entropy", n_jobs=threads)
    theirs, _ = _seconds(_by_matrix, ensemble, threads, entropy=True)
    name = "object weights, entropy"
    yield _row(name, ensemble, threads, seconds, "n x n matrix, NumPy", theirs)


def _sampled(threads):
    ensemble = _planted(20_000, 50, 20)
    params = {"confusion": "entropy", "n_jobs": threads}
    theirs, exact = _seconds(object_weights, ensemble, **params)
    params |= {"n_samples": 500, "random_state": 0, "return_error": True}
    seconds, (found, error) = _seconds(object_weights, ensemble, **params)
    note = f"mean error {np.abs(found - exact).mean():.4f}, promised {error.mean():.4f}"
    name = "object weights, entropy, sampled"
    yield _row(name, ensemble, threads, seconds, "all pairs", theirs, note)


def _against_sparse_products(threads):
    if threads == 1:
        yield _weights_row(_planted(100_000, 50, 20), threads)


def _million_weights(threads):
    yield _weights_row(_planted(1_000_000, 50, 20), threads)


def _weights_row(ensemble, threads):
    seconds, found = _seconds(object_weights, ensemble, n_jobs=threads)
    theirs, wanted = _seconds(_by_sparse_products, ensemble)
    assert np.allclose(found, wanted)
    return _row("object weights", ensemble, threads, seconds, "SciPy product, NumPy", theirs)


def _million_womc(threads):
    ensemble = _planted(1_000_000, 50, 20)
    theirs, _ = _seconds(womc, ensemble, 20, weights=None, random_state=0, n_jobs=threads)
    seconds, _ = _seconds(womc, ensemble, 20, random_state=0, n_jobs=threads)
    yield _row("WOMC", ensemble, threads, seconds, "without weights", theirs, _peak())


def _large_wosp(threads, k=5):
    X, _ = make_gaussians(200_000, k, 10, separation=3.0, random_state=0)
    ensemble = KMeansEnsemble(20, k, max_samples=0.05, random_state=0).generate(X)
    wosp(ensemble.take(np.arange(9000)), 3, X=X[:9000], random_state=0)
    seconds, found = _seconds(wosp, ensemble, k, X=X, random_state=0, n_jobs=threads)
    memory = _peak()
    theirs, parts = _seconds(_all_columns, ensemble, X, k)
    note = f"{memory}; cut {found.objective / parts.cut:.9f} of the alternative's"
    yield _row("WOSP", ensemble, threads, seconds, f"all {20 * k} columns", theirs, note)


_LARGE = {
    "WOMC": _million_womc,
    "WOSP": _large_wosp,
    "WOSP of 20 clusters": partial(_large_wosp, k=20),
}


def _in_its_own_process(name):
    """A case whose peak of memory is its own."""

    def case(threads):
        command = [sys.executable, __file__, name, str(threads)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    return case


def _lac(threads):
    if threads > 1:
        return
    X, _ = make_gaussians(20_000, 10, 10, separation=4.0, random_state=0)
    lac(X[:100], X[:3], 0.1, 3)
    seconds, _ = _seconds(lac, X, X[:10], 0.1, 10)
    theirs, _ = _seconds(_lac_numpy, X, X[:10], 0.1, 10)
    yield {
        "name": "LAC, 10 iterations",
        "size": "20000 x 10, k=10",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{2 * 10 * X.size * 10 / seconds / 1e6:.0f} M differences/s",
        "alternative": "NumPy",
        "ratio": theirs / seconds,
        "note": "",
    }


def _planted(n, n_members, k):
    """Members that follow one truth in three labels of four: all rows differ."""
    rng = np.random.default_rng(0)
    truth = rng.integers(0, k, n, dtype=np.int8)
    members = np.empty((n_members, n), np.int8)
    for labels in members:
        wrong = rng.random(n) < 0.25
        labels[:] = np.where(wrong, rng.integers(0, k, n, dtype=np.int8), truth)
    small = Ensemble._trusted(members[:, :500].copy())
    for confusion in ("quadratic", "entropy"):  # compile
        object_weights(small, confusion=confusion)
    return Ensemble._trusted(members)


def _by_matrix(ensemble, threads, entropy=False):
    A = co_association(ensemble, n_jobs=threads)
    if entropy:
        inside = np.clip(A, 1e-12, 1 - 1e-12)
        confusion = -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside))
    else:
        confusion = 4 * A * (1 - A)
    return (confusion.mean(axis=1) + 0.01) / 1.01


def _by_sparse_products(ensemble):
    """The same identity with SciPy's product and NumPy's gathers."""
    R, n = ensemble.n_members, ensemble.n_objects
    B = ensemble.indicator().astype(np.float64)
    M = (sparse.csr_array(B.T) @ B).toarray()
    columns = ensemble.members.astype(np.int64) + ensemble.offsets()[:-1, None]
    first, second = np.zeros(n), np.zeros(n)
    for r in range(R):
        first += M[columns[r], columns[r]]
        for s in range(R):
            second += M[columns[r], columns[s]]
    return (4 / n * (first / R - second / R**2) + 0.01) / 1.01


def _all_columns(ensemble, X, k):
    weights = object_weights(ensemble)
    soft = around_centres(X, weighted_centres(ensemble, X, weights), None, "each")
    return balanced_rows(stacked(soft, unit=True, n_jobs=None), k, random_state=0)


def _lac_numpy(X, centres, inv_h, max_iter):
    weights = np.full(centres.shape, 1 / X.shape[1])
    k = len(centres)
    for _ in range(max_iter):
        labels = _nearest(X, centres, weights)
        for j in range(k):
            v = ((X[labels == j] - centres[j]) ** 2).mean(axis=0)
            raw = np.exp(-inv_h * (v - v.min()))
            weights[j] = raw / raw.sum()
        labels = _nearest(X, centres, weights)
        centres = np.stack([X[labels == j].mean(axis=0) for j in range(k)])
    return labels


def _nearest(X, centres, weights):
    squares = [((X - c) ** 2) @ w for c, w in zip(centres, weights, strict=True)]
    return np.argmin(squares, axis=0)


def _row(name, ensemble, threads, seconds, alternative, theirs, note=""):
    n, R = ensemble.n_objects, ensemble.n_members
    return {
        "name": name,
        "size": f"{n} x {R}, k={int(ensemble.n_clusters.max())}",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{n * R / seconds / 1e6:.1f} M labels/s",
        "alternative": alternative,
        "ratio": theirs / seconds,
        "note": note,
    }


def _peak():
    return (
        f"peak of the process {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.1f} GiB"
    )


def _seconds(function, *args, **kwargs):
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return time.perf_counter() - start, result


if __name__ == "__main__":
    for found in _LARGE[sys.argv[1]](int(sys.argv[2])):
        print(json.dumps(found))
