"""Mini-batch k-means against the loop of the paper."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from consilience.kernels.kmeans.minibatch import many_minibatch_kmeans


def nearest(X, centres):
    return ((X[:, None, :] - centres[None]) ** 2).sum(axis=2).argmin(axis=1)


def plain_minibatch(X, start, batches, spherical=False):
    """Reference: Sculley 2010, algorithm 1."""
    centres, counts = start.copy(), np.zeros(len(start))
    for batch in batches:
        cached = nearest(X[batch], centres)
        for i, c in zip(batch, cached, strict=True):
            counts[c] += 1
            rate = 1.0 / counts[c]
            centres[c] = (1.0 - rate) * centres[c] + rate * X[i]
        if spherical:
            lengths = np.linalg.norm(centres, axis=1)
            touched = np.isin(np.arange(len(centres)), cached) & (lengths > 0)
            centres[touched] /= lengths[touched, None]
    return centres


@st.composite
def cases(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(1, 40)), draw(st.integers(1, 5))
    X = rng.normal(size=(n, d))
    members = []
    for _ in range(draw(st.integers(1, 3))):
        rows = np.sort(rng.choice(n, rng.integers(1, n + 1), replace=False))
        features = np.sort(rng.choice(d, rng.integers(1, d + 1), replace=False))
        rows, features = (None if draw(st.booleans()) else a for a in (rows, features))
        own = X if features is None else X[:, features]
        pool = np.arange(n) if rows is None else rows
        start = own[rng.choice(pool, rng.integers(1, min(len(pool), 4) + 1), replace=False)]
        members.append((start, rng.choice(pool, (rng.integers(0, 6), 7)), rows, features))
    return X, members


@given(cases(), st.booleans(), st.booleans(), st.booleans())
def test_every_member_equals_the_loop(case, spherical, assign_all, as_csr):
    X, members = case
    starts, batches, rows, features = (list(part) for part in zip(*members, strict=True))
    options = {"spherical": spherical, "assign_all": assign_all}
    data = sparse.csr_array(X) if as_csr else X
    runs = many_minibatch_kmeans(data, starts, batches, rows=rows, features=features, **options)
    for m, (start, plan, own_rows, own_features) in enumerate(members):
        own = X if own_features is None else X[:, own_features]
        centres = plain_minibatch(own, start, plan, spherical)
        np.testing.assert_allclose(runs.centres[m], centres, rtol=1e-10, atol=1e-12)
        labels = nearest(own, runs.centres[m])
        used = np.ones(len(X), bool)
        if own_rows is not None:
            used = np.isin(np.arange(len(X)), own_rows)
        inertia = ((own - runs.centres[m][labels]) ** 2).sum(axis=1)[used].sum()
        np.testing.assert_allclose(runs.inertia[m], inertia, rtol=1e-10, atol=1e-12)
        expected = labels if assign_all else np.where(used, labels, -2)
        np.testing.assert_array_equal(runs.labels[m], expected)
        assert runs.n_iter[m] == len(plan)
        assert runs.converged[m]


def test_a_member_does_not_depend_on_the_others(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    starts = [X[m : m + 3 + m] for m in range(4)]
    batches = [rng.integers(0, 300, (10, 20)) for _ in starts]
    together = many_minibatch_kmeans(X, starts, batches)
    monkeypatch.setattr("consilience.kernels.kmeans.runs._BOUND_BYTES", 1)
    in_turns = many_minibatch_kmeans(X, starts, batches)
    np.testing.assert_array_equal(in_turns.labels, together.labels)
    for m in range(4):
        np.testing.assert_array_equal(in_turns.centres[m], together.centres[m])


@pytest.mark.parametrize("offset", [1e6, 1e8])
def test_an_offset_does_not_cost_accuracy(offset):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)) + rng.integers(0, 2, (200, 1)) * 5
    batches = [rng.integers(0, 200, (8, 30))]
    here = many_minibatch_kmeans(X, [X[:3]], batches)
    there = many_minibatch_kmeans(X + offset, [X[:3] + offset], batches)
    np.testing.assert_allclose(there.centres[0] - offset, here.centres[0], atol=offset * 1e-13)
