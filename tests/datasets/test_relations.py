"""Pairs of entities: every pair of a sentence once, with the n-grams between and around it."""

import gzip
import json
import os
from dataclasses import replace

import numpy as np
import pytest

from consilience.datasets._relations import load_conll04
from consilience.errors import InvalidInputError, InvalidParameterError

HOME = os.environ.get("CONSILIENCE_DATA")
needs_data = pytest.mark.skipif(
    not HOME, reason="set CONSILIENCE_DATA to the folder of the papers' data sets"
)


def sentence(number, words, relations=()):
    """A sentence from 'word/tag/entity' words; an entity O may be left out."""
    parts = [(*word.split("/"), "O")[:3] for word in words.split()]
    tokens, pos, entity = (list(column) for column in zip(*parts, strict=True))
    relations = [list(relation) for relation in relations]
    return {"id": number, "tokens": tokens, "pos": pos, "entity": entity, "relations": relations}


SENTENCES = [
    sentence(
        7, "the/DT Ann/NNP/Peop left/VBD Rome/NNP/Loc for/IN Pisa/NNP/Loc", [(1, 3, "Was_In")]
    ),
    sentence(8, "nobody/NN left/VBD"),
    sentence(9, "Oslo/NNP/Loc ,/, Bob/NNP/Peop said/VBD", [(2, 0, "Live_In")]),
]


@pytest.fixture
def home(tmp_path):
    with gzip.open(tmp_path / "conll04.jsonl.gz", "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in SENTENCES)
    return tmp_path


def features_of(pairs, row):
    return set(pairs.features[pairs.X[[row]].indices].tolist())


def test_every_pair_of_the_two_types_once_in_either_order(home):
    pairs = load_conll04(("Loc", "Peop"), home, min_pairs=1)
    assert pairs.ids.tolist() == [[7, 1, 3], [7, 1, 5], [9, 0, 2]]
    assert pairs.y.tolist() == [1, 0, 1]
    assert pairs.relations.tolist() == ["Was_In", "", "Live_In"]
    assert pairs.entities == (("Ann", "Rome"), ("Ann", "Pisa"), ("Oslo", "Bob"))
    # An entity between two others shows its type, not its tag.
    assert pairs.sequences == (
        ("Peop", "VBD", "Loc"),
        ("Peop", "VBD", "Loc", "IN", "Loc"),
        ("Loc", ",", "Peop"),
    )
    assert repr(pairs) == f"EntityPairs(Loc-Peop: 3 pairs, 2 related, {pairs.X.shape[1]} features)"
    same = load_conll04(("Peop", "Loc"), home, min_pairs=1)
    np.testing.assert_array_equal(pairs.ids, same.ids)


def test_features_are_the_grams_between_and_around(home):
    pairs = load_conll04(("Loc", "Peop"), home, min_pairs=1)
    between = {"Peop", "VBD", "Loc", "Peop VBD", "VBD Loc"}
    wanted = {f"between:{gram}" for gram in between}
    wanted |= {"left:DT", "right:IN", "right:Loc", "right:IN Loc"}
    assert features_of(pairs, 0) == wanted
    assert set(pairs.X.data.tolist()) == {1.0}
    longer = load_conll04(("Loc", "Peop"), home, min_pairs=1, longest=3)
    assert features_of(longer, 0) - wanted == {"between:Peop VBD Loc"}


def test_only_three_words_around_a_pair_count(tmp_path):
    line = sentence(1, "a/A b/B c/C d/D X/N/Loc Y/N/Loc e/E f/F g/G h/H")
    with gzip.open(tmp_path / "conll04.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(line))
    pairs = load_conll04(("Loc", "Loc"), tmp_path, min_pairs=1, longest=1)
    around = {"left:B", "left:C", "left:D", "right:E", "right:F", "right:G"}
    assert features_of(pairs, 0) == around | {"between:Loc"}


def test_two_entities_of_one_type_are_a_pair_once(home):
    pairs = load_conll04(("Loc", "Loc"), home, min_pairs=1)
    assert pairs.ids.tolist() == [[7, 3, 5]]
    assert pairs.y.tolist() == [0]


def test_rare_features_are_left_out(home):
    pairs = load_conll04(("Loc", "Peop"), home, min_pairs=3)
    assert pairs.features.tolist() == ["between:Loc", "between:Peop"]


def test_sentences_are_held_out_whole(home, seed):
    pairs = load_conll04(("Loc", "Peop"), home, min_pairs=1)
    learn, judge = pairs.hold_out(0.5, min_pairs=1, random_state=seed)
    assert not set(learn.ids[:, 0]) & set(judge.ids[:, 0])
    assert sorted([*learn.ids.tolist(), *judge.ids.tolist()]) == sorted(pairs.ids.tolist())
    # Both have the features of the pairs to learn from, and nothing else is lost.
    np.testing.assert_array_equal(learn.features, judge.features)
    rows = [pairs.ids.tolist().index(row) for row in learn.ids.tolist()]
    assert set(learn.features.tolist()) == set.union(*(features_of(pairs, i) for i in rows))
    for part in (learn, judge):
        assert part.X.shape == (len(part.ids), len(part.features))
        for row, identity in enumerate(part.ids.tolist()):
            i = pairs.ids.tolist().index(identity)
            assert features_of(part, row) == features_of(pairs, i) & set(learn.features.tolist())
            assert part.sequences[row] == pairs.sequences[i]
            assert part.entities[row] == pairs.entities[i]
            assert (part.y[row], part.relations[row]) == (pairs.y[i], pairs.relations[i])


@pytest.mark.parametrize(("share", "n_held"), [(0.3, 1), (0.7, 2)])
def test_the_share_is_that_of_the_sentences(home, share, n_held):
    pairs = load_conll04(("Loc", "Peop"), home, min_pairs=1)
    pairs = replace(pairs, ids=pairs.ids.copy())
    pairs.ids[:, 0] = np.arange(len(pairs.ids)) % 3
    _, judge = pairs.hold_out(share, min_pairs=1, random_state=0)
    assert len(set(judge.ids[:, 0])) == n_held


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_neither_part_is_empty(home, share):
    learn, judge = load_conll04(("Loc", "Peop"), home).hold_out(share, random_state=0)
    assert len(learn.ids) > 0
    assert len(judge.ids) > 0


def test_what_cannot_be_had_is_said(home, monkeypatch):
    with pytest.raises(InvalidInputError, match=r"'Loc' and 'Org'. The types .* 'Loc' and 'Peop'"):
        load_conll04(("Loc", "Org"), home)
    with pytest.raises(InvalidInputError, match="one sentence"):
        load_conll04(("Loc", "Loc"), home).hold_out()
    for types in ("Loc", ("Loc",), ("Loc", 1), None):
        with pytest.raises(InvalidParameterError, match="'types' parameter of load_conll04"):
            load_conll04(types, home)
    with pytest.raises(InvalidParameterError, match="'longest' parameter of load_conll04"):
        load_conll04(data_home=home, longest=0)
    with pytest.raises(InvalidParameterError, match=r"'share' parameter of EntityPairs.hold_out"):
        load_conll04(data_home=home).hold_out(2.0)
    monkeypatch.delenv("CONSILIENCE_DATA", raising=False)
    with pytest.raises(InvalidInputError, match=r"holds conll04\.jsonl\.gz"):
        load_conll04()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"pos": ["NN"]}, r"line 1 must have as many 'pos' and 'entity' as 'tokens', 2"),
        ({"relations": [[0, 5, "x"]]}, r"line 1 has the relation \[0, 5, 'x'\]"),
        ({"relations": [[0, 1]]}, r"line 1 has the relation \[0, 1\]"),
    ],
)
def test_bad_sentences_are_named(tmp_path, change, message):
    line = {**sentence(1, "a/A/Loc b/B/Loc"), **change}
    with gzip.open(tmp_path / "conll04.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(line))
    with pytest.raises(InvalidInputError, match=message):
        load_conll04(("Loc", "Loc"), tmp_path)


@needs_data
@pytest.mark.parametrize(
    ("types", "n_pairs", "share"),
    [
        (("Loc", "Loc"), 3986, 10.2),
        (("Peop", "Peop"), 2016, 13.3),
        (("Loc", "Peop"), 2450, 21.3),
        (("Loc", "Org"), 1908, 23.7),
        (("Org", "Peop"), 1479, 27.1),
    ],
)
def test_pairs_of_the_corpus(types, n_pairs, share):
    pairs = load_conll04(types)
    assert len(pairs.y) == n_pairs
    assert 100 * pairs.y.mean() == pytest.approx(share, abs=0.06)
    # The paper has 574 to 950 features with ten pairs or more, on corpora ten times as large.
    assert 400 < pairs.X.shape[1] < 950
    assert np.diff(pairs.X.indptr).min() > 0
