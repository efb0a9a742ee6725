"""Stored answers of whole jobs: results, their views, tables, facts and pages."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from stored.small import blobs, ensembles, minority, truth
from stored.store import Cases, attempt

import consilience as cs
from consilience import datasets, workflow
from consilience.generate import KMeansEnsemble
from consilience.workflow import _alone, _data, _html, _members, _methods, _notes, _seeds, ambiguity
from consilience.workflow import minority as jobs

pytest.importorskip("jinja2")

CASES = Cases(__file__)
_UNTOLD = ("timings", "seconds", "versions", "version", "consilience")


def _views(key, job, *args, **options):
    """Everything a result can say."""
    try:
        result = job(*args, **options)
    except cs.errors.ConsilienceError as error:
        yield key, f"{type(error).__name__}: {error}"
        return
    yield f"{key} repr", repr(result)
    yield f"{key} html", result._repr_html_()
    for name, value in result.to_dict().items():
        if name not in _UNTOLD:
            yield f"{key} {name}", value
    yield f"{key} table", attempt(result.to_pandas)
    yield f"{key} headline", [result.headline(), result.rows(), list(result.notes), result.seed]
    for name in (
        "labels",
        "confidence",
        "runner_up",
        "sizes",
        "n_noise",
        "n_clusters",
        "chosen_by",
        "scores",
        "n_suited_elsewhere",
        "ids",
        "n_objects",
        "flags",
        "threshold",
        "n_ambiguous",
        "undecided",
        "n_foreground",
        "n_undecided",
        "method_in_words",
        "agreement",
        "n_moved",
        "asked",
        "method",
        "comparison",
        "choice",
        "tree",
        "rules",
        "background",
    ):
        if hasattr(result, name):
            value = getattr(result, name)
            yield f"{key} .{name}", attempt(value) if callable(value) else value
    for name in ("candidates", "least_sure", "most_ambiguous"):
        if hasattr(result, name):
            yield (
                f"{key} {name}",
                [attempt(getattr(result, name)), attempt(getattr(result, name), 3)],
            )
    if hasattr(result, "mean_confidence"):
        yield f"{key} sure", [attempt(result.mean_confidence, c) for c in (None, 0, 1, 9, -1)]
    if hasattr(result, "mean_score"):
        yield f"{key} score", [attempt(result.mean_score, g) for g in (0, 1, 9, -1)]
    if hasattr(result, "histogram"):
        yield f"{key} histogram", attempt(result.histogram, 5)
    if hasattr(result, "page"):
        page = result.page(title="T", about={"Command": "c"})
        yield f"{key} page", {name: one for name, one in page.items() if name != "sections"}
        for section in page["sections"]:
            if section["id"] != "methods":
                yield f"{key} page {section['id']}", section


def _frame():
    X = blobs()
    return pd.DataFrame(
        X * [1, 100, 0.01], columns=["a", "b", "c"], index=[f"r{i}" for i in range(48)]
    )


@CASES
def clusters_of_data():
    X = blobs()
    yield from _views("plain", cs.cluster, X, 3, n_members=8, random_state=0)
    yield from _views("chosen", cs.cluster, X, n_members=8, random_state=1)
    yield from _views("frame", cs.cluster, _frame(), 3, n_members=6, random_state=0)
    yield from _views("raw", cs.cluster, _frame(), 3, n_members=6, scale=False, random_state=0)
    yield from _views("scaled", cs.cluster, X, 3, n_members=6, scale=True, random_state=0)


@CASES
def clusters_with_options():
    X = blobs()
    ids = [f"o{i}" for i in range(48)]
    yield from _views(
        "told", cs.cluster, X, 3, n_members=6, ids=ids, truth=truth(), refine=True, random_state=0
    )
    yield from _views("mcla", cs.cluster, X, 3, method="mcla", n_members=6, random_state=0)
    yield from _views(
        "complete", cs.cluster, X, 3, method="eac", linkage="complete", n_members=6, random_state=0
    )
    yield from _views(
        "several",
        cs.cluster,
        X,
        3,
        methods=["eac", "mcla", "kcc"],
        truth=truth(),
        n_members=6,
        random_state=0,
    )
    yield from _views(
        "options",
        cs.cluster,
        X,
        3,
        methods={"kcc": {"n_init": 2}, "eac": {}},
        n_members=6,
        random_state=0,
    )
    maker = KMeansEnsemble(5, 3, max_samples=0.6, assign="unseen")
    yield from _views("maker", cs.cluster, X, 3, generator=maker, random_state=0)


@CASES
def clusters_of_ensembles():
    for kind in ("torn", "both", "noise", "one"):
        yield from _views(
            kind, cs.cluster, ensemble=ensembles()[kind], n_clusters=3, random_state=0
        )
    yield from _views("number", cs.cluster, ensemble=ensembles()["whole"], random_state=0)
    yield from _views(
        "with data",
        cs.cluster,
        blobs(),
        3,
        ensemble=ensembles()["unseen"],
        method="wosp",
        random_state=0,
    )


@CASES
def wrong_jobs():
    X = blobs()
    for options in (
        {"method": "zzz"},
        {"methods": ["eac", "zzz"]},
        {"method": "eac", "methods": ["eac"]},
        {"n_clusters": 0},
        {"n_clusters": 99},
        {"n_members": 0},
        {"ids": ["a"]},
        {"truth": [1]},
        {"scale": "zzz"},
        {"random_state": "x"},
        {"n_jobs": 0},
        {"zzz": 1},
        {"generator": 3},
        {"method": "eac", "linkage": "zzz"},
        {"refine": "x"},
        {"run": 3},
        {"callbacks": 3},
        {"ensemble": ensembles()["few"], "generator": KMeansEnsemble()},
        {"methods": []},
        {"ids": ["a"] * 48},
        {"method": "mcla", "n_clusters": None},
        {"methods": "eac"},
    ):
        given = {"n_members": 4, "n_clusters": 3, "random_state": 0} | options
        yield (
            f"cluster {sorted(options)} {str(options)[:40]}",
            attempt(lambda given=given: cs.cluster(X, **given).labels),
        )
    for options in (
        {"score": "zzz"},
        {"threshold": "zzz"},
        {"n_clusters": 0},
        {"n_members": 0},
        {"ids": [1]},
        {"scale": "x"},
        {"random_state": "x"},
        {"threshold": -3},
    ):
        yield (
            f"ambiguous {options}",
            attempt(
                lambda given=options: cs.ambiguous_objects(X, **({"n_members": 4} | given)).flags
            ),
        )
    for options in (
        {"threshold": "zzz"},
        {"n_foreground": -1},
        {"scaling": "zzz"},
        {"ids": [1]},
        {"zzz": 1},
        {"truth": [1]},
        {"background": 3},
        {"n_clusters": 0},
        {"random_state": "x"},
        {"threshold": "size"},
        {"divergence": "zzz"},
    ):
        yield (
            f"minority {options}",
            attempt(
                lambda given=options: cs.minority_groups(X, **({"n_repetitions": 5} | given)).labels
            ),
        )
    for job in (cs.cluster, cs.ambiguous_objects, cs.minority_groups):
        for data in (None, [], [[1.0]], np.ones((2, 2)), np.full((4, 2), np.nan), "x", 3):
            yield (
                f"{job.__name__} {str(data)[:20]}",
                attempt(lambda job=job, data=data: repr(job(data))),
            )


@CASES
def ambiguous():
    X = blobs()
    yield from _views("plain", cs.ambiguous_objects, X, 3, n_members=8, random_state=0)
    yield from _views("chosen", cs.ambiguous_objects, X, n_members=8, random_state=0)
    for kind in ("torn", "both"):
        for score in ("relative", "anco"):
            yield from _views(
                f"{kind} {score}",
                cs.ambiguous_objects,
                ensemble=ensembles()[kind],
                score=score,
                ids=[f"o{i}" for i in range(48)],
                random_state=0,
            )
    for rule in ("gap", "kde", "gmm2", "quantile", 0.5):
        yield from _views(
            f"rule {rule}",
            cs.ambiguous_objects,
            ensemble=ensembles()["torn"],
            threshold=rule,
            random_state=0,
        )
    yield from _views("frame", cs.ambiguous_objects, _frame(), 3, n_members=5, random_state=2)
    yield "few", ambiguity.few_objects_each(5, 3, 48)


@CASES
def minority_groups():
    X, y = minority()
    few = {"n_repetitions": 30, "random_state": 0}
    yield from _views("plain", cs.minority_groups, X, **few)
    names = np.array(["field", "a", "b"])[y]
    yield from _views("told", cs.minority_groups, X, truth=names, ids=np.arange(90) + 5, **few)
    yield from _views("named", cs.minority_groups, X, 2, truth=names, background="field", **few)
    yield from _views("size", cs.minority_groups, X, threshold="size", n_foreground=22, **few)
    for rule in ("dist", "ngauss+var", 0.5):
        yield from _views(f"rule {rule}", cs.minority_groups, X, threshold=rule, **few)
    for scaling in ("none", "box", "std", "robust"):
        yield from _views(
            f"scaling {scaling}", cs.minority_groups, X * [1, 50], scaling=scaling, **few
        )
    frame = pd.DataFrame(X, columns=["x", "y"], index=np.arange(90) * 2)
    yield from _views(
        "frame", cs.minority_groups, frame, weak="hard", divergence="euclidean", **few
    )
    yield (
        "seed",
        [jobs.job_seed_of(3), _seeds.job_seed(5), _seeds.job_seed(np.random.RandomState(1))],
    )


@CASES
def runs():
    with TemporaryDirectory() as place:
        folder = Path(place) / "run"
        first = cs.cluster(blobs(), 3, n_members=5, run=folder, random_state=0)
        yield (
            "first",
            [first.labels, sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))],
        )
        second = attempt(
            lambda: cs.cluster(blobs(), 3, n_members=5, run=folder, random_state=0).labels
        )
        yield "again", str(second).replace(place, "")
        other = attempt(
            lambda: cs.cluster(blobs(8), 3, n_members=5, run=folder, random_state=0).labels
        )
        yield "other", str(other).replace(place, "")
        page = Path(place) / "page.html"
        first.report(page, title="Things")
        yield "page", "<h1>Things</h1>" in page.read_text(encoding="utf-8")


@CASES
def helpers():
    yield (
        "table",
        {name: _methods.own_options(one) for name, one in workflow.method_table().items()},
    )
    for words in (
        {"method": "eac"},
        {"methods": ["eac", "kcc"]},
        {},
        {"methods": {"eac": {"linkage": "single"}}},
    ):
        yield (
            f"named {words}",
            attempt(lambda words=words: [m.name for m in _methods.check_methods(**words).methods]),
        )
    yield "alone", attempt(_alone.kmeans_alone, blobs(), 3, truth())
    yield "html", _html.as_html("T<", [("a", "b&")], ["x", "y"], [["1", "<2>"]], ["note"])
    for options in (
        {},
        {"ids": [f"o{i}" for i in range(48)]},
        {"scale": True},
        {"truth": truth()},
        {"scale": "auto"},
    ):
        found = _data.gather(_frame(), owner="x", **options)
        yield f"gather {sorted(options)}", found
        yield (
            f"gather {sorted(options)} words",
            [
                found.in_words(),
                found.facts(),
                found.identifiers(),
                found.plain_id(3),
                found.index_or_ids(),
            ],
        )
    constant = np.c_[blobs(), np.ones(48)]
    yield "constant", attempt(_data.gather, constant, scale=True, owner="x")
    yield "ensemble", attempt(_data.gather, None, ensemble=ensembles()["both"], owner="x")
    with _notes.noting() as notes:
        cs.errors.warn("said")
    yield "notes", notes


@CASES
def odd_jobs():
    many = np.arange(60)
    yield from _views("many", cs.cluster, ensemble=[many], n_clusters=60, random_state=0)
    yield from _views(
        "lists",
        cs.cluster,
        ensemble=ensembles()["torn"].labels.T.tolist(),
        n_clusters=3,
        random_state=0,
    )
    yield from _views("one", cs.cluster, ensemble=ensembles()["torn"], n_clusters=1, random_state=0)
    yield from _views("eac", cs.cluster, ensemble=ensembles()["torn"], method="eac", random_state=0)
    yield from _views(
        "linkage", cs.cluster, ensemble=ensembles()["torn"], linkage="single", random_state=0
    )
    yield from _views(
        "correlation",
        cs.cluster,
        ensemble=ensembles()["both"],
        method="correlationclustering",
        random_state=0,
    )
    yield from _views(
        "noise", cs.cluster, ensemble=np.full((5, 2), -1), n_clusters=1, random_state=0
    )
    yield from _views(
        "words",
        cs.cluster,
        sparse.csr_array(np.where(blobs() > 2, blobs(), 0)),
        3,
        n_members=5,
        random_state=0,
    )
    result = cs.cluster(blobs(), 3, methods=["eac", "mcla"], n_members=5, random_state=0)
    yield "timings", [sorted(result.timings()), sorted(result.timings()["methods"])]
    with TemporaryDirectory() as place:
        table = Path(place, "t.csv")
        rows = [f"o{i},{a:.3f},{b:.3f},7,k{i // 16}" for i, (a, b, _) in enumerate(blobs())]
        table.write_text("name,x,y,same,kind\n" + "\n".join(rows) + "\n")
        read = datasets.read_table(table, id_column="name", truth_column="kind")
        for scale in (True, False, "auto"):
            yield from _views(
                f"table {scale}", cs.cluster, read, 3, n_members=5, scale=scale, random_state=0
            )
        yield from _views(
            "table ambiguous", cs.ambiguous_objects, read, 3, n_members=5, random_state=0
        )
        yield from _views(
            "table minority", cs.minority_groups, read, n_repetitions=15, random_state=0
        )
        folder = Path(place, "run")
        made = cs.cluster(blobs(), 3, n_members=5, run=folder)
        again = cs.cluster(blobs(), 3, n_members=5, run=folder)
        yield "resumed", [made.seed == again.seed, bool((made.labels == again.labels).all())]
        yield "kept", [_members.kept_members(folder), _members.kept_members(Path(place, "none"))]
        _members.clear_members(folder)
        yield "cleared", [_members.kept_members(folder), folder.exists()]
        new = _members.NewRun(folder)
        first = KMeansEnsemble(3, 2, random_state=0).generate(blobs(), checkpoint=new)
        second = KMeansEnsemble(4, 2, random_state=0).generate(blobs(), checkpoint=new)
        yield "new", [first, second.n_members, _members.kept_members(folder)]
    for n in (3, 40, 200):
        flat = cs.minority_groups(np.ones((n, 2)), n_repetitions=5, random_state=0)
        yield f"flat {n}", [repr(flat), flat.headline(), flat.rows()]


test_stored = CASES.test()
