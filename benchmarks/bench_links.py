"""Locally weighted, path-based, link-based consensus and U-SENC: seconds, and peak memory.

The large cases run in a process of their own, so that the peak memory is theirs. The peak
includes the interpreter, the libraries and the labels.
"""

import json
import os
import resource
import subprocess
import sys
import time

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from sklearn.cluster import SpectralCoclustering
from sklearn.neighbors import NearestNeighbors

from consilience.consensus._rows import distinct_rows
from consilience.consensus.links import srs
from consilience.consensus.locally_weighted import cluster_certainty, lwea, lwgp
from consilience.consensus.path_based import path_similarity
from consilience.consensus.usenc import usenc
from consilience.ensemble import Ensemble
from consilience.evidence import CoAssociation
from consilience.generate._spectral import Links
from consilience.generate.uspec import USPECEnsemble, _representatives

METHODS = {"LWGP": lwgp, "USENC": usenc}


def cases():
    """Cases of the driver."""
    return [_lwea, _srs, _walks, _cuts, _representative_links]


def large_cases():
    """A million objects, and members made on them."""
    return [_million, _million_members]


def make_data(n_objects, seed=0):
    """Eight Gaussian groups in ten dimensions."""
    rng = np.random.default_rng(seed)
    groups = rng.normal(scale=2.0, size=(8, 10))
    return groups[rng.integers(0, 8, n_objects)] + rng.normal(size=(n_objects, 10))


def make_ensemble(n_objects, n_members=50, n_clusters=20, seed=0):
    """Labels as k-means starts leave them: the nearest of some random objects."""
    X = make_data(n_objects, seed)
    rng = np.random.default_rng(seed + 1)
    members = np.empty((n_members, n_objects), np.int8)
    for labels in members:
        centres = X[rng.choice(n_objects, n_clusters, replace=False)]
        lengths = (centres**2).sum(axis=1)[:, None]
        for start in range(0, n_objects, 100_000):
            block = X[start : start + 100_000]
            labels[start : start + 100_000] = np.argmin(lengths - 2 * centres @ block.T, axis=0)
    return Ensemble(members.T)


def _lwea(threads, n=4000):
    ensemble = make_ensemble(n)
    lwea(ensemble.take(np.arange(300)), 3)
    ours, labels = _seconds(lwea, ensemble, 8, n_jobs=threads)
    theirs, direct = _seconds(_lwea_directly, ensemble, 8)
    yield _row(
        "LWEA", ensemble, threads, ours, "products of B, SciPy linkage", theirs, labels, direct
    )


def _lwea_directly(ensemble, k):
    """The published formula on all objects, with SciPy."""
    B = ensemble.indicator().astype(float)
    certainty = cluster_certainty(distinct_rows(ensemble), 0.4)
    S = ((B * certainty[None, :]) @ B.T).toarray() / ensemble.n_members
    np.fill_diagonal(S, 1.0)
    tree = linkage(np.maximum(squareform(1 - S, checks=False), 0), "average")
    return fcluster(tree, k, "maxclust")


def _srs(threads, n=2000):
    ensemble = make_ensemble(n, n_members=30)
    srs(ensemble.take(np.arange(300)), 3)
    ours, labels = _seconds(srs, ensemble, 8, n_jobs=threads)
    theirs, direct = _seconds(_srs_directly, ensemble, 8)
    yield _row("SRS", ensemble, threads, ours, "updates of n x n, SciPy", theirs, labels, direct)


def _srs_directly(ensemble, k, decay=0.8):
    """Four updates of both similarities in dense matrices."""
    B = ensemble.indicator().toarray().astype(float)
    sizes = B.sum(axis=0)
    S, C = np.eye(len(B)), np.eye(len(sizes))
    for _ in range(4):
        S, C = (
            decay * B @ C @ B.T / ensemble.n_members**2,
            decay * B.T @ S @ B / np.outer(sizes, sizes),
        )
        np.fill_diagonal(S, 1.0)
        np.fill_diagonal(C, 1.0)
    tree = linkage(np.maximum(squareform(1 - S, checks=False), 0), "average")
    return fcluster(tree, k, "maxclust")


def _walks(threads, n=2000):
    if threads > 1:
        return
    rows = distinct_rows(make_ensemble(n))
    links = CoAssociation(Ensemble(rows.members.T)).rows(0, rows.n_rows)
    ours, paths = _seconds(path_similarity, links.copy(), rows.counts, 20, 20)
    theirs, direct = _seconds(_walks_directly, links.copy(), rows.counts, 20, 20)
    gap = np.abs(paths - direct).max()
    yield {
        "name": "PTA, PTGP: similarity of walks",
        "size": f"{rows.n_rows} label rows, K = T = 20",
        "threads": 1,
        "seconds": ours,
        "rate": f"{20 * rows.n_rows**2 / ours / 1e6:.0f} M pairs x steps/s",
        "alternative": "powers of P",
        "ratio": theirs / ours,
        "note": f"largest difference {gap:.0e}",
    }


def _walks_directly(links, counts, n_neighbors, n_steps):
    """The sum over t of P^t (P^t)^T, power by power."""
    np.fill_diagonal(links, 0)
    links[links < np.sort(links, axis=1)[:, -n_neighbors, None]] = 0
    strong = np.maximum(links, links.T) * counts
    P = strong / strong.sum(axis=1, keepdims=True)
    power, G = P.copy(), P @ P.T
    for _ in range(n_steps - 1):
        power = power @ P
        G += power @ power.T
    return G / np.sqrt(np.outer(G.diagonal(), G.diagonal()))


def _cuts(threads, n=100_000):
    ensemble = make_ensemble(n)
    B = ensemble.indicator().astype(float)
    cocluster = SpectralCoclustering(8, n_init=3, random_state=0)
    theirs, direct = _seconds(lambda: cocluster.fit(B).row_labels_)
    for name, method in METHODS.items():
        method(ensemble.take(np.arange(300)), 3, random_state=0)
        ours, labels = _seconds(method, ensemble, 8, random_state=0, n_jobs=threads)
        yield _row(name, ensemble, threads, ours, "SpectralCoclustering", theirs, labels, direct)


def _representative_links(threads, n=100_000):
    if threads > 1:
        return
    X = make_data(n)
    points, heads, centres = _representatives(X, 1000, np.random.default_rng(0))
    Links(points, heads, centres, 5).nearest(X[:10])
    ours, (which, _) = _seconds(lambda: Links(points, heads, centres, 5).nearest(X))
    exact = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(points)
    theirs, found = _seconds(lambda: exact.kneighbors(X, return_distance=False))
    share = np.mean([len(np.intersect1d(a, b)) / 5 for a, b in zip(which, found, strict=True)])
    yield {
        "name": "U-SPEC: nearest representatives",
        "size": f"{n} x 10, p = 1000, K = 5",
        "threads": 1,
        "seconds": ours,
        "rate": f"{n / ours / 1e6:.2f} M objects/s",
        "alternative": "exact, scikit-learn",
        "ratio": theirs / ours,
        "note": f"{share:.1%} of the neighbours are the exact ones",
    }


def _million(threads, n=1_000_000):
    for name in METHODS:
        yield _measured(name, n, threads, "50 members of 20 clusters")


def _million_members(threads, n=1_000_000):
    yield _measured("USPECEnsemble", n, threads, "2 members of 20 to 60 clusters, 10 features")


def _measured(name, n, threads, what):
    """One large case in a fresh process."""
    command = [sys.executable, __file__, name, str(n), str(threads)]
    limits = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    env = os.environ | dict.fromkeys(limits, str(threads))
    done = subprocess.run(command, env=env, check=True, capture_output=True)
    found = json.loads(done.stdout)
    return {
        "name": name,
        "size": f"{n} objects, {what}",
        "threads": threads,
        "seconds": found["seconds"],
        "rate": f"{n / found['seconds'] / 1e6:.2f} M objects/s",
        "alternative": None,
        "ratio": None,
        "note": f"peak {found['peak_mib'] / 1024:.2f} GiB",
    }


def _work(name, n, threads):
    """What the fresh process does; the first, small call compiles."""
    if name in METHODS:
        ensemble = make_ensemble(n)
        METHODS[name](ensemble.take(np.arange(300)), 3, random_state=0)
        seconds, _ = _seconds(METHODS[name], ensemble, 20, random_state=0, n_jobs=threads)
    else:
        X = make_data(n)
        generator = USPECEnsemble(2, random_state=0, n_jobs=threads)
        generator.generate(X[:300])
        seconds, _ = _seconds(generator.generate, X)
    # Linux counts in KiB, macOS in bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    print(json.dumps({"seconds": seconds, "peak_mib": peak}))


def _row(name, ensemble, threads, ours, alternative, theirs, found, direct):
    from sklearn.metrics import adjusted_rand_score

    agree = adjusted_rand_score(found.labels, direct)
    return {
        "name": name,
        "size": f"{ensemble.n_objects} x {ensemble.n_members}",
        "threads": threads,
        "seconds": ours,
        "rate": f"{ensemble.n_objects / ours / 1e3:.1f} k objects/s",
        "alternative": alternative,
        "ratio": theirs / ours,
        "note": f"{len(ensemble.signatures().counts)} label rows; ARI between the two {agree:.3f}",
    }


def _seconds(function, *args, **kwargs):
    start = time.perf_counter()
    found = function(*args, **kwargs)
    return time.perf_counter() - start, found


if __name__ == "__main__":
    if len(sys.argv) == 4:
        _work(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
    else:
        for case in cases() + (large_cases() if "--large" in sys.argv else []):
            for row in case(1):
                print(row, flush=True)
