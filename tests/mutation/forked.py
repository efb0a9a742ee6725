"""Judge mutants by the tests that reach them, in processes forked from one that is warm.

Most of a short test run is importing other people's packages: they are imported once, and every
run of tests is a fork that imports only this package, from the copy with the mutant in it.
"""

import doctest
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from importlib.metadata import entry_points
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest
from mutation.mutants import Mutant
from mutation.reach import Reach
from mutation.rooms import likely_tests

__all__ = ["Forge", "judge_all", "warm"]

ROOT = Path(__file__).resolve().parents[2]
_OTHERS = (
    "numpy", "scipy.stats", "scipy.cluster.hierarchy", "scipy.sparse.linalg", "scipy.spatial",
    "scipy.optimize", "scipy.special", "numba", "joblib", "sklearn.cluster", "sklearn.metrics",
    "sklearn.mixture", "sklearn.datasets", "sklearn.neighbors", "sklearn.svm", "sklearn.utils",
    "sklearn.utils.estimator_checks", "sklearn.decomposition", "sklearn.preprocessing", "pandas",
    "hypothesis", "matplotlib.pyplot", "jinja2", "cyclopts", "rich.console", "rich.table",
)  # fmt: skip
_QUIET = (
    "-q", "--no-header", "--tb=no", "-p", "no:cacheprovider", "-p", "no:xdist",
    "-o", "addopts=--import-mode=importlib", "-W", "ignore::pytest.PytestWarning",
)  # fmt: skip
_FIRST = 3.0  # seconds of tests asked first: most mutants are noticed by them
_ABOUT = 6  # files that surely are about a module: the stored answers, and those of its name
_BUSY = 15  # how much longer a run may wait than work


def warm() -> None:
    """Import what all tests need, with the settings of ``conftest.py``."""
    os.environ |= {
        "SCIPY_ARRAY_API": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1",
        "CONSILIENCE_PROGRESS": "0", "CONSILIENCE_TEST_PROFILE": "quick", "MPLBACKEND": "agg",
        "PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_CORETYPE": "Haswell",
    }  # fmt: skip
    sys.dont_write_bytecode = True
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in _OTHERS:
            importlib.import_module(name)
        # What other packages add to pytest; each run would load it, and rewrite its assertions.
        for plugin in entry_points(group="pytest11"):
            plugin.load()


class Forge:
    """A copy of the package, and what is known of the tests."""

    def __init__(self, folder: Path, reach: Reach, budget: float) -> None:
        self._copy, self._reach, self._budget = folder / "src", reach, budget
        self._told = folder / "told.json"
        newest = max(path.stat().st_mtime for path in (ROOT / "src").rglob("*.py"))
        self._sound = {name: True for name, when in reach.passed.items() if when > newest}
        shutil.copytree(ROOT / "src", self._copy)

    def judge(self, room: str, mutant: Mutant) -> tuple[str, str]:
        """How it ended, and by which test."""
        target = self._copy / mutant.file.relative_to(ROOT / "src")
        try:
            target.write_bytes(mutant.source)
            for compiled in (target.parent / "__pycache__").glob(f"{target.stem}.*.pyc"):
                compiled.unlink()
            return self._asked(room, mutant)
        finally:
            shutil.copy2(mutant.file, target)

    def _asked(self, room: str, mutant: Mutant) -> tuple[str, str]:
        status, by = self._run(self._copy, lambda: _examples(mutant.file), 60)
        if status != 0:
            return ("timeout" if status is None else "caught"), "doctest"
        spent = 0.0
        likely = likely_tests(ROOT, room, mutant.file, mutant.function)
        files = [path.relative_to(ROOT).as_posix() for path in likely]
        for names, seconds in self._parts(mutant, files):
            spent += seconds
            ended, by = self._by(names, 30 + 3 * seconds)
            if ended != "survived":
                return ended, by
        others = [path for path in files if path not in self._reach.files]
        left = self._budget - spent
        return self._by(others, left, whole=True) if others and left > 5 else ("survived", "")

    def _by(self, names: list[str], limit: float, *, whole: bool = False) -> tuple[str, str]:
        """What the tests say. Of whole files as many are asked as the limit holds."""
        while names:
            status, by = self._pytest(self._copy, names, limit)
            if status in (0, 5) or (status is None and whole):
                break
            if status is None:
                return "timeout", by
            if not by:  # pytest itself ended: by the change, or because a test is gone
                clean, _ = self._pytest(ROOT / "src", names, limit)
                if clean in (0, 5):
                    return "caught", "pytest ends"
                there = self._still_there(names)
                if len(there) == len(names):
                    return "survived", ""
                names = there
                continue
            if self._holds_clean(by):
                return "caught", by
            names = [f"--deselect={by}", *(one for one in names if one != by)]
        return "survived", ""

    def _parts(self, mutant: Mutant, files: list[str]) -> Iterator[tuple[list[str], float]]:
        """The quickest tests that reach it, and then as many as the budget holds."""
        file = mutant.file.relative_to(ROOT).as_posix()
        text = mutant.file.read_text(encoding="utf-8").splitlines()[mutant.line - 1].strip()
        if mutant.kind == "default changed":
            text = ""  # set where the module is imported, seen where the function is called
        parts: tuple[list[tuple[str, float]], ...] = ([], [])
        spent = 0.0
        reached = self._reach.tests(file, text, mutant.function, files[:_ABOUT])
        for name, seconds in dict([*reached, *self._reach.starters(files)]).items():
            if spent + seconds <= self._budget and self._sound.get(name, True):
                spent += seconds
                parts[spent > _FIRST].append((name, seconds))
        if mutant.kind == "default changed":
            parts[0].append(("tests/test_public_defaults.py", 5.0))
        for part in parts:
            if part:
                yield [name for name, _ in part], sum(seconds for _, seconds in part)

    def _holds_clean(self, name: str) -> bool:
        """Whether a test passes without any change; asked once for each, unless a map says so."""
        if name not in self._sound:
            # A file that cannot be imported is only imported again: it may hold any tests.
            how = [] if "::" in name else ["--collect-only"]
            status, _ = self._pytest(ROOT / "src", [*how, name], 300)
            self._sound[name] = status == 0
            if status != 0:
                print(f"left out, fails without any change: {name}", flush=True)
        return self._sound[name]

    def _still_there(self, names: list[str]) -> list[str]:
        """Those that a map did not keep from an older suite; pytest runs none if one is gone."""
        files = sorted({name.split("::")[0] for name in names if not name.startswith("-")})
        there = _Listed(self._told)
        words = ["--collect-only", *_QUIET, *(one for one in files if (ROOT / one).exists())]
        self._run(ROOT / "src", lambda: pytest.main(words, [there]), 300)
        known = {*files, *json.loads(self._told.read_text())}
        gone = {name for name in names if not name.startswith("-") and name not in known}
        print(f"left out, {len(gone)} that are gone, such as {min(gone, default='')}", flush=True)
        return [name for name in names if name not in gone]

    def _pytest(self, source: Path, names: list[str], limit: float) -> tuple[int | None, str]:
        words = ["-x", *_QUIET, *names]
        return self._run(source, lambda: pytest.main(words, [_First(self._told)]), limit)

    def _run(self, source: Path, task: Callable[[], int], limit: float) -> tuple[int | None, str]:
        """Exit status of a task in a fork, None past the limit; and what it told."""
        self._told.write_text('""')
        child = os.fork()
        if child == 0:
            status = 1
            try:
                _enter(source, limit)
                status = int(task())
            except BaseException:  # whatever the change brings about, it was noticed
                status = 1
            finally:
                os._exit(status)
        end = time.monotonic() + limit * _BUSY
        while time.monotonic() < end:
            done, status = os.waitpid(child, os.WNOHANG)
            if done:
                over = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGXCPU
                code = None if over else os.waitstatus_to_exitcode(status)
                return code, "time-out" if over else json.loads(self._told.read_text())
            time.sleep(0.02)
        os.killpg(child, signal.SIGKILL)
        os.waitpid(child, 0)
        return None, "time-out"


class _First:
    """A plugin that tells the first test that failed."""

    def __init__(self, told: Path) -> None:
        self._told = told

    def pytest_runtest_logreport(self, report: Any) -> None:
        self._tell(report)

    def pytest_collectreport(self, report: Any) -> None:
        self._tell(report)

    def _tell(self, report: Any) -> None:
        # Where a file cannot be imported, a second report without a name says that pytest stops.
        if report.failed and report.nodeid and self._told.read_text() == '""':
            self._told.write_text(json.dumps(report.nodeid))


class _Listed:
    """A plugin that tells the names of all tests."""

    def __init__(self, told: Path) -> None:
        self._told = told

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._told.write_text(json.dumps([item.nodeid for item in session.items]))


def _enter(source: Path, limit: float) -> None:
    """What a fork needs: its own group, a limit of work, silence, and the copy to import."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
    silence = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silence, stream)
    os.chdir(ROOT)
    os.environ["PYTHONPATH"] = str(source)
    sys.path[:0] = [str(source), str(ROOT / "tests")]


def _examples(file: Path) -> int:
    """Whether an example of the module itself fails."""
    if file.name == "__init__.py" or ">>>" not in file.read_text(encoding="utf-8"):
        return 0
    warnings.simplefilter("error")
    module = importlib.import_module(".".join(file.relative_to(ROOT / "src").with_suffix("").parts))
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    return int(doctest.testmod(module, optionflags=options).failed > 0)


def judge_all(
    drawn: list[tuple[str, Mutant]], folder: Path, reach: Path, jobs: int, budget: float
) -> Iterator[tuple[str, Mutant, str, float, str]]:
    """Room, mutant, how it ended, seconds and the test that noticed, in order."""
    warm()
    maps = Reach(reach)
    with ProcessPoolExecutor(jobs, get_context("fork"), _start, (folder, maps, budget)) as pool:
        yield from pool.map(_judge, drawn)


_forges: list[Forge] = []


def _start(folder: Path, maps: Reach, budget: float) -> None:
    place = folder / str(os.getpid())
    place.mkdir()
    _forges.append(Forge(place, maps, budget))


def _judge(one: tuple[str, Mutant]) -> tuple[str, Mutant, str, float, str]:
    room, mutant = one
    start = time.perf_counter()
    ended, by = _forges[0].judge(room, mutant)
    return room, mutant, ended, time.perf_counter() - start, by
