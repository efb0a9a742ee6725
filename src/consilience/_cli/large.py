"""What ``consilience cluster`` does where a table does not fit: in blocks, written in parts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from consilience._cli.arguments import ClusterWish
from consilience._cli.by_blocks import check_by_blocks, memory_of, opened, workers_for
from consilience._cli.checks import check_enough_objects
from consilience._cli.folders import MODEL
from consilience._cli.jobs import Answer
from consilience._cli.members import run_in
from consilience._cli.show import show_notes, table, tell
from consilience._cli.show_profile import profile_writers, show_profile
from consilience._cli.stages import Clock, shown_detail
from consilience._words import percent, plural
from consilience.workflow import LargeResult, cluster
from consilience.workflow._kept import kept_files
from consilience.workflow._notes import noting
from consilience.workflow.large import part_names, watched, write_part

__all__ = ["LargeConsensus", "find_large"]

_MOST_ROWS = 30
# Options that need all objects in memory.
_IN_MEMORY = (
    "labels",
    "methods",
    "view",
    "known",
    "refine",
    "strict",
    "linkage",
    "log",
    "compositional",
    "weight",
    "metric",
    "object_weights",
    "device",
    "effort",
)


@dataclass(frozen=True, kw_only=True)
class LargeConsensus(Answer):
    """A consensus of a table that is not in memory, as the command tells it."""

    name = "cluster"
    wish: ClusterWish
    result: Any  # a LargeResult, which is no Result: it has its objects in parts

    @property
    def decisive(self) -> ClusterWish:
        """See `Answer.decisive`; who computed it changes nothing either."""
        wish: ClusterWish = replace(super().decisive, scheduler=None, workers=None)
        return wish

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Answer.writers`; labels go into parts."""
        large: LargeResult = self.result
        parts: dict[str, Callable[[Path], None]] = {
            name: partial(write_part, large, number)
            for number, name in enumerate(part_names(large.n_objects))
        }
        tables = {} if self.wish.no_report else profile_writers(large.profile())
        files = None if self.wish.no_keep else kept_files(large.sample)
        kept = {} if files is None else {MODEL[0]: files.write_arrays, MODEL[1]: files.write_facts}
        return {**parts, **tables, **kept}

    def report(self) -> dict[str, Any]:
        """See `Answer.report`; of the objects that were looked at."""
        return self.result.sample.page(title=self.wish.source.name, about=self.about())

    def data_in_words(self) -> str:
        """The file, its size, and how many of its objects were looked at."""
        large = self.result
        return (
            f"{self.wish.source.name}: {large.n_objects:,} objects, {len(large.columns)} columns, "
            f"read block by block; tables and pictures are of {large.of_how_many}"
        )

    def show(self, console: Any) -> None:
        """See `Answer.show`."""
        large = self.result
        tell(console, self.data_in_words() + ".")
        tell(
            console,
            f"{plural(large.ensemble.n_members, 'clustering')}: {large.why_members}\nCombined by "
            f"{large.method} on {large.n_rows:,} distinct rows of labels. {large.why_method}",
        )
        if large.sample.choice is not None:
            tell(console, large.sample.choice.words)
        console.print(_clusters(large))
        show_profile(large.profile(), console)
        show_notes(large.notes, console)


def _clusters(large: LargeResult) -> Any:
    """Clusters of all objects, with the confidence in each."""
    lines = table("cluster", "objects", "share", "confidence", right=("objects", "share"))
    means = large.mean_confidences()
    for cluster_, size in list(enumerate(large.sizes))[:_MOST_ROWS]:
        sure = "" if large.n_clusters < 2 else f"{means[cluster_]:.2f}"
        lines.add_row(str(cluster_), f"{size:,}", percent(size / large.n_objects), sure)
    rest = len(large.sizes) - _MOST_ROWS
    if rest > 0:
        lines.add_row(f"{rest} more", f"{sum(large.sizes[_MOST_ROWS:]):,}", "", "")
    outside = large.n_objects - sum(large.sizes)
    if outside:
        lines.add_row("noise (-1)", f"{outside:,}", percent(outside / large.n_objects), "")
    return lines


def find_large(
    wish: ClusterWish, folder: Path, why: str, *, callbacks: Sequence[Any] = ()
) -> LargeConsensus:
    """Find the consensus of a table block by block; see `consilience._cli.cluster.find`."""
    check_by_blocks(wish, _IN_MEMORY, why)
    clock = Clock()
    with noting() as said, workers_for(wish) as by_workers:
        with clock.stage("read"):
            rows = opened(wish, by_workers)
        check_enough_objects(wish, len(rows))
        with run_in(folder, wish) as run, watched(shown_detail):
            result = cluster(
                rows,
                wish.n_clusters,
                method=next(iter(wish.method_names()), None),
                n_members=wish.members,
                scale=False if wish.no_scale else "auto",
                max_clusters=wish.max_k,
                random_state=wish.seed,
                n_jobs=wish.jobs,
                run=run,
                callbacks=callbacks,
                max_memory=memory_of(wish),
            )
    notes = tuple(dict.fromkeys((why, *said, *result.notes)))
    result = replace(result, notes=notes, seconds=clock.seconds | result.seconds)
    return LargeConsensus(wish=wish, result=result)
