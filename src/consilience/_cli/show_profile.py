"""What makes each cluster, in the terminal and as tables."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._cli.folders import PROFILE
from consilience._cli.outputs import write_table
from consilience._cli.show import tell
from consilience._words import plural
from consilience.explain import Profile
from consilience.explain._words import apart_words, matter_words, rule_words

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["profile_writers", "show_profile"]

_MOST_CLUSTERS, _MOST_LINES, _MOST_WORDS = 10, 3, 5


def show_profile(profile: Profile, console: "Console") -> None:
    """Print what sets each cluster apart, and a rule for it."""
    from rich.table import Table
    from rich.text import Text

    clusters = profile.clusters["cluster"]
    if len(clusters) < 2 or not len(profile.columns["column"]):
        return
    tell(console, "\nWhat makes each cluster:")
    matter = matter_words(profile)
    if matter:
        tell(console, f"Columns that matter most (0 nothing, 1 no overlap): {matter}.")
    lines = Table.grid(padding=(0, 2))
    most = _MOST_WORDS if "word" in profile.columns["kind"] else _MOST_LINES
    for i in range(min(len(clusters), _MOST_CLUSTERS)):
        said = apart_words(profile, clusters[i], most)
        rule = rule_words(profile, i)
        said += [f"rule: {rule}"] if rule else []
        name = "noise (-1)" if clusters[i] == -1 else f"cluster {clusters[i]}"
        for words in said or ["nothing surely sets it apart"]:
            lines.add_row(f"  {name}", Text(words))  # a column's name may look like markup
            name = ""
    if len(clusters) > _MOST_CLUSTERS:
        rest = plural(len(clusters) - _MOST_CLUSTERS, "more cluster")
        lines.add_row("", f"... and {rest}")
    console.print(lines)
    tell(
        console,
        f"An effect runs from -1 to 1, with its {100 * profile.level:g} % interval. The clusters "
        "were made from these columns: p-values are not tests of whether they exist.",
    )


def profile_writers(profile: Profile) -> dict[str, Callable[[Path], None]]:
    """Tables of a profile that hold a line, by the names of their files; none without columns."""
    if not len(profile.columns["column"]):
        return {}
    named = zip(PROFILE, profile.tables.values(), strict=True)
    return {
        name: partial(
            write_table, header=list(table), columns=[_cells(values) for values in table.values()]
        )
        for name, table in named
        if len(next(iter(table.values())))
    }


def _cells(values: Any) -> Any:
    """Numbers in six digits, empty where there is none; all else as it is."""
    if values.dtype.kind != "f":
        return values
    return np.array(["" if np.isnan(value) else f"{value:.6g}" for value in values], dtype=object)
