"""What ``consilience minority`` does: the few dense groups in a majority of noise."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from consilience._cli.arguments import MinorityWish
from consilience._cli.checks import check_common
from consilience._cli.folders import SCORES
from consilience._cli.inputs import Input, gather
from consilience._cli.jobs import Found, Job
from consilience._cli.outputs import write_table
from consilience._cli.show import show_notes, table, tell
from consilience._cli.stages import Clock, noting
from consilience._validation import check_params
from consilience.compare import auc, precision_recall_f1
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.minority import EWOCS, thresholds
from consilience.minority.thresholds import Threshold

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["MINORITY", "Minority", "find"]

_OWNER = "consilience minority"
# Groups of fewer objects on average, and so many of them, are what is left of noise.
_CRUMB, _MANY = 6, 5
# What a rule that looks at the truth would do is shown, but never decides.
_WORDS = {
    "2gauss": "two Gaussians",
    "dist": "nearest to the ideal corner",
    "ngauss+var": "several Gaussians, largest gap of variance",
    "size": "the size given",
    "best": "best F1 (looks at the truth)",
    "ngauss+best": "several Gaussians, best F1 (looks at the truth)",
    "number": "the number given",
}


@dataclass(frozen=True, kw_only=True)
class Minority(Found):
    """The fitted model, and what it was fitted on."""

    name = "minority"
    wish: MinorityWish
    model: EWOCS
    rules: tuple[Threshold, ...]
    truth: NDArray[np.int64] | None
    background: str | None

    def agreement(self) -> dict[str, float] | None:
        """AUC of the scores, and precision, recall and F1 of the foreground, with a truth."""
        if self.truth is None or not 0 < (self.truth > 0).sum() < len(self.truth):
            return None
        hits = precision_recall_f1(self.model.labels_, self.truth)
        return {
            "auc": auc(self.model.scores_, self.truth),
            "precision": hits.precision,
            "recall": hits.recall,
            "f1": hits.f1,
        }

    def facts(self) -> dict[str, Any]:
        """See `Found.facts`."""
        model = self.model
        return {
            "data": self.input.facts(),
            "n_objects": self.input.n_objects,
            "n_foreground": model.n_foreground_,
            "n_undecided": int(model.undecided_.sum()),
            "group_sizes": _sizes(model),
            "threshold": _finite(model.threshold_),
            "flag": model.flag_,
            "why": model.threshold_result_.why,
            "thresholds": [
                {
                    "rule": rule.method,
                    "threshold": _finite(rule.value),
                    "n_foreground": rule.n_foreground,
                    "candidates": [_finite(value) for value in rule.candidates],
                    "why": rule.why,
                }
                for rule in self.rules
            ],
            "repetitions": model.n_repetitions_,
            "reliability": _finite(model.reliability_),
            "converged": model.converged_,
            "background": self.background,
            "agreement_with_truth": self.agreement(),
        }

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Found.writers`."""
        model = self.model
        columns = [
            self.input.identifiers(),
            np.round(model.scores_, 9),
            model.labels_,
            model.undecided_.astype(int),
        ]
        header = ["id", "score", "group", "undecided"]
        return {SCORES: lambda path: write_table(path, header=header, columns=columns)}

    def report(self) -> dict[str, Any]:
        """See `Found.report`."""
        from consilience.report import summarise_minority

        model = self.model
        return summarise_minority(
            model,
            self.input.X,
            ids=self.input.ids,
            truth=None if self.truth is None else self.truth > 0,
            columns=self.input.columns,
            about=self.about(
                Method=f"EWOCS (Gonzàlez & Turmo 2015): {model.n_repetitions_} weak clusterings "
                f"({self.wish.weak}), divergence {self.wish.divergence}, threshold "
                f"{self.wish.threshold}"
            ),
            notes=self.notes,
            title=self.wish.source.name,
            random_state=self.wish.seed,
        )

    def show(self, console: "Console") -> None:
        """See `Found.show`."""
        _show(self, console)


def find(wish: MinorityWish, folder: Path, *, callbacks: Sequence[Any] = ()) -> Minority:
    """Read, score, find the threshold and the groups."""
    model = _model(wish)
    clock = Clock()
    with noting() as notes:
        with clock.stage("read"):
            # EWOCS has its own scaling, which its parameters belong to.
            given = gather(wish.data, None, wish.reading, scale=False)
        truth, background = _truth(wish, given)
        with clock.stage("score"):
            model.set_callbacks(*callbacks).fit(given.X, truth)
        with clock.stage("thresholds"):
            rules = thresholds.every(model.scores_, y=truth, m=model.n_foreground)
        _warn_of_crumbs(model)
    return Minority(
        wish=wish,
        input=given,
        model=model,
        rules=rules,
        truth=truth,
        background=background,
        seconds=clock.seconds,
        notes=tuple(notes),
    )


def _warn_of_crumbs(model: EWOCS) -> None:
    """Warn of a foreground that falls into crumbs, as chance leaves them in plain noise."""
    found, k = model.n_foreground_, model.n_clusters_
    if k >= _MANY and found < _CRUMB * k:
        warnings.warn(
            f"No dense group stands out: the foreground falls into {k} groups of {found / k:.1f} "
            "objects on average, as chance leaves them in noise.",
            ConsilienceWarning,
            stacklevel=2,
        )


def _model(wish: MinorityWish) -> EWOCS:
    """The estimator asked for; refuses what it does not take."""
    check_common(wish, _OWNER)
    if wish.threshold == "size" and wish.n_foreground is None:
        raise InvalidParameterError(
            "--threshold size needs the number or the share of foreground objects. Give it "
            "with --n-foreground."
        )
    if wish.threshold in ("best", "ngauss+best") and wish.reading.truth_column is None:
        raise InvalidParameterError(
            f"--threshold {wish.threshold} looks at the truth. Name its column with "
            "--truth-column, or take 2gauss, dist or ngauss."
        )
    wanted = wish.n_foreground
    made = EWOCS(
        wish.weak,
        divergence=wish.divergence,
        gamma=_number(wish.gamma),
        threshold=_number(wish.threshold),
        n_foreground=int(wanted) if wanted is not None and wanted.is_integer() else wanted,
        n_clusters=wish.n_clusters,
        n_repetitions=_count(wish.repetitions),
        scaling=wish.scaling,
        random_state=wish.seed,
        n_jobs=wish.jobs,
    )
    check_params(made)
    return made


def _truth(wish: MinorityWish, given: Input) -> tuple[NDArray[np.int64] | None, str | None]:
    """Sources as numbers, 0 the background: the value named, else the most frequent one."""
    if given.truth is None:
        return None, None
    names, codes, counts = np.unique(
        np.asarray(given.truth, str), return_inverse=True, return_counts=True
    )
    if wish.background is None:
        zero = int(counts.argmax())
    elif wish.background in names:
        zero = int(np.flatnonzero(names == wish.background)[0])
    else:
        raise InvalidInputError(
            f"--background {wish.background!r} is not a value of column "
            f"{wish.reading.truth_column!r}. Its values are {', '.join(names[:20])}."
        )
    rank = np.arange(1, len(names) + 1)
    rank[zero], rank[zero + 1 :] = 0, np.arange(zero + 1, len(names))
    return rank[codes].astype(np.int64), str(names[zero])


def _show(found: Minority, console: "Console") -> None:
    """Print what was scored, every threshold, the groups, and the agreement with a truth."""
    model = found.model
    tell(console, f"{found.wish.source.name}: {found.input.in_words()}")
    tell(
        console,
        f"Scored by {model.n_repetitions_} weak clusterings ({found.wish.weak}); reliability of "
        f"the scores {model.reliability_:.3f} (1: more clusterings would change nothing).",
    )
    if model.converged_ is False:
        tell(console, "The scores had not settled when the ceiling of repetitions was reached.")
    console.print(_rules_table(found))
    if model.n_foreground_ == 0:
        tell(console, f"No foreground: {model.threshold_result_.why}")
    else:
        _show_groups(found, console)
    scores = found.agreement()
    if scores is not None:
        tell(
            console,
            f"Against column {found.wish.reading.truth_column!r}, background "
            f"{found.background!r}: AUC {scores['auc']:.3f}, precision "
            f"{scores['precision']:.3f}, recall {scores['recall']:.3f}, F1 {scores['f1']:.3f}.",
        )
    show_notes(found.notes, console)


def _rules_table(found: Minority) -> Any:
    lines = table("rule", "", "threshold", "foreground", right=("threshold", "foreground"))
    for rule in found.rules:
        taken = rule.method == found.model.threshold_result_.method
        words = f"{_WORDS.get(rule.method, '')}{', taken' if taken else ''}"
        value = f"{rule.value:.5g}" if np.isfinite(rule.value) else "none"
        lines.add_row(rule.method, words, value, str(rule.n_foreground), style="bold" * taken)
    return lines


def _show_groups(found: Minority, console: "Console") -> None:
    model = found.model
    n, undecided = found.input.n_objects, int(model.undecided_.sum())
    tell(
        console,
        f"{model.n_foreground_} of {n} objects are foreground ({model.n_foreground_ / n:.1%}), in "
        f"{model.n_clusters_} group{'s' * (model.n_clusters_ != 1)}; {undecided} are too close "
        "to the threshold to be sure.",
    )
    lines = table("group", "objects", "mean score", right=("objects", "mean score"))
    for group, size in enumerate(_sizes(model)):
        mean = model.scores_[model.labels_ == group].mean()
        lines.add_row(str(group), str(size), f"{mean:.4g}")
    console.print(lines)


def _sizes(model: EWOCS) -> list[int]:
    labels = model.labels_
    return [int(size) for size in np.bincount(labels[labels >= 0], minlength=model.n_clusters_)]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


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


MINORITY = Job("minority", "minority-", SCORES, find)
