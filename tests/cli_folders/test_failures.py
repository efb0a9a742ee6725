"""What a failure, an interrupt or a refusal leaves in a result folder."""

import errno
from pathlib import Path

import pytest
from cli_folders.runs import (
    LABELS,
    elsewhere,
    held,
    timeless,
)

from consilience._cli.folders import check_writable
from consilience._cli.results import WORK
from consilience.cli import main
from consilience.errors import InvalidParameterError

pytest.importorskip("cyclopts")


@pytest.mark.parametrize("older", [False, True])
@pytest.mark.parametrize("name", ["labels.csv", "report.html", "summary.json"])
def test_a_write_that_fails_leaves_everything_as_it_was(name, older, capsys, monkeypatch):
    if older:
        assert main([*LABELS, "--method", "mcla"]) == 0
    before = held()

    def full(path, *_, **__):
        path.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    places = {
        "labels.csv": ("consilience._cli.cluster.write_labels", full),
        "report.html": ("consilience.report.write_report", lambda _, path, **__: full(path)),
        "summary.json": ("consilience._cli.jobs._write_text", full),
    }
    with monkeypatch.context() as patch:
        patch.setattr(*places[name])
        assert main([*LABELS, "--force"]) == 2
    assert "No space left on device" in capsys.readouterr().err
    assert held() == before
    assert Path("out").exists() == older
    Path("out").mkdir(exist_ok=True)
    assert main([*LABELS, "--force"]) == 0
    assert not Path("out", WORK).exists()


@pytest.mark.parametrize("name", ["labels.csv", "timings.json", "summary.json", "commit.json"])
def test_an_interrupt_while_files_are_moved_leaves_one_run_or_the_other(name, capsys, monkeypatch):
    assert main(elsewhere(LABELS, "calm")) == 0
    assert main([*LABELS, "--method", "mcla"]) == 0
    before, replace = timeless("out"), Path.replace

    def interrupted(self, target):
        if Path(target).name == name and Path(target).parent.name != "stage":
            monkeypatch.setattr(Path, "replace", replace)
            raise KeyboardInterrupt
        return replace(self, target)

    monkeypatch.setattr(Path, "replace", interrupted)
    assert main([*LABELS, "--force"]) == 130
    assert timeless("out") == (before if name == "commit.json" else timeless("calm"))
    told = "nothing was written" if name == "commit.json" else "finished, and are in 'out'"
    assert told in capsys.readouterr().err
    assert not Path("out", WORK).exists()


def test_what_a_killed_run_had_not_finished_is_cleared_by_any_other():
    place = Path("out", WORK)
    (place / "stage").mkdir(parents=True)
    (place / "scratch/run/members").mkdir(parents=True)
    for name in (
        f"{WORK}/stage/labels.csv",
        f"{WORK}/stage/.consilience-partial-x.csv",
        f"{WORK}/.consilience-partial-commit",
        f"{WORK}/scratch/run/members/0001.npz",
        ".consilience-partial-y.json",  # a plan that was being written
        ".consilience-partial-z.npz",  # not of a run: somebody may be saving an ensemble here
    ):
        Path("out", name).write_text("half")
    assert main(LABELS) == 0  # which keeps no members: a run that does clears its folder of those
    left = sorted(held())
    assert left[0] == ".consilience-partial-z.npz"
    assert "summary.json" in left
    assert not any("partial" in name for name in left[1:])
    assert not place.exists()


def test_a_list_that_cannot_be_read_is_no_list():
    assert main(LABELS) == 0
    before = held()
    for text in ("", "{", "[]", '{"move": []}', '{"move": 3, "remove": []}', "[" * 100_000):
        stage = Path("out", WORK, "stage")
        stage.mkdir(parents=True)
        (stage / "labels.csv").write_text("half")
        Path("out", WORK, "commit.json").write_text(text)
        assert main(LABELS) == 2
        assert held() == before


def test_a_refusal_makes_no_folder_and_removes_none(capsys):
    Path("mine").mkdir()
    for out in ("mine", "new/deep"):
        assert main([*elsewhere(LABELS, out), "--method", "none"]) == 2
        assert "There is no method" in capsys.readouterr().err
    assert Path("mine").is_dir()
    assert not Path("new").exists()
    Path("killed", WORK, "stage").mkdir(parents=True)  # the folder is what a killed run left
    assert main([*elsewhere(LABELS, "killed"), "--method", "none"]) == 2
    assert not Path("killed").exists()


def test_a_name_that_no_folder_can_have_is_refused():
    with pytest.raises(InvalidParameterError, match=r"cannot be the name of a folder.*--out"):
        check_writable(Path("a\0b"))
