"""Which clusters of an ensemble come back when the data are clustered again, and what they say.

Clusters are numbered through all members, one member after the other, as in
`Ensemble.indicator`. A selection of them is an ensemble in which the other clusters are noise.
"""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import (
    Interval,
    NoneValue,
    Options,
    Rule,
    Satisfies,
    as_array,
    as_numbers,
    check_jobs,
    check_value,
)
from consilience.engines import engine_for
from consilience.ensemble import NOISE, Ensemble, takes_ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.stability import CRITERIA, recognised

__all__ = [
    "ClusterSelection",
    "cluster_stability",
    "extended_co_association",
    "kept_members",
    "select_clusters",
]

Criterion = Literal["nmi", "max", "apmm"]
Floats = NDArray[np.float64]

#: What the parameters of `select_clusters` may be; `EEAC` has the same.
SELECTION_RULES: dict[str, list[Rule]] = {
    "criterion": [Options(tuple(CRITERIA))],
    "top": [Interval(Real, 0, 1, open_low=True)],
    "threshold": [Interval(Real), NoneValue()],
    "min_cover": [Interval(Integral, 0)],
}
_REFERENCE: list[Rule] = [
    Satisfies(lambda value: isinstance(value, Ensemble), "an Ensemble"),
    NoneValue(),
]
# Stabilities closer than this are equal: means of equal terms differ by rounding.
_TIE = 1e-12


@takes_ensemble
def cluster_stability(
    ensemble: Ensemble,
    reference: Ensemble | None = None,
    *,
    criterion: Criterion = "max",
    n_jobs: int | None = None,
) -> Floats:
    """How well reference partitions know each cluster again, in [0, 1], for all clusters.

    The mean over the reference partitions of how much the cluster and what the reference has
    in its place agree, as two partitions into a set and the rest.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    reference : Ensemble or None, default=None
        Partitions of the same objects made again, of re-sampled data say. None takes the
        members themselves, each cluster being judged by the other members.
    criterion : {"nmi", "max", "apmm"}, default="max"
        What the reference has in the cluster's place, and how they are compared:

        - ``"nmi"``: the union of all clusters that lie inside the cluster by more than half;
          normalised mutual information (arithmetic). A cluster whose *complement* comes back
          scores as high as one that does.
        - ``"max"``: the one cluster with the largest Jaccard index (the first on ties); the
          same comparison. Cures that.
        - ``"apmm"``: 1 where the cluster lies inside one cluster of the reference, less the
          more it is taken apart. Asymmetric: fragments of a stable cluster score 1.
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.

    Returns
    -------
    ndarray of shape (n_clusters,), float64
        Members one after the other. A reference says 0 where the cluster, or what stands in
        its place, holds none or all of the objects it saw.

    Notes
    -----
    Objects that the cluster's own member or the reference did not see are left out. Noise is
    outside every cluster. With one member and no reference every stability is 1. Time
    O(u R M) for u distinct label rows and M references.

    References
    ----------
    A criterion for cluster validation and a selective ensemble, section 2, figure 2 (``nmi``,
    ``max``). Jaccard, not NMI, must decide which cluster is the most similar: a set and its
    complement have equal NMI, which would bring the flaw back.

    Examples
    --------
    The right half is never one cluster of the reference, but its complement always is.

    >>> left_split = Ensemble([[0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2, 2]])
    >>> right_split = Ensemble([[0, 0, 0, 0, 0, 0, 1, 1, 1, 2, 2, 2]])
    >>> cluster_stability(left_split, right_split, criterion="nmi").round(2).tolist()
    [0.0, 0.0, 1.0]
    >>> cluster_stability(left_split, right_split, criterion="max").round(2).tolist()
    [0.34, 0.34, 0.34]
    """
    check_value("criterion", criterion, SELECTION_RULES["criterion"], owner="cluster_stability")
    check_jobs(n_jobs, owner="cluster_stability")
    check_value("reference", reference, _REFERENCE, owner="cluster_stability")
    jobs = n_jobs or 1
    if reference is None:
        if ensemble.n_members == 1:
            return np.ones(int(ensemble.n_clusters[0]))
        rows, _, counts = ensemble.signatures()
        return recognised(rows.members, rows.members, counts, criterion, skip_own=True, n_jobs=jobs)
    _same_objects(ensemble, reference)
    rows, _, counts = (ensemble + reference).signatures()
    both, R = rows.members, ensemble.n_members
    return recognised(both[:R], both[R:], counts, criterion, n_jobs=jobs)


def _same_objects(ensemble: Ensemble, reference: Ensemble) -> None:
    if reference.n_objects != ensemble.n_objects:
        raise InvalidInputError(
            f"reference must hold the same objects as the ensemble: it has {reference.n_objects}, "
            f"the ensemble {ensemble.n_objects}. Mark objects it did not see as unseen (-2)."
        )


@dataclass(frozen=True)
class ClusterSelection:
    """Clusters that were kept, and how well they cover the objects.

    Attributes
    ----------
    kept : ndarray of shape (n_clusters,), bool
        Members one after the other.
    cut : float
        Smallest stability among those kept for their rank or the threshold; clusters added
        to cover objects may lie below.
    n_added : int
        Clusters added so that every object is covered.
    cover : ndarray of shape (n_objects,), int64
        Kept clusters that hold the object.
    """

    kept: NDArray[np.bool_]
    cut: float
    n_added: int
    cover: NDArray[np.int64]

    @property
    def n_kept(self) -> int:
        """Number of clusters kept."""
        return int(self.kept.sum())


@takes_ensemble
def select_clusters(
    ensemble: Ensemble,
    stability: Any,
    *,
    top: float = 0.33,
    threshold: float | None = None,
    min_cover: int = 3,
) -> ClusterSelection:
    """The most stable clusters, and as many more as it takes to cover every object.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    stability : array of shape (n_clusters,)
        Of every cluster, from `cluster_stability` or your own; larger is better.
    top : float, default=0.33
        Share of the clusters to keep, rounded up; all that tie with the last one stay.
    threshold : float or None, default=None
        Keep the clusters at least as stable as this instead.
    min_cover : int, default=3
        Clusters are added in the order of their stability, those that hold an object covered
        fewer times than this, until none is (as far as its clusters go). 0 is the paper's
        plain rule, which may leave most objects in no kept cluster.

    Returns
    -------
    ClusterSelection

    Notes
    -----
    A cluster that holds all objects that any member placed tells nothing apart and is never
    kept.

    References
    ----------
    A criterion for cluster validation and a selective ensemble, section 3 (top 33 %). Ties and
    the rule of coverage are ours: both sides of a two-cluster member are equally stable, and
    a cut between them leaves one side uncovered.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]])
    >>> selected = select_clusters(ens, cluster_stability(ens), top=0.2)
    >>> selected.kept.tolist(), selected.cover.tolist()
    ([True, True, True, True, True, True], [3, 3, 3, 3, 3, 3])
    >>> narrow = select_clusters(ens, cluster_stability(ens), top=0.2, min_cover=0)
    >>> narrow.kept.tolist(), narrow.cover.tolist()
    ([True, True, False, False, True, True], [2, 2, 2, 2, 2, 2])
    """
    for name, value in (("top", top), ("threshold", threshold), ("min_cover", min_cover)):
        check_value(name, value, SELECTION_RULES[name], owner="select_clusters")
    n_clusters = int(ensemble.offsets()[-1])
    scores = as_numbers(
        "stability",
        stability,
        owner="select_clusters",
        shape=(n_clusters,),
        each="cluster of all members",
    )
    rows, inverse, counts = ensemble.signatures()
    columns = _columns(rows)
    informative = _informative(columns, counts, len(scores))
    wanted = (
        _by_rank(scores, informative, top)
        if threshold is None
        else informative & (scores >= threshold)
    )
    cut = float(scores[wanted].min()) if wanted.any() else float("inf")
    kept = _covering(columns, scores, informative, wanted, min_cover)
    added = int(kept.sum() - wanted.sum())
    return ClusterSelection(kept, cut, added, _cover(columns, kept)[inverse])


def _columns(rows: Ensemble) -> NDArray[np.int64]:
    """Number of each row's cluster in each member among all clusters, -1 where it has none."""
    labels = rows.members.astype(np.int64)
    return np.where(labels >= 0, labels + rows.offsets()[:-1, None], -1)


def _informative(
    columns: NDArray[np.int64], counts: NDArray[np.int64], n_clusters: int
) -> NDArray[np.bool_]:
    """Clusters that hold some but not all of the objects that any member placed."""
    placed = (columns >= 0).any(axis=0)
    sizes = np.zeros(n_clusters)
    for column in columns:
        inside = column >= 0
        sizes += np.bincount(column[inside], counts[inside], n_clusters)
    return np.asarray((sizes > 0) & (sizes < counts[placed].sum()))


def _by_rank(scores: Floats, informative: NDArray[np.bool_], top: float) -> NDArray[np.bool_]:
    """The first share of the clusters by score, with all that tie with the last of them."""
    if not informative.any():
        return informative
    ranked = np.sort(scores[informative])[::-1]
    wanted = min(max(1, int(np.ceil(top * len(scores) - _TIE))), len(ranked))
    return np.asarray(informative & (scores >= ranked[wanted - 1] - _TIE))


def _covering(
    columns: NDArray[np.int64],
    scores: Floats,
    informative: NDArray[np.bool_],
    wanted: NDArray[np.bool_],
    min_cover: int,
) -> NDArray[np.bool_]:
    """Clusters kept once every row is in ``min_cover`` of them, or in all that hold it."""
    kept = wanted.copy()
    cover = _cover(columns, kept)
    # A row is in one cluster of a member at most.
    needed = np.minimum(min(min_cover, len(columns)), _cover(columns, informative))
    if (cover >= needed).all():
        return kept
    spare = np.flatnonzero(informative & ~wanted)
    last = columns.max(axis=1)
    # Clusters are numbered member after member; one without clusters has none to look for.
    members = np.searchsorted(np.maximum.accumulate(last), spare)
    for at in np.argsort(-scores[spare], kind="stable"):
        inside = columns[members[at]] == spare[at]
        if (cover[inside] < needed[inside]).any():
            kept[spare[at]] = True
            cover += inside
    return kept


def _cover(columns: NDArray[np.int64], kept: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Number of kept clusters that hold each row."""
    cover = np.zeros(columns.shape[1], np.int64)
    if kept.size:
        for column in columns:
            cover += (column >= 0) & kept[column]
    return cover


def kept_members(ensemble: Ensemble, kept: NDArray[np.bool_]) -> NDArray[np.signedinteger[Any]]:
    """Member-major labels in which only the kept clusters are left; all else is noise."""
    members = ensemble.members.copy()
    for labels, start in zip(members, first_columns(members)[:-1], strict=True):
        stays = labels >= 0
        stays[stays] = kept[start + labels[stays].astype(np.int64)]
        labels[~stays] = NOISE
    return members


@takes_ensemble
def extended_co_association(
    ensemble: Ensemble,
    kept: Any,
    *,
    form: Literal["dense", "condensed"] = "dense",
    n_jobs: int | None = None,
) -> Floats:
    """Co-association of a selection of clusters: shared ones over the larger number held.

    For objects in n_i and n_j kept clusters, n_ij of them common: n_ij / max(n_i, n_j).

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    kept : array of shape (n_clusters,), bool, or ClusterSelection
        Which clusters count, members one after the other.
    form : {"dense", "condensed"}, default="dense"
        A square matrix, or the upper triangle in SciPy's order.
    n_jobs : int or None
        Threads; None means one.

    Returns
    -------
    ndarray of shape (n, n) or (n * (n - 1) / 2,), float64
        Symmetric, in [0, 1], with a unit diagonal; 0 for pairs with an object in no kept
        cluster. One minus it is no metric: an object in few kept clusters is far from all.
        Memory n^2.

    References
    ----------
    A criterion for cluster validation and a selective ensemble, section 2 (EEAC). The equation
    is missing in the text; this form follows from the words that define its symbols.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 1], [0, 1, 1]])
    >>> extended_co_association(ens, [True, False, True, True])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    check_value("form", form, [Options(("dense", "condensed"))], owner="extended_co_association")
    check_jobs(n_jobs, owner="extended_co_association")
    chosen = _mask(ensemble, kept)
    members = kept_members(ensemble, chosen)
    cover = (members >= 0).sum(axis=0)
    joined, _ = engine_for(members).pair_counts(
        with_seen=False, condensed=form != "dense", n_jobs=n_jobs
    )
    if form == "dense":
        shares = _over_larger(joined, cover[:, None], cover)
        np.fill_diagonal(shares, 1.0)
        return shares
    shares, at, n = np.empty(len(joined)), 0, len(cover)
    for i in range(n - 1):
        row = slice(at, at + n - i - 1)
        shares[row] = _over_larger(joined[row], cover[i], cover[i + 1 :])
        at = row.stop
    return shares


def _over_larger(joined: NDArray[Any], a: Any, b: Any) -> Floats:
    return np.asarray(joined / np.maximum(np.maximum(a, b), 1))


def _mask(ensemble: Ensemble, kept: Any) -> NDArray[np.bool_]:
    chosen = as_array(kept.kept if isinstance(kept, ClusterSelection) else kept)
    n_clusters = int(ensemble.offsets()[-1])
    if chosen.shape != (n_clusters,) or chosen.dtype != bool:
        raise InvalidParameterError(
            "The 'kept' parameter of extended_co_association must hold True or False for each of "
            f"the {n_clusters} clusters of all members. Got shape {chosen.shape} and type "
            f"{chosen.dtype} instead."
        )
    return chosen
