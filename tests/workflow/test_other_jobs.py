"""`cs.minority_groups` and `cs.ambiguous_objects` are their commands, as calls."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import consilience as cs
from consilience.cli import main
from consilience.datasets import read_table
from consilience.errors import ConsilienceError, InvalidInputError
from consilience.generate import KMeansEnsemble
from consilience.workflow import AmbiguityResult

pytest.importorskip("cyclopts")


@pytest.fixture
def stars(folder):
    X, kinds = cs.datasets.make_toy_minority(0.1, random_state=0)
    lines = [f"{a:.4f},{b:.4f},{'abcdef'[kind]}" for (a, b), kind in zip(X, kinds, strict=True)]
    Path("stars.csv").write_text("\n".join(["x,y,kind", *lines]) + "\n")
    return read_table("stars.csv", truth_column="kind")


def rows(name):
    with Path("out", name).open(newline="") as file:
        return list(csv.DictReader(file))


def same_facts(result):
    summary = json.loads(Path("out/summary.json").read_text())
    facts = json.loads(json.dumps(result.to_dict()))
    assert facts == {name: summary[name] for name in facts}
    assert summary["warnings"] == list(result.notes)


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        (["--background", "a"], {"background": "a"}),
        (["--weak", "hard", "--threshold", "dist", "-k", "2"],
         {"weak": "hard", "threshold": "dist", "n_clusters": 2}),
        (["--threshold", "size", "--n-foreground", "0.2", "--seed", "4"],
         {"threshold": "size", "n_foreground": 0.2, "random_state": 4}),
    ],
)  # fmt: skip
def test_minority_groups_equal_the_command(stars, words, asked):
    given = ["--truth-column", "kind", "--repetitions", "40", "--no-report", "--out", "out"]
    assert main(["minority", "stars.csv", *given, *words]) == 0
    result = cs.minority_groups(stars, **({"n_repetitions": 40, "random_state": 0} | asked))
    found = rows("scores.csv")
    assert [int(row["group"]) for row in found] == result.labels.tolist()
    assert [int(row["undecided"]) for row in found] == result.undecided.astype(int).tolist()
    assert [float(row["score"]) for row in found] == result.scores.round(9).tolist()
    same_facts(result)


@pytest.mark.parametrize(
    ("shape", "dense", "flag"), [((150, 2), 0, "no_groups"), ((60, 40), 12, "no_reference"),
                                 ((300, 3), 40, None)],
)  # fmt: skip
def test_all_faces_of_a_minority_job_tell_the_same_flag(shape, dense, flag):
    X = np.random.default_rng(0).normal(size=shape)
    X[len(X) - dense :] = 1 + 0.1 * X[len(X) - dense :]
    result = cs.minority_groups(X, n_repetitions=50, random_state=0)
    page = result.page()
    shown = {row["what"]: row["value"] for row in page["done"]}
    assert result.flag == result.model.flag_ == result.to_dict()["flag"] == flag
    assert shown.get("Flag") == flag
    assert (result.n_foreground > 0) == (dense > 0)
    why = result.model.threshold_result_.why
    assert dict(result.headline())["border"] == why
    assert why in page["headline"]
    assert result.to_dict()["why"] == why


@pytest.mark.parametrize(
    ("words", "asked"),
    [
        ([], {}),
        (["-k", "3", "--threshold", "0.5", "--score", "anco", "--no-scale"],
         {"n_clusters": 3, "threshold": 0.5, "score": "anco", "scale": False}),
    ],
)  # fmt: skip
def test_ambiguous_objects_equal_the_command(table, words, asked):
    given = ["--id-column", "name", "--truth-column", "kind", "--members", "12", "--out", "out"]
    given += ["--no-report"]
    assert main(["ambiguous", "things.csv", *given, *words]) == 0
    result = cs.ambiguous_objects(table, n_members=12, random_state=0, **asked)
    found = rows("ambiguous.csv")
    assert [int(row["ambiguous"]) for row in found] == result.flags.astype(int).tolist()
    assert [row["score"] for row in found] == [f"{score:.6g}" for score in result.scores]
    same_facts(result)


def test_both_keep_the_index_of_a_frame(numbers):
    pandas = pytest.importorskip("pandas")
    index = pandas.MultiIndex.from_product([list("abc"), range(25)], names=["letter", "number"])
    frame = pandas.DataFrame(numbers, index=index)
    for result, names in (
        (cs.minority_groups(frame, n_repetitions=20), ["score", "group", "undecided"]),
        (
            cs.ambiguous_objects(frame, 3, score="relative", n_members=5),
            ["score", "ambiguous", "cluster", "runner_up"],
        ),
    ):
        out = result.to_pandas()
        pandas.testing.assert_index_equal(out.index, index)
        assert list(out) == names
        json.dumps(result.to_dict())


def test_objects_of_any_kind_are_scored_by_a_kernel():
    def pairs(a, b):
        grams = [{s[i : i + 2] for i in range(len(s) - 1)} for s in (*a, *b)]
        return [
            [10 * len(s & t) / (len(s) * len(t)) ** 0.5 for t in grams[len(a) :]]
            for s in grams[: len(a)]
        ]

    names = [
        "anna",
        "ulf",
        "hanna",
        "kim",
        "johanna",
        "bo",
        "joanna",
        "eva",
        "susanna",
        "jens",
        "peter",
        "olga",
        "rudi",
    ]
    result = cs.minority_groups(names, divergence=pairs, n_repetitions=50, random_state=0)
    found = [name for name, label in zip(names, result.labels, strict=True) if label >= 0]
    assert found == ["anna", "hanna", "johanna", "joanna", "susanna"]
    assert "divergence pairs" in repr(result)


def test_callbacks_see_the_stages_and_can_cancel(numbers, seen, stop_at, folder, monkeypatch):
    cs.minority_groups(numbers, n_repetitions=20, callbacks=[seen])
    assert seen.begun == ["minority_groups", "prepare", "score", "thresholds"]
    monkeypatch.setattr(KMeansEnsemble, "_group_size", lambda self, X, n, n_workers: 1)
    stop = stop_at("member", 3, KeyboardInterrupt())
    asked = {"n_members": 8, "random_state": 0, "run": "run", "score": "relative"}
    with pytest.raises(KeyboardInterrupt):
        cs.ambiguous_objects(numbers, 3, callbacks=[stop], **asked)
    assert 3 <= len(cs.generate.RunFolder("run").finished) < 8
    result = cs.ambiguous_objects(numbers, 3, callbacks=[stop_at("x", 1, None)], **asked)
    assert list(result.seconds) == ["prepare", "generate", "consensus", "ambiguity"]
    given = cs.ambiguous_objects(ensemble=result.ensemble, n_clusters=3, score="relative")
    assert given.generator is None
    np.testing.assert_array_equal(given.flags, result.flags)


@pytest.mark.parametrize(
    ("job", "asked", "named"),
    [
        ("minority_groups", {"gama": 3}, "minority_groups has no parameter 'gama'"),
        ("minority_groups", {"weak": "x"}, "'weak' parameter of EWOCS"),
        ("minority_groups", {"threshold": "size"}, "'threshold' parameter of minority_groups"),
        ("minority_groups", {"background": "a"}, "'background' parameter of minority_groups"),
        ("minority_groups", {"truth": [1] * 75, "background": 2}, "'background' parameter"),
        ("minority_groups", {"random_state": -1}, "'random_state' parameter of minority_groups"),
        ("minority_groups", {"ids": [1]}, "'ids' parameter of minority_groups"),
        ("ambiguous_objects", {"n_clusters": 99}, "'n_clusters' parameter of ambiguous_objects"),
        ("ambiguous_objects", {"n_clusters": 3, "score": "x"}, "'score' parameter"),
        ("ambiguous_objects", {"n_clusters": 3, "threshold": "x"}, "'threshold' parameter"),
        ("ambiguous_objects", {"n_clusters": 3, "scale": 2}, "'scale' parameter"),
        ("ambiguous_objects", {"ensemble": [[0, 1, 2] * 25], "run": "x"}, "'run' parameter"),
        ("ambiguous_objects", {"n_clusters": 3, "callbacks": [1]}, "'callbacks' parameter"),
    ],
)
def test_what_cannot_be_is_refused_by_name(numbers, job, asked, named):
    with pytest.raises(ConsilienceError, match=named):
        getattr(cs, job)(numbers, **asked)


@pytest.mark.parametrize("kind", [int, float, str, object])
def test_the_background_is_a_value_however_it_is_written(numbers, kind):
    known = np.repeat([0, 1, 2], len(numbers) // 3)
    how = {"n_repetitions": 10, "random_state": 0}
    wanted = cs.minority_groups(numbers, truth=known, background=0, **how)
    result = cs.minority_groups(numbers, truth=known.astype(kind), background=0, **how)
    np.testing.assert_array_equal(result.truth > 0, known > 0)
    assert result.agreement == wanted.agreement


@pytest.mark.parametrize("gap", [None, np.nan, pd.NA, pd.NaT])
def test_sources_that_nobody_knows_are_no_source(numbers, gap):
    known = [gap, gap, *np.repeat([0, 1], 40)[: len(numbers) - 2].tolist()]
    with pytest.raises(InvalidInputError, match=r"'truth' parameter.*Got 2 missing values\. Give"):
        cs.minority_groups(numbers, truth=pd.Series(known, dtype=object), n_repetitions=5)


@pytest.mark.parametrize(
    ("shares", "auc", "words"),
    [
        ((0.5, 0.25), 0.875, "50% of the ambiguous ones, 25% of the others (AUC of the scores 0.8"),
        ((None, 0.0), None, "known group: 0% of the others, none is ambiguous"),
        ((1.0, None), None, "100% of the ambiguous ones, all are ambiguous"),
    ],
)
def test_where_misplaced_objects_lie_is_told(numbers, shares, auc, words):
    result = cs.ambiguous_objects(numbers, 2, n_members=4, random_state=0)
    assert result.agreement is None
    assert result.truth_in_words() == ""
    names = ("misplaced_ambiguous", "misplaced_others")
    known = dict(zip(names, shares, strict=True)) | {"n_misplaced": 3, "auc": auc}
    told = replace(result, agreement=known).truth_in_words()
    assert words in told
    assert ("AUC" in told) == (auc is not None)


def test_ambiguous_objects_are_listed_the_least_sure_first():
    scores = np.array([0.4, np.nan, *np.linspace(0.1, 0.3, 12), 0.9])
    flags = np.arange(15) < 14
    result = SimpleNamespace(
        flags=flags, scores=scores, labels=np.arange(15), runner_up=None,
        data=SimpleNamespace(plain_id=lambda i: f"o{i}"),
    )  # fmt: skip
    listed = AmbiguityResult.most_ambiguous(result)
    assert [one["id"] for one in listed] == [f"o{i}" for i in (1, *range(2, 11))]
    assert listed[0] == {"id": "o1", "score": None, "cluster": 1, "runner_up": -1}
    assert listed[1]["score"] == 0.1
    assert [one["id"] for one in AmbiguityResult.most_ambiguous(result, 14)][-1] == "o0"
    result.runner_up = np.arange(15) + 1
    assert AmbiguityResult.most_ambiguous(result, 2)[1]["runner_up"] == 3
