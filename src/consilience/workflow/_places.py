"""Where the stages of a job ran, and advice where another place would have been faster."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from consilience._validation import DEVICE, check_value
from consilience.errors import warn
from consilience.rows import device_of_data

__all__ = ["GAINS", "advise", "chosen_device", "in_words", "place_of_members", "place_of_stage"]

#: How many times as fast a card is as 16 cores of its machine, in whole calls with NumPy in and
#: out: 1,000,000 objects by 100 members (single link 50,000, other links 10,000 objects; EWOCS
#: 100,000). `docs/gpu.md` has the seconds, `benchmarks/gpu_stages.py` measures them.
GAINS: Mapping[str, float] = MappingProxyType(
    {
        "generate": 14.4,
        "score": 17.6,
        "object weights": 8.9,
        "anco": 7.1,
        "confidence": 2.5,
        "labels of all objects": 2.8,
        "kcc": 1.1,
        "sec": 1.1,
        "eac": 4.2,  # single link; average 1.2, complete 0.5
    }
)
# About ten times: below, the way to a card and back is no way to go.
_WORTH_THE_WAY = 9.5

# Numbers of a table, times clusterings, below which starting a card takes longer than the work.
_WORTH_A_CARD = 10**8


def chosen_device(X: Any, device: Any, *, owner: str) -> str | None:
    """The device that was asked for, else that of the data; None is the processor."""
    check_value("device", device, DEVICE, owner=owner)
    if device is not None:
        from consilience.engines.torch import device_of

        return str(device_of(device))  # refused here, before anything is done
    return device_of_data(X)


def place_of_stage(stage: str, device: str | None, *, there: bool) -> str | None:
    """Where a stage of a job is done: on its device, or, None, on the processor.

    Parameters
    ----------
    stage : str
        One of `GAINS`; others stay on the processor.
    device : str or None
        That of the job.
    there : bool
        Whether the data lie on it already: then they are worked on there, whatever is gained.

    Examples
    --------
    >>> place_of_stage("generate", "cuda:0", there=False)
    'cuda:0'
    >>> place_of_stage("confidence", "cuda:0", there=False) is None
    True
    """
    return device if there or GAINS.get(stage, 0.0) >= _WORTH_THE_WAY else None


def place_of_members(records: Iterable[Mapping[str, Any]]) -> str:
    """Where members were made; both names where some were made elsewhere, in an earlier run."""
    names = sorted({str(record.get("device", "cpu")) for record in records})
    return " and ".join(names) or "cpu"


def advise(n_objects: int, n_features: int, n_clusterings: int, device: str | None) -> None:
    """Warn where a card was asked for and the processor would be done sooner."""
    if device is None or device.startswith("cpu"):
        return
    if n_objects * n_features * n_clusterings < _WORTH_A_CARD:
        warn(
            f"This job is small for {device}: {n_objects:,} objects by {n_features:,} columns and "
            f"{n_clusterings:,} clusterings are done sooner on the processor. Leave 'device' out."
        )


def in_words(ran_on: Mapping[str, str]) -> str | None:
    """Which stages ran on a device, in a line; None where all ran on the processor.

    >>> in_words({"prepare": "cpu", "generate": "cuda:0", "confidence": "cuda:0"})
    'generate and confidence on cuda:0, the rest on the processor'
    """
    by_place: dict[str, list[str]] = {}
    for stage, place in ran_on.items():
        by_place.setdefault(place, []).append(stage)
    here = by_place.pop("cpu", [])
    if not by_place:
        return None
    parts = [f"{_listed(stages)} on {place}" for place, stages in by_place.items()]
    return ", ".join([*parts, *(["the rest on the processor"] if here else [])])


def _listed(words: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), words[-1]]))
