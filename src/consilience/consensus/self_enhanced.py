"""Self-enhanced co-association: what is sure spreads along itself and corrects the rest (EC-CMS).

Everything is done on distinct label rows, exactly. Matrices of n x n objects that do not tell
equal objects apart have one value for every pair of different rows, one among the objects of a row
and one on the diagonal; sums, products with the graph's inverse and clipping keep that form.
"""

from dataclasses import replace
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

from consilience._labels import UNSEEN
from consilience._validation import COUNT, MEMORY, POSITIVE, Interval, NoneValue, memory_in_bytes
from consilience.consensus._base import FixedNumber
from consilience.consensus._registry import consensus_method
from consilience.consensus._row_links import (
    check_budget,
    link_distances,
    seen_together,
    tree_result,
)
from consilience.consensus._rows import Rows, distinct_rows
from consilience.consensus._rules import LINKS, MISSING, Link
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus.locally_weighted import (
    cluster_certainty,
    own_similarity,
    shared_clusters,
)
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.evidence import CoAssociation, Missing
from consilience.partition import one_thread

__all__ = ["ECCMS", "eccms"]

Floats = NDArray[np.float64]

# Of the certainty of clusters, as published.
_THETA = 0.4
# Matrices of rows x rows in memory at once.
_N_MATRICES = 12
# A step is the last if everything changes by less, relatively; as published.
_STILL = 1e-2
# Or by less than this share of the similarities: a matrix that goes to zero never stands still
# relative to itself. The published rule lacks this and then takes all its steps.
_NOTHING = 1e-4


@consensus_method(
    estimator="ECCMS",
    paper="Jia, Tao, Wang & Liu 2023",
    memory="u^2 (u distinct label rows)",
    rules={
        "alpha": [Interval(Real, 0, 1, open_low=True)],
        "price": [*POSITIVE, NoneValue()],
        "linkage": LINKS,
        "missing": MISSING,
        "max_iter": COUNT,
        "max_memory": MEMORY,
    },
)
def eccms(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    alpha: float = 0.8,
    price: float | None = None,
    linkage: Link = "average",
    missing: Missing = "pair",
    max_iter: int = 100,
    max_memory: float | str = "4 GiB",
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Cut the dendrogram of the co-association once its sure part has corrected the rest.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members, u of them with different labels.
    alpha : float, default=0.8
        Pairs of at least this co-association are sure, above 0 and at most 1.
    price : float or None, default=None
        The published lambda: what it costs to change a similarity that is not sure, above 0.
        The lower, the more such a similarity follows those of the objects that either is
        surely with. None is the mean degree in the graph of sure pairs (the mean over objects
        of B's row sums, see below; 1 without such pairs): a mean object is then pulled by all
        its sure pairs together as much as it is held by the price, whatever their number.
    linkage : {"average", "complete", "single"}, default="average"
        How the distance of two groups follows from those of their objects.
    missing : {"pair", "all"}, default="pair"
        Divide by the members that saw both objects, or by all.
    max_iter : int, default=100
        Most steps, as published; a warning tells if they were not enough.
    max_memory : number of bytes or text such as "2 GiB", default="4 GiB"
        Of the matrices of u x u, 96 bytes an entry; where they need more, an error.
    random_state : int, RandomState or None
        Not used: nothing here is random.

    Returns
    -------
    ConsensusResult
        ``n_iter`` and ``converged`` are those of the steps. ``details`` holds ``price``,
        ``sure`` (the share of pairs of objects that are sure), ``n_components`` (groups of
        label rows that sure pairs join) and ``linkage``, the dendrogram in SciPy's format over
        the objects that some member placed.

    Notes
    -----
    With B the co-association of sure pairs (zero elsewhere and on the diagonal), L = diag(B 1)
    - B its Laplacian, and A the similarities of `lwea`, C and E minimise tr(C^T L C) plus half
    the price times the sum of squares of E, where A = C + E, E is 0 for sure pairs, and C is
    symmetric and in [0, 1].
    The steps are those of the alternating direction method as published; they end when no
    matrix changes by more than 1 % of itself, or by 0.01 % of A, and the tree is that of C.

    The matrix that every step multiplies with is inverted once, for each component of the graph
    of sure pairs by itself. Objects with equal labels are one weighted row: the steps on rows are
    those on all objects. In the tree they are at distance 0 from each other.

    References
    ----------
    Jia, Tao, Wang & Liu (2023), Ensemble clustering via co-association matrix
    self-enhancement, IEEE Transactions on Neural Networks and Learning Systems 35(8).
    """
    budget = memory_in_bytes(max_memory, owner="ECCMS")

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        rows = distinct_rows(placed)
        u = rows.n_rows
        remedy = "use LWEA, which needs a tenth, or LWGP, which needs no such matrix"
        check_budget(u, _N_MATRICES * 8 * u * u, budget, remedy=remedy)
        sure = sure_pairs(rows, alpha, missing)
        weak = weighted_similarity(rows, missing, n_jobs)
        paid = usual_price(sure, rows.counts) if price is None else float(price)
        corrected = enhanced(sure, weak, rows.counts, paid, max_iter)
        if not corrected.converged:
            warn(
                f"ECCMS has not settled after max_iter={max_iter} steps; its labels are those of "
                "the last one. Raise max_iter, or price, for a settled result.",
            )
        result = tree_result(
            rows,
            squareform(1.0 - corrected.pairs, checks=False),
            k,
            linkage,
            price=paid,
            sure=_share(sure, rows.counts),
            n_components=corrected.n_components,
        )
        return replace(result, n_iter=corrected.n_iter, converged=corrected.converged)

    return solve(ensemble, n_clusters, run, owner="ECCMS", X=X)


def sure_pairs(rows: Rows, alpha: float, missing: Missing) -> Floats:
    """Co-association of rows where it is at least ``alpha``, 0 elsewhere.

    The diagonal is that of two objects with the same labels: below 1 if they are noise
    somewhere.
    """
    shares = CoAssociation(Ensemble._trusted(rows.members), missing=missing).rows(0, rows.n_rows)
    seen = (rows.members != UNSEEN).sum(axis=0) if missing == "pair" else len(rows.members)
    np.fill_diagonal(shares, (rows.members >= 0).sum(axis=0) / seen)
    # Shares such as 4 / 5 may be a rounding error below the number that was typed.
    shares[shares < alpha * (1.0 - 1e-12)] = 0.0
    return shares


def weighted_similarity(rows: Rows, missing: Missing, n_jobs: int | None) -> Floats:
    """The similarities of `lwea`; the diagonal is that of two objects with the same labels."""
    certainty = cluster_certainty(rows, _THETA, n_jobs=n_jobs)
    divisor = seen_together(rows, missing)
    similar = squareform(
        link_distances(rows, shared_clusters(rows, certainty), divisor, n_jobs=n_jobs)
    )
    np.subtract(1.0, similar, out=similar)
    np.fill_diagonal(similar, own_similarity(rows, certainty, missing))
    return similar


def usual_price(sure: Floats, counts: NDArray[np.int64]) -> float:
    """The mean over objects of their co-association with all others they are surely with."""
    degrees = sure @ counts - sure.diagonal()
    return float(counts @ degrees / counts.sum()) or 1.0


class Enhanced(NamedTuple):
    """The enhanced similarities of rows, and how they were found."""

    pairs: Floats
    n_components: int
    n_iter: int
    converged: bool


class _Spread(NamedTuple):
    """A matrix over all objects that does not tell objects of a row apart.

    ``pairs`` has the value of every pair of rows, on its diagonal that of two objects of a row
    (of no meaning for rows of a single object); ``own`` the diagonal.
    """

    pairs: Floats
    own: Floats


def enhanced(
    sure: Floats, weak: Floats, counts: NDArray[np.int64], price: float, max_iter: int
) -> Enhanced:
    """Similarities that follow the sure ones, by the alternating direction method.

    Parameters
    ----------
    sure : ndarray of shape (u, u)
        Co-association of sure pairs of rows, 0 elsewhere; symmetric.
    weak : ndarray of shape (u, u)
        Similarities of all pairs of rows; symmetric.
    counts : ndarray of shape (u,)
        Objects of each row.
    price : float
        Of changing an entry that is not sure.
    max_iter : int
        Most steps.
    """
    given = _Spread(weak, weak.diagonal().copy())
    fixed = sure > 0
    zero = _Spread(np.zeros_like(weak), np.zeros(len(weak)))
    C, E, F, Y1, Y2 = zero, zero, zero, given, zero
    nothing = _NOTHING * _norm(given, counts)
    with one_thread():
        solver = _Inverse(sure, counts)
        n_iter, converged = 0, False
        while n_iter < max_iter and not converged:
            n_iter += 1
            before = C, E, F
            C = solver.times(_each(lambda a, e, y, f, z: a - e + y + f - z, given, E, Y1, F, Y2))
            E = _each(lambda a, c, y: (a - c + y) / (price + 1.0), given, C, Y1)
            E.pairs[fixed] = 0.0
            F = _clipped(_each(np.add, C, Y2))
            gaps = _each(lambda a, c, e: a - c - e, given, C, E), _each(np.subtract, C, F)
            moves = [
                _each(np.subtract, new, old) for new, old in zip((C, E, F), before, strict=True)
            ]
            lengths = [_norm(each, counts) for each in (*moves, *gaps)]
            whole = [_norm(each, counts) for each in (*before, Y1, Y2)]
            Y1, Y2 = _each(np.add, Y1, gaps[0]), _each(np.add, Y2, gaps[1])
            converged = all(
                a <= max(_STILL * b, nothing) for a, b in zip(lengths, whole, strict=True)
            )
    return Enhanced(_clipped(C).pairs, solver.n_components, n_iter, converged)


def _each(function: Any, *matrices: _Spread) -> _Spread:
    """A function of entries."""
    return _Spread(*(function(*parts) for parts in zip(*matrices, strict=True)))


def _clipped(matrix: _Spread) -> _Spread:
    """The nearest symmetric matrix in [0, 1]."""
    both = (matrix.pairs + matrix.pairs.T) / 2.0
    return _Spread(np.clip(both, 0.0, 1.0, out=both), np.clip(matrix.own, 0.0, 1.0))


def _norm(matrix: _Spread, counts: NDArray[np.int64]) -> float:
    """Frobenius norm over all objects."""
    squares = matrix.pairs**2
    whole = float(counts @ squares @ counts)
    diagonal = float(counts @ (matrix.own**2 - squares.diagonal()))
    return float(np.sqrt(max(whole + diagonal, 0.0)))


class _Inverse:
    """The inverse of 2 L + 2 I over all objects, L the Laplacian of the sure pairs.

    On all objects 2 L + 2 I = diag(d) - 2 B with d = 2 B 1 + 2, where B may have any diagonal. A
    column splits into the means over rows, which the inverse of the small diag(d) - 2 B
    diag(counts) maps, and what objects of a row differ by, which B does not see and d divides.
    The small one is symmetric once rows and columns are scaled by the roots of the counts, and
    has a block for each component of the graph.
    """

    def __init__(self, sure: Floats, counts: NDArray[np.int64]) -> None:
        self.counts = counts.astype(np.float64)
        self.d = 2.0 * (sure @ self.counts) + 2.0
        self.n_components, component = connected_components(
            sparse.csr_array(sure > 0), directed=False
        )
        # Rows that nothing joins need no matrix.
        sizes = np.bincount(component)
        self.single = np.flatnonzero(sizes[component] == 1)
        self.alone = 1.0 / (self.d - 2.0 * sure.diagonal() * self.counts)[self.single]
        order = np.argsort(component, kind="stable")
        groups = np.split(order, np.cumsum(sizes)[:-1])
        self.blocks = [(g, self._block(sure, g)) for g in groups if len(g) > 1]

    def _block(self, sure: Floats, group: NDArray[np.intp]) -> Floats:
        root = np.sqrt(self.counts[group])
        small = np.diag(self.d[group]) - 2.0 * root[:, None] * sure[np.ix_(group, group)] * root
        inverse: Floats = cho_solve(cho_factor(small), np.eye(len(group)))
        return inverse / root[:, None] * root

    def times(self, matrix: _Spread) -> _Spread:
        """The inverse times a matrix."""
        c, pairs = self.counts, matrix.pairs
        within = pairs.diagonal()
        means = (matrix.own + (c - 1.0) * within) / c
        filled = pairs.copy()
        np.fill_diagonal(filled, means)
        out = np.empty_like(pairs)
        out[self.single] = self.alone[:, None] * filled[self.single]
        for group, inverse in self.blocks:
            out[group] = inverse @ filled[group]
        middle = out.diagonal().copy()
        np.fill_diagonal(out, middle + (within - means) / self.d)
        return _Spread(out, middle + (matrix.own - means) / self.d)


def _share(sure: Floats, counts: NDArray[np.int64]) -> float:
    """Share of the pairs of different objects that are sure."""
    n, c = int(counts.sum()), counts.astype(np.float64)
    inside = sure > 0
    return float((c @ inside @ c - c @ inside.diagonal()) / (n * (n - 1)))


class ECCMS(FixedNumber, function=eccms):
    """Cluster by the self-enhanced co-association; see `eccms` for the method."""

    alpha: float = 0.8
    price: float | None = None
    linkage: Link = "average"
    missing: Missing = "pair"
    max_iter: int = 100
    max_memory: float | str = "4 GiB"
