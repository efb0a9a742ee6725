"""Models of the label table, factorisations and k-means forms, against the plain way.

The plain way is what the same method costs without collapsed rows and tables: scikit-learn's
k-means on the sparse one-hot matrix, EM by sparse products, a factorisation of the dense
co-association, a completion of the full matrix.
"""

import resource
import sys
import time
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from consilience import Ensemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.completion import _co_association, complete
from consilience.consensus.factorisation import factorise, make_target, start_factors
from consilience.consensus.kmeans_forms import kcc, sec
from consilience.consensus.mixtures import bce, fit_mixture


def cases():
    """Cases of the driver."""
    return [_kmeans_forms, _mixture, _bce, _factorisation, _completion]


def large_cases():
    """The sizes of the issue: each under 120 s and 6 GiB on two cores."""
    return [_sec_million, _kcc_million]


def _planted(n, n_members, k, seed=0, wrong=0.3):
    """An ensemble of k groups with a share of random labels, and the groups."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    members = np.empty((n_members, n), np.int8)
    for r in range(n_members):
        off = rng.random(n) < wrong
        members[r] = rng.permutation(k)[np.where(off, rng.integers(0, k, n), truth)]
    return Ensemble._trusted(members), truth


def _kmeans_forms(threads):
    n, n_members, k, n_init = 100_000, 20, 10, 4
    ensemble, truth = _planted(n, n_members, k)
    one_hot = ensemble.indicator().astype(np.float64)
    # scikit-learn's k-means takes 32-bit indices only.
    one_hot.indices, one_hot.indptr = (
        a.astype(np.int32) for a in (one_hot.indices, one_hot.indptr)
    )
    model = KMeans(k, init="random", n_init=n_init, max_iter=100, tol=0.0, random_state=0)
    with threadpool_limits(threads):
        theirs, _ = _seconds(model.fit, one_hot)
    small, _ = _planted(500, n_members, k)
    for name, function, params in (
        ("kcc, category utility", kcc, {"utility": "c"}),
        ("kcc, mutual information", kcc, {"utility": "h"}),
        ("sec", sec, {}),
    ):
        params = {**params, "n_init": n_init, "random_state": 0, "n_jobs": threads}
        function(small, k, **params)
        seconds, found = _seconds(function, ensemble, k, **params)
        score = adjusted_rand_score(truth, found.labels)
        own = adjusted_rand_score(truth, model.labels_)
        yield {
            "name": name,
            "size": f"{n} x {n_members}, k={k}, {n_init} runs",
            "threads": threads,
            "seconds": seconds,
            "rate": f"{n * n_members * n_init / seconds / 1e6:.0f} M labels/s",
            "alternative": "KMeans on one-hot rows",
            "ratio": theirs / seconds,
            "note": f"ARI {score:.2f}, KMeans {own:.2f}",
        }


def _mixture(threads):
    if threads > 1:
        return
    n, n_members, k, n_iter = 50_000, 20, 10, 10
    ensemble, _ = _planted(n, n_members, k)
    rows = distinct_rows(ensemble)
    fit_mixture(distinct_rows(_planted(300, n_members, k)[0]), k, 0, 2, 0.0, 1e-6)
    seconds, fit = _seconds(fit_mixture, rows, k, 0, n_iter, 0.0, 1e-6)
    theirs, _ = _seconds(_plain_em, ensemble, k, len(fit.path))
    yield _row("mixture, passes of EM", n, n_members, k, seconds, "sparse products", theirs,
               f"{len(fit.path)} passes")  # fmt: skip


def _plain_em(ensemble, k, n_iter):
    """EM by products with the sparse one-hot matrix, as in the formulas."""
    B = ensemble.indicator().astype(np.float64)
    starts = ensemble.offsets()
    rho = np.random.default_rng(0).dirichlet(np.ones(k), ensemble.n_objects)
    for _ in range(n_iter):
        theta = B.T @ rho + 1e-6
        for a, z in pairwise(starts):
            theta[a:z] /= theta[a:z].sum(axis=0)
        logs = np.log(rho.mean(axis=0)) + B @ np.log(theta)
        rho = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    return rho


def _bce(threads):
    n, n_members, k = 20_000, 20, 10
    ensemble, truth = _planted(n, n_members, k)
    bce(_planted(300, n_members, k)[0], k, n_init=2, random_state=0)
    seconds, found = _seconds(bce, ensemble, k, n_init=2, random_state=0, n_jobs=threads)
    score = adjusted_rand_score(truth, found.labels)
    yield {
        "name": "bce",
        "size": f"{n} x {n_members}, k={k}, 2 runs",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{n * n_members * found.n_iter / seconds / 1e6:.2f} M labels/s",
        "alternative": None,
        "ratio": None,
        "note": f"{found.n_iter} rounds of the best run, ARI {score:.2f}; no peer installed",
    }


def _factorisation(threads):
    if threads > 1:
        return
    n, n_members, k, n_iter = 3000, 20, 5, 20
    ensemble, truth = _planted(n, n_members, k)
    rows = distinct_rows(ensemble)
    labels = np.empty(rows.n_rows, np.int32)
    labels[rows.inverse] = truth
    weights = np.full(n_members, 1 / n_members)
    small = distinct_rows(_planted(300, n_members, k)[0])
    _fit(small, weights, np.arange(small.n_rows, dtype=np.int32) % k, k, 2)
    with threadpool_limits(1):
        seconds, found = _seconds(_fit, rows, weights, labels, k, n_iter)
        theirs, path = _seconds(_plain_nmf, ensemble, labels[rows.inverse], k, n_iter)
    note = f"distance {found.path[-1] / path:.6f} of the dense one's"
    yield _row("nmf, updates", n, n_members, k, seconds, "dense matrix", theirs, note)


def _fit(rows, weights, labels, k, n_iter):
    target = make_target(rows)
    start = start_factors(target, weights, labels, k)
    return factorise(target, weights, start, max_iter=n_iter, tol=0.0)


def _plain_nmf(ensemble, labels, k, n_iter):
    """The same updates on the co-association itself."""
    B = ensemble.indicator().astype(np.float64)
    M = (B @ B.T).toarray() / ensemble.n_members
    sizes = np.bincount(labels, minlength=k)
    H = (np.eye(k)[labels] + 0.2) / np.sqrt(sizes)
    S = np.diag(np.diag(H.T @ M @ H))
    for _ in range(n_iter):
        X = M @ H @ S
        H = H * np.sqrt(X / np.maximum(H @ (H.T @ X), 1e-12))
        HH = H.T @ H
        S = S * np.sqrt((H.T @ M @ H) / np.maximum(HH @ S @ HH, 1e-12))
    return ((M - H @ S @ H.T) ** 2).sum()


def _completion(threads):
    if threads > 1:
        return
    n, n_members, k = 600, 6, 3
    ensemble, _ = _planted(n, n_members, k, wrong=0.1)
    rows = distinct_rows(ensemble)
    A, _ = _co_association(rows, None)
    where = (A <= 0.2) | (A >= 0.8)
    known = np.where(A >= 0.8, 1.0, 0.0)
    grid = np.ix_(rows.inverse, rows.inverse)
    price = 2 / np.sqrt(n)
    with threadpool_limits(1):
        seconds, found = _seconds(complete, known, where, rows.counts, price)
        ones = np.ones(n, np.int64)
        theirs, full = _seconds(complete, known[grid], where[grid], ones, price)
    note = (
        f"{rows.n_rows} rows, objective {found.objective / full.objective:.12f} of the full one's"
    )
    yield _row("ecmc, completion", n, n_members, k, seconds, "all objects", theirs, note)


def _sec_million(threads):
    yield _million("sec", sec, {}, threads)


def _kcc_million(threads):
    for utility in ("h", "c"):
        yield _million(f"kcc, utility {utility}", kcc, {"utility": utility}, threads)


def _million(name, function, params, threads):
    n, n_members, k = 1_000_000, 50, 20
    ensemble, truth = _planted(n, n_members, k)
    function(_planted(500, n_members, k)[0], k, n_init=2, random_state=0, **params)
    start = time.process_time()
    seconds, found = _seconds(function, ensemble, k, random_state=0, n_jobs=threads, **params)
    cpu = time.process_time() - start
    scale = 2**30 if sys.platform == "darwin" else 2**20
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
    score = adjusted_rand_score(truth, found.labels)
    return {
        "name": name,
        "size": f"{n} x {n_members}, k={k}, 10 runs",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{n * n_members * 10 / seconds / 1e6:.0f} M labels/s",
        "alternative": None,
        "ratio": None,
        "note": f"ARI {score:.3f}, {cpu:.0f} s of processor time, process peak {peak:.1f} GiB",
    }


def _row(name, n, n_members, k, seconds, alternative, theirs, note):
    return {
        "name": name,
        "size": f"{n} x {n_members}, k={k}",
        "threads": 1,
        "seconds": seconds,
        "rate": f"{n * n_members / seconds / 1e6:.2f} M labels/s",
        "alternative": alternative,
        "ratio": theirs / seconds,
        "note": note,
    }


def _seconds(function, *args, **kwargs):
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return time.perf_counter() - start, result
