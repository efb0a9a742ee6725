"""METIS by recursive bisection, with the settings that reproduce ClusterPack's results."""

import sys
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from consilience._optional import optional
from consilience._validation import Interval, check_value
from consilience.errors import InvalidInputError, MemoryBudgetError, MissingPackageError
from consilience.kernels.labels.graph import label_graph
from consilience.kernels.labels.products import part_sums
from consilience.partition._parts import Parts, check_n_parts, one_part
from consilience.partition.graph import (
    Graph,
    bipartite_graph,
    whole_vertex_weights,
    whole_weights,
)
from consilience.partition.transfer import LabelLinks

__all__ = ["MAX_DENSE", "has_metis", "metis", "metis_of_labels"]

# A complete graph takes about 70 bytes an entry inside METIS: 4.5 GB at this many vertices.
MAX_DENSE = 8000


def has_metis() -> bool:
    """Whether METIS can be used here (it has no wheels for Windows)."""
    try:
        _pymetis()
    except MissingPackageError:
        return False
    return True


def metis(
    graph: Graph,
    k: int,
    *,
    shares: NDArray[np.float64] | None = None,
    n_cuts: int = 10,
    shuffle: bool = True,
    random_state: Any = None,
) -> Parts:
    """Parts of equal vertex weight with few and light edges between them.

    Parameters
    ----------
    graph : Graph
        See `similarity_graph` and `bipartite_graph`.
    k : int
        Number of parts, at most the number of vertices.
    shares : array of shape (k,), optional
        Share of the vertex weight that each part should have; equal by default.
    n_cuts : int, default=10
        Cuts tried at each bisection; the best is kept. Time grows with it.
    shuffle : bool, default=True
        Whether to permute the vertices first (and back after): balanced parts must split
        groups of equal vertices, and METIS does so by their numbers. Not needed where the
        caller has permuted them.
    random_state : int, RandomState or None
        For the permutation; METIS itself always starts from the same seed.

    Returns
    -------
    Parts
        Nearly balanced: off by about 0.1 %, or by a few vertices in small graphs. No part
        is empty.

    Raises
    ------
    MemoryBudgetError
        For complete graphs of more than 8000 vertices.
    MissingPackageError
        Without the package pymetis.

    Notes
    -----
    Recursive bisection, without two-hop matching (which merges objects of bipartite graphs
    blindly), the best of ``n_cuts`` cuts. k-way refinement fails on complete graphs of low
    contrast, and is not offered. Memory about 70 bytes an adjacency entry.

    References
    ----------
    Karypis & Kumar (1998), A fast and high quality multilevel scheme for partitioning
    irregular graphs, SIAM J. Sci. Comput. 20(1).

    Examples
    --------
    >>> from consilience.partition import similarity_graph
    >>> S = np.kron(np.eye(2), np.ones((3, 3))) + 0.1
    >>> parts = metis(similarity_graph(S), 2, random_state=0)
    >>> (parts.labels[:3] == parts.labels[0]).all().item(), parts.sizes.tolist()
    (True, [3, 3])
    """
    n = graph.n_vertices
    check_n_parts(k, n, owner="metis")
    if k == 1:
        return one_part(n, "metis")
    pymetis = _pymetis()
    _refuse_if_too_dense(n, graph.adjacency.nnz)
    _check_shares(shares, k)
    check_value("n_cuts", n_cuts, [Interval(Integral, 1)], owner="metis")
    labels = np.empty(n, np.int32)
    if shuffle:
        order = check_random_state(random_state).permutation(n)
        labels[order] = _bisect(pymetis, graph.reorder(order), k, shares, n_cuts)
    else:
        labels[:] = _bisect(pymetis, graph, k, shares, n_cuts)
    labels, repaired = _fill_empty(labels, k, graph)
    return Parts(
        labels, graph.cut(labels), "metis", np.bincount(labels, minlength=k), _repairs(repaired)
    )


def metis_of_labels(
    links: LabelLinks,
    k: int,
    *,
    weights: NDArray[np.float64] | None = None,
    n_cuts: int = 10,
    random_state: Any = None,
) -> Parts:
    """As `metis` of the `bipartite_graph` of these links, whose weights it does not look at.

    The same parts, but the graph is written down once, in its shuffled order, by threads.

    Parameters
    ----------
    links : LabelLinks
    k : int
        Number of parts.
    weights : array of shape (p + n,), optional
        Of the vertices, columns first.
    n_cuts, random_state
        As in `metis`.
    """
    members, starts, jobs = links.members, links.starts, links.n_jobs
    n = sum(links.shape)
    check_n_parts(k, n, owner="metis")
    if k == 1:
        return one_part(n, "metis")
    pymetis, n_edges = _pymetis(), links.nnz
    _refuse_if_too_dense(n, 2 * n_edges)
    check_value("n_cuts", n_cuts, [Interval(Integral, 1)], owner="metis")
    order = check_random_state(random_state).permutation(n)
    begins, ends = label_graph(members, starts, order, n_jobs=jobs)
    own = None if weights is None else weights[order]
    labels = np.empty(n, np.int32)
    labels[order] = _call(pymetis, begins, ends, k, None, n_cuts, None, own)
    sizes, note = np.bincount(labels, minlength=k), ""
    if not sizes.all():
        labels, repaired = _fill_empty(labels, k, _graph_of(links))
        sizes, note = np.bincount(labels, minlength=k), _repairs(repaired)
    p = links.shape[1]
    held = part_sums(members, starts, labels[p:], k, np.ones(n - p), n_jobs=jobs)
    kept = float(held[np.arange(p), labels[:p]].sum())
    return Parts(labels, n_edges - kept, "metis", sizes, note)


def _graph_of(links: LabelLinks) -> Graph:
    """The whole graph, for the rare repairs that need it."""
    members, starts = links.members, links.starts
    columns = members.T.astype(np.int64) + starts[:-1]
    rows, own = np.nonzero(members.T >= 0)
    ones = np.ones(len(rows))
    return bipartite_graph(sparse.csr_array((ones, (rows, columns[rows, own])), shape=links.shape))


def _repairs(repaired: int) -> str:
    return f"{repaired} empty parts were given one vertex each" if repaired else ""


def _pymetis() -> Any:
    """The package, or an error that says where it can be had."""
    try:
        return optional("pymetis", extra=None, what="The solver 'metis'")
    except MissingPackageError as error:
        where = "It has no wheels for Windows. " if sys.platform == "win32" else ""
        raise MissingPackageError(
            f"{error}\n{where}Without it, solver='auto' takes another way: 'balanced' for parts "
            "of equal size, 'spectral' otherwise."
        ) from error


def _check_shares(shares: NDArray[np.float64] | None, k: int) -> None:
    if shares is None:
        return
    if shares.shape != (k,) or not (np.isfinite(shares) & (shares > 0)).all():
        raise InvalidInputError(
            f"The sizes of {k} parts must be {k} numbers above 0. Got {shares.tolist()}."
        )


def _refuse_if_too_dense(n: int, entries: int) -> None:
    if n > MAX_DENSE and entries > n * (n - 1) / 2:
        raise MemoryBudgetError(
            f"METIS would need about {70 * entries / 2**30:.1f} GiB for {n} vertices with "
            f"{entries // 2} edges; dense graphs are refused above {MAX_DENSE} vertices. Use "
            "solver='balanced', which needs no matrix."
        )


def _bisect(
    pymetis: Any, graph: Graph, k: int, shares: NDArray[np.float64] | None, n_cuts: int
) -> NDArray[np.int32]:
    """The call itself, on vertices as they come."""
    kind = pymetis.zero_copy_dtype()
    width = 8 * np.dtype(kind).itemsize
    whole = graph.adjacency
    # Equal weights say nothing: METIS takes 1 for each.
    plain = whole.nnz == 0 or bool((whole.data == whole.data[0]).all())
    if not plain:
        rounded = whole_weights(whole.data, width=width)
        whole = sparse.csr_array((rounded, whole.indices, whole.indptr), shape=whole.shape)
        if rounded.min() == 0:
            # A weight of 0 is no edge; METIS would take it for one. The copy keeps ours as it is.
            whole = whole.copy()
            whole.eliminate_zeros()
    edges = None if plain else whole.data.astype(kind, copy=False)
    return _call(
        pymetis, whole.indptr, whole.indices, k, shares, n_cuts, edges, graph.vertex_weights
    )


def _call(
    pymetis: Any,
    begins: NDArray[Any],
    ends: NDArray[Any],
    k: int,
    shares: NDArray[np.float64] | None,
    n_cuts: int,
    edges: NDArray[Any] | None,
    weights: NDArray[np.float64] | None,
) -> NDArray[np.int32]:
    """METIS on lists of neighbours; without weights of edges each counts 1."""
    kind = pymetis.zero_copy_dtype()
    adjacency = pymetis.CSRAdjacency(begins.astype(kind, copy=False), ends.astype(kind, copy=False))
    answer = pymetis.part_graph(
        k,
        adjacency,
        eweights=edges,
        vweights=None if weights is None else whole_vertex_weights(weights).astype(kind),
        tpwgts=None if shares is None else (shares / shares.sum()).tolist(),
        recursive=True,
        options=pymetis.Options(no2hop=1, ncuts=int(n_cuts)),
    )
    return np.asarray(answer.vertex_part, np.int32)


def _fill_empty(labels: NDArray[np.int32], k: int, graph: Graph) -> tuple[NDArray[np.int32], int]:
    """Give each empty part the vertex of the largest part that is tied to it the least."""
    repaired = 0
    sizes = np.bincount(labels, minlength=k)
    for part in np.flatnonzero(sizes == 0):
        largest = int(sizes.argmax())
        inside = np.flatnonzero(labels == largest)
        ties = graph.adjacency[inside][:, inside].sum(axis=1)
        labels[inside[np.argmin(ties)]] = part
        sizes = np.bincount(labels, minlength=k)
        repaired += 1
    return labels, repaired
