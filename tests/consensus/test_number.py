"""The number of clusters: planted numbers found, none found where there is none, in words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from scipy import sparse
from scipy.cluster import hierarchy

from consilience.consensus._number_curves import (
    groupless,
    mean_strength,
    principal,
    range_lengths,
    resample,
)
from consilience.consensus._number_judge import Criterion, by_stability, decide
from consilience.consensus.number import choose_n_clusters
from consilience.datasets import make_gaussians
from consilience.ensemble import Ensemble
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.evidence import lifetimes
from consilience.generate import KMeansEnsemble

# Ten mixtures with separated groups: objects, groups, features, distance of nearest centres.
MIXTURES = [
    (120, 2, 2, 9.0),
    (150, 3, 2, 7.0),
    (150, 3, 8, 7.0),
    (160, 4, 3, 7.0),
    (200, 5, 2, 8.0),
    (200, 6, 5, 7.0),
    (250, 7, 4, 8.0),
    (250, 8, 6, 7.0),
    (300, 9, 3, 8.0),
    (300, 10, 10, 7.0),
]


def test_planted_numbers_are_found():
    found = []
    for i, (n, k, d, separation) in enumerate(MIXTURES):
        X, _ = make_gaussians(n, k, d, separation=separation, random_state=i)
        choice = choose_n_clusters(X, random_state=i)
        found.append(choice.clear and choice.n_clusters == k)
    assert sum(found) >= 8, found


@pytest.mark.parametrize("shape", ["uniform", "normal", "stretched"])
@pytest.mark.parametrize(("n", "d"), [(100, 1), (200, 2), (150, 6)])
def test_data_without_groups_have_no_clear_structure(shape, n, d):
    rng = np.random.default_rng(n)
    X = rng.uniform(size=(n, d)) if shape == "uniform" else rng.normal(size=(n, d))
    X = X * np.arange(1, d + 1) if shape == "stretched" else X
    choice = choose_n_clusters(X, random_state=d)
    assert not choice.clear
    assert "no clear structure" in choice.words


def test_rings_are_seen_by_the_lifetime():
    rng = np.random.default_rng(0)
    angle, inner = rng.uniform(0, 2 * np.pi, 500), np.arange(500) % 2
    radius = np.where(inner, 1, 3) + rng.normal(size=500) * 0.1
    X = np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    choice = choose_n_clusters(X, random_state=0)
    assert (choice.n_clusters, choice.clear, choice.taken) == (2, True, "lifetime")


def test_everything_a_reader_needs_is_there():
    X, _ = make_gaussians(120, 3, random_state=0)
    choice = choose_n_clusters(X, random_state=0)
    names = [criterion.name for criterion in choice.criteria]
    assert names == ["stability", "lifetime", "pac", "delta-area"]
    assert choice.taken == "stability"
    assert choice.words.startswith("3 clusters, taken by stability")
    for criterion in choice.criteria:
        assert criterion.tested.tolist() == list(range(2, 16))
        assert criterion.values.shape == criterion.reference.shape == criterion.tested.shape
        assert np.isfinite(criterion.values).all()
        assert np.isfinite(criterion.reference).all()
        assert 0 <= criterion.clarity <= 1
        assert criterion.words.endswith(".")
        assert criterion.n_clusters in (None, *criterion.tested.tolist())


def test_equal_seeds_give_equal_choices_whatever_the_threads():
    X, _ = make_gaussians(120, 3, random_state=1)
    one = choose_n_clusters(X, k_max=5, n_resamples=5, random_state=3)
    two = choose_n_clusters(X, k_max=5, n_resamples=5, random_state=3, n_jobs=2)
    for a, b in zip(one.criteria, two.criteria, strict=True):
        np.testing.assert_array_equal(a.values, b.values)
        np.testing.assert_array_equal(a.reference, b.reference)
    assert one.words == two.words


def test_scale_and_place_of_the_data_do_not_matter():
    X, _ = make_gaussians(120, 3, random_state=2)
    one = choose_n_clusters(X, k_max=5, n_resamples=5, random_state=3)
    two = choose_n_clusters(1e-3 * X + 7, k_max=5, n_resamples=5, random_state=3)
    assert (one.n_clusters, one.clear) == (two.n_clusters, two.clear)
    np.testing.assert_allclose(one.criteria[0].values, two.criteria[0].values, atol=1e-6)


def test_large_data_are_sampled_and_it_is_said():
    X, _ = make_gaussians(2600, 3, random_state=0)
    choice = choose_n_clusters(X, k_max=3, n_resamples=2, random_state=0)
    assert choice.n_clusters == 3
    assert choice.n_objects == 2000
    assert "2,000 of 2,600 objects" in choice.words


def test_sparse_data_are_taken():
    rng = np.random.default_rng(0)
    dense = np.kron(np.eye(3), np.ones((40, 30))) * (rng.random((120, 90)) < 0.5)
    choice = choose_n_clusters(sparse.csr_array(dense), random_state=0)
    assert (choice.n_clusters, choice.clear) == (3, True)


# ---- an ensemble alone --------------------------------------------------------------------


@pytest.mark.parametrize("k", [3, 5])
def test_members_alone_show_the_number(k):
    X, _ = make_gaussians(300, k, separation=9, random_state=k)
    ensemble = KMeansEnsemble(40, random_state=0).generate(X)
    choice = choose_n_clusters(ensemble=ensemble, random_state=0)
    assert (choice.n_clusters, choice.clear) == (k, True)
    assert [criterion.name for criterion in choice.criteria] == ["lifetime"]
    assert "Without the data" in choice.words


def test_members_of_noise_show_nothing():
    X = np.random.default_rng(0).uniform(size=(300, 2))
    ensemble = KMeansEnsemble(40, random_state=0).generate(X)
    assert not choose_n_clusters(ensemble=ensemble, random_state=0).clear


def test_with_data_the_lifetime_looks_at_the_members_given():
    X, y = make_gaussians(200, 3, random_state=0)
    rng = np.random.default_rng(0)
    halves = np.where(rng.random((200, 12)) < 0.02, rng.integers(0, 2, (200, 12)), y[:, None] > 0)
    choice = choose_n_clusters(X, ensemble=halves.astype(int), random_state=0)
    life = choice.criteria[1]
    assert choice.n_clusters == 3
    assert life.tested[life.values.argmax()] == 2


# ---- what cannot be told ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "words"),
    [
        (np.zeros((60, 3)), "all objects are equal"),
        (np.arange(7.0)[:, None], "too few"),
        (np.zeros((1, 2)), "too few"),
    ],
)
def test_what_has_no_groups_at_all_says_why(X, words):
    choice = choose_n_clusters(X, random_state=0)
    assert (choice.n_clusters, choice.clear, choice.taken) == (1, False, "none")
    assert "no clear structure" in choice.words
    assert words in choice.words


def test_members_that_placed_nothing_say_nothing():
    choice = choose_n_clusters(ensemble=np.full((30, 4), -1), random_state=0)
    assert (choice.n_clusters, choice.clear) == (1, False)


def test_repeated_rows_and_wild_scales_are_survived():
    rng = np.random.default_rng(0)
    few = rng.integers(0, 2, (80, 3)).astype(float)
    assert choose_n_clusters(few, random_state=0).n_clusters >= 1
    assert choose_n_clusters(few * 1e200, random_state=0).n_clusters >= 1


def test_more_clusters_than_can_be_told_warns():
    X, _ = make_gaussians(40, 2, random_state=0)
    with pytest.warns(ConsilienceWarning, match="at most 10"):
        choose_n_clusters(X, k_max=20, n_resamples=3, random_state=0)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"k_max": 1}, InvalidParameterError, "'k_max'"),
        ({"n_resamples": 1}, InvalidParameterError, "'n_resamples'"),
        ({"random_state": "x"}, InvalidParameterError, "'random_state'"),
        ({"X": None}, InvalidInputError, "neither"),
        ({"X": Ensemble([[0, 1]])}, InvalidParameterError, "ensemble="),
        ({"ensemble": [[0] * 29]}, InvalidInputError, "X has 30 rows"),
    ],
)
def test_bad_input_is_refused_by_name(change, error, message):
    with pytest.raises(error, match=message):
        choose_n_clusters(**({"X": np.zeros((30, 2))} | change))


# ---- parts --------------------------------------------------------------------------------


def strength_slowly(members):
    """Tibshirani and Walther's definition, pair by pair of objects."""
    values = []
    for a in range(len(members)):
        for b in range(len(members)):
            if a == b:
                continue
            shares = []
            for cluster in np.unique(members[a]):
                inside = np.flatnonzero(members[a] == cluster)
                pairs = [(i, j) for i in inside for j in inside if i != j]
                joined = sum(members[b][i] == members[b][j] for i, j in pairs)
                shares.append(joined / len(pairs) if pairs else 0.0)
            values.append(min(shares))
    return np.mean(values)


@settings(max_examples=25, deadline=None)
@given(
    npst.arrays(
        np.int8, st.tuples(st.integers(2, 4), st.integers(2, 10)), elements=st.integers(0, 3)
    )
)
def test_strength_equals_its_definition(labels):
    members = np.ascontiguousarray(Ensemble(labels.T).members.astype(np.int8))
    assert mean_strength(members) == pytest.approx(strength_slowly(members))


@settings(max_examples=25, deadline=None)
@given(st.integers(3, 14), st.integers(1, 4), st.integers(0, 2**31))
def test_range_lengths_count_the_clusters_between_merges(n, at_least, seed):
    X = np.random.default_rng(seed).normal(size=(n, 2))
    tree = hierarchy.linkage(X, "single")
    tested = np.arange(2, n)
    wanted = np.zeros(n + 1)
    for low, high in zip(tree[:-1, 2], tree[1:, 2], strict=True):
        labels = hierarchy.fcluster(tree, (low + high) / 2, "distance")
        sizes = np.bincount(labels)[1:]
        wanted[(sizes >= at_least).sum()] += high - low
    np.testing.assert_allclose(range_lengths(tree, at_least, tested), wanted[tested], atol=1e-9)
    if at_least == 1:
        own = lifetimes(tree[:, 2])
        np.testing.assert_allclose(range_lengths(tree, 1, tested), own, atol=1e-9)


def test_principal_axes_keep_distances():
    X = np.random.default_rng(0).normal(size=(30, 6)) @ np.diag([9, 5, 1, 1, 0, 0])
    Z = principal(X, 0)
    assert Z.shape == (30, 4)
    distances = [np.linalg.norm(data[:, None] - data[None], axis=2) for data in (X, Z)]
    ratio = distances[0][0, 1:] / distances[1][0, 1:]
    np.testing.assert_allclose(ratio, ratio[0])
    assert (np.diff(Z.std(axis=0)) <= 0).all()


@pytest.mark.parametrize("n", [12, 39, 100])
def test_equal_objects_have_no_axes(n):
    """The mean of equal numbers is not always that number: what is left over is no spread."""
    X = np.tile([7.352941664263, 10.17641410, 0.1], (n, 1))
    assert principal(X, 0).shape == (n, 0)
    found = choose_n_clusters(X, ensemble=Ensemble(np.arange(n)[:, None] % 2), random_state=0)
    assert (found.n_clusters, found.clear) == (1, False)
    assert found.words == "There is no clear structure: all objects are equal."


def test_a_constant_column_says_nothing_beside_one_that_varies():
    X = np.random.default_rng(0).normal(size=(39, 2))
    with_constant = np.c_[X, np.full(39, 10.17641410)]
    np.testing.assert_allclose(np.abs(principal(with_constant, 0)), np.abs(principal(X, 0)))


@pytest.mark.parametrize("flat", [False, True])
def test_groupless_data_have_the_spreads_asked_for(flat):
    X = groupless(np.array([3.0, 0.5]), 20_000, 0, flat=flat)
    np.testing.assert_allclose(X.std(axis=0), [3.0, 0.5], rtol=0.03)
    assert abs(np.corrcoef(X.T)[0, 1]) < 0.03


def test_perfect_groups_leave_nothing_ambiguous():
    X, _ = make_gaussians(90, 3, separation=40, random_state=0)
    (curves,) = resample([X], np.array([2, 3, 4]), 6, 0, 1)
    assert curves.pac[1] == 0.0
    assert curves.strength[1] == 1.0
    assert curves.area[1] == pytest.approx(1 - 3 * 30 * 29 / (90 * 89))
    assert curves.strength[2] < 0.9


def criterion(name, n_clusters, clarity, highest=0.3):
    """A criterion with a curve over 2, 3 and 4 clusters that is highest at 3."""
    values = np.array([0.1, highest, 0.2])
    reference = None if name == "lifetime" else np.zeros(3)
    tested = np.array([2, 3, 4])
    return Criterion(name, name, tested, values, reference, True, n_clusters, clarity, "Words.")


@pytest.mark.parametrize(
    ("criteria", "words"),
    [
        ([("stability", 3, 0.95)], "3 clusters, taken by stability. This is very clear."),
        ([("stability", 3, 0.89)], "3 clusters, taken by stability. This is clear."),
        (
            [("stability", 3, 0.95), ("lifetime", 3, 0.8), ("delta-area", 4, 0.5)],
            "3 clusters, taken by stability (lifetime agrees; delta-area says 4). "
            "This is very clear.",
        ),
        (
            [("stability", 3, 0.95), ("lifetime", 2, 0.8), ("pac", None, 0.0)],
            "3 clusters, taken by stability (lifetime says 2; pac sees nothing). This is clear.",
        ),
        (
            [("stability", None, 0.5), ("lifetime", 2, 0.8)],
            "2 clusters, taken by lifetime (stability sees nothing). This is clear.",
        ),
    ],
)
def test_a_clear_choice_says_who_agrees_who_differs_and_who_is_silent(criteria, words):
    choice = decide([criterion(*one) for one in criteria], 50, 50, [])
    assert choice.words == words
    assert choice.clear
    assert choice.n_clusters == int(words[0])


def test_a_long_lifetime_with_more_clusters_goes_before_stability():
    stable = criterion("stability", 2, 0.95)
    assert decide([stable, criterion("lifetime", 3, 0.7, 0.5)], 50, 50, []).n_clusters == 3
    assert decide([stable, criterion("lifetime", 3, 0.69, 0.5)], 50, 50, []).n_clusters == 2
    assert decide([stable, criterion("lifetime", 3, 0.7, 0.49)], 50, 50, []).n_clusters == 2
    more = criterion("stability", 4, 0.95)
    assert decide([more, criterion("lifetime", 3, 0.7, 0.5)], 50, 50, []).n_clusters == 4


def test_without_clear_structure_a_hint_is_a_guess_and_agreement_goes_first():
    weak = [criterion("stability", None, 0.4), criterion("lifetime", None, 0.3)]
    choice = decide(weak, 50, 100, ["Note."])
    assert (choice.n_clusters, choice.clear) == (3, False)
    assert "3 clusters are a guess by stability" in choice.words
    assert choice.words.endswith("Looked at a random sample of 50 of 100 objects. Note.")
    assert decide(weak, 50, 50, [], agreed=4).n_clusters == 4
    nothing = [criterion("stability", None, 0.39), criterion("lifetime", None, 0.3)]
    assert decide(nothing, 50, 50, []).n_clusters == 1


@pytest.mark.parametrize(("seen", "said"), [(None, "no more is seen"), (8, "delta-area says 8")])
def test_what_a_criterion_says_is_not_denied_where_it_does_not_decide(seen, said):
    silent = [criterion("stability", None, 0.0), criterion("lifetime", None, 0.0)]
    choice = decide([*silent, criterion("delta-area", seen, 0.5)], 50, 50, [])
    assert (choice.n_clusters, choice.clear) == (1, False)
    assert said in choice.words
    assert ("no more is seen" in choice.words) == (seen is None)


def test_a_number_is_firm_from_85_per_cent_on():
    """Three clusters stand further above their reference, but are not firm enough to be taken."""
    tested, reference, loose = np.array([2, 3]), np.array([0.3, 0.0]), np.full(2, -1.0)
    for strength, wanted in ((0.85, 2), (0.8499, None)):
        found = by_stability(tested, np.array([strength, 0.8]), reference, loose)
        assert found.n_clusters == wanted
