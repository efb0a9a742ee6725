"""Divergences equal their definitions, dense and sparse, and keep to their domains."""

from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority import _divergence
from consilience.minority._divergence import _inverse_roots
from consilience.minority.divergences import DIVERGENCES, Divergence, Mahalanobis, resolve

VECTORS = sorted(set(DIVERGENCES) - {"precomputed"})


def data(name, seed, n=30, d=4):
    """Objects in the domain of a divergence, some of their values zero where they may be."""
    rng = np.random.default_rng(seed)
    X = rng.gamma(1.0, size=(n, d))
    if name == "logistic":
        X = rng.uniform(size=(n, d))
        X[rng.uniform(size=X.shape) < 0.2] = 1
    if name in ("kl", "logistic"):
        X[rng.uniform(size=X.shape) < 0.3] = 0
    return X


def slowly(name, X, S):
    """Reference: one pair at a time, from the definition, smoothed as the docstrings say."""
    means = X.mean(axis=0)
    shift = 1e-9 * np.where(means > 0, means, means.mean())
    inverse = np.linalg.pinv(np.cov(X.T)) if name == "mahalanobis" else None

    def distance(x, s):
        gap = x - s
        if name == "euclidean":
            return gap @ gap
        if name == "mahalanobis":
            return gap @ inverse @ gap
        if name == "gaussian":
            return 20 * (1 - np.exp(-10 * (gap @ gap)))
        if name == "cosine":
            return 1 - x @ s / np.linalg.norm(x) / np.linalg.norm(s)
        if name == "logistic":
            x, s = np.clip(x, 1e-6, 1 - 1e-6), np.clip(s, 1e-6, 1 - 1e-6)
            return (x * np.log(x / s) + (1 - x) * np.log((1 - x) / (1 - s))).sum()
        x, s = x + shift, s + shift
        if name == "kl":
            return (x * np.log(x / s) - x + s).sum()
        return (x / s - np.log(x / s) - 1).sum()

    return np.array([[distance(x, s) for s in S] for x in X])


@pytest.mark.parametrize("name", VECTORS)
def test_pairs_equal_the_definition(name, seed):
    X = data(name, seed)
    wanted = slowly(name, X, X[:7])
    found = resolve(name).fit(X).pair(X, X[:7])
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-7)
    np.testing.assert_allclose(np.diagonal(found), 0, atol=1e-7)


@pytest.mark.parametrize("name", sorted(set(VECTORS) - {"mahalanobis"}))
def test_sparse_equals_dense(name, seed):
    X = data(name, seed)
    X[:, 1:][np.random.default_rng(seed).uniform(size=(30, 3)) < 0.4] = 0
    fitted, stored = resolve(name).fit(X), resolve(name).fit(sparse.csr_array(X))
    wanted = fitted.pair(X, X[:5])
    sparse_seeds = stored.pair(sparse.csr_matrix(X), sparse.csr_array(X[:5]))
    np.testing.assert_allclose(sparse_seeds, wanted, rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(stored.pair(sparse.csr_array(X), X[:5]), wanted, atol=1e-6)
    weights = np.random.default_rng(seed).uniform(size=(30, 2))
    np.testing.assert_allclose(stored.mean(sparse.csr_array(X), weights), fitted.mean(X, weights))


@pytest.mark.parametrize("name", sorted(set(VECTORS) - {"gaussian", "cosine"}))
def test_the_mean_is_the_best_centroid(name, seed):
    # Smoothing moves the optimum by as little as it is: positive data keep clear of it.
    X = data("logistic" if name == "logistic" else "euclidean", seed) * 0.9 + 0.01
    weights = np.random.default_rng(seed).uniform(size=30)
    divergence = resolve(name).fit(X)
    mean = divergence.mean(X, weights)
    others = np.clip(mean + np.random.default_rng(1).normal(0, 0.02, (40, 4)), 1e-3, 0.999)
    if name != "logistic":
        others = np.abs(mean + np.random.default_rng(1).normal(0, 0.02, (40, 4)))
    costs = weights @ divergence.pair(X, np.vstack([mean, others]))
    assert costs.argmin() == 0


def test_means_of_one_and_of_many(seed):
    X = data("euclidean", seed)
    weights = np.random.default_rng(seed).integers(0, 3, size=(30, 3)).astype(float)
    weights[:, 2] = 0
    found = resolve("euclidean").mean(X, weights)
    np.testing.assert_allclose(found[0], np.average(X, axis=0, weights=weights[:, 0]))
    np.testing.assert_array_equal(found[2], 0)
    np.testing.assert_allclose(resolve("kl").mean(X), X.mean(axis=0))


@pytest.mark.parametrize("name", VECTORS)
def test_single_precision_stays_single_and_near(name, seed):
    X = data(name, seed)
    found = resolve(name).fit(X.astype(np.float32)).pair(X.astype(np.float32), X[:7])
    assert found.dtype == np.float32
    wanted = resolve(name).fit(X).pair(X, X[:7])
    # A zero in a seed makes terms of 1e9; what is left of their digits is relative to them.
    np.testing.assert_allclose(found, wanted, rtol=2e-5, atol=2e-5 * max(1, np.median(wanted)))


@pytest.mark.parametrize("name", ["euclidean", "gaussian", "mahalanobis"])
def test_far_from_the_origin_no_digits_are_lost(name, seed):
    X = np.random.default_rng(seed).normal(size=(50, 2)).astype(np.float32)
    # Whole thousands: the move itself rounds nothing away that float32 could hold.
    X = np.round(X * 256) / 256
    near, far = (resolve(name).fit(Z).pair(Z, Z[:9]) for Z in (X, X + np.float32(1000)))
    np.testing.assert_allclose(near, far, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "X",
    [
        np.ones((9, 3)),
        np.zeros((1, 2)),
        np.outer(np.arange(8.0), [1, 2, 0]),
        np.random.default_rng(0).normal(size=(3, 6)),
    ],
    ids=["constant", "one object", "collinear", "wide"],
)
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_mahalanobis_of_a_singular_covariance(X, covariance):
    found = resolve("mahalanobis", covariance=covariance).fit(X).pair(X, X)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, found.T, atol=1e-9)
    np.testing.assert_allclose(np.diagonal(found), 0, atol=1e-9)
    if np.ptp(X, axis=0).any() and covariance == "full":
        # In the directions there are, all n objects together are at n - 1 times the rank.
        rank = np.linalg.matrix_rank(X - X.mean(axis=0))
        centre = resolve("mahalanobis").fit(X).pair(X, X.mean(axis=0)[None])
        np.testing.assert_allclose(centre.sum(), (len(X) - 1) * rank)


def test_mahalanobis_does_not_feel_linear_maps(seed):
    rng = np.random.default_rng(seed)
    X, maps = rng.normal(size=(40, 3)), rng.normal(size=(3, 3)) + 3 * np.eye(3)
    first, second = (resolve("mahalanobis").fit(Z).pair(Z, Z) for Z in (X, X @ maps + 5))
    np.testing.assert_allclose(first, second, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("factor", [1e-300, 1e-7, 1e7, 1e150, 1e300])
@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_mahalanobis_does_not_feel_the_unit_of_a_column(factor, covariance, seed):
    """Beside a column in a unit of 1e7 the others once looked like rounding, and were dropped."""
    X = np.random.default_rng(seed).normal(size=(60, 4)) @ np.triu(np.ones((4, 4)))
    scaled = X * [1, factor, 1, 1]
    mahalanobis = resolve("mahalanobis", covariance=covariance)
    first, second = (mahalanobis.fit(Z).pair(Z, Z[:9]) for Z in (X, scaled))
    np.testing.assert_allclose(second, first, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_constant_column_counts_nothing_in_mahalanobis(dtype, seed):
    """Nor does one that is constant to rounding."""
    X = np.random.default_rng(seed).normal(size=(60, 2)).astype(dtype)
    wanted = resolve("mahalanobis").fit(X).pair(X, X[:9])
    for column in (np.full(60, 0.1), 1e6 * (1 + np.finfo(dtype).eps * (np.arange(60) % 2))):
        wide = np.column_stack([X, column.astype(dtype)])
        found = resolve("mahalanobis").fit(wide).pair(wide, wide[:9])
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-5)


@given(
    hnp.arrays(
        np.float64, st.tuples(st.integers(1, 8), st.integers(1, 3)), elements=st.floats(0, 5)
    )
)
@settings(max_examples=25)
@example(np.array([[2.2e-313]]))
@example(np.array([[5.0], [2.2e-313]]))
def test_divergences_are_never_negative(X):
    for name in ("euclidean", "gaussian", "mahalanobis", "kl", "itakura-saito"):
        found = resolve(name).fit(X).pair(X, X)
        assert np.isfinite(found).all()
        assert (found >= 0).all()


def test_a_kernel_over_any_objects_and_its_matrix_agree(seed):
    rng = np.random.default_rng(seed)
    words = ["".join(rng.choice(list("abc"), rng.integers(1, 6))) for _ in range(20)]

    def pairs_of_letters(a, b):
        assert isinstance(a, list)
        assert isinstance(b, list)
        count = [[s.count(p) for p in ("a", "b", "c", "ab", "bc")] for s in [*a, *b]]
        count = np.array(count)
        return count[: len(a)] @ count[len(a) :].T

    K = pairs_of_letters(words, words)
    by_callable = resolve(pairs_of_letters).pair(words, words[3:6])
    wanted = np.diagonal(K)[:, None] + np.diagonal(K)[3:6] - 2 * K[:, 3:6]
    np.testing.assert_allclose(by_callable, wanted)
    matrix = resolve("precomputed").fit(K)
    np.testing.assert_allclose(matrix.pair(K, [3, 4, 5]), wanted)
    distances = resolve("precomputed", kind="distance")
    D = np.sqrt(np.diagonal(K)[:, None] + np.diagonal(K) - 2 * K)
    np.testing.assert_allclose(distances.fit(D).pair(D, [3, 4, 5]), wanted, atol=1e-9)
    squared = resolve("precomputed", kind="squared_distance").fit(D**2)
    np.testing.assert_allclose(squared.pair(D**2, [3, 4, 5]), wanted, atol=1e-9)


@pytest.mark.parametrize("kind", ["kernel", "squared_distance"])
def test_centroids_of_a_matrix_are_those_of_the_vectors(kind, seed):
    X = np.random.default_rng(seed).normal(size=(25, 3))
    weights = np.random.default_rng(seed).uniform(size=(25, 4))
    plain = resolve("euclidean").fit(X)
    M = X @ X.T if kind == "kernel" else plain.pair(X, X)
    matrix = resolve("precomputed", kind=kind).fit(M)
    centroids = matrix.mean(M, weights)
    np.testing.assert_allclose(centroids.sum(axis=1), 1)
    np.testing.assert_array_equal(matrix.mean(M, np.zeros((25, 1))), np.zeros((1, 25)))
    wanted = plain.pair(X, plain.mean(X, weights))
    np.testing.assert_allclose(matrix.pair(M, centroids), wanted, atol=1e-9)


def test_new_objects_need_their_own_kernel_value(seed):
    X = np.random.default_rng(seed).normal(size=(12, 2))
    matrix = resolve("precomputed").fit(X[:8] @ X[:8].T)
    new = X[8:] @ X[:8].T
    with pytest.raises(InvalidInputError, match="own="):
        matrix.pair(new, [0, 1])
    found = matrix.pair(new, [0, 1], own=(X[8:] ** 2).sum(axis=1))
    np.testing.assert_allclose(found, resolve("euclidean").pair(X[8:], X[:2]), atol=1e-12)


@pytest.mark.parametrize(
    ("K", "words"),
    [
        (np.ones((3, 4)), "square"),
        (np.array([[1.0, 2.0], [0.0, 1.0]]), "symmetric"),
        (np.array([[1.0, 2.0], [2.0, 1.0]]), "Mercer"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "NaN"),
        (sparse.eye_array(3).tocsr(), "dense"),
    ],
)
def test_bad_matrices_are_refused(K, words):
    with pytest.raises(InvalidInputError, match=words):
        resolve("precomputed").fit(K)


@pytest.mark.parametrize("kind", ["distance", "squared_distance"])
def test_distances_are_at_least_zero_and_zero_to_oneself(kind):
    divergence = resolve("precomputed", kind=kind)
    with pytest.raises(InvalidInputError, match="0 from an object to itself"):
        divergence.fit(np.array([[1.0, 2.0], [2.0, 1.0]]))
    if kind == "squared_distance":
        with pytest.raises(InvalidInputError, match="at least 0"):
            divergence.fit(np.array([[0.0, -2.0], [-2.0, 0.0]]))


@pytest.mark.parametrize(
    ("name", "X", "words"),
    [
        ("kl", [[-1.0, 2.0]], "at least 0"),
        ("itakura-saito", [[1.0, -2.0]], "at least 0"),
        ("logistic", [[0.5, 1.5]], "from 0 to 1"),
        ("cosine", [[0.0, 0.0]], "not all zero"),
        ("mahalanobis", sparse.eye_array(3).tocsr(), "dense"),
    ],
)
def test_objects_outside_the_domain_are_refused(name, X, words):
    with pytest.raises(InvalidInputError, match=words):
        resolve(name).fit(X if sparse.issparse(X) else np.array(X))


@pytest.mark.parametrize("value", [0, -1.0, np.inf, np.nan, "large", True])
@pytest.mark.parametrize("name", ["alpha", "gamma"])
def test_gaussian_parameters_must_be_positive_numbers(name, value):
    with pytest.raises(InvalidParameterError, match=name):
        resolve("gaussian", **{name: value})


def test_gaussian_of_extreme_parameters_is_finite():
    with pytest.raises(InvalidParameterError, match="double is finite"):
        resolve("gaussian", alpha=1.5e308)
    X = np.array([[0.0], [1e-3], [1e200]])
    with np.errstate(over="ignore"):
        found = resolve("gaussian", alpha=1e300, gamma=1e300).pair(X[:2], X[:2])
    np.testing.assert_array_equal(found, [[0, 2e300], [2e300, 0]])


@pytest.mark.parametrize("wrong", ["manhattan", 3, None, Divergence])
def test_unknown_divergences_are_refused_by_name(wrong):
    with pytest.raises(InvalidParameterError, match="'euclidean', 'mahalanobis', 'gaussian'"):
        resolve(wrong)


def test_parameters_belong_to_names():
    with pytest.raises(InvalidParameterError, match="has no parameter 'gamma'"):
        resolve("euclidean", gamma=1.0)
    with pytest.raises(InvalidParameterError, match="go with the name"):
        resolve(resolve("gaussian"), gamma=1.0)
    assert resolve("gaussian", gamma=3).gamma == 3.0


def test_a_kernel_must_return_the_matrix_asked_for():
    with pytest.raises(InvalidInputError, match=r"shape \(2, 2\)"):
        resolve(lambda a, b: [1.0]).pair(["a", "b"], ["c"])
    with pytest.raises(InvalidInputError, match="NaN"):
        resolve(lambda a, b: np.full((len(a), len(b)), np.nan)).pair(["a"], ["c"])
    with pytest.raises(InvalidInputError, match="no centroids"):
        resolve(lambda a, b: 1).mean(["a"])


@pytest.mark.parametrize("value", [0.0, 0.26])
def test_a_smoothing_that_leaves_infinite_logits_is_refused(value):
    with pytest.raises(InvalidParameterError, match="smoothing"):
        type(resolve("logistic"))(smoothing=value)
    assert type(resolve("logistic"))(smoothing=0.25).smoothing == 0.25


@pytest.mark.parametrize(("gap", "is_rounding"), [(0.5e-8, True), (1.5e-8, False)])
def test_rounding_is_a_hundred_millionth_of_the_largest_entry(gap, is_rounding):
    K = 40.0 * np.array([[1.0, 0.5 + gap], [0.5, 1.0]])
    with nullcontext() if is_rounding else pytest.raises(InvalidInputError, match="symmetric"):
        resolve("precomputed").fit(K)


@pytest.mark.parametrize("name", ["kl", "itakura-saito"])
def test_some_smoothing_there_must_be(name):
    with pytest.raises(InvalidParameterError, match=r"'smoothing' parameter .* above 0"):
        type(resolve(name))(smoothing=0)


def test_variances_lost_in_rounding_have_no_root():
    values = np.array([4.0, 6e-12, 3e-12, 0.0, -1e-17])
    np.testing.assert_allclose(_inverse_roots(values), [0.5, 6e-12**-0.5, 0.0, 0.0, 0.0])
    for none in (np.zeros(3), np.array([]), np.array([-1e-17])):
        np.testing.assert_array_equal(_inverse_roots(none), np.zeros(len(none)))


@pytest.mark.parametrize("unit", [1e-12, 1e-3, 1.0, 1e12])
def test_what_is_no_kernel_is_seen_in_any_unit(unit):
    K = unit * np.array([[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    for matrix in (K, K + unit * np.array([[0, 0, 1e-6], [0, 0, 0], [0, 0, 0]])):
        with pytest.raises(InvalidInputError, match=r"symmetric|Mercer"):
            resolve("precomputed").fit(matrix)
    with pytest.raises(InvalidInputError, match="not a Mercer kernel"):
        resolve(lambda a, b: K[np.ix_(a, b)]).pair([0, 1, 2], [0, 1, 2])
    np.testing.assert_allclose(resolve("precomputed").fit(unit * np.eye(3)).own, unit)


@pytest.mark.parametrize(
    ("covariance", "most", "full"),
    [("diagonal", 2000, False), ("diagonal", 2, False), ("full", 2, True),
     ("auto", 2, False), ("auto", 3, True), ("auto", 2000, True)],
)  # fmt: skip
def test_mahalanobis_takes_the_variances_alone_where_it_is_told_so(
    covariance, most, full, seed, monkeypatch
):
    monkeypatch.setattr(_divergence, "_MOST_COLUMNS", most)
    X = np.random.default_rng(seed).normal(size=(30, 3)) @ [[1, 2, 0], [0, 1, 5], [0, 0, 0.1]]
    spread = np.cov(X.T)
    inverse = np.linalg.inv(spread if full else np.diag(np.diag(spread)))
    gaps = X[:, None] - X[:4]
    wanted = np.einsum("ijk,kl,ijl->ij", gaps, inverse, gaps)
    found = Mahalanobis(covariance=covariance).fit(X)
    np.testing.assert_allclose(found.pair(X, X[:4]), wanted, rtol=1e-7, atol=1e-9)
    with pytest.raises(InvalidParameterError, match="'covariance' parameter of mahalanobis"):
        Mahalanobis(covariance="none")


@pytest.mark.parametrize("name", ["euclidean", "gaussian", "kl", "itakura-saito", "logistic"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_no_objects_have_no_divergences_and_no_columns_make_none(name, form):
    seeds = np.full((2, 3), 0.5)
    fitted = resolve(name).fit(form(np.full((4, 3), 0.25)))
    assert fitted.pair(form(np.empty((0, 3))), seeds).shape == (0, 2)
    if name in ("euclidean", "gaussian"):
        assert resolve(name).pair(np.empty((0, 3)), seeds).shape == (0, 2)
        nothing = resolve(name).fit(form(np.empty((3, 0))))
        np.testing.assert_array_equal(nothing.pair(form(np.empty((3, 0))), np.empty((2, 0))), 0.0)
