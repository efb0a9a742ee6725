"""How often members put two objects together, in whatever form the memory allows.

For objects i and j let c be the members that put both in one cluster and N the members
that saw both. Co-association is c / N (``missing="pair"``) or c / R for R members
(``missing="all"``: a pair not seen counts as separated). A pair nobody saw gets 0; the
diagonal is 1.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray
from scipy import sparse
from scipy.sparse.linalg import LinearOperator

from consilience._threads import one_thread
from consilience._validation import (
    COUNT,
    DEVICE,
    MISSING,
    Options,
    Satisfies,
    check_jobs,
    check_value,
)
from consilience._words import plural
from consilience.engines import engine_for
from consilience.ensemble import Ensemble, takes_ensemble, usable_ensemble
from consilience.errors import InvalidInputError, InvalidParameterError, warn
from consilience.evidence._soft import (
    expected_nearest,
    expected_pairs,
    expected_rows,
    pairs_apart,
)
from consilience.kernels.labels.contingency import first_columns
from consilience.kernels.labels.products import cluster_sums, row_sums
from consilience.kernels.pairs.compare import count_type
from consilience.kernels.pairs.counts import count_pairs_block, nearest_pairs
from consilience.kernels.pairs.shares import shares_of
from consilience.soft_ensemble import SoftEnsemble

__all__ = ["CoAssociation", "Missing", "co_association", "fractions"]

Missing = Literal["pair", "all"]

_BLOCK_BYTES = 2**25


def _is_float(dtype: Any) -> bool:
    """Whether numpy takes it for a real floating-point type."""
    try:
        return np.dtype(dtype).kind == "f"
    except TypeError:
        return False


_FLOATS = Satisfies(_is_float, "a floating-point type such as numpy.float32")


@takes_ensemble(soft=True)
def co_association(
    ensemble: Ensemble,
    *,
    missing: Missing = "pair",
    values: Literal["fraction", "count"] = "fraction",
    form: Literal["dense", "condensed", "nearest", "operator"] = "dense",
    n_neighbors: int = 20,
    dtype: DTypeLike = np.float64,
    n_jobs: int | None = None,
    device: str | None = None,
) -> Any:
    """Share of the members that joined two objects, for all pairs or the strongest.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members. Noise is together with nobody. A `SoftEnsemble` of
        memberships joins a pair as far as it is expected to: by the sum over clusters of the
        products of both objects' memberships.
    missing : {"pair", "all"}, default="pair"
        Divide by the members that saw both objects, or by all members.
    values : {"fraction", "count"}, default="fraction"
        Shares in [0, 1], or the number of members that joined the pair, in the narrowest
        unsigned type (one byte up to 255 members); of memberships the expected number.
    form : {"dense", "condensed", "nearest", "operator"}, default="dense"
        A square matrix (memory n^2); the upper triangle in SciPy's order (half of that);
        a sparse matrix of the ``n_neighbors`` strongest pairs of each object (memory
        n * n_neighbors); or a `CoAssociation` operator that makes rows on demand (memory
        n * R).
    n_neighbors : int, default=20
        For ``form="nearest"``: pairs kept for each object, itself left out, smallest index
        on ties. The matrix is not made symmetric.
    dtype : float type, default=float64
        Of the fractions.
    n_jobs : int or None
        Threads; None means one.
    device : str or None, default=None
        A torch device, such as "cuda", where pairs are counted: the same counts. Not for
        ``form="operator"``, whose rows are made on demand.

    Returns
    -------
    ndarray of shape (n, n) or (n * (n - 1) / 2,), csr_array, or CoAssociation
        Symmetric, in [0, 1], with a unit diagonal (counts: the members that put the object
        into a cluster; ``"nearest"``: no diagonal). A pair that no member saw together
        gets 0, with a warning.

    References
    ----------
    Fred & Jain (2005), Combining multiple clusterings using evidence accumulation, IEEE
    TPAMI 27(6), section 3.

    Examples
    --------
    >>> co_association(Ensemble([[0, 0, 1], [0, 1, 1]]))
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    >>> co_association(Ensemble([[0, 0, 1], [0, None, 0]]), form="condensed")
    array([1. , 0.5, 0. ])
    """
    owner = "co_association"
    check_value("missing", missing, MISSING, owner=owner)
    check_value("values", values, [Options(("fraction", "count"))], owner=owner)
    forms = ("dense", "condensed", "nearest", "operator")
    check_value("form", form, [Options(forms)], owner=owner)
    check_value("dtype", dtype, [_FLOATS], owner=owner)
    check_jobs(n_jobs, owner=owner)
    check_value("device", device, DEVICE, owner=owner)
    jobs = 1 if n_jobs is None else n_jobs
    if form == "nearest":
        check_value("n_neighbors", n_neighbors, COUNT, owner=owner)
    if form == "operator":
        return operator_of(ensemble, missing=missing)
    if isinstance(ensemble, SoftEnsemble):
        by_pair, as_shares = missing == "pair" and ensemble.has_unseen, values == "fraction"
        how: Any = {"by_pair": by_pair, "shares": as_shares, "dtype": dtype, "n_jobs": jobs}
        if form == "nearest":
            return expected_nearest(ensemble, n_neighbors, **how)
        if by_pair and as_shares:
            _warn_of_pairs(pairs_apart(ensemble))
        return expected_pairs(ensemble, condensed=form == "condensed", **how)
    if form == "nearest":
        return _nearest(ensemble, missing, values, n_neighbors, np.dtype(dtype), jobs, device)
    with_seen = values == "fraction" and missing == "pair" and ensemble.has_unseen
    joined, seen = engine_for(ensemble.members, device).pair_counts(
        with_seen=with_seen, condensed=form == "condensed", n_jobs=jobs
    )
    if values == "count":
        return joined
    if seen is not None:
        _warn_of_strangers(seen)
    shares = shares_of(joined, seen, ensemble.n_members, dtype, n_jobs=jobs)
    if form == "dense":
        np.fill_diagonal(shares, 1.0)
    return shares


def fractions(
    joined: NDArray[Any],
    seen: NDArray[Any] | None,
    n_members: int,
    dtype: DTypeLike = np.float64,
) -> NDArray[np.floating[Any]]:
    """Counts as shares: of the members that saw the pair (0 / 0 is 0), or of all."""
    check_value("n_members", n_members, COUNT, owner="fractions")
    check_value("dtype", dtype, [_FLOATS], owner="fractions")
    joined = np.ascontiguousarray(joined)
    if seen is not None:
        seen = np.ascontiguousarray(seen)
        if seen.shape != joined.shape:
            raise InvalidInputError(
                f"The 'seen' parameter of fractions must have shape {joined.shape}, as 'joined' "
                f"has: a count for each pair. Got shape {seen.shape} instead."
            )
    return shares_of(joined, seen, n_members, dtype)


def _warn_of_strangers(seen: NDArray[Any]) -> None:
    """Warn if there are pairs that no member saw together."""
    pairs = int(np.count_nonzero(seen == 0))
    if seen.ndim == 2:
        pairs = (pairs - int(np.count_nonzero(seen.diagonal() == 0))) // 2
    _warn_of_pairs(pairs)


def _warn_of_pairs(pairs: int) -> None:
    if pairs:
        one = pairs == 1
        warn(
            f"{plural(pairs, 'pair')} of objects {'was' if one else 'were'} never seen together by "
            f"any member; {'its' if one else 'their'} co-association is 0. More members, or "
            f"members that see more objects each, would cover {'it' if one else 'them'}.",
        )


def _nearest(
    ensemble: Ensemble,
    missing: Missing,
    values: str,
    n_neighbors: int,
    dtype: np.dtype[Any],
    n_jobs: int,
    device: str | None,
) -> sparse.csr_array:
    n = ensemble.n_objects
    k = min(n_neighbors, n - 1)
    if not k:  # a single object has no pairs
        kind = count_type(ensemble.n_members) if values == "count" else dtype
        return sparse.csr_array((n, n), dtype=kind)
    if device is None:
        columns, joined, seen = nearest_pairs(ensemble.members, k, missing=missing, n_jobs=n_jobs)
    else:
        from consilience.engines.torch import Torch

        by_pair = missing == "pair" and ensemble.has_unseen
        columns, joined, seen = Torch(ensemble.members, device).nearest_pairs(k, by_pair=by_pair)
    data = joined if values == "count" else fractions(joined, seen, ensemble.n_members, dtype)
    starts = np.arange(0, n * k + 1, k)
    matrix = sparse.csr_array((data.ravel(), columns.ravel(), starts), shape=(n, n))
    matrix.sort_indices()
    return matrix


class CoAssociation(LinearOperator):
    """Co-association without the matrix: rows on demand, and products with vectors.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    missing : {"pair", "all"}, default="pair"
        See `co_association`.

    Notes
    -----
    Memory O(n * R). A row costs O(n * R) byte comparisons. A product costs O(n * R) where
    every pair has the same denominator (nothing unseen, or ``missing="all"``), and goes
    through all rows otherwise.

    Examples
    --------
    >>> op = CoAssociation(Ensemble([[0, 0, 1], [0, 1, 1]]))
    >>> op.rows(0, 2)
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5]])
    >>> op @ np.ones(3)
    array([1.5, 2. , 1.5])
    """

    def __init__(self, ensemble: Ensemble, *, missing: Missing = "pair") -> None:
        check_value("missing", missing, MISSING, owner="CoAssociation")
        if not isinstance(self, _Expected):
            ensemble = usable_ensemble(ensemble, owner="CoAssociation")
        super().__init__(np.dtype(np.float64), (ensemble.n_objects, ensemble.n_objects))
        self.ensemble = ensemble
        self.missing = missing
        self._pairwise = missing == "pair" and ensemble.has_unseen
        self._starts = first_columns(ensemble.members)
        # What the unit diagonal adds: members that put the object into no cluster.
        self._own = np.zeros(ensemble.n_objects)
        for labels in ensemble.members:
            self._own += labels < 0
        self._own /= ensemble.n_members

    def rows(self, start: int, stop: int) -> NDArray[np.float64]:
        """Rows ``start`` to ``stop`` of the matrix."""
        self._check_rows(start, stop)
        members = self.ensemble.members
        shape = (stop - start, self.shape[0])
        joined = np.empty(shape, count_type(self.ensemble.n_members))
        seen = np.empty_like(joined) if self._pairwise else None
        count_pairs_block(members, start, stop, joined, seen)
        shares = np.asarray(fractions(joined, seen, self.ensemble.n_members), np.float64)
        shares[np.arange(stop - start), np.arange(start, stop)] = 1.0
        return shares

    def row(self, i: int) -> NDArray[np.float64]:
        """One row of the matrix, the last one at -1."""
        start = i + self.shape[0] if i < 0 else i
        return self.rows(start, start + 1)[0]

    def _check_rows(self, start: int, stop: int) -> None:
        """Refuse rows that are not there: kernels read wherever they are told to."""
        n = self.shape[0]
        if not 0 <= start <= stop <= n:
            raise InvalidParameterError(
                f"The 'start' and 'stop' parameters of CoAssociation.rows must be places among the "
                f"{n} objects, in order. Got {start} to {stop} instead."
            )

    def _matmat(self, V: NDArray[Any]) -> NDArray[np.float64]:
        V = np.asarray(V, float)
        if self._pairwise:
            step = max(1, _BLOCK_BYTES // (8 * self.shape[0]))
            blocks = range(0, self.shape[0], step)
            ends = [(start, min(start + step, self.shape[0])) for start in blocks]
            return np.concatenate([self.rows(start, stop) @ V for start, stop in ends])
        members, starts = self.ensemble.members, self._starts
        # B @ B.T @ V, where B (objects x clusters) would take many times the memory of labels.
        sums = row_sums(members, starts, cluster_sums(members, starts, V))
        sums /= self.ensemble.n_members
        sums += self._own[:, None] * V
        return sums

    def _matvec(self, v: NDArray[Any]) -> NDArray[np.float64]:
        return self._matmat(np.reshape(v, (-1, 1))).ravel()

    def _adjoint(self) -> "CoAssociation":
        return self


class _Expected(CoAssociation):
    """The same of memberships."""

    ensemble: SoftEnsemble

    def __init__(self, ensemble: SoftEnsemble, *, missing: Missing = "pair") -> None:
        super().__init__(ensemble, missing=missing)
        self._own = 1.0 - (ensemble.memberships**2).sum(axis=1) / ensemble.n_members

    def rows(self, start: int, stop: int) -> NDArray[np.float64]:
        self._check_rows(start, stop)
        with one_thread():
            return expected_rows(self.ensemble, start, stop, by_pair=self._pairwise)

    def _matmat(self, V: NDArray[Any]) -> NDArray[np.float64]:
        if self._pairwise:
            return super()._matmat(V)
        H, V = self.ensemble.memberships, np.asarray(V, float)
        with one_thread():
            sums = H @ (H.T @ V)
        return np.asarray(sums / self.ensemble.n_members + self._own[:, None] * V)


def operator_of(ensemble: Ensemble, *, missing: Missing = "pair") -> CoAssociation:
    """`CoAssociation` of labels, or of memberships what is expected of it."""
    if isinstance(ensemble, SoftEnsemble):
        return _Expected(ensemble, missing=missing)
    return CoAssociation(ensemble, missing=missing)
