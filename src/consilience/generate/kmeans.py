"""Ensembles of k-means: many members advance together in one pass over the data."""

from collections.abc import Iterator, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from consilience._units import squarable
from consilience._validation import DEVICE, N_MEMBERS, Boolean, Interval, Options
from consilience.engines import Blocks, Engine, engine_for
from consilience.errors import InvalidParameterError
from consilience.generate._base import (
    Generator,
    Made,
    Order,
    Session,
    Stopwatch,
    compact,
    compact_in_place,
)
from consilience.generate._draw import (
    N_CLUSTERS,
    SHARE,
    Clusters,
    Indices,
    check_fits,
    draw_subset,
)
from consilience.generate._tables import squarable_table
from consilience.generate.models import Centres, centres_of
from consilience.kernels._parallel import in_turns
from consilience.kernels.kmeans.runs import KMeansRuns
from consilience.kernels.kmeans.start import plusplus_start, random_start
from consilience.rows import Rows, Stored, rows_of

__all__ = ["KMeansEnsemble"]

# Numbers of a sparse matrix, zeros included, that are clustered as an array.
_SMALL = 2**15
# Members of a group on one thread.
_TOGETHER = 16
# Members of a group where data are not in memory.
_STORED_TOGETHER = 32
# Products of objects with centres in one pass: of all members, below which threads are not worth
# starting (a few milliseconds in all); and of a group, for each thread (a few hundredths).
_WORTH_THREADS = 2**23
_A_THREAD = 2**28
# Labels whose narrowing takes longer than starting threads.
_MANY_LABELS = 2**20


class _Plan:
    """One k-means member: everything drawn from its seed, in a fixed order."""

    def __init__(self, X: Any, order: Order, params: dict[str, Any], clusters: Clusters) -> None:
        rng = np.random.default_rng(order.seed)
        self.seed = order.seed
        self.n_clusters = clusters.draw(rng, order.number)
        self.rows = draw_subset(rng, params["max_samples"], X.shape[0])
        self.features = draw_subset(rng, params["max_features"], X.shape[1])
        n_rows = X.shape[0] if self.rows is None else len(self.rows)
        if params["init"] == "random":
            self.chosen = random_start(
                rng, X.shape[0] if self.rows is None else self.rows, self.n_clusters
            )
        else:
            self.chosen = _spread_out(X, self.n_clusters, rng, self.rows, self.features)
        self.batches: Indices | None = None
        if params["algorithm"] == "minibatch":
            size = min(params["batch_size"], n_rows)
            picks = rng.integers(0, n_rows, (params["max_iter"], size))
            self.batches = picks if self.rows is None else self.rows[picks]

    def record(
        self, runs: KMeansRuns, place: int, algorithm: str, seconds: float
    ) -> dict[str, Any]:
        """How the member was made."""
        return {
            "algorithm": algorithm,
            "seed": self.seed,
            "n_clusters": self.n_clusters,
            "n_objects": None if self.rows is None else len(self.rows),
            "features": None if self.features is None else self.features.tolist(),
            "inertia": float(runs.inertia[place]),
            "iterations": int(runs.n_iter[place]),
            "converged": bool(runs.converged[place]),
            "seconds": seconds,
            "error": None,
        }


class KMeansEnsemble(Generator):
    """Many k-means clusterings, each with its own start, clusters, objects and features.

    Parameters
    ----------
    n_members : int, default=100
        Number of clusterings.
    n_clusters : int, (low, high), list of int or rule, default=("sqrt/2", "sqrt")
        Clusters of a member: fixed, drawn uniformly from a range with both ends included,
        or taken from a list in turn. ``"sqrt"`` and ``"sqrt/2"`` stand for the rounded
        root of the number of objects, and half of it.
    max_samples, max_features : float, int or (low, high), default=1.0
        Objects and features a member sees, drawn without replacement: a share (rounded
        up), a number, or a range of shares drawn for each member.
    init : {"random", "k-means++"}, default="random"
        Start from random distinct objects, or from spread-out ones.
    metric : {"euclidean", "cosine"}, default="euclidean"
        With cosine, rows and centres are scaled to unit length; a row of zeros has no
        direction and goes to the nearest centre like any other.
    algorithm : {"lloyd", "minibatch"}, default="lloyd"
        Batch k-means, or mini-batches of ``batch_size`` for ``max_iter`` steps.
    assign : {"nearest", "unseen"}, default="nearest"
        Objects a member did not see go to its nearest centre, or stay unseen.
    online : bool, default=False
        After Lloyd, move single objects while that lowers the sum of squares: what the
        weighted-object paper's routine did.
    max_iter : int, default=100
        Iterations (steps of mini-batch) at most.
    tol : float, default=0.0
        Stop when the centres' squared shift falls to ``tol`` times the mean variance of
        the features; 0 waits for labels to stop changing.
    batch_size : int, default=100
        Objects in a mini-batch.
    random_state : int, RandomState or None
        Draws one seed a member; equal seeds give equal ensembles whatever ``n_jobs``.
    n_jobs : int or None
        Threads; None means one.
    device : str or None, default=None
        A torch device, such as "cuda", where the members are made: the same members. None is that
        of the data where they are a torch tensor, else the processor. Mini-batches, sparse data
        and ``online=True`` stay on the processor.

    Notes
    -----
    Data that are not in memory (`consilience.open_rows`, or a Dask array) are gone through in
    blocks, with the same members. A member that sees so few objects that they fit into memory is
    fitted there and takes one more pass; one that sees all takes a pass an iteration.

    Memory: the data, a copy of them in single precision, and one small integer an object and
    member; while running, a group of members holds about 32 bytes an object and member.

    References
    ----------
    Fred & Jain (2005), Combining multiple clusterings using evidence accumulation, IEEE
    TPAMI 27(6), section 3.1 (split and merge).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> KMeansEnsemble(n_members=5, n_clusters=(2, 4), random_state=0).generate(X)
    Ensemble(n_objects=60, n_members=5, n_clusters=2..4, noise=0, unseen=0)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "n_members": [N_MEMBERS],
        "n_clusters": [N_CLUSTERS],
        "max_samples": [SHARE],
        "max_features": [SHARE],
        "init": [Options(("random", "k-means++"))],
        "metric": [Options(("euclidean", "cosine"))],
        "algorithm": [Options(("lloyd", "minibatch"))],
        "assign": [Options(("nearest", "unseen"))],
        "online": [Boolean()],
        "max_iter": [Interval(Integral, 1)],
        "tol": [Interval(Real, 0)],
        "batch_size": [Interval(Integral, 1)],
        "device": DEVICE,
    }

    def __init__(
        self,
        n_members: int = 100,
        n_clusters: Any = ("sqrt/2", "sqrt"),
        *,
        max_samples: Any = 1.0,
        max_features: Any = 1.0,
        init: str = "random",
        metric: str = "euclidean",
        algorithm: str = "lloyd",
        assign: str = "nearest",
        online: bool = False,
        max_iter: int = 100,
        tol: float = 0.0,
        batch_size: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_clusters = n_clusters
        self.max_samples = max_samples
        self.max_features = max_features
        self.init = init
        self.metric = metric
        self.algorithm = algorithm
        self.assign = assign
        self.online = online
        self.max_iter = max_iter
        self.tol = tol
        self.batch_size = batch_size
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    def _rows(self, X: Any) -> Rows:
        rows = rows_of(X, owner=self, min_objects=2, allow_stored=True)
        self._where = rows.device if self.device is None else self.device
        return rows

    def _engine(self, X: Any) -> Engine:
        return engine_for(X, getattr(self, "_where", self.device))

    def _data(self, rows: Rows, checkpoint: Any) -> Any:
        there = rows.tensor
        stays = (self.metric, self.algorithm, self.init, self.online) == (
            "euclidean", "lloyd", "random", False
        )  # fmt: skip
        # A run that is kept knows its data again by their bytes.
        if there is None or not stays or checkpoint is not None:
            return super()._data(rows, checkpoint)
        return super()._data(rows, checkpoint) if squarable(there.ends())[1] else there

    def _prepared(self, X: Any) -> Any:
        if isinstance(X, Stored):
            X, _ = squarable_table(X)
            return X.mapped(normalize, dtype=X.dtype) if self.metric == "cosine" else X
        X, _ = squarable(_written_out(X))
        return normalize(X) if self.metric == "cosine" else X

    def _prepare(self, X: Any) -> int:
        owner = type(self).__name__
        clusters = Clusters.resolve(self.n_clusters, X.shape[0], owner=owner)
        check_fits(self, clusters, X.shape)
        if self.online and (self.algorithm == "minibatch" or self.metric == "cosine"):
            raise InvalidParameterError(
                f"The 'online' parameter of {owner} must be False unless algorithm='lloyd' and "
                f"metric='euclidean'. Got True with {self.algorithm!r} and {self.metric!r}."
            )
        return self.n_members

    def _group_size(self, X: Any, n_members: int, n_workers: int) -> int:
        if getattr(self, "_where", self.device) is not None:
            # A launch for all of them: what shares a pass over the data gains most.
            return n_members
        # Enough members to share a pass over the data, few enough to show progress.
        size = max(1, min(_TOGETHER, n_members // 8))
        if isinstance(X, Stored):  # every group takes passes over all that is stored
            return min(n_members, max(size, _STORED_TOGETHER))
        if n_workers == 1:
            return size
        # Threads end a group together: each should have enough of it that the wait for the last
        # one does not matter. Groups of equal size, lest one is left with few members.
        low, high = self._clusters(X).low, self._clusters(X).high
        products = X.shape[0] * X.shape[1] * (low + high) // 2
        if n_members * products < _WORTH_THREADS:
            return size
        wanted = min(n_members, -(-_A_THREAD * n_workers // products))
        n_groups = max(1, n_members // max(size, wanted))
        return -(-n_members // n_groups)

    def _clusters(self, X: Any) -> Clusters:
        return Clusters.resolve(self.n_clusters, X.shape[0], owner=type(self).__name__)

    def _stream(
        self, X: Any, groups: Sequence[Sequence[Order]], in_order: bool, session: Session
    ) -> Iterator[tuple[Sequence[Order], list[Made]]]:
        """Group after group: threads share the rows and the members of each."""
        engine = self._engine(X)
        if isinstance(engine, Blocks):
            return self._by_blocks(X, engine, groups, session)
        return ((group, self._members(X, engine, group)) for group in groups)

    def _by_blocks(
        self, X: Any, engine: Blocks, groups: Sequence[Sequence[Order]], session: Session
    ) -> Iterator[tuple[Sequence[Order], list[Made]]]:
        """Group after group of data that are not in memory, kept block by block."""
        for group in groups:
            engine.keeper = session.pieces([order.number for order in group])
            yield group, self._members(X, engine, group)

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        return self._members(X, self._engine(X), orders)

    def _members(self, X: Any, engine: Engine, orders: Sequence[Order]) -> list[Made]:
        watch = Stopwatch()
        params, clusters = self.get_params(deep=False), self._clusters(X)
        plans = _shared(lambda order: _Plan(X, order, params, clusters), orders, self._drawing())
        runs = self._run(engine, plans, _starts(X, plans))
        threads = self.n_jobs if runs.labels.size > _MANY_LABELS else 1
        narrowed = compact_in_place if isinstance(X, Stored) else compact
        sizes = runs.sizes
        # Of sparse data they are dense, and may be many times as large as the data.
        models = [
            None if sparse.issparse(X) else self._model(runs, place, plan)
            for place, plan in enumerate(plans)
        ]
        if sizes is not None and all(own.all() for own in sizes):
            labels = list(runs.labels)  # counted already, and as narrow as can be
        else:
            labels = _shared(narrowed, list(runs.labels), threads)
        name = "k-means" if self.algorithm == "lloyd" else "mini-batch k-means"
        seconds = watch.seconds() / len(plans)
        return [
            Made(
                labels[place],
                plan.record(runs, place, name, seconds) | _place_of(engine),
                model=models[place],
            )
            for place, plan in enumerate(plans)
        ]

    def _model(self, runs: KMeansRuns, place: int, plan: _Plan) -> Centres:
        unit = self._brings_rows_to_unit_length()
        labels = runs.labels[place]
        if runs.sizes is not None and runs.sizes[place].all():
            return Centres(np.ascontiguousarray(runs.centres[place]), plan.features, unit)
        return centres_of(runs.centres[place], labels, features=plan.features, unit=unit)

    def _brings_rows_to_unit_length(self) -> bool:
        return bool(self.metric == "cosine")

    def _drawing(self) -> int | None:
        """Threads that draw starts: spreading them out takes passes over the data."""
        return 1 if self.init == "random" else self.n_jobs

    def _run(
        self, engine: Engine, plans: Sequence[_Plan], starts: list[NDArray[Any]]
    ) -> KMeansRuns:
        batches = [plan.batches for plan in plans if plan.batches is not None]
        return engine.lloyd(
            starts,
            objects=[plan.rows for plan in plans],
            features=[plan.features for plan in plans],
            batches=batches if self.algorithm == "minibatch" else None,
            max_iter=self.max_iter,
            tol=self.tol,
            spherical=self.metric == "cosine",
            online=self.online,
            assign_all=self.assign == "nearest",
            n_jobs=self.n_jobs,
        )


def _shared(call: Any, items: Sequence[Any], n_jobs: int | None) -> list[Any]:
    """``call`` of every item, in threads."""
    answers: list[Any] = [None] * len(items)

    def turn(first: int, step: int) -> None:
        for place in range(first, len(items), step):
            answers[place] = call(items[place])

    in_turns(turn, len(items), n_jobs)
    return answers


def _place_of(engine: Engine) -> dict[str, str]:
    """Where the members were made, if an engine says so: the processor is not worth a word."""
    place = getattr(engine, "ran_on", {}).get("lloyd")
    return {} if place is None else {"device": place}


def _written_out(X: Any) -> Any:
    """A small sparse matrix as an array: choosing its rows takes longer than all distances."""
    small = X.shape[0] * X.shape[1] <= _SMALL
    return X.toarray() if small and sparse.issparse(X) else X


def _starts(X: Any, plans: Sequence[_Plan]) -> list[NDArray[np.floating[Any]]]:
    """The objects that each member starts from, as dense centres in its features."""
    if isinstance(X, Stored):  # one pass for all of them
        numbers = np.unique(np.concatenate([plan.chosen for plan in plans]))
        taken = X.take(numbers)
        rows: list[Any] = [taken[np.searchsorted(numbers, plan.chosen)] for plan in plans]
    else:
        rows = [X[plan.chosen] for plan in plans]
    dense: list[Any] = [
        some.toarray() if sparse.issparse(some) else np.array(some) for some in rows
    ]
    return [
        np.ascontiguousarray(one if plan.features is None else one[:, plan.features])
        for one, plan in zip(dense, plans, strict=True)
    ]


def _spread_out(
    X: Any, k: int, rng: np.random.Generator, rows: Indices | None, features: Indices | None
) -> NDArray[np.intp]:
    """Objects that lie apart, by k-means++; of data that are not in memory, among a sample."""
    if not isinstance(X, Stored):
        return plusplus_start(X, k, rng, rows=rows, features=features)
    if rows is None:
        raise InvalidParameterError(
            "The 'init' parameter of KMeansEnsemble must be 'random' for data that are not in "
            "memory, where a member sees all objects. Got 'k-means++' instead. Let members see "
            "fewer, for instance max_samples=20_000."
        )
    chosen: NDArray[np.intp] = rows[plusplus_start(X.take(rows), k, rng, features=features)]
    return chosen
