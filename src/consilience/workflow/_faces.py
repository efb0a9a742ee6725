"""The one door from results to what people look at.

`report` and `explore` stand above this room, because they can show any result; a result opens them
here, when it is asked for a page or to be explored, and nowhere else. The import contract names
this module as the exception.
"""

from typing import Any, Literal

__all__ = ["face"]


def face(name: Literal["report", "explore"]) -> Any:
    """A room above this one, loaded when it is first asked for."""
    if name == "explore":
        from consilience import explore

        return explore
    from consilience import report

    return report
