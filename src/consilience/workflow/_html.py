"""A result in a notebook: its headline, its table and its notes, as a piece of HTML.

Whatever comes from the data is text: none of it can become markup.
"""

from collections.abc import Sequence
from html import escape

__all__ = ["as_html"]


def as_html(
    title: str,
    headline: Sequence[tuple[str, str]],
    names: Sequence[str],
    lines: Sequence[Sequence[str]],
    notes: Sequence[str],
) -> str:
    """A result as one element.

    >>> as_html("Found", [("data", "a < b")], ("group",), [("0",)], [])
    '<div><strong>Found</strong><table><tbody><tr><th style="text-align:left">data</th>\
<td style="text-align:left">a &lt; b</td></tr></tbody></table><table><thead><tr><th>group</th></tr>\
</thead><tbody><tr><td>0</td></tr></tbody></table></div>'
    """
    left = ' style="text-align:left"'
    said = "".join(
        _row(_cell("th", name, left) + _cell("td", words, left)) for name, words in headline
    )
    head = _row("".join(_cell("th", name) for name in names))
    body = "".join(_row("".join(_cell("td", cell) for cell in line)) for line in lines)
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        f"<div><strong>{escape(title)}</strong><table><tbody>{said}</tbody></table>"
        f"<table><thead>{head}</thead><tbody>{body}</tbody></table>"
        f"{f'<ul>{items}</ul>' if items else ''}</div>"
    )


def _row(cells: str) -> str:
    return f"<tr>{cells}</tr>"


def _cell(kind: str, text: str, style: str = "") -> str:
    return f"<{kind}{style}>{escape(text)}</{kind}>"
