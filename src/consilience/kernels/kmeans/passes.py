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

from consilience.kernels._blocks import BLOCK_ROWS, add_in_tree, block_edges, n_blocks_of
from consilience.kernels._jit import compiled
from consilience.kernels._locks import LOCKS_HOLD, release, take
from consilience.kernels._parallel import in_turns
from consilience.kernels.kmeans.lloyd import GOES_ON, UNCHANGED, end_round
from consilience.kernels.kmeans.members import (
    CENTRE,
    CLUSTER,
    FEATURE,
    Members,
    member_of,
    open_rows,
    own_rows,
    visit,
)
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

# Cells that all threads share, after the lock: groups that are not done; whether to stop.
_LEFT, _STOP = 1, 2
# Columns of the tables of groups and of members.
_FIRST, _TAKEN, _COMPLETE = 0, 1, 2
_STAGE, _NEXT, _OPENED, _SETTLED, _N_ITER, _CONVERGED = 0, 1, 2, 3, 4, 5


class Board(NamedTuple):
    """What is left to do, and what the passes found; all threads write it.

    Few arrays, as in `Members`: whole numbers are columns of tables.
    """

    shared: NDArray[np.int64]  # (3,)
    # (n_groups + 1, 3): the first member, units of the pass that somebody took, that are complete
    groups: NDArray[np.int64]
    edges: NDArray[np.int64]  # (n_blocks + 1,): where blocks begin among the rows
    run_blocks: int  # a power of two
    n_levels: int  # its logarithm
    n_blocks: int
    n_runs: int
    changes: Parts  # a row a run
    # (n_members, 6): its stage, that after its rounds, whether its rows were opened, whether its
    # labels are those of its centres, its iterations, whether it converged
    states: NDArray[np.int64]
    moved: NDArray[np.int64]  # (n_members, n_runs)
    squares: NDArray[np.float64]  # (n_members, n_blocks)
    tols: NDArray[np.float64]
    max_iter: int
    spherical: bool
    assign_all: bool

    @property
    def n_iter(self) -> NDArray[np.int32]:
        """Iterations of each member."""
        return self.states[:, _N_ITER].astype(np.int32)

    @property
    def converged(self) -> NDArray[np.bool_]:
        """Whether each member converged."""
        return self.states[:, _CONVERGED] > 0


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
    edges: NDArray[np.int64] | None = None,
    threads: int = 1,
) -> Board:
    """A board on which every member stands at ``stage``; ``next_stage`` follows the rounds.

    ``edges`` say where blocks begin, if the rows are some of a larger table (`block_edges`).
    """
    edges = block_edges(n_rows) if edges is None else edges
    n_members, n_blocks = members.n_members, len(edges) - 1
    n_values, n_clusters = int(members.at[-1, CENTRE]), int(members.at[-1, CLUSTER])
    run_blocks = _run_blocks(n_blocks, 16 * n_values + 9 * n_clusters)
    n_runs = -(-n_blocks // run_blocks)
    starts = _groups(members, run_blocks, n_runs, threads)
    groups, states = np.zeros((len(starts), 3), np.int64), np.zeros((n_members, 6), np.int64)
    groups[:, _FIRST] = starts
    states[:, _STAGE] = stage if max_iter or stage != ROUNDS else next_stage
    states[:, _NEXT] = next_stage
    return Board(
        shared=np.array([0, len(starts) - 1, 0], np.int64),
        groups=groups,
        edges=edges,
        run_blocks=run_blocks,
        n_levels=run_blocks.bit_length() - 1,
        n_blocks=n_blocks,
        n_runs=n_runs,
        changes=make_parts(n_runs, n_values, n_clusters),
        states=states,
        moved=np.zeros((n_members, n_runs), np.int64),
        squares=np.zeros((n_members, n_blocks)),
        tols=np.zeros(n_members) if tols is None else tols,
        max_iter=max_iter,
        spherical=spherical,
        assign_all=assign_all,
    )


def finishing_board(
    members: Members,
    n_rows: int,
    assign_all: bool,
    edges: NDArray[np.int64] | None,
    threads: int,
) -> Board:
    """A board for members whose labels of their own objects stand already."""
    board = make_board(
        members, n_rows, stage=FINISH, assign_all=assign_all, edges=edges, threads=threads
    )
    board.states[:, [_OPENED, _SETTLED]] = True
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
    n_members, together = members.n_members, _TOGETHER
    if run_blocks > 1:
        largest = int(np.diff(members.at[:, CENTRE]).max(initial=1))
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
    if board.n_blocks == 0 or members.n_members == 0:
        return
    of_groups = np.diff(members.at[board.groups[:, _FIRST]], axis=0).max(axis=0)
    n_values, n_clusters = int(of_groups[CENTRE]), int(of_groups[CLUSTER])
    n_groups, n_rows = len(board.groups) - 1, board.run_blocks * BLOCK_ROWS
    turn_units = max(1, _BETWEEN // max(1, n_values * n_rows))
    stacked = (n_values, n_clusters) if board.n_levels > 0 else (0, 0)

    def stop() -> None:  # nobody waits for a unit that is not completed
        board.shared[_STOP] = 1

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
        while run < 0 and board.shared[_LEFT] > 0 and board.shared[_STOP] == 0:
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


@compiled
def _next_unit(board, group):
    """A unit that nobody took: of that group if it has one, or of the next that has; -1: none."""
    shared, groups, n_runs = board.shared, board.groups, board.n_runs
    n_groups, chosen, run = groups.shape[0] - 1, group, -1
    take(shared)
    if shared[_STOP] == 0:
        for step in range(n_groups):
            at = (group + step) % n_groups
            if groups[at, _TAKEN] < n_runs:
                chosen, run = at, groups[at, _TAKEN]
                groups[at, _TAKEN] += 1
                break
    release(shared)
    return chosen, run


@compiled
def _was_last(board, group):
    """Note that a unit of a group is complete; whether its pass is."""
    take(board.shared)
    board.groups[group, _COMPLETE] += 1
    last = board.groups[group, _COMPLETE] == board.n_runs
    release(board.shared)
    return last


@compiled
def _unit(X, sieve, members, board, scratch, stack, group, run):
    """One run of blocks for the members of one group."""
    # Fields are taken out of tuples before loops: each time, references are counted.
    states, moved, squares, changes = board.states, board.moved, board.squares, board.changes
    at, edges, n_levels, zero = members.at, board.edges, board.n_levels, np.int64(0)
    first, last = board.groups[group, _FIRST], board.groups[group + 1, _FIRST]
    start_block = run * board.run_blocks
    stop_block = min(start_block + board.run_blocks, board.n_blocks)
    for m in range(first, last):
        moved[m, run] = 0
    for block in range(start_block, stop_block):
        start, stop = edges[block], edges[block + 1]
        for m in range(first, last):
            stage = states[m, _STAGE]
            if stage == DONE:
                continue
            one = member_of(members, m)
            # Where the block is the run, its changes are the run's; else they go by the stack.
            parts, row, origin = (stack, n_levels, first) if n_levels > 0 else (changes, run, zero)
            place = _place(at, m, origin)
            part = part_of(parts, row, place)
            if not states[m, _OPENED]:
                open_rows(one, start, stop)
            look = not states[m, _SETTLED]
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
                out = part_of(changes, run, _place(at, m, zero))
                push(stack, place, n_levels, block - start_block, out)
    if n_levels > 0:
        for m in range(first, last):
            if states[m, _STAGE] == ROUNDS:
                out = part_of(changes, run, _place(at, m, zero))
                flush(stack, _place(at, m, first), n_levels, out)


@compiled
def _place(at, m, first):
    """Where a member's changes are, among those of the members from ``first`` on."""
    return (
        at[m, CENTRE] - at[first, CENTRE],
        at[m, CLUSTER] - at[first, CLUSTER],
        at[m + 1, CLUSTER] - at[m, CLUSTER],
        at[m + 1, FEATURE] - at[m, FEATURE],
    )


@compiled
def _squares(X, one, start, stop):
    """Sum of the squared distances of a member's own objects in a block to their centres."""
    features, centres, labels = one.features, one.centres, one.labels
    whole, rows = one.whole, one.rows
    total = 0.0
    first, last = own_rows(one, start, stop)
    for a in range(first, last):
        i = a if whole else rows[a]
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


@compiled
def _end_pass(X, sieve, members, board, group):
    """Take the members of a group to their next stage, and open its next pass if there is one."""
    busy, groups, states, shared = False, board.groups, board.states, board.shared
    for m in range(groups[group, _FIRST], groups[group + 1, _FIRST]):
        if states[m, _STAGE] == ROUNDS:
            _end_round(X, sieve, members, board, m)
        elif states[m, _STAGE] != DONE:
            states[m, _STAGE] = DONE
            states[m, _SETTLED] = True
        states[m, _OPENED] = True
        busy |= states[m, _STAGE] != DONE
    take(shared)
    groups[group, _COMPLETE] = 0
    if busy:
        groups[group, _TAKEN] = 0
    else:
        shared[_LEFT] -= 1
    release(shared)


@compiled
def _end_round(X, sieve, members, board, m):
    """End an iteration of a member: add up its changes, move its centres, see if it goes on."""
    place, state = _place(members.at, m, np.int64(0)), board.states[m]
    add_tree(board.changes, place)
    change = part_of(board.changes, np.int64(0), place)
    moved = 0
    for of_run in board.moved[m]:
        moved += of_run
    one = member_of(members, m)
    end = end_round(X, sieve, one, change, moved, board.tols[m], board.spherical)
    state[_N_ITER] += 1
    if end == GOES_ON and state[_N_ITER] < board.max_iter:
        return
    state[_CONVERGED] = end != GOES_ON
    state[_SETTLED] = end == UNCHANGED
    state[_STAGE] = state[_NEXT]
    if state[_STAGE] == SETTLE and state[_SETTLED]:
        state[_STAGE] = DONE


def sums_of_squares(board: Board) -> NDArray[np.float64]:
    """Each member's sum of squares, after `FINISH`."""
    return add_in_tree(board.squares.T)
