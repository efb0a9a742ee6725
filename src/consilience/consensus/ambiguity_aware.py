"""A consensus that knows which objects nobody can place: leave them out, or place them last."""

from dataclasses import KW_ONLY
from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import SVC
from sklearn.utils import check_random_state
from sklearn.utils.sparsefuncs import mean_variance_axis
from sklearn.utils.validation import has_fit_parameter

from consilience._units import squarable
from consilience._validation import Interval, NoneValue, Options, Rule, Satisfies
from consilience.consensus._affinity import mean_affinity
from consilience.consensus._base import Consensus
from consilience.consensus._solve import ConsensusResult
from consilience.consensus.accumulation import EAC
from consilience.consensus.supra import shared_information
from consilience.ensemble import NOISE, Ensemble
from consilience.errors import InvalidInputError, warn
from consilience.evidence.ambiguity import AMBIGUITY_RULES, Ambiguity, Score, ambiguous
from consilience.generate import with_defaults
from consilience.rows import Rows

__all__ = ["AmbiguityAware"]

Action = Literal["ignore", "svm"]
Kernel = Literal["linear", "rbf"]

# Objects whose features are scaled and predicted at once.
_CHUNK = 20_000


def _is_consensus(value: Any) -> bool:
    if isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "get_params")):
        return False
    return bool(has_fit_parameter(value, "ensemble"))


def _are_consensus(value: Any) -> bool:
    return isinstance(value, list | tuple) and bool(value) and all(map(_is_consensus, value))


_RULES: dict[str, list[Rule]] = {
    **{name: rules for name, rules in AMBIGUITY_RULES.items() if name != "score"},
    "scoring": AMBIGUITY_RULES["score"],
    "consensus": [
        Satisfies(_is_consensus, "a consensus estimator, not a class"),
        Satisfies(_are_consensus, "a list of at least one of them"),
        NoneValue(),
    ],
    "action": [Options(("ignore", "svm"))],
    "kernel": [Options(("linear", "rbf"))],
    "max_train": [Interval(Integral, 2)],
}


def reallocate(
    X: Any,
    labels: NDArray[np.int32],
    flagged: NDArray[np.bool_],
    *,
    kernel: Kernel,
    max_train: int,
    random_state: Any,
) -> NDArray[np.int32]:
    """Labels in which flagged objects have the cluster that a support vector machine gives them.

    Parameters
    ----------
    X : array or CSR matrix of shape (n_objects, n_features)
    labels : ndarray of shape (n_objects,)
        Clusters of the objects that are not flagged; negative ones train nothing.
    flagged : ndarray of shape (n_objects,), bool
        Objects to label.
    kernel : {"linear", "rbf"}
        With C = 1, one machine for each pair of clusters; the width of the second is one over
        the number of features.
    max_train : int
        Train on a random sample of so many objects if there are more, and say so.
    random_state : int, RandomState or None
        For that sample.

    Notes
    -----
    Features are scaled to unit deviation (divisor n - 1) over the training objects; constant
    ones are left out. Neither machine depends on where the origin lies, so features are
    centred only where that costs nothing (not if sparse).
    """
    allocated = labels.copy()
    train = np.flatnonzero(~flagged & (labels >= 0))
    classes = np.unique(labels[train])
    if len(classes) < 2:
        left = f"cluster {classes[0]} only" if len(classes) else "no cluster"
        allocated[flagged] = classes[0] if len(classes) else -1
        warn(
            f"The objects that are not ambiguous are in {left}: there is nothing to train a "
            f"support vector machine on, and the {int(flagged.sum())} ambiguous ones are labelled "
            f"{allocated[flagged][0]} as well."
        )
        return allocated
    if len(train) > max_train:
        n, train = len(train), _sample(labels, train, max_train, random_state)
        warn(
            f"The support vector machine is trained on {len(train)} of {n} objects, drawn at "
            "random. A larger 'max_train' would use more."
        )
    X, _ = squarable(X)  # columns are scaled anyway
    scaled = _scaler(X[train])
    rows = scaled(X[train])
    if not rows.shape[1]:
        warn("All features are constant: the ambiguous objects join the largest cluster.")
        allocated[flagged] = np.bincount(labels[train]).argmax()
        return allocated
    machine = SVC(C=1.0, kernel=kernel, gamma=1.0 / rows.shape[1]).fit(rows, labels[train])
    objects = np.flatnonzero(flagged)
    for start in range(0, len(objects), _CHUNK):
        some = objects[start : start + _CHUNK]
        allocated[some] = machine.predict(scaled(X[some]))
    return allocated


def _sample(
    labels: NDArray[np.int32], train: NDArray[np.int64], size: int, random_state: Any
) -> NDArray[np.int64]:
    """Random training objects, at least one of every cluster, in their order."""
    shuffled = check_random_state(random_state).permutation(train)
    _, first = np.unique(labels[shuffled], return_index=True)
    rest = np.delete(shuffled, first)[: max(size - len(first), 0)]
    return np.sort(np.concatenate([shuffled[first], rest]))


def _scaler(rows: Any) -> Any:
    """A function that scales features as these rows need it."""
    if sparse.issparse(rows):
        # Constant columns by their values: a variance leaves rounding errors of its own.
        low, high = rows.min(axis=0).toarray().ravel(), rows.max(axis=0).toarray().ravel()
        varied = np.flatnonzero(high > low)
        _, variance = mean_variance_axis(rows, axis=0)
        n = rows.shape[0]
        weights = sparse.diags_array(1.0 / np.sqrt(variance[varied] * n / (n - 1)))
        return lambda more: sparse.csr_array(more)[:, varied] @ weights
    varied = np.flatnonzero(np.ptp(rows, axis=0) > 0)
    mean, deviation = rows[:, varied].mean(axis=0), rows[:, varied].std(axis=0, ddof=1)
    return lambda more: (more[:, varied] - mean) / deviation


class AmbiguityAware(Consensus, kw_only=False, rules=_RULES):
    """Cluster by any consensus estimator, with ambiguous objects apart.

    Ambiguous objects are those whose clusters, in one member and another, hardly overlap (see
    `consilience.evidence.ambiguous`). They are taken out of the ensemble, the consensus is
    found again on the others, and then they are left out of every cluster or allocated to one
    by a support vector machine trained on the others.

    Parameters
    ----------
    consensus : consensus estimator, list of them, or None, default=None
        Anything with ``fit(X, ensemble=...)`` and ``labels_``, such as ``EAC(3)``; it is copied
        first. Of several the one that shares the most information with the members is taken
        (supra-consensus), each time anew. None is ``EAC()``.
    action : {"ignore", "svm"}, default="ignore"
        Label ambiguous objects -1, or allocate them; the second needs ``X``.
    kernel : {"linear", "rbf"}, default="linear"
        Of the support vector machine.
    scoring : {"relative", "anco"} or array of shape (n_objects,), default="relative"
        The ``score`` of `consilience.evidence.ambiguous`; scikit-learn keeps that name for a
        method.
    threshold, max_share, quantile, n_pairs
        See `consilience.evidence.ambiguous`. The guards are on: at most ``max_share`` of the
        objects, and never all objects of a cluster of the plain consensus.
    max_train : int, default=20000
        Train the support vector machine on a random sample if there are more objects.
    generator : generator or None, default=None
        Makes the members when `fit` is given data only; None takes that of the (first)
        consensus estimator, or `KMeansEnsemble()`.
    random_state : int, RandomState or None
        For a generator and for consensus estimators that have none of their own.

    Attributes
    ----------
    labels_ : ndarray of shape (n_objects,), int32
        Clusters; -1 for ambiguous objects that are ignored, and for noise.
    ambiguous_ : ndarray of shape (n_objects,), bool
    scores_ : ndarray of shape (n_objects,)
        Low for ambiguous objects. Where the members say nothing (see `Ambiguity.scores`): the
        lowest score of all for objects that are flagged, the highest for others.
    threshold_ : float
        Objects with a lower score are ambiguous; ``-inf`` if there are none.
    why_ : str
        How the threshold came about, in words.
    candidates_ : ndarray of shape (n_objects, 2), int32
        For ambiguous objects the two clusters with the largest mean co-association, best first;
        -1 where there is none, and for all other objects.
    plain_labels_ : ndarray of shape (n_objects,), int32
        The consensus of all objects, ambiguous ones included.
    consensus_ : estimator
        The one fitted on the objects that are not ambiguous.
    information_ : ndarray of shape (n_estimators,)
        Mean normalised mutual information of each consensus with the members, over the objects
        that are not ambiguous.

    Notes
    -----
    Supra-consensus may prefer a poor consensus where much of the ensemble is poor: it looks at
    the members, not at the data.

    References
    ----------
    Ambiguity detection in cluster ensembles, sections 3 to 5.

    Examples
    --------
    >>> members = [[0, 0, 0, 0, 1, 1, 1, 1], [0, 0, 0, 1, 1, 1, 1, 1]]
    >>> model = AmbiguityAware(EAC(2)).fit(ensemble=members)
    >>> model.labels_
    array([ 0,  0,  0, -1,  1,  1,  1,  1], dtype=int32)
    >>> model.candidates_[3]
    array([0, 1], dtype=int32)
    >>> X = [[0.0], [0.2], [0.1], [0.6], [0.9], [1.0], [1.1], [1.2]]
    >>> AmbiguityAware(EAC(2), action="svm").fit(X, ensemble=members).labels_[3].item()
    1
    """

    consensus: Any = None
    _: KW_ONLY
    action: Action = "ignore"
    kernel: Kernel = "linear"
    scoring: Score | Any = "relative"
    threshold: str | float = "otsu"
    max_share: float = 0.25
    quantile: float = 0.1
    n_pairs: int | None = None
    max_train: int = 20_000

    def _estimators(self) -> list[Any]:
        many = isinstance(self.consensus, list | tuple)
        given = list(self.consensus) if many else [self.consensus]
        return [EAC() if one is None else one for one in given]

    def _default_generator(self, data: Any = None) -> Any:
        wanted = getattr(self._estimators()[0], "generator", None)
        return super()._default_generator(data) if wanted is None else wanted

    def _fit_ensemble(self, ensemble: Ensemble, X: Rows | None) -> ConsensusResult:
        if self.action == "svm" and X is None:
            raise InvalidInputError(
                "AmbiguityAware.fit needs data to allocate ambiguous objects. Got no X. Call "
                "fit(X, ensemble=...), or use action='ignore'."
            )
        values = None if X is None else X.values
        best, information = self._best(ensemble, values)
        self.plain_labels_ = np.asarray(best.labels_, np.int32)
        ambiguity = ambiguous(
            ensemble,
            score=self.scoring,
            threshold=self.threshold,
            max_share=self.max_share,
            quantile=self.quantile,
            labels=self.plain_labels_,
            n_pairs=self.n_pairs,
            random_state=self.random_state,
            n_jobs=self.n_jobs,
        )
        self.ambiguous_, self.scores_ = ambiguity.flags, _filled(ambiguity)
        self.threshold_, self.why_ = ambiguity.threshold, ambiguity.why
        self.candidates_ = np.full((ensemble.n_objects, 2), -1, np.int32)
        labels = self.plain_labels_
        if ambiguity.n_flagged:
            best, information, labels = self._without(ensemble, values, best, information)
        self.consensus_, self.information_ = best, information
        return ConsensusResult(labels, int(labels.max()) + 1)

    def _without(
        self, ensemble: Ensemble, X: Any, best: Any, information: NDArray[np.float64]
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.int32]]:
        """The consensus of the objects that are not ambiguous, and labels of all objects."""
        flagged = self.ambiguous_
        kept = np.flatnonzero(~flagged)
        labels = np.full(ensemble.n_objects, NOISE, np.int32)
        if len(kept) < 2:
            warn(f"Only {len(kept)} objects are not ambiguous: there is nothing to cluster.")
            labels[kept] = 0
        else:
            some = None if X is None else X[kept]
            best, information = self._best(ensemble.take(kept), some, fit_into=True)
            labels[kept] = best.labels_
        if labels.max() >= 0:
            self._find_candidates(ensemble, labels)
        if self.action == "svm":
            labels = reallocate(
                X,
                labels,
                flagged,
                kernel=self.kernel,
                max_train=self.max_train,
                random_state=self.random_state,
            )
        return best, information, labels

    def _best(
        self, ensemble: Ensemble, X: Any, *, fit_into: bool = False
    ) -> tuple[Any, NDArray[np.float64]]:
        """The fitted consensus that shares the most with the members, and how much each shares.

        To fit into the objects that are left, no more clusters are asked for than there are.
        """
        fitted = []
        for one in self._estimators():
            model = with_defaults(one, self.random_state, self.n_jobs)
            if fit_into:
                _fit_into(model, ensemble.n_objects)
            fitted.append(model.fit(X, ensemble=ensemble))
        information = np.array([shared_information(m.labels_, ensemble) for m in fitted])
        # The first of equals.
        return fitted[int(information.argmax())], information

    def _find_candidates(self, ensemble: Ensemble, labels: NDArray[np.int32]) -> None:
        objects = np.flatnonzero(self.ambiguous_)
        affinity = mean_affinity(ensemble, labels, objects)
        order = np.argsort(-affinity, axis=1, kind="stable")[:, :2]
        close = np.take_along_axis(affinity, order, axis=1) > 0
        self.candidates_[objects, : order.shape[1]] = np.where(close, order, -1)


def _filled(ambiguity: Ambiguity) -> NDArray[np.float64]:
    """The scores, with numbers where the members say nothing that fit the flags."""
    known = ambiguity.scores[np.isfinite(ambiguity.scores)]
    low, high = (known.min(), known.max()) if known.size else (0.0, 1.0)
    unknown = np.where(ambiguity.flags, low, high)
    return np.where(np.isfinite(ambiguity.scores), ambiguity.scores, unknown)


def _fit_into(model: Any, n_objects: int) -> None:
    """Ask for no more clusters than there are objects left, and say so."""
    wanted = model.get_params(deep=False).get("n_clusters")
    if isinstance(wanted, Integral) and int(wanted) > n_objects:
        warn(
            f"n_clusters={wanted} was asked for, but only {n_objects} objects are not ambiguous; "
            "they are the clusters."
        )
        model.set_params(n_clusters=n_objects)
