"""CTS, SRS and ASRS against their definitions on all objects, cluster by cluster."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus import CONSENSUS, _row_links
from consilience.consensus._row_links import link_distances, seen_together
from consilience.consensus._rows import distinct_rows
from consilience.consensus.links import (
    ASRS,
    CTS,
    SRS,
    approximate_simrank,
    asrs,
    connected_triples,
    cts,
    jaccard,
    label_pairs,
    labels_that_count,
    noise_as_clusters,
    own_member_vectors,
    simrank,
    srs,
    vectors,
)
from consilience.ensemble import NOISE, UNSEEN
from consilience.errors import ConsilienceWarning, InvalidParameterError, MemoryBudgetError
from consilience.evidence import never_placed
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges

METHODS = [cts, srs, asrs]


def clusters_of(ensemble):
    """All clusters as sets of objects, and the member each belongs to."""
    found = [
        (set(np.flatnonzero(own == c)), r)
        for r, own in enumerate(ensemble)
        for c in range(own.max() + 1)
    ]
    return [objects for objects, _ in found], [r for _, r in found]


def jaccard_slowly(ensemble):
    clusters, _ = clusters_of(ensemble)
    J = np.array([[len(a & b) / len(a | b) for b in clusters] for a in clusters])
    np.fill_diagonal(J, 0)
    return J


def triples_slowly(ensemble, decay):
    """Reference: one sum of minima for every pair of clusters of a member."""
    J = jaccard_slowly(ensemble)
    _, member = clusters_of(ensemble)
    n_c = len(J)
    W = np.zeros((n_c, n_c))
    for c in range(n_c):
        for e in range(n_c):
            if c != e and member[c] == member[e]:
                W[c, e] = sum(min(J[c, x], J[e, x]) for x in range(n_c))
    if W.max() > 0:
        W /= W.max()
    return decay * W + np.eye(n_c)


def approximate_slowly(ensemble, decay):
    """Reference: products of Jaccard indices over pairs of neighbours."""
    J = jaccard_slowly(ensemble)
    n_c = len(J)
    W = np.zeros((n_c, n_c))
    for c in range(n_c):
        for e in range(n_c):
            pairs = (J[c] > 0).sum() * (J[e] > 0).sum()
            if c != e and pairs:
                W[c, e] = sum(J[c, x] * J[e, x] for x in range(n_c)) / pairs
    if W.max() > 0:
        W /= W.max()
    W = np.where(np.isclose(W, 1, rtol=0, atol=1e-12), 1, decay * W)
    np.fill_diagonal(W, 1)
    return W


def simrank_slowly(ensemble, decay, n_iter, missing):
    """Reference: both similarities over all objects and clusters, updated together."""
    B = ensemble.indicator().toarray().astype(float)
    labels = label_counts(ensemble, missing)
    sizes = B.sum(axis=0)
    S, C = np.eye(len(B)), np.eye(len(sizes))
    for _ in range(n_iter):
        S, C = (
            decay * B @ C @ B.T / np.outer(labels, labels),
            decay * B.T @ S @ B / np.outer(sizes, sizes),
        )
        np.fill_diagonal(S, 1)
        np.fill_diagonal(C, 1)
    return S


def label_counts(ensemble, missing):
    if missing == "all":
        return np.full(ensemble.n_objects, ensemble.n_members)
    return (ensemble.labels != UNSEEN).sum(axis=1)


def scores_slowly(ensemble, W):
    """Reference: what each pair of objects scores in each member, added up.

    Noise scores what the objects in other clusters of the member do on average.
    """
    total = np.zeros((ensemble.n_objects, ensemble.n_objects))
    start = 0
    for own in ensemble.members.astype(int):
        inside = np.flatnonzero(own >= 0)
        at = {i: start + own[i] for i in inside}
        links = {(i, j): W[at[i], at[j]] for i in inside for j in inside if own[i] != own[j]}
        among = np.mean(list(links.values())) if links else 0.0
        for i in range(len(own)):
            for j in range(len(own)):
                if own[i] >= 0 and own[j] >= 0:
                    total[i, j] += W[at[i], at[j]]
                elif own[i] == own[j] == NOISE:
                    total[i, j] += among
                elif min(own[i], own[j]) == NOISE:
                    placed = own[max(i, j, key=own.__getitem__)]
                    others = [value for (a, _), value in links.items() if own[a] == placed]
                    total[i, j] += np.mean(others) if others else 0.0
        start += own.max() + 1 if len(inside) else 0
    return total


def similarity_slowly(method, ensemble, missing="pair", decay=0.8):
    """Reference: the similarity of all objects, with a unit diagonal."""
    if method is srs:
        return simrank_slowly(ensemble, decay, 4, missing)
    B = ensemble.indicator().toarray().astype(float)
    if method is cts:
        seen = (ensemble.labels != UNSEEN).astype(int)
        by = seen @ seen.T if missing == "pair" else np.full((len(B), len(B)), len(seen.T))
        S = scores_slowly(ensemble, triples_slowly(ensemble, decay)) / np.maximum(by, 1)
    else:
        labels = label_counts(ensemble, missing)
        S = B @ approximate_slowly(ensemble, decay) @ B.T / np.outer(labels, labels)
    np.fill_diagonal(S, 1)
    return S


def similarity(method, rows, missing):
    """Ours, condensed."""
    if method is cts:
        rows, tables = noise_as_clusters(rows, connected_triples(rows, 0.8, None))
        parts = own_member_vectors(rows, tables)
        by = seen_together(rows, missing)
    else:
        labels = labels_that_count(rows, missing)
        if method is srs:
            parts, scale = vectors(rows, simrank(rows, 0.8, 4, labels, None)), 1 / 0.8
        else:
            parts, scale = vectors(rows, approximate_simrank(rows, 0.8, None)), 1.0
        by = label_pairs(labels, scale)
    return 1 - link_distances(rows, parts, by, n_jobs=None)


def placed(ensemble):
    """The objects a method sees, if there are any."""
    outside = never_placed(ensemble)
    assume(not outside.all())
    return ensemble.take(~outside)


def three_groups(seed, share=0.15, n=90):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) % 3)
    labels = np.repeat(truth[:, None], 12, axis=1)
    wrong = rng.random(labels.shape) < share
    labels[wrong] = rng.integers(0, 5, wrong.sum())
    return Ensemble(labels), truth


@given(ensembles(), st.sampled_from([0.3, 0.8, 1.0]))
def test_clusters_are_linked_as_defined(ensemble, decay):
    ensemble = placed(ensemble)
    rows = distinct_rows(ensemble)
    np.testing.assert_allclose(jaccard(rows, None), jaccard_slowly(ensemble), atol=1e-10)
    whole = triples_slowly(ensemble, decay)
    for r, table in enumerate(connected_triples(rows, decay, None)):
        own = slice(rows.starts[r], rows.starts[r + 1])
        np.testing.assert_allclose(table, whole[own, own], atol=1e-10)
    W = approximate_simrank(rows, decay, None)
    np.testing.assert_allclose(W, approximate_slowly(ensemble, decay), atol=1e-10)


@given(ensembles(), st.integers(1, 6), st.sampled_from(["pair", "all"]))
def test_simrank_of_clusters_gives_that_of_all_objects(ensemble, n_iter, missing):
    ensemble = placed(ensemble)
    rows = distinct_rows(ensemble)
    labels = labels_that_count(rows, missing)
    C = simrank(rows, 0.8, n_iter, labels, None)
    B = ensemble.indicator().toarray().astype(float)
    S = 0.8 * B @ C @ B.T / np.outer(labels[rows.inverse], labels[rows.inverse])
    np.fill_diagonal(S, 1)
    np.testing.assert_allclose(S, simrank_slowly(ensemble, 0.8, n_iter, missing), atol=1e-10)


@given(ensembles(), st.sampled_from(METHODS), st.sampled_from(["pair", "all"]))
def test_similarities_equal_the_printed_formulas(ensemble, method, missing):
    ensemble = placed(ensemble)
    rows = distinct_rows(ensemble)
    first = [int(np.flatnonzero(rows.inverse == row)[0]) for row in range(rows.n_rows)]
    S = similarity_slowly(method, ensemble, missing)[np.ix_(first, first)]
    got = similarity(method, rows, missing)
    np.testing.assert_allclose(got, squareform(S, checks=False), atol=1e-10)
    assert got.size == 0 or (got.min() >= 0 and got.max() <= 1)


@given(ensembles(min_objects=3), st.sampled_from(METHODS))
def test_collapsed_equals_expanded(ensemble, method):
    """Equal objects as one weighted row, or each for itself at distance 0: ties included."""
    ensemble = placed(ensemble)
    rows = distinct_rows(ensemble)
    order = np.argsort(rows.inverse, kind="stable")
    S = similarity_slowly(method, ensemble.take(order))
    twin = rows.inverse[order][:, None] == rows.inverse[order]
    assume((1 - S[~twin] > 1e-9).all())  # nothing else at distance 0
    tree = agglomerate(squareform(np.where(twin, 0.0, 1 - S), checks=False), "average")
    for k in range(2, len(ensemble.signatures().counts)):
        got = method(ensemble, k).labels
        assert adjusted_rand_score(got[order], cut_merges(tree, k)) == 1.0


def test_equal_objects_are_alike_in_cts_without_being_told(seed):
    ensemble = Ensemble(np.random.default_rng(seed).integers(0, 3, (20, 3)))
    S = similarity_slowly(cts, ensemble)
    inverse = ensemble.signatures().inverse
    np.testing.assert_allclose(S[inverse[:, None] == inverse], 1)


def test_triples_of_the_smallest_example():
    """Clusters a = {0, 1}, b = {2} of one member, c = {0}, d = {1, 2} of the other."""
    rows = distinct_rows(Ensemble([[0, 0, 1], [0, 1, 1]]))
    # Jaccard: ac 1/2, ad 1/3, bc 0, bd 1/2. Pair ab: min(1/3, 1/2); pair cd: min(1/2, 1/3).
    first, second = connected_triples(rows, 0.8, None)
    np.testing.assert_allclose(first, [[1, 0.8], [0.8, 1]])
    np.testing.assert_allclose(second, [[1, 0.8], [0.8, 1]])


def test_only_the_largest_similarity_escapes_the_decay(seed):
    rows = distinct_rows(three_groups(seed)[0])
    whole, half = (approximate_simrank(rows, decay, None) for decay in (1.0, 0.5))
    escaped = (whole == 1) & ~np.eye(len(whole), dtype=bool)
    assert 2 <= escaped.sum() < whole.size // 2
    np.testing.assert_array_equal(half[escaped], 1)
    rest = whole < 1
    np.testing.assert_allclose(half[rest], whole[rest] / 2)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("solver", ["linkage", "spectral"])
def test_groups_are_found_with_noise_and_unseen(method, solver, seed):
    ensemble, truth = three_groups(seed, share=0.08)
    chance = np.random.default_rng(seed).random(ensemble.labels.shape)
    labels = np.where(chance < 0.1, UNSEEN, np.where(chance > 0.95, -1, ensemble.labels))
    found = method(Ensemble(labels), 3, solver=solver, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.85
    assert found.solver == solver


@pytest.mark.parametrize("method", METHODS)
def test_the_cut_is_that_of_the_refined_memberships_of_all_objects(method, seed):
    ensemble, _ = three_groups(seed, n=40)
    ensemble = Ensemble(np.repeat(ensemble.labels, 2, axis=0))
    found = method(ensemble, 3, solver="spectral", random_state=seed)
    B = ensemble.indicator().toarray().astype(float)
    rows = distinct_rows(ensemble)
    if method is cts:
        W = triples_slowly(ensemble, 0.8)
    elif method is srs:
        W = simrank(rows, 0.8, 4, labels_that_count(rows, "pair"), None)
    else:
        W = approximate_slowly(ensemble, 0.8)
    Q = B @ W
    S = Q @ np.diag(1 / Q.sum(axis=0)) @ Q.T
    cut = sum(
        S[found.labels == c][:, found.labels != c].sum() / S[found.labels == c].sum()
        for c in range(3)
    )
    assert found.objective == pytest.approx(cut, abs=1e-10)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("block", [1, 3, 17])
def test_blocks_and_threads_change_nothing(method, block, seed, monkeypatch):
    ensemble, _ = three_groups(seed, share=0.5)
    expected = method(ensemble, 4)
    monkeypatch.setattr(_row_links, "_BLOCK", block)
    got = method(ensemble, 4, n_jobs=2)
    np.testing.assert_array_equal(got.labels, expected.labels)
    np.testing.assert_array_equal(got.details["linkage"], expected.details["linkage"])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("solver", ["linkage", "spectral"])
def test_the_order_of_the_objects_does_not_matter(method, solver, seed):
    ensemble, _ = three_groups(seed, share=0.5)
    order = np.random.default_rng(seed).permutation(90)
    first = method(ensemble, 4, solver=solver, random_state=0).labels
    second = method(ensemble.take(order), 4, solver=solver, random_state=0).labels
    assert adjusted_rand_score(first[order], second) == 1.0


@pytest.mark.parametrize("method", METHODS)
def test_one_member_has_nothing_to_link(method):
    labels = np.array([0, 0, 1, 1, 2, 2, -1])
    found = method(Ensemble([labels]), 2)
    assert found.labels[6] == -1
    assert found.n_clusters == 2
    for cluster in range(3):
        assert len(set(found.labels[:6][labels[:6] == cluster])) == 1


@pytest.mark.parametrize("method", METHODS)
def test_too_many_clusters_for_a_cut(method):
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1], [-1, -2, 0, 0, -1, -2]])
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' .*, 3. Got 4"):
        method(ensemble, 4, solver="spectral")
    assert method(ensemble, 4).n_clusters == 4
    alone = Ensemble([[0, 0, 0, 0], [-1, -2, -1, -1], [-1, -1, -2, -1]])
    with pytest.warns(ConsilienceWarning, match="one cluster"):
        assert method(alone, 2, solver="spectral").n_clusters == 1


@pytest.mark.parametrize("method", METHODS)
def test_a_matrix_too_large_is_refused_with_a_remedy(method, seed):
    ensemble, _ = three_groups(seed)
    with pytest.raises(MemoryBudgetError, match=r"max_memory.*solver='spectral'"):
        method(ensemble, 3, max_memory="1 KB")
    with pytest.raises(MemoryBudgetError, match=r"max_memory.*fewer members"):
        method(ensemble, 3, solver="spectral", max_memory="1 KB")


@pytest.mark.parametrize("estimator", [CTS, SRS, ASRS])
@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"decay": 0}, "'decay' parameter of {} must be .* Got 0"),
        ({"decay": 1.5}, "'decay' .* Got 1.5"),
        ({"solver": "metis"}, "'solver' parameter of {} .* Got 'metis'"),
        ({"linkage": "ward"}, "'linkage' .* Got 'ward'"),
        ({"missing": None}, "'missing' .* Got None"),
        ({"max_memory": -1}, "'max_memory' .* Got -1"),
    ],
)
def test_bad_parameters_are_named(estimator, params, message):
    message = message.format(estimator.__name__)
    with pytest.raises(InvalidParameterError, match=message):
        estimator(2, **params).fit(ensemble=[[0, 0, 1]])
    with pytest.raises(InvalidParameterError, match=message):
        CONSENSUS[estimator.__name__.lower()].function(Ensemble([[0, 0, 1]]), 2, **params)


def test_updates_are_a_parameter_of_srs(seed):
    with pytest.raises(InvalidParameterError, match=r"'n_iter' parameter of SRS .* Got 0"):
        SRS(2, n_iter=0).fit(ensemble=[[0, 0, 1]])
    ensemble, truth = three_groups(seed)
    # One update is the co-association, scaled down.
    model = SRS(3, n_iter=1).fit(ensemble=ensemble)
    assert adjusted_rand_score(truth, model.labels_) > 0.9
    assert model.get_params()["n_iter"] == 1
