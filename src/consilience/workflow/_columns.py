"""What a job is told of the columns beside their values: gaps, logarithms, weights."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import is_frame
from consilience._validation import NO_NUMBERS, Interval, NoneValue, Options, Rule, check_value
from consilience._words import listed
from consilience.datasets import Table
from consilience.datasets._association import association_weights
from consilience.datasets._frames import frame_table, holds_words
from consilience.datasets._mixed import Mixed, mixed_of
from consilience.datasets._recipe import Recipe
from consilience.datasets._scale import Scaling
from consilience.datasets._transform import Transform
from consilience.datasets._views import Views
from consilience.errors import InvalidParameterError

__all__ = ["Columns", "cells_of", "checked_columns", "number_columns"]


@dataclass(frozen=True)
class Columns:
    """What is said of the columns.

    Attributes
    ----------
    keep_gaps : bool
        Whether missing values of arrays and frames are kept as gaps.
    transform : {"log", "compositional"} or None
    column_weights : mapping of str to float
    offers_gaps : bool
        Whether the job's call has ``gaps``.
    """

    keep_gaps: bool = False
    transform: Transform | None = None
    column_weights: Mapping[str, float] = field(default_factory=dict)
    offers_gaps: bool = False

    def table_of(self, X: Any) -> Table | None:
        """A frame with columns that are no numbers as a table; None of anything else."""
        if not is_frame(X) or not holds_words(X):
            return None
        return frame_table(X, impute="keep" if self.keep_gaps else None)

    def has_gaps(self, values: Any, table: Table | None) -> bool:
        """Whether there are missing values, and they are to stay."""
        recipe = None if table is None else table.recipe
        keep = self.keep_gaps or (recipe is not None and recipe.keep_gaps)
        if not keep or sparse.issparse(values):
            return False
        cells = np.asarray(values)
        if cells.dtype.kind == "O":
            try:
                cells = cells_of(values)
            except NO_NUMBERS:
                return False  # which is refused as a whole
        return cells.dtype.kind == "f" and cells.ndim == 2 and bool(np.isnan(cells).any())

    def mixed(
        self,
        values: Any,
        sources: Sequence[str],
        recipe: Recipe | None,
        gappy: bool,
        views: Views | None,
    ) -> Mixed | None:
        """What members see of a table with categories, gaps or views; None of plain numbers."""
        if not gappy and (recipe is None or recipe.encode != "mixed"):
            return None
        seen = mixed_of(values, sources, recipe)
        return seen if gappy or seen.categorical or views is not None else None

    def weights_of(
        self, mixed: Mixed, view_of: Sequence[int], *, owner: str
    ) -> NDArray[np.float64]:
        """Weights of the columns: those given, times what categories say of other columns.

        Views have the same weight in all, however many columns they have.
        """
        self._check_names(mixed.names, owner)
        given = [self.column_weights.get(name, 1.0) for name in mixed.names]
        weights = association_weights(mixed.values, mixed.categorical) * np.sqrt(given)
        if len(view_of):
            weights /= np.sqrt(np.bincount(view_of, weights**2))[list(view_of)]
        return weights

    def weighted(
        self, values: Any, names: Sequence[str], scaling: Scaling | None, *, owner: str
    ) -> Scaling:
        """What makes columns count for more or less in distances."""
        self._check_names(names, owner)
        if sparse.issparse(values):
            raise InvalidParameterError(
                f"The 'column_weights' parameter of {owner} is for dense data. Multiply the "
                "columns of the sparse matrix by the roots of their weights instead."
            )
        root = np.sqrt([self.column_weights.get(name, 1.0) for name in names])
        if scaling is None:
            every, one = np.arange(len(names)), np.ones(len(names))
            scaling = Scaling(every, one, np.zeros(len(names)), one)
        return Scaling(scaling.kept, scaling.unit, scaling.mean, scaling.spread / root)

    def _check_names(self, names: Sequence[str], owner: str) -> None:
        others = [name for name in self.column_weights if name not in names]
        if others:
            raise InvalidParameterError(
                f"The 'column_weights' parameter of {owner} must name columns of the data. Got "
                f"{listed(map(repr, others))}; there are {listed(map(repr, names), most=10)}."
            )


def checked_columns(gaps: Any, transform: Any, column_weights: Any, *, owner: str) -> Columns:
    """What is said of the columns, once it is known to be usable."""
    check_value("gaps", gaps, [Options(("keep",)), NoneValue()], owner=owner)
    how: list[Rule] = [Options(("log", "compositional")), NoneValue()]
    check_value("transform", transform, how, owner=owner)
    weights = {} if column_weights is None else column_weights
    positive = Interval(Real, 0, open_low=True)
    if not isinstance(weights, Mapping) or not all(map(positive.accepts, weights.values())):
        raise InvalidParameterError(
            f"The 'column_weights' parameter of {owner} must give columns by name a number above "
            f"0. Got {column_weights!r} instead. Leave out columns that are to count for nothing."
        )
    named = {str(name): float(weight) for name, weight in weights.items()}
    return Columns(gaps == "keep", transform, named, offers_gaps=True)


def cells_of(values: Any) -> NDArray[np.float64]:
    """Numbers of which some are missing, whatever stands for that: they are NaN."""
    if hasattr(values, "iloc"):
        return np.ascontiguousarray(values.to_numpy(np.float64, na_value=np.nan))
    return np.ascontiguousarray(values, np.float64)


def number_columns(recipe: Recipe | None, sources: Sequence[str], width: int) -> NDArray[np.bool_]:
    """Which columns are numbers, not parts of categories."""
    if recipe is None or not sources:
        return np.ones(width, bool)
    known = recipe.by_name()
    return np.array([not (name in known and known[name].categories) for name in sources], bool)
