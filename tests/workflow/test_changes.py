"""A closer look at a result: levels, and groups divided, joined and named, on record."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score as ari

import consilience as cs
from consilience.errors import InvalidParameterError


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    groups = np.repeat([0, 1, 2, 3], 25)
    centres = np.array([[0, 0], [0, 3], [12, 0], [12, 12]])
    X = centres[groups] + 0.4 * rng.normal(size=(100, 2))
    return cs.cluster(X, 3, n_members=20, truth=groups // 2 + (groups == 3), random_state=0)


def test_levels_are_those_of_the_answer(result):
    found = result.levels()
    assert found is result.levels()
    assert found.at(3).tolist() == result.labels.tolist()
    assert "levels()" in repr(result)


def test_a_group_is_divided_and_the_change_recorded(result):
    pair = int(result.labels[0])
    found = result.split(pair)
    assert found.n_clusters == 4
    assert ari(found.labels, np.repeat([0, 1, 2, 3], 25)) == 1.0
    assert set(found.labels[:50]) == {pair, 3}
    assert result.n_clusters == 3
    assert not result.changes
    (what,) = found.changes
    assert what.startswith(f"Group {pair} was divided into 2, of 25 and 25 objects.")
    assert "clear" in what
    assert found.clarity is None
    assert found.chosen_by == "user"
    assert found.to_dict()["changes"] == [what]
    assert what in repr(found)
    assert what in found.page()["notes"]
    assert found.agreement["ari"] != result.agreement["ari"]
    three = result.split(pair, 3)
    assert three.n_clusters == 5


def test_groups_are_joined_as_if_they_had_been_one(result):
    back = result.split(int(result.labels[0])).merge([int(result.labels[0]), 3])
    np.testing.assert_array_equal(back.labels, result.labels)
    np.testing.assert_allclose(back.confidence, result.confidence)
    assert len(back.changes) == 2
    one = result.merge([2, 0])
    assert one.n_clusters == 2
    np.testing.assert_array_equal(one.labels, np.array([0, 1, 0])[result.labels])
    assert one.changes == ("Groups 0 and 2 were joined into group 0.",)


def test_new_objects_go_to_the_groups_as_they_are_now(result, tmp_path):
    near = result.data.original + 1e-3
    assert (result.predict(near).labels == result.labels).all()
    found = result.split(int(result.labels[0]))
    assert (found.predict(near).labels == found.labels).mean() > 0.97
    found.rename({0: "north"}).save(tmp_path)
    again = cs.load(tmp_path)
    assert (again.names, again.changes[0]) == (("north", "", "", ""), found.changes[0])
    back = again.merge([0, 1, 2, 3])
    assert set(back.predict(near).labels) == {0}


def test_names_go_where_groups_go(result):
    named = result.rename({0: "north"}).rename({2: "south"})
    assert named.names == ("north", "", "south")
    assert named.clarity is result.clarity  # the groups are the same
    assert named.rows()[1][0][0] == "0 north"
    assert set(named.to_pandas()["name"]) == {"north", "", "south"}
    assert named.to_dict()["cluster_names"] == ["north", "", "south"]
    assert named.merge([0, 1]).names == ("north", "south")
    assert named.split(2).names[:3] == ("north", "", "south")
    assert named.changes == ("Named: group 0 'north'.", "Named: group 2 'south'.")


def test_names_change_no_number_of_groups(result):
    by_criteria = cs.cluster(result.data.original, n_members=10, random_state=0)
    for one in (result, by_criteria):
        named = one.rename({0: "north"})
        assert named.chosen_by == one.chosen_by
        why = dict(one.headline())["number"].rstrip(".")
        assert dict(named.headline())["number"] == f"{why}. Named: group 0 'north'."
        assert named.merge([0, 1]).chosen_by == "user"
        assert one.rename({}).changes == one.changes  # nobody was named
        assert "Named: group 0" in dict(named.merge([0, 1]).headline())["number"]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda r: r.split(3), "must name a group, from 0 to 2. Got 3"),
        (lambda r: r.split(True), "Got True"),
        (lambda r: r.split(0, 1), "'n_clusters'"),
        (lambda r: r.merge([1]), "at least two groups"),
        (lambda r: r.merge(1), "at least two groups"),
        (lambda r: r.merge([1, 7]), "Got 7"),
        (lambda r: r.merge([[], 0]), "must name a group"),
        (lambda r: r.merge([0, None]), "must name a group"),
        (lambda r: r.merge(None), "at least two groups"),
        (lambda r: r.merge(0.5), "at least two groups"),
        (lambda r: r.merge("01"), "at least two groups"),
        (lambda r: r.rename({0: 1}), "such as"),
        (lambda r: r.rename({5: "a"}), "Got 5"),
        (lambda r: r.rename({0: "a", 1: "a"}), "calls two groups 'a'"),
    ],
)
def test_what_cannot_be_is_refused(result, call, words):
    with pytest.raises(InvalidParameterError, match=words):
        call(result)


def test_labelings_alone_can_be_divided_too():
    members = np.repeat([[0, 1, 2, 3], [0, 1, 2, 2], [0, 0, 2, 3]], 5, axis=1)
    result = cs.cluster(ensemble=list(members), n_clusters=2, random_state=0)
    for group in range(2):
        if result.sizes[group] > 5:
            assert result.split(group, 2).n_clusters == 3
    small = cs.cluster(ensemble=[[0, 0, 1, 1]], n_clusters=2)
    with pytest.raises(InvalidParameterError, match="too few to be divided"):
        small.split(0)
