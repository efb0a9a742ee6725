"""The three toy examples of the weighted-object paper."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from consilience._validation import Options, check_value
from consilience.datasets._synthetic import Sample, Seed, _check, _rng

_GAUSSIANS = {
    "toy1": (150, 10.0, [(-10.0, 10.0), (10.0, 10.0), (0.0, 0.0)]),
    "toy3": (
        300,
        5.0,
        [(-5.29, 0.0), (-8.559, 10.062), (0.0, 16.281), (8.559, 10.062), (5.29, 0.0)],
    ),
}
_DISCS = ([(-4.0, 6.0), (4.0, 6.0), (0.0, 0.0)], [3.0, 3.0, 4.0], 300)


def make_woec_toy(
    name: Literal["toy1", "toy2", "toy3"] = "toy1", *, random_state: Seed = None
) -> Sample:
    """Objects of a toy example of the weighted-object paper, cluster after cluster.

    Parameters
    ----------
    name : {"toy1", "toy2", "toy3"}, default="toy1"
        Three Gaussians of 150 objects and variance 10; three discs of 300 objects, the
        third one larger; five Gaussians of 300 objects and variance 5 in a ring.
    random_state : int, RandomState or None, default=None
        Seed of the sample.

    Returns
    -------
    X : ndarray of shape (n_objects, 2), float64
        Positions as published; the paper standardises them before clustering.
    y : ndarray of shape (n_objects,), int64
        Cluster of each object.

    Notes
    -----
    The sample of the paper is not published: compare methods with each other on a sample,
    not their figures with the paper's.

    References
    ----------
    Ren, Domeniconi, Zhang & Yu (2017), Weighted-object ensemble clustering, Knowledge and
    Information Systems 51, section 4.1.

    Examples
    --------
    >>> X, y = make_woec_toy("toy2", random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((900, 2), [300, 300, 300])
    """
    owner = "make_woec_toy"
    check_value("name", name, [Options(("toy1", "toy2", "toy3"))], owner=owner)
    _check(owner, random_state)
    rng = _rng(random_state)
    if name == "toy2":
        return _discs(rng)
    size, variance, centres = _GAUSSIANS[name]
    y = np.repeat(np.arange(len(centres)), size)
    return np.array(centres)[y] + np.sqrt(variance) * rng.standard_normal((len(y), 2)), y


def _discs(rng: np.random.RandomState) -> Sample:
    centres, radii, size = _DISCS
    y = np.repeat(np.arange(len(centres)), size)
    angle = 2 * np.pi * rng.uniform(size=len(y))
    # The area within a radius grows with its square.
    distance: NDArray[np.float64] = np.array(radii)[y] * np.sqrt(rng.uniform(size=len(y)))
    direction = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.array(centres)[y] + distance[:, None] * direction, y
