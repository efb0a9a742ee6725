"""Run the code of a page as a reader would: from top to bottom, in an empty folder.

    python docs/examples/pages.py [page.md ...]

Runs the tutorials, or the pages named, and draws their pictures anew. What happens to a block of
a page depends on the word after its fence:

- ``python``: run; the blocks of a page share their names.
- ``sh`` or no word: a shell. Its ``consilience`` commands are run; lines that begin with one of
  `LEFT_OUT` install, fetch or test things, and are not.
- ``output`` straight after one of these: what it prints. ``...`` stands for anything.
- one of `OTHERS`: not run. Nor is a directive of Sphinx, such as ``{code-block}``, which is how
  other people's Python is shown.

A picture straight after a block (``![words](place.png)``) is the Axes that the block left in
``ax``, or the last figure.
"""

import contextlib
import doctest
import io
import os
import re
import shlex
import sys
import tempfile
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

DOCS = Path(__file__).parent.parent

SHELL = ("sh", "")
OTHERS = ("output", "text", "r", "json", "toml", "csv")
LEFT_OUT = ("pip", "python", "python3", "git", "make", "bash", "cd", ".", "source")

_FENCE = re.compile(r"^```(?P<word>[^\n`]*)\n(?P<code>.*?)^```[ ]*$", re.DOTALL | re.MULTILINE)
_PICTURE = re.compile(r"\s*!\[[^]]*\]\(([^)]+\.png)\)")
_SAME = doctest.OutputChecker()
_LOOSELY = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A block of code: what it is, where it stands, and what must come of it."""

    word: str
    code: str
    line: int
    output: str | None
    picture: str | None


def blocks(text):
    """The blocks of a page in order; directives such as ``{toctree}`` are none."""
    fences = [f for f in _FENCE.finditer(text) if not f["word"].startswith("{")]
    found = []
    for fence, after in zip_longest(fences, fences[1:]):
        end, output = fence.end(), None
        if after and after["word"].strip() == "output" and not text[end : after.start()].strip():
            end, output = after.end(), after["code"]
        picture = _PICTURE.match(text, end)
        line = text.count("\n", 0, fence.start()) + 2
        word = fence["word"].strip()
        found.append(Block(word, fence["code"], line, output, picture and picture[1]))
    return found


def commands(code):
    """The arguments of every ``consilience`` command of a shell block."""
    found = []
    for line in code.replace("\\\n", " ").splitlines():
        for part in line.split("&&"):
            words = shlex.split(part, comments=True)
            if words and words[0] == "consilience":
                found.append(words[1:])
            elif words and words[0] not in LEFT_OUT:
                raise ValueError(f"{words[0]!r} is neither run nor in LEFT_OUT: {line}")
    return found


def run_page(path, save=None):
    """Run a page in the current folder and return its names; ``save(figure, place)`` draws."""
    path = Path(path)
    names = {"__name__": "page"}
    for block in blocks(path.read_text(encoding="utf-8")):
        where = f"{path.name}, line {block.line}"
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            _run(block, path, names, where)
        if block.output is not None:
            _compare(block.output, printed.getvalue(), where)
        if block.picture and block.word == "python":
            _draw(names, block.picture, save, where)
    return names


def _run(block, path, names, where):
    if block.word == "python":
        # The blank lines make the lines of an error those of the page.
        code = "\n" * (block.line - 1) + block.code
        exec(compile(code, str(path), "exec"), names)
    elif block.word in SHELL:
        from consilience.cli import main

        for words in commands(block.code):
            status = main(words)
            assert status == 0, f"{where}: 'consilience {shlex.join(words)}' ended with {status}"
    else:
        assert block.word in OTHERS, f"{where}: a block of {block.word!r}; choose one of {OTHERS}"


def _compare(wanted, got, where):
    if not _SAME.check_output(wanted, got, _LOOSELY):
        raise AssertionError(f"{where}: the page shows\n{wanted}\nbut it prints\n{got}")


def _draw(names, picture, save, where):
    import matplotlib.pyplot as plt

    assert "ax" in names or plt.get_fignums(), f"{where}: nothing was drawn for {picture}"
    ax = names.pop("ax", None)
    figure = plt.gcf() if ax is None else ax.figure
    if save:
        save(figure, picture)
    plt.close("all")


def main(pages):
    """Run pages, each in a folder of its own, and draw their pictures where the pages look."""
    import matplotlib as mpl
    from gallery import save as save_small

    mpl.use("agg")
    for page in pages:
        with tempfile.TemporaryDirectory() as folder, _inside(folder):
            run_page(page, lambda figure, place, page=page: save_small(figure, page.parent / place))
        print(f"ran {page.name}")


@contextlib.contextmanager
def _inside(folder):
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]]
    main(chosen or sorted((DOCS / "tutorials").resolve().glob("*.md")))
