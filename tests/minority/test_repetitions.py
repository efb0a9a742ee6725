"""Repetitions come in order, whoever makes them and whatever is kept of them."""

import numpy as np
import pytest

from consilience.minority._repetitions import in_order
from consilience.minority.weak import blocks, weak_clusterer


def repetitions(weak, X, orders, *, block=50, kept=2**29, workers=1):
    parts = blocks(weak.objects(X), block)
    return list(in_order(weak, X, parts, orders, seed=3, kept=kept, workers=workers))


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).uniform(-1, 1, (330, 2))


def weak_of(name, X):
    kind = "hard" if name == "hard" else "soft"
    divergence = "gaussian" if name == "gaussian" else "euclidean"
    return weak_clusterer(kind, divergence=divergence, k_max=12).fit(X)


@pytest.mark.parametrize("name", ["gaussian", "soft", "hard"])
@pytest.mark.parametrize("workers", [2, 3])
def test_threads_change_neither_order_nor_digits(name, workers, X):
    weak = weak_of(name, X)
    orders = [(number, None) for number in range(70)]
    one, more = repetitions(weak, X, orders), repetitions(weak, X, orders, workers=workers)
    assert len(one) == len(more) == 70
    for first, second in zip(one, more, strict=True):
        np.testing.assert_array_equal(first.draw.rows, second.draw.rows)
        np.testing.assert_array_equal(first.sizes, second.sizes)
        np.testing.assert_array_equal(first.scores, second.scores)


@pytest.mark.parametrize("name", ["gaussian", "soft"])
@pytest.mark.parametrize("kept", [0, 5_000, 20_000])
def test_what_is_kept_changes_no_digit(name, kept, X):
    weak = weak_of(name, X)
    orders = [(number, None) for number in range(6)]
    all_kept, some = repetitions(weak, X, orders), repetitions(weak, X, orders, kept=kept)
    for first, second in zip(all_kept, some, strict=True):
        np.testing.assert_array_equal(first.sizes, second.sizes)
        np.testing.assert_array_equal(first.scores, second.scores)


def test_given_sizes_are_taken(X):
    weak = weak_of("gaussian", X)
    first = repetitions(weak, X, [(5, None)])[0]
    again = repetitions(weak, X, [(first.draw, first.sizes)])[0]
    np.testing.assert_array_equal(first.scores, again.scores)
    double = repetitions(weak, X, [(first.draw, 2 * first.sizes)])[0]
    np.testing.assert_allclose(double.scores, 2 * first.scores, rtol=1e-14)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_reaches_the_caller_and_leaving_early_ends_the_threads(workers, X):
    weak = weak_of("gaussian", X)
    parts = blocks(weak.objects(X), 50)
    bad = [(number, None) for number in range(20)] + [("none", None)]
    with pytest.raises(TypeError):
        list(in_order(weak, X, parts, bad, seed=0, kept=0, workers=workers))
    some = in_order(weak, X, parts, bad[:-1], seed=0, kept=0, workers=workers)
    assert next(some).sizes.sum() == pytest.approx(330)
    some.close()
