"""Tables of somebody's first hour: what is wrong with them is seen, said and, if it can be, read."""

import warnings

import numpy as np
import pytest

from consilience.datasets import read_table
from consilience.datasets._missing_codes import missing_code
from consilience.errors import ConsilienceWarning, InvalidInputError

RNG = np.random.default_rng(0)


@pytest.fixture
def read(tmp_path):
    """Write text to a file, read it, and return the table with what was said."""

    def made(text, name="data.csv", **options):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConsilienceWarning)
            table = read_table(path, **options)
        return table, " ".join(str(one.message) for one in caught)

    return made


def csv_text(**columns):
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values()))]
    return "\n".join(lines) + "\n"


def test_a_column_named_id_is_no_data_even_where_values_come_again(read):
    x = RNG.normal(size=40).round(3)
    ids = [*range(1000, 1030), *range(1000, 1010)]
    table, said = read(csv_text(Id=ids, x=x, visit_id=ids[::-1], y=x**2))
    assert table.columns == ("x", "y")
    assert table.ids.tolist() == list(map(str, ids))
    assert "'Id'" in said
    assert "'visit_id' of 'data.csv' is named like identifiers" in said
    kept, _ = read(csv_text(Id=ids, x=x), id_column="none")
    assert kept.columns == ("Id", "x")
    # Few numbers, each of many objects, are codes of something.
    few, _ = read(csv_text(Id=[i % 5 for i in ids], x=x))
    assert few.columns == ("Id", "x")


def test_codes_for_missing_values_are_noticed_and_said(read):
    pressure = RNG.integers(60, 100, 60)
    pressure[:5] = 0
    age = RNG.integers(20, 60, 60)
    age[7] = 999
    born = RNG.integers(0, 15, 60)
    _, said = read(csv_text(pressure=pressure, age=age, born=born, x=RNG.normal(size=60)))
    assert "'pressure' is 0 in 5 rows" in said
    assert "'age' is 999 in 1 row " in said
    assert "'born'" not in said
    assert "--impute" in said


@pytest.mark.parametrize(
    "values",
    [
        RNG.normal(size=100),
        np.r_[-1.0, RNG.uniform(-0.6, 1, 99)],  # a scale from -1 to 1
        np.r_[np.zeros(90), RNG.uniform(50, 60, 10)],  # most are 0: it is a value
        np.arange(10.0),
        np.repeat([0.0, 5.0, 9.0], 30),
    ],
)
def test_plain_columns_hold_no_codes(values):
    assert missing_code(values) is None
