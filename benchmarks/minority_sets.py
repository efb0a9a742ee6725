"""Tables for benchmarks/minority_quality.py: dense groups in backgrounds of many kinds, and noise.

Developing and confirming tables are of different kinds, not only of other seeds (but for the
paper's own data, where only the seeds differ). All are drawn from their names alone.
"""

import zlib
from functools import partial

import numpy as np
from sklearn import datasets as tables

from consilience.datasets import make_minority, make_toy_minority

# ---- backgrounds: (rng, n, d) -> array ----------------------------------------------------


def _root(rng, d, strength=1.0):
    """Root of a random covariance with eigenvalues over an order of magnitude."""
    turn, _ = np.linalg.qr(rng.normal(size=(d, d)))
    return turn * np.exp(strength * rng.uniform(-1.2, 1.2, d))


def uniform(rng, n, d):
    return rng.uniform(-2, 2, (n, d))


def gaussian(rng, n, d):
    return rng.normal(size=(n, d))


def correlated(rng, n, d):
    return rng.normal(size=(n, d)) @ _root(rng, d).T


def heavy(rng, n, d, df=3):
    return rng.normal(size=(n, d)) @ _root(rng, d, 0.7).T / np.sqrt(rng.chisquare(df, (n, 1)) / df)


def lognormal(rng, n, d):
    return np.exp(0.8 * rng.normal(size=(n, d)))


def shell(rng, n, d):
    x = rng.normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * (1 + 0.1 * rng.normal(size=(n, 1)))


def two_broad(rng, n, d):
    side = rng.integers(2, size=n)
    return rng.normal(size=(n, d)) * (1 + 0.5 * side[:, None]) + 2.5 * side[:, None] * np.eye(d)[0]


def rounded(rng, n, d):
    return np.round(2 * rng.normal(size=(n, d)))


def wave(rng, n, d):
    x = 0.3 * rng.normal(size=(n, d))
    x[:, 0] = rng.uniform(-3, 3, n)
    x[:, 1] += np.sin(2 * x[:, 0])
    return x


def skewed(rng, n, d):
    """Correlated columns, each squeezed on one side."""
    return np.log1p(np.exp(2 * correlated(rng, n, d) / np.sqrt(d)))


# Confirming kinds.


def exponential(rng, n, d):
    return rng.exponential(size=(n, d))


def laplace(rng, n, d):
    return rng.laplace(size=(n, d)) @ _root(rng, d, 0.6).T


def ball(rng, n, d):
    x = rng.normal(size=(n, d))
    return x / np.linalg.norm(x, axis=1, keepdims=True) * rng.uniform(size=(n, 1)) ** (1 / d)


def banana(rng, n, d):
    x = rng.normal(size=(n, d)) * np.r_[1.5, np.full(d - 1, 0.5)]
    x[:, 1] += 0.6 * x[:, 0] ** 2
    return x


def simplex(rng, n, d):
    return rng.dirichlet(np.full(d + 1, 1.5), n)[:, :d]


def contaminated(rng, n, d):
    return rng.normal(size=(n, d)) * np.where(rng.uniform(size=(n, 1)) < 0.2, 3.0, 1.0)


def factors(rng, n, d):
    hidden = rng.standard_t(5, (n, max(1, d // 3)))
    return hidden @ rng.normal(size=(hidden.shape[1], d)) + 0.5 * rng.normal(size=(n, d))


def counts(rng, n, d):
    return rng.poisson(np.exp(rng.normal(1.5, 0.4, (n, 1)) + rng.normal(0, 0.3, d)), (n, d)) * 1.0


def mixed_columns(rng, n, d):
    parts = [rng.normal(size=n), rng.uniform(-2, 2, n), rng.gamma(2.0, size=n), rng.beta(2, 5, n)]
    return np.column_stack([rng.permutation(parts[j % 4]) for j in range(d)])


# ---- groups -------------------------------------------------------------------------------


def planted(background, rng, spread, n_groups=3, share=0.12):
    """Groups around objects of the background: its other objects, shrunk; ``share`` in all."""
    n = len(background)
    m = max(10, round(share * n / n_groups))
    parts = [background]
    middle = np.median(background, axis=0)
    for _ in range(n_groups):
        centre = background[rng.integers(n)]
        # Shrunk towards the middle by half: groups stand in the background, not far outside it.
        centre = middle + 0.7 * (centre - middle)
        parts.append(centre + spread * _trimmed(background, m, rng))
    y = np.repeat(np.arange(n_groups + 1), [n, *[m] * n_groups])
    order = rng.permutation(len(y))
    return np.vstack(parts)[order], y[order]


def _trimmed(background, m, rng):
    """Displacements with the background's own scales and correlations, none of its outliers."""
    centred = background - np.median(background, axis=0)
    length = np.linalg.norm(centred / (np.abs(centred).mean(axis=0) + 1e-12), axis=1)
    inner = np.flatnonzero(length <= np.quantile(length, 0.8))
    return centred[rng.choice(inner, m)]


def _paper(d, rng_seed):
    number = rng_seed
    scales = [1 + (number >> bit & 1) for bit in range(3)]
    return make_minority(
        d,
        background=scales[0],
        foreground=scales[1],
        spread=scales[2],
        random_state=5000 + 100 * d + number,
    )


# ---- the lists ----------------------------------------------------------------------------

# Name: (background, objects, columns, spread of the groups).
DEVELOPING = {
    "gaussian 2": (gaussian, 1500, 2, 0.1),
    "gaussian 5": (gaussian, 1500, 5, 0.25),
    "gaussian 20": (gaussian, 1500, 20, 0.5),
    "correlated 3": (correlated, 1500, 3, 0.12),
    "correlated 10": (correlated, 1500, 10, 0.35),
    "heavy 3": (heavy, 1500, 3, 0.1),
    "heavy 8": (heavy, 1500, 8, 0.25),
    "lognormal 4": (lognormal, 1500, 4, 0.15),
    "shell 3": (shell, 1500, 3, 0.12),
    "two broad 4": (two_broad, 1500, 4, 0.2),
    "wave 2": (wave, 1500, 2, 0.08),
    "skewed 6": (skewed, 1500, 6, 0.2),
    "uniform 20": (uniform, 1500, 20, 0.5),
    "gaussian 200": (gaussian, 800, 200, 0.7),
}
CONFIRMING = {
    "exponential 3": (exponential, 1500, 3, 0.12),
    "laplace 6": (laplace, 1500, 6, 0.25),
    "ball 4": (ball, 1500, 4, 0.2),
    "banana 2": (banana, 1500, 2, 0.1),
    "banana 6": (banana, 1500, 6, 0.25),
    "contaminated 5": (contaminated, 1500, 5, 0.2),
    "factors 12": (factors, 1500, 12, 0.35),
    "mixed 8": (mixed_columns, 1500, 8, 0.3),
    "gaussian 30": (gaussian, 1500, 30, 0.6),
    "heavy2 4": (partial(heavy, df=2), 1500, 4, 0.12),
    "laplace 500": (laplace, 600, 500, 0.7),
}
NOISE_DEVELOPING = {
    "uniform": uniform,
    "gaussian": gaussian,
    "correlated": correlated,
    "heavy": heavy,
    "lognormal": lognormal,
    "shell": shell,
    "two broad": two_broad,
    "rounded": rounded,
    "wave": wave,
    "skewed": skewed,
}
NOISE_CONFIRMING = {
    "exponential": exponential,
    "laplace": laplace,
    "ball": ball,
    "banana": banana,
    "simplex": simplex,
    "contaminated": contaminated,
    "factors": factors,
    "counts": counts,
    "mixed columns": mixed_columns,
    "heavy, 2 degrees": partial(heavy, df=2),
}
REAL_DEVELOPING = {"wine": 0.25, "digits": 0.4}
REAL_CONFIRMING = {"breast_cancer": 0.25, "diabetes": 0.3, "iris": 0.15}
# Sets on which HDBSCAN is the rival, fixed before any recipe: two of each line.
AGAINST_HDBSCAN = {
    "developing": (*(f"paper {d}" for d in (2, 3, 5, 8)), "toy", "gaussian 5", "correlated 3",
                   "heavy 3", "lognormal 4", "wine"),
    "confirming": (*(f"paper {d}" for d in (2, 3, 5, 8)), "toy", "exponential 3", "laplace 6",
                   "banana 2", "mixed 8", "breast_cancer"),
}  # fmt: skip


def _rng(*words):
    return np.random.default_rng(zlib.crc32(" ".join(map(str, words)).encode()))


def with_groups(part, n_sets):
    """Name, number, X, y of every set with groups; half as many of each that is not the paper's."""
    first = 0 if part == "developing" else 50
    for d in (2, 3, 5, 8):
        for number in range(first, first + n_sets):
            yield (f"paper {d}", number, *_paper(d, number))
    for number in range(first, first + max(n_sets // 4, 1)):
        yield ("toy", number, *make_toy_minority(random_state=number))
    kinds = DEVELOPING if part == "developing" else CONFIRMING
    real = REAL_DEVELOPING if part == "developing" else REAL_CONFIRMING
    for number in range(first, first + max(n_sets // 2, 1)):
        for name, (background, n, d, spread) in kinds.items():
            rng = _rng(part, name, number)
            yield (name, number, *planted(background(rng, n, d), rng, spread))
        for name, spread in real.items():
            rng = _rng(part, name, number)
            X = getattr(tables, f"load_{name}")().data.astype(float)
            yield (name, number, *planted(X, rng, spread))


def noise(part, n_sets):
    """Name, columns, number and X of every set without groups."""
    kinds = NOISE_DEVELOPING if part == "developing" else NOISE_CONFIRMING
    for number in range(n_sets):
        for name, kind in kinds.items():
            for d in (2, 5, 20):
                rng = _rng("noise", part, name, d, number)
                yield name, d, number, kind(rng, 1000, d)
