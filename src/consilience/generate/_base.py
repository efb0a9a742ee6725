"""How members are made, reported and collected: common to every generator.

A generator says how many members it wants and how to make a group of them; this module
gives each member its seed, spreads the groups over workers, tells scikit-learn's
callbacks, hands finished members to a checkpoint, and keeps going when a member fails.
"""

import time
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from consilience._labels import encode, smallest_type
from consilience._maps import let_go
from consilience._sklearn import CallbackSupportMixin, Steps, with_callbacks
from consilience._validation import N_JOBS, RandomState, check_params
from consilience.engines import label_room, releasing
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceError, InvalidParameterError, warn
from consilience.generate._draw import in_groups, member_seeds
from consilience.generate.models import Centres
from consilience.kernels._parallel import Parallel, delayed, of_use, streamed
from consilience.rows import Rows, rows_of

# Labels looked at together.
_BLOCK = 2**20

__all__ = ["Checkpoint", "Generator", "Made", "Order", "Session", "opened"]


@dataclass(frozen=True)
class Order:
    """A member to be made: its place in the ensemble and its seed."""

    number: int
    seed: int


@dataclass(frozen=True)
class Made:
    """A member that was made, or the reason why not, how, and what places new objects."""

    labels: NDArray[np.signedinteger[Any]] | None
    record: dict[str, Any] = field(default_factory=dict)
    model: Centres | None = field(default=None, kw_only=True)


@dataclass
class Session:
    """One run of a generator: the members' seeds, and the members that need not be made.

    This one keeps nothing; a checkpoint opens one that does.
    """

    seeds: list[int]
    finished: dict[int, Made] = field(default_factory=dict)

    def keep(self, number: int, made: Made) -> None:
        """Take a member as soon as it is made."""

    def pieces(self, members: Sequence[int]) -> Any:
        """Keeps what is made for these members block by block; None keeps nothing."""
        return None

    def part(self, number: int) -> "Checkpoint | None":
        """Where the generator of that number inside this one keeps its members."""
        return None


class Checkpoint(Protocol):
    """What `Generator.generate` needs to be resumable; see `RunFolder`."""

    def opened(
        self, generator: Any, data: Any, n_members: int, seeds: list[int]
    ) -> AbstractContextManager[Session]:
        """A session on this run, whose seeds are those of the run it goes on with."""
        ...


def opened(
    checkpoint: Checkpoint | None, generator: Any, data: Any, n_members: int, seeds: list[int]
) -> AbstractContextManager[Session]:
    """A session of a generator, kept by a checkpoint if there is one."""
    if checkpoint is None:
        return nullcontext(Session(seeds))
    if not hasattr(checkpoint, "opened"):
        raise InvalidParameterError(
            f"The 'checkpoint' parameter of {type(generator).__name__}.generate must be a "
            f"RunFolder. Got {checkpoint!r} instead. Wrap a path: RunFolder(path)."
        )
    return checkpoint.opened(generator, data, n_members, seeds)


class GenerationError(ConsilienceError, RuntimeError):
    """No member of an ensemble could be made."""


class Generator(CallbackSupportMixin, BaseEstimator):
    """Base of the generators: parameters in the constructor, `generate` makes an ensemble."""

    _common_constraints: ClassVar[dict[str, Any]] = {
        "random_state": [RandomState()],
        "n_jobs": N_JOBS,
    }
    # Threads where the work is in our kernels, processes where it is anybody's Python.
    _prefer: ClassVar[str] = "threads"
    # Rows of what `_prepared` returns that stand above the objects.
    _rows_above: ClassVar[int] = 0

    random_state: Any
    n_jobs: int | None

    @with_callbacks
    def generate(self, X: Any, *, checkpoint: Checkpoint | None = None) -> Ensemble:
        """Make the members on data ``X`` of shape (n_objects, n_features).

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features)
            Finite numbers. A pandas frame's index is kept.
        checkpoint : RunFolder, optional
            Writes every member to disk as soon as it is made; members it already holds are
            not made again. The ensemble is the same.

        Returns
        -------
        Ensemble
            One record a member: algorithm, seed, parameters, seconds. Members that failed
            are left out with a warning that names their seeds; ``records_`` of the
            generator lists them all, with the error; ``models_`` has the `Centres` of each
            member of the ensemble, None for one that has none.
        """
        check_params(self)
        rows = self._rows(X)
        with releasing(rows.values if rows.is_stored else None, after_errors_only=True):
            data = self._data(rows, checkpoint)
            n_members = self._prepare(data)
            seeds = member_seeds(self.random_state, n_members)
            with opened(checkpoint, self, data, n_members, seeds) as session:
                steps = Steps(self, "generate", n_members)
                made = self._collect(data, session, steps, in_order=checkpoint is None)
                steps.end()
        return self._ensemble(made, n_members, rows.index)

    @abstractmethod
    def _prepare(self, X: Any) -> int:
        """Check parameters against the data; return the number of members."""

    @abstractmethod
    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        """Make a group of members; called in a worker."""

    def _group_size(self, X: Any, n_members: int, n_workers: int) -> int:
        """Members made in one call of `_make`."""
        return 1

    def _extras(self, made: Made) -> dict[str, NDArray[Any]]:
        """Arrays of a member beside its labels, for a checkpoint to keep."""
        return {} if made.model is None else {"centres": made.model.values}

    def _restored(
        self,
        labels: NDArray[np.signedinteger[Any]],
        record: dict[str, Any],
        extras: Mapping[str, NDArray[Any]],
    ) -> Made:
        """A member from what a checkpoint kept of it."""
        if "centres" not in extras:
            return Made(labels, record)
        features = None if record["features"] is None else np.array(record["features"], np.intp)
        model = Centres(extras["centres"], features, self._brings_rows_to_unit_length())
        return Made(labels, record, model=model)

    def _brings_rows_to_unit_length(self) -> bool:
        """Whether centres are of rows that were brought to length 1."""
        return False

    def _rows(self, X: Any) -> Rows:
        """The data, checked."""
        return rows_of(X, owner=self, min_objects=2)

    def _data(self, rows: Rows, checkpoint: Checkpoint | None) -> Any:
        """What members are made from: rows in memory, unless a generator can do with others."""
        return self._prepared(rows.values)

    def _prepared(self, X: Any) -> Any:
        """The data as members are made from them."""
        return X

    def _stream(
        self, X: Any, groups: Sequence[Sequence[Order]], in_order: bool, session: Session
    ) -> Iterator[tuple[Sequence[Order], list[Made]]]:
        """Groups of members as they become ready, in order or not."""
        if self.n_jobs in (None, 1) or len(groups) == 1:
            return ((group, self._make(X, group)) for group in groups)
        # A plain function of a plain copy: workers need neither callbacks nor progress.
        maker = type(self)(**self.get_params(deep=False))
        if self._prefer == "threads":

            def make(group: Sequence[Order]) -> list[Made]:
                return maker._make(X, group)

            return streamed(make, groups, self.n_jobs, in_order=in_order)
        return_as = "generator" if in_order else "generator_unordered"
        parallel = Parallel(n_jobs=self.n_jobs, prefer=self._prefer, return_as=return_as)
        results: Iterator[tuple[Sequence[Order], list[Made]]] = parallel(
            delayed(_make_group)(maker, X, group) for group in groups
        )
        return results

    def _collect(self, X: Any, session: Session, steps: Steps, *, in_order: bool) -> list[Made]:
        """The members in order: those of the session, and the others made now."""
        made = dict(session.finished)
        orders = [Order(number, seed) for number, seed in enumerate(session.seeds)]
        missing = [order for order in orders if order.number not in made]
        # A callback may ask to stop early: what is done is kept.
        stops = [steps.done("member") for _ in made]
        if any(stops):
            missing = []
        n_workers = of_use(self.n_jobs, len(orders))
        groups = in_groups(missing, self._group_size(X, len(orders), n_workers))
        with _ended_quietly(self._stream(X, groups, in_order, session)) as stream:
            for group, results in stream:
                for order, result in zip(group, results, strict=True):
                    session.keep(order.number, result)
                    made[order.number] = result
                kept = session.pieces([order.number for order in group])
                if kept is not None:
                    kept.clear()
                stops = [steps.done("member") for _ in group]
                if any(stops):
                    break
        return [made[number] for number in sorted(made)]

    def _ensemble(self, made: list[Made], wanted: int, index: Any) -> Ensemble:
        """The members that succeeded, with a warning about those that did not."""
        self.records_ = tuple(m.record for m in made)
        good = [m for m in made if m.labels is not None]
        failed = [m.record for m in made if m.labels is None]
        self.models_ = tuple(m.model for m in good)
        if not good:
            raise GenerationError(
                f"None of the {wanted} members of {type(self).__name__} could be made. The first "
                f"(seed {failed[0]['seed']}) failed with: {failed[0]['error']}"
            )
        if failed:
            seeds = ", ".join(str(record["seed"]) for record in failed[:5])
            warn(
                f"{len(failed)} of {wanted} members failed and were left out (seeds {seeds}"
                f"{', ...' if len(failed) > 5 else ''}). The first error was: {failed[0]['error']}",
            )
        if len(made) < wanted:
            warn(
                f"Stopped by a callback after {len(made)} of {wanted} members.",
            )
        return self._gathered(good, index)

    def _gathered(self, good: list[Made], index: Any) -> Ensemble:
        """The ensemble of members that were made."""
        members = _stacked([m.labels for m in good if m.labels is not None])
        return Ensemble._trusted(members, index=index, records=[m.record for m in good])


@contextmanager
def _ended_quietly(stream: Any) -> Iterator[Any]:
    """A generator that is closed at the end, also if it was not used up."""
    try:
        yield stream
    finally:
        with warnings.catch_warnings():
            # joblib tells that work was cut short; whoever did so knows.
            warnings.filterwarnings("ignore", ".*adjusting the input task", UserWarning)
            stream.close()


def _make_group(
    maker: Generator, X: Any, orders: Sequence[Order]
) -> tuple[Sequence[Order], list[Made]]:
    return orders, maker._make(X, orders)


def compact(labels: NDArray[Any]) -> NDArray[np.signedinteger[Any]]:
    """Labels of one member, dense and in the narrowest type."""
    codes = encode(labels)
    return codes.astype(smallest_type(int(codes.max()) + 1))


def compact_in_place(labels: NDArray[Any]) -> NDArray[np.signedinteger[Any]]:
    """As `compact`, of labels that are many: block by block, where they are.

    >>> compact_in_place(np.array([4, -2, 0], np.int8))
    array([ 1, -2,  0], dtype=int8)
    """
    used = np.zeros(0, np.int64)
    blocks = [labels[at : at + _BLOCK] for at in range(0, len(labels), _BLOCK)]
    for block in blocks:
        counts = np.bincount(block[block >= 0], minlength=len(used))
        counts[: len(used)] += used
        used = counts
    if not (used > 0).all():
        rank = np.cumsum(used > 0) - 1
        for block in blocks:
            placed = block >= 0
            block[placed] = rank[block[placed]]
    let_go(labels)
    narrow = smallest_type(int((used > 0).sum()))
    return labels if narrow.itemsize >= labels.dtype.itemsize else labels.astype(narrow)


def _stacked(labels: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Members one after the other, of one type: on disk where they are many."""
    kind = np.result_type(*(one.dtype for one in labels))
    whole = labels[0].base
    same = isinstance(whole, np.memmap) and whole.shape == (len(labels), len(labels[0]))
    if same and all(one.base is whole for one in labels):
        return np.asarray(whole)
    members = label_room((len(labels), len(labels[0])), kind)
    for row, one in zip(members, labels, strict=True):
        row[:] = one
        let_go(members, one)
    return members


class Stopwatch:
    """Seconds since it was made, for the records."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Seconds so far."""
        return round(time.perf_counter() - self._start, 6)
