"""A graph that was checked, and its integer weights as METIS wants them.

METIS takes negative or asymmetric weights without complaint and returns rubbish, so every
graph goes through here first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from consilience._validation import as_array, as_numbers
from consilience.errors import InvalidInputError

__all__ = ["Graph", "bipartite_graph", "similarity_graph", "whole_vertex_weights", "whole_weights"]

# ClusterPack spreads this total over all entries of the matrix.
_TOTAL = 10**8
# Enough for the mean weight to be told from its neighbours in large graphs.
_A_WEIGHT = 20
# Relative asymmetry that is taken for rounding.
_ROUNDING = 1e-9
# Rows of a dense matrix looked at together.
_BLOCK = 512


@dataclass(frozen=True)
class Graph:
    """An undirected graph with non-negative weights, checked.

    Attributes
    ----------
    adjacency : csr_array of shape (n, n), float64
        Symmetric, without a diagonal, every stored weight above 0.
    vertex_weights : ndarray of shape (n,), float64, or None
        What balance counts; None is 1 for every vertex.
    """

    adjacency: sparse.csr_array
    vertex_weights: NDArray[np.float64] | None = None

    @property
    def n_vertices(self) -> int:
        """Number of vertices."""
        return int(self.adjacency.shape[0])

    def cut(self, labels: NDArray[Any]) -> float:
        """Weight of the edges between different parts."""
        starts, ends = self.adjacency.indptr, self.adjacency.indices
        source = np.repeat(labels, np.diff(starts))
        return float(self.adjacency.data[source != labels[ends]].sum() / 2)

    def n_components(self) -> int:
        """Number of connected components."""
        return int(connected_components(self.adjacency, directed=False, return_labels=False))

    def reorder(self, order: NDArray[np.int64]) -> "Graph":
        """The same graph with vertex ``order[i]`` at position i."""
        rank = np.empty(len(order), self.adjacency.indices.dtype)
        rank[order] = np.arange(len(order), dtype=rank.dtype)
        rows = self.adjacency[order]
        rows = sparse.csr_array((rows.data, rank[rows.indices], rows.indptr), shape=rows.shape)
        # METIS breaks ties by the order of the neighbours: left as they were, they would
        # give the old order away. By columns they come out sorted, and columns are rows here.
        turned = rows.tocsc()
        moved = sparse.csr_array((turned.data, turned.indices, turned.indptr), shape=rows.shape)
        weights = self.vertex_weights
        return Graph(moved, None if weights is None else weights[order])


def similarity_graph(S: Any, vertex_weights: Any = None) -> Graph:
    """A checked graph of a similarity matrix.

    Parameters
    ----------
    S : array or sparse matrix of shape (n, n)
        Symmetric up to rounding, finite, non-negative. The diagonal is left out: self-loops
        do not count in a cut but distort coarsening.
    vertex_weights : array of shape (n,), optional
        Finite and non-negative.

    Raises
    ------
    InvalidInputError
        If S is not square, not symmetric, or has a negative or non-finite entry.

    Examples
    --------
    >>> graph = similarity_graph(np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.0]]))
    >>> graph.adjacency.nnz, graph.cut(np.array([0, 0, 1]))
    (4, 0.25)
    """
    if not sparse.issparse(S):
        S = as_array(S)
    if len(S.shape) != 2 or S.shape[0] != S.shape[1]:
        raise InvalidInputError(f"A similarity matrix must be square. Got shape {S.shape}.")
    if S.dtype.kind not in "biuf":
        raise InvalidInputError(f"A similarity matrix must hold real numbers. Got {S.dtype}.")
    # It is left out, but what is no number there hides how a row differs from its mirror image.
    _check_finite(S.diagonal(), "similarities")
    kept = _off_diagonal(S)
    _check_entries(kept.data, "similarities")
    worst = _asymmetry(S if isinstance(S, np.ndarray) else kept)
    if worst > _ROUNDING * (kept.data.max() if kept.nnz else 1.0):
        raise InvalidInputError(
            f"A similarity matrix must be symmetric. Entries differ by {worst:g} from their mirror "
            "image; take the mean of the matrix and its transpose if that is what you mean."
        )
    if worst > 0:
        kept = sparse.csr_array((kept + kept.T) / 2)
    kept.sort_indices()
    return Graph(kept, _checked_vertex_weights(vertex_weights, kept.shape[0]))


def _off_diagonal(S: Any) -> sparse.csr_array:
    """A copy in float64 without diagonal and zeros."""
    if isinstance(S, np.ndarray):
        inside = S != 0
        np.fill_diagonal(inside, False)
        starts = np.concatenate([[0], np.cumsum(inside.sum(axis=1))])
        # One index type for both, or SciPy copies the larger array.
        kind = sparse.get_index_dtype(maxval=starts[-1])
        columns = np.broadcast_to(np.arange(S.shape[1], dtype=kind), S.shape)[inside]
        starts = starts.astype(kind)
        data = S[inside].astype(np.float64, copy=False)
        return sparse.csr_array((data, columns, starts), shape=S.shape)
    kept = sparse.csr_array(S, dtype=np.float64, copy=True)
    kept.sum_duplicates()
    kept.setdiag(0.0)
    kept.eliminate_zeros()
    return kept


def _asymmetry(S: Any) -> float:
    """Largest difference of an entry to its mirror image."""
    if sparse.issparse(S):
        difference = S - S.T
        return float(abs(difference).max()) if difference.nnz else 0.0
    worst = 0.0
    for start in range(0, len(S), _BLOCK):
        rows, mirror = S[start : start + _BLOCK], S[:, start : start + _BLOCK].T
        if rows.dtype.kind in "ub":
            # The difference of unsigned numbers wraps.
            rows, mirror = rows.astype(np.float64), mirror.astype(np.float64)
        worst = max(worst, float(np.abs(rows - mirror).max()))
    return worst


def bipartite_graph(Q: Any, vertex_weights: Any = None) -> Graph:
    """The graph of rows and columns: an edge for every entry; columns come first.

    Parameters
    ----------
    Q : array or sparse matrix of shape (n, p)
        Finite, non-negative; for instance objects x clusters.
    vertex_weights : array of shape (p + n,), optional
        Columns first.

    Examples
    --------
    >>> graph = bipartite_graph(np.array([[1.0, 0.0], [1.0, 2.0]]))
    >>> graph.adjacency.toarray().astype(int)
    array([[0, 0, 1, 1],
           [0, 0, 0, 2],
           [1, 0, 0, 0],
           [1, 2, 0, 0]])
    """
    if not sparse.issparse(Q):
        Q = as_numbers("Q", Q, owner="bipartite_graph", shape=(None, None))
    rows = sparse.csr_array(Q, dtype=np.float64)
    _check_entries(rows.data, "memberships")
    if rows.nnz and rows.data.min() == 0:
        rows = rows.copy()
        rows.eliminate_zeros()
    return Graph(_both_ways(rows), _checked_vertex_weights(vertex_weights, sum(rows.shape)))


def _both_ways(rows: sparse.csr_array) -> sparse.csr_array:
    """The adjacency of columns and rows, columns first; neighbours come sorted."""
    n, p = rows.shape
    columns = rows.tocsc()  # sorts each column, and back again each row
    rows = columns.tocsr()
    kind = np.int32 if max(2 * rows.nnz, n + p) < 2**31 else np.int64
    starts = np.concatenate([columns.indptr, columns.nnz + rows.indptr[1:].astype(kind)])
    ends = np.concatenate([columns.indices.astype(kind) + kind(p), rows.indices.astype(kind)])
    weights = np.concatenate([columns.data, rows.data])
    return sparse.csr_array((weights, ends, starts.astype(kind)), shape=(n + p, n + p))


def whole_weights(values: NDArray[np.float64], *, width: int = 64) -> NDArray[np.int64]:
    """Edge weights as whole numbers by ClusterPack's rule; some may be 0.

    The total over all entries (both directions of an edge) is 1e8, or 20 for each entry if
    that is more: with less, small weights of large graphs vanish.

    Parameters
    ----------
    values : (n_entries,) non-negative floats
        Both directions of every edge.
    width : {64, 32}
        Bits of the partitioner's integers; 32 caps the total at 2**30.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3; the rule is that of their ClusterPack.

    Examples
    --------
    >>> whole_weights(np.array([0.5, 0.5, 1.0, 1.0]))
    array([16666667, 16666667, 33333333, 33333333])
    """
    total = max(_TOTAL, _A_WEIGHT * len(values))
    if width < 64:
        total = min(total, 2**30)
    return _spread(values, total)


def whole_vertex_weights(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Vertex weights as whole numbers of total 1e8, each at least 1."""
    return np.maximum(_spread(values, _TOTAL), 1)


def _spread(values: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    mass = float(values.sum())
    if mass <= 0:
        return np.zeros(len(values), np.int64)
    scaled = values * (total / mass)
    return np.rint(scaled, out=scaled).astype(np.int64)


def _check_finite(values: NDArray[Any], what: str) -> None:
    if not np.isfinite(values).all():
        raise InvalidInputError(f"The {what} of a graph must be finite. Got NaN or infinity.")


def _check_entries(values: NDArray[np.float64], what: str) -> None:
    _check_finite(values, what)
    if values.size and values.min() < 0:
        raise InvalidInputError(
            f"The {what} of a graph must not be negative. Got {values.min():g}."
        )


def _checked_vertex_weights(weights: Any, n: int) -> NDArray[np.float64] | None:
    if weights is None:
        return None
    numbers = as_numbers("vertex_weights", weights, owner="a graph", shape=(n,), each="vertex")
    _check_entries(numbers, "vertex weights")
    return numbers
