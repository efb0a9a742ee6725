"""A consensus and all there is to say about it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from consilience._validation import COUNT, Boolean, Interval, NoneValue, check_jobs, check_value
from consilience._words import percent
from consilience.compare import Comparison
from consilience.consensus import Alternative, Clarity, Levels, NumberChoice, levels
from consilience.consensus._auto_choice import worth_a_look
from consilience.consensus.known import Violation
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError
from consilience.evidence import (
    DOUBTFUL_BELOW,
    GroupAmbiguity,
    doubtful,
    group_ambiguity,
    suited_elsewhere,
)
from consilience.explain import Profile, profile
from consilience.predict import Placer, Prediction, placed
from consilience.predict._hashes import row_hashes
from consilience.predict._seen import Seen
from consilience.soft_ensemble import SoftEnsemble
from consilience.workflow._changes import are_names, merged, renamed, split
from consilience.workflow._decisions import (
    alternative_facts,
    choice_facts,
    clarity_facts,
    comparison_facts,
)
from consilience.workflow._faces import face
from consilience.workflow._new_objects import matched
from consilience.workflow._view_agreement import ViewAgreement
from consilience.workflow.result import Reported, check_page

__all__ = ["ClusterResult"]

_MOST_SIZES, _MOST_ROWS = 10, 20
_LEVEL = 0.95  # of the intervals of a profile


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ClusterResult(Reported):
    """What `cluster` found; it shows itself in a notebook.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        Cluster of each object, -1 where every member says noise.
    confidence : ndarray of shape (n_objects,) or None
        1 is sure, 0.5 torn between two; below 0.5 another cluster suits better.
    runner_up : ndarray of shape (n_objects,) or None
        The cluster that comes next; -1 where there is none.
    asked : int or None
        Clusters asked for.
    choice : NumberChoice or None
        What speaks for this number of clusters, where it was to be found.
    clarity : Clarity or None
        How clear the groups are beside data without any: ``clarity.verdict``, ``p_value``,
        ``words``. None of a method that was named, and with ``strict``.
    alternatives : tuple of Alternative
        The best division into each number of groups, the one taken first.
    method, paper : str
        Name and source of the consensus method that was taken.
    parameters : dict
        It was called with these.
    why_method, why_members : str
        Why this method, and where the members come from.
    comparison : Comparison or None
        Several methods beside each other, where several were asked for.
    ensemble : Ensemble
        The members; of memberships the most likely labels.
    soft_members : SoftEnsemble or None
        The members where they are memberships.
    generator : generator or None
        It made them.
    agreement : dict or None
        "consistency_index", "nmi" and "ari" against the known groups, where there are any.
    lifetimes, tree : ndarray or None
        Of methods that make a dendrogram.
    n_moved : int or None
        Objects that were moved in the end, where ``refine`` asked for it.
    names : tuple of str
        What the clusters are called, "" where nobody said; none where all have numbers only.
    changes : tuple of str
        What was done by hand since: clusters divided, joined, named.
    data, seed, notes, seconds
        The objects as used, ``random_state`` of a run that gives the same, warnings in words,
        and the time of each stage.
    seen : Seen or None
        What new objects are placed by; None without data.
    view_agreement : ViewAgreement or None
        How far several views agree, by view and by group; None of a single table.
    violations : tuple of Violation or None
        Pairs that are not as they were known to be; None where nothing was known.
    """

    job: ClassVar[str] = "cluster"
    views: ClassVar[str] = (
        "labels, confidence, runner_up, doubtful, least_sure(), profile(), levels(), predict(X), "
        "to_pandas(), report(path), save(folder)"
    )

    doubtful_below: ClassVar[float] = DOUBTFUL_BELOW

    labels: NDArray[np.int32]
    confidence: NDArray[np.float64] | None
    runner_up: NDArray[np.int32] | None
    asked: int | None
    choice: NumberChoice | None
    clarity: Clarity | None
    alternatives: tuple[Alternative, ...]
    method: str
    paper: str
    parameters: dict[str, Any]
    why_method: str
    why_members: str
    comparison: Comparison | None
    ensemble: Ensemble
    generator: Any
    agreement: dict[str, float] | None
    lifetimes: NDArray[np.float64] | None
    tree: NDArray[np.float64] | None
    n_moved: int | None = None
    names: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    seen: Seen | None = None
    view_agreement: ViewAgreement | None = None
    violations: tuple[Violation, ...] | None = None
    soft_members: SoftEnsemble | None = None

    # ---- figures ----------------------------------------------------------------------

    @property
    def n_clusters(self) -> int:
        """Clusters found."""
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> list[int]:
        """Objects in each cluster."""
        placed = self.labels[self.labels >= 0]
        return [int(size) for size in np.bincount(placed, minlength=self.n_clusters)]

    @property
    def n_noise(self) -> int:
        """Objects in no cluster."""
        return int((self.labels < 0).sum())

    @property
    def chosen_by(self) -> str:
        """Who set the number of clusters: the "user", the "criteria", or the "method" itself."""
        if self.asked is not None or not are_names(self.changes):
            return "user"
        return "method" if self.choice is None else "criteria"

    @property
    def verdict(self) -> str | None:
        """ "clear", "weak" or "none": how clear the groups are; None where nobody looked."""
        if self.clarity is not None:
            return self.clarity.verdict
        # What spoke for the number here was said of other groups.
        if self.choice is None or self.choice.by_lines:
            return None
        return "clear" if self.choice.clear else "none"

    @property
    def n_suited_elsewhere(self) -> int:
        """Objects that the members put together with another cluster more often."""
        return int(suited_elsewhere(self.labels, self.confidence, self.runner_up).sum())

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """Objects with a confidence below 0.75, see `consilience.evidence.doubtful`."""
        return doubtful(self.labels, self.confidence)

    @property
    def ambiguity(self) -> NDArray[np.float64]:
        """How far the members disagree about each object's group, from 0; NaN where silent."""
        return self._group_ambiguity.values

    @cached_property
    def _group_ambiguity(self) -> GroupAmbiguity:
        return group_ambiguity(self.ensemble, self.labels, random_state=self.seed)

    def mean_confidence(self, cluster: int | None = None) -> float | None:
        """Mean confidence in a cluster, or in all; None where one cluster has no rival."""
        number = Interval(Integral, 0, self.n_clusters - 1)
        check_value("cluster", cluster, [number, NoneValue()], owner="mean_confidence")
        if self.confidence is None or self.n_clusters < 2:
            return None
        objects = slice(None) if cluster is None else self.labels == cluster
        return float(self.confidence[objects].mean())

    def candidates(self, most: int = 4) -> list[int]:
        """Numbers of clusters worth a look, the best first, if the method says."""
        check_value("most", most, COUNT, owner="candidates")
        if self.alternatives:
            return [one.n_clusters for one in self.worth_a_look(most)]
        if self.lifetimes is None:
            return []
        # Lifetimes that are equal but for rounding: the smaller number first, as the method does.
        order = np.argsort(-self.lifetimes.round(12), kind="stable")[:most]
        return [int(i) + 2 for i in order if self.lifetimes[i] > 0]

    def worth_a_look(self, most: int = 3) -> tuple[Alternative, ...]:
        """The division taken, and the next best ones whose groups are more than a few strays."""
        check_value("most", most, COUNT, owner="worth_a_look")
        return worth_a_look(self.alternatives, most)

    def least_sure(self, most: int = 10) -> list[dict[str, Any]]:
        """The objects of least confidence, the least sure first; none that are fully sure."""
        check_value("most", most, [*COUNT, NoneValue()], owner="least_sure")
        if self.confidence is None:
            return []
        objects = np.argsort(self.confidence, kind="stable")[:most]
        return [
            {
                "id": self.data.plain_id(i),
                "cluster": int(self.labels[i]),
                "runner_up": None if self.runner_up is None else int(self.runner_up[i]),
                "confidence": round(float(self.confidence[i]), 4),
            }
            for i in objects.tolist()
            if self.confidence[i] < 1
        ]

    # ---- reasons ----------------------------------------------------------------------

    def profile(
        self, X: Any = None, *, columns: Sequence[str] | None = None, level: float = 0.95
    ) -> Profile:
        """What makes each group: what is typical, what sets it apart, a rule, its objects.

        Parameters
        ----------
        X : array, pandas or polars frame, or sparse matrix, optional
            Other columns of the same objects, to explain the groups by: numbers, categories,
            values may be missing. By default the columns that were clustered, in their own units.
        columns : sequence of str, optional
            Names of the columns of X.
        level : float, default=0.95
            Of the intervals.

        Returns
        -------
        Profile
            See `consilience.explain.profile`.
        """
        if X is None and columns is None and isinstance(level, float) and level == _LEVEL:
            return self._own_profile
        return self._profiled(X, columns, level)

    @cached_property
    def _own_profile(self) -> Profile:
        """What the page, the command and whoever asks for nothing special share."""
        return self._profiled(None, None, _LEVEL)

    def _profiled(self, X: Any, columns: Sequence[str] | None, level: float) -> Profile:
        data, own = self.data, X is None
        if own and columns is None and data.original is not None:
            columns = data.original_columns
        return profile(
            data.original if own else X,
            self.labels,
            columns=columns,
            sources=data.sources if own else (),
            ids=data.identifiers(),
            ensemble=self.ensemble,
            confidence=self.confidence,
            level=level,
            clustered=own,
        )

    # ---- a closer look -----------------------------------------------------------------

    def levels(self) -> Levels:
        """Who splits into whom, from two groups up, and within the groups.

        Returns
        -------
        Levels
            See `consilience.consensus.levels`: every split with its stability, and whether it is
            more than chance.
        """
        return self._levels

    @cached_property
    def _levels(self) -> Levels:
        X = None if self.data.rows is None else self.data.X
        return levels(self.ensemble, self.labels, X=X, random_state=self.seed)

    def split(self, group: int, n_clusters: int | None = None) -> "ClusterResult":
        """This result with one group divided.

        Parameters
        ----------
        group : int
            The largest part keeps its number, the others come after all groups there are.
        n_clusters : int or None, default=None
            Parts; None finds the best supported number.

        Returns
        -------
        ClusterResult
            ``changes`` has what was done, and how clear the parts are.
        """
        return split(self, group, n_clusters)

    def merge(self, groups: Sequence[int]) -> "ClusterResult":
        """This result with several groups as one.

        Parameters
        ----------
        groups : sequence of int
            At least two. The new one has the smallest of their numbers; those above move down.

        Returns
        -------
        ClusterResult
            ``changes`` has what was done.
        """
        return merged(self, groups)

    def rename(self, names: Mapping[int, str]) -> "ClusterResult":
        """This result with names for groups.

        Parameters
        ----------
        names : mapping of int to str
            Groups and their names; the others keep those they have.

        Returns
        -------
        ClusterResult
            Tables and frames have the names beside the numbers.
        """
        return renamed(self, names)

    # ---- new objects -------------------------------------------------------------------

    def predict(self, X: Any, *, lookup: bool = True, n_jobs: int | None = None) -> Prediction:
        """The groups of new objects, how sure, and which are unlike anything seen.

        Every member places a new object: with the nearest of its centres, in its own features, or
        where the nearest object is that it saw. Its labels are compared with the groups by mean
        co-association; where that gives left-out objects their group back less often than the
        nearest object seen does, the group is that of the nearest.

        Parameters
        ----------
        X : array, pandas or polars frame, CSR matrix, or Table
            In the units of the data that were clustered. Columns are matched by name where both
            have names: others are left out, and said; what is missing is refused. Without names
            they are taken in their order.
        lookup : bool, default=True
            Whether rows that were clustered have the label they had; otherwise they are placed as
            if they were new.
        n_jobs : int or None, default=None
            Threads; None means one.

        Returns
        -------
        Prediction
            ``labels``, ``confidence``, ``runner_up``, ``unlike``, ``known``, ``notes``.
        """
        check_jobs(n_jobs, owner="predict")
        check_value("lookup", lookup, [Boolean()], owner="predict")
        placer = self.placer()
        new = matched(self.data, X)
        hashes = row_hashes(new.values, n_jobs) if lookup else None
        values = self.data.as_clustered(new.values)
        return placed(placer, values, hashes, n_jobs=n_jobs, notes=new.notes, index=new.index)

    def placer(self) -> Placer:
        """What places new objects; made once, when it is asked for."""
        if self.seen is None and self.data.metric is not None:
            raise InvalidInputError(
                f"The groups were found by {self.data.metric} distances between all objects, which "
                "say nothing of new ones. Cluster old and new objects together."
            )
        if self.seen is None:
            raise InvalidInputError(
                "This result is of labels only, which do not say where a new object lies. Call "
                "cluster(X), or cluster(X, ensemble=...) with the data of these clusterings."
            )
        return self.seen.placer(
            "cluster",
            self.ensemble,
            self.labels,
            confidence=self.confidence,
            runner_up=self.runner_up,
        )

    def _violations_in_ids(self) -> list[dict[str, Any]]:
        assert self.violations is not None
        return [
            {
                "first": self.data.plain_id(one.first),
                "second": self.data.plain_id(one.second),
                "kind": one.kind,
            }
            for one in self.violations
        ]

    def save(self, folder: str | PathLike[str]) -> None:
        """Keep the result in a folder; `consilience.load` gives it back.

        Two files: ``model.json`` and ``model.npz``, plain values and arrays and never a pickle,
        with the version of their format. Kept are the data, the members, all there is to say, and
        what `predict` needs; not the seconds.

        Parameters
        ----------
        folder : path
            Made if need be; a result or estimator that was kept there is replaced.
        """
        # Here, because what it lists holds this class.
        from consilience.workflow._kept import save

        save(self, folder)

    # ---- views ------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """See `Result.to_dict`."""
        sure, k = self.confidence, self.ensemble.n_clusters
        return {
            "data": self.data.facts(),
            "ensemble": {
                "n_members": self.ensemble.n_members,
                "n_clusters_smallest": int(k.min()),
                "n_clusters_largest": int(k.max()),
                "from": self.why_members,
            },
            "method": {
                "name": self.method,
                "paper": self.paper,
                "parameters": self.parameters,
                "why": self.why_method,
            },
            "seed": self.seed,
            **({} if self.view_agreement is None else {"views": self.view_agreement.to_dict()}),
            **({} if self.violations is None else {"violations": self._violations_in_ids()}),
            "n_clusters": self.n_clusters,
            "n_clusters_chosen_by": self.chosen_by,
            "n_clusters_candidates": self.candidates(),
            "clarity": clarity_facts(self.verdict, self.clarity, given=self.asked is not None),
            "choice": None if self.choice is None else choice_facts(self.choice),
            "alternatives": alternative_facts(self.worth_a_look()),
            "comparison": None if self.comparison is None else comparison_facts(self.comparison),
            "cluster_sizes": self.sizes,
            "cluster_names": list(self.names),
            "changes": list(self.changes),
            "n_noise": self.n_noise,
            "n_moved": self.n_moved,
            "n_doubtful": int(self.doubtful.sum()),
            "mean_confidence": None if sure is None else round(float(sure.mean()), 6),
            "least_sure": self.least_sure(10),
            "agreement_with_truth": self.agreement,
        }

    def to_pandas(self) -> Any:
        """A pandas frame with what ``labels.csv`` says of each object, and its index."""
        called = np.array([*self.names, ""], dtype=object)[self.labels] if self.names else None
        columns = {
            "cluster": self.labels,
            "name": called,
            "confidence": self.confidence,
            "runner_up": self.runner_up,
            "ambiguity": self.ambiguity,
            "doubtful": self.doubtful,
        }
        return self._frame({name: v for name, v in columns.items() if v is not None})

    def timings(self) -> dict[str, Any]:
        """See `Result.timings`."""
        if self.comparison is None:
            return super().timings()
        names, seconds = self.comparison.names, self.comparison.seconds
        methods = {name: round(float(s), 3) for name, s in zip(names, seconds, strict=True)}
        return super().timings() | {"methods": methods}

    def page(
        self, *, title: str | None = None, about: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """See `Reported.page`."""
        check_page(title, about)
        known = self._about(Clusterings=self.why_members, Method=self.method_in_words())
        data = self.data
        # Heights of Ward's tree are no shares of clusterings.
        link = self.parameters.get("linkage") if self.method == "eac" else None
        return face("report").summarise_consensus(
            self.ensemble,
            self.labels,
            X=data.X,
            ids=data.ids,
            truth=data.truth,
            confidence=self.confidence,
            runner_up=self.runner_up,
            ambiguity=self._group_ambiguity,
            columns=data.columns,
            tree=self.tree,
            link=None if link == "ward" else link,
            choice=self.choice,
            clarity=self.clarity,
            alternatives=self.alternatives,
            comparison=self.comparison,
            profile=self.profile(),
            about=known | dict(about or {}),
            notes=(*self.notes, *self.changes),
            title=title or data.name or "Consensus of many clusterings",
            random_state=self.seed,
        )

    # ---- words ------------------------------------------------------------------------

    def method_in_words(self) -> str:
        """The method, its paper, and why it was taken."""
        link = self.parameters.get("linkage")
        name = f"{self.method}{f', {link} link' if link else ''}"
        words = f"{name} ({self.paper}): {self.why_method}"
        if self.n_moved is not None:
            objects = "object was" if self.n_moved == 1 else "objects were"
            words += (
                f" {self.n_moved} {objects} then moved to the cluster they are most often with."
            )
        return words

    def headline(self) -> list[tuple[str, str]]:
        """See `Result.headline`."""
        sizes, k = self.sizes, self.ensemble.n_clusters
        listed = ", ".join(map(str, sizes[:_MOST_SIZES])) + ", ..." * (len(sizes) > _MOST_SIZES)
        noise = f", {self.n_noise} in none" * bool(self.n_noise)
        clusters = f"{k.min()}" if k.min() == k.max() else f"{k.min()} to {k.max()}"
        lines = [
            ("data", self._about()["Data"]),
            ("clusters", f"{len(sizes)}, of {listed} objects{noise}"),
            ("number", self._number_in_words()),
            ("confidence", self._confidence_in_words()),
            ("method", self.method_in_words()),
            (
                "members",
                f"{self.ensemble.n_members}, of {clusters} clusters each: {self.why_members}",
            ),
        ]
        if self.agreement is not None:
            scores = ", ".join(f"{name} {value:.3f}" for name, value in self.agreement.items())
            lines.append(("truth", scores))
        return lines

    def rows(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """See `Result.rows`."""
        lines = []
        for cluster, size in enumerate(self.sizes[:_MOST_ROWS]):
            mean = self.mean_confidence(cluster)
            share = percent(size / self.n_objects)
            name = f" {self.names[cluster]}" if self.names else ""
            sure = "" if mean is None else f"{mean:.2f}"
            lines.append((f"{cluster}{name}".strip(), str(size), share, sure))
        if len(self.sizes) > _MOST_ROWS:
            rest = self.sizes[_MOST_ROWS:]
            lines.append((f"{len(rest)} more", str(sum(rest)), "", ""))
        return ("cluster", "objects", "share", "confidence"), lines

    def _number_in_words(self) -> str:
        if not are_names(self.changes):
            return " ".join(("Changed by hand.", *self.changes))
        words = self._why_number()
        return " ".join((words.rstrip(".") + ".", *self.changes)) if self.changes else words

    def _why_number(self) -> str:
        if self.asked is not None:
            k = self.n_clusters
            words = "as asked" if k == self.asked else f"{self.asked} were asked for"
            return words if self.clarity is None else f"{words}. {self.clarity.said(given=True)}"
        if self.choice is not None and self.clarity is not None:
            return f"{self.choice.words} {self.clarity.words}"
        if self.choice is not None:
            return self.choice.words
        return f"chosen by {self.method}"

    def _confidence_in_words(self) -> str:
        mean = self.mean_confidence()
        if mean is None:
            return "there is no other cluster to be torn to"
        unsure = int(self.doubtful.sum())
        words = f"{mean:.3f} on average; {unsure or 'no'} object{'s' * (unsure != 1)} doubtful"
        elsewhere = self.n_suited_elsewhere
        return words + f", another cluster suits {elsewhere} better" * bool(elsewhere)
