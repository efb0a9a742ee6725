"""Tables of numbers and categories with gaps: how they are read, weighed and made points."""

import numpy as np
import pytest

from consilience.datasets import make_mixed, read_like, read_table
from consilience.datasets._association import LEAST_WEIGHT, association_weights
from consilience.datasets._mixed import mixed_of
from consilience.datasets._points import Points, points_with_gaps
from consilience.datasets._transform import transformed
from consilience.errors import ConsilienceError

CSV = """id,age,stage,hue
a1,30,II,red
a2,,I,blue
a3,50,III,
a4,60,II,grey
a5,41,I,red
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text(CSV)
    return path


@pytest.mark.filterwarnings("ignore")
def test_gaps_orders_and_categories_of_a_file(file):
    order = {"stage": ["I", "II", "III"]}
    table = read_table(file, id_column="id", impute="keep", encode="mixed", ordinal=order)
    assert table.columns == ("age", "stage", "hue=red", "hue=blue", "hue=grey")
    mixed = mixed_of(table.X, table.sources, table.recipe)
    assert mixed.names == ("age", "stage", "hue")
    assert mixed.categorical == (2,)
    nan = np.nan
    wanted = [[30, 1, 0], [nan, 0, 1], [50, 2, nan], [60, 1, 2], [41, 0, 0]]
    np.testing.assert_array_equal(mixed.values, wanted)
    again = read_like(file, table.recipe)
    np.testing.assert_array_equal(again.X, table.X)


@pytest.mark.filterwarnings("ignore")
def test_an_object_of_which_nothing_is_known_is_left_out_and_said(tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("x,y\n1,2\n,\n3,\n")
    with pytest.warns(UserWarning, match="1 row of 'few.csv' has no value in any column"):
        table = read_table(path, impute="keep")
    assert table.left_out.tolist() == [1]
    assert len(table.X) == 2


@pytest.mark.parametrize(
    ("order", "message"),
    [
        ({"stage": ["I", "II"]}, "has 'III', which the order .* does not name"),
        ({"height": ["low", "high"]}, "no column of data 'height'"),
        ({"stage": ["I", "I"]}, "'ordinal' parameter of read_table"),
        (["stage"], "'ordinal' parameter of read_table"),
    ],
)
def test_orders_that_cannot_be_are_refused(file, order, message):
    with pytest.raises(ConsilienceError, match=message):
        read_table(file, id_column="id", impute="keep", encode="mixed", ordinal=order)


def test_categories_that_know_nothing_weigh_little(seed):
    sample = make_mixed(random_state=seed)
    table = np.column_stack([sample.numbers, sample.categories])
    weights = association_weights(table, list(range(2, 24)))
    assert (weights[:2] == 1).all()
    assert weights[2:4].min() > 0.6
    assert np.median(weights[4:]) == LEAST_WEIGHT
    assert weights[4:].mean() < 0.2
    # Neither names of categories nor the order of the columns have a say.
    turned = table[:, ::-1].copy()
    turned[:, 5] = 7 - turned[:, 5]
    again = association_weights(turned, list(range(22)))[::-1]
    np.testing.assert_allclose(again, weights)


def test_points_of_complete_numbers_are_standardised_and_gaps_are_near_their_neighbours():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.1, (40, 3)) for c in (0.0, 5.0)])
    names = ("a", "b", "c")
    whole, _, _, made = points_with_gaps(X, names, sources=names, weights=np.ones(3))
    np.testing.assert_allclose(whole, (X - X.mean(0)) / X.std(0))
    np.testing.assert_array_equal(made.applied(X[:7]), whole[:7])
    X[3, 0] = X[60, 1] = np.nan
    filled, _, _, made = points_with_gaps(X, names, sources=names, weights=np.ones(3))
    assert np.isfinite(filled).all()
    assert abs(filled[3, 0] - whole[3, 0]) < 0.2
    assert abs(filled[60, 1] - whole[60, 1]) < 0.2
    np.testing.assert_array_equal(made.applied(X), filled)


def test_numbers_beside_split_categories_are_scaled_in_any_unit(seed):
    rng = np.random.default_rng(seed)
    kinds = np.eye(3)[rng.integers(0, 3, 30)] * np.sqrt(0.5)
    X = np.column_stack([rng.normal(size=(30, 2)), kinds])
    X[4, 0] = np.nan
    names = ("a", "b", "k=0", "k=1", "k=2")
    how = {"sources": ("a", "b", "k", "k", "k"), "weights": np.array([1.0, 0.5, 0.7])}
    wanted = points_with_gaps(X, names, **how)[0]
    moved = points_with_gaps(X * [1e200, 1e-200, 1, 1, 1], names, **how)[0]
    np.testing.assert_allclose(moved, wanted, atol=1e-12)
    np.testing.assert_allclose(wanted[:, 2:].var(axis=0).sum(), 0.7**2)


def test_only_objects_that_have_something_in_common_fill_a_gap():
    reference = np.full((100, 2), np.nan)
    reference[:5, 0] = np.arange(5)
    reference[:5, 1] = 10.0
    reference[5:, 1] = 0.0
    made = Points(np.arange(2), np.zeros(2), np.ones(2), reference)
    new = np.array([[2.0, np.nan], [np.nan, np.nan], [np.nan, 0.0]])
    np.testing.assert_allclose(made.applied(new)[0], [2, 10])
    assert made.applied(new)[1].tolist() == [0, 0]
    # Of the nearest of the last none has the first column: the mean, which is 0.
    assert made.applied(new)[2].tolist() == [0, 0]


@pytest.mark.filterwarnings("ignore")
def test_codes_for_missing_values_are_seen_beside_gaps(tmp_path):
    cells = [0, 0, 0, *range(60, 90)]
    for name, gap in (("whole", []), ("gappy", [""])):
        path = tmp_path / f"{name}.csv"
        rows = [f"{cell},{i * i % 17}" for i, cell in enumerate([*cells, *gap])]
        path.write_text("\n".join(["x,y", *rows]) + "\n")
        with pytest.warns(UserWarning, match="'x' is 0 in 3 rows and else 60 to 89"):
            read_table(path, impute="keep")


def test_logarithms_and_log_ratios():
    X = np.array([[0.0, 1.0, 5.0], [3.0, 2.0, 5.0], [np.nan, 4.0, 6.0]])
    numbers = np.array([True, True, False])
    logs = transformed(X, "log", numbers)
    np.testing.assert_allclose(logs[:, 1], np.log1p(X[:, 1]))
    np.testing.assert_array_equal(logs[:, 2], X[:, 2])
    ratios = transformed(X[1:], "compositional", numbers)
    np.testing.assert_allclose(ratios[0, :2], np.log([3, 2]) - np.log([3, 2]).mean())
    scaled = transformed(X[1:] * [[10, 10, 1]], "compositional", numbers)
    np.testing.assert_allclose(scaled, ratios)
    assert np.isfinite(transformed(X[:1], "compositional", numbers)).all()
    gaps = np.vstack([X[1:], np.full((1, 3), np.nan)])
    with_gaps = transformed(gaps, "compositional", numbers)
    np.testing.assert_allclose(with_gaps[0], ratios[0])
    assert np.isnan(with_gaps[2]).all()
    with pytest.raises(ConsilienceError, match="negative numbers"):
        transformed(-X, "log", numbers)
    with pytest.raises(ConsilienceError, match="nothing but 0 in row 0"):
        transformed(np.zeros((1, 2)), "compositional", np.ones(2, bool))
