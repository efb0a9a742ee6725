"""What a newcomer waits for: the import, and the first and second run of the demo."""

import os
import resource
import subprocess
import sys
import tempfile


def cases():
    """Cases of the driver; there is nothing to share between threads."""
    return [_import, _demo]


def _cpu(command, **settings):
    """CPU seconds of a command, the best of some runs where it is short."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, **settings)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _import(threads):
    if threads > 1:
        return
    one = {"env": os.environ | {"OPENBLAS_NUM_THREADS": "1"}}
    base = min(_cpu([sys.executable, "-c", "import numpy"], **one) for _ in range(7))
    ours = min(_cpu([sys.executable, "-c", "import numpy, consilience"], **one) for _ in range(7))
    yield {
        "name": "import consilience",
        "size": "after import numpy",
        "threads": 1,
        "seconds": max(ours - base, 0.0),
        "rate": "CPU seconds, best of 7",
        "alternative": None,
        "ratio": None,
        "note": f"import numpy alone {base:.3f} s",
    }


def _demo(threads):
    if threads > 1:
        return
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"NUMBA_CACHE_DIR": f"{folder}/cache"}
        code = "import sys; from consilience.cli import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", code, "demo", "--out", f"{folder}/demo"]
        first, second = (_cpu(command, env=env) for _ in range(2))
    yield {
        "name": "demo, first run less second",
        "size": "400 objects",
        "threads": 1,
        "seconds": first - second,
        "rate": "CPU seconds to compile",
        "alternative": None,
        "ratio": None,
        "note": f"first run {first:.1f} s, second {second:.1f} s of CPU, with all imports",
    }


if __name__ == "__main__":
    for case in cases():
        for row in case(1):
            print(row, flush=True)
