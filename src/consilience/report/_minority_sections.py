"""Sections of a minority job: scores, thresholds, the objects, how settled it all is."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.compare import (
    ForegroundScores,
    auc,
    precision_recall_curve,
    precision_recall_f1,
    roc_curve,
)
from consilience.minority import EWOCS
from consilience.minority.thresholds import Threshold
from consilience.plot.curves import average_precision
from consilience.plot.scores import score_histogram
from consilience.report._figures import Figure, curves, histogram, mark, section, series, table
from consilience.report._values import counted, finite

__all__ = [
    "convergence_section",
    "histogram_section",
    "is_taken",
    "rules_section",
    "scores_section",
    "truth_section",
]

Section = dict[str, Any]
Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]

# Steps of a curve that a picture can show.
_MAX_STEPS = 600
_BINS = 60
# The start of the sorted scores is shown apart where the foreground is a smaller share.
_SMALL_SHARE = 0.15
_RULE_WORDS = {
    "reference": "where the expected F1 is largest, by data without groups that resemble these",
    "2gauss": "where the higher of two bell curves gives way to the lower one",
    "dist": "at the corner of the sorted scores",
    "ngauss+var": "between bell curves of most different widths",
    "size": "so that as many objects are found as were asked for",
    "best": "where it agrees best with the truth; nobody knows that without the truth",
    "ngauss+best": "between bell curves, where it agrees best with the truth",
    "number": "at the number that was given",
}
# What `EWOCS` asks of the reliability unless told otherwise.
_SETTLED = 0.995


def is_taken(model: EWOCS, rule: Threshold) -> bool:
    """Whether this is the rule that decided."""
    return rule.method == model.threshold_result_.method


def scores_section(model: EWOCS, rules: tuple[Threshold, ...], truth: Flags | None) -> Section:
    """The scores from high to low with every threshold, and their start where it is short."""
    n = len(model.scores_)
    order = np.argsort(-model.scores_, kind="stable")
    reach = max((rule.n_foreground for rule in rules), default=0)
    top = max(20, 3 * reach)
    close_up = bool(reach) and top < _SMALL_SHARE * n
    title = "All scores" if close_up else ""
    at_rules = [rule.n_foreground - 1 for rule in rules if rule.n_foreground]
    kept = np.union1d(_evenly(n), np.array(at_rules, np.int64))
    figures = [_sorted_scores(model, rules, order, kept, truth, title)]
    if close_up:
        title = f"The {top:,} highest scores"
        figures.append(_sorted_scores(model, rules, order, _evenly(top), truth, title))
    read = (
        "The objects stand in the order of their scores, the highest first, and every line is a "
        "rule's border: objects left of it would stand out from the background. A steep fall at "
        "the line taken is a clear border, while rules far apart from each other mean that the "
        "scores alone do not tell where the dense groups end."
    )
    return section("scores", "The scores and where to cut them", read, *figures)


def _sorted_scores(
    model: EWOCS,
    rules: tuple[Threshold, ...],
    order: NDArray[np.int64],
    places: NDArray[np.int64],
    truth: Flags | None,
    title: str,
) -> Figure:
    """Scores at some places of the order, and the rules' borders."""
    ranks, scores = places + 1, model.scores_[order[places]]
    lines = [series("score", ranks, scores)]
    if truth is not None and truth[order[places]].any():
        true = truth[order[places]]
        lines.append(series("foreground in the truth", ranks[true], scores[true], "dots"))
    marks = [
        mark(
            rule.n_foreground,
            f"{rule.method}: {counted(rule.n_foreground, 'object')}",
            taken=is_taken(model, rule),
            axis="x",
        )
        for rule in rules
        if rule.n_foreground
    ]
    seen = {rule.value for rule in rules}
    marks += [
        mark(candidate, f"{rule.method}: further candidate", axis="y")
        for rule in rules
        if rule.method == "ngauss+var"
        for candidate in rule.candidates
        if candidate not in seen and np.isfinite(candidate) and scores[-1] <= candidate
    ]
    return curves(lines, "objects, the highest score first", "score", marks=marks, title=title)


def histogram_section(model: EWOCS) -> Section:
    """How the scores are spread, with the bell curves that the rules fit."""
    figures = []
    for n_components, title in ((2, "Two bell curves"), (None, "As many as the scores ask for")):
        spread = score_histogram(model.scores_, n_components=n_components, bins=_BINS)
        at = np.linspace(spread.edges[0], spread.edges[-1], 200)
        expected = spread.expected(at)
        lines = [
            series(f"around {mean:.3g}", at, curve)
            for mean, curve in zip(spread.means.tolist(), expected, strict=True)
        ]
        if len(expected) > 1:
            lines.append(series("their sum", at, expected.sum(axis=0), "dashed"))
        marks = []
        if np.isfinite(model.threshold_):
            marks.append(mark(model.threshold_, f"border {model.threshold_:.4g}", taken=True))
        figures.append(
            histogram(spread.counts, spread.edges, "score", marks=marks, lines=lines, title=title)
        )
    read = (
        "Bars count the objects by their score, and the curves are the bell curves of which the "
        "scores could be made. Two humps with the border between them are a clear case, and one "
        "hump with a tail is not."
    )
    return section("histogram", "How the scores are spread", read, *figures)


def convergence_section(model: EWOCS) -> Section:
    """How settled the scores were as weak clusterings were added."""
    seen = np.asarray(model.history_, np.float64)
    if not len(seen) or seen[-1, 0] != model.n_repetitions_:
        last = [model.n_repetitions_, model.reliability_, np.nan]
        seen = np.vstack([seen, last])
    style = "dots" if len(seen) == 1 else None
    marks = []
    if model.stop == "reliability":
        wanted = _SETTLED if model.tol is None else float(model.tol)
        marks.append(mark(wanted, f"settled from {wanted:g} on", axis="y"))
    figures = [
        curves(
            [series("reliability", seen[:, 0], seen[:, 1], style)],
            "weak clusterings",
            "reliability of the scores",
            marks=marks,
        )
    ]
    known = np.isfinite(seen[:, 2]) & (seen[:, 2] > 0)
    if known.any():
        line = series("median change", seen[known, 0], seen[known, 2])
        words = "change by one more clustering"
        figures.append(curves([line], "weak clusterings", words, log="y", title="Change"))
    read = (
        "The curve says how much of the differences between the scores is real and not chance, as "
        "more and more weak clusterings are counted. Close to 1 more clusterings would change "
        "nothing, and far below it the order of the objects is not yet to be trusted."
    )
    return section("convergence", "How settled the scores are", read, *figures)


def rules_section(model: EWOCS, rules: tuple[Threshold, ...], truth: Flags | None) -> Section:
    """Every rule with its border, its foreground and its reason."""
    columns = ["rule", "border", "objects", "taken"]
    columns += [] if truth is None else ["precision", "recall", "F1"]
    rows, words = [], []
    for rule in rules:
        row: list[Any] = [
            rule.method,
            finite(rule.value, 5),
            rule.n_foreground,
            "yes" if is_taken(model, rule) else "",
        ]
        if truth is not None:
            hits = precision_recall_f1(model.scores_ >= rule.value, truth)
            row += [round(value, 3) for value in (hits.precision, hits.recall, hits.f1)]
        others = [f"{value:.4g}" for value in rule.candidates if value != rule.value]
        also = f" Its candidates also were {', '.join(others)}." if others else ""
        rows.append(row)
        words.append([rule.method, _RULE_WORDS.get(rule.method, ""), f"{rule.why}{also}"])
    read = (
        "Each line is a rule for where the dense groups end, with the number of objects that it "
        "would find. Rules that agree make the border credible, and rules that look at the truth "
        "only show what would have been possible."
    )
    second = table(["rule", "puts the border", "why here"], words)
    return section("rules", "Rules for the border", read, table(columns, rows), second)


def truth_section(model: EWOCS, truth: Flags) -> Section:
    """ROC and precision-recall curves, with the border that was taken."""
    scores = model.scores_
    hits = precision_recall_f1(scores >= model.threshold_, truth)
    let_in = (hits.n_found - hits.n_right) / (hits.n_objects - hits.n_true)
    roc = roc_curve(scores, truth)
    first = [
        _thin_curve(f"scores (area {auc(scores, truth):.3f})", roc.x, roc.y),
        series("chance", [0, 1], [0, 1], "dashed"),
        series("the border taken", [let_in], [hits.recall], "dots"),
    ]
    figures = [
        curves(
            first,
            "share of the background let in",
            "share of the foreground found",
            title="Found against let in",
        ),
        _purity(scores, truth, hits),
    ]
    read = (
        "The first curve shows how much of the true foreground is found as more of the background "
        "is let in, the second how pure the objects found are. The closer the first comes to the "
        "upper left corner and the second to the upper right one, the better, and the dashed line "
        "is what guessing would do."
    )
    return section("truth", "Agreement with the truth", read, *figures)


def _purity(scores: Floats, truth: Flags, hits: ForegroundScores) -> Figure:
    """The precision-recall curve."""
    exact = precision_recall_curve(scores, truth)
    # Nothing found has no precision; the 1 of convention would be a spike.
    height = exact.y.copy()
    height[0] = height[1]
    words = f"scores (average precision {average_precision(exact):.3f})"
    share = hits.n_true / hits.n_objects
    lines = [
        _thin_curve(words, exact.x, height, "steps"),
        series("chance", [0, 1], [share, share], "dashed"),
    ]
    if hits.n_found:
        lines.append(series("the border taken", [hits.recall], [hits.precision], "dots"))
    return curves(
        lines,
        "share of the foreground found",
        "share of the objects found that is right",
        title="Purity against completeness",
    )


def _evenly(n: int) -> NDArray[np.int64]:
    """Places along a curve of n points, its ends among them."""
    return np.unique(np.linspace(0, n - 1, min(n, _MAX_STEPS)).astype(np.int64))


def _thin_curve(label: str, x: Floats, y: Floats, style: str | None = None) -> dict[str, Any]:
    at = _evenly(len(x))
    return series(label, x[at], y[at], style)
