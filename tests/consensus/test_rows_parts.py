"""What label-only methods share: which members divide, sums of blocks, seeds, room for sums."""

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import _rows
from consilience.consensus._rows import (
    check_sums,
    distinct_rows,
    dividing,
    draw_seeds,
    normal_blocks,
    rows_in_order,
    several,
    spectral_start,
)
from consilience.errors import InvalidInputError


@pytest.mark.parametrize(("k", "divides"), [(4, [False, True, True]), (5, [True] * 3)])
def test_members_of_one_cluster_count_only_where_the_others_are_too_few(k, divides):
    one, two = [0, 0, 0, 0], [0, 0, 1, 1]
    np.testing.assert_array_equal(dividing(Ensemble([one, two, [0, 1, 0, 1]]), k), divides)


def test_where_nobody_divides_all_are_taken():
    np.testing.assert_array_equal(dividing(Ensemble([[0, 0], [0, 0]]), 1), [True, True])


def test_shares_add_up_to_one_in_every_member_that_has_clusters():
    table = np.array([[1.0, 2.0], [3.0, 2.0], [5.0, 0.5]])
    found = normal_blocks(table, np.array([0, 2, 2, 3]))
    np.testing.assert_allclose(found, [[0.25, 0.5], [0.75, 0.5], [1.0, 1.0]])


def test_seeds_are_those_of_the_state():
    wanted = np.random.RandomState(3).randint(2**31 - 1, size=4).tolist()
    assert draw_seeds(3, 4) == wanted
    assert several(lambda one: 2 * one, [3, 1, 2], 2) == [6, 2, 4]


@pytest.mark.parametrize("by_pair", [False, True])
def test_sums_without_room_are_refused_by_name(monkeypatch, by_pair):
    asked = []
    monkeypatch.setattr(
        _rows,
        "sums_have_room",
        lambda *given, **more: asked.append((given, more)) or len(asked) < 2,
    )
    counts = np.array([2, 3])
    said = {"by_pair": by_pair, "owner": "Some", "remedy": "Do less."}
    check_sums(counts, 7, **said)
    with pytest.raises(InvalidInputError, match=r"^Some .* of 5 objects by 7 .*\. Do less\.$"):
        check_sums(counts, 7, **said)
    assert asked == [((5, 7), {"by_pair": by_pair})] * 2


def test_rows_put_in_order_are_the_same_objects():
    members = np.array([[0, 0, 1], [0, 1, 1]], dtype=np.int32)
    inverse, counts = np.array([0, 1, 2, 1]), np.array([1, 2, 1])
    rows = rows_in_order(np.array([2, 0, 1]), members, inverse, counts)
    np.testing.assert_array_equal(rows.members, [[1, 0, 0], [1, 0, 1]])
    np.testing.assert_array_equal(rows.counts, [1, 1, 2])
    np.testing.assert_array_equal(rows.inverse, [1, 2, 0, 2])
    np.testing.assert_array_equal(rows.starts, [0, 2, 4])


def test_the_spectral_start_wants_as_many_clusters_as_groups(monkeypatch):
    rows = distinct_rows(Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]]))
    first = spectral_start(rows, 2, 0)
    assert sorted(first) == [0, 1]
    assert spectral_start(rows, 4, 0) is not None
    assert spectral_start(rows, 5, 0) is None
    monkeypatch.setattr(_rows, "_MOST_CLUSTERS", 4)
    assert spectral_start(rows, 4, 0) is not None
    monkeypatch.setattr(_rows, "_MOST_CLUSTERS", 1)
    assert spectral_start(rows, 2, 0) is None
