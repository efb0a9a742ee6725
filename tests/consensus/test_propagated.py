"""ECPCS: the similarity of clusters and objects against its definition, and its edges."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus import propagated as module
from consilience.consensus._rows import distinct_rows
from consilience.consensus.links import jaccard
from consilience.consensus.propagated import ECPCSHC, ECPCSMC, ecpcshc, ecpcsmc, propagated
from consilience.ensemble import UNSEEN
from consilience.errors import ConsilienceWarning, InvalidParameterError, MemoryBudgetError
from consilience.evidence import never_placed
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges


def jaccard_slowly(ensemble):
    """Reference: objects in both of two clusters over objects in either."""
    B = ensemble.indicator().toarray() > 0
    n_c = B.shape[1]
    J = np.zeros((n_c, n_c))
    for a in range(n_c):
        for b in range(n_c):
            either = (B[:, a] | B[:, b]).sum()
            J[a, b] = (B[:, a] & B[:, b]).sum() / either if a != b and either else 0.0
    return J


def propagated_slowly(J, n_steps):
    """Reference: powers of the walk one after the other, cosines pair by pair."""
    totals = J.sum(axis=1)
    P = np.divide(J, totals[:, None], out=np.zeros_like(J), where=totals[:, None] > 0)
    G, power = np.zeros_like(J), np.eye(len(J))
    for _ in range(n_steps):
        power = power @ P
        G += power @ power.T
    S = np.eye(len(J))
    for a in range(len(J)):
        for b in range(len(J)):
            if a != b and totals[a] > 0 and totals[b] > 0:
                S[a, b] = G[a, b] / np.sqrt(G[a, a] * G[b, b])
    return S


def similarity_slowly(ensemble, S, missing):
    """Reference: the mean over members of the similarity of two objects' clusters."""
    labels, first = ensemble.labels, ensemble.offsets()
    n, n_members = labels.shape
    out = np.eye(n)
    for i in range(n):
        for j in range(n):
            seen = (labels[i] != UNSEEN) & (labels[j] != UNSEEN)
            both = np.flatnonzero(seen)
            sums = sum(S[first[r] + labels[i, r], first[r] + labels[j, r]] for r in both)
            by = len(both) if missing == "pair" else n_members
            if i != j:
                out[i, j] = sums / by if by else 0.0
    return out


def weak(seed, unseen=0.0, n=45, n_members=11):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    members = [
        np.where(rng.random(n) < 0.35, rng.integers(0, 5, n), truth) for _ in range(n_members)
    ]
    labels = np.array(members).T
    labels[rng.random(labels.shape) < unseen] = UNSEEN
    return Ensemble(labels)


@given(ensembles(), st.integers(1, 40))
def test_similarity_of_clusters_equals_its_definition(ensemble, n_steps):
    outside = never_placed(ensemble)
    assume(not outside.all())
    ensemble = ensemble.take(~outside)
    J = jaccard(distinct_rows(ensemble), None)
    np.testing.assert_allclose(J, jaccard_slowly(ensemble), atol=1e-12)
    got = propagated(J.copy(), n_steps)
    np.testing.assert_allclose(got, propagated_slowly(J, n_steps), atol=1e-9)
    np.testing.assert_array_equal(got, got.T)


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
@pytest.mark.parametrize(("missing", "unseen"), [("pair", 0.0), ("pair", 0.2), ("all", 0.2)])
def test_the_tree_is_that_of_the_definition(linkage, missing, unseen, seed):
    ensemble = weak(seed, unseen)
    rows = distinct_rows(ensemble)
    first = [int(np.flatnonzero(rows.inverse == row)[0]) for row in range(rows.n_rows)]
    S = propagated_slowly(jaccard_slowly(ensemble), 20)
    D = 1 - similarity_slowly(ensemble, S, missing)[np.ix_(first, first)]
    tree = agglomerate(squareform(D, checks=False), linkage, weights=rows.counts)
    for k in (2, 3, 6):
        found = ecpcshc(ensemble, k, linkage=linkage, missing=missing)
        assert adjusted_rand_score(found.labels, cut_merges(tree, k)[rows.inverse]) == 1.0


def test_objects_go_to_the_meta_cluster_of_the_largest_mean_membership(seed):
    ensemble = weak(seed)
    found = ecpcsmc(ensemble, 3, random_state=seed)
    B = ensemble.indicator().toarray()
    meta = np.asarray(found.details["meta_clusters"])
    shares = np.column_stack([B[:, meta == g].mean(axis=1) for g in range(3)])
    best = shares.max(axis=1)
    won = {label: set() for label in range(found.n_clusters)}
    for i, label in enumerate(found.labels):
        won[label].add(frozenset(np.flatnonzero(shares[i] == best[i]).tolist()))
    for label in won:
        assert frozenset.intersection(*won[label]), "one meta-cluster wins all objects of a label"
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1.0)
    # Meta-clusters have the numbers of the labels.
    np.testing.assert_allclose(
        found.memberships, shares / shares.sum(axis=1, keepdims=True), atol=1e-10
    )


def test_the_meta_clusters_are_the_best_cut_of_few_clusters(seed):
    """Ten clusters, every division tried: none cuts the propagated graph better."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([[0], [1]], 10, axis=0) + (rng.random((20, 5)) < 0.1)
    ensemble = Ensemble(labels)
    S = propagated_slowly(jaccard_slowly(ensemble), 20)
    np.fill_diagonal(S, 0.0)
    n_c = len(S)

    def cut(parts):
        return sum(
            S[parts == c][:, parts != c].sum() / max(S[parts == c].sum(), 1e-300) for c in (0, 1)
        )

    best = min(cut((code >> np.arange(n_c)) & 1) for code in range(1, 2 ** (n_c - 1)))
    assert ecpcsmc(ensemble, 2, random_state=seed).objective == pytest.approx(best)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("columns", [1, 7])
def test_blocks_and_threads_change_nothing_but_rounding(columns, n_jobs, seed, monkeypatch):
    ensemble = weak(seed)
    expected = ecpcshc(ensemble, 4)
    alone = ecpcshc(ensemble, 4, n_jobs=2)
    np.testing.assert_array_equal(alone.details["linkage"], expected.details["linkage"])
    monkeypatch.setattr(module, "_COLUMNS", columns)
    got = ecpcshc(ensemble, 4, n_jobs=n_jobs)
    np.testing.assert_array_equal(got.labels, expected.labels)


def test_an_isolated_cluster_is_similar_to_none():
    ensemble = Ensemble([[0, 0, 0, 1, 1, 2], [0, 0, 1, 1, 1, None], [0, 1, 1, 2, 2, None]])
    S = propagated(jaccard(distinct_rows(ensemble), None), 20)
    alone = np.flatnonzero(jaccard(distinct_rows(ensemble), None).sum(axis=1) == 0)
    assert alone.tolist() == [2]
    assert S[2].tolist() == [0.0, 0, 1, 0, 0, 0, 0, 0]
    assert ecpcshc(ensemble, 3).labels[5] == 2


def test_noise_does_not_tear_an_object_from_its_group(seed):
    """What `cts` does: noise is apart as objects of different clusters are, and not more."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.repeat([0, 1, 2], 20)[:, None], 30, axis=1)
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    labels[rng.random(labels.shape) < 0.25] = -1
    truth = np.repeat([0, 1, 2], 20)
    for method in (ecpcshc, ecpcsmc):
        found = method(Ensemble(labels), 3, random_state=0).labels
        assert adjusted_rand_score(truth, found) == 1.0


def test_walks_follow_a_chain_of_clusters():
    """Clusters that share no object are alike if others link them; not after one step."""
    a = [0, 0, 0, 0, 1, 1, 1, 1]
    b = [0, 0, 1, 1, 1, 1, 2, 2]
    rows = distinct_rows(Ensemble([a, b]))
    J = jaccard(rows, None)
    assert J[0, 1] == 0
    one, many = propagated(J, 1)[0, 1], propagated(J, 20)[0, 1]
    assert 0 < one < many < 1


def test_edges_are_said():
    few = Ensemble([[0, 0, 0, 1, 1, 1], [-1, -2, 0, 0, -1, -2]])
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' .* of ECPCSMC .*, 3. Got 4"):
        ecpcsmc(few, 4)
    one = Ensemble([[0, 0, 0, 0], [-1, -2, -1, -1], [-1, -1, -2, -1]])
    with pytest.warns(ConsilienceWarning, match="one cluster; ECPCSMC returns it"):
        assert ecpcsmc(one, 2).labels.tolist() == [0, 0, 0, 0]
    many = Ensemble(np.arange(40).reshape(20, 2) % 7)
    with pytest.raises(MemoryBudgetError, match=r"distinct objects .* max_memory.*ECPCSMC"):
        ecpcshc(many, 2, max_memory=100)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_steps": 0}, "'n_steps' parameter of ECPCSHC .* Got 0"),
        ({"linkage": "ward"}, "'linkage' .* Got 'ward'"),
        ({"missing": "none"}, "'missing' .* Got 'none'"),
        ({"max_memory": "much"}, "'max_memory' .* Got 'much'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        ecpcshc(Ensemble([[0, 0, 1]]), 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        ECPCSHC(2, **params).fit(ensemble=[[0, 0, 1]])
    if "n_steps" in params:
        with pytest.raises(InvalidParameterError, match="'n_steps' parameter of ECPCSMC"):
            ECPCSMC(2, **params).fit(ensemble=[[0, 0, 1]])
