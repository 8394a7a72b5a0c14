"""The one file of Python code that a user names on the command line: `FILE.py:FUNCTION`."""

import re
import sys
import traceback
from importlib.machinery import PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.core.texts import said, shortened

VALID = "valid: FILE.py:FUNCTION, such as my_file.py:median_error"
LONGEST = 500  # characters of a file's name or error in a message
_LOADED: dict[Path, ModuleType] = {}
_IMPORTING: list[Path] = []  # the file that is being imported now


class RunsWhileImported(UserError):
    """A file that starts a simulation while it is imported."""


def load(place: str) -> Any:
    """Return the function that FILE.py:FUNCTION names, after importing that file and no other.

    The file is imported under its own name, once in a process. Raises UserError if there is no such file or function,
    or if the file cannot be imported.
    """
    file, colon, name = place.rpartition(":")
    if not colon or not name or not file.endswith(".py"):
        raise UserError(f"{place!r} names no function; {VALID}")
    try:
        path = Path(file).resolve()
        is_file = path.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, with a null byte, a loop of links
        is_file = False
    if not is_file:
        raise UserError(f"{shortened(file, LONGEST)} is not a file; {VALID}")
    return attribute(_module(path), file, name)


def attribute(module: ModuleType, file: str, name: str) -> Any:
    """Return what has a dotted name in a module. Raises UserError that calls the module `file`."""
    found: Any = module
    for part in name.split("."):
        names = [one for one, value in vars(found).items() if callable(value) and not one.startswith("_")]
        try:
            found = getattr(found, part)
        except Exception:  # the file may have a __getattr__ of its own
            listed = ", ".join(names[:10]) or "none"
            near = suggestion(part, names)
            raise UserError(f"{file} has no function {part!r}; its functions: {listed}{near}") from None
    return found


def follows_sweep(word: str) -> str:
    """Return the message for FILE.py:FUNCTION in the place of another word, "" for a word of another form."""
    if not re.fullmatch(r".*\.py:\w+", word):
        return ""
    return f"{word} is a function, which follows the word sweep, as in `tcdp-sim sweep {word} sweep.n=10`"


def check_not_importing(what: str) -> None:
    """Raise UserError if a file that was named on the command line is being imported, and now starts a simulation.

    Every worker imports that file too, so they would all run it.
    """
    if not _IMPORTING:
        return
    path = _IMPORTING[-1]
    lines = [frame.lineno for frame in traceback.extract_stack() if frame.filename == str(path)]
    where = f"{path.name}:{lines[0]}" if lines else path.name
    raise RunsWhileImported(
        f'{where} runs {what} while it is imported; put what should not run then under `if __name__ == "__main__":`'
    )


def place_of(function: Any) -> str:
    """Return FILE.py:FUNCTION of a function whose module another process could not import by name, else ""."""
    name, file = getattr(function, "__qualname__", "<"), _only_here(function)
    return f"{file}:{name}" if file and "<" not in name and not _is_of_object(function) else ""


class Home:
    """The module of a user's file, which is imported wherever this arrives."""

    def __init__(self, name: str, path: Path) -> None:
        self._name, self._path = name, path

    def __reduce__(self) -> Any:
        return _arrived, (self._name, str(self._path))


def _arrived(name: str, file: str) -> Home:
    path = Path(file)
    if name not in sys.modules:
        _module(path, name)
    return Home(name, path)


def home_of_object(function: Any) -> Home | None:
    """Return the home of a method of an object if another process could not import it by name, else None."""
    file, name = _only_here(function), getattr(function, "__module__", None) or ""
    return Home(name, file) if file and "." not in name and _is_of_object(function) else None


def _is_of_object(function: Any) -> bool:
    """Return True for a method of an object, whose name in the file is that of another function."""
    return not isinstance(getattr(function, "__self__", None), type | ModuleType | None)


def _only_here(function: Any) -> Path | None:
    """Return the file of a function's module if another process could not import it by name, else None."""
    home = getattr(function, "__module__", None) or ""
    file = getattr(sys.modules.get(home), "__file__", None)
    if home == "__main__" or not file or not file.endswith(".py"):
        return None
    path = Path(file).resolve()
    return None if path not in _LOADED and _importable(home) == path else path


def home_of(function: Any) -> str | None:
    """Return the name of the user's file that a function stands in, if its module has another name here, else None."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if module is None or not file:
        return None
    named = module.__name__ == "__main__" or Path(file).resolve() in _LOADED
    return Path(file).stem if named else None


def _importable(module: str) -> Path | None:
    """Return the file that another process would import under a module's name, None if it would find none."""
    parts, places = module.split("."), None
    for count in range(1, len(parts) + 1):
        # importlib.util.find_spec would return what this process has imported
        found = PathFinder.find_spec(".".join(parts[:count]), places)
        if found is None:
            return None
        places = found.submodule_search_locations
    return Path(found.origin).resolve() if found and found.origin else None


class _Uncached(SourceFileLoader):
    """A loader that compiles the file as it is now.

    Python's stored bytecode is of an older source if the file has changed within a second without a change of size.
    """

    def get_code(self, fullname: str) -> Any:
        """Return the code of the file's present source."""
        return self.source_to_code(self.get_data(self.path), self.path)


def _module(path: Path, name: str = "") -> ModuleType:
    """Return the module of a file, imported under its own name by default. Raises UserError if that fails."""
    if path in _LOADED:
        return _LOADED[path]
    name = name or (path.stem if path.stem not in sys.modules else f"{path.stem}_py")
    spec = spec_from_file_location(name, path, loader=_Uncached(name, str(path)))
    assert spec is not None  # the name of the file ends in .py
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    _IMPORTING.append(path)
    try:
        spec.loader.exec_module(module)
    except RunsWhileImported:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as problem:  # the file may do anything
        del sys.modules[name]
        raise UserError(f"{path.name} cannot be imported ({_said(problem, path)})") from problem
    finally:
        _IMPORTING.pop()
    _LOADED[path] = module
    return module


def _said(problem: BaseException, path: Path) -> str:
    """Return an exception with the last line of the file that it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(path)]
    line = problem.lineno if isinstance(problem, SyntaxError) else lines[-1] if lines else None
    text = shortened(" ".join(f"{type(problem).__name__}: {said(problem)}".split()), LONGEST)
    return f"line {line}: {text}" if line else text
