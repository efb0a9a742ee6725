"""Where the time of a job in threads goes: alone, in passes, waiting, or in slower work.

    python benchmarks/passes.py ewocs confidence            parts of cores.py, on 1 and all cores
    python benchmarks/passes.py mcla --million --cores 8    these numbers of threads

Every pass of the threads is timed, by the function that asked for it. Of each are printed: calls,
seconds by the clock, processor seconds of all threads together, how much of the threads' time was
work, and the seconds before it in which one thread worked alone (by the clock and the processor's).
Processor seconds that grow with the threads are memory or shared cores; work below 100 % is threads
that wait for the last one or had not started.
"""

import argparse
import sys
import time
import warnings
from collections import defaultdict
from contextlib import contextmanager
from os import cpu_count
from resource import RUSAGE_SELF, getrusage

import cores
import numpy as np

from consilience.kernels import _parallel


class Record:
    """Passes of one run, as `Team.start` begins them and their wait ends them."""

    def __init__(self):
        self.passes = []

    @contextmanager
    def watching(self):
        """Every team reports here."""
        start, record = _parallel.Team.start, self

        def watched(team, turn):
            asked, turns = _now(), []

            def timed(number):
                begin, cpu = time.perf_counter(), time.thread_time()
                try:
                    return turn(number)
                finally:
                    turns.append((begin, time.perf_counter(), time.thread_time() - cpu))

            wait, who = start(team, timed), _caller()

            def waited():
                try:
                    return wait()
                finally:
                    over = _now()
                    record.passes.append((who, team.size, asked, over, turns))

            return waited

        _parallel.Team.start = watched
        try:
            yield
        finally:
            _parallel.Team.start = start


def _caller():
    """The nearest two functions outside `_parallel` and this file."""
    frame, names = sys._getframe(2), []
    while frame is not None and len(names) < 2:
        path = frame.f_code.co_filename
        if not path.endswith(("_parallel.py", "passes.py", "contextlib.py")) or (
            "kernels/minority" in path or "kernels/kmeans" in path
        ):
            names.append(frame.f_code.co_name)
        frame = frame.f_back
    return " < ".join(names)


def show(name, run, threads):
    """One run after a first one, and where its time went."""
    run(threads)
    record = Record()
    with record.watching():
        faults = getrusage(RUSAGE_SELF).ru_minflt
        begin, cpu = _now(), time.process_time()
        run(threads)
        end, cpu = _now(), time.process_time() - cpu
        faults = getrusage(RUSAGE_SELF).ru_minflt - faults
    table = defaultdict(lambda: np.zeros(7))
    last, alone = begin, np.zeros(2)
    for who, size, asked, over, turns in sorted(record.passes, key=lambda one: one[2][0]):
        before = np.maximum(asked - last, 0.0)
        alone += before
        own = [sum(t[2] for t in turns), sum(t[1] - t[0] for t in turns)]
        table[who] += [1, over[0] - max(asked[0], last[0]), *own, size * (over - asked)[0], *before]
        last = np.maximum(last, over)
    whole, rest = (end - begin)[0], end - last
    alone += rest
    print(
        f"\n{name}, {threads} threads: {whole:.3f} s, processor {cpu:.3f} s, {faults} pages; alone "
        f"{alone[0]:.4f} s (processor {alone[1]:.4f}), of it at the end {rest[0]:.4f}"
    )
    print(f"    {'calls':>6}{'seconds':>9}{'cpu':>9}{'work':>7}{'before':>9}{'its cpu':>9}")
    for who, row in sorted(table.items(), key=lambda item: -item[1][1] - item[1][5]):
        share = f"{row[3] / row[4]:7.0%}{row[5]:9.4f}{row[6]:9.4f}"
        print(f"    {int(row[0]):6d}{row[1]:9.4f}{row[2]:9.4f}{share}  {who}", flush=True)


def _now():
    """Seconds of the clock, and of this thread's processor."""
    return np.array([time.perf_counter(), time.thread_time()])


def main(argv=None):
    """Parse the command line, run the parts."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("only", nargs="+", choices=list(cores.PARTS))
    parser.add_argument("--cores", type=int, nargs="+", default=[1, cpu_count() or 1])
    parser.add_argument("--small", action="store_true", help="a tenth of the objects")
    parser.add_argument("--million", action="store_true", help="ensembles of 1,000,000 x 50")
    asked = parser.parse_args(argv)
    warnings.simplefilter("ignore")
    if asked.million:
        cores._size.update(n=1_000_000, n_members=50)
    for name in asked.only:
        cores.PARTS[name](50)(1)
        run = cores.PARTS[name](10 if asked.small else 1)
        for threads in asked.cores:
            show(name, run, threads)


if __name__ == "__main__":
    main()
