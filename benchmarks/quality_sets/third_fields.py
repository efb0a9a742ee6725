"""Tables as fields of work have them, others than ``second`` has.

A part of the families of ``third``, and called as those are: cells and communities, buyers,
texts and sequences, segments of pictures, series by their features, maps.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.stats import kurtosis, skew

from quality_sets.drawing import (
    coin,
    directions,
    gap,
    groups,
    scattered_centres,
    sizes,
)


def single_cells(rng, i):
    """Types of cells in two to four lineages: counts of 200 genes, logarithms, 8 to 15 axes."""
    lineages, genes = int(rng.integers(2, 5)), 200
    of_type = np.repeat(np.arange(lineages), rng.integers(1, 4, lineages))
    k = len(of_type)
    y = groups(sizes(rng, k * rng.integers(60, 250), k, rng.uniform(2, 10)))
    above = (rng.uniform(size=(lineages, genes)) < 0.12) * rng.normal(0, 1.5, (lineages, genes))
    below = (rng.uniform(size=(k, genes)) < 0.06) * rng.normal(0, 1.0, (k, genes))
    rates = np.exp(rng.normal(0, 1.0, genes) + above[of_type] + below)
    depth = np.exp(0.3 * rng.normal(size=(len(y), 1)))
    counts = rng.poisson(rates[y] * depth * rng.gamma(3.0, 1 / 3, (len(y), genes)))
    shares = counts / (counts.sum(axis=1, keepdims=True) + 1)
    return _axes(np.log1p(200 * shares), int(rng.integers(8, 16))), y


def communities(rng, i):
    """Communities of 20 to 50 taxa: log-normal abundances, a few thousand reads, log ratios."""
    k, d = int(rng.integers(2, 6)), int(rng.integers(20, 51))
    y = groups(sizes(rng, rng.integers(100, 700), k, rng.uniform(1, 5)))
    typical = rng.normal(0, 1.5, d) + (rng.uniform(size=(k, d)) < 0.25) * rng.normal(0, 1.3, (k, d))
    amount = np.exp(typical[y] + rng.uniform(0.7, 1.0) * rng.normal(size=(len(y), d)))
    reads = rng.poisson(3000 * amount / amount.sum(axis=1, keepdims=True))
    logs = np.log(reads + 0.5)
    return logs - logs.mean(axis=1, keepdims=True), y


def shoppers(rng, i):
    """What households spend on 8 to 15 kinds of goods; segments leave out some kinds altogether."""
    k, d = int(rng.integers(3, 6)), int(rng.integers(8, 16))
    y = groups(sizes(rng, rng.integers(250, 2000), k, rng.uniform(1.5, 6)))
    taste = rng.normal(3, 0.8, d) + rng.normal(0, 0.7, (k, d))
    buys = np.where(rng.uniform(size=(k, d)) < 0.3, 0.06, 0.96)
    budget = 0.3 * rng.normal(size=(len(y), 1))
    spent = np.exp(taste[y] + budget + 0.5 * rng.normal(size=(len(y), d))) * coin(buys[y], rng)
    return (np.log1p(spent) if i % 3 else np.sqrt(spent)), y


def phone_plans(rng, i):
    """Who uses a telephone how: minutes, data, messages, the bill that follows, and tenure."""
    k = int(rng.integers(3, 6))
    y = groups(sizes(rng, rng.integers(300, 2500), k, rng.uniform(1, 6)))
    n, habit = len(y), scattered_centres(rng, k, 4, rng.uniform(2.8, 4.5))[y]
    minutes = 200 * np.exp(0.35 * (habit[:, 0] + rng.normal(size=n)))
    data = 4 * np.exp(0.35 * (habit[:, 1] + rng.normal(size=n)))
    messages = rng.poisson(60 * np.exp(0.35 * (habit[:, 2] + rng.normal(size=n))))
    abroad = 10 * np.exp(0.35 * (habit[:, 3] + rng.normal(size=n)))
    bill = 8 + 0.02 * minutes + 1.5 * data + 0.3 * abroad + rng.normal(size=n)
    use = np.log(np.column_stack([minutes, data, messages + 1, abroad, np.maximum(bill, 2)]))
    return np.column_stack([use, rng.gamma(2.0, 12.0, n), rng.poisson(1.5, n)]), y


def term_weights(rng, i):
    """Texts on 4 to 10 topics: weights of 400 terms, mostly zero, taken to 8 to 20 axes."""
    k, terms = int(rng.integers(4, 11)), 400
    y = groups(sizes(rng, rng.integers(300, 1000), k, rng.uniform(1, 4)))
    common = rng.dirichlet(np.full(terms, 0.3))
    topics = rng.dirichlet(np.full(terms, 0.06), k)
    own = rng.beta(5, 10, (len(y), 1))
    counts = rng.multinomial(
        rng.integers(30, 150, len(y)), own * topics[y] + (1 - own) * common
    ).astype(float)
    weights = counts * (1 + np.log((1 + len(y)) / (1 + (counts > 0).sum(axis=0))))
    weights /= np.linalg.norm(weights, axis=1, keepdims=True)
    X = _axes(weights, k + int(rng.integers(2, 9)), centred=False)
    return (X / np.linalg.norm(X, axis=1, keepdims=True) if i % 2 else X), y


def image_segments(rng, i):
    """Patches of outdoor pictures: place, colour, what follows from colour, contrast of edges."""
    k = int(rng.integers(4, 8))
    y = groups(sizes(rng, rng.integers(300, 2900), k, rng.uniform(1, 3)))
    n = len(y)
    colours = max((rng.uniform(15, 190, (k, 3)) for _ in range(30)), key=gap)
    light = np.exp(rng.uniform(0.1, 0.25) * rng.normal(size=(n, 1)))
    colour = np.clip(light * colours[y] + 12 * rng.normal(size=(n, 3)), 1, 255)
    down = np.clip(rng.uniform(40, 200, k)[y] + 25 * rng.normal(size=n), 0, 255)
    edges = np.exp(rng.normal(0.5, 1.0, (k, 2))[y] + 0.5 * rng.normal(size=(n, 2)))
    bright, most = colour.mean(axis=1), colour.max(axis=1)
    shades = np.column_stack([bright, most, 1 - colour.min(axis=1) / most])
    across = rng.uniform(0, 255, n)
    excess = 3 * colour - colour.sum(axis=1, keepdims=True)
    return np.column_stack([across, down, colour, excess, shades, np.log1p(edges)]), y


def series_features(rng, i):
    """Series of three to six kinds, each told by ten features of its course."""
    k, length = int(rng.integers(3, 7)), 80
    y = groups(sizes(rng, rng.integers(150, 700), k, rng.uniform(1, 3)))
    n, time = len(y), np.arange(length)
    noise = rng.normal(size=(n, length))
    period = rng.uniform(9, 13, (n, 1))
    kinds = np.stack(
        [
            noise,
            _remembering(noise, 0.7),
            _remembering(noise, -0.6),
            1.2 * np.sin(2 * np.pi * (time / period + rng.uniform(size=(n, 1)))) + noise,
            rng.uniform(0.03, 0.07, (n, 1)) * time + noise,
            rng.gamma(1.0, 1.0, (n, length)),
        ]
    )
    X = kinds[rng.permutation(6)[:k][y], np.arange(n)]
    X = (X - X.mean(axis=1, keepdims=True)) / X.std(axis=1, keepdims=True)
    return _features(X), y


def step_responses(rng, i):
    """How devices answer a step: slow, late, overshooting, ringing; 40 to 60 moments."""
    k, d = int(rng.integers(3, 6)), int(rng.integers(40, 61))
    y = groups(sizes(rng, rng.integers(120, 800), k, rng.uniform(1, 3)))
    n, time = len(y), np.linspace(0, 10, d)
    own = np.exp(rng.uniform(0.1, 0.25) * rng.normal(size=(3, n, 1)))
    quick, slow = 1 - np.exp(-time / own[0]), 1 - np.exp(-time / (4 * own[0]))
    late = np.where(time > 3 * own[1], 1 - np.exp(-(time - 3 * own[1])), 0)
    over = 1 - np.exp(-0.6 * time) * (np.cos(1.4 * own[0] * time) - 0.5 * np.sin(1.4 * time))
    ringing = 1 - np.exp(-0.15 * time * own[1]) * np.cos(2.5 * own[0] * time)
    kinds = np.stack([quick, slow, late, over, ringing])
    X = own[2] * kinds[rng.permutation(5)[:k][y], np.arange(n)]
    return X + rng.uniform(0.05, 0.25) * rng.normal(size=X.shape), y


def activities(rng, i):
    """A sensor on a body: how it is held, how much it shakes on three axes, how fast."""
    resting, moving = int(rng.integers(2, 4)), int(rng.integers(2, 4))
    k = resting + moving
    y = groups(sizes(rng, k * rng.integers(60, 300), k, rng.uniform(1, 3)))
    n = len(y)
    held = max((directions(rng, resting + 1, 3) for _ in range(30)), key=gap)
    held = np.vstack([held[:-1], np.tile(held[-1], (moving, 1))])
    shakes = np.vstack(
        [np.full((resting, 4), -3.0), scattered_centres(rng, moving, 4, rng.uniform(1.5, 2.2))]
    )
    upright = held[y] + rng.uniform(0.1, 0.25) * rng.normal(size=(n, 3))
    return np.hstack([upright, shakes[y] + 0.45 * rng.normal(size=(n, 4))]), y


def zoo(rng, i):
    """Animals by 14 to 30 traits they have or lack; classes of four to eight, few exceptions."""
    k, d = int(rng.integers(4, 9)), int(rng.integers(14, 31))
    y = groups(np.maximum(8, sizes(rng, rng.integers(90, 500), k, rng.uniform(2, 10))))
    has = max(((rng.uniform(size=(k, d)) < 0.45).astype(float) for _ in range(50)), key=gap)
    wrong = rng.uniform(0.05, 0.16)
    return np.abs(has[y] - coin(np.full((len(y), d), wrong), rng)), y


def strains(rng, i):
    """Genes that strains have or lack: clades of clades part by gains and losses."""
    above, d = int(rng.integers(2, 4)), int(rng.integers(40, 61))
    of_clade = np.repeat(np.arange(above), rng.integers(1, 4, above))
    k = len(of_clade)
    y = groups(sizes(rng, k * rng.integers(30, 120), k, rng.uniform(1, 4)))
    root = rng.integers(0, 2, d)
    old = root ^ (rng.uniform(size=(above, d)) < 0.4)
    recent = old[of_clade] ^ (rng.uniform(size=(k, d)) < 0.17)
    return (recent[y] ^ (rng.uniform(size=(len(y), d)) < rng.uniform(0.07, 0.14))).astype(float), y


def land_cover(rng, i):
    """Points of the ground seen in 4 to 10 bands: brightness by band, in sun and in shade."""
    k, d = int(rng.integers(4, 8)), int(rng.integers(4, 11))
    y = groups(sizes(rng, rng.integers(400, 2800), k, rng.uniform(1, 5)))
    bands = np.arange(d)
    alike = np.linalg.cholesky(0.8 ** np.abs(bands[:, None] - bands) + 1e-9 * np.eye(d))
    spectrum = 90 + 30 * scattered_centres(rng, k, d, rng.uniform(0.7, 1.4)) @ alike.T
    sun = np.exp(0.05 * rng.normal(size=(len(y), 1)))
    texture = 7 * rng.normal(size=(len(y), d)) @ alike.T
    return np.clip(
        np.round(sun * spectrum[y] + texture + 2 * rng.normal(size=(len(y), d))), 0, 255
    ), y


def star_colours(rng, i):
    """Stars by colour and brightness: a long sequence, a clump of giants, faint blue dwarfs."""
    y = groups([int(rng.integers(300, 1500)), *rng.integers(60, 250, 2)])
    n, fuzz = len(y), rng.uniform(0.25, 0.45)
    colour = np.clip(rng.beta(2, 2, n) * 2.0 - 0.2, -0.2, 1.8)
    sequence = np.column_stack([colour, 1 + 5.5 * colour - 1.1 * colour**2])
    giants = np.array([1.25, 0.3]) + rng.normal(size=(n, 2)) * (0.1, 0.4)
    dwarfs = np.array([0.05, 11.5]) + np.outer(0.15 * rng.normal(size=n), (1, 4))
    X = np.stack([sequence, giants, dwarfs])[y, np.arange(n)]
    X = X + rng.normal(size=(n, 2)) * (0.03, fuzz)
    # The colour of a second pair of filters, where there is one.
    second = 0.6 * X[:, :1] + 0.06 * rng.normal(size=(n, 1))
    return np.hstack([X, second][: 1 + i % 2]), y


def towns(rng, i):
    """Where people live: towns from large to small, large ones wide; some live in between."""
    k = int(rng.integers(6, 19))
    people = np.maximum(20, sizes(rng, rng.integers(900, 2400), k, rng.uniform(8, 25)))
    y = groups(people)
    radius = np.sqrt(people / people.max()) * rng.uniform(0.6, 1.0)
    centres = scattered_centres(rng, k, 2, rng.uniform(3, 4.5))
    X = centres[y] + radius[y, None] * rng.normal(size=(len(y), 2))
    n_between = int((0, 0.05, 0.1)[i % 3] * len(y))
    between = rng.uniform(X.min(axis=0), X.max(axis=0), (n_between, 2))
    return np.vstack([X, between]), np.append(y, np.full(n_between, -1))


def sessions(rng, i):
    """Visits to a site of 8 to 15 kinds of pages: counts by intent, long visits and short ones."""
    k, d = int(rng.integers(3, 7)), int(rng.integers(8, 16))
    y = groups(sizes(rng, rng.integers(300, 2500), k, rng.uniform(1.5, 8)))
    draws = (rng.dirichlet(np.full(d, 0.5), k) for _ in range(30))
    wanted = 0.9 * max(draws, key=gap) + 0.1 / d
    length = rng.gamma(4.0, 4.0, len(y)) + 8
    counts = rng.poisson(length[:, None] * wanted[y]).astype(float)
    return (counts, np.log1p(counts), np.sqrt(counts))[i % 3], y


def sequence_words(rng, i):
    """Pieces of genomes by the shares of their 16 words of two letters."""
    k, length = int(rng.integers(2, 6)), int(rng.integers(200, 500))
    y = groups(sizes(rng, rng.integers(150, 900), k, rng.uniform(1, 4)))
    ways = rng.dirichlet(np.full(4, 8.0), 4)
    chances = ways * np.exp(rng.uniform(0.15, 0.35) * rng.normal(size=(k, 4, 4)))
    sums = (chances / chances.sum(axis=2, keepdims=True)).cumsum(axis=2)
    letter = rng.integers(0, 4, len(y))
    X = np.zeros((len(y), 16))
    for _ in range(length):
        follows = (rng.uniform(size=(len(y), 1)) > sums[y, letter]).sum(axis=1).clip(0, 3)
        X[np.arange(len(y)), 4 * letter + follows] += 1
        letter = follows
    return X / length, y


def players(rng, i):
    """Players by what they do in a match: rates from counts of few or many matches."""
    k, d = int(rng.integers(3, 6)), int(rng.integers(8, 15))
    y = groups(sizes(rng, rng.integers(150, 900), k, rng.uniform(1, 3)))
    rates = np.exp(rng.normal(0.3, 0.6, d) + rng.uniform(0.35, 0.65) * rng.normal(size=(k, d)))
    matches = rng.gamma(4.0, 6.0, (len(y), 1)) + 5
    skill = np.exp(rng.uniform(0.2, 0.35) * rng.normal(size=(len(y), d)))
    return np.round(rng.poisson(rates[y] * skill * matches) / matches, 2), y


def embeddings(rng, i):
    """Vectors of meaning: 32 to 60 columns of length one, a common direction, few that matter."""
    k, d = int(rng.integers(5, 13)), int(rng.integers(32, 61))
    y = groups(sizes(rng, k * rng.integers(30, 150), k, rng.uniform(1, 5)))
    decay = np.arange(1, d + 1) ** -0.5
    topics = rng.normal(size=(k, d)) * decay
    X = topics[y] + rng.uniform(0.7, 1.2) * decay * rng.normal(size=(len(y), d))
    X = X @ np.linalg.qr(rng.normal(size=(d, d)))[0] + directions(rng, 1, d)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def _axes(X, m, centred=True):
    """The first axes of largest variance, each of the length it has."""
    X = X - X.mean(axis=0) if centred else X
    last = X.shape[1] - 1
    vectors = eigh(X.T @ X, subset_by_index=(last - m + 1, last))[1]
    return X @ vectors[:, ::-1]


def _remembering(noise, memory):
    """Noise in which each column remembers the one before."""
    X = noise.copy()
    for t in range(1, X.shape[1]):
        X[:, t] += memory * X[:, t - 1]
    return X


def _features(X):
    """Ten features of series of mean 0 and deviation 1."""
    length = X.shape[1]
    lags = [(X[:, lag:] * X[:, :-lag]).mean(axis=1) for lag in (1, 2, 5, 11)]
    power = np.abs(np.fft.rfft(X)[:, 1:]) ** 2
    power /= power.sum(axis=1, keepdims=True)
    entropy = -(power * np.log(power + 1e-12)).sum(axis=1)
    steps = np.diff(X, axis=1)
    turns = (steps[:, 1:] * steps[:, :-1] < 0).mean(axis=1)
    trend = X @ (np.arange(length) - (length - 1) / 2) / length**2
    shape = [skew(X, axis=1), np.log(kurtosis(X, axis=1, fisher=False))]
    return np.column_stack([*lags, entropy, power.max(axis=1), turns, trend, *shape])


FAMILIES = (
    single_cells,
    communities,
    shoppers,
    phone_plans,
    term_weights,
    image_segments,
    series_features,
    step_responses,
    activities,
    zoo,
    strains,
    land_cover,
    star_colours,
    towns,
    sessions,
    sequence_words,
    players,
    embeddings,
)
