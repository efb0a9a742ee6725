"""The whole job of clustering: data in, one consensus and all there is to say about it out."""

from collections.abc import Mapping, Sequence
from typing import Any

from consilience._labels import is_frame
from consilience._validation import Boolean, check_n_clusters, check_value
from consilience.consensus import CONSENSUS
from consilience.consensus.known import knowledge_of
from consilience.predict._hashes import row_hashes
from consilience.predict._seen import Seen
from consilience.rows import device_of_data
from consilience.workflow._columns import checked_columns
from consilience.workflow._data import Data, check_scale, checked_ensemble, gather
from consilience.workflow._groups import result_fields
from consilience.workflow._job import Job
from consilience.workflow._members import check_source, run_folder
from consilience.workflow._methods import Named, check_methods
from consilience.workflow._metric import by_metric, check_metric, scaled_by
from consilience.workflow._notes import noting
from consilience.workflow._object_weights import copies_of, refuse_with_weights, taken_out
from consilience.workflow._places import advise, chosen_device
from consilience.workflow._seeds import job_seed
from consilience.workflow._soft_members import check_soft
from consilience.workflow._task import (
    OURS,
    Task,
    check_looked_for,
    check_members,
    check_needs_data,
    check_objects,
)
from consilience.workflow.cluster_result import ClusterResult
from consilience.workflow.large import (
    LargeTask,
    cluster_large,
    refuse_in_memory_only,
    rows_in_blocks,
)

__all__ = ["cluster"]

_OWNER = "cluster"


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
        check_value(name, value, CONSENSUS[OURS].rules[name], owner=_OWNER)
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
    if [one.name for one in named.methods] == [OURS] and not strict:
        named = Named()  # as if nobody had named it: its options are parameters here
    task = Task(
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
    check_needs_data(named, X)
    check_looked_for(task)
    X, object_weights = taken_out(X, object_weights, owner=_OWNER)
    if object_weights is not None:
        knowledge = {
            "must_link": must_link,
            "cannot_link": cannot_link,
            "partial_labels": partial_labels,
        }
        refuse_with_weights(
            {
                "methods": len(named.methods) > 1,
                "refine": refine,
                "X, several views,": isinstance(X, Mapping) and not is_frame(X),
                **{name: value is not None for name, value in knowledge.items()},
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
        fields = result_fields(job, task, data, given, known)
        if copies is not None:
            fields = copies.of_objects(fields)
        return {"seen": _seen(fields["data"], fields["generator"], task.n_jobs), **fields}

    with noting() as notes:
        fields = job.run(work)
    return ClusterResult(
        asked=n_clusters, seed=task.seed, seconds=job.seconds, notes=tuple(notes), **fields
    )


def _seen(data: Data, generator: Any, n_jobs: int | None) -> Seen | None:
    """What new objects are placed by; None without data."""
    if data.rows is None or data.metric is not None:
        return None
    hashes = None if data.X is data.original else row_hashes(data.original, n_jobs)
    return Seen(data.X, getattr(generator, "models_", None), hashes)
