# ruff: noqa: E402
"""New objects after a fit on either side: the same groups, as arrays of the kind that was asked."""

import os
import pickle

import numpy as np
import pytest

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

import consilience as cs
from consilience.datasets import make_toy_minority
from consilience.engines.torch import Torch

pytestmark = pytest.mark.torch
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")
RNG = np.random.default_rng(0)
X = np.concatenate([RNG.normal(c, 0.5, (60, 3)) for c in (0.0, 3.0, 6.0)])
# Some that were fitted, some near them, and some that are far from all.
NEW = np.concatenate([X[::7], X[:40] + 0.2, np.full((2, 3), 50.0)])


def there(values):
    return torch.as_tensor(values).to(DEVICE)


def of(name, device, **options):
    """An estimator with few members, so that it is quick."""
    maker = cs.generate.KMeansEnsemble(n_members=8, n_clusters=(3, 6), random_state=0)
    return getattr(cs, name)(3, generator=maker, random_state=0, device=device, **options)


@pytest.mark.parametrize("name", ["EAC", "KCC", "SEC", "AutoConsensus"])
def test_a_fit_on_one_side_places_on_the_other(name):
    options = {"effort": "quick"} if name == "AutoConsensus" else {}
    here = of(name, None, **options).fit(X)
    wanted = here.predict_info(NEW)
    assert wanted.known.any()
    assert wanted.unlike.any()
    models = here, of(name, DEVICE, **options).fit(X), of(name, None, **options).fit(there(X))
    for model in models:
        for new in (NEW, there(NEW)):
            found = model.predict(new), model.predict_confidence(new)
            for got, one in zip(found, (wanted.labels, wanted.confidence), strict=True):
                assert type(got) is type(new)
                if new is not NEW:
                    assert got.device == new.device
                np.testing.assert_array_equal(np.asarray(torch.as_tensor(got).cpu()), one)
            info = model.predict_info(new)
            np.testing.assert_array_equal(info.unlike, wanted.unlike)
            np.testing.assert_array_equal(info.known, wanted.known)
            np.testing.assert_array_equal(info.runner_up, wanted.runner_up)


def test_what_was_fitted_on_a_card_places_where_there_is_none(monkeypatch, tmp_path):
    model = of("KCC", DEVICE).fit(there(X))
    result = cs.cluster(there(X), 3, n_members=8, random_state=0, effort="quick")
    wanted = model.predict(NEW), result.predict(NEW).labels
    result.save(tmp_path / "kept")

    def refuse(self, *args):
        raise AssertionError("a device was asked for")

    monkeypatch.setattr(Torch, "__init__", refuse)
    monkeypatch.setattr("consilience.engines.torch.device_of", refuse)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(NEW), wanted[0])
    np.testing.assert_array_equal(cs.load(tmp_path / "kept").predict(NEW).labels, wanted[1])


def test_scores_of_new_objects_after_a_fit_on_either_side():
    data, _ = make_toy_minority(0.1, random_state=0)
    new = data[::5] + 0.01
    options = {"gamma": 1.0, "n_repetitions": 10, "threshold": "2gauss", "random_state": 0}
    here, other = (cs.EWOCS(**options, device=d).fit(data) for d in (None, DEVICE))
    wanted = here.score_samples(new)
    near = np.abs(wanted - here.threshold_) <= 1e-9
    for model in (here, other):
        for given in (new, there(new)):
            scores, labels = model.score_samples(given), model.predict(given)
            assert type(scores) is type(labels) is type(given)
            scores, labels = (np.asarray(torch.as_tensor(one).cpu()) for one in (scores, labels))
            np.testing.assert_allclose(scores, wanted, rtol=1e-9, atol=1e-9)
            np.testing.assert_array_equal(labels[~near], here.predict(new)[~near])
