"""What is expected of a gap, and what a column counts for: against the definition."""

import numpy as np
import pytest

import consilience as cs
from consilience import Ensemble
from consilience.datasets._frames import frame_table
from consilience.errors import ConsilienceWarning
from consilience.evidence import co_association
from consilience.workflow import _mixed
from consilience.workflow._columns import checked_columns, number_columns


@pytest.fixture
def made(seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(-2, 3, (15, 4))
    known = rng.random((15, 3)) < 0.7
    return Ensemble(labels), np.where(known, rng.normal(size=(15, 3)), 0.0), known.astype(float)


@pytest.mark.parametrize("kind", ["array", "nullable", "object", "list"])
def test_gaps_are_kept_whatever_stands_for_them(kind):
    pandas = pytest.importorskip("pandas")
    X = np.random.default_rng(0).normal(size=(30, 2)) + np.repeat([0, 9], 15)[:, None]
    X[[3, 20], 0] = np.nan
    forms = {
        "array": lambda values: values,
        "nullable": lambda values: pandas.DataFrame(values).astype("Float64"),
        "object": lambda values: np.where(np.isnan(values), None, values.astype(object)),
        "list": lambda values: [[None if v != v else v for v in row] for row in values.tolist()],
    }
    result = cs.cluster(forms[kind](X), 2, gaps="keep", n_members=5, random_state=0)
    wanted = cs.cluster(X, 2, gaps="keep", n_members=5, random_state=0)
    np.testing.assert_array_equal(result.labels, wanted.labels)
    assert result.predict(forms[kind](X[:8])).labels.tolist() == wanted.labels[:8].tolist()


def test_by_clusters_a_gap_is_the_mean_over_members_of_the_means_of_its_clusters(made):
    ensemble, cells, known = made
    found, sure = _mixed._expected_by_clusters(*made)
    for i in range(15):
        for j in range(3):
            means = []
            for member in ensemble.members:
                mates = (member == member[i]) & (known[:, j] > 0)
                if member[i] >= 0 and mates.any():
                    means.append(cells[mates, j].mean())
            assert sure[i, j] == bool(means)
            assert found[i, j] == pytest.approx(np.mean(means) if means else 0.0)


@pytest.mark.filterwarnings("ignore:.*never seen together")
def test_by_pairs_a_gap_is_a_mean_weighted_by_the_squared_co_association(made):
    ensemble, cells, known = made
    found, sure = _mixed._expected(*made)
    near = co_association(ensemble) ** 2
    for i, j in np.argwhere(known == 0):
        weights = [near[i, o] if known[o, j] else 0.0 for o in range(15)]
        assert sure[i, j] == (sum(weights) > 0)
        wanted = np.dot(weights, cells[:, j]) / sum(weights) if sum(weights) else 0.0
        assert found[i, j] == pytest.approx(wanted)


def test_a_weight_of_four_doubles_distances_along_its_column():
    columns = checked_columns(None, None, {"b": 4.0}, owner="x")
    scaling = columns.weighted(np.eye(2), ("a", "b"), None, owner="x")
    np.testing.assert_allclose(scaling.applied(np.array([[1.0, 1.0]])), [[1.0, 2.0]])
    X = np.random.default_rng(0).normal(size=(40, 2))
    names = {"column_weights": {"c1": 9.0}}
    plain = cs.cluster(X, 2, n_members=5, scale=False, random_state=0)
    heavy = cs.cluster(X, 2, n_members=5, scale=False, random_state=0, **names)
    np.testing.assert_allclose(heavy.data.X, plain.data.X * [1.0, 3.0])


def test_without_a_recipe_all_columns_are_numbers():
    assert number_columns(None, ("a",), 3).tolist() == [True] * 3
    assert number_columns(None, (), 2).tolist() == [True] * 2


def test_numbers_and_parts_of_categories_are_told_apart():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"n": np.arange(12.0), "kind": list("abc") * 4})
    with pytest.warns(ConsilienceWarning, match="'kind' .3 categories"):
        table = frame_table(frame, impute=None)
    found = number_columns(table.recipe, table.sources, len(table.sources))
    assert found.tolist() == [source == "n" for source in table.sources]
    assert {True, False} == set(found.tolist())
    # Arrays have no sources: all of their columns are numbers.
    assert number_columns(table.recipe, (), 2).tolist() == [True, True]
