"""Groups of equal objects for the models of co-association: room, threads, what is counted."""

import numpy as np
import pytest

from consilience import Ensemble
from consilience._labels import UNSEEN
from consilience.consensus import _peace_pairs
from consilience.consensus._peace_pairs import inside_share, make_pairs

WHOLE = [[0, 0, 1, 1, 1], [0, 0, 0, 1, 1]]
PARTLY = [[0, 0, 1, 1, 1], [UNSEEN, UNSEEN, 0, 1, 1]]


@pytest.mark.parametrize(("labels", "needed"), [(WHOLE, 9), (PARTLY, 18), (150 * WHOLE, 18)])
def test_a_matrix_of_counts_must_fit_its_room(labels, needed):
    """Three groups; twice where not all see all, and where a byte is too small for counts."""
    ensemble = Ensemble(labels)
    assert not make_pairs(ensemble, needed).matrix_free
    assert make_pairs(ensemble, needed - 1).matrix_free


@pytest.mark.parametrize("budget", [0, 1000])
@pytest.mark.parametrize("labels", [WHOLE, PARTLY])
def test_groups_are_weighed_by_their_objects(labels, budget):
    pairs = make_pairs(Ensemble(labels), budget)
    table = np.array(labels)
    seen = table != UNSEEN
    group = pairs.inverse
    assert pairs.n_groups == 3
    np.testing.assert_array_equal(pairs.weights[group], [2, 2, 1, 2, 2])
    np.testing.assert_array_equal(pairs.own[group], [1, 1, 0, 1, 1] * seen.sum(axis=0))
    both = (seen[:, :, None] & seen[:, None]).sum(axis=0)
    joined = ((table[:, :, None] == table[:, None]) & seen[:, :, None] & seen[:, None]).sum(axis=0)
    labels_of_groups = np.empty(3, np.int32)
    labels_of_groups[group] = group == group[0]
    same = labels_of_groups[group]
    inside = (same[:, None] == same) & ~np.eye(5, dtype=bool) & (both > 0)
    share = (joined[inside] / both[inside]).mean()
    assert inside_share(pairs, labels_of_groups) == pytest.approx(share)


def test_single_objects_are_all_together():
    pairs = make_pairs(Ensemble([[0, 1, 2]]), 1000)
    assert inside_share(pairs, np.arange(3, dtype=np.int32)) == 1.0


@pytest.mark.parametrize(
    ("bound", "more", "threads"),
    [
        (3, {}, 4),
        (4, {}, 1),
        (3, {"n_runs": 2}, 2),
        (3, {"n_runs": 0}, 4),
        (3, {"n_runs": 9}, 1),
    ],
)
def test_passes_get_the_threads_that_runs_leave(monkeypatch, bound, more, threads):
    monkeypatch.setattr(_peace_pairs, "_WORTH_THREADS", bound)
    monkeypatch.setattr(_peace_pairs, "workers", lambda n_jobs, n: n_jobs)
    assert make_pairs(Ensemble(WHOLE), 1000, n_jobs=4, **more).n_jobs == threads
