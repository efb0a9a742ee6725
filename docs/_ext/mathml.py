"""Formulas as MathML: every browser draws it, and no page needs a script from elsewhere.

docutils translates LaTeX to MathML itself; Sphinx only has to be told. A formula that docutils
cannot read is a warning that names the page.
"""

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def setup(app):
    """Register the renderer and make it the one that is used."""
    inline, block = (_writer(as_block) for as_block in (False, True))
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    app.connect(
        "config-inited", lambda app, config: setattr(config, "html_math_renderer", "mathml")
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _writer(as_block):
    def visit(translator, node):
        formula = node.astext()
        try:
            markup = tex2mathml(formula, as_block=as_block)
        except MathError as error:
            logger.warning("formula: %s: %s", formula, error, location=node)
            markup = translator.encode(formula)
        tag = "div" if as_block else "span"
        if as_block and node.get("number"):
            markup += f'<span class="eqno">({node["number"]})</span>'
        translator.body.append(f'<{tag} class="math">{markup}</{tag}>')
        raise nodes.SkipNode

    return visit
