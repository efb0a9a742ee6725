"""Found by the fuzzer: arguments that ended in somebody else's exception, or in none at all."""

import gzip
import io
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from consilience import (
    BCE,
    KCC,
    KMD,
    AmbiguityAware,
    Ensemble,
    MixtureConsensus,
    evidence,
    generate,
    metrics,
)
from consilience.compare import against_truth
from consilience.consensus import (
    CONSENSUS,
    autoconsensus,
    correlation_cost,
    cspa,
    eeac,
    hbgf,
    lwea,
    refine,
    wbpa,
)
from consilience.datasets import load_reuters, read_labels, read_table
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.explain import profile
from consilience.minority import bbcpress
from consilience.minority.consistency import consistency
from consilience.minority.references import all_foreground, convex_hulls, random_foreground
from consilience.partition import (
    balanced_rows,
    bipartite_graph,
    has_metis,
    hypergraph_parts,
    similarity_graph,
    split_bipartite,
    split_rows,
    transfer_cut,
)

SOME = Ensemble([[0, 0, 0, 1, 1, 1], [0, 0, 1, 1, 1, 1]])


@pytest.mark.parametrize("given", [[[0, 1], [1, 0]], np.zeros((4, 2), int), 5, None, "x"])
def test_what_is_no_ensemble_is_refused_in_words(given):
    for method in CONSENSUS.values():
        with pytest.raises(InvalidParameterError, match=f"of {method.name} must be an Ensemble"):
            method.function(given, 2)
    functions = (evidence.anco, evidence.ambiguous, evidence.co_association, evidence.twins)
    functions += (evidence.cluster_stability, evidence.object_weights, evidence.never_seen)
    for function in functions:
        with pytest.raises(InvalidParameterError, match=r"Make one .* with Ensemble\(labels\)"):
            function(given)
    for call in (evidence.confidence, correlation_cost):
        with pytest.raises(InvalidParameterError, match="must be an Ensemble"):
            call(given, [0, 1])
    with pytest.raises(InvalidParameterError, match="'ensemble' parameter of anmi"):
        metrics.anmi([0, 1], ensemble=given)


def test_an_ensemble_may_be_named_and_one_that_is_missing_is_pythons_to_complain_of():
    assert CONSENSUS["eac"].function(ensemble=SOME, n_clusters=2).labels.tolist()
    with pytest.raises(TypeError, match="ensemble"):
        CONSENSUS["eac"].function(n_clusters=2)


def test_members_are_not_chosen_by_a_new_axis():
    with pytest.raises(InvalidInputError, match=r"Members are chosen .* shape \(1, 2\)"):
        SOME[None]
    with pytest.raises(InvalidInputError, match=r"Objects are chosen .* shape \(1, 6\)"):
        SOME.take(None)


def test_labels_that_are_true_and_false_are_clusters_one_and_zero():
    flags = np.array([False] * 3 + [True] * 3)
    wanted = evidence.confidence(SOME, flags.astype(int))
    np.testing.assert_array_equal(evidence.confidence(SOME, flags).confidence, wanted.confidence)
    for bad in (["a"] * 6, [0.5] * 6, [None] * 6):
        with pytest.raises(InvalidInputError, match="labels must be whole numbers"):
            evidence.confidence(SOME, bad)


def test_one_number_of_clusters_is_a_list_of_one():
    one, many = generate.many_algorithms(3), generate.many_algorithms([3])
    X = np.random.default_rng(0).normal(size=(30, 2))
    first, second = (g.set_params(random_state=0).generate(X) for g in (one, many))
    np.testing.assert_array_equal(first.labels, second.labels)


def test_data_in_a_list_go_with_objects_that_no_member_placed():
    table = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [-1, -1]])
    X = np.arange(12.0).reshape(6, 2)
    wanted = cspa(Ensemble(table), 2, X=X, random_state=0)
    found = cspa(Ensemble(table), 2, X=X.tolist(), random_state=0)
    np.testing.assert_array_equal(found.labels, wanted.labels)


@pytest.mark.parametrize("exponent", [160, 307, -160, -300])
def test_the_unit_of_the_data_changes_no_member_of_u_spec(exponent):
    X = np.random.default_rng(1).normal(size=(40, 2))
    X /= np.abs(X).max()
    unit = 2.0 ** round(exponent * np.log2(10))
    made = [
        generate.USPECEnsemble(4, (2, 3), n_representatives=12, random_state=0).generate(x)
        for x in (X, X * unit)
    ]
    np.testing.assert_array_equal(made[0].labels, made[1].labels)
    models = [generate.USPEC(2, n_representatives=12, random_state=0).fit(x) for x in (X, X * unit)]
    np.testing.assert_array_equal(models[0].labels_, models[1].labels_)
    np.testing.assert_array_equal(models[0].representatives_ * unit, models[1].representatives_)
    assert models[1].sigma_ == models[0].sigma_ * unit


def test_one_value_near_the_largest_number_does_not_read_past_the_table():
    X = np.random.default_rng(1).normal(size=(11, 2))
    X[10, 0] = 1e308
    ensemble = generate.USPECEnsemble(3, 2, random_state=0).generate(X)
    assert ensemble.n_objects == 11


@pytest.mark.parametrize("sizes", ["", "xyz", [1, 2], [3, 3, 0], [None, 3, 3]])
def test_sizes_of_parts_are_checked_by_every_solver(sizes):
    F = np.random.default_rng(0).random((6, 3))
    with pytest.raises(InvalidInputError, match="sizes"):
        balanced_rows(F, 3, sizes=sizes)
    if has_metis():
        with pytest.raises(InvalidInputError, match="sizes must be 3 whole numbers"):
            split_rows(F, 3, sizes=sizes, solver="metis")


def test_labels_to_refine_are_whole_numbers_one_an_object():
    for bad in (None, ["a"] * 6, [[0, 1]] * 3, [0.5] * 6):
        with pytest.raises(InvalidInputError, match="labels must be one whole number"):
            refine(SOME, bad)
    flags = np.array([False] * 3 + [True] * 3)
    wanted = refine(SOME, flags.astype(int))
    np.testing.assert_array_equal(refine(SOME, flags).labels, wanted.labels)


def test_data_that_place_unseen_objects_are_numbers():
    table = np.array([[0, 0], [0, 0], [0, 1], [1, 1], [1, 1], [-2, -2]])
    with pytest.raises(ValueError, match=r"could not convert string|dtype='numeric'"):
        CONSENSUS["voting"].function(Ensemble(table), 2, X=np.array([["a", "b"]] * 6))
    for name in ("mcla", "eac", "correlationclustering"):
        with pytest.raises(ValueError, match=r"Expected 2D array|scalar"):
            CONSENSUS[name].function(Ensemble(table), 2, X=7)
        with pytest.raises(InvalidInputError, match="X has 5 rows, the ensemble 6 objects"):
            CONSENSUS[name].function(Ensemble(table), 2, X=np.ones((5, 2)))


def test_squares_past_the_range_of_numbers_are_refused_by_kmd():
    X = np.random.default_rng(0).normal(size=(30, 1))
    for unit in (1e160, 1e-160):
        with pytest.raises(InvalidInputError, match="leave the range of numbers: KMD"):
            KMD(random_state=0).fit(X * unit)


def test_a_truth_to_match_with_is_no_single_value():
    for bad in (False, 5, None, "abc"):
        with pytest.raises(InvalidInputError, match="truth must be a list or an array"):
            metrics.match_labels(bad, [0, 1])
    pairs = metrics.match_labels(iter([1, 1, 2, 2]), [7, 7, 5, 6])
    assert pairs.tolist() == [1, 1, 2, 3]


def test_no_object_has_no_foreground_and_no_warning():
    assert random_foreground([], random_state=0).tolist() == []


def test_a_truth_that_is_none_is_refused():
    for bad in (None, 5, "abc"):
        with pytest.raises(InvalidInputError, match="y must be a list or an array"):
            all_foreground(bad)


def test_the_header_of_an_array_may_be_damaged_in_its_python(tmp_path):
    memory = io.BytesIO()
    np.save(memory, np.zeros((3, 2)))
    file = Path(tmp_path, "bad.npy")
    for old, new in ((b"(3, 2)", b"(((((("), (b"'descr'", b"'desc\n'"), (b"False", b"0x  _")):
        file.write_bytes(memory.getvalue().replace(old, new))
        with pytest.raises(InvalidInputError, match=r"bad\.npy' is damaged"):
            read_table(file)


def test_documents_nested_without_end_are_refused(tmp_path):
    with gzip.open(tmp_path / "reuters21578.jsonl.gz", "wt") as file:
        file.write("[" * 100_000)
    with pytest.raises(InvalidInputError, match=r"line 1 is not JSON: it is nested too deeply"):
        load_reuters(tmp_path)


def test_a_refusal_is_one_line_even_if_a_name_has_two(tmp_path, monkeypatch, capsys):
    pytest.importorskip("cyclopts")
    from consilience.cli import main

    monkeypatch.chdir(tmp_path)
    Path("two\nlines.csv").write_text("m\n0\n1\n")
    assert main(["cluster", "--labels", "two\nlines.csv", "--method", "wokmeans"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("consilience: The method 'wokmeans' needs the data")
    assert len(said.splitlines()) == 1


@pytest.mark.parametrize("table", [None, "text", [["a", "b"]]])
def test_a_hypergraph_that_is_no_table_is_refused(table):
    pytest.importorskip("mtkahypar")
    with pytest.raises(InvalidInputError, match="B must be a table of numbers"):
        hypergraph_parts(table, 2)


def test_labels_of_half_precision_are_labels():
    labels = np.array([[0, 1], [2, np.nan]], np.float16)
    np.testing.assert_array_equal(Ensemble(labels).labels, [[0, 0], [1, -2]])


@pytest.mark.parametrize("given", ["auto", None, {}, [1.0], 5, [float("nan")] * 4, [10**400] * 4])
def test_what_is_no_list_of_numbers_is_refused_by_name(given):
    Q = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.0, 2.0]])
    calls = {
        "stability of select_clusters": lambda: evidence.select_clusters(SOME, given),
        "Q of transfer_cut": lambda: transfer_cut(given, 2),
        "Q of bipartite_graph": lambda: bipartite_graph(given),
        "F of split_rows": lambda: split_rows(given, 2),
        "X of convex_hulls": lambda: convex_hulls(given, [0, 1, 1, 1]),
    }
    if given is not None:
        calls["weights of transfer_cut"] = lambda: transfer_cut(Q, 2, weights=given)
        calls["vertex_weights of a graph"] = lambda: similarity_graph(Q @ Q.T, given)
    for name, call in calls.items():
        with pytest.raises(InvalidInputError, match=f"{name} must be finite numbers of shape"):
            call()


def test_weights_of_rows_are_not_negative():
    with pytest.raises(InvalidInputError, match="weights of transfer_cut must not be negative"):
        transfer_cut(np.eye(3), 2, weights=[1.0, -1.0, 1.0])


def test_shares_ask_for_a_number_of_members_and_a_type_of_numbers():
    counts = np.eye(2, dtype=int)
    for wrong in (None, 0, 2.5, "x"):
        with pytest.raises(InvalidParameterError, match="'n_members' parameter of fractions"):
            evidence.fractions(counts, None, wrong)
    for wrong in (len, int, "x"):
        with pytest.raises(InvalidParameterError, match="'dtype' parameter of fractions"):
            evidence.fractions(counts, None, 2, wrong)


@pytest.mark.parametrize("given", [{}, (2, 3), None, 0, "x"])
def test_halves_of_no_number_are_refused(given):
    with pytest.raises(InvalidParameterError, match="'n_members' parameter of woec"):
        generate.woec(given, 2)


@pytest.mark.parametrize("name", sorted(CONSENSUS))
def test_data_of_other_objects_are_refused_by_every_method(name):
    with pytest.raises(InvalidInputError, match=r"same objects|rows"):
        CONSENSUS[name].function(SOME, 2, X=np.zeros((2, 2)))


METHODS = {name: method for name, method in CONSENSUS.items() if method.needs_data}


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.parametrize(
    "model",
    [
        generate.LAC(2, random_state=0),
        generate.LACEnsemble(3, 2, random_state=0),
        generate.NJW(2, random_state=0),
        generate.PAM(2),
        generate.Linkage(2, method="centroid"),
        *(METHODS[name].estimator(2, random_state=0) for name in METHODS),
    ],
    ids=lambda model: type(model).__name__,
)
def test_squares_beyond_the_range_of_numbers_are_refused(model, unit):
    X = np.random.default_rng(0).normal(size=(20, 2)) * unit
    call = model.generate if hasattr(model, "generate") else model.fit
    more = {"ensemble": np.arange(20)[:, None] % [2, 3]} if hasattr(model, "generator") else {}
    name = type(model).__name__
    with pytest.raises(InvalidInputError, match=rf"largest value of X is .* {name} needs"):
        call(X, **more)


@pytest.mark.parametrize("given", [0, None, 2.5, np.float64(1)])
def test_objects_of_no_table_are_refused(given):
    with pytest.raises(InvalidInputError, match="X must be a table of objects"):
        consistency(given, [0, 1])


@pytest.mark.parametrize("given", [0.5, None, 3])
def test_what_cannot_cluster_is_refused(given):
    with pytest.raises(InvalidParameterError, match="'weak' parameter of consistency must be a"):
        consistency(np.eye(4), [0, 0, 1, 1], weak=given)


@pytest.mark.parametrize("scale", [5e-324, 1e-200, 1e300])
def test_spectral_clustering_takes_any_positive_width(scale):
    X = np.random.default_rng(0).normal(size=(30, 2))
    labels = generate.NJW(3, scale=scale, random_state=0).fit_predict(X)
    assert set(labels.tolist()) <= {0, 1, 2}


@pytest.mark.parametrize(("model", "name"), [(MixtureConsensus, "smooth"), (BCE, "lap")])
def test_a_pseudo_count_is_of_the_size_of_counts(model, name):
    with pytest.raises(InvalidParameterError, match=f"'{name}' parameter .* at most 1e"):
        model(2, **{name: 1e308}).fit(ensemble=SOME)


def test_text_in_parquet_that_is_no_text_is_refused(tmp_path):
    arrow = pytest.importorskip("pyarrow")
    starts = arrow.array([0, 1, 2, 4], arrow.int32()).buffers()[1]
    words = arrow.StringArray.from_buffers(3, starts, arrow.py_buffer(b"a\xb5\xff\xfe"))
    path = tmp_path / "words.parquet"
    pytest.importorskip("pyarrow.parquet").write_table(arrow.table({"a": words}), path)
    for read in (read_table, read_labels):
        with pytest.raises(InvalidInputError, match=r"'words\.parquet' is damaged"):
            read(path)


@pytest.mark.parametrize("p", [1, 100.1, 1e6])
def test_powers_that_leave_the_range_of_numbers_are_refused(p):
    with pytest.raises(InvalidParameterError, match=r"'p' parameter of KCC .* at most 100"):
        KCC(2, utility="lp", p=p).fit(ensemble=SOME)


def test_numbers_that_are_not_real_are_refused():
    with pytest.raises(InvalidInputError, match=r"X must hold real numbers\. Got .* complex128"):
        consistency(np.eye(4) * 1j, [0, 0, 1, 1])


def test_clusters_of_any_name_are_compared_with_the_truth():
    found = against_truth([0, 0, 1, 1], [None, "a", "b", "b"])
    assert found["ari"] == pytest.approx(adjusted_rand_score([0, 0, 1, 1], [2, 0, 1, 1]))


def test_a_hull_needs_a_column():
    with pytest.raises(InvalidInputError, match="at least one column"):
        convex_hulls(np.empty((4, 0)), [0, 1, 1, 1])


def test_consistency_takes_lists_and_refuses_squares_out_of_range():
    X, y = np.random.default_rng(0).normal(size=(20, 2)), np.arange(20) % 2
    wanted = consistency(X, y, "hard", random_state=0).affinities
    np.testing.assert_array_equal(
        consistency(X.tolist(), y, "hard", random_state=0).affinities, wanted
    )
    flags = X > 0
    np.testing.assert_array_equal(
        consistency(flags, y, random_state=0).affinities,
        consistency(flags.astype(float), y, random_state=0).affinities,
    )
    with pytest.raises(InvalidInputError, match="consistency needs between"):
        consistency(X * 1e200, y, divergence="gaussian", random_state=0)


def test_a_kernel_that_fails_is_told_of():
    with pytest.raises(InvalidInputError, match="The kernel failed on 8 and 8 objects: len"):
        bbcpress(np.eye(10), 2, 4, divergence=len)


@pytest.mark.parametrize("given", [[None], -0.1, "x", float("nan")])
def test_an_imbalance_is_a_number(given):
    with pytest.raises(InvalidParameterError, match="'imbalance' parameter of hypergraph_parts"):
        hypergraph_parts(np.eye(4), 2, imbalance=given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (("abc", 2, None), "'labels' parameter of suited_elsewhere"),
        ((["g1", None], [1.0, 1.0], None), "'labels' parameter of suited_elsewhere"),
        (([0, 1], 1, None), "'confidence' parameter of suited_elsewhere"),
        (([0, 1], [0.1, 1.0], "auto"), "'runner_up' parameter of suited_elsewhere"),
    ],
)
def test_doubt_is_of_numbers(given, words):
    with pytest.raises(InvalidInputError, match=words):
        evidence.suited_elsewhere(*given)
    with pytest.raises(InvalidInputError, match="'labels' parameter of doubtful"):
        evidence.doubtful("abc", None)


def test_consistency_is_of_a_table():
    with pytest.raises(InvalidInputError, match="'X' parameter of consistency"):
        consistency(np.arange(15.0), np.arange(15) % 2, random_state=0)


def test_numbers_at_the_end_of_the_range_are_no_accident():
    """Found by the fuzzer: each ended in a warning of arithmetic or an exception not ours."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    groups = np.repeat([0, 1], 20)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        tiny = generate.KMeansEnsemble(3, 2, random_state=0).generate(X * 5e-324)
        assert tiny.n_objects == 40
        profile(X * 5e307, groups)
        model = AmbiguityAware(KCC(2, random_state=0), action="svm", random_state=0)
        assert model.fit(X * 1e200).labels_.max() < 2
        members = Ensemble([groups, np.tile([0, 1], 20)])
        sharp = [lwea(members, 2, theta=least).labels for least in (1e-9, 5e-324)]
        np.testing.assert_array_equal(*sharp)
    kept = [eeac(members, 2, min_cover=many).labels for many in (2, 2**63)]
    np.testing.assert_array_equal(*kept)
    weighed = [wbpa(members, 2, X=X, inv_h=sharp, random_state=0).labels for sharp in (1e6, 1e308)]
    np.testing.assert_array_equal(*weighed)


@pytest.mark.parametrize("given", [0, "", [1.0, 2.0], [[np.nan, 1.0]]])
def test_objects_by_clusters_are_a_table(given):
    with pytest.raises(InvalidInputError, match="Q of split_bipartite must be"):
        split_bipartite(given, 2)


@pytest.mark.parametrize("given", ["some", np.array(["pair", "all"]), None, 1])
def test_twins_are_of_pairs_or_of_all(given):
    with pytest.raises(InvalidParameterError, match="'missing' parameter of twins"):
        evidence.twins(SOME, missing=given)


@pytest.mark.skipif(not has_metis(), reason="pymetis is not installed")
def test_whole_numbers_of_any_type_are_numbers_of_cuts():
    found = [hbgf(SOME, 2, solver="metis", n_cuts=n, random_state=0) for n in (2, np.int8(2))]
    np.testing.assert_array_equal(found[0].labels, found[1].labels)


@pytest.mark.parametrize("given", [np.array(3), np.array([[2, 3]]), "sqrt", {2, 3}])
def test_numbers_to_take_in_turn_are_of_one_row(given):
    """An array without a length, and text letter by letter, were taken apart."""
    made = generate.many_algorithms(given, random_state=0)
    assert made.n_clusters is given
    assert [
        generate.many_algorithms(numbers).n_clusters
        for numbers in ((2, 3), range(2, 4), np.array([2, 3]), [2, 3])
    ] == 4 * [[2, 3]]


def test_sparse_rows_that_are_all_alike_have_no_axes():
    """Shares of a variance of 0 were a warning of arithmetic."""
    members = Ensemble([np.arange(10) % 9])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = autoconsensus(members, X=sparse.csr_array(np.ones((10, 4))), random_state=0)
    assert found.labels.size == 10


@pytest.mark.parametrize("X", [np.array([list("ab")] * 4), np.array([["a", 1]] * 4, object)])
def test_words_are_compared_by_a_kernel_function_or_not_at_all(X):
    """Unscaled data met the divergence unseen."""
    for scaling in ("none", "box"):
        with pytest.raises(InvalidInputError, match="X must hold numbers"):
            consistency(X, np.arange(4) % 2, scaling=scaling, n_repetitions=5, random_state=0)


def test_a_tolerance_that_everything_keeps_is_no_accident():
    X = np.random.default_rng(0).normal(size=(30, 2)) * 1e3
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        made = [
            generate.KMeansEnsemble(2, 3, tol=tol, random_state=0).generate(X).labels
            for tol in (1e9, 1e308)
        ]
    np.testing.assert_array_equal(*made)
