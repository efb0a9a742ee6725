"""Transfer cut: the normalised cut of a graph of rows and columns, through its small side."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils import check_random_state

from consilience._threads import one_thread
from consilience._validation import as_numbers, check_jobs
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels._parallel import Team, by_rows
from consilience.kernels.data.tall import csr_gram
from consilience.kernels.labels.contingency import cluster_contingency, first_columns
from consilience.kernels.labels.products import cluster_sums, part_sums, row_sums
from consilience.partition._embed import (
    centres_of_many,
    fill_empty,
    kmeans_labels,
    leading_eigenvectors,
    unit_rows,
)
from consilience.partition._parts import Parts, check_n_parts, one_part

__all__ = ["LabelLinks", "transfer_cut"]

Floats = NDArray[np.float64]

# Of a row or column without any entry.
_NO_DEGREE = 1e-10
# Rows of a dense matrix multiplied together.
_BLOCK = 8192
# Sums of products of larger ones might leave the range of numbers.
_LARGEST_WEIGHT = 1e100


def transfer_cut(
    Q: Any,
    k: int,
    *,
    random_state: Any = None,
    weights: NDArray[Any] | None = None,
    n_jobs: int | None = None,
) -> Parts:
    """Parts of the rows of Q by the normalised cut of the graph of rows and columns.

    Parameters
    ----------
    Q : array, sparse matrix or LabelLinks of shape (n_rows, p)
        Finite, non-negative; for instance objects x clusters.
    k : int
        Number of parts, at most the number of columns with an entry.
    random_state : int, RandomState or None
        Starts of k-means.
    weights : array of shape (n_rows,), optional
        How often each row counts, where equal objects share a row: exact.
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.

    Returns
    -------
    Parts
        Of the rows. ``cut`` is their normalised cut in the graph Q diag(column sums)^-1 Q^T,
        between 0 and k. Sizes count rows, not weights.

    Notes
    -----
    Equals the leading eigenvectors of the whole graph of n_rows + p vertices, for an
    eigenproblem of p x p. Time O(entries of Q x entries in a row + p^3), memory
    O(entries + n_rows k + p^2).

    References
    ----------
    Li, Wu & Chang (2012), Segmentation using superpixels: a bipartite graph partitioning
    approach, CVPR, section 3.

    Examples
    --------
    >>> Q = np.array([[1.0, 1.0, 0.0], [1.0, 0.9, 0.1], [0.0, 0.0, 1.0]])
    >>> labels = transfer_cut(Q, 2, random_state=0).labels
    >>> (labels[0] == labels[1]).item(), (labels[0] == labels[2]).item()
    (True, False)
    """
    check_jobs(n_jobs, owner="transfer_cut")
    links = Q if isinstance(Q, LabelLinks) else _MatrixLinks(_checked(Q))
    n = links.shape[0]
    check_n_parts(k, n, owner="transfer_cut", what="rows")
    if k == 1:
        return one_part(n, "spectral")
    counts = np.ones(n) if weights is None else _checked_weights(weights, n)
    rng = check_random_state(random_state)
    used = np.flatnonzero(links.column_sums(counts) > 0)
    if k > len(used):
        raise InvalidParameterError(
            f"The 'k' parameter of transfer_cut must be at most the number of columns with an "
            f"entry, {len(used)}. Got {k} instead."
        )
    asked = None if weights is None else counts
    with one_thread():
        table, degrees = _columns(links, used, counts, k, rng)
        E, centres = _rows(links, table, degrees, asked, rng, n_jobs)
    labels = kmeans_labels(E, k, asked, rng, init=centres, n_jobs=n_jobs)
    labels, repaired = fill_empty(labels, k, E)
    note = f"{repaired} empty parts were given one row each" if repaired else ""
    cut = _normalised_cut(links.part_sums(labels, counts, k))
    return Parts(labels, cut, "spectral", np.bincount(labels, minlength=k), note)


@dataclass(frozen=True)
class LabelLinks:
    """Rows and columns joined by labels: one entry a row and member, the weight of its cluster.

    Attributes
    ----------
    members : (n_members, n_rows) signed integers, C-contiguous
        One label a row and member; negative labels are no entry.
    weights : (n_clusters,) float64
        Of the clusters of all members, one after the other.
    n_jobs : int
        Threads; the sums do not depend on it.
    """

    members: NDArray[np.signedinteger[Any]]
    weights: Floats
    n_jobs: int = 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return (self.members.shape[1], len(self.weights))

    @property
    def nnz(self) -> int:
        """Entries."""
        return int(np.count_nonzero(self.members >= 0))

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First column of each member, and the number of columns last."""
        return first_columns(self.members)

    def take(self, rows: NDArray[np.intp]) -> "LabelLinks":
        """The links of some rows, on one thread."""
        part = LabelLinks(np.ascontiguousarray(self.members[:, rows]), self.weights)
        # Some rows may lack a member's last clusters: the columns stay those of all rows.
        vars(part)["starts"] = self.starts
        return part

    def column_sums(self, counts: Floats) -> Floats:
        """Sum of each column over rows that count so often."""
        held = cluster_sums(self.members, self.starts, counts[:, None], n_jobs=self.n_jobs)[:, 0]
        return held * self.weights

    def degrees(self) -> Floats:
        """Sum of each row."""
        return self.times(np.ones((len(self.weights), 1)))[:, 0]

    def gram(self, weights: Floats) -> Floats:
        """Q^T diag(weights) Q."""
        tables = cluster_contingency(self.members, weights, starts=self.starts, n_jobs=self.n_jobs)
        return tables * self.weights[:, None] * self.weights[None, :]

    def times(self, table: Floats) -> Floats:
        """Q times a table of columns x anything."""
        weighted = self.weights[:, None] * table
        return row_sums(self.members, self.starts, weighted, n_jobs=self.n_jobs)

    def part_sums(self, labels: NDArray[np.int32], counts: Floats, k: int) -> Floats:
        """Sums of the columns over each part, parts x columns."""
        sums = part_sums(self.members, self.starts, labels, k, counts, n_jobs=self.n_jobs)
        return np.ascontiguousarray(sums.T) * self.weights


@dataclass(frozen=True)
class _MatrixLinks:
    """The same of a matrix, dense or CSR."""

    Q: Any

    @property
    def shape(self) -> tuple[int, int]:
        return (int(self.Q.shape[0]), int(self.Q.shape[1]))

    def column_sums(self, counts: Floats) -> Floats:
        return np.asarray(self.Q.T @ counts).ravel()

    def degrees(self) -> Floats:
        return np.asarray(self.Q.sum(axis=1), np.float64).ravel()

    def gram(self, weights: Floats) -> Floats:
        Q = self.Q
        W = np.zeros((Q.shape[1], Q.shape[1]))
        if sparse.issparse(Q):
            csr_gram(Q.indptr, Q.indices, Q.data, weights, W)
            return W
        for start in range(0, len(Q), _BLOCK):
            rows = Q[start : start + _BLOCK]
            W += rows.T @ (weights[start : start + _BLOCK, None] * rows)
        return W

    def times(self, table: Floats) -> Floats:
        return np.asarray(self.Q @ table)

    def part_sums(self, labels: NDArray[np.int32], counts: Floats, k: int) -> Floats:
        n = len(labels)
        parts = sparse.csr_array((counts, (labels, np.arange(n))), shape=(k, n))
        sums = parts @ self.Q
        return sums.toarray() if sparse.issparse(sums) else np.asarray(sums)


def _checked(Q: Any) -> Any:
    if sparse.issparse(Q):
        Q = sparse.csr_array(Q, dtype=np.float64)
        entries = Q.data
    else:
        Q = as_numbers("Q", Q, owner="transfer_cut", shape=(None, None))
        Q = entries = np.ascontiguousarray(Q)
    if len(Q.shape) != 2 or not np.isfinite(entries).all():
        raise InvalidInputError("Q of transfer_cut must be a finite table of rows and columns.")
    if entries.size and entries.min() < 0:
        raise InvalidInputError(f"Q must not be negative. Got {entries.min():g}.")
    return Q


def _checked_weights(weights: Any, n: int) -> Floats:
    numbers = as_numbers("weights", weights, owner="transfer_cut", shape=(n,), each="row")
    if numbers.min() < 0:
        raise InvalidInputError(
            f"weights of transfer_cut must not be negative. Got {numbers.min():g}."
        )
    if numbers.max() > _LARGEST_WEIGHT:
        raise InvalidInputError(
            f"weights of transfer_cut must be at most {_LARGEST_WEIGHT:g}, or their sums leave the "
            f"range of numbers. Got {numbers.max():g}."
        )
    return numbers


def _columns(
    links: "LabelLinks | _MatrixLinks",
    used: NDArray[np.intp],
    counts: Floats,
    k: int,
    rng: np.random.RandomState,
) -> tuple[Floats, Floats]:
    """Columns in the space of the k leading eigenvectors, columns x k, and the sums of the rows.

    Rows over their sums, times this table, are the rows in that space.
    """
    degrees = links.degrees()
    degrees[degrees <= 0] = _NO_DEGREE
    W = links.gram(counts / degrees)[np.ix_(used, used)]
    scale = 1 / np.sqrt(W.sum(axis=1))
    N = W * scale[:, None] * scale[None, :]
    _, V = leading_eigenvectors((N + N.T) / 2, k, rng, positive=True)
    table = np.zeros((links.shape[1], k))
    table[used] = V * scale[:, None]
    return table, degrees


def _rows(
    links: "LabelLinks | _MatrixLinks",
    table: Floats,
    degrees: Floats,
    weights: Floats | None,
    rng: np.random.RandomState,
    n_jobs: int | None,
) -> tuple[Floats, Floats | None]:
    """All rows, each of length 1; and where k-means of them starts, if found meanwhile."""

    def of(links: "LabelLinks | _MatrixLinks", degrees: Floats, n_jobs: int | None) -> Floats:
        E = links.times(table)

        def divide(rows: slice) -> None:
            E[rows] /= degrees[rows, None]

        by_rows(divide, len(E), n_jobs)
        return unit_rows(E, n_jobs, out=E)

    if not isinstance(links, LabelLinks):
        # The product of some rows with the table might differ from that of all by its last bit.
        return of(links, degrees, n_jobs), None

    def some(rows: NDArray[np.intp]) -> Floats:
        return of(links.take(rows), degrees[rows], 1)

    with Team(n_jobs, 2) as team:
        k = table.shape[1]
        centres = team.aside(lambda: centres_of_many(some, len(degrees), k, weights, rng))
        return of(links, degrees, n_jobs), centres()


def _normalised_cut(sums: Floats) -> float:
    """Sum over parts of the share of their similarity that leaves them; from parts x columns."""
    whole = sums.sum(axis=0)
    inside = np.divide(sums * sums, whole, out=np.zeros_like(sums), where=whole > 0).sum(axis=1)
    volume = sums.sum(axis=1)
    kept = np.divide(inside, volume, out=np.ones(len(sums)), where=volume > 0)
    return float(max(len(sums) - kept.sum(), 0.0))
