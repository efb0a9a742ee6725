"""Effect sizes against their definitions over all pairs; intervals against what they promise."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from consilience.explain._effects import (
    corrected,
    quartiles,
    rank_effects,
    share_effects,
    superiority_interval,
)
from consilience.explain._importance import category_importance, share_explained, without_chance


def delta_over_pairs(own, rest):
    """Reference: Cliff's delta by its definition."""
    return float(np.mean(np.sign(own[:, None] - rest[None, :])))


@st.composite
def columns_with_groups(draw):
    """A column with ties and gaps, and groups, some empty, some objects in none."""
    n, k = draw(st.integers(2, 30)), draw(st.integers(1, 4))
    cell = st.one_of(st.integers(-3, 3).map(float), st.just(np.nan))
    values = draw(st.lists(cell, min_size=n, max_size=n))
    groups = draw(st.lists(st.integers(-1, k - 1), min_size=n, max_size=n))
    return np.array(values)[:, None], np.array(groups), k


@given(columns_with_groups())
def test_delta_is_that_of_all_pairs(case):
    values, groups, k = case
    found = rank_effects(values, groups, k)
    known = ~np.isnan(values[:, 0]) & (groups >= 0)
    for g in range(k):
        own = values[known & (groups == g), 0]
        rest = values[known & (groups != g), 0]
        assert found.known[g, 0] == len(own)
        if not len(own) or not len(rest):
            assert np.isnan(found.delta[g, 0])
            assert np.isnan(found.p[g, 0])
            continue
        assert found.delta[g, 0] == pytest.approx(delta_over_pairs(own, rest), abs=1e-12)
        assert -1 <= found.low[g, 0] <= found.delta[g, 0] + 1e-12
        assert found.delta[g, 0] - 1e-12 <= found.high[g, 0] <= 1
        wanted = stats.mannwhitneyu(own, rest, method="asymptotic").pvalue
        if len(np.unique(values[known])) > 1:
            assert found.p[g, 0] == pytest.approx(wanted, abs=1e-9)
        else:
            assert found.p[g, 0] == 1.0


@given(columns_with_groups())
def test_explained_is_the_anova_share_of_the_ranks(case):
    values, groups, k = case
    found = rank_effects(values, groups, k).explained[0]
    known = ~np.isnan(values[:, 0]) & (groups >= 0)
    ranks, of = stats.rankdata(values[known, 0]), groups[known]
    whole = np.sum((ranks - ranks.mean()) ** 2) if len(ranks) else 0
    if not whole:
        assert np.isnan(found)
        return
    within = sum(np.sum((ranks[of == g] - ranks[of == g].mean()) ** 2) for g in np.unique(of))
    assert found == pytest.approx(1 - within / whole, abs=1e-9)


@given(columns_with_groups(), st.randoms())
def test_no_dealing_of_the_values_explains_more_than_is_attainable(case, random):
    values, groups, k = case
    found = rank_effects(values, groups, k)
    shuffled = values[random.sample(range(len(values)), len(values))]
    shuffled = np.where(np.isnan(values), np.nan, 0) + np.where(np.isnan(shuffled), 0, shuffled)
    for one in (found, rank_effects(shuffled, groups, k)):
        if not np.isnan(one.explained[0]):
            assert one.explained[0] <= one.attainable[0] + 1e-9


def test_groups_are_taken_in_parts_without_a_difference(monkeypatch):
    rng = np.random.default_rng(0)
    values, groups = rng.integers(0, 9, (200, 3)).astype(float), rng.integers(0, 7, 200)
    whole = rank_effects(values, groups, 7)
    monkeypatch.setattr("consilience.explain._effects._CELLS", 10)
    for a, b in zip(whole, rank_effects(values, groups, 7), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


def test_variance_is_delongs_by_its_definition():
    # The wide small group makes it count: the interval grows by its ratio to the score's variance.
    rng = np.random.default_rng(3)
    own, rest = rng.normal(0, 4, 12), rng.normal(0, 1, 60)
    above = (own[:, None] > rest).mean(axis=1)
    below = (own[:, None] > rest).mean(axis=0)
    variance = above.var(ddof=1) / 12 + below.var(ddof=1) / 60
    theta = above.mean()
    low, high = superiority_interval(*(np.array([v]) for v in (theta, 12, 60, variance)))
    found = rank_effects(np.concatenate([own, rest])[:, None], np.repeat([0, 1], [12, 60]), 2)
    assert found.low[0, 0] == pytest.approx(2 * low[0] - 1)
    assert found.high[0, 0] == pytest.approx(2 * high[0] - 1)


def test_both_ends_solve_the_score_equation():
    theta, m, n = np.array([0.7, 0.2, 1.0]), np.array([10, 8, 5]), np.array([30, 9, 5])
    low, high = superiority_interval(theta, m, n, np.full(3, np.nan))
    z = stats.norm.ppf(0.975)
    for end in (low, high):
        pairs = 1 + ((m + n) / 2 - 1) * ((1 - end) / (2 - end) + end / (1 + end))
        reach = z * np.sqrt(end * (1 - end) / (m * n) * pairs)
        inner = (end > 0) & (end < 1)
        np.testing.assert_allclose(np.abs(theta - end)[inner], reach[inner], atol=1e-9)
    assert high[2] == 1.0
    assert 0.5 < low[2] < 1.0


DRAWS = {
    "alike": (lambda r, k: r.normal(0, 1, k), lambda r, k: r.normal(0, 1, k)),
    "apart": (lambda r, k: r.normal(1.5, 1, k), lambda r, k: r.normal(0, 1, k)),
    "wide": (lambda r, k: r.normal(0.5, 3, k), lambda r, k: r.normal(0, 1, k)),
    "far": (lambda r, k: r.normal(2.5, 1, k), lambda r, k: r.normal(0, 1, k)),
    "counts": (lambda r, k: r.poisson(3.0, k), lambda r, k: r.poisson(1.0, k)),
}


@pytest.mark.parametrize(("m", "n"), [(10, 100), (20, 30)])
@pytest.mark.parametrize("name", DRAWS)
def test_intervals_of_ranks_hold_what_they_promise(name, m, n):
    rng = np.random.default_rng([m, n, *name.encode()])
    own, rest = DRAWS[name]
    a, b = own(rng, 300_000).astype(float), rest(rng, 300_000).astype(float)
    truth = np.mean(np.sign(a - b))
    draws = 600
    values = np.vstack([own(rng, (m, draws)), rest(rng, (n, draws))]).astype(float)
    found = rank_effects(values, np.repeat([0, 1], [m, n]), 2)
    share = np.mean((found.low[0] <= truth) & (truth <= found.high[0]))
    # 0.92 is what docs/design.md states for groups of ten and more; less chance of 600 draws.
    assert share >= stats.binom.ppf(0.001, draws, 0.92) / draws


@given(
    st.tuples(*(st.integers(0, 12) for _ in range(4))).filter(lambda t: t[0] <= t[1] >= 1),
)
def test_shares_by_their_definitions(counts):
    a, m, c, more = counts
    n = c + more
    found = share_effects(*(np.array([v]) for v in (a, m, c, n)))
    if not n:
        assert all(np.isnan(part[0]) for part in found)
        return
    assert found.delta[0] == pytest.approx(a / m - c / n)
    assert found.low[0] <= found.delta[0] + 1e-12
    assert found.delta[0] <= found.high[0] + 1e-12
    odds = np.log((a + 0.5) / (m - a + 0.5)) - np.log((c + 0.5) / (n - c + 0.5))
    assert found.log_odds[0] == pytest.approx(odds, abs=1e-12)
    tails = [
        stats.fisher_exact([[a, m - a], [c, n - c]], alternative=way).pvalue
        for way in ("less", "greater")
    ]
    assert found.p[0] == pytest.approx(min(1, 2 * min(tails)), abs=1e-9)
    # Cliff's delta of having it as 0 and 1.
    has = np.repeat([1.0, 0, 1, 0], [a, m - a, c, n - c])
    ranks = rank_effects(has[:, None], np.repeat([0, 1], [m, n]), 2)
    assert ranks.delta[0, 0] == pytest.approx(found.delta[0], abs=1e-12)


@pytest.mark.parametrize(
    ("m", "n", "p", "q"), [(10, 90, 0.9, 0.1), (20, 40, 0.5, 0.5), (8, 99, 1, 0)]
)
def test_intervals_of_shares_hold_what_they_promise(m, n, p, q):
    rng = np.random.default_rng(5)
    a, c = rng.binomial(m, p, 4000), rng.binomial(n, q, 4000)
    found = share_effects(a, np.full(4000, m), c, np.full(4000, n))
    assert np.mean((found.low <= p - q) & (p - q <= found.high)) >= 0.93
    if 0 < p < 1:
        odds = np.log(p / (1 - p)) - np.log(q / (1 - q))
        assert np.mean((found.log_odds_low <= odds) & (odds <= found.log_odds_high)) >= 0.93


def test_correction_bounds_the_share_of_false_findings():
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(200):
        z = rng.normal(size=200)
        z[:40] += 3
        found = corrected(2 * stats.norm.sf(np.abs(z))) <= 0.05
        shares.append(found[40:].sum() / max(found.sum(), 1))
    assert np.mean(shares) <= 0.05
    assert np.mean(shares) > 0.02  # 0.05 times the share of columns with nothing in them: 0.04


def test_quartiles_know_gaps():
    values = np.array([[1.0, np.nan, np.nan], [2, 4, np.nan], [3, 6, np.nan]])
    np.testing.assert_allclose(
        quartiles(values)[:, 0], np.quantile(values[:, 0], (0.25, 0.5, 0.75))
    )
    np.testing.assert_allclose(quartiles(values)[:, 1], [4.5, 5, 5.5])
    assert np.isnan(quartiles(values)[:, 2]).all()


def test_importance_of_two_values_is_one_number_for_numbers_and_categories():
    rng = np.random.default_rng(1)
    groups, has = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    counts = np.array([[np.sum((groups == g) & (has == v)) for v in (0, 1)] for g in (0, 1)])
    ranks = rank_effects(has[:, None].astype(float), groups, 2)
    explained = share_explained(counts[:, [1]], counts.sum(axis=1))
    assert explained[0] == pytest.approx(ranks.explained[0])
    number = without_chance(ranks.explained, np.array([60]), np.array([2]))[0]
    assert ranks.attainable[0] <= 1
    assert number == pytest.approx(category_importance(counts), abs=1e-12)


def test_importance_of_chance_is_near_zero_and_of_the_groups_themselves_one():
    rng = np.random.default_rng(2)
    groups = np.repeat(np.arange(8), 6)
    noise = rank_effects(rng.normal(size=(48, 400)), groups, 8).explained
    assert noise.mean() > 0.13  # (8 - 1) / 47 by chance alone
    assert without_chance(noise, np.full(400, 48), np.full(400, 8)).mean() < 0.05
    apart = rank_effects(np.sort(rng.normal(size=(48, 5)), axis=0), groups, 8)
    np.testing.assert_allclose(apart.explained, apart.attainable)
    whole = without_chance(apart.explained, np.array(48), np.array(8), apart.attainable)
    np.testing.assert_allclose(whole, 1.0)
    same = np.eye(8, dtype=int) * 6
    assert category_importance(same) == pytest.approx(1.0)
    chance = [category_importance(rng.multinomial(6, np.full(5, 0.2), 8)) for _ in range(200)]
    assert np.mean(chance) < 0.05
