"""Pictures of the plane, and two of space, in the manner of well-known test sets.

A part of the families of ``second``, and called as those are. The sets they are like are
named; nothing of them is used but how they look.
"""

import numpy as np

from quality_sets.drawing import ball, even_centres, gap, groups, plane, rotation, sizes


def bridged_discs(rng, i):
    """Like Aggregation: discs of several sizes, evenly filled, some joined by narrow bridges."""
    k = int(rng.integers(5, 9))
    radius, apart = rng.uniform(0.6, 1.8, k), rng.uniform(0.3, 0.9)
    centres, parents = _touching(rng, radius, apart)
    density = rng.integers(500, 1300) / (np.pi * (radius**2).sum())
    y = groups(np.maximum(12, np.pi * radius**2 * density).astype(int))
    parts, labels = [centres[y] + radius[y, None] * ball(rng, len(y), 2)], [y]
    for one in range(1, k):
        if rng.uniform() < 0.5:
            other, m = parents[one], int(6 + 0.3 * apart * density)
            step = centres[other] - centres[one]
            line = rng.uniform(size=(m, 1)) * apart + radius[one]
            parts.append(centres[one] + line * step / np.linalg.norm(step))
            parts[-1] += rng.uniform(-0.1, 0.1, (m, 2))
            labels.append(np.where(line[:, 0] < radius[one] + apart / 2, one, other))
    return np.vstack(parts), np.concatenate(labels)


def bowl_and_disc(rng, i):
    """Like Flame: a disc above a bowl that it nearly touches, and two objects far out."""
    n = int(rng.integers(180, 600))
    y = groups(sizes(rng, n, 2, rng.uniform(1, 2)))
    inner = 1 + rng.uniform(0.12, 0.35)
    wide = rng.uniform(0.5, 0.9)
    angle = rng.uniform(1.08, 1.92, len(y)) * np.pi
    X = plane(inner + wide * rng.uniform(size=len(y)), angle)
    X[y == 0] = ball(rng, (y == 0).sum(), 2) * (1.0, 0.9)
    far = np.array([(-2.6, 1.6)]) + rng.uniform(-0.1, 0.1, (2, 2))
    return np.vstack([X, far]), np.append(y, [-1, -1])


def thin_and_dense(rng, i):
    """Like Jain: two crescents that reach into each other, one two to six times as dense."""
    ratio = rng.uniform(2, 6)
    n = rng.integers(250, 900)
    y = groups((np.array([ratio, 1]) * n / (1 + ratio)).astype(int))
    radius = 1 + rng.uniform(-1, 1, len(y)) * rng.uniform(0.1, 0.22)
    angle = rng.uniform(0, np.pi, len(y))
    X = plane(radius, angle) * np.where(y == 0, -1, 1)[:, None]
    X[y == 0] += (1.0, rng.uniform(0.25, 0.45))
    return X @ _turn(rng), y


def compound(rng, i):
    """Like Compound: a ring around a blob, two blobs that touch, a dense core in a thin cloud."""
    n = rng.integers(400, 1100)
    y = groups(np.maximum(12, n * np.array([0.2, 0.1, 0.2, 0.2, 0.15, 0.15])).astype(int))
    X, n = rng.normal(size=(len(y), 2)), len(y)
    angle, wide = rng.uniform(0, 2 * np.pi, n), rng.uniform(1.7, 2.2)
    blob = rng.uniform(0.25, 0.4)
    # The core has the middle of the cloud to itself.
    cloud = plane(2 * np.sqrt(rng.uniform(0.1, 1, n)), angle)
    core = rng.uniform(0.2, 0.4) * ball(rng, n, 2)
    near = 4.5 - rng.uniform(3.4, 4.6) * blob
    places = np.array([(0, 4), (0, 4), (4.5, 4.5), (4.5, near), (4, -1), (4, -1)])
    kinds = np.stack([plane(wide, angle) + 0.12 * X, 0.3 * X, blob * X, blob * X, cloud, core])
    return (kinds[y, np.arange(n)] + places[y]) @ _turn(rng), y


def open_ring(rng, i):
    """Like Pathbased: a ring with an opening, and two or three blobs inside that come near it."""
    inside = int(rng.integers(2, 4))
    y = groups(sizes(rng, rng.integers(250, 900), 1 + inside, rng.uniform(1, 2)))
    opening = rng.uniform(0.15, 0.5)
    angle = rng.uniform(-0.5 * np.pi + opening, 1.5 * np.pi - opening, len(y))
    X = plane(1 + rng.uniform(-1, 1, len(y)) * rng.uniform(0.04, 0.1), angle)
    places = plane(0.45, 2 * np.pi * (np.arange(inside) / inside + rng.uniform()))
    blob = rng.uniform(0.12, 0.19) * rng.normal(size=(len(y), 2)) + np.vstack([(0, 0), places])[y]
    return np.where(y[:, None] == 0, X, blob), y


def smiley(rng, i):
    """A face: two eyes, a nose, a mouth, in every second table an outline."""
    k = 4 + i % 2
    y = groups(sizes(rng, rng.integers(250, 1000), k, rng.uniform(1, 3)))
    n, fuzz = len(y), rng.uniform(0.02, 0.08)
    low, high = rng.uniform(-0.85, -0.75), rng.uniform(-0.25, -0.15)
    nose = np.column_stack([rng.uniform(-0.08, 0.08, n), rng.uniform(-0.25, 0.3, n)])
    eye = rng.uniform(0.08, 0.15) * rng.normal(size=(n, 2))
    mouth = plane(0.65, rng.uniform(low, high, n) * np.pi)
    outline = plane(1.15, rng.uniform(0, 2 * np.pi, n))
    places = np.array([(-0.4, 0.5), (0.4, 0.5), (0, 0), (0, 0), (0, 0)])
    X = np.stack([eye, eye, nose, mouth, outline])[y, np.arange(n)] + places[y]
    return X + np.where(y >= 2, fuzz, 0)[:, None] * rng.normal(size=X.shape), y


def fifteen(rng, i):
    """Like the S sets: fifteen groups of the plane, a little long, ever more of an overlap."""
    y = groups(sizes(rng, rng.integers(700, 1900), 15, rng.uniform(1, 2)))
    X = even_centres(rng, 15, 2, rng.uniform(2.6, 5))[y]
    for g in range(15):
        axes = np.exp(rng.uniform(-0.35, 0.35, 2))
        X[y == g] += rng.normal(size=((y == g).sum(), 2)) * axes @ _turn(rng)
    return X, y


def two_wreaths(rng, i):
    """Like R15: one group amid a wreath of seven, amid a wreath of seven farther apart."""
    y = groups(sizes(rng, rng.integers(15 * 25, 15 * 80), 15))
    angles = 2 * np.pi * np.arange(7) / 7
    inner, outer = plane(1.0, angles), plane(rng.uniform(2.2, 3), angles + rng.uniform(0, 1))
    centres = np.vstack([(0, 0), inner, outer])
    spread = gap(centres) / rng.uniform(3.8, 8)
    return centres[y] + spread * rng.normal(size=(len(y), 2)), y


def packed_groups(rng, i):
    """Like D31: 18 to 30 small groups thrown into a square, none too near to another."""
    k = int(rng.integers(18, 31))
    centres = np.zeros((0, 2))
    while len(centres) < k:
        one = rng.uniform(0, 0.9 * np.sqrt(2 * k), 2)
        if not len(centres) or np.linalg.norm(centres - one, axis=1).min() >= 1:
            centres = np.vstack([centres, one])
    y = groups(sizes(rng, k * rng.integers(30, 63), k))
    return centres[y] + rng.normal(size=(len(y), 2)) / rng.uniform(3.8, 6.5), y


def carpet(rng, i):
    """Like the A sets: 16 to 30 evenly filled discs in staggered rows."""
    rows, columns = int(rng.integers(4, 6)), int(rng.integers(4, 7))
    across, down = np.meshgrid(np.arange(columns), np.arange(rows))
    centres = np.column_stack([(across + 0.5 * (down % 2)).ravel(), 0.87 * down.ravel()])
    centres = centres + rng.uniform(-0.08, 0.08, centres.shape)
    y = groups(sizes(rng, len(centres) * rng.integers(30, 63), len(centres), rng.uniform(1, 2)))
    radius = gap(centres) / 2 * rng.uniform(0.65, 0.98)
    return centres[y] + radius * ball(rng, len(y), 2), y


def rows_and_waves(rng, i):
    """Like Birch: round groups of one size on a grid, in every second table along a wave."""
    if i % 2:
        k = int(rng.integers(8, 21))
        centres = np.column_stack(
            [np.arange(k), 2.5 * np.sin(np.arange(k) * rng.uniform(0.3, 0.7))]
        )
    else:
        centres = np.indices((int(rng.integers(3, 6)), int(rng.integers(3, 7)))).reshape(2, -1).T
        k = len(centres)
    y = groups(sizes(rng, k * rng.integers(30, 63), k))
    return centres[y] + rng.normal(size=(len(y), 2)) * gap(centres) / rng.uniform(3.8, 8), y


def crowds_and_few(rng, i):
    """Like Unbalance: three tight crowds on one side, five loose groups of few on the other."""
    few = int(rng.integers(15, 60))
    y = groups([*rng.integers(300, 550, 3), *[few] * 5])
    left = np.array([(0, 2), (1, 0), (0, -2)]) + rng.uniform(-0.3, 0.3, (3, 2))
    right = np.array([(8, 3), (8, 0), (8, -3), (11, 1.6), (11, -1.6)])
    right = right + rng.uniform(-0.3, 0.3, (5, 2))
    spread = np.where(y < 3, rng.uniform(0.2, 0.45), rng.uniform(0.4, 0.65))
    return np.vstack([left, right])[y] + spread[:, None] * rng.normal(size=(len(y), 2)), y


def signs_and_specks(rng, i):
    """Like Chameleon's sets: bars, hooks, ovals and waves close together, specks all over."""
    k, wide = int(rng.integers(4, 7)), rng.uniform(2.15, 2.7)
    y = groups(sizes(rng, rng.integers(600, 1500), k, rng.uniform(1, 2)))
    n, u, v = len(y), rng.uniform(-1, 1, len(y)), rng.uniform(-0.2, 0.2, len(y))
    kinds = np.stack(
        [
            np.column_stack([u, v]),
            np.column_stack([v, u]),
            plane(0.8 + v, np.pi * (0.75 * u + 0.3)),
            ball(rng, n, 2) * (0.9, 0.5),
            np.column_stack([u, 0.6 * np.sin(np.pi * u) + v]),
            np.column_stack([u, (1 - np.abs(u)) * (rng.uniform(-1, 1, n))]),
        ]
    )
    taken = rng.permutation(6)[:k]
    places = np.column_stack([np.arange(k) % 3, np.arange(k) // 3]) * wide
    X = kinds[taken[y], np.arange(n)] + places[y]
    n_specks = int(n * rng.uniform(0.03, 0.12))
    specks = rng.uniform(X.min(axis=0) - 0.3, X.max(axis=0) + 0.3, (n_specks, 2))
    return np.vstack([X, specks]), np.append(y, np.full(n_specks, -1))


def plain_figures(rng, i):
    """Like Lsun, Two Diamonds and Wingnut: bars and a disc, diamonds that touch, thick wings."""
    k = (3, 2, 2)[i % 3]
    y = groups(sizes(rng, rng.integers(250, 1200), k, rng.uniform(1, 2)))
    n, apart = len(y), rng.uniform(0.05, 0.35)
    u, v = rng.uniform(0, 1, (2, n))
    if i % 3 == 0:
        lying, standing = np.column_stack([3 * u, 0.7 * v]), np.column_stack([0.7 * u, 3 * v])
        kinds = (lying, standing, 0.8 * ball(rng, n, 2))
        places = [(0, 0), (0, 0.7 + apart), (2.4, 2.4)]
    elif i % 3 == 1:
        kinds = (np.column_stack([u + v, u - v]),) * 2
        places = [(0, 0), (2 + apart / 2, 0)]
    else:
        # Thickest along the edge that faces the other.
        wing = np.column_stack([u, 2 * np.sqrt(v)])
        kinds, places = (wing, -wing), [(0, 0), (1.5, 4 + apart)]
    return np.stack(kinds)[y, np.arange(n)] + np.array(places)[y], y


def balls_in_space(rng, i):
    """Like Tetra and Hepta: four balls that nearly touch; six around a denser one, in space."""
    corners = np.array([(1, 1, 1), (1, -1, -1), (-1, 1, -1), (-1, -1, 1)]) / np.sqrt(2)
    axes = 2 * np.vstack([np.zeros((1, 3)), np.eye(3), -np.eye(3)])
    centres = axes if i % 2 else corners
    y = groups(sizes(rng, len(centres) * rng.integers(20, 110), len(centres)))
    radius = np.full(len(centres), rng.uniform(0.8, 1.05))
    radius[0] *= 0.5 if i % 2 else 1
    return centres[y] + radius[y, None] * ball(rng, len(y), 3) @ rotation(rng, 3), y


def four_corners(rng, i):
    """Like the Square sets: four groups at the corners of a square, nearer or less equal."""
    y = groups(sizes(rng, rng.integers(150, 1500), 4, rng.uniform(1, 10)))
    centres = np.array([(0, 0), (0, 1), (1, 0), (1, 1)]) * rng.uniform(3, 6)
    return (centres[y] + rng.normal(size=(len(y), 2))) @ _turn(rng), y


def _touching(rng, radius, apart):
    """Places of discs, each ``apart`` from one before it and no nearer to any other."""
    centres, parents = np.zeros((1, 2)), [0]
    while len(centres) < len(radius):
        one, other = len(centres), int(rng.integers(len(centres)))
        reach = radius[one] + radius[other] + apart
        place = plane(reach, rng.uniform(0, 2 * np.pi), centres[other])
        away = np.linalg.norm(centres - place, axis=1) - radius[:one] - radius[one]
        if away.min() >= apart - 1e-9:
            centres = np.vstack([centres, place])
            parents.append(other)
    return centres, parents


def _turn(rng):
    """A rotation of the plane by any angle."""
    c, s = plane(1.0, rng.uniform(0, 2 * np.pi))[0]
    return np.array([(c, -s), (s, c)])


FAMILIES = (
    bridged_discs,
    bowl_and_disc,
    thin_and_dense,
    compound,
    open_ring,
    smiley,
    fifteen,
    two_wreaths,
    packed_groups,
    carpet,
    rows_and_waves,
    crowds_and_few,
    signs_and_specks,
    plain_figures,
    balls_in_space,
    four_corners,
)
