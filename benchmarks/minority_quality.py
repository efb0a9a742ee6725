"""How true the answers of minority clustering are: the border, and whether there is anything.

    python benchmarks/minority_quality.py groups --part developing --sets 8
    python benchmarks/minority_quality.py noise --part developing --sets 5
    python benchmarks/minority_quality.py hdbscan --part developing --sets 4
    python benchmarks/minority_quality.py number --sets 4
    python benchmarks/minority_quality.py small --sets 10

``groups``: F1 in per cent of every rule for the border and of the best threshold of the same
scores, by background. ``noise``: in how many sets without groups a foreground is claimed.
``hdbscan``: F1 beside that of HDBSCAN, the best of three settings picked with the truth.
``number``: how many groups are found of one to five clumps. ``small``: in how many draws one small
group in even noise is found. The confirming part is for the end: it takes --open-confirming. What
was tried is in minority_recipes.csv.
"""

import argparse
import time
import warnings
from collections import defaultdict

import numpy as np
from minority_sets import AGAINST_HDBSCAN, NOISE, clumps, noise, with_groups
from sklearn.cluster import HDBSCAN

from consilience.compare import precision_recall_f1
from consilience.errors import ConsilienceWarning
from consilience.minority import EWOCS
from consilience.minority.thresholds import best, find

PUBLISHED = ("2gauss", "dist", "ngauss")
SIZES = (5, 25, 50)


def f1(foreground, y):
    """F1 of a foreground, in per cent."""
    labels = np.where(foreground, 0, -1)
    return 100 * precision_recall_f1(labels, y).f1


def fitted(X, seed, **options):
    """The estimator with these options, and its time."""
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        model = EWOCS(random_state=seed, clusterer=None, **options).fit(X)
    return model, time.perf_counter() - start


def groups(args):
    """F1 by background."""
    lines = defaultdict(list)
    for name, number, X, y in with_groups(args.part, args.sets):
        if args.only and name not in args.only:
            continue
        model, seconds = fitted(X, number, **args.options)
        scores = model.scores_
        top = f1(scores >= best(scores, y).value, y)
        own = f1(model.labels_ >= 0, y)
        others = [f1(scores >= find(scores, rule).value, y) for rule in PUBLISHED]
        flagged = model.flag_ in ("no_reference", "uncertain")
        empty = model.n_foreground_ == 0
        lines[name].append([top, own, *others, flagged, empty, seconds])
        if args.each:
            print(name, number, X.shape, np.round(lines[name][-1], 2), flush=True)
    names = ("best", "default", *PUBLISHED)
    print(f"| data | sets | {' | '.join(names)} | gap | flagged | empty | s |")
    print("|" + "---|" * (len(names) + 6))
    for name, rows in lines.items():
        mean = np.mean(rows, axis=0)
        cells = " | ".join(f"{value:.1f}" for value in mean[: len(names)])
        counts = np.sum(rows, axis=0)[len(names) : len(names) + 2].astype(int)
        print(
            f"| {name} | {len(rows)} | {cells} | {mean[0] - mean[1]:.1f} | {counts[0]} | "
            f"{counts[1]} | {mean[-1]:.1f} |"
        )


def without(args):
    """Foreground claimed where there is none."""
    lines = defaultdict(list)
    for name, d, number, X in noise(args.part, args.sets):
        if args.only and name not in args.only:
            continue
        model, _ = fitted(X, number, **args.options)
        lines[name, d].append([model.n_foreground_ > 0, model.n_foreground_ / len(X)])
        if args.each and model.n_foreground_:
            print(name, d, number, model.n_foreground_, model.threshold_result_.why, flush=True)
    print("| noise | columns | sets | with a foreground | mean share |")
    print("|---|---|---|---|---|")
    for (name, d), rows in lines.items():
        claimed, share = np.sum(rows, axis=0)[0], np.mean(rows, axis=0)[1]
        print(f"| {name} | {d} | {len(rows)} | {int(claimed)} | {share:.3f} |")
    every = np.vstack(list(lines.values()))
    print(f"all: {int(every[:, 0].sum())} of {len(every)}")


def against(args):
    """Wins and losses against HDBSCAN, on ten sets: the first of each line named beforehand."""
    wins = []
    seen = set()
    for name, number, X, y in with_groups(args.part, args.sets):
        if name not in AGAINST_HDBSCAN[args.part] or name in seen:
            continue
        if args.only and name not in args.only:
            continue
        seen.add(name)
        model, _ = fitted(X, number, **args.options)
        ours = f1(model.labels_ >= 0, y)
        scaled = X / X.std(axis=0)
        theirs = max(
            f1(HDBSCAN(min_cluster_size=size, copy=True).fit_predict(table) >= 0, y)
            for size in SIZES
            for table in (X, scaled)
        )
        wins.append(ours >= theirs)
        print(f"| {name} | {ours:.1f} | {theirs:.1f} |", flush=True)
    print(f"at least HDBSCAN's on {sum(wins)} of {len(wins)}")


def number(args):
    """How many groups are found of those planted; sets without a foreground are left out."""
    for background in ("uniform", "gaussian"):
        for d in (2, 3, 5, 10):
            right, there = 0, 0
            for planted in (1, 2, 3, 5):
                for draw in range(args.sets):
                    X = clumps(background, d, planted, draw)
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore", ConsilienceWarning)
                        model = EWOCS(random_state=draw, n_repetitions=100, **args.options).fit(X)
                    there += model.n_foreground_ > 0
                    right += model.n_clusters_ == planted
                    if args.each and model.n_clusters_ != planted:
                        print(background, d, planted, draw, model.n_clusters_, flush=True)
            print(f"| {background} | {d} | {right} of {there} |", flush=True)


def small(args):
    """One group in two even columns: at least half of it, and fewer others than that."""
    for n, m in ((100, 20), (300, 40), (600, 60), (1000, 60)):
        found = 0
        for draw in range(args.sets):
            rng = np.random.default_rng([9, draw])
            even, dense = rng.uniform(-5, 5, (n, 2)), rng.normal(0, 0.3, (m, 2))
            model, _ = fitted(np.r_[even, dense + rng.uniform(-3, 3, 2)], 0, n_repetitions=50)
            inside = model.labels_ >= 0
            found += inside[n:].sum() > m / 2 > inside[:n].sum()
        print(f"| {m} among {n} | {found} of {args.sets} |", flush=True)


JOBS = {"groups": groups, "noise": without, "hdbscan": against, "number": number, "small": small}


def main():
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("job", choices=tuple(JOBS))
    parser.add_argument("--part", choices=tuple(NOISE), default="developing")
    parser.add_argument("--sets", type=int, default=4, help="of each kind of the paper's data")
    parser.add_argument("--only", nargs="*", help="kinds to look at")
    parser.add_argument("--each", action="store_true", help="a line for every set")
    parser.add_argument(
        "--options", type=_options, default={}, help="of EWOCS: score_by=knn,gamma=10"
    )
    parser.add_argument("--open-confirming", action="store_true")
    args = parser.parse_args()
    if args.part == "confirming" and not args.open_confirming:
        parser.error("the confirming sets are for the end: add --open-confirming, once")
    if args.part == "peaks" and args.job != "noise":
        parser.error("the peaks are kinds of noise only")
    JOBS[args.job](args)


def _options(text):
    pairs = (part.split("=") for part in text.split(","))
    return {name: _value(value) for name, value in pairs}


def _value(text):
    try:
        return float(text)
    except ValueError:
        return text


if __name__ == "__main__":
    main()
