"""Sections about the objects and clusters of a consensus: what each shows and how to read it."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from consilience.errors import InvalidInputError
from consilience.evidence import DOUBTFUL_BELOW, Ambiguity
from consilience.report._case import Case
from consilience.report._figures import (
    bars,
    dendrogram,
    histogram,
    mark,
    matrix,
    points,
    section,
)
from consilience.report._objects import (
    column,
    identifiers,
    number_column,
    object_table,
)
from consilience.report._pairs import MadeTree, PairView, folded
from consilience.report._plane import Plane, plane_of_data, plane_of_ensemble, undrawable
from consilience.report._thin import Shown
from consilience.report._values import counted, rounded

__all__ = [
    "cluster_rows",
    "dendrogram_section",
    "doubtful_section",
    "matrix_section",
    "object_rows",
    "stability_section",
    "view_section",
]

Section = dict[str, Any]

MAX_LEAVES = 200
MAX_BARS = 80
MAX_CLUSTERS = 1000
_BINS = 40


def object_rows(case: Case, shown: Shown, ids: Any) -> dict[str, Any]:
    """The table of the objects shown."""
    at = shown.objects
    if ids is None:
        ids = case.ensemble.index
    columns = [
        identifiers(ids, case.n_objects, at),
        column("cluster", "cluster", case.number(case.labels[at]).tolist()),
    ]
    if case.confidence is not None:
        columns.append(number_column("confidence", case.confidence[at]))
    rivals = case.n_clusters > 1
    if case.runner_up is not None and rivals:
        others = case.runner_up[at]
        numbers = case.number(others).tolist()
        values = [c if o >= 0 else None for c, o in zip(numbers, others.tolist(), strict=True)]
        columns.append(column("runner_up", "cluster", values))
    if rivals:
        columns.append(number_column("ambiguity", case.ambiguity[at]))
        columns.append(column("doubtful", "flag", case.doubtful[at].tolist()))
    if case.truth is not None:
        names = [case.truth.name(code) for code in case.truth.codes[at].tolist()]
        columns.append(column("truth", "text", names))
    return object_table(case.n_objects, columns)


def cluster_rows(case: Case, notes: list[str]) -> list[dict[str, Any]]:
    """One entry a cluster, by number, then one for objects in none."""
    sizes, n = case.sizes, case.n_objects
    chosen = np.arange(case.n_clusters)
    if case.n_clusters > MAX_CLUSTERS:
        chosen = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLUSTERS])
        notes.append(f"Of {case.n_clusters:,} groups the {MAX_CLUSTERS:,} largest are listed.")
    sums = None
    if case.confidence is not None:
        placed = case.labels >= 0
        sums = np.bincount(case.labels[placed], case.confidence[placed], case.n_clusters)
    rows = []
    for c in chosen.tolist():
        sure = None if sums is None else sums[c] / sizes[c]
        stable = None if case.stability is None else case.stability[c]
        rows.append(_cluster_row(int(case.numbers[c]), int(sizes[c]), n, sure, stable))
    left = n - int(sizes.sum())
    if left:
        rows.append(_cluster_row(-1, left, n, None, None))
    return rows


def _cluster_row(number: int, size: int, n: int, sure: Any, stable: Any) -> dict[str, Any]:
    return {
        "cluster": number,
        "size": size,
        "share": round(size / n, 5),
        "confidence": None if sure is None else round(float(sure), 3),
        "stability": None if stable is None else round(float(stable), 3),
    }


def view_section(
    case: Case, shown: Shown, X: Any, columns: Sequence[str], seed: int, notes: list[str]
) -> Section:
    """The objects on a plane."""
    plane: Plane | None = None
    if X is not None:
        try:
            plane = plane_of_data(X, shown.objects, columns)
        except InvalidInputError as error:
            why = undrawable(error)
            notes.append(f"The view of the objects is made of the clusterings alone: {why}")
    if plane is None:
        some = case.ensemble
        if len(shown.objects) < case.n_objects:
            some = some.take(shown.objects)
        plane = plane_of_ensemble(some, seed)
        read = (
            "Every point is an object, coloured by its group, and two objects lie close together "
            "if the clusterings often put them together; objects treated alike lie on one spot "
            "and are spread a little. Faint points are the ones we are less sure of, and groups "
            "that overlap here may still be apart in directions that a flat picture cannot show."
        )
    else:
        read = (
            "Every point is an object, coloured by its group, placed so that the flat picture "
            "keeps as much of the differences in the data as it can. Faint points are the ones we "
            "are less sure of, and groups that overlap here may still be apart in directions that "
            "a flat picture cannot show."
        )
    at = np.arange(len(shown.objects))
    return section(
        "objects", "The objects", read, points(plane.places, at, plane.xlabel, plane.ylabel)
    )


def matrix_section(shown: Shown, view: PairView, *, finer: bool) -> Section:
    """The co-association of some objects, clusters in a row; ``finer``: members have far more."""
    order = view.order
    read = (
        "Each row and each column is an object, and the darker their crossing, the larger the "
        "share of the clusterings that put the two together. "
    )
    if finer:
        read += (
            "The clusterings have many more groups than the result, so that its squares along the "
            "diagonal are pale and hold smaller dark ones, while shade between two squares marks "
            "groups that run into each other."
        )
    else:
        read += (
            "Clean dark squares along the diagonal are groups everybody agrees on, while shade "
            "between two squares marks groups that run into each other."
        )
    figure = matrix(
        view.joined[np.ix_(order, order)],
        objects=shown.rows(shown.pairs[order]),
        bounds=view.bounds.tolist(),
    )
    return section("co-association", "Who was put together with whom", read, figure)


_LINKED = {
    "average": "",
    "single": "for the closest two of their objects ",
    "complete": "for the farthest two of their objects ",
}


def dendrogram_section(
    case: Case, shown: Shown, view: PairView, tree: MadeTree | None
) -> Section | None:
    """The tree of some objects, with the cut that made the groups; None of a single group."""
    k = case.n_clusters
    if not len(view.tree) or k < 2:
        return None
    folds, sizes, clusters = folded(view.tree, case.labels[shown.pairs], MAX_LEAVES)
    cut = None if tree is None else tree.cut(case.labels, k)
    read = "Reading upwards, objects and groups are joined one after the other, "
    link = "average" if tree is None else tree.link
    if link is None:
        read += "the lower the more alike they are to the method that made the groups. "
    else:
        read += (
            "the lower the more often the clusterings put them together: a height of 0.3 means "
            f"{_LINKED[link]}in 70 % of them. "
        )
    figure = dendrogram(folds, sizes, case.number(clusters), cut, k)
    read += _cut_words(tree is not None, cut, k)
    return section("dendrogram", "How the groups grow together", read, figure)


def _cut_words(made: bool, cut: float | None, k: int) -> str:
    """What the tree has to do with the groups."""
    if not made:
        return (
            "This is another view of the clusterings, by average link: the method made its groups "
            "without this tree, so that no line cuts it and colours may mix."
        )
    if cut is None:
        return (
            "It is the tree of the method, but small groups or single objects were moved after it "
            "was cut, so that no line gives exactly the groups."
        )
    return (
        f"The line marks where a cut leaves {counted(k, 'group')}, and the longer the stems that "
        "it crosses, the clearer this number is."
    )


def doubtful_section(case: Case) -> Section | None:
    """How sure each object is of its group, with the line below which it is doubtful."""
    if case.judged is not None:
        return _judged_section(case.judged, int(case.doubtful.sum()))
    if case.confidence is None or case.n_clusters < 2:
        return None
    sure = case.confidence[case.labels >= 0]
    counts, edges = np.histogram(np.clip(sure, 0.0, 1.0), _BINS, (0.0, 1.0))
    words = f"doubtful: {counted(int(case.doubtful.sum()), 'object')}"
    read = (
        "Objects at the right are sure of their group: the clusterings put them together with no "
        f"other. At 0.5 they are torn between two, and below {DOUBTFUL_BELOW}, where another group "
        "has a third of the evidence for their own or more, they are called doubtful."
    )
    marks = [mark(DOUBTFUL_BELOW, words, taken=True)]
    figure = histogram(counts, edges, "confidence of the object", marks=marks)
    return section("doubtful", "Doubtful objects", read, figure)


def _judged_section(judged: Ambiguity, flagged: int) -> Section:
    """The scores that a job was asked to judge by, with its own line."""
    scores = judged.scores[np.isfinite(judged.scores)]
    counts, edges = judged.histogram(_BINS)
    marks = []
    if np.isfinite(judged.threshold):
        words = f"doubtful: {counted(flagged, 'object')}"
        marks.append(mark(judged.threshold, words, taken=True))
    read = (
        "The lower the score of an object, the more the clusterings disagree about it. "
        f"{judged.why[0].upper()}{judged.why[1:]}."
    )
    silent = len(judged.scores) - len(scores)
    label = "score of the object"
    if silent:
        label += f" ({silent:,} objects have none: too few clusterings saw them)"
    figure = histogram(counts, edges, label, marks=marks)
    return section("doubtful", "Doubtful objects", read, figure)


def stability_section(case: Case, notes: list[str]) -> Section | None:
    """How well the members know the clusters again; None of fewer than two clusters."""
    if case.stability is None:
        return None
    chosen = np.arange(case.n_clusters)
    if len(chosen) > MAX_BARS:
        chosen = np.argsort(-case.sizes, kind="stable")[:MAX_BARS]
        notes.append(f"The stability is drawn for the {MAX_BARS} largest groups.")
    order = chosen[np.argsort(-case.stability[chosen], kind="stable")]
    numbers = case.numbers[order].tolist()
    labels = [
        f"cluster {number} ({size:,})"
        for number, size in zip(numbers, case.sizes[order].tolist(), strict=True)
    ]
    read = (
        "The longer the bar of a group, the better the single clusterings give it back, whole or "
        "in pieces: 1 means that every clustering has exactly this border. A short bar is a group "
        "that only the combination suggests, and deserves a second look."
    )
    mean = float(case.stability[chosen] @ case.sizes[chosen] / case.sizes[chosen].sum())
    figure = bars(
        labels,
        rounded(case.stability[order]),
        "stability (0 to 1)",
        clusters=numbers,
        marks=[mark(mean, f"mean {mean:.2f}")],
    )
    return section("stability", "How stable the groups are", read, figure)
