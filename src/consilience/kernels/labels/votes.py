"""Votes of a member's clusters on objects: counted where they overlap, cast, or passed on."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._blocks import BLOCK_ROWS, add_in_tree
from consilience.kernels._jit import compiled
from consilience.kernels._parallel import Team

__all__ = ["Ballot", "cast_votes", "overlap", "pass_on"]

Labels = NDArray[np.signedinteger[Any]]

# Objects of a block: many blocks, so that threads end together.
_BLOCK = 1024
# Votes that are worth a thread.
_WORTH = 2**18
# Parts that sums of shares are made in at most, and numbers of all parts.
_PARTS, _NUMBERS = 64, 2**22


class Ballot:
    """Votes of the objects for k columns, cast by member after member; used as a context.

    ``votes`` is (n_objects, k), whole numbers: threads change nothing.

    Examples
    --------
    >>> with Ballot(np.array([1, 1, 5]), 2) as ballot:
    ...     ballot.cast(np.array([0, 0, 1], np.int8), np.array([0, 1]))
    ...     ballot.overlap(np.array([0, 1, 1], np.int8), 2).tolist()
    [[1, 0], [1, 5]]
    """

    def __init__(self, weights: NDArray[np.int64], k: int, n_jobs: int | None = 1) -> None:
        self.weights = weights
        self.votes = np.zeros((len(weights), k), np.int32)
        self._team = Team(n_jobs, -(-self.votes.size // _WORTH))

    def __enter__(self) -> "Ballot":
        self._team.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._team.__exit__(*error)

    def cast(self, labels: Labels, match: NDArray[np.int64], amount: int = 1) -> None:
        """Add ``amount`` to column ``match[label]`` of each object with a label."""
        step = self._team.size
        self._team.run(lambda at: cast_votes(labels, match, self.votes, amount, at, step))

    def overlap(self, labels: Labels, n_clusters: int) -> NDArray[np.int64]:
        """Votes that the objects of each cluster of a member have got so far, (n_clusters, k)."""
        step = self._team.size
        out = np.zeros((step, n_clusters, self.votes.shape[1]), np.int64)
        self._team.run(lambda at: overlap(labels, self.weights, self.votes, out[at], at, step))
        return np.asarray(out.sum(axis=0))


@compiled
def overlap(labels, weights, votes, out, at=0, step=1):
    """Add to ``out`` the votes of each cluster's objects, in every ``step``-th block."""
    for start in range(at * _BLOCK, labels.shape[0], step * _BLOCK):
        for i in range(start, min(start + _BLOCK, labels.shape[0])):
            c = labels[i]
            if c >= 0:
                for q in range(votes.shape[1]):
                    out[c, q] += weights[i] * votes[i, q]


@compiled
def cast_votes(labels, match, votes, amount, at=0, step=1):
    """Add ``amount`` to column ``match[label]`` of objects, in every ``step``-th block."""
    for start in range(at * _BLOCK, labels.shape[0], step * _BLOCK):
        for i in range(start, min(start + _BLOCK, labels.shape[0])):
            if labels[i] >= 0:
                votes[i, match[labels[i]]] += amount


def pass_on(
    members: Labels,
    starts: NDArray[np.int64],
    order: Iterable[int],
    weights: NDArray[np.int64],
    shares: NDArray[np.float64],
    n_votes: NDArray[np.int64],
    *,
    n_jobs: int | None = 1,
) -> None:
    """Let each cluster of members vote on its objects with the mean of their shares so far.

    Parameters
    ----------
    members : (n_members, n_objects) signed integers, C-contiguous
        One row a member; negative: it has no vote there.
    starts : (n_members + 1,) int64
        Where the clusters of each member begin among all.
    order : numbers of members
        Who votes, one after another.
    weights : (n_objects,) int64
        How often each object counts in a mean.
    shares : (n_objects, k) float64
        The mean of the votes each object has got; changed to that of more votes.
    n_votes : (n_objects,) int64
        The number of those votes, 0 for objects without any, which count in no mean;
        changed too. A cluster without any vote passes nothing on.
    n_jobs : int or None, default=1
        Threads; the result does not depend on it.

    Examples
    --------
    >>> shares, n_votes = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]), np.array([1, 1, 0])
    >>> members, starts = np.array([[0, 0, 0]], np.int8), np.array([0, 1])
    >>> pass_on(members, starts, [0], np.ones(3, np.int64), shares, n_votes)
    >>> shares.tolist(), n_votes.tolist()
    ([[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]], [2, 2, 1])
    """
    with Team(n_jobs, min(_PARTS, -(-shares.size // _WORTH))) as team:
        for member in order:
            width = int(starts[member + 1] - starts[member])
            _pass_on_one(team, members[member], width, weights, shares, n_votes)


def _pass_on_one(
    team: Team,
    labels: Labels,
    n_clusters: int,
    weights: NDArray[np.int64],
    shares: NDArray[np.float64],
    n_votes: NDArray[np.int64],
) -> None:
    """One member's votes. Parts, and the order they are added in, are those of any team."""
    (n, k), step = shares.shape, team.size
    size = _part_size(n, n_clusters * (k + 1))
    # The last column is the weight of those who have shares.
    parts = np.zeros((-(-n // size), n_clusters, k + 1))
    team.run(lambda at: _add_shares(labels, weights, shares, n_votes, size, at, step, parts))
    sums = add_in_tree(parts)
    mass = sums[:, k].copy()
    votes = sums[:, :k] / np.maximum(mass, 1.0)[:, None]
    team.run(lambda at: _give(labels, votes, mass, shares, n_votes, size, at, step))


def _part_size(n_objects: int, n_numbers: int) -> int:
    """Objects of a part, so that there are few parts and their sums fit into memory."""
    n_parts = max(1, min(_PARTS, _NUMBERS // max(n_numbers, 1)))
    return max(BLOCK_ROWS, -(-n_objects // n_parts))


@compiled
def _add_shares(labels, weights, shares, n_votes, size, at, step, parts):
    """Add up the weighted shares of each cluster in every step-th part, and the weights."""
    k = shares.shape[1]
    for p in range(at, parts.shape[0], step):
        for i in range(p * size, min((p + 1) * size, labels.shape[0])):
            c = labels[i]
            if c >= 0 and n_votes[i] > 0:
                w = float(weights[i])
                parts[p, c, k] += w
                for q in range(k):
                    parts[p, c, q] += w * shares[i, q]


@compiled
def _give(labels, votes, mass, shares, n_votes, size, at, step):
    """Add a vote to the mean of each object in a cluster that has one, in every step-th part."""
    for start in range(at * size, labels.shape[0], step * size):
        for i in range(start, min(start + size, labels.shape[0])):
            c = labels[i]
            if c >= 0 and mass[c] > 0:
                got = n_votes[i]
                for q in range(shares.shape[1]):
                    shares[i, q] = (shares[i, q] * got + votes[c, q]) / (got + 1)
                n_votes[i] = got + 1
