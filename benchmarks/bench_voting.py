"""Voting, cumulative voting and correlation clustering against plain NumPy readings of them."""

import time
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from consilience.consensus.correlation import correlation_cost, correlationclustering
from consilience.consensus.voting import cumulativevoting, voting
from consilience.ensemble import Ensemble
from consilience.kernels.pairs.correlation import label_rows
from consilience.kernels.pairs.moves import local_search

SMALL, MIDDLE, LARGE = (1_000, 20), (10_000, 20), (100_000, 50)


def cases():
    """Cases of the driver: small ones beside plain NumPy, large ones beside their own rate."""
    return [_voting, _cumulative, _cost, _local, _sweeps, _shattered]


def large_cases():
    """A million objects."""
    return [_million]


def _voting(threads):
    ensemble = _ensemble(*MIDDLE)
    voting(ensemble, 10, random_state=0)
    theirs, votes = _seconds(_plain_votes, ensemble, 10)
    seconds, found = _seconds(voting, ensemble, 10, random_state=0, n_jobs=threads)
    same = np.array_equal(
        np.sort(votes / votes.sum(axis=1, keepdims=True)), np.sort(found.memberships)
    )
    yield _row("voting", MIDDLE, threads, seconds, "plain NumPy", theirs, f"same votes: {same}")
    ensemble = _ensemble(*LARGE, wrong=0.15)
    small = seconds
    seconds, found = _seconds(voting, ensemble, 10, repeats=1, random_state=0, n_jobs=threads)
    scale = np.prod(LARGE) / np.prod(MIDDLE)
    note = f"{scale:.0f} times the labels of the case above, {seconds / small:.0f} times its time"
    yield _row("voting", LARGE, threads, seconds, None, None, note)


def _cumulative(threads):
    if threads > 1:
        return
    ensemble = _ensemble(*MIDDLE)
    cumulativevoting(ensemble, 5)
    theirs, shares = _seconds(_plain_cumulative, ensemble)
    seconds, found = _seconds(cumulativevoting, ensemble, 10)
    error = np.abs(np.sort(shares) - np.sort(found.memberships)).max()
    note = f"largest difference {error:.0e}"
    yield _row("cumulative voting", MIDDLE, 1, seconds, "plain NumPy", theirs, note)
    seconds, found = _seconds(cumulativevoting, _ensemble(*LARGE, wrong=0.15), 5, repeats=1)
    yield _row("cumulative voting", LARGE, 1, seconds, None, None, "10 clusters merged to 5")


def _cost(threads):
    if threads > 1:
        return
    ensemble = _ensemble(*SMALL)
    labels = ensemble[0]
    correlation_cost(ensemble, labels)
    theirs, plain = _seconds(_plain_cost, ensemble, labels)
    seconds, found = _seconds(correlation_cost, ensemble, labels)
    note = f"equal: {np.isclose(plain, found)}"
    yield _row("correlation cost", SMALL, 1, seconds, "plain NumPy, all pairs", theirs, note)


def _local(threads):
    ensemble = _ensemble(*SMALL)
    start = ensemble[0].astype(np.int32)
    data = label_rows(ensemble.members, np.ones(ensemble.n_objects, np.int64))
    _search(data, start)
    if threads == 1:
        theirs, plain = _seconds(_plain_search, ensemble, start, repeats=1)
        seconds, found = _seconds(_search, data, start)
        ours = correlation_cost(ensemble, found.labels)
        note = f"cost {ours / correlation_cost(ensemble, plain):.4f} of the alternative's"
        yield _row("local search", SMALL, 1, seconds, "plain NumPy, one row a visit", theirs, note)
    ensemble = _ensemble(*LARGE, wrong=0.15)
    params = {"random_state": 0, "n_jobs": threads, "repeats": 1}
    seconds, found = _seconds(correlationclustering, ensemble, n_init=5, **params)
    other, sampled = _seconds(correlationclustering, ensemble, algorithm="sampling", **params)
    note = (
        f"{found.n_clusters} clusters, cost {found.objective / sampled.objective:.4f} of sampling's"
    )
    yield _row("correlation clustering, 5 starts", LARGE, threads, seconds, "sampling", other, note)


def _sweeps(threads):
    """One search at full size: what a visit costs, in tables and in the pool."""
    if threads > 1:
        return
    ensemble = _ensemble(*LARGE, wrong=0.15)
    data = label_rows(ensemble.members, np.ones(ensemble.n_objects, np.int64))
    seconds, found = _seconds(_search, data, ensemble[0].astype(np.int32), repeats=1)
    visits = found.n_iter * ensemble.n_objects
    row = _row("local search, one start", LARGE, 1, seconds, None, None, f"{found.n_iter} sweeps")
    yield {**row, "rate": f"{visits / seconds / 1e6:.2f} M visits/s"}


def _shattered(threads):
    """Members that hardly agree: thousands of clusters of one or two objects."""
    if threads > 1:
        return
    ensemble = _ensemble(20_000, 50, wrong=0.35)
    data = label_rows(ensemble.members, np.ones(ensemble.n_objects, np.int64))
    seconds, found = _seconds(_search, data, ensemble[0].astype(np.int32), repeats=1)
    visits = found.n_iter * ensemble.n_objects
    note = f"{found.labels.max() + 1} clusters, {found.n_iter} sweeps"
    row = _row("local search, one start", (20_000, 50), 1, seconds, None, None, note)
    yield {**row, "rate": f"{visits / seconds / 1e6:.3f} M visits/s"}


def _million(threads):
    ensemble = _ensemble(1_000_000, 50, k=20, wrong=0.15)
    params = {"random_state": 0, "n_jobs": threads}
    for name, function, extra in (
        ("voting", voting, {}),
        ("cumulative voting", cumulativevoting, {}),
        ("correlation clustering, 1 start", correlationclustering, {"n_init": 1}),
    ):
        seconds, found = _seconds(function, ensemble, 20, repeats=1, **params, **extra)
        note = f"{found.n_clusters} clusters"
        yield _row(name, (1_000_000, 50), threads, seconds, None, None, note)


def _ensemble(n, n_members, k=10, wrong=0.3):
    """Members that agree on k groups but for a share of wrong labels."""
    rng = np.random.default_rng(n + n_members)
    members = np.repeat(rng.integers(0, k, n, np.int8)[None], n_members, axis=0)
    for labels in members:
        where = rng.random(n) < wrong
        labels[where] = rng.integers(0, k, int(where.sum()), np.int8)
    return Ensemble._trusted(members)


def _search(data, start):
    return local_search(data, start, cap=len(start), rng=np.random.default_rng(0))


def _plain_nmi(a, b):
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    p = table / table.sum()
    pa, pb = p.sum(axis=1), p.sum(axis=0)
    some = p > 0
    shared = (p[some] * np.log(p[some] / np.outer(pa, pb)[some])).sum()
    entropies = [-(q[q > 0] * np.log(q[q > 0])).sum() for q in (pa, pb)]
    return shared / np.sqrt(np.prod(entropies))


def _plain_votes(ensemble, k):
    """Votes as the definition reads: one-hot matrices, matched by their products."""
    members = [np.eye(k)[labels] for labels in ensemble]
    shared = np.eye(len(members))
    for a, b in combinations(range(len(members)), 2):
        shared[a, b] = shared[b, a] = _plain_nmi(ensemble[a], ensemble[b])
    reference = int((shared.sum(axis=1) - 1).argmax())
    votes = members[reference].copy()
    for m in np.argsort(-shared[reference].round(12), kind="stable"):
        if m != reference:
            rows, columns = linear_sum_assignment(members[m].T @ votes, maximize=True)
            match = np.zeros((k, k))
            match[rows, columns] = 1
            votes += members[m] @ match
    return votes


def _plain_cumulative(ensemble):
    """Shares as the definition reads: W = (B'B)^-1 B'U, V = B W."""
    sizes = [np.bincount(labels) / ensemble.n_objects for labels in ensemble]
    order = np.argsort([(p * np.log(p)).sum() for p in sizes], kind="stable")
    shares = np.eye(ensemble[int(order[0])].max() + 1)[ensemble[int(order[0])]]
    for count, m in enumerate(order[1:], 1):
        B = np.eye(ensemble[int(m)].max() + 1)[ensemble[int(m)]]
        votes = B @ (np.linalg.inv(B.T @ B) @ (B.T @ shares))
        shares = (count * shares + votes) / (count + 1)
    return shares


def _plain_cost(ensemble, labels):
    A = np.mean([one[:, None] == one[None] for one in ensemble], axis=0)
    same = labels[:, None] == labels[None]
    return np.where(same, 1 - A, A)[np.triu_indices(len(labels), 1)].sum()


def _plain_search(ensemble, start):
    """Single moves by the definition: a row of the co-association for every visit."""
    labels, table = start.copy(), ensemble.labels
    order = np.random.default_rng(0).permutation(len(labels))
    moved = True
    while moved:
        moved = False
        for i in order:
            gap = 1 - 2 * (table == table[i]).mean(axis=1)
            gap[i] = 0.0
            costs = np.bincount(labels, gap)
            used = np.bincount(labels) > 0
            best = int(np.where(used, costs, np.inf).argmin())
            target = best if costs[best] <= 0 else labels.max() + 1
            if min(costs[best], 0.0) < costs[labels[i]] - 1e-12:
                labels[i], moved = target, True
    return labels


def _row(name, size, threads, seconds, alternative, theirs, note):
    n, n_members = size
    return {
        "name": name,
        "size": f"{n} objects x {n_members}",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{n * n_members / seconds / 1e6:.1f} M labels/s",
        "alternative": alternative,
        "ratio": None if theirs is None else theirs / seconds,
        "note": note,
    }


def _seconds(function, *args, repeats=3, **kwargs):
    """Fastest of some runs, and what the function returned."""
    runs = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = function(*args, **kwargs)
        runs.append(time.perf_counter() - start)
    return min(runs), result
