"""Compiled code is found again, never after a change, and may be impossible to keep."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from numba import config

from consilience.kernels import _jit

pytestmark = pytest.mark.skipif(bool(config.DISABLE_JIT), reason="nothing is compiled")

# A kernel calls one of its own name, on the same line of a file of its own name, in another folder;
# the command tells the result, and whether the code was found.
OUTER = """
from small.kernels._jit import compiled
from small.kernels.inner.job import job as inner

@compiled(error_model="numpy")
def job(x):
    return inner(x) + 1
"""
INNER = """

from small.kernels._jit import compiled

@compiled(error_model="numpy")
def job(x):
    return x * 2
"""
RUN = """
import sys
import small
from small.kernels.outer.job import job
print(job(int(sys.argv[1])), sum(job.stats.cache_hits.values()))
"""
NOWHERE = "/proc/no/such/folder"


@pytest.fixture
def small(tmp_path):
    """A package of two kernels that is compiled as ours is."""
    folder = tmp_path / "small" / "kernels"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder.parent / "__init__.py").write_text('__version__ = "1"\n')
    for name, source in {"outer": OUTER, "inner": INNER}.items():
        (folder / name).mkdir()
        (folder / name / "job.py").write_text(source)
    shutil.copy(_jit.__file__, folder / "_jit.py")
    return folder


def run(folder, **environment):
    """Result, whether the code was found, and what was said."""
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG"))}
    done = subprocess.run(
        [sys.executable, "-B", "-c", RUN, "10"],
        env={**inherited, "PYTHONPATH": str(folder.parent.parent), **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    result, hits = done.stdout.split()
    return int(result), int(hits), done.stderr


def test_compiled_code_is_found_again_and_never_after_an_upgrade_in_place(small):
    assert run(small) == (21, 0, "")
    assert run(small) == (21, 1, "")
    # The kernel that is called, in another file than the one that is asked for.
    (small / "inner" / "job.py").write_text(INNER.replace("x * 2", "x * 3"))
    assert run(small) == (31, 0, "")
    (small.parent / "__init__.py").write_text('__version__ = "2"\n')
    assert run(small) == (31, 0, "")


def test_that_code_is_compiled_is_said_once_and_where_it_is_found_not_at_all(small, monkeypatch):
    heard = "import logging; logging.basicConfig(level=logging.INFO, format='%(name)s %(message)s')"
    monkeypatch.setattr(sys.modules[__name__], "RUN", heard + RUN)
    assert run(small) == (21, 0, "consilience.kernels compiling, only this once\n")
    assert run(small) == (21, 1, "")


@pytest.mark.skipif(not Path("/proc").is_dir(), reason="a folder that nobody can write")
def test_without_a_place_for_it_code_is_compiled_every_time_with_one_note(small):
    (small / "__pycache__").touch()
    places = {"NUMBA_CACHE_DIR": NOWHERE, "HOME": NOWHERE}
    for _ in range(2):
        result, hits, said = run(small, **places)
        assert (result, hits) == (21, 0)
        assert said.count("\n") == 1
        assert "compiled code is not kept" in said
        assert "NUMBA_CACHE_DIR" in said


def test_damaged_files_are_compiled_anew_and_mended(small):
    run(small)
    (folder,) = (small / "__pycache__").glob("kernels-*")
    for kept in folder.iterdir():
        kept.write_bytes(kept.read_bytes()[:20])
    assert run(small) == (21, 0, "")
    assert run(small) == (21, 1, "")


def test_code_of_earlier_versions_is_removed_but_for_a_few(tmp_path):
    for number in range(6):
        (tmp_path / f"kernels-{number}").mkdir()
        os.utime(tmp_path / f"kernels-{number}", (number, number))
    (tmp_path / "other").mkdir()
    _jit._remove_old(tmp_path, "kernels-0")
    kept = {"other", "kernels-0", "kernels-3", "kernels-4", "kernels-5"}
    assert {entry.name for entry in tmp_path.iterdir()} == kept


def test_without_a_home_no_folder_is_made_where_the_command_runs(monkeypatch):
    monkeypatch.setattr(_jit.AppDirs, "user_cache_dir", "~/.cache/numba")
    assert all(place.is_absolute() for place in _jit._candidates())


def test_a_full_disk_costs_the_cache_not_the_result(monkeypatch, tmp_path, caplog):
    monkeypatch.setattr(_jit, "_folder", lambda: tmp_path)
    _jit._say_once.cache_clear()

    def twice(x):
        return 2 * x

    kernel = _jit.compiled(twice)

    def full(self, *_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(type(kernel._cache._cache_file), "save", full)
    assert kernel(4) == 8
    assert kernel(4.0) == 8.0
    assert [record.getMessage().count("No space left") for record in caplog.records] == [1]


def test_every_command_starts_without_a_place_for_compiled_code(tmp_path):
    code = (
        "import pathlib, sys\n"
        "from consilience.kernels import _jit\n"
        f"_jit._candidates = lambda: [pathlib.Path({NOWHERE!r})]\n"
        "from consilience.cli import main\n"
        "sys.exit(main(['methods', '--json']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout.startswith("[")
    assert done.stderr.count("\n") == 1


def test_every_kernel_is_compiled_in_that_one_way():
    sources = [path for path in Path(_jit.__file__).parent.rglob("*.py") if path.name != "_jit.py"]
    assert len(sources) > 40
    direct = [
        path.name for path in sources if "njit" in path.read_text() or "@jit" in path.read_text()
    ]
    assert direct == []
