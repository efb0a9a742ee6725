"""Soft BBC: EM that never falls, memberships by the formula, new objects, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority.divergences import Gaussian
from consilience.minority.soft_bubbles import SoftBBC, softbbc


@parametrize_with_checks(
    [SoftBBC(3, max_iter=20), SoftBBC(2, divergence="euclidean", beta=2.0, max_iter=20)]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def positive():
    shape = st.tuples(st.integers(4, 20), st.integers(1, 3))
    values = st.floats(0.125, 10, width=32)
    arrays = shape.flatmap(lambda s: npst.arrays(np.float64, s, elements=values))
    return arrays.filter(lambda X: (X[0] != X).any())


@given(
    positive(),
    st.sampled_from(("euclidean", "mahalanobis", "kl")),
    st.sampled_from((None, 0.0, 0.3)),
    st.sampled_from((0.1, 1.0, 10.0)),
    st.integers(1, 4),
)
@settings(max_examples=60)
def test_em_never_falls_and_ends_where_its_formulas_say(X, divergence, background, beta, k):
    found = softbbc(
        X, k, divergence=divergence, beta=beta, background=background, random_state=0, tol=1e-4
    )
    assert (np.diff(found.path) >= -1e-9 * np.abs(found.path[:-1])).all()
    gaps = found.divergence.pair(X, found.centres)
    with np.errstate(divide="ignore"):
        logs = np.c_[-beta * gaps, np.full(len(X), found.log_density)] + np.log(found.weights)
    wanted = np.exp(logs - logsumexp(logs, axis=1, keepdims=True))
    np.testing.assert_allclose(found.memberships, wanted[:, :-1], atol=1e-9)
    np.testing.assert_allclose(found.scores, 1 - wanted[:, -1], atol=1e-9)
    np.testing.assert_array_equal(found.labels >= 0, found.scores >= 0.5)
    np.testing.assert_allclose(found.weights.sum(), 1)
    if background is not None:
        assert found.weights[-1] == background
    widths = np.ptp(X, axis=0)
    assert found.log_density == pytest.approx(-np.log(widths[widths > 0]).sum())


def test_the_first_step_by_hand():
    X = np.array([[0.0], [1.0], [5.0]])
    found = softbbc(X, 1, divergence="euclidean", max_iter=1)
    np.testing.assert_allclose(found.centres, [[2.0]])
    # All three objects are the component's at first; one more for it and for the background.
    np.testing.assert_allclose(found.weights, [4 / 5, 1 / 5])
    inside = 4 / 5 * np.exp([-4.0, -1.0, -9.0])
    np.testing.assert_allclose(found.scores, inside / (inside + 1 / 5 / 5))
    fixed = softbbc(X, 1, divergence="euclidean", max_iter=1, background=0.3)
    np.testing.assert_allclose(fixed.weights, [0.7, 0.3])


def noisy(seed):
    rng = np.random.default_rng(seed)
    groups = [rng.normal(c, 0.1, (40, 2)) for c in (-2, 2)]
    return np.concatenate([rng.uniform(-4, 4, (100, 2)), *groups]), np.repeat(
        [0, 1, 2], [100, 40, 40]
    )


@pytest.mark.parametrize(
    "model",
    [SoftBBC(2, divergence="euclidean", beta=10.0), SoftBBC(6, divergence=Gaussian(gamma=1.0))],
)
def test_groups_are_found_and_new_objects_follow(model, seed):
    X, y = noisy(seed)
    model = model.set_params(random_state=seed).fit(X)
    assert (model.labels_[y > 0] >= 0).mean() > 0.75
    assert (model.labels_[y == 0] < 0).mean() > 0.7
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_allclose(model.score_samples(X), model.scores_, atol=1e-9)
    np.testing.assert_array_equal(model.labels_ >= 0, model.scores_ >= model.threshold_)
    assert set(model.labels_) - {-1} == set(range(model.n_clusters_))
    one, other = (model.fit(X).labels_.copy() for _ in range(2))
    np.testing.assert_array_equal(one, other)


def test_other_forms_of_the_same_data(seed):
    X, _ = noisy(seed)
    dense = softbbc(X, 3, divergence="euclidean", random_state=seed)
    rows = softbbc(sparse.csr_array(X), 3, divergence="euclidean", random_state=seed)
    kernel = softbbc(
        X @ X.T, 3, divergence="precomputed", log_density=dense.log_density, random_state=seed
    )
    for other in (rows, kernel):
        np.testing.assert_allclose(other.memberships, dense.memberships, atol=1e-6)
    sharp = softbbc(X, 3, divergence="euclidean", beta=1e4, background=0.0, random_state=seed)
    gaps = sharp.divergence.pair(X, sharp.centres)
    used = np.unique(gaps.argmin(axis=1), return_inverse=True)[1]
    np.testing.assert_array_equal(sharp.labels, used)


def test_degenerate_data_and_bad_input():
    X = np.random.default_rng(0).normal(size=(12, 2))
    model = SoftBBC(2).fit(np.full((5, 2), 3.0))
    assert model.flag_ == "no_contrast"
    assert (model.labels_ == -1).all()
    assert (model.predict(X) == -1).all()
    assert (model.score_samples(X) == 0).all()
    assert SoftBBC(1).fit([[1.0]]).flag_ == "degenerate"
    for name, bad in (("beta", 0), ("background", 1.5), ("max_iter", 0), ("n_clusters", 0)):
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of SoftBBC"):
            SoftBBC(**{name: bad}).fit(X)
    with pytest.raises(InvalidParameterError, match=r"n_samples=12\. Got 13"):
        softbbc(X, 13)
    with pytest.raises(InvalidInputError, match="log_density"):
        softbbc(X @ X.T, 2, divergence="precomputed")
    with pytest.raises(InvalidParameterError, match="'gamma' parameter of gaussian"):
        softbbc(X, 2, divergence=Gaussian(gamma=0))
