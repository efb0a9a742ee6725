"""Evidence accumulation of the stable clusters only (EEAC)."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._validation import MEMORY, HasMethods, NoneValue, Rule, Satisfies, memory_in_bytes
from consilience.consensus._affinity import attach_outside
from consilience.consensus._base import FixedNumber
from consilience.consensus._order import tie_order
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import Rows, check_sums, rows_in_order
from consilience.consensus._rules import LINKS, Link
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError, MemoryBudgetError, warn
from consilience.evidence import never_placed
from consilience.evidence.stability import (
    SELECTION_RULES,
    ClusterSelection,
    Criterion,
    cluster_stability,
    extended_co_association,
    kept_members,
    select_clusters,
)
from consilience.generate import with_defaults
from consilience.kernels.links.agglomerate import agglomerate
from consilience.kernels.links.chain import MAX_MEMORY
from consilience.kernels.links.kept import kept_average_link, kept_single_link
from consilience.kernels.links.trees import cut_merges, expand_tree
from consilience.kernels.pairs.compare import count_type

__all__ = ["EEAC", "eeac"]

Tree = NDArray[np.float64]

_REFERENCE: list[Rule] = [
    Satisfies(lambda value: isinstance(value, Ensemble), "an Ensemble of the same objects"),
    NoneValue(),
]


@consensus_method(
    estimator="EEAC",
    paper="A criterion for cluster validation and a selective ensemble (EEAC)",
    memory="n R; u^2 (u distinct rows of kept clusters) for complete link",
    rules={**SELECTION_RULES, "reference": _REFERENCE, "linkage": LINKS, "max_memory": MEMORY},
)
def eeac(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    reference: Ensemble | None = None,
    criterion: Criterion = "max",
    top: float = 0.33,
    threshold: float | None = None,
    min_cover: int = 3,
    linkage: Link = "average",
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Cut the dendrogram of the co-association of the most stable clusters.

    Parameters
    ----------
    reference : Ensemble or None, default=None
        Partitions of the same objects by which the stability of clusters is judged, of
        re-sampled data in the paper; None takes the members themselves, each cluster being
        judged by the other members.
    criterion : {"nmi", "max", "apmm"}, default="max"
        See `consilience.evidence.cluster_stability`.
    top, threshold, min_cover
        Which clusters stay: a share of them or all above a threshold, and enough to cover every
        object; see `consilience.evidence.select_clusters`.
    linkage : {"average", "complete", "single"}, default="average"
        How the distance of two groups follows from those of their objects.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        For the matrix of pairs, which only complete link needs; see `eac`, also for ties.
    random_state : int, RandomState or None
        Not used: nothing here is random.

    Returns
    -------
    ConsensusResult
        ``details`` holds ``stability`` and ``kept`` (of every cluster, members one after the
        other), ``cut`` and ``n_added`` (see `ClusterSelection`), ``cover`` (kept clusters that
        hold each object), ``uncovered`` (objects in none of them), ``matrix_free``, and
        ``linkage``, the dendrogram in SciPy's format over the covered objects.

    Notes
    -----
    Two objects are as similar as the kept clusters they share over the larger number of kept
    clusters that hold one of them. An object in no kept cluster is similar to nothing; it
    would be a cluster of its own and use up ``n_clusters``. So it takes no part in the tree,
    goes afterwards to the cluster with the largest mean co-association over all members, and a
    warning counts such objects. With the default ``min_cover`` there are none.

    References
    ----------
    A criterion for cluster validation and a selective ensemble, sections 2 and 3.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> result = eeac(ens, 2, min_cover=1)
    >>> result.labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    >>> result.details["kept"].tolist()
    [True, True, False, False, False, True, True]
    """
    budget = memory_in_bytes(max_memory, owner="EEAC")
    outside = never_placed(ensemble)
    if reference is not None and reference.n_objects == ensemble.n_objects and outside.any():
        reference = None if outside.all() else reference.take(~outside)

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        stability = cluster_stability(placed, reference, criterion=criterion, n_jobs=n_jobs)
        chosen = select_clusters(
            placed, stability, top=top, threshold=threshold, min_cover=min_cover
        )
        _check_some(chosen, stability, threshold)
        result = _cut(placed, chosen, k, linkage, budget, n_jobs)
        result.details["stability"] = stability
        return result

    result = solve(ensemble, n_clusters, run, owner="EEAC", X=X)
    if not result.details:
        return result
    # Over all objects; those that no member placed are in no cluster at all.
    cover = np.zeros(ensemble.n_objects, np.int64)
    cover[~outside] = result.details["cover"]
    more = {"cover": cover, "uncovered": ~outside & (cover == 0)}
    return replace(result, details={**result.details, **more})


def _check_some(chosen: ClusterSelection, stability: Any, threshold: float | None) -> None:
    if not chosen.n_kept and threshold is not None:
        raise InvalidParameterError(
            f"The 'threshold' parameter of EEAC must leave some cluster: the most stable one has "
            f"{np.max(stability, initial=0.0):.4g}. Got {threshold:g} instead."
        )


def _cut(
    placed: Ensemble,
    chosen: ClusterSelection,
    k: int,
    linkage: Link,
    budget: int,
    n_jobs: int | None,
) -> ConsensusResult:
    """The k clusters of the tree over covered objects, the others attached."""
    members = kept_members(placed, chosen.kept)
    covered = chosen.cover > 0
    details: dict[str, Any] = {
        "kept": chosen.kept,
        "cut": chosen.cut,
        "n_added": chosen.n_added,
        "cover": chosen.cover,
    }
    labels = np.full(placed.n_objects, -1, np.int32)
    if not covered.any():
        warn("No cluster holds some but not all objects: they are one cluster.")
        labels[:] = 0
        return ConsensusResult(labels, details=details)
    alike = Ensemble._trusted(np.ascontiguousarray(members[:, covered])).signatures()
    order = tie_order(alike.ensemble.members, alike.counts)
    rows = rows_in_order(order, alike.ensemble.members, alike.inverse, alike.counts)
    if k > rows.n_rows:
        warn(
            f"n_clusters={k} was asked for, but only {rows.n_rows} groups of objects differ in "
            "the clusters kept; they are the clusters. A larger 'top' would split them."
        )
    tree = _tree(rows, linkage, budget, n_jobs)
    labels[covered] = cut_merges(tree, min(k, rows.n_rows))[rows.inverse]
    _attach(placed, labels)
    details |= {"linkage": expand_tree(tree, rows.inverse), "matrix_free": linkage != "complete"}
    return ConsensusResult(labels, solver="linkage", details=details)


def _tree(rows: Rows, linkage: Link, budget: int, n_jobs: int | None) -> Tree:
    """The weighted tree over distinct rows."""
    u = rows.n_rows
    if u == 1:
        return np.empty((0, 4))
    if linkage == "single":
        return kept_single_link(rows.members, rows.counts)
    if linkage == "average":
        # The labels and everything else need room as well; past some rows more gain nothing.
        room = min(budget // 4, MAX_MEMORY)
        check_sums(
            rows.counts, len(rows.members), by_pair=True, owner="EEAC",
            remedy="Use linkage='single', or a sample of the objects.",
        )  # fmt: skip
        return kept_average_link(rows.members, rows.counts, max_memory=room)
    # Floats and the counts they come from.
    needed = u * (u - 1) // 2 * (8 + np.dtype(count_type(len(rows.members))).itemsize)
    if needed > budget:
        raise MemoryBudgetError(
            f"The similarities of {u} distinct objects take {needed / 2**30:.3g} GiB, more than "
            f"max_memory={budget / 2**30:.3g} GiB, and complete link has no exact path without "
            "them. Raise max_memory, or use linkage='average' or 'single'."
        )
    everything = np.ones(int(rows.starts[-1]), bool)
    selected = Ensemble._trusted(rows.members)
    similar = extended_co_association(selected, everything, form="condensed", n_jobs=n_jobs)
    return agglomerate(np.subtract(1.0, similar, out=similar), linkage, weights=rows.counts)


def _attach(placed: Ensemble, labels: NDArray[np.int32]) -> None:
    """Give objects in no kept cluster to the cluster they are most often with, in place."""
    n_outside = attach_outside(placed, labels)
    if n_outside:
        warn(
            f"{n_outside} objects are in none of the clusters kept; EEAC put them into the cluster "
            "they are most often with. A larger 'top' or 'min_cover' would cover them."
        )


class EEAC(
    FixedNumber,
    function=eeac,
    rules={"reference": [HasMethods(("generate", "get_params"), "a generator"), *_REFERENCE]},
):
    """Cluster by evidence accumulation of stable clusters; see `eeac` for the method.

    Parameters
    ----------
    reference : Ensemble, generator or None, default=None
        Partitions by which clusters are judged, or a generator that makes them from the
        data (of re-sampled objects: ``KMeansEnsemble(40, k, max_samples=0.9,
        assign="unseen")``); None takes the members themselves.

    Attributes
    ----------
    reference_ : Ensemble or None
        The reference partitions; None for the members themselves.

    Examples
    --------
    >>> members = [[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]]
    >>> EEAC(2).fit(ensemble=members).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    reference: Any = None
    criterion: Criterion = "max"
    top: float = 0.33
    threshold: float | None = None
    min_cover: int = 3
    linkage: Link = "average"
    max_memory: float | str = "4 GiB"

    def _options(self, X: Any) -> dict[str, Any]:
        self.reference_ = self._reference(X)
        return {**super()._options(X), "reference": self.reference_}

    def _reference(self, X: Any) -> Ensemble | None:
        if self.reference is None or isinstance(self.reference, Ensemble):
            return self.reference
        if X is None:
            raise InvalidInputError(
                "EEAC.fit needs data for the generator given as 'reference'. Got no X. Call "
                "fit(X, ensemble=...), or give the reference partitions themselves."
            )
        seed = self.random_state
        if seed is not None:
            # Another stream than the members': a reference drawn alike would know them all again.
            seed = int(check_random_state(seed).randint(2**31 - 1))
        made: Ensemble = with_defaults(self.reference, seed, self.n_jobs).generate(X)
        return made
