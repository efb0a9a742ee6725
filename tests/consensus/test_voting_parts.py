"""The steps of voting and cumulative voting, one by one."""

import sys

import numpy as np
import pytest

from consilience import Ensemble, SoftEnsemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.voting import (
    _agreement,
    _plurality,
    cumulativevoting,
    merge_columns,
    shared_information,
    shared_pairs,
    voting,
)

# The function of the same name hides the module.
MODULE = sys.modules[voting.__module__]


def all_rows(labels):
    return distinct_rows(Ensemble(labels))


def test_agreement_says_nothing_of_oneself_and_is_the_mean_of_the_others(seed):
    rows = all_rows(np.random.default_rng(seed).integers(-1, 3, (12, 5)))
    pairs = shared_pairs(rows)
    found = _agreement(rows, None)
    for one in range(5):
        assert found[one] == pytest.approx(np.delete(pairs[one], one).mean(), abs=1e-9)
    assert _agreement(all_rows(np.zeros((3, 1), int)), None).tolist() == [0.0]
    two = all_rows(np.array([[0, 0], [0, 0], [1, 0], [1, 1]]))
    assert _agreement(two, None).tolist() == [shared_pairs(two)[0, 1]] * 2
    # To twelve digits: equal members tie whatever the order of the sums.
    for values in (pairs, shared_information(rows), found):
        np.testing.assert_array_equal(values, values.round(12))


@pytest.mark.parametrize(
    ("a", "b", "wanted"),
    [
        ([0, 0, 1, 1], [0, 1, 0, 1], -0.5),
        ([0, 0, 1, 1], [1, 1, 0, 0], 1.0),
        ([0, 0, 1, 1], [0, 0, 0, 0], 0.0),
        ([0, 0, 0, 0], [0, 0, 0, 0], 0.0),  # one cluster, or all alone: nothing to agree about
        ([0, 1, 2, 3], [0, 1, 2, 3], 0.0),
        ([0, 0, 1, 2], [0, 0, 1, 1], 4 / 7),  # 1 of 1 and 2 pairs, by chance 1/3: (2/3) / (7/6)
    ],
)
def test_the_adjusted_rand_index_by_hand(a, b, wanted, monkeypatch):
    rows = all_rows(np.column_stack([a, b]))
    assert shared_pairs(rows)[0, 1] == pytest.approx(wanted, abs=1e-11)
    monkeypatch.setattr(MODULE, "_MOST_CLUSTERS", 0)
    assert shared_pairs(rows)[0, 1] == pytest.approx(wanted, abs=1e-11)


def test_the_table_of_all_clusters_is_made_while_it_has_room(monkeypatch):
    rows = all_rows(np.array([[0, 0], [0, 1], [1, 2], [1, 2]]))

    def no_table(*args, **kwargs):
        raise MemoryError

    monkeypatch.setattr(type(rows), "contingency", no_table)
    monkeypatch.setattr(MODULE, "_MOST_CLUSTERS", 4)  # there are 2 + 3
    assert shared_pairs(rows)[0, 0] == 1.0
    monkeypatch.setattr(MODULE, "_MOST_CLUSTERS", 5)
    with pytest.raises(MemoryError):
        shared_pairs(rows)


def test_memberships_are_compared_in_one_table_however_many_clusters(monkeypatch):
    table = np.random.default_rng(0).dirichlet(np.ones(3), 8)
    rows = distinct_rows(SoftEnsemble([table, table[:, ::-1]]))
    whole = shared_pairs(rows)
    monkeypatch.setattr(MODULE, "_MOST_CLUSTERS", 0)
    np.testing.assert_array_equal(shared_pairs(rows), whole)


def test_only_ties_are_drawn(seed):
    votes = np.array([[3, 1, 1], [2, 2, 1], [0, 1, 1], [0, 0, 4], [1, 1, 1]])
    drawn = []

    class Rng(np.random.RandomState):
        def random_sample(self, shape):
            drawn.append(super().random_sample(shape))
            return drawn[-1]

    labels = _plurality(votes, Rng(seed), None)
    (keys,) = drawn
    assert keys.shape == (3, 3)
    wanted = [keys[0, :2].argmax(), 1 + keys[1, 1:].argmax(), keys[2].argmax()]
    assert labels.tolist() == [0, wanted[0], wanted[1], 2, wanted[2]]
    assert _plurality(votes[[0, 3]], None, None).tolist() == [0, 2]


def test_every_cluster_of_every_member_has_a_match(seed):
    truth = np.repeat(np.arange(4), 5)
    labels = [np.roll(truth, one) for one in (0, 1, 0, 2, 1, 0, 0)]
    wide = Ensemble([*labels, np.arange(20) % 6, np.arange(20) % 2])
    for k in (3, 4):
        matches = voting(wide, k, random_state=seed).details["matches"]
        assert [len(match) for match in matches] == [4] * 7 + [6, 2]


def test_as_many_clusters_as_are_wanted_are_enough_for_a_reference():
    halves, skew = [0] * 6 + [1] * 6, [0] * 10 + [1, 2]
    for k, wanted in ((2, 0), (3, 1)):
        found = cumulativevoting(Ensemble([halves, skew]), k, reference="entropy")
        assert found.details["reference"] == wanted


@pytest.mark.parametrize("k", [3, 4])
def test_without_a_merge_nothing_is_lost(k):
    shares = np.random.default_rng(0).dirichlet(np.ones(3), 5)
    found, lost = merge_columns(shares, np.ones(5, int), k)
    np.testing.assert_array_equal(found, shares)
    assert lost == 0.0
