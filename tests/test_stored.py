"""Tables that are not in memory: the same numbers, block by block, whatever holds them."""

import asyncio
import concurrent.futures
import pickle
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import consilience as cs
from consilience._stored import _table, open_stored, piece_rows
from consilience.datasets import open_rows
from consilience.errors import ClusterLostError, InvalidInputError
from consilience.kernels._blocks import BLOCK_ROWS
from consilience.rows import Rows, rows_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(9000, 3))


@pytest.fixture(params=["npy", "parquet", "folder", "zarr", "memmap"])
def store(request, tmp_path):
    """A function that stores a table in one of the forms, and says what to open."""

    def put(values):
        path = tmp_path / f"x{len(list(tmp_path.iterdir()))}"
        if request.param == "zarr":
            zarr = pytest.importorskip("zarr")
            array = zarr.open(
                f"{path}.zarr", mode="w", shape=values.shape, chunks=(1000, 2), dtype=values.dtype
            )
            array[:] = values
            return f"{path}.zarr"
        if request.param in ("npy", "memmap"):
            np.save(f"{path}.npy", values)
            return (
                f"{path}.npy" if request.param == "npy" else np.load(f"{path}.npy", mmap_mode="r")
            )
        if request.param == "parquet":
            return write_parquet(path.with_suffix(".parquet"), values, 700)
        path.mkdir()
        for part, rows in enumerate(np.array_split(values, [10, 10, 5000])):
            write_parquet(path / f"part-{part}.parquet", rows, 3000)
        return path

    return put


def write_parquet(path, values, rows):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    table = pa.table({f"c{j}": values[:, j] for j in range(values.shape[1])})
    pq.write_table(table, path, row_group_size=rows)
    return path


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int16, bool])
def test_a_stored_table_is_the_table(store, kind, monkeypatch):
    values = (X > 0) if kind is bool else (10 * X).astype(kind)
    monkeypatch.setattr(_table, "BLOCK", 3 * BLOCK_ROWS)
    rows = open_rows(store(values))
    wanted = values if kind == np.float32 else values.astype(float)
    assert (rows.shape, rows.dtype, rows.is_stored) == (values.shape, wanted.dtype, True)
    for size in (4096, 5000, 10_000):
        blocks = list(rows.blocks(size))
        assert [start for start, _ in blocks] == list(range(0, len(X), size))
        assert all(block.flags.c_contiguous and block.dtype == rows.dtype for _, block in blocks)
        np.testing.assert_array_equal(np.concatenate([block for _, block in blocks]), wanted)
    chosen = np.array([8999, 0, 4095, 4096, 0])
    taken = rows.take(chosen)
    assert not taken.is_stored
    np.testing.assert_array_equal(taken.values, wanted[chosen])
    odd = np.arange(len(X)) % 2 == 1
    np.testing.assert_array_equal(rows.take(odd).values, wanted[odd])
    assert rows.values.pieces() == [(0, 4096), (4096, 8192), (8192, 9000)]


def test_rows_are_chosen_as_those_of_an_array(store):
    rows = open_rows(store(X))
    for wish in ([-1], [-9000, 8999], [], X[:, 0] > 0, np.array([3, -3], np.int8)):
        chosen = np.asarray(wish) if len(wish) else np.arange(0)
        np.testing.assert_array_equal(rows.take(wish).values, X[chosen])
        np.testing.assert_array_equal(rows.values.mapped(np.negative)[wish], -X[chosen])
    for some in (
        slice(None, None, 1000),
        slice(100, 50),
        slice(8000, None, -2500),
        slice(-3, None),
    ):
        np.testing.assert_array_equal(rows.values[some], X[some])
    for wish in ([9000], [-9001]):
        with pytest.raises(InvalidInputError, match=rf"has 9000 rows.* Got the number {wish[0]}"):
            rows.take(wish)
    for wish in (np.ones(5, bool), [0.5], [[1]]):
        with pytest.raises(InvalidInputError, match="a mask with one value for each of the 9000"):
            rows.take(wish)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return open_stored(write_parquet(tmp_path_factory.mktemp("file") / "x.parquet", X, 1234))


@given(
    wishes=st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 2000)), min_size=1, max_size=8)
)
def test_any_order_of_reading_gives_the_same_rows(file, wishes):
    for start, size in wishes:
        stop = min(start + size, len(X))
        np.testing.assert_array_equal(file.read(start, stop), X[start:stop])


def test_pieces_are_nodes_of_the_tree_of_blocks():
    for n_columns in (0, 1, 3, 10, 1000, 10**6):
        blocks, rest = divmod(piece_rows(n_columns), BLOCK_ROWS)
        assert rest == 0
        assert blocks & (blocks - 1) == 0
        assert blocks == 1 or blocks * BLOCK_ROWS * n_columns <= _table.BLOCK


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_named_by_block_and_row(store, odd):
    broken = X.copy()
    broken[7311, 1] = odd
    rows = open_rows(store(broken))
    message = rf"Got {odd} in row 7311, column '?c?1'? \((block|row group) \d+ of .*counted from 0"
    with pytest.raises(InvalidInputError, match=message):
        list(rows.blocks(4096))
    with pytest.raises(InvalidInputError, match=message):
        rows.take([3, 7311])


def test_large_numbers_are_finite(store):
    # Their sum is not.
    rows = open_rows(store(np.full((100, 2), 1e308)))
    assert rows.take([5]).values.tolist() == [[1e308, 1e308]]


def test_a_missing_number_of_a_file_is_refused_with_its_row(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    cells = pa.array([1, 2, None, 4], pa.int32())
    pq.write_table(pa.table({"a": cells, "b": [1.0, 2, 3, 4]}), tmp_path / "x.parquet")
    with pytest.raises(
        InvalidInputError, match=r"Got nan in row 2, column 'a' \(row group 0 of 'x"
    ):
        list(open_rows(tmp_path / "x.parquet").blocks(4))


def test_blocks_of_other_columns_or_types_are_refused_with_their_row():
    class Lying(SimpleNamespace):
        def __getitem__(self, rows):
            return self.give(rows)

    def opened(give):
        return open_rows(Lying(shape=(10, 2), dtype=np.dtype(float), give=give)).values

    with pytest.raises(InvalidInputError, match=r"at row 4 \(block 0 .*: it holds 2 rows of 3 col"):
        opened(lambda rows: np.zeros((2, 3))).read(4, 6)
    with pytest.raises(InvalidInputError, match=r"at row 4 .*it holds values of type <U1, not num"):
        opened(lambda rows: np.full((2, 2), "a")).read(4, 6)
    with pytest.raises(InvalidInputError, match=r"at row 4 .*inhomogeneous"):
        opened(lambda rows: [[1], [2, 3]]).read(4, 6)


def test_files_that_cannot_be_used_are_refused(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    with pytest.raises(FileNotFoundError, match="There is no file or folder"):
        open_rows(tmp_path / "no.npy")
    (tmp_path / "x.xls").write_text("a,b\n1,2\n")
    with pytest.raises(InvalidInputError, match=r"'x.xls' cannot be read block by block.*Parquet"):
        open_rows(tmp_path / "x.xls")
    (tmp_path / "x.npy").write_bytes(b"nothing")
    with pytest.raises(InvalidInputError, match=r"'x.npy' is damaged"):
        open_rows(tmp_path / "x.npy")
    (tmp_path / "bad.parquet").write_bytes(b"nothing")
    with pytest.raises(InvalidInputError, match=r"'bad.parquet' is damaged"):
        open_rows(tmp_path / "bad.parquet")
    np.save(tmp_path / "flat.npy", np.zeros(3))
    with pytest.raises(InvalidInputError, match="two dimensions"):
        open_rows(tmp_path / "flat.npy")
    folder = tmp_path / "parts"
    folder.mkdir()
    with pytest.raises(InvalidInputError, match=r"folder must hold '.parquet' files"):
        open_rows(folder)
    pq.write_table(pa.table({"a": [1.0], "b": [1.0]}), folder / "1.parquet")
    pq.write_table(pa.table({"b": [1.0], "a": [1.0]}), folder / "2.parquet")
    with pytest.raises(InvalidInputError, match=r"same columns.*'2.parquet' has 'b' and 'a'"):
        open_rows(folder)
    pq.write_table(pa.table({"a": [1.0], "b": ["x"]}), folder / "2.parquet")
    with pytest.raises(
        InvalidInputError, match=r"columns of '2.parquet' must hold numbers.*'b' doe"
    ):
        open_rows(folder)
    with pytest.raises(InvalidInputError, match=r"open_rows takes a path.*Got ndarray"):
        open_rows(X)
    with pytest.raises(InvalidInputError, match="must hold numbers"):
        open_rows(np.zeros((3, 2), complex).view(np.memmap))


def test_a_damaged_page_is_refused_with_its_row(tmp_path):
    """The end of a Parquet file, which says what is in it, may be whole where a page is not."""
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "x.parquet"
    pq.write_table(pa.table({"a": np.arange(50.0), "b": np.ones(50)}), path)
    whole = path.read_bytes()
    for at in range(4, 40):
        path.write_bytes(whole[:at] + b"\xff" + whole[at + 1 :])
        rows = open_rows(path)
        try:
            rows.take(np.arange(50))
        except InvalidInputError as error:
            assert "'x.parquet' " in str(error)  # noqa: PT017
    path.write_bytes(whole[:4] + bytes(30) + whole[34:])
    with pytest.raises(InvalidInputError, match=r"'x.parquet' cannot be read at row 0 \(row group"):
        open_rows(path).take(np.arange(50))


def test_a_damaged_page_is_refused_with_its_file_and_row_group(tmp_path):
    pytest.importorskip("pyarrow")
    for part in range(3):
        write_parquet(tmp_path / f"{part}.parquet", X[1000 * part : 1000 * (part + 1)], 200)
    whole = (tmp_path / "1.parquet").read_bytes()
    at = len(whole) // 2
    (tmp_path / "1.parquet").write_bytes(whole[:at] + b"\xff" * 2000 + whole[at + 2000 :])
    table = open_rows(tmp_path).values
    with pytest.raises(InvalidInputError, match=r"at row 1[46]00 \(row group [23] of '1.parquet'"):
        table.read(0, 3000)
    assert table.read(0, 1000).shape == table.read(2000, 3000).shape == (1000, 3)


def test_a_file_is_found_from_another_folder(store, tmp_path, monkeypatch):
    path = store(X)
    monkeypatch.chdir(tmp_path)
    if isinstance(path, np.memmap):
        pytest.skip("it is sent as it is")
    sent = pickle.dumps(open_stored(Path(path).name))
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path / "other")
    np.testing.assert_array_equal(pickle.loads(sent).read(0, 9000), X)


def test_a_file_with_fewer_rows_than_it_says_is_refused(tmp_path, monkeypatch):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": np.arange(5.0)}), tmp_path / "x.parquet")
    rows = open_rows(tmp_path / "x.parquet").values
    monkeypatch.setattr(rows, "_batches", lambda group: iter([np.zeros((3, 1))]))
    with pytest.raises(InvalidInputError, match=r"at row 0 .*fewer rows than it says"):
        rows.read(0, 5)
    with pytest.raises(InvalidInputError, match=r"at row 4 .*fewer rows than it says"):
        rows.read(4, 5)


def test_a_damaged_chunk_is_refused_with_its_row(tmp_path):
    zarr = pytest.importorskip("zarr")
    made = zarr.open(str(tmp_path / "x.zarr"), mode="w", shape=(20, 2), chunks=(10, 2), dtype="f8")
    made[:] = 1.5
    chunks = [p for p in (tmp_path / "x.zarr").rglob("*") if p.is_file() and "json" not in p.name]
    chunks.sort()
    chunks[-1].write_bytes(b"nothing")
    rows = open_rows(tmp_path / "x.zarr")
    assert rows.values.read(0, 10).sum() == 30
    with pytest.raises(InvalidInputError, match=r"'x.zarr' cannot be read at row 10 \(block 1"):
        rows.values.read(10, 20)


def test_a_lost_cluster_is_no_damaged_table(store, monkeypatch):
    table = open_stored(store(X))

    def lost(start, stop):
        raise ClusterLostError("gone")

    monkeypatch.setattr(table.base, "_read", lost)
    with pytest.raises(ClusterLostError, match="gone"):
        table.read(0, 2)


def test_a_view_is_made_when_rows_are_read(store):
    table = open_stored(store(X))
    twice = table.mapped(lambda block: 2.0 * block[:, :2], 2)
    assert (twice.shape, twice.pieces()) == ((9000, 2), table.pieces())
    np.testing.assert_array_equal(twice.read(100, 200), 2.0 * X[100:200, :2])
    np.testing.assert_array_equal(twice.take([5, 1]), 2.0 * X[[5, 1], :2])
    with pytest.raises(InvalidInputError, match="Got inf in row 0"):
        table.mapped(lambda block: np.full(block.shape, np.inf)).read(0, 5)


def test_an_open_file_can_be_sent_to_another_process(tmp_path):
    table = open_stored(write_parquet(tmp_path / "x.parquet", X, 700))
    table.read(0, 800)
    again = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(again.read(800, 900), X[800:900])


def test_rows_that_are_not_in_memory_pass_where_they_may(store):
    rows = open_rows(store(X))
    assert rows_of(rows, owner="test", allow_stored=True) is rows
    with pytest.raises(InvalidInputError, match=r"EAC needs its data in memory.*rows.take\(obj"):
        cs.EAC(2).fit(rows)
    with pytest.raises(InvalidInputError, match="test needs at least 9001 rows"):
        rows_of(rows, owner="test", allow_stored=True, min_objects=9001)
    assert isinstance(rows_of(rows.take([1, 2]), owner="test"), Rows)


def test_pieces_hold_as_many_numbers_as_may_be_read_together():
    for n_columns, wanted in ((0, 22), (1, 22), (2, 21), (3, 20), (4, 20), (512, 13), (513, 12)):
        assert piece_rows(n_columns) == 2**wanted


def test_a_table_says_what_it_is(store):
    table = open_stored(store(X))
    kind = "Parquet" if ".parquet" in table.what or table.names else "Sliced"
    assert repr(table) == f"{kind}({table.what}, 9000 x 3)"
    assert repr(table.mapped(np.negative)) == f"Mapped({table.what}, 9000 x 3)"


def test_a_view_of_other_columns_is_read_and_named_as_such(store):
    table = open_stored(store(X))
    view = table.mapped(lambda block: block[:, :1], 1, names=("z",), dtype=np.float32)
    assert (view.shape, view.dtype, view.names, len(view)) == ((9000, 1), np.float32, ("z",), 9000)
    assert (view.read(3, 5).dtype, view.take([3]).dtype) == (np.float32, np.float32)
    assert view.where(8999) == table.where(8999)
    assert view.base is table.base is table
    values = np.arange(9000)
    assert view.in_its_blocks(values) is values
    odd = table.mapped(
        lambda block: np.where(block == X[5, 1], np.nan, block), names=("p", "q", "r")
    )
    with pytest.raises(InvalidInputError, match=r"Got nan in row 5, column 'q' \("):
        odd.read(2, 9)


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(), "OSError"),
        (ValueError("one.\ntwo"), "one"),
        (RuntimeError("a codec is missing"), "a codec is missing"),
        (EOFError("...no more..."), "...no more"),
    ],
)
def test_what_cannot_be_read_is_said_in_one_sentence(error, why):
    class Broken(SimpleNamespace):
        def __getitem__(self, rows):
            raise error

    table = open_rows(Broken(shape=(10, 2), dtype=np.dtype(float), chunks=(4, 2))).values
    with pytest.raises(InvalidInputError) as caught:
        table.read(5, 6)
    where = "block 1 of 4 rows; counted from 0"
    assert str(caught.value) == f"X cannot be read at row 5 ({where}): {why}."


def test_a_file_is_sent_by_its_name_and_opened_where_it_is_read(store, tmp_path):
    path = store(np.asfortranarray(X))
    table = open_stored(path)
    table.read(0, 10)
    sent = pickle.dumps(table)
    again = pickle.loads(sent)
    assert (again.shape, again.dtype, again.names) == (table.shape, table.dtype, table.names)
    np.testing.assert_array_equal(again.read(5, 900), X[5:900])
    np.testing.assert_array_equal(again.read(0, 9000), X)
    if isinstance(path, np.memmap):
        return  # whose file is not known: its numbers are sent
    assert len(sent) < 5000
    for kept in (
        sorted(Path(path).rglob("*"), reverse=True) if Path(path).is_dir() else [Path(path)]
    ):
        kept.rmdir() if kept.is_dir() else kept.unlink()
    with pytest.raises((InvalidInputError, FileNotFoundError)):
        pickle.loads(sent).read(0, 5)


def test_a_pickle_that_is_called_an_array_is_not_run(tmp_path):
    mark = tmp_path / "ran"

    class Trap:
        def __reduce__(self):
            return Path.mkdir, (mark,)

    (tmp_path / "x.npy").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(InvalidInputError, match=r"'x.npy' is damaged, or no array of num"):
        open_rows(tmp_path / "x.npy")
    assert not mark.exists()


def test_what_is_in_memory_or_no_table_need_not_be_opened():
    sparse = pytest.importorskip("scipy.sparse")
    table = SimpleNamespace(shape=(3, 2), dtype=np.dtype(float))  # which hands out nothing
    for data in (sparse.csr_array(X[:3]), table, SimpleNamespace(shape=(3, 2)), X[:3].tolist(), 3):
        with pytest.raises(InvalidInputError, match="Data in memory need not be opened"):
            open_rows(data)


def test_columns_that_have_no_names_cannot_be_left_out(tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for data, what in ((tmp_path / "x.npy", "'x.npy'"), (mapped, "X")):
        message = f"^{what} has no names of columns, and 'a' and 'b' cannot be left out.$"
        with pytest.raises(InvalidInputError, match=message):
            open_rows(data, ignore=["a", "b"])


def test_columns_of_files_are_left_out_by_name(tmp_path):
    path = write_parquet(tmp_path / "x.PARQUET", X, 700)
    rows = open_rows(path, ignore="c1")
    assert rows.names == ("c0", "c2")
    np.testing.assert_array_equal(rows.take([8999, 0]).values, X[[8999, 0]][:, [0, 2]])
    message = (
        r"^'x.PARQUET' has no column 'z' to be left out. Its columns are 'c0', 'c1' and 'c2'.$"
    )
    with pytest.raises(InvalidInputError, match=message):
        open_rows(path, ignore=["c0", "z"])


def test_after_a_read_that_failed_the_next_one_begins_anew(tmp_path):
    table = open_rows(write_parquet(tmp_path / "x.parquet", X[:50], 20)).values
    for start in (0, 30):
        with pytest.raises(InvalidInputError, match=f"at row {start} .*fewer rows than it says"):
            table.read(start, 60)
        np.testing.assert_array_equal(table.read(start, 50), X[start:50])


def test_a_page_that_cannot_be_read_for_a_moment_is_told_by_its_row(tmp_path, monkeypatch):
    table = open_rows(write_parquet(tmp_path / "x.parquet", X[:50], 20)).values
    batches = table._batches

    def once(group, **how):
        monkeypatch.setattr(table, "_batches", batches)
        yield from ()
        raise OSError("the network is away")

    monkeypatch.setattr(table, "_batches", once)
    with pytest.raises(InvalidInputError, match=r"row 20 \(row group 1 of 'x.*network is away"):
        table.read(20, 30)
    np.testing.assert_array_equal(table.read(20, 30), X[20:30])


@pytest.mark.parametrize("group", [0, 1, 3])
def test_the_row_group_that_is_damaged_is_named(tmp_path, group):
    parquet = pytest.importorskip("pyarrow.parquet")
    path = write_parquet(tmp_path / "x.parquet", X[:80], 20)
    chunk = parquet.read_metadata(path).row_group(group).column(1)
    first = chunk.dictionary_page_offset or chunk.data_page_offset
    whole = bytearray(path.read_bytes())
    whole[first : first + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    path.write_bytes(whole)
    message = rf"at row {20 * group} \(row group {group} of 'x.parquet'"
    with pytest.raises(InvalidInputError, match=message):
        open_rows(path).values.read(0, 80)
    sound = [g for g in range(4) if g != group]
    table = open_rows(path).values
    for g in sound:
        assert [table.where(row) for row in (20 * g, 20 * g + 19)] == [
            f"row group {g} of 'x.parquet'"
        ] * 2


@pytest.fixture
def blocks():
    da = pytest.importorskip("dask.array")
    return da.from_array(X[:90], chunks=((30, 0, 40, 20), (1, 2)))


def test_every_row_of_dask_lies_in_a_block(blocks):
    table = open_rows(blocks).values
    found = [table.where(row) for row in (0, 29, 30, 69, 70, 89)]
    assert found == [f"block {number}" for number in (0, 0, 2, 2, 3, 3)]
    np.testing.assert_array_equal(table.read(25, 75), X[25:75])
    np.testing.assert_array_equal(table.take([80, 0, 80]), X[[80, 0, 80]])
    for one in (table, table.mapped(np.negative)):
        values = one.in_its_blocks(np.arange(90))
        assert values.chunks == ((30, 0, 40, 20),)
        assert values.compute().tolist() == list(range(90))


@pytest.mark.parametrize(("row", "block"), [(0, 0), (30, 2), (89, 3)])
def test_a_number_of_dask_that_is_not_finite_is_told_by_block_and_row(blocks, row, block):
    broken = X[:90].copy()
    broken[row, 1] = np.inf
    table = open_rows(blocks * 0 + broken).values
    message = rf"Got inf in row {row}, column 1 \(block {block}; counted from 0\)"
    for call in (lambda: table.take([5, row, 7]), lambda: table.read(row, row + 1)):
        with pytest.raises(InvalidInputError, match=message):
            call()


@pytest.mark.parametrize(
    ("lie", "said"),
    [
        (lambda block: block[1:], r"39 rows of (1|2) columns where 40 rows of \1 columns were"),
        (lambda block: block.astype(str), r"values of type <U32, not numbers"),
        (lambda block: block[0], r"the shape \(\d,\) where 40 rows of \d columns were expected"),
    ],
)
def test_a_block_of_dask_that_is_another_than_it_says_is_told(blocks, lie, said):
    one = blocks.map_blocks(
        lambda block: lie(block) if len(block) == 40 else block, dtype=float, meta=blocks._meta
    )
    table = open_rows(one).values
    np.testing.assert_array_equal(table.read(0, 30), X[:30])
    message = rf"^X cannot be read at row 30 \(block 2; counted from 0\): it holds {said}"
    with pytest.raises(InvalidInputError, match=message):
        table.read(30, 70)


@pytest.mark.parametrize("status", [None, "running", "closed"])
def test_an_error_of_a_task_is_passed_on_and_a_lost_cluster_is_told(blocks, status, monkeypatch):
    da, distributed = pytest.importorskip("dask.array"), pytest.importorskip("distributed")

    def client():
        if status is None:
            raise ValueError("No clients found")
        return SimpleNamespace(status=status)

    def fail(self, **how):
        raise OSError("away")

    table = open_rows(blocks).values
    monkeypatch.setattr(distributed, "default_client", client)
    monkeypatch.setattr(da.Array, "compute", fail)
    lost = status == "closed"
    with pytest.raises(ClusterLostError if lost else OSError, match="away") as caught:
        table.take([0])
    assert isinstance(caught.value, ClusterLostError) == lost
    monkeypatch.delitem(sys.modules, "distributed")  # then nobody has a client
    with pytest.raises(OSError, match=r"^away$"):
        table.take([0])


def test_work_of_dask_that_was_called_off_is_a_lost_cluster(blocks, monkeypatch):
    da = pytest.importorskip("dask.array")
    table, asked = open_rows(blocks).values, []

    def compute(self, **how):
        asked.append(how)
        if not how:
            raise errors.pop(0)
        return np.zeros(self.shape)

    monkeypatch.setattr(da.Array, "compute", compute)
    errors = [concurrent.futures.CancelledError("gone"), asyncio.CancelledError("gone")]
    for _ in range(2):
        with pytest.raises(
            ClusterLostError, match=r"^The Dask cluster was lost \(gone\). Start it"
        ):
            table.take([0])
    errors = [RuntimeError("a defect")]
    with pytest.raises(RuntimeError, match="a defect"):
        table.take([0])
    errors = [RuntimeError("no Client active here")]
    assert table.take([0]).tolist() == [[0, 0, 0]]
    assert asked[-1] == {"scheduler": "threads"}


@pytest.mark.parametrize("n", [0, 5])
def test_a_file_is_read_by_workers_as_by_one(n, tmp_path):
    pytest.importorskip("dask.array")
    path = write_parquet(tmp_path / "x.parquet", X[:n], 3)
    rows = open_rows(path, on_workers=True)
    assert (rows.shape, rows.names) == ((n, 3), ("c0", "c1", "c2"))
    np.testing.assert_array_equal(rows.values.read(0, n), X[:n])
    values = np.arange(n)
    assert rows.values.in_its_blocks(values) is values
    if n:
        assert rows.values.where(4) == "row group 1 of 'x.parquet'"
        path.unlink()
        with pytest.raises(InvalidInputError, match=r"A worker cannot open 'x.parquet'.*same path"):
            rows.values.read(0, n)
