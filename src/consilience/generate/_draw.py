"""What a member is made of: its number of clusters, its objects, its features.

Everything about a member follows from its own seed, so members can be made anywhere, in
any order, by any number of workers.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._validation import Interval, Options, Satisfies
from consilience.errors import InvalidParameterError

Indices = NDArray[np.int64]

_RULES = {"sqrt/2": lambda n: math.sqrt(n) / 2, "sqrt": math.sqrt}


def _is_choice(value: Any) -> bool:
    """Whether a value says how many clusters members have (see `N_CLUSTERS`)."""
    whole = Interval(Integral, 1)
    rule = Options(tuple(_RULES))
    if isinstance(value, tuple) and len(value) == 2:
        return all(whole.accepts(end) or rule.accepts(end) for end in value)
    if isinstance(value, list):
        return bool(value) and all(whole.accepts(item) for item in value)
    return whole.accepts(value) or rule.accepts(value)


def _is_share(value: Any) -> bool:
    """Whether a value says how much a member sees (see `SHARE`)."""
    share = Interval(Real, 0, 1, open_low=True)
    if isinstance(value, tuple) and len(value) == 2:
        return all(share.accepts(end) and not isinstance(end, Integral) for end in value)
    if isinstance(value, Integral):
        return Interval(Integral, 1).accepts(value)
    return share.accepts(value)


N_CLUSTERS = Satisfies(
    _is_choice,
    "a whole number at least 1, a range (low, high), a list of whole numbers to take in turn, "
    "or a rule such as ('sqrt/2', 'sqrt') of the number of objects",
)
SHARE = Satisfies(
    _is_share,
    "a share above 0 and at most 1, a whole number at least 1, or a range of shares (low, high)",
)


@dataclass(frozen=True)
class Clusters:
    """How many clusters members have, resolved for a number of objects."""

    low: int
    high: int
    turns: tuple[int, ...] = ()

    @classmethod
    def resolve(cls, value: Any, n_objects: int, *, owner: str) -> "Clusters":
        """Resolve the ``n_clusters`` parameter of a generator."""
        if isinstance(value, list):
            return cls(min(value), max(value), tuple(int(item) for item in value))
        low, high = value if isinstance(value, tuple) else (value, value)
        clusters = cls(_count(low, n_objects), _count(high, n_objects))
        if clusters.low > clusters.high:
            raise InvalidParameterError(
                f"The 'n_clusters' parameter of {owner} must be a range (low, high) with "
                f"low <= high. Got {value!r} instead. Swap the two ends."
            )
        return clusters

    def draw(self, rng: np.random.Generator, turn: int) -> int:
        """Number of clusters of one member."""
        if self.turns:
            return self.turns[turn % len(self.turns)]
        return int(rng.integers(self.low, self.high + 1))


def _count(end: int | str, n_objects: int) -> int:
    """One end of a range; a rule never asks for fewer than two clusters."""
    if isinstance(end, str):
        return max(min(2, n_objects), int(_RULES[end](n_objects) + 0.5))
    return int(end)


def draw_subset(
    rng: np.random.Generator, share: float | int | tuple[float, float], total: int
) -> Indices | None:
    """Sorted numbers of the objects or features a member sees; None for all of them."""
    if isinstance(share, tuple):
        share = float(rng.uniform(*share))
    size = subset_size(share, total)
    if size == total:
        return None
    return np.sort(rng.choice(total, size, replace=False))


def subset_size(share: float | int | tuple[float, float], total: int) -> int:
    """Size of a subset: rounded up, as the published figures need; the least of a range."""
    if isinstance(share, tuple):
        share = min(share)
    if isinstance(share, Integral):
        return min(int(share), total)
    # A share such as 0.7 of 10 must not become 8 through 0.7 * 10 = 7.000000000000001.
    return max(1, math.ceil(round(float(share) * total, 9)))


def check_fits(generator: Any, clusters: Clusters | None, shape: tuple[int, int]) -> None:
    """Raise unless every member of a generator finds the objects and features it asks for."""
    owner = type(generator).__name__
    n_objects, n_features = shape
    check_share("max_samples", generator.max_samples, "objects, n_samples", n_objects, owner)
    check_share("max_features", generator.max_features, "features, n_features", n_features, owner)
    seen = subset_size(generator.max_samples, n_objects)
    if clusters is not None and clusters.high > seen:
        raise InvalidParameterError(
            f"The 'n_clusters' parameter of {owner} must be at most the number of objects a member "
            f"sees, {seen} (max_samples={generator.max_samples!r} of n_samples={n_objects}). "
            f"Got {generator.n_clusters!r} instead. Ask for fewer clusters or raise max_samples."
        )


def check_share(name: str, value: Any, noun: str, total: int, owner: str) -> None:
    """Raise unless the ends of a range are in order, and a number is at most the whole."""
    if isinstance(value, tuple) and value[0] > value[1]:
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must be a range (low, high) with low <= high. "
            f"Got {value!r} instead. Swap the two ends."
        )
    if isinstance(value, Integral) and int(value) > total:
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must be at most the number of {noun}={total}. "
            f"Got {value} instead."
        )


def member_seeds(random_state: Any, n_members: int) -> list[int]:
    """One seed a member, fixed before any work starts."""
    rng = check_random_state(random_state)
    return [int(seed) for seed in rng.randint(2**31 - 1, size=n_members)]


def in_groups(items: Sequence[Any], size: int) -> list[Sequence[Any]]:
    """Consecutive groups of at most ``size`` items."""
    return [items[start : start + size] for start in range(0, len(items), size)]
