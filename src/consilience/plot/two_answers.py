"""How the groups of two answers map onto each other."""

from typing import Any

import numpy as np

from consilience.errors import InvalidInputError
from consilience.plot._axes import axes
from consilience.workflow import TwoAnswers

__all__ = ["plot_two_answers"]

# More cells than these have no room for a number each.
_MOST_NUMBERS = 400


def plot_two_answers(found: TwoAnswers, *, ax: Any = None) -> Any:
    """Draw where the objects of each group of one answer are in the other.

    Parameters
    ----------
    found : TwoAnswers
        What `consilience.compare_results` returned.
    ax : matplotlib Axes, optional
        Where to draw; by default a figure is made.

    Returns
    -------
    matplotlib Axes
        A row a group of the first answer, a column a group of the second, in the order that puts
        partners on the diagonal; the darker, the larger the share of the row. Numbers are objects.

    Examples
    --------
    >>> from consilience import compare_results
    >>> ax = plot_two_answers(compare_results([0, 0, 1, 1], [1, 1, 0, 2]))
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['1', '0', '2']
    """
    if not isinstance(found, TwoAnswers):
        raise InvalidInputError(
            "plot_two_answers needs what consilience.compare_results returned. "
            f"Got {type(found).__name__} instead."
        )
    order = _beside_partners(found)
    counts = found.counts[:, order]
    size = (1.6 + 0.5 * counts.shape[1], 1.3 + 0.42 * counts.shape[0])
    ax = axes(ax, what="plot_two_answers", size=(min(size[0], 12.0), min(size[1], 12.0)))
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    ax.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    if counts.size <= _MOST_NUMBERS:
        for (i, j), n in np.ndenumerate(counts):
            if n:
                colour = "white" if share[i, j] > 0.6 else "0.15"
                ax.text(j, i, f"{n}", ha="center", va="center", color=colour, fontsize="small")
    ax.set_xticks(range(len(order)), [_name(found.second[j]) for j in order])
    ax.set_yticks(range(len(found.first)), [_name(group) for group in found.first])
    ax.set(xlabel="second answer", ylabel="first answer")
    ax.set_title(f"adjusted Rand index {found.ari.value:.2f}", fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _beside_partners(answers: TwoAnswers) -> list[int]:
    """Columns in the order of their partners' rows, those without one last."""
    partners = [answers.second.index(answers.match[a]) for a in answers.first if a in answers.match]
    return [*partners, *(j for j in range(len(answers.second)) if j not in partners)]


def _name(group: Any) -> str:
    return "none" if group == -1 else str(group)
