"""The figures of a summary, each a dictionary that says what is drawn and nothing of how.

Every number is finite or null, and rounded to what a picture shows.
"""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.report._values import finite, in_range, rounded

__all__ = [
    "Figure",
    "bars",
    "cards",
    "curves",
    "dendrogram",
    "histogram",
    "mark",
    "matrix",
    "points",
    "section",
    "series",
    "table",
]

Figure = dict[str, Any]


def section(name: str, title: str, read: str, *figures: Figure) -> dict[str, Any]:
    """A part of the page: one figure, several under one heading, or none."""
    made: dict[str, Any] = {"id": name, "title": title, "read": read, "figure": None}
    if len(figures) == 1:
        made["figure"] = figures[0]
    elif figures:
        made["figures"] = list(figures)
    return made


def points(
    places: NDArray[np.float64], objects: NDArray[np.int64], xlabel: str, ylabel: str
) -> Figure:
    """Objects on a plane; ``objects`` are rows of the summary's table of objects."""
    return {
        "kind": "points",
        "x": in_range(places[:, 0]),
        "y": in_range(places[:, 1]),
        "objects": objects.tolist(),
        "xlabel": xlabel,
        "ylabel": ylabel,
    }


def matrix(
    values: NDArray[np.float64],
    *,
    objects: NDArray[np.int64] | None = None,
    names: Sequence[str] | None = None,
    bounds: Sequence[int] = (),
    low: float = 0.0,
    high: float = 1.0,
    title: str = "",
) -> Figure:
    """A square of shades, a byte each: 0 is ``low``, 255 is ``high``; with names, numbers too."""
    shade = np.rint(255 * np.clip((values - low) / (high - low), 0.0, 1.0)).astype(np.uint8)
    made = {
        "kind": "matrix",
        "size": len(values),
        "values": base64.b64encode(shade.tobytes()).decode("ascii"),
        "low": low,
        "high": high,
        "objects": None if objects is None else objects.tolist(),
        "names": None if names is None else list(names),
        "numbers": None if names is None else np.round(values, 4).ravel().tolist(),
        "bounds": [int(place) for place in bounds],
    }
    return _titled(made, title)


def dendrogram(
    tree: NDArray[np.float64],
    leaf_sizes: NDArray[np.int64],
    clusters: NDArray[np.int64],
    cut: float | None,
    n_clusters: int,
) -> Figure:
    """Merges in SciPy's numbering; ``sizes`` are objects under each merge and under each leaf.

    Without a ``cut`` no line is drawn.
    """
    return {
        "kind": "dendrogram",
        "heights": rounded(tree[:, 2], 5),
        "left": tree[:, 0].astype(np.int64).tolist(),
        "right": tree[:, 1].astype(np.int64).tolist(),
        "sizes": tree[:, 3].astype(np.int64).tolist(),
        "leaf_sizes": leaf_sizes.tolist(),
        "cut": None if cut is None else round(cut, 5),
        "n_clusters": n_clusters,
        "clusters": clusters.tolist(),
    }


def histogram(
    counts: NDArray[np.int64],
    edges: NDArray[np.float64],
    xlabel: str,
    *,
    marks: Sequence[dict[str, Any]] = (),
    lines: Sequence[dict[str, Any]] = (),
    title: str = "",
) -> Figure:
    """Bars over intervals, with lines across and curves over them."""
    made = {
        "kind": "histogram",
        "edges": [finite(edge, 9) for edge in edges.tolist()],
        "counts": counts.tolist(),
        "xlabel": xlabel,
        "marks": list(marks),
        "curves": list(lines),
    }
    return _titled(made, title)


def series(label: str, x: Any, y: Any, style: str | None = None) -> dict[str, Any]:
    """One line of `curves` or of a histogram."""
    made: dict[str, Any] = {"label": label, "x": in_range(x, 5), "y": in_range(y)}
    if style is not None:
        made["style"] = style
    return made


def mark(at: float, label: str, *, taken: bool = False, axis: str | None = None) -> dict[str, Any]:
    """A line across a figure; ``taken`` where it is the one that decided."""
    made: dict[str, Any] = {"at": finite(at, 6), "label": label, "taken": bool(taken)}
    return made if axis is None else {"axis": axis} | made


def curves(
    lines: Sequence[dict[str, Any]],
    xlabel: str,
    ylabel: str,
    *,
    marks: Sequence[dict[str, Any]] = (),
    log: str | None = None,
    title: str = "",
) -> Figure:
    """Lines on two axes."""
    made: dict[str, Any] = {
        "kind": "curves",
        "series": list(lines),
        "xlabel": xlabel,
        "ylabel": ylabel,
        "marks": list(marks),
    }
    if log is not None:
        made["log"] = log
    return _titled(made, title)


def bars(
    labels: Sequence[str],
    values: Any,
    xlabel: str,
    *,
    clusters: Sequence[int] | None = None,
    marks: Sequence[dict[str, Any]] = (),
    title: str = "",
) -> Figure:
    """Named bars; ``clusters`` gives them the colours of the clusters."""
    made = {
        "kind": "bars",
        "labels": list(labels),
        "values": rounded(values),
        "clusters": None if clusters is None else [int(cluster) for cluster in clusters],
        "xlabel": xlabel,
        "marks": list(marks),
    }
    return _titled(made, title)


def table(
    columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str = "", search: str = ""
) -> Figure:
    """Rows of text, numbers and nulls; with ``search``, its words, a field to look for some."""
    made = {"kind": "table", "columns": list(columns), "rows": [list(row) for row in rows]}
    return _titled(made | {"search": search} if search else made, title)


def cards(made: Sequence[dict[str, Any]], title: str = "") -> Figure:
    """What there is to say of each cluster: ``lines`` of a name and words."""
    return _titled({"kind": "cards", "cards": list(made)}, title)


def _titled(figure: Figure, title: str) -> Figure:
    return figure | {"title": title} if title else figure
