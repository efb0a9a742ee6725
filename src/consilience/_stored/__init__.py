"""Tables that are not in memory: files and Dask arrays, read block by block and never whole.

A `Stored` table knows its shape and hands out the rows from one number to another. Which file it
is, and how such files are read, is known here and nowhere else.
"""

from consilience._stored._dask import here, is_dask, lost_cluster, read_by_workers
from consilience._stored._open import is_table_path, open_stored
from consilience._stored._sliced import mapped_file
from consilience._stored._table import Stored, piece_rows

__all__ = [
    "Stored",
    "here",
    "is_dask",
    "is_table_path",
    "lost_cluster",
    "mapped_file",
    "open_stored",
    "piece_rows",
    "read_by_workers",
]
