"""Results of every job as views."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.consensus.auto import points_of
from consilience.errors import InvalidInputError
from consilience.explain._columns import columns_of
from consilience.explore._cuts import cuts_of, only_cut, shares_with
from consilience.explore._maps import Map, map_of_columns, map_of_evidence
from consilience.explore._pairs import pairs_of
from consilience.explore._view import Answer, Known, Scored, Sure, Torn, View
from consilience.workflow import AmbiguityResult, ClusterResult, MinorityResult
from consilience.workflow._data import Data
from consilience.workflow._view_agreement import each_alone
from consilience.workflow.large import LargeResult
from consilience.workflow.large_minority import LargeMinorityResult

__all__ = ["view"]

# Doubtful objects that are listed, and groups that may claim each.
_MOST_TORN, _CANDIDATES = 2000, 3
_NO_MEMBERS = (
    "This result has no members: there are no other numbers of groups, no matrix, no map of the "
    "evidence, and no reasons for single objects."
)


def view(result: Any) -> View:
    """All that the explorer shows of a result, as plain values and arrays.

    Parameters
    ----------
    result : ClusterResult, MinorityResult, AmbiguityResult, LargeResult or LargeMinorityResult
        What a job returned. Of a result larger than memory its sample is shown.

    Returns
    -------
    View
        Its numbers are the result's. Memory: arrays of n_objects, the members, and a matrix of
        2,000 x 2,000 while it is made; no matrix of all objects.

    Examples
    --------
    >>> import consilience as cs
    >>> X, _ = cs.datasets.make_gaussians(90, 3, random_state=0)
    >>> result = cs.cluster(X, 3, n_members=20, random_state=0)
    >>> picture = view(result)
    >>> bool((picture.cuts.labels(3) == result.labels).all())
    True
    """
    if isinstance(result, LargeResult | LargeMinorityResult):
        shown = view(result.sample)
        words = f"The map and all figures are of {result.of_how_many}."
        return replace(shown, missing=(words, *shown.missing))
    if isinstance(result, ClusterResult):
        return _of_clusters(result)
    if isinstance(result, MinorityResult):
        return _of_minority(result)
    if isinstance(result, AmbiguityResult):
        return _of_ambiguity(result)
    raise InvalidInputError(
        f"The 'result' parameter of view must be what a job returned. Got {type(result).__name__} "
        "instead. Call cluster, minority_groups or ambiguous_objects."
    )


def _of_clusters(result: ClusterResult) -> View:
    answers = [Answer(result.method, result.method_in_words(), result.labels)]
    if result.comparison is not None:
        answers += [
            Answer(name, f"{name}, asked for beside {result.method}", labels)
            for name, labels in result.comparison.labels.items()
            if name != result.method or not np.array_equal(labels, result.labels)
        ]
    return _of_members(
        result,
        "consensus",
        tuple(answers),
        names=result.names,
        doubt=np.flatnonzero(result.doubtful),
        order=result.confidence,
    )


def _of_ambiguity(result: AmbiguityResult) -> View:
    known = result.ambiguity
    scores = Scored(
        result.score,
        False,
        np.asarray(known.scores),
        result.threshold,
        ((known.rule, result.threshold),),
        None,
    )
    answer = Answer("groups", "The groups between which objects may be torn", result.labels)
    return _of_members(
        result,
        "ambiguous",
        (answer,),
        scores=scores,
        doubt=np.flatnonzero(result.flags),
        order=np.where(np.isnan(known.scores), -np.inf, known.scores),
    )


def _of_members(
    result: Any,
    kind: Any,
    answers: tuple[Answer, ...],
    *,
    names: tuple[str, ...] = (),
    scores: Scored | None = None,
    doubt: NDArray[np.int64],
    order: NDArray[np.float64] | None,
) -> View:
    """What results with members share."""
    data, labels, ensemble = result.data, result.labels, result.ensemble
    points = None if data.rows is None else points_of(data.X, result.seed)
    cuts = cuts_of(ensemble, labels, points, seed=result.seed)
    evidence = map_of_evidence(ensemble, labels, seed=result.seed)
    maps, missing = _maps(data, evidence)
    if cuts.most < max(20, 2 * cuts.default):
        missing += (
            f"The clusterings do not divide the objects into more than {cuts.most} groups.",
        )
    return View(
        kind=kind,
        title=data.name or "Objects and their groups",
        n_objects=result.n_objects,
        n_all=result.n_objects,
        objects=np.arange(result.n_objects),
        ids=_ids(data),
        answers=answers,
        names=names,
        cuts=cuts,
        confidence=result.confidence,
        runner_up=result.runner_up,
        columns=_columns(data),
        maps=maps,
        ensemble=ensemble,
        pairs=pairs_of(ensemble, cuts, seed=result.seed),
        truth=Known.of(data.truth),
        scores=scores,
        torn=_torn(ensemble, labels, doubt, order),
        by_view=_by_view(data.views, ensemble, labels),
        facts=tuple(result.headline()),
        missing=missing,
    )


def _of_minority(result: MinorityResult) -> View:
    data = result.data
    maps, missing = _maps(data, None)
    taken = result.model.threshold_result_
    others = [rule for rule in result.rules if rule.method != taken.method]
    rules = tuple((rule.method, float(rule.value)) for rule in (taken, *others))
    wanted = None if result.truth is None else (result.truth > 0).astype(np.int8)
    threshold = float(result.model.threshold_)
    return View(
        kind="minority",
        title=data.name or "Dense groups in the background",
        n_objects=result.n_objects,
        n_all=result.n_objects,
        objects=np.arange(result.n_objects),
        ids=_ids(data),
        answers=(Answer("EWOCS", result.method_in_words(), result.labels),),
        names=(),
        cuts=only_cut(result.labels),
        confidence=None,
        runner_up=None,
        columns=_columns(data),
        maps=maps,
        truth=None if result.truth is None else Known.of(data.truth),
        scores=Scored("score", True, np.asarray(result.scores), threshold, rules, wanted),
        facts=tuple(result.headline()),
        missing=missing,
    )


def _maps(data: Data, evidence: Map | None) -> tuple[tuple[Map, ...], tuple[str, ...]]:
    """The maps there are, that of the columns first, and why one is not."""
    columns = map_of_columns(data.X, data.columns)
    if isinstance(columns, Map):
        return (columns, *(() if evidence is None else (evidence,))), ()
    if evidence is None:
        return (_in_a_row(data.n_objects),), (f"No map of the columns: {columns}",)
    return (evidence,), (f"No map of the columns: {columns}",)


def _in_a_row(n: int, heights: NDArray[np.float64] | None = None) -> Map:
    """Objects by their number, where nothing says which are alike."""
    random = np.random.default_rng(0).uniform(0, 1, n)
    places = np.column_stack([np.arange(n), random if heights is None else heights])
    words = "Nothing says which objects are alike: they lie in the order of the table."
    return Map("rows", words, ("row", "random height, means nothing"), places.astype(np.float32))


def _columns(data: Data) -> Any:
    usable = data.original is not None and hasattr(data.original, "shape")
    return columns_of(
        data.original if usable else None,
        data.n_objects,
        names=data.original_columns if usable and len(data.original_columns) else None,
        sources=data.sources,
    )


def _ids(data: Data) -> tuple[str, ...] | None:
    return None if data.ids is None else tuple(str(one) for one in data.ids.tolist())


def _by_view(names: tuple[str, ...], ensemble: Any, labels: Any) -> tuple[Sure, ...]:
    """How sure each of several views is by itself; nothing of a single table."""
    alone = each_alone(len(names), ensemble, labels) if names else None
    if alone is None:
        return ()
    return tuple(
        Sure(name, np.where(one.seen & (labels >= 0), one.confidence, np.nan))
        for name, one in zip(names, alone, strict=True)
    )


def _torn(
    ensemble: Any, labels: Any, doubt: NDArray[np.int64], order: NDArray[np.float64] | None
) -> Torn | None:
    """Doubtful objects, the most doubtful first, with the groups they are most often with."""
    k = int(labels.max(initial=-1)) + 1
    if k < 2 or not len(doubt):
        return None
    if order is not None:
        doubt = doubt[np.argsort(order[doubt], kind="stable")]
    doubt = doubt[:_MOST_TORN]
    shares = shares_with(ensemble, labels.astype(np.int64), k, doubt)
    best = np.argsort(-shares, axis=1, kind="stable")[:, :_CANDIDATES]
    return Torn(doubt, best.astype(np.int32), np.take_along_axis(shares, best, axis=1))
