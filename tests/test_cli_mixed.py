"""Categories, gaps, orders, logarithms and weights from the command line."""

import json
from pathlib import Path

import pytest

import consilience as cs
from consilience.cli import main

pytest.importorskip("pandas")


def run(*words):
    """The status of a command."""
    return main(list(words))


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = cs.datasets.make_mixed(120, 3, n_numbers=3, n_noise=1, random_state=0)
    frame = sample.to_pandas()
    frame.insert(0, "id", [f"p{i}" for i in range(120)])
    frame["x0"] = abs(frame["x0"])
    frame.loc[5, "x1"] = None
    frame.loc[7, "k1"] = None
    frame.to_csv("mixed.csv", index=False)


OPTIONS = ["--members", "9", "--effort", "quick", "--no-report", "--quiet"]


def test_a_mixed_table_with_gaps(file):
    words = ["--encode", "mixed", "--impute", "keep", "--ordinal", "k0=c0,c1,c2,c3"]
    assert run("cluster", "mixed.csv", *words, "--weight", "x2=2", *OPTIONS) == 0
    summary = json.loads(Path("consilience-mixed/summary.json").read_text())
    assert summary["data"]["n_objects"] == 120
    assert "k-prototypes" in summary["ensemble"]["from"]
    for said in ("--ordinal k0=c0,c1,c2,c3", "--weight x2=2", "--impute keep", "--encode mixed"):
        assert said in summary["command"]
    assert run("predict", "consilience-mixed", "mixed.csv") == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--log", "--compositional"], "cannot both be given"),
        (["--weight", "x2"], "--weight must be NAME=VALUE"),
        (["--weight", "x2=much"], "a column and a number"),
        (["--ordinal", "k0"], "--ordinal must be NAME=VALUE"),
        (["--weight", "x2=2", "--weight", "x2=3"], "each name once. Got 'x2=3'"),
        (["--ordinal", "k0=a,b", "--ordinal", "k0=b,a"], "each name once. Got 'k0=b,a'"),
        (["--encode", "mixed"], "--impute keep"),
    ],
)
def test_what_cannot_be_is_refused(file, capsys, words, message):
    assert run("cluster", "mixed.csv", *words) != 0
    captured = capsys.readouterr()
    assert message in " ".join((captured.out + captured.err).split())


def test_minority_refuses_to_keep_gaps(capsys, tmp_path):
    (tmp_path / "gaps.csv").write_text("a,b\n" + "1,2\n,3\n" * 20)
    assert main(["minority", str(tmp_path / "gaps.csv"), "--impute", "keep"]) == 2
    said = capsys.readouterr().err
    assert "--impute keep" in said
    assert "--impute median" in said
