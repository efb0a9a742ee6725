"""Fuzzy c-means: k-means in which every object belongs to every cluster, to some far more."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from consilience._threads import one_thread
from consilience._units import check_range
from consilience._validation import Interval, RandomState, check_n_clusters, check_params
from consilience.rows import rows_of

__all__ = ["FuzzyCMeans"]

Floats = NDArray[np.float64]

# Objects whose distances are held at once; sums go over them in their order.
_BLOCK = 4096


class FuzzyCMeans(ClusterMixin, BaseEstimator):
    """Memberships of objects in clusters around centres, by fuzzy c-means.

    Parameters
    ----------
    n_clusters : int, default=8
        Clusters wanted.
    fuzziness : float, default=2
        Above 1. The nearer to 1, the nearer memberships are to 0 and 1, as in k-means; with many
        columns 2 tends to make all memberships alike, and 1.1 to 1.3 serve better.
    max_iter : int, default=150
        Rounds at most.
    tol : float, default=1e-4
        Ends where no membership changes by more.
    random_state : int, RandomState or None
        Draws the objects to start from.

    Attributes
    ----------
    memberships_ : ndarray of shape (n_objects, n_clusters)
        Rows sum to 1.
    labels_ : ndarray of shape (n_objects,), int32
        The most likely clusters.
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
    objective_ : float
        Sum of squared distances to the centres by memberships to the power ``fuzziness``.
    n_iter_ : int
    converged_ : bool

    Notes
    -----
    An object at several centres belongs to these in equal parts. Time O(n k d) a round, memory
    O(n k).

    References
    ----------
    Bezdek (1981), Pattern recognition with fuzzy objective function algorithms, Plenum, chapter 3.

    Examples
    --------
    >>> X = [[0.0], [1.0], [5.0], [9.0], [10.0]]
    >>> model = FuzzyCMeans(2, random_state=0).fit(X)
    >>> model.memberships_[2].round(3).tolist()
    [0.5, 0.5]
    >>> model.predict([[2.0]]).tolist() == [model.labels_[0]]
    True
    """

    _constraints: ClassVar[dict[str, Any]] = {
        "n_clusters": [Interval(Integral, 1)],
        "fuzziness": [Interval(Real, 1, open_low=True)],
        "max_iter": [Interval(Integral, 1)],
        "tol": [Interval(Real, 0)],
        "random_state": [RandomState()],
    }

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        fuzziness: float = 2.0,
        max_iter: int = 150,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.fuzziness = fuzziness
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find centres and memberships of ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        X = rows_of(
            X, owner=self, fitted=self, allow_sparse=False, kind="float64", min_objects=2
        ).values
        check_range(X, owner="FuzzyCMeans")
        check_n_clusters(self.n_clusters, len(X), owner="FuzzyCMeans")
        rng = check_random_state(self.random_state)
        centres = X[_apart(X, rng.permutation(len(X)), self.n_clusters)]
        with one_thread():
            self._iterate(X, centres)
        self.labels_ = self.memberships_.argmax(axis=1).astype(np.int32)
        return self

    def _iterate(self, X: Floats, centres: Floats) -> None:
        memberships, self.converged_ = _memberships(X, centres, self.fuzziness)[0], False
        for round_ in range(1, self.max_iter + 1):
            centres = _means(X, memberships**self.fuzziness, centres)
            fresh, objective = _memberships(X, centres, self.fuzziness)
            change = float(np.abs(fresh - memberships).max())
            memberships, self.n_iter_, self.objective_ = fresh, round_, objective
            if change <= self.tol:
                self.converged_ = True
                break
        self.memberships_, self.cluster_centers_ = memberships, centres

    def predict_proba(self, X: Any) -> Floats:
        """Memberships of objects in the clusters found."""
        check_is_fitted(self)
        X = rows_of(
            X, owner=self, fitted=self, reset=False, allow_sparse=False, kind="float64"
        ).values
        check_range(X, owner="FuzzyCMeans")
        with one_thread():
            return _memberships(X, self.cluster_centers_, self.fuzziness)[0]

    def predict(self, X: Any) -> NDArray[np.int32]:
        """The clusters that objects are most likely in."""
        return np.asarray(self.predict_proba(X).argmax(axis=1), np.int32)


def _apart(X: Floats, order: NDArray[np.integer[Any]], k: int) -> list[int]:
    """The first k objects of an order that differ; equal ones only where there are too few.

    Centres that start at one place move alike for ever.
    """
    first: list[int] = []
    equal: list[int] = []
    seen: set[bytes] = set()
    for place in order.tolist():
        row = (X[place] + 0.0).tobytes()  # which takes the sign off a zero
        (equal if row in seen else first).append(place)
        seen.add(row)
        if len(first) == k:
            break
    return (first + equal)[:k]


def _memberships(X: Floats, centres: Floats, fuzziness: float) -> tuple[Floats, float]:
    """Memberships by the distances to the centres, and the objective with them."""
    memberships, objective = np.empty((len(X), len(centres))), 0.0
    for start in range(0, len(X), _BLOCK):
        rows = X[start : start + _BLOCK]
        squares = np.stack([((rows - centre) ** 2).sum(axis=1) for centre in centres], axis=1)
        least = squares.min(axis=1, keepdims=True)
        # Relative to the nearest: no power leaves the range, and 0 / 0 is the nearest itself.
        ratio = np.divide(least, squares, out=np.ones_like(squares), where=squares > 0)
        shares = ratio ** (1.0 / (fuzziness - 1.0))
        shares /= shares.sum(axis=1, keepdims=True)
        memberships[start : start + _BLOCK] = shares
        objective += float((shares**fuzziness * squares).sum())
    return memberships, objective


def _means(X: Floats, weights: Floats, before: Floats) -> Floats:
    """Weighted means; a cluster without any weight stays where it was."""
    sums, mass = np.zeros_like(before), np.zeros(len(before))
    for start in range(0, len(X), _BLOCK):
        some = weights[start : start + _BLOCK]
        sums += some.T @ X[start : start + _BLOCK]
        mass += some.sum(axis=0)
    return np.where(mass[:, None] > 0, sums / np.where(mass > 0, mass, 1.0)[:, None], before)
