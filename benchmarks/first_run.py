"""What the very first run costs: CPU seconds with nothing compiled yet, and what is compiled.

    python benchmarks/first_run.py            all jobs
    python benchmarks/first_run.py auto       one of them: demo, cluster or auto
    python benchmarks/first_run.py -n 30      with the 30 dearest kernels of each

Every job runs in a process and a cache folder of its own, twice: as a user runs it, for the
seconds; and with an ear on numba, for the list. A kernel that other kernels call counts for itself,
without what it calls; that of its machine code is part of the kernel at the top.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from numba.core import event

COMMAND = "import sys; from consilience.cli import main; main(sys.argv[1:])"
AUTO = (
    "import consilience as cs; from sklearn.datasets import load_iris; "
    "cs.AutoConsensus().fit(load_iris().data)"
)


def jobs(folder: str) -> dict[str, tuple[str, list[str]]]:
    """Code and arguments of each job, all in a folder that is thrown away."""
    from sklearn.datasets import load_iris

    table = Path(folder, "iris.csv")
    rows = [",".join(map(str, row)) for row in load_iris().data]
    table.write_text("\n".join(["a,b,c,d", *rows]) + "\n")
    return {
        "demo": (COMMAND, ["demo", "--out", f"{folder}/demo", "--force"]),
        "cluster": (COMMAND, ["cluster", str(table), "--out", f"{folder}/iris", "--force"]),
        "auto": (AUTO, []),
    }


def main() -> None:
    """Run what is asked for and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("jobs", nargs="*", default=["demo", "cluster", "auto"])
    parser.add_argument("-n", type=int, default=0, help="kernels to list")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.jobs:
            job, cache = jobs(folder)[name], f"{folder}/cache-{name}"
            first, told = cpu_seconds(job, cache)
            second, _ = cpu_seconds(job, cache)
            said = "said" if "compiling, only this once" in told else "NOT said"
            note = "" if name == "auto" else f"; that it compiles is {said}"
            print(f"{name}: {first:.1f} s of CPU, again {second:.1f} s{note}")
            kernels = compiled_kernels(job, f"{folder}/heard-{name}")
            total = sum(seconds for seconds, _ in kernels)
            print(f"  {len(kernels)} specialisations, {total:.1f} s")
            for seconds, kernel in kernels[: asked.n]:
                print(f"  {seconds:6.2f}  {kernel}")


def cpu_seconds(job: tuple[str, list[str]], cache: str) -> tuple[float, str]:
    """CPU seconds of a job, user and system, and what it wrote to the error stream."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = run(job, cache)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr


def compiled_kernels(job: tuple[str, list[str]], cache: str) -> list[tuple[float, str]]:
    """CPU seconds and names of what a job compiles, the dearest first."""
    heard = f"{cache}.json"
    code, arguments = job
    ear = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import first_run\n"
    ear += f"with first_run.listening({heard!r}):\n    {code}"
    run((ear, arguments), cache)
    return sorted(map(tuple, json.loads(Path(heard).read_text())), reverse=True)


def run(job: tuple[str, list[str]], cache: str) -> "subprocess.CompletedProcess[str]":
    """Run Python code with an empty cache."""
    code, arguments = job
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": cache},
        check=True,
        capture_output=True,
        text=True,
    )


class Listener(event.Listener):
    """Hears what is compiled; callees are compiled inside their callers."""

    def __init__(self) -> None:
        self.found: list[tuple[float, str]] = []
        self.local = threading.local()

    def on_start(self, event: event.Event) -> None:
        """Take the time."""
        self.local.__dict__.setdefault("stack", []).append([time.thread_time(), 0.0])

    def on_end(self, event: event.Event) -> None:
        """Count the time less that of the callees."""
        stack = self.local.stack
        start, inside = stack.pop()
        seconds = time.thread_time() - start
        if stack:
            stack[-1][1] += seconds
        kernel, types = event.data["dispatcher"].py_func, event.data["args"]
        name = f"{kernel.__module__}.{kernel.__qualname__}({', '.join(map(str, types))})"
        self.found.append((seconds - inside, name))


@contextmanager
def listening(file: str) -> Iterator[None]:
    """Write down, at the end, what was compiled inside."""
    listener = Listener()
    event.register("numba:compile", listener)
    try:
        yield
    finally:
        Path(file).write_text(json.dumps(listener.found))


if __name__ == "__main__":
    main()
