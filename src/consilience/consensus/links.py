"""Link-based consensus: objects in different clusters may still be alike, if the clusters are."""

from collections.abc import Callable
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._labels import NOISE, UNSEEN
from consilience._validation import COUNT, MEMORY, Interval, Options, Rule, memory_in_bytes
from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import check_n_columns, rows_result
from consilience.consensus._registry import consensus_method
from consilience.consensus._row_links import (
    Divisor,
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
from consilience.kernels.labels.products import row_sums
from consilience.partition import one_thread, transfer_cut

__all__ = ["ASRS", "CTS", "SRS", "asrs", "cts", "srs"]

LinkSolver = Literal["linkage", "spectral"]
Floats = NDArray[np.float64]
# From rows to the rows that are compared, their vectors over clusters, and what to divide the
# products by.
Build = Callable[[Rows], tuple[Rows, Vectors, Divisor]]

# Shares closer than this to the largest are the largest: it alone escapes the decay of ASRS.
_ROUNDING = 1e-12
_BLOCK = 4096
_RULES: dict[str, list[Rule]] = {
    "decay": [Interval(Real, 0, 1, open_low=True)],
    "solver": [Options(("linkage", "spectral"))],
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


def jaccard(rows: Rows, n_jobs: int | None) -> Floats:
    """Objects in both of two clusters over objects in either; 0 on the diagonal."""
    shared = rows.contingency(rows.counts.astype(float), n_jobs=n_jobs)
    sizes = shared.diagonal()
    shared /= sizes[:, None] + sizes - shared
    np.fill_diagonal(shared, 0.0)
    return shared


def connected_triples(rows: Rows, decay: float, n_jobs: int | None) -> list[Floats]:
    """Similarity of the clusters of each member by the clusters they both overlap with.

    Two clusters of a member are as similar as the sum, over all clusters, of the smaller of
    their two Jaccard indices with it, relative to the most similar pair of any member, times
    ``decay``. One matrix a member, with a unit diagonal.
    """
    J = jaccard(rows, n_jobs)
    tables = []
    for start, stop in zip(rows.starts[:-1], rows.starts[1:], strict=True):
        own = J[start:stop]
        table = np.zeros((len(own), len(own)))
        for c in range(len(own) - 1):
            table[c, c + 1 :] = np.minimum(own[c], own[c + 1 :]).sum(axis=1)
        tables.append(table + table.T)
    largest = max((float(table.max()) for table in tables if table.size), default=0.0)
    for table in tables:
        if largest > 0:
            table *= decay / largest
        np.fill_diagonal(table, 1.0)
    return tables


def noise_as_clusters(rows: Rows, tables: list[Floats]) -> tuple[Rows, list[Floats]]:
    """Rows and tables in which a member's noise is one more cluster, linked like the others.

    A member that calls an object noise says that it is apart from all others, as objects of
    different clusters are, and not more: so it counts for a cluster what the objects of that
    member's other clusters do on average, and for another noise object what two objects of
    different clusters do. (With 0 instead an object that is noise to a few members would be
    further from its own group than all groups are from each other.)
    """
    noise = rows.members == NOISE
    noisy = noise.any(axis=1)
    if not noisy.any():
        return rows, tables
    widths = np.diff(rows.starts)
    members = np.where(noise, widths[:, None], rows.members.astype(np.int32))
    linked = [
        _with_noise(table, _sizes(labels, rows.counts, len(table))) if some else table
        for labels, table, some in zip(rows.members, tables, noisy, strict=True)
    ]
    starts = np.concatenate([[0], np.cumsum(widths + noisy)]).astype(rows.starts.dtype)
    return rows._replace(members=members, starts=starts), linked


def _sizes(labels: Any, counts: NDArray[np.int64], n_clusters: int) -> Floats:
    """Objects of each cluster of one member."""
    placed = labels >= 0
    sizes = np.bincount(labels[placed], counts[placed], minlength=n_clusters)
    return sizes.astype(np.float64)


def _with_noise(table: Floats, sizes: Floats) -> Floats:
    """The table of one member with a last row and column for its noise."""
    apart = np.array(table)
    np.fill_diagonal(apart, 0.0)
    others = sizes.sum() - sizes
    sums = apart @ sizes
    to_cluster = np.divide(sums, others, out=np.zeros_like(sums), where=others > 0)
    pairs = float(sizes @ others)
    among = float(sizes @ sums) / pairs if pairs > 0 else 0.0
    return np.block([[table, to_cluster[:, None]], [to_cluster[None], np.array([[among]])]])


def approximate_simrank(rows: Rows, decay: float, n_jobs: int | None) -> Floats:
    """Similarity of all clusters by the products of their Jaccard indices with all others.

    The mean product over pairs of neighbours (clusters that overlap), relative to the
    largest; times ``decay``, but for the largest itself. Unit diagonal.
    """
    J = jaccard(rows, n_jobs)
    neighbours = np.maximum((J > 0).sum(axis=1), 1).astype(float)
    with one_thread():
        W = J @ J
    W /= neighbours[:, None] * neighbours
    np.fill_diagonal(W, 0.0)
    W = (W + W.T) / 2.0
    largest = float(W.max())
    if largest > 0:
        W /= largest
        W = np.where(W >= 1.0 - _ROUNDING, 1.0, decay * W)
    np.fill_diagonal(W, 1.0)
    return W


def labels_that_count(rows: Rows, missing: Missing) -> Floats:
    """For each row the members that saw it, or all members."""
    if missing == "all":
        return np.full(rows.n_rows, float(len(rows.members)))
    return (rows.members != UNSEEN).sum(axis=0).astype(float)


def simrank(rows: Rows, decay: float, n_iter: int, n_labels: Floats, n_jobs: int | None) -> Floats:
    """Similarity of all clusters from which the last of ``n_iter`` updates makes that of objects.

    Objects are similar if their clusters are, clusters if their objects are. With C the
    similarity of clusters, that of different objects is S = decay B C B^T over the numbers
    of their labels, and the next C is decay B^T S B over the sizes of the clusters; both
    have unit diagonals, and both are updated from the state before. So S never has to be
    there: B^T S B = decay M C M + B^T diag(1 - S_ii) B, where M = B^T diag(1 / labels) B
    and S_ii is what S would be without its unit diagonal.
    """
    counts = rows.counts.astype(float)
    jobs = n_jobs or 1
    shared = cluster_contingency(rows.members, counts, n_jobs=jobs)
    sizes = shared.diagonal().copy()
    # At first nothing is similar but to itself: an odd number of updates begins with the
    # clusters in that state, an even one with the objects.
    C = np.eye(len(sizes)) if n_iter % 2 else _means(shared, sizes, decay)
    M = cluster_contingency(rows.members, counts / n_labels, n_jobs=jobs)
    for _ in range((n_iter - 1) // 2):
        itself = decay * _own_products(rows, C) / n_labels**2
        rest = cluster_contingency(rows.members, counts * (1.0 - itself), n_jobs=jobs)
        with one_thread():
            C = _means(decay * (M @ C @ M) + rest, sizes, decay)
    return C


def _means(sums: Floats, sizes: Floats, decay: float) -> Floats:
    """Sums over pairs of objects as decayed means over two clusters, symmetric, unit diagonal."""
    C: Floats = decay * (sums + sums.T) / (2.0 * sizes[:, None] * sizes)
    np.fill_diagonal(C, 1.0)
    return C


def _own_products(rows: Rows, C: Floats) -> Floats:
    """For each row the sum of C over all pairs of its own clusters."""
    out = np.zeros(rows.n_rows)
    of = vectors(rows, C)
    for start in range(0, rows.n_rows, _BLOCK):
        stop = min(start + _BLOCK, rows.n_rows)
        block = of(start, stop)
        for placed, labels, column in labels_of_members(rows, start, stop):
            out[start + placed] += block[placed, column + labels]
    return out


def vectors(rows: Rows, W: Floats) -> Vectors:
    """Vectors of rows: the sum of W over their clusters."""

    def of(start: int, stop: int) -> Any:
        block = np.ascontiguousarray(rows.members[:, start:stop])
        return row_sums(block, rows.starts, W)

    return of


def own_member_vectors(rows: Rows, tables: list[Floats]) -> Vectors:
    """Vectors of rows: each member's part is the row of its table for the row's label."""

    def of(start: int, stop: int) -> Floats:
        out = np.zeros((stop - start, int(rows.starts[-1])))
        members = labels_of_members(rows, start, stop)
        for table, (placed, labels, column) in zip(tables, members, strict=True):
            out[placed, column : column + len(table)] = table[labels]
        return out

    return of


def label_pairs(n_labels: Floats, scale: float) -> Divisor:
    """What the similarity of all pairs of clusters is divided by: pairs of labels."""
    return lambda start, stop: scale * n_labels[start:, None] * n_labels[start:stop]


def solve_links(
    ensemble: Ensemble,
    n_clusters: int,
    build: Build,
    owner: str,
    settings: tuple[LinkSolver, Link, float | str],
    X: Any,
    random_state: Any,
    n_jobs: int | None,
) -> ConsensusResult:
    """What the three methods share: a tree, or a cut, of the rows' vectors over clusters."""
    solver, linkage, max_memory = settings
    budget = memory_in_bytes(max_memory, owner=owner)

    def tree(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        u = rows.n_rows
        check_budget(u, 4 * u * (u - 1), budget, remedy="use solver='spectral'")
        distances = link_distances(*build(rows), n_jobs=n_jobs)
        return tree_result(rows, distances, k, linkage)

    def cut(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        alone = check_n_columns(rows, k, owner=owner)
        if alone is not None:
            return alone
        u = rows.n_rows
        check_budget(u, 8 * u * int(rows.starts[-1]), budget, remedy="use fewer members")
        _, refined, _ = build(rows)
        parts = transfer_cut(refined(0, u), k, random_state=random_state, weights=rows.counts)
        return rows_result(parts, rows)

    run = tree if solver == "linkage" else cut
    return solve(ensemble, n_clusters, run, owner=owner, X=X)


class CTS(FixedNumber, function=cts):
    """Cluster by the connected-triple similarity; see `cts` for the method."""

    decay: float = 0.8
    solver: LinkSolver = "linkage"
    linkage: Link = "average"
    missing: Missing = "pair"
    max_memory: float | str = "4 GiB"


class ASRS(CTS, function=asrs):
    """Cluster by approximate SimRank; see `asrs` for the method."""


class SRS(FixedNumber, function=srs):
    """Cluster by SimRank; see `srs` for the method."""

    decay: float = 0.8
    n_iter: int = 4
    solver: LinkSolver = "linkage"
    linkage: Link = "average"
    missing: Missing = "pair"
    max_memory: float | str = "4 GiB"
