"""What one run of k-means makes of the same data, to be put beside a consensus."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.metrics import consistency_index

__all__ = ["kmeans_alone"]


def kmeans_alone(X: Any, n_clusters: int, truth: Any) -> tuple[NDArray[np.int32], float]:
    """Labels by k-means (the best of ten starts), and the share of objects that agree."""
    from sklearn.cluster import KMeans

    labels = KMeans(n_clusters, n_init=10, random_state=0).fit_predict(X)
    return labels, float(consistency_index(truth, labels))
