"""Cutting graphs into parts: METIS, Mt-KaHyPar, and ways that need neither."""

from consilience.partition._parts import Parts
from consilience.partition.balanced import balanced_rows
from consilience.partition.graph import Graph, bipartite_graph, similarity_graph
from consilience.partition.hypergraph import hypergraph_parts
from consilience.partition.metis import has_metis, metis
from consilience.partition.spectral import spectral
from consilience.partition.split import Solver, split_bipartite, split_graph, split_rows
from consilience.partition.transfer import transfer_cut

__all__ = [
    "Graph",
    "Parts",
    "Solver",
    "balanced_rows",
    "bipartite_graph",
    "has_metis",
    "hypergraph_parts",
    "metis",
    "similarity_graph",
    "spectral",
    "split_bipartite",
    "split_graph",
    "split_rows",
    "transfer_cut",
]
