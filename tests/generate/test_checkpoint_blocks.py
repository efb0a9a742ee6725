"""Data that are not in memory: a run that ends goes on where it was, member and block."""

import numpy as np
import pytest
from engines.test_blocks import Sliced

from consilience._stored import _table
from consilience.datasets import open_rows
from consilience.engines import _pieces, blocks, watched
from consilience.generate import KMeansEnsemble, RunFolder
from consilience.generate.checkpoint import ResumeError
from consilience.kernels._blocks import BLOCK_ROWS

RNG = np.random.default_rng(0)
N = 5 * BLOCK_ROWS + 77
X = RNG.normal(size=(N, 2)) + 5.0 * RNG.integers(0, 3, N)[:, None]
WAYS = {
    "samples": {"max_samples": 300},
    "rounds": {"max_iter": 5},
    "batches": {"algorithm": "minibatch", "max_iter": 5},
}


@pytest.fixture(autouse=True)
def pieces(monkeypatch):
    """Six pieces; everything that can lie in files does."""
    monkeypatch.setattr(_table, "BLOCK", 2 * BLOCK_ROWS)
    monkeypatch.setattr(_pieces, "_IN_MEMORY", 0)


def ensemble(way):
    return KMeansEnsemble(5, (2, 4), random_state=1, **WAYS[way])


def cut_short(maker, run, at):
    """Have a run end at the end of so many pieces of its last pass."""

    def tell(done, n):
        if run.n_pieces == at:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), watched(tell):
        maker.generate(open_rows(Sliced(X)), checkpoint=run)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("at", [1, 4])
def test_a_run_goes_on_with_the_blocks_that_are_missing(tmp_path, monkeypatch, way, at):
    if way == "rounds":
        monkeypatch.setattr(blocks, "_SAMPLES", 0)
    wanted = ensemble(way).generate(X)
    run = RunFolder(tmp_path)
    cut_short(ensemble(way), run, at)
    assert (run.n_pieces, run.finished, run.is_bare()) == (at, [], False)
    rows, seen = open_rows(Sliced(X)), []
    with watched(lambda done, n: seen.append(n)):
        found = ensemble(way).generate(rows, checkpoint=RunFolder(tmp_path))
    np.testing.assert_array_equal(found.members, wanted.members)
    # Two passes look at units, and whether the data are the same; then comes what is missing.
    assert seen == [6] * 12 + [6 - at] * (6 - at)
    assert (run.finished, run.n_pieces) == ([0, 1, 2, 3, 4], 0)
    assert [record["inertia"] for record in found.records] == [
        record["inertia"] for record in wanted.records
    ]
    again = ensemble(way).generate(open_rows(Sliced(X)), checkpoint=RunFolder(tmp_path))
    np.testing.assert_array_equal(again.members, wanted.members)
    run.clear()
    assert not list(tmp_path.iterdir())


def test_damaged_blocks_and_blocks_of_another_run_are_made_again(tmp_path):
    run = RunFolder(tmp_path)
    cut_short(ensemble("samples"), run, 3)
    (group,) = (tmp_path / "members").iterdir()
    assert group.name == "group-0000-0004"
    first, second, third = sorted(group.glob("0*.npz"))
    first.write_bytes(first.read_bytes()[:-100])
    second.write_bytes(b"")
    other = KMeansEnsemble(5, (2, 4), random_state=2, max_samples=300)
    cut_short(other, RunFolder(tmp_path.with_name("other")), 3)
    (theirs,) = (tmp_path.with_name("other") / "members").iterdir()
    third.write_bytes((theirs / third.name).read_bytes())
    found = ensemble("samples").generate(open_rows(Sliced(X)), checkpoint=run)
    np.testing.assert_array_equal(found.members, ensemble("samples").generate(X).members)


def test_other_data_are_refused_by_their_rows(tmp_path):
    run = RunFolder(tmp_path)
    cut_short(ensemble("samples"), run, 3)
    changed = X.copy()
    changed[3 * BLOCK_ROWS + 5] += 1
    with pytest.raises(ResumeError, match=r"other values, first among rows 12288 to 16383"):
        ensemble("samples").generate(open_rows(Sliced(changed)), checkpoint=run)
    with pytest.raises(ResumeError, match=r"type of the data was float64 in blocks, now float64"):
        ensemble("samples").generate(X, checkpoint=run)
    assert run.n_pieces == 3
