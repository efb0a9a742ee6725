"""The one door from results to what people look at.

`report` stands above this room, because it can show any result; a result opens it here, when it
is asked for a page, and nowhere else. The import contract names this module as the exception.
"""

from typing import Any, Literal

__all__ = ["face"]


def face(name: Literal["report"]) -> Any:
    """A room above this one, loaded when it is first asked for."""
    from consilience import report

    return {"report": report}[name]
