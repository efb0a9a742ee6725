"""The whole job of clustering: data in, one consensus and all there is to say about it out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._labels import is_frame
from consilience._validation import (
    N_MEMBERS,
    Boolean,
    HasMethods,
    Interval,
    NoneValue,
    RandomState,
    Rule,
    check_jobs,
    check_n_clusters,
    check_value,
)
from consilience.compare import against_truth, compare_methods
from consilience.consensus import CONSENSUS, Method
from consilience.consensus import refine as refined
from consilience.consensus.auto import by_votes
from consilience.consensus.known import Knowledge, informed, knowledge_of
from consilience.engines import labels_stay
from consilience.ensemble import Ensemble
from consilience.errors import InvalidInputError, InvalidParameterError, warn
from consilience.evidence import Missing, never_seen
from consilience.evidence import confidence as confidence_in
from consilience.generate import (
    DistanceEnsemble,
    RunFolder,
    default_generator,
    with_defaults,
)
from consilience.predict._hashes import row_hashes
from consilience.predict._seen import Seen
from consilience.rows import Rows, device_of_data
from consilience.soft_ensemble import SoftEnsemble
from consilience.workflow._choosing import Number, by_criteria, by_lines, strict_method
from consilience.workflow._columns import checked_columns
from consilience.workflow._data import Data, check_scale, checked_ensemble, gather
from consilience.workflow._job import Job
from consilience.workflow._members import check_source, make_members, run_folder
from consilience.workflow._methods import (
    Named,
    check_methods,
    fit_method,
    own_limits,
    prepared,
)
from consilience.workflow._metric import (
    by_metric,
    check_metric,
    distance_members,
    scaled_by,
)
from consilience.workflow._mixed import in_all_views, mixed_generator, refilled
from consilience.workflow._notes import noting
from consilience.workflow._object_weights import copies_of, refuse_with_weights, taken_out
from consilience.workflow._one_column import warn_of_one_column
from consilience.workflow._places import (
    advise,
    chosen_device,
    place_of_members,
    place_of_stage,
)
from consilience.workflow._seeds import job_seed
from consilience.workflow._soft_members import check_soft, labels_of, soft_or_none
from consilience.workflow._view_agreement import view_agreement
from consilience.workflow.cluster_result import ClusterResult
from consilience.workflow.large import (
    LargeTask,
    cluster_large,
    refuse_in_memory_only,
    rows_in_blocks,
)

__all__ = ["cluster"]

_OWNER = "cluster"
_OURS = "autoconsensus"
_FEW = 5
_GENERATOR: list[Rule] = [
    HasMethods(("generate", "get_params", "set_params"), "a generator"),
    NoneValue(),
]


@dataclass(frozen=True, kw_only=True)
class _Task:
    """What is asked for, once it is known to be usable."""

    n_clusters: int | None
    max_clusters: int | None
    effort: str
    strict: bool
    named: Named
    generator: Any
    n_members: int
    refine: bool
    seed: int
    n_jobs: int | None
    device: str | None
    there: bool
    run: RunFolder | None

    def place(self, stage: str) -> str | None:
        """The device of a stage; None is the processor."""
        return place_of_stage(stage, self.device, there=self.there)

    @property
    def wants_number(self) -> bool:
        """Whether the number is to be found: nobody gave it, and no named method finds its own."""
        if self.n_clusters is not None:
            return False
        methods = self.named.methods
        return not methods or any(method.needs_n_clusters for method in methods)

    @property
    def by_lines(self) -> bool:
        """Whether the groups are those of `AutoConsensus`."""
        return not (self.named.methods or self.strict)

    @property
    def number_first(self) -> bool:
        """Whether the members wait for the number, since all methods want about so many."""
        methods = self.named.methods
        return (
            bool(methods)
            and self.generator is None
            and all(method.few_clusters for method in methods)
        )

    @property
    def n_stages(self) -> int:
        return 3 + (self.wants_number and not self.by_lines)


def cluster(
    X: Any = None,
    n_clusters: int | None = None,
    *,
    method: str | None = None,
    methods: Sequence[str] | Mapping[str, Mapping[str, Any]] | None = None,
    generator: Any = None,
    n_members: int = 100,
    ensemble: Any = None,
    ids: Any = None,
    truth: Any = None,
    scale: Any = "auto",
    gaps: str | None = None,
    transform: str | None = None,
    column_weights: Mapping[str, float] | None = None,
    metric: str | None = None,
    object_weights: Any = None,
    must_link: Any = None,
    cannot_link: Any = None,
    partial_labels: Any = None,
    refine: bool = False,
    max_clusters: int | None = None,
    effort: str = "default",
    strict: bool = False,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str | None = None,
    run: Any = None,
    callbacks: Sequence[Any] = (),
    **options: Any,
) -> Any:
    """The consensus clusters of a table, or of clusterings you already have: the whole job.

    Makes clusterings, finds the groups that independent ways to cluster come to, how many they
    are, and says two things of them: how sure it is of every object, and how clear the groups
    are as a whole, beside data without any. What ``consilience cluster`` does, with the same
    result.

    Parameters
    ----------
    X : array, pandas or polars frame, CSR matrix, torch tensor, or Table, optional
        One row an object, finite numbers. A frame's index and column names are kept, and it may
        have columns of categories, which members see as such, see
        `consilience.generate.MixedEnsemble`. A `Table` of `consilience.datasets.read_table` brings
        its identifiers and known groups. Not needed with ``ensemble``. Tables larger than memory
        are gone through in blocks: the path of a ``.parquet``, ``.npy``, ``.zarr`` or text table, a
        Dask array or frame, and what `consilience.open_rows` opened. Several views of the same
        objects are a mapping of names to tables, matched by index or identifiers; an object may be
        missing from some.
    n_clusters : int or None, default=None
        None finds the best supported number, see `consilience.AutoConsensus`.
    method : str or None, default=None
        Consensus method, a name of `consilience.consensus.CONSENSUS`; None is
        `consilience.AutoConsensus`. A method that cannot find the number itself is given that
        of `AutoConsensus`.
    methods : sequence of str, or mapping of str to mapping, optional
        Several methods: each is run, they are compared, and the one that agrees best with all
        clusterings is taken. A mapping gives each its own options.
    generator : generator or None, default=None
        Makes the members; None takes k-means as it suits the size of the data and the method.
    n_members : int, default=100
        Clusterings to make, where no generator is given.
    ensemble : Ensemble, or anything `Ensemble` takes, optional
        Clusterings you already have, instead of new ones. A `SoftEnsemble` of memberships is
        combined by the methods that can; without one `AutoConsensus` sees the most likely labels.
    ids, truth : sequences of length n_objects, optional
        Identifiers; known groups, which are only compared with the result.
    scale : "auto" or bool, default="auto"
        Bring every column to mean 0 and variance 1, and leave out constant ones. "auto" does so
        unless X is sparse, or a ``metric`` is not a sum over columns.
    gaps : {"keep"} or None, default=None
        What to do about missing values (NaN). None refuses them. "keep" keeps them as gaps: a
        clustering sees the objects that have its columns, and no object is dropped.
    transform : {"log", "compositional"} or None, default=None
        What to make of the numbers first: log(1 + x) of counts, or the centred log-ratios of
        shares.
    column_weights : mapping of str to float, optional
        How much columns count in squared distances, by name; 1 where nothing is said.
    metric : str or None, default=None
        Other distances than Euclidean: "manhattan", "chebyshev", "cosine", "correlation",
        "canberra", "braycurtis", "hamming", "jaccard", or "precomputed": X is then the square
        matrix of the distances of all objects. Members are those of
        `consilience.generate.DistanceEnsemble`; what looks at points, as `AutoConsensus` does, sees
        points with these distances, as nearly as may be, and the notes say how nearly.
    object_weights : sequence of length n_objects, or str, optional
        How often each object counts, above 0, or the name of the column of X that says so: an
        object of weight 2 counts as two that are the same. Only ratios matter; weights that are not
        whole numbers are rounded to quarters of their mean.
    must_link, cannot_link : sequences of pairs, optional
        Objects that belong together, and objects that do not, by identifier where there are
        identifiers, else by row number. Must-links all hold in the result; the others have a say
        in which groups are taken, see `consilience.consensus.known.informed`, and what is broken is
        in ``violations``. Contradictions are refused, with a smallest set of them.
    partial_labels : sequence of length n_objects, or mapping of objects to groups, optional
        Known groups of some objects, which have a say; unlike ``truth``, which has none.
    refine : bool, default=False
        Move objects that another cluster suits better to it, once.
    max_clusters : int or None, default=None
        Most groups to look for where the number is to be found. None looks as far as it has to.
    effort : {"quick", "default", "thorough"}, default="default"
        How closely `AutoConsensus` looks.
    strict : bool, default=False
        One group where nothing is clear, instead of the best guess: criteria decide (see
        `consilience.consensus.choose_n_clusters`), and a method that suits the size combines.
    random_state : int, RandomState or None, default=None
        Equal numbers give equal results, whatever ``n_jobs``. The command has 0. None draws a
        number, which is ``seed`` of the result.
    n_jobs : int or None, default=None
        Threads; None means one.
    device : str or None, default=None
        A torch device, such as "cuda": what gains much from it is done there, which is making
        members, and the result is the same. None is the processor, or the device of X where that
        is a torch tensor: there objects are placed and labels judged on it too. ``ran_on`` of the
        result says where each stage ran.
    run : path, RunFolder or None, default=None
        Folder that keeps every member as soon as it is made. Whatever ends the job, the same
        call goes on from there; members of another run are refused. It is left as it is in the
        end.
    callbacks : sequence of scikit-learn callbacks
        Told of every stage; one that raises ends the job.
    **options
        Of the consensus method, such as ``linkage="single"`` of "eac". An option that the
        method does not know is refused by name.

    Returns
    -------
    ClusterResult
        Warnings on the way are its ``notes``. A `LargeResult` where X is not in memory: labels
        and confidence of all objects by a linear method (SEC if none is named; ``max_memory``
        is what its table of distinct label rows may take), everything else from a sample.

    Raises
    ------
    ConsilienceError
        If a parameter or the data cannot be used.

    Examples
    --------
    >>> from consilience.datasets import make_gaussians
    >>> X, truth = make_gaussians(150, 3, random_state=0)
    >>> result = cluster(X, n_members=30, truth=truth, random_state=0)
    >>> result.n_clusters, result.clarity.verdict, result.method
    (3, 'clear', 'autoconsensus')
    >>> result.labels.shape, float(result.confidence.mean()) > 0.9
    ((150,), True)
    """
    with noting() as said:  # a text file is converted
        stored = rows_in_blocks(X)
    if stored is not None:
        refuse_in_memory_only(
            {
                "methods": (methods, None),
                "ensemble": (ensemble, None),
                "ids": (ids, None),
                "truth": (truth, None),
                "gaps": (gaps, None),
                "transform": (transform, None),
                "column_weights": (column_weights, None),
                "metric": (metric, None),
                "object_weights": (object_weights, None),
                "must_link": (must_link, None),
                "cannot_link": (cannot_link, None),
                "partial_labels": (partial_labels, None),
                "refine": (refine, False),
                "effort": (effort, "default"),
                "strict": (strict, False),
                "device": (device, None),
            },
            owner=_OWNER,
        )
    max_memory = options.pop("max_memory", "4 GiB") if stored is not None else None
    named = check_methods(method, methods, options)
    members = checked_ensemble(ensemble, owner=_OWNER)
    check_members(n_clusters, generator, n_members, random_state, n_jobs, owner=_OWNER)
    check_source(members, generator, run, owner=_OWNER)
    check_value("refine", refine, [Boolean()], owner=_OWNER)
    check_soft(named, members, generator, refine, owner=_OWNER)
    check_value("strict", strict, [Boolean()], owner=_OWNER)
    for name, value in (("max_clusters", max_clusters), ("effort", effort)):
        check_value(name, value, CONSENSUS[_OURS].rules[name], owner=_OWNER)
    check_scale(scale, owner=_OWNER)
    columns = checked_columns(gaps, transform, column_weights, owner=_OWNER)
    distances = check_metric(metric, X, columns, scale, members, owner=_OWNER)
    device = chosen_device(X, device, owner=_OWNER)
    folder = run_folder(run, owner=_OWNER)
    if stored is not None:
        large = LargeTask(
            n_clusters=n_clusters,
            max_clusters=max_clusters,
            method=method,
            options=options,
            generator=generator,
            n_members=n_members,
            scale=scale,
            seed=job_seed(random_state, folder),
            n_jobs=n_jobs,
            run=folder,
            max_memory=max_memory,
            said=tuple(said),
        )
        return cluster_large(stored, large, owner=_OWNER, callbacks=callbacks)
    if [one.name for one in named.methods] == [_OURS] and not strict:
        named = Named()  # as if nobody had named it: its options are parameters here
    task = _Task(
        n_clusters=n_clusters,
        max_clusters=max_clusters,
        effort=effort,
        strict=strict,
        named=named,
        generator=generator,
        n_members=n_members,
        refine=refine,
        seed=job_seed(random_state, folder),
        n_jobs=n_jobs,
        device=device,
        there=device is not None and device_of_data(X) == device,
        run=folder,
    )
    _check_needs_data(named, X)
    _check_looked_for(task)
    X, object_weights = taken_out(X, object_weights, owner=_OWNER)
    if object_weights is not None:
        told = {
            "must_link": must_link,
            "cannot_link": cannot_link,
            "partial_labels": partial_labels,
        }
        refuse_with_weights(
            {
                "methods": len(named.methods) > 1,
                "refine": refine,
                "X, several views,": isinstance(X, Mapping) and not is_frame(X),
                **{name: value is not None for name, value in told.items()},
            },
            owner=_OWNER,
        )
    job = Job(_OWNER, task.n_stages).told_to(callbacks)

    def work(job: Job) -> dict[str, Any]:
        with job.stage("prepare"):
            copies = copies_of(object_weights, owner=_OWNER)
            data = gather(
                X,
                ensemble=members,
                ids=ids,
                truth=truth,
                scale=scaled_by(distances, scale),
                columns=columns,
                weights=object_weights,
                copies=None if copies is None else copies.rows,
                owner=_OWNER,
            )
            data = by_metric(data, distances, owner=_OWNER)
            check_objects(data, n_clusters, owner=_OWNER)
            if copies is not None and n_clusters is not None:
                check_n_clusters(n_clusters, copies.n_objects, owner=_OWNER)
            if data.X is not None and members is None:
                n, d = data.X.shape
                advise(n, d, n_members, device)
        known = knowledge_of(
            data.n_objects, must_link, cannot_link, partial_labels, ids=data.ids, owner=_OWNER
        )
        given = members if copies is None or members is None else members.take(copies.rows)
        found = _found(job, task, data, given, known)
        if copies is not None:
            found = copies.of_objects(found)
        return {"seen": _seen(found["data"], found["generator"], task.n_jobs), **found}

    with noting() as notes:
        found = job.run(work)
    return ClusterResult(
        asked=n_clusters, seed=task.seed, seconds=job.seconds, notes=tuple(notes), **found
    )


def _seen(data: Data, generator: Any, n_jobs: int | None) -> Seen | None:
    """What new objects are placed by; None without data."""
    if data.rows is None or data.metric is not None:
        return None
    hashes = None if data.X is data.original else row_hashes(data.original, n_jobs)
    return Seen(data.X, getattr(generator, "models_", None), hashes)


def check_members(
    n_clusters: Any,
    generator: Any,
    n_members: Any,
    random_state: Any,
    n_jobs: Any,
    *,
    owner: str,
) -> None:
    """Refuse what the number of clusters and the making of members cannot be."""
    check_value("n_clusters", n_clusters, [Interval(Integral, 1), NoneValue()], owner=owner)
    check_value("generator", generator, _GENERATOR, owner=owner)
    check_value("n_members", n_members, [N_MEMBERS], owner=owner)
    check_value("random_state", random_state, [RandomState()], owner=owner)
    check_jobs(n_jobs, owner=owner)


def check_objects(data: Data, n_clusters: int | None, *, owner: str) -> None:
    """Refuse too few objects for what is asked."""
    if data.n_objects < 2:
        raise InvalidInputError(
            f"{owner} was given one object; there is nothing to cluster. Clustering needs at "
            "least two."
        )
    if n_clusters is not None:
        check_n_clusters(n_clusters, data.n_objects, owner=owner)


def _check_needs_data(named: Named, X: Any) -> None:
    for method in named.methods:
        if method.needs_data and X is None:
            raise InvalidInputError(
                f"The method {method.name!r} needs the data, not only labels. Pass X as well."
            )


def _check_looked_for(task: _Task) -> None:
    """Refuse what belongs to a number that is looked for where none is."""
    if task.max_clusters is not None and not task.wants_number:
        known = "'n_clusters' gives it" if task.n_clusters else "the method finds its own"
        raise InvalidParameterError(
            f"The 'max_clusters' parameter of {_OWNER} (--max-k) belongs to a number that is to "
            f"be found, and {known}. Leave one of them out."
        )
    if task.strict and not task.wants_number:
        known = "'n_clusters' gives it" if task.n_clusters else "the method finds its own"
        raise InvalidParameterError(
            f"The 'strict' parameter of {_OWNER} (--strict) belongs to a number that is to be "
            f"found, and {known}. Leave one of them out."
        )
    if task.strict and task.effort != "default":
        raise InvalidParameterError(
            f"The 'effort' parameter of {_OWNER} (--effort) belongs to AutoConsensus, which "
            "'strict' (--strict) does without. Leave one of them out."
        )


def _found(
    job: Job,
    task: _Task,
    data: Data,
    given: Ensemble | None,
    known: Knowledge | None = None,
) -> dict[str, Any]:
    """Fields of a `ClusterResult`: members, number, consensus."""
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
            found = _by_knowledge(job, task, data, ensemble, known)
        else:
            found = _consensus(job, task, data, judged_by, number)
        if known is not None:
            found |= _respecting(task, judged_by, known, found["labels"])
    warn_of_one_column(data, found["labels"])
    truth = None if data.truth is None else against_truth(data.truth, found["labels"])
    agreement = None
    if data.views and given is None:
        agreement = view_agreement(data.views, ensemble, found["labels"])
        for sentence in agreement.sentences() if agreement is not None else ():
            warn(sentence)
    places = {"prepare": "cpu"}
    if given is None:
        places["generate"] = place_of_members(ensemble.records or ())
    found["ran_on"] = places | found["ran_on"]
    return found | {
        "data": data,
        "view_agreement": agreement,
        "ensemble": ensemble,
        "soft_members": soft_or_none(judged_by),
        "generator": generator,
        "why_members": why_members,
        "agreement": truth,
    }


def _number(job: Job, task: _Task, data: Data, ensemble: Ensemble | None) -> Number:
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
    task: _Task, data: Data, given: Ensemble | None, n_groups: int | None
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


def _consensus(
    job: Job, task: _Task, data: Data, ensemble: Ensemble, number: Number
) -> dict[str, Any]:
    """The consensus by the method that was named, by the best of several, or by ours."""
    said = {"choice": number.choice, "clarity": None, "alternatives": ()}
    if len(task.named.methods) > 1:
        with job.stage("consensus"):
            found = _best_of_several(task, number.n_clusters, data, ensemble)
            return found | said | _moved(task, ensemble, found)
    if task.by_lines:
        return _by_lines(job, task, data, ensemble)
    if task.named.methods:
        (method,) = task.named.methods
        why, own = task.named.why, task.named.options[method.name]
    else:
        taken = strict_method(data, ensemble, number.choice)
        method, why = taken.method, taken.why
        own = own_limits(method, task.named.limits) | dict(taken.parameters)
        if isinstance(ensemble, SoftEnsemble) and not method.soft:
            ensemble = ensemble.harden()
    model = prepared(
        method, number.n_clusters, own, random_state=task.seed, n_jobs=task.n_jobs,
        device=task.place(method.name),
    )  # fmt: skip
    with job.stage("consensus", model):
        found = _fitted(task, method, model, data, ensemble) | said | {"why_method": why}
        return found | _moved(task, ensemble, found)


def _fitted(
    task: _Task, method: Method, model: Any, data: Data, ensemble: Ensemble
) -> dict[str, Any]:
    """What a method's estimator makes of the members, judged where that gains."""
    places = {"consensus": "cpu"}
    if task.device is None:
        return fit_method(method, model, data.rows, ensemble) | {"ran_on": places}
    judged = model.get_params(deep=False).get("confidence", True)
    if "confidence" in model.get_params(deep=False):
        model.set_params(confidence=False)
    found = fit_method(method, model, data.rows, ensemble)
    places = (getattr(model, "details_", None) or {}).get("ran_on", places)
    if not judged:
        return found | {"ran_on": places}
    missing: Missing = getattr(model, "missing", "pair")
    return found | _judged(task, ensemble, found["labels"], places, missing)


def _by_lines(job: Job, task: _Task, data: Data, ensemble: Ensemble) -> dict[str, Any]:
    """The groups that independent ways to cluster come to."""
    method = CONSENSUS[_OURS]
    members, soft = ensemble, ensemble.is_soft
    ensemble = ensemble.harden() if isinstance(ensemble, SoftEnsemble) else ensemble
    own = {"max_clusters": task.max_clusters, "effort": task.effort}
    model = prepared(
        method, task.n_clusters, own, random_state=task.seed, n_jobs=task.n_jobs,
        device=task.place("labels of all objects"),
    )  # fmt: skip
    whole = in_all_views(data)
    with job.stage("consensus", model):
        if whole is None:
            found = _fitted(task, method, model, data, ensemble)
        else:
            found = fit_method(method, model, Rows(data.X[whole]), ensemble.take(whole))
            labels = by_votes(ensemble, whole, found["labels"], n_jobs=task.n_jobs)
            found |= {"labels": labels, **_judged(task, ensemble, labels, {"consensus": "cpu"})}
        if soft:
            found |= _judged(task, members, found["labels"], found["ran_on"])
        found |= {
            "choice": model.choice_,
            "clarity": model.clarity_,
            "alternatives": model.alternatives_ or (),
            "why_method": "The groups that independent ways to cluster come to"
            + (f"; these are those of {model.line_}." if model.line_ else "."),
        }
        return found | _moved(task, ensemble, found)


def _by_knowledge(
    job: Job, task: _Task, data: Data, ensemble: Ensemble, known: Knowledge
) -> dict[str, Any]:
    """The groups that have the most support and respect what is known."""
    with job.stage("consensus"):
        made = informed(
            ensemble,
            known,
            task.n_clusters,
            max_clusters=task.max_clusters,
            effort=task.effort,
            X=None if data.rows is None else data.X,
            random_state=task.seed,
        )
    return {
        "method": _OURS,
        "paper": CONSENSUS[_OURS].paper,
        "parameters": {"n_clusters": task.n_clusters, "effort": task.effort},
        "why_method": "Of what independent ways to cluster come to, what respects the knowledge "
        f"given ({made.details.get('line', 'one group')}).",
        "labels": made.labels,
        "lifetimes": None,
        "tree": None,
        "comparison": None,
        "choice": None,
        "clarity": None,
        "alternatives": (),
    }


def _respecting(
    task: _Task, ensemble: Ensemble, known: Knowledge, labels: NDArray[Any]
) -> dict[str, Any]:
    """Labels in which all must-links hold, and what is broken of the rest, which is noted."""
    labels = known.merged(labels)
    broken = known.violations(labels)
    n = len(known.must), len(known.cannot), int((known.partial >= 0).sum())
    kept = f"All {n[0]} must-links hold" if n[0] else "There were no must-links"
    apart = sum(one.kind == "cannot_link" for one in broken)
    others = sum(one.kind == "partial_labels" for one in broken)
    warn(
        f"{kept}; {apart} of {n[1]} cannot-links are broken; {others} of {n[2]} objects of known "
        "groups are not with most of their group. 'violations' of the result has the pairs."
    )
    places = {"consensus": "cpu"}
    return {"labels": labels, "violations": broken, **_judged(task, ensemble, labels, places)}


def _best_of_several(task: _Task, k: int | None, data: Data, ensemble: Ensemble) -> dict[str, Any]:
    """The consensus by the method that agrees best with the members."""
    found = compare_methods(
        ensemble,
        [method.name for method in task.named.methods],
        k,
        X=data.rows,
        truth=data.truth,
        random_state=task.seed,
        n_jobs=task.n_jobs,
        parameters=task.named.options,
    )
    labels = found.labels[found.best]
    return {
        "method": found.best,
        "paper": CONSENSUS[found.best].paper,
        "parameters": {"n_clusters": k, **task.named.options[found.best]},
        "why_method": "Of the methods asked for, it agrees best with all clusterings.",
        "labels": labels,
        **_judged(task, ensemble, labels),
        "lifetimes": None,
        "tree": None,
        "comparison": found,
    }


def _moved(task: _Task, ensemble: Ensemble, found: Mapping[str, Any]) -> dict[str, Any]:
    """What one pass over the objects changes, where it is asked for."""
    if not task.refine:
        return {}
    better = refined(ensemble, found["labels"], n_jobs=task.n_jobs)
    return {
        "labels": better.labels,
        **_judged(task, ensemble, better.labels, found["ran_on"]),
        "n_moved": int(better.moved.sum()),
    }


def _judged(
    task: _Task,
    ensemble: Ensemble,
    labels: NDArray[Any],
    places: Mapping[str, str] = MappingProxyType({"consensus": "cpu"}),
    missing: Missing = "pair",
) -> dict[str, Any]:
    """How sure the labels are, and where that and what came before was computed."""
    # Objects that nobody saw are sure of nothing.
    known = np.where(never_seen(ensemble), -1, labels)
    place = task.place("confidence")
    sure = confidence_in(ensemble, known, missing=missing, n_jobs=task.n_jobs, device=place)
    return {
        "confidence": sure.confidence,
        "runner_up": sure.runner_up,
        "ran_on": {**places, "confidence": sure.device},
    }


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
    task = _Task(
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
    return _found(job, task, data, given)
