"""One seed for the whole job, drawn before work starts, so that the result can name it."""

from numbers import Integral
from typing import Any

from sklearn.utils import check_random_state

from consilience.generate import RunFolder

__all__ = ["job_seed"]


def job_seed(random_state: Any, run: RunFolder | None = None) -> int:
    """The number that everything of a job is drawn from.

    Parameters
    ----------
    random_state : int, RandomState or None
        None goes on with the seed of the run that the folder holds, or else draws one.
    run : RunFolder, optional
    """
    if isinstance(random_state, Integral):
        return int(random_state)
    plan = None if random_state is not None or run is None else run.plan
    kept = "" if plan is None else str(plan["parameters"].get("random_state", ""))
    if kept.isdecimal():
        return int(kept)
    return int(check_random_state(random_state).randint(2**31 - 1))
