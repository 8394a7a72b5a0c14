"""Names in backticks of docstrings: a dotted name of the package has to exist, or the build fails.

Sphinx is in its strict mode (`nitpicky`), so a name that leads nowhere is a warning. A single word in backticks may be
a parameter, a column or a word of the shell, and is not looked up. A dotted name without a page stays without a link.
"""

import re
from importlib import import_module
from pkgutil import iter_modules

import tcdp_sim

DOTTED = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)+")
FOLDERS = {each.name for each in iter_modules(tcdp_sim.__path__)}


def is_ours(name: str) -> bool:
    """Return True if a dotted name begins with the package or one of its parts, such as "exact.hockey_stick"."""
    return bool(DOTTED.fullmatch(name)) and name.partition(".")[0] in FOLDERS | {"tcdp_sim"}


def exists(name: str) -> bool:
    """Return True if a dotted name is a module of the package, or something in a module."""
    parts = name.removeprefix("tcdp_sim.").split(".")
    thing: object = tcdp_sim
    for count, part in enumerate(parts, 1):
        try:
            module = ".".join(["tcdp_sim", *parts[:count]])
            thing = getattr(thing, part) if hasattr(thing, part) else import_module(module)
        except ImportError:
            return False
    return True


def plain(app, env, node, contnode):
    """Return a name without a link, unless it was written as a link or is a name of the package that does not exist."""
    name = node.get("reftarget", "")
    if node.get("reftype") != "obj" or node.get("refexplicit") or (is_ours(name) and not exists(name)):
        return None
    return contnode


def setup(app):
    """Register the handler."""
    app.connect("missing-reference", plain, priority=900)  # after all that can find it
    return {"parallel_read_safe": True, "parallel_write_safe": True}
