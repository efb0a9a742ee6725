"""EWOCS: scores over many weak clusterings, against the obvious way in NumPy and SciPy."""

import resource
import time

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from consilience.minority.divergences import resolve
from consilience.minority.ewocs import EWOCS
from consilience.minority.scores import score_objects
from consilience.minority.weak import weak_clusterer


def cases():
    """Cases of the driver that take seconds."""
    return [_soft, _soft_single, _hard, _split, _sparse, _predict]


def large_cases():
    """A million objects by a hundred repetitions."""
    return [_million]


def _soft(threads):
    yield _against_numpy("EW-SRBC", "soft", _by_softmax, np.float64, threads)


def _soft_single(threads):
    yield _against_numpy("EW-SRBC, float32", "soft", _by_softmax, np.float32, threads)


def _hard(threads):
    yield _against_numpy("EW-HRBC", "hard", _by_nearest, np.float64, threads)


def _split(threads):
    yield _against_numpy("EW-RSPLIT", "split", _by_planes, np.float64, threads)


def _against_numpy(name, kind, theirs, dtype, threads):
    X, R = _uniform(10_000, 8).astype(dtype), 100
    weak = weak_clusterer(kind, divergence="gaussian", k_max=100).fit(X)
    score_objects(X[:600], weak, 2)
    seconds, found = _best(score_objects, X, weak, R, n_jobs=threads)
    with threadpool_limits(threads):
        other, _ = _best(theirs, X, weak, R)
        bare, _ = _best(_bare_products, X, weak, R)
    # The obvious way in single precision is no reference: it sums in single precision as well.
    wanted = theirs(X.astype(np.float64), weak, R)
    assert np.allclose(found.scores, wanted, rtol=1e-9 if dtype == np.float64 else 1e-5)
    note = f"{seconds / bare:.1f} x the bare matrix products ({bare:.3g} s)"
    size = f"10,000 x 8, {R} x 100"
    return _row(name, size, len(X) * R, threads, seconds, "NumPy", other, note)


def _sparse(threads):
    n, d, R = 100_000, 1_000, 10
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, d), density=20 / d, rng=rng, format="csr")
    weak = weak_clusterer("soft", divergence=resolve("gaussian", gamma=1.0), k_max=100).fit(X)
    score_objects(X[:600], weak, 2)
    seconds, found = _seconds(score_objects, X, weak, R, n_jobs=threads)
    other, wanted = _seconds(_by_sparse_softmax, X, weak, R)
    assert np.allclose(found.scores, wanted, rtol=1e-8)
    size = f"100,000 x 1,000, 20 a row, {R} x 100"
    yield _row("EW-SRBC, CSR", size, n * R, threads, seconds, "SciPy, NumPy", other, _peak())


def _predict(threads):
    X = _uniform(10_000, 8)
    model = EWOCS(n_repetitions=100, random_state=0, n_jobs=threads)
    fit, _ = _seconds(model.fit, X)
    seconds, _ = _seconds(model.predict, X)
    size = "10,000 x 8, 100 x 100"
    yield _row("EWOCS.predict", size, len(X) * 100, threads, seconds, "fit", fit)


def _million(threads):
    n, d, R = 1_000_000, 20, 100
    X = _uniform(n, d)
    weak = weak_clusterer("soft", divergence="gaussian", k_max=100)
    score_objects(X[:600], weak, 2)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    seconds, _ = _seconds(score_objects, X, weak, R, n_jobs=threads)
    more = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 2**20
    part, _ = _seconds(_by_softmax, X[: n // 20], weak.fit(X[: n // 20]), R // 10)
    note = f"{more:.2f} GiB beside the data; NumPy on a 200th, scaled"
    size = f"1,000,000 x 20, {R} x 100"
    yield _row("EW-SRBC", size, n * R, threads, seconds, "NumPy", 200 * part, note)


def _by_softmax(X, weak, R):
    """Algorithm 1 with soft random Bregman clustering, as one would write it."""
    total = np.zeros(len(X))
    lengths = (X**2).sum(axis=1)
    for r in range(R):
        S = X[weak.draw(0, r).rows]
        distances = np.maximum(lengths[:, None] + (S**2).sum(axis=1) - 2 * X @ S.T, 0)
        D = 20 * (1 - np.exp(-10 * distances))
        G = np.exp(-D)
        G /= G.sum(axis=1, keepdims=True)
        total += G @ G.sum(axis=0)
    return total / R / len(X)


def _by_nearest(X, weak, R):
    total = np.zeros(len(X))
    for r in range(R):
        S = X[weak.draw(0, r).rows]
        labels = ((S**2).sum(axis=1) - 2 * X @ S.T).argmin(axis=1)
        total += np.bincount(labels)[labels]
    return total / R / len(X)


def _by_planes(X, weak, R):
    total = np.zeros(len(X))
    for r in range(R):
        planes = weak.draw(0, r).planes
        labels = (X @ planes[:, :-1].T + planes[:, -1]).argmax(axis=1)
        total += np.bincount(labels)[labels]
    return total / R / len(X)


def _by_sparse_softmax(X, weak, R):
    total = np.zeros(X.shape[0])
    lengths = np.asarray(X.multiply(X).sum(axis=1)).ravel()
    for r in range(R):
        S = X[weak.draw(0, r).rows]
        products = X @ S.T.toarray()
        own = np.asarray(S.multiply(S).sum(axis=1)).ravel()
        D = 20 * (1 - np.exp(-np.maximum(lengths[:, None] + own - 2 * products, 0)))
        G = np.exp(-D)
        G /= G.sum(axis=1, keepdims=True)
        total += G @ G.sum(axis=0)
    return total / R / X.shape[0]


def _bare_products(X, weak, R):
    """The seeds of every repetition times the objects, nothing else."""
    for r in range(R):
        draw = weak.draw(0, r)
        S = X[draw.rows] if draw.rows is not None else draw.planes[:, :-1].astype(X.dtype)
        for start in range(0, len(X), 512):
            S @ X[start : start + 512].T


def _uniform(n, d):
    return np.random.default_rng(0).uniform(-2, 2, (n, d))


def _best(function, *args, **kwargs):
    """The shortest of three: other programs only ever make it longer."""
    runs = [_seconds(function, *args, **kwargs) for _ in range(3)]
    return min(runs, key=lambda run: run[0])


def _seconds(function, *args, **kwargs):
    start = time.perf_counter()
    found = function(*args, **kwargs)
    return time.perf_counter() - start, found


def _peak():
    return f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB"


def _row(name, size, work, threads, seconds, alternative, theirs, note=""):
    return {
        "name": name,
        "size": size,
        "threads": threads,
        "seconds": seconds,
        "rate": f"{work / seconds / 1e6:.3g} M objects x repetitions/s",
        "alternative": alternative,
        "ratio": theirs / seconds,
        "note": note,
    }
