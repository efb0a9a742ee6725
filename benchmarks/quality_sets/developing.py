"""Families of tables with groups, for developing.

Each function makes one table of its family from a generator of random numbers and the number
of the table, by which the levels (groups, columns, overlap) take turns. It returns the
numbers and the group of each object; group -1 is an object of no group.
"""

import numpy as np

from quality_sets.drawing import (
    coin,
    embedded,
    even_centres,
    groups,
    plane,
    rotation,
    sizes,
    stretch,
)


def gauss_equal(rng, i):
    """Round Gaussian groups of one size; nearest centres 2.8, 3.6 or 5 deviations apart."""
    k, d = (2, 3, 4, 5, 6, 7, 8, 3)[i % 8], int(rng.choice([2, 3, 5, 10]))
    y = groups(sizes(rng, k * rng.integers(40, 120), k))
    X = even_centres(rng, k, d, (2.8, 3.6, 5.0)[i % 3])[y] + rng.normal(size=(len(y), d))
    return X, y


def gauss_unequal(rng, i):
    """Gaussian groups of sizes 1:20, each with a covariance of its own."""
    k, d = (2, 3, 4, 5, 6, 8, 10, 3)[i % 8], int(rng.choice([2, 4, 8]))
    y = groups(sizes(rng, rng.integers(400, 1200), k, 20))
    X = even_centres(rng, k, d, (4.0, 5.0, 6.5)[i % 3])[y]
    for g in range(k):
        X[y == g] += rng.normal(size=((y == g).sum(), d)) @ stretch(rng, d, 6)
    return X, y


def gauss_many(rng, i):
    """Many Gaussian groups: 12 to 30."""
    k, d = (12, 15, 18, 20, 22, 25, 28, 30)[i % 8], int(rng.choice([2, 3, 6, 10]))
    y = groups(sizes(rng, 40 * k, k, 3))
    X = even_centres(rng, k, d, (3.2, 4.2, 5.5)[i % 3])[y] + rng.normal(size=(len(y), d))
    return X, y


def gauss_wide(rng, i):
    """Gaussian groups in 20 to 50 columns, their centres apart in all of them."""
    k, d = (2, 3, 4, 5, 6, 8)[i % 6], int(rng.integers(20, 51))
    y = groups(sizes(rng, rng.integers(150, 900), k, 4))
    X = even_centres(rng, k, d, (2.5, 3.5, 5.0)[i % 3])[y] + rng.normal(size=(len(y), d))
    return X, y


def student(rng, i):
    """Heavy-tailed groups: multivariate t with 2.5 to 5 degrees of freedom."""
    k, d, df = (2, 3, 4, 5, 6, 8)[i % 6], int(rng.choice([2, 3, 6])), (2.5, 3, 4, 5)[i % 4]
    y = groups(sizes(rng, rng.integers(200, 900), k, 3))
    tails = np.sqrt(df / rng.chisquare(df, (len(y), 1)))
    X = even_centres(rng, k, d, (4.0, 5.0, 7.0)[i % 3])[y] + rng.normal(size=(len(y), d)) * tails
    return X, y


def lognormal(rng, i):
    """Skewed groups: shifted log-normal columns, long towards either side by group."""
    k, d, s = (2, 3, 4, 5, 6)[i % 5], int(rng.choice([2, 3, 5, 8])), (0.5, 0.8, 1.0)[i % 3]
    y = groups(sizes(rng, rng.integers(200, 900), k, 3))
    sides = rng.choice([-1, 1], (k, d))
    skewed = (np.exp(s * rng.normal(size=(len(y), d))) - 1) / s
    return even_centres(rng, k, d, (2.6, 3.6, 5.0)[(i // 2) % 3])[y] + sides[y] * skewed, y


def boxes(rng, i):
    """Uniform boxes with sides of 1:4, turned in every second table."""
    k, d = (2, 3, 4, 5, 7, 9)[i % 6], int(rng.choice([2, 3, 5]))
    y = groups(sizes(rng, rng.integers(200, 1000), k, 5))
    X = even_centres(rng, k, d, (1.8, 2.4, 3.2)[i % 3])[y]
    for g in range(k):
        turn = rotation(rng, d) if i % 2 else np.eye(d)
        inside = rng.uniform(-1, 1, ((y == g).sum(), d)) * rng.uniform(0.35, 1.4, d)
        X[y == g] += inside @ turn
    return X, y


def noise_columns(rng, i):
    """Groups in 2 to 10 columns among up to 50 that hold independent noise."""
    k, relevant = (2, 3, 4, 5, 6)[i % 5], int(rng.choice([2, 4, 6, 10]))
    y = groups(sizes(rng, rng.integers(200, 800), k, 2))
    X = even_centres(rng, k, relevant, (3.0, 4.2, 6.0)[i % 3])[y]
    X += rng.normal(size=X.shape)
    noise = rng.normal(size=(len(y), (4, 12, 25, 50)[i % 4]))
    return np.hstack([X / X.std(axis=0), noise]), y


def background(rng, i):
    """Gaussian groups in a uniform background of a tenth to four tenths of the objects."""
    k, d, share = (2, 3, 4, 6, 8)[i % 5], int(rng.choice([2, 3, 4])), (0.1, 0.2, 0.4)[i % 3]
    y = groups(sizes(rng, rng.integers(300, 1000), k, 4))
    X = even_centres(rng, k, d, (3.2, 4.2, 6.0)[(i // 2) % 3])[y] + rng.normal(size=(len(y), d))
    n_noise = int(len(y) * share / (1 - share))
    noise = rng.uniform(X.min(axis=0), X.max(axis=0), (n_noise, d))
    return np.vstack([X, noise]), np.append(y, np.full(n_noise, -1))


def moons(rng, i):
    """Two, three or four half-rings that reach into each other."""
    k, noise = (2, 3, 4)[i % 3], (0.06, 0.1, 0.14)[i % 3]
    y = groups(sizes(rng, rng.integers(200, 900), k, (1, 3)[i % 2]))
    angle = rng.uniform(0, np.pi, len(y))
    up = y % 2 == 0
    X = np.column_stack([np.cos(angle) + y, np.where(up, np.sin(angle), 0.5 - np.sin(angle))])
    return X + rng.normal(scale=noise, size=X.shape), y


def rings(rng, i):
    """Two or three rings around one centre, in every second table with a blob there."""
    k = (2, 3)[i % 2] + (i % 4 >= 2)
    y = groups(sizes(rng, rng.integers(300, 1000), k, 2))
    radius = np.where((i % 4 >= 2) & (y == 0), 0.0, 1.0 + y)
    X = plane(radius, rng.uniform(0, 2 * np.pi, len(y)))
    return X + rng.normal(scale=(0.08, 0.13, 0.18)[i % 3], size=X.shape), y


def spirals(rng, i):
    """Two or three arms of a spiral of three quarters to one and a half turns."""
    k, turns = (2, 3)[i % 2], (0.75, 1.0, 1.25, 1.5)[i % 4]
    y = groups(sizes(rng, rng.integers(200, 900), k))
    along = np.sqrt(rng.uniform(0.04, 1, len(y)))
    X = plane(along, 2 * np.pi * (turns * along + y / k))
    return X + rng.normal(scale=(0.01, 0.02, 0.03)[i % 3], size=X.shape), y


def closed_curves(rng, i):
    """Each group a smooth closed curve among 8 to 40 columns."""
    k, d = (2, 3, 4, 5)[i % 4], int(rng.integers(8, 41))
    y = groups(sizes(rng, rng.integers(200, 900), k, 2))
    angle = rng.uniform(0, 2 * np.pi, len(y))
    waves = np.stack([f(m * angle) / m for m in (1, 2, 3) for f in (np.cos, np.sin)], axis=1)
    bends = rng.normal(size=(k, 6, d)) / np.sqrt(d)
    X = (
        np.einsum("nm,nmd->nd", waves, bends[y])
        + even_centres(rng, k, d, (0.3, 0.6, 1.1)[i % 3])[y]
    )
    return X + rng.normal(scale=(0.1, 0.2)[i % 2], size=X.shape), y


def poisson(rng, i):
    """Counts: Poisson columns, a half of whose rates differ by group."""
    k, d = (2, 3, 4, 5, 6)[i % 5], int(rng.choice([5, 10, 20, 40]))
    y = groups(sizes(rng, rng.integers(150, 900), k, 3))
    rates = rng.gamma(2.0, (2.0, 5.0)[i % 2], d)
    change = np.exp(rng.normal(scale=1.6 / d**0.25, size=(k, d)) * (np.arange(d) < (d + 1) // 2))
    return rng.poisson((rates * change)[y]).astype(float), y


def votes(rng, i):
    """Yes and no: groups differ in the chances of a yes."""
    k, d = (2, 3, 4, 5)[i % 4], (12, 16, 24, 40)[(i // 2) % 4]
    y = groups(sizes(rng, rng.integers(150, 700), k, 3))
    return coin(rng.beta((0.6, 1.2)[i % 2], 1.0, (k, d))[y], rng), y


def hierarchy(rng, i):
    """Groups of groups; the truth is the finer level."""
    above, below = (2, 3, 4)[i % 3], (2, 3, 4)[(i // 3) % 3]
    d, k = int(rng.choice([2, 4, 8])), above * below
    y = groups(sizes(rng, rng.integers(40, 80) * k, k, 2))
    coarse = even_centres(rng, above, d, (14.0, 22.0)[i % 2])
    fine = np.vstack(
        [even_centres(rng, below, d, (3.0, 4.0, 5.0)[(i // 2) % 3]) for _ in range(above)]
    )
    return coarse[y // below] + fine[y] + rng.normal(size=(len(y), d)), y


def units(rng, i):
    """Gaussian groups, every column in a unit of its own and some on a log scale."""
    k, d = (2, 3, 4, 5)[i % 4], int(rng.choice([4, 6, 10]))
    y = groups(sizes(rng, rng.integers(200, 800), k, 3))
    X = even_centres(rng, k, d, (3.2, 4.5, 6.0)[i % 3])[y] + rng.normal(size=(len(y), d))
    logs = rng.uniform(size=d) < 0.3
    X[:, logs] = np.exp(X[:, logs] / X[:, logs].std(axis=0))
    return X * 10.0 ** rng.uniform(-4, 4, d) + 10.0 ** rng.uniform(-2, 5, d), y


def few_objects(rng, i):
    """Thirty to eighty objects in all."""
    k, d = (2, 3, 4)[i % 3], int(rng.choice([2, 4, 8]))
    y = groups(sizes(rng, rng.integers(30, 81), k, 2))
    X = even_centres(rng, k, d, (3.2, 4.2, 5.2)[(i // 2) % 3])[y] + rng.normal(size=(len(y), d))
    return X, y


def many_objects(rng, i):
    """Five thousand objects in Gaussian groups of unequal spread."""
    k, d = (4, 7, 12)[i % 3], (2, 5, 10)[i % 3]
    y = groups(sizes(rng, 5000, k, 8))
    spread = rng.uniform(0.6, 1.4, k)
    X = even_centres(rng, k, d, (3.0, 4.0, 5.0)[i % 3])[y]
    X += rng.normal(size=(len(y), d)) * spread[y, None]
    return X, y


def folded_sheets(rng, i):
    """Parallel sheets, each folded once, among three to twenty columns."""
    k, d = (2, 3)[i % 2], int(rng.choice([3, 8, 20]))
    y = groups(sizes(rng, rng.integers(300, 1000), k))
    u, v = rng.uniform(-1, 1, (2, len(y)))
    X = np.column_stack([u, v, np.abs(u) + (0.7, 0.5)[i % 2] * y])
    return embedded(rng, X, d, (0.04, 0.07)[i % 2]), y


FAMILIES = {
    function.__name__: function
    for function in (
        gauss_equal,
        gauss_unequal,
        gauss_many,
        gauss_wide,
        student,
        lognormal,
        boxes,
        noise_columns,
        background,
        moons,
        rings,
        spirals,
        closed_curves,
        poisson,
        votes,
        hierarchy,
        units,
        few_objects,
        many_objects,
        folded_sheets,
    )
}
