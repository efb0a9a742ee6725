"""Run every benchmark and print one table: a rate, and a ratio to the best alternative.

    python benchmarks/run.py                 all but the large cases, one thread and two
    python benchmarks/run.py --large         the large cases as well (about half an hour)
    python benchmarks/run.py kmeans pairs    only these
    python benchmarks/run.py gpu             a graphics card's passes: see gpu.py
    python benchmarks/run.py --markdown FILE also write the table as Markdown

A ratio is the alternative's seconds over ours, both measured in this run on the same
number of threads; above 1 we are faster. Close other programs first.
"""

import argparse
import importlib.util
import platform
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
COLUMNS = ("name", "size", "threads", "seconds", "rate", "alternative", "ratio", "note")


def main(argv=None):
    """Parse the command line, run, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("only", nargs="*", help="parts to run, by file name without bench_")
    parser.add_argument("--large", action="store_true", help="also the cases that take minutes")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--markdown", type=Path, help="write the table to this file as well")
    args = parser.parse_args(argv)
    if args.only == ["gpu"]:
        # Needs a card, and few of the packages that the others need.
        return subprocess.call([sys.executable, str(HERE / "gpu.py")])
    rows = []
    for path in sorted(HERE.glob("bench_*.py")):
        if args.only and path.stem.removeprefix("bench_") not in args.only:
            continue
        module = _load(path)
        found = list(module.cases()) if hasattr(module, "cases") else []
        if args.large and hasattr(module, "large_cases"):
            found += module.large_cases()
        for case in found:
            for threads in args.threads:
                for row in case(threads) or []:
                    rows.append(row)
                    print(_line(row), flush=True)
    if args.markdown:
        args.markdown.write_text(_markdown(rows), encoding="utf-8")
    return 0


def _load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    # Registered, so that worker processes and pickles find its functions.
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _cells(row):
    cells = [row.get(column) for column in COLUMNS]
    cells[3] = f"{row['seconds']:.3g}"
    cells[6] = "" if row.get("ratio") is None else f"{row['ratio']:.2f}"
    return ["" if cell is None else str(cell) for cell in cells]


def _line(row):
    name, size, threads, seconds, rate, alternative, ratio, note = _cells(row)
    against = f"{ratio} x {alternative}" if ratio else ""
    return f"{name:34} {size:26} {threads:>2} thr {seconds:>8} s  {rate:24} {against}  {note}"


def _markdown(rows):
    head = f"{_machine()}; {time.strftime('%Y-%m-%d')}.\n\n"
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    return head + "\n".join(lines) + "\n"


def _machine():
    import numba
    import numpy
    import scipy
    import sklearn

    processor = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [line for line in info.read_text().splitlines() if line.startswith("model name")]
        processor = f"{len(names)} x {names[0].partition(':')[2].strip()}" if names else processor
    return (
        f"{processor}, Python {platform.python_version()}, numpy {numpy.__version__}, "
        f"scipy {scipy.__version__}, numba {numba.__version__}, scikit-learn {sklearn.__version__}"
    )


if __name__ == "__main__":
    sys.exit(main())
