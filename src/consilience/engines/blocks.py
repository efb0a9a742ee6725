"""Rows that are not in memory: every pass is one call a piece, and a small sum in a fixed tree.

What a pass does with a piece is a plain function in `consilience.kernels`; where it is called is
the business of the `Pieces`: here, piece after piece from a disk, or on the workers of a cluster.
Labels, centres and facts are those of the `Cpu`, bit for bit, whatever the pieces.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience.engines._pieces import Chosen, Disk, Keeper, Pieces, label_room
from consilience.engines._ranks import order_statistics
from consilience.engines._weak_pieces import Sums, add_repetitions
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels._blocks import add_in_tree, block_edges, tree_sum
from consilience.kernels._parallel import Team
from consilience.kernels.data.columns import BlockFacts, ColumnFacts, block_facts, joined_facts
from consilience.kernels.kmeans.many import many_kmeans
from consilience.kernels.kmeans.minibatch import many_minibatch_kmeans
from consilience.kernels.kmeans.pieces import (
    Change,
    Far,
    Rounds,
    advance,
    farthest,
    label_type,
    settle,
)
from consilience.kernels.kmeans.runs import Indices, KMeansRuns, Task, make_task
from consilience.kernels.minority.blocks import Models, Objects
from consilience.kernels.minority.passes import Batch, Grading, Memory, Scale
from consilience.rows import Stored

__all__ = ["Blocks"]

# Numbers of the samples of all members that are held together: 512 MB of float64.
_SAMPLES = 2**26


class Blocks:
    """The `Engine` for a `Stored` table."""

    def __init__(self, table: Stored, pieces: Pieces | None = None) -> None:
        self._table = table
        self._pieces = Disk(table) if pieces is None else pieces
        #: Keeps centres and the labels of every piece as they are made; None keeps nothing.
        self.keeper: Keeper | None = None

    def each(self, call: Callable[..., Any], *shared: Any) -> Iterator[Any]:
        """``call(X, start, *shared)`` of every piece, where it is, in the order of the pieces."""
        return self._pieces.map(call, *shared)

    def digests(self) -> list[str]:
        """A digest of each piece, made where it is."""
        return list(self._pieces.map(_digest_of_piece))

    def column_facts(
        self, *, objects: NDArray[np.integer[Any]] | None = None, n_jobs: int | None = None
    ) -> ColumnFacts:
        """See `Engine.column_facts`."""
        chosen = None if objects is None else Chosen(np.asarray(objects))
        return joined_facts(list(self._pieces.map(_facts_of_piece, chosen, n_jobs)))

    def lloyd(
        self,
        starts: Sequence[NDArray[np.floating[Any]]],
        *,
        objects: Indices | None = None,
        features: Indices | None = None,
        batches: Sequence[NDArray[np.integer[Any]]] | None = None,
        max_iter: int = 100,
        tol: float = 0.0,
        spherical: bool = False,
        online: bool = False,
        assign_all: bool = True,
        n_jobs: int | None = None,
    ) -> KMeansRuns:
        """See `Engine.lloyd`.

        Members that see so few objects that these fit into memory are fitted there; the others
        by passes over all pieces. Labels are of the narrowest type, on disk where they are many.
        """
        task = make_task(starts, objects, features)
        how: dict[str, Any] = {"spherical": spherical, "n_jobs": n_jobs}
        kept = None if self.keeper is None else self.keeper.get(_FIT)
        runs = _runs_of(kept, len(starts))
        if runs is not None:
            pass  # they were fitted before, and the rest was not finished
        elif batches is not None:
            runs = self._on_batches(task, batches, how)
        elif self._fits(task.rows):
            runs = self._on_samples(task, how | _rounds(max_iter, tol, online))
        else:
            if online:
                raise InvalidParameterError(
                    "The 'online' parameter must be False for data that are not in memory: "
                    "objects move one after another. Members that see fewer objects "
                    "(max_samples) are fitted in memory, and may have it."
                )
            runs = self._in_rounds(task, max_iter, tol, **how)
        if self.keeper is not None:
            self.keeper.put(_FIT, _arrays_of(runs))
        unknown = bool(np.isnan(runs.inertia).any())
        ended = Task(runs.centres, task.rows, task.features)
        labels, squares = self._settled(ended, assign_all, unknown, n_jobs)
        inertia = np.where(np.isnan(runs.inertia), squares, runs.inertia)
        return runs._replace(labels=labels, inertia=inertia)

    def assign(
        self,
        centres: Sequence[NDArray[np.floating[Any]]],
        *,
        features: Indices | None = None,
        n_jobs: int | None = None,
    ) -> NDArray[np.int32]:
        """See `Engine.assign`; of the narrowest type."""
        return self._settled(make_task(centres, None, features), True, False, n_jobs)[0]

    def repetitions(
        self,
        objects: Objects,
        models: Models,
        grading: Grading,
        scale: Scale,
        *,
        team: Team,
        memory: Memory,
        sizes: NDArray[np.float64] | None = None,
    ) -> Batch:
        """A batch of weak clusterings gives scores of all objects at once; see `add_scores`."""
        raise self._only_in_memory("Scores of single weak clusterings are")

    def add_scores(
        self,
        terms: Any,
        models: Models,
        grading: Grading,
        scale: Scale,
        sums: Sums,
        *,
        n_jobs: int | None = None,
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Add the scores of weak clusterings to their sums; see `add_repetitions`."""
        return add_repetitions(self._pieces, terms, models, grading, scale, sums, n_jobs)

    def order_statistics(self, ranks: Sequence[int]) -> NDArray[np.float64]:
        """Values of every column at these ranks, from 0 for the least: (n_ranks, n_columns)."""
        return order_statistics(self._pieces, ranks)

    def pair_counts(
        self, *, with_seen: bool, condensed: bool = False, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Pairs are counted of labels in memory only."""
        raise self._only_in_memory("Counts of pairs are")

    # ---- how members are fitted ------------------------------------------------------

    def _fits(self, rows: Indices) -> bool:
        """Whether the objects that members see fit into memory."""
        n = sum(self._table.shape[0] if own is None else len(own) for own in rows)
        return n * self._table.shape[1] <= _SAMPLES

    def _taken(self, wanted: Indices) -> tuple[NDArray[Any], Indices, NDArray[np.int64]]:
        """Rows that anybody wants, where each has its own among them, and where blocks begin."""
        n = self._table.shape[0]
        everything = np.arange(n) if any(own is None for own in wanted) else np.empty(0, np.intp)
        numbers = np.unique(np.concatenate([everything, *(o for o in wanted if o is not None)]))
        places = [None if own is None else np.searchsorted(numbers, own) for own in wanted]
        return self._table.take(numbers), places, block_edges(n, numbers)

    def _on_samples(self, task: Task, how: dict[str, Any]) -> KMeansRuns:
        """Members fitted in memory, to the objects they see."""
        X, places, edges = self._taken(task.rows)
        return many_kmeans(
            X,
            task.starts,
            rows=places,
            features=task.features,
            edges=edges,
            assign_all=False,
            **how,
        )

    def _on_batches(
        self, task: Task, batches: Sequence[NDArray[np.integer[Any]]], how: dict[str, Any]
    ) -> KMeansRuns:
        """Members fitted in memory, to the objects of their mini-batches."""
        X, places, _ = self._taken([np.ravel(plan) for plan in batches])
        plans = [
            np.reshape(place, np.shape(plan))
            for place, plan in zip(places, batches, strict=True)
            if place is not None
        ]
        runs = many_minibatch_kmeans(
            X, task.starts, plans, features=task.features, assign_all=False, **how
        )
        return runs._replace(inertia=np.full(len(plans), np.nan))  # of other objects

    def _in_rounds(
        self, task: Task, max_iter: int, tol: float, spherical: bool, n_jobs: int | None
    ) -> KMeansRuns:
        """Members fitted by passes over all pieces, all that go on in each."""
        rounds = Rounds(task, max_iter, tol * self._mean_variances(task, tol, n_jobs), spherical)
        kept: Sequence[Any] | None = None
        going: list[int] = []
        while rounds.going:
            # Labels are kept of those that went on the round before.
            places = [going.index(m) for m in rounds.going] if kept is not None else []
            going = list(rounds.going)
            refilled = [rounds.refilled[m] for m in going]
            kept, answers = self._pieces.step(
                _advanced, kept, rounds.task(), places, refilled, n_jobs
            )
            changes: _Changes = tree_sum(map(_Changes, answers))
            for place, m in enumerate(going):
                self._end_round(rounds, m, place, changes.each[place], kept)
        nan = np.full(len(task.starts), np.nan)
        centres = rounds.task(range(len(task.starts))).starts
        return KMeansRuns(np.empty((0, 0), np.int32), centres, nan, rounds.n_iter, rounds.converged)

    def _end_round(
        self, rounds: Rounds, m: int, place: int, change: Change, kept: Sequence[Any]
    ) -> None:
        """End a member's iteration; the rows are asked again if one of its clusters is empty."""
        moved, empty = change.moved, rounds.take(m, change)
        if empty:
            (centres,), _, (features,) = rounds.task([m])
            _, far = self._pieces.step(_far, kept, place, centres, features, empty)
            moved += rounds.refill(m, list(far))
        rounds.end(m, moved)

    def _mean_variances(self, task: Task, tol: float, n_jobs: int | None) -> NDArray[np.float64]:
        """Mean variance of the columns each member works on; zeros if nobody asks."""
        out = np.zeros(len(task.starts))
        for m, (rows, features) in enumerate(zip(task.rows, task.features, strict=True)):
            if tol > 0:
                variance = self.column_facts(objects=rows, n_jobs=n_jobs).variance
                out[m] = np.mean(variance if features is None else variance[features])
        return out

    def _settled(
        self, task: Task, assign_all: bool, with_squares: bool, n_jobs: int | None
    ) -> tuple[NDArray[Any], NDArray[np.float64]]:
        """Labels of all objects by the last centres, and sums of squares where wanted."""
        n, pieces = self._table.shape[0], self._table.pieces()
        labels = label_room((len(task.starts), n), label_type(task))
        squares: dict[int, NDArray[np.float64]] = {}

        def take(number: int, some: NDArray[Any], own: NDArray[np.float64]) -> None:
            start, stop = pieces[number]
            labels[:, start:stop] = some
            let_go(labels)
            squares[number] = own

        for number, kept in self._kept_pieces(len(pieces)):
            take(number, kept["labels"], kept["squares"])
        missing = [number for number in range(len(pieces)) if number not in squares]
        shared = (task, assign_all, with_squares, n_jobs)
        settled = self._pieces.map(settle, *shared, only=missing)
        for number, (some, own) in zip(missing, settled, strict=True):
            if self.keeper is not None:
                self.keeper.put(f"{number:06d}", {"labels": some, "squares": own})
            take(number, some, own)
        ordered = [squares[number] for number in range(len(pieces))]
        return labels, add_in_tree(np.concatenate(ordered))

    def _kept_pieces(self, n_pieces: int) -> Iterator[tuple[int, dict[str, NDArray[Any]]]]:
        """Pieces that were finished before, by their numbers."""
        for number in range(n_pieces if self.keeper is not None else 0):
            assert self.keeper is not None
            kept = self.keeper.get(f"{number:06d}")
            if kept is not None:
                yield number, kept

    def _only_in_memory(self, what: str) -> InvalidInputError:
        return InvalidInputError(
            f"{what} made of data in memory only, and {self._table.what} is read block by block. "
            "Give a sample: rows.take(objects)."
        )


class _Changes:
    """Changes of several members, added each for itself."""

    def __init__(self, each: Sequence[Change]) -> None:
        self.each = list(each)

    def __add__(self, other: "_Changes") -> "_Changes":
        return _Changes([a + b for a, b in zip(self.each, other.each, strict=True)])


# The name of what is kept once all members are fitted.
_FIT = "fit"


def _arrays_of(runs: KMeansRuns) -> dict[str, NDArray[Any]]:
    """Members that are fitted, without labels."""
    centres = {f"centres_{m:04d}": np.asarray(one) for m, one in enumerate(runs.centres)}
    facts = {name: np.asarray(getattr(runs, name)) for name in ("inertia", "n_iter", "converged")}
    return centres | facts


def _runs_of(kept: dict[str, NDArray[Any]] | None, n_members: int) -> KMeansRuns | None:
    """Members as they were kept; None without."""
    if kept is None:
        return None
    centres = [kept[f"centres_{m:04d}"] for m in range(n_members)]
    facts = (kept["inertia"], kept["n_iter"], kept["converged"])
    return KMeansRuns(np.empty((0, 0), np.int32), centres, *facts)


def _rounds(max_iter: int, tol: float, online: bool) -> dict[str, Any]:
    return {"max_iter": max_iter, "tol": tol, "online": online}


# ---- what is called for a piece: plain functions, so that another machine can be asked ---------


def _digest_of_piece(X: NDArray[Any], start: int) -> str:
    return hashlib.sha256(X.data, usedforsecurity=False).hexdigest()[:16]


def _facts_of_piece(
    X: NDArray[Any], start: int, chosen: Chosen | None, n_jobs: int | None
) -> BlockFacts:
    rows = None if chosen is None else chosen.objects - start
    return block_facts(X, rows=rows, n_jobs=n_jobs)


def _advanced(
    X: NDArray[Any],
    start: int,
    before: NDArray[Any] | None,
    task: Task,
    places: Sequence[int],
    refilled: Sequence[dict[int, int]],
    n_jobs: int | None,
) -> tuple[NDArray[Any], list[Change]]:
    old = None if before is None else before[list(places)]
    return advance(X, start, task, old, refilled, n_jobs)


def _far(
    X: NDArray[Any],
    start: int,
    labels: NDArray[Any],
    place: int,
    centres: NDArray[Any],
    features: NDArray[Any] | None,
    most: int,
) -> tuple[NDArray[Any], Far]:
    return labels, farthest(X, start, centres, features, labels[place], most)
