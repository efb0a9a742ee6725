"""Small calls of kernels are interpreted until they are compiled; results do not tell which.

Tables here are larger than elsewhere: a sum of three hundred objects does not fit a byte.
"""

import importlib
import pkgutil
import sys

import numpy as np
import pytest
from numba import config

from consilience import kernels
from consilience.kernels import _jit, _plain
from consilience.kernels._plain import Patience, PlainFirst, plain_form
from consilience.kernels.data.borders import to_other_groups
from consilience.kernels.data.columns import column_facts
from consilience.kernels.data.place import place
from consilience.kernels.kmeans import many
from consilience.kernels.kmeans.scan import TILE
from consilience.kernels.labels.competition import most_shared
from consilience.kernels.labels.confidence import nearness
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import pair_products, part_sums, row_sums
from consilience.kernels.labels.refine import refined_keys
from consilience.kernels.labels.signatures import group_rows, sort_rows
from consilience.kernels.labels.stability import recognised
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.chain import average_link
from consilience.kernels.links.prim import single_link
from consilience.kernels.links.trees import cut_merges, expand_tree
from consilience.kernels.pairs.ambiguity import INFORMATION, RELATIVE, mean_overlap
from consilience.kernels.pairs.counts import count_pairs, count_pairs_condensed
from consilience.kernels.pairs.shares import shares_of

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="everything is interpreted")

N_OBJECTS = 300
# As it is: all other tests run compiled code.
LASTS = Patience.lasts


@pytest.fixture
def ways(monkeypatch):
    """Runs something interpreted and compiled; what came of both, and the kernels interpreted."""
    interpreted = set()

    def form(kernel):
        interpreted.add(kernel)
        return plain_form(kernel)

    # A test before this one may have had a kernel compiled.
    waits = property(lambda self: False, lambda self, value: None)

    def run(call):
        monkeypatch.setattr(Patience, "over", waits, raising=False)
        monkeypatch.setattr(_plain, "plain_form", form)
        monkeypatch.setattr(Patience, "lasts", lambda self, size: True)
        plain = call()
        monkeypatch.setattr(Patience, "lasts", lambda self, size: False)
        return plain, call(), interpreted

    return run


def bits(found):
    """All bits of results, whatever holds them; numbers as what they are equal to."""
    if isinstance(found, np.ndarray):
        return found.dtype, found.shape, found.tobytes()
    if isinstance(found, (tuple, list)):
        return [bits(one) for one in found]
    return found


def label_table(rng, n_members, n_clusters, *, missing=0.0):
    """Members that tend to agree, with a label for every cluster; -1 and -2 where missing."""
    groups = rng.integers(0, 4, N_OBJECTS)
    members = np.empty((n_members, N_OBJECTS), np.int8)
    for labels in members:
        k = int(rng.integers(2, n_clusters + 1))
        labels[:] = np.where(rng.random(N_OBJECTS) < 0.6, groups % k, rng.integers(0, k, N_OBJECTS))
        labels[:k] = np.arange(k)
        labels[rng.random(N_OBJECTS) < missing] = -2
        labels[rng.random(N_OBJECTS) < missing] = -1
    members[:, -20:] = members[:, :20]
    return members


def label_results(rng, members):
    """What kernels make of labels."""
    n_members, n = members.shape
    starts, groups = first_columns(members), rng.integers(-1, 3, n)
    weights, parts = rng.integers(1, 400, n), rng.integers(-1, 3, n).astype(np.int32)
    table = rng.normal(size=(int(starts[-1]), 3))
    pairs = rng.integers(0, n_members, (30, 2))
    first, inverse, counts = group_rows(members)
    kept = np.ascontiguousarray(members[:, first])
    seen = bool((members == -2).any())
    joined, both = count_pairs(members, with_seen=seen)
    tree = average_link(kept, counts, missing="pair" if seen else "all")
    shared, winners = rng.integers(0, 3, (n, 4)) / 2.0, np.empty(n, np.int32)  # many ties
    most_shared(shared, members, 5, winners)
    return [
        winners,
        (first, inverse, counts, sort_rows(members), refined_keys(kept, counts)),
        (joined, both, shares_of(joined, None, n_members)),
        [count_pairs_condensed(members, with_seen=seen, n_jobs=n_jobs) for n_jobs in (1, 2)],
        pair_products(members, rng.random(n), n_jobs=2),
        (tree, single_link(kept, counts, missing="pair" if seen else "all")),
        (cut_merges(tree, 7), expand_tree(tree, inverse)),
        [tuple(nearness(members, groups, 3, by_seen=by_seen)) for by_seen in (False, True)],
        row_sums(members, starts, table),
        part_sums(members, starts, parts, 3, rng.random(n)),
        [mean_overlap(members, w, pairs, kind) for w in (weights, np.ones(n))
         for kind in (INFORMATION, RELATIVE)],
        [recognised(members[:10], members[:10], weights, criterion, skip_own=True)
         for criterion in ("nmi", "max", "apmm")],
    ]  # fmt: skip


@pytest.mark.parametrize(("n_members", "n_clusters", "missing"), [(12, 127, 0.0), (130, 9, 0.1)])
def test_labels_give_the_same_bits(ways, seed, n_members, n_clusters, missing):
    members = label_table(np.random.default_rng(seed), n_members, n_clusters, missing=missing)
    plain, compiled, _ = ways(lambda: label_results(np.random.default_rng(seed), members))
    for one, other in zip(plain, compiled, strict=True):
        assert bits(one) == bits(other)


def data_results(rng):
    """What kernels make of tables."""
    X = np.round(rng.normal(size=(N_OBJECTS, 6)) * 7.0, int(rng.integers(0, 9)))
    rows = np.sort(rng.choice(N_OBJECTS, 200, replace=False))
    centres = [X[rng.choice(N_OBJECTS, k)] for k in (3, 8)] + [X[:4, :5]]
    distances = np.abs(np.round(rng.normal(size=N_OBJECTS * (N_OBJECTS - 1) // 2), 3))
    return [
        (column_facts(X), column_facts(X, rows=rows), column_facts(X.astype(np.float32))),
        place(X, centres, [None, None, np.arange(5)], [rng.random(len(c)) for c in centres]),
        [agglomerate(distances.copy(), method, weights=rng.integers(1, 300, N_OBJECTS))
         for method in ("single", "complete", "average", "centroid", "ward")],
        agglomerate(distances.astype(np.float32), "average"),
        agglomerate((distances * 60).astype(np.uint8), "complete"),
        to_other_groups(
            rng.random((N_OBJECTS, N_OBJECTS)), rng.integers(0, 5, N_OBJECTS).astype(np.int32),
            np.array([True, True, False, True, True]),
        ),
    ]  # fmt: skip


def test_tables_give_the_same_bits(ways, seed):
    plain, compiled, _ = ways(lambda: data_results(np.random.default_rng(seed)))
    for one, other in zip(plain, compiled, strict=True):
        assert bits(one) == bits(other)


@pytest.mark.parametrize("case", range(12))
def test_kmeans_gives_the_same_bits(ways, seed, case):
    rng = np.random.default_rng([seed, case])
    n, d = int(rng.integers(1, TILE + 1)), int(rng.integers(1, 6))
    # Rounded, so that there are ties, and clusters are left empty; far from 0.
    X = np.round(rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 3), 1) + 1000.0 * rng.normal()
    X = X.astype(np.float32 if case % 3 == 0 else np.float64)
    rows = [None, np.sort(rng.choice(n, int(rng.integers(1, n + 1)), replace=False)), None]
    features = [None, None, np.sort(rng.choice(d, int(rng.integers(1, d + 1)), replace=False))]
    starts = [X[rng.integers(0, n, k)].astype(np.float64) for k in (1, 9, 25)]
    starts[2] = starts[2][:, features[2]]
    options = {
        "max_iter": int(rng.choice([0, 2, 100])),
        "tol": float(rng.choice([0.0, 1e-2])),
        "spherical": case % 4 == 0,
        "assign_all": case % 2 == 0,
    }

    def run():
        runs = many.many_kmeans(X, starts, rows=rows, features=features, **options)
        return runs, many.nearest_of_many(X, runs.centres, features=features)

    plain, compiled, _ = ways(run)
    assert bits(plain) == bits(compiled)


def test_data_of_several_tiles_are_left_to_the_passes(monkeypatch):
    monkeypatch.setattr(Patience, "lasts", lambda self, size: True)
    X = np.arange(2.0 * (TILE + 1)).reshape(-1, 2)
    monkeypatch.setattr(many, "small_kmeans", None)
    assert many.many_kmeans(X, [X[:2]]).labels.shape == (1, TILE + 1)


def test_every_kernel_that_may_be_interpreted_is_compared_here(ways, seed):
    rng = np.random.default_rng(seed)
    members = label_table(rng, 6, 5)
    _, _, interpreted = ways(lambda: [label_results(rng, members), data_results(rng)])
    for module in pkgutil.walk_packages(kernels.__path__, "consilience.kernels."):
        importlib.import_module(module.name)
    modules = [m for name, m in sys.modules.items() if name.startswith("consilience.kernels")]
    ours = {one for m in modules for one in vars(m).values() if isinstance(one, PlainFirst)}
    # These two prepare the compiled passes of k-means, whose results do not hang on them alone.
    names = {one.py_func.__name__ for one in ours - interpreted}
    assert names <= {"coarsen", "_fill_strips"}


def doubled(values):
    for at in range(values.size):
        values[at] = twice(values[at])
    return values


def _twice(value):
    return 2 * value


twice = None


@pytest.fixture
def make(tmp_path, monkeypatch):
    """Makes a kernel that calls another one, and whose calls of up to 4 values are small."""
    monkeypatch.setattr(_jit, "_folder", lambda: tmp_path)
    monkeypatch.setattr(Patience, "lasts", LASTS)

    def kernel(**options):
        inner = _jit.compiled(_twice, **options)
        monkeypatch.setattr(sys.modules[__name__], "twice", inner)
        plain_form.cache_clear()
        return _jit.compiled(doubled, plain_up_to=4)

    return kernel


def test_small_calls_are_interpreted_and_large_ones_compiled(make):
    kernel = make()
    assert kernel(np.arange(4)).tolist() == [0, 2, 4, 6]
    assert not kernel.overloads
    assert not twice.overloads
    assert kernel(np.arange(5)).tolist() == [0, 2, 4, 6, 8]
    assert len(kernel.overloads) == 1
    kernel(np.arange(4, dtype=np.int8))  # and from then on all
    assert len(kernel.overloads) == 2


def test_code_from_an_earlier_process_is_used(make):
    make()(np.arange(5))
    kernel = make()
    kernel(np.arange(3))
    assert sum(kernel.stats.cache_hits.values()) == 1


def test_patience_ends(make, monkeypatch):
    kernel, now = make(), iter([0.0, 0.2, 0.2, 0.3])
    monkeypatch.setattr(_plain, "thread_time", lambda: next(now))
    for _ in range(2):
        kernel(np.arange(3))
        assert not kernel.overloads
    kernel(np.arange(3))
    assert kernel.overloads


def test_an_inner_kernel_may_have_a_form_of_its_own(make):
    kernel = make(plain=lambda value: 20 * value)
    assert kernel(np.arange(3)).tolist() == [0, 20, 40]
    assert kernel(np.arange(5)).tolist() == [0, 2, 4, 6, 8]


def test_what_wraps_around_or_divides_by_zero_is_as_quiet_as_compiled_code(make):
    kernel = make(plain=lambda value: np.int64(2**62) * np.int64(4) + np.float64(1.0) / (value * 0))
    assert np.isinf(kernel(np.ones(3))).all()


def test_errors_come_through_and_cost_patience_like_anything_else(make):
    kernel = make(plain=lambda value: value.no_such_thing)
    with pytest.raises(AttributeError):
        kernel(np.arange(3))
