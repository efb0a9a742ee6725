"""Stored answers of the data sets: made ones, readers and writers of files, texts."""

import gzip
import os
import re
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pandas as pd
from stored.home import make_home
from stored.small import blobs, ensembles, truth
from stored.store import Cases, attempt

from consilience import datasets
from consilience.datasets import _blocks, _cells, _dates, _meaning, _scale, _stems, _text
from consilience.datasets._columns import Words
from consilience.datasets._label_files import has_column

CASES = Cases(__file__)


@CASES
def made():
    for n in (12, 13, 30):
        yield f"gaussians {n}", attempt(datasets.make_gaussians, n, 3, 2, random_state=0)
        yield f"spirals {n}", attempt(datasets.make_spirals, n, random_state=0)
        yield f"rings {n}", attempt(datasets.make_half_rings, n, random_state=0)
    yield (
        "gaussians",
        attempt(datasets.make_gaussians, 20, 4, 3, separation=2, spread=0.5, random_state=1),
    )
    yield (
        "spirals",
        attempt(datasets.make_spirals, 20, n_arms=3, turns=0.5, noise=0.1, random_state=1),
    )
    yield "rings", attempt(datasets.make_half_rings, 20, share=0.2, noise=0.0, random_state=1)
    for name in ("toy1", "toy2", "toy3", "zzz"):
        yield name, attempt(datasets.make_woec_toy, name, random_state=0)
    for options in (
        {},
        {"background": 0.3},
        {"foreground": 0.2},
        {"spread": 2.0},
        {"n_sources": 3},
        {"n_sources": 0},
        {"background": -1},
        {"spread": 0},
    ):
        given = {"background": 0.05, "foreground": 0.1} | options
        yield f"minority {options}", attempt(datasets.make_minority, 3, random_state=2, **given)
        found = attempt(datasets.minority_sources, 2, random_state=2, **given)
        yield f"sources {options}", found
    yield "toy", attempt(datasets.make_toy_minority, 0.05, random_state=0)
    sources = datasets.minority_sources(2, background=0.05, foreground=0.1, random_state=4)
    yield "sample", [sources.sample(0), sources.redrawn(1), sources.redrawn(1).sample(2)]
    for function in (datasets.make_gaussians, datasets.make_spirals, datasets.make_half_rings):
        for n in (0, 1, 2, -1, "x"):
            yield f"{function.__name__} {n}", attempt(function, n, random_state=0)


def _files():
    rows = [f"o{i},{a:.3f},{b:.3f},{c}" for i, (a, b, c) in enumerate(blobs()[:9])]
    plain = "name,x,y,z\n" + "\n".join(rows) + "\n"
    words = (
        "id,size,colour,when,n\n1,2.5,red,2020-01-02,5\n2,,blue,2021-03-04,6\n"
        "3,1.5,red,,7\n4,NA,green,2020-05-06,8\n"
    )
    return {
        "plain.csv": plain,
        "bare.csv": "1,2\n3,4\n5,7\n",
        "semicolon.csv": plain.replace(",", ";"),
        "tab.tsv": plain.replace(",", "\t"),
        "comma.csv": "a;b\n1,5;2,25\n3,5;4,75\n1.000,5;3\n",
        "words.csv": words,
        "quotes.csv": 'name,a\n"x, ""y""",1\n"two\nlines",2\n=z,3\n',
        "bom.csv": "\ufeffa,b\n1,2\n3,4\n",
        "gaps.csv": "a,b\n1,\n,2\n3,4\n",
        "blank.csv": "a,b\n\n1,2\n\n3,4\n",
        "ragged.csv": "a,b\n1,2\n3\n",
        "long.csv": "a,b\n1,2,3\n",
        "twice.csv": "a,a\n1,2\n",
        "unnamed.csv": ",a\n1,2\n2,3\n",
        "empty.csv": "",
        "head.csv": "a,b\n",
        "inf.csv": "a,b\n1,inf\n2,3\n",
        "text.csv": "a,b\nx,y\nz,w\n",
        "constant.csv": "a,b\n1,7\n2,7\n3,7\n",
        "kinds.csv": "x,y,label\n1,2,a\n2,3,b\n3,4,a\n",
        "counter.csv": "row,x\n0,5.5\n1,6.5\n2,4.5\n",
        "dates.csv": "d,x\n2020-01-01,1\n2020-01-02,2\n2020-02-01,3\n",
        "days.csv": "d,x\n01/02/2020,1\n13/02/2020,2\n05/03/2020,3\n",
        "units.csv": "a,b\n1 kg,5%\n2 kg,6%\n",
        "big.csv": "a,b\n1e308,1\n-1e308,2\n",
        "comments.csv": "# made by hand\n# twice\na,b\n1,2\n# in between\n3,4\n",
        "told.csv": "sep=;\na;b\n1;2\n3;4\n",
        "hash.csv": "# a,b\n1,2\n3,4\n",
        "again.csv": "red,1\nblue,2\nred,3\n",
        "half.csv": "a,2\n1,2\n3,4\n",
        "numbers.csv": "2,1,3\n1,2,5\n3,4,6\n",
        "yes.csv": "a,b\nyes,1\nno,2\nyes,3\n",
        "truth.csv": "a,b\nTrue,1\nFalse,2\n",
        "hours.csv": "t,x\n2020-01-01 05:06,1\n2020-01-01 7:08:09 PM,2\n2020-01-02 23:59,3\n",
        "short.csv": "d,x\n1/2/20,1\n25/12/99,2\n",
        "days8.csv": "when,x\n20200102,1\n20210304,2\n20200506,3\n",
        "ambiguous.csv": "d,x\n01/02/2020,1\n03/04/2020,2\n",
        "year.csv": "year,x\n2001,5.5\n2002,6.1\n2003,1.2\n",
        "codes.csv": "x,code\n1.5,1000\n2.5,1001\n0.5,1002\n4.5,1003\n",
        "void.csv": "a,b\n,1\n,2\n,3\n",
        "voids.csv": "a,b\n,\n,\n",
        "latin.csv": "a,b\n1,\u00e9\n2,x\n",
        "thousands.csv": "a,b\n1.000,2\n2.000,3\n3.500,4\n",
        "guard.csv": "id,cluster\n'=a,0\n'+b,1\nc,2\n",
        "wide.csv": ",".join(f"c{i}" for i in range(30)) + "\n" + ",".join("1" * 30) + "\n",
    }


@CASES
def tables_read():
    with TemporaryDirectory() as place:
        for name, text in _files().items():
            path = Path(place, name)
            path.write_text(text, encoding="utf-8")
            for options in (
                {},
                {"impute": "median"},
                {"impute": "mean"},
                {"impute": "drop-rows"},
                {"encode": "onehot"},
                {"encode": "dates"},
                {"decimal": ","},
                {"decimal": "."},
                {"encode": "onehot", "impute": "median"},
            ):
                yield f"{name} {options}", _read(place, path, **options)
        plain, words = Path(place, "plain.csv"), Path(place, "words.csv")
        for options in (
            {"id_column": "name"},
            {"id_column": "zzz"},
            {"truth_column": "name"},
            {"ignore": ["x"]},
            {"ignore": ["zzz"]},
            {"ignore": ["x", "y", "z", "name"]},
            {"impute": "zzz"},
            {"id_column": "x", "truth_column": "x"},
            {"encode": "zzz"},
            {"decimal": "x"},
        ):
            yield f"plain {options}", _read(place, plain, **options)
        both = {"id_column": "id", "truth_column": "colour", "ignore": ["when"]}
        for impute in (None, "median", "drop-rows"):
            yield f"words {impute}", _read(place, words, impute=impute, **both)
        with gzip.open(Path(place, "plain.csv.gz"), "wt") as file:
            file.write(_files()["plain.csv"])
        yield "gz", _read(place, Path(place, "plain.csv.gz"))
        for name in ("none.csv", "x.xyz", ".", "none.parquet"):
            yield f"path {name}", _read(place, Path(place, name))


def _read(place, path, **options):
    found = attempt(datasets.read_table, path, **options)
    return {"said": str(found).replace(place, "").replace("\\\\", "/")}


_FIRST = (
    "id,size,colour,when,flag,n\n1,2.5,red,2020-01-02,yes,5\n2,,blue,2021-03-04,no,6\n"
    "3,1.5,red,,yes,7\n4,NA,green,2020-05-06,no,8\n5,3.5,red,2020-05-07,yes,\n"
)
_AGAIN = {
    "same.csv": _FIRST,
    "turned.csv": (
        "n,more,flag,when,colour,size,id\n9,u,no,2019-12-31,red,1,a\n,u,yes,,pink,,b\n"
        "inf,u,,2022-01-01,,4.25,c\n"
    ),
    "others.csv": "id,size,colour,when,flag,n,x,y\n7,1,red,2020-01-02,no,1,0,0\n",
    "few.csv": "id,size,n\n1,2,3\n",
    "one.csv": "id,size,colour,when,flag\n1,2,red,2020-01-01,no\n",
    "words.csv": "id,size,colour,when,flag,n\n1,big,red,2020-01-02,no,1\n2,low,red,x,no,2\n",
    "numbers.csv": "id,size,colour,when,flag,n\n1,2,3,4,5,6\n2,3,4,5,6,7\n",
    "bare.csv": "size,colour,when,flag,n\n2,red,2020-01-02,no,1\n",
    "comma.csv": "id;size;colour;when;flag;n\n1;2,5;red;2020-01-02;no;1\n",
}


@CASES
def read_again():
    """Another file as the first one was read."""
    with TemporaryDirectory() as place:
        first = Path(place, "first.csv")
        first.write_text(_FIRST)
        for options in (
            {"encode": "onehot", "impute": "median"},
            {"encode": "onehot", "impute": "drop-rows", "id_column": "id"},
            {"encode": "dates", "impute": "mean", "ignore": ["colour", "flag"]},
            {"encode": "onehot", "impute": "mean", "truth_column": "colour", "id_column": "none"},
            {"impute": "median", "ignore": ["colour", "when", "flag"], "decimal": "."},
        ):
            recipe = datasets.read_table(first, **options).recipe
            yield f"{options} recipe", str(recipe)
            for name, text in _AGAIN.items():
                path = Path(place, name)
                path.write_text(text)
                for lack in ((), ("n",), ("size", "colour", "when", "flag")):
                    found = str(attempt(datasets.read_like, path, recipe, may_lack=lack))
                    yield f"{options} {name} {lack}", {"said": found.replace(place, "")}
        numbers = Path(place, "numbers.npz")
        np.savez(numbers, X=blobs()[:5], ids=np.array(list("abcde")))
        recipe = datasets.read_table(numbers).recipe
        yield "numbers", [str(recipe), attempt(datasets.read_like, numbers, recipe)]


@CASES
def counters():
    """Columns that count the rows, are named like identifiers, or stand for missing values."""
    with TemporaryDirectory() as place:
        x = np.round(blobs()[:24, 0], 2)
        columns = {
            "zero": np.arange(24),
            "one": np.arange(1, 25),
            "two": np.arange(2, 26),
            "id": np.r_[100:120, 100:104],
            "ids": np.r_[100:112, 100:112],
            "key": np.r_[100:113, 100:111],
            "date": 20240101 + np.arange(24),
            "code": np.where(np.arange(24) < 3, -999, np.arange(24) % 7 + 20),
            "wait": np.where(np.arange(24) < 9, 0, 50 + np.arange(24) % 9),
            "x": x,
        }
        for name in columns:
            for order in ((name, "x"), ("x", name), (name, "one", "x")):
                if len(set(order)) < len(order):
                    continue
                for rows in (24, 10, 9):
                    cells = zip(*(columns[one][:rows] for one in order), strict=True)
                    text = "\n".join([",".join(order), *(",".join(map(str, c)) for c in cells)])
                    path = Path(place, "t.csv")
                    path.write_text(text + "\n")
                    yield f"{order} {rows}", _read(place, path)
        yield "kept", _read(place, path, id_column="none")


@CASES
def arrays_read():
    with TemporaryDirectory() as place:
        put = Path(place)
        frame = pd.DataFrame(
            {
                "id": list("abcd"),
                "x": [1.5, 2, None, 4],
                "k": [1, 2, 3, 4],
                "w": ["u", "v", "u", None],
            }
        )
        frame.to_parquet(put / "frame.parquet")
        frame.to_parquet(put / "groups.parquet", row_group_size=1)
        frame[["x", "k"]].fillna(0).to_parquet(put / "numbers.parquet")
        np.save(put / "a.npy", blobs()[:5])
        np.save(put / "ints.npy", np.arange(6).reshape(3, 2))
        np.save(put / "flat.npy", np.arange(3.0))
        np.save(put / "text.npy", np.array([["a"]]))
        np.save(put / "nan.npy", np.array([[1.0, np.nan], [2.0, 3.0]]))
        np.savez(put / "x.npz", X=blobs()[:5])
        np.savez(put / "more.npz", X=blobs()[:5], y=truth()[:5], ids=np.array(list("abcde")))
        np.savez(put / "named.npz", data=blobs()[:5], columns=np.array(["p", "q", "r"]))
        np.savez(put / "two.npz", a=blobs()[:5], b=blobs()[:5])
        np.savez(put / "labels.npz", labels=ensembles()["both"].labels)
        (put / "bad.npz").write_bytes(b"PK no")
        (put / "bad.npy").write_bytes(b"\x93NUMPY no")
        (put / "bad.parquet").write_bytes(b"PAR1")
        for path in sorted(put.iterdir()):
            yield path.name, _read(place, path)
            yield f"{path.name} impute", _read(place, path, impute="median", encode="onehot")
            yield (
                f"{path.name} labels",
                {"said": str(attempt(datasets.read_labels, path)).replace(place, "")},
            )
        yield (
            "columns",
            _read(place, put / "frame.parquet", id_column="id", truth_column="w", impute="mean"),
        )


@CASES
def label_files():
    with TemporaryDirectory() as place:
        put = Path(place)
        texts = {
            "a.csv": "id,m1,m2\na,0,x\nb,0,y\nc,1,\n",
            "bare.csv": "0,1\n0,0\n1,1\n",
            "noise.csv": "m\n-1\n0\n-2\n",
            "twice.csv": "id,m\na,0\na,1\n",
            "empty.csv": "",
            "one.csv": "m1\n3\n3\n5\n",
            "guard.csv": "id,cluster\n'=a,0\nb,1\n",
            "floats.csv": "m\n1.0\n2.0\n2.5\n",
        }
        for name, text in texts.items():
            (put / name).write_text(text)
            for column in (None, "id", "m", "zzz"):
                found = attempt(datasets.read_labels, put / name, id_column=column)
                yield f"{name} {column}", str(found).replace(place, "")
        for end in (".csv", ".parquet", ".npz", ".txt"):
            for ids in (None, ["=a", "b", "c"], [1, 2, 3], ["a"]):
                for sure in (None, [0.5, 0.25, 1.0], [1.0]):
                    path = put / f"out{end}"
                    found = attempt(datasets.write_labels, path, ids, np.array([0, 1, -1]), sure)
                    said = str(found).replace(place, "")
                    text = path.read_text() if end == ".csv" and path.exists() else None
                    again = str(attempt(datasets.read_labels, path)).replace(place, "")
                    yield f"{end} {ids} {sure}", [said, text, again]
                    path.unlink(missing_ok=True)


@CASES
def collections():
    with TemporaryDirectory() as place:
        home = make_home(Path(place))
        for name in ("iris", "wine.csv.gz", "zzz", "", "a/b"):
            yield (
                f"load {name}",
                {"said": str(attempt(datasets.load, name, home)).replace(place, "")},
            )
        yield "news", attempt(datasets.load_reuters, home, random_state=0)
        yield (
            "some news",
            attempt(
                datasets.load_reuters,
                home,
                background=0.2,
                min_documents=3,
                stop_words=("said",),
                random_state=1,
            ),
        )
        for of in ("counts", "weights"):
            few = {"n_terms": 20, "min_documents": 5, "variance_of": of}
            yield f"posts {of}", attempt(datasets.load_mini_newsgroups, home, **few)
            yield f"pages {of}", attempt(datasets.load_webkb4, home, **few)
        yield (
            "heads",
            attempt(datasets.load_mini_newsgroups, home, n_terms=9, min_documents=2, headers=True),
        )
        pairs = datasets.load_conll04(data_home=home)
        yield "pairs", pairs
        yield "long", attempt(datasets.load_conll04, data_home=home, longest=1, min_pairs=3)
        yield "types", attempt(datasets.load_conll04, ("Peop", "Loc"), home)
        yield "unknown", attempt(datasets.load_conll04, ("Peop", "zzz"), home)
        yield (
            "held out",
            [attempt(pairs.hold_out, share, random_state=0) for share in (0.3, 0.0, 2)],
        )
        yield "truth", attempt(lambda: datasets.load_reuters(home, random_state=0).truth)
        before = os.environ.pop("CONSILIENCE_DATA", None)
        try:
            yield "no home", [attempt(datasets.load, "iris"), attempt(datasets.load_reuters)]
        finally:
            if before is not None:
                os.environ["CONSILIENCE_DATA"] = before


# Short and long, open and closed, with double and with silent letters.
_STARTS = "a b ab ba abe bab bob trab oat sky hop fall fizz hiss tann oboe rel abab gabab"
_ENDS = (
    "eed ed ing s es ss sses ies y ational tional enci anci izer bli abli alli entli eli ousli "
    "ization ation ator alism iveness fulness ousness aliti iviti biliti logi icate "
    "ative alize iciti ical ful ness al ance ence er ic able "  # codespell:ignore
    "ible ant ement ment ent sion tion ion ou ism ate "  # codespell:ignore
    "iti ous ive ize e ll lle"
)


@CASES
def texts():
    text = (
        "The Companies' profits rose 12.5%; it's <b>relational</b> e-mail x-y, "
        "isn't it? Running RUNS ran."
    )
    yield (
        "tokens",
        [_text.tokens(text), _text.stems(text), _text.stems(text, stop_words=frozenset())],
    )
    for word in [
        "caresses",
        "ponies",
        "ties",
        "cats",
        "feed",
        "agreed",
        "plastered",
        "bled",
        "motoring",
        "sing",
        "conflated",
        "troubled",
        "sized",
        "hopping",
        "tanned",
        "falling",
        "hissing",
        "fizzed",
        "failing",
        "filing",
        "happy",
        "sky",
        "relational",
        "conditional",
        "rational",
        "valenci",
        "hesitanci",
        "digitizer",
        "conformabli",
        "radicalli",
        "differentli",
        "vileli",
        "analogousli",
        "operator",
        "feudalism",
        "decisiveness",
        "hopefulness",
        "formaliti",
        "sensitiviti",
        "triplicate",
        "formative",
        "formalize",
        "electriciti",
        "electrical",
        "hopeful",
        "goodness",
        "revival",
        "allowance",
        "inference",
        "airliner",
        "gyroscopic",
        "adjustable",
        "defensible",
        "irritant",
        "replacement",
        "adjustment",
        "dependent",
        "adoption",
        "communism",
        "activate",
        "angulariti",
        "homologous",
        "effective",
        "bowdlerize",
        "probate",
        "rate",
        "cease",
        "controll",  # codespell:ignore
        "roll",
        "a",
        "is",
        "by",
    ]:
        yield word, [_stems.stem(word), attempt(_stems.stem, word, rules="published")]
    for rules in ("author", "1980"):
        for start in re.findall(r"\w+", _STARTS):
            ended = [start + end for end in re.findall(r"\w+", _ENDS)]
            yield f"{rules} {start}", [_stems.stem(word, rules=rules) for word in ended]
    counts, terms = _text.count_terms(["a cat sat", "the cat cat ran", "dogs ran home home", ""])
    yield "counts", [counts, terms]
    for norm in ("l2", "l1", None):
        yield f"tf-idf {norm}", attempt(_text.tf_idf, counts, norm=norm)
    yield "frequency", _text.document_frequency(counts)
    for n in (1, 2, 3):
        yield (
            f"terms {n}",
            [
                _text.frequent_terms(counts, n),
                _text.variable_terms(counts, n),
                datasets.informative_terms(counts, n),
            ],
        )


@CASES
def cells():
    for cell in (
        "1",
        "-1.5",
        "1e5",
        "1,5",
        "1.000,5",
        "1,000.5",
        "1 000",
        "",
        "NA",
        "nan",
        "inf",
        "x",
        "5%",
        "1_000",
        "+3",
        ".5",
        "5.",
        "0x1",
        "--1",
        "1,2,3",
        "1.2.3",
        "'1",
        "1e400",
        "−3",
        "½",
        " 7 ",
    ):
        yield f"number {cell!r}", [_cells.number(cell, d) for d in (None, ".", ",")]
        yield f"foreign {cell!r}", attempt(_cells.foreign_number, cell)
    for words in (
        ["2020-01-02", "2021-12-31"],
        ["01/02/2020", "13/02/2020"],
        ["1.2.2020", "3.4.2021"],
        ["01/02/2020"],
        ["2020-01-02", ""],
        ["x"],
        ["2020"],
        ["2020-13-01"],
        ["02-01-20"],
        ["2020-01-02 03:04:05", "2020-01-03T06:00"],
        ["Jan 2, 2020"],
        ["2020/01/02"],
        [],
    ):
        yield f"days {words}", attempt(_dates.read_days, words)
    yield "as text", [_dates.as_text(d) for d in (0.0, 1.5, 18262.0, -1.0, 18262.25)]
    for values in (
        ["1", "2", "x"],
        ["a", "b", "a"],
        ["1", "2"],
        ["", "1"],
        ["2020-01-01", "2020-01-02"],
        list("abcdefghij"),
        ["1,5", "2,5"],
    ):
        for decimal in (None, ",", "."):
            column = Words()
            column.add(values)
            found = _meaning.meaning_of(column, decimal)
            yield (
                f"meaning {values[:3]} {decimal}",
                [
                    found.kind.name,
                    found.words,
                    found.missing,
                    found.values,
                    found.odd,
                    found.may_be_categories,
                    found.silent,
                    attempt(found.said),
                ],
            )
        yield (
            f"column {values[:3]}",
            [column.words, column.codes, list(column.cells()), column.first_row(0)],
        )
    X = blobs()[:6]
    for key, given in {
        "plain": X,
        "constant": np.c_[X, np.ones(6)],
        "all": np.ones((3, 2)),
        "huge": X * 1e200,
        "one": X[:1],
    }.items():
        names = [f"c{i}" for i in range(given.shape[1])]
        yield f"scale {key}", attempt(_scale.standardise, given, names)
        yield (
            f"scale {key} sources",
            attempt(_scale.standardise, given, names, sources=["s"] * len(names), what="It"),
        )


@CASES
def large_files():
    """Files that are read in blocks: by numpy and by arrow, with what turns out to be words."""
    rng = np.random.default_rng(0)
    lines = [
        f"o{i},{a:.3f},{b:.2f},{'xyz'[i % 3]}" for i, (a, b) in enumerate(rng.normal(size=(400, 2)))
    ]
    turned = [*lines[:300], "o300,word,1.5,x", *lines[301:]]
    gaps = [*lines[:200], "o200,,1.5,", *lines[201:]]
    quoted = [*lines[:100], '"o,100",1.5,2.5,"x"', *lines[101:]]
    with TemporaryDirectory() as place:
        for key, rows in {"plain": lines, "turned": turned, "gaps": gaps, "quoted": quoted}.items():
            path = Path(place, f"{key}.csv")
            path.write_text("id,a,b,c\n" + "\n".join(rows) + "\n")
            for size in (200, 5000, 2**20):
                for reader in (_blocks.by_numpy, None):
                    with ExitStack() as stack:
                        for name in ("_BYTES",):
                            if hasattr(_blocks, name):
                                stack.enter_context(patch.object(_blocks, name, size))
                        if reader is not None:
                            stack.enter_context(
                                patch.object(_blocks, "quick_reader", lambda n: _blocks.by_numpy)
                            )
                        else:
                            stack.enter_context(patch.object(_blocks, "quick_reader", _arrow))
                        yield (
                            f"{key} {size} {reader is None}",
                            _read(place, path, impute="median", encode="onehot"),
                        )
                        yield (
                            f"{key} {size} {reader is None} ids",
                            _read(place, path, id_column="id", truth_column="c"),
                        )
        cut = Path(place, "cut.csv")
        cut.write_bytes("a,b\n1,2\n3,é\n".encode("latin-1"))
        yield "latin", _read(place, cut)
        cut.write_bytes("a,b\n1,2\n".encode("utf-16"))
        yield "utf-16", _read(place, cut)
        frame = pd.DataFrame(
            {
                "d": pd.to_datetime(["2020-01-02", "2020-01-05", None]),
                "x": [1, 2, 3],
                "b": [True, False, True],
            }
        )
        frame.to_parquet(Path(place, "dates.parquet"))
        frame.assign(d=frame.d.dt.date).to_parquet(Path(place, "days.parquet"))
        for name in ("dates", "days"):
            for options in (
                {},
                {"encode": "dates"},
                {"encode": "dates", "impute": "mean"},
                {"encode": "onehot", "impute": "mean"},
            ):
                yield f"{name} {options}", _read(place, Path(place, f"{name}.parquet"), **options)
        yield (
            "has",
            [
                has_column(plain, name)
                for plain in (Path(place, "plain.csv"), Path(place, "dates.parquet"))
                for name in ("id", "d", "zzz")
            ],
        )
        table = datasets.read_table(Path(place, "plain.csv"), id_column="id", truth_column="c")
        home = make_home(Path(place))
        texts = (
            table,
            datasets.load_reuters(home, random_state=0),
            datasets.load_conll04(data_home=home),
        )
        yield "shown", [repr(one).replace(place, "") for one in texts]
        again = Path(place, "e.npz")
        ensembles()["both"].save(again)
        yield "ensemble", attempt(datasets.read_labels, again)
        ensembles()["both"].save(again.with_suffix(".parquet"))
        yield "ensemble parquet", attempt(datasets.read_labels, again.with_suffix(".parquet"))
        np.savez(Path(place, "ids.npz"), labels=truth(), ids=np.arange(48))
        yield "ids", attempt(datasets.read_labels, Path(place, "ids.npz"), id_column="ids")
        pd.DataFrame({"who": list("abc"), "m": [0, 0, 1]}).to_parquet(Path(place, "l.parquet"))
        yield (
            "frame",
            [
                attempt(datasets.read_labels, Path(place, "l.parquet"), id_column=c)
                for c in (None, "who", "zzz")
            ],
        )
    for clock in (
        "2020-01-01 5:06 AM",
        "2020-01-01 12:00 PM",
        "2020-01-01 13:00 PM",
        "2020-01-01 24:00",
        "2020-01-01 25:00",
        "2020-01-01 10:61",
    ):
        yield clock, attempt(_dates.read_days, [clock, "2020-01-02 01:00"])
    yield "far days", [attempt(_dates.as_text, d) for d in (1e9, -1e9, 0.5)]


def _arrow(size):
    import pyarrow
    import pyarrow.csv

    return partial(_blocks.by_arrow, pyarrow, pyarrow.csv)


test_stored = CASES.test()
