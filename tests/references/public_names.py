"""The page of public names: the `__all__` of each package. `make doc-numbers` writes it."""

import importlib
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

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
    """Return the first line of a thing's docstring, or the type and value of a constant."""
    own = inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing)
    text = inspect.getdoc(thing) if own else f"{type(thing).__name__}: {value(thing)}"
    first = " ".join((text or "").partition("\n\n")[0].split()).replace("|", "\\|")
    return first if len(first) <= 160 else f"{first[:157]}..."


def value(constant: Any) -> str:
    """Return a constant as text, without addresses: of a mapping the keys."""
    return ", ".join(map(str, constant)) if isinstance(constant, Mapping) else repr(constant)


def page() -> str:
    parts = [HEAD]
    for name in PACKAGES:
        summary = described(importlib.import_module(package(name)))
        rows = "".join(f"| `{public}` | {described(thing)} |\n" for public, thing in members(name))
        parts.append(f"\n## {package(name)}\n\n{summary}\n\n| name | meaning |\n|---|---|\n{rows}")
    return "".join(parts)


if __name__ == "__main__":
    PAGE.write_text(page(), "utf-8")
