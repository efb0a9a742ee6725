"""Result folders: who may write there, what is replaced, what a failure leaves."""

import errno
import io
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from consilience._cli import locks, results
from consilience._cli.folders import check_writable
from consilience._cli.results import WORK, taken
from consilience.cli import main
from consilience.errors import InvalidParameterError
from consilience.experiments import EXPERIMENTS, Cell
from consilience.experiments._registry import experiment
from consilience.generate import KMeansEnsemble

pytest.importorskip("cyclopts")

COMMAND = [sys.executable, "-c", "import sys; from consilience.cli import main; sys.exit(main())"]
LABELS = ["cluster", "--labels", "made.csv", "-k", "2", "--out", "out"]
CLUSTER = ["cluster", "data.csv", "-k", "2", "--members", "6", "--no-report", "--out", "out"]
MINORITY = ["minority", "data.csv", "--repetitions", "5", "--no-report", "--out", "out"]
AMBIGUOUS = ["ambiguous", "data.csv", "-k", "2", "--members", "6", "--out", "out", "--no-report"]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[:15] += 5
    np.savetxt("data.csv", X, delimiter=",", header="a,b", comments="")
    Path("made.csv").write_text("a,b\n" + "0,0\n0,1\n1,1\n" * 5)


def held(folder="out"):
    """Files of a folder with their contents."""
    paths = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def timeless(folder):
    return {name: text for name, text in held(folder).items() if name != "timings.json"}


def elsewhere(words, folder):
    return [folder if word == "out" else word for word in words]


def stopped(words, monkeypatch):
    """Interrupt a run when its members are made."""

    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(STOPS[words[0]], stop)
        assert main(words) == 130


STOPS = {
    "cluster": "consilience.workflow.clusters._consensus",
    "ambiguous": "consilience._cli.ambiguous.Flagged",
}


# ---- one run at a time ----------------------------------------------------------------------


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
    from consilience.workflow import clusters

    consensus, others = clusters._consensus, []

    def meanwhile(*args, **kwargs):
        others.append(main([*CLUSTER, "--resume"]))
        return consensus(*args, **kwargs)

    monkeypatch.setattr(clusters, "_consensus", meanwhile)
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


# ---- what is replaced, and what is not ------------------------------------------------------


def test_results_of_another_job_are_replaced_whole_and_files_of_the_user_stay():
    Path("out/deep").mkdir(parents=True)
    mine = {"deep/mine.txt": "1", "labels.csv.bak": "2", ".consilience-mine": "3"}
    for name, text in mine.items():
        Path("out", name).write_text(text)
    assert main(LABELS) == 0
    assert "report.html" in held()
    for words, files in (
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


# ---- failures -------------------------------------------------------------------------------


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
        "report.html": ("consilience.report.write_report", lambda _, path: full(path)),
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
    assert main(MINORITY) == 0
    left = [".consilience-partial-z.npz", "scores.csv", "summary.json", "timings.json"]
    assert sorted(held()) == left
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


# ---- members that were kept -----------------------------------------------------------------


def members():
    return {name: text for name, text in held().items() if name.startswith("members/")}


@pytest.mark.skipif(os.name == "nt", reason="the folder of a run has no lock there")
def test_whoever_reads_the_members_does_not_spoil_the_results(monkeypatch):
    from consilience._cli import jobs
    from consilience.generate._chunks import locked

    with ExitStack() as stack:

        def meanwhile(found):
            assert stack.enter_context(locked(Path("out")))
            return writers(found)

        writers = jobs.all_writers
        monkeypatch.setattr(jobs, "all_writers", meanwhile)
        assert main(CLUSTER) == 0
    assert {"labels.csv", "summary.json", "timings.json", "plan.json"} <= held().keys()
    assert len(members()) == 6


def test_force_and_resume_together_keep_the_members(monkeypatch):
    assert main([*CLUSTER, "--seed", "3"]) == 0
    stopped([*CLUSTER, "--force"], monkeypatch)
    assert len(members()) == 6

    def none(*_, **__):
        raise AssertionError("a member is made anew")

    with monkeypatch.context() as patch:
        patch.setattr(KMeansEnsemble, "_members", none)
        assert main([*CLUSTER, "--force", "--resume"]) == 0
    assert main(elsewhere(CLUSTER, "calm")) == 0
    assert timeless("out") == timeless("calm")


@pytest.mark.parametrize(("error", "status"), [(KeyboardInterrupt, 130), (MemoryError, 2)])
def test_a_run_that_fails_while_it_is_gone_on_with_keeps_its_members(error, status, monkeypatch):
    stopped(CLUSTER, monkeypatch)
    for number in (1, 4):
        Path(f"out/members/000{number}.npz").unlink()
    before = held()

    def fail(*_, **__):
        raise error

    with monkeypatch.context() as patch:
        patch.setattr(KMeansEnsemble, "_members", fail)
        assert main([*CLUSTER, "--resume"]) == status
    assert held() == before
    plan = json.loads(Path("out/plan.json").read_text())
    Path("out/plan.json").write_text(json.dumps(plan | {"seeds": plan["seeds"][::-1]}))
    with monkeypatch.context() as patch:  # members of another run are somebody's work as well
        patch.setattr("consilience._cli.members.RunFolder.finished", [])
        assert main([*CLUSTER, "--resume"]) == 2
    assert held().keys() == before.keys()


def test_a_run_begun_by_force_is_gone_on_with_beside_the_results_it_replaces(monkeypatch):
    assert main([*CLUSTER, "--seed", "3"]) == 0
    before = held()
    stopped([*CLUSTER, "--force"], monkeypatch)
    assert {name: held()[name] for name in before} == before
    assert main([*CLUSTER, "--resume"]) == 0
    assert main(elsewhere(CLUSTER, "calm")) == 0
    assert timeless("out") == timeless("calm")


def _changed(plan, path):
    inner = plan
    for key in path[:-1]:
        inner = inner[key]
    value = inner[path[-1]]
    inner[path[-1]] = value + 1 if isinstance(value, int) else "1" + str(value)[1:]
    return plan


@pytest.mark.parametrize(
    "path",
    [
        ("n_members",),
        ("seeds", 2),
        ("data", "shape", 0),
        ("data", "shape", 1),
        ("data", "rows", 1),
        ("data", "digests", 0),
        ("versions", "numpy"),
        ("parameters", "random_state"),
    ],
)
def test_a_changed_plan_is_refused_and_no_member_is_lost(path, capsys, monkeypatch):
    stopped(CLUSTER, monkeypatch)
    plan = Path("out/plan.json")
    text = plan.read_text()
    plan.write_text(json.dumps(_changed(json.loads(text), path)))
    before = held()
    capsys.readouterr()
    assert main([*CLUSTER, "--resume"]) == 2
    said = capsys.readouterr().err
    assert "holds another run, and clusterings of two runs must not be mixed" in said
    assert "begin anew with --force" in said
    assert held() == before
    plan.write_text(text)
    assert main([*CLUSTER, "--resume"]) == 0
    assert sorted(held()) == ["labels.csv", "summary.json", "timings.json"]


DAMAGE = {
    "data": [{}, [], None, {"shape": [], "type": "", "rows": [], "digests": []}],
    "parameters": [[], None, "x"],
    "job": [None, 3],
    "versions": [None, []],
    "seeds": [None, "12", ["a"], [1.5]],
    "n_members": [None, "6", [], True],
    "generator": [None, 7],
}


@pytest.mark.parametrize(("part", "value"), [(k, v) for k, vs in DAMAGE.items() for v in vs])
def test_a_damaged_plan_is_told_in_words_and_nothing_is_lost(part, value, capsys, monkeypatch):
    stopped(AMBIGUOUS, monkeypatch)
    plan = Path("out/plan.json")
    plan.write_text(json.dumps(json.loads(plan.read_text()) | {part: value}))
    before = held()
    capsys.readouterr()
    for how in ("--resume", "--force"):
        assert main([*AMBIGUOUS, how]) == 2
        said = capsys.readouterr().err
        assert f"is damaged ('{part}' is missing" in said
        assert "Remove this file" in said
        assert len(said.splitlines()) == 1
    assert held() == before
    plan.unlink()
    with monkeypatch.context() as patch:  # what it advises finds the members again
        patch.setattr(KMeansEnsemble, "_members", None)
        assert main(AMBIGUOUS) == 0


@pytest.mark.parametrize("how", ["--resume", "--force"])
def test_a_plan_that_is_nested_or_huge_is_told_in_words(how, capsys, monkeypatch):
    for place in ("_cli.folders", "generate._plan"):
        monkeypatch.setattr(f"consilience.{place}._LARGEST", 1 << 20)
    stopped(AMBIGUOUS, monkeypatch)
    plan = Path("out/plan.json")
    text = plan.read_text().rstrip()[:-1]
    deep = '{"a":' * 300 + "1" + "}" * 300
    for more in (f', "job": {deep}', ', "job": ' + "[" * 100_000, " " * (1 << 20)):
        plan.write_text(f"{text}{more}}}")
        before = members()
        capsys.readouterr()
        assert main([*AMBIGUOUS, how]) == 2
        said = capsys.readouterr().err
        assert "damaged" in said
        assert "emove" in said
        assert members() == before


def test_a_plan_that_lost_its_contents_is_not_left_behind(monkeypatch):
    stopped(CLUSTER, monkeypatch)
    Path("out/plan.json").write_bytes(b"\0" * 10)
    assert main([*MINORITY, "--force"]) == 0
    assert sorted(held()) == ["scores.csv", "summary.json", "timings.json"]


# ---- equal runs, equal files ----------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ["cluster", "data.csv", "-k", "2", "--members", "6", "--methods", "eac,mcla"],
        ["ambiguous", "data.csv", "-k", "2", "--members", "6"],
        ["minority", "data.csv", "--repetitions", "5"],
    ],
)
def test_equal_runs_give_equal_files_but_for_the_times(words, monkeypatch):
    assert main([*words, "--out", "first"]) == 0
    clock = iter(range(0, 10**6, 1000))  # a machine on which everything takes long
    monkeypatch.setattr("time.perf_counter", lambda: float(next(clock)))
    how = ["--force", "--json"] + ["--resume"] * (words[0] != "minority")
    assert main([*words, "--out", "second/deep", *how]) == 0
    assert timeless("first") == timeless("second/deep")
    first, second = held("first"), held("second/deep")
    assert first["timings.json"] != second["timings.json"]
    if words[0] == "cluster":
        assert set(json.loads(first["timings.json"])["methods"]) == {"eac", "mcla"}


# ---- nobody listens -------------------------------------------------------------------------


class Gone(io.StringIO):
    """An output that cannot be written to."""

    def __init__(self, error):
        super().__init__()
        self.error = error

    def write(self, text):
        raise self.error


@pytest.fixture
def counting():
    @experiment("counting", title="Counting", paper="Nobody (2026)", needs_data=False)
    def run(plan):
        for row in "abc":
            yield [Cell("1", "one", row, "A", (0.1, 0.2), 0.15)]

    yield
    del EXPERIMENTS["counting"]


@pytest.mark.parametrize(
    ("error", "status"),
    [(BrokenPipeError(errno.EPIPE, "Broken pipe"), 0), (OSError(errno.ENOSPC, "No space left"), 2)],
)
@pytest.mark.parametrize(
    "words",
    [LABELS, [*LABELS, "--json"], MINORITY, AMBIGUOUS, ["reproduce", "counting", "--out", "out"]],
)
def test_results_are_written_though_nobody_listens(
    words, error, status, counting, capsys, monkeypatch
):
    assert main(elsewhere(words, "heard")) == 0
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Gone(error))
        assert main(words) == status
    said = capsys.readouterr().err
    if status:
        assert "No space left" in said
        assert "The results are in 'out'." in said
    else:
        assert said == ""
    assert timeless("out") == timeless("heard")


@pytest.mark.skipif(os.name == "nt", reason="pipes of POSIX")
@pytest.mark.parametrize("output", ["closed", "left"])
def test_a_real_process_without_a_listener_ends_well(output):
    reading, writing = os.pipe()
    os.close(reading)
    redirect = ">&-" if output == "closed" else ""
    done = subprocess.run(
        ["sh", "-c", f'exec "$@" {redirect}', "sh", *COMMAND, *LABELS],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(held()) == ["labels.csv", "report.html", "summary.json", "timings.json"]


def test_a_name_that_no_folder_can_have_is_refused():
    with pytest.raises(InvalidParameterError, match=r"cannot be the name of a folder.*--out"):
        check_writable(Path("a\0b"))
