"""What must hold however a case ends."""

import json
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from consilience.errors import ConsilienceError

__all__ = ["Broken", "check_confidence", "check_labels", "foreign", "no_bad_warnings", "strict"]

# numpy's words for arithmetic that went wrong; a command keeps warnings as notes.
_ARITHMETIC = ("encountered in", "Mean of empty slice", "Degrees of freedom", "divide by zero")


class Broken(Exception):
    """Something that must hold for every case did not."""


@contextmanager
def no_bad_warnings() -> Iterator[None]:
    """Warnings for users pass; arithmetic that went wrong and code that is out of date do not."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        bad = RuntimeWarning | DeprecationWarning | FutureWarning | SyntaxWarning | BytesWarning
        if issubclass(warning.category, bad) or arithmetic(str(warning.message)):
            place = f"{Path(warning.filename).name}:{warning.lineno}"
            raise Broken(f"{warning.category.__name__} at {place}: {warning.message}")


def arithmetic(text: str) -> bool:
    """Whether a warning's text is numpy's, about arithmetic that went wrong."""
    return any(words in text for words in _ARITHMETIC)


def foreign(error: BaseException) -> str:
    """Why an exception is no refusal of ours; "" if it is one.

    scikit-learn's own refusals of X are taken over word for word, as its estimator checks
    want them; they pass if scikit-learn's validation raised them.
    """
    if isinstance(error, ConsilienceError):
        return "" if str(error).strip() else "a refusal without a message"
    frames = traceback.extract_tb(error.__traceback__)
    where = Path(frames[-1].filename)
    # Its module of checks, or what that asks numpy or SciPy to convert.
    checks = any(
        Path(f.filename).parts[-3:] == ("sklearn", "utils", "validation.py") for f in frames
    )
    if isinstance(error, ValueError | TypeError) and checks:
        return ""
    ours = [f for f in frames if "consilience" in Path(f.filename).parts] or frames
    at = f"{Path(ours[-1].filename).name}:{ours[-1].lineno}"
    return f"{type(error).__name__} at {at} (from {where.name}): {str(error)[:300]}"


def check_labels(labels: Any, n_objects: int, n_clusters: int | None, what: str) -> None:
    """Labels are int32, one for every object, -1 or 0..k-1."""
    if not isinstance(labels, np.ndarray) or labels.dtype != np.int32:
        raise Broken(f"{what} are {getattr(labels, 'dtype', type(labels))}, not int32")
    if labels.shape != (n_objects,):
        raise Broken(f"{what} have shape {labels.shape} for {n_objects} objects")
    top = int(labels.max(initial=-1))
    if labels.min(initial=0) < -1 or (n_clusters is not None and top >= n_clusters):
        raise Broken(f"{what} run from {labels.min()} to {top} for {n_clusters} clusters")


def check_confidence(confidence: Any, n_objects: int, what: str) -> None:
    """One finite number in [0, 1] for every object."""
    values = np.asarray(confidence)
    if values.shape != (n_objects,):
        raise Broken(f"{what} has shape {values.shape} for {n_objects} objects")
    if not (np.isfinite(values) & (values >= 0) & (values <= 1)).all():
        raise Broken(f"{what} runs from {values.min()} to {values.max()}")


def strict(text: str, what: str, check: Callable[[Any], None] | None = None) -> Any:
    """The JSON document in a text; NaN and Infinity are none."""

    def refuse(name: str) -> None:
        raise Broken(f"{what} holds {name}")

    try:
        found = json.loads(text, parse_constant=refuse)
    except ValueError as error:
        raise Broken(f"{what} is no JSON: {error}") from error
    return found
