"""A page of the site that can be explored: one file with its data inside, made when it is built."""

import tempfile
from pathlib import Path

from sklearn.datasets import load_wine

import consilience as cs
from consilience.datasets import read_table
from consilience.explore import static_page, view

NAME = "explore-example.html"


def setup(app):
    """Write the page once the others are written."""
    app.connect("build-finished", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write_wines(path):
    """Wines of three growers and what was measured of them, as somebody's table would be."""
    wines = load_wine()
    header = ["wine", *wines.feature_names, "grower"]
    lines = [
        [f"wine {i + 1}", *(f"{value:g}" for value in row), "ABC"[kind]]
        for i, (row, kind) in enumerate(zip(wines.data, wines.target, strict=True))
    ]
    text = "\n".join(",".join(line) for line in [header, *lines])
    Path(path).write_text(text + "\n", encoding="utf-8")


def example():
    """The result that the page shows: the number of groups found, beside other methods."""
    with tempfile.TemporaryDirectory() as folder:
        write_wines(Path(folder) / "wines.csv")
        table = read_table(Path(folder) / "wines.csv", id_column="wine", truth_column="grower")
        return cs.cluster(table, methods=["eac", "mcla", "hbgf"], random_state=0)


def _write(app, error):
    if error or app.builder.format != "html":
        return
    page = static_page(view(example()))
    (Path(app.outdir) / NAME).write_text(page, encoding="utf-8")
