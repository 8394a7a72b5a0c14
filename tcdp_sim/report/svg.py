"""Figures as SVG: the same bytes for the same figure, in the colours of the page around them."""

import io
import re
from base64 import b64encode
from collections.abc import Callable
from typing import Any
from xml.sax.saxutils import escape

import matplotlib as mpl
from matplotlib.figure import Figure

from tcdp_sim.core.texts import printable
from tcdp_sim.report.plots import style

THEMED = {  # colour of a figure -> colour on a page, which may be dark
    "#000000": "currentColor",
    "#444444": "currentColor",
    "#777777": "var(--soft)",
    "#dddddd": "var(--grid)",
    "#0072b2": "var(--blue)",
    "#882255": "var(--wine)",
    "#332288": "var(--indigo)",
    "#b00020": "var(--bad)",
}


def drawn(draw: Callable[[Any], Figure], table: Any) -> str:
    """Return the figure that a function draws of a table as an SVG file in the house style."""
    with style():
        return file_svg(draw(table))


def file_svg(figure: Figure) -> str:
    """Return a figure as an SVG file on white, with texts as texts."""
    out = io.StringIO()
    with style(), mpl.rc_context({"svg.fonttype": "none"}):
        figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None}, facecolor="white")
    return out.getvalue()


def inline_svg(text: str, name: str, title: str, description: str) -> str:
    """Return a figure of `file_svg` as a themed element of a page, without background, with title and description.

    `name` consists of letters, digits and _. The element's ids begin with it, so that figures of one page do not clash.
    Raises ValueError for another name.
    """
    if not name.isidentifier() or not name.isascii():
        raise ValueError(f"name = {name!r} is not valid; valid: letters, digits and _")
    text = text[text.index("<svg") :]
    text = re.sub(r'\bid="', f'id="{name}-', text)
    text = re.sub(r"url\(#", f"url(#{name}-", text)
    text = re.sub(r'xlink:href="#', f'xlink:href="#{name}-', text)
    text = re.sub("fill: #ffffff", "fill: none", text)  # white backgrounds would glare on a dark page
    text = re.sub(r"#[0-9a-fA-F]{6}\b", lambda match: THEMED.get(match[0].lower(), match[0]), text)
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"^<svg ", f'<svg role="img" aria-labelledby="{name}-title {name}-desc" ', text)
    words = f'<title id="{name}-title">{_text(title)}</title><desc id="{name}-desc">{_text(description)}</desc>'
    head = text.index(">") + 1
    return text[:head] + words + text[head:]


def png_data(figure: Figure) -> str:
    """Return a figure of very many points as a PNG inside a data address."""
    out = io.BytesIO()
    with style():
        figure.savefig(out, format="png", metadata={"Software": None})
    return f"data:image/png;base64,{b64encode(out.getvalue()).decode()}"


def _text(text: str) -> str:
    """Return a text escaped for XML."""
    return escape(printable(text))
