"""The graph of objects and representatives that U-SPEC cuts, in memory and by blocks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from consilience._threads import one_thread
from consilience.engines import Blocks, engine_for
from consilience.kernels._blocks import tree_sum
from consilience.kernels.data.representatives import nearest_representatives
from consilience.kernels.data.tall import csr_gram
from consilience.partition import leading_eigenvectors, unit_rows
from consilience.rows import Stored, piece_rows

__all__ = ["Graph", "Links", "StoredGraph", "eigenvectors"]

Floats = NDArray[np.float64]
# Representatives near each object, and their squared distances.
Nearest = tuple[NDArray[np.int32], Floats]

# Candidates for each neighbour wanted.
_CANDIDATES = 10


class Links:
    """The nearest representatives of any objects, and how strong links to them are."""

    def __init__(
        self, points: Floats, heads: NDArray[np.int64], centres: Floats, n_neighbors: int
    ) -> None:
        self.points, self.heads, self.centres = points, heads, centres
        p = len(points)
        self.n_nearest = min(n_neighbors, p)
        # A representative is its own nearest candidate.
        n_near = min(_CANDIDATES * self.n_nearest + 1, p)
        gaps = cdist(points, points, "sqeuclidean")
        np.fill_diagonal(gaps, -1.0)
        self.near = np.argsort(gaps, axis=1, kind="stable")[:, :n_near].astype(np.int32)

    def nearest(self, X: Floats) -> Nearest:
        """The nearest representatives of each object, and their squared distances."""
        how = (self.centres, self.heads, self.points, self.near, self.n_nearest)
        return nearest_representatives(X, *how)

    def strengths(self, nearest: Nearest, sigma: float) -> sparse.csr_array:
        """Gaussian links of objects to representatives."""
        which, squares = nearest
        # Objects that are their own representatives all: every link is as strong.
        values = np.exp(-squares / (2 * sigma**2)) if sigma > 0 else np.ones_like(squares)
        # A link so weak that it vanishes is still a link.
        np.maximum(values, np.finfo(float).eps, out=values)
        n, K = which.shape
        starts = np.arange(0, n * K + 1, K)
        return sparse.csr_array(
            (values.ravel(), which.ravel(), starts), shape=(n, len(self.points))
        )


def _distances(nearest: Nearest) -> float:
    """Sum of the distances of objects to their representatives."""
    return float(np.sqrt(nearest[1]).sum())


def _shared_objects(links: sparse.csr_array) -> sparse.csr_array:
    """What pairs of representatives have in common: products of links, over an object's sum."""
    W = np.zeros((links.shape[1], links.shape[1]))
    csr_gram(links.indptr, links.indices, links.data, 1.0 / _degrees(links), W)
    return sparse.csr_array(W)  # of a million pairs few are near each other


def _degrees(links: sparse.csr_array) -> Floats:
    return np.asarray(links.sum(axis=1)).ravel()


def eigenvectors(W: Floats, k: int, rng: np.random.RandomState) -> Floats:
    """The transfer cut's k eigenvectors, for the representatives.

    Li, Wu & Chang (2012), Segmentation using superpixels, CVPR, section 3.
    """
    scale = 1.0 / np.sqrt(W.sum(axis=1))
    N = W * scale[:, None] * scale
    _, V = leading_eigenvectors((N + N.T) / 2.0, k, rng)
    return V * scale[:, None]


def _embedding(links: sparse.csr_array, V: Floats) -> Floats:
    """Objects as rows of unit length in the space of the eigenvectors."""
    return unit_rows(np.asarray(links @ V) / _degrees(links)[:, None])


class Graph:
    """Links of objects in memory; sums go by pieces and their tree, as those of tables do."""

    def __init__(self, X: Floats, links: Links) -> None:
        step = piece_rows(X.shape[1])
        self._pieces = [slice(start, start + step) for start in range(0, len(X), step)]
        which, squares = links.nearest(X)
        parts = ((which[some], squares[some]) for some in self._pieces)
        self.sigma = tree_sum(map(_distances, parts)) / squares.size
        self._links = links.strengths((which, squares), self.sigma)

    def between_representatives(self) -> tuple[Floats, NDArray[np.intp]]:
        """What representatives that have objects share, and which these are."""
        return _of_used(tree_sum(_shared_objects(self._links[some]) for some in self._pieces))

    def embedded(self, V: Floats, used: NDArray[np.intp]) -> Any:
        """The objects in the space of the eigenvectors of the representatives used."""
        return _embedding(self._links, _of_all(V, used, self._links.shape[1]))


class StoredGraph:
    """The same of a table that is not in memory: links are made anew in every pass over it."""

    def __init__(self, X: Stored, links: Links) -> None:
        self._X, self._links, self._engine = X, links, engine_for(X)
        assert isinstance(self._engine, Blocks)
        total = tree_sum(self._engine.each(_distances_of_piece, links))
        self.sigma = total / (len(X) * links.n_nearest)

    def between_representatives(self) -> tuple[Floats, NDArray[np.intp]]:
        """See `Graph.between_representatives`."""
        assert isinstance(self._engine, Blocks)
        parts = self._engine.each(_shared_objects_of_piece, self._links, self.sigma)
        return _of_used(tree_sum(parts))

    def embedded(self, V: Floats, used: NDArray[np.intp]) -> Stored:
        """See `Graph.embedded`; rows are embedded when they are read."""
        whole = _of_all(V, used, len(self._links.points))
        return self._X.mapped(_Embedded(self._links, self.sigma, whole), whole.shape[1])


class _Embedded:
    """Rows of a table as rows of its spectral embedding."""

    def __init__(self, links: Links, sigma: float, V: Floats) -> None:
        self.links, self.sigma, self.V = links, sigma, V

    def __call__(self, X: NDArray[Any]) -> Floats:
        with one_thread():
            return _embedding(self.links.strengths(self.links.nearest(X), self.sigma), self.V)


def _distances_of_piece(X: Floats, start: int, links: Links) -> float:
    return _distances(links.nearest(X))


def _shared_objects_of_piece(X: Floats, start: int, links: Links, sigma: float) -> sparse.csr_array:
    return _shared_objects(links.strengths(links.nearest(X), sigma))


def _of_used(W: sparse.csr_array) -> tuple[Floats, NDArray[np.intp]]:
    """A matrix of those representatives that an object is linked to, and which these are."""
    used = np.flatnonzero(W.diagonal() > 0)
    return np.asarray(W.toarray()[np.ix_(used, used)]), used


def _of_all(V: Floats, used: NDArray[np.intp], n_points: int) -> Floats:
    """Rows of the representatives used among those of all, which are 0."""
    whole = np.zeros((n_points, V.shape[1]))
    whole[used] = V
    return whole
