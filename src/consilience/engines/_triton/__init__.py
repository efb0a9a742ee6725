"""Triton kernels for the passes of `consilience.engines.torch`, each with its launcher.

A kernel works on a tile of objects and adds up in registers or, across programs, whole numbers;
there are no atomic additions of floats, so two runs give the same bits. Launchers take and
return torch tensors. Under ``TRITON_INTERPRET=1`` everything runs on the CPU device, slowly.
"""

from consilience.engines._triton.columns import block_facts
from consilience.engines._triton.kmeans import (
    added,
    cluster_sums,
    judge,
    nearest_centres,
    square_parts,
    values_of,
)
from consilience.engines._triton.labels import (
    CLUSTERS,
    count_parts,
    judge_objects,
    label_sums,
    nearest_rows,
    pair_sums,
)
from consilience.engines._triton.pairs import count_pairs, nearest_objects
from consilience.engines._triton.tree import reach, tile_of
from consilience.engines._triton.weak import WeakBlock, add_scores, sizes_of

__all__ = [
    "CLUSTERS",
    "WeakBlock",
    "add_scores",
    "added",
    "block_facts",
    "cluster_sums",
    "count_pairs",
    "count_parts",
    "judge",
    "judge_objects",
    "label_sums",
    "nearest_centres",
    "nearest_objects",
    "nearest_rows",
    "pair_sums",
    "reach",
    "sizes_of",
    "square_parts",
    "tile_of",
    "values_of",
]
