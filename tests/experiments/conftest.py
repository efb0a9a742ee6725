"""Tiny collections in the format of the papers' files, so that experiments run without them."""

import gzip
import json

import numpy as np
import pytest


@pytest.fixture
def collection(tmp_path):
    """Writes lines as ``NAME.jsonl.gz`` and returns the folder."""

    def put(name, lines):
        with gzip.open(tmp_path / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        return tmp_path

    return put


@pytest.fixture
def news(collection):
    """Folder of 200 documents: 60 on *earn* that share few words, others of many."""
    rng = np.random.default_rng(0)
    few = ["profit", "shr", "qtr", "dividend", "payout", "revenue"]
    many = ["".join(rng.choice(list("bdfgklmnprt"), 5)) for _ in range(300)]
    lines = []
    for number in range(200):
        earn = number % 10 < 3
        words = rng.choice(few, 8) if earn else rng.choice(many, 12)
        text = " ".join(["the company said that", *words, "and it was up"])
        topics = ["earn"] if earn else [["acq"], []][number % 2]
        lines.append({"id": number, "title": "News", "text": text, "topics": topics})
    return collection("reuters21578", lines)


@pytest.fixture
def sentences(collection):
    """Folder of 150 sentences with a person and one or two places; related where "IN" stands."""
    rng = np.random.default_rng(0)
    names = [f"name{i}" for i in range(40)]
    lines = []
    for number in range(150):
        related = number % 4 == 0
        between = ["VBZ", "IN"] if related else list(rng.choice(["NN", "VBD", "CC", "DT"], 3))
        pos = ["DT", "NNP", *between, "NNP", "NN", "CC", "NNP"]
        entity = ["O", "Peop", *["O"] * len(between), "Loc", "O", "O", "Loc"]
        tokens = [
            str(rng.choice(names)) if e != "O" else t for t, e in zip(pos, entity, strict=True)
        ]
        second = 2 + len(between)
        relations = [[1, second, "Live_In"]] if related else []
        lines.append(
            {"id": number, "tokens": tokens, "pos": [str(p) for p in pos], "entity": entity,
             "relations": relations}
        )  # fmt: skip
    return collection("conll04", lines)
