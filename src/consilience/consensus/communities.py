"""Communities of a graph from many partitions of its nodes, by its edges alone.

Pairs of nodes that no edge joins are never looked at, so that time and memory grow with the edges.
"""

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._contingency import tabulate
from consilience._sklearn import Steps, with_callbacks
from consilience._validation import (
    COUNT,
    N_JOBS,
    HasMethods,
    Interval,
    NoneValue,
    RandomState,
    Rule,
    check_params,
    check_value,
)
from consilience.consensus._base import Stated
from consilience.consensus._solve import ConsensusResult, by_first_appearance
from consilience.datasets._graphs import Graph, as_graph
from consilience.ensemble import NOISE, UNSEEN, Ensemble, usable_ensemble
from consilience.errors import InvalidInputError, warn
from consilience.generate import with_defaults
from consilience.generate.communities import CommunityEnsemble
from consilience.kernels.pairs.edges import move_nodes

__all__ = ["Communities", "communities"]

Floats = NDArray[np.float64]
Labels = NDArray[Any]

# Members are compared on at most so many nodes.
_COMPARED = 20_000
# Of the members, the share that is heard where nobody says, and the least.
_HEARD, _FEWEST = 5, 5
_PASSES, _LEVELS = 100, 50
# Members that agree so far have settled: there is nothing to gain from another round.
_SETTLED = 0.95
_N_HEARD: list[Rule] = [Interval(Integral, 1), NoneValue()]
_GENERATOR: list[Rule] = [
    HasMethods(("generate", "get_params", "set_params"), "a generator"),
    NoneValue(),
]


def communities(
    ensemble: Ensemble,
    graph: Any,
    *,
    n_heard: int | None = None,
    generator: Any = None,
    max_rounds: int = 3,
) -> ConsensusResult:
    """The partition of a graph that agrees best with the members that agree with each other.

    Members of the right fineness come to the same communities again and again; those that are too
    coarse or too fine do so by chance. So the members that agree most with each other are heard.
    Of every edge they say how often its two nodes are together; nodes are then moved and groups
    joined until no move makes the partition agree with more of what they say.

    Where the members heard do not settle, members are made again on the graph whose edges weigh
    what the first say of them, as Lancichinetti & Fortunato do.

    Parameters
    ----------
    ensemble : Ensemble
        Partitions of the nodes, such as those of `consilience.generate.CommunityEnsemble`.
    graph : graph, see `consilience.datasets.as_graph`
        With the same nodes in the same order.
    n_heard : int or None, default=None
        Members to hear; None hears a fifth of them, at least 5.
    generator : generator or None, default=None
        Makes the members of further rounds; None makes none.
    max_rounds : int, default=3
        Most rounds, that of ``ensemble`` included.

    Returns
    -------
    ConsensusResult
        ``n_iter`` are the rounds. ``details`` has, all of them by the members given: ``heard`` (the
        members), their mean ``agreement`` (adjusted Rand index of pairs of them; low where there
        are no communities), ``confidence`` and ``runner_up`` of each node.

    Notes
    -----
    Labels are -1 for nodes without edges and where all members heard say noise. A node that
    members never agree about, and would be alone, goes to the community it is most often with; one
    whose edges no member saw to the one its edges lead to, with confidence 0.

    Confidence is own / (own + best other), of the mean shares over the edges to the own and to the
    best other community: 1 is sure, 0.5 torn.

    Time O(R^2 n + edges x heard) a round, memory O(edges).

    References
    ----------
    Lancichinetti & Fortunato (2012), Consensus clustering in complex networks, Scientific Reports
    2, 336; Tandon, Albeshri, Thayananthan, Alhalabi & Fortunato (2019), Fast consensus clustering
    in complex networks, Phys. Rev. E 99, 042301 (only edges); Ronhovde & Nussinov (2009),
    Multiresolution community detection for megascale networks by information-based replica
    correlations, Phys. Rev. E 80, 016109 (the resolution at which runs agree). Departure: what the
    members say of edges is made a partition by what they agree about, which needs no resolution.

    Examples
    --------
    >>> edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]
    >>> members = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> communities(members, edges).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """
    ensemble = usable_ensemble(ensemble, owner="communities")
    for name, value, rules in (
        ("n_heard", n_heard, _N_HEARD),
        ("generator", generator, _GENERATOR),
        ("max_rounds", max_rounds, COUNT),
    ):
        check_value(name, value, rules, owner="communities")
    network = as_graph(graph, owner="communities")
    if network.n_objects != ensemble.n_objects:
        raise InvalidInputError(
            f"graph and ensemble must have the same nodes: the graph has {network.n_objects}, the "
            f"ensemble {ensemble.n_objects}."
        )
    adjacency = network.adjacency
    first = last = _one_round(ensemble, adjacency, n_heard)
    rounds = 1
    while generator is not None and rounds < max_rounds and last.heard.agreement < _SETTLED:
        weighted = _weighted(last.adjacency, last.shares)
        if not weighted.nnz:
            break
        last = _one_round(generator.generate(Graph(weighted)), weighted, n_heard)
        rounds += 1
    placed = (ensemble.members[first.heard.members] != NOISE).any(axis=0) & ~network.isolated
    labels = _nobody_alone(adjacency, first.shares, last.labels, placed)
    result = _numbered(labels, placed, rounds)
    confidence, runner_up = _confidence(adjacency, first.shares, result.labels)
    details = {
        "heard": first.heard.members,
        "agreement": first.heard.agreement,
        "confidence": confidence,
        "runner_up": runner_up,
    }
    return replace(result, details=details)


def _numbered(labels: Labels, placed: NDArray[np.bool_], rounds: int) -> ConsensusResult:
    """The result, its communities numbered as they first appear; -1 for nodes in none."""
    numbered = np.full(len(labels), NOISE, np.int32)
    if not placed.any():
        return ConsensusResult(numbered, n_iter=rounds)
    inner = by_first_appearance(ConsensusResult(labels[placed].astype(np.int32)))
    numbered[placed] = inner.labels
    return ConsensusResult(numbered, inner.n_clusters, n_iter=rounds)


class _Round(NamedTuple):
    """Members heard on a graph, what they say of its edges, and the partition of that."""

    heard: "_Heard"
    adjacency: Any
    shares: Floats
    labels: Labels


def _one_round(ensemble: Ensemble, adjacency: Any, n_heard: int | None) -> _Round:
    heard = _most_agreeing(ensemble, n_heard)
    shares = _edge_shares(adjacency, ensemble.members[heard.members])
    labels = _median(_weighted(adjacency, shares - 0.5), ensemble.members[heard.centre])
    return _Round(heard, adjacency, shares, labels)


def _weighted(adjacency: Any, factors: Floats) -> Any:
    """The graph with its weights times these; 0, and so no edge, where they are not known."""
    weights = adjacency.data * np.where(np.isnan(factors), 0.0, factors)
    weighted = sparse.csr_array(
        (weights, adjacency.indices.copy(), adjacency.indptr.copy()), shape=adjacency.shape
    )
    weighted.eliminate_zeros()
    return weighted


class _Heard(NamedTuple):
    """The members that are heard, the one in their middle, and how far they agree."""

    members: NDArray[np.int64]
    centre: int
    agreement: float


def _most_agreeing(ensemble: Ensemble, n_heard: int | None) -> _Heard:
    """The members that agree most with each other, by adjusted Rand indices."""
    n_members = ensemble.n_members
    wanted = max(_FEWEST, n_members // _HEARD) if n_heard is None else n_heard
    wanted = min(wanted, n_members)
    if n_members == 1:
        return _Heard(np.zeros(1, np.int64), 0, 1.0)
    some = np.arange(ensemble.n_objects)
    if len(some) > _COMPARED:
        some = np.sort(np.random.default_rng(0).choice(len(some), _COMPARED, replace=False))
    members = ensemble.members[:, some].astype(np.int64)
    index = np.eye(n_members)
    for a in range(n_members):
        for b in range(a):
            index[a, b] = index[b, a] = _rand_index(members[a], members[b])
    # The member whose nearest agree most with it, and these.
    nearest = np.argsort(-index, axis=1, kind="stable")[:, :wanted]
    best = int(np.take_along_axis(index, nearest, axis=1).sum(axis=1).argmax())
    heard = np.sort(nearest[best])
    pairs = index[np.ix_(heard, heard)][np.triu_indices(wanted, 1)]
    return _Heard(heard, best, float(pairs.mean()) if len(pairs) else 1.0)


def _rand_index(a: Labels, b: Labels) -> float:
    """Adjusted Rand index over the nodes that both members placed; 0 where all are alone."""
    both = (a >= 0) & (b >= 0)
    if not both.any():
        return 0.0
    table = tabulate(a[both], b[both])
    cells, rows, columns = (
        float((counts.astype(np.float64) * (counts - 1)).sum())
        for counts in (table.counts, table.row_sums, table.column_sums)
    )
    n = int(both.sum())
    if not rows or not columns:
        return 0.0
    expected, most = rows * columns / (n * (n - 1.0)), (rows + columns) / 2
    return 1.0 if most == expected else (cells - expected) / (most - expected)


def _edge_shares(adjacency: Any, members: Labels) -> Floats:
    """Share of the members that saw both nodes of an edge and join them; NaN where none saw."""
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    joined, saw = np.zeros(len(rows), np.int32), np.zeros(len(rows), np.int32)
    for labels in members:
        first, second = labels[rows], labels[adjacency.indices]
        saw += (first != UNSEEN) & (second != UNSEEN)
        joined += (first == second) & (first >= 0)
    return np.where(saw > 0, joined / np.maximum(saw, 1), np.nan)


def _median(graph: Any, centre: Labels) -> Labels:
    """The partition whose groups have the largest sum of weights inside, by local search.

    From every node by itself, and from the member in the middle: the better of the two.
    """
    nodes = np.arange(graph.shape[0])
    start = np.where(centre < 0, len(nodes) + nodes, centre)  # who is in no cluster is alone
    partitions = [_improved(graph, labels) for labels in (nodes, start)]
    return partitions[int(np.argmax([_worth(graph, labels) for labels in partitions]))]


def _worth(graph: Any, labels: Labels) -> float:
    """Sum of the weights of edges within groups."""
    rows = np.repeat(labels, np.diff(graph.indptr))
    return float(graph.data[rows == labels[graph.indices]].sum()) / 2


def _improved(graph: Any, labels: Labels) -> Labels:
    """Moves of nodes, then of whole groups, until neither gains."""
    for _ in range(_LEVELS):
        labels = np.unique(labels, return_inverse=True)[1].astype(np.int64)
        move_nodes(graph.indptr, graph.indices, graph.data, labels, _PASSES)
        merged = _merged(graph, np.unique(labels, return_inverse=True)[1])
        if merged is None:
            break
        labels = merged
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def _merged(graph: Any, labels: Labels) -> Labels | None:
    """Labels in which groups that gain by it are one; None where there are none."""
    n, k = len(labels), int(labels.max()) + 1
    member = sparse.csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, k))
    between = sparse.csr_array(member.T @ graph @ member)
    between = sparse.csr_array(between - sparse.diags_array(between.diagonal()))
    groups = np.arange(k)
    moved = move_nodes(between.indptr, between.indices, between.data, groups, _PASSES)
    return groups[labels] if moved else None


def _nobody_alone(
    adjacency: Any, shares: Floats, labels: Labels, placed: NDArray[np.bool_]
) -> Labels:
    """Nodes that would be alone in the community they are most often with, if there is one.

    Those of whose edges nobody saw any go where their edges lead.
    """
    sizes = np.bincount(labels)
    alone = placed & (sizes[labels] == 1)
    if not alone.any():
        return labels
    near = _near(adjacency, np.where(np.isnan(shares), 0.0, shares), labels)
    unseen = np.isnan(shares)
    judged = np.zeros(len(labels), bool)
    judged[np.repeat(np.arange(len(labels)), np.diff(adjacency.indptr))[~unseen]] = True
    votes = np.where(judged[near.nodes], near.together, near.weights)
    votes = np.where(sizes[near.groups] > 1, votes, 0.0)
    order = np.lexsort((near.groups, -votes, near.nodes))
    nodes, first = np.unique(near.nodes[order], return_index=True)
    at = order[first]
    moves = alone[nodes] & (votes[at] > 0)
    joined = labels.copy()
    joined[nodes[moves]] = near.groups[at[moves]]
    lost = int((alone & ~judged).sum())
    if lost:
        warn(
            f"No member heard saw an edge of {lost} nodes: they go where most of their edges lead, "
            "with confidence 0."
        )
    return joined


class _Near(NamedTuple):
    """For nodes and the groups of their neighbours: weights of edges, and of those joined."""

    nodes: NDArray[np.int64]
    groups: NDArray[np.int64]
    weights: Floats
    together: Floats


def _near(adjacency: Any, shares: Floats, labels: Labels) -> _Near:
    k = int(labels.max()) + 2  # nodes in no group are neighbours too
    rows = np.repeat(np.arange(adjacency.shape[0]), np.diff(adjacency.indptr))
    keys, place = np.unique(
        rows * k + np.where(labels < 0, k - 1, labels)[adjacency.indices], return_inverse=True
    )
    weights: Floats = np.bincount(place, adjacency.data).astype(np.float64)
    together: Floats = np.bincount(place, adjacency.data * shares).astype(np.float64)
    kept = keys % k < k - 1
    return _Near(keys[kept] // k, keys[kept] % k, weights[kept], together[kept])


def _confidence(adjacency: Any, shares: Floats, labels: Labels) -> tuple[Floats, NDArray[np.int32]]:
    """Own / (own + best other) of mean shares over edges, and the best other group."""
    judged = np.where(np.isnan(shares), 0.0, 1.0)
    seen = sparse.csr_array(
        (adjacency.data * judged, adjacency.indices, adjacency.indptr), shape=adjacency.shape
    )
    near = _near(seen, np.where(np.isnan(shares), 0.0, shares), labels)
    mean = np.where(near.weights > 0, near.together / np.maximum(near.weights, 1e-300), 0.0)
    is_own = near.groups == labels[near.nodes]
    own = np.zeros(len(labels))
    own[near.nodes[is_own]] = mean[is_own]
    others = np.flatnonzero(~is_own & (mean > 0))
    order = others[np.lexsort((near.groups[others], -mean[others], near.nodes[others]))]
    nodes, first = np.unique(near.nodes[order], return_index=True)
    best, runner_up = np.zeros(len(labels)), np.full(len(labels), -1, np.int32)
    best[nodes], runner_up[nodes] = mean[order[first]], near.groups[order[first]]
    total = own + best
    confidence = np.where((total > 0) & (labels >= 0), own / np.where(total > 0, total, 1.0), 0.0)
    return confidence, np.where(labels >= 0, runner_up, np.int32(-1))


class Communities(Stated):
    """Find the communities of a graph by many runs of Louvain; see `communities` for the method.

    Parameters
    ----------
    generator : generator or None, default=None
        Makes the members when `fit` is given a graph only; None is
        `consilience.generate.CommunityEnsemble`, 30 members.
    n_heard : int or None, default=None
        Members to hear; None hears a fifth of them, at least 5.
    max_rounds : int, default=3
        Most rounds: where the members heard do not settle, members are made again on the graph
        weighted by what they say. One, where the members are given.
    random_state : int, RandomState or None
        Seeds a generator that has no seed of its own.
    n_jobs : int or None
        Processes; None means one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Communities; -1 for nodes without edges.
    n_clusters_ : int
        Communities found.
    confidence_, runner_up_ : ndarray of shape (n_objects,)
        How sure each label is, and the best other community.
    agreement_ : float
        How far the members heard agree with each other: a mean adjusted Rand index.
    heard_ : ndarray of int64
        The members heard.
    n_rounds_ : int
        Rounds that were made.
    ensemble_ : Ensemble
        All members.
    n_features_in_ : int
        Nodes of the graph.

    Examples
    --------
    >>> edges = [(0, 1), (0, 2), (1, 2), (3, 4), (3, 5), (4, 5), (2, 3)]
    >>> Communities(random_state=0).fit(edges).labels_
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Sequence[Rule]]] = {
        "generator": _GENERATOR,
        "n_heard": _N_HEARD,
        "max_rounds": COUNT,
        "random_state": [RandomState()],
        "n_jobs": N_JOBS,
    }

    generator: Any = None
    n_heard: int | None = None
    max_rounds: int = 3
    random_state: Any = None
    n_jobs: int | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        tags.input_tags.positive_only = True
        return tags

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, ensemble: Any = None) -> Self:
        """Find the communities of a graph.

        Parameters
        ----------
        X : graph, see `consilience.datasets.as_graph`
            Edge list, square matrix (sparse or dense) or networkx graph.
        y : ignored
        ensemble : Ensemble, or anything `Ensemble` takes, optional
            Partitions of its nodes you already have.

        Returns
        -------
        self
        """
        check_params(self)
        graph: Graph = as_graph(X, owner=type(self).__name__)
        steps = Steps(self, "fit", 2)
        wanted = CommunityEnsemble() if self.generator is None else self.generator
        generator = with_defaults(wanted, self.random_state, self.n_jobs)
        further = generator if ensemble is None else None
        with steps.step("generate", further):
            if ensemble is None:
                ensemble = generator.generate(graph)
        if not isinstance(ensemble, Ensemble):
            ensemble = Ensemble(ensemble)
        with steps.step("consensus"):
            result = communities(
                ensemble,
                graph,
                n_heard=self.n_heard,
                generator=further,
                max_rounds=self.max_rounds,
            )
        self.ensemble_ = ensemble
        self.n_features_in_ = graph.n_objects
        self.labels_, self.n_clusters_ = result.labels, result.n_clusters
        self.n_rounds_ = result.n_iter
        for name in ("confidence", "runner_up", "agreement", "heard"):
            setattr(self, f"{name}_", result.details[name])
        steps.end()
        return self
