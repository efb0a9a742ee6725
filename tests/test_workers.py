"""``n_jobs=0`` has no meaning: every public function and estimator says so by the same rule."""

import importlib
import inspect

import numpy as np
import pytest

import consilience
from consilience import Ensemble
from consilience._validation import N_JOBS
from consilience.consensus import CONSENSUS
from consilience.errors import InvalidParameterError
from consilience.minority.weak import weak_clusterer
from consilience.predict import learn

ENSEMBLE = Ensemble([[0] * 6 + [1] * 6, [0] * 5 + [1] * 7, [0] * 4 + [1] * 4 + [2] * 4])
X = np.random.default_rng(0).normal(size=(12, 2))
HASHES = np.arange(12, dtype=np.uint64)
NEEDS_BY_NAME = {"learn": {"hashes": HASHES}}
# What a function needs beside n_jobs; consensus functions take an ensemble and a number.
NEEDS = {
    "ambiguous": (ENSEMBLE,),
    "anco": (ENSEMBLE,),
    "choose_n_clusters": (X,),
    "cluster_stability": (ENSEMBLE,),
    "co_association": (ENSEMBLE,),
    "combine_blocks": (ENSEMBLE, 2),
    "compare_methods": (ENSEMBLE, ["eac"], 2),
    "confidence": (ENSEMBLE, ENSEMBLE[0]),
    "default_generator": (12, 2),
    "kmeans_labels": (X, 2, None, np.random.RandomState(0)),
    "transfer_cut": (np.eye(12)[:, :4] + 0.1, 2),
    "unit_rows": (X,),
    "group_ambiguity": (ENSEMBLE, ENSEMBLE[0]),
    "learn": (X, ENSEMBLE, ENSEMBLE[0]),
    "placed": (learn(X, ENSEMBLE, ENSEMBLE[0], hashes=HASHES), X),
    "extended_co_association": (ENSEMBLE, np.ones(7, bool)),
    "monticonsensus": (X, 2),
    "object_weights": (ENSEMBLE,),
    "ambiguous_objects": (X,),
    "cluster": (X,),
    "cluster_graph": ([(0, 1), (1, 2)],),
    "minority_groups": (X,),
    "refine": (ENSEMBLE, ENSEMBLE[0]),
    "relative_overlap": (ENSEMBLE,),
    "score_objects": (X, weak_clusterer("hard", k_max=3), 2),
    "tune_gaussian": (X,),
}
# Hands the number on to a generator, which checks it.
PASSES_ON = {"with_defaults"}


def public(kind):
    """Public names of all rooms whose parameters include n_jobs."""
    found = {}
    for room in consilience._ROOMS:
        module = importlib.import_module(f"consilience.{room}")
        for name in module.__all__:
            item = getattr(module, name)
            if not kind(item) or (inspect.isclass(item) and issubclass(item, Exception)):
                continue
            if "n_jobs" in inspect.signature(item).parameters:
                found[name] = item
    return found


@pytest.mark.parametrize("name", sorted(public(inspect.isfunction).keys() - PASSES_ON))
@pytest.mark.parametrize("value", [0, 1.5, "two", True])
def test_functions_refuse_what_is_no_number_of_workers(name, value):
    function = public(inspect.isfunction)[name]
    if name in CONSENSUS:
        args = (ENSEMBLE, 2)
        options = {"X": X} if CONSENSUS[name].needs_data else {}
    else:
        args, options = NEEDS[name], NEEDS_BY_NAME.get(name, {})
    with pytest.raises(InvalidParameterError, match=r"'n_jobs' parameter of .* other than 0"):
        function(*args, n_jobs=value, **options)


@pytest.mark.parametrize("name", sorted(public(inspect.isclass)))
def test_estimators_refuse_it_by_the_same_rule(name):
    item = public(inspect.isclass)[name]
    if not hasattr(item, "_constraints"):
        pytest.skip("holds n_jobs for somebody else")
    assert item._constraints["n_jobs"] is N_JOBS
