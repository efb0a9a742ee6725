"""The rows of X, whatever X is: the one border where data are checked.

A table of numbers comes as an array, a memory map, a CSR matrix, a frame of pandas or polars, an
Arrow table, a list of lists, a torch tensor, anybody's array that knows DLPack (CuPy, JAX), or as
anything that hands out rows by slices (an HDF5 data set, a zarr array). Here it is read once,
checked once and remembered with its names and index; behind this border a `Rows` is passed on, and
nothing converts or checks the numbers again. What lies on a device is checked there, and copied to
the host only for whoever asks for its ``values``.

Tables larger than memory (`stored_rows`) stay where they are: `Rows` of a `Stored` table are read
and checked block by block, each time they are needed.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np
from scipy import sparse

from consilience._labels import is_frame
from consilience._optional import optional
from consilience._sklearn import check_array, validate_data
from consilience._stored import (
    Stored,
    here,
    is_dask,
    is_table_path,
    open_stored,
    piece_rows,
)
from consilience._stored._table import BLOCK
from consilience._words import listed
from consilience.errors import InvalidInputError

__all__ = [
    "OnDevice",
    "Rows",
    "Stored",
    "as_given",
    "device_of_data",
    "here",
    "is_dask",
    "is_table_path",
    "is_tensor",
    "piece_rows",
    "refuse_same_names",
    "rows_of",
    "same_objects",
    "stored_rows",
]

Kind = Literal["floats", "float64"]

# DLPack's numbers of memory that the processor reads: its own, and such that a card reads too.
_HOST = (1, 3)


class OnDevice:
    """A torch tensor of rows, float32 or float64, that whoever needs rows in memory asks for some.

    Parameters
    ----------
    tensor : torch tensor of shape (n_objects, n_features)
    """

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor
        self.shape = tuple(int(size) for size in tensor.shape)
        self.dtype = np.dtype(str(tensor.dtype).removeprefix("torch."))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, objects: Any) -> Any:
        """Some rows, in the memory of the host."""
        at = sys.modules["torch"].as_tensor(np.asarray(objects), device=self.tensor.device)
        return self.tensor[at].cpu().numpy()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """All rows, in the memory of the host."""
        return np.asarray(self.tensor.cpu().numpy(), dtype)

    def ends(self) -> Any:
        """The least and the largest number."""
        return np.array([self.tensor.min().item(), self.tensor.max().item()], self.dtype)


class Rows:
    """Finite numbers, one row an object: dense in C order, CSR, or not in memory at all.

    Attributes
    ----------
    values : ndarray, CSR matrix or Stored table of shape (n_objects, n_features)
        float64 or float32, checked. Not to be written to: it may be the user's own array.
    names : tuple of str or None
        Of the columns, where the data came with names.
    index : pandas index or None
        Of the frame the objects came in.
    device : str or None
        Of the torch tensor they came in: where to compute, unless told otherwise.
    tensor : OnDevice or None
        They, where they came in a tensor.
    """

    __slots__ = ("_values", "device", "index", "names", "tensor")

    def __init__(
        self,
        values: Any,
        names: tuple[str, ...] | None = None,
        index: Any = None,
        device: str | None = None,
        tensor: "OnDevice | None" = None,
    ):
        self._values, self.names, self.index, self.device = values, names, index, device
        self.tensor = tensor

    @property
    def values(self) -> Any:
        """The numbers in the memory of the host; of a tensor a copy, made when first asked for."""
        if self._values is None and self.tensor is not None:
            self._values = np.asarray(self.tensor)
        return self._values

    @property
    def shape(self) -> tuple[int, int]:
        """Objects and columns."""
        held = self.values if self.tensor is None else self.tensor
        return (int(held.shape[0]), int(held.shape[1]))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers: float64 or float32."""
        return np.dtype((self.values if self.tensor is None else self.tensor).dtype)

    @property
    def is_sparse(self) -> bool:
        """Whether ``values`` is a CSR matrix."""
        return bool(sparse.issparse(self._values))

    @property
    def is_stored(self) -> bool:
        """Whether ``values`` is a `Stored` table, which is not in memory."""
        return isinstance(self._values, Stored)

    def __len__(self) -> int:
        return self.shape[0]

    def take(self, objects: Any) -> "Rows":
        """The rows of some objects, in memory: their numbers, or a mask."""
        index = None if self.index is None else self.index[objects]
        if self.tensor is not None:
            return Rows(self.tensor[np.arange(len(self))[objects]], self.names, index, self.device)
        values = self.values.take(objects) if self.is_stored else self.values[objects]
        return Rows(values, self.names, index, self.device)

    def blocks(self, n_rows: int) -> Iterator[tuple[int, Any]]:
        """First row and rows of one block after the other; views where they are dense.

        >>> rows = Rows(np.arange(6.0).reshape(3, 2))
        >>> [(start, block.tolist()) for start, block in rows.blocks(2)]
        [(0, [[0.0, 1.0], [2.0, 3.0]]), (2, [[4.0, 5.0]])]
        """
        n = self.shape[0]
        for start in range(0, n, n_rows):
            stop = min(start + n_rows, n)
            yield (
                start,
                self.values.read(start, stop) if self.is_stored else self.values[start:stop],
            )


def stored_rows(X: Any, *, ignore: Sequence[str] = ()) -> Rows:
    """Rows of a table that stays where it is; `consilience.datasets.open_rows` takes more.

    >>> stored_rows(np.zeros((3, 2)).view(np.memmap)).shape
    (3, 2)
    """
    table = open_stored(X, ignore)
    if table is None:
        raise InvalidInputError(
            "open_rows takes a path, a memory map, a Dask array or frame, or something else that "
            f"is sliced by rows. Got {type(X).__name__} instead. Data in memory need not be opened."
        )
    return Rows(table, table.names)


def rows_of(
    X: Any,
    *,
    owner: Any,
    fitted: Any = None,
    reset: bool = True,
    allow_sparse: bool = True,
    kind: Kind = "floats",
    min_objects: int = 1,
    allow_stored: bool = False,
) -> Rows:
    """Data in any form as `Rows`; what are `Rows` already are passed on.

    Parameters
    ----------
    X : Rows, array, frame, CSR matrix, list of lists, or anything sliced by rows
    owner : str or estimator
        Who asks, for messages.
    fitted : estimator, optional
        An estimator that remembers the number and the names of the columns (``reset``), or
        checks that they are those it was fitted with.
    reset : bool, default=True
    allow_sparse : bool, default=True
        Whether CSR matrices may pass; other sparse matrices become CSR.
    kind : {"floats", "float64"}, default="floats"
        Whether float32 stays as it is.
    min_objects : int, default=1
    allow_stored : bool, default=False
        Whether rows that are not in memory (`stored_rows`, Dask arrays) may pass.

    Raises
    ------
    ValueError, TypeError
        In scikit-learn's words, for what is no table of finite numbers.
    """
    if is_dask(X):
        X = stored_rows(X)
    known = X if isinstance(X, Rows) else None
    if known is not None and known.is_stored:
        stored = _checked_stored(known, owner, min_objects, allow_stored)
        if fitted is not None:
            _remember(stored, fitted, reset)
        return stored
    if known is None:
        X = _through_dlpack(X)
        on_device = _checked_on_device(X, fitted, reset, kind, min_objects)
        if on_device is not None:
            return on_device
    options = {
        "accept_sparse": "csr" if allow_sparse else False,
        "dtype": [np.float64, np.float32] if kind == "floats" else np.float64,
        "order": "C",
        "ensure_min_samples": min_objects,
        # Known to be finite: to look again would be one more pass over them.
        "ensure_all_finite": known is None,
    }
    if known is not None and known.tensor is not None and fitted is None and kind == "floats":
        return known
    if known is None:
        refuse_same_names(X)
    given = _read(X) if known is None else known.values
    if fitted is None or (known is not None and known.names is not None):
        who = owner if fitted is None else fitted
        values = check_array(given, estimator=who, input_name="X", **options)
    else:
        values = validate_data(fitted, given, reset=reset, **options)
    if known is None:
        device = str(X.device) if is_tensor(X) else None
        return Rows(values, _names(X), getattr(X, "index", None) if is_frame(X) else None, device)
    if fitted is not None and known.names is not None:  # scikit-learn saw numbers only
        _remember(known, fitted, reset)
    if values is known.values:
        return known
    return Rows(values, known.names, known.index, known.device)


def _through_dlpack(X: Any) -> Any:
    """Anybody's array that knows DLPack as a tensor or an array on the same memory: no copy."""
    ours = isinstance(X, np.ndarray) or is_tensor(X) or not hasattr(X, "__dlpack_device__")
    if ours or len(getattr(X, "shape", ())) != 2:
        return X
    kind = int(X.__dlpack_device__()[0])
    if kind in _HOST:
        return np.from_dlpack(X)
    torch = optional("torch", extra="gpu", what="An array on a graphics card")
    return torch.from_dlpack(X)


def _checked_on_device(
    X: Any, fitted: Any, reset: bool, kind: Kind, min_objects: int
) -> Rows | None:
    """A tensor that is a table of finite numbers, checked where it lies; None for all others.

    What is wrong with them is said in scikit-learn's words, of a copy.
    """
    if not is_tensor(X) or X.layout != sys.modules["torch"].strided or X.ndim != 2:
        return None
    torch = sys.modules["torch"]
    tensor = X.detach()
    if tensor.is_complex() or len(tensor) < max(min_objects, 1) or tensor.shape[1] < 1:
        return None
    wanted = tensor.dtype in (torch.float32, torch.float64) and kind == "floats"
    tensor = (tensor if wanted else tensor.to(torch.float64)).contiguous()
    if not bool(torch.isfinite(tensor).all()):
        return None
    if fitted is not None:
        validate_data(fitted, X, reset=reset, skip_check_array=True)
    return Rows(None, None, None, str(X.device), OnDevice(tensor))


def _checked_stored(rows: Rows, owner: Any, min_objects: int, allowed: bool) -> Rows:
    """Rows that are not in memory, if whoever asks can do with them."""
    name = owner if isinstance(owner, str) else type(owner).__name__
    if not allowed:
        raise InvalidInputError(
            f"{name} needs its data in memory, and {rows.values.what} is read block by block. Give "
            "it a sample, rows.take(objects), or all of a Dask array that fits, X.compute(); or "
            "take SEC, LWGP or another estimator that works by blocks."
        )
    n, d = rows.shape
    if n < min_objects or d < 1:
        raise InvalidInputError(
            f"{rows.values.what} has {n} rows of {d} columns, while {name} needs at least "
            f"{min_objects} rows and one column."
        )
    return rows


def _remember(rows: Rows, fitted: Any, reset: bool) -> None:
    """Have an estimator remember the columns, or check that they are those it remembers."""
    if reset:
        fitted.n_features_in_ = rows.shape[1]
        if rows.names is not None:
            fitted.feature_names_in_ = np.array(rows.names, dtype=object)
        elif hasattr(fitted, "feature_names_in_"):
            del fitted.feature_names_in_  # of an earlier fit
        return
    if rows.shape[1] != fitted.n_features_in_:
        raise InvalidInputError(
            f"X has {rows.shape[1]} features, but {type(fitted).__name__} is expecting "
            f"{fitted.n_features_in_} features as input."
        )
    fitted_with = getattr(fitted, "feature_names_in_", None)
    if rows.names is not None and fitted_with is not None and [*fitted_with] != [*rows.names]:
        raise InvalidInputError(
            f"The columns of X must be those that {type(fitted).__name__} was fitted with, in "
            f"their order: {listed(map(repr, fitted_with), most=10)}. Got "
            f"{listed(map(repr, rows.names), most=10)}. Feature names should match: take the "
            "columns in that order, or rename them."
        )


def same_objects(rows: Rows, n_objects: int) -> Rows:
    """The rows, if they are as many as the ensemble has objects."""
    if len(rows) != n_objects:
        raise InvalidInputError(
            f"X and ensemble must hold the same objects: X has {len(rows)} rows, the ensemble "
            f"{n_objects} objects."
        )
    return rows


def is_tensor(X: Any) -> bool:
    """Whether this is a torch tensor; nobody who has not imported torch has one."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(X, torch.Tensor)


def device_of_data(X: Any) -> str | None:
    """The name of the device that data lie on; None where they are in the memory of the host."""
    if isinstance(X, Rows):
        return X.device
    if not isinstance(X, np.ndarray) and hasattr(X, "__dlpack_device__"):
        X = _through_dlpack(X)
    return str(X.device) if is_tensor(X) else None


def as_given(values: Any, X: Any) -> Any:
    """An array as it is; where the data are on a device, as one of their kind there."""
    if is_tensor(X):
        return sys.modules["torch"].tensor(values, device=X.device)
    if device_of_data(X) is None or isinstance(X, Rows):
        return values
    there = sys.modules["torch"].tensor(values, device=_through_dlpack(X).device)
    if hasattr(X, "__array_namespace__"):
        return X.__array_namespace__().from_dlpack(there)
    return there


def refuse_same_names(X: Any) -> None:
    """Raise `InvalidInputError` if two columns of a frame have the same name."""
    places: dict[Any, list[int]] = {}
    for place, name in enumerate(X.columns if is_frame(X) else (), 1):
        places.setdefault(name, []).append(place)
    twice = [
        f"{len(at)} columns named {name!r}, numbers {listed(at)}"
        for name, at in places.items()
        if len(at) > 1
    ]
    if twice:
        raise InvalidInputError(
            f"X has {'; '.join(twice)}. Rename them, so that each name stands once."
        )


def _names(X: Any) -> tuple[str, ...] | None:
    """Names of the columns of a frame, if all are texts."""
    names = tuple(X.columns) if is_frame(X) else tuple(getattr(X, "column_names", ()))
    return names if names and all(isinstance(name, str) for name in names) else None


def _read(X: Any) -> Any:
    """What scikit-learn can look at; what only hands out rows is read here, once."""
    if is_tensor(X):
        return X.detach().cpu().numpy()
    shape = getattr(X, "shape", None)
    plain = isinstance(X, np.ndarray) or sparse.issparse(X) or is_frame(X)
    if plain or not isinstance(shape, tuple) or len(shape) != 2 or not hasattr(X, "__getitem__"):
        return X
    kind = getattr(X, "dtype", None)
    if getattr(kind, "kind", "f") not in "biuf":
        return np.asarray(X[:])
    n, d = (int(size) for size in shape)
    values = np.empty((n, d), np.float32 if kind == np.float32 else np.float64)
    step = max(1, BLOCK // max(d, 1))
    for start in range(0, n, step):
        values[start : start + step] = X[start : start + step]
    return values
