"""The whole job of clustering a graph: edges in, communities and how sure they are out."""

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from consilience._validation import COUNT, Interval, NoneValue, check_value
from consilience._words import plural
from consilience.compare import against_truth
from consilience.consensus.communities import communities
from consilience.datasets._graphs import Graph, as_graph
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, warn
from consilience.evidence import DOUBTFUL_BELOW, doubtful, suited_elsewhere
from consilience.generate import with_defaults
from consilience.generate.communities import CommunityEnsemble
from consilience.rows import Rows
from consilience.workflow._data import Data, check_lengths, checked_ensemble
from consilience.workflow._job import Job
from consilience.workflow._members import check_source, make_members, run_folder
from consilience.workflow._notes import noting
from consilience.workflow._seeds import job_seed
from consilience.workflow._task import check_members
from consilience.workflow.result import Result

__all__ = ["GraphResult", "cluster_graph"]

_OWNER = "cluster_graph"
_MOST_SIZES, _MOST_ROWS = 10, 20
_FEW = 5
# Mean adjusted Rand index of the members heard. Measured: .07 to .32 on random graphs and trees
# of preferential attachment, .44 on a grid, .72 on a random tree; .9 and more on graphs of
# Lancichinetti, Fortunato and Radicchi up to a mixing of .6, .8 to 1 on small real networks.
_CLEAR, _WEAK = 0.8, 0.5


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class GraphResult(Result):
    """What `cluster_graph` found; it shows itself in a notebook.

    Attributes
    ----------
    labels : ndarray of shape (n_objects,), int32
        Community of each node, -1 for nodes without edges.
    confidence : ndarray of shape (n_objects,)
        Of what the members heard say of the edges of a node: 1 is sure, 0.5 torn between two
        communities; below 0.5 another suits better.
    runner_up : ndarray of shape (n_objects,)
        The community that comes next; -1 where there is none.
    member_agreement : float
        How far the members heard agree with each other: a mean adjusted Rand index.
    heard : ndarray of int64
        The members heard: those that agree most with each other.
    n_rounds : int
        Rounds of members that it took.
    graph : consilience.datasets.Graph
    ensemble : Ensemble
        All members of the first round.
    generator : generator or None
        It made them.
    why_members : str
        Where the members come from.
    agreement : dict or None
        "consistency_index", "nmi" and "ari" against the known groups, where there are any.
    data, seed, notes, seconds
        The nodes, ``random_state`` of a run that gives the same, warnings in words, and the time of
        each stage.
    """

    job: ClassVar[str] = "cluster_graph"
    views: ClassVar[str] = "labels, confidence, runner_up, doubtful, least_sure(), to_pandas()"
    doubtful_below: ClassVar[float] = DOUBTFUL_BELOW

    labels: NDArray[np.int32]
    confidence: NDArray[np.float64]
    runner_up: NDArray[np.int32]
    member_agreement: float
    heard: NDArray[np.int64]
    n_rounds: int
    graph: Graph
    ensemble: Ensemble
    generator: Any
    why_members: str
    agreement: dict[str, float] | None

    @property
    def n_clusters(self) -> int:
        """Communities found."""
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> list[int]:
        """Nodes in each community."""
        placed = self.labels[self.labels >= 0]
        return [int(size) for size in np.bincount(placed, minlength=self.n_clusters)]

    @property
    def n_noise(self) -> int:
        """Nodes in no community."""
        return int((self.labels < 0).sum())

    @property
    def doubtful(self) -> NDArray[np.bool_]:
        """Nodes with a confidence below 0.75."""
        return doubtful(self.labels, self.confidence)

    @property
    def n_suited_elsewhere(self) -> int:
        """Nodes that the members put together with another community more often."""
        return int(suited_elsewhere(self.labels, self.confidence, self.runner_up).sum())

    @property
    def verdict(self) -> str:
        """ "clear", "weak" or "none": whether the members heard come to the same communities."""
        agreed = self.member_agreement
        return "clear" if agreed >= _CLEAR else "weak" if agreed >= _WEAK else "none"

    def mean_confidence(self, cluster: int | None = None) -> float | None:
        """Mean confidence in a community, or in all; None where one has no rival."""
        number = Interval(Integral, 0, self.n_clusters - 1)
        check_value("cluster", cluster, [number, NoneValue()], owner="mean_confidence")
        if self.n_clusters < 2:
            return None
        nodes = self.labels >= 0 if cluster is None else self.labels == cluster
        return float(self.confidence[nodes].mean())

    def least_sure(self, most: int = 10) -> list[dict[str, Any]]:
        """The nodes of least confidence, the least sure first; none that are fully sure."""
        check_value("most", most, [*COUNT, NoneValue()], owner="least_sure")
        unsure = np.flatnonzero((self.labels >= 0) & (self.confidence < 1))
        nodes = unsure[np.argsort(self.confidence[unsure], kind="stable")][:most].tolist()
        return [
            {
                "id": self.data.plain_id(i),
                "cluster": int(self.labels[i]),
                "runner_up": int(self.runner_up[i]),
                "confidence": round(float(self.confidence[i]), 4),
            }
            for i in nodes
        ]

    def to_dict(self) -> dict[str, Any]:
        """See `Result.to_dict`."""
        k, mean = self.ensemble.n_clusters, self.mean_confidence()
        return {
            "data": {"n_objects": self.n_objects, "n_edges": self.graph.n_edges},
            "ensemble": {
                "n_members": self.ensemble.n_members,
                "n_clusters_smallest": int(k.min()),
                "n_clusters_largest": int(k.max()),
                "from": self.why_members,
            },
            "method": {
                "name": "communities",
                "n_heard": len(self.heard),
                "n_rounds": self.n_rounds,
                "member_agreement": round(self.member_agreement, 6),
            },
            "seed": self.seed,
            "n_clusters": self.n_clusters,
            "clarity": {"verdict": self.verdict, "words": self._clarity_in_words()},
            "cluster_sizes": self.sizes,
            "n_noise": self.n_noise,
            "n_doubtful": int(self.doubtful.sum()),
            "mean_confidence": None if mean is None else round(mean, 6),
            "least_sure": self.least_sure(10),
            "agreement_with_truth": self.agreement,
        }

    def to_pandas(self) -> Any:
        """A pandas frame with the community of each node, how sure, and the next best."""
        return self._frame(
            {
                "cluster": self.labels,
                "confidence": self.confidence,
                "runner_up": self.runner_up,
                "doubtful": self.doubtful,
            }
        )

    def data_in_words(self) -> str:
        """Nodes and edges."""
        return f"{plural(self.n_objects, 'node')}, {plural(self.graph.n_edges, 'edge')}"

    def _clarity_in_words(self) -> str:
        agreed = f"{len(self.heard)} of {self.ensemble.n_members} partitions are heard, which agree"
        how = f"{agreed} with each other (adjusted Rand index {self.member_agreement:.2f})"
        ends = {
            "clear": ": these are communities.",
            "weak": " in part: some of these communities may be others in another run.",
            "none": " hardly more than on a random graph: there may be no communities here.",
        }
        return how + ends[self.verdict]

    def headline(self) -> list[tuple[str, str]]:
        """See `Result.headline`."""
        sizes, k = self.sizes, self.ensemble.n_clusters
        largest = sorted(sizes, reverse=True)
        listed = ", ".join(map(str, largest[:_MOST_SIZES])) + ", ..." * (len(sizes) > _MOST_SIZES)
        noise = f"; {self.n_noise} in none" * bool(self.n_noise)
        mean = self.mean_confidence()
        lines = [
            ("data", (f"{self.graph.name}: " if self.graph.name else "") + self.data_in_words()),
            ("communities", f"{len(sizes)}, of {listed} nodes{noise}"),
            ("clarity", self._clarity_in_words()),
            (
                "confidence",
                "there is no other community to be torn to"
                if mean is None
                else f"{mean:.3f} on average; {plural(int(self.doubtful.sum()), 'node')} doubtful",
            ),
            (
                "members",
                f"{self.ensemble.n_members}, of {k.min()} to {k.max()} communities each: "
                f"{self.why_members}",
            ),
        ]
        if self.agreement is not None:
            scores = ", ".join(f"{name} {value:.3f}" for name, value in self.agreement.items())
            lines.append(("truth", scores))
        return lines

    def rows(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """See `Result.rows`; the largest first."""
        sizes = self.sizes
        order = np.argsort(-np.array(sizes), kind="stable")
        lines = []
        for cluster in order[:_MOST_ROWS].tolist():
            mean = self.mean_confidence(cluster)
            share = f"{sizes[cluster] / self.n_objects:.0%}"
            sure = "" if mean is None else f"{mean:.2f}"
            lines.append((str(cluster), str(sizes[cluster]), share, sure))
        rest = order[_MOST_ROWS:].tolist()
        if rest:
            lines.append((f"{len(rest)} more", str(sum(sizes[c] for c in rest)), "", ""))
        return ("community", "nodes", "share", "confidence"), lines


def cluster_graph(
    graph: Any,
    *,
    resolution: Any = None,
    n_members: int = 30,
    generator: Any = None,
    ensemble: Any = None,
    ids: Any = None,
    truth: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    run: Any = None,
    callbacks: Sequence[Any] = (),
) -> GraphResult:
    """The communities of a graph by the consensus of many runs of Louvain: the whole job.

    What ``consilience cluster --graph FILE`` does, with the same result. Only edges are ever
    looked at, so that time and memory grow with them.

    Parameters
    ----------
    graph : edge list, square matrix, networkx graph, frame or consilience.datasets.Graph
        See `consilience.datasets.as_graph`; `consilience.datasets.read_graph` reads files. Taken
        without direction.
    resolution : float, (low, high) or None, default=None
        How fine communities may be, see `consilience.generate.CommunityEnsemble`. None looks at
        all, and takes those that runs agree about.
    n_members : int, default=30
        Partitions to make, where no generator is given.
    generator : generator or None, default=None
        Makes the members; None is `CommunityEnsemble`.
    ensemble : Ensemble, or anything `Ensemble` takes, optional
        Partitions of the nodes you already have, instead of new ones.
    ids, truth : sequences of length n_objects, optional
        Names of the nodes; known groups, which are only compared with the result.
    random_state : int, RandomState or None, default=None
        Equal numbers give equal results, whatever ``n_jobs``. None draws a number, which is
        ``seed`` of the result.
    n_jobs : int or None, default=None
        Processes; None means one.
    run : path, RunFolder or None, default=None
        Folder that keeps every member as soon as it is made; the same call goes on from there.
    callbacks : sequence of scikit-learn callbacks
        Told of every stage.

    Returns
    -------
    GraphResult
        Warnings on the way are its ``notes``.

    Raises
    ------
    ConsilienceError
        If a parameter or the graph cannot be used.

    Examples
    --------
    >>> from consilience.datasets import make_lfr
    >>> sample = make_lfr(300, mixing=0.2, random_state=0)
    >>> result = cluster_graph(sample.edges, truth=sample.groups, n_members=15, random_state=0)
    >>> result.n_clusters, result.verdict, result.agreement["nmi"]
    (8, 'clear', 1.0)
    """
    members = checked_ensemble(ensemble, owner=_OWNER)
    check_members(None, generator, n_members, random_state, n_jobs, owner=_OWNER)
    check_source(members, generator, run, owner=_OWNER)
    folder = run_folder(run, owner=_OWNER)
    seed = job_seed(random_state, folder)
    if members is not None and resolution is not None:
        raise InvalidInputError(
            f"The 'resolution' parameter of {_OWNER} belongs to members that are to be made, and "
            "'ensemble' gives them. Give one of them."
        )
    maker, why = _maker(generator, members, resolution, n_members, seed, n_jobs)
    job = Job(_OWNER, 3).told_to(callbacks)

    def work(job: Job) -> dict[str, Any]:
        with job.stage("prepare"):
            if members is None and generator is None and n_members < _FEW:
                warn(f"{n_members} partitions are few to agree with each other. The default is 30.")
            network = _graph(graph)
            check_lengths({"ids": ids, "truth": truth}, network.n_objects, owner=_OWNER)
        with job.stage("generate", maker):
            rows = Rows(network.adjacency, index=network.ids)
            made = make_members(maker, rows, folder) if members is None else members
        with job.stage("consensus"):
            result = communities(made, network, generator=maker)
        names = network.ids if ids is None else np.asarray(ids)
        return {
            "labels": result.labels,
            "confidence": result.details["confidence"],
            "runner_up": result.details["runner_up"],
            "member_agreement": result.details["agreement"],
            "heard": result.details["heard"],
            "n_rounds": int(result.n_iter or 1),
            "graph": network,
            "ensemble": made,
            "data": Data(network.n_objects, ids=names, truth=truth, name=network.name),
            "agreement": None if truth is None else against_truth(truth, result.labels),
        }

    with noting() as notes:
        done = job.run(work)
    return GraphResult(
        seed=seed,
        seconds=job.seconds,
        notes=tuple(notes),
        generator=maker,
        why_members=why,
        **done,
    )


def _graph(graph: Any) -> Graph:
    if isinstance(graph, str | PathLike):
        raise InvalidInputError(
            f"The 'graph' parameter of {_OWNER} must be a graph. Got the name of a file instead. "
            f"Read it with consilience.datasets.read_graph({str(graph)!r})."
        )
    return as_graph(graph, owner=_OWNER)


def _maker(
    generator: Any,
    members: Ensemble | None,
    resolution: Any,
    n_members: int,
    seed: int,
    n_jobs: int | None,
) -> tuple[Any, str]:
    """What makes the members, and in words; None where they are given."""
    if members is not None:
        return None, "given."
    if generator is not None:
        wanted = with_defaults(generator, seed, n_jobs)
        return wanted, f"{type(wanted).__name__}, as asked."
    made = CommunityEnsemble(n_members, resolution=resolution, random_state=seed, n_jobs=n_jobs)
    return made, "Louvain at many resolutions, on nine tenths of the edges each."
