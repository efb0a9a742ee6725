"""Every parameter of everything public, one after the other, with every odd value.

What is drawn at random meets most parameters with a few values only. Here nothing is drawn: the
others keep plain values, and one at a time is None, a text, a list of lists of different lengths,
a number that no float can hold, and so on.
"""

import inspect
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, cast

import numpy as np
from fuzz.calls import ESTIMATORS, FUNCTIONS, NOUNS, Call, short
from fuzz.values import LARGE, ODD, argument, cheap, is_work, legal

import consilience as cs
from consilience import consensus
from consilience.ensemble import Ensemble

__all__ = ["sweep", "units"]

_N = 12  # objects, as many as the values of a list in ODD
_JOBS: dict[str, Callable[..., Any]] = {
    "cluster": cs.cluster,
    "minority_groups": cs.minority_groups,
    "ambiguous_objects": cs.ambiguous_objects,
}
# Work, folders and callbacks; a seed that is not given is drawn.
_OBEYED = ("n_jobs", "run", "callbacks", "options", "effort")


# Of results: files and servers are left to their own tests.
_METHODS = {
    "cluster": (
        "candidates", "least_sure", "levels", "mean_confidence", "merge", "page", "predict",
        "profile", "rename", "split", "worth_a_look",
    ),
    "minority_groups": ("mean_score", "page"),
    "ambiguous_objects": ("most_ambiguous", "page"),
}  # fmt: skip


def units() -> list[str]:
    """Names of what is called; `sweep` takes one of them."""
    methods = (f"{job}.{name}" for job, names in _METHODS.items() for name in names)
    return [*ESTIMATORS, *FUNCTIONS, *_JOBS, *methods]


def sweep(name: str, odd: tuple[Any, ...] | None = None) -> Iterator[Call]:
    """Calls of one estimator, function or job: each parameter with each value, or with those."""
    X = np.random.default_rng(0).normal(size=(_N, 3))
    members = Ensemble(np.random.default_rng(1).integers(0, 3, (_N, 5)))
    make = _of_estimator if name in ESTIMATORS else _of_function
    names = inspect.signature(ESTIMATORS.get(name) or _function(name)).parameters
    for key in names:
        if key in _OBEYED or (name in FUNCTIONS and key in NOUNS):
            continue
        large = () if is_work(key) else LARGE
        for value in (*ODD, *large) if odd is None else odd:
            do, given = make(name, key, value, X, members)
            what = f"{name}({', '.join(f'{k}={short(v)}' for k, v in given.items())})"
            yield Call(f"sweep {name}", what, do, list(given.values()), _N)


def _of_estimator(
    name: str, key: str, value: Any, X: Any, members: Ensemble
) -> tuple[Callable[[], Any], dict[str, Any]]:
    cls = ESTIMATORS[name]
    names = inspect.signature(cls).parameters
    given = cheap(names)
    for other, parameter in names.items():
        if parameter.default is parameter.empty and other not in given:
            rules = cls._constraints.get(other, [])
            given[other] = legal(np.random.default_rng(2), other, rules, _N)
    if "n_clusters" in names:
        given["n_clusters"] = 2
    given[key] = value
    if issubclass(cls, consensus._base.Consensus):
        return lambda: cls(**given).fit(X, ensemble=members), given
    verb = "generate" if hasattr(cls, "generate") else "fit"
    return lambda: getattr(cls(**given), verb)(X), given


def _of_function(
    name: str, key: str, value: Any, X: Any, members: Ensemble
) -> tuple[Callable[[], Any], dict[str, Any]]:
    function = _function(name)
    names = inspect.signature(function).parameters
    given: dict[str, Any] = {}
    for other, parameter in names.items():
        needed = parameter.default is parameter.empty
        if other == "ensemble" and needed:
            given[other] = members
        elif other == "X" and (needed or name in _JOBS):
            given[other] = X
        elif other in ("k", "n_clusters"):
            given[other] = 2
        elif needed and parameter.kind is not parameter.VAR_KEYWORD:
            given[other] = argument(np.random.default_rng(1), other, _N, parameter)
    if name in _JOBS:
        given["n_repetitions" if name == "minority_groups" else "n_members"] = 3
    given |= {other: one for other, one in cheap(names).items() if other not in given}
    given[key] = value
    return lambda: function(**given), given


def _function(name: str) -> Callable[..., Any]:
    """A function, a job, or a method of a job's result."""
    job, _, method = name.partition(".")
    if method:
        return cast(Callable[..., Any], getattr(_result(job), method))
    return FUNCTIONS.get(name) or _JOBS[name]


@cache
def _result(job: str) -> Any:
    X = np.random.default_rng(0).normal(size=(_N, 3))
    X[: _N // 2] += 6
    few = {"n_repetitions": 5} if job == "minority_groups" else {"n_members": 8, "n_clusters": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return _JOBS[job](X, random_state=0, **few)
