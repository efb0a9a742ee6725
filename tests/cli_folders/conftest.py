"""A folder with a table and given labels, and an experiment that takes no time."""

from pathlib import Path

import numpy as np
import pytest

from consilience.experiments import EXPERIMENTS, Cell
from consilience.experiments._registry import experiment


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    X = np.random.default_rng(0).normal(size=(30, 2))
    X[:15] += 5
    np.savetxt("data.csv", X, delimiter=",", header="a,b", comments="")
    Path("made.csv").write_text("a,b\n" + "0,0\n0,1\n1,1\n" * 5)


@pytest.fixture
def counting():
    @experiment("counting", title="Counting", paper="Nobody (2026)", needs_data=False)
    def run(plan):
        for row in "abc":
            yield [Cell("1", "one", row, "A", (0.1, 0.2), 0.15)]

    yield
    del EXPERIMENTS["counting"]
