"""Repetitions that are kept while they are counted, so that an interrupted run can go on."""

import time
from typing import Any

import numpy as np

from consilience.generate.checkpoint import REPETITIONS
from consilience.minority._stopping import Progress
from consilience.minority.scores import Running
from consilience.minority.weak import WeakClusterer

__all__ = ["KeptRepetitions"]

# Seconds of work that may be lost: sums of many objects take a while to write.
_PAUSE = 30.0


class KeptRepetitions:
    """Sums over the repetitions so far, in a file that is whole or not there.

    Parameters
    ----------
    keeper : KeptPieces or None
        Where they are kept; None keeps nothing.
    """

    def __init__(self, keeper: Any) -> None:
        self._keeper, self._last = keeper, time.monotonic()

    def restore(self, running: Running, progress: Progress, weak: WeakClusterer, seed: int) -> None:
        """Fill sums that are empty with those that were kept, if there are any."""
        kept = None if self._keeper is None else self._keeper.get(REPETITIONS)
        if kept is None or running.n_repetitions:
            return
        running.total[:], running.squares[:] = kept["total"], kept["squares"]
        running.shift = float(kept["shift"])
        running.changes = kept["changes"].tolist()
        # Draws follow from the seed and their number.
        running.draws = [weak.draw(seed, number) for number in range(int(kept["n"]))]
        running.sizes = np.split(kept["sizes"], np.cumsum(kept["lengths"])[:-1])
        progress.seen = [(int(R), float(r), float(c)) for R, r, c in kept["seen"]]

    def keep(self, running: Running, progress: Progress, *, now: bool) -> None:
        """Write the sums, unless that was done a moment ago."""
        if self._keeper is None or not (now or time.monotonic() - self._last >= _PAUSE):
            return
        arrays = {
            "n": np.array(running.n_repetitions),
            "total": np.asarray(running.total),
            "squares": np.asarray(running.squares),
            "shift": np.array(running.shift),
            "changes": np.array(running.changes, np.float64),
            "sizes": np.concatenate(running.sizes),
            "lengths": np.array([len(own) for own in running.sizes], np.int64),
            "seen": np.array(progress.seen, np.float64).reshape(-1, 3),
        }
        self._keeper.put(REPETITIONS, arrays)
        self._last = time.monotonic()
