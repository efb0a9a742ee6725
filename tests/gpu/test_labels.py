# ruff: noqa: E402
"""Passes over labels on a torch device: the integers and bits of the processor's kernels."""

import os
import warnings

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

from strategies import label_tables

from consilience import Ensemble
from consilience.consensus.kmeans_forms import kcc, sec
from consilience.engines._device import labels as passes
from consilience.engines.torch import label_rows
from consilience.evidence import anco, confidence, object_weights, relative_overlap
from consilience.kernels.labels.confidence import nearness
from consilience.kernels.labels.products import row_sums

pytestmark = pytest.mark.torch
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")


def drawn(seed, n, n_members, k, *, missing=0.2):
    """An ensemble with noise and unseen objects, and a consensus of k groups."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 5, (n, n_members))
    labels[rng.random((n, n_members)) < missing] = -2
    return Ensemble(labels), rng.integers(-1, k, n)


@given(label_tables(), st.integers(1, 70), st.integers(0, 2**32 - 1))
def test_row_sums_have_the_bits_of_the_processor(table, k, seed):
    ensemble = Ensemble(table)
    starts = ensemble.offsets()
    values = np.random.default_rng(seed).normal(size=(int(starts[-1]), k))
    rows = label_rows(ensemble.members, starts, DEVICE)
    wanted = row_sums(ensemble.members, starts, values)
    parts = [sums.cpu().numpy() for _, _, sums in rows.row_sums(rows.there(values))]
    np.testing.assert_array_equal(np.concatenate(parts), wanted)
    np.testing.assert_array_equal(rows.largest(values), wanted.argmax(axis=1))


@given(label_tables(), st.integers(1, 4), st.booleans(), st.integers(0, 2**32 - 1))
@example(np.array([[-1]]), 1, False, 0)  # no cluster at all
def test_nearness_is_that_of_the_processor(table, k, by_seen, seed):
    ensemble = Ensemble(table)
    rng = np.random.default_rng(seed)
    labels, counts = rng.integers(-1, k, len(table)), rng.integers(1, 4, len(table))
    for weights in (None, counts):
        wanted = nearness(
            ensemble.members, labels, k, by_seen=by_seen, starts=ensemble.offsets(), counts=weights
        )
        rows = label_rows(ensemble.members, ensemble.offsets(), DEVICE)
        *got, share = rows.nearness(labels, k, by_seen=by_seen, weights=weights)
        both = wanted.own + wanted.other
        np.testing.assert_array_equal(
            share, np.divide(wanted.own, both, out=np.zeros(len(both)), where=both > 0)
        )
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(("n_rows", "n_parts"), [(0, 1), (0, 0), (2, 0), (2, 3)])
@pytest.mark.parametrize("n_digits", [1, 2])
def test_counts_of_digits_are_joined_whatever_is_empty(n_rows, n_parts, n_digits):
    digits = np.arange(n_rows * n_digits * n_parts).reshape(n_rows, n_digits, n_parts)
    wanted = (digits << 7 * np.arange(n_digits)[:, None]).sum(axis=1)
    flat = torch.as_tensor(digits.reshape(n_rows, n_digits * n_parts)).to(DEVICE)
    np.testing.assert_array_equal(passes._from_digits(flat, n_parts).cpu(), wanted)


@given(label_tables())
def test_weights_and_overlap_are_those_of_the_processor(table):
    ensemble = Ensemble(table)
    got, wanted = (object_weights(ensemble, device=d) for d in (DEVICE, None))
    np.testing.assert_array_equal(got, wanted)
    for call in (anco, relative_overlap):
        for n_pairs in (None, 2):
            # A logarithm or a root of a device may be off by its last digit.
            options = {"n_pairs": n_pairs, "random_state": 0}
            got, wanted = (call(ensemble, device=d, **options) for d in (DEVICE, None))
            np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-12)


def test_weights_are_found_elsewhere_where_the_tables_do_not_fit(monkeypatch):
    def never(*args):
        raise AssertionError("tables were made on the device")

    ensemble, _ = drawn(0, 60, 4, 3)
    wanted = object_weights(ensemble)
    monkeypatch.setattr("consilience.engines.torch.memory_of", lambda device: 1)
    monkeypatch.setattr("consilience.engines.torch.label_rows", never)
    np.testing.assert_array_equal(object_weights(ensemble, device=DEVICE), wanted)


@given(label_tables(), st.integers(1, 4), st.sampled_from(["sec", "c", "h", "cos", "lp"]))
def test_k_means_on_labels_is_that_of_the_processor(table, k, form):
    ensemble = Ensemble(table)
    call, options = (sec, {}) if form == "sec" else (kcc, {"utility": form})
    options |= {"random_state": 0, "n_init": 2}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = call(ensemble, min(k, len(table)), **options)
        got = call(ensemble, min(k, len(table)), device=DEVICE, **options)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    assert (got.objective, got.n_iter, got.converged) == (
        wanted.objective,
        wanted.n_iter,
        wanted.converged,
    )


def test_many_label_rows_start_from_a_sample_on_the_device(monkeypatch):
    from consilience.consensus import _label_kmeans

    monkeypatch.setattr(_label_kmeans, "_SAMPLE_ABOVE", 50)
    monkeypatch.setattr(_label_kmeans, "_SAMPLE", 30)
    ensemble, _ = drawn(3, 300, 6, 3, missing=0.0)
    wanted = sec(ensemble, 3, random_state=0, n_init=3)
    got = sec(ensemble, 3, random_state=0, n_init=3, device=DEVICE)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    assert got.details["ran_on"] == {"consensus": DEVICE}
    assert "ran_on" not in wanted.details


@pytest.mark.parametrize("missing", ["pair", "all"])
@pytest.mark.parametrize("limit", [None, "3000 B"])
def test_confidence_is_the_same_whatever_fits(monkeypatch, missing, limit):
    ensemble, labels = drawn(0, 900, 7, 3)
    wanted = confidence(ensemble, labels, missing=missing, exact=False)
    if limit is not None:
        monkeypatch.setenv("CONSILIENCE_DEVICE_MEMORY", limit)
    got = confidence(ensemble, labels, missing=missing, exact=False, device=DEVICE)
    assert (wanted.device, got.device) == ("cpu", DEVICE)
    for name in ("confidence", "own", "other", "runner_up"):
        np.testing.assert_array_equal(getattr(got, name), getattr(wanted, name))


def test_blocks_stay_within_the_limit():
    ensemble, _ = drawn(1, 1000, 6, 2)
    device = torch.device(DEVICE)
    rows = passes.LabelRows(ensemble.members, ensemble.offsets(), device, limit=1200)
    blocks = [some for _, some in rows.blocks()]
    assert max(block.nbytes for block in blocks) * 2 <= 1200
    np.testing.assert_array_equal(
        torch.cat(blocks, dim=1).cpu().numpy(), np.asarray(ensemble.members)
    )
