"""Overlap of an object's clusters against its definition, pair of members by pair of members."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import label_tables

from consilience.ensemble import Ensemble
from consilience.kernels.pairs import ambiguity
from consilience.kernels.pairs.ambiguity import INFORMATION, RELATIVE, mean_overlap


def members_of(**kwargs):
    """Read-only bytes, as an ensemble holds them: other types would only compile again."""
    return label_tables(**kwargs).map(lambda labels: Ensemble(labels).members)


def counts_of(a, b, weights):
    """Objects both saw, n_h and n_l of each, n_hl of each, and n."""
    both = (a > -2) & (b > -2)
    n = weights[both].sum()
    n_h = np.array([weights[both & (a == label)].sum() for label in a])
    n_l = np.array([weights[both & (b == label)].sum() for label in b])
    n_hl = np.array([weights[both & (a == x) & (b == y)].sum() for x, y in zip(a, b, strict=True)])
    return both, n_h, n_l, n_hl, n


def information_slowly(a, b, weights):
    """The cell's term of the mutual information over its clusters' entropy terms."""
    both, n_h, n_l, n_hl, n = counts_of(a, b, weights)
    values = np.zeros(len(a))
    for i in np.flatnonzero(both & (a >= 0) & (b >= 0)):
        if n_h[i] < n and n_l[i] < n:
            below = n_h[i] * np.log(n_h[i] / n) * n_l[i] * np.log(n_l[i] / n)
            values[i] = n_hl[i] * np.log(n * n_hl[i] / (n_h[i] * n_l[i])) / np.sqrt(below)
    return values, both


def relative_slowly(a, b, weights):
    """The cell's overlap over the smaller of the best overlaps of its two clusters."""
    both, n_h, n_l, n_hl, _ = counts_of(a, b, weights)
    placed = both & (a >= 0) & (b >= 0)
    v = np.where(placed, n_hl / np.sqrt(np.maximum(n_h * n_l, 1e-300)), 0.0)
    values = np.zeros(len(a))
    for i in np.flatnonzero(placed):
        best = min(v[placed & (a == a[i])].max(), v[placed & (b == b[i])].max())
        values[i] = min(1.0, v[i] / best)
    return values, both


SLOWLY = {INFORMATION: information_slowly, RELATIVE: relative_slowly}


@settings(max_examples=40)
@given(members_of(min_members=2), st.sampled_from([INFORMATION, RELATIVE]), st.booleans())
def test_it_equals_its_definition(members, kind, weighted):
    n = members.shape[1]
    weights = 1.0 + np.arange(n) % 3 if weighted else np.ones(n)
    pairs = np.array(list(combinations(range(len(members)), 2)))
    found = [SLOWLY[kind](members[a], members[b], weights) for a, b in pairs]
    seen = np.sum([both for _, both in found], axis=0)
    sums = np.sum([values for values, _ in found], axis=0)
    means, counts = mean_overlap(members, weights, pairs, kind)
    np.testing.assert_array_equal(counts, seen)
    np.testing.assert_allclose(means, sums / np.maximum(seen, 1), atol=1e-12)


@settings(max_examples=15)
@given(members_of(min_members=3, min_objects=3), st.sampled_from([INFORMATION, RELATIVE]))
def test_blocks_and_groups_change_nothing(members, kind):
    pairs = np.array(list(combinations(range(len(members)), 2)))
    ones = np.ones(members.shape[1])
    whole, _ = mean_overlap(members, ones, pairs, kind)
    before = ambiguity._BLOCK_BYTES, ambiguity._LEAST
    try:
        for ambiguity._BLOCK_BYTES, ambiguity._LEAST in ((1, 1), (1, 2)):
            for max_table in (1, 400):
                some, _ = mean_overlap(members, ones, pairs, kind, max_table=max_table)
                np.testing.assert_array_equal(some, whole)
    finally:
        ambiguity._BLOCK_BYTES, ambiguity._LEAST = before


def test_threads_change_nothing(seed):
    labels = np.random.default_rng(seed).integers(-2, 6, (5000, 7))
    members, ones = Ensemble(labels).members, np.ones(5000)
    pairs = np.array(list(combinations(range(7), 2)))
    for kind in (INFORMATION, RELATIVE):
        one, _ = mean_overlap(members, ones, pairs, kind)
        two, _ = mean_overlap(members, ones, pairs, kind, n_jobs=2)
        np.testing.assert_array_equal(one, two)


def test_the_widest_labels_of_a_byte_are_not_wrapped():
    members = np.repeat(np.arange(128, dtype=np.int8)[None], 2, axis=0)
    means, counts = mean_overlap(members, np.ones(128), np.array([[0, 1]]), RELATIVE)
    np.testing.assert_array_equal(means, 1.0)
    assert counts.tolist() == [1] * 128


@pytest.mark.parametrize("kind", [INFORMATION, RELATIVE])
def test_equal_members_agree_on_every_object(kind):
    members = np.array([[0, 0, 1, 1, 2]] * 3, np.int8)
    means, _ = mean_overlap(members, np.ones(5), np.array([[0, 1], [1, 2]]), kind)
    # log(n / n_h) over n_h log(n / n_h) / n_h: 1 for every cluster that is not everything.
    np.testing.assert_allclose(means, 1.0)
