"""A profile in words: for a terminal, a notebook, and the pages that show it."""

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience.evidence import DOUBTFUL_BELOW
from consilience.explain._examples import SHOWN

if TYPE_CHECKING:
    from consilience.explain._profile import Profile

__all__ = [
    "apart_words",
    "as_html",
    "as_words",
    "caution",
    "matter_words",
    "short",
    "typical_words",
]

_MOST_CLUSTERS, _MOST_COLUMNS, _MOST_WORDS = 20, 4, 8
_CHANCE = 0.05


def short(value: float) -> str:
    """A number with no more digits than a person reads.

    >>> [short(value) for value in (0.123456, 13.05, 1234.5, -0.0, 2e-7)]
    ['0.1235', '13.05', '1234', '0', '2e-07']
    """
    value = float(value) + 0.0
    return f"{value:.0f}" if 1000 <= abs(value) < 1e9 else f"{value:.4g}"


def percent(share: float) -> str:
    """A share in words.

    >>> percent(0.333), percent(0.001)
    ('33 %', 'under 1 %')
    """
    if 0 < share < 0.01:
        return "under 1 %"
    return "over 99 %" if 0.99 < share < 1 else f"{100 * share:.0f} %"


def caution(profile: "Profile") -> str:
    """What the figures are, and what they are not."""
    interval = f"its {100 * profile.level:g} % interval"
    if "word" in profile.columns["kind"]:
        about = (
            "Shares are of the objects that have the word; log odds are above 0 where the cluster "
            f"has it more often than the others, with {interval}."
        )
    else:
        about = (
            "An effect is the chance that an object of the cluster has the larger value than one "
            "of the others, less the chance of the smaller (Cliff's delta), or the difference of "
            f"two shares: from -1 to 1, with {interval}."
        )
    about += (
        " Differences are shown where p, corrected for all comparisons by Benjamini and Hochberg, "
        "is at most 0.05."
    )
    if profile.clustered:
        about += (
            " The clusters were made from these same columns, so that they differ in them in any "
            "case: p-values are not tests of whether the clusters exist."
        )
    return about


def matter_words(profile: "Profile", most: int = 6) -> str:
    """The columns that matter most for the grouping, with their importance; "" where none does."""
    names, value = profile.columns["column"], profile.columns["importance"]
    parts = [
        f"{names[j]} ({value[j]:.2f})" for j in range(min(most, len(names))) if value[j] >= 0.005
    ]
    return ", ".join(parts)


def typical_words(profile: "Profile", cluster: Any, most: int = _MOST_COLUMNS) -> list[str]:
    """What is usual in a cluster, in the columns that matter most."""
    table = profile.differences
    own = np.flatnonzero(table["cluster"] == cluster)
    said: list[str] = []
    for column in profile.columns["column"][:most]:
        # One by one: NumPy takes a name of null characters for an empty one.
        lines = [i for i in own.tolist() if table["column"][i] == column]
        kind = table["kind"][lines[0]]
        if kind == "number":
            (i,) = lines
            ends = (table[f"{end}_quartile"][i] for end in ("lower", "upper"))
            low, high = map(short, ends)
            if not np.isnan(table["median"][i]):
                said.append(f"{column} {short(table['median'][i])} ({low} to {high})")
        elif kind == "category":
            i = lines[np.argmax(np.nan_to_num(table["share"][lines], nan=-1))]
            if not np.isnan(table["share"][i]):
                said.append(f"{column} {table['category'][i]} ({percent(table['share'][i])})")
        elif kind == "flag" and not np.isnan(table["share"][lines[0]]):
            said.append(f"{column} in {percent(table['share'][lines[0]])}")
    return said


def apart_words(profile: "Profile", cluster: Any, most: int | None = None) -> list[str]:
    """What surely sets a cluster apart, what is more of it first; categories it has more of."""
    table = profile.differences
    own = np.flatnonzero(table["cluster"] == cluster)
    sure = own[(table["p_corrected"][own] <= _CHANCE) & _off_zero(table, own)]
    lines = [
        i for i in sure.tolist() if table["kind"][i] in ("number", "flag") or table["effect"][i] > 0
    ]
    if most is None:
        words = any(table["kind"][i] == "word" for i in lines)
        most = _MOST_WORDS if words else _MOST_COLUMNS
    return [_difference(table, i) for i in lines[:most]]


def _off_zero(table: Any, lines: Any) -> Any:
    low, high = table["effect_low"][lines], table["effect_high"][lines]
    return (low > 0) | (high < 0)


def _difference(table: Any, i: int) -> str:
    kind, column = table["kind"][i], table["column"][i]
    effect = _with_interval(table, "effect", i)
    if kind == "number":
        way = "higher" if table["effect"][i] > 0 else "lower"
        median, rest = short(table["median"][i]), short(table["rest_median"][i])
        return f"{column} {way}: {median} against {rest} (effect {effect})"
    shares = f"{percent(table['share'][i])} against {percent(table['rest_share'][i])}"
    if kind == "word":
        return f"'{column}': {shares} (log odds {_with_interval(table, 'log_odds', i)})"
    what = column if kind == "flag" else f"{column} {table['category'][i]}"
    return f"{what}: {shares} (effect {effect})"


def _with_interval(table: Any, name: str, i: int) -> str:
    value, low, high = (float(table[f"{name}{end}"][i]) + 0.0 for end in ("", "_low", "_high"))
    return f"{value:.2f}, {low:.2f} to {high:.2f}"


def object_words(profile: "Profile", cluster: Any) -> tuple[str, list[str]]:
    """Typical objects, and some doubtful ones with the reason."""
    table = profile.objects
    own = table["cluster"] == cluster
    typical = table["object"][own & (table["role"] == "typical")]
    doubtful = np.flatnonzero(own & (table["role"] == "doubtful"))
    reasons = table.get("reason")
    said = []
    for i in doubtful[:SHOWN].tolist():
        why = "" if reasons is None else f": {reasons[i]}"
        said.append(f"{table['object'][i]} (confidence {table['confidence'][i]:.2f}){why}")
    return ", ".join(map(str, typical)), said


def rule_words(profile: "Profile", i: int) -> str:
    """The rule of the cluster in a line, with its figures; "" where there is none."""
    table = profile.clusters
    if not table["rule"][i]:
        return ""
    figures = f"precision {percent(table['precision'][i])}, recall {percent(table['recall'][i])}"
    return f"{table['rule'][i]} ({figures})"


def cluster_lines(profile: "Profile", i: int) -> list[tuple[str, str]]:
    """All there is to say of one cluster, as lines of a name and words."""
    cluster = profile.clusters["cluster"][i]
    lines = [("typical", ", ".join(typical_words(profile, cluster)))]
    apart = apart_words(profile, cluster)
    compared = len(profile.clusters["cluster"]) > 1 and len(profile.columns["column"]) > 0
    nothing = ["nothing surely sets it apart"] if compared else []
    lines += [("apart" if k == 0 else "", words) for k, words in enumerate(apart or nothing)]
    lines.append(("rule", rule_words(profile, i)))
    typical, doubtful = object_words(profile, cluster)
    n = int(profile.clusters["doubtful"][i])
    lines.append(("examples", typical))
    lines += [("doubtful" if k == 0 else "", words) for k, words in enumerate(doubtful)]
    if n > len(doubtful):
        lines.append(("", f"and {n - len(doubtful)} more with a confidence below {DOUBTFUL_BELOW}"))
    return [(name, words) for name, words in lines if words]


def _head(profile: "Profile", i: int) -> str:
    table = profile.clusters
    n, cluster = int(table["objects"][i]), table["cluster"][i]
    name = "In no cluster" if cluster == -1 else f"Cluster {cluster}"
    return f"{name}: {n} object{'s' * (n != 1)} ({percent(table['share'][i])})"


def _more(n: int) -> list[str]:
    """That there are more clusters than are told of."""
    if n <= _MOST_CLUSTERS:
        return []
    return [f"and {n - _MOST_CLUSTERS} more clusters: see to_pandas('clusters')"]


def as_words(profile: "Profile") -> str:
    """The whole profile as text."""
    said = []
    matter = matter_words(profile)
    if matter:
        said += [f"Columns that matter most (0 nothing, 1 no overlap): {matter}", ""]
    n = len(profile.clusters["cluster"])
    for i in range(min(n, _MOST_CLUSTERS)):
        said.append(_head(profile, i))
        said += [f"  {name:<10}{words}" for name, words in cluster_lines(profile, i)]
    said += _more(n)
    if len(profile.columns["column"]) and n > 1:
        said += ["", caution(profile)]
    return "\n".join([*said, *profile.notes])


def as_html(profile: "Profile") -> str:
    """The whole profile as one element; whatever comes from the data is text."""
    left = ' style="text-align:left"'
    parts = []
    matter = matter_words(profile)
    if matter:
        parts.append(f"<p>Columns that matter most (0 nothing, 1 no overlap): {escape(matter)}</p>")
    for i in range(min(len(profile.clusters["cluster"]), _MOST_CLUSTERS)):
        rows = "".join(
            f"<tr><th{left}>{escape(name)}</th><td{left}>{escape(words)}</td></tr>"
            for name, words in cluster_lines(profile, i)
        )
        parts.append(f"<p><strong>{escape(_head(profile, i))}</strong></p>")
        parts.append(f"<table><tbody>{rows}</tbody></table>")
    parts += [f"<p>{escape(words)}</p>" for words in _more(len(profile.clusters["cluster"]))]
    if len(profile.columns["column"]) and len(profile.clusters["cluster"]) > 1:
        parts.append(f"<p>{escape(caution(profile))}</p>")
    parts += [f"<p>{escape(note)}</p>" for note in profile.notes]
    return f"<div>{''.join(parts)}</div>"
