"""Tables without groups: kinds for developing, and other kinds for confirming.

Called as the families with groups are; all objects are of one group.
"""

import numpy as np

from quality_sets.drawing import directions, embedded, plane, rotation


def _shape(rng, i):
    """Objects and columns; few and many take turns."""
    return int((100, 200, 350, 600, 1000)[i % 5] * rng.uniform(0.8, 1.2)), (2, 3, 5, 10, 20)[i % 5]


# ---- developing ----------------------------------------------------------------------------


def uniform_box(rng, i):
    """Uniform in a cube."""
    n, d = _shape(rng, i)
    return rng.uniform(size=(n, d))


def normal(rng, i):
    """Independent normal columns."""
    n, d = _shape(rng, i)
    return rng.normal(size=(n, d))


def normal_correlated(rng, i):
    """Normal columns that hang together."""
    n, d = _shape(rng, i)
    return rng.normal(size=(n, d)) @ rng.normal(size=(d, d))


def student_one(rng, i):
    """One multivariate t with three or five degrees of freedom."""
    n, d = _shape(rng, i)
    df = (3, 5)[i % 2]
    return rng.normal(size=(n, d)) * np.sqrt(df / rng.chisquare(df, (n, 1)))


def lognormal_one(rng, i):
    """Independent log-normal columns."""
    n, d = _shape(rng, i)
    return np.exp((0.5, 0.9)[i % 2] * rng.normal(size=(n, d)))


def bent_band(rng, i):
    """One band, bent to an arc, also among more columns."""
    n, d = _shape(rng, i)
    arc = plane(1.0, rng.uniform(0, (0.6, 1.0)[i % 2] * np.pi, n))
    return embedded(rng, arc, d, (0.1, 0.15, 0.2)[i % 3])


def random_walk(rng, i):
    """Columns that wander from row to row, all around by noise."""
    n, d = _shape(rng, i)
    steps = rng.normal(size=(n, d)).cumsum(axis=0) / np.sqrt(n)
    return steps + (0.3, 0.6)[i % 2] * rng.normal(size=(n, d))


def sparse_binary(rng, i):
    """Independent columns of few ones."""
    n, d = _shape(rng, i)
    ones = rng.uniform(size=(n, 10 + 2 * d)) < rng.uniform(0.05, 0.3, 10 + 2 * d)
    return ones.astype(float)


def rod(rng, i):
    """Uniform along one line, with normal noise about it."""
    n, d = _shape(rng, i)
    line = rng.uniform(-1, 1, (n, 1)) * (3.0, 6.0)[i % 2]
    return line * directions(rng, 1, d) + rng.normal(scale=0.5, size=(n, d))


# ---- confirming ----------------------------------------------------------------------------


def shell(rng, i):
    """Near the surface of a ball."""
    n, d = _shape(rng, i)
    return directions(rng, n, d) * (1 + rng.normal(scale=(0.05, 0.15)[i % 2], size=(n, 1)))


def simplex(rng, i):
    """Shares of a whole, uniform among all that are possible."""
    n, d = _shape(rng, i)
    return rng.dirichlet(np.ones(d + 1), n)


def one_with_outliers(rng, i):
    """A normal group and a few objects far outside, each elsewhere."""
    n, d = _shape(rng, i)
    X = rng.normal(size=(n, d))
    n_far = max(3, int(n * (0.02, 0.05)[i % 2]))
    X[:n_far] = directions(rng, n_far, d) * np.sqrt(d) * (3 + rng.exponential(2, (n_far, 1)))
    return X


def mixture_of_units(rng, i):
    """Correlated columns on scales of all kinds: plain, logarithmic, bounded, in whole numbers."""
    n, d = _shape(rng, i)
    X = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d))
    bent = (lambda x: 100 * x, np.exp, lambda x: 1 / (1 + np.exp(-2 * x)), np.round)
    return np.column_stack([bent[j % 4](X[:, j]) for j in range(d)])


def counts_one(rng, i):
    """Negative binomial counts, one rate a column, a total that differs by object."""
    n, d = _shape(rng, i)
    totals = rng.gamma(6.0, 1 / 6.0, (n, 1))
    rates = rng.gamma(2.0, 3.0, d + 3) * totals
    return rng.poisson(rates * rng.gamma(3.0, 1 / 3.0, (n, d + 3))).astype(float)


def gradient(rng, i):
    """Density that rises along the first column, uniform in the others, then turned."""
    n, d = _shape(rng, i)
    X = rng.uniform(size=(n, d))
    X[:, 0] = np.sqrt(X[:, 0])
    return X @ rotation(rng, d)


def rolled_sheet(rng, i):
    """One rolled-up sheet in space, also among more columns."""
    n, d = _shape(rng, i)
    along = rng.uniform(1, (1.8, 2.5)[i % 2], n)
    X = np.column_stack([plane(along, 2 * np.pi * along), rng.uniform(0, 3, n)])
    return embedded(rng, X, max(d, 3), 0.12)


def questionnaire_one(rng, i):
    """Answers from one to five that follow one common factor."""
    n, d = _shape(rng, i)
    common = rng.normal(size=(n, 1))
    loads = rng.uniform(0.3, 0.9, d + 4)
    latent = loads * common + np.sqrt(1 - loads**2) * rng.normal(size=(n, d + 4))
    return np.clip(np.round(3 + 1.1 * latent + rng.normal(scale=0.3, size=d + 4)), 1, 5)


def autoregressive(rng, i):
    """Columns that remember the row before: autoregressive of order one."""
    n, d = _shape(rng, i)
    X = rng.normal(size=(n, d))
    for t in range(1, n):
        X[t] += (0.5, 0.8)[i % 2] * X[t - 1]
    return X


def double_exponential(rng, i):
    """Independent double-exponential columns: a star."""
    n, d = _shape(rng, i)
    return rng.laplace(size=(n, d))


def _without_groups(function):
    def made(rng, i):
        X = function(rng, i)
        return X, np.zeros(len(X), dtype=int)

    made.__name__, made.__doc__ = function.__name__, function.__doc__
    return made


DEVELOPING = {
    function.__name__: _without_groups(function)
    for function in (
        uniform_box,
        normal,
        normal_correlated,
        student_one,
        lognormal_one,
        bent_band,
        random_walk,
        sparse_binary,
        rod,
    )
}
CONFIRMING = {
    function.__name__: _without_groups(function)
    for function in (
        shell,
        simplex,
        one_with_outliers,
        mixture_of_units,
        counts_one,
        gradient,
        rolled_sheet,
        questionnaire_one,
        autoregressive,
        double_exponential,
    )
}
