"""Without a cluster, and with one that loses its workers: nothing changes, nothing is missing."""

import collections
import os
import random
import threading
import time

import numpy as np
import pytest
from scale.tables import SOME, STARTS, N, X, check_same, chunked, runs_in_memory

from consilience import _stored
from consilience.datasets import open_rows
from consilience.engines import blocks, engine_for
from consilience.engines.cpu import Cpu
from consilience.engines.dask import Cluster
from consilience.errors import ClusterLostError
from consilience.kernels._blocks import BLOCK_ROWS

distributed = pytest.importorskip(
    "distributed", reason="the extra 'distributed' is not installed: nothing of Dask is tested"
)
dask = pytest.importorskip("dask")

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small pieces, and nothing that is fitted to samples because it is small."""
    monkeypatch.setattr(_stored, "BLOCK", 3 * BLOCK_ROWS)
    monkeypatch.setattr(blocks, "_SAMPLES", 0)


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


def kill_at_random(client, over, killed):
    """Kill a worker's process at random moments, until the work is over."""
    while not over.wait(random.expovariate(1 / 0.4)):
        workers = list(client.scheduler_info(n_workers=-1)["workers"])
        if len(workers) > 1:
            client.run(os._exit, 1, workers=[random.choice(workers)], wait=False, on_error="ignore")
            killed.append(time.monotonic())


def test_workers_killed_at_random_change_nothing():
    wanted = Cpu(X).lloyd(STARTS, objects=SOME, max_iter=6)
    with (
        # Every task may be at work on a worker that is killed, many times over.
        dask.config.set({"distributed.scheduler.allowed-failures": 1000}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        over, killed = threading.Event(), []
        killer = threading.Thread(target=kill_at_random, args=(client, over, killed))
        killer.start()
        try:
            for _ in range(60):
                engine = engine_for(open_rows(chunked(X, [3, 1, 1])).values)
                check_same(engine.lloyd(STARTS, objects=SOME, max_iter=6), wanted)
                if len(killed) >= 10:
                    break
        finally:
            over.set()
            killer.join()
    assert len(killed) >= 10


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
