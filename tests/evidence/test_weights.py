"""Object weights against their definition on the full matrix."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ensembles

from consilience import Ensemble
from consilience.errors import InvalidParameterError
from consilience.evidence import co_association, weights
from consilience.evidence.weights import object_weights

pytestmark = pytest.mark.filterwarnings("ignore:.*never seen together")


def quadratic(A):
    return 4 * A * (1 - A)


def entropy(A):
    inside = np.clip(A, 1e-300, 1), np.clip(1 - A, 1e-300, 1)
    return -(A * np.log2(inside[0]) + (1 - A) * np.log2(inside[1]))


CONFUSION = {"quadratic": quadratic, "entropy": entropy}


def slowly(ensemble, confusion="quadratic", missing="all", e=0.01):
    """Reference: the mean over rows of the full matrix (equations 1 to 4)."""
    A = co_association(ensemble, missing=missing)
    return (CONFUSION[confusion](A).mean(axis=1) + e) / (1 + e)


FORMS = st.tuples(st.sampled_from(sorted(CONFUSION)), st.sampled_from(["all", "pair"]))


@given(ensembles(), FORMS, st.sampled_from([0.01, 0.5]), st.sampled_from([None, 2]))
def test_it_equals_its_definition(ensemble, form, e, n_jobs):
    confusion, missing = form
    got = object_weights(ensemble, confusion=confusion, missing=missing, e=e, n_jobs=n_jobs)
    np.testing.assert_allclose(got, slowly(ensemble, confusion, missing, e), atol=1e-10)
    assert (got > 0).all()
    assert (got <= 1).all()


@given(ensembles(min_objects=3), FORMS)
def test_row_blocks_change_nothing(ensemble, form):
    kwargs = {"confusion": form[0], "missing": form[1]}
    whole = object_weights(ensemble, **kwargs)
    before = weights._BLOCK_BYTES
    try:
        for weights._BLOCK_BYTES in (1, 3, 17):
            np.testing.assert_array_equal(object_weights(ensemble, **kwargs), whole)
    finally:
        weights._BLOCK_BYTES = before


@given(ensembles(min_objects=3, max_objects=8), FORMS, st.integers(0, 2**32 - 1))
def test_a_sample_is_the_mean_over_the_objects_drawn(ensemble, form, seed):
    confusion, missing = form
    n = ensemble.n_objects
    got, error = object_weights(
        ensemble,
        confusion=confusion,
        missing=missing,
        n_samples=2,
        return_error=True,
        random_state=seed,
    )
    values = CONFUSION[confusion](co_association(ensemble, missing=missing))
    chosen = np.random.RandomState(seed).permutation(n)[:2]
    np.testing.assert_allclose(got, (values[:, chosen].mean(axis=1) + 0.01) / 1.01, atol=1e-10)
    wanted = np.sqrt(values[:, chosen].var(axis=1, ddof=1) / 2 * (1 - 2 / n)) / 1.01
    np.testing.assert_allclose(error, wanted, atol=1e-7)


def test_samples_are_unbiased_and_their_error_is_what_they_say(seed):
    rng = np.random.default_rng(seed)
    ensemble = Ensemble(rng.integers(0, 3, (300, 9)))
    exact = object_weights(ensemble, confusion="entropy")
    runs = [
        object_weights(
            ensemble, confusion="entropy", n_samples=60, return_error=True, random_state=run
        )
        for run in range(40)
    ]
    off = np.array([(got - exact) / error for got, error in runs])
    assert abs(off.mean()) < 0.5
    assert 0.8 < np.sqrt((off**2).mean()) < 1.25
    assert np.max([error for _, error in runs]) <= 0.5 / np.sqrt(59)


def test_sampling_everything_is_exact():
    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 0]])
    got, error = object_weights(ensemble, n_samples=4, return_error=True)
    np.testing.assert_array_equal(got, object_weights(ensemble))
    np.testing.assert_array_equal(error, 0)


@pytest.mark.parametrize("members", [[[0, 0, 1, 2]], [[0, 0, 1, 1]] * 3, [[0] * 4, [0] * 4]])
@pytest.mark.parametrize("confusion", sorted(CONFUSION))
def test_one_or_unanimous_members_give_every_object_the_least_weight(members, confusion):
    got = object_weights(Ensemble(members), confusion=confusion)
    np.testing.assert_allclose(got, 0.01 / 1.01, rtol=1e-12)


def test_half_of_the_members_is_the_most_confusing():
    ensemble = Ensemble([[0, 0, 0], [0, 1, 2]])
    np.testing.assert_allclose(object_weights(ensemble), (2 / 3 + 0.01) / 1.01)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"confusion": "cubic"}, "'confusion' parameter of object_weights .* Got 'cubic'"),
        ({"e": 0}, "'e' parameter of object_weights must be a number above 0. Got 0"),
        ({"missing": "none"}, "'missing' .* Got 'none'"),
        ({"n_samples": 1}, "'n_samples' .* at least 2 or None. Got 1"),
        ({"random_state": "x"}, "'random_state' .* Got 'x'"),
        ({"return_error": 1}, "'return_error' .* Got 1"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        object_weights(Ensemble([[0, 1]]), **params)
