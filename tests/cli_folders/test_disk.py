"""What is on the disk at each step of a run, and what is left open."""

import errno
import os
from pathlib import Path

import pytest
from cli_folders.runs import held

from consilience._cli import folders, locks
from consilience._cli.results import WORK, FolderInUseError, taken
from consilience._files import PARTIAL
from consilience.cli import main
from consilience.errors import InvalidParameterError


def writing(text):
    return lambda path: path.write_text(text)


def test_what_is_published_is_there_at_once_and_what_it_replaces_is_gone():
    Path("out/labels").mkdir(parents=True)
    for name in ("labels/part-0001.npz", "labels/part-0002.npz", "old.txt", "mine.txt"):
        Path("out", name).write_text("old")
    with taken(Path("out"), "x") as results:
        scratch = results.scratch()
        assert (scratch.is_dir(), scratch.parent) == (True, Path("out", WORK))
        (scratch / "a").write_text("a")
        written = results.publish(
            {"last.txt": writing("1"), "labels/part-0001.npz": writing("2"), "a.txt": writing("3")},
            last="last.txt",
            replaces=["labels/part-0001.npz", "labels/part-0002.npz", "old.txt", "not there.txt"],
        )
        wanted = {
            "a.txt": b"3", "labels/part-0001.npz": b"2", "last.txt": b"1", "mine.txt": b"old",
        }  # fmt: skip
        assert {name: text for name, text in held().items() if WORK not in name} == wanted
        assert sorted(path.name for path in Path("out", WORK).iterdir()) == ["lock"]
    assert [path.as_posix() for path in written] == [
        "out/last.txt", "out/labels/part-0001.npz", "out/a.txt",
    ]  # fmt: skip
    assert held() == wanted
    with taken(Path("out"), "x") as results:
        results.publish(
            {"last.txt": writing("4")}, last="last.txt", replaces=["labels/part-0001.npz", "a.txt"]
        )
    assert held() == {"last.txt": b"4", "mine.txt": b"old"}
    assert not Path("out/labels").exists()  # no part is left in it


def test_results_that_cannot_be_moved_are_told_and_moved_by_the_next_run():
    Path("out/a.txt").mkdir(parents=True)
    with pytest.raises(OSError, match=r"a\.txt") as caught, taken(Path("out"), "x") as results:
        results.publish({"a.txt": writing("a"), "b.txt": writing("b")}, last="b.txt")
    assert caught.value.__notes__ == ["the results were finished, and are in 'out'"]
    Path("out/a.txt").rmdir()
    with taken(Path("out"), "y"):
        assert Path("out/a.txt").read_text() == "a"
    assert held() == {"a.txt": b"a", "b.txt": b"b"}
    assert not Path("out", WORK).exists()


def test_what_goes_away_while_it_is_cleared_is_no_failure(monkeypatch):
    glob = Path.glob

    def slow(self, pattern):
        yield from glob(self, pattern)
        if pattern.startswith(PARTIAL):  # it was there a moment ago
            yield self / f"{PARTIAL}gone.json"

    monkeypatch.setattr(Path, "glob", slow)
    with taken(Path("out"), "x") as results:
        results.publish({"a.txt": writing("a")}, last="a.txt")
    assert held() == {"a.txt": b"a"}
    assert not Path("out", WORK).exists()


def test_folders_are_taken_away_only_if_they_were_made_and_are_empty():
    Path("there").mkdir()
    for name in ("there/new/deep", "there"):
        with pytest.raises(KeyError), taken(Path(name), "x"):
            raise KeyError
        assert [path.name for path in Path("there").iterdir()] == []
    with taken(Path("there/new/deep"), "x"):
        Path("there/new/mine.txt").write_text("mine")
    assert [path.as_posix() for path in Path("there").rglob("*")] == [
        "there/new", "there/new/mine.txt",
    ]  # fmt: skip


def test_who_has_a_lock_is_said_whatever_stood_there_before():
    path = Path("out/lock")
    path.parent.mkdir()
    path.write_text('{"process": 1, "command": "' + "long " * 100 + '"}')
    handle = locks.acquire(path, "short")
    assert locks.holder(path) == f": 'short', process {os.getpid()}"
    locks.release(handle, path)
    assert not Path("out").exists()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="open files cannot be counted here")
def test_locks_leave_no_file_open(monkeypatch):
    def n_open():
        return len(os.listdir("/proc/self/fd"))

    before, still_there, answers = n_open(), locks._still_there, [False, False]
    with taken(Path("out"), "x"):
        for _ in range(3):
            with pytest.raises(FolderInUseError), taken(Path("out"), "y"):
                pass
        assert n_open() == before + 1
    assert n_open() == before
    # Whoever had it took the file away while it was opened.
    monkeypatch.setattr(
        locks, "_still_there", lambda *one: answers.pop() if answers else still_there(*one)
    )
    with taken(Path("out"), "x"):
        assert (answers, n_open()) == ([], before + 1)
    assert n_open() == before


def test_a_folder_that_goes_away_while_it_is_locked_is_made_again(monkeypatch):
    opened, gone = os.open, [FileNotFoundError(errno.ENOENT, "gone", "out/lock")] * 2

    def open_(path, *how, **more):
        if gone:
            raise gone.pop()
        return opened(path, *how, **more)

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", open_)
        handle = locks.acquire(Path("out/lock"), "x")
    assert locks.holder(Path("out/lock")) == f": 'x', process {os.getpid()}"
    locks.release(handle, Path("out/lock"))


def test_a_lock_that_never_can_be_taken_is_an_error_and_no_dead_loop(monkeypatch, tmp_path):
    monkeypatch.setattr(locks, "_still_there", lambda *_: False)
    with pytest.raises(OSError, match="The lock cannot be taken") as caught:
        locks.acquire(tmp_path / "lock", "x")
    assert (caught.value.errno, caught.value.filename) == (errno.EBUSY, str(tmp_path / "lock"))


def test_whoever_does_not_say_what_it_does_holds_a_lock_all_the_same():
    path = Path("lock")
    assert locks.holder(path) == ""
    for text in ("", "{", "[]", '{"process": 3}', '{"process": "x", "command": "a"}', "[" * 99_999):
        path.write_text(text)
        assert locks.holder(path) == ""
    path.write_text('{"process": 3, "command": "a b"}')
    assert locks.holder(path) == ": 'a b', process 3"


def test_a_summary_of_any_size_we_write_is_ours_and_no_larger_one(monkeypatch):
    Path("out").mkdir()
    Path("out/labels.csv").write_text("id,cluster\n")
    text = '{"consilience": "1", "files": ["labels.csv", "summary.json"]}'
    Path("out/summary.json").write_text(text)
    for most, said in ((len(text), "Replace them with --force"), (len(text) - 1, "did not write")):
        monkeypatch.setattr(folders, "_LARGEST", most)
        with pytest.raises(InvalidParameterError, match=said):
            folders.check_folder(Path("out"), "labels.csv", force=False, resume=False)


def test_a_page_is_ours_if_its_head_says_so():
    mark, head = folders._OURS_IN_PAGE, 10_000
    Path("out").mkdir()
    for before, ours in ((0, True), (head - len(mark), True), (head - len(mark) + 1, False)):
        Path("out/report.html").write_bytes(b" " * before + mark + b" " * 20_000)
        said = "Replace them with --force" if ours else "did not write"
        with pytest.raises(InvalidParameterError, match=said):
            folders.check_folder(Path("out"), "labels.csv", force=False, resume=False)


def test_the_demonstration_does_not_go_on_with_a_run(capsys):
    Path("out").mkdir()
    Path("out/plan.json").write_text('{"consilience_run": 1}')
    assert main(["demo", "--out", "out"]) == 2
    assert "holds a run that was interrupted" in capsys.readouterr().err
    assert held() == {"plan.json": b'{"consilience_run": 1}'}


PLANS = {"": None, "ours": '{"consilience_run": 1}', "lost power": "\0\0", "another's": '{"a": 1}'}
FOUND = {
    "": {},
    "ours": {"labels.csv": "", "summary.json": '{"consilience": "1", "files": ["labels.csv"]}'},
    "another's": {"labels.csv": ""},
    "parts": {
        "labels/part-0001.npz": "",
        "summary.json": '{"consilience": "1", "files": ["labels/part-0001.npz", "summary.json"]}',
    },
    "one part more": {
        "labels/part-0001.npz": "",
        "labels/part-0002.npz": "",
        "summary.json": '{"consilience": "1", "files": ["labels/part-0001.npz", "summary.json"]}',
    },
    "a file called labels": {"labels": ""},
}


@pytest.mark.parametrize("resume", [False, True])
@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("found", FOUND)
@pytest.mark.parametrize("plan", PLANS)
def test_a_folder_is_taken_only_where_nothing_is_lost_that_was_not_given_up(
    plan, found, force, resume
):
    facts = dict(FOUND[found])
    if found == "ours":
        facts["summary.json"] = facts["summary.json"].replace("]", ', "summary.json"]')
    Path("out/labels").mkdir(parents=True) if "part" in found else Path("out").mkdir()
    for name, text in (facts | {"plan.json": PLANS[plan]}).items():
        if text is not None:
            Path("out", name).write_text(text)
    begun = plan in ("ours", "lost power")
    if plan == "another's":
        said = "a plan.json that is damaged, or that consilience did not write"
    elif begun and not (force or resume):
        said = "a run that was interrupted"
    elif found in ("another's", "one part more", "a file called labels"):
        name = "labels.csv" if found == "another's" else "labels"
        said = f"a {name} that consilience did not write"
    elif found and not (force or begun):
        said = "the results of a run that was finished"
    else:
        earlier = folders.check_folder(Path("out"), "labels.csv", force=force, resume=resume)
        assert sorted(earlier) == sorted(facts)
        return
    with pytest.raises(InvalidParameterError, match=f"^'out' holds {said}"):
        folders.check_folder(Path("out"), "labels.csv", force=force, resume=resume)


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_parts_behind_a_link_are_not_ours():
    Path("mine").mkdir()
    Path("mine/part-0001.npz").write_text("")
    Path("out").mkdir()
    Path("out/summary.json").write_text(FOUND["parts"]["summary.json"])
    Path("out/labels").symlink_to(Path("mine").absolute())
    with pytest.raises(InvalidParameterError, match="a labels that consilience did not write"):
        folders.check_folder(Path("out"), force=True, resume=True)


def test_a_folder_below_a_file_cannot_be_written_to():
    Path("file").write_text("")
    for name, said in (
        ("file", "is a file, and the results need"),
        ("file/a/b", "file' is not a"),
    ):
        with pytest.raises(InvalidParameterError, match=said):
            folders.check_writable(Path(name))
    folders.check_writable(Path("new/deep"))
    folders.check_place(Path("new.csv"), "--out")
    with pytest.raises(InvalidParameterError, match=r"--out names .* there is no folder 'new'"):
        folders.check_place(Path("new/a.csv"), "--out")
    assert not Path("new").exists()


def test_a_file_that_is_not_there_is_told_with_the_nearest_name():
    folders.check_source(Path("data.csv"))
    for name, hint in (
        ("date.csv", " Did you mean 'data.csv'?"), ("zzz", ""), ("nowhere/data.csv", "")
    ):  # fmt: skip
        with pytest.raises(InvalidParameterError) as caught:
            folders.check_source(Path(name))
        assert str(caught.value) == f"There is no file {str(Path(name))!r}.{hint}"


def test_while_files_are_moved_nothing_says_that_they_belong_together(monkeypatch):
    Path("out").mkdir()
    Path("out/last.txt").write_text("old")
    replace, seen = Path.replace, {}

    def watched(self, target):
        seen[Path(target).name] = Path("out/last.txt").exists()
        return replace(self, target)

    with taken(Path("out"), "x") as results, monkeypatch.context() as patch:
        patch.setattr(Path, "replace", watched)
        results.publish(
            {"last.txt": writing("new"), "labels/part-0001.npz": writing("a")}, last="last.txt"
        )
    # Until the list is complete the earlier results are.
    assert seen == {"commit.json": True, "part-0001.npz": False, "last.txt": False}
    assert held() == {"last.txt": b"new", "labels/part-0001.npz": b"a"}


def test_what_a_killed_run_had_moved_stays_where_it_is():
    Path("out", WORK, "stage").mkdir(parents=True)
    Path("out", WORK, "commit.json").write_text('{"move": ["a.txt", "last.txt"], "remove": []}')
    for name in ("a.txt", "last.txt"):
        Path("out", name).write_text("new")
    with taken(Path("out"), "x"):
        assert not Path("out", WORK, "commit.json").exists()
    assert held() == {"a.txt": b"new", "last.txt": b"new"}


def test_what_was_needed_during_a_run_only_is_gone_after_it():
    with taken(Path("out"), "x") as results:
        (results.scratch() / "large").write_text("a")
    assert not Path("out").exists()
