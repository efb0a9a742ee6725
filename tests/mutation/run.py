"""Change the code a little, many times, and count how often the tests notice.

    python tests/mutation/run.py --sample 20 --seed 3 --jobs 4
    python tests/mutation/run.py --sample 40 --seed 3 --room _cli --room report

For each room a seeded sample of mutants is drawn, as many of one kind as of another. Each is
applied in a copy of the package, and the tests that may notice it are run until one fails:
the stored answers of its room, then those named after the module, those that mention it and the
others of its room, as far as ``--budget`` seconds of their clean run reach. A mutant that makes
the tests run three times as long as they should counts as noticed. Kernels run as plain Python:
compiling them takes longer than testing them; what compiles them is judged by its own tests. Tests
that cannot run here (a package is missing) are left out, and named.

Exit status 1 if a room notices less than 95 %. Mutants that change nothing anybody could see stand
in ``equivalent.txt`` with the reason, and are not drawn.
"""

import argparse
import json
import os
import queue
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mutation.mutants import Mutant, mutants_of
from mutation.rooms import COMPILER, ROOMS, likely_tests, sources, stored_tests

ROOT = Path(__file__).resolve().parents[2]
ENOUGH = 0.95
_QUICK = 15  # seconds of a test file that surely compiled nothing
_BUSY = 4  # how much longer a run may wait than work
_OVER = (-24, 152)  # ended by the system for working too long
_NO_TESTS = 5  # pytest's exit status where everything is deselected


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant: "caught", "timeout" or "survived"."""

    room: str
    mutant: Mutant
    ended: str
    seconds: float
    by: str = ""


def main() -> int:
    """Parse the arguments, run, print the table and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=20, help="mutants a room")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--room", action="append", choices=[*ROOMS], help="may be given again")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--budget", type=float, default=60, help="seconds of clean tests a mutant")
    parser.add_argument("--times", type=Path, help="file that keeps the seconds of clean tests")
    parser.add_argument("--reach", type=Path, help="folder written by reach.py")
    parser.add_argument("--only", default="", help="of those drawn, those whose lines hold this")
    parser.add_argument("--list", action="store_true", help="only print the mutants drawn")
    asked = parser.parse_args()
    drawn = [
        (room, mutant)
        for room in asked.room or ROOMS
        for mutant in draw(room, asked.sample, asked.seed)
        if asked.only in _shown(room, mutant)
    ]
    if asked.list:
        for room, mutant in drawn:
            print(_shown(room, mutant))
        return 0
    # Started in the background, it would hand down that interrupts are ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="mutation-") as folder:
        if asked.reach is not None:
            return _told(list(_by_reach(drawn, Path(folder), asked)))
        workshop = Workshop(Path(folder), asked.jobs, asked.budget)
        workshop.time_tests(drawn, asked.times)
        return _told(list(workshop.judge_all(drawn)))


def draw(room: str, size: int, seed: int) -> list[Mutant]:
    """A seeded sample of a room: kinds take turns, sites of a kind are drawn."""
    rng = random.Random(f"{seed} {room}")
    known = _equivalent()
    kinds: dict[str, list[Mutant]] = defaultdict(list)
    for file in sources(ROOT, room):
        for mutant in mutants_of(file):
            if mutant.key(ROOT) not in known:
                kinds[mutant.kind].append(mutant)
    for found in kinds.values():
        rng.shuffle(found)
    turns = sorted(kinds)
    rng.shuffle(turns)
    drawn: list[Mutant] = []
    while len(drawn) < size and any(kinds.values()):
        for kind in turns:
            if kinds[kind] and len(drawn) < size:
                drawn.append(kinds[kind].pop())
    return drawn


class Workshop:
    """Copies of the package, one for each worker, and how long clean tests take."""

    def __init__(self, folder: Path, jobs: int, budget: float) -> None:
        self._folder, self._jobs, self._budget = folder, jobs, budget
        self._seconds: dict[tuple[Path, bool], float] = {}
        self._free: queue.Queue[Path] = queue.Queue()

    def time_tests(self, drawn: Iterable[tuple[str, Mutant]], kept: Path | None) -> None:
        """Run every test file that may be needed, and copy the package with what it compiled."""
        known = json.loads(kept.read_text()) if kept is not None and kept.exists() else {}
        needed = {
            (path, _is_plain(room, file))
            for room, file in {(room, mutant.file) for room, mutant in drawn}
            for path in likely_tests(ROOT, room, file)
        }
        wanted = sorted(needed)
        new = [one for one in wanted if _name(one) not in known]
        with ThreadPoolExecutor(self._jobs) as pool:
            known |= zip(map(_name, new), pool.map(_clean_time, new), strict=True)
        if kept is not None:
            kept.write_text(json.dumps(known, indent=0))
        for one in wanted:
            seconds = known[_name(one)]
            if isinstance(seconds, str):
                print(f"left out, fails without any change: {_name(one)}: {seconds}")
            else:
                self._seconds[one] = seconds
        for number in range(self._jobs):
            copy = self._folder / str(number) / "src"
            shutil.copytree(ROOT / "src", copy, ignore=_ignored)
            self._free.put(copy)
        print(f"{len(wanted)} test files, {sum(self._seconds.values()):.0f} s clean", flush=True)

    def judge_all(self, drawn: list[tuple[str, Mutant]]) -> Iterable[Verdict]:
        """A verdict for each, in order."""
        with ThreadPoolExecutor(self._jobs) as pool:
            yield from pool.map(lambda one: self._judge(*one), drawn)

    def _judge(self, room: str, mutant: Mutant) -> Verdict:
        source = self._free.get()
        target = source / mutant.file.relative_to(ROOT / "src")
        plain = _is_plain(room, mutant.file)
        parts = self._chosen(room, mutant, plain=plain)
        start = time.perf_counter()
        try:
            target.write_bytes(mutant.source)
            status, by = _doctest(source, mutant.file, plain=plain)
            for tests, clean in parts:
                if status in (0, _NO_TESTS):
                    status, by = _pytest(source, tests, 20 + 3 * clean, plain=plain)
        finally:
            shutil.copy2(mutant.file, target)
            self._free.put(source)
        ended = {0: "survived", _NO_TESTS: "survived", None: "timeout"}.get(status, "caught")
        return _printed(Verdict(room, mutant, ended, time.perf_counter() - start, by))

    def _chosen(self, room: str, mutant: Mutant, *, plain: bool) -> list[tuple[list[Path], float]]:
        """Test files in their order, as far as the budget reaches, and their clean seconds.

        Stored answers are a part of their own: they take little time, so that a change that never
        ends is soon known. They are no part of the budget, or on a busy machine nothing else
        would be asked.
        """
        first = stored_tests(ROOT, room)
        chosen: list[tuple[Path, float]] = []
        clean = 0.0
        defaults = mutant.kind == "default changed"
        for path in likely_tests(ROOT, room, mutant.file, mutant.function, defaults=defaults):
            seconds = self._seconds.get((path, plain))
            if seconds is None:
                continue
            cost = 0.0 if path in first else seconds
            if not chosen or clean + cost <= self._budget:
                chosen.append((path, seconds))
                clean += cost
        parts = [
            [one for one in chosen if one[0] in first],
            [one for one in chosen if one[0] not in first],
        ]
        return [([path for path, _ in part], sum(s for _, s in part)) for part in parts if part]


def _by_reach(
    drawn: list[tuple[str, Mutant]], folder: Path, asked: argparse.Namespace
) -> Iterable[Verdict]:
    """Verdicts by the tests that run the changed line; see ``forked.py``."""
    from mutation.forked import judge_all

    for found in judge_all(drawn, folder, asked.reach, asked.jobs, asked.budget):
        yield _printed(Verdict(*found))


def _printed(verdict: Verdict) -> Verdict:
    told = _shown(verdict.room, verdict.mutant)
    if verdict.ended != "survived":
        told = f"{told.splitlines()[0]}  {verdict.by}"
    print(f"{verdict.ended:9} {verdict.seconds:5.0f} s  {told}", flush=True)
    return verdict


def _is_plain(room: str, file: Path) -> bool:
    """Whether kernels run as plain Python: all but what compiles them."""
    return room == "kernels" and file.name not in COMPILER


def _name(one: tuple[Path, bool]) -> str:
    """A test file, and how its kernels run."""
    return one[0].relative_to(ROOT).as_posix() + (" in plain Python" if one[1] else "")


def _clean_time(one: tuple[Path, bool]) -> float | str:
    """Seconds of a test file without any change, its kernels compiled; or what fails in it."""
    failed: str | None = ""
    for number in range(3):
        start = time.perf_counter()
        status, by = _pytest(ROOT / "src", [one[0]], 1200, plain=one[1])
        seconds = time.perf_counter() - start
        failed = None if status in (0, _NO_TESTS) else by
        # The first run may have compiled, and a busy machine may have stopped a test.
        if failed is None and (seconds < _QUICK or number):
            break
    return seconds if failed is None else failed


def _pytest(
    source: Path, tests: list[Path], limit: float, *, plain: bool
) -> tuple[int | None, str]:
    """Exit status, None past the limit, and the first test that failed."""
    words = ["-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"]
    words += [
        "-o",
        "addopts=--import-mode=importlib",
        "--tb=no",
        "-W",
        "ignore::pytest.PytestWarning",
    ]
    return _python(source, [*words, *map(str, tests)], limit, plain=plain)


def _doctest(source: Path, file: Path, *, plain: bool) -> tuple[int | None, str]:
    """The examples of the module itself."""
    module = ".".join(file.relative_to(ROOT / "src").with_suffix("").parts)
    code = (
        "import doctest, importlib, sys, warnings; warnings.simplefilter('error'); "
        f"sys.exit(doctest.testmod(importlib.import_module({module!r}), optionflags="
        "doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS).failed > 0)"
    )
    if module.endswith("__init__") or ">>>" not in file.read_text(encoding="utf-8"):
        return 0, ""
    status, _ = _python(source, ["-c", code], 60, plain=plain)
    return status, "doctest"


def _python(source: Path, words: list[str], limit: float, *, plain: bool) -> tuple[int | None, str]:
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "NUMBA_DISABLE_JIT": "1" if plain else "0",
        "CONSILIENCE_TEST_PROFILE": "quick",
        "MPLBACKEND": "agg",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, *words]
    if hasattr(os, "killpg"):
        # Seconds of work: a busy machine makes nothing look like a dead loop.
        command = ["/bin/sh", "-c", f'ulimit -t {limit:.0f}; exec "$0" "$@"', *command]
        limit *= _BUSY
    process = subprocess.Popen(
        command,
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        out, _ = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        _end(process)
        return None, "time-out"
    if process.returncode in _OVER:
        return None, "time-out"
    failed = [line for line in out.splitlines() if line.startswith(("FAILED", "ERROR"))]
    return process.returncode, failed[0][:110] if failed else ""


def _end(process: subprocess.Popen[str]) -> None:
    """End a run and what it started."""
    if hasattr(os, "killpg"):
        os.killpg(process.pid, 9)
    else:
        process.kill()
    process.communicate()


def _ignored(folder: str, names: list[str]) -> list[str]:
    # Compiled kernels are taken along, byte code is not: it would hide a change of the same second.
    return [name for name in names if name.endswith(".pyc")]


def _equivalent() -> set[tuple[str, str, str]]:
    """File, line before and line after of the mutants that change nothing."""
    found, file, before = set(), "", ""
    for line in (Path(__file__).parent / "equivalent.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("src/"):
            file = line.strip()
        elif line.startswith("- "):
            before = line[2:].strip()
        elif line.startswith("+ "):
            found.add((file, before, line[2:].strip()))
    return found


def _shown(room: str, mutant: Mutant) -> str:
    where = f"{mutant.file.relative_to(ROOT).as_posix()}:{mutant.line}"
    return f"{room}: {where} {mutant.kind}\n    - {mutant.before}\n    + {mutant.after}"


def _told(verdicts: list[Verdict]) -> int:
    """Print counts by room and by kind, and the survivors once more."""
    enough = True
    heads = ("mutants", "caught", "timeout", "survived", "noticed", "s each")
    print(f"\n{'room':14}" + "".join(f"{head:>9}" for head in heads))
    for room in dict.fromkeys(verdict.room for verdict in verdicts):
        found = [verdict for verdict in verdicts if verdict.room == room]
        ends = Counter(verdict.ended for verdict in found)
        share = 1 - ends["survived"] / len(found)
        enough &= share >= ENOUGH
        each = sum(verdict.seconds for verdict in found) / len(found)
        counts = "".join(f"{ends[end]:9d}" for end in ("caught", "timeout", "survived"))
        print(f"{room:14}{len(found):9d}{counts}{share:9.0%}{each:9.1f}")
    print("\nsurvivors")
    for verdict in verdicts:
        if verdict.ended == "survived":
            print(_shown(verdict.room, verdict.mutant))
    return int(not enough)


if __name__ == "__main__":
    sys.exit(main())
