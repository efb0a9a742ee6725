"""What the consensus by edges keeps: unanimity, names, order, noise, unseen; and what it gains."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience import Communities, Ensemble
from consilience.consensus import communities
from consilience.consensus.communities import _rand_index
from consilience.datasets import make_lfr
from consilience.errors import ConsilienceError, ConsilienceWarning
from consilience.generate import CommunityEnsemble

TRIANGLES = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]
# Checks that give a table where a graph is wanted, and want words about tables.
TABLES = dict.fromkeys(
    ("check_clustering", "check_complex_data", "check_estimators_empty_data_messages"),
    "the check gives a table, which is refused as no graph",
) | {"check_dtype_object": "weights that are no numbers are an InvalidInputError"}
PARTS = np.array([0, 0, 0, 1, 1, 1])


@pytest.fixture(scope="module")
def sample():
    return make_lfr(200, average_degree=10, max_degree=20, mixing=0.3, random_state=0)


@pytest.fixture(scope="module")
def members(sample):
    pytest.importorskip("sknetwork")
    return CommunityEnsemble(12, random_state=0).generate(sample.to_scipy())


def test_a_unanimous_ensemble_is_returned(sample):
    found = communities(Ensemble(np.repeat(sample.groups[:, None], 4, axis=1)), sample.edges)
    assert adjusted_rand_score(found.labels, sample.groups) == 1
    assert (found.details["confidence"] == 1).all()
    assert (found.details["runner_up"] == -1).all()
    assert found.details["agreement"] == 1
    assert found.labels.dtype == np.int32
    assert found.labels[0] == 0


def test_names_and_order_of_members_do_not_matter(sample, members):
    names = np.random.default_rng(0).permutation(1000)
    placed = members.labels >= 0
    renamed = np.where(placed, names[np.where(placed, members.labels, 0)], members.labels)[:, ::-1]
    first = communities(members, sample.edges)
    second = communities(Ensemble(renamed), sample.edges)
    assert adjusted_rand_score(first.labels, second.labels) == 1
    np.testing.assert_allclose(first.details["confidence"], second.details["confidence"])


def test_order_of_nodes_and_edges_does_not_matter(sample, members):
    rng = np.random.default_rng(1)
    order = rng.permutation(len(sample.groups))
    place = np.argsort(order)
    members = Ensemble(np.column_stack([sample.groups] * 4 + [members.labels]))
    first = communities(members, sample.edges)
    edges = place[sample.edges][rng.permutation(len(sample.edges))]
    second = communities(members.take(order), edges)
    assert adjusted_rand_score(first.labels[order], second.labels) == 1


def test_it_is_no_worse_than_the_best_member(seed):
    pytest.importorskip("sknetwork")
    sample = make_lfr(1000, mixing=0.6, random_state=seed)
    graph = sample.to_scipy()
    ensemble = CommunityEnsemble(random_state=seed).generate(graph)
    best = max(normalized_mutual_info_score(sample.groups, labels) for labels in ensemble)
    found = communities(ensemble, graph)
    assert normalized_mutual_info_score(sample.groups, found.labels) >= best


def test_a_minority_of_other_members_is_not_heard(sample):
    right = np.repeat(sample.groups[:, None], 5, axis=1)
    noise = np.random.default_rng(0).integers(0, 9, (200, 4))
    found = communities(Ensemble(np.hstack([noise, right])), sample.edges)
    assert found.details["heard"].tolist() == [4, 5, 6, 7, 8]
    assert adjusted_rand_score(found.labels, sample.groups) == 1


def test_noise_everywhere_stays_noise_and_isolated_nodes_are_noise():
    labels = np.repeat(PARTS[:, None], 3, axis=1)
    labels[5] = -1
    found = communities(Ensemble(labels), TRIANGLES)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, -1]
    assert found.details["confidence"][5] == 0
    matrix = np.zeros((7, 7))
    matrix[tuple(np.transpose(TRIANGLES))] = 1
    members = Ensemble(np.repeat(np.append(PARTS, 1)[:, None], 3, axis=1))
    with pytest.warns(ConsilienceWarning, match="no edges"):
        found = communities(members, matrix + matrix.T)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, -1]


def test_a_node_nobody_saw_goes_where_its_edges_lead():
    labels = np.repeat(PARTS[:, None], 3, axis=1)
    labels[5] = -2
    with pytest.warns(ConsilienceWarning, match="No member heard saw an edge of 1"):
        found = communities(Ensemble(labels), TRIANGLES)
    assert found.labels.tolist() == PARTS.tolist()
    assert found.details["confidence"][5] == 0


def test_unseen_pairs_do_not_count_noise_does():
    seen = np.column_stack([PARTS, PARTS, PARTS, PARTS])
    seen[2, 0] = -2
    found = communities(Ensemble(seen), TRIANGLES, n_heard=4)
    assert found.details["confidence"][2] == 1
    seen[2, 0] = 1
    torn = communities(Ensemble(seen), TRIANGLES, n_heard=4)
    # Three of four join it with its own, one with the other triangle.
    assert torn.details["confidence"][2] == pytest.approx(0.75)
    assert torn.details["runner_up"][2] == 1


def test_heavy_edges_count_more():
    # Node 2 is torn: two members put it left, two right; its edges to the right are heavier.
    labels = np.column_stack([PARTS] * 4)
    labels[2, 2:] = 1
    edges = [(*edge, 5.0 if edge == (2, 3) else 1.0) for edge in TRIANGLES]
    labels[2, 1] = 1
    assert communities(Ensemble(labels), edges, n_heard=4).labels[2] == 1


def test_one_group_one_member_and_a_clique():
    assert communities(Ensemble(np.zeros((6, 3), int)), TRIANGLES).n_clusters == 1
    assert communities(Ensemble([PARTS]), TRIANGLES).labels.tolist() == PARTS.tolist()
    pytest.importorskip("sknetwork")
    assert Communities(random_state=0).fit(np.ones((12, 12)) - np.eye(12)).n_clusters_ == 1


def test_further_rounds_are_made_where_members_do_not_settle():
    pytest.importorskip("sknetwork")
    sample = make_lfr(600, mixing=0.65, random_state=0)
    maker = CommunityEnsemble(15, random_state=0)
    ensemble = maker.generate(sample.edges)
    one = communities(ensemble, sample.edges)
    more = communities(ensemble, sample.edges, generator=maker)
    assert one.n_iter == 1
    assert 1 < more.n_iter <= 3
    assert one.details["agreement"] == more.details["agreement"]  # of the members given
    assert communities(ensemble, sample.edges, generator=maker, max_rounds=1).n_iter == 1


def test_the_index_of_two_members_is_scikit_learns(seed):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 5, (2, 60))
    assert _rand_index(a, b) == pytest.approx(adjusted_rand_score(a, b))
    hidden = np.where(rng.random(60) < 0.2, -2, a)
    kept = hidden >= 0
    assert _rand_index(hidden, b) == pytest.approx(adjusted_rand_score(a[kept], b[kept]))
    assert _rand_index(np.arange(6), np.arange(6)) == 0  # all alone: nothing to agree about


@pytest.mark.parametrize(
    ("given", "word"),
    [
        ({"graph": [(0, 1)]}, "same nodes"),
        ({"graph": "x"}, "graph given to communities"),
        ({"n_heard": 0}, "n_heard"),
        ({"max_rounds": 0}, "max_rounds"),
        ({"generator": 3}, "generator"),
        ({"ensemble": [[0, 1]]}, "ensemble"),
    ],
)
def test_what_cannot_be_used_is_refused_by_name(given, word):
    known = {"ensemble": Ensemble([PARTS, PARTS]), "graph": TRIANGLES} | given
    with pytest.raises(ConsilienceError, match=word):
        communities(known.pop("ensemble"), known.pop("graph"), **known)


def test_the_estimator_takes_members_of_anybody(sample):
    model = Communities().fit(sample.edges, ensemble=np.repeat(sample.groups[:, None], 3, axis=1))
    assert adjusted_rand_score(model.labels_, sample.groups) == 1
    assert (model.n_clusters_, model.n_rounds_) == (int(sample.groups.max()) + 1, 1)
    assert (model.heard_.tolist(), model.agreement_) == ([0, 1, 2], 1.0)


@pytest.mark.filterwarnings("ignore:.*edges? of a node with itself")
@pytest.mark.filterwarnings("ignore:The graph is directed")
@pytest.mark.filterwarnings("ignore:.*nodes? of .* no edges")
@parametrize_with_checks(
    [Communities(generator=CommunityEnsemble(4))], expected_failed_checks=lambda _: TABLES
)
def test_scikit_learn_conventions(estimator, check):
    pytest.importorskip("sknetwork")
    check(estimator)
