"""What ``consilience explore`` does: open a run, show it by a server until somebody ends it."""

import webbrowser
from pathlib import Path

from consilience._cli.show import show_notes, tell
from consilience._cli.speech import Speaker
from consilience.explore import open_run, serve

__all__ = ["explore_run"]


def explore_run(run: Path, *, host: str, port: int, browser: bool) -> None:
    """Show a run until Ctrl-C."""
    view = open_run(run)
    console = Speaker()
    show_notes(list(view.missing), console)
    served = serve(view, host=host, port=port)
    tell(console, f"{view.title}: {view.n_objects} objects. Look at them here, Ctrl-C ends it:")
    console.print(served.url, soft_wrap=True)
    console.close("")
    if browser:
        webbrowser.open(served.url)
    try:
        served.wait()
    except KeyboardInterrupt:
        served.stop()
