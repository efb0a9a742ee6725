"""Objects that count more than others are as many copies."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.workflow._object_weights import Copies, copies_of

HOW = {"n_members": 12, "random_state": 0}


@pytest.fixture(scope="module")
def sample():
    X, groups = cs.datasets.make_gaussians(90, 3, 3, separation=4, random_state=1)
    weights = np.random.default_rng(0).integers(1, 4, 90)
    return X, groups, weights, np.repeat(np.arange(90), weights)


@pytest.mark.parametrize(
    "options",
    [
        {"effort": "quick", "max_clusters": 5},
        {"n_clusters": 3, "method": "sec"},
        {"n_clusters": 3, "method": "voting"},
        {"n_clusters": 3, "method": "eac"},
        {"n_clusters": 3, "method": "lwgp", "scale": False},
        {"n_clusters": 3, "method": "sec", "metric": "manhattan"},
    ],
)
def test_weights_are_copies(sample, options):
    X, _, weights, rows = sample
    first = np.searchsorted(rows, np.arange(len(X)))
    found = cs.cluster(X, object_weights=weights, **HOW, **options)
    copied = cs.cluster(X[rows], **HOW, **options)
    np.testing.assert_array_equal(found.labels, copied.labels[first])
    np.testing.assert_array_equal(found.confidence, copied.confidence[first])
    np.testing.assert_array_equal(found.runner_up, copied.runner_up[first])
    assert found.data.n_objects == found.ensemble.n_objects == len(X)
    assert any(f"{len(rows)} copies stand for 90 objects" in note for note in found.notes)


def test_members_that_are_given_are_combined_by_weight(sample):
    X, _, weights, rows = sample
    members = cs.generate.KMeansEnsemble(12, 5, random_state=0).generate(X)
    found = cs.cluster(
        ensemble=members, n_clusters=3, method="kcc", object_weights=weights, random_state=0
    )
    copied = cs.cluster(ensemble=members.take(rows), n_clusters=3, method="kcc", random_state=0)
    np.testing.assert_array_equal(found.labels, copied.labels[np.searchsorted(rows, np.arange(90))])
    assert adjusted_rand_score(found.labels[rows], copied.labels) == 1.0


def test_columns_are_scaled_by_weighted_means(sample):
    X, _, weights, _ = sample
    found = cs.cluster(X, 3, object_weights=weights, method="sec", **HOW)
    mean = np.average(X, axis=0, weights=weights)
    spread = np.sqrt(np.average((X - mean) ** 2, axis=0, weights=weights))
    np.testing.assert_allclose(found.data.X, (X - mean) / spread, atol=1e-9)
    np.testing.assert_array_equal(found.data.original, X)


def test_equal_weights_and_their_scale_change_nothing(sample):
    X, _, weights, _ = sample
    plain = cs.cluster(X, 3, method="sec", **HOW)
    equal = cs.cluster(X, 3, method="sec", object_weights=np.full(90, 7.5), **HOW)
    np.testing.assert_array_equal(plain.confidence, equal.confidence)
    once, thrice = (
        cs.cluster(X, 3, method="sec", object_weights=w, **HOW) for w in (weights, 3.0 * weights)
    )
    np.testing.assert_array_equal(once.confidence, thrice.confidence)


def test_a_heavy_group_draws_the_border():
    # Two clusters of a line of points: where half of the weight lies.
    X = np.arange(40.0)[:, None]
    members = cs.generate.KMeansEnsemble(30, 2, init="k-means++")
    heavy = np.where(np.arange(40) < 8, 9, 1)
    plain, drawn = (
        cs.cluster(X, 2, generator=members, method="sec", object_weights=w, random_state=0)
        for w in (None, heavy)
    )
    assert (drawn.labels == drawn.labels[0]).sum() < (plain.labels == plain.labels[0]).sum()


def test_a_column_may_hold_them(sample, tmp_path):
    pandas = pytest.importorskip("pandas")
    X, _, weights, _ = sample
    wanted = cs.cluster(X, 3, object_weights=weights, method="sec", **HOW)
    frame = pandas.DataFrame(X, columns=list("abc"), index=[f"r{i}" for i in range(90)])
    frame["n"] = weights
    found = cs.cluster(frame, 3, object_weights="n", method="sec", **HOW)
    np.testing.assert_array_equal(found.labels, wanted.labels)
    assert found.data.columns == ("a", "b", "c")
    assert list(found.to_pandas().index) == list(frame.index)
    frame.to_csv(tmp_path / "data.csv", index_label="id")
    table = cs.datasets.read_table(tmp_path / "data.csv", id_column="id")
    read = cs.cluster(table, 3, object_weights="n", method="sec", **HOW)
    np.testing.assert_array_equal(read.labels, wanted.labels)
    # New objects need no weight.
    np.testing.assert_array_equal(read.predict(frame.drop(columns="n")).labels, wanted.labels)
    with pytest.raises(InvalidParameterError, match=r"name a column of X.*Got 'weight'; .*'a'"):
        cs.cluster(frame, object_weights="weight")


def test_known_groups_of_a_frame_go_by_place(sample):
    X, groups, weights, _ = sample
    how = {"object_weights": weights, "method": "sec", **HOW}
    wanted = cs.cluster(X, 3, truth=groups, **how)
    for index in (None, np.arange(90)[::-1], np.arange(500, 590)):
        truth = pd.Series(groups, index=index)
        result = cs.cluster(X, 3, truth=truth, ids=pd.Series(np.arange(90), index), **how)
        assert result.agreement == wanted.agreement
        assert result.data.ids.tolist() == list(range(90))


def test_gaps_memberships_and_balanced_methods(sample, tmp_path):
    X, groups, weights, _ = sample
    holes = X.copy()
    holes[::7, 0] = np.nan
    found = cs.cluster(holes, 3, gaps="keep", object_weights=weights, method="sec", **HOW)
    assert found.data.X.shape == X.shape
    assert adjusted_rand_score(groups, found.labels) > 0.5
    soft = cs.generate.MembershipEnsemble(6, 3, random_state=0).generate(X)
    made = cs.cluster(X, 3, ensemble=soft, object_weights=weights, method="sec", random_state=0)
    assert made.soft_members.n_objects == 90
    parted = cs.cluster(X, 3, object_weights=weights, method="cspa", truth=groups, **HOW)
    assert set(parted.labels) == {0, 1, 2}
    assert (parted.labels != parted.runner_up).all()
    assert parted.agreement["ari"] > 0.5
    parted.report(tmp_path / "page.html")
    parted.save(tmp_path / "kept")
    np.testing.assert_array_equal(cs.load(tmp_path / "kept").labels, parted.labels)


def test_who_is_counted_in_other_divisions_is_said(sample):
    X, _, weights, rows = sample
    weighted = cs.cluster(X, object_weights=weights, max_clusters=5, **HOW)
    assert sum(weighted.sizes) == len(X)
    assert {sum(one.sizes) for one in weighted.alternatives} == {len(rows)}
    assert any("'alternatives') counts copies, not objects" in note for note in weighted.notes)
    few = cs.cluster(X, 3, object_weights=weights, method="sec", **HOW)
    assert not any("alternatives" in note for note in few.notes)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.zeros(90), r"above 0. Got 0 for object 0. Leave out objects"),
        (np.r_[np.ones(89), np.nan], r"Got nan for object 89"),
        (-np.ones(90), r"Got -1"),
        ([1, 2], r"one value for each of the 90 objects. Got 2"),
        (np.ones((90, 2)), r"one number for each object"),
        (["a"] * 90, r"one number for each object"),
        ("n", r"there are no columns with names"),
    ],
)
def test_what_cannot_be_weights_is_refused(sample, weights, message):
    with pytest.raises((InvalidInputError, InvalidParameterError), match=message):
        cs.cluster(sample[0], object_weights=weights)


@pytest.mark.parametrize(
    "options", [{"refine": True}, {"methods": ["sec", "kcc"]}, {"must_link": [(0, 1)]}]
)
def test_what_cannot_be_told_of_copies_is_refused(sample, options):
    with pytest.raises(InvalidParameterError, match=r"cannot be combined with 'object_weights'"):
        cs.cluster(sample[0], 3, object_weights=sample[2], **options)


@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
@given(st.lists(st.floats(1e-3, 1e3), min_size=2, max_size=30))
def test_rounded_weights_are_near_and_nobody_is_left_out(weights):
    found = copies_of(weights, owner="test")
    counts = np.ones(len(weights)) if found is None else np.bincount(found.rows)
    assert counts.min() >= 1
    assert counts.sum() <= 10 * len(weights)
    exact = np.array(weights) / np.mean(weights)
    if found is not None:
        np.testing.assert_array_equal(found.rows[found.first], np.arange(len(weights)))
        scale = (counts * 1.0 @ exact) / (exact @ exact)
        assert (np.abs(counts - scale * exact) <= scale * 0.3 + 1.0).all()


@pytest.mark.filterwarnings("ignore:Objects count by their weights")
def test_few_whole_weights_are_taken_as_they_are():
    found = copies_of([2, 4, 6], owner="test")
    assert np.bincount(found.rows).tolist() == [1, 2, 3]
    assert copies_of([3, 3], owner="test") is None


def test_copies_decide_by_their_number_and_the_first_where_they_are_even():
    copies = Copies(np.array([0, 0, 0, 1, 1, 2, 3, 3]), np.array([0, 3, 5, 6]))
    labels, told = copies._told(np.array([0, 1, 1, 1, 0, -1, 2, -1]))
    assert labels.tolist() == [1, 1, -1, 2]
    # The first copy that is where its object is.
    assert told.tolist() == [1, 3, 5, 6]
