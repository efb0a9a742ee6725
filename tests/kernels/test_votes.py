"""Votes by threads: the same numbers as by one, and as the definitions give."""

import numpy as np
import pytest

from consilience.kernels.labels import votes
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.votes import Ballot, pass_on


@pytest.fixture
def members(seed):
    return np.random.default_rng(seed).integers(-2, 4, (5, 5000)).astype(np.int8)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_a_ballot_counts_votes(members, n_jobs, monkeypatch):
    monkeypatch.setattr(votes, "_WORTH", 1)
    weights, match = np.arange(5000) % 7, np.array([2, 0, 1, 1])
    wanted = np.zeros((5000, 3), int)
    with Ballot(weights, 3, n_jobs) as ballot:
        for number, labels in enumerate(members[:3]):
            ballot.cast(labels, match, number + 1)
            placed = np.flatnonzero(labels >= 0)
            wanted[placed, match[labels[placed]]] += number + 1
        shared = ballot.overlap(members[3], 4)
    np.testing.assert_array_equal(ballot.votes, wanted)
    for c in range(4):
        inside = members[3] == c
        np.testing.assert_array_equal(shared[c], weights[inside] @ wanted[inside])


def passed_on(members, n_jobs):
    rng = np.random.default_rng(0)
    shares, n_votes = rng.dirichlet(np.ones(3), members.shape[1]), np.ones(5000, np.int64)
    n_votes[:50], shares[:50] = 0, 0.0
    weights = np.arange(5000) % 3 + 1
    order = range(len(members))
    pass_on(members, first_columns(members), order, weights, shares, n_votes, n_jobs=n_jobs)
    return shares, n_votes


def test_shares_passed_on_do_not_depend_on_threads(members, monkeypatch):
    whole = passed_on(members, 1)
    monkeypatch.setattr(votes, "_WORTH", 1)
    monkeypatch.setattr(votes, "BLOCK_ROWS", 16)
    in_parts = passed_on(members, 1)
    # Other parts, other last bits.
    np.testing.assert_allclose(in_parts[0], whole[0], atol=1e-12)
    for n_jobs in (2, 3):
        shares, n_votes = passed_on(members, n_jobs)
        np.testing.assert_array_equal(shares, in_parts[0])
        np.testing.assert_array_equal(n_votes, in_parts[1])


def test_many_clusters_are_added_up_in_few_parts():
    assert votes._part_size(10**6, 100) == -(-(10**6) // votes._PARTS)
    assert votes._part_size(10**6, votes._NUMBERS) == 10**6
    assert votes._part_size(10, 100) >= 10
