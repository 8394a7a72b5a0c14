"""A digest of the code that a piece of evidence came from: its module and all modules of ours that it imports.

Imports for type annotations alone do not count. A package that imports its names when they are used has their homes
there, and so they do count.
"""

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

PACKAGE = "tcdp_sim"


@cache
def digest(*modules: str) -> str:
    """Return the blake2b digest of the sources of modules and of all modules of the package that they reach."""
    reached, todo = set(), list(modules)
    while todo:
        name = todo.pop()
        if name not in reached:
            reached.add(name)
            todo += _imported(name)
    sources = (f"{name}\0{_source(name)}\0" for name in sorted(reached))
    return hashlib.blake2b("".join(sources).encode(), digest_size=16).hexdigest()


@cache
def _imported(module: str) -> tuple[str, ...]:
    """Return the package's modules that a module names in its imports, and the packages that contain them."""
    if module == PACKAGE:  # it imports its public names lazily
        return ()
    tree = ast.parse(_source(module))
    named = (name for node in (ast.walk(tree) if _is_lazy(tree) else _run(tree)) for name in _names(node))
    ours = {_module(name) for name in named if name.split(".")[0] == PACKAGE}
    return tuple(sorted(ours | {name.rpartition(".")[0] for name in ours if "." in name}))


def _is_lazy(tree: ast.Module) -> bool:
    """Return True if a module defines `__getattr__`."""
    return any(isinstance(node, ast.FunctionDef) and node.name == "__getattr__" for node in tree.body)


def _run(node: ast.AST) -> Iterator[ast.AST]:
    """Yield all statements below a node, however deep, without what stands under `if TYPE_CHECKING`."""
    for name in ("body", "orelse", "finalbody", "handlers", "cases"):
        for child in getattr(node, name, ()):
            if not (isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"):
                yield child
                yield from _run(child)


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and not node.level:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def _module(name: str) -> str:
    """Return the module that a dotted name is, or is defined in. Nothing but packages is imported to find it."""
    found, _, rest = name.partition(".")
    for part in rest.split("."):
        spec = _spec(found)
        inner = f"{found}.{part}"
        if spec is None or spec.submodule_search_locations is None or _spec(inner) is None:
            break
        found = inner
    return found


@cache
def _spec(module: str) -> ModuleSpec | None:
    try:
        return find_spec(module)
    except (ImportError, ValueError):
        return None


def _path(module: str) -> Path | None:
    spec = _spec(module)
    return Path(spec.origin) if spec and spec.origin else None


def _source(module: str) -> str:
    path = _path(module)
    return path.read_text("utf-8") if path else ""
