"""Runs that are interrupted or killed, and resumed."""

import os
import secrets
import shutil
import subprocess
import sys

import numpy as np
import pytest
from generate.run_folders import (
    assert_clean,
    assert_same,
    member_files,
    seeded,
    whole_run,
)

from consilience.errors import ConsilienceWarning
from consilience.generate import (
    KMeansEnsemble,
)
from consilience.generate.checkpoint import RunFolder


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
    whole = whole_run("kmeans")[2]
    run = RunFolder(tmp_path)
    generator = seeded("kmeans").set_params(n_jobs=n_jobs)
    with pytest.raises(KeyboardInterrupt):
        generator.set_callbacks(Hook(after, _interrupt)).generate(X, checkpoint=run)
    done = run.finished
    assert after <= len(done) <= after + 4  # the group that was reported is kept
    assert_same(run.ensemble(), whole[done])
    assert_clean(tmp_path)
    hook = Hook(0, _interrupt)
    assert_same(seeded("kmeans").set_callbacks(hook).generate(X, checkpoint=run), whole)
    assert hook.ends == 40  # progress counts what was there already


def test_a_callback_that_stops_the_run_keeps_what_is_done(X, tmp_path):
    whole = whole_run("kmeans")[2]
    for after, least in ((8, 10), (2, 10), (12, 15)):
        generator = seeded("kmeans").set_callbacks(Hook(after, lambda: True))
        with pytest.warns(ConsilienceWarning, match=rf"Stopped by a callback after {least} of 40"):
            ensemble = generator.generate(X, checkpoint=RunFolder(tmp_path))
        assert_same(ensemble, whole[:least])
    two = seeded("kmeans").set_params(n_jobs=2).set_callbacks(Hook(8, lambda: True))
    with pytest.warns(ConsilienceWarning, match="Stopped by a callback after 10 of 40") as caught:
        assert_same(two.generate(X), whole[:10])
    assert len(caught) == 1  # joblib has nothing to add


KILLED = """
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
    script.write_text(KILLED)
    subprocess.run([sys.executable, script, tmp_path, str(seed)], check=True, timeout=300)
    generator = KMeansEnsemble(100, (2, 5), max_samples=0.7, max_iter=4, random_state=seed)
    whole = generator.generate(X)
    folders = [path for path in tmp_path.iterdir() if path.is_dir()]
    assert len(folders) == 16
    counts = []
    for folder in folders:
        counts.append(len(RunFolder(folder).finished))
        resumed = generator.generate(X, checkpoint=RunFolder(folder))
        assert_same(resumed, whole)
        assert_clean(folder)
    assert min(counts) < 3
    assert max(counts) < 100
    assert len(set(counts)) > 3


def test_what_a_killed_process_left_half_written_is_swept_away(X, tmp_path):
    folder, _, whole = whole_run("kmeans")
    shutil.copytree(folder.name, tmp_path, dirs_exist_ok=True)
    (tmp_path / ".consilience-partial-abc.json").write_text("{")
    (tmp_path / "members" / ".consilience-partial-xyz.npz").write_bytes(b"PK")
    mine = tmp_path / ".partial-copy.json"  # the name of a file of somebody else
    mine.write_text("mine")
    member_files(tmp_path)[3].unlink()
    assert_same(seeded("kmeans").generate(X, checkpoint=RunFolder(tmp_path)), whole)
    assert mine.read_text() == "mine"
    mine.unlink()
    assert_clean(tmp_path)
