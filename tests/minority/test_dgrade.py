"""DGRADE: counts and labels by the definition, staged lists, memory, bad input."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse
from sklearn.utils.estimator_checks import parametrize_with_checks

from consilience.errors import InvalidInputError, InvalidParameterError, MemoryBudgetError
from consilience.minority import _founders
from consilience.minority._founders import longest_run
from consilience.minority.bubbles import bbc
from consilience.minority.dgrade import DGRADE, dgrade, dgrade_memory
from consilience.minority.divergences import Precomputed


@parametrize_with_checks(
    [DGRADE(0.9), DGRADE(0.9, divergence="euclidean", n_sample=30, max_iter=20)]
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


def grid(max_objects=14):
    shape = st.tuples(st.integers(2, max_objects), st.integers(1, 2))
    arrays = shape.flatmap(lambda s: npst.arrays(np.float64, s, elements=st.integers(0, 7)))
    return arrays.filter(lambda X: (X[0] != X).any())


def labels_slowly(X, n_dense, size):
    """The definition; equal costs by index, the object itself its first neighbour."""
    distances = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    near = [
        sorted(range(len(X)), key=lambda j: (j != i, distances[i, j], j))[:size]
        for i in range(len(X))
    ]
    costs = [distances[i, near[i]].sum() for i in range(len(X))]
    labels = np.full(len(X), -1)
    for i in sorted(range(len(X)), key=lambda i: (costs[i], i))[:n_dense]:
        leader = min(near[i], key=lambda j: (costs[j], j))
        labels[i] = labels.max() + 1 if leader == i else labels[leader]
    return labels


def rule_slowly(counts):
    """First smoothing of the longest run above one cluster, by the words of the rule."""
    runs = []
    for place, count in enumerate(counts, 1):
        if count == 1:
            break
        if runs and runs[-1][0] == count:
            runs[-1][2] += 1
        else:
            runs.append([count, place, 1])
        if count == 2 and all(runs[-1][2] > run[2] for run in runs[:-1]):
            break
    return max(runs, key=lambda run: run[2])[1] if runs else 1


@given(grid(), st.data())
@settings(max_examples=40)
def test_counts_and_labels_equal_the_definition(X, data):
    n_dense = data.draw(st.integers(1, len(X)))
    wanted = [labels_slowly(X, n_dense, s) for s in range(1, len(X) + 1)]
    counts = [labels.max() + 1 for labels in wanted]
    found = dgrade(X, n_dense, divergence="euclidean")
    np.testing.assert_array_equal(found.counts, counts[: len(found.counts)])
    assert found.smoothing == rule_slowly(counts)
    np.testing.assert_array_equal(found.seeds, wanted[found.smoothing - 1])
    given_ = data.draw(st.integers(1, len(X) + 2))
    chosen = dgrade(X, n_dense, smoothing=given_, divergence="euclidean")
    np.testing.assert_array_equal(chosen.seeds, wanted[min(given_, len(X)) - 1])


@given(st.lists(st.integers(1, 4), min_size=1, max_size=12))
@settings(max_examples=50)
def test_the_longest_run_is_found_as_counts_come(counts):
    assert longest_run(iter(counts), []) == rule_slowly(counts)


def noisy(seed, n_noise=160, d=2):
    rng = np.random.default_rng(seed)
    noise = rng.uniform(-4, 4, (n_noise, d))
    X = np.concatenate([noise, rng.normal(-2, 0.1, (25, d)), rng.normal(2, 0.15, (30, d))])
    return X, np.repeat([0, 1, 2], [n_noise, 25, 30])


def test_stages_of_the_lists_change_nothing(seed, monkeypatch):
    X, _ = noisy(seed)
    whole = dgrade(X, 55)
    monkeypatch.setattr(_founders, "_STAGES", (2, 3, 7, 20))
    staged = dgrade(X, 55)
    np.testing.assert_array_equal(staged.counts, whole.counts)
    np.testing.assert_array_equal(staged.labels, whole.labels)
    assert staged.memory <= whole.memory


def test_bubbles_start_from_the_seeds_and_find_the_groups(seed):
    X, y = noisy(seed)
    model = DGRADE(55).fit(X)
    np.testing.assert_array_equal(model.labels_ >= 0, model.scores_ >= model.threshold_)
    assert (model.labels_ >= 0).sum() == 55
    assert (y[model.labels_ >= 0] > 0).mean() > 0.8
    np.testing.assert_array_equal(model.predict(X), model.labels_)
    np.testing.assert_array_equal(
        np.concatenate([model.predict(row[None]) for row in X]), model.labels_
    )
    found = dgrade(X, 55)
    np.testing.assert_array_equal(bbc(X, 55, found.seeds).labels, found.labels)
    assert len(np.unique(found.seeds[found.seeds >= 0])) == found.counts[found.smoothing - 1]


def test_other_forms_of_the_same_data(seed):
    X, _ = noisy(seed)
    X = np.round(X, 2)
    dense = dgrade(X, 55, divergence="euclidean")
    csr = dgrade(sparse.csr_array(X), 55, divergence="euclidean")
    np.testing.assert_array_equal(csr.labels, dense.labels)
    gaps = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
    far = dgrade(gaps, 55, divergence=Precomputed(kind="distance"))
    np.testing.assert_array_equal(far.labels, dense.labels)
    part = dgrade(gaps, 55, divergence=Precomputed(kind="distance"), n_sample=150, random_state=0)
    assert (part.seeds >= 0).sum() == round(55 * 150 / len(X))


def test_memory_is_announced_and_kept(monkeypatch):
    X = np.random.default_rng(0).normal(size=(1500, 2))
    dgrade(X[:50], 5)
    tracemalloc.start()
    found = dgrade(X, 0.1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= found.memory
    with pytest.raises(MemoryBudgetError, match=r"draw a sample \(n_sample\)"):
        dgrade(X, 0.1, max_memory=dgrade_memory(1500, 256) - 1)
    small = dgrade(X, 0.1, n_sample=200, max_memory=dgrade_memory(200, 256), random_state=0)
    assert (small.labels >= 0).sum() == 150


def test_degenerate_data_and_bad_input():
    X = np.random.default_rng(0).normal(size=(20, 2))
    assert dgrade(np.ones((5, 2)), 2).flag == "no_contrast"
    assert (dgrade(np.ones((5, 2)), 2).labels == -1).all()
    assert DGRADE().fit([[0.0]]).flag_ == "degenerate"
    assert (dgrade(X, 20).labels >= 0).all()
    assert (dgrade(X, 50).labels >= 0).all()
    assert (dgrade(X, 1).labels >= 0).sum() == 1
    twins = np.repeat(X[:4], 5, axis=0)
    assert (dgrade(twins, 10).labels >= 0).sum() >= 10
    for bad in (0, 1.5, -1, "many", True):
        with pytest.raises(InvalidParameterError, match="'n_foreground' parameter of DGRADE"):
            dgrade(X, bad)
    with pytest.raises(InvalidParameterError, match="'smoothing' parameter of DGRADE"):
        dgrade(X, 5, smoothing=0)
    with pytest.raises(InvalidInputError, match="at least 0"):
        dgrade(X, 5, divergence="kl")
