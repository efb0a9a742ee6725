"""Table 1 and figure 3 of the cluster-selection paper: accuracy of stable clusters' consensus.

Features are standardised, accuracy is that of a one-to-one relabelling, figures are means over
runs (the paper has 10). What the text has lost is set as follows: k-means in two phases, batch
and then online (which gives the published k-means figure of Wine in every run), with as many
clusters as there are classes; 30 linkage members on 80 to 90 % of the objects; 40 reference
partitions of 90 %.
"""

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.consensus import eac, eeac
from consilience.datasets import load
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning
from consilience.experiments._cells import Cell, Claim, Plan, of, paired_claim, published
from consilience.experiments._registry import experiment, wanted
from consilience.experiments._runs import Group, Parts, Scores, Work, groups_of_runs, seeds
from consilience.experiments._standard import standardised
from consilience.generate import KMeansEnsemble, Linkage, full_ensemble, kmeans_ensemble
from consilience.metrics import relabelled_accuracy

__all__ = ["eeac_shares", "eeac_table"]

PAPER = "A criterion for cluster validation and a selective ensemble (EEAC)"
RUNS = 20
N_REFERENCES = 40

SETS = {
    "Breast": "breast_cancer_wisconsin",
    "Wine": "wine",
    "Yeast": "yeast",
    "Glass": "glass",
    "Bupa": "bupa_liver",
}
NOTES = {
    "Breast": "complete link and, by one object, average link are not reproduced",
    "Yeast": "no count out of 1484 objects gives the published base figures",
}
LINKS = ("single", "average", "complete")
CRITERIA = {"selection by NMI": "nmi", "selection by max": "max"}
SHARES = (0.05, 0.1, 0.2, 0.3, 0.33, 0.5, 0.75, 1.0)

Sample = tuple[NDArray[np.float64], NDArray[Any], int]
_ROW = "accuracy"


def _claims_of_table(cells: Sequence[Cell]) -> list[Claim]:
    """What the paper says of selection, on every data set that was run."""
    claims = []
    for data in SETS:
        full = of(cells, data=data, column="full ensemble")
        nmi, best = (of(cells, data=data, column=column) for column in CRITERIA)
        if full is None or nmi is None or best is None or len(full.values) < 2:
            continue
        words = f"{data}: selection by max is better than"
        claims.append(paired_claim(f"{words} the full ensemble", best, full))
        claims.append(paired_claim(f"{words} selection by NMI", best, nmi))
    return claims


def _claims_of_shares(cells: Sequence[Cell]) -> list[Claim]:
    claims = []
    for data in SETS:
        few, everything = (
            of(cells, data=data, column=_percent(share), row="max") for share in (0.3, 1.0)
        )
        if few is not None and everything is not None and len(few.values) > 1:
            words = f"{data}: 30 % of the clusters are better than all"
            claims.append(paired_claim(words, few, everything))
    return claims


@experiment(
    "eeac-table",
    keeps_runs=True,
    title="Table 1: accuracy (%) of base methods, ensembles, and selected clusters",
    paper=PAPER,
    judge=_claims_of_table,
    remarks=(
        "Single, average and complete link are exact on Wine, Glass and Bupa. k-means is a mean "
        "of random runs.",
        "The settings of the ensembles are lost in the text; ours stand at the top of "
        "consilience.experiments.selection.",
        "Columns 'plain cut' keep the best 33 % and nothing more. On Wine that leaves most "
        "objects in no kept cluster; the columns of the paper also keep enough clusters to "
        "cover every object three times, the library's default.",
        "The paper's gains on Bupa and Yeast do not appear in our runs.",
    ),
)
def eeac_table(plan: Plan) -> Iterator[list[Cell]]:
    """Accuracy in per cent of every method of the table.

    Parameters
    ----------
    plan : Plan
        ``sets`` (all five); ``runs`` (default 20; the paper has 10).

    Yields
    ------
    list of Cell
        The cells of one data set, one a method.
    """
    names = wanted("eeac-table", "sets", plan.sets, tuple(SETS))
    for group in groups_of_runs(plan, "eeac-table", _works(plan, names, _one_run)):
        yield [_cell("1", group, key) for key in group.runs[0]]


@experiment(
    "eeac-shares",
    keeps_runs=True,
    title="Figure 3: accuracy (%) against the share of clusters kept",
    paper=PAPER,
    judge=_claims_of_shares,
    remarks=(
        "The figure itself is not in the text: it says that 20 to 30 % are best on Breast and "
        "that all clusters are worse.",
        "Row 'max' also covers every object; row 'max, plain cut' does not.",
    ),
)
def eeac_shares(plan: Plan) -> Iterator[list[Cell]]:
    """Accuracy in per cent of the consensus of the most stable 5 % ... 100 % of the clusters."""
    names = wanted("eeac-shares", "sets", plan.sets or ("Breast",), tuple(SETS))
    for group in groups_of_runs(plan, "eeac-shares", _works(plan, names, _one_run_of_shares)):
        yield [_cell("Figure 3", group, key) for key in group.runs[0]]


def _works(plan: Plan, names: Sequence[str], make: Any) -> list[Work]:
    return [
        Work(name, "", seed, make, (name, plan.data_home))
        for name in names
        for seed in seeds(plan, RUNS)
    ]


def _read(name: str, data_home: Any) -> Sample:
    data = load(SETS[name], data_home)
    X = np.asarray(data.X, np.float64)
    y = np.asarray(data.truth)
    return standardised(X), y, len(np.unique(y))


def _by_linkage(sample: Sample) -> Scores:
    X, y, k = sample
    return {(_ROW, link): _accuracy(y, Linkage(k, method=link).fit_predict(X)) for link in LINKS}


def _one_run(name: str, data_home: Any, *, seed: int, parts: Sequence[str]) -> Parts:
    """Every column of the table."""
    sample = X, y, k = _read(name, data_home)
    full, reference = _ensembles(sample, seed)
    # Another stream than the members': the k-means of the table is not one of them.
    alone = KMeansEnsemble(1, k, online=True, random_state=2**20 + seed).generate(X)
    many = kmeans_ensemble(k, random_state=seed).set_params(online=True).generate(X)
    scores = _by_linkage(sample) | {
        (_ROW, "k-means"): _accuracy(y, alone.labels[:, 0]),
        (_ROW, "k-means ensemble"): _accuracy(y, eac(many, k).labels),
        (_ROW, "full ensemble"): _accuracy(y, eac(full, k).labels),
    }
    for column, criterion in CRITERIA.items():
        scores[_ROW, column] = _selected(sample, full, reference, criterion, 0.33, min_cover=3)
    for column, criterion in CRITERIA.items():
        plain = _selected(sample, full, reference, criterion, 0.33, min_cover=0)
        scores[_ROW, f"{column}, plain cut"] = plain
    return dict.fromkeys(parts, scores)


def _one_run_of_shares(name: str, data_home: Any, *, seed: int, parts: Sequence[str]) -> Parts:
    sample = _read(name, data_home)
    full, reference = _ensembles(sample, seed)
    scores = {
        (row, _percent(share)): _selected(sample, full, reference, "max", share, min_cover)
        for row, min_cover in (("max", 3), ("max, plain cut", 0))
        for share in SHARES
    }
    return dict.fromkeys(parts, scores)


def _ensembles(sample: Sample, seed: int) -> tuple[Ensemble, Ensemble]:
    """The full ensemble of the paper and the reference partitions, of one run."""
    X, _, k = sample
    generator = full_ensemble(k, random_state=seed)
    generator.generators[0].set_params(online=True)
    again = KMeansEnsemble(
        N_REFERENCES, k, max_samples=0.9, assign="unseen", online=True, random_state=2**21 + seed
    )
    return generator.generate(X), again.generate(X)


def _selected(
    sample: Sample,
    full: Ensemble,
    reference: Ensemble,
    criterion: Any,
    share: float,
    min_cover: int,
) -> float:
    _, y, k = sample
    with warnings.catch_warnings():
        # That the plain cut leaves objects uncovered is what its columns show.
        if min_cover == 0:
            warnings.simplefilter("ignore", ConsilienceWarning)
        consensus = eeac(
            full, k, reference=reference, criterion=criterion, top=share, min_cover=min_cover
        )
    return _accuracy(y, consensus.labels)


def _accuracy(y: NDArray[Any], labels: NDArray[Any]) -> float:
    return 100.0 * relabelled_accuracy(y, labels)


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _cell(table: str, group: Group, key: tuple[str, str]) -> Cell:
    values = tuple(float(scores[key]) for scores in group.runs)
    # Linkage is not random: one run says it all.
    if key[1] in LINKS:
        values = values[:1]
    value, spread = published("eeac").get((table, group.data, *key), (np.nan, np.nan))
    return Cell(table, group.data, *key, values, value, spread, NOTES.get(group.data, ""))
