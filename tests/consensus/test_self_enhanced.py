"""EC-CMS: steps on label rows against the published ones on all objects, prices, bounds."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet
from scipy.spatial.distance import squareform
from sklearn.metrics import adjusted_rand_score
from strategies import ensembles

from consilience import Ensemble
from consilience.consensus._rows import distinct_rows
from consilience.consensus.self_enhanced import (
    ECCMS,
    eccms,
    enhanced,
    sure_pairs,
    usual_price,
    weighted_similarity,
)
from consilience.ensemble import UNSEEN
from consilience.errors import ConsilienceWarning, InvalidParameterError, MemoryBudgetError
from consilience.evidence import never_placed
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges


def over_objects(table, rows):
    return table[np.ix_(rows.inverse, rows.inverse)]


def steps_slowly(B, A, price, max_iter):
    """Reference: the published steps on the matrices of all objects."""
    n = len(A)
    B = B * ~np.eye(n, dtype=bool)
    inverse = np.linalg.inv(2 * (np.diag(B.sum(axis=1)) - B) + 2 * np.eye(n))
    C = E = F = Y2 = np.zeros((n, n))
    Y1 = A
    for step in range(1, max_iter + 1):
        before = C, E, F, Y1, Y2
        C = inverse @ (A - E + Y1 + F - Y2)
        E = np.where(B > 0, 0.0, (A - C + Y1) / (price + 1))
        F = np.clip((C + Y2 + (C + Y2).T) / 2, 0, 1)
        Y1, Y2 = Y1 + A - C - E, Y2 + C - F
        moved = [np.linalg.norm(a - b) for a, b in zip((C, E, F, Y1, Y2), before, strict=True)]
        still = [max(1e-2 * np.linalg.norm(b), 1e-4 * np.linalg.norm(A)) for b in before]
        if all(a <= b for a, b in zip(moved, still, strict=True)):
            return (C + C.T) / 2, step, True
    return (C + C.T) / 2, max_iter, False


def planted(seed, n_members=9, wrong=0.12, noise=0.0, unseen=0.0):
    """Three groups of twelve with many equal rows, some wrong, noise and unseen labels."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 12)
    labels = np.repeat(truth[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(0, 3, off.sum())
    labels[rng.random(labels.shape) < noise] = -1
    labels[rng.random(labels.shape) < unseen] = UNSEEN
    chosen = np.concatenate([np.arange(36), rng.integers(0, 36, 20)])
    return Ensemble(labels[chosen]), truth[chosen]


@pytest.mark.parametrize("price", [0.01, 0.4, 7.0])
@pytest.mark.parametrize("alpha", [0.6, 0.8, 1.0])
@pytest.mark.parametrize(("noise", "unseen"), [(0.0, 0.0), (0.15, 0.0), (0.1, 0.1)])
def test_steps_on_rows_are_those_on_all_objects(price, alpha, noise, unseen, seed):
    ensemble, _ = planted(seed, noise=noise, unseen=unseen)
    rows = distinct_rows(ensemble.take(~never_placed(ensemble)))
    sure, weak = sure_pairs(rows, alpha, "pair"), weighted_similarity(rows, "pair", None)
    for max_iter in (1, 2, 7, 100):
        found = enhanced(sure, weak, rows.counts, price, max_iter)
        C, n_iter, converged = steps_slowly(
            over_objects(sure, rows), over_objects(weak, rows), price, max_iter
        )
        apart = ~np.eye(len(C), dtype=bool)
        got = over_objects(found.pairs, rows)
        np.testing.assert_allclose(got[apart], np.clip(C, 0, 1)[apart], atol=1e-10)
        assert (found.n_iter, found.converged) == (n_iter, converged)


@given(ensembles(), st.sampled_from(["pair", "all"]), st.sampled_from([0.3, 0.5, 0.75]))
def test_sure_pairs_and_similarities_equal_their_definitions(ensemble, missing, alpha):
    outside = never_placed(ensemble)
    assume(not outside.all())
    ensemble = ensemble.take(~outside)
    rows = distinct_rows(ensemble)
    sure = over_objects(sure_pairs(rows, alpha, missing), rows)
    labels, n_members = ensemble.labels, ensemble.n_members
    for i in range(ensemble.n_objects):
        for j in range(ensemble.n_objects):
            together = ((labels[i] == labels[j]) & (labels[i] >= 0)).sum()
            seen = ((labels[i] != UNSEEN) & (labels[j] != UNSEEN)).sum()
            by = seen if missing == "pair" else n_members
            share = together / by if by else 0.0
            assert sure[i, j] == pytest.approx(share if share >= alpha - 1e-9 else 0.0)
    weak = weighted_similarity(rows, missing, None)
    assert (over_objects(weak, rows) <= 1.0 + 1e-12).all()
    np.testing.assert_array_equal(weak, weak.T)


def test_the_tree_is_average_link_of_the_enhanced_similarities(seed):
    ensemble, _ = planted(seed)
    rows = distinct_rows(ensemble)
    sure, weak = sure_pairs(rows, 0.8, "pair"), weighted_similarity(rows, "pair", None)
    found = eccms(ensemble, 3)
    C, _, _ = steps_slowly(
        over_objects(sure, rows), over_objects(weak, rows), found.details["price"], 100
    )
    D = np.where(rows.inverse[:, None] == rows.inverse, 0.0, 1.0 - np.clip(C, 0.0, 1.0))
    tree = agglomerate(squareform(D, checks=False), "average")
    assert adjusted_rand_score(cut_merges(tree, 3), found.labels) == 1.0
    np.testing.assert_allclose(
        cophenet(found.details["linkage"]).max(), cophenet(tree).max(), atol=1e-9
    )


def test_the_usual_price_is_the_mean_degree_of_sure_pairs(seed):
    ensemble, _ = planted(seed, noise=0.1)
    rows = distinct_rows(ensemble)
    B = over_objects(sure_pairs(rows, 0.8, "pair"), rows)
    np.fill_diagonal(B, 0.0)
    expected = B.sum(axis=1).mean()
    assert usual_price(sure_pairs(rows, 0.8, "pair"), rows.counts) == pytest.approx(expected)
    found = eccms(ensemble, 3)
    assert found.details["price"] == pytest.approx(expected)
    assert found.details["sure"] == pytest.approx((B > 0).sum() / (len(B) * (len(B) - 1)))
    assert usual_price(np.zeros((3, 3)), np.array([1, 1, 1])) == 1.0


def test_what_goes_to_zero_counts_as_settled(seed):
    """Hardly a pair is sure: E and the multipliers vanish, and never stop doing so."""
    ensemble, _ = planted(seed)
    assert eccms(ensemble, 3, alpha=1.0, price=5.0).converged


def test_a_high_price_is_lwea_and_a_low_one_joins_what_is_surely_linked():
    """A chain of sure pairs: at a low price its ends come together, at a high one they do not."""
    labels = np.array(
        [[0] * 5, [0] * 4 + [1], [0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1] * 5]
    )
    rows = distinct_rows(Ensemble(labels))
    sure, weak = sure_pairs(rows, 0.8, "pair"), weighted_similarity(rows, "pair", None)
    first = int(rows.inverse[0])
    last = int(rows.inverse[5])
    assert weak[first, last] == 0.0
    held = enhanced(sure, weak, rows.counts, 1e9, 1000).pairs
    loose = enhanced(sure, weak, rows.counts, 1e-3, 1000).pairs
    np.testing.assert_allclose(held, np.where(np.eye(6, dtype=bool), held, weak), atol=0.02)
    assert loose[first, last] > held[first, last] + 0.1


def test_groups_are_found_where_much_is_unseen(seed):
    ensemble, truth = planted(seed, n_members=25, unseen=0.3)
    assert adjusted_rand_score(truth, eccms(ensemble, 3).labels) == 1.0


def test_too_few_steps_are_told():
    ensemble, _ = planted(0)
    with pytest.warns(ConsilienceWarning, match=r"not settled after max_iter=2 .* Raise max_iter"):
        found = eccms(ensemble, 3, max_iter=2)
    assert found.converged is False
    assert found.n_iter == 2
    settled = eccms(ensemble, 3)
    assert settled.converged is True
    assert settled.n_iter < 100


def test_a_matrix_too_large_is_refused_with_a_remedy():
    ensemble, _ = planted(0)
    u = len(ensemble.signatures().counts)
    with pytest.raises(MemoryBudgetError, match=r"distinct objects .* max_memory.*LWEA.*LWGP"):
        eccms(ensemble, 2, max_memory=96 * u * u - 1)
    assert eccms(ensemble, 2, max_memory=96 * u * u).n_clusters == 2


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"alpha": 0}, "'alpha' parameter of ECCMS .* Got 0"),
        ({"alpha": 1.5}, "'alpha' .* Got 1.5"),
        ({"price": 0}, "'price' .* Got 0"),
        ({"linkage": "ward"}, "'linkage' .* Got 'ward'"),
        ({"missing": "none"}, "'missing' .* Got 'none'"),
        ({"max_iter": 0}, "'max_iter' .* Got 0"),
        ({"max_memory": "much"}, "'max_memory' .* Got 'much'"),
    ],
)
def test_bad_parameters_are_named(params, message):
    with pytest.raises(InvalidParameterError, match=message):
        eccms(Ensemble([[0, 0, 1]]), 2, **params)
    with pytest.raises(InvalidParameterError, match=message):
        ECCMS(2, **params).fit(ensemble=[[0, 0, 1]])
