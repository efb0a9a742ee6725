"""EAC against SciPy on the explicit matrix, with much memory and with little."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

import consilience as cs
from consilience import Ensemble
from consilience.consensus import accumulation, eac
from consilience.consensus._rows import Rows
from consilience.consensus._unplaced import add_unplaced
from consilience.ensemble import UNSEEN
from consilience.errors import ConsilienceWarning, InvalidInputError, MemoryBudgetError
from consilience.evidence import co_association, never_placed, twins

pytestmark = pytest.mark.filterwarnings("ignore:.*never seen together")

TINY = 1  # a budget of one byte: nothing fits


def _random_ensemble(seed, n=40, n_members=60, unseen=0.0, noise=0.0):
    """Random labels of many members."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, rng.integers(2, 7, n_members), (n, n_members))
    labels[rng.random(labels.shape) < noise] = -1
    labels[rng.random(labels.shape) < unseen] = -2
    return Ensemble(labels)


def _distances(ensemble, missing):
    return 1 - co_association(ensemble, missing=missing)


def _ward(D, one, other):
    """What a union adds to the sum of squared distances over sizes, as SciPy scales it."""
    between, first, second = (
        (D[np.ix_(a, b)] ** 2).mean() for a, b in [(one, other), (one, one), (other, other)]
    )
    a, b = len(one), len(other)
    return np.sqrt(max(2 * a * b / (a + b) * (between - first / 2 - second / 2), 0.0))


_GROUPS = {
    "average": lambda D, one, other: D[np.ix_(one, other)].mean(),
    "complete": lambda D, one, other: D[np.ix_(one, other)].max(),
    "single": lambda D, one, other: D[np.ix_(one, other)].min(),
    "ward": _ward,
}


def _closest_pairs(D, tree, linkage):
    """At each merge of a tree: its distance, the smallest one, and the second smallest."""
    groups = {i: [i] for i in range(len(D))}
    measure = _GROUPS[linkage]
    for step, (a, b, *_) in enumerate(tree):
        keys = sorted(groups)
        between = sorted(
            measure(D, groups[p], groups[q]) for k, p in enumerate(keys) for q in keys[k + 1 :]
        )
        own = measure(D, groups[int(a)], groups[int(b)])
        yield own, between[0], between[1] if len(between) > 1 else np.inf
        groups[len(D) + step] = groups.pop(int(a)) + groups.pop(int(b))


def _tie_free_ensemble(seed, linkage, missing, unseen, noise):
    """The first random ensemble from a seed on whose linkage never has to choose.

    Member r counts 2**r times, so that pairs with different agreements differ in count.
    """
    for attempt in range(100):
        rng = np.random.default_rng([seed, attempt])
        labels = rng.integers(0, rng.integers(2, 5, 11), (14, 11))
        labels[rng.random(labels.shape) < noise] = -1
        labels[rng.random(labels.shape) < unseen] = -2
        ensemble = Ensemble(np.repeat(labels, 2 ** np.arange(11), axis=1))
        D = _distances(ensemble, missing)
        tree = hierarchy.linkage(squareform(D, checks=False), linkage)
        steps = _closest_pairs(D, tree, linkage)
        if not never_placed(ensemble).any() and all(
            second - first > 1e-7 for _, first, second in steps
        ):
            return ensemble, tree
    raise AssertionError("no ensemble without ties was drawn")


def _partitions(tree):
    """The set of clusters that ever exist in a tree: equal for equal dendrograms."""
    n = len(tree) + 1
    groups = [frozenset([i]) for i in range(n)]
    for a, b, *_ in tree:
        groups.append(groups[int(a)] | groups[int(b)])
    return set(groups)


CASES = [("pair", 0.0, 0.0), ("pair", 0.15, 0.1), ("all", 0.15, 0.1), ("all", 0.0, 0.2)]


@pytest.mark.parametrize(("missing", "unseen", "noise"), CASES)
@pytest.mark.parametrize("linkage", sorted(_GROUPS))
def test_without_ties_tree_and_partitions_are_scipys(seed, linkage, missing, unseen, noise):
    if linkage == "single" or linkage == "complete":
        unseen = unseen / 2  # a pair's distance decides many merges: gaps make ties likelier
    ensemble, tree = _tie_free_ensemble(seed, linkage, missing, unseen, noise)
    found = eac(ensemble, 3, linkage=linkage, missing=missing)
    np.testing.assert_allclose(found.linkage[:, 2], tree[:, 2], atol=1e-9)
    assert _partitions(found.linkage) == _partitions(tree)
    for k in range(2, 8):
        wanted = hierarchy.fcluster(tree, k, "maxclust")
        got = eac(ensemble, k, linkage=linkage, missing=missing).labels
        assert adjusted_rand_score(wanted, got) == 1.0


@pytest.mark.parametrize(("missing", "unseen", "noise"), CASES)
@pytest.mark.parametrize("repeat", range(3))
def test_average_link_is_that_of_the_matrix(seed, missing, unseen, noise, repeat):
    ensemble, tree = _tie_free_ensemble(10 * seed + repeat, "average", missing, unseen, noise)
    found = eac(ensemble, 2, missing=missing, max_memory=TINY)
    assert found.matrix_free
    np.testing.assert_allclose(found.linkage[:, 2], tree[:, 2], atol=1e-6)
    assert _partitions(found.linkage) == _partitions(tree)


@pytest.mark.parametrize("max_memory", ["1 GiB", TINY])
@pytest.mark.parametrize(("missing", "unseen", "noise"), CASES)
@pytest.mark.parametrize("linkage", sorted(_GROUPS))
def test_with_ties_every_merge_is_of_a_closest_pair(
    seed, linkage, missing, unseen, noise, max_memory
):
    if linkage in ("complete", "ward") and max_memory == TINY:
        max_memory = "1 MB"
    ensemble = _random_ensemble(seed, n=25, n_members=8, unseen=unseen, noise=noise)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = eac(ensemble, 2, linkage=linkage, missing=missing, max_memory=max_memory)
    D = _distances(ensemble, missing)
    heights = []
    for own, smallest, _ in _closest_pairs(D, found.linkage, linkage):
        assert own == pytest.approx(smallest, abs=1e-9)
        heights.append(own)
    np.testing.assert_allclose(found.linkage[:, 2], heights, atol=1e-9)


@given(ensembles(min_objects=2, max_members=4), st.sampled_from(["pair", "all"]))
def test_single_link_heights_equal_scipys_even_with_ties(ensemble, missing):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = eac(ensemble, 1, linkage="single", missing=missing)
    tree = hierarchy.linkage(squareform(_distances(ensemble, missing), checks=False), "single")
    placed = (ensemble.labels >= 0).any(axis=1)
    assume(placed.any())
    np.testing.assert_allclose(np.sort(found.linkage[:, 2]), tree[:, 2], atol=1e-12)


@given(ensembles(min_objects=2), st.sampled_from(sorted(_GROUPS)))
def test_the_dendrogram_is_one_scipy_accepts(ensemble, linkage):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = eac(ensemble, linkage=linkage)
    assert hierarchy.is_valid_linkage(found.linkage)
    assert len(found.linkage) == ensemble.n_objects - 1
    assert found.linkage[-1, 3] == ensemble.n_objects


@pytest.mark.parametrize("max_memory", ["1 GiB", TINY])
def test_collapsing_equal_rows_changes_nothing(seed, max_memory):
    once, _ = _tie_free_ensemble(seed, "average", "pair", 0.0, 0.0)
    many = once.take(np.repeat(np.arange(once.n_objects), np.arange(once.n_objects) % 3 + 1))
    D = _distances(many, "pair")
    tree = hierarchy.linkage(squareform(D, checks=False), "average")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = eac(many, 4, max_memory=max_memory)
    np.testing.assert_allclose(found.linkage[:, 2], tree[:, 2], atol=1e-9)
    assert adjusted_rand_score(hierarchy.fcluster(tree, 4, "maxclust"), found.labels) == 1.0


def test_equal_rows_with_noise_are_apart():
    """Noise is together with nobody: equal rows that hold noise have distance above zero."""
    ensemble = Ensemble([[0, 0, 1, 1], [0, 0, -1, -1]])
    assert eac(ensemble, 2).linkage[:, 2].tolist() == [0, 0.5, 1]


def test_longest_lifetime_finds_clear_groups():
    labels = np.repeat([0, 1, 2], 10)
    split = np.concatenate([labels[:15], labels[15:] + 3])
    assert eac(Ensemble([labels] * 9 + [split]), linkage="single").n_clusters == 3


def test_lifetimes_are_the_gaps_between_heights():
    found = eac(_random_ensemble(0))
    np.testing.assert_allclose(found.lifetimes, np.diff(found.linkage[:, 2])[::-1], atol=1e-12)
    assert found.n_clusters == 2 + found.lifetimes.argmax()


def _large_partition(tree, n, at_least, k):
    """Reference: all partitions of a tree, those with k large clusters by how long they last."""
    groups, best = [frozenset([i]) for i in range(n)], (-1.0, None)
    alive = set(groups)
    for a, b, height, _ in tree:
        lasts = height - (tree[len(groups) - n - 1, 2] if len(groups) > n else 0.0)
        if sum(len(g) >= at_least for g in alive) == k and lasts > best[0] + 1e-12:
            best = lasts, {g for g in alive if len(g) >= at_least}
        alive -= {groups[int(a)], groups[int(b)]}
        groups.append(groups[int(a)] | groups[int(b)])
        alive.add(groups[-1])
    return best[1]


@pytest.mark.parametrize("at_least", [2, 4, 9])
@pytest.mark.parametrize("linkage", ["single", "average"])
def test_small_clusters_do_not_count_and_do_not_stay(linkage, at_least, seed):
    ensemble = _random_ensemble(seed, n=60, n_members=7)
    for k in (2, 3, 4):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsilienceWarning)
            found = eac(ensemble, k, linkage=linkage, min_size=at_least)
        wanted = _large_partition(found.linkage, 60, at_least, k)
        if wanted is None:
            assert found.n_clusters == 1
            continue
        assert found.n_clusters == k
        for group in wanted:
            assert len(set(found.labels[list(group)])) == 1
        assert len({found.labels[min(group)] for group in wanted}) == k
    chosen = eac(ensemble, linkage=linkage, min_size=at_least)
    assert np.bincount(chosen.labels).min() >= at_least


def test_too_large_a_smallest_size_is_said():
    with pytest.warns(ConsilienceWarning, match="no height .* smaller 'min_size'"):
        assert eac(_random_ensemble(0), 3, min_size=10**6).n_clusters == 1
    with pytest.raises(ValueError, match="'min_size' parameter of EAC"):
        eac(_random_ensemble(0), 3, min_size=0)


@pytest.mark.parametrize("linkage", ["complete", "ward"])
def test_links_that_need_the_matrix_past_the_budget_say_what_to_do(linkage):
    words = f"and {linkage} link has no exact path.*Raise max_memory, or use linkage='average'"
    with pytest.raises(MemoryBudgetError, match=words):
        eac(_random_ensemble(0), 3, linkage=linkage, max_memory="10 B")


def test_wards_matrix_is_of_floats():
    ensemble = _random_ensemble(0)
    u = len(twins(ensemble)[2])
    pairs = u * (u - 1) // 2
    eac(ensemble, 3, linkage="complete", max_memory=pairs)
    with pytest.raises(MemoryBudgetError):
        eac(ensemble, 3, linkage="ward", max_memory=9 * pairs - 1)
    eac(ensemble, 3, linkage="ward", max_memory=9 * pairs)


def test_average_and_single_link_need_no_matrix():
    for linkage in ("average", "single"):
        assert eac(_random_ensemble(0), 3, linkage=linkage, max_memory=TINY).matrix_free
    for linkage in ("complete", "ward"):
        assert not eac(_random_ensemble(0), 3, linkage=linkage).matrix_free


def test_wards_tree_of_many_equal_rows_is_that_of_all_objects(seed):
    """Rows of different weight: the tree over them must be the tree over every object."""
    rng = np.random.default_rng(seed)
    distinct = rng.integers(0, 4, (10, 37))
    ensemble = Ensemble(distinct[np.concatenate([np.arange(10), rng.integers(0, 10, 25)])])
    D = squareform(_distances(ensemble, "pair"), checks=False)
    tree = hierarchy.linkage(D, "ward")
    np.testing.assert_allclose(
        eac(ensemble, 2, linkage="ward").linkage[:, 2], tree[:, 2], atol=1e-9
    )


@pytest.mark.parametrize("bad", ["lots", "4 XB", -1, 0, None, True, float("inf")])
def test_a_wrong_budget_is_refused(bad):
    with pytest.raises(ValueError, match="'max_memory' parameter of EAC"):
        eac(_random_ensemble(0), 3, max_memory=bad)
    with pytest.raises(ValueError, match="'max_memory' parameter of EAC"):
        cs.EAC(3, max_memory=bad).fit(ensemble=_random_ensemble(0))


@pytest.mark.parametrize("params", [{"linkage": "centroid"}, {"missing": "none"}])
def test_wrong_options_are_refused(params):
    with pytest.raises(ValueError, match="must be one of"):
        eac(_random_ensemble(0), 3, **params)


def test_nothing_placed_is_all_noise():
    with pytest.warns(ConsilienceWarning, match="No member put any object into a cluster"):
        model = cs.EAC(2).fit(ensemble=[[-1, -1, -1]])
    assert model.labels_.tolist() == [-1, -1, -1]
    assert model.n_clusters_ == 0
    assert hierarchy.is_valid_linkage(model.linkage_)


def test_objects_nobody_placed_join_the_tree_last():
    tree = add_unplaced(np.empty((0, 4)), np.array([False, False, False]))
    np.testing.assert_array_equal(tree, [[0, 1, 1, 2], [2, 3, 1, 3]])
    tree = add_unplaced(np.empty((0, 4)), np.array([False, True]))
    np.testing.assert_array_equal(tree, [[0, 1, 1, 2]])
    high = add_unplaced(np.array([[0.0, 1.0, 1.5, 2.0]]), np.array([True, True, False]))
    np.testing.assert_array_equal(high, [[0, 1, 1.5, 2], [2, 3, 1.5, 3]])


def test_estimator_and_function_agree(seed):
    ensemble = _random_ensemble(seed)
    model, found = cs.EAC(4).fit(ensemble=ensemble), eac(ensemble, 4)
    np.testing.assert_array_equal(model.labels_, found.labels)
    np.testing.assert_array_equal(model.linkage_, found.linkage)
    assert model.n_clusters_ == found.n_clusters == 4
    assert accumulation.EAC is cs.EAC


def test_spirals_need_chaining(seed):
    """On two spirals k-means is lost and single-link evidence is not."""
    X, truth = cs.datasets.make_spirals(400, random_state=seed)
    generator = cs.generate.KMeansEnsemble(100, (25, 40), random_state=seed)
    model = cs.EAC(2, linkage="single", generator=generator).fit(X)
    alone = cs.generate.KMeansEnsemble(1, 2, random_state=seed).generate(X)[0]
    assert cs.metrics.consistency_index(truth, model.labels_) == 1.0
    assert cs.metrics.consistency_index(truth, alone) < 0.8
    by_lifetime = cs.EAC(linkage="single", generator=generator).fit(X)
    assert by_lifetime.n_clusters_ == 2


@pytest.mark.parametrize("holes", [False, True])
def test_more_objects_than_sums_have_room_for_are_refused(holes):
    """No table of so many fits a test: the rows stand for them. Single link adds nothing up."""
    members = np.array([[0, 0, 1], [0, 1, 1]], np.int8)
    if holes:
        members[0, 0] = UNSEEN
    rows = Rows(members, np.array([0, 2, 4]), np.full(3, 10**9), np.arange(3))
    words = "EAC cannot add up the pairs of 3000000000 objects by 2 members.*linkage='single'"
    with pytest.raises(InvalidInputError, match=words):
        accumulation._tree(rows, "average", "pair", 2**30, 1)
    assert accumulation._tree(rows, "single", "pair", 2**30, 1).shape == (2, 4)
