"""kMD: sums that are updated, rounds by the definition, families, bad input."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import multivariate_normal
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority._families import FAMILIES
from consilience.minority.kmd import KMD, kmd

FAMILY = st.sampled_from(sorted(FAMILIES))


@parametrize_with_checks([KMD(start_size=20, min_size=5, n_rounds=20)])
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def objects(family, seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    if family == "gaussian":
        return 100 + rng.normal(size=(n, d)) * 10.0 ** rng.integers(-2, 2, d)
    counts = rng.poisson(rng.gamma(1, 2, d), (n, d)).astype(float)
    return counts if family == "multinomial" else (counts > 0).astype(float)


@given(FAMILY, st.integers(0, 2**32 - 1), st.data())
@settings(max_examples=40)
def test_updated_sums_are_those_of_a_new_fit(family, seed, data):
    X = objects(family, seed)
    model = FAMILIES[family](X, owner="KMD")
    order = np.random.default_rng(seed).permutation(len(X))
    keep = data.draw(st.integers(20, len(X)))
    sums = model.sums(order)
    for gone in np.array_split(order[keep:], 3):
        sums = sums - model.sums(gone)
    fresh = model.sums(order[:keep])
    assert sums.count == fresh.count
    np.testing.assert_allclose(sums.first, fresh.first, rtol=1e-9, atol=1e-9)
    everybody = np.arange(len(X))
    np.testing.assert_allclose(
        model.log_density(sums, everybody), model.log_density(fresh, everybody), 1e-7, 1e-7
    )


@given(FAMILY, st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_log_densities_equal_their_definitions(family, seed):
    X = objects(family, seed)
    rows = np.random.default_rng(seed).permutation(len(X))[:25]
    model = FAMILIES[family](X, owner="KMD")
    found = model.log_density(model.sums(rows), np.arange(len(X)))
    if family == "gaussian":
        wide = np.ptp(X, axis=0) > 0
        normal = multivariate_normal(X[rows][:, wide].mean(axis=0), np.cov(X[rows][:, wide].T))
        wanted = normal.logpdf(X[:, wide])
    elif family == "multinomial":
        share = (X[rows].sum(axis=0) + 1) / (X[rows].sum() + X.shape[1])
        wanted = X @ np.log(share)
    else:
        share = (X[rows].sum(axis=0) + 1) / (len(rows) + 2)
        wanted = np.where(X == 1, np.log(share), np.log(1 - share)).sum(axis=1)
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-7)


def rounds_slowly(X, n_rounds, start_size, min_size, prior, seed):
    """The definition for Gaussian groups in a box, fitted anew at every step."""
    n, rng = len(X), np.random.RandomState(seed)
    outside = -np.log(np.ptp(X, axis=0)).sum()
    labels, found = np.full(n, -1), 0
    for _ in range(n_rounds):
        free = np.flatnonzero(labels < 0)
        if len(free) < min_size:
            break
        centre = X[free[rng.randint(len(free))]]
        order = np.argsort(((X[free] - centre) ** 2).sum(axis=1), kind="stable")
        group = free[order[:start_size]]
        while len(group) >= min_size:
            inside = multivariate_normal(X[group].mean(axis=0), np.cov(X[group].T))
            one, other = inside.logpdf(X[group]), np.full(len(group), outside)
            if prior:
                with np.errstate(divide="ignore"):
                    one, other = (
                        one + np.log(len(group) / n),
                        other + np.log((len(free) - len(group)) / n),
                    )
            if not (one < other).any():
                break
            group = group[one >= other]
        if len(group) >= min_size:
            labels[group] = found
            found += 1
    return labels


def noisy(seed, d=2):
    rng = np.random.default_rng(seed)
    groups = [rng.normal(c, 0.1, (50, d)) for c in (-2, 2)]
    return np.concatenate([rng.uniform(-4, 4, (200, d)), *groups]), np.repeat(
        [0, 1, 2], [200, 50, 50]
    )


@pytest.mark.parametrize("prior", [True, False])
@pytest.mark.parametrize("start_size", [40, 120, 1000])
def test_rounds_equal_the_definition(seed, start_size, prior):
    X, _ = noisy(seed)
    found = kmd(X, n_rounds=12, start_size=start_size, min_size=20, prior=prior, random_state=seed)
    wanted = rounds_slowly(X, 12, start_size, 20, prior, seed)
    np.testing.assert_array_equal(found.labels, wanted)
    np.testing.assert_array_equal(found.sizes, np.bincount(wanted[wanted >= 0]))


def test_gaussian_groups_are_found(seed):
    X, y = noisy(seed)
    model = KMD(start_size=100, min_size=20, random_state=seed).fit(X)
    assert (model.labels_[y > 0] >= 0).mean() > 0.9
    assert (model.labels_[y == 0] < 0).mean() > 0.9
    # A constant column says nothing; a copy of a column makes every covariance singular.
    flat = KMD(start_size=100, min_size=20, random_state=seed).fit(np.c_[X, np.ones(len(X))])
    np.testing.assert_array_equal(flat.labels_, model.labels_)
    copied = KMD(start_size=100, min_size=20, random_state=seed).fit(np.c_[X, X[:, :1]])
    assert copied.labels_.shape == y.shape


@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
def test_groups_of_counted_rows_are_found(family, seed):
    rng = np.random.default_rng(seed)
    noise = np.array([rng.multinomial(60, rng.dirichlet(np.full(40, 0.3))) for _ in range(200)])
    topic = np.r_[np.full(10, 0.09), np.full(30, 0.1 / 30)]
    X = np.concatenate([noise, rng.multinomial(60, topic, 60)])
    X = X.astype(float) if family == "multinomial" else (X > 0).astype(float)
    options = {"family": family, "start_size": 100, "min_size": 20, "random_state": seed}
    found = kmd(X, n_rounds=30, **options)
    # Groups of the topic are of the topic only, whatever else is found among the noise.
    all_, topics = (
        np.bincount(rows[rows >= 0], minlength=len(found.sizes))
        for rows in (found.labels, found.labels[200:])
    )
    assert topics[topics > 0.8 * all_].sum() > 40
    rows = kmd(sparse.csr_array(X), n_rounds=30, **options)
    np.testing.assert_array_equal(rows.labels, found.labels)
    same = kmd(X, n_rounds=30, background="same", **options)
    np.testing.assert_array_equal(same.labels, found.labels)


def test_degenerate_data_and_bad_input():
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert kmd(np.ones((8, 2)), min_size=2).flag == "no_contrast"
    assert (KMD(min_size=2).fit(np.ones((8, 2))).labels_ == -1).all()
    assert KMD().fit([[1.0, 2.0]]).flag_ == "degenerate"
    too_few = kmd(X, min_size=31)
    assert too_few.n_rounds == 0
    assert (too_few.labels == -1).all()
    np.testing.assert_array_equal(
        kmd(X, min_size=0.25, random_state=0).labels, kmd(X, min_size=8, random_state=0).labels
    )
    twins = np.repeat(X[:3], 10, axis=0)
    assert np.isfinite(kmd(twins, start_size=10, min_size=2, random_state=0).sizes).all()
    for name, bad in (("family", "normal"), ("min_size", 0), ("start_size", 0), ("prior", 1)):
        with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of KMD"):
            KMD(**{name: bad}).fit(X)
    with pytest.raises(InvalidInputError, match="needs counts"):
        kmd(X, family="multinomial")
    with pytest.raises(InvalidInputError, match="zeros and ones"):
        kmd(np.abs(X), family="bernoulli")
    with pytest.raises(InvalidParameterError, match="'background' parameter of KMD"):
        kmd(np.abs(X), family="multinomial", background="uniform")
    with pytest.raises(TypeError, match="Sparse data"):
        kmd(sparse.csr_array(X))
