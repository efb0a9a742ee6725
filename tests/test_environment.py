"""Odd surroundings: terminals, file names, files and numbers that nobody has in mind."""

import csv
import json
import os
import subprocess
import sys
import threading
import unicodedata
import zipfile

import numpy as np
import pytest
from numba import config

from consilience._text import any_terminal, readable
from consilience.cli import main
from consilience.datasets import read_labels, read_table
from consilience.errors import InvalidInputError
from consilience.evidence import Ambiguity

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
LABELS = "id,a,b,c\n" + "".join(f"o{i},{i // 4},{i // 3},{i // 4}\n" for i in range(8))


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys, *words):
    """The one message of a command that is refused."""
    assert main(list(words)) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def npz_with(path, members, **arrays):
    np.savez(path, **arrays)
    with zipfile.ZipFile(path, "a") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


# ---- files ----------------------------------------------------------------------------------


def test_members_of_an_archive_that_are_no_arrays_are_passed_over(here):
    X = np.arange(6.0).reshape(3, 2)
    npz_with("mixed.npz", {"README": "hello", "notes.txt": "x"}, X=X)
    np.testing.assert_array_equal(read_table("mixed.npz").X, X)


def test_an_archive_without_arrays_is_refused(here, capsys):
    with zipfile.ZipFile("none.npz", "w") as archive:
        archive.writestr("README", "hello")
    for read in (read_table, read_labels):
        with pytest.raises(InvalidInputError, match="without numpy arrays: it holds 'README'"):
            read("none.npz")
    assert "none.npz" in refused(capsys, "cluster", "none.npz")


@pytest.mark.parametrize("start", ["", "# a comment\n", "#a,b\n"])
def test_a_first_line_with_a_huge_field_is_refused(here, capsys, start):
    (here / "long.csv").write_text(f"{start}{'a' * 140_000},b\n1,2\n3,4\n")
    said = refused(capsys, "cluster", "long.csv")
    assert "first line" in said
    assert "field larger than field limit" in said
    with pytest.raises(InvalidInputError, match="first line"):
        read_labels("long.csv")


# ---- numbers --------------------------------------------------------------------------------


@pytest.mark.parametrize("job", ["cluster", "ambiguous"])
def test_more_members_than_any_memory_holds_are_refused(here, capsys, job):
    (here / "a.csv").write_text("x,y\n1,2\n3,4\n5,6\n")
    said = refused(capsys, job, "a.csv", "-k", "2", "--members", "9" * 20)
    assert "'--members'" in said
    assert "at most 1e+06" in said


def scored(scores):
    return Ambiguity(np.zeros(len(scores), bool), np.array(scores), -np.inf, "none", "")


@pytest.mark.parametrize("middle", [1e-300, 1e-7, 1.0, 4917.3, 1e300])
@pytest.mark.parametrize("steps", [0, 1, 2, 100])
def test_a_histogram_of_scores_that_differ_by_rounding_holds_them_all(middle, steps):
    scores = [middle, middle + steps * np.spacing(middle), np.nan]
    counts, edges = scored(scores).histogram(16)
    assert counts.sum() == 2
    assert (np.diff(edges) > 0).all()


def test_a_histogram_keeps_the_range_of_scores_that_differ():
    counts, edges = scored([0.0, 0.25, 1.0]).histogram(4)
    assert edges.tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert counts.tolist() == [1, 1, 0, 1]


@compiled
def test_anco_on_four_objects_is_shown(here, capsys):
    X = np.random.default_rng(0).normal(size=(4, 2))
    np.savetxt("four.csv", X, delimiter=",", header="x,y", comments="")
    assert main(["ambiguous", "four.csv", "-k", "2", "--score", "anco"]) == 0
    assert "4 objects" in capsys.readouterr().out


# ---- terminals and file names ---------------------------------------------------------------


def command(*words, encoding, **environment):
    """A command in a process of its own, its output as bytes."""
    code = "import sys; from consilience.cli import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        env={**os.environ, "PYTHONIOENCODING": encoding, **environment},
        capture_output=True,
        check=False,
    )


@pytest.mark.parametrize("words", [("methods",), ("cluster", "--help"), ("minority", "--help")])
def test_a_terminal_of_ascii_letters_shows_everything(words):
    done = command(*words, encoding="ascii", LC_ALL="C")
    assert (done.returncode, done.stderr) == (0, b"")
    shown = done.stdout.decode("ascii")
    assert "?" not in shown.replace("clusters?", "")
    if words == ("methods",):
        assert "Gonz" not in shown or "Gonzalez" in shown


def _as_ascii(text):
    with any_terminal():
        return text.encode("ascii", "consilience-plain").decode("ascii")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a ≠ b", "a != b"),
        ("a ≮ b", "a !< b"),
        ("a ≰ b", "a !<= b"),
        ("½ or ¾", "1/2 or 3/4"),
        ("0.5 ± 0.1", "0.5 +/- 0.1"),
        ("\u2212 1", "- 1"),
        ("a ≈ b", "a ~ b"),
        ("cafe\u0301 and caf\u00e9", "cafe and cafe"),
        ("雪", "?"),
    ],
)
def test_what_ascii_has_not_keeps_its_meaning(text, wanted):
    assert _as_ascii(text) == wanted


def test_no_sign_is_shown_as_its_opposite():
    for letter in map(chr, range(0x2190, 0x2B00)):
        parts = unicodedata.normalize("NFKD", letter)
        if "\u0338" in parts:
            shown, opposite = _as_ascii(letter), _as_ascii(parts.replace("\u0338", ""))
            assert shown == "?" or shown != opposite


@compiled
def test_a_name_that_is_no_utf8_is_shown_and_written_readably(here):
    name = os.fsdecode(b"data\xe9.csv")
    (here / name).write_text(LABELS)
    done = command("cluster", "--labels", name, "-k", "2", encoding="utf-8:strict")
    assert (done.returncode, done.stderr) == (0, b"")
    assert "data\\xe9.csv" in done.stdout.decode("utf-8")
    folder = here / os.fsdecode(b"consilience-data\xe9")
    summary = json.loads((folder / "summary.json").read_bytes())
    assert summary["command"] == "consilience cluster -k 2 --labels $'data\\xe9.csv'"
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert "data\\xe9.csv" in page
    assert "\\udc" not in page
    assert "\\udc" not in (folder / "summary.json").read_text()
    with (folder / "labels.csv").open(newline="") as file:
        assert [row["id"] for row in csv.DictReader(file)] == [f"o{i}" for i in range(8)]


def test_readable_text_can_be_encoded_and_other_text_stays():
    assert readable("plain ü €") == "plain ü €"
    assert readable({"a\udcff": ["\udc80", 1, None, ("\ud800",)]}) == {
        "a\\xff": ["\\x80", 1, None, ["\\ud800"]]
    }


def test_streams_are_left_as_they_were(capsys):
    before = sys.stdout.errors, sys.stderr.errors
    with any_terminal():
        print("\udce9 ü", end="")
    assert capsys.readouterr().out == "\\xe9 ü"
    assert (sys.stdout.errors, sys.stderr.errors) == before


# ---- threads --------------------------------------------------------------------------------


def test_no_more_threads_is_one_message(here, capsys, monkeypatch):
    (here / "a.csv").write_text("x,y\n1,2\n3,4\n5,6\n")

    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("consilience._cli.jobs.carry_out", lambda *_: threading.Thread().start())
    monkeypatch.setattr(threading.Thread, "start", start)
    assert "lets no more threads start" in refused(capsys, "cluster", "a.csv")


@compiled
def test_a_million_jobs_give_what_one_gives(here, capsys):
    (here / "labels.csv").write_text(LABELS)
    kept = []
    for jobs in ("1", "1000000"):
        asked = ["cluster", "--labels", "labels.csv", "--out", jobs, "--jobs", jobs, "--quiet"]
        assert main(asked) == 0
        kept.append((here / jobs / "labels.csv").read_bytes())
    assert kept[0] == kept[1]
