"""Files that are written whole or not at all."""

import os
import stat

import numpy as np
import pytest

from consilience._files import written_whole
from consilience.datasets import write_labels
from consilience.errors import MissingFileError


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
@pytest.mark.parametrize("mask", [0o022, 0o077, 0o002])
def test_a_file_has_the_rights_of_any_other(tmp_path, mask):
    before = os.umask(mask)
    try:
        with written_whole(tmp_path / "a.txt") as partial:
            partial.write_text("a")
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a.txt").stat().st_mode) == 0o666 & ~mask


def test_a_block_that_fails_leaves_the_file_as_it_was(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def fail():
        with written_whole(tmp_path / "a.txt") as partial:
            partial.write_text("new")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_a_folder_that_is_not_there_is_named_with_the_remedy(tmp_path):
    file = tmp_path / "nosuchdir" / "labels.csv"
    with pytest.raises(MissingFileError, match=r"no folder '.*nosuchdir'. Make it") as caught:
        write_labels(file, None, np.array([0, 1]))
    assert "partial" not in str(caught.value)
