"""Workers: never more than are of use, and fewer or none where threads cannot start."""

import os
import threading
import time

import numpy as np
import pytest

from consilience.generate import KMeansEnsemble
from consilience.kernels import _parallel
from consilience.kernels._parallel import (
    Parallel,
    Team,
    delayed,
    in_threads,
    in_turns,
    streamed,
    workers,
)


@pytest.fixture
def thread_limit(monkeypatch):
    """Lets so many threads live at once, and no more."""

    def limit(most):
        monkeypatch.setattr(_parallel, "_waiting", [])  # threads of earlier tests
        start = threading.Thread.start
        started = []  # threads of earlier tests may end meanwhile: they do not count

        def start_if_allowed(thread):
            if sum(other.is_alive() for other in started) >= most:
                raise RuntimeError("can't start new thread")
            start(thread)
            started.append(thread)

        monkeypatch.setattr(threading.Thread, "start", start_if_allowed)

    return limit


def test_a_million_workers_are_as_many_as_are_of_use():
    assert workers(1_000_000, 3) == min(3, 4 * os.cpu_count())
    assert workers(1_000_000, 10**6) == 4 * os.cpu_count()
    assert workers(None, 10) == workers(1, 10) == 1
    assert workers(-1_000_000, 10) == 1
    assert Parallel(1_000_000, prefer="threads")(delayed(abs)(-i) for i in range(9)) == [*range(9)]


@pytest.mark.parametrize("most", [0, 1, 5, 100])
@pytest.mark.parametrize("options", [{"prefer": "threads"}, {"require": "sharedmem"}])
def test_the_work_is_done_whatever_number_of_threads_can_start(thread_limit, most, options):
    thread_limit(most)
    assert 1 <= workers(4, 10) <= max(1, most)
    assert Parallel(4, **options)(delayed(abs)(-i) for i in range(9)) == list(range(9))
    lazy = Parallel(4, return_as="generator", **options)(delayed(abs)(-i) for i in range(9))
    assert list(lazy) == list(range(9))


@pytest.mark.parametrize("most", [0, 1, 5, 100])
def test_turns_are_taken_by_as_many_threads_as_can_start(thread_limit, most):
    thread_limit(most)
    taken = in_turns(lambda first, step: list(range(first, 20, step)), 20, 4)
    assert 1 <= len(taken) <= most + 1
    assert sorted(i for turn in taken for i in turn) == list(range(20))
    assert list(streamed(abs, range(-9, 0), 4)) == [(i, -i) for i in range(-9, 0)]
    assert sorted(streamed(abs, range(-9, 0), 4, in_order=False)) == [(i, -i) for i in range(-9, 0)]


def test_all_turns_have_ended_when_one_of_them_raises():
    ended = []

    def turn(first, step):
        try:
            if first == 0:
                raise KeyboardInterrupt
            assert over.wait(20)
        finally:
            ended.append(first)

    over = threading.Event()
    with pytest.raises(KeyboardInterrupt):
        in_turns(turn, 3, 3, over.set)
    assert sorted(ended) == [0, 1, 2]


def test_calls_nobody_asks_for_are_not_made():
    made = []
    stream = streamed(made.append, range(100), 2)
    next(stream)
    stream.close()
    assert len(made) <= 4


def test_members_are_the_same_where_no_thread_can_start(thread_limit):
    X = np.random.default_rng(0).normal(size=(40, 2))
    wanted = KMeansEnsemble(4, 3, random_state=0).generate(X).members
    thread_limit(0)
    made = KMeansEnsemble(4, 3, random_state=0, n_jobs=3).generate(X).members
    np.testing.assert_array_equal(made, wanted)


def test_threads_tried_are_threads_ended():
    before = set(threading.enumerate())
    assert _parallel._startable(5) == 5
    assert set(threading.enumerate()) <= before


def alive_after(before):
    """Threads that are still there a while after they were told to go."""
    deadline = time.monotonic() + 10
    while (left := set(threading.enumerate()) - before) and time.monotonic() < deadline:
        time.sleep(0.001)
    return left


@pytest.mark.parametrize("most", [0, 1, 2, 100])
def test_a_team_is_of_those_that_can_start(thread_limit, most):
    thread_limit(most)
    with Team(3, 10) as team:
        assert team.size == min(3, most + 1)
        assert team.run(lambda number: number) == list(range(team.size))
        wait = team.aside(lambda: "aside")
        assert team.start(lambda number: -number)() == [-i for i in range(team.size)]
        assert wait() == "aside"
    with Team(3, 1) as team:
        assert team.size == 1


def test_a_team_works_at_the_same_time():
    meeting = threading.Barrier(3, timeout=10)
    with Team(2, 10) as team:
        wait = team.aside(meeting.wait)
        team.run(lambda _: meeting.wait())
        wait()


@pytest.mark.parametrize("failing", [0, 1])
def test_what_a_turn_raises_comes_out_when_all_are_done(failing):
    ended = []

    def turn(number):
        if number == failing:
            raise ValueError(f"turn {number}")
        time.sleep(0.02)
        ended.append(number)

    with Team(2, 10) as team:
        with pytest.raises(ValueError, match=f"turn {failing}"):
            team.run(turn)
        assert ended == [1 - failing]
        assert team.run(lambda number: number) == [0, 1]


def test_a_team_goes_home_also_if_nobody_enters():
    before = set(threading.enumerate())
    with Team(3, 10) as team:
        team.run(abs)
    assert not alive_after(before)
    team = Team(3, 10)
    del team
    assert not alive_after(before)


def test_threads_wait_for_the_next_team():
    idents = []
    for _ in range(5):
        with Team(3, 10) as team:
            idents.append(set(team.run(lambda _: threading.get_ident())))
    assert len(set.union(*idents)) == 3


def test_a_thread_that_is_still_busy_joins_no_other_team(monkeypatch):
    monkeypatch.setattr(_parallel, "_waiting", [])
    over = threading.Event()
    with Team(2, 10) as team:
        team.start(lambda number: over.wait(20))  # nobody waits for it
    with Team(2, 10) as other:
        assert other.run(lambda number: number) == [0, 1]
    over.set()


def test_items_that_wait_are_not_begun_when_one_fails():
    made = []

    def call(item):
        if item == 0:
            raise ValueError("the first")
        time.sleep(0.01)
        made.append(item)

    with pytest.raises(ValueError, match="the first"):
        in_threads(call, range(100), 2)
    assert len(made) < 50


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_has_threads_of_its_own():
    with Team(3, 10) as team:
        team.run(abs)
    child = os.fork()
    if child == 0:
        with Team(3, 10) as team:
            os._exit(0 if team.run(abs) == [0, 1, 2] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
