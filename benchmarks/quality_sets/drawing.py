"""What several families of tables draw alike: sizes, places, rotations, smooth shapes."""

import numpy as np

# No group is smaller: fewer objects are outliers to whoever looks at them.
SMALLEST = 6


def sizes(rng, n, k, ratio=1.0):
    """About n objects in k groups, the largest ``ratio`` times the smallest."""
    weights = rng.permutation(float(ratio) ** np.linspace(0, 1, k))
    return np.maximum(SMALLEST, np.round(n * weights / weights.sum()).astype(int))


def groups(counts):
    """The group of every object, group after group."""
    return np.repeat(np.arange(len(counts)), counts)


def even_centres(rng, k, d, nearest):
    """Centres in a cube, the best spread of fifty draws, the nearest two ``nearest`` apart."""
    draws = (rng.uniform(-1, 1, (k, d)) for _ in range(50))
    best = max(draws, key=gap)
    return best * nearest / gap(best)


def scattered_centres(rng, k, d, nearest):
    """Centres from a normal that widens until each keeps ``nearest`` from all others."""
    placed, width = np.zeros((0, d)), nearest / np.sqrt(d)
    while len(placed) < k:
        one = rng.normal(size=d) * width
        if not len(placed) or np.linalg.norm(placed - one, axis=1).min() >= nearest:
            placed = np.vstack([placed, one])
        else:
            width *= 1.02
    return placed


def gap(centres):
    """Distance of the nearest two."""
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    return distances[~np.eye(len(centres), dtype=bool)].min()


def rotation(rng, d):
    """An orthogonal matrix."""
    return np.linalg.qr(rng.normal(size=(d, d)))[0]


def stretch(rng, d, most):
    """A matrix that turns and stretches, the longest axis at most ``most`` times the shortest."""
    lengths = np.exp(rng.uniform(-0.5, 0.5, d) * np.log(most))
    return rotation(rng, d) * lengths @ rotation(rng, d).T


def embedded(rng, X, d, noise):
    """The same shape somewhere among d columns, with normal noise in all of them."""
    into = np.linalg.qr(rng.normal(size=(d, X.shape[1])))[0]
    return X @ into.T + rng.normal(scale=noise, size=(len(X), d))


def directions(rng, n, d):
    """Unit vectors, uniform on the sphere."""
    drawn = rng.normal(size=(n, d))
    return drawn / np.linalg.norm(drawn, axis=1, keepdims=True)


def ball(rng, n, d):
    """Points uniform in the unit ball."""
    return directions(rng, n, d) * rng.uniform(size=(n, 1)) ** (1 / d)


def log_uniform(rng, low, high):
    """A number between two, low and high ones equally likely by ratio."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def plane(radius, angle, centre=(0.0, 0.0)):
    """Points of the plane from polar coordinates."""
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) + centre


def coin(chances, rng):
    """Zeros and ones with these chances of a one."""
    return (rng.uniform(size=chances.shape) < chances).astype(float)
