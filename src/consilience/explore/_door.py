"""`result.explore()`: a widget in a notebook, a server elsewhere; and how a result shows itself."""

import sys
import webbrowser
from typing import Any

from consilience.errors import ConsilienceError, MissingPackageError
from consilience.explore._make import view
from consilience.explore._serve import serve

__all__ = ["explore", "in_notebook", "shown"]

# A result is shown whenever a cell ends with it: of more objects that would take seconds.
_MOST_BY_ITSELF = 50_000


def explore(result: Any, *, host: str, port: int, browser: bool) -> Any:
    """See `ClusterResult.explore`."""
    if in_notebook():
        try:
            return _widget(result)
        except MissingPackageError:
            pass  # the server needs other packages, and says which
    served = serve(view(result), host=host, port=port)
    if browser:
        webbrowser.open(served.url)
    return served


def shown(result: Any) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """What a notebook shows of a result, by the kind of it: the widget, a page, text.

    None where this is no notebook, the extra ``notebook`` is not installed, there are too many
    objects or nothing to explore: the result is then shown as a table.
    """
    seen = getattr(result, "sample", result)  # of a table larger than memory
    if not in_notebook() or seen.n_objects > _MOST_BY_ITSELF:
        return None
    try:
        made, about = _widget(result)._repr_mimebundle_()
    except ConsilienceError:
        return None
    return {**made, "text/plain": repr(result)}, about


def _widget(result: Any) -> Any:
    from consilience.explore._widget import widget_of

    return widget_of(result)


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    shell = sys.modules.get("IPython")
    running = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")
