"""What people see in the terminal, through rich: plain text in a pipe, colour on a screen."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._cli.run import Outcome
from consilience.consensus import CONSENSUS

if TYPE_CHECKING:
    from rich.console import Console

    from consilience._cli.demo import Demo

__all__ = [
    "show_demo",
    "show_methods",
    "show_notes",
    "show_outcome",
    "show_written",
    "table",
    "tell",
]

_MOST_ROWS = 20


def show_outcome(outcome: Outcome, console: "Console") -> None:
    """Print what was clustered, how, the clusters, and where to look twice."""
    tell(console, _what(outcome))
    tell(console, _how(outcome))
    console.print(_clusters(outcome))
    tell(console, _number(outcome))
    if outcome.agreement is not None:
        ci, nmi, ari = (outcome.agreement[key] for key in ("consistency_index", "nmi", "ari"))
        tell(
            console,
            f"Against the known groups: {ci:.0%} of the objects agree (consistency index "
            f"{ci:.3f}), NMI {nmi:.3f}, adjusted Rand index {ari:.3f}.",
        )
    _show_least_sure(outcome, console)
    show_notes(outcome.notes, console)


def show_written(paths: Sequence[Path], seconds: float, console: "Console") -> None:
    """Print where the files are and how long all took."""
    names = [str(path) for path in paths]
    text = f"Wrote {', '.join(names[:-1])} and {names[-1]} ({seconds:.1f} s in all)."
    tell(console, text)


def show_notes(notes: Sequence[str], console: "Console") -> None:
    """Print the library's warnings as short notes."""
    for note in notes:
        console.print(f"Note: {note}", style="yellow", markup=False, highlight=False)


def show_methods(console: "Console") -> None:
    """Print the table of consensus methods."""
    from rich.text import Text

    lines = table("method", "needs", "what it does")
    for name, method in sorted(CONSENSUS.items()):
        needs = ["-k"] * method.needs_n_clusters + ["data"] * method.needs_data
        what = f"{method.summary} {method.paper}; memory {method.memory}."
        lines.add_row(name, ", ".join(needs) or "nothing", Text(what))
    console.print(lines)
    tell(console, "Memory for n objects and R members.")
    tell(console, "Take a method with: consilience cluster DATA --method NAME")
    tell(
        console,
        "In Python there is also MontiConsensus, which draws its own sub-samples of the data and "
        "compares numbers of clusters.",
    )


def show_pictures(X: Any, pictures: dict[str, Any], console: "Console") -> None:
    """Print small maps of objects in the plane side by side, a digit for each cluster."""
    from rich.table import Table
    from rich.text import Text

    width = max(20, min(48, (console.width - 4 * len(pictures)) // len(pictures)))
    grid = Table.grid(padding=(0, 2))
    grid.add_row(*(Text(title, style="bold") for title in pictures))
    grid.add_row(*(Text(_picture(X, labels, width)) for labels in pictures.values()))
    console.print(grid)


def _picture(X: Any, labels: Any, width: int) -> str:
    """The plane as lines of text; where objects overlap, the most frequent cluster shows."""
    height = width // 2  # a character is about twice as high as it is wide
    low, high = X.min(axis=0), X.max(axis=0)
    places = (X - low) / np.where(high > low, high - low, 1.0)
    columns = np.minimum((places[:, 0] * width).astype(int), width - 1)
    rows = np.minimum(((1 - places[:, 1]) * height).astype(int), height - 1)
    counts = np.zeros((height, width, int(labels.max()) + 1), int)
    np.add.at(counts, (rows, columns, labels), 1)
    signs = np.where(counts.any(axis=2), counts.argmax(axis=2), -1)
    return "\n".join("".join(" " if s < 0 else ".o+x"[s % 4] for s in row) for row in signs)


def tell(console: "Console", text: str) -> None:
    """Print a line as it is: no markup, no highlighting."""
    console.print(text, markup=False, highlight=False)


def table(*names: str, right: Sequence[str] = ()) -> Any:
    """An empty table with these columns; those in ``right`` are set to the right."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE, header_style="bold", pad_edge=False)
    for name in names:
        made.add_column(name, justify="right" if name in right else "left")
    return made


def _what(outcome: Outcome) -> str:
    given = outcome.input
    text = f"{outcome.options.source.name}: {given.n_objects} objects"
    if given.X is None:
        return text
    columns = given.X.shape[1]
    scaled = ", standardised" if outcome.options.scale else ", as they are"
    return f"{text}, {columns} column{'s' * (columns != 1)} of numbers{scaled}"


def _how(outcome: Outcome) -> str:
    k = outcome.ensemble.n_clusters
    kind = "clusterings by k-means" if outcome.options.labels is None else "clusterings given"
    clusters = f"{k.min()}" if k.min() == k.max() else f"{k.min()} to {k.max()}"
    link = outcome.parameters.get("linkage")
    return (
        f"{outcome.ensemble.n_members} {kind}, of {clusters} clusters each, combined by "
        f"{outcome.method.name}{f' ({link} link)' if link else ''}"
    )


def _number(outcome: Outcome) -> str:
    """How many clusters, and who chose the number."""
    k, asked = outcome.n_clusters, outcome.options.n_clusters
    text = f"{k} cluster{'s' * (k != 1)}"
    if asked is not None:
        return f"{text}, as asked." if k == asked else f"{text}, where {asked} were asked for."
    if outcome.lifetimes is None:
        return f"{text}, a number chosen by {outcome.method.name}; ask for another with -k."
    others = [str(c) for c in outcome.candidates() if c != k]
    text += ", the number with the longest lifetime."
    if others:
        text += f" Next come {', '.join(others)}; ask for one with -k."
    if outcome.parameters.get("linkage") == "average":
        text += (
            " With average link the lifetime tends to ask for too many: where you know the "
            "number give it with -k, and for groups that are chains try --linkage single."
        )
    return text


def _clusters(outcome: Outcome) -> Any:
    """The table of clusters, the largest only where there are very many."""
    lines = table("cluster", "objects", "share", "confidence", right=("objects", "share"))
    sizes, n = outcome.sizes, outcome.input.n_objects
    order = range(len(sizes))
    if len(sizes) > _MOST_ROWS:
        order = np.argsort(sizes, kind="stable")[::-1][:_MOST_ROWS].tolist()
    for cluster in order:
        size = sizes[cluster]
        sure = _mean_confidence(outcome, outcome.labels == cluster)
        lines.add_row(str(cluster), str(size), f"{size / n:.0%}", sure)
    rest = len(sizes) - len(order)
    if rest:
        held = sum(sizes) - sum(sizes[cluster] for cluster in order)
        lines.add_row(f"{rest} smaller", str(held), f"{held / n:.0%}", "")
    noise = n - sum(sizes)
    if noise:
        lines.add_row("noise (-1)", str(noise), f"{noise / n:.0%}", "")
    lines.add_row("all", str(n), "", _mean_confidence(outcome, slice(None)), style="bold")
    return lines


def _mean_confidence(outcome: Outcome, objects: Any) -> str:
    return "" if outcome.confidence is None else f"{outcome.confidence[objects].mean():.2f}"


def _show_least_sure(outcome: Outcome, console: "Console") -> None:
    from rich.text import Text

    found = outcome.least_sure(5)
    if not found:
        tell(console, "Every object is sure of its cluster.")
        return
    name = "id" if outcome.input.ids is not None else "row"
    lines = table(name, "cluster", "next best", "confidence")
    for item in found:
        other = item["runner_up"]
        lines.add_row(
            Text(str(item["id"])),  # an identifier may look like markup
            str(item["cluster"]),
            "" if other is None or other < 0 else str(other),
            f"{item['confidence']:.2f}",
        )
    tell(console, "\nLeast sure (1 is certain, 0.5 is torn between two clusters):")
    console.print(lines)


def show_demo(demo: "Demo", seconds: float, console: "Console") -> None:
    """Print the demonstration: both results beside each other, and what to try next."""
    outcome = demo.outcome
    found = outcome.agreement or {}
    show_pictures(
        demo.X,
        {
            f"k-means alone: {demo.kmeans_agreement:.0%} right": demo.kmeans,
            f"consensus: {found['consistency_index']:.0%} right": outcome.labels,
        },
        console,
    )
    tell(console, "")
    show_outcome(outcome, console)
    show_written(demo.written, seconds, console)
    same = replace(outcome.options, out=None)
    tell(console, "\nTry next:")
    for command, why in (
        (same.command(), "the same, as you would do it with your own data"),
        (replace(same, linkage=None, n_clusters=2).command(), "average link: not for chains"),
        ("consilience methods", "other ways to combine clusterings"),
    ):
        # Not wrapped: a command must survive copying.
        console.print(f"  {command}", markup=False, highlight=False, soft_wrap=True)
        tell(console, f"      {why}")
