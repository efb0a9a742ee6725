"""The explorer in a notebook: the same module as in the report, and answers from the kernel."""

from functools import cache
from html import escape
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from consilience._optional import optional
from consilience.errors import ConsilienceError
from consilience.explore._make import view as view_of
from consilience.explore._page import static_page, thin
from consilience.explore._questions import groups_inside, special, why
from consilience.explore._sent import sent, sent_column, sent_member
from consilience.explore._view import View
from consilience.report.render import static

__all__ = ["widget", "widget_of"]

_WHAT = "result.explore() in a notebook"
# A notebook is saved with what its cells show.
_MOST_SAVED = 5000
# One explorer a result: what is selected where it shows itself is what `result.explore()` has.
_MADE: "WeakKeyDictionary[Any, Any]" = WeakKeyDictionary()


def widget_of(result: Any) -> Any:
    """The widget of a result, the same as before unless that was closed."""
    made = _MADE.get(result)
    if made is None or made.comm is None:
        made = _MADE[result] = widget(view_of(result))
    return made


def widget(view: View) -> Any:
    """A view as a widget.

    Parameters
    ----------
    view : View

    Returns
    -------
    Explorer
        ``selected`` has the rows that were last selected in it, as an array; setting it selects.
    """
    return _class()(view)


@cache
def _class() -> Any:
    anywidget = optional("anywidget", extra="notebook", what=_WHAT)
    traitlets = optional("traitlets", extra="notebook", what=_WHAT)

    class Explorer(anywidget.AnyWidget):  # type: ignore[name-defined]
        """The explorer of one result in a notebook."""

        _esm = static("report.js")
        _css = static("report.css")
        data = traitlets.Bytes().tag(sync=True)
        # What comes from the page is a view of a message's memory.
        chosen = traitlets.Bytes(b"").tag(sync=True, from_json=lambda value, _: bytes(value))
        state = traitlets.Unicode("").tag(sync=True)

        def __init__(self, view: View) -> None:
            super().__init__(data=sent(view))
            self.view = view
            self.on_msg(self._asked)

        @property
        def selected(self) -> NDArray[np.int64]:
            """Rows that are selected, ascending."""
            return np.frombuffer(self.chosen, "<u4").astype(np.int64)

        @selected.setter
        def selected(self, rows: Any) -> None:
            some = np.unique(np.asarray(rows, np.int64))
            self.chosen = some.astype("<u4").tobytes()

        def _asked(self, _: Any, content: Any, buffers: Any) -> None:
            """Answer a question of the page: what it is about is in the message."""
            try:
                said, data = answered(self.view, content, buffers)
                self.send({"to": content["number"], "said": said}, data)
            except (ConsilienceError, KeyError, TypeError, ValueError, IndexError) as error:
                self.send({"to": content.get("number"), "error": str(error)})

        def _repr_mimebundle_(self, **options: Any) -> Any:
            bundle = super()._repr_mimebundle_(**options)
            if not isinstance(bundle, tuple):
                bundle = (bundle, {})
            return {**bundle[0], "text/html": as_iframe(self.view)}, bundle[1]

    return Explorer


def answered(view: View, content: Any, buffers: Any) -> tuple[Any, list[bytes]]:
    """What the page asked, and the answer as plain values and bytes."""
    kind, cut = content["ask"], content.get("k")
    rows = np.frombuffer(bytes(buffers[0]), "<u4") if buffers else np.empty(0, np.uint32)
    if kind == "special":
        return special(view, rows), []
    if kind == "inside":
        return groups_inside(view, rows, cut), []
    if kind == "why":
        return why(view, int(content["row"]), cut), []
    if kind == "column":
        return None, [sent_column(view, int(content["j"]))]
    if kind == "member":
        return None, [sent_member(view, int(content["j"]))]
    raise KeyError(kind)


def as_iframe(view: View) -> str:
    """A page with its data inside as one element, for notebooks that are shown without a kernel."""
    page = escape(static_page(thin(view, _MOST_SAVED)), quote=True)
    return (
        f'<iframe srcdoc="{page}" title="{escape(view.title, quote=True)}" sandbox="allow-scripts '
        'allow-downloads" style="width:100%;height:820px;border:1px solid #ccc"></iframe>'
    )
