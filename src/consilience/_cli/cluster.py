"""What ``consilience cluster`` does, without a terminal: a wish in, a consensus out.

Everything that can be refused before the data are read is refused before.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._cli.arguments import ClusterWish, flag
from consilience._cli.checks import check_common, check_enough_objects, warn_of_few
from consilience._cli.decisions import choice_facts, comparison_facts, method_seconds
from consilience._cli.folders import LABELS
from consilience._cli.inputs import Input, gather
from consilience._cli.jobs import Found, Job
from consilience._cli.members import make_members
from consilience._cli.stages import Clock, noting
from consilience._validation import check_params, memory_in_bytes
from consilience.compare import Comparison, against_truth, compare_methods
from consilience.consensus import (
    CONSENSUS,
    Method,
    NumberChoice,
    choose_n_clusters,
    default_method,
    refine,
)
from consilience.datasets import write_labels
from consilience.ensemble import Ensemble
from consilience.errors import InvalidParameterError
from consilience.evidence import confidence as confidence_in
from consilience.evidence import never_seen
from consilience.generate import default_generator

__all__ = ["CLUSTER", "Consensus", "find"]

_OWNER = "consilience cluster"
# Options of the command line that only some methods know.
_OWN = ("linkage", "max_memory")


@dataclass(frozen=True, kw_only=True)
class Consensus(Found):
    """A consensus and all there is to say about it."""

    name = "cluster"
    wish: ClusterWish
    method: Method
    parameters: dict[str, Any]
    why_method: str
    why_members: str
    ensemble: Ensemble
    labels: NDArray[np.int32]
    confidence: NDArray[np.float64] | None
    runner_up: NDArray[np.int32] | None
    lifetimes: NDArray[np.float64] | None
    tree: NDArray[np.float64] | None
    choice: NumberChoice | None
    comparison: Comparison | None
    agreement: dict[str, float] | None
    n_moved: int | None = None

    @property
    def n_clusters(self) -> int:
        """Clusters found."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def sizes(self) -> list[int]:
        """Objects in each cluster."""
        placed = self.labels[self.labels >= 0]
        return [int(size) for size in np.bincount(placed, minlength=self.n_clusters)]

    @property
    def chosen_by(self) -> str:
        """Who set the number of clusters: the user, the criteria, or the method itself."""
        if self.wish.n_clusters is not None:
            return "user"
        return "method" if self.choice is None else "criteria"

    def candidates(self, most: int = 4) -> list[int]:
        """Numbers of clusters that hold longest by the method, the best first, if it says."""
        if self.lifetimes is None:
            return []
        # Lifetimes that are equal but for rounding: the smaller number first, as the method does.
        order = np.argsort(-self.lifetimes.round(12), kind="stable")[:most]
        return [int(i) + 2 for i in order if self.lifetimes[i] > 0]

    def least_sure(self, most: int) -> list[dict[str, Any]]:
        """The objects of least confidence, the least sure first; none that are fully sure."""
        if self.confidence is None:
            return []
        ids = self.input.identifiers()
        found = np.argsort(self.confidence, kind="stable")[:most]
        return [
            {
                "id": _plain_id(ids[i]),
                "cluster": int(self.labels[i]),
                "runner_up": None if self.runner_up is None else int(self.runner_up[i]),
                "confidence": round(float(self.confidence[i]), 4),
            }
            for i in found.tolist()
            if self.confidence[i] < 1
        ]

    def facts(self) -> dict[str, Any]:
        """See `Found.facts`."""
        sure, k = self.confidence, self.ensemble.n_clusters
        return {
            "data": self.input.facts(),
            "ensemble": {
                "n_members": self.ensemble.n_members,
                "n_clusters_smallest": int(k.min()),
                "n_clusters_largest": int(k.max()),
                "from": self.why_members,
            },
            "method": {
                "name": self.method.name,
                "paper": self.method.paper,
                "parameters": self.parameters,
                "why": self.why_method,
            },
            "seed": self.wish.seed,
            "n_clusters": self.n_clusters,
            "n_clusters_chosen_by": self.chosen_by,
            "n_clusters_candidates": self.candidates(),
            "choice": None if self.choice is None else choice_facts(self.choice),
            "comparison": None if self.comparison is None else comparison_facts(self.comparison),
            "cluster_sizes": self.sizes,
            "n_noise": int((self.labels < 0).sum()),
            "n_moved": self.n_moved,
            "mean_confidence": None if sure is None else round(float(sure.mean()), 6),
            "least_sure": self.least_sure(10),
            "agreement_with_truth": self.agreement,
        }

    def writers(self) -> dict[str, Callable[[Path], None]]:
        """See `Found.writers`."""
        ids = None if self.input.ids is None else self.input.ids.tolist()
        return {LABELS: lambda path: write_labels(path, ids, self.labels, self.confidence)}

    def timings(self) -> dict[str, Any]:
        """See `Found.timings`."""
        told = super().timings()
        return told if self.comparison is None else told | method_seconds(self.comparison)

    def report(self) -> dict[str, Any]:
        """See `Found.report`."""
        from consilience.report import summarise_consensus

        given = self.input
        return summarise_consensus(
            self.ensemble,
            self.labels,
            X=given.X,
            ids=given.ids,
            truth=given.truth,
            confidence=self.confidence,
            runner_up=self.runner_up,
            columns=given.columns,
            tree=self.tree,
            link=self.parameters.get("linkage") if self.method.name == "eac" else None,
            choice=self.choice,
            comparison=self.comparison,
            about=self.about(Clusterings=self.why_members, Method=self.method_in_words()),
            notes=self.notes,
            title=self.wish.source.name,
            random_state=self.wish.seed,
        )

    def method_in_words(self) -> str:
        """The method, its paper, and why it was taken."""
        link = self.parameters.get("linkage")
        name = f"{self.method.name}{f', {link} link' if link else ''}"
        words = f"{name} ({self.method.paper}): {self.why_method}"
        if self.n_moved is not None:
            objects = "object was" if self.n_moved == 1 else "objects were"
            words += (
                f" {self.n_moved} {objects} then moved to the cluster they are most often with."
            )
        return words

    def show(self, console: Any) -> None:
        """See `Found.show`."""
        from consilience._cli.show_cluster import show_consensus

        show_consensus(self, console)


def find(wish: ClusterWish, folder: Path, *, callbacks: Sequence[Any] = ()) -> Consensus:
    """Read, make clusterings unless they are given, decide the number, find the consensus.

    Parameters
    ----------
    wish : ClusterWish
        What the user asked for.
    folder : Path
        Where clusterings are kept while they are made.
    callbacks : sequence of scikit-learn callbacks
        Told about the progress of the generator.

    Returns
    -------
    Consensus
        Warnings of any part on the way are its ``notes``, each once.

    Raises
    ------
    ConsilienceError, OSError
        If the wish, the files or their contents cannot be used.
    """
    named = _checked_methods(wish)
    clock = Clock()
    with noting() as notes:
        with clock.stage("read"):
            given = gather(wish.data, wish.labels, wish.reading, scale=not wish.no_scale)
        check_enough_objects(wish, given.n_objects)
        if given.ensemble is None:
            warn_of_few(wish.members)
        with clock.stage("generate"):
            ensemble, why_members = _members(wish, given, folder, callbacks)
        choice = None
        if _wants_number(wish, named):
            with clock.stage("number of clusters"):
                choice = choose_n_clusters(
                    given.X, ensemble=ensemble, random_state=wish.seed, n_jobs=wish.jobs
                )
        methods, why_method, own = _methods(wish, named, given, ensemble, choice)
        with clock.stage("consensus"):
            k = wish.n_clusters if choice is None else choice.n_clusters
            told = _consensus(wish, methods, own, k, given, ensemble)
            if wish.refine:
                told |= _refined(ensemble, told["labels"], wish.jobs)
        labels = told["labels"]
        truth = None if given.truth is None else against_truth(given.truth, labels)
    return Consensus(
        wish=wish,
        input=given,
        why_method=why_method,
        why_members=why_members,
        ensemble=ensemble,
        choice=choice,
        agreement=truth,
        seconds=clock.seconds,
        notes=tuple(notes),
        **told,
    )


def _checked_methods(wish: ClusterWish) -> list[Method]:
    """The methods asked for by name, once every option is known to be usable."""
    _ = wish.source
    check_common(wish, _OWNER)
    if wish.max_memory is not None:
        memory_in_bytes(wish.max_memory, owner=_OWNER, name="--max-memory")
    names = wish.method_names() or (("eac",) if wish.linkage is not None else ())
    for name in names:
        if name not in CONSENSUS:
            raise InvalidParameterError(
                f"There is no method {name!r}. The methods are {', '.join(sorted(CONSENSUS))}; "
                "'consilience methods' describes them."
            )
        if CONSENSUS[name].needs_data and wish.data is None:
            raise InvalidParameterError(
                f"The method {name!r} needs the data, not only labels. Name the file with the "
                f"data too: consilience cluster DATA --labels {wish.labels}."
            )
    methods = [CONSENSUS[name] for name in names]
    for method in methods:
        _estimator(wish, method, wish.n_clusters, strict=len(methods) == 1)
    return methods


def _members(
    wish: ClusterWish, given: Input, folder: Path, callbacks: Sequence[Any]
) -> tuple[Ensemble, str]:
    """The clusterings, and where they come from."""
    if given.ensemble is not None:
        return given.ensemble, f"given in {wish.labels}."
    assert given.X is not None
    n, d = given.X.shape
    taken = default_generator(
        n, d, n_members=wish.members, random_state=wish.seed, n_jobs=wish.jobs
    )
    generator = taken.generator.set_callbacks(*callbacks)
    made = make_members(generator, given.X, folder, resume=wish.resume, force=wish.writing.force)
    return made, f"{taken.name}. {taken.why}"


def _methods(
    wish: ClusterWish,
    named: list[Method],
    given: Input,
    ensemble: Ensemble,
    choice: NumberChoice | None,
) -> tuple[list[Method], str, Mapping[str, Any]]:
    """The methods to run, why these, and parameters that belong to the choice."""
    if len(named) > 1:
        return named, "Of the methods asked for, it agrees best with all clusterings.", {}
    if named:
        asked = (
            "As asked." if wish.method_names() else "It is the method that --linkage belongs to."
        )
        return named, asked, {}
    if choice is not None and choice.clear and choice.taken == "lifetime" and given.X is not None:
        why = "Groups that only lifetimes tell apart are chains or rings: single link follows them."
        found = default_method(ensemble.n_objects, ensemble.n_members, n_clusters_known=False)
        if found.name == "eac":
            return [found.method], why, found.parameters
    taken = default_method(ensemble.n_objects, ensemble.n_members)
    return [taken.method], taken.why, taken.parameters


def _wants_number(wish: ClusterWish, named: list[Method]) -> bool:
    """Whether the criteria decide: nobody else did.

    A method that was named and finds the number by itself keeps that right.
    """
    if wish.n_clusters is not None:
        return False
    return not named or any(method.needs_n_clusters for method in named)


def _consensus(
    wish: ClusterWish,
    methods: list[Method],
    own: Mapping[str, Any],
    k: int | None,
    given: Input,
    ensemble: Ensemble,
) -> dict[str, Any]:
    """Fields of a `Consensus`, by one method or by the best of several."""
    if len(methods) > 1:
        return _best_of_several(wish, methods, k, given, ensemble)
    # An option that a method nobody named does not know has nothing to limit there.
    model = _estimator(wish, methods[0], k).set_params(**own)
    model.fit(given.X, ensemble=ensemble)
    params = model.get_params()
    return {
        "method": methods[0],
        "parameters": {name: v for name, v in params.items() if name != "generator"},
        "labels": model.labels_,
        "confidence": getattr(model, "confidence_", None),
        "runner_up": getattr(model, "runner_up_", None),
        "lifetimes": getattr(model, "lifetimes_", None),
        "tree": _tree(model),
        "comparison": None,
    }


def _refined(ensemble: Ensemble, labels: NDArray[np.int32], n_jobs: int | None) -> dict[str, Any]:
    """Fields of a `Consensus` that one pass over the objects changes."""
    found = refine(ensemble, labels, n_jobs=n_jobs)
    # Objects that nobody saw are sure of nothing.
    known = np.where(never_seen(ensemble), -1, found.labels)
    sure = confidence_in(ensemble, known, n_jobs=n_jobs)
    return {
        "labels": found.labels,
        "confidence": sure.confidence,
        "runner_up": sure.runner_up,
        "n_moved": int(found.moved.sum()),
    }


def _tree(model: Any) -> NDArray[np.float64] | None:
    """The dendrogram over all objects, where the method made one."""
    tree = getattr(model, "linkage_", None)
    if tree is None:
        tree = getattr(model, "details_", {}).get("linkage")
    return tree if tree is not None and len(tree) == len(model.labels_) - 1 else None


def _best_of_several(
    wish: ClusterWish, methods: list[Method], k: int | None, given: Input, ensemble: Ensemble
) -> dict[str, Any]:
    """Fields of a `Consensus`, by the method that agrees best with the members."""
    found = compare_methods(
        ensemble,
        [method.name for method in methods],
        k,
        X=given.X,
        truth=given.truth,
        random_state=wish.seed,
        n_jobs=wish.jobs,
    )
    labels = found.labels[found.best]
    sure = confidence_in(ensemble, labels, n_jobs=wish.jobs)
    return {
        "method": CONSENSUS[found.best],
        "parameters": {"n_clusters": k},
        "labels": labels,
        "confidence": sure.confidence,
        "runner_up": sure.runner_up,
        "lifetimes": None,
        "tree": None,
        "comparison": found,
    }


def _estimator(wish: ClusterWish, method: Method, k: int | None, *, strict: bool = False) -> Any:
    """The method's estimator with the options it knows; if strict, refuses others."""
    wanted = {
        "n_clusters": k,
        "linkage": wish.linkage,
        "max_memory": wish.max_memory,
        "random_state": wish.seed,
        "n_jobs": wish.jobs,
    }
    known = ("n_clusters", "random_state", "n_jobs", *method.options)
    for name in ("n_clusters", *_OWN):
        if strict and wanted[name] is not None and name not in known:
            raise InvalidParameterError(
                f"The method {method.name!r} has no option {flag(name)}. Leave it out."
            )
    given = {name: v for name, v in wanted.items() if name in known and v is not None}
    if "n_clusters" not in given and method.needs_n_clusters:
        given["n_clusters"] = 2  # only to check the others: the number comes later
    model = method.estimator(**given)
    if hasattr(model, "_constraints"):
        check_params(model)
    return model


def _plain_id(identifier: Any) -> Any:
    """An identifier as JSON can hold it: a number that is none becomes a word."""
    value = np.asarray(identifier).item()
    return str(value) if isinstance(value, float) and not np.isfinite(value) else value


CLUSTER = Job("cluster", "", LABELS, find)
