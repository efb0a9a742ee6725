"""A built page asks the network for nothing: scripts, styles, fonts and pictures lie beside it."""

import re
from pathlib import Path

from sphinx.errors import ExtensionError

_LOADED = re.compile(
    r"""(?:src|srcset|data)=["'](?:https?:)?//
    |<link\b[^>]*\bhref=["'](?:https?:)?//
    |url\(\s*["']?(?:https?:)?//
    |@import\s+["'](?:https?:)?//""",
    re.VERBOSE,
)


def setup(app):
    """Look at the pages and styles once they are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _check(app, error):
    if error or app.builder.format != "html":
        return
    out = Path(app.outdir)
    written = [*out.rglob("*.html"), *out.rglob("*.css")]
    asking = [p.name for p in written if _LOADED.search(p.read_text(encoding="utf-8"))]
    if asking:
        raise ExtensionError(f"these would load something from elsewhere: {', '.join(asking)}")
