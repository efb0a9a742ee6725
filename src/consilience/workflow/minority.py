"""The whole job of minority clustering: the few dense groups in a majority of noise."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from consilience._labels import missing_labels
from consilience._validation import Interval, RandomState, check_params, check_value
from consilience._words import plural
from consilience.compare import auc, precision_recall_f1
from consilience.errors import InvalidInputError, InvalidParameterError, warn
from consilience.minority import EWOCS, thresholds
from consilience.minority._cuts import decided_first
from consilience.minority.divergences import Divergence
from consilience.minority.thresholds import Threshold
from consilience.rows import Rows, here
from consilience.workflow._data import gather
from consilience.workflow._faces import face
from consilience.workflow._job import Job
from consilience.workflow._members import keeping_something, run_folder
from consilience.workflow._notes import noting
from consilience.workflow._places import advise, chosen_device
from consilience.workflow._seeds import job_seed
from consilience.workflow.large import (
    names_of,
    refuse_in_memory_only,
    rows_in_blocks,
    sample_data,
    sample_of,
)
from consilience.workflow.large_minority import LargeMinorityResult, minority_large
from consilience.workflow.result import Reported, check_page

__all__ = ["MinorityResult", "minority_groups"]

_OWNER = "minority_groups"
# Groups of fewer objects on average, and so many of them, are what is left of noise.
_CRUMB, _MANY = 6, 5
_SCALED = {
    "none": "as they are",
    "box": "each scaled to the same range",
    "robust": "each scaled by the range of its middle 96 %",
    "std": "each divided by its standard deviation",
}


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MinorityResult(Reported):
    """What `minority_groups` found; it shows itself in a notebook.

    Attributes
    ----------
    model : EWOCS
        As it was fitted; it scores and places new objects.
    rules : tuple of Threshold
        Every rule for the border that can be tried, with the foreground it would give.
    truth : ndarray of int64 or None
        Known sources, 0 for the background, where they were given.
    background : str or None
        The value of the known groups that means background.
    data, seed, notes, seconds
        The objects as used, ``random_state`` of a run that gives the same, warnings in words,
        and the time of each stage.
    """

    job: ClassVar[str] = "minority"
    views: ClassVar[str] = (
        "labels, scores, undecided, flag, rules, model, to_pandas(), report(path)"
    )

    model: EWOCS
    rules: tuple[Threshold, ...]
    truth: NDArray[np.int64] | None
    background: str | None

    # ---- figures ----------------------------------------------------------------------

    @property
    def labels(self) -> NDArray[np.int32]:
        """Group of each object, -1 for the background."""
        return self.model.labels_

    @property
    def scores(self) -> NDArray[np.float64]:
        """Score of each object; larger is more foreground."""
        return self.model.scores_

    @property
    def undecided(self) -> NDArray[np.bool_]:
        """Objects too close to the threshold to be sure."""
        return self.model.undecided_

    @property
    def flag(self) -> str | None:
        """A word where the labels are not what they seem, see `EWOCS`; None otherwise."""
        flag: str | None = self.model.flag_
        return flag

    @property
    def n_clusters(self) -> int:
        """Groups found."""
        return int(self.model.n_clusters_)

    @property
    def n_foreground(self) -> int:
        """Objects in groups."""
        return int(self.model.n_foreground_)

    @property
    def n_undecided(self) -> int:
        """Number of undecided objects."""
        return int(self.undecided.sum())

    @property
    def sizes(self) -> list[int]:
        """Objects in each group."""
        placed = self.labels[self.labels >= 0]
        return [int(size) for size in np.bincount(placed, minlength=self.n_clusters)]

    def mean_score(self, group: int) -> float:
        """Mean score of a group, or of the background, -1."""
        number = Interval(Integral, -1, self.n_clusters - 1)
        check_value("group", group, [number], owner="mean_score")
        if not (self.labels == group).any():
            return float("nan")
        return float(self.scores[self.labels == group].mean())

    def is_taken(self, rule: Threshold) -> bool:
        """Whether a rule is the one that set the border."""
        return bool(rule.method == self.model.threshold_result_.method)

    @property
    def agreement(self) -> dict[str, float] | None:
        """AUC of the scores, and precision, recall and F1 of the foreground, with a truth."""
        if self.truth is None or not 0 < (self.truth > 0).sum() < len(self.truth):
            return None
        hits = precision_recall_f1(self.labels, self.truth)
        return {
            "auc": auc(self.scores, self.truth),
            "precision": hits.precision,
            "recall": hits.recall,
            "f1": hits.f1,
        }

    # ---- views ------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """See `Result.to_dict`."""
        model = self.model
        return {
            "data": self.data.facts(),
            "n_objects": self.n_objects,
            "n_foreground": model.n_foreground_,
            "n_undecided": self.n_undecided,
            "group_sizes": self.sizes,
            "threshold": _finite(model.threshold_),
            "flag": self.flag,
            "why": model.threshold_result_.why,
            "p_value": model.p_value_,
            "reference": None if model.reference_ is None else asdict(model.reference_),
            "thresholds": [
                {
                    "rule": rule.method,
                    "threshold": _finite(rule.value),
                    "n_foreground": rule.n_foreground,
                    "candidates": [_finite(value) for value in rule.candidates],
                    "why": rule.why,
                }
                for rule in self.rules
            ],
            "scaling": model.scaling_,
            "repetitions": model.n_repetitions_,
            "reliability": _finite(model.reliability_),
            "converged": model.converged_,
            "background": self.background,
            "agreement_with_truth": self.agreement,
        }

    def to_pandas(self) -> Any:
        """A pandas frame with score, group and doubt of each object, and its index."""
        return self._frame(
            {"score": self.scores, "group": self.labels, "undecided": self.undecided}
        )

    def page(
        self, *, title: str | None = None, about: Mapping[str, str] | None = None
    ) -> dict[str, Any]:
        """See `Reported.page`."""
        check_page(title, about)
        known = self._about(Method=self.method_in_words())
        return face("report").summarise_minority(
            self.model,
            self.data.X,
            ids=self.data.ids,
            truth=None if self.truth is None else self.truth > 0,
            columns=self.data.columns,
            about=known | dict(about or {}),
            notes=self.notes,
            title=title or self.data.name or "Dense groups in the background",
            random_state=self.seed,
        )

    # ---- words ------------------------------------------------------------------------

    def method_in_words(self) -> str:
        """The method, its paper, and what it was called with."""
        model = self.model
        names = [_named(value) for value in (model.weak, model.divergence, model.threshold)]
        knn = "scores by distances to the nearest objects, groups by " * (model.score_by == "knn")
        return (
            f"EWOCS (Gonzàlez & Turmo 2015): {knn}{model.n_repetitions_} weak clusterings "
            f"({names[0]}), divergence {names[1]}, threshold {names[2]}"
        )

    def headline(self) -> list[tuple[str, str]]:
        """See `Result.headline`."""
        sizes = ", ".join(map(str, self.sizes)) or "none"
        lines = [
            ("data", self._about()["Data"]),
            ("foreground", f"{self.n_foreground} objects, {self.n_undecided} undecided"),
            ("groups", f"{self.n_clusters}, of {sizes} objects" if self.n_clusters else "none"),
            ("border", self.model.threshold_result_.why),
            ("reliability", f"{self.model.reliability_:.3f}"),
            ("method", self.method_in_words()),
        ]
        if self.agreement is not None:
            scores = ", ".join(f"{name} {value:.3f}" for name, value in self.agreement.items())
            lines.append(("truth", scores + self.backwards))
        return lines

    @property
    def backwards(self) -> str:
        """A sentence where the scores rank the truth the wrong way round, else nothing."""
        if self.agreement is None or self.agreement["auc"] >= 0.5:
            return ""
        return (
            ". The AUC is below one half: the known groups do not score higher than the "
            "background, they are no dense groups in these columns"
        )

    def rows(self) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
        """See `Result.rows`."""
        lines = [
            (str(group), str(size), f"{self.mean_score(group):.4g}")
            for group, size in enumerate(self.sizes)
        ]
        return ("group", "objects", "mean score"), lines


def minority_groups(
    X: Any,
    n_clusters: int | None = None,
    *,
    threshold: float | str = "reference",
    n_foreground: float | None = None,
    scaling: str = "auto",
    score: str = "sizes",
    ids: Any = None,
    truth: Any = None,
    background: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    device: str | None = None,
    run: Any = None,
    callbacks: Sequence[Any] = (),
    **options: Any,
) -> MinorityResult | LargeMinorityResult:
    """The few dense groups in a majority of noise: the whole job of ``consilience minority``.

    Parameters
    ----------
    X : array, pandas or polars frame, CSR matrix, torch tensor, or Table
        One row an object; any objects where ``divergence`` is a kernel function. A frame's index
        and column names are kept. Tables larger than memory are gone through in blocks: the path
        of a ``.parquet``, ``.npy``, ``.zarr`` or text table, a Dask array or frame, and what
        `consilience.open_rows` opened.
    n_clusters : int or None, default=None
        Groups of the foreground; None finds the number.
    threshold : str or float, default="reference"
        Rule for the border, see `EWOCS`. "reference" tests whether there is any dense group, and
        leaves all objects in the background where no more is seen than in data without any.
        "best" and "ngauss+best" look at the truth.
    n_foreground : int, float or None, default=None
        Number, or share below 1, of foreground objects where ``threshold="size"``.
    scaling : {"auto", "none", "box", "std", "robust"}, default="auto"
        See `EWOCS`.
    score : {"sizes", "knn"}, default="sizes"
        What the objects are ranked by, ``score_by`` of `EWOCS`.
    ids, truth : sequences of length n_objects, optional
        Identifiers; known groups, which are compared with the result.
    background : optional
        The value of the known groups that means background; the most frequent one by default.
    random_state : int, RandomState or None, default=None
        Equal numbers give equal results, whatever ``n_jobs``. The command has 0.
    n_jobs : int or None, default=None
        Threads; None means one.
    device : str or None, default=None
        A torch device, such as "cuda", where the weak clusterings are made. None is the processor,
        or the device of X where that is a torch tensor. ``ran_on`` of the result says where each
        stage ran.
    run : path or RunFolder, optional
        A folder that keeps what was counted, about every half a minute: the same call goes on
        with it after an interruption.
    callbacks : sequence of scikit-learn callbacks
        Told of every stage; one that raises ends the job.
    **options
        Further parameters of `EWOCS`, such as ``weak``, ``divergence``, ``gamma`` and
        ``n_repetitions``. What it does not have is refused by name.

    Returns
    -------
    MinorityResult
        Warnings on the way are its ``notes``. A `LargeMinorityResult` where X is not in memory.

    Examples
    --------
    >>> from consilience.datasets import make_toy_minority
    >>> X, truth = make_toy_minority(0.5, random_state=0)
    >>> result = minority_groups(X, truth=truth, n_repetitions=100, random_state=0)
    >>> result.n_foreground, result.agreement["auc"] > 0.8
    (..., True)
    """
    seed = job_seed_of(random_state)
    device = chosen_device(X, device, owner=_OWNER)
    model = check_minority(
        n_clusters=n_clusters,
        threshold=threshold,
        n_foreground=n_foreground,
        scaling=scaling,
        score=score,
        random_state=seed,
        n_jobs=n_jobs,
        device=device,
        **options,
    )
    kept = run_folder(run, owner=_OWNER)
    with noting() as said:  # a text file is converted
        stored = rows_in_blocks(X)
    if stored is not None:
        refuse_in_memory_only(
            {"ids": (ids, None), "truth": (truth, None), "background": (background, None)},
            owner=_OWNER,
        )
        about: dict[str, Any] = {"seed": seed, "said": said, "callbacks": callbacks, "run": kept}
        return minority_large(stored, model, partial(_sampled, seed=seed), owner=_OWNER, **about)
    job = Job(_OWNER, 3).told_to(callbacks)

    def work(job: Job) -> dict[str, Any]:
        with job.stage("prepare"):
            # EWOCS has its own scaling, which its parameters belong to.
            plain = not _takes_anything(model.divergence)
            data = gather(X, ids=ids, truth=truth, plain=plain, owner=_OWNER)
            sources, zero = _known_sources(data.truth, background)
        with job.stage("score", model), keeping_something(kept):
            model.fit(data.X, sources, checkpoint=kept)
        if plain:
            n, d = data.X.shape
            advise(n, d, model.n_repetitions_, device)
        places = {"prepare": "cpu", "score": model.device_, "thresholds": "cpu"}
        with job.stage("thresholds"):
            rules = thresholds.every(model.scores_, y=sources, m=model.n_foreground)
            rules = decided_first(model.threshold_result_, rules)
        _warn_of_crumbs(model)
        data = replace(data, used_as=_SCALED[model.scaling_])
        return {
            "data": data,
            "rules": rules,
            "truth": sources,
            "background": zero,
            "ran_on": places,
        }

    with noting() as notes:
        done = job.run(work)
    return MinorityResult(model=model, seed=seed, seconds=job.seconds, notes=tuple(notes), **done)


def _sampled(rows: Rows, model: EWOCS, notes: tuple[str, ...], *, seed: int) -> MinorityResult:
    """The answer for objects drawn at random from a table that is not in memory."""
    objects = sample_of(len(rows), seed)
    share = len(objects) / len(rows)
    view: Any = copy(model)
    for name in ("labels_", "scores_", "standard_errors_", "undecided_"):
        setattr(view, name, here(getattr(model, name))[objects])
    view.n_foreground_ = int((view.labels_ >= 0).sum())
    if model.n_foreground is not None and model.n_foreground >= 1:
        view.n_foreground = max(1, round(share * model.n_foreground))
    rules = thresholds.every(view.scores_, m=view.n_foreground)
    view.threshold_result_ = replace(model.threshold_result_, n_foreground=view.n_foreground_)
    data = replace(
        sample_data(rows, objects, names_of(rows)), used_as=_SCALED.get(model.scaling_, "")
    )
    return MinorityResult(
        model=view,
        rules=decided_first(view.threshold_result_, rules),
        truth=None,
        background=None,
        data=data,
        seed=seed,
        notes=notes,
        seconds={},
        ran_on={},
    )


def job_seed_of(random_state: Any) -> int:
    """See `job_seed`; refuses what cannot be a random state."""
    check_value("random_state", random_state, [RandomState()], owner=_OWNER)
    return job_seed(random_state)


def check_minority(*, score: str = "sizes", **params: Any) -> EWOCS:
    """The estimator with these parameters; refuses those it does not have or take."""
    # An estimator's 'score' would be a method.
    params = {"score_by": score, **params}
    known = EWOCS().get_params(deep=False)
    for name in params:
        if name not in known:
            raise InvalidParameterError(
                f"{_OWNER} has no parameter {name!r}, and EWOCS has no such option; it has "
                f"{', '.join(known)}. Leave it out."
            )
    made = EWOCS(**params)
    check_params(made)
    if made.threshold == "size" and made.n_foreground is None:
        raise InvalidParameterError(
            f"The 'threshold' parameter of {_OWNER} is 'size', which needs 'n_foreground', the "
            "number or the share of foreground objects."
        )
    return made


def _known_sources(
    truth: Any, background: Any = None
) -> tuple[NDArray[np.int64] | None, str | None]:
    """Sources as numbers, 0 the background: the value named, else the most frequent one."""
    if truth is None:
        if background is not None:
            raise InvalidParameterError(
                f"The 'background' parameter of {_OWNER} is a value of 'truth'. Got "
                f"{background!r}, and no truth."
            )
        return None, None
    unknown = int(missing_labels(truth, what="truth").sum())
    if unknown:
        raise InvalidInputError(
            f"The 'truth' parameter of {_OWNER} must say of every object where it belongs. Got "
            f"{plural(unknown, 'missing value')}. Give those objects the value of the background, "
            "or one of their own."
        )
    names, codes, counts = np.unique(
        np.asarray(truth, str), return_inverse=True, return_counts=True
    )
    zero = int(counts.argmax()) if background is None else _place_of(background, names)
    rank = np.arange(1, len(names) + 1)
    rank[zero], rank[zero + 1 :] = 0, np.arange(zero + 1, len(names))
    return rank[codes].astype(np.int64), str(names[zero])


def _place_of(background: Any, names: NDArray[np.str_]) -> int:
    """Which of the known groups is the one named; 0 and 0.0 are the same group."""
    said = names.tolist()
    if str(background) in said:  # before another that is the same number
        return said.index(str(background))
    for i, name in enumerate(said):
        if _is_number(name, background):
            return i
    raise InvalidInputError(
        f"The 'background' parameter of {_OWNER} must be a value of 'truth' "
        f"({', '.join(names[:20])}). Got {background!r} instead."
    )


def _is_number(name: str, value: Any) -> bool:
    """Whether the text of a value is that of a number."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return False
    try:
        return float(name) == value
    except ValueError:
        return False


def _takes_anything(divergence: Any) -> bool:
    """Whether objects need not be numbers: a kernel function compares them."""
    return callable(divergence) and not isinstance(divergence, Divergence)


def _warn_of_crumbs(model: EWOCS) -> None:
    """Warn of a foreground that falls into crumbs, as chance leaves them in plain noise."""
    n_found, k = model.n_foreground_, model.n_clusters_
    if k >= _MANY and n_found < _CRUMB * k:
        warn(
            f"No dense group stands out: the foreground falls into {k} groups of {n_found / k:.1f} "
            "objects on average, as chance leaves them in noise.",
        )


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None


def _named(value: Any) -> str:
    """A parameter in a few words: its text, or what it is an object of."""
    plain = isinstance(value, str | int | float)
    return str(value) if plain else getattr(value, "__name__", type(value).__name__)
