"""Who splits into whom: the tree over the number of groups."""

from typing import Any

from consilience.consensus import Levels, Split
from consilience.errors import InvalidInputError
from consilience.plot._axes import ACCENT, GREY, MAIN, axes

__all__ = ["plot_levels"]

_NAMED = 24  # more groups at the bottom have no room for words


def plot_levels(found: Levels, *, ax: Any = None) -> Any:
    """Draw the tree over the number of groups.

    Parameters
    ----------
    found : Levels
        Of `consilience.consensus.levels`, or of a result's ``levels()``.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.

    Returns
    -------
    matplotlib Axes
        All objects on top, below each split its parts, with their sizes; the level says how many
        groups there are. Lines are blue below a split that is more than chance, orange below one
        that is not, grey where nothing was tested. Parts of single groups hang below them.

    Examples
    --------
    >>> from consilience import AutoConsensus
    >>> from consilience.consensus import levels
    >>> from consilience.datasets import make_gaussians
    >>> X, _ = make_gaussians(150, 3, random_state=0)
    >>> model = AutoConsensus(3, random_state=0).fit(X)
    >>> ax = plot_levels(levels(model.ensemble_, model.labels_, X=X, deeper=False, random_state=0))
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['1 group', '2 groups', '3 groups']
    """
    if not isinstance(found, Levels):
        raise InvalidInputError(
            "plot_levels needs what consilience.consensus.levels or the levels() of a result "
            f"returned. Got {type(found).__name__} instead."
        )
    place = _places(found)
    width = min(2.0 + 0.9 * len(place), 12.0)
    ax = axes(ax, what="plot_levels", size=(width, 1.6 + 0.45 * (found.n_groups + 2)))
    everybody = tuple(range(found.n_groups))
    size = {everybody: int((found.labels >= 0).sum())}
    top = {everybody: 1.0}
    for split in found.splits:
        size.update(zip(split.parts, split.sizes, strict=True) if split.level else ())
        top.update(dict.fromkeys(split.parts, split.level) if split.level else {})
    for split in found.splits:
        if split.level is not None:
            _fork(ax, place, top[split.groups], split)
    bottom = float(found.n_groups)
    for groups, start in top.items():
        if len(groups) == 1:
            ax.plot([place[groups]] * 2, [start, bottom], color=GREY, lw=1, zorder=1)
            _words(ax, place, groups, bottom, size[groups], len(place))
    _inside(ax, found, place, bottom)
    ax.set_yticks(range(1, found.n_groups + 1), [_so_many(k) for k in range(1, found.n_groups + 1)])
    ax.invert_yaxis()
    ax.set_xticks([])
    ax.spines[["top", "right", "bottom", "left"]].set_visible(False)
    ax.tick_params(length=0)
    return ax


def _fork(ax: Any, place: dict[tuple[int, ...], float], start: float, split: Split) -> None:
    """From where a group begins down to where it splits, and over to its parts."""
    x, level = place[split.groups], split.level or 0
    ends = [place[part] for part in split.parts]
    ax.plot([x, x], [start, level - 0.5], color=GREY, lw=1, zorder=1)
    ax.plot([min(ends), max(ends)], [level - 0.5] * 2, color=_colour(split), lw=2.5)
    for end in ends:
        ax.plot([end, end], [level - 0.5, level], color=_colour(split), lw=2.5)
    said = f"stability {split.stability:.2f}"
    said += "" if split.p_adjusted is None else f", p = {split.p_adjusted:.2g}"
    ax.annotate(
        said, (x, level - 0.5), (0, 4), textcoords="offset points", ha="center", fontsize="x-small",
        bbox={"fc": "white", "ec": "none", "pad": 0.5},
    )  # fmt: skip


def _words(
    ax: Any, place: dict[tuple[int, ...], float], groups: Any, y: float, size: int, n: int
) -> None:
    said = f"group {groups[0]}\n{size}" if n <= 2 * _NAMED else str(groups[0])
    ax.annotate(
        said, (place[groups], y), (0, -6), textcoords="offset points", ha="center", va="top",
        fontsize="small",
    )  # fmt: skip


def _inside(ax: Any, levels: Levels, place: dict[tuple[int, ...], float], bottom: float) -> None:
    """Parts of single groups, the first division of each, below its name."""
    seen = set()
    for split in levels.splits:
        if split.level is not None or split.groups in seen:
            continue
        seen.add(split.groups)
        parts = " + ".join(map(str, split.sizes))
        ax.annotate(
            f"= {parts}", (place[split.groups], bottom), (0, -32), textcoords="offset points",
            ha="center", va="top", fontsize="small", color=_colour(split),
        )  # fmt: skip


def _places(levels: Levels) -> dict[tuple[int, ...], float]:
    """Where each group and group of groups stands: leaves in a row, others over their middle."""
    splits = {split.groups: split for split in levels.splits if split.level is not None}
    place: dict[tuple[int, ...], float] = {}
    # Depth first, without calls within calls: a tree of many groups can be a ladder.
    todo = [(tuple(range(levels.n_groups)), False)]
    while todo:
        groups, below_done = todo.pop()
        if groups not in splits:
            place[groups] = float(sum(len(known) == 1 for known in place))
        elif below_done:
            place[groups] = sum(place[part] for part in splits[groups].parts) / 2
        else:
            todo.append((groups, True))
            todo += [(part, False) for part in reversed(splits[groups].parts)]
    return place


def _colour(split: Split) -> str:
    return {True: MAIN, False: ACCENT, None: GREY}[split.significant]


def _so_many(k: int) -> str:
    return f"{k} group{'s' * (k != 1)}"
