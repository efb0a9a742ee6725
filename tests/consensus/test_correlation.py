"""Correlation clustering: exact optima of tiny ensembles, guarantees, the trap of unseen labels."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus._correlation import Problem, twin_rows
from consilience.consensus.correlation import (
    CorrelationClustering,
    correlation_cost,
    correlationclustering,
)
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.evidence import co_association

ALGORITHMS = ["local", "best", "balls", "agglomerative", "furthest", "annealing", "sampling"]
# Figure 1 of Gionis, Mannila & Tsaparas: three clusterings of six objects.
PAPER = [[0, 0, 1, 1, 2, 2], [0, 1, 0, 1, 2, 3], [0, 1, 0, 1, 2, 2]]


def slow_cost(ensemble, labels, pair_weight="equal"):
    """The definition: every pair of objects, every member that saw both."""
    total = 0.0
    for i in range(ensemble.n_objects):
        for j in range(i):
            a, b = ensemble.labels[i], ensemble.labels[j]
            seen = (a != -2) & (b != -2)
            joined = int(((a == b) & (a >= 0)).sum())
            n_seen = int(seen.sum())
            same = labels[i] == labels[j] and labels[i] >= 0
            against = n_seen - joined if same else joined
            if pair_weight == "seen":
                total += against / ensemble.n_members
            elif n_seen:
                total += against / n_seen
            else:
                total += same
    return total


def set_partitions(n):
    """All partitions of n objects, as labels."""
    found = [[0]]
    for _ in range(n - 1):
        found = [[*one, c] for one in found for c in range(max(one) + 2)]
    return np.array(found)


def quiet(ensemble, k=None, **params):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        return correlationclustering(ensemble, k, random_state=0, **params)


def placed(ensemble):
    """The ensemble without objects that no member put into a cluster, if any are left."""
    some = (ensemble.labels >= 0).any(axis=1)
    return ensemble.take(some) if some.any() else Ensemble([[0] * ensemble.n_objects])


@given(ensembles(max_objects=8), st.lists(st.integers(-2, 3), min_size=8, max_size=8))
def test_the_cost_is_that_of_all_pairs(ensemble, labels):
    labels = np.array(labels[: ensemble.n_objects])
    for pair_weight in ("equal", "seen"):
        wanted = slow_cost(ensemble, labels, pair_weight)
        assert correlation_cost(ensemble, labels, pair_weight=pair_weight) == pytest.approx(wanted)


def test_labels_of_the_cost_may_be_anything_of_the_right_length():
    ensemble = Ensemble(PAPER)
    assert correlation_cost(ensemble, list("ababcc")) * 3 == pytest.approx(5)
    with pytest.raises(InvalidInputError, match=r"each of the 6 objects\. Got 2"):
        correlation_cost(ensemble, [0, 1])
    with pytest.raises(InvalidParameterError, match="'pair_weight' parameter of correlation_cost"):
        correlation_cost(ensemble, list("ababcc"), pair_weight="all")


@given(
    ensembles(min_objects=2, max_objects=6),
    st.sampled_from(ALGORITHMS),
    st.sampled_from(["equal", "seen"]),
    st.sampled_from([None, 2, 3]),
)
def test_no_algorithm_beats_the_optimum_or_misstates_its_cost(ensemble, algorithm, weight, cap):
    ensemble = placed(ensemble)
    assume(ensemble.n_objects > 1)
    cap = None if cap is None else min(cap, ensemble.n_objects)
    found = quiet(ensemble, cap, algorithm=algorithm, pair_weight=weight)
    assert found.labels.min() == 0
    assert found.n_clusters == found.labels.max() + 1 <= (cap or ensemble.n_objects)
    cost = slow_cost(ensemble, found.labels, weight)
    assert found.objective == pytest.approx(cost, abs=1e-9)
    options = set_partitions(ensemble.n_objects)
    options = options[options.max(axis=1) < (cap or ensemble.n_objects)]
    least = min(slow_cost(ensemble, one, weight) for one in options)
    assert cost >= least - 1e-9


@given(ensembles(max_objects=6, unseen=False))
def test_guarantees_of_the_paper(ensemble):
    """Distances that are means of partitions keep the triangle inequality: theorems hold."""
    ensemble = placed(ensemble)
    least = min(slow_cost(ensemble, one) for one in set_partitions(ensemble.n_objects))
    best = quiet(ensemble, algorithm="best").objective
    assert best <= 2 * (1 - 1 / ensemble.n_members) * least + 1e-9
    assert quiet(ensemble, algorithm="balls", alpha=0.25).objective <= 3 * least + 1e-9


@given(ensembles(max_objects=10), st.sampled_from(["equal", "seen"]))
def test_local_search_is_no_worse_than_its_starts(ensemble, weight):
    ensemble = placed(ensemble)
    found = quiet(ensemble, pair_weight=weight)
    assert found.converged
    for start in ("best", "agglomerative"):
        assert found.objective <= quiet(ensemble, algorithm=start, pair_weight=weight).objective
    # No single move helps, by the definition of the cost.
    for i in range(ensemble.n_objects):
        for target in range(found.n_clusters + 1):
            moved = found.labels.copy()
            moved[i] = target
            assert slow_cost(ensemble, moved, weight) >= found.objective - 1e-6


@pytest.mark.parametrize("algorithm", ["local", "agglomerative", "furthest", "annealing", "balls"])
def test_the_example_of_the_paper(algorithm):
    found = correlationclustering(Ensemble(PAPER), algorithm=algorithm, random_state=0)
    assert found.labels.tolist() == [0, 1, 0, 1, 2, 2]
    assert found.objective * 3 == pytest.approx(5)


def test_the_best_member_of_the_example():
    found = correlationclustering(Ensemble(PAPER), algorithm="best")
    assert found.labels.tolist() == [0, 1, 0, 1, 2, 2]
    assert found.details["start"] == "member 2"
    assert found.solver == "best"


@given(ensembles(min_objects=2))
def test_agglomerative_merges_while_the_mean_distance_is_below_one_half(ensemble):
    ensemble = placed(ensemble)
    found = quiet(ensemble, algorithm="agglomerative")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        distances = 1 - co_association(ensemble)
    for a in range(found.n_clusters):
        inside = distances[np.ix_(found.labels == a, found.labels == a)]
        if len(inside) > 1:
            assert inside.sum() / (inside.size - len(inside)) < 0.5
        for b in range(a):
            assert distances[np.ix_(found.labels == a, found.labels == b)].mean() >= 0.5 - 1e-9


def test_balls_of_a_chain():
    """Distances 0.4 along a chain: the ball takes neighbours only if alpha allows their mean."""
    ensemble = Ensemble([[0, 0, 1], [0, 0, 1], [0, 0, 0], [0, 1, 1], [0, 1, 1]])
    wide = correlationclustering(ensemble, algorithm="balls", alpha=0.4)
    assert wide.labels.tolist() == [0, 0, 0]
    narrow = correlationclustering(ensemble, algorithm="balls", alpha=0.39)
    assert narrow.labels.tolist() == [0, 1, 2]


@pytest.fixture
def three_clusters(seed):
    """Three groups of twenty, a tenth of the labels wrong, three in ten unseen."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)
    labels = np.repeat(truth[:, None], 20, axis=1)
    wrong = rng.random(labels.shape) < 0.1
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    labels[rng.random(labels.shape) < 0.3] = -2
    return truth, Ensemble(labels)


@pytest.mark.parametrize("pair_weight", ["equal", "seen"])
@pytest.mark.parametrize("algorithm", ["local", "agglomerative", "annealing", "sampling"])
def test_unseen_labels_do_not_shatter_clear_clusters(three_clusters, algorithm, pair_weight):
    truth, ensemble = three_clusters
    params = {"algorithm": algorithm, "pair_weight": pair_weight, "n_init": 2, "max_iter": 10}
    found = correlationclustering(ensemble, random_state=0, **params)
    assert found.n_clusters == 3
    assert adjusted_rand_score(truth, found.labels) > 0.95


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_objects_in_another_order_and_threads(three_clusters, algorithm):
    _, ensemble = three_clusters
    ensemble = Ensemble(np.where(ensemble.labels < 0, 0, ensemble.labels))
    params = {"algorithm": algorithm, "random_state": 3, "n_init": 2, "sample_size": 30}
    order = np.random.default_rng(0).permutation(60)
    first = correlationclustering(ensemble, 5, **params)
    shuffled = correlationclustering(ensemble.take(order), 5, n_jobs=2, **params)
    assert adjusted_rand_score(first.labels[order], shuffled.labels) == 1.0
    assert first.objective == pytest.approx(shuffled.objective)
    assert first.n_clusters <= 5


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_cap_is_kept_and_need_not_be_reached(algorithm, seed):
    rng = np.random.default_rng(seed)
    ensemble = Ensemble(rng.integers(0, 9, (30, 6)))
    free = quiet(ensemble, algorithm=algorithm)
    capped = quiet(ensemble, 4, algorithm=algorithm)
    assert capped.n_clusters <= 4 < free.n_clusters
    clear = Ensemble([np.repeat([0, 1, 2], 5)] * 3)
    with pytest.warns(ConsilienceWarning, match="only 3 groups of objects differ"):
        found = correlationclustering(clear, 9, algorithm=algorithm, random_state=0)
    assert found.n_clusters == 3


def test_clusters_that_agree_but_differ_in_rows_are_not_split_by_a_high_cap():
    """Six distinct rows in two clusters: a cap above six is no wish for six clusters."""
    ensemble = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 2, 2, 2], [0, 0, 0, 1, 1, 2]])
    found = correlationclustering(ensemble, 4, random_state=0)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]


def test_sampling_attaches_and_comes_back_for_the_rest(seed):
    """Two large groups and ten strange objects, most of them outside the first sample."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.repeat([0, 1], 100)[:, None], 9, axis=1)
    strange = np.arange(10)[:, None] + 2 + np.zeros(9, int)
    ensemble = Ensemble(np.concatenate([labels, strange]))
    found = correlationclustering(ensemble, algorithm="sampling", sample_size=20, random_state=seed)
    assert found.n_clusters == 12
    assert found.objective == 0
    noisy = np.where(rng.random(labels.shape) < 0.05, 1 - labels, labels)
    found = correlationclustering(Ensemble(noisy), algorithm="sampling", sample_size=50)
    assert adjusted_rand_score(labels[:, 0], found.labels) > 0.9


def test_objects_alone_in_every_member_stay_alone():
    n = 30
    ensemble = Ensemble([np.arange(n), np.arange(n)[::-1]])
    assert correlationclustering(ensemble, random_state=0).n_clusters == n


def test_little_memory_changes_time_only(three_clusters):
    _, ensemble = three_clusters
    params = {"pair_weight": "seen", "random_state": 0, "n_init": 2}
    much = correlationclustering(ensemble, **params)
    little = correlationclustering(ensemble, max_memory=1, **params)
    assert adjusted_rand_score(much.labels, little.labels) == 1.0


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("algorithm", "pivot"),
        ("alpha", 0.6),
        ("n_init", 0),
        ("max_iter", 1.5),
        ("sample_size", 1),
        ("pair_weight", "all"),
        ("max_memory", "much"),
    ],
)
def test_bad_parameters_are_named(name, bad):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of Correlation"):
        correlationclustering(Ensemble(PAPER), **{name: bad})
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of Correlation"):
        CorrelationClustering(**{name: bad}).fit(ensemble=PAPER)


def test_the_estimator_says_what_the_function_says():
    model = CorrelationClustering(random_state=0).fit(ensemble=PAPER)
    found = correlationclustering(Ensemble(PAPER), random_state=0)
    np.testing.assert_array_equal(model.labels_, found.labels)
    assert model.objective_ == found.objective
    assert model.converged_
    assert model.n_clusters_ == 3
    assert model.confidence_.shape == (6,)


@pytest.mark.parametrize("by_seen", [True, False])
@pytest.mark.parametrize("lowest", [-2, 0])
def test_annealing_starts_as_hot_as_the_mean_change_of_all_moves(by_seen, lowest, seed):
    """Of up to a thousand rows all are looked at: the mean is exact, whatever the seed."""
    rng = np.random.default_rng(seed)
    rows = twin_rows(placed(Ensemble(rng.integers(lowest, 3, (12, 5)))))
    problem = Problem(rows.members, rows.counts, by_seen=by_seen, max_bytes=2**20)
    labels = rng.integers(0, 3, rows.n_rows).astype(np.int32)
    labels[:3] = [0, 1, 2]
    here = problem.costs([labels])[0]
    changes = []
    for i in range(rows.n_rows):
        for k in (*range(3), 3):
            moved = labels.copy()
            moved[i] = k
            changes.append(abs(problem.costs([moved])[0] - here))
    unit = 1 if problem.pairwise else 5
    wanted = unit * np.sum(changes) / (3 * rows.n_rows)
    found = problem._mean_change(labels, np.random.default_rng(seed))
    assert found == pytest.approx(wanted)
