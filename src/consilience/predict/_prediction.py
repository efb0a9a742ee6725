"""What is said of new objects."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience._words import plural

__all__ = ["Prediction"]


@dataclass(frozen=True, eq=False, repr=False)
class Prediction:
    """The groups of new objects.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        Group of each object; -1 for one that only clusters of noise are near to.
    confidence : ndarray of shape (n_objects,)
        Mean co-association with the group over that and the best other one: 1 is sure, 0.5
        torn between two.
    runner_up : ndarray of shape (n_objects,), int32
        The group that comes next; -1 where nothing speaks for any other.
    unlike : ndarray of shape (n_objects,), bool
        Whether no member finds it near: unlike anything seen, whatever the label. Of ordinary
        objects up to about one of fifty are flagged too.
    known : ndarray of shape (n_objects,), bool
        Whether the same row was clustered: it has the label it had.
    notes : tuple of str
        What is to be said of the table: columns matched, left out or in another unit.
    index : pandas index or None
        Of the frame the objects came in.
    """

    labels: NDArray[np.int32]
    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    unlike: NDArray[np.bool_]
    known: NDArray[np.bool_]
    notes: tuple[str, ...] = ()
    index: Any = None

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return "\n".join([f"Prediction: {self.in_words()}", *(f"  {n}" for n in self.notes)])

    def in_words(self) -> str:
        """Objects, those known and those unlike anything seen, in a line."""
        parts = [plural(len(self), "object")]
        groups = np.unique(self.labels[self.labels >= 0])
        parts.append(f"in {plural(len(groups), 'group')}")
        parts += [f"{int(self.known.sum())} known"] if self.known.any() else []
        unlike = int(self.unlike.sum())
        parts += [f"{unlike} unlike anything seen"] if unlike else []
        return ", ".join(parts)

    def to_pandas(self) -> Any:
        """A pandas frame with cluster, confidence, runner_up, unlike and known of each object."""
        pandas = optional("pandas", extra=None, what="Prediction.to_pandas")
        columns = {
            "cluster": self.labels,
            "confidence": self.confidence,
            "runner_up": self.runner_up,
            "unlike": self.unlike,
            "known": self.known,
        }
        return pandas.DataFrame(columns, index=self.index)
