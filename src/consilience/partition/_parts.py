"""What every partitioner returns, and the checks they share."""

from dataclasses import dataclass
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray

from consilience._validation import Interval, as_array, check_value
from consilience.errors import InvalidInputError, InvalidParameterError

__all__ = ["Parts", "check_n_parts", "checked_sizes", "one_part"]


@dataclass(frozen=True)
class Parts:
    """Vertices or rows in parts, and how they got there.

    Attributes
    ----------
    labels : ndarray of shape (n,), int32
        The part of each vertex, 0..k-1. Every part has at least one.
    cut : float
        What was minimised, in the units of the input: the weight of edges between parts,
        the connectivity of cut hyperedges, or (``solver="spectral"``) the normalised cut.
    solver : str
        "metis", "balanced", "spectral" or "mtkahypar": the choice that was made.
    sizes : ndarray of shape (k,), int64
        Vertices in each part.
    note : str
        What the caller should know: a fallback, a repair, a lost balance; may be empty.
    """

    labels: NDArray[np.int32]
    cut: float
    solver: str
    sizes: NDArray[np.int64]
    note: str = ""


def check_n_parts(k: int, n: int, *, owner: str, what: str = "vertices") -> None:
    """Raise unless 1 <= k <= n: partitioners do not complain, they return rubbish."""
    check_value("k", k, [Interval(Integral, 1)], owner=owner)
    if k > n:
        raise InvalidParameterError(
            f"The 'k' parameter of {owner} must be at most the number of {what}, {n}. "
            f"Got {k} instead."
        )


def checked_sizes(sizes: ArrayLike | None, k: int, n: int) -> NDArray[np.int64]:
    """Sizes of k parts of n objects, as equal as can be unless they are given."""
    if sizes is None:
        return np.full(k, n // k, np.int64) + (np.arange(k) < n % k)
    wanted = as_array(sizes)
    kind = wanted.dtype.kind
    whole = kind in "iu" or (kind == "f" and bool((wanted == np.rint(wanted)).all()))
    if wanted.shape != (k,) or not whole or wanted.min() < 1 or wanted.sum() != n:
        raise InvalidInputError(
            f"sizes must be {k} whole numbers of at least 1 that add up to {n} objects. "
            f"Got {sizes!r}."
        )
    return wanted.astype(np.int64)


def one_part(n: int, solver: str) -> Parts:
    """Everything in one part, without any work."""
    return Parts(np.zeros(n, np.int32), 0.0, solver, np.array([n], np.int64))
