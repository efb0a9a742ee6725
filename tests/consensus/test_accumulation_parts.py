"""The steps of evidence accumulation: what is warned of, where pairs are counted, and the cut."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

import consilience as cs
from consilience import Ensemble, SoftEnsemble
from consilience.consensus import accumulation, eac
from consilience.consensus._rows import Rows
from consilience.errors import ConsilienceWarning, MemoryBudgetError
from consilience.evidence import co_association

THREE = Ensemble([[0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 2], [0, 0, 1, 1, 1, 1]])
# The tree of the examples: two pairs, and one object that joins last.
TREE = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [5, 6, 0.8, 4], [4, 7, 1.0, 5]])


def rows(n, n_members=2):
    """Rows for what only asks how many there are."""
    return SimpleNamespace(n_rows=n, members=np.zeros((n_members, n), np.int8))


def some_rows(seed, n=12, n_members=5, unseen=False):
    rng = np.random.default_rng(seed)
    members = np.unique(rng.integers(0, 3, (n, n_members)), axis=0).T.astype(np.int8)
    starts, n = np.r_[0, np.cumsum(members.max(axis=1) + 1)], members.shape[1]
    counts = rng.integers(1, 4, n)
    if unseen:
        members[0, 0], counts[0] = -2, 1  # objects with gaps may be apart from their copies
    return Rows(np.ascontiguousarray(members), starts, counts, np.arange(n))


# ---- what is said ---------------------------------------------------------------------------


def test_more_clusters_than_objects_are_refused():
    with pytest.raises(ValueError, match=r"n_samples=6\. Got 7"):
        eac(THREE, 7)


def test_only_more_clusters_than_different_rows_are_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert eac(THREE, 3).labels.tolist() == [0, 0, 1, 1, 1, 2]
    with pytest.warns(ConsilienceWarning, match="n_clusters=4"):
        assert eac(THREE, 4).labels.tolist() == [0, 0, 1, 1, 1, 2]


def test_without_a_device_nothing_is_told_of_it():
    assert eac(THREE, 2).details == {}
    needs = [eac(THREE, 2, linkage=one).matrix_free for one in ("single", "average", "complete")]
    assert needs == [True, True, False]


def test_where_it_ran_is_told():
    pytest.importorskip("torch")
    on_host = {"pair counts": "cpu", "consensus": "cpu"}
    assert eac(THREE, 2, device="cpu").details == {"ran_on": on_host}


def test_nothing_placed_has_no_lifetimes():
    with pytest.warns(ConsilienceWarning):
        found = eac(Ensemble([[-1, -1, -1]]), 2)
    assert (found.lifetimes.size, found.matrix_free, found.n_clusters) == (0, False, 0)


def test_objects_nobody_placed_stay_out_and_the_others_are_numbered_as_they_appear():
    found = eac(Ensemble([[-1, 3, 3, 0, 0], [-1, 1, 1, 0, 0]]), 2)
    assert found.labels.tolist() == [-1, 0, 0, 1, 1]
    assert (found.n_clusters, len(found.linkage)) == (2, 4)


# ---- memberships ----------------------------------------------------------------------------


def memberships(n):
    shares = np.random.default_rng(n).dirichlet([0.4] * 3, (2, n))
    return SoftEnsemble([np.asarray(one) for one in shares])


@pytest.mark.parametrize("n", [3, 9])
@pytest.mark.parametrize("linkage", ["average", "complete", "single", "ward"])
def test_memberships_have_the_tree_of_their_matrix(linkage, n):
    soft = memberships(n)
    D = 1.0 - co_association(soft)
    tree = hierarchy.linkage(squareform(D, checks=False), linkage)
    found = eac(soft, 2, linkage=linkage)
    np.testing.assert_allclose(found.linkage[:, 2], tree[:, 2], atol=1e-9)
    wanted = hierarchy.fcluster(tree, 2, "maxclust")
    assert cs.metrics.consistency_index(wanted, found.labels) == 1.0
    assert not found.matrix_free


def test_the_matrix_of_memberships_has_eight_bytes_a_pair():
    eac(memberships(9), 2, max_memory=8 * 36)
    with pytest.raises(MemoryBudgetError, match=r"9 distinct objects.*take SEC"):
        eac(memberships(9), 2, max_memory=8 * 36 - 1)


def test_two_objects_have_a_tree_and_one_has_none():
    two = memberships(2)
    assert eac(two, 1).linkage[0, 2] == pytest.approx(1.0 - co_association(two)[0, 1])
    assert eac(memberships(1), 1).linkage.shape == (0, 4)
    assert accumulation._soft_tree(memberships(1), "ward", "pair", 1, 1).shape == (0, 4)
    assert accumulation._tree(rows(1), "ward", "pair", 1, 1).shape == (0, 4)


# ---- how much memory, and which way ---------------------------------------------------------


def test_a_quarter_of_the_memory_is_for_average_link_up_to_a_limit():
    assert accumulation._room(4003) == 1000
    assert accumulation._room(2**60) == accumulation.MAX_MEMORY


def test_all_pairs_are_counted_first_from_a_thousand_rows_if_there_is_room(monkeypatch):
    monkeypatch.setattr(accumulation, "whole_bytes", lambda members, counts: 100)
    for n, budget, wanted in [(1000, 400, True), (999, 400, False), (1000, 399, False)]:
        fake = SimpleNamespace(n_rows=n, members=None, counts=None)
        assert accumulation._whole(fake, budget) is wanted


def test_bytes_of_a_matrix():
    few = rows(5)
    sizes = {("complete", False): 10, ("complete", True): 100}
    sizes |= {("ward", False): 90, ("ward", True): 100}
    for (linkage, with_seen), wanted in sizes.items():
        assert accumulation._matrix_bytes(few, linkage, with_seen) == wanted
    assert accumulation._matrix_bytes(rows(5, 300), "complete", False) == 20


def test_as_much_as_there_is_may_be_taken():
    accumulation._check_budget(3, 2**30, 2**30, "because")
    with pytest.raises(MemoryBudgetError) as caught:
        accumulation._check_budget(3, 3 * 2**29, 2**30, "because", "stop")
    assert str(caught.value) == (
        "The co-association of 3 distinct objects takes 1.5 GiB, more than max_memory=1 GiB, "
        "and because. Raise max_memory, or stop."
    )


@pytest.fixture
def ways(monkeypatch):
    """Which way average link went, and with how much."""
    taken = []

    def near(members, counts, *, missing, max_memory):
        taken.append(("rows", missing, max_memory))

    def whole(members, weights, *, counts, n_jobs):
        taken.append(("whole", counts, n_jobs))

    monkeypatch.setattr(accumulation, "average_link", near)
    monkeypatch.setattr(accumulation, "average_link_whole", whole)
    monkeypatch.setattr(accumulation, "_counts", lambda rows, there, n_jobs: (there, n_jobs))
    return taken


def test_average_link_counts_all_pairs_only_with_one_denominator_and_room(ways, monkeypatch):
    monkeypatch.setattr(accumulation, "_WHOLE_FROM", 2)
    seen, unseen = some_rows(0), some_rows(0, unseen=True)
    accumulation._tree(seen, "average", "pair", 2**20, 3)
    accumulation._tree(seen, "average", "pair", 2**20, 3, "somewhere")
    accumulation._tree(seen, "average", "pair", 8, 3)
    accumulation._tree(unseen, "average", "pair", 2**20, 3)
    accumulation._tree(unseen, "average", "all", 2**20, 3)
    assert ways == [
        ("whole", None, 3),
        ("whole", ("somewhere", 3), 3),
        ("rows", "pair", 2),
        ("rows", "pair", 2**18),
        ("whole", None, 3),
    ]


@pytest.mark.parametrize("linkage", ["complete", "ward"])
@pytest.mark.parametrize(("unseen", "missing"), [(False, "pair"), (True, "pair"), (True, "all")])
def test_the_matrix_of_rows_gives_the_tree_of_all_objects(linkage, unseen, missing):
    distinct = some_rows(3, unseen=unseen)
    tree = accumulation._tree(distinct, linkage, missing, 2**20, 1)
    everybody = Ensemble(np.repeat(distinct.members, distinct.counts, axis=1).T)
    D = 1.0 - co_association(everybody, missing=missing)
    assert tree[-1, 3] == len(D)
    if linkage == "complete":  # the last merge is at the largest distance
        assert tree[-1, 2] == pytest.approx(D.max(), abs=1e-12)
    else:  # what all merges add is the whole sum of squares
        assert (tree[:, 2] ** 2).sum() == pytest.approx((D**2).sum() / len(D))


# ---- where pairs are counted ----------------------------------------------------------------


@pytest.fixture
def torch_engine(monkeypatch):
    """What is asked of the device: how many tables; it has room for as many as ``room``."""
    engine = pytest.importorskip("consilience.engines.torch")
    asked = SimpleNamespace(tables=[], fits=True)

    def fit(members, device, n_tables):
        assert (members.dtype, device) == (np.int8, "cuda")
        asked.tables.append(n_tables)
        return asked.fits

    monkeypatch.setattr(engine, "pairs_fit", fit)
    monkeypatch.setattr(engine, "device_of", lambda device: device + ":0")
    monkeypatch.setattr(accumulation, "_WHOLE_FROM", 2)
    return asked


def where(linkage, missing="pair", *, unseen=False, budget=2**20, device="cuda", among=None):
    among = some_rows(0, unseen=unseen) if among is None else among
    return accumulation._device_of_pairs(among, linkage, missing, budget, device)


def test_a_device_has_one_table_of_pairs_two_with_gaps_and_none_for_a_spanning_tree(torch_engine):
    found = [
        where("complete"),
        where("ward", unseen=True),
        where("ward", "all", unseen=True),
        where("single", unseen=True),
        where("average"),
        where("average", "all", unseen=True),
    ]
    assert found == ["cuda:0"] * 6
    assert torch_engine.tables == [1, 2, 1, None, 1, 1]
    torch_engine.fits = False
    assert where("complete") is None


def test_pairs_counted_row_by_row_or_hardly_any_stay_on_the_processor(torch_engine):
    two, one = some_rows(0, n=2), some_rows(0, n=1)
    assert (two.n_rows, one.n_rows) == (2, 1)
    assert where("ward", among=one) is None
    assert where("average", unseen=True) is None
    assert where("average", budget=8) is None
    assert where("ward", device=None) is None
    assert torch_engine.tables == []
    assert where("ward", among=two) == "cuda:0"


@pytest.mark.parametrize(
    ("linkage", "places"), [("single", ["gpu", "gpu"]), ("complete", ["gpu", "cpu"])]
)
def test_a_device_grows_the_spanning_tree_and_else_counts(monkeypatch, linkage, places):
    monkeypatch.setattr(accumulation, "_device_of_pairs", lambda *given: "gpu")
    monkeypatch.setattr(accumulation, "_tree", lambda *given: given[-1])
    told = {"pair counts": "cpu", "consensus": "cpu"}
    _, there = accumulation._rows_and_tree(THREE, linkage, "pair", 2**20, 1, "cuda", told)
    assert there == "gpu"
    assert [told["consensus"] == "gpu", told["pair counts"]] == [linkage == "single", "gpu"]
    assert list(told.values()) == places


@pytest.mark.parametrize("unseen", [False, True])
@pytest.mark.parametrize("linkage", ["single", "average", "complete", "ward"])
def test_a_device_makes_the_same_tree(linkage, unseen):
    pytest.importorskip("torch")
    few = some_rows(1, unseen=unseen)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(accumulation, "_WHOLE_FROM", 2)
        trees = [
            accumulation._tree(few, linkage, "pair", 2**20, 1, there) for there in (None, "cpu")
        ]
    np.testing.assert_array_equal(*trees)


def test_counts_of_a_device_are_those_of_the_members():
    pytest.importorskip("torch")
    few = some_rows(2)
    wanted = (few.members[:, :, None] == few.members[:, None]).sum(axis=0)
    np.testing.assert_array_equal(accumulation._counts(few, "cpu", 1), wanted)


# ---- clusters that count --------------------------------------------------------------------


def test_two_in_a_hundred_objects_count_but_at_least_five():
    found = [accumulation.smallest_counted(n) for n in (1, 250, 251, 300, 301)]
    assert found == [5, 5, 6, 6, 7]


def partition_of(tree, leaves, n_merges):
    """Objects of every cluster after so many merges."""
    groups = dict(enumerate(leaves))
    for step, (a, b, *_) in enumerate(tree[:n_merges]):
        groups[len(leaves) + step] = groups.pop(int(a)) + groups.pop(int(b))
    return list(groups.values())


@pytest.mark.parametrize("at_least", [1, 2, 3, 5, 9])
def test_large_clusters_are_counted_before_and_after_every_merge(at_least):
    leaves = np.array([1, 3, 2, 1, 4])
    tree = TREE.copy()
    tree[:, 3] = [4, 3, 7, 11]
    wanted = [sum(np.array(partition_of(tree, leaves, m)) >= at_least) for m in range(5)]
    assert accumulation.large_counts(tree, at_least, leaves).tolist() == wanted


@pytest.mark.parametrize(
    ("heights", "at_least", "k", "wanted"),
    [
        ((0.1, 0.2, 0.8, 1.0), 2, 2, [0, 0, 1, 1, -1]),
        ((0.1, 0.2, 0.8, 1.0), 2, 1, [0, 0, 0, 0, -1]),  # 0.2 wide beats 0.1
        ((0.1, 0.2, 0.8, 1.0), 2, 3, [-1] * 5),
        ((0.1, 0.2, 0.8, 1.0), 1, 4, [0, 0, 1, 2, 3]),
        ((0.1, 0.2, 0.3, 0.4), 1, None, [0, 0, 0, 0, 1]),  # all as wide: the fewest
        ((0.1, 0.2, 0.3, 0.8), 2, None, [0, 0, 1, 1, -1]),
        ((0.0, 0.0, 0.0, 0.0), 2, None, [-1] * 5),
        ((0.1, 0.2, 0.2, 0.2), 2, None, [-1] * 5),
    ],
)
def test_the_widest_range_of_heights_is_cut(heights, at_least, k, wanted):
    tree = TREE.copy()
    tree[:, 2] = heights
    found = accumulation.cut_large(tree, np.ones(5, int), at_least, k)
    assert (found.tolist(), found.dtype) == (wanted, np.int32)


def test_of_ranges_as_wide_the_first_is_cut():
    tree = np.array([[0, 1, 0.25, 2], [3, 2, 0.5, 3]])
    assert accumulation.cut_large(tree, np.ones(3, int), 2, 1).tolist() == [0, 0, -1]
    tree = np.array([[0, 1, 0.3, 2], [3, 2, 0.1 + 0.2 + 0.3, 3]])  # wider by rounding only
    assert tree[1, 2] - tree[0, 2] > tree[0, 2]
    assert accumulation.cut_large(tree, np.array([2, 1, 1]), 2, 1).tolist() == [0, -1, -1]


@pytest.mark.parametrize(
    ("heights", "at_least", "k", "wanted"),
    [
        ((0.0, 0.0, 0.5, 0.75), 1, None, [0, 0, 1, 1, 2]),
        ((0.0, 0.0, 0.25, 0.25), 1, None, [-1] * 5),
        ((0.0, 0.25, 0.25, 0.75), 2, 1, [0, 0, 0, 0, -1]),
    ],
)
def test_what_differs_by_as_much_as_rounding_may_is_not_equal(
    heights, at_least, k, wanted, monkeypatch
):
    monkeypatch.setattr(accumulation, "_EQUAL", 0.25)
    tree = TREE.copy()
    tree[:, 2] = heights
    assert accumulation.cut_large(tree, np.ones(5, int), at_least, k).tolist() == wanted


def test_leaves_of_many_objects_count_for_as_many():
    leaves = np.array([3, 1, 1])
    tree = np.array([[1, 2, 0.2, 2], [0, 3, 1.0, 5]])
    assert accumulation.cut_large(tree, leaves, 2, 2).tolist() == [0, 1, 1]
    assert accumulation.cut_large(tree, leaves, 3, 1).tolist() == [0, -1, -1]


def test_no_leaves_but_one_have_no_ranges():
    assert accumulation.cut_large(np.empty((0, 4)), np.ones(1, int), 1, None).tolist() == [-1]


def test_one_large_cluster_is_everybody():
    found = eac(THREE, 1, min_size=2)
    assert found.labels.tolist() == [0] * 6
    apart = Ensemble([[0, 1, 2, 3], [0, 1, 2, 3]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # nothing was asked for that there is not
        assert eac(apart, min_size=2).labels.tolist() == [0] * 4
    with pytest.warns(ConsilienceWarning, match="n_clusters=2 was asked for"):
        assert eac(apart, 2, min_size=2).labels.tolist() == [0] * 4
    with pytest.warns(ConsilienceWarning, match="n_clusters=2 was asked for"):
        assert eac(apart, 2, min_size=3).n_clusters == 1


def test_small_clusters_join_the_nearest_from_two_objects_on():
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1, 2], [0, 0, 0, 1, 1, 1, 1]])
    assert eac(ensemble, 2, min_size=2).labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert eac(ensemble, 3, min_size=1).labels.tolist() == [0, 0, 0, 1, 1, 1, 2]
