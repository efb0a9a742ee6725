"""GRAMS: weights are the fixed point of their definition, scores the best pattern's weight."""

import warnings
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError, SkipTestWarning
from sklearn.utils.estimator_checks import check_estimator

from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.minority.grams import GRAMS, Pattern, grams

FEW = settings(max_examples=40)
rows = st.lists(st.sampled_from("abc"), min_size=1, max_size=6).map(tuple)
tables = st.lists(rows, min_size=1, max_size=25)
dampings = st.sampled_from([None, "idf", "share"])


def patterns_by_definition(row, max_length, sides, wildcards=1):
    if len(row) <= max_length:
        kept = product(
            *[[True, False] if 0 < i < len(row) - 1 else [True] for i in range(len(row))]
        )
        return {(row, None)} | {
            (tuple(s if keep else ... for s, keep in zip(row, keeps, strict=True)), None)
            for keeps in kept
            if len(row) - sum(keeps) <= wildcards and any(keeps[1:-1])
        }
    return {
        (row[:a], row[len(row) - b :])
        for a in range(1, sides + 1)
        for b in range(1, sides + 1)
        if a + b < len(row)
    }


def matrix_by_definition(sequences, keys, max_length, sides, min_count, wildcards=1):
    """Frequent patterns, instances that show one, and the 0/1 matrix between them."""
    shown = [patterns_by_definition(row, max_length, sides, wildcards) for row in sequences]
    counts = Counter(p for patterns in shown for p in patterns)
    patterns = [p for p, count in counts.items() if count >= min_count]
    instances = list(dict.fromkeys(keys))
    A = np.zeros((len(patterns), len(instances)))
    for row, key in zip(shown, keys, strict=True):
        for p in row & set(patterns):
            A[patterns.index(p), instances.index(key)] = 1
    return patterns, instances, A


def parts_by_definition(A):
    """Patterns and instances of every connected part of the graph."""
    left, parts = set(range(len(A))), []
    while left:
        part, grown = set(), {min(left)}
        while grown != part:
            part = grown
            columns = A[sorted(part)].any(axis=0)
            grown = part | set(np.flatnonzero(A[:, columns].any(axis=1)).tolist())
        parts.append((sorted(part), np.flatnonzero(columns)))
        left -= part
    return parts


def weights_by_definition(A, damping, n_rounds):
    """Rounds of p = A t, t = A' p on dense arrays; every part of t keeps its share of instances."""
    per_instance, per_pattern = np.maximum(A.sum(axis=0), 1), A.sum(axis=1)
    t = (A.sum(axis=0) > 0).astype(float)
    t /= t.sum()
    for _ in range(n_rounds):
        factor = np.log(1 + len(A) / per_instance) if damping == "idf" else 1.0
        p = A @ (t / per_instance if damping == "share" else factor * t)
        p /= p.sum()
        t = A.T @ (p / per_pattern) if damping == "share" else factor * (A.T @ p)
        for _, columns in parts_by_definition(A):
            t[columns] *= len(columns) / A.any(axis=0).sum() / t[columns].sum()
    return p, t


@FEW
@given(
    sequences=tables,
    damping=dampings,
    sides=st.integers(0, 3),
    wildcards=st.integers(0, 3),
    min_count=st.integers(1, 3),
    n_keys=st.integers(1, 5),
    n_rounds=st.integers(1, 6),
)
def test_weights_are_their_definition(
    sequences, damping, sides, wildcards, min_count, n_keys, n_rounds
):
    keys = [f"key{i % n_keys}" for i in range(len(sequences))]
    patterns, instances, A = matrix_by_definition(sequences, keys, 5, sides, min_count, wildcards)
    options = {
        "max_length": 5,
        "sides": sides,
        "wildcards": wildcards,
        "min_count": min_count,
        "damping": damping,
    }
    if not patterns:
        with pytest.warns(ConsilienceWarning, match="every score is 0"):
            assert grams(sequences, **options).patterns == ()
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = grams(sequences, instances=keys, max_iter=n_rounds, tol=0.0, **options)
    p, t = weights_by_definition(A, damping, found.n_iter)
    got = dict(zip(found.patterns, found.weights, strict=True))
    assert set(got) == {Pattern(*pattern) for pattern in patterns}
    np.testing.assert_allclose([got[pattern] for pattern in patterns], p, atol=1e-12)
    wanted = [t[instances.index(key)] for key in keys]
    np.testing.assert_allclose(found.instance_weights, wanted, atol=1e-12)
    assert (np.diff(found.weights) <= 0).all()
    assert found.n_iter == n_rounds or found.converged


@FEW
@given(sequences=tables, sides=st.integers(0, 3))
def test_weights_of_one_part_are_the_published_iteration(sequences, sides):
    """Joined by an instance that shows everything, the graph is one part."""
    rows, keys = sequences * 2, [*range(len(sequences)), *["all"] * len(sequences)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        found = grams(rows, instances=keys, sides=sides, min_count=1, max_iter=5, tol=0.0)
    patterns, _, A = matrix_by_definition(rows, keys, 5, sides, 1)
    if not patterns:
        return
    p, t = np.ones(len(A)), (A.sum(axis=0) > 0).astype(float)
    for _ in range(found.n_iter):
        p = A @ t / (A @ t).sum()
        t = A.T @ p / (A.T @ p).sum()
    got = dict(zip(found.patterns, found.weights, strict=True))
    assert found.n_components == 1
    np.testing.assert_allclose([got[pattern] for pattern in patterns], p, atol=1e-12)


@FEW
@given(sequences=tables, sides=st.integers(0, 3))
def test_components_are_what_can_be_reached(sequences, sides):
    _, _, A = matrix_by_definition(sequences, range(len(sequences)), 5, sides, 1)
    if len(A):
        found = grams(sequences, sides=sides, min_count=1)
        assert found.n_components == len(parts_by_definition(A))


# ---- what the weights say -----------------------------------------------------------------------

COMMON, RARE = ("Peop", "IN", "Loc"), ("Peop", "VBD", "Loc")
LONG = ("Peop", "CC", "NNP", "VBD", "IN", "Loc")


def test_every_part_keeps_its_share_of_the_instances():
    found = grams([COMMON] * 6 + [RARE] * 3, min_count=1)
    assert found.n_components == 2
    assert found.converged
    assert [p.head for p in found.patterns] == [COMMON, RARE]
    np.testing.assert_allclose(found.weights, [2 / 3, 1 / 3])


@pytest.mark.parametrize("damping", [None, "idf", "share"])
def test_a_pattern_seen_a_few_times_is_above_one_never_seen(damping):
    """Scaled over all parts, weights fall like (count / largest) to the number of rounds."""
    third, unseen = ("Peop", "CC", "Loc"), ("Peop", "JJ", "Loc")
    sequences = [COMMON] * 20_000 + [RARE] * 19_900 + [third] * 10
    model = GRAMS(damping=damping).fit(sequences)
    first, second, few, none = model.score_samples([COMMON, RARE, third, unseen])
    assert first > second > few > none == 0
    np.testing.assert_allclose(model.weights_, np.array([20_000, 19_900, 10]) / 39_910)


def test_weights_far_from_the_middle_of_a_part_are_not_lost():
    """A chain of pairs, each showing two patterns, off a pattern of many: none falls to 0."""
    chain = [("Peop", f"tag{i}", "Loc") for i in range(300)]
    sequences = [chain[0]] * 500 + [row for link in pairwise(chain) for row in link]
    instances = [f"many{i}" for i in range(500)]
    instances += [f"link{i // 2}" for i in range(len(sequences) - 500)]
    model = GRAMS(min_count=1, tol=0.0).fit(sequences, instances=instances)
    assert model.n_components_ == 1
    assert (model.weights_ > 0).all()
    scores = model.score_samples(chain)
    assert (scores > 0).all()
    assert (np.diff(scores[:100]) < 0).all()


def test_patterns_vouch_for_each_other_by_default():
    """Two patterns as frequent as each other: that of pairs which show good patterns wins."""
    preposition = [("Peop", tag, "IN", "Loc") for tag in ("VBD", "VBZ", "NN", "VBN")]
    alone = ("Peop", "CC", "RB", "Loc")
    sequences = [row for row in (*preposition, alone) for _ in range(5)]
    model = GRAMS().fit(sequences)
    assert model.patterns_[0].head == ("Peop", ..., "IN", "Loc")
    scores = model.score_samples([preposition[0], alone, ("Peop", "JJ", "IN", "Loc")])
    # A sequence never seen shows the pattern with a symbol left open.
    assert scores[2] == scores[0] > scores[1] > 0
    plain = GRAMS(wildcards=0).fit(sequences)
    assert plain.n_components_ == 5 > model.n_components_
    np.testing.assert_allclose(plain.weights_, 0.2)


def test_a_pattern_of_open_symbols_only_is_none():
    found = grams([COMMON] * 3 + [RARE] * 3, wildcards=3)
    assert [p.head for p in found.patterns] == [COMMON, RARE]


@pytest.mark.parametrize(
    ("n_rows", "least"),
    [(2, 2), (2999, 2), (3000, 3), (9999, 9), (10_000, 10), (50_000, 10)],
)
def test_what_is_frequent_follows_the_corpus(n_rows, least):
    """A pattern of just enough sequences is one, a pattern of one fewer is not."""
    rows = [COMMON] * least + [RARE] * (least - 1)
    rows += [("Peop", i, "Loc") for i in range(n_rows - len(rows))]
    assert [p.head for p in grams(rows[:n_rows]).patterns] == [COMMON]


def test_rounds_that_do_not_settle_are_told():
    sequences = [LONG[:4], ("Peop", "NN", "NNP", "Loc"), ("Peop", "CC", "IN", "Loc")] * 3
    with pytest.warns(ConsilienceWarning, match=r"settled after max_iter=1 rounds\. Raise"):
        model = GRAMS(max_iter=1).fit(sequences)
    assert not model.converged_
    assert GRAMS().fit(sequences).converged_


def test_shared_weights_stay_in_their_part():
    """A part keeps its share of the instances, and a pattern gets it by its instances."""
    sequences = [COMMON] * 6 + [RARE] * 3
    found = grams(sequences, min_count=1, damping="share")
    np.testing.assert_allclose(found.weights, [2 / 3, 1 / 3])
    joined = [0, 0, 1, 2, 3, 4, 4, 5, 6]  # instance 4 shows both patterns
    found = grams(sequences, instances=joined, min_count=1, damping="share")
    assert found.n_components == 1
    np.testing.assert_allclose(found.weights, [5 / 8, 3 / 8], atol=1e-6)


def test_idf_lowers_instances_that_show_much():
    """Two patterns of two pairs each: one has pairs that show nothing else."""
    sequences = [COMMON, COMMON, RARE, RARE, LONG[:4], LONG[:4]]
    names = ["a", "b", "c", "d", "c", "d"]
    options = {"wildcards": 0, "min_count": 2, "max_iter": 1, "tol": 2.0}
    plain, damped = (
        grams(sequences, instances=names, damping=damping, **options) for damping in (None, "idf")
    )

    def share(found):
        return dict(zip(found.patterns, found.weights, strict=True))[Pattern(COMMON)]

    assert share(plain) == pytest.approx(1 / 3)
    assert share(damped) > 1 / 3


def test_the_widest_gap_wins_whatever_is_related():
    """Why there are no gaps by default: distant pairs would come first."""
    sequences = [COMMON] * 29 + [LONG, (*LONG[:2], "JJ", *LONG[2:]), (*LONG[:4], "RB", "Loc")] * 10
    near, far = GRAMS(sides=3).fit(sequences).score_samples([COMMON, LONG])
    assert far > near
    near, far = GRAMS().fit(sequences).score_samples([COMMON, LONG])
    assert near > far == 0.0


def test_rare_patterns_are_left_out():
    found = grams([COMMON] * 10 + [RARE] * 9, min_count=10)
    assert [p.head for p in found.patterns] == [COMMON]


def test_the_same_names_are_one_instance():
    found = grams([COMMON, COMMON, RARE], instances=["x", "x", "y"], min_count=1)
    np.testing.assert_allclose(found.weights, [0.5, 0.5])
    # Of equal weights the more frequent pattern comes first.
    assert [p.head for p in found.patterns] == [COMMON, RARE]


# ---- the estimator ------------------------------------------------------------------------------


@FEW
@given(sequences=tables, new=tables, damping=dampings, sides=st.integers(0, 2))
def test_scores_are_the_best_weight_of_a_pattern_shown(sequences, new, damping, sides):
    model = GRAMS(max_length=4, sides=sides, min_count=1, damping=damping)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConsilienceWarning)
        model.fit(sequences)
    weight = dict(zip(model.patterns_, model.weights_, strict=True))
    wanted = [
        max((weight.get(p, 0.0) for p in patterns_by_definition(row, 4, sides)), default=0.0)
        for row in new
    ]
    np.testing.assert_array_equal(model.score_samples(new), wanted)
    np.testing.assert_array_equal(model.scores_, model.score_samples(sequences))
    assert ((model.scores_ >= 0) & (model.scores_ <= 1)).all()


@FEW
@given(sequences=tables, order=st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_matter(sequences, order):
    shuffled = order.sample(sequences, len(sequences))
    model, other = (
        GRAMS(sides=2, min_count=1, max_iter=20_000).fit(part) for part in (sequences, shuffled)
    )
    np.testing.assert_allclose(model.scores_, other.score_samples(sequences), atol=1e-12)
    assert model.n_components_ == other.n_components_


def test_lists_arrays_and_generators_are_sequences():
    sequences = [COMMON] * 3
    wanted = GRAMS(min_count=2).fit(sequences).weights_
    for given_as in ([list(row) for row in sequences], np.array(sequences), iter(sequences)):
        np.testing.assert_array_equal(GRAMS(min_count=2).fit(given_as).weights_, wanted)


def test_scikit_learn_conventions():
    """Text is no table of numbers, so that scikit-learn runs few of its checks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SkipTestWarning)
        warnings.filterwarnings("ignore", message="Can't test estimator")
        check_estimator(GRAMS())
    model = GRAMS(min_count=2, damping="idf")
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.score_samples([COMMON])


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_length", 0),
        ("wildcards", -1),
        ("sides", -1),
        ("min_count", 0),
        ("damping", "half"),
        ("max_iter", 0),
        ("tol", -1.0),
    ],
)
def test_bad_parameters_are_named(name, value):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of GRAMS"):
        GRAMS(**{name: value}).fit([COMMON])
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of grams"):
        grams([COMMON], **{name: value})


@pytest.mark.parametrize(
    ("sequences", "message"),
    [
        ([], "no sequences"),
        ([COMMON, ()], "Sequence 1 is empty"),
        ("NNP IN", "Sequence 0 must be a sequence of symbols"),
        (["NNP IN"], r"Got the text 'NNP IN' instead\. Split it"),
        ([3], "Sequence 0 must be a sequence of symbols"),
        ([[["NN"]]], "Sequence 0 .* hashable"),
    ],
)
def test_bad_sequences_are_named(sequences, message):
    with pytest.raises(InvalidInputError, match=message):
        grams(sequences)
    with pytest.raises(InvalidInputError, match=message):
        GRAMS(min_count=1).fit([COMMON]).score_samples(sequences)


def test_instances_must_be_one_a_sequence():
    with pytest.raises(InvalidInputError, match=r"one hashable key a sequence, 2 in all\. Got 1"):
        grams([COMMON, RARE], instances=["x"], min_count=1)


def test_nothing_frequent_scores_zero_and_says_so():
    with pytest.warns(ConsilienceWarning, match="min_count=2 of the 2 sequences"):
        model = GRAMS().fit([COMMON, RARE])
    assert model.scores_.tolist() == [0.0, 0.0]
    assert (model.n_components_, model.n_iter_, model.converged_) == (0, 0, True)


@pytest.mark.parametrize("instances", [["x"], [["x"], ["y"]], 5])
@pytest.mark.parametrize("min_count", [1, 9])
def test_instances_are_looked_at_whatever_is_frequent(instances, min_count):
    with pytest.raises(InvalidInputError, match="'instances' must have one hashable key"):
        grams([COMMON, RARE], instances=instances, min_count=min_count)


def test_grams_says_that_it_takes_no_table_but_text():
    tags = GRAMS().__sklearn_tags__().input_tags
    assert not tags.two_d_array
    assert tags.string
    assert not tags.sparse


@pytest.mark.parametrize("damping", [None, "idf", "share"])
def test_an_instance_without_patterns_weighs_nothing_at_all(damping):
    found = grams(
        [tuple(one) for one in ("ab", "ab", "cd", "ab", "efg")], min_count=2, damping=damping
    )
    assert found.instance_weights[[2, 4]].tolist() == [0.0, 0.0]
    assert found.instance_weights[[0, 1, 3]] == pytest.approx(1 / 3)
