"""One job, stage by stage: each stage is timed, and told to scikit-learn's callbacks.

A callback sees the job as one estimator whose tasks are the stages. One that propagates
(``max_propagation_depth``, as `sklearn.callback.ProgressBar` has it) also sees what the generator
and the method do inside their stages. Whatever it raises ends the job.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from sklearn.base import BaseEstimator

from consilience._sklearn import CallbackSupportMixin, Steps, with_callbacks
from consilience.errors import InvalidParameterError

__all__ = ["Job"]

T = TypeVar("T")


class Job(CallbackSupportMixin, BaseEstimator):
    """A job of so many stages.

    Parameters
    ----------
    name : str
        As callbacks show it.
    n_stages : int

    Attributes
    ----------
    seconds : dict of str to float
        Of each stage, in the order they were run.
    """

    def __init__(self, name: str, n_stages: int) -> None:
        self.name = name
        self.n_stages = n_stages

    def told_to(self, callbacks: Sequence[Any]) -> "Job":
        """The same job, with callbacks that are told of it."""
        try:
            self.set_callbacks(*callbacks)
        except TypeError as error:
            raise InvalidParameterError(
                f"The 'callbacks' parameter of {self.name} must be scikit-learn callbacks, such as "
                f"[sklearn.callback.ProgressBar()]. Got {callbacks!r} instead."
            ) from error
        return self

    @with_callbacks
    def run(self, work: Callable[["Job"], T]) -> T:
        """What the work returns; it is given this job, to open its stages."""
        self.seconds: dict[str, float] = {}
        self._steps = Steps(self, self.name, self.n_stages)
        done = work(self)
        self._steps.end()
        return done

    @contextmanager
    def stage(self, name: str, sub_estimator: Any = None) -> Iterator[None]:
        """Time and tell what happens inside; callbacks see into ``sub_estimator``."""
        start = time.perf_counter()
        with self._steps.step(name, sub_estimator):
            yield
        self.seconds[name] = round(time.perf_counter() - start, 3)
