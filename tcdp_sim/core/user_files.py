"""The one file of Python code that a user names on the command line: `FILE.py:FUNCTION`."""

import sys
import traceback
from importlib.machinery import PathFinder
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tcdp_sim.core.errors import UserError, suggestion

VALID = "valid: FILE.py:FUNCTION, such as my_file.py:median_error"
_LOADED: dict[Path, ModuleType] = {}


def load(place: str) -> Any:
    """Return the function that FILE.py:FUNCTION names, after importing that file and no other.

    The file is imported under its own name, once in a process. Raises UserError if there is no such file or function,
    or if the file cannot be imported.
    """
    file, colon, name = place.rpartition(":")
    if not colon or not name or not file.endswith(".py"):
        raise UserError(f"{place!r} names no function; {VALID}")
    path = Path(file).resolve()
    if not path.is_file():
        raise UserError(f"{file} is not a file; {VALID}")
    found: Any = _module(path)
    for part in name.split("."):
        names = [one for one, value in vars(found).items() if callable(value) and not one.startswith("_")]
        if not hasattr(found, part):
            listed = ", ".join(names[:10]) or "none"
            raise UserError(f"{file} has no function {part!r}; its functions: {listed}{suggestion(part, names)}")
        found = getattr(found, part)
    return found


def place_of(function: Any) -> str:
    """Return FILE.py:FUNCTION of a function whose module another process could not import by name, else ""."""
    name, home = getattr(function, "__qualname__", "<"), getattr(function, "__module__", None) or ""
    file = getattr(sys.modules.get(home), "__file__", None)
    if "<" in name or home == "__main__" or not file or not file.endswith(".py"):
        return ""
    path = Path(file).resolve()
    return "" if path not in _LOADED and _importable(home) == path else f"{path}:{name}"


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


def _module(path: Path) -> ModuleType:
    """Return the module of a file. Raises UserError if it cannot be imported."""
    if path in _LOADED:
        return _LOADED[path]
    name = path.stem if path.stem not in sys.modules else f"{path.stem}_py"
    spec = spec_from_file_location(name, path)
    assert spec is not None  # the name of the file ends in .py
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as problem:  # the file may do anything
        del sys.modules[name]
        raise UserError(f"{path.name} cannot be imported ({_said(problem, path)})") from problem
    _LOADED[path] = module
    return module


def _said(problem: BaseException, path: Path) -> str:
    """Return an exception with the last line of the file that it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(path)]
    line = problem.lineno if isinstance(problem, SyntaxError) else lines[-1] if lines else None
    said = " ".join(f"{type(problem).__name__}: {problem}".split())
    return f"line {line}: {said}" if line else said
