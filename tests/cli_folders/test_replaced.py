"""What of a result folder is replaced, and what is not."""

import json
import os
import sys
from pathlib import Path

import pytest
from cli_folders.runs import AMBIGUOUS, KEEPING, LABELS, MINORITY, held

from consilience._cli import results
from consilience._cli.results import WORK, taken
from consilience.cli import main
from consilience.errors import InvalidParameterError

pytest.importorskip("cyclopts")


def test_results_of_another_job_are_replaced_whole_and_files_of_the_user_stay():
    Path("out/deep").mkdir(parents=True)
    mine = {"deep/mine.txt": "1", "labels.csv.bak": "2", ".consilience-mine": "3"}
    for name, text in mine.items():
        Path("out", name).write_text(text)
    assert main(LABELS) == 0
    assert "report.html" in held()
    for words, files in (
        ([*KEEPING, "--no-report"], ["labels.csv", "model.json", "model.npz"]),
        ([*LABELS, "--no-report"], ["labels.csv"]),
        (AMBIGUOUS, ["ambiguous.csv"]),
        (MINORITY, ["scores.csv"]),
    ):
        assert main([*words, "--force"]) == 0
        assert sorted(held()) == sorted([*files, "summary.json", "timings.json", *mine])
        assert all(Path("out", name).read_text() == text for name, text in mine.items())


def test_a_report_that_somebody_else_put_there_is_not_replaced(capsys):
    assert main([*LABELS, "--no-report"]) == 0
    Path("out/report.html").write_text("mine")
    before = held()
    assert main([*LABELS, "--force"]) == 2
    assert "a report.html that consilience did not write" in capsys.readouterr().err
    assert held() == before


def test_a_folder_of_the_name_of_a_result_is_not_ours(capsys):
    assert main(LABELS) == 0
    Path("out/labels.csv").unlink()
    Path("out/labels.csv").mkdir()
    before = held()
    assert main([*LABELS, "--force"]) == 2
    assert "a labels.csv that consilience did not write" in capsys.readouterr().err
    assert held() == before


def test_a_file_is_not_taken_for_a_folder():
    Path("mine").write_text("mine")
    wanted = pytest.raises(InvalidParameterError, match="is a file, and the results need a folder")
    with wanted, taken(Path("mine"), "cluster"):
        pass
    assert Path("mine").read_text() == "mine"


@pytest.mark.skipif(sys.platform == "win32", reason="folders cannot be opened there")
def test_files_and_the_names_in_folders_are_brought_to_the_disk(monkeypatch):
    Path("kept").write_text("kept")
    opened, synced = [], []
    with monkeypatch.context() as patch:
        # Some systems bring to the disk only what was opened to be written.
        patch.setattr(os, "open", lambda path, flags: opened.append((path, flags)) or len(opened))
        patch.setattr(os, "fsync", synced.append)
        patch.setattr(os, "close", lambda handle: None)
        results._sync(Path("kept"))
        results._sync(Path())
    assert opened == [(Path("kept"), os.O_RDWR), (Path(), os.O_RDONLY)]
    assert synced == [1, 2]


def test_results_are_on_the_disk_before_the_list_that_moves_them(monkeypatch):
    synced = []
    monkeypatch.setattr(results, "_sync", lambda path: synced.append(path.name))
    assert main([*LABELS, "--no-report"]) == 0
    assert sorted(synced[:2]) == ["labels.csv", "timings.json"]
    assert synced[2] == "summary.json"  # it stands for all
    assert synced[3].endswith("commit")
    assert synced[4:] == ["stage", WORK, "out"]


def test_a_summary_cannot_give_away_files_of_the_user():
    assert main(LABELS) == 0
    summary = json.loads(Path("out/summary.json").read_text())
    summary["files"] += ["../data.csv", "mine.txt", "plan.json", None, ["labels.csv"]]
    Path("out/summary.json").write_text(json.dumps(summary))
    Path("out/mine.txt").write_text("mine")
    assert main([*AMBIGUOUS, "--force"]) == 0
    assert sorted(held()) == ["ambiguous.csv", "mine.txt", "summary.json", "timings.json"]
    assert Path("data.csv").exists()


@pytest.mark.parametrize(
    "text", ["", "\0\0", "[]", '["consilience"]', '"consilience"', "{", "[" * 100_000, '{"a": 1}']
)
def test_a_summary_that_is_not_ours_makes_nothing_ours(text, capsys):
    Path("out").mkdir()
    mine = {"summary.json": text.encode(), "labels.csv": b"mine"}
    for name, content in mine.items():
        Path("out", name).write_bytes(content)
    assert main([*LABELS, "--force"]) == 2
    assert "did not write" in capsys.readouterr().err
    assert held() == mine


@pytest.mark.parametrize("text", ["{", "[]", '"consilience_run"', "[" * 100_000, '{"a": 1}'])
def test_a_plan_that_is_not_ours_is_not_gone_on_with(text, capsys):
    Path("out").mkdir()
    Path("out/plan.json").write_text(text)
    for option in ("--resume", "--force"):
        assert main([*AMBIGUOUS, option]) == 2
        assert "plan.json that is damaged, or that consilience did not" in capsys.readouterr().err
    assert held() == {"plan.json": text.encode()}


def test_a_report_that_lost_its_summary_is_known_as_ours(capsys):
    assert main(LABELS) == 0
    for name in ("labels.csv", "summary.json", "timings.json"):
        Path("out", name).unlink()
    assert main(LABELS) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*LABELS, "--force"]) == 0
    assert sorted(held()) == ["labels.csv", "report.html", "summary.json", "timings.json"]


def test_results_of_a_version_that_named_no_files_can_be_replaced():
    assert main(LABELS) == 0
    summary = json.loads(Path("out/summary.json").read_text())
    del summary["files"]
    Path("out/summary.json").write_text(json.dumps(summary))
    Path("out/timings.json").unlink()
    assert main([*LABELS, "--force", "--no-report"]) == 0
    assert sorted(held()) == ["labels.csv", "summary.json", "timings.json"]


def test_a_table_that_is_there_is_not_replaced_without_force(counting, capsys):
    for name in ("counting.csv", "counting.md"):
        Path("out").mkdir(exist_ok=True)
        Path("out", name).write_text("mine")
        assert main(["reproduce", "counting", "--out", "out"]) == 2
        assert f"out/{name}' is there already" in capsys.readouterr().err.replace(os.sep, "/")
        assert held() == {name: b"mine"}
        Path("out", name).unlink()
