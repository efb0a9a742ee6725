"""The first hour on the command line: folders, options and files as people try them."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from numba import config
from scipy import sparse

from consilience._cli.folders import default_folder
from consilience.cli import main
from consilience.datasets import read_labels

pytest.importorskip("cyclopts")
pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")


def write_table(name="data.csv", **more):
    """Three groups of 20 in two columns, their kind, and other columns."""
    rng = np.random.default_rng(0)
    centres = np.repeat([[0, 0], [7, 0], [0, 7]], 20, axis=0)
    X = (centres + rng.normal(size=(60, 2))).round(3)
    columns = {"x": X[:, 0], "y": X[:, 1], "kind": np.repeat(["a", "b", "c"], 20), **more}
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    Path(name).write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    return X


def read_csv(path):
    with Path(path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_summary(folder):
    return json.loads(Path(folder, "summary.json").read_text(encoding="utf-8"))


QUICK = ["-k", "3", "--method", "eac", "--members", "10", "--no-report", "--quiet"]


@pytest.mark.parametrize("ignore", [["--ignore", "kind", "z"], ["--ignore", "kind,z"]])
def test_several_columns_are_ignored_with_blanks_or_commas(ignore):
    write_table(z=range(60))
    assert main(["cluster", "data.csv", *ignore, *QUICK]) == 0
    assert main(["cluster", *QUICK, *ignore, "data.csv", "--force"]) == 0
    assert read_summary("consilience-data")["data"]["columns"] == ["x", "y"]


def test_files_of_one_name_and_several_kinds_have_their_own_folders():
    names = ["wine.csv", "wine.parquet", "wine.npz", "wine.npy", "wine.tsv"]
    folders = {default_folder(Path(name)) for name in names}
    assert len(folders) == len(names)


def test_a_sparse_file_is_clustered_as_it_is(capsys):
    words = np.repeat(np.eye(3), 20, axis=0) + np.random.default_rng(0).uniform(0, 0.1, (60, 3))
    sparse.save_npz("words.npz", sparse.csr_matrix(words))
    assert main(["cluster", "words.npz", *QUICK]) == 0
    found = read_summary("consilience-words-npz")
    assert found["cluster_sizes"] == [20, 20, 20]
    assert not found["data"]["standardised"]


def test_a_background_without_known_groups_is_refused(capsys):
    write_table()
    assert main(["minority", "data.csv", "--ignore", "kind", "--background", "a"]) == 2
    assert "--truth-column" in capsys.readouterr().err


def test_groups_that_are_the_values_of_one_column_are_called_so(capsys):
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.integers(0, 2, 80), rng.normal(size=(80, 2)).round(3)])
    rows = [",".join(map(str, row)) for row in X.tolist()]
    Path("people.csv").write_text("\n".join(["sex,height,weight", *rows]) + "\n")
    asked = ["-k", "2", "--method", "lwea", "--members", "20"]
    assert main(["cluster", "people.csv", *asked]) == 0
    sentence = "The groups are the values of column 'sex'"
    assert sentence in capsys.readouterr().out
    folder = Path("consilience-people")
    assert any(sentence in note for note in read_summary(folder)["warnings"])
    shown = folder.joinpath("report.html").read_text(encoding="utf-8")
    assert sentence.replace("'", "&#39;") in shown
    again = ["--ignore", "sex", "--no-report", "--quiet", "--force"]
    assert main(["cluster", "people.csv", *asked, *again]) == 0
    assert not any("are the values" in note for note in read_summary(folder)["warnings"])


def test_labels_have_the_runner_up_the_ambiguity_and_the_flag():
    write_table(u=np.random.default_rng(5).normal(scale=3, size=60).round(3))
    asked = ["--truth-column", "kind", "-k", "7", *QUICK[2:]]  # more than there are: some are torn
    assert main(["cluster", "data.csv", *asked]) == 0
    rows = read_csv("consilience-data/labels.csv")
    assert list(rows[0]) == ["id", "cluster", "confidence", "runner_up", "ambiguity", "doubtful"]
    sure = np.array([float(row["confidence"]) for row in rows])
    assert [row["doubtful"] == "1" for row in rows] == (sure < 0.75).tolist()
    assert any(row["runner_up"] not in ("", row["cluster"]) for row in rows)
    assert all(0 <= float(row["ambiguity"]) <= 1 for row in rows)
    assert read_summary("consilience-data")["n_doubtful"] == int((sure < 0.75).sum()) > 0
    # They are read back as one clustering.
    assert read_labels("consilience-data/labels.csv").n_members == 1


NUMBERS = {
    "cluster": ["-k", "--max-k", "--members", "--seed", "--jobs", "--workers"],
    "ambiguous": ["-k", "--members", "--seed", "--jobs"],
    "minority": ["-k", "--seed", "--jobs", "--workers"],
    "predict": ["--jobs"],
    "explore": ["--port"],
    "reproduce": ["--runs", "--seed", "--jobs"],
}


def test_numbers_of_all_commands_are_known():
    from consilience._cli.arguments import Whole, WholeOrNone
    from consilience._cli.commands import app

    for name in ("cluster", "ambiguous", "minority", "predict", "explore", "reproduce"):
        arguments = app[name].assemble_argument_collection()
        whole = [one for one in arguments if one.hint in (int, int | None)]
        assert len(whole) == len(NUMBERS[name])
        converters = {Whole.__metadata__[0].converter, WholeOrNone.__metadata__[0].converter}
        assert {one.parameter.converter for one in whole} == converters


@pytest.mark.parametrize(
    ("command", "option"), [(name, one) for name, options in NUMBERS.items() for one in options]
)
def test_a_number_that_is_not_whole_is_refused(command, option, capsys):
    write_table()
    files = {"predict": ["run", "data.csv"], "explore": ["run"], "reproduce": ["woec-table2"]}
    for typed in ("2.5", "10.9"):
        assert main([command, *files.get(command, ["data.csv"]), option, typed]) == 2
        said = capsys.readouterr().err
        assert f"Invalid value for {option}" in said
        assert f"{typed!r} is not a whole number" in said
        assert said.count("\n") == 1


def test_no_command_replaces_a_file_that_it_reads(capsys):
    write_table()
    assert main(["cluster", "data.csv", "--ignore", "kind", *QUICK]) == 0
    run = Path("consilience-data")
    model, labels = (run / "model.json").read_bytes(), (run / "labels.csv").read_bytes()
    Path("here").mkdir()
    Path("here/labels.csv").write_bytes(Path("data.csv").read_bytes())
    Path("here/summary.json").write_bytes((run / "summary.json").read_bytes())
    capsys.readouterr()
    data = Path("data.csv").read_bytes()
    for words in (
        ["predict", "consilience-data", "data.csv", "--out", "./data.csv"],
        ["predict", "consilience-data", "data.csv", "--out", "consilience-data/model.json"],
        ["cluster", "--labels", "consilience-data/labels.csv", "--out", "consilience-data"],
        ["cluster", "here/labels.csv", "--ignore", "kind", *QUICK, "--out", "here"],
        ["ambiguous", "--labels", "consilience-data/labels.csv", "--out", "consilience-data"],
        ["minority", "here/labels.csv", "--ignore", "kind", "--out", "here"],
    ):
        assert main([*words, "--force"]) == 2
        said = capsys.readouterr().err
        assert "which this command reads" in said
        assert "--out" in said
    assert Path("data.csv").read_bytes() == data == Path("here/labels.csv").read_bytes()
    assert (run / "model.json").read_bytes() == model
    assert (run / "labels.csv").read_bytes() == labels
