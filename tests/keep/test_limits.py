"""What is kept, at the limits of the format: versions, lengths, damaged matrices, every kind."""

import io
import json
import math
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from consilience.errors import InvalidInputError
from consilience.keep import _folder, dataclass_kind, read_kept, write_kept
from consilience.keep._values import Omitted, pack, unpack


@dataclass(frozen=True)
class Thing:
    """One that can be kept."""

    name: str
    values: object
    later: int = 7


KINDS = {"Thing": dataclass_kind(Thing)}
VALUE = {"thing": Thing("a", np.arange(4)), "more": [1.5, None, True, "x", (1, 2)]}


def kept(folder, value=VALUE):
    write_kept(folder, value, KINDS, "9.9")
    return read_kept(folder, KINDS)


def test_both_files_say_what_they_are(tmp_path):
    found = kept(tmp_path / "a")
    assert found["thing"].name == "a"
    np.testing.assert_array_equal(found["thing"].values, np.arange(4))
    assert found["more"] == VALUE["more"]
    facts = json.loads((tmp_path / "a" / "model.json").read_text())
    assert list(facts) == ["consilience", "format", "arrays", "value", "facts"]
    assert (facts["consilience"], facts["format"]) == ("9.9", 1)
    assert facts["value"]["~map"][0] == [
        "thing",
        {
            "~kind": "Thing",
            "fields": {"name": "a", "values": {"~array": "a0"}, "later": 7},
        },
    ]
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["model.json", "model.npz"]


def rewritten(folder, **changes):
    """Facts with something else in them, signed as ours are."""
    path = folder / "model.json"
    facts = json.loads(path.read_text()) | changes
    facts.pop("facts")
    path.write_text(json.dumps(facts | {"facts": _folder._digest(facts)}))


@pytest.mark.parametrize(("number", "read"), [(0, True), (1, True), (2, False)])
def test_formats_up_to_ours_are_read(tmp_path, number, read):
    kept(tmp_path)
    rewritten(tmp_path, format=number, consilience="12.0")
    if read:
        assert read_kept(tmp_path, KINDS)["thing"].later == 7
        return
    with pytest.raises(InvalidInputError) as caught:
        read_kept(tmp_path, KINDS)
    assert str(caught.value) == (
        f"model.json in {str(tmp_path)!r} has format 2, written by consilience 12.0; this version "
        "reads up to 1. Use the version that wrote it, or a newer one."
    )


def test_facts_of_the_largest_size_are_read_and_a_byte_more_is_not(tmp_path, monkeypatch):
    kept(tmp_path)
    size = (tmp_path / "model.json").stat().st_size
    monkeypatch.setattr(_folder, "_LARGEST", size)
    assert read_kept(tmp_path, KINDS)["thing"].name == "a"
    monkeypatch.setattr(_folder, "_LARGEST", size - 1)
    with pytest.raises(InvalidInputError, match="is larger than any that consilience writes"):
        read_kept(tmp_path, KINDS)


def test_fields_of_later_versions_are_passed_over_and_missing_ones_have_their_default(tmp_path):
    kept(tmp_path)
    fields = {"name": "b", "values": None, "unheard": 1}
    rewritten(tmp_path, value={"~kind": "Thing", "fields": fields})
    assert read_kept(tmp_path, KINDS) == Thing("b", None, 7)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_arrays_are_read_in_the_version_that_is_written(tmp_path, version):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.arange(3.0), version=version)
    kept(tmp_path)
    with zipfile.ZipFile(tmp_path / "model.npz", "w") as archive:
        archive.writestr("a0.npy", file.getvalue())
    digest = _folder._digest_of(tmp_path / "model.npz")
    rewritten(tmp_path, arrays=digest, value={"~array": "a0"})
    if version == (1, 0):
        assert read_kept(tmp_path, KINDS).tolist() == [0.0, 1.0, 2.0]
        return
    with pytest.raises(InvalidInputError, match=r"'a0\.npy' is no array as consilience writes"):
        read_kept(tmp_path, KINDS)


@pytest.mark.parametrize(
    ("indices", "indptr"),
    [([0, 9], [0, 1, 2]), ([0, -1], [0, 1, 2]), ([0, 1], [0, 3, 2]), ([0, 1], [0, 1, 9])],
)
def test_sparse_matrices_that_point_outside_are_refused(indices, indptr):
    good = sparse.csr_array(([1.0, 2.0], [0, 1], [0, 1, 2]), shape=(2, 3))
    packed, arrays = pack(good, {})
    assert (unpack(packed, arrays, {}) != good).nnz == 0
    names = [part["~array"] for part in packed["~csr"][:3]]
    arrays[names[1]] = np.array(indices, np.int32)
    arrays[names[2]] = np.array(indptr, np.int32)
    with pytest.raises(ValueError, match=r"ind"):
        unpack(packed, arrays, {})


def test_what_cannot_be_kept_is_told_by_its_first_thousand_letters():
    class Long:
        def __repr__(self):
            return "x" * 999 + "yz"

    packed, arrays = pack({"a": Long()}, {})
    assert packed == {"~map": [["a", {"~omitted": "x" * 999 + "y"}]]}
    assert unpack(packed, arrays, {}) == {"a": Omitted("x" * 999 + "y")}


def test_tables_of_objects_are_told_by_their_looks():
    square = np.array([["a", 1], [None, 2]], object)
    assert list(pack(square, {})[0]) == ["~omitted"]
    assert list(pack(square[0], {})[0]) == ["~objects"]
    named = Path("x")
    assert list(pack(named, {})[0]) == ["~omitted"]


def test_arrays_that_share_memory_are_kept_once_only_if_they_are_the_same():
    base = np.arange(6)
    views = {
        "same": base[:],
        "half": base[:3],
        "steps": base[::2],
        "bits": base.view(np.uint64),
        "square": base.reshape(2, 3),
        "copy": base.copy(),
    }
    packed, arrays = pack({"base": base} | views, {})
    assert len(arrays) == 6
    again = unpack(packed, arrays, {})
    for name, values in views.items():
        np.testing.assert_array_equal(again[name], values)
        assert again[name].dtype == values.dtype


def test_numbers_of_every_kind_come_back_as_python_has_them():
    given = [np.int8(3), np.float32(0.5), np.bool_(True), np.str_("a"), np.inf, -np.inf, np.nan]
    packed, _ = pack(given, {})
    assert packed == [3, 0.5, True, "a", {"~float": "inf"}, {"~float": "-inf"}, {"~float": "nan"}]
    found = unpack(packed, {}, {})
    assert found[:6] == [3, 0.5, True, "a", math.inf, -math.inf]
    assert math.isnan(found[6])
    assert [type(one) for one in found[:4]] == [int, float, bool, str]
    assert pack(np.longdouble(1), {})[0] == {"~omitted": repr(np.longdouble(1))}
    assert pack({np.int8(1): 2, (1, 2): 3}, {})[0] == {"~map": [[1, 2], ["(1, 2)", 3]]}


@pytest.mark.parametrize("packed", [{"~else": 1}, {}, {"~array": "a0", "~tuple": []}])
def test_what_is_not_packed_is_refused(packed):
    with pytest.raises((KeyError, ValueError)):
        unpack(packed, {}, {})
