"""Graphs from files: lists of edges, and matrices."""

from contextlib import nullcontext
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed, plural
from consilience.datasets._blocks import CsvReader
from consilience.datasets._cells import Decimal, number
from consilience.datasets._columns import Columns
from consilience.datasets._files import (
    CSV_ENDINGS,
    MATRIX_ENDINGS,
    TEXT_ENDINGS,
    checked_path,
    position_of,
    sparse_matrix,
)
from consilience.datasets._graphs import Graph, as_graph, graph_of_pairs
from consilience.datasets._matrix_market import read_matrix_market
from consilience.datasets._parquet import ParquetReader
from consilience.datasets._spaced import with_tabs
from consilience.errors import InvalidInputError, warn

__all__ = ["read_graph"]

_ENDINGS = (*CSV_ENDINGS, *TEXT_ENDINGS, ".parquet", ".feather", *MATRIX_ENDINGS, ".npz")
# Names that columns of edge lists have, in pairs, and those of weights.
_ENDS = (
    ("source", "target"),
    ("from", "to"),
    ("src", "dst"),
    ("first", "second"),
    ("node1", "node2"),
    ("u", "v"),
)
_WEIGHTS = ("weight", "weights", "w", "value", "count", "strength", "score")


def read_graph(
    path: str | PathLike[str],
    *,
    source_column: str | None = None,
    target_column: str | None = None,
    weight_column: str | None = None,
) -> Graph:
    """The graph of a file: a list of edges, one a row, or a square matrix.

    Parameters
    ----------
    path : str or path-like
        An edge list: ``.csv``, ``.tsv`` or ``.txt`` (also ``.gz``; in ``.txt`` blanks may part the
        columns), ``.parquet``, ``.feather``. A first line of names is told from data; lines that
        start with ``#`` above it are comments. A row without a second node names a node without
        edges. A matrix: ``.mtx`` (also ``.gz``), or ``.npz`` as `scipy.sparse.save_npz` writes it.
    source_column, target_column : str, optional
        The columns of nodes. Without them those named source and target, from and to, or alike,
        else the first two.
    weight_column : str, optional
        The column of weights. Without it one named weight, or alike, or the third of three if it
        holds numbers; else all edges weigh 1.

    Returns
    -------
    Graph
        See `as_graph`, for what is done to edges that are there twice, and so on.

    Raises
    ------
    InvalidInputError
        If the file is no graph.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "friends.csv")
    ...     _ = file.write_text("source,target\\nann,bob\\nbob,eve\\nann,eve\\n")
    ...     graph = read_graph(file)
    >>> graph, graph.ids.tolist()
    (Graph('friends': 3 nodes, 3 edges), ['ann', 'bob', 'eve'])
    """
    source, ending = checked_path(path, _ENDINGS)
    name = source.name[: -len(ending)]
    wanted = (source_column, target_column, weight_column)
    if ending in MATRIX_ENDINGS or ending == ".npz":
        if any(column is not None for column in wanted):
            raise InvalidInputError(
                f"{source.name!r} holds a matrix, which has no columns of nodes or weights to name."
            )
        matrix = read_matrix_market(source) if ending != ".npz" else sparse_matrix(source)
        return replace(as_graph(matrix, owner="read_graph"), name=name)
    if ending in (".parquet", ".feather"):
        with ParquetReader.open(source) as table:
            return _edges(source, name, table, table.is_numeric, wanted)
    with with_tabs(source) if ending in TEXT_ENDINGS else nullcontext(source) as text:
        notes: list[str] = []
        reader = CsvReader.open(text, None, notes)
        return _edges(source, name, reader, reader.looks_numeric, wanted)


def _edges(
    source: Path,
    name: str,
    reader: Any,
    is_numeric: list[bool],
    wanted: tuple[str | None, str | None, str | None],
) -> Graph:
    """The graph of the columns of an edge list."""
    first, second, weight = _roles(source, reader.names, is_numeric, wanted)
    numbers = [] if weight is None else [weight]
    columns = reader.read(numbers, sorted({first, second}))
    if weight is not None and weight in columns.turned | {*columns.text}:
        raise InvalidInputError(
            f"Column {reader.names[weight]!r} of {source.name!r}, which holds the weights, has "
            "words in it. Name another with weight_column (--weight-column)."
        )
    above = None
    if isinstance(reader, CsvReader) and wanted == (None, None, None):
        above = _FirstLine(reader.names, reader.decimal)  # else it names columns for sure
    return _graph(source, name, (first, second), weight, columns, above)


class _FirstLine(NamedTuple):
    """Cells that may be a header or an edge, and the decimal mark of the file."""

    cells: list[str]
    decimal: Decimal | None


def _roles(
    source: Path,
    names: list[str],
    is_numeric: list[bool],
    wanted: tuple[str | None, str | None, str | None],
) -> tuple[int, int, int | None]:
    """Positions of the columns of nodes and of weights."""
    if len(names) < 2:
        raise InvalidInputError(
            f"{source.name!r} has one column, {names[0]!r}. A list of edges has two columns of "
            "nodes, parted by a comma, a semicolon, a tab or |, in .txt files also by blanks."
        )
    ends = _ends(source, names, wanted)
    if wanted[2] is not None:
        return *ends, position_of(source, names, wanted[2], "weight_column")
    rest = [j for j in range(len(names)) if j not in ends]
    named = [j for j in rest if names[j].strip().lower() in _WEIGHTS and is_numeric[j]]
    if named:
        return *ends, named[0]
    if len(rest) == 1 and is_numeric[rest[0]]:
        return *ends, rest[0]
    if rest:
        one = len(rest) == 1
        warn(
            f"{'Column' if one else 'Columns'} {listed(repr(names[j]) for j in rest)} of "
            f"{source.name!r} {'is' if one else 'are'} not used: all edges weigh 1. Name a column "
            "of weights with weight_column (--weight-column)."
        )
    return *ends, None


def _ends(
    source: Path, names: list[str], wanted: tuple[str | None, str | None, str | None]
) -> tuple[int, int]:
    """Positions of the two columns of nodes."""
    lower = [name.strip().lower() for name in names]
    pair = next((p for p in _ENDS if p[0] in lower and p[1] in lower), None)
    guess = (0, 1) if pair is None else (lower.index(pair[0]), lower.index(pair[1]))
    parameters = ("source_column", "target_column")
    ends = [
        guess[i] if wanted[i] is None else position_of(source, names, str(wanted[i]), parameter)
        for i, parameter in enumerate(parameters)
    ]
    if ends[0] == ends[1]:
        raise InvalidInputError(
            f"The two columns of nodes of {source.name!r} must differ. Got {names[ends[0]]!r} for "
            "both. Name them with source_column and target_column."
        )
    return ends[0], ends[1]


def _graph(
    source: Path,
    name: str,
    ends: tuple[int, int],
    weight: int | None,
    columns: Columns,
    above: _FirstLine | None,
) -> Graph:
    """Pairs of names as a graph; a missing second name is a node by itself.

    A first line of names of nodes is an edge, not a header.
    """
    weights = np.ones(columns.n_objects) if weight is None else columns.column(weight).copy()
    missing, words = {"", None}, [columns.words[j] for j in ends]
    known = {word for column in words for word in column.words} - missing
    lost = None if above is None else _weight_above(above, ends, weight, known)
    header = [above.cells[j] for j in ends] if above is not None and lost is not None else []
    ids = _in_order(known | {*header})
    place = {str(word): i for i, word in enumerate(ids.tolist())}
    coded = [
        np.array([-1 if w in missing else place[str(w)] for w in column.words])[column.codes]
        for column in words
    ]
    if (coded[0] < 0).any():
        raise InvalidInputError(
            f"{source.name!r} has {plural(int((coded[0] < 0).sum()), 'row')} without a first node, "
            f"such as row {int(np.argmin(coded[0] >= 0))}. Give every row one."
        )
    edges = coded[1] >= 0
    if not np.isfinite(weights[edges]).all():
        bad = int(np.flatnonzero(edges & ~np.isfinite(weights))[0])
        raise InvalidInputError(
            f"{source.name!r} has a weight that is missing or not finite in row {bad}. Give every "
            "edge a number."
        )
    first, second = coded[0][edges], coded[1][edges]
    weights = weights[edges]
    if lost is not None:
        first, second = (
            np.append(part, place[word]) for part, word in zip((first, second), header, strict=True)
        )
        weights = np.append(weights, lost)
    plain = ids.dtype.kind == "i" and np.array_equal(ids, np.arange(len(ids)))
    return graph_of_pairs(
        first,
        second,
        weights,
        len(ids),
        None if plain else ids,
        name=name,
        owner="read_graph",
    )


def _weight_above(
    above: _FirstLine, ends: tuple[int, int], weight: int | None, known: set[Any]
) -> float | None:
    """Weight of the edge that the first line is; None where it is a header."""
    header = {above.cells[j] for j in ends}
    if not known & header or header & {one for pair in _ENDS for one in pair}:
        return None
    return 1.0 if weight is None else number(above.cells[weight], above.decimal)


def _in_order(words: set[Any]) -> NDArray[Any]:
    """Names in their order: as whole numbers where all are, else as text."""
    texts = [str(word) for word in words]
    if all(len(text) < 19 and text.isdecimal() and str(int(text)) == text for text in texts):
        return np.array(sorted(map(int, texts)), np.int64)
    return np.array(sorted(texts), np.str_)
