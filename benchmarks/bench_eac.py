"""EAC from an ensemble to labels and confidence, whole: seconds and peak memory.

Every measurement runs in a process of its own, so that its peak memory is its own; it
includes the interpreter, the libraries and the labels.
"""

import json
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from bench_linkage import make_members

CASES = (
    ("average", 20_000, "4 GiB"),
    ("average", 50_000, "1 GiB"),
    ("single", 100_000, "1 GiB"),
)


def cases():
    """Cases of the driver."""
    return [_whole]


def _whole(threads):
    for linkage, n, budget in CASES:
        command = [sys.executable, __file__, linkage, str(n), budget, str(threads)]
        done = subprocess.run(command, check=True, capture_output=True)
        found = json.loads(done.stdout)
        path = "without the matrix" if found["matrix_free"] else "by the matrix"
        yield {
            "name": f"EAC {linkage} link, {path}",
            "size": f"{n} x 100",
            "threads": threads,
            "seconds": found["seconds"],
            "rate": f"{n / found['seconds']:.0f} objects/s",
            "alternative": None,
            "ratio": None,
            "note": f"peak {found['peak_mib']:.0f} MiB, max_memory {budget}",
        }


def _work(linkage, n, budget, threads):
    """What the fresh process does; the first, small call compiles."""
    import consilience as cs

    warnings.simplefilter("ignore", cs.errors.ConsilienceWarning)
    members = make_members(n)
    model = cs.EAC(8, linkage=linkage, max_memory=budget, n_jobs=threads)
    for memory in ("4 GiB", 1) if linkage == "average" else (budget,):
        cs.EAC(8, linkage=linkage, max_memory=memory).fit(ensemble=members[:, :300].T)
    ensemble = cs.Ensemble(members.T)
    start = time.perf_counter()
    model.fit(ensemble=ensemble)
    seconds = time.perf_counter() - start
    # Linux counts in KiB, macOS in bytes.
    unit = 2**20 if sys.platform == "darwin" else 2**10
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
    found = {"seconds": seconds, "peak_mib": peak, "matrix_free": model.matrix_free_}
    print(json.dumps(found))


if __name__ == "__main__":
    _work(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
