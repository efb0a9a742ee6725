"""What a prediction learns, on tables small enough to be counted by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from consilience.kernels.labels.contingency import first_columns
from consilience.predict import _learn


def by_groups(members, labels):
    members, labels = np.array(members, np.int8), np.array(labels, np.int32)
    starts = first_columns(members)
    counts, pairs = _learn._tables(members, starts, labels)
    return _learn._by_groups(members, starts, labels, counts, pairs).tolist()


def by_definition(members, labels):
    """An object goes to the group whose others it is most often with."""
    members, labels = np.array(members), np.array(labels)
    found = []
    for i, own in enumerate(labels):
        means = []
        for g in range(labels.max() + 1):
            others = [j for j in np.flatnonzero(labels == g) if j != i]
            joined = sum(((m[i] >= 0) & (m[others] == m[i])).sum() for m in members)
            means.append(joined / max(len(others) * len(members), 1))
        found.append(bool(np.argmax(means) == own and max(means) > 0))
    return found


def test_the_only_other_of_a_group_counts_in_full():
    # With its one mate, and with three of the four others.
    assert by_groups([[0, 0, 0, 0, 0, 1]], [0, 0, 1, 1, 1, 1])[0]
    # With all others of the other group and not with its own.
    assert not by_groups([[0, 1, 0, 0, 0, 0]], [0, 0, 1, 1, 1, 1])[0]


@pytest.mark.parametrize("seed", range(4))
def test_means_are_those_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    members = rng.integers(-1, 3, (3, 9))
    labels = np.r_[0, 1, 2, rng.integers(-1, 3, 6)]
    assert by_groups(members, labels) == by_definition(members, labels)


@pytest.mark.parametrize(
    ("n", "most", "wanted"),
    [(3, 5, [0, 1, 2]), (3, 3, [0, 1, 2]), (9, 3, [0, 4, 8]), (10, 4, [0, 3, 6, 9]), (0, 2, [])],
)
def test_some_objects_lie_at_equal_steps(n, most, wanted):
    assert _learn._spread(n, most).tolist() == wanted


def test_models_of_members_are_used_where_they_fit():
    ensemble = SimpleNamespace(n_members=3, n_clusters=[2, 3, 2])
    models = [SimpleNamespace(values=np.ones(2)), SimpleNamespace(values=np.ones(2)), None]
    assert _learn._usable(models, ensemble, 0) == [models[0], None, None]
    assert _learn._usable(models, ensemble, 1) == [None] * 3
    assert _learn._usable(models[:2], ensemble, 0) == [None] * 3
    assert _learn._usable(None, ensemble, 0) == [None] * 3


def test_objects_of_groups_in_clusters_and_pairs_that_were_seen():
    members = np.array([[0, 0, 1, -1, 1], [0, -2, 0, 1, 1]], np.int8)
    labels = np.array([0, 0, 1, 1, -1], np.int32)
    counts, pairs = _learn._tables(members, first_columns(members), labels)
    assert counts.tolist() == [[2, 0], [0, 1], [1, 1], [0, 1]]
    assert pairs.tolist() == [3, 4]
    seen = np.maximum(members, -1)
    assert _learn._tables(seen, first_columns(seen), labels)[1].tolist() == [4, 4]
