"""How clear groups are, part by part: bounds of verdicts, and what reference tables are."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from consilience.consensus import _clarity
from consilience.consensus._clarity import _Borders, _Seen, _Shown
from consilience.consensus._support import Borders

HALVES = np.repeat([0, 1], 10).astype(np.int32)


@pytest.mark.parametrize(
    ("p", "enough", "agreement", "verdict"),
    [
        (0.05, True, 0.5, "clear"),
        (0.0501, True, 1.0, "none"),
        (0.05, False, 1.0, "weak"),
        (0.05, True, 0.499, "weak"),
        (0.5, False, 0.0, "none"),
    ],
)
def test_verdicts_have_bounds(p, enough, agreement, verdict):
    assert _clarity._verdict(p, enough, agreement) == verdict


@pytest.mark.parametrize(
    ("k", "sparsity", "agreement", "verdict"),
    [
        (2, 0.2, 0.5, "clear"),
        (2, 0.199, 0.5, "weak"),
        (2, 0.2, 0.499, "weak"),
        (1, 0.2, 0.5, "none"),
    ],
)
def test_without_data_borders_and_agreement_decide(k, sparsity, agreement, verdict, monkeypatch):
    monkeypatch.setattr(_clarity, "border_sparsity", lambda *_: Borders(sparsity, 0.0))
    labels = (np.arange(12) % k).astype(np.int32)
    found = _clarity.judge(
        None, np.zeros((12, 12)), labels, agreement, n_objects=9, rng=np.random.RandomState(0)
    )
    assert found.verdict == verdict
    assert (found.p_value, found.n_references, found.n_objects) == (None, 0, 9)
    assert (found.sparsity, found.expected, found.agreement) == (sparsity, 0.0, agreement)
    assert (found.valley, found.expected_valley) == (None, None)


def test_copies_are_looked_at_once():
    points = np.random.default_rng(0).normal(size=(12, 2))[np.arange(30) % 12]
    labels = (points[:, 0] > 0).astype(np.int32)
    found = _clarity.judge(
        points, cdist(points, points), labels, 1.0, n_objects=30, rng=np.random.RandomState(0)
    )
    assert found.n_objects == 12
    alone = _clarity.border_sparsity(labels[:12], *_clarity.reach(cdist(points[:12], points[:12])))
    assert found.sparsity == pytest.approx(alone.mean)


@pytest.mark.parametrize(
    ("verdict", "given", "agreement", "said"),
    [
        ("none", True, 0.9, "Another number of groups may be clearer."),
        ("none", False, 0.9, "No clear structure"),
        ("weak", True, 0.5, "(p = 0.04, 99 reference tables of each kind), but by little."),
        ("weak", False, 0.49, "but ways to cluster disagree."),
        ("clear", True, 0.9, "They are clear: the borders are sparser than in data"),
    ],
)
def test_groups_that_were_given_may_not_be_the_clearest(verdict, given, agreement, said):
    clarity = _clarity.Clarity(verdict, 0.04, 99, 50, 0.5, 0.1, agreement)
    assert said in clarity.said(given=given)
    assert (clarity.words == clarity.said(given=given)) == (verdict != "none" or not given)


def test_what_most_objects_doubt_is_no_more_than_weak():
    clear = _clarity.Clarity("clear", 0.04, 99, 50, 0.5, 0.1, 0.9, 0.7, 0.2, "both")
    found = _clarity.doubted(clear)
    assert found.words.endswith(", but most objects are doubtful.")
    assert (found.verdict, found.p_value, found.valley, found.seen_by) == (
        "weak",
        0.04,
        0.7,
        "both",
    )
    weak = _clarity.Clarity("weak", 0.04, 99, 50, 0.5, 0.1, 0.9)
    assert _clarity.doubted(weak) is weak


def judged(monkeypatch, shown=None, columns=1, k=2, p=0.03, enough=True, stands_out=(True, False)):
    """The verdict about groups whose borders and permuted columns show what is told here."""
    seen = _Borders(p, enough, 0.7, (0.1, 0.2), stands_out)

    def borders(points, distances, labels, _):
        np.testing.assert_allclose(cdist(points, points), distances)
        assert len(labels) == len(points)
        return seen

    def beside(points, labels, atoms, _):
        assert points.shape == (len(labels), columns)
        assert [one.tolist() for one in atoms] == [[0]]
        return shown

    monkeypatch.setattr(_clarity, "_borders", borders)
    monkeypatch.setattr(_clarity, "sources", lambda _: [] if shown is None else [np.arange(1)])
    monkeypatch.setattr(_clarity, "_beside_permuted", beside)
    points = np.random.default_rng(0).normal(size=(22, columns))
    return _clarity.judge(
        points, cdist(points, points), (np.arange(22) % k).astype(np.int32), 0.9,
        n_objects=30, rng=np.random.RandomState(0),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("stands_out", "seen_by"),
    [
        ((True, True), "both"),
        ((True, False), "borders"),
        ((False, True), "valleys"),
        ((False, False), ""),
    ],
)
def test_what_stands_out_is_named(stands_out, seen_by, monkeypatch):
    found = judged(monkeypatch, stands_out=stands_out)
    assert (found.verdict, found.p_value, found.seen_by) == ("clear", 0.03, seen_by)
    assert (found.expected, found.expected_valley, found.valley) == (0.1, 0.2, 0.7)
    assert (found.n_references, found.n_objects) == (_clarity.REFERENCES, 22)


@pytest.mark.parametrize(
    ("shown", "options", "expected"),
    [
        # Some columns have atoms: both must show it, the worse p-value counts.
        (_Shown(0.04, True, False, False), {}, ("clear", 0.04)),
        (_Shown(0.01, True, False, False), {}, ("clear", 0.03)),
        (_Shown(0.2, True, False, False), {}, ("none", 0.2)),
        (_Shown(0.01, False, False, False), {}, ("weak", 0.03)),
        (_Shown(0.01, True, False, False), {"enough": False}, ("weak", 0.03)),
        # Much of it is enough by itself, and so are a few rows that say all.
        (_Shown(0.01, True, True, False), {"enough": False}, ("clear", 0.03)),
        (_Shown(0.01, True, False, True), {"enough": False, "p": 0.9}, ("clear", 0.01)),
        (_Shown(0.01, True, False, True), {"enough": False, "k": 10}, ("clear", 0.01)),
        (_Shown(0.01, True, False, True), {"enough": False, "k": 11}, ("weak", 0.03)),
        # The only column has atoms: borders are all there is.
        (_Shown(0.9, False, False, True), {"columns": 1}, ("clear", 0.03)),
    ],
)
def test_columns_with_atoms_must_show_it_too(shown, options, expected, monkeypatch):
    found = judged(monkeypatch, shown, **{"columns": 2} | options)
    assert (found.verdict, found.p_value) == expected
    alone = shown.all_told and options.get("k", 2) <= 10 and "columns" not in options
    assert found.seen_by == ("columns" if alone else "borders")


@pytest.mark.parametrize(
    ("each", "sparsity", "valley", "columns", "enough"),
    [
        ((0.05, 1.0), 0.5, 0.0, 1.0, True),
        ((0.051, 1.0), 9.0, 0.0, 1.0, False),
        ((0.05, 1.0), 0.5 - 2**-10, 0.0, 1.0, False),
        ((0.05, 1.0), 0.25, 0.0, 2.0, True),
        ((0.05, 1.0), 0.25, 0.0, 1.99, False),
        ((0.05, 1.0), 0.1015625, 0.0, 9.0, True),  # five columns at most
        ((0.05, 1.0), 0.09375, 0.0, 9.0, False),
        ((1.0, 0.05), 0.0, 0.55, 1.0, True),
        ((1.0, 0.051), 0.0, 9.0, 1.0, False),
        ((1.0, 0.05), 0.0, 0.549, 1.0, False),
        ((1.0, 0.05), 9.0, 0.549, 1.0, False),
        ((0.05, 1.0), 0.0, 9.0, 1.0, False),
    ],
)
def test_borders_or_valleys_must_stand_out_by_enough(
    each, sparsity, valley, columns, enough, monkeypatch
):
    """Expected is a sparsity of 0.25: a half more counts, times the columns."""
    monkeypatch.setattr(_clarity, "_DROP", 0.5)
    monkeypatch.setattr(_clarity, "border_sparsity", lambda *_: Borders(sparsity + 0.25, 0.0))
    monkeypatch.setattr(_clarity, "valleys", lambda *_: valley)
    monkeypatch.setattr(_clarity, "_kinds", lambda _: ["one", "two"])
    monkeypatch.setattr(_clarity, "_references", lambda kind, k, _: (kind, k))
    monkeypatch.setattr(_clarity, "_columns_in_effect", lambda _: columns)

    def against(seen, chance):
        assert seen == (sparsity + 0.25, valley)
        assert chance == [("one", 2), ("two", 2)]
        return _Seen(0.5, each, (0.25, 0.3))

    monkeypatch.setattr(_clarity, "_against", against)
    points = np.random.default_rng(0).normal(size=(20, 2))
    found = _clarity._borders(points, cdist(points, points), HALVES, np.random.RandomState(0))
    assert found.enough == enough
    assert (found.p_value, found.valley, found.expected) == (0.5, valley, (0.25, 0.3))
    assert found.stands_out == (each[0] <= 0.05, each[1] <= 0.05)


def test_p_values_count_the_data_among_the_tables(seed):
    rng = np.random.default_rng(seed)
    units = np.array([0.1, 10.0])
    chance = [rng.normal(size=(9, 2)) * units, (rng.normal(size=(9, 2)) + 0.5) * units]
    chance[0][3, 0] = 0.15  # a tie
    seen = (0.15, 2.0)
    found = _clarity._against(seen, chance)
    both, each = [], []
    for kind in chance:
        every = [seen, *kind.tolist()]
        units = [(np.mean(c), np.std(c)) for c in zip(*every, strict=True)]
        most = [max((x - m) / s for x, (m, s) in zip(row, units, strict=True)) for row in every]
        both.append(sum(x >= most[0] for x in most) / 10)
        each.append([sum(row[c] >= seen[c] for row in every) / 10 for c in (0, 1)])
    assert found.p_value == max(both)
    assert found.each == tuple(np.max(each, axis=0))
    np.testing.assert_allclose(
        found.expected, np.max([kind.mean(axis=0) for kind in chance], axis=0)
    )


def test_tables_that_are_all_alike_show_nothing():
    found = _clarity._against((1.0, 1.0), [np.ones((4, 2))])
    assert (found.p_value, found.each) == (1.0, (1.0, 1.0))


@pytest.mark.parametrize(
    ("own", "chance", "expected"),
    [
        # p-value, enough, much, all told; of 19 tables without groups.
        (0.75, [0.5] * 19, (0.05, True, True, False)),
        (0.625, [0.5] * 19, (0.05, True, True, False)),
        (0.624, [0.5] * 19, (0.05, True, False, False)),
        (0.5625, [0.5] * 19, (0.05, True, False, False)),
        (0.5624, [0.5] * 19, (0.05, False, False, False)),
        (0.75, [0.5] * 18 + [0.75], (0.1, False, False, False)),
        (0.75, [0.5] * 18 + [0.75 - 5e-10], (0.1, False, False, False)),
        (0.75, [0.5] * 18 + [0.75 - 1e-9], (0.1, False, False, False)),
        (0.75, [0.5] * 18 + [0.75 - 1.5e-9], (0.05, True, True, False)),
        (1.0, [1.0] * 19, (1.0, False, False, True)),
        (1.0, [0.5] * 19, (0.05, True, True, True)),
        (1 - 5e-10, [0.5] * 19, (0.05, True, True, True)),
        (1 - 1e-9, [0.5] * 19, (0.05, True, True, False)),
        (1 - 1.5e-9, [0.5] * 19, (0.05, True, True, False)),
    ],
)
def test_groups_must_say_more_than_groups_of_permuted_columns(own, chance, expected, monkeypatch):
    drawn, points = iter(chance), np.repeat([0.0, 1.0], 10)[:, None]
    # Shares of two that can be told exactly.
    monkeypatch.setattr(_clarity, "_TOLD", 0.125)

    def most(table, k, _):
        assert (k, sorted(table.ravel())) == (2, points.ravel().tolist())
        return next(drawn)

    def told(table, labels):
        assert table is points
        assert labels is HALVES
        return own

    monkeypatch.setattr(_clarity, "REFERENCES", 19)
    monkeypatch.setattr(_clarity, "_most_told", most)
    monkeypatch.setattr(_clarity, "told", told)
    found = _clarity._beside_permuted(points, HALVES, [np.array([0])], np.random.RandomState(0))
    assert found == pytest.approx(expected)


@pytest.mark.parametrize(
    ("own", "seen", "expected"),
    [
        # What the other columns show by themselves no others can take away.
        (0.5, (0.01, True), (0.01, True, False, False)),
        (0.5, (0.3, False), (0.3, False, False, False)),
        (0.501, (0.3, True), (0.05, True, False, False)),
        (0.501, (0.02, False), (0.02, False, False, False)),
        (0.9, (0.01, False), (0.05, True, True, False)),
    ],
)
def test_columns_of_numbers_may_show_it_alone(own, seen, expected, monkeypatch):
    rng = np.random.default_rng(0)
    points = np.column_stack([np.repeat([0.0, 1.0], 10), rng.normal(size=(20, 2))])
    asked = []

    def borders(others, distances, labels, _):
        asked.append(1)
        np.testing.assert_array_equal(others, points[:, 1:])
        np.testing.assert_allclose(distances, cdist(others, others), atol=1e-12)
        np.testing.assert_array_equal(labels, HALVES)
        return SimpleNamespace(p_value=seen[0], enough=seen[1])

    monkeypatch.setattr(_clarity, "REFERENCES", 19)
    monkeypatch.setattr(_clarity, "_most_told", lambda *_: 0.5)
    monkeypatch.setattr(_clarity, "told", lambda *_: own)
    monkeypatch.setattr(_clarity, "_borders", borders)
    found = _clarity._beside_permuted(points, HALVES, [np.array([0])], np.random.RandomState(0))
    assert found == pytest.approx(expected)
    assert bool(asked) == (own < 0.9)


def test_columns_with_atoms_are_permuted_and_the_others_drawn_together():
    rng = np.random.default_rng(0)
    points = np.column_stack([np.repeat([0.0, 1.0], 10), rng.normal(size=(20, 2))])
    kept, rest, widths = points.copy(), np.array([1, 2]), np.array([0.5, 0.25])
    table = _clarity._permuted(points, [np.array([0])], rest, widths, np.random.RandomState(3))
    again = np.random.RandomState(3)
    drawn = _clarity._same_columns(points[:, rest], widths, again)
    np.testing.assert_array_equal(table[:, rest], drawn)
    np.testing.assert_array_equal(table[:, 0], points[again.permutation(20), 0])
    np.testing.assert_array_equal(points, kept)
    none = np.array([], int)
    table = _clarity._permuted(points[:, :1], [np.array([0])], none, none, np.random.RandomState(3))
    assert sorted(table[:, 0]) == sorted(points[:, 0])


def test_columns_in_effect_are_levina_and_bickels(seed):
    X = np.random.default_rng(seed).normal(size=(30, 3))
    inverse = []
    for row in cdist(X, X):
        near = np.sort(row)[1:11]
        # The mean over 8 is the estimate without bias.
        inverse.append(sum(np.log(near[9] / near[j]) for j in range(9)) / 8)
    assert _clarity._columns_in_effect(cdist(X, X)) == pytest.approx(1 / np.mean(inverse))
    few = cdist(X[:4], X[:4])
    inverse = [sum(np.log(np.sort(row)[3] / np.sort(row)[j]) for j in (1, 2)) for row in few]
    assert _clarity._columns_in_effect(few) == pytest.approx(1 / np.mean(inverse))
    assert _clarity._columns_in_effect(few[:3, :3]) == 1.0


def test_copies_and_equal_distances_have_columns_too():
    # Everybody is as far: there are as many directions as one likes.
    assert _clarity._columns_in_effect(1.0 - np.eye(12)) == pytest.approx(1e9)
    assert _clarity._columns_in_effect(np.zeros((12, 12))) == pytest.approx(1e9)
    place = np.repeat([0.0, 1.0], 3)[:, None]
    distances = cdist(place, place)
    # Two copies, at a thousand millionth of the longest distance, among five neighbours.
    for unit in (1.0, 1000.0):
        found = _clarity._columns_in_effect(unit * distances)
        assert found == pytest.approx(3 / (2 * np.log(1e9)))
