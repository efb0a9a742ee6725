"""How true verdicts are on tables with ties: categories, zeros, counts, rounded numbers, copies.

python benchmarks/atoms.py --half tuning --seeds 4
python benchmarks/atoms.py --half confirming --seeds 4 --only noise
"""

import argparse
import time
import warnings

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

import consilience as cs


def categories(values):
    """Columns of whole numbers as categories."""
    return pd.DataFrame({f"q{j}": pd.Categorical(c.astype(str)) for j, c in enumerate(values.T)})


def categorical_noise(n, columns, levels, uneven=False):
    """Independent categories."""

    def draw(rng):
        shares = rng.dirichlet(np.full(levels, 2.0), columns) if uneven else [None] * columns
        drawn = [rng.choice(levels, n, p=share) for share in shares]
        return categories(np.column_stack(drawn)), None

    return draw


def zero_inflated(n, columns, share):
    def draw(rng):
        return rng.exponential(size=(n, columns)) * (rng.random((n, columns)) >= share), None

    return draw


def counts(n, columns, mean):
    return lambda rng: (rng.poisson(mean, (n, columns)).astype(float), None)


def rounded(n, columns, digits, correlated=0.0):
    def draw(rng):
        shared = rng.normal(size=(n, 1))
        return np.round(rng.normal(size=(n, columns)) + correlated * shared, digits), None

    return draw


def mixed_noise(n, numbers, columns, levels):
    def draw(rng):
        frame = categories(rng.choice(levels, (n, columns)))
        for j in range(numbers):
            frame[f"x{j}"] = rng.normal(size=n)
        return frame, None

    return draw


def repeated_noise(distinct, n, columns):
    return lambda rng: (rng.normal(size=(distinct, columns))[rng.integers(distinct, size=n)], None)


def latent_classes(n, classes, columns, levels, purity):
    """Every class has a category of its own in each column, and others by chance."""

    def draw(rng):
        groups = rng.integers(classes, size=n)
        usual = rng.permuted(np.tile(np.arange(levels), (columns, 1)), axis=1)[:, :classes]
        drawn = rng.choice(levels, (n, columns))
        own = rng.random((n, columns)) < purity
        return categories(np.where(own, usual[:, groups].T, drawn)), groups

    return draw


def zero_groups(n, columns, apart):
    """Two groups, each zero mostly in one half of the columns."""

    def draw(rng):
        groups = rng.integers(2, size=n)
        mine = (np.arange(columns) < columns // 2)[None, :] == (groups == 0)[:, None]
        there = rng.random((n, columns)) < np.where(mine, 0.9, 0.1)
        return (apart + rng.exponential(size=(n, columns))) * there, groups

    return draw


def count_groups(n, columns, groups, low, high):
    def draw(rng):
        found = rng.integers(groups, size=n)
        means = np.where(rng.random((groups, columns)) < 0.5, low, high)
        means[:, :groups] = np.where(np.eye(groups, dtype=bool), high, low)
        return rng.poisson(means[found]).astype(float), found

    return draw


def repeated_blobs(distinct, n, apart, groups=2):
    def draw(rng):
        found = np.arange(distinct) % groups
        centres = apart * np.column_stack([np.arange(groups), np.arange(groups) % 2])
        points = rng.normal(size=(distinct, 2)) + centres[found]
        rows = np.concatenate([np.arange(distinct), rng.integers(distinct, size=n - distinct)])
        return points[rows], found[rows]

    return draw


def few_points(distinct, n):
    def draw(rng):
        rows = np.concatenate([np.arange(distinct), rng.integers(distinct, size=n - distinct)])
        return rng.normal(size=(distinct, 2))[rows], rows

    return draw


def axis_groups(n, columns, digits):
    """Rounded Gaussians, two groups apart in the first column only."""

    def draw(rng):
        groups = rng.integers(2, size=n)
        points = rng.normal(size=(n, columns))
        points[:, 0] = 0.3 * points[:, 0] + 6 * groups
        return np.round(points, digits), groups

    return draw


def planted_mixed(separation):
    def draw(rng):
        sample = cs.datasets.make_mixed(random_state=int(rng.integers(2**31)), **separation)
        return sample.to_pandas(), sample.groups

    return draw


def rounded_blobs(n, columns, digits, apart):
    def draw(rng):
        groups = rng.integers(3, size=n)
        centres = apart * np.eye(3, columns)
        return np.round(rng.normal(size=(n, columns)) + centres[groups], digits), groups

    return draw


NOISE = {
    "tuning": {
        "4 categories of 3": categorical_noise(200, 4, 3),
        "8 categories of 2": categorical_noise(200, 8, 2),
        "3 categories, uneven": categorical_noise(200, 3, 5, True),
        "zeros .5 in 3": zero_inflated(200, 3, 0.5),
        "zeros .8 in 5": zero_inflated(200, 5, 0.8),
        "counts of 1 in 4": counts(200, 4, 1.0),
        "rounded to 1": rounded(200, 3, 0, 0.0),
        "2 numbers, 3 categories": mixed_noise(200, 2, 3, 3),
        "30 repeated": repeated_noise(30, 200, 2),
    },
    "confirming": {
        "6 categories of 4": categorical_noise(240, 6, 4),
        "3 categories of 2": categorical_noise(160, 3, 2),
        "5 categories, uneven": categorical_noise(200, 5, 4, True),
        "zeros .3 in 4": zero_inflated(200, 4, 0.3),
        "zeros .6 in 2": zero_inflated(240, 2, 0.6),
        "counts of 3 in 3": counts(200, 3, 3.0),
        "rounded to .5, correlated": rounded(200, 4, 0, 1.0),
        "4 numbers, 2 categories": mixed_noise(200, 4, 2, 4),
        "60 repeated": repeated_noise(60, 240, 3),
    },
}
PLANTED = {
    "tuning": {
        "classes .8 in 6": latent_classes(200, 3, 6, 3, 0.8),
        "classes .9 in 4": latent_classes(200, 2, 4, 3, 0.9),
        "zeros of 2 groups": zero_groups(200, 6, 2.0),
        "counts 1 and 8": count_groups(200, 5, 3, 1.0, 8.0),
        "copies of blobs": repeated_blobs(40, 400, 8.0),
        "3 points": few_points(3, 200),
        "mixed": planted_mixed({}),
        "rounded blobs": rounded_blobs(200, 4, 0, 6.0),
        "rounded, one column": axis_groups(200, 3, 1),
    },
    "confirming": {
        "classes .7 in 10": latent_classes(240, 3, 10, 4, 0.7),
        "classes .85 in 5": latent_classes(200, 3, 5, 4, 0.85),
        "zeros of 2 groups, 4": zero_groups(200, 4, 3.0),
        "counts 2 and 12": count_groups(240, 4, 2, 2.0, 12.0),
        "copies of blobs": repeated_blobs(90, 360, 8.0, 3),
        "5 points": few_points(5, 200),
        "mixed": planted_mixed({}),
        "rounded blobs": rounded_blobs(240, 3, 0, 7.0),
        "rounded, one column": axis_groups(240, 2, 0),
    },
}


def judged(draw, seed):
    """The verdict, its p-value, the groups, the share of doubtful objects and the ARI."""
    X, groups = draw(np.random.default_rng(seed))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cs.cluster(X, n_members=30, random_state=seed)
    ari = np.nan if groups is None else adjusted_rand_score(groups, result.labels)
    clarity = result.clarity
    return clarity.verdict, clarity.p_value, result.n_clusters, result.doubtful.mean(), ari


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--half", choices=("tuning", "confirming"), default="tuning")
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--only", choices=("noise", "planted"))
    said = parser.parse_args()
    first = 0 if said.half == "tuning" else 1000
    for name, families in (("noise", NOISE), ("planted", PLANTED)):
        for family, draw in families[said.half].items() if said.only in (None, name) else ():
            start = time.perf_counter()
            found = [judged(draw, seed) for seed in range(first, first + said.seeds)]
            verdicts = [one[0] for one in found]
            told = ", ".join(f"{verdicts.count(v)} {v}" for v in ("clear", "weak", "none"))
            p = " ".join("-" if one[1] is None else f"{one[1]:.2f}" for one in found)
            k, doubt = [one[2] for one in found], np.mean([one[3] for one in found])
            ari, took = np.mean([one[4] for one in found]), time.perf_counter() - start
            print(f"{name:8}{family:28}{told:26} p {p} k {k} doubtful {doubt:.2f} "
                  f"ARI {ari:.3f} {took:.0f} s", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
