"""Data without dense groups that look like the data at hand: three families to draw them from.

Each takes weights, so that objects which stand out can be left out of what it is fitted to, and
each smooths over more objects than a group has: the columns' own distributions with one
dependence between them, one ellipsoid with the radii of the data, or several ellipsoids that are
about equally wide.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.mixture import GaussianMixture

__all__ = ["FAMILIES", "Draws", "on_grid", "patches_of"]

Floats = NDArray[np.float64]
Draws = Callable[[Floats, Floats, np.random.Generator, int], Floats]

# Radii and columns are smoothed over this share of the objects to either side.
_BLUR = 0.02
# Rounds of the robust scatter, directions of less than this share of the widest are none.
_ROUNDS, _FLAT = 20, 1e-9
# Numbers of patches tried, and of columns, objects and rounds they are found in.
_NUMBERS, _MOST_COLUMNS, _MOST_OBJECTS, _STEPS = (1, 2, 3, 5, 8, 12), 12, 2000, 30
# A patch narrower than this share of the middle one is a dense group, not background.
_NARROW = 0.5
# Columns with fewer different values than this share of the objects are rounded ones.
_ROUNDED = 0.25


def copula(X: Floats, weights: Floats, rng: np.random.Generator, size: int) -> Floats:
    """Columns distributed as those of X, their normal scores in one ellipsoid."""
    ranks = np.column_stack([_mid_ranks(column, weights) for column in X.T])
    normal = ndtri(ranks)
    scatter = (weights[:, None] * normal).T @ normal / weights.sum()
    drawn = _ellipsoid(normal, weights, np.zeros(X.shape[1]), scatter, rng, size)
    shares = rankdata(drawn, axis=0) / (size + 1)
    shares += _BLUR * rng.uniform(-1, 1, shares.shape) * _taper(shares)
    return np.column_stack(
        [_quantiles(column, weights, share) for column, share in zip(X.T, shares.T, strict=True)]
    )


def ellipsoid(X: Floats, weights: Floats, rng: np.random.Generator, size: int) -> Floats:
    """Directions at random in a robust scatter, radii as the data have them."""
    centre, scatter = _robust(X, weights)
    return _ellipsoid(X, weights, centre, scatter, rng, size)


def patches_of(X: Floats, seed: int) -> Draws:
    """Several ellipsoids, one for each component of a mixture that is wide enough.

    The components are found once; every draw fits their places and shapes again to the weights.
    """
    labels = _components(X, seed)

    def patches(X: Floats, weights: Floats, rng: np.random.Generator, size: int) -> Floats:
        parts = [np.flatnonzero(labels == c) for c in range(int(labels.max()) + 1)]
        moments = [_moments(X[part], weights[part]) for part in parts]
        widths = np.array([_log_width(scatter) for _, scatter in moments])
        mass = np.array([weights[part].sum() for part in parts])
        mass[widths < _middle(widths, mass) + np.log(_NARROW)] = 0.0
        counts = rng.multinomial(size, mass / mass.sum())
        drawn = [
            _ellipsoid(X[part], weights[part], *moment, rng, int(count))
            for part, moment, count in zip(parts, moments, counts, strict=True)
            if count
        ]
        # In any order: the draws are shared among two models.
        return np.asarray(rng.permutation(np.vstack(drawn)))

    return patches


FAMILIES: dict[str, Draws] = {"copula": copula, "ellipsoid": ellipsoid}


def on_grid(X: Floats, drawn: Floats) -> Floats:
    """Draws with the values of X in columns that are rounded, or constant."""
    for j, column in enumerate(X.T):
        values = np.unique(column)
        if len(values) <= max(_ROUNDED * len(X), 1):
            drawn[:, j] = values[np.searchsorted((values[1:] + values[:-1]) / 2, drawn[:, j])]
    return drawn


def _ellipsoid(
    X: Floats,
    weights: Floats,
    centre: Floats,
    scatter: Floats,
    rng: np.random.Generator,
    size: int,
) -> Floats:
    """Draws around a centre: any direction of the scatter, radii as those of X."""
    values, axes = np.linalg.eigh(scatter)
    wide = values > _FLAT * max(float(values[-1]), np.finfo(float).tiny)
    axes, deviations = axes[:, wide], np.sqrt(values[wide])
    if not wide.any():
        return np.tile(centre, (size, 1))
    radii = np.linalg.norm((X - centre) @ axes / deviations, axis=1)
    directions = rng.standard_normal((size, len(deviations)))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    shares = rng.uniform(size=size)
    shares += _BLUR * rng.uniform(-1, 1, size) * _taper(shares)
    lengths = _quantiles(radii, weights, shares)
    return np.asarray(centre + (directions * lengths[:, None] * deviations) @ axes.T)


def _moments(X: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Mean and covariance; of few objects in many columns the covariance is shrunk."""
    total = weights.sum()
    centre = weights @ X / total
    gaps = X - centre
    scatter = (weights[:, None] * gaps).T @ gaps / total
    d = X.shape[1]
    if d > 3 and len(X) > 1:
        shrink = float(ledoit_wolf_shrinkage(gaps, assume_centered=True))
        scatter = (1 - shrink) * scatter + shrink * np.trace(scatter) / d * np.eye(d)
    return centre, scatter


def _robust(X: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Centre and scatter of a t distribution with one degree of freedom: outliers weigh little."""
    centre, scatter = _moments(X, weights)
    for _ in range(_ROUNDS):
        values, axes = np.linalg.eigh(scatter)
        wide = values > _FLAT * max(float(values[-1]), np.finfo(float).tiny)
        if not wide.any():
            break
        squares = (((X - centre) @ axes[:, wide]) ** 2 / values[wide]).sum(axis=1)
        pull = weights * (wide.sum() + 1) / (1 + squares)
        centre = pull @ X / pull.sum()
        gaps = X - centre
        scatter = (pull[:, None] * gaps).T @ gaps / weights.sum()
    return centre, scatter


def _components(X: Floats, seed: int) -> NDArray[np.int64]:
    """Component of each object in the Gaussian mixture of the best criterion (BIC)."""
    spread = X.std(axis=0)
    plain = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    if not plain.shape[1]:
        return np.zeros(len(X), np.int64)
    if plain.shape[1] > _MOST_COLUMNS:
        plain = plain @ np.linalg.eigh(plain.T @ plain)[1][:, -_MOST_COLUMNS:]
    rng = np.random.default_rng(seed)
    few = plain[rng.permutation(len(plain))[:_MOST_OBJECTS]]
    found, lowest = None, np.inf
    for number in _NUMBERS:
        if len(few) < 3 * number * plain.shape[1]:
            break
        mixture = GaussianMixture(
            number, reg_covar=1e-3, max_iter=_STEPS, tol=1e-2, random_state=seed
        )
        criterion = _quietly(mixture.fit, few).bic(few)
        if criterion < lowest:
            found, lowest = mixture, criterion
        elif number > 2:
            break
    if found is None:
        return np.zeros(len(X), np.int64)
    labels = np.unique(found.predict(plain), return_inverse=True)[1]
    counts = np.bincount(labels)
    # Components of a handful of objects have no shape: theirs are those of the largest.
    labels = np.where(counts[labels] > plain.shape[1] + 1, labels, counts.argmax())
    return np.asarray(np.unique(labels, return_inverse=True)[1], np.int64)


def _quietly(call: Callable[[Any], Any], X: Any) -> Any:
    """The call, without the warning that it has not settled: it need not."""
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return call(X)


def _log_width(scatter: Floats) -> float:
    """Logarithm of the geometric mean deviation, over the directions that there are."""
    values = np.linalg.eigvalsh(scatter)
    values = values[values > _FLAT * max(float(values[-1]), np.finfo(float).tiny)]
    return float(0.5 * np.log(values).mean()) if len(values) else -np.inf


def _middle(values: Floats, weights: Floats) -> float:
    """Weighted median."""
    order = np.argsort(values)
    return float(values[order][np.searchsorted(np.cumsum(weights[order]), weights.sum() / 2)])


def _positions(values: Floats, weights: Floats) -> tuple[NDArray[np.intp], Floats]:
    """The order of the values, and the share of the weight below the middle of each."""
    order = np.argsort(values, kind="stable")
    own = weights[order]
    return order, (np.cumsum(own) - own / 2) / own.sum()


def _quantiles(values: Floats, weights: Floats, shares: Floats) -> Floats:
    order, positions = _positions(values, weights)
    return np.interp(shares, positions, values[order])


def _mid_ranks(values: Floats, weights: Floats) -> Floats:
    """Share of the weight below each value, equal ones alike; strictly between 0 and 1."""
    order, positions = _positions(values, weights)
    _, group = np.unique(values[order], return_inverse=True)
    own = weights[order]
    means = np.bincount(group, own * positions) / np.bincount(group, own)
    ranks = np.empty(len(values))
    ranks[order] = means[group]
    return np.clip(ranks, 1e-9, 1 - 1e-9)


def _taper(shares: Floats) -> Floats:
    """1 in the middle, 0 at both ends: what is blurred there would leave the range."""
    return np.minimum(1.0, np.minimum(shares, 1 - shares) / (2 * _BLUR))
