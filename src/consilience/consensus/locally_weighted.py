"""Locally weighted consensus: clusters count as much as the other members agree with them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlogy

from consilience._validation import MEMORY, POSITIVE, memory_in_bytes
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
from consilience.evidence import Missing
from consilience.kernels.labels.contingency import cluster_contingency

__all__ = ["LWEA", "LWGP", "cluster_certainty", "lwea", "lwgp"]

Floats = NDArray[np.float64]


@consensus_method(
    estimator="LWEA",
    paper="Huang, Wang & Lai 2018",
    memory="u^2 + n_c^2 (u distinct label rows)",
    rules={"theta": POSITIVE, "linkage": LINKS, "missing": MISSING, "max_memory": MEMORY},
)
def lwea(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    theta: float = 0.4,
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
    theta : float, default=0.4
        How fast the weight of a cluster falls with its entropy, above 0; the larger, the
        closer to `eac`.
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

    Objects with equal labels are one weighted object, at distance 0 from each other. In the
    formula as printed they are similar by less than 1; but where every member saw every
    object nothing is more similar to either, so their joining first changes nothing except
    that n_clusters is never spent on splitting them.

    References
    ----------
    Huang, Wang & Lai (2018), Locally weighted ensemble clustering, IEEE Transactions on
    Cybernetics 48(5), sections III.B to III.D.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> found = lwea(ens, 2)
    >>> found.labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> found.details["certainty"].round(2).tolist()
    [0.47, 0.47, 1.0, 0.19, 1.0, 0.47, 0.47]
    """
    budget = memory_in_bytes(max_memory, owner="LWEA")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        u = rows.n_rows
        check_budget(u, 4 * u * (u - 1), budget, remedy="use LWGP, which needs no such matrix")
        certainty = cluster_certainty(rows, theta, n_jobs=n_jobs)
        distances = link_distances(
            rows, _shared(rows, certainty), seen_together(rows, missing), n_jobs=n_jobs
        )
        return tree_result(rows, distances, k, linkage, certainty=certainty)

    return solve(ensemble, n_clusters, run, owner="LWEA", X=X)


@consensus_method(
    estimator="LWGP",
    paper="Huang, Wang & Lai 2018",
    memory="n (R + k) + n_c^2",
    rules={"theta": POSITIVE},
)
def lwgp(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    theta: float = 0.4,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by cutting the graph of objects and clusters in which certain clusters count more.

    Parameters
    ----------
    n_clusters : int
        Clusters wanted, at most n_c.
    theta : float, default=0.4
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
        certainty = cluster_certainty(rows, theta, n_jobs=n_jobs)
        found = cut_rows(
            rows, k, owner="LWGP", random_state=random_state, weights=certainty, n_jobs=n_jobs
        )
        found.details["certainty"] = certainty
        return found

    return solve(ensemble, n_clusters, run, owner="LWGP", X=X, n_jobs=n_jobs)


def cluster_certainty(rows: Rows, theta: float, *, n_jobs: int | None = None) -> Floats:
    """The ensemble-driven index of every cluster: 1 if no member divides it, towards 0.

    ``exp(-H / (theta R))`` with H the entropy, in bits, of how the R members divide the
    cluster's objects, summed over members (Huang, Wang & Lai 2018, section III.B).
    """
    tables = cluster_contingency(rows.members, rows.counts.astype(float), n_jobs=n_jobs or 1)
    shares = tables / tables.diagonal()[:, None]
    entropy = -xlogy(shares, shares).sum(axis=1) / np.log(2.0)
    certainty: Floats = np.exp(-np.maximum(entropy, 0.0) / (theta * len(rows.members)))
    return certainty


def _shared(rows: Rows, certainty: Floats) -> Vectors:
    """Vectors of rows: the certainty of their own clusters, 0 elsewhere."""

    def vectors(start: int, stop: int) -> Floats:
        out = np.zeros((stop - start, len(certainty)))
        for placed, labels, column in labels_of_members(rows, start, stop):
            out[placed, column + labels] = certainty[column + labels]
        return out

    return vectors


class LWEA(FixedNumber, function=lwea):
    """Cluster by locally weighted evidence accumulation; see `lwea` for the method."""

    theta: float = 0.4
    linkage: Link = "average"
    missing: Missing = "pair"
    max_memory: float | str = "4 GiB"


class LWGP(FixedNumber, function=lwgp):
    """Cluster by the locally weighted graph of objects and clusters; see `lwgp` for the method."""

    theta: float = 0.4
