"""The whole job for tables that are not in memory: gone through in blocks, looked at by a sample.

Members are made of all objects, and all objects are combined and judged, block by block. What a
person looks at (how many groups, what makes them, the report) comes from objects drawn at random,
which are in memory; the result says how many they are.
"""

import json
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._maps import let_go
from consilience._optional import optional
from consilience._validation import memory_in_bytes
from consilience.consensus import CONSENSUS, BlockConsensus, combine_blocks, default_method
from consilience.consensus.large import check_by_rows
from consilience.datasets import Table
from consilience.datasets._files import CSV_ENDINGS, TEXT_ENDINGS
from consilience.datasets._large import is_large_path, is_text_path, open_rows
from consilience.datasets._scale import Scaling, standardise
from consilience.engines import releasing, watched
from consilience.engines import workers_at as dask_workers_at
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError, MissingPackageError, warn
from consilience.explain import Profile
from consilience.generate import RunFolder, default_generator, with_defaults
from consilience.predict import Prediction
from consilience.predict._by_blocks import (
    SAMPLE,
    drawn,
    members_of_sample,
    models_of_sample,
    placed_by_blocks,
)
from consilience.predict._hashes import row_hashes
from consilience.predict._seen import Seen
from consilience.rows import Rows, Stored, here, is_dask, stored_rows
from consilience.workflow._choosing import Number, by_lines
from consilience.workflow._data import Data
from consilience.workflow._faces import face
from consilience.workflow._job import Job
from consilience.workflow._members import make_members
from consilience.workflow._notes import noting
from consilience.workflow.cluster_result import ClusterResult

__all__ = [
    "LargeResult",
    "all_or_nothing",
    "cluster_large",
    "does_not_fit",
    "in_words",
    "names_of",
    "part_names",
    "sample_data",
    "sample_of",
    "watched",
    "workers_at",
    "write_columns",
    "write_part",
]

# Objects that are looked at in memory, and that a part of the results holds.
_SAMPLE = SAMPLE
_PART = 2**20
# A job in memory takes about so many bytes an object, for each column and each member; less than
# so much is always read.
_A_COLUMN, _A_MEMBER, _ALWAYS_READ = 48, 8, 2**28


@dataclass(frozen=True, kw_only=True)
class LargeTask:
    """What is asked for, once it is known to be usable."""

    n_clusters: int | None
    max_clusters: int | None
    method: str | None
    options: dict[str, Any]
    generator: Any
    n_members: int
    scale: Any
    seed: int
    n_jobs: int | None
    run: RunFolder | None
    max_memory: Any
    said: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LargeResult:
    """What `cluster` found in a table that is not in memory.

    Attributes
    ----------
    labels, confidence, runner_up : arrays of shape (n_objects,)
        As in `ClusterResult`, of all objects: in memory, maps of files where they are many, or
        Dask arrays with the blocks of X, if that is one.
    n_clusters : int
    sizes : list of int
        Objects in each cluster.
    asked : int or None
        Clusters asked for.
    method, why_method, why_members : str
        The consensus method that was taken, why, and where the members come from.
    n_rows : int
        Distinct rows of labels: what the method worked on.
    ensemble : Ensemble
        The members of all objects.
    sample : ClusterResult
        The same answer for objects drawn at random, ``sample.ids`` of the table, in memory: the
        number of groups, the profile, the report and predictions come from these.
    columns, dropped : tuple of str
        Columns that were used, and constant ones that were left out.
    seed, notes, seconds
        As in `ClusterResult`.
    """

    labels: Any
    confidence: Any
    runner_up: Any
    n_clusters: int
    sizes: list[int]
    asked: int | None
    method: str
    why_method: str
    why_members: str
    n_rows: int
    ensemble: Ensemble
    sample: ClusterResult
    columns: tuple[str, ...]
    dropped: tuple[str, ...]
    seed: int
    notes: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def n_objects(self) -> int:
        """Objects of the table."""
        return self.ensemble.n_objects

    @cached_property
    def of_how_many(self) -> str:
        """How many objects the sample has, in words."""
        return in_words(self.sample.n_objects, self.n_objects)

    def predict(self, X: Any, *, n_jobs: int | None = None) -> Prediction:
        """Where new objects belong, as the sample tells; see `ClusterResult.predict`.

        A path, a Dask array and what `consilience.open_rows` opened are gone through in blocks;
        what there is one of for each object then lies in files where they are many.
        """
        rows = rows_in_blocks(X)
        if rows is None:
            return self.sample.predict(X, n_jobs=n_jobs)
        return _predicted_by_blocks(self.sample, rows, n_jobs)

    def mean_confidences(self) -> list[float]:
        """Mean confidence in each cluster, over all of its objects."""
        sums = np.zeros(self.n_clusters)
        for some in _parts(self.n_objects):
            labels = here(self.labels[some])
            inside = labels >= 0
            sure = here(self.confidence[some]).astype(np.float64)
            sums += np.bincount(labels[inside], sure[inside], self.n_clusters)
        return [float(total / max(size, 1)) for total, size in zip(sums, self.sizes, strict=True)]

    def timings(self) -> dict[str, Any]:
        """All that differs between equal runs."""
        return {"seconds": self.seconds}

    def profile(self, **options: Any) -> Profile:
        """What makes the groups, as the sample tells; see `ClusterResult.profile`."""
        return self.sample.profile(**options)

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write the report of the sample; it says of how many objects that is."""
        self.sample.report(Path(path), title=title)

    def explore(self, *, host: str = "127.0.0.1", port: int = 0, browser: bool = True) -> Any:
        """Look closer at the sample; see `ClusterResult.explore`."""
        return face("explore").explore(self, host=host, port=port, browser=browser)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Any:
        """In a notebook the explorer of the sample."""
        return face("explore").shown(self)

    def to_dict(self) -> dict[str, Any]:
        """All of it but what there is one of for each object, as values that JSON can hold."""
        return {
            "n_objects": self.n_objects,
            "n_clusters": self.n_clusters,
            "sizes": self.sizes,
            "asked": self.asked,
            "method": self.method,
            "why_method": self.why_method,
            "why_members": self.why_members,
            "n_members": self.ensemble.n_members,
            "distinct_rows": self.n_rows,
            "columns": list(self.columns),
            "columns_left_out": list(self.dropped),
            "looked_at": self.of_how_many,
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def save(self, folder: str | PathLike[str]) -> None:
        """Write labels in parts, ``labels/part-0001.parquet``, ``summary.json`` and the sample.

        A part holds 1,048,576 objects: their numbers, labels, confidence and runner-up (``.npz``
        where pyarrow is not installed). ``sample`` is a folder for `consilience.load`. The folder
        must not be there, or be empty. The summary is written last: with it, all is there.
        """
        with all_or_nothing(folder) as target:
            for number, name in enumerate(part_names(self.n_objects)):
                write_part(self, number, target / name)
            self.sample.save(target / "sample")
            text = json.dumps(self.to_dict(), indent=2, default=str)
            (target / "summary.json").write_text(text + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        lines = [
            ("objects", f"{self.n_objects:,}, {len(self.columns)} columns"),
            ("clusters", f"{self.n_clusters}, of {', '.join(f'{n:,}' for n in self.sizes[:10])}"),
            ("method", f"{self.method} on {self.n_rows:,} distinct rows. {self.why_method}"),
            ("members", f"{self.ensemble.n_members}. {self.why_members}"),
            ("looked at", self.of_how_many),
            *(("note", note) for note in self.notes),
            ("see", "labels, confidence, sample, predict(X), report(path), save(folder)"),
        ]
        return "\n".join(["LargeResult:", *(f"  {name:<11}{words}" for name, words in lines)])


@contextmanager
def all_or_nothing(folder: str | PathLike[str]) -> Iterator[Path]:
    """A folder, new or empty, with room for ``labels``; emptied again by whatever goes wrong."""
    target = Path(folder)
    was_there = target.exists()
    if was_there and (not target.is_dir() or any(target.iterdir())):
        raise InvalidInputError(
            f"The folder {str(target)!r} is not empty. Name one that is new or empty."
        )
    (target / "labels").mkdir(parents=True)
    try:
        yield target
    except BaseException:  # a full disk, for one: nothing that is half there stays
        with suppress(OSError):
            for path in target.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()
            if not was_there:
                target.rmdir()
        raise


def in_words(n_sample: int, n_objects: int) -> str:
    """How many of the objects are looked at.

    >>> in_words(7, 7), in_words(7, 1234)
    ('all 7 objects', '7 of 1,234 objects, drawn at random')
    """
    if n_sample == n_objects:
        return f"all {n_objects:,} objects"
    return f"{n_sample:,} of {n_objects:,} objects, drawn at random"


def part_names(n_objects: int) -> list[str]:
    """Files of the labels of so many objects, in order: Parquet, or archives without pyarrow."""
    try:
        optional("pyarrow", extra="store", what="Parts in Parquet")
        ending = "parquet"
    except MissingPackageError:
        ending = "npz"
    n_parts = len(_parts(n_objects))
    return [f"labels/part-{number:04d}.{ending}" for number in range(1, n_parts + 1)]


def write_part(result: LargeResult, number: int, path: Path) -> None:
    """Write one part of the labels; the ending of the path says as what."""
    names = ("labels", "confidence", "runner_up")
    write_columns({name: getattr(result, name) for name in names}, result.n_objects, number, path)


def write_columns(values: dict[str, Any], n_objects: int, number: int, path: Path) -> None:
    """Write one part of arrays that have a value an object, with the numbers of the objects."""
    some = _parts(n_objects)[number]
    columns = {"object": np.arange(some.start, some.stop)}
    columns |= {name: here(array[some]) for name, array in values.items()}
    let_go(*values.values())  # those of the part before
    if path.suffix == ".npz":
        np.savez(path, allow_pickle=False, **columns)
        return
    arrow = optional("pyarrow", extra="store", what="Parts in Parquet")
    parquet = optional("pyarrow.parquet", extra="store", what="Parts in Parquet")
    parquet.write_table(arrow.table(columns), path)


def _parts(n_objects: int) -> list[slice]:
    return [slice(a, min(a + _PART, n_objects)) for a in range(0, n_objects, _PART)]


def rows_in_blocks(X: Any) -> Rows | None:
    """Rows that are gone through in blocks; None where X is to be in memory."""
    if isinstance(X, Rows):
        return X if X.is_stored else None
    if is_dask(X) or (isinstance(X, str | PathLike) and is_large_path(X)):
        return open_rows(X)
    return None


def _predicted_by_blocks(sample: ClusterResult, rows: Rows, n_jobs: int | None) -> Prediction:
    """New objects placed block by block, each as a table with the names of its columns."""

    def place(block: NDArray[Any]) -> Prediction:
        if rows.names is None:
            return sample.predict(block, n_jobs=n_jobs)
        named = Table(block, rows.names, None, None, "", Path())
        return sample.predict(named, n_jobs=n_jobs)

    return placed_by_blocks(rows.values, place)


@contextmanager
def workers_at(where: str, n_workers: int | None = None, *, max_memory: Any) -> Iterator[Any]:
    """The workers of a scheduler, or local ones that together take so much memory."""
    memory = memory_in_bytes(max_memory, owner="workers_at")
    with dask_workers_at(where, n_workers, memory) as client:
        yield client


def does_not_fit(
    path: Path, n_members: int, max_memory: Any, *, owner: str, name: str = "--max-memory"
) -> str | None:
    """Why a file is gone through in blocks, in words; None where it fits into memory.

    A guess by its rows and columns of what the job would take in memory, which is the same on
    every machine: so is the result.
    """
    budget = memory_in_bytes("4 GiB" if max_memory is None else max_memory, owner=owner, name=name)
    if not is_large_path(path):
        return None
    if path.is_dir() and not _holds_rows(path):
        return None
    known = (*CSV_ENDINGS, *TEXT_ENDINGS)
    if path.is_dir() or (is_text_path(path) and not path.name.lower().endswith(known)):
        return f"{path.name!r} is read block by block, as all files of its kind are."
    try:
        n, d = _guessed_shape(path)
    except (OSError, ValueError, MissingPackageError):
        return None  # whoever reads it says what is wrong
    needed = n * (_A_COLUMN * d + _A_MEMBER * n_members)
    if needed <= max(budget, _ALWAYS_READ):
        return None
    return (
        f"{path.name!r} has about {n:,} rows of {d} columns, which would take some "
        f"{needed / 2**30:.1f} GiB in memory, more than the {budget / 2**30:.3g} GiB of {name}: it "
        "is read block by block, and looked at by a sample."
    )


def _holds_rows(folder: Path) -> bool:
    """Whether a folder is a table: of zarr, or of Parquet files."""
    return folder.suffix.lower() == ".zarr" or any(folder.glob("*.parquet"))


def _guessed_shape(path: Path) -> tuple[int, int]:
    """Rows and columns of a file, about, of text by its first lines."""
    if path.suffix.lower() == ".parquet":
        parquet = optional("pyarrow.parquet", extra="store", what="Reading '.parquet' files")
        facts = parquet.ParquetFile(path).metadata
        return facts.num_rows, facts.num_columns
    if not is_text_path(path):
        return stored_rows(path).shape
    packed = path.name.lower().endswith(".gz")
    size = path.stat().st_size * (4 if packed else 1)
    if packed:
        return size // 80, 10
    with path.open("rb") as file:
        lines = file.read(2**16).splitlines()
    some = lines[1:-1] or lines
    if not some:
        raise ValueError(f"{path.name!r} is empty")
    width = max(sum(map(len, some)) / max(len(some), 1), 1) + 1
    columns = max((some[0].count(mark) for mark in (b",", b";", b"\t", b"|")), default=0) + 1
    return int(size / width), columns


def cluster_large(
    rows: Rows, task: LargeTask, *, owner: str, callbacks: Sequence[Any]
) -> LargeResult:
    """The whole job of `cluster` for rows that are not in memory."""
    method = _method(task, rows)
    job = Job(owner, 4).told_to(callbacks)

    def work(job: Job) -> dict[str, Any]:
        with job.stage("prepare"):
            table, columns, dropped, scaling = _prepared(rows, task.scale)
        number = Number(task.n_clusters)
        few = CONSENSUS[method].few_clusters and task.generator is None
        if few and task.n_clusters is None:
            number = _number(job, task, table, None)
        generator, why = _generator(task, table, number.n_clusters if few else None)
        with job.stage("generate", generator):
            ensemble = make_members(generator, Rows(table), task.run)
        objects = sample_of(table.shape[0], task.seed)
        part = members_of_sample(ensemble, objects)
        if number.n_clusters is None:
            number = _number(job, task, table, (objects, part))
        assert number.n_clusters is not None  # given, or found above
        with job.stage("consensus"):
            consensus = combine_blocks(
                ensemble,
                number.n_clusters,
                method,
                max_memory=task.max_memory,
                random_state=task.seed,
                n_jobs=task.n_jobs,
                **task.options,
            )
        made = getattr(generator, "models_", None)
        models = models_of_sample(made, ensemble.members, objects)
        data = sample_data(rows, objects, columns, dropped, scaling)
        return {
            "found": consensus,
            "ensemble": ensemble,
            "why_members": why,
            "number": number,
            "sample": (data, part, objects, models),
            "columns": columns,
            "dropped": dropped,
        }

    with noting() as notes, releasing(rows.values):
        done = job.run(work)
    return _result(rows.values, task, method, done, (*task.said, *notes), job.seconds)


def _method(task: LargeTask, rows: Rows) -> str:
    """The method that is named, if it can; or the one for so many objects."""
    if task.method is not None:
        check_by_rows(task.method)
        return task.method
    return default_method(max(len(rows), 10**6), task.n_members).name


def _prepared(
    rows: Rows, scale: Any
) -> tuple[Stored, tuple[str, ...], tuple[str, ...], Scaling | None]:
    """The table as it is clustered, the names of its columns, and what was done to it."""
    names = names_of(rows)
    if not scale:
        return rows.values, names, (), None
    return standardise(rows.values, names, what=rows.values.what)


def _generator(task: LargeTask, table: Stored, n_groups: int | None) -> tuple[Any, str]:
    """What makes the members, and why."""
    if task.generator is not None:
        wanted = with_defaults(task.generator, task.seed, task.n_jobs)
        return wanted, f"{type(wanted).__name__}, as asked."
    taken = default_generator(
        *table.shape,
        n_members=task.n_members,
        random_state=task.seed,
        n_jobs=task.n_jobs,
        n_groups=n_groups,
    )
    return taken.generator, f"{taken.name}. {taken.why}"


def sample_of(n_objects: int, seed: int) -> NDArray[np.int64]:
    """Objects to look at."""
    return drawn(n_objects, seed, _SAMPLE)


def _number(
    job: Job,
    task: LargeTask,
    table: Stored,
    members: tuple[NDArray[np.int64], Ensemble] | None,
) -> Number:
    """The number of groups that `AutoConsensus` finds in a sample."""
    with job.stage("number of clusters"):
        some = sample_of(table.shape[0], task.seed) if members is None else members[0]
        warn(f"The number of groups was looked for in {len(some):,} of {table.shape[0]:,} objects.")
        return by_lines(
            Rows(table.take(some)),
            None if members is None else members[1],
            most=task.max_clusters,
            effort="default",
            seed=task.seed,
            n_jobs=task.n_jobs,
        )


def names_of(rows: Rows) -> tuple[str, ...]:
    """Names of the columns; numbered where they have none."""
    return rows.names or tuple(f"c{j}" for j in range(rows.shape[1]))


def sample_data(
    rows: Rows,
    objects: NDArray[np.int64],
    columns: tuple[str, ...],
    dropped: tuple[str, ...] = (),
    scaling: Scaling | None = None,
) -> Data:
    """The objects that are looked at, as a job in memory has them."""
    original = rows.values.take(objects)
    n, whole = len(objects), len(rows)
    name = rows.values.what.strip("'")
    return Data(
        n,
        original if scaling is None else scaling.applied(original),
        columns,
        dropped,
        ids=objects,
        name=name if n == whole else f"{name}, {n:,} of {whole:,} objects",
        standardised=scaling is not None,
        original=original,
        original_columns=names_of(rows),
        scaling=scaling,
    )


def _result(
    table: Stored,
    task: LargeTask,
    method: str,
    done: dict[str, Any],
    notes: tuple[str, ...],
    seconds: dict[str, float],
) -> LargeResult:
    consensus: BlockConsensus = done["found"]
    data, part, objects, models = done["sample"]
    named = task.method is not None
    why = "As asked." if named else "It takes time linear in the distinct rows of labels."
    about: dict[str, Any] = {
        "asked": task.n_clusters,
        "method": method,
        "why_method": why,
        "why_members": done["why_members"],
        "seed": task.seed,
        "notes": notes,
        "seconds": seconds,
    }
    hashes = None if data.scaling is None else row_hashes(data.original)
    sample = ClusterResult(
        data=data,
        labels=np.array(consensus.labels[objects]),
        confidence=consensus.confidence[objects].astype(np.float64),
        runner_up=np.array(consensus.runner_up[objects]),
        choice=done["number"].choice,
        clarity=None,
        alternatives=(),
        paper=CONSENSUS[method].paper,
        parameters={"n_clusters": done["number"].n_clusters, **task.options},
        comparison=None,
        ensemble=part,
        generator=None,
        agreement=None,
        lifetimes=None,
        tree=None,
        seen=Seen(data.X, models, hashes),
        **about,
    )
    return LargeResult(
        labels=table.in_its_blocks(consensus.labels),
        confidence=table.in_its_blocks(consensus.confidence),
        runner_up=table.in_its_blocks(consensus.runner_up),
        n_clusters=consensus.n_clusters,
        sizes=sizes_of(consensus.labels, consensus.n_clusters),
        n_rows=consensus.n_rows,
        ensemble=done["ensemble"],
        sample=sample,
        columns=done["columns"],
        dropped=done["dropped"],
        **about,
    )


def sizes_of(labels: NDArray[np.int32], n_clusters: int) -> list[int]:
    """Objects in each cluster, counted part by part.

    >>> sizes_of(np.array([0, 2, -1, 2]), 4)
    [1, 0, 2, 0]
    """
    sizes = np.zeros(n_clusters, np.int64)
    for some in _parts(len(labels)):
        own = here(labels[some])
        sizes += np.bincount(own[own >= 0], minlength=n_clusters)
        let_go(labels)
    return [int(size) for size in sizes]


def refuse_in_memory_only(given: dict[str, tuple[Any, Any]], *, owner: str) -> None:
    """Refuse parameters of `cluster` that need data in memory: name -> value and default."""
    for name, (value, default) in given.items():
        same = value is default or (isinstance(value, str | bool) and value == default)
        if not same:
            raise InvalidParameterError(
                f"The {name!r} parameter of {owner} needs data in memory. Leave it out, or read a "
                "table that fits into memory with consilience.datasets.read_table."
            )
