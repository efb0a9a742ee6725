"""What ``consilience cluster --graph`` does: edges from a file, communities into the results."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from consilience._cli.arguments import ClusterWish, Default, flag
from consilience._cli.checks import check_common
from consilience._cli.folders import LABELS
from consilience._cli.jobs import Answer
from consilience._cli.members import run_in
from consilience._cli.show import show_notes, table, tell
from consilience._cli.stages import Clock
from consilience.datasets import read_graph, write_labels
from consilience.errors import InvalidParameterError
from consilience.workflow import GraphResult, cluster_graph
from consilience.workflow._notes import noting

__all__ = ["GraphConsensus", "find_graph"]

_OWNER = "consilience cluster --graph"
# Partitions to make where nobody says.
_MEMBERS = 30
# Options that mean something for a graph; others are refused.
_KNOWN = (
    "graph",
    "resolution",
    "source_column",
    "target_column",
    "weight_column",
    "members",
    "seed",
    "jobs",
    "resume",
    "no_report",
    "no_keep",
    "writing",
)


@dataclass(frozen=True, kw_only=True)
class GraphConsensus(Answer):
    """Communities, as the command tells them."""

    name = "cluster"
    wish: ClusterWish
    result: GraphResult

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Answer.writers`."""
        result = self.result
        ids = None if result.data.ids is None else result.data.ids.tolist()
        return {
            LABELS: lambda path: write_labels(
                path,
                ids,
                result.labels,
                result.confidence,
                runner_up=result.runner_up,
                doubtful=result.doubtful,
            )
        }

    def data_in_words(self) -> str:
        """See `Answer.data_in_words`."""
        return f"{self.wish.source.name}: {self.result.data_in_words()}"

    def show(self, console: Any) -> None:
        """See `Answer.show`."""
        lines = dict(self.result.headline())
        tell(console, self.data_in_words() + ".")
        tell(console, f"{lines['members']}\n{lines['clarity']}")
        names, rows = self.result.rows()
        shown = table(*names, right=names[1:3])
        for row in rows:
            shown.add_row(*row)
        console.print(shown)
        n = len(self.result.sizes)
        tell(console, f"{n} {'community' if n == 1 else 'communities'}.")
        tell(console, f"Confidence: {lines['confidence']}.")
        show_notes(self.result.notes, console)


def find_graph(wish: ClusterWish, folder: Path, *, callbacks: Sequence[Any] = ()) -> GraphConsensus:
    """Read the graph, and find its communities; see `consilience._cli.cluster.find`."""
    _check(wish)
    if isinstance(wish.members, Default):
        wish = replace(wish, members=_MEMBERS)
    clock = Clock()
    assert wish.graph is not None
    resolution = wish.resolutions()
    with noting() as said, clock.stage("read"):
        graph = read_graph(
            wish.graph,
            source_column=wish.source_column,
            target_column=wish.target_column,
            weight_column=wish.weight_column,
        )
    with run_in(folder, wish) as run:
        result = cluster_graph(
            graph,
            resolution=resolution,
            n_members=wish.members,
            random_state=wish.seed,
            n_jobs=wish.jobs,
            run=run,
            callbacks=callbacks,
        )
    notes = tuple(dict.fromkeys((*said, *result.notes)))
    rest = {name: value for name, value in result.seconds.items() if name != "prepare"}
    result = replace(result, notes=notes, seconds=clock.seconds | rest)
    return GraphConsensus(wish=wish, result=result)


def _check(wish: ClusterWish) -> None:
    """Refuse options of tables."""
    check_common(wish, _OWNER)
    wish.resolutions()
    plain = ClusterWish()
    for option in fields(wish):
        given, usual = getattr(wish, option.name), getattr(plain, option.name)
        if option.name in _KNOWN or given == usual:
            continue
        name = option.name
        if name == "reading":
            name = next(
                one.name
                for one in fields(given)
                if getattr(given, one.name) != getattr(usual, one.name)
            )
        raise InvalidParameterError(
            f"{flag(name)} is of tables, and --graph gives a graph. Leave one of them out."
        )
