"""Without a cluster, and with one that loses its workers: nothing changes, nothing is missing."""

import collections
import random
import threading
import time

import numpy as np
import pytest
from scale.tables import SOME, STARTS, N, X, check_same, chunked, runs_in_memory

import consilience as cs
from consilience import _stored
from consilience.datasets import open_rows
from consilience.engines import blocks, engine_for
from consilience.engines.dask import Cluster
from consilience.errors import ClusterLostError
from consilience.generate import KMeansEnsemble
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.workflow import large

distributed = pytest.importorskip(
    "distributed", reason="the extra 'distributed' is not installed: nothing of Dask is tested"
)
dask = pytest.importorskip("dask")
KillWorker = pytest.importorskip("distributed.chaos").KillWorker

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small pieces, and nothing that is fitted to samples because it is small."""
    monkeypatch.setattr(_stored, "BLOCK", 3 * BLOCK_ROWS)
    monkeypatch.setattr(blocks, "_SAMPLES", 0)
    monkeypatch.setattr(large, "_SAMPLE", 500)
    monkeypatch.setattr(large, "_PART", 3000)


def test_without_a_client_blocks_are_computed_here():
    rows = open_rows(chunked(X, [1, 2]))
    assert not isinstance(engine_for(rows.values)._pieces, Cluster)
    check_same(engine_for(rows.values).lloyd(STARTS, objects=SOME), runs_in_memory())
    np.testing.assert_array_equal(rows.take([N - 1, 0, 5]).values, X[[N - 1, 0, 5]])


def test_a_client_that_left_its_name_is_not_asked():
    rows = open_rows(chunked(X, [1, 2]))
    with dask.config.set(scheduler="dask.distributed"):
        np.testing.assert_array_equal(rows.take([N - 1, 0]).values, X[[N - 1, 0]])
        np.testing.assert_array_equal(rows.values.read(2, 9), X[2:9])


async def dying(dask_worker):
    """Have a worker's process end in a moment."""
    await KillWorker("10 ms", "segfault").setup(dask_worker)


def kill_at_random(client, over, killed):
    """Kill a worker's process at random moments, until the work is over; one is always left."""
    while not over.wait(random.expovariate(1 / 0.4)):
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        if len(workers) > 1:
            how = {"workers": [random.choice(workers)], "wait": False, "on_error": "ignore"}
            client.run(dying, **how)
            killed.append(time.monotonic())


def test_workers_killed_at_random_change_nothing(tmp_path):
    maker = KMeansEnsemble(3, (2, 5), max_iter=6)
    how = {"generator": maker, "method": "lwgp", "random_state": 0}
    wanted = cs.cluster(X, 3, **how).labels
    with (
        # Every task may be at work on a worker that is killed, many times over.
        dask.config.set({"distributed.scheduler.allowed-failures": 1000}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        over, killed = threading.Event(), []
        killer = threading.Thread(target=kill_at_random, args=(client, over, killed))
        killer.start()
        try:
            for _ in range(60):
                found = cs.cluster(chunked(X, [3, 1, 1]), 3, **how)
                np.testing.assert_array_equal(found.labels.compute(scheduler="sync"), wanted)
                if len(killed) >= 10:
                    break
        finally:
            over.set()
            killer.join()
    assert len(killed) >= 10
    found.save(tmp_path / "run")
    names = sorted(path.name for path in (tmp_path / "run" / "labels").iterdir())
    assert names == [f"part-000{number}.parquet" for number in range(1, -(-N // 3000) + 1)]
    objects = np.concatenate([part_objects(tmp_path / "run" / "labels" / name) for name in names])
    np.testing.assert_array_equal(objects, np.arange(N))


def part_objects(path):
    parquet = pytest.importorskip("pyarrow.parquet")
    return parquet.read_table(path)["object"].to_numpy()


def test_a_cluster_that_is_lost_is_said_so():
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        engine = engine_for(open_rows(chunked(X, [1, 2])).values)
        engine.column_facts()
        end = threading.Timer(0.5, cluster.close)
        end.start()
        with pytest.raises(ClusterLostError, match=r"cluster was lost.*Start it again"):
            collections.deque(iter(engine.column_facts, None), maxlen=0)
        end.join()
        with pytest.raises(ClusterLostError, match=r"cluster was lost"):
            engine.lloyd(STARTS)
