"""What the same bits every run cost on a card: our passes beside variants that add by atomics.

    python benchmarks/gpu_atomics.py

The variants are written here, not in the package: floats added in whatever order programs come.

- k-means sums: a product of labels with the values themselves in TF32, each program adding its
  part to the sums of the clusters by atomics (ours: digits of eight bits, whole numbers); and
  torch's ``index_add_``, which adds every value by atomics.
- sizes of weak clusters: every program adds its part to the sizes by atomics (ours: parts of all
  programs in a table, added in a fixed order).

Whole steps are compared: an iteration of k-means (nearest centres and sums), and a batch of weak
clusterings (product, passes, sums of scores).
"""

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import gpu
import torch
import triton
import triton.language as tl

from consilience.engines import _triton as kernels
from consilience.engines._device import columns, kmeans, many, weak
from consilience.engines._triton import weak as weak_kernels


@triton.jit
def _float_sums(
    rows, labels, members, sums, counts, n, d, chunk,
    K: tl.constexpr, TILE: tl.constexpr, WIDTH: tl.constexpr,
):  # fmt: skip
    """Sums of the rows of every cluster of a member, by atomic additions of floats."""
    m = tl.load(members + tl.program_id(0)).to(tl.int64)
    f, c = tl.arange(0, WIDTH), tl.arange(0, K)
    total = tl.zeros((WIDTH, K), tl.float32)
    number = tl.zeros((K,), tl.int32)
    begin = tl.program_id(1) * chunk
    for start in range(begin, begin + chunk, TILE):
        i = start + tl.arange(0, TILE)
        label = tl.load(labels + m * n + i, mask=i < n, other=0).to(tl.int32)
        label = tl.where(i < n, label, -1)
        own = label[:, None] == c[None, :]
        there = (i < n)[:, None] & (f < d)[None, :]
        x = tl.load(rows + i.to(tl.int64)[:, None] * d + f[None, :], mask=there, other=0.0)
        total = tl.dot(tl.trans(x), own.to(tl.float32), total, input_precision="tf32")
        number += tl.sum(own.to(tl.int32), axis=0)
    place = sums + (m * d + f[:, None]) * K + c[None, :]
    tl.atomic_add(place, total, mask=(f < d)[:, None] & (c >= 0)[None, :])
    tl.atomic_add(counts + m * K + c, number)


def float_sums(group: Any, members: Any, labels: Any) -> Any:
    """As `kernels.cluster_sums`, of floats."""
    rows, K = group.table.centred, group.K
    n, d = rows.shape
    sums = torch.zeros((group.n_members, d, K), device=rows.device)
    counts = torch.zeros((group.n_members, K), dtype=torch.int32, device=rows.device)
    chunk = max(64, min(32768, triton.cdiv(triton.cdiv(n, 32), 64) * 64))
    _float_sums[(len(members), triton.cdiv(n, chunk))](
        rows, labels, members, sums, counts, n, d, chunk,
        K=K, TILE=64, WIDTH=triton.next_power_of_2(d), num_warps=4,
    )  # fmt: skip
    return sums, counts


@triton.jit
def _atomic_pass(
    product, stride, rows, columns, bounds, inverse, sizes, n, width, factor, steep, height, table,
    SEEDS: tl.constexpr, TILE: tl.constexpr, KIND: tl.constexpr, FAST: tl.constexpr,
):  # fmt: skip
    """`_first_pass` of Gaussian kernels, whose programs add to the sizes by atomics."""
    chunk, r = tl.program_id(0), tl.program_id(1)
    low = tl.load(bounds + r)
    k = tl.load(bounds + r + 1) - low
    objects = chunk * TILE + tl.arange(0, TILE)
    inside = objects < width
    row = tl.load(rows + objects, mask=inside, other=0.0)
    total = tl.zeros((TILE,), tl.float32)
    for first in range(0, k, SEEDS):
        c = first + tl.arange(0, SEEDS)
        value = weak_kernels._values(
            product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
            table, KIND, FAST,
        )  # fmt: skip
        total += tl.sum(weak_kernels._weights(value, KIND, FAST), axis=0)
    share = tl.where(objects < n, 1.0 / total, 0.0)
    tl.store(inverse + r.to(tl.int64) * width + objects, share, mask=inside)
    for back in range(0, k, SEEDS):
        c = tl.cdiv(k, SEEDS) * SEEDS - SEEDS - back + tl.arange(0, SEEDS)
        value = weak_kernels._values(
            product, stride, low, k, c, row, columns, objects, inside, factor, steep, height,
            table, KIND, FAST,
        )  # fmt: skip
        sums = tl.sum(weak_kernels._weights(value, KIND, FAST) * share[None, :], axis=1)
        tl.atomic_add(sizes + low + c, sums, mask=c < k)


class AtomicBlock(weak_kernels.WeakBlock):
    """Sizes by atomics."""

    def first(self, *, want_sizes: bool) -> "AtomicBlock":
        """As that of `WeakBlock`."""
        n_repetitions, width = self.shape
        self.inverse = self.top = torch.empty(self.shape, device=self.device)
        self.parts = torch.zeros((1, len(self.columns)), device=self.device)
        numbers, shapes, _ = self._settings()
        seeds, tile, warps = weak_kernels.FIRST_TILE
        _atomic_pass[(triton.cdiv(width, tile), n_repetitions)](
            *self._common(), self.inverse, self.parts, self.n, width, *numbers,
            SEEDS=seeds, TILE=tile, num_warps=warps, **shapes,
        )  # fmt: skip
        return self


def kmeans_steps(n: int = 1_000_000, d: int = 64) -> None:
    """An iteration of 100 members, k 2..30."""
    torch.manual_seed(0)
    X = torch.randn((n, d), device="cuda")
    mean, _, low, high = columns.column_facts(X)
    digits = many.Digits(kmeans.Table(X, mean, low, high))
    sizes = torch.randint(2, 31, (100,)).tolist()
    starts = [X[torch.randint(0, n, (k,), device="cuda")].to(torch.float64) for k in sizes]
    total = {"near": 0.0, "ours": 0.0, "floats by atomics": 0.0, "index_add_": 0.0}
    for members in many.groups_of(n, d, starts):
        own = [starts[m] for m in members]
        group = many.fitting_group(digits.table, X.device, own, [None] * len(members))
        group.hold(digits)
        labels, numbers = group.room(), many.numbers(range(len(members)), X.device)
        total["near"] += gpu.seconds(
            lambda g=group, a=numbers, b=labels: kernels.nearest_centres(g, a, b)
        )
        total["ours"] += gpu.seconds(
            lambda g=group, a=numbers, b=labels: kernels.cluster_sums(g, a, b)
        )
        total["floats by atomics"] += gpu.seconds(
            lambda g=group, a=numbers, b=labels: float_sums(g, a, b)
        )

        def added(group: Any = group, labels: Any = labels) -> None:
            for own in labels:
                torch.zeros((group.K, d), device="cuda").index_add_(0, own.to(torch.int64), X)

        total["index_add_"] += gpu.seconds(added, 3)
    near = total.pop("near")
    gpu.say("k-means iteration: nearest centres", near)
    for name, taken in total.items():
        gpu.say(f"  sums, {name}", taken, f"iteration {near + taken:.4f} s")
    fastest = near + min(total["floats by atomics"], total["index_add_"])
    print(f"  determinism costs {(near + total['ours']) / fastest - 1:+.1%} of an iteration")


def weak_steps(n: int = 844_331, p: int = 950) -> None:
    """A batch of the paper's largest job."""
    X = gpu.weak_data(n, p)
    rule = weak.Rule("gaussian", n, False, alpha=10.0, gamma=0.02)
    draws = list(gpu._draws(n, 64))
    ours = kernels.WeakBlock
    for name in ("float16", "float8"):
        objects = weak.narrowed(X, (X**2).sum(dim=1), torch.device("cuda"), widest=name)
        sums = torch.zeros((2, n), dtype=torch.float64, device="cuda")
        taken = {}
        for way, call in (("ours", ours), ("atomics", AtomicBlock), ("ours again", ours)):
            kernels.WeakBlock = call
            taken[way] = gpu.seconds(lambda o=objects, s=sums: gpu._weak_run(o, rule, draws, *s))
            gpu.say(f"weak clusterings, {name}, {way}", taken[way])
        kernels.WeakBlock = ours
        least = min(taken["ours"], taken["ours again"])
        print(f"  determinism costs {least / taken['atomics'] - 1:+.1%}")


if __name__ == "__main__":
    kmeans_steps()
    weak_steps()
