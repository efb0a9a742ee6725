"""Tables of numbers from files of many kinds, checked cell by cell.

A whole file is looked at before anything is refused, so that one error lists every column
that cannot be used; memory stays near the size of the numbers, which are 8 bytes each.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._formulas import holds_guarded, unguarded
from consilience._validation import Boolean, NoneValue, Options, Rule, check_value
from consilience._words import plural
from consilience.datasets._annotated import obs_columns, read_annotated
from consilience.datasets._blocks import CsvReader
from consilience.datasets._cells import Decimal
from consilience.datasets._columns import Columns
from consilience.datasets._csv import NotUtf8Error
from consilience.datasets._encodings import check_encoding, guessed_encoding, in_utf8
from consilience.datasets._files import (
    ARROW_ENDINGS,
    CSV_ENDINGS,
    MATRIX_ENDINGS,
    SPARSE,
    TEXT_ENDINGS,
    checked_path,
    is_sparse,
    main_array,
    position_of,
    read_arrays,
    sparse_matrix,
    unique_names,
)
from consilience.datasets._genes import (
    features_beside,
    looks_like_genes,
    plain_recipe,
    said_of_genes,
    turned,
)
from consilience.datasets._matrix_market import read_matrix_market
from consilience.datasets._parquet import ParquetReader
from consilience.datasets._prepare import (
    Beside,
    Encode,
    Impute,
    Ordinal,
    Prepared,
    beside,
    prepare,
    prepare_like,
)
from consilience.datasets._recipe import Column, Recipe
from consilience.datasets._roles import NO_IDS, Roles, named_like_ids, parts_of
from consilience.datasets._spaced import with_tabs
from consilience.datasets._workbooks import sheet_as_text
from consilience.errors import InvalidInputError, warn

__all__ = ["Table", "read_like", "read_table"]

# What the names of rows of annotated data are called where a column is.
_OBS_NAMES = "obs_names"
_RULES: dict[str, list[Rule]] = {
    "impute": [Options(("median", "mean", "drop-rows", "keep")), NoneValue()],
    "encode": [Options(("onehot", "mixed", "dates")), NoneValue()],
    "decimal": [Options((".", ",")), NoneValue()],
    "transpose": [Boolean()],
}


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Objects with numbers for each: what `read_table` returns.

    Attributes
    ----------
    X : ndarray or CSR matrix of shape (n_objects, n_columns), float64
        The numbers, all finite but for gaps that are kept (``impute="keep"``), which are NaN;
        sparse where the file is.
    columns : tuple of str
        Name of each column of ``X``.
    ids : ndarray of shape (n_objects,) or None
        Identifier of each object, where a column of them was named or recognised. Where there
        is none and rows were left out, the row of the file, counted from 0.
    truth : ndarray of str of shape (n_objects,) or None
        Known group of each object, where a column of them was named.
    name : str
        The file's name without its ending.
    path : Path
        The file.
    sources : tuple of str
        The file's column behind each column of ``X``: several are behind one where categories
        were split. `consilience.datasets._scale.standardise` gives all of them one weight.
    left_out : ndarray of int64
        Rows of the file, counted from 0, that were left out (``impute="drop-rows"``).
    recipe : Recipe or None
        How the columns became numbers: `read_like` reads another file the same way.
    """

    X: Any
    columns: tuple[str, ...]
    ids: NDArray[Any] | None
    truth: NDArray[np.str_] | None
    name: str
    path: Path
    sources: tuple[str, ...] = ()
    left_out: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    recipe: Recipe | None = None

    def __repr__(self) -> str:
        n, d = self.X.shape
        also = [word for word in ("ids", "truth") if getattr(self, word) is not None]
        shape = f"{plural(n, 'object')}, {plural(d, 'column')}"
        return f"Table({self.name!r}: {', '.join([shape, *also])})"


def read_table(
    path: str | PathLike[str],
    *,
    id_column: str | None = None,
    truth_column: str | None = None,
    ignore: Sequence[str] = (),
    impute: Impute | None = None,
    encode: Encode | None = None,
    decimal: Decimal | None = None,
    encoding: str | None = None,
    ordinal: Ordinal | None = None,
    columns: Sequence[str] = (),
    sheet: str | None = None,
    layer: str | None = None,
    transpose: bool = False,
) -> Table:
    """Numbers of a file, with identifiers and known groups apart.

    Whatever is done to the values besides reading them is said in a `ConsilienceWarning`.

    Parameters
    ----------
    path : str or path-like
        ``.csv`` or ``.tsv`` (also ``.gz``), delimiter ``,`` ``;`` tab or ``|`` taken from
        the header line; a first line of numbers only is data, and the columns are then named
        c0, c1, ... Lines that start with ``#`` above the header are comments. ``.txt`` is read
        the same way; there blanks may part the columns. ``.parquet`` and ``.feather`` (need
        pyarrow). ``.xlsx`` (extra ``tables``): formulas are not computed, their stored values are
        read; macros and links are never opened. ``.h5ad`` (extra ``anndata``): the matrix X with
        the names of cells and genes. ``.mtx``, also ``.gz``: Matrix Market. ``.npy`` or ``.npz``
        with one two-dimensional array, or with one named ``X``, or with a sparse matrix as
        `scipy.sparse.save_npz` writes it, which stays sparse; columns are named c0, c1, ...
    id_column : str, optional
        Column of identifiers; it is not clustered. Without it, a column that can only be
        identifiers is taken: one without a name (as pandas writes its index), one named like
        an identifier (``id``, ``name``, ``patient_id``) with a different text in every row or
        whole numbers of which most differ (further ones like it are left out), one with a
        different text in every row (of 10 at least), a first column that counts 10 rows or
        more. ``"none"`` takes none of these.
    truth_column : str, optional
        Column of known groups, kept as text; it is not clustered. In an ``.npz`` file, both
        may also name a one-dimensional array.
    ignore : sequence of str
        Columns to leave out; one text may hold several, with commas between.
    impute : {"median", "mean", "drop-rows", "keep"}, optional
        What to do where a value is missing (an empty cell, NA, NaN, null, ?, -) or infinite:
        put the column's median or mean (of categories the most frequent), leave out the row, or
        keep the gap, which is a NaN that `consilience.cluster` knows what to do with. Without it
        such files are refused.
    encode : {"onehot", "mixed", "dates"}, optional
        What to do with columns that hold no numbers. ``"dates"`` reads dates and times as days
        since the first. ``"onehot"`` does, and splits a column of at most 100 categories into
        one column for each, of 0 and sqrt(1/2), or into one of 0 and 1 where there are two:
        objects of different categories are then at distance 1. ``"mixed"`` does the same, and has
        `consilience.cluster` know them for categories, which is better where there are many: see
        `consilience.generate.MixedEnsemble`. Without it such files are
        refused. True and false, or yes and no, are 1 and 0 in any case.
    decimal : {".", ","}, optional
        The decimal mark of a text file whose numbers are not plain: the other mark, spaces and
        apostrophes may then group thousands, as in ``1.234,5``. Without it, decimal commas are
        recognised where something else is between the columns and no number has a point.
    encoding : str, optional
        Of a text file, such as ``"cp1252"``. Without it a file is UTF-8 or, where that cannot
        be, what Windows writes in Western Europe, or UTF-16 by its mark. Another encoding than
        UTF-8 takes three times the file's size of memory.
    columns : sequence of str
        The columns to read as data; the others are left out, but for identifiers that are named
        or named like some. One text may hold several, with commas between. All by default.
    sheet : str, optional
        Of a workbook; by default the first that can be seen.
    layer : str, optional
        Of annotated data: a name of ``layers`` or ``obsm``, such as ``"counts"`` or ``"X_pca"``;
        by default X. ``truth_column`` is a column of ``obs``.
    transpose : bool, default=False
        Whether the objects are the columns of the file, as in tables with a gene a row: its
        identifiers are then the names of the columns. Such tables are of numbers only.
    ordinal : mapping of str to sequence of str, optional
        Columns whose categories have an order, with these from the lowest to the highest: they
        become 0, 1, 2, ...

    Returns
    -------
    Table
        All numbers finite, unless gaps are kept, in the order of the file.

    Raises
    ------
    InvalidInputError
        If the file is no table of finite numbers: the message says which columns, where (rows
        count from 0, as in all results; lines of a CSV file from 1, the header included), and
        what to do. Columns of the same name are refused.

    Notes
    -----
    CSV files are parsed by pyarrow where it is installed, else by numpy, and block by block by
    Python's csv module where these two cannot; the values are the same. Memory is that of the
    numbers and some 50 MB; columns of words take 4 bytes an object and every word once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "two.csv")
    ...     _ = file.write_text("name,x,y\\na,1,2\\nb,3,4\\n")
    ...     table = read_table(file, id_column="name")
    >>> table
    Table('two': 2 objects, 2 columns, ids)
    >>> table.X.tolist(), table.ids.tolist()
    ([[1.0, 2.0], [3.0, 4.0]], ['a', 'b'])
    """
    for name, value in (
        ("impute", impute),
        ("encode", encode),
        ("decimal", decimal),
        ("transpose", transpose),
    ):
        check_value(name, value, _RULES[name], owner="read_table")
    check_encoding(encoding)
    source, ending = checked_path(path)
    if id_column is not None and id_column == truth_column:
        raise InvalidInputError(
            f"id_column and truth_column must be two columns. Got {id_column!r} for both."
        )
    named = _Named(id_column, truth_column, _several(ignore), columns=_several(columns))
    ways = _Ways(impute, encode, decimal, ordinal=_checked_ordinal(ordinal))
    part = _part(source, ending, sheet, layer)
    if transpose:
        return _read_transposed(source, ending, named, ways, encoding, part)
    table = _read(source, ending, named, ways, encoding, part)
    _warn_of_genes(table, named)
    return table


def _several(names: str | Sequence[str]) -> Sequence[str]:
    return (names,) if isinstance(names, str) else names


class _Part(NamedTuple):
    """What is read of a file that holds several tables."""

    sheet: str | None = None
    layer: str | None = None


def _part(source: Path, ending: str, sheet: str | None, layer: str | None) -> _Part:
    for name, value, kind in (("sheet", sheet, ".xlsx"), ("layer", layer, ".h5ad")):
        if value is not None and ending != kind:
            raise InvalidInputError(
                f"The {name!r} parameter of read_table (--{name}) belongs to {kind} files, and "
                f"{source.name!r} is none. Leave it out."
            )
    return _Part(sheet, layer)


def _checked_ordinal(ordinal: Any) -> Ordinal:
    """Orders of categories, each of different texts."""
    given = {} if ordinal is None else ordinal
    if isinstance(given, Mapping):
        orders = {name: tuple(map(str, order)) for name, order in given.items()}
        if all(len(order) >= 2 and len(set(order)) == len(order) for order in orders.values()):
            return orders
    raise InvalidInputError(
        "The 'ordinal' parameter of read_table must give, for columns by name, at least two "
        f"different categories from the lowest to the highest. Got {ordinal!r} instead."
    )


def read_like(path: str | PathLike[str], recipe: Recipe, *, may_lack: Sequence[str] = ()) -> Table:
    """Numbers of another file, read as the first one was.

    Columns are matched by name; what is missing is refused, what is not used is left out and said.
    Dates count from the same day, missing values are filled in as they were, and objects of a
    category that was not there before have none of those that were.

    Parameters
    ----------
    path : str or path-like
    recipe : Recipe
        Of the first `Table`.
    may_lack : sequence of str
        Columns of the first that the other may be without; the table then is too.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     one, two = Path(folder, "one.csv"), Path(folder, "two.csv")
    ...     _ = one.write_text("x,y\\n1,2\\n3,4\\n"), two.write_text("x,y\\n5,6\\n")
    ...     first = read_table(one)
    ...     second = read_like(two, first.recipe)
    >>> second.columns, second.X.tolist()
    (('x', 'y'), [[5.0, 6.0]])
    """
    check_encoding(recipe.encoding)
    source, ending = checked_path(path)
    named = _Named(recipe.id_column, None, (), recipe, may_lack)
    ways = _Ways(None, recipe.encode, recipe.decimal, recipe)  # type: ignore[arg-type]
    # The other file may be of another kind.
    part = _Part(
        recipe.sheet if ending == ".xlsx" else None, recipe.layer if ending == ".h5ad" else None
    )
    if recipe.transposed:
        return _read_transposed(source, ending, named, ways, recipe.encoding, part)
    return _read(source, ending, named, ways, recipe.encoding, part)


def _read(
    source: Path,
    ending: str,
    named: "_Named",
    ways: "_Ways",
    encoding: str | None,
    part: _Part,
) -> Table:
    notes: list[str] = []
    try:
        if ending in CSV_ENDINGS:
            prepared = _read_csv(source, named, ways, notes, encoding)
        elif ending in TEXT_ENDINGS:
            with with_tabs(source) as text:
                prepared = _read_csv(text, named, ways, notes, encoding)
        elif ending in ARROW_ENDINGS:
            prepared = _read_parquet(source, named, ways, notes)
        elif ending == ".xlsx":
            with sheet_as_text(source, part.sheet, notes) as text:
                prepared = _read_utf8(text, named, ways, notes)
        elif ending == ".h5ad":
            prepared = _read_annotated(source, part.layer, named, ways, notes)
        elif ending in MATRIX_ENDINGS:
            prepared = _read_matrix(source, read_matrix_market(source), {}, named, ways, notes)
        else:
            prepared = _read_array(source, named, ways, notes)
    finally:  # also of a file that is refused: notes help to understand why
        for note in dict.fromkeys(notes):
            warn(note)
    return Table(
        prepared.X,
        prepared.columns,
        prepared.ids,
        prepared.truth,
        source.name[: -len(ending)],
        source,
        prepared.sources,
        prepared.left_out,
        replace(
            prepared.recipe,
            encoding=encoding,
            decimal=ways.decimal,
            sheet=part.sheet,
            layer=part.layer,
        ),
    )


@dataclass(frozen=True)
class _Named:
    """Columns the user named."""

    id_column: str | None
    truth_column: str | None
    ignore: Sequence[str]
    recipe: Recipe | None = None
    may_lack: Sequence[str] = ()
    columns: Sequence[str] = ()

    def asked(self) -> list[str]:
        """Names of columns with a role."""
        return [name for name in (self.id_column, self.truth_column) if name is not None]

    def others(self, source: Path, names: list[str]) -> list[str]:
        """Columns that are not among those wanted."""
        if not self.columns:
            return []
        wanted = {part for name in self.columns for part in parts_of(name, names)}
        for name in sorted(wanted):
            position_of(source, names, name, "columns")
        kept = {*wanted, self.id_column, self.truth_column, ""}
        return [
            name
            for name in names
            if name not in kept and not (self.id_column is None and named_like_ids(name))
        ]

    def roles(self, source: Path, names: list[str], notes: list[str]) -> Roles:
        if self.recipe is not None:
            others = self.recipe.others(source, names, notes, self.may_lack)
            ids = self.id_column if self.id_column in names else NO_IDS
            return Roles.named(source, names, ids, None, others, notes)
        ignore = [*self.ignore, *self.others(source, names)]
        return Roles.named(source, names, self.id_column, self.truth_column, ignore, notes)


@dataclass(frozen=True)
class _Ways:
    """What the user wants done to columns that are not finite numbers."""

    impute: Impute | None
    encode: Encode | None
    decimal: Decimal | None
    recipe: Recipe | None = None
    ordinal: Ordinal | None = None

    def words(self, names: Sequence[str]) -> set[int]:
        """Columns that must be read as words, because they were categories or have an order."""
        known = {} if self.recipe is None else self.recipe.by_name()
        ordered = self.ordinal or {}
        return {
            j
            for j, name in enumerate(names)
            if name in ordered or (name in known and known[name].categories)
        }

    def prepare(
        self, columns: Columns, roles: Roles, notes: list[str], guess: bool = True
    ) -> Prepared:
        notes.extend(columns.notes)
        columns.notes = notes
        if self.recipe is not None:
            return prepare_like(columns, roles, self.recipe, self.decimal)
        return prepare(
            columns,
            roles,
            impute=self.impute,
            encode=self.encode,
            decimal=self.decimal,
            guess=guess,
            ordinal=self.ordinal,
        )


def _read_transposed(
    source: Path, ending: str, named: "_Named", ways: "_Ways", encoding: str | None, part: _Part
) -> Table:
    """A table whose objects are the columns of the file."""
    _check_transposed(named, ways)
    like = named.recipe
    inner = _Named(None if like else named.id_column, None, ())
    table = _read(source, ending, inner, _Ways("keep", None, ways.decimal), encoding, part)
    X, ids, names = turned(table.X, table.ids, table.columns)
    unique_names(source, names)
    notes: list[str] = []
    roles = _Named(None, None, named.ignore, like, named.may_lack, named.columns)
    kept = roles.roles(source, names, notes).data
    if like is not None:
        kept = [names.index(column.name) for column in like.columns if column.name in names]
    for note in notes:
        warn(note)
    X, columns = X[:, kept], tuple(names[j] for j in kept)
    keeps = ways.impute == "keep" or (like is not None and like.keep_gaps)
    if not sparse.issparse(X) and np.isnan(X).any() and not keeps:
        raise InvalidInputError(
            f"{source.name!r} has {plural(int(np.isnan(X).sum()), 'missing value')}. Keep gaps "
            "with impute='keep' (--impute keep)."
        )
    recipe = replace(plain_recipe(columns, keeps), encoding=encoding, decimal=ways.decimal)
    recipe = replace(recipe, sheet=part.sheet, layer=part.layer)
    return Table(X, columns, ids, None, table.name, source, columns, recipe=recipe)


def _check_transposed(named: "_Named", ways: "_Ways") -> None:
    """Refuse what belongs to columns of a table, where columns are objects."""
    given = {
        "truth_column": named.truth_column,
        "encode": ways.encode,
        "ordinal": ways.ordinal or None,
        "impute": None if ways.impute == "keep" else ways.impute,
    }
    for name, value in given.items():
        if value is not None and named.recipe is None:
            more = "; impute='keep' can be" if name == "impute" else ""
            raise InvalidInputError(
                f"The {name!r} parameter of read_table (--{name.replace('_', '-')}) cannot be used "
                f"with transpose: the columns of the file are objects{more}. Leave it out."
            )


def _warn_of_genes(table: Table, named: "_Named") -> None:
    id_column = table.recipe.id_column if table.recipe is not None else None
    if len(table.columns) > 1 and looks_like_genes(id_column or named.id_column, table.ids):
        n = table.X.shape[0]
        warn(said_of_genes(table.path.name, "genes or the like", n, table.columns))
    beside = features_beside(table.path)
    if beside is not None and table.path.name.lower().endswith(MATRIX_ENDINGS):
        warn(
            f"Beside {table.path.name!r} lies {beside!r}: such matrices have a gene a row, and "
            "each row is clustered as an object. To cluster the columns, say transpose=True "
            "(--transpose)."
        )


def _read_annotated(
    source: Path, layer: str | None, named: "_Named", ways: "_Ways", notes: list[str]
) -> Prepared:
    """A matrix of annotated data; columns about its rows may be identifiers and groups."""
    asked = [name for name in named.asked() if name not in (NO_IDS, _OBS_NAMES)]
    annotated = read_annotated(source, layer, asked)
    for name in asked:
        if name not in annotated.about and named.recipe is None:
            position_of(source, obs_columns(source), name, "id_column or truth_column")
    vectors = {
        name: np.array(["" if cell is None else cell for cell in cells])
        for name, cells in annotated.about.items()
    }
    if named.id_column is None:
        named = replace(named, id_column=_OBS_NAMES)
    vectors[_OBS_NAMES] = annotated.ids
    return _read_matrix(source, annotated.X, vectors, named, ways, notes, annotated.columns)


def _read_csv(
    source: Path, named: _Named, ways: _Ways, notes: list[str], encoding: str | None
) -> Prepared:
    """A text file in the encoding named, in UTF-8, or in the one that it can only be."""
    if encoding is not None:
        with in_utf8(source, encoding) as copy:
            return _read_utf8(copy, named, ways, notes)
    try:
        return _read_utf8(source, named, ways, notes)
    except NotUtf8Error:
        guess = guessed_encoding(source)
        if guess is None:
            raise
    notes[:] = [
        f"{source.name!r} is not UTF-8 and is read as {guess}. If names look wrong, name its "
        "encoding with encoding (--encoding), or save it as UTF-8."
    ]
    with in_utf8(source, guess) as copy:
        return _read_utf8(copy, named, ways, notes)


def _read_utf8(source: Path, named: _Named, ways: _Ways, notes: list[str]) -> Prepared:
    reader = CsvReader.open(source, ways.decimal, notes)
    ways = replace(ways, decimal=reader.decimal)
    roles = named.roles(source, reader.names, notes)
    text = {*roles.as_text(reader.names, reader.first_cells)}
    text |= {j for j in roles.data if not reader.looks_numeric[j]} | ways.words(reader.names)
    columns = reader.read([j for j in roles.data if j not in text], sorted(text))
    prepared = ways.prepare(columns, roles, notes)
    if prepared.ids is None or not holds_guarded(reader.names):
        return prepared
    ids = [unguarded(cell) if isinstance(cell, str) else cell for cell in prepared.ids.tolist()]
    return prepared._replace(ids=np.asarray(ids, prepared.ids.dtype))


def _read_parquet(source: Path, named: _Named, ways: _Ways, notes: list[str]) -> Prepared:
    with ParquetReader.open(source) as reader:
        roles = named.roles(source, reader.names, notes)
        text = {*roles.as_text(reader.names, ())}
        text |= {j for j in roles.data if not reader.is_numeric[j]} | ways.words(reader.names)
        columns = reader.read([j for j in roles.data if j not in text], sorted(text))
    return ways.prepare(columns, roles, notes)


def _read_array(source: Path, named: _Named, ways: _Ways, notes: list[str]) -> Prepared:
    arrays = read_arrays(source)
    if is_sparse(arrays):
        return _sparse_table(source, sparse_matrix(source), arrays, named, ways, notes)
    return _read_matrix(source, main_array(source, arrays, "X"), arrays, named, ways, notes)


def _read_matrix(
    source: Path,
    values: Any,
    arrays: Mapping[str, NDArray[Any]],
    named: _Named,
    ways: _Ways,
    notes: list[str],
    names: list[str] | None = None,
) -> Prepared:
    """A matrix, with vectors that may be identifiers or groups."""
    if sparse.issparse(values):
        return _sparse_table(source, values, arrays, named, ways, notes, names)
    if values.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{source.name!r} holds values of type {values.dtype}, not real numbers. Convert "
            "them, for instance with array.astype(float)."
        )
    names = [f"c{j}" for j in range(values.shape[1])] if names is None else names
    # A vector of the file may serve as identifiers or groups as well as a column may.
    vectors = [
        name
        for name in named.asked()
        if name in arrays and arrays[name].shape == values.shape[:1] and name not in names
    ]
    roles = named.roles(source, names + vectors, notes)
    numeric = [j for j in roles.data if j < len(names)]
    words = [j for j in (roles.ids, roles.truth) if j is not None]
    columns = Columns(source, names + vectors, numeric, words, "row")
    columns.take(np.ascontiguousarray(values[:, numeric], np.float64))
    for j in words:
        columns.words[j].add(_cells(values[:, j] if j < len(names) else arrays[columns.names[j]]))
    return ways.prepare(columns, roles, notes, guess=False)


def _cells(vector: NDArray[Any]) -> list[Any]:
    """Values of a vector as Python's own; text that came as bytes is text."""
    if vector.dtype.kind == "S":
        vector = np.char.decode(vector, "utf-8", "replace")
    return list(vector.tolist())


def _sparse_table(
    source: Path,
    X: Any,
    arrays: Mapping[str, NDArray[Any]],
    named: _Named,
    ways: _Ways,
    notes: list[str],
    names: list[str] | None = None,
) -> Prepared:
    """Rows of a sparse matrix; vectors beside it may be identifiers and groups."""
    if not np.isfinite(X.data).all():
        raise InvalidInputError(
            f"{source.name!r} has {int((~np.isfinite(X.data)).sum())} values that are missing or "
            "infinite, and is sparse. Leave them out of the matrix: what is not there is 0."
        )
    names = [f"c{j}" for j in range(X.shape[1])] if names is None else names
    vectors = [
        name
        for name in named.asked()
        if name in arrays and name not in SPARSE and arrays[name].shape == X.shape[:1]
    ]
    roles = named.roles(source, names + vectors, notes)
    for j in (roles.ids, roles.truth):
        if j is not None and j < len(names):
            raise InvalidInputError(
                f"Column {names[j]!r} of {source.name!r} is one of a sparse matrix and cannot hold "
                "identifiers or groups. Store them in the file as an array of their own."
            )
    data = [j for j in roles.data if j < len(names)]
    used = tuple(names[j] for j in data)
    ids, truth, kept = _beside_sparse(
        source, X.shape[0], names + vectors, arrays, roles, ways, notes
    )
    X = X if len(data) == len(names) else X[:, data]
    return Prepared(
        X if kept is None else X[kept],
        used,
        used,
        ids,
        truth,
        np.empty(0, np.int64) if kept is None else np.flatnonzero(~kept),
        Recipe(tuple(map(Column, used)), named.id_column, named.truth_column),
    )


def _beside_sparse(
    source: Path,
    n: int,
    names: list[str],
    arrays: Mapping[str, NDArray[Any]],
    roles: Roles,
    ways: _Ways,
    notes: list[str],
) -> Beside:
    """Identifiers and groups as they are of a dense matrix."""
    words = [j for j in (roles.ids, roles.truth) if j is not None]
    columns = Columns(source, names, [], words, "row", notes)
    columns.take(np.zeros((n, 0)))
    for j in words:
        columns.words[j].add(_cells(arrays[names[j]]))
    return beside(columns, roles, ways.impute)
