"""What consilience raises and warns, so that a caller can catch it by name.

Every error derives from `ConsilienceError` and from the built-in exception a caller
would expect, so ``except ValueError`` works as well.
"""

import sys
import warnings

__all__ = [
    "ClusterLostError",
    "ConsilienceError",
    "ConsilienceWarning",
    "InvalidInputError",
    "InvalidParameterError",
    "MemoryBudgetError",
    "MissingFileError",
    "MissingPackageError",
]

# Callers in these packages are no user's code.
_INSIDE = {"consilience", "sklearn", "joblib"}


class ConsilienceError(Exception):
    """Base of every error raised by consilience."""


class InvalidParameterError(ConsilienceError, ValueError, TypeError):
    """A parameter has a value or a type that is not allowed."""


class InvalidInputError(ConsilienceError, ValueError):
    """Data, labels or a file cannot be used as they are."""


class MissingFileError(ConsilienceError, FileNotFoundError):
    """A file or folder that was named is not there."""


class MissingPackageError(ConsilienceError, ImportError):
    """A feature needs an optional package that is not installed."""


class MemoryBudgetError(ConsilienceError, MemoryError):
    """A method needs more memory than its budget, and has no leaner exact path."""


class ClusterLostError(ConsilienceError, RuntimeError):
    """A Dask cluster went away, or could not do a task, while it was at work for us."""


class ConsilienceWarning(UserWarning):
    """The result is usable but not quite what was asked for."""


def warn(message: str) -> None:
    """Give a `ConsilienceWarning` at the line of the user's code that led here."""
    level = 1
    frame = sys._getframe(level)
    while frame.f_back and str(frame.f_globals.get("__name__")).partition(".")[0] in _INSIDE:
        frame = frame.f_back
        level += 1
    warnings.warn(message, ConsilienceWarning, stacklevel=level + 1)
