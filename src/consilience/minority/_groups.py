"""The foreground told apart: a consensus of the weak clusterings that found it.

How many groups there are is seen in the densities: each is a hill. Where their number is given,
or near is no distance between rows, evidence accumulation tells them apart: objects of one dense
group share a cluster in most weak clusterings. New foreground objects join the group whose objects
they share most clusters with.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from consilience._labels import smallest_type
from consilience.consensus._base import Consensus
from consilience.consensus.accumulation import eac
from consilience.ensemble import Ensemble, relabel
from consilience.kernels.minority.groups import most_shared
from consilience.minority._densities import hills_of

__all__ = ["Groups", "by_clusterer", "by_consensus"]

Labels = NDArray[np.int32]

# Foreground objects the dendrogram is built of; the others join its groups.
_MOST_OBJECTS = 4000


@dataclass(frozen=True)
class Groups:
    """Groups of the foreground, as shares of their objects in every cluster of every member.

    Attributes
    ----------
    shares : list of ndarray of shape (n_clusters of the member, n_groups)
    """

    shares: list[NDArray[np.float64]]

    @property
    def n_groups(self) -> int:
        """How many groups there are."""
        return self.shares[0].shape[1] if self.shares else 0

    def place(self, members: NDArray[Any], n_jobs: int | None = 1) -> Labels:
        """The group of each object with the greatest mean co-association, ties to the first.

        Parameters
        ----------
        members : ndarray of shape (n_members, n_objects)
            Clusters of the objects in the members the groups were found with.
        n_jobs : int or None
        """
        return most_shared(members, self.shares, n_jobs)

    def without_empty(self, labels: Labels) -> tuple["Groups", Labels]:
        """Groups that got an object, in order of first appearance, and the labels so numbered."""
        used, first = np.unique(labels, return_index=True)
        used = used[np.argsort(first)]
        number = np.full(self.n_groups, -1, np.int32)
        number[used] = np.arange(len(used))
        return Groups([share[:, used] for share in self.shares]), number[labels]


def _groups(members: NDArray[Any], counts: Sequence[int], labels: NDArray[Any]) -> Groups:
    """Groups of labelled objects, seen in every member."""
    n_groups = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=n_groups)
    shares = []
    for member, k in zip(members, counts, strict=True):
        cells = np.bincount(member.astype(np.int64) * n_groups + labels, minlength=k * n_groups)
        shares.append(cells.reshape(k, n_groups) / sizes)
    return Groups(shares)


def by_consensus(
    members: NDArray[Any],
    counts: Sequence[int],
    n_clusters: int | None,
    rng: np.random.Generator,
    n_jobs: int | None,
    rows: Any = None,
) -> tuple[Groups, Labels]:
    """Groups of the foreground by hills or evidence accumulation, and the group of each object.

    Parameters
    ----------
    members : ndarray of shape (n_members, n_objects)
        Clusters of the foreground objects in some weak clusterings.
    counts : sequence of int
        Clusters of each member.
    n_clusters : int or None
        Groups wanted; None takes the hills of the densities or, without rows, the number with
        the longest lifetime.
    rng : numpy Generator
        Chooses the objects of the dendrogram where there are too many.
    n_jobs : int or None
    rows : array or CSR matrix of shape (n_objects, n_features), optional
        The objects, where near is a distance between them.
    """
    n = members.shape[1]
    chosen = np.arange(n)
    if n > _MOST_OBJECTS:
        chosen = np.sort(rng.choice(n, _MOST_OBJECTS, replace=False))
    if len(chosen) == 1 or n_clusters == 1:
        labels = np.zeros(len(chosen), np.int32)
    elif n_clusters is None and rows is not None:
        labels = hills_of(rows[chosen], n_jobs).astype(np.int32)
        # What is too small to be a group joins one below.
        chosen, labels = chosen[labels >= 0], labels[labels >= 0]
    else:
        labels = eac(_ensemble(members[:, chosen], counts), n_clusters, n_jobs=n_jobs).labels
    groups = _groups(members[:, chosen], counts, labels)
    return groups.without_empty(groups.place(members, n_jobs))


def by_clusterer(
    members: NDArray[Any], counts: Sequence[int], X: Any, clusterer: Any
) -> tuple[Groups, Labels]:
    """Groups of the foreground by any clusterer, or consensus method of this library.

    What the clusterer calls noise joins the group it shares most clusters with: only the
    background is outside every group.
    """
    if isinstance(clusterer, Consensus):
        labels = np.asarray(clone(clusterer).fit(X, ensemble=_ensemble(members, counts)).labels_)
    else:
        labels = np.asarray(clone(clusterer).fit_predict(X))
    noise = labels < 0
    if noise.all():
        labels, noise = np.zeros(len(labels), np.int32), np.zeros(len(labels), bool)
    labels = labels.copy()
    labels[~noise] = relabel(labels[~noise])
    groups = _groups(members[:, ~noise], counts, labels[~noise])
    labels[noise] = groups.place(members[:, noise])
    return groups.without_empty(labels.astype(np.int32))


def _ensemble(members: NDArray[Any], counts: Sequence[int]) -> Ensemble:
    """Members as an ensemble; clusters without foreground vanish."""
    # All members at once: one by one, a hundred of them take longer than their dendrogram's pairs.
    first = np.cumsum([0, *counts[:-1]])
    cells = members + first[:, None]
    used = np.zeros(int(first[-1]) + counts[-1], np.int64)
    used[cells.ravel()] = 1
    before = np.cumsum(used) - used
    codes = before[cells] - before[first][:, None]
    return Ensemble._trusted(codes.astype(smallest_type(int(codes.max()) + 1)))
