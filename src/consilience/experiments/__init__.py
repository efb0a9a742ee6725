"""The papers' tables through the public API: our figures beside the published ones."""

from consilience.experiments._cells import Cell, Claim, Plan
from consilience.experiments._table import EXPERIMENTS, Experiment, conclude
from consilience.experiments.ambiguity import ambiguity_tables
from consilience.experiments.ewocs import (
    ewocs_ranks,
    ewocs_table2,
    ewocs_table3,
    ewocs_table4,
    ewocs_table7,
)
from consilience.experiments.peace import peace_tables
from consilience.experiments.relations import ewocs_relations
from consilience.experiments.selection import eeac_shares, eeac_table
from consilience.experiments.woec import woec_table2, woec_table3, woec_table4, woec_table5

__all__ = [
    "EXPERIMENTS",
    "Cell",
    "Claim",
    "Experiment",
    "Plan",
    "ambiguity_tables",
    "conclude",
    "eeac_shares",
    "eeac_table",
    "ewocs_ranks",
    "ewocs_relations",
    "ewocs_table2",
    "ewocs_table3",
    "ewocs_table4",
    "ewocs_table7",
    "peace_tables",
    "woec_table2",
    "woec_table3",
    "woec_table4",
    "woec_table5",
]
