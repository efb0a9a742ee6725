"""Families of tables with groups for the second confirming part.

Written after the tables of ``confirming`` had been opened, by somebody who did not know the
rule that is judged. Here are mixtures as people draw them to try a clustering; classic
pictures of the plane are in ``second_shapes``, tables as fields of work have them in
``second_fields``. Difficulty is drawn anew for every table, between bounds of its family.

Each function makes one table of its family from a generator of random numbers and the number
of the table. It returns the numbers and the group of each object; group -1 is an object of no
group.
"""

import numpy as np
from sklearn.datasets import make_blobs

from quality_sets import second_fields, second_shapes
from quality_sets.drawing import (
    directions,
    gap,
    groups,
    log_uniform,
    scattered_centres,
    sizes,
)


def sklearn_blobs(rng, i):
    """Blobs of scikit-learn: 3 to 15 centres, 3 to 30 columns, from far apart to touching."""
    k, d = int(rng.integers(3, 16)), int(rng.integers(3, 31))
    centres = rng.uniform(-10, 10, (k, d))
    return make_blobs(
        int(rng.integers(30, 120)) * k,
        centers=centres,
        cluster_std=gap(centres) / log_uniform(rng, 3, 20),
        random_state=int(rng.integers(2**31)),
    )


def sheared_blobs(rng, i):
    """Round groups sheared, in every second table each by another matrix."""
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 9))
    y = groups(sizes(rng, rng.integers(200, 1200), k, rng.uniform(1, 5)))
    X = rng.normal(size=(len(y), d))
    shears = np.eye(d) + np.triu(rng.uniform(-1.2, 1.2, (k, d, d)), 1)
    if i % 2:
        shears[:] = shears[0]
    for g in range(k):
        X[y == g] = X[y == g] @ shears[g]
    return X + scattered_centres(rng, k, d, rng.uniform(4, 8))[y], y


def two_groups(rng, i):
    """Two round groups only, 2.5 to 5 deviations apart."""
    d = int(log_uniform(rng, 2, 21))
    y = groups(sizes(rng, log_uniform(rng, 60, 1500), 2, rng.uniform(1, 5)))
    step = rng.uniform(2.5, 5) * directions(rng, 1, d)
    return y[:, None] * step + rng.normal(size=(len(y), d)), y


def zipf_sizes(rng, i):
    """One large group and ever smaller ones, the smallest a tenth to a sixtieth of it."""
    k, d = int(rng.integers(5, 10)), int(rng.integers(3, 16))
    weights = 1 / np.arange(1, k + 1) ** rng.uniform(1.4, 1.9)
    y = groups(np.maximum(12, (rng.integers(500, 1700) * weights / weights.sum()).astype(int)))
    return scattered_centres(rng, k, d, rng.uniform(4, 7))[y] + rng.normal(size=(len(y), d)), y


def irrelevant_trend(rng, i):
    """Groups in 2 to 6 columns; one to five others follow one skewed course without groups."""
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 7))
    y = groups(sizes(rng, rng.integers(150, 1200), k, rng.uniform(1, 4)))
    X = scattered_centres(rng, k, d, rng.uniform(3.5, 7))[y] + rng.normal(size=(len(y), d))
    course = rng.gamma(2.0, 50.0, (len(y), 1))
    noise = rng.normal(scale=20.0, size=(len(y), int(rng.integers(1, 6))))
    return np.hstack([X, course + noise]), y


def latent_factors(rng, i):
    """Groups among 2 to 4 hidden factors that 10 to 40 columns load on, noise on top."""
    k, hidden, d = int(rng.integers(2, 7)), int(rng.integers(2, 5)), int(rng.integers(10, 41))
    y = groups(sizes(rng, rng.integers(150, 1200), k, rng.uniform(1, 4)))
    factors = scattered_centres(rng, k, hidden, rng.uniform(2.6, 5))[y]
    factors = factors + rng.normal(size=factors.shape)
    noise = rng.uniform(0.3, 1.2) * rng.normal(size=(len(y), d))
    return factors @ rng.normal(size=(hidden, d)) + noise, y


def calm_and_wild(rng, i):
    """Groups a little apart in some columns, and in others of one mean but another spread."""
    k, apart, alike = int(rng.integers(2, 5)), int(rng.integers(2, 5)), int(rng.integers(3, 11))
    y = groups(sizes(rng, rng.integers(200, 1200), k, rng.uniform(1, 3)))
    moved = scattered_centres(rng, k, apart, rng.uniform(2.5, 4.5))[y]
    spreads = np.geomspace(1, rng.uniform(2, 4) ** (k - 1), k)
    rest = rng.normal(size=(len(y), alike)) * rng.permutation(spreads)[y, None]
    return np.hstack([moved + rng.normal(size=moved.shape), rest]), y


def uneven_tree(rng, i):
    """Large groups far apart, some whole, others made of 2 to 4 that are the truth."""
    above, d = int(rng.integers(2, 5)), int(rng.integers(2, 11))
    below = np.append([1, rng.integers(2, 5)], rng.integers(1, 5, above - 2))
    far = scattered_centres(rng, above, d, rng.uniform(18, 40))
    apart = rng.uniform(3.2, 5.5)
    centres = np.vstack(
        [place + scattered_centres(rng, m, d, apart) for place, m in zip(far, below, strict=True)]
    )
    k = len(centres)
    y = groups(sizes(rng, rng.integers(40, 120) * k, k, rng.uniform(1, 3)))
    return centres[y] + rng.normal(size=(len(y), d)), y


def wishart_mixture(rng, i):
    """A thousand to two thousand objects, 5 to 14 groups, each of a covariance drawn freely."""
    k, d = int(rng.integers(5, 15)), int(rng.integers(3, 13))
    y = groups(sizes(rng, rng.integers(1000, 1900), k, rng.uniform(2, 8)))
    X = scattered_centres(rng, k, d, rng.uniform(3, 6))[y]
    for g in range(k):
        freedom = d + int(rng.integers(2, 11))
        root = rng.normal(size=(freedom, d)) / np.sqrt(freedom)
        X[y == g] += rng.normal(size=((y == g).sum(), freedom)) @ root
    return X, y


def specimens(rng, i):
    """Forty to a hundred objects: species measured to a tenth, large ones large throughout."""
    k, d = int(rng.integers(2, 5)), int(rng.integers(3, 9))
    y = groups(sizes(rng, rng.integers(44, 96), k, rng.uniform(1, 2.5)))
    X = scattered_centres(rng, k, d, rng.uniform(3, 6))[y] + rng.normal(size=(len(y), d))
    X += rng.uniform(0.3, 1.2) * rng.normal(size=(len(y), 1))
    return np.round(rng.uniform(3, 40, d) * np.exp(0.08 * X), 1), y


def allometry(rng, i):
    """Logarithms of measurements ruled by size, which groups share; they differ in shape."""
    k, d = int(rng.integers(2, 5)), int(rng.integers(4, 9))
    y = groups(sizes(rng, rng.integers(100, 600), k, rng.uniform(1, 3)))
    shapes = scattered_centres(rng, k, d, rng.uniform(4, 8))
    shapes -= shapes.mean(axis=1, keepdims=True)
    size = rng.uniform(1, 4) * rng.normal(size=(len(y), 1)) * rng.uniform(0.8, 1.2, d)
    return shapes[y] + size + rng.normal(size=(len(y), d)), y


FAMILIES = {
    function.__name__: function
    for function in (
        sklearn_blobs,
        sheared_blobs,
        two_groups,
        zipf_sizes,
        irrelevant_trend,
        latent_factors,
        calm_and_wild,
        uneven_tree,
        wishart_mixture,
        specimens,
        allometry,
        *second_fields.FAMILIES,
        *second_shapes.FAMILIES,
    )
}
