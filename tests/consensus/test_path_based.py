"""PTA and PTGP: the similarity of walks against its definition, and what few rows do."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score

from consilience import Ensemble
from consilience.consensus import path_based
from consilience.consensus._rows import distinct_rows
from consilience.consensus.accumulation import eac
from consilience.consensus.path_based import PTA, PTGP, mean_to_clusters, path_similarity, pta, ptgp
from consilience.errors import ConsilienceWarning, InvalidParameterError, MemoryBudgetError
from consilience.evidence import co_association
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges
from consilience.partition import transfer_cut

FEW = "The members tell only"


def paths_slowly(links, counts, n_neighbors, n_steps):
    """Reference: links kept one by one, the sum of P^t (P^t)^T power by power."""
    n = len(links)
    S = links.copy()
    np.fill_diagonal(S, 0)
    kept = np.zeros((n, n))
    for a in range(n):
        weakest = sorted(S[a], reverse=True)[n_neighbors - 1]
        for b in range(n):
            if S[a, b] >= weakest:
                kept[a, b] = S[a, b]
    kept = np.maximum(kept, kept.T) * counts[None, :]
    P = np.zeros((n, n))
    for a in range(n):
        if kept[a].sum() > 0:
            P[a] = kept[a] / kept[a].sum()
    G = sum(np.linalg.matrix_power(P, t) @ np.linalg.matrix_power(P, t).T for t in _to(n_steps))
    out = np.full((n, n), 1e-20)
    for a in range(n):
        for b in range(n):
            if G[a, a] > 0 and G[b, b] > 0:
                out[a, b] = G[a, b] / np.sqrt(G[a, a] * G[b, b])
    return out


def _to(n):
    return range(1, n + 1)


def noisy(seed, n=120, n_members=15, k=3, share=0.25):
    """Labels of k groups, some of them wrong, in objects of random order."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % k)
    labels = np.repeat(truth[:, None], n_members, axis=1)
    wrong = rng.random(labels.shape) < share
    labels[wrong] = rng.integers(0, 2 * k, wrong.sum())
    return Ensemble(labels), truth


@st.composite
def graphs(draw):
    """Symmetric links with many ties and zeros, and how many objects each row stands for."""
    n = draw(st.integers(2, 9))
    upper = draw(npst.arrays(np.int64, (n, n), elements=st.integers(0, 4)))
    links = np.triu(upper, 1) / 4
    counts = draw(npst.arrays(np.int64, n, elements=st.integers(1, 5)))
    return links + links.T + np.eye(n), counts


@given(graphs(), st.integers(1, 8), st.integers(1, 5), st.sampled_from([0.0, 2.0]))
def test_paths_equal_their_definition(graph, n_neighbors, n_steps, sparse_below):
    links, counts = graph
    K = min(n_neighbors, len(links) - 1)
    usual, path_based._SPARSE = path_based._SPARSE, sparse_below  # dense products, or sparse ones
    try:
        got = path_similarity(links.copy(), counts, K, n_steps)
    finally:
        path_based._SPARSE = usual
    np.testing.assert_allclose(got, paths_slowly(links, counts, K, n_steps), atol=1e-10)


@pytest.mark.parametrize("missing", ["pair", "all"])
@pytest.mark.parametrize("link", ["average", "complete", "single"])
def test_pta_is_the_tree_of_the_walks(missing, link, seed):
    ensemble, _ = noisy(seed, n=90)
    labels = np.array(ensemble.labels)
    labels[np.random.default_rng(seed).random(labels.shape) < 0.1] = -2
    ensemble = Ensemble(labels)
    rows = distinct_rows(ensemble)
    links = co_association(Ensemble(rows.members.T), missing=missing)
    paths = paths_slowly(links, rows.counts, 6, 4)
    tree = agglomerate(squareform(1 - paths, checks=False), link)
    found = pta(ensemble, 5, n_neighbors=6, n_steps=4, linkage=link, missing=missing)
    assert adjusted_rand_score(found.labels, cut_merges(tree, 5)[rows.inverse]) == 1.0
    assert found.solver == "linkage"
    assert found.details["linkage"].shape == (89, 4)


def test_ptgp_cuts_the_mean_similarity_to_clusters(seed):
    ensemble, _ = noisy(seed, n=90)
    rows = distinct_rows(ensemble)
    links = co_association(Ensemble(rows.members.T))
    paths = paths_slowly(links, rows.counts, 6, 4)
    Q = np.array(
        [
            [paths[a, own == c].mean() for own in rows.members for c in range(own.max() + 1)]
            for a in range(rows.n_rows)
        ]
    )
    np.testing.assert_allclose(mean_to_clusters(paths, rows), Q, atol=1e-10)
    found = ptgp(ensemble, 3, n_neighbors=6, n_steps=4, random_state=seed)
    expected = transfer_cut(Q, 3, random_state=seed)
    assert adjusted_rand_score(found.labels, expected.labels[rows.inverse]) == 1.0
    assert found.objective == pytest.approx(expected.cut)


@pytest.mark.parametrize(("method", "estimator"), [(pta, PTA), (ptgp, PTGP)])
def test_the_published_length_follows_from_the_rows(method, estimator, seed):
    ensemble, truth = noisy(seed)
    found = method(ensemble, 3, n_neighbors=None, n_steps=None, random_state=seed)
    u = len(ensemble.signatures().counts)
    assert u >= 50
    assert found.details["n_neighbors"] == found.details["n_steps"] == int(np.sqrt(u) / 2)
    usual = method(ensemble, 3, random_state=seed).details
    assert usual["n_neighbors"] == usual["n_steps"] == 20
    assert adjusted_rand_score(truth, found.labels) > 0.95
    model = estimator(3, n_neighbors=500, n_steps=2).fit(ensemble=ensemble)
    assert model.details_["n_neighbors"] == u - 1
    assert model.details_["n_steps"] == 2


@pytest.mark.parametrize("method", [pta, ptgp])
def test_few_rows_are_left_to_eac_with_a_warning(method, seed):
    ensemble, _ = noisy(seed, n=40)
    params = {"linkage": "complete"} if method is pta else {}
    u = len(ensemble.signatures().counts)
    with pytest.warns(ConsilienceWarning, match=rf"{FEW} {u} .*EAC was used.*min_rows=1 insists"):
        found = method(ensemble, 3, **params)
    np.testing.assert_array_equal(found.labels, eac(ensemble, 3, **params).labels)
    assert found.solver == "eac"
    assert method(ensemble, 3, min_rows=u).solver != "eac"


@pytest.mark.parametrize("method", [pta, ptgp])
def test_rows_as_many_as_clusters_need_no_walk(method):
    labels = [0, 0, 1, 1, 2]
    assert method(Ensemble([labels, labels]), 3).labels.tolist() == labels


@pytest.mark.parametrize("method", [pta, ptgp])
def test_noise_and_unseen_have_no_entry(method, seed):
    ensemble, truth = noisy(seed, n=150)
    labels = np.array(ensemble.labels)
    chance = np.random.default_rng(seed).random(labels.shape)
    labels[chance < 0.15] = -2
    labels[chance > 0.9] = -1
    labels[7] = -1
    found = method(Ensemble(labels), 3, random_state=seed)
    assert found.labels[7] == -1
    kept = np.arange(150) != 7
    assert adjusted_rand_score(truth[kept], found.labels[kept]) > 0.85


def test_an_object_together_with_nobody_is_on_its_own(seed):
    ensemble, truth = noisy(seed)
    labels = np.vstack([ensemble.labels, np.full((1, 15), 99)])
    found = pta(Ensemble(labels), 4)
    assert (found.labels == found.labels[-1]).sum() == 1
    assert adjusted_rand_score(truth, found.labels[:-1]) > 0.95
    # To the cut it is linked to everything alike, as in the paper; it takes no cluster of its own.
    cut = ptgp(Ensemble(labels), 3, random_state=seed)
    assert adjusted_rand_score(truth, cut.labels[:-1]) > 0.95


@pytest.mark.parametrize("method", [pta, ptgp])
def test_the_order_of_the_objects_does_not_matter(method, seed):
    ensemble, _ = noisy(seed, share=0.6)
    order = np.random.default_rng(seed).permutation(120)
    first = method(ensemble, 4, random_state=0).labels
    second = method(ensemble.take(order), 4, random_state=0, n_jobs=2).labels
    assert adjusted_rand_score(first[order], second) == 1.0


@pytest.mark.parametrize("block", [1, 3, 17])
def test_blocks_change_nothing(block, seed, monkeypatch):
    ensemble, _ = noisy(seed, share=0.6)
    expected = pta(ensemble, 4)
    monkeypatch.setattr(path_based, "_BLOCK", block)
    got = pta(ensemble, 4)
    np.testing.assert_array_equal(got.details["linkage"], expected.details["linkage"])


def test_more_clusters_than_the_members_have_is_refused():
    labels = np.full((3, 60), -2)
    labels[0] = 0
    labels[1, ::2] = 0
    labels[2] = np.resize([-1, -2, 0], 60)
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' parameter of PTGP .*, 3. Got 4"):
        ptgp(Ensemble(list(labels)), 4, min_rows=1)


@pytest.mark.parametrize("method", [pta, ptgp])
def test_matrices_too_large_are_refused_with_a_remedy(method, seed):
    with pytest.raises(MemoryBudgetError, match=r"distinct objects .* max_memory.*LWGP"):
        method(noisy(seed)[0], 3, max_memory="1 KB")


def test_the_memory_is_that_of_the_tree_that_stands_in_as_well(seed):
    ensemble, options = noisy(seed)[0], {"min_rows": 10**6, "linkage": "complete"}
    with (
        pytest.warns(ConsilienceWarning, match="EAC was used"),
        pytest.raises(MemoryBudgetError, match="max_memory"),
    ):
        pta(ensemble, 3, max_memory="1 KB", **options)


@pytest.mark.parametrize(("method", "estimator"), [(pta, PTA), (ptgp, PTGP)])
@pytest.mark.parametrize("name", ["n_neighbors", "n_steps", "min_rows"])
@pytest.mark.parametrize("bad", [0, 1.5, "many"])
def test_bad_parameters_are_named(method, estimator, name, bad):
    message = f"'{name}' parameter of {estimator.__name__} must be .* Got {bad!r}"
    with pytest.raises(InvalidParameterError, match=message):
        method(Ensemble([[0, 0, 1]]), 2, **{name: bad})
    with pytest.raises(InvalidParameterError, match=message):
        estimator(2, **{name: bad}).fit(ensemble=[[0, 0, 1]])
