"""Every estimator passes scikit-learn's checks as a user first constructs it.

What a method of minorities cannot pass is in `EXPECTED_FAILED_CHECKS`, and nothing else is. The
tests of the single methods check chosen configurations as well.
"""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

import consilience
from consilience.minority import EXPECTED_FAILED_CHECKS, BBCPress, _stopping, bbcpress

NAMES = consilience._MINORITY


@pytest.mark.parametrize("name", NAMES)
def test_what_fails_is_what_the_table_names(name, monkeypatch):
    # The checks do not ask for settled scores, and fit a hundred times.
    monkeypatch.setitem(_stopping._TOLERANCE, "reliability", 0.5)
    table = EXPECTED_FAILED_CHECKS.get(name, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.filterwarnings("ignore", message="Can't test estimator")
        found = check_estimator(
            getattr(consilience, name)(),
            expected_failed_checks=table,
            on_skip=None,
            on_fail=None,
        )
    ended = {
        kind: {check["check_name"] for check in found if check["status"] == kind}
        for kind in ("failed", "xfail")
    }
    # What is expected to fail and passes is neither.
    assert ended == {"failed": set(), "xfail": set(table)}, found


@pytest.mark.parametrize("name", sorted(EXPECTED_FAILED_CHECKS))
def test_the_table_excuses_little(name):
    """Three equal groups without a background, and copies for weights, are all that may fail."""
    assert name in NAMES
    assert set(EXPECTED_FAILED_CHECKS[name]) <= {
        "check_clustering",
        "check_sample_weight_equivalence_on_sparse_data",
    }


@pytest.mark.parametrize("n", [2, 5, 30, 69, 70, 200])
def test_bubbles_are_seven_or_as_many_as_foreground_objects(n, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    size = max(1, round(0.1 * n))
    wanted = bbcpress(X, min(7, size), 0.1, random_state=seed)
    model = BBCPress(random_state=seed).fit(X)
    np.testing.assert_array_equal(model.labels_, wanted.labels)
    assert (model.labels_ >= 0).sum() == size
