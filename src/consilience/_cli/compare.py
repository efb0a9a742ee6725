"""What ``consilience compare`` does: two runs beside each other, in words, a table, a picture."""

from pathlib import Path

from consilience._cli.folders import LABELS, check_place, check_source
from consilience._cli.outputs import write_table
from consilience._cli.show import tell
from consilience._cli.speech import Speaker
from consilience._files import written_whole
from consilience.errors import InvalidInputError, InvalidParameterError
from consilience.workflow import TwoAnswers, compare_results

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
    result = _compared(first, second)
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


def _compared(first: Path, second: Path) -> TwoAnswers:
    """The two beside each other; what is wrong with one is said of the run that was named."""
    for run in (first, second):
        check_source(run)
        if run.is_dir() and not (run / LABELS).exists():
            raise InvalidParameterError(
                f"There is no {LABELS} in {str(run)!r}. Name the folder of a run of 'consilience "
                "cluster', or a file like its labels.csv."
            )
    try:
        return compare_results(first, second)
    except InvalidInputError as error:
        words = str(error)
        for name, run in (("first", first), ("second", second)):
            words = words.replace(f"The {name!r} parameter of compare_results", repr(str(run)))
        both = "The 'first' and 'second' parameters of compare_results"
        words = words.replace(both, f"{str(first)!r} and {str(second)!r}")
        raise InvalidInputError(words) from error
