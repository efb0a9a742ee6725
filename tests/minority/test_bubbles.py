"""Bubbles: costs that never rise, brute-force centres, sizes, new objects, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority._bubbles import best_centre, pressed_sizes
from consilience.minority.bubbles import BBOCC, BBCPress, bbc, bbcpress, bbocc, hocc
from consilience.minority.divergences import Gaussian

EXACT = ("euclidean", "mahalanobis", "kl", "cosine")


@parametrize_with_checks(
    [
        BBOCC(random_state=0),
        BBOCC(5, divergence="euclidean", start="hocc", max_iter=20),
        BBCPress(3, 0.9, n_init=5),
        BBCPress(2, 0.8, divergence="euclidean", n_init=5, max_iter=20),
    ]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def positive(max_objects=20):
    shape = st.tuples(st.integers(4, max_objects), st.integers(1, 3))
    values = st.floats(0.125, 10, width=32)
    arrays = shape.flatmap(lambda s: npst.arrays(np.float64, s, elements=values))
    return arrays.filter(lambda X: (X[0] != X).any())


@given(positive(), st.sampled_from(EXACT), st.data())
@settings(max_examples=60)
def test_the_cost_of_bbc_never_rises(X, divergence, data):
    size = data.draw(st.integers(1, len(X)))
    rows = data.draw(st.lists(st.integers(0, len(X) - 1), min_size=1, max_size=4, unique=True))
    found = bbc(X, size, X[rows], divergence=divergence)
    # Rounding of a product that cancels, relative to the largest divergence.
    slack = 1e-9 * max(1.0, -float(found.scores.min()))
    assert (np.diff(found.costs) <= slack).all()
    assert found.costs[-1] == pytest.approx(-np.sort(found.scores)[::-1][:size].sum())
    assert (found.labels >= 0).sum() >= size
    np.testing.assert_array_equal(found.labels >= 0, found.scores >= found.threshold)
    assert set(found.labels[found.labels >= 0]) == set(range(found.n_clusters))


@given(positive(10), st.sampled_from(("cost", "radius")), st.data())
@settings(max_examples=30)
def test_hocc_is_the_best_of_all_objects(X, criterion, data):
    size = data.draw(st.integers(1, len(X)))
    gaps = np.sort(((X[:, None] - X[None]) ** 2).sum(axis=2), axis=1)[:, :size]
    values = gaps.sum(axis=1) if criterion == "cost" else gaps[:, -1]
    found = hocc(X, size, divergence="euclidean", criterion=criterion)
    centre = int(np.flatnonzero((found.centres == X).all(axis=1))[0])
    assert values[centre] == pytest.approx(values.min(), rel=1e-9, abs=1e-12)
    moved = bbocc(X, size, divergence="euclidean", criterion=criterion, start="hocc")
    assert moved.costs[-1] <= found.costs[-1] + 1e-9


@given(st.integers(1, 300), st.integers(1, 300), st.floats(0.1, 0.9))
def test_pressure_goes_from_all_objects_to_those_wanted(n, size, pressure):
    size = min(n, size)
    sizes = pressed_sizes(n, size, pressure)
    assert sizes[-1] == size
    assert sizes == sorted(sizes, reverse=True)
    assert n - size <= 1 or sizes[0] == n


def noisy(seed, d=2):
    rng = np.random.default_rng(seed)
    parts = [
        rng.uniform(-4, 4, (150, d)),
        rng.normal(-2, 0.1, (30, d)),
        rng.normal(2, 0.1, (30, d)),
    ]
    return np.concatenate(parts), np.repeat([0, 1, 2], [150, 30, 30])


@pytest.mark.parametrize(
    "model",
    [BBOCC(30, start="hocc"), BBCPress(3, 0.25), BBCPress(2, 60, divergence=Gaussian(gamma=2.0))],
)
def test_new_objects_go_where_the_same_objects_went(model, seed):
    X, _ = noisy(seed)
    model = model.set_params(random_state=seed).fit(X)
    np.testing.assert_array_equal(model.labels_ >= 0, model.scores_ >= model.threshold_)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    # Also one by one: the object at the radius must not hang on the company it comes in.
    alone = np.concatenate([model.predict(row[None]) for row in X])
    np.testing.assert_array_equal(alone, model.labels_)
    np.testing.assert_allclose(model.score_samples(X), model.scores_, atol=1e-9)


def test_the_object_at_the_radius_is_inside_in_any_company(seed):
    # Products of another shape round otherwise; in eight dimensions they do.
    X = np.random.default_rng(seed).normal(size=(300, 8)) + 5
    for size in range(5, 300, 7):
        model = BBOCC(size, divergence="euclidean", random_state=seed).fit(X)
        last = int(np.flatnonzero(model.scores_ == model.threshold_)[0])
        for company in (1, 2, 3, 5, 17):
            rows = np.r_[last, np.arange(company - 1)]
            assert model.predict(X[rows])[0] == 0


def test_groups_are_found(seed):
    X, y = noisy(seed)
    one = BBOCC(30, divergence="euclidean", start="hocc").fit(X)
    assert (y[one.labels_ == 0] > 0).mean() > 0.9
    assert len(np.unique(y[one.labels_ == 0])) <= 2
    both = BBCPress(2, 60, divergence="euclidean", n_init=5, random_state=seed).fit(X)
    assert both.n_clusters_ == 2
    assert (y[both.labels_ >= 0] > 0).mean() > 0.9
    runs = [
        bbcpress(X, 2, 60, divergence="euclidean", random_state=np.random.RandomState(seed))
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].labels, runs[1].labels)
    assert both.scores_[both.labels_ >= 0].sum() >= runs[0].scores[runs[0].labels >= 0].sum()


def test_other_forms_of_the_same_data(seed):
    X, y = noisy(seed)
    start = np.where(np.arange(len(X)) % 7 == 0, y, -1)
    dense = bbc(X, 70, start, divergence="euclidean")
    rows = bbc(sparse.csr_array(X), 70, start, divergence="euclidean")
    kernel = bbc(X @ X.T, 70, start, divergence="precomputed")
    for other in (rows, kernel):
        np.testing.assert_array_equal(other.labels, dense.labels)
        np.testing.assert_allclose(other.scores, dense.scores, atol=1e-9)
    np.testing.assert_allclose(kernel.centres @ X, dense.centres)
    # Labels may have holes, and a bubble without objects is gone.
    holes = bbc(X, 70, np.where(start > 0, 5 * start, start), divergence="euclidean")
    np.testing.assert_array_equal(holes.labels, dense.labels)
    far = np.concatenate([X[160:161], X[190:191], np.full((1, 2), 90.0)])
    assert bbc(X, 40, far, divergence="euclidean").n_clusters == 2


def test_degenerate_data():
    X = np.random.default_rng(0).normal(size=(12, 2))
    for model in (BBOCC(3), BBCPress(2, 3)):
        model.fit(np.full((6, 2), 7.0))
        assert model.flag_ == "no_contrast"
        assert (model.labels_ == -1).all()
        assert (model.predict(X) == -1).all()
        assert np.isinf(model.threshold_)
        model.fit([[1.0, 2.0]])
        assert model.flag_ == "degenerate"
        np.testing.assert_array_equal(model.labels_, [-1])
    for size in (12, 40, 1.0):
        assert (bbocc(X, size, random_state=0).labels == 0).all()
        assert (bbcpress(X, 3, size, random_state=0).labels >= 0).all()
    # Equal objects at the radius are all inside.
    twins = np.r_[np.zeros((5, 1)), [[3.0], [9.0]]]
    assert (bbocc(twins, 2, divergence="euclidean", start="hocc").labels >= 0).sum() == 5
    flat = np.c_[X, np.ones(12)]
    np.testing.assert_array_equal(
        bbocc(flat, 4, start="hocc").labels, bbocc(X, 4, start="hocc").labels
    )


def test_bad_input():
    X = np.random.default_rng(0).normal(size=(12, 2))
    for bad in (0, 0.0, 1.5, -3, None):
        with pytest.raises(InvalidParameterError, match="'n_foreground' parameter of BBOCC"):
            bbocc(X, bad)
    with pytest.raises(InvalidParameterError, match=r"at most the number of foreground objects, 4"):
        bbcpress(X, 5, 4)
    with pytest.raises(InvalidParameterError, match="'start' parameter of BBOCC"):
        BBOCC(3, start="best").fit(X)
    with pytest.raises(InvalidParameterError, match="'divergence' parameter"):
        BBOCC(3, divergence="manhattan").fit(X)
    with pytest.raises(InvalidInputError, match="at least 0"):
        bbocc(X, 3, divergence="kl")
    with pytest.raises(InvalidInputError, match="symmetric"):
        bbocc(np.arange(16.0).reshape(4, 4), 3, divergence="precomputed")
    for start in (np.full(12, -1), np.zeros((2, 3)), np.zeros(5), np.full((1, 2), np.nan)):
        with pytest.raises(InvalidInputError, match="bbc needs a start"):
            bbc(X, 3, start)


def test_equal_rows_are_told_apart_from_others_sparse_or_not():
    rows = np.array([[0.0, 2.0, 0.0], [0.0, 2.0, 0.0], [0.0, 2.0, 0.0]])
    others = [rows + np.eye(3)[[0, 0, 1]], rows * [[1], [1], [3]], rows * [[1], [1], [0]]]
    for form in (np.asarray, sparse.csr_array):
        for same in (rows, 0 * rows):
            assert bbocc(form(same), 2, divergence="euclidean").flag == "no_contrast"
        for other in others:
            assert bbocc(form(other), 2, divergence="euclidean", random_state=0).flag is None


@pytest.mark.parametrize("criterion", ["radius", "sum"])
def test_of_equal_centres_the_first_is_taken_in_any_block(criterion):
    class Ring:
        """Four objects in a circle: each is as near to the others as any."""

        def rows(self):
            gaps = np.array([[0.0, 1, 2, 1], [1, 0, 1, 2], [2, 1, 0, 1], [1, 2, 1, 0]])
            yield from ((low, gaps[low : low + 2].copy()) for low in (0, 2))

    assert best_centre(Ring(), 2, criterion) == 0


@pytest.mark.parametrize("kind", [np.uint8, np.uint64, np.int16, np.float32, bool])
def test_a_start_of_labels_may_be_of_any_type(kind, seed):
    X = np.random.default_rng(seed).normal(size=(12, 2))
    labels = np.arange(12) % 2
    wanted = bbc(X, 5, labels)
    np.testing.assert_array_equal(bbc(X, 5, labels.astype(kind)).labels, wanted.labels)


def test_a_start_of_labels_has_no_gaps():
    X = np.random.default_rng(0).normal(size=(7, 2))
    for bad in (np.nan, np.inf):
        with pytest.raises(InvalidInputError, match="bbc needs a start"):
            bbc(X, 3, [0, 0, 0, 1, 1, 1, bad])


def test_scores_are_zero_where_nothing_stood_out():
    scores = BBOCC(3).fit(np.full((6, 2), 7.0)).score_samples(np.eye(2))
    assert (scores == 0).all()
    assert not np.signbit(scores).any()
