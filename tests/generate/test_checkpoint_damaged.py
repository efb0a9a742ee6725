"""Members and plans that are damaged or lost."""

import shutil

import numpy as np
import pytest
from generate.run_folders import assert_same, member_files, seeded, whole_run

from consilience.generate import (
    KMeansEnsemble,
)
from consilience.generate._chunks import read_chunk
from consilience.generate._plan import identity
from consilience.generate.checkpoint import ResumeError, RunFolder


def _truncate(path):
    path.write_bytes(path.read_bytes()[:-7])


def _empty(path):
    path.write_bytes(b"")


def _garble(path):
    path.write_bytes(b"labels, but not ours")


def _zero(path):
    path.write_bytes(bytes(path.stat().st_size))


def _swap(path):
    shutil.copy(path.with_name("0030.npz"), path)


def _foreign(path):
    np.savez(path, labels=np.zeros(60, np.int8))


def _pickled(path):
    np.savez(path, labels=np.array([object()]), about=np.zeros(2, np.uint8))


@pytest.mark.parametrize("damage", [_truncate, _empty, _garble, _zero, _swap, _foreign, _pickled])
def test_a_damaged_member_is_made_anew(X, tmp_path, damage):
    folder, _, whole = whole_run("kmeans")
    shutil.copytree(folder.name, tmp_path, dirs_exist_ok=True)
    damage(tmp_path / "members" / "0011.npz")
    assert RunFolder(tmp_path).finished == [n for n in range(40) if n != 11]
    assert_same(seeded("kmeans").generate(X, checkpoint=RunFolder(tmp_path)), whole)
    assert RunFolder(tmp_path).finished == list(range(40))


def test_no_flipped_byte_of_a_member_goes_unnoticed(tmp_path):
    folder, _, whole = whole_run("lac")
    (tmp_path / "members").mkdir()
    path = tmp_path / "members" / "0000.npz"
    healthy = member_files(folder.name)[0].read_bytes()
    mark = identity(RunFolder(folder.name).plan)
    noticed = 0
    for at in range(0, len(healthy), 5):
        path.write_bytes(healthy[:at] + bytes([healthy[at] ^ 0x55]) + healthy[at + 1 :])
        chunk = read_chunk(tmp_path, 0, mark, 60)
        if chunk is None:
            noticed += 1
            continue
        # A date in the container may be wrong; what it contains may not.
        np.testing.assert_array_equal(chunk.labels, whole[0])
        assert set(chunk.extras) == {"centres", "weights"}
    assert noticed > len(healthy) // 10 > 0


def test_members_of_another_run_are_not_taken_even_if_the_plan_is_lost(X, tmp_path):
    folder, _, _ = whole_run("kmeans")
    shutil.copytree(folder.name, tmp_path, dirs_exist_ok=True)
    (tmp_path / "plan.json").write_bytes(b"")  # what a loss of power leaves
    assert RunFolder(tmp_path).plan is None
    other = KMeansEnsemble(40, (2, 4), random_state=8)
    assert_same(other.generate(X, checkpoint=RunFolder(tmp_path)), other.generate(X))


def test_a_lost_plan_is_written_again_and_its_members_found(X, tmp_path):
    folder, _, whole = whole_run("kmeans")
    shutil.copytree(folder.name, tmp_path, dirs_exist_ok=True)
    before = {path: path.stat().st_mtime_ns for path in member_files(tmp_path)}
    (tmp_path / "plan.json").unlink()
    assert_same(seeded("kmeans").generate(X, checkpoint=RunFolder(tmp_path)), whole)
    assert {path: path.stat().st_mtime_ns for path in member_files(tmp_path)} == before


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"consilience_run": 1, "vers', "is damaged .* Remove this file"),
        ('{"steps": ["buy milk"]}', "is not a plan that consilience wrote. Take another folder"),
        ("[1, 2]", "is not a plan that consilience wrote"),
        ('{"consilience_run": 2}', "has format 2, .* reads 1. Use the version that wrote it"),
    ],
)
def test_a_plan_that_cannot_be_read_is_refused_and_left_alone(X, tmp_path, text, message):
    (tmp_path / "plan.json").write_text(text)
    run = RunFolder(tmp_path)
    for act in (lambda: KMeansEnsemble(2, 2).generate(X, checkpoint=run), run.clear):
        with pytest.raises(ResumeError, match=message):
            act()
    assert (tmp_path / "plan.json").read_text() == text
