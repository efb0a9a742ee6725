"""The explorer: a result as something to ask questions of, in a browser or a notebook.

`view` turns a result into plain values and arrays; `special`, `why` and `groups_inside` answer
what people ask of them. One page shows a view: in the report, by a local server (`serve`), in a
notebook.
"""

from consilience.explore._door import explore, shown
from consilience.explore._make import view
from consilience.explore._opened import open_run
from consilience.explore._page import report_data, static_data, static_page
from consilience.explore._questions import groups_inside, special, why
from consilience.explore._serve import Served, serve
from consilience.explore._view import View

__all__ = [
    "Served",
    "View",
    "explore",
    "groups_inside",
    "open_run",
    "report_data",
    "serve",
    "shown",
    "special",
    "static_data",
    "static_page",
    "view",
    "why",
]
