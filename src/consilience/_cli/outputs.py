"""The files a run leaves: labels and a summary, both written whole or not at all."""

import csv
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from consilience import __version__
from consilience._cli.folders import LABELS, SUMMARY
from consilience._cli.run import Outcome
from consilience._files import written_whole
from consilience.datasets import write_labels

__all__ = [
    "outcome_writers",
    "summarise",
    "write_files",
    "write_table",
]


def outcome_writers(outcome: Outcome) -> dict[str, Callable[[Path], None]]:
    """The files of a run by name, each with the function that writes it to a path."""
    ids = None if outcome.input.ids is None else outcome.input.ids.tolist()
    text = json.dumps(summarise(outcome), indent=2, allow_nan=False, default=str) + "\n"

    def write_summary(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return {
        LABELS: lambda path: write_labels(path, ids, outcome.labels, outcome.confidence),
        SUMMARY: write_summary,
    }


def write_files(folder: Path, writers: Mapping[str, Callable[[Path], None]]) -> list[Path]:
    """Write several files into a folder so that all of them appear, or none.

    The folder is made if need be, and taken away again if it stays empty.
    """
    made = _make_folder(folder)
    try:
        with ExitStack() as stack:
            partial = {name: stack.enter_context(written_whole(folder / name)) for name in writers}
            for name, write in writers.items():
                write(partial[name])
    except BaseException:
        for parent in made:
            if not any(parent.iterdir()):
                parent.rmdir()
        raise
    return [folder / name for name in writers]


def _make_folder(folder: Path) -> list[Path]:
    """Make a folder; those that were missing, the innermost first."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    return missing


def write_table(path: Path, *, header: list[str], columns: Sequence[Any]) -> None:
    """Write columns as a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(zip(*(np.asarray(column).tolist() for column in columns), strict=True))


def summarise(outcome: Outcome) -> dict[str, Any]:
    """What ``summary.json`` says: plain numbers and text only."""
    options, given, confidence = outcome.options, outcome.input, outcome.confidence
    return {
        "consilience": __version__,
        "command": options.command(),
        "options": {k: str(v) if isinstance(v, Path) else v for k, v in asdict(options).items()},
        "data": {
            "n_objects": given.n_objects,
            "columns": list(given.columns),
            "columns_left_out": list(given.dropped),
            "standardised": bool(options.scale and given.X is not None),
        },
        "ensemble": {
            "n_members": outcome.ensemble.n_members,
            "n_clusters_smallest": int(outcome.ensemble.n_clusters.min()),
            "n_clusters_largest": int(outcome.ensemble.n_clusters.max()),
            "from": "k-means" if options.labels is None else str(options.labels),
        },
        "method": {
            "name": outcome.method.name,
            "paper": outcome.method.paper,
            "parameters": outcome.parameters,
        },
        "seed": options.seed,
        "n_clusters": outcome.n_clusters,
        "n_clusters_chosen_by": "user" if options.n_clusters else "method",
        "n_clusters_candidates": outcome.candidates(),
        "cluster_sizes": outcome.sizes,
        "n_noise": int((outcome.labels < 0).sum()),
        "mean_confidence": None if confidence is None else round(float(confidence.mean()), 6),
        "least_sure": outcome.least_sure(10),
        "agreement_with_truth": outcome.agreement,
        "seconds": outcome.seconds,
        "warnings": list(outcome.notes),
    }
