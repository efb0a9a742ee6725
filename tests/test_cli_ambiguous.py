"""``consilience ambiguous``: what it flags, writes and prints, and how it refuses."""

import csv
import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
from numba import config
from sklearn.metrics import roc_auc_score

from consilience.cli import main

pytest.importorskip("cyclopts")
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")


RELATIVE = ["--score", "relative", "--threshold", "gap", "--no-report"]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def bridge():
    """Two groups of 30 on a line, and two objects right between them."""
    x = np.concatenate([np.linspace(0, 1, 30), [4.95, 5.05], np.linspace(9, 10, 30)])
    lines = [f"o{i},{a:.4f},{int(a > 5)}" for i, a in enumerate(x)]
    Path("bridge.csv").write_text("name,x,side\n" + "\n".join(lines) + "\n")
    return ["bridge.csv", "--id-column", "name", "--truth-column", "side", "-k", "2"]


def written(folder):
    with Path(folder, "ambiguous.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, json.loads(Path(folder, "summary.json").read_text())


def test_objects_between_the_groups_are_flagged(bridge, capsys):
    assert main(["ambiguous", *bridge, "--members", "30", "--score", "relative"]) == 0
    rows, summary = written("consilience-ambiguous-bridge")
    flagged = [row["id"] for row in rows if row["ambiguous"] == "1"]
    assert flagged == ["o30", "o31"]
    assert all(float(row["score"]) < summary["threshold"] for row in rows if row["id"] in flagged)
    assert (summary["n_ambiguous"], summary["rule"], summary["n_members"]) == (2, "otsu", 30)
    printed = capsys.readouterr().out
    assert "2 ambiguous (3.2%)" in printed
    assert "o30" in printed


def test_labels_you_already_have(capsys):
    Path("members.csv").write_text("a,b,c\n0,0,0\n0,0,0\n0,0,1\n1,1,1\n1,1,1\n1,,1\n")
    assert (
        main(["ambiguous", "--labels", "members.csv", "--out", "here", *RELATIVE, "-k", "2"]) == 0
    )
    rows, summary = written("here")
    assert [row["ambiguous"] for row in rows] == ["0", "0", "1", "0", "0", "0"]
    assert summary["rule"] == "gap"
    assert "clusterings given" in capsys.readouterr().out


def test_a_number_as_threshold_and_the_papers_score(bridge):
    words = ["--members", "30", "--threshold", "0.5", "--score", "anco", "--no-report"]
    assert main(["ambiguous", *bridge, *words]) == 0
    _, summary = written("consilience-ambiguous-bridge")
    assert (summary["rule"], summary["threshold"]) in [("number", 0.5), ("none", None)]


def test_equal_seeds_and_any_jobs_give_the_same_file(bridge):
    for jobs, out in (("1", "one"), ("2", "two")):
        words = ["--members", "12", "--jobs", jobs, "--out", out, "--no-report"]
        assert main(["ambiguous", *bridge, *words]) == 0
    assert Path("one/ambiguous.csv").read_bytes() == Path("two/ambiguous.csv").read_bytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "needs data or labels. Got neither"),
        (["bridge.csv", "-k", "0"], "'-k' parameter of consilience ambiguous"),
        (
            ["bridge.csv", "-k", "2", "--score", "x"],
            "must be one of 'confidence', 'relative', 'anco'",
        ),
        (["bridge.csv", "-k", "2", "--threshold", "best"], "'otsu', 'gap', 'kde', 'gmm2'"),
        (["bridge.csv", "-k", "99", "--id-column", "name"], "more clusters than there are objects"),
        (["nothing.csv", "-k", "2"], "nothing.csv"),
    ],
)
def test_bad_input_is_refused_and_nothing_written(bridge, words, message, capsys):
    assert main(["ambiguous", *words]) == 2
    assert message in capsys.readouterr().err
    assert [path.name for path in Path.cwd().iterdir()] == ["bridge.csv"]


def test_a_folder_with_another_file_of_that_name_is_left_alone(bridge, capsys):
    Path("mine").mkdir()
    Path("mine/ambiguous.csv").write_text("keep me\n")
    assert main(["ambiguous", *bridge, "--out", "mine"]) == 2
    assert "ambiguous.csv" in capsys.readouterr().err
    assert Path("mine/ambiguous.csv").read_text() == "keep me\n"


@pytest.fixture
def overlapping():
    """Three groups of 40 that overlap a little, with their known kind."""
    rng = np.random.default_rng(1)
    X = np.repeat([[0, 0], [2.8, 0], [0, 2.8]], 40, axis=0) + rng.normal(size=(120, 2))
    lines = [f"{x:.4f},{y:.4f},{'abc'[i // 40]}" for i, (x, y) in enumerate(X)]
    Path("flowers.csv").write_text("x,y,kind\n" + "\n".join(lines) + "\n")
    return ["flowers.csv", "--truth-column", "kind", "--members", "30"]


def test_it_needs_no_number_marks_what_cluster_marks_and_compares_with_the_truth(
    overlapping, capsys
):
    assert main(["ambiguous", *overlapping]) == 0
    rows, summary = written("consilience-ambiguous-flowers")
    assert main(["cluster", *overlapping, "--no-report", "--quiet"]) == 0
    with Path("consilience-flowers/labels.csv").open(newline="") as file:
        labels = list(csv.DictReader(file))
    assert [row["ambiguous"] for row in rows] == [row["doubtful"] for row in labels]
    assert [row["runner_up"] for row in rows] == [row["runner_up"] for row in labels]
    # The comparison: every figure from the two tables.
    assert summary["n_clusters"] == 3
    group = np.array([int(row["cluster"]) for row in rows])
    flags = np.array([row["ambiguous"] == "1" for row in rows])
    truth = np.repeat([0, 1, 2], 40)
    wrong = min((np.array(order)[group] != truth for order in permutations(range(3))), key=np.sum)
    told = summary["agreement_with_truth"]
    assert told["n_misplaced"] == wrong.sum()
    assert told["misplaced_ambiguous"] == pytest.approx(wrong[flags].mean())
    assert told["misplaced_others"] == pytest.approx(wrong[~flags].mean())
    scores = np.array([float(row["score"]) for row in rows])
    assert told["auc"] == pytest.approx(roc_auc_score(wrong, -scores))
    assert f"{wrong.sum()} objects lie in a group" in capsys.readouterr().out.replace("\n", " ")
    page = Path("consilience-ambiguous-flowers/report.html").read_text(encoding="utf-8")
    assert f"{flags.sum()} objects (" in page
