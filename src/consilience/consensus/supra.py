"""The best of several consensus methods, by what it shares with the members."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._validation import Satisfies
from consilience.consensus._base import FixedNumber
from consilience.consensus._registry import CONSENSUS, Method, consensus_method
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus.graph import cspa, hgpa
from consilience.consensus.metacluster import mcla
from consilience.ensemble import NOISE, UNSEEN, Ensemble
from consilience.errors import InvalidParameterError, MissingPackageError, warn
from consilience.evidence import never_placed, never_seen
from consilience.metrics import nmi

__all__ = ["SupraConsensus", "shared_information", "supra", "supraconsensus"]

_CLASSIC = (cspa.__name__, hgpa.__name__, mcla.__name__)


def _is_names(value: Any) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return bool(value) and all(isinstance(name, str) for name in value)


@consensus_method(
    estimator="SupraConsensus",
    few_clusters=True,
    paper="Strehl & Ghosh 2002",
    memory="that of its methods",
    rules={"methods": [Satisfies(_is_names, "a list of names of consensus methods")]},
)
def supraconsensus(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    methods: Sequence[str] = _CLASSIC,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters of the method that shares the most information with the members.

    Parameters
    ----------
    methods : sequence of str, default=("cspa", "hgpa", "mcla")
        Names from the table of methods, run with their defaults. One that needs a package
        that is not installed is left out, with a warning.
    X : array of shape (n_objects, n_features), optional
        For methods that use the data, and to place objects that no member saw.
    random_state : int, RandomState or None
        One seed is drawn for each method.

    Returns
    -------
    ConsensusResult
        The winner's, the first on ties. ``objective`` is its mean normalised mutual
        information with the members, weighted by the objects each has placed;
        ``details["method"]`` its name, ``details["scores"]`` all of them.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3, section 3.5 and equation 5.

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> result = supraconsensus(ens, 2, methods=["cspa", "mcla"], random_state=0)
    >>> result.details["method"], round(result.objective, 3)
    ('cspa', 0.843)
    """
    chosen = _methods(methods, X)

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        # Of all objects, in their own order: so is what the methods say of each in ``details``.
        everybody = _unseen_as_noise(ensemble)
        seeds = check_random_state(random_state).randint(2**31 - 1, size=len(chosen))
        results: dict[str, ConsensusResult] = {}
        for method, seed in zip(chosen, seeds, strict=True):
            try:
                results[method.name] = method.run(
                    everybody, k, X, random_state=int(seed), n_jobs=n_jobs
                )
            except MissingPackageError as error:
                warn(
                    f"SupraConsensus goes on without {method.name!r}: {error}",
                )
        if not results:
            raise MissingPackageError(
                "None of SupraConsensus's methods can run here; name others in 'methods'."
            )
        return _winner(results, placed, ~never_placed(ensemble))

    return solve(ensemble, n_clusters, run, owner="SupraConsensus", X=X)


#: The short name in the literature.
supra = supraconsensus


def shared_information(labels: Any, ensemble: Ensemble) -> float:
    """Mean normalised mutual information with the members, by the objects each has placed.

    Only objects that a member put into a cluster count for it.

    Examples
    --------
    >>> round(shared_information([0, 0, 1, 1], Ensemble([[0, 0, 1, 1], [0, 1, 1, None]])), 3)
    0.689
    """
    total = weighed = 0.0
    for member in ensemble:
        placed = np.where(member == NOISE, UNSEEN, member)
        n = int((placed >= 0).sum())
        if n:
            total += n * nmi(labels, placed)
            weighed += n
    return total / weighed if weighed else 0.0


def _unseen_as_noise(ensemble: Ensemble) -> Ensemble:
    """The ensemble with objects that nobody saw as noise: `solve` places them, and says so once."""
    unseen = never_seen(ensemble)
    if not unseen.any():
        return ensemble
    return Ensemble._trusted(np.where(unseen, ensemble.members.dtype.type(NOISE), ensemble.members))


def _winner(
    results: dict[str, ConsensusResult], placed: Ensemble, kept: NDArray[np.bool_]
) -> ConsensusResult:
    """The best of results over all objects, for those that some member placed."""
    scores = {name: shared_information(one.labels[kept], placed) for name, one in results.items()}
    # max keeps the first of equals, which the order of the objects may part by rounding.
    name = max(scores, key=lambda key: round(scores[key], 12))
    best = results[name]
    return replace(
        best,
        labels=best.labels[kept],
        objective=scores[name],
        memberships=None if best.memberships is None else best.memberships[kept],
        details={"method": name, "scores": scores, **best.details},
    )


def _methods(names: Sequence[str], X: Any) -> list[Method]:
    known = sorted(set(CONSENSUS) - {"supraconsensus"})
    for name in names:
        if name not in known:
            raise InvalidParameterError(
                f"The 'methods' parameter of SupraConsensus must hold names of consensus methods "
                f"({', '.join(known)}). Got {name!r}."
            )
        if CONSENSUS[name].needs_data and X is None:
            raise InvalidParameterError(
                f"The 'methods' parameter of SupraConsensus names {name!r}, which needs data. "
                "Pass X as well."
            )
    return [CONSENSUS[name] for name in dict.fromkeys(names)]


class SupraConsensus(FixedNumber, function=supraconsensus):
    """Cluster by the best of several methods; see `supraconsensus` for the rule.

    Examples
    --------
    >>> model = SupraConsensus(2, methods=["mcla", "cspa"], random_state=0)
    >>> model.fit(ensemble=[[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2]]).details_["method"]
    'mcla'
    """

    methods: Sequence[str] = _CLASSIC
