"""Tables that do not fit: gone through in blocks by the command, written in parts, resumed."""

import json

import numpy as np
import pytest

import consilience as cs
from consilience._stored import _table
from consilience.cli import main
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.workflow import large

RNG = np.random.default_rng(0)
N = 2 * BLOCK_ROWS + 300
TRUTH = RNG.integers(0, 3, N)
X = RNG.normal(size=(N, 2)) + 8.0 * TRUTH[:, None] * [1, -1]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A Parquet file that counts as large; parts and a sample are parts of it."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(_table, "BLOCK", 2 * BLOCK_ROWS)
    monkeypatch.setattr(large, "_ALWAYS_READ", 0)
    monkeypatch.setattr(large, "_SAMPLE", 400)
    monkeypatch.setattr(large, "_PART", 3000)
    monkeypatch.chdir(tmp_path)
    columns = {"id": [f"n{i}" for i in range(N)], "a": X[:, 0], "b": X[:, 1]}
    pq.write_table(pa.table(columns), "big.parquet", row_group_size=2000)
    return "big.parquet"


def run(*words):
    return main(["cluster", *map(str, words)])


LARGE = ("--members", 5, "--max-memory", "1MiB", "--ignore", "id")


def parts_of(folder):
    parquet = pytest.importorskip("pyarrow.parquet")
    names = sorted(path.name for path in (folder / "labels").iterdir())
    tables = [parquet.read_table(folder / "labels" / name) for name in names]
    found = {
        name: np.concatenate([table[name].to_numpy() for table in tables])
        for name in tables[0].column_names
    }
    return names, found


def test_a_table_that_does_not_fit_is_read_in_blocks_and_written_in_parts(table, tmp_path, capsys):
    assert run(table, "-k", 3, *LARGE, "--out", "run") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "8,492 objects, 2 columns, read block by block" in said
    assert "400 of 8,492 objects, drawn at random" in said
    assert "more than the 0.000977 GiB of --max-memory: it is read block by block" in said
    assert "part-0001.parquet to part-0003.parquet" not in said  # three are all named
    names, parts = parts_of(tmp_path / "run")
    assert names == [f"part-000{i}.parquet" for i in (1, 2, 3)]
    wanted = cs.cluster(
        cs.open_rows(table, ignore=["id"]), 3, n_members=5, random_state=0, max_memory="1 MiB"
    )
    np.testing.assert_array_equal(parts["object"], np.arange(N))
    np.testing.assert_array_equal(parts["labels"], wanted.labels)
    np.testing.assert_array_equal(parts["confidence"], wanted.confidence)
    summary = json.loads((tmp_path / "run" / "summary.json").read_text())
    assert summary["sizes"] == wanted.sizes
    assert set(summary["files"]) >= {"labels/part-0003.parquet", "report.html", "model.npz"}
    assert "400 of 8,492 objects" in (tmp_path / "run" / "report.html").read_text()
    assert not (tmp_path / "run" / "plan.json").exists()
    assert main(["predict", "run", table, "--out", "new.csv"]) == 0
    assert len((tmp_path / "new.csv").read_text().splitlines()) == N + 1


def test_results_in_parts_replace_and_are_replaced(table, tmp_path, capsys):
    assert run(table, "-k", 3, *LARGE, "--out", "run", "--quiet") == 0
    assert run(table, "-k", 3, *LARGE, "--out", "run") == 2
    assert "holds the results of a run that was finished" in capsys.readouterr().err
    assert run(table, "-k", 2, *LARGE, "--out", "run", "--force", "--quiet") == 0
    assert set(parts_of(tmp_path / "run")[1]["labels"]) == {0, 1}
    np.save("small.npy", X[:200])
    assert run("small.npy", "-k", 3, "--members", 5, "--out", "run", "--force", "--quiet") == 0
    assert not (tmp_path / "run" / "labels").exists()
    (tmp_path / "run" / "labels").mkdir()
    (tmp_path / "run" / "labels" / "mine.txt").write_text("mine")
    assert run(table, *LARGE, "--out", "run", "--force") == 2
    assert "holds a labels that consilience did not write" in capsys.readouterr().err


def test_other_files_go_in_blocks_too(table, tmp_path, capsys):
    parts = tmp_path / "parts"
    parts.mkdir()
    (parts / "one.parquet").write_bytes((tmp_path / table).read_bytes())
    assert run("parts", "-k", 3, "--ignore", "id", "--members", 5, "--out", "folder", "--json") == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_objects"] == N
    assert any("as all files of its kind are" in note for note in summary["warnings"])
    np.save("big.npy", X)
    assert run("big.npy", "-k", 3, "--members", 5, "--out", "whole", "--quiet") == 0
    assert (tmp_path / "whole" / "labels.csv").exists()


def test_options_that_need_memory_are_refused(table, capsys):
    for option in (
        ["--refine"],
        ["--strict"],
        ["--log"],
        ["--compositional"],
        ["--weight", "a=2"],
        ["--known", "links.csv"],
        ["--methods", "sec,kcc"],
        ["--impute", "mean"],
        ["--sheet", "first"],
        ["--layer", "counts"],
        ["--ordinal", "a=x,y"],
    ):
        assert run(table, *LARGE, *option) == 2
        assert f"{option[0]} needs a table in memory" in capsys.readouterr().err
    assert run(table, *LARGE, "--method", "eac") == 2
    assert "Take 'lwgp'" in capsys.readouterr().err
    assert run(table, "--scheduler", "tcp://x:1", "--workers", 2) == 2
    assert "Give one of them" in capsys.readouterr().err
    assert run(table, "--workers", 0) == 2
    assert "--workers must be at least 1" in capsys.readouterr().err
    assert run(table, "--max-memory", "1MiB") == 2
    assert "'id' does not: leave them out" in capsys.readouterr().err


def test_an_interrupted_run_goes_on_with_the_blocks_that_are_missing(
    table, tmp_path, capsys, monkeypatch
):
    from consilience.generate._chunks import KeptPieces

    put, done = KeptPieces.put, []

    def interrupted(self, name, arrays):
        put(self, name, arrays)
        done.append(name)
        if name == "000001":
            raise KeyboardInterrupt

    monkeypatch.setattr(KeptPieces, "put", interrupted)
    assert run(table, "-k", 3, *LARGE, "--out", "run") == 130
    said = capsys.readouterr().err
    assert "0 of 5 clusterings are finished, and 2 blocks of others, and kept in 'run'" in said
    assert "--resume" in said
    monkeypatch.setattr(
        KeptPieces, "put", lambda self, name, a: (done.append(name), put(self, name, a))
    )
    del done[:]
    assert run(table, "-k", 3, *LARGE, "--out", "run", "--resume", "--quiet") == 0
    assert done == ["fit", "000002"]
    assert run(table, "-k", 3, *LARGE, "--out", "again", "--quiet") == 0
    for name in ("labels/part-0002.parquet", "summary.json", "model.npz"):
        assert (tmp_path / "run" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_a_full_disk_leaves_nothing_that_counts(table, tmp_path, capsys, monkeypatch):
    from consilience._cli import large as command

    def full(result, number, path):
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(command, "write_part", full)
    assert run(table, "-k", 3, *LARGE, "--out", "run") == 2
    said = capsys.readouterr().err
    assert "No space left on device" in said
    assert "5 of 5 clusterings are finished and kept in 'run'" in said
    assert not (tmp_path / "run" / "summary.json").exists()
    assert not (tmp_path / "run" / "labels").exists()
    monkeypatch.undo()


@pytest.mark.parametrize("limit", [2**12, 2**15])
def test_a_disk_that_is_really_full_leaves_nothing_that_counts(table, tmp_path, capsys, limit):
    resource = pytest.importorskip("resource", reason="files have no limit of size here")
    assert run(table, "-k", 3, *LARGE, "--no-report", "--out", "again", "--quiet") == 0
    # Python ignores the signal: a write past the limit is an error, as on a full disk. The
    # smaller one stops labels of blocks, the larger one the parts.
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
    try:
        assert run(table, "-k", 3, *LARGE, "--no-report", "--out", "run", "--quiet") == 2
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    said = capsys.readouterr().err
    assert "File too large" in said
    assert ("5 of 5 clusterings are finished" in said) == (limit == 2**15)
    there = [path.name for path in tmp_path.glob("run/**/*")]
    assert "summary.json" not in there
    assert "labels" not in there
    assert not [name for name in there if "partial" in name]
    assert run(table, "-k", 3, *LARGE, "--no-report", "--out", "run", "--resume", "--quiet") == 0
    part = "labels/part-0002.parquet"
    assert (tmp_path / "run" / part).read_bytes() == (tmp_path / "again" / part).read_bytes()
