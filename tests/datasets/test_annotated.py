"""Annotated data: what is read, what is written, and what hostile files are refused for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from consilience.datasets import read_like, read_table, write_annotated
from consilience.datasets._annotated import _different
from consilience.errors import ConsilienceWarning, InvalidInputError

h5py = pytest.importorskip("h5py")

TEXT = h5py.string_dtype()
CELLS, GENES = [f"cell{i}" for i in range(4)], ["a", "b", "b"]
X = np.arange(12.0).reshape(4, 3)


def put(group, name, values, kind="array"):
    made = group.create_dataset(name, data=values)
    made.attrs["encoding-type"], made.attrs["encoding-version"] = kind, "0.2.0"
    return made


def put_frame(file, name, index, columns=()):
    group = file.create_group(name)
    group.attrs["_index"] = "_index"
    group.attrs["column-order"] = np.array(columns, dtype=TEXT)
    group.create_dataset("_index", data=np.array(index, object), dtype=TEXT)
    return group


def put_sparse(file, name, matrix, kind):
    group = file.create_group(name)
    group.attrs["encoding-type"], group.attrs["shape"] = f"{kind}_matrix", matrix.shape
    for part in ("data", "indices", "indptr"):
        group.create_dataset(part, data=getattr(matrix, part))


@pytest.fixture
def cells(tmp_path):
    """A file as anndata 0.12 lays it out."""
    path = tmp_path / "cells.h5ad"
    with h5py.File(path, "w") as file:
        put(file, "X", X)
        obs = put_frame(file, "obs", CELLS, ["kind", "donor"])
        kind = obs.create_group("kind")
        kind.attrs["encoding-type"] = "categorical"
        kind.create_dataset("categories", data=np.array(["t", "b"], object), dtype=TEXT)
        kind.create_dataset("codes", data=np.array([0, 1, 1, 0], np.int8))
        obs.create_dataset("donor", data=np.array(["d1", "d2", "d3", "d4"], object), dtype=TEXT)
        put_frame(file, "var", GENES)
        layers = file.create_group("layers")
        put_sparse(layers, "counts", sparse.csr_matrix(X), "csr")
        put_sparse(layers, "columns", sparse.csc_matrix(X), "csc")
        put(file.create_group("obsm"), "X_pca", X[:, :2])
    return path


def test_the_matrix_with_names_and_known_groups(cells):
    table = read_table(cells, truth_column="kind")
    np.testing.assert_array_equal(table.X, X)
    assert table.ids.tolist() == CELLS
    assert table.columns == ("a", "b", "b-1")
    assert table.truth.tolist() == ["t", "b", "b", "t"]
    assert read_table(cells, id_column="donor").ids.tolist() == ["d1", "d2", "d3", "d4"]
    assert read_table(cells, id_column="none").ids is None
    np.testing.assert_array_equal(read_like(cells, table.recipe).X, X)


@pytest.mark.parametrize("layer", ["counts", "layers/counts", "columns"])
def test_layers_stay_sparse(cells, layer):
    table = read_table(cells, layer=layer, truth_column="kind")
    assert sparse.issparse(table.X)
    np.testing.assert_array_equal(table.X.toarray(), X)
    assert table.ids.tolist() == CELLS
    np.testing.assert_array_equal(read_like(cells, table.recipe).X.toarray(), X)


def test_embeddings_have_columns_of_their_name(cells):
    table = read_table(cells, layer="X_pca")
    assert table.columns == ("X_pca0", "X_pca1")
    np.testing.assert_array_equal(table.X, X[:, :2])


def test_labels_go_into_obs_of_a_copy(cells, tmp_path):
    before = cells.read_bytes()
    labels, sure = np.array([0, 1, 1, -1]), np.array([1.0, 0.5, 0.75, 0.0])
    copies = [tmp_path / "one.h5ad", tmp_path / "two.h5ad"]
    for copy in copies:
        write_annotated(cells, copy, labels, sure)
    write_annotated(copies[1], copies[1], labels, sure)  # again, in place of the first
    assert cells.read_bytes() == before
    with h5py.File(copies[1]) as file:
        obs = file["obs"]
        assert obs.attrs["column-order"].tolist() == [
            "kind", "donor", "consilience_cluster", "consilience_confidence",
        ]  # fmt: skip
        assert obs["consilience_cluster/codes"][:].tolist() == [0, 1, 1, -1]
        assert obs["consilience_cluster"].attrs["encoding-type"] == "categorical"
    with pytest.raises(InvalidInputError, match="1 missing"):
        read_table(copies[0], truth_column="consilience_cluster")
    with pytest.warns(ConsilienceWarning, match="left out"):
        again = read_table(copies[0], truth_column="consilience_cluster", impute="drop-rows")
    assert again.truth.tolist() == ["0", "1", "1"]
    np.testing.assert_array_equal(again.X, X[:3])
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "cells.h5ad",
        "one.h5ad",
        "two.h5ad",
    ]


def test_labels_of_other_objects_are_refused_and_nothing_is_left(cells, tmp_path):
    with pytest.raises(InvalidInputError, match="each of the 4 rows"):
        write_annotated(cells, tmp_path / "one.h5ad", [0, 1])
    assert [path.name for path in tmp_path.iterdir()] == ["cells.h5ad"]


def test_categories_are_the_labels_there_are(cells, tmp_path):
    write_annotated(cells, tmp_path / "one.h5ad", [7, 2**40, 7, -1])
    with h5py.File(tmp_path / "one.h5ad") as file:
        group = file["obs/consilience_cluster"]
        assert group["categories"].asstr()[:].tolist() == ["7", str(2**40)]
        assert group["codes"][:].tolist() == [0, 1, 0, -1]


@pytest.mark.parametrize("kind", [np.uint8, np.int16, np.uint64, bool])
def test_labels_of_any_whole_type_can_be_written(cells, tmp_path, kind):
    labels = np.array([0, 1, 1, 0]).astype(kind)
    write_annotated(cells, tmp_path / "one.h5ad", labels)
    assert read_table(tmp_path / "one.h5ad", truth_column="consilience_cluster").truth.tolist() == [
        "0", "1", "1", "0",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "labels", [[0.5, 1, 1, 0], ["a", "b", "b", "a"], [0, -2, 1, 1], [np.nan] * 4]
)
def test_what_is_no_label_is_refused(cells, tmp_path, labels):
    with pytest.raises(InvalidInputError, match="labels of write_annotated must be"):
        write_annotated(cells, tmp_path / "one.h5ad", labels)
    assert [path.name for path in tmp_path.iterdir()] == ["cells.h5ad"]


@given(st.lists(st.sampled_from(["G", "G-1", "G-2", "G-1-1", "H"]), max_size=8))
def test_names_of_genes_become_different(names):
    different = _different(names)
    assert len(set(different)) == len(names)
    for j, name in enumerate(names):
        if name not in names[:j]:  # the first of a name keeps it
            assert different[j] == name
        assert different[j].startswith(name)


def with_change(cells, change):
    with h5py.File(cells, "r+") as file:
        change(file)
    return cells


def _link_out(file):
    del file["X"]
    file["X"] = h5py.ExternalLink("/etc/passwd", "/X")


def _soft_link(file):
    del file["X"]
    file["X"] = h5py.SoftLink("/layers/counts")


def _kept_elsewhere(file):
    del file["X"]
    file.create_dataset("X", (4, 3), "f8", external=[("/etc/passwd", 0, 96)])


def _virtual(file):
    del file["X"]
    layout = h5py.VirtualLayout((4, 3), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "X", (4, 3))
    file.create_virtual_dataset("X", layout)


def _promises(file):
    del file["X"]
    file.create_dataset("X", (10**6, 10**6), "f8", chunks=(1000, 1000))


def _sparse_promises(file):
    del file["layers/counts/data"]
    file["layers/counts"].create_dataset("data", (10**12,), "f8", chunks=(1000,))


def _tall(file):
    file["layers/columns"].attrs["shape"] = (10**13, 3)


def _wide(file):
    put_sparse(file["obsm"], "wide", sparse.csr_matrix(X), "csr")
    file["obsm/wide"].attrs["shape"] = (4, 10**13)


def _no_matrix(file):
    del file["X"]
    file.create_dataset("X", data=np.array([["a"] * 3] * 4, object), dtype=TEXT)


def _wrong_rows(file):
    del file["X"]
    put(file, "X", X[:2])


def _wrong_genes(file):
    del file["var"]
    put_frame(file, "var", ["a"])


def _bad_codes(file):
    file["obs/kind/codes"][0] = 7


def _bad_sparse(file):
    file["layers/counts/indices"][0] = 99


def _no_obs(file):
    del file["obs"]


@pytest.mark.parametrize(
    ("change", "given", "words"),
    [
        (_link_out, {}, "link to another place"),
        (_soft_link, {}, "link to another place"),
        (_kept_elsewhere, {}, "kept in other files"),
        (_virtual, {}, "kept in other files"),
        (_promises, {}, "fill the memory"),
        (_sparse_promises, {"layer": "counts"}, "fill the memory"),
        (_tall, {"layer": "columns"}, "fill the memory"),
        (_wide, {"layer": "wide"}, "fill the memory"),
        (_no_matrix, {}, "no matrix of numbers"),
        (_wrong_rows, {}, "2 rows for 4 names"),
        (_wrong_genes, {}, "3 columns"),
        (_bad_codes, {"truth_column": "kind"}, "codes of no category"),
        (_bad_sparse, {"layer": "counts"}, "damaged"),
        (_no_obs, {}, "no 'obs'"),
        (lambda _: None, {"layer": "raw"}, "no layer 'raw'"),
        (lambda _: None, {"truth_column": "age"}, "no column 'age'"),
        (lambda file: file.pop("X"), {}, "no matrix X"),
    ],
)
def test_hostile_and_damaged_files_are_refused(cells, change, given, words):
    with pytest.raises(InvalidInputError, match=words):
        read_table(with_change(cells, change), **given)


def test_what_is_no_hdf5_is_refused(tmp_path):
    path = tmp_path / "a.h5ad"
    path.write_bytes(b"hello, this is text")
    with pytest.raises(InvalidInputError, match="HDF5"):
        read_table(path)
    path.write_bytes(b"\x89HDF\r\n\x1a\n" + b"\0" * 100)
    with pytest.raises(InvalidInputError, match="damaged"):
        read_table(path)
