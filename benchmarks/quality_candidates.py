"""Who answers: rivals and our own methods, each a small adapter in one table.

Every candidate gets the same numbers: columns of mean 0 and variance 1, constant ones left out,
which is what `consilience.cluster` does by default. All run on one thread. A rival that has to
try numbers of groups tries 1 or 2 to 30, fewer on few objects (a quarter of them).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.decomposition import PCA
from sklearn.metrics import euclidean_distances, silhouette_score
from sklearn.mixture import GaussianMixture

import consilience as cs
from consilience import generate
from consilience.consensus import CONSENSUS

MOST_GROUPS = 30
# A mixture is not tried with more groups once this many numbers in a row were no better.
PATIENCE = 6
# Full covariances of more columns are fitted on this many principal components.
MOST_COLUMNS = 60


@dataclass(frozen=True)
class Answer:
    """Labels (-1 is noise), and what was said about them, where anything was."""

    labels: Any
    clarity: str | None = None
    p: float | None = None


@dataclass(frozen=True)
class Candidate:
    """How a candidate is run and what it is.

    ``knows_number`` says which of the two questions it answers; ``seeded`` whether the seed
    changes anything (it is run once where not); ``ours`` whether it is this package's.
    """

    run: Callable[..., Answer]
    what: str
    knows_number: bool = False
    seeded: bool = True
    ours: bool = False


def standardised(X):
    """Columns of mean 0 and variance 1, less the constant ones."""
    X = X[:, X.max(axis=0) > X.min(axis=0)]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def numbers(n, least):
    """Numbers of groups that a rival tries."""
    return range(least, max(2, min(MOST_GROUPS, n // 4)) + 1)


# ---- rivals that are not told the number ---------------------------------------------------


def gmm_bic(X, k, seed, shapes=("full",)):
    """The mixture with the least BIC, of all numbers of groups and shapes of covariance."""
    X = _narrow(X)
    tried = [one for shape in shapes for one in _mixtures(X, seed, shape)]
    return Answer(min(tried, key=lambda one: one[0])[1].predict(X))


def _mixtures(X, seed, shape):
    """BIC and mixture of one number of groups after another, while there is hope."""
    least, last = np.inf, 0
    for number in numbers(len(X), 1):
        model = _mixture(number, seed, n_init=3, covariance_type=shape).fit(X)
        value = model.bic(X)
        yield value, model
        if value < least:
            least, last = value, number
        if number - last >= PATIENCE:
            return


def kmeans_silhouette(X, k, seed):
    """The k-means of the number with the largest mean silhouette."""
    return _by_silhouette(X, lambda number: kmeans(X, number, seed).labels)


def ward_silhouette(X, k, seed):
    """Ward's tree, cut where the mean silhouette is largest."""
    tree = linkage(X, "ward")
    return _by_silhouette(X, lambda number: fcluster(tree, number, "maxclust") - 1)


def _by_silhouette(X, cluster):
    tried = map(cluster, numbers(len(X), 2))
    usable = [labels for labels in tried if 1 < len(np.unique(labels)) < len(X)]
    if not usable:
        return Answer(np.zeros(len(X), int))
    apart = euclidean_distances(X)
    return Answer(max(usable, key=lambda one: silhouette_score(apart, one, metric="precomputed")))


def hdbscan(X, k, seed):
    """scikit-learn's, with its own defaults."""
    return Answer(np.maximum(HDBSCAN(min_cluster_size=5, copy=True).fit_predict(X), -1))


# ---- rivals that are told the number -------------------------------------------------------


def gmm(X, k, seed):
    """A mixture of k Gaussians."""
    X = _narrow(X)
    return Answer(_mixture(k, seed, n_init=5).fit_predict(X))


def kmeans(X, k, seed):
    """The best of ten k-means."""
    return Answer(KMeans(k, n_init=10, random_state=seed).fit_predict(X))


def ward(X, k, seed):
    """Ward's tree, cut."""
    return Answer(AgglomerativeClustering(k).fit_predict(X))


def spectral_knn(X, k, seed):
    """Spectral clustering of the graph of ten nearest neighbours."""
    near = min(10, len(X) - 1)
    model = SpectralClustering(k, affinity="nearest_neighbors", n_neighbors=near, random_state=seed)
    return Answer(model.fit_predict(X))


def _mixture(k, seed, n_init, **options):
    return GaussianMixture(k, reg_covar=1e-3, n_init=n_init, random_state=seed, **options)


def _narrow(X):
    """Principal components where there are many columns, never more than half the objects."""
    most = min(MOST_COLUMNS, len(X) // 2)
    return X if X.shape[1] <= most else PCA(most, svd_solver="full").fit_transform(X)


# ---- ours ----------------------------------------------------------------------------------


def consilience(X, k, seed, **options):
    """`consilience.cluster`, with the number or without."""
    result = cs.cluster(X, k, random_state=seed, **options)
    return Answer(result.labels, *said(result))


def said(result):
    """How clear a result says it is, and its p-value, as far as it says so."""
    choice = getattr(result, "choice", None)
    clarity = getattr(result, "clarity", None)
    if clarity is None and choice is not None:
        clarity = "clear" if choice.clear else "none"
    p = getattr(result, "p_value", None)
    return None if clarity is None else str(clarity), None if p is None else float(p)


def auto(X, k, seed, **options):
    """`AutoConsensus`, with the number or without, on numbers as they are."""
    model = cs.AutoConsensus(k, random_state=seed, **options).fit(X)
    return Answer(model.labels_, model.clarity_.verdict, model.clarity_.p_value)


def consensus_of(method, generator, X, k, seed):
    """One consensus method on the members of one generator."""
    made = None if generator is None else GENERATORS[generator](k)
    return consilience(X, k, seed, method=method, generator=made)


GENERATORS = {
    "kmeans": lambda k: generate.kmeans_ensemble(k),
    "woec": lambda k: generate.woec(100, k),
    "split": lambda k: generate.split_and_merge(100),
    "mixed": lambda k: generate.many_algorithms(k),
    "uspec": lambda k: generate.USPECEnsemble(),
}
CANDIDATES = {
    "gmm_bic": Candidate(
        gmm_bic, "Gaussian mixture, full covariances, 1 to 30 groups by BIC, three starts each"
    ),
    "gmm_bic_shapes": Candidate(
        partial(gmm_bic, shapes=("full", "tied", "diag", "spherical")),
        "Gaussian mixture, 1 to 30 groups and one of four shapes of covariance by BIC",
    ),
    "kmeans_silhouette": Candidate(
        kmeans_silhouette, "k-means, ten starts, 2 to 30 groups by silhouette"
    ),
    "hdbscan": Candidate(hdbscan, "HDBSCAN of scikit-learn, min_cluster_size 5", seeded=False),
    "ward_silhouette": Candidate(
        ward_silhouette, "Ward's tree, 2 to 30 groups by silhouette", seeded=False
    ),
    "consilience": Candidate(
        consilience, "consilience.cluster(X) as installed, number unknown", ours=True
    ),
    "auto": Candidate(auto, "AutoConsensus(), number unknown", ours=True),
    "auto_k": Candidate(auto, "AutoConsensus(k)", True, ours=True),
    "auto_thorough": Candidate(
        partial(auto, effort="thorough"), 'AutoConsensus(effort="thorough")', ours=True
    ),
    "auto_k_thorough": Candidate(
        partial(auto, effort="thorough"), 'AutoConsensus(k, effort="thorough")', True, ours=True
    ),
    "gmm": Candidate(gmm, "Gaussian mixture, full covariances, five starts", True),
    "kmeans": Candidate(kmeans, "k-means, ten starts", True),
    "ward": Candidate(ward, "Ward's tree", True, seeded=False),
    "spectral_knn": Candidate(spectral_knn, "spectral, graph of ten neighbours", True),
    "consilience_k": Candidate(consilience, "consilience.cluster(X, k)", True, ours=True),
}


def candidate(name):
    """A candidate of the table, or METHOD or METHOD@GENERATOR: a consensus method, number known."""
    if name in CANDIDATES:
        return CANDIDATES[name]
    method, _, generator = name.partition("@")
    if method in CONSENSUS and (not generator or generator in GENERATORS):
        run = partial(consensus_of, method, generator or None)
        members = f"members by {generator}" if generator else "default members"
        return Candidate(run, f"{method}, {members}, number known", True, ours=True)
    raise SystemExit(
        f"There is no candidate {name!r}. There are {', '.join(CANDIDATES)}; every method of "
        f"consilience.consensus.CONSENSUS; and METHOD@GENERATOR with {', '.join(GENERATORS)}."
    )
