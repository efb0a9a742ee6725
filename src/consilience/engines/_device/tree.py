"""A minimum spanning tree of the co-association on a torch device, its rows made as needed.

Prim's algorithm, object by object as `consilience.kernels.links.prim` does it: the same order,
the same parents on ties. A step asks for one row of pair counts, which a card makes in some
microseconds; hundreds of steps are recorded once and played again and again, so that nobody
waits for Python.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.engines._device._torch import kernels_for, torch

__all__ = ["Growth", "prim_order"]

UNSEEN = -2
# Steps that are recorded together.
_STEPS = 256


def prim_order(
    members: Any, *, by_pair: bool
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Objects in the order in which a tree that grows from the first reaches them.

    Parameters
    ----------
    members : tensor of shape (n_members, n_objects), signed integers
        -1 is noise, -2 unseen.
    by_pair : bool
        Compare joined / seen, else joined alone.

    Returns
    -------
    order, parent, similarity : ndarrays of shape (n_objects,)
        As in `consilience.kernels.links.prim.prim_order`, but for the similarity, of which that
        has the distance: counts, or shares where ``by_pair``.
    """
    growth = Growth(members, by_pair=by_pair)
    growth.run()
    reached = growth.reached.cpu().numpy()
    reached[0] = 0  # nobody reached it
    similarity = growth.values[reached] if by_pair else reached.astype(np.float64)
    return growth.order.cpu().numpy(), growth.parent.cpu().numpy(), similarity


class Growth:
    """The tree so far: who is in it, and how near all others are to it.

    Nearness is a whole number: a count, or the rank of a share among all shares there can be.
    """

    def __init__(self, members: Any, *, by_pair: bool) -> None:
        device = members.device
        self.n_members, self.n_objects = members.shape
        self.by_pair, self.kernels = by_pair, kernels_for(device)
        nothing = np.zeros(1), np.zeros(1, np.intp)
        self.values, ranks = shares_by_rank(self.n_members) if by_pair else nothing
        self.ranks = torch.as_tensor(ranks.astype(np.int32).ravel(), device=device)
        n = self.n_objects
        # Rows begin at multiples of 16 bytes.
        self.labels = members.new_full((self.n_members, -(-n // 16) * 16), UNSEEN)
        self.labels[:, :n] = members
        self.before = torch.zeros(1, dtype=torch.int64, device=device)
        self.nearness = torch.full((n,), -1, dtype=torch.int32, device=device)
        self.order, self.parent, self.link, self.reached = (
            torch.zeros(n, dtype=torch.int32, device=device) for _ in range(4)
        )
        self.link[0] = -1
        tile = n if self.kernels is None else self.kernels.tile_of(n)
        self.best = torch.full((2, -(-n // tile)), -1, dtype=torch.int64, device=device)
        self.best[0, 0] = 2147483647  # the first object, near to nobody

    def run(self) -> None:
        """All steps."""
        if self.kernels is None:
            for t in range(self.n_objects):
                self._step(t)
        elif self.labels.is_cuda:
            self._play()
        else:
            for t in range(self.n_objects):
                self.kernels.reach(self, t)

    def _play(self) -> None:
        """Steps recorded once and played until all objects are reached."""
        self.kernels.reach(self, self.n_objects)  # compiled here, does nothing
        torch.cuda.synchronize(self.labels.device)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.device(self.labels.device), torch.cuda.graph(graph):
            for offset in range(_STEPS):
                self.kernels.reach(self, offset)
            self.before += _STEPS
        for _ in range(0, self.n_objects, _STEPS):
            graph.replay()

    def _step(self, t: int) -> None:
        """One step in plain torch."""
        n = self.n_objects
        most = self.nearness.max()
        # The first of equals.
        i = 0 if t == 0 else int(torch.nonzero(self.nearness == most)[0, 0])
        self.order[t], self.parent[t], self.reached[t] = i, self.link[i], self.nearness[i]
        self.nearness[i] = -2
        members = self.labels[:, :n]
        own = members[:, i, None]
        value = ((members == own) & (own >= 0)).sum(dim=0)
        if self.by_pair:
            both = ((members != UNSEEN) & (own != UNSEEN)).sum(dim=0)
            value = self.ranks[both * (self.n_members + 1) + value]
        nearer = (self.nearness > -2) & (value > self.nearness)
        self.nearness = torch.where(nearer, value.to(torch.int32), self.nearness)
        self.link = torch.where(nearer, i, self.link).to(torch.int32)


def shares_by_rank(n_members: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """All shares of members there can be, rising, and the rank of joined out of seen.

    Ranks are ``[seen, joined]``; where nobody saw a pair it is that of 0.

    >>> shares_by_rank(2)[0].tolist()
    [0.0, 0.5, 1.0]
    """
    seen, joined = np.mgrid[0 : n_members + 1, 0 : n_members + 1]
    shares = np.where(joined <= seen, joined / np.maximum(seen, 1), 0.0)
    values, ranks = np.unique(shares, return_inverse=True)
    return values, ranks.reshape(shares.shape)
