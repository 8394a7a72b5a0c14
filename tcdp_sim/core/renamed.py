"""Old names of renamed objects, which work for one release with a warning."""

import importlib
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def renamed(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a `__getattr__` for a module that hands out renamed objects under their old names.

    Parameters
    ----------
    module : str
        The module's own `__name__`.
    names : mapping of str to str
        Each old name with the new dotted one: ``{"lemma_8": "tcdp_sim.privacy.group_privacy"}``.

    Returns
    -------
    callable
        A function of a name. It warns with DeprecationWarning and raises AttributeError for a name it does not know.
    """

    def attribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        home, _, new = names[name].rpartition(".")
        warnings.warn(f"{module}.{name} is now {names[name]}", DeprecationWarning, stacklevel=2)
        return getattr(importlib.import_module(home), new)

    return attribute
