"""Batches of weak clusterings equal their definitions, whoever makes them and whatever is kept."""

from itertools import pairwise

import numpy as np
import pytest
from numba import config
from scipy import sparse

from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team
from consilience.kernels._tasks import counter, next_task
from consilience.kernels.minority.blocks import (
    BLOCK,
    Models,
    dense_objects,
    sparse_objects,
    tree_sum,
)
from consilience.kernels.minority.groups import most_shared
from consilience.kernels.minority.near import near_kernel
from consilience.kernels.minority.passes import (
    Grading,
    Memory,
    Scale,
    add_scores,
    nearest_seeds,
    repetitions,
)
from consilience.kernels.minority.weak import Scratch

ALPHA, GAMMA = 10.0, 3.0
KINDS = ("hard", "softmax", "gaussian", "near")
PLENTY = 2**26
slow = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="slow as plain Python")
MANY = [pytest.param(n, marks=slow) for n in (BLOCK, 2 * BLOCK + 5)]


def grading_of(kind, dtype):
    if kind == "hard":
        return Grading("hard", (8 * np.finfo(dtype).eps,))
    if kind == "softmax":
        return Grading("softmax")
    if kind == "near":
        return Grading("near", near_kernel(ALPHA, GAMMA, Scratch(dtype).constants))
    return Grading("gaussian", (np.array([ALPHA], dtype), np.array([GAMMA], dtype)))


class Data:
    """Objects and seeds of squared distances, dense or sparse."""

    def __init__(self, n, counts, seed, *, dtype=np.float64, kind="dense", p=3):
        rng = np.random.default_rng(seed)
        X = rng.normal(0, 0.7, (n, p))
        X[rng.random((n, p)) < 0.3] = 0
        self.X = X.astype(dtype)
        self.seeds = [self.X[rng.integers(0, n, k)] for k in counts]
        own = (self.X**2).sum(axis=1)
        wide = kind == "sparse"
        self.models = Models.stacked(
            [2 * S for S in self.seeds], [(S**2).sum(axis=1) for S in self.seeds], dtype, wide=wide
        )
        with Team(1, 1) as team:
            self.objects = (
                sparse_objects(sparse.csr_array(self.X), own)
                if wide
                else dense_objects(lambda a, b: (self.X[a:b], own[a:b]), n, team)
            )

    def run(self, kind, *, threads=1, kept=PLENTY, scale=None, **options):
        scale = Scale(len(self.X), False) if scale is None else scale
        grading = grading_of(kind, self.X.dtype)
        with Team(threads, 10**6) as team:
            options |= {"team": team, "memory": Memory(kept, team.size)}
            return repetitions(self.objects, self.models, grading, scale, **options)


def by_definition(data, kind):
    """Reference: grades by the divergence of every pair; their sums; mean sizes."""
    sizes, scores = [], []
    for S in data.seeds:
        gaps = ((data.X[:, None].astype(np.float64) - S) ** 2).sum(axis=2)
        if kind in ("gaussian", "near"):
            gaps = -2 * ALPHA * np.expm1(-GAMMA * gaps)
        if kind == "hard":
            grades = np.eye(len(S))[gaps.argmin(axis=1)]
        else:
            grades = np.exp(-(gaps - gaps.min(axis=1, keepdims=True)))
            grades /= grades.sum(axis=1, keepdims=True)
        sizes.append(grades.sum(axis=0))
        scores.append(grades @ sizes[-1])
    return np.concatenate(sizes), np.array(scores)


@pytest.mark.parametrize(("kind", "counts"), [("gaussian", (3, 4, 2)), ("softmax", (5, 1))])
def test_soft_grades_are_as_many_as_pairs(kind, counts):
    """Also behind the first repetition, whose seeds begin at 0; near ones may be fewer."""
    data = Data(70, counts, 0)
    with Team(1, 1) as team:
        for kept in (PLENTY, 0):
            memory = Memory(kept, 1)
            repetitions(
                data.objects, data.models, grading_of(kind, np.float64), Scale(70, False),
                team=team, memory=memory,
            )  # fmt: skip
            assert memory.share == 1.0


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", ["dense", "sparse"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    "n", [1, 70, *(pytest.param(n, marks=slow) for n in (BLOCK, 2 * BLOCK + 5))]
)
def test_sizes_and_scores_equal_their_definition(kind, form, dtype, n, seed):
    data = Data(n, (2, 9, 1), seed, dtype=dtype, kind=form)
    found = data.run(kind)
    sizes, scores = by_definition(data, kind)
    # Single precision may give an object between two seeds to the other one.
    off = 2 if kind == "hard" and dtype == np.float32 else 0
    rtol = 1e-11 if dtype == np.float64 else 2e-4
    np.testing.assert_allclose(found.sizes, sizes, rtol=rtol, atol=off)
    if not off:
        np.testing.assert_allclose(found.scores, scores / n, rtol=rtol)
    np.testing.assert_allclose(found.means, found.scores.mean(axis=1), rtol=1e-12)


@slow
@pytest.mark.parametrize("kind", KINDS)
def test_threads_memory_and_batches_change_no_digit(kind, seed):
    data = Data(5 * BLOCK + 17, (4, 30, 2, 11), seed)
    wanted = data.run(kind)
    # Room for nothing, for some blocks of some threads, for all.
    for threads, kept in ((1, 0), (2, 2**21), (3, PLENTY), (5, 0)):
        found = data.run(kind, threads=threads, kept=kept)
        for one, two in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(one, two)
    bounds, together = data.models.bounds, data.models
    for r, (low, high) in enumerate(pairwise(bounds)):
        seeds = together.seeds[3 * low : 3 * high]
        data.models = Models(seeds, together.columns[low:high], np.array([0, high - low]))
        alone = data.run(kind)
        np.testing.assert_array_equal(alone.sizes, wanted.sizes[low:high])
        np.testing.assert_array_equal(alone.scores[0], wanted.scores[r])
        assert alone.means[0] == wanted.means[r]


@pytest.mark.parametrize("kind", KINDS)
def test_given_sizes_are_taken_and_scales_are_what_they_say(kind, seed):
    data = Data(200, (3, 8), seed)
    plain = data.run(kind)
    double = data.run(kind, sizes=2 * plain.sizes)
    np.testing.assert_allclose(double.scores, 2 * plain.scores, rtol=1e-14)
    counts = np.array([3, 8])[:, None]
    logs = data.run(kind, scale=Scale(50, True))
    np.testing.assert_allclose(
        logs.scores, np.log(plain.scores * 200 * counts / 50), rtol=1e-12, atol=1e-13
    )
    nothing = data.run(kind, sizes=np.zeros(11), scale=Scale(50, False, floors=True))
    least = 1 if kind == "hard" else 1 / counts
    np.testing.assert_allclose(nothing.scores, np.broadcast_to(least / 50, (2, 200)), rtol=1e-14)


@slow
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", [np.int16, np.int32])
def test_nearest_seeds_are_the_first_least(threads, kind, seed):
    data = Data(BLOCK + 40, (5, 12), seed)
    labels = np.full((2, BLOCK + 40), -1, kind)
    with Team(threads, 10**6) as team:
        grading = grading_of("hard", np.float64)
        nearest_seeds(data.objects, data.models, grading, labels, team=team)
    for found, S in zip(labels, data.seeds, strict=True):
        gaps = np.round(((data.X[:, None] - S) ** 2).sum(axis=2), 10)
        np.testing.assert_array_equal(found, gaps.argmin(axis=1))


@slow
@pytest.mark.parametrize("threads", [1, 2, 5])
def test_scores_are_added_one_repetition_after_another(threads, seed):
    data = Data(3 * BLOCK + 1, (4, 6, 9), seed)
    batch = data.run("softmax", scale=Scale(len(data.X), True))
    total, squares = np.full(len(data.X), 0.5), np.full(len(data.X), 0.25)
    wanted, centred = total.copy(), squares.copy()
    for scores, mean in zip(batch.scores, batch.means, strict=True):
        wanted += scores
        centred += (scores - mean) ** 2
    with Team(threads, 10**6) as team:
        add_scores(batch, total, squares, team)
        np.testing.assert_array_equal(total, wanted)
        np.testing.assert_array_equal(squares, centred)
        add_scores(batch, total, None, team)
    np.testing.assert_allclose(total, 2 * wanted - 0.5, rtol=1e-13)


def test_no_columns_are_no_distances():
    data = Data(30, (3,), 0, p=0)
    np.testing.assert_allclose(data.run("softmax").sizes, 10)
    np.testing.assert_array_equal(data.run("hard").sizes, [30, 0, 0])


@pytest.mark.parametrize("scale", [1e-160, 1e-20, 1e60, 1e150])
def test_very_small_and_very_large_distances(scale):
    data = Data(100, (4,), 0)
    data.X *= scale
    S = data.seeds[0] * scale
    own = (data.X**2).sum(axis=1)
    data.models = Models.stacked([2 * S], [(S**2).sum(axis=1)], np.float64, wide=False)
    with Team(1, 1) as team:
        data.objects = dense_objects(lambda a, b: (data.X[a:b], own[a:b]), 100, team)
    for kind in KINDS:
        found = data.run(kind)
        assert np.isfinite(found.scores).all()
        np.testing.assert_allclose(found.sizes.sum(), 100, rtol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 8, 13])
def test_a_tree_of_sums_is_fixed_by_the_numbers_of_its_parts(n, seed):
    parts = np.random.default_rng(seed).normal(size=(n, 4))

    def tree(low, high):
        if high - low == 1:
            return parts[low]
        half = 1 << (high - low - 1).bit_length() - 1
        return tree(low, low + half) + tree(low + half, high)

    np.testing.assert_array_equal(tree(0, n), tree_sum(parts))


@compiled
def take(taken, n):
    numbers = np.empty(n, np.int64)
    for i in range(n):
        numbers[i] = next_task(taken)
    return numbers


@pytest.mark.parametrize("take", [take, lambda taken, n: [next_task(taken) for _ in range(n)]])
def test_every_task_is_taken_once(take):
    taken = counter()
    with Team(4, 10**6) as team:
        numbers = np.concatenate(team.run(lambda _: take(taken, 500)))
    assert sorted(numbers) == list(range(500 * team.size))


@slow
@pytest.mark.parametrize("n_jobs", [1, 2, 3, 5])
def test_the_group_is_the_first_that_shares_most(n_jobs, seed):
    rng = np.random.default_rng(seed)
    counts = (3, 7, 2)
    # Enough for several threads to be worth it.
    members = np.array([rng.integers(0, k, 400_000) for k in counts]).astype(np.int16)
    # Halves make many ties.
    shares = [rng.integers(0, 3, (k, 4)) / 2 for k in counts]
    wanted = sum(share[labels] for share, labels in zip(shares, members, strict=True))
    np.testing.assert_array_equal(most_shared(members, shares, n_jobs), wanted.argmax(axis=1))
