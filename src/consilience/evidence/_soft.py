"""Co-association and nearness of members that are memberships: expectations of those of labels.

Were the cluster of every object drawn from its memberships, a member would put two objects together
with the probability that is the sum over its clusters of the products of their memberships. Where
memberships are 0 and 1, that is what labels say.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._threads import one_thread
from consilience.kernels._parallel import by_rows, in_threads
from consilience.kernels.labels.confidence import Nearness
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["expected_nearest", "expected_pairs", "expected_rows", "pairs_apart", "soft_nearness"]

Floats = NDArray[np.float64]

# Pairs that exist at once, in bytes; sums of memberships are made over so many objects.
_BLOCK_BYTES = 2**25
_BLOCK = 4096

# Share of a sum that its rounding may be, of as many terms as there are.
_ROUNDING = 1e-13


def expected_rows(
    ensemble: SoftEnsemble, start: int, stop: int, *, by_pair: bool, shares: bool = True
) -> Floats:
    """Expected members that join objects start..stop-1 with all, or their share.

    ``by_pair`` divides by the members that saw both (nobody: 0), else by all. With shares the
    diagonal is 1.
    """
    H, members = ensemble.memberships, ensemble.n_members
    joined: Floats = H[start:stop] @ H.T
    if not shares:
        return joined
    if by_pair:
        seen = _seen(ensemble)
        both = seen[start:stop] @ seen.T
        np.divide(joined, both, out=joined, where=both > 0)
    else:
        joined /= members
    np.minimum(joined, 1.0, out=joined)
    joined[np.arange(stop - start), np.arange(start, stop)] = 1.0
    return joined


def expected_pairs(
    ensemble: SoftEnsemble, *, by_pair: bool, shares: bool, condensed: bool, dtype: Any, n_jobs: int
) -> NDArray[Any]:
    """`expected_rows` of all objects: square, or the upper triangle in SciPy's order."""
    n = ensemble.n_objects
    out = np.empty(n * (n - 1) // 2 if condensed else (n, n), dtype)

    def fill(rows: slice) -> None:
        joined = expected_rows(ensemble, rows.start, rows.stop, by_pair=by_pair, shares=shares)
        if not condensed:
            out[rows] = joined
            return
        for i, row in enumerate(joined, rows.start):
            at = i * (2 * n - i - 1) // 2
            out[at : at + n - i - 1] = row[i + 1 :]

    with one_thread():
        by_rows(fill, n, n_jobs, size=_step(n))
    if not condensed:
        # Products of the same two rows may differ in the last bit by the block they are made in.
        lower = np.tril_indices(n, -1)
        out[lower] = out.T[lower]
    return out


def pairs_apart(ensemble: SoftEnsemble) -> int:
    """Pairs of objects that no member saw together."""
    seen, n = _seen(ensemble).astype(np.float32), ensemble.n_objects
    apart, step = 0, _step(n)
    with one_thread():
        for start in range(0, n, step):
            both = seen[start : start + step] @ seen.T
            apart += int(np.count_nonzero(both == 0))
    return (apart - int(np.count_nonzero(~seen.any(axis=1)))) // 2


def expected_nearest(
    ensemble: SoftEnsemble,
    n_neighbors: int,
    *,
    by_pair: bool,
    shares: bool,
    dtype: Any,
    n_jobs: int,
) -> sparse.csr_array:
    """The strongest pairs of each object, itself left out, smallest number on ties."""
    n = ensemble.n_objects
    k = min(n_neighbors, n - 1)
    columns, values = np.empty((n, k), np.int64), np.empty((n, k), dtype)

    def fill(rows: slice) -> None:
        joined = expected_rows(ensemble, rows.start, rows.stop, by_pair=by_pair, shares=shares)
        joined[np.arange(len(joined)), np.arange(rows.start, rows.stop)] = -1.0
        order = np.argsort(-joined.round(12), axis=1, kind="stable")[:, :k]
        columns[rows] = np.sort(order, axis=1)
        values[rows] = np.take_along_axis(joined, columns[rows], axis=1)

    with one_thread():
        by_rows(fill, n, n_jobs, size=_step(n))
    edges = np.arange(0, n * k + 1, k) if k else np.zeros(n + 1, np.int64)
    return sparse.csr_array((values.ravel(), columns.ravel(), edges), shape=(n, n))


def soft_nearness(
    ensemble: SoftEnsemble,
    labels: NDArray[np.int64],
    n_clusters: int,
    *,
    by_seen: bool,
    n_jobs: int,
) -> Nearness:
    """Mean co-association with the own and the best other cluster, as `nearness` of labels.

    With ``by_seen`` a pair weighs as much as members saw it.
    """
    n, H = ensemble.n_objects, ensemble.memberships
    placed = np.flatnonzero(labels >= 0)
    onehot = np.zeros((n, n_clusters))
    onehot[placed, labels[placed]] = 1.0
    sizes = onehot.sum(axis=0)
    seen = _seen(ensemble) if by_seen else None
    with one_thread():
        joined = H @ _in_blocks(H, onehot, n_jobs)
        if seen is None:
            pairs = np.broadcast_to(ensemble.n_members * sizes, joined.shape).copy()
            alone = np.full(n, float(ensemble.n_members))
        else:
            pairs, alone = seen @ (seen.T @ onehot), seen.sum(axis=1)
    mine = labels[placed]
    # Among the others of its own cluster the object itself does not count.
    mates = pairs[placed, mine] - alone[placed]
    own_share = (H[placed] ** 2).sum(axis=1)
    near = joined[placed, mine] - own_share
    # Of mates that it shares nothing with rounding is left over, which is no co-association.
    near[near <= _ROUNDING * own_share] = 0.0
    own = np.zeros(n)
    own[placed] = np.divide(near, mates, out=np.zeros(len(mine)), where=mates > 0)
    own[placed[sizes[mine] == 1]] = 1.0
    means = np.divide(joined, pairs, out=np.zeros_like(joined), where=pairs > 0)
    means[placed, mine] = -1.0
    other, runner_up = np.zeros(n), np.full(n, -1, np.int32)
    if n_clusters > 1:
        runner_up[placed] = means[placed].argmax(axis=1)
        other[placed] = means[placed, runner_up[placed]]
        runner_up[other <= 0] = -1
    return Nearness(own, np.maximum(other, 0.0), runner_up)


def _in_blocks(H: Floats, values: Floats, n_jobs: int) -> Floats:
    """``H.T @ values``, added up block by block in their order: the same for any ``n_jobs``."""

    def of_block(start: int) -> Floats:
        product: Floats = H[start : start + _BLOCK].T @ values[start : start + _BLOCK]
        return product

    parts = in_threads(of_block, range(0, len(H), _BLOCK), n_jobs)
    return sum(parts[1:], parts[0])


def _seen(ensemble: SoftEnsemble) -> Floats:
    return (~ensemble._unseen).astype(np.float64)


def _step(n: int) -> int:
    return max(1, _BLOCK_BYTES // (8 * n))
