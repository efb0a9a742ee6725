"""AutoConsensus: objects out of the sample go where the clusters they are in say."""

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import auto

MEMBERS = Ensemble([[0, 0, 0, 1, 1, 0, 1, 1], [0, 1, 0, -1, 1, -1, 0, -1]])


def test_clusters_vote_by_the_share_of_their_known_objects():
    starts = np.array([0, 2, 4])
    found = auto._votes(MEMBERS.members, starts, np.array([0, 1, 2, 3]), np.array([0, 1, 1, 1]))
    np.testing.assert_allclose(found, [[1 / 3, 2 / 3], [0, 1], [0.5, 0.5], [0, 1]])
    one = auto._votes(MEMBERS.members, starts, np.array([3]), np.array([0]))
    np.testing.assert_allclose(one, [[0], [1], [0], [0]])


@pytest.mark.parametrize("device", [None, "cpu"])
def test_everybody_goes_where_most_votes_are_and_the_known_keep_theirs(device):
    if device:
        pytest.importorskip("torch")
    some, labels = np.array([0, 1, 3, 4]), np.array([0, 0, 1, 1], np.int32)
    found = auto.by_votes(MEMBERS, some, labels, device)
    assert (found.tolist(), found.dtype) == ([0, 0, 0, 1, 1, 0, 0, 1], np.int32)
    # What is known is kept against all votes.
    odd = auto.by_votes(MEMBERS, np.arange(6), np.array([0, 0, 1, 1, 1, 0], np.int32), device)
    assert odd.tolist() == [0, 0, 1, 1, 1, 0, 1, 1]
    everybody = np.arange(8)
    np.testing.assert_array_equal(
        auto.by_votes(MEMBERS, everybody[::-1], everybody.astype(np.int32), device), everybody[::-1]
    )
