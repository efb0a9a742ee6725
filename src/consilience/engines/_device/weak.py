"""Repetitions of weak clusterings on a torch device, in two passes over the objects.

The product of a batch's seeds with the objects is made once, seeds by objects, and read twice:
for the sizes of the clusters, the sums of the grades, and for the scores, the mean sizes of the
clusters an object is in. The divergence of object i from seed c is
``rows[i] + columns[c] - factor * product[c, i]``, as in `consilience.kernels.minority.weak`.

Shapes of products follow from the job, never from free memory: objects come in blocks of a size
that hangs on the seeds and columns of a batch alone, wherever they lie. Only products that are
exact in any shape (whole numbers) are made at once where all objects are on the device. Sums over
objects go by blocks of 1,024 objects, added in a tree; kernels add over 256.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from consilience.engines._device._torch import add_in_tree, full_precision, kernels_for, torch
from consilience.engines._device.memory import streamed

__all__ = [
    "Objects", "Rule", "Seeds", "add_batch", "add_scores", "batches_of", "narrowed", "raw_product",
    "repetitions", "seeds_from",
]  # fmt: skip

# That of `consilience.kernels.minority.blocks`, which needs numba; a test holds them together.
BLOCK = 1024
# Numbers of a product that exist at once, and those of a block of it: products of single precision
# are made block by block, so that their shape is the same wherever the objects lie.
MOST, AT_ONCE = 1 << 30, 1 << 27
# Blocks are whole numbers of the objects that kernels add over.
_WHOLE = 8 * BLOCK
# Whole numbers up to these, and products up to the last, are exact in floats of 8 and 16 bits.
_EIGHT_BITS, _SIXTEEN_BITS = 16, 2048


@dataclass
class Objects:
    """Objects on the device, or on the host with blocks of them on the way to it.

    Attributes
    ----------
    matrix : tensor of shape (at least n_objects, p)
        Behind the objects there may be rows of zeros.
    rows : tensor of shape (n_objects,)
        Row terms of the divergence, float32 or float64: the type of all that is computed.
    device : torch device
        Where it is computed.
    on_host : bool
        Whether the matrix stays on the host, also where that is the device.
    reach : int
        One more than the largest squared distance of two objects can be, where they are whole
        numbers and row terms are squared lengths; 0 otherwise.
    """

    matrix: Any
    rows: Any
    device: Any
    on_host: bool = False
    reach: int = 0
    _wide: Any = None
    _table: Any = None

    def wide_rows(self) -> Any:
        """Row terms, zeros behind the objects; as many as the matrix has rows."""
        if self._wide is None or len(self._wide) != len(self.matrix):
            self._wide = torch.zeros(
                len(self.matrix), dtype=self.rows.dtype, device=self.rows.device
            )
            self._wide[: len(self.rows)] = self.rows
        return self._wide

    def weights(self, rule: "Rule") -> Any:
        """Weights of whole squared distances from 0, ``exp(2 alpha exp(-gamma d))``, float32."""
        if self._table is None or self._table[0] != (rule.alpha, rule.gamma):
            far = torch.arange(self.reach, dtype=torch.float64, device=self.device)
            values = torch.exp(2 * rule.alpha * torch.exp(-rule.gamma * far))
            self._table = (rule.alpha, rule.gamma), values.to(torch.float32)
        return self._table[1]

    @property
    def resident(self) -> bool:
        """Whether the matrix is on the device."""
        return bool(self.matrix.device.type == self.device.type) and not self.on_host

    @property
    def exact(self) -> bool:
        """Whether products are whole numbers, exact in any shape."""
        return self.matrix.dtype in (torch.float16, torch.float8_e4m3fn)

    def blocks(self, parts: Sequence[tuple[int, int]]) -> Iterator[Any]:
        """Matrices of blocks of objects on the device, the last with the rows behind it."""
        n = len(self.rows)
        some = (self.matrix[start : stop if stop < n else None] for start, stop in parts)
        return iter(some) if self.resident else streamed(some, self.device)


@dataclass
class Seeds:
    """Seeds of the repetitions of a batch, one after another.

    Attributes
    ----------
    matrix : tensor of shape (n_seeds, p)
    columns : tensor of shape (n_seeds,)
        Column terms of the divergence.
    bounds : list of int
        Where the seeds of each repetition begin, and the end.
    factor : float
        Of the product.
    there : tensor of shape (n_repetitions + 1,), int32, optional
        The bounds on the device.
    squared : bool
        Whether seeds are objects and divergences their squared distances.
    """

    matrix: Any
    columns: Any
    bounds: list[int]
    factor: float = 1.0
    there: Any = None
    squared: bool = False


@dataclass
class Rule:
    """How objects belong to seeds, and what becomes of their mean sizes.

    Attributes
    ----------
    kind : {"hard", "softmax", "gaussian"}
    tie : float
        "hard": the share of the size of the terms within which distances are tied.
    alpha, gamma : float
        "gaussian".
    n_objects : int
        Objects that sizes are relative to.
    logs : bool
        Scores are ``log(s k / n_objects)``, or ``s / n_objects``.
    floors : bool
        Whether a size is at least 1 / k (soft grades) or 1.
    """

    kind: str
    n_objects: int
    logs: bool
    floors: bool = False
    tie: float = 0.0
    alpha: float = 0.0
    gamma: float = 0.0


def repetitions(
    objects: Objects, seeds: Seeds, rule: Rule, sizes: Any = None, *, most: int = MOST
) -> tuple[Any, Any, Any]:
    """Sizes of the clusters, scores of the objects and their means, for a batch.

    Parameters
    ----------
    objects : Objects
    seeds : Seeds
    rule : Rule
    sizes : tensor of shape (n_seeds,), optional
        Sizes of the clusters; None takes those that the objects give.
    most : int
        Numbers of a product that may exist at once.

    Returns
    -------
    sizes : tensor of shape (n_seeds,), float64
    scores : tensor of shape (n_repetitions, n_objects), float64
    means : tensor of shape (n_repetitions,), float64
    """
    n, n_seeds = len(objects.rows), len(seeds.columns)
    parts = _blocks(objects, n_seeds, most)
    keep = n * n_seeds <= most
    kernels = kernels_for(objects.device)
    single = objects.rows.dtype == torch.float32 and objects.rows.device.type == objects.device.type
    if kernels is not None and single and len(objects.matrix) % 16 == 0:
        return _by_kernels(kernels, objects, seeds, rule, sizes, parts, keep)
    kept: list[Any] = []
    if sizes is None:
        sums = []
        for start, stop, raw in _products(objects, seeds, parts):
            product = raw[:, : stop - start].to(objects.rows.dtype)
            sums.append(_sizes_of_block(objects, seeds, rule, product, start, stop))
            kept += [(start, stop, raw)] * keep
        sizes = add_in_tree(torch.cat(sums))
    scores = torch.empty((len(seeds.bounds) - 1, n), dtype=torch.float64, device=objects.device)
    for start, stop, raw in kept or _products(objects, seeds, parts):
        product = raw[:, : stop - start].to(objects.rows.dtype)
        for r in range(len(scores)):
            scores[r, start:stop] = _scores_of_block(
                objects, seeds, rule, product, sizes, r, start, stop
            )
    return sizes, scores, add_in_tree(_block_sums(scores).T) / n


def add_scores(scores: Any, means: Any, total: Any, squares: Any) -> None:
    """Add the scores of a batch to their sums, and their squares about each repetition's mean.

    One repetition after another, so that sums do not depend on how they came in batches.
    """
    for own, mean in zip(scores.to(torch.float64), means, strict=True):
        total += own
        gap = own - mean
        squares += gap * gap


def _blocks(objects: Objects, n_seeds: int, most: int) -> list[tuple[int, int]]:
    """Where blocks of objects begin and end: whole numbers of the blocks that are summed up."""
    n, p = len(objects.rows), objects.matrix.shape[1]
    if objects.exact and objects.resident and n * n_seeds <= most:
        return [(0, n)]
    size = min(most, AT_ONCE) // max(n_seeds, p, 1) // _WHOLE * _WHOLE
    size = max(size, _WHOLE if most >= MOST else BLOCK)
    return [(start, min(start + size, n)) for start in range(0, max(n, 1), size)]


def _products(
    objects: Objects, seeds: Seeds, parts: Sequence[tuple[int, int]]
) -> Iterator[tuple[int, int, Any]]:
    """Seeds by the objects of each block, and by rows of zeros behind, as the library writes it."""
    for (start, stop), matrix in zip(parts, objects.blocks(parts), strict=True):
        yield start, stop, raw_product(matrix, seeds)


def raw_product(matrix: Any, seeds: Seeds) -> Any:
    """Seeds by the rows of a matrix on the device."""
    if matrix.dtype == torch.float8_e4m3fn:
        one = torch.ones((), device=matrix.device)
        return torch._scaled_mm(
            seeds.matrix, matrix.T, scale_a=one, scale_b=one, out_dtype=torch.float16
        )
    with full_precision():
        return seeds.matrix @ matrix.T


def _by_kernels(
    kernels: Any,
    objects: Objects,
    seeds: Seeds,
    rule: Rule,
    sizes: Any,
    parts: Sequence[tuple[int, int]],
    keep: bool,
) -> tuple[Any, Any, Any]:
    """As `repetitions`, scores in single precision."""
    if seeds.there is None:
        seeds.there = torch.tensor(seeds.bounds, dtype=torch.int32, device=objects.device)
    n, rows, most = len(objects.rows), objects.wide_rows(), int(np.diff(seeds.bounds).max())
    looks_up = rule.kind == "gaussian" and seeds.squared and objects.reach > 0
    table = objects.weights(rule) if looks_up else None
    begun, kept = [], []
    for start, stop, product in _products(objects, seeds, parts):
        some = kernels.WeakBlock(
            product, rows[start : start + product.shape[1]], seeds.columns, seeds.there,
            stop - start, rule, factor=seeds.factor, most=most, table=table,
        )  # fmt: skip
        begun.append(some.first(want_sizes=sizes is None))
        if keep:
            kept.append((start, stop, some.product))
        some.product = None
    if sizes is None:
        sizes = kernels.sizes_of(begun, rule)
    if len(parts) == 1 and keep:
        scores, sums = begun[0].last(kept[0][2], sizes)
        return sizes, scores[:, :n], sums.sum(dim=0, dtype=torch.float64) / n
    scores = torch.empty((len(seeds.bounds) - 1, n), device=objects.device)
    sums = []
    for one, (start, stop, product) in zip(
        begun, kept or _products(objects, seeds, parts), strict=True
    ):
        some_scores, some_sums = one.last(product, sizes)
        scores[:, start:stop] = some_scores[:, : stop - start]
        sums.append(some_sums)
    return sizes, scores, torch.cat(sums).sum(dim=0, dtype=torch.float64) / n


def narrowed(
    matrix: Any, rows: Any, device: Any, *, widest: str = "float8", limit: int | None = None
) -> Objects:
    """Objects in the narrowest floats in which all their products are exact, on a card.

    Parameters
    ----------
    matrix : tensor of shape (n_objects, p), float32 or float64
    rows : tensor of shape (n_objects,)
    device : torch device
    widest : {"float8", "float16", "float32"}, default="float8"
        Where to begin.
    limit : int, optional
        Bytes that the matrix may take on the device; a larger one stays on the host.

    Notes
    -----
    Whole numbers up to 16 are floats of 8 bits, up to 2,048 floats of 16 bits, which the products
    are written in; sums are single precision. Products are at most the largest squared length.
    """
    kind, reach = matrix.dtype, 0
    if device.type == "cuda" and widest != "float32" and rows.dtype == torch.float32:
        largest = float(matrix.abs().max()) if matrix.numel() else 0.0
        lengths = matrix.square().sum(dim=1)
        length = float(lengths.max()) if matrix.numel() else 0.0
        whole = largest <= _SIXTEEN_BITS and bool((matrix == matrix.round()).all())
        if whole and length <= _SIXTEEN_BITS:
            kind = torch.float16
            # Two vectors that long are at most twice the length apart.
            reach = 4 * int(length) + 1 if torch.equal(rows.to(lengths), lengths) else 0
            if largest <= _EIGHT_BITS and widest == "float8" and _multiplies_eight_bits(device):
                kind = torch.float8_e4m3fn
    # Products of the library and passes over them are fastest, or only there, with these.
    shape = tuple(-(-size // 16) * 16 for size in matrix.shape)
    on_host = limit is not None and shape[0] * shape[1] * kind.itemsize > limit
    out = torch.zeros(shape, dtype=kind, device="cpu" if on_host else device)
    out[: matrix.shape[0], : matrix.shape[1]] = matrix.to(out.device).to(kind)
    return Objects(out, rows.to(device), device, on_host, reach)


def _multiplies_eight_bits(device: Any) -> bool:
    return bool(torch.cuda.get_device_capability(device) >= (8, 9))


def seeds_from(
    objects: Objects, draws: Sequence[Any], *, factor: float, own_columns: bool = True
) -> Seeds:
    """Seeds that are objects themselves, taken where these are.

    Parameters
    ----------
    objects : Objects
        On the device.
    draws : sequence of int arrays
        The objects of every repetition.
    factor : float
        Of the product.
    own_columns : bool, default=True
        Whether column terms are the objects' row terms, or zero.
    """
    bounds = np.cumsum([0, *map(len, draws)])
    numbers = np.concatenate([bounds, *draws]).astype(np.int32)
    there = torch.from_numpy(numbers)
    if objects.device.type == "cuda":
        # Copied while the device works on: from memory that stays where it is.
        there = there.pin_memory().to(objects.device, non_blocking=True)
    at = len(bounds)
    chosen = there[at:]
    bits = objects.matrix
    at_home = chosen if objects.resident else torch.from_numpy(numbers[at:])
    if bits.dtype == torch.float8_e4m3fn:
        matrix = bits.view(torch.uint8).index_select(0, at_home).view(bits.dtype)
    else:
        matrix = bits.index_select(0, at_home)
    matrix = matrix.to(objects.device)
    columns = objects.rows.index_select(0, chosen)
    columns = columns if own_columns else torch.zeros_like(columns)
    squared = own_columns and factor == 2.0
    return Seeds(matrix, columns, bounds.tolist(), factor, there[:at], squared)


def batches_of(lengths: Sequence[int], n_objects: int, most: int = MOST) -> Iterator[slice]:
    """Repetitions in batches whose products have at most so many numbers; one at least.

    >>> list(batches_of([3, 2, 9, 1], 10, most=60))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    room, start, n_seeds = max(most // max(n_objects, 1), 1), 0, 0
    for at, length in enumerate(lengths):
        if at > start and n_seeds + length > room:
            yield slice(start, at)
            start, n_seeds = at, 0
        n_seeds += length
    if start < len(lengths):
        yield slice(start, len(lengths))


def add_batch(objects: Objects, seeds: Seeds, rule: Rule, total: Any, squares: Any) -> Any:
    """Add the scores of a batch to their sums; sizes of its clusters and mean scores.

    Nothing here waits for the device.
    """
    kernels = kernels_for(objects.device)
    sizes, scores, means = repetitions(objects, seeds, rule)
    add = add_scores if kernels is None else kernels.add_scores
    add(scores, means, total, squares)
    return sizes, means


def _grades(
    objects: Objects, seeds: Seeds, rule: Rule, product: Any, r: int, start: int, stop: int
) -> Any:
    """Grades of a block of objects in the clusters of repetition r, (k, b)."""
    low, high = seeds.bounds[r], seeds.bounds[r + 1]
    columns = seeds.columns[low:high, None]
    near = product[low:high] * seeds.factor
    if rule.kind == "hard":
        return _nearest(near, columns, objects, rule, start, stop)
    if rule.kind == "gaussian":
        rows = objects.rows[start:stop].to(near.device)
        gap = (near - (rows + columns)).clamp(max=0)
        weight = 2 * rule.alpha * torch.exp(rule.gamma * gap)
    else:
        weight = near - columns
    weight = torch.exp(weight - weight.amax(dim=0))
    return weight / weight.sum(dim=0)


def _nearest(near: Any, columns: Any, objects: Objects, rule: Rule, start: int, stop: int) -> Any:
    """One for the nearest seed, ties to the first; a seed counts as nearer beyond rounding only."""
    rows = objects.rows[start:stop].to(near.device)
    slack = rule.tie * (rows.abs() + columns.abs().max())
    best = columns[0] - near[0]
    labels = torch.zeros(stop - start, dtype=torch.int64, device=near.device)
    for c in range(1, len(near)):
        value = columns[c] - near[c]
        nearer = value < best - slack
        best, labels = torch.where(nearer, value, best), torch.where(nearer, c, labels)
    return (torch.arange(len(near), device=near.device)[:, None] == labels).to(near.dtype)


def _sizes_of_block(
    objects: Objects, seeds: Seeds, rule: Rule, product: Any, start: int, stop: int
) -> Any:
    """Sums of the grades over every 1,024 objects of a block, (n_sums, n_seeds) float64."""
    n_repetitions = len(seeds.bounds) - 1
    return torch.cat(
        [
            _block_sums(_grades(objects, seeds, rule, product, r, start, stop)).T
            for r in range(n_repetitions)
        ],
        dim=1,
    )


def _scores_of_block(
    objects: Objects,
    seeds: Seeds,
    rule: Rule,
    product: Any,
    sizes: Any,
    r: int,
    start: int,
    stop: int,
) -> Any:
    """Scores of a block of objects in repetition r."""
    low, high = seeds.bounds[r], seeds.bounds[r + 1]
    grades = _grades(objects, seeds, rule, product, r, start, stop)
    weighted = grades.to(torch.float64) * sizes[low:high, None]
    mean = add_in_tree(weighted)
    if rule.floors:
        mean = mean.clamp(min=1.0 if rule.kind == "hard" else 1.0 / (high - low))
    if rule.logs:
        return torch.log(mean * ((high - low) / rule.n_objects))
    return mean / rule.n_objects


def _block_sums(values: Any) -> Any:
    """Sums over every 1,024 objects, (rows, n_blocks) float64: halves added until one is left."""
    rows, n = values.shape
    n_blocks = -(-n // BLOCK)
    table = torch.zeros((rows, n_blocks * BLOCK), dtype=torch.float64, device=values.device)
    table[:, :n] = values
    table = table.view(rows, n_blocks, BLOCK)
    while table.shape[2] > 1:
        half = table.shape[2] // 2
        table = table[:, :, :half] + table[:, :, half:]
    return table[:, :, 0]
