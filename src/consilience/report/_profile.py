"""What makes each group, as a section of the report."""

from typing import Any

import numpy as np

from consilience.explain import Profile
from consilience.explain._words import cluster_lines, percent, short
from consilience.report._figures import Figure, bars, cards, section, table
from consilience.report._values import finite

__all__ = ["profile_section"]

_MOST_BARS, _MOST_CARDS, _MOST_DOUBTFUL = 15, 50, 50
# Lines of the table of differences: of each group those that set it apart most.
_MOST_LINES, _MOST_OF_A_GROUP = 2000, 100


def profile_section(profile: Profile, notes: list[str]) -> dict[str, Any] | None:
    """What is typical of each group and sets it apart; None where there is nothing to compare."""
    compared = len(profile.clusters["cluster"]) > 1
    if not compared:
        return None
    notes += profile.notes
    figures = [_importance(profile), _groups(profile, notes)]
    figures += [_differences(profile, notes), _doubtful(profile)]
    shown = [figure for figure in figures if figure is not None]
    return section("profile", "What makes each group", _read(profile), *shown)


def _read(profile: Profile) -> str:
    read = (
        "For every group: what is usual in it, what sets it apart from the others, and a rule of "
        "at most three conditions for it; an effect of 1 means that each of its objects has more "
        "than each of the others, -1 that each has less, and 0 that there is no difference. "
    )
    corrected = "p is corrected for the number of comparisons (Benjamini and Hochberg)"
    if profile.clustered:
        return read + (
            "The groups were made from these same columns, so that they differ in them in any "
            f"case: {corrected}, but p-values are not tests of whether the groups exist."
        )
    return read + f"The groups were made without these columns, and {corrected}."


def _importance(profile: Profile) -> Figure | None:
    value = profile.columns["importance"]
    shown = np.flatnonzero(value >= 0)[:_MOST_BARS]
    if not len(shown):
        return None
    names = [str(name) for name in profile.columns["column"][shown]]
    words = "how far the groups part the column: 0 as by chance, 1 without overlap"
    return bars(names, value[shown], words, title="Columns that matter most")


def _groups(profile: Profile, notes: list[str]) -> Figure:
    clusters, sizes = profile.clusters["cluster"], profile.clusters["objects"]
    chosen = np.arange(len(clusters))
    if len(chosen) > _MOST_CARDS:
        chosen = np.sort(np.argsort(-sizes, kind="stable")[:_MOST_CARDS])
        notes.append(f"The {_MOST_CARDS} largest of {len(clusters):,} groups are explained.")
    number = _numbers(profile)
    made = [
        {
            "cluster": number[clusters[i]],
            "lines": [list(line) for line in cluster_lines(profile, i)],
        }
        for i in chosen.tolist()
    ]
    return cards(made, "The groups in words")


def _numbers(profile: Profile) -> dict[Any, int]:
    """Numbers of the groups as the page has them: those that are named are counted."""
    named = [name for name in profile.clusters["cluster"] if isinstance(name, str)]
    counted = {name: i for i, name in enumerate(named)}
    return {name: counted.get(name, name) for name in profile.clusters["cluster"]}


def _differences(profile: Profile, notes: list[str]) -> Figure | None:
    lines = profile.differences
    known = np.flatnonzero(np.isfinite(lines["effect"]))
    if not len(known):
        return None
    # Lines of a group lie together, what sets it apart most first.
    number = _numbers(profile)
    codes = np.array([number[name] for name in lines["cluster"][known]])
    _, start, place = np.unique(codes, return_index=True, return_inverse=True)
    most = min(_MOST_OF_A_GROUP, max(1, _MOST_LINES // len(start)))
    shown = known[np.arange(len(known)) - start[place] < most][:_MOST_LINES]
    if len(shown) < len(known):
        notes.append(
            f"Of {len(known):,} differences of groups in columns the {len(shown):,} are listed "
            "that set each group apart most; the tables of the profile have all."
        )
    names = ("Cluster", "Column", "Here", "Others", "Effect", "From", "To", "p (corrected)")
    rows = [[number[lines["cluster"][i]], *_line(lines, i)] for i in shown.tolist()]
    return table(names, rows, title="All differences", search="Find a column")


def _line(lines: Any, i: int) -> list[Any]:
    column, category = str(lines["column"][i]), lines["category"][i]
    if lines["kind"][i] == "number":
        ends = (short(lines[f"{end}_quartile"][i]) for end in ("lower", "upper"))
        here = f"{short(lines['median'][i])} ({' to '.join(ends)})"
        others = short(lines["rest_median"][i])
    else:
        column += f": {category}" if lines["kind"][i] == "category" else ""
        here, others = percent(lines["share"][i]), percent(lines["rest_share"][i])
    figures = (lines[name][i] for name in ("effect", "effect_low", "effect_high"))
    rounded = [round(float(figure), 2) + 0.0 for figure in figures]
    return [column, here, others, *rounded, _chance(lines, i)]


def _chance(lines: Any, i: int) -> float | str | None:
    p = finite(lines["p_corrected"][i], 2)
    return "< 0.001" if p is not None and p < 0.001 else p


def _doubtful(profile: Profile) -> Figure | None:
    lines = profile.objects
    doubtful = np.flatnonzero(lines["role"] == "doubtful")[:_MOST_DOUBTFUL]
    if not len(doubtful) or "reason" not in lines:
        return None
    number = _numbers(profile)
    rows = [
        [
            str(lines["object"][i]),
            number[lines["cluster"][i]],
            round(float(lines["confidence"][i]), 2),
            str(lines["reason"][i]),
        ]
        for i in doubtful.tolist()
    ]
    names = ("Object", "Cluster", "Confidence", "What the clusterings say")
    return table(names, rows, title="Objects that are least sure, and why")
