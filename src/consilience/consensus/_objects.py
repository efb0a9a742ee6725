"""What the methods that weigh objects share: the weights, the data, the paper's generator."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._units import check_range
from consilience._validation import NoneValue, Options, Rule, positive_numbers
from consilience.consensus._base import FixedNumber
from consilience.consensus._solve import ConsensusResult
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import never_placed
from consilience.evidence.weights import object_weights
from consilience.generate import woec
from consilience.rows import rows_of, same_objects

__all__ = [
    "WEIGHTS",
    "WeightedObjects",
    "checked_data",
    "needed_data",
    "of_placed",
    "only_member",
    "weights_of",
]

Floats = NDArray[np.float64]

# Members of the ensemble that is generated where none is given: the middle of the paper's three.
_MEMBERS = 40


WEIGHTS: list[Rule] = [Options(("one-shot",)), NoneValue(), positive_numbers("object")]


def weights_of(weights: Any, ensemble: Ensemble, n_jobs: int | None) -> Floats:
    """Weight of every object: of the ensemble, 1, or as given."""
    if weights is None:
        return np.ones(ensemble.n_objects)
    if isinstance(weights, str):
        one_shot: Floats = object_weights(ensemble, n_jobs=n_jobs)
        return one_shot
    given = np.asarray(weights, np.float64)
    if given.shape != (ensemble.n_objects,):
        raise InvalidInputError(
            f"weights must hold one number for each of the {ensemble.n_objects} objects. "
            f"Got {len(given)} instead."
        )
    return given


def of_placed(values: Floats, ensemble: Ensemble) -> Floats:
    """Values of the objects that some member placed: those a method sees."""
    unplaced = never_placed(ensemble)
    return values[~unplaced] if unplaced.any() else values


def checked_data(X: Any, ensemble: Ensemble, *, owner: str, sparse: bool = True) -> Any:
    """Data of the ensemble's objects whose squares are finite, or None if none were given."""
    if X is None:
        return None
    rows = rows_of(X, owner=owner, allow_sparse=sparse, kind="float64")
    same_objects(rows, ensemble.n_objects)
    check_range(rows.values, owner=owner)
    return rows.values


def needed_data(X: Any, *, owner: str) -> Any:
    """The data, or an error that says how to pass them."""
    if X is None:
        raise InvalidInputError(
            f"{owner} uses the data as well as the ensemble. Got no X. Call {owner.lower()}("
            f"ensemble, n_clusters, X=X), or {owner}(n_clusters).fit(X, ensemble=ensemble)."
        )
    return X


def only_member(placed: Ensemble, n_clusters: int) -> ConsensusResult | None:
    """The clustering of a single member that has the clusters wanted: nothing to agree on."""
    if placed.n_members > 1 or int(placed.n_clusters[0]) != n_clusters:
        return None
    return ConsensusResult(placed.members[0].astype(np.int32))


class WeightedObjects(FixedNumber):
    """Base of the estimators of the weighted-object paper: its own ensemble by default.

    Parameters
    ----------
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is the paper's:
        `generate.woec` with 40 members of ``n_clusters`` clusters.
    """

    def _default_generator(self, data: Any = None) -> Any:
        return woec(_MEMBERS, self._wanted)
