"""Runs and where they are kept: one line of JSON for each table, seed and candidate.

A line is written by one call, so that whoever stops the job at any time loses no line but
those in the making; the same command goes on from there. What failed is a line too.
"""

import hashlib
import json
import os
import signal
import subprocess
import threading
import time
import warnings
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager, suppress
from functools import lru_cache
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from quality_candidates import candidate, standardised
from quality_sets import Set, make
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from threadpoolctl import threadpool_limits

ROOT = Path(__file__).parents[1]
RESULTS = "results.jsonl"


class Store:
    """A folder with the lines of all runs."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.path = self.folder / RESULTS

    def rows(self):
        """Every whole line; the last of a run counts, so that what failed can be run again."""
        if not self.path.exists():
            return []
        found = {}
        for line in self.path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line)
            except ValueError:  # the job was ended in the middle of this line
                continue
            found[_key(row)] = row
        return list(found.values())

    def add(self, row):
        """Append a line by one call, after a line break if the last line lacks one."""
        self.folder.mkdir(parents=True, exist_ok=True)
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        try:
            size = os.fstat(file).st_size
            whole = size == 0 or os.pread(file, 1, size - 1) == b"\n"
            os.write(file, (("" if whole else "\n") + json.dumps(row) + "\n").encode())
        finally:
            os.close(file)


def _key(row):
    return row["part"], row["set"], row["seed"], row["candidate"]


# ---- what is to be done --------------------------------------------------------------------


def tasks(tables, names, seeds):
    """Table by table; without a seed of any effect once, and not told the number of no groups."""
    for table in tables:
        for name in names:
            asked = candidate(name)
            if asked.knows_number and not table.has_groups:
                continue
            for seed in range(seeds if asked.seeded else 1):
                yield table, name, seed


def run(store, tables, names, seeds, *, jobs=1, most_seconds=600, again=False, told=print):
    """Run what the store does not hold yet; returns how many lines were added."""
    state = code_state()
    kept = {_key(row): row for row in store.rows()}
    _refuse_other_code(kept.values(), names, state["code"])
    wanted = []
    for table, name, seed in tasks(tables, names, seeds):
        row = kept.get((table.part, table.name, seed, name))
        if row is None or (again and row["error"]):
            wanted.append((table, name, seed))
    started, n_done = time.time(), 0
    for row in _in_processes(wanted, jobs, most_seconds):
        store.add(row | state)
        n_done += 1
        if n_done % 20 == 0 or n_done == len(wanted):
            minutes = (time.time() - started) / 60
            told(f"{n_done} of {len(wanted)} runs, {minutes:.1f} minutes", flush=True)
    return n_done


def _refuse_other_code(rows, names, code):
    """Runs of our own methods by two versions of the package must not be mixed."""
    for name in names:
        if not candidate(name).ours:
            continue
        others = {row["code"] for row in rows if row["candidate"] == name} - {code}
        if others:
            raise SystemExit(
                f"The store holds runs of {name!r} by other code ({', '.join(sorted(others))}; "
                f"now {code}). Name another folder with --store."
            )


def _in_processes(wanted, jobs, most_seconds):
    """Rows as they come; whatever ends a process is tried once more alone, then recorded.

    Zero jobs: in this process, without that protection.
    """
    if jobs == 0:
        yield from (measure(*task, most_seconds) for task in wanted)
        return
    suspects = []
    waiting = list(reversed(wanted))
    ours = sorted({name for _, name, _ in wanted if candidate(name).ours})
    while waiting:
        with _pool(jobs, ours) as pool:
            running = {}
            try:
                while waiting or running:
                    while waiting and len(running) < jobs:
                        running[pool.submit(measure, *waiting[-1], most_seconds)] = waiting[-1]
                        waiting.pop()
                    done, _ = wait(running, return_when=FIRST_COMPLETED)
                    for one in done:
                        row = one.result()
                        del running[one]
                        yield row
            except BrokenProcessPool:
                suspects += running.values()
    for task in suspects:
        with _pool(1, ours) as pool:
            try:
                yield pool.submit(measure, *task, most_seconds).result()
            except BrokenProcessPool:
                yield _row(*task) | {"error": "the process died"}


def _pool(jobs, ours):
    # Fresh processes: what this one holds has no say in time and memory.
    context = get_context("spawn")
    return ProcessPoolExecutor(jobs, mp_context=context, initializer=_begin, initargs=(ours,))


def _begin(ours):
    """End with the process that started us; load compiled code before any time is taken."""
    threading.Thread(target=_follow, args=(os.getppid(),), daemon=True).start()
    X = np.random.default_rng(0).normal(size=(60, 2)) + np.repeat([[0, 0], [9, 9]], 30, axis=0)
    for name in ours:
        with warnings.catch_warnings(), suppress(Exception):
            warnings.simplefilter("ignore")
            asked = candidate(name)
            asked.run(X, 2 if asked.knows_number else None, 0)


def _follow(parent):
    """Whoever ends the job by force leaves no process behind."""
    while os.getppid() == parent:
        time.sleep(1)
    os._exit(1)


# ---- one run -------------------------------------------------------------------------------


def measure(table, name, seed, most_seconds):
    """The line of one run; an error is part of it."""
    row = _row(table, name, seed)
    asked = candidate(name)
    X, y = _data(table)
    k = len(np.unique(y[y >= 0]))
    row |= {"n": X.shape[0], "d": X.shape[1], "truth": k}
    held, start, cpu = _held(), time.perf_counter(), time.process_time()
    try:
        with warnings.catch_warnings(), threadpool_limits(1), _at_most(most_seconds):
            warnings.simplefilter("ignore")
            answer = asked.run(X, k if asked.knows_number else None, seed)
            row |= scores(y, answer.labels) | {"clarity": answer.clarity, "p": answer.p}
    except Exception as error:
        row["error"] = f"{type(error).__name__}: {' '.join(str(error).split())}"[:300]
    row["seconds"] = round(time.perf_counter() - start, 4)
    row["cpu_seconds"] = round(time.process_time() - cpu, 4)
    row["peak_mib"] = _peak(held)
    return row


def scores(y, labels):
    """ARI, NMI and number of groups against the truth; objects of no true group do not count.

    Noise of an answer counts as one more group in ARI and NMI, but not in the number.
    """
    labels, known = np.asarray(labels), y >= 0
    if labels.shape != y.shape:
        raise ValueError(f"{len(y)} objects were given and {labels.shape} labels came back.")
    return {
        "ari": round(float(adjusted_rand_score(y[known], labels[known])), 6),
        "nmi": round(float(normalized_mutual_info_score(y[known], labels[known])), 6),
        "k": len(np.unique(labels[labels >= 0])),
        "n_noise": int((labels < 0).sum()),
    }


def _row(table, name, seed):
    nothing = dict.fromkeys(("n", "d", "truth", "ari", "nmi", "k", "n_noise", "clarity", "p"))
    ends = dict.fromkeys(("seconds", "cpu_seconds", "peak_mib", "error"))
    where = {"part": table.part, "family": table.family, "set": table.name}
    return where | {"seed": seed, "candidate": name} | nothing | ends


@lru_cache(maxsize=1)
def _data(table):
    X, y = make(table.name) if isinstance(table, Set) else table.make()
    return standardised(X), y


@contextmanager
def _at_most(seconds):
    """A TimeoutError after so many seconds, where the system has such an alarm."""
    if not hasattr(signal, "SIGALRM"):
        yield
        return

    def ring(*_):
        raise TimeoutError(f"stopped after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(int(seconds))
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _held():
    """Memory of this process now, in kB, and its record set back; None where unknown."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        return _status("VmRSS")
    except OSError:
        return None


def _peak(held):
    """MiB that were needed on top of what was held."""
    return None if held is None else round((_status("VmHWM") - held) / 1024, 1)


def _status(field):
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field + ":"))


# ---- which code ----------------------------------------------------------------------------


def code_state():
    """Commit of the repository, "+" where files differ, and a mark of the package's code."""
    commit = _git("rev-parse", "--short=10", "HEAD")
    if commit is None:
        return {"commit": "unknown", "code": version("consilience")}
    code = _git("rev-parse", "--short=10", "HEAD:src/consilience")
    changes = _git("diff", "HEAD", "--", "src/consilience")
    if changes:
        code += "+" + hashlib.sha256(changes.encode()).hexdigest()[:6]
    return {"commit": commit + "+" * bool(uncommitted()), "code": code}


def uncommitted():
    """Files of the package and of this benchmark that differ from the commit."""
    found = _git("status", "--porcelain", "--", "src/consilience", "benchmarks") or ""
    paths = [line[3:] for line in found.splitlines()]
    return [path for path in paths if not path.endswith("recipes.csv")]


def _git(*words):
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip("\n")
