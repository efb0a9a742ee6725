"""Which members are made of a table with categories or gaps, and why."""

from typing import Any

import numpy as np

from consilience.generate import MixedEnsemble
from consilience.workflow._data import Data

__all__ = ["mixed_generator"]

# As for numbers: past so many objects members have fewer clusters than the root of their number.
_MODERATE = 20_000
_CLUSTERS = (20, 60)


def mixed_generator(
    data: Data, n_members: int, n_groups: int | None, seed: int, n_jobs: int | None
) -> tuple[Any, str]:
    """The generator for such a table, and a sentence of reason."""
    n_clusters: Any = ("sqrt/2", "sqrt") if data.n_objects <= _MODERATE else _CLUSTERS
    generator = MixedEnsemble(
        n_members,
        n_clusters if n_groups is None else min(n_groups, data.n_objects),
        categorical=list(data.categorical),
        weights=[float(weight) for weight in data.mixed_weights],
        random_state=seed,
        n_jobs=n_jobs,
    )
    reasons = []
    if data.categorical:
        names = "k-means, k-modes and k-prototypes on parts of the columns"
        if len(data.categorical) == data.mixed.shape[1]:
            names = "k-modes on parts of the columns"
        reasons.append("Numbers and categories each have a say, and columns that hang together")
        reasons[0] += " with nothing a small one"
    else:
        names = "k-means on parts of the columns"
    if np.isnan(data.mixed).any():
        reasons.append(
            "each clustering sees the objects that have most of its columns, and the others are "
            "unseen by it"
        )
    why = "; ".join(reasons)
    return generator, f"{names}. {why[:1].upper()}{why[1:]}."
