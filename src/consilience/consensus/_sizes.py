"""Sizes that a balanced method is asked to give its clusters: relative, one a cluster."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.errors import InvalidParameterError

__all__ = ["check_lengths", "check_sizes", "whole_sizes"]


def check_lengths(sizes: Any, n_clusters: int, *, owner: str) -> None:
    """Raise unless there is one size a cluster, or none at all."""
    if sizes is not None and len(sizes) != n_clusters:
        raise InvalidParameterError(
            f"The 'sizes' parameter of {owner} must hold one size for each of n_clusters="
            f"{n_clusters} clusters. Got {len(sizes)} instead."
        )


def check_sizes(sizes: Any, n_clusters: int, solver: str, *, owner: str) -> None:
    """Raise unless there is one size a cluster, and a solver that keeps sizes."""
    check_lengths(sizes, n_clusters, owner=owner)
    if sizes is not None and solver == "spectral":
        raise InvalidParameterError(
            f"The 'sizes' parameter of {owner} needs solver='metis' or 'balanced'. "
            "Got solver='spectral'."
        )


def whole_sizes(sizes: Sequence[float], n: int) -> NDArray[np.int64]:
    """Sizes as whole numbers of at least 1 that add up to n; largest remainders go up.

    >>> whole_sizes([1, 1, 2], 10).tolist()
    [3, 2, 5]
    """
    exact = np.asarray(sizes, np.float64) / np.sum(sizes) * n
    whole = np.floor(exact).astype(np.int64)
    whole[np.argsort(whole - exact, kind="stable")[: n - whole.sum()]] += 1
    while whole.min() < 1:
        whole[whole.argmin()] += 1
        whole[whole.argmax()] -= 1
    return whole
