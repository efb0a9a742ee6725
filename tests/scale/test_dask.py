"""Rows of a Dask array: the same bits as in memory, for any chunks and any number of workers.

Needs the extra ``distributed``; skipped without it.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scale.tables import SOME, STARTS, X, check_same, chunked, runs_in_memory

import consilience as cs
from consilience._stored import _table
from consilience.consensus import combine_blocks, lwgp
from consilience.datasets import open_rows
from consilience.engines import blocks, engine_for
from consilience.engines import dask as dask_engine
from consilience.engines.cpu import Cpu
from consilience.engines.dask import Cluster, moves
from consilience.errors import InvalidInputError
from consilience.generate import KMeansEnsemble, USPECEnsemble
from consilience.kernels._blocks import BLOCK_ROWS

distributed = pytest.importorskip(
    "distributed", reason="the extra 'distributed' is not installed: nothing of Dask is tested"
)
da = pytest.importorskip("dask.array")

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module", params=[1, 2, 4], ids="{} workers".format)
def client(request):
    """A cluster of threads in this process."""
    with (
        distributed.LocalCluster(
            n_workers=request.param, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Small pieces, and nothing that is fitted to samples because it is small."""
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)
    monkeypatch.setattr(blocks, "_SAMPLES", 0)
    monkeypatch.setattr(dask_engine, "_TASKS", 1)  # several pieces a task on few workers


@pytest.fixture(scope="module")
def wanted():
    """Facts and exact k-means in memory."""
    return Cpu(X).column_facts(), runs_in_memory()


@given(sizes=st.lists(st.integers(0, 9), min_size=1, max_size=7).filter(any))
@settings(max_examples=3)
def test_any_chunks_and_workers_give_the_same_bits(client, wanted, sizes):
    engine = engine_for(open_rows(chunked(X, sizes)).values)
    assert isinstance(engine._pieces, Cluster)
    assert len(engine._pieces._groups) < 5 or len(client.nthreads()) == 4
    facts, runs = wanted
    for one, other in zip(engine.column_facts(), facts, strict=True):
        np.testing.assert_array_equal(one, other)
    check_same(engine.lloyd(STARTS, objects=SOME), runs)


@given(
    at=st.lists(st.sampled_from(["a", "b", "c", "gone", None]), max_size=30),
    threads=st.fixed_dictionaries({name: st.integers(1, 3) for name in "abc"}),
)
def test_pieces_lie_evenly_after_their_moves(at, threads):
    found = moves(at, threads)
    after = [found.get(number, worker) for number, worker in enumerate(at)]
    shares = {name: after.count(name) / n for name, n in threads.items()}
    least = min(shares[name] + 1 / threads[name] for name in threads)
    assert all(share <= least for share in shares.values())
    assert all(at[number] in threads for number in found)
    assert not moves(after, threads)


def test_spectral_members_are_those_in_memory(client):
    maker = USPECEnsemble(2, (3, 5), n_representatives=40, random_state=0)
    found = maker.generate(chunked(X, [3, 1, 5]))
    np.testing.assert_array_equal(found.members, maker.generate(X).members)


def test_members_and_consensus_are_those_in_memory(client):
    maker = KMeansEnsemble(4, (2, 6), max_samples=900, metric="cosine", random_state=0)
    members = maker.generate(X)
    found = maker.generate(chunked(X, [3, 1, 5]))
    np.testing.assert_array_equal(found.members, members.members)
    together = combine_blocks(found, 3, "lwgp", random_state=0)
    np.testing.assert_array_equal(together.labels, lwgp(members, 3, random_state=0).labels)


def test_frames_are_tables_with_names(client):
    frame = pytest.importorskip("dask.dataframe")
    pandas = pytest.importorskip("pandas")
    table = pandas.DataFrame(X[:900], columns=["a", "b", "c"]).assign(b=range(900))
    rows = open_rows(frame.from_pandas(table, npartitions=3))
    assert (rows.shape, rows.names) == ((900, 3), ("a", "b", "c"))
    np.testing.assert_array_equal(rows.values.read(0, 900), table.to_numpy(float))
    with pytest.raises(InvalidInputError, match=r"columns of X must hold numbers. 'd' does not"):
        open_rows(frame.from_pandas(table.assign(d="x"), npartitions=2))


def test_bad_blocks_are_named(client):
    broken = X.copy()
    broken[9000, 1] = np.nan
    with pytest.raises(
        InvalidInputError, match=r"Got nan in row 9000, column 1 \(block 2; counted"
    ):
        KMeansEnsemble(2, 3).generate(da.from_array(broken, chunks=(4000, 3)))
    with pytest.raises(
        InvalidInputError, match=r"blocks of X have unknown sizes.*compute_chunk_si"
    ):
        open_rows(da.from_array(X, chunks=4000)[da.from_array(X[:, 0], chunks=4000) > 0])
    with pytest.raises(InvalidInputError, match="two dimensions"):
        open_rows(da.zeros(5))
    with pytest.raises(InvalidInputError, match="must hold numbers"):
        open_rows(da.zeros((5, 2), dtype=complex))


def test_the_whole_job_gives_dask_arrays_with_the_blocks_of_x(client):
    how = {"method": "lwgp", "generator": KMeansEnsemble(5, (2, 6), max_samples=500)}
    array = chunked(X, [2, 0, 3, 1])
    found = cs.cluster(array, 4, **how, random_state=0)
    wanted = cs.cluster(X, 4, **how, random_state=0)
    for name in ("labels", "confidence", "runner_up"):
        assert getattr(found, name).chunks[0] == array.chunks[0]
    np.testing.assert_array_equal(found.labels.compute(), wanted.labels)
    np.testing.assert_allclose(found.confidence.compute(), wanted.confidence, rtol=1e-6)
    assert found.sizes == wanted.sizes
