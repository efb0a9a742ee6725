"""Backgrounds for benchmarks/minority_sets.py written on the third occasion.

Two lists. *Peaks* are kinds with one dense place, or of odd shape, that were developed on. The
others were written down, and committed, before the recipe that they confirm was begun.
"""

import numpy as np


def _turned(rng, x):
    """The columns in directions at random."""
    turn, _ = np.linalg.qr(rng.normal(size=(x.shape[1], x.shape[1])))
    return x @ turn


# ---- developed on -------------------------------------------------------------------------


def two_scales(rng, n, d):
    """One centre, half of the objects four times as wide."""
    return rng.normal(size=(n, d)) * np.where(rng.uniform(size=(n, 1)) < 0.5, 4.0, 1.0)


def corner(rng, n, d):
    """Half-normal: densest in a corner."""
    return np.abs(rng.normal(size=(n, d)))


def products(rng, n, d):
    """Each column a product of two exponential ones."""
    return rng.exponential(size=(n, d)) * rng.exponential(size=(n, d))


def with_constants(rng, n, d):
    """Correlated columns, a third of them one value."""
    x = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    x[:, : d // 3] = 1.0
    return x


def annulus(rng, n, d):
    """Evenly between two spheres."""
    x = rng.normal(size=(n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x * rng.uniform(0.5**d, 1, (n, 1)) ** (1 / d)


def low_rank(rng, n, d):
    """Two uniform causes of all columns, and a little noise."""
    return rng.uniform(-1, 1, (n, 2)) @ rng.normal(size=(2, d)) + 0.1 * rng.normal(size=(n, d))


def whole_numbers(rng, n, d):
    """Skewed numbers of events."""
    return 1.0 * rng.negative_binomial(2, 0.3, (n, d))


# ---- confirming ---------------------------------------------------------------------------


def triangular(rng, n, d):
    """Columns densest at a third of their range, linearly less on."""
    return rng.triangular(0, 1, 3, (n, d))


def logistic(rng, n, d):
    return _turned(rng, rng.logistic(size=(n, d)) * np.linspace(1, 3, d))


def funnel(rng, n, d):
    """The first column is the logarithm of the width of the others."""
    x = rng.normal(size=(n, d))
    x[:, 1:] *= np.exp(0.5 * x[:, :1])
    return x


def roll(rng, n, d):
    """A strip rolled up in two columns, evenly along itself; even in the others."""
    turn = np.sqrt(rng.uniform(1, 9, n)) * np.pi / 1.5
    x = rng.uniform(-3, 3, (n, d))
    x[:, 0], x[:, 1] = turn * np.cos(turn), turn * np.sin(turn)
    return x + 0.3 * rng.normal(size=(n, d))


def weibull(rng, n, d):
    return rng.weibull(1.3, (n, d)) * np.linspace(1, 2, d)


def cross(rng, n, d):
    """Half of the objects flat in the even columns, the others flat in the odd ones."""
    flat = np.where(rng.uniform(size=(n, 1)) < 0.5, np.arange(d) % 2, 1 - np.arange(d) % 2)
    return rng.normal(size=(n, d)) * np.where(flat, 0.4, 1.5)


def one_sided(rng, n, d):
    """Correlated columns with a longer tail on one side each."""
    common = rng.normal(size=(n, 1))
    return 2 * np.abs(rng.normal(size=(n, d))) + rng.normal(size=(n, d)) + 0.8 * common


def chain(rng, n, d):
    """Laplace steps, each column half of the one before."""
    x = rng.laplace(size=(n, d))
    for j in range(1, d):
        x[:, j] += 0.6 * x[:, j - 1]
    return x


def shared_tail(rng, n, d):
    """Gamma columns whose large values come together."""
    return rng.gamma(2.5, size=(n, d)) * rng.gamma(4.0, size=(n, 1)) / 4


def slope(rng, n, d):
    """A box with three times as many objects at one side as at the other, in every column."""
    x = rng.uniform(size=(n, d))
    return (np.sqrt(1 + 8 * x) - 1) / 2


def peaked(rng, n, d):
    """Round, with a length as often short as long: densest in the middle."""
    x = rng.normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * rng.uniform(size=(n, 1)) ** 0.7


def dice(rng, n, d):
    """Answers of one to five, skewed otherwise in each column."""
    lean = rng.uniform(0.25, 0.75, d)
    return 1.0 + rng.binomial(4, np.clip(lean + 0.12 * rng.normal(size=(n, 1)), 0.02, 0.98))
