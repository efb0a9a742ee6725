"""The one border for data: read once, checked once, remembered."""

import numpy as np
import pytest
from scipy import sparse

import consilience as cs
from consilience import rows as border
from consilience.errors import InvalidInputError
from consilience.rows import Rows, rows_of, same_objects

X = np.concatenate([np.random.default_rng(0).normal(c, 0.3, (20, 3)) for c in (0, 4)])


class Whole:
    """Data that can only be read as a whole; counts how often."""

    def __init__(self, values):
        self.values, self.n_read = values, 0
        self.shape, self.dtype, self.ndim = values.shape, values.dtype, values.ndim

    def __len__(self):
        return len(self.values)

    def __array__(self, dtype=None, copy=None):
        self.n_read += 1
        return np.array(self.values, dtype=dtype)


class Sliced:
    """Data that hand out rows by slices only; keeps which."""

    def __init__(self, values):
        self.values, self.asked = values, []
        self.shape, self.dtype = values.shape, values.dtype

    def __len__(self):
        return len(self.values)

    def __getitem__(self, rows):
        self.asked.append((rows.start, rows.stop))
        return self.values[rows]


JOBS = {
    "generate": lambda data: cs.generate.KMeansEnsemble(4, 3, random_state=0).generate(data),
    "lac": lambda data: cs.generate.LACEnsemble(4, 2, random_state=0).generate(data),
    "combined": lambda data: cs.generate.Combined(
        [cs.generate.KMeansEnsemble(2, 3), cs.generate.KMeansEnsemble(2, 4)], random_state=0
    ).generate(data),
    "EAC": lambda data: cs.EAC(2, random_state=0).fit(data),
    "WOKMeans": lambda data: cs.WOKMeans(2, random_state=0).fit(data),
    "WSPA": lambda data: cs.WSPA(2, random_state=0).fit(data),
    "USENC": lambda data: cs.USENC(2, random_state=0).fit(data),
    "Monti": lambda data: cs.MontiConsensus((2, 3), n_resamples=5, random_state=0).fit(data),
    "ambiguity": lambda data: cs.AmbiguityAware(cs.EAC(2), random_state=0).fit(data),
    "EWOCS": lambda data: cs.EWOCS(n_repetitions=10, random_state=0).fit(data),
    "DGRADE": lambda data: cs.DGRADE(20).fit(data),
    "KMD": lambda data: cs.KMD(start_size=10, min_size=5, random_state=0).fit(data),
    "cluster": lambda data: cs.cluster(data, 2, random_state=0),
    "minority": lambda data: cs.minority_groups(data, n_repetitions=10, random_state=0),
}


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")
def test_every_job_reads_its_data_once(name):
    whole = Whole(X)
    JOBS[name](whole)
    assert whole.n_read == 1
    sliced = Sliced(X)
    JOBS[name](sliced)
    assert sliced.asked == [(0, 2**22 // 3)]


def test_what_hands_out_rows_is_read_block_by_block(monkeypatch):
    monkeypatch.setattr(border, "BLOCK", 30)
    for kind in (np.float64, np.float32, np.int16):
        given = Sliced((10 * X).astype(kind))
        rows = rows_of(given, owner="test")
        assert given.asked == [(0, 10), (10, 20), (20, 30), (30, 40)]
        assert rows.dtype == (np.float32 if kind == np.float32 else np.float64)
        np.testing.assert_array_equal(rows.values, given.values)
    with pytest.raises(ValueError, match="Complex data not supported"):
        rows_of(Sliced(X.astype(complex)), owner="test")
    broken = X.copy()
    broken[35, 1] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        rows_of(Sliced(broken), owner="test")


def test_arrays_and_memory_maps_are_not_copied(tmp_path):
    assert rows_of(X, owner="test").values is X
    path = tmp_path / "x.npy"
    np.save(path, X)
    mapped = np.load(path, mmap_mode="r")
    assert np.shares_memory(rows_of(mapped, owner="test").values, mapped)
    csr = sparse.csr_array(X)
    assert rows_of(csr, owner="test").values.data is csr.data


def test_rows_pass_without_a_second_look():
    # Nobody looks for NaN again: it was looked for when the rows were made.
    known = Rows(np.full((3, 2), np.nan))
    assert rows_of(known, owner="test") is known
    single = Rows(X.astype(np.float32), ("a", "b", "c"), "index")
    assert rows_of(single, owner="test") is single
    double = rows_of(single, owner="test", kind="float64")
    assert double.dtype == np.float64
    assert (double.names, double.index) == (single.names, single.index)
    with pytest.raises(ValueError, match="minimum of 50 is required"):
        rows_of(single, owner="test", min_objects=50)
    with pytest.raises(TypeError, match=r"[Ss]parse data was passed"):
        rows_of(Rows(sparse.csr_array(X)), owner="test", allow_sparse=False)


def test_names_and_index_are_remembered():
    pd = pytest.importorskip("pandas")
    index = pd.Index([f"o{i}" for i in range(len(X))])
    rows = rows_of(pd.DataFrame(X, columns=["a", "b", "c"], index=index), owner="test")
    assert rows.names == ("a", "b", "c")
    assert rows.index is index
    assert rows.take([3, 1]).index.tolist() == ["o3", "o1"]
    model = cs.EAC(2, random_state=0).fit(rows)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    assert model.ensemble_.index.tolist() == index.tolist()
    assert rows_of(pd.DataFrame(X), owner="test").names is None


def test_names_are_checked_wherever_the_rows_lie(tmp_path):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = cs.SEC(2, random_state=0).fit(frame)
    for names in (["a", "b", "c"], ["b", "a", "c"], ["a", "b", "d"]):
        other = frame.set_axis(names, axis=1)
        other.to_parquet(tmp_path / "other.parquet")
        for rows in (rows_of(other, owner="test"), cs.open_rows(tmp_path / "other.parquet")):
            if names == list(frame):
                assert model.predict(rows).tolist() == model.predict(frame).tolist()
                continue
            with pytest.raises(InvalidInputError, match=r"was fitted with, in.* 'a', 'b' and 'c'"):
                model.predict(rows)
    # What was fitted anew remembers what it was fitted to last.
    np.save(tmp_path / "bare.npy", X)
    model.fit(cs.open_rows(tmp_path / "bare.npy"))
    assert not hasattr(model, "feature_names_in_")


def test_arrow_tables_are_read():
    pa = pytest.importorskip("pyarrow")
    table = pa.table({name: X[:, j] for j, name in enumerate("abc")})
    rows = rows_of(table, owner="test")
    np.testing.assert_array_equal(rows.values, X)
    assert rows.names == ("a", "b", "c")


def test_blocks_and_choices_are_those_of_the_values():
    for values in (X, sparse.csr_array(X)):
        rows = Rows(values)
        assert (rows.shape, len(rows), rows.is_sparse) == ((40, 3), 40, values is not X)
        starts, blocks = zip(*rows.blocks(15), strict=True)
        assert starts == (0, 15, 30)
        joined = np.concatenate([b.toarray() if rows.is_sparse else b for b in blocks])
        np.testing.assert_array_equal(joined, X)
        taken = rows.take(np.arange(40) % 2 == 0).values
        np.testing.assert_array_equal(taken.toarray() if rows.is_sparse else taken, X[::2])


def test_other_objects_than_the_ensembles_are_refused():
    rows = Rows(X)
    assert same_objects(rows, 40) is rows
    with pytest.raises(InvalidInputError, match="X has 40 rows, the ensemble 39 objects"):
        same_objects(rows, 39)


def test_one_row_is_enough_unless_more_are_asked_for():
    assert rows_of([[1.0, 2.0]], owner="somebody").shape == (1, 2)
    with pytest.raises(ValueError, match="minimum of 2"):
        rows_of([[1.0, 2.0]], owner="somebody", min_objects=2)


def test_rows_outside_memory_are_enough_if_they_are_as_many_as_asked_for(tmp_path):
    np.save(tmp_path / "x.npy", X[:5, :1])
    rows = cs.open_rows(tmp_path / "x.npy")
    assert rows_of(rows, owner="test", allow_stored=True, min_objects=5) is rows
    with pytest.raises(
        InvalidInputError, match=r"'x.npy' has 5 rows of 1 columns, while test needs"
    ):
        rows_of(rows, owner="test", allow_stored=True, min_objects=6)
    np.save(tmp_path / "x.npy", X[:5, :0])
    with pytest.raises(InvalidInputError, match=r"has 5 rows of 0 columns.* 2 rows and one column"):
        rows_of(cs.open_rows(tmp_path / "x.npy"), owner="test", allow_stored=True, min_objects=2)


def test_a_fit_to_rows_outside_memory_forgets_the_names_of_an_earlier_one(tmp_path):
    pd = pytest.importorskip("pandas")
    model = cs.SEC(2)
    named = rows_of(pd.DataFrame(X, columns=list("abc")), owner="test", fitted=model)
    assert rows_of(named, owner="test", fitted=model, reset=False) is named
    np.save(tmp_path / "x.npy", X[:, :2])
    bare = cs.open_rows(tmp_path / "x.npy")
    with pytest.raises(InvalidInputError, match=r"X has 2 features, but SEC is expecting 3 feat"):
        rows_of(bare, owner="test", fitted=model, reset=False, allow_stored=True)
    rows_of(bare, owner="test", fitted=model, allow_stored=True)
    assert model.n_features_in_ == 2
    assert not hasattr(model, "feature_names_in_")
    rows_of(named, owner="test", fitted=model)
    assert model.feature_names_in_.tolist() == list("abc")
    assert model.n_features_in_ == 3
