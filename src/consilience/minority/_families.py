"""Distributions of a group of objects, known by sums from which objects can be taken away."""

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from consilience._units import check_range
from consilience.errors import InvalidInputError

__all__ = ["FAMILIES", "Family", "Sums", "uniform_log_density"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

# Eigenvalues below this share of the largest count as zero.
_ZERO = 1e-12
_RIDGE = 1e-6


@dataclass(frozen=True)
class Sums:
    """Number of some objects, the sum of their rows, and of their outer products if needed."""

    count: int
    first: Floats
    second: Floats | None = None

    def __sub__(self, other: "Sums") -> "Sums":
        """The sums after the other objects have left."""
        second = None
        if self.second is not None:
            assert other.second is not None  # of the same family
            second = self.second - other.second
        return Sums(self.count - other.count, self.first - other.first, second)


class Family(Protocol):
    """What a model of a group can do."""

    name: ClassVar[str]
    n_objects: int
    rows: Any

    def likeness(self, seed: int, objects: Ints) -> Floats:
        """Log-likelihood of objects under the model of one object, up to a constant."""

    def sums(self, objects: Ints) -> Sums:
        """What the model needs to know of some objects."""

    def log_density(self, sums: Sums, objects: Ints) -> Floats:
        """Log-density of objects under the model of the sums."""


class Gaussian:
    """Normal distribution with a full covariance; constant columns are left out."""

    name: ClassVar[str] = "gaussian"

    def __init__(self, X: Floats, *, owner: str) -> None:
        check_range(X, owner=owner)
        X = X[:, np.ptp(X, axis=0) > 0]
        # Sums of squares about the middle of the data lose fewer digits.
        self.rows = np.ascontiguousarray(X - X.mean(axis=0))
        self.n_objects = len(X)
        self.variance = float((self.rows**2).sum() / max(1, self.rows.size))

    def likeness(self, seed: int, objects: Ints) -> Floats:
        """Minus the squared Euclidean distance: a unit covariance."""
        return -((self.rows[objects] - self.rows[seed]) ** 2).sum(axis=1)

    def sums(self, objects: Ints) -> Sums:
        """What the model needs to know of some objects."""
        rows = self.rows[objects]
        return Sums(len(rows), rows.sum(axis=0), rows.T @ rows)

    def log_density(self, sums: Sums, objects: Ints) -> Floats:
        """Log-density of objects under the model of the sums."""
        assert sums.second is not None
        mean = sums.first / sums.count
        covariance = (sums.second - sums.count * np.outer(mean, mean)) / max(1, sums.count - 1)
        values, axes = np.linalg.eigh(covariance)
        # One scale for all columns: a flat group in the data is flat by this measure.
        if values[0] <= _ZERO * max(values[-1], self.variance):
            values = np.maximum(values, 0.0)
            values = values + _RIDGE * (values.mean() or self.variance)
        gaps = ((self.rows[objects] - mean) @ axes) ** 2
        norm = np.log(2 * np.pi * values).sum()
        return np.asarray(-0.5 * ((gaps / values).sum(axis=1) + norm))


class _Counted:
    """Families of rows without negative values, dense or CSR."""

    name: ClassVar[str]

    def __init__(self, X: Any, *, owner: str) -> None:
        self._check(X.data if sparse.issparse(X) else X, owner)
        self.rows = X
        self.n_objects = X.shape[0]

    def _check(self, values: Floats, owner: str) -> None:
        if values.size and values.min() < 0:
            raise InvalidInputError(
                f"Negative values in data passed to {owner}: family='multinomial' needs counts. "
                "Use family='gaussian' for data of either sign."
            )

    def _row(self, i: int) -> Floats:
        row = self.rows[[i]]
        return np.asarray(row.toarray() if sparse.issparse(row) else row)[0]

    def likeness(self, seed: int, objects: Ints) -> Floats:
        """Log-likelihood under the smoothed model of the seed alone."""
        return self.log_density(Sums(1, self._row(seed)), objects)

    def sums(self, objects: Ints) -> Sums:
        """What the model needs to know of some objects."""
        return Sums(len(objects), np.asarray(self.rows[objects].sum(axis=0)).ravel())

    def log_density(self, sums: Sums, objects: Ints) -> Floats:
        """Log-density of objects under the model of the sums."""
        raise NotImplementedError


class Multinomial(_Counted):
    """Counts drawn from one distribution over the columns, smoothed by one a column.

    The multinomial coefficient is left out: it is the same under every model.
    """

    name: ClassVar[str] = "multinomial"

    def log_density(self, sums: Sums, objects: Ints) -> Floats:
        """Log-density of objects under the model of the sums."""
        # Counts that are not whole can go below zero by rounding when objects leave.
        counts = np.maximum(sums.first, 0.0) + 1.0
        return np.asarray(self.rows[objects] @ np.log(counts / counts.sum()))


class Bernoulli(_Counted):
    """Zeros and ones, each column by itself; shares are (ones + 1) / (objects + 2)."""

    name: ClassVar[str] = "bernoulli"

    def _check(self, values: Floats, owner: str) -> None:
        if not np.isin(values, (0.0, 1.0)).all():
            raise InvalidInputError(
                f"Negative values or values other than 0 and 1 in data passed to {owner}: "
                "family='bernoulli' needs zeros and ones. Make them with (X > 0), or use "
                "family='multinomial' for counts."
            )

    def log_density(self, sums: Sums, objects: Ints) -> Floats:
        """Log-density of objects under the model of the sums."""
        share = (sums.first + 1.0) / (sums.count + 2.0)
        odds = np.log(share) - np.log1p(-share)
        return np.asarray(self.rows[objects] @ odds + np.log1p(-share).sum())


FAMILIES: dict[str, Any] = {family.name: family for family in (Gaussian, Multinomial, Bernoulli)}


def uniform_log_density(model: Family) -> Floats:
    """Log-density of every object under a uniform one over the box around the data."""
    widths = np.ptp(model.rows, axis=0)
    return np.full(model.n_objects, -np.log(widths[widths > 0]).sum())
