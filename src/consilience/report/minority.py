"""A minority job summarised: everything the report says and shows, as plain values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import ndtr
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from consilience._validation import Interval, RandomState, Satisfies, check_value
from consilience.compare import auc, precision_recall_f1
from consilience.errors import InvalidInputError
from consilience.minority import EWOCS, thresholds
from consilience.minority._cuts import decided_first
from consilience.minority._fitted import is_pairwise
from consilience.minority._truth import foreground_truth
from consilience.minority.divergences import Divergence
from consilience.minority.thresholds import Threshold
from consilience.report._done import done_rows
from consilience.report._figures import points, section
from consilience.report._minority_sections import (
    convergence_section,
    histogram_section,
    rules_section,
    scores_section,
    truth_section,
)
from consilience.report._objects import column, identifiers, number_column, object_table
from consilience.report._plane import Plane, plane_of_data, plane_of_kernel, rows_of, undrawable
from consilience.report._thin import Shown, choose_shown, thinned
from consilience.report._values import counted, percent
from consilience.report._words import group_sizes
from consilience.report.consensus import SCHEMA

__all__ = ["summarise_minority"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

_FITTED = [Satisfies(lambda value: isinstance(value, EWOCS), "a fitted EWOCS")]
# Objects whose pairs make a view: of a matrix that is there, of a kernel that must be asked.
_MAX_MATRIX, _MAX_KERNEL = 1000, 400
# Where a function or an object lies in memory, as Python shows it.
_ADDRESS = re.compile(r"<function (\S+) at 0x[0-9A-Fa-f]+>|(?: object)? at 0x[0-9A-Fa-f]+")


def summarise_minority(
    model: EWOCS,
    X: Any,
    *,
    ids: Any = None,
    truth: Any = None,
    columns: Sequence[str] = (),
    about: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    title: str = "Dense groups in the background",
    max_points: int = 5000,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Everything a report says and shows about a minority job, as values that JSON can hold.

    Parameters
    ----------
    model : EWOCS
        Fitted on ``X``.
    X : array, frame, CSR matrix or list of n_objects
        What the model was fitted on, for the view of the objects.
    ids : sequence of length n_objects, optional
        Identifiers of any type; by default row numbers.
    truth : array of shape (n_objects,), optional
        True for foreground; or true sources, 0 for the background.
    columns : sequence of str, optional
        Names of the columns of X.
    about : mapping of str to str, optional
        What was done: data, seed, time, command.
    notes : sequence of str, optional
        Warnings to repeat.
    title : str
    max_points : int, default=5000
        Objects in the table and the view at most. Of more objects a share of the background and
        of every group is kept, undecided objects first; the notes say so.
    random_state : int, RandomState or None, default=0
        For what is drawn by chance.

    Returns
    -------
    dict
        With the keys schema, kind, title, headline, done, notes, clusters, objects, sections.
        Every number is finite or null. The column "confidence" is the probability that an object
        stays on its side of the border if the weak clusterings were drawn again; whether the
        border is right it does not say.

    Notes
    -----
    Linear in the number of objects, apart from sorting them.

    Examples
    --------
    >>> from consilience.datasets import make_toy_minority
    >>> X, y = make_toy_minority(0.5, random_state=0)
    >>> model = EWOCS(n_repetitions=100, random_state=0).fit(X)
    >>> summary = summarise_minority(model, X, truth=y)
    >>> [part["id"] for part in summary["sections"]]
    ['objects', 'scores', 'histogram', 'rules', 'convergence', 'truth']
    """
    owner = "summarise_minority"
    check_value("model", model, _FITTED, owner=owner)
    check_is_fitted(model)
    check_value("max_points", max_points, [Interval(Integral, 2)], owner=owner)
    check_value("random_state", random_state, [RandomState()], owner=owner)
    _check_rows(X, n := len(model.scores_))
    seed = int(check_random_state(random_state).randint(2**31 - 2))
    known = None if truth is None else foreground_truth(truth, n, owner=owner)
    said = [*map(str, notes)]
    truth_kept = _comparable_truth(known, said)
    rules = _rules(model, truth_kept)
    sure = _sides(model)
    shown = _chosen(model, sure, int(max_points), seed)
    said += shown.notes
    sections = [
        _view(model, X, shown, columns, said),
        scores_section(model, rules, truth_kept),
        histogram_section(model),
        rules_section(model, rules, truth_kept),
    ]
    if model.score_by != "knn":  # whose scores settle at once
        sections.append(convergence_section(model))
    if truth_kept is not None:
        sections.append(truth_section(model, truth_kept))
    return {
        "schema": SCHEMA,
        "kind": "minority",
        "title": str(title),
        "headline": _headline(model, rules, truth_kept),
        "done": done_rows(about, _facts(model)),
        "clusters": _clusters(model, sure),
        "objects": _objects(model, shown, ids, known, sure),
        "sections": sections,
        "notes": said,
    }


def _chosen(model: EWOCS, sure: Floats, max_points: int, seed: int) -> Shown:
    """The objects on the page, undecided ones first."""
    shown = choose_shown(
        model.labels_, 1.0 - sure, model.undecided_, max_points=max_points, max_pairs=1, seed=seed
    )
    # There are no pictures of pairs: what is said of them is left out.
    return replace(shown, notes=shown.notes[: int(len(shown.objects) < len(sure))])


def _comparable_truth(truth: Flags | None, notes: list[str]) -> Flags | None:
    """A truth that holds both kinds of objects, or None."""
    if truth is None or (truth.any() and not truth.all()):
        return truth
    notes.append("The truth holds one kind of object only, so nothing is compared with it.")
    return None


def _rules(model: EWOCS, truth: Flags | None) -> tuple[Threshold, ...]:
    """Every rule that can be tried, and the one that decided where it is not among them."""
    rules = thresholds.every(model.scores_, y=truth, m=model.n_foreground)
    return decided_first(model.threshold_result_, rules)


def _sides(model: EWOCS) -> Floats:
    """Probability that an object is on the right side of the border, as far as chance goes."""
    if not np.isfinite(model.threshold_):
        return np.ones(len(model.scores_))
    away = np.abs(model.scores_ - model.threshold_)
    errors = np.maximum(model.standard_errors_, np.finfo(np.float64).tiny)
    errors = np.where(np.isfinite(errors), errors, np.inf)
    with np.errstate(over="ignore"):
        return np.asarray(ndtr(away / errors))


def _view(
    model: EWOCS, X: Any, shown: Shown, columns: Sequence[str], notes: list[str]
) -> dict[str, Any]:
    """The objects on a plane, the foreground coloured; without one where there is no plane."""
    read = (
        "Every point is an object, grey in the background and coloured where it belongs to a "
        "dense group, placed by the columns as they were scored, so that the flat picture keeps as "
        "much of their differences as it can. "
        "Faint points lie so close to the border that other weak clusterings might put them on "
        "the other side."
    )
    at = np.arange(len(shown.objects))
    try:
        plane, at = _plane(model, X, shown, columns, at, notes)
    except InvalidInputError as error:
        notes.append(f"There is no view of the objects: {undrawable(error)}")
        return section("objects", "The objects", read)
    figure = points(plane.places, at, plane.xlabel, plane.ylabel)
    return section("objects", "The objects", read, figure)


def _plane(
    model: EWOCS,
    X: Any,
    shown: Shown,
    columns: Sequence[str],
    at: NDArray[np.int64],
    notes: list[str],
) -> tuple[Plane, NDArray[np.int64]]:
    """Places of the objects shown, or of some of them where only a kernel knows the objects."""
    pairwise = is_pairwise(model.divergence)
    by_kernel = callable(model.divergence) and not isinstance(model.divergence, Divergence)
    if not pairwise and not by_kernel:
        return _scaled_plane(model, X, shown, columns), at
    few = thinned(model.labels_[shown.objects], _MAX_MATRIX if pairwise else _MAX_KERNEL)
    if len(few) < len(at):
        notes.append(f"The view shows {len(few):,} of the objects: it needs all their pairs.")
    some = rows_of(X, shown.objects[few])
    if pairwise:
        square = some if sparse.issparse(some) else np.asarray(some)
        return plane_of_kernel(square[:, shown.objects[few]]), few
    return plane_of_kernel(model.divergence(some, some)), few


def _scaled_plane(model: EWOCS, X: Any, shown: Shown, columns: Sequence[str]) -> Plane:
    """Where the objects lie as they were scored; one or two columns keep their own units.

    Stretching axes that are drawn anyway changes no picture; components hang on it.
    """
    scaling = model._fitted.scaling
    width = X.shape[1] if hasattr(X, "shape") else 0
    if scaling is None or width < 3:
        return plane_of_data(X, shown.objects, columns)
    some = rows_of(X, shown.objects)
    scaled = scaling.apply(some if sparse.issparse(some) else np.asarray(some, np.float64))
    plane = plane_of_data(scaled, np.arange(len(shown.objects)))
    return Plane(plane.places, f"{plane.xlabel}, scaled", f"{plane.ylabel}, scaled")


def _objects(
    model: EWOCS, shown: Shown, ids: Any, truth: Flags | None, sure: Floats
) -> dict[str, Any]:
    at = shown.objects
    # As many digits as it takes to tell the scores apart.
    reach = float(np.ptp(model.scores_)) or 1.0
    decimals = int(np.clip(4 - np.floor(np.log10(reach)), 3, 12))
    columns = [
        identifiers(ids, len(model.scores_), at),
        column("cluster", "cluster", model.labels_[at].tolist()),
        number_column("confidence", sure[at]),
        number_column("score", model.scores_[at], decimals),
        column("undecided", "flag", model.undecided_[at].tolist()),
    ]
    if truth is not None:
        names = np.where(truth[at], "foreground", "background").tolist()
        columns.append(column("truth", "text", names))
    return object_table(len(model.scores_), columns)


def _clusters(model: EWOCS, sure: Floats) -> list[dict[str, Any]]:
    n, rows = len(model.labels_), []
    for group in [*range(model.n_clusters_), -1]:
        inside = model.labels_ == group
        size = int(inside.sum())
        if size:
            rows.append(
                {
                    "cluster": group,
                    "size": size,
                    "share": round(size / n, 5),
                    "confidence": round(float(sure[inside].mean()), 3),
                    "stability": None,
                }
            )
    return rows


def _facts(model: EWOCS) -> dict[str, str]:
    flag = {} if model.flag_ is None else {"Flag": model.flag_}
    return flag | {
        "Objects": f"{len(model.scores_):,}",
        "Weak clusterings": f"{model.n_repetitions_:,}",
        # Of a function its name: its address would differ from run to run.
        "Model": _ADDRESS.sub(r"\1", " ".join(repr(model).split())),
    }


def _headline(model: EWOCS, rules: tuple[Threshold, ...], truth: Flags | None) -> list[str]:
    """What stands out, how sure we are, what is undecided, how clear the border is."""
    n, n_found = len(model.scores_), model.n_foreground_
    if model.flag_ == "no_contrast":
        said = [
            f"Nothing stands out: the scores of {counted(n, 'object')} differ by rounding only, so "
            "that everything is background. Unless the objects are equal, the weak clusterings "
            "cannot see them apart; try another 'gamma' or 'divergence'."
        ]
    elif not n_found:
        said = [f"No dense group stands out among the {counted(n, 'object')}."]
    else:
        sizes = np.bincount(model.labels_[model.labels_ >= 0]).tolist()
        groups = "in one group" if len(sizes) == 1 else f"in {len(sizes)} groups, "
        groups += "" if len(sizes) == 1 else group_sizes(sizes)
        said = [
            f"{n_found:,} of {counted(n, 'object')} ({percent(n_found, n)}) "
            f"{'stand' if n_found > 1 else 'stands'} out from the background, {groups}."
        ]
    said.append(_settled(model))
    undecided = int(model.undecided_.sum())
    if undecided and n_found:
        said.append(
            f"{counted(undecided, 'object')} {'lie' if undecided > 1 else 'lies'} too close to the "
            "border to be sure; the column 'undecided' of the table of objects marks "
            f"{'them' if undecided > 1 else 'it'}."
        )
    tested = model.reference_ is not None or model.flag_ == "no_reference"
    said.append(model.threshold_result_.why if tested else _border(model, rules))
    if truth is not None:
        lower = auc(model.scores_, truth) < 0.5
        said.append(
            _compared(model, truth)
            + " It does not score higher than the background: it is no dense group here." * lower
        )
    return said


def _compared(model: EWOCS, truth: Flags) -> str:
    """How much of the truth was found."""
    if not model.n_foreground_:
        return (
            f"Compared with the truth, nothing was found of {counted(int(truth.sum()), 'object')} "
            "that should stand out."
        )
    hits = precision_recall_f1(model.labels_, truth)
    return (
        f"Compared with the truth, {percent(hits.precision, 1)} of the objects found are right "
        f"and {percent(hits.recall, 1)} of those there are were found."
    )


def _settled(model: EWOCS) -> str:
    count = counted(model.n_repetitions_, "weak clustering")
    if model.score_by == "knn":
        return f"The scores come from distances to the nearest objects; {count} tell groups apart."
    value = float(model.reliability_)
    if not np.isfinite(value):
        return f"How far the scores from {count} can be trusted is not known."
    if value >= 0.99:
        words = "more would hardly change them"
    elif value >= 0.9:
        words = "more would change them a little"
    else:
        words = "more would change them, so add repetitions before you rely on them"
    return f"The scores come from {count}, and {words} (reliability {value:.3f})."


def _border(model: EWOCS, rules: tuple[Threshold, ...]) -> str:
    """Whether rules that do not look at the truth agree about how many objects stand out."""
    blind = [rule for rule in rules if "best" not in rule.method]
    counts = sorted({rule.n_foreground for rule in blind})
    if not counts or counts[-1] == 0:
        return f"No rule finds a border in the scores: {model.threshold_result_.why}"
    if len(counts) == 1:
        return "All rules for the border find the same objects, so the border is clear."
    span = f"between {counts[0]:,} and {counts[-1]:,} objects"
    if counts[0] >= 0.8 * counts[-1]:
        return f"The rules for the border nearly agree ({span}), so the border is fairly clear."
    return f"The rules for the border find {span}, so where it lies is a matter of judgement."


def _check_rows(X: Any, n_objects: int) -> None:
    n = int(np.shape(X)[0]) if hasattr(X, "shape") else len(X)
    if n != n_objects:
        raise InvalidInputError(
            f"X must hold the {n_objects} objects that the model was fitted on. Got {n} instead."
        )
