"""How well tables with categories, gaps, views and knowledge are clustered.

python benchmarks/tables.py mixed --seeds 20
python benchmarks/tables.py gaps --seeds 20
python benchmarks/tables.py graphs --seeds 10
python benchmarks/tables.py large-graph --seeds 1
"""

import argparse
import time
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score, roc_auc_score

import consilience as cs


def one_hot(sample):
    """The table as numbers, as ``encode="onehot"`` makes them: each column weighs the same."""
    parts = [(sample.numbers - sample.numbers.mean(0)) / sample.numbers.std(0)]
    for column in sample.categories.T:
        split = (column[:, None] == np.arange(column.max() + 1)).astype(float)
        split -= split.mean(0)
        parts.append(split / np.sqrt(split.var(0).sum()))
    return np.hstack(parts)


def mixed(seed):
    """ARI of one-hot k-means members and of mixed ones, the number found, and given."""
    sample = cs.datasets.make_mixed(random_state=seed)
    k, frame, numbers = 4, sample.to_pandas(), one_hot(sample)
    found = {}
    for name, X in (("one-hot", numbers), ("mixed", frame)):
        scale = "auto" if X is frame else False
        result = cs.cluster(X, scale=scale, effort="quick", random_state=seed)
        found[f"{name}, k found"] = adjusted_rand_score(sample.groups, result.labels)
    columns = list(range(2, 24))
    values = np.column_stack([sample.numbers, sample.categories])
    members = {
        "one-hot": cs.generate.KMeansEnsemble(random_state=seed).generate(numbers),
        "mixed": cs.generate.MixedEnsemble(categorical=columns, random_state=seed).generate(values),
    }
    for name, ensemble in members.items():
        labels = cs.EAC(k).fit(ensemble=ensemble).labels_
        found[f"{name}, average link, k given"] = adjusted_rand_score(sample.groups, labels)
    return found


def with_gaps(X, seed, share=0.2):
    """The table with cells missing at random; every object has one cell at least."""
    rng = np.random.default_rng(seed)
    gone = rng.uniform(size=X.shape) < share
    gone[np.arange(len(X)), rng.integers(X.shape[1], size=len(X))] = False
    return np.where(gone, np.nan, X)


def gaps(seed):
    """ARI of complete tables and of the same with a fifth of the cells missing."""
    found = {}
    for separation in (6.0,):
        X, y = cs.datasets.make_gaussians(300, 4, 10, separation=separation, random_state=seed)
        whole = cs.cluster(X, effort="quick", random_state=seed)
        holes = cs.cluster(with_gaps(X, seed), gaps="keep", effort="quick", random_state=seed)
        assert len(holes.labels) == len(X)
        found[f"{separation:g} apart, complete"] = adjusted_rand_score(y, whole.labels)
        found[f"{separation:g} apart, gaps"] = adjusted_rand_score(y, holes.labels)
    return found


def views(seed):
    """ARI of each of two views, of both, and of both where 30 % of the objects lack the second."""
    found, how = {}, {"effort": "quick", "random_state": seed}
    for missing in (0.0, 0.3):
        sample = cs.datasets.make_views(missing=missing, random_state=seed)
        there = ~np.isnan(sample.second[:, 0])
        name = f"{missing:.0%} missing"
        if missing:
            tables = {"first": sample.first, "second": sample.second}
            joint = cs.cluster(tables, gaps="keep", **how)
        else:
            joint = cs.cluster({"first": sample.first, "second": sample.second}, **how)
            first = cs.cluster(sample.first, **how)
            found["first alone"] = adjusted_rand_score(sample.groups, first.labels)
        second = cs.cluster(sample.second[there], **how)
        found[f"second alone, {name}"] = adjusted_rand_score(sample.groups[there], second.labels)
        assert len(joint.labels) == len(sample.groups)
        found[f"both, {name}"] = adjusted_rand_score(sample.groups, joint.labels)
    return found


def overlapping(seed):
    """Four Gaussian groups 3 apart in three columns, and three columns that know nothing."""
    X, y = cs.datasets.make_gaussians(300, 4, 3, separation=3.0, random_state=seed)
    rng = np.random.default_rng(seed)
    X = np.column_stack([X, rng.normal(size=(300, 3))])
    pairs = np.array([rng.choice(300, 2, replace=False) for _ in range(60)])
    return X, y, pairs


def known(seed):
    """ARI without and with 60 random pairs, of all objects and of those in no pair."""
    X, y, pairs = overlapping(seed)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    free = np.ones(len(X), bool)
    free[pairs.ravel()] = False
    how = {"effort": "quick", "random_state": seed}
    plain = cs.cluster(X, **how)
    told = cs.cluster(X, must_link=pairs[same], cannot_link=pairs[~same], **how)
    must = pairs[same]
    assert (told.labels[must[:, 0]] == told.labels[must[:, 1]]).all()
    return {
        "nothing known": adjusted_rand_score(y, plain.labels),
        "60 pairs known": adjusted_rand_score(y, told.labels),
        "nothing known, objects in no pair": adjusted_rand_score(y[free], plain.labels[free]),
        "60 pairs known, objects in no pair": adjusted_rand_score(y[free], told.labels[free]),
    }


def communities(n_objects, mixing, seed, n_jobs=None):
    """Seconds of `cluster_graph` on an LFR graph, NMI of it and of its members."""
    sample = cs.datasets.make_lfr(n_objects, mixing=mixing, random_state=seed)
    graph = sample.to_scipy()
    start = time.perf_counter()
    result = cs.cluster_graph(graph, random_state=seed, n_jobs=n_jobs)
    seconds = time.perf_counter() - start
    members = [normalized_mutual_info_score(sample.groups, labels) for labels in result.ensemble]
    name = f"{n_objects:,}, mixing {mixing:g}"
    return {
        f"{name}, consensus": normalized_mutual_info_score(sample.groups, result.labels),
        f"{name}, best member": max(members),
        f"{name}, mean member": float(np.mean(members)),
        f"{name}, agreement of members heard": result.member_agreement,
        f"{name}, rounds": float(result.n_rounds),
        f"{name}, seconds": seconds,
        f"{name}, seconds of the members": float(
            sum(r["seconds"] for r in result.ensemble.records)
        ),
    }


def graphs(seed):
    """NMI on LFR graphs: consensus, best and mean member."""
    found = {}
    for n_objects, mixing in ((1000, 0.5), (1000, 0.6), (5000, 0.5), (5000, 0.6), (5000, 0.7)):
        found |= communities(n_objects, mixing, seed)
    return found


def large_graph(seed):
    """The same with 100,000 nodes, about a million edges, on two cores."""
    return communities(100_000, 0.5, seed, n_jobs=2)


def soft(seed):
    """ARI of memberships by mixtures and fuzzy c-means, and of the most likely labels."""
    found = {}
    for separation in (2.5, 4.0):
        X, y = cs.datasets.make_gaussians(300, 4, 4, separation=separation, random_state=seed)
        members = cs.generate.MembershipEnsemble(random_state=seed).generate(X)
        for name in ("sec", "eac", "cumulativevoting"):
            for kind, ensemble in (("memberships", members), ("labels", members.harden())):
                made = cs.consensus.CONSENSUS[name].run(ensemble, 4, random_state=seed)
                what = f"{separation:g} apart, {name}, {kind}"
                found[what] = adjusted_rand_score(y, made.labels)
                if name == "sec":
                    sure = cs.evidence.confidence(ensemble, made.labels).confidence
                    found[f"{what}, misplaced by confidence"] = misplaced_area(y, made.labels, sure)
    return found


def misplaced_area(groups, labels, sure):
    """Area under the curve of telling misplaced objects by low confidence."""
    table = np.zeros((groups.max() + 1, labels.max() + 1))
    np.add.at(table, (groups, labels), 1)
    wrong = table.argmax(axis=0)[labels] != groups
    return roc_auc_score(wrong, -sure) if 0 < wrong.sum() < len(wrong) else 1.0


def metric(seed):
    """ARI of Euclidean distances and of those that suit: angles, and columns with heavy tails."""
    rng, found = np.random.default_rng(seed), {}
    groups, how = np.repeat(np.arange(4), 50), {"effort": "quick", "random_state": seed}
    angles = np.eye(6)[groups] + rng.normal(0, 0.25, (200, 6))
    angles *= np.exp(rng.normal(0, 1.0, 200))[:, None]
    tails = 4.0 * np.eye(4)[groups] + rng.standard_t(1.5, (200, 4))
    for name, values, suits in (("angles", angles, "cosine"), ("tails", tails, "manhattan")):
        for one in ("euclidean", suits):
            made = cs.cluster(values, metric=one, **how)
            found[f"{name}, {one}"] = adjusted_rand_score(groups, made.labels)
            given = cs.cluster(values, 4, metric=one, method="sec", random_state=seed)
            found[f"{name}, {one}, four groups by SEC"] = adjusted_rand_score(groups, given.labels)
    return found


JOBS = {
    "mixed": mixed,
    "gaps": gaps,
    "views": views,
    "known": known,
    "graphs": graphs,
    "large-graph": large_graph,
    "soft": soft,
    "metric": metric,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", choices=sorted(JOBS))
    parser.add_argument("--seeds", type=int, default=20)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows, start = [], time.perf_counter()
    for seed in range(asked.seeds):
        rows.append(JOBS[asked.job](seed))
        print(seed, {name: round(value, 3) for name, value in rows[-1].items()}, flush=True)
    print(f"mean over {asked.seeds} seeds, {time.perf_counter() - start:.0f} s")
    for name in rows[0]:
        values = [row[name] for row in rows]
        print(f"  {name:40s} {np.mean(values):.3f} (least {min(values):.3f})")


if __name__ == "__main__":
    main()
