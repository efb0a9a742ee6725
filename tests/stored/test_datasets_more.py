"""Stored answers of the data sets at the edges: what is just a number, a date, a code, a gene."""

import gzip
import json
import math
from decimal import Decimal
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy import sparse
from stored.home import make_home
from stored.store import Cases, attempt

from consilience import datasets
from consilience.datasets import (
    _association,
    _cells,
    _dates,
    _frames,
    _genes,
    _graphs,
    _known_files,
    _mixed,
    _points,
    _roles,
    _transform,
    _views,
)
from consilience.datasets._columns import Words
from consilience.datasets._meaning import meaning_of
from consilience.datasets._missing_codes import missing_code
from consilience.errors import InvalidInputError

CASES = Cases(__file__)
NAN = math.nan


@CASES
def signs():
    for cells in (
        ["5%", "6 %"],
        ["$5", "$ 6"],
        ["5 €", "6€"],
        ["5%", "6"],
        ["$5", "6%"],
        ["5", "6"],
        ["x%", "5%"],
        ["%"],
        ["$1,234.5", "$2"],
        ["£1.5", "£1"],
        ["¥5%"],
        [" 7 % ", "8%"],
    ):
        for decimal in (None, ".", ","):
            yield f"{cells} {decimal}", _cells.undecorated(cells, decimal)
    for cell in (
        "1 234,5",
        "1'234.5",
        "1\u00a0234",
        "12 34",
        "1.234.567",
        "1,234,567",
        "1,23,456",
        "0,5",
        "-1.234,5e3",
        "+1,5",
        "1.5,2",
        "$1,5",
        "5,5 %",
        ",5",
        "5,",
        ".",
        ",",
        "e5",
        "1_0",
        "",
    ):
        found = [_cells.number(cell, decimal) for decimal in (None, ".", ",")]
        yield f"marks {cell!r}", [found, list(_cells.foreign_number(cell))]


@CASES
def days():
    for words in (
        ["24:00"],
        ["24:01"],
        ["24:00:01"],
        ["23:59"],
        ["23:60"],
        ["25:00"],
        ["0:00", "12:30"],
        ["12:00 AM", "12:30 pm"],
        ["0:30 am"],
        ["13:00 pm"],
        ["1:00 p.m."],
        ["11:59:59 PM"],
        ["23:59:60"],
        ["23:59:60.9"],
        ["23:59:61"],
        ["06:30:15.5"],
        ["1/2/68", "13/2/69"],
        ["1/2/68", "2/13/69"],
        ["13/12/2020"],
        ["12/13/2020"],
        ["12/12/2020"],
        ["13/13/2020"],
        ["1.2.2020"],
        ["13.12.2020"],
        ["12.13.2020"],
        ["30/02/2020"],
        ["29/02/2020"],
        ["29-02-2021"],
        ["1/2-2020"],
        ["31/12/2020 6:00"],
        ["31/12/2020 25:00"],
        ["2024-12"],
        ["2024-13"],
        ["2024/01", "2024/02"],
        ["2024-00"],
        ["2020.01.02"],
        ["2020-1-2", "2020-10-20"],
        ["2020-1/2"],
        ["2020/1/32"],
        ["31 Dec 2024"],
        ["31-Dec-24"],
        ["1. January 2020"],
        ["Dec 31, 2024"],
        ["Dec 31 2024"],
        ["Sept 3, 2020 6:00"],
        ["31 Dez 2024"],
        ["May 1 2020", "2 May 2020"],
        ["Dec 32, 2024"],
        ["2020-01-02T03:04:05+02:00"],
        ["2020-01-02T03:04:05Z"],
        ["2020-01-02 12"],
        ["20200102"],
        ["0001-01-01"],
        ["0001-01-01T00:00+05:00"],
        ["2020-01-02", "soon"],
        ["2020-01-02", "2/1/2020"],
        ["1e9"],
        ["12"],
    ):
        yield str(words), attempt(_dates.read_days, words)
    seconds = 1 / 86400
    for day in (0.25, 1 + seconds, 1 - seconds / 2, -0.5, 2.0, 18262 + 60 * seconds, 1e7, NAN):
        yield f"text {day:.6f}", attempt(_dates.as_text, day)


@CASES
def codes():
    """Codes for missing values: how many, how far, of what."""
    wide = np.arange(60.0, 90.0)
    for name, values in {
        "two zeros": np.r_[0, 0, wide],
        "three zeros": np.r_[0, 0, 0, wide],
        "six tenths": np.r_[np.zeros(45), wide],
        "more": np.r_[np.zeros(46), wide],
        "nine others": np.r_[np.zeros(4), wide[:9]],
        "ten others": np.r_[np.zeros(4), wide[:10]],
        "minus one": np.r_[-1, np.arange(12.0)],
        "minus one of a scale": np.r_[-1, np.linspace(-0.9, 1, 12)],
        "minus one far off": np.r_[-1, wide],
        "minus nine": np.r_[-9, np.arange(12.0)],
        "minus nine among negative": np.r_[-9, np.arange(-1, 12.0)],
        "far below negative": np.r_[-999, np.arange(-5, 12.0)],
        "nines above": np.r_[wide, 999],
        "nines near": np.r_[wide, 99],
        "99 apart": np.r_[np.arange(12.0), 99],
        "at three": np.r_[np.arange(86.0, 97), 99],
        "above three": np.r_[np.arange(85.0, 96), 99],
        "within the spread": np.r_[0, 0, 0, np.tile([*np.arange(40.0, 50), 360], 3)],
        "between": np.r_[0, 0, 0, np.tile([*np.arange(40.0, 50), 326], 3)],
        "two of 10,000": np.r_[0, 0, np.tile(np.arange(50.0, 75.0), 400)[:9998]],
        "98": np.r_[np.arange(12.0), 98],
        "99.5": np.r_[np.arange(12.0), 99.5],
        "both": np.r_[0, 0, 0, wide, 999],
        "long": np.r_[np.zeros(400), np.tile(np.arange(50.0, 75.0), 400)],
        "at most": np.r_[-999, np.tile(np.arange(-20.0, 79.0), 101)],
        "longer": np.r_[np.tile(np.arange(-20.0, 79.0), 202), -999],
        "spread": np.r_[0, 0, 0, np.tile([40.0, 41, 42, 43, 44, 45, 46, 47, 48, 49, 300], 3)],
    }.items():
        yield name, missing_code(values)


@CASES
def meanings():
    words = [f"w{i}" for i in range(101)]
    for name, cells in {
        "100 words": words[:100],
        "101 words": words,
        "half numbers": ["1", "2", "x", "y"],
        "fewer numbers": ["1", "x", "y"],
        "ten with a word": [*map(str, range(9)), "x"],
        "eleven": [*map(str, range(10)), "x"],
        "dash": ["1", "-", "2"],
        "none": ["1", "none"],
        "a kind none": ["none", "brick", "na"],
        "foreign": ["1,5", "2,5", "x"],
        "half foreign": ["1,5", "x"],
        "signs": ["5%", "", "7%"],
        "signs and words": ["5%", "x"],
        "yes": ["Yes", "NO", ""],
        "yes only": ["yes"],
        "t": ["t", "F"],
        "mixed answers": ["yes", "false"],
        "on": ["on", "off", "?"],
        "bools": [True, False, None],
        "numbers": [1, 2.5, None],
        "odd": [1, "x"],
        "things": [b"a"],
        "dates": ["2020-01-02", ""],
        "ambiguous": ["1/2/2020", "3/4/2020"],
        "nothing": ["", "NA"],
        "spaces": [" a", "a ", "a"],
    }.items():
        column = Words()
        column.add(cells)
        for categories in (False, True):
            found = meaning_of(column, None, categories=categories)
            told = [
                found.kind.name,
                found.words,
                found.missing,
                found.values,
                found.odd,
                found.sign,
                found.may_be_categories,
                sorted(map(str, found.silent)),
                found.said,
            ]
            yield f"{name} {categories}", told


def _table_of(columns, rows, first=0):
    head = ",".join(columns)
    cells = zip(*(columns[name][first : first + rows] for name in columns), strict=True)
    return "\n".join([head, *(",".join(map(str, line)) for line in cells)]) + "\n"


def _read(place, name, text, **options):
    path = Path(place, name)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    found = attempt(datasets.read_table, path, **options)
    return str(found).replace(place, "")


@CASES
def roles():
    """What is taken for identifiers, counters and dates, by how little."""
    for name in (
        "ID",
        "Id",
        "patient_id",
        "patient id",
        "patient-ID",
        "patient.Id",
        "patientId",
        "PATIENTID",
        "valid",
        "liquid",
        "idx",
        "Unnamed: 0",
        "Name",
        "surname",
        "no.",
        "#",
        "rowid",
        "x",
        "iD",
    ):
        yield name, _roles.named_like_ids(name)
    for values in (range(9), range(10), range(1, 11), range(2, 12), [0, 2, *range(3, 11)]):
        yield f"counts {list(values)}", _roles.counts_rows(np.array(values, float))
    x = np.array([5.5, 2.5, 9.25, 1.5, 8.0, 7.5, 2.25, 3.5, 0.25, 6.5, 4.75, 1.25])
    other = x[::-1] * 3
    words = [f"n{i:02d}" for i in range(12)]
    with TemporaryDirectory() as place:
        for rows in (9, 10, 12):
            for key, column in {
                "id": np.arange(100, 112),
                "id half": np.r_[np.arange(100, 105), np.full(7, 100)],
                "id more": np.r_[np.arange(100, 106), np.full(6, 100)],
                "id seven": np.r_[np.arange(100, 107), np.full(5, 100)],
                "id fraction": np.arange(12) + 0.5,
                "text": words,
                "count": np.arange(12),
                "from one": np.arange(1, 13),
            }.items():
                name = key.split()[0] if key.startswith("id") else "v"
                for options in ({}, {"id_column": "none", "encode": "onehot"}):
                    text = _table_of({name: column, "x": x, "y": other}, rows)
                    yield f"{key} {rows} {options}", _read(place, "t.csv", text, **options)
            text = _table_of({"x": x, "row": np.arange(12), "y": other}, rows)
            yield f"later {rows}", _read(place, "t.csv", text)
            two = {"id": words, "name": words[::-1], "key": np.arange(12) * 2 + 50, "x": x}
            yield f"three {rows}", _read(place, "t.csv", _table_of(two, rows))
            yield f"no data {rows}", _read(place, "t.csv", _table_of({"id": words, "key": x}, rows))
        for least in (
            19000101,
            19000100,
            18991231,
            21001231,
            21001232,
            20200001,
            20201301,
            20200100,
            20200132,
            20200131,
            20201201,
            20200101.5,
        ):
            dates = np.r_[least, np.full(11, 20100203)].astype(object)
            for column in (dates, dates[::-1]):
                text = _table_of({"x": x, "seen": column, "y": other}, 12)
                yield f"date {least} {column[0] == least}", _read(place, "t.csv", text)


@CASES
def heads():
    """First lines: names, values, comments, delimiters; and what is said of them."""
    many = ",".join(f"{i}" for i in range(5))
    for name, text in {
        "numbered": f"{many}\n1,2,3,4,5\n",
        "numbered four": "0,1,2,3\n5,6,7,8\n",
        "one number": "0\n1\n2\n",
        "one": "x\n\n1\n\n3\n",
        "one word": "x\n1\n\n",
        "years": "2001,2002,2003\n1.5,2.5,3.5\n",
        "years apart": "2001,2003,2002\n1.5,2.5,3.5\n",
        "half": "a,b,3,2\n1,2,3,4\n5,6,7,9\n",
        "less than half": "a,b,c,3,2\n1,2,3,4,5\n5,6,7,9,9\n",
        "once": "a,b,3\n1,2,3\n",
        "unnamed": "a,,c\n1,2,3\n",
        "unnamed last": "a,b,\n1,2,3\n",
        "row names": "a,b\nr1,1,2\nr2,3,5\n",
        "row numbers": "a,b\n1,1,2\n2,3,5\n",
        "odd row numbers": "a,b\n1,1,2\n3,3,5\n",
        "same row names": "a,b\nr,1,2\nr,3,5\n",
        "a comma too many": "a,b\n1,2,\n3,5,\n",
        "blanks": "a b\n1 2\n3 5\n",
        "blank words": "a b\nx y\nz w\n",
        "blanks once": "a b\n1 2\n",
        "blank words first": "a b\nx y\n1 2\n",
        "blank numbers first": "a b\n1 2\nx y\n",
        "uneven blanks": "a b\n1 2\n3\n",
        "comments": "# one\n#two\n\na,b\n1,2\n# in\n3,5\n#x,y\n",
        "a comment": "# one\na,b\n1,2\n# in\n3,5\n",
        "hash header": "#a,b\n1,2\n3,5\n",
        "two hashes": "# made\n#a,b\n1,2\n3,5\n",
        "hash of three": "#a,b,c\n1,2\n3,5\n",
        "hash number": "#1,b\n1,2\n3,5\n",
        "hash words": "#a,b\nx,y\n1,2\n",
        "sep": "sep=;\na;b\n1;2\n3;5\n",
        "Sep": '"SEP=|"\na|b\n1|2\n3|5\n',
        "sep twice": "sep=;\nsep=,;b\n1;2\n",
        "tabs": "a\tb,c\n1\t2\n3\t5\n",
        "pipes": "a|b;c|d\n1|2|3\n3|5|6\n",
        "commas in semicolons": "1,5;2,5\n3,5;4,25\n",
        "commas": "1,5\n2,5\n3,25\n",
        "points in semicolons": "a;b\n1,5;2.5\n3;4\n",
        "groups in semicolons": "a;b\n1,234;2\n3;4\n",
        "twice": "a,b,a,b,a\n1,2,3,4,5\n",
        "short": "a,b\n1,2\n3\n",
        "long": "a,b\n1,2\n3,4,5\n",
        "title": "My table\na,b\n1,2\n",
        "open quote": 'a,b\n1,"2\n3,4\n',
        "quote inside": 'a,b\n1,"2"x\n3,4\n',
        "blank only": "\n\n",
        "comments only": "# a\n# b\n",
        "returns": "a,b\r1,2\r3,5\r",
        "windows": "a,b\r\n1,2\r\n3,5\r\n",
    }.items():
        for options in ({}, {"decimal": ","}):
            with TemporaryDirectory() as place:
                yield f"{name} {options}", _read(place, "t.csv", text, **options)
    with TemporaryDirectory() as place:
        for name, raw in {
            "cp1252": "a,caf\u00e9\n1,2\n".encode("cp1252"),
            "utf-16": "a,caf\u00e9\n1,2\n".encode("utf-16"),
            "utf-16 be": b"\xfe\xff" + "a,b\n1,2\n".encode("utf-16-be"),
            "both": "a,caf\u00e9\n1,".encode() + b"\xe9\n",
            "control": b"a,\xe9\x01\n1,2\n",
            "none": b"a,b\n1,2\n3,\x81\n",
            "mark": b"\xef\xbb\xbfa,b\n1,2\n",
        }.items():
            for encoding in (None, "cp1252", "utf-8", "utf-16", "base64", "zzz", 5):
                found = _read(place, "t.csv", raw, encoding=encoding)
                yield f"{name} {encoding}", found
        for name, text in {
            "spaced": "# made\nx  y\n1 2\n 3   5 \n",
            "marked": "x y,z\n1,2\n3,5\n",
            "one": "x\n1\n2\n",
            "blank": "\n \n",
            "tabs": "x\ty z\n1\t2\n3\t5\n",
            "comments": "# a\n# b\n",
            "quoted": '"a b" c\n"1" 2\n3 5\n',
            "no end": "x y\n1 2\n3 5",
            "comment in one word": "#made\nx y\n1 2\n",
            "comment of words": "# made by hand\nx,y\n1,2\n",
        }.items():
            yield f"txt {name}", _read(place, "t.txt", text)
            yield f"gz {name}", _read(place, "t.txt.gz", gzip.compress(text.encode()))


@CASES
def labels():
    """Files of labels: identifiers by their place, memberships by their names."""
    ten = [f"n{i}" for i in range(10)]
    shares = "m:a,m:b,k:0,k:1\n"
    with TemporaryDirectory() as place:
        path = Path(place, "t.csv")
        for name, text in {
            "ten names": "who,m\n" + "".join(f"{w},{i % 2}\n" for i, w in enumerate(ten)),
            "nine names": "who,m\n" + "".join(f"{w},{i % 2}\n" for i, w in enumerate(ten[:9])),
            "a number": "who,m\n"
            + "".join(f"{w},{i % 2}\n" for i, w in enumerate([*ten[:9], "5"])),
            "second": "m,who\n" + "".join(f"{i % 2},{w}\n" for i, w in enumerate(ten)),
            "nine in second": "m,who\n" + "".join(f"{i % 2},{w}\n" for i, w in enumerate(ten[:9])),
            "only": "who\n" + "".join(f"{w}\n" for w in ten),
            "id": "ID,m\na,0\na,1\n",
            "id last": "m,id\n0,a\n1,b\n",
            "only ids": "id\na\nb\n",
            "unnamed": ",m\na,0\nb,1\n",
            "ours": "id,cluster,confidence\na,0,0.5\nb,1,0.25\n",
            "ours whole": "id,cluster,confidence,runner_up,ambiguity,doubtful\na,0,1,1,0.5,0\n",
            "not ours": "id,cluster,other\na,0,1\nb,1,0\n",
            "other order": "cluster,id,confidence\n0,a,1\n1,b,0\n",
            "limits": "m\n-2\n-1\n0\n9007199254740992\n",
            "below": "m\n-3\n0\n",
            "beyond": "m\n9007199254740994\n0\n",
            "fraction": "m\n0\n0.5\n",
            "infinite": "m\n0\n-inf\n",
            "words": "m\na\n?\nNA\nnone\n1\n",
            "missing": "m,n\nNA,0\n,0\n-,1\n",
            "spaces": "m\n 1\n1 \n2\n",
            "gaps": "m,k\n0,\nNA,1\nnan,2\n,0\n7,nan\n",
            "shares": f"{shares}0.5,0.5,1,0\n0.25,0.75,0,1\n",
            "hard": f"{shares}1,0,1,0\n0,1,0,1\n",
            "hard, one gap": f"{shares}1,0,1,0\n0,1,,\n",
            "labels": f"{shares}1,2,1,0\n0,1,0,3\n",
            "sums above": f"{shares}1,1,1,0\n0,1,0,1\n",
            "rounded": f"{shares}0.50005,0.50005,1,0\n0.25,0.75,0,1\n",
            "not rounded": f"{shares}0.5002,0.5002,1,0\n0.25,0.75,0,1\n",
            "words in shares": f"{shares}a,0.5,1,0\n0.25,0.75,0,1\n",
            "one of each": "m:a,k:b\n0.5,0.5\n1,0\n",
            "a name without": "m:a,m:b,k\n0.5,0.5,1\n1,0,0\n",
            "negative": f"{shares}-0.5,0.5,1,0\n0.25,0.75,0,1\n",
            "noise": f"{shares}0.5,0.25,1,0\n0.25,0.75,0,0\n",
            "with ids": "id,m:a,m:b\nu,0.5,0.5\nv,0,1\n",
        }.items():
            path.write_text(text)
            found = attempt(datasets.read_labels, path)
            soft = getattr(found, "memberships", None)
            yield name, [str(found).replace(place, ""), soft]
            if name in ("shares", "hard", "with ids"):
                kind = type(datasets.read_labels(path)).__name__ if name != "labels" else ""
                yield f"{name} kind", kind
        table = pd.DataFrame({"m": [0, 1, 1], "k": ["u", "v", None]}, index=["a", "b", "c"])
        table.to_parquet(Path(place, "index.parquet"))
        table.rename_axis("id").reset_index().to_parquet(Path(place, "id.parquet"))
        pd.DataFrame({"m:0": [0.5, None], "m:1": [0.5, None]}).to_parquet(Path(place, "s.parquet"))
        wide = pd.DataFrame({"w": ten, "k": [0, 1] * 5})
        wide.to_parquet(Path(place, "ten.parquet"))
        wide[:9].reset_index(drop=True).to_parquet(Path(place, "nine.parquet"))
        for name in ("index", "id", "s", "ten", "nine"):
            found = attempt(datasets.read_labels, Path(place, f"{name}.parquet"))
            yield f"parquet {name}", str(found).replace(place, "")
        np.savez(Path(place, "l.npz"), labels=np.eye(3, dtype=int), who=np.array(list("abc")))
        for column in (None, "who", "zzz"):
            found = attempt(datasets.read_labels, Path(place, "l.npz"), id_column=column)
            yield f"npz {column}", str(found).replace(place, "")
        out = Path(place, "out.csv")
        for options in (
            {},
            {"confidence": [1 / 3, NAN, 1], "ambiguity": [0.1234567, 0, NAN]},
            {"runner_up": [-1, 0, 1], "doubtful": [True, False, True]},
            {"confidence": [1, 1, 0], "runner_up": [0, -1, 2], "doubtful": [0, 1, 0]},
        ):
            for ids in (None, ["a", "=b", "c,d"]):
                datasets.write_labels(out, ids, [0, -1, 2], **options)
                yield f"written {options} {ids}", out.read_bytes().decode()


@CASES
def known():
    with TemporaryDirectory() as place:
        path = Path(place, "k.csv")
        for text in (
            "a,b,link\nx,y,must\nx, z ,cannot\n",
            "a,b,link\n",
            "a,g\nx,1\ny,2\nx,1\n",
            "",
            "a,g\nx,1\nx,2\nx,1\ny,2\ny,3\n",
            "a,b,link\nx,y,must\nx,z\n",
            "a\nx\n",
            "\n , \na,g\n\nx,1\n",
            "a,b,link\nx,y,perhaps\nx,y,Must\n",
            "a,b,c,d\n1,2,3,4\n",
            '\ufeffa,g\n"x,y",1\n',
        ):
            path.write_text(text, encoding="utf-8")
            yield text, str(attempt(_known_files.read_known, path)).replace(place, "")
        path.write_bytes(b"a,g\n\xe9,1\n")
        yield "latin", attempt(_known_files.read_known, path)
        yield "none", attempt(_known_files.read_known, Path(place, "none.csv"))
        yield "folder", attempt(_known_files.read_known, Path(place)).__class__.__name__


@CASES
def associations():
    rng = np.random.default_rng(3)
    group = rng.integers(3, size=120)
    noise = rng.integers(4, size=120).astype(float)
    near = np.where(rng.uniform(size=120) < 0.6, group, rng.integers(3, size=120)).astype(float)
    number = group + rng.normal(0, 0.5, 120)
    gaps = np.where(rng.uniform(size=120) < 0.3, NAN, group)
    whole = {"group": group, "noise": noise, "near": near, "number": number, "gaps": gaps}
    empty = np.full(120, NAN)
    for names, places in (
        (("group", "noise", "near", "number", "gaps"), [0, 1, 2, 4]),
        (("number", "group", "noise"), [1, 2]),
        (("number", "near"), [1]),
        (("noise", "number"), [0]),
        (("group", "near"), [0, 1]),
        (("group", "near"), [0]),
        (("group",), [0]),
        (("number", "noise"), []),
    ):
        table = np.column_stack([whole[name] for name in names])
        yield f"{names} {places}", _association.association_weights(table, places)
        yield f"{names} few", _association.association_weights(table[:7], places)
        with_empty = np.column_stack([table, empty])
        yield f"{names} empty", _association.association_weights(with_empty, [*places, len(names)])
    many = np.tile(np.column_stack([number, near, noise]), (60, 1))
    for n in (4999, 5000, 5001, 7200):
        yield f"many {n}", _association.association_weights(many[:n], [1, 2])


@CASES
def points():
    rng = np.random.default_rng(4)
    base = rng.normal(size=(80, 4)) * (1, 10, 1e-3, 1e200) + (0, 5, 0, 0)
    holes = np.where(rng.uniform(size=base.shape) < 0.3, NAN, base)
    holes[3] = NAN
    names = list("abcd")
    for key, X in {
        "whole": base,
        "holes": holes,
        "constant": np.c_[base[:, :3], np.ones(80)],
        "constant gaps": np.c_[holes[:, :3], np.where(np.isnan(holes[:, 3]), NAN, 2.0)],
        "all": np.ones((4, 4)),
        "few": holes[:12],
        "unknown": np.c_[base[:, :3], np.full(80, NAN)],
    }.items():
        for sources, weights in (
            (names, [1, 1, 1, 1]),
            (list("aabb"), [1.0, 0.5]),
            (list("abba"), [2, 1.0]),
        ):
            found = attempt(
                _points.points_with_gaps,
                X,
                names,
                sources=sources,
                weights=np.array(weights, float),
            )
            yield f"{key} {sources}", found
    *_, how = _points.points_with_gaps(holes, names, sources=names, weights=np.ones(4))
    yield "again", [how.applied(holes[:9]), how.applied(holes[3:4]), how.with_gaps(holes[:9])]
    *_, how = _points.points_with_gaps(base, names, sources=names, weights=np.ones(4))
    yield "nobody had gaps", how.applied(holes[:9])
    long = np.tile(holes, (63, 1)) + np.arange(5040)[:, None] * (1e-3, 1e-3, 1e-6, 1e197)
    for n in (4999, 5000, 5001, 5040):
        some = _points.drawn(long[:n])
        yield f"drawn {n}", [some.shape, some]
    for n in (1023, 1024, 1025, 2100):
        yield (
            f"rows {n}",
            how.__class__(how.kept, how.mean, how.spread, holes[:40]).applied(long[:n]),
        )


@CASES
def transforms():
    counts = np.array([[0.0, 1, 2], [3, NAN, 0], [NAN, NAN, NAN], [5, 5, 5]])
    every, some = np.ones(3, bool), np.array([True, True, False])
    for how in ("log", "compositional"):
        for columns in (every, some, np.array([True, False, False]), ~every):
            for key, X in {
                "counts": counts,
                "negative": counts - 1,
                "zeros": counts * [0, 0, 1],
                "last negative": counts * [1, 1, -1],
                "csr": sparse.csr_array(np.nan_to_num(counts)),
                "negative csr": sparse.csr_array(np.nan_to_num(counts) - [[0, 2, 0]]),
                "empty csr": sparse.csr_array((3, 3)),
            }.items():
                yield f"{how} {columns} {key}", attempt(_transform.transformed, X, how, columns)
    kept = counts.copy()
    _transform.transformed(counts, "log", every)
    yield "not written to", bool(np.array_equal(kept, counts, equal_nan=True))


@CASES
def genes():
    for name in (
        "gene",
        "Genes",
        "gene_name",
        "HGNC symbol",
        "hgnc_symbols",
        "probe set",
        "ensembl.id",
        "feature-ids",
        "patient",
        "genealogy",
        "gene x",
        " symbol ",
        "otu",
        "uniprots",
        "hgnc",
    ):
        yield name, _genes.looks_like_genes(name, None)
    real = ["ENSG00000000001", "ENSMUSG00000000001.2", "NM_000014", "1007_s_at", "cg00000029"]
    odd = ["ENSG1", "NM_12", "cg123", "ILMN", "x"]
    for k in range(6):
        ids = np.array(real[:k] + odd[: 5 - k])
        yield f"{k} of 5", _genes.looks_like_genes(None, ids)
        yield f"{k} of {k + 2}", _genes.looks_like_genes("x", np.array(real[:k] + odd[:2]))
        yield f"{k} of {2 * k}", _genes.looks_like_genes("x", np.array(real[:k] + odd[:k]))
    late = np.array(["x"] * 101 + ["cg00000029"] * 99 + ["cg00000029"] * 500)
    yield "late", [_genes.looks_like_genes(None, late), _genes.looks_like_genes(None, late[1:])]
    for one in ("ILMN_12", "XR_123456.1", "12_at", "ENST00000000001", "ENSABCDG00000000001"):
        yield one, _genes.looks_like_genes(None, np.array([one]))
    numbers = np.arange(6.0).reshape(2, 3)
    for X in (numbers, sparse.csr_matrix(numbers)):
        for ids in (None, np.array(["u", "v"]), np.array([5, 6])):
            yield f"turned {type(X).__name__} {ids}", _genes.turned(X, ids, ("a", "b", "c"))
    yield "said", _genes.said_of_genes("t.csv", "genes", 5, list("abcde"))


@CASES
def graphs():
    frame = pd.DataFrame(
        {"u": ["a", "b", "c", "c"], "v": ["b", "c", None, "a"], "w": [1, 2, 3, 0.5]}
    )
    for key, X in {
        "pairs": [(1, 2), (2, 3), (3, 1)],
        "from zero": [(0, 1), (1, 2)],
        "floats": np.array([[0.0, 1], [1, 2], [2, 4]]),
        "fractions": np.array([[0.5, 1], [1, 2], [2, 4]]),
        "weights": np.array([[0, 1, 0.5], [1, 2, 0.25], [2, 5, 2]])[:, [0, 1, 2]].repeat(2, 0)[:5],
        "nan": np.array([[0, 1], [1, NAN], [2, 4]]),
        "nan weight": np.array([[0, 1, 1], [1, 2, NAN]]),
        "mixed names": [("a", 1), (1, (2, 3)), ("a", (2, 3))],
        "triples": [("b", "a", 2), ("a", "c", 3)],
        "ragged": [(1, 2), (1, 2, 3)],
        "four": [(1, 2, 3, 4)],
        "one": [(1,)],
        "nothing": [],
        "five": 5,
        "words as weights": [("a", "b", "x")],
        "loops": [(1, 1), (2, 2), (1, 2)],
        "a loop": [(1, 1), (1, 2)],
        "only loops": [(1, 1), (2, 2)],
        "twice": [(1, 2), (2, 1), (1, 2), (2, 3)],
        "again": [(1, 2), (2, 1)],
        "zero": [(1, 2, 0), (2, 3, 1)],
        "all zero": [(1, 2, 0)],
        "negative": [(1, 2, -1.5), (2, 3, -2), (1, 3, 1)],
        "infinite": [(1, 2, math.inf)],
        "none first": [(None, 1)],
        "none second": [("a", "b"), ("c", None)],
        "square": np.array([[0, 2.0], [2, 0]]),
        "diagonal": np.array([[1, 2.0], [2, 0]]),
        "ones": np.ones((3, 3)),
        "directed": np.array([[0, 2.0, 0], [1, 0, 0], [0, 3, 0]]),
        "nearly": np.array([[0, 2.0], [2 + 1e-13, 0]]),
        "not nearly": np.array([[0, 2.0], [2 + 1e-11, 0]]),
        "one node": np.array([[1.0]]),
        "square nan": np.array([[0, NAN], [NAN, 0]]),
        "square texts": np.array([["0", "1"], ["1", "0"]]),
        "square things": np.array([[0, 1], [1, 0]], object),
        "square words": np.array([["a", 1], [1, 0]], object),
        "complex": np.array([[0, 1j], [1j, 0]]),
        "three dimensions": np.zeros((2, 2, 2)),
        "bools": ~np.eye(3, dtype=bool),
        "csr": sparse.csr_array(np.array([[0, 1.0, 0], [1, 0, 0], [0, 0, 0]])),
        "wide csr": sparse.csr_array((2, 3)),
        "csr twice": sparse.coo_array((np.ones(4), ([0, 0, 1, 1], [1, 1, 0, 0])), shape=(2, 2)),
        "csr complex": sparse.csr_array(np.array([[0, 1j], [1j, 0]])),
        "csr none": sparse.csr_array((3, 3)),
        "frame": frame,
        "two": frame[["u", "v"]],
        "four columns": frame.assign(z=1),
        "frame none": frame[["v", "u"]],
        "texts": np.array([["a", "b"], ["b", "c"], ["c", "d"]]),
        "column": np.array([[1], [2], [3]]),
        "dates": np.array([["2020-01-01", "2020-01-02"]] * 3, "datetime64[D]"),
    }.items():
        yield key, _graph(X)


def _graph(X, make=_graphs.as_graph):
    kept = []

    def told():
        kept.append(make(X))
        return [kept[0].name, repr(kept[0]), kept[0].ids, kept[0].adjacency, kept[0].isolated]

    said = attempt(told)
    return [said, kept[0].n_edges, [part.tolist() for part in kept[0].edges()]] if kept else said


@CASES
def graph_files():
    with TemporaryDirectory() as place:
        for name, text in {
            "named.csv": "w,to,from\n2,a,b\n3,b,c\n",
            "Named.csv": "Source , TARGET\na,b\nb,c\n",
            "third.csv": "p,q,r\na,b,2\nb,c,0.5\n",
            "third words.csv": "p,q,r\na,b,x\nb,c,y\n",
            "fourth.csv": "p,q,r,s\na,b,2,1\nb,c,3,2\n",
            "weight.csv": "p,q,r,count\na,b,2,1\nb,c,3,2\n",
            "weight words.csv": "p,q,weight\na,b,x\nb,c,y\n",
            "late words.csv": "p,q,weight\na,b,1\nb,c,y\n",
            "bare.csv": "a,b\nb,c\nc,a\n",
            "bare weight.csv": "a,b,5\nb,c,1\nc,a,2\n",
            "numbers.csv": "1,2\n2,3\n5,1\n",
            "zero.csv": "0,1\n1,2\n2,0\n",
            "leading.csv": "s,t\n01,2\n2,3\n",
            "long.csv": "s,t\n1234567890123456789,2\n2,3\n",
            "eighteen.csv": "s,t\n123456789012345678,2\n2,3\n",
            "alone.csv": "s,t\na,b\nc,\n",
            "first.csv": "s,t\n,b\nc,a\n,a\n",
            "lost.csv": "s,t,w\na,b,\nb,c,1\n",
            "lost alone.csv": "s,t,w\na,b,2\nc,,\n",
            "one.csv": "s\na\nb\n",
            "u.csv": "u,v\nu,v\nv,w\n",
            "source.csv": "source,b\nsource,c\n",
            "spaced.txt": "a b\nb c 2\n",
            "spaces.txt": "a b 1\nb c 2\n",
            "infinite.csv": "s,t,w\na,b,inf\nb,c,1\n",
            "twice.csv": "s,t\na,b\nb,a\na,a\n",
            "same names.csv": "s,t,w,w\na,b,1,2\nb,c,3,4\n",
        }.items():
            path = Path(place, name)
            path.write_text(text)
            yield name, str(_graph(path, datasets.read_graph)).replace(place, "")
        path = Path(place, "t.csv")
        path.write_text("p,q,r,weight\na,b,2,1\nb,c,3,5\n")
        for named in (
            {"source_column": "q"},
            {"target_column": "r"},
            {"source_column": "q", "target_column": "p"},
            {"source_column": "p", "target_column": "p"},
            {"weight_column": "r"},
            {"weight_column": "zzz"},
            {"weight_column": "q"},
            {"source_column": "weight", "target_column": "p"},
            {"target_column": "zzz"},
        ):
            yield str(named), str(_graph(path, lambda p, n=named: datasets.read_graph(p, **n)))
        head = "%%MatrixMarket matrix coordinate real"
        for name, text in {
            "symmetric": f"{head} symmetric\n% said\n\n3 3 2\n2 1 1.5\n3 2 2\n",
            "wide": f"{head} general\n2 3 1\n1 2 1\n",
            "pattern": "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n",
            "empty": f"{head} general\n0 3 0\n",
            "complex": "%%MatrixMarket matrix coordinate complex general\n2 2 1\n1 2 1 0\n",
            "vector": "%%MatrixMarket vector coordinate real general\n2 1\n1 1\n",
            "no size": f"{head} general\n2 2\n1 2 1\n",
            "negative": f"{head} general\n-2 2 1\n1 2 1\n",
            "array": "%%MatrixMarket matrix array real general\n2 2\n0\n1\n1\n0\n",
            "promise": f"{head} general\n3 3 99\n1 2 1\n",
            "rows": f"{head} general\n10000001 3 1\n1 2 1\n",
            "short": "%%MatrixMarket\n",
            "array promise": "%%MatrixMarket matrix array real general\n9 9\n0\n",
            "twice": f"{head} general\n2 2 3\n1 2 1\n1 2 2\n2 1 3\n",
            "long number": f"{head} general\n{'1' * 19} 3 1\n1 2 1\n",
            "nothing": f"{head} general\n% only\n",
        }.items():
            path = Path(place, "m.mtx")
            path.write_text(text)
            yield f"graph {name}", str(_graph(path, datasets.read_graph)).replace(place, "")
            yield f"table {name}", str(attempt(datasets.read_table, path)).replace(place, "")
        yield "named matrix", attempt(datasets.read_graph, path, weight_column="w")


@CASES
def views():
    frame = pd.DataFrame({"x": [1.0, 2, 3], "w": list("uvu")})
    named = frame.set_axis(["a", "b", "c"])
    array = np.arange(6.0).reshape(3, 2)
    with TemporaryDirectory() as place:

        def table(name, text, **options):
            Path(place, name).write_text(text)
            return datasets.read_table(Path(place, name), encode="mixed", **options)

        ids = table("i.csv", "id,x,g\na,1,u\nb,2,v\nc,4,u\n", id_column="id", truth_column="g")
        more = table("j.csv", "id,y,g\nc,7,u\nd,8,v\na,9,u\n", id_column="id", truth_column="g")
        rows = table("k.csv", "z,g\n5,u\n6,v\n8,u\n", truth_column="g")
        twice = table("l.csv", "id,y\nc,7\nc,8\na,9\n", id_column="id")
        left = table("n.csv", "w,x\nu,1\n,\nv,2\n", impute="keep")
        dropped = table("o.csv", "w,x\nu,1\nv,\nv,2\n", impute="drop-rows")
        known = table("p.csv", "id,x\na,1\nb,\nc,2\n", impute="drop-rows", id_column="id")
        far = table("m.csv", "id,y\np,7\nq,8\nr,9\n", id_column="id")
        for key, given in {
            "arrays": {"a": array, "b": array + 9},
            "one": {"a": array},
            "same": {1: array, "1": array},
            "tables": {"a": ids, "b": more},
            "rows": {"a": rows, "b": array},
            "mixed": {"a": ids, "b": array},
            "two without": {"a": ids, "b": array, "c": array[:2]},
            "uneven": {"a": array, "b": array[:2]},
            "twice": {"a": ids, "b": twice},
            "nothing common": {"a": ids, "b": far},
            "left out": {"a": left, "b": array},
            "dropped": {"a": dropped, "b": array},
            "both": {"a": left, "b": dropped},
            "dropped and known": {"a": dropped, "b": known},
            "known": {"a": known, "b": ids},
            "known and rows": {"a": known, "b": array},
            "left out of more": {"a": left, "b": array[:2]},
            "index and array": {"a": named, "b": array},
            "index of numbers": {"a": named[["x"]], "b": array},
            "frames": {"a": frame, "b": array},
            "named frames": {"a": named, "b": named[::-1]},
            "frame and table": {"a": named, "b": ids},
            "plain frame": {"a": frame[["x"]], "b": array},
            "sparse": {"a": sparse.csr_array(array), "b": array},
            "words": {"a": "xyz", "b": array},
            "flat": {"a": array[0], "b": array},
            "infinite": {"a": array * math.inf, "b": array},
            "gaps": {"a": np.where(array == 3, NAN, array), "b": array},
            "frame gaps": {"a": frame.replace("v", None), "b": array},
        }.items():
            for keep in (False, True):
                if not keep and key in ("flat", "infinite", "gaps"):
                    continue  # in the words of scikit-learn
                found = attempt(_views.side_by_side, given, owner="cluster", keep_gaps=keep)
                yield f"{key} {keep}", found
        yield (
            "strict",
            "NaN"
            in str(attempt(_views.side_by_side, {"a": array * NAN, "b": array}, owner="cluster")),
        )
        yield "least", attempt(_views.side_by_side, {"a": array}, owner="cluster", least=1)


@CASES
def frames():
    moments = pd.to_datetime(["2020-01-02 00:00", None, "2020-01-05 12:00"])
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3],
            "f": [0.5, None, 2],
            "b": [True, False, True],
            "w": ["u", None, "v"],
            "d": moments,
            "s": pd.to_timedelta([1, None, 36], "h"),
            "c": pd.Categorical(["x", "y", None]),
            "o": pd.Categorical(["low", "high", "low"], ["low", "mid", "high"], ordered=True),
            "i": pd.array([1, None, 3], "Int64"),
            "z": moments.tz_localize("UTC"),
            "k": pd.Categorical([1.0, 2, None]),
        }
    )
    for encode in ("mixed", "onehot", "dates", None):
        for impute in ("keep", "median", "mean", "drop-rows", None):
            yield (
                f"{encode} {impute}",
                attempt(_frames.frame_table, frame, encode=encode, impute=impute),
            )
    for name in frame:
        one = frame[[name, "n"]] if name != "n" else frame[["n"]]
        yield f"column {name}", attempt(_frames.frame_table, one, impute="keep")
        yield f"words {name}", _frames.holds_words(one)
    for name, given in {
        "same": frame,
        "turned": frame[frame.columns[::-1]],
        "more": frame.assign(zz=1),
        "less": frame[["n", "f"]],
        "new word": frame.assign(w="t", c="q"),
        "late": frame.assign(d=pd.to_datetime("2021-01-01")),
        "numbers": frame.assign(d=5),
        "days": frame.assign(n=moments),
        "words": frame.assign(n="x"),
    }.items():
        for impute in ("keep", "median"):
            recipe = _frames.frame_table(frame, impute=impute, say=False).recipe
            yield f"{name} {impute}", attempt(_frames.frame_like, given, recipe)
    yield (
        "mixed",
        [attempt(_mixed.as_mixed, frame, "auto"), attempt(_mixed.as_mixed, frame, ["n", -1])],
    )
    numbers = np.array([[5.0, 1], [7, NAN], [5, 3]])
    for categorical in ("auto", [0], [1], [-1, 0], [2], ["c1"], ["zzz"]):
        yield f"numbers {categorical}", attempt(_mixed.as_mixed, numbers, categorical)
        yield f"frame {categorical}", attempt(_mixed.as_mixed, pd.DataFrame(numbers), categorical)
    yield "twice", attempt(_frames.frame_table, pd.concat([frame["n"]] * 2, axis=1), impute=None)


@CASES
def parquet():
    """Columns of every type, in row groups: what is first missing lies in a later one."""
    names = ("pyarrow", "pyarrow.parquet", "pyarrow.feather")
    arrow, store, feather = map(import_module, names)
    moments = [0, None, 86_400_000_000_000 * 3 + 21_600_000_000_000, 86_400_000_000_000]
    columns = {
        "int8": arrow.array([1, 2, None, -4], arrow.int8()),
        "uint64": arrow.array([1, 2, 2**63 + 1, 4], arrow.uint64()),
        "float32": arrow.array([0.5, math.inf, NAN, -1.5], arrow.float32()),
        "bool": arrow.array([True, None, False, True]),
        "decimal": arrow.array([Decimal("1.25"), Decimal("-2.50"), None, Decimal("0.00")]),
        "null": arrow.nulls(4),
        "text": arrow.array(["u", "v", None, "u"]),
        "large": arrow.array(["u", " v", "u ", "u"], arrow.large_string()),
        "coded": arrow.array(["u", "v", "u", "w"]).dictionary_encode(),
        "gappy": arrow.array(["u", None, "u", "w"]).dictionary_encode(),
        "list": arrow.array([[1], [2], [1], None]),
        "binary": arrow.array([b"a", b"b", b"a", b"b"]),
        "struct": arrow.array([{"a": 1}, {"a": 2}, {"a": 1}, {"a": 1}]),
        "date32": arrow.array([0, 1, None, 5], arrow.int32()).cast(arrow.date32()),
        "date64": arrow.array([0, 86_400_000, None, 432_000_000]).cast(arrow.date64()),
        "time32": arrow.array([0, 43_200, None, 21_600], arrow.int32()).cast(arrow.time32("s")),
        "time64": arrow.array([0, 43_200_000_000, None, 1]).cast(arrow.time64("us")),
    }
    for unit, step in (("s", 10**9), ("ms", 10**6), ("us", 10**3), ("ns", 1)):
        cells = arrow.array([None if one is None else one // step for one in moments])
        columns[f"stamp {unit}"] = cells.cast(arrow.timestamp(unit))
        columns[f"zone {unit}"] = cells.cast(arrow.timestamp(unit, "Europe/Vienna"))
        columns[f"span {unit}"] = cells.cast(arrow.duration(unit))
    with TemporaryDirectory() as place:
        path = Path(place, "t.parquet")
        for name, cells in columns.items():
            for group in (1, 3, 4):
                table = arrow.table({"n": [1.0, 2.0, 4.0, 3.0], name: cells})
                store.write_table(table, path, row_group_size=group)
                for options in (
                    {},
                    {"encode": "mixed", "impute": "keep"},
                    {"encode": "dates", "impute": "mean"},
                    {"encode": "onehot", "impute": "drop-rows"},
                ):
                    found = attempt(datasets.read_table, path, **options)
                    yield f"{name} {group} {options}", str(found).replace(place, "")
            table = arrow.table({"n": [1.0, 2.0, 4.0, 3.0], name: cells})
            feather.write_feather(table, Path(place, "t.feather"), chunksize=3)
            options = {"encode": "mixed", "impute": "keep"}
            found = attempt(datasets.read_table, Path(place, "t.feather"), **options)
            yield f"{name} feather", str(found).replace(place, "")


@CASES
def treated():
    """Gaps that are kept, orders, columns to use, tables the other way round; and read again."""
    texts = {
        "grades": "id,size,grade,hue,x\na,1,low,red,3\nb,,high,blue,\nc,3,,red,inf\nd,4,mid,,5\n",
        "empty row": "x,y,hue\n1,2,u\n,,\n3,,v\ninf,-inf,u\n",
        "empty column": "x,y\n1,\n2,NA\n3,\n",
        "infinite column": "x,y\n1,inf\n2,inf\n3,-inf\n",
        "all empty": "x,y\n,\n,\n",
        "one row": "x,y\n1,\n",
        "two": "x,hue\n1,u\n2,v\n3,\n",
        "three": "x,hue\n1,u\n2,v\n3,w\n4,\n5,w\n",
        "one word": "x,hue\n1,u\n2,\n3,u\n",
        "tie": "x,hue\n1,v\n3,u\n,\n8,u\n9,v\n",
        "huge": "x,y\n1e308,-1e308\n1.5e308,1e308\n,5\n-1e300,\n",
        "nearly": "x,y\n9e299,1\n1e300,2\n,5\n",
        "truth": "x,g\n1,u\n2,\n3,?\n4,none\n5,NA\n",
        "dates": "x,d\n1,2020-01-05\n2,\n3,2020-01-02 12:00\n",
        "numbers": "a,b,c\n1,2,3\n4,5,7\n",
        "gene": "gene,s1,s2\ng1,1,2\ng2,,4\ng3,5,7\n",
    }
    with TemporaryDirectory() as place:
        path = Path(place, "t.csv")
        for name, text in texts.items():
            path.write_text(text)
            for options in (
                {"impute": "keep"},
                {"impute": "keep", "encode": "mixed"},
                {"impute": "keep", "encode": "onehot"},
                {"impute": "median", "encode": "mixed"},
                {"impute": "mean", "encode": "onehot"},
                {"impute": "drop-rows", "encode": "mixed"},
                {"ordinal": {"grade": ["low", "mid", "high"]}, "encode": "mixed", "impute": "keep"},
                {"ordinal": {"grade": ["low", "mid", "high"]}, "encode": "dates", "impute": "mean"},
                {"ordinal": {"hue": ["v", "u"]}, "impute": "median"},
                {"ordinal": {"hue": ["red"]}},
                {"ordinal": {"hue": ["red", "red"]}},
                {"ordinal": ["hue"]},
                {"ordinal": {"zzz": ["a", "b"]}},
                {"columns": "x", "impute": "keep"},
                {"columns": ["x", "hue"], "encode": "mixed", "impute": "keep"},
                {"columns": "x, zzz"},
                {"columns": "x", "ignore": "x"},
                {"transpose": True},
                {"transpose": True, "impute": "keep"},
                {"transpose": True, "impute": "mean"},
                {"transpose": True, "encode": "mixed"},
                {"transpose": True, "truth_column": "x"},
                {"transpose": True, "ordinal": {"x": ["a", "b"]}},
                {"transpose": True, "ignore": "r0"},
                {"transpose": True, "columns": "g3,g1", "impute": "keep"},
                {"transpose": 1},
                {"truth_column": "g"},
                {"truth_column": "g", "impute": "median"},
                {"truth_column": "g", "impute": "keep"},
                {"truth_column": "g", "impute": "drop-rows"},
                {"truth_column": "x", "id_column": "x"},
                {"sheet": "one"},
                {"layer": "one"},
            ):
                found = attempt(datasets.read_table, path, **options)
                yield f"{name} {options}", str(found).replace(place, "")
            for options in (
                {},
                {"encode": "mixed", "impute": "drop-rows"},
                {"encode": "dates"},
                {"impute": "keep", "encode": "mixed"},
                {"transpose": True, "impute": "keep"},
            ):
                try:
                    recipe = datasets.read_table(path, **options).recipe
                except InvalidInputError:
                    continue
                for other in ("grades", "empty row", "two", "three", "dates", "numbers", "gene"):
                    again = Path(place, "other.csv")
                    again.write_text(texts[other])
                    found = attempt(datasets.read_like, again, recipe)
                    yield f"{name} {options} {other}", str(found).replace(place, "")


def _without(place, found):
    """An answer without the folder it was made in."""
    if isinstance(found, dict):
        return {key: _without(place, one) for key, one in found.items()}
    if isinstance(found, list):
        return [_without(place, one) for one in found]
    return found.replace(place, "") if isinstance(found, str) else found


@CASES
def loaders():
    """The smallest legal values of the loaders of text, and those beyond; hostile lines."""
    with TemporaryDirectory() as place:
        home = make_home(Path(place))
        for name, options in (
            ("load_mini_newsgroups", {"n_terms": 5, "min_documents": 2}),
            ("load_webkb4", {"n_terms": 5, "min_documents": 2}),
            ("load_reuters", {"random_state": 3}),
            ("load_conll04", {"min_pairs": 2}),
        ):
            load = getattr(datasets, name)
            for more in (
                {},
                *({key: value} for key in options for value in (1, 0, 2.5, "x")),
                *({"n_terms": 10_000} for _ in range("n_terms" in options)),
                *({"variance_of": one} for one in ("weights", "x") if "n_terms" in options),
            ):
                found = attempt(load, data_home=home, **options | more)
                yield f"{name} {more}", _without(place, found)
        for more in (
            {"background": 1},
            {"background": 1.01},
            {"background": 0},
            {"background": 1e-9},
            {"min_documents": 1},
            {"min_documents": 0},
            {"stop_words": "the"},
            {"stop_words": 5},
            {"stop_words": [1]},
            {"stop_words": ["said", "profit"]},
            {"stop_words": []},
        ):
            found = attempt(datasets.load_reuters, home, random_state=3, **more)
            yield f"reuters {more}", _without(place, found)
        for more in (
            {"longest": 1},
            {"longest": 0},
            {"longest": 3},
            {"types": ("Org", "Loc")},
            {"types": ("Peop", "Peop")},
            {"types": "Org"},
            {"types": ("Org",)},
            {"types": ("x", "y")},
        ):
            found = attempt(datasets.load_conll04, data_home=home, **{"min_pairs": 1} | more)
            yield f"pairs {more}", _without(place, found)
        pairs = datasets.load_conll04(data_home=home, min_pairs=1)
        for more in (
            {},
            {"share": 0},
            {"share": 1},
            {"share": 1.01},
            {"share": -0.1},
            {"min_pairs": 1},
            {"min_pairs": 0},
            {"min_pairs": 2},
            {"random_state": "x"},
        ):
            found = attempt(pairs.hold_out, **{"random_state": 1, "min_pairs": 1} | more)
            yield f"hold out {more}", found
        for headers in (True, False, 1, "x"):
            given = {"n_terms": 4, "min_documents": 2, "headers": headers}
            found = attempt(datasets.load_mini_newsgroups, home, **given)
            yield f"headers {headers}", _without(place, found)
        good = {
            "id": 1,
            "tokens": ["a", "b"],
            "pos": ["X", "Y"],
            "entity": ["Loc", "Peop"],
            "relations": [[0, 1, "in"]],
        }
        for change in (
            {},
            {"relations": [[0, 2, "in"]]},
            {"relations": [[0, 1]]},
            {"relations": [[0, 0, "in"]]},
            {"pos": ["X"]},
            {"entity": ["Loc"]},
            {"entity": ["O", "O"]},
            {"id": "x"},
            {"tokens": None},
            {"relations": []},
            {"relations": [[1, 0, "in"], [0, 1, "of"]]},
        ):
            lines = [json.dumps(good), json.dumps(good | change)]
            with gzip.open(home / "conll04.jsonl.gz", "wt", encoding="utf-8") as file:
                file.write("\n".join(lines) + "\n")
            found = attempt(datasets.load_conll04, data_home=home, min_pairs=1)
            yield f"line {change}", _without(place, found)


@CASES
def arrays():
    """Vectors beside a dense or sparse matrix as identifiers and groups, fitting or not."""
    X = np.array([[1.0, 0, 2], [0, 3, 0], [4, 0, 5], [0, 6, 7]])
    beside = {
        "ids": np.array(list("abcd")),
        "y": np.array([1, 0, 1, 0]),
        "gaps": np.array(["u", "", "v", "NA"]),
        "bytes": np.array([b"u", b"\xff", b"v", b"u"]),
        "short": np.arange(3),
        "c1": np.array(list("wxyz")),
        "square": np.zeros((4, 4)),
    }
    with TemporaryDirectory() as place:
        dense, thin = Path(place, "dense.npz"), Path(place, "thin.npz")
        np.savez(dense, X=X, **beside)
        matrix = sparse.csr_matrix(X)
        parts = {name: getattr(matrix, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(thin, format=b"csr", **parts, **beside)
        for path in (dense, thin):
            for name in (
                "ids",
                "y",
                "gaps",
                "bytes",
                "short",
                "c1",
                "c2",
                "X",
                "data",
                "zzz",
                "none",
            ):
                for parameter in ("id_column", "truth_column"):
                    for impute in (None, "drop-rows", "median"):
                        options = {parameter: name, "impute": impute}
                        found = attempt(datasets.read_table, path, **options)
                        yield f"{path.name} {options}", str(found).replace(place, "")
            for options in (
                {"id_column": "ids", "truth_column": "gaps", "impute": "drop-rows"},
                {"id_column": "ids", "ignore": ["c0"]},
                {"truth_column": "y", "ignore": "c0,c1"},
                {"ignore": "c0,c1,c2"},
                {"columns": "c2,c0", "truth_column": "y"},
                {"transpose": True},
                {"transpose": True, "id_column": "ids"},
                {"transpose": True, "id_column": "y", "columns": "1"},
            ):
                found = attempt(datasets.read_table, path, **options)
                yield f"{path.name} {options}", str(found).replace(place, "")
        for values in ([1.0, NAN], [1.0, math.inf], [NAN, -math.inf]):
            sparse.save_npz(Path(place, "odd.npz"), sparse.csr_matrix([values]))
            yield f"odd {values}", attempt(datasets.read_table, Path(place, "odd.npz"))


@CASES
def sets():
    """Generated sets with the smallest numbers, and those that are too small."""
    for options in (
        {},
        {"mixing": 0.0},
        {"mixing": 1.0},
        {"average_degree": 5.0, "max_degree": 20},
        {"size_exponent": 2.0},
    ):
        yield f"lfr {options}", attempt(datasets.make_lfr, 200, random_state=0, **options)
    for n, options in (
        (2, {"max_degree": 1, "average_degree": 1, "min_size": 1, "max_size": 2, "mixing": 0}),
        (1, {}),
        (20, {}),
        (100, {"min_size": 60, "max_size": 70}),
        (30, {"min_size": 4, "max_size": 5, "max_degree": 10, "average_degree": 4, "mixing": 0.1}),
        (31, {"min_size": 10, "max_size": 10, "max_degree": 5, "average_degree": 3}),
        (30, {"min_size": 10, "max_size": 10, "max_degree": 5, "average_degree": 3}),
        (23, {"min_size": 5, "max_size": 6, "max_degree": 4, "average_degree": 2}),
    ):
        yield f"lfr {n} {options}", attempt(datasets.make_lfr, n, random_state=1, **options)
    for options in (
        {},
        {"missing": 0.9},
        {"missing": 0.91},
        {"n_clusters": 5},
        {"n_clusters": 3},
        {"n_features": 1},
        {"n_features": 0},
        {"separation": 0},
    ):
        yield (
            f"views {options}",
            attempt(
                datasets._view_sets.make_views,
                **{"n_objects": 12, "n_clusters": 4, "random_state": 0} | options,
            ),
        )
    for options in (
        {},
        {"n_numbers": 0},
        {"n_categories": 0},
        {"n_noise": 0},
        {"n_levels": 2},
        {"n_levels": 1},
        {"purity": 1},
        {"purity": 0},
        {"separation": 0},
        {"n_clusters": 1},
        {"n_clusters": 12},
        {"n_clusters": 13},
        {"n_clusters": 6, "n_levels": 3, "purity": 1},
    ):
        given = {"n_objects": 12, "n_clusters": 3, "random_state": 0} | options
        yield f"mixed {options}", attempt(datasets._mixed_sets.make_mixed, **given)
    for options in ({"n_numbers": -1}, {"n_categories": -1}, {"n_noise": -1}, {"n_numbers": 1.5}):
        yield f"mixed {options}", attempt(datasets._mixed_sets.make_mixed, 12, 3, **options)
    for seed in range(12):
        sources = datasets.minority_sources(random_state=seed)
        yield f"minority {seed}", [sources.n_background, sources.sizes]
        crowded = attempt(datasets.minority_sources, 2, n_sources=9, random_state=seed)
        yield f"crowded {seed}", crowded
    for scale in (1.0, 0.25, 1e-9):
        _, y = datasets.make_toy_minority(scale, random_state=0)
        yield f"toy {scale}", np.bincount(y)
    X, y = datasets.make_minority(random_state=5)
    yield "minority", [X, np.bincount(y)]
    for average, most in ((5, 5), (1, 5), (1, 1), (1.5, 5), (4.5, 5)):
        given = {"average_degree": average, "max_degree": most, "min_size": 10, "max_size": 30}
        yield f"degrees {average} {most}", attempt(datasets.make_lfr, 60, random_state=0, **given)
    limits = {"min_size": 5, "max_size": 8, "max_degree": 2, "average_degree": 1.5, "mixing": 0.5}
    for n in range(20, 44):
        found = datasets.make_lfr(n, random_state=n, **limits)
        yield f"sizes of {n}", np.bincount(found.groups)
    yield "frame", datasets._mixed_sets.make_mixed(5, 2, random_state=0, n_noise=1).to_pandas()
    for make, given in (
        (datasets.make_gaussians, {"n_clusters": 1}),
        (datasets.make_spirals, {"n_arms": 1}),
        (datasets.make_half_rings, {"share": 0}),
        (datasets.make_half_rings, {"share": 1}),
        (datasets.make_gaussians, {"n_clusters": 5, "n_features": 1}),
    ):
        yield f"{make.__name__} {given}", attempt(make, 5, random_state=0, **given)


test_stored = CASES.test()
