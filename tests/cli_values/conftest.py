"""A folder for every command, and a table to cluster."""

from pathlib import Path

import pytest
from cli_values.read_back import K, N

from consilience.datasets import make_gaussians


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Run every command in a folder of its own, wide enough for whole lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "250")
    monkeypatch.delenv("FORCE_COLOR", raising=False)


@pytest.fixture
def blobs():
    """Write ``blobs.csv``: three groups that overlap; returns the data and the groups."""
    X, y = make_gaussians(N, K, 2, separation=3, random_state=1)
    X = X.round(6)
    lines = [f"o{i},{a:.6f},{b:.6f},g{c}" for i, ((a, b), c) in enumerate(zip(X, y, strict=True))]
    Path("blobs.csv").write_text("name,x,y,group\n" + "\n".join(lines) + "\n")
    return X, y
