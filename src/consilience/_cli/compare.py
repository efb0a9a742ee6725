"""What ``consilience compare`` does: two runs beside each other, in words, a table, a picture."""

from pathlib import Path

from consilience._cli.folders import check_place
from consilience._cli.outputs import write_table
from consilience._cli.show import tell
from consilience._cli.speech import Speaker
from consilience._files import written_whole
from consilience.errors import InvalidParameterError
from consilience.workflow import compare_results

__all__ = ["compare_runs"]

_PICTURES = (".png", ".svg", ".pdf", ".jpg")


def compare_runs(first: Path, second: Path, *, moved: Path | None, picture: Path | None) -> None:
    """Compare, write what was asked for, and say how the groups map."""
    for option, path in (("--moved", moved), ("--picture", picture)):
        if path is None:
            continue
        if path.exists():
            raise InvalidParameterError(
                f"{option} names {str(path)!r}, which is there. Remove it, or name another file."
            )
        check_place(path, option)
    if picture is not None and picture.suffix.lower() not in _PICTURES:
        raise InvalidParameterError(
            f"--picture names {str(picture)!r}, whose ending is no kind of picture. Take one of "
            f"{', '.join(_PICTURES)}."
        )
    result = compare_results(first, second)
    if moved is not None:
        with written_whole(moved) as partial:
            write_table(partial, header=list(result.moved), columns=list(result.moved.values()))
    if picture is not None:
        from consilience.plot import plot_two_answers

        ax = plot_two_answers(result)
        with written_whole(picture) as partial:
            ax.figure.savefig(partial)
    console = Speaker()
    tell(console, str(result))
    written = [str(path) for path in (moved, picture) if path is not None]
    wrote = f"Wrote {' and '.join(written)}." if written else ""
    if written:
        tell(console, wrote)
    console.close(wrote)
