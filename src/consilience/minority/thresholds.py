"""Where the foreground ends: rules that turn a vector of scores into a threshold.

A score is always "larger = more foreground", and an object is foreground if its score is at
least the threshold. Every rule depends on the scores only up to a linear map, returns one of the
scores (so that ``scores >= found.value`` is exactly the cut) and never splits a group of equal
scores. Where a rule finds nothing it says so in ``flag`` and calls everything background
(threshold infinity); it never raises for the scores it was given.

Three rules decide by themselves (`two_gauss`, `dist`, `ngauss_var`); `size` must be told how many
objects are wanted; `best` and `ngauss_best` look at the truth and are upper bounds for
comparisons, not ways to decide. The default of `EWOCS`, "reference", needs the objects, not only
their scores: it is not among these.

>>> scores = [0.9, 0.8, 0.85, 0.1, 0.2, 0.15, 0.1, 0.12, 0.18, 0.11]
>>> result = two_gauss(scores)
>>> result.value, result.n_foreground
(0.8, 3)
"""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

from consilience._validation import Interval, Options, check_value
from consilience.errors import InvalidParameterError
from consilience.minority._cuts import (
    Threshold,
    boundaries,
    cut,
    descending_scores,
    f1_at,
    group_ends,
    is_flat,
    no_boundary,
    no_contrast,
    nothing,
    values_of,
    variance_gap,
)
from consilience.minority._score_mixture import finite_scores, to_unit
from consilience.minority._truth import foreground_truth

__all__ = [
    "METHODS",
    "Threshold",
    "best",
    "dist",
    "every",
    "find",
    "ngauss_best",
    "ngauss_var",
    "size",
    "two_gauss",
]

METHODS = ("2gauss", "dist", "ngauss", "size", "best", "ngauss+best")
#: Those that look at the truth.
BY_TRUTH = ("best", "ngauss+best")
WITHOUT_TRUTH = "Without a truth choose '2gauss', 'dist' or 'ngauss'."


def best(scores: Any, y: Any) -> Threshold:
    """Threshold with the largest F1 against the truth: an upper bound, not a way to decide.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground (or True/False).

    Returns
    -------
    Threshold
        The first of equal maxima from the top. All background with flag "no_truth" if no
        object is foreground.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 5.1.

    Examples
    --------
    >>> best([4, 3, 2, 1], [1, 1, 0, 0]).why
    'F1 is largest at 2 of 4 objects: 1.000.'
    """
    vector = finite_scores(scores, owner="best")
    truth = foreground_truth(y, len(vector), owner="best", instead=WITHOUT_TRUTH)
    order = np.argsort(-vector, kind="stable")
    descending = vector[order]
    if is_flat(descending):
        return no_contrast("best", len(vector))
    if not truth.any():
        return nothing("best", "no_truth", "No object is foreground in the truth.")
    ends = group_ends(descending)
    f1 = f1_at(ends, truth[order])
    chosen = int(f1.argmax())
    why = f"F1 is largest at {ends[chosen] + 1} of {len(vector)} objects: {f1[chosen]:.3f}."
    return cut(descending, int(ends[chosen]), "best", why)


def size(scores: Any, m: float) -> Threshold:
    """Threshold that makes the ``m`` objects with the highest scores foreground.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.
    m : int or float
        Whole number: how many objects; fraction between 0 and 1: which share of them. A size
        below 1 or above the number of objects is brought to the nearest possible one, with
        flag "clamped".

    Returns
    -------
    Threshold
        With more than ``m`` objects where scores are tied at the threshold.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 5.2.

    Examples
    --------
    >>> size([4, 3, 2, 1], 2).value, size([4, 3, 2, 1], 0.25).value
    (3.0, 4.0)
    >>> size([4, 3, 2, 1], 0).flag
    'clamped'
    """
    descending = descending_scores(scores, "size")
    n = len(descending)
    check_value("m", m, [Interval(Integral, 0), Interval(Real, 0, 1)], owner="size")
    if is_flat(descending):
        return no_contrast("size", n)
    asked = int(m) if isinstance(m, Integral) else round(float(m) * n)
    count = min(max(asked, 1), n)
    why = f"The {count} highest scores were asked for."
    if count != asked:
        why = f"{asked} of {n} objects were asked for; {count} is the nearest possible size."
    threshold = cut(descending, count - 1, "size", why, "clamped" if count != asked else None)
    if threshold.n_foreground > count:
        ties = f"{threshold.why} Ties at the threshold make it {threshold.n_foreground}."
        return replace(threshold, why=ties)
    return threshold


def dist(scores: Any) -> Threshold:
    """Threshold at the corner of the sorted scores, nearest to the origin of their plot.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.

    Returns
    -------
    Threshold
        At the object that minimises ``z_i^2 + (i / n)^2``, where ``z`` are the scores mapped to
        [0, 1] and ``i`` counts them from the top; the first of equal minima.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, eqs. 14-16.

    Examples
    --------
    >>> dist([10, 9, 2, 1.5, 1, 0.5, 0.5, 0.2, 0.1, 0]).value
    2.0
    """
    descending = descending_scores(scores, "dist")
    n = len(descending)
    if is_flat(descending):
        return no_contrast("dist", n)
    squared = to_unit(descending) ** 2 + (np.arange(1, n + 1) / n) ** 2
    chosen = int(squared.argmin())
    why = f"The sorted scores come nearest to the corner ({np.sqrt(squared[chosen]):.3f}) here."
    return cut(descending, chosen, "dist", why)


def ngauss_best(scores: Any, y: Any) -> Threshold:
    """Best boundary of a mixture of Gaussians against the truth: an upper bound of `ngauss_var`.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.
    y : array of shape (n_objects,)
        True sources: 0 background, 1, 2, ... foreground (or True/False).

    Returns
    -------
    Threshold
        The candidate with the largest F1; see `ngauss_var` for the candidates.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 5.4.

    Examples
    --------
    >>> scores = [1.0, 1.05, 0.95, 1.02] + [0.5, 0.52, 0.48, 0.51] + [0.01 * i for i in range(12)]
    >>> ngauss_best(scores, [1] * 8 + [0] * 12).n_foreground
    8
    """
    vector = finite_scores(scores, owner="ngauss_best")
    truth = foreground_truth(y, len(vector), owner="ngauss_best", instead=WITHOUT_TRUTH)
    order = np.argsort(-vector, kind="stable")
    descending = vector[order]
    if is_flat(descending):
        return no_contrast("ngauss+best", len(vector))
    if not truth.any():
        return nothing("ngauss+best", "no_truth", "No object is foreground in the truth.")
    mixture, cuts = boundaries(descending)
    if not cuts:
        return no_boundary("ngauss+best", descending, mixture)
    f1 = f1_at(np.array(list(cuts.values())), truth[order])
    chosen = int(f1.argmax())
    why = (
        f"Of {len(cuts)} boundaries of {mixture.n_components} Gaussians this one has the largest "
        f"F1, {f1[chosen]:.3f}."
    )
    index = list(cuts.values())[chosen]
    return cut(descending, index, "ngauss+best", why, candidates=values_of(descending, cuts))


def ngauss_var(scores: Any) -> Threshold:
    """Threshold at the boundary of a mixture of Gaussians where component variances differ most.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.

    Returns
    -------
    Threshold
        ``candidates`` holds every boundary between higher and lower components. All background
        with flag "no_boundary" where there is none.

    Notes
    -----
    The scores are mapped to [0, 1]; EM fits 1 to 10 Gaussians and the Bayesian information
    criterion chooses among them. The candidate between the c highest components and the rest is
    the last score, from the top, at which the former still hold half of the probability. Above
    20,000 objects EM runs on a histogram of 4096 bins. Scores with a heavy tail take many
    components and make this rule erratic; so do a few dozen objects, where components shrink
    onto single scores.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 5.4, eq. 17.

    Examples
    --------
    >>> scores = [0.9, 0.7, 0.5, 0.6, 0.8] + [0.001 * i for i in range(20)]
    >>> ngauss_var(scores).n_foreground
    5
    """
    descending = descending_scores(scores, "ngauss_var")
    if is_flat(descending):
        return no_contrast("ngauss+var", len(descending))
    mixture, cuts = boundaries(descending)
    if not cuts:
        return no_boundary("ngauss+var", descending, mixture)
    gaps = {c: variance_gap(mixture.variances, c) for c in cuts}
    chosen = max(gaps, key=lambda c: gaps[c])  # the first of equal gaps
    why = (
        f"Of {len(cuts)} boundaries of {mixture.n_components} Gaussians the one above which "
        f"{chosen} lie separates the most different variances."
    )
    return cut(descending, cuts[chosen], "ngauss+var", why, candidates=values_of(descending, cuts))


def two_gauss(scores: Any) -> Threshold:
    """Threshold where the higher of two Gaussians gives way to the lower one.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.

    Returns
    -------
    Threshold
        All background with flag "no_boundary" where the higher Gaussian is nowhere the more
        probable one, or everywhere.

    References
    ----------
    Gonzàlez & Turmo (2013), Unsupervised ensemble minority clustering, section 5.4.

    Examples
    --------
    >>> two_gauss([5, 5.5, 4.5, 1, 1.1, 0.9, 1.2, 0.8]).value
    4.5
    """
    descending = descending_scores(scores, "two_gauss")
    if is_flat(descending):
        return no_contrast("2gauss", len(descending))
    mixture, cuts = boundaries(descending, 2)
    if not cuts:
        return no_boundary("2gauss", descending, mixture)
    why = "Here the higher of two Gaussians gives way to the lower one."
    return cut(descending, cuts[1], "2gauss", why)


def find(scores: Any, method: str | float, *, y: Any = None, m: float | None = None) -> Threshold:
    """Threshold by the name of its rule.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.
    method : str or float
        "2gauss", "dist", "ngauss" (which is `ngauss_var`), "size", "best", "ngauss+best", or a
        number to be used as it is.
    y : array of shape (n_objects,), optional
        True sources, for "best" and "ngauss+best" only.
    m : int or float, optional
        Number or share of foreground objects, for "size" only.

    Returns
    -------
    Threshold

    Examples
    --------
    >>> find([4, 3, 2, 1], "size", m=1).value
    4.0
    >>> find([4, 3, 2, 1], 2.5).n_foreground
    2
    """
    check_value("method", method, [Options((*METHODS, "ngauss+var")), Interval(Real)], owner="find")
    if not isinstance(method, str):
        return _given(scores, float(method))
    if method == "size":
        if m is None:
            raise InvalidParameterError(
                "The 'm' parameter of find must be the number or the share of foreground objects "
                "where method='size'. Got None instead. Without it choose 'dist' or '2gauss'."
            )
        return size(scores, m)
    if method == "best":
        return best(scores, y)
    if method == "ngauss+best":
        return ngauss_best(scores, y)
    return {"dist": dist, "2gauss": two_gauss}.get(method, ngauss_var)(scores)


def every(scores: Any, *, y: Any = None, m: float | None = None) -> tuple[Threshold, ...]:
    """Every threshold that can be found: the unsupervised rules, then those ``y`` and ``m`` allow.

    Parameters
    ----------
    scores : array of shape (n_objects,)
        Finite; larger = more foreground.
    y : array of shape (n_objects,), optional
        True sources; adds "best" and "ngauss+best".
    m : int or float, optional
        Number or share of foreground objects; adds "size".

    Returns
    -------
    tuple of Threshold
        In the order of `METHODS`.

    Examples
    --------
    >>> scores = [0.9, 0.7, 0.5, 0.6, 0.8] + [0.001 * i for i in range(20)]
    >>> [(one.method, one.n_foreground) for one in every(scores, m=4)]
    [('2gauss', 5), ('dist', 6), ('ngauss+var', 5), ('size', 4)]
    """
    needs = {"size": m, "best": y, "ngauss+best": y}
    usable = [method for method in METHODS if method not in needs or needs[method] is not None]
    return tuple(find(scores, method, y=y, m=m) for method in usable)


def _given(scores: Any, value: float) -> Threshold:
    """A threshold the caller has chosen."""
    vector = finite_scores(scores, owner="find")
    if vector.min() == vector.max():
        return no_contrast("number", len(vector))
    count = int((vector >= value).sum())
    return Threshold(value, "number", count, (value,), None, "The threshold was given.")
