"""How members are made, reported and collected: common to every generator.

A generator says how many members it wants and how to make a group of them; this module
gives each member its seed, spreads the groups over workers, tells scikit-learn's
callbacks, and keeps going when a member fails.
"""

import time
import warnings
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from consilience._labels import encode, is_frame, smallest_type
from consilience._sklearn import CallbackSupportMixin, Steps, with_callbacks
from consilience._validation import Interval, NoneValue, RandomState, check_params
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceError, ConsilienceWarning
from consilience.generate._draw import in_groups, member_seeds

__all__ = ["Generator", "Made", "Order"]


@dataclass(frozen=True)
class Order:
    """A member to be made: its place in the ensemble and its seed."""

    number: int
    seed: int


@dataclass(frozen=True)
class Made:
    """A member that was made, or the reason why not, and how."""

    labels: NDArray[np.signedinteger[Any]] | None
    record: dict[str, Any] = field(default_factory=dict)


class GenerationError(ConsilienceError, RuntimeError):
    """No member of an ensemble could be made."""


class Generator(CallbackSupportMixin, BaseEstimator):
    """Base of the generators: parameters in the constructor, `generate` makes an ensemble."""

    _common_constraints: ClassVar[dict[str, Any]] = {
        "random_state": [RandomState()],
        "n_jobs": [Interval(Integral), NoneValue()],
    }
    # Threads where the work is in our kernels, processes where it is anybody's Python.
    _prefer: ClassVar[str] = "threads"

    random_state: Any
    n_jobs: int | None

    @with_callbacks
    def generate(self, X: Any) -> Ensemble:
        """Make the members on data ``X`` of shape (n_objects, n_features).

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features)
            Finite numbers. A pandas frame's index is kept.

        Returns
        -------
        Ensemble
            One record a member: algorithm, seed, parameters, seconds. Members that failed
            are left out with a warning that names their seeds; ``records_`` of the
            generator lists them all, with the error.
        """
        check_params(self)
        data = self._check_data(X)
        n_members = self._prepare(data)
        seeds = member_seeds(self.random_state, n_members)
        orders = [Order(number, seed) for number, seed in enumerate(seeds)]
        steps = Steps(self, "generate", n_members)
        made = self._collect(self._stream(data, orders), steps)
        steps.end()
        return self._ensemble(made, n_members, X)

    @abstractmethod
    def _prepare(self, X: Any) -> int:
        """Check parameters against the data; return the number of members."""

    @abstractmethod
    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        """Make a group of members; called in a worker."""

    def _group_size(self, n_members: int) -> int:
        """Members made in one call of `_make`."""
        return 1

    def _check_data(self, X: Any) -> Any:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
            order="C",
            ensure_min_samples=2,
            estimator=self,
            input_name="X",
        )

    def _stream(self, X: Any, orders: Sequence[Order]) -> Iterator[list[Made]]:
        """Groups of members in order, as they become ready."""
        groups = in_groups(orders, self._group_size(len(orders)))
        if self.n_jobs in (None, 1) or len(groups) == 1:
            return (self._make(X, group) for group in groups)
        # A plain function of a plain copy: workers need neither callbacks nor progress.
        maker = type(self)(**self.get_params(deep=False))
        parallel = Parallel(n_jobs=self.n_jobs, prefer=self._prefer, return_as="generator")
        results: Iterator[list[Made]] = parallel(delayed(maker._make)(X, g) for g in groups)
        return results

    def _collect(self, groups: Iterable[list[Made]], steps: Steps) -> list[Made]:
        made: list[Made] = []
        for group in groups:
            made.extend(group)
            stops = [steps.done("member") for _ in group]
            if any(stops):  # a callback may ask to stop early: what is done is kept
                break
        return made

    def _ensemble(self, made: list[Made], wanted: int, X: Any) -> Ensemble:
        """The members that succeeded, with a warning about those that did not."""
        self.records_ = tuple(m.record for m in made)
        good = [m for m in made if m.labels is not None]
        failed = [m.record for m in made if m.labels is None]
        if not good:
            raise GenerationError(
                f"None of the {wanted} members of {type(self).__name__} could be made. The first "
                f"(seed {failed[0]['seed']}) failed with: {failed[0]['error']}"
            )
        if failed:
            seeds = ", ".join(str(record["seed"]) for record in failed[:5])
            warnings.warn(
                f"{len(failed)} of {wanted} members failed and were left out (seeds {seeds}"
                f"{', ...' if len(failed) > 5 else ''}). The first error was: {failed[0]['error']}",
                ConsilienceWarning,
                stacklevel=4,
            )
        if len(made) < wanted:
            warnings.warn(
                f"Stopped by a callback after {len(made)} of {wanted} members.",
                ConsilienceWarning,
                stacklevel=4,
            )
        kind = np.result_type(*(m.labels.dtype for m in good if m.labels is not None))
        members = np.stack([m.labels for m in good if m.labels is not None], dtype=kind)
        index = getattr(X, "index", None) if is_frame(X) else None
        return Ensemble._trusted(members, index=index, records=[m.record for m in good])


def compact(labels: NDArray[Any]) -> NDArray[np.signedinteger[Any]]:
    """Labels of one member, dense and in the narrowest type."""
    codes = encode(labels)
    return codes.astype(smallest_type(int(codes.max()) + 1))


class Stopwatch:
    """Seconds since it was made, for the records."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Seconds so far."""
        return round(time.perf_counter() - self._start, 6)
