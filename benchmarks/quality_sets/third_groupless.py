"""Tables without groups for the third confirming part; called as all families are."""

import numpy as np
from scipy.ndimage import gaussian_filter, map_coordinates
from scipy.special import ndtr, stdtr
from scipy.stats import beta, expon, gamma, gumbel_r, lognorm
from sklearn.datasets import load_breast_cancer

from quality_sets.drawing import ball, directions, embedded, log_uniform, plane, rotation
from quality_sets.groupless import without_groups


def _size(rng, least, most, n_least=60, n_most=2500):
    """Objects and columns; small numbers as likely as large ones."""
    return int(log_uniform(rng, n_least, n_most)), int(log_uniform(rng, least, most + 1))


def decaying_axes(rng, i):
    """One normal of 5 to 60 columns whose axes grow shorter by a power."""
    n, d = _size(rng, 5, 60)
    return (
        rng.normal(size=(n, d)) * np.arange(1, d + 1) ** -rng.uniform(0.5, 1.5) @ rotation(rng, d)
    )


def wishart_normal(rng, i):
    """One normal of a covariance drawn freely."""
    n, d = _size(rng, 2, 20)
    return rng.normal(size=(n, d + 2)) @ rng.normal(size=(d + 2, d))


def heavy_ellipse(rng, i):
    """One multivariate t of two to four degrees of freedom with columns that hang together."""
    n, d = _size(rng, 2, 20)
    freedom = rng.uniform(2, 4)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    return X * np.sqrt(freedom / rng.chisquare(freedom, (n, 1)))


def skew_normal_one(rng, i):
    """One skew-normal, long towards one direction."""
    n, d = _size(rng, 2, 20)
    lean = rng.uniform(1, 3) * directions(rng, 1, d)
    return lean * np.abs(rng.normal(size=(n, 1))) + rng.normal(size=(n, d))


def half_sphere(rng, i):
    """Uniform on one half of a sphere's surface."""
    X = directions(rng, *_size(rng, 3, 8, 150))
    X[:, 0] = np.abs(X[:, 0])
    return X


def sphere(rng, i):
    """Uniform on a sphere's surface, without any noise."""
    return directions(rng, *_size(rng, 3, 15, 150))


def uneven_shares(rng, i):
    """Shares of a whole: Dirichlet with parts from small to large."""
    n, d = _size(rng, 3, 12)
    return rng.dirichlet(rng.uniform(1.2, 8, d), n)


def flat_ellipsoid(rng, i):
    """Uniform in an ellipsoid."""
    n, d = _size(rng, 2, 8)
    return ball(rng, n, d) * np.exp(rng.uniform(0, 1.5, d)) @ rotation(rng, d)


def triangle(rng, i):
    """Uniform in a triangle or in half a disc."""
    n = int(log_uniform(rng, 80, 2000))
    if i % 2:
        return np.abs(ball(rng, n, 2)) * (1, 2)
    corners = rng.dirichlet(np.ones(3), n)
    return corners @ np.array([(0, 0), (1, 0), (rng.uniform(0, 1), rng.uniform(0.5, 1.2))])


def banana(rng, i):
    """One normal bent by the square of its first column."""
    n, d = _size(rng, 2, 10, 100)
    X = rng.normal(size=(n, d))
    X[:, 0] *= 2
    X[:, 1] += rng.uniform(0.3, 0.8) * (X[:, 0] ** 2 - 4)
    return X


def funnel(rng, i):
    """Columns whose spread grows with the first one."""
    n, d = _size(rng, 2, 10, 100)
    X = rng.normal(size=(n, d))
    X[:, 1:] *= np.exp(rng.uniform(0.3, 0.7) * X[:, :1])
    return X


def s_sheet(rng, i):
    """Scikit-learn's sheet bent like an S."""
    n = int(log_uniform(rng, 200, 2500))
    along = 3 * np.pi * (rng.uniform(size=n) - 0.5)
    bent = np.column_stack([np.sin(along), np.sign(along) * (np.cos(along) - 1)])
    X = np.column_stack([bent, rng.uniform(0, 2, n)])
    return X + rng.uniform(0.02, 0.2) * rng.normal(size=X.shape)


def saddle(rng, i):
    """One curved sheet, a bowl or a saddle, among 3 to 12 columns."""
    n, d = _size(rng, 3, 12, 150)
    flat = ball(rng, n, 2)
    height = flat[:, 0] ** 2 + (-1, 1)[i % 2] * flat[:, 1] ** 2
    return embedded(rng, np.column_stack([flat, height]), d, 0.05)


def one_closed_curve(rng, i):
    """One smooth closed curve among 4 to 30 columns, evenly filled."""
    n, d = _size(rng, 4, 30, 200)
    along = rng.uniform(0, 2 * np.pi, n)
    waves = np.column_stack([f(m * along) / m for m in (1, 2) for f in (np.cos, np.sin)])
    return embedded(rng, waves, d, rng.uniform(0.08, 0.2))


def one_spiral(rng, i):
    """One arm of a spiral, evenly filled."""
    n = int(log_uniform(rng, 200, 2000))
    along = np.sqrt(rng.uniform(0.02, 1, n))
    arm = plane(along, 2 * np.pi * rng.uniform(1, 1.6) * along)
    return arm + 0.02 * rng.normal(size=(n, 2))


def one_abundance(rng, i):
    """Log-normal abundances of 5 to 40 kinds that hang together, logarithms in every second."""
    n, d = _size(rng, 5, 40)
    logs = rng.normal(size=(n, d)) @ rng.normal(size=(d, d)) / np.sqrt(d)
    return 0.7 * logs if i % 2 else np.exp(0.7 * logs)


def correlated_counts(rng, i):
    """Poisson counts whose rates follow two factors."""
    n, d = _size(rng, 4, 40)
    loads = rng.normal(scale=0.35, size=(2, d))
    return rng.poisson(np.exp(rng.uniform(0.5, 2.5, d) + rng.normal(size=(n, 2)) @ loads)) * 1.0


def remembering_curves(rng, i):
    """Every row a series of 20 to 60 moments that remembers the moments before."""
    n, d = _size(rng, 20, 60, 60, 1500)
    first, second = ((0.8, 0.0), (1.2, -0.4))[i % 2]
    X = rng.normal(size=(n, d))
    for t in range(2, d):
        X[:, t] += first * X[:, t - 1] + second * X[:, t - 2]
    return X


def common_course(rng, i):
    """A continuum: one hidden number for each object, which 6 to 60 columns follow or bend to."""
    n, d = _size(rng, 6, 60, 80)
    hidden = rng.beta(1.5, 1.5, (n, 1)) - 0.5
    slope, bend = rng.normal(size=(2, d))
    X = slope * hidden + bend * hidden**2
    return X + rng.uniform(0.1, 0.4) * rng.normal(size=(n, d))


def low_rank(rng, i):
    """Two to five factors behind 15 to 60 columns, and noise."""
    n, d = _size(rng, 15, 60)
    rank = int(rng.integers(2, 6))
    X = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, d))
    return X + rng.uniform(0.2, 1) * rng.normal(size=(n, d))


def skewed_copula(rng, i):
    """Columns that hang together as normal ones do, each skewed in a way of its own."""
    n, d = _size(rng, 3, 15)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    ranks = np.clip(ndtr((X - X.mean(axis=0)) / X.std(axis=0)), 1e-6, 1 - 1e-6)
    margins = (gamma(2.0), expon(), beta(2, 5), gumbel_r(), lognorm(0.6))
    return np.column_stack([margins[(i + j) % 5].ppf(ranks[:, j]) for j in range(d)])


def tail_copula(rng, i):
    """Even margins; what is far out in one column is far out in the others too."""
    n, d = _size(rng, 2, 10, 100)
    common = np.linalg.cholesky(0.5 * np.eye(d) + 0.5)
    X = rng.normal(size=(n, d)) @ common.T / np.sqrt(rng.chisquare(4, (n, 1)) / 4)
    return stdtr(4, X)


def field_sites(rng, i):
    """Places of a map and what three to six smooth fields are there."""
    n, m = int(log_uniform(rng, 100, 2000)), int(rng.integers(3, 7))
    sites = rng.uniform(20, 79, (n, 2))
    fields = [gaussian_filter(rng.normal(size=(100, 100)), 25) for _ in range(m)]
    seen = [map_coordinates(field / field.std(), sites.T, order=1) for field in fields]
    values = np.column_stack(seen)
    return np.hstack([sites / 30, values + 0.15 * rng.normal(size=values.shape)])


def quantised_noise(rng, i):
    """Normal columns in steps of half a deviation to one and a half."""
    n, d = _size(rng, 4, 20, 100)
    return np.round(rng.normal(size=(n, d)) @ _alike(rng, d) / rng.uniform(0.4, 0.8)) + 5


def permuted_columns(rng, i):
    """Columns of a real table, each shuffled by itself: its margins, and nothing between them."""
    X = load_breast_cancer(return_X_y=True)[0]
    X = X[:, rng.permutation(X.shape[1])[: int(rng.integers(4, 16))]]
    X = rng.permuted(X, axis=0)
    return X[: int(rng.integers(100, 570))]


def linked_binaries(rng, i):
    """Zeros and ones over 15 to 40 columns, each column like the one before or not."""
    n, d = _size(rng, 15, 40, 80)
    X = rng.uniform(size=(n, d)) < rng.uniform(0.3, 0.5)
    for j in range(1, d):
        X[:, j] = np.where(rng.uniform(size=n) < 0.4, X[:, j - 1], X[:, j])
    return X.astype(float)


def rankings(rng, i):
    """Every row puts 5 to 12 things into an order, popular ones mostly first."""
    n, d = _size(rng, 5, 12, 80)
    liking = rng.normal(scale=(0.0, 0.7)[i % 2], size=d) + rng.gumbel(size=(n, d))
    return 1.0 + liking.argsort(axis=1).argsort(axis=1)


def derived_columns(rng, i):
    """Length, width and height of one kind of thing, and what is computed from them."""
    n = int(log_uniform(rng, 80, 2000))
    sides = np.exp(0.2 * rng.normal(size=(n, 1)) + 0.15 * rng.normal(size=(n, 3)))
    a, b, c = sides.T
    made = np.column_stack([a * b, a * b * c, 2 * (a * b + b * c + a * c), a / b, c / (a + b)])
    return np.hstack([sides, made]) * np.exp(0.03 * rng.normal(size=(n, 8)))


def _alike(rng, d):
    """A matrix by which independent columns come to hang together a little."""
    return np.eye(d) + 0.3 * rng.normal(size=(d, d)) / np.sqrt(d)


FAMILIES = {
    function.__name__: without_groups(function)
    for function in (
        decaying_axes,
        wishart_normal,
        heavy_ellipse,
        skew_normal_one,
        half_sphere,
        sphere,
        uneven_shares,
        flat_ellipsoid,
        triangle,
        banana,
        funnel,
        s_sheet,
        saddle,
        one_closed_curve,
        one_spiral,
        one_abundance,
        correlated_counts,
        remembering_curves,
        common_course,
        low_rank,
        skewed_copula,
        tail_copula,
        field_sites,
        quantised_noise,
        permuted_columns,
        linked_binaries,
        rankings,
        derived_columns,
    )
}
