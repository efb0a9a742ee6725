"""Graphs in any form as one symmetric matrix: the one border where they are checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import columns_of, is_frame, is_missing
from consilience._words import plural, shown
from consilience.errors import InvalidInputError, warn

__all__ = ["Graph", "as_graph", "graph_of_pairs", "is_graph"]

# Memory is linear in nodes as well, whatever few edges a file has.
_MOST_NODES = 500_000_000
# Weights of both directions that differ by no more than rounding are the same edge.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Nodes and the weighted edges between them, without direction: what `as_graph` returns.

    Attributes
    ----------
    adjacency : CSR array of shape (n_objects, n_objects), float64
        Weights, above 0; symmetric, with an empty diagonal.
    ids : ndarray of shape (n_objects,) or None
        Name of each node; None where nodes are numbered 0, 1, 2, ...
    name : str
        What the graph is called; "" where nobody said.
    """

    adjacency: Any
    ids: NDArray[Any] | None = None
    name: str = ""

    @property
    def n_objects(self) -> int:
        """Nodes."""
        return int(self.adjacency.shape[0])

    @property
    def n_edges(self) -> int:
        """Edges, each once."""
        return int(self.adjacency.nnz) // 2

    @property
    def isolated(self) -> NDArray[np.bool_]:
        """Nodes without edges."""
        return np.diff(self.adjacency.indptr) == 0

    def edges(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
        """Both nodes of each edge, the smaller first, and its weight."""
        return upper_edges(self.adjacency)

    def __repr__(self) -> str:
        name = f"{self.name!r}: " if self.name else ""
        return f"Graph({name}{plural(self.n_objects, 'node')}, {plural(self.n_edges, 'edge')})"


def upper_edges(adjacency: Any) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]:
    """Both nodes of each edge of a symmetric matrix, the smaller first, and its weight."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    upper = rows < adjacency.indices
    return rows[upper], adjacency.indices[upper], adjacency.data[upper]


def is_graph(X: Any) -> bool:
    """Whether this can only be a graph: ours, or one of networkx."""
    return isinstance(X, Graph) or _is_networkx(X)


def _is_networkx(X: Any) -> bool:
    """Recognised by what it can do: networkx is no dependency."""
    return all(hasattr(X, name) for name in ("nodes", "edges", "is_directed", "is_multigraph"))


def as_graph(X: Any, *, owner: str = "as_graph") -> Graph:
    """A graph in any form, checked; what is done to it is said in a `ConsilienceWarning`.

    Parameters
    ----------
    X : Graph, networkx graph, sparse or square matrix, edge list, or frame
        A square matrix, sparse or dense, holds the weight of each edge. A list of pairs or
        triples, an array of two or three columns that is not square, or a frame, holds an edge
        a row: two nodes of any names, and a weight; 1 where there is none. In a frame, a row
        without a second node names a node without edges.
    owner : str
        Who asks, for messages.

    Returns
    -------
    Graph
        Without direction: what goes both ways is added up. Edges that are there several times
        are added up too, unless the matrix is symmetric; edges of a node with itself, and of
        weight 0, are left out.

    Raises
    ------
    InvalidInputError
        If this is no graph, a weight is negative or not finite, or there are no edges.

    Examples
    --------
    >>> graph = as_graph([("a", "b"), ("b", "c"), ("a", "c"), ("c", "d")])
    >>> graph, graph.ids.tolist()
    (Graph(4 nodes, 4 edges), ['a', 'b', 'c', 'd'])
    """
    if isinstance(X, Graph):
        return X
    if _is_networkx(X):
        return _of_networkx(X, owner)
    if is_frame(X):
        return _of_frame(X, owner)
    if sparse.issparse(X):
        return _of_matrix(X, owner)
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.shape[0] == X.shape[1]:
        return _of_matrix(_dense(X, owner), owner)
    return _of_list(X, owner)


def _of_matrix(X: Any, owner: str) -> Graph:
    if len(X.shape) != 2 or X.shape[0] != X.shape[1]:
        raise InvalidInputError(
            f"The graph given to {owner} must be a square matrix, a row and a column a node. Got "
            f"shape {X.shape} instead. A table with a row an object is clustered by cluster(X)."
        )
    if np.iscomplexobj(X) or X.dtype.kind not in "biuf":
        raise _unusable(owner, f"weights of type {X.dtype}")
    coo = sparse.coo_array(X).astype(np.float64)
    matrix = sparse.csr_array(coo)
    matrix.sum_duplicates()
    _check_weights(matrix.data, owner)
    other = sparse.csr_array(matrix.T)
    difference = abs(matrix - other)
    largest = float(matrix.data.max(initial=0.0))
    if difference.nnz and float(difference.data.max()) > _ROUNDING * largest:
        warn(
            "The graph is directed: its matrix is not symmetric. It is taken without direction, "
            "and weights of both ways are added up."
        )
        matrix = sparse.csr_array(matrix + other)
    return _cleaned(matrix, None, "", owner)


def _dense(X: NDArray[Any], owner: str) -> NDArray[Any]:
    """A dense matrix of real numbers."""
    if X.dtype.kind == "O":
        X = _weights(X, owner)
    if X.dtype.kind not in "biuf":
        raise _unusable(owner, f"weights of type {X.dtype}")
    return X


def _of_networkx(X: Any, owner: str) -> Graph:
    nodes = list(X.nodes)
    if not nodes:
        raise _unusable(owner, "no nodes")
    place = {node: i for i, node in enumerate(nodes)}
    triples = list(X.edges(data="weight", default=1))
    first = np.fromiter((place[u] for u, _, _ in triples), np.int64, len(triples))
    second = np.fromiter((place[v] for _, v, _ in triples), np.int64, len(triples))
    if X.is_directed():
        warn(
            "The graph is directed. It is taken without direction, and weights of both ways are "
            "added up."
        )
    names = None if nodes == list(range(len(nodes))) else _names(nodes)
    return graph_of_pairs(
        first, second, _weights([w for _, _, w in triples], owner), len(nodes), names, owner=owner
    )


def _of_frame(X: Any, owner: str) -> Graph:
    columns = [_cells(column) for column in columns_of(X)]
    if len(columns) not in (2, 3):
        raise InvalidInputError(
            f"A frame of edges given to {owner} must have two columns of nodes, and may have a "
            f"third of weights. Got {plural(len(columns), 'column')} instead."
        )
    weights = columns[2] if len(columns) == 3 else [1.0] * len(X)
    return _of_cells(columns[0], columns[1], weights, owner)


def _cells(column: Any) -> list[Any]:
    """Values of a column; None where one is missing."""
    values = column.to_list() if hasattr(column, "to_list") else list(column)
    return [None if is_missing(value) else value for value in values]


def _of_cells(
    first: Sequence[Any], second: Sequence[Any], weights: Sequence[Any], owner: str
) -> Graph:
    if any(cell is None for cell in first):
        raise _unusable(owner, "a row without a first node")
    names = _ordered({*first, *(cell for cell in second if cell is not None)})
    place = {name: i for i, name in enumerate(names)}
    edges = [i for i, cell in enumerate(second) if cell is not None]
    kept = None if names == list(range(len(names))) else _names(names)
    return graph_of_pairs(
        np.array([place[first[i]] for i in edges], np.int64),
        np.array([place[second[i]] for i in edges], np.int64),
        _weights([weights[i] for i in edges], owner),
        len(names),
        kept,
        owner=owner,
    )


def _of_list(X: Any, owner: str) -> Graph:
    if isinstance(X, np.ndarray):
        if X.ndim != 2 or X.shape[1] not in (2, 3):
            raise _unusable(owner, f"an array of shape {X.shape}")
        if X.dtype.kind in "iu" or (X.dtype.kind == "f" and _whole(X[:, :2])):
            return _of_numbers(X, owner)
        if X.dtype.kind not in "OUT":
            missing = X.dtype.kind == "f" and not np.isfinite(X).all()
            what = "with NaN or infinity" if missing else f"of type {X.dtype}"
            raise _unusable(owner, f"an array {what}, where nodes have whole numbers or names")
        X = X.tolist()
    try:
        rows = [tuple(row) for row in X]
    except TypeError as error:
        raise _unusable(owner, shown(X)) from error
    if not rows or {len(row) for row in rows} - {2, 3} or len({len(row) for row in rows}) > 1:
        raise _unusable(owner, shown(X))
    weights = [row[2] for row in rows] if len(rows[0]) == 3 else [1.0] * len(rows)
    return _of_cells([row[0] for row in rows], [row[1] for row in rows], weights, owner)


def _whole(values: NDArray[Any]) -> bool:
    return bool(np.isfinite(values).all() and (values == np.floor(values)).all())


def _of_numbers(X: NDArray[Any], owner: str) -> Graph:
    """Edges between numbered nodes."""
    nodes, places = np.unique(X[:, :2].astype(np.int64), return_inverse=True)
    first, second = places.reshape(-1, 2).T
    weights = X[:, 2].astype(np.float64) if X.shape[1] == 3 else np.ones(len(X))
    names = None if np.array_equal(nodes, np.arange(len(nodes))) else nodes
    return graph_of_pairs(first, second, weights, len(nodes), names, owner=owner)


def _ordered(names: set[Any]) -> list[Any]:
    """Names in an order that does not hang on that of the edges, where they have one."""
    try:
        return sorted(names)
    except TypeError:
        return sorted(names, key=lambda name: (type(name).__name__, repr(name)))


def _names(names: Sequence[Any]) -> NDArray[Any]:
    """Names as an array of one dimension, as text or numbers where all are."""
    kinds = {type(name) for name in names}
    if kinds <= {str} or kinds <= {int}:
        return np.array(names)
    return np.fromiter(names, object, len(names))


def _weights(values: Any, owner: str) -> NDArray[np.float64]:
    try:
        return np.array(values, np.float64)
    except (TypeError, ValueError) as error:
        raise _unusable(owner, "weights that are no numbers") from error


def graph_of_pairs(
    first: NDArray[np.integer[Any]],
    second: NDArray[np.integer[Any]],
    weights: NDArray[np.float64],
    n_objects: int,
    ids: NDArray[Any] | None = None,
    *,
    name: str = "",
    owner: str = "as_graph",
) -> Graph:
    """The graph of pairs of numbered nodes, whose weights are checked.

    >>> graph_of_pairs(np.array([0, 1]), np.array([1, 2]), np.ones(2), 3)
    Graph(3 nodes, 2 edges)
    """
    if n_objects > _MOST_NODES:
        raise _unusable(owner, f"{n_objects} nodes, where at most {_MOST_NODES} are read")
    _check_weights(weights, owner)
    loops = first == second
    low, high = np.minimum(first, second)[~loops], np.maximum(first, second)[~loops]
    shape = (n_objects, n_objects)
    upper = sparse.coo_array((weights[~loops], (low, high)), shape=shape).tocsr()
    upper.sum_duplicates()
    repeated = len(low) - upper.nnz
    if repeated:
        warn(
            f"{plural(repeated, 'edge')} of the graph {'is' if repeated == 1 else 'are'} between "
            "nodes that an earlier one joins already: their weights are added up."
        )
    matrix = sparse.csr_array(upper + upper.T)
    return _cleaned(matrix, ids, name, owner, int(loops.sum()))


def _cleaned(
    matrix: Any, ids: NDArray[Any] | None, name: str, owner: str, n_loops: int = 0
) -> Graph:
    """The graph of a symmetric matrix without what is no edge, which is said."""
    diagonal = matrix.diagonal()
    n_loops += int((diagonal != 0).sum())
    if (diagonal != 0).any():
        matrix = sparse.csr_array(matrix - sparse.diags_array(diagonal))
    matrix.eliminate_zeros()
    matrix.sort_indices()
    if n_loops:
        warn(
            f"{plural(n_loops, 'edge')} of a node with itself {'says' if n_loops == 1 else 'say'} "
            f"nothing of communities, and {'is' if n_loops == 1 else 'are'} left out."
        )
    graph = Graph(matrix, ids, name)
    if graph.n_objects == 1:
        raise _unusable(owner, "one sample (n_samples=1): a single node")
    if not graph.n_edges:
        raise _unusable(owner, "no edges between different nodes")
    alone = int(graph.isolated.sum())
    if alone:
        warn(
            f"{plural(alone, 'node')} of {graph.n_objects} {'has' if alone == 1 else 'have'} no "
            "edges, and cannot be in a community: their label is -1."
        )
    return graph


def _check_weights(weights: NDArray[Any], owner: str) -> None:
    finite = np.isfinite(weights)
    if not finite.all():
        raise _unusable(owner, f"a weight that is not finite, {weights[~finite][0]}")
    if (weights < 0).any():
        raise InvalidInputError(
            f"The graph given to {owner} has {plural(int((weights < 0).sum()), 'negative weight')} "
            f"(Negative values in data, such as {weights[weights < 0][0]:g}). Communities are "
            "groups of many or heavy edges: weights must be 0 or more. Leave out edges that speak "
            "against a common group, or shift the weights."
        )


def _unusable(owner: str, got: str) -> InvalidInputError:
    return InvalidInputError(
        f"The graph given to {owner} must be an edge list (pairs, or pairs and weights), a square "
        f"matrix of weights, or a networkx graph, with edges of finite weights. Got {got} instead."
    )
