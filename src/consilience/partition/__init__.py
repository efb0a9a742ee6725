"""Cutting graphs into parts: METIS, Mt-KaHyPar, and ways that need neither."""

from consilience._threads import one_thread
from consilience.partition._embed import (
    kmeans_labels,
    largest_eigenvectors,
    leading_eigenvectors,
    unit_rows,
)
from consilience.partition._parts import Parts
from consilience.partition.balanced import balanced_rows
from consilience.partition.graph import Graph, bipartite_graph, similarity_graph
from consilience.partition.hypergraph import hypergraph_parts
from consilience.partition.metis import has_metis, metis
from consilience.partition.spectral import spectral
from consilience.partition.split import (
    Solver,
    choose_bipartite,
    split_bipartite,
    split_graph,
    split_rows,
)
from consilience.partition.transfer import LabelLinks, transfer_cut

__all__ = [
    "Graph",
    "LabelLinks",
    "Parts",
    "Solver",
    "balanced_rows",
    "bipartite_graph",
    "choose_bipartite",
    "has_metis",
    "hypergraph_parts",
    "kmeans_labels",
    "largest_eigenvectors",
    "leading_eigenvectors",
    "metis",
    "one_thread",
    "similarity_graph",
    "spectral",
    "split_bipartite",
    "split_graph",
    "split_rows",
    "transfer_cut",
    "unit_rows",
]
