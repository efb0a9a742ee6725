"""Table of docs/minority.md: the default width of EWOCS against that of the paper.

``python benchmarks/ewocs_width.py`` prints it; about 15 minutes on one core.
"""

import warnings

import numpy as np
from sklearn.datasets import load_digits, load_wine

from consilience.compare import auc, precision_recall_f1
from consilience.datasets import make_minority
from consilience.errors import ConsilienceWarning
from consilience.minority import EWOCS
from consilience.minority.thresholds import best

GAMMAS = ("distance", 10.0)


def planted(background, spread, rng):
    """Two groups, a tenth of the objects together: other objects, drawn near to one of them."""
    n, m = len(background), max(8, len(background) // 20)
    parts = [background]
    for _ in range(2):
        centre = background[rng.integers(n)]
        others = background[rng.permutation(n)[:m]] - background.mean(axis=0)
        parts.append(centre + spread * others)
    return np.vstack(parts), np.repeat([0, 1, 2], [n, m, m])


def sets():
    """Name, columns and sets of each line of the table."""
    for d in (2, 3, 5, 8):
        seeds = range(7000 + 100 * d, 7010 + 100 * d)
        made = [make_minority(d, spread=1 + seed % 2, random_state=seed) for seed in seeds]
        yield f"`make_minority({d})`", d, made
    rngs = [np.random.default_rng(7000 + run) for run in range(5)]
    for name, X, spread in (("wine", load_wine().data, 0.3), ("digits", load_digits().data, 0.5)):
        title = f"{name}, groups {spread} as wide"
        yield title, X.shape[1], [planted(X, spread, rng) for rng in rngs]
    for d, spread in ((2, 0.1), (20, 0.5), (200, 0.7), (2000, 0.8)):
        made = [planted(rng.normal(size=(1000, d)), spread, rng) for rng in rngs]
        yield f"normal noise, groups {spread} as wide", d, made


def measured(X, y, gamma, seed):
    """AUC, best F1 in per cent, range of the scores."""
    model = EWOCS(gamma=gamma, n_repetitions=100, clusterer=None, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        scores = model.fit(X).scores_
    f1 = 100 * precision_recall_f1(scores >= best(scores, y).value, y).f1
    return auc(scores, y), f1, np.ptp(scores)


def main():
    """Print the table."""
    print("| data | columns | sets | AUC | F1 | range | AUC, 10 | F1, 10 | range, 10 |")
    print("|---|---|---|---|---|---|---|---|---|")
    for title, d, made in sets():
        cells = []
        for gamma in GAMMAS:
            rows = np.array([measured(X, y, gamma, run) for run, (X, y) in enumerate(made)])
            error = rows.std(axis=0, ddof=1) / np.sqrt(len(rows))
            mean = rows.mean(axis=0)
            cells += [f"{mean[0]:.3f} ± {error[0]:.3f}", f"{mean[1]:.1f} ± {error[1]:.1f}"]
            cells.append(f"{mean[2]:.2g}")
        print(f"| {title} | {d} | {len(made)} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    main()
