"""The steps of balanced parts (CSPA, HGPA) and of meta-clusters (MCLA), one by one."""

import sys

import numpy as np
import pytest

from consilience import Ensemble, SoftEnsemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.graph import _check_sizes, _collapsed, _joined, cspa, hgpa
from consilience.consensus.metacluster import (
    MetaClusters,
    _held,
    let_compete,
    mcla,
    meta_clusters,
    overlap,
)
from consilience.errors import InvalidParameterError
from consilience.partition import Parts

# The functions of the same names hide the modules.
GRAPH = sys.modules[cspa.__module__]
META = sys.modules[mcla.__module__]
LABELS = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 2], [1, -1], [0, 0]])
ROWS = distinct_rows(Ensemble(LABELS))


def parts_of(labels, cut=3.0):
    labels = np.asarray(labels, np.int32)
    return Parts(labels, cut, "metis", np.bincount(labels))


def together(labels):
    """Members that put both objects into one cluster."""
    return sum(
        ((one[:, None] == one) & (one >= 0)[:, None]).astype(int) for one in np.asarray(labels).T
    )


def test_pairs_are_joined_by_the_members_that_put_them_into_one_cluster():
    np.testing.assert_array_equal(_joined(Ensemble(LABELS).members, None), together(LABELS))


def test_parts_of_objects_are_of_their_co_association(monkeypatch):
    asked = []

    def kept(F, k, *, gram, groups, **options):
        asked.append((F.toarray()[groups], k, gram(), options))
        return parts_of([0, 0, 0, 1, 1, 1, 0], 5.0)

    monkeypatch.setattr(GRAPH, "split_rows", kept)
    found = cspa(Ensemble(LABELS), 2, solver="metis", n_cuts=4, sizes=[5, 2], random_state=3)
    ((F, k, gram, options),) = asked
    # In an order of their own.
    np.testing.assert_array_equal(F @ F.T, gram)
    assert sorted(gram.sum(axis=1)) == sorted(together(LABELS).sum(axis=1))
    assert (k, options["solver"], options["n_cuts"]) == (2, "metis", 4)
    assert options["sizes"].tolist() == [5, 2]
    assert options["random_state"] == 3
    assert found.objective == 5.0 / 2
    cspa(Ensemble(LABELS), 2)
    assert asked[1][3]["sizes"] is None


def test_collapsed_rows_weigh_as_many_objects_and_pairs_as_they_hold(monkeypatch):
    asked = []

    def kept(graph, k, **options):
        asked.append((graph, k, options))
        return parts_of([0, 0, 1, 1, 1], 5.0)

    monkeypatch.setattr(GRAPH, "split_graph", kept)
    found = _collapsed(Ensemble(LABELS), 2, "metis", 4, 9, None)
    ((graph, k, options),) = asked
    distinct, inverse, counts = Ensemble(LABELS).signatures()
    wanted = together(distinct.labels) * np.outer(counts, counts) / 2
    np.fill_diagonal(wanted, 0)
    np.testing.assert_allclose(graph.adjacency.toarray(), wanted)
    assert graph.cut(np.arange(len(counts))) == pytest.approx(wanted.sum() / 2)
    np.testing.assert_array_equal(graph.vertex_weights, counts)
    assert (k, options) == (2, {"solver": "metis", "n_cuts": 4, "random_state": 9})
    assert found.objective == 5.0
    np.testing.assert_array_equal(found.labels, np.array([0, 0, 1, 1, 1])[inverse])


@pytest.mark.parametrize("solver", ["auto", "metis", "balanced", "spectral"])
@pytest.mark.parametrize("collapse", [False, True])
@pytest.mark.parametrize("sizes", [None, [1.0, 2.0]])
def test_what_does_not_go_together_is_refused(solver, collapse, sizes):
    bad = {
        "keeps equal objects together": collapse and solver == "balanced",
        "needs solver='metis' or 'balanced'": sizes is not None
        and (collapse or solver == "spectral"),
    }
    for words in [words for words, wrong in bad.items() if wrong][:1]:
        with pytest.raises(InvalidParameterError, match=words):
            _check_sizes(sizes, 2, solver, collapse)
        return
    _check_sizes(sizes, 2, solver, collapse)
    if sizes is not None:
        with pytest.raises(InvalidParameterError, match="sizes"):
            _check_sizes(sizes, 3, solver, collapse)


def test_hyperedges_are_the_clusters_of_the_members(monkeypatch):
    asked = []

    def kept(B, k, *, imbalance, random_state):
        asked.append((B.toarray(), k, imbalance, random_state))
        return parts_of([0, 0, 0, 1, 1, 1, 0], 5.0)

    monkeypatch.setattr(GRAPH, "hypergraph_parts", kept)
    found = hgpa(Ensemble(LABELS), 2, imbalance=0.2, random_state=7)
    ((B, *rest),) = asked
    assert sorted(B.sum(axis=0)) == [1, 2, 3, 3, 4]
    assert rest == [2, 0.2, 7]
    assert found.objective == 5.0


def test_clusters_overlap_by_the_weight_of_shared_objects():
    # Row weights below 1: what lies in either may be any number above 0.
    weights = np.linspace(0.05, 0.2, ROWS.n_rows)
    for given in (None, weights):
        one = (np.ones(ROWS.n_rows) if given is None else given) * ROWS.counts
        held = np.concatenate(
            [m == np.arange(k)[:, None] for m, k in zip(ROWS.members, (2, 3), strict=True)]
        )
        shared = (held * one) @ held.T
        either = np.array([[one[a | b].sum() for b in held] for a in held])
        np.testing.assert_allclose(overlap(ROWS, given), shared / either, atol=1e-14)


def test_clusters_of_next_to_nothing_overlap_with_nothing():
    # Squares of these memberships are too small for a number.
    table = np.array([[1.0, 1e-200], [1.0, 1e-200], [1.0, 0.0]])
    found = overlap(distinct_rows(SoftEnsemble([table, table])), None)
    np.testing.assert_allclose(
        found, [[1, 0, 1, 0], [0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0]], atol=1e-14
    )


@pytest.mark.parametrize(
    ("asked", "wide", "wanted"),
    [
        ("auto", 48, "spectral"),
        ("auto", 49, "auto"),
        ("auto", 50, "auto"),
        ("metis", 3, "metis"),
        ("spectral", 60, "spectral"),
    ],
)
def test_few_clusters_are_not_cut_by_metis(monkeypatch, asked, wide, wanted):
    taken = []

    def kept(graph, k, *, solver, random_state):
        taken.append(solver)
        return parts_of(np.arange(graph.adjacency.shape[0]) % k)

    monkeypatch.setattr(META, "split_graph", kept)
    # One member of so many clusters, and one of a single cluster: 50 are no longer few.
    rows = distinct_rows(Ensemble(np.column_stack([np.arange(wide), np.zeros(wide, int)])))
    meta_clusters(rows, 2, solver=asked, random_state=0)
    assert taken == [wanted]


@pytest.mark.parametrize("vertex", ["weight", "size"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_graph_of_clusters_balances_objects_or_roots_of_weights(monkeypatch, vertex, weighted):
    asked = []

    def kept(graph, k, **_):
        asked.append((graph, k))
        return parts_of([0, 1, 0, 1, 1])

    monkeypatch.setattr(META, "split_graph", kept)
    weights = np.linspace(0.25, 2.0, ROWS.n_rows) if weighted else None
    meta_clusters(ROWS, 2, weights=weights, vertex=vertex, random_state=0)
    ((graph, k),) = asked
    mass = ROWS.counts * (np.sqrt(weights) if weighted and vertex == "weight" else 1.0)
    wanted = [
        mass[m == c].sum() for m, n in zip(ROWS.members, (2, 3), strict=True) for c in range(n)
    ]
    np.testing.assert_allclose(graph.vertex_weights, wanted)
    wanted = overlap(ROWS, weights)
    np.fill_diagonal(wanted, 0.0)
    np.testing.assert_allclose(graph.adjacency.toarray(), wanted)
    assert k == 2


def test_more_meta_clusters_than_clusters_are_refused():
    with pytest.raises(InvalidParameterError, match="WOMC"):
        meta_clusters(ROWS, 6, owner="WOMC")


def test_ties_are_seeded_by_a_number_of_its_own(monkeypatch):
    seeds = []
    found = META.let_compete
    monkeypatch.setattr(META, "let_compete", lambda *given: seeds.append(given[3]) or found(*given))
    for seed in range(25):
        meta_clusters(ROWS, 2, random_state=seed)
    # So many draws of few numbers would hardly all be different.
    assert len(set(seeds)) == 25


def test_a_meta_cluster_without_clusters_is_divided_by_one():
    held, sizes = _held(ROWS, np.array([0, 2, 0, 2, 2], np.int32), 4, None)
    assert sizes.tolist() == [2.0, 1.0, 3.0, 1.0]
    of_member = np.array([0, 2]), np.array([0, 2, 2])
    for row in range(ROWS.n_rows):
        wanted = np.zeros(4)
        for member, own in zip(ROWS.members[:, row], of_member, strict=True):
            if member >= 0:
                wanted[own[member]] += 1
        np.testing.assert_array_equal(held[row], wanted)


def test_the_largest_share_wins_and_shares_are_scaled():
    part = np.array([0, 1, 0, 1, 1], np.int32)
    found = let_compete(ROWS, 2, parts_of(part), 0)
    held, sizes = _held(ROWS, part, 2, None)
    shares = held / sizes
    np.testing.assert_allclose(found.shares, shares / shares.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(found.shares.sum(axis=1), 1.0)
    apart = shares[:, 0] != shares[:, 1]
    np.testing.assert_array_equal(found.labels[apart], shares[apart].argmax(axis=1))
    assert apart.sum() >= 4
    np.testing.assert_array_equal(found.parts.labels, part)
    assert found.labels.dtype == np.int32


def test_meta_clusters_are_numbered_as_their_labels_will_be():
    labels = np.array([2, 2, 0, 0, 0], np.int32)
    shares = np.arange(15.0).reshape(5, 3)
    meta = MetaClusters(labels, shares, parts_of([2, 0, 2, 1, 0], 4.5))
    found = meta.result(ROWS, 3, n_jobs=1, extra=8)
    np.testing.assert_array_equal(found.labels, labels[ROWS.inverse])
    np.testing.assert_array_equal(found.memberships, shares[ROWS.inverse])
    assert found.objective == 4.5
    assert found.solver == "metis"
    assert found.details["vanished"] == 1
    assert found.details["extra"] == 8
    # The first object's cluster is 0, the next one new 1, that of nobody the last.
    order = [*dict.fromkeys(found.labels.tolist()), 1]
    assert found.details["meta_clusters"].tolist() == [order.index(p) for p in (2, 0, 2, 1, 0)]
