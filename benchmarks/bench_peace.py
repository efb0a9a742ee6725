"""PEACE, BaumEagon and DyadicAspect against the plain numpy reading of the PEACE paper.

The plain reading keeps A = Y Y^T and the gradient of all objects, looks for the worst object,
bisects along its line and updates both by the paper's formulas (with the two signs put right):
numpy throughout, no collapsed objects. Ratios compare runs from the same start to the same
tolerance where that takes seconds; for ten starts on 1,000 objects the plain reading's time is
that of some of its steps, times the steps it would need.
"""

import resource
import sys
import time

import numpy as np
from sklearn.metrics import adjusted_rand_score

from consilience.consensus._peace_fits import fit_peace
from consilience.consensus._peace_pairs import make_pairs
from consilience.consensus.baum_eagon import baumeagon
from consilience.consensus.dyadic import dyadicaspect
from consilience.consensus.peace import peace
from consilience.generate import KMeansEnsemble
from consilience.kernels.pairs.counts import count_pairs


def cases():
    """Cases of the driver."""
    return [_to_tolerance, _ten_starts, _relatives]


def large_cases():
    """10,000 objects, under 4 GiB: with the matrix of counts, and with rows from labels."""
    return [_ten_thousand]


def _blobs(n, n_members, k, seed=0):
    """k-means on overlapping groups; every member sees nine objects in ten."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    X = rng.normal(size=(k, 10))[truth] * 2 + rng.normal(size=(n, 10))
    generator = KMeansEnsemble(
        n_members, (k - 2, k + 6), max_samples=0.9, assign="unseen", random_state=seed
    )
    return generator.generate(X), truth


def _to_tolerance(threads):
    if threads > 1:
        return
    n, n_members, k, tol = 300, 50, 5, 1e-3
    ensemble, _ = _blobs(n, n_members, k)
    pairs = make_pairs(ensemble, 2**32)
    start = np.random.default_rng(0).dirichlet(np.ones(k), pairs.n_groups) * 0.999 + 0.001 / k
    theirs, plain = _seconds(_plain, ensemble, start[pairs.inverse], tol, 100 * n)
    for solver in ("pair", "growth"):
        how = {"solver": solver, "rates": None, "tol": tol, "max_sweeps": 1000}
        fit_peace(pairs, start, max_iter=5, **how)
        seconds, fit = _seconds(fit_peace, pairs, start, max_iter=100 * n, **how)
        yield {
            "name": f"peace, {solver}, one start",
            "size": f"{n} x {n_members}, k={k}",
            "threads": 1,
            "seconds": seconds,
            "rate": f"{fit.steps / seconds:.0f} pair steps/s",
            "alternative": "the paper in numpy",
            "ratio": theirs / seconds,
            "note": f"{fit.steps} pair steps, theirs {plain[1]}; log-likelihood "
            f"{fit.objective:.2f}, theirs {_likelihood(*plain[2:], plain[0]):.2f}",
        }


def _ten_starts(threads):
    n, n_members, k = 1000, 100, 10
    ensemble, truth = _blobs(n, n_members, k)
    peace(_blobs(60, n_members, 3)[0], 3, n_init=2, random_state=0)
    start = np.random.default_rng(0).dirichlet(np.ones(k), n) * 0.999 + 0.001 / k
    some = 200
    theirs, _ = _seconds(_plain, ensemble, start, 0.0, some)
    published = peace(ensemble, k, solver="pair", init="dirichlet", n_init=2, random_state=0)
    steps = published.details["pair_steps"]
    for name, params in (("growth, then pair", {}), ("pair", {"solver": "pair"})):
        seconds, found = _seconds(peace, ensemble, k, random_state=0, n_jobs=threads, **params)
        score = adjusted_rand_score(truth, found.labels)
        yield {
            "name": f"peace, {name}",
            "size": f"{n} x {n_members}, k={k}, 10 starts",
            "threads": threads,
            "seconds": seconds,
            "rate": f"{seconds / 10:.2f} s/start",
            "alternative": "the paper in numpy",
            "ratio": 10 * steps * theirs / some / seconds,
            "note": f"ARI {score:.3f}, gap {found.details['gap']:.0e}; theirs by {some} steps of "
            f"{1e3 * theirs / some:.2f} ms, {steps} needed for one start",
        }


def _relatives(threads):
    n, n_members, k = 1000, 100, 10
    ensemble, truth = _blobs(n, n_members, k)
    for name, function in (("BaumEagon", baumeagon), ("DyadicAspect", dyadicaspect)):
        function(_blobs(60, n_members, 3)[0], 3, n_init=2, random_state=0)
        seconds, found = _seconds(function, ensemble, k, n_init=4, random_state=0, n_jobs=threads)
        yield {
            "name": name,
            "size": f"{n} x {n_members}, k={k}, 4 starts",
            "threads": threads,
            "seconds": seconds,
            "rate": f"{seconds / 4:.2f} s/start",
            "alternative": None,
            "ratio": None,
            "note": f"ARI {adjusted_rand_score(truth, found.labels):.3f}; no peer installed",
        }


def _ten_thousand(threads):
    if threads == 1:  # minutes each: once is enough
        return
    n, n_members, k = 10_000, 100, 10
    ensemble, truth = _blobs(n, n_members, k)
    peace(_blobs(60, n_members, 3)[0], 3, n_init=2, random_state=0)
    for name, memory in (("rows from labels", "64 MiB"), ("matrix of counts", "4 GiB")):
        params = {"n_init": 1, "init": "dirichlet", "max_memory": memory, "n_jobs": threads}
        seconds, found = _seconds(peace, ensemble, k, random_state=0, **params)
        scale = 2**30 if sys.platform == "darwin" else 2**20
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
        yield {
            "name": f"peace, {name}",
            "size": f"{n} x {n_members}, k={k}, 1 start",
            "threads": threads,
            "seconds": seconds,
            "rate": f"{n / seconds:.0f} objects/s",
            "alternative": None,
            "ratio": None,
            "note": f"ARI {adjusted_rand_score(truth, found.labels):.3f}, "
            f"{found.details['sweeps']} sweeps, {found.details['pair_steps']} pair steps, "
            f"gap {found.details['gap']:.0e}, process peak {peak:.2f} GiB",
        }


# ---- the paper, line by line ----------------------------------------------------------------


def _plain(ensemble, Y, tol, max_iter):
    """Algorithm 1 of the paper with its signs put right; columns, steps, counts."""
    joined, seen = count_pairs(np.ascontiguousarray(ensemble.members), with_seen=True)
    C, N = joined.astype(float), seen.astype(float)
    np.fill_diagonal(C, 0.0)
    np.fill_diagonal(N, 0.0)
    D, Y = N.sum(axis=1), Y.T.copy()
    A = Y.T @ Y
    g = Y @ _pull(C, N, A).T
    steps = 0
    while steps < max_iter:
        U = g.argmax(axis=0)
        V = np.where(Y > 0, g, np.inf).argmin(axis=0)
        gaps = (g[U, np.arange(len(D))] - g[V, np.arange(len(D))]) / D
        J = gaps.argmax()
        if gaps[J] <= tol:
            break
        steps += 1
        d = Y[U[J]] - Y[V[J]]
        d[J] = 0.0
        step = _bisect(A[J], d, C[J], N[J], Y[V[J], J])
        old_y, old_a = Y[:, J].copy(), A[J].copy()
        Y[U[J], J] += step
        Y[V[J], J] = 0.0 if step == old_y[V[J]] else old_y[V[J]] - step
        A[J] += step * d
        A[:, J] = A[J]
        A[J, J] = Y[:, J] @ Y[:, J]
        new, old = _pull(C[J], N[J], A[J]), _pull(C[J], N[J], old_a)
        g += np.outer(Y[:, J], new) - np.outer(old_y, old)
        g[:, J] = Y @ new
    return Y.T, steps, C, N


def _pull(c, n, a):
    """c / a - (n - c) / (1 - a), kept finite: without that the plain reading leaves the domain."""
    return c / np.maximum(a, 1e-14) - (n - c) / np.maximum(1 - a, 1e-14)


def _bisect(a, d, c, n, mass):
    """Zero of rho on [0, mass] by 40 halvings, the left end."""

    def rho(e):
        return (d * _pull(c, n, a + e * d)).sum()

    if rho(mass) >= 0:
        return mass
    low, high = 0.0, mass
    for _ in range(40):
        here = (low + high) / 2
        low, high = (here, high) if rho(here) > 0 else (low, here)
    return low


def _likelihood(C, N, Y):
    p = np.clip(Y @ Y.T, 1e-300, 1 - 1e-16)
    return float(np.triu(C * np.log(p) + (N - C) * np.log1p(-p), 1).sum())


def _seconds(function, *args, **kwargs):
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return time.perf_counter() - start, result
