"""The demonstration: two spirals that k-means cannot tell apart and its ensemble can."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import metrics
from consilience._cli.outputs import outcome_writers, write_files, write_table
from consilience._cli.run import Options, Outcome, run
from consilience.datasets import make_spirals

__all__ = ["Demo", "run_demo"]

DATA = "spirals.csv"
FOLDER = Path("consilience-demo")


@dataclass(frozen=True)
class Demo:
    """What the demonstration found, and the files it wrote."""

    X: NDArray[np.float64]
    kmeans: NDArray[np.int32]
    kmeans_agreement: float
    outcome: Outcome
    written: list[Path]


def run_demo(folder: Path = FOLDER, *, callbacks: Sequence[Any] = ()) -> Demo:
    """Cluster two spirals by k-means alone and by evidence accumulation.

    The data go through a file, so that ``consilience cluster`` on the file written here
    gives the same clusters.
    """
    from sklearn.cluster import KMeans

    X, arms = make_spirals(random_state=0)
    names = np.array(["first", "second"])[arms]
    save = partial(write_table, header=["x", "y", "arm"], columns=[*X.round(6).T, names])
    with TemporaryDirectory() as place:
        save(Path(place, DATA))
        asked = Options(data=Path(place, DATA), truth_column="arm", linkage="single")
        outcome = run(asked, callbacks=callbacks)
    outcome = replace(outcome, options=replace(asked, data=folder / DATA, out=folder))
    kmeans = KMeans(2, n_init=10, random_state=0).fit_predict(outcome.input.X)
    agreement = float(metrics.consistency_index(arms, kmeans))
    written = write_files(folder, {DATA: save, **outcome_writers(outcome)})
    return Demo(X, kmeans, agreement, outcome, written)
