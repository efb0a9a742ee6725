"""Ensembles of any scikit-learn clusterers, on all or some of the objects and features."""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._labels import NOISE, UNSEEN, smallest_type
from consilience._maps import let_go
from consilience._threads import one_thread
from consilience._validation import N_MEMBERS, HasMethods, NoneValue, Options, Satisfies
from consilience.engines import engine_for, label_room
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
from consilience.generate._configured import configured
from consilience.generate._draw import (
    N_CLUSTERS,
    SHARE,
    Clusters,
    Indices,
    check_fits,
    draw_subset,
)
from consilience.generate.models import Centres, fitted_centres
from consilience.kernels._blocks import block_edges
from consilience.kernels._parallel import Parallel, delayed
from consilience.kernels.data.columns import column_facts
from consilience.rows import Rows, Stored, rows_of

__all__ = ["EstimatorEnsemble"]

# Members whose samples one pass takes out of data that are not in memory.
_STORED_TOGETHER = 16
# Labels looked at together.
_BLOCK = 2**20
_CLUSTERER = HasMethods(("fit_predict", "get_params", "set_params"), "a scikit-learn clusterer")


def _are_clusterers(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_CLUSTERER.accepts, value))


class EstimatorEnsemble(Generator):
    """One member for each clusterer and each listed number of clusters, or more in turn.

    Parameters
    ----------
    estimators : clusterer or list of clusterers
        Anything with scikit-learn's ``fit_predict``. A copy is fitted for each member;
        its ``random_state`` (also inside pipelines) is set from the member's seed.
    n_clusters : int, (low, high), list of int, rule or None, default=None
        Clusters of a member, set on clusterers that have such a parameter (also
        ``n_components`` of mixtures); None leaves them as they are. With a list, every
        clusterer runs once for every number.
    n_members : int or None, default=None
        None: one member for each clusterer and listed number. Otherwise that many,
        going round.
    max_samples, max_features, assign, random_state, n_jobs
        As in `KMeansEnsemble`; an object left out goes to the cluster with the nearest
        mean, or stays unseen.

    Notes
    -----
    Every negative label of a clusterer counts as noise. A member that raises is left out
    with a warning that names its seed. With ``n_jobs`` above one, members run in
    processes; ``joblib.parallel_config`` chooses another backend: ``backend="dask", scatter=[X]``
    makes them on a Dask cluster.

    Of data that are not in memory (`consilience.open_rows`, a Dask array) every member takes a
    sample, which must fit (``max_samples``), and all objects are placed block by block, with the
    members of data in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import DBSCAN, KMeans
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> EstimatorEnsemble([KMeans(n_init=1)], n_clusters=[2, 3], random_state=0).generate(X)
    Ensemble(n_objects=60, n_members=2, n_clusters=2..3, noise=0, unseen=0)
    """

    _prefer = "processes"
    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "estimators": [
            _CLUSTERER,
            Satisfies(_are_clusterers, "a list of at least one such clusterer"),
        ],
        "n_clusters": [N_CLUSTERS, NoneValue()],
        "n_members": [N_MEMBERS, NoneValue()],
        "max_samples": [SHARE],
        "max_features": [SHARE],
        "assign": [Options(("nearest", "unseen"))],
    }

    def __init__(
        self,
        estimators: Any,
        n_clusters: Any = None,
        *,
        n_members: int | None = None,
        max_samples: Any = 1.0,
        max_features: Any = 1.0,
        assign: str = "nearest",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimators = estimators
        self.n_clusters = n_clusters
        self.n_members = n_members
        self.max_samples = max_samples
        self.max_features = max_features
        self.assign = assign
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _clusterers(self) -> list[Any]:
        many = isinstance(self.estimators, list | tuple)
        return list(self.estimators) if many else [self.estimators]

    def _clusters(self, n_objects: int) -> Clusters | None:
        if self.n_clusters is None:
            return None
        return Clusters.resolve(self.n_clusters, n_objects, owner=type(self).__name__)

    def _prepare(self, X: Any) -> int:
        clusters = self._clusters(X.shape[0])
        check_fits(self, clusters, X.shape)
        return self.n_members or _rounds(clusters) * len(self._clusterers())

    def _rows(self, X: Any) -> Rows:
        return rows_of(X, owner=self, min_objects=2, allow_stored=True)

    def _group_size(self, X: Any, n_members: int, n_workers: int) -> int:
        return _STORED_TOGETHER if isinstance(X, Stored) else 1

    def _stream(
        self, X: Any, groups: Sequence[Sequence[Order]], in_order: bool, session: Session
    ) -> Iterator[tuple[Sequence[Order], list[Made]]]:
        if isinstance(X, Stored):
            return ((group, self._make_stored(X, group)) for group in groups)
        return super()._stream(X, groups, in_order, session)

    def _make_stored(self, X: Stored, orders: Sequence[Order]) -> list[Made]:
        """Members fitted to samples, which one pass takes out; another places all objects."""
        plans = [self._plan(X.shape, order) for order in orders]
        if any(plan.rows is None for plan in plans):
            raise InvalidParameterError(
                f"The 'max_samples' parameter of {type(self).__name__} must leave objects out for "
                "data that are not in memory: a clusterer is fitted to a sample that is. Got "
                f"{self.max_samples!r} instead. Give a number, such as 20_000."
            )
        numbers = np.unique(np.concatenate([plan.rows for plan in plans]))
        taken, edges = X.take(numbers), block_edges(X.shape[0], numbers)
        tasks = [(plan, *_sample_of(plan, taken, numbers, edges)) for plan in plans]
        if self.n_jobs in (None, 1):
            fits = [_fitted_sample(*task) for task in tasks]
        else:
            parallel = Parallel(n_jobs=self.n_jobs, prefer=self._prefer)
            fits = parallel(delayed(_fitted_sample)(*task) for task in tasks)
        return _placed_everywhere(X, plans, fits, self.assign)

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        # n_jobs is what a user asked for; libraries below must not take more. On a busy machine
        # two threads of linear algebra that wait for each other cost a hundred times one.
        with one_thread():
            return [self._make_one(X, order) for order in orders]

    def _plan(self, shape: tuple[int, int], order: Order) -> "_Plan":
        """Everything drawn from a member's seed, in a fixed order."""
        rng = np.random.default_rng(order.seed)
        clusters, clusterers = self._clusters(shape[0]), self._clusterers()
        chosen = clusterers[(order.number // _rounds(clusters)) % len(clusterers)]
        n_clusters = None if clusters is None else clusters.draw(rng, order.number)
        rows = draw_subset(rng, self.max_samples, shape[0])
        features = draw_subset(rng, self.max_features, shape[1])
        record = {
            "algorithm": repr(chosen),
            "seed": order.seed,
            "n_clusters": n_clusters,
            "n_objects": None if rows is None else len(rows),
            "features": None if features is None else features.tolist(),
        }
        seed = int(rng.integers(2**31 - 1))
        return _Plan(chosen, n_clusters, seed, rows, features, record)

    def _make_one(self, X: Any, order: Order) -> Made:
        watch = Stopwatch()
        plan = self._plan(X.shape, order)
        try:
            model = configured(plan.clusterer, plan.n_clusters, plan.seed)
            labels, centres = _fit(model, X, plan.rows, plan.features, self.assign)
        except Exception as error:
            # Whatever a clusterer of the user's raises, the other members are worth having.
            message = f"{type(error).__name__}: {error}"
            return Made(None, {**plan.record, "seconds": watch.seconds(), "error": message})
        record = plan.record | {"seconds": watch.seconds(), "error": None}
        return Made(compact(labels), record, model=centres)


class _Plan(NamedTuple):
    """What is drawn from a member's seed, and how it is told."""

    clusterer: Any
    n_clusters: int | None
    seed: int
    rows: Indices | None
    features: Indices | None
    record: dict[str, Any]


class _Sampled(NamedTuple):
    """A clusterer that was fitted to a sample: labels, the means of its clusters, its centres."""

    labels: NDArray[np.int64] | None
    names: NDArray[np.int64]
    means: NDArray[np.float64]
    centres: Centres | None
    seconds: float
    error: str | None


def _sample_of(
    plan: _Plan, taken: NDArray[Any], numbers: Indices, edges: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """The objects and features a member sees, and where logical blocks begin among them."""
    assert plan.rows is not None
    place = np.searchsorted(numbers, plan.rows)
    seen = taken[place] if plan.features is None else taken[np.ix_(place, plan.features)]
    return np.ascontiguousarray(seen), np.searchsorted(place, edges)


def _fitted_sample(plan: _Plan, seen: NDArray[Any], edges: NDArray[np.int64]) -> _Sampled:
    """A member fitted to its sample; called in a worker."""
    watch, nobody = Stopwatch(), np.empty(0, np.int64)
    try:
        with one_thread():
            model = configured(plan.clusterer, plan.n_clusters, plan.seed)
            own = _checked(model.fit_predict(seen), len(seen))
            centres = fitted_centres(model, seen, own, plan.features)
    except Exception as error:
        # Whatever a clusterer of the user's raises, the other members are worth having.
        message = f"{type(error).__name__}: {error}"
        return _Sampled(None, nobody, np.empty((0, 0)), None, watch.seconds(), message)
    names = np.unique(own[own >= 0])
    facts = [column_facts(seen, rows=np.flatnonzero(own == name), edges=edges) for name in names]
    means = np.stack([one.mean for one in facts]) if facts else np.empty((0, seen.shape[1]))
    return _Sampled(own, names, means, centres, watch.seconds(), None)


def _placed_everywhere(
    X: Stored, plans: Sequence[_Plan], fits: Sequence[_Sampled], assign: str
) -> list[Made]:
    """All objects placed by members that saw samples, in one pass."""
    able = [m for m, fit in enumerate(fits) if len(fit.names) and assign == "nearest"]
    labels: dict[int, NDArray[Any]] = {}
    if able:
        means, features = [fits[m].means for m in able], [plans[m].features for m in able]
        nearest = engine_for(X).assign(means, features=features)
        labels = dict(zip(able, nearest, strict=True))
    made = []
    for m, (plan, fit) in enumerate(zip(plans, fits, strict=True)):
        record = plan.record | {"seconds": fit.seconds, "error": fit.error}
        if fit.labels is None:
            made.append(Made(None, record))
            continue
        kind = smallest_type(int(max(fit.labels.max(initial=0), 0)) + 1)
        own = label_room((X.shape[0],), kind, beside=len(plans))
        own[:] = UNSEEN
        if m in labels:
            for at in range(0, len(own), _BLOCK):
                own[at : at + _BLOCK] = fit.names[labels[m][at : at + _BLOCK]]
        own[plan.rows] = fit.labels
        made.append(Made(compact_in_place(own), record, model=fit.centres))
        let_go(own, labels.get(m))
    return made


def _rounds(clusters: Clusters | None) -> int:
    """Members each clusterer makes before the next has its turn: one for a listed number."""
    return 1 if clusters is None else max(1, len(clusters.turns))


def _fit(
    model: Any, X: Any, rows: Indices | None, features: Indices | None, assign: str
) -> tuple[NDArray[np.int64], Centres | None]:
    """Labels of all objects by a clusterer that saw some of them, and its centres, if any."""
    known = X if features is None else X[:, features]
    seen = known if rows is None else known[rows]
    own = _checked(model.fit_predict(seen), seen.shape[0])
    centres = fitted_centres(model, seen, own, features)
    if rows is None:
        return own, centres
    labels = np.full(X.shape[0], UNSEEN, np.int64)
    labels[rows] = own
    if assign == "nearest":
        _assign_nearest(known, labels, rows)
    return labels, centres


def _checked(labels: Any, n_rows: int) -> NDArray[np.int64]:
    """Labels as integers; any negative label, whatever a clusterer means by it, is noise."""
    labels = np.asarray(labels)
    if labels.shape != (n_rows,) or labels.dtype.kind not in "iu":
        raise InvalidParameterError(
            f"fit_predict must return {n_rows} integers. "
            f"Got an array of shape {labels.shape} and type {labels.dtype} instead."
        )
    return np.where(labels < 0, NOISE, labels).astype(np.int64)


def _assign_nearest(X: Any, labels: NDArray[np.int64], rows: Indices) -> None:
    """Give each unseen object to the cluster with the nearest mean, if there is a cluster."""
    placed = rows[labels[rows] >= 0]
    if not placed.size:
        return
    names, codes = np.unique(labels[placed], return_inverse=True)
    engine = engine_for(X)
    means = np.stack(
        [engine.column_facts(objects=placed[codes == code]).mean for code in range(len(names))]
    )
    left_out = np.flatnonzero(labels == UNSEEN)
    labels[left_out] = names[engine_for(X[left_out]).assign([means])[0]]
