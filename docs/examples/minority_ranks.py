"""Rank diagrams of minority clustering over generated data, by F1 and by AUC.

    python docs/examples/minority_ranks.py [sets a dimension] [folder]

Runs Table 3 of the minority-clustering paper in 2, 3, 5 and 8 dimensions (about half a minute a
data set, most of it for tuning the kernel) and draws how its nine systems rank, into the current
folder unless another is named.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

from consilience.compare import rank_diagram, rank_text
from consilience.experiments import Plan
from consilience.experiments.ewocs import ewocs_ranks, ewocs_table3


def main(n_sets, folder):
    """Run the table, then draw and print the ranks."""
    plt.rcParams["svg.hashsalt"] = "consilience"
    cells = []
    for finished in ewocs_table3(Plan(runs=n_sets)):
        cells += finished
        print(f"{finished[0].data} done")
    for row in ("F1", "AUC"):
        tests = ewocs_ranks(cells, row)
        print(f"{row}\n{rank_text(tests)}")
        path = folder / f"minority_ranks_{row.lower()}.svg"
        rank_diagram(tests).figure.savefig(path, metadata={"Date": None})
        print(f"drawn to {path.name}")


if __name__ == "__main__":
    n_sets = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    main(n_sets, Path(sys.argv[2] if len(sys.argv) > 2 else "."))
