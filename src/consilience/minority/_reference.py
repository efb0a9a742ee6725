"""The border by references: how often objects of data without groups would score as high.

The objects are scored by models of the other half, and so are objects drawn from a reference,
data that resemble the background (`_nulls`). Where many more of the former than of the latter
score high, there are dense groups; the border is where the expected F1 is largest. Of four
families of references those that fit the lower half of the scores are considered.

Whether there is anything is asked of references fitted to all objects: if there is nothing, all
are background. Where the border lies is asked of references fitted to the objects by their
chance to be background, in a few rounds: they grow from the low-scoring part. They would be
wrong judges of the first question: in noise that no reference resembles exactly, leaving out
what scores high lowers the scores of the next reference, and so on. An evenly filled box holds
nothing of the groups either way: where it decides the border, it alone is asked both questions.

References can be wrong together. So the densities are looked at by themselves as well
(`_densities`): whether there is anything but the top of one slope, and whether they leave a gap
between dense objects and others, which is then where the border lies.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.minority._densities import Shape, shape_of
from consilience.minority._nulls import SIMPLE, Draws, box, on_grid, patches_of

__all__ = [
    "A_COLUMN",
    "DEEP",
    "FEWEST_OBJECTS",
    "REPETITIONS",
    "Model",
    "Reference",
    "against_references",
]

Floats = NDArray[np.float64]
# Fits a model to some objects; what it returns scores any objects.
Model = Callable[[Floats], Floats]
Fit = Callable[[NDArray[np.int64], int], Model]

# Objects looked at, and weak clusterings of the models of either half.
_MOST_OBJECTS, REPETITIONS = 10_000, 100
# Fewest objects about which anything is said.
FEWEST_OBJECTS = 20
# Rounds in which a reference is fitted; objects drawn from it at least, and so many times as
# many as there are, up to a number, in the rounds that count.
_ROUNDS, _FEW, _MANY, _ENOUGH = 3, 2000, 6, 10_000
# References that the p-value is counted from.
_N_REFERENCES = 199
# An excess counts where objects are so many times as frequent as in the reference.
_TIMES = 1.5
# A reference is considered if its misfit is at most so many times the least, or such a multiple
# of chance, 1 / sqrt(n): generously for whether there is anything, which any of them may explain,
# more strictly for where the border is.
_FOR_TEST, _FOR_BORDER = (2.0, 1.8), (1.5, 1.0)
# A reference explains much more than another where it leaves less than this share of its excess.
_MUCH = 0.7
# None fits where the least misfit is above the first plus the second times chance.
_MISFIT, _MORE = 0.05, 0.9
# With fewer objects a column nobody knows how the background spreads, and the lower half of the
# scores does not show it.
A_COLUMN = 2
# The share of objects that may stand out from a reference because it is not exact: its misfit,
# between such a multiple of chance and a share.
_LEAST_MARGIN, _MOST_MARGIN = 0.63, 0.06
# A gap between densities decides the border against a reference that fits, or one that does not,
# where it is so deep, and where their foregrounds have less than a share in common; against one
# that fits, not where one is more than twice the other: gaps are also between groups. A gap so deep
# as the last was seen in no noise, whatever references say.
_AGAINST_FIT, _AGAINST_MISFIT, _ALIKE, _TWICE, DEEP = 1.5, 1.3, 0.9, 2.0, 2.0
# Without a gap the border is uncertain where less of the foreground is expected to be right. A box
# is exact where it fits.
_RIGHT = 0.9
# Weight of objects that have none: shares of nothing are no numbers.
_NO_WEIGHT = 1e-9
# Least chance to be background that an object is given.
_LEAST_WEIGHT = 0.02
# Of too few objects the densities show nothing, and do not speak against anything.
_NO_SHAPE = Shape(1.0, 0.0, separate=True)


@dataclass(frozen=True)
class Reference:
    """What comparing the objects with references has shown.

    Attributes
    ----------
    share : float
        Share of the objects at the border of the largest expected F1.
    p_value : float
        Share of references with as large an excess, a margin for their misfit taken off.
    excess : float
        Share of the objects that the reference of the test does not explain, where they are at
        least one and a half times as frequent as in it.
    precision : float
        Expected share of true foreground at the border.
    null, tested : str
        The references of the border and of the test: "box", "copula", "ellipsoid" or
        "patches".
    misfit : float
        Largest difference of the lower halves of the scores' distributions, of the reference of
        the border.
    fits : bool
        Whether the misfit is small, and there are two objects for each column at least.
    misfits : dict of str to float
        That of every reference.
    n_references, n_objects, n_columns : int
        References drawn for the p-value; objects looked at, and columns in which they differ.
    gap, gap_share : float
        How many times as high as the valley of the distribution of the densities its lower side
        is, 1 without one; the share of the objects above it.
    separate : bool
        Whether the densities show more than the top of one slope, or a box decides, which has
        no slope.
    by_gap, uncertain : bool
        Whether the share is that of the gap; whether neither a gap nor the reference can tell
        well where the border is.
    """

    share: float
    p_value: float
    excess: float
    precision: float
    null: str
    tested: str
    misfit: float
    fits: bool
    misfits: dict[str, float]
    n_references: int
    n_objects: int
    n_columns: int
    gap: float
    gap_share: float
    separate: bool
    by_gap: bool
    uncertain: bool


@dataclass(frozen=True)
class _Compared:
    """One reference: scores of its objects, sorted, background share and misfit."""

    scores: Floats
    background: float
    misfit: float


@dataclass(frozen=True)
class _Family:
    """The reference fitted to all objects, and that fitted to the background."""

    first: _Compared
    last: _Compared


def against_references(
    X: Floats,
    fit: Fit,
    seed: int,
    *,
    clip: bool,
    weights: Floats | None,
    has_unit: bool,
) -> Reference:
    """Compare objects with data that have no dense groups.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        At least 20 objects.
    fit : callable
        ``fit(rows, number)`` is a model of those objects, a function that scores any objects.
    seed : int
    clip : bool
        Whether references must stay in the range of the columns.
    weights : array of shape (n_objects,) or None
        How often each object counts.
    has_unit : bool
        Whether distances between rows mean something; otherwise densities are those of columns
        of equal spread.
    """
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))[:_MOST_OBJECTS]
    own = np.ones(len(order)) if weights is None else np.maximum(weights[order], _NO_WEIGHT)
    data = X[order].astype(np.float64)
    # Squares of what is nearly out of the range of numbers would be out of it.
    unit = np.maximum(np.abs(data).max(axis=0), np.finfo(np.float64).tiny)
    data /= unit
    halves = order[: len(order) // 2], order[len(order) // 2 :]
    models = [fit(half, number) for number, half in enumerate(halves)]
    scores = np.concatenate([models[1](X[halves[0]]), models[0](X[halves[1]])])

    def score(drawn: Floats) -> Floats:
        drawn = on_grid(data, drawn)
        if clip:
            drawn = np.clip(drawn, data.min(axis=0), data.max(axis=0))
        parts = np.array_split((drawn * unit).astype(X.dtype), 2)
        return np.concatenate([model(part) for model, part in zip(models, parts, strict=True)])

    families = {"box": box} | SIMPLE | {"patches": patches_of(data, seed)}
    grown = {name: _grown(data, scores, own, score, f, rng) for name, f in families.items()}
    n_columns = int(np.count_nonzero(np.ptp(data, axis=0)))
    rows = X[order] if has_unit else data / np.where(np.ptp(data, axis=0) > 0, data.std(axis=0), 1)
    return _judged(scores, own, grown, n_columns, rng, _shape(rows, weights, own, seed))


def _shape(X: Floats, weights: Floats | None, own: Floats, seed: int) -> Shape:
    """What the densities show; objects are left out by chance as they count less than others."""
    if weights is not None:
        X = X[own > own.max() * np.random.default_rng(seed).uniform(size=len(own))]
    return shape_of(X, seed) if len(X) >= FEWEST_OBJECTS else _NO_SHAPE


def _grown(
    X: Floats,
    scores: Floats,
    own: Floats,
    score: Model,
    family: Draws,
    rng: np.random.Generator,
) -> _Family:
    """References fitted to the objects by their chance to be background, found in rounds."""
    weights, rounds = own, []
    for number in range(_ROUNDS):
        counts = number in (0, _ROUNDS - 1)
        size = max(_FEW, min(_MANY * len(X), _ENOUGH)) if counts else _FEW
        drawn = np.sort(score(family(X, weights, rng, size)))
        rounds.append(_Compared(drawn, *_lower_half(scores, own, drawn)))
        weights = own * _chances(scores, own, drawn, rounds[-1].background)
    return _Family(rounds[0], rounds[-1])


def _lower_half(scores: Floats, own: Floats, drawn: Floats) -> tuple[float, float]:
    """Share of background that makes the lower halves agree best, and how far they differ then.

    Foreground scores high: below the median of the scores all is background, and its
    distribution function is that of the reference times the share.
    """
    order = np.argsort(scores)
    reached = np.cumsum(own[order]) / own.sum()
    places = np.searchsorted(reached, np.linspace(0.02, 0.5, 25))
    here = reached[places]
    there = _below(drawn, scores[order][places], "right")
    squares = float(there @ there)
    share = float(np.clip(here @ there / squares, 0.5, 1.0)) if squares else 1.0
    return share, float(np.abs(here - share * there).max())


def _below(drawn: Floats, values: Floats, side: Any) -> Floats:
    """Share of the drawn scores, which are sorted, below each value."""
    return np.asarray(np.searchsorted(drawn, values, side=side) / len(drawn))


def _chances(scores: Floats, own: Floats, drawn: Floats, background: float) -> Floats:
    """Chance of each object to be background: how frequent its score is there, and here."""
    order = np.argsort(-scores)
    there = np.diff(1 - _below(drawn, scores[order], "left"), prepend=0.0)
    here = own[order] / own.sum()
    window = np.ones(max(len(scores) // 50, 10))
    ratio = background * _smoothed(there, window) / _smoothed(here, window)
    # The higher the score the less is background.
    ratio = np.maximum.accumulate(np.clip(ratio, _LEAST_WEIGHT, 1.0))
    chances = np.empty(len(scores))
    chances[order] = ratio
    return chances


def _smoothed(values: Floats, window: Floats) -> Floats:
    return np.maximum(np.convolve(values, window, "same")[: len(values)], 1e-12)


def _judged(
    scores: Floats,
    own: Floats,
    families: dict[str, _Family],
    n_columns: int,
    rng: np.random.Generator,
    shape: Shape = _NO_SHAPE,
) -> Reference:
    """Whether there is anything, by the first references; where it ends, by the last ones."""
    compared = {name: one.last for name, one in families.items()}
    least = min(one.misfit for one in compared.values())
    chance = 1 / np.sqrt(len(scores))
    fits = bool(least <= _MISFIT + _MORE * chance)
    excesses = {name: _excess(scores, own, one.scores) for name, one in compared.items()}
    fitting = _near(compared, len(scores), *_FOR_BORDER) if fits else []
    name = _deciding(fitting, excesses, compared)
    expected = _expected(scores, own, compared[name])
    share, by_gap = _with_gap(expected.best(), shape, fits)
    precision = expected.precision(share)
    first = {key: one.first for key, one in families.items()}
    if name == "box":
        # It holds nothing of the groups; the others, fitted to all objects, do.
        first = {"box": first["box"]}
    tested, p_value, excess = _tested(scores, own, first, rng)
    return Reference(
        share=share,
        p_value=p_value,
        excess=excess,
        precision=precision,
        null=name,
        tested=tested,
        misfit=compared[name].misfit,
        fits=fits and len(scores) >= A_COLUMN * n_columns,
        misfits={key: one.misfit for key, one in compared.items()},
        n_references=_N_REFERENCES,
        n_objects=len(scores),
        n_columns=n_columns,
        gap=shape.gap,
        gap_share=shape.share,
        separate=shape.separate or name == "box",
        by_gap=by_gap,
        uncertain=name != "box" and precision < _RIGHT and not (by_gap or _marked(share, shape)),
    )


def _with_gap(share: float, shape: Shape, fits: bool) -> tuple[float, bool]:
    """The share of the foreground, and whether it is that above the gap of the densities."""
    if shape.gap < (_AGAINST_FIT if fits else _AGAINST_MISFIT):
        return share, False
    less, more = sorted((share, shape.share))
    if _marked(share, shape) or (fits and more > _TWICE * less):
        return share, False
    return shape.share, True


def _marked(share: float, shape: Shape) -> bool:
    """Whether a gap says nearly the same."""
    alike = 2 * min(share, shape.share) >= _ALIKE * (share + shape.share)
    return shape.gap >= _AGAINST_MISFIT and alike


def _near(
    compared: dict[str, _Compared], n_objects: int, times: float, chances: float
) -> list[str]:
    """The references that fit about as well as the best, or as well as chance lets them."""
    least = min(one.misfit for one in compared.values())
    most = max(times * least, chances / np.sqrt(n_objects))
    return [name for name, one in compared.items() if one.misfit <= most]


def _tested(
    scores: Floats, own: Floats, compared: dict[str, _Compared], rng: np.random.Generator
) -> tuple[str, float, float]:
    """The reference that explains most, the p-value against it, and what it leaves."""
    excesses = {
        name: _excess(scores, own, compared[name].scores)
        for name in _near(compared, len(scores), *_FOR_TEST)
    }
    name = min(excesses, key=lambda key: excesses[key])
    chance = 1 / np.sqrt(len(scores))
    least = min(one.misfit for one in compared.values())
    margin = min(max(least, _LEAST_MARGIN * chance), _MOST_MARGIN)
    drawn = compared[name].scores
    larger = sum(
        _excess(rng.choice(drawn, len(scores)), own, drawn) + margin >= excesses[name]
        for _ in range(_N_REFERENCES)
    )
    return name, float((1 + larger) / (1 + _N_REFERENCES)), excesses[name]


def _deciding(
    fitting: list[str], excesses: dict[str, float], compared: dict[str, _Compared]
) -> str:
    """The reference that the border is found by: the simplest that others do not contradict.

    The more a reference can follow the objects, the more it may hold of the groups. A box holds
    nothing of them, and decides where it fits and copula and ellipsoid do not explain much
    more. Of these the one that explains most decides. Patches do where nothing simpler
    fits, or where they explain much more. Where nothing fits, the least misfit decides.
    """
    if not fitting:
        return min(compared, key=lambda name: compared[name].misfit)
    simple = [name for name in fitting if name in SIMPLE]
    if "box" in fitting and all(excesses[n] >= _MUCH * excesses["box"] for n in simple):
        return "box"
    if not simple:
        return min(fitting, key=lambda name: excesses[name])
    best = min(simple, key=lambda name: excesses[name])
    others = [name for name in fitting if excesses[name] < _MUCH * excesses[best]]
    return others[0] if others else best


def _excess(scores: Floats, own: Floats, drawn: Floats) -> float:
    """Largest difference of the shares above a score, where one is a multiple of the other."""
    order = np.argsort(-scores)
    here = np.cumsum(own[order]) / own.sum()
    there = 1 - _below(drawn, scores[order], "left")
    return float(np.max(here - there, where=here >= _TIMES * there, initial=0.0))


@dataclass(frozen=True)
class _Expected:
    """What a border anywhere would give: shares of the objects above it, and of true foreground."""

    above: Floats
    true: Floats
    all_true: float

    def best(self) -> float:
        """Share above the border of the largest expected F1."""
        return float(self.above[(2 * self.true / (self.above + self.all_true)).argmax()])

    def precision(self, share: float) -> float:
        """Expected share of true foreground above a border."""
        at = min(int(np.searchsorted(self.above, share)), len(self.above) - 1)
        return float(self.true[at] / self.above[at])


def _expected(scores: Floats, own: Floats, reference: _Compared) -> _Expected:
    """From the objects above a score those are taken off that the reference has there."""
    order = np.argsort(-scores)
    above = np.cumsum(own[order]) / own.sum()
    false = reference.background * (1 - _below(reference.scores, scores[order], "left"))
    true = np.maximum(above - false, 0.0)
    return _Expected(above, true, max(1 - reference.background, float(true.max())))
