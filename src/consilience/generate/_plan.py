"""What a run is, in JSON: enough to tell whether another run would make the same members.

A plan names the versions at work, the data by a fingerprint, the generator with all its
parameters, and the members' seeds. Two plans that agree give the same members.
"""

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numba
import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from scipy import sparse

from consilience import __version__
from consilience.engines import Blocks, engine_for
from consilience.rows import Stored

__all__ = ["Plan", "differences", "fingerprint", "identity", "make_plan", "plain", "read_plan"]

Plan = dict[str, Any]

_FORMAT = 1
_PARTS: dict[str, type] = {
    "versions": dict,
    "data": dict,
    "generator": str,
    "parameters": dict,
    "n_members": int,
    "seeds": list,
    "job": dict,
}
_DATA_PARTS: dict[str, type] = {"shape": list, "type": str, "rows": list, "digests": list}
# A hundred thousand members need two megabytes; nobody nests a job's options this deep.
_LARGEST, _DEEPEST = 64 << 20, 50
# Pieces of the data hashed apart, so that a refusal can say where the data changed.
_BLOCKS = 64
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LONGEST = 80


def make_plan(
    generator: Any, data: Any, n_members: int, seeds: list[int], job: Mapping[str, Any]
) -> Plan:
    """The plan of a run of a generator on checked data, as JSON would give it back."""
    kind = type(generator)
    plan = {
        "consilience_run": _FORMAT,
        "versions": _versions(),
        "data": fingerprint(data),
        "generator": f"{kind.__module__}.{kind.__qualname__}",
        "parameters": dict(_described(generator)),
        "n_members": n_members,
        "seeds": seeds,
        "job": dict(job),
    }
    above = getattr(generator, "_rows_above", 0)
    if above:
        plan["rows_above"] = above
    read_back: Plan = json.loads(json.dumps(plan, default=plain))
    return read_back


def read_plan(path: Path) -> Plan | None:
    """The plan that a file holds, None if it is empty; raises the end of a sentence about it."""
    if path.stat().st_size > _LARGEST:
        raise ValueError(_damaged("it is too large"))
    text = path.read_bytes()
    if not text.strip(b"\0"):
        return None
    try:
        plan: Plan = json.loads(text)
    except ValueError as error:
        raise ValueError(_damaged(str(error))) from error
    except RecursionError as error:
        raise ValueError(_damaged("it is nested too deep")) from error
    if not isinstance(plan, dict) or "consilience_run" not in plan:
        raise ValueError("is not a plan that consilience wrote. Take another folder.")
    if plan["consilience_run"] != _FORMAT:
        version = str(plan["consilience_run"])[:_LONGEST]
        raise ValueError(
            f"has format {version}, and this version of consilience reads {_FORMAT}. Use the "
            "version that wrote it, or take another folder."
        )
    wrong = _wrong_part(plan)
    if wrong:
        raise ValueError(_damaged(f"{wrong} is missing, or not what a run writes there"))
    return plan


def _damaged(how: str) -> str:
    return (
        f"is damaged ({how}). Remove this file: finished members that fit the run are found "
        "again where 'random_state' is a number. Or take another folder."
    )


def _wrong_part(plan: Plan) -> str:
    """The first part of a plan that no run could have written; nothing if all could be."""
    for name, kind in _PARTS.items():
        if not _is(plan.get(name), kind) or _is_deeper(plan[name], _DEEPEST):
            return repr(name)
    data = plan["data"]
    if not all(_is(seed, int) for seed in plan["seeds"]):
        return "'seeds'"
    whole = all(_is(data.get(name), kind) for name, kind in _DATA_PARTS.items())
    if not whole or not data["shape"] or len(data["rows"]) != len(data["digests"]) + 1:
        return "'data'"
    fits = all(_is(value, int) and value >= 0 for value in (*data["shape"], *data["rows"]))
    return "" if fits and all(_is(value, str) for value in data["digests"]) else "'data'"


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether lists and mappings lie in each other more than so many levels deep."""
    if not isinstance(value, list | dict):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(item, levels - 1) for item in inner)


def identity(plan: Plan) -> str:
    """A digest of all that decides what the members are; the caller's job is not of it."""
    decisive = {name: value for name, value in plan.items() if name != "job"}
    return _digest(json.dumps(decisive, sort_keys=True).encode())


def plain(value: Any) -> Any:
    """JSON form of what JSON does not know: numpy's values as Python's, the rest as text."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


def _versions() -> dict[str, str]:
    """Versions of what may change a member's labels."""
    return {
        "consilience": __version__,
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "numba": numba.__version__,
    }


# ---- the data -----------------------------------------------------------------------------


def fingerprint(data: Any) -> dict[str, Any]:
    """Shape, type and digests of blocks of rows of an array or a CSR matrix.

    About 0.6 s a gigabyte where the processor has instructions for SHA-256.
    """
    if isinstance(data, Stored):
        return _stored_fingerprint(data)
    n_rows = int(data.shape[0])
    edges = np.linspace(0, n_rows, min(_BLOCKS, n_rows) + 1).astype(int)
    return {
        "shape": [int(size) for size in data.shape],
        "type": f"{'sparse ' if sparse.issparse(data) else ''}{data.dtype}",
        "rows": edges.tolist(),
        "digests": [_digest(*_bytes(data, a, b)) for a, b in pairwise(edges)],
    }


def _stored_fingerprint(table: Stored) -> dict[str, Any]:
    """The same of a table that is not in memory, by digests of its pieces, where they are."""
    engine = engine_for(table)
    assert isinstance(engine, Blocks)
    pieces, digests = table.pieces(), engine.digests()
    edges = np.linspace(0, len(pieces), min(_BLOCKS, len(pieces)) + 1).astype(int)
    starts = [pieces[edge][0] for edge in edges[:-1]]
    return {
        "shape": list(table.shape),
        "type": f"{table.dtype} in blocks",
        "rows": [*starts, table.shape[0]],
        "digests": [_digest("".join(digests[a:b]).encode()) for a, b in pairwise(edges)],
    }


def _bytes(data: Any, start: int, stop: int) -> Iterator[NDArray[Any]]:
    """The arrays that hold rows start..stop-1, without a copy of the values."""
    if not sparse.issparse(data):
        yield np.ascontiguousarray(data[start:stop])
        return
    values = slice(data.indptr[start], data.indptr[stop])
    yield data.data[values]
    # scipy picks the width of indices by size and history: it says nothing about the data.
    yield data.indices[values].astype(np.int64, copy=False)
    yield data.indptr[start : stop + 1].astype(np.int64, copy=False)


def _digest(*pieces: Any) -> str:
    digest = hashlib.sha256(usedforsecurity=False)
    for piece in pieces:
        digest.update(piece)
    return digest.hexdigest()[:16]


# ---- the generator ------------------------------------------------------------------------


def _described(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every parameter below a value, by its path, as text that is the same in any process.

    How many workers there are (``n_jobs``) and where they work (``device``) changes no member and
    is left out.
    """
    if hasattr(value, "get_params") and not isinstance(value, type):
        if path:
            yield path, type(value).__qualname__
        for name, inner in sorted(value.get_params(deep=False).items()):
            if name not in ("n_jobs", "device"):
                yield from _described(inner, f"{path}.{name}" if path else name)
    elif isinstance(value, list | tuple) and any(map(_is_deep, value)):
        for place, inner in enumerate(value):
            yield from _described(inner, f"{path}[{place}]")
    else:
        yield path, _text(value)


def _is_deep(value: Any) -> bool:
    """Whether a value has parameters of its own, or holds one that has."""
    if isinstance(value, list | tuple):
        return any(map(_is_deep, value))
    return hasattr(value, "get_params")


def _text(value: Any) -> str:
    """A value as text: exact for numbers and arrays, without addresses of this process."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.dtype != object:
        return f"array {value.shape} {value.dtype} {_digest(np.ascontiguousarray(value))}"
    if isinstance(value, list | tuple):
        inside = ", ".join(map(_text, value))
        return f"[{inside}]" if isinstance(value, list) else f"({inside})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(name)}: {_text(item)}' for name, item in value.items())}}}"
    if isinstance(value, set | frozenset):  # whose order is another in every process
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, np.random.RandomState):
        return "RandomState"  # what it draws is among the seeds
    return _ADDRESS.sub("", repr(value))


# ---- two plans ----------------------------------------------------------------------------


def differences(old: Plan, new: Plan) -> list[str]:
    """What differs between two plans, each in a few words; nothing if they are the same run."""
    changes = _changed(old["versions"], new["versions"], "the version of {}")
    changes += _changed(old["job"], new["job"], "{}")
    changes += _changed_data(old["data"], new["data"])
    if old["generator"] != new["generator"]:
        return [*changes, _was("the generator", old["generator"], new["generator"])]
    changes += _changed(old["parameters"], new["parameters"], "{}")
    if not changes and old["n_members"] != new["n_members"]:
        changes.append(_was("the number of members", old["n_members"], new["n_members"]))
    if not changes and old["seeds"] != new["seeds"]:
        changes.append("the seeds that 'random_state' draws are others than before")
    if not changes and identity(old) != identity(new):
        changes.append("the plan was changed by somebody else")
    return changes


def _changed(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> list[str]:
    keys = dict.fromkeys([*old, *new])
    return [
        _was(name.format(key), old.get(key, "not given"), new.get(key, "not given"))
        for key in keys
        if old.get(key) != new.get(key)
    ]


def _was(name: str, old: Any, new: Any) -> str:
    texts = [str(old), str(new)]
    short = [t if len(t) <= _LONGEST else t[: _LONGEST - 3] + "..." for t in texts]
    before, now = short if short[0] != short[1] else texts
    return f"{name} was {before}, now {now}"


def _changed_data(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    for key, name in (("shape", "the shape of the data"), ("type", "the type of the data")):
        if old[key] != new[key]:
            show = " x ".join if key == "shape" else "".join
            return [_was(name, show(map(str, old[key])), show(map(str, new[key])))]
    # A plan that somebody changed may hold another number of them.
    for first, (before, now) in enumerate(zip(old["digests"], new["digests"], strict=False)):
        if before != now:
            start, stop = new["rows"][first], new["rows"][first + 1]
            return [f"the data have other values, first among rows {start} to {stop - 1}"]
    return []
