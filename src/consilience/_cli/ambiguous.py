"""What ``consilience ambiguous`` does: which objects the members cannot agree about."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience import __version__
from consilience._cli.folders import AMBIGUOUS, SUMMARY
from consilience._cli.inputs import Input, gather
from consilience._cli.outputs import write_table
from consilience._cli.run import COMMON_RULES
from consilience._cli.show import show_notes, table, tell
from consilience._cli.stages import Clock, noting
from consilience._validation import check_value
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.evidence import Ambiguity, ambiguous
from consilience.generate import KMeansEnsemble

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["Found", "Wish", "find", "found_writers", "show_found"]

_OWNER = "consilience ambiguous"
_BINS, _WIDTH = 16, 40


@dataclass(frozen=True, slots=True)
class Wish:
    """What the user typed after ``consilience ambiguous``."""

    data: Path | None
    labels: Path | None
    n_clusters: int | None
    members: int
    score: str
    threshold: str
    seed: int
    id_column: str | None
    truth_column: str | None
    scale: bool
    jobs: int | None

    @property
    def source(self) -> Path:
        """The file that names the job: the data, or else the labels."""
        found = self.labels if self.data is None else self.data
        if found is None:
            raise InvalidParameterError(
                f"{_OWNER} needs data or labels. Got neither. Name a file, as in "
                f"'{_OWNER} data.csv -k 3', or give labels you already have with --labels."
            )
        return found

    def limit(self) -> str | float:
        """The threshold as the library takes it: a rule's name, or a number."""
        try:
            return float(self.threshold)
        except ValueError:
            return self.threshold


@dataclass(frozen=True)
class Found:
    """The flags, and what they were found in."""

    wish: Wish
    input: Input
    ensemble: Ensemble
    ambiguity: Ambiguity
    seconds: dict[str, float]
    notes: tuple[str, ...]


def find(wish: Wish, *, callbacks: Sequence[Any] = ()) -> Found:
    """Read, make members unless labels are given, and flag the ambiguous objects."""
    _check(wish)
    clock = Clock()
    with noting() as notes:
        with clock.stage("read"):
            given = gather(
                wish.data,
                wish.labels,
                id_column=wish.id_column,
                truth_column=wish.truth_column,
                scale=wish.scale,
            )
        ensemble = given.ensemble
        if ensemble is None:
            with clock.stage("generate"):
                ensemble = _generator(wish, given).set_callbacks(*callbacks).generate(given.X)
        with clock.stage("ambiguity"):
            flagged = ambiguous(
                ensemble, score=wish.score, threshold=wish.limit(), n_jobs=wish.jobs
            )
    return Found(wish, given, ensemble, flagged, clock.seconds, tuple(notes))


def _check(wish: Wish) -> None:
    """Refuse what can be refused before the data are read."""
    _ = wish.source
    for name in ("n_clusters", "members", "seed", "jobs"):
        value = getattr(wish, name)
        if value is not None:
            flag = "-k" if name == "n_clusters" else f"--{name}"
            check_value(flag, value, COMMON_RULES[name], owner=_OWNER)
    if wish.labels is None and wish.n_clusters is None:
        raise InvalidParameterError(
            f"{_OWNER} needs the number of clusters that each clustering should have. Give it "
            "with -k, for instance -k 3, or give clusterings you already have with --labels."
        )
    # Refuses a score or a rule it does not know, on objects that cost nothing.
    ambiguous(Ensemble([[0, 1], [0, 1]]), score=wish.score, threshold=wish.limit())


def _generator(wish: Wish, given: Input) -> KMeansEnsemble:
    k = int(wish.n_clusters or 0)
    if k > given.n_objects:
        raise InvalidInputError(
            f"-k {k} asks for more clusters than there are objects: {wish.source.name!r} holds "
            f"{given.n_objects}. Take a smaller number."
        )
    # A fifth of the objects each: the members must differ where the data leave room. On four
    # overlapping Gaussians the scores then rank misplaced objects with an AUC of 0.82, against
    # 0.65 with nine tenths.
    share = min(0.9, max(0.2, 10 * k / given.n_objects))
    return KMeansEnsemble(
        wish.members, k, max_samples=share, random_state=wish.seed, n_jobs=wish.jobs
    )


def found_writers(found: Found) -> dict[str, Callable[[Path], None]]:
    """The files of the job by name, each with the function that writes it to a path."""
    flags, scores = found.ambiguity.flags, found.ambiguity.scores
    shown = np.array(["" if np.isnan(score) else f"{score:.6g}" for score in scores])
    text = json.dumps(_summary(found), indent=2, allow_nan=False, default=str) + "\n"

    def write_flags(path: Path) -> None:
        columns = [found.input.identifiers(), shown, flags.astype(int)]
        write_table(path, header=["id", "score", "ambiguous"], columns=columns)

    def write_summary(path: Path) -> None:
        path.write_text(text, encoding="utf-8")

    return {AMBIGUOUS: write_flags, SUMMARY: write_summary}


def _summary(found: Found) -> dict[str, Any]:
    wish, known = found.wish, found.ambiguity
    return {
        "consilience": __version__,
        "job": "ambiguous",
        "options": {k: str(v) if isinstance(v, Path) else v for k, v in asdict(wish).items()},
        "n_objects": found.input.n_objects,
        "n_members": found.ensemble.n_members,
        "n_ambiguous": known.n_flagged,
        "threshold": float(known.threshold) if np.isfinite(known.threshold) else None,
        "rule": known.rule,
        "why": known.why,
        "seconds": found.seconds,
        "warnings": list(found.notes),
    }


def show_found(found: Found, console: "Console") -> None:
    """Print how the scores lie, where the line is and why, and the most ambiguous objects."""
    known, n = found.ambiguity, found.input.n_objects
    made = "clusterings given" if found.wish.labels is not None else "clusterings by k-means"
    tell(console, f"{found.wish.source.name}: {n} objects, {found.ensemble.n_members} {made}")
    tell(console, f"{known.n_flagged} ambiguous ({known.n_flagged / n:.1%}): {known.why}.\n")
    for line in _histogram(known):
        tell(console, line)
    if known.n_flagged:
        _show_most_ambiguous(found, console)
    show_notes(found.notes, console)


def _histogram(known: Ambiguity) -> list[str]:
    """Lines of a histogram of the scores; the threshold stands where it divides them."""
    scores = known.scores[np.isfinite(known.scores)]
    if scores.size == 0 or np.ptp(scores) == 0:
        return []
    counts, edges = known.histogram(_BINS)
    lines = [f"Scores (low: the members disagree), threshold {known.threshold:.4g}:"]
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        bar = "#" * int(np.ceil(_WIDTH * count / counts.max()))
        sign = "<" if low < known.threshold <= high else " "
        lines.append(f"{low:8.3f} {sign} {bar} {count}")
    return lines


def _show_most_ambiguous(found: Found, console: "Console") -> None:
    from rich.text import Text

    flagged = np.flatnonzero(found.ambiguity.flags)
    scores = found.ambiguity.scores[flagged]
    order = flagged[np.argsort(np.where(np.isnan(scores), -np.inf, scores), kind="stable")]
    lines = table("row" if found.input.ids is None else "id", "score")
    for i in order[:10].tolist():
        score = found.ambiguity.scores[i]
        told = "seen by nobody" if np.isnan(score) else f"{score:.4f}"
        lines.add_row(Text(str(found.input.identifiers()[i])), told)
    tell(console, "\nThe most ambiguous:")
    console.print(lines)
