"""Tables as fields of work have them: curves, pictures, counts, customers, surveys, sensors.

A part of the families of ``second``, and called as those are.
"""

import numpy as np
from scipy.special import expit, ndtri

from quality_sets.drawing import (
    coin,
    directions,
    gap,
    groups,
    log_uniform,
    scattered_centres,
    sizes,
)


def load_curves(rng, i):
    """The course of a day: peaks by group that come early or late, noise that lasts."""
    k, d = int(rng.integers(3, 8)), (24, 48)[i % 2]
    y = groups(sizes(rng, rng.integers(150, 900), k, rng.uniform(1, 4)))
    hour = np.arange(d) * 24 / d
    late = rng.normal(scale=rng.uniform(0.2, 0.8), size=(len(y), 1))
    X = np.zeros((len(y), d))
    for _ in range(3):
        middle, width = rng.uniform(2, 22, k)[y, None], rng.uniform(1, 3, k)[y, None]
        height = rng.gamma(3.0, 0.5, k)[y, None]
        X += height * np.exp(-(((hour - middle - late) / width) ** 2) / 2)
    X *= np.exp(rng.normal(scale=0.2, size=(len(y), 1)))
    return X + rng.uniform(0.15, 0.7) * _lasting(rng, X.shape, 0.6), y


def control_charts(rng, i):
    """Charts of a process: level, cycles, trends up and down, jumps up and down."""
    k, d = int(rng.integers(3, 7)), 60
    y = groups(sizes(rng, rng.integers(150, 700), k, rng.uniform(1, 2)))
    n, time = len(y), np.arange(d)
    period, start = rng.uniform(10, 15, (2, n, 1))
    slope, jump = rng.uniform(0.2, 0.5, (n, 1)), rng.uniform(7.5, 20, (n, 1))
    later = time > rng.uniform(d / 3, 2 * d / 3, (n, 1))
    kinds = np.stack(
        [
            np.zeros((n, d)),
            start * np.sin(2 * np.pi * time / period),
            slope * time,
            -slope * time,
            jump * later,
            -jump * later,
        ]
    )
    X = kinds[rng.permutation(6)[:k][y], np.arange(n)]
    return 30 + X + rng.uniform(2, 5) * rng.normal(size=(n, d)), y


def spectra(rng, i):
    """Spectra: peaks of other heights by group, on a sloping ground, brighter and darker."""
    k, d = int(rng.integers(2, 6)), int(rng.integers(60, 121))
    y = groups(sizes(rng, rng.integers(60, 500), k, rng.uniform(1, 3)))
    place, peaks = np.linspace(0, 1, d), int(rng.integers(5, 11))
    shape = np.exp(
        -(((place - rng.uniform(size=(peaks, 1))) / rng.uniform(0.015, 0.05, (peaks, 1))) ** 2)
    )
    heights = rng.gamma(2.0, 0.5, peaks) * np.exp(
        rng.uniform(0.35, 0.9) * rng.normal(size=(k, peaks))
    )
    own = np.exp(rng.normal(scale=0.15, size=(len(y), peaks)))
    ground = rng.normal(scale=rng.uniform(0.02, 0.15), size=(2, len(y), 1))
    bright = np.exp(rng.normal(scale=0.06, size=(len(y), 1)))
    X = bright * (heights[y] * own) @ shape + ground[0] + ground[1] * place
    return X + 0.03 * rng.normal(size=X.shape), y


def glyphs(rng, i):
    """Pictures of 8 by 8 points: characters of two or three strokes from an unsteady hand."""
    k = int(rng.integers(3, 9))
    y = groups(sizes(rng, rng.integers(200, 1200), k, rng.uniform(1, 2)))
    strokes = int(rng.integers(2, 4))
    ends = rng.uniform(0.5, 6.5, (k, strokes, 2, 2))[y]
    shake = rng.uniform(0.3, 0.8)
    ends = ends + shake * rng.normal(size=ends.shape)
    ends += shake * rng.normal(size=(len(y), 1, 1, 2))
    points = np.indices((8, 8)).reshape(2, -1).T
    X = np.zeros((len(y), 64))
    for along in np.linspace(0, 1, 7):
        pen = ends[:, :, 0] * (1 - along) + ends[:, :, 1] * along
        away = ((points[:, None] - pen[:, None]) ** 2).sum(axis=3)
        X = np.maximum(X, np.exp(-away / 0.9).max(axis=2))
    return np.clip(np.round(16 * X + rng.normal(size=X.shape)), 0, 16), y


def expression_arrays(rng, i):
    """Forty to 120 objects, 150 to 400 genes in modules; a few of them tell the groups."""
    k, d = int(rng.integers(2, 6)), int(rng.integers(150, 401))
    y = groups(sizes(rng, rng.integers(44, 120), k, rng.uniform(1, 2.5)))
    modules = rng.integers(8, size=d)
    X = rng.normal(8, 2, d) + rng.uniform(0.2, 0.6) * rng.normal(size=(len(y), 8))[:, modules]
    telling = rng.uniform(size=d) < rng.uniform(0.05, 0.2)
    X += (rng.uniform(1, 2) * rng.normal(size=(k, d)) * telling)[y]
    X += 0.7 * rng.normal(size=X.shape)
    return (2**X if i % 4 == 3 else X), y


def cell_types(rng, i):
    """Counts of cells: overdispersed, many lost to zero; logarithms of shares, or raw."""
    k, d = int(rng.integers(3, 9)), int(rng.integers(40, 121))
    y = groups(sizes(rng, rng.integers(250, 1300), k, log_uniform(rng, 2, 15)))
    marked = rng.uniform(size=(k, d)) < rng.uniform(0.08, 0.2)
    rates = np.exp(rng.normal(0.5, 1.2, d) + marked * rng.uniform(1.2, 2.5))
    depth = np.exp(rng.normal(scale=0.35, size=(len(y), 1)))
    counts = rng.poisson(rates[y] * depth * rng.gamma(2.0, 0.5, (len(y), d)))
    kept = coin(expit(rng.uniform(0.5, 1.5) + np.log(rates[y])), rng)
    counts = counts * kept
    if i % 3 == 2:
        return counts, y
    totals = counts.sum(axis=1, keepdims=True) + 1
    return np.log1p(counts / totals * np.median(totals)), y


def species_lists(rng, i):
    """Places by species, 40 to 150 by 15 to 50: counts mostly zero, habitats by group."""
    k, d = int(rng.integers(2, 6)), int(rng.integers(15, 51))
    y = groups(sizes(rng, rng.integers(44, 150), k, rng.uniform(1, 3)))
    optimum, place = rng.normal(size=(2, d)), scattered_centres(rng, k, 2, rng.uniform(2.5, 4.5))
    site = 0.7 * (place[y] + rng.normal(scale=0.5, size=(len(y), 2)))
    away = ((site[:, :, None] - 1.5 * optimum) ** 2).sum(axis=1)
    rates = rng.gamma(1.5, 8.0, d) * np.exp(-away / 2)
    counts = rng.poisson(rates * rng.gamma(2.0, 0.5, rates.shape))
    return (np.sqrt(counts) if i % 2 else counts.astype(float)), y


def documents(rng, i):
    """Words of documents on one topic each, beside words of all topics; weighted shares."""
    k, d = int(rng.integers(3, 8)), int(rng.integers(60, 151))
    y = groups(sizes(rng, rng.integers(150, 900), k, rng.uniform(1, 4)))
    common = rng.dirichlet(np.full(d, 0.5))
    topics = rng.dirichlet(np.full(d, 0.1), k)
    own = rng.beta(4, 4 / rng.uniform(0.3, 1.5), (len(y), 1))
    chances = own * topics[y] + (1 - own) * common
    counts = rng.multinomial(rng.negative_binomial(3, 3 / 90, len(y)) + 20, chances)
    weights = np.log((1 + len(y)) / (1 + (counts > 0).sum(axis=0)))
    X = counts * weights
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def customers(rng, i):
    """Customers: days since, orders, basket, spending with a long tail, tenure, discounts."""
    k = int(rng.integers(3, 6))
    y = groups(sizes(rng, rng.integers(200, 1700), k, rng.uniform(1.5, 8)))
    n, kind = len(y), scattered_centres(rng, k, 5, rng.uniform(2, 4))[y]
    since = rng.gamma(2.0, 15.0 * np.exp(0.6 * kind[:, 0]))
    orders = 1 + rng.poisson(rng.gamma(3.0, 2.5 * np.exp(0.5 * kind[:, 1])))
    basket = np.exp(3.5 + 0.5 * kind[:, 2] + 0.4 * rng.normal(size=n))
    tail = 1 + rng.pareto(3.0, n)
    tenure = rng.gamma(3.0, 10.0 * np.exp(0.4 * kind[:, 3]))
    discounts = expit(-1 + 1.0 * kind[:, 4] + 0.6 * rng.normal(size=n))
    X = np.column_stack([since, orders, basket, orders * basket * tail, tenure])
    return np.column_stack([np.log1p(X) if i % 2 else X, discounts]), y


def wholesale(rng, i):
    """Spending by kind of goods, log-normal, large buyers large throughout; roots or logs."""
    k, d = int(rng.integers(2, 5)), int(rng.integers(5, 9))
    y = groups(sizes(rng, rng.integers(150, 900), k, rng.uniform(1, 4)))
    taste = scattered_centres(rng, k, d, rng.uniform(2.5, 4.5))[y]
    large = rng.uniform(0.2, 0.8) * rng.normal(size=(len(y), 1))
    spent = np.exp(7 + 0.7 * (taste + large + rng.normal(size=(len(y), d))))
    return (np.log(spent) if i % 3 else np.sqrt(spent)), y


def tick_boxes(rng, i):
    """Boxes ticked or not, in blocks that a segment likes or not; some tick more than others."""
    k, blocks, width = int(rng.integers(2, 7)), int(rng.integers(4, 7)), int(rng.integers(3, 7))
    y = groups(sizes(rng, rng.integers(120, 1000), k, rng.uniform(1, 4)))
    likes = _different(rng, k, blocks)
    liking = rng.uniform(1, 2.2) * (2 * np.repeat(likes, width, axis=1) - 1)
    ease = rng.normal(-0.4, 0.6, blocks * width)
    willing = rng.normal(scale=0.5, size=(len(y), 1))
    return coin(expit(liking[y] + ease + willing), rng), y


def likert_traits(rng, i):
    """Answers on scales of five or seven steps to items of 3 to 5 traits, steps uneven."""
    k, traits, items = int(rng.integers(2, 6)), int(rng.integers(3, 6)), int(rng.integers(3, 7))
    y = groups(sizes(rng, rng.integers(120, 1000), k, rng.uniform(1, 3)))
    trait = scattered_centres(rng, k, traits, rng.uniform(2, 4))[y]
    trait = trait + rng.normal(scale=0.7, size=trait.shape)
    latent = np.repeat(trait, items, axis=1) + rng.normal(size=(len(y), traits * items))
    steps = (5, 7)[i % 2]
    cuts = ndtri(np.sort(rng.uniform(0.03, 0.97, (traits * items, steps - 1)), axis=1))
    cuts = latent.mean(axis=0)[:, None] + latent.std(axis=0)[:, None] * cuts
    return 1.0 + (latent[:, :, None] > cuts).sum(axis=2), y


def drifting_sensors(rng, i):
    """A machine in one of several states for spells; its sensors drift over time."""
    k, d = int(rng.integers(2, 7)), int(rng.integers(4, 13))
    spells = int(rng.integers(3, 6)) * k
    state = rng.permutation(np.arange(spells) % k)
    y = np.repeat(state, rng.integers(25, 60, spells))
    states = scattered_centres(rng, k, d, rng.uniform(3, 6))
    time = np.linspace(-1, 1, len(y))[:, None]
    drift = rng.uniform(0.5, 3.0) * time * rng.choice([-1, 1], d) * rng.uniform(0.3, 1, d)
    return states[y] + drift + 0.9 * _lasting(rng, (d, len(y)), 0.5).T, y


def shaded_colours(rng, i):
    """Points of a picture: a few colours, each from dark to bright, in whole numbers."""
    k = int(rng.integers(3, 8))
    y = groups(sizes(rng, rng.integers(300, 1700), k, rng.uniform(1, 6)))
    colours = max((np.abs(directions(rng, k, 3)) for _ in range(30)), key=_least_cosine)
    shade = rng.beta(rng.uniform(4, 10), 3.0, (len(y), 1))
    X = 255 * shade * colours[y] + rng.uniform(6, 16) * rng.normal(size=(len(y), 3))
    return np.clip(np.round(X), 0, 255), y


def cytometry(rng, i):
    """Markers of cells, bright or dim, in 4 to 8 kinds of cells from common to rare."""
    k, d = int(rng.integers(4, 9)), int(rng.integers(4, 9))
    y = groups(sizes(rng, rng.integers(500, 1900), k, log_uniform(rng, 3, 20)))
    bright = _different(rng, k, d)
    level = np.where(bright, rng.uniform(2.6, 4.4, (k, d)), rng.uniform(0.6, 1.4, (k, d)))
    spread = np.where(bright, rng.uniform(0.4, 0.7), rng.uniform(0.5, 0.8))
    seen = np.sinh(level[y] + spread[y] * rng.normal(size=(len(y), d)))
    return np.arcsinh(seen + rng.uniform(0.2, 1) * rng.normal(size=seen.shape)), y


def _lasting(rng, shape, memory):
    """Noise of variance one that remembers the column before."""
    noise = rng.normal(size=shape)
    for t in range(1, shape[1]):
        noise[:, t] = memory * noise[:, t - 1] + np.sqrt(1 - memory**2) * noise[:, t]
    return noise


def _different(rng, k, m):
    """So many rows of zeros and ones, the least alike of twenty draws."""
    draws = (rng.permutation(2**m)[:k, None] >> np.arange(m) & 1 for _ in range(20))
    return max(draws, key=gap)


def _least_cosine(vectors):
    return -(vectors @ vectors.T - 2 * np.eye(len(vectors))).max()


FAMILIES = (
    load_curves,
    control_charts,
    spectra,
    glyphs,
    expression_arrays,
    cell_types,
    species_lists,
    documents,
    customers,
    wholesale,
    tick_boxes,
    likert_traits,
    drifting_sensors,
    shaded_colours,
    cytometry,
)
