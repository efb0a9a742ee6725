"""Link-based consensus: objects in different clusters may still be alike, if the clusters are."""

from numbers import Real
from typing import Any

from consilience._validation import Interval, Rule
from consilience.consensus._base import FixedNumber
from consilience.consensus._cluster_links import (
    SOLVERS,
    LinkSolver,
    approximate_simrank,
    connected_triples,
    label_pairs,
    labels_that_count,
    noise_as_clusters,
    own_member_vectors,
    simrank,
    solve_links,
    vectors,
)
from consilience.consensus._row_links import Divisor, Vectors, seen_together
from consilience.consensus._rows import Rows
from consilience.consensus._rules import COUNT, LINKS, MEMORY, MISSING, Link
from consilience.consensus._solve import ConsensusResult
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble
from consilience.evidence import Missing

__all__ = ["ASRS", "CTS", "SRS", "asrs", "cts", "srs"]

_RULES: dict[str, list[Rule]] = {
    "decay": [Interval(Real, 0, 1, open_low=True)],
    "solver": SOLVERS,
    "linkage": LINKS,
    "missing": MISSING,
    "max_memory": MEMORY,
}
_MEMORY_SHAPE = "u^2 + n_c^2, or u n_c for solver='spectral' (u distinct label rows)"


@consensus_method(
    estimator="CTS",
    paper="Iam-On, Boongoen & Garrett 2008",
    memory=_MEMORY_SHAPE,
    rules=_RULES,
)
def cts(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    decay: float = 0.8,
    solver: LinkSolver = "linkage",
    linkage: Link = "average",
    missing: Missing = "pair",
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by the connected-triple similarity: clusters that overlap with the same others.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members with n_c clusters in all, u of the objects with
        different labels.
    decay : float, default=0.8
        What a link through other clusters counts, above 0 and at most 1.
    solver : {"linkage", "spectral"}, default="linkage"
        A dendrogram of the similarities of all pairs; or the normalised cut of the graph of
        objects and clusters whose edges are the refined memberships, which needs no such
        matrix.
    linkage : {"average", "complete", "single"}, default="average"
        How the distance of two groups follows from those of their objects.
    missing : {"pair", "all"}, default="pair"
        Divide by the members that saw the objects, or by all.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        Of the similarities; where they need more, an error.
    random_state : int, RandomState or None
        Starts of k-means for ``solver="spectral"``; nothing else is random.

    Returns
    -------
    ConsensusResult
        ``solver`` as asked for. For "linkage", ``details`` holds ``linkage``, the dendrogram
        in SciPy's format over the objects that some member placed; for "spectral",
        ``objective`` is the normalised cut.

    Notes
    -----
    Two objects in one cluster of a member score 1 there; in two clusters of it, ``decay``
    times the sum over all clusters of the smaller of the two Jaccard indices, relative to
    the largest such sum. Their similarity is the mean over members. An object that a member
    calls noise is apart from all others there, as objects of different clusters are: it
    scores what those do on average (our reading; the paper has no noise). Objects with equal
    labels are one weighted object at distance 0, which changes nothing unless they are
    noise or unseen somewhere.

    References
    ----------
    Iam-On, Boongoen & Garrett (2008), Refining pairwise similarity matrix for cluster
    ensemble problem with cluster relations, Discovery Science, section 3.1.
    """

    def build(rows: Rows) -> tuple[Rows, Vectors, Divisor]:
        linked, tables = noise_as_clusters(rows, connected_triples(rows, decay, n_jobs))
        return linked, own_member_vectors(linked, tables), seen_together(linked, missing)

    settings = (solver, linkage, max_memory)
    return solve_links(ensemble, n_clusters, build, "CTS", settings, X, random_state, n_jobs)


@consensus_method(
    estimator="SRS",
    paper="Iam-On, Boongoen & Garrett 2008",
    memory=_MEMORY_SHAPE,
    rules={**_RULES, "n_iter": COUNT},
)
def srs(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    decay: float = 0.8,
    n_iter: int = 4,
    solver: LinkSolver = "linkage",
    linkage: Link = "average",
    missing: Missing = "pair",
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by SimRank: objects are alike if their clusters are, and clusters if objects are.

    Parameters
    ----------
    n_iter : int, default=4
        Updates of both similarities, each from the state before.
    ensemble, n_clusters, decay, solver, linkage, missing, max_memory, X, random_state, n_jobs
        See `cts`.

    Returns
    -------
    ConsensusResult
        As in `cts`.

    Notes
    -----
    The similarity of two objects is ``decay`` times the mean similarity of their clusters,
    that of two clusters ``decay`` times the mean similarity of their objects; of anything
    to itself it is 1. Only the clusters x clusters matrix is iterated: exact, also for
    objects with equal labels, which the dendrogram then takes as one weighted object.

    References
    ----------
    Iam-On, Boongoen & Garrett (2008), Refining pairwise similarity matrix for cluster
    ensemble problem with cluster relations, Discovery Science, section 3.2. Jeh & Widom
    (2002), SimRank, KDD.
    """

    def build(rows: Rows) -> tuple[Rows, Vectors, Divisor]:
        n_labels = labels_that_count(rows, missing)
        C = simrank(rows, decay, n_iter, n_labels, n_jobs)
        return rows, vectors(rows, C), label_pairs(n_labels, 1.0 / decay)

    settings = (solver, linkage, max_memory)
    return solve_links(ensemble, n_clusters, build, "SRS", settings, X, random_state, n_jobs)


@consensus_method(
    estimator="ASRS",
    paper="Iam-On & Garrett 2010",
    memory=_MEMORY_SHAPE,
    rules=_RULES,
)
def asrs(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    decay: float = 0.8,
    solver: LinkSolver = "linkage",
    linkage: Link = "average",
    missing: Missing = "pair",
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by approximate SimRank: one step over the overlaps of clusters.

    Parameters
    ----------
    ensemble, n_clusters, decay, solver, linkage, missing, max_memory, X, random_state, n_jobs
        See `cts`.

    Returns
    -------
    ConsensusResult
        As in `cts`.

    Notes
    -----
    Two clusters are as similar as the sum over all clusters of the product of their Jaccard
    indices, over the numbers of clusters each overlaps with, relative to the largest; times
    ``decay``, except the largest itself, as in the authors' program. Two objects are as
    similar as their clusters on average, over all pairs. Objects with equal labels are one
    weighted object at distance 0; in the formula as printed they are similar by less than 1,
    and could be torn apart by the order of the objects.

    References
    ----------
    Iam-On & Garrett (2010), LinkCluE: a MATLAB package for link-based cluster ensembles,
    Journal of Statistical Software 36(9), section 3.3.
    """

    def build(rows: Rows) -> tuple[Rows, Vectors, Divisor]:
        W = approximate_simrank(rows, decay, n_jobs)
        return rows, vectors(rows, W), label_pairs(labels_that_count(rows, missing), 1.0)

    settings = (solver, linkage, max_memory)
    return solve_links(ensemble, n_clusters, build, "ASRS", settings, X, random_state, n_jobs)


class CTS(FixedNumber, function=cts):
    """Cluster by the connected-triple similarity; see `cts` for the method."""

    decay: float = 0.8
    solver: LinkSolver = "linkage"
    linkage: Link = "average"
    missing: Missing = "pair"
    max_memory: float | str = "4 GiB"


class ASRS(FixedNumber, function=asrs):
    """Cluster by approximate SimRank; see `asrs` for the method."""

    decay: float = 0.8
    solver: LinkSolver = "linkage"
    linkage: Link = "average"
    missing: Missing = "pair"
    max_memory: float | str = "4 GiB"


class SRS(FixedNumber, function=srs):
    """Cluster by SimRank; see `srs` for the method."""

    decay: float = 0.8
    n_iter: int = 4
    solver: LinkSolver = "linkage"
    linkage: Link = "average"
    missing: Missing = "pair"
    max_memory: float | str = "4 GiB"
