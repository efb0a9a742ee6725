"""Run many cases of the fuzzer and count how they ended.

    python tests/fuzz/run.py --cases 10000 --seed 7 --jobs 4
    python tests/fuzz/run.py --seed 7 --only 1234
    python tests/fuzz/run.py --sweep --jobs 4

A case is a function of the seed and its number. Exit status 1 if any is broken; each of those
is printed with the command that runs it alone. ``--sweep`` draws nothing: it gives every parameter
every odd value, see ``sweep.py``; ``--unit NAME`` does so for one estimator, function or job.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from fuzz.cases import Outcome, run_case, run_sweep
from fuzz.sweep import units


def main() -> int:
    """Parse the arguments, run, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", type=int, help="run this one case and print what it was")
    parser.add_argument("--slow", type=float, help="also print cases that take this many seconds")
    parser.add_argument("--sweep", action="store_true", help="every parameter, every odd value")
    parser.add_argument("--unit", help="of a sweep, only the estimator, function or job named so")
    asked = parser.parse_args()
    if asked.sweep:
        return _sweep([asked.unit] if asked.unit else units(), asked.jobs)
    if asked.only is not None:
        found = run_case(asked.seed, asked.only)
        print(f"{found.kind}\n{found.what}\n{found.ended} {found.why}")
        return int(found.ended == "broken")
    start = time.perf_counter()
    found = list(_told(_all(asked.seed, asked.cases, asked.jobs), asked.slow))
    _print_counts(found)
    print(f"{len(found)} cases, seed {asked.seed}, {time.perf_counter() - start:.0f} s")
    return int(any(outcome.ended == "broken" for outcome, _ in found))


def _sweep(names: list[str], jobs: int) -> int:
    start, ends = time.perf_counter(), Counter()
    with ProcessPoolExecutor(jobs) as pool:
        for name, found in zip(names, pool.map(run_sweep, names), strict=True):
            ends.update(ended for ended, *_ in found)
            for _, what, why in (one for one in found if one[0] == "broken"):
                print(f"BROKEN --sweep --unit {name}: {what}\n    {why}", flush=True)
    counts = ", ".join(f"{ends[end]} {end}" for end in ("ok", "refused", "broken"))
    print(f"{counts}; {len(names)} units, {time.perf_counter() - start:.0f} s")
    return int(ends["broken"] > 0)


def _all(seed: int, cases: int, jobs: int) -> Iterator[tuple[Outcome, float]]:
    if jobs == 1:
        yield from (_timed(seed, index) for index in range(cases))
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(_timed, seed), range(cases), chunksize=8)


def _timed(seed: int, index: int) -> tuple[Outcome, float]:
    start = time.perf_counter()
    return run_case(seed, index), time.perf_counter() - start


def _told(
    found: Iterable[tuple[Outcome, float]], slow: float | None
) -> Iterator[tuple[Outcome, float]]:
    """Every outcome; those that are broken are printed on the way."""
    for outcome, seconds in found:
        if outcome.ended == "broken":
            print(f"BROKEN --seed {outcome.seed} --only {outcome.index}: {outcome.what}")
            print("    " + outcome.why.strip().replace("\n", "\n    "), flush=True)
        elif slow is not None and seconds >= slow:
            print(f"{seconds:.1f} s --seed {outcome.seed} --only {outcome.index}: {outcome.what}")
        yield outcome, seconds


def _print_counts(found: list[tuple[Outcome, float]]) -> None:
    """Cases by kind and outcome, and seconds of each kind."""
    ends = ("ok", "refused", "broken")
    counts = Counter((_family(o.kind), o.ended) for o, _ in found)
    times: Counter[str] = Counter()
    for outcome, seconds in found:
        times[_family(outcome.kind)] += seconds
    print(f"\n{'':24}{'ok':>9}{'refused':>9}{'broken':>9}{'seconds':>9}")
    for family in sorted(times):
        line = "".join(f"{counts[family, end]:9d}" for end in ends)
        print(f"{family:24}{line}{times[family]:9.0f}")
    total = "".join(f"{sum(o.ended == end for o, _ in found):9d}" for end in ends)
    print(f"{'all':24}{total}{sum(times.values()):9.0f}")


def _family(kind: str) -> str:
    """Estimators and functions are counted together, commands and jobs each."""
    first = kind.split()[0]
    return kind if first in ("command", "job") else first


if __name__ == "__main__":
    sys.exit(main())
