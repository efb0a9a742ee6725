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

    def __init__(self, error):
        super().__init__()
        self.error = error

    def write(self, text):
        raise self.error


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
