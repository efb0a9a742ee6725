"""Pictures of pairs: the co-association grouped by cluster, and distances in VAT order."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, Options, check_value
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import Missing, VATOrder, ivat_image, vat, vat_image
from consilience.plot._axes import axes, cluster_labels
from consilience.plot._thin import counted, thinned

__all__ = [
    "PairPicture",
    "co_association_picture",
    "plot_co_association",
    "plot_vat",
    "vat_picture",
]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

_COUNT = [Interval(Integral, 1)]
# A name is written beside a cluster that takes at least this share of the axis.
_NAMED_SHARE = 0.04
# Share of the axis that a letter takes: below it names that would meet are left out.
_LETTER = 0.025
_MAX_EDGES = 60


@dataclass(frozen=True, eq=False)
class PairPicture:
    """A square picture of pairs of objects, ready to draw.

    Attributes
    ----------
    image : ndarray of shape (m, m)
        Row I stands for positions I * n // m to (I + 1) * n // m - 1 of the n objects shown, as
        in `consilience.evidence.vat_image`.
    objects : ndarray of shape (n,)
        The object at each position.
    clusters : tuple of str
        Names of the clusters in the order in which they follow each other; empty without labels.
    edges : ndarray of shape (n_clusters + 1,)
        First position of each cluster, and n.
    note : str
        What was left out or averaged; empty if nothing was.
    """

    image: Floats
    objects: Positions
    clusters: tuple[str, ...]
    edges: Positions
    note: str


def co_association_picture(
    evidence: Any,
    labels: Any = None,
    *,
    missing: Missing = "pair",
    max_size: int = 1000,
    max_objects: int = 10_000,
) -> PairPicture:
    """Co-association with objects in the order of their clusters, or in VAT order.

    Parameters
    ----------
    evidence, labels, missing, max_size, max_objects
        See `plot_co_association`.

    Returns
    -------
    PairPicture

    Examples
    --------
    >>> picture = co_association_picture(Ensemble([[0, 1, 0], [0, 1, 1]]), [0, 1, 0])
    >>> picture.objects, picture.edges
    (array([0, 2, 1]), array([0, 2, 3]))
    >>> picture.image
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    owner = "plot_co_association"
    _check(missing, max_size, max_objects, owner)
    if not isinstance(evidence, Ensemble):
        evidence = _similarities(evidence)
    n = _n_objects(evidence)
    codes, names = (None, {}) if labels is None else cluster_labels(labels, n, what=owner)
    kept = thinned(n, max_objects, codes)
    distances = _some(evidence if isinstance(evidence, Ensemble) else 1.0 - evidence, kept)
    clusters: tuple[str, ...] = ()
    if codes is None:
        order = vat(distances, missing=missing).order
        edges = np.array([0, len(kept)])
    else:
        order, numbers, edges = _grouped(codes[kept])
        clusters = tuple(names[cluster] for cluster in numbers.tolist())
    image = 1.0 - vat_image(distances, order, missing=missing, max_size=max_size)
    # Means of exact shares may leave [0, 1] by rounding.
    image = np.clip(image, 0.0, 1.0)
    return PairPicture(image, kept[order], clusters, edges, _note(len(image), len(kept), n))


def plot_co_association(
    evidence: Any,
    labels: Any = None,
    *,
    ax: Any = None,
    missing: Missing = "pair",
    max_size: int = 1000,
    max_objects: int = 10_000,
    cmap: Any = "Blues",
) -> Any:
    """Draw how often the members join each pair, objects grouped by cluster or in VAT order.

    Parameters
    ----------
    evidence : Ensemble, or array of shape (n_objects, n_objects)
        An ensemble, or its co-association (or any similarity like it: symmetric, in [0, 1], with
        a unit diagonal).
    labels : array of shape (n_objects,), optional
        A consensus: its clusters follow each other, -1 last. Without it the order is that of
        `consilience.evidence.vat`.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.
    missing : {"pair", "all"}, default="pair"
        For an ensemble: divide by the members that saw both objects, or by all.
    max_size : int, default=1000
        Rows of the picture at most; above that each shows the mean of several objects.
    max_objects : int, default=10_000
        Objects looked at; of more a random sample that keeps every cluster. The title says so.
    cmap : colormap, default="Blues"

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    For an ensemble no n x n matrix is made. VAT order takes time O(n^2 R) for the objects looked
    at, labels O(n R) where nothing is unseen.

    Examples
    --------
    >>> ax = plot_co_association(Ensemble([[0, 1, 0], [0, 1, 1]]), [0, 1, 0])
    >>> ax.images[0].get_array()[0].tolist()
    [1.0, 0.5, 0.0]
    """
    shown = co_association_picture(
        evidence, labels, missing=missing, max_size=max_size, max_objects=max_objects
    )
    ax = axes(ax, what="plot_co_association", size=(5.4, 4.6), layout="compressed")
    _draw(ax, shown, cmap, 1.0, "share of members joining")
    if len(shown.clusters):
        _draw_clusters(ax, shown)
    else:
        ax.set(xlabel="objects in VAT order", ylabel="objects in VAT order")
    return ax


def vat_picture(
    evidence: Any,
    *,
    kind: Literal["vat", "ivat"] = "vat",
    missing: Missing = "pair",
    max_size: int = 1000,
    max_objects: int = 10_000,
) -> PairPicture:
    """Distances, or minimax path distances, with the objects in VAT order.

    Parameters
    ----------
    evidence, kind, missing, max_size, max_objects
        See `plot_vat`.

    Returns
    -------
    PairPicture

    Examples
    --------
    >>> picture = vat_picture(np.array([[0, 1, 9], [1, 0, 5], [9, 5, 0]]), kind="ivat")
    >>> picture.image
    array([[0., 1., 5.],
           [1., 0., 5.],
           [5., 5., 0.]])
    """
    _check(missing, max_size, max_objects, "plot_vat")
    check_value("kind", kind, [Options(("vat", "ivat"))], owner="plot_vat")
    if isinstance(evidence, VATOrder):
        if kind == "vat":
            raise InvalidInputError(
                "plot_vat with kind='vat' needs an Ensemble or distances: an order alone tells "
                "only the path distances. Pass the evidence, or kind='ivat'."
            )
        n, vat_order, kept = len(evidence.order), evidence, np.arange(len(evidence.order))
    else:
        if not isinstance(evidence, Ensemble):
            evidence = np.asarray(evidence)
        n = _n_objects(evidence)
        kept = thinned(n, max_objects)
        evidence = _some(evidence, kept)
        vat_order = vat(evidence, missing=missing)
    image = (
        ivat_image(vat_order, max_size=max_size)
        if kind == "ivat"
        else vat_image(evidence, vat_order, missing=missing, max_size=max_size)
    )
    edges = np.array([0, len(kept)])
    note = _note(len(image), len(kept), n)
    return PairPicture(image, kept[vat_order.order], (), edges, note)


def plot_vat(
    evidence: Any,
    *,
    ax: Any = None,
    kind: Literal["vat", "ivat"] = "vat",
    missing: Missing = "pair",
    max_size: int = 1000,
    max_objects: int = 10_000,
    cmap: Any = "gray",
) -> Any:
    """Draw distances with the objects in the order of a minimum spanning tree: groups are blocks.

    Parameters
    ----------
    evidence : Ensemble, array of shape (n_objects, n_objects), or VATOrder
        An ensemble, whose distance is 1 - co-association; distances; or, for ``kind="ivat"``,
        what `consilience.evidence.vat` returned.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.
    kind : {"vat", "ivat"}, default="vat"
        Distances, or minimax path distances, which sharpen groups that are chains.
    missing, max_size, max_objects
        As in `plot_co_association`.
    cmap : colormap, default="gray"

    Returns
    -------
    matplotlib Axes

    References
    ----------
    Bezdek & Hathaway (2002), VAT: a tool for visual assessment of (cluster) tendency, IJCNN.
    Havens & Bezdek (2012), IEEE TKDE 24(5) (iVAT).

    Examples
    --------
    >>> ax = plot_vat(np.array([[0, 9, 1], [9, 0, 9], [1, 9, 0]]))
    >>> ax.images[0].get_array()[0].tolist()
    [0.0, 1.0, 9.0]
    """
    shown = vat_picture(
        evidence, kind=kind, missing=missing, max_size=max_size, max_objects=max_objects
    )
    ax = axes(ax, what="plot_vat", size=(5.4, 4.6), layout="compressed")
    top = float(shown.image.max()) or 1.0
    _draw(ax, shown, cmap, top, "distance" if kind == "vat" else "longest step of best path")
    ax.set(xlabel="objects in VAT order", ylabel="objects in VAT order")
    return ax


def _draw(ax: Any, shown: PairPicture, cmap: Any, top: float, words: str) -> None:
    """The image on axes that count objects, its colours explained, and the note above it."""
    n = len(shown.objects)
    image = ax.imshow(
        shown.image,
        vmin=0,
        vmax=top,
        cmap=cmap,
        extent=(0, n, n, 0),
        interpolation="nearest" if len(shown.image) <= 300 else "antialiased",
    )
    # As high as a square picture, also on Axes that were given.
    ax.figure.colorbar(image, ax=ax, label=words, fraction=0.046, pad=0.03)
    if shown.note:
        ax.set_title(shown.note, fontsize="small")


def _draw_clusters(ax: Any, shown: PairPicture) -> None:
    """Lines between the clusters, and their labels beside the rows."""
    if len(shown.clusters) <= _MAX_EDGES:
        for edge in shown.edges[1:-1]:
            ax.axhline(edge, lw=0.6, color="0.25")
            ax.axvline(edge, lw=0.6, color="0.25")
    shares = np.diff(shown.edges) / len(shown.objects)
    named = shares >= _NAMED_SHARE
    middles = ((shown.edges[:-1] + shown.edges[1:]) / 2)[named]
    names = [name for name, large in zip(shown.clusters, named, strict=True) if large]
    ax.set_yticks(middles, names)
    wide = np.array([_LETTER * (len(name) + 1) for name in names])
    fits = bool((wide <= shares[named]).all())
    ax.set_xticks(middles if fits else [], names if fits else [])
    ax.tick_params(length=0, labelsize="small" if len(names) > 10 else None)
    ax.set(xlabel="objects by cluster", ylabel="objects by cluster")


def _grouped(labels: Positions) -> tuple[Positions, Positions, Positions]:
    """Objects by cluster, those in none last; the clusters in that order, and their edges."""
    key = np.where(labels < 0, np.iinfo(np.int64).max, labels)
    order = np.argsort(key, kind="stable")
    _, starts = np.unique(key[order], return_index=True)
    return order, labels[order[starts]], np.append(starts, len(labels))


def _some(evidence: Any, kept: Positions) -> Any:
    """An ensemble or a matrix of some of its objects."""
    if len(kept) == _n_objects(evidence):
        return evidence
    return evidence.take(kept) if isinstance(evidence, Ensemble) else evidence[np.ix_(kept, kept)]


def _n_objects(evidence: Any) -> int:
    if isinstance(evidence, Ensemble):
        return evidence.n_objects
    if evidence.ndim != 2 or evidence.shape[0] != evidence.shape[1]:
        raise InvalidInputError(
            "evidence must be an Ensemble or a square array with a row and a column for each "
            f"object. Got shape {evidence.shape} instead."
        )
    return len(evidence)


def _similarities(evidence: Any) -> Floats:
    """A matrix of similarities in [0, 1] with a unit diagonal, or an error."""
    matrix = np.asarray(evidence)
    n = _n_objects(matrix)
    good = matrix.dtype.kind in "biuf" and n > 0
    matrix = matrix.astype(np.float64, copy=False) if good else np.full((1, 1), np.nan)
    low, high = float(matrix.min()), float(matrix.max())
    diagonal = float(np.abs(matrix.diagonal() - 1.0).max())
    if not (low >= 0 and high <= 1 + 1e-9 and diagonal <= 1e-9):
        raise InvalidInputError(
            "evidence must be an Ensemble, or similarities in [0, 1] with a unit diagonal. Got "
            f"values from {low:g} to {high:g}. For distances use plot_vat."
        )
    return np.minimum(matrix, 1.0)


def _check(missing: str, max_size: int, max_objects: int, owner: str) -> None:
    check_value("missing", missing, [Options(("pair", "all"))], owner=owner)
    check_value("max_size", max_size, _COUNT, owner=owner)
    check_value("max_objects", max_objects, [Interval(Integral, 2)], owner=owner)


def _note(size: int, n_shown: int, n_objects: int) -> str:
    """What the picture leaves out, in words."""
    parts = [counted(n_shown, n_objects)]
    if size < n_shown:
        parts.append(f"a row is the mean of about {n_shown / size:.3g} objects")
    return ";\n".join(part for part in parts if part)
