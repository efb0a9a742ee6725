"""How many clusters: several criteria side by side, and one of them taken.

Every criterion is read against data without groups, of the same extent along their
principal axes: numbers of clusters look stable on any data, for some numbers.
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from consilience._validation import Interval, NoneValue, RandomState, check_jobs, check_value
from consilience.consensus._number_curves import (
    groupless,
    like_members,
    principal,
    resample,
    tree_lifetimes,
)
from consilience.consensus._number_judge import (
    Criterion,
    NumberChoice,
    by_delta_area,
    by_lifetime,
    by_pac,
    by_stability,
    decide,
    tighter_than_chance,
)
from consilience.ensemble import Ensemble, usable_ensemble
from consilience.errors import InvalidInputError, InvalidParameterError, warn
from consilience.evidence import never_placed
from consilience.kernels._parallel import in_threads
from consilience.rows import rows_of, same_objects

__all__ = ["Criterion", "NumberChoice", "choose_n_clusters"]

_OWNER = "choose_n_clusters"
_MOST_OBJECTS = 2000
_K_MAX = 15
_N_REFERENCES = 3  # of each shape
# Axes of the groupless data that stand in where the data are not known.
_STAND_INS = (2, 5)
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class _Task:
    """What is looked at, and how."""

    tested: NDArray[np.int64]
    n_resamples: int
    seeds: NDArray[np.int64]
    n_jobs: int


def choose_n_clusters(
    X: Any = None,
    *,
    ensemble: Any = None,
    k_max: int | None = None,
    n_resamples: int = 20,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> NumberChoice:
    """The number of clusters by several criteria, which of them was taken, and how clear it is.

    Parameters
    ----------
    X : array, frame or CSR matrix of shape (n_objects, n_features), optional
        Data, scaled as they will be clustered.
    ensemble : Ensemble, or anything `Ensemble` takes, optional
        Clusterings of the same objects. Without ``X`` they are all there is, and "lifetime"
        is the only criterion; with it, "lifetime" looks at them and the others do not.
    k_max : int or None, default=None
        Largest number tried. None is 15, or one for eight objects if that is less.
    n_resamples : int, default=20
        Halves of the objects for each number.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.

    Returns
    -------
    NumberChoice
        ``clear`` is False, and ``words`` say so, where no criterion that may decide sees more
        than data without groups show: then ``n_clusters`` is a guess, or 1.

    Notes
    -----
    The criteria, in the order in which they are asked:

    - "stability": half of the objects, clustered by k-means, predict the other half. Numbers
      count whose *weakest* cluster holds together to 85 %, with less than 1 / e of the
      instability of data without groups; the largest of those nearly as good as the best.
      Where there is none, and no lifetime, the 85 % are enough if the clusters are also
      tighter than those of data without groups: two groups are hardly steadier than a long
      cloud that is cut in two, but they leave less variance within.
    - "lifetime": the number that lasts longest in the single-link dendrogram of the
      co-association, clusters below 2 % of the objects not counted. It sees rings and chains
      that k-means cannot. It must last over a quarter of the heights, and twice as long as
      any other and as any on data without groups. Taken where stability sees nothing, or
      fewer groups than a lifetime over half of the heights.
    - "pac" and "delta-area" (Monti) are shown and never decide: they find the planted number
      less often. Measured on 54 mixtures (k = 2..10 in 2, 5, 20 dimensions, half of them of
      unequal sizes, 200 to 2,000 objects, nearest centres 5 to 12 standard deviations apart),
      right: 52 by the rule; stability 51, pac 45, lifetime 32, delta-area 26. On 110 sets
      without groups (uniform, normal, correlated, exponential, heavy-tailed; 30 to 1,000
      objects in 1 to 20 dimensions) stability and pac never saw any, lifetime once (heavy
      tails), delta-area four times; where all sizes are unequal delta-area is nearly always
      wrong. On as many other sets, drawn after the rule was fixed, it was right on 52 mixtures
      and saw groups in 4 sets without any (two of 30 to 100 uniform objects, one exponential,
      one heavy-tailed). From an ensemble alone 22 of 27 mixtures were right.

    Reference data are drawn along the principal axes, normal and uniform, three of each;
    permuted columns would keep groups that lie along the axes. Above 2,000 objects a random
    sample is looked at, and said; above 50 features the 50 longest principal axes. Groups
    below a few per cent of the objects are not found: see `consilience.EWOCS` for those.
    Memory O(n^2) of the sample, 16 MiB.

    References
    ----------
    Tibshirani & Walther (2005), Cluster validation by prediction strength, JCGS 14(3). Fred &
    Jain (2005), Combining multiple clusterings using evidence accumulation, IEEE TPAMI 27(6).
    Monti, Tamayo, Mesirov & Golub (2003), Consensus clustering, Machine Learning 52.
    Senbabaoglu, Michailidis & Li (2014), Critical limitations of consensus clustering in
    class discovery, Scientific Reports 4. John, Watson, Russ et al. (2020), M3C: Monte Carlo
    reference-based consensus clustering, Scientific Reports 10.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(c, 0.3, (40, 2)) for c in ((0, 0), (3, 0), (0, 3))])
    >>> choice = choose_n_clusters(X, random_state=0)
    >>> choice.n_clusters, choice.clear, choice.taken
    (3, True, 'stability')
    >>> noise = choose_n_clusters(rng.uniform(size=(120, 2)), random_state=0)
    >>> noise.clear, "no clear structure" in noise.words
    (False, True)
    """
    _check(k_max, n_resamples, random_state, n_jobs)
    X, ensemble = _checked(X, ensemble)
    n = ensemble.n_objects if X is None else X.shape[0]
    seeds = check_random_state(random_state).randint(2**31 - 1, size=8 + 2 * _N_REFERENCES)
    if n > _MOST_OBJECTS:
        rows = np.sort(np.random.default_rng(seeds[0]).permutation(n)[:_MOST_OBJECTS])
        X = None if X is None else X[rows]
        ensemble = None if ensemble is None else ensemble.take(rows)
    looked = min(n, _MOST_OBJECTS)
    tested = _numbers(k_max, looked)
    if not len(tested):
        return _nothing(f"{n} objects are too few to tell", n)
    task = _Task(tested, n_resamples, seeds, n_jobs or 1)
    if X is None:
        return _from_members(ensemble, task, n)
    return _from_data(X, ensemble, task, n)


def _from_data(X: Any, ensemble: Ensemble | None, task: _Task, n: int) -> NumberChoice:
    Z = principal(X, int(task.seeds[1]))
    if not Z.shape[1]:
        return _nothing("all objects are equal", n)
    spreads = Z.std(axis=0)
    references = [
        groupless(spreads, len(Z), int(seed), flat=bool(i % 2))
        for i, seed in enumerate(task.seeds[8:])
    ]
    seed = int(task.seeds[2])
    own, *others = resample([Z, *references], task.tested, task.n_resamples, seed, task.n_jobs)
    variances = spreads**2
    axes = variances.sum() ** 2 / (variances**2).sum()
    tighter = tighter_than_chance(own.within, [o.within for o in others], axes, len(Z))
    steadiest = np.max([o.strength for o in others], axis=0)
    criteria = [
        by_stability(task.tested, own.strength, steadiest, tighter),
        by_lifetime(task.tested, *_lifetimes(Z, ensemble, references, task)),
        by_pac(task.tested, own.pac, np.min([o.pac for o in others], axis=0)),
        by_delta_area(task.tested, own.area, [o.area for o in others]),
    ]
    return decide(criteria, len(Z), n, [])


def _lifetimes(
    Z: Floats, ensemble: Ensemble | None, references: list[Floats], task: _Task
) -> tuple[Floats, Floats]:
    """Lifetimes of the members and the longest of groupless data, for each number.

    Where members are given, those of the references have as many clusters.
    """
    members = like_members(Z, int(task.seeds[3])) if ensemble is None else ensemble

    def of_one(data: Floats) -> Floats:
        made = like_members(data, int(task.seeds[3]), ensemble)
        return tree_lifetimes(made, task.tested)

    lives = in_threads(of_one, references, task.n_jobs)
    return tree_lifetimes(members, task.tested), np.max(lives, axis=0)


def _from_members(ensemble: Ensemble, task: _Task, n: int) -> NumberChoice:
    """The criterion that needs no data; members on stand-ins are its reference.

    Halves of the clusterings agree with each other on any data, more so the more members
    there are: measured, that stability sees groups in uniform noise, so it is not asked.
    """
    if never_placed(ensemble).all():
        return _nothing("no clustering put any object into a cluster", n)
    shapes = [(d, flat) for d in _STAND_INS for flat in (False, True)] * _N_REFERENCES
    seeds = np.random.default_rng(task.seeds[4]).integers(2**31 - 1, size=len(shapes)).tolist()
    made = [
        like_members(groupless(np.ones(d), ensemble.n_objects, seed, flat=flat), seed, ensemble)
        for (d, flat), seed in zip(shapes, seeds, strict=True)
    ]
    lives = [tree_lifetimes(one, task.tested) for one in [ensemble, *made]]
    criterion = by_lifetime(task.tested, lives[0], np.max(lives[1:], axis=0))
    note = "Without the data, lifetime is the only criterion that can be had."
    counts = np.unique(ensemble.n_clusters[ensemble.n_clusters > 0])
    agreed = int(counts[0]) if len(counts) == 1 and counts[0] > 1 else None
    return decide([criterion], ensemble.n_objects, n, [note], agreed=agreed)


def _nothing(why: str, n: int) -> NumberChoice:
    return NumberChoice(1, False, "none", (), f"There is no clear structure: {why}.", n)


def _numbers(k_max: int | None, n: int) -> NDArray[np.int64]:
    """Numbers to try: in half of the objects every cluster should have some."""
    most = n // 4
    if k_max is not None and k_max > most >= 2:
        warn(
            f"{_OWNER} tries at most {most} clusters: more cannot be told apart in half of "
            f"{n} objects. Got k_max={k_max}.",
        )
    last = min(k_max, most) if k_max is not None else min(_K_MAX, max(2, n // 8), most)
    return np.arange(2, last + 1)


def _check(k_max: Any, n_resamples: Any, random_state: Any, n_jobs: Any) -> None:
    check_value("k_max", k_max, [Interval(Integral, 2), NoneValue()], owner=_OWNER)
    check_value("n_resamples", n_resamples, [Interval(Integral, 2)], owner=_OWNER)
    check_value("random_state", random_state, [RandomState()], owner=_OWNER)
    check_jobs(n_jobs, owner=_OWNER)


def _checked(X: Any, ensemble: Any) -> tuple[Any, Any]:
    """Data and ensemble as they are used, of the same objects."""
    if isinstance(X, Ensemble):
        raise InvalidParameterError(
            f"The 'X' argument of {_OWNER} must be data. Got an Ensemble instead. Pass it as "
            "ensemble=..."
        )
    if X is None and ensemble is None:
        raise InvalidInputError(f"{_OWNER} needs data or an ensemble. Got neither.")
    if ensemble is not None and not isinstance(ensemble, Ensemble):
        ensemble = Ensemble(ensemble)
    if ensemble is not None:
        ensemble = usable_ensemble(ensemble, owner=_OWNER)
    if X is None:
        return None, ensemble
    rows = rows_of(X, owner=_OWNER)
    if ensemble is not None:
        same_objects(rows, ensemble.n_objects)
    return rows.values, ensemble
