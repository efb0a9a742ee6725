"""On a device a job judges by itself; the method is not asked for its confidence as well."""

from types import SimpleNamespace

import pytest
from sklearn.base import BaseEstimator

from consilience.workflow import _consensus


class Asked(BaseEstimator):
    def __init__(self, confidence=True, missing="all"):
        self.confidence, self.missing = confidence, missing


class Silent(BaseEstimator):
    def __init__(self, linkage="single"):
        self.linkage = linkage


@pytest.fixture
def fitted(monkeypatch):
    def fit(method, model, rows, ensemble):
        return {"labels": "labels", "asked": getattr(model, "confidence", "nothing")}

    def judged(task, ensemble, labels, places, missing):
        return {"confidence": (labels, missing), "ran_on": places}

    monkeypatch.setattr(_consensus, "fit_method", fit)
    monkeypatch.setattr(_consensus, "_judged", judged)

    def call(model, device):
        data = SimpleNamespace(rows=None)
        return _consensus._fitted(SimpleNamespace(device=device), None, model, data, None)

    return call


def test_on_the_processor_the_method_judges(fitted):
    found = fitted(Asked(), None)
    assert found == {"labels": "labels", "asked": True, "ran_on": {"consensus": "cpu"}}


def test_on_a_device_the_job_judges(fitted):
    found = fitted(Asked(), "cuda:0")
    assert found["asked"] is False
    assert found["confidence"] == ("labels", "all")
    assert fitted(Silent(), "cuda:0")["confidence"] == ("labels", "pair")


def test_whoever_wants_no_confidence_gets_none(fitted):
    found = fitted(Asked(confidence=False), "cuda:0")
    assert found["asked"] is False
    assert "confidence" not in found


def test_where_a_method_says_it_ran_is_told(fitted):
    model = Asked()
    model.details_ = {"ran_on": {"consensus": "cuda:0"}}
    assert fitted(model, "cuda:0")["ran_on"] == {"consensus": "cuda:0"}
    model.details_ = None
    assert fitted(model, "cuda:0")["ran_on"] == {"consensus": "cpu"}
