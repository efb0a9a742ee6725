"""Two files of the same objects: which columns are read, what is lined up, what is refused."""

from pathlib import Path

import numpy as np
import pytest

from consilience._cli.arguments import Reading
from consilience._cli.inputs import Input, Read, gather
from consilience.errors import InvalidInputError

# What was recognised, and what is left out, is told as well.
pytestmark = pytest.mark.filterwarnings("ignore::consilience.errors.ConsilienceWarning")

DATA, LABELS = Path("data.csv"), Path("labels.csv")
TABLE = "id,x,y,kind\np,1,5,a\nq,2,6,b\nr,3,9,a\n"


def write(labels, data=TABLE):
    DATA.write_text(data)
    LABELS.write_text(labels)


@pytest.mark.parametrize("named", ["id", None, "none"])
def test_labels_without_identifiers_go_with_data_that_have_them(named):
    write("m1,m2\n0,0\n0,1\n1,1\n")
    reading = Reading(id_column=named, truth_column="kind", ignore=("id",) * (named == "none"))
    found = gather(DATA, LABELS, reading)
    assert found.ensemble.names == ("m1", "m2")
    assert found.ensemble.labels.tolist() == [[0, 0], [0, 1], [1, 1]]
    assert (found.table.ids is None) == (named == "none")
    assert found.table.X.tolist() == [[1, 5], [2, 6], [3, 9]]
    assert found.ensemble.index is None


@pytest.mark.parametrize("named", ["id", None])
def test_identifiers_of_both_files_are_compared(named):
    reading = Reading(id_column=named, truth_column="kind")
    write("id,m1\np,0\nq,0\nr,1\n")
    found = gather(DATA, LABELS, reading)
    assert found.ensemble.names == ("m1",)
    assert found.ensemble.index.tolist() == ["p", "q", "r"]
    write("id,m1\np,0\nr,0\nq,1\n")
    with pytest.raises(InvalidInputError, match="row 1 is 'q' in the data and 'r' in the labels"):
        gather(DATA, LABELS, reading)


def test_other_names_are_refused_only_where_the_column_was_named():
    """What is recognised in one file may be row numbers."""
    write("id,m1\n10,0\n11,0\n12,1\n")
    with pytest.raises(InvalidInputError, match=r"row 0 is 'p' in the data and .*10"):
        gather(DATA, LABELS, Reading(id_column="id", truth_column="kind"))
    write("id,m1\n10,0\n11,0\n12,1\n")
    assert gather(DATA, LABELS, Reading(truth_column="kind")).ensemble.n_objects == 3


def test_rows_left_out_of_the_data_are_left_out_of_the_labels():
    gaps = TABLE.replace("q,2,6,b", "q,,6,b")
    write("m1\n0\n1\n2\n", gaps)
    reading = Reading(id_column="id", truth_column="kind", impute="drop-rows")
    found = gather(DATA, LABELS, reading)
    assert found.table.X.tolist() == [[1, 5], [3, 9]]
    assert found.ensemble.labels[:, 0].tolist() == [0, 1]
    for rows, said in (
        ("0\n1\n", "3 rows, the labels 2"),
        ("0\n1\n2\n3\n", "3 rows, the labels 4"),
    ):
        write(f"m1\n{rows}", gaps)
        with pytest.raises(InvalidInputError, match=f"the data have {said}"):
            gather(DATA, LABELS, reading)


def test_data_alone_and_labels_alone():
    write("m1,m2,kind\n0,0,a\n0,1,a\n1,1,b\n")
    assert gather(DATA, None, Reading(id_column="id", truth_column="kind")).ensemble is None
    found = gather(None, LABELS, Reading())
    assert found.table is None
    assert found.ensemble.names == ("m1", "m2", "kind")
    found = gather(None, LABELS, Reading(truth_column="kind"))
    assert found.ensemble.names == ("m1", "m2")
    assert found.truth.tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ("m1,m2\n0,0\n1,1\n", "no column 'kind', named as truth_column. Its columns are 'm1' and"),
        ("kind\na\nb\n", "'labels.csv' has no member beside 'kind'."),
        ("m1,kind\n0,a\n1,\n1,\n", "2 objects without a known group in column 'kind'"),
    ],
)
def test_known_groups_that_labels_do_not_have_are_refused(labels, words):
    write(labels)
    with pytest.raises(InvalidInputError) as error:
        gather(None, LABELS, Reading(truth_column="kind"))
    assert words in str(error.value)


def test_labels_without_names_have_no_column_of_known_groups():
    np.save("labels.npy", np.array([[0, 1], [1, 1]]))
    with pytest.raises(InvalidInputError, match="Its columns are without names"):
        gather(None, Path("labels.npy"), Reading(truth_column="kind"))


def test_checking_counts_as_reading_and_notes_are_said_once():
    read = Read(Input(), ("a", "b"), 1.25)
    assert read.in_front({"generate": 2.0}, ("b", "c")) == {
        "seconds": {"read": 1.25, "generate": 2.0},
        "notes": ("a", "b", "c"),
    }
    assert read.in_front({"prepare": 0.5, "generate": 2.0}, ())["seconds"] == {
        "read": 1.75,
        "generate": 2.0,
    }
