"""Stored answers of the command line: what it prints, says and writes."""

import contextlib
import csv
import io
import json
import os
import re
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
import pytest
from stored.home import make_home
from stored.small import blobs, ensembles, minority, truth
from stored.store import Cases

from consilience.cli import main

pytest.importorskip("cyclopts")
pytest.importorskip("jinja2")

CASES = Cases(__file__)
_WROTE = re.compile(r"Wrote [^()]*\([^()]*in\s+all\)")
_LONG = re.compile(r"-?\d+\.\d{8,}(e[-+]?\d+)?")
_HEX = re.compile("[0-9a-f]{32}")
_TIMES = re.compile(r"\d+(\.\d+)? ?(ms|s|min|h)\b")


def _write_files():
    X, kinds = blobs(), np.array(["a", "b", "c"])[truth()]
    lines = [
        f"o{i},{a:.4f},{100 * b:.4f},{c:.4f},7,{k}"
        for i, ((a, b, c), k) in enumerate(zip(X, kinds, strict=True))
    ]
    Path("things.csv").write_text("name,x,y,z,same,kind\n" + "\n".join(lines) + "\n")
    gaps = lines.copy()
    gaps[3] = gaps[3].replace(gaps[3].split(",")[1], "", 1)
    Path("gaps.csv").write_text("name,x,y,z,same,kind\n" + "\n".join(gaps) + "\n")
    Path("fewer.csv").write_text("name,x,y,z,same,kind\n" + "\n".join(gaps[:-1]) + "\n")
    X, y = minority()
    names = np.array(["field", "p", "q"])[y]
    lines = [
        f"s{i},{a:.4f},{b:.4f},{k}" for i, ((a, b), k) in enumerate(zip(X, names, strict=True))
    ]
    Path("stars.csv").write_text("name,x,y,kind\n" + "\n".join(lines) + "\n")
    members = ensembles()["both"].labels
    rows = [f"o{i},{','.join(map(str, row))}" for i, row in enumerate(members)]
    heads = ",".join(f"m{j}" for j in range(members.shape[1]))
    Path("members.csv").write_text(f"id,{heads}\n" + "\n".join(rows) + "\n")
    Path("text.csv").write_text("a,b\nx,y\n")
    np.savez("points.npz", X=blobs())
    _write_more_files(X=blobs(), kinds=kinds, members=members)


def _write_more_files(X, kinds, members):
    """New objects in another order of columns, labels with known groups, folders of others."""
    lines = [
        f"{c:.4f},n{i},{a + 0.01:.4f},extra,7,{100 * b:.4f}" for i, (a, b, c) in enumerate(X[::4])
    ]
    lines += ["500,far,500,extra,7,-90000", "-500,too,-700,extra,7,90000"]
    Path("new.csv").write_text("z,name,x,more,same,y\n" + "\n".join(lines) + "\n")
    Path("half.csv").write_text("name,x\nn0,1.0\nn1,2.0\n")
    placed = np.where(members < 0, 0, members)
    rows = [
        f"o{i},{','.join(map(str, row))},{kind}"
        for i, (row, kind) in enumerate(zip(placed[:, :4], kinds, strict=True))
    ]
    Path("full.csv").write_text("id,a,b,c,d,kind\n" + "\n".join(rows) + "\n")
    Path("turned.csv").write_text("name,a,b,c,d,kind\n" + "\n".join(rows[::-1]) + "\n")
    Path("one.csv").write_text("a\n1\n2\n1\n2\n")
    singles = [f"{i},{i},{i // 2}" for i in range(44)]
    Path("singles.csv").write_text("a,b,c\n" + "\n".join(singles) + "\n")
    strangers = {
        "stranger/summary.json": "{}",
        "nobody/summary.json": '{"consilience": "0", "files": ["labels.csv", "summary.json"]}',
        "damaged/plan.json": '{"plan": 1}',
        "begun/plan.json": '{"consilience_run": 1}',
        "page/report.html": "<html>mine</html>",
        "left/labels.csv": "a",
    }
    for name, text in strangers.items():
        Path(name).parent.mkdir()
        Path(name).write_text(text)


def _command(*words):
    """Exit status, what is printed, and the files written, in a folder of its own.

    Commands that follow each other have a semicolon between them.
    """
    before = Path.cwd()
    out, err = io.StringIO(), io.StringIO()
    with TemporaryDirectory() as place:
        os.chdir(place)
        try:
            _write_files()
            known = set(Path().rglob("*"))
            if "home" in words:
                Path("home").mkdir()
                make_home(Path("home"))
            known |= set(Path("home").rglob("*"))
            with (
                patch.dict(os.environ, {"COLUMNS": "100", "NO_COLOR": "1"}),
                contextlib.redirect_stdout(out),
                contextlib.redirect_stderr(err),
            ):
                os.environ.pop("CONSILIENCE_DATA", None)
                lines = " ".join(words).split(" ; ")
                status = [main(line.split()) for line in lines]
            made = {
                _HEX.sub("HEX", str(path)): _content(path)
                for path in sorted(set(Path().rglob("*")) - known)
                if path.is_file()
            }
        finally:
            os.chdir(before)
    said = [_plain(text.getvalue(), place) for text in (out, err)]
    yield "status", status if len(status) > 1 else status[0]
    yield "out", said[0]
    yield "err", said[1]
    yield "laid out", _laid_out(out.getvalue())
    yield "files", sorted(made)
    for name, content in made.items():
        if isinstance(content, dict):
            for key, value in content.items():
                yield f"{name} {key}", value
        else:
            yield name, content


def _plain(text, place=""):
    # Where this line is broken depends on how long it took.
    text = _WROTE.sub(lambda found: " ".join(found[0].split()), text)
    text = _TIMES.sub("TIME", text.replace(place, "")) if place else _TIMES.sub("TIME", text)
    # The last digits of a float are the processor's.
    text = _LONG.sub(lambda found: f"{float(found[0]):.7g}", text)
    return re.sub(r"[ \u2500-\u257f]+", " ", text)


def _laid_out(text):
    """Lines of tables as they stand, but for those with what a run took."""
    return [line for line in text.splitlines() if "   " in line.strip() and not _TIMES.search(line)]


def _content(path):
    # Of what is kept the checksums are of every bit; what it holds is described elsewhere.
    if path.suffix == ".json" and path.name not in ("timings.json", "model.json"):
        found = json.loads(path.read_text(encoding="utf-8"))
        return {
            key: value
            for key, value in found.items()
            if "version" not in key and key not in ("timings", "seconds")
        }
    if path.suffix == ".csv":
        rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
        columns = list(zip(*rows, strict=True)) if rows else []
        return {column[0]: [_cell(cell) for cell in column[1:]] for column in columns}
    if path.suffix in (".md", ".txt"):
        return _plain(path.read_text(encoding="utf-8"))
    if path.suffix == ".html":
        text = path.read_text(encoding="utf-8")
        bare = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.S)
        return _plain(bare)
    return path.suffix


def _cell(text):
    with contextlib.suppress(ValueError):
        return int(text)
    with contextlib.suppress(ValueError):
        return float(text)
    return text


_COMMANDS = {
    "nothing": "",
    "help": "--help",
    "cluster_help": "cluster --help",
    "minority_help": "minority --help",
    "ambiguous_help": "ambiguous --help",
    "reproduce_help": "reproduce --help",
    "demo_help": "demo --help",
    "methods": "methods",
    "method": "methods eac",
    "method_unknown": "methods zzz",
    "unknown": "zzz",
    "cluster": "cluster things.csv -k 3 --members 6 --id-column name --truth-column kind",
    "cluster_chosen": "cluster things.csv --members 6 --ignore name --ignore kind --no-report",
    "cluster_method": (
        "cluster things.csv -k 3 --members 5 --method mcla --id-column name --ignore "
        "kind --no-scale --seed 3"
    ),
    "cluster_methods": (
        "cluster things.csv -k 3 --members 5 --methods eac,mcla,kcc --id-column name "
        "--truth-column kind"
    ),
    "cluster_json": (
        "cluster things.csv -k 3 --members 5 --json --id-column name --ignore kind --out here"
    ),
    "cluster_quiet": "cluster points.npz -k 3 --members 5 --quiet --refine",
    "cluster_labels": "cluster --labels members.csv -k 3 --id-column id",
    "cluster_linkage": "cluster --labels members.csv --linkage complete --no-report",
    "cluster_text": "cluster text.csv",
    "cluster_missing": "cluster none.csv",
    "cluster_both": "cluster things.csv --labels members.csv",
    "cluster_left_out": (
        "cluster gaps.csv --labels members.csv -k 3 --impute drop-rows --ignore kind --no-report"
    ),
    "cluster_other_count": (
        "cluster fewer.csv --labels members.csv -k 3 --impute drop-rows --ignore kind --no-report"
    ),
    # Options are looked at before the file, which cannot be used either.
    "cluster_option": "cluster text.csv --linkage zzz",
    "cluster_zero": "cluster things.csv -k 0",
    "cluster_many": "cluster things.csv -k 90 --ignore kind --id-column name",
    "cluster_wrong": "cluster things.csv --method zzz",
    "cluster_seed": "cluster things.csv --seed x",
    "cluster_column": "cluster things.csv --id-column zzz",
    "cluster_members": "cluster things.csv --members 0",
    "cluster_nothing": "cluster",
    "ambiguous": "ambiguous things.csv -k 3 --members 6 --id-column name --ignore kind",
    "ambiguous_labels": (
        "ambiguous --labels members.csv --id-column id --score anco --threshold 0.5"
    ),
    "ambiguous_json": "ambiguous --labels members.csv --json --threshold gap",
    "ambiguous_wrong": "ambiguous --labels members.csv --score zzz",
    "ambiguous_rule": "ambiguous --labels members.csv --threshold zzz",
    "minority": "minority stars.csv --repetitions 30 --id-column name --truth-column kind",
    "minority_size": (
        "minority stars.csv --repetitions 30 --threshold size --n-foreground 22 --ignore "
        "name --ignore kind --no-report"
    ),
    "minority_hard": (
        "minority stars.csv --repetitions 20 --weak hard --divergence euclidean -k 2 "
        "--ignore name --ignore kind --json"
    ),
    "minority_scaling": (
        "minority stars.csv --repetitions 20 --scaling std --gamma 5 --quiet --id-column "
        "name --ignore kind --seed 4"
    ),
    "minority_background": (
        "minority stars.csv --repetitions 20 --truth-column kind --background p "
        "--id-column name --no-report"
    ),
    "minority_wrong": "minority stars.csv --threshold zzz --ignore name --ignore kind",
    "minority_unknown": "minority stars.csv --background zzz --truth-column kind --id-column name",
    "minority_repetitions": "minority stars.csv --repetitions x",
    "reproduce": "reproduce",
    "reproduce_unknown": "reproduce zzz",
    "reproduce_home": "reproduce eeac-table --runs 1 --sets Wine --data home",
    "reproduce_set": "reproduce eeac-table --sets zzz --data home",
    "reproduce_empty": "reproduce eeac-table --runs 1 --sets Wine",
    "reproduce_columns": (
        "reproduce woec-table4 --runs 1 --sets Iris --members 4 --columns CSPA,MCLA "
        "--data home --store kept --out here"
    ),
    "reproduce_picture": (
        "reproduce ewocs-figure15 --runs 1 --sets LOC-PER --members 3,6 --data home"
    ),
    "reproduce_members": "reproduce woec-table4 --members x --data home",
    "reproduce_none": "reproduce woec-table4 --members 0 --data home",
    "demo": "demo --out here",
    "cluster_memory": (
        "cluster things.csv -k 3 --members 4 --max-memory x --ignore name --ignore kind"
    ),
    "cluster_force": (
        "cluster things.csv -k 3 --members 4 --force --ignore name --ignore kind --no-report"
    ),
    "cluster_impute": (
        "cluster things.csv -k 3 --members 4 --impute median --encode onehot --no-report"
    ),
    "cluster_resume": "cluster points.npz -k 3 --members 4 --resume --no-report",
    "version": "--version",
    "methods_json": "methods --json",
    "predict": (
        "cluster things.csv -k 3 --members 4 --id-column name --ignore kind --no-report --out run "
        "; predict run new.csv ; predict run new.csv ; predict run new.csv --force "
        "; predict run things.csv --out again.csv ; predict run half.csv --out h.csv "
        "; predict none new.csv --out h.csv ; predict run none.csv --out h.csv"
    ),
    "predict_points": (
        "cluster points.npz -k 2 --members 4 --no-report --out run ; predict run points.npz --out "
        "p.csv"
    ),
    "compare": (
        "cluster --labels full.csv -k 3 --id-column id --ignore kind --no-report --out a ; cluster "
        "--labels full.csv -k 2 --id-column id --method mcla --no-report --out b ; compare a b "
        "--moved m.csv ; compare a b --moved m.csv ; compare a b --picture p.txt ; compare a b "
        "--picture p.svg ; compare a a ; compare a none"
    ),
    "labels_truth": (
        "cluster --labels full.csv -k 3 --truth-column kind --no-report --id-column id --out t "
        "; cluster --labels full.csv -k 3 --truth-column zzz ; cluster --labels one.csv "
        "--truth-column a ; cluster --labels members.csv --id-column id --truth-column m0 -k 3 "
        "; ambiguous --labels full.csv --truth-column kind --id-column id -k 3 --out u"
    ),
    "labels_turned": (
        "cluster things.csv --labels turned.csv --id-column name --ignore kind -k 3 ; cluster "
        "things.csv --labels turned.csv --ignore kind -k 3 --no-report"
    ),
    "labels_alone": "cluster --labels singles.csv -k 30 --method eac --no-report --no-keep",
    "labels_method": (
        "cluster --labels full.csv --method eac --id-column id --ignore kind --no-report --out a "
        "; cluster --labels full.csv --method pta --id-column id --no-report --out b ; cluster "
        "--labels full.csv -k 3 --methods mcla,wosp,zzz --no-report ; cluster --labels full.csv -k "
        "3 --methods mcla,wosp --no-report --out c ; cluster --labels full.csv --methods , ; "
        "cluster --labels full.csv --method eac --methods mcla"
    ),
    "many_groups": (
        "cluster things.csv -k 22 --method kcc --members 4 --id-column name --ignore kind x "
        "--no-report"
    ),
    "folders": (
        "cluster --labels full.csv -k 2 --method mcla --no-report --out here ; cluster --labels "
        "full.csv -k 2 --method mcla --no-report --out here ; cluster --labels full.csv -k 3 "
        "--method mcla --no-report --out here --force ; cluster --labels full.csv -k 2 --out "
        "stranger --force ; cluster --labels full.csv -k 2 --out damaged ; cluster --labels "
        "full.csv -k 2 --out begun ; cluster --labels full.csv -k 2 --out page --force ; cluster "
        "--labels full.csv -k 2 --out left --force ; cluster --labels full.csv -k 2 --method mcla "
        "--no-report --out nobody ; cluster --labels full.csv -k 2 --out full.csv ; cluster things"
    ),
}


def _add(name, line):
    def answers():
        for key, value in _command(*line.split()):
            if key == "laid out" and (name == "nothing" or name.endswith("help")):
                continue
            if key == "out" and name == "version":
                continue
            if key == "out" and name.endswith("help"):  # how it is laid out is not ours
                value = sorted(set(re.findall(r"--[a-z-]+", value)))
            if key in ("out", "laid out") and name == "cluster_methods":  # has seconds of each
                value = str(value)
                value = re.sub(r"\d+\.\d+", "N", value)
            yield key, value

    answers.__name__ = name
    CASES(answers)


for _name, _line in _COMMANDS.items():
    _add(_name, _line)

test_stored = CASES.test()
