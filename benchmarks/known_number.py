"""Recent methods and members on eight real tables, the number of groups known.

    python benchmarks/known_number.py --data FOLDER

Prints, as Markdown, the adjusted Rand index of each method, mean over seeds; columns are
standardised, members are 100 of the default `KMeansEnsemble` unless a line says otherwise. Some
minutes on one core. Eight tables show where a method fails, not which one is best: see
``quality.py`` for that. The folder is that of `consilience.datasets.load`.
"""

import argparse
import os
import sys
import warnings
from functools import cache

import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import consilience as cs
from consilience.consensus import CONSENSUS
from consilience.errors import ConsilienceWarning
from consilience.generate import GraphEnsemble, KMeansEnsemble

TABLES = [
    *("iris", "wine", "breast_tissue", "glass"),
    *("ionosphere", "std_yeast_cell", "leukemia", "wdbc"),
]
MEMBERS = {
    "": lambda k, seed: KMeansEnsemble(random_state=seed),
    "graph members": lambda k, seed: GraphEnsemble(random_state=seed),
    "graph members of K to 4 K clusters": lambda k, seed: GraphEnsemble(
        n_clusters=(k, 4 * k), random_state=seed
    ),
}
LINES = [
    ("eac", {}, ""),
    ("eac", {"linkage": "ward"}, ""),
    ("lwea", {}, ""),
    ("lwea", {"normalise": True}, ""),
    ("lwgp", {}, ""),
    ("lwgp", {"normalise": True}, ""),
    ("ecpcshc", {}, ""),
    ("ecpcsmc", {}, ""),
    ("eccms", {}, ""),
    *[(name, {}, members) for members in list(MEMBERS)[1:] for name in ("lwea", "lwgp")],
]


def main():
    """Run every line on every table and print the table of means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("CONSILIENCE_DATA"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    args = parser.parse_args()
    scores = np.empty((len(LINES), len(TABLES), args.seeds))
    for column, name in enumerate(TABLES):
        table = cs.datasets.load(name, data_home=args.data)
        X, k = StandardScaler().fit_transform(table.X), len(np.unique(table.truth))
        for seed in range(args.seeds):
            scores[:, column, seed] = run(X, k, table.truth, seed, args.jobs)
            print(name, seed, scores[:, column, seed].round(3).tolist(), file=sys.stderr)
    show(scores)


def run(X, k, truth, seed, n_jobs):
    """The score of every line on one table."""

    @cache
    def members(which):
        return MEMBERS[which](k, seed).set_params(n_jobs=n_jobs).generate(X)

    found = []
    for name, options, which in LINES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConsilienceWarning)
            method = CONSENSUS[name]
            result = method.run(members(which), k, random_state=seed, n_jobs=n_jobs, **options)
        found.append(adjusted_rand_score(truth, result.labels))
    return found


def show(scores):
    """Means over seeds, and over tables with the standard error over seeds."""
    print("| method |", " | ".join(TABLES), "| mean |")
    print("|---" * (len(TABLES) + 2) + "|")
    n_seeds = scores.shape[2]
    for (name, options, which), line in zip(LINES, scores, strict=True):
        given = ", ".join(f"{key}={value!r}" for key, value in options.items())
        title = f"`{CONSENSUS[name].estimator_name}{f'({given})' if given else ''}`"
        cells = " | ".join(f"{value:.2f}" for value in line.mean(axis=1))
        each = line.mean(axis=0)
        error = each.std(ddof=1) / np.sqrt(n_seeds) if n_seeds > 1 else float("nan")
        of = f", {which}" if which else ""
        print(f"| {title}{of} | {cells} | {each.mean():.3f} ± {error:.3f} |", flush=True)


if __name__ == "__main__":
    main()
