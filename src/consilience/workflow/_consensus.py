"""The consensus of a job: by the method that was named, the best of several, or ours."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from consilience._words import listed, plural
from consilience.compare import compare_methods
from consilience.consensus import CONSENSUS, Method
from consilience.consensus import refine as refined
from consilience.consensus._clarity import doubted
from consilience.consensus.auto import by_votes
from consilience.consensus.known import Knowledge, Violation, informed
from consilience.ensemble import Ensemble
from consilience.errors import warn
from consilience.evidence import Missing, doubtful, never_seen
from consilience.evidence import confidence as confidence_in
from consilience.rows import Rows
from consilience.soft_ensemble import SoftEnsemble
from consilience.workflow._choosing import Number, strict_method
from consilience.workflow._data import Data
from consilience.workflow._job import Job
from consilience.workflow._methods import fit_method, own_limits, prepared
from consilience.workflow._mixed import in_all_views
from consilience.workflow._task import OURS, Task

__all__ = ["by_knowledge", "consensus", "respecting"]

# More objects in doubt about their group leave nothing clear.
_MOST_DOUBTFUL = 0.5


def consensus(
    job: Job, task: Task, data: Data, ensemble: Ensemble, number: Number
) -> dict[str, Any]:
    """The consensus by the method that was named, by the best of several, or by ours."""
    said = {"choice": number.choice, "clarity": None, "alternatives": ()}
    if len(task.named.methods) > 1:
        with job.stage("consensus"):
            fields = _best_of_several(task, number.n_clusters, data, ensemble)
            return fields | said | _moved(task, ensemble, fields)
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
        fields = _fitted(task, method, model, data, ensemble) | said | {"why_method": why}
        return fields | _moved(task, ensemble, fields)


def _fitted(
    task: Task, method: Method, model: Any, data: Data, ensemble: Ensemble
) -> dict[str, Any]:
    """What a method's estimator makes of the members, judged where that gains."""
    places = {"consensus": "cpu"}
    if task.device is None:
        return fit_method(method, model, data.rows, ensemble) | {"ran_on": places}
    judged = model.get_params(deep=False).get("confidence", True)
    if "confidence" in model.get_params(deep=False):
        model.set_params(confidence=False)
    fields = fit_method(method, model, data.rows, ensemble)
    places = (getattr(model, "details_", None) or {}).get("ran_on", places)
    if not judged:
        return fields | {"ran_on": places}
    missing: Missing = getattr(model, "missing", "pair")
    return fields | _judged(task, ensemble, fields["labels"], places, missing)


def _by_lines(job: Job, task: Task, data: Data, ensemble: Ensemble) -> dict[str, Any]:
    """The groups that independent ways to cluster come to."""
    method = CONSENSUS[OURS]
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
            fields = _fitted(task, method, model, data, ensemble)
        else:
            fields = fit_method(method, model, Rows(data.X[whole]), ensemble.take(whole))
            labels = by_votes(ensemble, whole, fields["labels"], n_jobs=task.n_jobs)
            fields |= {"labels": labels, **_judged(task, ensemble, labels, {"consensus": "cpu"})}
        if soft:
            fields |= _judged(task, members, fields["labels"], fields["ran_on"])
        fields |= {
            **_as_clear_as_sure(model, fields),
            "alternatives": model.alternatives_ or (),
            "why_method": "One cluster was asked for: all objects are in it."
            if task.n_clusters == 1
            else "The groups that independent ways to cluster come to"
            + (f"; these are those of {model.line_}." if model.line_ else "."),
        }
        return fields | _moved(task, ensemble, fields)


def _as_clear_as_sure(model: Any, fields: Mapping[str, Any]) -> dict[str, Any]:
    """The number and how clear its groups are: never clear where most objects are doubtful."""
    choice, clarity = model.choice_, model.clarity_
    unsure = doubtful(fields["labels"], fields["confidence"]).mean() > _MOST_DOUBTFUL
    if clarity is not None and unsure:
        clarity = doubted(clarity)
        choice = None if choice is None else replace(choice, clear=False)
    return {"choice": choice, "clarity": clarity}


def by_knowledge(
    job: Job, task: Task, data: Data, ensemble: Ensemble, known: Knowledge
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
        "method": OURS,
        "paper": CONSENSUS[OURS].paper,
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


def respecting(
    task: Task, ensemble: Ensemble, known: Knowledge, labels: NDArray[Any]
) -> dict[str, Any]:
    """Labels in which all must-links hold, and what is broken of the rest, which is noted."""
    labels = known.merged(labels)
    broken = known.violations(labels)
    said = f"{_how_kept(known, broken)}."
    warn(said + (" 'violations' of the result has the pairs." if broken else ""))
    places = {"consensus": "cpu"}
    return {"labels": labels, "violations": broken, **_judged(task, ensemble, labels, places)}


def _how_kept(known: Knowledge, broken: Sequence[Violation]) -> str:
    """What became of the links and groups that are known, in words."""
    parts = []
    if len(known.must):
        parts.append(f"{plural(len(known.must), 'must-link')} kept")
    if len(known.cannot):
        apart = sum(one.kind == "cannot_link" for one in broken)
        parts.append(f"{apart} of {plural(len(known.cannot), 'cannot-link')} broken")
    if (known.partial >= 0).any():
        grouped = [one for one in broken if one.kind == "partial_labels"]
        torn = sum(known.partial[one.first] == known.partial[one.second] for one in grouped)
        n = plural(int((known.partial >= 0).sum()), "object")
        parts.append(f"{torn} of {n} of known groups not with most of their group")
        if len(grouped) > torn:
            merged = plural(len(grouped) - torn, "known group")
            parts.append(f"{merged} in one cluster with another")
    if not parts:
        return "Nothing is known of any object"
    return f"Of what is known: {listed(parts)}"


def _best_of_several(task: Task, k: int | None, data: Data, ensemble: Ensemble) -> dict[str, Any]:
    """The consensus by the method that agrees best with the members."""
    comparison = compare_methods(
        ensemble,
        [method.name for method in task.named.methods],
        k,
        X=data.rows,
        truth=data.truth,
        random_state=task.seed,
        n_jobs=task.n_jobs,
        parameters=task.named.options,
    )
    labels = comparison.labels[comparison.best]
    return {
        "method": comparison.best,
        "paper": CONSENSUS[comparison.best].paper,
        "parameters": {"n_clusters": k, **task.named.options[comparison.best]},
        "why_method": "Of the methods asked for, it agrees best with all clusterings.",
        "labels": labels,
        **_judged(task, ensemble, labels),
        "lifetimes": None,
        "tree": None,
        "comparison": comparison,
    }


def _moved(task: Task, ensemble: Ensemble, fields: Mapping[str, Any]) -> dict[str, Any]:
    """What one pass over the objects changes, where it is asked for."""
    if not task.refine:
        return {}
    better = refined(ensemble, fields["labels"], n_jobs=task.n_jobs)
    return {
        "labels": better.labels,
        **_judged(task, ensemble, better.labels, fields["ran_on"]),
        "n_moved": int(better.moved.sum()),
    }


def _judged(
    task: Task,
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
