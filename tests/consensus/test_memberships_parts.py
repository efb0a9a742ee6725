"""How soft memberships are cut, and the k-means of label rows, part by part."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from consilience import Ensemble
from consilience.consensus import _label_kmeans, _memberships
from consilience.consensus._label_kmeans import LabelKMeans, kcc_problem, random_labels, sec_problem
from consilience.consensus._memberships import (
    Memberships,
    around_centres,
    by_distances,
    cut_bipartite,
    cut_similarities,
    mean_distances,
    stacked,
)
from consilience.consensus._rows import distinct_rows
from consilience.errors import ConsilienceWarning
from consilience.generate.lac import LACRun
from consilience.partition import Parts
from consilience.partition.metis import MAX_DENSE


def made(n, widths, seed=0):
    """Memberships that are tables, and the tables."""
    rng = np.random.default_rng(seed)
    tables = [rng.dirichlet(np.ones(width), n) for width in widths]
    return Memberships(n, list(widths), lambda r, a, b: tables[r][a:b].copy()), tables


@pytest.mark.parametrize("block", [2, 8192])
def test_rows_are_those_of_members_that_divide(block, monkeypatch):
    monkeypatch.setattr(_memberships, "_BLOCK", block)
    soft, tables = made(5, (2, 1, 3, 0))
    assert soft.dividing == [0, 2]
    assert soft.n_columns == 5
    wanted = np.hstack([tables[0], tables[2]])
    np.testing.assert_array_equal(soft.rows(1, 4, unit=False), wanted[1:4])
    np.testing.assert_array_equal(stacked(soft, unit=False, n_jobs=None), wanted)
    unit = stacked(soft, unit=True, n_jobs=None)
    # Of all four members, those left out too.
    np.testing.assert_allclose((unit[:, :2] ** 2).sum(axis=1), 1 / 4)
    np.testing.assert_allclose((unit[:, 2:] ** 2).sum(axis=1), 1 / 4)
    np.testing.assert_allclose(unit[:, :2] * wanted[:, 1:2], unit[:, 1:2] * wanted[:, :2])


@pytest.mark.parametrize("block", [3, 8192])
def test_directions_are_left_out_while_they_lose_a_millionth(block, monkeypatch):
    monkeypatch.setattr(_memberships, "_BLOCK", block)

    class Soft:
        """Rows along four axes of their own, with these squares."""

        def __init__(self, squares):
            self.n_objects, self.n_columns = len(squares), len(squares)
            self.table = np.diag(np.sqrt(squares))

        def rows(self, start, stop, *, unit):
            assert unit
            return self.table[start:stop]

    for squares, kept in (
        ([1.0, 1.0, 1e-7, 1e-7], 2),
        ([1.0, 1.0, 2.5e-6, 1e-7], 3),
        ([1.0, 1.0, 1.5e-6, 1e-6], 3),
        ([1.0, 1.0, 1e-6, 0.5e-6], 2),
    ):
        found = _memberships.compressed(Soft(squares), n_jobs=None)
        assert found.shape == (4, kept)
        np.testing.assert_allclose(found @ found.T, np.diag(squares), atol=3e-6)
    # As much as may be lost is lost.
    monkeypatch.setattr(_memberships, "_LOST", 0.25)
    assert _memberships.compressed(Soft([1.0, 1.0, 1.0, 1.0]), n_jobs=None).shape == (4, 3)


def test_memberships_fall_off_linearly_with_the_distance_of_lac(seed):
    rng = np.random.default_rng(seed)
    X, centres, weights = rng.normal(size=(6, 2)), rng.normal(size=(3, 2)), rng.random((3, 2))
    run = LACRun(centres, weights)
    soft = by_distances(X, [run])
    assert (soft.n_objects, soft.widths) == (6, [3])
    for start, stop in ((0, 6), (2, 5)):
        for i, row in enumerate(soft.table(0, start, stop), start):
            d = [np.sqrt((weights[q] * (X[i] - centres[q]) ** 2).sum()) for q in range(3)]
            near = [max(d) - one + 1.0 for one in d]
            np.testing.assert_allclose(row, np.array(near) / sum(near))


@pytest.mark.parametrize("unit", [1.0, 0.1])
def test_widths_are_of_the_first_member_that_has_one(unit):
    X = unit * np.array([[0.0], [2.0], [4.0]])
    centres = [np.zeros((0, 1)), np.array([[1.0], [3.0]]) * unit, np.array([[0.0], [8.0]]) * unit]
    means = [0.0] + [(cdist(X, c) ** 2).mean() for c in centres[1:]]
    for data in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(mean_distances(data, centres), means)
    for mode, width in (("first", means[1]), ("each", means[2])):
        wanted = np.exp(-(cdist(X, centres[2]) ** 2) / width)
        wanted /= wanted.sum(axis=1, keepdims=True)
        found = around_centres(X, centres, None, mode)
        assert (found.n_objects, found.widths) == (3, [0, 2, 2])
        np.testing.assert_allclose(found.table(2, 0, 3), wanted)
        np.testing.assert_allclose(around_centres(X, centres, width, mode).table(2, 0, 3), wanted)
    same = sparse.csr_array(np.ones((3, 1)))
    assert mean_distances(same, [np.ones((2, 1))]) == [1.0]


@pytest.mark.parametrize(
    ("solver", "n", "balanced"),
    [
        ("balanced", 2, True),
        ("auto", MAX_DENSE + 1, True),
        ("metis", MAX_DENSE + 1, True),
        ("auto", MAX_DENSE, False),
        ("metis", MAX_DENSE, False),
        ("spectral", MAX_DENSE + 1, False),
    ],
)
def test_what_is_balanced_needs_no_complete_graph(solver, n, balanced):
    assert _memberships._is_balanced(solver, n) == balanced


def parts_of(n):
    return Parts(np.arange(n, dtype=np.int32) % 2, 0.25, "metis", np.array([1, 1]), "said")


@pytest.mark.parametrize(
    ("most", "solver", "few"),
    [(24, "balanced", True), (25, "balanced", False), (0, "spectral", False)],
)
def test_many_numbers_are_compressed_where_parts_are_balanced(most, solver, few, monkeypatch):
    soft, _ = made(5, (2, 3, 1))
    monkeypatch.setattr(_memberships, "_COMPRESS", most)
    asked = []
    monkeypatch.setattr(
        _memberships, "compressed", lambda *_, n_jobs: asked.append(n_jobs) or "compressed"
    )

    def split(F, k, **told):
        assert (k, told) == (2, {"solver": solver, "sizes": [3, 2], "random_state": 7})
        assert isinstance(F, str) == few
        if not few:
            np.testing.assert_array_equal(F, stacked(soft, unit=True, n_jobs=None))
        return parts_of(5)

    def whole(F, k, **told):
        return split(F, k, **told | {"sizes": told["sizes"].tolist()})

    monkeypatch.setattr(_memberships, "split_rows", whole)
    found = cut_similarities(soft, 2, solver=solver, sizes=[6, 4], random_state=7, n_jobs=3)
    assert asked == [3] * few
    assert found.labels.tolist() == [0, 1, 0, 1, 0]
    assert (found.objective, found.solver) == (0.25, "metis")
    assert found.details == {"balance": 1.2, "note": "said"}


def test_memberships_that_are_next_to_none_are_no_edge(monkeypatch):
    table = np.array([[1.0, 0.0], [1 - 1e-6, 1e-6], [1 - 9e-7, 9e-7], [0.25, 0.75]])
    soft = Memberships(4, [2], lambda r, a, b: table[a:b].copy())

    def split(P, k, **told):
        assert (k, told) == (2, {"solver": "auto", "balance": "all", "random_state": 7})
        kept = table.copy()
        kept[2, 1] = 0.0
        np.testing.assert_array_equal(P, kept)
        return parts_of(4)

    monkeypatch.setattr(_memberships, "split_bipartite", split)
    found = cut_bipartite(soft, 2, solver="auto", balance="all", random_state=7, n_jobs=None)
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert found.objective == 0.25


def test_where_no_member_divides_all_are_one_cluster():
    soft, _ = made(3, (1, 1))
    told = {"solver": "auto", "random_state": 0, "n_jobs": None}
    for cut, more in ((cut_similarities, {"sizes": None}), (cut_bipartite, {"balance": "all"})):
        with pytest.warns(ConsilienceWarning, match="No member has more than one cluster"):
            found = cut(soft, 2, **told, **more)
        assert found.labels.tolist() == [0, 0, 0]


def label_rows(seed, n=12):
    rng = np.random.default_rng(seed)
    return distinct_rows(Ensemble(rng.integers(-1, 3, (n, 4))))


@pytest.mark.parametrize("kind", ["sec", "kcc"])
def test_a_part_of_the_rows_has_their_scales_and_shifts(kind, seed):
    rows = label_rows(seed)
    weights = np.full(4, 0.25)
    problem = (
        sec_problem(rows, weights) if kind == "sec" else kcc_problem(rows, weights, "c", 2.0, False)
    )
    assert problem.on(None) is problem
    chosen = np.array([3, 0, 5])
    part = problem.take(chosen)
    np.testing.assert_array_equal(part.rows.members, rows.members[:, chosen])
    np.testing.assert_array_equal(part.scale, problem.scale[chosen])
    np.testing.assert_array_equal(part.shift, problem.shift[chosen])
    table, sizes = rows.count_table((np.arange(rows.n_rows) % 2).astype(np.int32), 2)
    costs, offset, _ = problem.price(table, sizes)
    prices = rows.row_sums(costs) * problem.scale[:, None] + offset
    # Equal prices, but for rounding, may go either way.
    found = problem.nearest(table, sizes)
    each = np.arange(rows.n_rows)
    np.testing.assert_allclose(prices[each, found], prices.min(axis=1), atol=1e-12)


def test_secs_scales_are_of_degrees():
    """A degree is the weighted co-association with all objects; B is made here."""
    rows = label_rows(1)
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    own = np.repeat(weights, np.diff(rows.starts))
    B = np.zeros((rows.n_rows, rows.starts[-1]))
    for labels, start in zip(rows.members, rows.starts, strict=False):
        placed = np.flatnonzero(labels >= 0)
        B[placed, start + labels[placed]] = 1.0
    degree = (B * own) @ (B.T @ rows.counts)
    problem = sec_problem(rows, weights)
    np.testing.assert_allclose(problem.scale, 1 / degree)
    np.testing.assert_allclose(problem.shift, (B**2 @ own) / degree**2)


def test_random_labels_are_of_every_centre_and_of_a_sample_where_rows_are_many(monkeypatch):
    rows = label_rows(0, n=60)
    problem = kcc_problem(rows, np.full(4, 0.25), "c", 2.0, False)
    u = rows.n_rows
    monkeypatch.setattr(_label_kmeans, "_SAMPLE_ABOVE", u)
    labels = random_labels(problem, 3, 5, 7)
    np.testing.assert_array_equal(labels, np.random.default_rng(7).integers(0, 3, u, np.int32))
    monkeypatch.setattr(_label_kmeans, "_SAMPLE_ABOVE", u - 1)
    monkeypatch.setattr(_label_kmeans, "_SAMPLE", 9)
    asked = []
    run = LabelKMeans.run

    def running(self, labels, k, max_iter, n_jobs=None):
        asked.append((self.rows.n_rows, labels.tolist(), k, max_iter))
        return run(self, labels, k, max_iter, n_jobs)

    monkeypatch.setattr(LabelKMeans, "run", running)
    found = random_labels(problem, 3, 5, 7)
    rng = np.random.default_rng(7)
    some = np.sort(rng.choice(u, 9, replace=False))
    start = rng.integers(0, 3, 9, np.int32)
    assert asked == [(9, start.tolist(), 3, 5)]
    part = problem.take(some)
    there = run(part, start, 3, 5).labels
    wanted = problem.nearest(*part.rows.count_table(there, 3))
    np.testing.assert_array_equal(found, wanted)
