"""Values as JSON and arrays beside it, and back: a fixed list of kinds, and nothing else.

>>> packed, arrays = pack({"a": (1, np.arange(3))}, {})
>>> packed
{'~map': [['a', {'~tuple': [1, {'~array': 'a0'}]}]]}
>>> unpack(packed, arrays, {})
{'a': (1, array([0, 1, 2]))}
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["Kind", "Omitted", "dataclass_kind", "pack", "unpack"]

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Kind:
    """A class whose objects can be kept: what is kept of one, and one made of that."""

    name: str
    owner: type
    fields: Callable[[Any], Mapping[str, Any]]
    made: Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Omitted:
    """In the place of a value that cannot be kept: how it looked."""

    text: str


def dataclass_kind(owner: Any) -> Kind:
    """A dataclass by its fields; fields that a later version added are passed over."""
    names = [field.name for field in fields(owner)]
    return Kind(
        owner.__name__,
        owner,
        lambda value: {name: getattr(value, name) for name in names},
        lambda kept: owner(**{name: kept[name] for name in names if name in kept}),
    )


def pack(value: Any, kinds: Mapping[str, Kind]) -> tuple[Any, Arrays]:
    """A value as JSON can hold it, and the arrays it names."""
    arrays: Arrays = {}
    by_class = {kind.owner: kind for kind in kinds.values()}
    return _packed(value, by_class, arrays), arrays


def _named(array: NDArray[Any], arrays: Arrays) -> str:
    """The name of an array among those to be kept; what is there already is kept once."""
    for name, other in arrays.items():
        same = array.dtype == other.dtype and array.shape == other.shape
        if same and array.strides == other.strides and array.ctypes.data == other.ctypes.data:
            return name
    name = f"a{len(arrays)}"
    arrays[name] = array
    return name


def _packed(value: Any, kinds: Mapping[type, Kind], arrays: Arrays) -> Any:
    if _is_plain(value):
        return _plain(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "biufUmM":
        return {"~array": _named(value, arrays)}
    if isinstance(value, np.ndarray) and value.dtype.kind == "O" and value.ndim == 1:
        return {"~objects": [_plain(item) for item in value.tolist()]}
    if sparse.issparse(value):
        matrix = sparse.csr_array(value)
        made_of = (matrix.data, matrix.indices, matrix.indptr, matrix.shape)
        return {"~csr": [_packed(part, kinds, arrays) for part in made_of]}
    if isinstance(value, list):
        return [_packed(item, kinds, arrays) for item in value]
    if type(value) is tuple:
        return {"~tuple": [_packed(item, kinds, arrays) for item in value]}
    if isinstance(value, Mapping):
        items = [[_plain(key), _packed(item, kinds, arrays)] for key, item in value.items()]
        return {"~map": items}
    kind = next((kinds[one] for one in type(value).__mro__ if one in kinds), None)
    if kind is None:
        return {"~omitted": repr(value)[:1000]}
    parts = {key: _packed(item, kinds, arrays) for key, item in kind.fields(value).items()}
    return {"~kind": kind.name, "fields": parts}


def _is_plain(item: Any) -> bool:
    """Whether JSON has a value for this, or we write one."""
    if isinstance(item, np.generic):
        return item.dtype.kind in "biufU" and not isinstance(item, np.longdouble)
    return item is None or isinstance(item, bool | int | float | str)


def _plain(item: Any) -> Any:
    """A plain value, and of anything else its text: an identifier or a key as JSON can hold it."""
    if not _is_plain(item):
        return str(item)
    if isinstance(item, np.generic):
        item = item.item()
    if isinstance(item, float) and not math.isfinite(item):
        return {"~float": str(item)}
    return item


def unpack(packed: Any, arrays: Mapping[str, NDArray[Any]], kinds: Mapping[str, Kind]) -> Any:
    """The value that was packed.

    Raises
    ------
    KeyError, TypeError, ValueError
        For anything that `pack` does not write.
    """
    if packed is None or isinstance(packed, bool | int | float | str):
        return packed
    if isinstance(packed, list):
        return [unpack(item, arrays, kinds) for item in packed]
    if "~kind" in packed:
        kept = {key: unpack(item, arrays, kinds) for key, item in packed["fields"].items()}
        return kinds[packed["~kind"]].made(kept)
    ((tag, content),) = packed.items()
    if tag == "~array":
        return arrays[content]
    if tag == "~float":
        return {"inf": math.inf, "-inf": -math.inf, "nan": math.nan}[content]
    if tag == "~objects":
        return np.fromiter((unpack(item, arrays, kinds) for item in content), object, len(content))
    if tag == "~tuple":
        return tuple(unpack(item, arrays, kinds) for item in content)
    if tag == "~map":
        return {unpack(key, arrays, kinds): unpack(item, arrays, kinds) for key, item in content}
    if tag == "~csr":
        *parts, shape = (unpack(part, arrays, kinds) for part in content)
        matrix = sparse.csr_array(tuple(parts), shape=shape)
        matrix.check_format(full_check=True)
        return matrix
    if tag == "~omitted":
        return Omitted(content)
    raise KeyError(tag)
