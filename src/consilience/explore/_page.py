"""The page that shows a view: with its data inside, or asking a local server for them."""

import base64
from functools import cache
from html import escape
from importlib.resources import files

from consilience import __version__
from consilience._text import readable
from consilience.explore._sent import sent
from consilience.explore._view import View
from consilience.report._thin import thinned
from consilience.report.render import policy, static

__all__ = ["MOST_STATIC", "live_page", "live_policy", "static_data", "static_page", "thin"]

#: Objects of a page that holds its own data.
MOST_STATIC = 20_000
_COLUMN_BYTES, _MEMBER_BYTES = 6 << 20, 3 << 20
_LIVE = "; connect-src 'self'; frame-ancestors 'none'"


def live_page(title: str) -> str:
    """The page of a server: it asks for its data, and for answers."""
    return _filled(title, live_policy().partition("; frame-ancestors")[0], "")


def live_policy() -> str:
    """What that page may do: run its own script, and ask its own server."""
    return policy(static("report.css"), static("report.js")) + _LIVE


def static_page(view: View) -> str:
    """One page that needs nothing else; objects are thinned where they are many, and it says so."""
    data = (
        '<script type="application/octet-stream" id="consilience-view">'
        f"{static_data(view)}</script>\n"
    )
    return _filled(view.title, policy(static("report.css"), static("report.js")), data)


def static_data(view: View, most: int = MOST_STATIC) -> str:
    """A view in text, for a page."""
    few = thin(view, most)
    packed = sent(few, column_bytes=_COLUMN_BYTES, member_bytes=_MEMBER_BYTES, live=False)
    return base64.b64encode(packed).decode("ascii")


def thin(view: View, most: int = MOST_STATIC) -> View:
    """At most so many objects, a share of every group."""
    if view.n_objects <= most:
        return view
    return view.take(thinned(view.labels.astype("int64"), most))


@cache
def _template() -> str:
    return (files("consilience.explore") / "page.html").read_text(encoding="utf-8")


def _filled(title: str, rules: str, data: str) -> str:
    values = {
        "policy": escape(rules, quote=True),
        "version": escape(__version__),
        "title": escape(str(readable(title))),
        "style": static("report.css"),
        "data": data,
        "script": static("report.js"),
    }
    # One pass over the template alone: nothing that was filled in is looked at again.
    parts = _template().split("@")
    return "".join(values[part] if i % 2 else part for i, part in enumerate(parts))
