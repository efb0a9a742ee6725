"""WSPA and WBPA: memberships by LAC's distances, and where the runs come from."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus._memberships import by_distances, stacked
from consilience.consensus.subspace import WBPA, WSPA, wbpa, wspa
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.generate import KMeansEnsemble
from consilience.generate.lac import LACEnsemble, LACRun

BOTH = [wspa, wbpa]


@pytest.fixture
def made(seed):
    """Three groups in two features, eight LAC members and their generator."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.5, (30, 2)) for c in ((0, 0), (4, 0), (2, 4))])
    generator = LACEnsemble(8, 3, random_state=seed)
    return X, generator.generate(X), generator, np.repeat([0, 1, 2], 30)


def slowly(X, run):
    """Reference: the formula, one object and one cluster at a time."""
    k = len(run.centres)
    P = np.empty((len(X), k))
    for i, x in enumerate(X):
        d = [
            np.sqrt(sum(w * (a - c) ** 2 for w, a, c in zip(*row, strict=True)))
            for row in zip(run.weights, [x] * k, run.centres, strict=True)
        ]
        D = max(d)
        for j in range(k):
            P[i, j] = (D - d[j] + 1) / (k * D + k - sum(d))
    return P


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3))
def test_memberships_equal_their_formula(seed, k, d):
    rng = np.random.default_rng(seed)
    X, weights = rng.normal(size=(6, d)), rng.uniform(size=(k, d))
    run = LACRun(rng.normal(size=(k, d)), weights / weights.sum(axis=1, keepdims=True))
    soft = by_distances(X, [run])
    got = soft.table(0, 0, 6)
    np.testing.assert_allclose(got, slowly(X, run), atol=1e-10)
    np.testing.assert_allclose(got.sum(axis=1), 1, atol=1e-10)
    np.testing.assert_array_equal(soft.table(0, 2, 5), got[2:5])


def test_products_of_rows_are_mean_cosines(made):
    X, _, generator, _ = made
    F = stacked(by_distances(X, generator.runs_), unit=True, n_jobs=2)
    wanted = 0
    for run in generator.runs_:
        P = slowly(X, run)
        P /= np.linalg.norm(P, axis=1, keepdims=True)
        wanted = wanted + P @ P.T / len(generator.runs_)
    np.testing.assert_allclose(F @ F.T, wanted, atol=1e-10)


@pytest.mark.parametrize("method", BOTH)
def test_groups_are_found_with_runs_and_without(method, made):
    X, ensemble, generator, truth = made
    with_runs = method(ensemble, 3, X=X, runs=generator.runs_, random_state=0)
    refitted = method(ensemble, 3, X=X, random_state=0)
    for found in (with_runs, refitted):
        assert adjusted_rand_score(truth, found.labels) > 0.9
        assert found.details["balance"] < 1.5


@pytest.mark.parametrize("solver", ["metis", "balanced", "spectral"])
def test_every_solver_cuts_the_similarities(solver, made):
    if solver == "metis":
        pytest.importorskip("pymetis")
    X, ensemble, generator, _ = made
    found = wspa(ensemble, 3, X=X, runs=generator.runs_, solver=solver, random_state=0)
    assert found.solver == solver
    assert found.n_clusters == 3


def test_refitting_takes_the_sharpness_of_the_record(made):
    X, ensemble, generator, _ = made
    by_record = wspa(ensemble, 3, X=X, random_state=0)
    by_runs = wspa(ensemble, 3, X=X, runs=generator.runs_, random_state=0)
    np.testing.assert_array_equal(by_record.labels, by_runs.labels)
    assert by_record.objective == pytest.approx(by_runs.objective, rel=1e-6)
    other = wspa(ensemble, 3, X=X, inv_h=50.0, random_state=0)
    assert other.objective != pytest.approx(by_runs.objective, rel=1e-6)


@pytest.mark.parametrize("estimator", [WSPA, WBPA])
def test_the_estimator_uses_the_runs_of_its_generator(estimator, made):
    X, ensemble, generator, truth = made
    model = estimator(3, generator=generator, random_state=0).fit(X)
    function = {WSPA: wspa, WBPA: wbpa}[estimator]
    found = function(ensemble, 3, X=X, runs=generator.runs_, random_state=0)
    np.testing.assert_array_equal(model.labels_, found.labels)
    assert model.objective_ == found.objective
    # Other generators and given ensembles have no runs.
    other = estimator(3, generator=KMeansEnsemble(8, 3, random_state=0), random_state=0).fit(X)
    given_back = estimator(3, random_state=0).fit(X, ensemble=other.ensemble_)
    np.testing.assert_array_equal(other.labels_, given_back.labels_)
    own = estimator(3, random_state=0).fit(X)
    assert own.ensemble_.n_members == 40
    assert own.ensemble_.records[0]["algorithm"] == "LAC"
    assert adjusted_rand_score(truth, own.labels_) > 0.9


@pytest.mark.parametrize("method", BOTH)
@given(ensemble=ensembles(min_objects=3, max_objects=8), k=st.integers(1, 8))
def test_every_object_of_any_ensemble_is_labelled(method, ensemble, k):
    X = np.random.default_rng(0).normal(size=(ensemble.n_objects, 2))
    k = min(k, ensemble.n_objects)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        labels = method(ensemble, k, X=X, random_state=0).labels
    assert labels.shape == (ensemble.n_objects,)
    assert labels.max() < k
    used = np.unique(labels[labels >= 0])
    np.testing.assert_array_equal(used, np.arange(len(used)))


@pytest.mark.parametrize("method", BOTH)
def test_one_member_is_returned(method):
    labels = [0, 0, 1, 1, 1, 1]
    assert method(Ensemble([labels]), 2, X=np.arange(6.0)[:, None]).labels.tolist() == labels


def test_sizes_are_kept(made):
    X, ensemble, generator, _ = made
    found = wspa(ensemble, 3, X=X, runs=generator.runs_, sizes=[10, 30, 50], solver="balanced")
    assert sorted(np.bincount(found.labels).tolist()) == [10, 30, 50]


@pytest.mark.parametrize("method", BOTH)
def test_bad_input_is_named(method):
    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])
    X = np.arange(8.0).reshape(4, 2)
    run = LACRun(np.zeros((2, 2)), np.full((2, 2), 0.5))
    narrow = LACRun(np.zeros((2, 1)), np.ones((2, 1)))
    with pytest.raises(InvalidInputError, match="uses the data as well"):
        method(ensemble, 2)
    with pytest.raises(InvalidParameterError, match=r"each of the 2 members. Got 1 instead"):
        method(ensemble, 2, X=X, runs=[run])
    with pytest.raises(InvalidInputError, match=r"have \[1\] features, X has 2"):
        method(ensemble, 2, X=X, runs=[narrow, narrow])
    for params in ({"runs": "LAC"}, {"inv_h": -1}, {"solver": "kway"}):
        name = next(iter(params))
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of W[SB]PA"):
            method(ensemble, 2, X=X, **params)


@pytest.mark.parametrize("function", BOTH)
def test_sparse_data_are_refused_in_words(function, made):
    X, ensemble, _, _ = made
    with pytest.raises(TypeError, match="parse data was passed"):
        function(ensemble, 3, X=sparse.csr_array(X))


@pytest.mark.parametrize("estimator", [WSPA, WBPA])
def test_sparse_data_are_refused_before_members_are_made(estimator, made, monkeypatch):
    def never(*args):
        raise AssertionError

    monkeypatch.setattr(KMeansEnsemble, "generate", never)
    with pytest.raises(TypeError, match="parse data was passed"):
        estimator(3, generator=KMeansEnsemble(3)).fit(sparse.csr_array(made[0]))
