"""Graph members: their graph and embedding against definitions, and graphs that fall apart."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.linalg import ArpackNoConvergence
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience import UNSEEN
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.generate import GraphEnsemble, graphs
from consilience.generate.graphs import _distinct, _embedding, _shares, mutual_graph


def rings(seed, n=300):
    """Two circles, one inside the other."""
    rng = np.random.default_rng(seed)
    angle = rng.uniform(0, 2 * np.pi, n)
    truth = rng.integers(0, 2, n)
    radius = 1 + 3 * truth + rng.normal(0, 0.05, n)
    return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), truth


def mutual_slowly(X, K):
    """Reference: i and j are linked if each is among the K nearest of the other."""
    D = cdist(X, X)
    np.fill_diagonal(D, np.inf)
    near = np.zeros(D.shape, bool)
    for i, row in enumerate(np.argsort(D, axis=1)[:, :K]):
        near[i, row] = True
    return near & near.T


@given(st.integers(0, 2**32 - 1), st.integers(2, 30), st.integers(1, 4), st.integers(1, 9))
def test_the_graph_equals_its_definition(seed, n, d, K):
    X = np.random.default_rng(seed).normal(size=(n, d))
    K = min(K, n - 1)
    got = mutual_graph(X, K).toarray()
    np.testing.assert_array_equal(got, mutual_slowly(X, K))
    np.testing.assert_array_equal(got, mutual_graph(sparse.csr_array(X), K).toarray())


@given(st.integers(0, 2**32 - 1), st.integers(1, 20))
def test_distinct_rows_of_arrays_and_sparse_matrices(seed, n):
    X = np.random.default_rng(seed).integers(0, 2, (n, 3)).astype(float)
    for table in (X, sparse.csr_array(X)):
        points, inverse, copies = _distinct(table)
        points = points.toarray() if sparse.issparse(points) else points
        np.testing.assert_array_equal(points[inverse], X)
        np.testing.assert_array_equal(copies, np.bincount(inverse))
        assert len(np.unique(points, axis=0)) == len(points)


def test_few_eigenvectors_are_those_of_the_dense_matrix(seed, monkeypatch):
    X = np.random.default_rng(seed).normal(size=(400, 3))
    graph = mutual_graph(X, 12)
    _, component = sparse.csgraph.connected_components(graph, directed=False)
    group = np.flatnonzero(component == np.bincount(component).argmax())
    part = graph.toarray()[np.ix_(group, group)]
    root = np.sqrt(part.sum(axis=1))
    expected = np.linalg.eigvalsh(part / root / root[:, None])[::-1][:5]
    for dense in (10**6, 10):
        monkeypatch.setattr(graphs, "_DENSE", dense)
        values, vectors = _embedding(graph, group, 5, np.random.RandomState(0))
        np.testing.assert_allclose(values, expected, atol=1e-3)
        assert values[0] == pytest.approx(1.0)
        leading = np.abs(vectors[:, 0]) / np.linalg.norm(vectors[:, 0])
        np.testing.assert_allclose(leading, root / np.linalg.norm(root), atol=1e-2)


def test_components_share_the_clusters_by_their_eigenvalues():
    spaces = [(np.array(v), np.empty((0, 0))) for v in ([1.0, 0.9, 0.5], [1.0], [1.0, 0.95, 0.6])]
    assert _shares(spaces, 3).tolist() == [1, 1, 1]
    assert _shares(spaces, 4).tolist() == [1, 1, 2]
    assert _shares(spaces, 6).tolist() == [2, 1, 3]
    assert _shares(spaces, 9).tolist() == [3, 1, 3]


@pytest.mark.parametrize("max_samples", [1.0, 0.8])
def test_members_do_not_cross_rings(max_samples, seed):
    X, truth = rings(seed)
    ensemble = GraphEnsemble(8, (2, 6), max_samples=max_samples, random_state=seed).generate(X)
    for labels in ensemble:
        assert not set(labels[truth == 0]) & set(labels[truth == 1])
    two = GraphEnsemble(5, 2, max_samples=max_samples, random_state=seed).generate(X)
    for labels in two:
        assert adjusted_rand_score(truth, labels) == 1.0


def test_fewer_clusters_than_components_keeps_the_largest(seed):
    rng = np.random.default_rng(seed)
    sizes = [60, 40, 20, 12]
    truth = np.repeat(np.arange(4), sizes)
    X = np.array([[0.0, 0], [100, 0], [0, 100], [104, 0]])[truth] + rng.normal(size=(132, 2)) / 9
    for labels in GraphEnsemble(3, 3, max_samples=1.0, random_state=seed).generate(X):
        merged = np.where(truth == 3, 1, truth)  # the smallest goes to whom it is near
        assert adjusted_rand_score(merged, labels) == 1.0


def test_strays_make_no_clusters_of_their_own(seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1], 60)
    X = 20.0 * truth[:, None] + rng.normal(size=(120, 2))
    strays = np.array([[-300.0, 0], [400, 0], [0, 500]])
    ensemble = GraphEnsemble(6, 2, max_samples=1.0, random_state=seed).generate(
        np.concatenate([X, strays])
    )
    for labels, record in zip(ensemble, ensemble.records, strict=True):
        assert adjusted_rand_score(truth, labels[:120]) == 1.0
        assert labels[120] == labels[0]
        assert labels[121] == labels[119]
        assert record["n_loose"] >= 3
        assert record["n_components"] >= 5


@pytest.mark.parametrize("n", [2, 3, 4, 7])
def test_few_objects_are_enough(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    ensemble = GraphEnsemble(5, random_state=seed).generate(X)
    assert ensemble.labels.shape == (n, 5)
    assert ensemble.labels.min() >= 0
    assert (ensemble.n_clusters <= 3).all()
    alone = GraphEnsemble(2, 1, random_state=seed).generate(X)
    assert (alone.labels == 0).all()


@pytest.mark.parametrize("as_sparse", [False, True])
def test_copies_stay_together(as_sparse, seed):
    """More copies than neighbours: without collapsing they would be islands."""
    rng = np.random.default_rng(seed)
    points = rng.normal(size=(12, 3)) + 30.0 * np.repeat([0, 1], 6)[:, None]
    which = np.repeat(np.arange(12), rng.integers(1, 40, 12))
    X = points[which]
    ensemble = GraphEnsemble(6, 2, n_neighbors=5, random_state=seed).generate(
        sparse.csr_array(X) if as_sparse else X
    )
    for labels in ensemble:
        assert adjusted_rand_score(which // 6, labels) == 1.0
    for labels in GraphEnsemble(4, 30, max_samples=1.0, random_state=0).generate(X):
        assert adjusted_rand_score(which, labels) == 1.0


def test_left_out_objects_follow_the_nearest_seen_or_stay_unseen(seed):
    X, _ = rings(seed)
    settings = {"n_members": 3, "n_clusters": 4, "max_samples": 0.5, "random_state": seed}
    nearest = GraphEnsemble(**settings).generate(X)
    unseen = GraphEnsemble(assign="unseen", **settings).generate(X)
    for full, part in zip(nearest, unseen, strict=True):
        left_out = part == UNSEEN
        assert left_out.sum() == 150
        assert adjusted_rand_score(full[~left_out], part[~left_out]) == 1.0
        closest = np.flatnonzero(~left_out)[cdist(X[left_out], X[~left_out]).argmin(axis=1)]
        np.testing.assert_array_equal(full[left_out], full[closest])


def test_graphs_of_many_objects_are_those_of_some(monkeypatch, seed):
    X, truth = rings(seed)
    monkeypatch.setattr(graphs, "_MOST_OBJECTS", 90)
    for max_samples in (0.8, 1.0):
        ensemble = GraphEnsemble(4, 2, max_samples=max_samples, random_state=seed).generate(X)
        assert [record["n_objects"] for record in ensemble.records] == [90] * 4
        assert (ensemble.labels >= 0).all()
        assert np.mean([adjusted_rand_score(truth, labels) for labels in ensemble]) > 0.9
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' .* of a graph, 90. Got 91"):
        GraphEnsemble(4, 91, max_samples=1.0).generate(X)


def test_the_objects_of_a_graph_are_different_ones(monkeypatch, seed):
    X, _ = rings(seed)
    monkeypatch.setattr(graphs, "_MOST_OBJECTS", 90)
    for max_samples in (0.8, 1.0):
        generator = GraphEnsemble(2, 2, max_samples=max_samples, assign="unseen", random_state=seed)
        seen = (generator.generate(X).labels != UNSEEN).sum(axis=0)
        assert seen.tolist() == [90, 90]


def test_as_many_objects_as_a_graph_may_have_are_all_in_it(monkeypatch, seed):
    X, _ = rings(seed)
    free = GraphEnsemble(2, 2, max_samples=1.0, random_state=seed).generate(X)
    monkeypatch.setattr(graphs, "_MOST_OBJECTS", len(X))
    held = GraphEnsemble(2, 2, max_samples=1.0, random_state=seed).generate(X)
    np.testing.assert_array_equal(held.labels, free.labels)
    assert [record["n_objects"] for record in held.records] == [None] * 2


def test_a_member_whose_eigenvectors_fail_is_left_out_with_a_warning(monkeypatch, seed):
    X, _ = rings(seed)
    calls = []

    def fails_once(*args, **kwargs):
        calls.append(1)
        if len(calls) == 1:
            raise ArpackNoConvergence("no eigenvectors", np.empty(0), np.empty((0, 0)))
        return whole(*args, **kwargs)

    whole = graphs._embedding
    monkeypatch.setattr(graphs, "_embedding", fails_once)
    with pytest.warns(ConsilienceWarning, match=r"1 of 3 members failed.*ArpackNoConvergence"):
        ensemble = GraphEnsemble(3, 3, random_state=seed).generate(X)
    assert ensemble.n_members == 2


def test_units_do_not_matter(seed):
    X, _ = rings(seed)
    first, second = (
        GraphEnsemble(3, (2, 6), random_state=seed).generate(x).labels
        for x in (X, np.ldexp(X, 600))
    )
    np.testing.assert_array_equal(first, second)


def test_a_consensus_takes_them(seed):
    X, truth = rings(seed)
    model = cs.LWEA(2, generator=GraphEnsemble(15, (2, 8)), random_state=seed).fit(X)
    assert adjusted_rand_score(truth, model.labels_) == 1.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter of GraphEnsemble .* Got 0"),
        ({"n_members": 0}, "'n_members' .* Got 0"),
        ({"n_clusters": 301}, "'n_clusters' .* Got 301"),
        ({"max_samples": 0.0}, "'max_samples' .* Got 0.0"),
        ({"assign": "mean"}, "'assign' .* Got 'mean'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        GraphEnsemble(**params).generate(rings(0)[0])
