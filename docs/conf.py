"""How the pages are built: ``make docs``, or ``python -m sphinx -W --keep-going docs build/docs``.

Nothing is fetched while building, and a built page asks the network for nothing.
"""

import sys
from pathlib import Path

import consilience

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "consilience"
author = "The consilience developers"
copyright = author
version = release = consilience.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "mathml",
    "offline",
    "reference",
    "live",
]
exclude_patterns = ["examples", "_ext"]
# `name` in a docstring links to the reference.
default_role = "py:obj"

# Markdown: formulas between dollars, headings as targets of links, ::: for boxes.
myst_enable_extensions = ["dollarmath", "amsmath", "deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# Reference: docs/_ext/reference.py writes its pages.
autosummary_generate = False
autodoc_typehints = "none"
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_preprocess_types = False
strip_signature_backslash = True  # keeps the underscore of labels_
add_module_names = False
toc_object_entries = False

html_theme = "furo"
html_title = "consilience"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/mark.svg"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "light_logo": "mark.svg",
    "dark_logo": "mark.svg",
    "light_css_variables": {"color-brand-primary": "#2b5c9e", "color-brand-content": "#2b5c9e"},
    "dark_css_variables": {"color-brand-primary": "#8db7ee", "color-brand-content": "#8db7ee"},
}
pygments_style = "friendly"
pygments_dark_style = "monokai"
