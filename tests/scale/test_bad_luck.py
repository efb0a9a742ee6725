"""Blocks that are not what their array says, and schedulers that die."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest
from scale.tables import X

import consilience as cs
from consilience._stored import _table
from consilience.cli import main
from consilience.engines import dask as engine
from consilience.errors import InvalidInputError
from consilience.generate import KMeansEnsemble
from consilience.generate._chunks import KeptPieces
from consilience.kernels._blocks import BLOCK_ROWS

distributed = pytest.importorskip(
    "distributed", reason="the extra 'distributed' is not installed: nothing of Dask is tested"
)
da = pytest.importorskip("dask.array")

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]

BAD = {
    "nan": (lambda block: np.where(np.arange(10)[:, None] == 4, np.nan, block), "7314.*Leave"),
    "columns": (lambda block: block[:, :2], "10 rows of 2 columns where 10 rows of 3"),
    "text": (lambda block: block.astype(str), "values of type <U32, not numbers"),
    "objects": (lambda block: block.astype(object), "values of type object, not numbers"),
    "empty": (lambda block: block[:0], "0 rows of 3 columns where 10 rows of 3"),
    "long": (lambda block: np.repeat(block, 2, axis=0), "20 rows of 3 columns where 10 rows"),
}


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)


@pytest.fixture(scope="module", params=["cluster", "here"])
def anywhere(request):
    """With workers, and without."""
    if request.param == "here":
        yield None
        return
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


@pytest.mark.parametrize("kind", BAD)
def test_a_bad_block_is_named_with_its_row(anywhere, kind):
    spoil, words = BAD[kind]

    def spoilt(block, block_info=None):
        return spoil(block) if block_info[0]["chunk-location"][0] == 731 else block

    array = da.from_array(X[:9000], chunks=(10, 3)).map_blocks(spoilt, meta=np.empty((0, 0)))
    with pytest.raises(InvalidInputError, match=r"row 731[04].*block 731; counted from 0") as found:
        KMeansEnsemble(2, 3, max_samples=100, random_state=0).generate(array)
    assert found.match(words)


def test_blocks_of_a_frame_with_other_types_are_named(anywhere):
    frames, pandas = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    table = frames.from_pandas(pandas.DataFrame(X[:900], columns=list("abc")), npartitions=9)

    def spoilt(part):
        return part.astype(str) if part.index[0] == 300 else part

    with pytest.raises(
        InvalidInputError, match=r"row 300 \(block 3; counted from 0\).*not numbers"
    ):
        cs.SEC(3, generator=KMeansEnsemble(2, 3, max_samples=100)).fit(
            table.map_partitions(spoilt, meta=table._meta)
        )


@pytest.fixture
def scheduler(tmp_path):
    """The process of a scheduler with one worker, and its address."""
    file = tmp_path / "scheduler.json"
    common = ["--scheduler-file", str(file), "--no-dashboard"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": tmp_path}
    dask = [sys.executable, "-m", "dask"]
    started = [subprocess.Popen([*dask, "scheduler", "--port", "0", *common], **quiet)]
    until = time.monotonic() + 120
    while not file.exists() or not file.read_text().strip():
        assert time.monotonic() < until
        time.sleep(0.05)
    one = [*dask, "worker", "--nthreads", "1", "--no-nanny", "--death-timeout", "5", *common]
    started.append(subprocess.Popen(one, **quiet))
    yield started[0], json.loads(file.read_text())["address"]
    for process in started:
        process.kill()
        process.wait()


def test_a_run_whose_scheduler_is_killed_goes_on_with_another(
    scheduler, tmp_path, monkeypatch, capsys
):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "_ANSWER", 2)
    np.save("big.npy", X)
    (process, address), put = scheduler, KeptPieces.put

    def then_kill(self, name, arrays):
        put(self, name, arrays)
        if name == "000001" and "0032" in self.folder.name:  # in the second group of members
            process.kill()
            process.wait()

    def run(where, *words):
        how = ["-k", "3", "--members", "40", "--no-report", "--no-keep", "--quiet"]
        return main(["cluster", "big.npy", *how, "--scheduler", where, *words])

    monkeypatch.setattr(KeptPieces, "put", then_kill)
    assert run(address, "--out", "run") == 2
    said = " ".join(capsys.readouterr().err.split())
    assert "The Dask cluster was lost" in said
    assert "32 of 40 clusterings are finished, and" in said
    assert "blocks of others, and kept in 'run' for --resume" in said
    assert not (tmp_path / "run" / "labels").exists()
    monkeypatch.setattr(KeptPieces, "put", put)
    with distributed.LocalCluster(
        n_workers=1, processes=False, protocol="tcp", dashboard_address=None
    ) as made:
        assert run(made.scheduler_address, "--out", "run", "--resume") == 0
        assert run(made.scheduler_address, "--out", "again") == 0
    part = "labels/part-0001.parquet"
    assert (tmp_path / "run" / part).read_bytes() == (tmp_path / "again" / part).read_bytes()
