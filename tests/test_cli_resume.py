"""Runs of the command line that are interrupted, killed, and gone on with."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from numba import config

from consilience.cli import main

pytest.importorskip("cyclopts")
pytestmark = [
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python"),
    pytest.mark.skipif(os.name == "nt", reason="signals of POSIX"),
]

COMMAND = [sys.executable, "-c", "import sys; from consilience.cli import main; sys.exit(main())"]
# Members written slowly, so that there are many moments to be killed between. A process that a
# shell started in the background ignores interrupts; this one must not.
SLOWLY = (
    "import signal, sys, time\n"
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "from consilience.cli import main\n"
    "from consilience.generate import checkpoint\n"
    "write = checkpoint.write_chunk\n"
    "def slow(*args):\n"
    "    time.sleep(0.02)\n"
    "    return write(*args)\n"
    "checkpoint.write_chunk = slow\n"
    "sys.exit(main())"
)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")


@pytest.fixture
def job():
    X = np.random.default_rng(0).normal(size=(120, 3))
    X[:60] += 3
    np.savetxt("data.csv", X, delimiter=",", header="a,b,c", comments="")
    # A quick method: what is tested are the members.
    return ["cluster", "data.csv", "-k", "2", "--members", "100", "--method", "eac", "--no-report"]


def members(folder):
    return list(Path(folder, "members").glob("[0-9]*.npz"))  # not those being written


# Two kills of processes begun anew; tests/fuzz/kills.py kills many more that were forked.
def test_killed_at_any_moment_and_resumed_is_the_uninterrupted_run(job):
    assert main([*job, "--out", "whole"]) == 0
    words = [*job, "--out", "killed"]
    draw = random.Random(0)
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", SLOWLY, *words, "--resume"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        # The first members take the longest; then a moment between any two of the others.
        deadline = time.monotonic() + 300
        aim = draw.randrange(1, 90)
        while process.poll() is None and time.monotonic() < deadline:
            if len(members("killed")) >= aim:
                break
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        if process.wait() == 0:  # on a busy machine it may end before it is killed
            break
    if process.returncode != 0:
        assert main([*words, "--resume"]) == 0
    same = ["labels.csv", "model.json", "model.npz", "summary.json"]
    for name in same:
        assert Path("killed", name).read_bytes() == Path("whole", name).read_bytes()
    left = sorted(path.name for path in Path("killed").iterdir())
    assert left == [*same, "timings.json"]


def test_ctrl_c_keeps_the_finished_members_and_says_how_to_go_on(job):
    process = subprocess.Popen(
        [sys.executable, "-c", SLOWLY, *job],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 300  # the first run may have to compile
    while len(members("consilience-data")) < 5 and time.monotonic() < deadline:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert out == ""
    assert "interrupted; " in err
    assert "of 100 clusterings are finished and kept in 'consilience-data'" in err
    advised = err.strip().rpartition("Go on with: consilience ")[2].split()
    kept = len(members("consilience-data"))
    assert 5 <= kept < 100
    assert main(advised) == 0
    assert not Path("consilience-data/plan.json").exists()


def test_an_interrupted_run_is_not_begun_again_by_mistake(job, capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("consilience.workflow._groups.consensus", stop)
        assert main(job) == 130
    capsys.readouterr()
    assert main(job) == 2
    said = capsys.readouterr().err
    assert "--resume" in said
    assert "--force" in said
    assert len(members("consilience-data")) == 100
    assert main([*job, "--force"]) == 0


def test_another_job_is_not_resumed(job, capsys, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("consilience.workflow._groups.consensus", stop)
        assert main(job) == 130
    capsys.readouterr()
    assert main([*job, "--resume", "--seed", "5"]) == 2
    said = capsys.readouterr().err
    assert "seed" in said or "random_state" in said
    assert "--force" in said
    # The command that was refused is not what to go on with.
    assert "kept in 'consilience-data' for --resume." in said
    assert "Go on with" not in said
    Path("data.csv").write_text(Path("data.csv").read_text().replace("1", "2"))
    assert main([*job, "--resume"]) == 2
    assert "data" in capsys.readouterr().err
    assert len(members("consilience-data")) == 100


def test_the_finished_members_serve_another_method(job, monkeypatch):
    def stop(*_, **__):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr("consilience.workflow._groups.consensus", stop)
        assert main(job) == 2
    # MCLA wants other members: those that are there are refused, and kept.
    mcla, lwea = ([name if word == "eac" else word for word in job] for name in ("mcla", "lwea"))
    assert main([*mcla, "--resume"]) == 2
    assert main([*lwea, "--resume"]) == 0
    found = json.loads(Path("consilience-data/summary.json").read_text())
    assert found["method"]["name"] == "lwea"


def test_nothing_to_resume_is_said_and_no_part_of_the_results(job, capsys):
    assert main([*job, "--resume"]) == 0
    assert "nothing to go on with" in " ".join(capsys.readouterr().out.split())
    assert main([*job, "--out", "plain"]) == 0
    for name in ("labels.csv", "summary.json"):
        assert Path("consilience-data", name).read_bytes() == Path("plain", name).read_bytes()


def test_labels_leave_nothing_to_resume(job, capsys):
    Path("labels.csv").write_text("a\n" + "0\n1\n" * 60)
    assert main([*job, "--labels", "labels.csv", "--resume"]) == 2
    assert "--labels" in capsys.readouterr().err
    assert not Path("consilience-data").exists()


@pytest.mark.parametrize("text", ['{"mine": 1}', "{", "[]"])
@pytest.mark.parametrize("words", [["minority"], ["cluster", "-k", "2"]])
def test_a_plan_of_somebody_else_is_refused_and_his_files_stay(job, words, text, capsys):
    mine = {"plan.json": text, "scores.csv": "mine", "labels.csv": "mine", "summary.json": "{}"}
    for name, held in mine.items():
        Path(name).write_text(held)
    for how in ("--force", "--resume")[: 1 + (words[0] == "cluster")]:
        assert main([words[0], "data.csv", *words[1:], "--out", ".", how]) == 2
        assert "did not write" in capsys.readouterr().err
    assert {name: Path(name).read_text() for name in mine} == mine
