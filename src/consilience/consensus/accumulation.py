"""Evidence accumulation: the dendrogram of the co-association.

The tree is a function of the multiset of label rows: rows are linked in the order of `tie_order`,
by one algorithm for each linkage, whatever memory there is.
"""

import warnings
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import (
    Interval,
    NoneValue,
    Options,
    Satisfies,
    check_jobs,
    check_n_clusters,
    check_value,
    memory_in_bytes,
)
from consilience.consensus._affinity import attach_outside
from consilience.consensus._base import Consensus
from consilience.consensus._large import cut_large
from consilience.consensus._order import tie_order
from consilience.consensus._rows import Rows, rows_in_order
from consilience.consensus._solve import ConsensusResult, by_first_appearance
from consilience.consensus._strangers import add_strangers, place_strangers
from consilience.consensus._table import consensus_method
from consilience.ensemble import NOISE, Ensemble
from consilience.errors import ConsilienceError, ConsilienceWarning, MemoryBudgetError
from consilience.evidence import Missing, fractions, never_placed, never_seen, twins
from consilience.kernels.agglomerate import agglomerate
from consilience.kernels.chain import MAX_MEMORY, average_link
from consilience.kernels.compare import count_type
from consilience.kernels.pairs import count_pairs_condensed, has_unseen
from consilience.kernels.prim import single_link
from consilience.kernels.trees import (
    cut_merges,
    expand_tree,
    lifetimes,
    longest_lifetime,
)

__all__ = ["EAC", "EACResult", "eac"]

Link = Literal["average", "complete", "single"]
Tree = NDArray[np.float64]

_LINKS = Options(("average", "complete", "single"))
_MISSING = Options(("pair", "all"))


@dataclass(frozen=True)
class EACResult:
    """What evidence accumulation found.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        0..K-1 in order of first appearance; -1 for objects every member calls noise.
    n_clusters : int
        Clusters found.
    linkage : ndarray of shape (n_objects - 1, 4)
        The dendrogram in SciPy's format. Heights are 1 - co-association; objects that no
        member ever placed join last, at height 1.
    lifetimes : ndarray
        Lifetime of the partition into k clusters, for k = 2, 3, ...
    matrix_free : bool
        Whether the tree was built without the matrix of pairs: always but for complete link.
    """

    labels: NDArray[np.int32]
    n_clusters: int
    linkage: Tree
    lifetimes: NDArray[np.float64]
    matrix_free: bool


@consensus_method(
    estimator="EAC",
    paper="Fred & Jain 2005",
    memory="n R; n^2 for complete link",
    needs_n_clusters=False,
    keeps_noise=True,
)
def eac(
    ensemble: Ensemble,
    n_clusters: int | None = None,
    *,
    linkage: Link = "average",
    missing: Missing = "pair",
    min_size: int = 1,
    max_memory: float | str = "4 GiB",
    X: Any = None,
    n_jobs: int | None = None,
) -> EACResult:
    """Cut the dendrogram of the co-association; at its longest lifetime by default.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    n_clusters : int or None, default=None
        Clusters wanted: the last ``n_clusters - 1`` merges are undone. None takes the
        number that survives over the widest range of heights.
    linkage : {"average", "complete", "single"}, default="average"
        Average suits compact groups, single follows chains. The lifetime rule works well
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
        For the matrix of pairs, which only complete link needs; it raises where the matrix
        takes more. Average link keeps rows of it in a quarter of this: less costs time only.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    n_jobs : int or None
        Threads; None means one.

    Returns
    -------
    EACResult

    Notes
    -----
    Objects with equal labels in all members are one weighted object throughout: exact, and
    much smaller when there are few members. Single link is a minimum spanning tree whose rows
    are made on the fly, average link a nearest-neighbour chain on cluster histograms: memory
    O(n R) both.

    Ties: permuting the objects permutes the labels, and ``max_memory`` changes none. Rows
    are linked in an order that hangs neither on that of the objects nor, where they differ in
    more than names, on the names of clusters or the order of members. On ties, complete link
    merges the first pair in this order, single link the smallest row the tree reaches from
    the first, and the chain of average link goes to the first of the nearest but back to where
    it came from if that is one of them; shares are compared as whole numbers.

    References
    ----------
    Fred & Jain (2005), Combining multiple clusterings using evidence accumulation, IEEE
    TPAMI 27(6), sections 3 and 4.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> found = eac(Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]]), 2)
    >>> found.labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> found.linkage[-1, 2].round(3).item()
    0.963
    """
    _check(n_clusters, ensemble.n_objects, linkage, missing, min_size)
    check_jobs(n_jobs, owner="EAC")
    budget = memory_in_bytes(max_memory, owner="EAC")
    strangers = never_placed(ensemble)
    if strangers.all():
        return _nothing_placed(ensemble)
    placed = ensemble.take(~strangers) if strangers.any() else ensemble
    alike, inverse, counts = twins(placed, missing=missing)
    rows = rows_in_order(tie_order(alike.members, counts), alike.members, inverse, counts)
    tree = _tree(rows, linkage, missing, budget, n_jobs or 1)
    full = expand_tree(tree, rows.inverse)
    labels = np.full(ensemble.n_objects, NOISE, np.int32)
    if min_size > 1:
        cut = _cut_large(placed, rows, tree, n_clusters, min_size)
    else:
        k = longest_lifetime(full[:, 2]) if n_clusters is None else n_clusters
        cut = cut_merges(tree, _at_most(k, rows.n_rows))[rows.inverse]
    labels[~strangers] = by_first_appearance(ConsensusResult(cut)).labels
    labels = place_strangers(labels, never_seen(ensemble), X, owner="EAC")
    return EACResult(
        labels=labels,
        n_clusters=int(labels.max()) + 1,
        linkage=add_strangers(full, ~strangers),
        lifetimes=lifetimes(full[:, 2]),
        matrix_free=linkage != "complete",
    )


def _check(
    n_clusters: int | None, n_objects: int, linkage: str, missing: str, min_size: int
) -> None:
    check_value("n_clusters", n_clusters, [Interval(Integral, 1), NoneValue()], owner="EAC")
    check_value("linkage", linkage, [_LINKS], owner="EAC")
    check_value("missing", missing, [_MISSING], owner="EAC")
    check_value("min_size", min_size, [Interval(Integral, 1)], owner="EAC")
    if n_clusters is not None:
        check_n_clusters(n_clusters, n_objects, owner="EAC")


def _cut_large(
    placed: Ensemble, rows: Rows, tree: Tree, k: int | None, min_size: int
) -> NDArray[np.int32]:
    """Clusters of at least ``min_size`` objects, and everybody in one of them."""
    if k == 1:
        return np.zeros(placed.n_objects, np.int32)
    labels = cut_large(tree, rows.counts, min_size, k)[rows.inverse]
    if (labels < 0).all():
        if k is not None:
            warnings.warn(
                f"n_clusters={k} was asked for, but at no height of the dendrogram are there as "
                f"many of min_size={min_size} objects; all are one cluster. A smaller 'min_size' "
                "would find some.",
                ConsilienceWarning,
                stacklevel=3,
            )
        return np.zeros(placed.n_objects, np.int32)
    attach_outside(placed, labels)
    return labels


def _at_most(k: int, n_signatures: int) -> int:
    """The clusters that can be told apart, with a warning if more were wanted."""
    if k > n_signatures:
        warnings.warn(
            f"n_clusters={k} was asked for, but only {n_signatures} groups of objects differ in "
            "any member's labels; they are the clusters. More diverse members would split them.",
            ConsilienceWarning,
            stacklevel=3,
        )
    return min(k, n_signatures)


def _nothing_placed(ensemble: Ensemble) -> EACResult:
    """No member placed any object: everything is noise, and the caller is told."""
    warnings.warn(
        "No member put any object into a cluster; every object is noise.",
        ConsilienceWarning,
        stacklevel=3,
    )
    n = ensemble.n_objects
    linkage = add_strangers(np.empty((0, 4)), np.zeros(n, bool))
    return EACResult(np.full(n, NOISE, np.int32), 0, linkage, np.empty(0), False)


def _tree(rows: Rows, linkage: Link, missing: Missing, budget: int, n_jobs: int) -> Tree:
    """The weighted tree over the rows."""
    if rows.n_rows == 1:
        return np.empty((0, 4))
    if linkage == "single":
        return single_link(rows.members, missing=missing, weights=rows.counts)
    if linkage == "average":
        # The labels and everything else need room as well; past some rows more gain nothing.
        room = min(budget // 4, MAX_MEMORY)
        return average_link(rows.members, rows.counts, missing=missing, max_memory=room)
    with_seen = missing == "pair" and has_unseen(rows.members)
    needed = _matrix_bytes(rows, with_seen)
    if needed > budget:
        raise MemoryBudgetError(
            f"The co-association of {rows.n_rows} distinct objects takes {_gib(needed)}, more than "
            f"max_memory={_gib(budget)}, and complete link has no exact path without it. Raise "
            "max_memory, or use linkage='average' or 'single'."
        )
    return _complete_link(rows, with_seen, n_jobs)


def _matrix_bytes(rows: Rows, with_seen: bool) -> int:
    """Peak memory of the matrix: counts, and floats where they are needed."""
    pairs = rows.n_rows * (rows.n_rows - 1) // 2
    count = np.dtype(count_type(len(rows.members))).itemsize
    return pairs * (2 * count + 8 if with_seen else count)


def _complete_link(rows: Rows, with_seen: bool, n_jobs: int) -> Tree:
    """The tree from the condensed matrix.

    Where every pair has the same denominator, distances are whole numbers R - c: ties stay
    exact, and the tree is made of the bytes themselves.
    """
    n_members = len(rows.members)
    joined, seen = count_pairs_condensed(rows.members, with_seen=with_seen, n_jobs=n_jobs)
    if seen is None:
        np.subtract(n_members, joined, out=joined)
        tree = agglomerate(joined, "complete", weights=rows.counts)
        tree[:, 2] /= n_members
        return tree
    shares = fractions(joined, seen, n_members)
    del joined, seen
    np.subtract(1.0, shares, out=shares)
    return agglomerate(shares, "complete", weights=rows.counts)


def _gib(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.3g} GiB"


def _is_memory(value: Any) -> bool:
    try:
        memory_in_bytes(value, owner="EAC")
    except ConsilienceError:
        return False
    return True


class EAC(Consensus):
    """Cluster by evidence accumulation; see `eac` for the method.

    Parameters
    ----------
    n_clusters, linkage, missing, min_size, max_memory
        See `eac`.
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is
        `KMeansEnsemble()`: 100 k-means with k between half the root of n and the root.
    random_state : int, RandomState or None
        For a generator that has none of its own.
    n_jobs : int or None
        Threads; None means one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for objects every member calls noise.
    confidence_ : ndarray of shape (n_objects,)
        See `consilience.evidence.confidence`; 0 for noise and for objects nobody saw.
    runner_up_ : ndarray of shape (n_objects,)
        The best other cluster of each object, -1 where none has any evidence.
    n_clusters_ : int
    linkage_ : ndarray of shape (n_objects - 1, 4)
        Dendrogram in SciPy's format.
    lifetimes_ : ndarray
        Lifetime of k clusters, for k = 2, 3, ...
    matrix_free_ : bool
        Whether the matrix of pairs was avoided.
    ensemble_ : Ensemble

    Examples
    --------
    >>> import numpy as np
    >>> import consilience as cs
    >>> X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, (40, 2)) for c in (0, 3)])
    >>> model = cs.EAC(n_clusters=2, random_state=0).fit(X)
    >>> np.bincount(model.labels_).tolist()
    [40, 40]
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Consensus._common_constraints,
        "n_clusters": [Interval(Integral, 1), NoneValue()],
        "linkage": [_LINKS],
        "missing": [_MISSING],
        "min_size": [Interval(Integral, 1)],
        "max_memory": [Satisfies(_is_memory, "a number of bytes or a text such as '2 GiB'")],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        linkage: Link = "average",
        missing: Missing = "pair",
        min_size: int = 1,
        generator: Any = None,
        max_memory: float | str = "4 GiB",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.missing = missing
        self.min_size = min_size
        self.generator = generator
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        found = eac(
            ensemble,
            self.n_clusters,
            linkage=self.linkage,
            missing=self.missing,
            min_size=self.min_size,
            max_memory=self.max_memory,
            X=X,
            n_jobs=self.n_jobs,
        )
        self.labels_ = found.labels
        self.n_clusters_ = found.n_clusters
        self.linkage_ = found.linkage
        self.lifetimes_ = found.lifetimes
        self.matrix_free_ = found.matrix_free
