"""`result.explore()`: a widget in a notebook, a server elsewhere."""

import sys
import webbrowser
from typing import Any

from consilience.errors import MissingPackageError
from consilience.explore._make import view
from consilience.explore._serve import serve

__all__ = ["explore", "in_notebook"]


def explore(result: Any, *, host: str, port: int, browser: bool) -> Any:
    """See `ClusterResult.explore`."""
    shown = view(result)
    if in_notebook():
        try:
            from consilience.explore._widget import widget

            return widget(shown)
        except MissingPackageError:
            pass  # the server needs other packages, and says which
    served = serve(shown, host=host, port=port)
    if browser:
        webbrowser.open(served.url)
    return served


def in_notebook() -> bool:
    """Whether a kernel of Jupyter runs this."""
    shell = sys.modules.get("IPython")
    found = None if shell is None else shell.get_ipython()
    return found is not None and hasattr(found, "kernel")
