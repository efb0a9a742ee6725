"""SEC and KCC against their definitions on full matrices, object by object."""

import warnings

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus import _label_kmeans
from consilience.consensus._label_kmeans import kcc_problem, sec_problem
from consilience.consensus._rows import distinct_rows
from consilience.consensus.kmeans_forms import KCC, SEC, kcc, sec
from consilience.errors import ConsilienceWarning, InvalidParameterError

seeds = st.integers(0, 2**31)
utilities = st.sampled_from(["c", "h", "cos", "lp"])


def planted(seed, *, wrong=0.3, unseen=0.0, n=300, n_members=20, k=3):
    """Members that agree on k groups but for a share of random and of missing labels."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % k
    labels = np.repeat(truth[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(0, k, off.sum())
    labels[rng.random(labels.shape) < unseen] = -2
    return truth, Ensemble(labels)


def solved(function, ensemble, k, **params):
    """A result that went through the method itself, or a skipped example."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = function(ensemble, k, **params)
    assume(found.objective is not None)
    return found


# ---- SEC ------------------------------------------------------------------------------


def sec_objective_slowly(ensemble, labels, weights):
    """Reference: sum of R_i / d_i less the normalised association, from the n x n matrix."""
    placed = labels >= 0
    B = ensemble.indicator().toarray().astype(float)[placed]
    w = np.repeat(weights, ensemble.n_clusters)
    V = (B * w) @ B.T
    d, own, labels = V.sum(axis=1), B @ w, labels[placed]
    total = (own / d).sum()
    for q in np.unique(labels):
        inside = labels == q
        total -= V[np.ix_(inside, inside)].sum() / d[inside].sum()
    return total


def sec_distances_slowly(ensemble, labels, weights):
    """Reference: squared distances of the points B_i / d_i to the weighted means of clusters."""
    B = ensemble.indicator().toarray() * np.sqrt(np.repeat(weights, ensemble.n_clusters))
    d = (B @ B.T).sum(axis=1)
    points = B / d[:, None]
    means = [np.average(points[labels == q], axis=0, weights=d[labels == q]) for q in set(labels)]
    return ((points[:, None] - np.array(means)) ** 2).sum(axis=2)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("wrong", [0.3, 0.5, 0.7])
def test_no_object_of_sec_is_nearer_to_another_mean(wrong, weighted, seed):
    """What is returned is a fixed point: not only the objective, the assignment is SEC's."""
    _, ensemble = planted(seed, wrong=wrong, n=120, n_members=10, k=4)
    weights = np.random.default_rng(seed).uniform(0.2, 4, 10) if weighted else np.full(10, 0.1)
    found = sec(ensemble, 4, member_weights=weights if weighted else None, random_state=seed)
    assert found.converged
    distances = sec_distances_slowly(ensemble, found.labels, weights)
    own = distances[np.arange(120), found.labels]
    assert (own <= distances.min(axis=1) * (1 + 1e-9)).all()


def sec_kmeans_slowly(ensemble, labels, weights):
    """Reference: the weighted k-means objective on the rows b_i / d_i."""
    placed = labels >= 0
    w = np.repeat(weights, ensemble.n_clusters)
    B = ensemble.indicator().toarray().astype(float)[placed] * np.sqrt(w)
    d, labels = (B @ B.T).sum(axis=1), labels[placed]
    total = 0.0
    for q in np.unique(labels):
        inside = labels == q
        centre = B[inside].sum(axis=0) / d[inside].sum()
        total += (d[inside] * ((B[inside] / d[inside, None] - centre) ** 2).sum(axis=1)).sum()
    return total


@given(ensembles(min_objects=4, min_members=2), st.integers(2, 3), seeds, st.booleans())
def test_secs_objective_is_that_of_the_cut_and_of_kmeans(ensemble, k, seed, weighted):
    n_members = ensemble.n_members
    weights = np.random.default_rng(seed).uniform(0.5, 2, n_members) if weighted else None
    found = solved(sec, ensemble, k, member_weights=weights, n_init=2, random_state=seed)
    weights = np.ones(n_members) if weights is None else weights
    for slowly in (sec_objective_slowly, sec_kmeans_slowly):
        wanted = slowly(ensemble, _nobody_unseen(ensemble, found.labels), weights)
        assert found.objective == pytest.approx(wanted, abs=1e-10)


def _nobody_unseen(ensemble, labels):
    """Labels with objects no member placed left out, as the method left them out."""
    return np.where((ensemble.members < 0).all(axis=0), -1, labels)


# ---- KCC ------------------------------------------------------------------------------


def cost_slowly(utility, m, label, p):
    """Reference: what a label costs at a distribution."""
    if utility == "c":
        return 1 - 2 * m[label] + (m**2).sum()
    if utility == "h":
        return -np.log(max(m[label], 1e-12))
    p = 2.0 if utility == "cos" else p
    return 1 - (m[label] / (m**p).sum() ** (1 / p)) ** (p - 1)


def own_utility_slowly(utility, m, p):
    """Reference: the utility of a member's own distribution."""
    if utility == "c":
        return (m**2).sum()
    if utility == "h":
        return -(m[m > 0] * np.log(m[m > 0])).sum()
    return (m ** (2.0 if utility == "cos" else p)).sum() ** (1 / (2.0 if utility == "cos" else p))


def kcc_distances_slowly(ensemble, labels, k, utility, p, normalised):
    """Reference: distance of every object to every centre, member by member."""
    out = np.zeros((ensemble.n_objects, k))
    for column, width in zip(ensemble.members, ensemble.n_clusters, strict=True):
        seen = column >= 0
        if not seen.any():
            continue
        overall = np.bincount(column[seen], minlength=width) / seen.sum()
        unit = own_utility_slowly(utility, overall, p) if normalised else 1.0
        for q in range(k):
            inside = column[seen & (labels == q)]
            m = np.bincount(inside, minlength=width) / len(inside) if len(inside) else overall
            for i in np.flatnonzero(seen):
                cost = cost_slowly(utility, m, column[i], p)
                out[i, q] += cost / unit if unit > 0 else 0.0
    return out / ensemble.n_members


@given(
    ensembles(min_objects=4, min_members=2),
    st.integers(2, 3),
    seeds,
    utilities,
    st.sampled_from([1.5, 2.0, 5.0]),
    st.booleans(),
)
def test_kcc_ends_nearest_to_its_centres(ensemble, k, seed, utility, p, normalised):
    params = {"utility": utility, "p": p, "normalised": normalised}
    found = solved(kcc, ensemble, k, **params, n_init=2, random_state=seed)
    labels = _nobody_unseen(ensemble, found.labels)
    placed = labels >= 0
    used = int(labels.max()) + 1
    distances = kcc_distances_slowly(ensemble, labels, used, utility, p, normalised)[placed]
    own = distances[np.arange(placed.sum()), labels[placed]]
    assert found.objective == pytest.approx(own.sum(), abs=1e-10)
    assert found.converged
    assert (own <= distances.min(axis=1) + 1e-10).all()


@given(ensembles(min_objects=3), st.integers(1, 3), seeds, utilities, st.booleans())
def test_prices_of_any_labelling_equal_their_definition(ensemble, k, seed, utility, normalised):
    placed = (ensemble.members >= 0).any(axis=0)
    assume(placed.any())
    ensemble = ensemble.take(placed)
    rows = distinct_rows(ensemble)
    weights = np.full(ensemble.n_members, 1.0 / ensemble.n_members)
    problem = kcc_problem(rows, weights, utility, 3.0, normalised)
    labels = np.random.default_rng(seed).integers(0, k, rows.n_rows, np.int32)
    tables = rows.count_table(labels, k)
    costs, offset, objective = problem.price(*tables)
    got = rows.row_sums(costs) + offset
    args = (ensemble, labels[rows.inverse], k, utility, 3.0, normalised)
    wanted = kcc_distances_slowly(*args)
    np.testing.assert_allclose(got[rows.inverse], wanted, atol=1e-10)
    own = wanted[np.arange(len(wanted)), labels[rows.inverse]]
    assert objective == pytest.approx(own.sum(), abs=1e-10)


def test_the_2_norm_is_the_cosine(seed):
    _, ensemble = planted(seed)
    one = kcc(ensemble, 3, utility="lp", p=2.0, random_state=seed)
    other = kcc(ensemble, 3, utility="cos", random_state=seed)
    np.testing.assert_array_equal(one.labels, other.labels)
    assert one.objective == pytest.approx(other.objective)


# ---- both -----------------------------------------------------------------------------

BOTH = [
    sec,
    kcc,
    lambda *args, **kw: kcc(*args, utility="c", **kw),
    lambda *args, **kw: kcc(*args, utility="lp", normalised=True, **kw),
]


def test_a_high_norm_of_many_small_shares_is_a_number():
    """Each share to the power of p leaves the range of numbers."""
    n = 4000
    groups = np.random.default_rng(0).integers(0, 2, n)
    ensemble = Ensemble(np.stack([np.arange(n), groups, groups], axis=1))
    for normalised in (False, True):
        options = {"utility": "lp", "p": 100, "normalised": normalised, "n_init": 1}
        result = kcc(ensemble, 2, random_state=0, **options)
        assert np.isfinite(result.objective)
        assert normalised or adjusted_rand_score(groups, result.labels) == 1.0


@pytest.mark.parametrize("function", BOTH)
@pytest.mark.parametrize("unseen", [0.0, 0.3])
def test_groups_are_found_through_wrong_and_missing_labels(function, unseen, seed):
    truth, ensemble = planted(seed, unseen=unseen)
    labels = function(ensemble, 3, random_state=seed).labels
    assert adjusted_rand_score(truth, labels) > 0.9


@pytest.mark.parametrize("function", BOTH)
def test_threads_and_order_change_nothing(function, seed):
    _, ensemble = planted(seed, wrong=0.6, unseen=0.1)
    first = function(ensemble, 4, random_state=seed)
    threads = function(ensemble, 4, random_state=seed, n_jobs=2)
    np.testing.assert_array_equal(first.labels, threads.labels)
    np.testing.assert_array_equal(first.details["objectives"], threads.details["objectives"])
    order = np.random.default_rng(seed).permutation(ensemble.n_objects)
    shuffled = function(ensemble.take(order), 4, random_state=seed)
    assert adjusted_rand_score(first.labels[order], shuffled.labels) == 1.0
    assert first.objective == min(first.details["objectives"])
    assert shuffled.objective == first.objective


@pytest.mark.parametrize("function", BOTH)
def test_many_rows_start_from_a_sample(function, seed, monkeypatch):
    truth, ensemble = planted(seed, n_members=12)
    monkeypatch.setattr(_label_kmeans, "_SAMPLE_ABOVE", 50)
    monkeypatch.setattr(_label_kmeans, "_SAMPLE", 40)
    found = function(ensemble, 3, random_state=seed, n_jobs=2)
    assert adjusted_rand_score(truth, found.labels) > 0.9
    again = function(ensemble, 3, random_state=seed)
    np.testing.assert_array_equal(found.labels, again.labels)


@given(ensembles(min_objects=3), st.integers(2, 3), seeds)
def test_equal_rows_may_be_counted_or_repeated(ensemble, k, seed):
    rng = np.random.default_rng(seed)
    placed = (ensemble.members >= 0).any(axis=0)
    assume(placed.any())
    rows = distinct_rows(ensemble.take(placed))
    repeated = rows.inverse
    full = rows._replace(
        members=np.ascontiguousarray(rows.members[:, repeated]),
        counts=np.ones(len(repeated), np.int64),
    )
    labels = rng.integers(0, k, rows.n_rows, np.int32)
    weights = rng.uniform(0.5, 2.0, len(rows.members))
    for make in (sec_problem, lambda r, w: kcc_problem(r, w, "h", 2.0, True)):
        few, many = make(rows, weights), make(full, weights)
        tables = [
            r.count_table(chosen, k) for r, chosen in ((rows, labels), (full, labels[repeated]))
        ]
        prices = [one.price(*two) for one, two in zip((few, many), tables, strict=True)]
        for one, other in zip(*prices, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10)
        np.testing.assert_array_equal(few.nearest(*tables[0])[repeated], many.nearest(*tables[0]))


def test_weights_of_members_decide():
    ensemble = Ensemble([[0, 0, 1, 1, 0, 1], [0, 1, 0, 1, 0, 1], [0, 1, 0, 1, 1, 0]])
    for function in (sec, kcc):
        for chosen in range(3):
            weights = np.full(3, 1e-3)
            weights[chosen] = 1.0
            labels = function(ensemble, 2, member_weights=weights, random_state=0).labels
            assert adjusted_rand_score(labels, ensemble[chosen]) == 1.0


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"utility": "kl"}, "'utility' parameter of KCC must be one of 'c', 'h', 'cos', 'lp'"),
        ({"p": 1.0}, "'p' parameter of KCC must be a number above 1"),
        ({"normalised": 1}, "'normalised' parameter of KCC must be True or False"),
        ({"n_init": 0}, "'n_init' parameter of KCC"),
        ({"member_weights": [1, -1]}, "'member_weights' parameter of KCC must be one positive"),
        ({"member_weights": [1, 1, 1]}, "one weight for each of the 2 members. Got 3"),
    ],
)
def test_wrong_parameters_are_refused(params, message):
    ensemble = Ensemble([[0, 0, 1], [0, 1, 1]])
    with pytest.raises(InvalidParameterError, match=message):
        kcc(ensemble, 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        KCC(2, **params).fit(ensemble=ensemble)


def test_the_estimators_keep_what_was_found(seed):
    _, ensemble = planted(seed)
    for model in (SEC(3, random_state=seed), KCC(3, utility="cos", random_state=seed)):
        model.fit(ensemble=ensemble)
        assert model.n_clusters_ == 3
        assert model.converged_
        assert model.objective_ == min(model.details_["objectives"])
