"""What ``consilience ambiguous`` does: which objects the members cannot agree about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._cli.arguments import AmbiguousWish
from consilience._cli.checks import check_common, check_enough_objects
from consilience._cli.folders import AMBIGUOUS
from consilience._cli.inputs import read
from consilience._cli.jobs import Answer, Job
from consilience._cli.members import run_in
from consilience._cli.outputs import write_table
from consilience._cli.show import show_notes, table, tell
from consilience._words import plural
from consilience.workflow import AmbiguityResult, ambiguous_objects
from consilience.workflow.ambiguity import check_ambiguity

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["AMBIGUITY", "Flagged", "find"]

_OWNER = "consilience ambiguous"
_BINS, _WIDTH = 16, 40


@dataclass(frozen=True, kw_only=True)
class Flagged(Answer):
    """The flags, as the command tells them."""

    name = "ambiguous"
    wish: AmbiguousWish
    result: AmbiguityResult

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Answer.writers`."""
        result = self.result
        shown = np.array(["" if np.isnan(score) else f"{score:.6g}" for score in result.scores])
        others = [] if result.runner_up is None else result.runner_up.tolist()
        next_best = ["" if other < 0 else other for other in others] or [""] * result.n_objects
        columns = [result.ids, shown, result.flags.astype(int), result.labels, next_best]
        header = ["id", "score", "ambiguous", "cluster", "runner_up"]
        return {AMBIGUOUS: lambda path: write_table(path, header=header, columns=columns)}

    def report(self) -> dict[str, Any]:
        """See `Answer.report`."""
        return self.result.page(title=self.wish.source.name, about=self.about())

    def show(self, console: "Console") -> None:
        """Print how the scores lie, where the line is and why, and the most ambiguous."""
        result, n = self.result, self.result.n_objects
        made = "given" if self.wish.labels is not None else "by k-means"
        clusterings = plural(result.ensemble.n_members, "clustering")
        groups = f"{result.n_clusters} group{'s' * (result.n_clusters != 1)}"
        tell(
            console,
            f"{self.wish.source.name}: {n} objects in {groups}, {clusterings} {made}",
        )
        share = f"{result.n_ambiguous / n:.1%}"
        tell(console, f"{result.n_ambiguous} ambiguous ({share}): {result.ambiguity.why}.\n")
        for line in _histogram(result):
            tell(console, line)
        if result.n_ambiguous:
            _show_most_ambiguous(result, console)
        if result.agreement is not None:
            tell(console, f"Against the known groups: {result.truth_in_words()}.")
        show_notes(result.notes, console)


def find(wish: AmbiguousWish, folder: Path, *, callbacks: Sequence[Any] = ()) -> Flagged:
    """Read, make members unless labels are given, and flag the ambiguous objects."""
    _check(wish)
    was_read = read(wish.data, wish.labels, wish.reading)
    given = was_read.input
    check_enough_objects(wish, given.n_objects)
    with run_in(folder, wish) as run:
        result = ambiguous_objects(
            given.table,
            wish.n_clusters,
            score=wish.score,
            threshold=wish.limit(),
            n_members=wish.members,
            ensemble=given.ensemble,
            truth=given.truth,
            scale=False if wish.no_scale else "auto",
            random_state=wish.seed,
            n_jobs=wish.jobs,
            run=run if given.ensemble is None else None,
            callbacks=callbacks,
        )
    result = replace(result, **was_read.in_front(result.seconds, result.notes))
    return Flagged(wish=wish, result=result)


def _check(wish: AmbiguousWish) -> None:
    """Refuse what can be refused before the data are read."""
    _ = wish.source
    check_common(wish, _OWNER)
    check_ambiguity(wish.score, wish.limit())


def _histogram(result: AmbiguityResult) -> list[str]:
    """Lines of a histogram of the scores; the threshold stands where it divides them."""
    drawn = result.histogram(_BINS)
    if drawn is None:
        return []
    counts, edges = drawn
    lines = [f"{result.score.capitalize()} (low: in doubt), threshold {result.threshold:.4g}:"]
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        bar = "#" * int(np.ceil(_WIDTH * count / counts.max()))
        sign = "<" if low < result.threshold <= high else " "
        lines.append(f"{low:8.3f} {sign} {bar} {count}")
    return lines


def _show_most_ambiguous(result: AmbiguityResult, console: "Console") -> None:
    from rich.text import Text

    lines = table("row" if result.data.ids is None else "id", "score", "cluster", "next best")
    for one in result.most_ambiguous(10):
        told = "seen by nobody" if one["score"] is None else f"{one['score']:.4f}"
        places = [str(one[name]) if one[name] >= 0 else "" for name in ("cluster", "runner_up")]
        lines.add_row(Text(str(one["id"])), told, *places)
    tell(console, "\nThe most ambiguous:")
    console.print(lines)


AMBIGUITY = Job("ambiguous", "ambiguous-", AMBIGUOUS, find)
