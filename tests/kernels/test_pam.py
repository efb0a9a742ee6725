"""PAM against the brute-force method: every candidate, every exchange, whole-number distances."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist, squareform

from consilience.kernels.data.pam import pam

seeds = st.integers(0, 2**32 - 1)


@st.composite
def problems(draw, max_size=9, least=0):
    """Symmetric whole-number distances full of ties, weights, a number of clusters."""
    n = draw(st.integers(1, max_size))
    pairs = n * (n - 1) // 2
    top = draw(st.sampled_from([1, 3, 20]))
    condensed = draw(st.lists(st.integers(least, top), min_size=pairs, max_size=pairs))
    d = np.zeros((n, n))
    d[np.triu_indices(n, 1)] = condensed
    weights = draw(st.lists(st.integers(1, 3), min_size=n, max_size=n))
    return d + d.T, np.array(weights), draw(st.integers(1, n))


def cost_of(d, weights, medoids):
    return float(weights @ d[:, list(medoids)].min(axis=1))


def build_slowly(d, weights, k):
    medoids = []
    for _ in range(k):
        rest = [i for i in range(len(d)) if i not in medoids]
        medoids.append(min(rest, key=lambda i: (cost_of(d, weights, [*medoids, i]), i)))
    return medoids


def exchanges(d, weights, medoids):
    """Cost, candidate and medoid of every exchange."""
    rest = [i for i in range(len(d)) if i not in medoids]
    for new, old in product(rest, sorted(medoids)):
        yield cost_of(d, weights, (set(medoids) - {old}) | {new}), new, old


def pam_slowly(d, weights, k):
    """Reference: BUILD, then the best exchange of all while one lowers the cost."""
    medoids = build_slowly(d, weights, k)
    n_swaps = 0
    while True:
        best = min(exchanges(d, weights, medoids), default=(np.inf, 0, 0))
        if best[0] >= cost_of(d, weights, medoids):
            return sorted(medoids), n_swaps
        medoids = [m for m in medoids if m != best[2]] + [best[1]]
        n_swaps += 1


def assert_consistent(found, d, weights, k):
    """What holds for every answer: own clusters, nearest medoids, smallest on ties, the cost."""
    assert len(set(found.medoids)) == k
    assert np.all(np.diff(found.medoids) > 0)
    wanted = d[:, found.medoids].argmin(axis=1)
    wanted[found.medoids] = np.arange(k)
    np.testing.assert_array_equal(found.labels, wanted)
    assert found.labels.dtype == np.int32
    assert found.cost == pytest.approx(cost_of(d, weights, found.medoids), rel=1e-12)


@given(problems(), st.sampled_from([np.float64, np.float32, np.uint8]))
def test_best_swaps_equal_plain_pam_ties_included(problem, dtype):
    d, weights, k = problem
    medoids, n_swaps = pam_slowly(d, weights, k)
    found = pam(d.astype(dtype), k, weights=weights, swap="best")
    assert list(found.medoids) == medoids
    assert found.n_swaps == n_swaps
    assert found.converged
    assert_consistent(found, d, weights, k)


@given(problems(max_size=8), st.sampled_from([1 / 3, 0.1, 1e-15, 1e12]))
def test_ties_survive_rounding_errors(problem, unit):
    d, weights, k = problem
    wanted = pam(d, k, weights=weights, swap="best")
    found = pam(d * unit, k, weights=weights, swap="best")
    np.testing.assert_array_equal(found.medoids, wanted.medoids)
    np.testing.assert_array_equal(found.labels, wanted.labels)


@given(problems(), st.data())
def test_eager_swaps_end_in_a_local_optimum(problem, data):
    d, weights, k = problem
    start = data.draw(st.permutations(range(len(d))))[:k]
    for init in ("build", start):
        found = pam(d, k, weights=weights, init=init)
        assert found.converged
        assert_consistent(found, d, weights, k)
        first = build_slowly(d, weights, k) if init == "build" else start
        assert found.cost <= cost_of(d, weights, first)
        assert all(c >= found.cost for c, _, _ in exchanges(d, weights, list(found.medoids)))


@given(seeds, st.integers(4, 40), st.sampled_from(["best", "faster"]))
def test_local_optimum_in_the_plane(seed, n, swap):
    rng = np.random.default_rng(seed)
    d = squareform(pdist(rng.normal(size=(n, 2))))
    k = int(rng.integers(2, min(n, 7)))
    found = pam(d, k, swap=swap, init=rng.choice(n, k, replace=False))
    assert_consistent(found, d, np.ones(n), k)
    best = min(exchanges(d, np.ones(n), list(found.medoids)))
    assert best[0] >= found.cost - 1e-8


@given(problems(max_size=6, least=1), st.sampled_from(["best", "faster"]))
def test_weights_stand_for_identical_objects(problem, swap):
    d, weights, k = problem
    who = np.repeat(np.arange(len(d)), weights)
    small = pam(d, k, weights=weights, swap=swap)
    full = pam(d[np.ix_(who, who)], k, swap=swap)
    np.testing.assert_array_equal(who[full.medoids], small.medoids)
    np.testing.assert_array_equal(full.labels, small.labels[who])
    assert full.cost == small.cost
    assert full.n_swaps == small.n_swaps


@given(problems())
def test_build_alone(problem):
    d, weights, k = problem
    found = pam(d, k, weights=weights, max_swaps=0)
    if k > 1:
        assert list(found.medoids) == sorted(build_slowly(d, weights, k))
        assert found.converged == (pam_slowly(d, weights, k)[1] == 0)
    assert found.n_swaps == 0


@pytest.mark.parametrize("swap", ["best", "faster"])
def test_too_few_swaps_are_said_not_to_have_converged(swap, seed):
    """From medoids in one corner; as many swaps as are needed are enough."""
    points = np.random.default_rng(seed).normal(size=(30, 2)) + 20 * np.repeat(np.eye(3, 2), 10, 0)
    d = squareform(pdist(points))
    full = pam(d, 3, swap=swap, init=[0, 1, 2])
    assert full.converged
    assert full.n_swaps >= 2
    for allowed in range(full.n_swaps):
        found = pam(d, 3, swap=swap, init=[0, 1, 2], max_swaps=allowed)
        assert (found.n_swaps, found.converged) == (allowed, False)
    enough = pam(d, 3, swap=swap, init=[0, 1, 2], max_swaps=full.n_swaps)
    assert (enough.n_swaps, enough.converged) == (full.n_swaps, True)


@pytest.mark.parametrize("swap", ["best", "faster"])
def test_degenerate_sizes(swap):
    d = squareform(pdist(np.random.default_rng(0).normal(size=(7, 2))))
    one = pam(d, 1, swap=swap, init=[6])
    assert list(one.medoids) == [d.sum(axis=1).argmin()]
    assert not one.labels.any()
    every = pam(d, 7, swap=swap)
    np.testing.assert_array_equal(every.labels, np.arange(7))
    assert every.cost == 0
    same = pam(np.zeros((5, 5)), 3, swap=swap)
    np.testing.assert_array_equal(same.medoids, [0, 1, 2])
    np.testing.assert_array_equal(same.labels, [0, 1, 2, 0, 0])
    alone = pam(np.zeros((1, 1)), 1, swap=swap)
    np.testing.assert_array_equal(alone.labels, [0])
