"""A view equals its result, and its cuts are one tree through the answer."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience.errors import InvalidInputError
from consilience.evidence import co_association
from consilience.explore import _cuts, view
from consilience.explore._cuts import cuts_of, only_cut, pair_sums, shares_with
from consilience.explore._maps import map_of_evidence
from consilience.explore._sent import sent
from consilience.explore._view import listed_columns
from consilience.explore._wire import unpack


@pytest.fixture(scope="module")
def shown(result):
    return view(result)


def test_a_view_has_the_numbers_of_its_result(shown, result, table):
    X, truth = table
    assert shown.kind == "consensus"
    np.testing.assert_array_equal(shown.labels, result.labels)
    np.testing.assert_array_equal(shown.confidence, result.confidence)
    np.testing.assert_array_equal(shown.runner_up, result.runner_up)
    assert list(shown.ids) == list(result.ids)
    np.testing.assert_array_equal(shown.truth.codes, truth)
    columns = listed_columns(shown.columns)
    assert [one.kind for one in columns] == ["number", "number", "number", "flag"]
    for j in range(3):
        np.testing.assert_array_equal(columns[j].values, X[:, j])
    np.testing.assert_array_equal(columns[3].values, X[:, 3])
    assert [one.name for one in shown.answers][1:] == [
        name for name in ("eac", "mcla") if name != result.method
    ]
    for answer in shown.answers[1:]:
        np.testing.assert_array_equal(answer.labels, result.comparison.labels[answer.name])
    doubtful = np.flatnonzero(result.doubtful)
    assert set(shown.torn.objects.tolist()) == set(doubtful.tolist())


def test_the_cut_of_the_answers_number_is_the_answer(shown, result):
    cuts = shown.cuts
    assert (cuts.least, cuts.default, cuts.most) == (1, 4, 20)
    np.testing.assert_array_equal(cuts.labels(4), result.labels)


def test_cuts_are_nested_and_each_has_its_number_of_groups(shown):
    cuts = shown.cuts
    before = cuts.labels(1)
    for k in range(2, cuts.most + 1):
        labels, split = cuts.labels(k), cuts.splits[k - 2]
        assert len(set(labels.tolist())) == k
        moved = labels != before
        # One group gives its new part away, and keeps its number for the larger one.
        assert set(before[moved].tolist()) == {split.group}
        assert set(labels[moved].tolist()) == {split.new}
        kept, new = (int((labels == g).sum()) for g in (split.group, split.new))
        assert split.sizes == (kept, new)
        before = labels


def test_above_the_answer_groups_are_joined_as_levels_does(shown, result):
    levels = cs.consensus.levels(
        result.ensemble, result.labels, X=result.data.X, deeper=False, random_state=0
    )
    for k in (2, 3):
        assert adjusted_rand_score(shown.cuts.labels(k), levels.at(k)) == 1.0


def test_how_often_parts_are_together_is_the_mean_over_pairs(shown, result):
    joined = co_association(result.ensemble)
    for split in shown.cuts.splits:
        labels = shown.cuts.labels(split.n_groups)
        pairs = joined[np.ix_(labels == split.group, labels == split.new)]
        assert split.together == pytest.approx(pairs.mean(), abs=1e-12)


def test_leaves_side_by_side_have_no_crossing_branches(shown):
    for row in shown.cuts.numbers:
        ordered = row[shown.cuts.order]
        runs = 1 + int((ordered[1:] != ordered[:-1]).sum())
        assert runs == len(set(ordered.tolist()))


labelings = st.integers(2, 24).flatmap(
    lambda n: st.lists(st.lists(st.integers(-2, 3), min_size=n, max_size=n), min_size=1, max_size=6)
)


@settings(deadline=None, max_examples=40)
@given(labelings, st.integers(0, 3))
def test_any_members_give_nested_cuts(members, seed):
    ensemble = cs.Ensemble(np.array(members).T)
    n = ensemble.n_objects
    labels = np.random.default_rng(seed).integers(-1, 3, n)
    known = np.unique(labels[labels >= 0])
    labels = np.where(labels >= 0, np.searchsorted(known, labels), -1).astype(np.int32)
    cuts = cuts_of(ensemble, labels, None, seed=0)
    for k in range(max(1, cuts.least), cuts.most + 1):
        found = cuts.labels(k)
        np.testing.assert_array_equal(found < 0, labels < 0)
        assert len(set(found[found >= 0].tolist())) == k
    np.testing.assert_array_equal(cuts.labels(cuts.default), labels)


@settings(deadline=None, max_examples=40)
@given(labelings)
def test_sums_of_pairs_equal_their_definition(members):
    labels = np.array(members)
    ensemble = cs.Ensemble(labels.T)
    n = labels.shape[1]
    leaf = np.arange(n) % 3
    leaf[0] = -1
    joined, seen = pair_sums(ensemble, leaf, 3)
    for a in range(3):
        for b in range(3):
            pairs = [
                (i, j, m)
                for i in np.flatnonzero(leaf == a)
                for j in np.flatnonzero(leaf == b)
                for m in range(len(labels))
                if i != j
            ]
            both = [(i, j, m) for i, j, m in pairs if labels[m, i] != -2 and labels[m, j] != -2]
            same = [1 for i, j, m in both if labels[m, i] == labels[m, j] and labels[m, i] >= 0]
            assert (joined[a, b], seen[a, b]) == (len(same), len(both))


def test_shares_with_groups_equal_their_definition(result):
    some = np.array([3, 50, 200])
    joined = co_association(result.ensemble)
    groups = result.labels.astype(np.int64)
    found = shares_with(result.ensemble, groups, 4, some)
    for row, i in enumerate(some):
        for g in range(4):
            assert found[row, g] == pytest.approx(joined[i, groups == g].mean(), abs=1e-5)


@settings(deadline=None, max_examples=40)
@given(labelings)
def test_shares_are_of_the_pairs_that_members_saw(members):
    labels = np.array(members)
    n = labels.shape[1]
    groups = np.arange(n) % 3 - 1
    shares = shares_with(cs.Ensemble(labels.T), groups, 2, np.arange(n))
    for i in range(n):
        for g in range(2):
            pairs = [(m, j) for m in range(len(labels)) for j in np.flatnonzero(groups == g)]
            both = [(m, j) for m, j in pairs if labels[m, i] != -2 and labels[m, j] != -2]
            same = [1 for m, j in both if labels[m, i] == labels[m, j] and labels[m, i] >= 0]
            assert shares[i, g] == pytest.approx(len(same) / max(len(both), 1))


def test_more_groups_than_pairs_are_looked_at_of(monkeypatch):
    monkeypatch.setattr(_cuts, "_PAIRS", 20)
    rng = np.random.default_rng(0)
    labels = np.append(np.repeat(np.arange(30), 2), -1).astype(np.int32)
    members = [np.where(rng.random(61) < 0.2, rng.integers(0, 30, 61), labels) for _ in range(5)]
    cuts = cuts_of(cs.Ensemble(members), labels, None, seed=0)
    np.testing.assert_array_equal(cuts.labels(30), labels)
    for k in range(1, cuts.most + 1):
        assert len(np.unique(cuts.labels(k)[:-1])) == k


def test_very_many_groups_keep_their_numbers():
    labels = np.arange(-1, 33_000, dtype=np.int32)
    cuts = only_cut(labels)
    np.testing.assert_array_equal(cuts.labels(33_000), labels)
    assert cuts.together.size == 0


def test_groups_that_members_agree_on_stand_apart_on_the_map_of_the_evidence():
    labels = np.repeat(np.arange(6), 30)
    rng = np.random.default_rng(0)
    members = [np.where(rng.random(180) < 0.05, rng.integers(0, 6, 180), labels) for _ in range(20)]
    places = map_of_evidence(
        cs.Ensemble(np.array(members).T), labels.astype(np.int32), seed=0
    ).places
    middles = np.stack([places[labels == g].mean(axis=0) for g in range(6)])
    spread = max(places[labels == g].std(axis=0).max() for g in range(6))
    gaps = [np.linalg.norm(middles[a] - middles[b]) for a in range(6) for b in range(a)]
    assert min(gaps) > 3 * spread


def test_both_maps_are_there_and_say_what_they_are(shown):
    assert [one.name for one in shown.maps] == ["columns", "evidence"]
    assert all(one.words and one.places.shape == (240, 2) for one in shown.maps)
    assert all(np.isfinite(one.places).all() for one in shown.maps)


def test_the_picture_of_pairs_is_the_co_association(shown, result):
    pairs = shown.pairs
    wanted = co_association(result.ensemble)[np.ix_(pairs.objects, pairs.objects)]
    np.testing.assert_array_equal(pairs.joined, np.round(255 * wanted).astype(np.uint8))


def test_some_objects_of_a_view_keep_their_numbers(shown, result):
    some = np.array([5, 17, 100, 239])
    few = shown.take(some)
    np.testing.assert_array_equal(few.labels, result.labels[some])
    np.testing.assert_array_equal(few.objects, some)
    assert (few.id_of(2), few.n_objects, few.n_all) == ("object 100", 4, 240)
    np.testing.assert_array_equal(few.cuts.labels(7), shown.cuts.labels(7)[some])
    np.testing.assert_array_equal(few.columns.numbers, shown.columns.numbers[some])


def test_what_is_sent_comes_back_as_it_was(shown, result):
    facts, arrays = unpack(sent(shown))
    np.testing.assert_array_equal(arrays["answer0"], result.labels)
    np.testing.assert_array_equal(arrays["confidence"], result.confidence)
    np.testing.assert_array_equal(arrays["column0"], shown.columns.numbers[:, 0])
    np.testing.assert_array_equal(arrays["members"], result.ensemble.members)
    assert facts["cuts"]["default"] == 4
    assert facts["members"] == {"count": 20, "sent": 20}
    assert facts["truth"] == ["0", "1", "2", "3"]


def test_only_what_there_is_room_for_is_sent(shown):
    facts, arrays = unpack(sent(shown, column_bytes=0, member_bytes=480))
    assert not any(name.startswith("column") for name in arrays)
    assert len(facts["columns"]) == 4
    assert facts["members"] == {"count": 20, "sent": 2}


def test_small_groups_have_scores_rules_and_a_truth(minority):
    shown = view(minority)
    np.testing.assert_array_equal(shown.scores.values, minority.scores)
    assert shown.scores.threshold == minority.model.threshold_
    np.testing.assert_array_equal(shown.scores.wanted, minority.truth > 0)
    assert shown.cuts.most == shown.cuts.least
    assert unpack(sent(shown))[0]["scores"]["high"] is True


def test_clusterings_without_data_have_the_map_of_the_evidence_alone(result):
    only = cs.cluster(ensemble=result.ensemble, n_clusters=4, method="eac", random_state=0)
    shown = view(only)
    assert [one.name for one in shown.maps] == ["evidence"]
    assert "without the data" in shown.missing[0]
    assert not listed_columns(shown.columns)


def test_objects_in_doubt_have_the_scores_of_their_job(result):
    found = cs.ambiguous_objects(ensemble=result.ensemble, n_clusters=4, random_state=0)
    shown = view(found)
    np.testing.assert_array_equal(shown.scores.values, found.scores)
    assert set(shown.torn.objects.tolist()) <= set(np.flatnonzero(found.flags).tolist())


def test_anything_else_is_refused():
    with pytest.raises(InvalidInputError, match="what a job returned"):
        view({"labels": [0, 1]})
