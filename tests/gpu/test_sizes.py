# ruff: noqa: E402
"""Sizes that fill no tile, twice, and in any memory: the answers of the processor, to the bit."""

import os

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

import consilience as cs
from consilience import Ensemble
from consilience.consensus.kmeans_forms import kcc, sec
from consilience.engines._device import beyond, labels, pairs
from consilience.engines._device.memory import VARIABLE
from consilience.engines.cpu import Cpu
from consilience.engines.torch import Torch
from consilience.evidence import anco, co_association, confidence, object_weights, relative_overlap

pytestmark = [pytest.mark.torch, pytest.mark.filterwarnings("ignore::RuntimeWarning")]
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")
# Around the tiles of kernels, 16 to 128, and far below them.
SIZES = st.sampled_from([1, 2, 15, 16, 17, 63, 65, 127, 128, 129, 300])
SEEDS = st.integers(0, 2**32 - 1)


def limited(patch, limit):
    """Data may take so many bytes; None: as many as there are."""
    if limit is None:
        patch.delenv(VARIABLE, raising=False)
    else:
        patch.setenv(VARIABLE, f"{limit} B")


def same_bits(one, other):
    """Whether two answers are the same, however they are put together."""
    if isinstance(one, tuple | list):
        for a, b in zip(one, other, strict=True):
            same_bits(a, b)
    else:
        np.testing.assert_array_equal(one, other)


def in_any_memory(call, *limits):
    """What a call gives: twice, and within each limit, the same bits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(beyond, "_WHOLE", 64)
        limited(patch, None)
        first = call()
        for limit in (None, *limits):
            limited(patch, limit)
            same_bits(call(), first)
    return first


@settings(max_examples=15)
@given(SIZES, st.sampled_from([1, 2, 17, 64, 65]), st.integers(1, 20), SEEDS)
@example(1, 1, 1, 0)  # one object, one cluster
@example(2, 3, 20, 0)  # more clusters than objects
@example(130, 2000, 3, 0)
@example(70, 2000, 17, 1)
def test_k_means_of_any_size(n, d, k, seed):
    rng = np.random.default_rng(seed)
    kind = (np.float32, np.float64)[seed % 2]
    X = rng.integers(0, 4, (n, d)).astype(kind) if seed % 3 else rng.normal(3, 1, (n, d))
    X = X.astype(kind)
    # Drawn with repeats: clusters are empty.
    starts = [X[rng.integers(0, n, k)], X[:1]]
    needed = n * beyond.row_bytes(d, X.itemsize)

    def call():
        found = Torch(X, DEVICE).lloyd(starts, max_iter=4)
        return found.labels, found.n_iter, found.inertia, list(found.centres)

    got, wanted = in_any_memory(call, needed // 2, needed // 10), Cpu(X).lloyd(starts, max_iter=4)
    np.testing.assert_array_equal(got[0], wanted.labels)
    np.testing.assert_array_equal(got[1], wanted.n_iter)
    scale = float(np.square(X.astype(float)).sum())
    np.testing.assert_allclose(got[2], wanted.inertia, rtol=1e-9, atol=1e-12 * scale)
    placed = in_any_memory(lambda: Torch(X, DEVICE).assign(starts), needed // 10)
    np.testing.assert_array_equal(placed, Cpu(X).assign(starts))


def table_of(rng, n, n_members, k):
    """Labels with noise and unseen objects; of k clusters, some of which have nobody."""
    return rng.integers(-2, k, (n, n_members))


@settings(max_examples=15)
@given(SIZES, st.sampled_from([1, 2, 17, 33]), st.integers(1, 70), SEEDS)
@example(1, 1, 1, 0)
@example(3, 300, 1, 0)  # more members than a byte counts
def test_evidence_of_any_size(n, n_members, k, seed):
    rng = np.random.default_rng(seed)
    ensemble = Ensemble(table_of(rng, n, n_members, k))
    groups, size = rng.integers(-1, 4, n), ensemble.members.nbytes

    def call(device):
        options = {"exact": False, "device": device}
        judged = confidence(ensemble, groups, **options)
        counted = {"values": "count", "device": device}
        return [
            judged.confidence,
            judged.runner_up,
            object_weights(ensemble, device=device),
            co_association(ensemble, **counted),
            co_association(ensemble, form="condensed", **counted),
        ]

    tables = labels.joint_bytes(ensemble.offsets()[-1] + 2 * n_members)
    hot = pairs.hot_bytes(np.asarray(ensemble.members))
    limits = {max(1, size // 10), max(1, size // 2), tables // 10 + 1, hot, n * n // 10 + 1}
    same_bits(in_any_memory(lambda: call(DEVICE), *sorted(limits)), call(None))


@settings(max_examples=10)
@given(SIZES, st.integers(1, 5), SEEDS)
@example(1, 1, 0)
def test_linear_consensus_and_ambiguity_of_any_size(n, k, seed):
    ensemble = Ensemble(np.random.default_rng(seed).integers(0, 4, (n, 5)))

    def call(device):
        options = {"random_state": 0, "n_init": 2, "device": device}
        found = [method(ensemble, min(k, n), **options) for method in (sec, kcc)]
        return [(one.labels, one.objective, one.n_iter) for one in found]

    same_bits(in_any_memory(lambda: call(DEVICE), max(1, n // 2)), call(None))
    for overlap in (anco, relative_overlap):
        got = in_any_memory(lambda call=overlap: call(ensemble, device=DEVICE), max(1, n // 2))
        np.testing.assert_allclose(got, overlap(ensemble), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("form", ["dense", "condensed", "nearest"])
@pytest.mark.parametrize("missing", ["pair", "all"])
def test_pairs_ten_times_larger_than_the_device(monkeypatch, form, missing):
    table = table_of(np.random.default_rng(0), 1500, 6, 5)
    ensemble, asked = Ensemble(table), []
    options = {"form": form, "missing": missing, "values": "count", "n_neighbors": 5}
    wanted = co_association(ensemble, **options)
    whole = pairs._count_blocks

    def noted(hot, most=pairs._COUNTS):
        for start, counts in whole(hot, most):
            asked.append(counts.nbytes)
            yield start, counts

    monkeypatch.setattr(pairs, "_count_blocks", noted)
    limit = wanted.shape[0] ** 2 // 10 if form != "condensed" else len(wanted) // 5
    monkeypatch.setenv(VARIABLE, f"{limit + pairs.hot_bytes(np.asarray(ensemble.members)) // 2} B")
    got = co_association(ensemble, device=DEVICE, **options)
    if form == "nearest":
        got, wanted = got.toarray(), wanted.toarray()
    np.testing.assert_array_equal(got, wanted)
    if DEVICE == "cpu":  # a card's nearest go through a kernel, in blocks of their own
        assert len(asked) > 10
        assert max(asked) <= limit


def test_a_job_ten_times_larger_than_the_device(monkeypatch):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(c, 0.3, (2500, 4)) for c in (0.0, 3.0)])
    options = {"n_members": 4, "random_state": 0, "effort": "quick"}
    wanted = cs.cluster(X, **options)
    needed = len(X) * beyond.row_bytes(X.shape[1], X.itemsize)
    limited(monkeypatch, needed // 10)
    assert Torch(X, DEVICE)._is_beyond()
    for _ in range(2):
        got = cs.cluster(X, **options, device=DEVICE)
        np.testing.assert_array_equal(got.labels, wanted.labels)
        np.testing.assert_array_equal(got.confidence, wanted.confidence)
        assert got.ran_on["generate"].startswith(DEVICE)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("limit", [None, 1000])
def test_what_is_no_number_is_refused_whatever_fits(monkeypatch, bad, limit):
    limited(monkeypatch, limit)
    X = np.ones((300, 3))
    X[200, 1] = bad
    words = "NaN" if np.isnan(bad) else "infinity"
    for call in (
        lambda rows, device: cs.generate.KMeansEnsemble(3, 2, device=device).generate(rows),
        lambda rows, device: cs.KCC(2, device=device).fit(rows),
        lambda rows, device: cs.EWOCS(n_repetitions=3, device=device).fit(rows),
    ):
        for rows, device in ((X, DEVICE), (torch.as_tensor(X).to(DEVICE), None)):
            with pytest.raises(ValueError, match=words):
                call(rows, device)
