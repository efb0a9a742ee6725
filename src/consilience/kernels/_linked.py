"""Kernels that other kernels call become machine code once, in the kernel that Python calls.

numba compiles every function by itself before it compiles it again into each of its callers:
optimised, as machine code, and with an entry for Python. Of a tree of kernels the leaves are so
optimised once for every level above them, and most of that is thrown away. Here a kernel that is
met while another one is compiled stops after its own translation; optimisation and machine code
are left to the kernel at the top, and Python has no entry to it. Should Python call it after all,
it is compiled as a kernel of its own then.

Meanwhile Python's search for cyclic garbage rests: it would walk through everything that was
imported again and again, a seventh of the time, to find next to nothing.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.sigutils import normalize_signature

__all__ = ["Kernel", "is_linked"]

# Kernels that are being compiled, each for the one before; read and written under numba's lock.
_compiling: list["Kernel"] = []


class Kernel(CPUDispatcher):
    """A function that is compiled for the types it is called with."""

    # What to run in its place where it is interpreted, if not its own Python.
    plain: Any = None

    def __init__(self, py_func: Any, locals: Any = None, targetoptions: Any = None) -> None:
        super().__init__(py_func, locals or {}, targetoptions or {}, pipeline_class=_Pipeline)

    def compile(self, sig: Any) -> Any:
        """Compile for these types, for Python or for the kernel that is being compiled."""
        with global_compiler_lock, _noted(self):
            if len(_compiling) == 1:
                types, _ = normalize_signature(sig)
                kept = self.overloads.get(types)
                if kept is not None and is_linked(kept):
                    del self.overloads[types]
            return super().compile(sig)

    def add_overload(self, cres: Any) -> None:
        """Take in compiled code; Python hears only of what it may call."""
        if not is_linked(cres):
            super().add_overload(cres)
            return
        # Callers find it by its entry point, whatever that is: nobody enters.
        cres = cres._replace(entry_point=object())
        self.targetctx.insert_user_function(cres.entry_point, cres.fndesc, [cres.library])
        self.overloads[tuple(cres.signature.args)] = cres


def is_linked(compiled: Any) -> bool:
    """Whether code is there for other kernels only."""
    return isinstance(compiled.library, _LinkedLibrary)


@contextmanager
def _noted(kernel: Kernel) -> Iterator[None]:
    """Note that a kernel is being compiled."""
    collects = gc.isenabled()
    gc.disable()
    _compiling.append(kernel)
    try:
        yield
    finally:
        _compiling.pop()
        if collects:
            gc.enable()


class _Pipeline(CompilerBase):
    """The steps of numba, of which the last are left out for a kernel inside another one."""

    def define_pipelines(self) -> list[Any]:
        """The passes; called when all else about the kernel is known."""
        state = self.state
        state.flags.no_cfunc_wrapper = True  # for callers in C: there are none
        if len(_compiling) > 1:
            state.flags.no_cpython_wrapper = state.flags.no_compile = True
            name = state.func_id.func_qualname
            state.library = _LinkedLibrary(state.targetctx.codegen(), name)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class _LinkedLibrary(JITCodeLibrary):
    """Code that is linked into that of callers, and optimised there."""

    def _optimize_final_module(self) -> None:
        """Left to the caller."""

    def _finalize_final_module(self) -> None:
        """Complete as it is: there is no machine code."""
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        self._finalized = True
