"""What AutoConsensus says in words: differences between divisions, numbers, clarity."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.consensus import Alternative, Clarity
from consilience.consensus._auto_choice import choice_of, difference, worth_a_look
from consilience.consensus._lines import Partition
from consilience.consensus._support import Support
from consilience.consensus.auto import _alternatives, _best

NOTHING = Clarity("none", 0.4, 99, 120, 0.1, 0.2, 0.7)


def alternative(k, support=1.0, sizes=None, **changes):
    values = {
        "line": "k-means",
        "agreement": 0.8,
        "silhouette": 0.3,
        "modularity": 0.5,
        "sparsity": 0.1,
        "bic": None,
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
        alternative(3, 1.4, bic=90.0, silhouette=0.2),
        alternative(2, 1.2, bic=80.0, silhouette=0.4),
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


def supported(lines, numbers, agreement, silhouette, by_data=None):
    """Partitions of these lines, and what speaks for them."""
    n = len(lines)
    found = [
        Partition(line, (np.arange(12) % k).astype(np.int32))
        for line, k in zip(lines, numbers, strict=True)
    ]
    nothing = np.zeros(n)
    support = Support(
        agreement=np.array(agreement, float),
        data_agreement=np.array(agreement if by_data is None else by_data, float),
        loose_agreement=nothing,
        silhouette=np.array(silhouette, float),
        modularity=nothing,
        sparsity=nothing,
        capped=nothing,
    )
    return found, support


def test_separation_decides_where_nothing_has_much_support():
    lines, numbers = ("k-means", "Ward", "k-means", "average link"), (2, 3, 4, 5)
    weak = supported(lines, numbers, (0.5, 0.3, 0.6, 0.8), (0.2, 0.4, 0.1, 0.5))
    # Average link is not asked: what is far from all others has a large silhouette there.
    assert _best(*weak, None) == (1, "silhouette")
    assert _best(*weak, 4) == (2, "support")
    strong = supported(lines, numbers, (0.5, 0.3, 1.2, 0.8), (0.2, 0.4, 0.1, 0.5))
    assert _best(*strong, None) == (2, "support")
    labels_only = supported(("members", "Ward", "graph"), (2, 3, 4), (0.5, 0.3, 0.4), (0, 0.5, 0))
    assert _best(*labels_only, None)[1] == "support"


def test_where_nothing_has_support_there_are_not_many_groups():
    said = supported(("k-means",) * 3, (3, 10, 11), (0.1, 0.1, 0.1), (0.2, 0.3, 0.9))
    assert _best(*said, None) == (1, "silhouette")
    only_many = supported(("k-means",) * 2, (11, 12), (0.1, 0.1), (0.2, 0.3))
    assert _best(*only_many, None) == (0, "silhouette")


def test_members_have_no_say_in_the_number_but_in_the_groups():
    lines, numbers = ("k-means", "Ward", "average link", "average link"), (2, 3, 3, 4)
    said = supported(lines, numbers, (0.9, 0.8, 1.0, 1.9), (0, 0, 0, 0), (1.3, 1.4, 9.0, 9.0))
    # 4 groups have the most support of all, but not of lines that look at the data; of 3 the
    # members' are the best.
    assert _best(*said, None) == (2, "support")
    shown = _alternatives(*said, 2)
    assert [(one.n_clusters, one.support) for one in shown] == [(3, 1.4), (2, 1.3)]
    assert _best(*said, 4) == (3, "support")


def test_evidence_of_nothing_speaks_for_no_number():
    found = [alternative(2, sparsity=-0.2, bic=5.0), alternative(3, 0.8, sparsity=0.0)]
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
