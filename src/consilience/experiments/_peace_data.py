"""The data sets of the PEACE paper, and the numbers of clusters of its second ensemble."""

from os import PathLike
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.datasets import Documents, load, load_mini_newsgroups, load_webkb4, make_gaussians

__all__ = ["BENCHMARKS", "TEXTS", "Benchmark", "benchmark", "text"]

Place = str | PathLike[str] | None


class Benchmark(NamedTuple):
    """A row of Table 1: the file, clusters wanted, and clusters of the members of ensemble (2)."""

    file: str
    n_clusters: int
    members: tuple[int, ...]
    note: str = ""


_TENS = (15, 20)
BENCHMARKS = {
    "spiral": Benchmark("spiral_candidate", 2, tuple(range(2, 9)), "another file of two spirals"),
    "image-c": Benchmark("", 7, (*range(8, 16), 20, 30), "stand-in: seven Gaussians"),
    "iris": Benchmark("iris", 3, (*range(3, 11), *_TENS)),
    "wine": Benchmark("wine", 3, (*range(4, 11), *_TENS)),
    "house-votes": Benchmark("house_votes", 2, (*range(4, 11), *_TENS)),
    "ionosphere": Benchmark("ionosphere", 2, (*range(4, 11), *_TENS)),
    "std-yeast-cell": Benchmark("std_yeast_cell", 5, (*range(5, 11), *_TENS)),
    "breast-cancer": Benchmark("breast_cancer_wisconsin", 2, (*range(3, 11), *_TENS)),
    "optdigits": Benchmark(
        "optdigits_train", 10, (10, 12, 15, 20, 35, 50), "the first 100 of each digit"
    ),
}
TEXTS = ("miniN", "webkd")


def benchmark(name: str, data_home: Place) -> tuple[NDArray[np.float64], NDArray[Any]]:
    """Objects as they are (the paper states no scaling) and their known groups."""
    about = BENCHMARKS[name]
    if not about.file:
        # Only the size and the number of clusters of the picture are known.
        return make_gaussians(739, 7, 2, separation=6.0, random_state=0)
    table = load(about.file, data_home)
    X, truth = np.asarray(table.X, np.float64), np.asarray(table.truth)
    if name == "optdigits":
        kept = np.sort(np.concatenate([np.flatnonzero(truth == d)[:100] for d in np.unique(truth)]))
        return X[kept], truth[kept]
    return X, truth


def text(name: str, data_home: Place) -> Documents:
    """A text collection, prepared as in the paper's section 5.2."""
    return load_mini_newsgroups(data_home) if name == "miniN" else load_webkb4(data_home)
