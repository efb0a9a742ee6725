"""Several views of the same objects: matched, joined, and how far they agree."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience import UNSEEN
from consilience.cli import main
from consilience.errors import ConsilienceError

pandas = pytest.importorskip("pandas")

HOW = {"n_members": 40, "effort": "quick", "random_state": 0}


@pytest.fixture(scope="module")
def sample():
    return cs.datasets.make_views(missing=0.3, random_state=0)


@pytest.fixture(scope="module")
def frames(sample):
    names = np.array([f"p{i}" for i in range(240)])
    there = ~np.isnan(sample.second[:, 0])
    first = pandas.DataFrame(sample.first, index=names).add_prefix("g")
    second = pandas.DataFrame(sample.second[there], index=names[there]).add_prefix("q")
    return {"rna": first, "protein": second.iloc[::-1]}


@pytest.fixture(scope="module")
def result(frames):
    return cs.cluster(frames, **HOW)


def test_views_together_know_more_than_either():
    sample = cs.datasets.make_views(random_state=1)
    tables = {"a": sample.first, "b": sample.second}
    joint = cs.cluster(tables, **HOW)
    alone = [cs.cluster(one, **HOW) for one in tables.values()]
    ari = [adjusted_rand_score(sample.groups, one.labels) for one in (joint, *alone)]
    assert ari[0] >= max(ari[1:]) + 0.2
    assert joint.data.ids is None


def test_no_object_is_dropped_and_who_is_missing_is_unseen(sample, result):
    assert len(result.labels) == 240
    assert result.data.ids.tolist() == [f"p{i}" for i in range(240)]
    gone = np.isnan(sample.second[:, 0])
    for labels, record in zip(result.ensemble, result.ensemble.records, strict=True):
        assert ((labels == UNSEEN) == (gone if 1 in record["views"] else False)).all()
    assert adjusted_rand_score(sample.groups[~gone], result.labels[~gone]) > 0.9


def test_how_far_views_agree(sample, result):
    found = result.view_agreement
    assert found.names == ("rna", "protein")
    assert found.n_objects == (240, 168)
    # The first view tells groups 0, 1 and 2 of the sample apart, the second the others.
    for group in range(6):
        cluster = np.bincount(result.labels[sample.groups == group]).argmax()
        assert (found.by_group[:, cluster].argmax()) == (group >= 3)
    assert found.between[0, 1] == found.between[1, 0] < 0.6
    assert any("View 'rna' by itself tells apart clusters" in note for note in result.notes)
    assert result.to_dict()["views"]["n_objects"] == [240, 168]


def test_new_objects_and_keeping(frames, result, tmp_path):
    result.save(tmp_path)
    again = cs.load(tmp_path)
    np.testing.assert_array_equal(again.data.X, result.data.X)
    some = {
        name: frame.loc[["p3", "p5", "p7"]] if name == "rna" else frame
        for name, frame in frames.items()
    }
    for one in (result, again):
        placed = one.predict(frames, lookup=False)
        assert (placed.labels == result.labels).mean() > 0.85
    alone = result.predict({"rna": frames["rna"].iloc[:5]})
    assert len(alone.labels) == 5
    assert len(result.predict(some).labels) >= 168
    with pytest.raises(ConsilienceError, match="a mapping of these names"):
        result.predict(frames["rna"])
    with pytest.raises(ConsilienceError, match="There was no view 'dna'"):
        result.predict({"dna": frames["rna"]})


@pytest.mark.parametrize(
    ("views", "message"),
    [
        ({"a": np.ones((4, 2))}, "at least two names"),
        ({"a": np.ones((4, 2)), "b": np.ones((5, 2))}, "cannot be matched"),
        ({"a": np.ones((4, 2)), "b": "b.csv"}, "view 'b' of cluster must be a table"),
        ({1: np.ones((4, 2)), "1": np.ones((4, 2))}, "must differ as texts"),
    ],
)
def test_views_that_cannot_be_are_refused(views, message):
    with pytest.raises(ConsilienceError, match=message):
        cs.cluster(views)


def test_identifiers_that_cannot_be_matched(frames):
    others = frames["protein"].rename(index=lambda name: "x" + name)
    with pytest.raises(ConsilienceError, match="nothing in common"):
        cs.cluster({"rna": frames["rna"], "protein": others})
    first, second = frames["protein"].index[:2]
    twice = frames["protein"].rename(index={first: second})
    with pytest.raises(ConsilienceError, match="several objects of the same identifier"):
        cs.cluster({"rna": frames["rna"], "protein": twice})


def test_views_from_files(frames, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, frame in frames.items():
        frame.to_csv(f"{name}.csv", index_label="id")
    words = ["cluster", "--view", "rna=rna.csv", "--view", "protein=protein.csv"]
    options = ["--members", "12", "--effort", "quick", "--no-report", "--quiet"]
    assert main([*words, *options]) == 0
    summary = json.loads(Path("consilience-rna/summary.json").read_text())
    assert summary["data"]["n_objects"] == 240
    assert summary["views"]["names"] == ["rna", "protein"]
    needs_data = ["--method", "wosp", "-k", "3", "--force"]
    assert main([*words, *options[:2], *needs_data, *options[4:]]) == 0
    assert main([*words, "rna.csv"]) == 2
    assert main(["cluster", "--view", "rna.csv"]) == 2


def test_new_objects_may_have_gaps_in_a_view():
    rng = np.random.default_rng(0)
    middles = 9.0 * np.eye(3)[np.arange(36) % 3]
    views = {"a": middles + rng.normal(size=(36, 3)), "b": middles + rng.normal(size=(36, 3))}
    found = cs.cluster(views, 3, method="eac", n_members=12, random_state=0)
    new = {name: table[:6] + 0.01 for name, table in views.items()}
    new["a"][0, 1] = new["b"][4, 2] = np.nan
    np.testing.assert_array_equal(found.predict(new).labels, found.labels[:6])
