"""Turn labelings in any form into dense integers with `NOISE` and `UNSEEN`.

One labeling at a time: integers (with -1 for noise and -2 for unseen), floats that are
whole numbers (missing = unseen), or any hashable values (None and NaN = unseen).
"""

from collections.abc import Hashable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import shown
from consilience.errors import InvalidInputError

NOISE = -1
UNSEEN = -2

Codes = NDArray[np.int64]


def relabel(labels: Any) -> NDArray[np.int32]:
    """Labels renumbered 0..k-1 without holes; noise (-1) and unseen (-2) stay.

    Integers keep their order; other values are numbered as they first appear.

    Examples
    --------
    >>> relabel([7, 3, 7, -1]).tolist()
    [1, 0, 1, -1]
    >>> relabel(["b", "a", None, "b"]).tolist()
    [0, 1, -2, 0]
    """
    return encode(labels).astype(np.int32)


def encode(labels: Any, *, what: str = "labels") -> Codes:
    """Codes 0..k-1, `NOISE` or `UNSEEN` of one labeling given in any form."""
    values, missing = _values_and_missing(labels, what)
    if values.ndim != 1:
        raise InvalidInputError(
            f"{what} must be one-dimensional. Got shape {values.shape} instead."
        )
    if values.dtype.kind == "O":
        numbers = _as_numbers(values, missing, what)
        if numbers is None:
            return _encode_hashables(values, missing, what)
        values, missing = numbers
    elif values.dtype.kind not in "biuf":
        return _encode_hashables(values, missing, what)
    if values.dtype.kind == "f":
        values, missing = _whole_floats(values, missing, what)
    return _encode_integers(values, missing, what)


def missing_labels(labels: Any, *, what: str = "labels") -> NDArray[np.bool_]:
    """Which values of one labeling are missing: None, NaN, NaT, or masked by their container.

    >>> missing_labels(["b", None, float("nan")]).tolist()
    [False, True, True]
    """
    values, missing = _values_and_missing(labels, what)
    absent = np.fromiter(map(is_missing, values.tolist()), bool, len(values))
    return absent if missing is None else absent | missing


def smallest_type(n_clusters: int) -> np.dtype[np.signedinteger[Any]]:
    """The narrowest signed type that holds clusters 0..n_clusters-1, noise and unseen."""
    for kind in (np.int8, np.int16):
        if n_clusters - 1 <= np.iinfo(kind).max:
            return np.dtype(kind)
    return np.dtype(np.int32)


def _values_and_missing(labels: Any, what: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Values of a labeling as an array, and which are missing where the container knows."""
    if isinstance(labels, np.ma.MaskedArray):
        return np.asarray(labels.data), np.ma.getmaskarray(labels)
    for method in ("isna", "is_null"):  # pandas, polars
        if hasattr(labels, method):
            mask = np.asarray(getattr(labels, method)(), bool)
            values = np.asarray(labels.to_numpy())
            if values.dtype.kind in "biuf" and not _too_large(values):
                return values, mask
            # Columns of pandas and polars have to_list, not so the arrays inside pandas.
            return _as_objects(list(labels)), mask
    if hasattr(labels, "__array__"):
        return np.asarray(labels), None
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InvalidInputError(
            f"{what} must be a list or an array with one label for every object. "
            f"Got {labels!r} instead."
        )
    items = list(labels)
    # Only numbers become a numeric array: numpy would turn 1 and "1" into the same text.
    if all(issubclass(kind, Real | np.bool_) for kind in set(map(type, items))):
        values = np.asarray(items)
        if not _too_large(values):
            return values, None
    return _as_objects(items), None


def _too_large(values: NDArray[Any]) -> bool:
    """Whether integers may have been rounded when a gap among them turned them into floats."""
    return values.dtype.kind == "f" and bool((np.abs(values) >= 2.0**53).any())


def _as_objects(items: list[Any]) -> NDArray[Any]:
    """An array of any objects; numpy left alone would unpack tuples into a second dimension."""
    return np.fromiter(items, object, len(items))


def is_missing(value: Any) -> bool:
    """Whether a single value stands for 'no label': None, NaN, NaT or pandas.NA."""
    if value is None:
        return True
    try:
        return bool(value != value)  # of all values only NaN and NaT differ from themselves
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _as_numbers(
    values: NDArray[Any], missing: NDArray[np.bool_] | None, what: str
) -> tuple[NDArray[Any], NDArray[np.bool_]] | None:
    """Numbers and missing mask of an object array, or None if some value is not a number."""
    absent = np.fromiter(map(is_missing, values.tolist()), bool, len(values))
    if missing is not None:
        absent |= missing
    present = values[~absent].tolist()
    kinds = set(map(type, present))
    if not all(issubclass(kind, Real | np.bool_) for kind in kinds):
        return None
    if all(issubclass(kind, Integral) for kind in kinds):
        numbers = _as_integers(present, what)
    else:
        numbers = _as_floats(present, what)
    out = np.zeros(len(values), numbers.dtype)
    out[~absent] = numbers
    return out, absent


def _as_floats(present: list[Any], what: str) -> NDArray[Any]:
    try:
        return np.asarray(present, float)
    except OverflowError:
        raise _beyond_64_bits(present, what) from None


def _as_integers(present: list[Any], what: str) -> NDArray[Any]:
    """Integers in a type that holds them; numpy by itself would round the largest."""
    for kind in (np.int64, np.uint64):
        try:
            return np.array(present, kind)
        except OverflowError:
            continue
    raise _beyond_64_bits(present, what)


def _beyond_64_bits(present: list[Any], what: str) -> InvalidInputError:
    return InvalidInputError(
        f"{what} must be whole numbers that fit into 64 bits, or names. Got "
        f"{shown(max(present, key=abs))} among them. Pass them as text."
    )


def _whole_floats(
    values: NDArray[Any], missing: NDArray[np.bool_] | None, what: str
) -> tuple[Codes, NDArray[np.bool_]]:
    """Integers and missing mask of floats; refuses fractions, which are data, not labels."""
    absent = np.isnan(values) if missing is None else missing | np.isnan(values)
    # In double precision: half precision does not reach the limit of 2^63.
    present = values[~absent].astype(np.float64, copy=False)
    odd = ~(np.abs(present) < 2.0**63) | (present != np.floor(present))
    if odd.any():
        raise InvalidInputError(
            f"{what} must be cluster labels, whole numbers or names. Got {present[odd][0]} "
            "instead. Pass data to a generator or to fit(X), not as labels."
        )
    return np.where(absent, UNSEEN, values).astype(np.int64), absent


def _encode_integers(values: NDArray[Any], missing: NDArray[np.bool_] | None, what: str) -> Codes:
    if values.dtype == np.uint64 and values.size and values.max() > np.iinfo(np.int64).max:
        values = np.unique(values, return_inverse=True)[1]  # hashes, say: order is kept
    codes = values.astype(np.int64)
    if missing is not None:
        codes[missing] = UNSEEN
    if codes.size and codes.min() < UNSEEN:
        raise InvalidInputError(
            f"{what} must be at least 0, or -1 for noise (seen, in no cluster), or -2 for unseen. "
            f"Got {codes.min()} instead. Renumber the labels, or pass them as text."
        )
    placed = codes >= 0
    present = codes[placed]
    if not present.size:
        return codes
    top = int(present.max())
    if top <= 4 * len(codes):  # counting beats sorting for labels that are nearly dense
        used = np.bincount(present) > 0
        if not used.all():
            codes[placed] = (np.cumsum(used) - 1)[present]
        return codes
    codes[placed] = np.unique(present, return_inverse=True)[1]
    return codes


def _encode_hashables(values: NDArray[Any], missing: NDArray[np.bool_] | None, what: str) -> Codes:
    seen: dict[Hashable, int] = {}
    codes = np.empty(len(values), np.int64)
    for i, value in enumerate(values.tolist()):
        if (missing is not None and missing[i]) or is_missing(value):
            codes[i] = UNSEEN
            continue
        try:
            codes[i] = seen.setdefault(value, len(seen))
        except TypeError as error:
            raise InvalidInputError(
                f"{what} must be hashable values such as numbers or text. "
                f"Got {value!r} of type {type(value).__name__} instead."
            ) from error
    return codes


def is_frame(table: Any) -> bool:
    """Whether the table is a pandas or polars frame, by what it can do."""
    return hasattr(table, "columns") and hasattr(table, "to_numpy")


def columns_of(labels: Any) -> Sequence[Any]:
    """The labelings of a table or list: one a column of an array or frame, one an item."""
    if is_frame(labels):
        # By position, because a pandas frame may use a column name twice.
        if hasattr(labels, "iloc"):
            return [labels.iloc[:, m] for m in range(labels.shape[1])]
        return list(labels.iter_columns())
    if isinstance(labels, np.ndarray):
        if labels.ndim != 2:
            raise InvalidInputError(
                "labels must be a table of n_objects x n_members, or a list of labelings. "
                f"Got an array of shape {labels.shape} instead. For a single labeling "
                "pass [labels]."
            )
        return list(labels.T)
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise InvalidInputError(
            "labels must be a table of n_objects x n_members, a list of labelings, or a frame. "
            f"Got {type(labels).__name__} instead."
        )
    items = list(labels)
    for item in items:
        if isinstance(item, str | bytes) or not isinstance(item, Iterable):
            raise InvalidInputError(
                "labels must be a list of labelings, each with one label for every object. "
                f"Got the single value {item!r} instead of a labeling. For a single labeling "
                "pass [labels]."
            )
    return items
