"""Docstrings whose shared entries stand once: numpydoc sections, read and filled up.

What is said alike of a parameter or an attribute in many places is written in one and put into the
docstring of each, so that ``help`` and the reference show the whole list.
"""

from collections.abc import Iterable, Sequence
from inspect import cleandoc
from itertools import pairwise
from typing import NamedTuple

__all__ = ["Entry", "entries", "filled", "with_example"]


# The order of the sections that may be filled up; others stand before the last.
_SECTIONS = ("Parameters", "Attributes", "Returns", "Warns", "Notes", "References", "Examples")


class Entry(NamedTuple):
    """One or more names, their type if it is said, and what is said of them."""

    names: tuple[str, ...]
    kind: str
    text: tuple[str, ...]

    def lines(self) -> list[str]:
        """As numpydoc writes it."""
        head = ", ".join(self.names)
        return [f"{head} : {self.kind}" if self.kind else head, *self.text]


def entries(doc: str, section: str) -> list[Entry]:
    """The entries of a section, none if it is not there.

    >>> entries("Cut.\\n\\nParameters\\n----------\\nk : int\\n    Parts.\\n", "Parameters")
    [Entry(names=('k',), kind='int', text=('    Parts.',))]
    """
    _, body, _ = _split(doc, section)
    starts = [i for i, line in enumerate(body) if line and not line.startswith(" ")]
    items = []
    for start, stop in pairwise([*starts, len(body)]):
        head, _, kind = body[start].partition(" : ")
        items.append(Entry(tuple(head.split(", ")), kind, tuple(body[start + 1 : stop])))
    return items


def filled(doc: str, section: str, more: Iterable[Entry], order: Sequence[str]) -> str:
    """The docstring with the entries that its section lacks, all of them in the order given.

    Names that have no place in the order come last.

    >>> print(filled("Cut.", "Parameters", [Entry(("k",), "int", ())], ["k"]))
    Cut.
    <BLANKLINE>
    Parameters
    ----------
    k : int
    """
    before, _, after = _split(doc, section)
    own = entries(doc, section)
    stated = {name for entry in own for name in entry.names}
    for entry in more:
        names = tuple(name for name in entry.names if name not in stated)
        own += [entry._replace(names=names)] if names else []
        stated |= set(names)
    places = {name: place for place, name in enumerate(order)}
    own.sort(key=lambda entry: places.get(entry.names[0], len(places)))
    head = [section, "-" * len(section), *(line for entry in own for line in entry.lines())]
    blocks = (before, head if own else [], after)
    return "\n\n".join("\n".join(block) for block in blocks if block)


def with_example(doc: str, example: str) -> str:
    """The docstring with this example if it has none."""
    before, own, after = _split(doc, "Examples")
    lines = own or example.splitlines()
    blocks = (before, ["Examples", "--------", *lines], after)
    return "\n\n".join("\n".join(block) for block in blocks if block)


def _split(doc: str, section: str) -> tuple[list[str], list[str], list[str]]:
    """Lines before a section, in it, and after it; where it would stand if it is not there."""
    lines = cleandoc(doc).splitlines()
    heads = [i for i, line in enumerate(lines[1:]) if line[:3] == "---" and not line.strip("-")]
    for place, start in enumerate(heads):
        if lines[start] == section:
            stop = heads[place + 1] if place + 1 < len(heads) else len(lines)
            return _trimmed(lines[:start]), _trimmed(lines[start + 2 : stop]), lines[stop:]
    earlier = _SECTIONS[: _SECTIONS.index(section)]
    first = next((i for i in heads if lines[i] not in earlier), len(lines))
    return _trimmed(lines[:first]), [], lines[first:]


def _trimmed(lines: list[str]) -> list[str]:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    return lines
