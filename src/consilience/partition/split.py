"""One call for each kind of graph that a consensus cuts: the solver is a parameter.

``solver="auto"`` takes METIS where it is installed and the graph is of a size it handles
well, and otherwise a way that needs no package. The choice is part of the result.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from consilience._validation import Options, as_numbers, check_value
from consilience.errors import InvalidInputError, MemoryBudgetError
from consilience.partition._parts import Parts, check_n_parts, checked_sizes
from consilience.partition.balanced import balanced_rows
from consilience.partition.graph import Graph, bipartite_graph, similarity_graph
from consilience.partition.metis import MAX_DENSE, has_metis, metis, metis_of_labels
from consilience.partition.spectral import spectral
from consilience.partition.transfer import LabelLinks, transfer_cut

__all__ = ["Solver", "choose_bipartite", "split_bipartite", "split_graph", "split_rows"]

Solver = Literal["auto", "metis", "balanced", "spectral"]

# Up to here METIS cuts the complete graph of all pairs in seconds.
_GRAM_METIS = 3000
# Entries of a graph of objects and clusters: about 3.5 GB inside METIS.
_BIPARTITE_METIS = 5 * 10**7
# Cuts tried at each bisection of a graph of objects and clusters, and up to how many edges. Past
# that one cut: as good as METIS's own default on the same graph, twice its time. Ten cuts are five
# to ten times slower; they change nothing where members agree, and gain up to 0.04 of ARI where
# half of the labels are wrong.
_CUTS, _MANY_EDGES = 10, 100_000


def split_rows(
    F: Any,
    k: int,
    *,
    solver: Solver = "auto",
    sizes: ArrayLike | None = None,
    groups: NDArray[np.integer[Any]] | None = None,
    gram: Callable[[], Any] | None = None,
    n_cuts: int = 10,
    random_state: Any = None,
) -> Parts:
    """Parts of objects by the similarity F F^T of their rows.

    Parameters
    ----------
    F : array or sparse matrix of shape (n_rows, p)
        Non-negative rows whose products are similarities.
    k : int
        Number of parts.
    solver : {"auto", "metis", "balanced", "spectral"}
        The complete graph by METIS (memory n^2), `balanced_rows` (the same balance, no
        matrix), or `transfer_cut` of F (not balanced). "auto" is METIS up to 3000 objects
        where it is installed, else balanced.
    sizes : sequence of k whole numbers, optional
        Objects in each part; not for "spectral".
    groups : array of shape (n_objects,), optional
        The row of F of each object, where equal objects share a row.
    gram : callable, optional
        Makes the n_objects x n_objects similarities where METIS needs them; F F^T by
        default.
    n_cuts : int, default=10
        Cuts that METIS tries at each bisection.
    random_state : int, RandomState or None

    Returns
    -------
    Parts
        ``note`` says where "metis" was asked for and refused: past 8000 objects the
        complete graph takes too much memory, and balanced parts are returned.
    """
    _check_solver(solver, ("auto", "metis", "balanced", "spectral"))
    if not sparse.issparse(F):
        F = as_numbers("F", F, owner="split_rows", shape=(None, None))
    n = F.shape[0] if groups is None else len(groups)
    check_n_parts(k, n, owner="split_rows", what="objects")
    if sizes is not None:
        sizes = checked_sizes(sizes, k, n)
    if solver == "auto":
        solver = "metis" if n <= _GRAM_METIS and has_metis() else "balanced"
    if solver == "spectral":
        if sizes is not None:
            raise InvalidInputError("sizes cannot be kept by solver='spectral'; use 'balanced'.")
        return _spectral_rows(F, k, groups, random_state)
    note = ""
    if solver == "metis":
        if n <= MAX_DENSE:
            S = _gram(F, groups) if gram is None else gram()
            return _metis_of_all_pairs(S, k, sizes, n_cuts, random_state)
        note = f"METIS was refused for the complete graph of {n} objects (limit {MAX_DENSE})"
    parts = balanced_rows(F, k, sizes=sizes, groups=groups, random_state=random_state)
    return replace(parts, note=note)


def split_bipartite(
    Q: Any,
    k: int,
    *,
    solver: Solver = "auto",
    balance: Literal["all", "objects"] = "all",
    n_cuts: int | None = None,
    random_state: Any = None,
) -> Parts:
    """Parts of objects by the graph of objects and clusters.

    Parameters
    ----------
    Q : array, sparse matrix or LabelLinks of shape (n, p)
        Objects x clusters, non-negative. METIS takes no weights of `LabelLinks`.
    k : int
        Number of parts.
    solver : {"auto", "metis", "spectral"}
        METIS, or `transfer_cut` (not balanced). "auto" is METIS where it is installed and
        the graph has at most 25 million edges.
    balance : {"all", "objects"}
        Whether clusters count like objects in the balance (as published), or hardly.
    n_cuts : int or None, default=None
        Cuts that METIS tries at each bisection. None is 10, and 1 for graphs of more than 100,000
        edges.
    random_state : int, RandomState or None

    Returns
    -------
    Parts
        Of the objects; ``cut`` is that of the whole graph. Parts of METIS may hold clusters
        only: such a part is empty of objects.
    """
    _check_solver(solver, ("auto", "metis", "spectral"))
    check_value("balance", balance, [Options(("all", "objects"))], owner="split_bipartite")
    labels_only = isinstance(Q, LabelLinks)
    if not (labels_only or sparse.issparse(Q)):
        Q = as_numbers("Q", Q, owner="split_bipartite", shape=(None, None))
    n_edges = int(np.count_nonzero(Q)) if isinstance(Q, np.ndarray) else Q.nnz
    solver, note = choose_bipartite(n_edges, solver)
    if solver == "spectral":
        parts = transfer_cut(Q, k, random_state=random_state)
        return replace(parts, note="; ".join(part for part in (note, parts.note) if part))
    n, p = Q.shape
    weights = None
    if n_cuts is None:
        n_cuts = _CUTS if n_edges <= _MANY_EDGES else 1
    if balance == "objects":
        weights = np.concatenate([np.ones(p), np.full(n, p + 1.0)])
    if labels_only:
        whole = metis_of_labels(Q, k, weights=weights, n_cuts=n_cuts, random_state=random_state)
    else:
        whole = metis(bipartite_graph(Q, weights), k, n_cuts=n_cuts, random_state=random_state)
    labels = whole.labels[p:]
    return replace(whole, labels=labels, sizes=np.bincount(labels, minlength=k))


def choose_bipartite(n_edges: int, solver: Solver = "auto") -> tuple[Solver, str]:
    """The solver for a graph of objects and clusters, and a note where balance is lost."""
    if solver != "auto":
        return solver, ""
    if not has_metis():
        return "spectral", "pymetis is not installed: a normalised cut, not balanced"
    if 2 * n_edges > _BIPARTITE_METIS:
        return "spectral", "too large for METIS: a normalised cut, not balanced"
    return "metis", ""


def split_graph(
    graph: Graph, k: int, *, solver: Solver = "auto", n_cuts: int = 10, random_state: Any = None
) -> Parts:
    """Parts of a graph of at most a few thousand vertices, such as clusters of all members.

    Parameters
    ----------
    graph : Graph
        See `similarity_graph`.
    k : int
        Number of parts.
    solver : {"auto", "metis", "spectral"}
        METIS, or the normalised cut (not balanced). "auto" is METIS where it is installed.
    n_cuts : int, default=10
        Cuts that METIS tries at each bisection.
    random_state : int, RandomState or None
    """
    _check_solver(solver, ("auto", "metis", "spectral"))
    if solver == "metis" or (solver == "auto" and has_metis()):
        try:
            return metis(graph, k, n_cuts=n_cuts, random_state=random_state)
        except MemoryBudgetError:
            if solver == "metis":
                raise
    parts = spectral(graph, k, random_state=random_state)
    if solver == "spectral":
        return parts
    reasons = ["METIS cannot be used here: a normalised cut, not balanced", parts.note]
    return replace(parts, note="; ".join(reason for reason in reasons if reason))


def _check_solver(solver: str, allowed: tuple[str, ...]) -> None:
    check_value("solver", solver, [Options(allowed)], owner="the partitioner")


def _metis_of_all_pairs(
    S: Any, k: int, sizes: ArrayLike | None, n_cuts: int, random_state: Any
) -> Parts:
    """METIS on a dense matrix, permuted while it is one: far cheaper than as a graph."""
    order = check_random_state(random_state).permutation(len(S))
    graph = similarity_graph(S[np.ix_(order, order)])
    shares = None
    if sizes is not None:
        shares = as_numbers("sizes", sizes, owner="the partitioner")
    parts = metis(graph, k, shares=shares, n_cuts=n_cuts, shuffle=False)
    labels = np.empty_like(parts.labels)
    labels[order] = parts.labels
    return replace(parts, labels=labels)


def _spectral_rows(
    F: Any, k: int, groups: NDArray[np.integer[Any]] | None, random_state: Any
) -> Parts:
    if groups is None:
        return transfer_cut(F, k, random_state=random_state)
    counts = np.bincount(groups, minlength=F.shape[0])
    # A row without objects must not be all that a part has.
    held = np.flatnonzero(counts)
    if len(held) < len(counts):
        F = sparse.csr_array(F)[held] if sparse.issparse(F) else F[held]
        groups = np.searchsorted(held, groups)
    parts = transfer_cut(F, k, random_state=random_state, weights=counts[held])
    labels = parts.labels[groups]
    return replace(parts, labels=labels, sizes=np.bincount(labels, minlength=k))


def _gram(F: Any, groups: NDArray[np.integer[Any]] | None) -> NDArray[np.float64]:
    """The similarities of all objects, dense."""
    product = F @ F.T
    S: NDArray[np.float64] = product.toarray() if sparse.issparse(product) else np.asarray(product)
    return S if groups is None else S[np.ix_(groups, groups)]
