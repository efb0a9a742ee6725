"""GRAMS: which pairs of entities are related, by patterns and pairs that vouch for each other.

A pair of entities in a sentence is a sequence of symbols: type of the first entity, tags of
the words between, type of the second. Patterns are frequent sequences, whole or with a symbol
left open; a pattern is good if good pairs show it, a pair is good if it shows good patterns.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from consilience._validation import (
    Interval,
    NoneValue,
    Options,
    check_params,
    check_value,
    shown,
)
from consilience.errors import InvalidInputError, warn

__all__ = ["GRAMS", "GramsResult", "Pattern", "grams"]

Sequences = Iterable[Sequence[Hashable]]
Damping = Literal["idf", "share"] | None
Floats = NDArray[np.float64]

_RULES: dict[str, list[Any]] = {
    "max_length": [Interval(Integral, 1)],
    "wildcards": [Interval(Integral, 0)],
    "sides": [Interval(Integral, 0)],
    "min_count": [Interval(Integral, 1), NoneValue()],
    "damping": [Options(("idf", "share")), NoneValue()],
    "max_iter": [Interval(Integral, 1)],
    "tol": [Interval(Real, 0)],
}
# Patterns of a large corpus need ten sequences, those of a small one this share of them.
_MOST_COUNT, _LEAST_COUNT, _SHARE = 10, 2, 1000
# Stands in a pattern where any one symbol may stand.
_OPEN = ...
_TINY = np.finfo(np.float64).tiny


class Pattern(NamedTuple):
    """A whole sequence (``tail`` is None), or how one begins and ends with a gap between.

    Where ``head`` holds ``...``, any one symbol may stand.
    """

    head: tuple[Hashable, ...]
    tail: tuple[Hashable, ...] | None = None


@dataclass(frozen=True, eq=False)
class GramsResult:
    """Patterns with their weights: what `grams` returns.

    Attributes
    ----------
    patterns : tuple of Pattern
        By falling weight; of equal weights the more frequent, then the earlier one, first.
    weights : ndarray of shape (n_patterns,), float64
        Not negative, sum 1.
    instance_weights : ndarray of shape (n_sequences,), float64
        Weight of each sequence's instance; 0 if it shows no pattern.
    n_components : int
        Connected parts of the graph; reinforcement happens within them only.
    n_iter : int
        Rounds of reinforcement made.
    converged : bool
        Whether the weights changed by no more than the tolerance in the last round.
    """

    patterns: tuple[Pattern, ...]
    weights: Floats
    instance_weights: Floats
    n_components: int
    n_iter: int
    converged: bool


def grams(
    sequences: Sequences,
    *,
    instances: Iterable[Hashable] | None = None,
    max_length: int = 5,
    wildcards: int = 1,
    sides: int = 0,
    min_count: int | None = None,
    damping: Damping = None,
    max_iter: int = 1000,
    tol: float = 1e-10,
) -> GramsResult:
    """Patterns of sequences, weighted by mutual reinforcement with the instances that show them.

    Parameters
    ----------
    sequences : iterable of sequences of hashable symbols
        One a pair of entities, for instance ``("Peop", "VBZ", "IN", "Loc")``.
    instances : iterable of hashable, optional
        One key a sequence: equal keys are one instance, such as the same two names in two
        sentences. Without it, every sequence is an instance of its own.
    max_length : int, default=5
        Sequences of at most so many symbols are patterns as a whole.
    wildcards : int, default=1
        They are also patterns with up to so many of their inner symbols left open, at least
        one of which stays. 0 makes every pair an instance of one pattern at most: without
        ``instances`` nothing is reinforced then, and weights are frequencies.
    sides : int, default=0
        Longer sequences are patterns with a gap, of one to ``sides`` symbols before and
        after it; 0 for no such patterns. See the notes.
    min_count : int or None, default=None
        Patterns of fewer sequences are left out. None is a thousandth of the sequences, but
        at least 2 and at most 10, the number published for corpora of 10,000 and more.
    damping : {"idf", "share"} or None, default=None
        What an instance says counts less if it shows many patterns: by the factor
        ``log(1 + n_patterns / its patterns)`` with "idf". With "share" instances divide
        their weight among their patterns and patterns among their instances, so that
        every connected part of the graph keeps the weight it starts with.
    max_iter : int, default=1000
        Most rounds of reinforcement.
    tol : float, default=1e-10
        Stop when no round changes the weights of the patterns by more, summed.

    Returns
    -------
    GramsResult

    Raises
    ------
    InvalidInputError
        If there is no sequence, an empty one, or text instead of one; if keys are missing.

    Warns
    -----
    ConsilienceWarning
        If no pattern is frequent enough: every score is then 0. If the weights have not
        settled after ``max_iter`` rounds.

    Notes
    -----
    Weights start equal over instances; a round is ``p = A t``, ``t = A' p``, scaled to sum 1,
    with A the 0/1 matrix of patterns and instances. ``t`` is scaled in every connected part of
    the graph alone, to its share of the instances: the published iteration where there is one
    part. Scaled over all of them, the weights of all parts but the strongest would fall like
    a power of the number of rounds, below any number a computer has: a pattern of 10
    sequences beside one of 20,000 would weigh 0, as if it had never been seen. Time and
    memory are those of the entries of A.

    The original speaks of generalised patterns that match many instances, of instances that
    several patterns match, and of the same two names in several contexts; how it generalises
    is not stated in what we have of it. Here a pattern is generalised by leaving a symbol
    open, and ``instances`` joins the contexts of two names. With gaps (``sides``), the
    pattern of nothing but the two types matches every long sequence and always wins, so that
    distant pairs, the least related, score highest; hence no gaps unless asked for.

    References
    ----------
    Hassan, Hassan & Emam (2006), Unsupervised information extraction approach using graph
    mutual reinforcement, EMNLP. Compared with minority clustering in Gonzàlez & Turmo (2015),
    Machine Learning 98, section 7.2.

    Examples
    --------
    >>> near, far = ("Peop", "IN", "Loc"), ("Peop", "VBD", "Loc")
    >>> result = grams([near, near, near, far, far], min_count=2)
    >>> result.patterns[0].head, result.n_components
    (('Peop', 'IN', 'Loc'), 2)

    With longer sequences patterns vouch for each other:

    >>> by, of = ("Peop", "VBD", "IN", "Loc"), ("Peop", "VBZ", "IN", "Loc")
    >>> longer = grams([by, by, of, of])
    >>> longer.patterns[0].head, longer.n_components
    (('Peop', Ellipsis, 'IN', 'Loc'), 1)
    """
    options = {
        "max_length": max_length,
        "wildcards": wildcards,
        "sides": sides,
        "min_count": min_count,
        "damping": damping,
        "max_iter": max_iter,
        "tol": tol,
    }
    for name, value in options.items():
        check_value(name, value, _RULES[name], owner="grams")
    rows = _checked(sequences)
    keys = _instances(instances, len(rows))
    least = _enough(len(rows)) if min_count is None else min_count
    of_rows = [_patterns_of(row, max_length, wildcards, sides) for row in rows]
    counts = Counter(pattern for row in of_rows for pattern in row)
    patterns = [pattern for pattern, count in counts.items() if count >= least]
    if not patterns:
        _warn_of_none(least, len(rows))
        return GramsResult((), np.empty(0), np.zeros(len(rows)), 0, 0, True)
    graph = _graph(of_rows, keys, {pattern: i for i, pattern in enumerate(patterns)})
    parts = _components(graph)
    weights, of_instance, n_iter, converged = _reinforced(graph, parts, damping, max_iter, tol)
    if not converged:
        _warn_of_unsettled(max_iter)
    seen = np.array([counts[pattern] for pattern in patterns])
    order = np.lexsort((-seen, -weights))
    return GramsResult(
        tuple(patterns[i] for i in order),
        weights[order],
        of_instance[keys],
        parts.n_parts,
        n_iter,
        converged,
    )


def _checked(sequences: Sequences) -> list[tuple[Hashable, ...]]:
    rows = [_checked_row(number, sequence) for number, sequence in enumerate(sequences)]
    if not rows:
        raise InvalidInputError("There are no sequences: at least one pair is needed.")
    return rows


def _checked_row(number: int, sequence: Any) -> tuple[Hashable, ...]:
    wanted = f"Sequence {number} must be a sequence of symbols, such as ('Peop', 'IN', 'Loc')"
    if isinstance(sequence, str | bytes):
        raise InvalidInputError(f"{wanted}. Got the text {sequence!r} instead. Split it first.")
    try:
        row = tuple(sequence)
        hash(row)
    except TypeError as error:
        raise InvalidInputError(f"{wanted}, which are hashable. Got {sequence!r}.") from error
    if not row:
        raise InvalidInputError(f"Sequence {number} is empty. It needs at least one symbol.")
    return row


def _instances(instances: Iterable[Hashable] | None, n_rows: int) -> NDArray[np.int64]:
    """Number of the instance of each sequence, numbered as they first appear."""
    if instances is None:
        return np.arange(n_rows)
    wanted = f"'instances' must have one hashable key a sequence, {n_rows} in all."
    number: dict[Hashable, int] = {}
    try:
        numbers = [number.setdefault(key, len(number)) for key in instances]
    except TypeError as error:
        raise InvalidInputError(f"{wanted} Got {shown(instances)} instead.") from error
    if len(numbers) != n_rows:
        raise InvalidInputError(f"{wanted} Got {len(numbers)}.")
    return np.array(numbers)


def _enough(n_rows: int) -> int:
    """How many sequences make a pattern where the caller does not say."""
    return min(max(n_rows // _SHARE, _LEAST_COUNT), _MOST_COUNT)


def _patterns_of(
    row: tuple[Hashable, ...], max_length: int, wildcards: int, sides: int
) -> list[Pattern]:
    """Patterns that a sequence shows: itself if it is short, with a gap otherwise."""
    if len(row) <= max_length:
        return [Pattern(row), *_generalised(row, wildcards)]
    ends = range(1, sides + 1)
    # A gap hides at least one symbol.
    return [Pattern(row[:a], row[-b:]) for a in ends for b in ends if a + b < len(row)]


def _generalised(row: tuple[Hashable, ...], wildcards: int) -> Iterator[Pattern]:
    """The sequence with some of its inner symbols left open.

    One of them stays: all open would say no more than how far the two ends are apart.
    """
    inner = range(1, len(row) - 1)
    for count in range(1, min(wildcards, len(inner) - 1) + 1):
        for places in combinations(inner, count):
            yield Pattern(tuple(_OPEN if i in places else row[i] for i in range(len(row))))


def _graph(
    of_rows: Sequence[Sequence[Pattern]], keys: NDArray[np.int64], number: dict[Pattern, int]
) -> Any:
    """0/1 matrix of patterns and instances: who shows what, however often."""
    from scipy.sparse import csr_array

    edges = {
        (number[pattern], key)
        for patterns, key in zip(of_rows, keys.tolist(), strict=True)
        for pattern in patterns
        if pattern in number
    }
    rows, columns = np.array(sorted(edges)).T
    shape = (len(number), int(keys.max()) + 1)
    return csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)


class _Parts(NamedTuple):
    """Connected parts of a graph of patterns and instances.

    An instance without patterns is in no part; its number is ``n_parts``.
    """

    n_parts: int
    of_pattern: NDArray[np.int64]
    of_instance: NDArray[np.int64]

    def scaled(self, of_instance: Floats) -> Floats:
        """Weights of the instances scaled so that every part has its share of the instances."""
        counts = np.bincount(self.of_instance, minlength=self.n_parts + 1)
        counts[self.n_parts] = 0
        sums = np.bincount(self.of_instance, weights=of_instance, minlength=self.n_parts + 1)
        factors = counts / counts.sum() / np.where(sums > 0, sums, 1.0)
        return np.asarray(of_instance * factors[self.of_instance])


def _reinforced(
    graph: Any, parts: _Parts, damping: Damping, max_iter: int, tol: float
) -> tuple[Floats, Floats, int, bool]:
    """Weights of patterns and of instances, rounds made, and whether they settled."""
    votes, praise = _damped(graph, damping)
    matched = parts.of_instance < parts.n_parts
    of_instance = matched.astype(np.float64)
    weights = np.zeros(graph.shape[0])
    for n_iter in range(1, max_iter + 1):
        before = weights
        weights = votes @ of_instance
        # Far from the middle of a long part weights may leave the range of numbers: what was
        # seen stays above what was not.
        weights = np.maximum(weights / weights.sum(), _TINY)
        of_instance = np.where(matched, np.maximum(parts.scaled(praise @ weights), _TINY), 0.0)
        if np.abs(weights - before).sum() <= tol:
            return weights, of_instance, n_iter, True
    return weights, of_instance, max_iter, False


def _damped(graph: Any, damping: Damping) -> tuple[Any, Any]:
    """What instances give to patterns, and what patterns give to instances."""
    from scipy.sparse import diags_array

    # An instance without patterns has nothing to give: any divisor will do.
    per_instance = np.maximum(np.asarray(graph.sum(axis=0)).ravel(), 1)
    per_pattern = np.asarray(graph.sum(axis=1)).ravel()
    if damping == "share":
        return graph @ diags_array(1 / per_instance), graph.T @ diags_array(1 / per_pattern)
    if damping == "idf":
        graph = graph @ diags_array(np.log1p(graph.shape[0] / per_instance))
    return graph, graph.T


def _components(graph: Any) -> _Parts:
    """Connected parts of the graph."""
    from scipy.sparse import block_array
    from scipy.sparse.csgraph import connected_components

    n_patterns = graph.shape[0]
    both = block_array([[None, graph], [graph.T, None]], format="csr")
    _, labels = connected_components(both, directed=False)
    # Every part with a pattern is numbered by its first one; the others hold one instance each.
    _, of_pattern = np.unique(labels[:n_patterns], return_inverse=True)
    n_parts = int(of_pattern.max()) + 1
    number = np.full(int(labels.max()) + 1, n_parts)
    number[labels[:n_patterns]] = of_pattern
    return _Parts(n_parts, of_pattern.astype(np.int64), number[labels[n_patterns:]])


def _warn_of_none(min_count: int, n_rows: int) -> None:
    warn(
        f"No pattern is in min_count={min_count} of the {n_rows} sequences: every score is 0. "
        "Lower 'min_count', or raise 'max_length' or 'sides'.",
    )


def _warn_of_unsettled(max_iter: int) -> None:
    warn(
        f"The weights of the patterns have not settled after max_iter={max_iter} rounds. Raise "
        "'max_iter' or 'tol', or take damping='share'.",
    )


class GRAMS(BaseEstimator):
    """Score pairs of entities by their best pattern; see `grams` for the method.

    Parameters
    ----------
    max_length, wildcards, sides, min_count, damping, max_iter, tol
        As in `grams`.

    Attributes
    ----------
    patterns_ : tuple of Pattern
        By falling weight.
    weights_ : ndarray of shape (n_patterns,), float64
        Their weights, sum 1.
    instance_weights_ : ndarray of shape (n_pairs,), float64
        Weight of each training pair's instance.
    scores_ : ndarray of shape (n_pairs,), float64
        What `score_samples` says of the training pairs.
    n_components_ : int
        Connected parts of the graph of patterns and instances.
    n_iter_ : int
        Rounds of reinforcement made.
    converged_ : bool
        Whether they settled.

    Notes
    -----
    The method gives no threshold, so there is no ``predict``: the paper takes the best one.

    Examples
    --------
    >>> near, far = ("Peop", "IN", "Loc"), ("Peop", "CC", "NNP", "VBD", "IN", "Loc")
    >>> model = GRAMS().fit([near, near, far])
    >>> model.score_samples([far, near]).tolist()
    [0.0, 1.0]
    """

    _constraints: ClassVar[dict[str, Any]] = _RULES

    def __init__(
        self,
        *,
        max_length: int = 5,
        wildcards: int = 1,
        sides: int = 0,
        min_count: int | None = None,
        damping: Damping = None,
        max_iter: int = 1000,
        tol: float = 1e-10,
    ) -> None:
        self.max_length = max_length
        self.wildcards = wildcards
        self.sides = sides
        self.min_count = min_count
        self.damping = damping
        self.max_iter = max_iter
        self.tol = tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags

    def fit(
        self, X: Sequences, y: Any = None, *, instances: Iterable[Hashable] | None = None
    ) -> Self:
        """Find and weigh the patterns of sequences of symbols.

        Parameters
        ----------
        X : iterable of sequences of hashable symbols
            One a pair of entities.
        y : ignored
        instances : iterable of hashable, optional
            Keys of the instances the sequences belong to; see `grams`.

        Returns
        -------
        self
        """
        check_params(self)
        rows = _checked(X)
        result = grams(rows, instances=instances, **self.get_params())
        self.patterns_ = result.patterns
        self.weights_ = result.weights
        self.instance_weights_ = result.instance_weights
        self.n_components_ = result.n_components
        self.n_iter_ = result.n_iter
        self.converged_ = result.converged
        self.scores_ = self.score_samples(rows)
        return self

    def score_samples(self, X: Sequences) -> Floats:
        """Largest weight of a pattern that a sequence shows, 0 if it shows none.

        Parameters
        ----------
        X : iterable of sequences of hashable symbols
            Pairs of entities, new or seen.

        Returns
        -------
        ndarray of shape (n_pairs,), float64
            In [0, 1]; larger is more likely related.
        """
        check_is_fitted(self, "weights_")
        weight = dict(zip(self.patterns_, self.weights_.tolist(), strict=True))
        of_rows = (
            _patterns_of(row, self.max_length, self.wildcards, self.sides) for row in _checked(X)
        )
        return np.array([max((weight.get(p, 0.0) for p in row), default=0.0) for row in of_rows])
