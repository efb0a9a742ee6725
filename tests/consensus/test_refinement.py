"""One pass over a consensus: who moves, where to, and that no order decides it."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score
from strategies import label_tables, labelings

from consilience import Ensemble
from consilience.consensus import cspa, eac, refine
from consilience.errors import ConsilienceWarning, InvalidInputError
from consilience.evidence import co_association


def weak(seed, n=90, wrong=0.45):
    """Nine members, often wrong, of three groups of unequal size."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], [n // 2, n // 3, n - n // 2 - n // 3])
    errs = rng.random((n, 9)) < wrong
    return Ensemble(np.where(errs, rng.integers(0, 3, errs.shape), truth[:, None])), truth


def means_slowly(ensemble, labels):
    """Mean co-association of every object with every cluster, itself left out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        C = co_association(ensemble)
    np.fill_diagonal(C, 0.0)
    k = labels.max() + 1
    sums = np.stack([C[:, labels == c].sum(axis=1) for c in range(k)], axis=1)
    sizes = np.bincount(labels[labels >= 0], minlength=k).astype(float)
    counts = np.tile(sizes, (len(labels), 1))
    placed = np.flatnonzero(labels >= 0)
    counts[placed, labels[placed]] -= 1
    # Alone in its cluster, an object is as close to it as to itself.
    return np.where(counts > 0, sums / np.maximum(counts, 1), 1.0), sizes


@given(st.data())
@settings(max_examples=60)
def test_objects_move_to_the_best_cluster_of_the_old_labels(data):
    table = data.draw(label_tables(min_objects=3, max_objects=14))
    ensemble = Ensemble(table)
    labels = np.unique(data.draw(labelings(len(table), unseen=False)), return_inverse=True)[1]
    found = refine(ensemble, labels)
    means, sizes = means_slowly(ensemble, labels)
    own = means[np.arange(len(labels)), labels]
    better = means.max(axis=1) > own + 1e-9
    emptied = [c for c in range(len(sizes)) if better[labels == c].all()]
    np.testing.assert_array_equal(found.moved, better & ~np.isin(labels, emptied))
    # The old cluster that each new one holds, by the objects that stayed.
    old = {new: labels[i] for i, new in enumerate(found.labels) if not found.moved[i]}
    assert len(old) == len(sizes)
    for i in np.flatnonzero(found.moved):
        best = np.flatnonzero(means[i] >= means[i].max() - 1e-9)
        assert old[found.labels[i]] in best[sizes[best] == sizes[best].max()]


def test_the_order_of_the_objects_decides_nothing(seed):
    ensemble, _ = weak(seed)
    labels = eac(ensemble, 3).labels
    first = refine(ensemble, labels)
    assert first.moved.any()
    for shuffle in range(5):
        order = np.random.default_rng(shuffle).permutation(90)
        second = refine(ensemble.take(order), labels[order])
        np.testing.assert_array_equal(second.moved, first.moved[order])
        assert adjusted_rand_score(first.labels[order], second.labels) == 1.0


def test_a_balanced_cut_gets_nearer_to_unequal_groups(seed):
    ensemble, truth = weak(seed, wrong=0.3)
    before = cspa(ensemble, 3, random_state=0).labels
    after = refine(ensemble, before).labels
    assert adjusted_rand_score(truth, after) > adjusted_rand_score(truth, before)


def test_noise_stays_noise_and_a_cluster_never_vanishes():
    ensemble = Ensemble([[0, 0, 0, 0, 1, 1, -1], [0, 0, 0, 0, 1, 1, -1]])
    # Both objects of cluster 1 belong to the first four: it would be left empty.
    found = refine(ensemble, [0, 0, 1, 1, 2, 2, -1])
    assert found.labels.tolist() == [0, 0, 1, 1, 2, 2, -1]
    assert not found.moved.any()
    assert refine(ensemble, [-1] * 7).labels.tolist() == [-1] * 7


def test_labels_of_other_objects_are_refused():
    with pytest.raises(InvalidInputError, match="one label for each of the 2 objects"):
        refine(Ensemble([[0, 1]]), [0, 1, 1])


@pytest.mark.parametrize("labels", [[0.0, 0.0, 1.0], [[0, 0, 1]], ["a", "a", "b"]])
def test_labels_that_are_no_row_of_whole_numbers_are_refused(labels):
    with pytest.raises(InvalidInputError, match="one whole number for each object"):
        refine(Ensemble([[0, 0, 1]]), labels)
