"""Defaults on ensembles with a known answer; the published settings, which fail there, remain."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience import Ensemble
from consilience.consensus import cumulativevoting, eeac, mcla, mixtureconsensus, pta, ptgp
from consilience.generate import KMeansEnsemble


def rings(seed, n=300, clusters=(15, 25)):
    """Two half rings, and forty k-means with far more clusters than wanted."""
    X, truth = cs.datasets.make_half_rings(n, random_state=seed)
    return X, truth, KMeansEnsemble(40, clusters, random_state=seed).generate(X)


def noisy_copies(truth, wrong, n_members, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(truth[:, None], n_members, axis=1)
    off = rng.random(labels.shape) < wrong
    labels[off] = rng.integers(0, truth.max() + 1, off.sum())
    return labels


TRUTH = np.repeat([0, 1, 2], 60)


@pytest.mark.parametrize("seed", range(3))
def test_usenc_finds_two_rings(seed):
    X, truth = cs.datasets.make_half_rings(1000, random_state=seed)
    model = cs.USENC(2, random_state=0).fit(X)
    assert adjusted_rand_score(truth, model.labels_) >= 0.95
    assert {record["n_representatives"] for record in model.ensemble_.records} == {200}


@pytest.mark.parametrize("seed", range(3))
def test_walks_of_twenty_steps_follow_the_rings(seed):
    _, truth, ensemble = rings(seed)
    assert adjusted_rand_score(truth, pta(ensemble, 2).labels) >= 0.95
    published = {"n_neighbors": None, "n_steps": None}
    assert adjusted_rand_score(truth, pta(ensemble, 2, **published).labels) < 0.3
    assert ptgp(ensemble, 2, random_state=0).details["n_steps"] == 20


def test_the_mixture_starts_where_kcc_ends():
    found, random = [], []
    for seed in range(4):
        _, truth, ensemble = rings(seed)
        found.append(mixtureconsensus(ensemble, 2, random_state=0))
        random.append(mixtureconsensus(ensemble, 2, start="random", random_state=0))
        found[-1] = adjusted_rand_score(truth, found[-1].labels)
        random[-1] = adjusted_rand_score(truth, random[-1].labels)
    assert np.mean(found) >= np.mean(random) + 0.3


@pytest.mark.parametrize("seed", range(3))
def test_one_wild_member_does_not_rule_the_vote(seed):
    wild = np.random.default_rng(seed).integers(0, 60, len(TRUTH))
    ensemble = Ensemble(np.column_stack([noisy_copies(TRUTH, 0.1, 12, seed), wild]))
    assert adjusted_rand_score(TRUTH, cumulativevoting(ensemble, 3).labels) == 1.0
    published = cumulativevoting(ensemble, 3, reference="entropy")
    assert published.details["reference"] == 12
    assert adjusted_rand_score(TRUTH, published.labels) < 0.9


@pytest.mark.parametrize("seed", range(10))
def test_meta_clusters_of_the_papers_example(seed):
    """Strehl & Ghosh (2002), table 1: four members, seven objects, labels missing."""
    members = [
        [1, 1, 1, 2, 2, 3, 3],
        [2, 2, 2, 3, 3, 1, 1],
        [1, 1, 2, 2, 3, 3, 3],
        [1, 2, None, 1, 2, None, None],
    ]
    found = mcla(Ensemble(members), 3, random_state=seed)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 2, 2]
    assert found.solver == "spectral"


def test_graphs_of_many_clusters_are_cut_as_published():
    ensemble = Ensemble(noisy_copies(TRUTH, 0.1, 17))
    assert mcla(ensemble, 3, random_state=0).solver == "metis"
    assert mcla(ensemble[:16], 3, random_state=0).solver == "spectral"


def test_copies_of_a_wrong_member_count_once_if_asked_for():
    good = noisy_copies(TRUTH, 0.15, 6)
    wrong = np.random.default_rng(3).permutation(TRUTH)
    names = np.random.default_rng(4)
    copies = [names.permutation(9)[wrong] for _ in range(6)]
    ensemble = Ensemble(np.column_stack([*copies, good]))
    assert adjusted_rand_score(TRUTH, eeac(ensemble, 3).labels) < 0.1
    distinct = ensemble.distinct_members()
    assert distinct.n_members == 7
    assert adjusted_rand_score(TRUTH, eeac(distinct, 3).labels) >= 0.9
