"""What speaks for each number of groups, and how clear the taken ones are, in words."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed, plural
from consilience.consensus._clarity import Clarity
from consilience.consensus._lines import CHAINS
from consilience.consensus._number_judge import Criterion, NumberChoice, Taken

__all__ = ["Alternative", "choice_of", "difference", "worth_a_look"]

Labels = NDArray[np.int32]

# Objects that change between groups, as a share of the smaller one, that divide or join nothing.
_MOVED = 0.1
# Groups whose sizes are listed.
_MOST_PARTS = 4
# Numbers of groups nearer than this share are no other view.
_NEAR = 0.15
# The least share of the objects that makes a group.
_STRAYS = 0.02


@dataclass(frozen=True)
class Alternative:
    """The best supported division into one number of groups.

    Attributes
    ----------
    n_clusters : int
    line : str
        Where it comes from.
    support : float
        Agreement, and half of silhouette and modularity: the division of most support is taken,
        unless groups of any shape have sparser borders.
    agreement, silhouette, modularity, sparsity : float
        See the notes of `autoconsensus`.
    sizes : tuple of int
        Objects of each group, of those looked at, the largest first.
    difference : str
        What it makes of the groups that were taken, in words; empty of these themselves.
    icl : float or None
        Integrated completed likelihood of the likeliest so many groups as Gaussians (as BIC, but
        groups that overlap cost): the less the better. None without data, and in results that
        earlier versions kept.
    """

    n_clusters: int
    line: str
    support: float
    agreement: float
    silhouette: float
    modularity: float
    sparsity: float
    sizes: tuple[int, ...]
    difference: str
    icl: float | None = None


def difference(taken: Labels, other: Labels) -> str:
    """What another division makes of groups, in words.

    Examples
    --------
    >>> taken = np.repeat([0, 1], [6, 4])
    >>> difference(taken, np.repeat([0, 1, 2], [6, 2, 2]))
    'divides the group of 4 into 2 and 2'
    >>> difference(np.repeat([0, 1, 2], [6, 2, 2]), taken)
    'joins the groups of 2 and 2'
    >>> difference(taken, np.tile([0, 1], 5))
    'divides them across: no group stays'
    >>> difference(taken, taken)
    ''
    """
    shared = np.zeros((int(taken.max()) + 1, int(other.max()) + 1), np.int64)
    np.add.at(shared, (taken, other), 1)
    # A few objects that move make no other division.
    large = shared > np.maximum(_MOVED * np.minimum.outer(shared.sum(1), shared.sum(0)), 0)
    sizes = shared.sum(axis=1)
    parts = [(int(n), row[keep]) for n, row, keep in zip(sizes, shared, large, strict=True)]
    divided = [(n, row) for n, row in parts if len(row) > 1]
    joined = [sizes[keep] for keep in large.T if keep.sum() > 1]
    if divided and joined:
        kept = int(((large.sum(1)[:, None] == 1) & (large.sum(0)[None, :] == 1) & large).sum())
        stay = f"{plural(kept, 'group')} stay{'s' * (kept == 1)}" if kept else "no group stays"
        return f"divides them across: {stay}"
    if divided:
        return f"divides {listed(f'the group of {n} into {_parts(row)}' for n, row in divided)}"
    if joined:
        return f"joins {listed(f'the groups of {_parts(row)}' for row in joined)}"
    moved = len(taken) - int(shared[large].sum())
    return f"moves {plural(moved, 'object')}" if moved else ""


def _parts(sizes: NDArray[np.int64]) -> str:
    """Sizes, the largest first; only their number where there are many."""
    if len(sizes) > _MOST_PARTS:
        return f"{len(sizes)}, the largest of {max(sizes)}"
    return listed(sorted(sizes.tolist(), reverse=True))


def choice_of(
    alternatives: Sequence[Alternative],
    clarity: Clarity,
    n_objects: int,
    *,
    taken: Taken = "support",
    one_gaussian: float = -np.inf,
) -> NumberChoice:
    """The number of groups with everything that speaks for and against it.

    Parameters
    ----------
    alternatives : sequence of Alternative
        The one taken first.
    clarity : Clarity
        Of the one taken.
    n_objects : int
        Objects looked at.
    taken : {"support", "silhouette", "borders", "likelihood"}
        By what: the most support; separation, where nothing has much; sparse borders, where groups
        of any shape went before compact ones; likelihood as Gaussians, where the graph of
        neighbours comes to the same.
    one_gaussian : float
        How likely one Gaussian is, to be compared with ``icl``; minus infinity without data.
    """
    if not alternatives:
        words = "All objects are alike, or there are too few of them: nothing divides them."
        return NumberChoice(1, False, "none", (), words, n_objects)
    first = alternatives[0]
    # Neither the largest sparsity nor the largest silhouette of these divisions is the whole rule.
    criteria = tuple(
        replace(one, n_clusters=first.n_clusters) if one.name == taken != "support" else one
        for one in _criteria(alternatives, one_gaussian)
    )
    return NumberChoice(
        n_clusters=first.n_clusters,
        clear=clarity.verdict == "clear",
        taken=taken,
        criteria=criteria,
        words=_taken_words(first, taken),
        n_objects=n_objects,
    )


def _criteria(alternatives: Sequence[Alternative], one_gaussian: float) -> tuple[Criterion, ...]:
    """Each kind of evidence over the numbers of groups; the one that decides first."""
    by_number = sorted(alternatives, key=lambda one: one.n_clusters)
    criteria = [
        _largest("support", "support: all of the next three", by_number, _half_of_support),
        _largest("agreement", "agreement of ways to cluster", by_number, lambda one: one.agreement),
        _largest("silhouette", "separation (silhouette)", by_number, lambda one: one.silhouette),
        _largest("modularity", "neighbours in one group", by_number, lambda one: one.modularity),
        _largest("borders", "sparse borders", by_number, lambda one: one.sparsity),
    ]
    icl = {one.n_clusters: one.icl for one in by_number if one.icl is not None}
    if np.isfinite(one_gaussian):
        icl = {1: one_gaussian, **icl}
    return (*criteria, _likelihood(icl)) if len(icl) > 1 else tuple(criteria)


def _half_of_support(one: Alternative) -> float:
    """Support brought to at most 1."""
    return one.support / 2


_MEANING = {
    "support": "what speaks for these groups together is {value:.2f}, where 1 is the most",
    "agreement": "ways to cluster come to the same groups with a mean adjusted Rand index of "
    "{value:.2f}",
    "silhouette": "the mean silhouette is {value:.2f}",
    "modularity": "the modularity of the graph of neighbours is {value:.2f}",
    "borders": "the logarithm of how much sparser it is at borders than inside is {value:.2f}",
}


def _largest(
    name: str,
    title: str,
    by_number: Sequence[Alternative],
    value: Callable[[Alternative], float],
) -> Criterion:
    values = np.array([value(one) for one in by_number])
    best = int(values.argmax())
    k = by_number[best].n_clusters
    # What is not above 0 even at its best speaks for no number.
    seen = bool(values[best] > 0)
    place = f"Largest at {plural(k, 'group')}" if seen else "Sees nothing"
    meaning = _MEANING[name].format(value=values[best])
    return Criterion(
        name=name,
        title=title,
        tested=np.array([one.n_clusters for one in by_number]),
        values=values,
        reference=None,
        larger_is_better=True,
        n_clusters=k if seen else None,
        clarity=float(np.clip(values[best], 0, 1)),
        words=f"{place}: {meaning}.",
    )


def _likelihood(icl: dict[int, float]) -> Criterion:
    """Of groups as Gaussians by their number, one among them: then there are no groups."""
    tested, values = np.array(list(icl)), np.array(list(icl.values()))
    best = int(values.argmin())
    k = int(tested[best])
    # The share of the belief that the best number has, of it and the next best, if they began
    # alike.
    behind = float(np.partition(values, 1)[1] - values[best])
    least = f"{k} groups are" if k > 1 else "one group is"
    return Criterion(
        name="likelihood",
        title="likelihood as Gaussians (ICL)",
        tested=tested,
        values=values,
        reference=None,
        larger_is_better=False,
        n_clusters=k,
        clarity=float(1 / (1 + np.exp(-behind / 2))),
        words=f"As Gaussians {least} likeliest, overlaps counted against them.",
    )


def _taken_words(first: Alternative, taken: Taken) -> str:
    groups = plural(first.n_clusters, "group")
    if taken == "borders" and first.line == CHAINS:
        return (
            f"{groups} are chains that wind around each other: steps from one to the next are far "
            "longer than any between neighbours within them."
        )
    if taken == "borders":
        return (
            f"{groups} of any shape, found by {first.line}: their borders run through sparser "
            "places than those of compact groups do."
        )
    if taken == "likelihood":
        return (
            f"{groups} are likeliest as Gaussians that hardly overlap, and the graph of "
            f"neighbours, which knows nothing of Gaussians, has nearly the same ones when it is "
            f"divided into {first.n_clusters}."
        )
    if taken == "silhouette":
        return (
            f"No number has much support; {groups} are best apart (silhouette "
            f"{first.silhouette:.2f})."
        )
    return (
        f"{groups} have the most support: independent ways to cluster come to them with a mean "
        f"adjusted Rand index of {first.agreement:.2f}."
    )


def worth_a_look(alternatives: Sequence[Alternative], most: int = 3) -> tuple[Alternative, ...]:
    """The division taken, and the next best ones whose groups are more than a few strays.

    Parameters
    ----------
    alternatives : sequence of Alternative
        Of `AutoConsensus`.
    most : int, default=3
        Divisions at most.
    """
    seen = list(alternatives[:1])
    for one in alternatives[1:]:
        strays = min(one.sizes) < max(3, _STRAYS * sum(one.sizes))
        # Seventeen groups are no other view than sixteen.
        near = any(abs(one.n_clusters - k) <= _NEAR * k for k in (two.n_clusters for two in seen))
        if len(seen) < most and not strays and not near:
            seen.append(one)
    return tuple(seen)
