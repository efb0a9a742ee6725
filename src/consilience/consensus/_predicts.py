"""New objects for estimators: what `fit` remembers, `predict`, and what is asked beside it."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from types import MethodType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from consilience.errors import InvalidInputError
from consilience.keep import write_kept
from consilience.predict import Placer, Prediction, placed
from consilience.predict._by_blocks import (
    drawn,
    members_of_sample,
    models_of_sample,
    placed_by_blocks,
)
from consilience.predict._hashes import row_hashes
from consilience.predict._seen import Seen
from consilience.rows import Rows, as_given, rows_of

__all__ = ["Predicts"]


class LabelsOnlyError(InvalidInputError, AttributeError):
    """An estimator that was fitted to labels only cannot place new objects."""


class _WithData:
    """A method that a fitted estimator only has if it was fitted to data.

    As scikit-learn's ``available_if``, whose error would not say what to do.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self._method = method
        self.__doc__ = method.__doc__

    def __get__(self, estimator: Any, owner: type | None = None) -> Any:
        if estimator is None:
            return self._method
        if hasattr(estimator, "labels_") and getattr(estimator, "_seen", None) is None:
            raise LabelsOnlyError(
                f"This {type(estimator).__name__} was fitted to labels only, which do not say "
                "where a new object lies. Fit it to the data, fit(X) or fit(X, ensemble=...)."
            )
        return MethodType(self._method, estimator)


class Predicts:
    """What estimators that were fitted to data say of new objects.

    Every member places a new object: with the nearest of its centres, in its own features, or
    where the nearest object is that it saw. Its labels are compared with the groups by mean
    co-association; where groups are chains or rings that members cut across, and the nearest
    object seen gives left-out objects their group back more often, that group is taken. A row
    that was clustered keeps its label.

    What is kept for it: a reference to the data, a hash of every row, and the centres of the
    members.
    """

    _seen: Seen | None
    # Members, labels, confidence and runner-up of the objects seen, where these are a sample.
    _judged: tuple[Any, ...] | None

    def _remember(self, data: Rows | None, models: Sequence[Any] | None) -> None:
        """Keep what new objects are placed by; nothing without data."""
        self._seen, self._judged = None if data is None else Seen(data.values, models), None

    def _remember_sample(
        self, data: Rows, models: Sequence[Any] | None, labels: Any, confidence: Any, runner_up: Any
    ) -> None:
        """As `_remember`, of data that are not in memory: of some objects."""
        fitted: Any = self
        some = drawn(len(data), 0)
        own = models_of_sample(models, fitted.ensemble_.members, some)
        self._seen = Seen(data.take(some).values, own)
        judged = (None if one is None else one[some] for one in (confidence, runner_up))
        self._judged = (members_of_sample(fitted.ensemble_, some), np.array(labels[some]), *judged)

    def _placer(self) -> Placer:
        assert self._seen is not None
        fitted: Any = self
        judged = getattr(self, "_judged", None)
        if judged is None:
            judged = (fitted.ensemble_, fitted.labels_, fitted.confidence_, fitted.runner_up_)
        ensemble, labels, confidence, runner_up = judged
        return self._seen.placer(
            type(self).__name__,
            ensemble,
            labels,
            confidence=confidence,
            runner_up=runner_up,
            n_jobs=fitted.n_jobs,
        )

    @_WithData
    def predict(self, X: Any) -> NDArray[np.int32]:
        """The groups of new objects; see `predict_info` for all there is to say of them.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features)
            The columns that were fitted, in the same order.

        Returns
        -------
        ndarray of shape (n_objects,), int32
            Rows that were fitted have the label they had. For a torch tensor, one on its device;
            for a Dask array, which is gone through in blocks, a Dask array with its blocks.
        """
        labels: NDArray[np.int32] = as_given(self.predict_info(X).labels, X)
        return labels

    @_WithData
    def predict_confidence(self, X: Any) -> NDArray[np.float64]:
        """How sure the groups of new objects are, as ``confidence_`` is of those fitted.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features)

        Returns
        -------
        ndarray of shape (n_objects,)
            For a torch tensor, one on its device.
        """
        sure: NDArray[np.float64] = as_given(self.predict_info(X).confidence, X)
        return sure

    @_WithData
    def predict_info(self, X: Any, *, lookup: bool = True) -> Prediction:
        """Group, confidence and runner-up of new objects, and which are unlike anything seen.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features)
            The columns that were fitted, in the same order.
        lookup : bool, default=True
            Whether rows that were fitted keep their label; otherwise they are placed as if they
            were new.

        Returns
        -------
        Prediction
        """
        check_is_fitted(self)
        fitted: Any = self
        rows = rows_of(X, owner=self, fitted=self, reset=False, allow_stored=True)
        placer = self._placer()

        def place(values: Any) -> Prediction:
            hashes = row_hashes(values, fitted.n_jobs) if lookup else None
            return placed(placer, values, hashes, n_jobs=fitted.n_jobs, index=rows.index)

        return placed_by_blocks(rows.values, place) if rows.is_stored else place(rows.values)

    def save(self, folder: str | PathLike[str]) -> None:
        """Keep the fitted estimator in a folder; `consilience.load` gives it back.

        Two files: ``model.json`` and ``model.npz``, plain values and arrays and never a pickle,
        with the version of their format. Kept are the parameters, as far as they are plain values
        or generators of this package, the fitted attributes but ``details_``, the members, and
        what `predict` needs.

        Parameters
        ----------
        folder : path
            Made if need be; an estimator or result that was kept there is replaced.
        """
        check_is_fitted(self)
        # Here, because what it lists derives from this class.
        from consilience import __version__
        from consilience.consensus._kept import kinds

        write_kept(Path(folder), self, kinds(), __version__)
