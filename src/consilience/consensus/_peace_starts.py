"""Starts of the soft models of co-association, several runs from them, and what they spread."""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._validation import COUNT, MEMORY, NOT_NEGATIVE, NoneValue, Options, Rule
from consilience.consensus._base import FixedNumber
from consilience.consensus._peace_fits import Fit
from consilience.consensus._peace_pairs import Pairs
from consilience.consensus._rows import check_sums, draw_seeds
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.evidence import never_placed
from consilience.kernels.links.chain import average_link
from consilience.kernels.links.trees import cut_merges
from consilience.kernels.pairs.counts import has_unseen

__all__ = [
    "RULES",
    "Init",
    "SoftConsensus",
    "Solver",
    "Spread",
    "all_objects",
    "best_of",
    "make_starts",
    "spread_of",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Solver = Literal["growth", "pair"]
Init = Literal["mixed", "dirichlet", "labels", "barycentre"]

# Shares of a random start that are drawn, and of one from labels that stay on the label.
_DRAWN, _KEPT = 0.999, 0.8
_NOISE = 1e-3


class Spread(NamedTuple):
    """An index over the starts: that of the run chosen, then of all runs."""

    selected: float
    mean: float
    std: float
    max: float
    min: float


def spread_of(values: Any, best: int) -> Spread:
    """Mean, standard deviation, largest and smallest of the values, after the chosen one.

    >>> spread_of([1.0, 3.0], 1)
    Spread(selected=3.0, mean=2.0, std=1.0, max=3.0, min=1.0)
    """
    v = np.asarray(values, float)
    return Spread(*(float(x) for x in (v[best], v.mean(), v.std(), v.max(), v.min())))


def make_starts(pairs: Pairs, k: int, init: str, n_init: int, seed: Any) -> list[Floats]:
    """Soft assignments of the groups, (n_groups, k), all entries positive.

    Groups about which no pair says anything start, and stay, evenly spread.
    """
    starts = []
    if init in ("mixed", "labels"):
        starts.append(_from_average_link(pairs, k))
    wanted = 0 if init == "labels" else n_init - len(starts)
    for number in draw_seeds(seed, wanted):
        rng = np.random.default_rng(number)
        if init == "barycentre":
            Y = 1.0 + _NOISE * rng.uniform(-1.0, 1.0, (pairs.n_groups, k))
            starts.append(Y / Y.sum(axis=1, keepdims=True))
        else:
            Y = rng.standard_exponential((pairs.n_groups, k))
            starts.append(_DRAWN * Y / Y.sum(axis=1, keepdims=True) + (1.0 - _DRAWN) / k)
    for Y in starts:
        Y[pairs.scale == 0] = 1.0 / k
    return starts


def _from_average_link(pairs: Pairs, k: int) -> Floats:
    """Most of the mass of each group on its cluster by average link.

    Always without the matrix: ties are then decided in one way, whatever fits the memory.
    """
    weights = pairs.weights.astype(np.int64)
    check_sums(
        weights, len(pairs.store.members), by_pair=has_unseen(pairs.store.members),
        owner="The start from labels", remedy="Use init='dirichlet', or a sample of the objects.",
    )  # fmt: skip
    labels = cut_merges(average_link(pairs.store.members, weights, missing="pair"), k)
    Y = np.full((pairs.n_groups, k), (1.0 - _KEPT) / k)
    Y[np.arange(pairs.n_groups), labels] += _KEPT
    return Y


def best_of(
    fits: list[Fit], pairs: Pairs, *, highest: bool, solver: str | None = None
) -> tuple[ConsensusResult, Ints]:
    """The run with the best objective, the first on ties, and the labels of its groups."""
    objectives = np.array([fit.objective for fit in fits])
    best = int(objectives.argmax() if highest else objectives.argmin())
    fit = fits[best]
    labels = np.stack([f.memberships.argmax(axis=1) for f in fits]).astype(np.int32)
    result = ConsensusResult(
        labels[best][pairs.inverse],
        objective=fit.objective,
        n_iter=fit.sweeps + fit.steps,
        converged=fit.converged,
        solver=solver,
        memberships=fit.memberships[pairs.inverse],
        details={
            **({} if fit.gap is None else {"gap": fit.gap}),
            "sweeps": fit.sweeps,
            "pair_steps": fit.steps,
            "path": np.array(fit.path),
            "objectives": objectives,
            "spread": spread_of(objectives, best),
            "best_start": best,
            "start_labels": labels[:, pairs.inverse],
            "matrix_free": pairs.matrix_free,
        },
    )
    return result, labels[best]


def all_objects(result: ConsensusResult, ensemble: Ensemble, *names: str) -> ConsensusResult:
    """The result with the details named, of placed objects, filled up with -1 for the others."""
    unplaced = never_placed(ensemble)
    for name in names:
        values = result.details.get(name)
        if values is not None and unplaced.any():
            full = np.full((*values.shape[:-1], ensemble.n_objects), -1, values.dtype)
            full[..., ~unplaced] = values
            result.details[name] = full
    return result


# The rules of the parameters that the soft models share.
RULES: dict[str, list[Rule]] = {
    "solver": [Options(("growth", "pair"))],
    "init": [Options(("mixed", "dirichlet", "labels", "barycentre"))],
    "n_init": COUNT,
    "tol": NOT_NEGATIVE,
    "max_iter": [*COUNT, NoneValue()],
    "max_sweeps": COUNT,
    "max_memory": MEMORY,
}


class SoftConsensus(
    FixedNumber, attributes=("gap", "spread", "objectives", "start_labels", "matrix_free")
):
    """Base of the estimators that choose the best of several soft fits.

    Attributes
    ----------
    gap_, spread_, objectives_, start_labels_, matrix_free_
        See the function, under ``details``.
    """

    def spread_over_starts(self, score: Callable[[Ints], float]) -> Spread:
        """Any index of the labels over the starts, as the paper's tables show it.

        Parameters
        ----------
        score : callable
            Takes labels of all objects (-1 for those no member placed), returns a number.

        Returns
        -------
        Spread
            Of the run with the best objective, then mean, standard deviation, largest and
            smallest over all runs. Where no run was needed, all are those of ``labels_``.
        """
        if self.start_labels_ is None:
            return spread_of([score(self.labels_)], 0)
        best = self.details_["best_start"]
        return spread_of([score(labels) for labels in self.start_labels_], best)
