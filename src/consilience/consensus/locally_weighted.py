"""Locally weighted consensus: clusters count as much as the other members agree with them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from consilience._labels import UNSEEN
from consilience._validation import MEMORY, POSITIVE, Boolean, NoneValue, Rule, memory_in_bytes
from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import cut_rows
from consilience.consensus._registry import consensus_method
from consilience.consensus._row_links import (
    Vectors,
    check_budget,
    labels_of_members,
    link_distances,
    seen_together,
    tree_result,
)
from consilience.consensus._rows import Rows, distinct_rows
from consilience.consensus._rules import LINKS, MISSING, Link
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError
from consilience.evidence import Missing
from consilience.kernels._parallel import by_rows
from consilience.kernels.labels.products import row_sums

__all__ = ["LWEA", "LWGP", "cluster_certainty", "lwea", "lwgp"]

Floats = NDArray[np.float64]

# As published: of entropies, and of entropies over the largest that a member of its size can have.
_THETA, _NORMALISED_THETA = 0.4, 0.09
# Clusters whose entropies are found at once.
_ROWS = 64
# Weights below this cannot be divided by: they count as none.
_LEAST = 1e-290
_RULES: dict[str, list[Rule]] = {"theta": [*POSITIVE, NoneValue()], "normalise": [Boolean()]}


@consensus_method(
    estimator="LWEA",
    paper="Huang, Wang & Lai 2018",
    memory="u^2 + n_c^2 (u distinct label rows)",
    rules={**_RULES, "linkage": LINKS, "missing": MISSING, "max_memory": MEMORY},
)
def lwea(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    theta: float | None = None,
    normalise: bool = False,
    linkage: Link = "average",
    missing: Missing = "pair",
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Cut the dendrogram of the co-association in which certain clusters count more.

    Parameters
    ----------
    theta : float or None, default=None
        How fast the weight of a cluster falls with its entropy, above 0; the larger, the
        closer to `eac`. None is the published 0.4, or 0.09 with ``normalise``.
    normalise : bool, default=False
        Divide the entropy of a cluster by the logarithm of the clusters of its member, so
        that members with few clusters and with many weigh alike, and the similarities by
        the largest of them.
    linkage : {"average", "complete", "single"}, default="average"
        How the distance of two groups follows from those of their objects.
    missing : {"pair", "all"}, default="pair"
        Divide by the members that saw both objects, or by all.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        Of the matrix of pairs; where it needs more, an error points to `lwgp`.
    random_state : int, RandomState or None
        Not used: nothing here is random.

    Returns
    -------
    ConsensusResult
        ``details`` holds ``certainty`` (the weight of every cluster, members one after the
        other) and ``linkage``, the dendrogram in SciPy's format over the objects that some
        member placed.

    Notes
    -----
    A cluster c has weight exp(-H(c) / (theta R)), where H(c) adds up over all members the
    entropy of how they divide the objects of c; an object in no cluster of a member adds
    nothing to that member's sum. Two objects are as similar as the summed weight of the
    clusters they share, divided by the members.

    With ``normalise``, H(c) is divided by log2 of the number of clusters of c's own member
    (of at least two), and the matrix of similarities by its largest entry, the diagonal
    included: that stretches the heights of the tree and changes no merge.

    Objects with equal labels are one weighted object, at distance 0 from each other. In the
    formula as printed they are similar by less than 1; but where every member saw every
    object nothing is more similar to either, so their joining first changes nothing except
    that n_clusters is never spent on splitting them.

    References
    ----------
    Huang, Wang & Lai (2018), Locally weighted ensemble clustering, IEEE Transactions on
    Cybernetics 48(5), sections III.B to III.D. The normalised entropy: Zhang, Jia, Song,
    Yang & Liu (2025), Similarity and dissimilarity guided co-association matrix construction
    for ensemble clustering, IEEE TKDE.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> result = lwea(ens, 2)
    >>> result.labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> result.details["certainty"].round(2).tolist()
    [0.47, 0.47, 1.0, 0.19, 1.0, 0.47, 0.47]
    """
    budget = memory_in_bytes(max_memory, owner="LWEA")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        u = rows.n_rows
        check_budget(u, 4 * u * (u - 1), budget, remedy="use LWGP, which needs no such matrix")
        certainty = cluster_certainty(rows, theta, normalise=normalise, n_jobs=n_jobs)
        distances = link_distances(
            rows, shared_clusters(rows, certainty), seen_together(rows, missing), n_jobs=n_jobs
        )
        if normalise:
            _stretch(distances, own_similarity(rows, certainty, missing))
        return tree_result(rows, distances, k, linkage, certainty=certainty)

    return solve(ensemble, n_clusters, run, owner="LWEA", X=X)


@consensus_method(
    estimator="LWGP",
    by_rows=True,
    paper="Huang, Wang & Lai 2018",
    memory="n (R + k) + n_c^2",
    rules=_RULES,
)
def lwgp(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    theta: float | None = None,
    normalise: bool = False,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by cutting the graph of objects and clusters in which certain clusters count more.

    Parameters
    ----------
    n_clusters : int
        Clusters wanted, at most n_c.
    theta, normalise
        See `lwea`.

    Returns
    -------
    ConsensusResult
        ``objective`` is the normalised cut; ``details`` holds ``certainty``, the weight of
        every cluster, members one after the other.

    Notes
    -----
    The normalised cut of the bipartite graph, solved through its small side (transfer cut);
    linear in objects. Equal label rows are one weighted row: exact. A member that puts all
    objects into one cluster is left out of the graph.

    References
    ----------
    Huang, Wang & Lai (2018), Locally weighted ensemble clustering, IEEE Transactions on
    Cybernetics 48(5), section III.E.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed, n_jobs=n_jobs)
        certainty = cluster_certainty(rows, theta, normalise=normalise, n_jobs=n_jobs)
        certainty[certainty < _LEAST] = 0.0
        _check_weights(rows, certainty, k, theta)
        result = cut_rows(
            rows, k, owner="LWGP", random_state=random_state, weights=certainty, n_jobs=n_jobs
        )
        result.details["certainty"] = certainty
        return result

    return solve(ensemble, n_clusters, run, owner="LWGP", X=X, n_jobs=n_jobs)


def _check_weights(rows: Rows, certainty: Floats, k: int, theta: float | None) -> None:
    """Raise where so few clusters of the graph have a weight that it has no k parts."""
    cut = np.repeat(rows.dividing_members(k), np.diff(rows.starts))
    left = int(np.count_nonzero(certainty[cut]))
    if left < min(k, len(certainty)):
        raise InvalidParameterError(
            f"The 'theta' parameter of LWGP must leave at least n_clusters={k} clusters of the "
            f"members a weight above 0. Got {theta}, which leaves {left}. Raise it."
        )


def cluster_certainty(
    rows: Rows, theta: float | None, *, normalise: bool = False, n_jobs: int | None = None
) -> Floats:
    """The ensemble-driven index of every cluster: 1 if no member divides it, towards 0.

    ``exp(-H / (theta R))`` with H the entropy, in bits, of how the R members divide the
    cluster's objects, summed over members (Huang, Wang & Lai 2018, section III.B); over the
    logarithm of the clusters of its own member if to be normalised.
    """
    if theta is None:
        theta = _NORMALISED_THETA if normalise else _THETA
    tables = rows.contingency(rows.counts.astype(float), n_jobs=n_jobs)
    sizes, entropy = rows.cluster_sizes(n_jobs=n_jobs), np.empty(len(tables))

    def measure(some: slice) -> None:
        shares = tables[some] / sizes[some, None]
        entropy[some] = -xlogy(shares, shares).sum(axis=1) / np.log(2.0)

    by_rows(measure, len(tables), n_jobs, size=_ROWS)
    if normalise:
        widths = np.diff(rows.starts)
        entropy /= np.repeat(np.log2(np.maximum(widths, 2)), widths)
    with np.errstate(over="ignore"):  # by a theta of next to nothing: to a certainty of 0
        certainty: Floats = np.exp(-np.maximum(entropy, 0.0) / (theta * len(rows.members)))
    return certainty


def own_similarity(rows: Rows, certainty: Floats, missing: Missing) -> Floats:
    """The diagonal of the similarities: of each row to itself."""
    sums = row_sums(rows.members, rows.starts, certainty[:, None])[:, 0]
    seen = (rows.members != UNSEEN).sum(axis=0) if missing == "pair" else len(rows.members)
    own: Floats = sums / seen
    return own


def _stretch(distances: Floats, own: Floats) -> None:
    """Distances, in place, of similarities over the largest of them and of ``own``."""
    largest = max(float(own.max()), 1.0 - float(distances.min()))
    if largest <= 0:
        return  # by a theta of next to nothing nothing is similar, and all are as far as can be
    np.subtract(1.0, distances, out=distances)
    distances /= largest
    np.subtract(1.0, distances, out=distances)


def shared_clusters(rows: Rows, certainty: Floats) -> Vectors:
    """Vectors of rows: the certainty of their own clusters, 0 elsewhere."""

    def vectors(start: int, stop: int) -> Floats:
        out = np.zeros((stop - start, len(certainty)))
        for placed, labels, column in labels_of_members(rows, start, stop):
            out[placed, column + labels] = certainty[column + labels]
        return out

    return vectors


class LWEA(FixedNumber, function=lwea):
    """Cluster by locally weighted evidence accumulation; see `lwea` for the method."""

    theta: float | None = None
    normalise: bool = False
    linkage: Link = "average"
    missing: Missing = "pair"
    max_memory: float | str = "4 GiB"


class LWGP(FixedNumber, function=lwgp):
    """Cluster by the locally weighted graph of objects and clusters; see `lwgp` for the method."""

    theta: float | None = None
    normalise: bool = False
