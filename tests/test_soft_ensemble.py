"""Memberships as members: what they are checked for, their parts, and files of them."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from strategies import ensembles

import consilience as cs
from consilience import Ensemble, SoftEnsemble
from consilience.datasets import read_labels
from consilience.errors import ConsilienceWarning, InvalidInputError, InvalidParameterError
from consilience.evidence import twins

FIRST = np.array([[0.7, 0.3], [0.2, 0.8], [0.5, 0.5], [0.0, 0.0]])
SECOND = np.array([[1.0, 0.0, 0.0], [0.1, 0.2, 0.1], [np.nan] * 3, [0.0, 0.0, 1.0]])


@pytest.fixture
def soft():
    return SoftEnsemble({"a": FIRST, "b": SECOND}, index=list("wxyz"))


def test_what_is_missing_to_one_is_noise_and_nan_is_unseen(soft):
    assert soft.labels.T.tolist() == [[0, 1, 0, -1], [0, -1, -2, 2]]
    assert soft.n_clusters.tolist() == [2, 3]
    assert soft.names == ("a", "b")
    np.testing.assert_array_equal(soft.of_member(1), SECOND)
    assert not soft.memberships[2, 2:].any()
    assert repr(soft).startswith("SoftEnsemble(n_objects=4, n_members=2, n_clusters=2..3, noise=2")


@given(ensembles())
def test_labels_are_memberships_of_0_and_1(ensemble):
    soft = SoftEnsemble(ensemble)
    assert soft.is_soft
    back = soft._crisp()
    assert not back.is_soft
    np.testing.assert_array_equal(back.labels, ensemble.labels)
    np.testing.assert_array_equal(soft.indicator().toarray(), ensemble.indicator().toarray())
    rows, inverse, counts = soft.signatures()
    wanted = ensemble.signatures()
    np.testing.assert_array_equal(inverse, wanted.inverse)
    np.testing.assert_array_equal(counts, wanted.counts)
    np.testing.assert_array_equal(rows.labels, wanted.ensemble.labels)


def test_clusters_that_nobody_is_in_are_left_out():
    soft = SoftEnsemble([[[0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]])
    assert soft.n_clusters.tolist() == [2]
    part = soft.take([0])
    assert part.n_clusters.tolist() == [1]


def test_rounded_rows_are_divided_by_their_sum_and_exact_ones_left_alone():
    soft = SoftEnsemble([[[0.33333, 0.66666], [0.4, 0.6]]])
    np.testing.assert_allclose(soft.memberships.sum(axis=1), 1.0, atol=1e-12)
    assert soft.memberships[1].tolist() == [0.4, 0.6]


def test_parts_sums_and_copies(soft):
    np.testing.assert_array_equal(soft[[1]].of_member(0), soft.of_member(1))
    assert soft[0].tolist() == [0, 1, 0, -1]
    both = soft + Ensemble([[0, 0, 1, 1]], index=list("wxyz"), names=["c"])
    assert both.is_soft
    assert both.names == ("a", "b", "c")
    other = Ensemble([[0, 0, 1, 1]], index=list("wxyz"), names=["c"]) + soft
    assert other.names == ("c", "a", "b")
    np.testing.assert_array_equal(Ensemble.concatenate([other]).memberships, other.memberships)
    again = pickle.loads(pickle.dumps(soft))
    np.testing.assert_array_equal(again.memberships, soft.memberships)
    np.testing.assert_array_equal(again.labels, soft.labels)
    renamed = SoftEnsemble([FIRST, FIRST[:, ::-1], SECOND])
    assert renamed.distinct_members().n_members == 2


def test_it_is_read_only(soft):
    with pytest.raises(ValueError, match="read-only"):
        soft.memberships[0, 0] = 1.0


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([[[0.5, -0.1], [0.5, 0.5]]], r"Member 0 has a negative membership, in row 0"),
        ([[[0.5, 0.4], [0.9, 0.5]]], r"sum to more than 1, in row 1: \[0.9, 0.5\].*Divide"),
        ([[[0.5, np.nan], [0.5, 0.5]]], r"NaN for some clusters"),
        ([[[0.5, np.inf], [0.5, 0.5]]], r"not finite"),
        ([[["a", "b"], ["c", "d"]]], r"Member 0 must be n_objects x clusters of numbers"),
        ([FIRST, FIRST[:2]], r"The members of a soft ensemble"),
        ([], r"at least one member"),
        (FIRST, r"Put a single matrix into a list"),
        ([np.zeros((0, 2))], r"at least one object"),
        ([np.zeros((3, 0))], r"Member 0 must be"),
    ],
)
def test_what_cannot_be_memberships_is_refused(members, message):
    with pytest.raises(InvalidInputError, match=message):
        SoftEnsemble(members)


@pytest.mark.parametrize(
    "call",
    [
        lambda soft: cs.consensus.levels(soft, np.zeros(4, int)),
        lambda soft: cs.consensus.choose_n_clusters(ensemble=soft),
        lambda soft: cs.compare.compare_methods(soft, ["sec", "kcc"], 2),
        lambda soft: cs.explain.profile(np.eye(4), np.array([0, 0, 1, 1]), ensemble=soft),
        lambda soft: cs.report.summarise_consensus(soft, [0, 0, 1, 1]),
        lambda soft: cs.consensus.combine_blocks(soft, 2),
        lambda soft: cs.AutoConsensus().fit(np.eye(4), ensemble=soft),
    ],
)
def test_nothing_takes_memberships_for_labels(soft, call):
    with pytest.raises(InvalidParameterError, match=r"must hold labels. Got a SoftEnsemble"):
        call(soft)


def test_what_takes_labels_only_says_so(soft):
    with pytest.raises(InvalidParameterError, match=r"twins must hold labels. Got a Soft.*harden"):
        twins(soft)
    assert twins(SoftEnsemble([[0, 0, 1]])).counts.tolist() == [2, 1]


def test_files_of_memberships(soft, tmp_path):
    pytest.importorskip("pandas")
    soft.save(tmp_path / "soft.npz")
    read = SoftEnsemble.load(tmp_path / "soft.npz")
    np.testing.assert_array_equal(read.memberships, soft.memberships)
    np.testing.assert_array_equal(read.labels, soft.labels)
    assert read.names == soft.names
    with pytest.raises(InvalidInputError, match=r"holds memberships.*SoftEnsemble.load"):
        Ensemble.load(tmp_path / "soft.npz")
    with pytest.raises(InvalidInputError, match=r"Memberships are stored as '.npz'"):
        soft.save(tmp_path / "soft.parquet")
    empty = SoftEnsemble([FIRST, [-1, -1, -1, None]])
    empty.save(tmp_path / "empty.npz")
    assert SoftEnsemble.load(tmp_path / "empty.npz").labels.tolist() == empty.labels.tolist()
    Ensemble([[0, 0, 1]]).save(tmp_path / "hard.npz")
    assert SoftEnsemble.load(tmp_path / "hard.npz").memberships.tolist() == [[1, 0], [1, 0], [0, 1]]
    assert read_labels(tmp_path / "soft.npz").is_soft


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
def test_columns_named_member_and_cluster_are_memberships(soft, tmp_path, ending):
    pytest.importorskip("pandas")
    path, frame = tmp_path / f"soft{ending}", soft.to_pandas()
    assert list(frame.columns) == ["a:0", "a:1", "b:0", "b:1", "b:2"]
    if ending == ".csv":
        frame.to_csv(path, index_label="id")
    else:
        pytest.importorskip("pyarrow")
        frame.reset_index(names="id").to_parquet(path)
    with pytest.warns(ConsilienceWarning, match=r"read as memberships by 2 members"):
        read = read_labels(path)
    np.testing.assert_array_equal(read.memberships, soft.memberships)
    np.testing.assert_array_equal(read.labels, soft.labels)
    assert read.names == ("a", "b")
    assert read.index.tolist() == list("wxyz")


def test_labels_in_columns_that_are_named_so_stay_labels(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("kmeans:2,kmeans:3\n0,2\n1,1\n1,0\n")
    assert not read_labels(path).is_soft
    path.write_text("kmeans:2,kmeans:3\n0.5,0.9\n1,0\n1,0\n")
    with pytest.raises(
        InvalidInputError, match=r"memberships in 'labels.csv': Member 0.*more than"
    ):
        read_labels(path)


def test_a_cluster_that_is_nobodys_most_likely_keeps_its_column():
    table = [[0.5, 0.3, 0.2], [0.1, 0.4, 0.5], [0.6, 0.3, 0.1]]
    soft = SoftEnsemble([table])
    assert soft.labels.T.tolist() == [[0, 2, 0]]
    assert soft.n_clusters.tolist() == [3]
    np.testing.assert_allclose(soft.of_member(0), table)


def test_the_limits_of_memberships_belong_to_them():
    over = 1.0 + 1e-4
    assert SoftEnsemble([[[over], [1.0]]]).memberships.tolist() == [[1.0], [1.0]]
    with pytest.raises(InvalidInputError, match="sum to more than 1, in row 0"):
        SoftEnsemble([[[np.nextafter(over, 2)], [1.0]]])
    # Noise must be more likely than any cluster; of equal clusters the first is taken.
    assert SoftEnsemble([[[0.5, 0.0], [0.25, 0.25], [0.4, 0.4]]]).labels.T.tolist() == [[0, -1, 0]]
    nobody = SoftEnsemble([FIRST, [None] * 4, [-1] * 4])
    assert nobody.n_clusters.tolist() == [2, 0, 0]
    assert nobody.labels.T.tolist() == [[0, 1, 0, -1], [-2] * 4, [-1] * 4]
    assert nobody[[1]].memberships.shape == (4, 0)


def test_rows_are_the_same_only_if_all_memberships_are():
    soft = SoftEnsemble([[[-0.0, 1.0], [0.0, 1.0], [1e-300, 1.0], [np.nan, np.nan], [0.0, 0.0]]])
    rows, inverse, counts = soft.signatures()
    assert inverse.tolist() == [0, 0, 1, 2, 3]
    assert counts.tolist() == [2, 1, 1, 1]
    np.testing.assert_array_equal(rows.of_member(0), soft.of_member(0)[[0, 2, 3, 4]])


@pytest.mark.parametrize("n", [3, 4, 5])
def test_copies_with_their_clusters_in_another_order_are_left_out(n):
    # Clusters that differ for one object only, whichever it is.
    for row in range(n):
        table = np.full((n, 3), 0.25)
        table[row] = [0.1, 0.2, 0.3]
        orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0]]
        soft = SoftEnsemble([*(table[:, order] for order in orders), table[::-1] / 2])
        assert soft.distinct_members().n_members == 2
        np.testing.assert_array_equal(soft.distinct_members().of_member(0), table)


def test_parts_keep_names_records_and_identifiers():
    records = [{"seed": 1}, {"seed": 2}, {"seed": 3}]
    whole = SoftEnsemble(
        [FIRST, SECOND, [0, 0, 1, 1]], index=list("wxyz"), names=["a", "b", "c"], records=records
    )
    part = whole[[2, 0]]
    assert (part.names, part.records) == (("c", "a"), (records[2], records[0]))
    np.testing.assert_array_equal(part.of_member(1), FIRST)
    np.testing.assert_array_equal(part.of_member(-2), whole.of_member(2))
    assert part.index.tolist() == list("wxyz")
    some = whole.take([3, 0])
    assert (some.names, some.records, some.index.tolist()) == (
        whole.names,
        whole.records,
        ["z", "w"],
    )
    np.testing.assert_array_equal(some.of_member(0), [[0.0, 0.0], [0.7, 0.3]])
    labels = whole.harden()
    assert (labels.names, labels.records) == (whole.names, whole.records)
    again = SoftEnsemble(labels)
    assert (again.names, again.records, again.index.tolist()) == (
        whole.names, whole.records, list("wxyz"),
    )  # fmt: skip
    other = SoftEnsemble(labels, index=[1, 2, 3, 4], names="xyz", records=[{}, {}, {}])
    assert (other.names, other.records, other.index.tolist()) == (
        ("x", "y", "z"), ({}, {}, {}), [1, 2, 3, 4],
    )  # fmt: skip
    joined = whole + whole
    assert joined.names == whole.names * 2
    assert joined.records == whole.records * 2
    rows = whole.signatures().ensemble
    assert (rows.names, rows.records, rows.index) == (whole.names, whole.records, None)
    for call in (lambda: 3 + whole, lambda: whole + 3):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(ValueError, match="read-only"):
        whole.index[0] = "q"


def test_frames_hold_every_membership_and_nan_where_nobody_looked(soft):
    polars, pandas = pytest.importorskip("polars"), pytest.importorskip("pandas")
    wanted = np.column_stack([FIRST, SECOND])
    names = ["a:0", "a:1", "b:0", "b:1", "b:2"]
    frame = soft.to_polars()
    assert isinstance(frame, polars.DataFrame)
    assert frame.columns == names
    np.testing.assert_array_equal(frame.to_numpy(), wanted)
    frame = soft.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert (frame.columns.tolist(), frame.index.tolist()) == (names, list("wxyz"))
    np.testing.assert_array_equal(frame.to_numpy(), wanted)
    assert SoftEnsemble([FIRST]).to_pandas().columns.tolist() == ["member_0:0", "member_0:1"]


def test_frames_and_sparse_matrices_are_members():
    sparse, pandas = pytest.importorskip("scipy.sparse"), pytest.importorskip("pandas")
    frame = pandas.DataFrame(FIRST, index=list("wxyz"))
    soft = SoftEnsemble([sparse.csr_array(FIRST), frame, pandas.Series([0, 0, 1, 1])])
    assert soft.index.tolist() == list("wxyz")
    assert soft.n_clusters.tolist() == [2, 2, 2]
    np.testing.assert_array_equal(soft.of_member(0), soft.of_member(1))
    assert SoftEnsemble([FIRST]).index is None


def test_files_of_labels_keep_what_goes_with_them(tmp_path):
    given = Ensemble([[0, 0, 1], [1, None, 1]], index=[5, 6, 7], names="ab", records=[{"k": 1}, {}])
    given.save(tmp_path / "hard.npz")
    read = SoftEnsemble.load(tmp_path / "hard.npz")
    assert (read.index.tolist(), read.names) == ([5, 6, 7], ("a", "b"))
    assert read.records == ({"k": 1}, {})
    np.testing.assert_array_equal(read.labels, given.labels)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"memberships": np.zeros((4, 4))}, "its parts do not fit together"),
        ({"memberships": np.zeros((3, 5))}, "its parts do not fit together"),
        ({"widths": np.array([5])}, "its parts do not fit together"),
        ({"memberships": np.full((4, 5), -0.5)}, "Member 0 has a negative membership, in row 0"),
        ({"memberships": np.full((4, 5), np.nan)}, "Member 0 has NaN"),
        (
            {"memberships": np.eye(4, 5, 1) + np.eye(4, 5, 2) * [0, 0, 0, 0.5, 0]},
            "Member 1 has memberships that sum to more than 1, in row 1",
        ),
    ],
)
def test_files_whose_memberships_cannot_be_are_refused(soft, tmp_path, changed, message):
    path = tmp_path / "soft.npz"
    soft.save(path)
    with np.load(path) as stored:
        parts = dict(stored)
    np.savez(path, **parts | changed)
    with pytest.raises(InvalidInputError, match=message):
        SoftEnsemble.load(path)


def test_rows_that_are_as_many_as_clusters_are_the_clusters():
    """Memberships of a row may be nearer to another row than two clusters are."""
    soft = SoftEnsemble([[[0.6, 0.4], [0.6, 0.4], [1, 0], [1, 0], [0, 1], [0, 1]]])
    for name in ("sec", "voting", "womc"):
        method = cs.consensus.CONSENSUS[name]
        assert method.run(soft, 3, random_state=0).labels.tolist() == [0, 0, 1, 1, 2, 2]
