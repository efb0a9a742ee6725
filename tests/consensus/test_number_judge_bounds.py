"""Which criterion is taken, at the bounds, and what is said of it."""

import numpy as np
import pytest

from consilience.consensus import _number_judge
from consilience.consensus._number_judge import (
    Criterion,
    NumberChoice,
    by_delta_area,
    by_pac,
    by_stability,
    decide,
    tighter_than_chance,
)


def criterion(name, n_clusters, clarity, values=(0.1, 0.3, 0.2), reference=None):
    curve = np.array(values)
    tested = np.array([2, 3, 4])
    return Criterion(name, name, tested, curve, reference, True, n_clusters, clarity, "Words.")


@pytest.mark.parametrize("taken", ["support", "silhouette", "borders", "likelihood"])
def test_lines_decide_and_criteria_do_not(taken):
    assert NumberChoice(2, True, taken, (), "", 5).by_lines is True
    assert NumberChoice(2, True, "stability", (), "", 5).by_lines is False


@pytest.mark.parametrize(
    ("within", "references", "axes", "n", "wanted"),
    [
        ([0.5, 0.1], [[0.6, 0.3], [0.7, 0.2]], 2.0, 10_000, [np.log(1.2), np.log(2.0)]),
        ([0.0, 0.1], [[0.0, 0.3]], 2.0, 10_000, [0.0, np.log(3.0)]),
    ],
)
def test_tightness_beside_the_tightest_without_groups(within, references, axes, n, wanted):
    references = [np.array(one) for one in references]
    found = tighter_than_chance(np.array(within), references, axes, n)
    np.testing.assert_allclose(found, np.array(wanted) - 0.05)
    few = tighter_than_chance(np.array(within), references, axes, 18)
    np.testing.assert_allclose(few, np.array(wanted) - 0.25)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (0.0, "0 %"),
        (0.0995, "10 %"),
        (0.0994, "9.9 %"),
        (0.15, "15 %"),
        (0.004, "0.4 %"),
        (1.0, "100 %"),
    ],
)
def test_small_shares_have_a_decimal(value, said):
    assert _number_judge._share(value) == said


def test_less_unstable_is_a_logarithm():
    found = _number_judge._steadier(np.array([1.0, 0.9]), np.array([0.8, 0.9]))
    np.testing.assert_allclose(found, [np.log(21.0), 0.0], atol=1e-12)


def test_clarity_lies_between_nothing_and_beyond_doubt():
    found = _number_judge._clarity(np.array([-1.0, 0.0, np.log(4.0), 1000.0]))
    np.testing.assert_allclose(found, [0.0, 0.0, 0.75, 1.0])


def test_stability_that_sees_nothing_says_its_best():
    loose = np.full(3, -1.0)
    values, reference = np.array([0.3, 0.5, 0.2]), np.array([0.3, 0.4, 0.3])
    found = by_stability(np.array([2, 3, 4]), values, reference, loose)
    assert found.n_clusters is None
    assert found.words == (
        "No clear number, 3 at best: the weakest cluster of one half of the objects holds "
        "together to 50 % in another; 40 % would do without any groups."
    )


@pytest.mark.parametrize(("clear", "k"), [(0.0, 4), (-1e-6, 3)])
def test_weak_stability_leaves_it_to_any_lifetime(clear, k):
    bound = 1.0 - 1.0 / np.e
    stable = criterion("stability", 4, bound + clear)
    assert decide([stable, criterion("lifetime", 3, 0.5)], 9, 9, []).n_clusters == k


def test_as_many_groups_by_a_long_lifetime_leave_it_to_stability():
    long = criterion("lifetime", 3, 0.9, (0.1, 0.8, 0.0))
    choice = decide([criterion("stability", 3, 0.8), long], 9, 9, [])
    assert choice.taken == "stability"
    two = decide([criterion("stability", 2, 0.8), long], 9, 9, [])
    assert (two.taken, two.n_clusters, two.clear) == ("lifetime", 3, True)


def test_only_those_that_decide_are_asked():
    every = [
        criterion("pac", 4, 1.0),
        criterion("stability", None, 0.1),
        criterion("lifetime", None, 0.2),
    ]
    choice = decide(every, 9, 9, [])
    assert (choice.n_clusters, choice.taken, choice.clear) == (1, "none", False)
    assert choice.criteria == tuple(every)
    assert choice.n_objects == 9
    agreed = decide(every, 8, 9, ["Note."], agreed=5)
    assert (agreed.n_clusters, agreed.taken, agreed.clear) == (5, "none", False)
    assert agreed.words == (
        "There is no clear structure. 5 clusters are taken because every clustering has as many. "
        "Looked at a random sample of 8 of 9 objects. Note."
    )


def test_a_hint_of_stability_is_beside_its_reference():
    """The highest value is at 3, what is highest above its reference at 4."""
    reference = np.array([0.1, 0.3, 0.0])
    weak = criterion("stability", None, 0.5, reference=reference)
    choice = decide([weak, criterion("lifetime", None, 0.4)], 9, 9, [])
    assert (choice.n_clusters, choice.taken, choice.clear) == (4, "stability", False)
    bare = decide([criterion("stability", None, 0.5), criterion("lifetime", None, 0)], 9, 9, [])
    assert bare.n_clusters == 3
    # A lifetime is only looked at by its length.
    long = criterion("lifetime", None, 0.5, reference=reference)
    assert decide([criterion("stability", None, 0.1), long], 9, 9, []).n_clusters == 3


@pytest.mark.parametrize(
    ("others", "clarity", "said"),
    [
        ([], 0.9, "3 clusters, taken by stability. This is very clear."),
        (
            [("lifetime", 3), ("pac", 3)],
            0.9,
            "3 clusters, taken by stability (lifetime and pac agree). This is very clear.",
        ),
        (
            [("lifetime", None), ("pac", None)],
            0.9,
            "3 clusters, taken by stability (lifetime and pac see nothing). This is very clear.",
        ),
        (
            [("pac", 2), ("delta-area", 4)],
            0.95,
            "3 clusters, taken by stability (pac says 2; delta-area says 4). This is clear.",
        ),
    ],
)
def test_agreement_doubt_and_silence_are_said(others, clarity, said):
    every = [criterion("stability", 3, clarity)]
    every += [criterion(name, k, 0.1) for name, k in others]
    assert decide(every, 9, 9, []).words == said


def test_what_lies_on_a_bound_is_seen(monkeypatch):
    tested, loose = np.array([2, 3, 4]), np.full(3, -1.0)
    values, reference = np.array([0.2, 0.85, 0.1]), np.zeros(3)
    found = by_stability(tested, values, reference, loose)
    assert found.n_clusters == 3
    monkeypatch.setattr(_number_judge, "_CLEAR", found.clarity)
    assert by_stability(tested, values, reference, loose).n_clusters == 3
    monkeypatch.setattr(_number_judge, "_NEARLY", 0.0)
    assert by_stability(tested, values, reference, loose).n_clusters == 3
    pac = by_pac(tested, values, np.ones(3))
    monkeypatch.setattr(_number_judge, "_PAC_CLEAR", pac.clarity)
    assert by_pac(tested, values, np.ones(3)).n_clusters == 4
    monkeypatch.setattr(_number_judge, "_clarity", lambda score: np.full(np.shape(score), 0.5))
    assert by_delta_area(tested, np.array([0.5, 0.7, 0.7]), [np.ones(3)]).n_clusters == 3


def test_delta_area_raises_no_doubt_but_others_do():
    stable = criterion("stability", 3, 0.9)
    assert decide([stable, criterion("delta-area", 4, 0.1)], 9, 9, []).words.endswith("very clear.")
    assert decide([stable, criterion("pac", 4, 0.1)], 9, 9, []).words.endswith("is clear.")
