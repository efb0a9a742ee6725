"""Objects in an order that shows their clusters, and the picture in that order.

VAT (visual assessment of tendency) grows a minimum spanning tree and shows the distances in
the order in which objects joined it: clusters are dark blocks on the diagonal. iVAT shows
minimax path distances instead, which sharpens the blocks of clusters that are chains.

>>> vat(Ensemble([[0, 1, 0, 1], [0, 1, 0, 0]])).order
array([0, 2, 3, 1])
"""

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._validation import MISSING, Interval, Satisfies, as_array, check_value
from consilience.ensemble import Ensemble, usable_ensemble
from consilience.errors import InvalidInputError
from consilience.evidence.coassociation import Missing, fractions
from consilience.evidence.twins import twins
from consilience.kernels.links.minimax import minimax_block_sums, minimax_rows, prim_dense
from consilience.kernels.links.prim import prim_order
from consilience.kernels.pairs.counts import count_rows

__all__ = ["VATOrder", "ivat", "ivat_image", "vat", "vat_image"]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

# Distances that exist at once while a picture is made.
_BLOCK_BYTES = 2**25
# Cluster sizes by block that are collected before they are multiplied.
_TABLE_CELLS = 2**21
# Two halves of a distance matrix may differ by this share of its largest entry.
_ASYMMETRY = 1e-6


@dataclass(frozen=True, eq=False)
class VATOrder:
    """Objects in the order in which a minimum spanning tree reached them.

    Attributes
    ----------
    order : ndarray of shape (n_objects,)
        The object at each position.
    parent : ndarray of shape (n_objects,)
        Position of the object from which each was reached; -1 for the first.
    distance : ndarray of shape (n_objects,)
        Length of that edge; 0 for the first.
    """

    order: Positions
    parent: Positions
    distance: Floats


_VAT_ORDER = Satisfies(lambda value: isinstance(value, VATOrder), "a VATOrder, as `vat` returns it")


def vat(evidence: Any, *, missing: Missing = "pair") -> VATOrder:
    """Order in which a minimum spanning tree reaches the objects.

    It starts at an object with the largest distance of all, and goes on with the object
    nearest to those reached; the smallest index on ties.

    Parameters
    ----------
    evidence : Ensemble, or array of shape (n_objects, n_objects)
        An ensemble, whose distance is 1 - co-association, or distances: symmetric, not
        negative, with a zero diagonal.
    missing : {"pair", "all"}
        For an ensemble: divide by the members that saw both objects, or by all members.

    Returns
    -------
    VATOrder

    Notes
    -----
    For an ensemble no matrix is made: O(n * n_members) memory, and O(u ** 2 * n_members) byte
    comparisons for u distinct label rows. Objects that all members label alike, at distance
    0, follow one another.

    References
    ----------
    Bezdek & Hathaway (2002), VAT: a tool for visual assessment of (cluster) tendency, IJCNN.

    Examples
    --------
    >>> result = vat(np.array([[0, 1, 9], [1, 0, 5], [9, 5, 0]]))
    >>> result.order, result.parent, result.distance
    (array([0, 1, 2]), array([-1,  0,  1]), array([0., 1., 5.]))
    """
    check_value("missing", missing, MISSING, owner="vat")
    if isinstance(evidence, Ensemble):
        return _vat_of_ensemble(evidence, missing)
    distances = _checked_distances(evidence)
    start = int(np.argmax([row.max() for row in distances]))
    return VATOrder(*prim_dense(distances, start))


def ivat(evidence: Any, *, missing: Missing = "pair") -> Floats:
    """Minimax path distances between all objects, in the order of `vat`.

    The distance of two objects is the longest step on the path between them whose longest
    step is shortest.

    Parameters
    ----------
    evidence : Ensemble, array of shape (n_objects, n_objects), or VATOrder
        As in `vat`; or what `vat` returned, which saves finding it again.
    missing : {"pair", "all"}
        As in `vat`.

    Returns
    -------
    ndarray of shape (n_objects, n_objects)
        Row and column t belong to object ``vat(evidence).order[t]``. Takes 8 n ** 2 bytes;
        for large n see `ivat_image`.

    References
    ----------
    Havens & Bezdek (2012), An efficient formulation of the improved visual assessment of
    cluster tendency (iVAT) algorithm, IEEE TKDE 24(5).

    Examples
    --------
    >>> ivat(np.array([[0, 1, 9], [1, 0, 5], [9, 5, 0]]))
    array([[0., 1., 5.],
           [1., 0., 5.],
           [5., 5., 0.]])
    """
    order = evidence if isinstance(evidence, VATOrder) else vat(evidence, missing=missing)
    n = len(order.distance)
    out = np.empty((n, n))
    minimax_rows(order.distance, 0, n, out)
    return out


def vat_image(
    evidence: Any,
    order: VATOrder | NDArray[np.integer[Any]],
    *,
    missing: Missing = "pair",
    max_size: int = 2000,
) -> Floats:
    """Distances in a given order, block means of them where there are many objects.

    Parameters
    ----------
    evidence : Ensemble, or array of shape (n_objects, n_objects)
        As in `vat`.
    order : VATOrder, or array of shape (n_objects,)
        What `vat` returned, or any other order of the objects.
    missing : {"pair", "all"}
        As in `vat`.
    max_size : int
        Rows of the picture at most. Above that, consecutive positions share a row.

    Returns
    -------
    ndarray of shape (m, m), m = min(n_objects, max_size)
        Symmetric. Row I stands for positions I * n // m to (I + 1) * n // m - 1; the zero
        distances of objects to themselves are part of the means.

    Notes
    -----
    The n x n distances never exist at once. For an ensemble with one denominator (nothing
    unseen, or ``missing="all"``) blocks are counted whole, without any pair: O(n * n_members
    + m ** 2 * n_clusters) time.

    Examples
    --------
    >>> distances = np.array([[0, 9, 1], [9, 0, 9], [1, 9, 0]])
    >>> vat_image(distances, vat(distances))
    array([[0., 1., 9.],
           [1., 0., 9.],
           [9., 9., 0.]])
    """
    check_value("missing", missing, MISSING, owner="vat_image")
    check_value("max_size", max_size, [Interval(Integral, 1)], owner="vat_image")
    if isinstance(evidence, Ensemble):
        evidence = usable_ensemble(evidence, owner="vat_image")
    else:
        distances = _checked_distances(evidence)
        chosen = _checked_order(order, len(distances))
        return _block_means(
            lambda start, stop: np.take(distances[chosen[start:stop]], chosen, axis=1),
            _edges(len(chosen), max_size),
        )
    chosen = _checked_order(order, evidence.n_objects)
    members = np.ascontiguousarray(evidence.members[:, chosen])
    edges = _edges(len(chosen), max_size)
    if missing == "pair" and evidence.has_unseen:
        return _block_means(lambda start, stop: _distance_rows(members, start, stop, True), edges)
    return _counted_block_means(members, edges)


def ivat_image(order: VATOrder, *, max_size: int = 2000) -> Floats:
    """Minimax path distances in VAT order, block means of them where there are many objects.

    Parameters
    ----------
    order : VATOrder
        What `vat` returned; nothing else is needed.
    max_size : int
        Rows of the picture at most. Above that, consecutive positions share a row.

    Returns
    -------
    ndarray of shape (m, m), m = min(n_objects, max_size)
        As in `vat_image`. O(n) memory beside it, O(n * m + n ** 2 / m) time.

    Examples
    --------
    >>> ivat_image(vat(np.array([[0, 1, 9], [1, 0, 5], [9, 5, 0]])), max_size=2)
    array([[0. , 3. ],
           [3. , 2.5]])
    """
    check_value("order", order, [_VAT_ORDER], owner="ivat_image")
    check_value("max_size", max_size, [Interval(Integral, 1)], owner="ivat_image")
    edges = _edges(len(order.distance), max_size)
    sums = np.empty((len(edges) - 1, len(edges) - 1))
    minimax_block_sums(order.distance, edges, sums)
    return sums / _areas(edges)


# ---- order --------------------------------------------------------------------------------


def _vat_of_ensemble(ensemble: Ensemble, missing: Missing) -> VATOrder:
    """Grow the tree over one object of each group of objects at distance 0, then repeat it."""
    rows, group, counts = twins(ensemble, missing=missing)
    start = _farthest_object(rows.members, missing == "pair" and ensemble.has_unseen)
    order, parent, distance = prim_order(rows.members, missing=missing, start=start)
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    of_groups = VATOrder(order.astype(np.int64), np.append(-1, place[parent[1:]]), distance)
    return _repeated(of_groups, group, counts)


def _repeated(of_groups: VATOrder, group: Positions, counts: Positions) -> VATOrder:
    """An order of groups as one of objects, those of a group after each other."""
    sizes = counts[of_groups.order]
    starts = np.cumsum(sizes) - sizes
    nth = np.arange(len(group)) - np.repeat(starts, sizes)
    by_group = np.argsort(group, kind="stable")
    first_of_group = np.cumsum(counts) - counts
    order = by_group[np.repeat(first_of_group[of_groups.order], sizes) + nth]
    copies = nth > 0
    parent = np.repeat(np.append(-1, starts[of_groups.parent[1:]]), sizes)
    parent[copies] = np.repeat(starts, sizes)[copies]
    distance = np.repeat(of_groups.distance, sizes)
    distance[copies] = 0.0
    return VATOrder(order, parent, distance)


def _farthest_object(members: NDArray[Any], by_pair: bool) -> int:
    """First object that has the largest distance of all to another."""
    n = members.shape[1]
    best, farthest, start, step = -1.0, 0, 0, 1
    limit = max(1, _BLOCK_BYTES // (8 * n))
    while start < n and best < 1.0:  # no distance is above 1, so most searches end at once
        stop = min(n, start + step)
        reach = _distance_rows(members, start, stop, by_pair).max(axis=1)
        if reach.max() > best:
            best, farthest = float(reach.max()), start + int(reach.argmax())
        start, step = stop, min(2 * step, limit)
    return farthest


# ---- rows and blocks ----------------------------------------------------------------------


def _distance_rows(members: NDArray[Any], start: int, stop: int, by_pair: bool) -> Floats:
    """Distances of objects start..stop-1 to all, 1 - co-association with a zero diagonal."""
    joined, seen = count_rows(members, np.arange(start, stop), with_seen=by_pair)
    rows: Floats = np.subtract(1.0, fractions(joined, seen, len(members)), dtype=np.float64)
    rows[np.arange(stop - start), np.arange(start, stop)] = 0.0
    return rows


def _edges(n: int, max_size: int) -> Positions:
    """First position of each block, and n: blocks whose sizes differ by one at most."""
    m = min(n, int(max_size))
    return np.arange(m + 1, dtype=np.int64) * n // m


def _areas(edges: Positions) -> Floats:
    sizes = np.diff(edges).astype(float)
    return np.outer(sizes, sizes)


def _block_means(rows: Callable[[int, int], NDArray[Any]], edges: Positions) -> Floats:
    """Means over blocks of a matrix that is made a few rows at a time."""
    n, m = int(edges[-1]), len(edges) - 1
    sums = np.zeros((m, m))
    block = np.repeat(np.arange(m), np.diff(edges))
    step = max(1, _BLOCK_BYTES // (8 * n))
    for start in range(0, n, step):
        stop = min(n, start + step)
        part = np.add.reduceat(rows(start, stop).astype(float, copy=False), edges[:-1], axis=1)
        np.add.at(sums, block[start:stop], part)
    return sums / _areas(edges)


def _counted_block_means(members: NDArray[Any], edges: Positions) -> Floats:
    """The same for 1 - joined / n_members: pairs joined are products of cluster sizes."""
    m = len(edges) - 1
    block = np.repeat(np.arange(m), np.diff(edges))
    joined = np.zeros((m, m))
    tables: list[Any] = []
    for r, labels in enumerate(members):
        placed = labels >= 0
        where = (block[placed], labels[placed].astype(np.int64))
        shape = (m, max(1, int(labels.max()) + 1))
        tables.append(sparse.csr_array((np.ones(len(where[0])), where), shape))
        if r == len(members) - 1 or sum(table.nnz for table in tables) > _TABLE_CELLS:
            joined += _own_product(sparse.hstack(tables, format="csr"))
            tables = []
    # Noise and gaps are no distance of an object to itself.
    joined[np.diag_indices(m)] += np.bincount(block, weights=(members < 0).sum(axis=0))
    return 1.0 - joined / (len(members) * _areas(edges))


def _own_product(table: sparse.csr_array) -> Floats:
    """A sparse table times its transpose, by whichever way is quicker; dense."""
    if table.nnz > 0.1 * table.shape[0] * table.shape[1]:
        full = table.toarray()
        return np.asarray(full @ full.T)
    return np.asarray((table @ table.T).toarray())


# ---- checks -------------------------------------------------------------------------------


def _checked_distances(evidence: Any) -> NDArray[Any]:
    """A square matrix of distances, or an error that says what is wrong with it."""
    distances = as_array(evidence)
    if distances.dtype.kind not in "biuf" or distances.ndim != 2 or not distances.size:
        _refuse(f"a {distances.dtype} array of shape {distances.shape}")
    if distances.shape[0] != distances.shape[1]:
        _refuse(f"shape {distances.shape}")
    if distances.dtype not in (np.float64, np.float32):
        distances = distances.astype(float)
    if distances.flags.f_contiguous:
        distances = distances.T  # the same if it is symmetric, and quicker to walk over
    step = max(1, _BLOCK_BYTES // (8 * len(distances)))
    largest, asymmetry = 0.0, 0.0
    for start in range(0, len(distances), step):
        rows = distances[start : start + step]
        if not np.isfinite(rows).all():
            _refuse("values that are not finite")
        if rows.min() < 0:
            _refuse(f"the negative value {rows.min()}")
        largest = max(largest, float(rows.max()))
        mirrored = distances[:, start : start + step].T
        asymmetry = max(asymmetry, float(np.abs(rows - mirrored).max()))
    if asymmetry > _ASYMMETRY * largest:
        _refuse(f"entries that differ from their mirror image by up to {asymmetry:g}")
    if np.abs(distances.diagonal()).max() > _ASYMMETRY * largest:
        _refuse(
            f"the diagonal value {np.abs(distances.diagonal()).max()}",
            " For similarities such as co-association pass 1 - evidence.",
        )
    return distances


def _refuse(got: str, remedy: str = "") -> None:
    raise InvalidInputError(
        "evidence must be an Ensemble, or a square, symmetric, finite array of distances, none "
        f"negative, with a zero diagonal. Got {got} instead.{remedy}"
    )


def _checked_order(order: VATOrder | NDArray[np.integer[Any]], n: int) -> Positions:
    """Objects in order, each exactly once."""
    chosen = np.asarray(order.order if isinstance(order, VATOrder) else order)
    if (
        chosen.shape != (n,)
        or chosen.dtype.kind not in "iu"
        or not np.array_equal(np.sort(chosen), np.arange(n))
    ):
        raise InvalidInputError(
            f"order must be a VATOrder, or hold each of the objects 0 to {n - 1} once. "
            f"Got {chosen.dtype} values of shape {chosen.shape} instead. "
            "Pass what vat(evidence) returned."
        )
    return chosen.astype(np.int64)
