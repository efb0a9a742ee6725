"""Stored answers of the reports: what a summary holds, part by part, and the page around it."""

import copy
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from stored.small import blobs, ensembles, few_drawn, minority, truth
from stored.store import Cases, attempt

import consilience as cs
from consilience import compare, consensus, evidence, report
from consilience.evidence import ambiguity as _ambiguity
from consilience.report import (
    _case,
    _done,
    _figures,
    _members,
    _pairs,
    _plane,
    _sections,
    _thin,
    _values,
    _words,
)
from consilience.report import minority as report_minority

pytest.importorskip("jinja2")

CASES = Cases(__file__)
_LABELS = truth().astype(np.int32)


def _parts(key, function, *args, **options):
    """The parts of a summary, each by itself."""
    try:
        found = function(*args, **options)
    except cs.errors.ConsilienceError as error:
        yield key, f"{type(error).__name__}: {error}"
        return
    for name, value in found.items():
        if name == "sections":
            for section in value:
                for place, figure in enumerate(section.get("figures", [])):
                    yield f"{key} {section['id']} {place}", figure
                rest = {k: v for k, v in section.items() if k != "figures"}
                yield f"{key} {section['id']}", rest
        elif name == "objects":
            yield f"{key} objects", {k: v for k, v in value.items() if k != "columns"}
            for column in value["columns"]:
                yield f"{key} objects {column['name']}", column
                if column["kind"] == "number":
                    digits = [len(str(one).partition(".")[2]) for one in column["values"]]
                    yield f"{key} objects {column['name']} digits", max(digits, default=0)
        else:
            yield f"{key} {name}", value


def _consensus(kind, **options):
    ensemble = ensembles()[kind]
    labels = options.pop("labels", _LABELS)
    return _parts(kind, report.summarise_consensus, ensemble, labels, **options)


@CASES
def plain():
    for kind in ensembles():
        yield from _consensus(kind)


@CASES
def with_data():
    yield from _consensus("whole", X=blobs(), columns=("a", "b", "c"))
    yield from _consensus("torn", X=blobs()[:, :1], columns=("only",))
    yield from _consensus("few", X=blobs()[:, :2], ids=[f"<{i}>" for i in range(48)])
    yield from _consensus("noise", X=sparse.csr_array(blobs()))
    yield from _consensus("both", X=np.zeros((48, 2)), ids=np.arange(48) * 2)


@CASES
def with_truth():
    rng = np.random.default_rng(6)
    known = np.where(rng.random(48) < 0.2, 0, truth())
    noisy = np.where(rng.random(48) < 0.1, -1, truth())
    yield from _consensus("whole", truth=known, labels=noisy)
    yield from _consensus("torn", truth=np.array(["x", "y", "z"])[known])
    yield from _consensus("both", truth=noisy, labels=noisy)
    yield from _consensus("few", truth=np.zeros(48, int), labels=np.zeros(48, int))
    yield from _consensus("one", truth=[None, *known[1:]], labels=np.full(48, -1))


@CASES
def with_confidence():
    for kind in ("torn", "both", "unseen"):
        found = evidence.confidence(ensembles()[kind], _LABELS)
        yield from _consensus(kind, confidence=found.confidence, runner_up=found.runner_up)


@CASES
def with_tree():
    for link in ("average", "complete", "single"):
        found = consensus.eac(ensembles()["torn"], 3, linkage=link)
        ensemble = ensembles()["torn"]
        yield from _parts(
            link, report.summarise_consensus, ensemble, found.labels, tree=found.linkage, link=link
        )
        yield from _parts(
            f"{link} thin",
            report.summarise_consensus,
            ensemble,
            found.labels,
            tree=found.linkage,
            link=link,
            max_points=20,
            max_matrix=12,
            random_state=1,
        )
    yield (
        "wrong",
        attempt(report.summarise_consensus, ensemble, found.labels, tree=found.linkage[:3]),
    )


@CASES
def with_choice():
    choice = consensus.choose_n_clusters(blobs(), n_resamples=4, k_max=5, random_state=0)
    methods = compare.compare_methods(
        ensembles()["torn"], ["eac", "mcla", "hbgf"], 3, truth=truth(), random_state=0
    )
    told = {"Data": "things", "Command": "consilience cluster <things>"}
    found = _consensus("torn", choice=choice, comparison=methods, about=told, notes=("Look.",))
    for key, value in found:
        if key.endswith(" methods 1"):  # holds seconds
            value = {"columns": value.get("columns"), "n": len(value.get("rows", ()))}
        yield key, value
    only = consensus.choose_n_clusters(ensemble=ensembles()["whole"], random_state=0)
    yield from _consensus("whole", choice=only, title="Things")


@CASES
def wrong():
    whole = ensembles()["whole"]
    for options in (
        {"confidence": [0.5]},
        {"runner_up": [1]},
        {"ids": ["a"]},
        {"truth": [1]},
        {"X": np.ones((3, 2))},
        {"columns": ("a",), "X": blobs()},
        {"max_points": 0},
        {"max_matrix": 0},
        {"random_state": "x"},
        {"link": "zzz"},
        {"X": "text"},
        {"X": np.full((48, 2), np.nan)},
        {"max_points": 1},
        {"max_matrix": 1},
    ):
        yield str(options), attempt(report.summarise_consensus, whole, _LABELS, **options)
    yield "labels", attempt(report.summarise_consensus, whole, [0, 1])
    yield "ensemble", attempt(report.summarise_consensus, [[0, 1]], [0, 1])


@CASES
def minority_groups():
    X, y = minority()
    for weak, threshold in (("soft", "2gauss"), ("hard", "dist"), ("split", "ngauss+var")):
        model = cs.EWOCS(weak, threshold=threshold, n_repetitions=30, random_state=0).fit(X)
        yield from _parts(weak, report.summarise_minority, model, X)
        yield from _parts(
            f"{weak} told",
            report.summarise_minority,
            model,
            X,
            truth=y,
            ids=[f"o{i}" for i in range(len(X))],
            columns=("a", "b"),
            about={"Data": "points"},
            notes=("Look.",),
            title="Points",
        )
    yield from _parts("thin", report.summarise_minority, model, X, truth=y > 0, max_points=15)
    model = cs.EWOCS(n_foreground=20, threshold="size", n_repetitions=20, random_state=1).fit(X)
    yield from _parts("size", report.summarise_minority, model, X, truth=y)
    auto = cs.EWOCS(n_repetitions="auto", max_repetitions=60, random_state=1).fit(X)
    yield from _parts("auto", report.summarise_minority, auto, X)
    yield "unfitted", attempt(report.summarise_minority, cs.EWOCS(), X)
    yield "long", attempt(report.summarise_minority, model, X[:3])


@CASES
def page():
    summary = report.summarise_consensus(ensembles()["torn"], _LABELS, X=blobs(), truth=truth())
    for key in ("torn", "odd"):
        if key == "odd":
            summary = summary | {"title": "<b>&\u2028 '\"", "notes": ["</script>"]}
        text = report.render(summary)
        bare = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.S)
        yield key, [re.sub(r"\s+", " ", bare), text.count("<script"), text.count("</script")]
    with TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        report.write_report(summary, path)
        yield "written", path.read_text(encoding="utf-8") == text


@CASES
def words():
    for value in (0, 1, -1, 0.12345678, 1e-9, 1234.5678, np.nan, np.inf, None, 3):
        yield f"finite {value}", attempt(_values.finite, value)
    odd = np.array([0.12345, np.nan, np.inf, -1.5, 1e-7])
    yield "rounded", [_values.rounded(odd), _values.rounded(odd, 1), _values.in_range(odd)]
    yield "digits", [_values.in_range([0.0012345, 12.345], 2), _values.in_range([])]
    yield "counted", [_values.counted(n, "object") for n in (0, 1, 2, 1000)]
    for part, whole in ((1, 3), (0, 5), (5, 5), (1, 10_000), (9999, 10_000), (0, 0), (1, 8)):
        yield f"percent {part} {whole}", attempt(_values.percent, part, whole)
    for sizes in ([5], [3, 3], [9, 1, 1], [50, 40, 1], list(range(1, 30)), [10, 10, 10, 2]):
        yield f"sizes {sizes}", attempt(_words.group_sizes, sizes)
    for about in (None, {}, {"Data": "x"}, {"Method": "m", "Seed": "3"}):
        yield f"done {about}", _done.done_rows(about, {"Data": "y", "Seed": "0"})


@CASES
def trees_and_pairs():
    tree = linkage(blobs()[:12], "average")
    for labels in (np.arange(12) % 3, np.zeros(12, int), np.arange(12) - 1):
        for most in (2, 4, 12):
            yield f"folded {labels[1]} {most}", attempt(_pairs.folded, tree, labels, most)
    for objects in ([0, 1, 2], [3, 7, 11], range(12), [5]):
        yield (
            f"restricted {list(objects)}",
            attempt(_pairs.restricted, tree, np.array(list(objects))),
        )
    for k in (1, 2, 3, 11, 12):
        yield f"height {k}", attempt(_pairs.cut_height, tree, k)
    for kind, ensemble in ensembles().items():
        yield f"view {kind}", attempt(_pairs.pair_view, ensemble, truth())
        yield f"agreement {kind}", attempt(_members.pairwise_agreement, ensemble, 0)
        yield f"some {kind}", attempt(_members.pairwise_agreement, ensemble, 0, 4)
        yield f"member {kind}", attempt(_members.member_agreement, ensemble, _LABELS)


@CASES
def planes():
    objects = np.arange(48)
    for X in (blobs(), blobs()[:, :1], blobs()[:, :2], sparse.csr_array(blobs()), np.ones((48, 3))):
        for columns in ((), tuple("abc")[: X.shape[1]]):
            key = f"{type(X).__name__} {X.shape} {X[0, 0]:.3f} {columns}"
            yield key, attempt(_plane.plane_of_data, X, objects, columns)
    for kind, ensemble in ensembles().items():
        if kind != "one":
            found = _plane.plane_of_ensemble(ensemble, 0)
            yield kind, [np.abs(found.places), found.xlabel, found.ylabel]
    gaps = ((blobs()[:, None] - blobs()[None]) ** 2).sum(axis=2)
    found = _plane.plane_of_kernel(np.exp(-gaps / 50))
    yield "kernel", [np.abs(found.places), found.xlabel, found.ylabel]
    for most in (1, 5, 10, 48, 100):
        for first in (None, np.linspace(0, 1, 48)):
            yield (
                f"thinned {most} {first is None}",
                attempt(_thin.thinned, truth(), most, first=first, seed=3),
            )
    doubt = np.linspace(0, 1, 48)
    for points, pairs in ((10, 5), (48, 48), (20, 30), (1, 1), (100, 100)):
        yield (
            f"shown {points} {pairs}",
            attempt(
                _thin.choose_shown,
                truth(),
                doubt,
                doubt > 0.8,
                max_points=points,
                max_pairs=pairs,
                seed=1,
            ),
        )


@CASES
def figures():
    tree = linkage(blobs()[:6], "average")
    three = np.array([[1.0, 0.5], [0.5, 1.0]])
    yield "matrix", _figures.matrix(three)
    yield (
        "bounds",
        _figures.matrix(three, objects=np.array([3, 5]), bounds=[0, 1], low=0.2, high=0.8),
    )
    yield "names", _figures.matrix(three, names=["a", "b"], title="T")
    yield "points", _figures.points(blobs()[:4, :2], np.arange(4), "x", "y")
    for cut in (None, 2.0):
        yield (
            f"tree {cut}",
            _figures.dendrogram(tree, np.arange(1, 7), np.array([0, 0, 1, 1, 2, 2]), cut, 3),
        )
    marks = [_figures.mark(0.5, "half"), _figures.mark(1, "one", taken=True, axis="y")]
    yield "marks", marks
    lines = [
        _figures.series("s", [1, 2, 3], [0.1, np.nan, 0.3]),
        _figures.series("t", [1], [2], "dashed"),
    ]
    yield "lines", lines
    counts, edges = np.histogram(blobs()[:, 0], 4)
    yield "histogram", _figures.histogram(counts, edges, "x", marks=marks, lines=lines, title="H")
    yield "bare", [_figures.histogram(counts, edges, "x"), _figures.curves(lines, "x", "y")]
    yield "curves", _figures.curves(lines, "x", "y", marks=marks, log="y", title="C")
    yield (
        "bars",
        _figures.bars(["a", "b"], [0.25, np.nan], "x", clusters=[0, 1], marks=marks, title="B"),
    )
    yield "plain bars", _figures.bars(["a"], [1], "x")
    yield "table", [_figures.table(["a"], [[1], ["x"]]), _figures.table(["a"], [], "T")]
    yield "section", _figures.section("n", "T", "Read.", _figures.table(["a"], []))


@CASES
def too_many():
    """What is said where there is more than a page shows."""
    labels = np.arange(48) % 12
    limits = (
        (_case, "_MAX_CELLS", 10),
        (_case, "_MAX_PAIRWISE", 10),
        (_ambiguity, "_PAIR_BUDGET", 200),
        (_ambiguity, "_FEWEST_PAIRS", 3),
        (_members, "MAX_OBJECTS", 20),
        (_members, "_MAX_BARS", 2),
        (_sections, "MAX_CLUSTERS", 3),
        (_sections, "MAX_BARS", 4),
        (_sections, "MAX_LEAVES", 5),
    )
    for module, name, value in limits:
        with patch.object(module, name, value):
            for kind in ("torn", "both"):
                ensemble = ensembles()[kind]
                yield from _parts(
                    f"{name} {kind}",
                    report.summarise_consensus,
                    ensemble,
                    labels,
                    truth=labels // 2,
                )
    for most in (1, 2, 3):
        for rows in (np.arange(48) % 5, np.arange(48) // 3):
            yield f"drawn {most} {rows[3]}", _thin.thinned(rows, most * 7, seed=most)


@CASES
def odd_cases():
    named = np.array(["b", "a", "c"])[truth()]
    far = truth() * 10 + 5
    torn = ensembles()["torn"]
    tree = consensus.eac(torn, 3).linkage
    for key, options in {
        "names": {"labels": named},
        "numbers": {"labels": far, "runner_up": np.roll(far, 16)},
        "none": {
            "labels": np.full(48, -1),
            "runner_up": np.zeros(48, int),
            "confidence": np.zeros(48),
        },
        "one": {"labels": np.zeros(48, int), "tree": tree, "link": "average"},
        "moved": {
            "labels": np.where(np.arange(48) == 3, 2, truth()),
            "tree": tree,
            "link": "average",
        },
        "unknown link": {"labels": truth(), "tree": tree},
        "ids": {"labels": truth(), "ids": [b"x"] * 24 + [1.0] * 23 + [None]},
        "frame": {"labels": truth(), "X": pd.DataFrame(blobs()), "ids": pd.Series(range(48))},
        "list": {"labels": truth().tolist(), "X": blobs().tolist()},
    }.items():
        given = dict(options)
        yield from _parts(key, report.summarise_consensus, torn, given.pop("labels"), **given)
    small = cs.Ensemble([[0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1]])
    yield from _parts("small", report.summarise_consensus, small, [0, 0, 1, 1])
    yield from _parts("single", report.summarise_consensus, cs.Ensemble([[0, 0]]), [0])
    parted = np.full((6, 4), -2)
    parted[:3, :2], parted[3:, 2:] = 0, 1
    parted[2] = -2
    yield from _parts("parted", report.summarise_consensus, cs.Ensemble(parted), [0, 0, 0, 1, 1, 1])
    criteria = consensus.choose_n_clusters(blobs(), n_resamples=4, k_max=5, random_state=0).criteria
    for k, clear, votes in (
        (3, True, criteria),
        (4, True, criteria),
        (4, False, criteria),
        (4, False, ()),
    ):
        choice = consensus.NumberChoice(k, clear, "stability", votes, "words", 48)
        yield from _parts(
            f"choice {k} {clear} {len(votes)}",
            report.summarise_consensus,
            torn,
            truth(),
            choice=choice,
        )


@CASES
def odd_minority():
    X, y = minority()
    kernel = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 10)
    few = {"n_repetitions": 20, "random_state": 0}
    cases = {
        "matrix": (cs.EWOCS(divergence="precomputed", **few), kernel),
        "function": (
            cs.EWOCS(
                divergence=lambda A, B: np.exp(
                    -((np.asarray(A)[:, None] - np.asarray(B)[None]) ** 2).sum(axis=2)
                ),
                **few,
            ),
            X,
        ),
        "flat": (cs.EWOCS(**few), np.ones((30, 2))),
        "value": (cs.EWOCS(threshold=0.5, **few), X),
        "all": (cs.EWOCS(threshold=-99.0, **few), X),
        "none": (cs.EWOCS(threshold=99.0, **few), X),
        "once": (cs.EWOCS(n_repetitions=1, random_state=0), X),
        "change": (
            cs.EWOCS(stop="paper", n_repetitions="auto", max_repetitions=60, random_state=0),
            X,
        ),
        "tol": (cs.EWOCS(tol=0.5, n_repetitions="auto", max_repetitions=60, random_state=0), X),
        "groups": (cs.EWOCS(n_clusters=2, **few), X),
        "sparse": (cs.EWOCS("hard", divergence="euclidean", **few), sparse.csr_array(X)),
        "wide": (cs.EWOCS(**few), np.tile(X, 3)),
        "wide sparse": (
            cs.EWOCS("hard", divergence="euclidean", scaling="std", **few),
            sparse.csr_array(np.tile(X, 2)),
        ),
        "wide list": (cs.EWOCS(**few), np.tile(X, 2).round(3).tolist()),
    }
    for key, (model, given) in cases.items():
        with few_drawn():
            model.fit(given)
        for truth_key, known in {
            "": None,
            " told": y[: len(model.scores_)],
            " all": np.ones(len(model.scores_), int),
        }.items():
            yield from _parts(
                f"{key}{truth_key}", report.summarise_minority, model, given, truth=known
            )
    for scale in (100.0, 0.001):  # digits follow the range of the scores
        model, given = cases["wide"]
        other = copy.deepcopy(model)
        other.scores_ = model.scores_ * scale
        yield from _parts(f"scale {scale}", report.summarise_minority, other, given)
    many, where = minority(400, 5)
    model = cs.EWOCS(n_repetitions=15, random_state=0).fit(many)
    yield from _parts("many", report.summarise_minority, model, many, truth=where)
    yield from _parts(
        "thinned", report.summarise_minority, model, many, max_points=50, random_state=3
    )
    with (
        patch.object(report_minority, "_MAX_KERNEL", 10),
        patch.object(report_minority, "_MAX_MATRIX", 8),
    ):
        for key in ("matrix", "function"):
            model, given = cases[key]
            yield from _parts(f"{key} cut", report.summarise_minority, model, given)


test_stored = CASES.test()
