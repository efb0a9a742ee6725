"""How many groups, for methods that must be told; and the method where one is strict."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience.consensus import (
    AutoConsensus,
    Clarity,
    MethodChoice,
    NumberChoice,
    choose_n_clusters,
    default_method,
)
from consilience.ensemble import Ensemble
from consilience.rows import Rows
from consilience.workflow._data import Data

__all__ = ["Number", "by_criteria", "by_lines", "strict_method"]

# Objects that are enough to find the number, where members are not yet made.
_ENOUGH = 5_000


@dataclass(frozen=True)
class Number:
    """A number of groups, and what speaks for it; only the number where it was asked for."""

    n_clusters: int | None
    choice: NumberChoice | None = None
    #: How clear the groups are of those who found it.
    clarity: Clarity | None = None


def by_lines(
    rows: Rows | None,
    ensemble: Ensemble | None,
    *,
    most: int | None,
    effort: Any,
    seed: int,
    n_jobs: int | None,
) -> Number:
    """The number of groups that `AutoConsensus` finds.

    Parameters
    ----------
    rows : Rows or None
        The data; None where there are members only.
    ensemble : Ensemble or None
        The members; None where they wait for the number: some are made of a part of the objects.
    most, effort, seed, n_jobs
        As `AutoConsensus` takes them.
    """
    values = None if rows is None else rows.values
    if ensemble is None and values is not None and values.shape[0] > _ENOUGH:
        drawn = np.random.default_rng(seed).permutation(values.shape[0])[:_ENOUGH]
        values = values[np.sort(drawn)]
    model = AutoConsensus(
        max_clusters=most, effort=effort, confidence=False, random_state=seed, n_jobs=n_jobs
    )
    model.fit(values, ensemble=ensemble)
    if model.choice_ is None:  # no member placed anybody: there is nothing to divide
        return Number(1)
    return Number(model.n_clusters_, model.choice_, model.clarity_)


def by_criteria(
    rows: Rows | None,
    ensemble: Ensemble | None,
    *,
    most: int | None,
    seed: int,
    n_jobs: int | None,
) -> Number:
    """The number of groups by criteria that see one group where nothing is clear."""
    best = choose_n_clusters(rows, ensemble=ensemble, k_max=most, random_state=seed, n_jobs=n_jobs)
    return Number(best.n_clusters, best)


def strict_method(data: Data, ensemble: Ensemble, choice: NumberChoice | None) -> MethodChoice:
    """The method that suits the size, and single link where only lifetimes see groups."""
    n, m = ensemble.n_objects, ensemble.n_members
    if choice is not None and choice.clear and choice.taken == "lifetime" and data.X is not None:
        lasting = default_method(n, m, n_clusters_known=False)
        if lasting.name == "eac":
            why = (
                "Groups that only lifetimes tell apart are chains or rings: single link follows "
                "them."
            )
            return MethodChoice(lasting.name, lasting.method, why, lasting.parameters)
    return default_method(n, m)
