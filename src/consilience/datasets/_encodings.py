"""Text files that are not UTF-8: which encoding they have, and a copy of them that is."""

import codecs
import gzip
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from consilience.datasets._csv import open_bytes
from consilience.datasets._files import CUT_SHORT, refusing_damage
from consilience.errors import InvalidInputError, InvalidParameterError

__all__ = ["check_encoding", "guessed_encoding", "in_utf8"]

_CONTROL = bytes({*range(32)} - set(b"\t\n\r\f"))


def check_encoding(encoding: str | None) -> None:
    """Refuse what is no encoding of text."""
    if encoding is None:
        return
    try:
        codecs.lookup(encoding)
        "".encode(encoding)  # base64 and the like are codecs, but none of text
    except (LookupError, TypeError, ValueError) as error:
        raise InvalidParameterError(
            "The 'encoding' parameter of read_table (--encoding) must be the name of an encoding "
            f"that Python knows, such as 'cp1252' or 'utf-16'. Got {encoding!r} instead."
        ) from error


def guessed_encoding(source: Path) -> str | None:
    """The encoding of a file that is no UTF-8: UTF-16 by its mark, or what Windows writes.

    None where it may as well be damaged: control characters, or UTF-8 in other places.
    """
    raw = _all_bytes(source)
    if raw[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        return "utf-16"
    if raw.translate(None, _CONTROL) != raw:
        return None
    # What is left after characters that are not UTF-8 are taken out: some of it may be.
    if not raw.decode("utf-8", "ignore").isascii():
        return None
    try:
        raw.decode("cp1252")
    except UnicodeDecodeError:
        return None
    return "cp1252"


@contextmanager
def in_utf8(source: Path, encoding: str) -> Iterator[Path]:
    """A copy of a text file in UTF-8, of the same name, for as long as it is read."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, source.name)
        raw = _all_bytes(source)
        try:
            text = raw.decode(encoding)
        except UnicodeError as error:  # few codecs do not say where
            why = "it says something else"
            if isinstance(error, UnicodeDecodeError):
                at = error.start
                why = f"the byte 0x{raw[at]:02x} at {at} is none of its characters"
            raise InvalidInputError(
                f"{source.name!r} cannot be read with the encoding {encoding!r}: {why}. Name "
                "another with encoding (--encoding)."
            ) from error
        data = text.removeprefix("\ufeff").encode("utf-8", "replace")
        copy.write_bytes(gzip.compress(data, 1) if source.name.lower().endswith(".gz") else data)
        yield copy


def _all_bytes(source: Path) -> bytes:
    with refusing_damage(source, CUT_SHORT), open_bytes(source) as file:
        return file.read()
