"""Results of every kind of data come back from their folder as they were."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import consilience as cs
from consilience.errors import InvalidInputError
from consilience.generate import KMeansEnsemble

pandas = pytest.importorskip("pandas")
N = 24
X = np.random.default_rng(0).normal(size=(N, 3)) + 6.0 * (np.arange(N) % 3)[:, None]
HOLES = np.where(np.random.default_rng(1).random(X.shape) < 0.1, np.nan, X)
FRAME = pandas.DataFrame(X, columns=list("abc"), index=[f"o{i}" for i in range(N)])
HOW = {"n_clusters": 3, "method": "eac", "n_members": 6, "random_state": 0}


class Own(BaseEstimator):
    """A generator that nobody knows how to keep."""

    def __init__(self, n_members=4):
        self.n_members = n_members

    def generate(self, X, checkpoint=None):
        return KMeansEnsemble(self.n_members, 3, random_state=0).generate(X)


KINDS = {
    "plain": (X, {}),
    "known groups": (X, {"truth": [f"k{i % 3}" for i in range(N)]}),
    "frame": (FRAME, {"column_weights": {"a": 4.0}}),
    "gaps": (HOLES, {"gaps": "keep"}),
    "views": ({"one": FRAME, "two": FRAME[["a"]].iloc[::-1]}, {"n_members": 12}),
    "logarithms": (np.exp(X / 9), {"transform": "log"}),
    "distances": (X, {"metric": "manhattan"}),
    "angles": (X, {"metric": "cosine"}),
    "weights": (X, {"object_weights": 1 + np.arange(N) % 2}),
    "links": (X, {"must_link": [(0, 3)], "cannot_link": [(0, 6), (0, 1)]}),
    "own generator": (X, {"generator": Own()}),
    "labels": (None, {"ensemble": np.column_stack([np.arange(N) % 3] * 5)}),
}


@pytest.fixture(scope="module", params=KINDS)
def kept(request, tmp_path_factory):
    data, more = KINDS[request.param]
    result = cs.cluster(data, **(HOW | more))
    folder = tmp_path_factory.mktemp("kept")
    result.save(folder)
    return result, cs.load(folder), data


def test_it_says_the_same(kept):
    result, found, _ = kept
    assert found.to_dict() == result.to_dict()
    assert repr(found) == repr(result)
    assert found.rows() == result.rows()
    for name in ("labels", "confidence", "runner_up", "lifetimes", "tree"):
        np.testing.assert_array_equal(getattr(found, name), getattr(result, name))
    np.testing.assert_array_equal(found.ensemble.labels, result.ensemble.labels)
    assert (found.violations, found.agreement) == (result.violations, result.agreement)
    assert found.to_pandas().equals(result.to_pandas().set_axis(found.to_pandas().index))


def test_its_data_are_the_same(kept):
    result, found, _ = kept
    for name in ("X", "original", "ids", "mixed", "mixed_weights"):
        np.testing.assert_array_equal(getattr(found.data, name), getattr(result.data, name))
    for name in ("columns", "dropped", "sources", "transform", "metric", "views", "view_of",
                 "used_as", "standardised", "categorical", "original_columns"):  # fmt: skip
        assert getattr(found.data, name) == getattr(result.data, name)
    assert found.data.distances is None
    assert found.seconds == found.ran_on == {}
    if result.data.truth is not None:
        np.testing.assert_array_equal(found.data.truth, result.data.truth)
    if isinstance(result.generator, Own):
        assert found.generator is None
    else:
        assert repr(found.generator) == repr(result.generator)


def test_it_places_new_objects_as_before(kept):
    result, found, data = kept
    if result.seen is None:
        with pytest.raises(InvalidInputError) as before:
            result.predict(X)
        with pytest.raises(InvalidInputError) as after:
            found.predict(X)
        assert str(after.value) == str(before.value)
        return
    for lookup in (True, False):
        wanted, again = (one.predict(data, lookup=lookup) for one in (result, found))
        for name in ("labels", "confidence", "runner_up", "unlike", "known"):
            np.testing.assert_array_equal(getattr(again, name), getattr(wanted, name))
        assert wanted.notes == again.notes
        assert again.known.all() == lookup
        assert not again.known.any() or lookup
    np.testing.assert_array_equal(found.predict(data).labels, result.labels)
