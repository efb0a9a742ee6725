"""What ``consilience cluster`` does with a wish: check it, read the files, have the job done.

Everything that can be refused before the data are read is refused before.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from consilience._cli.arguments import ClusterWish
from consilience._cli.by_blocks import goes_by_blocks
from consilience._cli.checks import check_common, check_enough_objects, check_methods
from consilience._cli.folders import ANNOTATED, LABELS, MODEL, PROFILE
from consilience._cli.graph import find_graph
from consilience._cli.inputs import read
from consilience._cli.jobs import Answer, Job
from consilience._cli.large import find_large
from consilience._cli.members import run_in
from consilience._cli.show_profile import profile_writers
from consilience._validation import memory_in_bytes
from consilience.datasets import read_known, write_annotated, write_labels
from consilience.workflow import ClusterResult, cluster
from consilience.workflow._kept import kept_files
from consilience.workflow._methods import check_methods as check_options
from consilience.workflow._places import chosen_device

__all__ = ["CLUSTER", "Consensus", "find"]

_OWNER = "consilience cluster"
# Options of the command line that only some methods know.
_OWN = ("linkage", "max_memory")


@dataclass(frozen=True, kw_only=True)
class Consensus(Answer):
    """A consensus, as the command tells it."""

    name = "cluster"
    wish: ClusterWish
    result: ClusterResult

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Answer.writers`."""
        result = self.result
        ids = None if result.data.ids is None else result.data.ids.tolist()
        tables = {} if self.wish.no_report else profile_writers(result.profile())
        kept = {} if self.wish.no_keep else _kept_writers(result)
        return {
            LABELS: lambda path: write_labels(
                path,
                ids,
                result.labels,
                result.confidence,
                runner_up=result.runner_up,
                ambiguity=result.ambiguity,
                doubtful=result.doubtful,
            ),
            **tables,
            **kept,
            **self._annotated(),
        }

    def _annotated(self) -> dict[str, Callable[[Path], None]]:
        """A copy of annotated data with the clusters in it, where these were its rows."""
        source, result = self.wish.data, self.result
        if source is None or not source.name.lower().endswith(".h5ad"):
            return {}
        if self.wish.reading.transpose or result.data.n_left_out:
            return {}
        return {
            ANNOTATED: lambda path: write_annotated(source, path, result.labels, result.confidence)
        }

    def report(self) -> dict[str, Any]:
        """See `Answer.report`."""
        return self.result.page(title=self.wish.source.name, about=self.about())

    def show(self, console: Any) -> None:
        """See `Answer.show`."""
        from consilience._cli.show_cluster import show_consensus

        show_consensus(self, console)


def _kept_writers(result: ClusterResult) -> dict[str, Callable[[Path], None]]:
    """What new objects are placed by, as files; the arrays go first."""
    files = kept_files(result)
    return dict(zip(MODEL, (files.write_arrays, files.write_facts), strict=True))


def find_any(wish: ClusterWish, folder: Path, *, callbacks: Sequence[Any] = ()) -> Answer:
    """See `find`; what does not fit into memory goes by blocks, a graph has a way of its own."""
    if wish.graph is not None:
        return find_graph(wish, folder, callbacks=callbacks)
    check_common(wish, _OWNER)
    why = goes_by_blocks(wish, n_values=wish.members, owner=_OWNER)
    if why is not None:
        return find_large(wish, folder, why, callbacks=callbacks)
    return find(wish, folder, callbacks=callbacks)


def find(wish: ClusterWish, folder: Path, *, callbacks: Sequence[Any] = ()) -> Consensus:
    """Read, and find the consensus.

    Parameters
    ----------
    wish : ClusterWish
        What the user asked for.
    folder : Path
        Where clusterings are kept while they are made.
    callbacks : sequence of scikit-learn callbacks
        Told about the progress of the job.

    Returns
    -------
    Consensus
        Warnings of any part on the way are the result's ``notes``, each once.

    Raises
    ------
    ConsilienceError, OSError
        If the wish, the files or their contents cannot be used.
    """
    names, options = _checked(wish)
    was_read = read(wish.data, wish.labels, wish.reading, wish.views())
    given = was_read.input
    check_enough_objects(wish, given.n_objects)
    known = {} if wish.known is None else read_known(wish.known)
    with run_in(folder, wish) as run:
        result = cluster(
            given.views or given.table,
            wish.n_clusters,
            methods=names or None,
            n_members=wish.members,
            ensemble=given.ensemble,
            truth=given.truth,
            scale=False if wish.no_scale else "auto",
            transform=wish.transform(),
            column_weights=wish.column_weights() or None,
            metric=wish.metric,
            object_weights=wish.object_weights,
            refine=wish.refine,
            max_clusters=wish.max_k,
            effort=wish.effort,
            strict=wish.strict,
            random_state=wish.seed,
            n_jobs=wish.jobs,
            device=wish.device,
            run=run if given.ensemble is None else None,
            callbacks=callbacks,
            **known,
            **options,
        )
    return Consensus(wish=wish, result=_in_our_words(wish, result, was_read))


def _checked(wish: ClusterWish) -> tuple[tuple[str, ...], dict[str, Any]]:
    """The methods asked for by name and their options, once every option is known to be usable."""
    _ = wish.source, wish.transform(), wish.column_weights(), wish.reading.orders()
    check_common(wish, _OWNER)
    chosen_device(None, wish.device, owner=_OWNER)
    if wish.max_memory is not None:
        memory_in_bytes(wish.max_memory, owner=_OWNER, name="--max-memory")
    names = check_methods(wish)
    own = {name: getattr(wish, name) for name in _OWN}
    options = {name: value for name, value in own.items() if value is not None}
    check_options(methods=names or None, options=options)
    return names, options


def _in_our_words(wish: ClusterWish, result: ClusterResult, was_read: Any) -> ClusterResult:
    """The result with the files and options named as they were typed, and what reading said."""
    words: dict[str, Any] = {}
    if wish.labels is not None:
        words["why_members"] = f"given in {wish.labels}."
    if wish.linkage is not None and not wish.method_names():
        words["why_method"] = "It is the method that --linkage belongs to."
    return replace(result, **was_read.in_front(result.seconds, result.notes), **words)


CLUSTER = Job("cluster", "", LABELS, find_any, (*PROFILE, *MODEL, ANNOTATED))
