"""Generators whose runs are kept, whole runs of them, and what a folder may hold."""

import tempfile
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, KMeans

from consilience.generate import (
    Combined,
    DistanceEnsemble,
    EstimatorEnsemble,
    GraphEnsemble,
    KMeansEnsemble,
    LACEnsemble,
    MembershipEnsemble,
    MixedEnsemble,
    USPECEnsemble,
)
from consilience.generate.checkpoint import RunFolder

INNER = Combined([EstimatorEnsemble(KMeans(n_init=1), [3, 4]), LACEnsemble(2, 3)])
GENERATORS = {
    # Forty members advance in groups of five: what is missing forms other groups.
    "kmeans": KMeansEnsemble(40, (2, 4)),
    "kmeans sub-sampled": KMeansEnsemble(40, (2, 4), max_samples=0.6, max_features=0.5),
    "kmeans unseen": KMeansEnsemble(40, 3, max_samples=(0.5, 0.8), assign="unseen"),
    "kmeans in turn": KMeansEnsemble(40, [2, 3, 4], init="k-means++", tol=0.1),
    "cosine": KMeansEnsemble(40, 3, metric="cosine"),
    "online": KMeansEnsemble(40, 3, online=True),
    "mini-batch": KMeansEnsemble(40, 3, algorithm="minibatch", batch_size=20, max_iter=5),
    "estimators": EstimatorEnsemble([KMeans(n_init=1), DBSCAN(eps=0.6)], [2, 3], max_samples=0.8),
    "combined": Combined([KMeansEnsemble(20, 2), INNER]),
    "lac": LACEnsemble(6, 3),
    "graph": GraphEnsemble(3, (2, 4)),
    "mixed": MixedEnsemble(6, (2, 4)),
    "distances": DistanceEnsemble(5, (2, 4), metric="manhattan"),
    "memberships": MembershipEnsemble(4, (2, 4)),
    "u-spec": USPECEnsemble(3, (2, 4), n_representatives=20),
}


def make_data():
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(c, 0.9, (20, 4)) for c in (0.5, 2.5, 4.5)])


def seeded(name):
    return clone(GENERATORS[name]).set_params(random_state=7)


@cache
def whole_run(name):
    """A folder with a whole run, and the generator that made it, with its ensemble."""
    folder = tempfile.TemporaryDirectory()
    generator = seeded(name)
    ensemble = generator.generate(make_data(), checkpoint=RunFolder(folder.name))
    return folder, generator, ensemble


def member_files(folder):
    return sorted(Path(folder).rglob("members/*.npz"))


def assert_same(first, second):
    assert first.labels.dtype == second.labels.dtype
    np.testing.assert_array_equal(first.labels, second.labels)
    assert untimed(first.records) == untimed(second.records)


def untimed(records):
    return [{k: v for k, v in dict(record).items() if k != "seconds"} for record in records]


def assert_clean(folder):
    """Nothing but what the layout names."""
    for path in Path(folder).rglob("*"):
        known = path.is_dir() or path.name == "plan.json" or path in member_files(folder)
        assert known, path


class Odd(ClusterMixin, BaseEstimator):
    """A clusterer that fails for some seeds."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        if self.random_state % 2:
            raise RuntimeError("odd seed")
        self.labels_ = (X[:, 0] > 2.5).astype(int)
        return self
