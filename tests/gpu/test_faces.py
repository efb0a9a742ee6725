# ruff: noqa: E402
"""What users type: `device=` and torch tensors give what the processor gives."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

import consilience as cs
from consilience.datasets import make_toy_minority
from consilience.errors import InvalidParameterError
from consilience.workflow import _places as places
from consilience.workflow import _task

pytestmark = pytest.mark.torch
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")
X, Y = make_toy_minority(0.2, random_state=0)


@pytest.mark.parametrize("init", ["random", "k-means++"])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_k_means_ensembles_are_the_same_ensembles(init, metric, kind):
    data = X.astype(kind)
    options = {"n_members": 6, "n_clusters": (2, 6), "max_samples": 0.8, "random_state": 0}
    options |= {"init": init, "metric": metric}
    wanted = cs.generate.KMeansEnsemble(**options).generate(data)
    for given, device in ((data, DEVICE), (torch.as_tensor(data).to(DEVICE), None)):
        generator = cs.generate.KMeansEnsemble(**options, device=device)
        got = generator.generate(given)
        np.testing.assert_array_equal(got.labels, wanted.labels)
        assert all(one["device"].startswith(DEVICE) for one in generator.records_)
        assert "device" not in wanted.records[0]


def test_what_stays_on_the_processor_is_told():
    options = {"n_members": 3, "n_clusters": 3, "algorithm": "minibatch", "random_state": 0}
    generator = cs.generate.KMeansEnsemble(**options, device=DEVICE)
    got = generator.generate(X)
    wanted = cs.generate.KMeansEnsemble(**options).generate(X)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    assert {one["device"] for one in generator.records_} == {"cpu"}


@pytest.mark.parametrize(
    ("weak", "divergence", "bound"),
    [
        ("soft", "gaussian", 1e-9),
        ("soft", "euclidean", 1e-9),
        ("soft", "mahalanobis", 1e-9),
        ("soft", "cosine", 1e-9),
        ("soft", "kl", 1e-9),
        ("hard", "mahalanobis", 1e-9),
        ("hard", "cosine", 1e-9),
        ("split", "gaussian", 1e-9),
    ],
)
def test_ewocs_scores_as_on_the_processor(weak, divergence, bound):
    data = X + 9.0 if divergence in ("kl", "cosine") else X
    options = {"weak": weak, "divergence": divergence, "gamma": 1.0, "n_repetitions": 30}
    options |= {"threshold": "2gauss", "scaling": "none", "k_max": 20, "random_state": 0}
    wanted = cs.EWOCS(**options).fit(data)
    got = cs.EWOCS(**options, device=DEVICE).fit(data)
    np.testing.assert_allclose(got.scores_, wanted.scores_, rtol=bound, atol=bound)
    np.testing.assert_allclose(got.standard_errors_, wanted.standard_errors_, rtol=1e-6, atol=1e-9)
    assert (got.labels_ != wanted.labels_).mean() < 1e-3
    assert wanted.device_ == "cpu"
    assert got.device_ == DEVICE
    # Models of a fit on one side score on the other.
    np.testing.assert_allclose(got.score_samples(data), wanted.scores_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("dense", [True, False])
def test_ewocs_of_whole_numbers_and_single_precision(dense):
    rng = np.random.default_rng(0)
    data = (rng.random((1100, 30)) < 0.2).astype(np.float32)
    given = data if dense else sparse.csr_array(data)
    options = {"gamma": 0.1, "n_repetitions": 20, "threshold": "2gauss", "scaling": "none"}
    options |= {"random_state": 0, "clusterer": None}
    wanted = cs.EWOCS(**options).fit(data.astype(np.float64))
    got = cs.EWOCS(**options, device=DEVICE).fit(given)
    np.testing.assert_allclose(got.scores_, wanted.scores_, rtol=1e-5, atol=1e-5)


def test_ewocs_goes_on_and_stops_by_both_rules():
    options = {"gamma": 1.0, "threshold": "2gauss", "random_state": 0, "max_repetitions": 200}
    whole = cs.EWOCS(n_repetitions=40, device=DEVICE, **options).fit(X)
    parts = cs.EWOCS(n_repetitions=25, device=DEVICE, **options).fit(X).more(X, 15)
    np.testing.assert_allclose(whole.scores_, parts.scores_, rtol=1e-12)
    for stop in ("paper", "reliability"):
        got, wanted = (cs.EWOCS(stop=stop, device=d, **options).fit(X) for d in (DEVICE, None))
        assert got.n_repetitions_ == wanted.n_repetitions_
        np.testing.assert_allclose(got.history_, wanted.history_, rtol=1e-5)


def test_ewocs_of_tensors_and_of_what_stays_on_the_processor():
    options = {"gamma": 1.0, "n_repetitions": 10, "threshold": "2gauss", "random_state": 0}
    wanted = cs.EWOCS(**options).fit(X)
    got = cs.EWOCS(**options).fit(torch.as_tensor(X).to(DEVICE))
    assert got.device_.startswith(DEVICE)
    np.testing.assert_allclose(got.scores_, wanted.scores_, rtol=1e-9)
    weighted = cs.EWOCS(**options, device=DEVICE).fit(X, sample_weight=np.arange(len(X)) % 2 + 1)
    assert weighted.device_ == "cpu"


def test_labels_of_tensors_are_tensors_on_their_device():
    there = torch.as_tensor(X).to(DEVICE)
    options = {"gamma": 1.0, "n_repetitions": 10, "threshold": "2gauss", "random_state": 0}
    generator = cs.generate.KMeansEnsemble(n_members=8, n_clusters=4, random_state=0)
    for model in (cs.EWOCS(**options), cs.EAC(3, generator=generator, random_state=0)):
        wanted = model.fit_predict(X)
        for labels in (model.fit_predict(there), model.predict(there)):
            assert labels.device.type == there.device.type
            np.testing.assert_array_equal(labels.cpu(), wanted)
        assert isinstance(model.labels_, np.ndarray)
    scores = cs.EWOCS(**options).fit(X).score_samples(there)
    assert scores.device.type == there.device.type


@pytest.mark.parametrize("values", ["fraction", "count"])
@pytest.mark.parametrize("form", ["dense", "condensed", "nearest"])
@pytest.mark.parametrize("missing", ["pair", "all"])
def test_co_association_is_the_same(values, form, missing):
    labels = np.random.default_rng(0).integers(-1, 4, (60, 12))
    labels[np.random.default_rng(1).random((60, 12)) < 0.2] = cs.ensemble.UNSEEN
    ensemble = cs.Ensemble(labels)
    options = {"values": values, "form": form, "missing": missing, "n_neighbors": 5}
    counted = cs.evidence.co_association
    got, wanted = (counted(ensemble, device=d, **options) for d in (DEVICE, None))
    if form == "nearest":
        got, wanted = got.toarray(), wanted.toarray()
    np.testing.assert_array_equal(got, wanted)
    assert got.dtype == wanted.dtype


def test_cluster_gives_the_same_result_and_says_where_it_ran():
    data = np.concatenate([X, X + 20.0, X + np.array([20.0, 0.0])])
    options = {"n_members": 12, "random_state": 0, "effort": "quick"}
    wanted = cs.cluster(data, **options)
    assert set(wanted.ran_on.values()) == {"cpu"}
    for given, device in ((data, DEVICE), (torch.as_tensor(data).to(DEVICE), None)):
        got = cs.cluster(given, device=device, **options)
        np.testing.assert_array_equal(got.labels, wanted.labels)
        np.testing.assert_array_equal(got.confidence, wanted.confidence)
        np.testing.assert_array_equal(got.runner_up, wanted.runner_up)
        assert got.parameters == wanted.parameters
        assert got.ran_on["generate"].startswith(DEVICE)
        assert got.ran_on["prepare"] == got.ran_on["consensus"] == "cpu"
        if device is None:  # the data are there, and what can be done there is
            for stage in ("labels of all objects", "confidence"):
                assert got.ran_on[stage].startswith(DEVICE)
        else:
            assert got.ran_on["confidence"] == "cpu"
            assert "labels of all objects" not in got.ran_on
        # Small: advice, on anything but the processor.
        assert any("small" in note for note in got.notes) == (DEVICE != "cpu")
        assert ("ran on" in repr(got)) == (DEVICE != "cpu")
    np.testing.assert_array_equal(got.predict(data + 0.1).labels, wanted.predict(data + 0.1).labels)


@pytest.mark.parametrize("method", ["mcla", "eac", "kcc", "sec"])
def test_methods_of_a_job_run_where_the_data_are(monkeypatch, method):
    there, asked = torch.as_tensor(X).to(DEVICE), []
    whole = places.place_of_stage

    def noted(stage, device, *, there):
        asked.append((stage, whole(stage, device, there=there)))
        return asked[-1][1]

    monkeypatch.setattr(_task, "place_of_stage", noted)
    options = {"n_members": 8, "random_state": 0, "method": method}
    wanted = cs.cluster(X, 3, **options)
    for given, device in ((X, DEVICE), (there, None)):
        asked.clear()
        got = cs.cluster(given, 3, device=device, **options)
        np.testing.assert_array_equal(got.labels, wanted.labels)
        np.testing.assert_array_equal(got.confidence, wanted.confidence)
        assert got.ran_on["generate"].startswith(DEVICE)
        gains = {stage for stage, place in asked if place is not None}
        # Labels of the host do not gain from the way to a card; data that are there stay.
        assert gains == ({"generate"} if device else {"generate", "confidence", method})


@pytest.mark.parametrize("stage", sorted(places.GAINS))
def test_a_stage_runs_on_a_card_where_it_gains_or_the_data_are(stage):
    assert places.place_of_stage(stage, "cuda:0", there=True) == "cuda:0"
    expected = "cuda:0" if places.GAINS[stage] >= 9.5 else None
    assert places.place_of_stage(stage, "cuda:0", there=False) == expected
    assert places.place_of_stage(stage, None, there=False) is None
    assert places.place_of_stage("nobody's", "cuda:0", there=False) is None


def test_several_methods_and_refinement_on_a_device():
    options = {"n_members": 8, "random_state": 0, "refine": True, "methods": ["mcla", "voting"]}
    got, wanted = (cs.cluster(X, 3, device=d, **options) for d in (DEVICE, None))
    np.testing.assert_array_equal(got.labels, wanted.labels)
    np.testing.assert_array_equal(got.confidence, wanted.confidence)
    assert got.ran_on["generate"].startswith(DEVICE)
    assert got.ran_on["confidence"] == "cpu"


def test_minority_groups_say_where_they_were_scored():
    options = {"n_repetitions": 20, "threshold": "2gauss", "gamma": 1.0, "random_state": 0}
    wanted = cs.minority_groups(X, **options)
    for given, device in ((X, DEVICE), (torch.as_tensor(X).to(DEVICE), None)):
        got = cs.minority_groups(given, device=device, **options)
        np.testing.assert_allclose(got.scores, wanted.scores, rtol=1e-9, atol=1e-9)
        assert got.ran_on["score"].startswith(DEVICE)
    assert wanted.ran_on == {"prepare": "cpu", "score": "cpu", "thresholds": "cpu"}


def test_the_command_takes_a_device(tmp_path):
    pytest.importorskip("cyclopts", reason="the command needs the extra 'cli'")
    from consilience.cli import main

    np.savetxt(tmp_path / "x.csv", X[:200], delimiter=",", header="a,b", comments="")
    common = ["--device", DEVICE, "--quiet"]
    out = ["--out", str(tmp_path / "run")]
    assert main(["cluster", str(tmp_path / "x.csv"), "--members", "8", *common, *out]) == 0
    ran_on = json.loads((tmp_path / "run" / "timings.json").read_text())["ran_on"]
    assert ran_on["generate"].startswith(DEVICE)
    out = ["--out", str(tmp_path / "few"), "--repetitions", "20", "--threshold", "2gauss"]
    assert main(["minority", str(tmp_path / "x.csv"), *common, *out]) == 0
    assert main(["cluster", str(tmp_path / "x.csv"), "--device", "graphics"]) == 2


def test_bad_devices_are_refused_by_name():
    for call in (
        lambda d: cs.EWOCS(device=d).fit(X),
        lambda d: cs.cluster(X, device=d),
        lambda d: cs.minority_groups(X, device=d),
        lambda d: cs.AutoConsensus(device=d).fit(X),
        lambda d: cs.evidence.confidence(cs.Ensemble([[0, 0, 1]]), np.zeros(3, int), device=d),
        lambda d: cs.generate.KMeansEnsemble(device=d).generate(X),
        lambda d: cs.evidence.co_association(cs.Ensemble([[0, 0, 1]]), device=d),
    ):
        for bad in ("graphics", 3):
            with pytest.raises(InvalidParameterError, match="'device'"):
                call(bad)


def test_nobody_who_does_not_ask_imports_torch():
    code = (
        "import sys, numpy as np, consilience as cs\n"
        "X = np.random.default_rng(0).normal(size=(60, 2))\n"
        "cs.generate.KMeansEnsemble(n_members=3, n_clusters=3).generate(X)\n"
        "cs.EWOCS(n_repetitions=5, threshold='2gauss').fit(X)\n"
        "import consilience.engines.torch\n"
        "sys.exit('torch' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
