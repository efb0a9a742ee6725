"""Runs that are interrupted, damaged, repeated or mixed up, and resumed."""

import json
import os
import pickle
import secrets
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import DBSCAN, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from consilience import generate
from consilience.errors import ConsilienceError, ConsilienceWarning
from consilience.generate import (
    Combined,
    EstimatorEnsemble,
    GraphEnsemble,
    KMeansEnsemble,
    LACEnsemble,
    USPECEnsemble,
    checkpoint,
)
from consilience.generate._base import Generator
from consilience.generate._chunks import read_chunk
from consilience.generate._plan import fingerprint, identity, make_plan
from consilience.generate.checkpoint import ResumeError, RunFolder

_INNER = Combined([EstimatorEnsemble(KMeans(n_init=1), [3, 4]), LACEnsemble(2, 3)])
GENERATORS = {
    # Forty members advance in groups of five: what is missing forms other groups.
    "kmeans": KMeansEnsemble(40, (2, 4)),
    "kmeans sub-sampled": KMeansEnsemble(40, (2, 4), max_samples=0.6, max_features=0.5),
    "kmeans unseen": KMeansEnsemble(40, 3, max_samples=(0.5, 0.8), assign="unseen"),
    "kmeans in turn": KMeansEnsemble(40, [2, 3, 4], init="k-means++", tol=0.1),
    "cosine": KMeansEnsemble(40, 3, metric="cosine"),
    "online": KMeansEnsemble(40, 3, online=True),
    "mini-batch": KMeansEnsemble(40, 3, algorithm="minibatch", batch_size=20, max_iter=5),
    "estimators": EstimatorEnsemble([KMeans(n_init=1), DBSCAN(eps=0.6)], [2, 3], max_samples=0.8),
    "combined": Combined([KMeansEnsemble(20, 2), _INNER]),
    "lac": LACEnsemble(6, 3),
    "graph": GraphEnsemble(3, (2, 4)),
    "u-spec": USPECEnsemble(3, (2, 4), n_representatives=20),
}


def _data():
    rng = np.random.default_rng(5)
    return np.concatenate([rng.normal(c, 0.9, (20, 4)) for c in (0.5, 2.5, 4.5)])


@pytest.fixture
def X():
    return _data()


@pytest.fixture(params=sorted(GENERATORS))
def name(request):
    return request.param


def _generator(name):
    return clone(GENERATORS[name]).set_params(random_state=7)


@cache
def _whole(name):
    """A folder with a whole run, and the generator that made it, with its ensemble."""
    folder = tempfile.TemporaryDirectory()
    generator = _generator(name)
    ensemble = generator.generate(_data(), checkpoint=RunFolder(folder.name))
    return folder, generator, ensemble


def _chunks(folder):
    return sorted(Path(folder).rglob("members/*.npz"))


def _assert_same(first, second):
    assert first.labels.dtype == second.labels.dtype
    np.testing.assert_array_equal(first.labels, second.labels)
    assert _untimed(first.records) == _untimed(second.records)


def _untimed(records):
    return [{k: v for k, v in dict(record).items() if k != "seconds"} for record in records]


def _assert_clean(folder):
    """Nothing but what the layout names."""
    for path in Path(folder).rglob("*"):
        known = path.is_dir() or path.name == "plan.json" or path in _chunks(folder)
        assert known, path


# ---- what is kept, and what is made of it -------------------------------------------------


def test_every_generator_is_tried():
    offered = {
        thing
        for thing in map(vars(generate).get, generate.__all__)
        if isinstance(thing, type) and issubclass(thing, Generator | Combined)
    }
    assert offered == {type(generator) for generator in GENERATORS.values()}


def test_keeping_members_does_not_change_them(name, X):
    folder, _, kept = _whole(name)
    _assert_same(kept, _generator(name).generate(X))
    run = RunFolder(folder.name)
    assert run.finished == list(range(kept.n_members))
    assert run.n_members == kept.n_members
    assert repr(run) == f"RunFolder({kept.n_members} of {kept.n_members} members)"
    _assert_same(run.ensemble(), kept)
    _assert_clean(folder.name)


@settings(max_examples=5)
@given(data=st.data())
@pytest.mark.parametrize("name", sorted(GENERATORS))
def test_any_members_resumed_give_the_whole(name, data):
    folder, before, whole = _whole(name)
    gone = data.draw(st.sets(st.integers(0, whole.n_members - 1)))
    with tempfile.TemporaryDirectory() as place:
        shutil.copytree(folder.name, place, dirs_exist_ok=True)
        # Members are numbered through all parts, as the sorted files are.
        for path in [path for n, path in enumerate(_chunks(place)) if n in gone]:
            path.unlink()
        run, generator = RunFolder(place), _generator(name)
        assert run.finished == [n for n in range(whole.n_members) if n not in gone]
        _assert_same(generator.generate(_data(), checkpoint=run), whole)
        _assert_clean(place)
        assert _untimed(generator.records_) == _untimed(before.records_)
    if name == "lac":
        for first, second in zip(generator.runs_, before.runs_, strict=True):
            np.testing.assert_array_equal(first.centres, second.centres)
            np.testing.assert_array_equal(first.weights, second.weights)


@pytest.mark.parametrize("name", ["kmeans sub-sampled", "estimators"])
def test_workers_change_nothing_and_may_be_others_on_resuming(name, X, tmp_path):
    whole = _whole(name)[2]
    two = _generator(name).set_params(n_jobs=2)
    _assert_same(two.generate(X, checkpoint=RunFolder(tmp_path)), whole)
    for path in _chunks(tmp_path)[1::2]:
        path.unlink()
    _assert_same(two.generate(X, checkpoint=RunFolder(tmp_path)), whole)
    _chunks(tmp_path)[0].unlink()
    _assert_same(_generator(name).generate(X, checkpoint=RunFolder(tmp_path)), whole)


def test_frames_and_sparse_data_can_be_resumed(X, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, index=[f"row{i}" for i in range(len(X))])
    generator = KMeansEnsemble(10, 3, random_state=0)
    for place, data in (("frame", frame), ("sparse", sparse.csr_array(np.where(X > 1, X, 0)))):
        whole = generator.generate(data, checkpoint=RunFolder(tmp_path / place))
        for path in _chunks(tmp_path / place)[::3]:
            path.unlink()
        resumed = generator.generate(data, checkpoint=RunFolder(tmp_path / place))
        _assert_same(resumed, whole)
    generator.generate(frame, checkpoint=RunFolder(tmp_path / "frame"))
    assert RunFolder(tmp_path / "frame").ensemble(index=frame.index).index[3] == "row3"


def test_without_a_seed_the_seeds_of_the_plan_hold(X, tmp_path):
    for generator in (KMeansEnsemble(10, 3), Combined([KMeansEnsemble(5, 3), LACEnsemble(2, 2)])):
        place = tmp_path / type(generator).__name__
        whole = generator.generate(X, checkpoint=RunFolder(place))
        for path in _chunks(place)[::2]:
            path.unlink()
        _assert_same(clone(generator).generate(X, checkpoint=RunFolder(place)), whole)


def test_members_that_failed_are_tried_again(X, tmp_path):
    generator = EstimatorEnsemble(Odd(), n_members=12, random_state=0)
    for _ in range(2):
        with pytest.warns(ConsilienceWarning, match="of 12 members failed.*odd seed"):
            ensemble = generator.generate(X, checkpoint=RunFolder(tmp_path))
        assert len(generator.records_) == 12
        assert len(RunFolder(tmp_path).finished) == ensemble.n_members < 12


class Odd(ClusterMixin, BaseEstimator):
    """A clusterer that fails for some seeds."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y=None):
        if self.random_state % 2:
            raise RuntimeError("odd seed")
        self.labels_ = (X[:, 0] > 2.5).astype(int)
        return self


# ---- interrupted --------------------------------------------------------------------------


class Hook:
    """A callback that does something when so many members are done."""

    def __init__(self, after, action):
        self.after, self.action, self.ends = after, action, 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context):
        self.ends += context.task_name == "member"
        return self.action() if self.ends == self.after else False


def _interrupt():
    raise KeyboardInterrupt


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("after", [1, 17, 40])
def test_an_interrupt_leaves_finished_members_usable(X, tmp_path, after, n_jobs):
    whole = _whole("kmeans")[2]
    run = RunFolder(tmp_path)
    generator = _generator("kmeans").set_params(n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        generator.set_callbacks(Hook(after, _interrupt)).generate(X, checkpoint=run)
    done = run.finished
    assert after <= len(done) <= after + 4  # the group that was reported is kept
    _assert_same(run.ensemble(), whole[done])
    _assert_clean(tmp_path)
    hook = Hook(0, _interrupt)
    _assert_same(_generator("kmeans").set_callbacks(hook).generate(X, checkpoint=run), whole)
    assert hook.ends == 40  # progress counts what was there already


def test_a_callback_that_stops_the_run_keeps_what_is_done(X, tmp_path):
    whole = _whole("kmeans")[2]
    for after, least in ((8, 10), (2, 10), (12, 15)):
        generator = _generator("kmeans").set_callbacks(Hook(after, lambda: True))
        with pytest.warns(ConsilienceWarning, match=rf"Stopped by a callback after {least} of 40"):
            ensemble = generator.generate(X, checkpoint=RunFolder(tmp_path))
        _assert_same(ensemble, whole[:least])
    two = _generator("kmeans").set_params(n_jobs=2).set_callbacks(Hook(8, lambda: True))
    with pytest.warns(ConsilienceWarning, match="Stopped by a callback after 10 of 40") as caught:
        _assert_same(two.generate(X), whole[:10])
    assert len(caught) == 1  # joblib has nothing to add


_KILLED = """
import os, random, signal, sys, time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from consilience.generate import KMeansEnsemble, _chunks, checkpoint

place, seed = Path(sys.argv[1]), int(sys.argv[2])
X = np.load(place / "X.npy")
chance = random.Random(seed)
whole = _chunks.written_whole


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def dying(stage, number):
    writes = 0

    @contextmanager
    def written(path):
        nonlocal writes
        writes += 1
        last = writes == number
        if last and stage == "before":
            die()
        with whole(path) as partial:
            yield partial
            if last and stage == "half":
                os.truncate(partial, partial.stat().st_size // 2)
                die()
            if last and stage == "complete":
                die()
        if last and stage == "renamed":
            die()

    return written


@contextmanager
def slow(path):
    with whole(path) as partial:
        time.sleep(0.01)
        yield partial
        time.sleep(0.01)


def run(folder, writer, patience=None):
    ready, steady = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(steady, b"x")
        _chunks.written_whole = checkpoint.written_whole = writer
        generator.generate(X, checkpoint=checkpoint.RunFolder(folder))
        os._exit(0)
    os.read(ready, 1)
    if patience is not None:
        time.sleep(patience)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    os.close(ready), os.close(steady)
    assert os.waitstatus_to_exitcode(status) == -signal.SIGKILL, status


generator = KMeansEnsemble(100, (2, 5), max_samples=0.7, max_iter=4, random_state=seed)
generator.generate(X)  # compiles
for stage in ("before", "half", "complete", "renamed"):
    for number in (1, 2, chance.randint(3, 100)):
        run(place / f"{stage}-{number}", dying(stage, number))
for chain in range(4):
    folder = place / f"chain-{chain}"
    folder.mkdir()  # a process may be killed before it does
    # A hundred slow members take 2 s at least: none of these ends by itself.
    for _ in range(chance.randint(1, 4)):
        run(folder, slow, chance.uniform(0, 0.09))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no processes to fork")
def test_a_run_killed_at_any_moment_is_resumed_to_the_same_members(X, tmp_path):
    seed = secrets.randbelow(2**31)
    print("seed", seed)  # shown if it fails; the moments are others in every run anyway
    X = X[::2]
    np.save(tmp_path / "X.npy", X)
    script = tmp_path / "killed.py"
    script.write_text(_KILLED)
    subprocess.run([sys.executable, script, tmp_path, str(seed)], check=True, timeout=300)
    generator = KMeansEnsemble(100, (2, 5), max_samples=0.7, max_iter=4, random_state=seed)
    whole = generator.generate(X)
    folders = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(folders) == 16
    counts = []
    for folder in folders:
        counts.append(len(RunFolder(folder).finished))
        resumed = generator.generate(X, checkpoint=RunFolder(folder))
        _assert_same(resumed, whole)
        _assert_clean(folder)
    assert min(counts) < 3
    assert max(counts) < 100
    assert len(set(counts)) > 3


def test_what_a_killed_process_left_half_written_is_swept_away(X, tmp_path):
    folder, _, whole = _whole("kmeans")
    shutil.copytree(folder.name, tmp_path, dirs_exist_ok=True)
    (tmp_path / ".consilience-partial-abc.json").write_text("{")
    (tmp_path / "members" / ".consilience-partial-xyz.npz").write_bytes(b"PK")
    mine = tmp_path / ".partial-copy.json"  # the name of a file of somebody else
    mine.write_text("mine")
    _chunks(tmp_path)[3].unlink()
    _assert_same(_generator("kmeans").generate(X, checkpoint=RunFolder(tmp_path)), whole)
    assert mine.read_text() == "mine"
    mine.unlink()
    _assert_clean(tmp_path)


# ---- damaged ------------------------------------------------------------------------------


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
    folder, _, whole = _whole("kmeans")
    shutil.copytree(folder.name, tmp_path, dirs_exist_ok=True)
    damage(tmp_path / "members" / "0011.npz")
    assert RunFolder(tmp_path).finished == [n for n in range(40) if n != 11]
    _assert_same(_generator("kmeans").generate(X, checkpoint=RunFolder(tmp_path)), whole)
    assert RunFolder(tmp_path).finished == list(range(40))


def test_no_flipped_byte_of_a_member_goes_unnoticed(tmp_path):
    folder, _, whole = _whole("lac")
    (tmp_path / "members").mkdir()
    path = tmp_path / "members" / "0000.npz"
    healthy = _chunks(folder.name)[0].read_bytes()
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
    folder, _, _ = _whole("kmeans")
    shutil.copytree(folder.name, tmp_path, dirs_exist_ok=True)
    (tmp_path / "plan.json").write_bytes(b"")  # what a loss of power leaves
    assert RunFolder(tmp_path).plan is None
    other = KMeansEnsemble(40, (2, 4), random_state=8)
    _assert_same(other.generate(X, checkpoint=RunFolder(tmp_path)), other.generate(X))


def test_a_lost_plan_is_written_again_and_its_members_found(X, tmp_path):
    folder, _, whole = _whole("kmeans")
    shutil.copytree(folder.name, tmp_path, dirs_exist_ok=True)
    before = {path: path.stat().st_mtime_ns for path in _chunks(tmp_path)}
    (tmp_path / "plan.json").unlink()
    _assert_same(_generator("kmeans").generate(X, checkpoint=RunFolder(tmp_path)), whole)
    assert {path: path.stat().st_mtime_ns for path in _chunks(tmp_path)} == before


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


# ---- another run --------------------------------------------------------------------------


def _changed_value(X):
    X[41, 2] += 1e-12
    return X


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_changed_value, r"the data have other values, first among rows 41 to 41\."),
        (lambda X: X[:-3], r"the shape of the data was 60 x 4, now 57 x 4\."),
        (lambda X: X[:, :3], r"the shape of the data was 60 x 4, now 60 x 3\."),
        (lambda X: X.astype(np.float32), r"the type of the data was float64, now float32\."),
    ],
)
def test_other_data_are_refused(X, change, message):
    for name in ("kmeans", "combined"):
        run = RunFolder(_whole(name)[0].name)
        # LAC, which is part of the combined generator, takes no sparse data at all.
        with pytest.raises(ResumeError, match=rf"holds another run.*: {message}.*clear\(\)"):
            _generator(name).generate(change(X.copy()), checkpoint=run)


def test_sparse_data_are_other_data_unless_they_are_small(X, monkeypatch):
    folder, _, whole = _whole("kmeans")
    again = _generator("kmeans").generate(sparse.csr_array(X), checkpoint=RunFolder(folder.name))
    np.testing.assert_array_equal(again.members, whole.members)
    monkeypatch.setattr("consilience.generate.kmeans._SMALL", X.size - 1)
    with pytest.raises(ResumeError, match=r"data was float64, now sparse float64\."):
        _generator("kmeans").generate(sparse.csr_array(X), checkpoint=RunFolder(folder.name))


@pytest.mark.parametrize(
    ("name", "params", "wanted"),
    [
        ("kmeans", {"n_clusters": 3}, "n_clusters was (2, 4), now 3"),
        ("kmeans", {"n_clusters": [2, 4]}, "n_clusters was (2, 4), now [2, 4]"),
        ("kmeans", {"n_members": 50}, "n_members was 40, now 50"),
        ("kmeans", {"random_state": 8}, "random_state was 7, now 8"),
        ("kmeans", {"random_state": None}, "random_state was 7, now None"),
        ("estimators", {"n_clusters": [2, 4]}, "n_clusters was [2, 3], now [2, 4]"),
        (
            "estimators",
            {"estimators": [KMeans(n_init=2), DBSCAN(eps=0.6)]},
            "estimators[0].n_init was 1, now 2",
        ),
        (
            "estimators",
            {"estimators": [KMeans(n_init=1), KMeans(n_init=1)]},
            "estimators[1] was DBSCAN, now KMeans",
        ),
        (
            "combined",
            {"generators": [KMeansEnsemble(20, 2, max_iter=9), _INNER]},
            "generators[0].max_iter was 100, now 9",
        ),
    ],
)
def test_other_parameters_are_refused_by_name_with_both_values(X, name, params, wanted):
    run = RunFolder(_whole(name)[0].name)
    before = _chunks(run.folder)
    with pytest.raises(ResumeError, match="Run it as it was, take another folder, or") as caught:
        _generator(name).set_params(**params).generate(X, checkpoint=run)
    assert wanted in caught.value.differences
    assert wanted in str(caught.value)
    assert caught.value.folder == run.folder
    assert _chunks(run.folder) == before
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.differences) == (str(caught.value), caught.value.differences)


def test_another_generator_is_refused(X):
    run = RunFolder(_whole("kmeans")[0].name)
    with pytest.raises(ResumeError, match=r"generator was \S*KMeansEnsemble, now \S*LACEnsemble"):
        LACEnsemble(6, 3).generate(X, checkpoint=run)


@pytest.mark.parametrize("package", ["consilience", "scikit-learn", "numpy"])
def test_another_version_is_refused(X, tmp_path, package):
    shutil.copytree(_whole("kmeans")[0].name, tmp_path, dirs_exist_ok=True)
    plan = json.loads((tmp_path / "plan.json").read_text())
    plan["versions"][package] = "0.0.1"
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(ResumeError, match=rf"the version of {package} was 0\.0\.1, now \d"):
        _generator("kmeans").generate(X, checkpoint=RunFolder(tmp_path))


def test_another_job_is_refused(X, tmp_path):
    generator = KMeansEnsemble(4, 2, random_state=0)
    job = {"data": Path("cells.csv"), "scale": "standard", "columns": ("a", "b")}
    whole = generator.generate(X, checkpoint=RunFolder(tmp_path, job=job))
    assert RunFolder(tmp_path).plan["job"] == {
        "data": "cells.csv",
        "scale": "standard",
        "columns": ["a", "b"],
    }
    _assert_same(generator.generate(X, checkpoint=RunFolder(tmp_path, job=job)), whole)
    other = {**job, "scale": "none", "impute": "mean"}
    with pytest.raises(ResumeError) as caught:
        generator.generate(X, checkpoint=RunFolder(tmp_path, job=other))
    wanted = ("scale was standard, now none", "impute was not given, now mean")
    assert caught.value.differences == wanted


def test_a_random_state_is_known_by_what_it_draws(X, tmp_path):
    state = np.random.RandomState(3)
    generator = KMeansEnsemble(6, 2, random_state=state)
    whole = generator.generate(X, checkpoint=RunFolder(tmp_path))
    with pytest.raises(ResumeError, match="the seeds that 'random_state' draws are others"):
        generator.generate(X, checkpoint=RunFolder(tmp_path))
    generator.set_params(random_state=np.random.RandomState(3))
    _assert_same(generator.generate(X, checkpoint=RunFolder(tmp_path)), whole)


def test_a_folder_with_a_run_is_refused_without_resume(X, tmp_path):
    generator = KMeansEnsemble(4, 2, random_state=0)
    run = RunFolder(tmp_path / "new" / "folder", resume=False)
    generator.generate(X, checkpoint=run)
    with pytest.raises(ResumeError, match=r"already holds a run \(4 of 4 members\). Resume it"):
        generator.generate(X, checkpoint=run)


# ---- the folder ---------------------------------------------------------------------------


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
    whole = _generator(name).generate(X, checkpoint=run)
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
    _assert_same(_generator(name).generate(X, checkpoint=run), whole)


@pytest.mark.parametrize("name", ["kmeans", "combined"])
def test_a_folder_is_bare_until_a_member_is_there(name, X, tmp_path):
    run = RunFolder(tmp_path)
    assert run.is_bare() is True
    _generator(name).generate(X, checkpoint=run)
    assert run.is_bare() is False
    run.clear()
    assert run.is_bare() is True


def test_clear_goes_on_where_somebody_took_a_file_away(X, tmp_path, monkeypatch):
    run = RunFolder(tmp_path)
    _generator("kmeans").generate(X, checkpoint=run)
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


# ---- the plan -----------------------------------------------------------------------------


@settings(max_examples=25)
@given(st.integers(2, 200), st.integers(1, 4), st.data(), st.booleans())
def test_any_other_value_gives_another_fingerprint(n, d, data, thin):
    X = np.arange(n * d, dtype=float).reshape(n, d)
    row, column = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, d - 1))
    other = X.copy()
    other[row, column] += 0.5
    shape = sparse.csr_array if thin else np.asarray
    first, second = fingerprint(shape(X)), fingerprint(shape(other))
    assert first == fingerprint(shape(X.copy()))
    pairs = zip(first["digests"], second["digests"], strict=True)
    # The first: in a sparse matrix one more value shifts all rows behind it.
    block = next(b for b, (before, now) in enumerate(pairs) if before != now)
    assert first["rows"][block] <= row < first["rows"][block + 1]


def test_a_plan_is_the_same_in_every_process():
    odd = {"b", "a", "c"}
    deep = make_pipeline(StandardScaler(), KMeans(init=np.eye(2), n_init=1))
    generator = EstimatorEnsemble([deep, Odd(random_state=odd), Odd(random_state={"f": len})])
    generator.estimators[0].set_params(kmeans__tol=np.float64(0.1))
    told = make_plan(generator, np.eye(3), 3, [1, 2, 3], {})["parameters"]
    assert told["estimators[0].steps[1][1].tol"] == "0.1"
    assert told["estimators[0].steps[1][1].init"].startswith("array (2, 2) float64 ")
    assert told["estimators[1].random_state"] == "{'a', 'b', 'c'}"
    assert told["estimators[2].random_state"] == "{'f': <built-in function len>}"
    assert "n_jobs" not in told
    own = EstimatorEnsemble(Odd(random_state=_data))
    text = make_plan(own, np.eye(3), 3, [1, 2, 3], {})["parameters"]["estimators.random_state"]
    assert text == "<function _data>"


def test_long_values_are_cut_short_unless_that_hides_the_difference(X, tmp_path):
    generator = KMeansEnsemble(4, list(range(2, 50)), random_state=0)
    run = RunFolder(tmp_path)
    generator.generate(X, checkpoint=run)
    with pytest.raises(ResumeError) as caught:
        generator.set_params(n_clusters=[3, *range(3, 50)]).generate(X, checkpoint=run)
    assert len(caught.value.differences[0]) < 200
    with pytest.raises(ResumeError, match="48, 50]"):
        generator.set_params(n_clusters=[*range(2, 49), 50]).generate(X, checkpoint=run)
