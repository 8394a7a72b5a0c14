"""The identity of a callable: module, name, source and settings, so that stored numbers never belong to other code.

Settings are the data that a function or object carries or reads: its state, defaults and closure, the attributes set on
it, and the constants of its modules that it names. Callables among them are described in the same way, and so is the
user's code that it calls (`reached`).
"""

import hashlib
import inspect
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property, lru_cache, partial
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tcdp_sim.core.reached import GENERATED, is_handed_out_by_a_library, names, reached

PLAIN = (bool, int, float, complex, str, bytes, range, np.dtype, type(None))


def digest(what: Any) -> str:
    """Return a digest (64 hex digits) of plain data, arrays, dataclasses and callables. Raises TypeError for others."""
    return hashlib.sha256(repr(_plain(what)).encode()).hexdigest()


def identity(mechanism: Callable[..., Any], home: str | None = None) -> dict[str, str] | None:
    """Return {module, name, source} of a callable, or None if it has no identity; `source` digests code and settings.

    A lambda has none, nor has a function or class without source. The same holds for one that carries or reads objects
    other than plain data and callables with a source. The user's functions, classes and modules that the callable
    names are digested too, with those that they name. A resumed audit or sweep computes a stored chunk again, to notice
    changes of the environment, of files or of a library.

    With `home`, the callable's module counts as the module of this name, so that a file has one identity whether it is
    run or imported.
    """
    try:
        module, name, parts = _described(mechanism)
        if not isinstance(module, str):
            return None
        text = repr(_plain([parts, reached(mechanism)]))
        if home:
            module, text = home, text.replace(f"'{module}", f"'{home}")
        return {"module": module, "name": name, "source": hashlib.sha256(text.encode()).hexdigest()}
    except (TypeError, OSError, ValueError, RecursionError):
        return None


def _plain(what: Any) -> Any:
    """Return a value as plain data that stands for it in the digest. Raises TypeError."""
    if isinstance(what, PLAIN):
        return what
    if isinstance(what, np.generic | np.ndarray):
        return _array(what)
    if isinstance(what, Mapping):
        return [type(what).__qualname__, [(_plain(key), _plain(value)) for key, value in what.items()]]
    if isinstance(what, list | tuple):
        return [_plain(value) for value in what]
    if isinstance(what, set | frozenset):
        return ["set", sorted(repr(_plain(value)) for value in what)]
    return _named(what)


def _array(what: Any) -> Any:
    """Return the dtype, shape and content digest of an array. Raises TypeError for an array of objects."""
    array = np.ascontiguousarray(what)
    if array.dtype.hasobject:
        raise TypeError("an array of objects is known by their addresses alone")
    return (array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).hexdigest())


def _named(what: Any) -> Any:
    """Return plain data for an object with a name: a module, class, member of an enumeration, callable or dataclass."""
    if isinstance(what, ModuleType):
        return ["module", what.__name__]
    if isinstance(what, Enum):
        return [type(what).__module__, type(what).__qualname__, what.name, _plain(what.value)]
    if isinstance(what, type):
        return ["class", what.__module__, what.__qualname__, _source_if_any(what)]
    if _is_function(what) and not isinstance(what, FunctionType) and not inspect.ismethod(what):
        return _without_source(what)
    if not _is_function(what) and is_handed_out_by_a_library(what):
        return ["library", type(what).__module__, type(what).__qualname__]
    if callable(what) or is_dataclass(what):
        return _plain(_described(what))
    raise TypeError(f"{type(what).__name__} is no plain data")


def _is_function(what: Any) -> bool:
    """Return True for functions of any kind: numpy's universal and dispatched ones and cached ones too."""
    return inspect.isroutine(what) or isinstance(what, np.ufunc) or (callable(what) and hasattr(what, "__wrapped__"))


def _without_source(what: Any) -> Any:
    """Return the name and bound object of a compiled function, or the description of a wrapped one."""
    if hasattr(what, "__wrapped__") and not isinstance(what, type(np.mean)):
        return ["wrapped", _plain(what.__wrapped__)]
    bound = getattr(what, "__self__", None)
    name = getattr(what, "__qualname__", what.__name__)
    return ["compiled", getattr(what, "__module__", None), name, _plain(bound)]


def _described(what: Any) -> tuple[str, str, Any]:
    """Return (module, name, parts) of a function, method, partial or object."""
    if isinstance(what, partial):
        module, name, parts = _described(what.func)
        return module, name, [parts, what.args, what.keywords, vars(what)]
    if inspect.ismethod(what):
        module, name, parts = _described(what.__self__)
        return module, f"{name}.{what.__func__.__name__}", [parts, _described(what.__func__)]
    if isinstance(what, FunctionType):
        if what.__name__ == "<lambda>":
            raise TypeError("a lambda has no name")
        return what.__module__, what.__qualname__, [_source(what.__code__), _settings(what), vars(what)]
    if isinstance(what, type):
        return what.__module__, what.__qualname__, _class(what)
    if _is_function(what):
        raise TypeError("a compiled function has no source")
    kind = type(what)
    return kind.__module__, kind.__qualname__, [_class(kind), object.__getstate__(what)]


def _class(kind: type) -> list[Any]:
    """Return the source and settings of a class and of its bases."""
    bases = [each for each in kind.__mro__ if each is not object and each.__module__ not in ("abc", "typing")]
    return [[each.__module__, each.__qualname__, _of_file(each), dict(_of_class(each))] for each in bases]


def _of_class(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the methods and attributes of a class that its identity depends on."""
    for name, value in vars(kind).items():
        function = _unwrapped(value)
        if isinstance(function, FunctionType):
            if function.__code__.co_filename != GENERATED:
                yield name, [_source(function.__code__), _settings(function), vars(function)]
        elif not name.startswith(("__", "_abc_")) and not inspect.isdatadescriptor(value):
            yield name, value


def _unwrapped(value: Any) -> Any:
    """Return the function inside a property, a static or class method, or a decorator."""
    if isinstance(value, property):
        return value.fget
    if isinstance(value, cached_property):
        return value.func
    return inspect.unwrap(value.__func__ if isinstance(value, staticmethod | classmethod) else value)


def _settings(function: FunctionType) -> list[Any]:
    """Return a function's defaults, closure and module constants, without the functions that it calls."""
    closure = [cell.cell_contents for cell in function.__closure__ or ()]
    named = {name: function.__globals__[name] for name in names(function.__code__) if name in function.__globals__}
    constants = {
        name: value
        for name, value in sorted(named.items())
        if not isinstance(value, ModuleType | type) and not _is_function(value)
    }
    return [function.__defaults__, function.__kwdefaults__, closure, constants]


def _source_if_any(kind: type) -> str:
    """Return the source of a class, or "" for a class of a compiled library.

    A class of an interactive session has no file. It is refused, because its name says nothing about its code.
    """
    try:
        return _source(kind)
    except (OSError, TypeError):
        if kind.__module__ == "__main__":
            raise
        return ""


def _of_file(kind: type) -> str:
    """Return the source of a class, or "" for a generated one, whose functions have theirs.

    Raises TypeError for a compiled class.
    """
    try:
        return _source(kind)
    except OSError:
        return ""


@lru_cache(maxsize=1024)
def _source(what: Any) -> str:
    """Return the source of a class or code object itself, not of the function that it wraps.

    Code of `exec` has none, although some other text may be known under its file name.
    """
    if getattr(what, "co_filename", "") == GENERATED:
        raise OSError("the code was made by exec")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escape sequences in a library's file, which is parsed here
        return inspect.getsource(what)
