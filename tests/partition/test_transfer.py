"""The transfer cut against the eigenvectors of the whole graph, and its degenerate inputs."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import eigh, subspace_angles
from sklearn.metrics import adjusted_rand_score

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.partition import LabelLinks, _embed, spectral, transfer, transfer_cut
from consilience.partition.graph import similarity_graph


def random_table(seed, n=30, p=8, density=0.6):
    rng = np.random.default_rng(seed)
    Q = rng.random((n, p)) * (rng.random((n, p)) < density)
    Q[np.arange(n), rng.integers(0, p, n)] += 0.1
    return Q


def planted(seed, n=60, k=3, members=10, wrong=0.2):
    """The indicator matrix of members that agree on k groups but for some labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, k, n)
    labels = np.where(
        rng.random((n, members)) < wrong, rng.integers(0, k, (n, members)), truth[:, None]
    )
    Q = np.concatenate([labels[:, [r]] == np.arange(k) for r in range(members)], axis=1)
    return Q.astype(float), truth


def embedded(Q, counts, k, rng):
    every, links = np.arange(Q.shape[1]), transfer._MatrixLinks(Q)
    table, degrees = transfer._columns(links, every, counts, k, rng)
    return links.times(table) / degrees[:, None]


def normalised_cut(Q, counts, labels, k):
    """Reference: the matrix of all objects."""
    Q = np.repeat(Q, counts, axis=0)
    labels = np.repeat(labels, counts)
    S = (Q / np.maximum(Q.sum(axis=0), 1e-300)) @ Q.T
    total = 0.0
    for c in range(k):
        inside = labels == c
        if S[inside].sum() > 0:
            total += S[np.ix_(inside, ~inside)].sum() / S[inside].sum()
    return total


@given(st.integers(0, 2**31), st.integers(2, 5))
def test_embedding_spans_the_eigenvectors_of_the_whole_graph(seed, k):
    Q = random_table(seed)
    n, p = Q.shape
    W = np.block([[np.zeros((n, n)), Q], [Q.T, np.zeros((p, p))]])
    d = W.sum(axis=1)
    values, vectors = eigh(W / np.sqrt(d[:, None] * d[None, :]))
    if values[-k] - values[-k - 1] < 1e-6:
        return  # the k leading eigenvectors are not defined
    wanted = (vectors / np.sqrt(d)[:, None])[:n, -k:]
    found = embedded(sparse.csr_array(Q), np.ones(n), k, np.random.RandomState(0))
    assert subspace_angles(wanted, found).max() < 1e-5


@given(st.integers(0, 2**31), st.integers(2, 4))
def test_cut_is_the_normalised_cut_of_the_labels(seed, k):
    Q = random_table(seed, n=12, p=5)
    counts = np.random.default_rng(seed).integers(1, 4, 12)
    found = transfer_cut(Q, k, weights=counts, random_state=0)
    assert found.cut == pytest.approx(normalised_cut(Q, counts, found.labels, k), abs=1e-9)


@given(st.integers(0, 2**31))
def test_dense_and_sparse_embeddings_agree(seed):
    Q = random_table(seed)
    rng = [np.random.RandomState(0) for _ in range(2)]
    dense = embedded(Q, np.ones(30), 3, rng[0])
    thin = embedded(sparse.csr_array(Q), np.ones(30), 3, rng[1])
    np.testing.assert_allclose(dense @ dense.T, thin @ thin.T, atol=1e-8)


def test_weights_are_repeated_rows(seed):
    Q = random_table(seed)
    counts = np.random.default_rng(seed).integers(1, 5, len(Q))
    once = embedded(Q, counts.astype(float), 3, np.random.RandomState(0))
    often = embedded(
        np.repeat(Q, counts, axis=0), np.ones(counts.sum()), 3, np.random.RandomState(0)
    )
    np.testing.assert_allclose(np.repeat(once @ once.T, counts, axis=0), often @ once.T, atol=1e-8)


@pytest.mark.parametrize("block", [1, 3, 17])
def test_blocks_of_rows_change_nothing(monkeypatch, block):
    Q = random_table(0)
    whole = transfer._MatrixLinks(Q).gram(np.ones(30))
    monkeypatch.setattr(transfer, "_BLOCK", block)
    np.testing.assert_allclose(transfer._MatrixLinks(Q).gram(np.ones(30)), whole, rtol=1e-12)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_planted_groups_of_any_size_are_found(seed, form):
    Q, truth = planted(seed)
    found = transfer_cut(form(Q), 3, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    assert found.solver == "spectral"
    np.testing.assert_array_equal(found.sizes, np.bincount(found.labels))


def test_many_rows_start_from_a_sample(seed, monkeypatch):
    monkeypatch.setattr(_embed, "_MANY_ROWS", 20)
    monkeypatch.setattr(_embed, "_SAMPLE", 20)
    monkeypatch.setattr(_embed, "_SAMPLE_A_CLUSTER", 1)
    Q, truth = planted(seed, n=200)
    found = transfer_cut(sparse.csr_array(Q), 3, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0


def test_lanczos_finds_the_same_eigenvectors(seed, monkeypatch):
    Q = random_table(seed, n=200, p=40)
    dense = embedded(Q, np.ones(200), 3, np.random.RandomState(0))
    monkeypatch.setattr(_embed, "_DENSE_EIGEN", 10)
    lanczos = embedded(Q, np.ones(200), 3, np.random.RandomState(0))
    np.testing.assert_allclose(lanczos, dense, atol=1e-6)


def test_empty_rows_and_columns_do_no_harm():
    Q, truth = planted(0)
    Q = np.column_stack([np.zeros(60), Q, np.zeros(60)])
    Q[0] = 0
    found = transfer_cut(Q, 3, random_state=0)
    assert adjusted_rand_score(truth[1:], found.labels[1:]) == 1.0


def test_every_part_gets_a_row_even_if_rows_are_equal():
    found = transfer_cut(np.ones((6, 4)), 3, random_state=0)
    assert (found.sizes > 0).all()
    assert "empty parts" in found.note


def test_one_part_and_bad_input():
    Q = random_table(0)
    assert transfer_cut(Q, 1).labels.tolist() == [0] * 30
    with pytest.raises(InvalidParameterError, match=r"columns with an entry, 1. Got 2"):
        transfer_cut(np.array([[1.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 2)
    with pytest.raises(InvalidParameterError, match=r"number of rows, 30. Got 31"):
        transfer_cut(Q, 31)
    with pytest.raises(InvalidInputError, match="negative"):
        transfer_cut(-Q, 2)
    with pytest.raises(InvalidInputError, match="finite"):
        transfer_cut(Q * np.nan, 2)


def test_spectral_cut_of_a_graph(seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [4, 8, 12])
    S = np.where(truth[:, None] == truth, 1.0, 0.05) + 0.01 * rng.random()
    graph = similarity_graph(S, rng.random(24) + 0.1)
    found = spectral(graph, 3, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    A = graph.adjacency.toarray()
    wanted = sum(A[truth == c][:, truth != c].sum() / A[truth == c].sum() for c in range(3))
    assert found.cut == pytest.approx(wanted)


def test_spectral_cut_of_a_graph_with_lone_vertices():
    S = np.zeros((6, 6))
    S[0, 1] = S[1, 0] = S[2, 3] = S[3, 2] = 1.0
    found = spectral(similarity_graph(S, np.zeros(6)), 4, random_state=0)
    assert (found.sizes > 0).all()
    assert spectral(similarity_graph(S), 1).cut == 0
    assert sorted(spectral(similarity_graph(np.zeros((3, 3))), 3, random_state=0).labels) == [
        0,
        1,
        2,
    ]


def test_the_sample_to_start_from_holds_no_row_twice(monkeypatch):
    seen = []

    class Watched(_embed.KMeans):
        def fit(self, X, y=None, sample_weight=None):
            seen.append(X)
            return super().fit(X, y, sample_weight)

    monkeypatch.setattr(_embed, "_MANY_ROWS", 20)
    monkeypatch.setattr(_embed, "_SAMPLE", 20)
    monkeypatch.setattr(_embed, "_SAMPLE_A_CLUSTER", 1)
    monkeypatch.setattr(_embed, "KMeans", Watched)
    E = np.random.default_rng(0).normal(size=(24, 2))
    labels = _embed.kmeans_labels(E, 2, None, np.random.RandomState(0))
    assert [len(np.unique(X, axis=0)) for X in seen] == [20]
    assert len(labels) == 24


@pytest.mark.parametrize("counted", [False, True])
def test_a_start_found_beside_the_work_is_that_found_after_it(seed, monkeypatch, counted):
    monkeypatch.setattr(_embed, "_MANY_ROWS", 20)
    monkeypatch.setattr(_embed, "_SAMPLE", 40)
    rng = np.random.default_rng(seed)
    labels = np.array([rng.permutation(np.arange(200) % 4) for _ in range(3)], np.int8)
    weights = rng.integers(1, 4, 200) if counted else None
    links = [LabelLinks(labels, np.ones(12), n_jobs) for n_jobs in (1, 3)]
    found = [
        transfer_cut(one, 3, random_state=seed, weights=weights, n_jobs=one.n_jobs).labels
        for one in links
    ]
    np.testing.assert_array_equal(*found)
    monkeypatch.setattr(transfer, "centres_of_many", lambda *_: None)
    after = transfer_cut(links[0], 3, random_state=seed, weights=weights).labels
    np.testing.assert_array_equal(after, found[0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 4), st.integers(1, 3))
def test_labels_are_cut_as_their_matrix(seed, members, n_jobs):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-2, 4, (members, 25)).astype(np.int8)
    labels[:, :2] = [0, 1]
    widths = labels.max(axis=1) + 1
    weights = rng.random(widths.sum()) + 0.1
    blocks = [row[:, None] == np.arange(width) for row, width in zip(labels, widths, strict=True)]
    Q = np.concatenate(blocks, axis=1) * weights
    counts, table = rng.integers(1, 5, 25).astype(float), rng.random((Q.shape[1], 3))
    parts = rng.integers(0, 3, 25).astype(np.int32)
    links = LabelLinks(labels, weights, n_jobs)
    assert links.shape == Q.shape
    np.testing.assert_allclose(links.column_sums(counts), Q.T @ counts, rtol=1e-12)
    np.testing.assert_allclose(links.degrees(), Q.sum(axis=1), rtol=1e-12)
    np.testing.assert_allclose(links.gram(counts), Q.T @ (counts[:, None] * Q), rtol=1e-12)
    np.testing.assert_allclose(links.times(table), Q @ table, rtol=1e-12)
    wanted = (parts == np.arange(3)[:, None]) * counts @ Q
    np.testing.assert_allclose(links.part_sums(parts, counts, 3), wanted, rtol=1e-12)
    mine = transfer_cut(links, 2, random_state=0, weights=counts)
    theirs = transfer_cut(Q, 2, random_state=0, weights=counts)
    assert mine.cut == pytest.approx(theirs.cut, rel=1e-6)


def test_some_rows_keep_the_columns_of_all():
    """Rows that lack the last cluster of a member must not be read from the next one's columns."""
    links = LabelLinks(np.array([[0, 0, 1, 1, 2], [0, 1, 0, 1, 0]], np.int8), np.arange(1.0, 6))
    table = np.random.default_rng(0).random((5, 3))
    some = np.array([0, 1, 3])
    np.testing.assert_array_equal(links.take(some).times(table), links.times(table)[some])
