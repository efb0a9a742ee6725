"""CSPA, MCLA, HBGF, HGPA, supra-consensus: against their formulas, each other, and chance."""

import os
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.linalg import subspace_angles
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble, generate
from consilience.consensus import CONSENSUS, metacluster
from consilience.consensus._cuts import whole_sizes
from consilience.consensus._products import dividing_members
from consilience.consensus._rows import distinct_rows
from consilience.consensus.bipartite import HBGF, hbgf, spectral_hbgf
from consilience.consensus.graph import CSPA, HGPA, cspa, hgpa
from consilience.consensus.metacluster import MCLA, mcla, meta_clusters, overlap
from consilience.consensus.supra import SupraConsensus, shared_information, supra, supraconsensus
from consilience.errors import (
    ConsilienceWarning,
    InvalidParameterError,
    MissingPackageError,
)
from consilience.evidence import co_association, never_seen
from consilience.kernels.labels import products as label_products
from consilience.kernels.labels.competition import most_shared
from consilience.metrics import nmi
from consilience.partition import has_metis

needs_metis = pytest.mark.skipif(not has_metis(), reason="pymetis is not installed")


def planted(seed, sizes=(20, 20, 20), members=15, wrong=0.15, unseen=0.0, noise=0.0):
    """Members that agree on groups of the sizes given but for some labels; objects shuffled."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    labels = np.repeat(truth[:, None], members, axis=1)
    stray = rng.random(labels.shape) < wrong
    labels[stray] = rng.integers(0, len(sizes), stray.sum())
    labels[rng.random(labels.shape) < unseen] = -2
    labels[rng.random(labels.shape) < noise] = -1
    return Ensemble(labels), truth


def indicator(ensemble):
    return ensemble.indicator().toarray().astype(float)


# ---- CSPA ---------------------------------------------------------------------------------


@needs_metis
@pytest.mark.parametrize("solver", ["metis", "balanced"])
@pytest.mark.parametrize(("unseen", "noise"), [(0.0, 0.0), (0.2, 0.1)])
def test_cspa_cuts_the_co_association(seed, solver, unseen, noise):
    ensemble, truth = planted(seed, unseen=unseen, noise=noise)
    found = cspa(ensemble, 3, solver=solver, random_state=seed)
    apart = found.labels[:, None] != found.labels[None, :]
    A = co_association(ensemble, missing="all")
    assert found.objective == pytest.approx(A[apart].sum() / 2)
    assert found.solver == solver
    assert found.details["balance"] <= 1.1
    assert adjusted_rand_score(truth, found.labels) > 0.85


@pytest.mark.parametrize("solver", ["auto", "balanced"])
def test_cspa_keeps_sizes(seed, solver):
    ensemble, truth = planted(seed, sizes=(10, 20, 30), wrong=0.1)
    found = cspa(ensemble, 3, solver=solver, sizes=(1, 2, 3), random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.8
    if solver == "balanced":
        assert sorted(np.bincount(found.labels)) == [10, 20, 30]


def test_cspa_without_balance(seed):
    ensemble, truth = planted(seed, sizes=(8, 16, 40), wrong=0.1)
    found = cspa(ensemble, 3, solver="spectral", random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0


@pytest.mark.parametrize("solver", ["auto", "spectral"])
def test_cspa_collapsed_keeps_equal_objects_together(seed, solver):
    ensemble, _ = planted(seed, members=4)
    found = cspa(ensemble, 3, collapse=True, solver=solver, random_state=seed)
    inverse = ensemble.signatures().inverse
    assert all(len(set(found.labels[inverse == g])) == 1 for g in range(inverse.max() + 1))
    if found.solver == "metis":
        apart = found.labels[:, None] != found.labels[None, :]
        A = co_association(ensemble)
        assert found.objective == pytest.approx(A[apart].sum() / 2)


@given(st.lists(st.integers(1, 12), min_size=1, max_size=4), st.integers(12, 60))
def test_equal_remainders_go_up_from_the_first(sizes, n):
    """Counted in whole numbers: what is left of n * size divided by their sum."""
    total = sum(sizes)
    wanted = [n * size // total for size in sizes]
    left = sorted(range(len(sizes)), key=lambda c: -(n * sizes[c] % total))
    for c in left[: n - sum(wanted)]:
        wanted[c] += 1
    if min(wanted) > 0:
        assert whole_sizes(sizes, n).tolist() == wanted
        assert whole_sizes([size / 7 for size in sizes], n).sum() == n


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=6), st.integers(-900, 1000))
def test_only_the_shares_of_sizes_count(sizes, power):
    """Powers of two, so that there is no rounding; up to where the sum is more than any number."""
    for n in (10, 37):
        wanted = whole_sizes(sizes, n)
        assert wanted.sum() == n
        assert wanted.min() >= 1
        scaled = [size * 2.0**power for size in sizes]
        np.testing.assert_array_equal(whole_sizes(scaled, n), wanted)
    assert whole_sizes([1e308] * 5, 10).tolist() == [2] * 5


def test_cspa_refuses_what_does_not_go_together():
    ensemble, _ = planted(0)
    with pytest.raises(InvalidParameterError, match=r"n_clusters=3 clusters. Got 2"):
        cspa(ensemble, 3, sizes=(1, 2))
    with pytest.raises(InvalidParameterError, match=r"'sizes' .* one positive number"):
        cspa(ensemble, 3, sizes=(1, 2, -1))
    with pytest.raises(InvalidParameterError, match="needs solver='metis' or 'balanced'"):
        cspa(ensemble, 3, sizes=(1, 2, 3), solver="spectral")
    with pytest.raises(InvalidParameterError, match="needs solver='metis' or 'balanced'"):
        cspa(ensemble, 3, sizes=(1, 2, 3), collapse=True)
    with pytest.raises(InvalidParameterError, match="keeps equal objects together"):
        cspa(ensemble, 3, solver="balanced", collapse=True)
    with pytest.raises(InvalidParameterError, match="'solver' parameter of CSPA"):
        cspa(ensemble, 3, solver="kway")


@pytest.mark.parametrize("solver", ["auto", "balanced"])
def test_cspa_does_not_split_equal_objects_by_their_order(solver):
    """Sixty equal objects and twenty others: who fills up the small cluster is chance.

    With objects sorted by class this is where a published figure came from.
    """
    labels = np.repeat([0, 1], [60, 20])
    other = labels.copy()
    other[79] = 0
    ensemble = Ensemble([labels, labels, other])
    firsts = []
    for s in range(20):
        found = cspa(ensemble, 2, solver=solver, random_state=s).labels
        cut_off = np.flatnonzero(found[:60] == found[70])
        firsts.append(np.mean(cut_off < 30))
    # By number all of them would come from one end, and the mean be near 0 or 1.
    assert 0.25 < np.mean(firsts) < 0.75


# ---- MCLA ---------------------------------------------------------------------------------


@given(ensembles(min_objects=2, min_members=2), st.integers(0, 2**31))
def test_overlap_is_shared_over_either(ensemble, seed):
    rows = distinct_rows(ensemble)
    weights = np.random.default_rng(seed).random(rows.n_rows) + 0.1
    B = indicator(ensemble)
    w = weights[rows.inverse]
    wanted = np.zeros((B.shape[1], B.shape[1]))
    for a in range(B.shape[1]):
        for b in range(B.shape[1]):
            either = w[(B[:, a] + B[:, b]) > 0].sum()
            wanted[a, b] = w[(B[:, a] * B[:, b]) > 0].sum() / either
    np.testing.assert_allclose(overlap(rows, weights), wanted, atol=1e-10)


def test_the_papers_worked_example():
    """Two clusters that share objects of weight 1.6 of a total of 2.5: similarity 0.64."""
    weights = np.array([0.5, 0.8, 0.8, 0.4])
    rows = distinct_rows(Ensemble([[0, 0, 0, 1], [1, 0, 0, 0]]))
    in_order = np.empty(rows.n_rows)
    in_order[rows.inverse] = weights
    assert overlap(rows, in_order)[0, 2] == pytest.approx(1.6 / 2.5)


@pytest.mark.parametrize("vertex", ["weight", "size"])
@pytest.mark.parametrize("weighted", [False, True])
def test_objects_go_to_the_meta_cluster_with_the_largest_share_of_its_clusters(
    seed, vertex, weighted
):
    ensemble, _ = planted(seed, members=6, wrong=0.3, unseen=0.1)
    rows = distinct_rows(ensemble)
    weights = np.random.default_rng(seed).random(rows.n_rows) + 0.1 if weighted else None
    found = meta_clusters(rows, 3, weights=weights, vertex=vertex, random_state=seed)
    B = indicator(ensemble)
    T = np.stack([B[:, found.parts.labels == q].mean(axis=1) for q in range(3)], axis=1)
    labels = found.labels[rows.inverse]
    np.testing.assert_allclose(T[np.arange(len(T)), labels], T.max(axis=1))
    shares = T / T.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found.shares[rows.inverse], shares, atol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_vertices_weigh_as_the_authors_code_has_it(monkeypatch, seed, weighted):
    ensemble, _ = planted(seed, members=4)
    rows = distinct_rows(ensemble)
    weights = np.random.default_rng(seed).random(rows.n_rows) + 0.1
    seen = {}

    def spy(graph, *args, **kwargs):
        seen["weights"] = graph.vertex_weights
        return split_graph(graph, *args, **kwargs)

    split_graph = metacluster.split_graph
    monkeypatch.setattr(metacluster, "split_graph", spy)
    B = indicator(ensemble)
    meta_clusters(rows, 3, weights=weights if weighted else None, random_state=0)
    w = weights[rows.inverse] if weighted else np.ones(ensemble.n_objects)
    np.testing.assert_allclose(seen["weights"], np.sqrt(w) @ B)
    meta_clusters(rows, 3, weights=weights, vertex="size", random_state=0)
    np.testing.assert_allclose(seen["weights"], B.sum(axis=0))


@pytest.mark.parametrize(
    ("solver", "sizes"),
    [("auto", (20, 21, 23)), ("spectral", (20, 21, 23)), ("spectral", (8, 16, 40))],
)
def test_mcla_finds_groups(seed, solver, sizes):
    ensemble, truth = planted(seed, sizes=sizes)
    found = mcla(ensemble, 3, solver=solver, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    assert found.memberships.shape == (64, 3)
    np.testing.assert_allclose(found.memberships.sum(axis=1), 1.0)
    np.testing.assert_array_equal(found.memberships.argmax(axis=1), found.labels)
    assert found.details["vanished"] == 0
    meta = found.details["meta_clusters"]
    assert len(meta) == 45
    # Meta-clusters have the numbers of the labels: each object's clusters are mostly in its own.
    own = meta[ensemble.labels + ensemble.offsets()[:-1]]
    np.testing.assert_array_equal(np.median(own, axis=1), found.labels)


UNBALANCED = [
    pytest.param(mcla, {}, id="mcla"),
    pytest.param(mcla, {"solver": "spectral"}, id="mcla-spectral"),
    pytest.param(hbgf, {"solver": "spectral"}, id="hbgf-spectral"),
]


@pytest.mark.parametrize(("function", "params"), UNBALANCED)
@settings(max_examples=30)
@given(ensemble=ensembles(min_objects=4, max_objects=15, min_members=2), seed=st.integers(0, 999))
def test_shuffled_objects_get_the_same_clusters(function, params, ensemble, seed):
    # Objects nobody saw join the largest cluster, the first one on ties: that is no evidence.
    assume(not never_seen(ensemble).any())
    order = np.random.default_rng(seed).permutation(ensemble.n_objects)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        first = function(ensemble, 2, random_state=seed, **params).labels
        second = function(ensemble.take(order), 2, random_state=seed, **params).labels
    assert adjusted_rand_score(first[order], second) == 1.0


@pytest.mark.parametrize(("function", "params"), UNBALANCED)
def test_equal_objects_stay_together_and_threads_change_nothing(seed, function, params):
    ensemble, _ = planted(seed, members=3, wrong=0.6)
    first = function(ensemble, 3, random_state=seed, **params).labels
    second = function(ensemble, 3, random_state=seed, n_jobs=2, **params).labels
    np.testing.assert_array_equal(first, second)
    inverse = ensemble.signatures().inverse
    assert all(len(set(first[inverse == g])) == 1 for g in range(inverse.max() + 1))


@pytest.mark.parametrize(("function", "params"), UNBALANCED)
@pytest.mark.parametrize("block", [1, 3, 17])
def test_blocks_of_rows_change_nothing(monkeypatch, function, params, block):
    ensemble, _ = planted(5, members=4, wrong=0.4)
    whole = function(ensemble, 3, random_state=0, **params)
    # Compiled, the block is a constant; as plain Python it is the one set here.
    plain = getattr(label_products._row_sums, "py_func", label_products._row_sums)
    monkeypatch.setattr(label_products, "_row_sums", plain)
    monkeypatch.setattr(label_products, "_BLOCK", block)
    found = function(ensemble, 3, random_state=0, **params)
    np.testing.assert_array_equal(found.labels, whole.labels)


def test_ties_between_meta_clusters_are_broken_by_seed_and_labels_only():
    members = np.array([[0, 0, 1, 1], [0, 1, 0, 1]], np.int8)
    rows = distinct_rows(Ensemble(members.T))
    drawn = _ties_drawn(rows)
    assert 0.4 < drawn.mean() < 0.6
    back = distinct_rows(Ensemble(members[:, ::-1].T))
    np.testing.assert_array_equal(_ties_drawn(back), drawn[:, ::-1])


def _ties_drawn(rows):
    """Winners of the objects among two meta-clusters of equal shares, by 200 seeds."""
    shares, found = np.full((4, 2), 0.5), np.empty((200, 4), np.int32)
    for seed in range(200):
        most_shared(shares, rows.members, seed, found[seed])
    return found[:, rows.inverse]


def test_more_clusters_than_the_members_have_is_an_error_that_names_them():
    # One cluster a member and noise: 7 distinct rows, 3 clusters.
    labels = np.array([[0, -1, -1], [-1, 0, -1], [-1, -1, 0], [0, 0, -1], [0, -1, 0], [0, 0, 0]])
    for function, owner in ((mcla, "MCLA"), (hbgf, "HBGF")):
        with pytest.raises(InvalidParameterError, match=f"{owner} .* members, 3. Got 4"):
            function(Ensemble(labels), 4)


# ---- HBGF ---------------------------------------------------------------------------------


@given(st.integers(0, 2**31))
def test_singular_vectors_come_from_the_small_side(seed):
    ensemble, _ = planted(seed, sizes=(6, 7, 8), members=5, wrong=0.4)
    B = indicator(ensemble)
    N = B / np.sqrt(B.sum(axis=0))
    U, sigma, _ = np.linalg.svd(N, full_matrices=False)
    found = spectral_hbgf(distinct_rows(ensemble), 3, random_state=0)
    np.testing.assert_allclose(found.singular_values, sigma[:3], atol=1e-8)
    # Without missing labels the first is the root of the number of members.
    assert found.singular_values[0] == pytest.approx(np.sqrt(5))
    if sigma[2] - sigma[3] > 1e-6:
        V = np.linalg.svd(N.T @ N)[0][:, :3]
        assert subspace_angles(U[:, :3], N @ V).max() < 1e-6


@needs_metis
def test_hbgf_by_metis_counts_cut_memberships(seed):
    ensemble, truth = planted(seed)
    found = hbgf(ensemble, 3, random_state=seed)
    assert found.solver == "metis"
    assert adjusted_rand_score(truth, found.labels) > 0.85
    # Each cluster sides with one part at best; METIS's cut cannot be below that.
    least = 0
    for member in ensemble:
        table = np.zeros((3, 3))
        np.add.at(table, (found.labels, member), 1)
        least += table.sum() - table.max(axis=0).sum()
    assert found.objective >= least


def test_hbgf_spectral_finds_groups_of_any_size(seed):
    ensemble, truth = planted(seed, sizes=(8, 16, 40), unseen=0.2, noise=0.05)
    found = hbgf(ensemble, 3, solver="spectral", random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.95
    B = indicator(ensemble)
    S = (B / B.sum(axis=0)) @ B.T
    placed = found.labels >= 0
    S, labels = S[np.ix_(placed, placed)], found.labels[placed]
    wanted = sum(S[labels == c][:, labels != c].sum() / S[labels == c].sum() for c in range(3))
    assert found.objective == pytest.approx(wanted)


@pytest.mark.parametrize("solver", ["auto", "spectral"])
def test_clusters_of_everything_are_left_out(seed, solver):
    ensemble, _ = planted(seed, wrong=0.3)
    with_hub = Ensemble(np.column_stack([ensemble.labels, np.zeros(60, int)]))
    first = hbgf(ensemble, 3, solver=solver, random_state=seed).labels
    np.testing.assert_array_equal(hbgf(with_hub, 3, solver=solver, random_state=seed).labels, first)


def test_the_only_cluster_of_an_object_is_never_left_out():
    labels = np.array([[0, 0], [0, 0], [0, 1], [0, 1], [0, -1], [0, -1]])
    assert dividing_members(Ensemble(labels).members, 2).sum() == 2
    assert dividing_members(Ensemble(labels[:4]).members, 2).sum() == 1
    assert dividing_members(Ensemble(labels[:4]).members, 3).sum() == 2
    found = hbgf(Ensemble(labels), 2, solver="spectral", random_state=0)
    assert set(found.labels) <= {0, 1}


# ---- HGPA and the supra-consensus ---------------------------------------------------------


def test_hgpa_finds_clean_groups_and_keeps_its_balance(seed):
    pytest.importorskip("mtkahypar", exc_type=ImportError)
    ensemble, truth = planted(seed, wrong=0.03)
    found = hgpa(ensemble, 3, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) > 0.9
    assert found.details["balance"] <= 1.06
    with pytest.raises(InvalidParameterError, match="'imbalance' parameter of HGPA"):
        hgpa(ensemble, 3, imbalance=-0.1)


def test_hgpa_without_its_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "mtkahypar", None)
    ensemble, truth = planted(0)
    with pytest.raises(MissingPackageError, match=r"consilience\[graph\]"):
        HGPA(3).fit(ensemble=ensemble)
    with pytest.warns(ConsilienceWarning, match=r"without 'hgpa': .*\n.*consilience\[graph\]"):
        found = supra(ensemble, 3, random_state=0)
    assert set(found.details["scores"]) == {"cspa", "mcla"}
    assert adjusted_rand_score(truth, found.labels) == 1.0
    with (
        pytest.warns(ConsilienceWarning, match="without 'hgpa'"),
        pytest.raises(MissingPackageError, match="None of SupraConsensus's methods"),
    ):
        supra(ensemble, 3, methods=["hgpa"])


@given(ensembles(min_objects=2, min_members=2), st.integers(0, 99))
def test_shared_information_is_the_weighted_mean(ensemble, seed):
    labels = np.random.default_rng(seed).integers(0, 3, ensemble.n_objects)
    total, weight = 0.0, 0
    for member in ensemble:
        placed = member >= 0
        if placed.any():
            total += placed.sum() * nmi(labels[placed], member[placed])
            weight += placed.sum()
    wanted = total / weight if weight else 0.0
    assert shared_information(labels, ensemble) == pytest.approx(wanted, abs=1e-10)


def test_supra_returns_the_best_and_says_so(seed):
    ensemble, _ = planted(seed, sizes=(10, 20, 60), wrong=0.05)
    found = supra(ensemble, 3, methods=("cspa", "eac", "mcla"), random_state=seed)
    scores = found.details["scores"]
    assert found.details["method"] == max(scores, key=scores.get)
    assert found.objective == pytest.approx(shared_information(found.labels, ensemble))
    # Groups of very different size: the balanced method must lose.
    assert scores["eac"] > scores["cspa"]
    assert supra is supraconsensus


@pytest.mark.parametrize("name", ["cts", "eeac", "lwea", "peace", "womc", "kcc"])
@pytest.mark.parametrize("missing", [None, -1, -2])
def test_supra_hands_on_all_that_the_winner_says(name, missing):
    """Per object in the order of the objects, of those that nobody placed, too."""
    rng = np.random.default_rng(1)
    labels = np.repeat(np.arange(12)[:, None] % 3, 6, axis=1)
    labels = np.where(rng.random((12, 6)) < 0.25, rng.integers(0, 3, (12, 6)), labels)
    if missing is not None:
        labels[3] = missing
    ensemble = Ensemble(labels)
    seed = int(np.random.RandomState(0).randint(2**31 - 1, size=1)[0])
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always", ConsilienceWarning)
        result = supra(ensemble, 3, methods=[name], random_state=0)
    assert len(said) == (missing == -2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        own = CONSENSUS[name].run(ensemble, 3, random_state=seed)
    np.testing.assert_array_equal(result.labels, own.labels)
    assert (result.n_iter, result.converged) == (own.n_iter, own.converged)
    assert set(result.details) == {"method", "scores", *own.details}
    for key, value in own.details.items():
        np.testing.assert_array_equal(result.details[key], value)


def test_supra_checks_its_methods():
    ensemble, _ = planted(0)
    for bad, words in (
        ("cspa", "a list of names"),
        ((), "a list of names"),
        ((1,), "a list of names"),
        (("nosuch",), "Got 'nosuch'"),
        (("supraconsensus",), "Got 'supraconsensus'"),
    ):
        with pytest.raises(InvalidParameterError, match=f"'methods' parameter .*{words}"):
            SupraConsensus(3, methods=bad).fit(ensemble=ensemble)


# ---- all of them --------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [CSPA, MCLA, HBGF])
def test_everything_works_without_metis(monkeypatch, seed, estimator):
    monkeypatch.setitem(sys.modules, "pymetis", None)
    ensemble, truth = planted(seed)
    # Fewer than 50 clusters are never METIS' for MCLA; more would be.
    ensemble = Ensemble.concatenate([ensemble] * (1 + 50 // ensemble.n_clusters.sum()))
    model = estimator(3, random_state=seed).fit(ensemble=ensemble)
    assert model.solver_ == ("balanced" if estimator is CSPA else "spectral")
    assert adjusted_rand_score(truth, model.labels_) > 0.85
    assert ("not balanced" in model.details_["note"]) == (estimator is not CSPA)
    with pytest.raises(MissingPackageError, match="pymetis"):
        estimator(3, solver="metis").fit(ensemble=ensemble)


@pytest.mark.parametrize("function", [cspa, hbgf])
def test_loose_groups_are_packed_with_a_warning(function):
    labels = np.repeat([0, 1, 2, 3], 5)
    with pytest.warns(ConsilienceWarning, match="4 groups that no member joins"):
        found = function(Ensemble([labels, labels]), 2, random_state=0)
    assert found.n_clusters == 2


@pytest.mark.parametrize("function", [cspa, mcla, hbgf])
def test_one_member_and_identical_members(function, seed):
    labels = np.random.default_rng(seed).permutation(np.repeat([0, 1, 2], [3, 9, 18]))
    for members in ([labels], [labels] * 5):
        found = function(Ensemble(members), 3, random_state=seed)
        assert adjusted_rand_score(labels, found.labels) == 1.0


@pytest.mark.parametrize("function", [cspa, mcla, hbgf])
@settings(max_examples=25)
@given(ensemble=ensembles(min_objects=3, max_objects=14, min_members=2), k=st.integers(2, 4))
def test_never_more_clusters_than_asked_for_and_the_same_for_the_same_seed(function, ensemble, k):
    k = min(k, ensemble.n_objects)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        if function is not cspa and k > ensemble.n_clusters.sum():
            return  # refused, see above
        first, second = (function(ensemble, k, random_state=1) for _ in range(2))
    np.testing.assert_array_equal(first.labels, second.labels)
    assert first.n_clusters <= k


# ---- the paper's data ---------------------------------------------------------------------


@needs_metis
@pytest.mark.skipif("CONSILIENCE_DATA" not in os.environ, reason="CONSILIENCE_DATA is not set")
@pytest.mark.parametrize(
    ("name", "function", "published", "within"),
    [
        ("iris", cspa, 0.6149, 0.02),
        ("iris", mcla, 0.6080, 0.02),
        ("iris", hbgf, 0.5931, 0.02),
        ("ucr_sony_aibo_2", mcla, 0.3187, 0.005),
        ("vowel", mcla, 0.1714, 0.015),
        ("vowel", hbgf, 0.1644, 0.015),
    ],
)
def test_the_papers_table_at_forty_members(name, function, published, within):
    """Table 4 of the weighted-object paper, mean adjusted Rand index, here over ten runs."""
    path = Path(os.environ["CONSILIENCE_DATA"]) / f"{name}.csv.gz"
    table = np.genfromtxt(path, delimiter=",", skip_header=1, dtype=str)
    X, y = table[:, :-1].astype(float), table[:, -1]
    X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    k = len(set(y))
    scores = [
        adjusted_rand_score(y, function(_woec(X, k, s), k, random_state=s).labels)
        for s in range(10)
    ]
    assert np.mean(scores) == pytest.approx(published, abs=within)


def _woec(X, k, seed):
    return generate.woec(40, k, seed).generate(X)
