"""Which mechanism it is: by module, name, source and settings, so that stored counts never belong to other code."""

import hashlib
import inspect
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from types import ModuleType
from typing import Any

import numpy as np

PLAIN = (bool, int, float, str, bytes, type(None))


def digest(what: Any) -> str:
    """A digest, 64 hex digits, of plain data, arrays, and objects by their class and what they hold."""
    return hashlib.sha256(repr(_plain(what)).encode()).hexdigest()


def _plain(what: Any) -> Any:
    if isinstance(what, PLAIN):
        return what
    if isinstance(what, np.generic | np.ndarray):
        array = np.ascontiguousarray(what)
        return (array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).hexdigest())
    if isinstance(what, Mapping):
        return [(_plain(key), _plain(value)) for key, value in what.items()]
    if isinstance(what, list | tuple):
        return [_plain(value) for value in what]
    if is_dataclass(what) and not isinstance(what, type):
        return [type(what).__qualname__, *((each.name, _plain(getattr(what, each.name))) for each in fields(what))]
    if callable(what):
        return [type(what).__qualname__, getattr(what, "__qualname__", "")]  # the mechanism's own is in its identity
    raise TypeError(f"{type(what).__name__} is no plain data")


def identity(mechanism: Callable[..., Any]) -> dict[str, str] | None:
    """{module, name, source: a digest of its code and of the settings that it carries}; None where nobody can tell.

    That is so of a lambda, of a function without source, and of one that carries what is no plain data. Constants of
    its module that it names count as settings; functions that it calls do not: raise a number there when they change.
    """
    try:
        module, name, parts = _described(mechanism)
        return {"module": module, "name": name, "source": digest(parts)}
    except (TypeError, OSError, ValueError):
        return None


def _described(mechanism: Any) -> tuple[str, str, Any]:
    if isinstance(mechanism, partial):
        module, name, parts = _described(mechanism.func)
        arguments = {str(place): value for place, value in enumerate(mechanism.args)} | mechanism.keywords
        return module, name, [parts, _held(arguments)]
    if inspect.ismethod(mechanism):
        module, name, parts = _described(mechanism.__self__)
        return module, f"{name}.{mechanism.__func__.__name__}", [parts, inspect.getsource(mechanism.__func__)]
    if inspect.isfunction(mechanism):
        if mechanism.__name__ == "<lambda>":
            raise TypeError("a lambda has no name")
        seen = inspect.getclosurevars(mechanism)
        globals_ = {key: value for key, value in seen.globals.items() if isinstance(value, (*PLAIN, np.ndarray))}
        carried = [mechanism.__defaults__, mechanism.__kwdefaults__, _held(seen.nonlocals), globals_]
        return mechanism.__module__, mechanism.__qualname__, [inspect.getsource(mechanism), carried]
    kind = type(mechanism)
    state = {each.name: getattr(mechanism, each.name) for each in fields(mechanism)} if is_dataclass(mechanism) else {}
    return kind.__module__, kind.__qualname__, [inspect.getsource(kind), _held(state or vars(mechanism))]


def _held(values: Mapping[str, Any]) -> dict[str, Any]:
    """What a function or an object carries, functions described in their turn."""
    described: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, ModuleType | type):
            described[name] = value.__name__
        elif isinstance(value, partial) or inspect.isfunction(value) or inspect.ismethod(value):
            described[name] = _described(value)
        else:
            described[name] = value
    return described
