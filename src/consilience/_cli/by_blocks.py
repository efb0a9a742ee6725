"""Tables that do not fit, for any command: whether they go by blocks, by whom, and how opened."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any

from consilience._cli.arguments import flag
from consilience.datasets import open_rows
from consilience.errors import InvalidParameterError, warn
from consilience.workflow.large import does_not_fit, workers_at

__all__ = ["check_by_blocks", "goes_by_blocks", "memory_of", "opened", "workers_for"]

# How a table is read that must be in memory.
_READING = (
    "truth_column",
    "columns",
    "impute",
    "encode",
    "ordinal",
    "encoding",
    "sheet",
    "layer",
    "transpose",
)


def goes_by_blocks(wish: Any, *, n_values: int, owner: str) -> str | None:
    """Why a table is gone through in blocks, in words; None where it is read whole.

    Parameters
    ----------
    wish : ClusterWish or MinorityWish
    n_values : int
        Numbers that the job keeps of every object beside its columns, about: its clusterings.
    owner : str
        The command, for messages.
    """
    if wish.workers is not None and wish.scheduler not in (None, "local"):
        raise InvalidParameterError(
            f"--workers makes workers on this machine, and --scheduler {wish.scheduler} has its "
            "own. Give one of them, or --scheduler local."
        )
    if wish.workers is not None and wish.workers < 1:
        raise InvalidParameterError(f"--workers must be at least 1. Got {wish.workers} instead.")
    if wish.data is None:
        if wish.scheduler is None and wish.workers is None:
            return None
        raise InvalidParameterError("--scheduler and --workers need data. Name a file.")
    if wish.scheduler is not None or wish.workers is not None:
        return f"It is read block by block by the workers of {wish.scheduler or 'local'!r}."
    if getattr(wish, "labels", None) is not None:
        return None
    return does_not_fit(wish.data, n_values, wish.max_memory, owner=owner)


def check_by_blocks(wish: Any, names: Sequence[str], why: str) -> None:
    """Refuse options of these names, and of how tables are read, that need all objects in memory.

    Parameters
    ----------
    wish : ClusterWish or MinorityWish
    names : sequence of str
    why : str
        Why the table is gone through in blocks.
    """
    plain = type(wish)()
    given = [name for name in names if getattr(wish, name) != getattr(plain, name)]
    given += [n for n in _READING if getattr(wish.reading, n) != getattr(plain.reading, n)]
    if given:
        raise InvalidParameterError(
            f"{why} {flag(given[0])} needs a table in memory. Leave it out, or raise --max-memory "
            "where the machine has more."
        )


def memory_of(wish: Any) -> str:
    """Memory for the job."""
    return "4 GiB" if wish.max_memory is None else str(wish.max_memory)


@contextmanager
def workers_for(wish: Any) -> Iterator[bool]:
    """Workers for what happens inside, if any are asked for; whether there are."""
    asked = wish.scheduler is not None or wish.workers is not None
    where, memory = wish.scheduler or "local", memory_of(wish)
    with workers_at(where, wish.workers, max_memory=memory) if asked else nullcontext():
        yield asked


def opened(wish: Any, by_workers: bool) -> Any:
    """The rows of the table, which stay where they are."""
    left_out, named = [*wish.reading.ignore], wish.reading.id_column not in (None, "none")
    if named:
        left_out.append(str(wish.reading.id_column))
        warn(f"Parts number objects by row: {wish.reading.id_column!r} is not in them.")
    return open_rows(
        wish.data,
        ignore=[part for name in left_out for part in name.split(",")],
        decimal=wish.reading.decimal,
        on_workers=by_workers,
    )
