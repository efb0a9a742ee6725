"""Tables 1 to 5 of the ambiguity paper, and its claims about mixtures of Gaussians.

Four algorithms make the members, the same four find the consensus again from the
co-association: complete, average and centroid link (on unsquared distances) and PAM. Nothing of
that is random, so the real data sets have one run; of the mixtures, whose parameters are not
printed, every run draws a new one.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.consensus import AmbiguityAware
from consilience.datasets import load, make_gaussians
from consilience.ensemble import Ensemble
from consilience.experiments._cells import Cell, Claim, Plan, of, paired_claim, published
from consilience.experiments._reclustering import Reclustered
from consilience.experiments._registry import experiment, wanted
from consilience.experiments._runs import Group, Parts, Scores, Work, groups_of_runs, seeds
from consilience.experiments._standard import standardised
from consilience.generate import rcc
from consilience.metrics import nmi

__all__ = ["ambiguity_tables"]

PAPER = "Ambiguity detection in cluster ensembles (NCO, ANCO)"
RUNS = 24

# Columns of the tables, and the members of the paper's ensemble in the order they are made.
METHODS = {"com.": "complete", "avg.": "average", "cen.": "centroid", "Pam": "pam"}
MADE = ("Pam", "com.", "avg.", "cen.")
ACTIONS: dict[str, dict[str, Any]] = {
    "Ignore": {"action": "ignore"},
    "SVM linear": {"action": "svm", "kernel": "linear"},
    "SVM RBF": {"action": "svm", "kernel": "rbf"},
}
ROWS = ("Base", "Ensemble", *ACTIONS)


class _Set(NamedTuple):
    """A data set of the paper: which table, and what is known of how it was prepared."""

    table: str
    n_clusters: int
    name: str = ""
    n_features: int | None = None
    standardised: bool = False
    n_objects: int = 0
    separation: float = 0.0
    by_eye: bool = False
    note: str = ""


_DRAWN = "mixture not published: another one every run"
# Separations: chosen so that the row Base comes near the published one; a remark says so.
SETS = {
    "Seven Gaussians": _Set("1", 7, n_objects=1750, separation=3.8, note=_DRAWN),
    "Five Gaussians": _Set("2", 5, n_objects=1250, separation=4.3, note=_DRAWN),
    "PENDIG": _Set("3", 10, "pendigits_test", note="preparation of the data not identified"),
    "BREAST": _Set("4", 2, "breast_cancer_wisconsin", by_eye=True),
    "WINE": _Set("5", 3, "wine", n_features=12, standardised=True, by_eye=True),
}
# The paper chose thresholds by eye. This one gives its tables; so does any in (0.512, 2.351) for
# BREAST and in (0.922, 1.083) for WINE.
BY_EYE: dict[str, Any] = {"scoring": "anco", "threshold": 1.0}
AUTOMATIC: dict[str, Any] = {"scoring": "relative", "threshold": "otsu"}


def _claims(cells: Sequence[Cell]) -> list[Claim]:
    """What the paper says of its mixtures, by paired tests over drawn ones."""
    told = [
        ("Ensemble", "Base", "the ensemble is better than its members"),
        ("Ignore", "Ensemble", "ignoring ambiguous objects is better than the plain ensemble"),
        ("SVM linear", "Ensemble", "allocation by a linear SVM is better than the plain ensemble"),
        ("SVM RBF", "Ensemble", "allocation by an RBF SVM is better than the plain ensemble"),
    ]
    claims = []
    for data in ("Seven Gaussians", "Five Gaussians"):
        for better, worse, words in told:
            upper, lower = (of(cells, data=data, row=row, column="Avg.") for row in (better, worse))
            if upper is not None and lower is not None and len(upper.values) > 1:
                claims.append(paired_claim(f"{data}: {words}", upper, lower))
    return claims


@experiment(
    "ambiguity-tables",
    keeps_runs=True,
    title="Tables 1 to 5: consensus with and without ambiguous objects, NMI",
    paper=PAPER,
    judge=_claims,
    remarks=(
        "BREAST is the original Wisconsin set (683 objects, 9 features, not scaled), not the one "
        "the paper describes; WINE is standardised and has its first 12 features. With these, 48 "
        "of the 50 cells equal the printed three decimals. Two of WINE miss by a unit of the last "
        "one: complete link of the base row is 0.5505 where 0.550 is printed, and the mean of the "
        "row Ignore 0.2156 where 0.215 is (the mean of the four printed figures is 0.2155).",
        "Rows Ignore count the objects that are not ambiguous only, as in the paper.",
        "BREAST and WINE: ANCO below 1, as good as chosen by eye. The others: relative overlap, "
        "Otsu's threshold, which on BREAST and WINE flags the same objects.",
        "Seven and Five Gaussians: the paper prints neither centres nor covariances. The distance "
        "of the two nearest centres, 3.8 and 4.3 standard deviations, was chosen by us so that "
        "the row Base comes near its published figures. That row, and the level of the others, "
        "is therefore no check of the paper; the differences between rows are.",
        "PENDIG: no preparation tried gives the published figures; here the data as they are. "
        "Its ensemble rows are illegible but for their means, which are readings.",
    ),
)
def ambiguity_tables(plan: Plan) -> Iterator[list[Cell]]:
    """NMI of the members, of the ensemble, and with ambiguous objects ignored or re-allocated.

    Parameters
    ----------
    plan : Plan
        ``sets`` (all five); ``runs`` (default 24) drawn mixtures of Gaussians.

    Yields
    ------
    list of Cell
        The cells of one data set, one a row and column.
    """
    works = []
    for name in wanted("ambiguity-tables", "sets", plan.sets, tuple(SETS)):
        # Nothing of a real set is random.
        runs = seeds(plan, RUNS) if SETS[name].n_objects else [0]
        works += [Work(name, "", seed, _one_run, (name, plan.data_home)) for seed in runs]
    for group in groups_of_runs(plan, "ambiguity-tables", works):
        yield _cells(group)


def _drawn(about: _Set, seed: int) -> tuple[NDArray[np.float64], NDArray[Any]]:
    return make_gaussians(
        about.n_objects, about.n_clusters, 2, separation=about.separation, random_state=seed
    )


def _read(about: _Set, data_home: Any) -> tuple[NDArray[np.float64], NDArray[Any]]:
    data = load(about.name, data_home)
    X = np.asarray(data.X, np.float64)[:, : about.n_features]
    if about.standardised:
        X = standardised(X)
    return X, np.asarray(data.truth)


def _one_run(name: str, data_home: Any, *, seed: int, parts: Sequence[str]) -> Parts:
    """Every figure of a table for one sample."""
    about = SETS[name]
    X, y = _drawn(about, seed) if about.n_objects else _read(about, data_home)
    ensemble = rcc(about.n_clusters).generate(X)
    scores: Scores = {
        ("Base", made): nmi(y, labels) for made, labels in zip(MADE, ensemble, strict=True)
    }
    for column in METHODS:
        scores |= _one_column(X, y, ensemble, about, column)
    for row in ROWS:
        scores[row, "Avg."] = float(np.mean([scores[row, column] for column in METHODS]))
    return dict.fromkeys(parts, scores)


def _one_column(
    X: NDArray[np.float64], y: NDArray[Any], ensemble: Ensemble, about: _Set, column: str
) -> Scores:
    scores: Scores = {}
    for row, action in ACTIONS.items():
        model = AmbiguityAware(
            Reclustered(about.n_clusters, method=METHODS[column]),
            **action,
            **(BY_EYE if about.by_eye else AUTOMATIC),
        ).fit(X, ensemble=ensemble)
        # Ambiguous objects that are ignored are labelled noise.
        scores[row, column] = nmi(y, model.labels_, noise="drop")
        scores["Ensemble", column] = nmi(y, model.plain_labels_)
    return scores


def _cells(group: Group) -> list[Cell]:
    about, figures = SETS[group.data], published("ambiguity")
    cells = []
    for row in ROWS:
        for column in (*METHODS, "Avg."):
            values = tuple(float(scores[row, column]) for scores in group.runs)
            key = (about.table, group.data, row, column)
            value, spread = figures.get(key, (np.nan, np.nan))
            cells.append(Cell(*key, values, value, spread, about.note))
    return cells
