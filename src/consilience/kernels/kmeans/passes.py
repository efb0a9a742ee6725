"""Passes over the data for many members at once, shared among threads.

The rows are cut into runs of blocks, the members into groups. A *unit* of work is one run for one
group: while a block is in the cache, every member of the group visits it. Threads take units in
turn from a common list, :class:`Board`. Whoever completes the last unit of a group's pass adds up
the runs' sums in their tree, ends the round of its members and opens the group's next pass; all
others meanwhile work on other groups. So nobody waits for anybody while there is work, whatever
the members' numbers of clusters and of rounds, and what comes out depends neither on who did what
nor on how members are grouped.

Where all data are one run (a few thousand objects), a unit is a whole pass: then threads in effect
share the members.
"""

from time import sleep
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience.kernels._blocks import BLOCK_ROWS, add_in_tree, n_blocks_of
from consilience.kernels._jit import compiled
from consilience.kernels._locks import LOCKS_HOLD, release, take
from consilience.kernels._parallel import in_turns
from consilience.kernels.kmeans.lloyd import GOES_ON, UNCHANGED, end_round
from consilience.kernels.kmeans.members import Members, member_of, open_rows, own_rows, visit
from consilience.kernels.kmeans.scan import Sieve, make_scratch, squared_distance
from consilience.kernels.kmeans.sums import (
    Parts,
    add_tree,
    flush,
    make_parts,
    part_of,
    push,
)

__all__ = ["DONE", "FINISH", "ROUNDS", "SETTLE", "Board", "make_board", "run_passes"]

UNSEEN = -2
# What a member's next pass does: an iteration; nearest centres without learning; that if labels
# are not those of the centres yet, the sum of squares, and the objects that are not its own.
ROUNDS, SETTLE, FINISH, DONE = 0, 1, 2, 3
# Sums of runs are held for all members at once, in so many bytes, unless runs get too few; and in
# as many, all threads together, what they add up within runs of several blocks.
_SUM_BYTES = 1 << 26
_LEAST_RUNS = 16
_MOST_RUNS = 256
# Members that visit a block together while it is in the cache, and units for each thread and pass.
_TOGETHER = 16
_UNITS_A_THREAD = 8
# Multiplications between two looks at Python, for interrupts: about a tenth of a second.
_BETWEEN = 1 << 30
# Looks at an empty list, about a microsecond each, before a thread sleeps; and for how long.
_LOOKS, _PAUSE = 50, 1e-4
_OVER, _NOTHING_YET, _MORE = 0, 1, 2

# What is called once is compiled into its caller (inline="always"): compiled by itself as well, and
# again with everything below it in each function above, this module takes twice as long.


class Board(NamedTuple):
    """What is left to do, and what the passes found; all threads write it."""

    lock: NDArray[np.int64]
    left: NDArray[np.int64]  # (2,): groups that are not done; whether all are told to stop
    group_at: NDArray[np.intp]  # first member of each group
    taken: NDArray[np.int64]  # units of a group's pass that somebody took, and that are complete
    complete: NDArray[np.int64]
    run_blocks: int  # a power of two
    n_levels: int  # its logarithm
    n_blocks: int
    n_runs: int
    changes: Parts  # a row a run
    stage: NDArray[np.int64]  # of each member, as the following
    next_stage: NDArray[np.int64]  # after its rounds
    opened: NDArray[np.bool_]
    settled: NDArray[np.bool_]  # labels are those of the centres
    n_iter: NDArray[np.int32]
    converged: NDArray[np.bool_]
    moved: NDArray[np.int64]  # (n_members, n_runs)
    squares: NDArray[np.float64]  # (n_members, n_blocks)
    tols: NDArray[np.float64]
    max_iter: int
    spherical: bool
    assign_all: bool


def make_board(
    members: Members,
    n_rows: int,
    *,
    stage: int,
    next_stage: int = FINISH,
    max_iter: int = 0,
    tols: NDArray[np.float64] | None = None,
    spherical: bool = False,
    assign_all: bool = True,
    threads: int = 1,
) -> Board:
    """A board on which every member stands at ``stage``; ``next_stage`` follows the rounds."""
    n_members, n_blocks = members.n_clusters.size, n_blocks_of(n_rows)
    n_values, n_clusters = int(members.centre_at[-1]), int(members.cluster_at[-1])
    run_blocks = _run_blocks(n_blocks, 16 * n_values + 9 * n_clusters)
    n_runs = -(-n_blocks // run_blocks)
    group_at = _groups(members, run_blocks, n_runs, threads)
    return Board(
        lock=np.zeros(1, np.int64),
        left=np.array([len(group_at) - 1, 0]),
        group_at=group_at,
        taken=np.zeros(len(group_at) - 1, np.int64),
        complete=np.zeros(len(group_at) - 1, np.int64),
        run_blocks=run_blocks,
        n_levels=run_blocks.bit_length() - 1,
        n_blocks=n_blocks,
        n_runs=n_runs,
        changes=make_parts(n_runs, n_values, n_clusters),
        stage=np.full(n_members, stage if max_iter or stage != ROUNDS else next_stage),
        next_stage=np.full(n_members, next_stage),
        opened=np.zeros(n_members, np.bool_),
        settled=np.zeros(n_members, np.bool_),
        n_iter=np.zeros(n_members, np.int32),
        converged=np.zeros(n_members, np.bool_),
        moved=np.zeros((n_members, n_runs), np.int64),
        squares=np.zeros((n_members, n_blocks)),
        tols=np.zeros(n_members) if tols is None else tols,
        max_iter=max_iter,
        spherical=spherical,
        assign_all=assign_all,
    )


def finishing_board(members: Members, n_rows: int, assign_all: bool, threads: int) -> Board:
    """A board for members whose labels of their own objects stand already."""
    board = make_board(members, n_rows, stage=FINISH, assign_all=assign_all, threads=threads)
    board.opened.fill(True)
    board.settled.fill(True)
    return board


def _run_blocks(n_blocks: int, n_bytes: int) -> int:
    """Blocks of a run: one, or more (a power of two) where the sums of all runs get too large."""
    blocks = 1
    while -(-n_blocks // blocks) > _MOST_RUNS or (
        -(-n_blocks // (2 * blocks)) >= _LEAST_RUNS
        and -(-n_blocks // blocks) * n_bytes > _SUM_BYTES
    ):
        blocks *= 2
    return blocks


def most_members(n_rows: int, n_values: int) -> int:
    """Members with centres of so many values whose sums of runs fit into memory together."""
    n_runs = min(n_blocks_of(n_rows), 2 * _LEAST_RUNS)
    return max(1, _SUM_BYTES // max(1, 16 * n_values * n_runs))


def _groups(members: Members, run_blocks: int, n_runs: int, threads: int) -> NDArray[np.intp]:
    """Where groups of members start: few enough for memory, and enough units for all threads."""
    n_members, together = members.n_clusters.size, _TOGETHER
    if run_blocks > 1:
        largest = int(np.diff(members.centre_at).max(initial=1))
        own = 16 * largest * run_blocks.bit_length() * threads
        together = max(1, min(together, _SUM_BYTES // own))
    wanted = -(-n_members // together)
    if threads > 1:
        wanted = max(wanted, min(n_members, -(-_UNITS_A_THREAD * threads // max(1, n_runs))))
    return np.linspace(0, n_members, wanted + 1).astype(np.intp)


def run_passes(
    X: NDArray[np.floating], sieve: Sieve, members: Members, board: Board, threads: int
) -> None:
    """Make all passes that the board asks for; what they find is in the members and the board."""
    if board.n_blocks == 0 or board.stage.size == 0:
        return
    n_values = int(np.diff(members.centre_at[board.group_at]).max())
    n_clusters = int(np.diff(members.cluster_at[board.group_at]).max())
    n_groups, n_rows = board.taken.size, board.run_blocks * BLOCK_ROWS
    turn_units = max(1, _BETWEEN // max(1, n_values * n_rows))
    stacked = (n_values, n_clusters) if board.n_levels > 0 else (0, 0)

    def stop() -> None:  # nobody waits for a unit that is not completed
        board.left[1] = 1

    def turn(first: int, step: int) -> None:
        scratch = make_scratch(X.shape[1])
        stack = make_parts(board.n_levels + 1, *stacked)
        start = first * n_groups // step
        while True:
            state, start = take_units(X, sieve, members, board, scratch, stack, start, turn_units)
            if state == _OVER:
                return
            if state == _NOTHING_YET:
                sleep(_PAUSE)

    in_turns(turn, n_groups * board.n_runs, threads if LOCKS_HOLD else 1, stop)


@compiled
def take_units(X, sieve, members, board, scratch, stack, group, most):
    """Do at most so many units; what there is to do then, and the group to begin with."""
    looks = 0
    for _ in range(most):
        group, run = _next_unit(board, group)
        while run < 0 and board.left[0] > 0 and board.left[1] == 0:
            looks += 1
            if looks > _LOOKS:
                return _NOTHING_YET, group
            group, run = _next_unit(board, group)
        if run < 0:
            return _OVER, group
        looks = 0
        _unit(X, sieve, members, board, scratch, stack, group, run)
        if _was_last(board, group):
            _end_pass(X, sieve, members, board, group)
    return _MORE, group


@compiled(inline="always")
def _next_unit(board, group):
    """A unit that nobody took: of that group if it has one, or of the next that has; -1: none."""
    n_groups, found, run = board.taken.size, group, -1
    take(board.lock)
    if board.left[1] == 0:
        for step in range(n_groups):
            at = (group + step) % n_groups
            if board.taken[at] < board.n_runs:
                found, run = at, board.taken[at]
                board.taken[at] += 1
                break
    release(board.lock)
    return found, run


@compiled(inline="always")
def _was_last(board, group):
    """Note that a unit of a group is complete; whether its pass is."""
    take(board.lock)
    board.complete[group] += 1
    last = board.complete[group] == board.n_runs
    release(board.lock)
    return last


@compiled(inline="always")
def _unit(X, sieve, members, board, scratch, stack, group, run):
    """One run of blocks for the members of one group."""
    # Fields are taken out of tuples before loops: each time, references are counted.
    stages, moved, squares, changes = board.stage, board.moved, board.squares, board.changes
    opened, settled, n_levels, zero = board.opened, board.settled, board.n_levels, np.int64(0)
    first, last = board.group_at[group], board.group_at[group + 1]
    start_block = run * board.run_blocks
    stop_block = min(start_block + board.run_blocks, board.n_blocks)
    for m in range(first, last):
        moved[m, run] = 0
    for block in range(start_block, stop_block):
        start = block * BLOCK_ROWS
        stop = min(start + BLOCK_ROWS, X.shape[0])
        for m in range(first, last):
            stage = stages[m]
            if stage == DONE:
                continue
            one = member_of(members, m)
            # Where the block is the run, its changes are the run's; else they go by the stack.
            parts, row, origin = (stack, n_levels, first) if n_levels > 0 else (changes, run, zero)
            place = _place(members, m, origin)
            part = part_of(parts, row, place)
            if not opened[m]:
                open_rows(one, start, stop)
            look = not settled[m]
            # At most twice, its own objects and then the others; one call is compiled once.
            while True:
                if look:
                    learn = stage == ROUNDS
                    moved[m, run] += visit(X, sieve, one, scratch, start, stop, learn, part)
                if stage != FINISH:
                    break
                squares[m, block] = _squares(X, one, start, stop)
                look = _turns_to_others(one, start, stop, board.assign_all)
                if not look:
                    break
            if stage == ROUNDS and n_levels > 0:
                out = part_of(changes, run, _place(members, m, zero))
                push(stack, place, n_levels, block - start_block, out)
    if n_levels > 0:
        for m in range(first, last):
            if stages[m] == ROUNDS:
                out = part_of(changes, run, _place(members, m, zero))
                flush(stack, _place(members, m, first), n_levels, out)


@compiled
def _place(members, m, first):
    """Where a member's changes are, among those of the members from ``first`` on."""
    return (
        members.centre_at[m] - members.centre_at[first],
        members.cluster_at[m] - members.cluster_at[first],
        members.n_clusters[m],
        members.feature_at[m + 1] - members.feature_at[m],
    )


@compiled
def _squares(X, one, start, stop):
    """Sum of the squared distances of a member's own objects in a block to their centres."""
    features, centres, labels = one.features, one.centres, one.labels
    total = 0.0
    for i in own_rows(one, start, stop):
        total += squared_distance(X, i, features, centres, labels[i])
    return total


@compiled
def _turns_to_others(one, start, stop, assign_all):
    """Leave a member's own objects alone and look at the others; whether there are any left."""
    if one.whole:
        return False
    labels, gaps, left = one.labels, one.gaps, False
    for i in range(start, stop):
        if labels[i] == -1:
            left = assign_all
            labels[i] = -1 if assign_all else UNSEEN
        gaps[i] = -np.inf if labels[i] < 0 else np.inf
    return left


@compiled(inline="always")
def _end_pass(X, sieve, members, board, group):
    """Take the members of a group to their next stage, and open its next pass if there is one."""
    busy = False
    for m in range(board.group_at[group], board.group_at[group + 1]):
        if board.stage[m] == ROUNDS:
            _end_round(X, sieve, members, board, m)
        elif board.stage[m] != DONE:
            board.stage[m] = DONE
            board.settled[m] = True
        board.opened[m] = True
        busy |= board.stage[m] != DONE
    take(board.lock)
    board.complete[group] = 0
    if busy:
        board.taken[group] = 0
    else:
        board.left[0] -= 1
    release(board.lock)


@compiled(inline="always")
def _end_round(X, sieve, members, board, m):
    """End an iteration of a member: add up its changes, move its centres, see if it goes on."""
    place = _place(members, m, np.int64(0))
    add_tree(board.changes, place)
    change = part_of(board.changes, 0, place)
    moved = 0
    for of_run in board.moved[m]:
        moved += of_run
    one = member_of(members, m)
    state = end_round(X, sieve, one, change, moved, board.tols[m], board.spherical)
    board.n_iter[m] += 1
    if state == GOES_ON and board.n_iter[m] < board.max_iter:
        return
    board.converged[m] = state != GOES_ON
    board.settled[m] = state == UNCHANGED
    board.stage[m] = board.next_stage[m]
    if board.stage[m] == SETTLE and board.settled[m]:
        board.stage[m] = DONE


def sums_of_squares(board: Board) -> NDArray[np.float64]:
    """Each member's sum of squares, after `FINISH`."""
    return add_in_tree(board.squares.T)
