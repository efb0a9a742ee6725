"""Scores that differ by rounding only are one number, and the model says so."""

import json

import numpy as np
import pytest
from stored.small import few_drawn

from consilience import cli
from consilience.compare import auc
from consilience.datasets import make_toy_minority
from consilience.errors import ConsilienceWarning
from consilience.minority import EWOCS
from consilience.minority.thresholds import every
from consilience.minority.tuning import contrast
from consilience.report import summarise_minority

WORDS = "Nothing stands out"


def flat(**params):
    """A kernel so narrow that every object is alone, on the data of the report of the defect."""
    X = np.random.default_rng([5, 20]).normal(size=(300, 20))
    return X, EWOCS(gamma=10.0, n_repetitions=100, random_state=1, **params)


@pytest.mark.parametrize("aggregate", ["log", "mean"])
@pytest.mark.parametrize("threshold", ["2gauss", "dist", "ngauss", "size", "best", 0.0])
def test_rounding_is_no_foreground(aggregate, threshold):
    X, model = flat(aggregate=aggregate, threshold=threshold, n_foreground=9)
    with pytest.warns(ConsilienceWarning, match=WORDS):
        model.fit(X, np.arange(300) < 9)
    assert model.flag_ == "no_contrast"
    assert (model.n_foreground_, model.n_clusters_, model.threshold_) == (0, 0, np.inf)
    assert (model.labels_ == -1).all()
    assert np.ptp(model.scores_) == 0
    assert all(rule.flag == "no_contrast" for rule in every(model.scores_, m=9))
    np.testing.assert_array_equal(model.score_samples(X[:7]), model.scores_[:7])
    np.testing.assert_array_equal(model.predict(X), model.labels_)


def test_rounding_in_single_precision_is_no_foreground():
    """The same differences of about 1e-6 are rounding there, and not in double precision."""
    X = np.random.default_rng(0).normal(size=(300, 5))
    params = {"alpha": 1e-3, "gamma": 1.0, "n_repetitions": 50, "random_state": 0}
    with pytest.warns(ConsilienceWarning, match=WORDS):
        model = EWOCS(**params).fit(X.astype(np.float32))
    assert model.flag_ == "no_contrast"
    assert EWOCS(**params).fit(X).flag_ != "no_contrast"


def test_small_differences_that_are_no_rounding_are_kept():
    """A weak kernel gives scores within 1e-6 of each other, which still rank the objects."""
    X, y = make_toy_minority(0.2, random_state=0)
    params = {"gamma": 10.0, "n_repetitions": 50, "random_state": 0}
    usual = EWOCS(**params).fit(X)
    weak = EWOCS(alpha=1e-3, **params).fit(X)
    assert np.ptp(weak.scores_) < 2e-6
    assert weak.flag_ != "no_contrast"
    assert auc(weak.scores_, y) > auc(usual.scores_, y) - 0.1


@pytest.mark.parametrize("gamma", [10.0, "distance"])
@pytest.mark.parametrize("d", [2, 20, 200])
@pytest.mark.filterwarnings(f"ignore:{WORDS}")
def test_changes_in_the_last_digits_change_no_label(gamma, d):
    for seed in range(2):
        rng = np.random.default_rng([seed, d])
        X = rng.normal(size=(150, d))
        X[:15] = X[0] + 0.1 * X[:15]
        model = EWOCS(gamma=gamma, n_repetitions=40, random_state=seed, clusterer=None)
        with few_drawn():
            labels = model.fit_predict(X)
            for other in (X + 1e-13, X * (1 + 1e-13), X + 1e-13 * rng.normal(size=X.shape)):
                np.testing.assert_array_equal(model.fit_predict(other), labels)


def test_repetitions_that_tell_nothing_end_early():
    X, model = flat()
    with pytest.warns(ConsilienceWarning, match=WORDS):
        model.set_params(n_repetitions="auto").fit(X)
    assert (model.n_repetitions_, model.reliability_, model.converged_) == (200, 1.0, True)


def test_continuing_says_again_that_nothing_stands_out():
    X, model = flat()
    with pytest.warns(ConsilienceWarning, match=WORDS):
        model.fit(X)
    with pytest.warns(ConsilienceWarning, match=WORDS):
        model.more(X, 10)
    assert model.flag_ == "no_contrast"


def test_rounding_is_no_contrast_of_a_kernel():
    """Else the narrowest kernel of a search could win by its noise."""
    X = flat()[0]
    assert contrast(X, 10.0, 1e4, 0, None) == 0


def test_the_command_and_its_report_say_that_nothing_stands_out(tmp_path, capsys):
    X, model = flat()
    table = tmp_path / "noise.csv"
    np.savetxt(table, X, delimiter=",", header=",".join(f"c{i}" for i in range(20)), comments="")
    options = [
        "--gamma",
        "10",
        "--repetitions",
        "100",
        "--seed",
        "1",
        "--out",
        str(tmp_path / "out"),
    ]
    assert cli.main(["minority", str(table), *options]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert WORDS in said
    assert "No foreground" in said
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["flag"] == "no_contrast"
    assert summary["n_foreground"] == 0
    with pytest.warns(ConsilienceWarning, match=WORDS):
        model.fit(X)
    headline = " ".join(summarise_minority(model, X)["headline"])
    assert "differ by rounding only" in headline
