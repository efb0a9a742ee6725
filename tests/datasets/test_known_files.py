"""What is known of some objects, read from a file."""

import pytest

from consilience.datasets import read_known
from consilience.errors import InvalidInputError


def test_an_object_has_one_group_in_a_file(tmp_path):
    path = tmp_path / "known.csv"
    path.write_text("name,group\na,red\nb,blue\na,red\n")
    assert read_known(path) == {"partial_labels": {"a": "red", "b": "blue"}}
    path.write_text("name,group\na,red\nb,red\na,blue\n")
    with pytest.raises(InvalidInputError, match="more than one group to 'a'"):
        read_known(path)
