"""The whole job on tables that are not in memory: the labels in memory, results in parts."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience._stored import _table
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate import KMeansEnsemble
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.workflow import LargeResult, large

RNG = np.random.default_rng(0)
N = 2 * BLOCK_ROWS + 100
TRUTH = RNG.integers(0, 3, N)
X = RNG.normal(size=(N, 3)) + 6.0 * TRUTH[:, None] * [1, -1, 100.0]
MEMBERS = KMeansEnsemble(6, (2, 6), max_samples=400)


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file of several pieces; a sample is a part of it."""
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)
    monkeypatch.setattr(large, "_SAMPLE", 500)
    monkeypatch.setattr(large, "_PART", 5000)
    path = tmp_path / "big.npy"
    np.save(path, np.column_stack([X, np.full(N, 7.0)]))
    return path


@pytest.mark.parametrize("scale", ["auto", False])
def test_labels_are_those_in_memory(table, scale):
    how = {"method": "lwgp", "generator": MEMBERS, "scale": scale, "random_state": 3}
    found = cs.cluster(table, 3, **how)
    wanted = cs.cluster(np.load(table), 3, **how)
    assert isinstance(found, LargeResult)
    np.testing.assert_array_equal(found.ensemble.members, wanted.ensemble.members)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    np.testing.assert_allclose(found.confidence, wanted.confidence, rtol=1e-6)
    assert (found.n_clusters, found.sizes) == (wanted.n_clusters, wanted.sizes)
    assert found.dropped == (("c3",) if scale else ())
    again = cs.cluster(cs.open_rows(str(table)), 3, **how)
    np.testing.assert_array_equal(again.labels, found.labels)


def test_the_number_is_found_in_a_sample_which_the_result_tells(table, tmp_path):
    found = cs.cluster(table, n_members=6, random_state=0, max_memory="1 GiB")
    assert (found.n_clusters, found.method, found.asked) == (3, "sec", None)
    assert any("looked for in 500 of 8,292 objects" in note for note in found.notes)
    assert "500 of 8,292 objects, drawn at random" in repr(found)
    assert cs.metrics.consistency_index(TRUTH, found.labels) == 1.0
    sample = found.sample
    np.testing.assert_array_equal(sample.labels, found.labels[sample.ids])
    new = np.load(table)[:200]
    np.testing.assert_array_equal(found.predict(new).labels, found.labels[:200])
    assert found.profile() is not None
    found.report(tmp_path / "page.html")
    assert "500 of 8,292 objects" in (tmp_path / "page.html").read_text()


def test_results_are_written_in_parts(table, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    found = cs.cluster(table, 3, method="sec", generator=MEMBERS, random_state=0)
    found.save(tmp_path / "run")
    parts = sorted((tmp_path / "run" / "labels").iterdir())
    assert [part.name for part in parts] == ["part-0001.parquet", "part-0002.parquet"]
    tables = [parquet.read_table(part) for part in parts]
    joined = {
        name: np.concatenate([t[name].to_numpy() for t in tables])
        for name in tables[0].column_names
    }
    np.testing.assert_array_equal(joined["object"], np.arange(N))
    for name in ("labels", "confidence", "runner_up"):
        np.testing.assert_array_equal(joined[name], getattr(found, name))
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert (summary["n_objects"], summary["sizes"]) == (N, found.sizes)
    assert summary["looked_at"] == found.of_how_many
    kept = cs.load(tmp_path / "run" / "sample")
    np.testing.assert_array_equal(kept.labels, found.sample.labels)
    with pytest.raises(InvalidInputError, match="is not empty"):
        found.save(tmp_path / "run")


def test_parts_without_pyarrow_are_archives(table, tmp_path, monkeypatch):
    found = cs.cluster(table, 2, method="sec", generator=MEMBERS, random_state=0)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    found.save(tmp_path / "run")
    with np.load(tmp_path / "run" / "labels" / "part-0002.npz") as part:
        np.testing.assert_array_equal(part["labels"], found.labels[5000:])


def test_what_needs_memory_is_refused_by_name(table):
    for name, value in {
        "methods": ["sec", "kcc"],
        "ids": range(N),
        "truth": TRUTH,
        "refine": True,
        "strict": True,
        "effort": "quick",
    }.items():
        with pytest.raises(
            InvalidParameterError, match=f"'{name}' parameter of cluster needs data"
        ):
            cs.cluster(table, 3, **{name: value})
    with pytest.raises(InvalidParameterError, match=r"Got 'eac' instead. Take 'lwgp'"):
        cs.cluster(table, 3, method="eac")
    with pytest.raises(InvalidInputError, match="Got the name of a file instead"):
        cs.cluster("table.xls")
    with pytest.raises(FileNotFoundError):
        cs.cluster("no-such.parquet")


def test_new_objects_are_placed_block_by_block(table, tmp_path):
    found = cs.cluster(table, 3, method="sec", generator=MEMBERS, random_state=0)
    wanted = found.predict(np.load(table))
    by_blocks = found.predict(table)
    for name in ("labels", "confidence", "runner_up", "unlike", "known"):
        np.testing.assert_array_equal(getattr(by_blocks, name), getattr(wanted, name))
    assert len(found.mean_confidences()) == 3
    for cluster, mean in enumerate(found.mean_confidences()):
        inside = np.asarray(found.labels) == cluster
        np.testing.assert_allclose(mean, np.asarray(found.confidence)[inside].mean(), rtol=1e-6)


def test_columns_of_blocks_are_matched_by_name(table, tmp_path):
    pytest.importorskip("pyarrow")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(np.load(table), columns=list("abcd"))
    frame.to_parquet(tmp_path / "own.parquet")
    result = cs.cluster(tmp_path / "own.parquet", 3, method="sec", generator=MEMBERS)
    wanted = result.predict(tmp_path / "own.parquet")
    assert wanted.notes == ()
    for other in (frame[list("dcba")], frame.drop(columns="d"), frame.assign(e=1.0)):
        other.to_parquet(tmp_path / "new.parquet")
        by_blocks, whole = result.predict(tmp_path / "new.parquet"), result.predict(other)
        np.testing.assert_array_equal(by_blocks.labels, wanted.labels)
        assert by_blocks.notes == whole.notes
    frame.rename(columns={"a": "z"}).to_parquet(tmp_path / "new.parquet")
    with pytest.raises(InvalidInputError, match="have no column 'a', which was clustered"):
        result.predict(tmp_path / "new.parquet")


def test_a_full_disk_leaves_nothing(table, tmp_path, monkeypatch):
    found = cs.cluster(table, 2, method="sec", generator=MEMBERS, random_state=0)

    def full(*given):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(large, "write_part", full)
    with pytest.raises(OSError, match="No space left"):
        found.save(tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_minority_groups_by_blocks_are_those_in_memory(table, tmp_path):
    values = np.load(table)[:, :3]
    values[:400] = [1.0, 2.0, 3.0] + 0.001 * RNG.normal(size=(400, 3))
    np.save(table, values)
    how = {"n_repetitions": 20, "threshold": "size", "n_foreground": 400, "n_clusters": 1}
    found = cs.minority_groups(table, random_state=0, **how)
    wanted = cs.minority_groups(values, random_state=0, **how)
    for name in ("labels", "scores", "undecided"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert (found.sizes, found.n_objects) == (wanted.sizes, N)
    assert "LargeMinorityResult" in repr(found)
    found.save(tmp_path / "run")
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["n_foreground"] == wanted.n_foreground
    assert len(list((tmp_path / "run" / "labels").iterdir())) == 2
    with pytest.raises(InvalidParameterError, match="'truth' parameter of minority_groups needs"):
        cs.minority_groups(table, truth=TRUTH)


def test_a_small_table_is_looked_at_whole_and_says_so(table, tmp_path):
    path = tmp_path / "small.npy"
    np.save(path, X[:300])
    found = cs.cluster(path, n_members=6, random_state=0, method="kcc")
    assert found.of_how_many == "all 300 objects"
    assert found.sample.ids.tolist() == list(range(300))
    assert found.sample.data.name == "small.npy"
    # Members of this method wait for the number, so it is found without them.
    assert any("looked for in 300 of 300 objects" in note for note in found.notes)
    assert found.n_clusters == 3
    assert (found.ensemble.n_clusters == 3).all()
