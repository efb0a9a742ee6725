"""Tables for benchmarks/minority_quality.py: dense groups in backgrounds of many kinds, and noise.

Developing and confirming tables are of different kinds, not only of other seeds (but for the
paper's own data, where only the seeds differ). All are drawn from their names alone. Confirming
tables that were opened are "seen" ones: later recipes were developed on them as well, and were
confirmed on kinds that were written down after the recipe was fixed. "Opened" ones confirmed the
second recipe; the third was developed on them, on the peaks of `minority_kinds`, and confirmed on
kinds written down before it was begun.
"""

import gzip
import os
import zlib
from functools import partial
from pathlib import Path

import minority_kinds as more
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


# Kinds that confirmed the first recipe, and are seen since.


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


# Kinds that confirmed the second recipe, and are opened since.


def ring(rng, n, d):
    """A ring in the first two columns, normal in the others."""
    x = 0.3 * rng.normal(size=(n, d))
    turn, radius = rng.uniform(0, 2 * np.pi, n), 1 + 0.15 * rng.normal(size=n)
    x[:, 0], x[:, 1] = radius * np.cos(turn), radius * np.sin(turn)
    return x


def sheet(rng, n, d):
    """A sheet bent twice in one more column, with a little noise around it."""
    x = rng.uniform(-1, 1, (n, d))
    x[:, -1] = x[:, 0] ** 2 - (x[:, 1] ** 2 if d > 2 else 0) + 0.15 * rng.normal(size=n)
    return x


def t_columns(rng, n, d):
    """Independent columns, t with three degrees of freedom: no ellipsoid."""
    return rng.standard_t(3, (n, d))


def blocks(rng, n, d):
    """Half of the columns one normal cause with noise, the others one uniform cause."""
    causes = np.column_stack([rng.normal(size=n), rng.uniform(-2, 2, n)])
    return causes[:, np.arange(d) % 2] + 0.6 * rng.normal(size=(n, d))


def grid(rng, n, d):
    """Answers from 1 to 7 with one opinion behind them."""
    return np.clip(np.round(4 + rng.normal(size=(n, 1)) + rng.normal(size=(n, d))), 1, 7)


def gammas(rng, n, d):
    """Skewed columns that share a part."""
    return rng.gamma(1.5, size=(n, d)) + rng.gamma(1.0, size=(n, 1))


def beta_ends(rng, n, d):
    """Densest at both ends of every column."""
    return rng.beta(0.6, 0.6, (n, d))


def cone(rng, n, d):
    """The wider the larger the first column."""
    x = rng.normal(size=(n, d))
    x[:, 0] = rng.uniform(0.3, 3, n)
    x[:, 1:] *= x[:, :1]
    return x


def three_broad(rng, n, d):
    """Three normal heaps of unlike shapes that overlap."""
    heap = rng.integers(3, size=n)
    places = 1.5 * rng.normal(size=(3, d))
    shapes = [_root(rng, d, 0.5) for _ in range(3)]
    normal = rng.normal(size=(n, d))
    return np.stack([places[h] + normal[i] @ shapes[h].T for i, h in enumerate(heap)])


def pareto(rng, n, d):
    return rng.pareto(3.0, (n, d))


def walk(rng, n, d):
    """Columns that go on from one another."""
    return np.cumsum(rng.normal(size=(n, d)), axis=1)


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
SEEN = {
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
OPENED = {
    "ring 4": (ring, 1500, 4, 0.15),
    "sheet 3": (sheet, 1500, 3, 0.12),
    "t columns 4": (t_columns, 1500, 4, 0.15),
    "blocks 6": (blocks, 1500, 6, 0.25),
    "gammas 4": (gammas, 1500, 4, 0.15),
    "beta ends 3": (beta_ends, 1500, 3, 0.12),
    "cone 3": (cone, 1500, 3, 0.12),
    "three broad 5": (three_broad, 1500, 5, 0.2),
    "pareto 3": (pareto, 1500, 3, 0.12),
    "walk 10": (walk, 1500, 10, 0.3),
    "walk 400": (walk, 600, 400, 0.6),
}
CONFIRMING = {
    "triangular 3": (more.triangular, 1500, 3, 0.12),
    "logistic 5": (more.logistic, 1500, 5, 0.2),
    "funnel 4": (more.funnel, 1500, 4, 0.15),
    "roll 3": (more.roll, 1500, 3, 0.1),
    "weibull 6": (more.weibull, 1500, 6, 0.25),
    "cross 4": (more.cross, 1500, 4, 0.15),
    "one sided 5": (more.one_sided, 1500, 5, 0.2),
    "chain 8": (more.chain, 1500, 8, 0.25),
    "shared tail 4": (more.shared_tail, 1500, 4, 0.15),
    "slope 2": (more.slope, 1500, 2, 0.08),
    "logistic 15": (more.logistic, 1500, 15, 0.4),
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
NOISE_SEEN = {
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
NOISE_OPENED = {
    "ring": ring,
    "sheet": sheet,
    "t columns": t_columns,
    "blocks": blocks,
    "grid": grid,
    "gammas": gammas,
    "beta ends": beta_ends,
    "cone": cone,
    "three broad": three_broad,
    "pareto": pareto,
    "walk": walk,
}
NOISE_PEAKS = {
    "two scales": more.two_scales,
    "corner": more.corner,
    "products": more.products,
    "with constants": more.with_constants,
    "annulus": more.annulus,
    "low rank": more.low_rank,
    "whole numbers": more.whole_numbers,
}
NOISE_CONFIRMING = {
    "triangular": more.triangular,
    "logistic": more.logistic,
    "funnel": more.funnel,
    "roll": more.roll,
    "weibull": more.weibull,
    "cross": more.cross,
    "one sided": more.one_sided,
    "chain": more.chain,
    "shared tail": more.shared_tail,
    "slope": more.slope,
    "peaked": more.peaked,
    "dice": more.dice,
}
REAL_DEVELOPING = {"wine": 0.25, "digits": 0.4}
REAL_SEEN = {"breast_cancer": 0.25, "diabetes": 0.3, "iris": 0.15}
# Tables in the folder that CONSILIENCE_DATA names; left out without it.
REAL_OPENED = {"yeast": 0.25, "vowel": 0.3, "bupa_liver": 0.2}
REAL_CONFIRMING = {"pendigits_test": 0.3, "glass": 0.25, "satimage": 0.3}
# Rows of a real table that are looked at.
_MOST_ROWS = 1500
# Sets on which HDBSCAN is the rival, fixed before any recipe: two of each line.
AGAINST_HDBSCAN = {
    "developing": (*(f"paper {d}" for d in (2, 3, 5, 8)), "toy", "gaussian 5", "correlated 3",
                   "heavy 3", "lognormal 4", "wine"),
    "seen": (*(f"paper {d}" for d in (2, 3, 5, 8)), "toy", "exponential 3", "laplace 6",
             "banana 2", "mixed 8", "breast_cancer"),
    "opened": (*(f"paper {d}" for d in (2, 3, 5, 8)), "toy", "t columns 4", "blocks 6",
               "gammas 4", "cone 3", "sheet 3"),
    "confirming": (*(f"paper {d}" for d in (2, 3, 5, 8)), "toy", "triangular 3", "logistic 5",
                   "weibull 6", "one sided 5", "shared tail 4"),
}  # fmt: skip


def _rng(*words):
    return np.random.default_rng(zlib.crc32(" ".join(map(str, words)).encode()))


KINDS = {"developing": DEVELOPING, "seen": SEEN, "opened": OPENED, "confirming": CONFIRMING}
NOISE = {
    "developing": NOISE_DEVELOPING,
    "seen": NOISE_SEEN,
    "opened": NOISE_OPENED,
    "peaks": NOISE_PEAKS,
    "confirming": NOISE_CONFIRMING,
}
REAL = {
    "developing": REAL_DEVELOPING,
    "seen": REAL_SEEN,
    "opened": REAL_OPENED,
    "confirming": REAL_CONFIRMING,
}
FIRST = {"developing": 0, "seen": 50, "opened": 100, "confirming": 150}
# Sets keep the name that they were drawn by when they confirmed.
_DRAWN_AS = {
    "developing": "developing",
    "seen": "confirming",
    "opened": "second",
    "peaks": "peaks",
    "confirming": "third",
}


def _real(part, name):
    """The columns of a real table, or None where its folder is not named."""
    if part in ("developing", "seen"):
        return getattr(tables, f"load_{name}")().data.astype(float)
    if "CONSILIENCE_DATA" not in os.environ:
        return None
    path = Path(os.environ["CONSILIENCE_DATA"], f"{name}.csv.gz")
    with gzip.open(path, "rt") as file:
        X = np.genfromtxt(file, delimiter=",", skip_header=1)
    return X[:, :-1]  # the last one names the class


def with_groups(part, n_sets):
    """Name, number, X, y of every set with groups; half as many of each that is not the paper's."""
    first = FIRST[part]
    for d in (2, 3, 5, 8):
        for number in range(first, first + n_sets):
            yield (f"paper {d}", number, *_paper(d, number))
    for number in range(first, first + max(n_sets // 4, 1)):
        yield ("toy", number, *make_toy_minority(random_state=number))
    for number in range(first, first + max(n_sets // 2, 1)):
        for name, (background, n, d, spread) in KINDS[part].items():
            rng = _rng(_DRAWN_AS[part], name, number)
            yield (name, number, *planted(background(rng, n, d), rng, spread))
        for name, spread in REAL[part].items():
            X = _real(part, name)
            if X is not None:
                rng = _rng(_DRAWN_AS[part], name, number)
                if part == "confirming" and len(X) > _MOST_ROWS:
                    X = X[rng.permutation(len(X))[:_MOST_ROWS]]
                yield (name, number, *planted(X, rng, spread))


def noise(part, n_sets):
    """Name, columns, number and X of every set without groups."""
    for number in range(n_sets):
        for name, kind in NOISE[part].items():
            for d in (2, 5, 20):
                rng = _rng("noise", _DRAWN_AS[part], name, d, number)
                yield name, d, number, kind(rng, 1000, d)


def clumps(background, d, number, draw):
    """Clumps of 40 to 140 objects, apart from each other, in 800 of noise."""
    rng = _rng("clumps", background, d, number, draw)
    noisy = {"uniform": uniform, "gaussian": gaussian}[background](rng, 800, d)
    apart = 1.2 if d <= 3 else 1.5
    centres = []
    while len(centres) < number:
        centre = rng.uniform(-1.6, 1.6, d)
        if all(np.linalg.norm(centre - other) >= apart for other in centres):
            centres.append(centre)
    sizes = rng.integers(40, 141, number)
    dense = [c + 0.12 * rng.normal(size=(m, d)) for c, m in zip(centres, sizes, strict=True)]
    return np.vstack([noisy, *dense])
