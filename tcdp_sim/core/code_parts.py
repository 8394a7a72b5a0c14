"""The names that the code of a function or class reads: the parts of its description (`described`)."""

import ast
import importlib
import linecache
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, is_dataclass
from enum import Enum
from functools import lru_cache
from importlib.util import find_spec
from inspect import getsource, isdatadescriptor, unwrap
from pathlib import Path
from types import CodeType, DynamicClassAttribute, FunctionType, ModuleType
from typing import Any, NamedTuple

from tcdp_sim.core.code_dependencies import GENERATED, is_of_user, is_users, names
from tcdp_sim.core.sources import imports

# Names of what looks code or data up by a text. No static reading can tell which, so whole sources count.
DYNAMIC = {
    *("getattr", "globals", "locals", "vars", "eval", "exec", "__subclasses__", "__dict__", "__globals__"),
    *("__getattribute__", "attrgetter", "methodcaller", "getmembers", "getattr_static", "dir", "modules"),
    *("__annotations__", "get_type_hints", "signature", "getsource", "__code__", "__defaults__", "__kwdefaults__"),
}
IMPORTING = {  # functions that import a module by a text
    *("import_module", "__import__", "resolve_name", "run_path", "run_module", "reload", "load_module"),
    *("spec_from_file_location", "module_from_spec", "exec_module", "find_spec"),
}
BOOKKEEPING = {  # of enumerations and dataclasses; their members and fields are parts of their own
    *("_member_map_", "_value2member_map_", "_hashable_values_", "_unhashable_values_", "_unhashable_values_map_"),
    *("__dataclass_params__", "__annotate__", "__annotate_func__"),
}


class Variable(NamedTuple):
    """A variable of a module of the user's."""

    module: dict[str, Any]
    name: str


class Whole(NamedTuple):
    """All that a module of the user's says, and the modules that it imports."""

    module: str


class Dynamic(NamedTuple):
    """A mark of code that looks up other code by texts: the modules of all code that is reached count as a whole."""


def parts_of_function(function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield (name, part) for the source of a function and all that it reads. Raises OSError and TypeError."""
    text = source(function)
    yield "source", text
    yield from enumerated("default", function.__defaults__ or ())
    yield from (function.__kwdefaults__ or {}).items()
    yield "attributes", dict(vars(function))
    cells = zip(function.__code__.co_freevars, function.__closure__ or ())
    closure = {name: cell.cell_contents for name, cell in cells}
    read = names(function.__code__)
    named = {name: function.__globals__[name] for name in sorted(read) if name in function.__globals__}
    modules = {name: value for name, value in (named | closure).items() if isinstance(value, ModuleType)}
    yield "closure", {name: value for name, value in closure.items() if name not in modules}
    yield from ((name, Variable(function.__globals__, name)) for name in named if name not in modules)
    brought = _imported(text, function) if "import" in text else {}
    yield from _of_modules(modules | brought, read, text)
    callables = (value for value in (named | closure).values() if callable(value))
    yield from _by_texts(read | {str(getattr(value, "__name__", "")) for value in callables}, text, function)


def enumerated(name: str, values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    """Yield values with numbered names."""
    return ((f"{name} {index}", value) for index, value in enumerate(values))


def source(function: FunctionType) -> str:
    """Return the lines of a function itself, not of the one that it wraps. Raises OSError if there are none.

    Code of `exec` has none, although some other text may be known under its file name.
    """
    code = function.__code__
    if code.co_filename == GENERATED:
        raise OSError("the code was made by exec")
    linecache.checkcache(code.co_filename)
    lines = linecache.getlines(code.co_filename, function.__globals__)
    first, last = code.co_firstlineno - 1, _last_line(code)
    if last is None:  # Python runs without positions
        return getsource(code)
    if len(lines) < last:
        raise OSError("the code has no source")
    return "".join(lines[first:last])


def _last_line(code: CodeType) -> int | None:
    """Return the last line of code and its inner functions, None if it is not known."""
    own = [end for _, end, _, _ in code.co_positions() if end is not None]
    inner = [_last_line(each) for each in code.co_consts if isinstance(each, CodeType)]
    return max([*own, *(last for last in inner if last is not None)], default=None)


def _imported(text: str, function: FunctionType) -> dict[str, ModuleType]:
    """Return the user's modules that a function imports when it runs, by their names."""
    brought = imports(textwrap.dedent(text).encode(), _package(function))
    found = ((name, _module(name)) for name in sorted(brought))
    return {name: module for name, module in found if module is not None}


def _package(function: FunctionType) -> str:
    """Return the package of a function's module, "" for none."""
    return str(function.__globals__.get("__package__") or "")


def _module(name: str) -> ModuleType | None:
    """Return a module of the user's, imported if need be; None for another name. Raises TypeError if it fails."""
    if name not in sys.modules and not (_is_users_file(name.partition(".")[0]) and _is_there(name)):
        return None
    try:
        found = importlib.import_module(name)
    except Exception as error:
        raise TypeError(f"{name} cannot be imported") from error
    return found if is_users(name) else None


def _is_there(name: str) -> bool:
    """Return True if a module of this name can be found; False for a name in a module, say."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:
        return False
    except Exception as error:  # of the package, which is imported to find the module
        raise TypeError(f"{name} cannot be imported") from error


def _is_users_file(name: str) -> bool:
    """Return True if a module or package of this name would be the user's own."""
    if name in sys.modules:
        return is_users(name)
    try:
        spec = find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return False
    places = [] if spec is None else [spec.origin, *(spec.submodule_search_locations or ())]
    return any(is_of_user(name, place) for place in places if place and Path(place).is_absolute())


def _of_modules(modules: Mapping[str, ModuleType], read: set[str], text: str) -> Iterator[tuple[str, Any]]:
    """Yield the parts of modules that are read: attributes of the user's, or the whole if it is passed on."""
    alone = _alone(text)
    for name, module in sorted(modules.items()):
        if not is_users(module.__name__):
            yield name, module
            yield from ((f"{name}.{each}", Variable(vars(module), each)) for each in _put_in(module, read))
        elif {name.partition(".")[0], name.rpartition(".")[2]} & alone:
            yield name, Whole(module.__name__)
        else:
            yield from _attributes(name, module, read | {"__getattr__"}, alone, ())


def _put_in(module: ModuleType, read: set[str]) -> list[str]:
    """Return the names of the user's functions and classes that a library's module was given."""
    given = ((name, vars(module)[name]) for name in sorted(read & vars(module).keys()))
    return [name for name, value in given if isinstance(value, FunctionType | type) and is_users(value.__module__)]


def _attributes(
    place: str, module: ModuleType, read: set[str], alone: frozenset[str], above: tuple[ModuleType, ...]
) -> Iterator[tuple[str, Any]]:
    """Yield the variables that code reads of a module and of the modules in it."""
    for name in sorted(read & vars(module).keys()):
        value = vars(module)[name]
        if not isinstance(value, ModuleType):
            yield f"{place}.{name}", Variable(vars(module), name)
        elif name in alone and is_users(value.__name__):
            yield f"{place}.{name}", Whole(value.__name__)
        elif value not in above and is_users(value.__name__):
            yield from _attributes(f"{place}.{name}", value, read, alone, (*above, module))


@lru_cache(maxsize=4096)
def _alone(text: str) -> frozenset[str]:
    """Return the names that a source uses other than as NAME.attribute, such as those that it passes on."""
    tree = _parsed(text)
    nodes = [] if tree is None else list(ast.walk(tree))
    owners = {id(node.value) for node in nodes if isinstance(node, ast.Attribute)}
    used = {getattr(node, "id", getattr(node, "attr", "")) for node in nodes if id(node) not in owners}
    aliases = [each for node in nodes if isinstance(node, ast.Import | ast.ImportFrom) for each in node.names]
    return frozenset(used | {each.name.rpartition(".")[2] for each in aliases if each.asname in used})


def _parsed(text: str) -> ast.Module | None:
    """Return the tree of a function's source, None for a part of an expression, such as a lambda."""
    try:
        return ast.parse(textwrap.dedent(text))
    except (SyntaxError, ValueError):
        return None


def _by_texts(read: set[str], text: str, function: FunctionType) -> Iterator[tuple[str, Any]]:
    """Yield the names that a function may look up by texts. Raises TypeError if nobody can tell."""
    if read & DYNAMIC:
        yield "looked up", Dynamic()
    if read & IMPORTING:
        yield from ((name, Whole(name)) for name in _imported_by_text(text, _package(function)))


def _imported_by_text(text: str, package: str) -> list[str]:
    """Return the user's modules that calls such as `import_module("m")` import. Raises TypeError for unknown names."""
    tree = _parsed(text)
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)] if tree else []
    calls = [node for node in calls if getattr(node.func, "attr", getattr(node.func, "id", "")) in IMPORTING]
    if not calls:
        raise TypeError("a module is imported by a text that is not known")
    return sorted(set().union(*(_named_modules(call, package) for call in calls)))


def _named_modules(call: ast.Call, package: str) -> set[str]:
    """Return the modules that a call may import: the one of a text, or all of the package that a text begins with."""
    what = call.args[0] if call.args else None
    first = what.values[0] if isinstance(what, ast.JoinedStr) and what.values else what
    if not isinstance(first, ast.Constant) or not isinstance(first.value, str):
        raise TypeError("a module is imported by a text that is not known")
    name = f"{package}{first.value}" if first.value.startswith(".") else first.value
    if what is not first and "." not in name:
        raise TypeError("a module is imported by a text that is not known")
    home = name if what is first else name.rpartition(".")[0]
    module = _module(home)
    if module is None:
        if _is_users_file(home.partition(".")[0]) or find_spec(home.partition(".")[0]) is None:
            raise TypeError(f"{home} cannot be imported")
        return set()  # a library's
    return {home} if what is first else {home, *_inside(module)}


def _inside(package: ModuleType) -> set[str]:
    """Return the modules in a package, imported."""
    found = set()
    for place in getattr(package, "__path__", ()):
        for file in Path(place).rglob("*.py"):
            parts = [part for part in file.relative_to(place).with_suffix("").parts if part != "__init__"]
            name = ".".join([package.__name__, *parts])
            found |= {name} if _module(name) is not None else set()
    return found


def parts_of_class(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield (name, part) for the bases, methods, attributes, fields and members of a class of the user's."""
    yield "bases", [base for base in kind.__bases__ if base is not object]
    yield "metaclass", type(kind)
    for name, field in vars(kind).get("__dataclass_fields__", {}).items():
        yield f"field {name}", [field.init, dict(field.metadata)]
        given = (each for each in (field.default, field.default_factory) if each is not MISSING)
        yield from enumerated(f"default of {name}", given)
    members = dict(kind.__members__) if issubclass(kind, Enum) else {}
    yield "members", [[name, each.value] for name, each in members.items()]
    for name, value in vars(kind).items():
        if name not in members and not _is_bookkeeping(kind, name, value):
            yield name, value


def _is_bookkeeping(kind: type, name: str, value: Any) -> bool:
    """Return True for attributes of a class that follow from the others: Python made them."""
    if name in BOOKKEEPING or name.startswith("_abc_") or isinstance(value, DynamicClassAttribute):
        return True
    if name == "__init__" and (
        value is object.__init__ or getattr(value, "__qualname__", "") == "_no_init_or_replace_init"
    ):
        return True  # which a protocol replaces at first use
    function = value.__func__ if isinstance(value, staticmethod) else value
    if isinstance(function, FunctionType):
        made = unwrap(function).__code__.co_filename == GENERATED
        return made and name.startswith("__") and (is_dataclass(kind) or issubclass(kind, tuple))
    if isdatadescriptor(value) and not isinstance(value, property):
        return not is_users(type(value).__module__)  # slots
    return name.startswith("__") and not callable(value) and not hasattr(value, "__get__")
