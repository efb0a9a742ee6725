"""Voting and cumulative voting: matchings, votes and merges against their definitions."""

import sys
from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.voting import (
    CumulativeVoting,
    Voting,
    _match,
    cumulativevoting,
    entropies,
    information_with,
    merge_columns,
    mutual_information,
    pass_on_votes,
    shared_information,
    shared_pairs,
    voting,
)
from consilience.errors import ConsilienceWarning, InvalidParameterError
from consilience.metrics import nmi

# Rounding may decide the order of members that share equal information: equal up to this.
DIGITS = 12

# The function of the same name hides the module.
MODULE = sys.modules[voting.__module__]


def placed(ensemble):
    some = (ensemble.labels >= 0).any(axis=1)
    assume(some.any())
    return ensemble.take(some)


# ---- what members share -------------------------------------------------------------------


@given(ensembles(max_members=4))
def test_shared_information_is_that_of_the_metric(ensemble):
    rows = distinct_rows(ensemble)
    found = shared_information(rows)
    one_by_one = np.stack([information_with(rows, labels) for labels in rows.members])
    np.testing.assert_allclose(found, one_by_one, atol=1e-9)
    np.testing.assert_array_equal(found, found.T)
    for a, first in enumerate(ensemble):
        for b, second in enumerate(ensemble):
            both = (first >= 0) & (second >= 0)
            wanted = nmi(first[both], second[both]) if both.any() else 0.0
            assert found[a, b] == pytest.approx(wanted, abs=1e-9)


def test_many_clusters_are_compared_pair_by_pair(monkeypatch):
    rng = np.random.default_rng(0)
    rows = distinct_rows(Ensemble(rng.integers(0, 9, (80, 5))))
    whole = shared_information(rows)
    monkeypatch.setattr(MODULE, "_MOST_CLUSTERS", 3)
    np.testing.assert_allclose(shared_information(rows), whole, atol=1e-12)


@given(ensembles())
def test_entropies_are_those_of_the_placed_objects(ensemble):
    found = entropies(distinct_rows(ensemble))
    for value, labels in zip(found, ensemble, strict=True):
        p = np.unique(labels[labels >= 0], return_counts=True)[1] / max((labels >= 0).sum(), 1)
        assert value == pytest.approx(-(p * np.log(p)).sum(), abs=1e-12)


# ---- voting -------------------------------------------------------------------------------


@given(
    npst.arrays(
        np.int64, st.tuples(st.integers(1, 5), st.integers(1, 4)), elements=st.integers(0, 9)
    )
)
def test_matching_is_the_best_of_all_and_the_rest_go_to_their_best(overlap):
    k_r, k = overlap.shape
    match = _match(overlap.astype(float))
    short = min(k_r, k)
    if k_r <= k:
        best = max(overlap[range(k_r), list(p)].sum() for p in permutations(range(k), k_r))
        assert len(set(match.tolist())) == short
        assert overlap[range(k_r), match].sum() == best
    else:
        best = max(overlap[list(p), range(k)].sum() for p in permutations(range(k_r), k))
        # Those matched one to one reach the best sum; nobody else does worse than their best.
        loss = overlap.max(axis=1) - overlap[range(k_r), match]
        assert set(match.tolist()) == set(range(k))
        total = overlap.max(axis=1).sum() - loss.sum()
        ideal = [
            overlap[list(p), range(k)].sum() + np.delete(overlap.max(axis=1), list(p)).sum()
            for p in permutations(range(k_r), k)
            if overlap[list(p), range(k)].sum() == best
        ]
        assert min(ideal) <= total <= max(ideal)


def slow_votes(ensemble, k):
    """Votes object by object, members matched one after the other; k clusters each."""
    labels = ensemble.labels
    members = range(ensemble.n_members)
    shared = np.array(
        [
            [
                normalized_mutual_info_score(labels[:, a], labels[:, b], average_method="geometric")
                for b in members
            ]
            for a in members
        ]
    ).round(DIGITS)
    reference = int((shared.sum(axis=1) - shared.diagonal()).round(DIGITS).argmax())
    votes = np.zeros((ensemble.n_objects, k))
    votes[np.arange(ensemble.n_objects), labels[:, reference]] = 1
    for m in np.argsort(-shared[reference], kind="stable"):
        if m != reference:
            match = _match(np.array([votes[labels[:, m] == c].sum(axis=0) for c in range(k)]))
            votes[np.arange(ensemble.n_objects), match[labels[:, m]]] += 1
    return reference, votes


@pytest.fixture
def rough(seed):
    """Seven members that agree on four groups but for one label in four."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(4), [30, 20, 10, 25])
    labels = np.repeat(truth[:, None], 7, axis=1)
    wrong = rng.random(labels.shape) < 0.25
    labels[wrong] = rng.integers(0, 4, wrong.sum())
    return truth, Ensemble(labels)


def test_votes_are_those_of_the_definition(rough):
    _, ensemble = rough
    reference, votes = slow_votes(ensemble, 4)
    found = voting(ensemble, 4, random_state=0)
    assert found.details["reference"] == reference
    shares = votes / 7
    # Columns are numbered as clusters first appear.
    order = list(dict.fromkeys(found.labels.tolist()))
    assert order == sorted(order)
    columns = [
        np.flatnonzero((shares == column[:, None]).all(axis=0)) for column in found.memberships.T
    ]
    assert sorted(int(c[0]) for c in columns) == [0, 1, 2, 3]
    top = found.memberships[np.arange(85), found.labels]
    np.testing.assert_array_equal(top, found.memberships.max(axis=1))
    assert found.objective == pytest.approx(top.mean())


@given(ensembles(min_objects=4, max_objects=9, min_members=2), st.integers(2, 3))
def test_memberships_are_shares_of_the_votes_cast(ensemble, k):
    ensemble = placed(ensemble)
    if len(ensemble.signatures().counts) <= k:
        return  # nothing to vote on
    found = voting(ensemble, k, random_state=0)
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1.0)
    top = found.memberships[np.arange(ensemble.n_objects), found.labels]
    np.testing.assert_array_equal(top, found.memberships.max(axis=1))
    # Every member votes once on every object it placed, all objects of a cluster alike.
    n_votes = (ensemble.labels >= 0).sum(axis=1)
    counts = found.memberships * n_votes[:, None]
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)
    matches = found.details["matches"]
    votes = np.zeros((ensemble.n_objects, k))
    for m, labels in enumerate(ensemble):
        for i in np.flatnonzero(labels >= 0):
            votes[i, matches[m][labels[i]]] += 1
    # The clusters that were voted for have the numbers of the labels.
    np.testing.assert_allclose(found.memberships, votes / n_votes[:, None])


@pytest.mark.parametrize("method", [voting, cumulativevoting])
def test_the_vote_is_better_than_its_members(method, rough):
    truth, ensemble = rough
    found = method(ensemble, 4, random_state=0)
    alone = np.mean([adjusted_rand_score(truth, labels) for labels in ensemble])
    assert adjusted_rand_score(truth, found.labels) > alone + 0.1
    assert found.objective > 0


def test_another_number_of_clusters_takes_a_reference_without_a_vote(rough):
    _, ensemble = rough
    found = voting(ensemble, 3, random_state=0)
    assert found.details["reference"] == "kcc"
    assert found.n_clusters == 3
    counts = found.memberships * 7
    np.testing.assert_allclose(counts, counts.round(), atol=1e-9)


def test_ties_are_drawn_for_all_objects_of_a_row_alike():
    """Object 2 twice: one vote for each side; the seed decides, for both copies alike."""
    ensemble = Ensemble([[0, 0, 0, 0, 1, 1], [0, 0, 1, 1, 1, 1]])
    sides = set()
    for seed in range(20):
        found = voting(ensemble, 2, random_state=seed)
        assert found.labels[[0, 1, 4, 5]].tolist() == [0, 0, 1, 1]
        assert found.labels[2] == found.labels[3]
        assert found.memberships[2].tolist() == [0.5, 0.5]
        sides.add(int(found.labels[2]))
    assert sides == {0, 1}


@pytest.mark.parametrize("method", [voting, cumulativevoting])
def test_gaps_and_noise_are_no_votes(method, seed):
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 40)
    labels = np.repeat(truth[:, None], 15, axis=1)
    labels[rng.random(labels.shape) < 0.3] = -2
    labels[rng.random(labels.shape) < 0.1] = -1
    ensemble = Ensemble(labels)
    found = method(ensemble, 3, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    top = found.memberships.max(axis=1)[(labels >= 0).any(axis=1)]
    np.testing.assert_allclose(top, 1.0)


@pytest.mark.parametrize("method", [voting, cumulativevoting])
def test_objects_in_another_order_and_threads(method, rough):
    _, ensemble = rough
    order = np.random.default_rng(1).permutation(ensemble.n_objects)
    for k in (3, 4):
        first = method(ensemble, k, random_state=5)
        second = method(ensemble.take(order), k, random_state=5, n_jobs=2)
        assert adjusted_rand_score(first.labels[order], second.labels) == 1.0
        assert first.objective == pytest.approx(second.objective)


# ---- cumulative voting --------------------------------------------------------------------


def slow_cumulative(ensemble, order):
    """Shares object by object: a cluster votes with the mean shares of its objects."""
    labels = ensemble.labels
    got = [
        [np.eye(labels[:, order[0]].max() + 1)[label]] if label >= 0 else []
        for label in labels[:, order[0]]
    ]
    for m in order[1:]:
        now = [np.mean(votes, axis=0) if votes else None for votes in got]
        for c in range(labels[:, m].max() + 1):
            inside = np.flatnonzero(labels[:, m] == c)
            known = [now[i] for i in inside if now[i] is not None]
            if known:
                for i in inside:
                    got[i].append(np.mean(known, axis=0))
    shares = np.array(
        [np.mean(v, axis=0) if v else np.zeros(labels[:, order[0]].max() + 1) for v in got]
    )
    silent = shares.sum(axis=1) == 0
    shares[silent] = shares.sum(axis=0) / shares.sum()
    return shares


@given(ensembles(max_objects=9), st.data())
def test_votes_passed_on_are_those_of_the_definition(ensemble, data):
    ensemble = placed(ensemble)
    order = np.array(data.draw(st.permutations(range(ensemble.n_members))))
    assume((ensemble.labels[:, order[0]] >= 0).any())
    rows = distinct_rows(ensemble)
    found = pass_on_votes(rows, order)[rows.inverse]
    np.testing.assert_allclose(found, slow_cumulative(ensemble, order), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)


def information(shares):
    """Mutual information of columns and objects, object by object."""
    joint = shares / len(shares)
    outer = joint.sum(axis=1, keepdims=True) * joint.sum(axis=0)
    some = joint > 0
    return (joint[some] * np.log(joint[some] / outer[some])).sum()


def jensen_shannon(shares, a, b):
    """(pi_a + pi_b) times the weighted divergence of p(i | a) and p(i | b)."""
    joint = shares / len(shares)
    pi = joint.sum(axis=0)
    whole = pi[a] + pi[b]
    if pi[a] == 0 or pi[b] == 0:
        return 0.0

    def entropy(p):
        return -(p[p > 0] * np.log(p[p > 0])).sum()

    p, q = joint[:, a] / pi[a], joint[:, b] / pi[b]
    mixed = (joint[:, a] + joint[:, b]) / whole
    return whole * (entropy(mixed) - pi[a] / whole * entropy(p) - pi[b] / whole * entropy(q))


@given(st.integers(0, 2**16), st.integers(1, 4))
def test_merging_takes_the_pair_of_least_divergence(seed, k):
    rng = np.random.default_rng(seed)
    counts = rng.integers(1, 4, 7)
    shares = rng.dirichlet(np.full(5, 0.5), 7)
    many = np.repeat(shares, counts, axis=0)
    found, lost = merge_columns(shares, counts, k)
    before = shares.copy()
    while many.shape[1] > k:
        pairs = [(a, b) for a in range(many.shape[1]) for b in range(a + 1, many.shape[1])]
        a, b = min(pairs, key=lambda pair: jensen_shannon(many, *pair))
        many[:, a] += many[:, b]
        many = np.delete(many, b, axis=1)
    np.testing.assert_allclose(np.repeat(found, counts, axis=0), many, atol=1e-12)
    np.testing.assert_array_equal(shares, before)
    full = information(np.repeat(shares, counts, axis=0))
    assert mutual_information(shares, counts) == pytest.approx(full)
    assert mutual_information(found, counts) == pytest.approx(full - lost, abs=1e-9)


def test_the_member_of_highest_entropy_with_enough_clusters_is_the_reference():
    even = [0, 0, 0, 1, 1, 1]
    uneven = [0, 0, 0, 0, 1, 2]
    found = cumulativevoting(Ensemble([even, uneven]), 3, reference="entropy")
    assert found.details["reference"] == 1
    wide = [0, 0, 1, 1, 2, 2]
    found = cumulativevoting(Ensemble([even, wide, uneven]), 2, reference="entropy")
    assert found.details["order"].tolist() == [1, 2, 0]
    assert found.details["lost"] > 0


def test_more_clusters_than_any_member_has_warns():
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 0]])
    with pytest.warns(ConsilienceWarning, match="no member has more than 2"):
        found = cumulativevoting(ensemble, 3)
    assert found.n_clusters == 2


def test_objects_that_no_vote_reaches_get_the_overall_shares():
    """The two members have no object in common: the second says nothing the first understands."""
    ensemble = Ensemble([[0, 0, 0, 0, 1, 1, 2, None, None], [None] * 7 + [0, 1]])
    found = cumulativevoting(ensemble, 2)
    assert found.details["reference"] == 0
    np.testing.assert_allclose(found.memberships[7:], [[4 / 7, 3 / 7]] * 2)


def test_a_member_without_clusters_is_no_reference():
    """All entropies are zero: the first member has no cluster, the second has one."""
    ensemble = Ensemble([[-1, -1, -1, -1], [0, 0, -1, -1], [-1, -1, 0, 0], [-1, 0, 0, 0]])
    for reference, wanted in (("entropy", 1), ("agreement", 1)):
        with pytest.warns(ConsilienceWarning, match="no member has more than 1"):
            found = cumulativevoting(ensemble, 2, reference=reference)
        assert found.details["reference"] == wanted
        assert found.labels.tolist() == [0, 0, 0, 0]


@given(ensembles(min_objects=2))
def test_agreement_is_the_adjusted_rand_index(ensemble):
    rows = distinct_rows(ensemble)
    for found in (shared_pairs(rows), shared_pairs(rows, n_jobs=2)):
        for a, first in enumerate(ensemble.members):
            for b, second in enumerate(ensemble.members):
                both = (first >= 0) & (second >= 0)
                n = [len(np.unique(x[both])) for x in (first, second)]
                if both.any() and n not in ([1, 1], [both.sum()] * 2):
                    wanted = adjusted_rand_score(first[both], second[both])
                    assert found[a, b] == pytest.approx(wanted, abs=1e-9)


def test_agreement_needs_no_table_of_all_clusters(rough, monkeypatch):
    rows = distinct_rows(rough[1])
    whole = shared_pairs(rows)
    monkeypatch.setattr(MODULE, "_MOST_CLUSTERS", 1)
    np.testing.assert_allclose(shared_pairs(rows), whole, atol=1e-9)


def test_the_reference_agrees_most_with_the_others(rough):
    _, ensemble = rough
    wild = np.random.default_rng(0).integers(0, 60, ensemble.n_objects)
    found = cumulativevoting(Ensemble(np.column_stack([wild, ensemble.labels])), 3)
    order = found.details["order"]
    assert found.details["reference"] == order[0] > 0
    assert order[-1] == 0
    with pytest.raises(InvalidParameterError, match="'reference' parameter of CumulativeVoting"):
        cumulativevoting(ensemble, 3, reference="first")


@pytest.mark.parametrize("model", [Voting(4, random_state=0), CumulativeVoting(4)])
def test_the_estimators_keep_the_shares(rough, model):
    _, ensemble = rough
    model = model.fit(ensemble=ensemble)
    assert model.memberships_.shape == (85, model.n_clusters_)
    assert model.objective_ > 0
    assert "reference" in model.details_
