"""What is kept of the repetitions while they are counted, and when."""

from types import SimpleNamespace

import numpy as np
import pytest

from consilience.minority import _kept
from consilience.minority._stopping import Progress, count_up
from consilience.minority.scores import Running
from consilience.minority.weak import weak_clusterer


class Keeper(dict):
    """A folder's pieces, in memory; counts how often something was put."""

    puts = 0

    def put(self, name, arrays):
        self[name] = {key: value.copy() for key, value in arrays.items()}
        self.puts += 1


@pytest.fixture
def clock(monkeypatch):
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr(_kept, "time", SimpleNamespace(monotonic=lambda: clock.now))
    return clock


def counted(stop, X, *, more_of=None):
    """A run up to some number of repetitions, from the beginning or on with another."""
    weak = weak_clusterer("soft", divergence="gaussian", k_max=9).fit(X)
    running, progress = more_of or (Running.empty(len(X), "log"), Progress("paper"))
    told = {"wanted": stop, "ceiling": stop, "seed": 5, "n_jobs": 1}
    for _ in count_up(running, weak, X, progress, **told):
        pass
    return weak, running, progress


@pytest.fixture
def X(seed):
    return np.random.default_rng(seed).normal(size=(30, 2))


def test_repetitions_are_written_half_a_minute_apart_and_at_the_end(clock, X):
    _, running, progress = counted(3, X)
    keeper = Keeper()
    kept = _kept.KeptRepetitions(keeper)
    for seconds, now, puts in (
        (0.0, False, 0), (29.9, False, 0), (0.1, False, 1), (29.9, False, 1), (0.0, True, 2),
        (29.9, False, 2), (0.2, False, 3),
    ):  # fmt: skip
        clock.now += seconds
        kept.keep(running, progress, now=now)
        assert keeper.puts == puts
    _kept.KeptRepetitions(None).keep(running, progress, now=True)


@pytest.mark.parametrize("first", [1, 100, 130])
def test_a_run_that_goes_on_is_the_run_that_was_not_interrupted(first, X):
    weak, running, progress = counted(first, X)
    keeper = Keeper()
    _kept.KeptRepetitions(keeper).keep(running, progress, now=True)
    again = Running.empty(len(X), "log"), Progress("paper")
    _kept.KeptRepetitions(keeper).restore(*again, weak, 5)
    assert again[0].n_repetitions == first
    assert again[1].seen == progress.seen
    _, found, looked = counted(210, X, more_of=again)
    _, wanted, seen = counted(210, X)
    for name in ("total", "squares", "shift", "changes"):
        np.testing.assert_array_equal(getattr(found, name), getattr(wanted, name))
    assert looked.seen == seen.seen
    assert [R for R, *_ in seen.seen] == [100, 200]
    for one, other in zip(found.draws, wanted.draws, strict=True):
        np.testing.assert_array_equal(one.rows, other.rows)
    for one, other in zip(found.sizes, wanted.sizes, strict=True):
        np.testing.assert_array_equal(one, other)


def test_sums_that_were_begun_stay_as_they_are(X):
    weak, running, progress = counted(4, X)
    keeper = Keeper()
    _kept.KeptRepetitions(keeper).keep(running, progress, now=True)
    _, other, looked = counted(2, X)
    before = other.total.copy()
    _kept.KeptRepetitions(keeper).restore(other, looked, weak, 5)
    assert other.n_repetitions == 2
    np.testing.assert_array_equal(other.total, before)
    empty = Running.empty(len(X), "log"), Progress()
    for nothing in (None, Keeper()):
        _kept.KeptRepetitions(nothing).restore(*empty, weak, 5)
        assert empty[0].n_repetitions == 0
