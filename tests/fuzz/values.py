"""Values for a parameter, from the rules its class lists for it, or from its name."""

import inspect
import typing
from collections.abc import Iterable
from numbers import Integral
from typing import Any

import numpy as np
from fuzz.arrays import ensemble, labeling, one_of

from consilience._validation import (
    Boolean,
    HasMethods,
    Interval,
    NoneValue,
    Options,
    RandomState,
    Rule,
)
from consilience.evidence import vat
from consilience.generate import KMeansEnsemble, Linkage

__all__ = ["LARGE", "ODD", "argument", "cheap", "illegal", "is_work", "legal"]

Rng = np.random.Generator

#: More of these is more work, and is asked for on purpose: never drawn large.
_WORK = (
    "n_members", "n_init", "max_iter", "n_repetitions", "n_resamples", "n_references", "n_cuts",
    "max_sweeps", "max_rounds", "n_rounds", "n_steps", "n_iter", "n_eps", "n_part", "n_pairs",
    "n_samples", "n_objects", "n_features", "n_sources",
)  # fmt: skip
_HUGE = 10**400
#: Values that hardly anything takes; some are right for some parameters, and must work there.
ODD: tuple[Any, ...] = (
    None, -1, 0, 1, 0.5, 2.5, "x", "", "auto", float("nan"), float("inf"), -float("inf"), 1e308,
    5e-324, True, [], (), {}, object(), np.array([1.0, 2.0]), np.float32(0.25), np.int8(2), b"x",
    [1, 2], (2, 3), (3, 2), [None], 1j, len, np.array(3), "1 GiB", -(10**20), -_HUGE,
    [[1], [2, 3]], [[1, 2]], {1, 2}, ["a", 1], [[0.5] * 12] * 12, [1j] * 12, np.array([1j] * 12),
    [float("nan")] * 12, [1e308] * 12, ["a"] * 12, [None] * 12, [-1] * 12, np.zeros((0, 3)),
    np.zeros((12, 0)), np.zeros(12, "M8[s]"), range(12),
)  # fmt: skip
# A number of members or rounds would be obeyed.
LARGE: tuple[Any, ...] = (10**20, 2**31, 2**63, 10**9, _HUGE, [_HUGE] * 12, [_HUGE, 1])
#: What keeps a case cheap where nothing else is drawn.
_CHEAP: dict[str, Any] = {
    "n_members": 3,
    "n_resamples": 4,
    "n_repetitions": 5,
    "n_init": 1,
    "n_eps": 10,
    "random_state": 0,
    "n_sample": 20,
}


def cheap(names: Iterable[str]) -> dict[str, Any]:
    """Values of those parameters that decide how much work there is."""
    chosen = {name: _CHEAP[name] for name in names if name in _CHEAP}
    if "generator" in names:
        chosen["generator"] = KMeansEnsemble(3, 2, random_state=0)
    return chosen


def illegal(rng: Rng, name: str) -> Any:
    """Something that is hardly ever right; a case in ten is, and must then work."""
    return one_of(rng, *ODD, *(() if is_work(name) else LARGE))


def is_work(name: str) -> bool:
    """Whether a large value of a parameter of this name is obeyed, and takes as long."""
    return name in _WORK


def legal(rng: Rng, name: str, rules: Iterable[Rule], n: int) -> Any:
    """A value that one of the rules accepts, near an end of its range as often as not."""
    rule = one_of(rng, *rules)
    match rule:
        case NoneValue():
            return None
        case Boolean():
            return bool(rng.random() < 0.5)
        case Options():
            return one_of(rng, *rule.allowed)
        case RandomState():
            return one_of(rng, 0, 7, 2**32 - 1, np.random.RandomState(3))
        case Interval():
            return _number(rng, rule, name)
        case HasMethods():
            return KMeansEnsemble(int(rng.integers(1, 5)), int(rng.integers(1, 4)), random_state=0)
    return argument(rng, name, n)


def _number(rng: Rng, rule: Interval, name: str) -> Any:
    if name == "n_jobs":
        return one_of(rng, 1, 2, -1, None)
    if rule.kind is Integral:
        low = int(rule.low if rule.low is not None else -3)
        return low + int(one_of(rng, 0, 0, 1, 2, 5))
    low = 0.0 if rule.low is None else float(rule.low)
    if rule.high is not None:
        inside = low + (rule.high - low) * rng.random()
        ends = (rule.high,) if rule.open_low else (rule.high, low)
        return float(one_of(rng, inside, inside, *ends))
    small = low + (1e-9 if rule.open_low else 0)
    return float(one_of(rng, low + rng.random(), low + 1, small, low + 1e6))


_BY_NAME: dict[str, Any] = {
    "n_clusters": lambda rng, n: one_of(rng, 1, 2, 2, 3, 3, 4, n, (2, 3), [2, 3]),
    "k": lambda rng, n: one_of(rng, 1, 2, 2, 3, n),
    "max_memory": lambda rng, n: one_of(rng, 1, "1 KB", "1 GiB", 10**9),
    "max_samples": lambda rng, n: one_of(rng, 0.5, 1.0, 0.9, 2, (0.5, 0.9)),
    "max_features": lambda rng, n: one_of(rng, 0.5, 1.0, 1, (0.5, 1.0)),
    "sizes": lambda rng, n: one_of(rng, None, [1.0, 2.0], [1, 1, 1]),
    "member_weights": lambda rng, n: one_of(rng, None, [1.0], rng.random(3)),
    "weights": lambda rng, n: one_of(rng, None, np.ones(n), rng.random(n), [1.0]),
    "shares": lambda rng, n: one_of(rng, None, np.array([0.5, 0.5])),
    "n_foreground": lambda rng, n: one_of(rng, 0.1, 0.5, 1.0, 1, 2, n),
    "m": lambda rng, n: one_of(rng, 0.1, 0.5, 1.0, 0, 1, 2, n),
    "window": lambda rng, n: (0.1, 0.9),
    "methods": lambda rng, n: one_of(rng, ["eac", "mcla"], ("hbgf",), ["voting", "kcc", "lwea"]),
    "divergence": lambda rng, n: one_of(
        rng, "euclidean", "mahalanobis", "gaussian", "kl", "itakura-saito", "logistic", "cosine"
    ),
    "weak": lambda rng, n: one_of(rng, "soft", "hard", "split"),
    "scores": lambda rng, n: _scores(rng, n),
    "values": lambda rng, n: _scores(rng, n),
    "S": lambda rng, n: _square(rng, n),
    "matrix": lambda rng, n: _square(rng, n),
    "D": lambda rng, n: 1 - _square(rng, n),
    "Z": lambda rng, n: _square(rng, n),
    "F": lambda rng, n: rng.random((n, 3)),
    "Q": lambda rng, n: rng.random((n, 4)),
    "B": lambda rng, n: (rng.random((n, 4)) < 0.5) * 1.0,
    "random_state": lambda rng, n: 0,
    "seed": lambda rng, n: 0,
    "n_jobs": lambda rng, n: one_of(rng, None, 1, 2),
    "estimators": lambda rng, n: _clusterer(),
    "generators": lambda rng, n: [KMeansEnsemble(2, 2), KMeansEnsemble(1, 3)],
    "clusterer": lambda rng, n: one_of(rng, None, _clusterer()),
    "consensus": lambda rng, n: None,
    "inv_h": lambda rng, n: one_of(rng, 0.0, 1.0, 9.0, [1.0, 2.0]),
    "reference": lambda rng, n: None,
    "n_members": lambda rng, n: int(rng.integers(1, 5)),
    "index": lambda rng, n: None,
    "names": lambda rng, n: None,
    "start": lambda rng, n: one_of(rng, "random", "hocc"),
    "data": lambda rng, n: rng.random((4, 3)),
    "joined": lambda rng, n: rng.integers(0, 3, (n, n)),
    "seen": lambda rng, n: one_of(rng, None, np.full((n, n), 3)),
    "order": lambda rng, n: vat(ensemble(rng, n)),
    "evidence": lambda rng, n: one_of(rng, _square(rng, n), ensemble(rng, n)),
    "dtype": lambda rng, n: one_of(rng, np.float32, np.float64, "float32"),
}
_LABELS = ("labels", "truth", "a", "b", "y", "first", "second")


def argument(rng: Rng, name: str, n: int, parameter: inspect.Parameter | None = None) -> Any:
    """A value for a parameter by its name, else by what its annotation or default says."""
    if name in _LABELS:
        return labeling(rng, n)
    if name in _BY_NAME:
        return _BY_NAME[name](rng, n)
    if parameter is not None:
        kinds = (parameter.annotation, *typing.get_args(parameter.annotation))
        literals = [kind for kind in kinds if typing.get_origin(kind) is typing.Literal]
        options = [value for kind in literals for value in typing.get_args(kind)]
        if options:
            return one_of(rng, *options)
        default = parameter.default
        if isinstance(default, bool):
            return not default
        if isinstance(default, int):
            return default + int(one_of(rng, 0, 1, -1)) if name not in _WORK else 2
        if isinstance(default, float):
            return default * float(one_of(rng, 1.0, 0.5, 2.0))
        if default is not inspect.Parameter.empty:
            return default
    return one_of(rng, None, 1, 2, 0.5, "auto")


def _scores(rng: Rng, n: int) -> Any:
    scores = rng.random(n)
    return one_of(
        rng, scores, np.round(scores, 1), np.zeros(n), scores * 1e-17, scores * 1e300, scores - 5,
        scores.astype(np.float32), scores.tolist(), np.where(scores > 0.9, np.nan, scores),
        np.where(scores > 0.9, np.inf, scores), scores[:1], scores[:0], (scores > 0.5),
    )  # fmt: skip


def _square(rng: Rng, n: int) -> Any:
    S = rng.random((n, n))
    S = (S + S.T) / 2
    np.fill_diagonal(S, 1)
    odd = S.copy()
    odd[0, -1] = one_of(rng, np.nan, np.inf, -1.0, 1e308)
    return one_of(rng, S, S, S, np.round(S), np.zeros((n, n)), odd, S[:, :-1], S[0], S.astype("f4"))


def _clusterer() -> Any:
    return Linkage(2)
