"""Data in: tables and label files from disk, and small synthetic sets with known groups."""

from consilience.datasets._annotated import write_annotated
from consilience.datasets._documents import (
    Documents,
    load_mini_newsgroups,
    load_reuters,
    load_webkb4,
)
from consilience.datasets._graph_files import read_graph
from consilience.datasets._graphs import Graph, as_graph
from consilience.datasets._known_files import read_known
from consilience.datasets._label_files import read_labels, write_labels
from consilience.datasets._large import open_rows
from consilience.datasets._lfr import GraphSample, make_lfr
from consilience.datasets._load import load
from consilience.datasets._minority import (
    MinoritySources,
    make_minority,
    make_toy_minority,
    minority_sources,
)
from consilience.datasets._mixed_sets import MixedSample, make_mixed
from consilience.datasets._recipe import Recipe
from consilience.datasets._relations import EntityPairs, load_conll04
from consilience.datasets._synthetic import make_gaussians, make_half_rings, make_spirals
from consilience.datasets._tables import Table, read_like, read_table
from consilience.datasets._text import STOP_WORDS, informative_terms
from consilience.datasets._view_sets import ViewSample, make_views
from consilience.datasets._woec import make_woec_toy

__all__ = [
    "STOP_WORDS",
    "Documents",
    "EntityPairs",
    "Graph",
    "GraphSample",
    "MinoritySources",
    "MixedSample",
    "Recipe",
    "Table",
    "ViewSample",
    "as_graph",
    "informative_terms",
    "load",
    "load_conll04",
    "load_mini_newsgroups",
    "load_reuters",
    "load_webkb4",
    "make_gaussians",
    "make_half_rings",
    "make_lfr",
    "make_minority",
    "make_mixed",
    "make_spirals",
    "make_toy_minority",
    "make_views",
    "make_woec_toy",
    "minority_sources",
    "open_rows",
    "read_graph",
    "read_known",
    "read_labels",
    "read_like",
    "read_table",
    "write_annotated",
    "write_labels",
]
