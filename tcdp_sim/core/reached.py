"""The code that a callable uses: the functions, classes and modules that it names, and those that they name.

Only the user's own code is followed. A library counts by the names under which the source calls it.
"""

import inspect
import sys
import sysconfig
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

STANDARD = Path(sysconfig.get_path("stdlib")).resolve()
INSTALLED = {"site-packages", "dist-packages"}  # folders of libraries in any environment
OWN_PACKAGE = "tcdp_sim"
GENERATED = "<string>"  # the file name of methods that dataclasses generate, which the source of the class determines


def reached(mechanism: Any) -> dict[str, Any]:
    """Return everything that the user's code reads, by place.

    That is the source, the defaults and the constants of its functions and classes.
    """
    todo = list(functions_of(mechanism))
    seen = {id(function) for function in todo}
    found: dict[str, Any] = {}
    while todo:
        function = todo.pop()
        found |= dict(_own(function))
        for place, value in _named(function):
            found |= dict(_constants(place, value))
            fresh = [each for each in functions_of(value) if id(each) not in seen]
            seen |= set(map(id, fresh))
            todo += fresh
    return dict(sorted(found.items()))


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


def _own(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the source and the defaults of a function."""
    place = f"{function.__module__}.{function.__qualname__}"
    yield f"{place} (source)", inspect.getsource(function.__code__)
    yield f"{place} (defaults)", [function.__defaults__, function.__kwdefaults__]


def _named(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for everything a function reads: closure, globals, and attributes of the user's modules."""
    own, read = f"{function.__module__}.{function.__qualname__}", names(function.__code__)
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    values = {name: cell.cell_contents for name, cell in cells}
    values |= {name: function.__globals__[name] for name in read if name in function.__globals__}
    yield from ((f"{own}: {name}", value) for name, value in _without_modules(values, read))


def _without_modules(values: Mapping[str, Any], read: set[str]) -> Iterator[tuple[str, Any]]:
    """Yield the values, with each of the user's modules replaced by the attributes that are read."""
    for name, value in values.items():
        if not isinstance(value, ModuleType):
            yield name, value
        elif is_users(value.__name__):
            there = {attribute: vars(value)[attribute] for attribute in read if attribute in vars(value)}
            yield from ((f"{name}.{each}", one) for each, one in _without_modules(there, read - {name}))


def _constants(place: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Yield (place, value) for data: the value itself, or the attributes of a class of the user's."""
    if isinstance(value, type):
        for base in reversed(value.__mro__):
            own = vars(base).items() if is_users(base.__module__) else ()
            yield from ((f"{place}.{name}", one) for name, one in own if _is_constant(name, one))
    elif not _is_code(value):
        yield place, value


def _is_code(value: Any) -> bool:
    """Return True if a value is code: a library's is known by its name, the user's by its source."""
    return (
        isinstance(value, type | FunctionType | ModuleType | np.ufunc)
        or inspect.isroutine(value)
        or hasattr(value, "__wrapped__")
    )


def is_handed_out_by_a_library(value: Any) -> bool:
    """Return True if an object is an attribute of its class's library, as `scipy.stats.binom` is."""
    parts = type(value).__module__.split(".")
    packages = (sys.modules.get(".".join(parts[:count])) for count in range(1, len(parts) + 1))
    libraries = (package for package in packages if package is not None and not is_users(package.__name__))
    return hasattr(value, "__dict__") and any(value is each for package in libraries for each in vars(package).values())


def _is_constant(name: str, value: Any) -> bool:
    """Return True if an attribute of a class is a value that its code may read."""
    code = callable(value) or isinstance(value, property | staticmethod | classmethod)
    return not (name.startswith(("__", "_abc_")) or code or inspect.isdatadescriptor(value) or hasattr(value, "func"))
