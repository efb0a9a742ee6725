"""Equal runs give equal files, whoever listens."""

import errno
import io
import json
import os
import subprocess
import sys

import pytest
from cli_folders.runs import (
    AMBIGUOUS,
    COMMAND,
    LABELS,
    MINORITY,
    elsewhere,
    held,
    timeless,
)

from consilience.cli import main

pytest.importorskip("cyclopts")


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


class Gone(io.StringIO):
    """An output that cannot be written to."""

    def __init__(self, number):
        super().__init__()
        # One of its own for every run: what is noted on it must not be heard from the next one.
        self.error = OSError(number, os.strerror(number))

    def write(self, text):
        raise self.error


@pytest.mark.parametrize(
    ("number", "status"), [(errno.EPIPE, 0), (errno.ENOSPC, 2)], ids=["gone", "full"]
)
@pytest.mark.parametrize(
    "words",
    [LABELS, [*LABELS, "--json"], MINORITY, AMBIGUOUS, ["reproduce", "counting", "--out", "out"]],
)
def test_results_are_written_though_nobody_listens(
    words, number, status, counting, capsys, monkeypatch
):
    assert main(elsewhere(words, "heard")) == 0
    capsys.readouterr()
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", Gone(number))
        assert main(words) == status
    said = capsys.readouterr().err
    if status:
        assert said == f"consilience: {os.strerror(number)}. The results are in 'out'.\n"
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
