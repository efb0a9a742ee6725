"""The ``consilience`` command: 0 for success, 2 and one message for anything refused.

Only what parses the arguments is imported here: ``consilience --help`` loads no numpy.
"""

import os
import sys
from collections.abc import Sequence

from consilience._optional import optional
from consilience._text import any_terminal
from consilience.errors import ConsilienceError, MissingPackageError

__all__ = ["main"]

_REFUSED = 2
_INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments after the command's name; those of the process by default.

    Returns
    -------
    int
        0; 2 if the arguments, the files or their contents cannot be used, with one message
        on the standard error stream; 130 if interrupted.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    _open_streams()
    with any_terminal():
        return _run(words)


def _run(words: list[str]) -> int:
    try:
        for module in ("cyclopts", "rich"):
            optional(module, extra="cli", what="The consilience command")
    except MissingPackageError as error:
        return _refuse(" ".join(str(error).split()))
    from cyclopts import CycloptsError
    from rich.console import Console

    from consilience._cli.arguments import one_flag_each
    from consilience._cli.commands import app

    try:
        app(
            one_flag_each(words),
            console=Console(),  # else all calls would keep the width of the first one's
            exit_on_error=False,
            print_error=False,
            result_action="return_value",
        )
        sys.stdout.flush()  # at exit it would be too late to do anything about it
    except CycloptsError as error:
        known = next((name for name in words[:1] if name in app and name[0] != "-"), "")
        return _refuse(f"{error} See 'consilience {known}{' ' * bool(known)}--help'.")
    except BrokenPipeError:
        from consilience._cli.speech import silence

        silence()  # the reader of a pipe has gone: say nothing more, not even at exit
        return 1
    except (ConsilienceError, OSError, MemoryError) as error:
        return _refuse(_with_notes(error))
    except RuntimeError as error:
        if "start new thread" not in str(error):
            raise
        return _refuse(
            "the system lets no more threads start. Raise its limit (ulimit -u), or end other "
            "programs."
        )
    except KeyboardInterrupt as error:
        kept = " ".join(getattr(error, "__notes__", ())) or "nothing was written"
        print(f"interrupted; {kept}", file=sys.stderr)
        return _INTERRUPTED
    return 0


def _open_streams() -> None:
    """Give a process that was started without an output one that goes nowhere.

    Else the next file to be opened would be its output.
    """
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def _refuse(message: str) -> int:
    # One line, even where the name of a file has several.
    print(f"consilience: {' '.join(message.splitlines())}", file=sys.stderr)
    return _REFUSED


def _with_notes(error: BaseException) -> str:
    """The message of an error, and what is to be said beside it, as sentences."""
    words, notes = _in_words(error), getattr(error, "__notes__", ())
    if notes and not words.endswith("."):
        words += "."
    return " ".join([words, *notes])


def _in_words(error: BaseException) -> str:
    """The message of an error for somebody who does not read Python."""
    if isinstance(error, ConsilienceError):
        return str(error)
    if isinstance(error, OSError) and error.strerror:
        # A disk that is full names no file.
        return error.strerror + (f": {error.filename}" if error.filename else "")
    if isinstance(error, MemoryError):
        return (
            "there is not enough memory for this. Lower --max-memory or --members, or cluster "
            "fewer objects."
        )
    return str(error)
