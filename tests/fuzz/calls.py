"""Calls of the library: every public estimator and function, with right and wrong arguments."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from fuzz.arrays import bad_data, data, ensemble, label_table, one_of
from fuzz.oracle import Broken, check_confidence, check_labels, foreign, no_bad_warnings
from fuzz.values import argument, cheap, illegal, legal
from scipy import sparse

import consilience
from consilience import compare, consensus, evidence, generate, metrics, minority, partition
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.minority import consistency, references, thresholds

__all__ = ["NOUNS", "Call", "draw", "length", "short"]

Rng = np.random.Generator

# What only helps other rooms, takes documents, or draws pictures is left to its own tests.
_LEFT_OUT = {
    "GRAMS", "grams", "one_thread", "with_defaults", "rank_diagram", "rank_text", "rank_bars",
    "kmeans_labels", "largest_eigenvectors", "leading_eigenvectors", "unit_rows", "lifetimes",
    "summary", "source_samples",
    "consistency_over", "score_objects", "choose_bipartite", "has_metis", "metis",
    "split_graph", "spectral", "bergmann_hommel", "ranks", "ranks_from_means",
    "default_method", "default_generator", "compare_methods",
}  # fmt: skip
# Results of other functions, handed on: their types are not looked at again.
NOUNS = ("joined", "seen", "order", "graph", "gram", "groups")
_ROOMS = (consensus, evidence, generate, minority, metrics, partition, compare, thresholds,
          references, consistency)  # fmt: skip


def _public(test: Callable[[Any], bool]) -> dict[str, Any]:
    found = {}
    for room in _ROOMS:
        for name in room.__all__:
            value = getattr(room, name)
            if test(value) and name not in _LEFT_OUT:
                found[name] = value
    return dict(sorted(found.items()))


ESTIMATORS = _public(lambda value: inspect.isclass(value) and hasattr(value, "_constraints"))
FUNCTIONS = _public(inspect.isfunction) | {"relabel": consilience.relabel}
_RULES = {name.lower(): cls._constraints for name, cls in ESTIMATORS.items()}


@dataclass
class Call:
    """One call: what is called, with what, and the arrays that must stay as they are."""

    kind: str
    what: str
    do: Callable[[], Any]
    kept: list[Any]
    n: int

    def run(self) -> str:
        """How it ended, "ok" or "refused: why"; raises `Broken`."""
        before = [_content(value) for value in self.kept]
        ended = "ok"
        try:
            with no_bad_warnings():
                found = self.do()
            _check(found, self.n)
        except Broken:
            raise
        except Exception as error:
            if why := foreign(error):
                raise Broken(why) from error
            ended = f"refused: {error}"
        for value, content in zip(self.kept, before, strict=True):
            if _content(value) != content:
                raise Broken("an argument was written to")
        return ended


def draw(rng: Rng) -> Call:
    """An estimator, a function, or an ensemble and what it can do."""
    kind = rng.random()
    if kind < 0.6:
        return _estimator(rng)
    return _function(rng) if kind < 0.92 else _ensemble(rng)


def _estimator(rng: Rng) -> Call:
    name = one_of(rng, *ESTIMATORS)
    cls = ESTIMATORS[name]
    X = bad_data(rng) if rng.random() < 0.25 else data(rng)
    n = length(X)
    params = _parameters(rng, cls, n)
    members = one_of(rng, None, ensemble(rng, n), label_table(rng, n), label_table(rng).tolist())
    given: dict[str, Any] = {}
    if issubclass(cls, consensus._base.Consensus) and members is not None and rng.random() < 0.7:
        given["ensemble"] = members
        X = X if rng.random() < 0.4 else None
        n = n if X is not None else Ensemble(members).n_objects
    verb = "generate" if hasattr(cls, "generate") else "fit"
    words = ", ".join(f"{key}={short(value)}" for key, value in params.items())
    what = f"{name}({words}).{verb}({short(X)}{', ensemble=' + short(members) if given else ''})"

    def do() -> Any:
        return getattr(cls(**params), verb)(X, **given)

    return Call(f"estimator {name}", what, do, [X, *given.values()], n)


def _parameters(rng: Rng, cls: Any, n: int) -> dict[str, Any]:
    signature = inspect.signature(cls).parameters
    params = cheap(signature)
    for name, rules in cls._constraints.items():
        if name == "n_jobs" and rng.random() < 0.8:
            continue
        needed = signature[name].default is inspect.Parameter.empty
        if name == "n_clusters" or needed or rng.random() < 0.3:
            params[name] = legal(rng, name, rules, n)
    if rng.random() < 0.3:
        name = one_of(rng, *cls._constraints)
        params[name] = illegal(rng, name)
    return params


def _function(rng: Rng) -> Call:
    name = one_of(rng, *FUNCTIONS)
    function = FUNCTIONS[name]
    members = ensemble(rng)
    n = members.n_objects
    given: dict[str, Any] = {}
    signature = inspect.signature(function).parameters
    rules = _RULES.get(name, {})
    for key, parameter in signature.items():
        needed = parameter.default is inspect.Parameter.empty
        if key == "ensemble":
            given[key] = (
                members if rng.random() < 0.9 else one_of(rng, members.labels, [[0, 1]], 5, None)
            )
        elif key == "X":
            if needed or rng.random() < 0.3:
                given[key] = bad_data(rng, n) if rng.random() < 0.2 else data(rng, max(n, 2))
        elif needed or rng.random() < 0.3:
            given[key] = (
                legal(rng, key, rules[key], n) if key in rules else argument(rng, key, n, parameter)
            )
    given |= {key: value for key, value in cheap(signature).items() if key not in given}
    keys = [key for key in signature if key not in NOUNS]
    if keys and rng.random() < 0.2:
        key = one_of(rng, *keys)
        given[key] = illegal(rng, key)
    what = f"{name}({', '.join(f'{key}={short(value)}' for key, value in given.items())})"
    return Call(f"function {name}", what, lambda: function(**given), list(given.values()), n)


def _ensemble(rng: Rng) -> Call:
    """Making, cutting, joining and storing ensembles."""
    n = int(rng.integers(1, 20))
    table = label_table(rng, n)
    raw = one_of(
        rng, table, table, table.tolist(), bad_data(rng, max(n, 2)), table.astype(float),
        table.astype(str), table.astype(object), [["a"] * n, [None] * n], illegal(rng, "labels"),
    )  # fmt: skip
    verb = one_of(rng, "make", "take", "members", "join", "save", "signatures", "indicator")
    key = one_of(rng, [0], slice(1), np.ones(n, bool), [], [n], [-1], "x", None, 0.5, [0, 0], 0)
    ending = one_of(rng, ".npz", ".parquet", ".csv", "")

    def do() -> Any:
        made = Ensemble(raw)
        if verb in ("take", "members"):
            try:
                return made.take(key) if verb == "take" else made[key]
            except IndexError as error:  # as of a list
                raise InvalidInputError(str(error)) from error
        if verb == "join":
            return made + made
        if verb == "save":
            made.save(f"ensemble{ending}")
            again = Ensemble.load(f"ensemble{ending}")
            if not np.array_equal(again.labels, made.labels):
                raise Broken("an ensemble read back is another one")
        return getattr(made, verb)() if verb in ("signatures", "indicator") else made

    what = f"Ensemble({short(raw)}): {verb} {key if verb in ('take', 'members') else ''}"
    return Call("ensemble", what, do, [raw], n)


# ---- what must hold of a result -------------------------------------------------------------


def _check(found: Any, n: int) -> None:
    """Whatever is found: labels for every object, confidences and memberships in [0, 1]."""
    fitted = hasattr(found, "get_params")
    end = "_" if fitted else ""
    labels = getattr(found, f"labels{end}", None)
    if isinstance(found, Ensemble):
        _check_ensemble(found)
        return
    if isinstance(labels, np.ndarray):
        count = getattr(found, f"n_clusters{end}", None)
        if hasattr(found, "get_params") and not hasattr(found, "generate"):
            # Of a graph, two or three columns are a list of edges: its objects are the nodes.
            of_a_graph = type(found).__name__ == "Communities"
            n = len(labels) if n == 0 or of_a_graph else n
            check_labels(labels, n, count if isinstance(count, int) else None, "labels")
        elif labels.dtype != np.int32:
            raise Broken(f"labels are {labels.dtype}, not int32")
    sure = getattr(found, f"confidence{end}", None)
    if isinstance(sure, np.ndarray):  # a comparison has a level of confidence
        check_confidence(sure, len(sure), "confidence")
    soft = getattr(found, f"memberships{end}", None)
    if isinstance(soft, np.ndarray) and not (np.isfinite(soft) & (soft >= -1e-9)).all():
        raise Broken("memberships that are not finite, or below 0")
    scores = getattr(found, "scores_", None)
    if isinstance(scores, np.ndarray) and not np.isfinite(scores).all():
        raise Broken("scores that are not finite")
    if isinstance(found, float) and not np.isfinite(found):
        raise Broken(f"the result is {found}")


def _check_ensemble(found: Ensemble) -> None:
    for member, k in zip(found, found.n_clusters, strict=True):
        placed = np.unique(member[member >= 0])
        # Labels of memberships name their columns, and one may be nobody's most likely.
        right = placed.max(initial=-1) < k if found.is_soft else len(placed) == k
        right = right and (found.is_soft or np.array_equal(placed, np.arange(k)))
        if member.min() < -2 or not right:
            raise Broken("a member whose clusters are not 0..k-1")


# ---- arguments in words, and as bytes -------------------------------------------------------


def length(X: Any) -> int:
    shape = getattr(X, "shape", None)
    if shape:
        return int(shape[0])
    return len(X) if isinstance(X, list) and X else 5


def _content(value: Any) -> Any:
    """What a value holds, to compare later; only arrays and ensembles can be written to."""
    if isinstance(value, Ensemble):
        return value.labels.tobytes()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return value.dtype.str, value.shape, value.tobytes()
    if sparse.issparse(value):
        return value.data.tobytes()
    if hasattr(value, "to_numpy"):
        return value.to_numpy().tobytes()
    if isinstance(value, list):
        return repr(value)
    return None


def short(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"array{value.shape}:{value.dtype}"
    text = " ".join(repr(value).split())
    return text if len(text) <= 60 else text[:57] + "..."
