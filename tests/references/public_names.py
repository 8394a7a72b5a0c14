"""The page of public names: the `__all__` of each package. `make doc-numbers` writes it."""

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[2] / "tcdp_sim"
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
PACKAGES = (  # in the order in which a reader meets them; other packages have no public names
    *("", "privacy", "noise", "calibration", "calibration.optimal", "exact", "bounds", "selection", "selection.keys"),
    *("ordered.interior", "ordered.thresholds", "ordered.quantiles", "ordered.prefix_sums", "candidates"),
    *("accounting", "per_record", "mechanisms", "samplers", "data", "statistics", "results", "audits"),
    "audits.adapters",
)
HEAD = """# Public names

The names below are public: a change of one of them is announced in the [changelog](../../CHANGELOG.md), and from 0.1.0
on the old name works for one minor release with a warning. `help(name)` in Python shows units, ranges, errors and an
example. Packages and modules that are not listed are internal.
"""


def package(name: str) -> str:
    return f"tcdp_sim.{name}".rstrip(".")


def members(name: str) -> Iterator[tuple[str, Any]]:
    """Yield the public names of a package with their objects, in alphabetical order."""
    module = importlib.import_module(package(name))
    for public in sorted({*module.__all__} - {"__version__"}, key=lambda each: (each.lower(), each)):
        yield public, getattr(module, public)


def described(thing: Any) -> str:
    """Return the first line of a thing's docstring as a cell of a table."""
    first = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return " ".join(first.split()).replace("|", "\\|")


def meaning(name: str, public: str, thing: Any) -> str:
    """Return the meaning of a public name of a package: of a constant the comment `#:` above it."""
    if inspect.isclass(thing) or inspect.isroutine(thing):
        return described(thing)
    home = Path(str(importlib.import_module(package(name)).__file__)).parent
    texts = (path.read_text("utf-8") for folder in (home, PACKAGE) for path in sorted(folder.rglob("*.py")))
    return next((found[1] for text in texts if (found := re.search(rf"^ *#: (.+)\n *{public}\b", text, re.M))), "")


def page() -> str:
    parts = [HEAD]
    for name in PACKAGES:
        summary = described(importlib.import_module(package(name)))
        rows = "".join(f"| `{public}` | {meaning(name, public, thing)} |\n" for public, thing in members(name))
        parts.append(f"\n## {package(name)}\n\n{summary}\n\n| name | meaning |\n|---|---|\n{rows}")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
