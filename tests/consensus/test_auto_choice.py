"""What AutoConsensus says in words: differences between divisions, numbers, clarity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.consensus import Alternative, Clarity
from consilience.consensus._auto_choice import choice_of, difference, worth_a_look

NOTHING = Clarity("none", 0.4, 99, 120, 0.1, 0.2, 0.7)


def alternative(k, support=1.0, sizes=None, **changes):
    values = {
        "line": "k-means",
        "agreement": 0.8,
        "silhouette": 0.3,
        "modularity": 0.5,
        "sparsity": 0.1,
        "icl": None,
        "difference": "",
    }
    return Alternative(
        n_clusters=k, support=support, sizes=sizes or (120 // k,) * k, **(values | changes)
    )


@pytest.mark.parametrize(
    ("taken", "other", "words"),
    [
        ([50, 50], [50, 30, 20], "divides the group of 50 into 30 and 20"),
        ([50, 30, 20], [50, 50], "joins the groups of 30 and 20"),
        ([100], [100], ""),
        ([60, 60], [12] * 10, "divides the group of 60 into 5, the largest of 12 and the group of "
         "60 into 5, the largest of 12"),
    ],
)  # fmt: skip
def test_what_divides_and_what_joins_is_said(taken, other, words):
    labels = [np.repeat(np.arange(len(sizes)), sizes) for sizes in (taken, other)]
    assert difference(*labels) == words


def test_a_few_objects_that_move_are_counted():
    taken = np.repeat([0, 1], 50)
    other = taken.copy()
    other[:3] = 1
    assert difference(taken, other) == "moves 3 objects"


@pytest.mark.parametrize(
    ("moved", "words"),
    [(1, "moves 1 object"), (2, "divides them across: 2 groups stay")],
)
def test_a_tenth_of_a_group_may_move(moved, words):
    taken = np.repeat([0, 1, 2, 3], 10)
    other = taken.copy()
    other[:moved] = 1
    assert difference(taken, other) == words
    assert difference(taken[:30], other[:30]) == words.replace("2 groups stay", "1 group stays")
    across = words.replace("2 groups stay", "no group stays")
    assert difference(taken[:20], other[:20]) == across


@pytest.mark.parametrize(
    ("sizes", "seen"),
    [
        ((12, 3), True),
        ((12, 2), False),
        ((196, 4), True),  # two in a hundred
        ((197, 4), False),
        ((197, 3), False),
    ],
)
def test_strays_are_two_in_a_hundred_or_two(sizes, seen):
    found = worth_a_look([alternative(2), alternative(9, sizes=sizes)])
    assert len(found) == 1 + seen


@pytest.mark.parametrize(("k", "seen"), [(23, False), (24, True), (17, False), (16, True)])
def test_numbers_within_15_per_cent_are_no_other_view(k, seen):
    many = (5,) * 40
    found = worth_a_look([alternative(20, sizes=many), alternative(k, sizes=many)])
    assert [one.n_clusters for one in found] == [20, k][: 1 + seen]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=60))
def test_names_of_groups_do_not_matter_and_ways_there_and_back_mirror(pairs):
    taken, other = np.array(pairs).T
    taken, other = (np.unique(one, return_inverse=True)[1] for one in (taken, other))
    said = difference(taken, other)
    renamed = taken.max() - taken
    assert sorted(difference(renamed, other)) == sorted(said)
    back = difference(other, taken)
    assert said.startswith("divides the group") == back.startswith("joins the groups")
    assert (said == "") == (back == "")


def test_what_is_worth_a_look_is_no_stray_and_no_neighbour():
    found = [
        alternative(10),
        alternative(11, 0.95),  # hardly another view
        alternative(4, 0.9),
        alternative(3, 0.8, (80, 38, 2)),  # a group of two is a pair of strays
        alternative(2, 0.7),
        alternative(6, 0.6),
    ]
    assert [one.n_clusters for one in worth_a_look(found)] == [10, 4, 2]
    assert [one.n_clusters for one in worth_a_look(found, 2)] == [10, 4]
    assert worth_a_look([]) == ()


def test_the_choice_has_every_kind_of_evidence_over_the_numbers():
    found = [
        alternative(3, 1.4, icl=90.0, silhouette=0.2),
        alternative(2, 1.2, icl=80.0, silhouette=0.4),
        alternative(4, 1.0),
    ]
    choice = choice_of(found, NOTHING, 120)
    assert (choice.n_clusters, choice.clear, choice.taken, choice.n_objects) == (
        3,
        False,
        "support",
        120,
    )
    said = {one.name: one for one in choice.criteria}
    assert said["support"].tested.tolist() == [2, 3, 4]
    np.testing.assert_allclose(said["support"].values, [0.6, 0.7, 0.5])
    assert said["support"].n_clusters == 3
    assert said["silhouette"].n_clusters == 2
    assert said["likelihood"].tested.tolist() == [2, 3]
    assert said["likelihood"].n_clusters == 2
    assert not said["likelihood"].larger_is_better
    assert said["likelihood"].clarity == pytest.approx(1 / (1 + np.exp(-5)))
    assert choice.words.startswith("3 groups have the most support")
    # How clear the groups are is another statement.
    assert NOTHING.words not in choice.words
    assert choice.by_lines
    shaped = choice_of(found, NOTHING, 120, taken="borders")
    assert shaped.taken == "borders"
    assert shaped.words.startswith("3 groups of any shape")
    apart = choice_of(found, NOTHING, 120, taken="silhouette")
    assert {one.name: one.n_clusters for one in apart.criteria}["silhouette"] == 3
    assert apart.words == "No number has much support; 3 groups are best apart (silhouette 0.20)."
    assert apart.by_lines
    likely = choice_of(found, NOTHING, 120, taken="likelihood", one_gaussian=70.0)
    assert likely.words.startswith("3 groups are likeliest as Gaussians")
    assert {one.name: one.n_clusters for one in likely.criteria}["likelihood"] == 3


def test_one_gaussian_is_among_what_is_compared():
    found = [alternative(2, icl=80.0), alternative(3, 0.9, icl=90.0)]
    said = {
        likely: choice_of(found, NOTHING, 120, one_gaussian=likely).criteria[-1]
        for likely in (70.0, 85.0)
    }
    assert [one.tested.tolist() for one in said.values()] == [[1, 2, 3]] * 2
    assert said[70.0].n_clusters == 1
    assert said[70.0].words.startswith("As Gaussians one group is likeliest")
    assert said[85.0].n_clusters == 2
    assert said[85.0].words.startswith("As Gaussians 2 groups are likeliest")
    assert said[85.0].clarity == pytest.approx(1 / (1 + np.exp(-2.5)))


def test_evidence_of_nothing_speaks_for_no_number():
    found = [alternative(2, sparsity=-0.2, icl=5.0), alternative(3, 0.8, sparsity=0.0)]
    said = {one.name: one for one in choice_of(found, NOTHING, 120).criteria}
    assert said["borders"].n_clusters is None
    assert said["borders"].words.startswith("Sees nothing")
    assert "likelihood" not in said  # one number has no other to be compared with


def test_nothing_divided_is_one_group():
    choice = choice_of((), NOTHING, 5)
    assert (choice.n_clusters, choice.taken, choice.criteria) == (1, "none", ())


@pytest.mark.parametrize(
    ("verdict", "agreement", "words"),
    [
        ("clear", 0.9, "They are clear"),
        ("weak", 0.9, "but by little"),
        ("weak", 0.3, "but ways to cluster disagree"),
        ("none", 0.9, "No clear structure"),
    ],
)
def test_clarity_speaks_as_it_judges(verdict, agreement, words):
    said = Clarity(verdict, 0.03, 99, 120, 0.5, 0.1, agreement).words
    assert words in said
    assert "p = 0.03, 99 reference tables" in said
    alone = Clarity(verdict, None, 0, 120, 0.5, 0.0, agreement).words
    assert "p =" not in alone
