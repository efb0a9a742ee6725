"""The engine for arrays in memory does what the kernels do, and says what it does not."""

import inspect

import numpy as np
import pytest
from scipy import sparse

from consilience import EWOCS
from consilience.engines import Engine, engine_for
from consilience.engines.cpu import Cpu
from consilience.kernels.kmeans.many import many_kmeans
from consilience.kernels.kmeans.minibatch import many_minibatch_kmeans
from consilience.kernels.kmeans.scan import make_sieve
from consilience.kernels.pairs.counts import count_pairs, count_pairs_condensed

X = np.random.default_rng(0).normal(size=(90, 3))
STARTS = [X[:3], X[10:15]]


def calls(kind):
    return {
        name: inspect.signature(item)
        for name, item in vars(kind).items()
        if inspect.isfunction(item) and not name.startswith("_")
    }


def test_the_engine_keeps_the_interface():
    assert len(calls(Engine)) == 5
    assert calls(Cpu) == calls(Engine)


@pytest.mark.parametrize("rows", [X, X.astype(np.float32), sparse.csr_array(X)])
def test_k_means_and_assignment_are_those_of_the_kernels(rows):
    engine = engine_for(rows)
    for _ in range(2):  # the second time from the copy that was kept
        runs, wanted = engine.lloyd(STARTS, n_jobs=2), many_kmeans(rows, STARTS)
        np.testing.assert_array_equal(runs.labels, wanted.labels)
        np.testing.assert_array_equal(runs.inertia, wanted.inertia)
    np.testing.assert_array_equal(engine.assign(runs.centres), runs.labels)
    batches = [np.arange(60).reshape(3, 20)] * 2
    mini, wanted = (
        engine.lloyd(STARTS, batches=batches),
        many_minibatch_kmeans(rows, STARTS, batches),
    )
    np.testing.assert_array_equal(mini.labels, wanted.labels)
    facts = engine.column_facts(objects=np.arange(50), n_jobs=2)
    np.testing.assert_allclose(facts.mean, rows[:50].mean(axis=0), rtol=1e-6)


def test_dense_rows_are_copied_once_for_all_passes(monkeypatch):
    made = []

    def noted(rows, n_jobs):
        made.append(rows)
        return make_sieve(rows, n_jobs)

    monkeypatch.setattr("consilience.engines.cpu.make_sieve", noted)
    for rows, copies in ((X, 1), (sparse.csr_array(X), 0)):
        engine = engine_for(rows)
        for _ in range(2):
            engine.assign(engine.lloyd(STARTS).centres)
        assert len(made) == copies
        made.clear()
    # The kernels make none of their own where they are given one.
    for module in ("many", "minibatch"):
        monkeypatch.delattr(f"consilience.kernels.kmeans.{module}.make_sieve")
    engine_for(X).assign(STARTS)


def test_pair_counts_are_those_of_the_kernels():
    members = np.array([[0, 0, 1, -2], [0, 1, 1, -1]], np.int8)
    engine = engine_for(members)
    for counted, wanted in (
        (engine.pair_counts(with_seen=True), count_pairs(members, with_seen=True)),
        (
            engine.pair_counts(with_seen=False, condensed=True, n_jobs=2),
            count_pairs_condensed(members, with_seen=False),
        ),
    ):
        for one, other in zip(counted, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


def test_repetitions_of_ewocs_go_through_the_engine(monkeypatch):
    asked = []
    made = Cpu.repetitions

    def noted(self, *args, **options):
        asked.append(len(args[0].rows))
        return made(self, *args, **options)

    monkeypatch.setattr(Cpu, "repetitions", noted)
    EWOCS(n_repetitions=5, threshold="2gauss", gamma=1.0, random_state=0).fit(X)
    assert asked
    assert set(asked) == {len(X)}
