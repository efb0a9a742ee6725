"""Weak clusterers: random models of the data that grade every object's membership in k clusters.

Model number r is drawn from ``(seed, purpose, r)`` by a counter-based generator: any worker can
make it again, in any order, without the others.

>>> X = np.random.default_rng(0).normal(size=(100, 2))
>>> weak = weak_clusterer("soft", divergence="euclidean", k_max=5).fit(X)
>>> model = weak.model(X, weak.draw(seed=0, number=7))
>>> weak.grades(weak.objects(X), model).sum(axis=1).round(6).min().item()
1.0
"""

from dataclasses import dataclass, field, replace
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, Options, check_value
from consilience.errors import InvalidInputError
from consilience.kernels.minority.near import near_kernel
from consilience.kernels.minority.passes import Grading
from consilience.kernels.minority.weak import Scratch, gaussian_grades, nearest, softmax_grades
from consilience.minority._divergence import (
    Divergence,
    Euclidean,
    Floats,
    Gaussian,
    Terms,
    as_floats,
    row_sums,
)
from consilience.minority.divergences import resolve

__all__ = ["Draw", "RandomBregman", "RandomSplit", "WeakClusterer", "random", "weak_clusterer"]

# What a stream of random numbers is for; part of its key.
WEAK, SAMPLE = 1, 2
# Seeds whose distances differ by less than this many roundings are tied.
_ROUNDINGS = 8
# Columns up to which a block of objects is stored column by column.
_NARROW = 64


def random(seed: int, purpose: int, number: int) -> np.random.Generator:
    """The generator of one repetition of one purpose, independent of all others."""
    key = np.array([seed, (purpose << 48) + number], np.uint64)
    return np.random.Generator(np.random.Philox(key=key))


@dataclass(frozen=True)
class Draw:
    """What chance decided about one model.

    Attributes
    ----------
    n_clusters : int
    rows : ndarray of shape (n_clusters,) or None
        Objects that are the seeds.
    planes : ndarray of shape (n_clusters, n_features + 1) or None
        Directions, and in the last column offsets, of hyperplanes.
    """

    n_clusters: int
    rows: NDArray[np.int64] | None = None
    planes: NDArray[np.float64] | None = None


@dataclass(frozen=True)
class WeakClusterer:
    """Base of the weak clusterers; `fit` returns a copy that knows the data's shape.

    Attributes
    ----------
    k_max : int
        The number of clusters is uniform between 2 and this, or the number of objects.
    soft : bool
        Whether grades are shared among clusters, or 0 and 1.
    counts : array of shape (n_objects,) or None
        How often each object counts in the sizes of clusters and among the seeds, with mean 1.
    """

    k_max: int = 100
    soft: bool = False
    n_objects: int = field(default=0, repr=False)
    n_features: int = field(default=0, repr=False)
    counts: NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_value("k_max", self.k_max, [Interval(Integral, 2)], owner="EWOCS")

    def fit(self, X: Any) -> Self:
        """A copy fitted to the objects."""
        shape = X.shape if hasattr(X, "shape") else (len(X), 0)
        n_features = shape[1] if len(shape) > 1 else 0
        return replace(self, n_objects=int(shape[0]), n_features=int(n_features))

    def draw(self, seed: int, number: int) -> Draw:
        """What chance decides about model ``number``."""
        raise NotImplementedError

    def objects(self, X: Any) -> Terms:
        """Objects as the products want them."""
        raise NotImplementedError

    def model(self, X: Any, draw: Draw) -> Terms:
        """The model: the seeds' side of the products. ``X`` holds the objects drawn from."""
        raise NotImplementedError

    def products(self, objects: Terms, model: Terms, out: Floats | None = None) -> Floats:
        """The product of both sides, clusters by objects."""
        return Divergence().product(objects, model, out)

    def labels(self, objects: Terms, model: Terms) -> NDArray[np.int32]:
        """The cluster of greatest grade of each object, ties to the first."""
        products = self.products(objects, model)
        scale = np.abs(objects.offset) + np.abs(model.offset).max()
        slack = (_ROUNDINGS * np.finfo(products.dtype).eps * scale).astype(products.dtype)
        labels = np.empty(products.shape[1], np.int32)
        nearest(products, model.offset, slack, labels)
        return labels

    def weights(
        self, objects: Terms, model: Terms, scratch: Scratch, out: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Unscaled grades, clusters by objects, and one over their sums; soft only."""
        products = self.products(objects, model, out)
        inverse = np.empty(products.shape[1], products.dtype)
        softmax_grades(products, model.offset, inverse, scratch.parts())
        return products, inverse

    def grading(self, dtype: Any) -> Grading | None:
        """How compiled passes grade objects of that type; None if only `weights` can."""
        return None

    def grades(self, objects: Terms, model: Terms) -> Floats:
        """Grades of membership.

        Parameters
        ----------
        objects, model : Terms
            What `objects` and `model` returned.

        Returns
        -------
        ndarray of shape (n_objects, n_clusters)
            Rows sum to 1.
        """
        if self.soft:
            dtype = np.float32 if model.offset.dtype == np.float32 else np.float64
            products, inverse = self.weights(objects, model, Scratch(dtype))
            return (products * inverse).T
        labels = self.labels(objects, model)
        return np.eye(len(model.offset))[labels]

    @property
    def lightest(self) -> float:
        """Least that an object with any weight counts.

        One without weight, or a new one, is taken for as much where nothing else is near.
        """
        return 1.0 if self.counts is None else float(self.counts[self.counts > 0].min())

    def _n_clusters(self, rng: np.random.Generator) -> int:
        """Uniform between 2 and k_max; one object has one cluster."""
        counted = self.n_objects if self.counts is None else int((self.counts > 0).sum())
        most = min(self.k_max, counted)
        return int(rng.integers(2, most + 1)) if most >= 2 else 1


@dataclass(frozen=True)
class RandomSplit(WeakClusterer):
    """RSPLIT: an object belongs to the random hyperplane it is highest above.

    Offsets and directions are uniform on [-1, 1], so that the data should be in [-2, 2]:
    neither a change of origin nor of unit leaves it unchanged.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, Algorithm 3.
    """

    k_max: int = 50

    def draw(self, seed: int, number: int) -> Draw:
        """Draw the number of clusters, then their hyperplanes."""
        rng = random(seed, WEAK, number)
        k = self._n_clusters(rng)
        return Draw(k, planes=rng.uniform(-1.0, 1.0, (k, self.n_features + 1)))

    def grading(self, dtype: Any) -> Grading | None:
        """The highest hyperplane."""
        plain = type(self) is RandomSplit and self.counts is None
        return hard_grading(dtype) if plain else None

    def objects(self, X: Any) -> Terms:
        """The objects, and how large a product can be."""
        X = as_floats(X)
        return Terms(X, row_sums(abs(X)))

    def model(self, X: Any, draw: Draw) -> Terms:
        """Directions, and minus the offsets: the least distance is the greatest height."""
        assert draw.planes is not None
        dtype = as_floats(X[:0]).dtype
        planes = draw.planes.astype(dtype, copy=False)
        return Terms(np.ascontiguousarray(planes[:, :-1]), -planes[:, -1])


@dataclass(frozen=True)
class RandomBregman(WeakClusterer):
    """RBC: random objects are the seeds; an object belongs to the nearest, or to all in shares.

    Soft grades are ``exp(-D(x, seed))``, scaled to sum 1.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, Algorithm 4.
    """

    soft: bool = True
    divergence: Divergence = field(default_factory=Euclidean)

    def fit(self, X: Any) -> Self:
        """A copy fitted to the objects, its divergence as well."""
        return replace(super().fit(X), divergence=self.divergence.fit(X))

    def draw(self, seed: int, number: int) -> Draw:
        """Draw the number of clusters, then that many different objects."""
        rng = random(seed, WEAK, number)
        k = self._n_clusters(rng)
        chances = None if self.counts is None else self.counts / self.counts.sum()
        return Draw(k, rows=rng.choice(self.n_objects, k, replace=False, p=chances))

    def objects(self, X: Any) -> Terms:
        """The objects' side of the divergence."""
        return self.divergence.objects(X)

    def model(self, X: Any, draw: Draw) -> Terms:
        """The seeds' side of the divergence."""
        assert draw.rows is not None
        return self.divergence.seeds(self.divergence.take(X, draw.rows))

    def products(self, objects: Terms, model: Terms, out: Floats | None = None) -> Floats:
        """The product of the divergence, clusters by objects."""
        return self.divergence.product(objects, model, out)

    def weights(
        self, objects: Terms, model: Terms, scratch: Scratch, out: Floats | None = None
    ) -> tuple[Floats, Floats]:
        """Unscaled grades, clusters by objects, and one over their sums."""
        if not isinstance(self.divergence, Gaussian):
            return super().weights(objects, model, scratch, out)
        products = self.products(objects, model, out)
        inverse = np.empty(products.shape[1], products.dtype)
        kernel = _within_range(self.divergence, products.dtype)
        gaussian_grades(products, objects.offset, model.offset, *kernel, inverse, scratch.parts())
        return products, inverse

    def grading(self, dtype: Any) -> Grading | None:
        """Of all divergences whose products are those of matrices, of objects without weights."""
        divergence = self.divergence
        if self.counts is not None:
            return None
        if type(self) is not RandomBregman or type(divergence).product is not Divergence.product:
            return None
        if not self.soft:
            return hard_grading(dtype)
        if not isinstance(divergence, Gaussian):
            return Grading("softmax")
        near = near_kernel(divergence.alpha, divergence.gamma, Scratch(dtype).constants)
        if near is not None:
            return Grading("near", near)
        return Grading("gaussian", _within_range(divergence, dtype))


def hard_grading(dtype: Any) -> Grading:
    """The nearest seed, with ties to the first."""
    return Grading("hard", (_ROUNDINGS * np.finfo(dtype).eps,))


def _within_range(divergence: Gaussian, dtype: Any) -> tuple[Floats, Floats]:
    """Alpha and gamma as arrays; infinity times a distance of 0 would be NaN."""
    most = np.finfo(dtype).max / 4
    alpha, gamma = (
        np.array([min(value, most)], dtype) for value in (divergence.alpha, divergence.gamma)
    )
    return alpha, gamma


def weak_clusterer(
    weak: Any = "soft", *, divergence: Any = "euclidean", k_max: int | None = None
) -> WeakClusterer:
    """The weak clusterer of that name, to be fitted.

    Parameters
    ----------
    weak : {"soft", "hard", "split"} or WeakClusterer
        Soft or hard random Bregman clustering, random hyperplanes, or an object (returned as
        it is).
    divergence : str, Divergence or callable, default="euclidean"
        See `consilience.minority.divergences.resolve`; not used by "split".
    k_max : int or None, default=None
        Most clusters of a model, at least 2; None is 100, for "split" 50.

    Returns
    -------
    WeakClusterer

    Examples
    --------
    >>> weak_clusterer("split")
    RandomSplit(k_max=50, soft=False)
    """
    if isinstance(weak, WeakClusterer):
        return weak
    check_value("weak", weak, [Options(("soft", "hard", "split"))], owner="EWOCS")
    if weak == "split":
        return RandomSplit(k_max=50 if k_max is None else _plain(k_max))
    resolved = resolve(divergence)
    return RandomBregman(
        k_max=100 if k_max is None else _plain(k_max), soft=weak == "soft", divergence=resolved
    )


def _plain(k_max: Any) -> Any:
    """A number of numpy as one of Python, which has no largest; anything else as it is."""
    return k_max.item() if isinstance(k_max, np.integer) else k_max


def blocks(objects: Terms, size: int) -> list[Terms]:
    """Consecutive blocks of objects; the last may be shorter.

    Narrow blocks are copied so that the products with them, whose time goes into reading and
    writing, find the objects side by side.
    """
    A, n = objects.matrix, len(objects.offset)
    narrow = isinstance(A, np.ndarray) and A.ndim == 2 and A.shape[1] <= _NARROW
    parts = (slice(start, start + size) for start in range(0, n, size))
    return [
        Terms(np.asfortranarray(A[part]) if narrow else A[part], objects.offset[part])
        for part in parts
    ]


def n_objects(X: Any) -> int:
    """Number of objects of an array, a sparse matrix or a list."""
    shape = getattr(X, "shape", None)
    if shape is None:
        shape = (len(X),) if hasattr(X, "__len__") else ()
    if not shape:
        raise InvalidInputError(f"X must be a table of objects. Got {X!r} instead.")
    count = int(shape[0])
    if count == 0:
        raise InvalidInputError("Found 0 objects, a minimum of 1 is required.")
    return count
