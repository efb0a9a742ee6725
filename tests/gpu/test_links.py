# ruff: noqa: E402
"""Trees with pairs counted or linked on a torch device: those of the processor, ties and all."""

import os
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip(
    "torch", reason="torch is not installed; pip install 'consilience[gpu]' brings it"
)

from strategies import label_tables

import consilience as cs
from consilience import Ensemble
from consilience.consensus import accumulation
from consilience.consensus.accumulation import eac
from consilience.engines._device.tree import shares_by_rank
from consilience.engines.torch import Torch
from consilience.kernels.links.prim import minimum_spanning_tree
from consilience.kernels.pairs.counts import has_unseen

pytestmark = [
    pytest.mark.torch,
    # The interpreter divides where a card masks.
    pytest.mark.filterwarnings("ignore::RuntimeWarning"),
]
DEVICE = os.environ.get("CONSILIENCE_TEST_DEVICE", "cpu")
LINKS = ["single", "average", "complete", "ward"]


def same_tree(members, missing):
    by_pair = missing == "pair" and has_unseen(members)
    got = Torch(members, DEVICE).spanning_tree(by_pair=by_pair)
    wanted = minimum_spanning_tree(members, missing=missing)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@given(label_tables(), st.sampled_from(["pair", "all"]))
def test_the_spanning_tree_is_that_of_the_processor(table, missing):
    same_tree(np.ascontiguousarray(Ensemble(table).members), missing)


@pytest.mark.skipif(DEVICE != "cpu", reason="kernels are interpreted or compiled in a process")
@pytest.mark.parametrize("missing", ["pair", "all"])
@pytest.mark.parametrize(("n", "n_members"), [(1, 2), (2, 1), (40, 5), (300, 33)])
def test_the_spanning_tree_by_the_kernel(monkeypatch, n, n_members, missing):
    pytest.importorskip("triton", reason="triton is not installed; torch with CUDA brings it")
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    rng = np.random.default_rng(n)
    same_tree(rng.integers(-2, 3, (n_members, n)).astype(np.int8), missing)


@pytest.mark.parametrize("n_members", [1, 7])
def test_ranks_of_shares_are_in_their_order(n_members):
    values, ranks = shares_by_rank(n_members)
    assert (np.diff(values) > 0).all()
    for seen in range(n_members + 1):
        for joined in range(seen + 1):
            assert values[ranks[seen, joined]] == joined / max(seen, 1)


@given(label_tables(), st.sampled_from(LINKS), st.sampled_from(["pair", "all"]))
def test_eac_is_that_of_the_processor(table, linkage, missing):
    options = {"linkage": linkage, "missing": missing}
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of objects that nobody placed
        patch.setattr(accumulation, "_WHOLE_FROM", 2)
        wanted, got = (eac(Ensemble(table), device=d, **options) for d in (None, DEVICE))
    np.testing.assert_array_equal(got.labels, wanted.labels)
    np.testing.assert_array_equal(got.linkage, wanted.linkage)


@pytest.mark.parametrize("linkage", LINKS)
@pytest.mark.parametrize("limit", [None, "40 KiB", "1 KiB"])
def test_what_does_not_fit_is_counted_by_the_processor(monkeypatch, linkage, limit):
    monkeypatch.setattr(accumulation, "_WHOLE_FROM", 2)
    table = np.random.default_rng(0).integers(0, 4, (300, 6))
    wanted = eac(Ensemble(table), 4, linkage=linkage)
    if limit is not None:
        monkeypatch.setenv("CONSILIENCE_DEVICE_MEMORY", limit)
    got = eac(Ensemble(table), 4, linkage=linkage, device=DEVICE)
    np.testing.assert_array_equal(got.linkage, wanted.linkage)
    np.testing.assert_array_equal(got.labels, wanted.labels)
    places = got.details["ran_on"]
    fits = limit is None or (limit == "40 KiB" and linkage == "single")
    there = str(torch.device(DEVICE)) if DEVICE == "cpu" else "cuda:0"
    assert places["pair counts"] == (there if fits else "cpu")
    assert places["consensus"] == (there if fits and linkage == "single" else "cpu")


def test_the_estimator_takes_a_device():
    X = np.random.default_rng(0).normal(size=(200, 2))
    options = {"linkage": "single", "random_state": 0}
    got, wanted = (cs.EAC(3, device=d, **options).fit(X) for d in (DEVICE, None))
    np.testing.assert_array_equal(got.labels_, wanted.labels_)
    np.testing.assert_array_equal(got.confidence_, wanted.confidence_)
    assert got.details_["ran_on"]["consensus"].startswith(DEVICE)
