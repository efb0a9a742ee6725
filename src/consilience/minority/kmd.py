"""kMD: dense groups peeled out of the data one at a time, each against a model of all the rest."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin
from sklearn.utils import check_random_state

from consilience._validation import Boolean, Interval, Options, RandomState, check_params
from consilience.errors import InvalidParameterError
from consilience.minority._families import FAMILIES, Family, uniform_log_density
from consilience.minority._rivals import Rival, checked_array, checked_values, no_contrast
from consilience.rows import rows_of

__all__ = ["KMD", "KMDResult", "kmd"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class KMDResult:
    """Groups found by `kmd`.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        -1 background, clusters 0, 1, ... in the order in which they were found.
    sizes : ndarray of shape (n_clusters,), int64
    n_rounds : int
        Rounds done: fewer than asked for if too few objects were left.
    flag : str or None
        Why there is nothing to find, where that is so.
    """

    labels: NDArray[np.int32]
    sizes: Ints
    n_rounds: int
    flag: str | None = None


_RULES: dict[str, list[Any]] = {
    "family": [Options(tuple(FAMILIES))],
    "background": [Options(("auto", "uniform", "same"))],
    "n_rounds": [Interval(Integral, 1)],
    "start_size": [Interval(Integral, 1)],
    "min_size": [Interval(Integral, 1), Interval(Real, 0, 1, open_low=True)],
    "prior": [Boolean()],
    "random_state": [RandomState()],
}


def kmd(
    X: Any,
    *,
    family: str = "gaussian",
    background: str = "auto",
    n_rounds: int = 100,
    start_size: int = 800,
    min_size: float = 50,
    prior: bool = True,
    random_state: Any = None,
) -> KMDResult:
    """Groups that stand out from a model of all data, found one after the other.

    A round draws a seed among the objects in no group, takes the ``start_size`` objects
    likest to it, and removes from them those that the background explains better than a model
    fitted to them, until none is left to remove. What is left is a group if it is large enough.

    Parameters
    ----------
    X : array of shape (n_objects, n_features)
        Counts, not negative, for the multinomial family; zeros and ones for Bernoulli. These
        two take CSR as well.
    family : {"gaussian", "multinomial", "bernoulli"}, default="gaussian"
        Model of a group.
    background : {"auto", "uniform", "same"}, default="auto"
        Model of all data: a box around it, or the family of the groups. "auto" is "uniform"
        for Gaussian groups and "same" otherwise; "uniform" is for Gaussian groups only.
    n_rounds : int, default=100
        Rounds at most.
    start_size : int, default=800
        Objects a round starts with.
    min_size : int or float, default=50
        Objects a group must have; at most 1 and not whole is a share of all objects.
    prior : bool, default=True
        Whether sizes count as prior probabilities: a small group then needs a higher density.
        Without it the published figures are far out of reach.
    random_state : int, RandomState or None
        Draws the seeds.

    Returns
    -------
    KMDResult

    Notes
    -----
    Rounds depend on what earlier rounds took, so they cannot run side by side. A round takes
    O(n d + removals * start_size * d ** 2) time; memory is that of one copy of the data. Sums
    are updated when objects leave, and taken anew when more than half leave at once. A
    singular covariance gets a ridge of 1e-6 of its mean variance; constant columns are left
    out of Gaussian models. There is no answer for new objects: whether an object belongs to a
    group depends on where the group's search started.

    References
    ----------
    Ando (2007), Clustering needles in a haystack: an information theoretic analysis of
    minority and outlier detection, IEEE ICDM. The prior is the addition of Gonzàlez & Turmo
    (2015), Unsupervised ensemble minority clustering, Machine Learning 98, section 6.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(-4, 4, (300, 2)), rng.normal(1, 0.1, (60, 2))])
    >>> result = kmd(X, start_size=150, min_size=20, random_state=0)
    >>> result.sizes, int((result.labels[300:] == 0).sum())
    (array([64]), 60)
    """
    values = {
        "family": family, "background": background, "n_rounds": n_rounds,
        "start_size": start_size, "min_size": min_size, "prior": prior,
        "random_state": random_state,
    }  # fmt: skip
    checked_values(_RULES, values, owner="KMD")
    if background == "uniform" and family != "gaussian":
        raise InvalidParameterError(
            "The 'background' parameter of KMD must be 'auto' or 'same' where family is "
            f"{family!r}: counts have no box. Got 'uniform' instead."
        )
    X = checked_array(X, sparse=family != "gaussian", owner="KMD")
    n = X.shape[0]
    model = FAMILIES[family](X, owner="KMD")
    if flag := no_contrast(X):
        return KMDResult(np.full(n, -1, np.int32), np.zeros(0, np.int64), 0, flag)
    floor = min_size if isinstance(min_size, Integral) else max(1.0, float(min_size) * n)
    search = _Search(
        model,
        _background(model, background),
        start_size=start_size,
        min_size=float(floor),
        prior=prior,
    )
    return search.run(n_rounds, check_random_state(random_state))


def _background(model: Family, background: str) -> Floats:
    """Log-density of every object under the model of all data."""
    if background == "uniform" or (background == "auto" and model.name == "gaussian"):
        return uniform_log_density(model)
    everybody = np.arange(model.n_objects)
    return model.log_density(model.sums(everybody), everybody)


class _Search:
    """State of the rounds: who is in no group yet."""

    def __init__(
        self, model: Family, background: Floats, *, start_size: int, min_size: float, prior: bool
    ) -> None:
        self.model, self.background = model, background
        self.start_size, self.min_size, self.prior = start_size, min_size, prior
        self.labels = np.full(model.n_objects, -1, np.int32)

    def run(self, n_rounds: int, rng: np.random.RandomState) -> KMDResult:
        sizes: list[int] = []
        done = 0
        for _ in range(n_rounds):
            free = np.flatnonzero(self.labels < 0)
            if free.size < self.min_size:
                break
            done += 1
            group = self._peel(free, int(free[rng.randint(free.size)]))
            if group.size >= self.min_size:
                self.labels[group] = len(sizes)
                sizes.append(group.size)
        return KMDResult(self.labels, np.array(sizes, np.int64), done)

    def _peel(self, free: Ints, seed: int) -> Ints:
        """What remains of the objects likest to the seed."""
        model = self.model
        likeness = model.likeness(seed, free)
        group = free
        if free.size > self.start_size:
            # Counts tie often: rounding must not decide, so the smallest index does.
            likeness /= float(np.abs(likeness).max()) or 1.0
            order = np.argsort(-np.round(likeness, 12), kind="stable")
            group = np.sort(free[order[: self.start_size]])
        sums = model.sums(group)
        while group.size >= self.min_size:
            leaves = self._better_outside(group, sums, free.size)
            if not leaves.any():
                break
            gone, group = group[leaves], group[~leaves]
            # Subtracting most of a sum would leave few digits of the rest.
            sums = model.sums(group) if gone.size > group.size else sums - model.sums(gone)
        return group

    def _better_outside(self, group: Ints, sums: Any, n_free: int) -> NDArray[np.bool_]:
        """Whether the background explains each object of the group better."""
        inside, outside = self.model.log_density(sums, group), self.background[group]
        if self.prior:
            with np.errstate(divide="ignore"):
                inside = inside + np.log(group.size)
                outside = outside + np.log(n_free - group.size)
        return np.asarray(inside < outside)


class KMD(ClusterMixin, Rival):
    """Groups that stand out from a model of all data; see `kmd` for the method.

    Parameters
    ----------
    family, background, n_rounds, start_size, min_size, prior, random_state
        As in `kmd`.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        -1 background, clusters 0, 1, ... as they were found. There is no ranking and no
        `predict`: see the notes of `kmd`.
    n_clusters_ : int
    n_rounds_ : int
        Rounds done.
    flag_ : str or None
        Why there was nothing to find, where that is so.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.uniform(-4, 4, (300, 2)), rng.normal(1, 0.1, (60, 2))])
    >>> KMD(start_size=150, min_size=20, random_state=0).fit(X).n_clusters_
    1
    """

    _constraints: ClassVar[dict[str, Any]] = _RULES

    def __init__(
        self,
        *,
        family: str = "gaussian",
        background: str = "auto",
        n_rounds: int = 100,
        start_size: int = 800,
        min_size: float = 50,
        prior: bool = True,
        random_state: Any = None,
    ) -> None:
        self.family = family
        self.background = background
        self.n_rounds = n_rounds
        self.start_size = start_size
        self.min_size = min_size
        self.prior = prior
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.family != "gaussian"
        tags.input_tags.positive_only = self.family != "gaussian"
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the groups of ``X`` of shape (n_objects, n_features)."""
        check_params(self)
        counts = self.family != "gaussian"
        X = rows_of(X, owner=self, fitted=self, allow_sparse=counts, kind="float64")
        result = kmd(X, **self.get_params())
        self.labels_ = result.labels
        self.n_clusters_ = len(result.sizes)
        self.n_rounds_ = result.n_rounds
        self.flag_ = result.flag
        return self
