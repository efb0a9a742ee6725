"""The command line: what it writes, what it prints, and how it refuses."""

import csv
import dataclasses
import errno
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba import config as numba_config

from consilience import EAC, AutoConsensus, Ensemble
from consilience._cli.folders import MODEL, PROFILE
from consilience.cli import main
from consilience.consensus import CONSENSUS
from consilience.datasets import make_gaussians, read_table
from consilience.generate import KMeansEnsemble

pytest.importorskip("cyclopts")

COMMAND = [sys.executable, "-c", "import sys; from consilience.cli import main; sys.exit(main())"]
FEW = ("--members", "5")

compiled = pytest.mark.skipif(bool(numba_config.DISABLE_JIT), reason="slow as plain Python")


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Run every command in a folder of its own, at 80 columns."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture
def groups():
    """Write ``groups.csv``: 30 objects in 3 clear groups, with names and known groups."""
    X, y = make_gaussians(30, 3, 2, separation=12, random_state=1)
    lines = [f"obj{i},{a:.6f},{b:.6f},g{c}" for i, ((a, b), c) in enumerate(zip(X, y, strict=True))]
    Path("groups.csv").write_text("name,x,y,group\n" + "\n".join(lines) + "\n")
    return ["groups.csv", "--id-column", "name", "--truth-column", "group"]


def written(folder):
    with Path(folder, "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return rows, json.loads(Path(folder, "summary.json").read_text())


def real(*words, **kwargs):
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, timeout=300, **kwargs)


# ---- what a run does ------------------------------------------------------------------------


def test_cluster_writes_labels_and_summary(groups, capsys):
    assert main(["cluster", *groups, "-k", "3", *FEW]) == 0
    rows, summary = written("consilience-groups")
    table = read_table("groups.csv", id_column="name", truth_column="group")
    known = ["id", "cluster", "confidence", "runner_up", "ambiguity", "doubtful"]
    assert list(rows[0]) == known
    assert [row["id"] for row in rows] == table.ids.tolist()
    assert all(0 <= float(row["confidence"]) <= 1 for row in rows)
    assert summary["n_clusters"] == 3
    assert summary["cluster_sizes"] == [10, 10, 10]
    assert summary["agreement_with_truth"]["consistency_index"] == 1
    assert summary["agreement_with_truth"]["ari"] == pytest.approx(1)
    assert summary["seed"] == 0
    assert summary["data"] == {
        "n_objects": 30,
        "columns": ["x", "y"],
        "columns_left_out": [],
        "rows_left_out": 0,
        "standardised": True,
    }
    assert summary["ensemble"]["n_members"] == 5
    assert summary["method"]["name"] == "autoconsensus"
    assert summary["clarity"]["verdict"] == "clear"
    timings = json.loads(Path("consilience-groups/timings.json").read_text())
    assert set(timings["seconds"]) == {"read", "generate", "consensus"}
    files = ["labels.csv", *PROFILE, *MODEL, "report.html", "timings.json", "summary.json"]
    assert summary["files"] == files
    assert summary["choice"] is None
    assert summary["comparison"] is None
    assert summary["warnings"] == []
    out = capsys.readouterr().out
    assert "30 objects, 2 columns of numbers, standardised" in out
    assert "3 clusters, as asked." in out
    assert "consistency index 1.000" in out
    assert "consilience-groups/labels.csv" in out.replace(os.sep, "/")
    assert "\x1b" not in out


def test_cluster_is_the_library_with_the_same_seed(groups):
    assert main(["cluster", *groups, "-k", "4", "--seed", "7", "--members", "6"]) == 0
    rows, summary = written("consilience-groups")
    X = read_table("groups.csv", id_column="name", truth_column="group").X
    model = AutoConsensus(4, generator=KMeansEnsemble(6), random_state=7)
    model.fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert [int(row["cluster"]) for row in rows] == model.labels_.tolist()
    np.testing.assert_allclose([float(row["confidence"]) for row in rows], model.confidence_, 1e-5)
    # The command in the summary gives the same again, and so do two workers.
    words = summary["command"].split()[1:]
    assert main([*words, "--out", "again", "--jobs", "2"]) == 0
    assert written("again")[0] == rows


def test_every_option_reaches_the_run(groups):
    words = ["-k", "2", "--linkage", "complete", "--no-scale", "--max-memory", "1 GiB"]
    assert main(["cluster", *groups, *words, "--out", "a/b", "--method", "eac", *FEW]) == 0
    _, summary = written("a/b")
    assert summary["data"]["standardised"] is False
    assert summary["method"]["parameters"]["linkage"] == "complete"
    assert summary["method"]["parameters"]["max_memory"] == "1 GiB"
    assert summary["n_clusters_chosen_by"] == "user"
    assert "--no-scale" in summary["command"]
    # Where the results are is no part of them.
    assert "out" not in summary["options"]
    assert "--out" not in summary["command"]


def test_the_number_of_clusters_may_be_left_to_the_method(groups, capsys):
    assert main(["cluster", *groups, "--linkage", "single", *FEW]) == 0
    _, summary = written("consilience-groups")
    assert summary["n_clusters_chosen_by"] == "method"
    assert summary["n_clusters"] == summary["n_clusters_candidates"][0] == 3
    assert "longest lifetime" in capsys.readouterr().out


def test_methods_without_lifetimes_say_who_chose(groups, capsys, monkeypatch):
    store = EAC._store

    def store_without(self, result):
        store(self, result)
        del self.lifetimes_

    monkeypatch.setattr(EAC, "_store", store_without)
    assert main(["cluster", *groups, "--linkage", "single", *FEW]) == 0
    assert "3 clusters, a number chosen by eac" in capsys.readouterr().out
    assert written("consilience-groups")[1]["n_clusters_candidates"] == []


def test_labels_alone_are_enough(capsys):
    Path("mine.csv").write_text("id,a,b,truth\np,0,x,1\nq,0,x,1\nr,1,y,2\ns,1,,2\n")
    assert main(["cluster", "--labels", "mine.csv", "-k", "2", "--truth-column", "truth"]) == 0
    rows, summary = written("consilience-mine")
    assert [row["id"] for row in rows] == ["p", "q", "r", "s"]
    assert [row["cluster"] for row in rows] == ["0", "0", "1", "1"]
    assert summary["ensemble"]["n_members"] == 2
    assert summary["agreement_with_truth"]["consistency_index"] == 1
    assert "2 clusterings, of 2 clusters each: given in mine.csv." in capsys.readouterr().out


def test_labels_may_come_with_data(groups):
    Ensemble(np.arange(90).reshape(30, 3) % 4).save("mine.npz")
    assert main(["cluster", *groups, "--labels", "mine.npz", "-k", "2"]) == 0
    rows, summary = written("consilience-groups")
    assert rows[0]["id"] == "obj0"
    assert summary["ensemble"]["from"] == "given in mine.npz."


def test_arrays_are_numbered_from_zero():
    np.save("x.npy", make_gaussians(12, 2, 3, random_state=0)[0])
    assert main(["cluster", "x.npy", "-k", "2", *FEW]) == 0
    rows, _ = written("consilience-x-npy")
    assert [row["id"] for row in rows] == [str(i) for i in range(12)]


def test_warnings_become_notes(capsys):
    rows = make_gaussians(20, 2, 2, random_state=3)[0].tolist()
    Path("bare.csv").write_text("".join(f"{a},{b},7\n" for a, b in rows))
    assert main(["cluster", "bare.csv", "-k", "2", *FEW]) == 0
    captured = capsys.readouterr()
    text = " ".join(captured.out.split())
    assert "Note: 'bare.csv' has no header line" in text
    assert "Note: Column 'c2' of 'bare.csv' has the same value in every row" in text
    assert "Warning" not in captured.out + captured.err
    _, summary = written("consilience-bare")
    assert len(summary["warnings"]) == 2
    assert summary["data"]["columns"] == ["c0", "c1"]
    assert summary["data"]["columns_left_out"] == ["c2"]


def test_a_second_run_replaces_the_first_only_by_force_and_nothing_else(groups, capsys):
    Path("consilience-groups").mkdir()
    Path("consilience-groups/mine.txt").write_text("keep")
    assert main(["cluster", *groups, "-k", "2", *FEW]) == 0
    capsys.readouterr()
    said = refused(capsys, "cluster", *groups, "-k", "3", *FEW)
    assert "--force" in said
    assert written("consilience-groups")[1]["n_clusters"] == 2
    assert main(["cluster", *groups, "-k", "3", "--force", *FEW]) == 0
    assert written("consilience-groups")[1]["n_clusters"] == 3
    names = sorted(path.name for path in Path("consilience-groups").iterdir())
    ours = ["labels.csv", *sorted(MODEL), *PROFILE, "report.html", "summary.json", "timings.json"]
    assert names == sorted(["mine.txt", *ours])


@compiled
def test_demo_needs_no_arguments(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "consensus: 100% right" in out
    share = int(re.search(r"k-means alone: (\d+)% right", out).group(1))
    assert share < 75
    assert "2 groups of any shape" in out
    assert all(len(line) <= 80 for line in out.partition("Try next")[0].splitlines())
    assert sorted(path.name for path in Path("consilience-demo").iterdir()) == [
        "labels.csv",
        *sorted(MODEL),
        *PROFILE,
        "report.html",
        "spirals.csv",
        "summary.json",
        "timings.json",
    ]
    rows, summary = written("consilience-demo")
    assert summary["agreement_with_truth"]["consistency_index"] == 1
    # What it advises to try next gives the same clusters.
    advised = re.search(r"^  consilience (cluster .*)$", out, re.MULTILINE).group(1)
    assert main(advised.split()) == 0
    assert written("consilience-spirals")[0] == rows


# ---- help, versions, tables -----------------------------------------------------------------


def test_help_imports_no_numpy():
    code = (
        "import sys; from consilience.cli import main\n"
        "for words in ['--help'], ['cluster', '--help'], ['--version'], ['bogus']:\n"
        "    main(words)\n"
        "assert not {'numpy', 'sklearn', 'numba'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", [[], ["--help"], ["cluster", "--help"], ["demo", "--help"]])
@pytest.mark.parametrize("width", ["80", "120"])
def test_help_is_there_at_any_width(words, width, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", width)
    assert main(words) == 0
    out = capsys.readouterr().out
    assert "consilience" in out
    assert max(map(len, out.splitlines())) <= int(width)
    if words[:1] == ["cluster"]:
        options = "-k --method --members --seed --out --labels --id-column --truth-column --linkage"
        more = "--no-scale --jobs --max-memory --methods --impute --encode --force --resume --json"
        for option in [*options.split(), *more.split(), "--quiet", "--no-report", "DATA"]:
            assert option in out


def test_version(capsys):
    from consilience import __version__

    assert main(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


def test_methods_lists_the_table(capsys):
    assert main(["methods"]) == 0
    out = capsys.readouterr().out
    assert all(re.search(rf"^ {name} ", out, re.MULTILINE) for name in CONSENSUS)


# ---- what is refused ------------------------------------------------------------------------

TEN = "a,b\n" + "".join(f"{i * i},{i % 3}\n" for i in range(10))
BAD_FILES = {
    "empty.csv": ("", "empty"),
    "blank.csv": ("\n\n", "blank"),
    "header.csv": ("a,b\n", "no data"),
    "strings.csv": ("a,b\n1,x\n2,y\n", "'b' (line 2, row 0: 'x')"),
    "nan.csv": ("a,b\n1,2\n,4\n", "'a' has 1 missing (first on line 3, row 1"),
    "ragged.csv": ("a,b\n1,2\n3\n", "line 3"),
    "one.csv": ("a,b\n1,2\n", "one object"),
    "same.csv": ("a,b\n1,2\n1,2\n", "nothing to cluster"),
    "cut.npy": (b"\x93NUMPY\x01\x00v\x00{'descr'", "cut short"),
    "cut.csv.gz": (b"\x1f\x8b\x08\x00\x00", "cut short"),
    "cut.parquet": (b"PAR1\x15", "arquet"),
    "sheet.ods": (b"PK", "must end in"),
}


def refused(capsys, *words):
    """The one message of a command that is refused and leaves nothing behind."""
    before = sorted(Path().rglob("*"))
    assert main(list(words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "Traceback" not in captured.err
    assert captured.err.startswith("consilience: ")
    assert len(captured.err.splitlines()) == 1
    assert sorted(Path().rglob("*")) == before
    return captured.err


@pytest.mark.parametrize(("content", "word"), BAD_FILES.values(), ids=BAD_FILES)
def test_bad_files(content, word, capsys, request):
    name = request.node.callspec.id
    Path(name).write_bytes(content if isinstance(content, bytes) else content.encode())
    message = refused(capsys, "cluster", name, "-k", "1")
    assert word in message
    assert name in message


def test_bad_label_files(capsys):
    Path("data.csv").write_text(TEN)
    Path("short.csv").write_text("m\n" + "0\n1\n" * 3)
    Path("data_again.csv").write_text("m,n\n0,0.5\n1,0.25\n")
    Path("named.csv").write_text("id,m\n" + "".join(f"x{i},{i % 2}\n" for i in range(10)))
    message = refused(capsys, "cluster", "data.csv", "--labels", "short.csv", "-k", "2")
    assert "10 rows, the labels 6" in message
    message = refused(capsys, "cluster", "--labels", "data_again.csv", "-k", "2")
    assert "'0.5' is not a label" in message
    Path("named_data.csv").write_text("id,v\n" + "".join(f"y{i},{i * i}\n" for i in range(10)))
    words = ["named_data.csv", "--id-column", "id", "--labels", "named.csv"]
    assert "row 0 is 'y0' in the data and 'x0'" in refused(capsys, "cluster", *words, "-k", "2")
    words = ["--labels", "named.csv", "--truth-column", "truth"]
    assert "no column 'truth'" in refused(capsys, "cluster", *words)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "needs data or labels"),
        (["none.csv"], "There is no file 'none.csv'"),
        (["."], "is a folder"),
        (["data.csv", "-k", "0"], "'-k' parameter of consilience cluster must be"),
        (["data.csv", "-k", "-1"], "at least 1"),
        (["data.csv", "-k", "two"], "-k"),
        (["data.csv", "-k", "11"], "more clusters than there are objects"),
        (["data.csv", "--method", "none"], "The methods are"),
        (["data.csv", "--members", "0"], "'--members' parameter"),
        (["data.csv", "--seed", "-4"], "'--seed' parameter"),
        (["data.csv", "--jobs", "0"], "'--jobs' parameter"),
        (["data.csv", "--max-memory", "much"], "'--max-memory' parameter"),
        (["data.csv", "--linkage", "centroid"], "'linkage' parameter of EAC"),
        (["data.csv", "--id-column", "who"], "no column 'who'"),
        (["data.csv", "--truth-column", "what"], "Its columns are 'a' and 'b'"),
        (["data.csv", "--id-column", "a", "--truth-column", "b"], "no columns of numbers"),
        (["data.csv", "--out", "data.csv"], "is a file"),
        (["data.csv", "--out", "data.csv/deeper"], "may write to"),
        (["data.csv", "more.csv"], "more.csv"),
        (["data.csv", "--colour", "red"], "--colour"),
        (["--labels", "none.csv"], "There is no file 'none.csv'"),
        (["--labels", "data.csv", "--id-column", "who"], "no column 'who'"),
    ],
)
def test_bad_arguments(words, said, capsys):
    Path("data.csv").write_text(TEN)
    assert said in refused(capsys, "cluster", *words)


def test_unknown_commands(capsys):
    assert "bogus" in refused(capsys, "bogus")


@pytest.mark.parametrize("name", ["labels.csv", "summary.json"])
def test_files_of_somebody_else_are_not_replaced(name, capsys):
    Path("data.csv").write_text(TEN)
    Path(name).write_text("{}" if name == "summary.json" else "m,n\n0,1\n")
    assert "did not write" in refused(capsys, "cluster", "data.csv", "--out", ".", *FEW)
    assert "did not write" in refused(capsys, "demo", "--out", ".")


def test_methods_ask_for_what_they_need(capsys, monkeypatch):
    picky = dataclasses.replace(CONSENSUS["eac"], name="picky", needs_data=True)
    monkeypatch.setitem(CONSENSUS, "picky", picky)
    Path("data.csv").write_text(TEN)
    words = ["cluster", "--labels", "data.csv", "--method", "picky", "-k", "2"]
    assert "'picky' needs the data" in refused(capsys, *words)


def test_a_disk_that_fills_up_leaves_only_what_can_be_gone_on_with(groups, capsys, monkeypatch):
    def full(path, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    words = ["cluster", *groups, "-k", "2", *FEW, "--out", "deep/down"]
    with monkeypatch.context() as patch:
        patch.setattr("consilience._cli.cluster.write_labels", full)
        assert main(words) == 2
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "5 of 5 clusterings are finished and kept in 'deep/down'" in said
    assert sorted(path.name for path in Path("deep/down").iterdir()) == ["members", "plan.json"]
    assert main([*words, "--resume"]) == 0
    assert "plan.json" not in [path.name for path in Path("deep/down").iterdir()]


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted; nothing was written"),
        (MemoryError(), 2, "not enough memory"),
        (OSError(errno.EACCES, "Permission denied", "data.csv"), 2, "Permission denied: data.csv"),
    ],
)
def test_what_happens_on_the_way_is_told_in_a_line(error, status, said, capsys, monkeypatch):
    def fail(*_, **__):
        raise error

    Path("data.csv").write_text(TEN)
    monkeypatch.setattr("consilience._cli.inputs.gather", fail)
    assert main(["cluster", "data.csv"]) == status
    captured = capsys.readouterr()
    assert said in captured.err
    assert len(captured.err.splitlines()) == 1
    assert [path.name for path in Path().iterdir()] == ["data.csv"]


def test_a_name_spelt_nearly_right_is_recognised(capsys):
    Path("data.csv").write_text(TEN)
    assert "Did you mean 'data.csv'?" in refused(capsys, "cluster", "dta.csv")


@pytest.mark.parametrize("package", ["cyclopts", "rich"])
def test_a_missing_package_is_named(package, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert "pip install 'consilience[cli]'" in refused(capsys, "demo")


# ---- as a process of its own ----------------------------------------------------------------


def test_a_real_run(groups):
    done = real("cluster", *groups, "-k", "3", *FEW)
    assert (done.returncode, done.stderr) == (0, "")
    assert "3 clusters, as asked." in done.stdout
    assert "\x1b" not in done.stdout
    assert len(written("consilience-groups")[0]) == 30


def test_a_real_refusal():
    done = real("cluster", "none.csv")
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == "consilience: There is no file 'none.csv'.\n"


@pytest.mark.skipif(os.name == "nt", reason="pipes and signals of POSIX")
def test_a_reader_that_leaves_is_no_error():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "methods"], stdout=writing, stderr=subprocess.PIPE, text=True, timeout=300
    )
    os.close(writing)
    assert done.stderr == ""
    assert done.returncode == 1


@pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")
def test_an_interrupt_leaves_nothing_behind(groups):
    code = (
        "import signal, sys\n"
        # What a shell started in the background ignores interrupts.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from consilience.cli import main\n"
        "from consilience.generate import KMeansEnsemble\n"
        "KMeansEnsemble._members = lambda *_: signal.raise_signal(signal.SIGINT)\n"
        "sys.exit(main())"
    )
    words = [sys.executable, "-c", code, "cluster", *groups, "-k", "3"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted; nothing was written\n"
    assert [path.name for path in Path().iterdir()] == ["groups.csv"]
