"""The ensemble: what goes in, what comes out, and that nothing changes it in between."""

import copy
import os
import pickle
import re
import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from strategies import ensembles, label_tables, member_major

from consilience import _ensemble_store
from consilience.ensemble import (
    NOISE,
    UNSEEN,
    Collapsed,
    Ensemble,
    _by_first_object,
    relabel,
)
from consilience.errors import ConsilienceError, InvalidInputError
from consilience.soft_ensemble import SoftEnsemble


def assert_same(left, right):
    np.testing.assert_array_equal(left.labels, right.labels)
    assert left.labels.dtype == right.labels.dtype
    assert left.names == right.names
    assert left.records == right.records
    if left.index is None or right.index is None:
        assert left.index is right.index
    else:
        np.testing.assert_array_equal(left.index, right.index)


@pytest.fixture
def described():
    """An ensemble with everything an ensemble can have."""
    return Ensemble(
        [[0, 0, 1, -1], [2, None, 0, 0], ["x", "x", "y", "z"]],
        index=["p", "q", "r", "s"],
        names=["first", "second", "third"],
        records=[{"seed": 1}, {"seed": 2, "k": [3, 4]}, {"seed": 3, "note": None}],
    )


# ---- what goes in -------------------------------------------------------------------------


@given(label_tables())
def test_clusters_of_a_member_are_dense_and_the_partition_stays(table):
    ensemble = Ensemble(table)
    for given_labels, member, k in zip(table.T, ensemble, ensemble.n_clusters, strict=True):
        np.testing.assert_array_equal(member, relabel(given_labels))
        assert set(member[member >= 0].tolist()) == set(range(k))
        np.testing.assert_array_equal(member < 0, given_labels < 0)
    assert ensemble.has_unseen == (table == UNSEEN).any()
    assert (ensemble.n_objects, ensemble.n_members) == table.shape
    assert len(ensemble) == table.shape[1]


@given(label_tables())
def test_every_container_gives_the_same_ensemble(table):
    wanted = Ensemble(table)
    hidden = np.ma.masked_equal(table, UNSEEN)
    columns = [[None if v == UNSEEN else int(v) for v in column] for column in table.T]
    names = [f"c{m}" for m in range(table.shape[1])]
    for form in (
        table.astype(np.int8),
        np.asfortranarray(table),
        table.astype(float),
        np.where(table == UNSEEN, np.nan, table),
        hidden,
        list(table.T),
        columns,
        tuple(columns),
        (column for column in columns),
        [np.array(column, object) for column in columns],
        pd.DataFrame(table),
        pd.DataFrame(dict(zip(names, columns, strict=True)), dtype="Int64"),
        pl.DataFrame(dict(zip(names, columns, strict=True)), schema=dict.fromkeys(names, pl.Int64)),
        wanted.labels,
        wanted,
    ):
        np.testing.assert_array_equal(Ensemble(form).labels, wanted.labels)


def test_labels_of_many_kinds_side_by_side():
    frame = pd.DataFrame(
        {
            "whole": pd.Series([4, -1, None], dtype="Int64"),
            "category": pd.Series(["v", None, "u"], dtype="category"),
            "text": pd.Series(["b", "a", None], dtype="string"),
            "object": [(1, 2), None, (3, 4)],
            "float": [1.0, np.nan, 0.0],
        }
    ).set_axis(["x", "y", "z"])
    ensemble = Ensemble(frame)
    wanted = [[0, -1, -2], [0, -2, 1], [0, 1, -2], [0, -2, 1], [1, -2, 0]]
    np.testing.assert_array_equal(ensemble.members, wanted)
    assert ensemble.names == tuple(frame.columns)
    assert ensemble.index.tolist() == ["x", "y", "z"]


def test_frames_keep_names_and_index_unless_others_are_given():
    frame = pd.DataFrame([[0, 1], [1, 1]], columns=[10, 20], index=[7, 8])
    assert Ensemble(frame).names == ("10", "20")
    assert Ensemble(frame).index.tolist() == [7, 8]
    assert Ensemble(frame, names=["a", "b"], index=[1, 2]).names == ("a", "b")
    assert Ensemble(pl.DataFrame({"u": ["a", None]})).names == ("u",)
    assert Ensemble(pl.DataFrame({"u": ["a", None]})).index is None
    twice = Ensemble(pd.DataFrame([[0, 1], [0, 0]], columns=["a", "a"]))
    assert twice.names == ("a", "a")
    np.testing.assert_array_equal(twice.members, [[0, 0], [1, 0]])


@pytest.mark.parametrize(
    ("n_clusters", "kind"), [(128, np.int8), (129, np.int16), (32768, np.int16), (32769, np.int32)]
)
def test_smallest_type(n_clusters, kind):
    ensemble = Ensemble([np.arange(n_clusters), np.zeros(n_clusters, int)])
    assert ensemble.labels.dtype == kind
    assert ensemble.n_clusters.tolist() == [n_clusters, 1]
    assert int(ensemble.labels.max()) == n_clusters - 1


def test_kernels_get_contiguous_rows_of_members():
    ensemble = Ensemble(np.random.default_rng(0).integers(0, 5, (30, 4)))
    for one in (ensemble, ensemble[[2, 0]], ensemble[1:], ensemble.take([3, 1])):
        assert one.members.flags.c_contiguous
        assert one.members.base is None or one.labels.base is not None
        assert one.signatures().ensemble.members.flags.c_contiguous


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([], "at least one object and one member. Got 0 objects and 0 members"),
        ([[]], "Got 0 objects and 1 members"),
        (np.zeros((0, 3)), "Got 0 objects and 3 members"),
        (np.zeros((3, 0)), "Got 0 objects and 0 members"),
        (np.zeros(3), r"n_objects x n_members, .*shape \(3,\) .*pass \[labels\]"),
        (np.zeros((2, 2, 2)), r"Got an array of shape \(2, 2, 2\)"),
        ([0, 1, 1], r"Got the single value 0 instead of a labeling.* pass \[labels\]"),
        (["ab", "cd"], "Got the single value 'ab'"),
        ("ab", "a list of labelings, or a frame. Got str instead"),
        (3, "Got int instead"),
        (None, "Got NoneType instead"),
        (pd.Series([0, 1]), "Got the single value 0"),
        (np.array([[0.5]]), r"labels of member 0 must be cluster labels.* Got 0\.5"),
        ([[0, 1], [0, 2.5]], r"labels of member 1 .* Got 2\.5 .* Pass data to a generator"),
        (np.array([[0, -3]]), "labels of member 1 must be at least 0, .* Got -3 .* Renumber"),
        ([[0, 1], [0, 1, 2]], "number 0 has 2 objects, number 1 has 3.* mark objects .* None"),
        ([[0, 1], [{}, 1]], r"labels of member 1 must be hashable .* Got \{\} of type dict"),
        ([[[0], [1]]], "must be hashable"),
        (np.array([[np.inf]]), "Got inf"),
    ],
)
def test_bad_labels_are_refused(labels, message):
    with pytest.raises(InvalidInputError, match=message):
        Ensemble(labels)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"index": [1]}, "index must have 3 entries, one for each object. Got 1 instead"),
        ({"names": ["a"]}, "names must have 2 entries, one for each member. Got 1 instead"),
        ({"records": [{}] * 3}, "records must have 2 entries, one for each member. Got 3"),
    ],
)
def test_descriptions_of_the_wrong_length_are_refused(keywords, message):
    with pytest.raises(InvalidInputError, match=message):
        Ensemble([[0, 1, 1], [0, 0, 1]], **keywords)


# ---- immutable ----------------------------------------------------------------------------


def test_nothing_can_be_written(described):
    for array in (described.labels, described.members, described[0], described.index):
        with pytest.raises(ValueError, match=r"read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        described.labels = described.labels
    with pytest.raises(AttributeError):
        described.names = ()


def test_it_shares_nothing_with_what_it_was_made_from():
    labels, index = np.array([[0, 1], [1, 1]], np.int8), np.array([5, 6])
    names = ["a", "b"]
    ensemble = Ensemble(labels, index=index, names=names)
    labels[:], index[:], names[0] = 0, 0, "z"
    np.testing.assert_array_equal(ensemble.labels, [[0, 0], [1, 0]])
    assert ensemble.index.tolist() == [5, 6]
    assert ensemble.names == ("a", "b")
    labels[0, 0] = 1  # and the caller's arrays stay writeable


@given(ensembles())
def test_pickles_and_copies(ensemble):
    for again in (pickle.loads(pickle.dumps(ensemble)), copy.copy(ensemble)):
        assert_same(again, ensemble)
        assert not again.labels.flags.writeable
        assert again.members.flags.c_contiguous


def test_pickle_keeps_descriptions(described):
    assert_same(pickle.loads(pickle.dumps(described)), described)
    assert_same(copy.deepcopy(described), described)


# ---- parts --------------------------------------------------------------------------------


def test_slicing_by_member(described):
    np.testing.assert_array_equal(described[1], [1, -2, 0, 0])
    np.testing.assert_array_equal(described[-1], described[2])
    np.testing.assert_array_equal(described[np.int64(1)], described[1])
    for key in ([2, 0], np.array([2, 0]), np.array([True, False, True]), slice(None, None, 2)):
        part = described[key]
        chosen = np.arange(3)[key]
        np.testing.assert_array_equal(part.members, described.members[chosen])
        assert part.names == tuple(described.names[m] for m in chosen)
        assert part.records == tuple(described.records[m] for m in chosen)
        assert part.index.tolist() == described.index.tolist()
    assert [m.tolist() for m in described] == described.members.tolist()
    for nothing in ([], slice(0, 0), np.zeros(3, bool)):
        with pytest.raises(InvalidInputError, match=r"at least one member; none was chosen"):
            described[nothing]
    with pytest.raises(IndexError):
        described[3]
    with pytest.raises(IndexError):
        described[[0, 9]]


def test_members_are_not_chosen_by_a_claim(described):
    soft = SoftEnsemble([np.eye(3), np.eye(3)])
    for key in (True, False, np.True_):
        for one in (described, soft):
            with pytest.raises(InvalidInputError, match="chosen by a number, a slice"):
                one[key]


def test_take_renumbers_clusters(described):
    part = described.take([3, 2])
    np.testing.assert_array_equal(part.members, [[-1, 0], [0, 0], [1, 0]])
    assert part.index.tolist() == ["s", "r"]
    assert part.names == described.names
    assert part.records == described.records
    np.testing.assert_array_equal(
        described.take(np.array([False, False, True, True])).labels, part.labels[::-1]
    )
    np.testing.assert_array_equal(described.take(slice(2, None)).labels, part.labels[::-1])
    assert described.take(1).n_objects == 1
    assert described.take([0, 0]).index.tolist() == ["p", "p"]
    with pytest.raises(InvalidInputError, match=r"at least one object; none was chosen"):
        described.take([])
    with pytest.raises(IndexError):
        described.take([4])


@given(ensembles(min_objects=2), st.data())
def test_take_keeps_who_is_with_whom(ensemble, data):
    chosen = data.draw(st.lists(st.integers(0, ensemble.n_objects - 1), min_size=1, max_size=6))
    part = ensemble.take(chosen)
    for member, whole in zip(part, ensemble, strict=True):
        np.testing.assert_array_equal(member, relabel(whole[chosen]))


def test_take_may_narrow_the_type():
    ensemble = Ensemble([np.arange(200)])
    assert ensemble.labels.dtype == np.int16
    assert ensemble.take(range(100)).labels.dtype == np.int8


def test_concatenation(described):
    wide = Ensemble([[500, 1, 2, 3]], index=list("pqrs"), names=["w"], records=[{}])
    many = Ensemble([np.arange(4)])
    both = described + wide
    assert both.n_members == 4
    np.testing.assert_array_equal(both.members, [*described.members, [3, 0, 1, 2]])
    assert both.names == (*described.names, "w")
    assert both.records == (*described.records, {})
    assert both.index.tolist() == list("pqrs")
    # What only some parts have is either safe to keep (index) or dropped (names, records).
    partly = Ensemble.concatenate([many, described])
    assert partly.names is None
    assert partly.records == ()
    assert partly.index.tolist() == list("pqrs")
    assert_same(Ensemble.concatenate([described]), described)


def test_concatenation_widens_the_type():
    narrow, wide = Ensemble([np.zeros(200, int)]), Ensemble([np.arange(200)])
    assert narrow.labels.dtype == np.int8
    both = narrow + wide
    assert both.labels.dtype == np.int16
    np.testing.assert_array_equal(both.members, [np.zeros(200), np.arange(200)])


def test_concatenation_errors(described):
    with pytest.raises(InvalidInputError, match=r"at least one ensemble. Got none"):
        Ensemble.concatenate([])
    with pytest.raises(InvalidInputError, match=r"number 0 has 4 objects, number 1 has 2"):
        described + Ensemble([[0, 1]])
    with pytest.raises(InvalidInputError, match=r"same index: .* with take\(\) first"):
        described + Ensemble([[0, 1, 1, 1]], index=list("qprs"))
    with pytest.raises(TypeError):
        _ = described + 3


# ---- views --------------------------------------------------------------------------------


@given(ensembles())
def test_indicator_equals_its_definition(ensemble):
    matrix = ensemble.indicator()
    columns = [
        (member == c)
        for member, k in zip(ensemble, ensemble.n_clusters, strict=True)
        for c in range(k)
    ]
    wanted = np.array(columns).reshape(len(columns), ensemble.n_objects).T
    np.testing.assert_array_equal(matrix.toarray(), wanted)
    assert matrix.dtype == np.uint8
    assert matrix.nnz == (ensemble.labels >= 0).sum()
    assert matrix.has_canonical_format
    offsets = ensemble.offsets()
    np.testing.assert_array_equal(np.diff(offsets), ensemble.n_clusters)
    assert offsets[-1] == matrix.shape[1]


@given(member_major())
def test_signatures_are_the_distinct_rows(members):
    ensemble = Ensemble(members.T)
    rows, inverse, counts = ensemble.signatures()
    np.testing.assert_array_equal(rows.labels[inverse], ensemble.labels)
    assert rows.n_objects == len({tuple(row) for row in ensemble.labels.tolist()})
    np.testing.assert_array_equal(counts, np.bincount(inverse))
    # Numbered by first appearance.
    assert list(dict.fromkeys(inverse.tolist())) == list(range(rows.n_objects))


def test_signatures_tell_noise_from_unseen():
    rows, inverse, counts = Ensemble([[0, NOISE, UNSEEN, NOISE, 0]]).signatures()
    assert inverse.tolist() == [0, 1, 2, 1, 0]
    assert counts.tolist() == [2, 2, 1]
    assert rows.members.tolist() == [[0, -1, -2]]


def test_counts_and_text(described):
    assert described.n_clusters.tolist() == [2, 2, 3]
    expected = "Ensemble(n_objects=4, n_members=3, n_clusters=2..3, noise=1, unseen=1)"
    assert repr(described) == expected
    nobody = Ensemble([[-1, -1], [-2, -2]])
    assert nobody.n_clusters.tolist() == [0, 0]
    assert nobody.indicator().shape == (2, 0)
    assert nobody.has_unseen


def test_frames_out(described):
    frame = described.to_pandas()
    assert frame.index.tolist() == list("pqrs")
    assert list(frame.columns) == list(described.names)
    np.testing.assert_array_equal(frame.to_numpy(), described.labels)
    assert_same(Ensemble(frame, records=described.records), described)
    table = described.to_polars()
    assert table.columns == list(described.names)
    np.testing.assert_array_equal(table.to_numpy(), described.labels)
    assert list(Ensemble([[0, 1]]).to_pandas().columns) == ["member_0"]


# ---- on disk ------------------------------------------------------------------------------


@pytest.fixture(params=[".npz", ".parquet"])
def path(request, tmp_path):
    return tmp_path / f"ensemble{request.param}"


def test_round_trip(described, path):
    described.save(path)
    assert_same(Ensemble.load(str(path)), described)
    assert os.listdir(path.parent) == [path.name]
    described[:1].save(path)
    assert Ensemble.load(path).n_members == 1


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
@given(ensembles())
def test_round_trip_of_any_labels(tmp_path_factory, suffix, ensemble):
    path = tmp_path_factory.mktemp("store") / f"any{suffix}"
    ensemble.save(path)
    assert_same(Ensemble.load(path), ensemble)


@pytest.mark.parametrize(
    ("index", "wanted"),
    [
        ([3, 1], [3, 1]),
        ([0.5, 2.0], [0.5, 2.0]),
        ([True, False], [True, False]),
        (["é", "b c"], ["é", "b c"]),
        (np.array(["u", "v"], object), ["u", "v"]),
        (np.array(["2020-01-01", "2021-02-03"], "datetime64[D]"), ["2020-01-01", "2021-02-03"]),
        (
            np.array(["2020-01-01", "2021-02-03"], "datetime64[ns]"),
            ["2020-01-01T00:00:00.000000000", "2021-02-03T00:00:00.000000000"],
        ),
    ],
)
def test_index_comes_back_as_numbers_or_text(index, wanted, path):
    Ensemble([[0, 1]], index=index).save(path)
    assert Ensemble.load(path).index.tolist() == wanted


@pytest.mark.parametrize("suffix", [".npz", ".parquet"])
def test_names_of_several_levels_come_back_as_text(tmp_path, suffix):
    index = pd.MultiIndex.from_tuples([(1, 2), (1, 3)])
    Ensemble([[0, 1], [0, 0]], index=index).save(tmp_path / f"ensemble{suffix}")
    again = Ensemble.load(tmp_path / f"ensemble{suffix}")
    assert again.index.tolist() == ["(1, 2)", "(1, 3)"]


def test_records_with_numpy_values(path):
    records = [{"seed": np.int64(3), "r": np.float64(0.5), "a": np.arange(2), "ok": np.True_}]
    Ensemble([[0, 1]], records=records).save(path)
    assert Ensemble.load(path).records == ({"seed": 3, "r": 0.5, "a": [0, 1], "ok": True},)


def test_damaged_files_are_refused(described, path):
    described.save(path)
    whole = path.read_bytes()
    for damaged in (b"", whole[:20], whole[: len(whole) // 2], whole[:-5], b"not an ensemble"):
        path.write_bytes(damaged)
        with pytest.raises(InvalidInputError, match=f"{path.name}.* damaged .* Write it again"):
            Ensemble.load(path)


def test_flipped_bits_are_noticed_or_harmless(path, seed):
    ensemble = Ensemble(np.random.default_rng(seed).integers(0, 20, (300, 5)))
    ensemble.save(path)
    whole = path.read_bytes()
    for position in np.random.default_rng(seed).integers(0, len(whole), 60):
        damaged = bytearray(whole)
        damaged[position] ^= 0x5A
        path.write_bytes(damaged)
        try:
            again = Ensemble.load(path)
        except ConsilienceError:
            continue
        np.testing.assert_array_equal(again.labels, ensemble.labels)


def test_files_of_others_are_refused(tmp_path):
    array = tmp_path / "array.npz"
    with array.open("wb") as file:
        np.save(file, np.arange(3))
    other = tmp_path / "other.npz"
    np.savez(other, x=np.arange(3))
    pickled = tmp_path / "pickled.npz"
    np.savez(pickled, members=np.array([{}], object), meta=np.array("{}"))
    frame = tmp_path / "frame.parquet"
    pd.DataFrame({"a": [1, 2]}).to_parquet(frame)
    bare = tmp_path / "bare.npz"
    np.savez(bare, members=np.zeros((1, 2), np.int8), meta=np.array("[]"))
    for path in (array, other, pickled, frame, bare):
        with pytest.raises(InvalidInputError, match=r"not an ensemble written by Ensemble.save"):
            Ensemble.load(path)


def test_a_newer_format_is_refused(described, path, monkeypatch):
    monkeypatch.setattr(_ensemble_store, "_FORMAT", 3)
    described.save(path)
    monkeypatch.undo()
    with pytest.raises(InvalidInputError, match=r"has format 3; .* reads up to 2"):
        Ensemble.load(path)


def test_paths_that_cannot_be(described, tmp_path):
    with pytest.raises(InvalidInputError, match=r"'.npz' or '.parquet'. Got the path .*x\.csv"):
        described.save(tmp_path / "x.csv")
    with pytest.raises(InvalidInputError, match=r"'.npz' or '.parquet'"):
        Ensemble.load(tmp_path / "x")
    with pytest.raises(FileNotFoundError, match=r"There is no file .*x\.npz"):
        Ensemble.load(tmp_path / "x.npz")
    with pytest.raises(FileNotFoundError, match=r"There is no folder .*nowhere.* Make it first"):
        described.save(tmp_path / "nowhere" / "x.npz")
    with pytest.raises(InvalidInputError, match=r"names must differ .* Choose others"):
        Ensemble([[0], [0]], names=["a", "a"]).save(tmp_path / "x.parquet")
    with pytest.raises(InvalidInputError, match=r"names must differ .* '__object__'"):
        Ensemble([[0]], names=["__object__"]).save(tmp_path / "x.parquet")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_a_failing_write_leaves_the_old_file_and_nothing_else(described, path, monkeypatch, error):
    described.save(path)
    before = path.read_bytes()

    def fail(ensemble, text, partial):
        partial.write_bytes(b"half of it")
        raise error

    monkeypatch.setattr(_ensemble_store, "_write_npz", fail)
    monkeypatch.setattr(_ensemble_store, "_write_parquet", fail)
    with pytest.raises(type(error)):
        described[:1].save(path)
    assert path.read_bytes() == before
    assert os.listdir(path.parent) == [path.name]
    path.unlink()
    with pytest.raises(type(error)):
        described.save(path)
    assert os.listdir(path.parent) == []


def test_records_that_cannot_be_stored_leave_nothing_behind(path):
    with pytest.raises(InvalidInputError, match=r"records must hold numbers.* of type object"):
        Ensemble([[0, 1]], records=[{"x": object()}]).save(path)
    assert os.listdir(path.parent) == []


@pytest.mark.skipif(os.name == "nt", reason="rights of files are a POSIX matter")
def test_saved_files_have_the_rights_of_plain_files(described, path):
    plain = path.with_suffix(".txt")
    plain.write_text("")
    described.save(path)
    assert path.stat().st_mode == plain.stat().st_mode


def test_members_are_narrow_while_an_ensemble_is_made():
    # As codes of eight bytes, 100 members of two million objects took 1.6 GB on the way.
    members = np.random.default_rng(0).integers(0, 5, (100, 20_000), np.int8)
    tracemalloc.start()
    ensemble = Ensemble(list(members))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert ensemble.members.dtype == np.int8
    assert peak < 3 * members.nbytes


def test_identifiers_cannot_be_changed_in_place():
    ids = np.array([1, 2, 3])
    ensemble = Ensemble([[0, 0, 1]], index=ids)
    with pytest.raises(ValueError, match="read-only"):
        ensemble.index[0] = 9
    ids[0] = 9
    assert ensemble.index.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("labels", "wanted"),
    [
        ([3, 0, 3, 1], [0, 1, 0, 2]),
        ([-1, 0, 2], [-1, 0, 1]),
        ([-2, -1, 7, 0, 7], [-2, -1, 0, 1, 0]),
    ],
)
def test_clusters_are_renumbered_as_they_appear_beside_noise_and_unseen(labels, wanted):
    assert _by_first_object(np.array(labels, np.int32)).tolist() == wanted


def test_copies_are_found_beside_noise_and_whatever_their_clusters_are_called():
    renamed = Ensemble([[1, 0, 0], [0, 1, 1], [0, 0, 1], [1, 1, 0]]).distinct_members()
    assert renamed.members.tolist() == [[1, 0, 0], [0, 0, 1]]
    noise = Ensemble([[0, 0], [NOISE, 0], [UNSEEN, 0], [NOISE, NOISE]])
    assert noise.distinct_members().members.tolist() == noise.members.tolist()


@given(ensembles())
def test_no_copy_is_kept_and_nothing_else_is_lost(ensemble):
    def partition(labels):
        groups = (np.flatnonzero(labels == c).tolist() for c in set(labels[labels >= 0].tolist()))
        return sorted(groups), (labels == NOISE).tolist()

    kept = [partition(labels) for labels in ensemble.distinct_members()]
    wanted = []
    for labels in ensemble:
        if partition(labels) not in wanted:
            wanted.append(partition(labels))
    assert kept == wanted


@pytest.mark.parametrize("labels", [[[0, 1, 2]], [[0, 1, 1]]], ids=["all differ", "two alike"])
def test_signatures_keep_members_as_they_are_named_and_no_identifiers(labels):
    given_ = Ensemble(labels, index=list("xyz"), names=["m"], records=[{"seed": 1}])
    rows = given_.signatures().ensemble
    assert (rows.names, rows.records, rows.index) == (("m",), ({"seed": 1},), None)
    assert not Ensemble(labels).signatures().ensemble.is_soft


@pytest.fixture
def collapsed():
    rows = Ensemble([[0, 1, 1], [0, 0, 1]], names=["a", "b"], records=[{"seed": 1}, {"seed": 2}])
    return Collapsed._of(rows, np.array([5, 2, 4]))


@pytest.mark.parametrize(
    "again", [copy.copy, copy.deepcopy, lambda rows: pickle.loads(pickle.dumps(rows))]
)
def test_rows_for_many_objects_are_copied_and_sent_with_their_counts(collapsed, again):
    same = again(collapsed)
    assert type(same) is Collapsed
    assert_same(same, collapsed)
    assert same.counts.tolist() == [5, 2, 4]
    assert same.signatures().counts.tolist() == [5, 2, 4]


def test_parts_of_rows_for_many_objects_stand_for_as_many(collapsed):
    part = collapsed.take([2, 0])
    assert (type(part), part.counts.tolist()) == (Collapsed, [4, 5])
    assert part.members.tolist() == [[1, 0], [1, 0]]
    assert collapsed.take([True, False, True]).counts.tolist() == [5, 4]
    one = collapsed[[1]]
    assert (type(one), one.names, one.records) == (Collapsed, ("b",), ({"seed": 2},))
    assert one.signatures().counts.tolist() == [7, 4]
    assert collapsed[0].tolist() == [0, 1, 1]


def test_choices_of_more_than_one_dimension_or_of_nothing_are_refused(described):
    for call, noun in ((described.take, "object"), (described.__getitem__, "member")):
        with pytest.raises(InvalidInputError, match=rf"^{noun.capitalize()}s are .*shape \(1, 2\)"):
            call([[0, 1]])
        with pytest.raises(InvalidInputError, match=f"needs at least one {noun}; none was chosen"):
            call([])


def test_a_file_is_read_without_running_what_somebody_put_into_it(tmp_path):
    path, mark = tmp_path / "e.npz", tmp_path / "ran"

    class Trap:
        def __reduce__(self):
            return os.mkdir, (str(mark),)

    Ensemble([[0, 1]], index=["x", "y"]).save(path)
    with np.load(path) as stored:
        parts = dict(stored)
    np.savez(path, **parts | {"index": np.array([Trap(), 1], object)})
    with pytest.raises(InvalidInputError, match="Write it again"):
        Ensemble.load(path)
    assert not mark.exists()


@pytest.mark.parametrize("part", ["labels", "index", "name of the index"])
def test_no_changed_bit_of_a_parquet_file_goes_unnoticed(tmp_path, part):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "e.parquet"
    wanted = Ensemble([np.arange(300) % 7], index=np.arange(300))
    wanted.save(path)
    whole, refused = path.read_bytes(), 0
    chunk = parquet.read_metadata(path).row_group(0).column(part != "labels")
    start = chunk.dictionary_page_offset
    places = list(range(start, start + chunk.total_compressed_size, 7))
    if part == "name of the index":  # stands in more than one place
        names = re.finditer(b"__object__", whole)
        places = [at for name in names for at in range(*name.span())]
    for at in places:
        changed = bytearray(whole)
        changed[at] ^= 0x01
        path.write_bytes(changed)
        try:
            back = Ensemble.load(path)
        except InvalidInputError:
            refused += 1
        else:  # what nobody reads may be damaged
            np.testing.assert_array_equal(back.labels, wanted.labels)
            np.testing.assert_array_equal(back.index, wanted.index)
    assert refused > len(places) // 4
