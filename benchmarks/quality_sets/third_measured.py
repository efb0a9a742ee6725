"""Tables of measurements, as collections of small data sets have them.

A part of the families of ``third``, and called as those are: classes of unequal covariance,
columns that hang together in blocks, skewed or coarse scales, classes of unequal size. No
number of any such set is used.
"""

import numpy as np

from quality_sets.drawing import (
    directions,
    groups,
    log_uniform,
    plane,
    scattered_centres,
    sizes,
    stretch,
)


def vintages(rng, i):
    """Three growers' wines: 13 columns, a covariance of each grower's own, a few skewed."""
    y = groups(sizes(rng, rng.integers(60, 220), 3, rng.uniform(1, 2)))
    X = scattered_centres(rng, 3, 13, rng.uniform(3.2, 5))[y]
    for g in range(3):
        common = rng.normal(size=((y == g).sum(), 3)) @ rng.normal(scale=0.5, size=(3, 13))
        X[y == g] += common + rng.uniform(0.6, 1.2, 13) * rng.normal(size=common.shape)
    skewed = rng.permutation(13)[:4]
    X[:, skewed] = np.exp(0.5 * X[:, skewed] / X[:, skewed].std(axis=0))
    return X, y


def grains(rng, i):
    """Kernels of two to four varieties: length, width, and what follows from them."""
    k = 2 + i % 3
    y = groups(sizes(rng, rng.integers(20, 80) * k, k, rng.uniform(1, 2)))
    n = len(y)
    kind = scattered_centres(rng, k, 2, rng.uniform(3, 5))[y]
    length = 5.6 * np.exp(0.035 * (kind[:, 0] + rng.normal(size=n)))
    width = 3.2 * np.exp(0.035 * (kind[:, 1] + rng.normal(size=n)))
    area = np.pi / 4 * length * width * np.exp(0.01 * rng.normal(size=n))
    around = np.pi / 2 * (length + width) * np.exp(0.006 * rng.normal(size=n))
    groove = 0.9 * length * np.exp(0.02 * rng.normal(size=n))
    crooked = rng.gamma(4.0, 1.0, n)
    columns = [length, width, area, around, 4 * np.pi * area / around**2, groove, crooked]
    return np.round(np.column_stack(columns), 3), y


def organelles(rng, i):
    """Five to eight classes of very unequal size in 5 to 8 scores between 0 and 1."""
    k, d = int(rng.integers(5, 9)), int(rng.integers(5, 9))
    y = groups(np.maximum(10, sizes(rng, rng.integers(350, 1000), k, rng.uniform(10, 25))))
    X = rng.normal(size=(len(y), d)) * rng.uniform(0.6, 1.2, (k, d))[y]
    X += scattered_centres(rng, k, d, rng.uniform(2.8, 4.5))[y]
    return np.round(1 / (1 + np.exp(-0.4 * X)), 2), y


def petals(rng, i):
    """Three kinds of flowers: one far off, two that touch; large ones large throughout."""
    n_each = int(rng.integers(20, 60))
    y = np.repeat([0, 1, 2], n_each)
    d = int(rng.integers(4, 7))
    step, turn = directions(rng, 2, d)
    near = rng.uniform(2.8, 4)
    centres = np.stack([np.zeros(d), 9 * step, 9 * step + near * turn])
    size = 0.7 * rng.normal(size=(len(y), 1)) * rng.uniform(0.5, 1, d)
    own = rng.normal(size=(len(y), d)) * (0.6, 0.9, 1.0)[i % 3]
    return np.round(rng.uniform(2, 6, d) + 0.4 * (centres[y] + size + own), 1), y


def oxides(rng, i):
    """Kinds of glass: shares of oxides, of which some kinds have none of some."""
    k, d = int(rng.integers(3, 6)), int(rng.integers(6, 10))
    y = groups(sizes(rng, rng.integers(120, 600), k, rng.uniform(1.5, 6)))
    level = rng.normal(0, 1.2, d) + scattered_centres(rng, k, d, rng.uniform(0.9, 1.6))
    parts = np.exp(level[y] + rng.uniform(0.25, 0.4) * rng.normal(size=(len(y), d)))
    lacks = rng.uniform(size=(k, d)) < 0.15
    parts = np.where(lacks[y] & (rng.uniform(size=parts.shape) < 0.9), 0, parts)
    return np.round(100 * parts / (parts.sum(axis=1, keepdims=True) + 4), 2), y


def instrument_blocks(rng, i):
    """Blocks of three to six columns that measure nearly the same; groups differ in all but one."""
    k, blocks, width = int(rng.integers(2, 6)), int(rng.integers(3, 7)), int(rng.integers(3, 7))
    y = groups(sizes(rng, rng.integers(150, 1200), k, rng.uniform(1, 4)))
    true = scattered_centres(rng, k, blocks, rng.uniform(3, 5))[y]
    true = true + rng.normal(size=true.shape)
    alike = rng.normal(size=(len(y), 1))
    seen = np.repeat(np.hstack([true, alike]), width, axis=1)
    seen = seen + rng.uniform(0.2, 0.7) * rng.normal(size=seen.shape)
    return seen * np.exp(rng.normal(size=seen.shape[1])), y


def long_tailed_assays(rng, i):
    """Concentrations: normal groups in logarithms, seen without them, or by their roots."""
    k, d = int(rng.integers(2, 5)), int(rng.integers(3, 13))
    y = groups(sizes(rng, rng.integers(120, 1000), k, rng.uniform(1, 5)))
    X = scattered_centres(rng, k, d, rng.uniform(3, 5))[y] + rng.normal(size=(len(y), d)) @ stretch(
        rng, d, 2
    )
    X = np.exp(rng.uniform(0.25, 0.4) * X)
    return rng.uniform(1, 100, d) * (np.sqrt(X) if i % 3 == 2 else X), y


def banknotes(rng, i):
    """Two kinds of notes, real and false: six measurements to a tenth that hang together."""
    y = groups(sizes(rng, rng.integers(60, 220), 2, rng.uniform(1, 1.5)))
    moved = rng.uniform(0.5, 2, 6) * rng.choice([-1, 1], 6) * (rng.uniform(size=6) < 0.75)
    moved[0], moved[5] = 0.3, rng.uniform(2.4, 4)
    X = rng.normal(size=(len(y), 6)) @ stretch(rng, 6, 2.5) + y[:, None] * moved
    return np.round(rng.uniform(10, 200, 6) + 0.4 * X, 1), y


def geysers(rng, i):
    """Two variables, two or three groups along their common trend, from short to long."""
    k = (2, 2, 3)[i % 3]
    y = groups(sizes(rng, rng.integers(100, 600), k, rng.uniform(1, 3)))
    along = rng.uniform(3.4, 5) * y + rng.normal(size=len(y)) * rng.uniform(0.6, 1.1, k)[y]
    late = 0.9 * along + rng.uniform(1.0, 1.6) * rng.normal(size=len(y))
    return np.column_stack([np.round(1 + 0.4 * along, 2), np.round(50 + 5 * late)]), y


def sexed_species(rng, i):
    """Two to four species whose males and females differ, less than the species do."""
    k, d = 2 + i % 3, int(rng.integers(4, 9))
    y = groups(sizes(rng, rng.integers(60, 150) * k, k, rng.uniform(1, 2)))
    male = rng.integers(0, 2, (len(y), 1)) - 0.5
    X = scattered_centres(rng, k, d, rng.uniform(4, 6))[y] + rng.normal(size=(len(y), d))
    X += rng.uniform(1.2, 2.2) * male * np.abs(directions(rng, 1, d))
    return np.round(rng.uniform(15, 200, d) * (1 + 0.05 * X), 1), y


def coarse_measurements(rng, i):
    """Groups measured in whole steps only, 6 to 15 steps in each column."""
    k, d = int(rng.integers(2, 7)), int(rng.integers(3, 13))
    y = groups(sizes(rng, rng.integers(150, 1500), k, rng.uniform(1, 4)))
    X = scattered_centres(rng, k, d, rng.uniform(3, 5.5))[y] + rng.normal(size=(len(y), d))
    X -= X.min(axis=0)
    return np.round(rng.integers(6, 16, d) * X / X.max(axis=0)), y


def hormones(rng, i):
    """A dense group of the healthy, and two or three wide ones of the ill on other sides."""
    ill, d = 2 + i % 2, int(rng.integers(3, 7))
    few = rng.integers(25, 70, ill)
    y = groups([int(log_uniform(rng, 120, 500)), *few])
    sides = max((directions(rng, ill, d) for _ in range(100)), key=_least_cosine)
    centres = np.vstack([np.zeros((1, d)), rng.uniform(4.5, 7) * sides])
    X = rng.normal(size=(len(y), d))
    X[y > 0] *= rng.uniform(1.4, 2.2)
    X += centres[y]
    return np.round(rng.uniform(5, 120, d) * np.exp(0.06 * X), 1), y


def machine_dials(rng, i):
    """States of a machine on a round dial and in its loads: an angle as two columns, and more."""
    k, d = int(rng.integers(3, 8)), int(rng.integers(1, 5))
    y = groups(sizes(rng, rng.integers(200, 1500), k, rng.uniform(1, 3)))
    angles = 2 * np.pi * (np.arange(k) + rng.uniform(-0.15, 0.15, k)) / k
    angle = angles[y] + rng.normal(size=len(y)) * 2 * np.pi / k / rng.uniform(3.8, 6.5)
    loads = rng.normal(size=(k, d))[y] + 0.6 * rng.normal(size=(len(y), d))
    return np.column_stack([plane(1 + 0.08 * rng.normal(size=len(y)), angle), loads]), y


def _least_cosine(vectors):
    return -(vectors @ vectors.T - 2 * np.eye(len(vectors))).max()


FAMILIES = (
    vintages,
    grains,
    organelles,
    petals,
    oxides,
    instrument_blocks,
    long_tailed_assays,
    banknotes,
    geysers,
    sexed_species,
    coarse_measurements,
    hormones,
    machine_dials,
)
