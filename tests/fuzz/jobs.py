"""Whole jobs in Python: `cluster`, `minority_groups`, `ambiguous_objects`, and what results can do.

A job is called with right and wrong arguments, on data in memory, on members, and on tables on a
disk; then its result is asked for some of its views, in any order.
"""

import inspect
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.arrays import bad_data, data, ensemble, label_table, labeling, one_of
from fuzz.calls import Call, length, short
from fuzz.oracle import Broken, arithmetic, check_confidence, check_labels
from fuzz.values import argument, illegal

import consilience as cs
from consilience.consensus import CONSENSUS
from consilience.ensemble import Ensemble
from consilience.generate import KMeansEnsemble

__all__ = ["draw"]

Rng = np.random.Generator

_JOBS: dict[str, Callable[..., Any]] = {
    "cluster": cs.cluster,
    "minority_groups": cs.minority_groups,
    "ambiguous_objects": cs.ambiguous_objects,
}
# Numbers of members and repetitions are work; folders and callbacks have their own tests.
_CHEAP = {"n_members": (1, 3, 8), "n_repetitions": (1, 5, 20)}
_LEFT_OUT = ("X", "options", "callbacks", "run", "effort", "n_members", "ensemble")
_VALUES: dict[str, tuple[Any, ...]] = {
    "n_clusters": (None, 1, 2, 2, 3, 3, 12),
    "max_clusters": (None, 2, 5, 40),
    "method": (None, None, *sorted(CONSENSUS)),
    "methods": (None, ["eac", "mcla"], {"eac": {"linkage": "single"}, "kcc": {}}),
    "scale": ("auto", True, False),
    "scaling": ("auto", "none", "box", "std", "robust"),
    "background": (None, 0, 1),
    "generator": (None, KMeansEnsemble(3, 2)),
    "random_state": (0, 7, None),
    "n_jobs": (None, 1, 2),
    "strict": (False, True),
    "refine": (False, True),
}
_OWN: dict[str, dict[str, tuple[Any, ...]]] = {
    "ambiguous_objects": {
        "score": ("confidence", "relative", "anco"),
        "threshold": (None, "otsu", "gap", "kde", "gmm2", "quantile", 0.5),
    },
    "minority_groups": {
        "score": ("sizes", "knn"),
        "threshold": ("reference", "2gauss", "dist", "size", "best", 0.5),
    },
}
# Of the method, or of EWOCS: names that are no parameters of the job.
_OPTIONS: dict[str, tuple[tuple[str, Any], ...]] = {
    "cluster": (("linkage", "single"), ("max_memory", "1 GiB"), ("n_init", 2), ("nonsense", 1)),
    "minority_groups": (
        ("weak", "split"), ("weak", "hard"), ("divergence", "cosine"), ("divergence", "euclidean"),
        ("gamma", 3.0), ("gamma", -1), ("nonsense", 1),
    ),
}  # fmt: skip


def draw(rng: Rng) -> Call:
    """A job on data or on a table on a disk, and two to four views of its result."""
    return _stored(rng) if rng.random() < 0.25 else _in_memory(rng)


def _in_memory(rng: Rng) -> Call:
    name = one_of(rng, "cluster", "cluster", "minority_groups", "ambiguous_objects")
    X = bad_data(rng) if rng.random() < 0.2 else data(rng)
    n = length(X)
    given = _arguments(rng, name, n)
    if name != "minority_groups" and rng.random() < 0.4:
        given["ensemble"] = one_of(rng, ensemble(rng, n), ensemble(rng, n), label_table(rng, n))
        if rng.random() < 0.5:
            X, n = None, Ensemble(given["ensemble"]).n_objects
    return _call(rng, name, X, n, given)


def _stored(rng: Rng) -> Call:
    """A table that is gone through in blocks."""
    X = np.asarray(data(rng) if rng.random() < 0.8 else rng.normal(size=(1, 2)))
    if X.ndim != 2 or X.dtype == object:
        X = rng.normal(size=(20, 3))
    if rng.random() < 0.2:
        X = X.astype(np.float64)
        X[0, 0] = one_of(rng, np.nan, np.inf, 1e308, 5e-324)
    path = _write(rng, X)
    source = one_of(rng, str(path), path, lambda: cs.open_rows(path), lambda: cs.open_rows(X))
    given = _arguments(rng, "cluster", len(X))
    for key in ("methods", "ids", "truth", "refine", "strict"):
        if rng.random() < 0.9:
            given.pop(key, None)
    if rng.random() < 0.6:
        given.pop("method", None)
    return _call(rng, "cluster", source, len(X), given)


def _write(rng: Rng, X: Any) -> Path:
    """The table as a file; one in five is damaged."""
    path = Path(one_of(rng, "table.npy", "table.npy", "table.parquet", "a b/é.npy"))
    path.parent.mkdir(exist_ok=True)
    if path.suffix == ".parquet":
        try:
            import pyarrow
            from pyarrow import parquet
        except ImportError:
            path = path.with_suffix(".npy")
        else:
            own = X.dtype.newbyteorder("=")  # Arrow has no other order of bytes
            columns = {f"c{j}": X[:, j].astype(own) for j in range(X.shape[1])}
            parquet.write_table(pyarrow.table(columns), path)
    if path.suffix == ".npy":
        np.save(path, X)
    if rng.random() < 0.2:
        raw = bytearray(path.read_bytes())
        if rng.random() < 0.5:
            raw = raw[: int(rng.integers(len(raw)))]
        else:
            raw[int(rng.integers(len(raw)))] ^= 1 << int(rng.integers(8))
        path.write_bytes(bytes(raw))
    return path


def _arguments(rng: Rng, name: str, n: int) -> dict[str, Any]:
    """Some parameters of a job, now and then a wrong one or one it does not have."""
    known = inspect.signature(_JOBS[name]).parameters
    values = _VALUES | _OWN.get(name, {})
    given: dict[str, Any] = {"random_state": 0}
    for key, few in _CHEAP.items():
        if key in known or (key == "n_repetitions" and name == "minority_groups"):
            given[key] = one_of(rng, *few)
    for key, parameter in known.items():
        if key in _LEFT_OUT or rng.random() > 0.2:
            continue
        if key in ("ids", "truth"):
            given[key] = one_of(rng, labeling(rng, n), rng.integers(0, 3, n), np.arange(n))
        else:
            given[key] = one_of(rng, *values.get(key, (argument(rng, key, n, parameter),)))
    if name in _OPTIONS and rng.random() < 0.2:
        key, value = one_of(rng, *_OPTIONS[name])
        given[key] = value
    if rng.random() < 0.15:
        key = one_of(rng, *(key for key in known if key not in ("X", "options")))
        given[key] = illegal(rng, "n_members" if key == "effort" else key)
    return given


def _call(rng: Rng, name: str, X: Any, n: int, given: dict[str, Any]) -> Call:
    names = [one_of(rng, *_VIEWS) for _ in range(int(rng.integers(2, 5)))]
    seed = int(rng.integers(2**31))
    words = ", ".join(f"{key}={short(value)}" for key, value in given.items())
    what = f"{name}({short(X)}, {words}): {', '.join(names)}"

    def do() -> None:
        result = _JOBS[name](X() if callable(X) else X, **given)
        check_result(result, n)
        own = np.random.default_rng(seed)
        for view in names:
            _VIEWS[view](result, own)

    return Call(f"job {name}", what, do, [X, *given.values()], n)


# ---- what must hold of a result, and of what it is asked for -----------------------------------


def check_result(result: Any, n: int) -> None:
    """Every object has its place, and figures are what they claim to be."""
    if result.n_objects != n:
        raise Broken(f"{result.n_objects} objects in the result, {n} given")
    for note in result.notes:
        if arithmetic(note):
            raise Broken(f"a note of arithmetic that went wrong: {note}")
    labels = getattr(result, "labels", None)
    if labels is not None:
        check_labels(np.asarray(labels), n, result.n_clusters, "labels")
        counts = np.bincount(labels[labels >= 0], minlength=result.n_clusters).tolist()
        if hasattr(result, "sizes") and result.sizes != counts:
            raise Broken(f"sizes {result.sizes}, labels say {counts}")
    if getattr(result, "confidence", None) is not None:
        check_confidence(result.confidence, n, "confidence")
    scores = getattr(result, "scores", None)
    # An object that nobody saw has no score where members are given.
    if scores is not None and np.isinf(scores).any():
        raise Broken("scores that are infinite")


def _only(name: str) -> Callable[..., Any]:
    """A view that some results do not have: they are not asked for it."""

    def decorate(view: Callable[[Any, Rng], None]) -> Callable[[Any, Rng], None]:
        return lambda result, rng: view(result, rng) if hasattr(result, name) else None

    return decorate


def _strict_json(value: Any) -> None:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise Broken(f"not to be held by JSON: {error}") from error


def _look_at_words(result: Any, rng: Rng) -> None:
    for text in (repr(result), getattr(result, "_repr_html_", str)()):
        if not isinstance(text, str) or "nan" in text.lower().split():
            raise Broken(f"words that are none: {text[:200]!r}")


def _look_at_facts(result: Any, rng: Rng) -> None:
    _strict_json(result.to_dict())


@_only("to_pandas")
def _look_at_frame(result: Any, rng: Rng) -> None:
    if len(result.to_pandas()) != result.n_objects:
        raise Broken("a frame with another number of rows")


@_only("page")
def _look_at_page(result: Any, rng: Rng) -> None:
    _strict_json(result.page(title=one_of(rng, None, "<b>", "")))


def _write_report(result: Any, rng: Rng) -> None:
    path = Path(one_of(rng, "page.html", "odd/é.html"))
    path.parent.mkdir(exist_ok=True)
    result.report(path)
    if not path.read_text(encoding="utf-8").rstrip().endswith("</html>"):
        raise Broken("a report without its end")


@_only("predict")
def _predict(result: Any, rng: Rng) -> None:
    width = max(len(getattr(result, "columns", ())) or len(result.data.original_columns), 1)
    new = one_of(
        rng, rng.normal(size=(5, width)), rng.normal(size=(1, width)) * 1e3, data(rng),
        bad_data(rng), np.zeros((0, width)), np.full((2, width), 1e308),
    )  # fmt: skip
    found = result.predict(new)
    check_labels(found.labels, length(new), result.n_clusters, "predicted labels")
    check_confidence(found.confidence, length(new), "predicted confidence")


@_only("seen")
def _predict_known(result: Any, rng: Rng) -> None:
    """Rows that were clustered have the labels they had; of equal rows, those of one of them."""
    if result.seen is None or result.data.original is None:
        return
    rows = result.data.original
    found = result.predict(rows)
    if not found.known.all():
        raise Broken("rows that were clustered are not known again")
    dense = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    if len(np.unique(dense, axis=0)) == len(dense) and (found.labels != result.labels).any():
        raise Broken("rows that were clustered have other labels")


@_only("profile")
def _profile(result: Any, rng: Rng) -> None:
    options = one_of(
        rng, {}, {}, {"level": 0.5}, {"level": illegal(rng, "level")}, {"X": data(rng)}
    )
    str(result.profile(**options))


@_only("levels")
def _levels(result: Any, rng: Rng) -> None:
    str(result.levels())


@_only("save")
def _save(result: Any, rng: Rng) -> None:
    folder = one_of(rng, "kept", "deep/er", Path("é"))
    result.save(folder)
    if not hasattr(result, "seen"):
        return
    again = cs.load(folder)
    check_result(again, result.n_objects)
    if again.labels.tobytes() != result.labels.tobytes():
        raise Broken("a result read back is another one")
    if json.dumps(again.to_dict(), default=str) != json.dumps(result.to_dict(), default=str):
        raise Broken("a result read back says other things")


@_only("split")
def _change(result: Any, rng: Rng) -> None:
    groups = [0, 1, 0, -1, result.n_clusters, result.n_clusters - 1, illegal(rng, "group")]
    kind = one_of(rng, "split", "merge", "rename")
    if kind == "split":
        changed = result.split(one_of(rng, *groups), one_of(rng, None, 2, 2, 1, 50))
    elif kind == "merge":
        changed = result.merge([one_of(rng, *groups), one_of(rng, *groups)])
    else:
        group = one_of(rng, *groups)
        group = group if type(group).__hash__ else str(group)  # no mapping has a list for a key
        changed = result.rename({group: one_of(rng, "a", "", "<b>", 3, None)})
    check_result(changed, result.n_objects)
    _strict_json(changed.to_dict())


@_only("least_sure")
def _ask(result: Any, rng: Rng) -> None:
    most = one_of(rng, 0, 1, 10)
    if len(result.least_sure(most)) > most or len(result.doubtful) != result.n_objects:
        raise Broken("more than asked for, or not all objects")
    _strict_json(result.least_sure(most))
    if len(result.ambiguity) != result.n_objects:
        raise Broken("ambiguity of other objects")
    result.candidates(), result.worth_a_look()


@_only("labels")
def _compare(result: Any, rng: Rng) -> None:
    if not hasattr(result, "data"):
        return
    other = one_of(rng, result, labeling(rng, result.n_objects), illegal(rng, "second"))
    str(cs.compare_results(result, other))


_VIEWS: dict[str, Callable[[Any, Rng], None]] = {
    "words": _look_at_words,
    "to_dict": _look_at_facts,
    "to_pandas": _look_at_frame,
    "page": _look_at_page,
    "report": _write_report,
    "predict": _predict,
    "predict known": _predict_known,
    "profile": _profile,
    "levels": _levels,
    "save": _save,
    "change": _change,
    "ask": _ask,
    "compare": _compare,
}
