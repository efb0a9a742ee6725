"""Generated graphs with known communities: power laws of degrees and sizes, edges at random."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._validation import Interval, Rule
from consilience._words import plural
from consilience.datasets._synthetic import Seed, _check, _rng
from consilience.errors import InvalidParameterError

__all__ = ["GraphSample", "make_lfr"]

Indices = NDArray[np.int64]

# Rounds of pairing anew what may not be paired; what is left then is left out.
_ROUNDS = 200
# Of steeper laws nearly all values are the least one, and the others' weights no floats.
_EXPONENT: list[Rule] = [Interval(Real, 0, 20, open_low=True)]


class GraphSample(NamedTuple):
    """A generated graph, and the community of each node.

    Attributes
    ----------
    edges : ndarray of shape (n_edges, 2), int64
        Pairs of nodes, the smaller first, each once.
    groups : ndarray of shape (n_objects,), int64
    """

    edges: Indices
    groups: Indices

    def to_scipy(self) -> Any:
        """The graph as a symmetric CSR matrix of ones."""
        n, (first, second) = len(self.groups), self.edges.T
        rows, columns = np.concatenate([first, second]), np.concatenate([second, first])
        return sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=(n, n))


def make_lfr(
    n_objects: int = 1000,
    *,
    mixing: float = 0.5,
    average_degree: float = 20.0,
    max_degree: int = 50,
    min_size: int = 20,
    max_size: int = 100,
    degree_exponent: float = 2.0,
    size_exponent: float = 1.0,
    random_state: Seed = None,
) -> GraphSample:
    """A graph of Lancichinetti, Fortunato and Radicchi, on which community detection is measured.

    Degrees and sizes of communities follow power laws; of a node's edges a share of ``mixing``
    goes to other communities. Within communities, and between them, who is linked to whom is
    random.

    Parameters
    ----------
    n_objects : int, default=1000
        Number of nodes.
    mixing : float, default=0.5
        Share of the edges of a node that leave its community, from 0 to 1.
    average_degree : float, default=20.0
        Edges of a node, on average. The power law of degrees starts where its mean is this; below
        the mean of the whole law, there are so many more nodes of one edge.
    max_degree : int, default=50
        Most edges of a node.
    min_size, max_size : int, default=20 and 100
        Nodes of a community; one must hold a node of the largest degree with its inner edges,
        and so many communities must exist that make up all nodes.
    degree_exponent, size_exponent : float, default=2.0 and 1.0
        Of the power laws, both falling; at most 20.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    GraphSample
        ``edges``, ``groups``; ``to_scipy()`` is the graph as a sparse matrix.

    Notes
    -----
    Differences to the published generator: nodes are put into communities in one pass, those of
    many inner edges first, each into a place drawn from all that are free and large enough; edges
    that may not be (a node with itself, a pair twice, an outer edge within a community) are
    paired anew with others drawn at random, and what still is not right after 200 rounds is left
    out. Time and memory grow with the edges.

    References
    ----------
    Lancichinetti, Fortunato & Radicchi (2008), Benchmark graphs for testing community detection
    algorithms, Physical Review E 78, 046110.

    Examples
    --------
    >>> sample = make_lfr(300, mixing=0.2, random_state=0)
    >>> apart = sample.groups[sample.edges[:, 0]] != sample.groups[sample.edges[:, 1]]
    >>> len(sample.groups), bool(0.17 < apart.mean() < 0.23)
    (300, True)
    """
    owner = "make_lfr"
    _check(owner, random_state, n_objects=(n_objects, [Interval(Integral, 2)]))
    _check(owner, mixing=(mixing, [Interval(Real, 0, 1)]))
    _check(owner, max_degree=(max_degree, [Interval(Integral, 1)]))
    _check(owner, average_degree=(average_degree, [Interval(Real, 1, int(max_degree))]))
    _check(owner, max_size=(max_size, [Interval(Integral, 1, int(n_objects))]))
    _check(owner, min_size=(min_size, [Interval(Integral, 1, int(max_size))]))
    _check(owner, degree_exponent=(degree_exponent, _EXPONENT))
    _check(owner, size_exponent=(size_exponent, _EXPONENT))
    rng = _rng(random_state)
    degrees = _degrees(n_objects, average_degree, max_degree, degree_exponent, rng)
    inner = np.floor((1 - mixing) * degrees + rng.uniform(size=n_objects)).astype(np.int64)
    sizes = _sizes(n_objects, min_size, max_size, size_exponent, rng)
    groups = _placed(inner, sizes, rng)
    outer = np.repeat(np.arange(n_objects), degrees - inner)
    inner = _even(inner, groups, len(sizes), rng)
    within = _paired(np.repeat(np.arange(n_objects), inner), groups, None, rng)
    between = _paired(outer[: len(outer) // 2 * 2], np.zeros_like(groups), groups, rng)
    edges = np.concatenate([within, between])
    return GraphSample(edges[np.lexsort(edges.T[::-1])], groups)


def _degrees(
    n: int, average: float, most: int, exponent: float, rng: np.random.RandomState
) -> Indices:
    """Whole numbers of a power law that ends at ``most``, with this mean."""
    values = np.arange(1, most + 1)
    weights = values ** -float(exponent)
    # All below some degree are left out, and of that degree so many that the mean is right.
    mass, total = np.cumsum(weights[::-1])[::-1], np.cumsum((weights * values)[::-1])[::-1]
    low = int(np.flatnonzero(total / mass <= average)[-1]) if total[0] / mass[0] <= average else 0
    shares = np.where(values > low + 1, weights, 0.0)
    if values[low] < average:
        shares[low] = (shares * (values - average)).sum() / (average - values[low])
    else:  # the mean is the least degree, or the largest
        shares = np.where(values == values[low], 1.0, 0.0)
    return rng.choice(values, n, p=shares / shares.sum())


def _sizes(n: int, least: int, most: int, exponent: float, rng: np.random.RandomState) -> Indices:
    """Sizes of communities that make up n nodes, falling."""
    if -(-n // most) * least > n:
        raise InvalidParameterError(
            f"make_lfr cannot make up {n} nodes of communities of {least} to {most}. Raise the "
            "'max_size' parameter or lower 'min_size'."
        )
    values = np.arange(least, most + 1)
    weights = values ** -float(exponent)
    drawn = rng.choice(values, n // least + 1, p=weights / weights.sum())
    sizes = np.sort(drawn[: int(np.searchsorted(np.cumsum(drawn), n, side="right"))])
    missing = n - int(sizes.sum())
    if missing < least and missing <= len(sizes) * most - int(sizes.sum()):
        sizes = _stepped(sizes, missing, 1, most)
    else:  # one community more, which takes from the others what it lacks
        sizes = np.append(_stepped(sizes, max(0, least - missing), -1, least), max(least, missing))
    return np.sort(sizes)[::-1].astype(np.int64)


def _stepped(sizes: Indices, count: int, step: int, limit: int) -> Indices:
    """Sizes after ``count`` steps of one node, in turn by those that are not at the limit."""
    sizes, turn = sizes.copy(), 0
    while count:
        place = turn % len(sizes)
        if sizes[place] != limit:
            sizes[place] += step
            count -= 1
        turn += 1
    return sizes


def _placed(inner: Indices, sizes: Indices, rng: np.random.RandomState) -> Indices:
    """A community for every node, larger than the node has inner edges."""
    starts = np.concatenate([[0], np.cumsum(sizes)])
    # Communities fall in size: those that a node fits into are the first so many.
    fits = np.searchsorted(-sizes, -inner, side="left")
    order = np.argsort(-inner, kind="stable")
    draws = rng.uniform(size=len(inner))
    groups, free, opened = np.empty(len(inner), np.int64), [], 0
    for node in order.tolist():
        while opened < fits[node]:
            free += [opened] * int(starts[opened + 1] - starts[opened])
            opened += 1
        if not free:
            raise InvalidParameterError(
                "make_lfr found no community for a node of "
                f"{plural(int(inner[node]), 'inner edge')}. Raise max_size, "
                "lower max_degree or average_degree, or raise mixing."
            )
        at = int(draws[node] * len(free))
        groups[node], free[at] = free[at], free[-1]
        free.pop()
    return groups


def _even(inner: Indices, groups: Indices, n_groups: int, rng: np.random.RandomState) -> Indices:
    """Inner edges of nodes whose sum in every community is even: one of them gives one up."""
    odd = np.bincount(groups, inner, n_groups).astype(np.int64) % 2 == 1
    order = rng.permutation(len(inner))
    order = order[inner[order] > 0]
    _, first = np.unique(groups[order], return_index=True)
    chosen = order[first]
    changed = inner.copy()
    changed[chosen[odd[groups[chosen]]]] -= 1
    return changed


def _paired(
    stubs: Indices, pools: Indices, apart: Indices | None, rng: np.random.RandomState
) -> Indices:
    """Ends of edges paired at random within pools of nodes, no pair twice.

    With ``apart``, nodes of one group are not paired.
    """
    n, finished = len(pools), []
    edges = _shuffled(stubs, pools, rng)
    wrong = _wrong(edges, apart, n)
    for _ in range(_ROUNDS):
        pool = pools[edges[:, 0]]
        n_wrong = np.bincount(pool[wrong], minlength=n)
        done = n_wrong[pool] == 0
        finished.append(edges[done])
        edges, wrong, pool = edges[~done], wrong[~done], pool[~done]
        if not len(edges):
            break
        # As many right edges of each pool are opened as there are wrong ones.
        share = n_wrong / np.maximum(np.bincount(pool[~wrong], minlength=n), 1)
        opened = wrong | (rng.uniform(size=len(edges)) < share[pool])
        edges[opened] = _shuffled(edges[opened].ravel(), pools, rng)
        wrong = _wrong(edges, apart, n)
    return np.sort(np.concatenate([*finished, edges[~wrong]]), axis=1)


def _shuffled(stubs: Indices, pools: Indices, rng: np.random.RandomState) -> Indices:
    """Ends of edges in random order within pools, two by two."""
    mixed = stubs[rng.permutation(len(stubs))]
    return mixed[np.argsort(pools[mixed], kind="stable")].reshape(-1, 2)


def _wrong(edges: Indices, apart: Indices | None, n: int) -> NDArray[np.bool_]:
    """Edges of a node with itself, further ones of the same pair, and those within a group."""
    first, second = edges.T
    keys = np.minimum(first, second) * n + np.maximum(first, second)
    _, kept = np.unique(keys, return_index=True)
    wrong = np.ones(len(edges), bool)
    wrong[kept] = False
    wrong |= first == second
    if apart is not None:
        wrong |= apart[first] == apart[second]
    return wrong
