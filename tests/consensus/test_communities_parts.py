"""The steps of the consensus by edges, each against its definition, node by node."""

import sys
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from consilience import Ensemble
from consilience.consensus import communities
from consilience.consensus.communities import (
    _confidence,
    _edge_shares,
    _improved,
    _median,
    _merged,
    _most_agreeing,
    _near,
    _nobody_alone,
    _numbered,
    _rand_index,
    _weighted,
    _worth,
)
from consilience.errors import ConsilienceWarning

# The function of the same name hides the module.
MODULE = sys.modules[communities.__module__]
seeds = st.integers(0, 2**31)
PATH = [(0, 1), (1, 2), (2, 3)]


def network(seed, *, n=7, gains=False):
    """A symmetric graph and what is said of its edges, in quarters, so that sums are exact."""
    rng = np.random.default_rng(seed)
    some = np.triu(rng.random((n, n)) < 0.5, 1)
    weights = np.where(some, rng.integers(-4 if gains else 1, 5, (n, n)) / 4, 0.0)
    adjacency = sparse.csr_array(weights + weights.T)
    said = rng.choice([np.nan, 0.0, 0.25, 0.5, 1.0], (n, n), p=[0.4, 0.15, 0.15, 0.15, 0.15])
    said = np.triu(said, 1) + np.triu(said, 1).T
    rows = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    return adjacency, said[rows, adjacency.indices], rng


def edges_of(adjacency, shares):
    """Node, neighbour, weight and share of each entry."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    return list(zip(rows, adjacency.indices, adjacency.data, shares, strict=True))


def sums(adjacency, shares, labels):
    """Weights, and weights times shares, of the edges from each node to each group."""
    weights, together = {}, {}
    for i, j, weight, share in edges_of(adjacency, shares):
        if labels[j] >= 0:
            key = (int(i), int(labels[j]))
            weights[key] = weights.get(key, 0.0) + weight
            together[key] = together.get(key, 0.0) + weight * share
    return weights, together


@given(seeds)
def test_groups_next_to_a_node_are_those_of_its_neighbours_that_have_one(seed):
    adjacency, shares, rng = network(seed)
    shares = np.nan_to_num(shares)
    labels = rng.integers(-1, 3, 7)
    labels[0] = 0
    near = _near(adjacency, shares, labels)
    weights, together = sums(adjacency, shares, labels)
    keys = list(zip(near.nodes.tolist(), near.groups.tolist(), strict=True))
    assert keys == sorted(weights)
    assert near.weights.tolist() == [weights[key] for key in keys]
    assert near.together.tolist() == [together[key] for key in keys]


def joined_slowly(adjacency, shares, labels, placed):
    labels, sizes = labels.copy(), np.bincount(labels)
    before = labels.copy()
    for i in range(len(labels)):
        if not placed[i] or sizes[before[i]] != 1:
            continue
        own = [edge for edge in edges_of(adjacency, shares) if edge[0] == i]
        judged = any(not np.isnan(share) for *_, share in own)
        votes = np.zeros(len(sizes))
        for _, j, weight, share in own:
            if sizes[before[j]] > 1:
                votes[before[j]] += weight * (np.nan_to_num(share) if judged else 1.0)
        if votes.max() > 0:
            labels[i] = votes.argmax()
    return labels


@given(seeds)
@pytest.mark.filterwarnings("ignore:No member heard saw")
def test_who_is_alone_joins_the_group_it_is_most_often_with(seed):
    adjacency, shares, rng = network(seed)
    labels = np.unique(rng.integers(0, 5, 7), return_inverse=True)[1]
    placed = rng.random(7) < 0.8
    before = labels.copy()
    found = _nobody_alone(adjacency, shares, labels, placed)
    wanted = joined_slowly(adjacency, shares, labels, placed)
    assert found.tolist() == wanted.tolist()
    assert labels.tolist() == before.tolist()


def test_nodes_of_whose_edges_nobody_says_anything_are_counted():
    adjacency = sparse.csr_array(np.ones((5, 5)) - np.eye(5))
    labels, placed = np.array([0, 0, 0, 1, 2]), np.ones(5, bool)
    shares = np.array([0.5 if {i, j} < {0, 1, 2} else np.nan for i, j, *_ in
                       edges_of(adjacency, adjacency.data)])  # fmt: skip
    with pytest.warns(ConsilienceWarning, match="saw an edge of 2 nodes"):
        assert _nobody_alone(adjacency, shares, labels, placed).tolist() == [0] * 5


def confidence_slowly(adjacency, shares, labels):
    known = ~np.isnan(shares)
    judged = [edge for edge, said in zip(edges_of(adjacency, shares), known, strict=True) if said]
    values, runners = [], []
    for i, label in enumerate(labels):
        mean = {}
        for group in set(labels[labels >= 0].tolist()):
            its = [(w, s) for at, j, w, s in judged if at == i and labels[j] == group]
            mean[group] = sum(w * s for w, s in its) / sum(w for w, _ in its) if its else 0.0
        own = mean.pop(int(label), 0.0)
        best = max(mean.values(), default=0.0)
        runner = min(group for group in mean if mean[group] == best) if best > 0 else -1
        values.append(own / (own + best) if label >= 0 and own + best > 0 else 0.0)
        runners.append(runner if label >= 0 else -1)
    return values, runners


@given(seeds, st.sampled_from([1.0, 1.2e-300]))
def test_confidence_is_the_own_mean_share_over_that_and_the_best_other(seed, scale):
    adjacency, shares, rng = network(seed)
    labels = rng.integers(-1, 3, 7)
    labels[0] = 0
    wanted, runners = confidence_slowly(adjacency, shares, labels)
    adjacency.data *= scale * 4  # no weight is below the smallest that is divided by
    found, runner_up = _confidence(adjacency, shares, labels)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert runner_up.dtype == np.int32
    if scale == 1.0:  # sums of multiples of others may tie otherwise
        assert runner_up.tolist() == runners


@given(seeds)
def test_shares_of_an_edge_are_those_of_the_members_that_saw_both_nodes(seed):
    adjacency, _, rng = network(seed)
    members = rng.integers(-2, 2, (4, 7))
    found = _edge_shares(adjacency, members)
    for at, (i, j, *_) in enumerate(edges_of(adjacency, adjacency.data)):
        saw = [one for one in members if one[i] != -2 and one[j] != -2]
        together = [one[i] == one[j] >= 0 for one in saw]
        np.testing.assert_equal(found[at], np.mean(together) if saw else np.nan)


@given(seeds)
def test_an_edge_of_weight_nothing_is_no_edge(seed):
    adjacency, shares, _ = network(seed)
    before = adjacency.copy()
    found = _weighted(adjacency, shares)
    wanted = np.zeros(adjacency.shape)
    for i, j, weight, share in edges_of(adjacency, shares):
        wanted[i, j] = weight * np.nan_to_num(share)
    np.testing.assert_array_equal(found.toarray(), wanted)
    assert found.nnz == np.count_nonzero(wanted)
    # Edges that are left out are left out of the new graph only.
    np.testing.assert_array_equal(adjacency.toarray(), before.toarray())
    assert adjacency.nnz == before.nnz


@given(seeds, st.one_of(st.none(), st.integers(1, 9)))
def test_heard_are_the_nearest_of_the_member_whose_nearest_agree_most(seed, n_heard):
    rng = np.random.default_rng(seed)
    members = np.where(rng.random((7, 8)) < 0.2, -2, rng.integers(0, 3, (7, 8)))
    found = _most_agreeing(Ensemble(members.T), n_heard)
    index = np.array([[_rand_index(a, b) for b in members] for a in members])
    np.fill_diagonal(index, 1.0)
    wanted = min(5 if n_heard is None else n_heard, 7)
    sums = [sum(sorted(row, reverse=True)[:wanted]) for row in index]
    assert sums[found.centre] == pytest.approx(max(sums))
    assert len(set(found.members.tolist())) == wanted
    assert found.members.tolist() == sorted(found.members.tolist())
    assert found.centre in found.members or index[found.centre].tolist().count(1.0) > wanted
    assert index[found.centre, found.members].sum() == pytest.approx(sums[found.centre])
    pairs = [index[a, b] for a, b in combinations(found.members, 2)]
    assert found.agreement == pytest.approx(np.mean(pairs) if pairs else 1.0)


def test_a_fifth_of_many_members_is_heard_and_of_one_that_one():
    labels = np.random.default_rng(0).integers(0, 2, (6, 31))
    assert len(_most_agreeing(Ensemble(labels), None).members) == 6
    assert len(_most_agreeing(Ensemble(labels[:, :29]), None).members) == 5
    alone = _most_agreeing(Ensemble(labels[:, :1]), 3)
    assert (alone.members.tolist(), alone.centre, alone.agreement) == ([0], 0, 1.0)
    two = _most_agreeing(Ensemble([[0, 0, 1, 1], [0, 1, 0, 1]]), None)
    assert (two.members.tolist(), two.agreement) == ([0, 1], pytest.approx(-0.5))


def test_members_of_more_nodes_are_compared_on_as_many_as_is_said(monkeypatch):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, (40, 4))
    monkeypatch.setattr(MODULE, "_COMPARED", 10)
    found = _most_agreeing(Ensemble(labels), 4)
    # Those nodes are drawn the same way always, so that the answer stays the same.
    some = np.random.default_rng(0).choice(40, 10, replace=False)
    pairs = [_rand_index(labels[some, a], labels[some, b]) for a, b in combinations(range(4), 2)]
    assert found.agreement == pytest.approx(np.mean(pairs))


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ([0, 0, 0], [0, 0, 0], 1.0),
        ([0, 0, 0], [0, 0, 1], 0.0),  # one group says nothing of two
        ([0, 0, 1, 1], [0, 1, 0, 1], -0.5),
        ([0, 0, -1], [-1, -2, 0], 0.0),  # no node was placed by both
        ([0, 1, 2], [0, 0, 0], 0.0),
        ([0, 0, 0], [0, 1, 2], 0.0),
        ([0, -1, 0, 1], [0, 0, 0, 1], 1.0),
    ],
)
def test_agreement_of_two_members_by_hand(a, b, wanted):
    assert _rand_index(np.array(a), np.array(b)) == pytest.approx(wanted)


# ---- the partition that agrees with most ---------------------------------------------------


def worth_slowly(graph, labels):
    """The sum over all pairs that are together."""
    pairs = combinations(range(len(labels)), 2)
    return sum(graph[i, j] for i, j in pairs if labels[i] == labels[j])


@given(seeds)
def test_worth_is_the_sum_of_weights_within_groups(seed):
    graph, _, rng = network(seed, gains=True)
    labels = rng.integers(0, 3, 7)
    assert _worth(graph, labels) == worth_slowly(graph, labels)


@given(seeds)
def test_groups_are_joined_where_that_gains(seed):
    graph, _, rng = network(seed, gains=True)
    labels = np.unique(rng.integers(0, 4, 7), return_inverse=True)[1]
    gains = {}
    for a, b in combinations(range(labels.max() + 1), 2):
        both = np.where(labels == b, a, labels)
        gains[a, b] = worth_slowly(graph, both) - worth_slowly(graph, labels)
    found = _merged(graph, labels)
    if max(gains.values(), default=0.0) <= 0:
        assert found is None
        return
    assert worth_slowly(graph, found) > worth_slowly(graph, labels)
    for group in range(labels.max() + 1):  # groups stay whole
        assert len(set(found[labels == group].tolist())) == 1


@given(seeds)
def test_no_move_of_a_node_and_no_merge_improves_the_partition(seed):
    graph, _, rng = network(seed, gains=True)
    start = rng.integers(0, 9, 7)
    for found in (_improved(graph, start), _median(graph, rng.integers(-2, 3, 7))):
        best = worth_slowly(graph, found)
        assert sorted(set(found.tolist())) == list(range(found.max() + 1))
        for i in range(7):
            for group in range(found.max() + 2):
                moved = found.copy()
                moved[i] = group
                assert worth_slowly(graph, moved) <= best
        for a, b in combinations(range(found.max() + 1), 2):
            assert worth_slowly(graph, np.where(found == b, a, found)) <= best


def test_the_better_of_two_starts_is_taken(monkeypatch):
    graph, _, _ = network(0, gains=False)
    asked = []

    def as_it_is(graph, labels):
        asked.append(labels)
        return labels

    monkeypatch.setattr(MODULE, "_improved", as_it_is)
    centre = np.array([0, 0, -1, 1, -2, 1, -1])
    found = _median(graph, centre)
    assert len(set(asked[0].tolist())) == 7
    # Who is in no cluster of the member in the middle is alone, and nobody else is with it.
    assert asked[1][centre >= 0].tolist() == [0, 0, 1, 1]
    assert len(set(asked[1].tolist())) == 5
    assert _worth(graph, asked[1]) > 0
    assert found is asked[1]
    assert _median(sparse.csr_array(-graph), centre) is asked[2]


# ---- rounds ---------------------------------------------------------------------------------


class Torn:
    """Makes members that never settle, and remembers on what graphs."""

    def __init__(self, members):
        self.members, self.graphs = members, []

    def generate(self, graph):
        self.graphs.append(graph.adjacency.toarray())
        return self.members

    def get_params(self, deep=True):
        return {}

    def set_params(self, **_):
        return self


TORN = Ensemble([[0, 0, 1, 1], [0, 1, 1, 0], [0, 0, 0, 1]])


@pytest.mark.parametrize("most", [1, 2, 3, 4, 6])
def test_as_many_rounds_are_made_as_are_wanted(most):
    maker = Torn(TORN)
    found = communities(TORN, PATH, generator=maker, max_rounds=most)
    assert found.n_iter == most
    assert len(maker.graphs) == most - 1
    shares = {(0, 1): 2 / 3, (1, 2): 2 / 3, (2, 3): 1 / 3}
    for power, graph in enumerate(maker.graphs, 1):
        for (i, j), share in shares.items():
            assert graph[i, j] == graph[j, i] == pytest.approx(share**power)


def test_no_round_is_made_once_members_settled_to_the_last_bit(monkeypatch):
    agreement = communities(TORN, PATH).details["agreement"]
    monkeypatch.setattr(MODULE, "_SETTLED", agreement)
    assert communities(TORN, PATH, generator=Torn(TORN), max_rounds=3).n_iter == 1
    monkeypatch.setattr(MODULE, "_SETTLED", np.nextafter(agreement, 1))
    assert communities(TORN, PATH, generator=Torn(TORN), max_rounds=3).n_iter == 3


def test_no_round_is_made_on_a_graph_without_edges():
    apart = Ensemble([[0, 1, 0, 1], [0, 1, 2, 0]])
    maker = Torn(apart)
    assert communities(apart, PATH, generator=maker).n_iter == 1
    assert maker.graphs == []


def test_communities_are_numbered_as_they_appear_and_without_any_all_is_noise():
    found = _numbered(np.array([7, 4, 7, 4, 9]), np.array([False, True, True, True, False]), 2)
    assert (found.labels.tolist(), found.n_clusters, found.n_iter) == ([-1, 0, 1, 0, -1], 2, 2)
    nowhere = communities(Ensemble(np.full((4, 2), -1)), PATH)
    assert (nowhere.labels.tolist(), nowhere.n_clusters, nowhere.n_iter) == ([-1] * 4, 0, 1)
    assert nowhere.details["confidence"].tolist() == [0.0] * 4
