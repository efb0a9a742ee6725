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
