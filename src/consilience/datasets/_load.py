"""Data sets by name from a folder of the user's."""

import os
from os import PathLike
from pathlib import Path

from consilience._words import listed
from consilience.datasets._tables import Table, read_table
from consilience.errors import InvalidInputError, InvalidParameterError

_VARIABLE = "CONSILIENCE_DATA"
_ENDING = ".csv.gz"


def load(name: str, data_home: str | PathLike[str] | None = None) -> Table:
    """The data set ``NAME.csv.gz`` of a folder, its last column ``label`` as known groups.

    Parameters
    ----------
    name : str
        Name of the set, for instance ``"iris"``.
    data_home : str or path-like, optional
        The folder. Without it, the environment variable ``CONSILIENCE_DATA`` names it.

    Returns
    -------
    Table
        ``X`` as stored, nothing scaled; ``truth`` the labels as text.

    Raises
    ------
    InvalidInputError
        If there is no folder or no such set, or if the set has missing values.
    """
    if not isinstance(name, str) or not name or Path(name).name != name:
        raise InvalidParameterError(
            f"The 'name' parameter of load must be the name of a data set, such as 'iris'. "
            f"Got {name!r} instead. Use read_table for a file at any place."
        )
    home = _home(data_home)
    path = home / f"{name.removesuffix(_ENDING)}{_ENDING}"
    if not path.is_file():
        there = sorted(file.name.removesuffix(_ENDING) for file in home.glob(f"*{_ENDING}"))
        raise InvalidInputError(
            f"There is no data set {name!r} in {str(home)!r}. "
            f"{'It holds ' + listed(there) if there else 'It holds no .csv.gz files'}."
        )
    return read_table(path, truth_column="label")


def _home(data_home: str | PathLike[str] | None) -> Path:
    place = os.environ.get(_VARIABLE) if data_home is None else data_home
    if not place:
        raise InvalidInputError(
            "No data folder is known. Pass data_home, or set the environment variable "
            f"{_VARIABLE} to the folder that holds the NAME{_ENDING} files: a header line, "
            "columns of numbers, and a last column 'label'."
        )
    home = Path(place).expanduser()
    if not home.is_dir():
        source = "data_home" if data_home is not None else f"the environment variable {_VARIABLE}"
        raise InvalidInputError(f"There is no folder {str(home)!r}, named by {source}.")
    return home
