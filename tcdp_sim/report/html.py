"""Pages that are one self-contained file each, without outside addresses, in which every text is shown as text."""

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

from tcdp_sim.core.texts import printable

MARKDOWN = str.maketrans({sign: f"\\{sign}" for sign in "\\`*_[]<>|"})


def page(template: str, **values: Any) -> str:
    """Return a template of `templates/` filled in; an .html one gets style, script and a content security policy.

    Values are escaped unless they are Markup, and characters that are not printable are written out. Raises jinja2's
    UndefinedError for a missing value.
    """
    style, script = (Markup(_file(name)) for name in ("style.css", "filter.js"))
    if template.endswith(".html"):
        values |= {"style": style, "script": script, "policy": _policy(script)}
    return _environment(template.endswith(".html")).get_template(template).render(**_clean(values))


def _policy(script: str) -> str:
    """Return a policy that allows nothing but the style and this very script."""
    digest = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


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
        loader=FunctionLoader(_file),
        autoescape=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["md"] = markdown
    return made


@cache
def _file(name: str) -> str:
    """Return the content of a template's file."""
    return resources.files("tcdp_sim.report").joinpath("templates", name).read_text("utf-8")
