"""Whole calls on a card beside all cores of its machine: NumPy in, NumPy out, by the clock.

    python benchmarks/gpu_whole.py                          the table of docs/gpu.md
    python benchmarks/gpu_whole.py --device cpu --scale 0.01
    python benchmarks/gpu_whole.py whole                    only the whole job of cs.cluster
    python benchmarks/gpu_whole.py small                    where a card begins to pay

The first call on the card compiles kernels; the second is the one to read.
"""

import argparse
import cProfile
import pstats
import time
import warnings

import numpy as np

import consilience as cs


def main():
    """Time every call twice on the device and once on the cores, and compare what they found."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("cases", nargs="*", default=["parts", "whole"])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, default=-1)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of objects")
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    n, d = int(1_000_000 * args.scale), 64
    for case in args.cases:
        {"parts": parts, "whole": whole, "small": small}[case](args, n, d)


def table(n, d, n_groups=40):
    """Groups that overlap."""
    rng = np.random.default_rng(1)
    middles = 1.5 * rng.normal(size=(n_groups, d))
    return (rng.normal(size=(n, d)) + middles[rng.integers(0, n_groups, n)]).astype(np.float32)


def whole(args, n, d):
    """`cs.cluster` with 100 members: consensus, confidence and number, and its stages."""
    X = table(n, d, 12)

    def job(device):
        found = cs.cluster(X, random_state=0, n_jobs=args.threads, device=device)
        print("  ", found.n_clusters, "groups;", found.seconds, found.ran_on, flush=True)
        return found

    one, other = both(f"cs.cluster of {n:,} x {d}", job, args.device)
    print("  labels that differ:", int((one.labels != other.labels).sum()))
    print("  largest difference of confidence:", np.abs(one.confidence - other.confidence).max())
    members = one.ensemble

    def sure(device):
        call = cs.evidence.confidence
        return call(members, one.labels, n_jobs=args.threads, device=device)

    both("confidence", sure, args.device)
    if args.profile:
        profile = cProfile.Profile()
        profile.runcall(job, args.device)
        pstats.Stats(profile).sort_stats("tottime").print_stats(18)


def small(args, n, d):
    """Whole jobs of few objects: where does a card begin to pay?"""
    for n_objects in (1_000, 5_000, 20_000, 50_000, 100_000, 200_000):
        for columns in (4, 64):
            X = table(n_objects, columns, 12)
            taken = []
            for device in (args.device, args.device, None, None):
                generator = cs.generate.default_generator(
                    *X.shape, random_state=0, n_jobs=args.threads
                ).generator.set_params(device=device)
                start = time.perf_counter()
                generator.generate(X)
                taken.append(time.perf_counter() - start)
            print(f"{n_objects:,} x {columns}: device {taken[1]:.3f} s, cores {taken[3]:.3f} s")


def parts(args, n, d):
    """Members, pairs and minority scores by themselves."""
    X = table(n, d)
    options = {"n_members": 100, "n_clusters": (2, 30), "max_iter": 25, "random_state": 0}

    def members(device):
        generator = cs.generate.KMeansEnsemble(**options, n_jobs=args.threads, device=device)
        return generator.generate(X)

    one, other = both(f"k-means ensemble of {n:,} x {d}", members, args.device)
    print("  labels that differ:", int((one.members != other.members).sum()))
    some = cs.Ensemble(one.members[:, : n // 20].T)

    def pairs(device):
        options = {"values": "count", "n_jobs": args.threads, "device": device}
        return cs.evidence.co_association(some, **options)

    one, other = both(f"co-association of {n // 20:,} x 100", pairs, args.device)
    print("  equal:", np.array_equal(one, other))
    Z = X[: n // 10, :30].copy()
    weak = {"gamma": 0.02, "scaling": "none", "threshold": "2gauss", "clusterer": None}
    weak |= {"random_state": 0, "n_repetitions": 1000, "n_jobs": args.threads}
    one, other = both(
        f"EWOCS of {n // 10:,} x 30",
        lambda device: cs.EWOCS(**weak, device=device).fit(Z),
        args.device,
    )
    print("  largest difference of scores:", np.abs(one.scores_ - other.scores_).max())
    print("  labels that differ:", int((one.labels_ != other.labels_).sum()))


def both(name, call, device):
    """What a call returns on the device and on the cores."""
    for place in (device, device, None):
        start = time.perf_counter()
        found = call(place)
        seconds = time.perf_counter() - start
        print(f"{name}, {place or 'all cores'}: {seconds:.2f} s", flush=True)
        if place is not None:
            there = found
    return there, found


if __name__ == "__main__":
    main()
