"""Tables with known groups, and the fixed split of them into parts."""

from quality_sets.generated import Set, make, oracle, planned, split
from quality_sets.tables import RealTable, own_tables, real_tables

__all__ = [
    "RealTable",
    "Set",
    "make",
    "oracle",
    "own_tables",
    "planned",
    "real_tables",
    "split",
]
