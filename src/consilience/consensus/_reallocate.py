"""Labels for objects left out, from a support vector machine trained on the others."""

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import mean_variance_axis

from consilience.errors import ConsilienceWarning

__all__ = ["Kernel", "reallocate"]

Kernel = Literal["linear", "rbf"]

# Objects whose features are scaled and predicted at once.
_CHUNK = 20_000


def reallocate(
    X: Any,
    labels: NDArray[np.int32],
    flagged: NDArray[np.bool_],
    *,
    kernel: Kernel,
    max_train: int,
    random_state: Any,
) -> NDArray[np.int32]:
    """Labels in which flagged objects have the cluster that a support vector machine gives them.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features)
    labels : ndarray of shape (n_objects,)
        Clusters of the objects that are not flagged; negative ones train nothing.
    flagged : ndarray of shape (n_objects,), bool
        Objects to label.
    kernel : {"linear", "rbf"}
        With C = 1, one machine for each pair of clusters; the width of the second is one over
        the number of features.
    max_train : int
        Train on a random sample of so many objects if there are more, and say so.
    random_state : int, RandomState or None
        For that sample.

    Notes
    -----
    Features are scaled to unit deviation (divisor n - 1) over the training objects; constant
    ones are left out. Neither machine depends on where the origin lies, so features are
    centred only where that costs nothing (not if sparse).
    """
    found = labels.copy()
    train = np.flatnonzero(~flagged & (labels >= 0))
    classes = np.unique(labels[train])
    if len(classes) < 2:
        left = f"cluster {classes[0]} only" if len(classes) else "no cluster"
        found[flagged] = classes[0] if len(classes) else -1
        _warn(
            f"The objects that are not ambiguous are in {left}: there is nothing to train a "
            f"support vector machine on, and the {int(flagged.sum())} ambiguous ones are labelled "
            f"{found[flagged][0]} as well."
        )
        return found
    if len(train) > max_train:
        _warn(
            f"The support vector machine is trained on {max_train} of {len(train)} objects, drawn "
            "at random. A larger 'max_train' would use more."
        )
        train = _sample(labels, train, max_train, random_state)
    scaled = _scaler(X[train])
    rows = scaled(X[train])
    if not rows.shape[1]:
        _warn("All features are constant: the ambiguous objects join the largest cluster.")
        found[flagged] = np.bincount(labels[train]).argmax()
        return found
    machine = SVC(C=1.0, kernel=kernel, gamma=1.0 / rows.shape[1]).fit(rows, labels[train])
    objects = np.flatnonzero(flagged)
    for start in range(0, len(objects), _CHUNK):
        some = objects[start : start + _CHUNK]
        found[some] = machine.predict(scaled(X[some]))
    return found


def _sample(
    labels: NDArray[np.int32], train: NDArray[np.int64], size: int, random_state: Any
) -> NDArray[np.int64]:
    """Random training objects, at least one of every cluster, in their order."""
    shuffled = check_random_state(random_state).permutation(train)
    _, first = np.unique(labels[shuffled], return_index=True)
    rest = np.delete(shuffled, first)[: max(size - len(first), 0)]
    return np.sort(np.concatenate([shuffled[first], rest]))


def _scaler(rows: Any) -> Any:
    """A function that scales features as these rows need it."""
    if sparse.issparse(rows):
        # Constant columns by their values: a variance leaves rounding errors of its own.
        low, high = rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
        varied = np.flatnonzero(high > low)
        _, variance = mean_variance_axis(rows, axis=0)
        n = rows.shape[0]
        weights = sparse.diags_array(1.0 / np.sqrt(variance[varied] * n / (n - 1)))
        return lambda more: sparse.csr_array(more)[:, varied] @ weights
    varied = np.flatnonzero(np.ptp(rows, axis=0) > 0)
    mean, deviation = rows[:, varied].mean(axis=0), rows[:, varied].std(axis=0, ddof=1)
    return lambda more: (more[:, varied] - mean) / deviation


def _warn(message: str) -> None:
    warnings.warn(message, ConsilienceWarning, stacklevel=5)
