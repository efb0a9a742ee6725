"""Commands on files, in this process: what they may end in, and what they may leave."""

import contextlib
import csv
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fuzz.arrays import one_of
from fuzz.files import File, documents, labels_file, table_file
from fuzz.oracle import Broken, arithmetic, foreign, no_bad_warnings, strict

from consilience import datasets
from consilience._cli.folders import MODEL, PROFILE
from consilience.cli import main
from consilience.consensus import CONSENSUS

__all__ = ["ABOVE", "draw"]

ABOVE = 3  # folders above that of a case that are its own: `--out=../..` is one of the words

Rng = np.random.Generator
_RESULTS = {"cluster": "labels.csv", "ambiguous": "ambiguous.csv", "minority": "scores.csv"}
_LOADERS = {
    "mini_newsgroups": datasets.load_mini_newsgroups,
    "webkb4": datasets.load_webkb4,
    "reuters21578": datasets.load_reuters,
    "conll04": datasets.load_conll04,
}
_ODD_WORDS = (
    "",
    " ",
    "0",
    "-1",
    "1",
    "2.5",
    "nan",
    "inf",
    "1e9",
    "99999999999999999999",
    "two",
    "é",
    "\x00",
    "-",
    "--",
    "[red]",
    "None",
    "true",
    "1,2",
    "a b",
    "../..",
    "x" * 300,
)


@dataclass(frozen=True)
class Case:
    """One command, or one loader, and the files it is given."""

    kind: str
    what: str
    words: tuple[str, ...]
    files: tuple[File, ...] = ()
    loader: str | None = None

    def run(self) -> str:
        """How it ended, "ok" or "refused: why"; raises `Broken`."""
        if self.loader is not None:
            return _run_loader(self)
        return _run_command(self)


def draw(rng: Rng) -> Case:
    """A command with files and options; the files are written into the current folder."""
    return one_of(
        rng, _cluster, _cluster, _cluster, _cluster_labels, _cluster_labels, _ambiguous,
        _ambiguous, _minority, _minority, _methods, _loader,
    )(rng)  # fmt: skip


def _cluster(rng: Rng) -> Case:
    given = table_file(rng)
    words = ["cluster", *_as_data(given), "--members", str(int(rng.integers(1, 9)))]
    if rng.random() < 0.6:
        words += ["-k", str(one_of(rng, 1, 2, 2, 3, 3, 12, 40))]
    words += _one_method(rng)
    return _case(rng, "cluster", words, [given])


def _cluster_labels(rng: Rng) -> Case:
    files, words = [labels_file(rng)], ["cluster"]
    if rng.random() < 0.25:
        files.append(table_file(rng))
        words += _as_data(files[1])
    words += [f"--labels={files[0].path}"]
    if rng.random() < 0.8:
        words += ["-k", str(one_of(rng, 1, 2, 2, 3, 3, 12, 40))]
    words += _one_method(rng)
    return _case(rng, "cluster", words, files)


def _ambiguous(rng: Rng) -> Case:
    given, words = table_file(rng), ["ambiguous"]
    files = [given]
    if rng.random() < 0.5:
        files = [labels_file(rng)]
        words += [f"--labels={files[0].path}"]
    else:
        words += [*_as_data(given), "-k", str(one_of(rng, 1, 2, 2, 2, 3, 12, 40))]
        words += ["--members", str(int(rng.integers(1, 9)))]
    if rng.random() < 0.5:
        words += ["--score", str(one_of(rng, "relative", "anco", "anco", "anco", "best"))]
    if rng.random() < 0.7:
        rule = one_of(rng, "otsu", "gap", "kde", "gmm2", "quantile", "0.5", "0", "1", "-1", "nan")
        words += [f"--threshold={rule}"]
    return _case(rng, "ambiguous", words, files)


def _minority(rng: Rng) -> Case:
    given = table_file(rng)
    words = ["minority", *_as_data(given), "--repetitions", str(one_of(rng, 1, 2, 5, 20))]
    choices = {
        "--weak": ("soft", "hard", "split", "x"),
        "--divergence": ("gaussian", "euclidean", "mahalanobis", "kl", "itakura-saito", "logistic",
                         "cosine", "x"),
        "--gamma": ("10", "0.1", "1e6", "1e-300", "contrast", "0", "x"),
        "--threshold": ("2gauss", "dist", "ngauss", "size", "best", "0.5", "-1", "ngauss+best"),
        "--n-foreground": ("0.1", "0", "1", "5", "1.5", "-1", "1000"),
        "--scaling": ("auto", "none", "box", "std", "robust"),
        "--background": ("g0", "none"),
        "-k": ("1", "2", "12"),
    }  # fmt: skip
    for name, values in choices.items():
        if rng.random() < 0.15:
            words += [f"{name}={one_of(rng, *values)}"]
    return _case(rng, "minority", words, [given])


def _methods(rng: Rng) -> Case:
    words = ["methods", *(["--json"] if rng.random() < 0.5 else [])]
    if rng.random() < 0.2:
        words.append(one_of(rng, *_ODD_WORDS))
    return Case("command methods", " ".join(words), tuple(words))


def _loader(rng: Rng) -> Case:
    name = one_of(rng, *_LOADERS)
    documents(rng, name)
    return Case("command loader", f"load {name}", (), loader=name)


def _as_data(given: File) -> list[str]:
    """The file as an argument; a name that looks like an option needs its folder."""
    return [f"./{given.path}" if given.path.startswith("-") else given.path]


def _one_method(rng: Rng) -> list[str]:
    kind = rng.random()
    if kind < 0.5:
        return []
    if kind < 0.85:
        return ["--method", one_of(rng, *sorted(CONSENSUS))]
    return ["--methods", ",".join(one_of(rng, *sorted(CONSENSUS)) for _ in range(2))]


def _case(rng: Rng, job: str, words: list[str], files: list[File]) -> Case:
    """The command with options that any job has, some of them out of place."""
    columns = list(files[0].columns) or ["id"]
    if "id" in columns and rng.random() < 0.7:
        words = [*words, "--id-column=id"]
    if "group" in columns and rng.random() < 0.8:
        words = [*words, "--truth-column=group"]
    options: list[list[str]] = [
        [f"--id-column={one_of(rng, *columns, 'id', 'none', 'who')}"],
        [f"--truth-column={one_of(rng, 'group', 'group', *columns)}"],
        [f"--ignore={one_of(rng, *columns)}"],
        [f"--impute={one_of(rng, 'median', 'mean', 'drop-rows')}"],
        [f"--encode={one_of(rng, 'onehot', 'dates')}"],
        [f"--decimal={one_of(rng, '.', ',')}"],
        [f"--seed={one_of(rng, 0, 7, 2**32 - 1, 2**32, -1)}"],
        [f"--jobs={one_of(rng, 1, 2, -1)}"],
        ["--json"],
        ["--quiet"],
        ["--force"],
        ["--resume"],
        [f"--out={one_of(rng, 'out', 'a/b/c', '.', 'é')}"],
        ["--no-scale"],
        [f"--max-memory={one_of(rng, '1', '10 KB', '1 GiB', '4 gib')}"],
        [f"--linkage={one_of(rng, 'average', 'single', 'complete', 'ward')}"],
    ]
    for option in options:
        name = option[0].partition("=")[0]
        if rng.random() < 0.06 and not any(word.startswith(name) for word in words):
            words = [*words, *option]
    if rng.random() < 0.75:
        words = [*words, "--no-report"]
    if rng.random() < 0.08:
        name = one_of(rng, "-k", "--members", "--seed", "--jobs", "--out", "--nonsense")
        words = [*words, f"{name}={one_of(rng, *_ODD_WORDS)}"]
    what = " ".join(word if len(word) < 60 else word[:57] + "..." for word in words)
    return Case(f"command {job}", what, tuple(words), tuple(files))


# ---- how it may end -------------------------------------------------------------------------


def _run_loader(case: Case) -> str:
    try:
        with no_bad_warnings():
            _LOADERS[case.loader](data_home="docs")
    except Broken:
        raise
    except Exception as error:
        if why := foreign(error):
            raise Broken(why) from error
        return f"refused: {error}"
    return "ok"


def _run_command(case: Case) -> str:
    before = _tree()
    out, err = io.StringIO(), io.StringIO()
    # A console writes to what is the standard output when it is made.
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), no_bad_warnings():
        try:
            status = main(list(case.words))
        except SystemExit as error:
            raise Broken(f"SystemExit {error.code}") from error
        except Exception as error:
            raise Broken(f"a traceback: {foreign(error) or repr(error)}") from error
    for name, content in before.items():
        if _tree().get(name) != content:
            raise Broken(f"the file {name!r} was changed")
    if status == 2:
        _check_refusal(out.getvalue(), err.getvalue(), before)
        return f"refused: {err.getvalue().strip()}"
    if status != 0:
        raise Broken(f"exit status {status}: {err.getvalue()[:200]}")
    # A run that takes its time says what it is doing, unless nothing is to be said.
    silent = "--quiet" in case.words
    if any(silent or not line.startswith("consilience: ") for line in err.getvalue().splitlines()):
        raise Broken(f"success with words on the error stream: {err.getvalue()[:200]}")
    if case.words[0] in _RESULTS and "--help" not in case.words:
        _check_results(case, out.getvalue(), set(_tree()) - set(before))
    return "ok"


def _tree() -> dict[str, bytes]:
    """Every file a case may write, also a little above its folder, and folders as such."""
    found = {}
    for folder, names, files in os.walk(Path(*[os.pardir] * ABOVE)):
        for name in files:
            path = Path(os.path.relpath(Path(folder, name)))
            found[str(path)] = path.read_bytes()
        for name in names:
            found[os.path.relpath(Path(folder, name)) + os.sep] = b""
    return found


def _check_refusal(out: str, err: str, before: dict[str, bytes]) -> None:
    """One message that says something, and nothing left behind but members to go on with."""
    if "Traceback" in err or len(err.strip().rpartition("\n")[2]) < 25:
        raise Broken(f"no message: {err[:300]!r}")
    if any(not line.startswith("consilience: ") for line in err.splitlines()):
        raise Broken(f"a message of several lines: {err[:300]!r}")
    if out:
        raise Broken(f"refused, but said {out[:100]!r}")
    new = set(_tree()) - set(before)
    if new and "are finished and kept in" not in err:
        raise Broken(f"refused, and left {sorted(new)[:5]}: {err[:200]}")


def _check_results(case: Case, out: str, new: set[str]) -> None:
    """The files of the job, all of them and whole, nothing beside them."""
    words, job = case.words, case.words[0]
    wanted = {_RESULTS[job], "summary.json", "timings.json"}
    may_be = set()  # a profile has a table only where it has lines
    if "--no-report" not in words:
        wanted.add("report.html")
        may_be = set(PROFILE) if job == "cluster" else may_be
    if job == "cluster" and "--no-keep" not in words:
        wanted |= set(MODEL)
    files = {Path(name) for name in new if not name.endswith(os.sep)}
    names = {path.name for path in files}
    if names - may_be != wanted or len({path.parent for path in files}) != 1:
        raise Broken(f"left {sorted(map(str, files))}, not {sorted(wanted)}")
    folder = next(iter(files)).parent
    summary = strict((folder / "summary.json").read_text(encoding="utf-8"), "summary.json")
    if "--json" in words and strict(out, "the output") != summary:
        raise Broken("--json printed another summary than summary.json")
    if "--quiet" in words and out:
        raise Broken(f"--quiet, but said {out[:100]!r}")
    for note in summary["warnings"]:
        if arithmetic(note):
            raise Broken(f"a note of arithmetic that went wrong: {note}")
    with (folder / _RESULTS[job]).open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    n = summary["data"]["n_objects"]
    if len(rows) != n:
        raise Broken(f"{len(rows)} rows for {n} objects")
    known = case.files[-1].n_objects if job == "cluster" else case.files[0].n_objects
    if known is not None and n + summary["data"]["rows_left_out"] != known:
        raise Broken(f"{n} objects in the summary, {known} in the file")
    _CHECK[job](rows, summary)


def _check_cluster(rows: list[dict[str, str]], summary: dict[str, Any]) -> None:
    labels = np.array([int(row["cluster"]) for row in rows])
    k = summary["n_clusters"]
    sizes = np.bincount(labels[labels >= 0], minlength=k).tolist()
    if labels.min() < -1 or sizes != summary["cluster_sizes"] or 0 in sizes:
        raise Broken(f"sizes {sizes} in labels.csv, {summary['cluster_sizes']} in the summary")
    if int((labels < 0).sum()) != summary["n_noise"]:
        raise Broken("the number of noise objects differs")
    if "confidence" in rows[0]:
        _check_share([row["confidence"] for row in rows], "confidence")


def _check_ambiguous(rows: list[dict[str, str]], summary: dict[str, Any]) -> None:
    # An object that nobody saw has no score.
    _check_numbers([row["score"] for row in rows if row["score"]], "score")
    if {row["ambiguous"] for row in rows} - {"0", "1"}:
        raise Broken(f"ambiguous is {sorted({row['ambiguous'] for row in rows})}")


def _check_minority(rows: list[dict[str, str]], summary: dict[str, Any]) -> None:
    _check_numbers([row["score"] for row in rows], "score")
    groups = np.array([int(row["group"]) for row in rows])
    if groups.min() < -1 or int((groups >= 0).sum()) != summary["n_foreground"]:
        raise Broken(f"{(groups >= 0).sum()} foreground rows, {summary['n_foreground']} said")
    if {row["undecided"] for row in rows} - {"0", "1"}:
        raise Broken("undecided is neither 0 nor 1")


_CHECK = {"cluster": _check_cluster, "ambiguous": _check_ambiguous, "minority": _check_minority}


def _check_numbers(cells: list[str], what: str) -> Any:
    values = np.array([float(cell) for cell in cells])
    if not np.isfinite(values).all():
        raise Broken(f"a {what} that is not finite")
    return values


def _check_share(cells: list[str], what: str) -> None:
    values = _check_numbers(cells, what)
    if values.min() < 0 or values.max() > 1:
        raise Broken(f"{what} runs from {values.min()} to {values.max()}")
