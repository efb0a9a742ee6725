"""What ``consilience predict`` does: load a run, read new objects as its data were, say where."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from consilience._cli.folders import (
    RESULTS,
    check_keeps,
    check_place,
    check_source,
    default_folder,
)
from consilience._cli.outputs import write_table
from consilience._cli.show import show_notes, table, tell
from consilience._cli.speech import Speaker
from consilience._files import written_whole
from consilience._words import plural
from consilience.datasets import Table, read_like, read_table
from consilience.datasets._cells import Decimal
from consilience.errors import InvalidParameterError
from consilience.predict import Prediction
from consilience.workflow import ClusterResult, load
from consilience.workflow._new_objects import recipe_of
from consilience.workflow._notes import noting

__all__ = ["predict_new"]


def predict_new(
    run: Path,
    new: Path,
    *,
    out: Path | None,
    force: bool,
    jobs: int | None,
    decimal: Decimal | None,
    encoding: str | None,
) -> None:
    """Place the objects of a file, write where they belong, and say it."""
    target = Path(f"{default_folder(new, 'predict-')}.csv") if out is None else out
    if target.is_dir():
        raise InvalidParameterError(
            f"The results would go to {str(target)!r}, which is a folder. Name a file with --out."
        )
    check_keeps([target], [new, *(run / name for name in RESULTS)], "file")
    if target.exists() and not (force and target.is_file()):
        raise InvalidParameterError(
            f"The results would go to {str(target)!r}, which is there. Replace it with --force, or "
            "name another file with --out."
        )
    check_place(target, "--out")
    check_source(new)
    result = load(run)
    if not isinstance(result, ClusterResult):
        raise InvalidParameterError(
            f"{str(run)!r} keeps the estimator {type(result).__name__}, not a run of 'consilience "
            "cluster'. Load it in Python: consilience.load(folder).predict(X)."
        )
    with noting() as notes:
        objects = _read(new, result, decimal, encoding)
        prediction = result.predict(objects, n_jobs=jobs)
    with written_whole(target) as partial:
        _write(partial, objects, prediction)
    console = Speaker()
    tell(console, f"{new.name}: {prediction.in_words()}.")
    _show(prediction, console)
    show_notes([*dict.fromkeys((*notes, *prediction.notes))], console)
    tell(console, f"Wrote {target}.")
    console.close(f"The results are in {str(target)!r}.")


def _read(new: Path, result: ClusterResult, decimal: Decimal | None, encoding: str | None) -> Table:
    """The file as the first one was read; what is named for it goes first."""
    recipe = recipe_of(result.data)
    if recipe is None:
        return read_table(new, decimal=decimal, encoding=encoding)
    named = replace(recipe, decimal=decimal or recipe.decimal, encoding=encoding or recipe.encoding)
    return read_like(new, named, may_lack=result.data.dropped)


def _write(path: Path, objects: Table, prediction: Prediction) -> None:
    """One line an object; 1 and 0 for yes and no."""
    ids = range(len(prediction)) if objects.ids is None else objects.ids
    columns = {
        "id": ids,
        "cluster": prediction.labels,
        "confidence": [f"{value:.6g}" for value in prediction.confidence.tolist()],
        "runner_up": prediction.runner_up,
        "unlike": prediction.unlike.astype(int),
        "known": prediction.known.astype(int),
    }
    write_table(path, header=list(columns), columns=list(columns.values()))


def _show(prediction: Prediction, console: Speaker) -> None:
    """How many objects fell into each group, how sure, and how many of them are unlike all."""
    lines = table("cluster", "objects", "confidence", "unlike", right=("objects", "confidence"))
    for label in np.unique(prediction.labels).tolist():
        own = prediction.labels == label
        lines.add_row(
            "none" if label < 0 else str(label),
            str(int(own.sum())),
            f"{prediction.confidence[own].mean():.2f}",
            str(int(prediction.unlike[own].sum()) or ""),
        )
    console.print(lines)
    unlike = int(prediction.unlike.sum())
    if unlike:
        tell(
            console,
            f"{plural(unlike, 'object')} {'is' if unlike == 1 else 'are'} unlike anything seen: "
            f"{'its' if unlike == 1 else 'their'} cluster is only the nearest. Of ordinary objects "
            "up to about 1 of 50 are flagged too.",
        )
