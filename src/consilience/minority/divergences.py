"""Divergences by name: squared distances, kernels, and the Bregman divergences of data kinds.

A divergence has ``fit(X)``, which returns a fitted copy, ``pair(X, S)``, the matrix of
divergences of objects from seeds, and ``mean(X, weights)``, the best centroid.

>>> resolve("euclidean").pair([[0.0, 0.0], [3.0, 4.0]], [[0.0, 0.0]])
array([[ 0.],
       [25.]])
"""

import dataclasses
from typing import Any

from consilience.errors import InvalidParameterError
from consilience.minority._bregman import Cosine, ItakuraSaito, KullbackLeibler, Logistic
from consilience.minority._divergence import Divergence, Euclidean, Gaussian, Mahalanobis
from consilience.minority._kernels import Kernel, Precomputed

__all__ = [
    "DIVERGENCES",
    "Cosine",
    "Divergence",
    "Euclidean",
    "Gaussian",
    "ItakuraSaito",
    "Kernel",
    "KullbackLeibler",
    "Logistic",
    "Mahalanobis",
    "Precomputed",
    "resolve",
]

DIVERGENCES: dict[str, type[Divergence]] = {
    found.name: found
    for found in (
        Euclidean,
        Mahalanobis,
        Gaussian,
        KullbackLeibler,
        ItakuraSaito,
        Logistic,
        Cosine,
        Precomputed,
    )
}


def resolve(divergence: Any, **params: Any) -> Divergence:
    """The divergence of that name, with its parameters.

    Parameters
    ----------
    divergence : str, Divergence or callable
        One of ``DIVERGENCES``, an object (returned as it is), or a Mercer kernel: a callable
        that takes two sequences of objects and returns the matrix of their kernel values.
    **params
        Parameters of a divergence given by name: ``alpha`` and ``gamma`` of "gaussian",
        ``smoothing`` of "kl", "itakura-saito" and "logistic", ``covariance`` of "mahalanobis",
        ``kind`` of "precomputed".

    Returns
    -------
    Divergence

    Examples
    --------
    Any objects will do where there is a kernel. Here strings, by the letters they share:

    >>> def letters(a, b):
    ...     return [[len(set(s) & set(t)) for t in b] for s in a]
    >>> resolve(letters).pair(["tar", "rat", "moon"], ["art", "room"])
    array([[0., 4.],
           [0., 4.],
           [6., 2.]])
    >>> resolve("gaussian", alpha=1.0, gamma=0.5).pair([[0.0]], [[0.0], [2.0]]).round(3)
    array([[0.   , 1.729]])
    """
    if isinstance(divergence, str) and divergence in DIVERGENCES:
        return _named(DIVERGENCES[divergence], params)
    if isinstance(divergence, Divergence) and not params:
        return divergence
    if callable(divergence) and not isinstance(divergence, type) and not params:
        return Kernel(divergence)
    if params and not isinstance(divergence, str):
        raise InvalidParameterError(
            f"Parameters go with the name of a divergence. Got {sorted(params)} and an object."
        )
    names = ", ".join(repr(name) for name in DIVERGENCES)
    raise InvalidParameterError(
        f"The 'divergence' parameter must be one of {names}, a Divergence object or a kernel "
        f"callable. Got {divergence!r} instead."
    )


def _named(kind: type[Divergence], params: dict[str, Any]) -> Divergence:
    """A divergence by name; what it learns from data is not a parameter."""
    fields = {f.name for f in dataclasses.fields(kind) if f.repr}
    unknown = sorted(set(params) - fields)
    if unknown:
        known = f"only {sorted(fields)}" if fields else "none"
        raise InvalidParameterError(
            f"The divergence {kind.name!r} has no parameter {unknown[0]!r}; it has {known}."
        )
    return kind(**params)
