"""What correlation clustering runs for an algorithm, and how hot it begins."""

import math

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import _correlation
from consilience.consensus._correlation import Options, Problem, Run, twin_rows

TABLE = np.random.default_rng(0).integers(0, 3, (12, 5))


def options_of(algorithm, *, sample_size=None, budget=2**20):
    return Options(algorithm, 0.4, 3, 7, sample_size, "equal", budget, None)


def run_of(monkeypatch, options):
    """What `_run` asks for, by name."""
    ensemble, asked = Ensemble(TABLE), []
    rows = twin_rows(ensemble)
    problem = Problem(rows.members, rows.counts, by_seen=False, max_bytes=2**20)

    def asks(name):
        def ask(*args, **kwargs):
            asked.append((name, args, kwargs))
            return Run(np.full(rows.n_rows, -1, np.int32), name)

        return ask

    for name in ("best_member", "balls", "furthest", "_dendrogram", "sampling", "search_from"):
        monkeypatch.setattr(_correlation, name, asks(name))
    found = _correlation._run(problem, ensemble, rows, 4, options, [5, 6])
    return found, asked, (problem, ensemble, rows)


@pytest.mark.parametrize(
    ("algorithm", "name"),
    [
        ("best", "best_member"),
        ("balls", "balls"),
        ("furthest", "furthest"),
        ("agglomerative", "_dendrogram"),
    ],
)
def test_an_algorithm_is_what_it_is_called(algorithm, name, monkeypatch):
    options = options_of(algorithm)
    found, asked, (problem, ensemble, rows) = run_of(monkeypatch, options)
    wanted = {
        "best": (problem, 4),
        "balls": (problem, 0.4, 4),
        "furthest": (problem, 4),
        "agglomerative": (ensemble, rows, 4, options),
    }
    assert asked == [(name, wanted[algorithm], {})]
    assert found.start == name
    # Of a member completed every row has a number.
    assert found.labels.min() == (0 if algorithm == "best" else -1)


@pytest.mark.parametrize(("given", "size"), [(None, math.ceil(200 * math.log(13))), (9, 9)])
def test_a_sample_is_of_a_size_that_grows_with_the_logarithm(given, size, monkeypatch):
    _, asked, (problem, *_) = run_of(monkeypatch, options_of("sampling", sample_size=given))
    told = {"cap": 4, "seeds": [5, 6], "max_iter": 7}
    assert asked == [("sampling", (problem, size), told)]


@pytest.mark.parametrize("algorithm", ["local", "annealing"])
@pytest.mark.parametrize(
    ("bytes_less", "most", "tree"), [(0, 99, True), (1, 99, False), (0, 0, False)]
)
def test_a_tree_is_a_start_while_it_is_small(algorithm, bytes_less, most, tree, monkeypatch):
    n = twin_rows(Ensemble(TABLE)).n_rows
    monkeypatch.setattr(_correlation, "_MOST_ROWS_FOR_TREE", n if most else n - 1)
    options = options_of(algorithm, budget=5 * n**2 - bytes_less)
    _, asked, (problem, *_) = run_of(monkeypatch, options)
    assert [name for name, *_ in asked] == ["_dendrogram"] * tree + ["search_from"]
    (first, extra), told = asked[-1][1:]
    assert first is problem
    assert [run.start for run in extra] == ["_dendrogram"] * tree
    hot = algorithm == "annealing"
    assert told == {"cap": 4, "seeds": [5, 6], "max_iter": 7, "hot": hot}


@pytest.mark.parametrize("n_clusters", [0, 1, 2])
@pytest.mark.parametrize(("by_seen", "lowest"), [(True, -2), (False, -2), (False, 0)])
def test_few_clusters_are_as_hot_as_their_moves(n_clusters, by_seen, lowest, seed):
    members = np.random.default_rng(seed).integers(lowest, 3, (4, 6)).astype(np.int8)
    members[0] = np.arange(6) % 3
    weights = np.where((members == -1).any(axis=0), 1, 2)
    problem = Problem(members, weights, by_seen=by_seen, max_bytes=2**20)
    labels = (
        np.arange(6, dtype=np.int32) % 2
        if n_clusters == 2
        else np.full(6, n_clusters - 1, np.int32)
    )
    here, changes = problem.costs([labels])[0], 0.0
    for i in range(6):
        for target in (*range(n_clusters), -1):
            moved = labels.copy()
            moved[i] = target
            changes += abs(problem.costs([moved])[0] - here)
    unit = 1 if problem.pairwise else 4
    found = problem._mean_change(labels, np.random.default_rng(seed))
    assert found == pytest.approx(unit * changes / (6 * max(n_clusters, 1)))


@pytest.mark.parametrize("hot", [False, True, None])
def test_a_search_is_told_how_hot_it_begins(hot, monkeypatch):
    rows = twin_rows(Ensemble(TABLE))
    problem = Problem(rows.members, rows.counts, by_seen=False, max_bytes=2**20)
    labels, asked = np.arange(rows.n_rows, dtype=np.int32) % 3, []
    monkeypatch.setattr(
        _correlation, "local_search", lambda *args, **told: asked.append((args, told))
    )
    problem.improve(labels, cap=4, seed=1, max_iter=7, **({} if hot is None else {"hot": hot}))
    ((data, start), told) = asked[0]
    assert data is problem.data
    assert start is labels
    told.pop("rng")
    heat = problem._mean_change(labels, np.random.default_rng(1)) if hot else 0.0
    assert told.pop("heat") == pytest.approx(heat)
    assert told == {"cap": 4, "max_iter": 7, "share": False, "max_bytes": 2**20}
