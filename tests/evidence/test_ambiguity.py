"""Ambiguity: scores against their definition, thresholds against all splits, and the guards."""

import os
import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import ensembles

from consilience import UNSEEN, Ensemble
from consilience.datasets import load
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.evidence._thresholds import RULES, find_threshold
from consilience.evidence.ambiguity import (
    Ambiguity,
    ambiguous,
    anco,
    group_ambiguity,
    nco,
    relative_overlap,
)
from consilience.generate import rcc

needs_data = pytest.mark.skipif(
    "CONSILIENCE_DATA" not in os.environ,
    reason="set CONSILIENCE_DATA to the folder of the papers' data sets",
)

# One object of twelve lies between two clusters.
TORN = Ensemble([[0] * 6 + [1] * 6, [0] * 5 + [1] * 7, [0] * 6 + [1] * 6])


# ---- scores -------------------------------------------------------------------------------


def test_nco_is_the_cells_share_of_the_mutual_information():
    a, b = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    # Cells (0, 0), (0, 1) and (1, 1): 2, 1 and 3 of 6 objects; clusters 3 and 3, 2 and 4.
    h, few, many = 3 * np.log(3 / 6), 2 * np.log(2 / 6), 4 * np.log(4 / 6)
    cells = [
        2 * np.log(6 * 2 / (3 * 2)) / np.sqrt(h * few),
        1 * np.log(6 * 1 / (3 * 4)) / np.sqrt(h * many),
        3 * np.log(6 * 3 / (3 * 4)) / np.sqrt(h * many),
    ]
    np.testing.assert_allclose(nco(a, b), np.array(cells)[[0, 0, 1, 2, 2, 2]])
    np.testing.assert_allclose(nco(b, a), nco(a, b))


def test_nco_leaves_out_what_one_of_the_two_did_not_see():
    got = nco(["x", "x", "y", "y", None], [0, 0, 1, 1, 1])
    np.testing.assert_allclose(got, [1, 1, 1, 1, np.nan])
    assert nco([0, 0, 0], [0, 0, 1]).tolist() == [0, 0, 0]
    with pytest.raises(InvalidInputError, match="same length"):
        nco([0, 1], [0, 1, 1])


@settings(max_examples=30)
@given(ensembles(min_members=2))
def test_anco_adds_nco_up(ensemble):
    parts = np.array([nco(a, b) for a, b in combinations(list(ensemble), 2)])
    R = ensemble.n_members
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        wanted = np.nanmean(parts, axis=0) * R * (R - 1) / 2
    wanted[(ensemble.labels < 0).all(axis=1)] = np.nan
    np.testing.assert_allclose(anco(ensemble), wanted, atol=1e-10)


@settings(max_examples=30)
@given(ensembles(min_members=2))
def test_relative_overlap_is_a_share(ensemble):
    got = relative_overlap(ensemble)
    known = np.isfinite(got)
    assert ((got[known] >= 0) & (got[known] <= 1)).all()
    silent = (ensemble.labels < 0).all(axis=1) | ((ensemble.labels != UNSEEN).sum(axis=1) < 2)
    np.testing.assert_array_equal(~known, silent)


def test_splits_are_no_disagreement_and_crossings_are():
    nested = Ensemble([[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3], [0] * 8])
    np.testing.assert_array_equal(relative_overlap(nested), 1.0)
    torn = relative_overlap(TORN)
    assert torn.argmin() == 5
    assert (np.delete(torn, 5) == 1.0).all()


@pytest.mark.parametrize("score", [anco, relative_overlap])
def test_one_member_makes_no_pairs(score):
    np.testing.assert_array_equal(score(Ensemble([[0, 1, 1, -1]])), 1.0)


@pytest.mark.parametrize("score", [anco, relative_overlap])
def test_a_constant_member_is_no_division_by_zero(score):
    with np.errstate(all="raise"):
        got = score(Ensemble([[0] * 6, [0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1]]))
    np.testing.assert_allclose(got, 1.0)


@pytest.mark.parametrize("score", [anco, relative_overlap])
def test_some_pairs_estimate_all(score, seed):
    labels = np.random.default_rng(seed).integers(0, 3, (200, 12))
    ensemble = Ensemble(labels)
    exact = score(ensemble)
    np.testing.assert_array_equal(score(ensemble, n_pairs=66), exact)
    some = score(ensemble, n_pairs=20, random_state=seed)
    pairs = np.array(list(combinations(range(12), 2)))
    chosen = pairs[np.sort(np.random.RandomState(seed).permutation(66)[:20])]
    parts = [score(ensemble[list(pair)]) for pair in chosen]
    scale = 66 if score is anco else 1
    np.testing.assert_allclose(some, np.mean(parts, axis=0) * scale)


# ---- thresholds ---------------------------------------------------------------------------

COLUMNS = st.lists(st.integers(0, 12), min_size=1, max_size=30).map(
    lambda values: np.array(values) / 8
)


@settings(max_examples=50)
@given(COLUMNS)
def test_otsu_is_the_best_of_all_splits(scores):
    found = find_threshold(scores, "otsu", max_share=1.0)
    if np.ptp(scores) == 0:
        assert found.value == -np.inf
        return
    between = {}
    for t in (np.unique(scores)[1:] + np.unique(scores)[:-1]) / 2:
        low, high = scores[scores < t], scores[scores >= t]
        between[t] = len(low) * len(high) * (low.mean() - high.mean()) ** 2
    assert between[found.value] == pytest.approx(max(between.values()))


@settings(max_examples=50)
@given(COLUMNS, st.sampled_from(RULES), st.sampled_from([0.1, 0.25, 1.0]))
def test_no_rule_flags_too_many_or_all(scores, rule, max_share):
    found = find_threshold(scores, rule, max_share=max_share)
    below = int((scores < found.value).sum())
    assert below <= max_share * len(scores)
    assert below < len(scores)
    assert found.why


def test_gap_is_the_widest_that_keeps_to_the_share():
    scores = np.array([0.1, 0.3, 0.4, 0.9, 1.0, 1.0, 1.0, 1.0])
    assert find_threshold(scores, "gap").value == pytest.approx(0.2)
    assert find_threshold(scores, "gap", max_share=0.5).value == pytest.approx(0.65)
    none = find_threshold(scores, "gap", max_share=0.1)
    assert (none.value, none.rule) == (-np.inf, "gap")
    assert "no gap flags at most max_share=0.1" in none.why


def test_too_many_fall_back_to_the_gap_and_say_so():
    scores = np.array([0.1, 0.2, 0.2, 0.2, 0.9, 1.0, 1.0, 1.0])
    found = find_threshold(scores, "otsu")
    assert found.rule == "gap"
    assert found.value == pytest.approx(0.15)
    assert "4 of 8 scores are below 0.55, set by otsu, more than max_share=0.25" in found.why
    found = find_threshold(scores[1:], "otsu", max_share=0.25)
    assert (found.value, found.rule) == (-np.inf, "none")
    assert "nothing is flagged" in found.why


def test_kde_and_gmm2_cut_between_two_groups(seed):
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(0.3, 0.05, 60), rng.normal(0.9, 0.03, 440)])
    for rule in ("kde", "gmm2"):
        # A few stragglers of the larger group may look like a group of their own.
        assert 60 <= (scores < find_threshold(scores, rule).value).sum() <= 66
    one = rng.normal(0.5, 0.1, 2000)
    assert find_threshold(one, "kde").value < np.quantile(one, 0.05)


def test_gmm2_is_where_two_gaussians_claim_a_score_equally(seed):
    rng = np.random.default_rng(seed)
    scores = np.concatenate([rng.normal(0, 1, 20_000), rng.normal(6, 1, 80_000)])
    # Equal variances: the middle, moved by log(0.8 / 0.2) / 6 towards the rarer.
    wanted = 3 - np.log(4) / 6
    assert find_threshold(scores, "gmm2").value == pytest.approx(wanted, abs=0.05)


def test_quantile_counts_objects_and_not_values():
    scores = np.repeat([0.1, 0.5, 1.0], [5, 5, 90])
    for share, below in ((0.04, 0), (0.05, 5), (0.09, 5), (0.1, 10), (0.2, 10)):
        value = find_threshold(scores, "quantile", quantile=share).value
        assert (scores < value).sum() == below


def test_scores_that_differ_by_rounding_are_equal():
    scores = np.array([1.0, 1.0 - 1e-15, 1.0 + 1e-15, 1.0])
    for rule in RULES:
        assert find_threshold(scores, rule).value == -np.inf


# ---- flags --------------------------------------------------------------------------------


@pytest.mark.parametrize("score", ["relative", "anco"])
@pytest.mark.parametrize("threshold", ["otsu", "gap", "quantile"])
def test_the_object_between_is_flagged(score, threshold):
    found = ambiguous(TORN, score=score, threshold=threshold)
    assert np.flatnonzero(found.flags).tolist() == [5]
    assert found.n_flagged == 1
    assert found.rule == threshold
    counts, edges = found.histogram(10)
    assert counts.sum() == 12
    assert len(edges) == 11


@pytest.mark.parametrize("members", [[[0, 0, 1, 1]], [[0, 0, 1, 1]] * 3, [[0] * 4] * 2])
def test_nothing_is_flagged_where_nobody_disagrees(members):
    found = ambiguous(Ensemble(members))
    assert not found.flags.any()
    assert found.threshold == -np.inf
    assert "nothing to flag" in found.why


def test_a_number_is_taken_unless_a_guard_overrules_it():
    scores = np.array([0.1, 0.8, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0])
    ensemble = Ensemble([[0] * 4 + [1] * 4] * 2)
    found = ambiguous(ensemble, score=scores, threshold=0.5)
    assert (found.threshold, found.rule) == (0.5, "number")
    assert np.flatnonzero(found.flags).tolist() == [0]
    with pytest.warns(ConsilienceWarning, match=r"threshold=0.95 is not used: 3 of 8 scores"):
        found = ambiguous(ensemble, score=scores, threshold=0.95)
    assert np.flatnonzero(found.flags).tolist() == [0]
    assert np.flatnonzero(
        ambiguous(ensemble, score=scores, threshold=0.95, max_share=0.5).flags
    ).tolist() == [0, 1, 2]


def test_all_objects_flagged_means_none_or_the_widest_gap():
    scores = np.linspace(0.1, 0.2, 4) ** 2
    ensemble = Ensemble([[0, 0, 1, 1]] * 2)
    with pytest.warns(ConsilienceWarning, match="4 of 4 scores are below 5"):
        found = ambiguous(ensemble, score=scores, threshold=5.0, max_share=1.0)
    assert found.n_flagged == 3
    with pytest.warns(ConsilienceWarning, match="nothing is flagged"):
        found = ambiguous(ensemble, score=scores, threshold=5.0, max_share=0.1)
    assert found.n_flagged == 0


def test_a_consensus_cluster_is_never_emptied():
    scores = np.array([0.1, 0.1, 0.2, 1, 1, 1, 1, 1, 1, 1, 1, 1])
    ensemble = Ensemble([[0] * 6 + [1] * 6] * 2)
    labels = np.array([0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 2, 2])
    found = ambiguous(ensemble, score=scores, labels=labels)
    assert np.flatnonzero(found.flags).tolist() == [2]
    assert "2 of them are all that is left of a cluster and stay" in found.why


def test_objects_without_evidence():
    members = [
        [0, 0, 0, 1, 1, 1, -1, None],
        [0, 0, 0, 1, 1, 1, -1, None],
        [0, 0, 1, 1, 1, 1, -1, None],
    ]
    found = ambiguous(Ensemble(members))
    # Noise everywhere is no disagreement; unseen everywhere is what nobody can place.
    assert np.isnan(found.scores[6:]).all()
    assert np.flatnonzero(found.flags).tolist() == [2, 7]
    assert "1 objects that no member saw are flagged as well" in found.why
    unseen = ambiguous(Ensemble([[None, None]] * 2))
    assert unseen.flags.all()


def test_pairs_never_seen_together_and_objects_seen_once():
    ensemble = Ensemble([[0, 0, 1, 1, None, None], [None, None, 0, 0, 1, 1]])
    got = relative_overlap(ensemble)
    assert np.isnan(got[[0, 1, 4, 5]]).all()
    np.testing.assert_array_equal(got[2:4], 1.0)
    assert not ambiguous(ensemble).flags.any()


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"score": "best"}, "'score' parameter of ambiguous .* Got 'best'"),
        ({"threshold": "eye"}, "'threshold' parameter of ambiguous .* Got 'eye'"),
        ({"threshold": np.nan}, "'threshold' .* Got nan"),
        ({"max_share": 0}, "'max_share' .* above 0 and at most 1. Got 0"),
        ({"quantile": 1.5}, "'quantile' .* Got 1.5"),
        ({"n_pairs": 0}, "'n_pairs' .* Got 0"),
        ({"random_state": "x"}, "'random_state' .* Got 'x'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        ambiguous(TORN, **params)


@pytest.mark.parametrize("score", [anco, relative_overlap])
@pytest.mark.parametrize("params", [{"n_pairs": 0}, {"random_state": "x"}, {"n_jobs": 1.5}])
def test_bad_parameters_of_scores_are_named(score, params):
    with pytest.raises(InvalidParameterError, match=f"'{next(iter(params))}' .*{score.__name__}"):
        score(TORN, **params)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"score": np.ones(3)}, "one number for each of the 12 objects. Got 3"),
        ({"score": np.full(12, np.inf)}, "Got inf"),
        ({"labels": [0, 1]}, "labels must hold one whole number for each of the 12 objects"),
        ({"labels": np.zeros(12)}, "type float64"),
    ],
)
def test_bad_input_is_named(params, message):
    with pytest.raises(InvalidInputError, match=message):
        ambiguous(TORN, **params)


@needs_data
def test_otsu_on_the_relative_score_flags_what_the_paper_chose_by_eye():
    for name, k, n_flagged in (("breast_cancer_wisconsin", 2, 63), ("wine", 3, 10)):
        X = np.asarray(load(name).X, float)
        if name == "wine":
            X = X[:, :12]
            X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
        ensemble = rcc(k).generate(X)
        by_eye = anco(ensemble) < 1.0
        assert by_eye.sum() == n_flagged
        np.testing.assert_array_equal(ambiguous(ensemble).flags, by_eye)


@pytest.mark.parametrize("unit", [1e-4, 1e-3, 1.0, 1e3])
def test_equal_gaussians_are_parted_in_the_middle_in_any_unit(unit, seed):
    """Variances that differ by rounding only leave a line, not a quadratic with a far root."""
    group = np.random.default_rng(seed).normal(0.2, 0.05, 40)
    scores = unit * np.concatenate([group, 1.0 - group])
    found = find_threshold(scores, "gmm2", max_share=1.0)
    assert found.value == pytest.approx(0.5 * unit, rel=1e-6)


def test_scores_a_rounding_apart_have_a_density():
    """The last of many equal scores is on the grid, however coarse its numbers are."""
    for apart in range(2, 12):
        scores = np.ones(10_000)
        scores[0] += apart * 1e-12
        found = find_threshold(scores, "kde", max_share=1.0)
        assert (found.value, found.why) == (-np.inf, "kde sees one group of scores only")


def test_the_histogram_of_no_scores_is_empty():
    nobody = np.zeros(3, np.bool_)
    found = Ambiguity(nobody, np.full(3, np.nan), -np.inf, "otsu", "no object has a score")
    counts, edges = found.histogram(4)
    np.testing.assert_array_equal(counts, np.zeros(4))
    assert len(edges) == 5


@pytest.mark.parametrize("apart", [1e-5, 1e-9, 1e-12])
def test_one_object_far_from_very_many_close_ones_is_below_the_density_threshold(apart, seed):
    """A bandwidth far below a step of the grid: nothing of the mass may fall off its ends."""
    many = 1.0 - apart * np.random.default_rng(seed).random(200)
    above = find_threshold(np.append(many, 0.0), "kde").value
    assert 0.0 < above < many.min()
    below = find_threshold(np.append(1.0 - many, 1.0), "kde")
    assert (np.append(1.0 - many, 1.0) < below.value).sum() <= 0.25 * 201
    assert below.why


@settings(max_examples=50)
@given(COLUMNS, st.sampled_from(RULES), st.sampled_from([-1000, -300, -7, 7, 300, 1000]))
def test_a_change_of_unit_changes_the_unit_of_the_threshold_only(scores, rule, power):
    """Also where squares of the scores are below, or above, all numbers."""
    one = find_threshold(scores, rule)
    other = find_threshold(np.ldexp(scores, power), rule)
    assert other.value == np.ldexp(one.value, power)
    assert other.rule == one.rule


@pytest.mark.parametrize("n_below", range(1, 100, 7))
def test_a_share_of_so_many_of_a_hundred_is_that_many(n_below):
    """0.29 * 100 is below 29."""
    scores = np.r_[np.zeros(n_below), np.linspace(1.0, 2.0, 100 - n_below)]
    share = n_below / 100
    line = find_threshold(scores, 0.5, max_share=share)
    assert (line.value, line.rule) == (0.5, "number")
    line = find_threshold(scores, "quantile", quantile=share, max_share=1.0)
    assert (scores < line.value).sum() == n_below


def test_a_number_above_scores_that_are_all_equal_is_said_not_to_be_used():
    ensemble = Ensemble([[0, 0, 1, 1]] * 2)
    with pytest.warns(ConsilienceWarning, match=r"threshold=0.9 is not used: 4 of 4 scores"):
        result = ambiguous(ensemble, score=[0.5] * 4, threshold=0.9)
    assert (result.threshold, result.rule, result.n_flagged) == (-np.inf, "none", 0)
    below = ambiguous(ensemble, score=[0.5] * 4, threshold=0.4)
    assert (below.threshold, below.rule, below.n_flagged) == (0.4, "number", 0)
    assert ambiguous(ensemble, score=[0.5] * 4).rule == "none"


@settings(max_examples=50)
@given(st.data(), ensembles(min_members=2))
def test_the_numbers_of_groups_do_not_matter(data, ensemble):
    n = ensemble.n_objects
    labels = np.array(data.draw(st.lists(st.integers(-1, 2), min_size=n, max_size=n)))
    numbers = np.array([*data.draw(st.permutations([0, 1, 2])), -1])
    one, other = group_ambiguity(ensemble, labels), group_ambiguity(ensemble, numbers[labels])
    np.testing.assert_array_equal(one.values, other.values)


def test_a_cluster_outside_all_groups_is_joined_to_none():
    ensemble = Ensemble([[0] * 5 + [1] * 5 + [2] * 5, [0] * 5 + [1] * 5 + [2] * 5])
    labels = [0] * 5 + [1] * 5 + [-1] * 5
    np.testing.assert_array_equal(group_ambiguity(ensemble, labels).values, 0.0)
    # Part of one cluster by another member: a split is no disagreement, whoever is group 0.
    split = Ensemble([[0] * 5 + [1] * 5 + [2] * 5, [0] * 5 + [1] * 10])
    for names in ([0, 1], [1, 0], [7, 3]):
        labels = [names[0]] * 5 + [names[1]] * 5 + [-1] * 5
        np.testing.assert_array_equal(group_ambiguity(split, labels).values, 0.0)
