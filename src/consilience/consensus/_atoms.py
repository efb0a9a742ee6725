"""Columns of few values, or with many ties: tables that keep them and nothing between columns.

Objects that share a value lie at no distance in that column, and far from those of the next value:
borders look empty whatever the groups are. In a table of the same columns, each permuted on its
own, they look as empty.
"""

import numpy as np
from numpy.typing import NDArray

__all__ = ["Sources", "distinct", "has_atoms", "permuted", "sources", "told"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Labels = NDArray[np.int32]
Sources = list[Ints]

# A value that so many objects have is no accident of rounding, and so few values are steps.
_HEAVY, _FEW = 0.2, 10
# Rows are copies if this share of them or more are not the first of their kind.
_COPIES = 0.2


def has_atoms(column: Floats) -> bool:
    """Whether a column has few values, or one that many objects share."""
    values, counts = np.unique(column, return_counts=True)
    if len(values) == len(column):
        return False
    return bool(len(values) <= _FEW or counts.max() >= _HEAVY * len(column))


def sources(points: Floats) -> Sources:
    """Columns with atoms; those of one category, of which every object has one, together.

    Examples
    --------
    >>> table = np.eye(3)[[0, 1, 2, 0, 1, 2]]
    >>> [columns.tolist() for columns in sources(np.column_stack([table, [0, 0, 1, 0, 1, 1]]))]
    [[0, 1, 2], [3]]
    """
    high = points == points.max(axis=0)
    two = ((points == points.min(axis=0)) | high).all(axis=0) & ~high.all(axis=0)
    found: Sources = []
    place = 0
    while place < points.shape[1]:
        width = _width(high[:, place:], two[place:])
        if width > 1 or has_atoms(points[:, place]):
            found.append(np.arange(place, place + width))
        place += width
    return found


def distinct(points: Floats) -> tuple[Ints, Ints] | None:
    """The first of each row that differs, and which of them each row is; None if to be kept.

    Rows of few values, such as answers to a few questions, are equal by chance: how many are says
    where the objects are. Rows of numbers that are equal were written down twice, and are no more
    for it. So few rows that each may be a group stay as well.
    """
    _, first, which = np.unique(points, axis=0, return_index=True, return_inverse=True)
    n = len(first)
    if n <= _FEW or n > (1 - _COPIES) * len(points):
        return None
    values = max(len(np.unique(column)) for column in points.T)
    return (first, which.ravel()) if values > n // 2 else None


def _width(high: NDArray[np.bool_], two: NDArray[np.bool_]) -> int:
    """How many columns, from the first, are the values of one category."""
    taken = np.zeros(len(high), np.bool_)
    for place in range(high.shape[1]):
        if not two[place] or (taken & high[:, place]).any():
            return 1
        taken |= high[:, place]
        if taken.all():
            return place + 1
    return 1


def permuted(table: Floats, points: Floats, atoms: Sources, rng: np.random.RandomState) -> Floats:
    """A table with the columns of ``atoms`` as in ``points``, each source in its own order."""
    table = table.copy()
    for columns in atoms:
        table[:, columns] = points[np.ix_(rng.permutation(len(points)), columns)]
    return table


def told(points: Floats, labels: Labels) -> float:
    """Share of the variance of all columns that lies between the groups."""
    sizes = np.bincount(labels)
    inside = np.zeros((len(labels), len(sizes)))
    inside[np.arange(len(labels)), labels] = 1
    middle = points.mean(axis=0)
    means = inside.T @ points / sizes[:, None]
    whole = ((points - middle) ** 2).sum()
    return float((sizes @ (means - middle) ** 2).sum() / max(whole, np.finfo(float).tiny))
