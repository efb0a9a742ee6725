"""Source affinities against their definition over all pairs, and what follows from them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consilience.datasets import _minority
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority.consistency import (
    Consistency,
    consistency,
    consistency_over,
    source_samples,
    summary,
)
from consilience.minority.scores import score_objects
from consilience.minority.weak import weak_clusterer

WEAK = {
    "split": weak_clusterer("split", k_max=6),
    "hard": weak_clusterer("hard", k_max=6),
    "soft": weak_clusterer("soft", divergence="gaussian", k_max=6),
}


def affinities_slowly(clusterings, y):
    """Reference: mean co-occurrence of all pairs of objects, over clusterings."""
    together = np.mean([grades @ grades.T for grades in clusterings], axis=0)
    sources = np.unique(y)
    return np.array([[together[np.ix_(y == s, y == t)].mean() for t in sources] for s in sources])


def labelled(seed, n=60):
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.r_[np.zeros(n // 2), rng.integers(0, 4, n - n // 2 - 3), 1, 2, 3])
    X = rng.uniform(-2, 2, (n, 2))
    X[y > 0] = rng.normal(0, 0.1, ((y > 0).sum(), 2)) + np.c_[y, -y][y > 0] / 2
    return X, y.astype(int)


@given(st.integers(0, 2**31), st.booleans())
@settings(max_examples=30)
def test_linear_formula_equals_the_definition(seed, hard):
    rng = np.random.default_rng(seed)
    n, k, repetitions = 25, int(rng.integers(1, 6)), 4
    y = rng.permutation(np.r_[0, 2, 5, rng.choice([0, 2, 5], n - 3)])
    clusterings = rng.dirichlet(np.ones(k), (repetitions, n))
    if hard:
        labels = rng.integers(0, k, (repetitions, n))
        clusterings = np.eye(k)[labels]
        found = consistency(np.zeros((n, 1)), y, lambda X, r: labels[r], n_repetitions=4)
    else:
        found = consistency(np.zeros((n, 1)), y, lambda X, r: clusterings[r], n_repetitions=4)
    wanted = affinities_slowly(clusterings, y)
    np.testing.assert_allclose(found.affinities, wanted, rtol=1e-12)
    np.testing.assert_array_equal(found.sources, [0, 2, 5])
    shares = np.array([(y == s).mean() for s in (0, 2, 5)])
    np.testing.assert_allclose(found.shares, shares)
    np.testing.assert_allclose(found.scores, wanted @ shares)
    np.testing.assert_array_equal(found.detectable, found.scores[1:] > found.scores[0])
    assert found.consistent == found.detectable.all()
    assert found.n_clusterings == 4


@given(st.integers(0, 2**31))
@settings(max_examples=30)
def test_detectability_is_the_paper_s_criterion(seed):
    """Proposition 7: the same verdict, written as density against locality."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 5, (3, 40))
    y = rng.permutation(np.r_[np.zeros(20, int), rng.integers(1, 4, 17), 1, 2, 3])
    found = consistency(np.zeros((40, 1)), y, lambda X, r: labels[r], n_repetitions=3)
    zeta, alpha = found.affinities, found.shares
    for s in range(1, 4):
        others = [t for t in range(1, 4) if t != s]
        gain = alpha[s] * (zeta[s, s] - zeta[0, s])
        loss = alpha[0] * (zeta[0, 0] - zeta[s, 0])
        loss += sum(alpha[t] * (zeta[0, t] - zeta[s, t]) for t in others)
        if abs(gain - loss) > 1e-12:
            assert found.detectable[s - 1] == (gain > loss)


@pytest.mark.parametrize("name", WEAK)
@pytest.mark.parametrize("block", [7, 1024])
def test_weak_clusterers_in_blocks(name, block, seed, monkeypatch):
    monkeypatch.setattr("consilience.minority.consistency._BLOCK", block)
    X, y = labelled(seed)
    weak = WEAK[name].fit(X)
    drawn = int(np.random.RandomState(seed).randint(2**31 - 1))
    models = [weak.model(X, weak.draw(drawn, r)) for r in range(8)]
    clusterings = [weak.grades(weak.objects(X), model) for model in models]
    found = consistency(X, y, WEAK[name], n_repetitions=8, random_state=seed)
    np.testing.assert_allclose(found.affinities, affinities_slowly(clusterings, y), rtol=1e-9)


def test_scores_of_sources_are_mean_scores_of_their_objects(seed):
    """Definition 14: what EWOCS gives the objects of a source on average."""
    X, y = labelled(seed)
    drawn = int(np.random.RandomState(seed).randint(2**31 - 1))
    scores = score_objects(X, WEAK["soft"], 12, seed=drawn).scores
    found = consistency(X, y, WEAK["soft"], n_repetitions=12, random_state=seed)
    means = [scores[y == source].mean() for source in found.sources]
    np.testing.assert_allclose(found.scores, means, rtol=1e-6)


def test_several_samples_are_averaged(seed):
    samples = [labelled(seed), labelled(seed + 1)]
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, (6, 60))
    found = consistency_over(samples, lambda X, r: labels[r], n_repetitions=3)
    each = [
        affinities_slowly(np.eye(4)[labels[3 * i : 3 * i + 3]], y)
        for i, (_, y) in enumerate(samples)
    ]
    np.testing.assert_allclose(found.affinities, np.mean(each, axis=0))
    shares = [[(y == s).mean() for s in range(4)] for _, y in samples]
    np.testing.assert_allclose(found.shares, np.mean(shares, axis=0))
    assert found.n_clusterings == 6


def test_one_cluster_or_all_apart():
    y = np.r_[np.zeros(30, int), np.ones(10, int)]
    together = consistency(np.zeros((40, 1)), y, lambda X, r: np.zeros(40, int), n_repetitions=2)
    np.testing.assert_allclose(together.affinities, 1)
    assert not together.consistent
    apart = consistency(np.zeros((40, 1)), y, lambda X, r: np.arange(40), n_repetitions=1)
    # Only an object's pair with itself is left: one in the size of the source.
    np.testing.assert_allclose(apart.affinities, np.diag([1 / 30, 1 / 10]))
    assert np.isinf(apart.standard_errors).all()


def test_dense_groups_are_seen_and_wide_ones_are_not(seed):
    rng = np.random.default_rng(seed)
    X = np.r_[rng.uniform(-2, 2, (600, 2)), rng.normal(0.8, 0.05, (90, 2))]
    y = np.r_[np.zeros(600, int), np.ones(90, int)]
    common = {"divergence": "gaussian", "n_repetitions": 120, "random_state": seed}
    dense = consistency(X, y, "soft", **common)
    assert dense.consistent
    assert dense.margins[0] > 3 * dense.standard_errors[0]
    # Objects far from everybody share themselves equally among all clusters: a score of 1 / k,
    # which is the least a mean over objects can be.
    X[600:] = rng.uniform(-1, 1, (90, 2)) * 1e4 + 1e6
    thin = consistency(X, y, "soft", **common)
    assert not thin.consistent
    assert thin.margins[0] < -3 * thin.standard_errors[0]


def test_seed_fixes_the_result_and_another_changes_it(seed):
    X, y = labelled(seed)
    first, same, other = (
        consistency(X, y, "hard", k_max=6, random_state=s).affinities
        for s in (seed, seed, seed + 1)
    )
    np.testing.assert_array_equal(first, same)
    assert (first != other).any()


def test_scaling_is_applied_first(seed):
    X, y = labelled(seed)
    X[[0, 1]] = [[-2, -2], [2, 2]]
    plain = consistency(X, y, "split", random_state=seed)
    boxed = consistency(50 + 10 * X, y, "split", scaling="box", random_state=seed)
    np.testing.assert_allclose(plain.affinities, boxed.affinities, rtol=1e-6)


def test_samples_of_sources_fixed_or_redrawn(seed):
    sources = _minority.minority_sources(2, n_sources=3, random_state=seed)
    fixed = [X[y == 1].mean(axis=0) for X, y in source_samples(sources, 3, random_state=seed)]
    assert np.ptp(fixed, axis=0).max() < 0.1
    np.testing.assert_allclose(fixed[0], sources.centres[0], atol=0.1)
    again = next(iter(source_samples(sources, 3, random_state=seed)))
    np.testing.assert_allclose(again[0][again[1] == 1].mean(axis=0), fixed[0])
    moved = list(source_samples(sources, 3, redraw=True, random_state=seed))
    centres = [X[y == 1].mean(axis=0) for X, y in moved]
    assert np.ptp(centres, axis=0).max() > 0.1
    assert len({tuple(np.bincount(y)) for _, y in moved}) == 1


def test_soft_kernel_is_consistent_with_generated_sources_in_five_dimensions(seed):
    # Table 2: G(10, 10) sees every source, and from five dimensions up all clusterers do.
    sources = _minority.minority_sources(5, n_sources=4, random_state=seed)
    samples = source_samples(sources, 2, random_state=seed)
    found = consistency_over(samples, "soft", divergence="gaussian", random_state=seed)
    assert found.consistent
    assert found.n_clusterings == 50


def test_summary_of_many_data_sets():
    def verdict(*detectable):
        unused = np.zeros(0)
        flags = np.array(detectable)
        return Consistency(
            unused, unused, unused, unused, unused, unused, flags, bool(flags.all()), 1
        )

    found = summary([verdict(True, True), verdict(True, False, False, False)])
    assert found == (0.5, 0.625, 0.5)
    with pytest.raises(InvalidInputError, match="at least one"):
        summary([])


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.zeros(10, int), "no foreground"),
        (np.ones(10, int), "no background"),
        (np.arange(9), "each of the 10 objects"),
        (np.arange(10) - 1, "adding 1"),
    ],
)
def test_truth_that_cannot_be_used(y, words):
    with pytest.raises(InvalidInputError, match=words):
        consistency(np.zeros((10, 1)), y, "hard")


@pytest.mark.parametrize("bad", [np.full(10, -1), np.ones(10), np.ones((10, 2)), np.zeros(3, int)])
def test_clusterings_that_cannot_be_used(bad):
    y = np.arange(10) % 2
    with pytest.raises(InvalidInputError, match="clusterer must return"):
        consistency(np.zeros((10, 1)), y, lambda X, r: bad)


def test_parameters_and_samples_that_cannot_be_used():
    X, y = labelled(0)
    with pytest.raises(InvalidParameterError, match="'n_repetitions' parameter of consistency"):
        consistency(X, y, "hard", n_repetitions=0)
    with pytest.raises(InvalidParameterError, match="'scaling' parameter of consistency"):
        consistency(X, y, "hard", scaling="log")
    with pytest.raises(InvalidParameterError, match="'weak' parameter"):
        consistency(X, y, "strong")
    with pytest.raises(InvalidInputError, match="at least one sample"):
        consistency_over([], "hard")
    with pytest.raises(InvalidInputError, match="same sources"):
        consistency_over([(X, y), (X, np.minimum(y, 1))], "hard", n_repetitions=1)
    with pytest.raises(InvalidParameterError, match="'n_samples' parameter"):
        next(source_samples(None, 0))


@pytest.mark.parametrize("words", [["a", "bb", "c", "dd", "ee"], [(1, 2), (1,), (3,), (1, 2), ()]])
def test_a_kernel_takes_objects_of_any_kind_and_length(words):
    def sizes(a, b):
        return [[float(len(s) == len(t)) for t in b] for s in a]

    y = np.array([1, 0, 0, 1, 0])
    options = {"divergence": sizes, "scaling": "none", "random_state": 0}
    lists = consistency([list(word) for word in words], y, "hard", **options)
    plain = consistency(words, y, "hard", **options)
    np.testing.assert_array_equal(plain.affinities, lists.affinities)
