"""Generated tables by family and number, and the list of those that count.

The list, ``quality_split.json``, is written part by part by ``quality.py sets --write`` and says
of every table what it is: objects, columns, groups, and how well its groups can be told apart by
who is told the truth. Tables on which that is hopeless are not in it.
"""

import json
import warnings
import zlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from quality_sets import confirming, developing, groupless, second, third, third_groupless

LIST = Path(__file__).parents[1] / "quality_split.json"
FAMILIES = {
    "developing": developing.FAMILIES | groupless.DEVELOPING,
    "confirming": confirming.FAMILIES | groupless.CONFIRMING,
    "second": second.FAMILIES | groupless.SECOND,
    "third": third.FAMILIES | third_groupless.FAMILIES,
}
GROUPLESS = (
    groupless.DEVELOPING | groupless.CONFIRMING | groupless.SECOND | third_groupless.FAMILIES
)
# Tables of each family that are drawn; of 5,000 objects a few must do.
EACH = {"developing": 8, "confirming": 10, "second": 5, "third": 3}
EACH_GROUPLESS = {"developing": 5, "confirming": 6, "second": 4, "third": 2}
EACH_LARGE = 3
LARGE = ("many_objects", "many_of_all_shapes")
# An ARI that some classifier must reach with the truth at hand.
LEAST = 0.3


@dataclass(frozen=True)
class Set:
    """One table: where it comes from, and what is known of it.

    ``k`` is 1 where there are no groups. ``oracle`` is the best ARI of three classifiers that
    learn the truth on nine tenths, over ten folds; None without groups. ``mean`` is the mean
    absolute value of all cells, by which a table that came out differently is noticed.
    """

    part: str
    family: str
    number: int
    n: int
    d: int
    k: int
    oracle: float | None
    mean: float

    @property
    def name(self):
        """Family and number: the table is a function of these alone."""
        return f"{self.family}/{self.number}"

    @property
    def has_groups(self):
        """Whether there is anything to be found."""
        return self.k > 1

    @property
    def n_objects(self):
        """Rows."""
        return self.n


def make(name):
    """Numbers and groups of a table by its name; the rows are in random order."""
    family, _, number = name.partition("/")
    for families in FAMILIES.values():
        if family in families:
            rng = np.random.default_rng([zlib.crc32(family.encode()), int(number)])
            X, y = families[family](rng, int(number))
            order = rng.permutation(len(y))
            return np.ascontiguousarray(X[order]), y[order]
    raise KeyError(f"There is no family {family!r}.")


def oracle(X, y):
    """Best ARI of three classifiers over ten folds; objects of no group are left out."""
    X, y = X[y >= 0], y[y >= 0]
    folds = KFold(10, shuffle=True, random_state=0)
    models = (
        KNeighborsClassifier(min(5, len(y) // 10)),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        GaussianNB(),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return max(
            adjusted_rand_score(
                y, cross_val_predict(make_pipeline(StandardScaler(), model), X, y, cv=folds)
            )
            for model in models
        )


def planned(part):
    """Every table of a part as it is drawn, hopeless ones too; takes about a minute."""
    found = []
    for family in FAMILIES[part]:
        for number in range(_count(part, family)):
            X, y = make(f"{family}/{number}")
            k = len(np.unique(y[y >= 0]))
            best = None if k == 1 else round(float(oracle(X, y)), 3)
            mean = float(f"{np.abs(X).mean():.8g}")
            found.append(Set(part, family, number, *X.shape, k, best, mean))
    return found


def _count(part, family):
    if family in LARGE:
        return EACH_LARGE
    return (EACH_GROUPLESS if family in GROUPLESS else EACH)[part]


def write(part, path=LIST):
    """Write the tables of a part that count, all others as they were; returns the hopeless ones."""
    drawn = planned(part)
    kept = [one for one in drawn if one.oracle is None or one.oracle >= LEAST]
    listed = {other: kept if other == part else split(other, path) for other in FAMILIES}
    lines = ",\n".join(json.dumps(vars(one)) for tables in listed.values() for one in tables)
    Path(path).write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    _listed.cache_clear()
    return [one for one in drawn if one not in kept]


@lru_cache(maxsize=1)
def _listed(path):
    return tuple(Set(**entry) for entry in json.loads(Path(path).read_text(encoding="utf-8")))


def split(part, path=LIST):
    """The tables of a generated part, "developing" for example, in the order of the list."""
    return [one for one in _listed(path) if one.part == part]
