"""Stored answers of the partitioners."""

from unittest.mock import patch

import numpy as np
from scipy import sparse
from stored.small import blobs, ensembles, truth
from stored.store import Cases, attempt

from consilience import partition
from consilience.partition import _embed, _parts, graph, split

CASES = Cases(__file__)


def _similar(n_each=8):
    X = blobs()[np.r_[0:n_each, 16 : 16 + n_each, 32 : 32 + n_each]]
    gaps = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    return np.exp(-gaps / 40)


def _loose():
    S = np.zeros((9, 9))
    for a in range(3):
        S[3 * a : 3 * a + 3, 3 * a : 3 * a + 3] = 1.0
    return S


def _graphs():
    S = _similar()
    thin = np.where(S > 0.3, S, 0)
    return {
        "dense": S,
        "thin": thin,
        "sparse": sparse.csr_array(thin),
        "loose": _loose(),
        "one": np.ones((1, 1)),
        "empty": np.zeros((4, 4)),
        "pair": np.array([[0, 2.0], [2.0, 0]]),
        "skew": np.array([[1, 0.5], [0.4, 1]]),
        "negative": np.array([[1, -0.5], [-0.5, 1]]),
        "long": np.ones((2, 3)),
        "nan": np.array([[1, np.nan], [np.nan, 1]]),
    }


@CASES
def graphs():
    for key, S in _graphs().items():
        yield key, attempt(partition.similarity_graph, S)
        if key not in ("skew", "negative", "long", "nan"):
            found = partition.similarity_graph(S)
            n = found.n_vertices
            yield f"{key} facts", [n, found.n_components(), found.cut(np.arange(n) % 2)]
            yield f"{key} order", found.reorder(np.arange(n)[::-1])
            yield f"{key} weights", attempt(partition.similarity_graph, S, np.arange(1.0, n + 1))
    yield "short weights", attempt(partition.similarity_graph, np.eye(3), [1.0])
    yield "bad weights", attempt(partition.similarity_graph, np.eye(2), [1.0, -1.0])
    B = ensembles()["whole"].indicator()
    for Q in (B, B.toarray(), B.toarray()[:3], np.array([[1.0, -1]]), np.zeros((2, 2))):
        yield f"bipartite {Q.shape} {type(Q).__name__}", attempt(partition.bipartite_graph, Q)
    for values in ([1.0, 2, 3], [0.1, 0.5, 0], [1e-9, 1.0], [1e12, 3e12], [0.0, 0.0]):
        for width in (64, 32):
            yield (
                f"whole {values} {width}",
                attempt(graph.whole_weights, np.array(values), width=width),
            )
        yield f"vertex {values}", attempt(graph.whole_vertex_weights, np.array(values))


@CASES
def cuts():
    for key, S in _graphs().items():
        found = attempt(partition.similarity_graph, S)
        if "refused" in found or "raised" in found:
            continue
        made = partition.similarity_graph(S)
        for k in (1, 2, 3, 30, 0):
            yield f"{key} spectral {k}", attempt(partition.spectral, made, k, random_state=0)
            yield f"{key} metis {k}", attempt(partition.metis, made, k, random_state=0)
        for solver in ("auto", "metis", "spectral", "zzz"):
            yield (
                f"{key} {solver}",
                attempt(partition.split_graph, made, 3, solver=solver, n_cuts=2, random_state=1),
            )
    made = partition.similarity_graph(_similar())
    for shares in ([0.5, 0.25, 0.25], [0.4, 0.4, 0.2], [0.5, 0.5], [0.9, 0.9, 0.1]):
        for shuffle in (True, False):
            yield (
                f"shares {shares} {shuffle}",
                attempt(
                    partition.metis,
                    made,
                    3,
                    shares=np.array(shares),
                    n_cuts=1,
                    shuffle=shuffle,
                    random_state=0,
                ),
            )


@CASES
def rows():
    F = {
        "blobs": blobs(),
        "links": ensembles()["whole"].indicator().toarray(),
        "sparse": ensembles()["whole"].indicator(),
        "equal": np.ones((6, 2)),
        "zeros": np.zeros((5, 2)),
        "one": np.ones((1, 3)),
    }
    for key, given in F.items():
        for k in (1, 2, 3, 4, 60, 0):
            yield f"{key} {k}", attempt(partition.balanced_rows, given, k, random_state=0)
        for solver in ("auto", "metis", "spectral", "balanced", "zzz"):
            yield (
                f"{key} {solver}",
                attempt(partition.split_rows, given, 3, solver=solver, n_cuts=2, random_state=0),
            )
    for sizes in ([1, 1, 1], [0.5, 0.3, 0.2], [20, 20, 8], [1, 2], [0, 1, 1], [3, 2, 1]):
        for solver in ("auto", "metis", "balanced"):
            yield (
                f"sizes {sizes} {solver}",
                attempt(
                    partition.split_rows, blobs(), 3, sizes=sizes, solver=solver, random_state=0
                ),
            )
    groups = np.arange(48) // 2
    yield "groups", attempt(partition.balanced_rows, blobs(), 3, groups=groups, random_state=0)
    yield (
        "gram",
        attempt(
            partition.split_rows,
            blobs(),
            3,
            gram=lambda: _similar(16),
            solver="metis",
            random_state=0,
        ),
    )


@CASES
def bipartite():
    for kind, ensemble in ensembles().items():
        B = ensemble.indicator()
        for solver in ("auto", "metis", "spectral", "zzz"):
            for balance in ("all", "objects"):
                yield (
                    f"{kind} {solver} {balance}",
                    attempt(
                        partition.split_bipartite,
                        B,
                        3,
                        solver=solver,
                        balance=balance,
                        n_cuts=2,
                        random_state=0,
                    ),
                )
        for k in (1, 2, 3, 4, 50):
            yield f"{kind} transfer {k}", attempt(partition.transfer_cut, B, k, random_state=0)
        weights = np.linspace(0.5, 2, 48)
        yield (
            f"{kind} weights",
            attempt(partition.transfer_cut, B, 3, weights=weights, random_state=0),
        )
        links = partition.LabelLinks(
            ensemble.members, np.linspace(1, 2, int(ensemble.n_clusters.sum()))
        )
        n = ensemble.n_objects
        yield f"{kind} links", [links.shape, links.degrees(), links.column_sums(np.ones(n))]
        yield f"{kind} gram", attempt(links.gram, np.linspace(1, 2, n))
        yield f"{kind} times", attempt(links.times, np.ones((links.shape[1], 2)))
        yield (
            f"{kind} sums",
            attempt(links.part_sums, truth().astype(np.int32), np.ones(n), 3),
        )
        yield f"{kind} transfer links", attempt(partition.transfer_cut, links, 3, random_state=0)
    for n in (0, 100, 10**5, 10**6, 10**7, 10**9):
        for solver in ("auto", "metis", "spectral"):
            yield f"choose {n} {solver}", attempt(partition.choose_bipartite, n, solver)


@CASES
def hypergraphs():
    for kind, ensemble in ensembles().items():
        B = ensemble.indicator()
        for k in (1, 2, 3, 60):
            yield f"{kind} {k}", attempt(partition.hypergraph_parts, B, k, random_state=0)
        weights = np.arange(1.0, B.shape[1] + 1)
        yield (
            f"{kind} weights",
            attempt(
                partition.hypergraph_parts,
                B,
                3,
                edge_weights=weights,
                imbalance=0.3,
                random_state=0,
            ),
        )
    yield "imbalance", attempt(partition.hypergraph_parts, B, 2, imbalance=-1)
    yield "weights", attempt(partition.hypergraph_parts, B, 2, edge_weights=np.array([1.0]))


@CASES
def embedding():
    S = _similar()
    values, vectors = partition.leading_eigenvectors(S, 4, np.random.RandomState(0))
    yield "values", values
    yield (
        "vectors",
        [np.abs(vectors.T @ vectors), np.abs(S @ vectors - vectors * values).max() < 1e-8],
    )
    yield "unit", [partition.unit_rows(blobs()), partition.unit_rows(np.zeros((2, 2)))]
    for weights in (None, np.linspace(1, 3, 48)):
        for k in (1, 3, 5):
            yield (
                f"kmeans {k} {weights is None}",
                attempt(partition.kmeans_labels, blobs(), k, weights, np.random.RandomState(0)),
            )
    yield (
        "start",
        attempt(
            partition.kmeans_labels, blobs(), 3, None, np.random.RandomState(0), init=blobs()[:3]
        ),
    )
    yield "fill", attempt(_embed.fill_empty, np.zeros(48, np.int32), 3, blobs())
    yield "filled", attempt(_embed.fill_empty, truth().astype(np.int32), 3, blobs())
    yield "part", _parts.one_part(4, "spectral")
    for k, n in ((0, 3), (4, 3), (3, 3), (1, 1)):
        yield f"check {k} {n}", attempt(_parts.check_n_parts, k, n, owner="x")
    yield "module", sorted(split.__all__)


@CASES
def refusals_and_repairs():
    S = _similar()
    with patch.object(split, "MAX_DENSE", 5):
        for solver in ("auto", "metis", "balanced"):
            found = attempt(partition.split_rows, blobs(), 3, solver=solver, random_state=0)
            yield f"large {solver}", found
    with patch.object(split, "has_metis", lambda: False):
        for solver in ("auto", "metis"):
            yield (
                f"no metis {solver}",
                attempt(
                    partition.split_graph,
                    partition.similarity_graph(S),
                    3,
                    solver=solver,
                    random_state=0,
                ),
            )
            yield (
                f"no metis rows {solver}",
                attempt(partition.split_rows, blobs(), 3, solver=solver, random_state=0),
            )
            yield (
                f"no metis {solver} bipartite",
                attempt(
                    partition.split_bipartite,
                    ensembles()["whole"].indicator(),
                    3,
                    solver=solver,
                    random_state=0,
                ),
            )
    groups = np.arange(48) // 2
    for solver in ("balanced", "spectral", "metis"):
        yield (
            f"groups {solver}",
            attempt(
                partition.split_rows, blobs()[::2], 3, solver=solver, groups=groups, random_state=0
            ),
        )
    star = np.zeros((9, 9))
    star[0, 1:] = star[1:, 0] = 1
    path = np.diag(np.ones(8), 1) + np.diag(np.ones(8), -1)
    for key, given in {
        "star": star,
        "path": path,
        "tiny": S * 1e-12,
        "steep": S**20,
        "near": S + 1e-12 * np.triu(S),
    }.items():
        made = partition.similarity_graph(given)
        for k in (2, 4, 8):
            yield f"{key} metis {k}", attempt(partition.metis, made, k, random_state=0)
            yield f"{key} spectral {k}", attempt(partition.spectral, made, k, random_state=0)
    wide = (np.arange(60)[:, None] % 7 == np.arange(7)[None]) * 1.0
    for k in (2, 5, 7, 30):
        yield f"wide {k}", attempt(partition.hypergraph_parts, wide, k, random_state=0)
        yield f"wide cut {k}", attempt(partition.transfer_cut, wide, k, random_state=0)
        yield f"wide rows {k}", attempt(partition.balanced_rows, wide, k, random_state=0)
    yield (
        "weights",
        attempt(
            partition.hypergraph_parts, wide, 3, edge_weights=np.linspace(0.1, 1, 7), random_state=0
        ),
    )
    big = np.kron(np.eye(4), np.ones((60, 60))) + 0.01
    values, vectors = partition.leading_eigenvectors(big, 3, np.random.RandomState(0))
    yield "large matrix", [values, bool(np.abs(big @ vectors - vectors * values).max() < 1e-6)]
    rng = np.random.default_rng(0)
    cloud = np.concatenate([rng.normal(9 * c, 0.5, (30, 2)) for c in range(3)])
    few = {"_MANY_ROWS": 20, "_SAMPLE": 20, "_SAMPLE_A_CLUSTER": 1}
    with patch.multiple(_embed, **few):
        for weights in (None, np.linspace(1, 2, 90)):
            yield (
                f"sample {weights is None}",
                attempt(partition.kmeans_labels, cloud, 3, weights, np.random.RandomState(0)),
            )
    zeros = sparse.csr_array(
        ([1.0, 0.0, 2.0, 2.0, 1.0, 0.0], ([0, 0, 1, 2, 2, 1], [0, 1, 2, 1, 2, 0])), (3, 3)
    )
    yield (
        "stored zeros",
        [attempt(partition.similarity_graph, zeros), attempt(partition.bipartite_graph, zeros)],
    )
    sizes = rng.dirichlet(np.ones(5))
    for k_sizes in (sizes, [0.9, 0.05, 0.03, 0.01, 0.01]):
        yield (
            f"uneven {k_sizes[0]:.2f}",
            attempt(partition.balanced_rows, cloud, 5, sizes=k_sizes, random_state=0),
        )


test_stored = CASES.test()
