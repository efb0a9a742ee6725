"""Ensembles of soft members: mixtures, fuzzy c-means, topics, whatever gives memberships."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from consilience._threads import one_thread
from consilience._validation import N_MEMBERS, HasMethods, NoneValue, Options, Satisfies
from consilience.errors import InvalidParameterError
from consilience.generate._base import Generator, Made, Order, Stopwatch, compact
from consilience.generate._configured import configured
from consilience.generate._draw import N_CLUSTERS, SHARE, Clusters, check_fits, draw_subset
from consilience.generate.fuzzy import FuzzyCMeans
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["MembershipEnsemble"]

Floats = NDArray[np.float64]

_MODEL = HasMethods(("fit", "get_params", "set_params"), "a model with predict_proba or transform")
# What gives memberships of objects, in this order.
_GIVES = ("predict_proba", "transform")
# Of memberships that a model gives, what their sums may be off.
_OFF = 1e-3


def _is_model(value: Any) -> bool:
    return _MODEL.accepts(value) and any(hasattr(value, name) for name in _GIVES)


def _are_models(value: Any) -> bool:
    many = value if isinstance(value, list | tuple) else [value]
    return bool(many) and all(map(_is_model, many))


@dataclass(frozen=True)
class _MadeSoft(Made):
    memberships: Floats | None = None


class MembershipEnsemble(Generator):
    """Many soft clusterings: memberships of every object in the clusters of every member.

    Parameters
    ----------
    n_members : int, default=50
        Number of clusterings.
    n_clusters : int, (low, high), list of int or rule, default=(2, 10)
        Clusters of a member, as in `KMeansEnsemble`.
    estimators : model, list of models or None, default=None
        Taken in turn; a copy is fitted for each member, and its ``random_state`` is set from the
        member's seed. Anything with ``fit`` and ``predict_proba`` (mixtures), or with a
        ``transform`` that gives shares which sum to 1 (topic models). None: Gaussian mixtures with
        diagonal covariances and `FuzzyCMeans`.
    max_samples, max_features : float, int or (low, high), default=1.0
        Objects and features a member is fitted to, as in `KMeansEnsemble`.
    assign : {"predict", "unseen"}, default="predict"
        Objects that a member was not fitted to have the memberships that its model says, or stay
        unseen.
    random_state : int, RandomState or None
        Draws one seed a member; equal seeds give equal ensembles whatever ``n_jobs``.
    n_jobs : int or None
        Processes; None means one.

    Notes
    -----
    A member that raises is left out with a warning that names its seed.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> soft = MembershipEnsemble(4, 3, random_state=0).generate(X)
    >>> soft
    SoftEnsemble(n_objects=60, n_members=4, n_clusters=3..3, noise=0, unseen=0)
    >>> soft.of_member(0).sum(axis=1).round(6).min().item()
    1.0
    """

    makes_memberships: ClassVar[bool] = True
    _prefer = "processes"
    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "n_members": [N_MEMBERS],
        "n_clusters": [N_CLUSTERS],
        "estimators": [
            Satisfies(_are_models, "a model with predict_proba or transform, or a list of such"),
            NoneValue(),
        ],
        "max_samples": [SHARE],
        "max_features": [SHARE],
        "assign": [Options(("predict", "unseen"))],
    }

    def __init__(
        self,
        n_members: int = 50,
        n_clusters: Any = (2, 10),
        *,
        estimators: Any = None,
        max_samples: Any = 1.0,
        max_features: Any = 1.0,
        assign: str = "predict",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.n_clusters = n_clusters
        self.estimators = estimators
        self.max_samples = max_samples
        self.max_features = max_features
        self.assign = assign
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _models(self) -> list[Any]:
        if self.estimators is None:
            mixture = GaussianMixture(covariance_type="diag", init_params="random_from_data")
            return [mixture, FuzzyCMeans()]
        many = isinstance(self.estimators, list | tuple)
        return list(self.estimators) if many else [self.estimators]

    def _clusters(self, n_objects: int) -> Clusters:
        return Clusters.resolve(self.n_clusters, n_objects, owner=type(self).__name__)

    def _prepare(self, X: Any) -> int:
        check_fits(self, self._clusters(X.shape[0]), X.shape)
        return self.n_members

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        with one_thread():
            return [self._make_one(X, order) for order in orders]

    def _make_one(self, X: Any, order: Order) -> Made:
        watch, models = Stopwatch(), self._models()
        rng = np.random.default_rng(order.seed)
        chosen = models[order.number % len(models)]
        k = self._clusters(X.shape[0]).draw(rng, order.number // len(models))
        rows = draw_subset(rng, self.max_samples, X.shape[0])
        features = draw_subset(rng, self.max_features, X.shape[1])
        record: dict[str, Any] = {
            "algorithm": repr(chosen),
            "seed": order.seed,
            "n_clusters": k,
            "n_objects": None if rows is None else len(rows),
            "features": None if features is None else features.tolist(),
        }
        known = X if features is None else X[:, features]
        try:
            model = configured(chosen, k, int(rng.integers(2**31 - 1)), soft=True)
            table = _fitted_memberships(model, known, rows, self.assign)
            member = SoftEnsemble([table])  # which checks them
        except Exception as error:
            # Whatever a model of the user's raises, the other members are worth having.
            message = f"{type(error).__name__}: {error}"
            return Made(None, {**record, "seconds": watch.seconds(), "error": message})
        record |= {"seconds": watch.seconds(), "error": None}
        return _MadeSoft(compact(member[0]), record, memberships=member.of_member(0))

    def _extras(self, made: Made) -> dict[str, NDArray[Any]]:
        assert isinstance(made, _MadeSoft)
        assert made.memberships is not None
        return {"memberships": made.memberships}

    def _restored(
        self,
        labels: NDArray[np.signedinteger[Any]],
        record: dict[str, Any],
        extras: Mapping[str, NDArray[Any]],
    ) -> Made:
        return _MadeSoft(labels, record, memberships=extras["memberships"])

    def _gathered(self, good: list[Made], index: Any) -> SoftEnsemble:
        tables = [made.memberships for made in good if isinstance(made, _MadeSoft)]
        return SoftEnsemble(tables, index=index, records=[made.record for made in good])


def _fitted_memberships(model: Any, X: Any, rows: NDArray[np.int64] | None, assign: str) -> Floats:
    """Memberships of all objects by a model that was fitted to some; NaN for the unseen."""
    with warnings.catch_warnings():
        # A member that has not settled is a member all the same.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X if rows is None else X[rows])
    gives = getattr(model, next(name for name in _GIVES if hasattr(model, name)))
    if rows is None or assign == "predict":
        return _checked(gives(X), X.shape[0])
    seen = _checked(gives(X[rows]), len(rows))
    table = np.full((X.shape[0], seen.shape[1]), np.nan)
    table[rows] = seen
    return table


def _checked(values: Any, n_rows: int) -> Floats:
    """What a model gave as memberships that sum to 1, or an error."""
    table = np.asarray(values, np.float64)
    shaped = table.ndim == 2 and len(table) == n_rows
    if not shaped or np.abs(table.sum(axis=1) - 1.0).max(initial=0.0) > _OFF:
        raise InvalidParameterError(
            f"The model must give {n_rows} rows of memberships that sum to 1, by predict_proba or "
            f"transform. Got an array of shape {table.shape}"
            f"{' whose rows sum otherwise' if shaped else ''} instead."
        )
    return np.asarray(table / table.sum(axis=1, keepdims=True))
