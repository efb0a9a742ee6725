"""LWEA and LWGP against the printed formulas on all objects."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus import _row_links
from consilience.consensus._row_links import link_distances, seen_together
from consilience.consensus._rows import distinct_rows
from consilience.consensus.locally_weighted import (
    LWEA,
    LWGP,
    cluster_certainty,
    lwea,
    lwgp,
    shared_clusters,
)
from consilience.ensemble import UNSEEN
from consilience.errors import ConsilienceWarning, InvalidParameterError, MemoryBudgetError
from consilience.evidence import co_association, never_placed
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges


def certainty_slowly(ensemble, theta, normalise=False):
    """Reference: entropy of every cluster over every member, label by label."""
    found = []
    for own in ensemble:
        for cluster in range(own.max() + 1):
            inside = own == cluster
            entropy = 0.0
            for other in ensemble:
                for label in range(other.max() + 1):
                    share = (inside & (other == label)).sum() / inside.sum()
                    entropy -= share * np.log2(share) if share > 0 else 0.0
            if normalise:
                entropy /= np.log2(max(int(own.max()) + 1, 2))
            found.append(np.exp(-entropy / (theta * ensemble.n_members)))
    return np.array(found)


def similarity_slowly(ensemble, theta, missing, normalise=False):
    """Reference: summed certainty of the shared clusters over the members that count."""
    certainty = certainty_slowly(ensemble, theta, normalise)
    labels, first = ensemble.labels, ensemble.offsets()
    n, n_members = labels.shape
    S = np.eye(n)
    for i in range(n):
        for j in range(n):
            if i != j:
                both = (labels[i] == labels[j]) & (labels[i] >= 0)
                shared = [certainty[first[r] + labels[i, r]] for r in np.flatnonzero(both)]
                seen = ((labels[i] != UNSEEN) & (labels[j] != UNSEEN)).sum()
                by = seen if missing == "pair" else n_members
                S[i, j] = sum(shared) / by if by else 0.0
    return S


def placed(ensemble):
    """The objects a method sees; None if there are none."""
    outside = never_placed(ensemble)
    return None if outside.all() else ensemble.take(~outside)


def normalised_cut(Q, labels):
    """Reference: normalised cut of the objects' graph Q diag(column sums)^-1 Q^T."""
    Q = Q[:, Q.sum(axis=0) > 0]
    S = Q @ np.diag(1 / Q.sum(axis=0)) @ Q.T
    return sum(
        S[labels == c][:, labels != c].sum() / S[labels == c].sum() for c in np.unique(labels)
    )


def same(first, second):
    return adjusted_rand_score(first, second) == 1.0


@given(ensembles(), st.sampled_from([0.1, 0.4, 3.0]))
def test_certainty_equals_its_definition(ensemble, theta):
    ensemble = placed(ensemble)
    assume(ensemble is not None)
    got = cluster_certainty(distinct_rows(ensemble), theta)
    np.testing.assert_allclose(got, certainty_slowly(ensemble, theta), atol=1e-10)


def test_certainty_of_the_smallest_example():
    # The first cluster is halved by one of two members: one bit over 0.4 * 2.
    ensemble = Ensemble([[0, 0, 1], [0, 1, 1]])
    expected = [np.exp(-1 / 0.8), 1, 1, np.exp(-1 / 0.8)]
    got = cluster_certainty(distinct_rows(ensemble), 0.4)
    np.testing.assert_allclose(got, expected)
    assert lwgp(Ensemble([[0, 0, 1], [0, 1, 2]]), 2).details["certainty"].shape == (5,)


@given(ensembles(), st.sampled_from(["pair", "all"]))
def test_distances_equal_the_printed_formula(ensemble, missing):
    ensemble = placed(ensemble)
    assume(ensemble is not None)
    rows = distinct_rows(ensemble)
    vectors = shared_clusters(rows, cluster_certainty(rows, 0.4))
    got = link_distances(rows, vectors, seen_together(rows, missing), n_jobs=None)
    first = [int(np.flatnonzero(rows.inverse == row)[0]) for row in range(rows.n_rows)]
    S = similarity_slowly(ensemble, 0.4, missing)[np.ix_(first, first)]
    np.testing.assert_allclose(got, squareform(1 - S, checks=False), atol=1e-10)


@given(ensembles(), st.sampled_from([0.05, None, 3.0]))
def test_normalised_certainty_equals_its_definition(ensemble, theta):
    ensemble = placed(ensemble)
    assume(ensemble is not None)
    got = cluster_certainty(distinct_rows(ensemble), theta, normalise=True)
    slowly = certainty_slowly(ensemble, 0.09 if theta is None else theta, normalise=True)
    np.testing.assert_allclose(got, slowly, atol=1e-10)


@given(ensembles(min_objects=4), st.sampled_from(["pair", "all"]))
def test_normalised_similarities_are_over_their_largest(ensemble, missing):
    """The printed matrix over its maximum, diagonal included, linked by SciPy."""
    ensemble = placed(ensemble)
    assume(ensemble is not None)
    rows = distinct_rows(ensemble)
    assume(rows.n_rows > 2)
    first = [int(np.flatnonzero(rows.inverse == row)[0]) for row in range(rows.n_rows)]
    ensemble = ensemble.take(first)
    S = similarity_slowly(ensemble, 0.09, missing, normalise=True)
    certainty, labels = certainty_slowly(ensemble, 0.09, True), ensemble.labels
    for i, row in enumerate(labels):
        own = certainty[(ensemble.offsets()[:-1] + row)[row >= 0]].sum()
        S[i, i] = own / ((row != UNSEEN).sum() if missing == "pair" else len(row))
    S /= S.max()
    tree = lwea(ensemble, 2, normalise=True, missing=missing).details["linkage"]
    apart = ~np.eye(rows.n_rows, dtype=bool)
    assert tree[0, 2] == pytest.approx(1 - S[apart].max(), abs=1e-9)
    expected = linkage(squareform(1 - S, checks=False), "single")
    got = lwea(ensemble, 2, normalise=True, missing=missing, linkage="single")
    np.testing.assert_allclose(got.details["linkage"][:, 2], expected[:, 2], atol=1e-9)


def test_dividing_by_the_largest_changes_no_merge(seed):
    rng = np.random.default_rng(seed)
    ensemble = Ensemble(rng.integers(0, [2, 3, 5, 9, 4, 6], (50, 6)))
    rows = distinct_rows(ensemble)
    certainty = cluster_certainty(rows, None, normalise=True)
    plain = link_distances(
        rows, shared_clusters(rows, certainty), seen_together(rows, "pair"), n_jobs=None
    )
    tree = agglomerate(plain, "average", weights=rows.counts)
    for k in (2, 3, 5, 9):
        assert same(lwea(ensemble, k, normalise=True).labels, cut_merges(tree, k)[rows.inverse])


def test_by_default_nothing_is_normalised(seed):
    """The paper's reading: theta 0.4 of plain entropies."""
    ensemble = Ensemble(np.random.default_rng(seed).integers(0, [2, 3, 9, 5], (40, 4)))
    for method in (lwea, lwgp):
        usual = method(ensemble, 3, random_state=0).details["certainty"]
        np.testing.assert_allclose(usual, certainty_slowly(ensemble, 0.4))
        other = method(ensemble, 3, normalise=True, random_state=0).details["certainty"]
        np.testing.assert_allclose(other, certainty_slowly(ensemble, 0.09, True))


@pytest.mark.parametrize("missing", ["pair", "all"])
def test_without_weights_it_is_the_co_association(missing, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-2, 4, (60, 9))
    labels[:, 0] = rng.integers(0, 4, 60)
    rows = distinct_rows(Ensemble(labels))
    vectors = shared_clusters(rows, cluster_certainty(rows, 1e12))
    got = link_distances(rows, vectors, seen_together(rows, missing), n_jobs=None)
    members = Ensemble(rows.members.T)
    expected = 1 - co_association(members, missing=missing, form="condensed")
    np.testing.assert_allclose(got, expected, atol=1e-10)


@given(ensembles(min_objects=3), st.sampled_from(["average", "complete", "single"]))
def test_collapsed_equals_expanded(ensemble, link):
    """Equal objects as one weighted row, or each for itself at distance 0: ties included."""
    ensemble = placed(ensemble)
    assume(ensemble is not None)
    rows = distinct_rows(ensemble)
    order = np.argsort(rows.inverse, kind="stable")
    S = similarity_slowly(ensemble.take(order), 0.4, "pair")
    twin = rows.inverse[order][:, None] == rows.inverse[order]
    assume((1 - S[~twin] > 1e-9).all())  # nothing else at distance 0
    tree = agglomerate(squareform(np.where(twin, 0.0, 1 - S), checks=False), link)
    for k in range(2, len(ensemble.signatures().counts)):
        got = lwea(ensemble, k, linkage=link).labels
        assert same(got[order], cut_merges(tree, k))


def test_equal_objects_change_nothing_above_themselves(seed):
    """The printed formula, where equal objects are similar by less than 1, has the same tree."""
    rng = np.random.default_rng(seed)
    distinct = rng.integers(0, 3, (12, 40))
    ensemble = Ensemble(distinct[np.concatenate([np.arange(12), rng.integers(0, 12, 18)])])
    inverse = ensemble.signatures().inverse
    D = 1 - similarity_slowly(ensemble, 0.4, "pair")
    printed = squareform(cophenet(linkage(squareform(D, checks=False), "average")))
    ours = squareform(cophenet(lwea(ensemble, 3).details["linkage"]))
    apart = inverse[:, None] != inverse
    np.testing.assert_allclose(ours[apart], printed[apart], atol=1e-10)


@pytest.mark.parametrize("block", [1, 3, 17])
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_blocks_and_threads_change_nothing(block, n_jobs, seed, monkeypatch):
    rng = np.random.default_rng(seed)
    ensemble = Ensemble(rng.integers(-2, 5, (50, 8)))
    expected = lwea(ensemble, 4)
    monkeypatch.setattr(_row_links, "_BLOCK", block)
    got = lwea(ensemble, 4, n_jobs=n_jobs)
    np.testing.assert_array_equal(got.labels, expected.labels)
    np.testing.assert_array_equal(got.details["linkage"], expected.details["linkage"])
    first, second = (lwgp(ensemble, 4, random_state=seed, n_jobs=jobs) for jobs in (None, n_jobs))
    np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(first.details["certainty"], second.details["certainty"])


@given(ensembles(min_objects=4), st.randoms(use_true_random=False))
def test_the_order_of_the_objects_does_not_matter(ensemble, random):
    """Not even where ties decide."""
    ensemble = placed(ensemble)
    assume(ensemble is not None)
    assume(len(ensemble.signatures().counts) > 2)
    assume(ensemble.n_clusters.sum() > 1)
    order = np.array(random.sample(range(ensemble.n_objects), ensemble.n_objects))
    for method in (lwea, lwgp):
        first = method(ensemble, 2, random_state=0).labels
        second = method(ensemble.take(order), 2, random_state=0).labels
        assert same(first[order], second)


@given(ensembles(min_objects=4))
def test_lwgp_reports_the_cut_of_all_objects(ensemble):
    ensemble = placed(ensemble)
    assume(ensemble is not None)
    assume(len(ensemble.signatures().counts) > 2)
    assume(ensemble.n_clusters.sum() > 1)
    assume(not (ensemble.labels == 0).all(axis=0).any())
    found = lwgp(ensemble, 2, random_state=0)
    Q = ensemble.indicator().toarray() * certainty_slowly(ensemble, 0.4)
    assert found.objective == pytest.approx(normalised_cut(Q, found.labels), abs=1e-10)


def test_lwgp_finds_the_best_cut_of_few_objects(seed):
    rng = np.random.default_rng(seed)
    labels = np.repeat([[0], [1]], 4, axis=0) + (rng.random((8, 12)) < 0.15)
    ensemble = Ensemble(labels)
    Q = ensemble.indicator().toarray() * certainty_slowly(ensemble, 0.4)
    cuts = [
        normalised_cut(Q, (code >> np.arange(8)) & 1)
        for code in range(1, 128)  # the last object always in part 0
    ]
    assert lwgp(ensemble, 2, random_state=seed).objective == pytest.approx(min(cuts))


@pytest.mark.parametrize("method", [lwea, lwgp])
def test_groups_are_found_where_much_is_unseen(method, seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 100)
    labels = np.repeat(truth[:, None], 20, axis=1)
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    labels[rng.random(labels.shape) < 0.3] = UNSEEN
    found = method(Ensemble(labels), 3, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.9


def test_an_unreliable_member_counts_less():
    """Two halves, and a member that splits both: the first two clusters are trusted more."""
    labels = np.array([[0] * 6 + [1] * 6, [0] * 6 + [1] * 6, [0, 1, 2] * 4])
    certainty = lwea(Ensemble(list(labels)), 2).details["certainty"]
    assert certainty[:4].min() > certainty[4:].max()
    assert lwea(Ensemble(list(labels)), 2).labels.tolist() == [0] * 6 + [1] * 6
    assert lwgp(Ensemble(list(labels)), 2, random_state=0).labels.tolist() == [0] * 6 + [1] * 6


def test_more_clusters_than_the_members_have_is_refused():
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1], [-1, -2, 0, 0, -1, -2]])
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' .* of LWGP .*, 3. Got 4"):
        lwgp(ensemble, 4)
    assert lwea(ensemble, 4).n_clusters == 4


@pytest.mark.parametrize("normalise", [False, True])
def test_a_theta_that_leaves_no_cluster_a_weight(normalise):
    ensemble = Ensemble([[0, 0, 1, 1, 2, 2], [0, 1, 1, 2, 2, 0], [0, 1, 2, 0, 1, 2]])
    options = {"theta": 1e-6, "normalise": normalise}
    assert lwea(ensemble, 2, **options).n_clusters == 2
    with pytest.raises(InvalidParameterError, match=r"'theta' parameter of LWGP .* Got 1e-06"):
        lwgp(ensemble, 2, **options)


def test_any_theta_cuts_or_is_refused():
    """Weights so small that nothing can be divided by them are none."""
    rng = np.random.default_rng(0)
    base = rng.integers(0, 4, 50)
    noisy = [np.where(rng.random(50) < 0.3, rng.integers(0, 4, 50), base) for _ in range(5)]
    ensemble, refused = Ensemble([*noisy, np.arange(50) % 7]), 0
    for theta in np.geomspace(5e-4, 5e-3, 100):
        try:
            assert lwgp(ensemble, 3, theta=theta, random_state=0).n_clusters == 3
        except InvalidParameterError:
            refused += 1
    assert 10 < refused < 90


def test_a_single_cluster_is_returned_with_a_warning():
    ensemble = Ensemble([[0, 0, 0, 0], [-1, -2, -1, -1], [-1, -1, -2, -1]])
    with pytest.warns(ConsilienceWarning, match="one cluster; LWGP returns it. n_clusters=2"):
        assert lwgp(ensemble, 2).labels.tolist() == [0, 0, 0, 0]


def test_a_matrix_too_large_is_refused_with_a_remedy():
    ensemble = Ensemble(np.arange(40).reshape(20, 2) % 7)
    with pytest.raises(MemoryBudgetError, match=r"distinct objects .* max_memory.*LWGP"):
        lwea(ensemble, 2, max_memory=100)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"theta": 0}, "'theta' parameter of LWEA must be a number above 0 or None. Got 0"),
        ({"normalise": "yes"}, "'normalise' .* Got 'yes'"),
        ({"theta": "0.4"}, "'theta' .* Got '0.4'"),
        ({"linkage": "ward"}, "'linkage' parameter of LWEA .* Got 'ward'"),
        ({"missing": "none"}, "'missing' .* Got 'none'"),
        ({"max_memory": "much"}, "'max_memory' .* Got 'much'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        lwea(Ensemble([[0, 0, 1]]), 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        LWEA(2, **params).fit(ensemble=[[0, 0, 1]])
    if "theta" in params:
        with pytest.raises(InvalidParameterError, match=message.replace("LWEA", "LWGP")):
            LWGP(2, **params).fit(ensemble=[[0, 0, 1]])
