"""Rows in this machine's memory: compiled kernels, threads over blocks of rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.kernels._parallel import Team
from consilience.kernels.data.columns import ColumnFacts, column_facts
from consilience.kernels.kmeans.many import many_kmeans, nearest_of_many
from consilience.kernels.kmeans.minibatch import many_minibatch_kmeans
from consilience.kernels.kmeans.runs import Indices, KMeansRuns
from consilience.kernels.kmeans.scan import Sieve, make_sieve
from consilience.kernels.minority.blocks import Models, Objects
from consilience.kernels.minority.passes import Batch, Grading, Memory, Scale, repetitions
from consilience.kernels.pairs.counts import count_pairs, count_pairs_condensed

__all__ = ["Cpu"]


class Cpu:
    """The `Engine` for arrays and CSR matrices; keeps one single-precision copy for k-means."""

    def __init__(self, rows: Any) -> None:
        self._rows = rows if sparse.issparse(rows) else np.ascontiguousarray(rows)
        self._copy: Sieve | None = None

    def column_facts(
        self, *, objects: NDArray[np.integer[Any]] | None = None, n_jobs: int | None = None
    ) -> ColumnFacts:
        """See `Engine.column_facts`."""
        return column_facts(self._rows, rows=objects, n_jobs=n_jobs)

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
        """See `Engine.lloyd`."""
        common: dict[str, Any] = {
            "rows": objects,
            "features": features,
            "spherical": spherical,
            "assign_all": assign_all,
            "n_jobs": n_jobs,
            "sieve": self._sieve(n_jobs),
        }
        if batches is not None:
            return many_minibatch_kmeans(self._rows, starts, batches, **common)
        return many_kmeans(self._rows, starts, max_iter=max_iter, tol=tol, online=online, **common)

    def assign(
        self,
        centres: Sequence[NDArray[np.floating[Any]]],
        *,
        features: Indices | None = None,
        n_jobs: int | None = None,
    ) -> NDArray[np.int32]:
        """See `Engine.assign`."""
        sieve = self._sieve(n_jobs)
        return nearest_of_many(self._rows, centres, features=features, n_jobs=n_jobs, sieve=sieve)

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
        """See `Engine.repetitions`."""
        return repetitions(objects, models, grading, scale, team=team, memory=memory, sizes=sizes)

    def pair_counts(
        self, *, with_seen: bool, condensed: bool = False, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """See `Engine.pair_counts`."""
        count = count_pairs_condensed if condensed else count_pairs
        return count(self._rows, with_seen=with_seen, n_jobs=n_jobs)

    def _sieve(self, n_jobs: int | None) -> Sieve | None:
        if self._copy is None and not sparse.issparse(self._rows):
            self._copy = make_sieve(self._rows, n_jobs)
        return self._copy
