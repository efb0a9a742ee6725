"""Browsers that tests open pages in, if they are installed.

``CONSILIENCE_TEST_BROWSER=none`` does without: the job `main` of .ci/run leaves pages to the job
`browsers`.
"""

import os
import shutil

__all__ = ["CHROMIUM", "FIREFOX"]

_NONE = os.environ.get("CONSILIENCE_TEST_BROWSER") == "none"


def _first_of(*names: str) -> str | None:
    return None if _NONE else next(filter(None, map(shutil.which, names)), None)


CHROMIUM = _first_of("chromium", "chromium-browser", "google-chrome")
FIREFOX = _first_of("firefox-esr", "firefox")
