"""All that the explorer needs of a result, as plain values and arrays that equal the result's."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._labels import encode
from consilience.ensemble import Ensemble
from consilience.explain._columns import Columns
from consilience.explore._cuts import Cuts
from consilience.explore._maps import Map
from consilience.explore._pairs import Pairs, pairs_of

__all__ = ["Answer", "Column", "Known", "Scored", "Sure", "Torn", "View", "listed_columns"]

Labels = NDArray[np.int32]
Floats = NDArray[np.float64]
Positions = NDArray[np.int64]


class Answer(NamedTuple):
    """Groups of all objects, as one method has them."""

    name: str
    words: str
    labels: Labels


class Column(NamedTuple):
    """One column: numbers, or places in ``levels`` (below 0 unknown) for categories."""

    name: str
    kind: Literal["number", "category", "flag", "word"]
    values: NDArray[Any]
    levels: tuple[str, ...]


class Known(NamedTuple):
    """Known groups: the place of each object's in ``levels``, below 0 unknown."""

    codes: Positions
    levels: tuple[str, ...]

    @classmethod
    def of(cls, truth: Any) -> "Known | None":
        """Known groups in any form; None where there are none."""
        if truth is None:
            return None
        values = np.asarray(truth)
        codes = np.asarray(encode(truth, what="truth"), np.int64)
        first = [int(np.flatnonzero(codes == code)[0]) for code in range(int(codes.max()) + 1)]
        return cls(codes, tuple(str(values[i]) for i in first))


class Scored(NamedTuple):
    """Scores of which the high ones, or the low ones, are of interest.

    ``what`` says what they are, ``wanted`` is the truth where known (1 wanted, 0 not, -1 unknown),
    ``rules`` are borders that rules gave, by name, the one taken first.
    """

    what: str
    high: bool
    values: Floats
    threshold: float
    rules: tuple[tuple[str, float], ...]
    wanted: NDArray[np.int8] | None


class Sure(NamedTuple):
    """How sure one of several views is by itself of each object's group; NaN: not in it."""

    name: str
    values: Floats


class Torn(NamedTuple):
    """Objects whose group is in doubt, the most doubtful first, and who claims them.

    ``groups`` and ``shares`` have a row an object: the groups it is with most, and how often.
    """

    objects: Positions
    groups: NDArray[np.int32]
    shares: NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class View:
    """A result as the explorer shows it.

    Attributes
    ----------
    kind : {"consensus", "minority", "ambiguous", "labels"}
    title : str
    n_objects : int
        Of this view.
    n_all : int
        Of the result; more than ``n_objects`` in a view that was thinned.
    objects : ndarray of shape (n_objects,)
        Rows of the result that these are.
    ids : tuple of str or None
        None where rows have only their numbers.
    answers : tuple of Answer
        The result's own first.
    names : tuple of str
        Of the groups; none where they have numbers only.
    cuts : Cuts
        Every number of groups.
    confidence : ndarray or None
    runner_up : ndarray or None
    columns : Columns
        As they explain groups.
    maps : tuple of Map
        At least one.
    ensemble : Ensemble or None
    pairs : Pairs or None
        A picture of the co-association.
    truth : Known or None
    scores : Scored or None
    torn : Torn or None
    by_view : tuple of Sure
        One a view, of results of several views.
    facts : tuple of (str, str)
        What was done, in words.
    missing : tuple of str
        What cannot be shown, and why.
    """

    kind: Literal["consensus", "minority", "ambiguous", "labels"]
    title: str
    n_objects: int
    n_all: int
    objects: Positions
    ids: tuple[str, ...] | None
    answers: tuple[Answer, ...]
    names: tuple[str, ...]
    cuts: Cuts
    confidence: Floats | None
    runner_up: Labels | None
    columns: Columns
    maps: tuple[Map, ...]
    ensemble: Ensemble | None = None
    pairs: Pairs | None = None
    truth: Known | None = None
    scores: Scored | None = None
    torn: Torn | None = None
    by_view: tuple[Sure, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def labels(self) -> Labels:
        """Groups of the answer."""
        return self.answers[0].labels

    def id_of(self, i: int) -> str:
        """What an object is called."""
        return str(int(self.objects[i])) if self.ids is None else self.ids[i]

    def take(self, objects: Positions) -> "View":
        """A view of some objects; what was found of all of them stays as it is."""
        some = np.asarray(objects, np.int64)
        place = np.full(self.n_objects, -1, np.int64)
        place[some] = np.arange(len(some))
        return replace(
            self,
            n_objects=len(some),
            objects=self.objects[some],
            ids=None if self.ids is None else tuple(self.ids[i] for i in some.tolist()),
            answers=tuple(one._replace(labels=one.labels[some]) for one in self.answers),
            cuts=replace(self.cuts, leaf=self.cuts.leaf[some]),
            confidence=_some(self.confidence, some),
            runner_up=_some(self.runner_up, some),
            columns=_columns_of_some(self.columns, some),
            maps=tuple(one._replace(places=one.places[some]) for one in self.maps),
            ensemble=None if self.ensemble is None else self.ensemble.take(some),
            pairs=_pairs_of_some(self, some),
            truth=None if self.truth is None else self.truth._replace(codes=self.truth.codes[some]),
            scores=None if self.scores is None else _scores_of_some(self.scores, some),
            torn=None if self.torn is None else _torn_of_some(self.torn, place),
            by_view=tuple(one._replace(values=one.values[some]) for one in self.by_view),
        )


def listed_columns(columns: Columns) -> list[Column]:
    """All columns one after the other: numbers, categories, words."""
    listed = [
        Column(name, "number", columns.numbers[:, j], ())
        for j, name in enumerate(columns.number_names)
    ]
    listed += [
        Column(one.name, "flag" if one.flag else "category", one.codes, one.levels)
        for one in columns.categories
    ]
    if columns.words is not None:
        words = columns.words.tocsc()
        listed += [
            Column(name, "word", np.asarray(words[:, [j]].toarray()).ravel(), ())
            for j, name in enumerate(columns.word_names)
        ]
    return listed


def _some(values: Any, some: Positions) -> Any:
    return None if values is None else values[some]


def _columns_of_some(columns: Columns, some: Positions) -> Columns:
    return replace(
        columns,
        n_objects=len(some),
        numbers=columns.numbers[some],
        categories=tuple(one._replace(codes=one.codes[some]) for one in columns.categories),
        words=None if columns.words is None else columns.words[some],
    )


def _scores_of_some(scores: Scored, some: Positions) -> Scored:
    wanted = None if scores.wanted is None else scores.wanted[some]
    return scores._replace(values=scores.values[some], wanted=wanted)


def _torn_of_some(torn: Torn, place: Positions) -> Torn:
    kept = place[torn.objects] >= 0
    return Torn(place[torn.objects[kept]], torn.groups[kept], torn.shares[kept])


def _pairs_of_some(view: View, some: Sequence[int] | Positions) -> Pairs | None:
    if view.ensemble is None or view.pairs is None:
        return None
    objects = np.asarray(some)
    cuts = replace(view.cuts, leaf=view.cuts.leaf[objects])
    return pairs_of(view.ensemble.take(objects), cuts, seed=0)
