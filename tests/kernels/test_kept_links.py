"""Trees of selected clusters against SciPy on the whole matrix."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform
from strategies import label_tables

from consilience.ensemble import Ensemble
from consilience.kernels.links.kept import kept_average_link, kept_single_link


def members_of(**kwargs):
    """Read-only bytes, as an ensemble holds them: other types would only compile again."""
    return label_tables(**kwargs).map(lambda labels: Ensemble(labels).members)


def distances(members):
    """One minus shared clusters over the larger number held, from the definition."""
    held = [set(enumerate(row)) - {(m, -1) for m in range(len(row))} for row in members.T.tolist()]
    return np.array(
        [[0.0 if a is b else 1 - len(a & b) / max(len(a), len(b)) for b in held] for a in held]
    )


def covered(members):
    """Labels with unseen as noise, objects in no cluster left out; None if none is left."""
    kept = np.where(members < 0, -1, members)
    kept = np.ascontiguousarray(kept[:, (kept >= 0).any(axis=0)])
    assume(kept.shape[1] >= 2)
    return kept


@settings(max_examples=30)
@given(members_of(min_objects=2))
def test_single_link_has_the_heights_of_the_matrix(members):
    members = covered(members)
    tree = kept_single_link(members, np.ones(members.shape[1], np.int64))
    wanted = hierarchy.linkage(squareform(distances(members)), "single")
    np.testing.assert_allclose(tree[:, 2], wanted[:, 2], atol=1e-12)
    assert tree[-1, 3] == members.shape[1]


def replay(D, tree):
    """Assert that every merge joins two clusters at the smallest mean distance of that moment."""
    n = len(D)
    clusters = {i: [i] for i in range(n)}
    for t, (a, b, height, size) in enumerate(tree):
        means = {
            (x, y): D[np.ix_(clusters[x], clusters[y])].mean()
            for x in clusters
            for y in clusters
            if x < y
        }
        pair = min(int(a), int(b)), max(int(a), int(b))
        assert means[pair] == pytest.approx(height, abs=1e-9)
        assert height <= min(means.values()) + 1e-9
        clusters[n + t] = clusters.pop(pair[0]) + clusters.pop(pair[1])
        assert size == len(clusters[n + t])


@settings(max_examples=30)
@given(members_of(min_objects=2), st.sampled_from([1, 2**20]))
def test_average_link_is_that_of_the_matrix(members, max_memory):
    members = covered(members)
    n = members.shape[1]
    tree = kept_average_link(members, np.ones(n, np.int64), max_memory=max_memory)
    replay(distances(members), tree)


def test_average_link_of_many_objects(seed):
    labels = np.random.default_rng(seed).integers(-1, 4, (60, 12))
    labels[:, 0] = 0
    members = Ensemble(labels).members
    tree = kept_average_link(members, np.ones(60, np.int64), max_memory=5 * 8 * 60)
    replay(distances(members), tree)


@pytest.mark.parametrize("link", [kept_single_link, kept_average_link])
def test_weights_count_copies(link):
    rng = np.random.default_rng(0)
    members = rng.integers(-1, 3, (23, 7)).astype(np.int8)
    members[0] = 1
    weights = np.array([1, 3, 1, 2, 1, 1, 4])
    more = {} if link is kept_single_link else {"max_memory": 2**20}
    small = link(members, weights, **more)
    copies = np.ascontiguousarray(np.repeat(members, weights, axis=1))
    full = link(copies, np.ones(weights.sum(), np.int64), **more)
    np.testing.assert_allclose(np.sort(full[:, 2])[-6:], small[:, 2], atol=1e-9)
    assert small[-1, 3] == weights.sum()
