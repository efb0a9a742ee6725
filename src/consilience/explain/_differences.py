"""Every group against the rest in every column: what is typical, and what sets it apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.explain._columns import Columns
from consilience.explain._effects import corrected, quartiles, rank_effects, share_effects
from consilience.explain._importance import category_importance, share_explained, without_chance

__all__ = ["Differences", "Spoken", "differences"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Kind = Literal["number", "category", "flag", "word"]

_FIGURES = (
    *("known", "median", "lower_quartile", "upper_quartile", "share"),
    *("rest_median", "rest_share", "effect", "effect_low", "effect_high"),
    *("log_odds", "log_odds_low", "log_odds_high", "p"),
)


class Spoken(NamedTuple):
    """What a line of the table speaks of: a column of numbers, or one category of a column."""

    column: str
    category: str
    kind: Kind


@dataclass(frozen=True, eq=False)
class Differences:
    """Figures of groups x what is spoken of.

    Attributes
    ----------
    spoken : tuple of Spoken
    figures : dict of str to ndarray of shape (n_groups, n_spoken)
        NaN where a figure makes no sense: the median of a category, the share of a number. The
        last group are the objects in none, where there are such.
    importance : ndarray of shape (n_columns,)
        Of the columns of the table, in its order.
    """

    spoken: tuple[Spoken, ...]
    figures: dict[str, Floats]
    importance: Floats

    def strength(self) -> Floats:
        """How far apart a group surely is: the end of the interval that is nearest to 0.

        0 where the interval holds 0, -1 where nothing is known. Of words it is that of the log
        odds ratio, which favours words that others hardly have; of all else of the effect.
        """
        words = np.array([one.kind == "word" for one in self.spoken], bool)
        low, high = (
            np.where(words, self.figures[f"log_odds_{end}"], self.figures[f"effect_{end}"])
            for end in ("low", "high")
        )
        sure = np.where(low > 0, low, np.where(high < 0, -high, 0.0))
        return np.where(np.isnan(low), -1.0, sure)


class _Part(NamedTuple):
    spoken: list[Spoken]
    figures: dict[str, Floats]
    importance: list[float]


def differences(columns: Columns, groups: Codes, n_groups: int, *, level: float) -> Differences:
    """Each group against the objects of all other groups; objects in none against all groups.

    Parameters
    ----------
    columns : Columns
    groups : array of int of shape (n_objects,)
        0..n_groups-1; below 0 in no group.
    n_groups : int
    level : float
        Of the intervals.
    """
    parts = [_numbers(columns, groups, n_groups, level)]
    parts += [
        _shares(
            [Spoken(one.name, one.levels[c], "flag" if one.flag else "category") for c in spoken],
            counts[:, list(spoken)],
            counts.sum(axis=1),
            n_groups,
            level,
            [category_importance(counts[:n_groups])],
        )
        for one in columns.categories
        for counts in [_by_group(one.codes, len(one.levels), groups, n_groups)]
        # Of 0 and 1 the share of the one says that of the other.
        for spoken in [(1,) if one.flag else range(len(one.levels))]
    ]
    if columns.words is not None:
        parts.append(_words(columns, groups, n_groups, level))
    n_rows = n_groups + bool((groups < 0).any())
    figures = {
        name: np.hstack(
            [part.figures.get(name, np.full((n_rows, len(part.spoken)), np.nan)) for part in parts]
        )
        for name in _FIGURES
    }
    figures["p_corrected"] = corrected(figures["p"])
    spoken = tuple(one for part in parts for one in part.spoken)
    importance = np.array([value for part in parts for value in part.importance], np.float64)
    return Differences(spoken, figures, importance)


def _numbers(columns: Columns, groups: Codes, n_groups: int, level: float) -> _Part:
    values = columns.numbers
    effects = rank_effects(values, groups, n_groups, level=level)
    rows: dict[str, list[Any]] = {
        "known": [effects.known],
        "effect": [effects.delta],
        "effect_low": [effects.low],
        "effect_high": [effects.high],
        "p": [effects.p],
    }
    inside = [groups == g for g in range(n_groups)]
    if (groups < 0).any():
        none = rank_effects(values, np.where(groups < 0, 0, 1), 2, level=level)
        for name, figure in zip(rows, (none.known, *none[:4]), strict=False):
            rows[name].append(figure[:1])
        inside.append(groups < 0)
    middle = np.array([quartiles(values[mask]) for mask in inside]).reshape(
        len(inside), 3, values.shape[1]
    )
    rest = [quartiles(values[(groups >= 0) & ~mask])[1] for mask in inside]
    figures = {name: np.vstack(parts).astype(np.float64) for name, parts in rows.items()}
    figures |= {
        name: middle[:, i] for i, name in enumerate(("lower_quartile", "median", "upper_quartile"))
    }
    figures["rest_median"] = np.array(rest).reshape(len(inside), values.shape[1])
    known = effects.known
    importance = without_chance(
        effects.explained, known.sum(axis=0), (known > 0).sum(axis=0), effects.attainable
    )
    spoken = [Spoken(name, "", "number") for name in columns.number_names]
    return _Part(spoken, figures, importance.tolist())


def _by_group(codes: Codes, n_levels: int, groups: Codes, n_groups: int) -> Codes:
    """Objects of each group with each category; a last row for objects in none, if any are."""
    n_rows = n_groups + bool((groups < 0).any())
    known = codes >= 0
    row = np.where(groups < 0, n_groups, groups)[known]
    cells = np.bincount(row * n_levels + codes[known], minlength=n_rows * n_levels)
    return cells.reshape(n_rows, n_levels)


def _shares(
    spoken: list[Spoken],
    counts: Codes,
    known: Codes,
    n_groups: int,
    level: float,
    importance: Sequence[float],
) -> _Part:
    """Shares from the objects that have each category, and all of which it is known, by group."""
    # What a group is compared with: all other groups. Objects in none are in no comparison.
    rest_counts = counts[:n_groups].sum(axis=0) - counts
    rest_known = known[:n_groups].sum() - known
    rest_counts[n_groups:] = counts[:n_groups].sum(axis=0)
    rest_known[n_groups:] = known[:n_groups].sum()
    effects = share_effects(counts, known[:, None], rest_counts, rest_known[:, None], level=level)
    with np.errstate(divide="ignore", invalid="ignore"):
        share, rest = counts / known[:, None], rest_counts / rest_known[:, None]
    figures = {
        "known": np.broadcast_to(known[:, None], counts.shape).astype(np.float64),
        "share": share,
        "rest_share": rest,
        "effect": effects.delta,
        "effect_low": effects.low,
        "effect_high": effects.high,
        "log_odds": effects.log_odds,
        "log_odds_low": effects.log_odds_low,
        "log_odds_high": effects.log_odds_high,
        "p": effects.p,
    }
    return _Part(spoken, figures, list(importance))


def _words(columns: Columns, groups: Codes, n_groups: int, level: float) -> _Part:
    """Shares of the objects that have each word."""
    has = columns.words.copy()
    has.data = (has.data != 0).astype(np.int64)
    n_rows = n_groups + bool((groups < 0).any())
    row = np.where(groups < 0, n_groups, groups)
    sizes = np.bincount(row, minlength=n_rows)
    counts = np.stack(
        [np.asarray(has[row == g].sum(axis=0)).ravel() for g in range(n_rows)]
    ).astype(np.int64)
    explained = share_explained(counts[:n_groups], sizes[:n_groups])
    n, k = sizes[:n_groups].sum(), (sizes[:n_groups] > 0).sum()
    importance = without_chance(explained, n, k)
    spoken = [Spoken(name, "", "word") for name in columns.word_names]
    return _shares(spoken, counts, sizes, n_groups, level, importance.tolist())
