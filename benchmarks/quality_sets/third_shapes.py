"""Pictures of the plane and of space that nobody can miss once they are drawn.

A part of the families of ``third``, and called as those are.
"""

import numpy as np
from scipy.ndimage import binary_dilation, gaussian_filter, label

from quality_sets.drawing import ball, groups, plane, rotation, sizes

# Strokes of capital letters in a box of 1 by 1.5, each a line between two points.
LETTERS = {
    "A": ((0, 0, 0.5, 1.5), (0.5, 1.5, 1, 0), (0.2, 0.6, 0.8, 0.6)),
    "E": ((0, 0, 0, 1.5), (0, 0, 0.9, 0), (0, 0.75, 0.8, 0.75), (0, 1.5, 0.9, 1.5)),
    "H": ((0, 0, 0, 1.5), (1, 0, 1, 1.5), (0, 0.75, 1, 0.75)),
    "L": ((0, 0, 0, 1.5), (0, 0, 1, 0)),
    "N": ((0, 0, 0, 1.5), (0, 1.5, 1, 0), (1, 0, 1, 1.5)),
    "O": ((0, 0, 0, 1.5), (0, 1.5, 1, 1.5), (1, 1.5, 1, 0), (1, 0, 0, 0)),
    "T": ((0.5, 0, 0.5, 1.5), (0, 1.5, 1, 1.5)),
    "X": ((0, 0, 1, 1.5), (0, 1.5, 1, 0)),
    "Z": ((0, 1.5, 1, 1.5), (1, 1.5, 0, 0), (0, 0, 1, 0)),
}


def letters(rng, i):
    """Three to six capital letters side by side, drawn with a broad pen."""
    k = 3 + int(rng.integers(4))
    y = groups(sizes(rng, k * rng.integers(80, 250), k))
    names, pen = rng.permutation(list(LETTERS))[:k], rng.uniform(0.03, 0.08)
    X = np.vstack([_along(rng, LETTERS[name], (y == g).sum()) for g, name in enumerate(names)])
    X = X + pen * rng.normal(size=X.shape)
    X[:, 0] += y * (1 + rng.uniform(0.35, 0.6))
    return X, y


def cells_with_gaps(rng, i):
    """Squares of a grid, evenly filled, some of them empty, with paths between them."""
    rows, columns = int(rng.integers(2, 6)), int(rng.integers(3, 6))
    places = np.indices((rows, columns)).reshape(2, -1).T
    k = max(3, int(len(places) * rng.uniform(0.5, 1)))
    places = places[rng.permutation(len(places))[:k]]
    y = groups(sizes(rng, k * rng.integers(40, 130), k, rng.uniform(1, 3)))
    side = rng.uniform(0.7, 0.88)
    return places[y] + side * rng.uniform(-0.5, 0.5, (len(y), 2)), y


def crescents_in_ring(rng, i):
    """Two crescents that face each other inside a ring."""
    y = groups(sizes(rng, rng.integers(400, 1600), 3, rng.uniform(1, 2)))
    n, fuzz = len(y), rng.uniform(0.03, 0.1)
    ring = plane(1.7, rng.uniform(0, 2 * np.pi, n))
    turn = rng.uniform(0.35, 0.5) * np.pi * rng.uniform(-1, 1, n)
    left = plane(0.75, np.pi + turn, (-0.15, 0))
    right = plane(0.75, turn, (0.15, 0))
    X = np.stack([ring, left, right])[y, np.arange(n)] + fuzz * rng.normal(size=(n, 2))
    return X @ rotation(rng, 2), y


def crosses(rng, i):
    """Two to five crosses of thin bars, each turned its own way."""
    k = int(rng.integers(2, 6))
    y = groups(sizes(rng, k * rng.integers(80, 250), k, rng.uniform(1, 2)))
    along, across = rng.uniform(-1, 1, len(y)), rng.uniform(0.03, 0.1) * rng.normal(size=len(y))
    X = np.column_stack([along, across])
    lying = rng.uniform(size=len(y)) < 0.5
    X[lying] = X[lying][:, ::-1]
    for g in range(k):
        X[y == g] = X[y == g] @ rotation(rng, 2)
    places = np.column_stack([np.arange(k) % 3, np.arange(k) // 3 + 0.4 * (np.arange(k) % 2)])
    return X + rng.uniform(2.4, 3.0) * places[y], y


def concentric_arcs(rng, i):
    """Three to five arcs one inside the other, a third of a circle to two thirds, like a signal."""
    k = int(rng.integers(3, 6))
    y = groups(sizes(rng, rng.integers(300, 1500), k, rng.uniform(1, 3)))
    half = rng.uniform(0.33, 0.67, k)[y] * np.pi
    angle = rng.uniform(-1, 1, len(y)) * half + rng.uniform(-0.3, 0.3, k)[y]
    return plane(1 + y + rng.uniform(0.07, 0.18) * rng.normal(size=len(y)), angle), y


def nested_squares(rng, i):
    """Outlines of squares one inside the other, turned, in some a full square in the middle."""
    outlines, full = 2 + i % 2, int(rng.integers(0, 2))
    k = outlines + full
    y = groups(sizes(rng, rng.integers(350, 1500), k, rng.uniform(1, 2)))
    side, sign = rng.integers(0, 2, len(y)), rng.choice([-1.0, 1.0], len(y))
    X = rng.uniform(-1, 1, (len(y), 2))
    on = np.arange(len(y))
    edge = sign + rng.uniform(0.03, 0.08) * rng.normal(size=len(y))
    X[on, side] = np.where(y < outlines, edge, X[on, side])
    reach = np.append(np.arange(outlines, 0, -1.0), np.full(full, 0.45))
    return (reach[y, None] * X) @ rotation(rng, 2), y


def polygons(rng, i):
    """Triangles, pentagons and stars, evenly filled, a little apart."""
    k = int(rng.integers(3, 8))
    y = groups(sizes(rng, k * rng.integers(60, 220), k, rng.uniform(1, 3)))
    X = np.zeros((len(y), 2))
    for g in range(k):
        corners, deep = int(rng.integers(3, 7)), rng.choice([1.0, 0.6])
        X[y == g] = _filled(rng, (y == g).sum(), corners, deep) @ rotation(rng, 2)
    places = np.column_stack([np.arange(k) % 3 + 0.5 * (np.arange(k) // 3 % 2), np.arange(k) // 3])
    return X + rng.uniform(1.75, 2.1) * places[y], y


def yin_yang(rng, i):
    """Two commas that fill a disc but for a curved gap, in every second table with their eyes."""
    n, gap = int(rng.integers(700, 2200)), rng.uniform(0.06, 0.12)
    X = ball(rng, n, 2)
    upper, lower = (np.linalg.norm(X - (0, s), axis=1) for s in (0.5, -0.5))
    # How far into the dark half: the border is two half circles.
    dark = np.where(X[:, 1] > 0, 0.5 - upper, lower - 0.5)
    dark = np.where((np.minimum(upper, lower) > 0.5), X[:, 0], dark)
    y = (dark > 0).astype(int)
    kept = np.abs(dark) > gap / 2
    if i % 2:
        for eye, away in ((2, upper), (3, lower)):
            y[away < 0.15] = eye
            kept &= np.abs(away - 0.2) > 0.05
    return X[kept] @ rotation(rng, 2), y[kept]


def ring_segments(rng, i):
    """A ring cut into three to eight arcs by gaps, sometimes with a blob in the middle."""
    arcs, blob = int(rng.integers(3, 9)), i % 2
    y = groups(sizes(rng, rng.integers(300, 1500), arcs + blob, rng.uniform(1, 2)))
    kept = rng.uniform(0.65, 0.83)
    angle = 2 * np.pi * (y + kept * rng.uniform(size=len(y))) / arcs
    X = plane(1 + rng.uniform(0.03, 0.08) * rng.normal(size=len(y)), angle)
    X[y == arcs] = 0.15 * rng.normal(size=((y == arcs).sum(), 2))
    return X, y


def dashed_lines(rng, i):
    """Two or three rows of dashes, long and short ones."""
    rows = int(rng.integers(2, 4))
    starts, ends, heights = [], [], []
    for row in range(rows):
        cuts = np.cumsum(rng.uniform(0.5, 2.5, int(rng.integers(2, 5))))
        starts += [0.0, *cuts[:-1]]
        ends += list(cuts - rng.uniform(0.25, 0.35))
        heights += [row * 0.9] * len(cuts)
    starts, ends, heights = map(np.array, (starts, ends, heights))
    y = groups(np.maximum(15, (ends - starts) * rng.integers(60, 180)).astype(int))
    along = starts[y] + (ends - starts)[y] * rng.uniform(size=len(y))
    X = np.column_stack([along, heights[y] + rng.uniform(0.03, 0.07) * rng.normal(size=len(y))])
    return X @ rotation(rng, 2), y


def four_angles(rng, i):
    """Four right angles of thick bars, back to back around an empty cross."""
    y = groups(sizes(rng, rng.integers(400, 2000), 4, rng.uniform(1, 3)))
    along, thick = rng.uniform(0, 1, len(y)), rng.uniform(0.15, 0.3) * rng.uniform(size=len(y))
    X = np.column_stack([along, thick])
    standing = rng.uniform(size=len(y)) < 0.5
    X[standing] = X[standing][:, ::-1]
    signs = np.array([(1, 1), (1, -1), (-1, 1), (-1, -1)])
    return signs[y] * (X + rng.uniform(0.08, 0.2)), y


def moon_and_crescent(rng, i):
    """A full moon in the arms of a crescent, in some tables with stars beside them."""
    stars = (0, 2, 3)[i % 3]
    y = groups([*sizes(rng, rng.integers(300, 1400), 2, 2), *[int(rng.integers(20, 60))] * stars])
    n = len(y)
    radius = np.sqrt(rng.uniform(1.0, rng.uniform(1.6, 2.2), n))
    crescent = plane(radius, rng.uniform(0.5, 1.5, n) * np.pi)
    moon = rng.uniform(0.45, 0.6) * ball(rng, n, 2) + (0.15, 0)
    small = [0.1 * rng.normal(size=(n, 2)) + (1.6, 1.2 * (s - 1)) for s in range(stars)]
    return np.stack([crescent, moon, *small])[y, np.arange(n)], y


def helices(rng, i):
    """Two or three strands wound around each other in space."""
    k = 2 + i % 2
    y = groups(sizes(rng, rng.integers(300, 1500), k, rng.uniform(1, 2)))
    turns, fuzz = rng.uniform(1, 2), rng.uniform(0.08, 0.2)
    along = rng.uniform(size=len(y))
    X = np.column_stack([plane(1.0, 2 * np.pi * (turns * along + y / k)), 3 * along])
    return (X + fuzz * rng.normal(size=X.shape)) @ rotation(rng, 3), y


def torus_and_rod(rng, i):
    """A rod through the hole of one ring of space, or of two above each other."""
    rings = 1 + i % 2
    y = groups(sizes(rng, rng.integers(300, 1500), 1 + rings, rng.uniform(1, 2)))
    n = len(y)
    around, inside = rng.uniform(0, 2 * np.pi, n), rng.uniform(0.15, 0.3) * ball(rng, n, 2)
    ring = np.column_stack([plane(1 + inside[:, 0], around), inside[:, 1] + 1.2 * (y - 1.5)])
    rod = np.column_stack([0.1 * rng.normal(size=(n, 2)), rng.uniform(-1.8, 1.8, n)])
    return np.where(y[:, None] > 0, ring, rod) @ rotation(rng, 3), y


def islands(rng, i):
    """Islands of a random map, evenly filled; those too small to be seen are left out."""
    while True:
        height = gaussian_filter(rng.normal(size=(90, 90)), rng.uniform(6, 10), mode="constant")
        found = label(height > np.quantile(height, rng.uniform(0.68, 0.8)))[0]
        large = np.flatnonzero(np.bincount(found.ravel())[1:] >= 90) + 1
        land = np.isin(found, large)
        # Between two islands must lie water that the objects show: more than four cells.
        apart = label(binary_dilation(land, np.ones((3, 3)), iterations=2))[1]
        if 3 <= len(large) <= 12 and apart == len(large):
            break
    cells = np.argwhere(land)
    taken = cells[rng.integers(len(cells), size=int(rng.integers(600, 2500)))]
    y = np.searchsorted(large, found[tuple(taken.T)])
    return taken + rng.uniform(size=taken.shape), y


def pinwheel(rng, i):
    """Three to seven long groups like the arms of a wheel, bent more the farther out."""
    k = int(rng.integers(3, 8))
    y = groups(sizes(rng, k * rng.integers(60, 250), k, rng.uniform(1, 2)))
    wide = rng.uniform(0.4, 0.65) / k
    X = rng.normal(size=(len(y), 2)) * (rng.uniform(0.22, 0.3), wide) + (1, 0)
    angle = 2 * np.pi * y / k + rng.uniform(0.2, 0.6) * np.exp(X[:, 0])
    c, s = np.cos(angle), np.sin(angle)
    return np.column_stack([c * X[:, 0] - s * X[:, 1], s * X[:, 0] + c * X[:, 1]]), y


def _along(rng, strokes, n):
    """Points spread over strokes by their lengths."""
    ends = np.array(strokes)
    lengths = np.linalg.norm(ends[:, 2:] - ends[:, :2], axis=1)
    taken = ends[rng.choice(len(ends), n, p=lengths / lengths.sum())]
    return taken[:, :2] + rng.uniform(size=(n, 1)) * (taken[:, 2:] - taken[:, :2])


def _filled(rng, n, corners, deep):
    """Points of a regular polygon of radius one, or of a star with dents of radius ``deep``."""
    # A fan of triangles around the middle, every second corner a dent; they all have one area.
    angle, radius = np.pi / corners, np.array([1.0, np.cos(np.pi / corners) * deep])
    first = rng.integers(2 * corners, size=n)
    one = plane(radius[first % 2], first * angle)
    other = plane(radius[(first + 1) % 2], (first + 1) * angle)
    u, v = rng.uniform(size=(2, n, 1))
    return np.sqrt(u) * ((1 - v) * one + v * other)


FAMILIES = (
    letters,
    cells_with_gaps,
    crescents_in_ring,
    crosses,
    concentric_arcs,
    nested_squares,
    polygons,
    yin_yang,
    ring_segments,
    dashed_lines,
    four_angles,
    moon_and_crescent,
    helices,
    torus_and_rod,
    islands,
    pinwheel,
)
