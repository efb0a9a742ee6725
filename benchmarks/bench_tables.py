"""Tables from CSV files: rows a second and memory, against pandas on the same file.

Each reading runs in a process of its own, which says how long it took and how much its
memory had grown at most; imports and the start are not counted. Seconds are those of the
processor, of which all readers use one core: the file lies in the cache of the system.
"""

import json
import os
import subprocess
import sys
import tempfile

import numpy as np

_MEASURE = """
import json, resource, sys, time, warnings
{setup}
def most():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
warnings.simplefilter("ignore")
path = sys.argv[1]
before, cpu = most(), time.process_time()
{read}
print(json.dumps([time.process_time() - cpu, most() - before, list(map(int, X.shape))]))
"""
_OURS = """
import numpy, pyarrow.csv
from consilience.datasets import read_table
import consilience.datasets._blocks as blocks
"""
_READERS = {
    "read_table, pyarrow": (_OURS, "X = read_table(path, id_column='none').X"),
    "read_table, numpy": (
        _OURS + "blocks.quick_reader = lambda size: blocks.by_numpy",
        "X = read_table(path, id_column='none').X",
    ),
    "read_table, csv module": (
        _OURS + "blocks.quick_reader = lambda size: lambda *block: None",
        "X = read_table(path, id_column='none').X",
    ),
    "pandas.read_csv": (
        "import pandas, pyarrow",
        "X = pandas.read_csv(path).to_numpy(float)",
    ),
}


def cases():
    """A table that takes seconds; there is nothing to share between threads."""
    return [_numbers]


def large_cases():
    """A million rows, of numbers and with a column of categories."""
    return [_million, _categories]


def _numbers(threads):
    yield from _compare(threads, 200_000, 20, list(_READERS))


def _million(threads):
    yield from _compare(threads, 1_000_000, 20, list(_READERS))


def _categories(threads):
    yield from _compare(
        threads, 1_000_000, 20, ["read_table, pyarrow", "pandas.read_csv"], categories=True
    )


def _compare(threads, n, d, readers, categories=False):
    if threads > 1:
        return
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "table.csv")
        _write(path, n, d, categories)
        size = os.path.getsize(path) / 2**20
        found = {name: _measure(name, path, categories) for name in readers}
    wanted = found["pandas.read_csv"]
    for name in readers[:-1]:
        cpu, memory, shape = found[name]
        yield {
            "name": f"{name}{', categories' * categories}",
            "size": f"{n:,} x {d}, {size:.0f} MiB",
            "threads": 1,
            "seconds": cpu,
            "rate": f"{n / cpu / 1e3:.0f} thousand rows/s",
            "alternative": "pandas.read_csv",
            "ratio": wanted[0] / cpu,
            "note": (
                f"memory +{memory / 2**20:.0f} MiB, pandas +{wanted[1] / 2**20:.0f}, of which the "
                f"numbers {shape[0] * shape[1] / 2**17:.0f}"
            ),
        }


def _write(path, n, d, categories):
    rng = np.random.default_rng(0)
    words = np.array(["red", "green", "blue", "grey"])
    with open(path, "w", encoding="utf-8") as file:
        file.write(",".join([f"x{j}" for j in range(d)] + ["kind"] * categories) + "\n")
        for start in range(0, n, 50_000):
            rows = rng.normal(size=(min(50_000, n - start), d)).tolist()
            ends = rng.choice(words, len(rows)).tolist() if categories else [None] * len(rows)
            file.writelines(
                ",".join(map(repr, row)) + (f",{end}\n" if categories else "\n")
                for row, end in zip(rows, ends, strict=True)
            )


def _measure(name, path, categories):
    setup, read = _READERS[name]
    if categories:
        read = (
            "X = pandas.get_dummies(pandas.read_csv(path)).to_numpy(float)"
            if name.startswith("pandas")
            else "X = read_table(path, id_column='none', encode='onehot').X"
        )
    code = _MEASURE.format(setup=setup, read=read)
    env = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    run = [sys.executable, "-c", code, path]
    # The better of two: other programs may be at work.
    times = [
        json.loads(subprocess.run(run, check=True, env=env, capture_output=True).stdout)
        for _ in range(2)
    ]
    return min(times)
