"""Pairs of entities of one sentence as objects: which of them are related?

The news sentences of CoNLL-2004 stand in for the ACE corpora of the minority clustering
paper, which are sold under licence: entities, part-of-speech tags and relations are marked by
hand in both, and related pairs are a minority in both.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, RandomState, check_value
from consilience._words import listed, plural
from consilience.datasets._json_lines import read_json_lines
from consilience.datasets._synthetic import Seed, _rng
from consilience.datasets._text import count_terms, frequent_terms
from consilience.errors import InvalidInputError, InvalidParameterError

__all__ = ["EntityPairs", "load_conll04"]

_OUTSIDE = "O"
_WINDOW = 3
# Between symbols of an n-gram; tags hold no blanks.
_GLUE = " "


@dataclass(frozen=True, eq=False, repr=False)
class EntityPairs:
    """Pairs of entities of two types, each pair out of one sentence.

    Attributes
    ----------
    X : CSR matrix of shape (n_pairs, n_features), float64
        1 where a pair has a feature.
    features : ndarray of str of shape (n_features,)
        ``left``, ``between`` or ``right``, a colon, and the n-gram of symbols.
    y : ndarray of shape (n_pairs,), int64
        1 for related pairs, 0 for the others, the background.
    relations : ndarray of str of shape (n_pairs,)
        Name of the relation, empty where there is none.
    sequences : tuple of tuples of str
        Of each pair: type of the first entity, symbols between, type of the second.
    entities : tuple of pairs of str
        The words of the two entities.
    ids : ndarray of shape (n_pairs, 3), int64
        Sentence, and rows of the first and second entity in it.
    types : pair of str
        The two types.
    """

    X: Any
    features: NDArray[np.str_]
    y: NDArray[np.int64]
    relations: NDArray[np.str_]
    sequences: tuple[tuple[str, ...], ...]
    entities: tuple[tuple[str, str], ...]
    ids: NDArray[np.int64]
    types: tuple[str, str]

    def __repr__(self) -> str:
        n, d = self.X.shape
        shape = f"{plural(n, 'pair')}, {int(self.y.sum())} related, {plural(d, 'feature')}"
        return f"EntityPairs({'-'.join(self.types)}: {shape})"

    def hold_out(
        self, share: float = 0.3, *, min_pairs: int = 10, random_state: Seed = None
    ) -> tuple["EntityPairs", "EntityPairs"]:
        """Pairs to learn from, and pairs of other sentences to judge by.

        Parameters
        ----------
        share : float, default=0.3
            Share of the sentences held out, in [0, 1]; at least one sentence stays on
            either side where there are two.
        min_pairs : int, default=10
            Features of fewer pairs among those to learn from are left out of both.
        random_state : int, RandomState or None, default=None
            Seed of the draw of sentences.

        Returns
        -------
        learn, judge : EntityPairs
            Over the same features.
        """
        owner = "EntityPairs.hold_out"
        check_value("share", share, [Interval(Real, 0, 1)], owner=owner)
        check_value("min_pairs", min_pairs, [Interval(Integral, 1)], owner=owner)
        check_value("random_state", random_state, [RandomState()], owner=owner)
        sentences = np.unique(self.ids[:, 0])
        if len(sentences) < 2:
            raise InvalidInputError("All pairs are of one sentence: none can be held out.")
        n_held = min(max(round(share * len(sentences)), 1), len(sentences) - 1)
        held = _rng(random_state).permutation(sentences)[:n_held]
        judged = np.isin(self.ids[:, 0], held)
        learn, judge = self._rows(np.flatnonzero(~judged)), self._rows(np.flatnonzero(judged))
        columns = frequent_terms(learn.X, min_pairs)
        return learn._columns(columns), judge._columns(columns)

    def _rows(self, rows: NDArray[np.int64]) -> "EntityPairs":
        return replace(
            self,
            X=self.X[rows],
            y=self.y[rows],
            relations=self.relations[rows],
            sequences=tuple(self.sequences[i] for i in rows),
            entities=tuple(self.entities[i] for i in rows),
            ids=self.ids[rows],
        )

    def _columns(self, columns: NDArray[np.int64]) -> "EntityPairs":
        return replace(self, X=self.X[:, columns], features=self.features[columns])


def load_conll04(
    types: tuple[str, str] = ("Loc", "Peop"),
    data_home: str | PathLike[str] | None = None,
    *,
    longest: int = 2,
    min_pairs: int = 10,
) -> EntityPairs:
    """Every pair of entities of two types in one sentence of the CoNLL-2004 corpus.

    A pair has one binary feature for each n-gram of symbols between its entities, their
    types at either end included, and among the three symbols before the first and after
    the second entity. The symbol of a word is its part-of-speech tag, that
    of an entity its type.

    Parameters
    ----------
    types : pair of str, default=("Loc", "Peop")
        Types of the two entities, which may stand in either order: ``"Loc"``, ``"Org"``,
        ``"Peop"`` or ``"Other"``.
    data_home : str or path-like, optional
        Folder of the file ``conll04.jsonl.gz`` (fields ``id``, ``tokens``, ``pos``,
        ``entity``, ``relations``; an entity is one row). Without it, the environment variable
        ``CONSILIENCE_DATA`` names the folder.
    longest : int, default=2
        Symbols of the longest n-grams. Two give about as many features as the paper has.
    min_pairs : int, default=10
        Features of fewer pairs are left out; the paper's number.

    Returns
    -------
    EntityPairs
        In the order of the file.

    Raises
    ------
    InvalidInputError
        If there is no folder, no such file in it, not the fields in the file, or no such pair.

    Notes
    -----
    The paper's features are those of an earlier one that is not at hand; "based on parts of
    speech" and the number of features (574 to 950) are known. Relations have a direction in
    the file, which is dropped: a pair is related or not.

    References
    ----------
    Gonzàlez & Turmo (2015), Unsupervised ensemble minority clustering, Machine Learning 98,
    section 7.1. Roth & Yih (2004), A linear programming formulation for global inference in
    natural language tasks, CoNLL.
    """
    owner = "load_conll04"
    if not (isinstance(types, tuple | list) and [type(t) for t in types] == [str, str]):
        raise InvalidParameterError(
            f"The 'types' parameter of {owner} must be two types of entities, such as "
            f"('Loc', 'Peop'). Got {types!r} instead."
        )
    check_value("longest", longest, [Interval(Integral, 1)], owner=owner)
    check_value("min_pairs", min_pairs, [Interval(Integral, 1)], owner=owner)
    fields = {"id": int, "tokens": list, "pos": list, "entity": list, "relations": list}
    sentences = read_json_lines("conll04", data_home, fields)
    _check_sentences(sentences)
    pairs = [pair for sentence in sentences for pair in _pairs(sentence, types)]
    if not pairs:
        there = sorted({e for s in sentences for e in s["entity"] if e != _OUTSIDE})
        raise InvalidInputError(
            f"No sentence has a pair of entities of types {types[0]!r} and {types[1]!r}. "
            f"The types of the file are {listed(map(repr, there))}."
        )
    return _entity_pairs(pairs, (types[0], types[1]), longest, min_pairs)


class _Pair(NamedTuple):
    """Two rows of a sentence that hold entities, first < second."""

    sentence: dict[str, Any]
    first: int
    second: int


def _check_sentences(sentences: Sequence[dict[str, Any]]) -> None:
    for number, sentence in enumerate(sentences, 1):
        n_rows = len(sentence["tokens"])
        if len(sentence["pos"]) != n_rows or len(sentence["entity"]) != n_rows:
            raise InvalidInputError(
                f"'conll04.jsonl.gz' line {number} must have as many 'pos' and 'entity' as "
                f"'tokens', {n_rows}. Got {len(sentence['pos'])} and {len(sentence['entity'])}."
            )
        for relation in sentence["relations"]:
            if len(relation) != 3 or not {*relation[:2]} <= {*range(n_rows)}:
                raise InvalidInputError(
                    f"'conll04.jsonl.gz' line {number} has the relation {relation!r}. It must be "
                    f"two rows from 0 to {n_rows - 1} and a name."
                )


def _pairs(sentence: dict[str, Any], types: Sequence[str]) -> Iterator[_Pair]:
    """Every pair of entities of the two types, in order of the first, then of the second."""
    kinds = sentence["entity"]
    wanted = sorted(types)
    rows = [row for row, kind in enumerate(kinds) if kind in types]
    for position, first in enumerate(rows):
        for second in rows[position + 1 :]:
            if sorted((kinds[first], kinds[second])) == wanted:
                yield _Pair(sentence, first, second)


def _entity_pairs(
    pairs: Sequence[_Pair], types: tuple[str, str], longest: int, min_pairs: int
) -> EntityPairs:
    symbols = [_symbols(pair.sentence) for pair in pairs]
    counts, features = count_terms(
        range(len(pairs)), lambda i: _features(pairs[i], symbols[i], longest)
    )
    columns = frequent_terms(counts, min_pairs)
    X = counts[:, columns].astype(np.float64)
    relations = np.array([_relation(pair) for pair in pairs], dtype=np.str_)
    return EntityPairs(
        X=X,
        features=features[columns],
        y=(relations != "").astype(np.int64),
        relations=relations,
        sequences=tuple(
            tuple(s[pair.first : pair.second + 1]) for pair, s in zip(pairs, symbols, strict=True)
        ),
        entities=tuple(
            (str(p.sentence["tokens"][p.first]), str(p.sentence["tokens"][p.second])) for p in pairs
        ),
        ids=np.array([(p.sentence["id"], p.first, p.second) for p in pairs], dtype=np.int64),
        types=types,
    )


def _symbols(sentence: dict[str, Any]) -> list[str]:
    """One symbol a row: the type of an entity, the tag of any other word."""
    return [
        tag if kind == _OUTSIDE else kind
        for tag, kind in zip(sentence["pos"], sentence["entity"], strict=True)
    ]


def _relation(pair: _Pair) -> str:
    """Name of the first relation that joins the two rows, or an empty text."""
    ends = {pair.first, pair.second}
    return next((name for a, b, name in pair.sentence["relations"] if {a, b} == ends), "")


def _features(pair: _Pair, symbols: Sequence[str], longest: int) -> list[str]:
    """Names of the binary features of a pair, each once."""
    first, second = pair.first, pair.second
    parts = {
        "left": symbols[max(first - _WINDOW, 0) : first],
        "between": symbols[first : second + 1],
        "right": symbols[second + 1 : second + 1 + _WINDOW],
    }
    return sorted(
        {f"{where}:{gram}" for where, part in parts.items() for gram in _grams(part, longest)}
    )


def _grams(symbols: Sequence[str], longest: int) -> Iterator[str]:
    for length in range(1, longest + 1):
        for start in range(len(symbols) - length + 1):
            yield _GLUE.join(symbols[start : start + length])
