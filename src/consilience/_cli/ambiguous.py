"""What ``consilience ambiguous`` does: which objects the members cannot agree about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from consilience._cli.arguments import AmbiguousWish
from consilience._cli.checks import check_common, check_enough_objects
from consilience._cli.folders import AMBIGUOUS
from consilience._cli.inputs import Input, gather
from consilience._cli.jobs import Found, Job
from consilience._cli.members import make_members
from consilience._cli.outputs import write_table
from consilience._cli.show import show_notes, table, tell
from consilience._cli.stages import Clock, noting
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError
from consilience.evidence import Ambiguity, ambiguous
from consilience.evidence._thresholds import distinct
from consilience.generate import KMeansEnsemble

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["AMBIGUITY", "Flagged", "find"]

_OWNER = "consilience ambiguous"
_BINS, _WIDTH = 16, 40


@dataclass(frozen=True, kw_only=True)
class Flagged(Found):
    """The flags, and what they were found in."""

    name = "ambiguous"
    wish: AmbiguousWish
    ensemble: Ensemble
    ambiguity: Ambiguity

    def facts(self) -> dict[str, Any]:
        """See `Found.facts`."""
        known = self.ambiguity
        return {
            "data": self.input.facts(),
            "n_objects": self.input.n_objects,
            "n_members": self.ensemble.n_members,
            "n_ambiguous": known.n_flagged,
            "threshold": float(known.threshold) if np.isfinite(known.threshold) else None,
            "rule": known.rule,
            "why": known.why,
        }

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Found.writers`."""
        flags, scores = self.ambiguity.flags, self.ambiguity.scores
        shown = np.array(["" if np.isnan(score) else f"{score:.6g}" for score in scores])
        columns = [self.input.identifiers(), shown, flags.astype(int)]
        header = ["id", "score", "ambiguous"]
        return {AMBIGUOUS: lambda path: write_table(path, header=header, columns=columns)}

    def show(self, console: "Console") -> None:
        """Print how the scores lie, where the line is and why, and the most ambiguous."""
        known, n = self.ambiguity, self.input.n_objects
        made = "clusterings given" if self.wish.labels is not None else "clusterings by k-means"
        tell(console, f"{self.wish.source.name}: {n} objects, {self.ensemble.n_members} {made}")
        tell(console, f"{known.n_flagged} ambiguous ({known.n_flagged / n:.1%}): {known.why}.\n")
        for line in _histogram(known):
            tell(console, line)
        if known.n_flagged:
            _show_most_ambiguous(self, console)
        show_notes(self.notes, console)


def find(wish: AmbiguousWish, folder: Path, *, callbacks: Sequence[Any] = ()) -> Flagged:
    """Read, make members unless labels are given, and flag the ambiguous objects."""
    _check(wish)
    clock = Clock()
    with noting() as notes:
        with clock.stage("read"):
            given = gather(wish.data, wish.labels, wish.reading, scale=not wish.no_scale)
        check_enough_objects(wish, given.n_objects)
        ensemble = given.ensemble
        if ensemble is None:
            with clock.stage("generate"):
                generator = _generator(wish, given).set_callbacks(*callbacks)
                ensemble = make_members(
                    generator, given.X, folder, resume=wish.resume, force=wish.writing.force
                )
        with clock.stage("ambiguity"):
            flagged = ambiguous(
                ensemble, score=wish.score, threshold=wish.limit(), n_jobs=wish.jobs
            )
    return Flagged(
        wish=wish,
        input=given,
        ensemble=ensemble,
        ambiguity=flagged,
        seconds=clock.seconds,
        notes=tuple(notes),
    )


def _check(wish: AmbiguousWish) -> None:
    """Refuse what can be refused before the data are read."""
    _ = wish.source
    check_common(wish, _OWNER)
    if wish.labels is None and wish.n_clusters is None:
        raise InvalidParameterError(
            f"{_OWNER} needs the number of clusters that each clustering should have. Give it "
            "with -k, for instance -k 3, or give clusterings you already have with --labels."
        )
    # Refuses a score or a rule it does not know, on objects that cost nothing.
    ambiguous(Ensemble([[0, 1], [0, 1]]), score=wish.score, threshold=wish.limit())


def _generator(wish: AmbiguousWish, given: Input) -> KMeansEnsemble:
    k = int(wish.n_clusters or 0)
    # A fifth of the objects each: the members must differ where the data leave room. On four
    # overlapping Gaussians the scores then rank misplaced objects with an AUC of 0.82, against
    # 0.65 with nine tenths.
    share = min(0.9, max(0.2, 10 * k / given.n_objects))
    return KMeansEnsemble(
        wish.members, k, max_samples=share, random_state=wish.seed, n_jobs=wish.jobs
    )


def _histogram(known: Ambiguity) -> list[str]:
    """Lines of a histogram of the scores; the threshold stands where it divides them."""
    scores = known.scores[np.isfinite(known.scores)]
    if scores.size == 0 or len(distinct(scores).values) == 1:
        return []
    counts, edges = known.histogram(_BINS)
    lines = [f"Scores (low: the members disagree), threshold {known.threshold:.4g}:"]
    for count, low, high in zip(counts, edges[:-1], edges[1:], strict=True):
        bar = "#" * int(np.ceil(_WIDTH * count / counts.max()))
        sign = "<" if low < known.threshold <= high else " "
        lines.append(f"{low:8.3f} {sign} {bar} {count}")
    return lines


def _show_most_ambiguous(found: Flagged, console: "Console") -> None:
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


AMBIGUITY = Job("ambiguous", "ambiguous-", AMBIGUOUS, find)
