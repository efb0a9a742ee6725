"""Communities of a graph from the command line."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.cli import main

pytest.importorskip("sknetwork")


@pytest.fixture
def sample(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sample = cs.datasets.make_lfr(200, mixing=0.2, random_state=0)
    lines = [f"n{a},n{b},1" for a, b in sample.edges]
    Path("edges.csv").write_text("\n".join(["from,to,weight", *lines]))
    return sample


def test_communities_and_how_sure(sample, capsys):
    assert main(["cluster", "--graph", "edges.csv", "--members", "12"]) == 0
    said = capsys.readouterr().out
    assert f"200 nodes, {len(sample.edges)} edges" in said
    with open("consilience-edges/labels.csv") as file:
        rows = list(csv.DictReader(file))
    assert {row["id"] for row in rows} == {f"n{i}" for i in range(200)}
    truth = [int(sample.groups[int(row["id"][1:])]) for row in rows]
    found = [int(row["cluster"]) for row in rows]
    assert cs.metrics.nmi(truth, found) == pytest.approx(1)
    summary = json.loads(Path("consilience-edges/summary.json").read_text())
    assert summary["n_clusters"] == sample.groups.max() + 1
    assert summary["command"] == "consilience cluster --members 12 --graph edges.csv"
    same = cs.cluster_graph(cs.datasets.read_graph("edges.csv"), n_members=12, random_state=0)
    np.testing.assert_array_equal(same.labels, found)


@pytest.mark.parametrize("members", ["100", "30"])
def test_the_command_repeats_members_that_were_typed(sample, members):
    words = ["--resolution", "1", "--members", members, "--quiet", "--no-report", "--no-keep"]
    assert main(["cluster", "--graph", "edges.csv", *words]) == 0
    summary = json.loads(Path("consilience-edges/summary.json").read_text())
    assert f"--members {members}" in summary["command"]
    assert summary["ensemble"]["n_members"] == int(members)


@pytest.mark.parametrize(("n", "words"), [(1, "1 community."), (2, "2 communities.")])
def test_communities_are_counted_in_words(sample, capsys, n, words):
    edges = [f"{g}{a},{g}{b}" for g in "xy"[:n] for a in range(5) for b in range(a)]
    Path("cliques.csv").write_text("\n".join(["from,to", *edges]))
    assert main(["cluster", "--graph", "cliques.csv", "--members", "8", "--no-report"]) == 0
    assert words in capsys.readouterr().out.splitlines()


def test_members_default_to_those_of_graphs(sample):
    assert main(["cluster", "--graph", "edges.csv", "--quiet", "--resolution", "1,2"]) == 0
    summary = json.loads(Path("consilience-edges/summary.json").read_text())
    assert (summary["options"]["members"], summary["ensemble"]["n_members"]) == (30, 30)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "3"], "-k is of tables"),
        (["--impute", "keep"], "--impute is of tables"),
        (["--labels", "edges.csv"], "takes the place of --labels"),
        (["--resolution", "high"], "--resolution must be a number"),
        (["--resolution", "5,1"], "Swap"),
        (["--weight-column", "mass"], "no column 'mass'"),
        (["--members", "0"], "--members"),
    ],
)
def test_what_does_not_go_with_a_graph_is_refused(sample, capsys, words, message):
    assert main(["cluster", "--graph", "edges.csv", *words]) == 2
    assert message in capsys.readouterr().err
    assert not Path("consilience-edges").exists()


def test_columns_of_graphs_need_a_graph(sample, capsys):
    assert main(["cluster", "edges.csv", "--resolution", "2"]) == 2
    assert "belongs to --graph" in capsys.readouterr().err
