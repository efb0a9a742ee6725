"""Files of other kinds from the command line: the same clusters as of a text file."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience.cli import main

OPTIONS = ["--members", "9", "-k", "3", "--method", "hbgf", "--no-report", "--quiet"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, _ = cs.datasets.make_gaussians(60, 3, 4, random_state=0)
    names = ["a", "b", "c", "d"]
    rows = [names, *([float(v) for v in row] for row in X.round(3))]
    with open("data.csv", "w", newline="") as file:
        csv.writer(file).writerows(rows)
    assert main(["cluster", "data.csv", *OPTIONS]) == 0
    return rows


def labels(folder):
    with open(Path(folder, "labels.csv")) as file:
        return [row["cluster"] for row in csv.DictReader(file)]


def test_a_workbook(table, capsys):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in table:
        book.active.append(row)
    book.create_sheet("notes").append(["nothing"])
    book.save("data.xlsx")
    assert main(["cluster", "data.xlsx", "--sheet", "Sheet", *OPTIONS]) == 0
    assert labels("consilience-data-xlsx") == labels("consilience-data")
    assert main(["predict", "consilience-data-xlsx", "data.xlsx"]) == 0
    assert main(["cluster", "data.xlsx", "--sheet", "third", *OPTIONS, "--force"]) == 2
    assert "no sheet 'third'" in capsys.readouterr().err


def test_text_parted_by_blanks(table):
    lines = [" ".join(map(str, row)) for row in table]
    Path("data.txt").write_text("\n".join(lines) + "\n")
    assert main(["cluster", "data.txt", *OPTIONS]) == 0
    assert labels("consilience-data-txt") == labels("consilience-data")


def test_annotated_data_come_back_with_their_clusters(table):
    h5py = pytest.importorskip("h5py")
    text = h5py.string_dtype()
    with h5py.File("data.h5ad", "w") as file:
        file["X"] = np.array(table[1:])
        for name, index in (("obs", [f"c{i}" for i in range(60)]), ("var", table[0])):
            group = file.create_group(name)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=np.array(index, object), dtype=text)
    assert main(["cluster", "data.h5ad", *OPTIONS]) == 0
    assert labels("consilience-data-h5ad") == labels("consilience-data")
    with h5py.File("consilience-data-h5ad/annotated.h5ad") as file:
        codes = file["obs/consilience_cluster/codes"][:]
    assert [str(code) for code in codes] == labels("consilience-data")
    summary = json.loads(Path("consilience-data-h5ad/summary.json").read_text())
    assert "annotated.h5ad" in summary["files"]
    first = Path("consilience-data-h5ad/annotated.h5ad").read_bytes()
    assert main(["cluster", "data.h5ad", *OPTIONS, "--force"]) == 0
    assert Path("consilience-data-h5ad/annotated.h5ad").read_bytes() == first


def test_a_table_the_other_way_round_and_some_columns(table):
    header, *rows = table
    turned = [["gene", *(f"s{i}" for i in range(60))]]
    turned += [[name, *(row[j] for row in rows)] for j, name in enumerate(header)]
    with open("genes.csv", "w", newline="") as file:
        csv.writer(file).writerows(turned)
    words = ["--transpose", "--id-column", "gene"]
    assert main(["cluster", "genes.csv", *words, *OPTIONS]) == 0
    assert labels("consilience-genes") == labels("consilience-data")
    assert main(["cluster", "data.csv", "--columns", "a,b", "--out", "some", *OPTIONS]) == 0
    facts = json.loads(Path("some/summary.json").read_text())
    assert facts["data"]["columns"] == ["a", "b"]
