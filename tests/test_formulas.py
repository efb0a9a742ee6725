"""Identifiers that a spreadsheet would run: harmless in every file we write, and read back."""

import csv
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config

from consilience._cli.outputs import write_table
from consilience._formulas import guarded, unguarded
from consilience.cli import main
from consilience.datasets import read_labels, read_table, write_labels

CSV_JS = Path(__file__).parents[1] / "frontend/src/csv.js"
RUN = ["=cmd|' /C calc'!A0", "+1+cmd", "-2+3", "@SUM(A1)", "\tx", "\rx", "'=1", "''@a", "＝1"]
STAY = ["-5", "+3.2", "-1e-5", "-,5", "a=b", "'quoted'", "'", "", "o'neil", "x-1", "5"]
START = st.text("'=+-@\t\r\n0a.", min_size=1, max_size=6)


@given(START | st.text(max_size=5))
def test_every_text_comes_back(text):
    assert unguarded(guarded(text)) == text


@given(START | st.text(max_size=5), START | st.text(max_size=5))
def test_texts_that_differ_stay_different(a, b):
    assert (guarded(a) == guarded(b)) == (a == b)


def test_what_might_be_run_is_quoted_and_numbers_are_not():
    assert [guarded(cell) for cell in RUN] == [f"'{cell}" for cell in RUN]
    assert [guarded(cell) for cell in STAY] == STAY
    assert guarded(-5) == -5


def cells(path):
    with open(path, encoding="utf-8", newline="") as file:
        return [row[0] for row in csv.reader(file)][1:]


# What csv readers of ours keep of an identifier: blanks around it are not part of it.
KEPT = [cell for cell in [*RUN, *STAY] if cell and cell == cell.strip()]


def test_files_of_labels_are_harmless_and_read_back(tmp_path):
    path = tmp_path / "labels.csv"
    write_labels(path, KEPT, np.arange(len(KEPT)) % 3, np.ones(len(KEPT)))
    assert cells(path) == [guarded(cell) for cell in KEPT]
    back = read_labels(path)
    assert (back.index.tolist(), back.names) == (KEPT, ("cluster",))
    assert read_table(path, id_column="id").ids.astype(str).tolist() == KEPT


def test_tables_are_harmless(tmp_path):
    path = tmp_path / "scores.csv"
    scores = np.linspace(-1, 1, len(KEPT))
    write_table(path, header=["id", "score"], columns=[np.array(KEPT), scores])
    assert cells(path) == [guarded(cell) for cell in KEPT]
    assert read_table(path, id_column="id").ids.astype(str).tolist() == KEPT
    np.testing.assert_array_equal(read_table(path, id_column="id").X[:, 0], scores)


def test_quotes_in_files_of_others_stay(tmp_path):
    path = tmp_path / "theirs.csv"
    path.write_text("id,x,y\n'=a,1,2\n=a,2,3\n'b,3,5\n")
    assert read_table(path, id_column="id").ids.tolist() == ["'=a", "=a", "'b"]


@pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
def test_a_command_reads_its_own_labels_back(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f'"{name}",{i // 5},{i // 4}\n' for i, name in enumerate(KEPT)]
    Path("given.csv").write_text("id,a,b\n" + "".join(rows), encoding="utf-8")
    asked = ["cluster", "--labels", "given.csv", "-k", "2", "--out", "out", "--quiet"]
    assert main(asked) == 0
    assert not any(cell.startswith(tuple("=@")) for cell in cells("out/labels.csv"))
    assert read_labels("out/labels.csv").index.tolist() == KEPT


def test_downloads_of_the_report_follow_the_same_rule():
    if shutil.which("node") is None:
        pytest.skip("node is missing")
    texts = [cell for cell in [*RUN, *STAY] if cell]
    columns = [{"name": "=head", "values": texts}, {"name": "n", "values": [-5] * len(texts)}]
    code = (
        f"const {{ csvOf }} = await import({json.dumps(CSV_JS.as_uri())});"
        f"process.stdout.write(csvOf({json.dumps(columns)}, {list(range(len(texts)))}));"
    )
    done = subprocess.run(
        ["node", "--input-type=module", "-e", code], capture_output=True, check=True, timeout=60
    )
    rows = list(csv.reader(done.stdout.decode("utf-8").split("\r\n")[:-1], strict=True))
    # A cell with a bare line end was cut by the split above: those are compared whole.
    whole = [guarded(cell) for cell in texts if "\r" not in cell]
    assert rows[0] == ["'=head", "n"]
    assert [row[0] for row in rows if len(row) == 2 and row[0] in whole] == whole
