"""Permuting the objects permutes the partition, of every method, ties or not.

A method that reads something off the order of a file gains from files sorted by class. Exact with
cluster names kept; on planted ensembles also with clusters renamed and members permuted.
"""

import warnings
from collections import Counter
from itertools import product

import numpy as np
import pytest
from scipy import sparse

from consilience import Ensemble
from consilience.consensus import CONSENSUS, eac, eeac
from consilience.consensus._order import object_order
from consilience.errors import ConsilienceWarning

LINKS = ["average", "complete", "single"]
# What members do not place, and how often.
GAPS = [(None, 0.0), (-1, 0.2), (-2, 0.2)]


def tied(seed, n=60, n_members=9, gap=None, share=0.0):
    """Members wrong about almost every second object: few different shares, so ties abound."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    wrong = rng.random((n, n_members)) < 0.45
    labels = np.where(wrong, rng.integers(0, 3, wrong.shape), truth[:, None])
    labels[rng.random(labels.shape) < share] = 0 if gap is None else gap
    return Ensemble(labels), 2.4 * np.eye(3)[truth] + rng.normal(size=(n, 3))


def planted(seed):
    """Fifteen members that agree on three groups of twenty but for one label in twenty."""
    rng = np.random.default_rng(seed)
    truth = np.repeat([0, 1, 2], 20)
    labels = np.repeat(truth[:, None], 15, axis=1)
    wrong = rng.random(labels.shape) < 0.05
    labels[wrong] = rng.integers(0, 3, wrong.sum())
    return Ensemble(labels), 8.0 * np.eye(3)[truth] + rng.normal(size=(60, 3))


def renamed(ensemble, rng):
    """The same members in another order, their clusters under other names."""
    labels = ensemble.labels[:, rng.permutation(ensemble.n_members)].copy()
    for member in labels.T:
        names = rng.permutation(member.max() + 1)
        member[member >= 0] = names[member[member >= 0]]
    return Ensemble(labels)


def found_by(method, ensemble, k, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        return method.run(ensemble, k, X if method.needs_data else None, random_state=0).labels


def clusters(labels, objects):
    """The partition as a set of clusters, each the objects in it and how many of each."""
    found = {}
    for label, one in zip(labels.tolist(), objects, strict=True):
        found.setdefault(label, Counter())[one] += 1
    noise = found.pop(-1, Counter())
    return {frozenset(one.items()) for one in found.values()}, noise


def same_partition(ensemble, first, second, order, *, splits_equals):
    """Whether ``second``, of the objects in ``order``, is ``first``.

    Objects that nothing tells apart may change places where a method splits them: no rule
    that looks at the labels alone could say which is which.
    """
    rows = [tuple(row) for row in ensemble.labels.tolist()]
    names = rows if splits_equals else list(range(len(rows)))
    return clusters(first, names) == clusters(second, [names[i] for i in order])


@pytest.fixture(params=sorted(CONSENSUS))
def method(request):
    return CONSENSUS[request.param]


@pytest.mark.parametrize(("gap", "share"), GAPS)
def test_permuting_the_objects_permutes_the_partition(method, gap, share):
    ensemble, X = tied(4, gap=gap, share=share)
    # Equal rows with noise are apart: noise is together with nobody.
    splits = method.balanced or gap is not None
    first = found_by(method, ensemble, 3, X)
    for seed in range(2):
        order = np.random.default_rng(seed).permutation(ensemble.n_objects)
        second = found_by(method, ensemble.take(order), 3, X[order])
        assert same_partition(ensemble, first, second, order, splits_equals=splits)


def test_files_sorted_by_class_gain_nothing(method):
    ensemble, X = tied(5)
    truth = X.argmax(axis=1)
    first = found_by(method, ensemble, 3, X)
    for order in (np.argsort(truth, kind="stable"), np.argsort(-truth, kind="stable")):
        second = found_by(method, ensemble.take(order), 3, X[order])
        assert same_partition(ensemble, first, second, order, splits_equals=method.balanced)


def test_names_do_not_matter_either_on_planted_groups(method, seed):
    ensemble, X = planted(seed)
    rng = np.random.default_rng(1)
    first = found_by(method, ensemble, 3, X)
    for _ in range(2):
        order = rng.permutation(ensemble.n_objects)
        second = found_by(method, renamed(ensemble.take(order), rng), 3, X[order])
        assert same_partition(ensemble, first, second, order, splits_equals=False)


@pytest.mark.parametrize(("function", "linkage"), [*product([eac, eeac], LINKS), (eac, "ward")])
def test_trees_of_twelve_members_survive_twenty_shuffles(function, linkage):
    ensemble, _ = tied(0, n=150, n_members=12)
    first = function(ensemble, 5, linkage=linkage).labels
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(150)
        second = function(ensemble.take(order), 5, linkage=linkage).labels
        assert same_partition(ensemble, first, second, order, splits_equals=False)


@pytest.mark.parametrize(("gap", "share"), GAPS)
@pytest.mark.parametrize("linkage", [*LINKS, "ward"])
def test_ties_of_evidence_do_not_go_by_names(linkage, gap, share, seed):
    ensemble, _ = tied(seed, n=80, n_members=12, gap=gap, share=share)
    rng = np.random.default_rng(seed)
    first = eac(ensemble, 4, linkage=linkage).labels
    for _ in range(5):
        order = rng.permutation(80)
        second = eac(renamed(ensemble.take(order), rng), 4, linkage=linkage).labels
        assert same_partition(ensemble, first, second, order, splits_equals=gap is not None)


@pytest.mark.parametrize(("gap", "share"), GAPS)
@pytest.mark.parametrize("linkage", ["average", "single"])
@pytest.mark.parametrize("n_members", [4, 12])
def test_memory_does_not_break_ties(linkage, n_members, gap, share, seed):
    ensemble, _ = tied(seed, n=150, n_members=n_members, gap=gap, share=share)
    for missing in ("pair", "all"):
        much, little = (
            eac(ensemble, 5, linkage=linkage, missing=missing, max_memory=memory)
            for memory in ("4 GiB", 1)
        )
        np.testing.assert_array_equal(little.labels, much.labels)
        np.testing.assert_array_equal(little.linkage, much.linkage)
    much, little = (eeac(ensemble, 5, linkage=linkage, max_memory=m) for m in ("4 GiB", 1))
    np.testing.assert_array_equal(little.labels, much.labels)
    np.testing.assert_array_equal(little.details["linkage"], much.details["linkage"])


def test_objects_with_equal_labels_go_by_what_else_is_known():
    ensemble = Ensemble(np.zeros((40, 2), int))
    rng = np.random.default_rng(0)
    X = np.where(rng.random((40, 5)) < 0.5, 0.0, rng.normal(size=(40, 5)))
    order = object_order(ensemble, X)
    shuffle = rng.permutation(40)
    np.testing.assert_array_equal(X[shuffle][object_order(ensemble, X[shuffle])], X[order])
    np.testing.assert_array_equal(object_order(ensemble, -0.0 * X, X), order)
    np.testing.assert_array_equal(X[object_order(ensemble, sparse.csr_array(X))], X[order])


@pytest.mark.parametrize("name", [name for name, one in CONSENSUS.items() if one.needs_data])
def test_data_tell_objects_with_equal_labels_apart(name, seed):
    rng = np.random.default_rng(seed)
    halves = Ensemble([np.arange(40) % 2] * 3)
    X = rng.normal(size=(40, 2))
    order = rng.permutation(40)
    found = found_by(CONSENSUS[name], halves, 3, X)
    again = found_by(CONSENSUS[name], halves.take(order), 3, X[order])
    assert same_partition(halves, found, again, order, splits_equals=False)
