"""How stable the clusters of all members are, and which of them were kept."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence import ClusterSelection
from consilience.plot._axes import ACCENT, GREY, MAIN, axes

__all__ = ["StabilityCurve", "plot_stability", "stability_curve"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StabilityCurve:
    """Clusters from the most stable to the least.

    Attributes
    ----------
    clusters : ndarray of shape (n_clusters,)
        Number of the cluster at each place, members one after the other.
    stability : ndarray of shape (n_clusters,)
        Descending.
    kept : ndarray of shape (n_clusters,), bool
        All True without a selection.
    cut : float
        Stability of the last cluster kept for its rank; NaN without a selection.
    """

    clusters: NDArray[np.int64]
    stability: Floats
    kept: Flags
    cut: float


def stability_curve(stability: Any, selection: ClusterSelection | None = None) -> StabilityCurve:
    """Stability of all clusters in descending order, and which were kept.

    Parameters
    ----------
    stability, selection
        See `plot_stability`.

    Returns
    -------
    StabilityCurve

    Examples
    --------
    >>> stability_curve([0.2, 0.9, 0.5]).clusters
    array([1, 2, 0])
    """
    values = np.asarray(stability)
    if values.ndim != 1 or not values.size or values.dtype.kind not in "biuf":
        raise InvalidInputError(
            "plot_stability needs one number for each cluster of all members, as "
            f"cluster_stability returns them. Got {values.dtype} of shape {values.shape} instead."
        )
    values = values.astype(np.float64)
    if not np.isfinite(values).all():
        raise InvalidInputError("plot_stability needs finite stabilities. Got NaN or infinity.")
    order = np.argsort(-values, kind="stable")
    if selection is None:
        return StabilityCurve(order, values[order], np.ones(len(order), bool), float("nan"))
    if not isinstance(selection, ClusterSelection) or len(selection.kept) != len(values):
        raise InvalidParameterError(
            "The 'selection' parameter of plot_stability must be what select_clusters returned for "
            f"the same {len(values)} clusters, or None. Got {type(selection).__name__} instead."
        )
    return StabilityCurve(order, values[order], selection.kept[order], float(selection.cut))


def plot_stability(
    stability: Any, selection: ClusterSelection | None = None, *, ax: Any = None
) -> Any:
    """Draw the stability of every cluster, the most stable first, with the cut.

    Parameters
    ----------
    stability : array of shape (n_clusters,)
        Of all clusters of all members, as `consilience.evidence.cluster_stability` returns it.
    selection : ClusterSelection, optional
        What `consilience.evidence.select_clusters` kept: kept clusters are coloured (those below
        the cut were added to cover objects), the rest is grey.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from consilience import Ensemble
    >>> from consilience.evidence import cluster_stability, select_clusters
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1]])
    >>> values = cluster_stability(ens)
    >>> ax = plot_stability(values, select_clusters(ens, values, top=0.2, min_cover=0))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['kept: 4', 'not kept: 2', 'cut at 0.739']
    """
    shown = stability_curve(stability, selection)
    ax = axes(ax, what="plot_stability", size=(6.4, 3.6))
    ranks = np.arange(1, len(shown.stability) + 1)
    if selection is None:
        ax.plot(ranks, shown.stability, color=MAIN, lw=1.6)
    else:
        above = shown.kept & (shown.stability >= shown.cut - 1e-12)
        groups = (
            ("kept", above, MAIN),
            ("added to cover objects", shown.kept & ~above, ACCENT),
            ("not kept", ~shown.kept, GREY),
        )
        size = float(np.clip(1500 / len(ranks), 3, 25))
        for name, part, colour in groups:
            if part.any():
                label = f"{name}: {int(part.sum()):,}"
                large, above_all = (2.5 * size, 3) if colour == ACCENT else (size, 2)
                points = (ranks[part], shown.stability[part])
                ax.scatter(*points, s=large, color=colour, label=label, zorder=above_all)
        if np.isfinite(shown.cut):
            words = f"cut at {shown.cut:.3g}"
            ax.axhline(shown.cut, color="0.25", lw=0.9, ls="--", label=words, zorder=0)
        ax.legend(frameon=False, fontsize="small")
    ax.set(xlabel="clusters of all members, the most stable first", ylabel="stability")
    ax.set_ylim(min(0.0, float(shown.stability[-1])), max(1.02, 1.02 * float(shown.stability[0])))
    ax.spines[["top", "right"]].set_visible(False)
    return ax
