"""What ``consilience minority`` does: the few dense groups in a majority of noise."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from consilience import __version__
from consilience._cli.folders import SCORES, SUMMARY
from consilience._cli.inputs import Input, gather
from consilience._cli.outputs import write_table
from consilience._cli.run import COMMON_RULES
from consilience._cli.show import show_notes, table, tell
from consilience._cli.stages import Clock, noting
from consilience._validation import check_params, check_value
from consilience.compare import auc, precision_recall_f1
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.minority import EWOCS, thresholds
from consilience.minority.thresholds import Threshold

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Found", "Wish", "find", "found_writers", "show_found"]

_OWNER = "consilience minority"
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


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user typed after ``consilience minority``."""

    data: Path
    weak: str
    divergence: str
    gamma: str
    threshold: str
    n_foreground: float | None
    n_clusters: int | None
    repetitions: str
    seed: int
    id_column: str | None
    truth_column: str | None
    background: str | None
    scaling: str
    jobs: int | None

    def model(self) -> EWOCS:
        """The estimator asked for; refuses what it does not take."""
        for name in ("n_clusters", "seed", "jobs"):
            value = getattr(self, name)
            if value is not None:
                flag = "-k" if name == "n_clusters" else f"--{name}"
                check_value(flag, value, COMMON_RULES[name], owner=_OWNER)
        if self.threshold == "size" and self.n_foreground is None:
            raise InvalidParameterError(
                "--threshold size needs the number or the share of foreground objects. Give it "
                "with --n-foreground."
            )
        if self.threshold in ("best", "ngauss+best") and self.truth_column is None:
            raise InvalidParameterError(
                f"--threshold {self.threshold} looks at the truth. Name its column with "
                "--truth-column, or take 2gauss, dist or ngauss."
            )
        wanted = self.n_foreground
        made = EWOCS(
            self.weak,
            divergence=self.divergence,
            gamma=_number(self.gamma),
            threshold=_number(self.threshold),
            n_foreground=int(wanted) if wanted is not None and wanted >= 1 else wanted,
            n_clusters=self.n_clusters,
            n_repetitions=_count(self.repetitions),
            scaling=self.scaling,
            random_state=self.seed,
            n_jobs=self.jobs,
        )
        check_params(made)
        return made


@dataclass(frozen=True)
class Found:
    """The fitted model, and what it was fitted on."""

    wish: Wish
    input: Input
    model: EWOCS
    rules: tuple[Threshold, ...]
    truth: NDArray[np.int64] | None
    background: str | None
    seconds: dict[str, float]
    notes: tuple[str, ...]

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


def find(wish: Wish, *, callbacks: Sequence[Any] = ()) -> Found:
    """Read, score, find the threshold and the groups."""
    model = wish.model()
    clock = Clock()
    with noting() as notes:
        with clock.stage("read"):
            # EWOCS has its own scaling, which its parameters belong to.
            given = gather(
                wish.data,
                None,
                id_column=wish.id_column,
                truth_column=wish.truth_column,
                scale=False,
            )
        truth, background = _truth(wish, given)
        with clock.stage("score"):
            model.set_callbacks(*callbacks).fit(given.X, truth)
        with clock.stage("thresholds"):
            rules = thresholds.every(model.scores_, y=truth, m=model.n_foreground)
    return Found(wish, given, model, rules, truth, background, clock.seconds, tuple(notes))


def _truth(wish: Wish, given: Input) -> tuple[NDArray[np.int64] | None, str | None]:
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
            f"--background {wish.background!r} is not a value of column {wish.truth_column!r}. "
            f"Its values are {', '.join(names[:20])}."
        )
    rank = np.arange(1, len(names) + 1)
    rank[zero], rank[zero + 1 :] = 0, np.arange(zero + 1, len(names))
    return rank[codes].astype(np.int64), str(names[zero])


def found_writers(found: Found) -> dict[str, Callable[[Path], None]]:
    """The files of the job by name, each with the function that writes it to a path."""
    model = found.model
    text = json.dumps(_summary(found), indent=2, allow_nan=False, default=str) + "\n"

    def write_scores(path: Path) -> None:
        columns = [
            found.input.identifiers(),
            np.round(model.scores_, 9),
            model.labels_,
            model.undecided_.astype(int),
        ]
        write_table(path, header=["id", "score", "group", "undecided"], columns=columns)

    def write_summary(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return {SCORES: write_scores, SUMMARY: write_summary}


def _summary(found: Found) -> dict[str, Any]:
    model, wish = found.model, found.wish
    return {
        "consilience": __version__,
        "job": "minority",
        "options": {k: str(v) if isinstance(v, Path) else v for k, v in asdict(wish).items()},
        "n_objects": found.input.n_objects,
        "n_foreground": model.n_foreground_,
        "n_undecided": int(model.undecided_.sum()),
        "group_sizes": _sizes(model),
        "threshold": _finite(model.threshold_),
        "why": model.threshold_result_.why,
        "thresholds": [
            {
                "rule": rule.method,
                "threshold": _finite(rule.value),
                "n_foreground": rule.n_foreground,
                "candidates": [_finite(value) for value in rule.candidates],
                "why": rule.why,
            }
            for rule in found.rules
        ],
        "repetitions": model.n_repetitions_,
        "reliability": _finite(model.reliability_),
        "converged": model.converged_,
        "background": found.background,
        "agreement_with_truth": found.agreement(),
        "seconds": found.seconds,
        "warnings": list(found.notes),
    }


def show_found(found: Found, console: "Console") -> None:
    """Print what was scored, every threshold, the groups, and the agreement with a truth."""
    model, n = found.model, found.input.n_objects
    tell(console, f"{found.wish.data.name}: {n} objects, {found.input.X.shape[1]} columns")  # type: ignore[union-attr]
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
            f"Against column {found.wish.truth_column!r}, background {found.background!r}: AUC "
            f"{scores['auc']:.3f}, precision {scores['precision']:.3f}, recall "
            f"{scores['recall']:.3f}, F1 {scores['f1']:.3f}.",
        )
    show_notes(found.notes, console)


def _rules_table(found: Found) -> Any:
    lines = table("rule", "", "threshold", "foreground", right=("threshold", "foreground"))
    for rule in found.rules:
        taken = rule.value == found.model.threshold_ and rule.method.startswith(
            str(found.wish.threshold)
        )
        words = f"{_WORDS.get(rule.method, '')}{', taken' if taken else ''}"
        value = f"{rule.value:.5g}" if np.isfinite(rule.value) else "none"
        lines.add_row(rule.method, words, value, str(rule.n_foreground), style="bold" * taken)
    return lines


def _show_groups(found: Found, console: "Console") -> None:
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
