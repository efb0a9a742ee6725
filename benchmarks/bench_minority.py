"""EWOCS: scores over many weak clusterings, against the obvious way in NumPy and SciPy.

The obvious way takes a repetition at a time: one matrix product of all objects and seeds, the
distances, the kernel and the grades as array expressions, and two sums. Its matrix products may
have one thread or all, whichever is faster. Beside it stands the time of the matrix products alone
on one thread, with the objects laid out as we do: on one thread no way by BLAS can take less.
"""

import resource
import time

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from consilience.minority.divergences import resolve
from consilience.minority.ewocs import EWOCS
from consilience.minority.scores import in_blocks, score_objects
from consilience.minority.weak import weak_clusterer


def cases():
    """Cases of the driver that take seconds."""
    return [_soft, _soft_single, _hard, _split, _sparse, _predict]


def large_cases():
    """A million objects by a hundred repetitions."""
    return [_million, _million_single]


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
    with threadpool_limits(1):
        other, _ = _best(theirs, X, weak, R)
        bare, _ = _best(_bare_products, *_both_sides(X, weak, R))
    if threads > 1:
        # On a busy machine BLAS loses more by waiting for its threads than they gain.
        with threadpool_limits(threads):
            other = min(other, _best(theirs, X, weak, R)[0])
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
    yield _at_scale("EW-SRBC", np.float64, threads)


def _million_single(threads):
    yield _at_scale("EW-SRBC, float32", np.float32, threads)


def _at_scale(name, dtype, threads):
    n, d, R = 1_000_000, 20, 100
    X = _uniform(n, d).astype(dtype)
    weak = weak_clusterer("soft", divergence="gaussian", k_max=100)
    score_objects(X[:600], weak, 2)
    seconds, _ = _seconds(score_objects, X, weak, R, n_jobs=threads)
    # Of the whole process, whatever it did before.
    note = f"{_peak()}, of it data {X.nbytes / 2**30:.2f}; NumPy on a 200th, scaled"
    part, _ = _seconds(_by_softmax, X[: n // 20], weak.fit(X[: n // 20]), R // 10)
    size = f"1,000,000 x 20, {R} x 100"
    return _row(name, size, n * R, threads, seconds, "NumPy", 200 * part, note)


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


def _both_sides(X, weak, R):
    """Seeds of every repetition, and blocks of objects."""
    models = [weak.model(X, weak.draw(0, r)) for r in range(R)]
    return weak, models, in_blocks(weak, X)


def _bare_products(weak, models, parts):
    """The seeds of every repetition times the objects, nothing else."""
    for model in models:
        k = len(model.offset)
        out = np.empty((k, len(parts[0].offset)), model.offset.dtype)
        for part in parts:
            weak.products(part, model, out[:, : len(part.offset)])


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
