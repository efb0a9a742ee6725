"""Stored answers of the library: how they are made, written and compared.

This is no oracle: what is stored is what the code said when the files were written, right or wrong.
It is a guard against change that nobody noticed. A change that is meant rewrites the files
(``python tests/stored/write.py``), and the difference is reviewed like any other.

Whole numbers, text and labels must be equal; floats may differ by rounding, which is why they are
kept with seven digits and long arrays as a few sums. Nothing that depends on time, paths, versions
or the number of cores is stored.
"""

import json
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from numba import config
from stored.describe import MARK, described, shortened

__all__ = ["Cases", "attempt", "differences", "load_all"]

HERE = Path(__file__).parent
NEAR = 1e-6
_NEEDED = ("pymetis", "mtkahypar", "pyarrow")
TINY = 1e-9


class Cases:
    """The cases of a room: functions without arguments whose answers are stored by their names."""

    def __init__(self, file: str) -> None:
        self.room = Path(file).stem.removeprefix("test_")
        self._made: dict[str, Callable[[], Any]] = {}

    def __call__(self, function: Callable[[], Any]) -> Callable[[], Any]:
        """Add a function that yields names and answers."""
        self._made[function.__name__] = function
        return function

    @property
    def file(self) -> Path:
        """Where the answers are stored."""
        return HERE / f"{self.room}.json"

    def run(self, name: str) -> Any:
        """The answer of one case, as it would be stored."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = {key: shortened(described(value)) for key, value in self._made[name]()}
        return json.loads(json.dumps(found))

    def write(self) -> int:
        """Store all answers anew; the number of bytes. Slow cases are named."""
        found = {}
        for name in self._made:
            start = time.perf_counter()
            try:
                found[name] = self.run(name)
            except Exception:  # the others are written all the same
                print(f"{self.room}/{name} cannot be stored", file=sys.stderr)
                traceback.print_exc(limit=-3)
            if time.perf_counter() - start > 1:
                print(f"{self.room}/{name} took {time.perf_counter() - start:.1f} s")
        lines = (
            f"{json.dumps(name)}: {json.dumps(value, separators=(',', ':'))}"
            for name, value in found.items()
        )
        text = "{\n" + ",\n".join(lines) + "\n}\n"
        self.file.write_text(text, encoding="utf-8")
        return len(text)

    def test(self) -> Callable[[str], None]:
        """A test with one parameter, the name of the case."""
        stored: dict[str, Any] = {}

        @pytest.mark.parametrize("name", list(self._made))
        def test_answers_are_those_stored(name: str) -> None:
            if config.DISABLE_JIT and not self.room.startswith("kernels"):
                pytest.skip("slow as plain Python")
            for package in _NEEDED:  # another answer without it, or none
                pytest.importorskip(package)
            if not stored:
                stored.update(json.loads(self.file.read_text(encoding="utf-8")))
            if name not in stored:
                pytest.fail(f"{self.room}/{name} is not stored: run tests/stored/write.py")
            found = list(differences(stored[name], self.run(name), name))
            assert not found, "\n".join(found[:20])

        return test_answers_are_those_stored

    def names(self) -> list[str]:
        """Names of all cases."""
        return list(self._made)


def attempt(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What a call answers: its value, or the refusal; with the warnings that are ours."""
    from consilience.errors import ConsilienceError, ConsilienceWarning

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = described(function(*args, **options))
        except ConsilienceError as error:
            answer = {"refused": f"{type(error).__name__}: {_plain(str(error))}"}
        except (ValueError, TypeError, LookupError, AttributeError, OSError) as error:
            answer = {"raised": type(error).__name__}
    ours = [
        _plain(str(one.message)) for one in caught if issubclass(one.category, ConsilienceWarning)
    ]
    return {"answer": answer, "warned": ours} if ours else answer


def _plain(text: str) -> str:
    """A message without addresses of objects in memory."""
    return re.sub(r"\b0x[0-9a-f]{6,}", "0x", text)


def differences(stored: Any, found: Any, path: str) -> Iterator[str]:
    """Where two stored answers differ."""
    if isinstance(stored, Mapping) and isinstance(found, Mapping):
        if stored.keys() != found.keys():
            gone, new = sorted(stored.keys() - found.keys()), sorted(found.keys() - stored.keys())
            yield f"{path}: no longer {gone}, new {new}"
            return
        if stored.keys() >= {"type", "shape", "sums"}:
            same = all(stored[key] == found[key] for key in stored if key not in ("sums", "size"))
            if not same or not _near(stored["size"], stored["sums"], found["sums"]):
                yield f"{path}: {stored} stored, {found} found"
            return
        for key in stored:
            yield from differences(stored[key], found[key], f"{path}.{key}")
    elif isinstance(stored, list) and isinstance(found, list):
        if len(stored) != len(found):
            yield f"{path}: {len(stored)} entries stored, {len(found)} found"
            return
        for place, (one, other) in enumerate(zip(stored, found, strict=True)):
            yield from differences(one, other, f"{path}[{place}]")
    elif isinstance(stored, float) and isinstance(found, int | float):
        if abs(stored - found) > NEAR * max(abs(stored), abs(found)) + TINY:
            yield f"{path}: {stored!r} stored, {found!r} found"
    elif isinstance(stored, str) and isinstance(found, str) and stored[:1] == found[:1] == MARK:
        if _short_differ(stored, found):
            yield f"{path}: {stored} stored, {found} found"
    elif stored != found or isinstance(stored, bool) != isinstance(found, bool):
        yield f"{path}: {str(stored)[:200]!r} stored, {str(found)[:200]!r} found"


def _short_differ(stored: str, found: str) -> bool:
    """Whether two shortened answers differ: in the digest, or their sums by more than rounding."""
    digest, *sums = stored.split()
    other, *others = found.split()
    if digest != other or len(sums) != len(others):
        return True
    values, now = [float(one) for one in sums], [float(one) for one in others]
    return bool(sums) and not _near(values[0], values[1:], now[1:])


def _near(size: float, stored: Sequence[float], found: Sequence[float]) -> bool:
    """Whether sums differ by no more than rounding of what was added."""
    return all(
        abs(one - other) <= NEAR * size + TINY for one, other in zip(stored, found, strict=True)
    )


def load_all() -> list[Cases]:
    """The cases of all rooms."""
    from importlib import import_module

    modules = (import_module(f"stored.{path.stem}") for path in sorted(HERE.glob("test_*.py")))
    return [module.CASES for module in modules if hasattr(module, "CASES")]
