"""AutoConsensus: the answer, its parts against their definitions, and what it says of noise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.datasets import load_wine, make_blobs
from sklearn.metrics import adjusted_rand_score, silhouette_score

import consilience as cs
from consilience.consensus import _clarity as clarity
from consilience.consensus import _lines as lines
from consilience.consensus import _support as support
from consilience.consensus import auto
from consilience.datasets import make_spirals
from consilience.errors import ConsilienceWarning, InvalidParameterError


def blobs(n=150, d=3, k=3, seed=0):
    return make_blobs(n, d, centers=k, cluster_std=0.6, random_state=seed)


def fitted(X=None, ensemble=None, **options):
    return cs.AutoConsensus(random_state=0, **options).fit(X, ensemble=ensemble)


# ---- the answer ------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 6])
def test_blobs_are_found_with_their_number(k):
    X, y = make_blobs(60 * k, 4, centers=k, cluster_std=0.5, random_state=k)
    model = fitted(X)
    assert model.n_clusters_ == k
    assert adjusted_rand_score(y, model.labels_) > 0.98
    assert model.clarity_.verdict == "clear"
    assert model.clarity_.p_value == 0.05


def test_spirals_are_found_without_a_linkage():
    X, arms = make_spirals(random_state=0)
    model = fitted(X)
    assert adjusted_rand_score(arms, model.labels_) == 1
    assert model.line_ in lines.LOOSE
    assert model.clarity_.verdict == "clear"


def test_the_range_goes_on_where_the_best_number_is_its_last(monkeypatch):
    monkeypatch.setattr(auto, "_MOST_NUMBERS", 6)
    X, _ = make_blobs(400, 6, centers=10, cluster_std=0.4, random_state=1)
    assert fitted(X).n_clusters_ == 10
    assert fitted(X, max_clusters=6).n_clusters_ <= 6


def test_a_number_that_is_given_is_kept():
    X, _ = blobs(60)
    for k in (2, 20):
        assert fitted(X, n_clusters=k).n_clusters_ == k


def test_a_number_that_cannot_be_kept_is_said(monkeypatch):
    monkeypatch.setitem(auto.EFFORTS, "quick", auto._Effort(40, 19, 2))
    labels = np.random.default_rng(0).integers(0, 6, (60, 6))
    with pytest.warns(ConsilienceWarning, match=r"n_clusters=50 was asked for.*effort") as said:
        model = fitted(ensemble=labels, n_clusters=50, effort="quick")
    assert f"{model.n_clusters_} groups" in str(said[0].message)


def test_one_column_with_two_groups_is_clear():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(at, 0.3, (40, 1)) for at in (0, 3)])
    model = fitted(X)
    assert (model.n_clusters_, model.clarity_.verdict) == (2, "clear")


def test_noise_gets_a_best_guess_that_is_not_called_clear():
    rng = np.random.default_rng(7)
    kinds = [
        rng.uniform(size=(60, 2)),
        rng.normal(size=(60, 5)),
        rng.standard_t(3, size=(60, 3)),
        rng.lognormal(size=(60, 3)),
        rng.poisson(1.0, (60, 6)).astype(float),
        np.sort(rng.uniform(size=(90, 1)), axis=0) @ np.ones((1, 3)) + rng.normal(0, 0.05, (90, 3)),
    ]
    found = [fitted(X) for X in kinds]
    assert all(model.n_clusters_ > 1 for model in found)
    assert [model.clarity_.verdict for model in found].count("clear") == 0


def test_members_of_mixed_numbers_show_the_groups_of_wine():
    X, y = load_wine(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    for seed in range(3):
        members = cs.generate.KMeansEnsemble(12, (3, 5), random_state=seed).generate(X)
        model = fitted(ensemble=members)
        assert model.n_clusters_ == 3
        assert adjusted_rand_score(y, model.labels_) > 0.8
        assert model.clarity_.p_value is None


def test_objects_out_of_the_sample_go_with_their_groups(monkeypatch):
    monkeypatch.setitem(auto.EFFORTS, "quick", auto._Effort(150, 60, 3))
    X, y = make_blobs(1000, 3, centers=4, cluster_std=0.5, random_state=3)
    model = fitted(X, effort="quick")
    assert model.n_looked_at_ == 150
    assert adjusted_rand_score(y, model.labels_) > 0.98


def test_permuting_the_rows_permutes_the_partition():
    X, _ = blobs(60, 2, 3, seed=5)
    X += np.random.default_rng(1).normal(0, 0.8, X.shape)
    members = cs.generate.KMeansEnsemble(30, random_state=0).generate(X)
    order = np.random.default_rng(2).permutation(len(X))
    first = fitted(X, ensemble=members)
    second = fitted(X[order], ensemble=members.take(order))
    assert adjusted_rand_score(first.labels_[order], second.labels_) == 1
    assert first.clarity_ == second.clarity_


@pytest.fixture(scope="module")
def three_blobs():
    """Data, members and the model of them."""
    X, _ = blobs(40, 2, 3)
    members = cs.generate.KMeansEnsemble(10, random_state=0).generate(X)
    return X, members, fitted(X, members)


@pytest.mark.parametrize("unit", [1e-150, 1e-6, 1e6, 1e150])
def test_the_unit_of_the_data_does_not_matter(unit, three_blobs):
    X, members, first = three_blobs
    second = fitted(X * unit, members)
    np.testing.assert_array_equal(first.labels_, second.labels_)
    assert first.clarity_.verdict == second.clarity_.verdict


def test_alternatives_begin_with_what_is_taken_and_name_each_number_once():
    model = fitted(blobs(80)[0])
    numbers = [one.n_clusters for one in model.alternatives_]
    assert numbers[0] == model.n_clusters_
    assert len(set(numbers)) == len(numbers)
    assert model.alternatives_[0].sizes == tuple(sorted(np.bincount(model.labels_), reverse=True))
    scores = [one.support for one in model.alternatives_[1:]]
    assert scores == sorted(scores, reverse=True)


def test_another_seed_gives_the_same_number():
    """Also where several numbers are about equal: lines start alike, members have no say."""
    rng = np.random.default_rng(0)
    for X in (rng.normal(size=(90, 4)), rng.lognormal(size=(60, 3)), rng.uniform(size=(80, 2))):
        found = [cs.AutoConsensus(random_state=seed).fit(X) for seed in range(4)]
        assert len({model.n_clusters_ for model in found}) == 1
        curves = [[one.support for one in model.alternatives_] for model in found]
        for curve in curves[1:]:
            np.testing.assert_allclose(curve, curves[0], rtol=1e-9)


def test_objects_that_are_all_alike_are_one_group_and_none():
    model = fitted(np.ones((30, 2)))
    assert (model.n_clusters_, model.clarity_.verdict, model.alternatives_) == (1, "none", ())


def test_two_objects_are_too_few_for_groups():
    model = fitted(np.array([[0.0, 0.0], [1.0, 2.0]]))
    assert (model.labels_.tolist(), model.clarity_.verdict) == ([0, 0], "none")


def test_sparse_data_are_looked_at_through_their_components():
    X, y = blobs(60, 4, 2)
    wide = sparse.csr_array(np.maximum(X - X.min(axis=0), 0) @ np.eye(4, 80))
    model = fitted(wide)
    assert adjusted_rand_score(y, model.labels_) > 0.9


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"effort": "much"}, "effort"),
        ({"max_clusters": 1}, "max_clusters"),
        ({"n_clusters": 0}, "n_clusters"),
    ],
)
def test_wrong_parameters_are_named(options, word):
    with pytest.raises(InvalidParameterError, match=word):
        fitted(blobs()[0], **options)


# ---- parts against their definitions ---------------------------------------------------------


def partitions_of(n, rng, count=5):
    found = [rng.integers(0, k, n) for k in rng.integers(2, 6, count)]
    return [np.unique(one, return_inverse=True)[1].astype(np.int32) for one in found]


@given(st.integers(0, 10**6), st.integers(6, 40))
@settings(max_examples=25, deadline=None)
def test_agreements_silhouettes_and_modularity_are_what_they_are_called(seed, n):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    found = partitions_of(n, rng)
    expected = [[adjusted_rand_score(a, b) for b in found] for a in found]
    np.testing.assert_allclose(support.agreements(found), expected, atol=1e-6)
    distances = cdist(X, X)
    graph = sparse.csr_array(distances < np.median(distances)) * 1.0
    graph.setdiag(0)
    graph.eliminate_zeros()
    for labels in found:
        if 1 < labels.max() + 1 < n:
            expected = silhouette_score(distances, labels, metric="precomputed")
            assert support._silhouette(distances, labels) == pytest.approx(expected)
        if graph.nnz:
            degrees, total = graph.sum(axis=1), graph.sum()
            same = labels[:, None] == labels[None, :]
            chance = np.outer(degrees, degrees) / total
            expected = ((graph.toarray() - chance) * same).sum() / total
            assert support._modularity(graph, labels) == pytest.approx(expected)


@given(st.integers(0, 10**6))
@settings(max_examples=20, deadline=None)
def test_sparsity_of_borders_is_what_it_is_called(seed):
    rng = np.random.default_rng(seed)
    n = 60
    X = rng.normal(size=(n, 2))
    labels = rng.integers(0, 3, n).astype(np.int32)
    far, core = support.reach(cdist(X, X))
    total = 0.0
    for group in range(3):
        its = np.flatnonzero(labels == group)
        if len(its) < 4:
            continue
        # Two of a hundred of so few objects are the one that reaches another group first.
        reached = min(
            max(np.linalg.norm(X[i] - X[j]), core[i], core[j])
            for i in its
            for j in np.flatnonzero((labels != group) & (np.bincount(labels)[labels] >= 4))
        )
        middle = np.sort(core[its])[(len(its) - 1) // 2]
        total += len(its) / n * np.log(reached / middle)
    assert support.border_sparsity(labels, far, core)[0] == pytest.approx(total)
    np.testing.assert_allclose(core, np.sort(cdist(X, X), axis=1)[:, 7])


def test_a_border_through_a_gap_is_sparse_and_one_through_a_group_is_not():
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, 400)
    radius = np.repeat([1.0, 3.0], 200) + rng.normal(0, 0.05, 400)
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    far, core = support.reach(cdist(X, X))
    rings = np.repeat([0, 1], 200).astype(np.int32)
    halves = (X[:, 0] > 0).astype(np.int32)
    assert support.border_sparsity(rings, far, core)[0] > 1
    assert support.border_sparsity(halves, far, core)[0] < 0.1


def test_agreement_leaves_a_partition_s_own_line_out():
    agreement = np.array([[1.0, 0.9, 0.2, 0.4], [0.9, 1, 0, 0], [0.2, 0, 1, 0], [0.4, 0, 0, 1]])
    names = np.array(["a", "a", "b", "c"])
    others = support._of_others(agreement, names, ("a", "b", "c"))
    np.testing.assert_allclose(others, [0.3, 0.0, 0.1, 0.2])


def test_references_keep_what_they_should_and_have_no_groups():
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.normal(at, 0.3, (100, 2)) for at in (0, 3)])
    X[:, 1] *= 5
    same_columns, elliptical = clarity._kinds(X)
    scores = lambda table: ndtri((rankdata(table, axis=0) - 0.5) / len(table))  # noqa: E731
    for draw, numbers in ((same_columns, scores), (elliptical, np.asarray)):
        tables = [draw(rng) for _ in range(20)]
        assert all(table.shape == X.shape for table in tables)
        found = np.mean([np.corrcoef(numbers(table).T)[0, 1] for table in tables])
        expected = np.corrcoef(numbers(X).T)[0, 1]
        assert found == pytest.approx(expected, abs=0.1)
        between = np.mean([((table[:, 0] > 1) & (table[:, 0] < 2)).mean() for table in tables])
        assert between > 0.1  # where the data have nobody


def test_there_are_as_many_references_as_p_values_of_a_hundredth_need(few_references, monkeypatch):
    assert few_references == 99
    monkeypatch.setattr(clarity, "REFERENCES", few_references)
    found = fitted(blobs(60, 2, 2)[0]).clarity_
    assert (found.n_references, found.p_value, found.n_objects) == (99, 0.01, 60)


def test_columns_of_few_values_keep_them():
    rng = np.random.RandomState(0)
    X = np.column_stack([rng.poisson(2, 100), rng.normal(size=100)]).astype(float)
    same_columns = clarity._kinds(X)[0]
    np.testing.assert_array_equal(np.sort(same_columns(rng)[:, 0]), np.sort(X[:, 0]))


@pytest.mark.parametrize(("gap", "smeared"), [(0.0, False), (8.0, True)])
def test_a_column_is_smeared_until_it_has_one_peak(gap, smeared):
    rng = np.random.default_rng(0)
    column = np.concatenate([rng.normal(0, 1, 200), rng.normal(gap, 1, 200)])
    width = clarity._one_peak_width(column)
    assert (width > 1.5) == smeared
    assert clarity._one_peak(np.sort(column), width * 1.1)


def test_lines_have_no_partition_twice_and_none_of_one_group():
    X, _ = blobs(80, 2, 3)
    members = cs.generate.KMeansEnsemble(10, random_state=0).generate(X)
    scene = auto.scene_of(members, X, auto.EFFORTS["quick"])
    found = lines.partitions(scene, range(2, 8))
    assert {one.line for one in found} == {
        *lines.LOOSE,
        "average link",
        "Ward",
        "k-means",
        "mixture",
    }
    assert min(one.n_clusters for one in found) == 2
    assert len({(one.line, one.labels.tobytes()) for one in found}) == len(found)
    for one in found:
        assert set(one.labels.tolist()) == set(range(one.n_clusters))


def test_the_line_of_density_needs_room_for_two_groups():
    """Groups of ten among twenty are the largest that are looked for, and are found."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(at, 0.1, (10, 2)) for at in (0, 5)])
    scene = lines.Scene(cdist(X, X), X, cs.Ensemble([[0] * 20]), None, 1)
    found = [one.labels for one in lines._by_density(scene)]
    assert len(found) == 2
    for labels in found:
        assert adjusted_rand_score(np.repeat([0, 1], 10), labels) == 1
