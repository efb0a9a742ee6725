"""The answer in a few plain sentences: for a person who has not read any paper."""

from typing import TYPE_CHECKING

import numpy as np

from consilience._words import listed
from consilience.evidence import DOUBTFUL_BELOW
from consilience.report._case import Case
from consilience.report._values import counted, percent

if TYPE_CHECKING:
    from consilience.consensus import Clarity, NumberChoice
    from consilience.report._choices import Decided

__all__ = ["consensus_headline", "group_sizes"]

# From this mean confidence on, these words.
_SURE = (
    (0.9, "The clusterings support these groups firmly"),
    (0.75, "The clusterings support these groups fairly well"),
    (0.6, "The clusterings support these groups only moderately"),
    (0.0, "The clusterings hardly support these groups"),
)
_MAX_LISTED = 8


def consensus_headline(case: Case, decided: "Decided", agreement: float | None) -> list[str]:
    """What the groups are and how clear, how sure we are of each object, what is doubtful."""
    said = [_groups(case)]
    if decided.clarity is not None:
        said.append(_clear(decided.clarity, given=decided.choice is None))
    if case.n_clusters > 1:
        sure = case.mean_confidence(case.labels >= 0)
        if sure is not None:
            words = next(words for least, words in _SURE if sure >= least)
            said.append(
                f"{words}: where 1 is certain and 0.5 is torn between two groups, the objects "
                f"have {sure:.2f} on average."
            )
        said.append(_doubtful(case))
    said += _number(case, decided)
    if agreement is not None:
        said.append(
            f"With groups matched to the true classes, {percent(agreement, 1)} of the objects "
            "agree."
        )
    return said


def group_sizes(sizes: list[int]) -> str:
    """Sizes in words, the largest first; ends only where there are many."""
    ordered = sorted(sizes, reverse=True)
    if len(ordered) <= _MAX_LISTED:
        return f"of {listed(f'{size:,}' for size in ordered)} objects"
    return f"the largest of {counted(ordered[0], 'object')}, the smallest of {ordered[-1]:,}"


def _groups(case: Case) -> str:
    n, sizes = case.n_objects, case.sizes
    left = n - int(sizes.sum())
    if not case.n_clusters:
        return f"None of the {counted(n, 'object')} was put into a group."
    whom = f"The {counted(n, 'object')} fall" if n > 1 else "The 1 object falls"
    if case.n_clusters == 1:
        text = f"{whom} into a single group" + (f" of {int(sizes[0]):,}" if left else "")
    else:
        text = f"{whom} into {case.n_clusters:,} groups, {group_sizes(sizes.tolist())}"
    if left:
        text += f"; {left:,} ({percent(left, n)}) belong to no group"
    return text + "."


def _doubtful(case: Case) -> str:
    n, doubtful = case.n_objects, int(case.doubtful.sum())
    if case.ensemble.n_members < 2:
        return "There is only one clustering, so nothing can be said about doubtful objects."
    if case.confidence is None and case.judged is None:
        return "Which objects are doubtful was not examined."
    if not doubtful:
        return "No object is doubtful."
    line = f"a confidence below {DOUBTFUL_BELOW}" if case.judged is None else "a low score"
    words = (
        f"{counted(doubtful, 'object')} ({percent(doubtful, n)}) "
        f"{'are' if doubtful > 1 else 'is'} doubtful, with {line}{_between(case)}; the column "
        f"'doubtful' of the table of objects marks {'them' if doubtful > 1 else 'it'}."
    )
    return words + _suited_elsewhere(case)


def _suited_elsewhere(case: Case) -> str:
    """How many objects stay in a group although another suits them better."""
    n = int(case.suited_elsewhere.sum())
    if not n:
        return ""
    lie = "object lies" if n == 1 else "objects lie"
    return (
        f" {n:,} {lie} below 0.5: the clusterings speak for another group there, and the method "
        "kept its own all the same."
    )


def _between(case: Case) -> str:
    """Between which two groups most of the doubtful objects lie, if there are such two."""
    if case.runner_up is None or case.n_clusters < 3:
        return ""
    torn = case.doubtful & (case.labels >= 0) & (case.runner_up >= 0)
    if not torn.any():
        return ""
    ends = np.sort(np.stack([case.labels[torn], case.runner_up[torn]]), axis=0)
    pairs, counts = np.unique(ends, axis=1, return_counts=True)
    best = int(counts.argmax())
    if counts[best] < 2 or counts[best] < 0.2 * case.doubtful.sum():
        return ""
    a, b = case.numbers[pairs[:, best]].tolist()
    return f", most often ({counts[best]:,}) between clusters {a} and {b}"


def _clear(clarity: "Clarity", *, given: bool) -> str:
    """How clear the groups are; where they are not, that is what counts."""
    return clarity.said(given=given).replace("They are", "The groups are", 1)


def _number(case: Case, decided: "Decided") -> list[str]:
    choice = decided.choice
    if choice is not None and choice.by_lines:
        return [_supported(choice)]
    if decided.clarity is not None:
        return []
    if choice is None:
        return [
            "The number of groups was asked for or chosen by the method; whether another would fit "
            "better was not examined."
        ]
    return [_by_criteria(case, choice)]


def _supported(choice: "NumberChoice") -> str:
    """How far the kinds of evidence come to the same number."""
    votes = [one.n_clusters for one in choice.criteria]
    agree = sum(vote == choice.n_clusters for vote in votes)
    others = sorted({vote for vote in votes if vote not in (None, choice.n_clusters)})
    choose = "chooses" if agree == 1 else "choose"
    words = f"{agree} of {len(votes)} kinds of evidence {choose} {choice.n_clusters} groups"
    return f"{words}; others {listed(others)}." if others else f"{words}."


def _by_criteria(case: Case, choice: "NumberChoice") -> str:
    k, taken = case.n_clusters, choice.n_clusters
    votes = [c.n_clusters for c in choice.criteria]
    agree = sum(vote == taken for vote in votes)
    if choice.clear and taken != k:
        return f"The data speak clearly for {counted(taken, 'group')}, not for the {k} shown here."
    if choice.clear:
        others = f"; {agree - 1} of {len(votes) - 1} others agree" if len(votes) > 1 else ""
        return (
            f"The number of groups is clear: {choice.taken}, which decides, says {taken}{others}."
        )
    chosen = sorted({vote for vote in votes if vote is not None})
    words = f"the criteria choose {listed(chosen)}" if chosen else "no criterion sees any"
    return (
        f"There is no clear structure in the number of groups ({words}): take {k:,} as one "
        "possible reading."
    )
