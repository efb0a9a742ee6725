"""From data to groups: members, how many groups there are, consensus, in the order they need."""

from typing import Any

from numpy.typing import NDArray
from scipy import sparse

from consilience.compare import against_truth
from consilience.consensus.known import Knowledge
from consilience.engines import labels_stay
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.generate import DistanceEnsemble, RunFolder, default_generator, with_defaults
from consilience.workflow._choosing import Number, by_criteria, by_lines
from consilience.workflow._consensus import by_knowledge, consensus, respecting
from consilience.workflow._data import Data
from consilience.workflow._job import Job
from consilience.workflow._members import make_members
from consilience.workflow._methods import check_methods
from consilience.workflow._metric import distance_members
from consilience.workflow._mixed import mixed_generator, refilled
from consilience.workflow._one_column import warn_of_divided, warn_of_one_column
from consilience.workflow._places import place_of_members
from consilience.workflow._soft_members import labels_of, soft_or_none
from consilience.workflow._task import OURS, Task
from consilience.workflow._view_agreement import view_agreement

__all__ = ["groups_of", "result_fields"]

#: Members below which the evidence is thin.
_FEW = 5


def result_fields(
    job: Job,
    task: Task,
    data: Data,
    given: Ensemble | None,
    known: Knowledge | None = None,
    *,
    on_the_way: bool = False,
) -> dict[str, Any]:
    """Fields of a `ClusterResult`: members, number, consensus.

    Of groups ``on_the_way`` to something else nobody asks how clear they are.
    """
    number = Number(task.n_clusters)
    first = task.number_first and given is None
    if first and task.wants_number:
        number = _number(job, task, data, None)
    generator, why_members = _generator(task, data, given, number.n_clusters if first else None)
    with job.stage("generate", generator):
        ensemble = given
        if ensemble is None:
            own = task.generator is None or isinstance(task.generator, DistanceEnsemble)
            rows = data.seen_by_members if own else data.rows
            ensemble = make_members(generator, rows, task.run)
    judged_by, ensemble = ensemble, labels_of(ensemble)
    data = refilled(data, ensemble)
    if task.wants_number and not first and not task.by_lines:
        number = _number(job, task, data, ensemble)
    with labels_stay():
        if known is not None and task.by_lines:
            fields = by_knowledge(job, task, data, ensemble, known)
        else:
            fields = consensus(job, task, data, judged_by, number)
        if known is not None:
            fields |= respecting(task, judged_by, known, fields["labels"])
    if not on_the_way:
        _warn_of_unjudged(task, data, number, fields["labels"])
    warn_of_one_column(data, fields["labels"])
    if given is None:
        warn_of_divided(data, fields["labels"])
    truth = None if data.truth is None else against_truth(data.truth, fields["labels"])
    agreement = None
    if data.views and given is None:
        agreement = view_agreement(data.views, ensemble, fields["labels"])
        for sentence in agreement.sentences() if agreement is not None else ():
            warn(sentence)
    places = {"prepare": "cpu"}
    if given is None:
        places["generate"] = place_of_members(ensemble.records or ())
    fields["ran_on"] = places | fields["ran_on"]
    return fields | {
        "data": data,
        "view_agreement": agreement,
        "ensemble": ensemble,
        "soft_members": soft_or_none(judged_by),
        "generator": generator,
        "why_members": why_members,
        "agreement": truth,
    }


def _warn_of_unjudged(task: Task, data: Data, number: Number, labels: NDArray[Any]) -> None:
    """Warn that nobody asked whether the groups of a method that was named are more than chance."""
    if task.by_lines or task.strict or data.rows is None or labels.max(initial=0) < 1:
        return
    if number.clarity is not None:
        warn(
            "The number of groups is that of AutoConsensus. Of its groups, not of these, this "
            f"holds: {number.clarity.words}"
        )
    elif OURS not in [method.name for method in task.named.methods]:
        warn(
            "How clear these groups are was not judged, because a method was named. Without one, "
            "groups are compared with those of data without any."
        )


def _number(job: Job, task: Task, data: Data, ensemble: Ensemble | None) -> Number:
    """The number of groups for methods that cannot find it."""
    with job.stage("number of clusters"):
        how: dict[str, Any] = {
            "most": task.max_clusters,
            "seed": task.seed,
            "n_jobs": task.n_jobs,
        }
        if task.strict:
            return by_criteria(data.rows, ensemble, **how)
        return by_lines(data.rows, ensemble, effort=task.effort, **how)


def _generator(
    task: Task, data: Data, given: Ensemble | None, n_groups: int | None
) -> tuple[Any, str]:
    """What makes the members, and why; None where they are given."""
    if given is not None:
        return None, "given."
    if task.generator is not None:
        wanted = with_defaults(task.generator, task.seed, task.n_jobs, task.place("generate"))
        if isinstance(wanted, DistanceEnsemble) and data.distances is not None:
            wanted.set_params(metric="precomputed")
        return wanted, f"{type(wanted).__name__}, as asked."
    _warn_of_few(task.n_members)
    if data.distances is not None:
        return distance_members(data, task.n_members, n_groups, task.seed, task.n_jobs)
    if data.mixed is not None:
        return mixed_generator(data, task.n_members, n_groups, task.seed, task.n_jobs)
    n, d = data.X.shape
    taken = default_generator(
        n,
        d,
        n_members=task.n_members,
        random_state=task.seed,
        n_jobs=task.n_jobs,
        sparse=sparse.issparse(data.X),
        n_groups=n_groups,
    )
    maker = with_defaults(taken.generator, task.seed, task.n_jobs, task.place("generate"))
    return maker, f"{taken.name}. {taken.why}"


def _warn_of_few(n_members: int) -> None:
    """Warn of an ensemble too small to say how sure anything is."""
    if n_members < _FEW:
        warn(
            f"{n_members} clustering{'s are' if n_members > 1 else ' is'} few: confidence and the "
            "other evidence need many of them. The default is 100.",
        )


def groups_of(
    job: Job,
    data: Data,
    given: Ensemble | None,
    *,
    n_clusters: int | None,
    method: str | None,
    generator: Any,
    n_members: int,
    seed: int,
    n_jobs: int | None,
    run: RunFolder | None,
) -> dict[str, Any]:
    """Fields of a `ClusterResult`, for a job that needs groups on its way."""
    task = Task(
        n_clusters=n_clusters,
        max_clusters=None,
        effort="default",
        strict=False,
        named=check_methods(method, None, {}),
        generator=generator,
        n_members=n_members,
        refine=False,
        seed=seed,
        n_jobs=n_jobs,
        device=None,
        there=False,
        run=run,
    )
    return result_fields(job, task, data, given, on_the_way=True)
