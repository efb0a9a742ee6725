"""Few dense groups in a majority of noise: the generated data of the minority-clustering paper."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Interval, NoneValue, RandomState, Rule, check_value
from consilience.errors import InvalidParameterError

__all__ = ["MinoritySources", "make_minority", "make_toy_minority", "minority_sources"]

Floats = NDArray[np.float64]
Sample = tuple[Floats, NDArray[np.int64]]
Seed = int | np.random.RandomState | None

# Half the side of the box, the least distance of two centres, and how centres and objects
# scatter; in the box of the paper's Table 1.
_HALF, _APART, _CENTRES, _OBJECTS = 2.0, 0.75, 0.75, 0.125
_TRIES = 50
_MOST_RESTARTS = 1000
_POSITIVE: list[Rule] = [Interval(Real, 0, open_low=True)]


@dataclass(frozen=True)
class MinoritySources:
    """What a set of `make_minority` is drawn from: noise in a box, and Gaussian sources in it.

    Attributes
    ----------
    n_background : int
        Objects of the noise, uniform in [-2, 2] in every column.
    sizes : ndarray of shape (n_sources,)
        Objects of each source.
    centres : ndarray of shape (n_sources, n_features)
    axes : ndarray of shape (n_sources, n_features, n_features)
        An object of source s is ``centres[s] + axes[s] @ z``, z standard normal.
    spread : float
        Scale of the axes.
    """

    n_background: int
    sizes: NDArray[np.int64]
    centres: Floats
    axes: Floats
    spread: float = 1.0

    def sample(self, random_state: Seed = None) -> Sample:
        """Other objects of the same sources, in random order.

        Returns
        -------
        X : ndarray of shape (n_objects, n_features)
            Tails of a source may leave the box, and sources may overlap.
        y : ndarray of shape (n_objects,), int64
            0 for noise, 1, 2, ... for the sources.
        """
        rng = _rng(random_state, "sample")
        d = self.centres.shape[1]
        parts = [rng.uniform(-_HALF, _HALF, (self.n_background, d))]
        for size, centre, axes in zip(self.sizes, self.centres, self.axes, strict=True):
            parts.append(centre + rng.standard_normal((size, d)) @ axes.T)
        counts = np.r_[self.n_background, self.sizes]
        y = np.repeat(np.arange(len(counts)), counts)
        order = rng.permutation(len(y))
        return np.concatenate(parts)[order], y[order]

    def redrawn(self, random_state: Seed = None) -> "MinoritySources":
        """Sources of the same sizes with other centres and shapes."""
        rng = _rng(random_state, "redrawn")
        d = self.centres.shape[1]
        for _ in range(_MOST_RESTARTS):
            centres = _draw_centres(len(self.sizes), d, rng)
            if centres is not None:
                axes = _many_axes(len(self.sizes), d, self.spread, rng)
                return MinoritySources(self.n_background, self.sizes, centres, axes, self.spread)
        raise _no_room(len(self.sizes), d)


def make_minority(
    n_features: int = 2,
    *,
    background: float = 1.0,
    foreground: float = 1.0,
    spread: float = 1.0,
    n_sources: int | None = None,
    random_state: Seed = None,
) -> Sample:
    """Three to seven Gaussian groups of about 800 objects in all, in about 5400 of noise.

    The SYNTH family of the paper; it used every combination of the scales 1 and 2 in 2, 3, 5
    and 8 dimensions.

    Parameters
    ----------
    n_features : int, default=2
        Number of columns.
    background, foreground : float, default=1.0
        Scale of the number of noise objects and of foreground objects.
    spread : float, default=1.0
        Scale of the sources' standard deviations, which are between 0.0625 and 0.125 along
        random axes.
    n_sources : int or None, default=None
        Number of sources; None draws 3 to 7.
    random_state : int, RandomState or None, default=None
        Seed of sources and sample.

    Returns
    -------
    X : ndarray of shape (n_objects, n_features), float64
        Objects in random order; noise fills [-2, 2], sources may reach a little out of it.
    y : ndarray of shape (n_objects,), int64
        0 for noise, 1, 2, ... for the sources.

    See Also
    --------
    minority_sources : The sources alone, to sample them several times.

    Notes
    -----
    The published table gives the ranges; that "variance" means the scale of standard deviations
    along random, not orthogonal axes is the only reading that agrees with the published row
    of convex hulls, which depends on the data alone.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 6.1, Table 1.

    Examples
    --------
    >>> X, y = make_minority(3, random_state=0)
    >>> X.shape[1], bool(0.05 < (y > 0).mean() < 0.3)
    (3, True)
    """
    rng = _rng(random_state, "make_minority")
    sources = minority_sources(
        n_features,
        background=background,
        foreground=foreground,
        spread=spread,
        n_sources=n_sources,
        random_state=rng,
    )
    return sources.sample(rng)


def minority_sources(
    n_features: int = 2,
    *,
    background: float = 1.0,
    foreground: float = 1.0,
    spread: float = 1.0,
    n_sources: int | None = None,
    random_state: Seed = None,
) -> MinoritySources:
    """Sources of a set of `make_minority`, to be sampled as often as wanted.

    Parameters
    ----------
    n_features, background, foreground, spread, n_sources, random_state
        See `make_minority`.

    Returns
    -------
    MinoritySources

    Examples
    --------
    >>> sources = minority_sources(2, n_sources=3, random_state=0)
    >>> first, _ = sources.sample(1)
    >>> second, _ = sources.sample(2)
    >>> first.shape == second.shape, bool((first == second).any())
    (True, False)
    """
    owner = "make_minority"
    check_value("n_features", n_features, [Interval(Integral, 1)], owner=owner)
    check_value("n_sources", n_sources, [Interval(Integral, 1), NoneValue()], owner=owner)
    for name, value in (("background", background), ("foreground", foreground), ("spread", spread)):
        check_value(name, value, _POSITIVE, owner=owner)
    rng = _rng(random_state, owner)
    for _ in range(_MOST_RESTARTS):
        g = int(rng.randint(3, 8)) if n_sources is None else int(n_sources)
        n_background = _draw_background(background, rng)
        sizes = _draw_sizes(g, n_features, foreground, rng)
        centres = _draw_centres(g, n_features, rng)
        if centres is not None:
            axes = _many_axes(g, n_features, spread, rng)
            return MinoritySources(n_background, sizes, centres, axes, float(spread))
    raise _no_room(n_sources or 7, n_features)


def make_toy_minority(scale: float = 1.0, *, random_state: Seed = None) -> Sample:
    """Five groups of several shapes and densities in uniform noise, two-dimensional.

    Parameters
    ----------
    scale : float, default=1.0
        Scale of all numbers of objects: 2000 of noise in [-5, 5], 200 in a Gaussian, in a half
        moon and in a triangle, 100 each in a dense and in a less dense Gaussian.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_objects, 2), float64
        Objects in random order.
    y : ndarray of shape (n_objects,), int64
        0 for noise; 1 Gaussian, 2 half moon, 3 triangle, 4 dense Gaussian at (1, 1),
        5 Gaussian at (3, 3).

    References
    ----------
    After Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 6.3 and
    its figure, which states shapes but no numbers.

    Examples
    --------
    >>> X, y = make_toy_minority(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((2800, 2), [2000, 200, 200, 200, 100, 100])
    """
    check_value("scale", scale, _POSITIVE, owner="make_toy_minority")
    rng = _rng(random_state, "make_toy_minority")
    counts = [max(1, round(scale * count)) for count in (2000, 200, 200, 200, 100, 100)]
    centres = np.array([[0, 0], [-2.5, 2.5], [-2.5, -2.5], [2.5, -2.5], [1, 1], [3, 3]])
    parts = [
        rng.uniform(-5, 5, (counts[0], 2)),
        0.5 * rng.standard_normal((counts[1], 2)),
        _half_moon(counts[2], rng),
        _triangle(counts[3], 2.0, rng),
        0.1 * rng.standard_normal((counts[4], 2)),
        0.3 * rng.standard_normal((counts[5], 2)),
    ]
    y = np.repeat(np.arange(len(counts)), counts)
    order = rng.permutation(len(y))
    return (np.concatenate(parts) + centres[y])[order], y[order]


def _half_moon(count: int, rng: np.random.RandomState) -> Floats:
    angle = rng.uniform(-1, 1, count)
    radius = 1 + 0.05 * rng.standard_normal(count)
    return 2 * np.column_stack([1 - radius * np.cos(angle), radius * np.sin(angle)])


def _triangle(count: int, side: float, rng: np.random.RandomState) -> Floats:
    """Uniform in an equilateral triangle around the origin."""
    turn = 2 * np.pi * np.arange(3) / 3 + np.pi / 2
    corners = side / np.sqrt(3) * np.column_stack([np.cos(turn), np.sin(turn)])
    # Shares of three exponentials are uniform among all shares.
    shares = rng.standard_exponential((count, 3))
    return (shares / shares.sum(axis=1, keepdims=True)) @ corners


def _axes(d: int, scale: float, rng: np.random.RandomState) -> Floats:
    """Random directions, not orthogonal, with standard deviations of scale / 2 to scale."""
    directions = rng.uniform(-0.5, 0.5, (d, d))
    directions /= np.linalg.norm(directions, axis=0)
    return np.asarray(directions * (scale * (1 + rng.uniform(size=d)) / 2))


def _many_axes(g: int, d: int, spread: float, rng: np.random.RandomState) -> Floats:
    return np.stack([_axes(d, _OBJECTS * spread, rng) for _ in range(g)])


def _draw_background(scale: float, rng: np.random.RandomState) -> int:
    """Number of noise objects, drawn until it reaches the published limit."""
    # The published limits belong to the published scales.
    while True:
        count = scale * (5400 + 600 * float(rng.standard_normal()))
        if count >= 1000 * min(scale, 1):  # before it is rounded, for to 0 it may be
            return max(1, round(count))


def _draw_sizes(g: int, d: int, scale: float, rng: np.random.RandomState) -> NDArray[np.int64]:
    """Objects of g sources, all drawn again until each passes the limit.

    The number of sources stays: drawn again with the sizes, it would prefer few sources.
    """
    for _ in range(_MOST_RESTARTS):
        sizes = np.rint(scale * (800 / g + 50 * rng.standard_normal(g))).astype(np.int64)
        if sizes.min() > 50 * min(scale, 1):
            return sizes
    raise _no_room(g, d)


def _draw_centres(g: int, d: int, rng: np.random.RandomState) -> Floats | None:
    """Centres in the box and apart from each other; None where one found no place."""
    centres: list[Floats] = []
    failures = 0
    while len(centres) < g:
        centre = _axes(d, _CENTRES, rng) @ rng.standard_normal(d)
        inside = bool((np.abs(centre) <= _HALF).all())
        if inside and all(np.linalg.norm(centre - other) >= _APART for other in centres):
            centres.append(centre)
            failures = 0
        else:
            failures += 1
            if failures == _TRIES:
                return None
    return np.array(centres)


def _no_room(g: int, d: int) -> InvalidParameterError:
    return InvalidParameterError(
        f"No place was found for {g} sources in {d} dimensions. Ask for fewer sources, a larger "
        "foreground, or more features."
    )


def _rng(random_state: Any, owner: str) -> np.random.RandomState:
    from sklearn.utils import check_random_state

    check_value("random_state", random_state, [RandomState()], owner=owner)
    rng: np.random.RandomState = check_random_state(random_state)
    return rng
