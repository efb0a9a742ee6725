"""What every consensus estimator does before and after its own method.

Data or an ensemble in, members generated where none are given; a confidence out.
"""

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin

from consilience._sklearn import CallbackSupportMixin, Steps, validate_data, with_callbacks
from consilience._validation import (
    N_JOBS,
    HasMethods,
    NoneValue,
    RandomState,
    check_params,
)
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import Missing, confidence, never_seen
from consilience.generate import KMeansEnsemble, with_defaults

__all__ = ["Consensus"]


class Consensus(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Base of the consensus estimators; a subclass fits an ensemble in `_fit_ensemble`."""

    _common_constraints: ClassVar[dict[str, Any]] = {
        "generator": [
            HasMethods(("generate", "get_params", "set_params"), "a generator"),
            NoneValue(),
        ],
        "random_state": [RandomState()],
        "n_jobs": N_JOBS,
    }

    generator: Any
    random_state: Any
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @with_callbacks
    def fit(self, X: Any = None, y: Any = None, *, ensemble: Any = None) -> Self:
        """Find the consensus of an ensemble, or of members generated on data.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features), optional
            Data. Needed if no ensemble is given.
        y : ignored
        ensemble : Ensemble, or anything `Ensemble` takes, optional
            Labelings you already have.

        Returns
        -------
        self
        """
        check_params(self)
        data = self._check_data(X, ensemble)
        steps = Steps(self, "fit", 3)
        generator = self._generator()
        with steps.step("generate", generator if ensemble is None else None):
            if ensemble is None:
                ensemble = generator.generate(X)
        self.ensemble_ = self._check_ensemble(ensemble, data)
        with steps.step("consensus"):
            self._fit_ensemble(self.ensemble_, data)
        with steps.step("confidence"):
            self._add_confidence()
        steps.end()
        return self

    def fit_predict(self, X: Any = None, y: Any = None, *, ensemble: Any = None) -> Any:
        """Fit and return ``labels_``."""
        return self.fit(X, y, ensemble=ensemble).labels_

    @abstractmethod
    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        """Set ``labels_`` and what else the method has to say."""

    def _check_data(self, X: Any, ensemble: Any) -> Any:
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
        return validate_data(
            self, X, accept_sparse="csr", dtype=[np.float64, np.float32], ensure_min_samples=2
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

    def _generator(self) -> Any:
        wanted = KMeansEnsemble() if self.generator is None else self.generator
        return with_defaults(wanted, self.random_state, self.n_jobs)

    def _add_confidence(self) -> None:
        """Set ``confidence_`` and ``runner_up_``; objects nobody saw have confidence 0."""
        strangers = never_seen(self.ensemble_)
        labels = np.where(strangers, -1, self.labels_)
        missing: Missing = getattr(self, "missing", "pair")
        found = confidence(self.ensemble_, labels, missing=missing, n_jobs=self.n_jobs)
        self.confidence_ = found.confidence
        self.runner_up_ = found.runner_up

    def _store(self, found: ConsensusResult) -> None:
        """Keep what a consensus function found as fitted attributes."""
        self.labels_ = found.labels
        self.n_clusters_ = found.n_clusters
        for name in ("objective", "n_iter", "converged", "solver", "memberships"):
            value = getattr(found, name)
            if value is not None:
                setattr(self, f"{name}_", value)
        self.details_ = found.details
