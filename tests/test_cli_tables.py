"""Tables as people have them, through the command line: treated and said, or refused."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from numba import config

from consilience.cli import main

pytest.importorskip("cyclopts")
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def write(header, rows, name="data.csv"):
    Path(name).write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")


def table():
    """Two clear groups of 15 with a name, a kind and a day."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(30):
        far = i >= 15
        x = rng.normal(9 * far, 1)
        kind, day = ("red" if far else "blue"), f"2024-0{1 + 6 * far}-{1 + i % 15:02d}"
        rows.append([f"n{i}", f"{x:.3f}", f"{rng.normal():.3f}", kind, day])
    return rows


def run(*words):
    given = ["cluster", "data.csv", "-k", "2", "--members", "5", "--method", "eac", "--no-report"]
    status = main([*given, *words])
    folder = Path("consilience-data")
    if status:
        return status, None, None
    with Path(folder, "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return status, rows, json.loads(Path(folder, "summary.json").read_text())


def test_categories_and_dates_are_refused_with_the_remedy_and_encoded_on_request(capsys):
    write("name,x,y,kind,day", table())
    assert run()[0] == 2
    said = capsys.readouterr().err
    assert "'kind'" in said
    assert "--encode onehot" in said
    status, rows, summary = run("--encode", "onehot")
    assert status == 0
    assert rows[0]["id"] == "n0"  # recognised, and said
    assert any("'name'" in note for note in summary["warnings"])
    assert [int(row["cluster"]) for row in rows] == [0] * 15 + [1] * 15


def test_missing_values_are_refused_imputed_or_their_rows_left_out(capsys):
    rows = [row[:3] for row in table()]
    rows[3][1] = ""
    write("name,x,y", rows)
    assert run()[0] == 2
    assert "--impute" in capsys.readouterr().err
    _, found, summary = run("--impute", "median")
    assert len(found) == 30
    _, found, summary = run("--impute", "drop-rows", "--force")
    assert [row["id"] for row in found] == [f"n{i}" for i in range(30) if i != 3]
    assert summary["data"]["rows_left_out"] == 1


def test_labels_follow_the_rows_that_are_left(capsys):
    rows = [row[:3] for row in table()]
    rows[3][1] = "NA"
    write("name,x,y", rows)
    write("m,n", [[i // 15, i % 2] for i in range(30)], "labels.csv")
    status, found, _ = run("--impute", "drop-rows", "--labels", "labels.csv")
    assert (status, len(found)) == (0, 29)
    write("m,n", [[0, 1]] * 29, "labels.csv")
    assert run("--impute", "drop-rows", "--labels", "labels.csv", "--force")[0] == 2
    assert "the data have 30 rows, the labels 29" in capsys.readouterr().err


def test_columns_may_be_left_out_and_decimal_commas_read():
    lines = [
        "x;y;note",
        *(f"{a.replace('.', ',')};{b.replace('.', ',')};z" for _, a, b, *_ in table()),
    ]
    Path("data.csv").write_text("\n".join(lines) + "\n")
    status, _, summary = run("--decimal", ",", "--ignore", "note")
    assert status == 0
    assert summary["data"]["columns"] == ["x", "y"]
    words = summary["command"].split()
    assert words[words.index("--ignore") + 1] == "note"


def test_a_header_of_duplicates_is_refused(capsys):
    write("x,x,y", [[*row[1:3], "1"] for row in table()])
    assert run()[0] == 2
    assert "'x'" in capsys.readouterr().err


def test_one_column_is_enough():
    write("x", [[row[1]] for row in table()])
    status, rows, _ = run()
    assert status == 0
    assert [int(row["cluster"]) for row in rows] == [0] * 15 + [1] * 15


def test_minority_and_ambiguous_read_the_same_way():
    rows = [row[:4] for row in table()]
    write("name,x,y,kind", rows)
    words = ["data.csv", "--encode", "onehot"]
    assert main(["ambiguous", *words, "-k", "2", "--members", "5"]) == 0
    assert main(["minority", *words, "--repetitions", "20", "--no-report"]) == 0


def test_unknown_treatments_are_refused(capsys):
    write("x", [[1], [2]])
    assert main(["cluster", "data.csv", "--impute", "guess"]) == 2
    assert "drop-rows" in capsys.readouterr().err


def test_an_identifier_may_be_no_number():
    X = np.random.default_rng(0).normal(size=(20, 3))
    X[:, 2] = np.nan
    np.save("data.npy", X)
    words = ["cluster", "data.npy", "--id-column", "c2", "-k", "2", "--members", "5"]
    assert main([*words, "--no-report"]) == 0
    found = json.loads(Path("consilience-data-npy/summary.json").read_text())
    assert {one["id"] for one in found["least_sure"]} == {"nan"}


def test_labels_in_another_order_than_the_data_are_refused(capsys):
    rows = table()
    write("id,x,y", [row[:3] for row in rows])
    labels = [[row[0], int(i >= 15)] for i, row in enumerate(rows)]
    write("id,first", labels[::-1], "labels.csv")
    assert main(["cluster", "data.csv", "--labels", "labels.csv", "-k", "2"]) == 2
    assert "row 0 is 'n0' in the data and 'n29' in the labels" in capsys.readouterr().err
    # Row numbers are other names of the same objects.
    write("id,first", [[i, one[1]] for i, one in enumerate(labels)], "labels.csv")
    assert main(["cluster", "data.csv", "--labels", "labels.csv", "-k", "2"]) == 0


def test_memberships_in_columns_member_and_cluster_are_combined(capsys):
    rng = np.random.default_rng(0)
    share = np.clip(np.repeat([0.9, 0.1], 15) + rng.normal(0, 0.05, 30), 0, 1).round(3)
    rows = [[f"n{i}", p, round(1 - p, 3), 1 - p, p] for i, p in enumerate(share.tolist())]
    write("id,mixture:0,mixture:1,topics:a,topics:b", rows, "soft.csv")
    status = main(["cluster", "--labels", "soft.csv", "-k", "2", "--method", "sec", "--out", "out"])
    assert status == 0
    summary = json.loads(Path("out", "summary.json").read_text())
    assert any("read as memberships by 2 members" in note for note in summary["warnings"])
    with Path("out", "labels.csv").open(newline="") as file:
        assert [row["cluster"] for row in csv.DictReader(file)] == ["0"] * 15 + ["1"] * 15
    refused = main(["cluster", "--labels", "soft.csv", "-k", "2", "--method", "cspa"])
    assert refused == 2
    assert "'cspa' combines labels" in capsys.readouterr().err


def test_distances_are_named_or_given(capsys):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1, (15, 2)) for c in (0, 9)]).round(3)
    write("x,y", X.tolist())
    status, rows, summary = run("--metric", "manhattan", "--force")
    assert status == 0
    assert [int(row["cluster"]) for row in rows] == [0] * 15 + [1] * 15
    assert any("manhattan distances" in note for note in summary["warnings"])
    D = np.abs(X[:, None] - X[None]).sum(axis=2)
    write(",".join(f"d{i}" for i in range(30)), D.round(3).tolist())
    status, rows, _ = run("--metric", "precomputed", "--force")
    assert status == 0
    assert [int(row["cluster"]) for row in rows] == [0] * 15 + [1] * 15
    assert run("--metric", "ours", "--force")[0] == 2
    assert "'metric' parameter" in capsys.readouterr().err


def test_a_column_says_how_often_objects_count(capsys):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 1, (15, 2)) for c in (0, 9)]).round(3)
    write("x,y,n", [[*row, 1 + i % 3] for i, row in enumerate(X.tolist())])
    status, rows, summary = run("--object-weights", "n", "--force")
    assert status == 0
    assert [int(row["cluster"]) for row in rows] == [0] * 15 + [1] * 15
    assert summary["data"]["columns"] == ["x", "y"]
    assert any("60 copies stand for 30 objects" in note for note in summary["warnings"])
    assert run("--object-weights", "m", "--force")[0] == 2
    assert "must name a column of X" in capsys.readouterr().err
