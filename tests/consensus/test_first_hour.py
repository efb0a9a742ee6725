"""What a user sees of an estimator before reading any page: its help, and what it was not told."""

import inspect

import numpy as np
import pytest

import consilience as cs
from consilience._docs import entries
from consilience.consensus import CONSENSUS
from consilience.errors import ConsilienceWarning
from consilience.generate import Linkage

MEMBERS = cs.Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
FIXED = [name for name, method in sorted(CONSENSUS.items()) if method.needs_n_clusters]


@pytest.mark.parametrize("name", sorted(CONSENSUS))
def test_help_explains_every_parameter(name):
    model = CONSENSUS[name].estimator
    told = {one: entry for entry in entries(model.__doc__, "Parameters") for one in entry.names}
    assert set(inspect.signature(model).parameters) <= set(told)
    own = f"See `{name}`."
    assert not [one for one, entry in told.items() if any(own in line for line in entry.text)]
    assert not [one for one, entry in told.items() if not "".join(entry.text).strip()]


@pytest.mark.parametrize("name", FIXED)
def test_the_number_of_clusters_has_no_default(name):
    assert inspect.signature(CONSENSUS[name].estimator).parameters["n_clusters"].default is None


@pytest.mark.parametrize("name", ["mcla", "lwea", "kcc"])
def test_no_estimator_takes_two_clusters_silently(name):
    model = CONSENSUS[name].estimator
    with pytest.warns(ConsilienceWarning, match=rf"{model.__name__} cannot find it: 2 are taken"):
        found = model(random_state=0).fit(ensemble=MEMBERS)
    asked = model(2, random_state=0).fit(ensemble=MEMBERS)  # a warning would be an error
    np.testing.assert_array_equal(found.labels_, asked.labels_)


def test_nor_does_a_linkage():
    with pytest.warns(ConsilienceWarning, match="2 are taken"):
        assert Linkage().fit_predict([[0.0], [1.0], [9.0]]).tolist() == [0, 0, 1]
