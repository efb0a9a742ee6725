"""The reference: a page for each room, and a page for each of its public names.

Public are the names in ``consilience.__all__`` and in the ``__all__`` of its rooms, so a new one
needs nothing here. The pages are written to ``docs/api/generated`` when the site is built; those
of the names stay out of the contents at the side, which would be hundreds of lines long on every
page. A public name that has no page, or no words, is a warning.
"""

import inspect
from pathlib import Path
from typing import get_args

from sphinx.addnodes import pending_xref
from sphinx.domains.python import PyObject
from sphinx.util import logging

import consilience

logger = logging.getLogger(__name__)

# What cannot carry a docstring of its own.
WORDS = {
    "consilience.consensus.CONSENSUS": "The consensus methods: name of the function → `Method`.",
    "consilience.datasets.STOP_WORDS": "The words that `load_reuters` leaves out: the common words "
    "of English that say nothing of a text's subject.",
    "consilience.generate.METRICS": "The distances that members can go by: ``precomputed``, and "
    "names that scikit-learn knows.",
    "consilience.experiments.EXPERIMENTS": "The papers' tables: name → `Experiment`.",
    "consilience.minority.divergences.DIVERGENCES": "The divergences: name → class.",
    "consilience.minority.EXPECTED_FAILED_CHECKS": "scikit-learn's checks that a minority "
    "estimator cannot pass as first constructed: class → check → reason. Hand the part of a class "
    "to `sklearn.utils.estimator_checks.check_estimator(..., expected_failed_checks=...)`.",
    "consilience.minority.thresholds.METHODS": "The names of the rules that `find` knows.",
    "consilience.evidence.DOUBTFUL_BELOW": "0.75: an object with less confidence is doubtful.",
    "consilience.ensemble.NOISE": "The label -1: the member saw the object and left it out of "
    "every cluster. Its pairs with others count as seen, and not joined.",
    "consilience.ensemble.UNSEEN": "The label -2: the member never saw the object. Its pairs with "
    "others do not count at all.",
}


def setup(app):
    """Write the pages first, look the names up when all are read."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"  # as the docstrings call them
    app.connect("builder-inited", _write_pages)
    app.connect("autodoc-skip-member", _skip_inherited)
    app.connect("doctree-read", _plain_types)
    app.connect("env-check-consistency", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def rooms():
    """The public modules: the rooms, and the modules that a room names."""
    found = []
    for name in consilience.__all__:
        room = getattr(consilience, name)
        if inspect.ismodule(room):
            found += [room, *(m for _, m in _names(room) if inspect.ismodule(m))]
    return found


def _names(room):
    return [(name, getattr(room, name)) for name in room.__all__]


def _write_pages(app):
    folder = Path(app.srcdir) / "api" / "generated"
    folder.mkdir(parents=True, exist_ok=True)
    pages = {}
    for room in rooms():
        pages[f"{room.__name__}.rst"] = _room_page(room)
        for name, value in _names(room):
            if not inspect.ismodule(value):
                pages[f"{room.__name__}.{name}.rst"] = _name_page(room, name, value)
    for path in folder.glob("*.rst"):
        if path.name not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / name
        # A page that did not change is not read again.
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def _room_page(room):
    """The words of the module, and a table of what is in it by kind."""
    lines = [*_title(room.__name__), f".. automodule:: {room.__name__}", "   :no-members:", ""]
    inner = [f"{m.__name__}" for _, m in _names(room) if inspect.ismodule(m)]
    if inner:
        lines += [".. toctree::", "", *(f"   {name}" for name in inner), ""]
    for title, belongs in _KINDS:
        names = [name for name, value in _names(room) if belongs(value)]
        if names:
            lines += [f".. rubric:: {title}", "", ".. autosummary::", "   :nosignatures:", ""]
            lines += [*(f"   {name}" for name in names), ""]
    constants = [(name, value) for name, value in _names(room) if _is_data(value)]
    if constants:
        lines += [".. rubric:: Constants", "", ".. list-table::", "   :class: longtable", ""]
        for name, value in constants:
            lines += [f"   * - :py:obj:`{name}`", f"     - {_words(room, name, value)}"]
    return "\n".join(lines)


def _is_estimator(value):
    return inspect.isclass(value) and hasattr(value, "get_params")


def _is_data(value):
    return not (inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value))


_KINDS = (
    ("Estimators and generators", _is_estimator),
    ("Functions", inspect.isroutine),
    ("Results and other classes", lambda v: inspect.isclass(v) and not _is_estimator(v)),
)


def _name_page(room, name, value):
    lines = [":orphan:", "", *_title(name), f":doc:`{room.__name__}`", ""]
    lines += [f".. currentmodule:: {room.__name__}", ""]
    if inspect.isclass(value):
        lines += [f".. autoclass:: {name}", "   :members:", "   :inherited-members: Exception"]
    elif inspect.isroutine(value):
        lines += [f".. autofunction:: {name}"]
    else:
        lines += [f".. py:data:: {name}", "", f"   {_words(room, name, value)}"]
    return "\n".join([*lines, ""])


def _title(text):
    return [text, "=" * len(text), ""]


def _words(room, name, value):
    choices = get_args(value)
    if choices:
        return "One of " + ", ".join(f"``{choice!r}``" for choice in choices) + "."
    full = f"{room.__name__}.{name}"
    if full not in WORDS:
        logger.warning("%s is public: say in docs/_ext/reference.py what it is", full)
    return WORDS.get(full, "")


def _skip_inherited(app, what, name, value, skip, options):
    """What scikit-learn, SciPy or Python itself brings is documented there."""
    home = getattr(inspect.unwrap(value) if callable(value) else value, "__module__", None)
    if what == "class" and callable(value) and home and not home.startswith("consilience"):
        return True
    return None


def _plain_types(app, doctree):
    """Types of parameters link to our classes only.

    Sphinx takes every word of ``ndarray of shape (n_members,)`` for a name and looks for
    anything so called, attributes included.
    """
    classes = {name for room in rooms() for name, value in _names(room) if inspect.isclass(value)}
    for link in list(doctree.findall(pending_xref)):
        if link.get("refspecific") and link["reftarget"] not in classes:
            link.replace_self(link.children)


def _check(app, env):
    documented = set(env.get_domain("py").objects)
    for name in consilience.__all__:
        value = getattr(consilience, name)
        home = consilience._HOMES.get(name, "consilience")
        if not (inspect.ismodule(value) or name.startswith("__") or f"{home}.{name}" in documented):
            logger.warning("consilience.%s is public but not in the reference", name)
