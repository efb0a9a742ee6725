"""How different the members are, and how far the consensus speaks for them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience import metrics
from consilience._labels import UNSEEN
from consilience.ensemble import Ensemble
from consilience.report._case import Case
from consilience.report._figures import Figure, bars, curves, histogram, mark, section, series
from consilience.report._values import counted

__all__ = ["member_agreement", "members_section", "pairwise_agreement"]

Floats = NDArray[np.float64]

# Pairs times objects that are looked at: about a second; never fewer or more pairs than these.
_PAIR_BUDGET, _FEWEST_PAIRS, _MOST_PAIRS = 2 * 10**7, 1000, 5000
MAX_OBJECTS = 20_000
_BINS = 25
_MAX_BARS = 40


def pairwise_agreement(ensemble: Ensemble, seed: int, max_pairs: int | None = None) -> Floats:
    """NMI of all pairs of members, or of some drawn by chance; NaN without a common object.

    >>> pairwise_agreement(Ensemble([[0, 0, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1]]), 0)
    array([1., 0., 0.])
    """
    pairs = np.stack(np.triu_indices(ensemble.n_members, 1), axis=1)
    if max_pairs is None:
        budget = _PAIR_BUDGET // ensemble.n_objects
        max_pairs = min(max(budget, _FEWEST_PAIRS), _MOST_PAIRS)
    if len(pairs) > max_pairs:
        chosen = np.random.default_rng(seed).choice(len(pairs), max_pairs, replace=False)
        pairs = pairs[np.sort(chosen)]
    return np.array([_nmi(ensemble[int(a)], ensemble[int(b)]) for a, b in pairs])


def member_agreement(ensemble: Ensemble, labels: NDArray[Any]) -> Floats:
    """NMI of each member with a labeling; NaN where the member saw no object."""
    return np.array([_nmi(labels, member) for member in ensemble])


def _nmi(a: NDArray[Any], b: NDArray[Any]) -> float:
    if not ((a != UNSEEN) & (b != UNSEEN)).any():
        return float("nan")
    return metrics.nmi(a, b)


def members_section(case: Case, seed: int, notes: list[str]) -> dict[str, Any]:
    """Agreement of the members with each other and with the consensus; their clusters."""
    ensemble, labels = case.ensemble, case.labels
    k = ensemble.n_clusters
    if case.n_objects > MAX_OBJECTS:
        chosen = np.random.default_rng(seed).choice(case.n_objects, MAX_OBJECTS, replace=False)
        chosen.sort()
        ensemble, labels = ensemble.take(chosen), labels[chosen]
        notes.append(
            f"The agreement of the clusterings is measured on {MAX_OBJECTS:,} objects drawn by "
            "chance."
        )
    figures = [*_with_each_other(ensemble, seed, notes), _with_the_result(ensemble, labels, k)]
    figures.append(_numbers(k))
    read = (
        "The first picture shows how much single clusterings agree with each other, the second "
        "how much each agrees with the result, less where it has many more groups than the result, "
        "and the third how many groups they have. Clusterings that all agree add nothing to one "
        "of them, and clusterings that agree with nothing add only noise."
    )
    if len(figures) == 2:
        read = (
            "The first picture shows how much each clustering agrees with the result, against the "
            "number of groups it has. The second counts the clusterings by their number of groups."
        )
    title = f"The {counted(case.ensemble.n_members, 'clustering')} behind the result"
    return section("members", title, read, *figures)


def _with_each_other(ensemble: Ensemble, seed: int, notes: list[str]) -> list[Figure]:
    """A histogram of the agreement of pairs; none where no pair can be compared."""
    among = pairwise_agreement(ensemble, seed)
    n_pairs = ensemble.n_members * (ensemble.n_members - 1) // 2
    if len(among) < n_pairs:
        notes.append(
            f"Of {n_pairs:,} pairs of clusterings {len(among):,}, drawn by chance, are compared."
        )
    among = among[np.isfinite(among)]
    if not len(among):
        return []
    counts, edges = np.histogram(among, _BINS, (0.0, 1.0))
    mean = float(among.mean())
    words = "agreement of two clusterings (0 to 1)"
    marks = [mark(mean, f"mean {mean:.2f}")]
    return [histogram(counts, edges, words, marks=marks, title="With each other")]


def _with_the_result(
    ensemble: Ensemble, labels: NDArray[Any], n_clusters: NDArray[np.int64]
) -> Figure:
    """Agreement of each member with the consensus, against its number of clusters."""
    own = member_agreement(ensemble, labels)
    marks = []
    if np.isfinite(own).any():
        mean = float(np.nanmean(own))
        marks.append(mark(mean, f"mean {mean:.2f}", axis="y"))
    return curves(
        [series("one clustering", n_clusters, own, "dots")],
        "groups in the clustering",
        "agreement with the result (0 to 1)",
        marks=marks,
        title="With the result",
    )


def _numbers(k: NDArray[np.int64]) -> Figure:
    """How many members have how many clusters: bars, or intervals where there are many numbers."""
    numbers, counts = np.unique(k, return_counts=True)
    if len(numbers) <= _MAX_BARS:
        labels = [str(number) for number in numbers.tolist()]
        return bars(labels, counts, "clusterings with so many groups", title="Numbers of groups")
    counts, edges = np.histogram(k, _BINS)
    return histogram(counts, edges, "groups in the clustering", title="Numbers of groups")
