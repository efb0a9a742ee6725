"""Estimators take Dask arrays: labels with the blocks of X, the same as in memory."""

import numpy as np
import pytest
from scale.tables import X, chunked

import consilience as cs
from consilience._stored import _table
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.generate import KMeansEnsemble
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.rows import is_dask

distributed = pytest.importorskip(
    "distributed", reason="the extra 'distributed' is not installed: nothing of Dask is tested"
)

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]

ESTIMATORS = {
    name: getattr(cs, name)
    for name in ("CumulativeVoting", "ECPCSMC", "HBGF", "KCC", "LWGP", "MCLA", "SEC", "USENC",
                 "Voting", "WOMC")
}  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as made,
        distributed.Client(made) as client,
    ):
        yield client


def held(client):
    return client.run_on_scheduler(lambda dask_scheduler: len(dask_scheduler.tasks))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_consensus_of_a_dask_array_is_that_in_memory(client, name):
    how = {"generator": KMeansEnsemble(4, 4, max_samples=300), "random_state": 0}
    in_memory = {"solver": "spectral"} if name == "HBGF" else {}
    wanted = ESTIMATORS[name](4, **how, **in_memory).fit(X)
    array = chunked(X, [2, 0, 3, 1])
    found = ESTIMATORS[name](4, **how).fit(array)
    for one in (found.labels_, found.confidence_, found.runner_up_):
        assert is_dask(one)
        assert one.chunks == (array.chunks[0],)
    np.testing.assert_array_equal(found.labels_.compute(), wanted.labels_)
    np.testing.assert_allclose(found.confidence_.compute(), wanted.confidence_, rtol=1e-6)
    assert (found.n_clusters_, found.n_features_in_) == (wanted.n_clusters_, 3)
    assert found.objective_ == wanted.objective_


def test_predictions_have_the_blocks_of_what_is_asked(client, tmp_path):
    array = chunked(X, [1, 3])
    maker = KMeansEnsemble(4, 5, max_samples=300)
    model = cs.SEC(4, generator=maker, random_state=0)
    labels = model.fit_predict(array)
    assert labels.chunks == (array.chunks[0],)
    new = chunked(X[:5000] + 0.01, [1, 1, 2])
    wanted = cs.SEC(4, generator=maker, random_state=0).fit(X).predict(X[:5000] + 0.01)
    found = model.predict(new)
    assert found.chunks == (new.chunks[0],)
    np.testing.assert_array_equal(found.compute(), wanted)  # all objects are fewer than a sample
    assert model.predict_confidence(new).chunks == (new.chunks[0],)
    model.save(tmp_path)
    np.testing.assert_array_equal(cs.load(tmp_path).labels_, labels.compute())
    np.testing.assert_array_equal(cs.load(tmp_path).predict(X[:5000] + 0.01), wanted)


def test_new_objects_are_placed_by_a_sample(client, monkeypatch):
    from consilience.predict import _by_blocks

    monkeypatch.setattr(_by_blocks.drawn, "__defaults__", (400,))
    model = cs.LWGP(4, generator=KMeansEnsemble(4, 5, max_samples=300), random_state=0)
    model.fit(chunked(X, [1, 1]))
    same = model.predict(X) == model.labels_.compute()
    assert same.mean() > 0.97
    assert len(model._placer().labels) == 400


def test_ewocs_of_a_dask_array_has_its_blocks(client):
    how = {"n_repetitions": 4, "threshold": "dist", "n_clusters": 1, "random_state": 0}
    wanted, array = cs.EWOCS(**how).fit(X), chunked(X, [3, 1, 0, 2])
    found = cs.EWOCS(**how).fit(array)
    for name in ("labels_", "scores_", "standard_errors_", "undecided_"):
        assert getattr(found, name).chunks == (array.chunks[0],)
        np.testing.assert_array_equal(getattr(found, name).compute(), getattr(wanted, name))
    assert found.n_foreground_ == wanted.n_foreground_
    for name in ("score_samples", "predict"):
        placed = getattr(found, name)(array)
        assert placed.chunks == (array.chunks[0],)
        np.testing.assert_allclose(placed.compute(), getattr(wanted, name)(X))
    found.more(array, 3)
    np.testing.assert_array_equal(found.scores_.compute(), wanted.more(X, 3).scores_)


def test_nothing_is_left_on_the_workers(client):
    array = chunked(X, [1, 2])
    cs.SEC(3, generator=KMeansEnsemble(3, 4, max_samples=300), random_state=0).fit(array)
    cs.EWOCS(n_repetitions=2, threshold="dist", n_clusters=1, random_state=0).fit(array)
    distributed.wait(client.submit(int, 0, pure=False))
    from time import monotonic, sleep

    until = monotonic() + 20
    while held(client) and monotonic() < until:
        sleep(0.05)
    assert held(client) == 0


@pytest.mark.parametrize(
    ("model", "near"),
    [
        (cs.EAC(3), "Take LWGP"),
        (cs.PEACE(3), "Take LWGP"),
        (cs.CSPA(3), "Take USENC"),
        (cs.AmbiguityAware(cs.EAC(3)), "Take SEC"),
        (cs.DGRADE(20), "take SEC"),
    ],
)
def test_estimators_that_need_all_in_memory_say_so(model, near):
    with pytest.raises(InvalidInputError, match=rf"needs its data in memory.*{near}"):
        model.fit(chunked(X, [1, 1]))


def test_options_that_need_all_objects_are_refused():
    with pytest.raises(InvalidParameterError, match=r"'solver'.*must be 'spectral' by blocks"):
        cs.HBGF(3, solver="metis", generator=KMeansEnsemble(2, 3, max_samples=99)).fit(
            chunked(X, [1, 1])
        )
