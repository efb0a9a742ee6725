"""Linear algebra on one thread, and the libraries that have threads looked for once."""

import sys
from types import ModuleType

from threadpoolctl import threadpool_info, threadpool_limits

from consilience import _threads
from consilience._threads import one_thread


def threads():
    return {library["num_threads"] for library in threadpool_info()}


def test_inside_there_is_one_thread_and_outside_as_many_as_before():
    with threadpool_limits(2):
        before = threads()
        with one_thread():
            assert threads() == {1}
            with one_thread():
                assert threads() == {1}
            assert threads() == {1}
        assert threads() == before == {2}


def test_libraries_are_looked_for_again_only_after_an_import(monkeypatch):
    looked = []
    whole = _threads.ThreadpoolController
    monkeypatch.setattr(_threads, "ThreadpoolController", lambda: looked.append(1) or whole())
    _threads._libraries.cache_clear()
    for _ in range(3):
        with one_thread():
            pass
    assert len(looked) == 1
    monkeypatch.setitem(sys.modules, "a_module_with_a_library", ModuleType("new"))
    for _ in range(3):
        with one_thread():
            pass
    assert len(looked) == 2
