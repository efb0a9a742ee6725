"""A lock on a folder that the system lifts when its holder ends, however it ends.

The lock is on a file, which says who holds it. The holder takes the file away when it is done;
one that was killed leaves the file, but not the lock.
"""

import errno
import json
import os
from contextlib import suppress
from pathlib import Path

__all__ = ["acquire", "holder", "release"]

_TRIES = 1000
# Where there are locks of single bytes: one behind all that is written, so that all can read it.
_BYTE = 1 << 30


def acquire(path: Path, command: str) -> int | None:
    """Take the lock of a file, made with its folders if need be; None if somebody has it.

    On a file system without locks it is taken by whoever asks.
    """
    for _ in range(_TRIES):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except FileNotFoundError:  # somebody who was done took the folder away meanwhile
            continue
        if not _lock(handle):
            os.close(handle)
            return None
        if _still_there(handle, path):
            os.ftruncate(handle, 0)
            about = {"process": os.getpid(), "command": command}
            os.write(handle, json.dumps(about).encode())
            return handle
        os.close(handle)
    raise OSError(errno.EBUSY, "The lock cannot be taken", str(path))


def release(handle: int, path: Path) -> None:
    """Give a lock back, and take its file away, with its folder if nothing else is in it."""
    if os.name == "nt":  # where a file in use cannot be removed
        os.close(handle)
    with suppress(OSError):
        path.unlink()
    with suppress(OSError):
        path.parent.rmdir()
    if os.name != "nt":
        os.close(handle)


def holder(path: Path) -> str:
    """Who has the lock, in words that follow "is working there"; nothing if it does not say."""
    try:
        about = json.loads(path.read_bytes())
        return f": {about['command']!r}, process {int(about['process'])}"
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return ""


def _lock(handle: int) -> bool:
    """Lock an open file unless somebody has; True also where the system cannot tell."""
    try:
        if os.name == "nt":
            import msvcrt

            os.lseek(handle, _BYTE, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)
    return True


def _still_there(handle: int, path: Path) -> bool:
    """Whether an open file is still the one of that name."""
    try:
        return os.path.samestat(os.fstat(handle), path.stat())
    except FileNotFoundError:
        return False
