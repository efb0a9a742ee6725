"""Stored answers of commands beside plain tables: graphs, blocks, machines, the explorer, words."""

import io
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np
import pytest
from stored.small import blobs, few_drawn, minority, truth
from stored.store import Cases, attempt
from stored.test_cli import _command

pytest.importorskip("cyclopts")
pytest.importorskip("jinja2")

from rich.console import Console

from consilience import datasets
from consilience._cli import (
    arguments,
    by_blocks,
    doctor,
    explore,
    folders,
    large,
    members,
    outputs,
    results,
    show,
    show_cluster,
)
from consilience._cli.arguments import AmbiguousWish, ClusterWish, MinorityWish, Reading, Writing
from consilience._stored import _table
from consilience.cli import main
from consilience.errors import InvalidInputError
from consilience.workflow import Diagnosis
from consilience.workflow import large as large_tables
from consilience.workflow.doctor import Timing

CASES = Cases(__file__)


def _write_files():
    """Edges, a larger table, one of words and gaps, two views, distances, pairs that are known."""
    edges = datasets.make_lfr(120, mixing=0.25, random_state=0).edges
    lines = [f"n{a},n{b},{1 + (a + b) % 3}" for a, b in edges.tolist()]
    Path("edges.csv").write_text("from,to,strength\n" + "\n".join(lines) + "\n")
    X, kinds = blobs(), np.array(["a", "b", "c"])[truth()]
    np.save("big.npy", np.vstack([X + 0.001 * i for i in range(10)]))
    stars, _ = minority(400, 5)
    np.save("sky.npy", stars)
    lines = [
        f"p{i},{a:.3f},{'' if i % 9 == 4 else f'{b:.3f}'},{k},{1 + i % 3}"
        for i, ((a, b, _), k) in enumerate(zip(X, kinds, strict=True))
    ]
    Path("people.csv").write_text("name,size,age,kind,times\n" + "\n".join(lines) + "\n")
    for name, some in (("first", X[:, :2]), ("second", X[4:, 1:])):
        start = 48 - len(some)
        rows = [f"o{i + start},{a:.3f},{b:.3f}" for i, (a, b) in enumerate(some)]
        Path(f"{name}.csv").write_text("id,a,b\n" + "\n".join(rows) + "\n")
    gaps = np.abs(X[:, None] - X[None]).sum(axis=2)
    np.save("gaps.npy", gaps)
    Path("whole.csv").write_text(
        "x,y,z\n" + "\n".join(f"{a:.3f},{b:.3f},{c:.3f}" for a, b, c in np.abs(X)) + "\n"
    )
    Path("known.csv").write_text("first,second,link\np0,p1,must\np0,p20,cannot\n")


@contextmanager
def _small_blocks():
    changes = {
        large_tables: {"_ALWAYS_READ": 0, "_SAMPLE": 60, "_PART": 200},
        _table: {"BLOCK": 512},
        large: {"_MOST_ROWS": 4},
    }
    with ExitStack() as stack:
        for module, values in changes.items():
            for name, value in values.items():
                stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch("stored.test_cli._write_files", _write_files))
        stack.enter_context(few_drawn())
        yield


_BLOCKS = "--max-memory 20KiB --members 4"
_GRAPH = "cluster --graph edges.csv"
_COMMANDS = {
    "graph": (
        f"{_GRAPH} --members 5 --seed 1 ; {_GRAPH} --members 4 --source-column from "
        "--target-column to --weight-column strength --resolution 1,3 --out named --json ; "
        f"{_GRAPH} --members 3 --resolution 2 --no-report --out one"
    ),
    "graph_refused": " ; ".join(
        f"{_GRAPH} {more}"
        for more in (
            "-k 3",
            "--truth-column x",
            "--log",
            "--members 0",
            "--resolution 0",
            "--resolution x",
            "--resolution 3,1",
            "--resolution 1,2,3",
            "--labels edges.csv",
            "--view a=edges.csv",
            "--jobs 0",
            "--source-column zzz",
            "--weight-column from",
            "--ignore a",
            "--strict",
        )
    ),
    "graph_misplaced": (
        "cluster people.csv --resolution 2 ; cluster people.csv --source-column a ; cluster "
        "people.csv --graph edges.csv ; cluster --graph none.csv"
    ),
    "blocks": (
        f"cluster big.npy -k 3 --method lwgp {_BLOCKS} --out a ; cluster big.npy -k 6 --method sec "
        f"{_BLOCKS} --no-report --no-scale --out b ; cluster big.npy -k 3 --method lwgp {_BLOCKS} "
        "--out a"
    ),
    "blocks_bare": f"cluster big.npy -k 2 --method sec {_BLOCKS} --no-report --no-keep --json",
    "blocks_refused": " ; ".join(
        f"cluster whole.csv --max-memory 1KiB --members 4 {more}"
        for more in (
            "--truth-column z",
            "--columns x",
            "--impute mean",
            "--encode onehot",
            "--transpose",
            "--methods eac,mcla",
            "--refine",
            "--strict",
            "--linkage single",
            "--log",
            "--compositional",
            "--weight x=2",
            "--metric cosine",
            "--object-weights z",
            "--effort quick",
            "--known known.csv",
            "--method eac",
            "-k 90",
            "--workers 0",
            "--workers 2 --scheduler tcp://nowhere:1",
            "--device cpu",
        )
    ),
    "workers_without_data": (
        "cluster --labels people.csv --workers 2 ; cluster --labels people.csv --scheduler local"
    ),
    "blocks_minority": (
        "minority sky.npy --max-memory 1KiB --repetitions 15 --threshold dist -k 1 --out a ; "
        "minority sky.npy --max-memory 1KiB --repetitions 15 --threshold 99 --no-report --out b ; "
        "minority sky.npy --max-memory 1KiB --background x ; minority sky.npy --max-memory x"
    ),
    "mixed": (
        "cluster people.csv -k 3 --members 5 --method eac --encode mixed --impute keep --out a "
        "--no-report ; cluster people.csv -k 3 --members 5 --method eac --encode mixed --impute "
        "median --weight size=4 --ordinal kind=c,a,b --object-weights times --no-report --out b"
    ),
    "views": (
        "cluster --view one=first.csv --view two=second.csv -k 3 --members 12 --method eac "
        "--no-report ; cluster --view first.csv ; cluster --view a=first.csv --view a=first.csv ; "
        "cluster people.csv --view a=first.csv ; cluster --view =first.csv ; cluster --view a="
    ),
    "metric": (
        "cluster whole.csv -k 3 --members 4 --method eac --metric manhattan --no-report --out a ; "
        "cluster gaps.npy -k 3 --members 4 --method eac --metric precomputed --no-report --out b ; "
        "cluster whole.csv --metric zzz"
    ),
    "numbers_first": (
        "cluster whole.csv -k 3 --members 4 --method eac --log --no-report --out a ; cluster "
        "whole.csv -k 3 --members 4 --method eac --compositional --no-report --out b ; cluster "
        "whole.csv --log --compositional ; cluster whole.csv --weight x ; cluster whole.csv "
        "--weight x=y ; cluster whole.csv --weight q=2 ; cluster whole.csv --columns x,y --weight "
        "x=2 -k 2 --members 4 --method eac --no-report --out c"
    ),
    "known": (
        "cluster people.csv --columns size -k 3 --members 4 --id-column name --known known.csv "
        "--no-report --out a ; cluster whole.csv -k 3 --known known.csv ; cluster whole.csv -k "
        "3 --known none.csv ; cluster whole.csv --known whole.csv"
    ),
    "limits": (
        "cluster whole.csv --max-k 1 ; cluster whole.csv --max-k 3 -k 2 ; cluster whole.csv --jobs "
        "0 ; cluster whole.csv --jobs -2 ; cluster whole.csv --seed -1 ; cluster whole.csv --json "
        "--quiet ; cluster --labels whole.csv --resume ; cluster whole.csv --effort zzz ; cluster "
        "whole.csv --effort quick --strict ; cluster whole.csv --members 4 --max-k 3 --effort "
        "quick --no-report"
    ),
    "sky": (
        "minority sky.npy --repetitions 12 --score knn --no-report --out a ; minority sky.npy "
        "--repetitions 12 --weak split --threshold 2gauss --n-foreground 0.1 --no-report --out b ; "
        "minority sky.npy --threshold size ; minority sky.npy --threshold best ; minority sky.npy "
        "--background 1 ; minority sky.npy --n-foreground 0 ; minority sky.npy --threshold size "
        "--n-foreground 20 --repetitions 12 --no-report --out c --json ; minority sky.npy "
        "--repetitions 12 --threshold 1e9 --no-report --out d"
    ),
}


def _add(name, line):
    def answers():
        with _small_blocks():
            yield from _command(*line.split())

    answers.__name__ = name
    CASES(answers)


for _name, _line in _COMMANDS.items():
    _add(_name, _line)


def _said(tell, *args, width=100, **how):
    out = io.StringIO()
    tell(*args, Console(file=out, width=width), **how)
    return out.getvalue()


@CASES
def machine():
    one = Diagnosis(
        consilience="1", python="P 3", system="S", cores=2, memory_total=5 << 30,
        memory_free=3 << 29, packages={"numpy": "2.0", "numba": None},
        extras={"cli": {"cyclopts": "3", "rich": None}, "x": {}},
        partitioners={"METIS": True, "Mt-KaHyPar": False}, kernel_folder="[bold]x", torch=None,
        triton=None, devices=(), timings=(), advice=("Look [bold]here 7.", "And there."),
    )  # fmt: skip
    card = {"name": "cuda:0", "model": "M", "memory_total": 1 << 30, "memory_free": None}
    two = replace(
        one, memory_total=None, memory_free=None, kernel_folder=None, torch="2", triton="3",
        partitioners={"METIS": False, "Mt-KaHyPar": False}, devices=(card,), advice=(),
        timings=(Timing("a", "one core", 1.23456), Timing("b", "one core", 0.5),
                 Timing("b", "cuda:0", 0.25)),
    )  # fmt: skip
    for key, found in {"one": one, "two": two}.items():
        yield key, _said(doctor._show, found)
        asked = []
        with patch.object(doctor, "doctor", lambda f=found, a=asked, **how: a.append(how) or f):
            for words in (["doctor"], ["doctor", "--json"], ["doctor", "--no-benchmark"]):
                out = io.StringIO()
                with patch("sys.stdout", out):
                    status = main(words)
                yield f"{key} {words}", [status, out.getvalue()]
        yield f"{key} asked", asked


@CASES
def explored():
    for ended in ("by itself", "by Ctrl-C"):
        for browser in (True, False):
            done = []

            def wait(ended=ended):
                if ended == "by Ctrl-C":
                    raise KeyboardInterrupt

            served = SimpleNamespace(
                url="http://here", wait=wait, stop=lambda d=done: d.append("stop")
            )
            view = SimpleNamespace(missing=("no [map]", "no 7"), title="T", n_objects=1234)
            with (
                patch.object(
                    explore, "open_run", lambda run, d=done, v=view: d.append(str(run)) or v
                ),
                patch.object(
                    explore, "serve", lambda v, d=done, s=served, **how: d.append(how) or s
                ),
                patch.object(explore.webbrowser, "open", done.append),
                patch("sys.stdout", io.StringIO()) as out,
            ):
                words = ["explore", "run", "--port", "7", "--host", "h"]
                status = main([*words, *([] if browser else ["--no-browser"])])
                plain = main(["explore", "run"]) if browser else None
            yield f"{ended} {browser}", [status, plain, done, out.getvalue()]


@CASES
def command_lines():
    wishes = {
        "plain": ClusterWish(data=Path("a b.csv")),
        "many": ClusterWish(
            data=Path("a.csv"), n_clusters=3, max_k=7, strict=True, members=4, no_scale=True,
            view=("a=b", "c=d"), weight=("x=2",),
            reading=Reading(ignore=("x", "y z"), impute="mean"),
            writing=Writing(out=Path("o"), force=True),
        ),
        "labels": ClusterWish(labels=Path("l.csv"), methods="eac,mcla"),
        "ambiguous": AmbiguousWish(data=Path("a.csv"), score="anco", threshold="0.5", seed=3),
        "minority": MinorityWish(data=Path("a.csv"), gamma="3", n_foreground=0.5, repetitions="9"),
        "odd": ClusterWish(data=Path("a'b\udcff.csv")),
    }  # fmt: skip
    for key, wish in wishes.items():
        yield key, arguments.as_command(key, wish)
    with patch.object(Path, "is_file", lambda path: str(path) in ("a.csv", "b.csv")):
        for line in (
            "cluster a.csv --ignore x y -k 3", "cluster --ignore x y a.csv b.csv", "--ignore x y",
            "cluster --ignore x -k 3 y", "a.csv --ignore x b.csv z",
            "cluster b.csv --ignore a.csv z",
        ):  # fmt: skip
            yield line, arguments.one_flag_each(line.split())
    yield "other option", arguments.one_flag_each(["c", "--x", "1", "2"], "--x")
    for given in (("a=1",), ("a=b=1",), ("a",), ("=1",), ("a=",), ("a=1", "a=2")):
        yield f"named {given}", attempt(arguments.named_values, given, "--o", "e=1")
    for ordinal in ((), ("s=I, II",), ("s",)):
        yield f"orders {ordinal}", attempt(Reading(ordinal=ordinal).orders)
    for threshold in (None, "0.5", "otsu"):
        yield f"limit {threshold}", AmbiguousWish(threshold=threshold).limit()


@CASES
def shown():
    places = [Path("o/labels", f"part-{i:04d}.npz") for i in range(1, 6)]
    for n in (1, 2, 3, 4, 5):
        paths = [*places[:n], Path("o/report.html"), Path("o/summary.json")]
        yield f"written {n}", _said(show.show_written, paths, 1.26, width=200)
    yield "places", [_said(show.show_places, one) for one in ({}, {"a": "cpu"}, {"a": "cuda:0"})]
    found = SimpleNamespace(
        n_objects=1200, columns=("a",), sizes=[500, 300, 200, 100, 50, 25], n_clusters=6,
        mean_confidences=lambda: [0.9, 0.8, 0.7, 0.6, 0.555, 0.5],
    )  # fmt: skip
    for most in (4, 5, 6, 30):
        with patch.object(large, "_MOST_ROWS", most):
            out = io.StringIO()
            Console(file=out, width=80).print(large._clusters(found))
            yield f"clusters {most}", out.getvalue()
    out = io.StringIO()
    whole = SimpleNamespace(n_objects=7, sizes=[7], n_clusters=1, mean_confidences=lambda: [1.0])
    Console(file=out, width=80).print(large._clusters(whole))
    yield "one cluster", out.getvalue()
    for k in (1, 2):
        members_ = SimpleNamespace(n_members=3, n_clusters=np.array([2, 2 * k]))
        result = SimpleNamespace(
            ensemble=members_, why_members="Why.", method_in_words=lambda: "it."
        )
        yield f"how {k}", show_cluster._how(result)
    for sizes in ([3, 2], [9] * 8, [9] * 9):
        one = {"sizes": sizes, "n_clusters": len(sizes), "difference": "joins 0 and 1"}
        for n in (sum(sizes), sum(sizes) + 1):
            result = SimpleNamespace(
                to_dict=lambda o=one: {"alternatives": ["taken", o]}, n_objects=n
            )
            yield f"alternative {len(sizes)} {n}", _said(show_cluster._show_alternatives, result)


@CASES
def folders_and_files():
    for name in ("a.csv", "a.csv.gz", "b.parquet", "c", ".csv", "d.tar.gz", "E.CSV"):
        yield name, [folders.default_folder(Path(name)), folders.default_folder(Path(name), "j-")]
    for name in ("labels/part-0001.npz", "labels/part-001.npz", "labels/part-0001.csv", "x"):
        yield f"part {name}", [folders.is_part(name), results._inside(name)]
    for facts in ({"a": [1, None, "\udcff"]}, {"a": Path("x")}, {"a": float("nan")}):
        yield f"json {[*facts.values()]!r:.30}", attempt(outputs.as_json, facts)
    for done, blocks, counted in ((0, 0, 0), (3, 0, 0), (3, 2, 0), (0, 0, 9), (0, 2, 0)):
        with (
            patch.object(members, "kept_members", lambda f, d=done: (d, 10) if d else None),
            patch.object(members, "kept_blocks", lambda f, b=blocks: b),
            patch.object(members, "kept_repetitions", lambda f, c=counted: c),
        ):
            for error in (KeyboardInterrupt(), InvalidInputError("no")):
                for command in ("c a.csv", "c a.csv --resume"):
                    members.keep_members(Path("o"), command, error)
                yield (
                    f"kept {done} {blocks} {counted} {type(error).__name__}",
                    getattr(error, "__notes__", []),
                )
    for wish in (ClusterWish(max_memory="3 MiB"), ClusterWish()):
        yield f"memory {wish.max_memory}", by_blocks.memory_of(wish)


test_stored = CASES.test()
