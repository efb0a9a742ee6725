"""What ``consilience minority`` does: the few dense groups in a majority of noise."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._cli.arguments import MinorityWish
from consilience._cli.by_blocks import goes_by_blocks
from consilience._cli.checks import check_common
from consilience._cli.folders import SCORES
from consilience._cli.inputs import read
from consilience._cli.jobs import Answer, Job
from consilience._cli.large_minority import find_large
from consilience._cli.members import run_in
from consilience._cli.outputs import write_table
from consilience._cli.show import show_notes, show_places, table, tell
from consilience._validation import memory_in_bytes
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.workflow import MinorityResult, minority_groups
from consilience.workflow._places import chosen_device
from consilience.workflow.minority import check_minority

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["MINORITY", "Minority", "find_any"]

_OWNER = "consilience minority"
# Numbers that are kept of every object: sums, scores, errors, products with seeds.
_VALUES = 16
# What a rule that looks at the truth would do is shown, but never decides.
_WORDS = {
    "reference": "against data without groups",
    "2gauss": "two Gaussians",
    "dist": "nearest to the ideal corner",
    "ngauss+var": "several Gaussians, largest gap of variance",
    "size": "the size given",
    "best": "best F1 (looks at the truth)",
    "ngauss+best": "several Gaussians, best F1 (looks at the truth)",
    "number": "the number given",
}


@dataclass(frozen=True, kw_only=True)
class Minority(Answer):
    """The groups, as the command tells them."""

    name = "minority"
    wish: MinorityWish
    result: MinorityResult

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Answer.writers`."""
        result = self.result
        columns = [
            result.ids,
            np.round(result.scores, 9),
            result.labels,
            result.undecided.astype(int),
        ]
        header = ["id", "score", "group", "undecided"]
        return {SCORES: lambda path: write_table(path, header=header, columns=columns)}

    def report(self) -> dict[str, Any]:
        """See `Answer.report`."""
        return self.result.page(title=self.wish.source.name, about=self.about())

    def show(self, console: "Console") -> None:
        """See `Answer.show`."""
        _show(self, console)


def find_any(wish: MinorityWish, folder: Path, *, callbacks: Sequence[Any] = ()) -> Answer:
    """See `find`; a table that does not fit into memory is gone through in blocks."""
    options = _checked(wish)
    why = goes_by_blocks(wish, n_values=_VALUES, owner=_OWNER)
    if why is not None:
        return find_large(wish, options, folder, why, callbacks=callbacks)
    return find(wish, options, folder, callbacks=callbacks)


def find(
    wish: MinorityWish, options: dict[str, Any], folder: Path, *, callbacks: Sequence[Any] = ()
) -> Minority:
    """Read, score, find the threshold and the groups."""
    was_read = read(wish.data, None, wish.reading)
    given = was_read.input
    _check_background(wish, given.table)
    known = given.table is not None and given.table.truth is not None
    with run_in(folder, wish) as run:
        result = minority_groups(
            given.table,
            background=wish.background if known else None,
            run=run,
            callbacks=callbacks,
            **options,
        )
    assert isinstance(result, MinorityResult)  # a table that was read is in memory
    result = replace(result, **was_read.in_front(result.seconds, result.notes))
    return Minority(wish=wish, result=result)


def _checked(wish: MinorityWish) -> dict[str, Any]:
    """Parameters of the job, once every option is known to be usable."""
    check_common(wish, _OWNER)
    if wish.reading.impute == "keep":
        raise InvalidParameterError(
            f"--impute keep leaves gaps, and {_OWNER} needs every value. Fill them in with "
            "--impute median or mean, or leave out the rows with --impute drop-rows."
        )
    if wish.max_memory is not None:
        memory_in_bytes(wish.max_memory, owner=_OWNER, name="--max-memory")
    chosen_device(None, wish.device, owner=_OWNER)
    if wish.threshold == "size" and wish.n_foreground is None:
        raise InvalidParameterError(
            "--threshold size needs the number or the share of foreground objects. Give it "
            "with --n-foreground."
        )
    if wish.threshold in ("best", "ngauss+best") and wish.reading.truth_column is None:
        raise InvalidParameterError(
            f"--threshold {wish.threshold} looks at the truth. Name its column with "
            "--truth-column, or take reference, 2gauss, dist or ngauss."
        )
    if wish.background is not None and wish.reading.truth_column is None:
        raise InvalidParameterError(
            f"--background {wish.background} is a value of the known groups, and none are given. "
            "Name their column with --truth-column, or leave out --background."
        )
    wanted = wish.n_foreground
    options: dict[str, Any] = {
        "weak": wish.weak,
        "divergence": wish.divergence,
        "gamma": _number(wish.gamma),
        "score": wish.score,
        "threshold": _number(wish.threshold),
        "n_foreground": int(wanted) if wanted is not None and wanted.is_integer() else wanted,
        "n_clusters": wish.n_clusters,
        "n_repetitions": _count(wish.repetitions),
        "scaling": wish.scaling,
        "random_state": wish.seed,
        "n_jobs": wish.jobs,
        "device": wish.device,
    }
    check_minority(**options)
    return options


def _check_background(wish: MinorityWish, table: Any) -> None:
    """Raise if the value that means background is none of the known groups."""
    if wish.background is None or table.truth is None:
        return
    names = np.unique(np.asarray(table.truth, str))
    if wish.background not in names:
        raise InvalidInputError(
            f"--background {wish.background!r} is not a value of column "
            f"{wish.reading.truth_column!r}. Its values are {', '.join(names[:20])}."
        )


def _show(answer: Minority, console: "Console") -> None:
    """Print what was scored, every threshold, the groups, and the agreement with a truth."""
    result, model = answer.result, answer.result.model
    tell(console, answer.data_in_words())
    tell(console, _scored(answer))
    if model.converged_ is False:
        tell(console, "The scores had not settled when the ceiling of repetitions was reached.")
    console.print(_rules_table(result))
    if model.n_foreground_ == 0:
        tested = model.reference_ is not None
        tell(console, f"{'' if tested else 'No foreground: '}{model.threshold_result_.why}")
    else:
        _show_groups(result, console)
    scores = result.agreement
    if scores is not None:
        tell(
            console,
            f"Against column {answer.wish.reading.truth_column!r}, background "
            f"{result.background!r}: AUC {scores['auc']:.3f}, precision "
            f"{scores['precision']:.3f}, recall {scores['recall']:.3f}, F1 {scores['f1']:.3f}"
            f"{result.backwards}.",
        )
    show_places(result.ran_on, console)
    show_notes(result.notes, console)


def _scored(answer: Minority) -> str:
    """What the scores come from."""
    model = answer.result.model
    clusterings = f"{model.n_repetitions_} weak clusterings ({answer.wish.weak})"
    if model.score_by == "knn":
        return f"Scored by distances to the nearest objects; {clusterings} tell groups apart."
    return (
        f"Scored by {clusterings}; reliability of the scores {model.reliability_:.3f} (1: more "
        "clusterings would change nothing)."
    )


def _rules_table(result: MinorityResult) -> Any:
    lines = table("rule", "", "threshold", "foreground", right=("threshold", "foreground"))
    for rule in result.rules:
        taken = result.is_taken(rule)
        words = f"{_WORDS.get(rule.method, '')}{', taken' if taken else ''}"
        value = f"{rule.value:.5g}" if np.isfinite(rule.value) else "none"
        lines.add_row(rule.method, words, value, str(rule.n_foreground), style="bold" * taken)
    return lines


def _show_groups(result: MinorityResult, console: "Console") -> None:
    n, k, close = result.n_objects, result.n_clusters, result.n_undecided
    tell(
        console,
        f"{result.n_foreground} of {n} objects are foreground ({result.n_foreground / n:.1%}), in "
        f"{k} group{'s' * (k != 1)}; {close} {'is' if close == 1 else 'are'} too close to the "
        "threshold to be sure.",
    )
    if result.model.reference_ is not None or result.flag is not None:
        tell(console, result.model.threshold_result_.why)
    lines = table("group", "objects", "mean score", right=("objects", "mean score"))
    for group, size in enumerate(result.sizes):
        lines.add_row(str(group), str(size), f"{result.mean_score(group):.4g}")
    console.print(lines)


def _number(text: str) -> str | float:
    try:
        return float(text)
    except ValueError:
        return text


def _count(text: str) -> str | int:
    try:
        return int(text)
    except ValueError:
        return text


MINORITY = Job("minority", "minority-", SCORES, find_any)
