"""Tiny files in the format of the papers' collections, so that experiments run on them."""

import gzip
import json
from pathlib import Path

import numpy as np

__all__ = ["make_home"]

_TABLES = {
    "iris": 3,
    "wine": 3,
    "glass": 3,
    "yeast": 3,
    "breast_cancer_wisconsin": 2,
    "bupa_liver": 2,
    "breast_tissue": 3,
    "optdigits_train": 4,
    "spiral_candidate": 2,
    "hayes_roth": 2,
}
_YEAST = ("CYT", "NUC", "MIT")


def make_home(folder: Path) -> Path:
    """Fill a folder with small tables, news, pages and sentences."""
    rng = np.random.default_rng(0)
    for name, k in _TABLES.items():
        X = np.concatenate([rng.normal(6 * c, 1.0, (14, 4)) * (1, -1, 1, 1) for c in range(k)])
        kinds = [_YEAST[c] if name == "yeast" else f"k{c}" for c in np.repeat(np.arange(k), 14)]
        lines = [
            f"{','.join(f'{v:.3f}' for v in row)},{c}" for row, c in zip(X, kinds, strict=True)
        ]
        with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8") as file:
            file.write("\n".join(["a,b,c,d,label", *lines]) + "\n")
    _put(folder, "reuters21578", _news(rng))
    _put(folder, "conll04", _sentences(rng))
    _put(folder, "mini_newsgroups", _posts(rng))
    _put(folder, "webkb4", _posts(rng, pages=True))
    return folder


def _put(folder, name, lines):
    with gzip.open(folder / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)


def _words(rng, count):
    return ["".join(rng.choice(list("bdfgklmnprt"), 5)) for _ in range(count)]


def _news(rng):
    few = ["profit", "shr", "qtr", "dividend", "payout", "revenue"]
    many = _words(rng, 120)
    for number in range(80):
        earn = number % 10 < 3
        words = rng.choice(few, 8) if earn else rng.choice(many, 12)
        text = " ".join(["the company said that", *words, "and it was up"])
        topics = ["earn"] if earn else [["acq"], []][number % 2]
        yield {"id": number, "title": "News", "text": text, "topics": topics}


def _sentences(rng):
    names = [f"name{i}" for i in range(40)]
    for number in range(80):
        related = number % 4 == 0
        between = ["VBZ", "IN"] if related else list(rng.choice(["NN", "VBD", "CC", "DT"], 3))
        pos = [str(p) for p in ["DT", "NNP", *between, "NNP", "NN", "CC", "NNP"]]
        entity = ["O", "Peop", *["O"] * len(between), "Loc", "O", "O", "Loc"]
        tokens = [
            str(rng.choice(names)) if e != "O" else t for t, e in zip(pos, entity, strict=True)
        ]
        relations = [[1, 2 + len(between), "Live_In"]] if related else []
        yield {
            "id": number,
            "tokens": tokens,
            "pos": pos,
            "entity": entity,
            "relations": relations,
        }


def _posts(rng, pages=False):
    kinds = ("course", "faculty", "project", "student") if pages else tuple("abc")
    own = {kind: _words(rng, 12) for kind in kinds}
    shared = _words(rng, 20)
    for number in range(60):
        kind = kinds[number % len(kinds)]
        words = [*rng.choice(own[kind], 10), *rng.choice(shared, 6)]
        head = "<title>Page</title> " if pages else f"Subject: {kind}\nLines: 3\n\n"
        line = {"id": f"{kind}/{number}", "text": head + " ".join(words), "label": kind}
        yield line | ({"university": "cornell"} if pages else {})
