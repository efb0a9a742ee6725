"""Families of tables with groups, for confirming: none is of a kind that developing has.

Each function makes one table of its family from a generator of random numbers and the number
of the table, by which the levels (groups, columns, overlap) take turns. It returns the
numbers and the group of each object; group -1 is an object of no group.
"""

import numpy as np

from quality_sets.drawing import (
    SMALLEST,
    coin,
    directions,
    embedded,
    groups,
    plane,
    rotation,
    scattered_centres,
    sizes,
)


def cigars(rng, i):
    """Long parallel Gaussian groups: one covariance for all, far from round."""
    k, d = (2, 3, 4, 5, 7)[i % 5], int(rng.choice([2, 3, 5]))
    y = groups(sizes(rng, rng.integers(200, 900), k, 3))
    lengths = np.append(np.full(1, (4.0, 8.0)[i % 2]), np.ones(d - 1))
    across = scattered_centres(rng, k, d, (3.5, 4.5, 6.0)[i % 3])
    return (across[y] + rng.normal(size=(len(y), d)) * lengths) @ rotation(rng, d), y


def tight_and_wide(rng, i):
    """Gaussian groups whose spreads differ by up to ten: dense ones beside sparse ones."""
    k, d = (2, 3, 4, 6, 9)[i % 5], int(rng.choice([2, 4, 8]))
    y = groups(sizes(rng, rng.integers(250, 1000), k, 6))
    spread = np.exp(rng.permutation(np.linspace(np.log(0.15), np.log(1.5), k)))
    return scattered_centres(rng, k, d, (1.6, 2.4, 3.6)[i % 3])[y] + (
        rng.normal(size=(len(y), d)) * spread[y, None]
    ), y


def lattice(rng, i):
    """Twelve to thirty double-exponential groups near the points of a lattice."""
    k, d = (12, 14, 16, 18, 21, 24, 27, 30)[i % 8], int(rng.choice([2, 3, 4]))
    side = int(np.ceil(k ** (1 / d)))
    points = np.indices((side,) * d).reshape(d, -1).T
    centres = points[rng.permutation(len(points))[:k]] + rng.uniform(-0.15, 0.15, (k, d))
    y = groups(sizes(rng, rng.integers(30, 45) * k, k, 2))
    return (5.0, 7.0, 9.0)[i % 3] * centres[y] + rng.laplace(size=(len(y), d)), y


def factors(rng, i):
    """Groups in 15 to 50 columns that hang together by three factors within every group."""
    k, d = (2, 3, 4, 6)[i % 4], int(rng.integers(15, 51))
    y = groups(sizes(rng, rng.integers(200, 900), k, 3))
    X = scattered_centres(rng, k, d, (1.6, 2.4, 3.6)[i % 3])[y] + 0.6 * rng.normal(size=(len(y), d))
    for g in range(k):
        X[y == g] += rng.normal(size=((y == g).sum(), 3)) @ rng.normal(scale=0.5, size=(3, d))
    return X, y


def gammas(rng, i):
    """Positive columns: gamma with shape and scale by group, spread growing with the mean."""
    k, d = (2, 3, 4, 5)[i % 4], int(rng.choice([3, 6, 12]))
    y = groups(sizes(rng, rng.integers(200, 900), k, 4))
    means = np.exp(scattered_centres(rng, k, d, (1.2, 1.8, 2.6)[i % 3]))
    shape = rng.uniform(2, 6, (k, d))
    return rng.gamma(shape[y]) * (means / shape)[y], y


def solids(rng, i):
    """Uniform balls, bars and crosses of the plane or of space."""
    k, d = (2, 3, 4, 5, 6)[i % 5], (2, 3)[i % 2]
    y = groups(sizes(rng, rng.integers(200, 900), k, 4))
    X = scattered_centres(rng, k, d, (1.7, 2.2, 2.9)[i % 3])[y]
    for g in range(k):
        m = (y == g).sum()
        kind = rng.integers(3)
        if kind == 0:
            part = directions(rng, m, d) * rng.uniform(size=(m, 1)) ** (1 / d)
        else:
            part = rng.uniform(-1, 1, (m, d)) * np.append(1.3, np.full(d - 1, 0.25))
        if kind == 2:
            turned = rng.uniform(size=m) < 0.5
            part[turned] = part[turned][:, ::-1]
        X[y == g] += part @ rotation(rng, d)
    return X, y


def correlated_noise(rng, i):
    """Groups in 2 to 10 columns; up to 50 others hold noise that hangs together in blocks."""
    k, relevant = (2, 3, 4, 5)[i % 4], int(rng.choice([2, 4, 7, 10]))
    y = groups(sizes(rng, rng.integers(200, 800), k, 2))
    X = scattered_centres(rng, k, relevant, (3.0, 4.2, 6.0)[i % 3])[y]
    X += rng.normal(size=X.shape)
    n_blocks, width = ((1, 5), (3, 4), (4, 8), (10, 5))[i % 4]
    common = np.repeat(rng.normal(size=(len(y), n_blocks)), width, axis=1)
    noise = 0.8 * common + 0.6 * rng.normal(size=common.shape)
    return np.hstack([X / X.std(axis=0), noise]), y


def far_outliers(rng, i):
    """Gaussian groups with a few per cent of objects far outside, in no group."""
    k, d = (2, 3, 4, 6)[i % 4], int(rng.choice([2, 4, 8]))
    y = groups(sizes(rng, rng.integers(200, 900), k, 3))
    X = scattered_centres(rng, k, d, (3.0, 3.8, 5.0)[(i // 2) % 3])[y] + rng.normal(
        size=(len(y), d)
    )
    n_far = max(3, int(len(y) * (0.02, 0.05, 0.1)[i % 3]))
    far = directions(rng, n_far, d) * X.std() * (3 + rng.exponential(2.5, (n_far, 1)))
    return np.vstack([X, X.mean(axis=0) + far]), np.append(y, np.full(n_far, -1))


def waves(rng, i):
    """Chains: two to five sine waves above each other."""
    k, periods = (2, 3, 4, 5)[i % 4], (0.75, 1.0, 1.5)[i % 3]
    y = groups(sizes(rng, rng.integers(300, 1000), k, 2))
    along = rng.uniform(0, 1, len(y))
    height = 0.5 * np.sin(2 * np.pi * periods * along) + 0.45 * y
    X = np.column_stack([2.5 * along, height])
    return X + rng.normal(scale=(0.03, 0.05, 0.07)[i % 3], size=X.shape), y


def nested(rng, i):
    """A ball inside a shell inside a shell, in two to five dimensions."""
    k, d = (2, 3)[i % 2], (2, 3, 4, 5)[i % 4]
    y = groups(sizes(rng, rng.integers(300, 1000), k, 3))
    radius = np.where(y == 0, 0.8 * rng.uniform(size=len(y)) ** (1 / d), 1.6 * y)
    X = directions(rng, len(y), d) * radius[:, None]
    return X + rng.normal(scale=(0.07, 0.12)[i % 2], size=X.shape), y


def linked_rings(rng, i):
    """Rings of space that go through each other like a chain's links, also among more columns."""
    k, d = (2, 3)[i % 2], (3, 3, 6, 12)[i % 4]
    y = groups(sizes(rng, rng.integers(250, 900), k))
    flat = plane(1.0, rng.uniform(0, 2 * np.pi, len(y)))
    X = np.column_stack([flat[:, 0] + 1.2 * y, flat[:, 1], np.zeros(len(y))])
    X[y % 2 == 1] = X[y % 2 == 1][:, [0, 2, 1]]
    return embedded(rng, X, d, (0.05, 0.08, 0.11)[i % 3]), y


def bananas(rng, i):
    """Bent groups: parabolas of all directions beside each other."""
    k, d = (2, 3, 4, 5)[i % 4], (2, 2, 3, 5)[i % 4]
    y = groups(sizes(rng, rng.integers(200, 900), k, 3))
    X = scattered_centres(rng, k, d, (2.8, 3.6, 4.6)[i % 3])[y]
    for g in range(k):
        part = rng.normal(scale=0.45, size=((y == g).sum(), d))
        part[:, 0] = rng.normal(scale=1.2, size=len(part))
        part[:, 1] += 0.5 * (part[:, 0] ** 2 - 1.44)
        X[y == g] += part @ rotation(rng, d)
    return X, y


def flats(rng, i):
    """Each group on a line, plane or space of its own among 8 to 40 columns."""
    k, d = (2, 3, 4, 5)[i % 4], int(rng.integers(8, 41))
    y = groups(sizes(rng, rng.integers(200, 900), k, 2))
    X = scattered_centres(rng, k, d, (0.5, 1.0, 2.0)[i % 3])[y]
    for g in range(k):
        axes = rotation(rng, d)[: rng.integers(1, 4)]
        X[y == g] += rng.uniform(-2, 2, ((y == g).sum(), len(axes))) @ axes
    return X + rng.normal(scale=0.25, size=X.shape), y


def overdispersed_counts(rng, i):
    """Negative binomial counts with a total that differs by object, logarithms in every second."""
    k, d = (2, 3, 4, 6)[i % 4], (20, 30, 50)[i % 3]
    y = groups(sizes(rng, rng.integers(200, 800), k, 5))
    marked = rng.uniform(size=(k, d)) < 0.3
    rates = rng.gamma(1.0, 4.0, d) * np.where(marked, np.exp(rng.normal(1.2, 0.4, (k, d))), 1)
    totals = np.exp(rng.normal(scale=0.3, size=(len(y), 1)))
    counts = rng.poisson(rates[y] * totals * rng.gamma(3.0, 1 / 3.0, (len(y), d)))
    return (np.log1p(counts) if i % 2 else counts.astype(float)), y


def answers(rng, i):
    """Latent classes: questions with three to five answers, one column of 0 and 1 for each."""
    k, questions = (2, 3, 4, 5)[i % 4], (6, 8, 12)[i % 3]
    y = groups(sizes(rng, rng.integers(200, 800), k, 3))
    parts = []
    for _ in range(questions):
        levels = int(rng.integers(3, 6))
        chances = rng.dirichlet(np.full(levels, (0.4, 0.7, 1.2)[(i // 2) % 3]), k).cumsum(axis=1)
        taken = (rng.uniform(size=(len(y), 1)) > chances[y][:, :-1]).sum(axis=1)
        parts.append(np.eye(levels)[taken])
    return np.hstack(parts), y


def mixed_columns(rng, i):
    """Measurements, counts and yes-or-no columns in one table."""
    k, d = (2, 3, 4, 5)[i % 4], (3, 4, 6)[i % 3]
    y = groups(sizes(rng, rng.integers(200, 800), k, 3))
    measured = scattered_centres(rng, k, d, (1.0, 1.8, 2.8)[(i // 2) % 3])[y] + rng.normal(
        size=(len(y), d)
    )
    counted = rng.poisson(rng.gamma(4.0, 1.2, (k, d))[y])
    ticked = coin(rng.beta(1.0, 1.0, (k, d))[y], rng)
    return np.hstack([measured, counted, ticked]), y


def family_tree(rng, i):
    """Leaves of a random tree: every split moves the children, later splits less."""
    k, d = (4, 5, 6, 8, 10)[i % 5], int(rng.choice([3, 6, 12]))
    places, steps = [np.zeros(d)], [(9.0, 12.0)[i % 2]]
    while len(places) < k:
        one = int(rng.choice(len(places), p=np.array(steps) / sum(steps)))
        move = directions(rng, 1, d)[0] * steps[one] / 2
        places += [places[one] + move]
        places[one] = places[one] - move
        steps[one] = max(steps[one] * 0.7, (3.2, 4.5)[i % 2])
        steps += [steps[one]]
    y = groups(sizes(rng, rng.integers(40, 80) * k, k, 4))
    return np.array(places)[y] + rng.normal(size=(len(y), d)), y


def shares(rng, i):
    """Compositions: rows that add up to one, Dirichlet by group."""
    k, d = (2, 3, 4, 5)[i % 4], (4, 6, 10)[i % 3]
    y = groups(sizes(rng, rng.integers(200, 800), k, 3))
    middle = np.maximum(rng.dirichlet(np.ones(d), k), 0.02)
    drawn = rng.gamma((middle * (15.0, 30.0, 60.0)[i % 3])[y])
    return drawn / drawn.sum(axis=1, keepdims=True), y


def profiles(rng, i):
    """Rows are courses over time: waves with a phase by group, noise that lasts."""
    k, d = (3, 4, 5, 6)[i % 4], (12, 18, 30)[i % 3]
    y = groups(sizes(rng, rng.integers(150, 700), k, 3))
    phase = y / k + rng.normal(scale=0.25 / k, size=len(y))
    strength = rng.uniform(0.6, 1.4, (len(y), 1))
    X = strength * np.cos(2 * np.pi * (np.arange(d) / d * 1.5 - phase[:, None]))
    noise = rng.normal(scale=0.5, size=(len(y), d))
    for t in range(1, d):
        noise[:, t] += 0.5 * noise[:, t - 1]
    return X + noise, y


def few_and_wide(rng, i):
    """Thirty to eighty objects with 30 to 60 columns."""
    k, d = (2, 3, 4)[i % 3], int(rng.integers(30, 61))
    y = groups(sizes(rng, rng.integers(32, 81), k, 2))
    return scattered_centres(rng, k, d, (2.6, 3.6, 5.0)[i % 3])[y] + rng.normal(size=(len(y), d)), y


def many_of_all_shapes(rng, i):
    """Five thousand objects: round, long and bent groups in one table."""
    k, d = (4, 6, 9)[i % 3], (2, 4, 8)[i % 3]
    y = groups(sizes(rng, 5000, k, 6))
    X = scattered_centres(rng, k, d, (4.0, 5.0, 6.0)[i % 3])[y]
    for g in range(k):
        part = rng.normal(size=((y == g).sum(), d))
        if g % 3 == 1:
            part[:, 0] *= 2.0
        if g % 3 == 2:
            part[:, 1] = 0.4 * part[:, 1] + 0.5 * (part[:, 0] ** 2 - 1)
        X[y == g] += part @ rotation(rng, d)
    return X, y


def arc_and_blobs(rng, i):
    """One long arc around blobs of different density: chains and blobs in one table."""
    k = (2, 3, 4)[i % 3]
    counts = sizes(rng, rng.integers(300, 900), k, 3)
    y = groups(counts)
    X = plane(2.0, rng.uniform(-0.2, 1.2, len(y)) * np.pi)
    places = np.array([(0.0, 0.0), (0.0, -1.8), (1.1, -0.9)])
    blob = y > 0
    X[blob] = places[y[blob] - 1] + 0.22 * rng.normal(size=(blob.sum(), 2))
    return X + rng.normal(scale=(0.06, 0.1)[i % 2], size=X.shape), y


def distorted(rng, i):
    """Round groups seen through scales that saturate: a steep or a flat curve in each column."""
    k, d = (2, 3, 4, 5)[i % 4], int(rng.choice([2, 4, 8]))
    y = groups(sizes(rng, rng.integers(200, 900), k, 2))
    X = scattered_centres(rng, k, d, (2.8, 3.8, 5.2)[i % 3])[y] + rng.normal(size=(len(y), d))
    X = (X - np.median(X, axis=0)) / X.std(axis=0)
    power = rng.choice([0.4, 0.6, 1.6, 2.2], d)
    return np.sign(X) * np.abs(X) ** power, y


def bearings(rng, i):
    """Directions: groups of unit vectors on a sphere of three to twelve dimensions."""
    k, d = (3, 4, 5, 6)[i % 4], (3, 5, 8, 12)[i % 4]
    y = groups(sizes(rng, rng.integers(200, 900), k, 3))
    centres = max((directions(rng, k, d) for _ in range(30)), key=_least_alike)
    X = centres[y] * (1.4, 2.0, 3.0)[i % 3] * np.sqrt(d / 3) + rng.normal(size=(len(y), d)) * 0.8
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def bridges(rng, i):
    """Gaussian groups with thin bridges of objects between neighbours."""
    k, d = (2, 3, 4, 5)[i % 4], (2, 3)[i % 2]
    y = groups(sizes(rng, rng.integers(250, 900), k, 2))
    centres = scattered_centres(rng, k, d, (4.2, 5.2, 6.5)[i % 3])
    X = centres[y] + rng.normal(size=(len(y), d))
    parts, none = [X], [y]
    for a in range(k - 1):
        m = max(SMALLEST, int(len(y) * (0.02, 0.04)[i % 2]))
        along = np.linspace(0.25, 0.75, m)[:, None]
        parts.append(centres[a] * (1 - along) + centres[a + 1] * along)
        parts[-1] = parts[-1] + rng.normal(scale=0.2, size=(m, d))
        none.append(np.full(m, -1))
    return np.vstack(parts), np.concatenate(none)


def questionnaires(rng, i):
    """Answers from one to five: rounded, with a leniency that differs by object."""
    k, d = (2, 3, 4)[i % 3], (8, 12, 20)[i % 3]
    y = groups(sizes(rng, rng.integers(200, 800), k, 3))
    opinion = rng.normal(scale=(0.6, 0.8, 1.1)[(i // 2) % 3], size=(k, d))[y] + rng.normal(
        scale=0.8, size=(len(y), d)
    )
    lenient = rng.normal(scale=0.4, size=(len(y), 1))
    return np.clip(np.round(3 + opinion + lenient), 1, 5), y


def _least_alike(vectors):
    return -(vectors @ vectors.T - 2 * np.eye(len(vectors))).max()


FAMILIES = {
    function.__name__: function
    for function in (
        cigars,
        tight_and_wide,
        lattice,
        factors,
        gammas,
        solids,
        correlated_noise,
        far_outliers,
        waves,
        nested,
        linked_rings,
        bananas,
        flats,
        overdispersed_counts,
        answers,
        mixed_columns,
        family_tree,
        shares,
        profiles,
        few_and_wide,
        many_of_all_shapes,
        arc_and_blobs,
        distorted,
        bearings,
        bridges,
        questionnaires,
    )
}
