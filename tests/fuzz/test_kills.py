"""The bounded part of the kills and races: fixed seed, a sample of the steps of every job."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

pytest.importorskip("cyclopts")
pytestmark = [
    pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no processes to fork"),
]


def test_killed_jobs_run_again_to_the_same_files_and_two_at_once_are_refused():
    script = Path(__file__).with_name("kills.py")
    done = subprocess.run(
        [sys.executable, script, "--sample", "2", "--races", "4"],
        capture_output=True,
        text=True,
        timeout=550,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    counts = {
        line[8:]: int(line[:6])
        for line in done.stdout.splitlines()
        if line[:6].strip()[:1].isdigit()
    }
    # The trials are of use only if they reached every kind of state.
    assert counts["kills before a step"] == 14 * 2
    assert counts["races"] == 4
    for state in ("no summary", "summary of the earlier run", "summary of the new run", "resumed"):
        assert counts[state] > 1, counts
    assert counts["refused: in use"] > 0, counts
