"""Which tests run which lines, so that a mutant is judged by those that can notice it.

    python tests/mutation/reach.py FOLDER                        every room's tests
    python tests/mutation/reach.py FOLDER tests/minority/test_*.py

Each test file is run once, traced, and leaves one file in the folder: its tests, their seconds, and
for every line of the package the tests that ran it. Lines are known by their text, so that a map
outlives edits elsewhere in a file. What a shared fixture runs counts for every test that uses it.
"""

import json
import os
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest

__all__ = ["Reach", "pytest_fixture_setup", "pytest_runtest_protocol", "pytest_sessionfinish"]

ROOT = Path(__file__).resolve().parents[2]
_SOURCE = str(ROOT / "src" / "consilience")
_Lines = dict[CodeType, set[int]]


class Reach:
    """The maps of a folder: which tests run a line of a file."""

    def __init__(self, folder: Path) -> None:
        paths = sorted(folder.glob("*.json"))
        self._maps = [json.loads(path.read_text()) for path in paths]
        self.files = {name.split("::")[0] for one in self._maps for name, _ in one["tests"]}
        #: When each test passed; nothing is told of one whose file was edited since.
        self.passed: dict[str, float] = {}
        for path, one in zip(paths, self._maps, strict=True):
            when = path.stat().st_mtime
            for name, _ in one["tests"]:
                test = ROOT / name.split("::")[0]
                if test.exists() and test.stat().st_mtime < when:
                    self.passed[name] = when

    def tests(
        self, file: str, text: str, function: str, about: Collection[str] = ()
    ) -> list[tuple[str, float]]:
        """Those that run the line, or else the function; then others of the same files.

        The others may look at what a line did in a test before them: answers are often kept. Lines
        of several functions may have one text: those that run the function go first. Of each kind
        those in files that are ``about`` the module come before the quickest of all others.
        """

        def soon(one: tuple[str, float]) -> tuple[bool, float]:
            return one[0].split("::")[0] not in about, one[1]

        whole = f"{function}()"
        for keys in ((text, whole), (text,), (whole,)):
            near: list[tuple[str, float]] = []
            beside: list[tuple[str, float]] = []
            for one in self._maps:
                lines = one["lines"].get(file, {})
                masks = [int(lines.get(key, "0"), 16) for key in keys]
                mask = masks[0] & masks[-1]
                if mask:
                    for number, (name, seconds) in enumerate(one["tests"]):
                        (near if mask >> number & 1 else beside).append((name, seconds))
            if near:
                break
        return [*sorted(near, key=soon), *sorted(beside, key=soon)]

    def starters(self, files: Collection[str]) -> list[tuple[str, float]]:
        """Tests of these files that start processes, which may run any line unseen."""
        found = [tuple(one) for each in self._maps for one in each.get("starters", ())]
        return sorted(
            (one for one in found if one[0].split("::")[0] in files), key=lambda one: one[1]
        )


# A plugin of pytest: what is traced now goes into the last of the stack.
_stack: list[_Lines] = []
_shared: dict[int, _Lines] = {}
_found: dict[str, dict[str, tuple[float, _Lines]]] = defaultdict(dict)
_starters: set[str] = set()
_failed: set[str] = set()


def _of_a_call(frame: FrameType, event: str, arg: object) -> Any:
    code = frame.f_code
    if not code.co_filename.startswith(_SOURCE) or not _stack:
        return None
    seen = _stack[-1].setdefault(code, set())
    every = _every_line(code)
    if len(seen) >= len(every):
        return None

    def of_a_line(frame: FrameType, event: str, arg: object) -> Any:
        if event == "line":
            seen.add(frame.f_lineno)
        return of_a_line

    return of_a_line


@cache
def _every_line(code: CodeType) -> frozenset[int]:
    return frozenset(line for *_, line in code.co_lines() if line is not None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Trace a test, with what its fixtures ran."""
    lines: _Lines = {}
    _stack.append(lines)
    threading.settrace(_of_a_call)
    sys.settrace(_of_a_call)
    start, elsewhere = _work(), sum(os.times()[2:4])
    try:
        return (yield)
    finally:
        sys.settrace(None)
        _stack.pop()
        info = getattr(item, "_fixtureinfo", None)
        for name in getattr(item, "fixturenames", ()):
            for one in (info.name2fixturedefs if info else {}).get(name, ()):
                _add(lines, _shared.get(id(one), {}))
        if sum(os.times()[2:4]) > elsewhere:
            _starters.add(item.nodeid)
        if item.nodeid not in _failed:
            _found[item.nodeid.split("::")[0]][item.nodeid] = (_work() - start, lines)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """What fails without any change tells nothing."""
    if report.failed:
        _failed.add(report.nodeid)


def _work() -> float:
    """Seconds of work, that of processes it started included."""
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any) -> Iterator[None]:
    """Keep what a fixture runs: other tests will only be given what it made."""
    lines: _Lines = {}
    _stack.append(lines)
    try:
        return (yield)
    finally:
        _stack.pop()
        _shared[id(fixturedef)] = lines
        if _stack:
            _add(_stack[-1], lines)


def pytest_sessionfinish() -> None:
    """One file of JSON for each test file."""
    folder = Path(os.environ["MUTATION_REACH"])
    for path, tests in _found.items():
        masks: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for number, (_, lines) in enumerate(tests.values()):
            for code, seen in lines.items():
                file = Path(code.co_filename).relative_to(ROOT).as_posix()
                for key in (f"{code.co_name}()", *(_text(code.co_filename, one) for one in seen)):
                    masks[file][key] |= 1 << number
        each = [(name, round(seconds, 4)) for name, (seconds, _) in tests.items()]
        told = {
            "tests": each,
            "starters": [one for one in each if one[0] in _starters],
            "lines": {
                file: {key: f"{mask:x}" for key, mask in found.items()}
                for file, found in masks.items()
            },
        }
        (folder / (path.replace("/", "__") + ".json")).write_text(json.dumps(told))


def _add(lines: _Lines, more: _Lines) -> None:
    for code, seen in more.items():
        lines.setdefault(code, set()).update(seen)


@cache
def _source_lines(file: str) -> list[str]:
    return Path(file).read_text(encoding="utf-8").splitlines()


def _text(file: str, line: int) -> str:
    """The line, or nothing where the file was edited since it was imported."""
    return "".join(_source_lines(file)[line - 1 : line]).strip()


def _in_a_fork(path: Path) -> int:
    """Exit status of a test file, traced, in a process that has other people's packages loaded."""
    words = ["-q", "--no-header", "--tb=line", "-p", "no:cacheprovider", "-p", "no:xdist"]
    words += ["-p", "mutation.reach", "-W", "ignore::pytest.PytestWarning"]
    words += ["-o", "addopts=--import-mode=importlib", str(path)]
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.setsid()
            silence = os.open(os.devnull, os.O_RDWR)
            for stream in (0, 1, 2):
                os.dup2(silence, stream)
            sys.path.insert(0, str(ROOT / "src"))
            status = int(pytest.main(words))
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main() -> int:
    """Run the files named, or those of every room, each in a process of its own."""
    sys.path.insert(0, str(ROOT / "tests"))
    from mutation.forked import warm
    from mutation.rooms import ROOMS, left_out, stored_tests

    folder = Path(sys.argv[1]).resolve()
    folder.mkdir(exist_ok=True)
    files = {Path(name).resolve() for name in sys.argv[2:]} or {
        path
        for room, (_, tests) in ROOMS.items()
        if room != "kernels"
        for path in (
            *stored_tests(ROOT, room),
            *(path for name in tests for path in (ROOT / "tests").glob(name)),
        )
    }
    os.environ |= {
        "MUTATION_REACH": str(folder),
        "PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT / 'tests'}",
    }
    warm()
    os.chdir(ROOT)
    for path in sorted(files):
        if not left_out(ROOT, path):
            start = time.perf_counter()
            status = _in_a_fork(path)
            told = f"ended with {status}" if status else ""
            print(
                f"{time.perf_counter() - start:6.0f} s  {path.relative_to(ROOT)} {told}", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
