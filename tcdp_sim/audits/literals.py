"""Inputs, claims and mechanisms as Python expressions that give them again, with the imports that these need."""

import inspect
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from tcdp_sim.audits.data_sets import is_pandas
from tcdp_sim.core.code_dependencies import exported_by, is_users, names

LONGEST = 4000  # characters of an expression
NUMPY, PANDAS = "import numpy as np", "import pandas as pd"


class NoExpression(Exception):
    """The reason why an object cannot be written, as the end of a sentence."""


@dataclass
class Written:
    """A script that is being written.

    - imports: its import lines, in order, without repetition.
    - folders: the folders from which it imports the user's own modules.
    - definitions: the lines of functions that are defined inside other functions, and of the values that they use.
    """

    imports: dict[str, None] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)
    definitions: dict[str, list[str]] = field(default_factory=dict)

    def expression(self, value: Any) -> str:
        """Return an expression that gives an equal value of the same type. Raises NoExpression."""
        text = self._text(value)
        if len(text) > LONGEST:
            raise NoExpression(f"{type(value).__name__} has {len(text):,} characters when it is written")
        return text

    def _text(self, value: Any) -> str:
        kind = type(value)
        if kind in (bool, int, str, bytes, range) or value is None:
            return repr(value)
        if kind is float:
            return repr(value) if np.isfinite(value) else f'float("{value}")'
        if kind in (list, tuple, set, frozenset, dict):
            return self._container(value)
        if isinstance(value, np.ndarray | np.generic):
            return self._array(value)
        if is_pandas(value):
            return self._frame(value) if hasattr(value, "columns") else self._series(value)
        if isinstance(value, partial | FunctionType) or inspect.ismethod(value):
            return self._function(value)
        return self._object(value)

    def _container(self, value: Any) -> str:
        """Return a list, tuple, set or dict, in the order in which it is iterated."""
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self._text(key)}: {self._text(one)}" for key, one in value.items()) + "}"
        inner = ", ".join(self._text(one) for one in value)
        match value:
            case list():
                return f"[{inner}]"
            case tuple():
                return f"({inner},)" if len(value) == 1 else f"({inner})"
            case set():
                return "{" + inner + "}" if value else "set()"
        return "frozenset({" + inner + "})" if value else "frozenset()"

    def _array(self, value: Any) -> str:
        """Return an array or a number of numpy."""
        dtype = value.dtype
        if type(value) is not np.ndarray and not isinstance(value, np.generic):
            raise NoExpression(f"it is of type {type(value).__name__}")
        if dtype.kind not in "biufUSmM":
            raise NoExpression(f"an array is of type {dtype}")
        self.imports[NUMPY] = None
        plain = np.asarray(value)
        times = dtype.kind in "mM"
        text = self._text((plain.view(np.int64) if times else plain).tolist())
        made = f"np.array({text}, dtype={('<i8' if times else dtype.str)!r})"
        made += f".view({dtype.str!r})" if times else ""
        made += f".reshape({plain.shape!r})" if plain.size == 0 and plain.shape != (0,) else ""
        return made if isinstance(value, np.ndarray) else f"{made}[()]"

    def _series(self, value: Any) -> str:
        """Return a series of pandas."""
        parts = [self._values(value), *self._index(value.index)]
        parts += [] if value.name is None else [f"name={self._text(value.name)}"]
        return f"pd.Series({', '.join(parts)})"

    def _frame(self, value: Any) -> str:
        """Return a frame of pandas."""
        if not value.columns.is_unique or value.columns.nlevels > 1 or value.columns.name is not None:
            raise NoExpression("the columns of a frame have names that cannot be written")
        values = (f"{self._text(_item(name))}: {self._values(value[name])}" for name in value.columns)
        return f"pd.DataFrame({', '.join(['{' + ', '.join(values) + '}', *self._index(value.index)])})"

    def _values(self, column: Any) -> str:
        """Return the values of a column, with their type."""
        self.imports[PANDAS] = None
        dtype = column.dtype
        if isinstance(dtype, np.dtype) and dtype.kind in "biufmM":
            return self._array(column.to_numpy())
        if str(dtype) == "category":
            categories = self._text([_item(each) for each in dtype.categories])
            codes = f"{column.cat.codes.tolist()}, categories={categories}, ordered={dtype.ordered}"
            return f"pd.Categorical.from_codes({codes})"
        return f"pd.array({self._text([_item(each) for each in column])}, dtype={str(dtype)!r})"

    def _index(self, index: Any) -> Iterator[str]:
        """Yield the argument for an index that does more than number the rows."""
        if index.nlevels > 1:
            raise NoExpression("an index has several levels")
        start = (index.start, index.step) if type(index).__name__ == "RangeIndex" else None
        if start != (0, 1) or index.name is not None:
            name = "" if index.name is None else f", name={self._text(index.name)}"
            yield f"index=pd.Index({self._values(index.to_series())}{name})"

    def _object(self, value: Any) -> str:
        """Return an object of a dataclass or a named tuple, by its fields; a ledger by its entries."""
        kind = type(value)
        if inspect.isroutine(value) or isinstance(value, type):
            return self._named(value)
        if hasattr(value, "entries") and hasattr(value, "relation") and kind.__name__ == "Ledger":
            given = [self._text(list(value.entries)), self._text(value.relation)]
        elif is_dataclass(value) and all(each.init for each in fields(value)):
            given = [f"{each.name}={self._text(getattr(value, each.name))}" for each in fields(value)]
        elif isinstance(value, tuple) and hasattr(value, "_asdict"):
            given = [f"{name}={self._text(one)}" for name, one in value._asdict().items()]
        else:
            raise NoExpression(f"an object is of type {kind.__name__}")
        return f"{self._named(kind)}({', '.join(given)})"

    def _function(self, value: Any) -> str:
        """Return a function by its name, with the import or the source that defines it."""
        if isinstance(value, partial):
            self.imports["from functools import partial"] = None
            named = (f"{name}={self._text(one)}" for name, one in value.keywords.items())
            return f"partial({', '.join([self._text(value.func), *map(self._text, value.args), *named])})"
        if inspect.ismethod(value):
            return f"{self._text(value.__self__)}.{value.__name__}"
        if value.__name__ == "<lambda>":
            raise NoExpression("a function is a lambda, which has no name")
        if "<locals>" not in value.__qualname__:
            return self._named(value)
        if value.__name__ not in self.definitions:
            self._define(value)
        return str(value.__name__)

    def _define(self, function: FunctionType) -> None:
        """Write the source of a function defined inside another one, after the source of the names that it reads."""
        try:
            source = textwrap.dedent(inspect.getsource(function))
        except (OSError, TypeError):
            raise NoExpression(f"the source of {function.__name__} is not there") from None
        self.definitions[function.__name__] = []  # so that a function may name itself
        cells = zip(function.__code__.co_freevars, function.__closure__ or ())
        for name, cell in cells:
            self._assign(name, cell.cell_contents)
        for name in sorted(names(function.__code__) & set(function.__globals__)):
            self._global(name, function.__globals__[name], function.__module__)
        del self.definitions[function.__name__]  # after what it reads
        self.definitions[function.__name__] = source.splitlines()

    def _assign(self, name: str, value: Any) -> None:
        """Write a variable of the function around another one."""
        if name in self.definitions:
            return
        text = self._text(value)
        if text != name:
            self.definitions[name] = [f"{name} = {text}"]

    def _global(self, name: str, value: Any, module: str) -> None:
        """Write the import of a name that a function reads in its module."""
        if isinstance(value, ModuleType):
            self.imports[f"import {value.__name__} as {name}" if value.__name__ != name else f"import {name}"] = None
        else:
            self._from(module, name)

    def _named(self, value: Any) -> str:
        """Return the name of a function or class after its import from the outermost package that has it."""
        module, qualified = value.__module__, value.__qualname__
        name = qualified.partition(".")[0]
        found: Any = sys.modules.get(module)
        for part in qualified.split("."):
            found = getattr(found, part, None)
        if found is not value:
            raise NoExpression(f"{qualified} is not what {module} has under this name")
        self._from(exported_by(module, qualified, value), name)
        return str(qualified)

    def _from(self, module: str, name: str) -> None:
        """Add the import of a name, with the folder of a module of the user's. Raises NoExpression."""
        if module == "__main__":
            raise NoExpression(f"{name} stands in a script or notebook, which cannot be imported")
        if module == "builtins":
            return
        if is_users(module):
            self.folders[_folder(module)] = None
        self.imports[f"from {module} import {name}"] = None


def _item(value: Any) -> Any:
    """Return a value of numpy as one of Python."""
    return value.item() if isinstance(value, np.generic) else value


def _folder(module: str) -> str:
    """Return the folder from which a module is imported. Raises NoExpression."""
    file = Path(str(getattr(sys.modules.get(module), "__file__", ""))).resolve()
    parts = module.split(".")
    path = file.parent if file.name == "__init__.py" else file.with_suffix("")
    if list(path.parts[-len(parts) :]) != parts:
        raise NoExpression(f"the module {module} is not imported from a file of its name")
    return str(path.parents[len(parts) - 1])
