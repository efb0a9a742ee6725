"""Stored answers of comparisons: ranks, tests, curves, methods side by side."""

from functools import partial

import numpy as np
import pytest
from stored.small import blobs, ensembles, truth
from stored.store import Cases, attempt

from consilience import compare
from consilience.compare import _exhaustive

CASES = Cases(__file__)


def _tables():
    rng = np.random.default_rng(3)
    base = rng.random((10, 5)) + np.linspace(0, 0.8, 5)
    holes = base.copy()
    holes[2, 1] = np.nan
    return {
        "five": base,
        "three": base[:, :3],
        "two": base[:, 3:],
        "ties": np.round(base, 1),
        "holes": holes,
        "equal": np.ones((4, 3)),
        "few": base[:1],
        "eight": np.c_[base, base[:, :3] + 0.3],
        "eleven": np.c_[base, base[:, :3] + 0.3, base[:, :3] - 0.2],
        "one": base[:, :1],
        "text": [["a", "b"]],
    }


@CASES
def ranks():
    for key, table in _tables().items():
        for larger in (True, False):
            yield f"{key} {larger}", attempt(compare.ranks, table, larger_is_better=larger)
    names = {"a": [1, 2, 3], "b": [2, 3, 4], "c": [0, 5, 1]}
    yield "dict", attempt(compare.ranks, names)
    yield "named", attempt(compare.ranks, _tables()["three"], names=["x", "y", "z"])
    yield "names", attempt(compare.ranks, _tables()["three"], names=["x"])
    yield "means", attempt(compare.ranks_from_means, [1.5, 2.0, 2.5], 12, names=["a", "b", "c"])
    yield "bad means", attempt(compare.ranks_from_means, [1.0, 1.0, 1.0], 12)
    yield "few means", attempt(compare.ranks_from_means, [1.5, 1.5], 0)


@CASES
def pairs_tested():
    for key, table in _tables().items():
        for procedure in ("auto", "bergmann-hommel", "shaffer", "holm", "zzz"):
            if key == "eleven" and procedure == "bergmann-hommel":
                continue
            ask = partial(compare.bergmann_hommel, table, procedure=procedure)
            yield f"{key} {procedure}", attempt(ask)
            yield f"{key} {procedure} pairs", attempt(lambda ask=ask: ask(alpha=0.2).pairs())
    yield "alpha", attempt(compare.bergmann_hommel, _tables()["five"], alpha=2)
    p = np.array(
        [[1, 0.01, 0.03, 0.5], [0.01, 1, 0.04, 0.2], [0.03, 0.04, 1, 0.001], [0.5, 0.2, 0.001, 1]]
    )
    for procedure in ("bergmann-hommel", "shaffer", "holm", "zzz"):
        yield f"adjust {procedure}", attempt(compare.adjust, p, procedure)
    yield "bad p", [attempt(compare.adjust, p * 3), attempt(compare.adjust, p[:2])]
    yield "listing", attempt(_exhaustive.by_listing, p)
    yield "cliques", attempt(_exhaustive.by_cliques, p)
    yield "counts", [_exhaustive.possible_true_counts(n) for n in range(1, 8)]


@CASES
def paired():
    rng = np.random.default_rng(5)
    a, b = rng.random(12), rng.random(12) + 0.2
    for key, pair in {
        "near": (a, b),
        "same": (a, a),
        "shift": (a, a + 1),
        "two": (a[:2], b[:2]),
        "one": (a[:1], b[:1]),
        "ties": (np.round(a, 1), np.round(b, 1)),
        "long": (a, b[:3]),
        "nan": ([1, np.nan], [2, 3]),
        "empty": ([], []),
    }.items():
        yield key, attempt(compare.paired, *pair)
        yield f"{key} 80", attempt(compare.paired, *pair, confidence=0.8)
    yield "wrong", attempt(compare.paired, a, b, confidence=1.5)


@CASES
def foreground():
    rng = np.random.default_rng(7)
    y = np.arange(24) % 4 == 0
    labels = np.where(y & (rng.random(24) < 0.8), 1, -1)
    labels[5] = 0
    cases = {"some": labels, "none": np.full(24, -1), "all": np.zeros(24, int), "short": [0, 1]}
    for key, given in cases.items():
        for truth_key, known in {
            "y": y,
            "counts": y * 2,
            "no": np.zeros(24, int),
            "yes": y | True,
        }.items():
            name = f"{key} {truth_key}"
            yield name, attempt(compare.precision_recall_f1, given, known)
            yield f"{name} hard", attempt(compare.hard_auc, given, known)
    scores = {"good": y + rng.random(24), "ties": np.round(rng.random(24), 1), "flat": np.ones(24)}
    scores["nan"] = np.full(24, np.nan)
    for key, given in scores.items():
        for known in (y, np.zeros(24, bool)):
            name = f"{key} {known.sum()}"
            yield f"{name} auc", attempt(compare.auc, given, known)
            yield f"{name} roc", attempt(compare.roc_curve, given, known)
            yield f"{name} precision", attempt(compare.precision_recall_curve, given, known)


@CASES
def diagrams():
    for key, table in _tables().items():
        for options in ({}, {"alpha": 0.3}, {"larger_is_better": False}):
            yield f"{key} {options} bars", attempt(compare.rank_bars, table, **options)
            yield f"{key} {options} text", attempt(compare.rank_text, table, **options)
    names = [f"a method of long name {i}" for i in range(5)]
    yield "names", attempt(compare.rank_text, _tables()["five"], names=names)
    plt = pytest.importorskip("matplotlib.pyplot")
    plt.switch_backend("agg")
    for key in ("two", "three", "five", "eight"):
        yield f"{key} drawn", attempt(compare.rank_diagram, _tables()[key])
    _, ax = plt.subplots(figsize=(4, 2))
    yield "ax", attempt(compare.rank_diagram, _tables()["five"], names=names, ax=ax)
    plt.close("all")


@CASES
def methods():
    for kind in ("torn", "both", "few"):
        for known in (None, truth()):
            yield (
                f"{kind} {known is None}",
                attempt(
                    compare.compare_methods,
                    ensembles()[kind],
                    ["eac", "mcla", "voting", "kcc"],
                    3,
                    truth=known,
                    random_state=0,
                    parameters={"kcc": {"n_init": 1}},
                ),
            )
    whole = ensembles()["whole"]
    yield (
        "data",
        attempt(compare.compare_methods, whole, ["eac", "wosp"], 3, X=blobs(), random_state=0),
    )
    yield "failed", attempt(compare.compare_methods, whole, ["wosp", "eac"], 3, random_state=0)
    for seed in range(4):
        drawn = np.random.RandomState(seed)
        found = compare.compare_methods(
            ensembles()["torn"], ["kcc"], 5, random_state=drawn, parameters={"kcc": {"n_init": 1}}
        )
        yield f"generator {seed}", found.labels["kcc"]
    yield "chosen", attempt(compare.compare_methods, whole, ["eac", "mcla"], None, random_state=0)
    yield (
        "wrong",
        [
            attempt(compare.compare_methods, whole, ["zzz"], 3),
            attempt(compare.compare_methods, whole, [], 3),
            attempt(compare.compare_methods, whole, ["eac", "eac"], 3),
            attempt(compare.compare_methods, whole, ["eac"], 3, parameters={"mcla": {}}),
            attempt(compare.compare_methods, whole, ["eac"], 3, truth=[1]),
        ],
    )
    for labels in (truth(), np.zeros(48, int), np.where(truth() == 0, -1, truth())):
        yield f"truth {labels[0]}", attempt(compare.against_truth, truth(), labels)


test_stored = CASES.test()
