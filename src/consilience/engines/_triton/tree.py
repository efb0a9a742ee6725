"""A growing minimum spanning tree: one launch an object."""

from typing import Any

from consilience.engines._triton._language import tl, triton

__all__ = ["MOST_TILES", "reach", "tile_of"]

#: Tiles of objects: every program looks at the best object of each.
MOST_TILES = 1024
# Members whose labels are read together.
_MEMBERS = 32


@triton.jit(do_not_specialize=["offset", "n", "n_members", "n_tiles"])
def _reach(
    labels, stride, ranks, before, offset, best, nearness, link, order, parent, reached, n,
    n_members, n_tiles,
    BY_PAIR: tl.constexpr, MEMBERS: tl.constexpr, TILE: tl.constexpr, TILES: tl.constexpr,
):  # fmt: skip
    """Take the object nearest to the tree into it, and see who is nearer to it than to all others.

    The best waiting object of every tile is a key: its nearness, then the smallest index. Those
    of even and of odd steps lie apart, so that nobody writes what another still reads.
    """
    t = tl.load(before) + offset
    if t < n:
        tile = tl.arange(0, TILES)
        keys = tl.load(best + (t % 2) * n_tiles + tile, mask=tile < n_tiles, other=-1)
        key = tl.max(keys, axis=0)
        i = 2147483647 - (key & 2147483647)
        if tl.program_id(0) == 0:
            tl.store(order + t, i.to(tl.int32))
            tl.store(parent + t, tl.load(link + i))
            tl.store(reached + t, ((key >> 32) - 1).to(tl.int32))
        j = tl.program_id(0) * TILE + tl.arange(0, TILE)
        inside = j < n
        joined = tl.zeros((TILE,), tl.int32)
        both = tl.zeros((TILE,), tl.int32)
        for first in range(0, n_members, MEMBERS):
            r = (first + tl.arange(0, MEMBERS)).to(tl.int64)
            there = r < n_members
            own = tl.load(labels + r * stride + i, mask=there, other=-2)
            some = tl.load(
                labels + r[:, None] * stride + j[None, :],
                mask=there[:, None] & inside[None, :],
                other=-2,
            )
            same = (some == own[:, None]) & (own >= 0)[:, None]
            joined += tl.sum(same.to(tl.int32), axis=0)
            if BY_PAIR:
                saw = (some != -2) & (own != -2)[:, None]
                both += tl.sum(saw.to(tl.int32), axis=0)
        value = joined
        if BY_PAIR:
            value = tl.load(ranks + both * (n_members + 1) + joined, mask=inside, other=0)
        near = tl.load(nearness + j, mask=inside, other=-2)
        # Who is in the tree has -2, who was near to nobody yet -1.
        near = tl.where(j == i, -2, near)
        nearer = (near > -2) & (value > near)
        near = tl.where(nearer, value, near)
        tl.store(nearness + j, near, mask=inside)
        tl.store(link + j, tl.zeros((TILE,), tl.int32) + i.to(tl.int32), mask=inside & nearer)
        key = ((near + 1).to(tl.int64) << 32) | (2147483647 - j)
        key = tl.where(inside & (near > -2), key, -1)
        place = best + ((t + 1) % 2) * n_tiles + tl.program_id(0)
        tl.store(place, tl.max(key, axis=0))


def tile_of(n: int) -> int:
    """Objects of a tile: so many that there are not too many tiles."""
    return int(max(256, triton.next_power_of_2(triton.cdiv(n, MOST_TILES))))


def reach(state: Any, offset: int) -> None:
    """The step ``state.before + offset`` of a `Growth`; nothing once all are reached."""
    n_tiles = state.best.shape[1]
    _reach[(n_tiles,)](
        state.labels, state.labels.stride(0), state.ranks, state.before, offset, state.best,
        state.nearness, state.link, state.order, state.parent, state.reached, state.n_objects,
        state.n_members, n_tiles, BY_PAIR=state.by_pair, MEMBERS=_MEMBERS,
        TILE=tile_of(state.n_objects), TILES=MOST_TILES, num_warps=4,
    )  # fmt: skip
