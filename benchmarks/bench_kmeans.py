"""Many k-means at once against a loop over scikit-learn, on the same data, k and tolerance."""

import time
from functools import partial

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans, MiniBatchKMeans, kmeans_plusplus
from threadpoolctl import threadpool_limits

from consilience.kernels.kmeans.many import many_kmeans
from consilience.kernels.kmeans.minibatch import many_minibatch_kmeans
from consilience.kernels.kmeans.start import plusplus_start, random_start


def cases():
    """Cases of the driver. In the first scikit-learn draws its own starts, then it has ours."""
    return [
        partial(_lloyd, own_starts=True),
        partial(_lloyd, tol=1e-4),
        partial(_lloyd, k=(50, 100), n_members=20, name="k-means, k about the root of n"),
        _sub_sampled,
        partial(_lloyd, n=100_000, d=20, n_members=20, times=1, name="k-means, larger"),
        _minibatch,
        _spread_starts,
    ]


def make_data(n, d, seed=0):
    """Twelve groups of different width, and one object in five from uniform noise."""
    rng = np.random.default_rng(seed)
    groups, widths = rng.uniform(-10, 10, (12, d)), rng.uniform(0.5, 2.0, 12)
    which = rng.integers(0, 12, n)
    X = groups[which] + widths[which, None] * rng.normal(size=(n, d))
    return np.where(rng.random((n, 1)) < 0.2, rng.uniform(-14, 14, (n, d)), X)


def _lloyd(
    threads,
    n=10_000,
    d=10,
    n_members=100,
    k=(2, 30),
    tol=0.0,
    times=3,
    own_starts=False,
    name="k-means, k 2 to 30",
):
    X, rng = make_data(n, d), np.random.default_rng(1)
    sizes = rng.integers(k[0], k[1] + 1, n_members)
    starts = [X[random_start(rng, n, size)] for size in sizes]

    def ours(some):
        return many_kmeans(X, [starts[m] for m in some], tol=tol).inertia

    def theirs(m):
        options = {"init": "random" if own_starts else starts[m], "n_init": 1, "max_iter": 100}
        return KMeans(int(sizes[m]), **options, tol=tol, random_state=m).fit(X).inertia_

    yield _compare(f"{name}, tol {tol:g}", X, sizes, threads, ours, theirs, times)


def _sub_sampled(threads, n=10_000, d=10, n_members=100):
    """Half the members on 70 % of the objects, half on 70 % of the features; all get labels."""
    X, rng = make_data(n, d), np.random.default_rng(2)
    sizes = rng.integers(2, 31, n_members)
    rows = [np.sort(rng.choice(n, 7 * n // 10, replace=False)) for _ in sizes]
    features = [np.sort(rng.choice(d, 7 * d // 10, replace=False)) for _ in sizes]
    for m in range(n_members):
        (rows if m % 2 else features)[m] = None
    starts = []
    for m, size in enumerate(sizes):
        chosen = random_start(rng, n if rows[m] is None else rows[m], size)
        starts.append(X[chosen] if features[m] is None else X[np.ix_(chosen, features[m])])

    def ours(some):
        picked = ([part[m] for m in some] for part in (starts, rows, features))
        own_starts, own_rows, own_features = picked
        return many_kmeans(X, own_starts, rows=own_rows, features=own_features).inertia

    def theirs(m):
        own = X if features[m] is None else np.ascontiguousarray(X[:, features[m]])
        options = {"init": starts[m], "n_init": 1, "max_iter": 100, "tol": 0.0}
        model = KMeans(int(sizes[m]), **options)
        if rows[m] is not None:
            model.fit(own[rows[m]]).predict(own)
        else:
            model.fit(own)
        return model.inertia_

    yield _compare("k-means, 70 % rows or features", X, sizes, threads, ours, theirs, 3)


def _minibatch(threads, n=10_000, d=10, n_members=40):
    X, rng = make_data(n, d), np.random.default_rng(3)
    sizes = rng.integers(50, 101, n_members)
    starts = [X[random_start(rng, n, size)] for size in sizes]
    batches = [rng.integers(0, n, (100, 100)) for _ in sizes]

    def ours(some):
        picked = ([part[m] for m in some] for part in (starts, batches))
        return many_minibatch_kmeans(X, *picked).inertia

    def theirs(m):
        # One epoch of 100 batches of 100, none of its stopping and reassignment rules.
        options = {"init": "random", "n_init": 1, "max_iter": 1, "batch_size": 100, "tol": 0.0}
        extra = {"max_no_improvement": None, "reassignment_ratio": 0.0, "random_state": m}
        return MiniBatchKMeans(int(sizes[m]), **options, **extra).fit(X).inertia_

    yield _compare("mini-batch, 100 x 100, k 50 to 100", X, sizes, threads, ours, theirs, 2)


def _spread_starts(threads, n=10_000, d=10, n_members=20):
    if threads > 1:
        return
    X, rng = make_data(n, d), np.random.default_rng(4)
    sizes = rng.integers(2, 31, n_members)

    def potential(centres):
        return ((X[:, None] - centres) ** 2).sum(axis=2).min(axis=1).sum()

    def ours(some):
        return [plusplus_start(X, int(sizes[m]), np.random.default_rng(m)) for m in some]

    def theirs(m):
        return kmeans_plusplus(X, int(sizes[m]), random_state=m)[1]

    row = _compare("k-means++ starts, k 2 to 30", X, sizes, 1, ours, theirs, 2, quality=None)
    potentials = [
        np.median([potential(X[rows]) for rows in found])
        for found in (ours(range(n_members)), map(theirs, range(n_members)))
    ]
    row["note"] = f"median potential {potentials[0] / potentials[1]:.4f} of theirs"
    yield row


def _compare(name, X, sizes, threads, ours, theirs, times, quality="inertia"):
    """Fastest of some runs of both in turn; scikit-learn uses the threads as serves it best."""
    members = np.argsort(sizes)
    # Groups of equal work: a few a thread, so that none waits long for the last.
    n_groups = 1 if threads == 1 else 4 * threads
    groups = [members[g::n_groups] for g in range(n_groups)]
    ours(members[:1])
    way, alternative = _better_way(theirs, members[::10], threads)
    seconds, their_seconds = np.inf, np.inf
    for _ in range(times):
        found, took = _timed(partial(_grouped, ours, groups, threads))
        seconds = min(seconds, took)
        their_found, took = _timed(partial(way, theirs, np.concatenate(groups), threads))
        their_seconds = min(their_seconds, took)
    note = ""
    if quality:
        ratio = np.median(np.concatenate(found) / np.array(their_found))
        note = f"{quality} of equal members: median {ratio:.4f} of theirs"
    return {
        "name": name,
        "size": f"{X.shape[0]} x {X.shape[1]}, {len(sizes)} members",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{len(sizes) / seconds:.0f} members/s",
        "alternative": alternative,
        "ratio": their_seconds / seconds,
        "note": note,
    }


def _better_way(theirs, sample, threads):
    """The faster of OpenMP's threads within a run and runs side by side, on a few members."""
    if threads == 1:
        return _loop, "scikit-learn"
    inside, side_by_side = (
        _timed(partial(w, theirs, sample, threads))[1] for w in (_loop, _spread)
    )
    if inside < side_by_side:
        return _loop, "scikit-learn (OpenMP)"
    return _spread, "scikit-learn (runs side by side)"


def _grouped(ours, groups, threads):
    if threads == 1:
        return [ours(group) for group in groups]
    return Parallel(threads, backend="threading")(delayed(ours)(group) for group in groups)


def _loop(theirs, members, threads):
    with threadpool_limits(threads):
        return [theirs(m) for m in members]


def _alone(theirs, m):
    # OpenMP's limit belongs to the thread that sets it.
    with threadpool_limits(1):
        return theirs(m)


def _spread(theirs, members, threads):
    jobs = (delayed(_alone)(theirs, m) for m in members)
    return Parallel(threads, backend="threading")(jobs)


def _timed(work):
    start = time.perf_counter()
    found = work()
    return found, time.perf_counter() - start


if __name__ == "__main__":
    for case in cases():
        for threads in (1, 2):
            for row in case(threads):
                print(row)
