"""Rows that are not in memory: the same bits as in memory, however they are cut into pieces."""

import errno

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience._stored import _table, open_stored
from consilience.datasets import open_rows
from consilience.engines import _pieces, blocks, engine_for
from consilience.engines.cpu import Cpu
from consilience.errors import InvalidInputError, InvalidParameterError, MemoryBudgetError
from consilience.generate import USPEC, KMeansEnsemble, RunFolder, USPECEnsemble
from consilience.kernels._blocks import BLOCK_ROWS

RNG = np.random.default_rng(0)
N = 3 * BLOCK_ROWS + 500
X = np.concatenate([RNG.normal(c, 1.0, (N // 5, 3)) for c in range(4)])
X = RNG.permutation(np.concatenate([X, RNG.normal(2, 3, (N - len(X), 3))]))


class Sliced:
    """A table that hands out rows by slices only."""

    def __init__(self, values):
        self.values, self.shape, self.dtype = values, values.shape, values.dtype

    def __getitem__(self, rows):
        return self.values[rows]


@pytest.fixture(params=[1, 2], ids=["small pieces", "larger pieces"])
def cut(request, monkeypatch):
    """A function that opens an array as a table in pieces; nothing counts as small."""
    monkeypatch.setattr(_table, "BLOCK", request.param * BLOCK_ROWS * 3)
    monkeypatch.setattr(_pieces, "_IN_MEMORY", 0)
    return lambda values: open_stored(Sliced(values))


def same_runs(one, other):
    np.testing.assert_array_equal(one.labels, other.labels)
    for a, b in zip(one.centres, other.centres, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in ("inertia", "n_iter", "converged"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))


STARTS = [X[:3], X[[5, 6000, 9000, 12000]], X[[1, 2]]]
SOME = [None, np.arange(7, N, 3), np.arange(4000, 9000)]


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    "how",
    [
        {},
        {"objects": SOME},
        {"objects": SOME, "assign_all": False, "max_iter": 3},
        {"tol": 1e-3, "objects": SOME},
        {"spherical": True, "features": [None, np.array([0, 2]), np.array([1])]},
    ],
)
def test_exact_k_means_by_pieces_is_that_in_memory(cut, kind, how, monkeypatch):
    monkeypatch.setattr(blocks, "_SAMPLES", 0)
    values, starts = X.astype(kind), STARTS
    if "features" in how:
        starts = [s if f is None else s[:, f] for s, f in zip(STARTS, how["features"], strict=True)]
    same_runs(engine_for(cut(values)).lloyd(starts, **how), Cpu(values).lloyd(starts, **how))


@pytest.mark.parametrize("online", [False, True])
def test_members_fitted_to_samples_are_those_in_memory(cut, online):
    how = {"objects": [SOME[1], SOME[2], np.arange(0, N, 4097)], "tol": 1e-6, "online": online}
    found = engine_for(cut(X)).lloyd(STARTS, **how)
    assert isinstance(found.labels, np.memmap)
    assert found.labels.dtype == np.int8
    same_runs(found, Cpu(X).lloyd(STARTS, **how))


def test_mini_batches_are_those_in_memory(cut):
    batches = [RNG.integers(0, N, (5, 60)) for _ in STARTS]
    how = {"batches": batches, "objects": SOME}
    same_runs(engine_for(cut(X)).lloyd(STARTS, **how), Cpu(X).lloyd(STARTS, **how))


@given(
    st.integers(0, 2**32 - 1),
    st.integers(1, 6),
    st.sampled_from([BLOCK_ROWS + 1, 2 * BLOCK_ROWS, 3 * BLOCK_ROWS - 7]),
    st.integers(0, 2),
)
@settings(max_examples=15)
def test_emptied_clusters_are_refilled_as_in_memory(seed, k, n, pieces):
    # Few distinct objects and starts that coincide: clusters empty in the first round.
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, (n, 2)).astype(float) * rng.choice([1.0, 0.1])
    starts = [np.repeat(values[:1], k, axis=0), values[rng.integers(0, n, k)]]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "_SAMPLES", 0)
        patch.setattr(_table, "BLOCK", 2**pieces * 2 * BLOCK_ROWS)
        found = engine_for(open_stored(Sliced(values))).lloyd(starts)
    same_runs(found, Cpu(values).lloyd(starts))


def test_facts_and_nearest_centres_are_those_in_memory(cut):
    table = cut(X + 1e6)
    for objects in (None, SOME[1]):
        found = engine_for(table).column_facts(objects=objects, n_jobs=2)
        for one, other in zip(found, Cpu(X + 1e6).column_facts(objects=objects), strict=True):
            np.testing.assert_array_equal(one, other)
    found = engine_for(cut(X)).assign(STARTS)
    np.testing.assert_array_equal(found, Cpu(X).assign(STARTS))


@pytest.mark.parametrize(
    "params",
    [
        {"n_clusters": (2, 9), "max_samples": 700},
        {"n_clusters": 4, "max_samples": 700, "init": "k-means++", "max_features": 2},
        {"n_clusters": (2, 5), "metric": "cosine", "max_iter": 6},
        {"n_clusters": 3, "algorithm": "minibatch", "assign": "unseen", "max_samples": 0.5},
        {"n_clusters": 130, "max_samples": 200, "max_iter": 2},
    ],
)
def test_an_ensemble_by_pieces_is_that_in_memory(cut, params, tmp_path):
    wanted = KMeansEnsemble(4, random_state=0, **params)
    members = wanted.generate(X)
    maker = KMeansEnsemble(4, random_state=0, n_jobs=2, **params)
    found = maker.generate(open_rows(cut(X)))
    np.testing.assert_array_equal(found.members, members.members)
    assert found.members.dtype == members.members.dtype
    for one, other in zip(maker.models_, wanted.models_, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
    untimed = [{**record, "seconds": 0} for record in found.records]
    assert untimed == [{**record, "seconds": 0} for record in members.records]
    kept = maker.generate(open_rows(cut(X)), checkpoint=RunFolder(tmp_path))
    again = maker.generate(open_rows(cut(X)), checkpoint=RunFolder(tmp_path))
    np.testing.assert_array_equal(kept.members, again.members)
    np.testing.assert_array_equal(kept.members, members.members)


def test_large_units_are_taken_out_as_in_memory(cut):
    maker = KMeansEnsemble(2, 3, max_samples=500, random_state=0)
    large = np.ldexp(X, 700)
    found = maker.generate(open_rows(cut(large)))
    np.testing.assert_array_equal(found.members, maker.generate(large).members)


def test_what_needs_all_rows_at_once_is_refused(cut, monkeypatch):
    rows = open_rows(cut(X))
    with pytest.raises(
        InvalidParameterError, match=r"'init'.*must be 'random'.*max_samples=20_000"
    ):
        KMeansEnsemble(2, 3, init="k-means++").generate(rows)
    monkeypatch.setattr(blocks, "_SAMPLES", 0)
    with pytest.raises(InvalidParameterError, match=r"'online' parameter must be False"):
        KMeansEnsemble(2, 3, online=True).generate(rows)
    engine = engine_for(rows.values)
    with pytest.raises(InvalidInputError, match="weak clusterings are made of data in memory only"):
        engine.repetitions(*[None] * 4, team=None, memory=None)
    with pytest.raises(InvalidInputError, match=r"pairs are made of data in memory only"):
        engine.pair_counts(with_seen=False)


def test_a_number_that_is_not_finite_ends_the_job_with_its_row(cut):
    broken = X.copy()
    broken[9000, 2] = np.nan
    with pytest.raises(InvalidInputError, match=r"Got nan in row 9000, column 2 \(block 1|2 of"):
        KMeansEnsemble(2, 3, random_state=0).generate(open_rows(cut(broken)))


def test_a_full_disk_is_refused_before_anything_is_written(cut, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.posix_fallocate", full, raising=False)
    with pytest.raises(MemoryBudgetError, match=r"do not fit.*No space left.*Set TMPDIR"):
        engine_for(cut(X)).assign(STARTS)


def test_a_device_is_refused_where_the_table_is_not_in_memory(cut):
    with pytest.raises(InvalidParameterError, match="device='cpu' takes data in memory"):
        engine_for(cut(X), "cpu")


@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize(
    "params",
    [
        {"n_clusters": (3, 6), "n_representatives": 60},
        {"n_clusters": 4, "n_representatives": 40, "n_neighbors": 2, "n_init": 2, "max_iter": 30},
        {"n_clusters": 1, "n_representatives": 30},
    ],
)
def test_spectral_members_by_pieces_are_those_in_memory(cut, kind, params, monkeypatch, tmp_path):
    monkeypatch.setattr(blocks, "_SAMPLES", 0)
    maker = USPECEnsemble(2, random_state=0, **params)
    values = X.astype(kind)
    wanted = maker.generate(values)
    found = maker.generate(open_rows(cut(values)))
    np.testing.assert_array_equal(found.members, wanted.members)
    untimed = [{**record, "seconds": 0} for record in found.records]
    assert untimed == [{**record, "seconds": 0} for record in wanted.records]
    kept = maker.generate(open_rows(cut(values)), checkpoint=RunFolder(tmp_path))
    np.testing.assert_array_equal(kept.members, wanted.members)


def test_spectral_members_of_large_units_and_few_objects(cut):
    maker = USPECEnsemble(1, 3, n_representatives=30, random_state=0)
    large = np.ldexp(X, 700)
    found = maker.generate(open_rows(cut(large)))
    np.testing.assert_array_equal(found.members, maker.generate(large).members)
    few = RNG.integers(0, 3, (40, 2)).astype(float)
    maker = USPECEnsemble(2, 3, n_representatives=50, random_state=0)
    found = maker.generate(open_rows(cut(few)))
    np.testing.assert_array_equal(found.members, maker.generate(few).members)


def test_an_interrupted_spectral_member_goes_on_with_its_blocks(cut, monkeypatch, tmp_path):
    from consilience.generate._chunks import KeptPieces

    monkeypatch.setattr(blocks, "_SAMPLES", 0)
    maker, put, done = USPECEnsemble(2, 3, n_representatives=40, random_state=0), KeptPieces.put, []

    def interrupted(self, name, arrays):
        put(self, name, arrays)
        done.append(name)
        if name == "000001":
            raise KeyboardInterrupt

    monkeypatch.setattr(KeptPieces, "put", interrupted)
    with pytest.raises(KeyboardInterrupt):
        maker.generate(open_rows(cut(X)), checkpoint=RunFolder(tmp_path))
    assert done == ["fit", "000000", "000001"]
    monkeypatch.setattr(KeptPieces, "put", lambda self, *a: (done.append(a[0]), put(self, *a)))
    del done[:]
    found = maker.generate(open_rows(cut(X)), checkpoint=RunFolder(tmp_path))
    np.testing.assert_array_equal(found.members, maker.generate(X).members)
    assert "000000" in done[done.index("fit", 1) :]
    assert "000000" not in done[: done.index("fit", 1)]


def test_a_spectral_clustering_of_a_table_is_that_in_memory(cut):
    model = USPEC(4, n_representatives=50, random_state=0)
    labels = model.fit(X).labels_
    np.testing.assert_array_equal(model.fit(open_rows(cut(X))).labels_, labels)
