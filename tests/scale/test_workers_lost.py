"""Without a cluster, and with one that loses its workers: nothing changes, nothing is missing."""

import collections
import itertools
import random
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from scale.tables import SOME, STARTS, N, X, check_same, chunked, runs_in_memory

import consilience as cs
from consilience._stored import _table
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
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)
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


class Mortal:
    """A cluster with the scheduler here, and workers in processes that die for good."""

    def __init__(self, cluster, client):
        self.scheduler, self.client, self.started = cluster.scheduler, client, []

    def start_worker(self):
        how = ["--nthreads", "1", "--no-nanny", "--no-dashboard"]
        command = [sys.executable, "-m", "dask", "worker", self.scheduler.address, *how]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        self.started.append(subprocess.Popen(command, **quiet))

    def kill_at_random(self, mode):
        """Have Dask's own killer end a worker, at a moment that it draws."""
        self.client.wait_for_workers(2, timeout=60)  # one of them goes on

        async def infect(dask_worker):
            await KillWorker("500 ms", mode).setup(dask_worker)

        self.client.run(infect, workers=[random.choice(list(self.scheduler.workers))])

    def wait_for_deaths(self, n_dead):
        """Wait until so many processes have ended; sooner or later all that are killed do."""
        until = time.monotonic() + 60
        while sum(process.poll() is not None for process in self.started) < n_dead:
            assert time.monotonic() < until
            time.sleep(0.05)

    @property
    def lost(self):
        """Tasks that workers had done, or were at, when they died."""
        events = [event for _, event in self.scheduler.get_events("all")]
        gone = [event for event in events if event.get("action") == "remove-worker"]
        return [{*one["lost-computed-tasks"], *one["processing-tasks"]} for one in gone]


@pytest.fixture
def mortal():
    with (
        # Every task may be at work on a worker that is killed, many times over.
        dask.config.set({"distributed.scheduler.allowed-failures": 1000}),
        distributed.LocalCluster(n_workers=0, protocol="tcp", dashboard_address=None) as made,
        distributed.Client(made) as client,
    ):
        cluster = Mortal(made, client)
        yield cluster
        for process in cluster.started:
            process.kill()
            process.wait()


def part_of(path):
    """Numbers and labels of the objects of a part."""
    if path.suffix == ".npz":
        with np.load(path) as kept:
            return kept["object"], kept["labels"]
    table = pytest.importorskip("pyarrow.parquet").read_table(path)
    return table["object"].to_numpy(), table["labels"].to_numpy()


def test_workers_killed_at_random_change_nothing(mortal, monkeypatch, tmp_path):
    monkeypatch.setattr(large, "_PART", 3000)
    how = {"method": "lwgp", "generator": KMeansEnsemble(4, (2, 6), max_iter=6), "random_state": 0}
    wanted = cs.cluster(X, 4, **how)
    for _ in range(3):  # so that the next ones start while a job is at work
        mortal.start_worker()
    for job, mode in enumerate(["sys.exit", "graceful", "segfault", "sys.exit", "segfault"] * 2):
        mortal.start_worker()
        mortal.kill_at_random(mode)
        found = cs.cluster(chunked(X, [3, 1, 1]), 4, **how)
        np.testing.assert_array_equal(found.ensemble.members, wanted.ensemble.members)
        found.save(tmp_path / f"{job}")
        parts = [tmp_path / f"{job}" / name for name in large.part_names(N)]
        assert sorted(parts[0].parent.iterdir()) == parts
        objects, labels = map(np.concatenate, zip(*map(part_of, parts), strict=True))
        np.testing.assert_array_equal(objects, np.arange(N))  # none is missing, none there twice
        np.testing.assert_array_equal(labels, wanted.labels)
        mortal.wait_for_deaths(job + 1)
    assert any(mortal.lost)  # what was made again


@pytest.mark.parametrize("call", [lambda rows: rows.take([3]), lambda rows: rows.read(0, 9)])
def test_a_cluster_that_is_lost_while_rows_are_fetched_is_said_so(call):
    with (
        distributed.LocalCluster(n_workers=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
    ):
        table = open_rows(chunked(X, [1, 2])).values
        end = threading.Timer(0.5, cluster.close)
        end.start()
        with pytest.raises(ClusterLostError, match=r"cluster was lost.*Start it again"):
            collections.deque((call(table) for _ in itertools.count()), maxlen=0)
        end.join()


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
