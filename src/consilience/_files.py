"""Files that are written whole or not at all."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from consilience.errors import MissingFileError

__all__ = ["PARTIAL", "written_whole"]

#: How the names of files begin that are not complete.
PARTIAL = ".consilience-partial-"


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A temporary path beside ``path`` that replaces it only if the block succeeds."""
    if not path.parent.is_dir():
        raise MissingFileError(
            f"{path.name!r} cannot be written: there is no folder {str(path.parent)!r}. Make it, "
            "or name a file in another folder."
        )
    handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=PARTIAL, dir=path.parent)
    os.close(handle)
    partial = Path(name)
    try:
        yield partial
        # mkstemp makes private files; give the result the rights a plain open() would.
        mask = os.umask(0)
        os.umask(mask)
        partial.chmod(0o666 & ~mask)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
