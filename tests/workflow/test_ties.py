"""Tables with ties: rows that are written down several times, and answers nobody is sure of."""

import numpy as np
import pytest

import consilience as cs
from consilience.workflow import _consensus


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    groups = np.arange(40) % 2
    points = rng.normal(size=(40, 2)) + 8 * groups[:, None]
    return np.concatenate([np.arange(40), rng.integers(40, size=160)]), points, groups


def test_copies_of_two_blobs_are_two_groups(rows):
    """They were 35 groups, called clear, of which every object was doubtful."""
    which, points, groups = rows
    found = cs.cluster(points[which], n_members=20, effort="quick", random_state=0)
    assert found.n_clusters == 2
    assert found.verdict == "clear"
    np.testing.assert_array_equal(found.labels == found.labels[0], groups[which] == groups[0])
    assert sum(found.alternatives[0].sizes) == 200


def test_a_doubtful_answer_is_not_clear(rows, monkeypatch):
    which, points, _ = rows
    monkeypatch.setattr(_consensus, "_MOST_DOUBTFUL", -1.0)
    found = cs.cluster(points[which], n_members=20, effort="quick", random_state=0)
    assert found.verdict == "weak"
    assert not found.choice.clear
    assert "most objects are doubtful" in found.clarity.words
