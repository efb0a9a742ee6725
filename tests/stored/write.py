"""Write the stored answers anew.

    python tests/stored/write.py
    python tests/stored/write.py kernels plot

Say why in the commit: what changed is what users will get.
"""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import os
import platform

os.environ["CONSILIENCE_PROGRESS"] = "0"
os.environ.setdefault("MPLBACKEND", "agg")
if platform.machine() in ("x86_64", "AMD64"):  # as in all tests
    os.environ.setdefault("OPENBLAS_CORETYPE", "Haswell")

from stored.store import load_all

from consilience.consensus import _clarity


def main() -> int:
    """Write the rooms named, or all."""
    asked = sys.argv[1:]
    _clarity.REFERENCES = 19  # as in all tests
    for cases in load_all():
        if not asked or cases.room in asked:
            start = time.perf_counter()
            size = cases.write()
            took = time.perf_counter() - start
            print(f"{cases.room:16}{len(cases.names()):5d} cases{size:9,d} bytes{took:7.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
