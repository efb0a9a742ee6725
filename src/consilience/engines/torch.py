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

from consilience._labels import smallest_type
from consilience.engines._device import (
    beyond,
    columns,
    kmeans,
    label_kmeans,
    labels,
    many,
    pairs,
    plain,
    tree,
    weak,
)
from consilience.engines._device._torch import kernels_for, torch
from consilience.engines._device.memory import fetched, memory_of
from consilience.engines._device.overlap import overlap_sums
from consilience.engines._staying import staying
from consilience.engines.cpu import Cpu
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels._parallel import Team
from consilience.kernels.data.columns import ColumnFacts
from consilience.kernels.kmeans.runs import Indices, KMeansRuns, join_runs
from consilience.kernels.minority.blocks import BLOCK, Models, Objects
from consilience.kernels.minority.passes import Batch, Grading, Memory, Scale
from consilience.kernels.pairs.compare import count_type
from consilience.kernels.pairs.counts import nearest_pairs

__all__ = [
    "Torch",
    "device_of",
    "devices",
    "label_problem",
    "label_rows",
    "overlap_sums",
    "pairs_fit",
    "rule_of",
    "tables_fit",
]

_NOT_FINITE = "X must hold finite numbers. Got NaN or infinity in it."
# Bytes of tables of all pairs of clusters (some 17,000 of them) that are made on a device.
_TABLES = 8 << 30
# Members whose shares are ranked for a spanning tree.
_MOST_RANKED = 4000
# torch's integers by their bytes, asked for when torch is there.
_NARROW = {1: lambda: torch.int8, 2: lambda: torch.int16, 4: lambda: torch.int32}


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
        self._digits: many.Digits | None = None
        self._beyond: beyond.HostTable | None = None
        self._cpu: Cpu | None = None
        self.ran_on: dict[str, str] = {}

    def column_facts(
        self, *, objects: NDArray[np.integer[Any]] | None = None, n_jobs: int | None = None
    ) -> ColumnFacts:
        """See `Engine.column_facts`."""
        if sparse.issparse(self._host) or (objects is not None and self._is_beyond()):
            return self._left("column_facts").column_facts(objects=objects, n_jobs=n_jobs)
        self._note("column_facts")
        if self._is_beyond():
            return ColumnFacts(*(_host(one) for one in self._host_table().facts))
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
        tasks = [
            (
                self._there(np.asarray(start, np.float64)),
                self._index(objects, m),
                self._index(features, m),
                tol * self._mean_variance(objects, features, m) if tol > 0 else 0.0,
            )
            for m, start in enumerate(starts)
        ]
        common = {"max_iter": max_iter, "spherical": spherical, "assign_all": assign_all}
        results = self._many_runs(tasks, common)
        most = max((len(one.centres) for one in results), default=1)
        # As narrow as an ensemble keeps them: they are most of what travels.
        placed = np.empty((len(results), len(self._host)), smallest_type(most))
        for m, one in enumerate(results):
            placed[m] = _host(one.labels.to(_NARROW[placed.itemsize]()))
        sizes = [_host(_counted(one.labels, len(one.centres))) for one in results]
        ends = [(_host(one.centres), one.inertia, one.n_iter, one.converged) for one in results]
        return join_runs(placed, ends)._replace(sizes=sizes)

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
        there = [self._there(np.asarray(one, np.float64)) for one in centres]
        seen = [self._index(features, m) for m in range(len(there))]
        kernels = self._kernels(there)
        if self._is_beyond():
            nearest = beyond.assign_beyond(self._host_table(), kernels or plain, there, seen)
        elif kernels is not None:
            nearest = many.assign_many(self._digits_table(), kernels, there, seen)
        else:
            table = self._k_means_table()
            nearest = [kmeans.assign(table, *one) for one in zip(there, seen, strict=True)]
        placed = np.empty((len(nearest), len(self._host)), np.int32)
        for m, one in enumerate(nearest):
            placed[m] = _host(one)
        return placed

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
        matrix, p = self._there(side_by_side(objects)), int(objects.matrix[-1])
        # Seeds may be anything: only products of the objects' own type are known to be right.
        there = weak.narrowed(matrix, self._there(objects.rows), self.device, widest="float32")
        own = np.zeros((len(models.columns), there.matrix.shape[1]), models.seeds.dtype)
        own[:, :p] = seeds_of(models, p, wide=len(objects.matrix) > 2)
        seeds = weak.Seeds(
            self._there(own),
            self._there(models.columns),
            models.bounds.tolist(),
        )
        given = None if sizes is None else self._there(sizes)
        batch = weak.repetitions(there, seeds, rule_of(grading, scale), given)
        return Batch(*(_host(one).astype(np.float64, copy=False) for one in batch))

    def pair_counts(
        self, *, with_seen: bool, condensed: bool = False, n_jobs: int | None = None
    ) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """See `Engine.pair_counts`.

        Tables larger than the device go to the host in blocks of rows; labels so many that they
        are too large themselves are left to the processor.
        """
        if not self._hot_fits():
            return self._left("pair_counts").pair_counts(
                with_seen=with_seen, condensed=condensed, n_jobs=n_jobs
            )
        self._note("pair_counts")
        fits = pairs_fit(self._host, self.device, 2 if with_seen else 1)
        members = self._tensor()
        joined, seen = pairs.pair_counts(
            members,
            with_seen=with_seen,
            condensed=condensed,
            most=pairs.counts_at_once(memory_of(self.device)),
            here=not fits,
        )
        kind = count_type(len(members))
        return (
            fetched(joined, n_jobs).astype(kind, copy=False),
            None if seen is None else fetched(seen, n_jobs).astype(kind, copy=False),
        )

    def nearest_pairs(
        self, k: int, *, by_pair: bool
    ) -> tuple[NDArray[np.int32], NDArray[Any], NDArray[Any] | None]:
        """The k objects with the largest co-association for each, with their counts.

        As `consilience.kernels.pairs.counts.nearest_pairs`; ``by_pair`` divides by the members
        that saw both. For rows that are labels; beyond what all engines can do.
        """
        if not self._hot_fits():
            self._left("nearest_pairs")
            return nearest_pairs(self._host, k, missing="pair" if by_pair else "all")
        self._note("nearest_pairs")
        members, most = self._tensor(), pairs.counts_at_once(memory_of(self.device))
        indices, joined, seen = pairs.nearest_pairs(members, k, by_pair=by_pair, most=most)
        kind = count_type(len(members))
        counted: NDArray[Any] | None = None if seen is None else _host(seen).astype(kind)
        return _host(indices).astype(np.int32), _host(joined).astype(kind), counted

    def spanning_tree(
        self, *, by_pair: bool
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """Edges of a minimum spanning tree of the co-association: ends and distances.

        As `consilience.kernels.links.prim.minimum_spanning_tree`, ties and all; ``by_pair`` divides
        by the members that saw both. For rows that are labels; beyond what all engines can do.
        """
        self._note("spanning_tree")
        members = self._tensor()
        order, parent, similarity = tree.prim_order(members, by_pair=by_pair)
        share = similarity if by_pair else similarity / len(members)
        return parent[1:], order[1:], (1.0 - share)[1:]

    def _hot_fits(self) -> bool:
        """Whether a device has room for labels as zeros and ones."""
        limit = memory_of(self.device)
        if limit is None or not isinstance(self._host, np.ndarray):  # there already
            return True
        return pairs.hot_bytes(self._host) <= limit

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
        array = np.ascontiguousarray(values)
        # torch warns of tensors that share memory nobody may write to.
        return torch.as_tensor(array if array.flags.writeable else array.copy()).to(self.device)

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
                raise InvalidInputError(_NOT_FINITE)
            mean, _, low, high = columns.column_facts(rows)
            self._table = kmeans.Table(rows, mean, low, high)
        return self._table

    def _is_beyond(self) -> bool:
        """Whether k-means of these rows needs more than the device may hold."""
        if self._rows is not None or sparse.issparse(self._host):
            return False  # there already
        limit = memory_of(self.device)
        (n, d), size = self._host.shape, self._host.dtype.itemsize
        return limit is not None and n * beyond.row_bytes(d, size) > limit

    def _host_table(self) -> beyond.HostTable:
        if self._beyond is None:
            if not np.isfinite(self._host).all():
                raise InvalidInputError(_NOT_FINITE)
            limit = memory_of(self.device)
            assert limit is not None
            self._beyond = beyond.HostTable(self._host, self.device, limit)
        return self._beyond

    def _digits_table(self) -> many.Digits:
        if self._digits is None:
            self._digits = many.Digits(self._k_means_table())
        return self._digits

    def _kernels(self, starts: Sequence[Any]) -> Any:
        """Triton kernels, if they are there and can work on members that start there."""
        most = max((len(start) for start in starts), default=0)
        return kernels_for(self.device) if most <= many.MOST_CLUSTERS else None

    def _many_runs(self, tasks: Sequence[Any], common: dict[str, Any]) -> list[kmeans.Fitted]:
        """One k-means a task of start, objects, features and tolerance."""
        if not tasks:
            return []
        starts, objects, features, tols = zip(*tasks, strict=True)
        kernels = self._kernels(starts)
        if self._is_beyond():
            return beyond.lloyd_beyond(
                self._host_table(), kernels or plain, starts, objects, features, tols=tols, **common
            )
        if kernels is not None:
            return many.lloyd_many(
                self._digits_table(), kernels, starts, objects, features, tols=tols, **common
            )
        table = self._k_means_table()
        return [
            kmeans.lloyd(table, start, objects=own, features=seen, tol=tol, **common)
            for start, own, seen, tol in tasks
        ]

    def _index(self, many_of_them: Indices | None, m: int) -> Any:
        """Objects or features of a member on the device; None: all."""
        one = None if many_of_them is None else many_of_them[m]
        return None if one is None else self._there(np.asarray(one, np.int64))

    def _mean_variance(self, objects: Indices | None, features: Indices | None, m: int) -> float:
        """Mean variance of the columns a member works on."""
        own = None if objects is None else objects[m]
        seen = self._index(features, m)
        if self._is_beyond():
            variance = self._there(self.column_facts(objects=own).variance)
        else:
            variance = columns.column_facts(self._tensor(), own)[1]
        return float((variance if seen is None else variance[seen]).mean())


def device_of(device: Any) -> Any:
    """The torch device of that name.

    Raises
    ------
    InvalidParameterError
        If torch knows no such device, or there is none here.
    """
    try:
        torch_device = torch.device(device)
    except (RuntimeError, TypeError) as error:
        raise InvalidParameterError(
            f"The 'device' parameter must be the name of a torch device, such as 'cuda' or 'cpu'. "
            f"Got {device!r} instead."
        ) from error
    if torch_device.type == "cuda":
        return _card(torch_device, device)
    if not _holds_data(torch_device):
        raise InvalidParameterError(
            f"The 'device' parameter is {device!r}, but torch {torch.__version__} has no such "
            "device that holds data here. Leave 'device' out to use the processor."
        )
    return torch_device


def _card(torch_device: Any, asked: Any) -> Any:
    """A CUDA device with its number, which there must be."""
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if not count:
        raise InvalidParameterError(
            f"The 'device' parameter is {asked!r}, but torch {torch.__version__} sees no CUDA "
            "device here. Leave 'device' out to use the processor, or install a torch with CUDA."
        )
    if torch_device.index is None:
        return torch.device("cuda", torch.cuda.current_device())
    if torch_device.index >= count:
        last = "" if count == 1 else f" to 'cuda:{count - 1}'"
        raise InvalidParameterError(
            f"The 'device' parameter is {asked!r}, but the CUDA devices here are 'cuda:0'{last}. "
            "Name one of them, or leave 'device' out to use the processor."
        )
    return torch_device


def _holds_data(torch_device: Any) -> bool:
    """Whether a device of any kind is here: a number can be put there and taken back."""
    if torch_device.type == "cpu":
        return True
    try:
        torch.zeros(1, device=torch_device).cpu()
    except (RuntimeError, AssertionError, ImportError):  # as the kinds of devices have it
        return False
    return True


def devices() -> list[dict[str, Any]]:
    """Devices of torch beside the processor: name, kind, model and memory of each."""
    cards = []
    for number in range(torch.cuda.device_count() if torch.cuda.is_available() else 0):
        facts = torch.cuda.get_device_properties(number)
        free, total = torch.cuda.mem_get_info(number)
        cards.append(
            {
                "name": f"cuda:{number}",
                "kind": "cuda",
                "model": facts.name,
                "memory_total": int(total),
                "memory_free": int(free),
                "capability": f"{facts.major}.{facts.minor}",
            }
        )
    return cards


def label_rows(members: NDArray[Any], starts: NDArray[np.int64], device: Any) -> labels.LabelRows:
    """Labels of an ensemble on a device, for passes over them.

    Parameters
    ----------
    members : ndarray of shape (n_members, n_objects)
    starts : ndarray of shape (n_members + 1,)
        First row of each member among all clusters.
    device : str or torch device

    Returns
    -------
    LabelRows
        Those that are there already, within `consilience.engines.labels_stay`.
    """
    there = device_of(device)
    limit = memory_of(there)
    return staying(
        members, str(there), limit, lambda: labels.LabelRows(members, starts, there, limit=limit)
    )


def pairs_fit(members: NDArray[Any], device: Any, n_tables: int | None) -> bool:
    """Whether a device has room for labels and so many tables of counts of all their pairs.

    None is the room of a spanning tree, which needs no table.
    """
    limit, (n_members, n) = memory_of(device_of(device)), members.shape
    if n_tables is None:
        # Labels twice, what the tree knows of every object, and ranks of shares.
        needed = 2 * members.nbytes + 64 * n + 8 * (n_members + 1) ** 2
        return n < 2**31 and n_members <= _MOST_RANKED and (limit is None or needed <= limit)
    needed = members.nbytes + (n_tables + 1) * n * n * np.dtype(count_type(n_members)).itemsize
    return limit is None or needed <= limit


def tables_fit(n_clusters: int, device: Any, *, same_bits: bool) -> bool:
    """Whether tables of all pairs of so many clusters of all members are made on a device.

    Parameters
    ----------
    n_clusters : int
    device : str or torch device
    same_bits : bool
        Whether the processor comes to the same bits: only then may memory decide where it is done.
    """
    needed, limit = labels.joint_bytes(n_clusters), memory_of(device_of(device))
    return needed <= _TABLES and (limit is None or not same_bits or needed <= limit)


def label_problem(
    rows: labels.LabelRows,
    weights: NDArray[np.int64],
    scale: NDArray[np.float64],
    shift: NDArray[np.float64],
) -> label_kmeans.LabelProblem:
    """Label rows on a device, for k-means; see `consilience.kernels.kmeans.labels.lloyd`."""
    return label_kmeans.LabelProblem(rows, weights, scale, shift)


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


def _counted(labels: Any, k: int) -> Any:
    """Objects of each cluster; who is unseen is in none."""
    return torch.bincount(labels.to(torch.int64) + 2, minlength=k + 2)[2:]


def _host(values: Any) -> NDArray[Any]:
    return np.asarray(values.cpu().numpy())
