"""Sections about decisions: the number of clusters, the method, and the truth where it is known."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from consilience.compare import against_truth
from consilience.report._case import Case
from consilience.report._figures import Figure, curves, mark, matrix, section, series, table
from consilience.report._objects import Truth
from consilience.report._values import finite
from consilience.report._words import group_sizes

if TYPE_CHECKING:
    from consilience.compare.several import Comparison
    from consilience.consensus import Alternative, Clarity, Criterion, NumberChoice

__all__ = ["Decided", "methods_section", "number_section", "truth_scores", "truth_section"]

Section = dict[str, Any]

_MAX_CLASSES = 20
_MAX_GROUPS = 40
_TRUTH_WORDS = {
    "consistency_index": "objects that agree with the truth",
    "nmi": "NMI with the truth",
    "ari": "ARI with the truth",
}


@dataclass(frozen=True)
class Decided:
    """How the number of groups was found, how clear they are, and what else was seen."""

    choice: "NumberChoice | None" = None
    clarity: "Clarity | None" = None
    alternatives: "tuple[Alternative, ...]" = ()


def number_section(decided: Decided) -> Section | None:
    """Everything that speaks for a number of groups, and the divisions worth a look."""
    choice, clarity = decided.choice, decided.clarity
    others = _alternatives(decided.alternatives)
    if choice is None:
        if clarity is None or not others:
            return None
        read = f"The number was given. {clarity.said(given=True)} {_OTHERS}"
        return section("number", "How many groups", read, *others)
    if not choice.criteria:
        return None
    read = _KINDS if choice.by_lines else _CURVES
    said = [clarity.words] if clarity is not None else []
    read = " ".join([*said, read, *([_OTHERS] if others else [])])
    figures = [_criterion(criterion, choice) for criterion in choice.criteria]
    return section("number", "How many groups", read, *others, _criteria(choice), *figures)


_CURVES = (
    "Each curve is one way to judge a number of groups, and its mark is the number that it "
    "chooses. Trust the answer where several ways choose the same number and where a curve "
    "lies far from the dashed one, which is what data without any groups would give."
)
_KINDS = (
    "Each curve is one kind of evidence over the number of groups, and its mark is the number that "
    "it chooses; 'support' puts the first three together and decides, unless groups of any shape "
    "have sparser borders, round ones are far likelier, or nothing has much support: the table "
    "marks what decided. Trust the answer where several kinds choose the same number."
)
_OTHERS = "The first table has the divisions that are worth a look: ask for another by its number."


def _criteria(choice: "NumberChoice") -> Figure:
    rows = [
        [
            criterion.title,
            criterion.n_clusters,
            finite(criterion.clarity, 2),
            "yes" if criterion.name == choice.taken else "",
            criterion.words,
        ]
        for criterion in choice.criteria
    ]
    names = ["criterion", "chooses", "clarity (0 to 1)", "decided", "in words"]
    return table(names, rows)


def _alternatives(alternatives: "tuple[Alternative, ...]") -> list[Figure]:
    """The divisions worth a look, as a table; none where there is one only."""
    from consilience.consensus._auto_choice import worth_a_look

    seen = worth_a_look(alternatives)
    if len(seen) < 2:
        return []
    rows = [
        [
            one.n_clusters,
            group_sizes(list(one.sizes)).removeprefix("of ").removesuffix(" objects"),
            finite(one.agreement, 2),
            finite(one.silhouette, 2),
            one.difference or "taken",
        ]
        for one in seen
    ]
    # Of a large table a part was looked at.
    each = f"objects in each, of {sum(seen[0].sizes):,} looked at"
    names = ["groups", each, "agreement of ways to cluster", "silhouette", "it"]
    return [table(names, rows)]


def _criterion(criterion: "Criterion", choice: "NumberChoice") -> Figure:
    lines = [series("the data", criterion.tested, criterion.values)]
    if criterion.reference is not None:
        lines.append(series("data without groups", criterion.tested, criterion.reference, "dashed"))
    marks = []
    if criterion.n_clusters is not None:
        words = f"chooses {criterion.n_clusters}"
        taken = criterion.n_clusters == choice.n_clusters
        marks.append(mark(criterion.n_clusters, words, taken=taken, axis="x"))
    better = "higher is better" if criterion.larger_is_better else "lower is better"
    return curves(lines, "number of groups", better, marks=marks, title=criterion.title)


def methods_section(comparison: "Comparison") -> Section:
    """Several methods: how far they agree, how well each speaks for the members."""
    columns = ["method", "groups", "ANMI with the clusterings"]
    truth = comparison.truth or {}
    columns += [_TRUTH_WORDS.get(name, name) for name in truth]
    columns.append("remark")  # and no times: equal runs give equal reports
    rows: list[list[Any]] = []
    for i, name in enumerate(comparison.names):
        scores = [finite(values[i], 3) for values in truth.values()]
        remark = "taken: agrees best with the clusterings" if name == comparison.best else ""
        rows.append(
            [
                name,
                int(comparison.n_clusters[i]),
                finite(comparison.anmi[i], 3),
                *scores,
                remark,
            ]
        )
    gaps = [None] * (len(truth) + 2)
    rows += [[name, *gaps, f"failed: {why}"] for name, why in comparison.failed.items()]
    read = (
        "The darker the crossing of two methods, the more alike are the groups they find; the "
        "table says how well each speaks for the single clusterings. Methods that agree although "
        "they work differently make the result more credible, and a method apart from all others "
        "deserves suspicion."
    )
    figures = [table(columns, rows)]
    if len(comparison.names) > 1:
        agreement = np.nan_to_num(np.asarray(comparison.agreement, np.float64))
        title = "Agreement of the methods"
        figures.append(matrix(agreement, names=comparison.names, title=title))
    return section("methods", "Methods compared", read, *figures)


def truth_scores(case: Case, truth: Truth) -> dict[str, float]:
    """Agreement with the true classes, of the objects whose class is known."""
    known = truth.codes >= -1
    return against_truth(truth.codes[known], case.labels[known])


def truth_section(case: Case, truth: Truth, scores: dict[str, float], notes: list[str]) -> Section:
    """The table of groups by true classes, and how far they agree (`truth_scores`)."""
    rows = [[_TRUTH_WORDS[name], round(value, 4)] for name, value in scores.items()]
    read = (
        "Each row is a group, each column a true class, and the numbers count the objects in "
        "both. A perfect result has one large number in every row and every column and nothing "
        "beside it."
    )
    figures = [_contingency(case, truth, notes), table(["measure", "value"], rows)]
    return section("truth", "Agreement with the true classes", read, *figures)


def _contingency(case: Case, truth: Truth, notes: list[str]) -> Figure:
    known = truth.codes >= -1
    k, n_classes = case.n_clusters, len(truth.names)
    # Objects in none come last on both sides.
    row = np.where(case.labels[known] < 0, k, case.labels[known])
    col = np.where(truth.codes[known] < 0, n_classes, truth.codes[known])
    groups = [f"cluster {number}" for number in case.numbers.tolist()] + ["in no cluster"]
    classes = [*truth.names, "none"]
    row, groups = _largest(row, groups, _MAX_GROUPS, "other clusters")
    col, classes = _largest(col, classes, _MAX_CLASSES, "other classes")
    counts = np.bincount(row * len(classes) + col, minlength=len(groups) * len(classes))
    counts = counts.reshape(len(groups), len(classes))
    # Classes in the order of the groups that hold most of them: large numbers near the diagonal.
    order = np.lexsort((-counts.max(axis=0), counts.argmax(axis=0)))
    counts, classes = counts[:, order], [classes[c] for c in order.tolist()]
    unknown = int((~known).sum())
    if unknown:
        notes.append(f"{unknown:,} objects without a true class are left out of its comparison.")
    rows = [[name, *line] for name, line in zip(groups, counts.tolist(), strict=True)]
    return table(["", *classes], rows)


def _largest(
    codes: NDArray[np.int64], names: list[str], most: int, rest: str
) -> tuple[NDArray[np.int64], list[str]]:
    """Codes that occur, renumbered in order; past ``most`` the rarest share one code."""
    counts = np.bincount(codes, minlength=len(names))
    kept = np.flatnonzero(counts)
    if len(kept) > most:
        kept = np.sort(np.argsort(-counts, kind="stable")[: most - 1])
    place = np.full(len(names), len(kept))
    place[kept] = np.arange(len(kept))
    kept_names = [names[c] for c in kept.tolist()]
    n_rest = int((counts > 0).sum()) - len(kept)
    return place[codes], [*kept_names, f"{rest} ({n_rest})"] if n_rest else kept_names
