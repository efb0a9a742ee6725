"""What runs on labels on a card, beside all cores of its machine: whole calls and single passes.

    python benchmarks/gpu_stages.py                          all of it, some five minutes
    python benchmarks/gpu_stages.py passes                   passes of the card alone, by its events
    python benchmarks/gpu_stages.py stages                   whole calls: NumPy in, NumPy out
    python benchmarks/gpu_stages.py links                    EAC, and counts of all pairs
    python benchmarks/gpu_stages.py first                    the first call of a process
    python benchmarks/gpu_stages.py --device cpu --scale 0.005

A line a stage: the second call on the card, the same with labels that are there already (within
``labels_stay``), the second call on the cores, and both ratios; then whether the results agree.
"""

import argparse
import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import time
import warnings
from functools import cache

import numpy as np

import consilience as cs
from consilience.consensus.auto import by_votes
from consilience.engines import labels_stay

SECTIONS = ("passes", "stages", "links", "first", "profile")
FIRST = """
import sys, time, numpy as np
begin = time.perf_counter()
import consilience as cs
rng = np.random.default_rng(1)
n, device = int(sys.argv[1]), sys.argv[2] or None
centres = 1.5 * rng.normal(size=(12, 64))
X = (rng.normal(size=(n, 64)) + centres[rng.integers(0, 12, n)]).astype(np.float32)
for name in ("first", "second"):
    start = time.perf_counter()
    found = cs.cluster(X, random_state=0, n_jobs=-1, device=device)
    print(f"    {name} call {time.perf_counter() - start:.2f} s", found.seconds, flush=True)
"""


def main():
    """Run the sections asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("sections", nargs="*", default=SECTIONS)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--threads", type=int, default=-1)
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of objects")
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    args.n = int(1_000_000 * args.scale)
    for section in args.sections:
        print(f"--- {section}", flush=True)
        globals()[section](args)


@cache
def table(n, d=64, n_groups=40):
    """Groups that overlap; made once, since drawing them takes as long as the members."""
    rng = np.random.default_rng(1)
    middles = 1.5 * rng.normal(size=(n_groups, d))
    return (rng.normal(size=(n, d)) + middles[rng.integers(0, n_groups, n)]).astype(np.float32)


def members_of(args, device, n=None):
    """100 members of 20 to 60 clusters."""
    maker = cs.generate.KMeansEnsemble(
        n_members=100, n_clusters=(20, 60), max_iter=25, random_state=0, n_jobs=args.threads,
        device=device,
    )  # fmt: skip
    return maker.generate(table(args.n if n is None else n))


def timed(call):
    """Seconds of a call, and what it returns."""
    start = time.perf_counter()
    found = call()
    return time.perf_counter() - start, found


def both(name, call, args, agree, *, cores=2):
    """Seconds of a call on the card, with labels that stay there, and on the cores."""
    first, _ = timed(lambda: call(args.device))
    second, there = timed(lambda: call(args.device))
    with labels_stay():
        call(args.device)
        held = float(np.median([timed(lambda: call(args.device))[0] for _ in range(3)]))
    for _ in range(cores):
        plain, here = timed(lambda: call(None))
    print(
        f"{name}: card {second:.3f} s (first {first:.2f}), labels there {held:.3f} s, "
        f"cores {plain:.3f} s: {plain / second:.1f} x, {plain / held:.1f} x; {agree(there, here)}",
        flush=True,
    )


def distance(one, other):
    """How far two arrays are apart, in words."""
    gap = float(np.nanmax(np.abs(np.asarray(one, float) - np.asarray(other, float)), initial=0))
    return "equal" if gap == 0 else f"apart by {gap:.1e} at most"


def stages(args):
    """Members, evidence, placing and linear consensus as whole calls."""
    table(args.n)  # not in the time of the first call
    both(
        "members",
        lambda device: members_of(args, device),
        args,
        lambda a, b: distance(a.members, b.members),
    )
    ensemble = members_of(args, args.device)
    labels = cs.KCC(12, n_init=1, random_state=0, confidence=False, n_jobs=args.threads).fit(
        ensemble=ensemble
    ).labels_  # fmt: skip
    evidence, jobs = cs.evidence, {"n_jobs": args.threads}
    some = np.sort(np.random.default_rng(0).permutation(args.n)[:1500])
    calls = {
        "confidence": lambda d: evidence.confidence(ensemble, labels, device=d, **jobs).confidence,
        "object weights": lambda d: evidence.object_weights(ensemble, device=d, **jobs),
        "ANCO": lambda d: evidence.anco(ensemble, device=d, **jobs),
        "placing": lambda d: by_votes(ensemble, some, labels[some], d, **jobs),
        "KCC": lambda d: fitted(cs.KCC, ensemble, d, args),
        "SEC": lambda d: fitted(cs.SEC, ensemble, d, args),
    }
    for name, call in calls.items():
        both(name, call, args, distance)


def fitted(kind, ensemble, device, args):
    """Labels of SEC or KCC."""
    model = kind(12, n_init=2, confidence=False, random_state=0, n_jobs=args.threads, device=device)
    return model.fit(ensemble=ensemble).labels_


def passes(args):
    """Single passes over labels that are on the card: medians of five, by its events."""
    from consilience.engines.torch import label_rows

    ensemble = members_of(args, args.device)
    upload = median(lambda: label_rows(ensemble.members, ensemble.offsets(), args.device), args)
    print(f"labels to the card: {1000 * upload:.2f} ms for {ensemble.members.nbytes / 1e6:.0f} MB")
    rows = label_rows(ensemble.members, ensemble.offsets(), args.device)
    parts = np.random.default_rng(0).integers(0, 12, args.n)
    there = rows.there(parts.astype(np.int32))
    counts = rows.counts(there, 12)
    sizes, floats = rows.sizes(there, 12), counts.double()
    joint = rows.contingency()
    pairs = np.stack(np.triu_indices(rows.n_members, 1), axis=1)
    named = {
        "counts of parts": lambda: rows.counts(there, 12),
        "sums of rows, float64": lambda: [sums for _, _, sums in rows.row_sums(floats)],
        "contingency": lambda: rows.contingency(),
        "sums over pairs, integers": lambda: rows.pair_sums(joint, pairs),
        "sums over pairs, float64": lambda: rows.pair_sums(joint.double(), pairs),
    }
    if rows.kernels is not None:
        judge, near = rows.kernels.judge_objects, rows.kernels.nearest_rows
        ones, zeros = floats.new_ones(args.n), floats.new_zeros(12)
        room = there.clone(), ones.clone()
        labels = next(iter(rows.blocks()))[1]
        named["nearest rows"] = lambda: near(labels, rows.starts, floats, ones, zeros, there, *room)
        named["objects judged"] = lambda: judge(labels, rows.starts, counts, None, sizes, there)
    for name, call in named.items():
        print(f"{name}: {1000 * median(call, args):.2f} ms", flush=True)
    problem(args, ensemble)


def problem(args, ensemble):
    """What KCC and SEC do: rows, starts, rounds; twice on the card and twice on the cores."""
    from consilience.consensus import _label_kmeans as forms
    from consilience.consensus._rows import distinct_rows, spectral_start

    jobs = args.threads
    rows = distinct_rows(ensemble, n_jobs=jobs)
    seconds, rows = timed(lambda: distinct_rows(ensemble, n_jobs=jobs))
    print(f"distinct rows: {seconds:.3f} s, {rows.n_rows:,} of {args.n:,}")
    weights = np.ones(len(rows.members))

    def problem_of(kind, device):
        if kind == "sec":
            return forms.sec_problem(rows, weights, n_jobs=jobs).on(device)
        return forms.kcc_problem(rows, weights / len(weights), "h", 5.0, False, n_jobs=jobs).on(
            device
        )

    for kind in ("kcc", "sec"):
        for device in (args.device, args.device, None, None):
            made, own = timed(lambda kind=kind, device=device: problem_of(kind, device))
            began, start = timed(lambda: spectral_start(rows, 12, 0, n_jobs=jobs))
            drawn, random = timed(lambda own=own: forms.random_labels(own, 12, 100, 1, jobs))
            ran, run = timed(lambda own=own, start=start: own.run(start, 12, 100, jobs))
            more, again = timed(lambda own=own, random=random: own.run(random, 12, 100, jobs))
            a_round = (ran + more) / (run.n_iter + again.n_iter)
            print(
                f"{kind} on {device or 'cores'}: problem {made:.3f} s, spectral start {began:.3f} "
                f"s, random start {drawn:.3f} s, {run.n_iter} and {again.n_iter} rounds "
                f"{ran + more:.3f} s: {a_round:.4f} s each",
                flush=True,
            )


def median(call, args):
    """Seconds of a call: by events of the card, else by the clock."""
    import torch

    call()
    taken = []
    for _ in range(5):
        if not args.device.startswith("cuda"):
            taken.append(timed(call)[0])
            continue
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        call()
        end.record()
        torch.cuda.synchronize()
        taken.append(begin.elapsed_time(end) / 1000)
    return float(np.median(taken))


def links(args):
    """Trees of EAC, and counts of all pairs."""
    n = max(300, args.n // 20)
    ensemble = members_of(args, args.device, n)
    few = ensemble.take(np.arange(max(300, n // 5)))

    def tree(some, linkage):
        options = {"linkage": linkage, "confidence": False, "n_jobs": args.threads}

        def call(device):
            return cs.EAC(12, device=device, **options).fit(ensemble=some)

        return call

    def same(one, other):
        return f"{distance(one.linkage_, other.linkage_)}, {distance(one.labels_, other.labels_)}"

    both(f"single link, {n:,}", tree(ensemble, "single"), args, same, cores=1)
    both(f"average link, {few.n_objects:,}", tree(few, "average"), args, same, cores=1)
    both(f"complete link, {few.n_objects:,}", tree(few, "complete"), args, same, cores=1)

    def counts(device):
        options = {"values": "count", "n_jobs": args.threads, "device": device}
        return cs.evidence.co_association(ensemble, **options)

    both(
        f"pair counts, {n:,}",
        counts,
        args,
        lambda a, b: "equal" if np.array_equal(a, b) else "NOT EQUAL",
    )


def first(args):
    """The first call of a process: without compiled kernels of either kind, and with them."""
    with tempfile.TemporaryDirectory() as folder:
        kept = {
            "NUMBA_CACHE_DIR": os.path.join(folder, "numba"),
            "TRITON_CACHE_DIR": os.path.join(folder, "triton"),
        }
        runs = [
            ("nothing compiled, on the cores", None, {}),
            ("the processor's kernels compiled", args.device, {}),
            ("both kinds compiled", args.device, {}),
        ]
        for name, device, more in runs:
            print(f"{name}, {device or 'cores'}:", flush=True)
            command = [sys.executable, "-c", FIRST, str(max(2000, args.n // 5)), device or ""]
            subprocess.run(command, check=True, env=os.environ | kept | more)


def profile(args):
    """Where the time of making members goes, on the second call."""
    members_of(args, args.device)
    found = cProfile.Profile()
    found.runcall(members_of, args, args.device)
    pstats.Stats(found).sort_stats("tottime").print_stats(22)


if __name__ == "__main__":
    main()
