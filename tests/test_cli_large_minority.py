"""Dense groups in tables that do not fit: scored in blocks, written in parts, resumed."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience._stored import _table
from consilience.cli import main
from consilience.errors import InvalidParameterError
from consilience.generate import RunFolder
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.minority import _kept
from consilience.workflow import large

RNG = np.random.default_rng(0)
N = 2 * BLOCK_ROWS + 300
X = RNG.uniform(size=(N, 3))
X[::20] = 0.4 + 0.01 * RNG.normal(size=X[::20].shape)

LARGE = ("--max-memory", "1MiB", "--repetitions", 40, "--threshold", "dist", "-k", 1)
HOW = {"n_repetitions": 40, "threshold": "dist", "n_clusters": 1, "random_state": 0}


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A file that counts as large; parts and a sample are parts of it."""
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)
    monkeypatch.setattr(large, "_ALWAYS_READ", 0)
    monkeypatch.setattr(large, "_SAMPLE", 500)
    monkeypatch.setattr(large, "_PART", 3000)
    monkeypatch.setattr(_kept, "_PAUSE", 0.0)
    monkeypatch.chdir(tmp_path)
    np.save("big.npy", X)
    return "big.npy"


def run(*words):
    return main(["minority", *map(str, words)])


def parts_of(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    parts = [parquet.read_table(path) for path in sorted((folder / "labels").iterdir())]
    return {
        name: np.concatenate([part[name].to_numpy() for part in parts])
        for name in parts[0].column_names
    }


def test_scores_are_those_in_memory_and_go_into_parts(table, tmp_path, capsys):
    assert run(table, *LARGE, "--out", "run") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "8,492 objects, 3 columns, read block by block" in said
    assert "500 of 8,492 objects, drawn at random" in said
    wanted, found = cs.EWOCS(**HOW).fit(X), parts_of(tmp_path / "run")
    np.testing.assert_array_equal(found["object"], np.arange(N))
    np.testing.assert_array_equal(found["score"], wanted.scores_)
    np.testing.assert_array_equal(found["group"], wanted.labels_)
    np.testing.assert_array_equal(found["undecided"], wanted.undecided_)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["n_foreground"] == wanted.n_foreground_
    assert summary["looked_at"] == "500 of 8,492 objects, drawn at random"
    assert "500 of 8,492 objects" in (tmp_path / "run" / "report.html").read_text()
    assert not (tmp_path / "run" / "plan.json").exists()
    assert not (tmp_path / "run" / "members").exists()


def test_an_interrupted_run_goes_on_with_what_was_counted(table, tmp_path, capsys, monkeypatch):
    keep = _kept.KeptRepetitions.keep

    def interrupted(self, running, progress, *, now=False):
        keep(self, running, progress, now=now)
        if running.n_repetitions == 40 and not now:
            raise KeyboardInterrupt

    words = (table, *LARGE[:2], "--repetitions", 250, *LARGE[4:], "--out", "run", "--quiet")
    monkeypatch.setattr("consilience.minority._stopping._MANY_OBJECTS", 100)
    monkeypatch.setattr(_kept.KeptRepetitions, "keep", interrupted)
    assert run(*words) == 130
    said = capsys.readouterr().err
    assert "40 weak clusterings are counted and kept in 'run'" in said
    assert "--resume" in said
    counted = []

    def watching(self, running, progress, *, now=False):
        counted.append(running.n_repetitions)
        keep(self, running, progress, now=now)

    monkeypatch.setattr(_kept.KeptRepetitions, "keep", watching)
    assert run(*words) == 2
    assert "Go on with it by --resume" in capsys.readouterr().err
    assert run(*words, "--resume") == 0
    assert counted[0] == 60
    monkeypatch.setattr(_kept.KeptRepetitions, "keep", keep)
    assert run(*words[:-2], "again", "--quiet") == 0
    for name in ("labels/part-0002.parquet", "summary.json"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_another_run_is_not_gone_on_with(table, tmp_path, capsys, monkeypatch):
    keep = _kept.KeptRepetitions.keep

    def interrupted(self, running, progress, *, now=False):
        keep(self, running, progress, now=True)
        raise KeyboardInterrupt

    monkeypatch.setattr(_kept.KeptRepetitions, "keep", interrupted)
    assert run(table, *LARGE, "--out", "run", "--quiet") == 130
    monkeypatch.setattr(_kept.KeptRepetitions, "keep", keep)
    assert run(table, *LARGE, "--gamma", 3, "--out", "run", "--resume", "--quiet") == 2
    assert "gamma was 'distance', now 3.0" in capsys.readouterr().err
    np.save("big.npy", X + 1)
    assert run(table, *LARGE, "--out", "run", "--resume", "--quiet") == 2
    assert "the data have other values" in capsys.readouterr().err
    assert run(table, *LARGE, "--out", "run", "--force", "--quiet") == 0


def test_options_that_need_memory_are_refused(table, capsys):
    for option in (["--truth-column", "x", "--background", "0"], ["--impute", "mean"]):
        assert run(table, *LARGE, *option) == 2
        assert "needs a table in memory" in capsys.readouterr().err
    assert run(table, *LARGE, "--divergence", "kl") == 2
    assert "'divergence' parameter of EWOCS must be 'gaussian'" in capsys.readouterr().err
    assert run(table, "--scheduler", "tcp://x:1", "--workers", 2) == 2
    assert "Give one of them" in capsys.readouterr().err
    assert run(table, "--max-memory", "much") == 2
    assert "--max-memory" in capsys.readouterr().err


def test_a_full_disk_leaves_nothing_that_counts(table, tmp_path, capsys, monkeypatch):
    from consilience._cli import large_minority as command

    def full(result, number, path):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command, "write_part", full)
    assert run(table, *LARGE, "--out", "run") == 2
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "40 weak clusterings are counted and kept in 'run'" in said
    assert not (tmp_path / "run" / "summary.json").exists()
    assert not (tmp_path / "run" / "labels").exists()


def test_runs_of_data_in_memory_are_kept_too(tmp_path, monkeypatch):
    monkeypatch.setattr(_kept, "_PAUSE", 0.0)
    run, few = RunFolder(tmp_path), X[:900]
    wanted = cs.EWOCS(**HOW).fit(few)
    first = cs.EWOCS(**HOW).fit(few, checkpoint=run)
    assert run.n_repetitions == 40
    again = cs.EWOCS(**HOW).fit(few, checkpoint=run)
    for model in (first, again):
        for name in ("scores_", "labels_", "standard_errors_", "history_"):
            np.testing.assert_array_equal(getattr(model, name), getattr(wanted, name))
        np.testing.assert_array_equal(model.predict(few), wanted.predict(few))
    with pytest.raises(InvalidParameterError, match=r"'checkpoint'.*with 'sample_weight'"):
        cs.EWOCS(**HOW).fit(few, sample_weight=np.arange(900), checkpoint=run)
    found = cs.minority_groups(few, run=tmp_path / "other", **HOW)
    np.testing.assert_array_equal(found.scores, wanted.scores_)
