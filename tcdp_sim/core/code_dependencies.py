"""Whose code something is: the user's own, which is followed, or a library's, which counts by its names."""

import inspect
import sys
import sysconfig
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries in any environment
OWN_PACKAGE = "tcdp_sim"
GENERATED = "<string>"  # the file name of methods that dataclasses generate, which the source of the class determines


def functions_of(what: Any) -> Iterator[FunctionType]:
    """Yield the user's own functions that a callable consists of."""
    if isinstance(what, FunctionType):
        written = what.__code__.co_filename != GENERATED
        yield from [what] if written and is_users(what.__module__) else []
    elif isinstance(what, type):
        for base in what.__mro__:
            yield from _methods(base)
    for part in _parts(what):
        yield from functions_of(part)


def _parts(what: Any) -> Iterator[Any]:
    """Yield the callables that a callable is made of."""
    if isinstance(what, partial):
        yield from (what.func, *what.args, *what.keywords.values())
    elif inspect.ismethod(what):
        yield from (what.__func__, type(what.__self__))
    elif hasattr(what, "__wrapped__"):  # wrapped by a decorator, such as a cache
        yield what.__wrapped__
    elif not (isinstance(what, type | ModuleType) or inspect.isroutine(what)) and hasattr(what, "__dict__"):
        yield type(what)
        yield from filter(callable, vars(what).values())


def is_users(module: str | None) -> bool:
    """Return True if a module is the user's own code: neither of a library nor of this package."""
    if module == "__main__":
        return True
    file = getattr(sys.modules.get(module or ""), "__file__", None)
    return file is not None and is_of_user(str(module), file)


@lru_cache(maxsize=4096)
def is_of_user(module: str, file: str) -> bool:
    """Return True if a module with this file would be the user's own code."""
    if module.partition(".")[0] == OWN_PACKAGE:
        return False
    path = Path(file).resolve()
    return not (STANDARD in path.parents or INSTALLED & set(path.parts))


def names(code: CodeType) -> set[str]:
    """Return the globals and attributes that code names, including its inner functions."""
    inner = (names(each) for each in code.co_consts if isinstance(each, CodeType))
    return set(code.co_names).union(*inner)


def _methods(kind: type) -> Iterator[FunctionType]:
    """Yield the functions of a class of the user's, without its bases."""
    if not is_users(kind.__module__):
        return
    for value in vars(kind).values():
        inner: Any = value.fget if isinstance(value, property) else getattr(value, "__func__", value)
        inner = getattr(inner, "func", inner)  # for a cached property
        if isinstance(inner, FunctionType):
            yield from functions_of(inner)


def stands_in_a_library(what: Any) -> bool:
    """Return True for a function or class that a library has under its name, so that the name says all of it."""
    module, name = getattr(what, "__module__", None), getattr(what, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str) or is_users(module):
        return False
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, "__dict__", {}).get(part)
    return found is what or getattr(found, "__func__", None) is what


def known_place(what: Any) -> tuple[str, str]:
    """Return the module and the name by which a library's function or class is known.

    Something of this package is known by the outermost package that exports it, so its file may move.
    """
    module, name = what.__module__, what.__qualname__
    return (exported_by(module, name, what) if module.partition(".")[0] == OWN_PACKAGE else module), name


def exported_by(module: str, name: str, what: Any) -> str:
    """Return the outermost package above a module that has something under its name, or the module itself."""
    first, parts = name.partition(".")[0], module.split(".")
    owner = what if first == name else getattr(sys.modules.get(module), first, None)
    homes = (".".join(parts[:count]) for count in range(1, len(parts)))
    return next((home for home in homes if getattr(sys.modules.get(home), first, None) is owner), module)


def is_of_a_library(function: FunctionType) -> bool:
    """Return True for a function whose code stands in a library, such as a wrapper that a decorator makes."""
    module = str(function.__globals__.get("__name__"))
    return function.__globals__ is getattr(sys.modules.get(module), "__dict__", None) and not is_users(module)


def is_handed_out_by_a_library(value: Any) -> bool:
    """Return True if an object is an attribute of its class's library, as `scipy.stats.binom` is."""
    parts = type(value).__module__.split(".")
    packages = (sys.modules.get(".".join(parts[:count])) for count in range(1, len(parts) + 1))
    libraries = (package for package in packages if package is not None and not is_users(package.__name__))
    return hasattr(value, "__dict__") and any(value is each for package in libraries for each in vars(package).values())
