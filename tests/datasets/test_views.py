"""Several tables of the same objects side by side."""

import numpy as np
import pytest

import consilience as cs
from consilience.datasets import read_table
from consilience.datasets._mixed import mixed_of
from consilience.datasets._views import side_by_side

pandas = pytest.importorskip("pandas")

pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
N, GONE = 40, 3


def two_views(index):
    """Frames with words; an object is missing from all of the first."""
    rng = np.random.default_rng(0)
    group = np.arange(N) % 2
    words = np.array(["u", "v"])[group]
    A = pandas.DataFrame({"x": 8 * group + rng.normal(size=N), "w": words}, index=index)
    A.iloc[GONE] = None
    B = pandas.DataFrame(
        {"y": 8 * group + rng.normal(size=N), "z": rng.normal(size=N)}, index=index
    )
    return {"A": A, "B": B}


@pytest.mark.parametrize("index", [None, [f"o{i}" for i in range(N)]])
def test_an_object_may_be_missing_from_a_view_with_words(index):
    views = two_views(index)
    table = side_by_side(views, owner="cluster", keep_gaps=True).table
    assert np.isnan(table.X[GONE, : len(table.columns) - 2]).all()
    np.testing.assert_array_equal(table.X[:, -2:], views["B"])
    result = cs.cluster(views, 2, gaps="keep", n_members=10, effort="quick", random_state=0)
    group = np.arange(N) % 2
    assert len(set(zip(group, result.labels, strict=True))) == 2


def test_split_categories_of_files_stay_one_column(tmp_path):
    rows = [f"{'abc'[i % 3]},{i * i % 11}" for i in range(12)]
    (tmp_path / "A.csv").write_text("\n".join(["h,x", *rows]) + "\n")
    (tmp_path / "B.csv").write_text("\n".join(["y", *(str(i % 5) for i in range(12))]) + "\n")
    mixed = {}
    for encode in ("onehot", "mixed"):
        views = {name: read_table(tmp_path / f"{name}.csv", encode=encode) for name in "AB"}
        table = side_by_side(views, owner="cluster").table
        mixed[encode] = mixed_of(table.X, table.sources, table.recipe)
    assert mixed["onehot"].names == ("A: h", "A: x", "B: y")
    assert mixed["onehot"].categorical == (0,)
    assert mixed["onehot"].values[:3, 0].tolist() == [0, 1, 2]
    np.testing.assert_array_equal(mixed["onehot"].values, mixed["mixed"].values)


def test_files_without_identifiers_are_matched_by_row_where_rows_were_left_out(tmp_path):
    first = ["x,w", *(",\n" if i == GONE else f"{i * i % 7},{'uv'[i % 2]}" for i in range(12))]
    (tmp_path / "A.csv").write_text("\n".join(first).replace(",\n\n", ",\n") + "\n")
    (tmp_path / "B.csv").write_text("\n".join(["y", *(str(i * i % 5) for i in range(12))]) + "\n")
    views = {
        name: read_table(tmp_path / f"{name}.csv", encode="mixed", impute="keep") for name in "AB"
    }
    assert views["A"].left_out.tolist() == [GONE]
    table = side_by_side(views, owner="cluster").table
    at = table.ids.tolist().index(str(GONE))
    assert len(table.X) == 12
    assert np.isnan(table.X[at, :-1]).all()
    rows = np.array(table.ids, int)
    np.testing.assert_array_equal(table.X[:, -1], rows * rows % 5)
