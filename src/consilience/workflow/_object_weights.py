"""Objects that count more than others: a job of as many copies, told of the objects.

An object of weight 2 is two objects that are the same. So everything, from the means of columns to
the confidence, is what a table with copies gives, by every method and for all members.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import is_frame
from consilience._validation import as_array
from consilience._words import listed
from consilience.compare import against_truth
from consilience.datasets import Table
from consilience.errors import InvalidInputError, InvalidParameterError, warn

__all__ = ["Copies", "copies_of", "refuse_with_weights", "taken_out"]

Floats = NDArray[np.float64]

# Copies an object on average: whole weights may make so many, others are rounded to make so many.
_MOST, _MADE = 10, 4
# How far off a rounded weight may be without a word.
_OFF = 0.25


@dataclass(frozen=True)
class Copies:
    """Objects as often as they count.

    Attributes
    ----------
    rows : ndarray of int
        The object of each copy; copies of one follow each other.
    first : ndarray of int
        The first copy of each object.
    """

    rows: NDArray[np.int64]
    first: NDArray[np.int64]

    @property
    def n_objects(self) -> int:
        """Objects, not copies."""
        return len(self.first)

    def of_objects(self, result: Mapping[str, Any]) -> dict[str, Any]:
        """Fields of a result of the copies, as those of the objects."""
        data = result["data"].take(self.first)
        labels, told = self._told(result["labels"])
        fresh = np.append(_renumbered(labels, int(result["labels"].max()) + 1), -1)
        sure, others, soft = result["confidence"], result["runner_up"], result["soft_members"]
        labels = fresh[labels]
        truth = None if data.truth is None else against_truth(data.truth, labels)
        if result["alternatives"]:  # their labels are nowhere: they cannot be told of objects
            warn("What is said of other divisions ('alternatives') counts copies, not objects.")
        return {
            **result,
            "data": data,
            "labels": labels,
            "runner_up": None if others is None else fresh[others[told]],
            "confidence": None if sure is None else sure[told],
            "ensemble": result["ensemble"].take(self.first),
            "soft_members": None if soft is None else soft.take(self.first),
            "agreement": truth,
            "tree": None,  # of copies
        }

    def _told(self, labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The label that most copies of an object have, the first on ties; a copy that has it.

        Methods that make clusters of equal sizes may part copies.
        """
        votes = np.zeros((self.n_objects, int(labels.max()) + 2))
        np.add.at(votes, (self.rows, labels), 1.0)  # noise is the last column
        votes[np.arange(self.n_objects), labels[self.first]] += 0.5
        chosen = votes.argmax(axis=1)
        chosen[chosen == votes.shape[1] - 1] = -1
        same = np.flatnonzero(labels == chosen[self.rows])
        _, at = np.unique(self.rows[same], return_index=True)
        return chosen, same[at]


def _renumbered(labels: NDArray[np.int64], k: int) -> NDArray[np.int32]:
    """New numbers of k clusters, as they first appear; -1 of those that nobody is in."""
    names, first = np.unique(labels[labels >= 0], return_index=True)
    fresh = np.full(k, -1, np.int32)
    fresh[names[np.argsort(first, kind="stable")]] = np.arange(len(names), dtype=np.int32)
    return fresh


def taken_out(X: Any, weights: Any, *, owner: str) -> tuple[Any, Any]:
    """The data without the column that weights were named by, and the weights."""
    if not isinstance(weights, str):
        return X, weights
    columns = list(X.columns) if isinstance(X, Table) or is_frame(X) else []
    if weights not in map(str, columns):
        raise InvalidParameterError(
            f"The 'object_weights' parameter of {owner} must name a column of X, or be one number "
            f"for each object. Got {weights!r}; there are "
            f"{listed(map(repr, columns)) or 'no columns with names'}."
        )
    place = list(map(str, columns)).index(weights)
    if not isinstance(X, Table):
        name = columns[place]
        rest = X.drop(columns=[name]) if hasattr(X, "iloc") else X.drop(name)
        return rest, np.asarray(X[name])
    if sparse.issparse(X.X) or X.sources[place : place + 1] not in ((), (weights,)):
        raise InvalidParameterError(
            f"The 'object_weights' parameter of {owner} must name a column of numbers of a dense "
            f"table. Got {weights!r}."
        )
    recipe = X.recipe
    if recipe is not None:
        kept = tuple(column for column in recipe.columns if column.name != weights)
        recipe = replace(recipe, columns=kept)
    without = replace(
        X,
        X=np.delete(X.X, place, axis=1),
        columns=tuple(c for c in X.columns if c != weights),
        sources=tuple(c for c in X.sources if c != weights),
        recipe=recipe,
    )
    return without, X.X[:, place]


def copies_of(weights: Any, *, owner: str) -> Copies | None:
    """How often each object counts; None where all count the same."""
    if weights is None:
        return None
    values = _checked(weights, owner)
    counts = _whole(values)
    if (counts == counts[0]).all():
        return None
    rows = np.repeat(np.arange(len(counts)), counts)
    warn(f"Objects count by their weights: {len(rows)} copies stand for {len(counts)} objects.")
    return Copies(rows, np.concatenate([[0], np.cumsum(counts)[:-1]]))


def _checked(weights: Any, owner: str) -> Floats:
    given = as_array(weights)
    if given.ndim != 1 or not given.size or given.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"The 'object_weights' parameter of {owner} must be one number for each object. Got "
            f"{type(weights).__name__} of shape {given.shape} instead."
        )
    values = given.astype(np.float64)
    wrong = ~(np.isfinite(values) & (values > 0))
    if wrong.any():
        place = int(wrong.argmax())
        raise InvalidInputError(
            f"The 'object_weights' parameter of {owner} must be finite and above 0. Got "
            f"{values[place]:g} for object {place}. Leave out objects that are to count for "
            "nothing; `predict` of the result places them."
        )
    return values


def _whole(weights: Floats) -> NDArray[np.int64]:
    """Copies of each object: the weights themselves where they are few whole numbers."""
    n = len(weights)
    if (weights == np.floor(weights)).all() and weights.max() < 2**53:
        counts = weights.astype(np.int64)
        counts //= gcd(*counts.tolist())
        if counts.sum() <= _MOST * n:
            return counts
    exact = weights / weights.mean() * _MADE
    counts = np.maximum(np.rint(exact), 1.0).astype(np.int64)
    counts //= gcd(*counts.tolist())
    off = int((np.abs(counts / counts.mean() / (exact / _MADE) - 1.0) > _OFF).sum())
    if off:
        warn(
            f"Object weights are rounded to quarters of their mean, and to no less: {off} of {n} "
            f"objects count by more than {_OFF:.0%} more or less than they should."
        )
    return counts


def refuse_with_weights(given: Mapping[str, bool], *, owner: str) -> None:
    """Refuse what a job of copies cannot tell of objects."""
    for name, is_given in given.items():
        if is_given:
            raise InvalidParameterError(
                f"{name!r} of {owner} cannot be combined with 'object_weights'. "
                "Leave one of them out."
            )
