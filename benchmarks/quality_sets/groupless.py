"""Tables without groups: kinds for developing, for confirming, and for the second confirming.

Called as the families with groups are; all objects are of one group. Those of the third
confirming part are in ``third_groupless``.
"""

import numpy as np
from scipy.special import expit

from quality_sets.drawing import ball, directions, embedded, log_uniform, plane, rotation


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


# ---- second --------------------------------------------------------------------------------


def _any_shape(rng, most=30):
    """Objects from 40 to 2,000 and columns from two; small numbers as likely as large ones."""
    return int(log_uniform(rng, 40, 2000)), int(log_uniform(rng, 2, most + 1))


def full_ball(rng, i):
    """Uniform in a ball."""
    return ball(rng, *_any_shape(rng, 10))


def flat_box(rng, i):
    """Uniform in a box whose sides differ, turned."""
    n, d = _any_shape(rng, 10)
    return rng.uniform(size=(n, d)) * np.exp(rng.uniform(0, 2, d)) @ rotation(rng, d)


def one_round_normal(rng, i):
    """One round normal, of any size."""
    return rng.normal(size=_any_shape(rng))


def one_narrow_normal(rng, i):
    """One normal whose columns all but repeat each other: correlations of .6 to .95."""
    n, d = _any_shape(rng)
    r = rng.uniform(0.6, 0.95)
    return np.sqrt(r) * rng.normal(size=(n, 1)) + np.sqrt(1 - r) * rng.normal(size=(n, d))


def student_columns(rng, i):
    """Independent columns of Student's t with three degrees of freedom."""
    return rng.standard_t(3, _any_shape(rng))


def incomes(rng, i):
    """Log-normal columns that hang together by one factor."""
    n, d = _any_shape(rng)
    common = rng.uniform(0.3, 0.9) * rng.normal(size=(n, 1))
    return np.exp(rng.uniform(0.4, 0.9) * (common + rng.normal(size=(n, d))))


def waiting_times(rng, i):
    """Independent exponential columns."""
    return rng.exponential(size=_any_shape(rng))


def swiss_roll(rng, i):
    """A sheet rolled up one and a half times, without gaps, as scikit-learn has it."""
    n = int(log_uniform(rng, 200, 2000))
    along = 1.5 * np.pi * (1 + 2 * rng.uniform(size=n))
    X = np.column_stack([plane(along, along), 21 * rng.uniform(size=n)])
    return X + rng.uniform(0, 1) * rng.normal(size=X.shape)


def even_ring(rng, i):
    """One ring of the plane, narrow or broad, evenly filled."""
    n = int(log_uniform(rng, 60, 2000))
    radius = np.sqrt(rng.uniform(rng.uniform(0.1, 0.8), 1, n))
    return plane(radius, rng.uniform(0, 2 * np.pi, n))


def rare_events(rng, i):
    """Poisson counts, one rate for each column."""
    n, d = _any_shape(rng)
    return rng.poisson(rng.uniform(0.5, 8, d + 2), (n, d + 2)).astype(float)


def wandering_rows(rng, i):
    """Every row a random walk over the columns."""
    n = int(log_uniform(rng, 40, 1000))
    return rng.normal(size=(n, int(rng.integers(10, 61)))).cumsum(axis=1)


def succession(rng, i):
    """One course, objects anywhere on it; columns rise or fall along it, early or late."""
    n, d = int(log_uniform(rng, 60, 2000)), int(rng.integers(4, 31))
    turn, steep = rng.uniform(-1, 1, d), rng.choice([-1, 1], d) * rng.uniform(1, 3, d)
    along = rng.uniform(-1.2, 1.2, (n, 1))
    return expit(steep * (along - turn)) + rng.uniform(0.05, 0.2) * rng.normal(size=(n, d))


def one_recipe(rng, i):
    """Shares of a whole around one mixture, each more or less: logistic normal."""
    n, d = _any_shape(rng, 12)
    parts = np.exp(rng.normal(size=d + 1) + rng.uniform(0.3, 0.9) * rng.normal(size=(n, d + 1)))
    return parts / parts.sum(axis=1, keepdims=True)


def one_opinion(rng, i):
    """Answers on a scale of five or seven, of uneven steps, that follow one factor."""
    n, d = int(log_uniform(rng, 60, 1500)), int(rng.integers(6, 25))
    latent = rng.uniform(0.6, 1.2) * rng.normal(size=(n, 1)) + rng.normal(size=(n, d))
    cuts = np.sort(rng.normal(scale=1.3, size=(d, (4, 6)[i % 2])), axis=1)
    return 1.0 + (latent[:, :, None] > cuts).sum(axis=2)


def tested_pupils(rng, i):
    """Tasks solved or not, easy and hard ones, by objects of one ability or another."""
    n, d = int(log_uniform(rng, 60, 1500)), int(rng.integers(10, 41))
    chances = expit(rng.normal(size=(n, 1)) - rng.normal(scale=1.2, size=d))
    return (rng.uniform(size=(n, d)) < chances).astype(float)


def one_tissue(rng, i):
    """Few objects and 100 to 300 genes in modules, of which none makes groups."""
    n, d = int(rng.integers(40, 121)), int(rng.integers(100, 301))
    modules = rng.normal(size=(n, 10))[:, rng.integers(10, size=d)]
    return rng.normal(8, 2, d) + rng.uniform(0.2, 0.8) * modules + 0.7 * rng.normal(size=(n, d))


def without_groups(function):
    """The function as a family: all objects are of one group."""

    def made(rng, i):
        X = function(rng, i)
        return X, np.zeros(len(X), dtype=int)

    made.__name__, made.__doc__ = function.__name__, function.__doc__
    return made


DEVELOPING = {
    function.__name__: without_groups(function)
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
    function.__name__: without_groups(function)
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
SECOND = {
    function.__name__: without_groups(function)
    for function in (
        full_ball,
        flat_box,
        one_round_normal,
        one_narrow_normal,
        student_columns,
        incomes,
        waiting_times,
        swiss_roll,
        even_ring,
        rare_events,
        wandering_rows,
        succession,
        one_recipe,
        one_opinion,
        tested_pupils,
        one_tissue,
    )
}
