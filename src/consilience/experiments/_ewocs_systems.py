"""The systems of the minority-clustering paper: their settings, their runs, their measures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience.compare import auc, hard_auc, precision_recall_f1
from consilience.datasets import make_minority
from consilience.minority import BBOCC, DGRADE, EWOCS, KMD, AutoHDS, BBCPress, references
from consilience.minority.thresholds import best, every, size

__all__ = [
    "DIMENSIONS",
    "ENSEMBLES",
    "OURS",
    "PAPERS",
    "SCALES",
    "Scores",
    "System",
    "best_measures",
    "best_of_labels",
    "by_threshold",
    "chance_of",
    "hard_measures",
    "measures",
    "references_of",
    "synthetic",
]

# What was measured, by its row of the table.
Scores = dict[str, float]
Floats = NDArray[np.float64]

DIMENSIONS = {"2-D": 2, "3-D": 3, "5-D": 5, "8-D": 8}
# Scales of background, foreground and spread: all eight combinations, in turn.
SCALES = tuple((a, b, c) for a in (1.0, 2.0) for b in (1.0, 2.0) for c in (1.0, 2.0))
# Methods that start from objects drawn at random are run as often as in the paper; a score of
# EWOCS is a mean over many draws already.
_STARTS = 5


@dataclass(frozen=True, slots=True)
class System:
    """One column of a table: an estimator with the settings of the paper.

    Attributes
    ----------
    kind : type
        Class of the estimator.
    params : mapping
        Its settings.
    told : bool
        Whether it is told the number of foreground objects.
    starts : int
        Runs on each data set, averaged.
    """

    kind: type
    params: Mapping[str, Any] = field(default_factory=dict)
    told: bool = False
    starts: int = 1

    def run(self, X: Any, y: Any, seed: int, n_repetitions: int | None = None) -> list[Any]:
        """Fitted estimators, one for each start; ``n_repetitions`` is for EWOCS only."""
        params = dict(self.params)
        if self.told:
            params["n_foreground"] = int((y > 0).sum())
        if n_repetitions is not None and self.kind is EWOCS:
            params["n_repetitions"] = n_repetitions
        fitted = []
        for start in range(self.starts):
            model = self.kind(**params)
            if "random_state" in model.get_params(deep=False):
                model.set_params(random_state=1000 * seed + start)
            fitted.append(model.fit(X))
        return fitted


def _ew(**changes: Any) -> System:
    """EWOCS as published; thresholds are found afterwards, and groups are not asked for."""
    # Stated, so that another default of the library leaves the published settings alone.
    params = {"clusterer": None, "threshold": "dist", "alpha": 10.0, "gamma": 10.0} | changes
    return System(EWOCS, EWOCS.preset("paper", **params).get_params(deep=False))


ENSEMBLES: dict[str, System] = {
    "EW-RSPLIT 500x2": _ew(weak="split", k_max=2),
    "EW-RSPLIT 500x50": _ew(weak="split"),
    "EW-HRBC 100x100 MAH": _ew(weak="hard"),
    "EW-SRBC 100x100 MAH": _ew(divergence="mahalanobis"),
    "EW-SRBC 100x100 G(10,10)": _ew(),
    "EW-SRBC 100x100 G(AUTO)": _ew(gamma="auto"),
}
# What the library does by default: logarithms of the sizes, and another choice of the kernel.
OURS: dict[str, System] = {
    "EW-SRBC 100x100 G(10,10) log": _ew(aggregate="log"),
    "EW-SRBC 100x100 G(CONTRAST) log": _ew(gamma="contrast", aggregate="log"),
}
PAPERS: dict[str, System] = {
    "BBOCC MAH": System(BBOCC, told=True, starts=_STARTS),
    "BBCPRESS/7 MAH": System(BBCPress, {"n_clusters": 7}, told=True, starts=_STARTS),
    "DGRADE MAH": System(DGRADE, told=True),
    "AUTOHDS 200-30 MAH": System(AutoHDS, {"n_eps": 200, "n_part": 30}),
    "kMD 100x800-50": System(KMD, starts=_STARTS),
} | ENSEMBLES


def synthetic(name: str, run: int) -> tuple[Floats, NDArray[np.int64]]:
    """Data set number ``run`` of a dimension, with the scales whose turn it is."""
    d = DIMENSIONS[name]
    background, foreground, spread = SCALES[run % len(SCALES)]
    # Another stream for each dimension: the ranks take all sets for independent ones.
    return make_minority(
        d,
        background=background,
        foreground=foreground,
        spread=spread,
        random_state=100_000 * d + run,
    )


def best_measures(model: Any, y: Any) -> Scores:
    """AUC, and precision, recall and F1 at the best threshold, or of the labels without scores."""
    return (
        measures(model.scores_, y) if hasattr(model, "scores_") else hard_measures(model.labels_, y)
    )


def measures(scores: Any, y: Any) -> Scores:
    """AUC, and precision, recall and F1 at the best threshold, of scores."""
    rates = precision_recall_f1(scores >= best(scores, y).value, y)
    return {"AUC": auc(scores, y)} | _percent(rates)


def by_threshold(model: Any, y: Any, *, told: bool) -> Scores:
    """F1, precision and recall by rule: every rule, or BEST and SIZE of those told the size."""
    if not hasattr(model, "scores_"):
        return best_of_labels(model.labels_, y)
    scores, m = model.scores_, int((y > 0).sum())
    cuts = (best(scores, y), size(scores, m)) if told else every(scores, y=y, m=m)
    by_rule = {cut.method.upper(): precision_recall_f1(scores >= cut.value, y) for cut in cuts}
    return {
        f"{measure} {rule}": 100 * getattr(one, measure.lower())
        for measure in ("F1", "Precision", "Recall")
        for rule, one in by_rule.items()
    }


def best_of_labels(labels: Any, y: Any) -> Scores:
    """F1, precision and recall of labels, which stand for their BEST threshold."""
    rates = _percent(precision_recall_f1(labels, y))
    return {f"{measure} BEST": rates[measure] for measure in ("F1", "Precision", "Recall")}


def chance_of(y: Any, seed: int) -> dict[str, NDArray[np.int32]]:
    """Labels of the pseudo-systems that look at no data: chance, and everything."""
    return {
        "RANDOM": references.random_foreground(y, random_state=seed),
        "ALLFG": references.all_foreground(y),
    }


def references_of(X: Any, y: Any, seed: int) -> dict[str, Scores]:
    """The pseudo-systems: chance, everything, and the hulls of the true sources."""
    labels = chance_of(y, seed) | {"CONVEX": references.convex_hulls(X, y)}
    return {name: hard_measures(one, y) for name, one in labels.items()}


def hard_measures(labels: Any, y: Any) -> Scores:
    """AUC of the two segments, precision, recall and F1 of labels."""
    return {"AUC": hard_auc(labels, y)} | _percent(precision_recall_f1(labels, y))


def _percent(rates: Any) -> Scores:
    return {
        "Precision": 100 * rates.precision,
        "Recall": 100 * rates.recall,
        "F1": 100 * rates.f1,
    }
