"""Old names of renamed objects and arguments, which work for one release with a warning.

The decorators can be combined. The one for numbers that became a guarantee stands lowest, because it reads the final
names of the other arguments.
"""

import functools
import importlib
import inspect
import sys
import warnings
from collections.abc import Callable, Mapping
from numbers import Real
from typing import Any, TypeVar

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module that hands out renamed objects under their old names.

    Parameters
    ----------
    module : str
        The module's own `__name__`.
    names : mapping of str to str
        Each old name with the new dotted one: ``{"square_root": "math.sqrt"}``.

    Returns
    -------
    callable
        A function of a name. It warns with DeprecationWarning and raises AttributeError for a name it does not know.
    """

    def attribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].rpartition(".")
        _warn(f"{module}.{name} is now {names[name]}")
        return getattr(importlib.import_module(home), new)

    return attribute


def renamed_arguments(**names: str) -> Callable[[F], F]:
    """Return a decorator of a function or a class that still accepts keywords under their old names.

    Parameters
    ----------
    **names : str
        The new name of each old keyword: ``bins="k"``.

    Returns
    -------
    callable
        The decorator. The function warns with DeprecationWarning for an old keyword and raises TypeError for both.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:
            for old, new in names.items():
                if old not in keywords:
                    continue
                if new in keywords:
                    raise TypeError(f"{_name(function)}() has both {new}= and its old name {old}=")
                _warn(f"the argument {old}= of {_name(function)}() is now {new}=")
                keywords[new] = keywords.pop(old)
            return function(*arguments, **keywords)

        return called

    return _of_class_too(decorate)


def renamed_attribute(old: str, new: str) -> Any:
    """Return a property for the old name of an attribute, which warns and gives the new one's value."""

    def value(self: Any) -> Any:
        name = type(self).__name__
        _warn(f"{name}.{old} is now {name}.{new}")
        return getattr(self, new)

    return property(value)


def generator_moved(function: F) -> F:
    """Return a function that still accepts the generator among its positional arguments, and gives it on as `rng`."""

    @functools.wraps(function)
    def called(*arguments: Any, **keywords: Any) -> Any:
        places = [place for place, each in enumerate(arguments) if isinstance(each, np.random.Generator)]
        if not places:
            return function(*arguments, **keywords)
        _warn(f"{_name(function)}() takes its generator as rng=")
        others = [each for place, each in enumerate(arguments) if place != places[0]]
        return function(*others, rng=arguments[places[0]], **keywords)

    return called  # type: ignore[return-value]


def numbers_as_guarantee(make: Callable[..., Any], *names: str) -> Callable[[F], F]:
    """Return a decorator of a function that still accepts numbers in place of its argument `guarantee`.

    Parameters
    ----------
    make : callable
        The guarantee of the numbers, such as `TCDP`.
    *names : str
        The old names of the numbers, in the order of their old positions: ``"rho", "omega"``.

    Returns
    -------
    callable
        The decorator. The function warns with DeprecationWarning for numbers, given by position or by name.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parameters = [*inspect.signature(function).parameters.values()]
        place = [each.name for each in parameters].index("guarantee")
        olds = [parameters[place].replace(name=name) for name in names]
        before = inspect.Signature([*parameters[:place], *olds, *parameters[place + 1 :]])

        @functools.wraps(function)
        def called(*arguments: Any, **keywords: Any) -> Any:
            first = arguments[place] if len(arguments) > place else None
            if not isinstance(first, Real | np.ndarray) and not keywords.keys() & {*names}:
                return function(*arguments, **keywords)
            given = before.bind_partial(*arguments, **keywords).arguments
            numbers = {name: given.pop(name) for name in names if name in given}
            _warn(f"{_name(function)}() takes guarantee={_name(make)}(...) in place of {', '.join(names)}")
            return function(guarantee=make(**numbers), **given)

        return called

    return _of_class_too(decorate)


def _of_class_too(decorate: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decorator that treats the constructor of a class as a function."""

    def decorator(thing: Any) -> Any:
        if not isinstance(thing, type):
            return decorate(thing)
        thing.__init__ = decorate(thing.__init__)  # type: ignore[misc]
        return thing

    return decorator


def _name(function: Callable[..., Any]) -> str:
    return getattr(function, "__qualname__", repr(function)).removesuffix(".__init__")


def _warn(text: str) -> None:
    """Warn of an old name at the line that uses it, outside of this file."""
    level, frame = 1, sys._getframe()
    while frame.f_back and frame.f_code.co_filename == __file__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, DeprecationWarning, stacklevel=level)
