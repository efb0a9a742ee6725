"""What an engine can do: five passes over rows, and nothing else.

Everything else works on what these return, which is small: facts of columns, centres, labels,
counts. Whoever keeps rows in another place (a disk, a graphics card, a cluster) writes these
five, and has everything. Sums over objects are made over logical blocks of rows, added in a fixed
tree (`consilience.kernels._blocks`): every engine gives the same labels, and the same bits as
`Cpu` where it computes in float64.
"""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._parallel import Team
from consilience.kernels.data.columns import ColumnFacts
from consilience.kernels.kmeans.runs import Indices, KMeansRuns
from consilience.kernels.minority.blocks import Models, Objects
from consilience.kernels.minority.passes import Batch, Grading, Memory, Scale

__all__ = ["Engine"]


class Engine(Protocol):
    """Passes over the rows it was made for; see `engine_for`.

    ``n_jobs`` is the number of threads, None for one; no result depends on it.
    """

    def column_facts(
        self, *, objects: NDArray[np.integer[Any]] | None = None, n_jobs: int | None = None
    ) -> ColumnFacts:
        """Mean, variance, least and largest value of every column, of all objects or some."""
        ...

    def lloyd(
        self,
        starts: Sequence[NDArray[np.floating[Any]]],
        *,
        objects: Indices | None = None,
        features: Indices | None = None,
        batches: Sequence[NDArray[np.integer[Any]]] | None = None,
        max_iter: int = 100,
        tol: float = 0.0,
        spherical: bool = False,
        online: bool = False,
        assign_all: bool = True,
        n_jobs: int | None = None,
    ) -> KMeansRuns:
        """One k-means a start, each on its own objects and features, by mini-batches if given."""
        ...

    def assign(
        self,
        centres: Sequence[NDArray[np.floating[Any]]],
        *,
        features: Indices | None = None,
        n_jobs: int | None = None,
    ) -> NDArray[np.int32]:
        """Nearest centre of every object in every member, (n_members, n_objects).

        Ties go to the smaller index.
        """
        ...

    def repetitions(
        self,
        objects: Objects,
        models: Models,
        grading: Grading,
        scale: Scale,
        *,
        team: Team,
        memory: Memory,
        sizes: NDArray[np.float64] | None = None,
    ) -> Batch:
        """A batch of weak clusterings: sizes of their clusters, and scores of all objects.

        ``objects`` are the rows as the weak clusterer measures them, in blocks; see
        `consilience.kernels.minority.passes.repetitions`.
        """
        ...

    def pair_counts(
        self, *, with_seen: bool, condensed: bool = False, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """How many members joined each pair of objects, and how many saw it.

        For rows that are labels, (n_members, n_objects).
        """
        ...
