"""Jobs by other distances than Euclidean: what members see, and what all else looks at.

Members are made of the distances themselves. What looks at points (AutoConsensus, methods that
need data, pictures) sees points whose Euclidean distances are those distances, as nearly as may be:
rows of length 1 for the cosine and the correlation, principal coordinates for all others.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.linalg import eigh
from scipy.sparse.linalg import eigsh
from sklearn.preprocessing import normalize

from consilience._threads import one_thread
from consilience._validation import NoneValue, Options, check_value
from consilience.errors import InvalidInputError, InvalidParameterError, warn
from consilience.generate import METRICS, DistanceEnsemble
from consilience.generate._draw import subset_size
from consilience.generate.distances import distances_between
from consilience.workflow._columns import Columns
from consilience.workflow._data import Data

__all__ = ["by_metric", "check_metric", "distance_members", "scaled_by"]

Floats = NDArray[np.float64]

# Metrics for which columns should have a common unit; others speak of rows, or of values as such.
_OF_COLUMNS = ("manhattan", "chebyshev")
# Metrics that are Euclidean between rows of length 1.
_OF_ROWS = ("cosine", "correlation")
# Most objects whose distances are all held: 3 GiB.
_MOST_OBJECTS = 20_000
# Principal coordinates that are kept at most, and of what share of the largest eigenvalue.
_MOST_AXES, _LEAST = 50, 1e-6
# Objects up to which all eigenvalues are found, and on which the coordinates are judged.
_FEW, _JUDGED = 1500, 1000


def check_metric(
    metric: Any, X: Any, columns: Columns, scale: Any, members: Any, *, owner: str
) -> str | None:
    """The metric where it changes anything, once it is known to be usable."""
    check_value("metric", metric, [Options(METRICS), NoneValue()], owner=owner)
    if metric is None or metric == "euclidean":
        return None
    for name, given in (("gaps", columns.keep_gaps), ("ensemble", members is not None)):
        if given:
            raise InvalidParameterError(
                f"The 'metric' parameter of {owner} is for members that are to be made of complete "
                f"numbers, and {name!r} is given. Leave one of them out."
            )
    if metric == "precomputed":
        for name, told in (
            ("transform", columns.transform),
            ("column_weights", columns.column_weights),
            ("scale", scale is True),
        ):
            if told:
                raise InvalidParameterError(
                    f"The {name!r} parameter of {owner} is for columns, and with "
                    "metric='precomputed' X holds distances. Leave it out."
                )
    if X is None:
        raise InvalidInputError(f"The 'metric' parameter of {owner} needs data. Pass X.")
    return str(metric)


def scaled_by(metric: str | None, scale: Any) -> Any:
    """Whether columns are standardised: by itself where a metric adds their differences up."""
    if metric is None or metric in _OF_COLUMNS or scale != "auto":
        return scale
    return False


def by_metric(data: Data, metric: str | None, *, owner: str) -> Data:
    """The data with their distances, and points that have them in the place of the columns."""
    if metric is None:
        return data
    if data.mixed is not None or data.rows is None:
        raise InvalidInputError(
            f"The metric {metric!r} of {owner} is for one table of numbers. Encode categories "
            "(encode='onehot'), and give views one by one."
        )
    n = data.n_objects
    if n > _MOST_OBJECTS and metric not in _OF_ROWS:
        raise InvalidInputError(
            f"The metric {metric!r} of {owner} needs the distances of all pairs, and takes at most "
            f"{_MOST_OBJECTS:,} objects. Got {n:,}. Take a sample, or 'cosine' or 'correlation', "
            "which are Euclidean between rows of length 1."
        )
    D = None if n > _MOST_OBJECTS else distances_between(data.X, metric, owner=owner)
    if metric in _OF_ROWS:
        points = _unit_rows(data.X, centred=metric == "correlation")
        how = "rows of length 1, whose Euclidean distances say the same"
        names = data.columns
    else:
        points, fit = principal_coordinates(D)
        how = f"{points.shape[1]} principal coordinates (correlation with the distances {fit:.2f})"
        names = tuple(f"coordinate {j + 1}" for j in range(points.shape[1]))
    made = "Clusterings are made by" if D is not None else "Groups are those of"
    called = "the distances given" if metric == "precomputed" else f"{metric} distances"
    warn(f"{made} {called}; what looks at points, as AutoConsensus does, sees {how}.")
    told: dict[str, Any] = {"X": points, "columns": names, "scaling": None, "distances": D}
    if metric == "precomputed":
        told |= {"original": None, "original_columns": (), "sources": (), "dropped": ()}
    return replace(data, metric=metric, used_as=f"by {called}", standardised=False, **told)


def distance_members(
    data: Data, n_members: int, n_groups: int | None, seed: int, n_jobs: int | None
) -> tuple[Any, str]:
    """The generator of members by distances, and a sentence of reason."""
    clusters: Any = ("sqrt/2", "sqrt") if n_groups is None else min(n_groups, data.n_objects)
    generator = DistanceEnsemble(
        n_members, clusters, metric="precomputed", random_state=seed, n_jobs=n_jobs
    )
    of = "other objects"
    if n_groups is not None and clusters > subset_size(generator.max_samples, data.n_objects):
        generator.set_params(max_samples=1.0)  # a part would hold too few objects for so many
        of = "all objects"
    return generator, (
        f"medoids, links, spectral and graphs of neighbours, each of {of}. They need distances "
        "only."
    )


def _unit_rows(X: Any, *, centred: bool) -> Any:
    """Rows of length 1, of deviations from their mean for correlations."""
    if sparse.issparse(X):
        if centred:
            raise InvalidInputError(
                "The metric 'correlation' would fill a sparse X. Take 'cosine', or a dense array."
            )
        return sparse.csr_array(normalize(X))
    values = X - X.mean(axis=1, keepdims=True) if centred else X
    return np.ascontiguousarray(normalize(np.asarray(values, np.float64)))


def principal_coordinates(D: Any) -> tuple[Floats, float]:
    """Points whose Euclidean distances are near given ones, and the correlation of the two.

    Examples
    --------
    >>> points, fit = principal_coordinates(np.abs(np.subtract.outer([0.0, 1, 5], [0.0, 1, 5])))
    >>> np.abs(np.diff(points[:, 0])).round(6).tolist(), round(fit, 6)
    ([1.0, 4.0], 1.0)
    """
    n = len(D)
    B = D**2
    means = B.mean(axis=0)
    B = -0.5 * (B - means - means[:, None] + means.mean())
    most = min(_MOST_AXES, n - 1)
    with one_thread():
        if n <= _FEW:
            values, vectors = eigh(B, subset_by_index=[n - most, n - 1])
        else:
            start = np.random.default_rng(0).standard_normal(n)
            values, vectors = eigsh(B, k=most, which="LA", v0=start)
    order = np.argsort(-values, kind="stable")
    values, vectors = values[order], vectors[:, order]
    kept = values > _LEAST * max(float(values[0]), 0.0)
    kept[0] = True  # a point there must be, also of objects that are all the same
    # The sign of an axis is arbitrary: its largest entry is positive.
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(len(values))])
    points = (vectors * signs * np.sqrt(np.maximum(values, 0.0)))[:, kept]
    return np.ascontiguousarray(points), _fit(points, D)


def _fit(points: Floats, D: Floats) -> float:
    """Correlation of the distances of points with those that they are to have."""
    some = slice(None, None, -(-len(D) // _JUDGED))
    few, wanted = points[some], D[some, some]
    squares = (few**2).sum(axis=1)
    distances = np.sqrt(np.maximum(squares[:, None] + squares - 2.0 * few @ few.T, 0.0))
    pairs = np.triu_indices(len(few), 1)
    if np.ptp(wanted[pairs]) == 0 or np.ptp(distances[pairs]) == 0:
        return 1.0
    return float(np.corrcoef(distances[pairs], wanted[pairs])[0, 1])
