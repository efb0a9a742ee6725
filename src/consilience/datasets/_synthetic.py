"""Small synthetic sets with known groups, from two lines of trigonometry each."""

from numbers import Integral, Real

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, RandomState, Rule, check_value
from consilience.errors import InvalidParameterError

Sample = tuple[NDArray[np.float64], NDArray[np.int64]]
Seed = int | np.random.RandomState | None

_COUNT: list[Rule] = [Interval(Integral, 1)]
_NOISE: list[Rule] = [Interval(Real, 0)]
_POSITIVE: list[Rule] = [Interval(Real, 0, open_low=True)]


def make_spirals(
    n_objects: int = 400,
    *,
    n_arms: int = 2,
    turns: float = 1.0,
    noise: float = 0.03,
    random_state: Seed = None,
) -> Sample:
    """Objects along the arms of a spiral: groups that k-means cannot find.

    The arms are Archimedean, evenly filled, and ``1 / n_arms`` apart.

    Parameters
    ----------
    n_objects : int, default=400
        Number of objects, at least one an arm, shared out as evenly as possible.
    n_arms : int, default=2
        Number of arms, the groups.
    turns : float, default=1.0
        How often an arm winds around the centre; more turns are harder.
    noise : float, default=0.03
        Standard deviation of the scatter across the arm.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_objects, 2), float64
        Positions, in random order.
    y : ndarray of shape (n_objects,), int64
        Arm of each object, 0 to ``n_arms - 1``.

    Examples
    --------
    >>> X, y = make_spirals(10, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((10, 2), [5, 5])
    """
    owner = "make_spirals"
    _check(owner, random_state, n_objects=(n_objects, _COUNT), n_arms=(n_arms, _COUNT))
    _check(owner, turns=(turns, _POSITIVE), noise=(noise, _NOISE))
    _enough(owner, n_objects, n_arms, "n_arms")
    rng = _rng(random_state)
    y = _shared_out(n_objects, n_arms)
    # The arc up to an angle grows with its square: even steps in the square fill evenly.
    start, stop = np.pi / 2, np.pi / 2 + 2 * np.pi * turns
    share = np.concatenate(
        [(np.arange(size) + rng.uniform(size=size)) / size for size in np.bincount(y)]
    )
    angle = np.sqrt(start**2 + share * (stop**2 - start**2))
    turned = angle + 2 * np.pi * y / n_arms
    X = (angle / (2 * np.pi))[:, None] * np.column_stack([np.cos(turned), np.sin(turned)])
    return _shuffled(X + noise * rng.standard_normal(X.shape), y, rng)


def make_half_rings(
    n_objects: int = 400,
    *,
    share: float = 0.5,
    noise: float = 0.08,
    random_state: Seed = None,
) -> Sample:
    """Objects on two half rings that reach into each other.

    Parameters
    ----------
    n_objects : int, default=400
        Number of objects, at least 2.
    share : float, default=0.5
        Share of the objects on the first, upper ring; both rings get at least one.
    noise : float, default=0.08
        Standard deviation of the scatter, the rings having radius 1.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_objects, 2), float64
        Positions, in random order.
    y : ndarray of shape (n_objects,), int64
        0 for the upper, 1 for the lower ring.

    Examples
    --------
    >>> X, y = make_half_rings(8, share=0.25, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((8, 2), [2, 6])
    """
    owner = "make_half_rings"
    _check(owner, random_state, n_objects=(n_objects, [Interval(Integral, 2)]))
    _check(owner, share=(share, [Interval(Real, 0, 1)]), noise=(noise, _NOISE))
    rng = _rng(random_state)
    n_upper = min(max(round(share * n_objects), 1), n_objects - 1)
    y = np.repeat(np.arange(2), [n_upper, n_objects - n_upper])
    angle = np.pi * rng.uniform(size=n_objects) + np.pi * y
    X = np.column_stack([np.cos(angle) + y, np.sin(angle) + 0.5 * y])
    return _shuffled(X + noise * rng.standard_normal(X.shape), y, rng)


def make_gaussians(
    n_objects: int = 300,
    n_clusters: int = 3,
    n_features: int = 2,
    *,
    separation: float = 6.0,
    spread: float = 1.0,
    random_state: Seed = None,
) -> Sample:
    """Objects from round Gaussians whose two nearest centres are a known distance apart.

    Parameters
    ----------
    n_objects : int, default=300
        Number of objects, at least one a cluster, shared out as evenly as possible.
    n_clusters : int, default=3
        Number of Gaussians.
    n_features : int, default=2
        Number of columns.
    separation : float, default=6.0
        Distance of the two nearest centres, in units of ``spread``.
    spread : float, default=1.0
        Standard deviation of each Gaussian in each column.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_objects, n_features), float64
        Positions, in random order.
    y : ndarray of shape (n_objects,), int64
        Gaussian of each object, 0 to ``n_clusters - 1``.

    Examples
    --------
    >>> X, y = make_gaussians(9, n_clusters=3, n_features=4, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((9, 4), [3, 3, 3])
    """
    owner = "make_gaussians"
    _check(owner, random_state, n_objects=(n_objects, _COUNT), n_clusters=(n_clusters, _COUNT))
    _check(owner, n_features=(n_features, _COUNT), separation=(separation, _NOISE))
    _check(owner, spread=(spread, _POSITIVE))
    _enough(owner, n_objects, n_clusters, "n_clusters")
    rng = _rng(random_state)
    y = _shared_out(n_objects, n_clusters)
    centres = spread * separation * _spaced(n_clusters, n_features, rng)
    return _shuffled(centres[y] + spread * rng.standard_normal((n_objects, n_features)), y, rng)


def _spaced(n_clusters: int, n_features: int, rng: np.random.RandomState) -> NDArray[np.float64]:
    """Random centres of which the nearest two are 1 apart; compact among several draws."""
    from scipy.spatial.distance import pdist

    if n_clusters == 1:
        return np.zeros((n_clusters, n_features))
    best, smallest = np.empty(0), np.inf
    for _ in range(20):
        centres = rng.standard_normal((n_clusters, n_features))
        centres /= pdist(centres).min()
        if np.ptp(centres, axis=0).max() < smallest:
            best, smallest = centres, np.ptp(centres, axis=0).max()
    return best


def _check(owner: str, random_state: Seed = None, **values: tuple[object, list[Rule]]) -> None:
    for name, (value, rules) in values.items():
        check_value(name, value, rules, owner=owner)
    check_value("random_state", random_state, [RandomState()], owner=owner)


def _enough(owner: str, n_objects: int, n_groups: int, name: str) -> None:
    if n_groups > n_objects:
        raise InvalidParameterError(
            f"The {name!r} parameter of {owner} must be at most n_objects={n_objects}. "
            f"Got {n_groups} instead."
        )


def _rng(random_state: Seed) -> np.random.RandomState:
    from sklearn.utils import check_random_state

    rng: np.random.RandomState = check_random_state(random_state)
    return rng


def _shared_out(n_objects: int, n_groups: int) -> NDArray[np.int64]:
    """Group of each object, groups in order and of sizes that differ by at most one."""
    return np.arange(n_objects) * n_groups // n_objects


def _shuffled(X: NDArray[np.float64], y: NDArray[np.int64], rng: np.random.RandomState) -> Sample:
    order = rng.permutation(len(y))
    return X[order], y[order]
