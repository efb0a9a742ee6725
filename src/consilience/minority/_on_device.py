"""Repetitions of weak clusterings on a torch device, for `EWOCS(device=...)`.

The draws are those of the CPU. Objects are brought to the device once; seeds that are objects are
taken there, so that only their numbers travel; sums over the repetitions of a step stay there
until its end. Nothing waits for the device in between: the next batch is drawn meanwhile.
"""

import functools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from consilience.engines._device import weak as passes
from consilience.engines._device._torch import torch
from consilience.engines._device.memory import memory_of
from consilience.engines.torch import device_of, rule_of
from consilience.kernels.minority.passes import Scale
from consilience.minority._bregman import Cosine
from consilience.minority._divergence import Euclidean, Mahalanobis, as_floats
from consilience.minority.weak import Draw, RandomBregman, WeakClusterer

__all__ = ["DeviceScorer"]

# Objects brought to the device at a time.
_AT_ONCE = 1 << 16
# Whole numbers up to this are floats of 16 bits.
_LARGEST = 2048
# Divergences whose seeds' side is a multiple of the objects' side, and whether the column terms
# are the row terms.
_OWN_SIDE: dict[type, tuple[float, bool]] = {
    Euclidean: (2.0, True),
    Mahalanobis: (2.0, True),
    Cosine: (1.0, False),
}


class DeviceScorer:
    """Objects on a device, and the passes over them.

    Parameters
    ----------
    weak : WeakClusterer
        Fitted, one whose ``grading`` is not None.
    X : array or CSR matrix
        The objects to score.
    device : str
        Of torch.
    """

    def __init__(self, weak: WeakClusterer, X: Any, device: str) -> None:
        self.device = device_of(device)
        X = as_floats(X)
        self.weak = _uncentred(weak, X)
        self.grading = weak.grading(X.dtype)
        limit = memory_of(self.device)
        matrix, rows = self._brought(X, limit)
        self.objects = passes.narrowed(matrix, rows, self.device, limit=limit)

    def add_to(self, running: Any, X: Any, numbers: range, *, seed: int, each: bool) -> None:
        """Count the repetitions of these numbers, as `consilience.minority.scores.extend` does.

        ``each`` notes by how much every repetition changes the scores; it takes the sums off the
        device after every one.
        """
        assert self.grading is not None
        rule = rule_of(self.grading, Scale(len(running.total), running.aggregate == "log"))
        draws = [self.weak.draw(seed, number) for number in numbers]
        lengths = [draw.n_clusters for draw in draws]
        # Copies, also where the device is the processor.
        sums = [torch.tensor(one, device=self.device) for one in (running.total, running.squares)]
        batches: list[tuple[Any, Any]] = []
        most = 1 if each else passes.MOST
        for some in passes.batches_of(lengths, len(self.objects.rows), most):
            seeds = self._seeds(X, draws[some])
            batches.append(passes.add_batch(self.objects, seeds, rule, *sums))
            if each:
                running.changed_to(sums[0].cpu().numpy(), running.n_repetitions + some.start)
        running.total[:], running.squares[:] = (part.cpu().numpy() for part in sums)
        sizes = torch.cat([one for one, _ in batches]).cpu().numpy()
        means = torch.cat([one for _, one in batches]).cpu().numpy()
        running.draws.extend(draws)
        running.sizes.extend(np.split(sizes, np.cumsum(lengths)[:-1]))
        running.shift = functools.reduce(float.__add__, means.tolist(), running.shift)

    def _seeds(self, X: Any, draws: Sequence[Draw]) -> passes.Seeds:
        divergence = getattr(self.weak, "divergence", None)
        for kind, (factor, own) in _OWN_SIDE.items():
            if isinstance(divergence, kind):
                rows = [draw.rows for draw in draws]
                return passes.seeds_from(self.objects, rows, factor=factor, own_columns=own)
        terms = [self.weak.model(X, draw) for draw in draws]
        kind, width = self.objects.matrix.dtype, self.objects.matrix.shape[1]
        matrix = np.concatenate([np.asarray(term.matrix) for term in terms])
        wide = torch.zeros((len(matrix), width), dtype=kind, device=self.device)
        wide[:, : matrix.shape[1]] = torch.as_tensor(matrix).to(self.device).to(kind)
        columns = np.concatenate([term.offset for term in terms])
        bounds = np.cumsum([0, *(len(term.offset) for term in terms)]).tolist()
        there = torch.as_tensor(columns).to(self.device, self.objects.rows.dtype)
        return passes.Seeds(wide, there, bounds)

    def _brought(self, X: Any, limit: int | None) -> tuple[Any, Any]:
        """Matrix and row terms of the objects on the device, some thousands at a time.

        A matrix larger than the limit stays on the host.
        """
        matrices, rows = [], []
        itemsize = np.dtype(getattr(X, "dtype", np.float64)).itemsize
        large = limit is not None and X.shape[0] * X.shape[1] * itemsize > limit
        place = torch.device("cpu") if large else self.device
        for start in range(0, X.shape[0], _AT_ONCE):
            terms = self.weak.objects(X[start : start + _AT_ONCE])
            dense = terms.matrix.toarray() if sparse.issparse(terms.matrix) else terms.matrix
            matrices.append(torch.tensor(dense, device=place))
            rows.append(torch.tensor(terms.offset, device=self.device))
        return torch.cat(matrices), torch.cat(rows)


def _uncentred(weak: WeakClusterer, X: Any) -> WeakClusterer:
    """The weak clusterer with distances from zero where all values are whole and small.

    Their products are exact then, in floats of 8 or 16 bits; distances are the same.
    """
    divergence = getattr(weak, "divergence", None)
    if not isinstance(weak, RandomBregman) or not isinstance(divergence, Euclidean):
        return weak
    values = X.data if sparse.issparse(X) else X
    if divergence.centre is None or not _are_whole(values):
        return weak
    return replace(weak, divergence=replace(divergence, centre=np.zeros(X.shape[1])))


def _are_whole(values: Any) -> bool:
    """Whether all values are whole numbers that floats of 16 bits hold; looks at some first."""
    for part in (values[:1000], values):
        if not ((np.abs(part) <= _LARGEST) & (part == np.rint(part))).all():
            return False
    return True
