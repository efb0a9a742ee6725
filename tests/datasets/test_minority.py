"""Generated minority sets keep the published ranges, and sources can be sampled again."""

import numpy as np
import pytest

from consilience.datasets._minority import make_minority, make_toy_minority, minority_sources
from consilience.errors import InvalidParameterError


@pytest.mark.parametrize("d", [1, 2, 3, 5, 8])
def test_sources_keep_the_published_ranges(d, seed):
    sources = minority_sources(d, n_sources=3 if d == 1 else None, random_state=seed)
    g = len(sources.sizes)
    assert 3 <= g <= 7
    assert sources.n_background >= 1000
    assert (sources.sizes > 50).all()
    assert (np.abs(sources.centres) <= 2).all()
    gaps = np.linalg.norm(sources.centres[:, None] - sources.centres, axis=2)
    assert (gaps[~np.eye(g, dtype=bool)] >= 0.75).all()
    lengths = np.linalg.norm(sources.axes, axis=1)
    assert ((lengths >= 0.0625 - 1e-12) & (lengths <= 0.125 + 1e-12)).all()


def test_a_sample_has_the_objects_its_sources_say(seed):
    sources = minority_sources(3, random_state=seed)
    X, y = sources.sample(seed)
    np.testing.assert_array_equal(np.bincount(y), np.r_[sources.n_background, sources.sizes])
    assert (np.abs(X[y == 0]) <= 2).all()
    for source, (centre, axes, size) in enumerate(
        zip(sources.centres, sources.axes, sources.sizes, strict=True), start=1
    ):
        z = np.linalg.solve(axes, (X[y == source] - centre).T)
        # Five standard errors of the mean and of the variance of a standard normal.
        assert np.abs(z.mean(axis=1)).max() < 5 / np.sqrt(size)
        assert np.abs(z.var(axis=1) - 1).max() < 5 * np.sqrt(2 / size)


def test_the_number_of_sources_is_even_whatever_their_sizes():
    """A rejected size is drawn again, the number of sources is not: 3 to 7 are equally likely.

    In eight dimensions every centre finds its place, so that no set is begun again.
    """
    n_sets = 1000
    numbers = [len(minority_sources(8, random_state=s).sizes) for s in range(n_sets)]
    counts = np.bincount(numbers, minlength=8)[3:]
    assert counts.sum() == n_sets
    assert abs(np.mean(numbers) - 5) < 4 * np.sqrt(2 / n_sets)
    assert np.abs(counts / n_sets - 0.2).max() < 4 * np.sqrt(0.2 * 0.8 / n_sets)


def test_sizes_are_all_drawn_again_until_each_is_large_enough():
    """Their distribution is that of g normal sizes, given that all of them pass."""
    got = np.array([minority_sources(8, n_sources=7, random_state=s).sizes for s in range(400)])
    rng = np.random.default_rng(0)
    drawn = np.rint(800 / 7 + 50 * rng.standard_normal((20_000, 7)))
    wanted = drawn[(drawn > 50).all(axis=1)]
    assert abs(got.mean() - wanted.mean()) < 4 * wanted.std() / np.sqrt(got.size)
    assert abs(got.std() - wanted.std()) < 4 * wanted.std() / np.sqrt(2 * got.size)


def test_scales_multiply_what_they_say():
    params = {"n_features": 2, "n_sources": 4}
    one = [minority_sources(**params, random_state=s) for s in range(40)]
    two = [
        minority_sources(**params, background=2, foreground=2, spread=2, random_state=s)
        for s in range(40)
    ]
    ratios = [
        np.mean([s.n_background for s in two]) / np.mean([s.n_background for s in one]),
        np.mean([s.sizes.sum() for s in two]) / np.mean([s.sizes.sum() for s in one]),
        np.mean([np.abs(s.axes).mean() for s in two])
        / np.mean([np.abs(s.axes).mean() for s in one]),
    ]
    np.testing.assert_allclose(ratios, 2, rtol=0.1)


@pytest.mark.parametrize("background", [1e-5, 1e-3, 0.1])
def test_however_little_noise_is_asked_for_some_is_drawn(background):
    n = minority_sources(2, background=background, random_state=0).n_background
    assert 1 <= n <= max(1, background * 9000)


def test_a_seed_fixes_the_set_and_sources_give_other_samples(seed):
    first, second = (make_minority(2, random_state=seed) for _ in range(2))
    np.testing.assert_array_equal(first[0], second[0])
    np.testing.assert_array_equal(first[1], second[1])
    assert len(make_minority(2, random_state=seed + 1)[0]) != len(first[0])
    sources = minority_sources(2, random_state=seed)
    again, other = sources.sample(1), sources.sample(2)
    assert again[0].shape == other[0].shape
    assert not (again[0] == other[0]).any()


def test_redrawn_sources_keep_their_sizes_only(seed):
    sources = minority_sources(2, spread=2.0, random_state=seed)
    other = sources.redrawn(seed)
    np.testing.assert_array_equal(other.sizes, sources.sizes)
    assert other.n_background == sources.n_background
    assert not (other.centres == sources.centres).any()
    lengths = np.linalg.norm(other.axes, axis=1)
    assert ((lengths >= 0.125 - 1e-12) & (lengths <= 0.25 + 1e-12)).all()


def test_small_sets_are_possible():
    X, y = make_minority(2, background=0.05, foreground=0.1, random_state=0)
    assert 150 < len(X) < 700
    assert (np.bincount(y) > 0).all()


def test_toy_shapes_are_where_they_should_be(seed):
    X, y = make_toy_minority(random_state=seed)
    np.testing.assert_array_equal(np.bincount(y), [2000, 200, 200, 200, 100, 100])
    assert (np.abs(X[y == 0]) <= 5).all()
    for source, centre, scale in ((1, (-2.5, 2.5), 0.5), (4, (1, 1), 0.1), (5, (3, 3), 0.3)):
        part = X[y == source]
        assert np.abs(part.mean(axis=0) - centre).max() < 5 * scale / np.sqrt(len(part))
        assert np.abs(part.std(axis=0) / scale - 1).max() < 0.5
    triangle = X[y == 3] - (2.5, -2.5)
    # Inside all three sides, which are the inner radius away from the centre.
    outward = np.array(
        [[np.cos(a), np.sin(a)] for a in np.pi / 2 + np.pi * (1 + 2 * np.arange(3)) / 3]
    )
    assert (triangle @ outward.T).max() <= 1 / np.sqrt(3)
    assert (triangle @ outward.T).max(axis=0).min() > 0.4
    moon = (X[y == 2] - (-2.5, -2.5)) / 2
    radius = np.hypot(1 - moon[:, 0], moon[:, 1])
    assert np.abs(radius - 1).max() < 0.3


def test_a_scaled_toy_has_scaled_counts():
    assert np.bincount(make_toy_minority(0.1, random_state=0)[1]).tolist() == [
        200,
        20,
        20,
        20,
        10,
        10,
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [("n_features", 0), ("background", 0), ("foreground", -1), ("spread", 0), ("n_sources", 0)],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(InvalidParameterError, match=name):
        make_minority(**{name: value})


def test_too_many_sources_for_the_box_are_refused():
    with pytest.raises(InvalidParameterError, match="No place was found for 12 sources"):
        make_minority(1, n_sources=12, foreground=3, random_state=0)
    with pytest.raises(InvalidParameterError, match="random_state"):
        make_toy_minority(random_state=-1)
