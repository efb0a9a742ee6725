"""The folder of a run: locks, what is cleared, what cannot be one."""

import sys

import pytest
from generate.run_folders import assert_same, seeded
from sklearn.base import BaseEstimator

from consilience.errors import ConsilienceError
from consilience.generate import (
    Combined,
    KMeansEnsemble,
    checkpoint,
)
from consilience.generate.checkpoint import ResumeError, RunFolder


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks")
def test_two_at_once_in_one_folder_are_refused(X, tmp_path):
    run = RunFolder(tmp_path)
    generator = KMeansEnsemble(4, 2, random_state=0)
    with run.opened(generator, X, 4, [1, 2, 3, 4]):
        for act in (lambda: generator.generate(X, checkpoint=RunFolder(tmp_path)), run.clear):
            with pytest.raises(ResumeError, match=r"Another process is working in .* Wait for it"):
                act()
    run.clear()
    generator.generate(X, checkpoint=run)


def test_a_system_or_file_system_without_locks_will_do(X, tmp_path, monkeypatch):
    generator = KMeansEnsemble(4, 2, random_state=0)

    class NoLocks:
        LOCK_EX = LOCK_NB = 0

        def flock(self, handle, how):
            raise OSError("no locks available")

    for place, locks in enumerate((None, NoLocks())):
        monkeypatch.setattr("consilience.generate._chunks.fcntl", locks)
        run = RunFolder(tmp_path / str(place))
        generator.generate(X, checkpoint=run)
        assert run.finished == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["kmeans", "combined"])
def test_clear_removes_the_run_and_nothing_else(name, X, tmp_path):
    mine = tmp_path / "labels.csv"
    mine.write_text("mine")
    run = RunFolder(tmp_path)
    whole = seeded(name).generate(X, checkpoint=run)
    run.clear()
    assert list(tmp_path.iterdir()) == [mine]
    assert run.finished == []
    assert run.n_members is None
    assert repr(run) == "RunFolder(no run)"
    with pytest.raises(ConsilienceError, match="holds no finished member yet"):
        run.ensemble()
    run.clear()
    RunFolder(tmp_path / "nowhere").clear()
    assert not (tmp_path / "nowhere").exists()
    assert_same(seeded(name).generate(X, checkpoint=run), whole)


@pytest.mark.parametrize("name", ["kmeans", "combined"])
def test_a_folder_is_bare_until_a_member_is_there(name, X, tmp_path):
    run = RunFolder(tmp_path)
    assert run.is_bare() is True
    seeded(name).generate(X, checkpoint=run)
    assert run.is_bare() is False
    run.clear()
    assert run.is_bare() is True


def test_clear_goes_on_where_somebody_took_a_file_away(X, tmp_path, monkeypatch):
    run = RunFolder(tmp_path)
    seeded("kmeans").generate(X, checkpoint=run)
    listed = checkpoint.numbers
    monkeypatch.setattr(checkpoint, "numbers", lambda folder: [*listed(folder), 99])
    run.clear()
    assert list(tmp_path.iterdir()) == []


def test_clear_without_a_plan_removes_nothing(tmp_path):
    (tmp_path / "members").mkdir()
    mine = tmp_path / "members" / "0001.npz"
    mine.write_text("mine")
    RunFolder(tmp_path).clear()
    assert mine.read_text() == "mine"


def test_a_file_cannot_be_a_run_folder(X, tmp_path):
    (tmp_path / "file").write_text("")
    assert RunFolder(tmp_path / "file").finished == []
    with pytest.raises(FileExistsError):
        KMeansEnsemble(2, 2).generate(X, checkpoint=RunFolder(tmp_path / "file"))


def test_bad_checkpoints_and_generators_are_refused(X, tmp_path):
    with pytest.raises(ValueError, match=r"'checkpoint' .* Got 'here' instead. Wrap a path"):
        KMeansEnsemble(2, 2).generate(X, checkpoint="here")

    class Own(BaseEstimator):
        def generate(self, X):
            return None

    with pytest.raises(ValueError, match="generator Own keeps no checkpoint"):
        Combined([Own()]).generate(X, checkpoint=RunFolder(tmp_path))
    with pytest.raises(ValueError, match=r"'n_members' .* Got 0"):
        Combined([KMeansEnsemble(0)]).generate(X, checkpoint=RunFolder(tmp_path))
    assert not list(tmp_path.iterdir())
