"""An axis of a sweep: what is declared of it, once, by the class that reads it."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

Kind = Literal["number", "whole", "text", "flag", "option"]


@dataclass(frozen=True)
class Axis:
    """An axis of a sweep.

    Parameters
    ----------
    name : str
        The key in `sweep` and the column in published tables.
    meaning : str
        A few words for people.
    unit : str
        The unit of its values, "1" for a number without one, "" for what is no number.
    valid : str
        The values that it may have, in words.
    kind : str
        "number": a number, or a word that the reader of the axis knows. "whole": the same, and the values of a range
        are rounded to whole numbers. "text": a name. "flag": true or false. "option": the name of a file in the folder
        of conf/ that is called like the axis.
    default : object
        The value that holds where a sweep gives none; None if there is none.
    """

    name: str
    meaning: str
    unit: str = ""
    valid: str = ""
    kind: Kind = "number"
    default: Any = None

    @property
    def has_exponent(self) -> bool:
        """True if the values may be given by their exponents, as log10_<name>."""
        return self.kind in ("number", "whole")


def declared(*axes: Axis) -> Mapping[str, Axis]:
    """Return the axes by name, each once, in the order in which they first come."""
    by_name: dict[str, Axis] = {}
    for axis in axes:
        by_name.setdefault(axis.name, axis)
    return MappingProxyType(by_name)
