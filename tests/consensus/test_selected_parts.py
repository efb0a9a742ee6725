"""The steps of EEAC on few objects: what is covered, one group or none, and memory to the byte."""

import warnings

import numpy as np
import pytest

from consilience import Ensemble
from consilience.consensus import selected
from consilience.consensus._rows import distinct_rows
from consilience.consensus.selected import eeac
from consilience.errors import ConsilienceWarning, MemoryBudgetError
from consilience.evidence.stability import ClusterSelection
from consilience.kernels.links.chain import MAX_MEMORY

ROWS = distinct_rows(Ensemble([[0, 0, 1, 1, 2], [0, 1, 1, 2, 2]]))


def chosen(kept, cover):
    return ClusterSelection(np.array(kept), 0.5, 0, np.array(cover))


def test_objects_that_no_member_placed_at_all_have_a_result():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = eeac(Ensemble([[-2, -2, -2], [-2, -2, -2]]), 2)
    assert found.labels.tolist() == [-1, -1, -1]
    assert not found.details


def test_one_kept_cluster_covers_an_object():
    ensemble = Ensemble([[0, 0, 1, 1], [0, 0, 1, 1]])
    choice = chosen([True, True, False, False], [1, 1, 1, 1])
    found = selected._cut(ensemble, choice, 2, "average", 2**30, None)
    assert found.labels[0] == found.labels[1] != found.labels[2] == found.labels[3]
    assert found.details["linkage"].shape == (3, 4)


def test_objects_in_no_kept_cluster_are_one_cluster():
    choice = chosen([False, False], [0, 0, 0])
    with pytest.warns(ConsilienceWarning, match="they are one cluster"):
        found = selected._cut(Ensemble([[0, 0, 1]]), choice, 2, "average", 2**30, None)
    assert found.labels.tolist() == [0, 0, 0]


@pytest.mark.parametrize("linkage", ["average", "complete", "single"])
def test_a_single_row_has_a_tree_without_merges(linkage):
    rows = distinct_rows(Ensemble([[0, 0, 0]]))
    assert selected._tree(rows, linkage, 0, None).shape == (0, 4)


def test_average_link_takes_a_quarter_of_the_memory_at_most_so_much(monkeypatch):
    given = []
    take = lambda *_, max_memory: given.append(max_memory)  # noqa: E731
    monkeypatch.setattr(selected, "kept_average_link", take)
    for budget in (1003, 4 * MAX_MEMORY - 4, 2**40):
        selected._tree(ROWS, "average", budget, None)
    assert given == [250, MAX_MEMORY - 1, MAX_MEMORY]


def test_complete_link_takes_nine_bytes_a_pair():
    assert ROWS.n_rows == 5
    assert selected._tree(ROWS, "complete", 90, None).shape == (4, 4)
    with pytest.raises(MemoryBudgetError, match=r"of 5 distinct objects take 8\.38e-08 GiB"):
        selected._tree(ROWS, "complete", 89, None)
