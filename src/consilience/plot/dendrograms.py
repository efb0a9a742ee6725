"""The dendrogram of a consensus with its cut, however many objects it has.

Only the last merges are drawn: what was joined before them is one leaf with its size.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.cluster import hierarchy

from consilience._optional import optional
from consilience._validation import NO_NUMBERS, Interval, NoneValue, check_n_clusters, check_value
from consilience.errors import InvalidInputError
from consilience.kernels.links.trees import cut_merges
from consilience.plot._axes import ACCENT, GREY, MAIN, axes, cluster_colours, cluster_labels

__all__ = ["DendrogramLines", "dendrogram_lines", "plot_dendrogram"]

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]

# Of a branch whose objects lie in several clusters, or in none.
_MIXED = -2
# SciPy lays the tree out by recursion, and a chain is as deep as it has leaves.
_MOST_LEAVES = 500
# Names of more leaves would run into each other.
_NAMED_LEAVES = 60


@dataclass(frozen=True, eq=False)
class DendrogramLines:
    """What a dendrogram shows.

    Attributes
    ----------
    x, y : ndarray of shape (n_leaves - 1, 4)
        Corners of each bracket from the left foot to the right one; leaves stand at x = 5, 15,
        25, ...
    clusters : ndarray of shape (n_leaves - 1,)
        Cluster in which all objects under the bracket lie; -2 if there is none.
    leaves : tuple of str
        Left to right: the number of the object, or in brackets how many objects were joined
        before.
    cut : float
        Height between the clusters and what joins them; NaN without labels, or where the
        labels are no cut of this tree.
    n_objects : int
    """

    x: Floats
    y: Floats
    clusters: Labels
    leaves: tuple[str, ...]
    cut: float
    n_objects: int


def dendrogram_lines(
    linkage: Any, labels: Any = None, *, n_clusters: int | None = None, max_leaves: int = 40
) -> DendrogramLines:
    """Brackets, leaves and cut of a dendrogram, its early merges folded into leaves.

    Parameters
    ----------
    linkage, labels, n_clusters, max_leaves
        See `plot_dendrogram`.

    Returns
    -------
    DendrogramLines

    Examples
    --------
    >>> tree = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.8, 4]])
    >>> lines = dendrogram_lines(tree, n_clusters=2)
    >>> lines.cut, lines.leaves, lines.clusters.tolist()
    (0.5, ('0', '1', '2', '3'), [0, 1, -2])
    >>> dendrogram_lines(tree, n_clusters=2, max_leaves=2).leaves
    ('(2)', '(2)')
    """
    owner = "plot_dendrogram"
    tree = _checked(linkage)
    n = len(tree) + 1
    check_value("n_clusters", n_clusters, [Interval(Integral, 1), NoneValue()], owner=owner)
    check_value("max_leaves", max_leaves, [Interval(Integral, 2, _MOST_LEAVES)], owner=owner)
    if n_clusters is not None:
        check_n_clusters(n_clusters, n, owner=owner)
        labels = cut_merges(tree, n_clusters)
    elif labels is None:
        labels = _field(linkage, "labels")
    given = labels is not None
    codes = cluster_labels(labels, n, what=owner)[0] if given else np.full(n, _MIXED, np.int64)
    nodes = _node_clusters(tree, codes)
    small, folded = _last_merges(tree, min(int(max_leaves), n))
    # SciPy lists brackets in an order of its own; a "colour" tells which node each belongs to.
    drawn = hierarchy.dendrogram(small, no_plot=True, link_color_func=str)
    own = np.array([int(node) for node in drawn["color_list"]]) - len(folded)
    return DendrogramLines(
        x=np.asarray(drawn["icoord"], np.float64),
        y=np.asarray(drawn["dcoord"], np.float64),
        clusters=nodes[2 * n - len(folded) + own],
        leaves=tuple(_leaf(folded[i], tree, n) for i in drawn["leaves"]),
        cut=_cut_height(tree, nodes[n:], codes) if given else float("nan"),
        n_objects=n,
    )


def plot_dendrogram(
    linkage: Any,
    labels: Any = None,
    *,
    n_clusters: int | None = None,
    ax: Any = None,
    max_leaves: int = 40,
) -> Any:
    """Draw a dendrogram with its clusters coloured and the height of the cut.

    Parameters
    ----------
    linkage : array of shape (n_objects - 1, 4), or a result or fitted estimator that has one
        In SciPy's format, merges in the order made: of `EAC`, `MontiConsensus`, SciPy itself.
    labels : array of shape (n_objects,), optional
        Clusters to colour; by default those of the result or estimator.
    n_clusters : int, optional
        Colour this many clusters instead: the last ``n_clusters - 1`` merges are undone.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.
    max_leaves : int, default=40
        Leaves drawn, 2 to 500. Of more objects the last merges are shown, and a leaf with a
        number in brackets stands for so many objects. The title says so.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> tree = np.array([[0, 1, 0.1, 2], [2, 3, 0.2, 2], [4, 5, 0.8, 4]])
    >>> ax = plot_dendrogram(tree, n_clusters=2)
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['0', '1', '2', '3']
    """
    shown = dendrogram_lines(linkage, labels, n_clusters=n_clusters, max_leaves=max_leaves)
    ax = axes(ax, what="plot_dendrogram", size=(7.2, 3.8))
    collections = optional("matplotlib.collections", extra="plot", what="plot_dendrogram")
    plain = MAIN if (shown.clusters == _MIXED).all() else GREY
    colours = [plain if c == _MIXED else cluster_colours(np.array([c]))[0] for c in shown.clusters]
    brackets = np.stack([shown.x, shown.y], axis=2)
    ax.add_collection(collections.LineCollection(list(brackets), colors=colours, linewidths=1.4))
    n_leaves = len(shown.leaves)
    top = float(shown.y.max()) or 1.0
    ax.set(xlim=(0, 10 * n_leaves), ylim=(0, 1.06 * top), ylabel="height of the merge")
    turned = sum(map(len, shown.leaves)) > 90
    if n_leaves <= _NAMED_LEAVES:
        ax.set_xticks(np.arange(n_leaves) * 10 + 5, shown.leaves, rotation=90 if turned else 0)
    else:
        ax.set_xticks([])
    ax.tick_params(axis="x", length=0, labelsize="small")
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    if np.isfinite(shown.cut):
        ax.axhline(shown.cut, color=ACCENT, lw=1, ls="--")
        words, beside = f"cut at {shown.cut:.3g}", ax.get_yaxis_transform()
        ax.annotate(words, (1.01, shown.cut), xycoords=beside, va="center", fontsize="small")
    ax.set_xlabel("object" if n_leaves <= _NAMED_LEAVES else "objects")
    if n_leaves < shown.n_objects:
        words = f"last {n_leaves - 1} of {shown.n_objects - 1:,} merges"
        ax.set_title(words, fontsize="small")
        if n_leaves <= _NAMED_LEAVES:
            ax.set_xlabel("object, or (number of objects joined below)")
    return ax


def _field(result: Any, name: str) -> Any:
    """``name`` of a result, ``name_`` of a fitted estimator, or None."""
    return getattr(result, name, getattr(result, f"{name}_", None))


def _checked(linkage: Any) -> Floats:
    """The merges of an array, result or estimator, or an error that says what is wrong."""
    inside = _field(linkage, "linkage")
    # An estimator's parameter `linkage` is the name of a rule; its tree is `linkage_`.
    if isinstance(inside, str):
        inside = getattr(linkage, "linkage_", None)
    try:
        tree = np.asarray(linkage if inside is None else inside, np.float64)
    except NO_NUMBERS:
        tree = np.empty(0)
    if tree.ndim != 2 or tree.shape[1:] != (4,) or not len(tree):
        _refuse(f"{type(linkage).__name__} of shape {tree.shape}")
    n = len(tree) + 1
    if not np.isfinite(tree).all() or (tree[:, 2] < 0).any():
        _refuse("heights that are negative or not finite")
    children = tree[:, :2]
    if (children < 0).any() or (children >= n + np.arange(n - 1)[:, None]).any():
        _refuse("a merge of something that does not exist yet")
    if len(np.unique(children)) != children.size or (children % 1 != 0).any():
        _refuse("a group that is merged twice")
    return tree


def _refuse(got: str) -> None:
    raise InvalidInputError(
        "plot_dendrogram needs a linkage matrix in SciPy's format, (n_objects - 1, 4), or a result "
        f"or fitted estimator that has one, such as EAC. Got {got} instead."
    )


def _node_clusters(tree: Floats, labels: Labels) -> Labels:
    """Cluster of every object and merge: the one all its objects are in, or -2."""
    n = len(labels)
    nodes = np.concatenate([np.where(labels < 0, _MIXED, labels), np.full(n - 1, _MIXED)]).tolist()
    for row, (left, right) in enumerate(tree[:, :2].astype(np.int64).tolist()):
        if nodes[left] == nodes[right]:
            nodes[n + row] = nodes[left]
    return np.array(nodes, np.int64)


def _last_merges(tree: Floats, n_leaves: int) -> tuple[Floats, Labels]:
    """The last merges as a tree of their own, and the node that each of its leaves stands for."""
    first = len(tree) + 1 - n_leaves
    small = tree[first:].copy()
    children = small[:, :2].astype(np.int64)
    made = len(tree) + 1 + first  # the node that the first merge shown makes
    folded = np.sort(children[children < made])
    leaf = np.searchsorted(folded, children)
    small[:, :2] = np.where(children < made, leaf, children - made + n_leaves)
    small[:, 3] = _sizes(small)
    return small, folded


def _sizes(small: Floats) -> Floats:
    """Leaves under each merge: SciPy wants these, not objects."""
    sizes = [1.0] * (len(small) + 1)
    for left, right in small[:, :2].astype(np.int64).tolist():
        sizes.append(sizes[left] + sizes[right])
    return np.array(sizes[len(small) + 1 :])


def _leaf(node: int, tree: Floats, n: int) -> str:
    return str(node) if node < n else f"({int(tree[node - n, 3])})"


def _cut_height(tree: Floats, merges: Labels, labels: Labels) -> float:
    """Half-way between the highest merge inside a cluster and the lowest one between clusters."""
    between = merges == _MIXED
    n_groups = len(np.unique(labels[labels >= 0])) + int((labels < 0).sum())
    # A tree is cut into g groups by undoing g - 1 merges; other labels are no cut of it.
    if not between.any() or int(between.sum()) != n_groups - 1:
        return float("nan")
    low = float(tree[~between, 2].max(initial=0.0))
    high = float(tree[between, 2].min())
    return (low + high) / 2 if low <= high + 1e-12 else float("nan")
