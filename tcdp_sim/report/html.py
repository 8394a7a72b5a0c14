"""Pages that are one self-contained file each, without outside addresses, in which every text is shown as text."""

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from tcdp_sim.core.texts import printable

MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|"})


def page(template: str, scripts: Sequence[str] | None = None, **values: Any) -> str:
    """Return a template of `templates/` filled in; an .html one gets style, scripts and a content security policy.

    Values are escaped unless they are Markup, and characters that are not printable are written out. `scripts` replace
    the usual one. Raises jinja2's UndefinedError for a missing value.
    """
    if template.endswith(".html"):
        inside = [Markup(script) for script in (scripts or (file("filter.js"),))]
        values |= {"style": Markup(file("style.css")), "scripts": inside, "policy": _policy(inside)}
    return _environment(template.endswith(".html")).get_template(template).render(**_clean(values))


def json_data(value: Any) -> Markup:
    """Return plain data as JSON that may stand inside of a <script> element."""
    return Markup(json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"))


def _policy(scripts: Sequence[str]) -> str:
    """Return a policy that allows nothing but the style, pictures inside of the page and these very scripts."""
    digests = (b64encode(hashlib.sha256(script.encode()).digest()).decode() for script in scripts)
    allowed = " ".join(f"'sha256-{digest}'" for digest in digests)
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {allowed}"


def _clean(value: Any) -> Any:
    """Return a value with all texts inside it free of control characters and marks of direction."""
    if isinstance(value, Markup):
        return value
    if isinstance(value, str):
        return printable(value, keep="\n")
    if isinstance(value, Mapping):
        return {key: _clean(item) for key, item in value.items()}
    return [_clean(item) for item in value] if isinstance(value, list | tuple) else value


def markdown(text: object) -> str:
    """Return a text as one line that Markdown shows literally, even in a table's cell."""
    return " ".join(str(text).split()).translate(MARKDOWN)


@cache
def _environment(escaped: bool) -> Environment:
    """Return the environment for templates with or without escaping."""
    made = Environment(
        loader=FunctionLoader(file),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["md"] = markdown
    return made


@cache
def file(name: str) -> str:
    """Return the content of a template's file."""
    return resources.files("tcdp_sim.report").joinpath("templates", name).read_text("utf-8")
