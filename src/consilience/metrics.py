"""Labels against labels: how far two clusterings of the same objects agree.

Every function takes labels in any form an `Ensemble` member may have (integers, text, any
hashable values), compares objects by position, and counts only objects that both labelings
have seen: ``UNSEEN`` (-2, None, NaN) leaves an object out. ``NOISE`` (-1) follows one rule,
the ``noise`` parameter:

- ``"cluster"`` (default): the noise of a labeling is one more cluster. This is what
  scikit-learn's metrics do when they are handed -1, so figures can be compared.
- ``"singletons"``: every noise object is a cluster of its own, because noise objects have
  nothing in common. Stricter: a method cannot gain by calling a true class noise.
- ``"drop"``: objects that either labeling calls noise are left out. Says how good the
  clustered part is, and rewards a method that clusters only easy objects.

The indices scikit-learn already has (adjusted Rand and others) are not repeated here.

>>> nmi(["a", "a", "b", "b"], [1, 1, 0, 0])
1.0
>>> consistency_index([0, 0, 1, 1], [0, 0, 0, 1])
0.75
"""

from collections.abc import Iterator
from itertools import count
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._contingency import (
    DENSE_CELLS,
    NOISE_RULES,
    Noise,
    Table,
    cell_f1,
    compared,
    encoded,
    matched_cells,
    shared,
    tabulate,
)
from consilience._labels import NOISE, UNSEEN, Codes, encode
from consilience._validation import Boolean, NoneValue, Options, check_value
from consilience.ensemble import Ensemble, takes_ensemble
from consilience.errors import InvalidInputError

__all__ = [
    "anmi",
    "clustering_f1",
    "consistency_index",
    "contingency",
    "match_labels",
    "nmi",
    "relabelled_accuracy",
]

Norm = Literal["geometric", "arithmetic"]
Average = Literal["pair", "class", "matched"]

_NORMS = Options(("geometric", "arithmetic"))
_AVERAGES = Options(("pair", "class", "matched"))


def nmi(a: Any, b: Any, *, norm: Norm = "geometric", noise: Noise = "cluster") -> float:
    """Normalised mutual information of two labelings, in [0, 1]; 1 for equal partitions.

    Parameters
    ----------
    a, b : labels of n_objects
        In any form; order of the two does not matter.
    norm : {"geometric", "arithmetic"}
        Divide the mutual information by the geometric mean of the two entropies (Strehl &
        Ghosh) or by their arithmetic mean (Fred & Jain).
    noise : {"cluster", "singletons", "drop"}
        How noise counts, see the top of this module.

    Returns
    -------
    float
        1 if both have a single cluster, 0 if exactly one has.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3. Fred & Jain (2005),
    Combining multiple clusterings using evidence accumulation, IEEE TPAMI 27(6).

    Examples
    --------
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2]), 4)
    0.8165
    >>> round(nmi([0, 0, 1, 1], [0, 0, 1, 2], norm="arithmetic"), 4)
    0.8
    """
    check_value("norm", norm, [_NORMS], owner="nmi")
    return _nmi(compared(a, b, noise, owner="nmi"), norm)


@takes_ensemble
def anmi(
    labels: Any, ensemble: Ensemble, *, norm: Norm = "geometric", noise: Noise = "cluster"
) -> float:
    """Mean normalised mutual information of a labeling with every member of an ensemble.

    Each member is compared over the objects that it and ``labels`` have both seen.

    Parameters
    ----------
    labels : labels of n_objects
        A consensus, say; in any form.
    ensemble : Ensemble
        Members on the same objects.
    norm, noise
        As in `nmi`.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3.

    Examples
    --------
    >>> anmi([0, 0, 1, 1], Ensemble([[0, 0, 1, 1], [0, 0, 0, 0]]))
    0.5
    """
    check_value("norm", norm, [_NORMS], owner="anmi")
    check_value("noise", noise, [NOISE_RULES], owner="anmi")
    codes = encode(labels, what="labels")
    if len(codes) != ensemble.n_objects:
        raise InvalidInputError(
            f"labels must have one label for each of the {ensemble.n_objects} objects of the "
            f"ensemble. Got {len(codes)} instead."
        )
    scores = []
    for m, member in enumerate(ensemble):
        names = ("labels", f"member {m} of the ensemble")
        scores.append(_nmi(tabulate(*shared(codes, member.astype(np.int64), noise, names)), norm))
    return float(np.mean(scores))


def consistency_index(a: Any, b: Any, *, noise: Noise = "cluster") -> float:
    """Largest share of objects on which two labelings agree once clusters are matched.

    Clusters are matched one to one; surplus clusters of the labeling with more of them stay
    unmatched, and their objects count as disagreement. Also known as the H index, and as
    accuracy by relabelling (`relabelled_accuracy`).

    Parameters
    ----------
    a, b : labels of n_objects
        In any form; order of the two does not matter.
    noise : {"cluster", "singletons", "drop"}
        How noise counts, see the top of this module.

    Returns
    -------
    float
        In (0, 1]; 1 for equal partitions.

    Notes
    -----
    O(n) for the table; the matching takes at most O(k ** 3) for k clusters.

    References
    ----------
    Fred (2001), Finding consistent clusters in data partitions, MCS.

    Examples
    --------
    >>> consistency_index([0, 0, 1, 1, 1], ["x", "x", "y", "y", "z"])
    0.8
    """
    return _matched_share(compared(a, b, noise, owner="consistency_index"))


def relabelled_accuracy(truth: Any, labels: Any, *, noise: Noise = "cluster") -> float:
    """Accuracy of a clustering after its clusters were renamed to fit the true classes best.

    The same figure as `consistency_index`, under the name used where a truth is known.
    `match_labels` gives the renamed labels.

    Examples
    --------
    >>> relabelled_accuracy(["cat", "cat", "dog", "dog"], [1, 1, 0, 1])
    0.75
    """
    names = ("truth", "labels")
    return _matched_share(compared(truth, labels, noise, owner="relabelled_accuracy", names=names))


def clustering_f1(
    truth: Any, labels: Any, *, average: Average = "pair", noise: Noise = "cluster"
) -> float:
    """F1 of a clustering against true classes, in [0, 1]; say which one when you report it.

    Papers mean three different figures by this name:

    - ``"pair"`` (default): F1 of the pairs put together, precision and recall over pairs of
      objects. Symmetric in its two arguments.
    - ``"class"``: every class takes the cluster that fits it best, several may take the same
      one; the mean of their F1 weighted by class size.
    - ``"matched"``: classes and clusters are matched one to one as in `consistency_index`;
      the plain mean over classes, a class without a cluster counting 0. Where several
      matchings agree on as many objects, the one with the largest F1 is taken.

    Parameters
    ----------
    truth, labels : labels of n_objects
        In any form.
    average : {"pair", "class", "matched"}
        Which of the three.
    noise : {"cluster", "singletons", "drop"}
        How noise counts, see the top of this module.

    Returns
    -------
    float
        1 for equal partitions. With ``average="pair"`` also if neither has any pair.

    Examples
    --------
    >>> truth, labels = [0, 0, 0, 1, 1], [0, 0, 1, 1, 1]
    >>> [round(clustering_f1(truth, labels, average=a), 3) for a in ("pair", "class", "matched")]
    [0.5, 0.8, 0.8]
    """
    check_value("average", average, [_AVERAGES], owner="clustering_f1")
    table = compared(truth, labels, noise, owner="clustering_f1", names=("truth", "labels"))
    if average == "pair":
        return _pair_f1(table)
    scores = cell_f1(table)
    if average == "class":
        best = np.zeros(len(table.row_sums))
        np.maximum.at(best, table.rows, scores)
        return float(best @ table.row_sums / table.row_sums.sum())
    return float(scores[matched_cells(table)].sum() / len(table.row_sums))


def match_labels(
    truth: Any, labels: Any, *, noise: Literal["cluster", "drop"] = "cluster"
) -> NDArray[Any]:
    """Labels with their clusters renamed after the classes of ``truth`` they match best.

    The matching is that of `consistency_index`: among the objects that count, the share
    where the result equals ``truth`` is `relabelled_accuracy`.

    Parameters
    ----------
    truth, labels : labels of n_objects
        In any form.
    noise : {"cluster", "drop"}
        Whether noise is matched like a cluster, or stays noise.

    Returns
    -------
    ndarray of shape (n_objects,)
        int64 if the classes are whole numbers: clusters without a class get the numbers
        after the largest class, noise without a class stays -1 if no class has that number,
        unseen stays -2. Otherwise an object array of the classes as they were given, with
        "unmatched 0", "unmatched 1", ..., "noise", and None for unseen.

    Examples
    --------
    >>> match_labels([1, 1, 2, 2], [7, 7, 5, 6])
    array([1, 1, 2, 3])
    >>> match_labels(["cat", "cat", "dog"], [1, 1, 0])
    array(['cat', 'cat', 'dog'], dtype=object)
    """
    check_value("noise", noise, [Options(("cluster", "drop"))], owner="match_labels")
    names = ("truth", "labels")
    if isinstance(truth, Iterator):
        truth = list(truth)  # it is read twice
    classes, clusters = encoded(truth, labels, names)
    table = tabulate(*shared(classes, clusters, noise, names))
    class_names = _first_values(truth, classes)
    # In the table, noise is the code after the last one.
    n_classes, n_clusters = len(class_names) - (NOISE in class_names), int(clusters.max()) + 1
    matched = {}
    for cell in matched_cells(table):
        row, column = table.row_codes[table.rows[cell]], table.column_codes[table.columns[cell]]
        matched[int(column) if column < n_clusters else NOISE] = class_names[
            int(row) if row < n_classes else NOISE
        ]
    return _renamed(clusters, matched, list(class_names.values()), keep_noise=noise == "drop")


def contingency(
    a: Any, b: Any, *, noise: Noise = "cluster", dense: bool | None = None
) -> NDArray[np.int64] | sparse.csr_array:
    """Table of how many objects lie in each cluster of ``a`` (row) and of ``b`` (column).

    Parameters
    ----------
    a, b : labels of n_objects
        In any form.
    noise : {"cluster", "singletons", "drop"}
        How noise counts, see the top of this module. Noise comes after the clusters.
    dense : bool, optional
        Whether to return an array or a sparse one. By default sparse only if the table has
        more than four million cells, so that the result never takes more than 32 MiB or O(n).

    Returns
    -------
    ndarray or scipy.sparse.csr_array of int64
        Clusters in the order of `relabel` (integers sorted, other values as they first
        appear), less those without any object that both labelings have seen.

    Examples
    --------
    >>> contingency([0, 0, 1, 1, -1], ["x", "x", "x", "y", "y"])
    array([[2, 0],
           [1, 1],
           [0, 1]])
    """
    check_value("dense", dense, [Boolean(), NoneValue()], owner="contingency")
    table = compared(a, b, noise, owner="contingency")
    shape = (len(table.row_sums), len(table.column_sums))
    if dense is None:
        dense = shape[0] * shape[1] <= DENSE_CELLS
    if dense:
        out = np.zeros(shape, np.int64)
        out[table.rows, table.columns] = table.counts
        return out
    return sparse.csr_array((table.counts, (table.rows, table.columns)), shape=shape)


# ---- from a table to a figure -------------------------------------------------------------


def _nmi(table: Table, norm: Norm) -> float:
    k_a, k_b = len(table.row_sums), len(table.column_sums)
    if len(table.counts) == k_a == k_b:
        return 1.0  # equal partitions, exactly, whatever rounding would make of them
    if k_a == 1 or k_b == 1:
        return 0.0
    n = table.row_sums.sum()
    expected = table.row_sums[table.rows] / n * table.column_sums[table.columns]
    information = float(table.counts @ np.log(table.counts / expected))
    entropy_a, entropy_b = (
        float(sums @ np.log(n / sums)) for sums in (table.row_sums, table.column_sums)
    )
    mean = np.sqrt(entropy_a * entropy_b) if norm == "geometric" else (entropy_a + entropy_b) / 2
    # Rounding brings it below 0, but not above 1: unequal partitions stay far enough below.
    return max(0.0, float(information / mean))


def _pair_f1(table: Table) -> float:
    both, in_a, in_b = (
        int(sums @ (sums - 1)) for sums in (table.counts, table.row_sums, table.column_sums)
    )
    return 2 * both / (in_a + in_b) if in_a + in_b else 1.0


def _matched_share(table: Table) -> float:
    return float(table.counts[matched_cells(table)].sum() / table.row_sums.sum())


# ---- names of matched clusters ------------------------------------------------------------


def _first_values(labels: Any, codes: Codes) -> dict[int, Any]:
    """The value that each code, except unseen, stands for."""
    values = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    present, first = np.unique(codes, return_index=True)
    pairs = zip(present.tolist(), first.tolist(), strict=True)
    return {code: values[i] for code, i in pairs if code != UNSEEN}


def _renamed(
    codes: Codes, matched: dict[int, Any], taken: list[Any], *, keep_noise: bool
) -> NDArray[Any]:
    """Codes replaced by matched names; the others by names that are not taken."""
    whole = all(isinstance(name, Real | np.bool_) and name < 2**62 for name in taken)
    names = np.empty(int(codes.max()) + 3, np.int64 if whole else object)
    n_clusters = len(names) - 2
    first = max(0, 1 + int(max(taken, default=-1))) if whole else 0
    fresh = (i if whole else f"unmatched {i}" for i in count(first))
    fresh = (name for name in fresh if whole or name not in taken)
    for code in range(n_clusters):
        names[code] = matched[code] if code in matched else next(fresh)
    # From the end, as -2 and -1 count.
    names[UNSEEN] = UNSEEN if whole else None
    noise = NOISE if whole else "noise"
    spare = noise if keep_noise or noise not in taken else next(fresh)
    names[NOISE] = matched.get(NOISE, spare)
    return names[codes]
