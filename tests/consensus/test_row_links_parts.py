"""Trees over rows of equal objects, part by part: what is divided by, distances, weights."""

import numpy as np
import pytest
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from consilience import UNSEEN, Ensemble
from consilience.consensus._row_links import (
    check_budget,
    labels_of_members,
    link_distances,
    seen_together,
    tree_result,
)
from consilience.consensus._rows import distinct_rows
from consilience.errors import MemoryBudgetError


def rows_of(seed, lowest, n=150, n_members=5):
    rng = np.random.default_rng(seed)
    return distinct_rows(Ensemble(list(rng.integers(lowest, 4, (n_members, n)))))


def test_what_just_fits_is_made():
    check_budget(7, 2**30, 2**30, remedy="stop")
    with pytest.raises(MemoryBudgetError) as refused:
        check_budget(7, 3 * 2**29, 2**29, remedy="stop")
    assert str(refused.value) == (
        "The similarities of 7 distinct objects take 1.5 GiB, more than max_memory=0.5 GiB. "
        "Raise max_memory, or stop."
    )


@pytest.mark.parametrize("lowest", [0, -1, -2])
def test_members_that_saw_both_count_or_all(lowest, seed):
    rows = rows_of(seed, lowest)
    seen = rows.members != UNSEEN
    assert seen_together(rows, "all")(3, 8).tolist() == [[5.0]]
    found = seen_together(rows, "pair")(3, 8)
    if lowest > UNSEEN:
        assert found.tolist() == [[5.0]]
    else:
        wanted = [
            [(seen[:, i] & seen[:, j]).sum() for j in range(3, 8)] for i in range(rows.n_rows)
        ]
        np.testing.assert_array_equal(found, wanted[3:])


def test_labels_of_a_block_are_those_placed(seed):
    rows = rows_of(seed, -2)
    found = list(labels_of_members(rows, 10, 60))
    assert len(found) == 5
    for member, start, (placed, labels, column) in zip(
        rows.members, rows.starts, found, strict=False
    ):
        assert placed.tolist() == [i for i in range(50) if member[10 + i] >= 0]
        assert labels.tolist() == [own for own in member[10:60] if own >= 0]
        assert column == start


@pytest.mark.parametrize("lowest", [0, -2])
@pytest.mark.parametrize("n", [2, 64, 65, 150])
def test_distances_are_one_minus_shares_of_members(lowest, n, seed):
    rows = rows_of(seed, lowest, n)
    u = rows.n_rows

    def vectors(start, stop):
        table = np.zeros((stop - start, int(rows.starts[-1])))
        for placed, labels, column in labels_of_members(rows, start, stop):
            table[placed, column + labels] = 1.0
        return table

    found = link_distances(rows, vectors, seen_together(rows, "pair"), n_jobs=None)
    a, b = rows.members[:, :, None], rows.members[:, None, :]
    joined = ((a == b) & (a >= 0)).sum(axis=0)
    both = ((a != UNSEEN) & (b != UNSEEN)).sum(axis=0)
    shares = np.divide(joined, both, out=np.zeros((u, u)), where=both > 0)
    wanted = 1.0 - shares[np.triu_indices(u, 1)]
    np.testing.assert_allclose(found, wanted, atol=1e-12)
    joined = joined[np.triu_indices(u, 1)]
    for share, by in ((0.25, 4.0), (0.0625, 0.5), (9.0, 1.0)):
        found = link_distances(
            rows,
            lambda i, j, share=share: share * vectors(i, j),
            lambda i, j, by=by: np.full((1, 1), by),
            n_jobs=None,
        )
        wanted = np.maximum(1.0 - share * joined / by, 0.0)
        np.testing.assert_allclose(found, wanted, atol=1e-12)


@pytest.mark.parametrize("k", [2, 4])
def test_rows_count_as_often_as_there_are_objects(k, seed):
    rng = np.random.default_rng(seed)
    rows = distinct_rows(Ensemble([rng.integers(0, 4, 60), rng.integers(0, 3, 60)]))
    place = rng.random(rows.n_rows)
    distances = abs(place[:, None] - place)
    result = tree_result(rows, squareform(distances), k, "average", note="kept")
    whole = hierarchy.linkage(squareform(distances[np.ix_(rows.inverse, rows.inverse)]), "average")
    wanted = hierarchy.fcluster(whole, k, "maxclust")
    together = result.labels[:, None] == result.labels
    np.testing.assert_array_equal(together, wanted[:, None] == wanted)
    np.testing.assert_allclose(result.details["linkage"][:, 2], whole[:, 2], atol=1e-12)
    assert (result.solver, result.details["note"]) == ("linkage", "kept")
    once = tree_result(rows, squareform(distances), k, "average", weighted=False)
    tree = hierarchy.linkage(squareform(distances), "average")
    wanted = hierarchy.fcluster(tree, k, "maxclust")[rows.inverse]
    together = once.labels[:, None] == once.labels
    np.testing.assert_array_equal(together, wanted[:, None] == wanted)
