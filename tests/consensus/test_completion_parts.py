"""The steps of ECMC on few rows: what is known, thresholds, prices, and orders of rows."""

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import completion, ecmc
from consilience.consensus._rows import distinct_rows
from consilience.errors import InvalidParameterError

UNSEEN = -2
LABELS = np.array([[0, 0, UNSEEN], [0, 0, UNSEEN], [0, 1, UNSEEN], [UNSEEN, UNSEEN, 0], [1, 1, -1]])


def test_thresholds_that_are_given_are_refused_before_anything_is_done():
    with pytest.raises(InvalidParameterError, match="'low' parameter of ECMC must be below"):
        ecmc(Ensemble([[0, 1]]), 2, low=0.9, high=0.1)
    with pytest.raises(InvalidParameterError, match="must be below"):
        ecmc(Ensemble([[0, 1]]), 2, low=0.5, high=0.5)


def test_pairs_are_known_where_a_member_saw_both_and_objects_know_themselves():
    rows = distinct_rows(Ensemble(LABELS))
    A, known = completion._co_association(rows, None)
    both = np.ix_(rows.inverse, rows.inverse)
    seen = ((LABELS[:, None] != UNSEEN) & (LABELS[None] != UNSEEN)).any(axis=2)
    np.testing.assert_array_equal(known[both], seen | np.eye(5, dtype=bool))
    assert A.diagonal().tolist() == [1.0] * 4
    assert A[both][0].tolist() == [1.0, 1.0, 0.5, 0.0, 0.0]
    never = distinct_rows(Ensemble(np.array([[0, UNSEEN], [UNSEEN, 0]])))
    assert completion._co_association(never, None)[1].tolist() == [[True, False], [False, True]]


def test_the_mean_of_what_was_seen_gives_thresholds():
    A = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.7], [0.0, 0.7, 1.0]])
    seen = np.array([[True, True, False], [True, True, True], [False, True, True]])
    counts = np.array([1, 2, 3])
    # Sums over pairs of objects: 1 + 2 * 2 * 0.5 + 4 + 2 * 6 * 0.7 + 9, of 36 - 2 * 3.
    mean = (1 + 2 + 4 + 8.4 + 9) / 30
    found = completion._thresholds("adapted", None, None, A, seen, counts)
    np.testing.assert_allclose(found, [mean / 3, mean + 0.4 * (1 - mean)])
    assert completion._thresholds("published", None, None, A, seen, counts) == (0.2, 0.8)
    assert completion._thresholds("published", 0.1, 0.3, A, seen, counts) == (0.1, 0.3)


def test_prices_follow_the_number_of_objects():
    assert completion._prices(None, 16) == [0.5]
    assert completion._prices(3, 16) == [3.0]
    assert completion._prices("grid", 16) == [0.0625, 0.125, 0.25, 0.5, 1.0, 2.0]


def test_rows_are_put_in_order_with_all_that_belongs_to_them():
    rows = distinct_rows(Ensemble(LABELS))
    A, seen = completion._co_association(rows, None)
    found, B, known = completion._canonical(rows, A, seen)
    np.testing.assert_array_equal(found.members[:, found.inverse], rows.members[:, rows.inverse])
    np.testing.assert_array_equal(found.starts, rows.starts)
    np.testing.assert_array_equal(found.counts[found.inverse], rows.counts[rows.inverse])
    for new, old in ((B, A), (known, seen)):
        np.testing.assert_array_equal(
            new[np.ix_(found.inverse, found.inverse)], old[np.ix_(rows.inverse, rows.inverse)]
        )


def made(rank, number):
    return completion.Completed(np.full((2, 2), float(number)), rank, float(number), 1, True)


def test_the_price_is_doubled_until_groups_are_told_apart_or_it_is_1():
    ranks = {0.5: 1, 1.0: 2}
    found, price, note = completion._raised(lambda C: made(ranks[C], C), 16, 2)
    assert (found.rank, price) == (2, 1.0)
    assert note.startswith("C was raised from 0.5 to 1: there the matrix told only 1 of 2 groups")
    assert completion._raised(lambda C: made(1, C), 16, 1)[1:] == (0.5, "")
    assert completion._raised(lambda C: made(1, C), 16, 9)[1] == 1.0


def test_of_prices_with_enough_groups_the_smallest_sum_wins_else_the_last():
    # Sums over all objects go up with the price; the first has too few groups.
    ranks = {1.0: 1, 2.0: 2, 3.0: 3}
    at = lambda C: made(ranks[C], C)  # noqa: E731
    counts = np.array([1, 2])
    assert completion._of_prices(at, [1.0, 2.0, 3.0], counts, 2, None)[1] == 2.0
    assert completion._of_prices(at, [3.0, 2.0, 1.0], counts, 2, None)[1] == 2.0
    assert completion._of_prices(at, [1.0, 2.0, 3.0], counts, 9, None)[1] == 3.0
