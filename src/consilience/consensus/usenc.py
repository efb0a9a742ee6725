"""U-SENC: the graph of objects and clusters, cut through its small side."""

from numbers import Integral
from typing import Any, ClassVar

from consilience._validation import Interval
from consilience.consensus._base import Consensus
from consilience.consensus._row_cut import cut_rows
from consilience.consensus._rows import distinct_rows
from consilience.consensus._solve import ConsensusResult, solve
from consilience.consensus._table import consensus_method
from consilience.ensemble import Ensemble
from consilience.generate import with_defaults
from consilience.generate.uspec import USPECEnsemble

__all__ = ["USENC", "usenc"]


@consensus_method(
    estimator="USENC",
    paper="Huang, Wang, Wu, Lai & Kwoh 2020",
    memory="n (R + k) + n_c^2",
    keeps_noise=True,
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
    ensemble : Ensemble
        Labels of n objects by R members with n_c clusters in all.
    n_clusters : int
        Clusters wanted, at most n_c.
    X : array of shape (n_objects, n_features), optional
        Only used to place objects that no member saw.
    random_state : int, RandomState or None
        Starts of k-means on the spectral embedding.
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

    Examples
    --------
    >>> from consilience import Ensemble
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> usenc(ens, 2, random_state=0).labels
    array([0, 0, 0, 1, 1, 1], dtype=int32)
    """

    def run(placed: Ensemble, k: int, _: Any) -> ConsensusResult:
        return cut_rows(distinct_rows(placed), k, owner="USENC", random_state=random_state)

    return solve(ensemble, n_clusters, run, owner="USENC", X=X, n_jobs=n_jobs)


class USENC(Consensus):
    """Cluster many objects by an ensemble of fast spectral clusterings; see `usenc`.

    Parameters
    ----------
    n_clusters
        See `usenc`.
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None is
        `consilience.generate.USPECEnsemble()`: 20 members of 20 to 60 clusters through 1000
        representatives, or one for five objects if that is less.
    random_state : int, RandomState or None
        Seeds k-means, and a generator that has no seed of its own.
    n_jobs : int or None
        Threads; None means one.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for objects every member calls noise.
    confidence_, runner_up_ : ndarray of shape (n_objects,)
        See `consilience.evidence.confidence`.
    n_clusters_, objective_, solver_, details_
        See `usenc`. Only the first and ``details_`` where nothing had to be solved.
    ensemble_ : Ensemble

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

    _constraints: ClassVar[dict[str, Any]] = {
        **Consensus._common_constraints,
        "n_clusters": [Interval(Integral, 1)],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        generator: Any = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.generator = generator
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Representatives are dense means: sparse data need another generator.
        tags.input_tags.sparse = not isinstance(self._generator(), USPECEnsemble)
        return tags

    def _generator(self) -> Any:
        wanted = USPECEnsemble() if self.generator is None else self.generator
        return with_defaults(wanted, self.random_state, self.n_jobs)

    def _fit_ensemble(self, ensemble: Ensemble, X: Any) -> None:
        self._store(
            usenc(
                ensemble,
                self.n_clusters,
                X=X,
                random_state=self.random_state,
                n_jobs=self.n_jobs,
            )
        )
