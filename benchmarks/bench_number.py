"""The number of clusters: how often it is found, and what it takes.

Mixtures of k = 2..10 Gaussians of unequal size and shape, their nearest centres 6 or 8 standard
deviations apart, in 2 to 20 dimensions; and data without groups. The alternative is the best
silhouette of scikit-learn's k-means over the same numbers, on the same data, which cannot
answer "none". Monti's consensus clustering is compared with the plain loop that many write: one
k-means of scikit-learn a resample, indicator products for the counts; both with the same number
of references.
"""

import itertools
import time

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from threadpoolctl import threadpool_limits

from consilience.consensus.monti import monticonsensus
from consilience.consensus.number import choose_n_clusters

SIZES = (200, 500, 1000)


def cases():
    """Cases of the driver."""
    return [_mixtures, _groupless, _thousand, _large, _monti]


def _mixtures(threads):
    if threads > 1:
        return
    rng = np.random.default_rng(2026)
    seconds = theirs = 0.0
    found, by_silhouette, criteria = 0, 0, {}
    plans = [(k, d) for k in range(2, 11) for d in (2, 5, 20)]
    for i, (k, d) in enumerate(plans):
        X = _mixture(rng, k, d, SIZES[i % 3], (6, 8)[i % 2])
        took, choice = _seconds(choose_n_clusters, X, random_state=i)
        seconds += took
        found += choice.clear and choice.n_clusters == k
        for one in choice.criteria:
            criteria[one.name] = criteria.get(one.name, 0) + (one.n_clusters == k)
        took, number = _seconds(_silhouette, X, i)
        theirs += took
        by_silhouette += number == k
    each = ", ".join(f"{name} {count}" for name, count in criteria.items())
    note = f"{found} right ({each}); silhouette {by_silhouette}"
    yield _row("number of clusters", f"{len(plans)} mixtures", 1, seconds, theirs, note)


def _groupless(threads):
    if threads > 1:
        return
    rng = np.random.default_rng(2027)
    silent, seconds, n_sets = 0, 0.0, 0
    for d in (1, 2, 5, 20):
        for n in (200, 1000):
            mixed = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
            for X in (rng.uniform(size=(n, d)), rng.normal(size=(n, d)), mixed):
                took, choice = _seconds(choose_n_clusters, X, random_state=n_sets)
                seconds, n_sets = seconds + took, n_sets + 1
                silent += not choice.clear
    note = f"'no clear structure' on {silent}: uniform, normal, correlated normal"
    yield _row("number of clusters, no groups", f"{n_sets} sets", 1, seconds, None, note)


def _thousand(threads):
    X = _mixture(np.random.default_rng(0), 6, 10, 1000, 6)
    choose_n_clusters(X[:100], random_state=0)
    seconds, choice = _seconds(choose_n_clusters, X, random_state=0, n_jobs=threads)
    theirs, number = _seconds(_silhouette, X, 0)
    note = f"{choice.n_clusters} clusters, silhouette {number}"
    yield _row("number of clusters", "1000 x 10", threads, seconds, theirs, note)


def _large(threads):
    for n, d in ((200_000, 10), (3_000, 2_000)):
        X = _mixture(np.random.default_rng(0), 6, d, n, 12)
        seconds, choice = _seconds(choose_n_clusters, X, random_state=0, n_jobs=threads)
        note = f"{choice.n_clusters} clusters, from {choice.n_objects} objects"
        yield _row("number of clusters", f"{n} x {d}", threads, seconds, None, note)


def _monti(threads):
    if threads > 1:
        return
    X = _mixture(np.random.default_rng(0), 5, 20, 1000, 6)
    monticonsensus(X[:100], (2, 3), n_resamples=5, random_state=0)
    for n_references in (0, 1):
        with threadpool_limits(1):
            options = {"n_references": n_references, "random_state": 0}
            seconds, _ = _seconds(monticonsensus, X, (2, 8), **options)
            theirs, _ = _seconds(_plain_monti, X, range(2, 9), 1 + n_references)
        size = f"1000 x 20, {n_references} references"
        row = _row("Monti, k 2..8, 100 resamples", size, 1, seconds, theirs, "")
        yield row | {"alternative": "plain loop, scikit-learn"}


def _plain_monti(X, numbers, n_copies, n_resamples=100):
    rng = np.random.RandomState(0)
    n, found = len(X), {}
    for k, _ in itertools.product(numbers, range(n_copies)):
        joined, seen = np.zeros((n, n)), np.zeros((n, n))
        for _ in range(n_resamples):
            drawn = rng.choice(n, int(0.8 * n), replace=False)
            start = rng.randint(2**31 - 1)
            labels = KMeans(k, n_init=1, random_state=start).fit_predict(X[drawn])
            one_hot, present = np.zeros((n, k)), np.zeros(n)
            one_hot[drawn, labels] = present[drawn] = 1
            joined += one_hot @ one_hot.T
            seen += np.outer(present, present)
        found[k] = joined / seen
    return found


def _mixture(rng, k, d, n, separation):
    """Gaussians of unequal size and shape, columns scaled to variance 1."""
    shares = np.maximum(rng.dirichlet(np.full(k, 3.0)), 0.25 / k)
    labels = rng.choice(k, n, p=shares / shares.sum())
    draws = (rng.uniform(-1, 1, (k, d)) for _ in range(100))
    centres = max(draws, key=lambda one: _nearest(one))
    widths = rng.uniform(0.5, 1.0, (k, d))
    X = centres[labels] * separation / _nearest(centres) + rng.normal(size=(n, d)) * widths[labels]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def _nearest(centres):
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    return distances[~np.eye(len(centres), dtype=bool)].min()


def _silhouette(X, seed):
    scores = {
        k: silhouette_score(X, KMeans(k, n_init=10, random_state=seed).fit_predict(X))
        for k in range(2, 16)
    }
    return max(scores, key=lambda k: scores[k])


def _seconds(function, *args, **kwargs):
    start = time.perf_counter()
    found = function(*args, **kwargs)
    return time.perf_counter() - start, found


def _row(name, size, threads, seconds, theirs, note):
    return {
        "name": name,
        "size": size,
        "threads": threads,
        "seconds": seconds,
        "rate": "",
        "alternative": None if theirs is None else "k-means and silhouette",
        "ratio": None if theirs is None else theirs / seconds,
        "note": note,
    }
