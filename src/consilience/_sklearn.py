"""The border to scikit-learn: what of it may move between releases is named here only.

Tried with scikit-learn 1.9.1. ``_init_callback_context`` and ``subcontext`` are the
documented way for estimators of other packages to report progress to its callbacks.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn import utils
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils import validation

from consilience.errors import InvalidInputError

__all__ = ["CallbackSupportMixin", "Steps", "check_array", "validate_data", "with_callbacks"]


def check_array(X: Any, **options: Any) -> Any:
    """scikit-learn's; without its warnings about sums of numbers near the largest there are."""
    with _in_our_words(), np.errstate(over="ignore", invalid="ignore"):
        return utils.check_array(X, **options)


def validate_data(estimator: Any, X: Any, **options: Any) -> Any:
    """scikit-learn's; see `check_array`."""
    with _in_our_words(), np.errstate(over="ignore", invalid="ignore"):
        return validation.validate_data(estimator, X, **options)


# What to do about values that are no finite numbers; scikit-learn advises on other estimators.
_REMEDIES = {
    "NaN": (
        "Fill in what is missing (sklearn.impute.SimpleImputer), or leave out those objects. "
        "consilience.cluster takes tables with gaps: gaps='keep'."
    ),
    "infinity": "Put numbers in their place, or leave out those objects.",
}


@contextmanager
def _in_our_words() -> Iterator[None]:
    """Say what to do about what is refused; refuse what scikit-learn does not look at.

    What is wrong stays its first line, the remedy is the second.
    """
    try:
        yield
    except ValueError as error:
        what = str(error).partition("\n")[0]
        for sign, remedy in _REMEDIES.items():
            if f"contains {sign}" in what:
                raise InvalidInputError(f"{what}\n{remedy}") from error
        raise
    except OverflowError as error:
        raise InvalidInputError(
            f"X contains whole numbers too large for floating-point numbers ({error}). Express "
            "the columns in another unit."
        ) from error


class Steps:
    """Progress of one estimator, told to its callbacks one finished step at a time.

    Create it once at the start of a method decorated with `with_callbacks`.
    """

    def __init__(self, estimator: Any, task: str, n_steps: int) -> None:
        self._estimator = estimator
        self._context = estimator._init_callback_context(task_name=task, max_subtasks=n_steps)
        self._context.call_on_fit_task_begin(estimator=estimator)

    @contextmanager
    def step(self, name: str, sub_estimator: Any = None) -> Iterator[None]:
        """One step; progress inside ``sub_estimator`` is shown below it."""
        context = self._context.subcontext(task_name=name)
        context.call_on_fit_task_begin(estimator=self._estimator)
        if sub_estimator is not None and hasattr(sub_estimator, "set_callbacks"):
            with context.propagate_callback_context(sub_estimator):
                yield
        else:
            yield
        context.call_on_fit_task_end(estimator=self._estimator)

    def done(self, name: str | Callable[[], str]) -> bool:
        """Report one step that is already finished; True if a callback asks to stop.

        A name that takes time is given as a function, called where somebody listens.
        """
        if not isinstance(name, str):
            name = name() if getattr(self._estimator, "_skl_callbacks", ()) else ""
        context = self._context.subcontext(task_name=name)
        context.call_on_fit_task_begin(estimator=self._estimator)
        return bool(context.call_on_fit_task_end(estimator=self._estimator))

    def end(self) -> None:
        """Report the end of the whole task."""
        self._context.call_on_fit_task_end(estimator=self._estimator)
