"""Evidence accumulation: the dendrogram of the co-association.

The tree is a function of the multiset of label rows: rows are linked in the order of `tie_order`,
by one algorithm for each linkage, whatever memory there is.
"""

from dataclasses import dataclass, field
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import (
    COUNT,
    DEVICE,
    MEMORY,
    check_n_clusters,
    memory_in_bytes,
)
from consilience.consensus._affinity import attach_outside
from consilience.consensus._base import ChosenNumber
from consilience.consensus._order import object_order, tie_order
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import Rows, check_sums, rows_in_order
from consilience.consensus._rules import LINKS_AND_WARD, MISSING, LinkOrWard
from consilience.consensus._soft_rows import soft_rows_in_order
from consilience.consensus._solve import NOISE_ONLY, ConsensusResult, by_first_appearance, few_rows
from consilience.consensus._unplaced import add_unplaced, place_unseen
from consilience.engines import engine_for
from consilience.ensemble import NOISE, Ensemble
from consilience.errors import MemoryBudgetError, warn
from consilience.evidence import (
    Missing,
    co_association,
    fractions,
    never_placed,
    never_seen,
    twins,
)
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.chain import MAX_MEMORY, average_link
from consilience.kernels.links.chain_whole import average_link_whole, whole_bytes
from consilience.kernels.links.merges import linkage_table
from consilience.kernels.links.prim import single_link
from consilience.kernels.links.trees import cut_merges, expand_tree, lifetimes, longest_lifetime
from consilience.kernels.pairs.compare import count_type
from consilience.kernels.pairs.counts import has_unseen
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["EAC", "EACResult", "eac"]

Tree = NDArray[np.float64]
Sizes = NDArray[np.int64]

# Lengths that differ by less are equal up to rounding.
_EQUAL = 1e-12
# Rows from which average link counts all pairs first, if there is room: of fewer the tree is made
# in no time anyway.
_WHOLE_FROM = 1000
_TOO_MANY = "Use linkage='single', or a sample of the objects."


@dataclass(frozen=True)
class EACResult(ConsensusResult):
    """What evidence accumulation found: a `ConsensusResult`, and the tree.

    Attributes
    ----------
    linkage : ndarray of shape (n_objects - 1, 4)
        The dendrogram in SciPy's format. Heights are 1 - co-association (Ward's: see `eac`);
        objects that no member ever placed join last, at height 1 or the largest other.
    lifetimes : ndarray
        Lifetime of the partition into k clusters, for k = 2, 3, ...
    matrix_free : bool
        Whether the tree needs no matrix of pairs: always but for complete link and Ward's.
    """

    linkage: Tree = field(kw_only=True)
    lifetimes: NDArray[np.float64] = field(kw_only=True)
    matrix_free: bool = field(kw_only=True)


@consensus_method(
    estimator="EAC",
    paper="Fred & Jain 2005",
    memory="n R; n^2 for complete link and Ward's, and for memberships",
    soft=True,
    rules={
        "linkage": LINKS_AND_WARD,
        "missing": MISSING,
        "min_size": COUNT,
        "max_memory": MEMORY,
        "device": DEVICE,
    },
    needs_n_clusters=False,
)
def eac(
    ensemble: Ensemble,
    n_clusters: int | None = None,
    *,
    linkage: LinkOrWard = "average",
    missing: Missing = "pair",
    min_size: int = 1,
    max_memory: float | str = "4 GiB",
    device: str | None = None,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> EACResult:
    """Cut the dendrogram of the co-association; at its longest lifetime by default.

    Parameters
    ----------
    n_clusters : int or None, default=None
        Clusters wanted: the last ``n_clusters - 1`` merges are undone. None takes the
        number that survives over the widest range of heights.
    linkage : {"average", "complete", "single", "ward"}, default="average"
        Average suits compact groups, single follows chains, Ward's prefers groups of similar
        size. The lifetime rule works well
        with single link, and asks for too many clusters with average link on members
        with many clusters.
    missing : {"pair", "all"}, default="pair"
        Divide by the members that saw both objects, or by all.
    min_size : int, default=1
        Objects of a cluster that counts. Single link leaves stray objects alone until late,
        and on data without groups nearly all of them: with 2 % of the objects, say, only
        clusters of that size make up the number, and the objects of all others go to the
        cluster they are most often with. 1 is the published rule.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        For the matrix of pairs, which only complete link and Ward's need; it raises where the
        matrix takes more. Average link keeps rows of it in a quarter of this: less costs time only.
    device : str or None, default=None
        A torch device, such as "cuda": the spanning tree of single link is grown there, and pairs
        are counted there for the other links, whose merges are made on the host. The same tree.
        The estimator also has its members made and its labels judged there. None is the processor,
        or the device of X where that is a torch tensor.
    random_state : int, RandomState or None
        Not used: nothing here is random.

    Returns
    -------
    EACResult
        ``details["ran_on"]`` says what ran where, if there was a ``device``.

    Notes
    -----
    Objects with equal labels in all members are one weighted object throughout: exact, and
    much smaller when there are few members. Single link is a minimum spanning tree whose rows
    are made on the fly, average link a nearest-neighbour chain on cluster histograms: memory
    O(n R) both.

    Memberships (`consilience.SoftEnsemble`) have the expected co-association; every linkage makes
    the matrix of it, and objects with equal memberships are as near as these say.

    Ward's link takes 1 - co-association for Euclidean distances, as SciPy's ``linkage`` does
    with any distances: the pair merges whose union adds least to the sum of squares, and the
    height is the root of twice what it adds. Heights may exceed 1.

    Ties: permuting the objects permutes the labels, and ``max_memory`` changes none. Rows
    are linked in an order that hangs neither on that of the objects nor, where they differ in
    more than names, on the names of clusters or the order of members. On ties, complete link
    and Ward's merge the first pair in this order, single link the smallest row the tree reaches
    from the first, and the chain of average link goes to the first of the nearest but back to
    where it came from if that is one of them; shares are compared as whole numbers.

    References
    ----------
    Fred & Jain (2005), Combining multiple clusterings using evidence accumulation, IEEE
    TPAMI 27(6), sections 3 and 4.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> result = eac(Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]]), 2)
    >>> result.labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> result.linkage[-1, 2].round(3).item()
    0.963
    """
    if n_clusters is not None:
        check_n_clusters(n_clusters, ensemble.n_objects, owner="EAC")
    budget = memory_in_bytes(max_memory, owner="EAC")
    unplaced = never_placed(ensemble)
    if unplaced.all():
        return _nothing_placed(ensemble)
    placed = ensemble.take(~unplaced) if unplaced.any() else ensemble
    places = {"pair counts": "cpu", "consensus": "cpu"}
    rows, tree = _rows_and_tree(placed, linkage, missing, budget, n_jobs or 1, device, places)
    full = expand_tree(tree, rows.inverse)
    labels = np.full(ensemble.n_objects, NOISE, np.int32)
    if min_size > 1:
        cut = _cut_large(placed, rows, tree, n_clusters, min_size)
    else:
        k = longest_lifetime(full[:, 2]) if n_clusters is None else n_clusters
        if k > rows.n_rows:
            warn(few_rows(k, rows.n_rows))
        cut = cut_merges(tree, min(k, rows.n_rows))[rows.inverse]
    labels[~unplaced] = by_first_appearance(ConsensusResult(cut)).labels
    labels = place_unseen(labels, never_seen(ensemble), X, owner="EAC")
    return EACResult(
        labels=labels,
        n_clusters=int(labels.max()) + 1,
        linkage=add_unplaced(full, ~unplaced),
        lifetimes=lifetimes(full[:, 2]),
        matrix_free=linkage in ("average", "single") and not ensemble.is_soft,
        details={} if device is None else {"ran_on": places},
    )


def _rows_and_tree(
    placed: Ensemble,
    linkage: LinkOrWard,
    missing: Missing,
    budget: int,
    n_jobs: int,
    device: str | None,
    places: dict[str, str],
) -> tuple[Rows, Tree]:
    """Rows in an order of their own, and the weighted tree over them; ``places`` is told where."""
    if isinstance(placed, SoftEnsemble):
        order = object_order(placed, placed.memberships)
        rows: Rows = soft_rows_in_order(placed, order)
        return rows, _soft_tree(placed._in_order(order), linkage, missing, budget, n_jobs)
    alike, inverse, counts = twins(placed, missing=missing)
    rows = rows_in_order(tie_order(alike.members, counts), alike.members, inverse, counts)
    there = _device_of_pairs(rows, linkage, missing, budget, device)
    if there is not None:
        places |= dict.fromkeys(places if linkage == "single" else ("pair counts",), there)
    return rows, _tree(rows, linkage, missing, budget, n_jobs, there)


def _soft_tree(
    placed: SoftEnsemble, linkage: LinkOrWard, missing: Missing, budget: int, n_jobs: int
) -> Tree:
    """The tree of the expected co-association of memberships, from its matrix."""
    n = placed.n_objects
    _check_budget(n, 8 * n * (n - 1) // 2, budget, "memberships have no path without it")
    if n == 1:
        return np.empty((0, 4))
    shares = co_association(placed, missing=missing, form="condensed", n_jobs=n_jobs)
    np.subtract(1.0, shares, out=shares)
    return agglomerate(shares, linkage)


def _cut_large(
    placed: Ensemble, rows: Rows, tree: Tree, k: int | None, min_size: int
) -> NDArray[np.int32]:
    """Clusters of at least ``min_size`` objects, and everybody in one of them."""
    if k == 1:
        return np.zeros(placed.n_objects, np.int32)
    labels = cut_large(tree, rows.counts, min_size, k)[rows.inverse]
    if (labels < 0).all():
        if k is not None:
            warn(
                f"n_clusters={k} was asked for, but at no height of the dendrogram are there as "
                f"many of min_size={min_size} objects; all are one cluster. A smaller 'min_size' "
                "would find some.",
            )
        return np.zeros(placed.n_objects, np.int32)
    attach_outside(placed, labels)
    return labels


def _nothing_placed(ensemble: Ensemble) -> EACResult:
    """No member placed any object: everything is noise, and the caller is told."""
    warn(NOISE_ONLY)
    n = ensemble.n_objects
    tree = add_unplaced(np.empty((0, 4)), np.zeros(n, bool))
    labels = np.full(n, NOISE, np.int32)
    return EACResult(labels, linkage=tree, lifetimes=np.empty(0), matrix_free=False)


def _device_of_pairs(
    rows: Rows, linkage: LinkOrWard, missing: Missing, budget: int, device: str | None
) -> str | None:
    """Where pairs are counted, and by single link linked; None is the processor."""
    if device is None or rows.n_rows < 2:
        return None
    from consilience.engines.torch import device_of, pairs_fit

    by_pair = missing == "pair" and has_unseen(rows.members)
    if linkage == "average" and (by_pair or not _whole(rows, budget)):
        return None  # rows are counted as merges ask for them
    # A spanning tree needs no table.
    n_tables = None if linkage == "single" else 2 if by_pair else 1
    return str(device_of(device)) if pairs_fit(rows.members, device, n_tables) else None


def _tree(
    rows: Rows,
    linkage: LinkOrWard,
    missing: Missing,
    budget: int,
    n_jobs: int,
    there: str | None = None,
) -> Tree:
    """The weighted tree over the rows."""
    if rows.n_rows == 1:
        return np.empty((0, 4))
    with_seen = missing == "pair" and has_unseen(rows.members)
    if linkage == "single":
        if there is None:
            return single_link(rows.members, missing=missing, weights=rows.counts)
        left, right, heights = _spanning_tree(rows, there, with_seen)
        return linkage_table(left, right, heights, rows.counts)
    if linkage == "average":
        check_sums(rows.counts, len(rows.members), by_pair=with_seen, owner="EAC", remedy=_TOO_MANY)
        if with_seen or not _whole(rows, budget):
            room = _room(budget)
            return average_link(rows.members, rows.counts, missing=missing, max_memory=room)
        counts = None if there is None else _counts(rows, there, n_jobs)
        return average_link_whole(rows.members, rows.counts, counts=counts, n_jobs=n_jobs)
    needed = _matrix_bytes(rows, linkage, with_seen)
    why = f"{linkage} link has no exact path without it"
    _check_budget(rows.n_rows, needed, budget, why, "use linkage='average' or 'single'")
    return _link_matrix(rows, linkage, with_seen, n_jobs, there)


def _check_budget(
    n: int, needed: int, budget: int, why: str, remedy: str = "take SEC, which needs none"
) -> None:
    """Raise `MemoryBudgetError` where the matrix of n objects does not fit."""
    if needed > budget:
        raise MemoryBudgetError(
            f"The co-association of {n} distinct objects takes {_gib(needed)}, more than "
            f"max_memory={_gib(budget)}, and {why}. Raise max_memory, or {remedy}."
        )


def _room(budget: int) -> int:
    """Memory of average link: labels and all else need some too; past some rows more gains none."""
    return min(budget // 4, MAX_MEMORY)


def _whole(rows: Rows, budget: int) -> bool:
    """Whether average link counts all pairs first, where all have the same denominator."""
    return rows.n_rows >= _WHOLE_FROM and whole_bytes(rows.members, rows.counts) <= _room(budget)


def _spanning_tree(rows: Rows, device: str, by_pair: bool) -> tuple[NDArray[Any], ...]:
    from consilience.engines.torch import Torch

    return Torch(rows.members, device).spanning_tree(by_pair=by_pair)


def _counts(rows: Rows, device: str, n_jobs: int) -> NDArray[Any]:
    """How many members joined each pair of rows."""
    engine = engine_for(rows.members, device)
    return engine.pair_counts(with_seen=False, n_jobs=n_jobs)[0]


def _matrix_bytes(rows: Rows, linkage: LinkOrWard, with_seen: bool) -> int:
    """Peak memory of the matrix: counts, and floats where they are needed."""
    pairs = rows.n_rows * (rows.n_rows - 1) // 2
    count = np.dtype(count_type(len(rows.members))).itemsize
    floats = 8 if with_seen or linkage == "ward" else 0
    return pairs * ((2 if with_seen else 1) * count + floats)


def _link_matrix(
    rows: Rows, linkage: LinkOrWard, with_seen: bool, n_jobs: int, device: str | None
) -> Tree:
    """The tree from the condensed matrix.

    Where every pair has the same denominator, distances are whole numbers R - c: ties of
    complete link stay exact, and the tree is made of the bytes themselves.
    """
    n_members = len(rows.members)
    joined, seen = engine_for(rows.members, device).pair_counts(
        with_seen=with_seen, condensed=True, n_jobs=n_jobs
    )
    if seen is None and linkage == "complete":
        np.subtract(n_members, joined, out=joined)
        tree = agglomerate(joined, "complete", weights=rows.counts)
        tree[:, 2] /= n_members
        return tree
    shares = fractions(joined, seen, n_members)
    del joined, seen
    np.subtract(1.0, shares, out=shares)
    return agglomerate(shares, linkage, weights=rows.counts)


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.3g} GiB"


def smallest_counted(n_objects: int) -> int:
    """Objects of a cluster that counts where the number is chosen: 2 %, but at least five."""
    return max(5, ceil(0.02 * n_objects))


def large_counts(tree: Tree, at_least: int, leaves: Sizes | None = None) -> Sizes:
    """Clusters of at least so many objects, before the first merge of a tree and after each.

    ``leaves`` are the objects of each leaf, one each if not given.

    Examples
    --------
    >>> tree = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [5, 6, 0.8, 4], [4, 7, 1.0, 5]])
    >>> large_counts(tree, 2).tolist()
    [0, 1, 2, 1, 1]
    """
    n = len(tree) + 1
    sizes = np.concatenate([np.ones(n) if leaves is None else leaves, tree[:, 3]])
    large = (sizes >= at_least).astype(np.int64)
    nodes = tree[:, :2].astype(np.int64)
    change = large[n:] - large[nodes[:, 0]] - large[nodes[:, 1]]
    return np.asarray(np.cumsum(np.append(large[:n].sum(), change)))


def cut_large(tree: Tree, leaves: Sizes, at_least: int, k: int | None) -> NDArray[np.int32]:
    """Labels of the leaves where k clusters of at least so many objects last longest.

    Parameters
    ----------
    tree : ndarray of shape (n - 1, 4)
        Rising heights, in SciPy's format, sizes counting objects.
    leaves : ndarray of shape (n,)
        Objects of each leaf.
    at_least : int
        Objects of a cluster that counts.
    k : int or None
        Such clusters; None takes the number above 1 that has the widest range of heights in
        all, the smallest on ties.

    Returns
    -------
    ndarray of shape (n,), int32
        -1 for leaves in clusters that do not count; -1 everywhere where no height has k.

    Examples
    --------
    >>> tree = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [5, 6, 0.8, 4], [4, 7, 1.0, 5]])
    >>> cut_large(tree, np.ones(5, int), 2, None).tolist()
    [0, 0, 1, 1, -1]
    """
    counts = large_counts(tree, at_least, leaves)[:-1]
    lasts = np.diff(tree[:, 2], prepend=0.0)
    if k is None:
        totals = np.bincount(counts, lasts, minlength=3)
        totals[:2] = 0.0
        k = int(np.argmax(totals > totals.max() - _EQUAL)) if totals.max() > _EQUAL else -1
    lasts = np.where(counts == k, lasts, -1.0)
    if lasts.max(initial=-1.0) < 0:
        return np.full(len(leaves), -1, np.int32)
    # The widest range of heights with k such clusters, the first on ties.
    labels = cut_merges(tree, len(leaves) - int(np.argmax(lasts > lasts.max() - _EQUAL)))
    large = np.bincount(labels, leaves) >= at_least
    return np.where(large[labels], np.cumsum(large)[labels] - 1, -1).astype(np.int32)


class EAC(ChosenNumber, function=eac, attributes=("linkage", "lifetimes", "matrix_free")):
    """Cluster by evidence accumulation; see `eac` for the method.

    Attributes
    ----------
    linkage_ : ndarray of shape (n_objects - 1, 4)
        Dendrogram in SciPy's format.
    lifetimes_ : ndarray
        Lifetime of k clusters, for k = 2, 3, ...
    matrix_free_ : bool
        Whether the matrix of pairs was avoided.

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, (40, 2)) for c in (0, 3)])
    >>> model = cs.EAC(n_clusters=2, random_state=0).fit(X)
    >>> np.bincount(model.labels_).tolist()
    [40, 40]
    """

    linkage: LinkOrWard = "average"
    missing: Missing = "pair"
    min_size: int = 1
    max_memory: float | str = "4 GiB"
    device: str | None = None
