"""What all consensus estimators share: members made where none are given, and a confidence."""

import numpy as np
import pytest
from scipy import sparse

from consilience import EAC, KCC, Ensemble
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.evidence import confidence
from consilience.generate import KMeansEnsemble


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(0)
    return np.concatenate([rng.normal(c, 0.4, (15, 2)) for c in (0.0, 3.0, 6.0)])


@pytest.mark.parametrize("generator", [None, KMeansEnsemble(7, 4)])
def test_members_are_those_of_the_generator_with_the_seed_of_the_estimator(X, generator):
    model = KCC(3, generator=generator, random_state=5)
    assert model.fit(X) is model
    made = (generator or KMeansEnsemble()).__class__(
        **{**(generator or KMeansEnsemble()).get_params(), "random_state": 5}
    )
    np.testing.assert_array_equal(model.ensemble_.labels, made.generate(X).labels)
    given = KCC(3, random_state=5).fit(ensemble=model.ensemble_)
    np.testing.assert_array_equal(given.labels_, model.labels_)
    if generator is not None:
        assert generator.random_state is None


def test_a_seed_of_the_generator_is_kept(X):
    generator = KMeansEnsemble(7, 4, random_state=1)
    found = EAC(3, generator=generator, random_state=2).fit(X).ensemble_
    np.testing.assert_array_equal(found.labels, generator.generate(X).labels)


def test_a_given_ensemble_is_taken_though_there_are_data(X):
    ensemble = Ensemble(np.repeat(np.repeat([0, 1, 2], 15)[:, None], 3, axis=1))
    model = EAC(3)
    labels = model.fit_predict(X, ensemble=ensemble)
    assert model.ensemble_ is ensemble
    assert model.n_features_in_ == 2
    assert labels is model.labels_
    with pytest.raises(InvalidInputError, match="X has 44 rows"):
        EAC(3).fit(X[:44], ensemble=ensemble)
    with pytest.raises(InvalidInputError, match="Got an Ensemble instead"):
        EAC(3).fit(ensemble)
    with pytest.raises(InvalidInputError, match="Got neither"):
        EAC(3).fit()


def test_the_smallest_data_are_two_objects():
    assert EAC(1).fit(np.array([[0.0], [1.0]]), ensemble=[[0, 1]]).labels_.tolist() == [0, 0]
    with pytest.raises(ValueError, match="minimum of 2"):
        EAC(1).fit(np.array([[0.0]]), ensemble=[[0]])


def test_confidence_is_that_of_the_labels_and_zero_for_whom_nobody_saw():
    ensemble = Ensemble([[0, 0, 1, 1, -2], [0, 0, 1, 0, -2], [0, 1, 1, 1, -2]])
    with pytest.warns(ConsilienceWarning):
        model = EAC(2).fit(ensemble=ensemble)
    labels = np.append(model.labels_[:4], -1)
    wanted = confidence(ensemble, labels, missing="pair")
    np.testing.assert_array_equal(model.confidence_, wanted.confidence)
    np.testing.assert_array_equal(model.runner_up_, wanted.runner_up)
    assert model.confidence_[4] == 0.0
    assert model.confidence_[:4].min() > 0.0


def test_sparse_data_are_promised_and_taken(X):
    assert EAC().__sklearn_tags__().input_tags.sparse
    found = EAC(3, random_state=0).fit(sparse.csr_array(X))
    np.testing.assert_array_equal(found.labels_, EAC(3, random_state=0).fit(X).labels_)


def test_confidence_can_be_switched_off(monkeypatch):
    def asked(*args, **options):
        raise AssertionError

    monkeypatch.setattr("consilience.consensus._base.confidence", asked)
    model = EAC(2, confidence=False).fit(ensemble=[[0, 0, 1, 1], [0, 1, 1, 1]])
    assert (model.confidence_, model.runner_up_) == (None, None)
    with pytest.raises(InvalidParameterError, match="'confidence' parameter of EAC"):
        EAC(2, confidence="no").fit(ensemble=[[0, 0, 1, 1], [0, 1, 1, 1]])
