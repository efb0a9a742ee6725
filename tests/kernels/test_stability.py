"""Agreement of clusters with reference partitions against sets, one cluster at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import label_tables

from consilience.ensemble import Ensemble
from consilience.kernels.labels.stability import CRITERIA, recognised


def members_of(**kwargs):
    """Read-only bytes, as an ensemble holds them: other types would only compile again."""
    return label_tables(**kwargs).map(lambda labels: Ensemble(labels).members)


def two_block_nmi(n, a, b, both):
    """Arithmetic NMI of {A, rest} and {B, rest}, from the joint distribution."""
    joint = np.array([[both, a - both], [b - both, n - a - b + both]]) / n
    row, column = joint.sum(axis=1), joint.sum(axis=0)
    if min(row.min(), column.min()) <= 0:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        information = np.nansum(joint * np.log(joint / np.outer(row, column)))
    entropies = -(row @ np.log(row)) - (column @ np.log(column))
    return 2 * information / entropies


def agreement_slowly(cluster, seen, reference, weights, criterion):
    """What one reference says of one cluster, by sets of objects."""
    counts = seen & (reference > -2)
    n, inside = weights[counts].sum(), cluster & counts
    size = weights[inside].sum()
    if size == 0 or size == n:
        return 0.0
    groups = [counts & (reference == label) for label in range(reference.max() + 1)]
    if criterion == "apmm":
        pieces = [weights[inside & group].sum() for group in groups]
        alone = weights[inside & (reference == -1)].sum()
        below = sum(p * np.log(p / n) for p in pieces if p > 0) + alone * np.log(1 / n)
        return 2 * size * np.log(size / n) / (size * np.log(size / n) + below)
    if criterion == "nmi":
        chosen = [g for g in groups if 2 * weights[g & inside].sum() > weights[g].sum()]
        found = np.any(chosen, axis=0) if chosen else np.zeros(len(cluster), bool)
    else:
        jaccard = [weights[g & inside].sum() / max(weights[g | inside].sum(), 1) for g in groups]
        found = np.zeros(len(cluster), bool)
        if jaccard and max(jaccard) > 0:
            found = groups[int(np.argmax(jaccard))]
    return two_block_nmi(n, size, weights[found].sum(), weights[found & inside].sum())


def recognised_slowly(members, references, weights, criterion, own=False):
    out = []
    for r, labels in enumerate(members):
        for label in range(labels.max() + 1):
            values = [
                agreement_slowly(labels == label, labels > -2, reference, weights, criterion)
                for m, reference in enumerate(references)
                if not own or m != r
            ]
            out.append(np.mean(values))
    return np.array(out)


@settings(max_examples=40)
@given(
    members_of(min_members=2), st.integers(1, 4), st.sampled_from(sorted(CRITERIA)), st.booleans()
)
def test_it_equals_its_definition(members, n_first, criterion, weighted):
    split = min(n_first, len(members) - 1)
    weights = 1.0 + np.arange(members.shape[1]) % 3 if weighted else np.ones(members.shape[1])
    first, second = members[:split], members[split:]
    got = recognised(first, second, weights, criterion)
    wanted = recognised_slowly(first, second, weights, criterion)
    np.testing.assert_allclose(got, wanted, atol=1e-12)
    assert ((got >= 0) & (got <= 1)).all()


@settings(max_examples=20)
@given(members_of(min_members=2), st.sampled_from(sorted(CRITERIA)))
def test_members_can_judge_each_other(members, criterion):
    ones = np.ones(members.shape[1])
    got = recognised(members, members, ones, criterion, skip_own=True)
    wanted = recognised_slowly(members, members, ones, criterion, own=True)
    np.testing.assert_allclose(got, wanted, atol=1e-12)
    again = recognised(members, members, ones, criterion, skip_own=True, n_jobs=2)
    np.testing.assert_array_equal(got, again)


@pytest.mark.parametrize("criterion", sorted(CRITERIA))
def test_what_comes_back_unchanged_scores_one_exactly(criterion):
    members = np.array([[0, 0, 1, 1, 2, 2, 2]], np.int8)
    again = np.array([[2, 2, 0, 0, 1, 1, 1]] * 3, np.int8)
    assert recognised(members, again, np.ones(7), criterion).tolist() == [1.0, 1.0, 1.0]
