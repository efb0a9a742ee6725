"""CSPA, MCLA and HBGF against a plain reading of each, the peers, and at the sizes they must hold.

The plain readings build the matrices of the papers with numpy (all objects by all objects, all
clusters dense) and hand METIS the graph with its default settings, one cut. Ours keeps the best
of ten cuts unless the row says one; HBGF by itself takes one past 100,000 memberships. Large cases
run in a process of their own, so that the peak of memory is theirs.
"""

import importlib.util
import json
import shutil
import subprocess
import sys
import time
from functools import partial

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

ONE_CUT = {"solver": "metis", "n_cuts": 1}
# OpenEnsembles has neither CSPA nor MCLA nor HBGF; what it shares with us is EAC.
PEERS = {
    "ClusterEnsembles": ("cspa", "mcla", "hbgf"),
    "Cluster_Ensembles": ("cspa", "mcla"),
    "openensembles": ("eac",),
    "R clue and diceR": ("cspa",),
}


def cases():
    """The sizes a peer can run: 5,000 objects x 100 members, 10 clusters each."""
    return [_cspa, _mcla, _hbgf, _peers, _balanced_rows]


def large_cases():
    """1,000,000 x 50 (CSPA 200,000 x 20), 20 clusters: each must stay under 120 s."""
    names = ("mcla", "hbgf spectral", "cspa balanced", "transfer cut")
    return [_in_its_own_process(name) for name in names]


def make_members(n, n_members, k, wrong=0.4, seed=0):
    """Member-major labels that agree on k groups of different size but for wrong ones."""
    rng = np.random.default_rng(seed)
    shares = np.arange(k, 2 * k, dtype=float)
    truth = rng.choice(k, n, p=shares / shares.sum())
    members = np.empty((n_members, n), np.int8)
    for row in members:
        stray = rng.random(n) < wrong
        row[:] = rng.permutation(k)[np.where(stray, rng.integers(0, k, n), truth)]
    return members, truth


# ---- against a plain reading -----------------------------------------------------------------


def _cspa(threads, n=5000, n_members=100, k=10):
    from consilience.consensus.graph import cspa

    members, truth = make_members(n, n_members, k)
    plain = partial(_plain_cspa, members, k)
    # "auto" is balanced rows at this size, without the matrix.
    for name, options in (("CSPA auto", {}), ("CSPA metis, one cut", ONE_CUT)):

        def ours(ensemble, options=options):
            return cspa(ensemble, k, random_state=0, n_jobs=threads, **options).labels

        yield _compare(name, members, truth, threads, ours, plain)


def _mcla(threads, n=5000, n_members=100, k=10):
    from consilience.consensus.metacluster import mcla

    members, truth = make_members(n, n_members, k)

    def ours(ensemble):
        return mcla(ensemble, k, random_state=0, n_jobs=threads).labels

    yield _compare("MCLA", members, truth, threads, ours, partial(_plain_mcla, members, k))


def _hbgf(threads, n=10_000, n_members=100, k=10):
    from consilience.consensus.bipartite import hbgf

    members, truth = make_members(n, n_members, k)
    kinds = {
        "HBGF metis, ten cuts": ({"solver": "metis", "n_cuts": 10}, _plain_hbgf),
        "HBGF": ({}, _plain_hbgf),
        "HBGF spectral": ({"solver": "spectral"}, _plain_spectral),
    }
    for name, (options, plain) in kinds.items():

        def ours(ensemble, options=options):
            return hbgf(ensemble, k, random_state=0, n_jobs=threads, **options).labels

        yield _compare(name, members, truth, threads, ours, partial(plain, members, k))


def _balanced_rows(threads, n=3000, n_members=40, k=10):
    """The cut and the time of balanced rows against METIS on the matrix of all pairs."""
    from consilience.partition import balanced_rows, metis, similarity_graph

    if threads > 1:
        return
    members, _ = make_members(n, n_members, k)
    F = sparse.csr_array(_indicator(members)) / np.sqrt(n_members)
    balanced_rows(F[:50], 2, random_state=0)
    seconds, ours = _timed(lambda: balanced_rows(F, k, random_state=0))
    theirs_s, theirs = _timed(
        lambda: metis(similarity_graph((F @ F.T).toarray()), k, random_state=0)
    )
    yield {
        "name": "balanced rows",
        "size": f"{n} objects x {n_members} members",
        "threads": 1,
        "seconds": seconds,
        "rate": f"{F.nnz / seconds / 1e6:.1f} M entries/s",
        "alternative": "METIS on all pairs",
        "ratio": theirs_s / seconds,
        "note": f"cut {ours.cut / theirs.cut:.4f} of METIS's",
    }


def _compare(name, members, truth, threads, ours, plain):
    from consilience import Ensemble

    ensemble = Ensemble(members.T)
    ours(Ensemble(members[:4, :60].T))  # compiled, imported
    seconds, labels = _timed(lambda: ours(ensemble))
    if seconds < 5:
        seconds = min(seconds, *(_timed(lambda: ours(ensemble))[0] for _ in range(2)))
    theirs_s, theirs = _timed(plain)
    n_members, n = members.shape
    agree = [adjusted_rand_score(truth, found) for found in (labels, theirs)]
    return {
        "name": name,
        "size": f"{n} objects x {n_members} members",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{members.size / seconds / 1e6:.1f} M labels/s",
        "alternative": "plain numpy" if "spectral" in name else "plain numpy and METIS",
        "ratio": theirs_s / seconds,
        "note": f"ARI {agree[0]:.3f}, plain {agree[1]:.3f}",
    }


def _peers(threads, n=5000, n_members=100, k=10):
    """The packages that people use, where they are installed and have the method."""
    if threads > 1:
        return
    from consilience import Ensemble
    from consilience.consensus import cspa, eac, hbgf, mcla

    members, truth = make_members(n, n_members, k)
    ensemble = Ensemble(members.T)
    functions = {"cspa": cspa, "mcla": mcla, "hbgf": hbgf, "eac": eac}
    for peer, names in PEERS.items():
        for name in names:
            options = {} if name == "eac" else {"random_state": 0}
            call = partial(functions[name], ensemble, k, **options)
            seconds, found = min((_timed(call) for _ in range(3)), key=lambda pair: pair[0])
            row = {
                "name": f"{name.upper()} and {peer}",
                "size": f"{n} objects x {n_members} members",
                "threads": 1,
                "seconds": seconds,
                "rate": f"{members.size / seconds / 1e6:.1f} M labels/s",
                "alternative": peer,
                "ratio": None,
            }
            yield row | _against(peer, name, members, k, seconds, found.labels, truth)


def _against(peer, name, members, k, seconds, labels, truth):
    """What a peer takes for the same; why there is no figure, where it gives none."""
    if peer.startswith("R "):
        there = shutil.which("Rscript") is not None
        return {"note": "R is here, but not called" if there else "R is not installed"}
    if importlib.util.find_spec(peer) is None:
        return {"note": f"{peer} is not installed"}
    try:
        theirs_s, theirs = _timed(lambda: _peer_labels(peer, name, members, k))
    except Exception as error:
        # What follows a bracket is a place on this machine.
        said = str(error).partition("(")[0].strip()[:80]
        return {"note": f"{peer} fails: {type(error).__name__}: {said}"}
    agree = [adjusted_rand_score(truth, found) for found in (labels, theirs)]
    return {"ratio": theirs_s / seconds, "note": f"ARI {agree[0]:.3f}, theirs {agree[1]:.3f}"}


def _peer_labels(peer, name, members, k):
    module = importlib.import_module(peer)
    if peer == "ClusterEnsembles":
        labels = members.astype(float)
        return module.cluster_ensembles(labels, nclass=k, solver=name, random_state=0)
    if peer == "Cluster_Ensembles":
        return getattr(module, name.upper())(
            "", members.astype(int), verbose=False, N_clusters_max=k
        )
    return _openensembles_eac(module, members, k)


def _openensembles_eac(module, members, k):
    """Its co-occurrence matrix, and the average link that its own threshold form uses."""
    import pandas as pd
    from scipy.cluster import hierarchy
    from scipy.spatial.distance import squareform

    frame = pd.DataFrame(np.zeros((members.shape[1], 1)))
    held = module.cluster(module.data(frame, [0]))
    held.labels = {f"member {m}": row.astype(int) for m, row in enumerate(members)}
    shares = np.array(held.co_occurrence_matrix().co_matrix, float)
    np.fill_diagonal(shares, 1.0)
    tree = hierarchy.linkage(squareform(1 - shares, checks=False), "average")
    return hierarchy.fcluster(tree, k, "maxclust")


# ---- the plain readings ----------------------------------------------------------------------


def _indicator(members):
    return np.concatenate([(row[:, None] == np.unique(row)) for row in members], axis=1) * 1.0


def _plain_metis(S, k, vertex_weights=None):
    """Row by row into METIS's lists, weights as thousandths of the largest."""
    import pymetis

    neighbours = [np.flatnonzero(row) for row in S]
    starts = np.concatenate([[0], np.cumsum([len(ends) for ends in neighbours])])
    scale = 1000 / S.max()
    whole = [np.maximum(S[i, ends] * scale, 1) for i, ends in enumerate(neighbours)]
    found = pymetis.part_graph(
        k,
        pymetis.CSRAdjacency(starts, np.concatenate(neighbours)),
        eweights=np.concatenate(whole).astype(int),
        vweights=vertex_weights,
        recursive=True,
    )
    return np.array(found.vertex_part)


def _plain_cspa(members, k):
    B = _indicator(members)
    S = B @ B.T / len(members)
    np.fill_diagonal(S, 0)
    return _plain_metis(S, k)


def _plain_mcla(members, k):
    B = _indicator(members)
    both, sizes = B.T @ B, B.sum(axis=0)
    S = both / (sizes[:, None] + sizes[None, :] - both)
    np.fill_diagonal(S, 0)
    parts = _plain_metis(S, k, sizes.astype(int))
    votes = np.stack([B[:, parts == q].mean(axis=1) for q in range(k)], axis=1)
    return votes.argmax(axis=1)


def _plain_hbgf(members, k):
    B = _indicator(members)
    n, p = B.shape
    W = np.zeros((p + n, p + n))
    W[p:, :p], W[:p, p:] = B, B.T
    return _plain_metis(W, k)[p:]


def _plain_spectral(members, k):
    from scipy.sparse.linalg import svds
    from sklearn.cluster import KMeans

    B = _indicator(members)
    U, _, Vt = svds(B / np.sqrt(B.sum(axis=0)), k, random_state=0)
    both = np.concatenate([U, Vt.T])
    both /= np.linalg.norm(both, axis=1, keepdims=True)
    return KMeans(k, n_init=1, max_iter=200, random_state=0).fit(both).labels_[: len(B)]


# ---- the sizes they must hold ----------------------------------------------------------------


def _in_its_own_process(name):
    def case(threads):
        command = [sys.executable, __file__, name, str(threads)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return [json.loads(done.stdout.splitlines()[-1])]

    return case


def _large(name, threads):
    from consilience import Ensemble
    from consilience.consensus.bipartite import hbgf
    from consilience.consensus.graph import cspa
    from consilience.consensus.metacluster import mcla

    k = 20
    n, n_members = (200_000, 20) if name.startswith("cspa") else (1_000_000, 50)
    members, truth = make_members(n, n_members, k)
    ensemble = Ensemble(members.T)
    options = {"random_state": 0, "n_jobs": threads}
    calls = {
        "mcla": lambda e: mcla(e, k, **options).labels,
        "hbgf spectral": lambda e: hbgf(e, k, solver="spectral", **options).labels,
        "cspa balanced": lambda e: cspa(e, k, solver="balanced", **options).labels,
        "transfer cut": lambda e: _transfer(e, k),
    }
    calls[name](ensemble.take(np.arange(500)))
    seconds, labels = _timed(lambda: calls[name](ensemble))
    return {
        "name": name,
        "size": f"{n} objects x {n_members} members",
        "threads": threads,
        "seconds": seconds,
        "rate": f"{members.size / seconds / 1e6:.1f} M labels/s",
        "alternative": "",
        "ratio": None,
        "note": f"peak {_peak():.2f} GiB, ARI {adjusted_rand_score(truth, labels):.3f}",
    }


def _transfer(ensemble, k):
    from consilience.partition import transfer_cut

    return transfer_cut(ensemble.indicator(), k, random_state=0).labels


def _peak():
    """Most memory this process ever held, in GiB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _timed(call):
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


if __name__ == "__main__":
    print(json.dumps(_large(sys.argv[1], int(sys.argv[2]))))
