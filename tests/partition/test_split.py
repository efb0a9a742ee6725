"""Which solver is taken, what it says about itself, and that there is always one."""

import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from consilience.errors import (
    InvalidInputError,
    InvalidParameterError,
    MemoryBudgetError,
    MissingPackageError,
)
from consilience.partition import (
    LabelLinks,
    choose_bipartite,
    has_metis,
    metis,
    similarity_graph,
    split,
    split_bipartite,
    split_graph,
    split_rows,
)

needs_metis = pytest.mark.skipif(not has_metis(), reason="pymetis is not installed")


@pytest.fixture
def without_metis(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymetis", None)


def planted(seed, k=3, each=12, members=9):
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat(np.arange(k), each))
    labels = np.repeat(truth[:, None], members, axis=1)
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, k, wrong.sum())
    B = np.concatenate([labels[:, [r]] == np.arange(k) for r in range(members)], axis=1)
    return B.astype(float), truth


@needs_metis
@pytest.mark.parametrize("solver", ["auto", "metis", "balanced", "spectral"])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_rows(seed, solver, form):
    B, truth = planted(seed)
    found = split_rows(form(B), 3, solver=solver, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    assert found.solver == ("metis" if solver == "auto" else solver)


@needs_metis
@pytest.mark.parametrize("solver", ["auto", "metis", "spectral"])
def test_bipartite(seed, solver):
    B, truth = planted(seed)
    found = split_bipartite(sparse.csr_array(B), 3, solver=solver, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    assert found.solver == ("metis" if solver == "auto" else solver)
    np.testing.assert_array_equal(found.sizes, np.bincount(found.labels, minlength=3))


@needs_metis
@pytest.mark.parametrize("balance", ["all", "objects"])
@pytest.mark.parametrize("k", [1, 2, 3, 40])
def test_labels_are_split_as_their_matrix(seed, balance, k):
    """Also where parts stay empty and are repaired: 40 of 45 vertices."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(-1, 3, (5, 30)).astype(np.int8)
    labels[:, :3] = [0, 1, 2]
    B = np.concatenate([row[:, None] == np.arange(3) for row in labels], axis=1).astype(float)
    options = {"solver": "metis", "balance": balance, "random_state": seed}
    wanted = split_bipartite(sparse.csr_array(B), k, **options)
    for n_jobs in (1, 2):
        found = split_bipartite(LabelLinks(labels, np.ones(15), n_jobs), k, **options)
        np.testing.assert_array_equal(found.labels, wanted.labels)
        np.testing.assert_array_equal(found.sizes, wanted.sizes)
        assert found.cut == pytest.approx(wanted.cut)
        assert found.note == wanted.note


@needs_metis
@pytest.mark.parametrize("solver", ["auto", "metis", "spectral"])
def test_graphs(seed, solver):
    B, truth = planted(seed)
    graph = similarity_graph(B @ B.T)
    found = split_graph(graph, 3, solver=solver, random_state=seed)
    assert adjusted_rand_score(truth, found.labels) == 1.0
    assert found.solver == ("metis" if solver == "auto" else solver)


@needs_metis
def test_balance_of_objects_alone(seed):
    """Clusters of one group outnumber the objects: counted like them, they upset the balance."""
    rng = np.random.default_rng(seed)
    Q = np.zeros((30, 60))
    Q[:10, :50] = 1 + rng.random((10, 50))
    Q[10:, 50:] = 1 + rng.random((20, 10))
    alone = split_bipartite(Q, 2, solver="metis", balance="objects", random_state=seed)
    assert np.abs(alone.sizes - 15).max() <= 2
    both = split_bipartite(Q, 2, solver="metis", random_state=seed)
    assert both.sizes.max() > 17


@pytest.mark.usefixtures("without_metis")
def test_everything_works_without_metis(seed):
    B, truth = planted(seed)
    rows = split_rows(B, 3, random_state=seed)
    assert (rows.solver, rows.note) == ("balanced", "")
    bipartite = split_bipartite(B, 3, random_state=seed)
    assert bipartite.solver == "spectral"
    assert "not installed" in bipartite.note
    graph = split_graph(similarity_graph(B @ B.T), 3, random_state=seed)
    assert graph.solver == "spectral"
    assert "not balanced" in graph.note
    for found in (rows, bipartite, graph):
        assert adjusted_rand_score(truth, found.labels) == 1.0
    for call in (
        lambda: split_rows(B, 3, solver="metis"),
        lambda: split_bipartite(B, 3, solver="metis"),
        lambda: split_graph(similarity_graph(B @ B.T), 3, solver="metis"),
    ):
        with pytest.raises(MissingPackageError, match="solver 'metis' needs the package 'pymetis'"):
            call()


@needs_metis
def test_sizes_are_kept_by_both_balanced_solvers(seed):
    B, _ = planted(seed)
    found = split_rows(B, 3, solver="balanced", sizes=(6, 12, 18), random_state=seed)
    assert found.sizes.tolist() == [6, 12, 18]
    found = split_rows(B, 3, solver="metis", sizes=(6, 12, 18), random_state=seed)
    # METIS is off by a vertex or two in small graphs.
    assert np.abs(found.sizes - [6, 12, 18]).max() <= 2
    with pytest.raises(InvalidInputError, match="sizes cannot be kept"):
        split_rows(B, 3, solver="spectral", sizes=(6, 12, 18))


@pytest.mark.parametrize("solver", ["auto", "metis", "balanced"])
@pytest.mark.parametrize(
    ("k", "sizes"),
    [(2, [1, 1]), (2, [0.5, 0.5]), (2, [9, 9]), (2, [6, 0]), (2, [1, 2, 3]), (1, [9, 9, 9])],
)
def test_sizes_that_are_no_parts_of_the_objects_are_refused_by_all(solver, k, sizes):
    if solver == "metis" and not has_metis():
        pytest.skip("pymetis is not installed")
    with pytest.raises(InvalidInputError, match=rf"{k} whole numbers .* add up to 6 objects"):
        split_rows(np.eye(6) + 0.1, k, solver=solver, sizes=sizes)


@needs_metis
def test_metis_is_refused_for_large_complete_graphs(seed, monkeypatch):
    monkeypatch.setattr(split, "MAX_DENSE", 20)
    monkeypatch.setattr(split, "_GRAM_METIS", 20)
    B, truth = planted(seed)
    found = split_rows(B, 3, solver="metis", random_state=seed)
    assert found.solver == "balanced"
    assert "refused for the complete graph of 36 objects (limit 20)" in found.note
    assert split_rows(B, 3, random_state=seed).note == ""
    assert adjusted_rand_score(truth, found.labels) == 1.0


@needs_metis
def test_auto_avoids_graphs_that_metis_cannot_hold(seed, monkeypatch):
    monkeypatch.setattr(split, "_BIPARTITE_METIS", 100)
    assert choose_bipartite(51) == (
        "spectral",
        "too large for METIS: a normalised cut, not balanced",
    )
    assert choose_bipartite(50) == ("metis", "")
    assert choose_bipartite(51, "metis") == ("metis", "")
    B, _ = planted(seed)
    metis_module = sys.modules["consilience.partition.metis"]
    monkeypatch.setattr(metis_module, "MAX_DENSE", 20)
    graph = similarity_graph(B @ B.T)
    assert split_graph(graph, 3, random_state=seed).solver == "spectral"
    with pytest.raises(MemoryBudgetError):
        split_graph(graph, 3, solver="metis")


@pytest.mark.parametrize("solver", ["metis", "balanced", "spectral"])
def test_groups_are_repeated_rows(seed, solver):
    if solver == "metis" and not has_metis():
        pytest.skip("pymetis is not installed")
    B, truth = planted(seed, each=4)
    rng = np.random.default_rng(seed)
    groups = rng.permutation(np.tile(np.arange(12), 3))
    found = split_rows(B, 3, solver=solver, groups=groups, random_state=seed)
    assert adjusted_rand_score(truth[groups], found.labels) == 1.0


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_a_row_without_objects_is_no_part(seed, form):
    F = form(np.eye(5) + 0.1)
    for groups, k in (([0, 0, 3, 3], 2), ([4, 1, 4, 2, 1], 3)):
        parts = split_rows(F, k, solver="spectral", groups=np.array(groups), random_state=seed)
        assert (parts.sizes > 0).all()
        np.testing.assert_array_equal(parts.sizes, np.bincount(parts.labels, minlength=k))
    with pytest.raises(InvalidParameterError, match=r"number of rows, 2. Got 3"):
        split_rows(F, 3, solver="spectral", groups=np.array([0, 0, 1, 1]))
    with pytest.raises(InvalidParameterError, match=r"number of objects, 4. Got 5"):
        split_rows(F, 5, solver="spectral", groups=np.array([0, 0, 1, 1]))


def test_gram_is_made_only_if_needed(seed):
    B, _ = planted(seed)
    with pytest.raises(ZeroDivisionError):
        split_rows(B, 3, solver="metis", gram=lambda: 1 / 0)
    split_rows(B, 3, solver="balanced", gram=lambda: 1 / 0, random_state=seed)


def test_wrong_solvers_are_refused():
    B, _ = planted(0)
    with pytest.raises(InvalidParameterError, match=r"'solver' .* 'spectral'. Got 'kway'"):
        split_rows(B, 3, solver="kway")
    with pytest.raises(InvalidParameterError, match="Got 'balanced'"):
        split_bipartite(B, 3, solver="balanced")
    with pytest.raises(InvalidParameterError, match="Got 'balanced'"):
        split_graph(similarity_graph(B @ B.T), 3, solver="balanced")
    with pytest.raises(InvalidParameterError, match=r"'balance' .* Got 'none'"):
        split_bipartite(B, 3, balance="none")


@needs_metis
@pytest.mark.parametrize("p", [1, 2, 7])
def test_all_clusters_together_weigh_less_than_an_object(p, monkeypatch):
    given = []

    def watched(graph, *args, **kwargs):
        given.append(graph.vertex_weights)
        return metis(graph, *args, **kwargs)

    metis = split.metis
    monkeypatch.setattr(split, "metis", watched)
    split_bipartite(np.ones((6, p)), 2, solver="metis", balance="objects", random_state=0)
    assert given[0][:p].sum() < given[0][p:].min()


@needs_metis
def test_a_seed_fixes_the_parts_of_all_pairs():
    F = np.random.default_rng(0).random((40, 6))
    for seed in range(4):
        one, two = (split_rows(F, 4, solver="metis", random_state=seed).labels for _ in range(2))
        np.testing.assert_array_equal(one, two)


@needs_metis
def test_large_graphs_are_cut_once_unless_told_otherwise(monkeypatch):
    asked = []

    def noted(graph, k, *, n_cuts, random_state):
        asked.append(n_cuts)
        return metis(graph, k, n_cuts=1, random_state=random_state)

    monkeypatch.setattr(sys.modules["consilience.partition.split"], "metis", noted)
    B = sparse.csr_array(np.kron(np.eye(2), np.ones((50_000, 1))))
    for Q, options in (
        (B, {}),
        (B[1:], {}),
        (sparse.hstack([B, B[:, :1]]), {}),
        (B, {"n_cuts": 3}),
    ):
        split_bipartite(Q, 2, solver="metis", random_state=0, **options)
    assert asked == [10, 10, 1, 3]
