"""The soft models on the paper's data; reads the folder ``CONSILIENCE_DATA``."""

import os

import numpy as np
import pytest

from consilience.consensus import eac
from consilience.consensus.baum_eagon import baumeagon
from consilience.consensus.peace import peace
from consilience.datasets import load
from consilience.errors import ConsilienceWarning
from consilience.generate import many_algorithms, split_and_merge
from consilience.metrics import consistency_index

pytestmark = pytest.mark.skipif(
    "CONSILIENCE_DATA" not in os.environ,
    reason="set CONSILIENCE_DATA to the folder of the papers' data sets",
)


@pytest.fixture(scope="module")
def breast():
    table = load("breast_cancer_wisconsin")
    return np.asarray(table.X, float), np.asarray(table.truth)


def test_many_algorithms_on_breast_suit_the_models_and_not_average_link(breast):
    X, y = breast
    ensemble = many_algorithms([*range(3, 11), 15, 20], random_state=0).generate(X)
    for function in (peace, baumeagon):
        labels = function(ensemble, 2, n_init=4, random_state=0).labels
        assert consistency_index(y, labels) == pytest.approx(0.97, abs=0.01)
    assert consistency_index(y, eac(ensemble, 2).labels) == pytest.approx(0.65, abs=0.01)


def test_split_and_merge_on_breast_suits_average_link_and_the_model_only_with_two_rates(breast):
    X, y = breast
    ensemble = split_and_merge(random_state=0).generate(X)
    with pytest.warns(ConsilienceWarning, match="PEACE expects nearly all"):
        plain = peace(ensemble, 2, n_init=4, random_state=0)
    assert consistency_index(y, plain.labels) == pytest.approx(0.70, abs=0.02)
    fitted = peace(ensemble, 2, two_rates=True, random_state=0)
    assert consistency_index(y, fitted.labels) > 0.95
    assert consistency_index(y, eac(ensemble, 2).labels) == pytest.approx(0.97, abs=0.01)
