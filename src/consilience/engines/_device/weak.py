"""Repetitions of weak clusterings on a torch device, in two passes over the objects.

The product of a batch's seeds with the objects is made once, seeds by objects, and read twice:
for the sizes of the clusters, the sums of the grades, and for the scores, the mean sizes of the
clusters an object is in. The divergence of object i from seed c is
``rows[i] + columns[c] - factor * product[c, i]``, as in `consilience.kernels.minority.weak`.

Shapes of products follow from the job, never from free memory: `most` bounds the numbers of a
product, and objects come in blocks of a size that hangs on it and on the most seeds of a
repetition alone. Sums over objects go by blocks of 1,024 objects, added in a tree.
"""

from dataclasses import dataclass
from typing import Any

from consilience.engines._device._torch import add_in_tree, full_precision, torch

__all__ = ["Objects", "Rule", "Seeds", "add_scores", "repetitions"]

# That of `consilience.kernels.minority.blocks`, which needs numba; a test holds them together.
BLOCK = 1024
# Numbers of a product that exist at once.
MOST = 1 << 30


@dataclass
class Objects:
    """Objects on the device, or on the host with blocks of them on the way to it.

    Attributes
    ----------
    matrix : tensor of shape (n_objects, p)
    rows : tensor of shape (n_objects,)
        Row terms of the divergence, float32 or float64: the type of all that is computed.
    device : torch device
        Where it is computed.
    """

    matrix: Any
    rows: Any
    device: Any

    def block(self, start: int, stop: int) -> tuple[Any, Any]:
        """Matrix and row terms of some objects, on the device."""
        matrix, rows = self.matrix[start:stop], self.rows[start:stop]
        return matrix.to(self.device, non_blocking=True), rows.to(self.device, non_blocking=True)


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
    """

    matrix: Any
    columns: Any
    bounds: list[int]
    factor: float = 1.0


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
    n, parts = len(objects.rows), _blocks(len(objects.rows), len(seeds.columns), most)
    kept = _product(objects, seeds, *parts[0]) if len(parts) == 1 else None
    if sizes is None:
        found = []
        for start, stop in parts:
            product = _product(objects, seeds, start, stop) if kept is None else kept
            found.append(_sizes_of_block(objects, seeds, rule, product, start, stop))
        sizes = add_in_tree(torch.cat(found))
    scores = torch.empty((len(seeds.bounds) - 1, n), dtype=torch.float64, device=objects.device)
    for start, stop in parts:
        product = _product(objects, seeds, start, stop) if kept is None else kept
        for r in range(len(scores)):
            scores[r, start:stop] = _scores_of_block(
                objects, seeds, rule, product, sizes, r, start, stop
            )
    return sizes, scores, add_in_tree(_block_sums(scores).T) / n


def add_scores(scores: Any, means: Any, total: Any, squares: Any) -> None:
    """Add the scores of a batch to their sums, and their squares about each repetition's mean.

    One repetition after another, so that sums do not depend on how they came in batches.
    """
    for own, mean in zip(scores, means, strict=True):
        total += own
        gap = own - mean
        squares += gap * gap


def _blocks(n_objects: int, n_seeds: int, most: int) -> list[tuple[int, int]]:
    """Where blocks of objects begin and end: whole numbers of the blocks that are summed up."""
    size = max(BLOCK, most // max(n_seeds, 1) // BLOCK * BLOCK)
    return [(start, min(start + size, n_objects)) for start in range(0, n_objects, size)]


def _product(objects: Objects, seeds: Seeds, start: int, stop: int) -> Any:
    """Seeds by objects, in the type of the row terms."""
    matrix, _ = objects.block(start, stop)
    with full_precision():
        return (seeds.matrix @ matrix.T).to(objects.rows.dtype)


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
