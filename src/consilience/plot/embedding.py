"""The objects on a plane: two principal components, coloured by cluster."""

import math
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from consilience._optional import optional
from consilience._validation import Interval, check_value
from consilience.errors import InvalidInputError
from consilience.plot._axes import axes, cluster_colours, cluster_labels, legend_beside
from consilience.plot._thin import counted, thinned
from consilience.rows import rows_of

__all__ = ["EmbeddedObjects", "embedded_objects", "plot_embedding"]

Floats = NDArray[np.float64]
Positions = NDArray[np.int64]

_MAX_LEGEND = 16
_FAINTEST = 0.15


@dataclass(frozen=True, eq=False)
class EmbeddedObjects:
    """Objects on a plane, perhaps only some of them.

    Attributes
    ----------
    objects : ndarray of shape (n_shown,)
        Which objects these are, ascending.
    points : ndarray of shape (n_shown, 2)
    names : (str, str)
        What the two axes are; the second is empty where its values mean nothing.
    note : str
        How many objects were left out; empty if none was.
    """

    objects: Positions
    points: Floats
    names: tuple[str, str]
    note: str


def embedded_objects(
    X: Any, labels: Any = None, *, max_points: int = 20_000, random_state: int = 0
) -> EmbeddedObjects:
    """Two principal components of the data, thinned where there are many objects.

    Parameters
    ----------
    X, labels, max_points, random_state
        See `plot_embedding`.

    Returns
    -------
    EmbeddedObjects

    Examples
    --------
    >>> X = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 2.0])
    >>> map_ = embedded_objects(X)
    >>> np.abs(map_.points[:, 0]).round(1).tolist(), map_.names[0]
    ([4.5, 1.5, 1.5, 4.5], 'component 1 (100 % of the variance)')
    """
    owner = "plot_embedding"
    check_value("max_points", max_points, [Interval(Integral, 1)], owner=owner)
    check_value("random_state", random_state, [Interval(Integral, 0)], owner=owner)
    X = _checked(X)
    n = X.shape[0]
    codes = None if labels is None else cluster_labels(labels, n, what=owner)[0]
    kept = thinned(n, max_points, codes, random_state)
    points, names = _on_a_plane(X, kept, random_state)
    return EmbeddedObjects(kept, points, names, counted(len(kept), n))


def plot_embedding(
    X: Any,
    labels: Any = None,
    *,
    confidence: Any = None,
    ax: Any = None,
    max_points: int = 20_000,
    random_state: int = 0,
) -> Any:
    """Draw the objects on the plane of their two principal components, coloured by cluster.

    Parameters
    ----------
    X : array, frame or CSR matrix of shape (n_objects, n_features)
        Two features are drawn as they are, one feature with random heights.
    labels : array of shape (n_objects,), optional
        Clusters, numbers or names; -1 or None (in no cluster) is grey and lies below. Colours
        repeat after twelve clusters.
    confidence : array of shape (n_objects,), optional
        In [0, 1]: the less, the fainter the point; NaN counts as 0.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.
    max_points : int, default=20_000
        Of more objects so many are drawn, a share of every cluster. The title says so.
    random_state : int, default=0
        For that sample.

    Returns
    -------
    matplotlib Axes
        One collection for the objects in no cluster, if any, and one for the others; a legend up
        to 16 labels.

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 1.1], [5.0, 5.0], [9.0, 0.0]])
    >>> ax = plot_embedding(X, [0, 0, 1, -1])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['none: 1', '0: 2', '1: 1']
    """
    shown = embedded_objects(X, labels, max_points=max_points, random_state=random_state)
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    ax = axes(ax, what="plot_embedding", size=(6.4, 4.8))
    size = float(np.clip(9000 / len(shown.objects), 2, 22))
    codes, names = np.zeros(n, np.int64), {0: ""}
    if labels is not None:
        codes, names = cluster_labels(labels, n, what="plot_embedding")
    colours = optional("matplotlib.colors", extra="plot", what="plot_embedding")
    shades = colours.to_rgba_array(cluster_colours(codes[shown.objects]))
    shades[:, 3] = _opacity(confidence, n)[shown.objects]
    placed = codes[shown.objects] >= 0
    for part, share in ((~placed, 0.6), (placed, 1.0)):  # what is in no cluster lies below
        if part.any():
            ax.scatter(*shown.points[part].T, s=share * size, c=shades[part], linewidths=0)
    if labels is not None and len(names) <= _MAX_LEGEND:
        sizes = dict(
            zip(*(part.tolist() for part in np.unique(codes, return_counts=True)), strict=True)
        )
        _legend(ax, {code: f"{name}: {sizes[code]:,}" for code, name in names.items()})
    ax.set(xlabel=shown.names[0], ylabel=shown.names[1])
    if shown.names[1]:
        ax.set_aspect("equal", adjustable="datalim")
    else:
        ax.set(ylim=(-3, 3), yticks=[])
    if shown.note:
        ax.set_title(shown.note, fontsize="small")
    return ax


def _legend(ax: Any, words: dict[int, str]) -> None:
    """Clusters with their sizes; marks in full colour, however faint the points are."""
    lines = optional("matplotlib.lines", extra="plot", what="plot_embedding")
    colours = cluster_colours(np.array(list(words)))
    handles = [
        lines.Line2D([], [], ls="", marker="o", ms=5.5, mew=0, color=colour, label=name)
        for colour, name in zip(colours, words.values(), strict=True)
    ]
    legend_beside(ax, handles=handles, title="cluster: objects", alignment="left")


def _opacity(confidence: Any, n: int) -> Floats:
    """How opaque each object is drawn; fully without a confidence.

    By the square, because an object torn between two clusters still has one half.
    """
    if confidence is None:
        return np.ones(n)
    values = np.asarray(confidence)
    if values.shape != (n,) or values.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"confidence of plot_embedding must hold one number for each of the {n} objects. Got "
            f"{values.dtype} of shape {values.shape} instead."
        )
    values = np.nan_to_num(values.astype(np.float64), nan=0.0)
    if values.min() < -1e-9 or values.max() > 1 + 1e-9:
        raise InvalidInputError(
            "confidence of plot_embedding must lie in [0, 1]. Got values from "
            f"{values.min():g} to {values.max():g}."
        )
    return _FAINTEST + (1 - _FAINTEST) * np.clip(values, 0.0, 1.0) ** 2


def _checked(X: Any) -> Any:
    """Data that can be projected, or the house's error with scikit-learn's words."""
    try:
        return rows_of(X, owner="plot_embedding").values
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"X of plot_embedding cannot be drawn: {error}") from error


def _on_a_plane(X: Any, kept: Positions, random_state: int) -> tuple[Floats, tuple[str, str]]:
    """Points of the objects kept, and what the axes are; components are those of all objects."""
    n, d = X.shape
    if d <= 2:
        shown = X[kept]
        points = np.asarray(shown.toarray() if hasattr(X, "toarray") else shown, np.float64)
    if d == 1:
        # Random heights keep equal values apart; they mean nothing.
        heights = np.random.default_rng(random_state).uniform(-1, 1, len(kept))
        return np.column_stack([points[:, 0], heights]), ("feature 0", "")
    if d == 2:
        return points, ("feature 0", "feature 1")
    if hasattr(X, "toarray") and min(n, d) <= 3:  # too small for the sparse solver
        X = X.toarray()
    # By powers of two, which change no digit: squares of very large numbers stay finite, and those
    # of small differences beside a large constant do not vanish.
    X, unit = _of_unit_size(X)
    X, spread = _of_unit_size(_from_zero(X))
    if not _largest(X):  # all objects are the same, beside the largest number at least
        return np.zeros((len(kept), 2)), ("component 1", "component 2")
    solver = "arpack" if hasattr(X, "toarray") else "auto"
    model = PCA(2, svd_solver=solver, random_state=0).fit(X)
    shares = (100 * model.explained_variance_ratio_).round().astype(int).tolist()
    first, second = (f"component {i} ({s} % of the variance)" for i, s in enumerate(shares, 1))
    points = np.asarray(model.transform(X[kept]), np.float64)
    return np.ldexp(points, unit + spread), (first, second)


def _largest(X: Any) -> float:
    return max(float(X.max()), -float(X.min()))


def _of_unit_size(X: Any) -> tuple[Any, int]:
    """The data with their largest number between 1 and 2, and by which power of two."""
    exponent = math.frexp(_largest(X))[1] - 1
    if not hasattr(X, "toarray"):
        return np.ldexp(X, -exponent), exponent
    X = X.copy()
    X.data = np.ldexp(X.data, -exponent)
    return X, exponent


def _from_zero(X: Any) -> Any:
    """Columns less their least value; of a sparse matrix those without zeros, which stay so."""
    if not hasattr(X, "toarray"):
        return X - X.min(axis=0)
    full = X.count_nonzero(axis=0) == X.shape[0]
    X.data -= np.where(full, X.min(axis=0).toarray().ravel(), 0.0)[X.indices]
    return X
