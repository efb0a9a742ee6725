"""Consensus of labels larger than memory: distinct label rows, a small problem, one labelling.

Objects with equal labels in every member are indistinguishable to a method that sees labels only.
So objects are gone through block by block and collapse into distinct rows, each with its number of
objects; the method combines these; and every object takes what its row was given. The result is
that of all objects in memory, label for label.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience._validation import (
    COUNT,
    MEMORY,
    RandomState,
    check_jobs,
    check_n_clusters,
    check_value,
    memory_in_bytes,
)
from consilience._words import listed
from consilience.consensus._registry import CONSENSUS, Method
from consilience.consensus._solve import ConsensusResult, few_rows
from consilience.engines import label_room
from consilience.ensemble import Collapsed, Ensemble, takes_ensemble
from consilience.errors import InvalidParameterError, MemoryBudgetError, warn
from consilience.evidence import confidence, never_placed, never_seen
from consilience.kernels.labels.signatures import RowTable

__all__ = [
    "BlockConsensus",
    "check_by_rows",
    "collapse",
    "combine_blocks",
    "combined",
    "nearest_by_rows",
    "options_by_rows",
]

_OWNER = "combine_blocks"
# Objects looked at together.
_BLOCK = 2**18
# What a method must be told to look at label rows alone.
_SETTINGS: dict[str, dict[str, Any]] = {"hbgf": {"solver": "spectral"}}
# The nearest method that can, of those that cannot; SEC of all others.
_NEAREST = {
    **dict.fromkeys(("eac", "eeac", "lwea", "peace", "ecpcshc", "autoconsensus"), "lwgp"),
    **dict.fromkeys(("cspa", "wosp", "pta", "ptgp"), "usenc"),
    **dict.fromkeys(("hgpa", "wcc"), "mcla"),
    "wohb": "hbgf",
    "wokmeans": "womc",
}


@dataclass(frozen=True, eq=False)
class BlockConsensus:
    """A consensus of objects that were gone through block by block.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        A map of a file where they are many, as the others of n_objects.
    confidence : ndarray of shape (n_objects,), float32
        See `consilience.evidence.confidence`.
    runner_up : ndarray of shape (n_objects,), int32
    n_clusters : int
    n_rows : int
        Distinct label rows.
    of_rows : ConsensusResult
        What the method found, of the distinct rows in the order of their first objects.
    """

    labels: NDArray[np.int32]
    confidence: NDArray[np.float32]
    runner_up: NDArray[np.int32]
    n_clusters: int
    n_rows: int
    of_rows: ConsensusResult


@takes_ensemble
def combine_blocks(
    ensemble: Ensemble,
    n_clusters: int,
    method: str = "sec",
    *,
    max_memory: float | str = "4 GiB",
    random_state: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> BlockConsensus:
    """The consensus of labels that may be larger than memory, and how sure it is.

    Parameters
    ----------
    ensemble : Ensemble
        Labels, in memory or a map of a file, as `consilience.generate.KMeansEnsemble` makes
        them of data that are not in memory.
    n_clusters : int
        Clusters wanted.
    method : str, default="sec"
        A name of `CONSENSUS` that looks at distinct label rows only: cumulativevoting, ecpcsmc,
        hbgf (its normalised cut), kcc, lwgp, mcla, sec, usenc, voting, womc.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        What the table of distinct rows may take.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads; None means one.
    **options
        Of the method.

    Returns
    -------
    BlockConsensus
        Labels, confidence and runner-up are those of the method and of
        `consilience.evidence.confidence` on all objects at once.

    Raises
    ------
    InvalidParameterError
        If the method cannot work so; the message names the nearest that can.
    MemoryBudgetError
        If there are more distinct rows than fit.

    Notes
    -----
    One pass over the labels, a few bytes of disk an object, and the time and memory of the method
    on the distinct rows.

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> result = combine_blocks(ens, 2, "lwgp", random_state=0)
    >>> result.labels, result.n_rows
    (array([0, 0, 0, 1, 1, 1], dtype=int32), 4)
    """
    chosen = check_by_rows(method)
    check_value("n_clusters", n_clusters, COUNT, owner=_OWNER)
    check_n_clusters(n_clusters, ensemble.n_objects, owner=_OWNER)
    check_value("random_state", random_state, [RandomState()], owner=_OWNER)
    check_value("max_memory", max_memory, MEMORY, owner=_OWNER)
    check_jobs(n_jobs, owner=_OWNER)
    own = options_by_rows(method, options)
    budget = memory_in_bytes(max_memory, owner=_OWNER)
    how = {"random_state": random_state, "n_jobs": n_jobs, **own}
    return combined(chosen, ensemble, n_clusters, how, max_bytes=budget)


def combined(
    method: Method,
    ensemble: Ensemble,
    n_clusters: int,
    how: dict[str, Any],
    *,
    max_bytes: float | None = None,
) -> BlockConsensus:
    """As `combine_blocks`, of parameters that were checked."""
    n_jobs = how["n_jobs"]
    rows, numbers = collapse(ensemble, max_bytes=max_bytes, n_jobs=n_jobs)
    return _spread(_of_rows(method, rows, n_clusters, how), rows, numbers, n_jobs)


def nearest_by_rows(name: str) -> Method:
    """The method that combines labels larger than memory and is nearest to one that cannot."""
    return CONSENSUS[_NEAREST.get(name, "sec")]


def check_by_rows(name: str) -> Method:
    """A method that combines labels larger than memory; raises for others, naming the nearest."""
    can = sorted(one.name for one in CONSENSUS.values() if one.by_rows)
    if not isinstance(name, str) or name not in can:
        known = isinstance(name, str) and name in CONSENSUS
        near = f" Take {nearest_by_rows(name).name!r}, the nearest to it." if known else ""
        raise InvalidParameterError(
            f"The 'method' parameter of {_OWNER} must be one of {listed(map(repr, can), 'or')}: "
            f"these combine labels larger than memory. Got {name!r} instead.{near}"
        )
    return CONSENSUS[name]


def options_by_rows(method: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options of a method, with those it needs to look at label rows alone."""
    settings = _SETTINGS.get(method, {})
    for name, value in settings.items():
        if options.get(name, value) not in (value, "auto"):
            raise InvalidParameterError(
                f"The {name!r} parameter of {method} must be {value!r} by blocks. Got "
                f"{options[name]!r} instead."
            )
    if not isinstance(options.get("weights"), str | None):
        raise InvalidParameterError(
            f"The 'weights' parameter of {method} must be 'one-shot' or None by blocks: objects "
            "with equal labels are one, and have one weight."
        )
    CONSENSUS[method].check_options(options)
    return {**options, **settings}


def collapse(
    ensemble: Ensemble, *, max_bytes: float | None = None, n_jobs: int | None = None
) -> tuple[Collapsed, NDArray[np.int32]]:
    """Distinct label rows by first appearance with their objects, and the row of each object.

    >>> rows, numbers = collapse(Ensemble([[0, 1, 0], [2, 2, 2]]))
    >>> rows.counts.tolist(), numbers.tolist()
    ([2, 1], [0, 1, 0])
    """
    table = RowTable(ensemble.n_members, ensemble.members.dtype)
    n = ensemble.n_objects
    numbers = label_room((n,), np.int32)
    for start in range(0, n, _BLOCK):
        stop = min(start + _BLOCK, n)
        numbers[start:stop] = table.add(ensemble.members[:, start:stop], n_jobs)
        let_go(numbers, ensemble.members)
        if max_bytes is not None and table.nbytes > max_bytes:
            raise MemoryBudgetError(
                f"The first {stop:,} of {n:,} objects have {table.n_rows:,} different rows of "
                f"labels, which take more than the {max_bytes:,.0f} bytes of 'max_memory'. Raise "
                "it, or take fewer members, or members of fewer clusters: more objects then agree."
            )
    rows = Ensemble._trusted(table.members(), names=ensemble.names, records=ensemble.records)
    return Collapsed._of(rows, table.counts.copy()), numbers


def _of_rows(method: Method, rows: Collapsed, k: int, how: dict[str, Any]) -> ConsensusResult:
    """The method on the distinct rows, which count for as many objects as they stand for."""
    placed = int((~never_placed(rows)).sum())
    if 0 < placed < k:
        warn(few_rows(k, placed))
    return method.run(rows, min(k, max(placed, 1)), **how)


def _spread(
    result: ConsensusResult, rows: Collapsed, numbers: NDArray[np.int32], n_jobs: int | None
) -> BlockConsensus:
    """What the rows were given, for all objects."""
    known = np.where(never_seen(rows), -1, result.labels)
    sure = confidence(rows, known, exact=False, n_jobs=n_jobs)
    values = (result.labels, sure.confidence.astype(np.float32), sure.runner_up)
    n = len(numbers)
    rooms = [label_room((n,), value.dtype) for value in values]
    for start in range(0, n, _BLOCK):
        some = slice(start, start + _BLOCK)
        for room, value in zip(rooms, values, strict=True):
            room[some] = value[numbers[some]]
        let_go(numbers, *rooms)
    labels, confident, runner_up = rooms
    return BlockConsensus(labels, confident, runner_up, result.n_clusters, rows.n_objects, result)
