"""Several consensus methods on one ensemble: how far they agree, and which one to take."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from consilience._labels import UNSEEN, encode
from consilience._validation import (
    Interval,
    NoneValue,
    RandomState,
    Satisfies,
    check_jobs,
    check_n_clusters,
    check_value,
)
from consilience.consensus import CONSENSUS, Method
from consilience.ensemble import Ensemble, usable_ensemble
from consilience.errors import ConsilienceError, InvalidInputError, InvalidParameterError
from consilience.metrics import anmi, consistency_index, nmi
from consilience.rows import rows_of

__all__ = ["Comparison", "against_truth", "compare_methods"]

_OWNER = "compare_methods"
# What a method raises when it cannot work on this ensemble: our own errors are among these,
# and so are those of the solvers below. Anything else is a mistake in the method, and shows.
_REFUSALS = (ConsilienceError, ValueError, MemoryError, ArithmeticError, np.linalg.LinAlgError)


@dataclass(frozen=True)
class Comparison:
    """What several methods made of one ensemble.

    Attributes
    ----------
    names : tuple of str
        Methods that gave a result, in the order asked for; everything below follows it.
    labels : dict of name -> ndarray of shape (n_objects,), int32
    n_clusters : ndarray of shape (m,), int64
        Clusters each method found.
    agreement : ndarray of shape (m, m)
        Normalised mutual information of each two methods' labels; 1 on the diagonal.
    anmi : ndarray of shape (m,)
        Mean normalised mutual information of each method's labels with the members.
    truth : dict of name -> ndarray of shape (m,), or None
        "consistency_index", "nmi" and "ari" of each method against the truth, where given.
    best : str
        The supra-consensus: the method with the greatest ANMI, the first on ties. The truth
        has no say in it.
    seconds : ndarray of shape (m,)
        Wall time of each method, without the scores.
    failed : dict of name -> str
        Message of each method that refused this ensemble.
    """

    names: tuple[str, ...]
    labels: dict[str, NDArray[np.int32]]
    n_clusters: NDArray[np.int64]
    agreement: NDArray[np.float64]
    anmi: NDArray[np.float64]
    truth: dict[str, NDArray[np.float64]] | None
    best: str
    seconds: NDArray[np.float64]
    failed: dict[str, str]


def compare_methods(
    ensemble: Any,
    names: Sequence[str],
    n_clusters: int | None,
    *,
    X: Any = None,
    truth: Any = None,
    random_state: Any = None,
    n_jobs: int | None = None,
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
) -> Comparison:
    """Labels of several consensus methods side by side, and the one the members back most.

    Parameters
    ----------
    ensemble : Ensemble, or anything `Ensemble` takes
        Labels of n objects by R members.
    names : sequence of str
        Methods of the table (`consilience.consensus.CONSENSUS`); repeats count once.
    n_clusters : int or None
        Clusters wanted. None lets each method choose; those that cannot are in ``failed``.
    X : array, frame or CSR matrix of shape (n_objects, n_features), optional
        For the methods that use the data; without it those are in ``failed``.
    truth : labels of n_objects, optional
        Known groups in any form, None where unknown; only for ``truth`` of the result.
    random_state : int, RandomState or None
        Every method starts from the same seed, so that its labels do not depend on which
        others were asked for.
    n_jobs : int or None
        Threads of each method; None means one.
    parameters : mapping of name -> mapping, optional
        Own parameters of some methods, such as ``{"eac": {"linkage": "single"}}``.

    Returns
    -------
    Comparison

    Raises
    ------
    InvalidParameterError
        If a name or a parameter is unknown, or the number of clusters cannot be.
    InvalidInputError
        If every method refused the ensemble; the message holds all of theirs.

    References
    ----------
    Strehl & Ghosh (2002), Cluster ensembles, JMLR 3, section 3.5 (the supra-consensus) and
    equation 5 (ANMI).

    Examples
    --------
    >>> ens = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 2, 2], [5, 5, 5, 7, 7, 7]])
    >>> result = compare_methods(ens, ["mcla", "wosp", "eac"], 2, random_state=0)
    >>> result.names, result.best, result.agreement.tolist()
    (('mcla', 'eac'), 'mcla', [[1.0, 1.0], [1.0, 1.0]])
    >>> result.failed
    {'wosp': "The method 'wosp' needs the data, not only labels. Pass X as well."}
    """
    if not isinstance(ensemble, Ensemble):
        ensemble = Ensemble(ensemble)
    ensemble = usable_ensemble(ensemble, owner=_OWNER)
    check_jobs(n_jobs, owner=_OWNER)
    methods = _checked(ensemble, names, n_clusters, X, truth, random_state, parameters)
    if X is not None:
        X = rows_of(X, owner=_OWNER)
    if random_state is not None and not isinstance(random_state, Integral):
        random_state = int(check_random_state(random_state).randint(2**31 - 1))
    labels: dict[str, NDArray[np.int32]] = {}
    seconds: list[float] = []
    failed: dict[str, str] = {}
    for method in methods:
        own = dict((parameters or {}).get(method.name, {}))
        start = time.perf_counter()
        try:
            _check_can_run(method, n_clusters, X)
            result = method.run(
                ensemble, n_clusters, X, random_state=random_state, n_jobs=n_jobs, **own
            )
            labels[method.name] = np.asarray(result.labels, np.int32)
        except _REFUSALS as error:
            failed[method.name] = " ".join(str(error).split()) or type(error).__name__
        else:
            seconds.append(time.perf_counter() - start)
    if not labels:
        said = " ".join(f"{name}: {message}" for name, message in failed.items())
        raise InvalidInputError(f"No method could work on this ensemble. {said}")
    return _compared(ensemble, labels, truth, np.array(seconds), failed)


def _compared(
    ensemble: Ensemble,
    labels: dict[str, NDArray[np.int32]],
    truth: Any,
    seconds: NDArray[np.float64],
    failed: dict[str, str],
) -> Comparison:
    names = tuple(labels)
    agreement = np.eye(len(names))
    for i, one in enumerate(names):
        for j, other in enumerate(names[:i]):
            agreement[i, j] = agreement[j, i] = nmi(labels[one], labels[other])
    shared = np.array([_anmi(labels[name], ensemble) for name in names])
    return Comparison(
        names=names,
        labels=labels,
        n_clusters=np.array([labels[name].max(initial=-1) + 1 for name in names], np.int64),
        agreement=agreement,
        anmi=shared,
        truth=None if truth is None else _scores([labels[name] for name in names], truth),
        best=names[int(shared.argmax())],
        seconds=seconds,
        failed=failed,
    )


def _anmi(labels: NDArray[np.int32], ensemble: Ensemble) -> float:
    """ANMI over the members that saw anything; 0 where none did."""
    saw = np.flatnonzero((ensemble.members > UNSEEN).any(axis=1))
    if not len(saw):
        return 0.0
    return anmi(labels, ensemble if len(saw) == ensemble.n_members else ensemble[saw])


def _scores(labellings: list[NDArray[np.int32]], truth: Any) -> dict[str, NDArray[np.float64]]:
    """Each score of every labelling."""
    each = [against_truth(truth, labels) for labels in labellings]
    return {name: np.array([scores[name] for scores in each]) for name in each[0]}


def against_truth(truth: Any, labels: NDArray[Any]) -> dict[str, float]:
    """How far labels agree with known groups: over the objects whose group is known.

    Parameters
    ----------
    truth : array-like of shape (n_objects,)
        Known groups, any values; missing where they are not known.
    labels : array of shape (n_objects,)
        Clusters; -1 in none.

    Returns
    -------
    dict
        "consistency_index" (share of objects that agree once clusters are matched to groups),
        "nmi" and "ari" (Hubert & Arabie's adjusted Rand index).

    Examples
    --------
    >>> against_truth(["a", "a", "b", "b"], np.array([1, 1, 0, 0]))
    {'consistency_index': 1.0, 'nmi': 1.0, 'ari': 1.0}
    """
    codes = encode(truth, what="truth")
    known = codes != UNSEEN  # scikit-learn's index has no place for the others
    return {
        "consistency_index": float(consistency_index(codes, labels)),
        "nmi": float(nmi(codes, labels)),
        "ari": float(adjusted_rand_score(codes[known], encode(labels, what="labels")[known])),
    }


def _check_can_run(method: Method, n_clusters: int | None, X: Any) -> None:
    if method.needs_data and X is None:
        raise InvalidInputError(
            f"The method {method.name!r} needs the data, not only labels. Pass X as well."
        )
    if method.needs_n_clusters and n_clusters is None:
        raise InvalidParameterError(
            f"The method {method.name!r} needs the number of clusters. Pass n_clusters, for "
            "instance the one that choose_n_clusters finds."
        )


def _checked(
    ensemble: Ensemble,
    names: Sequence[str],
    n_clusters: int | None,
    X: Any,
    truth: Any,
    random_state: Any,
    parameters: Mapping[str, Mapping[str, Any]] | None,
) -> list[Method]:
    """The methods asked for, once everything that does not depend on them is usable."""
    rule = Satisfies(_is_names, "a list of names of consensus methods, at least one")
    check_value("names", names, [rule], owner=_OWNER)
    check_value("n_clusters", n_clusters, [Interval(Integral, 1), NoneValue()], owner=_OWNER)
    check_value("random_state", random_state, [RandomState()], owner=_OWNER)
    if n_clusters is not None:
        check_n_clusters(n_clusters, ensemble.n_objects, owner=_OWNER)
    for what, given in (("X", X), ("truth", truth)):
        if given is not None and _length(given) != ensemble.n_objects:
            raise InvalidInputError(
                f"{what} and ensemble must hold the same objects: {what} has {_length(given)}, "
                f"the ensemble {ensemble.n_objects}. An array of labels is n_objects x "
                "n_members: transpose it if it is the other way round."
            )
    for name in names:
        if name not in CONSENSUS:
            raise InvalidParameterError(
                f"The 'names' parameter of {_OWNER} must hold names of consensus methods "
                f"({', '.join(sorted(CONSENSUS))}). Got {name!r}."
            )
    methods = [CONSENSUS[name] for name in dict.fromkeys(names)]
    _check_parameters(methods, parameters or {})
    return methods


def _check_parameters(methods: list[Method], parameters: Mapping[str, Mapping[str, Any]]) -> None:
    """Raise if a parameter belongs to nobody: a typing mistake would do nothing in silence."""
    known = {method.name: method for method in methods}
    for name, own in parameters.items():
        if name not in known:
            raise InvalidParameterError(
                f"The 'parameters' argument of {_OWNER} must name methods that are compared "
                f"({', '.join(known)}). Got {name!r}."
            )
        known[name].check_options(own)


def _is_names(value: Any) -> bool:
    if isinstance(value, str) or not isinstance(value, Sequence):
        return False
    return bool(value) and all(isinstance(name, str) for name in value)


def _length(data: Any) -> int:
    return int(data.shape[0]) if hasattr(data, "shape") else len(data)
