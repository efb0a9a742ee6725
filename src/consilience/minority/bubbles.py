"""Bregman bubbles: one dense ball (BBOCC), or several of one joint size (BBC, BBC-Press)."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from consilience._validation import Interval, NoneValue, Options, RandomState, check_params
from consilience.errors import InvalidParameterError
from consilience.minority._bubbles import (
    BubbleRival,
    Bubbles,
    best_centre,
    found_bubbles,
    nothing_stands_out,
    objects_inside,
    press,
    pressed_sizes,
    settle,
    start_centres,
)
from consilience.minority._rivals import (
    SIZE_RULE,
    Space,
    checked_array,
    checked_values,
    count_foreground,
    no_contrast,
)

__all__ = ["BBOCC", "BBCPress", "Bubbles", "bbc", "bbcpress", "bbocc", "hocc"]

_RULES: dict[str, list[Any]] = {
    "n_foreground": SIZE_RULE,
    "n_clusters": [Interval(Integral, 1), NoneValue()],
    "start": [Options(("random", "hocc"))],
    "criterion": [Options(("cost", "radius"))],
    "pressure": [Interval(Real, 0.001, 0.999)],
    "n_init": [Interval(Integral, 1)],
    "max_iter": [Interval(Integral, 1)],
    "random_state": [RandomState()],
}
# Bubbles that BBCPress starts with unless it is told, as in the paper's comparison.
_BUBBLES = 7


def bbocc(
    X: Any,
    n_foreground: float,
    *,
    divergence: Any = "mahalanobis",
    start: str = "random",
    criterion: str = "cost",
    max_iter: int = 100,
    random_state: Any = None,
) -> Bubbles:
    """One bubble of a given number of objects, moved to where they lie densest around it.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        CSR where the divergence takes it.
    n_foreground : int or float
        Objects wanted inside: a count, or a share of all above 0 and at most 1. The method
        must be told; it cannot find it out.
    divergence : str, Divergence or callable, default="mahalanobis"
        See `consilience.minority.divergences`.
    start : {"random", "hocc"}, default="random"
        An object drawn at random, as published; or the best of all objects, which makes the
        method deterministic (Hyper-BB) and takes O(n ** 2) time.
    criterion : {"cost", "radius"}, default="cost"
        What `hocc` minimises; only used if it is the start.
    max_iter : int, default=100
        Steps at most.
    random_state : int, RandomState or None
        Draws the start.

    Returns
    -------
    Bubbles
        With one centre. All objects if ``n_foreground`` is at least their number; more than
        ``n_foreground`` where objects tie at the radius.

    Notes
    -----
    The cost, the sum of the divergences inside, never rises for a Bregman divergence: of objects
    that tie at the radius the centre is the mean of the first only, as many as were wanted. For
    the Gaussian kernel the centre is the mean in the input space, which is not the best one:
    there the steps may go round in circles until ``max_iter``.

    References
    ----------
    Gupta & Ghosh (2005), Robust one-class clustering using hybrid global and local search,
    ICML: BBOCC, HOCC and Hyper-BB.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0], [5.2], [5.4], [9.0]])
    >>> bbocc(X, 3, divergence="euclidean", start="hocc").labels
    array([-1, -1,  0,  0,  0, -1], dtype=int32)
    """
    values = {"n_foreground": n_foreground, "start": start, "criterion": criterion,
              "max_iter": max_iter, "random_state": random_state}  # fmt: skip
    checked_values(_RULES, values, owner="BBOCC")
    X = checked_array(X, sparse=True, owner="BBOCC")
    if flag := no_contrast(X):
        return nothing_stands_out(X, flag)
    space = Space(X, divergence)
    size = count_foreground(n_foreground, space.n_objects)
    if start == "hocc":
        first = best_centre(space, size, criterion)
    else:
        first = int(check_random_state(random_state).randint(space.n_objects))
    return settle(space, size, space.seeds(np.array([first])), max_iter)


def hocc(
    X: Any,
    n_foreground: float,
    *,
    divergence: Any = "mahalanobis",
    criterion: str = "cost",
) -> Bubbles:
    """The bubble around the one object whose nearest ``n_foreground`` objects lie densest.

    Parameters
    ----------
    X, n_foreground, divergence
        As in `bbocc`.
    criterion : {"cost", "radius"}, default="cost"
        Least sum of divergences inside, or least radius.

    Returns
    -------
    Bubbles
        Deterministic; the first object on ties. O(n ** 2) time, a block of rows of memory.

    References
    ----------
    Gupta & Ghosh (2005), Robust one-class clustering using hybrid global and local search.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0], [5.2], [5.4], [9.0]])
    >>> hocc(X, 2, divergence="euclidean").centres
    array([[5.]])
    """
    checked_values(_RULES, {"n_foreground": n_foreground, "criterion": criterion}, owner="hocc")
    X = checked_array(X, sparse=True, owner="hocc")
    if flag := no_contrast(X):
        return nothing_stands_out(X, flag)
    space = Space(X, divergence)
    size = count_foreground(n_foreground, space.n_objects)
    centres = space.seeds(np.array([best_centre(space, size, criterion)]))
    inside = objects_inside(space, size, centres)
    return found_bubbles(space, centres, inside, (inside.cost,), 0, True)


def bbc(
    X: Any,
    n_foreground: float,
    start: Any,
    *,
    divergence: Any = "mahalanobis",
    max_iter: int = 100,
) -> Bubbles:
    """Bubbles of one joint size, moved from given places to where objects lie densest.

    Parameters
    ----------
    X, n_foreground, divergence, max_iter
        As in `bbocc`; ``n_foreground`` counts the objects in all bubbles together.
    start : array of shape (n_objects,) or (n_clusters, n_features)
        Labels, negative for objects in no cluster, or centres.

    Returns
    -------
    Bubbles
        A bubble that no object is inside any more is gone for good, so there may be fewer
        than at the start.

    Notes
    -----
    O(n k d) time a step, O(n k) memory.

    References
    ----------
    Gupta & Ghosh (2006), Bregman bubble clustering: a robust, scalable framework for locating
    multiple, dense regions in data, IEEE ICDM.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [3.0], [5.0], [5.2], [5.4], [9.0]])
    >>> bbc(X, 5, np.array([[0.0], [4.0]]), divergence="euclidean").labels
    array([ 0,  0, -1,  1,  1,  1, -1], dtype=int32)
    """
    values = {"n_foreground": n_foreground, "max_iter": max_iter}
    checked_values(_RULES, values, owner="bbc")
    X = checked_array(X, sparse=True, owner="bbc")
    if flag := no_contrast(X):
        return nothing_stands_out(X, flag)
    space = Space(X, divergence)
    size = count_foreground(n_foreground, space.n_objects)
    return settle(space, size, start_centres(space, start), max_iter)


def bbcpress(
    X: Any,
    n_clusters: int | None,
    n_foreground: float,
    *,
    divergence: Any = "mahalanobis",
    pressure: float = 0.75,
    n_init: int = 1,
    max_iter: int = 100,
    random_state: Any = None,
) -> Bubbles:
    """Bubbles that start with all objects and are pressed to the size wanted, step by step.

    Parameters
    ----------
    X, n_foreground, divergence, max_iter
        As in `bbc`; ``max_iter`` counts the steps at each size.
    n_clusters : int or None
        Bubbles to start with, at most ``n_foreground`` objects; None is 7, or as many as that.
    pressure : float, default=0.75
        What is left, from size to size, of the objects still too many.
    n_init : int, default=1
        Runs from different objects; the one of least cost is kept. One, as published.
    random_state : int, RandomState or None
        Draws the objects to start from.

    Returns
    -------
    Bubbles

    Notes
    -----
    About log(n) / log(1 / pressure) sizes, each started from the centres of the one before.

    References
    ----------
    Gupta & Ghosh (2006), Bregman bubble clustering, IEEE ICDM, section on pressurisation.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [3.0], [5.0], [5.2], [5.4], [9.0]])
    >>> result = bbcpress(X, 2, 5, divergence="euclidean", random_state=2)
    >>> result.labels < 0
    array([False, False,  True, False, False, False,  True])
    """
    values = {"n_clusters": n_clusters, "n_foreground": n_foreground, "pressure": pressure,
              "n_init": n_init, "max_iter": max_iter, "random_state": random_state}  # fmt: skip
    checked_values(_RULES, values, owner="BBCPress")
    X = checked_array(X, sparse=True, owner="BBCPress")
    if flag := no_contrast(X):
        return nothing_stands_out(X, flag)
    n = X.shape[0]
    size = count_foreground(n_foreground, n)
    n_clusters = min(_BUBBLES, size) if n_clusters is None else n_clusters
    if n_clusters > size:
        raise InvalidParameterError(
            f"The 'n_clusters' parameter of BBCPress must be at most the number of foreground "
            f"objects, {size} of n_samples={n}. Got {n_clusters} instead."
        )
    space = Space(X, divergence)
    rng = check_random_state(random_state)
    sizes = pressed_sizes(n, size, pressure)
    runs = (
        press(space, sizes, space.seeds(rng.permutation(n)[:n_clusters]), max_iter)
        for _ in range(n_init)
    )
    return min(runs, key=lambda run: run.costs[-1])


class BBOCC(BubbleRival):
    """One bubble of a given number of objects; see `bbocc` for the method.

    Parameters
    ----------
    n_foreground : int or float, default=0.1
        Objects wanted inside: a count, or a share of all. The method must be told: the default
        only stands in for what you know of your data.
    divergence, start, criterion, max_iter, random_state
        As in `bbocc`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        0 inside, -1 background.
    scores_, threshold_, cluster_centers_, n_iter_, converged_, divergence_, flag_
        As in `BBCPress`, with one centre.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [5.0], [5.2], [5.4], [9.0]])
    >>> model = BBOCC(3, divergence="euclidean", start="hocc").fit(X)
    >>> model.predict([[5.1], [7.0]])
    array([ 0, -1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        name: _RULES[name]
        for name in ("n_foreground", "start", "criterion", "max_iter", "random_state")
    }

    def __init__(
        self,
        n_foreground: float = 0.1,
        *,
        divergence: Any = "mahalanobis",
        start: str = "random",
        criterion: str = "cost",
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_foreground = n_foreground
        self.divergence = divergence
        self.start = start
        self.criterion = criterion
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the bubble of ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = self._checked(X, reset=True)
        return self._store(bbocc(X, **self.get_params(deep=False)))


class BBCPress(ClusterMixin, BubbleRival):
    """Several bubbles of one joint size, reached under pressure; see `bbcpress`.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Bubbles to start with; None is 7, or the number of foreground objects if that is less.
    n_foreground : int or float, default=0.1
        Objects wanted in all bubbles together: a count, or a share of all. The method must be
        told: the default only stands in for what you know of your data.
    divergence, pressure, n_init, max_iter, random_state
        As in `bbcpress`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        The nearest bubble, 0, 1, ..., or -1 for the background.
    scores_ : ndarray of shape (n_objects,), float64
        Minus the divergence from the nearest centre.
    threshold_ : float
        Objects with at least this score are foreground.
    cluster_centers_ : ndarray of shape ``(n_clusters_, n_features)``
    n_clusters_ : int
        Bubbles that hold an object.
    n_iter_ : int
    converged_ : bool
    divergence_ : Divergence
        As fitted.
    flag_ : str or None
        "degenerate" for one object, "no_contrast" for equal objects: all are background.

    Examples
    --------
    >>> X = np.array([[0.0], [0.2], [3.0], [5.0], [5.2], [5.4], [9.0]])
    >>> model = BBCPress(2, 5, divergence="euclidean", random_state=2).fit(X)
    >>> model.predict([[0.1], [5.1], [7.0]]) < 0
    array([False, False,  True])
    """

    _constraints: ClassVar[dict[str, Any]] = {
        name: rule for name, rule in _RULES.items() if name not in ("start", "criterion")
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        n_foreground: float = 0.1,
        *,
        divergence: Any = "mahalanobis",
        pressure: float = 0.75,
        n_init: int = 1,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_foreground = n_foreground
        self.divergence = divergence
        self.pressure = pressure
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the bubbles of ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = self._checked(X, reset=True)
        return self._store(bbcpress(X, **self.get_params(deep=False)))
