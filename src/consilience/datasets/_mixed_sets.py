"""Generated tables of numbers and categories with known groups."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience._validation import Interval, Rule
from consilience.datasets._synthetic import _COUNT, _NOISE, Seed, _check, _enough, _rng, _shared_out

__all__ = ["MixedSample", "make_mixed"]

_NOT_NEGATIVE: list[Rule] = [Interval(Integral, 0)]


class MixedSample(NamedTuple):
    """A generated table of numbers and categories, and the group of each object.

    Attributes
    ----------
    numbers : ndarray of shape (n_objects, n_numbers), float64
    categories : ndarray of shape (n_objects, n_categories + n_noise), int64
        Places of categories, columns that know the groups first.
    groups : ndarray of shape (n_objects,), int64
    """

    numbers: NDArray[np.float64]
    categories: NDArray[np.int64]
    groups: NDArray[np.int64]

    def to_pandas(self) -> Any:
        """The table as a frame: numbers x0, x1, ... and texts of categories k0, k1, ..."""
        pandas = optional("pandas", extra="all", what="to_pandas")
        columns = {f"x{j}": column for j, column in enumerate(self.numbers.T)}
        for j, column in enumerate(self.categories.T):
            columns[f"k{j}"] = np.array([f"c{code}" for code in column.tolist()], object)
        return pandas.DataFrame(columns)


def make_mixed(
    n_objects: int = 200,
    n_clusters: int = 4,
    *,
    n_numbers: int = 2,
    n_categories: int = 2,
    n_noise: int = 20,
    n_levels: int = 4,
    separation: float = 1.5,
    purity: float = 0.8,
    random_state: Seed = None,
) -> MixedSample:
    """Groups that show a little in each of a few numbers and categories, among noise categories.

    Parameters
    ----------
    n_objects : int, default=200
        Number of objects, at least one a group, shared out as evenly as possible.
    n_clusters : int, default=4
        Number of groups.
    n_numbers, n_categories : int, default=2
        Columns of numbers and of categories that know the groups.
    n_noise : int, default=20
        Columns of categories that know nothing: every category is as likely for every object.
    n_levels : int, default=4
        Categories of a column.
    separation : float, default=1.5
        Standard deviation of the groups' centres in each column of numbers, in units of that
        within a group.
    purity : float, default=0.8
        Share of the objects of a group that have its own category; the others have any. Groups
        have different own categories where there are enough.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    MixedSample
        ``numbers``, ``categories``, ``groups``, in random order.

    Examples
    --------
    >>> sample = make_mixed(60, 3, random_state=0)
    >>> sample.numbers.shape, sample.categories.shape, np.bincount(sample.groups).tolist()
    ((60, 2), (60, 22), [20, 20, 20])
    """
    owner = "make_mixed"
    _check(owner, random_state, n_objects=(n_objects, _COUNT), n_clusters=(n_clusters, _COUNT))
    _check(owner, n_numbers=(n_numbers, _NOT_NEGATIVE), n_categories=(n_categories, _NOT_NEGATIVE))
    _check(owner, n_noise=(n_noise, _NOT_NEGATIVE), n_levels=(n_levels, [Interval(Integral, 2)]))
    _check(owner, separation=(separation, _NOISE), purity=(purity, [Interval(Real, 0, 1)]))
    _enough(owner, n_objects, n_clusters, "n_clusters")
    rng = _rng(random_state)
    groups = _shared_out(n_objects, n_clusters)
    centres = separation * rng.standard_normal((n_clusters, n_numbers))
    numbers = centres[groups] + rng.standard_normal((n_objects, n_numbers))
    categories = rng.randint(n_levels, size=(n_objects, n_categories + n_noise))
    for j in range(n_categories):
        own = rng.permutation(max(n_levels, n_clusters))[:n_clusters] % n_levels
        pure = rng.uniform(size=n_objects) < purity
        categories[pure, j] = own[groups[pure]]
    order = rng.permutation(n_objects)
    return MixedSample(numbers[order], categories[order].astype(np.int64), groups[order])
