"""The border by references: empty on noise, near the best one on planted groups, and its parts."""

import numpy as np
import pytest

from consilience.compare import auc, precision_recall_f1
from consilience.datasets import make_minority
from consilience.errors import InvalidInputError
from consilience.minority import EWOCS, _nulls
from consilience.minority._densities import Shape
from consilience.minority._neighbours import NeighbourScores, Reach
from consilience.minority._nulls import SIMPLE, box, on_grid, patches_of
from consilience.minority._reference import (
    _Compared,
    _deciding,
    _excess,
    _expected,
    _Family,
    _judged,
    _lower_half,
    _with_gap,
)
from consilience.minority.thresholds import best

FEW = {"n_repetitions": 100, "clusterer": None, "random_state": 0}


def noise(kind, rng, n=600, d=4):
    normal = rng.normal(size=(n, d))
    return {
        "uniform": rng.uniform(size=(n, d)),
        "normal": normal @ rng.normal(size=(d, d)),
        "heavy": normal / np.sqrt(rng.chisquare(3, (n, 1)) / 3),
        "skewed": np.exp(normal),
        "rounded": np.round(2 * normal),
        "shell": normal / np.linalg.norm(normal, axis=1, keepdims=True),
    }[kind]


def planted(rng, n=900, m=50, d=4, spread=0.15):
    X = rng.normal(size=(n + 2 * m, d))
    for centre, rows in ((1.0, slice(n, n + m)), (-1.0, slice(n + m, None))):
        X[rows] = centre + spread * X[rows]
    return X, np.r_[np.zeros(n, int), np.repeat([1, 2], m)]


@pytest.mark.parametrize("kind", ["uniform", "normal", "heavy", "skewed", "rounded", "shell"])
def test_noise_has_no_foreground(kind):
    model = EWOCS(**FEW).fit(noise(kind, np.random.default_rng(5)))
    assert model.n_foreground_ == 0
    assert model.flag_ == "no_groups"
    assert model.p_value_ > 0.05
    assert "no more is seen than in data without any" in model.threshold_result_.why


@pytest.mark.parametrize("score_by", ["sizes", "knn"])
def test_planted_groups_are_found_near_the_best_border(score_by):
    for seed in range(2):
        X, y = planted(np.random.default_rng(seed))
        model = EWOCS(score_by=score_by, **FEW).fit(X)
        assert model.p_value_ <= 0.05
        assert model.flag_ is None
        top = precision_recall_f1(model.scores_ >= best(model.scores_, y).value, y).f1
        assert precision_recall_f1(model.labels_, y).f1 > top - 0.08
        assert model.threshold_result_.n_foreground == model.n_foreground_


def test_on_the_data_of_the_paper_it_beats_the_published_rules():
    X, y = make_minority(3, background=0.4, foreground=0.4, random_state=3)
    f1 = {
        rule: precision_recall_f1(EWOCS(threshold=rule, **FEW).fit(X).labels_, y).f1
        for rule in ("reference", "2gauss", "dist")
    }
    assert f1["reference"] == max(f1.values())


def test_units_do_not_matter():
    X, _ = planted(np.random.default_rng(0))
    one = EWOCS(**FEW).fit(X)
    other = EWOCS(**FEW).fit(X * [1e-150, 1.0, 1e6, 1e150])
    assert np.mean(one.labels_ != other.labels_) < 0.01


def test_threads_do_not_matter():
    X, _ = planted(np.random.default_rng(0))
    one, two = (EWOCS(n_jobs=jobs, **FEW).fit(X) for jobs in (1, 2))
    np.testing.assert_array_equal(one.labels_, two.labels_)
    assert one.reference_ == two.reference_


def test_few_objects_and_other_than_tables_say_so():
    few = EWOCS(**FEW).fit(np.random.default_rng(0).normal(size=(15, 2)))
    assert (few.flag_, few.n_foreground_, few.p_value_) == ("no_reference", 0, None)
    X = np.random.default_rng(0).normal(size=(60, 2))
    matrix = EWOCS(divergence="precomputed", **FEW).fit(X @ X.T)
    assert matrix.flag_ == "no_reference"
    assert matrix.threshold_result_.method == "2gauss"


@pytest.mark.parametrize("groups", [False, True])
def test_fewer_than_two_objects_a_column_are_flagged(groups):
    """Whatever the answer, nobody knows how such a background spreads."""
    X = np.random.default_rng(0).normal(size=(150, 80))
    if groups:
        X[130:] = 0.7 + 0.2 * X[130:]
    model = EWOCS(**FEW).fit(X)
    assert (model.n_foreground_ > 0) == groups
    assert model.flag_ == "no_reference"
    words = "No reference fits these data (150 objects in 80 columns do not show"
    assert model.threshold_result_.why.startswith(words)
    assert ("so this is a guess" if groups else "nobody can tell") in model.threshold_result_.why


@pytest.mark.parametrize("score_by", ["sizes", "knn"])
def test_far_away_objects_are_background(score_by):
    X, _ = planted(np.random.default_rng(1), d=5)
    model = EWOCS(score_by=score_by, **FEW).fit(X)
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    directions = np.random.default_rng(2).normal(size=(40, 5))
    for far in (10.0, 1e3, 1e6):
        assert (model.predict(far * directions) == -1).all()
    near = 1.0 + 0.1 * np.random.default_rng(3).normal(size=(40, 5))
    assert (model.predict(near) >= 0).mean() > 0.9


def test_the_reach_is_the_longest_way_to_another_of_the_foreground():
    line = np.array([[0.0], [1.0], [3.0]])
    reach = Reach(line)
    assert reach._measured[1] == pytest.approx(2.0, rel=1e-5)
    np.testing.assert_array_equal(
        reach.holds(np.array([[-2.0], [5.0], [5.1]])), [True, True, False]
    )


def test_neighbour_scores_are_their_definition(seed):
    X = np.random.default_rng(seed).normal(size=(50, 3))
    gaps = np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))
    wanted = -np.log(np.sort(gaps, axis=1)[:, 1:8].mean(axis=1))
    found = NeighbourScores.of(X, 7)
    np.testing.assert_allclose(found.fitted(X), wanted)
    np.testing.assert_allclose(found.known(X), wanted)
    new = X[:5] + 0.1
    np.testing.assert_array_equal(found.known(new), found(new))
    far = np.sqrt(((new[:, None] - X) ** 2).sum(axis=2))
    np.testing.assert_allclose(found(new), -np.log(np.sort(far, axis=1)[:, :7].mean(axis=1)))


def test_neighbours_are_a_score_of_tables_only():
    with pytest.raises(InvalidInputError, match="needs columns"):
        EWOCS(divergence="precomputed", score_by="knn").fit(np.eye(30))


# ---- weights ------------------------------------------------------------------------------


def test_equal_weights_are_none(seed):
    X, _ = planted(np.random.default_rng(seed), n=200, m=15)
    plain = EWOCS(**FEW).fit(X)
    equal = EWOCS(**FEW).fit(X, sample_weight=np.full(len(X), 3.0))
    np.testing.assert_array_equal(plain.scores_, equal.scores_)


@pytest.mark.parametrize("weak", ["soft", "hard", "split"])
def test_weights_do_on_average_what_copies_do(weak):
    X, _ = planted(np.random.default_rng(0), n=150, m=10)
    copies = np.random.default_rng(1).integers(1, 4, len(X))
    long = {"n_repetitions": 600, "threshold": "2gauss", "clusterer": None, "random_state": 0}
    weighted = EWOCS(weak, k_max=20, scaling="none", **long).fit(X, sample_weight=copies)
    copied = EWOCS(weak, k_max=20, scaling="none", **long).fit(np.repeat(X, copies, axis=0))
    first = np.r_[0, np.cumsum(copies)[:-1]]
    assert np.corrcoef(weighted.scores_, copied.scores_[first])[0, 1] > 0.97


@pytest.mark.parametrize("score_by", ["sizes", "knn"])
def test_a_group_without_weight_is_no_group(score_by):
    X, y = planted(np.random.default_rng(0))
    weights = np.where(y == 2, 0.0, 1.0)
    scores = EWOCS(score_by=score_by, **FEW).fit(X, sample_weight=weights).scores_
    assert auc(scores[y < 2], y[y < 2] > 0) > 0.9
    plain = EWOCS(score_by=score_by, **FEW).fit(X).scores_
    rank = [np.mean(s[y == 0] < np.median(s[y == 2])) for s in (scores, plain)]
    assert rank[0] < rank[1]


@pytest.mark.parametrize("weights", [np.zeros(60), -np.ones(60), np.ones(59), np.ones((60, 2))])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ValueError, match="weight"):
        EWOCS(**FEW).fit(np.random.default_rng(0).normal(size=(60, 2)), sample_weight=weights)


# ---- the parts ----------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*SIMPLE, "patches"])
@pytest.mark.parametrize("d", [3, 80])
def test_references_have_the_middle_and_the_spread_of_the_data(name, d):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, d)) * np.linspace(1, 4, d) + 7
    family = (SIMPLE | {"patches": patches_of(X, 0)})[name]
    drawn = family(X, np.ones(len(X)), rng, 3000)
    assert drawn.shape == (3000, d)
    np.testing.assert_allclose(drawn.mean(axis=0), X.mean(axis=0), atol=0.6)
    np.testing.assert_allclose(drawn.std(axis=0), X.std(axis=0), rtol=0.2)


def test_a_box_has_the_ends_of_the_background(seed):
    """A group that reaches a little out of it does not widen it."""
    rng = np.random.default_rng(seed)
    X = np.r_[rng.uniform([-2, 5], [2, 6], (5000, 2)), rng.normal([1.9, 5.5], 0.05, (100, 2))]
    drawn = box(X, np.ones(len(X)), rng, 20_000)
    np.testing.assert_allclose(drawn.min(axis=0), [-2, 5], atol=0.06)
    np.testing.assert_allclose(drawn.max(axis=0), [2, 6], atol=0.06)
    ranks = np.sort((drawn[:, 1] - 5) / 1)
    np.testing.assert_allclose(ranks, np.linspace(0, 1, len(ranks)), atol=0.03)


def test_references_forget_objects_without_weight():
    rng = np.random.default_rng(0)
    X = np.r_[rng.normal(size=(500, 2)), 50 + rng.normal(size=(100, 2))]
    weights = np.r_[np.ones(500), np.full(100, 1e-9)]
    for family in (*SIMPLE.values(), box, patches_of(X, 0)):
        assert np.mean(family(X, weights, rng, 1000).max(axis=1) > 20) < 0.01


def test_rounded_columns_stay_rounded():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.round(rng.normal(size=200)), rng.normal(size=200), np.ones(200)])
    drawn = on_grid(X, rng.normal(size=(500, 3)))
    assert set(drawn[:, 0]) <= set(X[:, 0])
    assert set(drawn[:, 2]) == {1.0}
    assert len(np.unique(drawn[:, 1])) == 500


def test_the_lower_half_finds_the_share_of_background(seed):
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.normal(size=20_000))
    scores = np.r_[rng.normal(size=8000), 6 + rng.normal(size=2000)]
    share, misfit = _lower_half(scores, np.ones(len(scores)), drawn)
    assert share == pytest.approx(0.8, abs=0.03)
    assert misfit < 0.02


def test_the_border_is_where_f1_is_largest(seed):
    """With the true share of background the expected F1 is that of the truth, nearly."""
    rng = np.random.default_rng(seed)
    drawn = np.sort(rng.normal(size=50_000))
    truth = np.r_[np.zeros(9000, bool), np.ones(1000, bool)]
    scores = np.r_[rng.normal(size=9000), 2.5 + rng.normal(size=1000)]
    expected = _expected(scores, np.ones(len(scores)), _Compared(drawn, 0.9, 0.0))
    share = expected.best()
    right = truth[scores >= np.sort(scores)[-round(share * len(scores))]].mean()
    assert expected.precision(share) == pytest.approx(right, abs=0.05)
    cut = np.sort(scores)[-round(share * len(scores))]
    top = precision_recall_f1(scores >= best(scores, truth).value, truth).f1
    assert precision_recall_f1(scores >= cut, truth).f1 > top - 0.03


def test_no_excess_of_what_is_drawn_alike(seed):
    rng = np.random.default_rng(seed)
    drawn, scores = np.sort(rng.normal(size=5000)), rng.normal(size=2000)
    assert _excess(scores, np.ones(2000), drawn) < 0.01
    shifted = np.r_[scores, np.full(500, 5.0)]
    assert _excess(shifted, np.ones(2500), drawn) == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("excesses", "decides"),
    [
        ({"box": 0.20, "copula": 0.16, "ellipsoid": 0.15, "patches": 0.02}, "box"),
        ({"box": 0.20, "copula": 0.09, "ellipsoid": 0.15, "patches": 0.08}, "copula"),
        ({"copula": 0.09, "ellipsoid": 0.08, "patches": 0.07}, "ellipsoid"),
        ({"copula": 0.09, "ellipsoid": 0.08, "patches": 0.05}, "patches"),
        ({"box": 0.20, "patches": 0.05}, "box"),
        ({"patches": 0.05}, "patches"),
        ({}, "ellipsoid"),
    ],
)
def test_the_simplest_reference_decides_unless_others_explain_much_more(excesses, decides):
    misfits = {"box": 0.3, "copula": 0.2, "ellipsoid": 0.1, "patches": 0.2}
    compared = {name: _Compared(np.zeros(1), 1.0, misfit) for name, misfit in misfits.items()}
    assert _deciding(list(excesses), excesses, compared) == decides


def test_small_groups_in_an_even_background_are_found():
    """References fitted to all objects hold part of the groups; a box that fits does not."""
    found = 0
    for draw in range(6):
        rng = np.random.default_rng([9, draw])
        even, dense = rng.uniform(-5, 5, (600, 2)), rng.normal(0, 0.3, (60, 2))
        X = np.concatenate([even, dense + rng.uniform(-3, 3, 2)])
        inside = EWOCS(n_repetitions=50, random_state=0).fit(X).labels_ >= 0
        found += inside[600:].sum() > 30 > inside[:600].sum()
    assert found >= 4


def test_the_test_asks_references_fitted_to_all_objects():
    """What stands out only from a reference that left it out is not evidence."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=2000)
    all_of_them = _Compared(np.sort(rng.normal(size=10_000)), 1.0, 0.0)
    without_top = _Compared(np.sort(np.minimum(all_of_them.scores, 1.0)), 0.9, 0.0)
    shifted = _Compared(all_of_them.scores - 1.0, 0.8, 0.0)
    own = np.ones(len(scores))
    for last in (without_top, shifted):
        found = _judged(scores, own, {"copula": _Family(all_of_them, last)}, 2, rng)
        assert found.p_value > 0.05
        assert found.excess < 0.02
        found = _judged(scores, own, {"copula": _Family(last, all_of_them)}, 2, rng)
        assert found.p_value == 1 / 200


@pytest.mark.parametrize(
    ("gap", "gap_share", "fits", "decides"),
    [
        (1.6, 0.13, True, True),
        (1.4, 0.13, True, False),
        (1.4, 0.13, False, True),
        (9.0, 0.11, True, False),  # nearly the same border
        (9.0, 0.04, True, False),  # a gap between groups
        (9.0, 0.04, False, True),
        (1.0, 0.0, False, False),
    ],
)
def test_a_clear_gap_decides_where_it_contradicts_a_reference(gap, gap_share, fits, decides):
    share, by_gap = _with_gap(0.1, Shape(gap, gap_share, separate=True), fits)
    assert by_gap == decides
    assert share == (gap_share if decides else 0.1)


def test_what_is_dense_without_being_separate_is_no_group():
    """Evidence against references is not enough; a box, which has no slope, needs no more."""
    rng = np.random.default_rng(0)
    scores, own = np.r_[rng.normal(size=900), rng.normal(6, 1, 100)], np.ones(1000)
    plain = _Compared(np.sort(rng.normal(size=10_000)), 0.9, 0.0)
    for name, separate in (("copula", False), ("box", True)):
        families = {name: _Family(plain, plain)}
        found = _judged(scores, own, families, 2, rng, Shape(1.0, 0.0, separate=False))
        assert found.p_value <= 0.05
        assert found.separate == separate
        assert not found.uncertain


@pytest.mark.parametrize(
    ("gap", "name", "uncertain"),
    [(1.0, "copula", True), (1.4, "copula", False), (1.0, "box", False)],
)
def test_a_border_that_nothing_marks_is_uncertain(gap, name, uncertain):
    rng = np.random.default_rng(0)
    scores, own = np.r_[rng.normal(size=900), rng.normal(2, 1, 100)], np.ones(1000)
    plain = _Compared(np.sort(rng.normal(size=10_000)), 0.9, 0.0)
    families = {name: _Family(plain, plain)}
    share = _judged(scores, own, families, 2, rng).share
    found = _judged(scores, own, families, 2, rng, Shape(gap, share, separate=True))
    assert found.precision < 0.9
    assert found.uncertain == uncertain


@pytest.mark.parametrize(("far", "parts"), [(2, 1), (3, 1), (4, 2), (9, 2)])
def test_a_patch_has_two_objects_more_than_columns_at_least(far, parts, seed):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.normal(size=(100, 2)), rng.normal(500, 0.1, (far, 2))]
    labels = _nulls._components(X, seed)
    assert len(np.unique(labels)) == parts
    assert len(np.unique(labels[100:])) == 1
    assert (labels[0] == labels[-1]) == (parts == 1)
