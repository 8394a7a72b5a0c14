"""The one file of Python code that a user names on the command line: `FILE.py:FUNCTION`."""

import re
import sys
import traceback
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tcdp_sim.core.errors import UserError, suggestion
from tcdp_sim.core.paths import at_home
from tcdp_sim.core.sources import IMPORTING, Loader
from tcdp_sim.core.texts import said, shortened

VALID = "valid: FILE.py:FUNCTION, such as my_file.py:median_error"
LONGEST = 500  # characters of a file's name or error in a message
_LOADED: dict[Path, ModuleType] = {}


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
        path = Path(at_home(file)).resolve()
        is_file = path.is_file()
    except (OSError, ValueError, RuntimeError):  # too long, with a null byte, a loop of links
        is_file = False
    if not is_file:
        raise UserError(f"{shortened(file, LONGEST)} is not a file; {VALID}")
    return attribute(_module(path), file, name)


def attribute(module: ModuleType, file: str, name: str) -> Any:
    """Return the object of a dotted name in a module. Raises UserError that calls the module `file`."""
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
    if not IMPORTING:
        return
    path = IMPORTING[-1]
    lines = [frame.lineno for frame in traceback.extract_stack() if frame.filename == str(path)]
    where = f"{path.name}:{lines[0]}" if lines else path.name
    raise RunsWhileImported(
        f'{where} runs {what} while it is imported; put what should not run then under `if __name__ == "__main__":`'
    )


def home_of(function: Any) -> str | None:
    """Return the name of the user's file that a function stands in, if its module has another name here, else None."""
    module = sys.modules.get(getattr(function, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    if module is None or not file:
        return None
    named = module.__name__ == "__main__" or Path(file).resolve() in _LOADED
    return Path(file).stem if named else None


class _Beside(MetaPathFinder):
    """The finder of modules next to the user's files. It comes last, so it hides nothing installed."""

    def __init__(self) -> None:
        self.folders: list[str] = []

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Return the spec of a module in these folders, with the loader that keeps the source."""
        if path is not None or fullname in sys.stdlib_module_names:  # also one that only other systems have
            return None
        spec = PathFinder.find_spec(fullname, self.folders)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = Loader(fullname, spec.loader.path)
        return spec


_BESIDE = _Beside()


def _module(path: Path, name: str = "") -> ModuleType:
    """Return the module of a file, imported under its own name by default. Raises UserError if that fails."""
    if path in _LOADED:
        return _LOADED[path]
    name = name or (path.stem if path.stem not in sys.modules else f"{path.stem}_py")
    _BESIDE.folders = [str(path.parent), *(each for each in _BESIDE.folders if each != str(path.parent))]
    if _BESIDE not in sys.meta_path:
        sys.meta_path.append(_BESIDE)
    spec = spec_from_file_location(name, path, loader=Loader(name, str(path)))
    assert spec is not None  # the name of the file ends in .py
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except RunsWhileImported:
        del sys.modules[name]
        raise
    except (Exception, SystemExit) as problem:  # the file may do anything
        del sys.modules[name]
        raise UserError(f"{path.name} cannot be imported ({_said(problem, path)})") from problem
    _LOADED[path] = module
    return module


def _said(problem: BaseException, path: Path) -> str:
    """Return an exception with the last line of the file that it came from."""
    lines = [frame.lineno for frame in traceback.extract_tb(problem.__traceback__) if frame.filename == str(path)]
    line = problem.lineno if isinstance(problem, SyntaxError) else lines[-1] if lines else None
    text = shortened(" ".join(f"{type(problem).__name__}: {said(problem)}".split()), LONGEST)
    return f"line {line}: {text}" if line else text
