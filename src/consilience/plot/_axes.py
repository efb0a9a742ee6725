"""What every plot shares: the Axes to draw on, colours, and fields of results and estimators."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._labels import encode
from consilience._optional import optional
from consilience._validation import HasMethods, NoneValue, check_value
from consilience.errors import InvalidInputError

__all__ = [
    "ACCENT",
    "GREY",
    "MAIN",
    "axes",
    "cluster_colours",
    "cluster_labels",
    "field",
    "legend_beside",
    "vector_of_scores",
]

Positions = NDArray[np.int64]

MAIN, ACCENT, GREY = "#3b6fb6", "#d95f30", "#8f8f8f"
# Told apart by eye and, in the first eight, with the common colour deficiencies too.
_CLUSTERS = (
    "#3b6fb6",
    "#e69f00",
    "#009e73",
    "#cc79a7",
    "#d95f30",
    "#56b4e9",
    "#7a5195",
    "#a6761d",
    "#1b4332",
    "#b2182b",
    "#9acd32",
    "#2b2d6e",
)
_NOISE_COLOUR = "#b5b5b5"


def axes(ax: Any, *, what: str, size: tuple[float, float], layout: str = "constrained") -> Any:
    """The Axes given, or one in a new figure of ``size`` inches."""
    plt = optional("matplotlib.pyplot", extra="plot", what=what)
    check_value(
        "ax", ax, [HasMethods(("plot", "imshow"), "a matplotlib Axes"), NoneValue()], owner=what
    )
    if ax is None:
        _, ax = plt.subplots(figsize=size, layout=layout)
    return ax


def cluster_colours(labels: NDArray[np.integer[Any]]) -> list[str]:
    """A colour for each label, the same in every plot; grey for -1. They repeat after twelve."""
    return [_CLUSTERS[c % len(_CLUSTERS)] if c >= 0 else _NOISE_COLOUR for c in labels.tolist()]


def cluster_labels(labels: Any, n_objects: int, *, what: str) -> tuple[Positions, dict[int, str]]:
    """Labels as whole numbers, -1 for in no cluster, and the name of each number that occurs.

    Whole numbers stay as they are, so that a cluster has its colour in every plot; other labels
    are numbered as they first appear.
    """
    codes = encode(labels, what=f"labels of {what}")
    if len(codes) != n_objects:
        raise InvalidInputError(
            f"labels of {what} must hold one label for each of the {n_objects} objects. "
            f"Got {len(codes)} instead."
        )
    values = np.asarray(labels)
    if values.dtype.kind in "iu":
        codes = values.astype(np.int64)
    codes = np.maximum(codes, -1)
    items = labels.tolist() if hasattr(labels, "tolist") else list(labels)
    occur, first = np.unique(codes, return_index=True)
    pairs = zip(occur.tolist(), first.tolist(), strict=True)
    return codes, {c: "none" if c < 0 else _named(items[at]) for c, at in pairs}


def _named(label: Any) -> str:
    return f"{label:g}" if isinstance(label, float) else str(label)


def field(result: Any, name: str, *, what: str, of: str) -> Any:
    """``result.name`` of a result, or ``result.name_`` of a fitted estimator."""
    for spelled in (name, f"{name}_"):
        if hasattr(result, spelled):
            return getattr(result, spelled)
    raise InvalidInputError(
        f"{what} needs {of}, fitted. Got {type(result).__name__} without {name!r} instead."
    )


def vector_of_scores(scores: Any) -> Any:
    """Scores given as they are, or those of a fitted estimator such as EWOCS."""
    return getattr(scores, "scores_", scores)


def legend_beside(ax: Any, **options: Any) -> None:
    """A legend right of the plot, where it hides nothing."""
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0.0}
    ax.legend(frameon=False, fontsize="small", title_fontsize="small", **place, **options)
