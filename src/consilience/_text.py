"""Text that leaves the program: names that are no UTF-8, terminals that know ASCII only."""

import codecs
import re
import sys
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

__all__ = ["any_terminal", "readable"]

_SURROGATE = re.compile("[\ud800-\udfff]")
# What stands for letters that a terminal has not, where taking off their marks does not help, or
# says something else.
_PLAIN = {"•": "*", "–": "-", "—": "-", "…": "...", "→": "->", "×": "x", "≥": ">=", "≤": "<="}
_PLAIN |= {"‘": "'", "’": "'", "“": '"', "”": '"', "·": ".", "ß": "ss", "ø": "o", "ł": "l"}
_PLAIN |= {"±": "+/-", "−": "-", "≈": "~", "⁄": "/", "μ": "u"}
# Through a sign it says the opposite: what is not equal must not be shown as equal.
_STROKE = "\u0338"
_HANDLER = "consilience-plain"


def readable(value: Any) -> Any:
    """Text, or a structure of lists and dicts with text in it, that any UTF-8 file can hold.

    A file name may hold bytes that are no text; Python carries them as lone surrogates.

    >>> readable({"file": "data\\udce9.csv"})
    {'file': 'data\\\\xe9.csv'}
    """
    if isinstance(value, str):
        return _SURROGATE.sub(_escaped, value)
    if isinstance(value, dict):
        return {readable(key): readable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [readable(item) for item in value]
    return value


@contextmanager
def any_terminal() -> Iterator[None]:
    """Let everything be printed: what a stream's encoding has not is shown by what is nearest."""
    codecs.register_error(_HANDLER, _nearest)
    changed = []
    streams: tuple[Any, ...] = (sys.stdout, sys.stderr)
    for stream in streams:
        with suppress(AttributeError, ValueError):  # a stream that is closed, or no real one
            before = stream.errors
            stream.reconfigure(errors=_HANDLER)
            changed.append((stream, before))
    try:
        yield
    finally:
        for stream, before in changed:
            with suppress(ValueError):
                stream.reconfigure(errors=before)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    """Letters without their marks, signs by others, bytes of file names by their numbers."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_plain, error.object[error.start : error.end])), error.end


def _plain(letter: str) -> str:
    if _SURROGATE.match(letter):
        return _escaped(letter)
    parts = _PLAIN.get(letter) or unicodedata.normalize("NFKD", letter)
    bare = "".join(_PLAIN.get(part, part if part.isascii() else "") for part in parts)
    if bare:
        return f"!{bare}" if _STROKE in parts else bare
    is_mark = unicodedata.combining(letter) and letter != _STROKE
    return "" if is_mark else "?"


def _escaped(character: re.Match[str] | str) -> str:
    code = ord(character if isinstance(character, str) else character[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"
