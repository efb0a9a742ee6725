"""Every estimator keeps scikit-learn's conventions as a user first constructs it: no arguments."""

import inspect

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience import consensus, generate
from consilience.consensus import _clarity, auto
from consilience.errors import InvalidParameterError
from consilience.generate import PAM
from consilience.generate._base import Generator

MADE = {}
MAKE = Generator.generate


def public_estimators(*rooms):
    """The estimator classes that the rooms export."""
    # What takes a graph has these tests beside its own: test_communities.py.
    names = {name for room in rooms for name in room.__all__} - {"Communities", "CommunityEnsemble"}
    found = [getattr(room, n) for room in rooms for n in room.__all__ if n in names]
    return [one for one in found if inspect.isclass(one) and issubclass(one, BaseEstimator)]


def needs_arguments(one):
    parameters = inspect.signature(one).parameters.values()
    return any(parameter.default is parameter.empty for parameter in parameters)


ESTIMATORS = public_estimators(consensus, generate)
# Generators make ensembles and are never fitted: scikit-learn checks what has `fit`.
FITTED = [one for one in ESTIMATORS if hasattr(one, "fit")]
GENERATORS = [one for one in ESTIMATORS if not hasattr(one, "fit")]


@pytest.fixture
def few_members_made_once(monkeypatch):
    """The checks fit all estimators to the same data: equal seeds need be run only once.

    Twenty members keep the conventions that a hundred keep.
    """

    def remembered(self, X, **options):
        if getattr(self, "n_members", 0) > 20:
            self = clone(self).set_params(n_members=20)
        if not isinstance(self.random_state, int) or options:
            return MAKE(self, X, **options)
        key = joblib.hash((type(self).__name__, self.get_params(), X))
        if key not in MADE:
            MADE[key] = MAKE(self, X), self.models_
        found, self.models_ = MADE[key]
        return found

    monkeypatch.setattr(Generator, "generate", remembered)


@pytest.fixture
def few_things_tried(monkeypatch):
    """How clear the groups are, and what is best, is no matter of conventions: see test_auto.py."""
    monkeypatch.setattr(_clarity, "REFERENCES", 3)
    monkeypatch.setitem(auto.EFFORTS, "default", auto._Effort(1500, 400, 1))
    monkeypatch.setattr(auto, "_MOST_NUMBERS", 6)
    monkeypatch.setattr(auto, "_NEAR_THE_END", 2.0)


# That ten objects are too few for some methods is worth a warning to a user, and no failure.
@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
@pytest.mark.usefixtures("few_members_made_once", "few_things_tried")
@parametrize_with_checks([one() for one in FITTED])
def test_scikit_learn_conventions_without_arguments(estimator, check):
    check(estimator)


def test_only_what_wraps_others_needs_arguments():
    assert {one.__name__ for one in ESTIMATORS if needs_arguments(one)} == {
        "Combined",
        "EstimatorEnsemble",
    }


@pytest.mark.parametrize("generator", [one for one in GENERATORS if not needs_arguments(one)])
def test_generators_make_members_without_arguments(generator):
    X = np.random.default_rng(0).normal(size=(40, 3))
    first, second = (generator(random_state=0).generate(X) for _ in range(2))
    assert first.n_objects == 40
    assert first.n_members == generator().n_members
    assert first.n_clusters.min() >= 2
    np.testing.assert_array_equal(first.labels, second.labels)


@pytest.mark.parametrize("swap", ["faster", "best"])
def test_more_medoids_than_objects_are_refused(swap):
    with pytest.raises(InvalidParameterError, match=r"'n_clusters' .* of PAM .* Got 4 instead"):
        PAM(4, swap=swap).fit(np.zeros((3, 2)))
    assert len(PAM(3, swap=swap).fit(np.eye(3)).medoid_indices_) == 3
