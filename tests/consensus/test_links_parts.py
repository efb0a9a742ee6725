"""The steps of links between clusters: noise, decay, updates, and what fits into memory."""

import numpy as np
import pytest
from scipy.spatial.distance import squareform

from consilience import Ensemble
from consilience.consensus import asrs, cts, links, srs
from consilience.consensus._rows import distinct_rows
from consilience.errors import MemoryBudgetError

# Six different rows of three members, seven clusters in all.
ENSEMBLE = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [0, 1, 1, 1, 1, 0]])
METHODS = [cts, srs, asrs]


def test_every_cluster_has_its_objects_also_the_first():
    labels, counts = np.array([0, 2, -1, 0, -2]), np.array([3, 4, 5, 6, 7])
    assert links._sizes(labels, counts, 4).tolist() == [9.0, 0.0, 4.0, 0.0]


def test_noise_counts_for_a_cluster_what_the_objects_of_others_do():
    table = np.array([[1.0, 0.5, 0.0], [0.5, 1.0, 0.25], [0.0, 0.25, 1.0]])
    sizes = np.array([1.0, 2.0, 4.0])
    found = links._with_noise(table, sizes)
    # Two others of 0.5 and four of 0; one of 0.5 and four of 0.25; two of 0.25 and one of 0.
    wanted = np.array([1.0 / 6, 1.5 / 5, 0.5 / 3])
    np.testing.assert_array_equal(found[:3, :3], table)
    np.testing.assert_allclose(found[3, :3], wanted)
    np.testing.assert_allclose(found[:3, 3], wanted)
    # All ordered pairs of objects of different clusters.
    assert found[3, 3] == pytest.approx(sizes @ (wanted * [6, 5, 3]) / (sizes @ [6, 5, 3]))


@pytest.mark.parametrize(
    ("sizes", "noise"), [([1.0, 1.0], [0.5, 0.5, 0.5]), ([3.0, 0.0], [0.0, 0.5, 0.0])]
)
def test_noise_beside_one_object_or_none(sizes, noise):
    found = links._with_noise(np.array([[1.0, 0.5], [0.5, 1.0]]), np.array(sizes))
    assert found[2].tolist() == noise


@pytest.mark.parametrize("decay", [0.5, 1.0])
def test_one_step_of_simrank_is_relative_to_the_largest_which_does_not_decay(decay):
    rows = distinct_rows(ENSEMBLE)
    J = links.jaccard(rows, None)
    n = (J > 0).sum(axis=1)
    wanted = J @ J / np.outer(n, n)
    np.fill_diagonal(wanted, 0.0)
    wanted /= wanted.max()
    wanted[wanted < 1.0 - 1e-9] *= decay
    np.fill_diagonal(wanted, 1.0)
    np.testing.assert_allclose(links.approximate_simrank(rows, decay, None), wanted)


def test_the_largest_does_not_decay_even_without_room_for_rounding(monkeypatch):
    monkeypatch.setattr(links, "_ROUNDING", 0.0)
    found = links.approximate_simrank(distinct_rows(ENSEMBLE), 0.5, None)
    np.fill_diagonal(found, 0.0)
    assert found.max() == 1.0


@pytest.mark.parametrize("n_iter", [1, 2, 3, 4, 5, 6])
def test_clusters_and_objects_are_updated_by_turns_from_the_state_before(n_iter):
    """The similarity of clusters whose last update makes that of objects."""
    rows = distinct_rows(ENSEMBLE)
    B = Ensemble._trusted(rows.members).indicator().toarray().astype(float)
    sizes, decay = B.sum(axis=0), 0.8
    C, S = np.eye(B.shape[1]), np.eye(len(B))
    for _ in range(n_iter - 1):
        C, S = decay * B.T @ S @ B / np.outer(sizes, sizes), decay * B @ C @ B.T / 9
        np.fill_diagonal(C, 1.0)
        np.fill_diagonal(S, 1.0)
    n_labels = np.full(rows.n_rows, 3.0)
    found = links.simrank(rows, decay, n_iter, n_labels, None)
    np.testing.assert_allclose(found, C, atol=1e-12)


@pytest.mark.parametrize(("method", "by"), [(srs, 9 / 0.8), (asrs, 9.0)])
def test_the_tree_is_that_of_similarities_over_pairs_of_labels(method, by):
    rows = distinct_rows(ENSEMBLE)
    C = links.simrank(rows, 0.8, 4, np.full(6, 3.0), None)
    C = C if method is srs else links.approximate_simrank(rows, 0.8, None)
    B = Ensemble._trusted(rows.members).indicator().toarray()
    D = 1.0 - B @ C @ B.T / by
    np.fill_diagonal(D, 0.0)
    found = method(ENSEMBLE, 2, linkage="complete").details["linkage"]
    # The last of complete link is the largest distance, the first the smallest.
    pairs = squareform(D, checks=False)
    assert found[-1, 2] == pytest.approx(pairs.max())
    assert found[0, 2] == pytest.approx(pairs.min())


@pytest.mark.parametrize("method", METHODS)
def test_memory_is_that_of_the_pairs_or_of_rows_by_clusters(method):
    for solver, needed in [("linkage", 8 * 15), ("spectral", 8 * 6 * 7)]:
        method(ENSEMBLE, 2, solver=solver, max_memory=needed, random_state=0)
        with pytest.raises(MemoryBudgetError):
            method(ENSEMBLE, 2, solver=solver, max_memory=needed - 1, random_state=0)
