"""Groups divided, joined and named by hand: a new result each, with the change on record."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, NoneValue, check_value
from consilience._words import listed, plural
from consilience.compare import against_truth
from consilience.consensus import autoconsensus
from consilience.errors import InvalidParameterError
from consilience.evidence import confidence, never_seen

if TYPE_CHECKING:
    from consilience.workflow.cluster_result import ClusterResult

__all__ = ["are_names", "merged", "renamed", "split"]

_NAMED = "Named: "


def split(result: "ClusterResult", group: int, n_clusters: int | None) -> "ClusterResult":
    """See `ClusterResult.split`."""
    owner = "ClusterResult.split"
    _check_group(result, group, "group", owner)
    check_value("n_clusters", n_clusters, [Interval(Integral, 2), NoneValue()], owner=owner)
    objects = np.flatnonzero(result.labels == group)
    if len(objects) < max(4, n_clusters or 0):
        raise InvalidParameterError(
            f"The 'group' parameter of {owner} is group {group} of {plural(len(objects), 'object')}"
            ", too few to be divided. Name a larger one."
        )
    rows = result.data.rows
    division = autoconsensus(
        result.ensemble.take(objects),
        n_clusters,
        X=None if rows is None else result.data.X[objects],
        random_state=result.seed,
    )
    labels = result.labels.copy()
    # The largest part keeps the number, the others come after all groups there are.
    sizes = np.bincount(division.labels)
    order = np.argsort(-sizes, kind="stable")
    for number, part in enumerate(order[1:]):
        labels[objects[division.labels == part]] = result.n_clusters + number
    into = listed(map(str, sizes[order]))
    what = f"Group {group} was divided into {len(sizes)}, of {into} objects."
    if len(sizes) < 2:
        what = f"Group {group} was to be divided: nothing divides it."
    if "clarity" in division.details:  # equal label rows are parted without a look at them
        what += f" {division.details['clarity'].words}"
    named = result.names and (*result.names, *("",) * (len(sizes) - 1))
    return _changed(result, labels, what, names=named)


def merged(result: "ClusterResult", groups: Sequence[int]) -> "ClusterResult":
    """See `ClusterResult.merge`."""
    owner = "ClusterResult.merge"
    single = isinstance(groups, str) or getattr(groups, "shape", None) == ()
    several = list(groups) if isinstance(groups, Iterable) and not single else []
    for group in several:
        _check_group(result, group, "groups", owner)
    if len(set(several)) < 2:
        raise InvalidParameterError(
            f"The 'groups' parameter of {owner} must be at least two groups to make one of. "
            f"Got {groups!r} instead."
        )
    joined = sorted({int(group) for group in several})
    new = np.arange(result.n_clusters)
    new[joined] = joined[0]
    kept, new = np.unique(new, return_inverse=True)
    labels = np.where(result.labels >= 0, new[np.maximum(result.labels, 0)], result.labels)
    named = result.names and tuple(result.names[group] for group in kept)
    what = f"Groups {listed(map(str, joined))} were joined into group {new[joined[0]]}."
    return _changed(result, labels.astype(np.int32), what, names=named)


def renamed(result: "ClusterResult", names: Mapping[int, str]) -> "ClusterResult":
    """See `ClusterResult.rename`."""
    owner = "ClusterResult.rename"
    if not isinstance(names, Mapping) or not all(isinstance(name, str) for name in names.values()):
        raise InvalidParameterError(
            f"The 'names' parameter of {owner} must be groups with their names, such as "
            f"{{0: 'young'}}. Got {names!r} instead."
        )
    called = list(result.names or ("",) * result.n_clusters)
    for group, name in names.items():
        _check_group(result, group, "names", owner)
        called[group] = name
    used = [name for name in called if name]
    if len(set(used)) < len(used):
        twice = next(name for name in used if used.count(name) > 1)
        raise InvalidParameterError(
            f"The 'names' parameter of {owner} calls two groups {twice!r}. Give each its own name."
        )
    if not names:
        return result
    what = f"{_NAMED}{listed(f'group {group} {name!r}' for group, name in names.items())}."
    return replace(result, names=tuple(called), changes=(*result.changes, what))


def are_names(changes: Iterable[str]) -> bool:
    """Whether groups were given names only: who is in which is as it was."""
    return all(what.startswith(_NAMED) for what in changes)


def _changed(
    result: "ClusterResult", labels: NDArray[np.int32], what: str, *, names: tuple[str, ...]
) -> "ClusterResult":
    """The result with other groups: what was said of the old ones is said no more."""
    # Objects that nobody saw are sure of nothing.
    sure = confidence(result.ensemble, np.where(never_seen(result.ensemble), -1, labels))
    truth = result.data.truth
    return replace(
        result,
        labels=labels,
        confidence=sure.confidence,
        runner_up=sure.runner_up,
        choice=None,
        clarity=None,
        alternatives=(),
        tree=None,
        lifetimes=None,
        n_moved=None,
        names=names,
        seen=None if result.seen is None else result.seen.regrouped(result.data.X),
        agreement=None if truth is None else against_truth(truth, labels),
        changes=(*result.changes, what),
    )


def _check_group(result: "ClusterResult", group: Any, name: str, owner: str) -> None:
    k = result.n_clusters
    usable = isinstance(group, int | np.integer) and not isinstance(group, bool)
    if not (usable and 0 <= group < k):
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must name a group, from 0 to {k - 1}. "
            f"Got {group!r} instead."
        )
