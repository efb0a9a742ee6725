"""How kernels are compiled, and where the compiled code is kept: the one place that says it.

A kernel holds the compiled code of the kernels it calls, in whatever file those stand. So the
code of all kernels is kept in one folder named after the contents of all their files, the
package's version and that of numba: when one of these changes, nothing old can be found. The
folder lies in ``NUMBA_CACHE_DIR`` if that is set, beside the sources, or among the user's
caches; where none of these can be written, code is compiled anew in every process, with one
note. While a new folder is filled, the logger ``consilience.kernels`` says so once, as information.
"""

import hashlib
import logging
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing import current_process
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _CacheLocator
from numba.misc.appdirs import AppDirs

from consilience.kernels._linked import Kernel, is_linked
from consilience.kernels._plain import Patience, PlainFirst, n_values

__all__ = ["compiled"]

_HERE = Path(__file__).resolve().parent
_NAME = "kernels-"
# Folders of other versions that stay: another environment may use the same sources.
_OTHERS_KEPT = 3
# The folder, if this process made it, until its first kernel is compiled.
_new_folders: list[Path] = []


def compiled(
    function: Callable[..., Any] | None = None,
    /,
    *,
    plain_up_to: int | None = None,
    size: Callable[..., int] = n_values,
    plain: Callable[..., Any] | None = None,
    **options: Any,
) -> Any:
    """Compile a kernel on its first call, without the interpreter's lock; decorates.

    Parameters
    ----------
    plain_up_to : int, optional
        Size up to which a call is small: interpreted as long as that pays (see `_plain`). Compiled
        at once where it is not given.
    size : function
        The size of a call, of its arguments; values of all arrays by default. What takes longer
        than in proportion to these says so.
    plain : function, optional
        What to run in its place where it, or a kernel that calls it, is interpreted.
    **options
        Further options of `numba.njit`.
    """
    if function is None:
        given = {"plain_up_to": plain_up_to, "size": size, "plain": plain, **options}
        return lambda decorated: compiled(decorated, **given)
    if numba.config.DISABLE_JIT:
        return function
    options = {"nopython": True, "nogil": True, "boundscheck": None, **options}
    if plain_up_to is None:
        kernel = Kernel(function, targetoptions=options)
    else:
        kernel = PlainFirst(function, targetoptions=options)
        kernel.patience, kernel.size = Patience(kernel, plain_up_to), size
    kernel.plain = plain
    if _folder() is not None:
        kernel._cache = _KernelCache(function)
    return kernel


class _Locator(_CacheLocator):
    """Tells numba where the code of a kernel is kept."""

    def __init__(self, line: int) -> None:
        self._line = line
        self._py_file = str(_HERE)  # named in numba's warnings

    def get_cache_path(self) -> str:
        """The folder of all kernels as they now stand."""
        return str(_folder())

    def get_source_stamp(self) -> str:
        """What the folder's name says already."""
        return _stamp()

    def get_disambiguator(self) -> str:
        """Two kernels of one name differ by their lines."""
        return str(self._line)


class _KernelFiles(CompileResultCacheImpl):
    """Names the files of a kernel; does what its base does with what they hold."""

    def __init__(self, function: Callable[..., Any]) -> None:
        code = function.__code__
        self._lineno = code.co_firstlineno
        self._locator = _Locator(code.co_firstlineno)
        file = Path(code.co_filename).resolve()
        home = file.relative_to(_HERE).with_suffix("").parts if _HERE in file.parents else ()
        name = ".".join([*(home or [file.stem]), function.__qualname__])
        self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))


class _KernelCache(FunctionCache):
    """Code of one kernel on disk; a file that cannot be used costs time, never a result."""

    _impl_class = _KernelFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The code for these types, None if there is none or the file is damaged."""
        try:
            kept = super().load_overload(sig, target_context)
        except Exception:  # whatever a cut or foreign pickle may raise
            self._forget()
            kept = None
        if kept is None and _new_folders:
            _new_folders.clear()
            logging.getLogger("consilience.kernels").info("compiling, only this once")
        return kept

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the code, unless the disk is full or the folder has become read-only."""
        if is_linked(data):  # kept as part of the kernel that calls it
            return
        try:
            super().save_overload(sig, data)
        except OSError as error:
            self._forget()
            self.disable()
            _say_once(error.strerror or str(error))

    def holds_code(self) -> bool:
        """Whether there is a list of what is kept."""
        return Path(self._cache_file._index_path).exists()

    def _forget(self) -> None:
        """Remove the list of what is kept, so that it starts afresh."""
        try:
            Path(self._cache_file._index_path).unlink(missing_ok=True)
        except OSError:
            return


@cache
def _stamp() -> str:
    """Hash of all that compiled code depends on."""
    total = hashlib.sha256(numba.__version__.encode())
    for source in [_HERE.parent / "__init__.py", *sorted(_HERE.rglob("*.py"))]:
        content = source.read_bytes()
        name = source.relative_to(_HERE.parent).as_posix()
        total.update(f"{name} {len(content)}\n".encode() + content)
    return total.hexdigest()[:16]


@cache
def _folder() -> Path | None:
    """The folder for compiled code, made if need be; None if none can be written."""
    try:
        name = _NAME + _stamp()
    except OSError:  # imported from an archive, or without sources
        _say_once("the sources cannot be read")
        return None
    for parent in _candidates():
        folder = parent / name
        try:
            new = not folder.is_dir()
            folder.mkdir(parents=True, exist_ok=True)
            tempfile.TemporaryFile(dir=folder).close()
        except OSError:
            continue
        if new:
            _remove_old(parent, name)
            _new_folders.append(folder)
        return folder
    _say_once("no folder for it can be written")
    return None


def _candidates() -> Iterator[Path]:
    """Where the folder may lie, the best place first."""
    # Installations that share a place do not share a folder.
    ours = "consilience_" + hashlib.sha256(os.fsencode(_HERE)).hexdigest()[:16]
    if numba.config.CACHE_DIR:
        yield Path(numba.config.CACHE_DIR) / ours
    yield _HERE / "__pycache__"
    user = Path(AppDirs(appname="numba", appauthor=False).user_cache_dir)
    if user.is_absolute():  # without a home "~" is left as it is
        yield user / ours


def _remove_old(parent: Path, name: str) -> None:
    """Remove the code of earlier versions, all but that of the last few."""
    try:
        others = [entry for entry in parent.glob(f"{_NAME}*") if entry.name != name]
        others.sort(key=lambda entry: entry.stat().st_mtime)
    except OSError:  # another process removes them, too
        return
    for entry in others[: len(others) - _OTHERS_KEPT]:
        shutil.rmtree(entry, ignore_errors=True)


@cache
def _say_once(why: str) -> None:
    """Note that compiled code is not kept; helper processes leave that to the first one."""
    if current_process().name == "MainProcess":
        logging.getLogger("consilience").warning(
            "consilience: compiled code is not kept (%s), so every start takes longer. Set "
            "NUMBA_CACHE_DIR to a folder that can be written.",
            why,
        )
