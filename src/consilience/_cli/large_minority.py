"""What ``consilience minority`` does where a table does not fit: in blocks, written in parts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from consilience._cli.arguments import MinorityWish
from consilience._cli.by_blocks import check_by_blocks, opened, workers_for
from consilience._cli.jobs import Answer
from consilience._cli.members import run_in
from consilience._cli.show import show_notes, table, tell
from consilience._cli.stages import Clock, shown_detail
from consilience.workflow import minority_groups
from consilience.workflow._notes import noting
from consilience.workflow.large import part_names, watched
from consilience.workflow.large_minority import write_part

__all__ = ["LargeMinority", "find_large"]

# Options that need all objects in memory.
_IN_MEMORY = ("background", "device")


@dataclass(frozen=True, kw_only=True)
class LargeMinority(Answer):
    """Groups in a table that is not in memory, as the command tells them."""

    name = "minority"
    wish: MinorityWish
    result: Any  # a LargeMinorityResult, which is no Result: it has its objects in parts

    @property
    def decisive(self) -> MinorityWish:
        """See `Answer.decisive`; who computed it changes nothing either."""
        wish: MinorityWish = replace(super().decisive, scheduler=None, workers=None)
        return wish

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Answer.writers`; scores and groups go into parts."""
        return {
            name: partial(write_part, self.result, number)
            for number, name in enumerate(part_names(self.result.n_objects))
        }

    def report(self) -> dict[str, Any]:
        """See `Answer.report`; of objects drawn at random."""
        return self.result.page(title=self.wish.source.name, about=self.about())

    def data_in_words(self) -> str:
        """The file, its size, and how it was read."""
        large = self.result
        return (
            f"{self.wish.source.name}: {large.n_objects:,} objects, {len(large.columns)} columns, "
            f"read block by block; tables and pictures are of {large.of_how_many}"
        )

    def show(self, console: Any) -> None:
        """See `Answer.show`."""
        large, model = self.result, self.result.model
        tell(console, self.data_in_words() + ".")
        tell(
            console,
            f"Scored by {model.n_repetitions_} weak clusterings ({self.wish.weak}); reliability "
            f"of the scores {model.reliability_:.3f} (1: more clusterings would change nothing).",
        )
        tell(console, large.rule.why)
        share = large.n_foreground / large.n_objects
        tell(
            console,
            f"{large.n_foreground:,} of {large.n_objects:,} objects are foreground ({share:.1%}), "
            f"in {large.n_clusters} group{'s' * (large.n_clusters != 1)}.",
        )
        if large.sizes:
            lines = table("group", "objects", right=("objects",))
            for group, size in enumerate(large.sizes):
                lines.add_row(str(group), f"{size:,}")
            console.print(lines)
        show_notes(large.notes, console)


def find_large(
    wish: MinorityWish,
    options: dict[str, Any],
    folder: Path,
    why: str,
    *,
    callbacks: Sequence[Any] = (),
) -> LargeMinority:
    """Score a table block by block; see `consilience._cli.minority.find`."""
    check_by_blocks(wish, _IN_MEMORY, why)
    clock = Clock()
    with noting() as said, workers_for(wish) as by_workers:
        with clock.stage("read"):
            rows = opened(wish, by_workers)
        with run_in(folder, wish) as run, watched(shown_detail):
            result: Any = minority_groups(rows, run=run, callbacks=callbacks, **options)
    notes = tuple(dict.fromkeys((why, *said, *result.notes)))
    result = replace(result, notes=notes, seconds=clock.seconds | result.seconds)
    return LargeMinority(wish=wish, result=result)
