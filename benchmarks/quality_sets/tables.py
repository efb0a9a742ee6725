"""Real tables: a folder that the user names, scikit-learn's own, and any folder of the user's."""

import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from consilience.datasets import read_table
from consilience.errors import ConsilienceWarning

# Tables in the order of the alphabet, relatives (other rows or another copy of the same data)
# with the first of them; they go to developing and confirming by turns. Of relatives the first
# that is at hand is taken. A name with a colon is scikit-learn's.
RELATIVES = (
    ("australian_credit",),
    ("balance_scale",),
    ("breast_cancer_wisconsin", "breast_cancer_wisconsin_full699"),
    ("breast_tissue",),
    ("bupa_liver",),
    ("glass",),
    ("hayes_roth",),
    ("house_votes", "house_votes_full435"),
    ("ionosphere",),
    ("iris", "sklearn:iris"),
    ("leukemia",),
    ("optdigits_test", "sklearn:digits", "optdigits_train"),
    ("pendigits_test",),
    ("satimage",),
    ("semeion",),
    ("spambase",),
    ("spiral_candidate",),
    ("std_yeast_cell",),
    ("ucr_beef",),
    ("ucr_sony_aibo_2",),
    ("vowel",),
    ("wall_following_2",),
    ("wdbc", "sklearn:breast_cancer"),
    ("wine", "sklearn:wine"),
    ("yeast",),
)
PARTS = ("developing", "confirming")
# Of longer tables this many rows are taken, by a draw that is the same every time.
MOST_ROWS = 2000
ENDINGS = (".csv.gz", ".csv", ".tsv", ".parquet")
TRUTH = ("label", "class", "Class", "target")
_OWN = {
    "sklearn:iris": load_iris,
    "sklearn:digits": load_digits,
    "sklearn:breast_cancer": load_breast_cancer,
    "sklearn:wine": load_wine,
}


@dataclass(frozen=True)
class RealTable:
    """A real table by name and file; None for scikit-learn's."""

    part: str
    name: str
    path: str | None

    family = "real"
    has_groups = True

    @property
    def n_objects(self):
        """Rows that are taken; read for it."""
        return len(self.make()[1])

    def make(self):
        """Numbers and groups; missing values become the column's median."""
        if self.path is None:
            X, y = _OWN[self.name](return_X_y=True)
        else:
            X, y = _read(self.path)
        y = np.unique(y, return_inverse=True)[1]
        if len(y) > MOST_ROWS:
            rows = np.sort(np.random.default_rng(0).permutation(len(y))[:MOST_ROWS])
            X, y = X[rows], y[rows]
        return np.asarray(X, float), y


def real_tables(part, folder=None):
    """The real tables of a part that are at hand: of the folder, else scikit-learn's."""
    folder = folder or os.environ.get("CONSILIENCE_DATA")
    files = {} if not folder else _files(folder)
    found = []
    for relatives in RELATIVES[PARTS.index(part) :: 2]:
        for name in relatives:
            if name in files or name in _OWN:
                path = str(files[name]) if name in files else None
                found.append(RealTable(f"real-{part}", name, path))
                break
    return found


def own_tables(folder):
    """Every table of any folder; its groups are the column label, class or target, or the last."""
    return [RealTable("yours", name, str(path)) for name, path in sorted(_files(folder).items())]


def _files(folder):
    folder = Path(folder).expanduser()
    if not folder.is_dir():
        raise SystemExit(f"There is no folder {str(folder)!r}.")
    return {
        path.name[: -len(ending)]: path
        for ending in reversed(ENDINGS)
        for path in folder.glob(f"*{ending}")
    }


def _read(path):
    """Numbers and the words of the truth column."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        names = _header(path)
        truth = next((name for name in TRUTH if name in names), names[-1])
        table = read_table(
            path, truth_column=truth, id_column="none", impute="median", encode="onehot"
        )
    return table.X, table.truth


def _header(path):
    """Names of a table's columns."""
    if str(path).endswith(".parquet"):
        from pyarrow.parquet import read_schema

        return read_schema(path).names
    import gzip

    opened = gzip.open if str(path).endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8-sig") as file:
        line = next(text for text in file if not text.startswith("#")).strip()
    delimiter = max(",;\t|", key=line.count)
    return [cell.strip().strip('"') for cell in line.split(delimiter)]
