"""EEAC: what is special to it. What every method keeps is in the contract."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus import selected
from consilience.consensus._rows import Rows
from consilience.consensus.selected import EEAC, eeac
from consilience.errors import (
    ConsilienceWarning,
    InvalidInputError,
    InvalidParameterError,
    MemoryBudgetError,
)
from consilience.evidence.stability import (
    cluster_stability,
    extended_co_association,
    select_clusters,
)
from consilience.generate import KMeansEnsemble
from consilience.kernels.links.trees import cut_merges

GROUPS = np.repeat([0, 1, 2], [12, 9, 15])


def noisy(seed, n_members=20, wrong=0.15):
    """Members that follow three groups but for some objects."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(GROUPS[:, None], n_members, axis=1)
    changed = rng.random(labels.shape) < wrong
    labels[changed] = rng.integers(0, 3, changed.sum())
    return Ensemble(labels)


def replay(D, tree):
    """Assert that every merge joins two clusters at the smallest mean distance of that moment."""
    n = len(D)
    clusters = {i: [i] for i in range(n)}
    for t, (a, b, height, size) in enumerate(tree):
        means = {
            (x, y): D[np.ix_(clusters[x], clusters[y])].mean()
            for x in clusters
            for y in clusters
            if x < y
        }
        pair = min(int(a), int(b)), max(int(a), int(b))
        assert means[pair] == pytest.approx(height, abs=1e-9)
        assert height <= min(means.values()) + 1e-9
        clusters[n + t] = clusters.pop(pair[0]) + clusters.pop(pair[1])
        assert size == len(clusters[n + t])


@settings(max_examples=25)
@given(ensembles(min_objects=3, min_members=2), st.sampled_from(["nmi", "max", "apmm"]))
def test_it_cuts_the_average_link_tree_of_the_extended_matrix(ensemble, criterion):
    somewhere = (ensemble.labels >= 0).any(axis=1)
    assume(somewhere.sum() > 2)
    placed = ensemble.take(somewhere)
    assume(len(placed.signatures().counts) > 2)
    stability = cluster_stability(placed, criterion=criterion)
    chosen = select_clusters(placed, stability)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = eeac(placed, 2, criterion=criterion)
    np.testing.assert_array_equal(found.details["stability"], stability)
    np.testing.assert_array_equal(found.details["kept"], chosen.kept)
    covered = chosen.cover > 0
    np.testing.assert_array_equal(found.details["uncovered"], ~covered)
    if covered.any():
        tree = found.details["linkage"]
        D = 1.0 - extended_co_association(placed, chosen)
        replay(D[np.ix_(covered, covered)], tree)
        labels = found.labels[covered]
        wanted = cut_merges(tree, len(np.unique(labels)))
        assert adjusted_rand_score(wanted, labels) == 1.0


@pytest.mark.parametrize("linkage", ["average", "single", "complete"])
def test_groups_are_found_with_every_link(linkage, seed):
    found = eeac(noisy(seed, wrong=0.05), 3, linkage=linkage)
    assert adjusted_rand_score(found.labels, GROUPS) == 1.0
    assert found.details["matrix_free"] == (linkage != "complete")


def test_poor_members_are_left_out(seed):
    """Random members drown the plain co-association, not that of the stable clusters."""
    rng = np.random.default_rng(seed)
    good = np.repeat(GROUPS[:, None], 6, axis=1)
    poor = rng.integers(0, 6, (len(GROUPS), 24))
    found = eeac(Ensemble(np.concatenate([good, poor], axis=1)), 3, top=0.1)
    assert adjusted_rand_score(found.labels, GROUPS) == 1.0
    assert found.details["kept"][:18].all()
    assert not found.details["kept"][18:].any()


def test_only_complete_link_needs_the_matrix(seed):
    ensemble = noisy(seed)
    assert eeac(ensemble, 3, max_memory=50).details["matrix_free"]
    with pytest.raises(MemoryBudgetError, match=r"complete link .* Raise max_memory"):
        eeac(ensemble, 3, linkage="complete", max_memory=50)


def test_objects_that_lose_all_their_clusters_are_attached_and_counted():
    # The reference knows no cluster of object 5 again, which one member puts with the second
    # group.
    ensemble = Ensemble([[0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 1, 3]])
    reference = Ensemble([[0, 0, 1, 1, 1, -1]])
    with pytest.warns(ConsilienceWarning, match="1 objects are in none of the clusters kept"):
        found = eeac(ensemble, 2, reference=reference, threshold=0.99, min_cover=0)
    assert found.labels.tolist() == [0, 0, 1, 1, 1, 1]
    assert np.flatnonzero(found.details["uncovered"]).tolist() == [5]
    assert found.details["cover"][5] == 0
    assert found.details["linkage"].shape == (4, 4)
    covered = eeac(ensemble, 2, reference=reference, threshold=0.99)
    assert not covered.details["uncovered"].any()


def test_an_object_that_is_with_nobody_goes_to_the_largest_cluster():
    ensemble = Ensemble([[0, 0, 0, 1, 1, 2]] * 2 + [[0, 0, 0, 1, 1, -1]])
    reference = Ensemble([[0, 0, 0, 1, 1, -1]])
    with pytest.warns(ConsilienceWarning, match="1 objects are in none"):
        found = eeac(ensemble, 2, reference=reference, threshold=0.99, min_cover=0)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 0]


def test_details_speak_of_all_objects_also_of_those_nobody_placed():
    ensemble = Ensemble([[0, 0, -1, 1, 1, None, 1], [0, 0, -1, 1, 1, None, 0]])
    reference = Ensemble([[0, 0, 1, 1, 1, 1, 1], [0, 0, 0, 1, 1, 0, 1]])
    with pytest.warns(ConsilienceWarning, match="seen by no member"):
        found = eeac(ensemble, 2, reference=reference)
    assert found.details["cover"].tolist() == [2, 2, 0, 2, 2, 0, 2]
    assert not found.details["uncovered"].any()
    assert found.labels[2] == -1
    # Objects that no member placed say nothing about the clusters.
    placed = ~np.isin(np.arange(7), [2, 5])
    wanted = cluster_stability(ensemble.take(placed), reference.take(placed))
    np.testing.assert_array_equal(found.details["stability"], wanted)


def test_more_clusters_than_the_kept_ones_tell_apart():
    members = [[0, 0, 0, 1, 1, 1]] * 8 + [[0, 0, 1, 1, 2, 2]]
    with pytest.warns(ConsilienceWarning, match="only 2 groups of objects differ in the clusters"):
        found = eeac(Ensemble(members), 3, top=0.3)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_clusters_of_everything_tell_nothing():
    members = [[0, 0, 0, 0]] * 2 + [[-1, None, -1, -1], [-1, -1, None, -1]]
    with pytest.warns(ConsilienceWarning, match="they are one cluster"):
        found = eeac(Ensemble(members), 2)
    assert found.labels.tolist() == [0, 0, 0, 0]


def test_a_threshold_that_leaves_nothing_is_refused():
    with pytest.raises(
        InvalidParameterError, match=r"'threshold' .* most stable one has 0\.\d+. Got 2"
    ):
        eeac(Ensemble([[0, 0, 1, 1], [0, 1, 1, 1], [0, 0, 1, 1]]), 2, threshold=2, min_cover=0)


def test_the_reference_may_be_an_ensemble_or_made_from_the_data(seed):
    X = np.random.default_rng(seed).normal(size=(36, 2)) + 9 * np.eye(3)[GROUPS][:, :2]
    again = KMeansEnsemble(5, 3, max_samples=0.9, assign="unseen")
    few = KMeansEnsemble(8, (2, 5))
    made = EEAC(3, reference=again, generator=few, random_state=seed).fit(X)
    assert made.reference_.n_members == 5
    assert made.reference_.has_unseen
    given = EEAC(3, reference=made.reference_, generator=few, random_state=seed).fit(X)
    np.testing.assert_array_equal(given.labels_, made.labels_)
    np.testing.assert_array_equal(given.details_["stability"], made.details_["stability"])
    assert EEAC(3, generator=few, random_state=seed).fit(X).reference_ is None


def test_references_are_drawn_apart_from_the_members(seed):
    X = np.random.default_rng(seed).normal(size=(60, 2))
    alike = KMeansEnsemble(6, 4)
    model = EEAC(4, reference=alike, generator=alike, random_state=seed).fit(X)
    assert not np.array_equal(model.reference_.labels, model.ensemble_.labels)


def test_bad_references_are_refused():
    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])
    with pytest.raises(InvalidInputError, match=r"generator given as 'reference'. Got no X"):
        EEAC(2, reference=KMeansEnsemble(3, 2)).fit(ensemble=ensemble)
    with pytest.raises(InvalidParameterError, match="'reference' parameter of EEAC"):
        EEAC(2, reference="again").fit(ensemble=ensemble)
    with pytest.raises(InvalidInputError, match="it has 3, the ensemble 4"):
        eeac(ensemble, 2, reference=Ensemble([[0, 0, 1]]))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"criterion": "best"}, "'criterion' parameter of EEAC .* Got 'best'"),
        ({"top": 1.5}, "'top' parameter of EEAC .* Got 1.5"),
        ({"threshold": "x"}, "'threshold' parameter of EEAC .* Got 'x'"),
        ({"min_cover": 0.5}, "'min_cover' parameter of EEAC .* Got 0.5"),
        ({"linkage": "ward"}, "'linkage' parameter of EEAC .* Got 'ward'"),
        ({"max_memory": "much"}, "'max_memory' parameter of EEAC .* Got 'much'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    ensemble = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])
    with pytest.raises(InvalidParameterError, match=message):
        eeac(ensemble, 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        EEAC(2, **params).fit(ensemble=ensemble)


def test_more_objects_than_sums_have_room_for_are_refused():
    members = np.array([[0, 0, 1], [0, 1, 1]], np.int8)
    rows = Rows(members, np.array([0, 2, 4]), np.full(3, 10**8), np.arange(3))
    words = "EEAC cannot add up the pairs of 300000000 objects by 2 members.*linkage='single'"
    with pytest.raises(InvalidInputError, match=words):
        selected._tree(rows, "average", 2**30, None)
    assert selected._tree(rows, "single", 2**30, None).shape == (2, 4)


@pytest.mark.parametrize("state", [0, 7])
def test_references_are_drawn_by_a_seed_of_their_own(state):
    """One of all 2^31 - 1, drawn by that of the members."""
    X = np.random.default_rng(0).normal(size=(40, 2))
    maker = KMeansEnsemble(4, (2, 6))
    model = EEAC(3, generator=maker, reference=maker, random_state=state).fit(X)
    seed = int(np.random.RandomState(state).randint(2**31 - 1))
    wanted = KMeansEnsemble(4, (2, 6), random_state=seed).generate(X)
    np.testing.assert_array_equal(model.reference_.labels, wanted.labels)
    assert not np.array_equal(model.reference_.labels, model.ensemble_.labels)
