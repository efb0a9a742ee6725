"""Soft memberships of the weighted-object paper against its equations, one entry at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba import config
from scipy import sparse
from strategies import ensembles

from consilience.consensus._memberships import (
    around_centres,
    compressed,
    mean_distances,
    stacked,
    weighted_centres,
)
from consilience.consensus.soft import wosp
from consilience.evidence.weights import object_weights
from consilience.generate import KMeansEnsemble

compiled = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")


@pytest.fixture
def blobs(seed):
    """Three groups of thirty, and ten k-means members of two to four clusters."""
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.5, (30, 2)) for c in ((0, 0), (4, 0), (2, 4))])
    return X, KMeansEnsemble(10, (2, 4), random_state=seed).generate(X), np.repeat([0, 1, 2], 30)


def slow_memberships(ensemble, X, weights, t=None):
    """Reference: equations 6 to 9, one object and one cluster at a time."""
    tables = []
    for labels, k in zip(ensemble, ensemble.n_clusters, strict=True):
        centres = [
            np.average(X[labels == c], axis=0, weights=weights[labels == c]) for c in range(k)
        ]
        D = np.array([[((x - m) ** 2).sum() for m in centres] for x in X])
        width = D.mean() if t is None else t
        P = np.exp(-(D - D.min(axis=1, keepdims=True)) / (width or 1.0))
        tables.append(P / P.sum(axis=1, keepdims=True))
    return tables


@st.composite
def problems(draw):
    ensemble = draw(ensembles(min_objects=3, max_objects=9))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    X = rng.normal(draw(st.sampled_from([0, 1e4])), 1, (ensemble.n_objects, 2))
    return ensemble, X, rng.uniform(0.1, 1, ensemble.n_objects)


@given(problems(), st.sampled_from([None, 0.7]))
def test_memberships_equal_their_definition(problem, t):
    ensemble, X, weights = problem
    if (ensemble.n_clusters < 1).any():
        return
    soft = around_centres(X, weighted_centres(ensemble, X, weights), t, "each")
    wanted = slow_memberships(ensemble, X, weights, t)
    for r, table in enumerate(wanted):
        np.testing.assert_allclose(soft.table(r, 0, len(X)), table, atol=1e-10)
        np.testing.assert_array_equal(soft.table(r, 1, 3), soft.table(r, 0, len(X))[1:3])
    telling = [table for table in wanted if table.shape[1] > 1]
    if telling:
        P = stacked(soft, unit=False, n_jobs=None)
        np.testing.assert_allclose(P, np.hstack(telling), atol=1e-10)


@given(problems())
def test_products_of_rows_equal_equation_11(problem):
    ensemble, X, weights = problem
    if (ensemble.n_clusters < 2).any():
        return
    tables = slow_memberships(ensemble, X, weights)
    cosines = [
        P @ P.T / np.outer(np.linalg.norm(P, axis=1), np.linalg.norm(P, axis=1)) for P in tables
    ]
    soft = around_centres(X, weighted_centres(ensemble, X, weights), None, "each")
    F = stacked(soft, unit=True, n_jobs=None)
    np.testing.assert_allclose(F @ F.T, np.mean(cosines, axis=0), atol=1e-10)
    np.testing.assert_allclose((F**2).sum(axis=1), 1, atol=1e-10)


@given(problems())
def test_the_width_is_the_mean_over_all_pairs_of_object_and_centre(problem):
    ensemble, X, weights = problem
    centres = weighted_centres(ensemble, X, weights)
    for got, c in zip(mean_distances(X, centres), centres, strict=True):
        if len(c):
            wanted = ((X[:, None] - c[None]) ** 2).sum(axis=2).mean()
            assert got == pytest.approx(wanted or 1.0, rel=1e-10)
        else:
            assert got == 0


def test_sparse_data_give_the_same_memberships(blobs):
    X, ensemble, _ = blobs
    X = np.where(np.abs(X) < 0.3, 0, X)
    weights = object_weights(ensemble)
    tables = [
        stacked(
            around_centres(data, weighted_centres(ensemble, data, weights), None, "each"),
            unit=True,
            n_jobs=None,
        )
        for data in (X, sparse.csr_array(X))
    ]
    np.testing.assert_allclose(tables[0], tables[1], atol=1e-10)


def test_a_width_of_the_first_member_for_all(blobs):
    X, ensemble, _ = blobs
    centres = weighted_centres(ensemble, X, np.ones(len(X)))
    first = around_centres(X, centres, None, "first")
    same = around_centres(X, centres, mean_distances(X, centres)[0], "each")
    np.testing.assert_array_equal(first.table(3, 0, 90), same.table(3, 0, 90))
    assert wosp(ensemble, 3, X=X, t_mode="first", random_state=0).n_clusters == 3


def test_equal_objects_have_equal_memberships_and_no_width():
    X = np.ones((4, 2))
    soft = around_centres(X, [X[:2], X[:1]], None, "each")
    np.testing.assert_array_equal(soft.table(0, 0, 4), 0.5)
    assert soft.dividing == [0]


def test_objects_far_from_every_centre_belong_to_the_nearest():
    """Their distances over a small width would leave nothing of any membership."""
    X = np.array([[0.0], [1e3], [-1e3]])
    soft = around_centres(X, [np.array([[0.0], [1.0]])], 1e-3, "each")
    np.testing.assert_allclose(soft.table(0, 0, 3), [[1, 0], [0, 1], [1, 0]], atol=1e-12)


@compiled
def test_fewer_columns_have_the_same_products(seed):
    rng = np.random.default_rng(seed)
    X = np.concatenate([rng.normal(c, 0.5, (2000, 3)) for c in range(5)])
    ensemble = KMeansEnsemble(20, 5, max_samples=0.1, random_state=seed).generate(X)
    soft = around_centres(X, weighted_centres(ensemble, X, np.ones(len(X))), None, "each")
    F, G = stacked(soft, unit=True, n_jobs=None), compressed(soft, n_jobs=2)
    assert G.shape[1] < F.shape[1] / 2
    some = rng.integers(0, len(X), 200)
    gaps = np.abs(F[some] @ F[some].T - G[some] @ G[some].T)
    assert gaps.max() < 1e-3
    assert gaps.mean() < 1e-5
    np.testing.assert_array_equal(G, compressed(soft, n_jobs=None))


def test_objects_of_any_length_keep_their_direction():
    """Rows of unit length are compressed: what is short is as much an object as what is long."""

    class Rows:
        n_objects, n_columns = 6, 3
        raw = np.array([[1.0, 0, 0], [1, 0, 0], [0, 1e-9, 0], [0, 1e-9, 0], [0, 0, 1], [0, 0, 1]])

        def rows(self, start, stop, *, unit):
            rows = self.raw[start:stop]
            return rows / np.linalg.norm(rows, axis=1, keepdims=True) if unit else rows

    G = compressed(Rows(), n_jobs=None)
    np.testing.assert_allclose(G @ G.T, np.kron(np.eye(3), np.ones((2, 2))), atol=1e-6)
