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
