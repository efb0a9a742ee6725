"""Memberships combined: those of 0 and 1 are labels, bit for bit, and others lie between."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

import consilience as cs
from consilience import Ensemble, SoftEnsemble
from consilience.consensus import CONSENSUS, _label_kmeans
from consilience.consensus._affinity import mean_affinity
from consilience.consensus._rows import distinct_rows
from consilience.consensus._soft_rows import SoftRows
from consilience.errors import ConsilienceWarning, InvalidParameterError, MemoryBudgetError

SOFT = sorted(one.name for one in CONSENSUS.values() if one.soft)
# What a method must be told to be linear.
OPTIONS = {"hbgf": {"solver": "spectral"}}
TRUTH = np.repeat([0, 1, 2], 20)

pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")


@pytest.fixture(params=SOFT)
def method(request):
    return CONSENSUS[request.param]


def fitted(method, ensemble, k=3, **more):
    options = OPTIONS.get(method.name, {}) | more
    return method.estimator(n_clusters=k, random_state=0, **options).fit(ensemble=ensemble)


def labels(method, ensemble, k=3, **more):
    options = OPTIONS.get(method.name, {}) | more
    return method.run(ensemble, k, random_state=0, **options).labels


def noisy(seed, marks=True):
    """Members that are wrong about a fifth, with noise and unseen."""
    rng = np.random.default_rng(seed)
    table = np.repeat(TRUTH[:, None], 11, axis=1)
    wrong = rng.random(table.shape) < 0.2
    table[wrong] = rng.integers(0, 4, wrong.sum())
    if marks:
        table[rng.random(table.shape) < 0.08] = -1
        table[rng.random(table.shape) < 0.08] = -2
    return Ensemble(table)


def soft_groups(seed, n_members=9):
    """Members that give three quarters of every object to its group, more or less."""
    rng = np.random.default_rng(seed)
    tables = []
    for _ in range(n_members):
        table = rng.dirichlet(np.ones(3), len(TRUTH)) * 0.5
        table[np.arange(len(TRUTH)), TRUTH] += 0.5
        tables.append(table)
    return SoftEnsemble(tables)


def test_the_linear_methods_and_eac_combine_memberships():
    linear = {one.name for one in CONSENSUS.values() if one.by_rows}
    assert set(SOFT) == linear | {"eac"}


@pytest.mark.parametrize("marks", [False, True])
def test_memberships_of_0_and_1_are_labels_bit_for_bit(method, seed, marks):
    hard = noisy(seed, marks)
    tables = [SoftEnsemble(hard).of_member(m) for m in range(hard.n_members)]
    first, second = fitted(method, hard), fitted(method, SoftEnsemble(tables))
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_array_equal(first.confidence_, second.confidence_)
    np.testing.assert_array_equal(first.runner_up_, second.runner_up_)
    assert first.objective_ == second.objective_


@pytest.mark.parametrize("marks", [False, True])
def test_so_are_the_sums_of_memberships_without_the_short_cut(method, marks, monkeypatch):
    # Labels are recognised, and taken as such; the formulas of memberships give the same.
    hard = noisy(3, marks)
    first = fitted(method, hard)
    monkeypatch.setattr(SoftEnsemble, "_crisp", lambda self: self)
    second = fitted(method, SoftEnsemble(hard))
    np.testing.assert_array_equal(first.labels_, second.labels_)
    np.testing.assert_allclose(first.confidence_, second.confidence_, atol=1e-12)
    np.testing.assert_array_equal(first.runner_up_, second.runner_up_)
    if first.objective_ is not None:
        assert first.objective_ == pytest.approx(second.objective_, abs=1e-10)
    if first.memberships_ is not None:
        np.testing.assert_allclose(first.memberships_, second.memberships_, atol=1e-10)


@pytest.fixture
def formulas(monkeypatch):
    """Memberships of 0 and 1 that are not taken as labels."""
    monkeypatch.setattr(SoftEnsemble, "_crisp", lambda self: self)


def test_weights_of_ones_own_go_with_their_objects(formulas, seed):
    hard = noisy(seed)
    weights = np.random.default_rng(seed).uniform(0.5, 2, len(TRUTH))
    first, second = (
        labels(CONSENSUS["womc"], one, weights=weights) for one in (hard, SoftEnsemble(hard))
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", ["sec", "kcc"])
@pytest.mark.parametrize("rounds", [1, 100])
def test_k_means_of_a_sample_of_the_rows_is_that_of_labels(formulas, monkeypatch, name, rounds):
    monkeypatch.setattr(_label_kmeans, "_SAMPLE_ABOVE", 30)
    monkeypatch.setattr(_label_kmeans, "_SAMPLE", 25)
    options = {"n_init": 4, "max_iter": rounds}
    first, second = (
        CONSENSUS[name].run(one, 3, random_state=1, **options)
        for one in (noisy(5), SoftEnsemble(noisy(5)))
    )
    np.testing.assert_array_equal(first.labels, second.labels)
    assert first.objective == pytest.approx(second.objective, rel=1e-12)


def test_affinity_to_groups_is_that_of_labels(seed):
    ensemble, groups = noisy(seed, marks=False), np.where(np.arange(60) % 7 == 0, -1, TRUTH)
    some = np.array([3, 0, 59])
    first, second = (mean_affinity(one, groups, some) for one in (ensemble, SoftEnsemble(ensemble)))
    np.testing.assert_allclose(first, second, atol=1e-12)


@given(ensembles(min_objects=2), st.integers(0, 3))
@example(Ensemble([[1, -2, 0, 0], [0, -2, 0, 0]]), 0)  # a member that placed nobody
def test_products_of_rows_are_those_of_labels(ensemble, seed):
    rng = np.random.default_rng(seed)
    hard, soft = distinct_rows(ensemble), distinct_rows(SoftEnsemble(ensemble))
    np.testing.assert_array_equal(hard.inverse, soft.inverse)
    np.testing.assert_array_equal(hard.counts, soft.counts)
    n_clusters = int(hard.starts[-1])
    table, values = rng.random((n_clusters, 2)), rng.random((hard.n_rows, 2))
    parts = rng.integers(0, 2, hard.n_rows).astype(np.int32)
    for name, args in (
        ("row_sums", (table,)),
        ("row_squares", (table[:, 0],)),
        ("cluster_sums", (values,)),
        ("part_sums", (parts, 2, values[:, 0])),
        ("contingency", (values[:, 0],)),
    ):
        one, other = (getattr(rows, name)(*args) for rows in (hard, soft))
        np.testing.assert_allclose(one, other, atol=1e-12, err_msg=name)
    np.testing.assert_array_equal(hard.dividing_members(2), soft.dividing_members(2))


def test_groups_are_found_in_memberships(method, seed):
    found = fitted(method, soft_groups(seed))
    assert adjusted_rand_score(TRUTH, found.labels_) == 1.0
    assert ((found.confidence_ > 0.5) & (found.confidence_ < 1)).all()


def test_names_order_of_members_and_of_objects_do_not_matter(method):
    soft = soft_groups(1)
    first = labels(method, soft)
    turned = SoftEnsemble([soft.of_member(m)[:, [2, 0, 1]] for m in reversed(range(9))])
    assert adjusted_rand_score(first, labels(method, turned)) == 1.0
    order = np.random.default_rng(0).permutation(len(TRUTH))
    assert adjusted_rand_score(first[order], labels(method, soft.take(order))) == 1.0


def test_seeds_and_workers(method):
    soft = soft_groups(2)
    runs = [fitted(method, soft, k=4, n_jobs=jobs) for jobs in (None, 2)]
    np.testing.assert_array_equal(runs[0].labels_, runs[1].labels_)
    np.testing.assert_array_equal(runs[0].confidence_, runs[1].confidence_)


def test_noise_stays_noise_and_the_unseen_are_placed(method):
    soft = soft_groups(0)
    tables = [soft.of_member(m) for m in range(soft.n_members)]
    for table in tables:
        table[0], table[1] = 0.0, np.nan
    with pytest.warns(ConsilienceWarning, match="1 object was seen by no member"):
        found = fitted(method, SoftEnsemble(tables))
    assert found.labels_[0] == -1
    assert found.labels_[1] >= 0
    assert found.confidence_[:2].tolist() == [0.0, 0.0]
    assert adjusted_rand_score(TRUTH[2:], found.labels_[2:]) == 1.0


@settings(max_examples=15)
@given(st.integers(0, 2**31), st.integers(2, 6), st.integers(1, 3))
@pytest.mark.parametrize("name", SOFT)
def test_any_memberships_get_every_object_labelled(name, seed, n, n_members):
    rng = np.random.default_rng(seed)
    tables = [
        rng.dirichlet(np.ones(3) * 0.3, n) * rng.integers(0, 2, (n, 1)) for _ in range(n_members)
    ]
    soft = SoftEnsemble(tables)
    for k in (1, 2, n):
        if name in ("mcla", "womc", "hbgf", "lwgp", "usenc", "ecpcsmc"):
            k = min(k, max(int(soft.n_clusters.sum()), 1))
        found = labels(CONSENSUS[name], soft, k)
        assert found.shape == (n,)
        assert found.min() >= -1
        assert found.max() < k


def test_other_methods_name_those_that_can(seed):
    soft = soft_groups(seed)
    for one in CONSENSUS.values():
        if not one.soft:
            with pytest.raises(InvalidParameterError, match=r"SoftEnsemble.*sec.*womc.*harden\(\)"):
                one.run(soft, 3, np.zeros((60, 2)))


def test_sec_of_memberships_is_the_cut_of_the_expected_matrix():
    soft = soft_groups(5)
    H = soft.memberships
    V = H @ H.T
    found = cs.consensus.sec(soft, 3, random_state=0)
    degrees = V.sum(axis=1)
    kept = sum(
        V[np.ix_(found.labels == c, found.labels == c)].sum() / degrees[found.labels == c].sum()
        for c in range(3)
    )
    assert found.objective == pytest.approx((V.diagonal() / degrees).sum() - kept, abs=1e-9)


def test_eac_of_memberships_is_the_tree_of_the_expected_matrix(seed):
    from scipy.cluster import hierarchy

    soft = soft_groups(seed)
    distances = 1.0 - cs.evidence.co_association(soft, form="condensed")
    for linkage in ("average", "complete", "single", "ward"):
        wanted = hierarchy.linkage(distances, linkage)
        found = cs.consensus.eac(soft, 3, linkage=linkage)
        np.testing.assert_allclose(np.sort(found.linkage[:, 2]), np.sort(wanted[:, 2]), atol=1e-9)
    with pytest.raises(MemoryBudgetError, match=r"memberships have no path without it.*SEC"):
        cs.consensus.eac(soft, 3, max_memory=100)


def test_hbgf_refuses_metis_for_memberships():
    with pytest.raises(InvalidParameterError, match=r"'solver' parameter of HBGF.*memberships"):
        cs.consensus.hbgf(soft_groups(0), 3, solver="metis")


def stepping(k):
    """A price that falls with every round, so that rounds go on, and leaves centres empty."""
    asked = []

    def price(table, sizes):
        asked.append(sizes)
        # Sixty-fourths: their sums are exact in any order, so that ties are ties.
        shares = np.round(64 * np.asarray(table, float) / np.maximum(sizes, 1)) / 64
        return -shares, np.asarray(sizes, float) / sizes.sum(), -float(len(asked))

    return price


@given(ensembles(max_objects=20), st.integers(1, 4), st.integers(0, 99))
@settings(max_examples=40)
def test_rounds_on_memberships_of_0_and_1_are_those_on_labels(ensemble, k, seed):
    """Objects that members left out, centres that begin and become empty, scales of their own."""
    rows, rng = distinct_rows(ensemble), np.random.default_rng(seed)
    k = min(k, rows.n_rows)
    cells = rows.members.T + rows.starts[:-1]
    B = np.zeros((rows.n_rows, rows.starts[-1]))
    at = np.argwhere(rows.members.T >= 0)
    B[at[:, 0], cells[rows.members.T >= 0]] = 1.0
    soft = SoftRows(rows.members, rows.starts, rows.counts, rows.inverse, B)
    scale, shift = rng.integers(1, 5, rows.n_rows) / 4, rng.integers(0, 5, rows.n_rows) / 1.0
    for start in (np.zeros(rows.n_rows, np.int32), rng.integers(0, k, rows.n_rows, np.int32)):
        one, two = (
            each.lloyd(scale, shift, start, k, stepping(k), max_iter=5) for each in (rows, soft)
        )
        np.testing.assert_array_equal(one.labels, two.labels)
        assert one[1:] == two[1:]
        assert len(np.unique(two.labels)) == k
    costs, offset = rng.integers(-4, 5, (B.shape[1], k)) / 4, rng.integers(0, 3, k) / 1.0
    wanted = (scale[:, None] * (B @ costs) + offset).argmin(axis=1)
    np.testing.assert_array_equal(soft.nearest(scale, costs, offset), wanted)
    np.testing.assert_array_equal(rows.nearest(scale, costs, offset), wanted)
