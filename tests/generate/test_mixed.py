"""What is special to members of tables with categories, gaps and views."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience import UNSEEN
from consilience.errors import ConsilienceError
from consilience.generate import KMeansEnsemble, MixedEnsemble
from consilience.generate.mixed import _unit_variance

CATEGORIES = list(range(2, 24))


@pytest.fixture(scope="module")
def sample():
    return cs.datasets.make_mixed(random_state=1)


@pytest.fixture(scope="module")
def table(sample):
    return np.column_stack([sample.numbers, sample.categories]).astype(float)


def test_a_member_sees_the_objects_that_have_its_columns(table):
    holes = table.copy()
    holes[np.random.default_rng(0).uniform(size=table.shape) < 0.2] = np.nan
    strict = MixedEnsemble(9, 5, categorical=CATEGORIES, max_features=2, min_known=1.0)
    ensemble = strict.set_params(random_state=0).generate(holes)
    for labels, record in zip(ensemble, ensemble.records, strict=True):
        whole = ~np.isnan(holes[:, record["features"]]).any(axis=1)
        np.testing.assert_array_equal(labels != UNSEEN, whole)


def test_kinds_take_turns_and_are_what_they_say(table):
    ensemble = MixedEnsemble(6, 4, categorical=CATEGORIES, random_state=0).generate(table)
    names = [record["algorithm"] for record in ensemble.records]
    both = "k-prototypes"
    assert names == [both, "k-means", both, "k-modes", both, both]
    for record in ensemble.records:
        among = np.isin(record["features"], CATEGORIES)
        kind = record["algorithm"]
        assert {"k-means": not among.any(), "k-modes": among.all(), "k-prototypes": True}[kind]


def test_objects_without_a_view_are_unseen_by_its_members():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6))
    X[:10, 3:] = np.nan
    views = [0, 0, 0, 1, 1, 1]
    ensemble = MixedEnsemble(12, 3, views=views, random_state=0).generate(X)
    drawn = [record["views"] for record in ensemble.records]
    assert {tuple(one) for one in drawn} == {(0,), (1,), (0, 1)}
    for labels, seen in zip(ensemble, drawn, strict=True):
        assert ((labels[:10] == UNSEEN) == (1 in seen)).all()
        assert (labels[10:] >= 0).all()


def test_names_and_order_of_categories_do_not_matter(table):
    renamed = table.copy()
    renamed[:, 2:] = 10 - 3 * renamed[:, 2:]
    options = {"categorical": CATEGORIES, "random_state": 0}
    first = MixedEnsemble(6, 4, **options).generate(table)
    second = MixedEnsemble(6, 4, **options).generate(renamed)
    for one, other in zip(first, second, strict=True):
        assert adjusted_rand_score(one, other) == 1.0


def test_a_frame_brings_its_categories(sample):
    pytest.importorskip("pandas")
    frame = sample.to_pandas()
    ensemble = MixedEnsemble(3, 4, random_state=0).generate(frame)
    assert [record["algorithm"] for record in ensemble.records][1] == "k-means"


@pytest.mark.parametrize("same", [[-1], ["hue"], [np.int64(1)], [np.int64(-1), 1]])
def test_a_column_is_named_by_its_place_from_either_end_or_by_its_name(same):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=40), "hue": rng.integers(3, size=40) * 7.0})
    wanted = MixedEnsemble(5, 3, categorical=[1], random_state=0).generate(frame)
    assert "k-modes" in {record["algorithm"] for record in wanted.records}
    members = MixedEnsemble(5, 3, categorical=same, random_state=0).generate(frame)
    np.testing.assert_array_equal(members.labels, wanted.labels)


def test_noise_categories_do_not_drown_the_others(sample, table):
    """The mean over 20 seeds is in docs/quality.md; here one seed, with room."""
    split = [(column[:, None] == np.arange(4)) for column in sample.categories.T]
    numbers = (sample.numbers - sample.numbers.mean(0)) / sample.numbers.std(0)
    one_hot = np.hstack([numbers, *[one / np.sqrt(one.var(0).sum()) for one in split]])
    members = {
        "one-hot": KMeansEnsemble(40, random_state=0).generate(one_hot),
        "mixed": MixedEnsemble(40, categorical=CATEGORIES, random_state=0).generate(table),
    }
    ari = {
        name: adjusted_rand_score(sample.groups, cs.EAC(4).fit(ensemble=one).labels_)
        for name, one in members.items()
    }
    assert ari["mixed"] > ari["one-hot"] + 0.1


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"categorical": [99]}, "'categorical' must name columns"),
        ({"categorical": [-25]}, "'categorical' must name columns"),
        ({"categorical": ["hue"]}, "'categorical' must name columns .* no column 'hue'"),
        ({"categorical": [True]}, "'categorical' parameter of MixedEnsemble"),
        ({"categorical": "all"}, "'categorical' parameter of MixedEnsemble"),
        ({"kinds": ["words"]}, "'kinds' parameter of MixedEnsemble"),
        ({"weights": [1.0, 2.0]}, "a value for each of the 24 columns. Got 2"),
        ({"weights": [0.0] * 24}, "'weights' parameter of MixedEnsemble"),
        ({"views": [0]}, "'views' .* for each of the 24 columns. Got 1"),
        ({"min_known": 0}, "'min_known' parameter of MixedEnsemble"),
        ({"n_clusters": 201}, "at most the number of objects, 200. Got 201"),
        ({"max_features": 25}, "at most the number of features, n_features=24. Got 25"),
    ],
)
def test_bad_parameters_name_parameter_value_and_remedy(table, params, message):
    with pytest.raises(ConsilienceError, match=message):
        MixedEnsemble(**{"categorical": CATEGORIES, **params}).generate(table)


def test_columns_that_say_nothing_are_0_and_others_have_variance_1():
    X = np.array([[1.0, 5.0, np.nan, 0.0], [3.0, 5.0, np.nan, np.nan], [np.nan, 5.0, np.nan, 0.0]])
    with np.errstate(all="raise"):
        found = _unit_variance(X)
    np.testing.assert_array_equal(found[:, 1], 0.0)
    np.testing.assert_array_equal(found[[0, 2], 3], 0.0)
    np.testing.assert_allclose(found[:2, 0], [-1.0, 1.0])


def test_complex_numbers_are_refused():
    X = np.ones((12, 2), complex)
    for given in (X, pd.DataFrame(X), X.tolist()):
        with pytest.raises(ConsilienceError, match="complex numbers"):
            MixedEnsemble(3, 3, random_state=0).generate(given)
