"""What each criterion says of the number of clusters, beside its curve, and at its bounds."""

from itertools import pairwise

import numpy as np
import pytest

from consilience.consensus import _number_judge
from consilience.consensus._number_judge import (
    by_delta_area,
    by_lifetime,
    by_pac,
    by_stability,
)

TESTED = np.array([2, 3, 4])


def clarity(score):
    return max(1 - np.exp(-score), 0.0)


def test_ambiguous_pairs_are_compared_with_those_of_groupless_data():
    values, reference = np.array([0.2, 0.01, 0.04]), np.array([0.3, 0.3, 0.2])
    scores = [
        np.log((k * r + 0.02) / (k * v + 0.02))
        for k, v, r in zip(TESTED, values, reference, strict=True)
    ]
    found = by_pac(TESTED, values, reference)
    assert (found.name, found.n_clusters, found.larger_is_better) == ("pac", 3, False)
    assert found.clarity == pytest.approx(clarity(scores[1]))
    assert found.words.startswith("For 3 clusters: 1.0 % of the pairs")
    assert found.words.endswith("without any groups 30 % are.")
    weak = by_pac(TESTED, np.array([0.2, 0.2, 0.2]), reference)
    assert weak.n_clusters is None
    assert weak.words.startswith("No clear number, 3 at best")
    assert weak.clarity == pytest.approx(clarity(np.log(0.92 / 0.62)))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_gain_of_area_that_ends_says_the_number(n):
    areas = np.array([0.5, 0.75, 0.75])[:n]
    references = [np.array([0.4, 0.5, 0.6])[:n], np.array([0.2, 0.3, 0.4])[:n]]
    # Gains over the largest before; the first is the area itself.
    values = [0.5, 0.5, 0.0][:n]
    reference = [0.3, (0.25 + 0.5) / 2, (0.2 + 1 / 3) / 2][:n]
    growth = [np.log((v + 0.002) / (r + 0.002)) for v, r in zip(values, reference, strict=True)]
    fall = [a - b for a, b in pairwise(growth)] or [0.0]
    best = int(np.argmax(fall))
    found = by_delta_area(TESTED[:n], areas, references)
    np.testing.assert_allclose(found.values, values)
    np.testing.assert_allclose(found.reference, reference)
    assert found.clarity == pytest.approx(clarity(fall[best]))
    assert found.larger_is_better
    assert found.n_clusters == (3 if n == 3 else None)
    said = ["50 %", "50 %", "0 %"][min(best + 1, n - 1)]
    assert f"one more cluster adds {said} to the area" in found.words


def test_an_area_that_shrinks_gains_nothing():
    found = by_delta_area(TESTED, np.array([0.5, 0.75, 0.6]), [np.array([0.4, 0.45, 0.42])])
    fall = np.log((0.5 + 0.002) / (0.125 + 0.002))
    assert found.clarity == pytest.approx(clarity(fall))
    assert found.n_clusters == 3


def test_what_is_said_of_area_is_of_one_cluster_more():
    found = by_delta_area(TESTED, np.array([0.5, 0.5, 0.75]), [np.array([0.4, 0.5, 0.6])])
    assert found.n_clusters == 2
    assert "adds 0 % to the area" in found.words
    assert found.words.endswith("without any groups 25 %.")


@pytest.mark.parametrize(
    ("values", "reference", "k", "clear"),
    [
        ([0.25, 0.125, 0.0], [0.0, 0.0, 0.0], 2, 0.5),
        ([0.1, 0.5, 0.2], [0.1, 0.1, 0.25], 3, 0.5),
        ([0.1, 0.5, 0.2], [0.1, 0.1, 0.26], None, 0.48),
        ([0.24, 0.1, 0.0], [0.0, 0.0, 0.0], None, 1 - 0.1 / 0.24),
        ([0.5, 0.5, 0.0], [0.0, 0.0, 0.0], None, 0.0),
        ([0.0, 0.0, 0.0], [0.0, 0.0, 0.0], None, 0.0),
        ([0.4], [0.0], 2, 1.0),
    ],
)
def test_the_longest_lifetime_must_stand_out(values, reference, k, clear):
    found = by_lifetime(TESTED[: len(values)], np.array(values), np.array(reference))
    assert (found.n_clusters, found.larger_is_better) == (k, True)
    assert found.clarity == pytest.approx(clear)


def test_stability_takes_the_most_clusters_that_are_nearly_as_good(monkeypatch):
    loose, reference = np.full(3, -1.0), np.zeros(3)
    values = np.array([0.99, 0.98, 0.9])
    scores = np.log(1.01 / (1.01 - values))
    near = scores[0] - scores[1]
    monkeypatch.setattr(_number_judge, "_NEARLY", near + 1e-9)
    found = by_stability(TESTED, values, reference, loose)
    assert (found.n_clusters, found.larger_is_better) == (3, True)
    assert found.clarity == pytest.approx(clarity(scores[1]))
    assert "less tight" not in found.words
    monkeypatch.setattr(_number_judge, "_NEARLY", near - 1e-9)
    assert by_stability(TESTED, values, reference, loose).n_clusters == 2


@pytest.mark.parametrize(
    ("strength", "tighter", "k"), [(0.85, 0.0, 3), (0.84, 0.0, None), (0.85, -1e-9, None)]
)
def test_what_is_firm_and_tight_is_taken_though_groupless_data_are_firm(strength, tighter, k):
    values, reference = np.array([0.2, strength, 0.1]), np.full(3, 0.9)
    found = by_stability(TESTED, values, reference, np.array([-1.0, tighter, -1.0]))
    assert found.n_clusters == k
    assert ("and clusters would be less tight" in found.words) == (k is not None)
