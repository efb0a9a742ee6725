"""Text files whose columns stand apart by blanks, as tables for readers that know tabs."""

import gzip
import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

from consilience.datasets._csv import decoding, open_bytes

__all__ = ["with_tabs"]

# Blanks between cells; those inside of a quoted cell are left as they are.
_BLANKS = re.compile(rb'(?<![^ \t])"(?:[^"]|"")*"(?![^ \t])|[ \t]+')
# As many lines above the table may be comments.
_PEEK = 1000
_OTHERS = (b",", b";", b"|", b"\t")


@contextmanager
def with_tabs(source: Path) -> Iterator[Path]:
    """The file, or a copy with a tab for each run of blanks where nothing else parts its columns.

    The copy has the same name, and is there for as long as it is read.
    """
    if not _is_spaced(source):
        yield source
        return
    packed = source.name.lower().endswith(".gz")
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, source.name)
        with (
            decoding(source),
            open_bytes(source) as file,
            gzip.open(copy, "wb", 1) if packed else copy.open("wb") as out,
        ):
            for line in file:
                comment = line.lstrip().startswith(b"#")
                ends = b"\n" if line.endswith(b"\n") else b""
                out.write(line if comment else _BLANKS.sub(_tab, line.strip()) + ends)
        yield copy


def _tab(part: re.Match[bytes]) -> bytes:
    return part[0] if part[0].startswith(b'"') else b"\t"


def _is_spaced(source: Path) -> bool:
    """Whether the first line that is no comment has blanks in it and no other delimiter."""
    with decoding(source), open_bytes(source) as file:
        for line in islice(iter(lambda: file.readline(1 << 20), b""), _PEEK):
            words = line.strip()
            if words and not words.startswith(b"#"):
                return b" " in words and not any(mark in words for mark in _OTHERS)
    return False
