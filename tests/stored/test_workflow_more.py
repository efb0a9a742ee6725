"""Stored answers of jobs that are not of plain numbers in memory: graphs, distances, categories,
gaps, views, weights, memberships, tables in blocks; and what a machine offers."""

import json
from importlib import import_module, metadata
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from stored.small import blobs, ensembles, few_drawn, minority, truth
from stored.store import Cases, attempt
from stored.test_workflow import _views

import consilience as cs
from consilience import datasets
from consilience._stored import _table
from consilience.generate import KMeansEnsemble
from consilience.workflow import (
    _choosing,
    _columns,
    _metric,
    _mixed,
    _object_weights,
    _one_column,
    _places,
    _view_agreement,
    graphs,
    large,
)
from consilience.workflow._data import Data

pytest.importorskip("jinja2")

CASES = Cases(__file__)
doctor = import_module("consilience.workflow.doctor")  # not the function of that name
_FEW = {"n_members": 6, "random_state": 0}
_QUICK = {"method": "eac", "n_members": 4, "random_state": 0}


def _short(key, job, *args, **options):
    """The parts of a result that differ between jobs on the same kind of data."""
    told = (".labels", ".confidence", ".runner_up", "headline", "notes", "data", "page done")
    for name, value in _views(key, job, *args, **options):
        if name == key or name.removeprefix(key).strip() in told:
            yield name, value


@CASES
def communities():
    sample = datasets.make_lfr(120, mixing=0.25, random_state=0)
    few = {"n_members": 5, "random_state": 0}
    yield from _views("plain", cs.cluster_graph, sample.edges, truth=sample.groups, **few)
    rng = np.random.default_rng(0)
    random = rng.integers(0, 60, (150, 2))
    yield from _views("random", cs.cluster_graph, random, n_members=4, random_state=1)
    cliques = np.kron(np.eye(23), np.ones((4, 4))) - np.eye(92)
    yield from _views("many", cs.cluster_graph, cliques, ids=[f"n{i}" for i in range(92)], **few)
    pair = np.zeros((5, 5))
    pair[0, 1] = pair[1, 0] = 1
    yield from _views("lonely", cs.cluster_graph, pair, resolution=1.0, **few)
    yield from _views(
        "given",
        cs.cluster_graph,
        cliques,
        ensemble=np.column_stack([np.arange(92) // 4, np.arange(92) // 8]),
        random_state=0,
    )
    for wrong in (
        {"resolution": -1.0},
        {"n_members": 0},
        {"ids": [1]},
        {"truth": [1]},
        {"ensemble": [[0, 1]] * 92, "resolution": 1.0},
        {"generator": KMeansEnsemble(3, 2)},
    ):
        yield f"wrong {wrong}", attempt(lambda w=wrong: repr(cs.cluster_graph(cliques, **w)))
    yield "path", attempt(cs.cluster_graph, "file.csv")
    result = cs.cluster_graph(sample.edges, **few)
    yield "least sure", [result.least_sure(), result.least_sure(2), result.n_suited_elsewhere]
    for agreed in (0.49, 0.5, 0.79, 0.8):
        changed = graphs.GraphResult(**vars(result) | {"member_agreement": agreed})
        yield f"agreed {agreed}", [changed.verdict, changed.headline()]


@CASES
def distances():
    X = blobs() + 12
    for metric in ("manhattan", "chebyshev", "cosine", "correlation", "euclidean"):
        yield from _short(metric, cs.cluster, X, 3, metric=metric, **_QUICK)
    gaps = np.abs(X[:, None] - X[None]).sum(axis=2)
    yield from _views("given", cs.cluster, gaps, 3, metric="precomputed", **_QUICK)
    words = sparse.csr_array(np.where(X > 12, X, 0))
    yield from _short("sparse", cs.cluster, words, 3, metric="cosine", **_QUICK)
    yield from _short("sparse correlation", cs.cluster, words, 3, metric="correlation", **_QUICK)
    for options in (
        {"gaps": "keep"}, {"scale": True}, {"scale": False}, {"transform": "log"},
        {"column_weights": {"c0": 2.0}}, {"ensemble": ensembles()["whole"]}, {"metric": "x"},
    ):  # fmt: skip
        for metric in ("precomputed", "manhattan"):
            given = {"metric": metric} | _QUICK | options
            rows = gaps if metric == "precomputed" else X
            yield from _short(f"{metric} {[*options]}", cs.cluster, rows, 3, **given)
    yield "none", attempt(cs.cluster, ensemble=ensembles()["few"], metric="cosine")
    with patch.object(_metric, "_MOST_OBJECTS", 40):
        for metric in ("manhattan", "cosine"):
            yield from _short(f"many {metric}", cs.cluster, X, 3, metric=metric, **_QUICK)
    for scale in ("auto", True, False):
        for metric in (None, "manhattan", "cosine", "precomputed"):
            yield f"scaled {scale} {metric}", _metric.scaled_by(metric, scale)


@CASES
def coordinates():
    X = blobs()[::3]
    gaps = np.abs(X[:, None] - X[None]).sum(axis=2)
    for few, judged in ((1500, 1000), (5, 1000), (1500, 3), (16, 16)):
        with patch.object(_metric, "_FEW", few), patch.object(_metric, "_JUDGED", judged):
            points, fit = _metric.principal_coordinates(gaps)
            yield f"{few} {judged}", [np.abs(points[:, :4]), points.shape[1] > 4, fit]
    with patch.object(_metric, "_MOST_AXES", 2):
        yield "two axes", _metric.principal_coordinates(gaps)
    for D in (np.zeros((3, 3)), np.ones((4, 4)) - np.eye(4), np.array([[0.0, 2], [2, 0]])):
        points, fit = _metric.principal_coordinates(D)
        yield f"{len(D)} {D[0, 1]}", [points.shape, np.linalg.norm(points), fit]
    for centred in (False, True):
        yield f"rows {centred}", _metric._unit_rows(X, centred=centred)


def _people(n=60):
    rng = np.random.default_rng(4)
    group = np.arange(n) % 3
    colour = np.array(["red", "green", "blue"])[np.where(rng.random(n) < 0.1, 0, group)]
    return pd.DataFrame(
        {
            "size": np.round(group * 4 + rng.normal(size=n), 3),
            "colour": colour,
            "kind": np.where(rng.random(n) < 0.5, "x", "y"),
            "weight": 1.0 + np.arange(n) % 4,
        },
        index=[f"p{i}" for i in range(n)],
    )


@CASES
def categories():
    people = _people()
    frame = people.drop(columns="weight")
    yield from _views("frame", cs.cluster, frame, 3, method="eac", **_FEW)
    yield from _short("words", cs.cluster, frame[["colour", "kind"]], 3, method="eac", **_FEW)
    torn = frame.copy()
    torn.iloc[::5, 0] = np.nan
    torn.iloc[3::7, 1] = None
    yield from _views("gaps", cs.cluster, torn, 3, method="eac", gaps="keep", **_FEW)
    yield from _short("no gaps", cs.cluster, torn, 3, method="eac", **_FEW)
    X = np.where(np.random.default_rng(1).random((48, 3)) < 0.15, np.nan, blobs())
    yield from _short("numbers", cs.cluster, X, 3, method="eac", gaps="keep", **_FEW)
    with patch.object(_mixed, "_PAIRS", 10):
        yield from _short("by clusters", cs.cluster, X, 3, method="mcla", gaps="keep", **_FEW)
    with patch.object(_mixed, "_MODERATE", 10):
        yield (
            "many",
            attempt(lambda: cs.cluster(frame, 3, method="eac", **_FEW).generator.get_params()),
        )
    sparse_rows = sparse.csr_array(blobs())
    yield from _short("sparse", cs.cluster, sparse_rows, 3, column_weights={"c0": 2.0}, **_QUICK)


@CASES
def columns_that_count():
    frame = _people().drop(columns="weight")
    for weights in (
        {"size": 4.0},
        {"colour": 0.25},
        {"none": 1.0},
        {"size": 0.0},
        {"size": "a"},
        3,
    ):
        options = {"method": "eac", "column_weights": weights}
        yield from _short(f"weights {weights}", cs.cluster, frame, 3, **options, **_FEW)
    weights = {"c0": 4.0, "c2": 0.5}
    for scale in (True, False):
        yield from _short(
            f"weighted {scale}",
            cs.cluster,
            blobs(),
            3,
            scale=scale,
            column_weights=weights,
            **_QUICK,
        )
    for transform in ("log", "compositional", "x"):
        yield from _short(
            transform, cs.cluster, np.exp(blobs() / 4), 3, transform=transform, **_QUICK
        )


@CASES
def several_views():
    first, second = blobs(), blobs(seed=6)[:, :2] + np.array([0.0, 3.0])
    known = np.arange(48) % 6 > 0
    names = np.array([f"o{i}" for i in range(48)])
    some = {
        "first": pd.DataFrame(first, index=names),
        "second": pd.DataFrame(second[known], index=names[known]),
    }
    for key, given in {"whole": {"a": first, "b": second}, "some": some}.items():
        options = {"n_members": 14, "random_state": 0}
        yield from _views(key, cs.cluster, given, 3, method="eac", **options)
        result = cs.cluster(given, 3, method="eac", **options)
        yield f"{key} placed", attempt(lambda r=result, g=given: r.predict(g).labels)
        found = _view_agreement.view_agreement(("a", "b"), result.ensemble, result.labels)
        yield f"{key} agreement", [found, found.sentences(), found.to_dict()]
        for labels in (truth() * 0, np.full(48, -1), np.where(truth() == 1, -1, truth())):
            again = _view_agreement.view_agreement(("a", "b"), result.ensemble, labels)
            yield f"{key} agreement {labels[[0, 20]]}", [again.to_dict(), again.sentences()]
        with patch.object(_view_agreement, "_MOST", 9):
            again = _view_agreement.view_agreement(("a", "b"), result.ensemble, result.labels)
            yield f"{key} agreement of some", again.between
        yield f"{key} in all", _mixed.in_all_views(result.data)
        with patch.object(_mixed, "_FEWEST", 41):
            yield f"{key} few in all", _mixed.in_all_views(result.data)
    yield "without", _view_agreement.view_agreement(("a", "b"), ensembles()["few"], truth())


@CASES
def weighted_objects():
    X, people = blobs(), _people()
    for key, weights in {
        "whole": 1 + np.arange(48) % 3, "even": 2 * np.ones(48), "twos": 2 + np.arange(48) % 2 * 2,
        "parts": 0.3 + 0.1 * (np.arange(48) % 7), "far": np.r_[1e6, np.ones(47)],
    }.items():  # fmt: skip
        yield from _short(key, cs.cluster, X, 3, method="eac", object_weights=weights, **_FEW)
        yield f"{key} copies", attempt(_object_weights.copies_of, weights, owner="this")
    names = np.array(["a", "b", "c"])[truth()]
    yield from _views(
        "told", cs.cluster, X, 3, method="eac", object_weights=1 + np.arange(48) % 2, truth=names,
        ids=np.arange(48) + 3, **_FEW,
    )  # fmt: skip
    yield from _short(
        "column", cs.cluster, people, 3, method="eac", object_weights="weight", **_FEW
    )
    yield from _short("no column", cs.cluster, people, 3, object_weights="x", **_FEW)
    yield from _short("no frame", cs.cluster, X, 3, object_weights="x", **_FEW)
    for weights in ([1], [[1]], [], [0] * 48, [-1] * 48, [np.nan] * 48, ["a"] * 48, 1 << 60):
        yield (
            f"wrong {weights[:1] if isinstance(weights, list) else weights}",
            attempt(lambda w=weights: repr(cs.cluster(X, 3, object_weights=w, **_FEW))),
        )
    for weights in (
        [1, 2, 3],
        [2, 4, 6],
        [10, 10, 1],
        [30, 1, 1],
        [1, 1.5, 2],
        [0.1, 5, 5],
        [21, 8, 1],
    ):
        yield f"whole {weights}", attempt(_object_weights._whole, np.array(weights, float))
    for labels in ([2, 0, 2, -1], [1, 1], [-1], [0, 3]):
        yield f"renumbered {labels}", _object_weights._renumbered(np.array(labels), 4)


@CASES
def one_column():
    rng = np.random.default_rng(0)
    n = 60
    for key, wrong in {"exact": 0, "nearly": 1, "not": 3}.items():
        group = np.arange(n) % 2
        column = np.where(np.arange(n) < wrong, 1 - group, group).astype(float)
        X = np.column_stack([column, rng.normal(size=n)])
        yield from _one(key, X, group)
    X = np.column_stack([np.arange(n) % 20, rng.normal(size=n)])
    yield from _one("twenty", X, np.arange(n) % 20)
    X = np.column_stack([np.arange(n) % 21, rng.normal(size=n)])
    yield from _one("more", X, np.arange(n) % 21)
    yield from _one("alone", X[:, :1], np.arange(n) % 21)
    yield from _one("one group", X, np.zeros(n, int))
    with patch.object(_one_column, "_SOME", 10):
        X = np.column_stack([np.arange(n) // 30, rng.normal(size=n)])
        yield from _one("some", X, np.arange(n) // 30)
    many = np.column_stack([np.eye(3)[np.arange(n) % 3], rng.normal(size=n)])
    data = Data(n, many, tuple("abcd"), original=many, original_columns=tuple("abcd"),
                sources=("x", "x", "x", "y"))  # fmt: skip
    yield "sources", _one_column.the_one_column(data, np.arange(n) % 3)


def _one(key, X, labels):
    names = tuple("ab")[: X.shape[1]]
    data = Data(len(X), X, names, original=X, original_columns=names)
    yield key, attempt(_one_column.the_one_column, data, labels)
    yield f"{key} warned", attempt(_one_column.warn_of_one_column, data, labels)


@CASES
def memberships():
    rng = np.random.default_rng(3)
    members = [rng.dirichlet(np.ones(k), 48) + 3 * np.eye(k)[truth() % k] for k in (3, 4, 3)]
    soft = cs.SoftEnsemble([one / one.sum(axis=1, keepdims=True) for one in members])
    yield from _short("plain", cs.cluster, ensemble=soft, n_clusters=3, random_state=0)
    for options in ({"method": "eac"}, {"method": "mcla"}, {"methods": ["eac", "cspa"]},
                    {"refine": True}, {"method": "voting"}):  # fmt: skip
        given = {"n_clusters": 3, "random_state": 0} | options
        yield from _short(f"{options}", cs.cluster, ensemble=soft, **given)


@CASES
def tables_in_blocks():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, 700)
    X = np.column_stack([rng.normal(size=(700, 2)) + 8 * group[:, None], np.full(700, 2.0)])
    with (
        TemporaryDirectory() as place,
        patch.object(large, "_SAMPLE", 90),
        patch.object(large, "_PART", 300),
        patch.object(_table, "BLOCK", 1024),
    ):
        path = Path(place, "big.npy")
        np.save(path, X)
        maker = KMeansEnsemble(5, (2, 5), max_samples=200)
        for key, options in {
            "lwgp": {"n_clusters": 3, "method": "lwgp", "generator": maker},
            "plain": {"n_clusters": 3, "n_members": 5},
            "raw": {"n_clusters": 3, "n_members": 5, "scale": False, "method": "sec"},
            "number": {"n_members": 5},
            "refine": {"refine": True},
            "truth": {"truth": group},
            "eac": {"method": "eac"},
        }.items():
            try:
                result = cs.cluster(path, random_state=0, **options)
            except cs.errors.ConsilienceError as error:
                yield key, str(error)
                continue
            yield key, [repr(result).replace(place, ""), result.to_dict(), result.sizes]
            yield f"{key} labels", [np.asarray(result.labels), np.asarray(result.runner_up)]
            yield f"{key} sure", [np.asarray(result.confidence), result.mean_confidences()]
            yield f"{key} sample", [result.sample.labels, result.sample.ids, repr(result.sample)]
            yield f"{key} placed", attempt(lambda r=result: r.predict(X[::50] + 0.1).labels)
            yield (
                f"{key} placed in blocks",
                attempt(lambda r=result, p=path: np.asarray(r.predict(p).labels)),
            )
        target = Path(place, "saved")
        result = cs.cluster(path, 3, n_members=5, random_state=0)
        result.save(target)
        summary = json.loads((target / "summary.json").read_text())
        yield "saved", [sorted(str(p.relative_to(target)) for p in target.rglob("*")), summary]
        yield "saved again", str(attempt(result.save, target)).replace(place, "")
        yield "parts", [large.part_names(n) for n in (1, 299, 300, 301, 901)]
        yield "in words", [large.in_words(7, 7), large.in_words(7, 8)]


@CASES
def what_fits():
    with TemporaryDirectory() as place, patch.object(large, "_ALWAYS_READ", 0):
        home = Path(place)
        np.save(home / "a.npy", np.ones((100, 4)))
        (home / "a.csv").write_text("a,b,c\n" + "1.25,2,3\n" * 400)
        (home / "one.csv").write_text("1;2;3;4")
        (home / "empty.csv").write_text("")
        (home / "tabs.txt").write_text("a\tb\n" + "1\t2\n" * 50)
        (home / "folder").mkdir()
        pd.DataFrame(np.ones((50, 3)), columns=list("abc")).to_parquet(home / "t.parquet")
        (home / "parts").mkdir()
        pd.DataFrame(np.ones((5, 2)), columns=list("ab")).to_parquet(home / "parts/x.parquet")
        (home / "a.csv.gz").write_bytes(b"x" * 4000)
        for path in sorted(home.iterdir()):
            yield f"shape {path.name}", attempt(large._guessed_shape, path)
            yield f"rows {path.name}", attempt(large._holds_rows, path)
            for memory in (None, "1 KiB", 16_000, "1 GiB", "x"):
                for members in (0, 100):
                    found = attempt(
                        large.does_not_fit, path, members, memory, owner="this", name="--memory"
                    )
                    yield f"{path.name} {memory} {members}", found


@CASES
def small_groups_in_blocks():
    X, _ = minority(400, 5)
    with (
        TemporaryDirectory() as place,
        patch.object(large, "_SAMPLE", 90),
        patch.object(large, "_PART", 150),
        patch.object(_table, "BLOCK", 512),
        few_drawn(),
    ):
        path = Path(place, "big.npy")
        np.save(path, X)
        for key, options in {"dist": {"threshold": "dist", "n_clusters": 1}, "plain": {}}.items():
            result = cs.minority_groups(path, n_repetitions=15, random_state=0, **options)
            yield key, [repr(result).replace(place, ""), result.to_dict(), result.n_foreground]
            yield f"{key} labels", [np.asarray(result.labels), np.asarray(result.undecided)]
            yield f"{key} scores", np.asarray(result.scores)
            yield f"{key} sample", [result.sample.labels, repr(result.sample)]
            result.save(Path(place, key))
            found = sorted(str(p.relative_to(place)) for p in Path(place, key).rglob("*"))
            yield f"{key} saved", found


def _machine(**changes):
    found = {
        "kernel_folder": "x", "partitioners": {"METIS": True, "Mt-KaHyPar": True}, "devices": (),
        "torch": None, "triton": None,
    }  # fmt: skip
    return found | changes


@CASES
def machines():
    card = ({"kind": "cuda", "name": "cuda:0"},)
    for key, changes in {
        "plain": {}, "folder": {"kernel_folder": None},
        "no cut": {"partitioners": {"METIS": False, "Mt-KaHyPar": False}},
        "one cut": {"partitioners": {"METIS": False, "Mt-KaHyPar": True}},
        "card": {"devices": card, "torch": "2.0"},
        "card and triton": {"devices": card, "torch": "2.0", "triton": "3.0"},
        "other card": {"devices": ({"kind": "mps"},), "torch": "2.0"},
        "no card": {"torch": "2.0"},
    }.items():  # fmt: skip
        for system in ("linux", "darwin"):
            with patch.object(doctor.sys, "platform", system):
                yield f"{key} {system}", doctor._advice(_machine(**changes))
    lines = ["numpy>=2", "cyclopts>=3; extra == 'cli'", 'nosuch>1; extra == "odd"',
             "consilience[cli]; extra == 'all'", "consilience[cli]; extra == 'x'",
             "pytest; extra == 'test'"]  # fmt: skip
    with patch.object(doctor.metadata, "requires", lambda name: lines):
        found = doctor._extras()
        yield (
            "extras",
            {name: {p: v is None for p, v in one.items()} for name, one in found.items()},
        )

    def missing(name):
        raise metadata.PackageNotFoundError

    with patch.object(doctor.metadata, "requires", missing):
        yield "no extras", doctor._extras()
    with patch.object(doctor.metadata, "version", missing):
        yield "versions", [doctor._version(name) for name in ("numpy", "nosuch", "scikit-learn")]
    with patch.object(doctor.os, "sysconf", lambda name: {"SC_PAGE_SIZE": 8}.get(name, 100)):
        yield "memory", doctor._memory()


@CASES
def places():
    for stage in (*_places.GAINS, "other"):
        for device in (None, "cuda:0"):
            for there in (True, False):
                found = _places.place_of_stage(stage, device, there=there)
                yield f"{stage} {device} {there}", found
    for records in ([], [{}], [{"device": "cuda:0"}, {}], [{"device": "cuda:0"}] * 2):
        yield f"members {records}", _places.place_of_members(records)
    for sizes in ((10**4, 100, 99), (10**4, 100, 100), (10**4, 100, 101)):
        for device in (None, "cpu", "cuda:0"):
            yield f"advice {sizes} {device}", attempt(_places.advise, *sizes, device)
    for ran_on in (
        {},
        {"a": "cpu"},
        {"a": "x"},
        {"a": "x", "b": "cpu", "c": "x", "d": "x", "e": "y"},
    ):
        yield f"words {ran_on}", _places.in_words(ran_on)
    for device in (None, 3):  # a name is asked of torch, where it is there
        yield f"chosen {device}", attempt(_places.chosen_device, blobs(), device, owner="this")


@CASES
def columns():
    rules = {"gaps": None, "transform": None, "column_weights": None}
    for wrong in (
        {}, {"gaps": "keep"}, {"gaps": "x"}, {"transform": "log"}, {"transform": "x"},
        {"column_weights": {"a": 1}}, {"column_weights": {"a": 0}}, {"column_weights": {1: 0.5}},
        {"column_weights": [1]},
    ):  # fmt: skip
        given = rules | wrong
        yield f"{wrong}", attempt(_columns.checked_columns, *given.values(), owner="this")
    plain, keep = _columns.Columns(), _columns.Columns(keep_gaps=True)
    gaps = np.where(np.arange(12).reshape(4, 3) == 5, np.nan, 1.0)
    for key, values in {
        "gaps": gaps, "whole": np.ones((4, 3)), "sparse": sparse.csr_array(gaps),
        "ints": np.ones((4, 3), int), "row": gaps[1],
    }.items():  # fmt: skip
        yield f"has gaps {key}", [one.has_gaps(values, None) for one in (plain, keep)]
    heavy = _columns.Columns(column_weights={"a": 4.0})
    for scaling in (None, datasets._scale.Scaling(
        np.array([0, 1]), np.ones(2), np.array([1.0, 2]), np.array([2.0, 4]))):  # fmt: skip
        yield (
            f"weighted {scaling is None}",
            heavy.weighted(np.ones((4, 2)), ("a", "b"), scaling, owner="this"),
        )
    people = _people().drop(columns="weight")
    recipe = datasets._frames.frame_table(people, impute=None).recipe
    for sources in ((), ("size", "colour", "colour", "kind", "other")):
        yield f"numbers {sources}", _columns.number_columns(recipe, sources, 5)
    yield "numbers", _columns.number_columns(None, ("a",), 3)


@CASES
def numbers():
    from consilience.rows import Rows

    for seed in (0, 1):
        rows = Rows(blobs())
        with patch.object(_choosing, "_ENOUGH", 30):
            found = _choosing.by_lines(rows, None, most=5, effort="default", seed=seed, n_jobs=None)
        yield f"some {seed}", [found.n_clusters, found.choice.words]
    found = _choosing.by_criteria(None, ensembles()["whole"], most=4, seed=0, n_jobs=None)
    yield "criteria", [found.n_clusters, found.choice.words]
    nobody = cs.Ensemble(np.full((5, 2), -1))
    found = _choosing.by_lines(None, nobody, most=None, effort="default", seed=0, n_jobs=None)
    yield "nobody", found


test_stored = CASES.test()
