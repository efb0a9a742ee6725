"""Single moves of a local search: visits in random order, the choice of a cluster, room.

What joining costs is kept by a state (`JoinTables`, `JoinPairs`); here is what is done with it.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

__all__ = ["FULL", "Found", "State", "choose", "search"]

Floats = NDArray[np.float64]

# What a sweep answers when an object wants a cluster of its own and there is no room for it.
FULL = -2


class Found(NamedTuple):
    """Where a search ended: labels, sweeps, whether none was left to move, whether room ran out."""

    labels: NDArray[np.int32]
    n_iter: int
    converged: bool
    full: bool


class State(Protocol):
    """What a search keeps beside the labels."""

    def sweep(
        self, labels: Any, order: Any, first: int, cap: int, heat: float, draws: Floats
    ) -> tuple[int, int]:
        """Visit objects from place ``first``: where it stopped for want of room, moves made."""

    def widen(self) -> bool:
        """Make room for more clusters; False if there is no memory for it."""

    @property
    def room(self) -> int:
        """Clusters there is room for."""


def search(
    state: State,
    labels: NDArray[np.int32],
    *,
    cap: int,
    rng: np.random.Generator,
    max_iter: int,
    heat: float = 0.0,
    cooling: float = 0.9,
) -> Found:
    """Move single objects, in random order, until no move lowers the cost.

    Parameters
    ----------
    state : JoinTables or JoinPairs
        Made from these labels; changed.
    labels : (n_objects,) int32
        A start; negative: in no cluster yet, goes to the best one (or a new one) on its
        first visit. Changed in place.
    cap : int
        Most clusters.
    rng : Generator
        Order of the visits, and moves while it is hot.
    max_iter : int
        Most sweeps, hot and cold ones each.
    heat : float, default=0
        Temperature of the first sweep, in the units of the state's costs. While it is above
        zero an object tries one random cluster and moves there with probability
        exp(-rise / heat); each sweep multiplies it by ``cooling``.
    """
    n = len(labels)
    order = rng.permutation(n)
    cold = np.empty((2, 0))
    n_iter, full = 0, False
    for _ in range(max_iter if heat > 0 else 0):
        moves, full = _whole_sweep(state, labels, order, cap, heat, rng.random((2, n)))
        n_iter += 1
        heat *= cooling
        if moves == 0:
            break
    for _ in range(max_iter):
        moves, no_room = _whole_sweep(state, labels, order, cap, 0.0, cold)
        n_iter += 1
        full = full or no_room
        if moves == 0:
            return Found(labels, n_iter, True, full)
    return Found(labels, n_iter, False, full)


def _whole_sweep(
    state: State, labels: Any, order: Any, cap: int, heat: float, draws: Floats
) -> tuple[int, bool]:
    """One visit to every object: moves made, and whether there was no room for more clusters."""
    place, moves, full = 0, 0, False
    while place < len(order):
        limit = min(cap, state.room) if full else cap
        place, moved = state.sweep(labels, order, place, limit, heat, draws)
        moves += moved
        if place < len(order):
            full = not state.widen()
    return moves, full


@njit(cache=True, nogil=True)
def choose(costs, sizes, here, weight, cap, slack, heat, draw, chance):
    """The cluster an object goes to: ``here`` to stay, FULL if it wants one more than fit.

    ``costs`` leave the object itself out; a cluster of its own costs nothing. A move must
    gain more than ``slack``.
    """
    n_used, best, empty = 0, -1, FULL
    for q in range(sizes.shape[0]):
        if sizes[q] == 0:
            empty = q if empty == FULL else empty
            continue
        n_used += 1
        if q != here and (best < 0 or costs[q] < costs[best]):
            best = q
    may_open = n_used < cap and (here < 0 or sizes[here] > weight)
    if heat > 0 and here >= 0:
        return _try_one(costs, sizes, here, weight, n_used, may_open, empty, heat, draw, chance)
    if best >= 0 and (not may_open or costs[best] <= 0):
        target, cost = best, costs[best]
    elif may_open:
        target, cost = empty, costs[0] * 0
    else:
        return here
    return target if here < 0 or cost < costs[here] - slack else here


@njit(cache=True, nogil=True)
def _try_one(costs, sizes, here, weight, n_used, may_open, empty, heat, draw, chance):
    """A random other cluster, or a new one, taken if the rise in cost is by chance accepted."""
    n_targets = n_used - 1 + may_open
    if n_targets == 0:
        return here
    skip = int(draw * n_targets)
    target, cost = empty, 0.0
    if skip < n_used - 1:
        target = -1
        while skip >= 0:
            target += 1
            if target != here and sizes[target] > 0:
                skip -= 1
        cost = float(costs[target])
    rise = (cost - costs[here]) * weight
    return target if rise <= 0 or chance < np.exp(-rise / heat) else here
