"""Words and tables in the terminal, through rich: plain text in a pipe, colour on a screen."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from consilience._cli.folders import PARTS

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["show_notes", "show_places", "show_written", "table", "tell"]


def tell(console: "Console", text: str) -> None:
    """Print a line as it is: no markup, no highlighting."""
    console.print(text, markup=False, highlight=False)


def table(*names: str, right: Sequence[str] = ()) -> Any:
    """An empty table with these columns; those in ``right`` are set to the right."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE, header_style="bold", pad_edge=False)
    for name in names:
        made.add_column(name, justify="right" if name in right else "left")
    return made


def show_written(paths: Sequence[Path], seconds: float, console: "Console") -> None:
    """Print where the files are and how long all took."""
    # Of many parts of one file the first and the last.
    parts = [path for path in paths if path.parent.name == PARTS]
    between = parts[1:-1] if len(parts) > 3 else []
    names = [str(path) for path in paths if path not in between]
    if between:
        names[0] += f" to {parts[-1].name}"
        names.remove(str(parts[-1]))
    text = f"Wrote {', '.join(names[:-1])} and {names[-1]} ({seconds:.1f} s in all)."
    tell(console, text)


def show_places(ran_on: Mapping[str, str], console: "Console") -> None:
    """Print which stages ran on a device; nothing where all ran on the processor."""
    from consilience.workflow._places import in_words

    words = in_words(ran_on)
    if words is not None:
        tell(console, f"Ran on: {words}.")


def show_notes(notes: Sequence[str], console: "Console") -> None:
    """Print the library's warnings as short notes."""
    for note in notes:
        console.print(f"Note: {note}", style="yellow", markup=False, highlight=False)
