"""Ensembles of communities of a graph: Louvain at many resolutions, each on other edges."""

from collections.abc import Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import NOISE, UNSEEN
from consilience._optional import optional
from consilience._validation import N_MEMBERS, Interval, NoneValue, Satisfies
from consilience.datasets._graphs import as_graph, upper_edges
from consilience.errors import InvalidInputError
from consilience.generate._base import Generator, Made, Order, Stopwatch, compact
from consilience.generate._draw import SHARE, check_share, draw_subset
from consilience.rows import Rows

__all__ = ["CommunityEnsemble"]

_POSITIVE = Interval(Real, 0, open_low=True)
# Lowest resolution where none is given. At 1 modularity is what it is by its definition; below,
# it tends to one group for all.
_LOWEST = 0.5
# Louvain goes on while a pass gains at least this much modularity.
_TOLERANCE = 1e-4
# Steps of the golden ratio fill a range evenly, however many they are.
_GOLDEN = (5**0.5 - 1) / 2


def _is_resolution(value: Any) -> bool:
    if isinstance(value, tuple) and len(value) == 2:
        return all(map(_POSITIVE.accepts, value)) and value[0] <= value[1]
    return _POSITIVE.accepts(value)


class CommunityEnsemble(Generator):
    """Communities of a graph by Louvain, many times: other resolutions, orders and edges.

    Parameters
    ----------
    n_members : int, default=30
        Number of partitions.
    resolution : float, (low, high) or None, default=None
        How fine members are: the weight of what modularity expects by chance. Of a range every
        member has another one, evenly spread over its logarithm. None goes from 0.5 to where
        communities of two nodes fall apart, the number of nodes divided by the mean degree.
    max_edges : float, int or (low, high), default=0.9
        Edges a member sees. Nodes whose edges it sees none of are unseen.
    random_state : int, RandomState or None
        Draws one seed a member; equal seeds give equal ensembles whatever ``n_jobs``.
    n_jobs : int or None
        Processes; None means one.

    Notes
    -----
    Nodes without edges are noise: they can be in no community. Needs scikit-network (extra
    ``networks``). Time of a member grows with the edges, 1.1 s of processor time for
    a million of them; memory too.

    References
    ----------
    Blondel, Guillaume, Lambiotte & Lefebvre (2008), Fast unfolding of communities in large
    networks, J. Stat. Mech. P10008; Reichardt & Bornholdt (2006), Statistical mechanics of
    community detection, Phys. Rev. E 74, 016110 (resolution).

    Examples
    --------
    >>> edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]
    >>> ens = CommunityEnsemble(4, resolution=1.0, max_edges=1.0, random_state=0).generate(edges)
    >>> ens.n_clusters.tolist()
    [2, 2, 2, 2]
    """

    _constraints: ClassVar[dict[str, Any]] = {
        **Generator._common_constraints,
        "n_members": [N_MEMBERS],
        "resolution": [
            Satisfies(_is_resolution, "a number above 0, or a range (low, high) of such"),
            NoneValue(),
        ],
        "max_edges": [SHARE],
    }
    # scikit-network holds the interpreter's lock.
    _prefer: ClassVar[str] = "processes"

    def __init__(
        self,
        n_members: int = 30,
        *,
        resolution: Any = None,
        max_edges: Any = 0.9,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_members = n_members
        self.resolution = resolution
        self.max_edges = max_edges
        self.random_state = random_state
        self.n_jobs = n_jobs

    def generate(self, X: Any, *, checkpoint: Any = None) -> Any:
        """Make the members on a graph.

        Parameters
        ----------
        X : graph, see `consilience.datasets.as_graph`
            Edge list, square matrix (sparse or dense) or networkx graph.
        checkpoint : RunFolder, optional
            Writes every member to disk as soon as it is made.

        Returns
        -------
        Ensemble
            One record a member: seed, resolution, number of edges, seconds. Its index are the
            names of the nodes, where they have names.
        """
        return super().generate(X, checkpoint=checkpoint)

    def _rows(self, X: Any) -> Rows:
        if isinstance(X, Rows):
            return X
        graph = as_graph(X, owner=type(self).__name__)
        return Rows(graph.adjacency, index=graph.ids)

    def _prepare(self, X: Any) -> int:
        optional("sknetwork", extra="networks", what=type(self).__name__)
        if X.shape[0] < 2:
            raise InvalidInputError(
                f"{type(self).__name__} was given a graph of one node. Give at least two."
            )
        check_share("max_edges", self.max_edges, "edges, n_edges", X.nnz // 2, type(self).__name__)
        return self.n_members

    def _make(self, X: Any, orders: Sequence[Order]) -> list[Made]:
        edges = upper_edges(X)
        return [self._make_one(X, edges, order) for order in orders]

    def _group_size(self, X: Any, n_members: int, n_workers: int) -> int:
        """Few groups where there are workers, each of which is sent the graph."""
        return max(1, -(-n_members // (4 * n_workers))) if n_workers > 1 else 1

    def _make_one(self, X: Any, edges: tuple[NDArray[Any], ...], order: Order) -> Made:
        watch = Stopwatch()
        rng = np.random.default_rng(order.seed)
        resolution = self._resolution(X, order.number, rng)
        seen = draw_subset(rng, self.max_edges, len(edges[0]))
        graph = X if seen is None else _matrix(edges, seen, X.shape)
        labels = louvain(graph, resolution, int(rng.integers(2**31 - 1)))
        labels[np.diff(graph.indptr) == 0] = UNSEEN
        labels[np.diff(X.indptr) == 0] = NOISE
        compacted = compact(labels)
        record = {
            "algorithm": "louvain",
            "seed": order.seed,
            "resolution": resolution,
            "n_clusters": int(compacted.max()) + 1,
            "n_edges": graph.nnz // 2,
            "seconds": watch.seconds(),
            "error": None,
        }
        return Made(compacted, record)

    def _resolution(self, X: Any, number: int, rng: np.random.Generator) -> float:
        """That of a member: steps of the golden ratio through the range, a little off each."""
        if isinstance(self.resolution, Real):
            return float(self.resolution)
        degree = X.nnz / X.shape[0]
        low, high = self.resolution or (_LOWEST, max(2.0, X.shape[0] / max(degree, 1.0)))
        place = (0.5 + number * _GOLDEN + rng.uniform(0, 1 / self.n_members)) % 1.0
        return float(low * (high / low) ** place)


def _matrix(
    edges: tuple[NDArray[Any], ...], seen: NDArray[np.int64], shape: tuple[int, int]
) -> Any:
    """The symmetric matrix of some edges."""
    first, second, weights = (part[seen] for part in edges)
    ends = np.concatenate([first, second]), np.concatenate([second, first])
    return sparse.csr_array((np.concatenate([weights, weights]), ends), shape=shape)


def louvain(graph: Any, resolution: float, seed: int) -> NDArray[np.int64]:
    """Communities of one run of Louvain, its nodes in random order."""
    clustering = optional("sknetwork.clustering", extra="networks", what="CommunityEnsemble")
    model = clustering.Louvain(
        resolution=resolution,
        modularity="newman",
        tol_optimization=_TOLERANCE,
        tol_aggregation=_TOLERANCE,
        shuffle_nodes=True,
        return_probs=False,
        return_aggregate=False,
        random_state=seed,
    )
    return np.array(model.fit(sparse.csr_matrix(graph)).labels_, np.int64)
