"""Members that are not sure: memberships of objects in clusters, as mixtures and topics give them.

>>> soft = SoftEnsemble([[[0.9, 0.1], [0.2, 0.8], [0.0, 1.0]], [0, 0, 1]])
>>> soft
SoftEnsemble(n_objects=3, n_members=2, n_clusters=2..2, noise=0, unseen=0)
>>> soft.labels.T.tolist()
[[0, 1, 1], [0, 0, 1]]
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience import _ensemble_store
from consilience._labels import NOISE, UNSEEN, encode, is_frame, smallest_type
from consilience._optional import optional
from consilience._validation import same_length
from consilience.ensemble import Ensemble, Labels, Record, Signatures, _chosen
from consilience.errors import InvalidInputError

__all__ = ["SoftEnsemble", "distinct_memberships"]

Floats = NDArray[np.float64]

# Rows that sum to 1 up to the first are taken to do so, since memberships in files are rounded;
# up to the second they do, and nothing is divided.
_ROUNDED, _EXACT = 1e-4, 1e-9


class SoftEnsemble(Ensemble):
    """Memberships of n objects in the clusters of any number of members; immutable.

    An `Ensemble` whose members are not sure: its ``labels`` are the clusters that objects are most
    likely in, and what knows memberships goes by ``memberships``: `co_association`, `confidence`
    and the consensus methods whose ``soft`` is True in the table of methods. Everything else
    refuses, unless all memberships are 0 or 1: then they are labels.

    Parameters
    ----------
    members : list of members, mapping of names to members, or Ensemble
        Each an array, frame or sparse matrix of shape (n_objects, n_clusters) of numbers of at
        least 0 whose rows sum to 1. What is missing of a row to 1 is noise, so that a row of zeros
        is an object in no cluster; a row of NaN is an object that the member did not see. One
        column of labels, as `Ensemble` takes it, counts as memberships of 0 and 1.
    index : sequence, optional
        One identifier an object; that of the first pandas frame if not given.
    names : sequence of str, optional
        One name a member.
    records : sequence of mappings, optional
        How each member was made.

    Attributes
    ----------
    labels : ndarray of shape (n_objects, n_members)
        The most likely cluster, the first on ties; noise where that is more likely than any. They
        name columns of the member's memberships: a cluster that is nobody's most likely is a gap.
    memberships : ndarray of shape (n_objects, n_clusters of all members), float64
        Members side by side; 0 where a member did not see the object. Read-only.

    Notes
    -----
    Memory 8 n times the clusters of all members. Rows that sum to 1 within 0.0001 are divided by
    their sum; clusters that nobody is in are left out.

    Examples
    --------
    >>> soft = SoftEnsemble({"mixture": [[0.5, 0.4], [np.nan, np.nan]], "labels": ["a", "b"]})
    >>> soft.n_clusters.tolist(), soft.labels.T.tolist()
    ([2, 2], [[0, -2], [0, 1]])
    >>> soft.of_member(0)
    array([[0.5, 0.4],
           [nan, nan]])
    """

    is_soft: ClassVar[bool] = True

    memberships: Floats
    _widths: NDArray[np.int64]

    def __init__(
        self,
        members: Any,
        *,
        index: Sequence[Any] | NDArray[Any] | None = None,
        names: Sequence[str] | None = None,
        records: Sequence[Record] = (),
    ) -> None:
        if isinstance(members, Ensemble):
            index = members.index if index is None else index
            names = members.names if names is None else names
            records = records or members.records
        tables, own_names, ids = _tables(members)
        index, names = (ids if index is None else index), (own_names if names is None else names)
        self._store(tables, index, names, records)

    def _store(
        self,
        tables: Sequence[tuple[Floats, Labels]],
        index: Any,
        names: Any,
        records: Sequence[Record],
    ) -> None:
        """Keep tables of memberships, without clusters that nobody is in, and their labels."""
        widths = np.array([table.shape[1] for table, _ in tables], np.int64)
        kind = smallest_type(int(widths.max()))
        self._set(np.stack([labels for _, labels in tables]).astype(kind), index, names, records)
        whole = np.concatenate([table for table, _ in tables], axis=1)
        whole.flags.writeable = False
        object.__setattr__(self, "memberships", whole)
        object.__setattr__(self, "_widths", widths)

    @classmethod
    def _of(
        cls,
        memberships: Floats,
        widths: NDArray[np.int64],
        unseen: NDArray[np.bool_],
        index: Any = None,
        names: Any = None,
        records: Sequence[Record] = (),
    ) -> "SoftEnsemble":
        """From memberships side by side that were checked, and who was not seen by whom."""
        edges = np.concatenate([[0], np.cumsum(widths)])
        tables = [
            _with_labels(memberships[:, a:b], hidden)
            for a, b, hidden in zip(edges[:-1], edges[1:], unseen.T, strict=True)
        ]
        made = cls.__new__(cls)
        made._store(tables, index, names, records)
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        parts = (self.memberships, self._widths, self._unseen, self.index, self.names, self.records)
        return SoftEnsemble._of, parts

    # ---- what it is -------------------------------------------------------------------

    @property
    def n_clusters(self) -> NDArray[np.int64]:
        """Number of clusters of each member."""
        return self._widths

    @cached_property
    def _unseen(self) -> NDArray[np.bool_]:
        return np.ascontiguousarray(self.labels == UNSEEN)

    @cached_property
    def _is_hard(self) -> bool:
        return bool(((self.memberships == 0.0) | (self.memberships == 1.0)).all())

    def _crisp(self) -> Ensemble:
        """The same as labels, where all memberships are 0 or 1."""
        return self.harden() if self._is_hard else self

    def harden(self) -> Ensemble:
        """The labels alone: of each object the cluster it is most likely in.

        Examples
        --------
        >>> SoftEnsemble([[[0.6, 0.4], [0.1, 0.2]]]).harden().labels.tolist()
        [[0], [-1]]
        """
        return Ensemble(self.labels, index=self.index, names=self.names, records=self.records)

    def of_member(self, member: int) -> Floats:
        """Memberships of one member, (n_objects, its clusters); NaN where it did not see."""
        edges = self.offsets()
        member = range(self.n_members)[member]
        table = self.memberships[:, edges[member] : edges[member + 1]].copy()
        table[self._unseen[:, member]] = np.nan
        return table

    def __repr__(self) -> str:
        return f"Soft{super().__repr__()}"

    def _never_placed(self) -> NDArray[np.bool_]:
        return np.asarray(~self.memberships.any(axis=1))

    def _has_more_rows(self, k: int, look: int) -> bool:
        return len(distinct_memberships(self.memberships[:look], self._unseen[:look])[0]) > k

    # ---- parts of it ------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        """One member's labels for a number; a soft ensemble of some members otherwise."""
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return self.members[key]
        chosen, edges = _chosen(key, self.n_members, "member"), self.offsets()
        columns = np.concatenate([np.arange(edges[m], edges[m + 1]) for m in chosen])
        return SoftEnsemble._of(
            self.memberships[:, columns],
            self._widths[chosen],
            self._unseen[:, chosen],
            self.index,
            None if self.names is None else [self.names[m] for m in chosen],
            [self.records[m] for m in chosen] if self.records else (),
        )

    def take(self, objects: Any) -> "SoftEnsemble":
        """The same members on some objects (numbers or a mask), clusters renumbered."""
        return self._in_order(_chosen(objects, self.n_objects, "object"))

    def _in_order(self, order: NDArray[np.integer[Any]]) -> "SoftEnsemble":
        index = None if self.index is None else self.index[order]
        rows, unseen = self.memberships[order], self._unseen[order]
        return SoftEnsemble._of(rows, self._widths, unseen, index, self.names, self.records)

    def distinct_members(self) -> "SoftEnsemble":
        """The members without copies of earlier ones, in order; renamed copies go as well."""
        kept: dict[bytes, int] = {}
        for member in range(self.n_members):
            table = self.of_member(member)
            order = np.lexsort(table[::-1]) if table.shape[1] else slice(None)
            kept.setdefault(table[:, order].tobytes(), member)
        chosen: SoftEnsemble = self[list(kept.values())]
        return chosen

    @classmethod
    def concatenate(cls, ensembles: Iterable[Ensemble]) -> "SoftEnsemble":
        """All members of several ensembles of the same objects, in order, as memberships."""
        parts = [one if isinstance(one, SoftEnsemble) else cls(one) for one in ensembles]
        # What goes with the members is put together, and checked, as that of labels is.
        whole = super().concatenate([one.harden() for one in parts])
        return cls._of(
            np.concatenate([one.memberships for one in parts], axis=1),
            np.concatenate([one._widths for one in parts]),
            np.concatenate([one._unseen for one in parts], axis=1),
            whole.index,
            whole.names,
            whole.records,
        )

    def __radd__(self, other: Any) -> "SoftEnsemble":
        if not isinstance(other, Ensemble):
            return NotImplemented
        return SoftEnsemble.concatenate([other, self])

    # ---- views of it ------------------------------------------------------------------

    def indicator(self) -> sparse.csr_array:
        """Objects x all clusters of all members: the memberships, sparse."""
        return sparse.csr_array(self.memberships)

    def signatures(self, *, n_jobs: int | None = None) -> Signatures:
        """Distinct rows of memberships, the row of each object, and how many objects have it."""
        first, inverse, counts = distinct_memberships(self.memberships, self._unseen)
        rows = SoftEnsemble._of(
            self.memberships[first],
            self._widths,
            self._unseen[first],
            names=self.names,
            records=self.records,
        )
        return Signatures(rows, inverse, counts)

    # ---- in and out -------------------------------------------------------------------

    def _columns(self) -> tuple[list[str], Floats]:
        """Columns ``member:cluster`` and their values, NaN where a member did not see."""
        members = self._stored().column_names()
        names = [f"{m}:{c}" for m, k in zip(members, self._widths, strict=True) for c in range(k)]
        values = np.where(np.repeat(self._unseen, self._widths, axis=1), np.nan, self.memberships)
        return names, values

    def to_pandas(self) -> Any:
        """A pandas frame, one column ``member:cluster`` a cluster; unseen is NaN."""
        pandas = optional("pandas", extra=None, what="SoftEnsemble.to_pandas")
        names, values = self._columns()
        return pandas.DataFrame(values, index=self.index, columns=names)

    def to_polars(self) -> Any:
        """A polars frame, one column ``member:cluster`` a cluster; unseen is NaN."""
        polars = optional("polars", extra=None, what="SoftEnsemble.to_polars")
        names, values = self._columns()
        return polars.DataFrame(dict(zip(names, values.T, strict=True)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write to ``.npz``."""
        stored = replace(self._stored(), soft=(self.memberships, self._widths))
        _ensemble_store.save(stored, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "SoftEnsemble":
        """Read what `save` wrote, or `Ensemble.save`: labels are memberships of 0 and 1."""
        stored = _ensemble_store.load(path)
        with_it = stored.index, stored.names, stored.records
        if stored.soft is None:
            labels = Ensemble(stored.members.T)
            return cls(labels, index=with_it[0], names=with_it[1], records=with_it[2])
        memberships, widths = stored.soft
        unseen = stored.members.T == UNSEEN
        if memberships.shape != (len(unseen), widths.sum()) or len(widths) != unseen.shape[1]:
            raise InvalidInputError(f"{str(path)!r} is damaged: its parts do not fit together.")
        for number, table in enumerate(np.split(memberships, np.cumsum(widths)[:-1], axis=1)):
            _check_values(table, np.isnan(table), table.sum(axis=1), f"Member {number}")
        return cls._of(memberships, widths, unseen, *with_it)


def _tables(members: Any) -> tuple[list[tuple[Floats, Labels]], list[str] | None, Any]:
    """Checked memberships and labels of each member, the members' names, and the index."""
    names = None
    if isinstance(members, Ensemble):
        each: list[Any] = list(members)
    elif isinstance(members, Mapping):
        names, each = [str(name) for name in members], list(members.values())
    elif isinstance(members, list | tuple):
        each = list(members)
    else:
        raise InvalidInputError(
            "The 'members' parameter of SoftEnsemble must be a list of membership matrices, "
            f"n_objects x clusters each. Got {type(members).__name__} instead. Put a single matrix "
            "into a list."
        )
    if not each:
        raise InvalidInputError("members must hold at least one member. Got none.")
    ids = next((one.index for one in each if is_frame(one) and hasattr(one, "index")), None)
    tables = [_checked(one, number) for number, one in enumerate(each)]
    same_length([len(labels) for _, labels in tables], what="The members of a soft ensemble")
    if not tables[0][1].size:
        raise InvalidInputError("members must hold at least one object. Got none.")
    return tables, names, ids


def _checked(member: Any, number: int) -> tuple[Floats, Labels]:
    """One member: memberships with 0 where it did not see an object, and its labels."""
    what = f"Member {number}"
    if sparse.issparse(member):
        member = member.toarray()
    try:
        values = np.asarray(member)
    except ValueError as error:  # rows of different lengths
        raise InvalidInputError(f"{what} must be a table of numbers: {error}.") from error
    if values.ndim == 1:
        return _of_labels(member, what)
    if values.ndim != 2 or not values.shape[1] or values.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"{what} must be n_objects x clusters of numbers, or one column of labels. Got shape "
            f"{values.shape} of type {values.dtype} instead."
        )
    table = values.astype(np.float64)
    gaps = np.isnan(table)
    unseen = np.asarray(gaps.all(axis=1))
    table[unseen] = 0.0
    sums = table.sum(axis=1)
    _check_values(table, gaps & ~unseen[:, None], sums, what)
    off = np.abs(sums - 1.0)
    near = (off <= _ROUNDED) & (off > _EXACT)
    table[near] /= sums[near, None]
    return _with_labels(table, unseen)


def _check_values(table: Floats, gaps: NDArray[np.bool_], sums: Floats, what: str) -> None:
    """Refuse what cannot be memberships."""
    for wrong, message in (
        (gaps, "has NaN for some clusters of the object and numbers for others"),
        (~np.isfinite(table), "has a membership that is not finite"),
        (table < 0, "has a negative membership"),
        (sums > 1.0 + _ROUNDED, "has memberships that sum to more than 1"),
    ):
        if wrong.any():
            row = int(np.argmax(wrong.reshape(len(table), -1).any(axis=1)))
            raise InvalidInputError(
                f"{what} {message}, in row {row}: {np.round(table[row], 6).tolist()}. Rows of a "
                "member must sum to 1, less what is noise, and hold NaN only where it did not see "
                "the object. Divide weights by their sum in a row."
            )


def _of_labels(labels: Any, what: str) -> tuple[Floats, Labels]:
    """Labels as memberships of 0 and 1."""
    codes = encode(labels, what=f"Labels of {what[:1].lower()}{what[1:]}")
    table = np.zeros((len(codes), int(codes.max(initial=-1)) + 1))
    placed = np.flatnonzero(codes >= 0)
    table[placed, codes[placed]] = 1.0
    return table, codes


def _with_labels(table: Floats, unseen: NDArray[np.bool_]) -> tuple[Floats, Labels]:
    """Memberships in the clusters that somebody is in, and the most likely of these."""
    used = table.any(axis=0)
    table = table if used.all() else np.ascontiguousarray(table[:, used])
    if not table.shape[1]:
        return table, np.where(unseen, UNSEEN, NOISE)
    labels = table.argmax(axis=1)
    noise = 1.0 - table.sum(axis=1) > table.max(axis=1)
    return table, np.where(unseen, UNSEEN, np.where(noise, NOISE, labels))


def distinct_memberships(
    memberships: Floats, unseen: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """First object of each distinct row, the row of each object, the rows' objects.

    As `group_rows` of labels: rows are numbered as they first appear.
    """
    whole = np.ascontiguousarray(np.concatenate([memberships + 0.0, unseen], axis=1))
    keys = whole.view(np.dtype((np.void, whole.shape[1] * whole.itemsize))).ravel()
    _, first, inverse, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse.ravel()], counts[order]
