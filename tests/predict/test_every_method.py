"""What every consensus estimator says of new objects, over the whole table of methods."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from consilience.consensus import CONSENSUS
from consilience.errors import ConsilienceWarning
from consilience.generate import KMeansEnsemble

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])


def drawn(n_each, seed):
    rng = np.random.default_rng(seed)
    return np.concatenate([rng.normal(c, 1, (n_each, 2)) for c in CENTRES])


SEEN, LEFT_OUT, ORDINARY = drawn(40, 1), drawn(40, 2), drawn(700, 3)


def far_away():
    angle = np.linspace(0, 2 * np.pi, 200)
    return SEEN.mean(axis=0) + 60 * np.column_stack([np.cos(angle), np.sin(angle)])


@pytest.fixture(scope="module", params=sorted(CONSENSUS))
def fit(request):
    """A function that fits the method to data."""
    method = CONSENSUS[request.param]
    own = {"n_clusters": 3} | ({"effort": "quick"} if "effort" in method.options else {})
    members = KMeansEnsemble(12, (3, 6))

    def fitted(X):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsilienceWarning)
            return method.estimator(**own, generator=members, random_state=0).fit(X)

    return fitted


@pytest.fixture(scope="module")
def model(fit):
    return fit(SEEN)


def test_rows_that_were_fitted_have_their_labels(model):
    found = model.predict_info(SEEN[::-1])
    np.testing.assert_array_equal(found.labels, model.labels_[::-1])
    np.testing.assert_array_equal(found.confidence, model.confidence_[::-1])
    np.testing.assert_array_equal(found.runner_up, model.runner_up_[::-1])
    assert found.known.all()


def test_a_row_that_hardly_moved_stays_where_it_was(model):
    signs = np.random.default_rng(0).choice([-1, 1], SEEN.shape)
    moved = SEEN + 1e-6 * SEEN.std(axis=0) * signs
    found = model.predict_info(moved, lookup=False)
    sure = model.confidence_ > 0.5
    assert sure.mean() > 0.5
    assert (found.labels == model.labels_)[sure].mean() >= 0.98
    assert not found.known.any()


def test_a_left_out_half_is_placed_where_clustering_all_places_it(fit, model):
    whole = fit(np.concatenate([SEEN, LEFT_OUT])).labels_[len(SEEN) :]
    assert adjusted_rand_score(model.predict(LEFT_OUT), whole) >= 0.9


def test_far_away_objects_are_unlike_and_ordinary_ones_are_not(model):
    assert model.predict_info(far_away()).unlike.mean() >= 0.95
    assert model.predict_info(ORDINARY).unlike.mean() <= 0.05
