"""The steps of HBGF's cut by singular vectors, and of the choice among several methods."""

import sys
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.utils import check_random_state

from consilience import Ensemble, SoftEnsemble
from consilience.consensus import CONSENSUS
from consilience.consensus._rows import distinct_rows
from consilience.consensus._solve import ConsensusResult
from consilience.consensus.bipartite import (
    _far_apart,
    _normalised_cut,
    _way,
    hbgf,
    spectral_hbgf,
)
from consilience.consensus.supra import (
    _is_names,
    _methods,
    _unseen_as_noise,
    _winner,
    shared_information,
    supra,
)
from consilience.errors import InvalidParameterError
from consilience.metrics import nmi

# The functions of the same names hide the modules.
BIPARTITE = sys.modules[hbgf.__module__]
SUPRA = sys.modules[supra.__module__]
# Two groups on which a third member is of another mind.
LABELS = np.array([[0, 0, 0], [0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 1], [1, 1, 0]])


def soft(seed=0):
    rng = np.random.default_rng(seed)
    return SoftEnsemble([rng.dirichlet(np.ones(3), 8), rng.dirichlet(np.ones(2), 8)])


@pytest.mark.parametrize(("missing", "n_links"), [(None, 18), (-1, 17), (-2, 17)])
def test_only_memberships_are_edges(monkeypatch, missing, n_links):
    asked = []
    monkeypatch.setattr(
        BIPARTITE, "choose_bipartite", lambda *given: asked.append(given) or ("metis", "")
    )
    labels = LABELS.copy()
    if missing is not None:
        labels[2, 1] = missing
    assert _way(Ensemble(labels), "auto") == ("metis", "")
    assert asked == [(n_links, "auto")]


def test_members_that_divide_nothing_are_left_out(monkeypatch):
    seen = []
    found = BIPARTITE._way
    monkeypatch.setattr(
        BIPARTITE,
        "_way",
        lambda placed, solver: seen.append(placed.labels) or found(placed, solver),
    )
    with_hub = np.insert(LABELS, 1, 0, axis=1)
    for labels in (with_hub, LABELS):
        hbgf(Ensemble(labels), 2, solver="spectral", random_state=0)
        # In an order of their own.
        assert sorted(seen.pop().tolist()) == sorted(LABELS.tolist())


def test_memberships_are_always_cut_by_singular_vectors():
    assert _way(soft(), "spectral") == ("spectral", "")
    way, note = _way(soft(), "auto")
    assert (way, note) == ("spectral", "memberships are cut by singular vectors")
    with pytest.raises(InvalidParameterError, match="must be 'spectral' or 'auto'"):
        _way(soft(), "metis")
    with pytest.raises(InvalidParameterError, match="must be 'spectral' or 'auto'"):
        hbgf(soft(), 2, solver="metis")


@pytest.mark.parametrize("ensemble", [Ensemble(LABELS), soft()], ids=["labels", "memberships"])
def test_singular_vectors_are_asked_for_of_a_matrix_without_negative_eigenvalues(
    monkeypatch, ensemble
):
    asked = []
    found = BIPARTITE.leading_eigenvectors

    def kept(N, k, rng, **options):
        asked.append((N.copy(), k, options))
        return found(N, k, rng, **options)

    monkeypatch.setattr(BIPARTITE, "leading_eigenvectors", kept)
    split = spectral_hbgf(distinct_rows(ensemble), 2, random_state=0)
    ((N, k, options),) = asked
    B = np.asarray(
        ensemble.memberships if ensemble.is_soft else ensemble.indicator().toarray(),
        float,
    )
    scaled = B / np.sqrt(B.sum(axis=0))
    np.testing.assert_allclose(N, scaled.T @ scaled, atol=1e-12)
    assert np.linalg.eigvalsh(N).min() > -1e-12
    assert (k, options) == (2, {"positive": True})
    wanted = np.linalg.svd(scaled, compute_uv=False)[:2]
    np.testing.assert_allclose(split.singular_values, wanted, atol=1e-9)


def test_rows_and_clusters_are_clustered_at_length_1_with_their_counts(monkeypatch):
    given = []
    found = BIPARTITE.kmeans_labels

    def kept(E, k, weights, *args, **options):
        given.append((E.copy(), k, weights, options["init"]))
        return found(E, k, weights, *args, **options)

    monkeypatch.setattr(BIPARTITE, "kmeans_labels", kept)
    # Clusters of four and of three.
    rows = distinct_rows(Ensemble(np.concatenate([LABELS, LABELS[:1]])))
    split = spectral_hbgf(rows, 2, random_state=0)
    ((both, k, weights, centres),) = given
    assert both.shape == (4 + 6, 2)
    np.testing.assert_allclose(np.linalg.norm(both, axis=1), 1.0, atol=1e-8)
    assert weights.tolist() == [*rows.counts, *[1] * 6]
    assert k == len(centres) == 2
    # The left vectors follow from the right ones: B scaled, times V, over the singular values.
    B = np.concatenate([np.eye(2)[member] for member in rows.members], axis=1)
    N = B / np.sqrt(rows.counts @ B)
    values, V = np.linalg.eigh(N.T @ (N * rows.counts[:, None]))
    U = N @ V[:, :-3:-1] / np.sqrt(values[:-3:-1])
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    V = V[:, :-3:-1] / np.linalg.norm(V[:, :-3:-1], axis=1, keepdims=True)
    together = np.concatenate([U, V])
    np.testing.assert_allclose(both @ both.T, together @ together.T, atol=1e-8)
    assert len(split.labels) == 4
    assert len(split.cluster_labels) == 6
    # Members that all agree on the groups: each cluster is with the objects it holds.
    for member, first in zip(rows.members[:2], (0, 2), strict=True):
        np.testing.assert_array_equal(split.cluster_labels[first + member], split.labels)


def test_no_direction_is_made_of_rounding():
    # Two equal members: two directions, however many parts are wanted.
    twice = Ensemble(np.repeat([[0], [0], [1], [1], [1]], 2, axis=1))
    split = spectral_hbgf(distinct_rows(twice), 3, random_state=0)
    np.testing.assert_allclose(split.singular_values, np.sqrt([2.0, 2.0]), atol=1e-12)
    assert np.isfinite(split.cut)


@pytest.mark.parametrize("slice_of", [1, 3, 1 << 14])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_every_start_is_the_row_least_along_those_before(monkeypatch, seed, slice_of, k):
    rng = np.random.default_rng(seed)
    U = rng.normal(size=(11, 3))
    counts = rng.integers(1, 4, 11)
    monkeypatch.setattr(BIPARTITE, "_LARGE", slice_of)
    drawn = np.random.RandomState(seed).randint(counts.sum())
    chosen = [np.repeat(np.arange(11), counts)[drawn]]
    while len(chosen) < k:
        chosen.append(int(np.abs(U @ U[chosen].T).sum(axis=1).argmin()))
    found = _far_apart(U, counts, k, check_random_state(seed))
    np.testing.assert_array_equal(found, U[chosen])


def test_the_normalised_cut_by_hand():
    # Clusters {A, B} of the first member and {B} of the second: A has one label, B two. Inside
    # lie 1/2 of A's 1, and 1/2 + 1 of B's 2.
    rows = distinct_rows(Ensemble(np.array([[0, -1], [0, 0]])))
    sizes = np.array([2.0, 1.0])
    apart = np.array([0, 1], np.int32)
    assert _normalised_cut(rows, apart, sizes, 2) == pytest.approx(2 - 1 / 2 - 3 / 4)
    # A part of nothing cuts nothing.
    assert _normalised_cut(rows, apart, sizes, 3) == pytest.approx(2 - 1 / 2 - 3 / 4)
    assert _normalised_cut(rows, np.zeros(2, np.int32), sizes, 1) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        (("cspa",), True),
        (["cspa", "mcla"], True),
        ("cspa", False),
        ((), False),
        ((1,), False),
        (("cspa", 1), False),
        (3, False),
        ({"cspa"}, False),
    ],
)
def test_names_are_a_sequence_of_words(value, wanted):
    assert _is_names(value) is wanted


def test_only_methods_of_the_table_are_taken_each_once():
    assert _methods(["mcla", "cspa", "mcla"], None) == [CONSENSUS["mcla"], CONSENSUS["cspa"]]
    for name in ("nosuch", "supraconsensus"):
        with pytest.raises(InvalidParameterError, match=f"Got '{name}'"):
            _methods(["cspa", name], None)


def test_methods_that_need_data_are_taken_with_data():
    needy = next(name for name, method in CONSENSUS.items() if method.needs_data)
    with pytest.raises(InvalidParameterError, match="needs data"):
        _methods([needy], None)
    assert _methods([needy, "cspa"], LABELS) == [CONSENSUS[needy], CONSENSUS["cspa"]]


def test_each_member_counts_by_the_objects_it_placed():
    labels = np.array([0, 0, 1, 1, 1, 0])
    members = np.array([[0, 0, 1, 1, 1, -1], [0, 1, 0, 1, -2, -2], [-1, -2, -1, -2, -1, -1]])
    wanted = (5 * 1.0 + 4 * nmi(labels[:4], members[1, :4])) / 9
    assert shared_information(labels, Ensemble(members.T)) == pytest.approx(wanted)
    # One object of cluster 0 is enough to count.
    few = np.array([[0, 0, 1, 1], [0, -1, -1, -1]])
    wanted = (4 * 1.0 + nmi([0], [0])) / 5
    assert shared_information([0, 0, 1, 1], Ensemble(few.T)) == pytest.approx(wanted)
    assert shared_information([0, 1], Ensemble([[-1, -1]])) == 0.0


def test_objects_that_nobody_saw_are_noise_and_others_stay():
    whole = Ensemble(LABELS)
    assert _unseen_as_noise(whole) is whole
    labels = LABELS.copy()
    labels[2] = -2
    labels[4, 0] = -2
    found = _unseen_as_noise(Ensemble(labels))
    labels[2] = -1
    np.testing.assert_array_equal(found.labels, labels)


def test_methods_have_seeds_of_their_own(monkeypatch):
    seeds = []

    def run(ensemble, k, X, *, random_state, n_jobs):
        seeds.append(random_state)
        return result_of([0, 0, 0, 1, 1, 1])

    methods = [SimpleNamespace(name=name, run=run) for name in ("one", "two")]
    monkeypatch.setattr(SUPRA, "_methods", lambda names, X: methods)
    for seed in range(20):
        assert supra(Ensemble(LABELS), 2, random_state=seed).details["method"] == "one"
    # Forty draws of few numbers would hardly all be different.
    assert len(set(seeds)) == 40


def result_of(labels, memberships=None, **details):
    return ConsensusResult(
        np.asarray(labels, np.int32), objective=7.0, memberships=memberships, details=details
    )


def test_the_first_of_equal_results_wins_and_keeps_what_it_says():
    placed = Ensemble(LABELS)
    good, bad = [0, 0, 0, 1, 1, 1], [0, 1, 0, 1, 0, 1]
    shares = np.arange(14.0).reshape(7, 2)
    kept = np.array([True] * 3 + [False] + [True] * 3)
    results = {
        "worse": result_of(np.insert(bad, 3, 0)),
        "first": result_of(np.insert(good, 3, 1), shares, own=1),
        "second": result_of(np.insert(good, 3, 0)),
    }
    best = _winner(results, placed, kept)
    assert best.details["method"] == "first"
    assert best.details["own"] == 1
    assert list(best.details["scores"]) == ["worse", "first", "second"]
    assert best.labels.tolist() == good
    assert best.objective == shared_information(good, placed)
    np.testing.assert_array_equal(best.memberships, shares[kept])
    del results["first"]
    assert _winner(results, placed, kept).memberships is None


@pytest.mark.parametrize(("more", "wanted"), [(4e-13, "first"), (2e-12, "second")])
def test_rounding_parts_no_equals(monkeypatch, more, wanted):
    scores = iter([0.5, 0.5 + more])
    monkeypatch.setattr(SUPRA, "shared_information", lambda *_: next(scores))
    results = {"first": result_of([0, 1]), "second": result_of([1, 0])}
    best = _winner(results, Ensemble([[0, 1]]), np.ones(2, bool))
    assert best.details["method"] == wanted
