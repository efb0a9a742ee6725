"""A cluster behind the command, EWOCS and any clusterers; TLS; workers that are let go."""

import json
import socket
import time

import joblib
import numpy as np
import pytest
from scale.tables import X, chunked
from sklearn.cluster import KMeans

import consilience as cs
from consilience._stored import _table
from consilience.cli import main
from consilience.engines import dask as engine
from consilience.engines import workers_at
from consilience.errors import ClusterLostError, InvalidInputError
from consilience.generate import EstimatorEnsemble, KMeansEnsemble
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.workflow import large

distributed = pytest.importorskip(
    "distributed", reason="the extra 'distributed' is not installed: nothing of Dask is tested"
)

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)
    monkeypatch.setattr(large, "_SAMPLE", 500)


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, protocol="tcp", dashboard_address=None
    ) as made:
        yield made


@pytest.fixture
def client(cluster):
    with distributed.Client(cluster) as client:
        yield client


def test_ewocs_and_minority_groups_have_the_bits_of_memory(client):
    how = {"n_repetitions": 6, "threshold": "dist", "n_clusters": 1, "random_state": 0}
    wanted = cs.EWOCS(**how).fit(X)
    array = chunked(X, [2, 1, 4])
    found = cs.minority_groups(array, **{**how, "random_state": 0})
    assert found.labels.chunks[0] == array.chunks[0]
    np.testing.assert_array_equal(found.scores.compute(), wanted.scores_)
    np.testing.assert_array_equal(found.labels.compute(), wanted.labels_)
    np.testing.assert_array_equal(found.model.standard_errors_, wanted.standard_errors_)


def test_clusterers_on_samples_and_joblib_on_the_cluster(client):
    maker = EstimatorEnsemble(KMeans(n_init=1), [2, 3], max_samples=300, random_state=0, n_jobs=2)
    wanted = maker.generate(X).members
    with joblib.parallel_config("dask", scatter=[X]):
        np.testing.assert_array_equal(maker.generate(X).members, wanted)
    found = maker.set_params(n_jobs=None).generate(chunked(X, [1, 1]))
    np.testing.assert_array_equal(found.members, wanted)


def test_the_command_gives_the_same_files_on_a_cluster(cluster, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    monkeypatch.chdir(tmp_path)
    np.save("big.npy", X)
    common = ["cluster", "big.npy", "-k", "3", "--members", "4", "--no-report", "--quiet"]
    monkeypatch.setattr(large, "_ALWAYS_READ", 0)
    assert main([*common, "--max-memory", "1MiB", "--out", "here"]) == 0
    address = cluster.scheduler_address
    assert main([*common, "--max-memory", "1MiB", "--scheduler", address, "--out", "there"]) == 0
    assert main([*common, "--workers", "1", "--out", "local"]) == 0
    part = "labels/part-0001.parquet"
    for folder in ("there", "local"):
        assert (tmp_path / folder / part).read_bytes() == (tmp_path / "here" / part).read_bytes()
    told = [json.loads((tmp_path / f / "summary.json").read_text()) for f in ("here", "there")]
    assert told[0]["sizes"] == told[1]["sizes"]


def test_nobody_at_an_address_is_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(engine, "_ANSWER", 1)
    np.save("big.npy", X)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
    assert main(["cluster", "big.npy", "--scheduler", address]) == 2
    assert f"No Dask cluster answers at '{address}'" in capsys.readouterr().err
    assert not (tmp_path / "consilience-big-npy").exists()


def stored(path):
    """X in a file of the kind that its ending says."""
    if path.suffix == ".npy":
        np.save(path, X)
    elif path.suffix == ".zarr":
        made = pytest.importorskip("zarr").create_array(str(path), shape=X.shape, dtype=X.dtype)
        made[:] = X
    else:
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        pq.write_table(pa.table(dict(zip("abc", X.T, strict=True))), path, row_group_size=1000)
    return path


@pytest.mark.parametrize("name", ["x.npy", "x.zarr", "x.parquet"])
def test_a_file_that_workers_cannot_open_is_said(client, tmp_path, name):
    rows = cs.open_rows(stored(tmp_path / name), on_workers=True)
    (tmp_path / name).rename(tmp_path / "elsewhere")
    with pytest.raises(InvalidInputError, match=rf"A worker cannot open '{name}'"):
        KMeansEnsemble(2, 3, max_samples=50).generate(rows)


def test_a_damaged_file_is_no_lost_cluster(client, tmp_path):
    path = stored(tmp_path / "x.parquet")
    whole = path.read_bytes()
    path.write_bytes(whole[:200_000] + b"\xff" * 5000 + whole[205_000:])
    with pytest.raises(
        InvalidInputError, match=r"'x.parquet' cannot be read at row \d+000 \(row g"
    ):
        cs.cluster(cs.open_rows(path, on_workers=True), 3, n_members=3)


def test_a_block_that_its_task_cannot_read_is_no_lost_cluster(client):
    def unread(block):
        raise OSError("the tape is torn")

    array = chunked(X, [1, 1]).map_blocks(unread, meta=np.empty((0, 0)))
    with pytest.raises(InvalidInputError, match=r"cannot read its part.*the tape is torn"):
        cs.cluster(array, 3, n_members=3)


def test_bad_blocks_of_a_file_are_named_on_workers(client, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    broken = X.copy()
    broken[7311, 1] = np.nan
    table = pa.table(dict(zip("abc", broken.T, strict=True)))
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=10)
    with pytest.raises(InvalidInputError, match=r"row 7311, column 'b' \(row group 731 of 'x.pa"):
        cs.cluster(cs.open_rows(tmp_path / "x.parquet", on_workers=True), 3)


def held(client):
    """Keys that the scheduler holds for anybody."""
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


@pytest.mark.parametrize("at", ["generate", "consensus"])
def test_an_interrupted_job_lets_go_of_the_workers_memory(client, at):
    class Stop:
        def setup(self, estimator, context): ...
        def teardown(self, estimator, context): ...
        def on_fit_task_end(self, estimator, context): ...
        def on_fit_task_begin(self, estimator, context):
            if context.task_name == at:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:  # the traceback keeps all frames
        cs.cluster(chunked(X, [1, 2]), 3, n_members=3, random_state=0, callbacks=[Stop()])
    until = time.monotonic() + 20
    while held(client) and time.monotonic() < until:
        time.sleep(0.05)
    assert held(client) == 0
    assert kept.type is KeyboardInterrupt


def test_a_scheduler_with_tls_is_used_as_any():
    pytest.importorskip("cryptography", reason="temporary keys need the package 'cryptography'")
    safe = distributed.security.Security.temporary()
    maker = KMeansEnsemble(3, 3, max_samples=300, random_state=0)
    wanted = maker.generate(X).members
    with (
        distributed.LocalCluster(
            n_workers=1, processes=False, protocol="tls", security=safe, dashboard_address=None
        ) as made,
        distributed.Client(made, security=safe),
    ):
        assert made.scheduler_address.startswith("tls://")
        np.testing.assert_array_equal(maker.generate(chunked(X, [2, 3])).members, wanted)


def test_a_scheduler_with_tls_asks_for_certificates():
    with (
        pytest.raises(ClusterLostError, match=r"TLS expects.*Name the certificates"),
        workers_at("tls://127.0.0.1:1"),
    ):
        pass


def test_local_workers_are_made_and_let_go(tmp_path):
    with workers_at("local", 1, 2**31) as client:
        assert len(client.nthreads()) == 1
    with pytest.raises(ValueError, match=r"[Nn]o client"):
        distributed.default_client()


def test_a_lost_scheduler_keeps_blocks_and_the_run_goes_on(tmp_path):
    from consilience.engines import watched
    from consilience.generate import RunFolder

    maker = KMeansEnsemble(4, (2, 5), max_samples=300, random_state=0)
    wanted, run = maker.generate(X).members, RunFolder(tmp_path)
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as made,
        distributed.Client(made) as client,
        watched(lambda done, n: client.close() if run.n_pieces == 2 else None),
        pytest.raises(ClusterLostError, match="cluster was lost"),
    ):
        maker.generate(chunked(X, [1, 2]), checkpoint=run)
    assert 2 <= run.n_pieces <= 4
    with (
        distributed.LocalCluster(n_workers=2, processes=False, dashboard_address=None) as made,
        distributed.Client(made),
    ):
        found = maker.generate(chunked(X, [3, 1, 1]), checkpoint=run)
    np.testing.assert_array_equal(found.members, wanted)
