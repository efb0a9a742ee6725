"""Which known groups can a weak clusterer see? Source affinities, detectability, consistency.

The affinity of two sources is how often, on average, an object of one is put together with an
object of the other. A source's score is the mean affinity of its objects with all objects; a
foreground source is *detectable* if its score exceeds the background's, because then EWOCS ranks
its objects above the background in the long run. A weak clusterer is *consistent* with sources
that are all detectable.

No pair of objects is ever looked at: with ``M[s, c]`` the summed grades of source s in cluster c,
one clustering contributes ``M M^T``, divided by the sizes of the sources. Memory is linear in the
number of objects.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from consilience._units import check_range
from consilience._validation import (
    Boolean,
    Interval,
    Options,
    RandomState,
    Satisfies,
    as_array,
    check_value,
)
from consilience.errors import InvalidInputError
from consilience.kernels.minority.weak import Scratch
from consilience.minority._divergence import Terms, as_floats
from consilience.minority._scaling import fit_scaling
from consilience.minority._truth import source_numbers
from consilience.minority.weak import WeakClusterer, blocks, n_objects, weak_clusterer

__all__ = [
    "Consistency",
    "ConsistencySummary",
    "consistency",
    "consistency_over",
    "source_samples",
    "summary",
]

Floats = NDArray[np.float64]
# Labels (n_objects,) or grades (n_objects, n_clusters) of clustering number r of X.
Clusterer = Callable[[Any, int], Any]

_BLOCK = 1024
_WEAK_WORDS = "a name such as 'soft', a WeakClusterer, or a function of the data and a seed"


class Sources(Protocol):
    """What samples can be drawn from, such as `consilience.datasets.minority_sources` makes."""

    def sample(self, random_state: Any) -> tuple[Any, Any]:
        """Objects and their sources, 0 for the background."""

    def redrawn(self, random_state: Any) -> "Sources":
        """Sources of the same sizes at other places."""


@dataclass(frozen=True)
class Consistency:
    """Affinities of sources under a weak clusterer, and which of them it can detect.

    The background comes first in every array that has a row for each source.

    Attributes
    ----------
    sources : ndarray of shape (n_sources,)
        Their numbers in ``y``.
    shares : ndarray of shape (n_sources,)
        Share of the objects.
    affinities : ndarray of shape (n_sources, n_sources)
        Mean probability that an object of one and an object of the other are put together;
        symmetric. An object's pair with itself counts.
    scores : ndarray of shape (n_sources,)
        Affinity with all objects: ``affinities @ shares``.
    margins : ndarray of shape (n_sources - 1,)
        By how much a foreground source's score exceeds the background's.
    standard_errors : ndarray of shape (n_sources - 1,)
        Of the margins, from their scatter among the clusterings.
    detectable : ndarray of shape (n_sources - 1,), bool
        Positive margins.
    consistent : bool
        Whether every foreground source is detectable.
    n_clusterings : int
        How many clusterings were averaged.
    """

    sources: NDArray[np.int64]
    shares: Floats
    affinities: Floats
    scores: Floats
    margins: Floats
    standard_errors: Floats
    detectable: NDArray[np.bool_]
    consistent: bool
    n_clusterings: int


class ConsistencySummary(NamedTuple):
    """Shares, over data sets, of what a weak clusterer can see.

    ``consistent``: data sets with every source detectable; ``macro``: mean over data sets of
    the share of detectable sources; ``micro``: share of detectable sources among all.
    """

    consistent: float
    macro: float
    micro: float


def consistency(
    X: Any,
    y: Any,
    weak: str | WeakClusterer | Clusterer = "soft",
    *,
    divergence: Any = "euclidean",
    k_max: int | None = None,
    n_repetitions: int = 25,
    scaling: str = "none",
    random_state: int | np.random.RandomState | None = None,
) -> Consistency:
    """Source affinities and detectability of labelled data under a weak clusterer.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features), or what the divergence takes
        The objects.
    y : array of shape (n_objects,)
        Their sources: 0 background, 1, 2, ... foreground. Both kinds must occur.
    weak : {"soft", "hard", "split"}, WeakClusterer or callable, default="soft"
        The weak clusterer; or a function ``(X, number)`` that returns the labels (0, 1, ...) or
        the grades (n_objects, n_clusters) of a clustering.
    divergence, k_max
        Of the weak clusterer, see `consilience.minority.weak.weak_clusterer`; not used where
        ``weak`` is an object or a function.
    n_repetitions : int, default=25
        Clusterings to average.
    scaling : {"none", "box", "std", "robust"}, default="none"
        How columns are scaled first; random hyperplanes expect "box".
    random_state : int, RandomState or None, default=None
        Seed of the clusterings.

    Returns
    -------
    Consistency

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, Definitions 13-16.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.r_[rng.uniform(-2, 2, (300, 2)), rng.normal(1, 0.05, (60, 2))]
    >>> result = consistency(X, [0] * 300 + [1] * 60, "hard", k_max=20, random_state=0)
    >>> result.consistent, bool(result.affinities[1, 1] > result.affinities[0, 0])
    (True, True)
    """
    return consistency_over(
        [(X, y)],
        weak,
        divergence=divergence,
        k_max=k_max,
        n_repetitions=n_repetitions,
        scaling=scaling,
        random_state=random_state,
    )


def consistency_over(
    samples: Iterable[tuple[Any, Any]],
    weak: str | WeakClusterer | Clusterer = "soft",
    *,
    divergence: Any = "euclidean",
    k_max: int | None = None,
    n_repetitions: int = 25,
    scaling: str = "none",
    random_state: int | np.random.RandomState | None = None,
) -> Consistency:
    """The same averaged over several samples of the same sources.

    Parameters
    ----------
    samples : iterable of (X, y)
        Data sets with the same source numbers, see `source_samples`; one at a time is held.
    weak, divergence, k_max, n_repetitions, scaling, random_state
        As in `consistency`; ``n_repetitions`` is for each sample.

    Returns
    -------
    Consistency

    Examples
    --------
    >>> from consilience.datasets import minority_sources
    >>> samples = source_samples(minority_sources(5, random_state=0), 2, random_state=0)
    >>> consistency_over(samples, "soft", divergence="gaussian", random_state=0).consistent
    True
    """
    owner = "consistency"
    check_value("n_repetitions", n_repetitions, [Interval(Integral, 1)], owner=owner)
    check_value("scaling", scaling, [Options(("none", "box", "std", "robust"))], owner=owner)
    check_value("random_state", random_state, [RandomState()], owner=owner)
    check_value("weak", weak, [Satisfies(_is_weak, _WEAK_WORDS)], owner=owner)
    seed = int(check_random_state(random_state).randint(2**31 - 1))
    if isinstance(weak, str):
        weak = weak_clusterer(weak, divergence=divergence, k_max=k_max)
    sources: NDArray[np.int64] | None = None
    shares, tables = [], []
    for number, (X, y) in enumerate(samples):
        present, members = _members(y, n_objects(X))
        if sources is not None and not np.array_equal(sources, present):
            raise InvalidInputError(
                "All samples must have the same sources. "
                f"Got {present.tolist()} in sample {number} and {sources.tolist()} before."
            )
        sources = present
        scaled = _scaled(X, scaling)
        sizes = members.sum(axis=0)
        shares.append(sizes / sizes.sum())
        first = number * n_repetitions
        for masses in _masses(scaled, members, weak, seed, range(first, first + n_repetitions)):
            tables.append(masses @ masses.T / np.outer(sizes, sizes))
    if sources is None:
        raise InvalidInputError("consistency needs at least one sample. Got none.")
    return _judged(sources, np.array(shares), np.array(tables))


def source_samples(
    sources: Sources,
    n_samples: int = 10,
    *,
    redraw: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> Iterator[tuple[Any, Any]]:
    """Samples of the same sources, one after the other.

    Parameters
    ----------
    sources : object with ``sample`` and ``redrawn``
        Such as `consilience.datasets.minority_sources` makes.
    n_samples : int, default=10
        How many.
    redraw : bool, default=False
        False: the sources stay where they are, as the definition of affinity has it. True:
        every sample draws other centres and shapes for sources of the same sizes; the published
        Table 2 was made so.
    random_state : int, RandomState or None, default=None
        Seed of the samples.

    Yields
    ------
    (X, y)

    Examples
    --------
    >>> from consilience.datasets import minority_sources
    >>> sources = minority_sources(2, random_state=0)
    >>> [X.shape[1] for X, y in source_samples(sources, 3, random_state=0)]
    [2, 2, 2]
    """
    check_value("n_samples", n_samples, [Interval(Integral, 1)], owner="source_samples")
    check_value("redraw", redraw, [Boolean()], owner="source_samples")
    check_value("random_state", random_state, [RandomState()], owner="source_samples")
    seeds = check_random_state(random_state).randint(2**31 - 1, size=(n_samples, 2))
    for place, objects in seeds:
        drawn = sources.redrawn(int(place)) if redraw else sources
        yield drawn.sample(int(objects))


def summary(found: Iterable[Consistency]) -> ConsistencySummary:
    """How often a weak clusterer is consistent over many data sets.

    Parameters
    ----------
    found : iterable of Consistency
        One for each data set.

    Returns
    -------
    ConsistencySummary

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, Table 2.
    """
    detectable = [one.detectable for one in found]
    if not detectable:
        raise InvalidInputError("summary needs at least one data set. Got none.")
    return ConsistencySummary(
        consistent=float(np.mean([every.all() for every in detectable])),
        macro=float(np.mean([every.mean() for every in detectable])),
        micro=float(np.concatenate(detectable).mean()),
    )


def _is_weak(value: Any) -> bool:
    return isinstance(value, str | WeakClusterer) or callable(value)


def _members(y: Any, n: int) -> tuple[NDArray[np.int64], Floats]:
    """Numbers of the sources, background first, and the objects of each as columns of 0 and 1."""
    numbers = source_numbers(y, n, owner="consistency")
    sources, inverse = np.unique(numbers, return_inverse=True)
    if sources[0] != 0 or len(sources) < 2:
        kind = "background (0)" if sources[0] != 0 else "foreground (1, 2, ...)"
        raise InvalidInputError(f"consistency compares sources, but y has no {kind} object.")
    members = np.zeros((n, len(sources)))
    members[np.arange(n), inverse] = 1.0
    return sources, members


def _scaled(X: Any, scaling: str) -> Any:
    if not sparse.issparse(X) and scaling != "none" and as_array(X).dtype.kind not in "biuf":
        X = as_floats(X)
    if not sparse.issparse(X) and as_array(X).dtype.kind in "biuf":
        X = np.asarray(X)  # what is no table of numbers is the divergence's to understand
        if X.ndim != 2:
            raise InvalidInputError(
                "The 'X' parameter of consistency must have a row for each object and a column for "
                f"each feature. Got shape {X.shape} instead."
            )
        check_range(X, owner="consistency")
    chosen = fit_scaling(scaling, X, owner="consistency")
    return X if chosen is None else chosen.apply(X)


def _masses(
    X: Any, members: Floats, weak: WeakClusterer | Clusterer, seed: int, numbers: range
) -> Iterator[Floats]:
    """Summed grades of each source in each cluster, clustering by clustering."""
    if not isinstance(weak, WeakClusterer):
        for number in numbers:
            yield members.T @ _grades(weak(X, number), len(members))
        return
    fitted = weak.fit(X)
    parts = blocks(fitted.objects(X), _BLOCK)
    rows = [members[start : start + _BLOCK] for start in range(0, len(members), _BLOCK)]
    for number in numbers:
        model = fitted.model(X, fitted.draw(seed, number))
        masses = np.zeros((members.shape[1], len(model.offset)))
        for row, part in zip(rows, parts, strict=True):
            masses += _block_masses(fitted, row, part, model)
        yield masses


def _block_masses(weak: WeakClusterer, members: Floats, objects: Terms, model: Terms) -> Floats:
    """Summed grades of each source in each cluster, of a block of objects."""
    n_clusters = len(model.offset)
    if weak.soft:
        dtype = np.float32 if model.offset.dtype == np.float32 else np.float64
        grades, inverse = weak.weights(objects, model, Scratch(dtype))
        return np.asarray((grades @ (members * inverse[:, None])).T)
    cells = members.argmax(axis=1) * n_clusters + weak.labels(objects, model)
    counts = np.bincount(cells, minlength=members.shape[1] * n_clusters)
    return counts.reshape(-1, n_clusters).astype(np.float64)


def _grades(given: Any, n: int) -> Floats:
    """Grades of what a clusterer returned: labels become 0 and 1."""
    answer = np.asarray(given)
    if answer.shape == (n,) and answer.dtype.kind in "iu" and answer.min() >= 0:
        return np.eye(int(answer.max()) + 1)[answer]
    if answer.ndim == 2 and len(answer) == n and np.allclose(answer.sum(axis=1), 1, atol=1e-4):
        return answer.astype(np.float64)
    raise InvalidInputError(
        f"The clusterer must return a label 0, 1, ... or a row of grades that sum to 1 for each "
        f"of the {n} objects. Got {answer.dtype} of shape {answer.shape}."
    )


def _judged(sources: NDArray[np.int64], shares: Floats, tables: Floats) -> Consistency:
    """Affinities averaged over the clusterings, and what follows from them."""
    mean_shares, affinities = shares.mean(axis=0), tables.mean(axis=0)
    scores = affinities @ mean_shares
    each = tables @ mean_shares
    apart = each[:, 1:] - each[:, :1]
    many = len(tables) > 1
    errors = apart.std(axis=0, ddof=1) / np.sqrt(len(tables)) if many else np.inf
    margins = scores[1:] - scores[0]
    return Consistency(
        sources=sources,
        shares=mean_shares,
        affinities=affinities,
        scores=scores,
        margins=margins,
        standard_errors=np.broadcast_to(errors, margins.shape).copy(),
        detectable=margins > 0,
        consistent=bool((margins > 0).all()),
        n_clusterings=len(tables),
    )
