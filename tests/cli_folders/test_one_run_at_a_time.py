"""A result folder has one run at a time, whoever else comes is refused."""

import errno
import os
from pathlib import Path

import pytest
from cli_folders.runs import (
    AMBIGUOUS,
    CLUSTER,
    LABELS,
    MINORITY,
    held,
)

from consilience._cli import locks
from consilience._cli.results import WORK, taken
from consilience.cli import main

pytest.importorskip("cyclopts")


@pytest.mark.parametrize("words", [LABELS, CLUSTER, MINORITY, AMBIGUOUS, ["demo", "--out", "out"]])
def test_a_folder_in_use_is_refused_with_the_name_of_the_run_that_has_it(words, capsys):
    with taken(Path("out"), "consilience cluster other.csv"):
        before = held()
        for how in ([], ["--force"], ["--resume"])[: 3 if words in (CLUSTER, AMBIGUOUS) else 2]:
            assert main([*words, *how]) == 2
            said = capsys.readouterr().err
            assert "Another run is working in 'out'" in said
            assert f"'consilience cluster other.csv', process {os.getpid()}" in said
            assert "--out" in said
        assert held() == before
    assert not Path("out").exists()


def test_whoever_comes_while_the_members_are_combined_is_refused(capsys, monkeypatch):
    from consilience.workflow import _groups

    consensus, others = _groups.consensus, []

    def meanwhile(*args, **kwargs):
        others.append(main([*CLUSTER, "--resume"]))
        return consensus(*args, **kwargs)

    monkeypatch.setattr(_groups, "consensus", meanwhile)
    assert main(CLUSTER) == 0
    assert others == [2]
    assert "Another run is working in 'out'" in capsys.readouterr().err
    assert sorted(held()) == ["labels.csv", "summary.json", "timings.json"]


@pytest.mark.parametrize("text", ["", "{", '{"process": 1, "command": "killed"}', "[" * 100_000])
def test_the_lock_of_a_process_that_is_gone_is_no_lock(text, capsys):
    Path("out", WORK).mkdir(parents=True)
    Path("out", WORK, "lock").write_text(text)
    assert main(LABELS) == 0
    assert sorted(path.name for path in Path("out").iterdir()) == [
        "labels.csv",
        "report.html",
        "summary.json",
        "timings.json",
    ]
    with taken(Path("out"), "x"):
        Path("out", WORK, "lock").write_text(text)
        assert main([*LABELS, "--force"]) == 2
    assert "Another run is working in 'out'" in capsys.readouterr().err


@pytest.mark.skipif(os.name == "nt", reason="a file in use cannot be removed there")
def test_a_lock_on_a_file_that_was_taken_away_meanwhile_is_no_lock(monkeypatch):
    path, lock = Path("here/lock"), locks._lock

    def ended(handle):  # whoever had it takes the file away between opening and locking
        monkeypatch.setattr(locks, "_lock", lock)
        path.unlink()
        return lock(handle)

    monkeypatch.setattr(locks, "_lock", ended)
    handle = locks.acquire(path, "x")
    assert os.path.samestat(os.fstat(handle), path.stat())
    assert locks.acquire(path, "y") is None
    locks.release(handle, path)
    assert not Path("here").exists()


@pytest.mark.skipif(os.name == "nt", reason="another kind of lock")
def test_a_file_system_without_locks_will_do(monkeypatch):
    import fcntl

    def flock(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", flock)
    assert main(LABELS) == 0
    assert not Path("out", WORK).exists()


@pytest.mark.skipif(os.name == "nt", reason="there are no such modes")
def test_a_lock_can_be_read_and_written_but_not_run(tmp_path):
    before = os.umask(0)
    try:
        handle = locks.acquire(tmp_path / "deep" / "er" / "lock", "a command")
    finally:
        os.umask(before)
    path = tmp_path / "deep" / "er" / "lock"
    assert path.stat().st_mode & 0o777 == 0o666
    assert locks.holder(path) == f": 'a command', process {os.getpid()}"
    locks.release(handle, path)
    assert not path.exists()
