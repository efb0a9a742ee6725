"""The demonstration: two spirals that k-means cannot tell apart and its ensemble can."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from consilience._cli.arguments import ClusterWish, Reading, Writing, as_command
from consilience._cli.cluster import Consensus, find
from consilience._cli.folders import LABELS, MODEL, PROFILE, SUMMARY, check_folder
from consilience._cli.folders import SPIRALS as DATA
from consilience._cli.jobs import all_writers
from consilience._cli.outputs import write_table
from consilience._cli.progress import progress
from consilience._cli.results import ResultFolder, taken
from consilience._cli.show import show_written, tell
from consilience._cli.show_cluster import show_consensus
from consilience._cli.speech import Speaker
from consilience._cli.stages import stages_shown
from consilience.datasets import make_spirals
from consilience.workflow._alone import kmeans_alone

__all__ = ["Demo", "carry_out_demo", "run_demo"]


@dataclass(frozen=True)
class Demo:
    """What the demonstration found, and the files it wrote."""

    X: NDArray[np.float64]
    kmeans: NDArray[np.int32]
    kmeans_agreement: float
    consensus: Consensus
    written: list[Path]


def carry_out_demo(folder: Path, *, force: bool) -> None:
    """Say what is coming, do it, and show both results beside each other."""
    console = Speaker()
    start = time.perf_counter()
    with taken(folder, f"consilience demo --out {folder}") as results:
        earlier = check_folder(folder, LABELS, DATA, *PROFILE, *MODEL, force=force, resume=False)
        for line in (
            "Two spirals of 200 points each. One run of k-means cuts straight through them;",
            "100 runs, with what other ways to cluster say, follow the arms. Nobody says how many.",
            "(The very first run compiles the numerical code: allow half a minute.)\n",
        ):
            tell(console, line)
        with stages_shown():
            demo = run_demo(results, replaces=earlier, callbacks=progress())
    _show(demo, time.perf_counter() - start, console)
    console.close(f"The results are in {str(folder)!r}.")


def run_demo(
    results: ResultFolder, *, replaces: Sequence[str] = (), callbacks: Sequence[Any] = ()
) -> Demo:
    """Cluster two spirals by k-means alone and by a consensus.

    The data go through a file, so that ``consilience cluster`` on the file written here
    gives the same clusters.
    """
    X, arms = make_spirals(random_state=0)
    names = np.array(["first", "second"])[arms]
    save = partial(write_table, header=["x", "y", "arm"], columns=[*X.round(6).T, names])
    place = results.scratch()
    save(place / DATA)
    reading = Reading(truth_column="arm")
    asked = ClusterWish(data=place / DATA, reading=reading)
    consensus = find(asked, place / "run", callbacks=callbacks)
    shown = replace(asked, data=results.folder / DATA, writing=Writing(out=results.folder))
    consensus = replace(consensus, wish=shown)
    kmeans, agreement = kmeans_alone(consensus.result.data.X, 2, arms)
    written = results.publish(all_writers(consensus, {DATA: save}), last=SUMMARY, replaces=replaces)
    return Demo(X, kmeans, agreement, consensus, written)


def _show(demo: Demo, seconds: float, console: Console) -> None:
    """Print both results beside each other, and what to try next."""
    agreement = demo.consensus.result.agreement or {}
    _show_pictures(
        demo.X,
        {
            f"k-means alone: {demo.kmeans_agreement:.0%} right": demo.kmeans,
            f"consensus: {agreement['consistency_index']:.0%} right": demo.consensus.result.labels,
        },
        console,
    )
    tell(console, "")
    show_consensus(demo.consensus, console)
    show_written(demo.written, seconds, console)
    same = replace(demo.consensus.wish, writing=Writing())
    tell(console, "\nTry next:")
    for command, why in (
        (as_command("cluster", same), "the same, as you would do it with your own data"),
        (
            as_command("cluster", replace(same, linkage="single", writing=Writing(force=True))),
            "evidence accumulation alone, by single link, which follows chains",
        ),
        ("consilience methods", "other ways to combine clusterings"),
    ):
        # Not wrapped: a command must survive copying.
        console.print(Text(f"  {command}"), soft_wrap=True)
        tell(console, f"      {why}")


def _show_pictures(X: Any, pictures: dict[str, Any], console: Console) -> None:
    """Print small maps of objects in the plane side by side, a sign for each cluster."""
    from rich.table import Table

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
