"""U-SENC: the graph of objects and clusters, cut through its small side."""

from typing import Any

from consilience.consensus._base import FixedNumber
from consilience.consensus._cuts import cut_rows
from consilience.consensus._registry import consensus_method
from consilience.consensus._rows import distinct_rows
from consilience.consensus._solve import ConsensusResult, solve
from consilience.ensemble import Ensemble
from consilience.generate.uspec import USPECEnsemble

__all__ = ["USENC", "usenc"]


@consensus_method(
    estimator="USENC",
    by_rows=True,
    paper="Huang, Wang, Wu, Lai & Kwoh 2020",
    memory="n (R + k) + n_c^2",
)
def usenc(
    ensemble: Ensemble,
    n_clusters: int,
    *,
    X: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> ConsensusResult:
    """Clusters by the normalised cut of the graph of objects and clusters.

    Parameters
    ----------
    n_clusters : int
        Clusters wanted, at most n_c.
    n_jobs : int or None
        Not used here; the members are made in that many threads.

    Returns
    -------
    ConsensusResult
        ``objective`` is the normalised cut.

    Notes
    -----
    Linear in objects: the eigenproblem is n_c x n_c. Equal label rows are one weighted row:
    exact. A member that puts all objects into one cluster is left out of the graph. The
    paper's members are those of `consilience.generate.USPECEnsemble`.

    References
    ----------
    Huang, Wang, Wu, Lai & Kwoh (2020), Ultra-scalable spectral clustering and ensemble
    clustering, IEEE TKDE 32(6), section 3.2.
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        return cut_rows(
            distinct_rows(placed, n_jobs=n_jobs),
            k,
            owner="USENC",
            random_state=random_state,
            n_jobs=n_jobs,
        )

    return solve(ensemble, n_clusters, run, owner="USENC", X=X, n_jobs=n_jobs)


class USENC(FixedNumber, function=usenc):
    """Cluster many objects by an ensemble of fast spectral clusterings; see `usenc`.

    Parameters
    ----------
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is
        `consilience.generate.USPECEnsemble()`: 20 members of 20 to 60 clusters through 1000
        representatives, or one for five objects if that is less.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 2 * np.pi, 1000)
    >>> radius = np.repeat([1.0, 3.0], 500)[:, None] + rng.normal(0, 0.1, (1000, 1))
    >>> X = radius * np.column_stack([np.cos(angle), np.sin(angle)])
    >>> few = USPECEnsemble(n_representatives=100)
    >>> np.bincount(USENC(2, generator=few, random_state=0).fit(X).labels_).tolist()
    [500, 500]
    """

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Representatives are dense means: sparse data need another generator.
        tags.input_tags.sparse = not isinstance(self._generator(), USPECEnsemble)
        return tags

    def _default_generator(self, data: Any = None) -> Any:
        return USPECEnsemble()
