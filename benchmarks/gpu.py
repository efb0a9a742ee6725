# ruff: noqa: E402
"""The passes of a graphics card, beside the library's products and a copy of its memory.

    python benchmarks/gpu.py                     everything
    python benchmarks/gpu.py weak kmeans         some: rates, weak, kmeans, pairs, nearest
    python benchmarks/gpu.py weak --repetitions 2000

Times are of CUDA events, the median of five after a warm-up; every result is compared with float64
or with the CPU's rules first. Needs torch with CUDA and Triton, and nothing else of this package's
dependencies but NumPy: the passes are imported without the package's other engines if numba is not
there.
"""

import argparse
import sys
import types
from importlib.util import find_spec
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

SOURCE = Path(__file__).resolve().parents[1] / "src"
sys.path.insert(0, str(SOURCE))
if find_spec("numba") is None:
    # The room of the engines without its door, which opens the CPU's.
    for name in ("consilience.engines", "consilience"):
        module = types.ModuleType(name)
        module.__path__ = [str(SOURCE / name.replace(".", "/"))]
        sys.modules[name] = module

import torch

from consilience.engines import _triton as kernels
from consilience.engines._device import columns, kmeans, many, pairs, weak


def seconds(call: Any, repeats: int = 5, warm: int = 1) -> float:
    """Median seconds of a call, by events of the device."""
    for _ in range(warm):
        call()
    taken = []
    for _ in range(repeats):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        torch.cuda.synchronize()
        first.record()
        call()
        last.record()
        torch.cuda.synchronize()
        taken.append(first.elapsed_time(last) / 1e3)
    return median(taken)


def say(name: str, value: float, more: str = "") -> None:
    """One line of the table."""
    print(f"{name:58s} {value:10.4f} s  {more}", flush=True)


def rates(_: Any) -> None:
    """A copy, and products of the library."""
    a = torch.empty(2**31, dtype=torch.uint8, device="cuda").random_()
    b = torch.empty_like(a)
    taken = seconds(lambda: b.copy_(a))
    say("copy of 2 GiB", taken, f"{2 * a.numel() / taken / 1e12:.2f} TB/s")
    for kind, name in (
        (torch.bfloat16, "bf16"),
        (torch.float32, "float32"),
        (torch.float64, "f64"),
    ):
        a = torch.randn((8192, 8192), device="cuda", dtype=torch.float32).to(kind)
        taken = seconds(lambda a=a: a @ a)
        say(f"product 8192^3 {name}", taken, f"{2 * 8192**3 / taken / 1e12:.0f} TFLOP/s")


# ---- weak clusterings ------------------------------------------------------------------------


def weak_data(n: int, p: int) -> Any:
    """Binary rows of about 6 % ones, as the paper's largest table has."""
    torch.manual_seed(0)
    return (torch.rand((n, p), device="cuda") < 0.06).to(torch.float32)


def weak_job(args: Any) -> None:
    """The minority paper's largest job: 844,331 x 950, k 2..100, Gaussian; R scaled up."""
    n, p, wanted = args.objects, 950, args.repetitions
    X = weak_data(n, p)
    rule = weak.Rule("gaussian", n, False, alpha=10.0, gamma=0.02)
    _weak_check(X[:20_011], rule)
    draws = list(_draws(n, wanted))
    scale = 50_000 / wanted
    for name in ("float16", "float8"):
        objects = weak.narrowed(X, (X**2).sum(dim=1), torch.device("cuda"), widest=name)
        found = []

        def run(objects: Any = objects, found: Any = found) -> None:
            sums = torch.zeros((2, n), dtype=torch.float64, device="cuda")
            _weak_run(objects, rule, draws, *sums)
            found[:] = [*found[-1:], sums]

        taken = seconds(run, args.repeats)
        say(f"weak {name}: {wanted} repetitions", taken, f"50,000: {taken * scale:.2f} s")
        print("  same bits in two runs:", torch.equal(*found))
        some = next(weak.batches_of([len(draw) for draw in draws], n))
        seeds = weak.seeds_from(objects, draws[some], factor=2.0)
        once = seconds(lambda o=objects, s=seeds: weak.raw_product(o.matrix, s))
        share = once / len(seeds.columns) * sum(map(len, draws))
        say("  products of the library alone", share, f"50,000: {share * scale:.2f} s")


def _draws(n: int, wanted: int) -> Any:
    rng = np.random.default_rng(0)
    for _ in range(wanted):
        yield rng.choice(n, rng.integers(2, 101), replace=False)


def _weak_run(objects: Any, rule: Any, draws: Any, total: Any, squares: Any) -> None:
    for some in weak.batches_of([len(draw) for draw in draws], len(objects.rows)):
        seeds = weak.seeds_from(objects, draws[some], factor=2.0)
        weak.add_batch(objects, seeds, rule, total, squares)


def _weak_check(X: Any, rule: Any) -> None:
    """Scores of single and lower precision beside those of float64."""
    n = len(X)
    rule = weak.Rule(rule.kind, n, rule.logs, alpha=rule.alpha, gamma=rule.gamma)
    draws = list(_draws(n, 12))
    rows = (X**2).sum(dim=1)
    wide = weak.Objects(X.to(torch.float64), rows.to(torch.float64), X.device)
    seeds = weak.seeds_from(wide, draws, factor=2.0)
    wanted = weak.repetitions(wide, seeds, rule)
    for name in ("float32", "float16", "float8"):
        objects = weak.narrowed(X, rows, X.device, widest=name)
        got = weak.repetitions(objects, weak.seeds_from(objects, draws, factor=2.0), rule)
        gaps = [float(((a - b).abs() / b.abs()).max()) for a, b in zip(got, wanted, strict=True)]
        print(f"  {name}: largest relative error of sizes {gaps[0]:.1e}, of scores {gaps[1]:.1e}")


# ---- k-means ---------------------------------------------------------------------------------


def kmeans_job(args: Any) -> None:
    """100 members, k 2..30, 1,000,000 x 64 float32, 25 iterations."""
    n, d, n_members = args.rows, 64, 100
    torch.manual_seed(1)
    # Groups that overlap: members go on changing through all iterations.
    middles = 1.5 * torch.randn((40, d), device="cuda")
    X = torch.randn((n, d), device="cuda") + middles[torch.randint(0, 40, (n,), device="cuda")]
    rng = np.random.default_rng(0)
    sizes = rng.integers(2, 31, n_members)
    starts = [X[torch.as_tensor(rng.choice(n, k, False), device="cuda")].double() for k in sizes]
    nothing = [None] * n_members
    mean, _, low, high = columns.column_facts(X)
    table = kmeans.Table(X, mean, low, high)
    say("kmeans: column facts", seconds(lambda: columns.column_facts(X), 3))
    say("kmeans: digits", seconds(lambda: many.Digits(table), 3))
    digits = many.Digits(table)
    options = {"tols": [0.0] * n_members, "spherical": False, "assign_all": True}

    def run(max_iter: int = 25) -> Any:
        return many.lloyd_many(
            digits, kernels, starts, nothing, nothing, max_iter=max_iter, **options
        )

    found = run()
    say("kmeans: 100 members, 25 iterations, Triton", seconds(run))
    again = run()
    same = all(
        torch.equal(a.labels, b.labels) and torch.equal(a.centres, b.centres)
        for a, b in zip(found, again, strict=True)
    )
    print("  same bits in two runs:", same, " iterations:", sum(f.n_iter for f in found) / 100)
    _kmeans_steps(digits, starts)
    some = [0, 1, 2]
    for m in some:
        wanted = kmeans.lloyd(
            table, starts[m], max_iter=25, tol=0.0, spherical=False, assign_all=True
        )
        equal = bool((wanted.labels == found[m].labels).all())
        print(f"  member {m} (k={sizes[m]}): labels of the plain path: {equal}")
    taken = seconds(
        lambda: kmeans.lloyd(
            table, starts[0], max_iter=25, tol=0.0, spherical=False, assign_all=True
        ),
        1,
    )
    say(f"kmeans: one member (k={sizes[0]}) in plain torch", taken)


def _kmeans_steps(digits: Any, starts: Any) -> None:
    """Seconds of the kernels of one iteration, by the width of the tile and precision."""
    for members in many.groups_of(*digits.rows.shape, starts):
        own, device = [starts[m] for m in members], digits.rows.device
        group = many.fitting_group(digits.table, device, own, [None] * len(members))
        group.hold(digits)
        labels, numbers = group.room(), many.numbers(range(len(members)), device)
        for precision in ("tf32x3", "ieee"):
            taken = seconds(
                lambda g=group, a=numbers, b=labels, p=precision: kernels.nearest_centres(
                    g, a, b, precision=p
                )
            )
            waiting = int(group.n_waiting)
            say(
                f"  K={group.K}, {len(members)} members: nearest, {precision}",
                taken,
                f"judged {waiting}",
            )
        judged = seconds(lambda g=group, b=labels: kernels.judge(g, b))
        say("    of it the judge", judged)
        taken = seconds(lambda g=group, a=numbers, b=labels: kernels.cluster_sums(g, a, b))
        say(f"  K={group.K}: sums", taken)
        squares = seconds(lambda g=group, a=numbers, b=labels: kernels.square_parts(g, a, b))
        say(f"  K={group.K}: squares", squares)


# ---- pairs -----------------------------------------------------------------------------------


def _members(n: int, n_members: int = 100) -> Any:
    rng = np.random.default_rng(0)
    return torch.as_tensor(
        np.stack([rng.integers(0, k, n) for k in rng.integers(2, 31, n_members)]).astype(np.int8)
    ).cuda()


def pairs_job(args: Any) -> None:
    """Co-association of 50,000 objects by 100 members, as bytes."""
    members = _members(50_000)
    plain = lambda: pairs._filled(members, pairs.one_hot(members), False, pairs._COUNTS, False)  # noqa: E731
    wanted = plain()
    say("pairs 50,000 x 100: products of the library, half precision", seconds(plain))
    table = pairs.bytes_of(members)
    counts = torch.empty((50_000, 50_000), dtype=torch.uint8, device="cuda")
    kernels.count_pairs(table, counts, symmetric=True)
    print("  equal:", torch.equal(counts, wanted))
    say("pairs 50,000 x 100: Triton", seconds(
        lambda: kernels.count_pairs(pairs.bytes_of(members), counts, symmetric=True)
    ))  # fmt: skip
    say("  of it the one-hot bytes", seconds(lambda: pairs.bytes_of(members)))


def nearest_job(args: Any) -> None:
    """20 nearest by co-association of 200,000 objects, in blocks."""
    members = _members(200_000)
    some = members[:, :3000].contiguous()
    got = pairs.nearest_by_kernel(some, 20)
    wanted = pairs.nearest_pairs(some, 20, by_pair=False)
    print(
        "  nearest equal:", all(bool((a == b).all()) for a, b in zip(got, wanted[:2], strict=True))
    )
    say("nearest 20 of 200,000 x 100", seconds(lambda: pairs.nearest_by_kernel(members, 20), 3))


JOBS: dict[str, Any] = {
    "rates": rates,
    "weak": weak_job,
    "kmeans": kmeans_job,
    "pairs": pairs_job,
    "nearest": nearest_job,
}


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("jobs", nargs="*", default=list(JOBS))
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--objects", type=int, default=844_331)
    parser.add_argument("--rows", type=int, default=1_000_000)
    args = parser.parse_args()
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    for job in args.jobs:
        try:
            JOBS[job](args)
        except Exception as error:  # one kernel that fails must not take the others along
            import traceback

            traceback.print_exc()
            print(f"{job} failed: {error}", flush=True)


if __name__ == "__main__":
    main()
