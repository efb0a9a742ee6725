"""Ambiguity scores and cluster stability, against the obvious way in NumPy."""

import resource
import time
import warnings

import numpy as np

from consilience.consensus.selected import eeac
from consilience.ensemble import Ensemble
from consilience.evidence.ambiguity import anco, relative_overlap
from consilience.evidence.stability import cluster_stability, extended_co_association


def cases():
    """Cases of the driver that take seconds."""
    return [_anco, _relative, _stability, _extended]


def large_cases():
    """A hundred thousand objects by a hundred members: to stay under 60 s and 2 GiB."""
    return [_large_anco, _large_stability, _large_eeac]


def _anco(threads):
    ensemble = _planted(10_000, 30, 20)
    seconds, found = _seconds(anco, ensemble, n_jobs=threads)
    theirs, wanted = _seconds(_anco_numpy, ensemble)
    assert np.allclose(found, wanted)
    yield _row("ANCO", ensemble, threads, seconds, "NumPy, member by member", theirs)


def _relative(threads):
    ensemble = _planted(10_000, 30, 20)
    seconds, found = _seconds(relative_overlap, ensemble, n_jobs=threads)
    theirs, wanted = _seconds(_relative_numpy, ensemble)
    assert np.allclose(found, wanted)
    yield _row("relative overlap", ensemble, threads, seconds, "NumPy, member by member", theirs)


def _stability(threads):
    ensemble, reference = _planted(10_000, 30, 20), _planted(10_000, 20, 20, seed=1)
    for criterion in ("nmi", "max"):
        seconds, found = _seconds(
            cluster_stability, ensemble, reference, criterion=criterion, n_jobs=threads
        )
        theirs, wanted = _seconds(_stability_numpy, ensemble, reference, criterion)
        assert np.allclose(found, wanted)
        name = f"cluster stability, {criterion}, 20 references"
        yield _row(name, ensemble, threads, seconds, "NumPy, products", theirs)


def _extended(threads):
    ensemble = _planted(3000, 50, 20)
    kept = np.random.default_rng(0).random(int(ensemble.offsets()[-1])) < 0.33
    extended_co_association(_planted(50, 50, 20), np.ones(1000, bool))
    seconds, found = _seconds(extended_co_association, ensemble, kept, n_jobs=threads)
    theirs, wanted = _seconds(_extended_numpy, ensemble, kept)
    assert np.allclose(found, wanted)
    yield _row("extended co-association", ensemble, threads, seconds, "NumPy, products", theirs)


def _large_anco(threads):
    ensemble = _planted(100_000, 100, 20)
    for function in (anco, relative_overlap):
        seconds, _ = _seconds(function, ensemble, n_jobs=threads)
        note, theirs = _peak(), float("nan")
        if threads == 1:
            # One pair in fifty by NumPy, which is linear in pairs.
            numpy_way = _anco_numpy if function is anco else _relative_numpy
            theirs = _seconds(numpy_way, ensemble[:15])[0] * 4950 / 105
            note += "; the alternative from 105 of 4950 pairs"
        yield _row(function.__name__, ensemble, threads, seconds, "NumPy", theirs, note)


def _large_stability(threads):
    ensemble = _planted(100_000, 100, 20)
    for criterion in ("nmi", "max", "apmm"):
        seconds, _ = _seconds(cluster_stability, ensemble, criterion=criterion, n_jobs=threads)
        name = f"cluster stability, {criterion}"
        yield _row(name, ensemble, threads, seconds, "", float("nan"), _peak())


def _large_eeac(threads):
    """Past the memory budget: the tree without the matrix."""
    if threads > 1:
        return
    ensemble = _planted(20_000, 40, 8)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it says that it does without the matrix
        seconds, found = _seconds(eeac, ensemble, 8, max_memory="200 MiB")
    theirs, wanted = _seconds(eeac, ensemble, 8, max_memory="4 GiB")
    assert found.details["matrix_free"]
    assert not wanted.details["matrix_free"]
    agree = (found.labels == wanted.labels).mean()
    note = f"{_peak()}; {agree:.2%} of the labels equal"
    yield _row("EEAC, no matrix", ensemble, threads, seconds, "with the matrix", theirs, note)


def _planted(n, n_members, k, seed=0):
    """Members that follow one truth in three labels of four: all rows differ."""
    rng = np.random.default_rng(seed)
    truth = np.random.default_rng(2).integers(0, k, n, dtype=np.int8)
    members = np.empty((n_members, n), np.int8)
    for labels in members:
        wrong = rng.random(n) < 0.25
        labels[:] = np.where(wrong, rng.integers(0, k, n, dtype=np.int8), truth)
    small = Ensemble._trusted(members[:, :200].copy())
    for function in (anco, relative_overlap, cluster_stability):  # compile
        function(small)
    cluster_stability(small, small)
    return Ensemble._trusted(members)


def _tables(ensemble):
    """Labels of every two members and their contingency table, one pair after the other."""
    n, R = ensemble.n_objects, ensemble.n_members
    for a in range(R):
        for b in range(a + 1, R):
            one, other = ensemble[a].astype(np.int64), ensemble[b].astype(np.int64)
            shape = (one.max() + 1, other.max() + 1)
            flat = np.bincount(one * shape[1] + other, minlength=shape[0] * shape[1])
            yield one, other, flat.reshape(shape).astype(float), n


def _anco_numpy(ensemble):
    total = np.zeros(ensemble.n_objects)
    for one, other, table, n in _tables(ensemble):
        rows, columns = table.sum(axis=1), table.sum(axis=0)
        own = np.outer(rows * np.log(rows / n), columns * np.log(columns / n))
        safe = np.maximum(table, 1e-300)
        total += (table * np.log(n * safe / np.outer(rows, columns)) / np.sqrt(own))[one, other]
    return total


def _relative_numpy(ensemble):
    total, pairs = np.zeros(ensemble.n_objects), 0
    for one, other, table, _ in _tables(ensemble):
        v = table / np.sqrt(np.outer(table.sum(axis=1), table.sum(axis=0)))
        best = np.minimum(v.max(axis=1)[:, None], v.max(axis=0))
        total += np.minimum(1.0, v / best)[one, other]
        pairs += 1
    return total / pairs


def _stability_numpy(ensemble, reference, criterion):
    """Two-block tables of all clusters against all references from one product a reference."""
    n = ensemble.n_objects
    H = ensemble.indicator().astype(np.float64).toarray()
    sizes = H.sum(axis=0)
    total = np.zeros(len(sizes))
    for member in reference:
        G = np.eye(member.max() + 1)[member]
        shared, columns = H.T @ G, G.sum(axis=0)
        if criterion == "nmi":
            inside = 2 * shared > columns
            both, found = (shared * inside).sum(axis=1), inside @ columns
        else:
            best = (shared / (sizes[:, None] + columns - shared)).argmax(axis=1)
            both, found = shared[np.arange(len(sizes)), best], columns[best]
        total += _nmi_of_blocks(n, sizes, found, both)
    return total / reference.n_members


def _nmi_of_blocks(n, a, b, both):
    cells = [
        (both, a, b),
        (a - both, a, n - b),
        (b - both, n - a, b),
        (n - a - b + both, n - a, n - b),
    ]
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = [x * np.log(n * x / (p * q)) for x, p, q in cells]
        information = sum(np.nan_to_num(term) for term in terms)
        entropies = -sum(p * np.log(p / n) for p in (a, n - a, b, n - b))
        return np.nan_to_num(2 * information / entropies)


def _extended_numpy(ensemble, kept):
    B = ensemble.indicator()[:, np.flatnonzero(kept)].astype(np.float64).toarray()
    joined, held = B @ B.T, B.sum(axis=1)
    similar = joined / np.maximum(np.maximum(held[:, None], held), 1)
    np.fill_diagonal(similar, 1.0)
    return similar


def _row(name, ensemble, threads, seconds, alternative, theirs, note=""):
    n, R = ensemble.n_objects, ensemble.n_members
    return {
        "name": name,
        "size": f"{n} x {R}, k={int(ensemble.n_clusters.max())}",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{n * R / seconds / 1e6:.1f} M labels/s",
        "alternative": alternative,
        "ratio": None if np.isnan(theirs) else theirs / seconds,
        "note": note,
    }


def _peak():
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return f"peak of the process {used:.2f} GiB"


def _seconds(function, *args, **kwargs):
    start = time.perf_counter()
    result = function(*args, **kwargs)
    return time.perf_counter() - start, result
