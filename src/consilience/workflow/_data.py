"""What a job works on: objects with their numbers, names and known groups, checked and scaled."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import is_frame
from consilience._validation import Boolean, Options, check_value
from consilience._words import listed, plural
from consilience.datasets import Table
from consilience.datasets._points import Points, points_with_gaps
from consilience.datasets._recipe import Recipe
from consilience.datasets._scale import Scaling, standardise
from consilience.datasets._transform import Transform, transformed
from consilience.datasets._views import side_by_side
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.rows import Rows, refuse_same_names, rows_of
from consilience.workflow._columns import Columns, cells_of, number_columns
from consilience.workflow._flattened import warn_of_flattened

__all__ = ["Data", "check_lengths", "check_scale", "checked_ensemble", "gather"]


@dataclass(frozen=True, eq=False)
class Data:
    """Objects as a job uses them; anything but their number may be missing.

    Attributes
    ----------
    n_objects : int
    X : array, CSR matrix or None
        As they are clustered: scaled, without constant columns.
    columns, dropped : tuple of str
        Names of the columns of X, and of those left out because they are constant.
    ids : ndarray or None
        Identifier of each object.
    truth : sequence or None
        Known group of each object.
    index : pandas index or None
        Of the frame the objects came in.
    name : str
        What the data are called; "" where nobody said.
    standardised : bool
    used_as : str
        How the columns were scaled otherwise, in words.
    n_left_out : int
        Rows of a table that were left out when it was read.
    original : array, CSR matrix or None
        The numbers as they came, in their own units and with the constant columns.
    original_columns, sources : tuple of str
        Names of its columns, and the column of a file that each came from.
    scaling : Scaling or None
        What made X of it.
    recipe : Recipe or None
        How a file became these columns.
    transform : str or None
        What was done to numbers before they were scaled: "log", "compositional".
    mixed : ndarray or None
        Of a table with categories or gaps, what members see: a column for each of the file, places
        of categories, NaN for gaps.
    categorical : tuple of int
        Columns of it that are categories.
    mixed_weights : ndarray or None
        Of its columns.
    views : tuple of str
        Names of the views, where several were given.
    view_of : tuple of int
        The view of each column of ``mixed``.
    metric : str or None
        Other distances than Euclidean: X are then points that have them.
    distances : ndarray or None
        These, of all pairs; not kept on disk.
    """

    n_objects: int
    X: Any = None
    columns: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    ids: NDArray[Any] | None = None
    truth: Any = None
    index: Any = None
    name: str = ""
    standardised: bool = False
    n_left_out: int = 0
    original: Any = None
    original_columns: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    scaling: Scaling | Points | None = None
    recipe: Recipe | None = None
    used_as: str = "as they are"
    transform: Transform | None = None
    mixed: Any = None
    categorical: tuple[int, ...] = ()
    mixed_weights: Any = None
    views: tuple[str, ...] = ()
    view_of: tuple[int, ...] = ()
    metric: str | None = None
    distances: Any = None

    @property
    def rows(self) -> Rows | None:
        """X as what is behind the border takes it; None where there are no numbers."""
        numbers = isinstance(self.X, np.ndarray) or sparse.issparse(self.X)
        return Rows(self.X) if numbers else None

    @property
    def seen_by_members(self) -> Rows | None:
        """What members are made of: X, the table with its categories and gaps, or distances."""
        if self.distances is not None:
            return Rows(self.distances)
        return self.rows if self.mixed is None else Rows(self.mixed)

    def take(self, objects: NDArray[np.int64]) -> "Data":
        """The same of some objects."""
        per_object = ("X", "ids", "truth", "index", "original", "mixed")
        some = {name: taken(getattr(self, name), objects) for name in per_object}
        between = None if self.distances is None else self.distances[np.ix_(objects, objects)]
        return replace(self, n_objects=len(objects), distances=between, **some)

    def in_words(self) -> str:
        """What there is, in a line."""
        text = f"{self.n_objects} object{'s' * (self.n_objects != 1)}"
        if self.X is None or not hasattr(self.X, "shape"):
            return text
        scaled = "standardised" if self.standardised else self.used_as
        if self.views:
            parts = [
                f"{name!r} {self.view_of.count(v)} column{'s' * (self.view_of.count(v) != 1)}"
                for v, name in enumerate(self.views)
            ]
            return f"{text} in {len(self.views)} views: {listed(parts)}"
        if self.mixed is not None:
            numbers = self.mixed.shape[1] - len(self.categorical)
            gaps = int(np.isnan(self.mixed).sum())
            also = f", {gaps} gap{'s' * (gaps != 1)}" if gaps else ""
            kinds = [
                f"{plural(numbers, 'column')} of numbers, {scaled}" if numbers else "",
                f"{len(self.categorical)} of categories"
                if numbers
                else f"{plural(len(self.categorical), 'column')} of categories",
            ]
            return f"{text}, {', '.join(kind for kind in kinds if kind)}{also}"
        if self.metric == "precomputed":
            return f"{text}, {scaled}"
        columns = self.X.shape[1] if self.metric is None else len(self.original_columns)
        return f"{text}, {columns} column{'s' * (columns != 1)} of numbers, {scaled}"

    def as_clustered(self, original: Any) -> Any:
        """Rows of the original columns as those of X were made."""
        original = self.transformed(original)
        return original if self.scaling is None else self.scaling.applied(original)

    def transformed(self, original: Any) -> Any:
        """Rows of the original columns, with logarithms where they were taken."""
        if self.transform is None:
            return original
        return transformed(original, self.transform, self._numbers())

    def _numbers(self) -> NDArray[np.bool_]:
        """Which of the original columns are numbers, not parts of categories."""
        return number_columns(self.recipe, self.sources, len(self.original_columns))

    def facts(self) -> dict[str, Any]:
        """What there is, as plain values."""
        return {
            "n_objects": self.n_objects,
            "columns": list(self.columns),
            "columns_left_out": list(self.dropped),
            "rows_left_out": self.n_left_out,
            "standardised": self.standardised,
        }

    def identifiers(self) -> NDArray[Any]:
        """Identifier of each object, its row number where there is none."""
        return np.arange(self.n_objects) if self.ids is None else self.ids

    def plain_id(self, i: int) -> Any:
        """Identifier of an object as JSON can hold it: dates and what is no number become words."""
        return _plain(self.identifiers()[i])

    def index_or_ids(self) -> Any:
        """What a pandas frame of the objects is indexed by; None for row numbers."""
        return self.ids if self.index is None else self.index


def _plain(identifier: Any) -> Any:
    if isinstance(identifier, tuple):  # of an index of several levels
        return tuple(map(_plain, identifier))
    date = isinstance(identifier, np.datetime64 | np.timedelta64)  # some hold a plain number
    plain = isinstance(identifier, np.generic) and not date
    value = identifier.item() if plain else identifier
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    return value if isinstance(value, str | int | float | None) else str(value)


def taken(values: Any, objects: NDArray[np.int64]) -> Any:
    """Values of some objects: of an array, an index, or a list; None of None."""
    if values is None:
        return None
    if hasattr(values, "iloc"):  # pandas would look for these numbers in its index
        return values.iloc[objects]
    return values[objects] if hasattr(values, "shape") else [values[i] for i in objects]


def check_scale(scale: Any, *, owner: str) -> None:
    """Refuse what ``scale`` cannot be."""
    check_value("scale", scale, [Boolean(), Options(("auto",))], owner=owner)


def checked_ensemble(ensemble: Any, *, owner: str) -> Ensemble | None:
    """Labelings in any form as an ensemble; None where there are none.

    Memberships that are all 0 or 1 are the labels that they are.
    """
    if ensemble is None:
        return None
    if isinstance(ensemble, Ensemble):
        return ensemble._crisp()
    try:
        return Ensemble(ensemble)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"The 'ensemble' parameter of {owner} cannot be used: {error}"
        ) from error


def gather(
    X: Any,
    *,
    ensemble: Ensemble | None = None,
    ids: Any = None,
    truth: Any = None,
    scale: Any = False,
    plain: bool = True,
    columns: "Columns | None" = None,
    weights: Any = None,
    copies: NDArray[np.int64] | None = None,
    owner: str,
) -> Data:
    """Line up and check all that is known of the objects, and scale the numbers.

    Parameters
    ----------
    X : array, frame, CSR matrix, Table, or None where there is an ensemble
    ensemble : Ensemble, optional
    ids, truth : sequences, optional
        In place of those that a table or a frame brings.
    scale : "auto" or bool
        "auto" standardises what is dense.
    plain : bool
        Whether X must be numbers; otherwise it is left to who uses it.
    columns : Columns or None
        What else is said of the columns: gaps, logarithms, weights. None where the job knows plain
        numbers only: categories are then split, and gaps refused.
    weights : sequence of length n_objects, optional
        How often objects count; only its length is looked at here.
    copies : ndarray of int, optional
        Objects to take, in this order, some several times.
    owner : str
        The function as messages name it.
    """
    _check_given(X, ensemble, owner=owner)
    said = Columns() if columns is None else columns
    knows = plain and columns is not None and X is not None
    views = side_by_side(X, owner=owner, keep_gaps=said.keep_gaps) if _are_views(X, knows) else None
    table = X if isinstance(X, Table) else said.table_of(X) if knows else None
    if views is not None:
        table = views.table
    values = X if table is None else table.X
    gappy = knows and said.has_gaps(values, table)
    if X is not None and plain:
        refuse_same_names(values)
        gaps = said.offers_gaps
        values = cells_of(values) if gappy else _numbers(values, owner=owner, gaps=gaps).values
    n = ensemble.n_objects if values is None else _length(values)  # type: ignore[union-attr]
    check_lengths({"ids": ids, "truth": truth, "object_weights": weights}, n, owner=owner)
    _check_same_objects(n, ensemble, owner=owner)
    index = getattr(X, "index", None) if is_frame(X) else None
    if ids is None:
        ids = _known_ids(table, index, ensemble)
    ids = None if ids is None else _identifiers(ids)
    truth = truth if truth is not None or table is None else table.truth
    if copies is not None:
        values, ids, truth, index = (taken(one, copies) for one in (values, ids, truth, index))
        n = len(copies)
    name = "" if table is None else table.path.name
    names, sources = _columns(X, table, _width(values))
    what = repr(name) if name else "X"
    original, original_columns = values, names
    if said.transform is not None and values is not None:
        is_number = number_columns(None if table is None else table.recipe, sources, len(names))
        values = transformed(values, said.transform, is_number, what=what)
    scaled = _wants_scaling(values, scale, owner=owner)
    if scaled and values.ndim == 2 and not sparse.issparse(values):
        is_number = number_columns(None if table is None else table.recipe, sources, len(names))
        warn_of_flattened(values, original, names, is_number, ids)
    dropped: tuple[str, ...] = ()
    scaling: Any = None
    recipe = None if table is None else table.recipe
    unscaled = values
    mixed = said.mixed(values, sources or names, recipe, gappy, views) if knows else None
    if mixed is not None:
        view_of = () if views is None else tuple(views.view_of[name] for name in mixed.names)
        weights = said.weights_of(mixed, view_of, owner=owner)
        values, names, dropped, scaling = points_with_gaps(
            values, names, sources=sources or names, weights=weights, what=what
        )
        scaled = True
    elif scaled:
        values, names, dropped, scaling = standardise(values, names, sources=sources, what=what)
    if mixed is None and said.column_weights:
        scaling = said.weighted(unscaled, names, scaling, owner=owner)
        values = scaling.applied(unscaled)
    return Data(
        n,
        values,
        names,
        dropped,
        ids,
        truth,
        index,
        name,
        scaled,
        0 if table is None else len(table.left_out),
        original,
        original_columns,
        sources,
        scaling,
        recipe,
        transform=said.transform,
        mixed=None if mixed is None else mixed.values,
        categorical=() if mixed is None else mixed.categorical,
        mixed_weights=None if mixed is None else weights,
        views=() if views is None else views.names,
        view_of=() if mixed is None else view_of,
    )


def _are_views(X: Any, knows: bool) -> bool:
    """Whether several tables were given by name."""
    return knows and isinstance(X, Mapping) and not is_frame(X)


def _check_given(X: Any, ensemble: Ensemble | None, *, owner: str) -> None:
    """Refuse nothing at all, and an ensemble or a file's name in the place of data."""
    if isinstance(X, Ensemble):
        raise InvalidInputError(
            f"The 'X' parameter of {owner} must be data. Got an Ensemble instead. Pass it as "
            f"{owner}(ensemble=...)."
        )
    if isinstance(X, str | PathLike):
        raise InvalidInputError(
            f"The 'X' parameter of {owner} must be data. Got the name of a file instead. Read it "
            f"with consilience.datasets.read_table({str(X)!r})."
        )
    if X is None and ensemble is None:
        raise InvalidInputError(
            f"{owner} needs data or an ensemble. Got neither. Call {owner}(X), or "
            f"{owner}(ensemble=labels) for labelings you already have."
        )


def _numbers(X: Any, *, owner: str, gaps: bool) -> Rows:
    """Finite numbers, dense or CSR; whatever is wrong with them is said of ``X``."""
    try:
        return rows_of(X, owner=owner)
    except (TypeError, ValueError) as error:
        # The first line says what is wrong; what follows is advice for other estimators.
        what = (str(error).splitlines() or ["it cannot be read"])[0].rstrip(":.")
        raise InvalidInputError(
            f"The 'X' parameter of {owner} must be a table of finite numbers, one row an object: "
            f"{what}.{_remedy(what, gaps)}"
        ) from error


def _remedy(what: str, gaps: bool) -> str:
    """What to do about what is no finite number; ``gaps`` says whether they may be kept."""
    if "contains NaN" in what:
        keep = "Keep gaps with gaps='keep', fill" if gaps else "Fill"
        return (
            f" {keep} them in (sklearn.impute.SimpleImputer), or leave out those objects; a file "
            "is read with consilience.datasets.read_table(file, impute='median')."
        )
    if "contains infinity" in what:
        return " Put numbers in their place, or leave out those objects."
    if "could not convert" in what:
        return (
            " Leave out columns that are no numbers (X.drop(columns=...)), make identifiers the "
            "index of a frame, or make categories numbers (pandas.get_dummies); a file is read "
            "with consilience.datasets.read_table(file, encode='onehot')."
        )
    return ""


def _wants_scaling(X: Any, scale: Any, *, owner: str) -> bool:
    """Whether the columns are to be standardised."""
    if X is None:
        return False
    if not sparse.issparse(X):
        return bool(scale)
    if scale is True:
        raise InvalidParameterError(
            f"The 'scale' parameter of {owner} must be 'auto' or False for a sparse X: columns of "
            "mean 0 would no longer be sparse. Scale the rows, or give a dense array."
        )
    return False


def _columns(X: Any, table: Table | None, width: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the columns, and the column of a file that each came from."""
    if table is not None:
        return table.columns, table.sources
    if is_frame(X):
        return tuple(map(str, X.columns)), ()
    return tuple(f"c{j}" for j in range(width)), ()


def _known_ids(table: Table | None, index: Any, ensemble: Ensemble | None) -> Any:
    """Identifiers that come with the data; plain row numbers are none."""
    if table is not None and table.ids is not None:
        return table.ids
    if index is not None and not _counts_rows(index):
        return index
    return None if ensemble is None else ensemble.index


def _counts_rows(index: Any) -> bool:
    """Whether an index is what pandas gives to rows that have none."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def _identifiers(ids: Any) -> NDArray[Any]:
    """One identifier an object, as an array of one dimension."""
    values = np.asarray(ids) if hasattr(ids, "__array__") else None
    if values is not None and values.ndim == 1 and values.dtype.kind not in "mM":
        return values
    items = list(ids)
    return np.fromiter(items, object, len(items))


def _check_same_objects(n_objects: int, ensemble: Ensemble | None, *, owner: str) -> None:
    if ensemble is not None and ensemble.n_objects != n_objects:
        raise InvalidInputError(
            f"The 'X' and 'ensemble' parameters of {owner} must hold the same objects: X has "
            f"{n_objects} rows, the ensemble {ensemble.n_objects} objects. An array of labels is "
            "n_objects x n_members: transpose it if it is the other way round."
        )


def check_lengths(given: dict[str, Any], n_objects: int, *, owner: str) -> None:
    for name, values in given.items():
        if values is None:
            continue
        single = not hasattr(values, "__len__") or getattr(values, "shape", None) == ()
        if single or isinstance(values, str | bytes):
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} must hold one value for each of the "
                f"{n_objects} objects. Got {values!r} instead."
            )
        shape = getattr(values, "shape", (len(values),))
        if any(isinstance(one, list | tuple | dict | set) for one in values):
            raise InvalidInputError(
                f"The {name!r} parameter of {owner} must hold one value for each of the "
                f"{n_objects} objects. Got lists among them."
            )
        if shape != (n_objects,):
            got = len(values) if len(shape) == 1 else f"an array of shape {shape}"
            raise InvalidInputError(
                f"The {name!r} parameter of {owner} must hold one value for each of the "
                f"{n_objects} objects. Got {got} instead."
            )


def _width(X: Any) -> int:
    """Columns of data; none where they are no table."""
    return int(X.shape[1]) if len(getattr(X, "shape", ())) == 2 else 0


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
