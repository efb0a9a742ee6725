"""Rules do what their words say; votes are what the members say, counted one by one."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ensembles

from consilience import Ensemble
from consilience.evidence import confidence
from consilience.explain import profile
from consilience.explain._examples import _reason
from consilience.explain._objects import Votes, closeness, votes
from consilience.explain._rules import MOST_CONDITIONS, Feature, find_rule


def holds(words, table):
    """Reference: what the words of a rule say, read by somebody who has only the words."""
    kept = np.ones(len(next(iter(table.values()))), bool)
    parts = words.split(" and ")
    assert 1 <= len(parts) <= MOST_CONDITIONS
    for part in parts:
        if found := re.fullmatch(r"(\w+) (<=|>) (\S+)", part):
            values, bound = np.asarray(table[found[1]], float), float(found[3])
            kept &= values > bound if found[2] == ">" else values <= bound
        else:
            column, no, category = re.fullmatch(r"(\w+) is (not )?(\w+)", part).groups()
            cells = np.asarray(table[column], object)
            there = np.array([cell is not None and cell == cell for cell in cells])
            same = np.array([str(cell) == category for cell in cells])
            kept &= there & (~same if no else same)
    return kept


@pytest.mark.parametrize("seed", range(8))
def test_precision_and_recall_are_those_of_the_words(seed):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(seed)
    n = 150
    groups = rng.integers(-1, 3, n)
    table = {
        "height": np.where(rng.random(n) < 0.1, np.nan, rng.normal(groups, 1)),
        "weight": rng.normal(size=n).round(1),
        "colour": np.where(rng.random(n) < 0.6, groups, rng.integers(0, 3, n)),
        "odd": rng.integers(0, 2, n) * 7.5,
    }
    table["colour"] = np.array(["red", "blue", "green", None], object)[table["colour"]]
    found = profile(pandas.DataFrame(table), groups)
    for i, g in enumerate((0, 1, 2)):
        said = holds(found.clusters["rule"][i], table)
        assert found.clusters["precision"][i] == pytest.approx((groups == g)[said].mean())
        assert found.clusters["recall"][i] == pytest.approx(said[groups == g].mean())
    assert found.clusters["rule"][3] == ""


def test_a_border_of_one_column_is_found_with_a_short_number():
    values = np.r_[np.linspace(1, 2.437, 50), np.linspace(2.614, 9, 70)]
    rule = find_rule([Feature("a", values)], np.repeat([True, False], [50, 70]))
    assert str(rule) == "a <= 2.5"
    assert (rule.precision, rule.recall, rule.f1) == (1.0, 1.0, 1.0)


def test_a_box_in_three_columns_is_found():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(4000, 3))
    inside = (X > 0.4).all(axis=1)
    rule = find_rule([Feature(name, X[:, j]) for j, name in enumerate("abc")], inside)
    assert len(rule.conditions) == 3
    assert min(rule.precision, rule.recall) > 0.99


@given(
    st.lists(
        st.sampled_from([0.1, 0.2, 0.30000000000000004, 0.3, 1e300, 5e-324, -1e-300]), min_size=2
    )
)
def test_short_numbers_part_the_values_as_the_tree_does(values):
    values = np.array(values)
    for bound in values:
        inside = values <= bound
        if inside.all():
            continue
        rule = find_rule([Feature("a", values)], inside)
        assert rule.recall == rule.precision == 1.0


def test_no_rule_where_there_is_nothing_to_tell():
    inside = np.array([True, False, True])
    assert find_rule([], inside) is None
    assert find_rule([Feature("a", np.ones(3))], inside) is None
    assert find_rule([Feature("a", np.arange(3.0))], np.ones(3, bool)) is None
    assert find_rule([Feature("a", np.full(3, np.nan))], inside) is None
    # Of a group whose values are all missing no condition holds.
    values = np.array([np.nan, np.nan, np.nan, 1, 2, 3, 4, 5, 6, 7])
    assert find_rule([Feature("a", values)], np.isnan(values)) is None


def test_rules_of_very_many_objects_are_counted_on_all(monkeypatch):
    monkeypatch.setattr("consilience.explain._rules._MOST_OBJECTS", 100)
    rng = np.random.default_rng(0)
    values = rng.normal(size=3000)
    inside = values > 1.0
    rule = find_rule([Feature("a", values)], inside)
    said = values > float(str(rule).removeprefix("a > "))
    assert rule.precision == pytest.approx(inside[said].mean())
    assert rule.recall == pytest.approx(said[inside].mean())
    assert rule.f1 > 0.9


# ---- what members say -----------------------------------------------------------------------


def said_one_by_one(ensemble, groups, k, i):
    """Reference: (votes by group, undecided, noise, unseen) of one object, member by member."""
    counts, undecided, noise, unseen = [0] * k, 0, 0, 0
    for member in ensemble:
        if member[i] == -2:
            unseen += 1
            continue
        if member[i] == -1:
            noise += 1
            continue
        shares = []
        for g in range(k):
            others = [j for j in range(len(groups)) if groups[j] == g and j != i]
            mates = [j for j in others if member[j] == member[i]]
            shares.append(len(mates) / len(others) if others else 0.0)
        alone = not any(
            member[j] == member[i] for j in range(len(groups)) if j != i and groups[j] >= 0
        )
        if groups[i] >= 0 and (groups == groups[i]).sum() == 1 and alone:
            shares[groups[i]] = 1.0
        best = max(shares)
        if best > 0 and shares.count(best) == 1:
            counts[shares.index(best)] += 1
        else:
            undecided += 1
    return counts, undecided, noise, unseen


@given(st.data())
def test_votes_are_those_counted_one_by_one(data):
    ensemble = data.draw(ensembles(max_objects=10, max_members=5))
    n, k = ensemble.n_objects, data.draw(st.integers(1, 3))
    groups = np.array(data.draw(st.lists(st.integers(-1, k - 1), min_size=n, max_size=n)))
    found = votes(ensemble, groups, k, np.arange(n))
    for i in range(n):
        wanted = said_one_by_one(ensemble, groups, k, i)
        got = (found.groups[i].tolist(), *(int(part[i]) for part in found[1:]))
        assert got == wanted
        assert sum(wanted[0]) + sum(wanted[1:]) == ensemble.n_members


@pytest.mark.parametrize(
    ("n", "words"),
    [
        (1, "1 is undecided, 1 calls it noise, 1 never saw it"),
        (2, "2 are undecided, 2 call it noise, 2 never saw it"),
    ],
)
def test_one_clustering_is_spoken_of_as_one(n, words):
    said = Votes(np.array([[5, 0]]), *(np.array([n]) for _ in range(3)))
    assert _reason(said, 0, "ab").endswith(f"cluster a, {words}")


def test_closeness_is_the_evidence_for_the_own_group():
    rng = np.random.default_rng(0)
    ensemble = Ensemble(rng.integers(0, 4, (40, 12)))
    groups = rng.integers(-1, 3, 40)
    wanted = confidence(ensemble, groups).own
    np.testing.assert_allclose(closeness(ensemble, groups, 3), wanted, atol=1e-12)
