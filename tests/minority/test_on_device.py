"""What is brought to a torch device, on its CPU device."""

import numpy as np
import pytest
from scipy import sparse

pytest.importorskip("torch")

from consilience.minority import _on_device
from consilience.minority.weak import weak_clusterer


@pytest.mark.parametrize(
    ("value", "whole"),
    [(0.0, True), (-3.0, True), (2048.0, True), (-2048.0, True), (2049.0, False), (-2049.0, False),
     (0.5, False), (-1.5, False), (np.nan, False)],
)  # fmt: skip
@pytest.mark.parametrize("place", [0, 999, 1000, 2499])
def test_whole_numbers_are_told_by_every_value(value, whole, place):
    values = np.arange(2500.0) % 7
    values[place] = value
    assert _on_device._are_whole(values) is whole


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("whole", [True, False])
def test_distances_of_small_whole_numbers_are_taken_from_zero(form, whole, seed):
    X = np.random.default_rng(seed).integers(0, 9, (40, 3)) + (0.0 if whole else 0.25)
    weak = weak_clusterer("soft", divergence="euclidean").fit(form(X))
    centre = _on_device._uncentred(weak, form(X)).divergence.centre
    centred = form is np.asarray and not whole
    np.testing.assert_array_equal(centre, X.mean(axis=0) if centred else np.zeros(3))
    for other in ("split", "hard"):
        weak = weak_clusterer(other, divergence="mahalanobis").fit(X)
        assert _on_device._uncentred(weak, X) is weak


@pytest.mark.parametrize("weak", ["soft", "hard", "split"])
@pytest.mark.parametrize("divergence", ["gaussian", "euclidean", "mahalanobis", "kl"])
def test_objects_brought_in_parts_are_those_brought_at_once(weak, divergence, seed, monkeypatch):
    X = np.random.default_rng(seed).uniform(1, 2, (50, 3))
    fitted = weak_clusterer(weak, divergence=divergence).fit(X)
    whole = _on_device.DeviceScorer(fitted, X, "cpu").objects
    monkeypatch.setattr(_on_device, "_AT_ONCE", 16)
    parts = _on_device.DeviceScorer(fitted, X, "cpu").objects
    np.testing.assert_allclose(parts.matrix.numpy(), whole.matrix.numpy(), rtol=1e-5)
    np.testing.assert_allclose(parts.rows.numpy(), whole.rows.numpy(), rtol=1e-5)
    assert len(whole.rows) == 50
