"""Stored answers of the plots: the words, lines and points in them, not their pixels."""

from dataclasses import replace
from functools import partial
from unittest.mock import patch

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage
from stored.small import blobs, ensembles, minority, truth
from stored.store import Cases, attempt

import consilience as cs
from consilience import consensus, evidence, plot
from consilience.datasets import make_toy_minority
from consilience.experiments import Cell, Plan, ewocs_toy
from consilience.plot import _axes, _record, _thin

plt = pytest.importorskip("matplotlib.pyplot")
plt.switch_backend("agg")

CASES = Cases(__file__)


def _drawn(function, *args, **options):
    """What is drawn on new axes, and on given ones."""
    try:
        return attempt(function, *args, **options)
    finally:
        plt.close("all")


def _given(function, *args, **options):
    _, ax = plt.subplots(figsize=(3, 2))
    return _drawn(lambda: function(*args, ax=ax, **options) is ax and ax)


@CASES
def ambiguity():
    for kind in ("torn", "both", "few"):
        found = evidence.ambiguous(ensembles()[kind])
        yield kind, _drawn(plot.plot_ambiguity, found)
        yield f"{kind} bins", _given(plot.plot_ambiguity, found, bins=7, log=False)
    yield "wrong", [_drawn(plot.plot_ambiguity, found, bins=0), _drawn(plot.plot_ambiguity, 3)]


@CASES
def curves():
    rng = np.random.default_rng(2)
    y = np.arange(30) % 3 == 0
    for key, scores in {
        "good": y + rng.normal(0, 0.3, 30),
        "chance": rng.random(30),
        "ties": np.round(rng.random(30), 1),
        "flat": np.zeros(30),
        "perfect": y * 1.0,
    }.items():
        for function in (plot.plot_roc, plot.plot_precision_recall):
            yield f"{key} {function.__name__}", _drawn(function, scores, y)
            yield f"{key} {function.__name__} ax", _given(function, scores, y)
        curve = cs.compare.precision_recall_curve(scores, y)
        yield f"{key} precision", plot.average_precision(curve)
    yield "several", _drawn(plot.plot_roc, {"a": scores, "b": scores[::-1].copy()}, y)
    yield "several precision", _drawn(plot.plot_precision_recall, {"a": scores, "b": 1 - scores}, y)
    yield "none", _drawn(plot.plot_roc, scores, np.zeros(30, int))
    yield "short", _drawn(plot.plot_roc, scores, [0, 1])


@CASES
def dendrograms():
    tree = linkage(blobs()[::2], "average")
    labels = truth()[::2]
    ties = linkage(np.repeat(blobs()[::8], 2, axis=0), "single")
    for key, given in {
        "tree": tree,
        "ties": ties,
        "pair": tree[:1] * [0, 0, 1, 1] + [0, 1, 0, 0],
    }.items():
        n = len(given) + 1
        for options in (
            {},
            {"n_clusters": 2},
            {"n_clusters": 3},
            {"max_leaves": 5},
            {"n_clusters": 1},
            {"n_clusters": n},
            {"max_leaves": 5, "n_clusters": 3},
            {"n_clusters": n + 1},
            {"max_leaves": 1},
            {"max_leaves": 2},
        ):
            yield f"{key} {options}", _drawn(plot.dendrogram_lines, given, **options)
            yield f"{key} {options} drawn", _drawn(plot.plot_dendrogram, given, **options)
    for options in ({}, {"max_leaves": 6}, {"n_clusters": 3}):
        yield f"labels {options}", _drawn(plot.dendrogram_lines, tree, labels, **options)
        yield f"labels {options} drawn", _given(plot.plot_dendrogram, tree, labels, **options)
    noisy = np.where(np.arange(24) % 5 == 0, -1, labels)
    yield "noise", _drawn(plot.plot_dendrogram, tree, noisy, max_leaves=8)
    yield "result", _drawn(plot.plot_dendrogram, consensus.eac(ensembles()["torn"], 3))
    yield (
        "wrong",
        [_drawn(plot.plot_dendrogram, tree[:, :2]), _drawn(plot.plot_dendrogram, tree, [0])],
    )


@CASES
def embedding():
    X, labels = blobs(), truth()
    noisy = np.where(np.arange(48) % 7 == 0, -1, labels)
    sure = np.linspace(0, 1, 48)
    for key, given in {
        "three": X,
        "two": X[:, :2],
        "one": X[:, :1],
        "flat": np.ones((48, 3)),
    }.items():
        yield key, _drawn(plot.embedded_objects, given)
        yield f"{key} drawn", _drawn(plot.plot_embedding, given)
        yield f"{key} labels", _drawn(plot.plot_embedding, given, noisy)
        yield f"{key} sure", _given(plot.plot_embedding, given, labels, confidence=sure)
        yield f"{key} few", _drawn(plot.embedded_objects, given, labels, max_points=12)
        yield (
            f"{key} few drawn",
            _drawn(plot.plot_embedding, given, labels, max_points=12, random_state=2),
        )
    yield "names", _drawn(plot.plot_embedding, X, np.array(["a", "b", "c"])[labels])
    yield (
        "wrong",
        [
            _drawn(plot.plot_embedding, X, [0]),
            _drawn(plot.plot_embedding, X, labels, confidence=[1]),
            _drawn(plot.plot_embedding, X, confidence=sure + 3),
            _drawn(plot.embedded_objects, X, max_points=0),
        ],
    )


@CASES
def matrices():
    near = evidence.co_association(ensembles()["torn"])
    for kind, given in {**ensembles(), "near": near}.items():
        for labels in (None, truth(), np.where(truth() == 1, -1, truth())):
            key = f"{kind} {None if labels is None else labels[20]}"
            yield key, _drawn(plot.co_association_picture, given, labels)
            yield f"{key} few", _drawn(plot.co_association_picture, given, labels, max_size=10)
            yield (
                f"{key} objects",
                _drawn(plot.co_association_picture, given, labels, max_objects=20),
            )
        for way in ("vat", "ivat"):
            yield f"{kind} {way}", _drawn(plot.vat_picture, given, kind=way)
            yield f"{kind} {way} few", _drawn(plot.vat_picture, given, kind=way, max_size=9)
            yield f"{kind} {way} some", _drawn(plot.vat_picture, given, kind=way, max_objects=15)
    yield "drawn", _drawn(plot.plot_co_association, near, truth())
    yield (
        "given",
        _given(plot.plot_co_association, ensembles()["both"], truth(), max_size=12, cmap="Reds"),
    )
    yield "all", _drawn(plot.plot_co_association, ensembles()["both"], missing="all")
    yield "vat", _drawn(plot.plot_vat, ensembles()["torn"])
    yield (
        "ivat",
        _given(plot.plot_vat, ensembles()["both"], kind="ivat", max_objects=20, missing="all"),
    )
    yield (
        "wrong",
        [
            _drawn(plot.plot_vat, near, kind="zzz"),
            _drawn(plot.plot_co_association, near, [0]),
            _drawn(plot.plot_co_association, near, max_size=0),
            _drawn(plot.plot_co_association, near[:3]),
        ],
    )


@CASES
def numbers_of_groups():
    found = consensus.monticonsensus(blobs(10), (2, 5), n_resamples=6, random_state=0)
    one = consensus.monticonsensus(blobs(10), 3, n_resamples=6, n_references=0, random_state=0)
    for key, result in {"several": found, "one": one}.items():
        for function in (plot.plot_consensus_cdf, plot.plot_delta_area, plot.plot_pac):
            yield f"{key} {function.__name__}", _drawn(function, result)
            yield f"{key} {function.__name__} ax", _given(function, result)
    model = cs.MontiConsensus((2, 4), n_resamples=5, random_state=0).fit(blobs(10))
    yield "model", _drawn(plot.plot_pac, model)
    yield "wrong", [_drawn(plot.plot_pac, 3), _drawn(plot.plot_consensus_cdf, cs.EAC())]


@CASES
def scores():
    X, y = minority()
    model = cs.EWOCS(n_repetitions=30, random_state=0).fit(X)
    rng = np.random.default_rng(0)
    two = np.concatenate([rng.normal(0.2, 0.03, 60), rng.normal(0.8, 0.05, 15)])
    for key, given in {
        "ewocs": model.scores_,
        "two": two,
        "flat": np.ones(12),
        "few": two[:3],
        "one": [0.5],
    }.items():
        known = (y > 0) if key == "ewocs" else np.arange(len(given)) % 2
        for options in ({}, {"y": known}, {"m": 0.2}, {"m": 2, "y": known}, {"m": -1}):
            name = f"{key} {sorted(options)} {options.get('m')}"
            yield name, _drawn(plot.score_curve, given, **options)
        yield f"{key} drawn", _drawn(plot.plot_scores, given, y=known, m=2)
        yield f"{key} plain", _given(plot.plot_scores, given)
        for options in ({}, {"n_components": 2}, {"bins": 8}, {"n_components": 1, "bins": 5}):
            yield f"{key} {options}", _drawn(plot.score_histogram, given, **options)
        yield f"{key} histogram", _drawn(plot.plot_score_histogram, given, bins=9)
        yield f"{key} log", _given(plot.plot_score_histogram, given, threshold=0.5, log=True)
    yield "expected", plot.score_histogram(two).expected(np.linspace(0, 1, 7))
    yield (
        "wrong",
        [
            _drawn(plot.plot_scores, [np.nan, 1]),
            _drawn(plot.plot_scores, two, y=[1]),
            _drawn(plot.score_histogram, two, bins=0),
            _drawn(plot.score_histogram, two, n_components=0),
        ],
    )


@CASES
def stability():
    for kind in ("torn", "both", "few"):
        ensemble = ensembles()[kind]
        found = evidence.cluster_stability(ensemble)
        chosen = evidence.select_clusters(ensemble, found, top=0.5, min_cover=1)
        for selection in (None, chosen):
            key = f"{kind} {selection is None}"
            yield key, _drawn(plot.stability_curve, found, selection)
            yield f"{key} drawn", _drawn(plot.plot_stability, found, selection)
        yield f"{kind} ax", _given(plot.plot_stability, found, chosen)
    yield (
        "wrong",
        [_drawn(plot.plot_stability, [np.nan]), _drawn(plot.plot_stability, found[:2], chosen)],
    )


@CASES
def levels():
    labels = np.repeat(np.arange(4), [12, 9, 8, 7])
    coarse = consensus.levels(
        cs.Ensemble([labels, labels // 2, labels // 3]), labels, random_state=0
    )
    # What is found inside a group, the first of two ways to divide it.
    inside = [
        replace(coarse.splits[0], groups=(2,), parts=((), ()), sizes=sizes, level=None)
        for sizes in ((5, 3), (4, 4))
    ]
    found = {
        "coarse": coarse,
        "fine": replace(coarse, splits=(*coarse.splits, *inside)),
        "judged": replace(coarse, splits=(replace(coarse.splits[0], p_adjusted=0.0123),)),
        "one": consensus.levels(cs.Ensemble([[0, 1, 0]]), [0, 0, 0], random_state=0),
        "many": consensus.levels(
            cs.Ensemble([np.arange(60) // 2]), np.arange(60) // 2, random_state=0
        ),
    }
    for key, one in found.items():
        yield key, _drawn(plot.plot_levels, one)
        yield f"{key} ax", _given(plot.plot_levels, one)


@CASES
def ranks():
    rng = np.random.default_rng(3)
    table = rng.random((9, 4)) + np.array([0, 0.2, 0.6, 0.9])
    yield "four", _drawn(plot.rank_diagram, table)
    yield (
        "named",
        _drawn(plot.rank_diagram, table[:, :3], names=["a", "b", "c"], larger_is_better=False),
    )
    yield "six", _given(plot.rank_diagram, np.c_[table, table[:, :2] + 0.01], alpha=0.2)


@CASES
def figures_of_papers():
    rng = np.random.default_rng(1)
    asked = {
        "ewocs-figure9": [
            Cell("", f"{d}-D", f"{row}, {what}={at}", c, tuple(rng.random(3)))
            for d in (2, 5)
            for row in ("F1", "AUC")
            for what in ("R",)
            for at in (1, 50)
            for c in ("A", "B")
        ],
        "ewocs-figure11": [
            Cell("Figure 11", "2-D", row, rule, tuple(level + rng.normal(0, 0.1, 12)))
            for row in ("F1", "Recall")
            for level, rule in enumerate(("DIST", "SIZE", "BEST"))
        ],
        "ewocs-figure12": [
            Cell("", "REUTERS", f"{row}, share={share}", c, tuple(50 * share + rng.random(3)))
            for row in ("F1", "Recall")
            for share in (0.1, 0.2, 0.4)
            for c in ("BBOCC", "X")
        ]
        + [Cell("", "REUTERS", "F1", "EW", (33.0, 35.0))],
    }
    for key, cells in asked.items():
        yield key, _drawn(_record.draw_figure, key, cells, Plan())
        yield f"{key} less", _drawn(_record.draw_figure, key, cells[:2], Plan())
    yield "none", [_record.draw_figure(name, [], Plan()) for name in sorted(_record.DRAWN)]
    steep = [Cell("", "A", f"time, n={n}", "x", (n**2 / 100,)) for n in (1, 30, 100)]
    yield "steep", _drawn(_record.draw_figure, "ewocs-figure10", steep, Plan())
    small = partial(make_toy_minority, 0.1)
    systems = {
        n: s for n, s in ewocs_toy.TOY_SYSTEMS.items() if not n.startswith(("DGRADE", "AUTO"))
    }
    with (
        patch.object(ewocs_toy, "make_toy_minority", small),
        patch.object(ewocs_toy, "TOY_SYSTEMS", systems),
    ):
        cells = [Cell("", "TOY", "AUC", "EW", (0.5,))]
        yield "toy", _drawn(_record.draw_figure, "ewocs-figures5-7", cells, Plan(members=(20,)))


@CASES
def helpers():
    for labels in ([0, 1, 2], [-1, 0], list(range(25)), [-1]):
        yield f"colours {labels[:3]}", _axes.cluster_colours(np.array(labels))
    for labels in ([0, 1, -1], ["b", "a", "b"], [5, 9, 5], [0, 1]):
        yield f"labels {labels}", attempt(_axes.cluster_labels, labels, 3, what="x")
    for value in ([1.0, 2.0], [[1.0]], [np.nan], "x", [], None):
        yield f"scores {value}", attempt(_axes.vector_of_scores, value)
    for n, most in ((10, 4), (10, 10), (10, 20), (48, 12), (3, 1)):
        yield f"thin {n} {most}", attempt(_thin.thinned, n, most)
        labels = np.arange(n) % 3
        yield f"thin {n} {most} labels", attempt(_thin.thinned, n, most, labels, 4)
        yield f"counted {n} {most}", _thin.counted(most, n)
    rare = np.r_[np.zeros(40, int), 1, 1, -1]
    yield "rare", attempt(_thin.thinned, 43, 12, rare, 1)


test_stored = CASES.test()
