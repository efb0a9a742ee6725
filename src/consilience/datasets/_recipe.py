"""How the columns of a file became numbers, so that another file is read the same way."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from consilience._words import listed
from consilience.errors import InvalidInputError

__all__ = ["Column", "Recipe"]


@dataclass(frozen=True)
class Column:
    """A column of a file that was used.

    Attributes
    ----------
    name : str
    categories : tuple of str
        Its categories in the order of their columns; empty for numbers.
    first : float
        Of dates, the day that is 0; else 0.
    fill : float or None
        What stands for a missing value, of categories the place of one; None refuses it.
    ordered : bool
        Whether the categories have an order: then their places are the numbers of one column.
    dates : bool
        Whether the numbers are days.
    """

    name: str
    categories: tuple[str, ...] = ()
    first: float = 0.0
    fill: float | None = None
    ordered: bool = False
    dates: bool = False

    @property
    def counts_days(self) -> bool:
        """Whether the numbers are days; recipes of before 0.1 know it by a first that is not 0."""
        return self.dates or self.first != 0


@dataclass(frozen=True)
class Recipe:
    """The columns of a file that were used, and how it was read.

    Attributes
    ----------
    columns : tuple of Column
    id_column, truth_column : str or None
    drop_rows : bool
        Whether rows with missing values were left out.
    encode, decimal, encoding : str or None
        As in `read_table`, as far as they were named: what was told from the file is told from
        each file anew.
    keep_gaps : bool
        Whether missing values stayed missing.
    sheet, layer : str or None
        Of a workbook, and of annotated data: what was read of it.
    transposed : bool
        Whether the objects are the columns of the file.
    """

    columns: tuple[Column, ...]
    id_column: str | None = None
    truth_column: str | None = None
    drop_rows: bool = False
    encode: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    keep_gaps: bool = False
    sheet: str | None = None
    layer: str | None = None
    transposed: bool = False

    def by_name(self) -> Mapping[str, Column]:
        """The columns."""
        return {column.name: column for column in self.columns}

    def others(
        self, source: Path, names: Sequence[str], notes: list[str], may_lack: Sequence[str] = ()
    ) -> list[str]:
        """Columns of another file that are not to be read; what differs is noted.

        Parameters
        ----------
        source : Path
        names : sequence of str
            Its columns.
        notes : list of str
            Gets what differs.
        may_lack : sequence of str
            Columns that nobody needs.

        Raises
        ------
        InvalidInputError
            If a column that was used is missing.
        """
        wanted = [column.name for column in self.columns]
        missing = [name for name in wanted if name not in {*names, *may_lack}]
        if missing:
            raise InvalidInputError(
                f"{source.name!r} has no column {listed(map(repr, missing), most=10)}, which "
                f"{'was' if len(missing) == 1 else 'were'} clustered. It has "
                f"{listed(map(repr, names), most=10)}. Add what is missing, or rename it."
            )
        roles = (self.id_column, self.truth_column)
        extra = [name for name in names if name not in wanted and name not in roles]
        if extra:
            one = len(extra) == 1
            notes.append(
                f"{'Column' if one else 'Columns'} {listed(map(repr, extra), most=10)} of "
                f"{source.name!r} {'was' if one else 'were'} not clustered and "
                f"{'is' if one else 'are'} left out."
            )
        if [name for name in names if name in wanted] != [n for n in wanted if n in names]:
            notes.append(
                f"The columns of {source.name!r} are in another order: they are matched by name."
            )
        return [name for name in names if name not in wanted and name != self.id_column]
