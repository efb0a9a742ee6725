"""Ground truth of minority data: which objects are foreground, checked once for all callers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import NO_NUMBERS, as_array
from consilience.errors import InvalidInputError, InvalidParameterError

__all__ = ["foreground_truth", "source_numbers"]


def source_numbers(y: Any, n_objects: int, *, owner: str, instead: str = "") -> NDArray[np.int64]:
    """Sources of the objects as whole numbers, 0 for the background, or an error that says why.

    Negative values are refused: -1 marks the background in a *result*, so a vector that holds
    it is more likely a result than a truth, and its cluster 0 would silently count as
    background. ``instead`` says what to do without a truth.
    """
    if y is None:
        raise InvalidParameterError(
            f"The 'y' parameter of {owner} must be the true source of every object (0 for the "
            f"background). Got None instead. {instead}".rstrip()
        )
    truth = as_array(y)
    if truth.shape != (n_objects,):
        raise InvalidInputError(
            f"{owner} needs one true source for each of the {n_objects} objects. "
            f"Got y of shape {truth.shape} instead."
        )
    if truth.dtype == bool:
        return truth.astype(np.int64)
    try:
        if truth.dtype.kind == "c":
            raise TypeError
        numbers = truth.astype(np.float64)
    except NO_NUMBERS:
        numbers = np.full(1, np.nan)
    # NaN fails every comparison; past 2**53 numbers are no longer told apart.
    if not ((numbers >= 0) & (numbers < 2**53)).all() or (numbers % 1 != 0).any():
        raise InvalidInputError(
            f"The true sources given to {owner} must be True/False or whole numbers: 0 for the "
            "background, 1, 2, ... for the foreground sources. Labels of a result, with -1 for "
            "the background, become a truth by adding 1."
        )
    return numbers.astype(np.int64)


def foreground_truth(y: Any, n_objects: int, *, owner: str, instead: str = "") -> NDArray[np.bool_]:
    """True for every object of a foreground source (``y > 0``)."""
    return np.asarray(source_numbers(y, n_objects, owner=owner, instead=instead) > 0)
