"""What every consensus estimator is: parameters stated as fields, one way to fit and to store.

Data or an ensemble in, members generated where none are given; a result and a confidence out.
A subclass states its function and its own parameters::

    class CSPA(FixedNumber, function=cspa):
        solver: Solver = "auto"

and is a scikit-learn estimator with those parameters, checked by the rules of the function.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, dataclass_transform

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from consilience._docs import Entry, entries, filled, with_example
from consilience._sklearn import CallbackSupportMixin, Steps, with_callbacks
from consilience._validation import (
    N_JOBS,
    Boolean,
    HasMethods,
    NoneValue,
    RandomState,
    Rule,
    check_n_clusters,
    check_params,
)
from consilience.consensus._predicts import Predicts
from consilience.consensus._registry import CONSENSUS, Method
from consilience.consensus._solve import ConsensusResult
from consilience.consensus.large import combined, nearest_by_rows, options_by_rows
from consilience.engines import labels_stay, releasing
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, warn
from consilience.evidence import Missing, confidence, never_seen
from consilience.generate import KMeansEnsemble, with_defaults
from consilience.generate.combined import takes_rows
from consilience.rows import Rows, as_given, is_dask, rows_of, stored_rows

__all__ = ["ChosenNumber", "Consensus", "FixedNumber", "Stated"]

# Parameters of every estimator; they come after its own.
_LAST = ("generator", "random_state", "n_jobs", "confidence")

_EXAMPLE = """\
>>> members = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]]
>>> {name}(2, random_state=0).fit(ensemble=members).labels_
array([0, 0, 0, 1, 1, 1], dtype=int32)"""
_EXAMPLE_OF_DATA = """\
>>> import numpy as np
>>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, (40, 2)) for c in (0, 3)])
>>> np.bincount({name}(2, random_state=0).fit(X).labels_).tolist()
[40, 40]"""


@dataclass_transform(kw_only_default=True, eq_default=False)
class Stated(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Base of clusterers whose parameters are stated as fields: ``name: type = default``.

    ``__init__`` follows from the fields, as in a dataclass, and only stores. Parameters are
    given by name; a class with the keyword ``kw_only=False`` also takes its own by position.
    """

    def __init_subclass__(cls, *, kw_only: bool = True, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(eq=False, repr=False, kw_only=kw_only)(cls)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _order_parameters(cls: type) -> None:
    """Put a class's own parameters before those of all estimators: only names matter."""
    init: Any = vars(cls)["__init__"]
    signature = inspect.signature(init)
    given = sorted(signature.parameters.values(), key=lambda parameter: parameter.name in _LAST)
    init.__signature__ = signature.replace(parameters=given)


def _whole_doc(cls: Any, parameters: tuple[str, ...]) -> str:
    """The docstring of a class with what its function and its base say of the rest."""
    doc, base = cls.__doc__ or "", cls.__mro__[1].__doc__ or ""
    more, attributes = entries(base, "Parameters"), entries(base, "Attributes")
    if hasattr(cls, "_method"):
        own = [name for name in parameters if name not in _LAST]
        for entry in entries(cls._method.function.__doc__ or "", "Parameters"):
            names = tuple(name for name in entry.names if name in own)
            more += [entry._replace(names=names)] if names else []
        more.append(Entry(tuple(own), "", (f"    See `{cls._method.name}`.",)))
        example = _EXAMPLE_OF_DATA if cls._method.needs_data else _EXAMPLE
        doc = with_example(doc, example.format(name=cls.__name__))
    doc = filled(doc, "Parameters", more, parameters)
    order = [name for entry in attributes for name in entry.names]
    return filled(doc, "Attributes", attributes, order)


class Consensus(Predicts, Stated):
    """Base of the consensus estimators.

    A subclass names its ``function`` in the table of methods and states its own parameters; the
    rules of those stand at the function. What else it has to say after `fit` it names as
    ``attributes``: they are taken from the function's result, or from its details.

    Parameters
    ----------
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is `KMeansEnsemble()`: 100
        k-means with k between half the root of n and the root.
    random_state : int, RandomState or None
        Seeds the method, and a generator that has no seed of its own.
    n_jobs : int or None
        Threads; None means one.
    confidence : bool, default=True
        Whether to judge every label after it was found.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for objects every member calls noise.
    n_clusters_ : int
        Clusters found.
    confidence_, runner_up_ : ndarray of shape (n_objects,)
        How sure each label is, 0 for noise and for objects nobody saw; and the best other
        cluster, -1 where none has any evidence. See `consilience.evidence.confidence`. None
        with ``confidence=False``.
    objective_, n_iter_, converged_, solver_, memberships_, details_
        See `ConsensusResult`. None, and ``details_`` empty, where they have no meaning or
        nothing had to be solved; the same holds for what is special to the method.
    ensemble_ : Ensemble
        The members.
    n_features_in_, feature_names_in_
        Of the data, where some were given.
    """

    _constraints: ClassVar[dict[str, Sequence[Rule]]] = {
        "generator": [
            HasMethods(("generate", "get_params", "set_params"), "a generator"),
            NoneValue(),
        ],
        "random_state": [RandomState()],
        "n_jobs": N_JOBS,
        "confidence": [Boolean()],
    }
    _attributes: ClassVar[tuple[str, ...]] = ()
    _may_lack_number: ClassVar[bool] = False
    _method: ClassVar[Method]

    generator: Any = None
    random_state: Any = None
    n_jobs: int | None = None
    confidence: bool = True

    def __init_subclass__(
        cls,
        *,
        function: Callable[..., ConsensusResult] | None = None,
        rules: Mapping[str, Sequence[Rule]] | None = None,
        attributes: tuple[str, ...] = (),
        **options: Any,
    ) -> None:
        written = "__init__" in vars(cls)
        super().__init_subclass__(**options)
        if not written:
            _order_parameters(cls)
        parameters = tuple(inspect.signature(cls).parameters)
        known: dict[str, Sequence[Rule]] = dict(cls._constraints)
        if function is not None:
            cls._method = CONSENSUS[function.__name__]
            known |= cls._method.rules
        known |= rules or {}
        cls._constraints = {name: rule for name, rule in known.items() if name in parameters}
        if cls._may_lack_number and "n_clusters" in cls._constraints:
            cls._constraints["n_clusters"] = [*cls._constraints["n_clusters"], NoneValue()]
        cls._attributes = (*cls._attributes, *attributes)
        if cls.__doc__:
            cls.__doc__ = _whole_doc(cls, parameters)

    @with_callbacks
    def fit(self, X: Any = None, y: Any = None, *, ensemble: Any = None) -> Self:
        """Find the consensus of an ensemble, or of members generated on data.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features), optional
            Data. Needed if no ensemble is given. Methods that work on distinct rows of labels
            (see `consilience.consensus.combine_blocks`) also take a Dask array or frame, and what
            `consilience.open_rows` opened: these are gone through in blocks, ``labels_``,
            ``confidence_`` and ``runner_up_`` of a Dask array are Dask arrays with its blocks, and
            new objects are placed by 20,000 objects drawn at random.
        y : ignored
        ensemble : Ensemble, or anything `Ensemble` takes, optional
            Labelings you already have.

        Returns
        -------
        self
        """
        check_params(self)
        data = self._check_data(X, ensemble)
        with releasing(None if data is None or not data.is_stored else data.values):
            return self._fit(X, data, ensemble)

    def _fit(self, X: Any, data: Rows | None, ensemble: Any) -> Self:
        """Make members where there are none, combine them, judge the labels, remember the data."""
        steps = Steps(self, "fit", 3)
        where = self._where(data)
        generator, models = self._generator(data, where), None
        with steps.step("generate", generator if ensemble is None else None):
            if ensemble is None:
                # Ours take what is checked already; anybody else's the data as they came.
                ensemble = generator.generate(data if takes_rows(generator) else X)
                models = getattr(generator, "models_", None)
        self.ensemble_ = self._check_ensemble(ensemble, data)
        if data is not None and data.is_stored:
            self._combine_blocks(data, models, steps)
        else:
            with labels_stay():
                with steps.step("consensus"):
                    self._store(self._fit_ensemble(self.ensemble_, data))
                with steps.step("confidence"):
                    self._add_confidence(where)
            self._remember(data, models)
        steps.end()
        return self

    def fit_predict(self, X: Any = None, y: Any = None, *, ensemble: Any = None) -> Any:
        """Fit and return ``labels_``; for a torch tensor, as one on its device."""
        return as_given(self.fit(X, y, ensemble=ensemble).labels_, X)

    def _combine_blocks(self, data: Rows, models: Any, steps: Steps) -> None:
        """Combine and judge objects that are not in memory, and remember some of them."""
        own = options_by_rows(self._method.name, self._options(None))
        how = {"random_state": self.random_state, "n_jobs": self.n_jobs, **own}
        with steps.step("consensus"):
            wanted = self._number()
            check_n_clusters(wanted, len(data), owner=type(self).__name__)
            consensus = combined(self._method, self.ensemble_, wanted, how)
        with steps.step("confidence"):
            sure = (consensus.confidence, consensus.runner_up) if self.confidence else (None, None)
            self._remember_sample(data, models, consensus.labels, *sure)
        in_blocks = data.values.in_its_blocks
        # What there is one of for each object is not spread from the rows of labels.
        nobody: dict[str, Any] = {"memberships": None, "details": {}}
        self._store(replace(consensus.of_rows, labels=in_blocks(consensus.labels), **nobody))
        self.confidence_, self.runner_up_ = (
            None if one is None else in_blocks(one) for one in sure
        )

    def _fit_ensemble(self, ensemble: Ensemble, X: Rows | None) -> ConsensusResult:
        """The result of the method on an ensemble."""
        return self._method.run(
            ensemble,
            self._number(),
            X,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            **self._options(X),
        )

    @property
    def _wanted(self) -> Any:
        """The number of clusters that the method is asked for."""
        return self.get_params(deep=False)["n_clusters"]

    def _number(self) -> Any:
        """As `_wanted`; says so where nobody gave it."""
        return self._wanted

    def _options(self, X: Any) -> dict[str, Any]:
        """The function's own parameters; those that are not the estimator's have their default."""
        params = self.get_params(deep=False)
        if "device" in params:
            params["device"] = self._where(X)
        return {name: params[name] for name in self._method.options if name in params}

    def _where(self, X: Rows | None) -> str | None:
        """The device to compute on, of those that can: as told, else that of the data."""
        params = self.get_params(deep=False)
        if "device" not in params or params["device"] is not None:
            return params.get("device")
        return None if X is None else X.device

    def _check_data(self, X: Any, ensemble: Any) -> Rows | None:
        name = type(self).__name__
        if isinstance(X, Ensemble):
            raise InvalidInputError(
                f"The 'X' argument of {name}.fit must be data. Got an Ensemble instead. "
                "Pass it as fit(ensemble=...)."
            )
        if X is None:
            if ensemble is None:
                raise InvalidInputError(
                    f"{name}.fit needs data or an ensemble. Got neither. Call fit(X), or "
                    "fit(ensemble=labels) for labelings you already have."
                )
            return None
        if is_dask(X):
            X = stored_rows(X)
        if isinstance(X, Rows) and X.is_stored:
            self._check_by_blocks(X)
        return rows_of(X, owner=self, fitted=self, min_objects=2, allow_stored=True)

    def _check_by_blocks(self, X: Rows) -> None:
        """Refuse data that are not in memory where the method needs them there."""
        method: Method | None = getattr(type(self), "_method", None)
        if method is not None and method.by_rows:
            return
        near = nearest_by_rows("" if method is None else method.name).estimator_name
        raise InvalidInputError(
            f"{type(self).__name__} needs its data in memory, and {X.values.what} is read block by "
            f"block. Take {near}, the nearest to it that works so; or give it a sample, "
            "rows.take(objects), or all of a Dask array that fits, X.compute()."
        )

    def _check_ensemble(self, ensemble: Any, X: Any) -> Ensemble:
        if not isinstance(ensemble, Ensemble):
            ensemble = Ensemble(ensemble)
        if X is not None and X.shape[0] != ensemble.n_objects:
            raise InvalidInputError(
                f"X and ensemble must hold the same objects: X has {X.shape[0]} rows, the "
                f"ensemble {ensemble.n_objects} objects. An array of labels is n_objects x "
                "n_members: transpose it if it is the other way round."
            )
        return ensemble

    def _generator(self, data: Any = None, device: str | None = None) -> Any:
        """What makes the members: as given, or the default; seed, threads, device of this."""
        wanted = self._default_generator(data) if self.generator is None else self.generator
        return with_defaults(wanted, self.random_state, self.n_jobs, device)

    def _default_generator(self, data: Any = None) -> Any:
        return KMeansEnsemble()

    def _store(self, result: ConsensusResult) -> None:
        """Keep a result as fitted attributes, all of them whatever had to be solved."""
        for name in ConsensusResult.__dataclass_fields__:
            setattr(self, f"{name}_", getattr(result, name))
        for name in self._attributes:
            value = result.details.get(name, getattr(result, name, None))
            setattr(self, f"{name}_", value)

    def _add_confidence(self, device: str | None = None) -> None:
        """Set ``confidence_`` and ``runner_up_``; objects nobody saw have confidence 0."""
        self.confidence_, self.runner_up_ = None, None
        if not self.confidence:
            return
        labels = np.where(never_seen(self.ensemble_), -1, self.labels_)
        missing: Missing = getattr(self, "missing", "pair")
        sure = confidence(
            self.ensemble_, labels, missing=missing, n_jobs=self.n_jobs, device=device
        )
        self.confidence_ = sure.confidence
        self.runner_up_ = sure.runner_up


class FixedNumber(Consensus, kw_only=False):
    """Base of the estimators that must be given the number of clusters.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Clusters wanted; fewer are found where some win no object. None takes 2, and warns: the
        method cannot find the number. `consilience.AutoConsensus` can.
    """

    _may_lack_number: ClassVar[bool] = True

    n_clusters: int | None = None

    @property
    def _wanted(self) -> int:
        return 2 if self.n_clusters is None else self.n_clusters

    def _number(self) -> int:
        if self.n_clusters is None:
            name = type(self).__name__
            warn(
                f"The number of clusters was not given, and {name} cannot find it: 2 are taken. "
                f"Say how many, as in {name}(3), or let AutoConsensus find the number."
            )
        return self._wanted


class ChosenNumber(Consensus, kw_only=False):
    """Base of the estimators that choose the number of clusters where none is given."""

    n_clusters: int | None = None
