"""The papers' tables through the public API: our figures beside the published ones."""

from consilience.experiments._cells import Cell, Claim, Plan
from consilience.experiments._registry import EXPERIMENTS, Experiment, conclude
from consilience.experiments.ambiguity import ambiguity_tables
from consilience.experiments.ewocs import (
    ewocs_ranks,
    ewocs_table2,
    ewocs_table3,
    ewocs_table4,
)
from consilience.experiments.ewocs_convergence import ewocs_figures16_17
from consilience.experiments.ewocs_criteria import criteria_ranks, ewocs_figure11
from consilience.experiments.ewocs_reuters import ewocs_figure12, ewocs_figure13, ewocs_table7
from consilience.experiments.ewocs_sensitivity import ewocs_figure9, ewocs_figure10
from consilience.experiments.ewocs_toy import ewocs_figures5_7
from consilience.experiments.peace import peace_tables
from consilience.experiments.relations import (
    ewocs_figure15,
    ewocs_relations,
    ewocs_table6,
    ewocs_table9,
    relations_ranks,
)
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
    "criteria_ranks",
    "eeac_shares",
    "eeac_table",
    "ewocs_figure9",
    "ewocs_figure10",
    "ewocs_figure11",
    "ewocs_figure12",
    "ewocs_figure13",
    "ewocs_figure15",
    "ewocs_figures5_7",
    "ewocs_figures16_17",
    "ewocs_ranks",
    "ewocs_relations",
    "ewocs_table2",
    "ewocs_table3",
    "ewocs_table4",
    "ewocs_table6",
    "ewocs_table7",
    "ewocs_table9",
    "peace_tables",
    "relations_ranks",
    "woec_table2",
    "woec_table3",
    "woec_table4",
    "woec_table5",
]
