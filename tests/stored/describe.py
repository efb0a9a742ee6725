"""Any value as JSON that says what it is, short enough to store."""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

__all__ = ["MARK", "described", "drawn", "shortened"]

#: Arrays longer than this are stored as digests and sums.
LONG = 40
DIGITS = 7
#: Answers of more characters than this are shortened.
SHORT = 100
#: How a shortened answer starts: a digest, then the size of the sums, and the sums.
MARK = "#"
_ZERO = 1e-9
#: Names of what differs from run to run.
_TIMES = ("seconds", "timings", "time", "version", "versions", "created", "n_jobs", "jobs")


def described(value: Any) -> Any:
    """The value as lists, dictionaries, text and numbers."""
    match value:
        case None | bool() | int() | str():
            return _without_times(value) if isinstance(value, str) else value
        case float():
            return _number(value)
        case np.generic() if value.dtype.kind in "biufUS":
            return described(value.item())
        case np.ndarray():
            return _array(value)
        case Path():
            return value.name
        case Mapping():
            return {
                str(key): described(one) for key, one in value.items() if str(key) not in _TIMES
            }
        case set() | frozenset():
            return sorted(map(str, value))
        case slice():
            return str(value)
    if sparse.issparse(value):
        return {"sparse": value.format, "of": _array(value.toarray())}
    if isinstance(value, list | tuple) and hasattr(value, "_fields"):
        return {name: described(getattr(value, name)) for name in value._fields}
    if isinstance(value, list | tuple | range):
        return _listed(value)
    return _thing(value)


def _number(value: float) -> float | str:
    if not math.isfinite(value):
        return str(value)
    return float(f"{value:.{DIGITS}g}")


def _listed(value: Any) -> Any:
    """A list; one of many numbers as an array."""
    if len(value) > LONG:
        if all(type(one) in (int, float) for one in value):
            return _array(np.array(value))
        if all(isinstance(one, str) for one in value):
            return {"texts": len(value), "digest": _digest("\n".join(value).encode())}
    return [described(one) for one in value]


def _array(value: np.ndarray) -> Any:
    kind = value.dtype.kind
    about = {"type": str(value.dtype), "shape": list(value.shape)}
    if kind not in "biuf":
        return about | {"values": [described(one) for one in value.ravel().tolist()]}
    if value.size <= LONG:
        return about | {"values": [described(one) for one in value.ravel().tolist()]}
    if kind != "f":
        whole = np.ascontiguousarray(value, np.int64)
        return about | {"digest": _digest(whole.tobytes()), "sum": int(whole.sum())}
    flat = np.asarray(value, np.float64).ravel()
    finite = np.isfinite(flat)
    kept = flat[finite]
    weights = np.cos(np.arange(flat.size))[finite]  # so that the order matters
    sums = [kept.sum(), kept @ weights, *((kept.min(), kept.max()) if kept.size else ())]
    return about | {
        "odd": int((~finite).sum()),
        "size": float(f"{np.abs(kept).sum():.3g}"),
        "sums": [_number(float(one)) for one in sums],
    }


def shortened(value: Any) -> Any:
    """A long answer as a digest of all but its floats, and sums of these.

    The sums are of ``asinh(1000 x)``, to which large and small numbers add alike.
    """
    if len(json.dumps(value)) <= SHORT:
        return value
    floats: list[float] = []
    rest = json.dumps(_without_floats(value, floats)).encode()
    scaled = np.arcsinh(1000.0 * np.array(floats))
    weights = np.cos(np.arange(scaled.size))
    sums = (scaled.sum(), scaled @ weights)
    told = [f"{np.abs(scaled).sum():.3g}", *(f"{one:.{DIGITS}g}" for one in sums)]
    return " ".join([f"{MARK}{_digest(rest)}", *(told if floats else ())])


def _without_floats(value: Any, floats: list[float]) -> Any:
    """The value with its floats taken out into the list."""
    if isinstance(value, float):
        floats.append(value if abs(value) > _ZERO else 0.0)
        return 0.0
    if isinstance(value, dict):
        return {key: _without_floats(one, floats) for key, one in value.items()}
    return [_without_floats(one, floats) for one in value] if isinstance(value, list) else value


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:10]


def _without_times(text: str) -> str:
    """A text without what a run took, places in memory, and long parts."""
    text = re.sub(r"\b0x[0-9a-f]{6,}", "0x", text)
    text = re.sub(r"\d+(\.\d+)? ?(s|ms|min|seconds?)\b", "TIME", text)
    return text if len(text) <= 600 else text[:200] + "... " + _digest(text.encode())


def _thing(value: Any) -> Any:
    """Objects of ours, estimators, tables, pictures."""
    kind = type(value).__name__
    if kind == "Ensemble":
        return {
            "labels": described(value.labels),
            "index": described(value.index),
            "names": described(value.names),
            "records": described(value.records),
        }
    if hasattr(value, "get_params"):
        fitted = {
            name: described(one)
            for name, one in sorted(vars(value).items())
            if name.endswith("_") and not name.startswith("_")
        }
        return {"estimator": kind, **(fitted or {"params": described(_params(value))})}
    if is_dataclass(value):
        own = {one.name: getattr(value, one.name) for one in fields(value)}
        return {"kind": kind} | {
            name: described(one) for name, one in own.items() if name not in _TIMES
        }
    if hasattr(value, "columns") and hasattr(value, "to_dict"):
        if hasattr(value, "index"):
            about = {"index": described(list(value.index))}
            return about | {str(name): described(value[name].to_numpy()) for name in value}
        return {str(name): described(value[name].to_numpy()) for name in value.columns}
    if hasattr(value, "get_xlim"):
        return drawn(value)
    if kind == "Figure":
        return [drawn(ax) for ax in value.axes]
    if isinstance(value, np.random.RandomState | np.random.Generator) or callable(value):
        return kind
    return re.sub(r"\b0x[0-9a-f]{6,}", "0x", str(value))[:300]


def _params(value: Any) -> dict[str, Any]:
    return value.get_params(deep=False)


def drawn(ax: Any) -> dict[str, Any]:
    """What a picture shows: words, places of lines and points, images, limits."""
    legend = ax.get_legend()
    return {
        "title": ax.get_title(),
        "labels": [ax.get_xlabel(), ax.get_ylabel()],
        "scales": [ax.get_xscale(), ax.get_yscale()],
        "limits": described([*map(float, ax.get_xlim()), *map(float, ax.get_ylim())]),
        "ticks": [
            [described(np.asarray(axis.get_ticklocs(), float)) for axis in (ax.xaxis, ax.yaxis)],
            [
                [[one.get_text(), one.get_rotation()] for one in axis.get_ticklabels()]
                for axis in (ax.xaxis, ax.yaxis)
            ],
        ],
        "lines": [
            [
                str(one.get_label()),
                _colour(one.get_color()),
                described(float(one.get_linewidth())),
                [
                    one.get_linestyle(),
                    str(one.get_marker()),
                    described(float(one.get_markersize())),
                    described(float(one.get_markeredgewidth())),
                    _colour(one.get_markeredgecolor()),
                    _colour(one.get_markerfacecolor()),
                ],
                _layer(one),
                described(np.asarray(one.get_xdata(), float)),
                described(np.asarray(one.get_ydata(), float)),
            ]
            for one in ax.lines
        ],
        "texts": [
            [
                one.get_text(),
                described([float(v) for v in one.get_position()]),
                described(float(one.get_fontsize())),
                one.get_ha(),
                one.get_va(),
                _colour(one.get_color()),
                described([float(v) for v in getattr(one, "xy", ())]),
                one.get_rotation(),
            ]
            for one in ax.texts
        ],
        "patches": [
            [
                described(np.asarray(one.get_path().vertices)),
                _colour(one.get_facecolor()),
                _colour(one.get_edgecolor()),
                described(float(one.get_linewidth())),
                _box(one),
                _layer(one),
            ]
            for one in ax.patches
        ],
        "collections": [_collection(one) for one in ax.collections],
        "images": [
            [
                described(np.ma.filled(one.get_array(), -9)),
                list(map(float, one.get_extent())),
                described(one.get_clim()),
                one.get_cmap().name,
                one.get_interpolation(),
            ]
            for one in ax.images
        ],
        "legend": None
        if legend is None
        else [
            legend.get_frame_on(),
            [
                [one.get_text(), described(float(one.get_fontsize()))]
                for one in [legend.get_title(), *legend.get_texts()]
            ],
        ],
        "frame": [
            ax.get_visible(),
            str(ax.get_aspect()),
            *(one.get_visible() for one in ax.spines.values()),
        ],
        "axes": len(ax.figure.axes),
        "size": described([float(v) for v in ax.figure.get_size_inches()]),
        "others": [[one.get_ylabel(), one.get_xlabel()] for one in ax.figure.axes if one is not ax],
    }


def _box(patch: Any) -> Any:
    if not hasattr(patch, "get_bbox"):
        return None
    return described([float(v) for v in np.asarray(patch.get_bbox().extents)])


def _layer(one: Any) -> Any:
    return [described(float(one.get_zorder())), described(one.get_alpha())]


def _colour(colour: Any) -> str:
    from matplotlib.colors import to_hex

    return to_hex(colour, keep_alpha=True)


def _collection(one: Any) -> dict[str, Any]:
    return {
        "kind": type(one).__name__,
        "label": str(one.get_label()),
        "places": described(np.ma.filled(np.asarray(one.get_offsets(), float), -9)),
        "paths": described(
            np.concatenate([path.vertices for path in one.get_paths()] or [np.zeros((0, 2))])
        )
        if len(one.get_paths()) != 1
        else None,
        "sizes": described(np.asarray(one.get_sizes(), float))
        if hasattr(one, "get_sizes")
        else None,
        "colours": described(np.asarray(one.get_facecolor(), float)),
        "edges": described(np.asarray(one.get_edgecolor(), float)),
        "widths": described(np.asarray(one.get_linewidth(), float)),
        "layer": _layer(one),
    }
