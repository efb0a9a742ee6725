"""Plain values and arrays as one piece of bytes: a small header of JSON, and buffers as they lie.

Eight bytes that say what it is, the length of the header as four bytes, the header, and the arrays,
little-endian, each at a multiple of eight. The header says of every array its type, its shape and
where it begins after the header. No array goes through text.

>>> packed = pack({"a": 1}, {"x": np.arange(3, dtype=np.int16)})
>>> facts, arrays = unpack(packed)
>>> facts, arrays["x"].tolist()
({'a': 1}, [0, 1, 2])
"""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.errors import InvalidInputError

__all__ = ["narrow", "pack", "texts", "unpack"]

_MAGIC = b"CSEXPL1\n"
_KINDS = {"i1", "i2", "i4", "u1", "u2", "u4", "f4", "f8"}


def pack(facts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Values that JSON can hold, and arrays, as bytes."""
    entries, parts, at = {}, [], 0
    for name, array in arrays.items():
        kind = array.dtype.str[1:]
        if kind not in _KINDS:
            raise InvalidInputError(f"{name!r} is an array of {array.dtype}, which is not sent.")
        raw = np.ascontiguousarray(array, array.dtype.newbyteorder("<")).tobytes()
        entries[name] = {"type": kind, "shape": list(array.shape), "at": at}
        filled = -len(raw) % 8
        parts += [raw, b"\0" * filled]
        at += len(raw) + filled
    text = json.dumps({"facts": facts, "arrays": entries}, allow_nan=False, separators=(",", ":"))
    header = text.encode("ascii")
    header += b" " * (-(len(_MAGIC) + 4 + len(header)) % 8)
    return b"".join([_MAGIC, struct.pack("<I", len(header)), header, *parts])


def unpack(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What `pack` made the bytes of."""
    if data[: len(_MAGIC)] != _MAGIC:
        raise InvalidInputError("These bytes are no view of consilience.")
    start = len(_MAGIC) + 4
    (length,) = struct.unpack("<I", data[len(_MAGIC) : start])
    header = json.loads(data[start : start + length])
    arrays = {}
    for name, entry in header["arrays"].items():
        count = int(np.prod(entry["shape"], dtype=np.int64))
        values = np.frombuffer(data, f"<{entry['type']}", count, start + length + entry["at"])
        arrays[name] = values.reshape(entry["shape"])
    return header["facts"], arrays


def texts(name: str, values: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Texts as two arrays: all bytes of UTF-8, and where each text ends.

    >>> {name: array.tolist() for name, array in texts("id", ["a", "bc"]).items()}
    {'id.text': [97, 98, 99], 'id.ends': [1, 3]}
    """
    encoded = [value.encode("utf-8", "replace") for value in values]
    ends = np.cumsum([len(one) for one in encoded], dtype=np.int64)
    text = np.frombuffer(b"".join(encoded), np.uint8)
    return {f"{name}.text": text, f"{name}.ends": ends.astype(np.uint32)}


def narrow(values: NDArray[Any]) -> NDArray[Any]:
    """The same numbers in the narrowest type that holds each of them exactly.

    >>> [narrow(np.array(one)).dtype.str[1:] for one in ([1.0, -2.0], [0.5, np.nan], [0.1])]
    ['i1', 'f4', 'f8']
    """
    array = np.asarray(values)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        whole = False
    else:
        whole = bool((array == np.round(array)).all()) if array.dtype.kind == "f" else True
    if whole:
        low, high = (int(array.min()), int(array.max())) if array.size else (0, 0)
        for kind in (np.int8, np.int16, np.int32):
            limits = np.iinfo(kind)
            if limits.min <= low and high <= limits.max:
                return array.astype(kind)
        return array.astype(np.float64)
    with np.errstate(over="ignore"):
        single = array.astype(np.float32)
    same = (single.astype(np.float64) == array) | np.isnan(array)
    return single if bool(same.all()) else array.astype(np.float64)
