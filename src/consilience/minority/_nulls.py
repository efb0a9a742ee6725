"""Data without dense groups that look like the data at hand: four families to draw them from.

Each takes weights, so that objects which stand out can be left out of what it is fitted to, and
each smooths over more objects than a group has: a box that is filled evenly, the columns' own
distributions with one dependence between them, one ellipsoid with the radii of the data, or
several patches that are about equally wide.
"""

import warnings
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri
from scipy.stats import rankdata
from sklearn import config_context
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.utils.extmath import randomized_svd

__all__ = ["SIMPLE", "Draws", "box", "on_grid", "patches_of"]

Floats = NDArray[np.float64]
Draws = Callable[[Floats, Floats, np.random.Generator, int], Floats]

# The ends of a box are found from the quantiles this far from them: groups may reach out of it.
_EDGE = 0.02
# Radii and columns are smoothed over this share of the objects to either side.
_BLUR = 0.02
# Rounds of the robust scatter; directions of less than this share of the widest are none.
_ROUNDS, _FLAT = 20, 1e-9
# Columns up to which axes are computed; from here on they would take the time of all the rest.
_FEW_COLUMNS = 60
# Patches, and the columns, objects and rounds they are found in; a patch has at least so many
# objects, and so many a column. More patches follow bent data better, but hold the groups as well.
_PATCHES, _MOST_COLUMNS, _MOST_OBJECTS, _STEPS, _A_PATCH, _A_COLUMN = 8, 12, 2000, 30, 40, 3
# A patch is a dense group, not background, if it holds less than the last share of the objects
# and is narrower than a share of the middle one: the first in up to three columns, the second
# from ten on, where a little narrower is much denser.
_NARROW, _MINORITY = (0.6, 0.8), 0.2
# Columns with at most this share of the objects as different values are rounded ones.
_ROUNDED = 0.25


def box(X: Floats, weights: Floats, rng: np.random.Generator, size: int) -> Floats:
    """Evenly spread in a box: of all references the one that groups can distort least."""
    shares = np.array([_EDGE, 1 - _EDGE])
    low, high = np.array([_quantiles(column, weights, shares) for column in X.T]).T
    width = (high - low) / (1 - 2 * _EDGE)
    return np.asarray(low - _EDGE * width + width * rng.uniform(size=(size, X.shape[1])))


def copula(X: Floats, weights: Floats, rng: np.random.Generator, size: int) -> Floats:
    """Columns distributed as those of X, their normal scores in one ellipsoid."""
    ranks = np.column_stack([_mid_ranks(column, weights) for column in X.T])
    normal = ndtri(ranks)
    drawn = _spread(normal, weights, rng, size, normal)
    shares = rankdata(drawn, axis=0) / (size + 1)
    shares += _BLUR * rng.uniform(-1, 1, shares.shape) * _taper(shares)
    return np.column_stack(
        [_quantiles(column, weights, share) for column, share in zip(X.T, shares.T, strict=True)]
    )


def ellipsoid(X: Floats, weights: Floats, rng: np.random.Generator, size: int) -> Floats:
    """Directions at random in a robust scatter, radii as the data have them."""
    centre, pull = _robust(X, weights)
    gaps = X - centre
    # Pulled in, outliers have little to say about the scatter; the radii are those of all.
    pulled = gaps * np.sqrt(pull / weights)[:, None]
    return np.asarray(centre + _spread(pulled, weights, rng, size, gaps))


SIMPLE: dict[str, Draws] = {"copula": copula, "ellipsoid": ellipsoid}


def patches_of(X: Floats, seed: int) -> Draws:
    """Several normal patches, one for each component of a mixture that is wide enough.

    The components are found once; every draw fits their places and shapes again to the weights.
    """
    labels = _components(X, seed)
    parts = [np.flatnonzero(labels == c) for c in range(int(labels.max()) + 1)]

    def patches(X: Floats, weights: Floats, rng: np.random.Generator, size: int) -> Floats:
        own = [weights[part] for part in parts]
        mass = np.array([one.sum() for one in own])
        most = _MINORITY * mass.sum()
        centres = [one @ X[part] / one.sum() for part, one in zip(parts, own, strict=True)]
        gaps = [X[part] - centre for part, centre in zip(parts, centres, strict=True)]
        widths = np.array([_log_width(*pair) for pair in zip(gaps, own, strict=True)])
        narrow = np.interp(X.shape[1], (3, 10), _NARROW)
        mass[(widths < _middle(widths, mass) + np.log(narrow)) & (mass < most)] = 0.0
        counts = rng.multinomial(size, mass / mass.sum())
        # Normal, whatever the radii: a group in the middle of a patch would come back with them.
        drawn = [
            centre + _spread(gap, one, rng, int(count))
            for centre, gap, one, count in zip(centres, gaps, own, counts, strict=True)
        ]
        # In any order: the draws are shared among two models.
        return np.asarray(rng.permutation(np.vstack(drawn)))

    return patches


def on_grid(X: Floats, drawn: Floats) -> Floats:
    """Draws with the values of X in columns that are rounded, or constant."""
    for j, column in enumerate(X.T):
        values = np.unique(column)
        if len(values) <= max(_ROUNDED * len(X), 1):
            drawn[:, j] = values[np.searchsorted((values[1:] + values[:-1]) / 2, drawn[:, j])]
    return drawn


def _spread(
    gaps: Floats,
    weights: Floats,
    rng: np.random.Generator,
    size: int,
    like: Floats | None = None,
) -> Floats:
    """Draws around 0 with the scatter of ``gaps``, normal or with the radii of ``like``."""
    deviations = np.sqrt(weights @ gaps**2 / weights.sum())
    shrink = _shrinkage(gaps, deviations)
    if gaps.shape[1] <= _FEW_COLUMNS:
        scatter = (1 - shrink) * (weights[:, None] * gaps).T @ gaps / weights.sum()
        values, axes = np.linalg.eigh(scatter + shrink * np.diag(deviations**2))
        wide = values > _FLAT * max(float(values[-1]), np.finfo(float).tiny)
        plain = axes[:, wide] / np.sqrt(values[wide])
        normal = rng.standard_normal((size, int(wide.sum())))
        drawn = normal * np.sqrt(values[wide]) @ axes[:, wide].T
    else:
        # A sum of all gaps with normal coefficients has their scatter, and needs no axes.
        normal = rng.standard_normal((size, len(gaps))) * np.sqrt(weights / weights.sum())
        rest = rng.standard_normal((size, len(deviations))) * deviations
        drawn = np.sqrt(1 - shrink) * (normal @ gaps) + np.sqrt(shrink) * rest
        plain = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
    if like is None or not plain.any():
        return np.asarray(drawn)
    radii = _lengths(like, plain)
    shares = rng.uniform(size=size)
    shares += _BLUR * rng.uniform(-1, 1, size) * _taper(shares)
    wanted = _quantiles(radii, weights, shares)
    return np.asarray(drawn * (wanted / np.maximum(_lengths(drawn, plain), 1e-300))[:, None])


def _lengths(gaps: Floats, plain: Floats) -> Floats:
    """Lengths in units of the axes, or of the columns."""
    scaled = gaps @ plain if plain.ndim == 2 else gaps * plain
    return np.asarray(np.linalg.norm(scaled, axis=1))


def _shrinkage(gaps: Floats, deviations: Floats) -> float:
    """How far a scatter goes to its diagonal, farther the fewer objects a column has.

    In many columns that of the sample has wider and narrower directions than what it is drawn
    from, and its draws lie otherwise among the objects than these do.
    """
    varies = deviations > 0
    if varies.sum() < 4 or len(gaps) < 2:
        return 0.0
    plain = gaps[:, varies] / deviations[varies]
    return float(ledoit_wolf_shrinkage(plain, assume_centered=True))


def _robust(X: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Centre, and weight in the scatter, of a t distribution with one degree of freedom."""
    pull = weights
    centre = pull @ X / pull.sum()
    d = X.shape[1]
    for _ in range(_ROUNDS):
        gaps = X - centre
        if d <= _FEW_COLUMNS:
            values, axes = np.linalg.eigh((pull[:, None] * gaps).T @ gaps / weights.sum())
            wide = values > _FLAT * max(float(values[-1]), np.finfo(float).tiny)
            squares = ((gaps @ axes[:, wide]) ** 2 / values[wide]).sum(axis=1)
        else:
            variances = pull @ gaps**2 / weights.sum()
            wide = variances > 0
            squares = (gaps[:, wide] ** 2 / variances[wide]).sum(axis=1)
        pull = weights * (wide.sum() + 1) / (1 + squares)
        centre = pull @ X / pull.sum()
    return centre, pull


def _components(X: Floats, seed: int) -> NDArray[np.int64]:
    """Component of each object in a Gaussian mixture."""
    spread = X.std(axis=0)
    plain = (X - X.mean(axis=0))[:, spread > 0] / spread[spread > 0]
    if not plain.shape[1]:
        return np.zeros(len(X), np.int64)
    if plain.shape[1] > _MOST_COLUMNS:
        plain = plain @ randomized_svd(plain, _MOST_COLUMNS, random_state=seed)[2].T
    few = plain[np.random.default_rng(seed).permutation(len(plain))[:_MOST_OBJECTS]]
    number = max(1, min(_PATCHES, len(few) // max(_A_PATCH, _A_COLUMN * plain.shape[1])))
    mixture = _mixture(few, number, seed)
    labels = np.unique(mixture.predict(plain), return_inverse=True)[1]
    counts = np.bincount(labels)
    # Components of a handful of objects have no shape: they go to the largest.
    labels = np.where(counts[labels] > plain.shape[1] + 1, labels, counts.argmax())
    return np.asarray(np.unique(labels, return_inverse=True)[1], np.int64)


def _mixture(X: Floats, number: int, seed: int) -> GaussianMixture:
    """A mixture that need not have settled."""
    mixture = GaussianMixture(number, reg_covar=1e-3, max_iter=_STEPS, tol=1e-2, random_state=seed)
    # Its start does not know other arrays, and these are of NumPy.
    with warnings.catch_warnings(), config_context(array_api_dispatch=False):
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(X)


def _log_width(gaps: Floats, weights: Floats) -> float:
    """Logarithm of the mean deviation, geometric over the directions that there are."""
    if gaps.shape[1] <= _FEW_COLUMNS:
        values = np.linalg.eigvalsh((weights[:, None] * gaps).T @ gaps / weights.sum())
    else:
        values = np.sort(weights @ gaps**2 / weights.sum())
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
