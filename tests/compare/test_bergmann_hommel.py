"""Adjusted p-values: published figures, enumeration, and the order of the three procedures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from consilience.compare import adjust, bergmann_hommel, ranks, ranks_from_means
from consilience.compare._exhaustive import (
    _CliqueGraph,
    _partitions,
    by_cliques,
    by_listing,
    possible_true_counts,
)
from consilience.errors import InvalidInputError, InvalidParameterError

BELL = [1, 1, 2, 5, 15, 52, 203, 877, 4140, 21147]


def tables_of_p(seed, m, kind):
    """P-values of random ranks, of anything, or with many ties."""
    rng = np.random.default_rng(seed)
    if kind == "ranks":
        spread = rng.choice([0.0, 0.2, 1.0])
        table = rng.normal(size=(12, m)) + spread * np.arange(m)
        means = stats.rankdata(table, axis=1).mean(axis=0)
        return ranks_from_means(means, 12).p
    p = rng.random((m, m)) ** rng.choice([1, 4, 9])
    p = np.triu(np.round(p, 1) if kind == "ties" else p, 1)
    return p + p.T + np.eye(m)


KINDS = st.sampled_from(["ranks", "anything", "ties"])


@given(st.integers(0, 2**31), st.integers(2, 7), KINDS)
@settings(max_examples=40)
def test_cliques_equal_enumeration(seed, m, kind):
    p = tables_of_p(seed, m, kind)
    np.testing.assert_allclose(by_cliques(p), np.minimum(by_listing(p), 1), rtol=1e-12)


@pytest.mark.parametrize("kind", ["ranks", "anything"])
@pytest.mark.parametrize("m", [8, 9])
def test_cliques_equal_enumeration_up_to_nine_methods(m, kind, seed):
    p = tables_of_p(seed, m, kind)
    np.testing.assert_allclose(by_cliques(p), np.minimum(by_listing(p), 1), rtol=1e-12)


@pytest.mark.parametrize("m", range(2, 8))
def test_enumeration_sees_every_partition(m):
    # With all p equal to 1 the value of a set is its size; the largest is the set of all.
    assert by_listing(np.ones((m, m)))[0, 1] == m * (m - 1) / 2
    seen = {tuple(blocks) for blocks in _partitions(m)}
    assert len(seen) == BELL[m]


@given(st.integers(0, 2**31), st.integers(2, 9), KINDS)
@settings(max_examples=40)
def test_sharper_procedures_never_find_less(seed, m, kind):
    p = tables_of_p(seed, m, kind)
    sharp, middle, plain = (adjust(p, name) for name in ("bergmann-hommel", "shaffer", "holm"))
    assert (sharp <= middle * (1 + 1e-12)).all()
    assert (middle <= plain * (1 + 1e-12)).all()
    upper = np.triu_indices(m, 1)
    for adjusted in (sharp, middle, plain):
        np.testing.assert_array_equal(adjusted, adjusted.T)
        assert (adjusted >= p * (1 - 1e-12)).all()
        assert (adjusted <= 1).all()
        raw, values = p[upper], adjusted[upper]
        smaller = raw[:, None] < raw
        assert (values[:, None] <= values)[smaller].all()


@given(st.integers(0, 2**31), st.integers(2, 7), KINDS, st.randoms())
@settings(max_examples=30)
def test_order_of_methods_does_not_matter(seed, m, kind, random):
    p = tables_of_p(seed, m, kind)
    places = list(range(m))
    random.shuffle(places)
    moved = np.ix_(places, places)
    for name in ("bergmann-hommel", "shaffer", "holm"):
        np.testing.assert_allclose(adjust(p[moved], name), adjust(p, name)[moved], rtol=1e-12)


def test_demsar_s_example():
    found = bergmann_hommel(ranks_from_means([2.100, 3.250, 2.200, 4.333, 3.117], 30))
    adjusted = [pair.adjusted for pair in found.pairs()]
    wanted = [4.5e-7, 1.05e-6, 0.0116, 0.0291, 0.0319, 0.0319, 0.0382, 0.0382, 1, 1]
    assert adjusted == pytest.approx(wanted, rel=6e-3)
    assert found.procedure == "bergmann-hommel"
    # Before the values are made monotone the sixth is smaller.
    p = found.ranks.p
    own = np.sort(by_cliques(p)[np.triu_indices(5, 1)])
    assert own[3:6] == pytest.approx([0.0291, 0.0303, 0.0319], rel=2e-3)


@given(st.integers(0, 2**31))
@settings(max_examples=20)
def test_holm_is_its_textbook_self(seed):
    p = tables_of_p(seed, 5, "anything")
    upper = np.triu_indices(5, 1)
    raw = p[upper]
    wanted = np.empty(10)
    largest = 0.0
    for place, i in enumerate(np.argsort(raw)):
        largest = max(largest, (10 - place) * raw[i])
        wanted[i] = min(largest, 1)
    np.testing.assert_allclose(adjust(p, "holm")[upper], wanted)


def test_possible_numbers_of_true_pairs():
    # Shaffer (1986): of five means 0, 1, 2, 3, 4, 6 or 10 pairs can be equal.
    assert possible_true_counts(5) == [0, 1, 2, 3, 4, 6, 10]
    for m in (2, 3, 4, 6):
        counts = {int(((blocks[:, None] == blocks).sum() - m) / 2) for blocks in _partitions(m)}
        assert possible_true_counts(m) == sorted(counts)


def test_three_methods_by_hand():
    p = np.array([[1, 0.01, 0.04], [0.01, 1, 0.2], [0.04, 0.2, 1]])
    # Exhaustive: each pair alone, and all three (3 x 0.01).
    np.testing.assert_allclose(adjust(p)[[0, 0, 1], [1, 2, 2]], [0.03, 0.04, 0.2])
    np.testing.assert_allclose(adjust(p, "holm")[[0, 0, 1], [1, 2, 2]], [0.03, 0.08, 0.2])


def test_no_claim_without_a_difference_as_a_whole(seed):
    # Ten noisy equals and one pair far apart would be significant alone.
    rng = np.random.default_rng(seed)
    table = rng.normal(size=(30, 6))
    found = bergmann_hommel(table, alpha=1e-12)
    assert not found.different.any()
    assert "no pair is said to differ" in found.why
    clear = bergmann_hommel(rng.normal(size=(30, 4)) + 9 * np.arange(4), names="abcd")
    assert clear.different.sum() == 12
    assert clear.pairs()[0][:2] == ("d", "a")
    assert "methods differ" in clear.why


def test_many_methods_say_which_procedure(monkeypatch, seed):
    table = np.random.default_rng(seed).normal(size=(20, 5)) + np.arange(5)
    # The function stands in the package under the name of its module.
    monkeypatch.setitem(bergmann_hommel.__globals__, "MOST_EXACT", 4)
    found = bergmann_hommel(table)
    assert found.procedure == "shaffer"
    assert "not attempted above 4 methods; here are 5" in found.why
    np.testing.assert_array_equal(found.adjusted, adjust(ranks(table).p, "shaffer"))
    assert bergmann_hommel(table, procedure="bergmann-hommel").procedure == "bergmann-hommel"
    assert "Holm's" in bergmann_hommel(table, procedure="holm").why


def test_fourteen_methods_are_exact(seed):
    # Far beyond enumeration (190,899,322 partitions); compared with the bounds around it.
    p = tables_of_p(seed, 14, "ranks")
    sharp, middle = adjust(p), adjust(p, "shaffer")
    assert (sharp <= middle * (1 + 1e-12)).all()
    np.testing.assert_allclose(sharp[p == p.min()], min(91 * p.min(), 1))


@pytest.mark.parametrize(
    "p", [np.ones(3), np.ones((2, 3)), np.ones((1, 1)), [[1, 2], [2, 1]], [[1, 0.1], [0.2, 1]]]
)
def test_tables_that_are_no_p_values(p):
    with pytest.raises(InvalidInputError, match="p-values"):
        adjust(p)


def test_nan_and_parameters_are_refused():
    with pytest.raises(InvalidInputError, match="between 0 and 1"):
        adjust([[1, np.nan], [np.nan, 1]])
    with pytest.raises(InvalidParameterError, match="'procedure' parameter of adjust"):
        adjust(np.ones((2, 2)), "auto")
    with pytest.raises(InvalidParameterError, match="'alpha' parameter of bergmann_hommel"):
        bergmann_hommel(np.ones((12, 2)), alpha=0)
    with pytest.raises(InvalidParameterError, match="'procedure' parameter of bergmann_hommel"):
        bergmann_hommel(np.ones((12, 2)), procedure="tukey")


def test_every_maximal_clique_is_met_once(seed):
    rng = np.random.default_rng(seed)
    for m in range(1, 8):
        joined = np.triu(rng.random((m, m)) < 0.6, 1)
        joined |= joined.T
        masks = [sum(1 << int(v) for v in np.flatnonzero(row)) for row in joined]
        cliques = [
            mask
            for mask in range(1, 1 << m)
            if all(masks[v] & mask == mask & ~(1 << v) for v in range(m) if mask >> v & 1)
        ]
        maximal = [a for a in cliques if not any(a != b and a & b == a for b in cliques)]
        found = list(_CliqueGraph(masks)._maximal_cliques((1 << m) - 1))
        assert sorted(found) == maximal


def test_no_method_differs_from_itself():
    table = np.random.default_rng(0).normal(size=(30, 4)) + np.arange(4)
    for alpha in (0.05, 1.0):
        found = bergmann_hommel(table, alpha=alpha)
        assert found.different.any()
        assert not found.different.diagonal().any()
