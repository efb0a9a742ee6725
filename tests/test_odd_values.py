"""Values that no parameter means, found by the sweep over all of them and by seed 8117."""

import warnings
from numbers import Integral, Real

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import consilience as cs
from consilience import Ensemble, consensus
from consilience._validation import COUNT, POSITIVE, Interval, as_array, as_numbers, check_value
from consilience.consensus import CONSENSUS
from consilience.errors import InvalidInputError, InvalidParameterError, MissingFileError
from consilience.explain import profile
from consilience.explore._maps import map_of_columns
from consilience.minority import references
from consilience.partition import balanced_rows, similarity_graph, split_rows, transfer_cut

SOME = Ensemble([[0, 0, 1, 1], [0, 1, 1, 1]])


@pytest.mark.parametrize("views", ["auto", {1, 2}, 3, [[1], [2, 3]], [None, None]])
def test_views_of_columns_are_a_list(views):
    X = np.random.default_rng(0).normal(size=(23, 2))
    with pytest.raises(InvalidParameterError, match="'views' parameter of MixedEnsemble"):
        cs.generate.MixedEnsemble(3, 2, views=views, random_state=0).generate(X)
    for right in ([0, 0], ["a", "b"], np.array([1, 2])):
        made = cs.generate.MixedEnsemble(3, 2, views=right, random_state=0).generate(X)
        assert made.n_objects == 23


@pytest.mark.parametrize("kinds", [[["numbers"]], [{}], ["all"], "numbers"])
def test_kinds_of_members_are_names(kinds):
    with pytest.raises(InvalidParameterError, match="'kinds' parameter of MixedEnsemble"):
        cs.generate.MixedEnsemble(3, 2, kinds=kinds).generate(np.eye(4))


@pytest.mark.parametrize("name", ["none.csv", "none.npy", "none.parquet", "none.zarr"])
def test_a_file_that_is_missing_is_an_error_of_ours_and_of_pythons(name, tmp_path):
    for call in (cs.cluster, cs.open_rows):
        with pytest.raises(MissingFileError, match="There is no file") as told:
            call(str(tmp_path / name))
        assert isinstance(told.value, FileNotFoundError)
    with pytest.raises(MissingFileError, match="There is no folder"):
        Ensemble([[0, 1]]).save(tmp_path / "none" / "members.npz")
    with pytest.raises(MissingFileError, match="There is no file"):
        Ensemble.load(tmp_path / "members.npz")


@pytest.mark.parametrize("unit", [1e-200, 1e-45, 1.0, 1e38, 1e200])
def test_a_map_of_columns_is_the_same_in_any_unit(unit):
    X = np.random.default_rng(0).normal(size=(13, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = map_of_columns(X * unit, ("a",)).places
    assert found.dtype == np.float32
    assert np.isfinite(found).all()
    np.testing.assert_array_equal(np.argsort(found[:, 0]), np.argsort(X[:, 0]))
    if unit == 1:  # nothing is changed that single precision holds
        np.testing.assert_array_equal(found[:, 0], X[:, 0].astype(np.float32))


HUGE = 10**400


def test_whole_numbers_beyond_all_floats_are_refused_as_data():
    X = np.random.default_rng(0).normal(size=(12, 3)).tolist()
    X[2][1] = HUGE
    model = cs.EAC(2, random_state=0).fit(np.eye(12))
    for call in (
        cs.cluster,
        cs.minority_groups,
        cs.ambiguous_objects,
        lambda X: cs.EWOCS().fit(X),
        lambda X: model.predict([[HUGE] * 12]),
        lambda X: cs.KMD().fit(np.array(X, object)),
        lambda X: cs.generate.MixedEnsemble(3, 2).generate(X),
    ):
        with pytest.raises(InvalidInputError, match="too large"):
            call(X)


def test_whole_numbers_beyond_all_floats_are_refused_by_name():
    for rules, value in ((POSITIVE, HUGE), (COUNT, HUGE), ([Interval(Real)], -HUGE)):
        with pytest.raises(InvalidParameterError, match="'n' parameter of x must be"):
            check_value("n", value, rules, owner="x")
    with pytest.raises(InvalidParameterError, match="Got a value of type int"):
        check_value("n", 10**5000, POSITIVE, owner="x")
    with pytest.raises(InvalidInputError, match="fit into 64 bits"):
        Ensemble([[0.5, HUGE, 1]])
    with pytest.raises(InvalidInputError, match="weights of x must be finite numbers"):
        as_numbers("weights", [1, HUGE], owner="x")
    with pytest.raises(InvalidInputError, match="weights of x must be finite numbers"):
        as_numbers("weights", np.array([1j]), owner="x")


def test_an_end_of_an_interval_may_be_beyond_the_type_of_the_value():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Interval(Real, -1e100, 1e100).accepts(np.float32(0.25))
        assert not Interval(Real, 1e100).accepts(np.float32(0.25))
        assert Interval(Integral, 0, 10**30).accepts(np.int8(3))


@pytest.mark.parametrize("name", sorted(n for n, m in CONSENSUS.items() if "weights" in m.options))
@pytest.mark.parametrize("weights", [5, "x", {}, [1], [float("nan")] * 4, [-1] * 4, [HUGE] * 4])
def test_weights_of_objects_are_positive_numbers(name, weights):
    method = CONSENSUS[name]
    X = {"X": np.eye(4)} if method.needs_data else {}
    with pytest.raises((InvalidParameterError, InvalidInputError), match="weights"):
        method.function(SOME, 2, weights=weights, **X)


@pytest.mark.parametrize("name", ["max_features", "max_samples"])
def test_shares_of_any_type_are_shares(name):
    X = np.random.default_rng(0).normal(size=(40, 4))
    made = [
        cs.generate.KMeansEnsemble(4, 2, random_state=0, **{name: share}).generate(X)
        for share in (0.5, np.float32(0.5), np.float64(0.5))
    ]
    for other in made[1:]:
        np.testing.assert_array_equal(other.labels, made[0].labels)
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter .* at most the number"):
        cs.generate.KMeansEnsemble(4, 2, **{name: np.int64(41)}).generate(X)


def test_ways_of_distances_are_names():
    for ways in ([["links"]], [{}], "links", [1]):
        with pytest.raises(InvalidParameterError, match="'ways' parameter of DistanceEnsemble"):
            cs.generate.DistanceEnsemble(3, 2, ways=ways).generate(np.ones((5, 5)) - np.eye(5))


def test_numbers_of_numpy_may_be_small():
    X = np.random.default_rng(0).normal(size=(40, 2))
    small, plain = (
        cs.EWOCS(k_max=k, n_repetitions=5, random_state=0).fit(X) for k in (np.int8(9), 9)
    )
    np.testing.assert_array_equal(small.scores_, plain.scores_)


def test_settings_at_the_end_of_the_range_have_their_limit():
    truth = np.repeat([0, 1, 2], 8)
    ensemble = Ensemble([truth, truth, truth])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = consensus.ecmc(ensemble, 3, C=1e308, random_state=0)
        assert adjusted_rand_score(truth, found.labels) == 1
        loose = consensus.bce(ensemble, 3, tol=1e308, random_state=0)
        whole = consensus.bce(ensemble, 3, tol=10**20, random_state=0)
        np.testing.assert_array_equal(loose.labels, whole.labels)
        assert adjusted_rand_score(truth, loose.labels) == 1
        X = np.eye(3)[truth] * 5 + np.random.default_rng(0).normal(size=(24, 3))
        for function in (consensus.wosp, consensus.wohb):
            assert adjusted_rand_score(truth, function(ensemble, 3, X=X, t=5e-324).labels) == 1
    with pytest.raises(InvalidInputError, match="weights of transfer_cut must be at most 1e"):
        transfer_cut(np.eye(4), 2, weights=[1e308] * 4)
    with pytest.raises(InvalidParameterError, match="'log_density' parameter"):
        cs.SoftBBC(log_density=1e308).fit(np.eye(4))


def test_a_truth_is_of_numbers_that_can_be_told_apart():
    for truth in ([1e308] * 4, [2**53] * 4, [1j] * 4, [[1], [2, 3]]):
        with pytest.raises(InvalidInputError, match="true source"):
            references.convex_hulls(np.eye(4), truth)
    assert references.random_foreground([2**52, 0]).shape == (2,)


@pytest.mark.parametrize("given", [[["eac"]], [1, 2], ["eac", {}], {"eac": None}])
def test_methods_are_listed_by_name(given):
    with pytest.raises(InvalidParameterError, match="'methods' parameter of cluster"):
        cs.cluster(np.random.default_rng(0).normal(size=(12, 2)), 2, methods=given)


def test_a_method_by_blocks_is_a_name():
    for given in (["sec"], np.array([1.0]), None):
        with pytest.raises(InvalidParameterError, match="'method' parameter of combine_blocks"):
            consensus.combine_blocks(SOME, 2, method=given)


@pytest.mark.parametrize("name", ["ids", "truth"])
def test_one_array_without_a_length_is_no_list_of_objects(name):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of cluster must hold one"):
        cs.cluster(np.random.default_rng(0).normal(size=(12, 2)), 2, **{name: np.array(3)})


@pytest.mark.parametrize("name", ["ids", "truth"])
def test_objects_are_named_by_one_value_each(name):
    for given in ([[0]] * 12, [[0, 1]] * 12, [[1], *[[2, 3]] * 11]):
        with pytest.raises(InvalidInputError, match=f"'{name}' .* one value .* Got lists among"):
            cs.cluster(np.random.default_rng(0).normal(size=(12, 2)), 2, **{name: given})


def test_known_groups_are_names():
    with pytest.raises(InvalidInputError, match=r"must name one group for each object. Got \[1"):
        cs.cluster(np.random.default_rng(0).normal(size=(4, 2)), 2, partial_labels=[[1, 2]] * 4)


def test_lists_of_different_lengths_are_objects():
    found = as_array([[1], [2, 3]])
    assert (found.dtype.kind, found.shape) == ("O", (2,))
    assert found.tolist() == [[1], [2, 3]]


def test_tables_of_the_partitioners_are_of_numbers():
    for F in ("1 GiB", [[1], [2, 3]], [[1j, 2], [3, 4]]):
        with pytest.raises(InvalidInputError, match="F must be a table of rows"):
            balanced_rows(F, 2)
    assert similarity_graph([[1.0, 0.5], [0.5, 1.0]]).adjacency.nnz == 2
    with pytest.raises(InvalidInputError, match=r"must hold real numbers. Got complex"):
        similarity_graph(np.eye(2) * 1j)
    for sizes in ("x", {}, [HUGE, 1]):
        with pytest.raises(InvalidInputError, match="sizes must be 2 whole numbers"):
            split_rows(np.eye(4), 2, sizes=sizes)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("columns", -1), ("sources", "ab"), ("sources", None), ("sources", ["a"]), ("ids", 5),
        ("ensemble", -1), ("confidence", -1), ("confidence", ["a"] * 4), ("confidence", [2.0] * 4),
        ("confidence", [1j] * 4), ("X", [[1], [2, 3]]),
    ],
)  # fmt: skip
def test_what_a_profile_is_given_is_checked_by_name(name, value):
    given = {"X": np.eye(4), name: value}
    with pytest.raises((InvalidInputError, InvalidParameterError), match=rf"{name}\b.* of profile"):
        profile(given.pop("X"), [0, 0, 1, 1], **given)


def test_new_objects_that_leave_the_range_of_numbers_are_refused():
    X = np.random.default_rng(0).normal(size=(30, 2)) * 1e-20
    found = cs.cluster(X, 2, n_members=5, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InvalidInputError, match=r"up to 1e\+308 cannot be brought"):
            found.predict(np.full((1, 2), 1e308))


@pytest.fixture(scope="module")
def result():
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[:6] += 6
    return cs.cluster(X, 2, n_members=8, random_state=0)


@pytest.mark.parametrize(
    ("method", "name", "value"),
    [
        ("candidates", "most", 0), ("candidates", "most", None), ("worth_a_look", "most", -1),
        ("least_sure", "most", 0.5), ("mean_confidence", "cluster", 2), ("page", "title", 3),
        ("mean_confidence", "cluster", -1), ("page", "about", "x"),
        ("merge", "groups", np.array(3)),
        ("profile", "level", np.array([1.0, 2.0])),
    ],
)  # fmt: skip
def test_what_a_result_is_asked_is_checked_by_name(method, name, value, result):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter of .*{method}"):
        getattr(result, method)(**{name: value})


def test_limits_of_what_a_result_is_asked(result):
    with pytest.raises(InvalidParameterError, match="'lookup' parameter of predict"):
        result.predict(np.eye(3), lookup=2)
    everybody = result.least_sure(None)
    assert result.least_sure(1) == everybody[:1]
    means = [result.mean_confidence(cluster) for cluster in (0, 1)]
    assert np.average(means, weights=result.sizes) == pytest.approx(result.mean_confidence())
    assert len(result.worth_a_look(1)) <= 1
    assert result.page(title="a", about={"b": "c"})["title"] == "a"


def test_the_mean_score_of_a_group_and_of_the_background():
    found = cs.minority_groups(
        np.random.default_rng(0).normal(size=(40, 2)), n_repetitions=10, random_state=0
    )
    background = found.labels == -1
    assert found.mean_score(-1) == pytest.approx(found.scores[background].mean())
    for group in (found.n_clusters, -2, None, 0.5):
        with pytest.raises(InvalidParameterError, match="'group' parameter of mean_score"):
            found.mean_score(group)


def test_comparisons_are_of_numbers():
    for given in ("x", {}, [[1], [2, 3]], [HUGE] * 3):
        with pytest.raises(InvalidInputError, match="paired needs finite numbers"):
            cs.compare.paired(given, [1, 2, 3])
        with pytest.raises(InvalidInputError, match="adjust needs a square table"):
            cs.compare.adjust(given)
    with pytest.raises(InvalidInputError, match="bbc needs a start"):
        cs.minority.bbc(np.eye(4), 2, start=["a"] * 4)
