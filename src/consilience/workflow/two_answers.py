"""Two answers about the same objects: how their groups map, what moved, how far they agree."""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from html import escape
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.utils import check_random_state

from consilience._formulas import unguarded
from consilience._labels import encode
from consilience._optional import optional
from consilience._validation import Interval, RandomState, check_value
from consilience._words import plural
from consilience.errors import InvalidInputError
from consilience.workflow.cluster_result import ClusterResult

__all__ = ["TwoAnswers", "compare_results"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

_OWNER = "compare_results"
_DRAWS = 1000
_MOST_LINES, _MOST_MOVED, _MOST_PARTS = 30, 10, 4


class Share(NamedTuple):
    """A figure with its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


@dataclass(frozen=True, eq=False, repr=False)
class TwoAnswers:
    """What `compare_results` found; prints itself in words.

    Attributes
    ----------
    counts : ndarray of shape (n_first, n_second)
        Objects by their group in both answers.
    first, second : tuple
        The groups of each answer, -1 (in none) last.
    match : dict
        Groups of the first answer and those of the second that they became: one to one, so that as
        many objects as possible stay. Groups without a partner are not in it.
    moved : mapping of str to ndarray
        Objects that did not go with their group: "object", "first", "second", and the confidence
        in both answers where it is known.
    ari : Share
        Adjusted Rand index, with its interval.
    stayed : Share
        Share of the objects that went with their group, with its interval.
    only_first, only_second : int
        Objects that one answer has only; they are not compared.
    level : float
        Of the intervals.
    by_rows : bool
        Whether objects were matched by their row numbers, for lack of identifiers.
    """

    counts: Codes
    first: tuple[Any, ...]
    second: tuple[Any, ...]
    match: dict[Any, Any]
    moved: Mapping[str, NDArray[Any]]
    ari: Share
    stayed: Share
    only_first: int
    only_second: int
    level: float
    by_rows: bool = False

    @property
    def n_objects(self) -> int:
        """Objects that both answers have."""
        return int(self.counts.sum())

    def to_pandas(self) -> Any:
        """The objects that moved, as a pandas frame."""
        pandas = optional("pandas", extra=None, what="TwoAnswers.to_pandas")
        return pandas.DataFrame(dict(self.moved))

    def lines(self) -> list[str]:
        """What became of each group of the first answer, and which of the second are new."""
        said = []
        for i, group in enumerate(self.first):
            order = [j for j in np.argsort(-self.counts[i], kind="stable") if self.counts[i, j]]
            parts = [f"{self.counts[i, j]} in {_named(self.second[j])}" for j in order]
            if len(parts) > _MOST_PARTS:
                parts = [*parts[:_MOST_PARTS], plural(len(parts) - _MOST_PARTS, "more part")]
            n = int(self.counts[i].sum())
            fate = self._fate(i)
            said.append(f"{_named(group)} ({n}) {fate}: {', '.join(parts)}")
        taken = set(self.match.values())
        new = [_named(group) for group in self.second if group not in taken and group != -1]
        if new:
            said.append(f"without a partner in the first answer: {', '.join(new)}")
        return said

    def _fate(self, i: int) -> str:
        group = self.first[i]
        if group == -1:
            return "now"
        if group not in self.match:
            return "is gone"
        partner = self.match[group]
        j = self.second.index(partner)
        whole = self.counts[i, j] == self.counts[i].sum()
        alone = self.counts[i, j] == self.counts[:, j].sum()
        if whole and alone:
            return f"is {_named(partner)} exactly"
        if whole:
            return f"went into {_named(partner)}"
        most = 2 * self.counts[i, j] > self.counts[i].sum()
        return f"is mostly {_named(partner)}" if most else f"comes nearest to {_named(partner)}"

    def __str__(self) -> str:
        lines = self.lines()
        more = len(lines) - _MOST_LINES
        n = len(self.moved["object"])
        said = [
            f"{plural(self.n_objects, 'object')} in both answers",
            *([self._rows_in_words()] if self.by_rows else []),
            f"Agreement: adjusted Rand index {self.ari}, {100 * self.level:g} % interval; "
            f"{self.stayed.value:.1%} of the objects stayed with their group "
            f"({self.stayed.low:.1%} to {self.stayed.high:.1%})",
            *(f"  {line}" for line in lines[:_MOST_LINES]),
            *([f"  and {plural(more, 'more group')}"] if more > 0 else []),
            f"{plural(n, 'object')} moved" + (":" if n else ""),
            *(f"  {self._moved_in_words(k)}" for k in range(min(n, _MOST_MOVED))),
        ]
        if n > _MOST_MOVED:
            said.append(f"  and {n - _MOST_MOVED} more")
        for count, which in ((self.only_first, "first"), (self.only_second, "second")):
            if count:
                said.append(f"{plural(count, 'object')} in the {which} answer only, not compared")
        return "\n".join(said)

    __repr__ = __str__

    def _rows_in_words(self) -> str:
        """That objects have no names, and what may be wrong with that."""
        said = "Matched by row number: identifiers are row numbers in both answers"
        lost = self.only_first + self.only_second
        if not lost:
            return f"{said}. The rows must be the same objects in the same order"
        return (
            f"{said}, which do not have the same number of rows: {plural(lost, 'row')} at the end "
            f"of the {'first' if self.only_first else 'second'} {'is' if lost == 1 else 'are'} "
            "left out. Where rows are missing anywhere else, all that follows is wrong: cluster "
            "both with identifiers (ids, or --id-column) and compare again"
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def _moved_in_words(self, k: int) -> str:
        first, second = (_named(self.moved[name][k]) for name in ("first", "second"))
        sure = [
            f"{self.moved[name][k]:.2f}"
            for name in ("confidence_first", "confidence_second")
            if name in self.moved
        ]
        told = f" (confidence {', then '.join(sure)})" if sure else ""
        return f"{self.moved['object'][k]}: from {first} to {second}{told}"


class _Answer(NamedTuple):
    ids: list[Any] | None
    labels: NDArray[Any]
    confidence: Floats | None
    plain: bool = False  # labels alone, which can be matched by their rows only

    @property
    def counts_rows(self) -> bool:
        """Whether there are no identifiers; a run's file then holds row numbers."""
        ids = self.ids
        return ids is None or all(str(one) == str(i) for i, one in enumerate(ids))


def compare_results(
    first: Any,
    second: Any,
    *,
    level: float = 0.95,
    random_state: Any = 0,
) -> TwoAnswers:
    """Two answers about the same objects beside each other.

    Parameters
    ----------
    first, second : ClusterResult, folder of a run, or labels
        Objects are matched by their identifiers where both answers have them, else by their rows.
    level : float, default=0.95
        Of the intervals, which are made by drawing the objects anew.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    TwoAnswers

    Notes
    -----
    Intervals are percentiles of 1,000 bootstrap draws of the objects, moved by the draws' bias:
    what would come of other objects like these. They do not hold what other members or another
    seed would give.

    Examples
    --------
    >>> result = compare_results([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 2])
    >>> result.match, result.moved["object"].tolist()
    ({0: 1, 1: 0}, [5])
    >>> result.lines()[0]
    'cluster 0 (3) is cluster 1 exactly: 3 in cluster 1'
    """
    check_value("level", level, [Interval(Real, 0.5, 0.9999)], owner=_OWNER)
    check_value("random_state", random_state, [RandomState()], owner=_OWNER)
    answers = _answer(first, "first"), _answer(second, "second")
    rows, shown, only = _same_objects(*answers)
    labels = [answer.labels[at] for answer, at in zip(answers, rows, strict=True)]
    (a, names_a), (b, names_b) = map(_coded, labels)
    counts = np.zeros((len(names_a), len(names_b)), np.int64)
    np.add.at(counts, (a, b), 1)
    pairs = _matched(counts, names_a, names_b)
    partners = np.zeros(counts.shape, bool)
    partners[list(pairs), list(pairs.values())] = True
    stays = partners[a, b]
    rng = check_random_state(random_state)
    ari, stayed = _intervals(counts, partners, level, rng)
    return TwoAnswers(
        counts=counts,
        first=names_a,
        second=names_b,
        match={names_a[i]: names_b[j] for i, j in pairs.items() if names_a[i] != -1},
        moved=_moved(answers, rows, shown, labels, ~stays),
        ari=ari,
        stayed=stayed,
        only_first=only[0],
        only_second=only[1],
        level=float(level),
        by_rows=all(one.counts_rows for one in answers) and not all(one.plain for one in answers),
    )


def _answer(given: Any, name: str) -> _Answer:
    if isinstance(given, ClusterResult):
        ids = None if given.data.ids is None else given.data.ids.tolist()
        return _Answer(ids, given.labels, given.confidence)
    if isinstance(given, str | PathLike):
        return _read_run(Path(given), name)
    if isinstance(given, Iterable) and not (
        isinstance(given, bytes) or hasattr(given, "__array__")
    ):
        given = list(given)  # of anything that hands out labels one by one, also only once
    labels = encode(given, what=name)
    values = np.asarray(given)
    if values.dtype.kind not in "iu":
        kept = np.array(
            [-1 if c < 0 else str(v) for c, v in zip(labels, values, strict=True)], object
        )
        return _Answer(None, kept, None, plain=True)
    return _Answer(None, np.where(labels < 0, -1, values), None, plain=True)


def _read_run(folder: Path, name: str) -> _Answer:
    """Identifiers, clusters and confidence of a run's ``labels.csv``."""
    file = folder / "labels.csv" if folder.is_dir() else folder
    try:
        # A spreadsheet program puts a byte-order mark before the first word.
        with file.open(encoding="utf-8-sig", newline="") as text:
            rows = list(csv.DictReader(text))
        labels = np.array([int(row["cluster"]) for row in rows], np.int64)
        ids = [unguarded(row["id"]) for row in rows]
        sure = [row.get("confidence") for row in rows]
        known = None if None in sure else np.array(sure, np.float64)
    except (OSError, KeyError, ValueError, TypeError, csv.Error) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise InvalidInputError(
            f"The {name!r} parameter of {_OWNER} must be a result, labels, or the folder of a run "
            f"of 'consilience cluster'. {str(file)!r} cannot be read as its labels.csv: {why}."
        ) from error
    return _Answer(ids, labels, known)


def _same_objects(a: _Answer, b: _Answer) -> tuple[tuple[Codes, Codes], list[Any], tuple[int, int]]:
    """Rows of the objects that both have, what they are called, and how many one has only."""
    if a.ids is None or b.ids is None:
        if len(a.labels) != len(b.labels):
            raise InvalidInputError(
                f"The 'first' and 'second' parameters of {_OWNER} must hold the same objects, or "
                f"identifiers. Got {len(a.labels)} and {len(b.labels)} objects, not all with "
                "identifiers."
            )
        if not len(a.labels):
            raise InvalidInputError(
                f"The 'first' and 'second' parameters of {_OWNER} must hold objects. Got none."
            )
        rows = np.arange(len(a.labels))
        known = a.ids if a.ids is not None else b.ids
        return (rows, rows), rows.tolist() if known is None else list(known), (0, 0)
    places: list[dict[str, int]] = []
    for name, answer in (("first", a), ("second", b)):
        place = {str(one): i for i, one in enumerate(answer.ids or ())}
        if len(place) < len(answer.labels):
            raise InvalidInputError(
                f"The {name!r} parameter of {_OWNER} has objects with the same identifier. Give "
                "each its own, or compare the labels alone."
            )
        places.append(place)
    both = [one for one in places[0] if one in places[1]]
    if not both:
        raise InvalidInputError(
            f"The 'first' and 'second' parameters of {_OWNER} have no identifier in common: they "
            "are answers about other objects."
        )
    rows_a, rows_b = (np.array([place[one] for one in both], np.int64) for place in places)
    return (rows_a, rows_b), both, (len(a.labels) - len(both), len(b.labels) - len(both))


def _coded(labels: NDArray[Any]) -> tuple[Codes, tuple[Any, ...]]:
    """Places of the groups, and the groups: in their order, -1 last."""
    groups = sorted({*labels.tolist()}, key=lambda group: (group == -1, str(type(group)), group))
    place = {group: i for i, group in enumerate(groups)}
    return np.array([place[group] for group in labels.tolist()], np.int64), tuple(groups)


def _matched(counts: Codes, first: tuple[Any, ...], second: tuple[Any, ...]) -> dict[int, int]:
    """Partners that keep most objects together; objects in no group go with each other only."""
    allowed = counts.copy()
    for i, a in enumerate(first):
        for j, b in enumerate(second):
            if (a == -1) != (b == -1):
                allowed[i, j] = 0
    rows, columns = linear_sum_assignment(-allowed)
    return {int(i): int(j) for i, j in zip(rows, columns, strict=True) if allowed[i, j] > 0}


def _intervals(
    counts: Codes, partners: NDArray[np.bool_], level: float, rng: Any
) -> tuple[Share, Share]:
    """Adjusted Rand index and share that stayed, over draws of the objects."""
    n = int(counts.sum())
    cells = np.flatnonzero(counts.ravel())
    drawn = rng.multinomial(n, counts.ravel()[cells] / n, _DRAWS)
    rows, columns = np.divmod(cells, counts.shape[1])
    stay = partners.ravel()[cells]
    observed = counts.ravel()[cells][None, :]
    return (
        _share(_ari(observed, rows, columns)[0], _ari(drawn, rows, columns), level),
        _share(observed[0, stay].sum() / n, drawn[:, stay].sum(axis=1) / n, level),
    )


def _share(value: float, draws: Floats, level: float) -> Share:
    tails = (1 - level) / 2, (1 + level) / 2
    low, high = np.quantile(draws - (draws.mean() - value), tails)
    return Share(float(value), float(min(low, value)), float(min(max(high, value), 1.0)))


def _ari(counts: Codes, rows: Codes, columns: Codes) -> Floats:
    """Hubert & Arabie's adjusted Rand index of tables that are given by their cells."""

    def pairs(table: Any) -> Floats:
        return np.asarray((table * (table - 1) / 2).sum(axis=1))

    def of(codes: Codes) -> Floats:
        return np.asarray((codes[:, None] == np.unique(codes)).astype(np.float64))

    cells = counts.astype(np.float64)  # whole numbers have no quick product
    both, own, other = pairs(cells), pairs(cells @ of(rows)), pairs(cells @ of(columns))
    n = cells.sum(axis=1)
    chance = own * other / np.maximum(n * (n - 1) / 2, 1)
    best = (own + other) / 2
    # Both answers one group, or both all alone: nothing to disagree about.
    return np.divide(both - chance, best - chance, out=np.ones(len(n)), where=best > chance)


def _moved(
    answers: tuple[_Answer, _Answer],
    rows: tuple[Codes, Codes],
    shown: list[Any],
    labels: list[NDArray[Any]],
    moved: NDArray[np.bool_],
) -> dict[str, NDArray[Any]]:
    at = np.flatnonzero(moved)
    table: dict[str, NDArray[Any]] = {
        "object": np.array([shown[i] for i in at], dtype=object),
        "first": labels[0][at],
        "second": labels[1][at],
    }
    for name, answer, own in zip(("first", "second"), answers, rows, strict=True):
        if answer.confidence is not None:
            table[f"confidence_{name}"] = answer.confidence[own][at]
    return table


def _named(group: Any) -> str:
    return "no cluster" if group == -1 else f"cluster {group}"
