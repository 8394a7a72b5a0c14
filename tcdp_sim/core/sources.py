"""The sources of a user's modules, sent from the driver to its workers.

A worker runs the sources that it is sent, and nothing of its own disk: a file there may be another one, or the same one
after an edit, and its numbers would bear the identity of the driver's source.
"""

import ast
import hashlib
import linecache
import sys
import threading
import zlib
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import find_spec, spec_from_file_location
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

from tcdp_sim.core.code_dependencies import functions_of, is_of_user, is_users

_HELD: dict[str, str] = {}  # module -> digest of the source that this process runs
_READ: dict[str, bytes] = {}  # file -> the source that was run, for files that are loaded here
IMPORTING: list[Path] = []  # the user's files that are being imported now, the last one innermost
_installing = threading.RLock()


class Source(NamedTuple):
    """A module: its name, its file on the driver, its text, and whether it is a package."""

    name: str
    file: str
    text: bytes
    is_package: bool

    @property
    def digest(self) -> str:
        """A digest of the place and the text."""
        return hashlib.sha256(f"{self.file}\0".encode() + self.text).hexdigest()


class Sources:
    """The user's modules that some code can reach. They are installed in the process in which this arrives."""

    def __init__(self, modules: Iterable[Source]) -> None:
        self.modules = tuple(modules)
        self._packed = [(*each[:2], zlib.compress(each.text, 1), each.is_package) for each in self.modules]

    def __reduce__(self) -> Any:
        return _arrived, (self._packed,)


def sources_of(*things: Any) -> Sources:
    """Return the user's modules that callables and objects stand in, and all that these import, as they are now."""
    found = reachable({name for each in things for name in _homes(each)})
    _HELD.update({name: each.digest for name, each in found.items()})
    return Sources(found[name] for name in sorted(found))


def reachable(names: Iterable[str]) -> dict[str, Source]:
    """Return the sources of those modules that are the user's, and of all that they import, by name."""
    todo, found = sorted(names), {}
    while todo:
        name = todo.pop()
        if name not in found and (source := _source(name)) is not None:
            found[name] = source
            todo += _reached_by(source)
    return found


class Loader(SourceFileLoader):
    """The loader of a file's present source, which it keeps, so that the source that ran is sent and digested.

    Python's stored bytecode is of an older source if the file has changed within a second without a change of size.
    """

    def get_code(self, fullname: str) -> Any:
        """Return the code of the file's source."""
        text = self.get_data(self.path)
        _READ[self.path] = text
        _shown(self.path, text)
        return self.source_to_code(text, self.path)

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and remember meanwhile that it is being imported."""
        IMPORTING.append(Path(self.path))
        try:
            super().exec_module(module)
        finally:
            IMPORTING.pop()


class _Sent(Loader):
    """The loader of a module whose source was sent."""

    def __init__(self, source: Source) -> None:
        super().__init__(source.name, source.file)
        self._source = source

    def get_data(self, path: Any) -> bytes:
        return self._source.text if path == self._source.file else super().get_data(path)


class _Finder(MetaPathFinder):
    """The finder of the modules whose sources were sent; it comes before the finders that look on the disk."""

    def __init__(self) -> None:
        self.sent: dict[str, Source] = {}

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        source = self.sent.get(fullname)
        if source is None:
            return None
        places = [str(Path(source.file).parent)] if source.is_package else None
        return spec_from_file_location(fullname, source.file, loader=_Sent(source), submodule_search_locations=places)


class _Parents(MetaPathFinder):
    """The finder of packages that hold a module that was sent and have no source themselves; it comes last."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if not any(name.startswith(f"{fullname}.") for name in _FINDER.sent):
            return None
        return ModuleSpec(fullname, None, is_package=True)


_FINDER, _PARENTS = _Finder(), _Parents()


NOTHING = Sources(())


def _arrived(packed: list[tuple[str, str, bytes, bool]]) -> Sources:
    """Install sources in this process, unless it runs them already."""
    sources = Sources(Source(name, file, zlib.decompress(text), package) for name, file, text, package in packed)
    with _installing:
        if any(_HELD.get(each.name) != each.digest for each in sources.modules):
            if _FINDER not in sys.meta_path:
                sys.meta_path[:] = [_FINDER, *sys.meta_path, _PARENTS]
            for each in sources.modules:  # all of them, because they hold each other's functions
                sys.modules.pop(each.name, None)
                _FINDER.sent[each.name], _HELD[each.name] = each, each.digest
    return sources


def _homes(thing: Any) -> Iterator[str]:
    """Yield the user's modules that the functions and classes of a callable stand in."""
    for function in functions_of(thing):
        yield from _of_main(function) if function.__module__ == "__main__" else [function.__module__]
    for each in (thing, type(thing), getattr(thing, "__self__", None)):
        if isinstance(name := getattr(each, "__module__", None), str) and name != "__main__" and is_users(name):
            yield name


def _of_main(function: FunctionType) -> Iterator[str]:
    """Yield the user's modules that a script or notebook has imported. Its own functions are sent as they are."""
    for value in list(function.__globals__.values()):
        name = value.__name__ if isinstance(value, ModuleType) else getattr(value, "__module__", None)
        if isinstance(name, str) and name != "__main__" and is_users(name):
            yield name


def _source(name: str) -> Source | None:
    """Return the source of a module of the user's, None for any other."""
    module = sys.modules.get(name)
    file = getattr(module, "__file__", None) if module is not None else _file_of(name)
    if not file or not str(file).endswith(".py") or not is_of_user(name, file):
        return None
    path = str(Path(file).resolve())
    try:
        held = isinstance(getattr(module, "__loader__", None), Loader)
        text = _READ[str(file)] if held and str(file) in _READ else Path(file).read_bytes()
    except OSError:
        return None
    return Source(name, path, text, Path(file).name == "__init__.py")


def _file_of(name: str) -> str | None:
    """Return the file of a module that is not imported yet, such as one that a function imports."""
    try:
        spec = find_spec(name) if "." not in name or name.rpartition(".")[0] in sys.modules else None
    except (ImportError, ValueError, AttributeError):
        return None
    return spec.origin if spec is not None else None


def _reached_by(source: Source) -> list[str]:
    """Return the names under which a module may import others, also within its functions."""
    package = source.name if source.is_package else source.name.rpartition(".")[0]
    return sorted(imports(source.text, package))


@lru_cache(maxsize=1024)
def imports(text: bytes, package: str) -> frozenset[str]:
    """Return the modules that a source names in its imports, with their packages."""
    found: set[str] = set()
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return frozenset()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            home = ".".join([*parents, *([node.module] if node.module else [])])
            found |= {home, *(f"{home}.{alias.name}" for alias in node.names)}
    parts = (name.split(".") for name in found if name)
    return frozenset(".".join(each[:count]) for each in parts for count in range(1, len(each) + 1))


def _shown(file: str, text: bytes) -> None:
    """Let tracebacks and `inspect` show the source that was run, whatever the file holds now."""
    lines = text.decode(errors="replace").splitlines(keepends=True)
    linecache.cache[file] = len(text), None, lines, file
