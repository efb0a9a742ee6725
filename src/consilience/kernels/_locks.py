"""A lock that compiled code can take, for a few instructions at a time.

Threads that share a list of what is left to do hold it while they look there, a fraction of a
microsecond; whoever waits for longer than that returns to Python and sleeps. As plain Python
(NUMBA_DISABLE_JIT) it is no lock: there, kernels that need one are run by one thread.
"""

from typing import Any

from numba import config, types
from numba.extending import intrinsic
from numba.np.arrayobj import make_array

from consilience.kernels._jit import compiled

__all__ = ["LOCKS_HOLD", "release", "take"]

# Whether threads may rely on it.
LOCKS_HOLD = not config.DISABLE_JIT


def _exchange_in_python(cell: Any, value: int) -> int:
    before = int(cell[0])
    cell[0] = value
    return before


@intrinsic
def _exchange_in_one_step(typingctx, cell, value):
    """Store a value into cell[0], an int64, and return what was there, as one instruction.

    Nothing before it is moved behind it, nor the other way round: what one holder of a lock
    wrote the next one reads.
    """

    def codegen(context, builder, signature, args):
        data = make_array(signature.args[0])(context, builder, args[0]).data
        return builder.atomic_rmw("xchg", data, args[1], "seq_cst")

    return types.int64(cell, types.int64), codegen


_exchange = _exchange_in_one_step if LOCKS_HOLD else _exchange_in_python


@compiled
def take(cell):
    """Wait until the lock is free, and take it. ``cell`` is an int64 array that starts with 0."""
    while _exchange(cell, 1) != 0:
        pass


@compiled
def release(cell):
    """Give the lock back."""
    _exchange(cell, 0)
