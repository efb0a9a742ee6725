"""EWOCS: dense groups in a majority of noise, by the sizes of many weak clusters."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from consilience._sklearn import CallbackSupportMixin, Steps, with_callbacks
from consilience._validation import (
    COUNT,
    DEVICE,
    N_JOBS,
    HasMethods,
    Interval,
    NoneValue,
    Options,
    RandomState,
    Satisfies,
    check_params,
    check_value,
)
from consilience.engines import label_room, releasing
from consilience.errors import InvalidParameterError, warn
from consilience.generate._base import opened
from consilience.minority import thresholds
from consilience.minority._batches import Scorer
from consilience.minority._border import by_reference, can_refer, check_rule, without_reference
from consilience.minority._by_blocks import score_stored
from consilience.minority._fitted import (
    MEMBERS,
    Fitted,
    Grid,
    asked_divergence,
    check_objects,
    check_same_objects,
    checked_weights,
    chosen_divergence,
    chosen_scaling,
    is_pairwise,
    scaled_objects,
    takes_sparse,
)
from consilience.minority._kept import KeptRepetitions
from consilience.minority._stopping import Progress, count_up, n_lines
from consilience.minority.divergences import DIVERGENCES, Divergence
from consilience.minority.scores import Running
from consilience.minority.weak import WeakClusterer, n_objects, weak_clusterer
from consilience.rows import Stored, as_given, device_of_data

__all__ = ["EWOCS"]

_WEAK = Options(("soft", "hard", "split"))
_POSITIVE = Interval(Real, 0, open_low=True)


class EWOCS(CallbackSupportMixin, ClusterMixin, BaseEstimator):
    """Find the few dense groups in a majority of noise; their number and shape need not be known.

    Every object is scored by the size of the clusters it falls into, over many weak
    clusterings: random seeds, or random hyperplanes. Objects in dense places score high. A
    threshold on the scores is the border of the foreground, and the weak clusterings together
    tell its groups apart.

    Parameters
    ----------
    weak : {"soft", "hard", "split"} or WeakClusterer, default="soft"
        Random objects as seeds, with grades shared among them or all to the nearest; or random
        hyperplanes.
    divergence : str, Divergence or callable, default="gaussian"
        "gaussian", "euclidean", "mahalanobis", "kl", "itakura-saito", "logistic", "cosine",
        "precomputed" (X is a kernel matrix), an object of `consilience.minority.divergences`, or
        a Mercer kernel over any objects. Not used by ``weak="split"``.
    alpha : float, default=10.0
        Scale of "gaussian" where ``gamma`` is a number or "distance": the larger, the harder
        the grades.
    gamma : float or {"distance", "contrast", "auto"}, default="distance"
        Inverse squared width of "gaussian", of the scaled data. "distance" takes it from the
        distances between objects, so that it fits any number of columns; "contrast" the one
        whose scores fall into two groups best, "auto" the published rule, with its own
        ``alpha``; see `tune_gaussian`. The paper has 10 for up to eight columns in [-2, 2].
    k_max : int or None, default=None
        Clusters of a weak clustering are uniform between 2 and this, or the number of
        objects. None is 100, for "split" 50.
    n_repetitions : int or "auto", default="auto"
        Weak clusterings; "auto" counts until the rule ``stop`` is satisfied.
    aggregate : {"log", "mean"}, default="log"
        Mean over the repetitions of the logarithm of the relative size, or of the relative
        size itself as published. The mean gives most weight to the coarsest clusterings.
    threshold : {"reference", "2gauss", "dist", "ngauss", "size", "best", "ngauss+best"} or \
float, default="reference"
        Rule for the border. "reference" compares the scores with those of data without dense
        groups that resemble these, and leaves everything background where no more is seen than
        in them; it needs a table of dense columns, without which it is "2gauss". The others are
        published, see `consilience.minority.thresholds`; "size" needs ``n_foreground``, "best"
        and "ngauss+best" need ``y``.
    n_foreground : int, float or None, default=None
        Number, or share below 1, of foreground objects where ``threshold="size"``.
    scaling : {"auto", "none", "box", "std", "robust"}, default="auto"
        "box" maps every column onto [-2, 2], "robust" its middle 96 %, so that far outliers do
        not matter, "std" divides by the standard deviation. For dense data "auto" is "robust"
        with "gaussian" of ``gamma="distance"``, "box" with "split" and where ``gamma`` is a
        number; else "none".
    score_by : {"sizes", "knn"}, default="sizes"
        "sizes" of the clusters an object falls into, as published; or "knn", minus the
        logarithm of its mean distance to the 20 nearest others, a plain rival that ranks objects
        as well where the background is uniform. Weak clusterings then only tell the groups apart.
    stop : {"reliability", "paper"}, default="reliability"
        Rule of "auto": the reliability of the scores is at least ``tol`` after two hundreds of
        repetitions running; or the median change of the scores by a repetition is below it.
    tol : float or None, default=None
        None is 0.995 for "reliability", 1e-10 for "paper".
    max_repetitions : int, default=2000
        Most repetitions of "auto".
    n_clusters : int or None, default=None
        Groups of the foreground; None finds the number: that of the places which are denser than
        all around them or, where near is no Euclidean distance, that of the longest lifetime.
    clusterer : "consensus", clusterer or None, default="consensus"
        Tells the groups of the foreground apart: dense places where ``n_clusters`` is None, else
        evidence accumulation over the weak clusterings; any scikit-learn clusterer, or a
        consensus method of this library. None leaves the foreground one group.
    random_state : int, RandomState or None
    n_jobs : int or None
        Threads; None means one. The result does not depend on it.
    device : str or None, default=None
        A torch device, such as "cuda", where the repetitions are made; the draws are those of the
        CPU and scores equal to rounding. None is that of X where X is a torch tensor, else the
        processor. Kernels over any objects, matrices made before and weights stay on the processor.

    Attributes
    ----------
    scores_ : ndarray of shape (n_objects,)
        Larger = more foreground.
    threshold_ : float
        Foreground are the scores at least as high; infinity if there is none.
    threshold_result_ : Threshold
        The threshold with its candidates and its reason.
    p_value_ : float or None
        Of the test whether there is any dense group; None unless ``threshold="reference"``
        could be used. Where it is above 0.05 the foreground is empty, unless the densities leave
        a deep gap before it, and flagged.
    reference_ : Reference or None
        What the scores were compared with: which data without groups, and how well they fit.
    labels_ : ndarray of shape (n_objects,), int32
        -1 for the background, 0, 1, ... for the groups of the foreground.
    n_clusters_, n_foreground_ : int
    standard_errors_ : ndarray of shape (n_objects,)
        How far a score may be from its limit over infinitely many repetitions.
    undecided_ : ndarray of shape (n_objects,), bool
        Objects within two standard errors of the threshold; none where ``score_by="knn"``,
        whose scores do not depend on chance.
    reliability_ : float
        Estimated squared correlation of the scores with their limit.
    n_repetitions_ : int
    scaling_ : {"none", "box", "std", "robust"}
        How the columns were scaled.
    converged_ : bool or None
        Whether the rule was satisfied; None where the number of repetitions was given.
    history_ : ndarray of shape (n_looks, 3)
        Repetitions, reliability and, for ``stop="paper"``, median change, every hundred.
    flag_ : str or None
        A word where the labels are not what they seem, None otherwise. "no_contrast": the
        scores differ by rounding only, so that they are all one number and everything is
        background; a warning says so. "degenerate": there is one object. "no_groups": no more is
        seen than in data without any, or only the top of one slope. "no_reference": no such data
        resemble these, or can be made, or they hold the groups: the answer is a guess.
        "uncertain": there are groups, but nothing marks where they end. "no_boundary",
        "no_truth", "clamped": see `consilience.minority.thresholds.Threshold`.
    divergence_ : Divergence or None
        As it was fitted; None for "split".
    seed_ : int
        What all models were drawn from.
    device_ : str
        Where the repetitions were made: "cpu", or a torch device.

    Notes
    -----
    Data that are not in memory (`consilience.open_rows`, a Dask array) are gone through in blocks:
    two passes a batch of repetitions, sizes by a sum and scores by a map, with the scores and the
    number of repetitions they have in memory, bit for bit. Divergences are then "gaussian" and
    "euclidean", scaling "box", "robust" or "none"; ``threshold="reference"`` looks at objects
    drawn at random, as in memory; the foreground is taken into memory.

    Time O(R k n d), memory O(n) beside the data and their centred copy; no clustering is kept.
    Float32 data are computed in single precision, sums in double. Short rows are the dense ones
    among tf-idf or binary rows: bring rows to unit length first, or use "cosine".

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, Machine Learning.

    Examples
    --------
    >>> from consilience.datasets import make_toy_minority
    >>> X, y = make_toy_minority(0.5, random_state=0)
    >>> model = EWOCS(n_repetitions=100, random_state=0).fit(X)
    >>> ((model.labels_ >= 0) == (y > 0)).mean() > 0.8
    np.True_

    Strings, with a kernel of the pairs of letters they share:

    >>> def pairs(a, b):
    ...     grams = [{s[i : i + 2] for i in range(len(s) - 1)} for s in (*a, *b)]
    ...     return [[10 * len(s & t) / (len(s) * len(t)) ** 0.5 for t in grams[len(a) :]]
    ...             for s in grams[: len(a)]]
    >>> names = "anna ulf hanna kim johanna bo joanna eva susanna jens peter olga rudi".split()
    >>> model = EWOCS(divergence=pairs, n_repetitions=50, random_state=0).fit(names)
    >>> [name for name, label in zip(names, model.labels_) if label >= 0]
    ['anna', 'hanna', 'johanna', 'joanna', 'susanna']
    >>> model.predict(["marianna", "tom"])
    array([ 0, -1], dtype=int32)
    """

    _constraints: ClassVar[dict[str, Any]] = {
        "weak": [_WEAK, Satisfies(lambda v: isinstance(v, WeakClusterer), "a WeakClusterer")],
        "divergence": [
            Options(tuple(DIVERGENCES)),
            Satisfies(lambda v: isinstance(v, Divergence), "a Divergence"),
            Satisfies(lambda v: callable(v) and not isinstance(v, type), "a kernel function"),
        ],
        "alpha": [_POSITIVE],
        "gamma": [_POSITIVE, Options(("distance", "contrast", "auto"))],
        "k_max": [Interval(Integral, 2), NoneValue()],
        "n_repetitions": [Interval(Integral, 1), Options(("auto",))],
        "aggregate": [Options(("log", "mean"))],
        "threshold": [Options(("reference", *thresholds.METHODS, "ngauss+var")), Interval(Real)],
        "n_foreground": [Interval(Integral, 0), Interval(Real, 0, 1), NoneValue()],
        "scaling": [Options(("auto", "none", "box", "std", "robust"))],
        "score_by": [Options(("sizes", "knn"))],
        "stop": [Options(("reliability", "paper"))],
        "tol": [_POSITIVE, NoneValue()],
        "max_repetitions": [Interval(Integral, 1)],
        "n_clusters": [Interval(Integral, 1), NoneValue()],
        "clusterer": [
            Options(("consensus",)),
            HasMethods(("fit_predict", "get_params"), "a clusterer"),
            NoneValue(),
        ],
        "random_state": [RandomState()],
        "n_jobs": N_JOBS,
        "device": DEVICE,
    }

    def __init__(
        self,
        weak: Any = "soft",
        *,
        divergence: Any = "gaussian",
        alpha: float = 10.0,
        gamma: float | str = "distance",
        k_max: int | None = None,
        n_repetitions: int | str = "auto",
        aggregate: str = "log",
        threshold: float | str = "reference",
        n_foreground: float | None = None,
        scaling: str = "auto",
        score_by: str = "sizes",
        stop: str = "reliability",
        tol: float | None = None,
        max_repetitions: int = 2000,
        n_clusters: int | None = None,
        clusterer: Any = "consensus",
        random_state: Any = None,
        n_jobs: int | None = None,
        device: str | None = None,
    ) -> None:
        self.weak = weak
        self.divergence = divergence
        self.alpha = alpha
        self.gamma = gamma
        self.k_max = k_max
        self.n_repetitions = n_repetitions
        self.aggregate = aggregate
        self.threshold = threshold
        self.n_foreground = n_foreground
        self.scaling = scaling
        self.score_by = score_by
        self.stop = stop
        self.tol = tol
        self.max_repetitions = max_repetitions
        self.n_clusters = n_clusters
        self.clusterer = clusterer
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.device = device

    @classmethod
    def preset(cls, name: str, **params: Any) -> "EWOCS":
        """An estimator with the published settings.

        Parameters
        ----------
        name : {"paper"}
            EW-SRBC 100 x 100 with G(10, 10), EW-HRBC 100 x 100 with "mahalanobis" or EW-RSPLIT
            500 x 50, by ``weak``; mean sizes, as many repetitions as stated, data as they are
            (the published data lie in [-2, 2]), and the threshold "2gauss".
        **params
            Parameters to change.

        Examples
        --------
        >>> EWOCS.preset("paper", weak="split")
        EWOCS(aggregate='mean', divergence='mahalanobis', gamma=10.0, k_max=50,
              n_repetitions=500, scaling='none', threshold='2gauss', weak='split')
        """
        if name != "paper":
            raise InvalidParameterError(
                f"The 'name' parameter of EWOCS.preset must be 'paper'. Got {name!r} instead."
            )
        split = params.get("weak", "soft") == "split"
        published: dict[str, Any] = {
            "divergence": "gaussian" if params.get("weak", "soft") == "soft" else "mahalanobis",
            "alpha": 10.0,
            "gamma": 10.0,
            "k_max": 50 if split else 100,
            "n_repetitions": 500 if split else 100,
            "aggregate": "mean",
            "scaling": "none",
            "threshold": "2gauss",
        }
        return cls(**(published | params))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = takes_sparse(self)
        tags.input_tags.pairwise = is_pairwise(asked_divergence(self))
        return tags

    @with_callbacks
    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, *, checkpoint: Any = None
    ) -> Self:
        """Score the objects, find the threshold, tell the groups of the foreground apart.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features)
            A square matrix where ``divergence="precomputed"``; a list of any objects where the
            divergence is a kernel function.
            A Dask array or frame, or what `consilience.open_rows` opened, is gone through in
            blocks; what there is one of for each object of a Dask array is a Dask array with its
            blocks.
        y : array of shape (n_objects,), optional
            True sources, 0 for the background: only for thresholds that need them.
        sample_weight : array of shape (n_objects,), optional
            How often each object counts: in the sizes of clusters, as a seed and in the
            comparison with references. Objects of weight 0 are scored, and make nothing dense.
            Weighted runs take several times as long.
        checkpoint : RunFolder, optional
            Keeps what was counted, about every half a minute; a run that was interrupted goes on
            with it, to the same scores.

        Returns
        -------
        self
        """
        check_params(self)
        device = self._device(X)
        X = check_objects(self, X, reset=True)
        check_rule(self, y, n_objects(X), name="EWOCS.fit")
        counts = checked_weights(sample_weight, X)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        _check_checkpoint(checkpoint, X, counts)
        with releasing(X), opened(checkpoint, self, X, 0, [seed]) as session:
            self.seed_ = session.seeds[0]
            return self._fit(X, y, counts, device, KeptRepetitions(session.pieces([0])))

    def _fit(self, X: Any, y: Any, counts: Any, device: str | None, kept: KeptRepetitions) -> Self:
        """Score checked objects and decide."""
        scaling = chosen_scaling(self, X)
        data = scaled_objects(scaling, X, asked_divergence(self), self.n_jobs)
        divergence = chosen_divergence(self, data)
        weak = weak_clusterer(self.weak, divergence=divergence, k_max=self.k_max)
        weak = replace(weak.fit(data), counts=counts)
        running = Running.empty(weak.n_objects, self.aggregate, getattr(data, "dtype", None))
        self._fitted = Fitted(weak, running, Progress(self.stop, self.tol), scaling)
        self._fitted = self._fitted.with_neighbours(self.score_by, data)
        self.scaling_ = "none" if scaling is None else scaling.kind
        self.divergence_ = getattr(weak, "divergence", None)
        wanted = None if isinstance(self.n_repetitions, str) else int(self.n_repetitions)
        if wanted is None and self.score_by == "knn":
            wanted = MEMBERS  # enough to tell groups apart
        kept.restore(running, self._fitted.progress, weak, self.seed_)
        self._count(X, data, wanted, device, kept)
        return self._decide(X, data, y)

    @with_callbacks
    def more(self, X: Any, n_repetitions: int = 100, y: Any = None) -> Self:
        """Add repetitions to a fitted model: the result of one longer run.

        Parameters
        ----------
        X : array, frame or CSR matrix
            The objects it was fitted on.
        n_repetitions : int, default=100
            How many more.
        y : array of shape (n_objects,), optional
            As in `fit`.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        check_params(self)
        check_value("n_repetitions", n_repetitions, COUNT, owner="EWOCS.more")
        device = self._device(X)
        X = check_objects(self, X, reset=False)
        check_rule(self, y, n_objects(X), name="EWOCS.more")
        check_same_objects(self._fitted, X)
        with releasing(X):
            data = self._fitted.scaled(X, self.n_jobs)
            wanted = self.n_repetitions_ + int(n_repetitions)
            self._count(X, data, wanted, device, KeptRepetitions(None))
            return self._decide(X, data, y)

    def fit_predict(self, X: Any, y: Any = None, **kwargs: Any) -> Any:
        """Fit and return ``labels_``; for a torch tensor, as one on its device."""
        return as_given(super().fit_predict(X, y, **kwargs), X)

    def score_samples(self, X: Any) -> NDArray[np.float64]:
        """Scores of any objects by the fitted models; the fitted objects have ``scores_``.

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features)
            Where ``divergence="precomputed"``, kernel values with the fitted objects. For a torch
            tensor, scores are one on its device.
        """
        check_is_fitted(self)
        objects = check_objects(self, X, reset=False)
        if isinstance(objects, Stored):
            room = label_room((len(objects),), np.float64)
            answer: NDArray[np.float64] = score_stored(self.score_samples, objects, room)
            return answer
        scores: NDArray[np.float64] = self._grid.round(self._fitted.score(objects, self.n_jobs))
        return as_given(scores, X)

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Groups of any objects: -1 for the background, else the group of the foreground.

        An object is foreground if its score reaches ``threshold_`` and it is no farther from the
        fitted foreground than its objects are from each other; of the groups it joins the one
        whose objects it shares most clusters with. The fitted objects get their ``labels_``
        (where a ``clusterer`` was given, their foreground and background).

        Parameters
        ----------
        X : array, frame or CSR matrix of shape (n_objects, n_features)
            As in `score_samples`.
        """
        check_is_fitted(self)
        objects = check_objects(self, X, reset=False)
        if isinstance(objects, Stored):
            room = label_room((len(objects),), np.int32)
            answer: NDArray[np.int32] = score_stored(self.predict, objects, room)
            return answer
        scores = self._fitted.score(objects, self.n_jobs)
        # Rounding may differ between a block of many objects and one of few.
        foreground = scores >= self.threshold_ - 2 * self._grid.step
        return as_given(self._fitted.place(objects, foreground, self.n_jobs), X)

    def _device(self, X: Any) -> str | None:
        """The torch device to compute on; None for the processor."""
        return device_of_data(X) if self.device is None else self.device

    def _count(
        self, X: Any, data: Any, wanted: int | None, device: str | None, kept: KeptRepetitions
    ) -> None:
        """Add repetitions up to the number wanted, or until the rule is satisfied."""
        fitted = self._fitted
        stored = isinstance(data, Stored)
        on_device = device is not None and not stored and Scorer.takes(fitted.weak, data)
        self.device_ = str(device) if on_device else "cpu"
        done = fitted.running.n_repetitions
        ceiling = max(self.max_repetitions, done)
        lines = n_lines(done, ceiling if wanted is None else wanted, fitted.weak.n_objects)
        steps = Steps(self, "fit", lines)
        for line in count_up(
            fitted.running,
            fitted.weak,
            data,
            fitted.progress,
            wanted=wanted,
            ceiling=ceiling,
            seed=self.seed_,
            n_jobs=self.n_jobs,
            device=device,
        ):
            kept.keep(fitted.running, fitted.progress, now=False)
            if steps.done(line):
                break
        steps.end()
        kept.keep(fitted.running, fitted.progress, now=True)
        self.converged_ = fitted.progress.settled if wanted is None else None
        self._fitted = fitted.keep_seeds(X, data)

    def _decide(self, X: Any, data: Any, y: Any) -> Self:
        """What the scores say, after any number of repetitions."""
        running, knn = self._fitted.running, self._fitted.neighbours
        self.n_repetitions_ = running.n_repetitions
        self.history_ = np.array(self._fitted.progress.seen, np.float64).reshape(-1, 3)
        if knn is None:
            self._grid = Grid.of(running)
            self.scores_ = self._grid.round(running.scores)
            self.standard_errors_ = running.standard_errors()
            self.reliability_ = running.reliability()
        else:
            self.scores_ = knn.fitted(data)
            self._grid = Grid.fine(self.scores_)
            self.scores_ = self._grid.round(self.scores_)
            self.standard_errors_ = np.zeros(len(self.scores_))
            self.reliability_ = 1.0
        border = self._border(data, y)
        self.threshold_result_ = border
        self.threshold_ = float(border.value)
        self.flag_ = "degenerate" if len(self.scores_) == 1 else border.flag
        if self.flag_ == "no_contrast":
            _warn_of_no_contrast(len(self.scores_))
        foreground = self.scores_ >= self.threshold_
        errors = self.standard_errors_
        self.undecided_ = (np.abs(self.scores_ - self.threshold_) <= 2 * errors) & (errors > 0)
        self.labels_ = self._fitted.split(self, X, data, foreground)
        self._fitted = self._fitted.with_reach(data, foreground, self.n_jobs)
        self.n_foreground_ = int(foreground.sum())
        self.n_clusters_ = int(self.labels_.max()) + 1
        if isinstance(X, Stored):
            for name in ("labels_", "scores_", "standard_errors_", "undecided_"):
                setattr(self, name, X.in_its_blocks(getattr(self, name)))
        return self

    def _border(self, data: Any, y: Any) -> thresholds.Threshold:
        """The threshold that was asked for."""
        self.p_value_, self.reference_ = None, None
        rule = self.threshold
        if rule != "reference":
            return thresholds.find(self.scores_, rule, y=y, m=self.n_foreground)
        if not can_refer(self._fitted, data):
            return without_reference(self.scores_)
        border, self.reference_ = by_reference(self._fitted, data, self.scores_, self)
        self.p_value_ = None if self.reference_ is None else self.reference_.p_value
        return border


def _check_checkpoint(checkpoint: Any, X: Any, counts: Any) -> None:
    """Refuse to keep runs that cannot be told from others."""
    if checkpoint is not None and (counts is not None or not hasattr(X, "shape")):
        raise InvalidParameterError(
            "The 'checkpoint' parameter of EWOCS.fit must be None with 'sample_weight', and for "
            "objects that are no rows of numbers: a run is known again by its data."
        )


def _warn_of_no_contrast(n_objects: int) -> None:
    warn(
        f"Nothing stands out: the scores of all {n_objects} objects differ by rounding only, and "
        "everything is background. Unless the objects are equal, the kernel is too narrow, or "
        "too wide, to see them apart: try another 'gamma' or 'divergence'."
    )
