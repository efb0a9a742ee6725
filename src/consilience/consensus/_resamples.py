"""What Monti's consensus clustering is told, and the resampled members it asks for."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

from sklearn.base import clone

from consilience._validation import (
    COUNT,
    MEMORY,
    N_JOBS,
    Interval,
    NoneValue,
    Options,
    RandomState,
    Rule,
    Satisfies,
    check_value,
)
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError, warn
from consilience.generate import EstimatorEnsemble, KMeansEnsemble
from consilience.generate._draw import SHARE, subset_size

__all__ = ["OWNER", "RULES", "Plan"]

OWNER = "MontiConsensus"

_TWO = Interval(Integral, 2)


def _is_candidates(value: Any) -> bool:
    if isinstance(value, tuple) and len(value) == 2:
        return all(_TWO.accepts(end) for end in value) and bool(value[0] <= value[1])
    if isinstance(value, range | list | tuple):
        return bool(value) and all(_TWO.accepts(item) for item in value)
    # One cluster is never ambiguous: as one of several numbers it would always win.
    return COUNT[0].accepts(value)


def _is_window(value: Any) -> bool:
    share = Interval(Real, 0, 1)
    if not isinstance(value, tuple) or len(value) != 2:
        return False
    return all(share.accepts(end) for end in value) and bool(value[0] < value[1])


def _takes_n_clusters(value: Any) -> bool:
    if isinstance(value, type) or not hasattr(value, "get_params"):
        return False
    names = {name.rpartition("__")[2] for name in value.get_params(deep=True)}
    usable = hasattr(value, "fit_predict") or hasattr(value, "generate")
    return usable and bool(names & {"n_clusters", "n_components"})


RULES: dict[str, Sequence[Rule]] = {
    "n_clusters": [
        Satisfies(
            _is_candidates,
            "a whole number at least 1, a range (low, high) with 2 <= low <= high, or a list of "
            "whole numbers at least 2",
        )
    ],
    "clusterer": [
        Satisfies(_takes_n_clusters, "a clusterer or generator with a parameter n_clusters"),
        NoneValue(),
    ],
    "n_resamples": COUNT,
    "max_samples": [SHARE],
    "window": [Satisfies(_is_window, "two shares (low, high) with low < high")],
    "criterion": [Options(("pac", "reference"))],
    "n_references": [Interval(Integral, 0)],
    "max_pairs": COUNT,
    "max_memory": MEMORY,
    "random_state": [RandomState()],
    "n_jobs": N_JOBS,
}


@dataclass(frozen=True)
class Plan:
    """The parameters of one run."""

    n_clusters: Any
    clusterer: Any
    n_resamples: int
    max_samples: Any
    window: tuple[float, float]
    criterion: str
    n_references: int
    max_pairs: int
    max_memory: float | str
    random_state: Any
    n_jobs: int | None

    def check(self) -> None:
        """Raise unless every parameter keeps its rules."""
        for name, rules in RULES.items():
            check_value(name, getattr(self, name), rules, owner=OWNER)
        if self.criterion == "reference" and not self.n_references:
            raise InvalidParameterError(
                f"The 'n_references' parameter of {OWNER} must be at least 1 with "
                "criterion='reference'. Got 0 instead."
            )

    def candidates(self, n_objects: int) -> list[int]:
        """Numbers of clusters to try, ascending; those beyond the objects a member sees go."""
        value = self.n_clusters
        if isinstance(value, Integral):
            wanted = {int(value)}
        elif isinstance(value, tuple) and len(value) == 2:
            wanted = set(range(value[0], value[1] + 1))
        else:
            wanted = {int(item) for item in value}
        seen = subset_size(self.max_samples, n_objects)
        fitting = sorted(k for k in wanted if k <= seen)
        if not fitting:
            raise InvalidParameterError(
                f"The 'n_clusters' parameter of {OWNER} must be at most the number of objects a "
                f"member sees, {seen} (max_samples={self.max_samples!r} of n_samples={n_objects}). "
                f"Got {value!r} instead. Ask for fewer clusters or raise max_samples."
            )
        if len(fitting) < len(wanted):
            warn(
                f"{OWNER} tries at most n_clusters={fitting[-1]}: a member sees only {seen} of "
                f"n_samples={n_objects} objects.",
            )
        return fitting

    def members(self, X: Any, k: int, seed: int) -> Ensemble:
        """Clusterings of resampled data into k clusters; equal seeds see equal resamples."""
        common = {
            "n_clusters": k,
            "max_samples": self.max_samples,
            "assign": "unseen",
            "random_state": seed,
            "n_jobs": self.n_jobs,
        }
        if self.clusterer is None:
            return KMeansEnsemble(self.n_resamples, init="k-means++", **common).generate(X)
        if hasattr(self.clusterer, "generate"):
            maker = clone(self.clusterer).set_params(n_members=self.n_resamples, **common)
            return maker.generate(X)
        maker = EstimatorEnsemble(self.clusterer, n_members=self.n_resamples, **common)
        return maker.generate(X)
