"""A bounded store of rows that follows merges lazily.

Stored rows must follow every merge (two entries become one), but most rows are not looked at
for a long time. So merges go into a log, and a row catches up when it is wanted. Rows of
merged clusters are the sums of rows, hence free; a row that was put out for want of room is
summed again from the labels. What is stored changes time, never a result.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._jit import compiled

# Rows one step needs at once: two clusters that merge, and one more.
FEWEST_ROWS = 3


class RowStore:
    """Rows of the most expensive clusters, at most ``max_memory`` bytes of them.

    ``worth`` of a row decides who stays when there is no room: the smallest goes.
    """

    def __init__(self, n_slots: int, max_memory: int) -> None:
        n_rows = min(n_slots, max(FEWEST_ROWS, max_memory // (8 * n_slots)))
        self._buffer = np.empty(n_rows * n_slots, np.int64)
        self._start_over(n_slots)

    def _start_over(self, n_slots: int) -> None:
        """Empty the store and set it up for rows of this length."""
        self.n_slots = n_slots
        capacity = min(n_slots, self._buffer.size // n_slots)
        self._rows = self._buffer[: capacity * n_slots].reshape(capacity, n_slots)
        self._place_of = np.full(n_slots, -1)
        self._slot_at = np.full(capacity, -1)
        self._worth = np.zeros(capacity, np.int64)
        self._synced = np.zeros(capacity, np.int64)
        self._free: list[int] = []
        self._used = 0
        self._log = np.empty((n_slots, 2), np.int64)
        self._log_length = 0

    def find(self, slot: int) -> NDArray[np.int64] | None:
        """The row of a slot, up to date, or None if it is not here."""
        place = self._place_of[slot]
        if place < 0:
            return None
        self._catch_up(place)
        row: NDArray[np.int64] = self._rows[place]
        return row

    def make_room(self, slot: int, worth: int) -> NDArray[np.int64]:
        """Room for the row of a slot, to be filled as of now; may put out another row."""
        if self._free:
            place = self._free.pop()
        elif self._used < len(self._rows):
            place = self._used
            self._used += 1
        else:
            place = int(np.argmin(self._worth))
            self._place_of[self._slot_at[place]] = -1
        self._place_of[slot], self._slot_at[place] = place, slot
        self._worth[place], self._synced[place] = worth, self._log_length
        row: NDArray[np.int64] = self._rows[place]
        return row

    def set_worth(self, slot: int, worth: int) -> None:
        """Change what a stored row is worth."""
        if self._place_of[slot] >= 0:
            self._worth[self._place_of[slot]] = worth

    def merge(self, kept: int, gone: int, worth: int) -> None:
        """Add the row of slot ``gone`` to that of ``kept`` (both are here) and log the merge."""
        place, other = self._place_of[kept], self._place_of[gone]
        self._catch_up(place)
        self._catch_up(other)
        self._rows[place] += self._rows[other]
        self._log[self._log_length] = kept, gone
        self._log_length += 1
        self._place_of[gone], self._slot_at[other] = -1, -1
        self._free.append(int(other))
        self._worth[place] = worth

    def squeeze(self, keep: NDArray[np.integer[Any]]) -> None:
        """Number the slots anew: slot keep[t] becomes t; rows shrink, so there is more room."""
        places = np.flatnonzero(self._slot_at >= 0)
        for place in places:
            self._catch_up(int(place))
        renumbered = np.searchsorted(keep, self._slot_at[places])
        worth = self._worth[places]
        _squeeze_rows(self._buffer, self.n_slots, places, keep)
        self._start_over(keep.size)
        self._used = places.size
        self._place_of[renumbered] = np.arange(places.size)
        self._slot_at[: places.size] = renumbered
        self._worth[: places.size] = worth

    def _catch_up(self, place: int) -> None:
        """Apply the merges a row has missed."""
        if self._synced[place] < self._log_length:
            _follow(self._rows[place], self._log[self._synced[place] : self._log_length])
            self._synced[place] = self._log_length


@compiled(plain_up_to=20_000)
def _follow(row, log):
    """Apply merges to a row: the kept slot takes the other's entry."""
    for t in range(log.shape[0]):
        row[log[t, 0]] += row[log[t, 1]]


@compiled(plain_up_to=500_000)
def _squeeze_rows(buffer, n_slots, places, keep):
    """Move the kept entries of the rows to the front of the buffer, in place.

    No entry moves to the right and rows go in ascending order, so nothing is overwritten
    before it is read.
    """
    for p in range(places.shape[0]):
        source, target = places[p] * n_slots, p * keep.shape[0]
        for t in range(keep.shape[0]):
            buffer[target + t] = buffer[source + keep[t]]
