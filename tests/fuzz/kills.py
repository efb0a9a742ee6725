"""Kill the command line at any moment, run it again, and compare every byte with a calm run.

``python tests/fuzz/kills.py``
    Forked processes, each killed before one of its steps on the file system: a sample of the
    steps of every job, and races of two processes on one folder. What the suite runs.
``python tests/fuzz/kills.py --every``
    The same before every step.
``python tests/fuzz/kills.py --kills 200 --seed 7``
    Processes killed at random moments: one in five is started as a user starts it, the others
    are forked from one that has imported and compiled everything.

After each kill the folder is looked at as another program would: where there is a summary, all
files must be those of its run, the earlier or the new one. Then the command is given again as
its messages advise, until it ends, and the folder must hold what an undisturbed run leaves, byte
for byte but for ``timings.json``, and nothing else; files of the user must be as they were.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

OUT, TIMES, WORK, PLAN = "out", "timings.json", ".consilience-run", "plan.json"
MINE = {"mine.txt": b"keep", "deep/er/.hidden": b"\0\1", "labels.csv.bak": b"old", "stage": b"no"}
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
_STEPS = {"os.rename", "os.mkdir", "os.rmdir", "os.remove", "os.truncate", "open"}


@dataclass(frozen=True)
class Case:
    """A command, and one that left results in the folder before."""

    words: tuple[str, ...]
    older: tuple[str, ...] = ()
    long: bool = False

    def __str__(self):
        return " ".join(self.words)

    @property
    def last(self):
        """The file that stands for all."""
        return "counting.md" if self.words[0] == "reproduce" else "summary.json"


_FEW = ("--members", "6", "-k", "3")
_CLUSTER = ("cluster", "data.csv", *_FEW, "--method", "eac")  # a quick one
_LABELS = ("cluster", "--labels", "made.csv", "-k", "3")
# Gone through in blocks, written in parts.
_BLOCKS = ("cluster", "large.npy", *_FEW, "--max-memory", "1MiB")
CASES = [
    Case(_LABELS),
    Case(("cluster", "data.csv", *_FEW, "--no-report")),
    Case(("cluster", "data.csv", *_FEW, "--methods", "eac,mcla")),
    Case(("ambiguous", "data.csv", *_FEW)),
    Case(("ambiguous", "--labels", "made.csv")),
    Case(("minority", "data.csv", "--repetitions", "20")),
    Case(("reproduce", "counting")),
    Case((*_LABELS, "--force"), (*_LABELS, "--seed", "1", "--method", "mcla")),
    Case((*_CLUSTER, "--force", "--no-report"), (*_CLUSTER, "--seed", "1")),
    Case(("minority", "data.csv", "--repetitions", "20", "--force"), _CLUSTER),
    Case(("ambiguous", "data.csv", *_FEW, "--force"), ("minority", "data.csv")),
    Case(("reproduce", "counting", "--force"), ("reproduce", "counting", "--runs", "3")),
    Case(_BLOCKS),
    Case((*_BLOCKS, "--force"), (*_BLOCKS, "--seed", "1")),
    Case(("demo",), long=True),
    Case(("demo", "--force"), ("demo",), long=True),
]


class Kills:
    """A place to work in, and counts of what happened there."""

    def __init__(self, place, seed):
        self.place, self.draw = Path(place), random.Random(seed)
        self.counts = Counter()
        self.known = {}
        (self.place / "tmp").mkdir()
        tempfile.tempdir = os.environ["TMPDIR"] = str(self.place / "tmp")
        (self.place / "data").mkdir()
        _write_data(self.place / "data")

    # ---- one process ------------------------------------------------------------------

    def run(self, words, where, *, step=None, patience=None):
        """Fork a process that runs a command; its status, steps so far, and error stream.

        It is killed before the step of that number, or after so many seconds.
        """
        told = where.parent / f"{where.name}.err"
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            _be_the_command(words, where, told, writing, step)
        os.close(writing)
        if patience is not None:
            time.sleep(patience)
            os.kill(child, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        with os.fdopen(reading, "rb") as pipe:
            steps = len(pipe.read())
        return status, steps, told.read_text()

    def prepared(self, case, name):
        """A fresh folder with data, files of the user, and what ran there before."""
        where = self.place / name
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(self.place / "data", where)
        if case.older:
            kept = self.place / "older" / "-".join(case.older).replace("/", "_")
            if not kept.exists():
                kept.parent.mkdir(exist_ok=True)
                shutil.copytree(where, kept)
                status, _, said = self.run([*case.older, "--out", OUT], kept)
                assert status == 0, said
            shutil.copytree(kept / OUT, where / OUT)
        for name, held in MINE.items():
            path = where / OUT / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(held)
        return where

    def calm(self, case):
        """Files before and after an undisturbed run, its steps, and its seconds."""
        if case not in self.known:
            where = self.prepared(case, "calm")
            before = files_in(where)
            start = time.perf_counter()
            status, steps, said = self.run([*case.words, "--out", OUT], where)
            assert status == 0, (case, said)
            took = time.perf_counter() - start
            self.known[case] = before, files_in(where), steps, took
        return self.known[case]

    # ---- what must hold ---------------------------------------------------------------

    def check(self, case, where):
        """Look at what a killed run left, go on as advised, and compare."""
        before, after = self.calm(case)[:2]
        held = files_in(where)
        assert {name: held.get(f"{OUT}/{name}") for name in MINE} == MINE, (case, "user's files")
        seen = {name: held[name] for name in held if _is_result(name)}
        if f"{OUT}/{case.last}" in held:
            states = [{n: x for n, x in one.items() if _is_result(n)} for one in (before, after)]
            assert seen in states, (case, "a reader saw a mix", sorted(seen))
            self.counts[f"summary of the {('earlier', 'new')[states.index(seen)]} run"] += 1
        else:
            self.counts["no summary"] += 1
        words = _advised(case, where)
        status, _, said = self.run(words, where)
        self.counts["resumed" if "--resume" in words else "run again"] += 1
        if status == 2 and ("was finished" in said or "is there already" in said):
            self.counts["refused: it was finished"] += 1
        else:
            assert status == 0, (case, words, status, said)
        left = files_in(where)
        assert left.keys() == after.keys(), (case, set(left) ^ set(after))
        different = [name for name in after if left[name] != after[name]]
        assert not different, (case, different)
        assert not list((self.place / "tmp").iterdir()), "temporary files"

    # ---- kinds of trials --------------------------------------------------------------

    def at_steps(self, case, most=None):
        """Kill before each step, or before some of them, the last ones among them."""
        steps = self.calm(case)[2]
        taken = range(1, steps + 1)
        if most is not None and most < steps:
            taken = sorted(self.draw.sample(taken, most))
        for step in taken:
            where = self.prepared(case, "killed")
            status, _, said = self.run([*case.words, "--out", OUT], where, step=step)
            assert status == -signal.SIGKILL, (case, step, status, said)
            self.counts["kills before a step"] += 1
            if self.draw.random() < 0.4:  # what puts things right may be killed as well
                again = self.draw.randint(1, 14)
                status, _, _ = self.run(_advised(case, where), where, step=again)
                self.counts["second kills"] += status == -signal.SIGKILL
            self.check(case, where)

    def at_random(self, case):
        """Start a process and kill it at a random moment; perhaps more than once."""
        where = self.prepared(case, "killed")
        for _ in range(self.draw.choice((1, 1, 1, 2, 3))):
            words, seconds = _advised(case, where), self.calm(case)[3]
            if self.draw.random() < 0.2:
                status, kind = self._started(words, where, seconds), "started anew"
            else:
                patience = self.draw.uniform(0, 1.1 * seconds)
                status, kind = self.run(words, where, patience=patience)[0], "forked"
            if status == -signal.SIGKILL:
                self.counts["random kills"] += 1
                self.counts[f"random kills, {kind}"] += 1
            else:
                self.counts["ended before they were killed"] += 1
                break
        self.check(case, where)

    def _started(self, words, where, seconds):
        """Status of a process started as a user starts it, and killed."""
        with (where.parent / "real.err").open("w") as said:
            command = [sys.executable, __file__, "--run", *words]
            process = subprocess.Popen(command, cwd=where, stdout=subprocess.DEVNULL, stderr=said)
        _wait_for_a_moment(process, where, self.draw, seconds)
        process.kill()
        return process.wait()

    def race(self, cases):
        """Two processes on one folder: one has it, the other is refused and changes nothing."""
        where = self.prepared(cases[0], "raced")
        gap, children = self.draw.uniform(0, 0.3) * self.draw.choice((0, 1)), []
        ends = [where.parent / f"race{i}.err" for i in (0, 1)]
        for case, told in zip(cases, ends, strict=True):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            child = os.fork()
            if child == 0:
                _be_the_command([*case.words, "--out", OUT], where, told, nowhere, None)
            os.close(nowhere)
            children.append(child)
            time.sleep(gap)
        status = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
        said = [told.read_text() for told in ends]
        forced = "--force" in cases[0].words
        assert sorted(status) == [0, 2] or (forced and status == [0, 0]), (status, said)
        for one, text in zip(status, said, strict=True):
            if one == 2:
                busy = "Another run is working in 'out'" in text
                assert busy or ("was finished" in text and not forced), text
                self.counts["refused: " + ("in use" if busy else "it was finished")] += 1
        self.counts["races"] += 1
        held = files_in(where)
        ended = [c for c, one in zip(cases, status, strict=True) if one == 0]
        assert held in [self.calm(case)[1] for case in ended], sorted(held)


def _advised(case, where):
    """What a message tells the user to give next."""
    return [*case.words, "--out", OUT, *["--resume"] * (where / OUT / PLAN).exists()]


def files_in(where):
    """Contents of all files below a folder, and its empty folders; times are not compared."""
    found = {}
    for path in sorted(where.rglob("*")):
        name = path.relative_to(where).as_posix()
        if path.is_file():
            found[name] = b"" if path.name == TIMES else path.read_bytes()
        elif not any(path.iterdir()):
            found[name + "/"] = b""
    return found


def _is_result(name):
    inside = name.removeprefix(f"{OUT}/")
    of_the_run = inside.startswith((WORK, "members/", "members", PLAN, ".consilience-partial-"))
    return name.startswith(f"{OUT}/") and inside not in MINE and not of_the_run


def _wait_for_a_moment(process, where, draw, seconds):
    """Wait a random time, mostly one after the first trace on the disk: imports take longest."""
    if draw.random() < 0.2:
        time.sleep(draw.uniform(0, 3))
        return
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if (where / OUT / WORK).exists():
            break
        time.sleep(0.001)
    time.sleep(draw.uniform(0, 1.3 * seconds))


def _be_the_command(words, where, told, pipe, step):
    """In a forked process: run a command, counting steps into a pipe, dying at one of them."""
    count, inside = 0, str(where)

    def hook(event, given):
        nonlocal count
        if event not in _STEPS or not given:
            return
        if event == "open" and not (isinstance(given[2], int) and given[2] & _WRITING):
            return
        path = os.fspath(given[0]) if isinstance(given[0], str | os.PathLike) else ""
        if path and os.path.abspath(path).startswith(inside):
            count += 1
            if count == step:
                os.kill(os.getpid(), signal.SIGKILL)
            os.write(pipe, b".")

    status = 99
    try:
        os.chdir(where)
        for stream, target in ((1, os.devnull), (2, told)):
            os.dup2(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), stream)
        sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
        sys.addaudithook(hook)
        status = main(words)
        sys.stderr.flush()
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(status)


def main(words):
    """The command line, with a small table that can be reproduced, few reference tables, blocks."""
    from consilience._stored import _table
    from consilience.cli import main as consilience
    from consilience.consensus import _clarity
    from consilience.experiments import EXPERIMENTS, Cell
    from consilience.experiments._registry import experiment
    from consilience.kernels._blocks import BLOCK_ROWS
    from consilience.workflow import large

    _clarity.REFERENCES = 3
    _table.BLOCK = 2 * BLOCK_ROWS
    large._ALWAYS_READ, large._SAMPLE, large._PART = 0, 300, 3000
    if "counting" not in EXPERIMENTS:

        @experiment("counting", title="Counting", paper="Nobody (2026)", needs_data=False)
        def run(plan):
            for row in range(plan.runs or 2):
                yield [Cell("1", "one", str(row), "A", (0.1, 0.2), 0.15)]

    return consilience(list(words))


def _write_data(folder):
    import numpy as np

    draw = np.random.default_rng(0)
    X = np.concatenate([draw.normal(3 * i, 0.7, (14, 2)) for i in range(3)])
    lines = ["x,y", *(f"{x:.5f},{y:.5f}" for x, y in X)]
    (folder / "data.csv").write_text("\n".join(lines) + "\n")
    table = np.where(draw.random((42, 6)) < 0.1, 0, np.repeat([0, 1, 2], 14)[:, None])
    lines = ["a,b,c,d,e,f", *(",".join(map(str, row)) for row in table)]
    (folder / "made.csv").write_text("\n".join(lines) + "\n")
    rows = np.concatenate([draw.normal(3 * i, 0.7, (3000, 2)) for i in range(3)])
    np.save(folder / "large.npy", draw.permutation(rows))


def _warm_up(kills):
    """Import and compile once, so that forked processes need not."""
    where = kills.prepared(CASES[0], "warm")
    here = Path.cwd()
    os.chdir(where)
    with (kills.place / "warm.txt").open("w") as told, redirect_stdout(told):
        for number, case in enumerate(case for case in CASES if not (case.long or case.older)):
            assert main([*case.words, "--out", str(number)]) == 0, case
    os.chdir(here)
    shutil.rmtree(where)


def _asked(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--every", action="store_true", help="kill before every step")
    parser.add_argument("--kills", type=int, default=0, help="random kills of real processes")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sample", type=int, default=6, help="steps of a job that are tried")
    parser.add_argument("--only", default="", help="jobs whose command contains this text")
    parser.add_argument("--races", type=int, default=6)
    return parser.parse_args(argv)


def fuzz(argv):
    """Run what is asked for, and print the counts."""
    asked = _asked(argv)
    cases = [case for case in CASES if asked.only in str(case)]
    with tempfile.TemporaryDirectory() as place:
        kills = Kills(place, asked.seed)
        _warm_up(kills)
        if asked.kills:
            while kills.counts["random kills"] < asked.kills:
                kills.at_random(kills.draw.choice(cases))
                print(f"\r{kills.counts['random kills']} kills", end="", file=sys.stderr)
        else:
            for case in cases:
                if asked.every:
                    print(f"{case}: {kills.calm(case)[2]} steps", file=sys.stderr)
                if asked.every or not case.long:
                    kills.at_steps(case, None if asked.every else asked.sample)
            for number in range(asked.races):
                words = (_CLUSTER, _LABELS, ("minority", "data.csv"))[number % 3]
                force = ("--force",) * (number % 2)
                kills.race([Case((*words, *force, "--seed", seed)) for seed in "01"])
        for what, count in sorted(kills.counts.items()):
            print(f"{count:6d}  {what}")
    print(f"all held (seed {asked.seed})")


if __name__ == "__main__":
    # Before numpy is imported: a forked process must not wait for threads that its parent had.
    for library in ("OMP", "OPENBLAS", "MKL", "NUMBA"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")
    if sys.argv[1:2] == ["--run"]:
        sys.exit(main(sys.argv[2:]))
    fuzz(sys.argv[1:])
