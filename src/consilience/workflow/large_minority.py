"""Minority clustering of tables that are not in memory: scores of all objects, written in parts."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from consilience.engines import releasing
from consilience.minority import EWOCS
from consilience.minority.thresholds import Threshold
from consilience.rows import Rows, here
from consilience.workflow._job import Job
from consilience.workflow._members import RunFolder, keeping_something
from consilience.workflow._notes import noting
from consilience.workflow.large import (
    all_or_nothing,
    in_words,
    names_of,
    part_names,
    write_columns,
)

__all__ = ["LargeMinorityResult", "minority_large", "write_part"]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LargeMinorityResult:
    """What `minority_groups` found in a table that is not in memory.

    Attributes
    ----------
    labels : array of shape (n_objects,), int32
        -1 for the background, 0, 1, ... for the groups; a Dask array with the blocks of X, if
        that is one, as the others.
    scores, undecided : arrays of shape (n_objects,)
    n_clusters, n_foreground : int
    sizes : list of int
        Objects in each group.
    rule : Threshold
        The border, and why it is there. It is set by all scores: its rank is exact. That of
        "reference" compares objects drawn at random with data without groups, as in memory.
    model : EWOCS
        As it was fitted; it scores and places new objects, also by blocks.
    sample : MinorityResult
        The same answer for objects drawn at random, ``sample.data.ids`` of the table, in memory:
        what the report shows.
    columns : tuple of str
    seed, notes, seconds
        As in `MinorityResult`.
    """

    labels: Any
    scores: Any
    undecided: Any
    n_clusters: int
    n_foreground: int
    sizes: list[int]
    rule: Threshold
    model: EWOCS
    sample: Any
    columns: tuple[str, ...]
    seed: int
    notes: tuple[str, ...]
    seconds: dict[str, float]

    @property
    def n_objects(self) -> int:
        """Objects of the table."""
        return len(self.model.scores_)

    @property
    def of_how_many(self) -> str:
        """How many objects the sample has, in words."""
        return in_words(self.sample.n_objects, self.n_objects)

    def page(
        self, *, title: str | None = None, about: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """What the report of the sample shows; see `MinorityResult.page`."""
        page: dict[str, Any] = self.sample.page(title=title, about=about)
        return page

    def report(self, path: str | PathLike[str], *, title: str | None = None) -> None:
        """Write the report of the sample; it says of how many objects that is."""
        self.sample.report(Path(path), title=title)

    def timings(self) -> dict[str, Any]:
        """All that differs between equal runs."""
        return {"seconds": self.seconds}

    def to_dict(self) -> dict[str, Any]:
        """All of it but what there is one of for each object, as values that JSON can hold."""
        return {
            "n_objects": self.n_objects,
            "n_foreground": self.n_foreground,
            "group_sizes": self.sizes,
            "threshold": float(self.rule.value) if np.isfinite(self.rule.value) else None,
            "rule": self.rule.method,
            "why": self.rule.why,
            "flag": self.model.flag_,
            "p_value": self.model.p_value_,
            "repetitions": self.model.n_repetitions_,
            "reliability": self.model.reliability_,
            "columns": list(self.columns),
            "looked_at": self.of_how_many,
            "seed": self.seed,
            "notes": list(self.notes),
        }

    def save(self, folder: str | PathLike[str]) -> None:
        """Write scores and groups in parts, ``labels/part-0001.parquet``, and ``summary.json``.

        The folder must not be there, or be empty. The summary is written last.
        """
        with all_or_nothing(folder) as target:
            for number, name in enumerate(part_names(self.n_objects)):
                write_part(self, number, target / name)
            text = json.dumps(self.to_dict(), indent=2, default=str)
            (target / "summary.json").write_text(text + "\n", encoding="utf-8")

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size:,}" for size in self.sizes[:10]) or "none"
        lines = [
            ("objects", f"{self.n_objects:,}, {len(self.columns)} columns"),
            ("foreground", f"{self.n_foreground:,} objects, in groups of {sizes}"),
            ("border", self.rule.why),
            *(("note", note) for note in self.notes),
            ("looked at", self.of_how_many),
            ("see", "labels, scores, undecided, model, sample, report(path), save(folder)"),
        ]
        text = (f"  {name:<12}{words}" for name, words in lines)
        return "\n".join(["LargeMinorityResult:", *text])


def write_part(result: LargeMinorityResult, number: int, path: Path) -> None:
    """Write one part of the scores and groups; the ending of the path says as what."""
    columns = {"score": result.scores, "group": result.labels, "undecided": result.undecided}
    write_columns(columns, result.n_objects, number, path)


def minority_large(
    rows: Rows,
    model: EWOCS,
    sampled: Callable[[Rows, EWOCS, tuple[str, ...]], Any],
    *,
    owner: str,
    seed: int,
    said: Sequence[str],
    callbacks: Sequence[Any],
    run: RunFolder | None = None,
) -> LargeMinorityResult:
    """The whole job of `minority_groups` for rows that are not in memory.

    ``sampled(rows, model, notes)`` tells the answer for some of them.
    """
    job = Job(owner, 1).told_to(callbacks)

    def work(job: Job) -> None:
        with job.stage("score", model), keeping_something(run):
            model.fit(rows, checkpoint=run)

    with noting() as notes, releasing(rows.values):
        job.run(work)
    told = (*said, *notes)
    labels = here(model.labels_)
    inside = labels[labels >= 0]
    return LargeMinorityResult(
        labels=model.labels_,
        scores=model.scores_,
        undecided=model.undecided_,
        n_clusters=model.n_clusters_,
        n_foreground=model.n_foreground_,
        sizes=[int(size) for size in np.bincount(inside, minlength=model.n_clusters_)],
        rule=model.threshold_result_,
        model=model,
        sample=sampled(rows, model, told),
        columns=names_of(rows),
        seed=seed,
        notes=told,
        seconds=job.seconds,
    )
