"""Maps of files count as memory of the process no longer than somebody looks at them."""

from pathlib import Path

import numpy as np
import pytest

import consilience as cs
from consilience._maps import let_go
from consilience._stored import _table
from consilience.consensus import combine_blocks
from consilience.engines import _pieces, blocks
from consilience.generate import KMeansEnsemble
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.workflow import large

SMAPS = Path("/proc/self/smaps")
pytestmark = pytest.mark.skipif(not SMAPS.exists(), reason="nobody tells what is in memory here")


def resident(array):
    """Bytes of the map behind an array that are in memory."""
    at, inside = array.__array_interface__["data"][0], False
    for line in SMAPS.read_text().splitlines():
        first = line.split()[0]
        if not first.endswith(":"):
            start, stop = (int(edge, 16) for edge in first.split("-"))
            inside = start <= at < stop
        elif inside and first == "Rss:":
            return 1024 * int(line.split()[1])
    raise AssertionError("no map holds the array")


@pytest.fixture
def on_disk(monkeypatch):
    """Whatever is large for some table is on disk for this one."""
    monkeypatch.setattr(_pieces, "_IN_MEMORY", 0)
    monkeypatch.setattr(_table, "BLOCK", 6 * BLOCK_ROWS)
    monkeypatch.setattr(blocks, "_SAMPLES", 0)
    monkeypatch.setattr(large, "_PART", 6 * BLOCK_ROWS)


@pytest.mark.parametrize("mode", ["r", "r+", "c"])
def test_what_was_written_is_still_there(tmp_path, mode):
    np.save(tmp_path / "x.npy", np.zeros(2**20))
    values = np.load(tmp_path / "x.npy", mmap_mode=mode)
    if mode != "r":
        values[:] = 1.0
    wanted = values.sum()
    assert resident(values) > 2**22
    let_go(np.asarray(values)[5:], None, np.zeros(3))
    assert (resident(values) < 2**16) == (mode != "c")  # a copy has nowhere else to be
    assert values.sum() == wanted


def test_no_more_than_a_block_of_a_table_and_its_labels_counts(on_disk, tmp_path):
    X = np.random.default_rng(0).normal(size=(40 * BLOCK_ROWS, 3))
    np.save(tmp_path / "x.npy", X)
    rows = cs.open_rows(tmp_path / "x.npy")
    members = KMeansEnsemble(6, (2, 5), max_iter=2, random_state=0).generate(rows)
    found = combine_blocks(members, 3, "sec", random_state=0)
    for array in (rows.values._values, members.members, found.labels, found.confidence):
        assert resident(array) < array.nbytes / 4
    result = cs.cluster(rows, 3, n_members=6, random_state=0)
    result.save(tmp_path / "run")
    for array in (rows.values._values, result.ensemble.members, result.confidence):
        assert resident(array) < array.nbytes / 4


def test_a_table_of_many_pieces_takes_few_open_files(on_disk, monkeypatch):
    resource = pytest.importorskip("resource")
    X = np.random.default_rng(0).normal(size=(60 * BLOCK_ROWS, 1))
    monkeypatch.setattr(_table, "BLOCK", BLOCK_ROWS)
    before = len(list(Path("/proc/self/fd").iterdir()))
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (before + 40, hard))
    try:
        KMeansEnsemble(2, 3, max_iter=3, random_state=0).generate(cs.open_rows(X.view(np.memmap)))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_rows_that_were_read_or_taken_do_not_stay(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(2.0**20).reshape(-1, 2))
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    table = cs.open_rows(mapped).values
    assert table.read(0, len(mapped)).sum() == 2**19 * (2**20 - 1)
    assert resident(mapped) >= 2**22
    assert table.read(1, 2).tolist() == [[2.0, 3.0]]
    assert resident(mapped) < 2**18
    assert table.take(np.arange(len(mapped))).ravel().tolist() == list(range(2**20))
    assert resident(mapped) < 2**18


def test_labels_that_were_looked_at_do_not_stay(tmp_path):
    np.save(tmp_path / "labels.npy", np.arange(2**22, dtype=np.int8).reshape(2, -1) % 5)
    members = np.load(tmp_path / "labels.npy", mmap_mode="r")
    ensemble = cs.Ensemble._trusted(members)
    assert ensemble.n_clusters.tolist() == [5, 5]
    assert not ensemble.has_unseen
    assert resident(members) < 2**18
