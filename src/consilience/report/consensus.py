"""A consensus summarised: everything the report says and shows, as plain values."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from consilience._validation import (
    LINKS,
    Interval,
    NoneValue,
    RandomState,
    Satisfies,
    check_value,
)
from consilience.ensemble import Ensemble, usable_ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import Ambiguity, GroupAmbiguity
from consilience.report._case import Case, make_case
from consilience.report._choices import (
    Decided,
    methods_section,
    number_section,
    truth_scores,
    truth_section,
)
from consilience.report._done import done_rows
from consilience.report._members import members_section
from consilience.report._pairs import MadeTree, pair_view, restricted
from consilience.report._profile import profile_section
from consilience.report._sections import (
    cluster_rows,
    dendrogram_section,
    doubtful_section,
    matrix_section,
    object_rows,
    stability_section,
    view_section,
)
from consilience.report._thin import Shown, choose_shown
from consilience.report._words import consensus_headline

if TYPE_CHECKING:
    from consilience.compare.several import Comparison
    from consilience.consensus import Alternative, Clarity, NumberChoice
    from consilience.explain import Profile

__all__ = ["SCHEMA", "summarise_consensus"]

#: Version of the dictionary's shape, which the page checks.
SCHEMA = 1

_AN_ENSEMBLE = [Satisfies(lambda value: isinstance(value, Ensemble), "an Ensemble")]
_MANY = [Interval(Integral, 2)]


def summarise_consensus(
    ensemble: Ensemble,
    labels: Any,
    *,
    X: Any = None,
    ids: Any = None,
    truth: Any = None,
    confidence: Any = None,
    runner_up: Any = None,
    ambiguity: GroupAmbiguity | None = None,
    judged: Ambiguity | None = None,
    columns: Sequence[str] = (),
    tree: Any = None,
    link: Literal["average", "complete", "single"] | None = None,
    choice: "NumberChoice | None" = None,
    clarity: "Clarity | None" = None,
    alternatives: "Sequence[Alternative]" = (),
    comparison: "Comparison | None" = None,
    profile: "Profile | None" = None,
    about: Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    title: str = "Consensus of many clusterings",
    max_points: int = 5000,
    max_matrix: int = 500,
    random_state: Any = 0,
) -> dict[str, Any]:
    """Everything a report says and shows about a consensus, as values that JSON can hold.

    Parameters
    ----------
    ensemble : Ensemble
        Labels of n objects by R members.
    labels : array of shape (n_objects,)
        The consensus; negative for objects in no cluster.
    X : array, frame or CSR matrix of shape (n_objects, n_features), optional
        For the view of the objects; without it the view is made of the members' labels.
    ids : sequence of length n_objects, optional
        Identifiers of any type; by default the ensemble's index, else row numbers.
    truth : sequence of length n_objects, optional
        True classes in any form, missing where unknown.
    confidence, runner_up : arrays of shape (n_objects,), optional
        As a consensus method returned them; computed where no confidence is given.
    ambiguity : GroupAmbiguity, optional
        What `consilience.evidence.group_ambiguity` says of these labels; computed by default.
    judged : Ambiguity, optional
        Which objects are doubtful, in place of those with a confidence below 0.75 (see
        `consilience.evidence.doubtful`).
    columns : sequence of str, optional
        Names of the columns of X.
    tree : array of shape (n_objects - 1, 4), optional
        The dendrogram that the method made, such as `EAC`'s ``linkage_``: it is drawn, with
        the cut if that gives the groups. Without it the tree is average link of the
        co-association, called another view and not cut.
    link : {"average", "complete", "single"}, optional
        Its linkage, where heights are one less the co-association.
    choice : NumberChoice, optional
        What `consilience.AutoConsensus` or `consilience.consensus.choose_n_clusters` found.
    clarity : Clarity, optional
        How clear the groups are, as `consilience.AutoConsensus` says.
    alternatives : sequence of Alternative
        Other divisions that it saw; those worth a look are shown.
    comparison : Comparison, optional
        Several methods on this ensemble.
    profile : Profile, optional
        What makes each group, of `consilience.explain.profile`.
    about : mapping of str to str, optional
        What was done: data, generator, method, seed, time, command.
    notes : sequence of str, optional
        Warnings to repeat.
    title : str
    max_points : int, default=5000
        Objects in the table and the view at most. Of more objects a share of every cluster is
        kept, small clusters more than their share, doubtful objects first; the notes say so.
    max_matrix : int, default=500
        Objects in pictures of pairs at most.
    random_state : int, RandomState or None, default=0
        For what is drawn by chance.

    Returns
    -------
    dict
        With the keys schema, kind, title, headline, done, notes, clusters, objects, sections.
        Every number is finite or null. Of a single group, sections about several are left out.

    Notes
    -----
    Linear in the number of objects, in time and memory: pairs of objects are looked at for
    ``max_matrix`` of them only. (Where no confidence is given, members that missed objects make
    it quadratic up to 10,000 objects; an estimate takes over there.)

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])
    >>> summary = summarise_consensus(ens, [0, 0, 0, 1, 1, 1])
    >>> summary["headline"][0]
    'The 6 objects fall into 2 groups, of 3 and 3 objects.'
    >>> [part["id"] for part in summary["sections"]]
    ['objects', 'co-association', 'dendrogram', 'doubtful', 'stability', 'members']
    """
    owner = "summarise_consensus"
    check_value("ensemble", ensemble, _AN_ENSEMBLE, owner=owner)
    ensemble = usable_ensemble(ensemble, owner=owner)
    check_value("max_points", max_points, _MANY, owner=owner)
    check_value("max_matrix", max_matrix, _MANY, owner=owner)
    check_value("random_state", random_state, [RandomState()], owner=owner)
    _check_rows(X, ensemble.n_objects)
    made = _checked_tree(tree, link, ensemble.n_objects)
    seed = int(check_random_state(random_state).randint(2**31 - 2))
    case = make_case(
        ensemble,
        labels,
        confidence=confidence,
        runner_up=runner_up,
        truth=truth,
        seed=seed,
        ambiguity=ambiguity,
        judged=judged,
    )
    shown = choose_shown(
        case.labels,
        case.ambiguity if case.confidence is None else 1.0 - case.confidence,
        case.doubtful,
        max_points=int(max_points),
        max_pairs=int(max_matrix),
        seed=seed,
    )
    said = [*map(str, notes), *shown.notes, *case.notes]
    against = {} if case.truth is None else truth_scores(case, case.truth)
    decided = Decided(choice, clarity, tuple(alternatives))
    sections = _sections(case, shown, X, columns, made, decided, comparison, seed, said)
    several = case.n_clusters > 1
    if (
        profile is not None
        and several
        and (explained := profile_section(profile, said)) is not None
    ):
        sections.insert(1, explained)  # after the view of the objects
    if case.truth is not None:
        sections.append(truth_section(case, case.truth, against, said))
    return {
        "schema": SCHEMA,
        "kind": "consensus",
        "title": str(title),
        "headline": consensus_headline(case, decided, against.get("consistency_index")),
        "done": done_rows(about, _facts(case, choice)),
        "clusters": cluster_rows(case, said),
        "objects": object_rows(case, shown, ids),
        "sections": sections,
        "notes": said,
    }


def _sections(
    case: Case,
    shown: Shown,
    X: Any,
    columns: Sequence[str],
    tree: MadeTree | None,
    decided: Decided,
    comparison: "Comparison | None",
    seed: int,
    notes: list[str],
) -> list[dict[str, Any]]:
    """Sections in the order of the page: the result, the doubts, the reasons."""
    some = case.ensemble
    if len(shown.pairs) < case.n_objects:
        some = some.take(shown.pairs)
    merges = None if tree is None else restricted(tree.merges, shown.pairs)
    pairs = pair_view(some, case.labels[shown.pairs], merges)
    parts = [
        view_section(case, shown, X, columns, seed, notes),
        number_section(decided),
        matrix_section(shown, pairs, finer=case.finer),
        dendrogram_section(case, shown, pairs, tree),
        doubtful_section(case),
        stability_section(case, notes),
        members_section(case, seed, notes),
        None if comparison is None else methods_section(comparison),
    ]
    return [part for part in parts if part is not None]


def _facts(case: Case, choice: "NumberChoice | None") -> dict[str, str]:
    k = case.ensemble.n_clusters
    clusters = f"{k.min()}" if k.min() == k.max() else f"{k.min()} to {k.max()}"
    facts = {
        "Objects": f"{case.n_objects:,}",
        "Clusterings": f"{case.ensemble.n_members:,}, with {clusters} groups each",
    }
    return facts if choice is None else facts | {"Number of groups": choice.words}


def _checked_tree(tree: Any, link: Any, n_objects: int) -> MadeTree | None:
    check_value("link", link, [*LINKS, NoneValue()], owner="summarise_consensus")
    if tree is None:
        return None
    merges = np.asarray(tree, np.float64)
    if merges.shape != (n_objects - 1, 4):
        raise InvalidInputError(
            f"tree must be in SciPy's linkage format, of shape {(n_objects - 1, 4)} for "
            f"{n_objects} objects. Got shape {merges.shape} instead."
        )
    return MadeTree(merges, link)


def _check_rows(X: Any, n_objects: int) -> None:
    if X is None:
        return
    n = int(np.shape(X)[0]) if hasattr(X, "shape") else len(X)
    if n != n_objects:
        raise InvalidInputError(
            f"X must have a row for each of the {n_objects} objects. Got {n} rows instead."
        )
