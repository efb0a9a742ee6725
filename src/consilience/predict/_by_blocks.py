"""Tables larger than memory: a sample that new objects are placed by, and places by blocks."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience.engines import label_room
from consilience.ensemble import Ensemble
from consilience.generate.models import Centres, centres_of
from consilience.predict._prediction import Prediction
from consilience.rows import Stored

__all__ = ["SAMPLE", "drawn", "members_of_sample", "models_of_sample", "placed_by_blocks"]

#: Objects that stand for a table that is not in memory.
SAMPLE = 20_000

_KINDS = {
    "labels": np.int32,
    "confidence": np.float64,
    "runner_up": np.int32,
    "unlike": np.bool_,
    "known": np.bool_,
}


def drawn(n_objects: int, seed: int, most: int = SAMPLE) -> NDArray[np.int64]:
    """Objects drawn at random to stand for all, in order; all of them where they are few.

    >>> drawn(3, 0), len(drawn(10**6, 0))
    (array([0, 1, 2]), 20000)
    """
    if n_objects <= most:
        return np.arange(n_objects)
    return np.sort(np.random.default_rng(seed).choice(n_objects, most, replace=False))


def models_of_sample(
    models: Sequence[Centres | None] | None, members: NDArray[Any], objects: NDArray[np.int64]
) -> tuple[Centres | None, ...] | None:
    """Centres of the members' clusters that objects of the sample are in; None without."""
    if models is None:
        return None
    return tuple(
        None
        if model is None
        else centres_of(model.values, own, features=model.features, unit=model.unit)
        for model, own in zip(models, _of_sample(members, objects), strict=True)
    )


def members_of_sample(ensemble: Ensemble, objects: NDArray[np.int64]) -> Ensemble:
    """The members on objects of the sample, as `Ensemble.take`."""
    labels = np.stack(list(_of_sample(ensemble.members, objects)), axis=1)
    return Ensemble(labels, names=ensemble.names, records=ensemble.records)


def _of_sample(members: NDArray[Any], objects: NDArray[np.int64]) -> Iterator[NDArray[Any]]:
    """Labels of one member after another: objects of a sample lie on all pages of a map."""
    for own in members:
        yield own[objects]
        let_go(own)


def placed_by_blocks(table: Stored, place: Callable[[Any], Prediction]) -> Prediction:
    """The objects of a stored table as a function of rows places them, piece by piece.

    Arrays have the blocks of the table: of a Dask array they are Dask arrays.
    """
    rooms = {name: label_room((len(table),), kind) for name, kind in _KINDS.items()}
    notes: list[str] = []
    for start, stop in table.pieces():
        prediction = place(table.read(start, stop))
        for name, room in rooms.items():
            room[start:stop] = getattr(prediction, name)
        let_go(*rooms.values())
        notes += [note for note in prediction.notes if note not in notes]
    whole: dict[str, Any] = {name: table.in_its_blocks(room) for name, room in rooms.items()}
    return Prediction(**whole, notes=tuple(notes))
