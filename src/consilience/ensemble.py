"""The noun every other part speaks: many clusterings of the same objects.

>>> ens = Ensemble([["a", "a", "b", "b"], [0, 1, 1, None]])
>>> ens
Ensemble(n_objects=4, n_members=2, n_clusters=2..2, noise=0, unseen=1)
>>> ens.labels
array([[ 0,  0],
       [ 0,  1],
       [ 1,  1],
       [ 1, -2]], dtype=int8)
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial, wraps
from inspect import signature
from os import PathLike
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience import _ensemble_store
from consilience._labels import NOISE, UNSEEN, columns_of, encode, is_frame, relabel, smallest_type
from consilience._maps import let_go
from consilience._optional import optional
from consilience._validation import same_length
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.kernels.labels.signatures import group_rows

__all__ = [
    "NOISE",
    "UNSEEN",
    "Collapsed",
    "Ensemble",
    "Signatures",
    "check_ensemble",
    "relabel",
    "takes_ensemble",
    "usable_ensemble",
]

Labels = NDArray[np.signedinteger[Any]]
Record = Mapping[str, Any]
F = TypeVar("F", bound=Callable[..., Any])


class Signatures(NamedTuple):
    """Distinct label rows of an ensemble: the rows, where each object went, how many."""

    ensemble: "Ensemble"
    inverse: NDArray[np.int64]
    counts: NDArray[np.int64]


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Ensemble:
    """Labels of n objects by any number of members; immutable.

    Parameters
    ----------
    labels : array of shape (n_objects, n_members), list of labelings, or frame
        One column (or one item of the list) a member. Integers: clusters at least 0,
        -1 for noise (the member saw the object and left it out of every cluster), -2 for
        unseen (the member never saw it). Other hashable labels are numbered as they
        appear; None and NaN mean unseen. A pandas frame's index and a frame's column
        names are kept.
    index : sequence, optional
        One identifier an object.
    names : sequence of str, optional
        One name a member.
    records : sequence of mappings, optional
        How each member was made (algorithm, seed, parameters); generators fill it.

    Attributes
    ----------
    labels : ndarray of shape (n_objects, n_members)
        Clusters of a member are 0..k-1; the narrowest of int8, int16, int32; read-only;
        stored member after member, as the kernels want it.

    Examples
    --------
    >>> ens = Ensemble(np.array([[0, 5], [0, 7], [1, -1]]))
    >>> ens.n_clusters.tolist()
    [2, 2]
    >>> ens[0].tolist()
    [0, 0, 1]
    >>> ens[[1]].n_members
    1
    """

    # Whether members are memberships, of which the labels are the most likely clusters.
    is_soft: ClassVar[bool] = False

    labels: Labels
    index: NDArray[Any] | None
    names: tuple[str, ...] | None
    records: tuple[Record, ...]

    def __init__(
        self,
        labels: Any,
        *,
        index: Sequence[Any] | NDArray[Any] | None = None,
        names: Sequence[str] | None = None,
        records: Sequence[Record] = (),
    ) -> None:
        columns = columns_of(labels)
        if is_frame(labels):
            names = [str(name) for name in labels.columns] if names is None else names
            index = getattr(labels, "index", None) if index is None else index
        # Narrow at once: codes take eight bytes, and all members are held before they are stacked.
        codes = [
            _narrow(encode(column, what=f"labels of member {m}"))
            for m, column in enumerate(columns)
        ]
        if not codes or not codes[0].size:
            raise InvalidInputError(
                "labels must hold at least one object and one member. "
                f"Got {len(codes[0]) if codes else 0} objects and {len(codes)} members."
            )
        same_length([len(code) for code in codes], what="The labelings of an ensemble")
        self._set(np.stack(codes), index, names, records)

    def _set(
        self,
        members: Labels,
        index: Sequence[Any] | NDArray[Any] | None,
        names: Sequence[str] | None,
        records: Sequence[Record],
    ) -> None:
        """Store member-major labels that are already dense, and what goes with them."""
        n_members, n_objects = members.shape
        ids = None if index is None else np.array(index)
        for what, length, wanted in (
            ("index", n_objects if ids is None else len(ids), n_objects),
            ("names", n_members if names is None else len(names), n_members),
            ("records", len(records) or n_members, n_members),
        ):
            if length != wanted:
                raise InvalidInputError(
                    f"{what} must have {wanted} entries, one for each "
                    f"{'object' if what == 'index' else 'member'}. Got {length} instead."
                )
        members = np.ascontiguousarray(members)
        members.flags.writeable = False
        if ids is not None:
            ids.flags.writeable = False
        object.__setattr__(self, "labels", members.T)
        object.__setattr__(self, "index", ids)
        object.__setattr__(self, "names", None if names is None else tuple(map(str, names)))
        object.__setattr__(self, "records", tuple(records))

    @classmethod
    def _trusted(
        cls,
        members: Labels,
        index: Sequence[Any] | NDArray[Any] | None = None,
        names: Sequence[str] | None = None,
        records: Sequence[Record] = (),
    ) -> Self:
        """An ensemble from member-major labels known to be dense and of a signed type."""
        ensemble = cls.__new__(cls)
        ensemble._set(members, index, names, records)
        return ensemble

    def __reduce__(self) -> tuple[Any, ...]:
        return Ensemble._trusted, (np.array(self.members), self.index, self.names, self.records)

    # ---- what it is -------------------------------------------------------------------

    @property
    def members(self) -> Labels:
        """Labels member-major, (n_members, n_objects) and contiguous: what kernels take."""
        return self.labels.T

    @property
    def n_objects(self) -> int:
        """Number of objects."""
        return int(self.labels.shape[0])

    @property
    def n_members(self) -> int:
        """Number of members."""
        return int(self.labels.shape[1])

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each member."""
        return np.maximum(self._highest.astype(np.int64) + 1, 0)

    @property
    def has_unseen(self) -> bool:
        """Whether any member missed any object."""
        return self._lowest <= UNSEEN

    def _crisp(self) -> "Ensemble":
        """The same as labels, where it is no more than that; else itself."""
        return self

    def _never_placed(self) -> NDArray[np.bool_]:
        """Objects that no member put into a cluster."""
        if self._lowest >= 0:
            return np.zeros(self.n_objects, bool)
        return np.asarray((self.members < 0).all(axis=0))

    def _has_more_rows(self, k: int, look: int) -> bool:
        """Whether more than k distinct rows are among the first objects: a quick look."""
        return len(group_rows(np.ascontiguousarray(self.members[:, :look]))[0]) > k

    # Labels never change, and every method asks for these: they are looked for once.
    @cached_property
    def _highest(self) -> Labels:
        return self._of_each(np.max)

    @cached_property
    def _lowest(self) -> int:
        return int(self._of_each(np.min).min())

    def _of_each(self, look: Callable[[Labels], Any]) -> NDArray[Any]:
        """What there is to say of each member, one after the other: they may lie on disk."""
        said = []
        for own in self.members:
            said.append(look(own))
            let_go(own)
        return np.array(said)

    def __repr__(self) -> str:
        k = self.n_clusters
        return (
            f"Ensemble(n_objects={self.n_objects}, n_members={self.n_members}, "
            f"n_clusters={k.min()}..{k.max()}, noise={int((self.members == NOISE).sum())}, "
            f"unseen={int((self.members == UNSEEN).sum())})"
        )

    # ---- parts of it ------------------------------------------------------------------

    def __len__(self) -> int:
        return self.n_members

    def __iter__(self) -> Iterator[Labels]:
        return iter(self.members)

    @overload
    def __getitem__(self, key: int) -> Labels: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> "Ensemble": ...
    def __getitem__(self, key: Any) -> "Labels | Ensemble":
        """One member's labels for a number; an ensemble of some members otherwise."""
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return self.members[key]
        chosen = _chosen(key, self.n_members, "member")
        return Ensemble._trusted(
            self.members[chosen],
            self.index,
            None if self.names is None else [self.names[m] for m in chosen],
            [self.records[m] for m in chosen] if self.records else (),
        )

    def take(self, objects: Any) -> "Ensemble":
        """The same members on some objects (numbers or a mask), clusters renumbered."""
        chosen = _chosen(objects, self.n_objects, "object")
        return Ensemble(
            self.labels[chosen],
            index=None if self.index is None else self.index[chosen],
            names=self.names,
            records=self.records,
        )

    def _in_order(self, order: NDArray[np.integer[Any]]) -> "Ensemble":
        """All objects in another order: clusters keep their numbers."""
        index = None if self.index is None else self.index[order]
        members = np.take(self.members, order, axis=1)
        return Ensemble._trusted(members, index, self.names, self.records)

    def distinct_members(self) -> "Ensemble":
        """The members without copies of earlier ones, in order; renamed copies go as well.

        Ten copies of one clustering outvote nine different ones: where runs of a
        deterministic program were collected, look at them once.

        Examples
        --------
        >>> Ensemble([[0, 0, 1], [5, 5, 2], [0, 1, 1]]).distinct_members().labels.T.tolist()
        [[0, 0, 1], [0, 1, 1]]
        """
        kept: dict[bytes, int] = {}
        for number, labels in enumerate(self):
            kept.setdefault(_by_first_object(labels).tobytes(), number)
        return self[list(kept.values())]

    @classmethod
    def concatenate(cls, ensembles: Iterable["Ensemble"]) -> "Ensemble":
        """All members of several ensembles of the same objects, in order."""
        parts = list(ensembles)
        if not parts:
            raise InvalidInputError("concatenate needs at least one ensemble. Got none.")
        soft = next((type(part) for part in parts if part.is_soft), None)
        if soft is not None:
            return soft.concatenate(parts)
        same_length([part.n_objects for part in parts], what="Ensembles to concatenate")
        known = [part.index for part in parts if part.index is not None]
        if any(not np.array_equal(known[0], other) for other in known):
            raise InvalidInputError(
                "Ensembles to concatenate must have the same index: bring their objects into "
                "the same order with take() first."
            )
        index = known[0] if known else None
        named = all(part.names is not None for part in parts)
        recorded = all(part.records for part in parts)
        return cls._trusted(
            np.concatenate([part.members for part in parts]),
            index,
            [name for part in parts for name in part.names or ()] if named else None,
            [record for part in parts for record in part.records] if recorded else (),
        )

    def __add__(self, other: "Ensemble") -> "Ensemble":
        if not isinstance(other, Ensemble):
            return NotImplemented
        return Ensemble.concatenate([self, other])

    # ---- views of it ------------------------------------------------------------------

    def offsets(self) -> NDArray[np.int64]:
        """First column of each member in `indicator`, and the number of columns last."""
        return np.concatenate([[0], np.cumsum(self.n_clusters)])

    def indicator(self) -> sparse.csr_array:
        """Objects x all clusters of all members, 1 where the object is in the cluster.

        Sparse, one byte an entry; noise and unseen leave a row without an entry for that
        member.
        """
        columns = self.labels.astype(np.int64) + self.offsets()[:-1]
        placed = self.labels >= 0
        starts = np.concatenate([[0], np.cumsum(placed.sum(axis=1))])
        shape = (self.n_objects, int(self.offsets()[-1]))
        ones = np.ones(int(starts[-1]), np.uint8)
        return sparse.csr_array((ones, columns[placed], starts), shape=shape)

    def signatures(self, *, n_jobs: int | None = None) -> Signatures:
        """Distinct label rows, the row of each object, and how many objects have it.

        Exact: rows are hashed, and rows of equal hash are compared label by label. Two
        objects are one signature only if they also agree in noise and unseen. ``n_jobs``
        threads hash; None means one.
        """
        first, inverse, counts = group_rows(self.members, n_jobs)
        if len(first) == self.n_objects and type(self) is Ensemble and self.index is None:
            return Signatures(self, inverse, counts)  # with what is known of it already
        distinct = len(first) == self.n_objects
        labels = self.members if distinct else np.take(self.members, first, axis=1)
        rows = Ensemble._trusted(labels, names=self.names, records=self.records)
        return Signatures(rows, inverse, self._weighed(inverse, counts))

    def _weighed(self, inverse: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many objects groups of these objects stand for: as many as they are."""
        return counts

    # ---- in and out -------------------------------------------------------------------

    def to_pandas(self) -> Any:
        """A pandas frame, one column a member; noise is -1, unseen is -2."""
        pandas = optional("pandas", extra=None, what="Ensemble.to_pandas")
        return pandas.DataFrame(
            self.labels, index=self.index, columns=self._stored().column_names()
        )

    def to_polars(self) -> Any:
        """A polars frame, one column a member; noise is -1, unseen is -2."""
        polars = optional("polars", extra=None, what="Ensemble.to_polars")
        return polars.DataFrame(dict(zip(self._stored().column_names(), self.members, strict=True)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write to ``.parquet`` (needs pyarrow) or ``.npz``, by the path's ending."""
        _ensemble_store.save(self._stored(), path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Ensemble":
        """Read what `save` wrote."""
        stored = _ensemble_store.load(path)
        if stored.soft is not None:
            raise InvalidInputError(
                f"{str(path)!r} holds memberships, not labels. Read it with SoftEnsemble.load."
            )
        return cls(stored.members.T, index=stored.index, names=stored.names, records=stored.records)

    def _stored(self) -> _ensemble_store.Stored:
        return _ensemble_store.Stored(self.members, self.index, self.names, self.records)


class Collapsed(Ensemble):
    """Label rows, each for as many objects as had it, in the order of their first objects.

    All that methods which look at labels alone need of objects that are many more than rows.

    Attributes
    ----------
    counts : ndarray of shape (n_objects,), int64
        Objects that each row stands for.

    Examples
    --------
    >>> rows = Collapsed._of(Ensemble([[0, 1], [0, 0]]), np.array([5, 2]))
    >>> rows.n_objects, rows.signatures().counts.tolist()
    (2, [5, 2])
    """

    counts: NDArray[np.int64]

    @classmethod
    def _of(cls, rows: Ensemble, counts: NDArray[np.int64]) -> "Collapsed":
        """Rows of an ensemble that stand for so many objects each."""
        collapsed = cls._trusted(rows.members, names=rows.names, records=rows.records)
        object.__setattr__(collapsed, "counts", counts)
        return collapsed

    def __reduce__(self) -> tuple[Any, ...]:
        rows = Ensemble._trusted(self.members, names=self.names, records=self.records)
        return Collapsed._of, (rows, self.counts)

    def __getitem__(self, key: Any) -> Any:
        """One member's labels for a number; the rows by some members otherwise."""
        chosen = super().__getitem__(key)
        return Collapsed._of(chosen, self.counts) if isinstance(chosen, Ensemble) else chosen

    def take(self, objects: Any) -> "Collapsed":
        """The same members on some of the rows; see `Ensemble.take`."""
        return Collapsed._of(super().take(objects), self.counts[objects])

    def _weighed(self, inverse: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many objects groups of these rows stand for; whole numbers, so exact."""
        return np.bincount(inverse, self.counts, len(counts)).astype(np.int64)


def _chosen(key: Any, n: int, noun: str) -> NDArray[np.int64]:
    """Numbers of what a key chooses among n members or objects; IndexError as for a list."""
    chosen = np.atleast_1d(np.arange(n)[key])
    if chosen.ndim != 1:
        raise InvalidInputError(
            f"{noun.capitalize()}s are chosen by a number, a slice, or a one-dimensional list or "
            f"mask. Got one of shape {chosen.shape} instead."
        )
    if not chosen.size:
        raise InvalidInputError(f"An ensemble needs at least one {noun}; none was chosen.")
    return chosen


@overload
def takes_ensemble(function: F) -> F: ...
@overload
def takes_ensemble(*, soft: bool) -> Callable[[F], F]: ...
def takes_ensemble(function: Any = None, *, soft: bool = False) -> Any:
    """Decorate a function so that its ``ensemble`` must be an `Ensemble`.

    One of memberships is refused unless the function is ``soft``; memberships that are all 0 or 1
    come as the labels that they are.
    """
    if function is None:
        return partial(takes_ensemble, soft=soft)
    place = list(signature(function).parameters).index("ensemble")

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        # One that is missing is Python's to complain of.
        if len(args) > place:
            given = usable_ensemble(args[place], owner=function.__name__, soft=soft)
            args = (*args[:place], given, *args[place + 1 :])
        elif "ensemble" in kwargs:
            given = usable_ensemble(kwargs["ensemble"], owner=function.__name__, soft=soft)
            kwargs = kwargs | {"ensemble": given}
        return function(*args, **kwargs)

    return checked


def usable_ensemble(
    ensemble: Any,
    *,
    owner: str,
    soft: bool = False,
    remedy: Callable[[], str] = lambda: "co_association or confidence",
) -> Ensemble:
    """The ensemble as a function takes it: as labels, or also as memberships where it is soft.

    ``remedy`` names what takes memberships instead.
    """
    check_ensemble(ensemble, owner=owner)
    usable: Ensemble = ensemble._crisp()
    if usable.is_soft and not soft:
        raise InvalidParameterError(
            f"The 'ensemble' parameter of {owner} must hold labels. Got a SoftEnsemble of "
            f"memberships instead. Take {remedy()}, or give the clusters that objects are most "
            "likely in: ensemble.harden()."
        )
    return usable


def check_ensemble(ensemble: Any, *, owner: str) -> None:
    """Raise `InvalidParameterError` unless it is an `Ensemble`.

    Labels in a list or an array could be meant either way round, so they are not guessed at.
    """
    if not isinstance(ensemble, Ensemble):
        raise InvalidParameterError(
            f"The 'ensemble' parameter of {owner} must be an Ensemble. Got "
            f"{type(ensemble).__name__} instead. Make one of n_objects x n_members labels "
            "with Ensemble(labels)."
        )


def _by_first_object(labels: Labels) -> NDArray[np.int32]:
    """Clusters renumbered as they appear: equal for labelings that differ in names only."""
    names, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    order = np.argsort(np.where(names >= 0, first, -1), kind="stable")
    fresh = np.empty(len(names), np.int32)
    fresh[order] = np.arange(len(names), dtype=np.int32)
    # Noise and unseen come first in the order and keep their own numbers.
    marks = int((names < 0).sum())
    return np.where(names >= 0, fresh - marks, names).astype(np.int32)[codes]


def _narrow(codes: NDArray[Any]) -> Labels:
    """Codes of one member in the narrowest type; a stack of several takes the widest of them."""
    return codes.astype(smallest_type(1 + int(codes.max(initial=-1))))
