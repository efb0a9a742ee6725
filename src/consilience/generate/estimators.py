"""Ensembles of any scikit-learn clusterers, on all or some of the objects and features."""

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from consilience._labels import NOISE, UNSEEN
from consilience._threads import one_thread
from consilience._validation import N_MEMBERS, HasMethods, NoneValue, Options, Satisfies
from consilience.engines import engine_for
from consilience.errors import InvalidParameterError
from consilience.generate._base import Generator, Made, Order, Stopwatch, compact
from consilience.generate._draw import (
    N_CLUSTERS,
    SHARE,
    Clusters,
    Indices,
    check_fits,
    draw_subset,
)
from consilience.generate.models import Centres, fitted_centres

__all__ = ["EstimatorEnsemble"]

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
    processes; ``joblib.parallel_config`` chooses another backend.

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

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        # n_jobs is what a user asked for; libraries below must not take more. On a busy machine
        # two threads of linear algebra that wait for each other cost a hundred times one.
        with one_thread():
            return [self._make_one(X, order) for order in orders]

    def _make_one(self, X: Any, order: Order) -> Made:
        watch = Stopwatch()
        rng = np.random.default_rng(order.seed)
        clusters = self._clusters(X.shape[0])
        clusterers = self._clusterers()
        chosen = clusterers[(order.number // _rounds(clusters)) % len(clusterers)]
        n_clusters = None if clusters is None else clusters.draw(rng, order.number)
        rows = draw_subset(rng, self.max_samples, X.shape[0])
        features = draw_subset(rng, self.max_features, X.shape[1])
        record = {
            "algorithm": repr(chosen),
            "seed": order.seed,
            "n_clusters": n_clusters,
            "n_objects": None if rows is None else len(rows),
            "features": None if features is None else features.tolist(),
        }
        try:
            model = _configured(chosen, n_clusters, int(rng.integers(2**31 - 1)))
            labels, centres = _fit(model, X, rows, features, self.assign)
        except Exception as error:
            # Whatever a clusterer of the user's raises, the other members are worth having.
            message = f"{type(error).__name__}: {error}"
            return Made(None, {**record, "seconds": watch.seconds(), "error": message})
        record |= {"seconds": watch.seconds(), "error": None}
        return Made(compact(labels), record, model=centres)


def _rounds(clusters: Clusters | None) -> int:
    """Members each clusterer makes before the next has its turn: one for a listed number."""
    return 1 if clusters is None else max(1, len(clusters.turns))


def _configured(clusterer: Any, n_clusters: int | None, seed: int) -> Any:
    """A fresh copy with its number of clusters and random state set, where it has them."""
    model = clone(clusterer)
    changes: dict[str, Any] = {}
    for name in model.get_params(deep=True):
        last = name.rpartition("__")[2]
        if last == "random_state":
            changes[name] = seed
        elif n_clusters is not None and last == "n_clusters":
            changes[name] = n_clusters
    if (
        n_clusters is not None
        and hasattr(model, "predict_proba")
        and hasattr(model, "n_components")
    ):
        changes["n_components"] = n_clusters
    return model.set_params(**changes)


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
