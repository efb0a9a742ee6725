"""The border by references: how often objects of data without groups would score as high.

The objects are scored by models of the other half, and so are objects drawn from a reference,
data that resemble the background (`_nulls`). Where many more of the former than of the latter
score high, there are dense groups; the border is where the expected F1 is largest. Of three
families of references those that fit the lower half of the scores are considered, and of them
the one that explains most. Each is fitted to the objects by their chance to be background, in a
few rounds: it grows from the low-scoring part.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.minority._nulls import SIMPLE, Draws, on_grid, patches_of

__all__ = ["FEWEST_OBJECTS", "REPETITIONS", "Model", "Reference", "against_references"]

Floats = NDArray[np.float64]
# Fits a model to some objects; what it returns scores any objects.
Model = Callable[[Floats], Floats]
Fit = Callable[[NDArray[np.int64], int], Model]

# Objects looked at, and weak clusterings of the models of either half.
_MOST_OBJECTS, REPETITIONS = 10_000, 100
# Fewest objects about which anything is said.
FEWEST_OBJECTS = 20
# Rounds in which a reference is fitted; objects drawn from it, in all but the last and at least
# in that.
_ROUNDS, _FEW, _LEAST = 3, 2000, 2000
# References that the p-value is counted from.
_N_REFERENCES = 199
# An excess counts where objects are so many times as frequent as in the reference.
_TIMES = 2.0
# A reference is considered if its misfit is at most so many times the least, or such a multiple
# of chance, 1 / sqrt(n): generously for whether there is anything, which any of them may explain,
# more strictly for where the border is.
_FOR_TEST, _FOR_BORDER = (1.6, 1.3), (1.5, 1.0)
# Patches explain much more where they leave less than this share of the excess.
_MUCH = 0.7
# None fits where the least misfit is above the first plus the second times chance.
_MISFIT, _MORE = 0.05, 0.9
# The share of objects that may stand out from a reference because it is not exact: its misfit,
# between such a multiple of chance and a share.
_LEAST_MARGIN, _MOST_MARGIN = 0.63, 0.06
# Weight of objects that have none: shares of nothing are no numbers.
_NO_WEIGHT = 1e-9
# Least chance to be background that an object is given.
_LEAST_WEIGHT = 0.02


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
        Share of the objects that the reference does not explain, where they are at least twice
        as frequent as in it.
    precision : float
        Expected share of true foreground at the border.
    null : str
        The reference: "copula", "ellipsoid" or "patches".
    misfit : float
        Largest difference of the lower halves of the scores' distributions.
    fits : bool
        Whether the misfit is small.
    misfits : dict of str to float
        That of every reference.
    n_references, n_objects : int
        References drawn for the p-value, and objects looked at.
    """

    share: float
    p_value: float
    excess: float
    precision: float
    null: str
    misfit: float
    fits: bool
    misfits: dict[str, float]
    n_references: int
    n_objects: int


@dataclass(frozen=True)
class _Compared:
    """One reference: scores of its objects, sorted, background share and misfit."""

    scores: Floats
    background: float
    misfit: float


def against_references(
    X: Floats, fit: Fit, seed: int, clip: bool = False, weights: Floats | None = None
) -> Reference:
    """Compare objects with data that have no dense groups.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        At least 20 objects.
    fit : callable
        ``fit(rows, number)`` is a model of those objects, a function that scores any objects.
    seed : int
    clip : bool, default=False
        Whether references must stay in the range of the columns.
    weights : array of shape (n_objects,), optional
        How often each object counts.
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

    families = SIMPLE | {"patches": patches_of(data, seed)}
    compared = {name: _grown(data, scores, own, score, f, rng) for name, f in families.items()}
    return _judged(scores, own, compared, rng)


def _grown(
    X: Floats,
    scores: Floats,
    own: Floats,
    score: Model,
    family: Draws,
    rng: np.random.Generator,
) -> _Compared:
    """A reference fitted to the objects by their chance to be background, found in rounds."""
    weights = own
    for number in range(_ROUNDS):
        size = _FEW if number < _ROUNDS - 1 else max(_LEAST, len(X))
        drawn = np.sort(score(family(X, weights, rng, size)))
        background, misfit = _lower_half(scores, own, drawn)
        weights = own * _chances(scores, own, drawn, background)
    return _Compared(drawn, background, misfit)


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
    scores: Floats, own: Floats, compared: dict[str, _Compared], rng: np.random.Generator
) -> Reference:
    """The reference that explains most among those that fit; what is left, and how sure that is."""
    chance = 1 / np.sqrt(len(scores))
    least = min(one.misfit for one in compared.values())
    excesses = {name: _excess(scores, own, one.scores) for name, one in compared.items()}

    def near(times: float, chances: float) -> list[str]:
        most = max(times * least, chances * chance)
        return [name for name, one in compared.items() if one.misfit <= most]

    tested = min(near(*_FOR_TEST), key=lambda name: excesses[name])
    margin = min(max(least, _LEAST_MARGIN * chance), _MOST_MARGIN)
    drawn = compared[tested].scores
    larger = sum(
        _excess(rng.choice(drawn, len(scores)), own, drawn) + margin >= excesses[tested]
        for _ in range(_N_REFERENCES)
    )
    fitting = near(*_FOR_BORDER)
    fits = bool(least <= _MISFIT + _MORE * chance)
    name = _deciding(fitting if fits else [], excesses, compared)
    share, precision = _border(scores, own, compared[name])
    return Reference(
        share=share,
        p_value=(1 + larger) / (1 + _N_REFERENCES),
        excess=excesses[tested],
        precision=precision,
        null=name,
        misfit=compared[name].misfit,
        fits=fits,
        misfits={key: one.misfit for key, one in compared.items()},
        n_references=_N_REFERENCES,
        n_objects=len(scores),
    )


def _deciding(
    fitting: list[str], excesses: dict[str, float], compared: dict[str, _Compared]
) -> str:
    """The reference that the border is found by: of those that fit the one that explains most.

    Patches may hold a part of the groups: they decide where nothing simpler fits, or where they
    explain much more. Where nothing fits, the least misfit decides.
    """
    if not fitting:
        return min(compared, key=lambda name: compared[name].misfit)
    simple = [name for name in fitting if name in SIMPLE]
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


def _border(scores: Floats, own: Floats, reference: _Compared) -> tuple[float, float]:
    """Share of objects of the largest expected F1, and the expected precision there."""
    order = np.argsort(-scores)
    here = np.cumsum(own[order]) / own.sum()
    false = reference.background * (1 - _below(reference.scores, scores[order], "left"))
    true = np.maximum(here - false, 0.0)
    all_true = max(1 - reference.background, float(true.max()))
    best = int((2 * true / (here + all_true)).argmax())
    return float(here[best]), float(true[best] / here[best])
