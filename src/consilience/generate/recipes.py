"""The ensembles of the papers, as generators ready to use.

Each function returns a generator with the published settings; every setting can still be
changed with ``set_params``. Where a paper standardised its data, do so before (the
functions say where).
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from consilience._validation import N_MEMBERS, check_value
from consilience.generate.clusterers import NJW, PAM, Linkage
from consilience.generate.combined import Combined
from consilience.generate.estimators import EstimatorEnsemble
from consilience.generate.kmeans import KMeansEnsemble

__all__ = [
    "cosine_split_and_merge",
    "fdc",
    "full_ensemble",
    "kmeans_ensemble",
    "many_algorithms",
    "minibatch_split_and_merge",
    "odc",
    "rcc",
    "split_and_merge",
    "woec",
]

_SPLIT = ("sqrt/2", "sqrt")


def woec(n_members: int, n_clusters: int, random_state: Any = None) -> Combined:
    """The two halves of the weighted-object paper: 70 % of the objects, 70 % of the features.

    The first ``n_members // 2`` members see 70 % of the objects (the rest goes to the
    nearest centre), the others 70 % of the features, both rounded up. k-means in two
    phases, batch then online. Standardise the features first.

    References
    ----------
    Ren, Domeniconi, Zhang & Yu (2017), Weighted-object ensemble clustering, Knowledge and
    Information Systems 51, section 4.3.
    """
    check_value("n_members", n_members, [N_MEMBERS], owner="woec")
    half = n_members // 2
    on_objects = KMeansEnsemble(max(half, 1), n_clusters, max_samples=0.7, online=True)
    on_features = KMeansEnsemble(n_members - half, n_clusters, max_features=0.7, online=True)
    halves = [on_objects, on_features] if half else [on_features]
    return Combined(halves, random_state=random_state)


def split_and_merge(n_members: int = 100, random_state: Any = None) -> KMeansEnsemble:
    """Ensemble (1) of the PEACE paper: k-means with k between half the root of n and the root.

    Shapes that need chaining need larger k: set ``n_clusters`` then.

    References
    ----------
    Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo & Pelillo (2013), Probabilistic
    evidence accumulation for clustering ensembles, ICPRAM, section 5.
    """
    return KMeansEnsemble(n_members, _SPLIT, random_state=random_state)


def cosine_split_and_merge(n_members: int = 100, random_state: Any = None) -> KMeansEnsemble:
    """Ensemble (1a) of the PEACE paper, for text: as `split_and_merge`, by cosine."""
    return KMeansEnsemble(n_members, _SPLIT, metric="cosine", random_state=random_state)


def minibatch_split_and_merge(n_members: int = 100, random_state: Any = None) -> KMeansEnsemble:
    """Ensemble (1b) of the PEACE paper: mini-batches of 100 objects, 100 steps.

    On sparse data this makes giant clusters; look at the ensemble's cluster sizes.
    """
    return KMeansEnsemble(
        n_members,
        _SPLIT,
        algorithm="minibatch",
        batch_size=100,
        max_iter=100,
        random_state=random_state,
    )


def many_algorithms(n_clusters: int | Sequence[int], random_state: Any = None) -> EstimatorEnsemble:
    """Ensemble (2) of the PEACE paper: six algorithms, each for each number of clusters.

    Single, average, Ward and centroid link, k-means and spectral clustering; every member
    sees a fresh 90 % of the objects, the rest is unseen to it.
    """
    links = [Linkage(method=name) for name in ("single", "average", "ward", "centroid")]
    k_means = KMeans(init="random", n_init=1, max_iter=100)
    return EstimatorEnsemble(
        [*links, k_means, NJW()],
        _in_turn(n_clusters),
        max_samples=0.9,
        assign="unseen",
        random_state=random_state,
    )


def _in_turn(n_clusters: Any) -> Any:
    """Several numbers as a list, since a tuple of two would be a range; others as they are."""
    row = isinstance(n_clusters, np.ndarray) and n_clusters.ndim == 1
    return list(n_clusters) if row or isinstance(n_clusters, tuple | range) else n_clusters


def kmeans_ensemble(
    n_clusters: int, n_members: int = 100, random_state: Any = None
) -> KMeansEnsemble:
    """The 100 k-means of the cluster-selection paper, on standardised features.

    Only the number of members is legible in the paper; k is the number wanted and all
    objects are seen.
    """
    return KMeansEnsemble(n_members, n_clusters, random_state=random_state)


def full_ensemble(n_clusters: int, random_state: Any = None) -> Combined:
    """The full ensemble of the cluster-selection paper: 70 k-means and 30 linkage runs.

    The paper's linkage settings are lost; here 10 runs each of single, average and
    complete link on 80 to 90 % of the objects, the rest unseen. Standardise the features
    first.
    """
    links = [Linkage(method=name) for name in ("single", "average", "complete")]
    linked = EstimatorEnsemble(
        links, n_clusters, n_members=30, max_samples=(0.8, 0.9), assign="unseen"
    )
    return Combined([KMeansEnsemble(70, n_clusters), linked], random_state=random_state)


def rcc(n_clusters: int) -> EstimatorEnsemble:
    """The four algorithms of the ambiguity paper on all objects and all features.

    PAM, complete, average and centroid link (on unsquared distances: its tables need it).
    Nothing in it is random.

    References
    ----------
    Ambiguity detection in cluster ensembles, scenario RCC.
    """
    links = [Linkage(method="complete"), Linkage(method="average")]
    return EstimatorEnsemble(
        [PAM(swap="best"), *links, Linkage(method="centroid", squared=False)], n_clusters
    )


def fdc(
    n_clusters: int,
    n_members: int = 20,
    *,
    estimator: Any = None,
    max_features: float = 0.5,
    random_state: Any = None,
) -> EstimatorEnsemble:
    """Feature-distributed clustering: one algorithm on random halves of the features."""
    return EstimatorEnsemble(
        KMeans(n_init=1) if estimator is None else estimator,
        n_clusters,
        n_members=n_members,
        max_features=max_features,
        random_state=random_state,
    )


def odc(
    n_clusters: int,
    n_members: int = 20,
    *,
    estimator: Any = None,
    max_samples: float = 0.9,
    random_state: Any = None,
) -> EstimatorEnsemble:
    """Object-distributed clustering: one algorithm on random parts of the objects, rest unseen."""
    return EstimatorEnsemble(
        KMeans(n_init=1) if estimator is None else estimator,
        n_clusters,
        n_members=n_members,
        max_samples=max_samples,
        assign="unseen",
        random_state=random_state,
    )
