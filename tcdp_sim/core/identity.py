"""The identity of a callable: module, name, source and settings, so that stored numbers never belong to other code.

Settings are the data that a function or object carries or reads: its state, defaults and closure, the attributes set on
it, and the constants of its modules that it names. The user's code that it can call is described with it (`described`).
"""

import hashlib
import inspect
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from tcdp_sim.core.described import Described, compiled_from


def digest(what: Any, by_name: bool = False) -> str:
    """Return a digest (64 hex digits) of plain data, arrays, dataclasses and callables. Raises TypeError for others.

    With `by_name`, it changes with values and with qualified names, but not with the place or the source of code.
    """
    try:
        described = Described(what, by_name=by_name)
    except OSError as error:
        raise TypeError("code without a source is no plain data") from error
    found = [described.found, described.code] if described.code else described.found
    return hashlib.sha256(repr(found).encode()).hexdigest()


def identity(mechanism: Callable[..., Any], home: str | None = None) -> dict[str, str] | None:
    """Return {module, name, source} of a callable, or None if it has no identity; `source` digests code and settings.

    A lambda has none, nor has a function or class without source. The same holds for one that carries or reads objects
    other than plain data and callables with a source, such as a lambda in a list, or imports a module by a computed
    name. All of the user's code that the callable can reach is digested too: by function and class, or whole modules
    where code is looked up by texts. A library counts by the names under which the source calls it. A resumed audit or
    sweep computes a stored chunk again, to notice changes of the environment, of files or of a library.

    With `home`, the callable's module counts as the module of this name, so that a file has one identity whether it is
    run or imported.
    """
    try:
        module, name = _place(mechanism)
        if not isinstance(module, str):
            return None
        described = Described(mechanism, is_mechanism=True)
        text = repr([described.found, described.code])
        if home:
            module, text = home, text.replace(f"'{module}", f"'{home}")
        return {"module": module, "name": name, "source": hashlib.sha256(text.encode()).hexdigest()}
    except (TypeError, OSError, ValueError, RecursionError):
        return None


def _place(what: Any) -> tuple[str, str]:
    """Return the module and name of a function, method, partial or object."""
    if isinstance(what, partial):
        return _place(what.func)
    if inspect.ismethod(what):
        module, name = _place(what.__self__)
        return module, f"{name}.{what.__func__.__name__}"
    if isinstance(what, FunctionType | type):
        return what.__module__, what.__qualname__
    if (inner := compiled_from(what)) is not None:
        return _place(inner)
    if inspect.isroutine(what) or isinstance(what, np.ufunc):
        raise TypeError("a compiled function has no source")
    return type(what).__module__, type(what).__qualname__
