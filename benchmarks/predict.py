"""Seconds to place 1,000,000 new objects x 10, beside scikit-learn's nearest centroid.

    python benchmarks/predict.py [--objects 1000000] [--columns 10] [--jobs 2]

One line a run of `consilience.cluster` on 1,000, 20,000 and 50,000 objects of eight groups: what
was kept, seconds for ``result.predict``, objects a second, and the same of scikit-learn's
``NearestCentroid`` on the same labels, which has one centre a group instead of thousands and no
confidence. Processor seconds beside the wall's tell what a busy machine costs.
"""

import argparse
import time

import numpy as np
from sklearn.neighbors import NearestCentroid

import consilience as cs


def timed(call):
    """Wall and processor seconds of a call, and what it returns."""
    wall, work = time.perf_counter(), time.process_time()
    found = call()
    return time.perf_counter() - wall, time.process_time() - work, found


def drawn(n, d, rng):
    """Objects of eight groups, 10 spreads apart on average."""
    centres = np.random.default_rng(8).normal(size=(8, d)) * 10 / np.sqrt(d)
    return centres[rng.integers(0, 8, n)] + rng.normal(size=(n, d))


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--objects", type=int, default=1_000_000)
    parser.add_argument("--columns", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    new = drawn(args.objects, args.columns, rng)
    print(f"{args.objects:,} new objects x {args.columns}, {args.jobs} threads")
    print("seen     centres  first    wall     work     objects/s    nearest centroid  same")
    for n in (1_000, 20_000, 50_000):
        seen = drawn(n, args.columns, rng)
        result = cs.cluster(seen, random_state=0, n_jobs=args.jobs)
        first, _, _ = timed(lambda result=result: result.predict(new[:1000]))
        wall, work, found = timed(lambda result=result: result.predict(new, n_jobs=args.jobs))
        plain = NearestCentroid().fit(seen, result.labels)
        other, _, labels = timed(lambda plain=plain: plain.predict(new))
        centres = sum(len(one.values) for one in result.placer().models)
        print(
            f"{n:<8,} {centres:<8,} {first:<8.2f} {wall:<8.2f} {work:<8.2f} "
            f"{args.objects / wall:<12,.0f} {other:<17.2f} {(labels == found.labels).mean():.4f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
