"""The description of a value and of all code and data that can be reached from it, as one text.

Plain data stand for themselves. A function, class, object or variable is described once, and called by its number from
then on, so the description is finite where they call each other, and the same in every process.
"""

import hashlib
import inspect
import sys
import warnings
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from functools import cached_property, lru_cache, partial, partialmethod, singledispatchmethod
from itertools import chain, pairwise
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tcdp_sim.core.code_dependencies import (
    is_handed_out_by_a_library,
    is_of_a_library,
    is_users,
    known_place,
    stands_in_a_library,
)
from tcdp_sim.core.code_parts import Dynamic, Variable, Whole, enumerated, parts_of_class, parts_of_function
from tcdp_sim.core.described_tables import of_table
from tcdp_sim.core.sources import reachable

PLAIN = (bool, int, float, complex, str, bytes, range, np.dtype, type(None))
MOST = 10_000  # functions and classes; what reaches more has no description
DATA = (*PLAIN, np.generic, np.ndarray, Mapping, list, tuple, set, frozenset, deque)


class Described:
    """A value as plain data (`found`), and the code that it reaches (`code`). Raises TypeError, OSError, ValueError.

    With `by_name`, classes and functions are known by their qualified names alone, wherever they stand.
    """

    def __init__(self, what: Any, is_mechanism: bool = False, by_name: bool = False) -> None:
        self._by_name = by_name
        self._numbers: dict[Any, int] = {}  # of everything that is described once
        self._kept: list[Any] = []  # what has a number, so that no other object gets its address
        self._todo: deque[tuple[int, Iterator[tuple[str, Any]]]] = deque()
        self._open: set[int] = set()  # the containers and objects that are being described
        self._nodes: dict[int, Any] = {}
        self._modules: set[str] = set()  # of the user's code
        self._whole: set[str] = set()
        self._written_so_far = 0
        self._is_dynamic = False
        self._classes: list[type] = []
        self.found = self._mechanism(what) if is_mechanism else self.of(what)
        self._finish()
        self.code = [*(self._nodes[number] for number in sorted(self._nodes)), *self._sources()]

    def _mechanism(self, what: Any) -> Any:
        """Return the description of a callable: a library's by its source too, and an object never as mere data."""
        if isinstance(what, FunctionType) and what.__name__ != "<lambda>":
            return self._written(what)
        if isinstance(what, type) and _is_library_base(what):
            return ["class", *known_place(what), _library_source(what)]
        is_object = not (callable(what) or isinstance(what, ModuleType) or _inner(what) is not None)
        return self._object(what) if is_object or isinstance(what, DATA) else self.of(what)

    def _finish(self) -> None:
        """Describe all that is only named so far, until nothing new is met."""
        while self._todo or self._subclasses():
            number, parts = self._todo.popleft()
            self._nodes[number] = [number, *([name, self._part(part)] for name, part in parts)]

    def _subclasses(self) -> bool:
        """Name the subclasses of all classes, if code looks up code by texts. Return True if there are new ones."""
        while self._is_dynamic and self._classes:
            kinds: list[type] = type.__subclasses__(self._classes.pop(0))
            for kind in sorted((each for each in kinds if is_users(each.__module__)), key=_key):
                self._class(kind)
        return bool(self._todo)

    def _sources(self) -> Iterator[Any]:
        """Yield the digest of each module whose whole source counts. Raises TypeError if one has no source."""
        if self._whole or self._is_dynamic:
            names = self._whole | (self._modules if self._is_dynamic else set())
            found = reachable(names)
            if names - found.keys():
                raise TypeError("the source of a module is not known")
            digests = ([hashlib.sha256(each.text).hexdigest(), name] for name, each in found.items())
            yield sorted(digests)  # not by names: a file has one identity whether it is run or imported

    def _numbered(self, key: Any, keep: Any, parts: Iterable[tuple[str, Any]]) -> list[Any]:
        """Return the number that stands for something, whose parts are described later."""
        if key not in self._numbers:
            self._numbers[key] = len(self._numbers)
            self._kept.append(keep)
            self._todo.append((self._numbers[key], iter(parts)))
        return ["@", self._numbers[key]]

    def _part(self, part: Any) -> Any:
        """Return the description of a part of code. A lambda that is one is known by its lines."""
        if isinstance(part, Variable):
            return self._variable(part)
        if isinstance(part, Whole):
            self._whole.add(part.module)
            return ["whole", part.module]
        if isinstance(part, Dynamic):
            self._is_dynamic = True
            return "dynamic"
        return self._function(part) if isinstance(part, FunctionType) else self.of(part)

    def _variable(self, of: Variable) -> Any:
        """Return the number of a variable."""
        parts = [("module", str(of.module.get("__name__"))), ("name", of.name), ("value", of.module[of.name])]
        return self._numbered((id(of.module), of.name), of.module, parts)

    def of(self, what: Any) -> Any:
        """Return a value as plain data that stands for it."""
        if type(what) in PLAIN:
            return what
        if isinstance(what, Enum):
            known = [*known_place(type(what))[self._by_name :], what.name]
            return [*known, self.of(type(what) if is_users(type(what).__module__) else what.value)]
        if isinstance(what, PLAIN) and not self._is_kind_of_users(what):
            return what
        if id(what) in self._numbers:
            return ["@", self._numbers[id(what)]]
        if id(what) in self._open:
            raise TypeError("an object that holds itself is known by its address alone")
        self._open.add(id(what))
        try:
            return self._data(what) if isinstance(what, DATA) else self._code(what)
        finally:
            self._open.discard(id(what))

    def _data(self, what: Any) -> Any:
        """Return the description of data, with its class if that is the user's."""
        if not self._is_kind_of_users(what):
            return self._plain(what)
        if isinstance(what, PLAIN):  # a subclass of one of these, whose repr may be its own
            kind: Any = next(kind for kind in PLAIN if isinstance(what, kind))
            plain = kind.__repr__(what)
        else:
            plain = self._plain(what)
        return ["of", self.of(type(what)), plain, self.of(getattr(what, "__dict__", None))]

    @staticmethod
    def _is_kind_of_users(what: Any) -> bool:
        return type(what).__module__ != "builtins" and is_users(type(what).__module__)

    def _plain(self, what: Any) -> Any:
        """Return a container or array as plain data."""
        if isinstance(what, np.generic | np.ndarray):
            return _array(what)
        if isinstance(what, Mapping):
            factory = [self.of(what.default_factory)] if isinstance(what, defaultdict) else []
            return [type(what).__qualname__, [(self.of(key), self.of(one)) for key, one in what.items()], *factory]
        if isinstance(what, set | frozenset):
            return ["set", [repr(self.of(one)) for one in _in_order(what)]]
        return [self.of(one) for one in what]

    def _code(self, what: Any) -> Any:
        """Return the description of a module, class, function or object."""
        if isinstance(what, ModuleType):
            is_whole = is_users(what.__name__) and not self._by_name
            return self._part(Whole(what.__name__)) if is_whole else ["module", what.__name__]
        if isinstance(what, type):
            return self._class(what)
        if isinstance(what, FunctionType):
            if what.__name__ == "<lambda>":
                raise TypeError("a lambda has no name")
            return self._function(what)
        if (inner := _inner(what)) is not None:
            kind = self._class(type(what)) if self._is_kind_of_users(what) else type(what).__qualname__
            return [kind, *map(self._part, inner)]
        if inspect.ismethod(what):
            owner = what.__self__
            is_object = isinstance(what.__func__, FunctionType) and not isinstance(owner, (*DATA, type, ModuleType))
            return ["method", self._object(owner) if is_object else self.of(owner), self._part(what.__func__)]
        if inspect.isroutine(what) or isinstance(what, np.ufunc):
            return self._compiled(what)
        if is_handed_out_by_a_library(what):
            return ["library", *known_place(type(what))]
        if callable(what) or is_dataclass(what) or hasattr(what, "__get__"):
            return self._object(what)
        return self._table(what)

    def _table(self, what: Any) -> Any:
        """Return the description of a table of pandas. Raises TypeError for any other object."""
        if (table := of_table(what)) is None:
            raise TypeError(f"{type(what).__name__} is no plain data")
        return ["table", table, self.of(getattr(what, "attrs", None))]

    def _function(self, what: FunctionType) -> Any:
        """Return the description of a function: a library's by its name, and with its closure if it is a wrapper."""
        if self._by_name:
            return ["function", what.__qualname__]
        if stands_in_a_library(what):
            return ["library", *known_place(what)]
        home = str(what.__globals__.get("__name__"))
        if not is_of_a_library(what):
            return self._written(what)
        if isinstance(registry := getattr(what, "registry", None), Mapping) and hasattr(what, "dispatch"):
            parts = enumerated("registered", (each for pair in registry.items() for each in pair))
        else:
            cells = (cell.cell_contents for cell in what.__closure__ or ())
            parts = enumerated("cell", chain(cells, [getattr(what, "__wrapped__", None)]))
        return self._numbered(id(what), what, chain([("library", [home, what.__code__.co_qualname])], parts))

    def _written(self, what: FunctionType) -> Any:
        """Return the description of a function by its source."""
        if not is_of_a_library(what):
            self._modules.add(str(what.__globals__.get("__name__")))
        self._count(what)
        head = [("module", what.__module__), ("name", what.__qualname__)]
        return self._numbered(id(what), what, chain(head, parts_of_function(what)))

    def _count(self, what: FunctionType | type) -> None:
        """Raise TypeError if there are too many functions and classes."""
        self._written_so_far += id(what) not in self._numbers
        if self._written_so_far > MOST:
            raise TypeError("this reaches too much to be described")

    def _class(self, kind: type) -> Any:
        """Return the description of a class: a library's by its name."""
        if self._by_name:
            return ["class", kind.__qualname__]
        if kind.__module__ == "builtins" or stands_in_a_library(kind):
            return ["class", *known_place(kind)]
        if id(kind) not in self._numbers:
            self._classes.append(kind)
        if is_users(kind.__module__) or kind.__module__ not in sys.modules:
            self._modules.add(kind.__module__)
        self._count(kind)
        head = [("module", kind.__module__), ("name", kind.__qualname__)]
        return self._numbered(id(kind), kind, chain(head, parts_of_class(kind)))

    def _compiled(self, what: Any) -> Any:
        """Return the name of a compiled function, the object that it is bound to, and the file of one of the user's."""
        if self._by_name:
            return ["function", what.__name__]
        if isinstance(what, np.ufunc) and not _is_known(what):
            raise TypeError("a compiled function has no source")
        module, name = getattr(what, "__module__", None), getattr(what, "__qualname__", what.__name__)
        file = getattr(sys.modules.get(str(module)), "__file__", None) if module and is_users(module) else None
        content = [hashlib.sha256(Path(file).read_bytes()).hexdigest()] if file else []
        bound = getattr(what, "__self__", None)
        return ["compiled", module, name, self.of(None if isinstance(bound, ModuleType) else bound), *content]

    def _object(self, what: Any) -> Any:
        """Return the description of an object by its class and state."""
        self._open.add(id(what))
        kind, state = type(what), self.of(object.__getstate__(what))
        if self._by_name:
            return self._numbered(id(what), what, [("class", kind), ("state", state)])
        bases = (each for each in kind.__mro__ if _is_library_base(each))
        sources = self._numbered(
            ("sources", id(kind)), kind, [(each.__qualname__, _library_source(each)) for each in bases]
        )
        return self._numbered(id(what), what, [("class", kind), ("state", state), ("sources", sources)])


def _inner(what: Any) -> list[Any] | None:
    """Return the contents of a wrapper of functions (a partial, property, cache, compiled function), or None."""
    if isinstance(what, partial | partialmethod):
        return [what.func, what.args, what.keywords, getattr(what, "__dict__", None) if type(what) is partial else None]
    if isinstance(what, property):
        return [what.fget, what.fset, what.fdel]
    if isinstance(what, staticmethod | classmethod):
        return [what.__func__]
    if isinstance(what, cached_property):
        return [what.func]
    if isinstance(what, singledispatchmethod):
        return [what.dispatcher]
    if isinstance(what, np.vectorize):
        return [what.pyfunc, what.signature, what.otypes, what.excluded]
    inner = compiled_from(what)
    return None if inner is None else [inner]


def compiled_from(what: Any) -> Any:
    """Return the function that a cache or a compiled function was made of, None for anything else."""
    if isinstance(what, FunctionType | type) or inspect.ismethod(what) or stands_in_a_library(what):
        return None
    if is_users(type(what).__module__):  # an object, whose own code counts too
        return None
    return getattr(what, "py_func", getattr(what, "__wrapped__", None))


def _is_known(function: np.ufunc) -> bool:
    """Return True for a universal function that a library has under its name."""
    homes = (module for name, module in list(sys.modules.items()) if name.startswith(("numpy", "scipy")))
    return any(getattr(home, "__dict__", {}).get(function.__name__) is function for home in homes)


def _array(what: Any) -> Any:
    """Return the dtype, shape and content digest of an array. Raises TypeError for an array of objects."""
    array = np.ascontiguousarray(what)
    if array.dtype.hasobject:
        raise TypeError("an array of objects is known by their addresses alone")
    return (array.dtype.str, array.shape, hashlib.sha256(array.tobytes()).hexdigest())


def _in_order(values: Iterable[Any]) -> list[Any]:
    """Return the members of a set in an order that is the same in every process. Raises TypeError if there is none."""
    keyed = sorted(((_key(value), value) for value in values), key=lambda each: each[0])
    if any(one[0] == other[0] for one, other in pairwise(keyed)):
        raise TypeError("members of a set have one name")
    return [value for _, value in keyed]


def _key(what: Any) -> str:
    """Return a text that tells members of a set apart. Raises TypeError for objects."""
    if type(what) in PLAIN:
        return repr(what)
    if isinstance(what, Enum):
        return f"{type(what).__qualname__}.{what.name}"
    if isinstance(what, tuple | frozenset):
        keys = [_key(each) for each in what]
        return repr(keys if isinstance(what, tuple) else ["set", sorted(keys)])
    if isinstance(what, FunctionType | type):
        return f"{what.__qualname__} {what.__module__}"
    return repr(Described(what).found)


def _is_library_base(kind: type) -> bool:
    """Return True for a library's class whose source belongs to the description of its objects."""
    return stands_in_a_library(kind) and kind is not object and kind.__module__ not in ("abc", "typing")


@lru_cache(maxsize=1024)
def _library_source(kind: type) -> str:
    """Return the digest of the source of a library's class, "" for a generated one. Raises TypeError if compiled."""
    if not str(getattr(sys.modules[kind.__module__], "__file__", None)).endswith(".py"):
        raise TypeError("a compiled class has no source")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of escape sequences in the file, which is parsed here
        try:
            return hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()
        except OSError:
            return ""
