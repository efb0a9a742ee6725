"""Warnings on the way become notes of the result: a job says all it has to say in one place."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["noting"]


@contextmanager
def noting() -> Iterator[list[str]]:
    """Collect the text of warnings meant for users, each once, instead of showing them."""
    notes: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        for kind in (UserWarning, RuntimeWarning):
            warnings.simplefilter("always", kind)
        yield notes
    notes += dict.fromkeys(" ".join(str(warning.message).split()) for warning in caught)
