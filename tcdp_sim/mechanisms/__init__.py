"""The mechanisms that a sweep can simulate, by name."""

from tcdp_sim.core import registry
from tcdp_sim.core.axes import Axis, declared
from tcdp_sim.mechanisms.base import Mechanism, Observable
from tcdp_sim.mechanisms.functions import UserFunction
from tcdp_sim.mechanisms.histogram import Histogram
from tcdp_sim.mechanisms.noise import NoiseDraw

#: The mechanisms of the package, by name.
MECHANISMS: dict[str, type[Mechanism]] = registry.defined(__name__, Mechanism, "name")


def mechanism_class(name: str) -> type[Mechanism]:
    """Return the mechanism class of this name, from the package or from a plug-in.

    Parameters
    ----------
    name : str
        The name of a mechanism, such as "histogram"; `MECHANISMS` lists the names of the package.

    Returns
    -------
    type of Mechanism
        The class.

    Raises
    ------
    UserError
        If no mechanism has this name. The message lists the valid names.

    Examples
    --------
    >>> mechanism_class("histogram").__name__
    'Histogram'
    """
    mechanism: type[Mechanism] = UserFunction if name == UserFunction.name else registry.mechanism(name)
    return mechanism


__all__ = [
    "MECHANISMS",
    "Axis",
    "Histogram",
    "Mechanism",
    "NoiseDraw",
    "Observable",
    "declared",
    "mechanism_class",
]
