"""The passes of k-means over the members of a group in plain torch: for devices without kernels.

What `consilience.engines._triton` does for a `Group`, by the same rules, one member at a time.
Sums are whole multiples of the units of `consilience.engines._device.kmeans.Table`, exact.
"""

from typing import Any

from consilience.engines._device._torch import torch
from consilience.engines._device.kmeans import Part

__all__ = ["added", "cluster_sums", "nearest_centres", "square_parts", "values_of"]


def nearest_centres(state: Any, members: Any, labels: Any) -> None:
    """Write the nearest centres of all objects in some members, ties to the first."""
    for m in members.tolist():
        part, centres = _seen_by(state, m)
        labels[m] = part.nearest(centres).to(labels.dtype)


def cluster_sums(state: Any, members: Any, labels: Any) -> tuple[Any, Any]:
    """Coarse and fine sums of clusters, (n_members, 2, K, n_features) float64, and counts."""
    d, K, device = state.table.rows.shape[1], state.K, labels.device
    sums = torch.zeros((state.n_members, 2, K, d), dtype=torch.float64, device=device)
    counts = torch.zeros((state.n_members, K), dtype=torch.int64, device=device)
    for m in members.tolist():
        part, _ = _seen_by(state, m)
        own = labels[m].to(torch.int64)
        if state.seen is not None:
            own = torch.where(state.seen[m] > 0, own, K)
        columns = state.features[m] > 0
        sums[m][:, :, columns] = part.sums(own, K)
        counts[m] = torch.bincount(own, minlength=K + 1)[:K]
    return sums, counts


def values_of(state: Any, sums: Any) -> Any:
    """Sums of values, (n_members, K, n_features), of what `cluster_sums` gives."""
    table = state.table.table
    return sums[:, 0] * table.unit + sums[:, 1] * table.fine


def square_parts(state: Any, members: Any, labels: Any) -> Any:
    """Squared distances of the members' own objects to their centres, (n_members, n_objects)."""
    parts = torch.zeros(labels.shape, dtype=torch.float64, device=labels.device)
    for m in members.tolist():
        part, centres = _seen_by(state, m)
        own = part.distances(centres, labels[m].to(torch.int64))
        parts[m] = own if state.seen is None else torch.where(state.seen[m] > 0, own, 0.0)
    return parts


def added(parts: Any, seen: Any = None) -> Any:
    """Sums of what `square_parts` gives, over the objects that each member saw."""
    # Of these alone: zeros between them would change the order in which they are added.
    if seen is None:
        return torch.stack([own.sum() for own in parts])
    return torch.stack([own[mask > 0].sum() for own, mask in zip(parts, seen, strict=True)])


def _seen_by(state: Any, m: int) -> tuple[Part, Any]:
    """Rows and features of a member, and its centres in them."""
    n, held, table = state.n_objects, state.table, state.table.table
    some = slice(m * n, (m + 1) * n) if state.own else slice(None)
    columns = state.features[m] > 0
    rows, centred = held.rows[some][:, columns], held.centred[some][:, columns]
    lengths = centred.square().sum(dim=1).sqrt()
    part = Part(
        rows, centred, lengths, table.shift[columns], table.unit[columns], table.fine[columns]
    )
    return part, state.centres[m, : int(state.n_clusters[m])][:, columns]
