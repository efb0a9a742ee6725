"""The four consensus clusterers of the ambiguity paper, on one minus the co-association."""

from typing import Any, Self

import numpy as np
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator, ClusterMixin

from consilience.evidence import co_association
from consilience.kernels.data.pam import pam
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.trees import cut_merges

__all__ = ["Reclustered"]


class Reclustered(ClusterMixin, BaseEstimator):
    """Complete, average or centroid link (unsquared), or PAM, of the co-association's distances.

    Objects with equal labels are one weighted object; ties go to the first in file order. Both
    are part of the published figures: with four members most distances tie.
    """

    def __init__(self, n_clusters: int, *, method: str) -> None:
        self.n_clusters = n_clusters
        self.method = method

    def fit(self, X: Any = None, y: Any = None, *, ensemble: Any = None) -> Self:
        """Cluster the objects of an ensemble again; ``X`` is not used."""
        rows, inverse, counts = ensemble.signatures()
        distances = 1.0 - co_association(rows)
        k = min(self.n_clusters, len(counts))
        if self.method == "pam":
            labels = pam(distances, k, weights=counts, swap="best").labels
        else:
            condensed = squareform(distances, checks=False)
            tree = agglomerate(condensed, self.method, weights=counts, squared=False)
            labels = cut_merges(tree, k)
        self.labels_ = np.asarray(labels[inverse], np.int32)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self
