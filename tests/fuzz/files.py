"""Files as users might bring them: good ones, and what becomes of them."""

import gzip
import io
import json
import string
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.arrays import label_table, one_of

__all__ = ["File", "documents", "labels_file", "table_file"]

Rng = np.random.Generator

_NAMES = (
    "data",
    "data",
    "data",
    "my data",
    "été",
    "数据",
    "a'b\"c",
    "-k",
    "--help",
    "..",
    ".hidden",
    "a.b.c",
    "x" * 200,
    "line\nbreak",
    "tab\there",
    "[bold]red[/bold]",
    "{0}%s",
    "<b>&amp;",
    "$HOME;ls",
    "con",
    "\u202egnp",
    "👩‍🔬",
    "a\\b",
)
_CELLS = (
    "",
    "nan",
    "NaN",
    "NA",
    "inf",
    "-inf",
    "1e308",
    "1e309",
    "-1e308",
    "5e-324",
    "1e-320",
    "0x10",
    "1_000",
    "1,5",
    "1.2.3",
    "٣",
    "½",
    "−1",
    "=1+1",
    "=cmd|' /C calc'!A0",
    "+1",
    "@x",
    "-",
    "TRUE",
    "None",
    "2020-02-30",
    "2020-01-01",
    "01/02/2020",
    "12:00",
    "text",
    "a\nb",
    '"',
    "''",
    "\x00",
    "\ufeff",
    "\u2028",
    "x" * 300,
    "9" * 400,
    " 7 ",
    "\t7",
    "[red]",
    "<script>alert(1)</script>",
)
_HEADS = (
    "id",
    "name",
    "x",
    "x",
    "",
    " ",
    "1",
    "2.5",
    "é",
    "a,b",
    'q"q',
    "label",
    "date",
    "c" * 500,
    "[b]",
    "<b>",
    "=x",
    "\x00",
    "none",
    "a\nb",
)


@dataclass(frozen=True)
class File:
    """A file that was written, and how many objects it holds where that is known."""

    path: str
    columns: tuple[str, ...]
    n_objects: int | None
    what: str


def table_file(rng: Rng) -> File:
    """A table of numbers, ids and known groups, then perhaps damaged."""
    n = int(one_of(rng, 2, 5, 12, 30, 30, 40))
    d = int(rng.integers(1, 5))
    X = np.round(rng.normal(size=(n, d)) + 5 * rng.integers(0, 3, (n, 1)), 4)
    cells: list[list[str]] = [[repr(float(v)) for v in row] for row in X]
    heads = [f"v{j}" for j in range(d)]
    if rng.random() < 0.5:
        heads = ["id", *heads]
        cells = [[f"o{i}", *row] for i, row in enumerate(cells)]
    if rng.random() < 0.5:
        heads = [*heads, "group"]
        cells = [[*row, f"g{int(rng.integers(3))}"] for row in cells]
    return _stored(rng, heads, cells, X)


def labels_file(rng: Rng, n: int | None = None) -> File:
    """A table of clusterings, then perhaps damaged."""
    table = label_table(rng, n)
    cells = [["" if v == -2 else str(v) for v in row] for row in table]
    heads = [f"m{j}" for j in range(table.shape[1])]
    if rng.random() < 0.4:
        heads = ["id", *heads]
        cells = [[f"o{i}", *row] for i, row in enumerate(cells)]
    return _stored(rng, heads, cells, table)


def documents(rng: Rng, name: str) -> str:
    """A ``NAME.jsonl.gz`` in a folder of its own, then perhaps damaged."""
    text = " ".join(
        one_of(rng, *["wheat", "oil", "price", "ship", "bank", "rate", "grain"]) for _ in range(9)
    )
    fields = {
        "mini_newsgroups": lambda i: {"id": f"d{i}", "text": text, "label": f"g{i % 3}"},
        "webkb4": lambda i: {"id": f"d{i}", "university": "u", "text": text, "label": "course"},
        "reuters21578": lambda i: {"id": i, "title": "t", "text": text, "topics": ["earn"]},
        "conll04": lambda i: {
            "id": i,
            "tokens": ["A", "in", "B"],
            "pos": ["N", "I", "N"],
            "entity": ["Peop", "O", "Loc"],
            "relations": [[0, 2, "Live_In"]],
        },
    }[name]
    rows: list[Any] = [fields(i) for i in range(int(one_of(rng, 1, 5, 12, 45)))]
    if rng.random() < 0.6:
        row = rows[int(rng.integers(len(rows)))]
        key = one_of(rng, *row)
        row[key] = one_of(rng, None, 5, "x", [], {}, [[]], "é" * 50, [[9, 0, "Located_In"]], True)
        if rng.random() < 0.3:
            del row[key]
    lines = "\n".join(json.dumps(row) for row in rows).encode()
    raw = gzip.compress(_damaged(rng, lines) if rng.random() < 0.4 else lines, mtime=0)
    Path("docs").mkdir(exist_ok=True)
    Path("docs", f"{name}.jsonl.gz").write_bytes(_damaged(rng, raw) if rng.random() < 0.3 else raw)
    return "docs"


def _stored(rng: Rng, heads: list[str], cells: list[list[str]], numbers: Any) -> File:
    """The table in some format, hurt in some way or not at all."""
    ending = one_of(rng, ".csv", ".csv", ".csv", ".tsv", ".csv.gz", ".npy", ".npz", ".parquet")
    name = one_of(rng, *_NAMES) + (
        ending if rng.random() < 0.97 else one_of(rng, ".CSV", ".xlsx", "")
    )
    hurt = rng.random()
    n: int | None = len(cells)
    if ending in (".npy", ".npz"):
        heads, raw, n = _arrays(rng, ending, numbers, odd=hurt < 0.25)
    elif ending == ".parquet":
        raw = _parquet(rng, heads, cells, odd=hurt < 0.25)
    else:
        if hurt < 0.25:
            heads, cells = _odd_cells(rng, heads, cells)
        raw, exact = _text(rng, heads, cells, "\t" if "tsv" in ending else ",")
        # Blank lines at the end of a single column are no objects.
        exact = exact and (len(heads) > 1 or bool("".join(cells[-1])))
        n = n if exact and hurt >= 0.25 else None
        if ending.endswith(".gz"):
            raw = gzip.compress(raw, mtime=0)
    if hurt < 0.25:
        n = None
    if hurt > 0.82:
        raw, n = _damaged(rng, raw), None
    path = Path(name)
    try:
        path.write_bytes(raw)
    except (OSError, ValueError):  # no name for a file here
        path = Path("data.csv")
        path.write_bytes(raw)
    return File(str(path), tuple(heads), n, f"{path.name[:40]!r}")


def _odd_cells(rng: Rng, heads: list[str], cells: list[list[str]]) -> Any:
    """Some cells, heads or whole lines replaced by what does not belong there."""
    heads, cells = list(heads), [list(row) for row in cells]
    for _ in range(int(rng.integers(1, 6))):
        i, j = int(rng.integers(len(cells))), int(rng.integers(len(heads)))
        what = rng.random()
        if what < 0.6 and j < len(cells[i]):
            cells[i][j] = one_of(rng, *_CELLS)
        elif what < 0.7:
            heads[j] = one_of(rng, *_HEADS)
        elif what < 0.78:
            cells[i] = cells[i][: int(rng.integers(len(cells[i]) + 1))]
        elif what < 0.84:
            cells[i] = cells[i] + ["7"] * int(rng.integers(1, 4))
        elif what < 0.9:
            value = one_of(rng, *_CELLS)
            for row in cells:
                if j < len(row):
                    row[j] = value
        elif what < 0.93:
            heads[j] = "v0"
        elif what < 0.96 and j < len(cells[i]):
            cells[i][j] = "z" * int(one_of(rng, 5000, 131_073, 200_000))
        else:
            cells.insert(i, [])
    return heads, cells


def _text(rng: Rng, heads: list[str], cells: list[list[str]], mark: str) -> tuple[bytes, bool]:
    """Delimited text in some dialect, and whether every row is surely an object."""
    mark = mark if rng.random() < 0.93 else one_of(rng, ";", "|", "\t", " ", ":")
    end = one_of(rng, "\n", "\n", "\n", "\r\n", "\r")
    quote = rng.random() < 0.2

    def cell(value: str) -> str:
        if quote or (any(c in value for c in (mark, "\n", '"')) and rng.random() < 0.8):
            return '"' + value.replace('"', '""') + '"'
        return value

    plain = rng.random() < 0.95
    rows = [heads, *cells] if plain else cells
    text = end.join(mark.join(map(cell, row)) for row in rows) + (end if rng.random() < 0.9 else "")
    code = one_of(
        rng, *["utf-8"] * 30, "utf-8-sig", "latin-1", "utf-16", "utf-32", "cp1252", "ascii"
    )
    exact = plain and mark in ",\t" and end != "\r" and code == "utf-8"
    return text.encode(code, errors="replace"), exact


def _arrays(
    rng: Rng, ending: str, numbers: Any, *, odd: bool
) -> tuple[list[str], bytes, int | None]:
    """A numpy file; odd ones hold other types, shapes or names."""
    array: Any = numbers
    if odd:
        array = one_of(
            rng, numbers[:, 0], numbers[None], numbers[:0], numbers.astype(str),
            numbers.astype(complex), numbers > 2, numbers.astype("datetime64[s]"), numbers * 1e307,
            numbers.astype(np.float16), numbers.astype(">f8"), np.asfortranarray(numbers),
            np.float64(3), np.where(numbers > 2, np.nan, numbers), numbers.astype("S4"),
            np.zeros(len(numbers), [("a", "f8"), ("b", "i4")]), numbers.astype(object),
        )  # fmt: skip
    memory = io.BytesIO()
    if ending == ".npy":
        np.save(memory, array, allow_pickle=True)
    else:
        names: Any = one_of(rng, {"X": array}, {"labels": array}, {"members": array},
                            {"a": array, "b": array[:1] if np.ndim(array) else array},
                            {"X": array, "ids": np.arange(len(numbers))}, {})  # fmt: skip
        if not odd:
            names = {one_of(rng, "X", "labels", "data"): array}
        np.savez(memory, **names)
    return (
        [f"c{j}" for j in range(numbers.shape[1])],
        memory.getvalue(),
        None if odd else len(numbers),
    )


def _parquet(rng: Rng, heads: list[str], cells: list[list[str]], *, odd: bool) -> bytes:
    """A parquet file; odd ones hold other types and gaps. CSV bytes where pyarrow is missing."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return b"PAR1"
    columns: list[Any] = [list(column) for column in zip(*cells, strict=True)]
    for j, column in enumerate(columns):
        try:
            columns[j] = [None if v == "" else float(v) for v in column]
        except ValueError:
            continue
    if odd:
        j = int(rng.integers(len(columns)))
        columns[j] = one_of(
            rng, [None] * len(cells), [[1.0]] * len(cells), [{"a": 1}] * len(cells),
            [b"x"] * len(cells), [True] * len(cells), [float("nan")] * len(cells),
            [2**62 + i for i in range(len(cells))], ["text"] * len(cells), [1e308] * len(cells),
            [{}] * len(cells),
        )  # fmt: skip
    memory = io.BytesIO()
    try:
        parquet.write_table(pyarrow.table(dict(zip(heads, columns, strict=True))), memory)
    except pyarrow.ArrowException:  # cannot be written: nobody has such a file
        return b"PAR1"
    return memory.getvalue()


def _damaged(rng: Rng, raw: bytes) -> bytes:
    """Bytes cut, flipped, doubled, re-encoded, wrapped or replaced."""
    if not raw:
        return b"\0"
    at = int(rng.integers(len(raw)))
    noise = rng.integers(0, 256, int(rng.integers(1, 40)), dtype=np.uint8).tobytes()
    flipped = bytearray(raw)
    for _ in range(int(rng.integers(1, 6))):
        flipped[int(rng.integers(len(raw)))] ^= 1 << int(rng.integers(8))
    return one_of(
        rng, raw[:at], raw[at:], bytes(flipped), bytes(flipped), raw[:at] + noise + raw[at:],
        raw + noise, noise + raw, raw * 2, b"", noise, gzip.compress(raw, mtime=0),
        gzip.compress(gzip.compress(raw, mtime=0), mtime=0), b"\0" * len(raw),
        raw.replace(b",", b";"), raw.replace(b"\n", b""), raw.decode("latin-1").encode("utf-16"),
        raw[:at] + b"\0" + raw[at:], raw[:at] + b'"' + raw[at:], b"[" * 5000, b"\xef\xbb\xbf" + raw,
        raw.upper(), bytes(reversed(raw)), string.printable.encode(),
    )  # fmt: skip
