"""What the report of a minority job says of its scores and its border, at every limit."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consilience.report._thin import _quotas
from consilience.report.minority import _border, _compared, _settled


@pytest.mark.parametrize(
    ("reliability", "n", "words"),
    [
        (1.0, 20, "The scores come from 20 weak clusterings, and more would hardly change them"),
        (0.99, 20, "more would hardly change them (reliability 0.990)."),
        (0.9899, 2, "2 weak clusterings, and more would change them a little (reliability 0.990)."),
        (0.9, 2, "more would change them a little (reliability 0.900)."),
        (0.8999, 1, "more would change them, so add repetitions before you rely on them"),
        (np.nan, 1, "How far the scores from 1 weak clustering can be trusted is not known."),
    ],
)
def test_how_far_scores_have_settled(reliability, n, words):
    model = SimpleNamespace(n_repetitions_=n, score_by="sizes", reliability_=reliability)
    assert words in _settled(model)


def test_scores_from_distances_do_not_settle():
    model = SimpleNamespace(n_repetitions_=3, score_by="knn", reliability_=np.nan)
    assert _settled(model) == (
        "The scores come from distances to the nearest objects; 3 weak clusterings tell groups "
        "apart."
    )


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((0, 0), "No rule finds a border in the scores: they are flat"),
        ((), "No rule finds a border in the scores: they are flat"),
        ((7, 7), "All rules for the border find the same objects, so the border is clear."),
        ((8, 10), "nearly agree (between 8 and 10 objects), so the border is fairly clear."),
        ((7, 10), "find between 7 and 10 objects, so where it lies is a matter of judgement."),
        ((0, 1000), "find between 0 and 1,000 objects"),
    ],
)
def test_whether_rules_agree_about_the_border(counts, words):
    model = SimpleNamespace(threshold_result_=SimpleNamespace(why="they are flat"))
    rules = [SimpleNamespace(method=f"rule{i}", n_foreground=n) for i, n in enumerate(counts)]
    # What looks at the truth does not count.
    rules.append(SimpleNamespace(method="ngauss+best", n_foreground=500))
    assert words in _border(model, tuple(rules))


@given(st.lists(st.integers(1, 300), min_size=1, max_size=12), st.integers(1, 400))
def test_objects_shown_of_each_group_are_no_more_than_there_is_room_for(sizes, most):
    quota = _quotas(np.array(sizes), most)
    assert quota.sum() <= most
    assert (quota <= sizes).all()
    assert (quota >= (1 if len(sizes) < most else 0)).all()
    if len(sizes) >= most:
        assert quota.sum() == most
        assert min(np.array(sizes)[quota == 1]) >= max(np.array(sizes)[quota == 0], default=0)


def test_groups_raised_to_one_object_are_paid_for_by_the_largest():
    sizes = np.array([1000, 1, 1, 1, 1, 1, 1, 1])
    quota = _quotas(sizes, 9)
    assert quota.tolist() == [2, 1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([-1, -1, -1, -1], "nothing was found of 2 objects that should stand out."),
        ([0, -1, -1, -1], "100 % of the objects found are right and 50 % of those there are"),
    ],
)
def test_nothing_is_said_of_objects_found_where_there_are_none(labels, words):
    labels = np.array(labels)
    model = SimpleNamespace(labels_=labels, n_foreground_=int((labels >= 0).sum()))
    said = _compared(model, np.array([True, True, False, False]))
    assert words in said
    assert ("objects found" in said) == bool((labels >= 0).any())
