"""Families of tables with groups for the third confirming part.

Written after the tables of ``second`` had been opened, by somebody who did not know the rule
that is judged and ran no method of the package on them. Here are mixtures, and the settings of
scikit-learn's examples; tables of measurements are in ``third_measured``, of fields of work in
``third_fields``, pictures in ``third_shapes``. Most are meant to be seen by whoever draws the
right plot; some are hard.

Each function makes one table of its family from a generator of random numbers and the number
of the table. It returns the numbers and the group of each object; group -1 is an object of no
group.
"""

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_classification, make_moons

from quality_sets import third_fields, third_measured, third_shapes
from quality_sets.drawing import (
    ball,
    directions,
    embedded,
    gap,
    groups,
    plane,
    rotation,
    scattered_centres,
    sizes,
    stretch,
)


def varied_deviations(rng, i):
    """Blobs of scikit-learn whose deviations differ by up to five."""
    k, d = int(rng.integers(3, 7)), int(rng.integers(2, 6))
    spread = np.exp(rng.uniform(np.log(0.5), np.log(2.5), k))
    reach = spread[:, None] + spread

    def clearance(centres):
        away = np.linalg.norm(centres[:, None] - centres, axis=2) / reach
        return away[~np.eye(k, dtype=bool)].min()

    centres = max((rng.uniform(-10, 10, (k, d)) for _ in range(200)), key=clearance)
    centres = centres * rng.uniform(1.3, 2.5) / clearance(centres)
    return make_blobs(
        int(rng.integers(300, 1500)),
        centers=centres,
        cluster_std=spread,
        random_state=int(rng.integers(2**31)),
    )


def leaning_blobs(rng, i):
    """Blobs of the plane or of space seen through one matrix, four to eight times as long as wide.

    They stay as far apart as they were before it, but no longer in all directions.
    """
    k, d = int(rng.integers(3, 7)), (2, 2, 3)[i % 3]
    y = groups(sizes(rng, rng.integers(400, 1600), k))
    X = scattered_centres(rng, k, d, rng.uniform(3, 6))[y] + rng.normal(size=(len(y), d))
    lengths = np.geomspace(1, rng.uniform(4, 8), d)
    return X @ rotation(rng, d) * lengths @ rotation(rng, d), y


def class_columns(rng, i):
    """Classes of scikit-learn: telling columns, sums of them, copies, and noise."""
    k, telling = int(rng.integers(2, 5)), int(rng.integers(3, 7))
    extra = rng.integers(1, 5, 3)
    return make_classification(
        int(rng.integers(250, 1500)),
        n_features=telling + int(extra.sum()),
        n_informative=telling,
        n_redundant=int(extra[0]),
        n_repeated=int(extra[1]),
        n_classes=k,
        n_clusters_per_class=1,
        class_sep=rng.uniform(1.1, 2.2),
        flip_y=0.0,
        random_state=int(rng.integers(2**31)),
    )


def class_corners(rng, i):
    """Six to twelve classes of scikit-learn at corners of a cube, half as many columns of sums."""
    k, telling = int(rng.integers(6, 13)), int(rng.integers(5, 9))
    return make_classification(
        60 * k + int(rng.integers(500)),
        n_features=telling + telling // 2,
        n_informative=telling,
        n_redundant=telling // 2,
        n_classes=k,
        n_clusters_per_class=1,
        class_sep=rng.uniform(1.4, 2.6),
        flip_y=0.0,
        random_state=int(rng.integers(2**31)),
    )


def circle_pairs(rng, i):
    """Scikit-learn's circle in a circle, two such pairs side by side."""
    parts, labels = [], []
    for pair in range(2):
        X, y = make_circles(
            int(rng.integers(200, 500)),
            factor=rng.uniform(0.3, 0.65),
            noise=(0.05, 0.08, 0.11)[i % 3],
            random_state=int(rng.integers(2**31)),
        )
        parts.append(X * rng.uniform(0.7, 1.2) + (2.8 * pair, rng.uniform(-0.5, 0.5)))
        labels.append(y + 2 * pair)
    return np.vstack(parts), np.concatenate(labels)


def moons_among_columns(rng, i):
    """Scikit-learn's two moons somewhere among 3 to 10 columns; noise in all of them."""
    X, y = make_moons(
        int(rng.integers(200, 1500)), noise=0.03, random_state=int(rng.integers(2**31))
    )
    return embedded(rng, X, int(rng.integers(3, 11)), (0.08, 0.12, 0.16)[i % 3]), y


def roll_pieces(rng, i):
    """Scikit-learn's rolled sheet cut across into 3 to 5 pieces with gaps between them."""
    k = int(rng.integers(3, 6))
    y = groups(sizes(rng, rng.integers(500, 2000), k, rng.uniform(1, 2)))
    kept = rng.uniform(0.7, 0.85)
    along = 1.5 * np.pi * (1 + 2 * (y + kept * rng.uniform(size=len(y))) / k)
    X = np.column_stack([plane(along, along), rng.uniform(0, 14, len(y))])
    return X + rng.uniform(0.2, 0.8) * rng.normal(size=X.shape), y


def t_by_group(rng, i):
    """Groups of Student's t: tails from heavy to normal and a scatter of its own in each."""
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 13))
    y = groups(sizes(rng, rng.integers(200, 1500), k, rng.uniform(1, 4)))
    freedom = np.exp(rng.uniform(np.log(3), np.log(30), k))
    X = rng.normal(size=(len(y), d)) * np.sqrt(freedom[y] / rng.chisquare(freedom[y]))[:, None]
    for g in range(k):
        X[y == g] = X[y == g] @ stretch(rng, d, 3)
    return X + scattered_centres(rng, k, d, rng.uniform(3.5, 6))[y], y


def tight_in_wide(rng, i):
    """One wide group with one to three tight ones inside it, off its middle."""
    k, d = 2 + i % 3, int(rng.integers(2, 6))
    tight = rng.uniform(0.08, 0.22)
    wide = int(rng.integers(150, 900))
    y = groups([wide, *rng.integers(wide // 4, wide // 2, k - 1)])
    places = rng.uniform(0.8, 1.4) * directions(rng, k, d)
    while k > 2 and gap(places[1:]) < 0.8:
        places = rng.uniform(0.8, 1.4) * directions(rng, k, d)
    places[0] = 0
    spread = np.where(y == 0, 1.0, tight)
    return places[y] + spread[:, None] * rng.normal(size=(len(y), d)), y


def one_to_thirty(rng, i):
    """Two to four groups, the largest fifteen to thirty times the smallest, well apart."""
    k, d = 2 + i % 3, int(rng.integers(2, 11))
    y = groups(sizes(rng, rng.integers(900, 2900), k, rng.uniform(15, 30)))
    return scattered_centres(rng, k, d, rng.uniform(3.5, 6))[y] + rng.normal(size=(len(y), d)), y


def satellites(rng, i):
    """One large group in the middle and three to six small tight ones around it."""
    k, d = int(rng.integers(4, 8)), int(rng.integers(2, 6))
    few = int(rng.integers(15, 50))
    y = groups([few * int(rng.integers(8, 20)), *[few] * (k - 1)])
    around = max((directions(rng, k - 1, d) for _ in range(100)), key=gap)
    centres = np.vstack([np.zeros((1, d)), rng.uniform(3.6, 5.2) * around])
    spread = np.where(y == 0, 1.0, rng.uniform(0.4, 0.7))
    return centres[y] + spread[:, None] * rng.normal(size=(len(y), d)), y


def crowded_catalogue(rng, i):
    """Sixteen to 25 groups among 5 to 15 columns, some looser and some larger than others."""
    k, d = int(rng.integers(16, 26)), int(rng.integers(5, 16))
    y = groups(sizes(rng, k * rng.integers(30, 115), k, rng.uniform(2, 6)))
    spread = rng.uniform(0.5, 1.2, k)[y, None]
    return scattered_centres(rng, k, d, rng.uniform(3.4, 5.5))[y] + spread * rng.normal(
        size=(len(y), d)
    ), y


def contaminated(rng, i):
    """Groups of unequal covariance; 5 to 15 per cent of all objects from a cloud around all."""
    k, d = int(rng.integers(2, 6)), int(rng.integers(2, 11))
    y = groups(sizes(rng, rng.integers(250, 1500), k, rng.uniform(1, 4)))
    X = rng.normal(size=(len(y), d))
    for g in range(k):
        X[y == g] = X[y == g] @ stretch(rng, d, 3)
    X += scattered_centres(rng, k, d, rng.uniform(3.4, 6))[y]
    n_out = int((0.05, 0.1, 0.15)[i % 3] * len(y))
    out = X.mean(axis=0) + rng.uniform(1.5, 2.5) * X.std(axis=0) * rng.normal(size=(n_out, d))
    return np.vstack([X, out]), np.append(y, np.full(n_out, -1))


def own_columns(rng, i):
    """Every group stands out in two to four columns of its own, in the others it is as all are."""
    k, width = int(rng.integers(3, 7)), int(rng.integers(2, 5))
    y = groups(sizes(rng, rng.integers(250, 1500), k, rng.uniform(1, 3)))
    out = np.repeat(np.eye(k), width, axis=1) * rng.uniform(1.7, 3.2)
    return out[y] + rng.normal(size=(len(y), k * width)), y


def crossed_traits(rng, i):
    """Two traits of two or three kinds each, independent: every pair of kinds is a group."""
    n, kinds = int(rng.integers(300, 1500)), (2, int(rng.integers(2, 4)))
    traits = [rng.choice(m, n, p=rng.dirichlet(np.full(m, 12.0))) for m in kinds]
    columns = [np.tile(t[:, None], int(rng.integers(1, 4))) for t in traits]
    X = rng.uniform(3, 5) * np.hstack(columns) + rng.normal(size=(n, sum(map(_width, columns))))
    return np.hstack([X, rng.normal(size=(n, i % 3))]), traits[0] * kinds[1] + traits[1]


def _width(columns):
    return columns.shape[1]


def skew_normals(rng, i):
    """Skew-normal groups, each long towards a direction of its own."""
    k, d = int(rng.integers(2, 7)), int(rng.integers(2, 9))
    y = groups(sizes(rng, rng.integers(200, 1500), k, rng.uniform(1, 4)))
    lean = rng.uniform(2, 4) * directions(rng, k, d)
    X = lean[y] * np.abs(rng.normal(size=(len(y), 1))) + rng.normal(size=(len(y), d))
    return X + scattered_centres(rng, k, d, rng.uniform(3.4, 6))[y], y


def mixed_densities(rng, i):
    """A normal, an even, a peaked, a one-sided and a heavy-tailed group in one table."""
    k, d = int(rng.integers(3, 6)), int(rng.integers(2, 6))
    y = groups(sizes(rng, rng.integers(250, 1500), k, rng.uniform(1, 4)))
    shape = (len(y), d)
    kinds = np.stack(
        [
            rng.normal(size=shape),
            np.sqrt(d + 2) * ball(rng, *shape),
            rng.laplace(size=shape) / np.sqrt(2),
            rng.exponential(size=shape) - 1,
            rng.standard_t(4, shape) / np.sqrt(2),
        ]
    )
    X = kinds[rng.permutation(5)[:k][y], np.arange(len(y))]
    return X + scattered_centres(rng, k, d, rng.uniform(3.2, 5.5))[y], y


def neighbouring_columns(rng, i):
    """Thirty to sixty columns, each like the one before it; groups differ by smooth curves."""
    k, d = int(rng.integers(2, 7)), int(rng.integers(30, 61))
    y = groups(sizes(rng, rng.integers(150, 1200), k, rng.uniform(1, 4)))
    waves = np.cos(np.pi * np.outer(np.arange(1, 6), (np.arange(d) + 0.5) / d))
    memory = rng.uniform(0.5, 0.85)
    X = rng.normal(size=(len(y), d))
    for j in range(1, d):
        X[:, j] = memory * X[:, j - 1] + np.sqrt(1 - memory**2) * X[:, j]
    return X + scattered_centres(rng, k, 5, rng.uniform(0.7, 1.6))[y] @ waves, y


FAMILIES = {
    function.__name__: function
    for function in (
        varied_deviations,
        leaning_blobs,
        class_columns,
        class_corners,
        circle_pairs,
        moons_among_columns,
        roll_pieces,
        t_by_group,
        tight_in_wide,
        one_to_thirty,
        satellites,
        crowded_catalogue,
        contaminated,
        own_columns,
        crossed_traits,
        skew_normals,
        mixed_densities,
        neighbouring_columns,
        *third_measured.FAMILIES,
        *third_fields.FAMILIES,
        *third_shapes.FAMILIES,
    )
}
