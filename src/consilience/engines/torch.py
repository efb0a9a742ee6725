"""Rows on a torch device: passes in plain torch, or in Triton where that is there and faster.

Labels, pair counts and column facts are those of `Cpu` to the bit; scores of weak clusterings are
equal to rounding. What a device has no gain from (mini-batches of a hundred objects, single
objects moved one after another, k-means of sparse rows) is left to `Cpu`, which `ran_on` tells.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience.engines._device import columns, kmeans, pairs, weak
from consilience.engines._device._torch import torch
from consilience.engines.cpu import Cpu
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels._parallel import Team
from consilience.kernels.data.columns import ColumnFacts
from consilience.kernels.kmeans.runs import Indices, KMeansRuns, join_runs
from consilience.kernels.minority.blocks import BLOCK, Models, Objects
from consilience.kernels.minority.passes import Batch, Grading, Memory, Scale
from consilience.kernels.pairs.compare import count_type

__all__ = ["Torch", "device_of", "rule_of"]


class Torch:
    """The `Engine` of a torch device.

    Parameters
    ----------
    rows : ndarray, CSR matrix or torch tensor of shape (n_objects, n_features); or labels
        What is not on the device yet is copied there.
    device : str or torch device, optional
        None is that of the tensor.

    Attributes
    ----------
    ran_on : dict of str to str
        Where each pass ran that was asked for: "cpu" or the device's name.
    """

    def __init__(self, rows: Any, device: Any = None) -> None:
        held = isinstance(rows, torch.Tensor)
        self.device = device_of(rows.device if device is None and held else device)
        self._host = rows.detach().cpu().numpy() if held and rows.device.type == "cpu" else rows
        self._rows = rows if held else None
        self._table: kmeans.Table | None = None
        self._cpu: Cpu | None = None
        self.ran_on: dict[str, str] = {}

    def column_facts(
        self, *, objects: NDArray[np.integer[Any]] | None = None, n_jobs: int | None = None
    ) -> ColumnFacts:
        """See `Engine.column_facts`."""
        if sparse.issparse(self._host):
            return self._left("column_facts").column_facts(objects=objects, n_jobs=n_jobs)
        self._note("column_facts")
        facts = columns.column_facts(self._tensor(), objects)
        return ColumnFacts(*(_host(one) for one in facts))

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
        if batches is not None or online or sparse.issparse(self._host):
            return self._left("lloyd").lloyd(
                starts, objects=objects, features=features, batches=batches, max_iter=max_iter,
                tol=tol, spherical=spherical, online=online, assign_all=assign_all, n_jobs=n_jobs,
            )  # fmt: skip
        self._note("lloyd")
        table, found = self._k_means_table(), []
        for m, start in enumerate(starts):
            own = None if objects is None else objects[m]
            seen = None if features is None else features[m]
            found.append(
                kmeans.lloyd(
                    table,
                    self._there(np.asarray(start, np.float64)),
                    objects=None if own is None else self._there(own),
                    features=None if seen is None else self._there(seen),
                    max_iter=max_iter,
                    tol=tol * self._mean_variance(own, seen) if tol > 0 else 0.0,
                    spherical=spherical,
                    assign_all=assign_all,
                )
            )
        labels = np.empty((len(found), len(table.rows)), np.int32)
        for m, one in enumerate(found):
            labels[m] = _host(one.labels)
        ends = [(_host(one.centres), one.inertia, one.n_iter, one.converged) for one in found]
        return join_runs(labels, ends)

    def assign(
        self,
        centres: Sequence[NDArray[np.floating[Any]]],
        *,
        features: Indices | None = None,
        n_jobs: int | None = None,
    ) -> NDArray[np.int32]:
        """See `Engine.assign`."""
        if sparse.issparse(self._host):
            return self._left("assign").assign(centres, features=features, n_jobs=n_jobs)
        self._note("assign")
        table = self._k_means_table()
        labels = np.empty((len(centres), len(table.rows)), np.int32)
        for m, own in enumerate(centres):
            seen = None if features is None else features[m]
            there = None if seen is None else self._there(seen)
            labels[m] = _host(kmeans.assign(table, self._there(np.asarray(own, np.float64)), there))
        return labels

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
        """See `Engine.repetitions`; threads and memory are the device's own."""
        self._note("repetitions")
        matrix = self._there(side_by_side(objects))
        there = weak.Objects(matrix, self._there(objects.rows), self.device)
        seeds = weak.Seeds(
            self._there(seeds_of(models, matrix.shape[1], wide=len(objects.matrix) > 2)),
            self._there(models.columns),
            models.bounds.tolist(),
        )
        given = None if sizes is None else self._there(sizes)
        found = weak.repetitions(there, seeds, rule_of(grading, scale), given)
        return Batch(*(_host(one) for one in found))

    def pair_counts(
        self, *, with_seen: bool, condensed: bool = False, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """See `Engine.pair_counts`."""
        self._note("pair_counts")
        members = self._tensor()
        joined, seen = pairs.pair_counts(members, with_seen=with_seen, condensed=condensed)
        kind = count_type(len(members))
        return (
            _host(joined).astype(kind, copy=False),
            None if seen is None else _host(seen).astype(kind, copy=False),
        )

    def _note(self, name: str) -> None:
        self.ran_on[name] = str(self.device)

    def _left(self, name: str) -> Cpu:
        """The engine of what is better done in the memory of the host."""
        self.ran_on[name] = "cpu"
        if self._cpu is None:
            self._cpu = Cpu(
                _host(self._host) if isinstance(self._host, torch.Tensor) else self._host
            )
        return self._cpu

    def _there(self, values: Any) -> Any:
        """An array on the device."""
        return torch.as_tensor(np.ascontiguousarray(values)).to(self.device)

    def _tensor(self) -> Any:
        """The rows on the device."""
        if self._rows is None:
            self._rows = self._there(self._host)
        elif self._rows.device != self.device:
            self._rows = self._rows.to(self.device)
        return self._rows

    def _k_means_table(self) -> kmeans.Table:
        if self._table is None:
            rows = self._tensor()
            if not bool(torch.isfinite(rows).all()):
                raise InvalidInputError("X must hold finite numbers. Got NaN or infinity in it.")
            mean, _, low, high = columns.column_facts(rows)
            self._table = kmeans.Table(rows, mean, low, high)
        return self._table

    def _mean_variance(self, objects: Any, features: Any) -> float:
        """Mean variance of the columns a member works on."""
        variance = columns.column_facts(self._tensor(), objects)[1]
        return float((variance if features is None else variance[self._there(features)]).mean())


def device_of(device: Any) -> Any:
    """The torch device of that name.

    Raises
    ------
    InvalidParameterError
        If torch knows no such device, or there is none here.
    """
    try:
        found = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InvalidParameterError(
            f"The 'device' parameter must be the name of a torch device, such as 'cuda' or 'cpu'. "
            f"Got {device!r} instead."
        ) from error
    if found.type == "cuda" and not torch.cuda.is_available():
        raise InvalidParameterError(
            f"The 'device' parameter is {device!r}, but torch {torch.__version__} sees no CUDA "
            "device here. Leave 'device' out to use the processor, or install a torch with CUDA."
        )
    if found.type == "cuda" and found.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    return found


def rule_of(grading: Grading, scale: Scale) -> weak.Rule:
    """Grading and scale as the passes of a device take them."""
    common: dict[str, Any] = {
        "n_objects": scale.n_objects,
        "logs": scale.logs,
        "floors": scale.floors,
    }
    if grading.kind == "hard":
        return weak.Rule("hard", tie=float(grading.kernel[0]), **common)
    if grading.kind == "softmax":
        return weak.Rule("softmax", **common)
    alpha, gamma = (float(np.ravel(one)[0]) for one in grading.kernel[:2])
    # "near" is "gaussian" by the pairs that matter; it has twice alpha.
    alpha = alpha / 2 if grading.kind == "near" else alpha
    return weak.Rule("gaussian", alpha=alpha, gamma=gamma, **common)


def side_by_side(objects: Objects) -> NDArray[Any]:
    """The objects' matrix, (n_objects, p), from blocks or from the parts of a CSR matrix."""
    n = len(objects.rows)
    if len(objects.matrix) > 2:
        data, indices, indptr, p = objects.matrix
        return sparse.csr_array((data, indices, indptr), shape=(n, p)).toarray()
    values, p = objects.matrix
    out = np.empty((n, p), values.dtype)
    for start in range(0, n, BLOCK):
        stop = min(start + BLOCK, n)
        out[start:stop] = values[start * p : stop * p].reshape(p, stop - start).T
    return out


def seeds_of(models: Models, p: int, *, wide: bool) -> NDArray[Any]:
    """Seeds of all repetitions as one matrix, (n_seeds, p)."""
    if not wide:
        return models.seeds.reshape(-1, p)
    parts = [models.seeds[a * p : b * p].reshape(p, b - a).T for a, b in pairwise(models.bounds)]
    return np.concatenate(parts)


def _host(values: Any) -> NDArray[Any]:
    return np.asarray(values.cpu().numpy())
